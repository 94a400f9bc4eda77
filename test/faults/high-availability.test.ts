import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chownSync, mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { findHaproxy, findProgram } from '#test/machine.ts'
import { findInitdb, ordinaryUser, query } from '#test/postgres.ts'
import { freePort } from '#test/program.ts'
import { inFlight, onPostgres, openMailServer } from './environment.ts'
import { row, seconds, type Trial } from './row.ts'
import { isDelivered, summarize, tally } from './tally.ts'

/** PostgreSQL with a synchronous standby: Patroni on each, etcd, and HAProxy in front of the one that is primary. */
interface HighAvailability {
  url: string
  /** Ends the machine of the primary: PostgreSQL with all its processes, and its Patroni. Answers its name. */
  killPrimary(): Promise<string>
  /** The name of the primary; null while there is none. */
  primary(): Promise<string | null>
}

interface Node {
  name: string
  data: string
  port: number
  rest: number
  patroni: ChildProcess
}

async function openHighAvailability(trial: Trial): Promise<HighAvailability> {
  const programs = {
    patroni: findProgram(['patroni']),
    etcd: findProgram(['etcd']),
    haproxy: findHaproxy(),
    initdb: findInitdb(),
  }
  const { patroni, etcd, haproxy, initdb } = programs
  if (!patroni || !etcd || !haproxy || !initdb) return trial.skip('Patroni, etcd, HAProxy or PostgreSQL is not on this machine')
  const folder = mkdtempSync(path.join(tmpdir(), 'duely-availability-'))
  trial.stack.defer(() => rmSync(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 }))
  const user = ordinaryUser()
  if (user) chownSync(folder, user.uid, user.gid)
  const run = (program: string, args: string[]) => {
    const child = spawn(program, args, { ...user, cwd: folder, stdio: 'ignore', env: { PATH: process.env.PATH ?? '', LC_ALL: 'C.UTF-8' } })
    trial.stack.defer(async () => {
      if (child.exitCode !== null || child.signalCode !== null) return
      child.kill('SIGTERM')
      if (!(await Promise.race([once(child, 'exit'), pause(10_000, null, { ref: false })]))) child.kill('SIGKILL')
    })
    return child
  }
  const write = (name: string, text: string) => {
    const file = path.join(folder, name)
    writeFileSync(file, text, { mode: 0o644 })
    return file
  }

  const [client, peer, front] = [await freePort(), await freePort(), await freePort()]
  const here = (port: number) => `http://127.0.0.1:${port}`
  run(etcd, [
    `--data-dir=${path.join(folder, 'etcd')}`,
    ...[`--listen-client-urls=${here(client)}`, `--advertise-client-urls=${here(client)}`],
    ...[`--listen-peer-urls=${here(peer)}`, `--initial-advertise-peer-urls=${here(peer)}`, `--initial-cluster=default=${here(peer)}`],
  ])
  await trial.until(
    'etcd answers',
    () =>
      fetch(`${here(client)}/health`).then(
        ({ ok }) => ok,
        () => false,
      ),
    { seconds: 30 },
  )

  const startNode = async (name: string): Promise<Node> => {
    const [port, rest] = [await freePort(), await freePort()]
    const data = path.join(folder, name)
    // JSON is YAML.
    const settings = {
      scope: 'duely',
      name,
      restapi: { listen: `127.0.0.1:${rest}`, connect_address: `127.0.0.1:${rest}` },
      etcd3: { host: `127.0.0.1:${client}` },
      bootstrap: {
        // The shortest lease that Patroni allows: a primary that died is replaced after it.
        dcs: { ttl: 20, loop_wait: 2, retry_timeout: 3, synchronous_mode: true, postgresql: { parameters: { max_connections: 200 } } },
        initdb: [{ encoding: 'UTF8' }, { locale: 'C.UTF-8' }],
        pg_hba: ['local all all trust', 'host all all 127.0.0.1/32 trust', 'host replication all 127.0.0.1/32 trust'],
      },
      postgresql: {
        listen: `127.0.0.1:${port}`,
        connect_address: `127.0.0.1:${port}`,
        data_dir: data,
        bin_dir: path.dirname(realpathSync(initdb)),
        pgpass: path.join(folder, `${name}.pgpass`),
        authentication: { superuser: { username: 'duely' }, replication: { username: 'replicator' } },
        parameters: { unix_socket_directories: folder },
      },
    }
    return { name, data, port, rest, patroni: run(patroni, [write(`${name}.yml`, JSON.stringify(settings))]) }
  }
  const isPrimary = ({ rest }: Node) =>
    fetch(`${here(rest)}/primary`).then(
      ({ ok }) => ok,
      () => false,
    )
  const first = await startNode('first')
  await trial.until('the first node is primary', () => isPrimary(first), { seconds: 60 })
  const nodes = [first, await startNode('second')]
  const synchronous = async () =>
    (
      await query<{ count: number }>(
        `postgres://duely@127.0.0.1:${first.port}/postgres`,
        `SELECT count(*)::int AS count FROM pg_stat_replication WHERE sync_state = 'sync'`,
      )
    )[0]?.count === 1
  await trial.until('the second node is its synchronous standby', synchronous, { seconds: 60, everyMs: 200 })

  const proxy = `
global
  maxconn 500
defaults
  mode tcp
  timeout connect 2s
  timeout client 1h
  timeout server 1h
  timeout check 2s
listen primary
  bind 127.0.0.1:${front}
  option httpchk
  http-check send meth OPTIONS uri /primary
  http-check expect status 200
  default-server inter 500ms fall 2 rise 1 on-marked-down shutdown-sessions
${nodes.map(({ name, port, rest }) => `  server ${name} 127.0.0.1:${port} check port ${rest}\n`).join('')}`
  run(haproxy, ['-db', '-f', write('haproxy.cfg', proxy)])
  const url = `postgres://duely@127.0.0.1:${front}/postgres`
  // HAProxy begins with both of them, in turns, until its first checks.
  const atPrimary = () =>
    query<{ standby: boolean }>(url, 'SELECT pg_is_in_recovery() AS standby').then(
      ([found]) => found?.standby === false,
      () => false,
    )
  await trial.until('HAProxy leads to the primary only', async () => (await atPrimary()) && (await atPrimary()), { seconds: 30 })

  const primary = async () => {
    for (const node of nodes) if (await isPrimary(node)) return node
    return null
  }
  return {
    url,
    primary: async () => (await primary())?.name ?? null,
    async killPrimary() {
      const node = await primary()
      if (!node) throw new Error('There is no primary.')
      const postmaster = Number(readFileSync(path.join(node.data, 'postmaster.pid'), 'utf8').split('\n')[0])
      node.patroni.kill('SIGKILL')
      for (const pid of [postmaster, ...childrenOf(postmaster)])
        try {
          process.kill(pid, 'SIGKILL')
        } catch (error) {
          // A child may have ended meanwhile.
          if (!(error instanceof Error && 'code' in error && error.code === 'ESRCH')) throw error
        }
      return node.name
    },
  }
}

function childrenOf(parent: number): number[] {
  const isChild = (pid: number) => {
    try {
      return Number(readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ')[1]) === parent
    } catch {
      // It has ended meanwhile.
      return false
    }
  }
  return readdirSync('/proc')
    .map(Number)
    .filter((pid) => pid > 0 && isChild(pid))
}

row('109', 'the primary of two PostgreSQL servers under Patroni dies in the burst', async (trial) => {
  trial.mustHold('lost 0; repeated at most what was in flight, the same bytes; sending again within 30 s; no process ends')
  const cluster = await openHighAvailability(trial)
  const environment = await onPostgres(trial, { cluster })
  const smtp = await openMailServer(trial, { delayMs: 10 })
  const accounts = await environment.createAccounts({ count: 40, invoices: 100, smtp, due: true })
  const programs = [await environment.start(), await environment.start()]
  await smtp.received(1_000)
  const former = await cluster.killPrimary()
  const killed = performance.now()
  // What was claimed before may still leave.
  await pause(1_000)
  const before = smtp.mails.length
  await smtp.received(before + 1)
  const again = performance.now() - killed
  const present = await cluster.primary()
  await environment.untilClosed(4_000)
  const counted = tally(smtp.mails, accounts)
  const [recorded] = await environment.rows<{ count: number }>(`SELECT count(*)::int AS count FROM deliveries WHERE state = 'sent'`)
  const alive = programs.filter((program) => process.kill(program.pid, 0)).length
  return {
    figure: `killed after ${before} emails; ${present} instead of ${former}, sending again after ${seconds(again)}; ${summarize(counted)}; recorded as sent ${recorded?.count}; ${alive} of 2 processes still run`,
    holds: isDelivered(counted, 2 * inFlight.process) && again <= 30_000 && present !== former && alive === 2,
  }
})
