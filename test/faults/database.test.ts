import { execFileSync, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { chownSync, closeSync, mkdtempSync, openSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { findPgBouncer } from '#test/machine.ts'
import { type Cluster, type ClusterOptions, openCluster, ordinaryUser } from '#test/postgres.ts'
import { freePort } from '#test/program.ts'
import {
  embedded,
  errorsLogged,
  inFlight,
  isAlive,
  onAnyDatabase,
  onPostgres,
  openMailServer,
  send,
  untilRunsFinish,
} from './environment.ts'
import { percentile, row, seconds, type Trial } from './row.ts'
import { isDelivered, summarize, tally } from './tally.ts'
import { openTcpProxy } from './tcp-proxy.ts'

/** A PostgreSQL server that one row may crash and stop. */
async function ownCluster(trial: Trial, options: ClusterOptions = {}): Promise<Cluster> {
  const cluster = await openCluster({ durable: true, ...options })
  if (!cluster) return trial.skip('there is no PostgreSQL on this machine')
  trial.stack.defer(cluster.stop)
  return cluster
}

row('7', 'PostgreSQL crashes every 1.5 s under 6,000 emails, a process is killed now and then', async (trial) => {
  trial.mustHold('lost 0; repeated at most what was in flight, the same bytes; sending again within 5 s of the database’s return')
  const cluster = await ownCluster(trial)
  const environment = await onPostgres(trial, { cluster })
  const smtp = await openMailServer(trial, { delayMs: 10 })
  const accounts = await environment.createAccounts({ count: 30, invoices: 200, smtp, due: true })
  const running = [await environment.start(), await environment.start()]
  let [crashes, kills] = [0, 0]
  const pauses: number[] = []
  while (crashes < 14 && smtp.mails.length < 5_900) {
    await pause(1_500)
    await cluster.crash()
    await cluster.start()
    crashes += 1
    const back = performance.now()
    const before = smtp.mails.length
    // Up to 16 emails may leave on claims from before the crash: the next one needs a new claim.
    const resumed = () => smtp.mails.length > before + 16 || smtp.mails.length > 5_950
    await trial.until('emails leave again', resumed, { everyMs: 20 })
    pauses.push(performance.now() - back)
    if (crashes % 5 === 0) {
      kills += 1
      const slot = kills % 2
      await running[slot]?.end('SIGKILL')
      running[slot] = await environment.start()
    }
  }
  await environment.untilClosed(6_000)
  const counted = tally(smtp.mails, accounts)
  const longest = Math.max(...pauses)
  return {
    figure: `${crashes} crashes, ${kills} kills; ${summarize(counted)}; sending again after ${seconds(percentile(pauses, 0.5))}, at most ${seconds(longest)}`,
    holds: isDelivered(counted, (crashes * 2 + kills) * inFlight.process) && longest <= 5_000,
  }
})

row('8', '60 s without a database', { concurrent: 6 }, async (trial) => {
  trial.mustHold('each call answered 503 within 2 s, no process ends, the backlog is sent afterwards')
  const cluster = await ownCluster(trial)
  const environment = await onPostgres(trial, { cluster })
  const smtp = await openMailServer(trial, { delayMs: 10 })
  const accounts = await environment.createAccounts({ count: 4, invoices: 200, smtp, due: true })
  const program = await environment.start()
  await smtp.received(51)
  await cluster.shutDown()
  const answers: { status: number; ms: number }[] = []
  const began = performance.now()
  while (performance.now() - began < 60_000) {
    for (const call of ['GET /invoice', 'GET /health', 'POST /reminder/stop'])
      answers.push(await send(program, accounts[0], call, { withinMs: 20_000 }))
    await pause(2_000)
  }
  const alive = await isAlive(program)
  await cluster.start()
  const back = performance.now()
  await environment.untilClosed(800)
  const slowest = Math.max(...answers.map(({ ms }) => ms))
  const others = answers.filter(({ status }) => status !== 503).length
  const counted = tally(smtp.mails, accounts)
  return {
    figure: `${answers.length} calls, ${others} not answered by 503, the slowest after ${seconds(slowest)}; the process ${alive ? 'stayed up' : 'ENDED'}; backlog sent after ${seconds(performance.now() - back)}; ${summarize(counted)}`,
    holds: others === 0 && slowest <= 2_000 && alive && isDelivered(counted, inFlight.process),
  }
})

row('9', 'the connections to the database drop everything (half-open)', { concurrent: 6 }, async (trial) => {
  trial.mustHold('noticed within 15 s: calls are answered and emails claimed again; lost 0')
  const environment = await onPostgres(trial)
  const smtp = await openMailServer(trial, { delayMs: 10 })
  const accounts = await environment.createAccounts({ count: 6, invoices: 150, smtp, due: true })
  const proxy = await openTcpProxy(trial, { host: '127.0.0.1', port: Number(new URL(environment.url).port) })
  const program = await environment.start({ DATABASE_URL: through(environment.url, proxy.port) })
  await smtp.received(101)
  const cut = proxy.blackhole()
  const began = performance.now()
  await pause(200)
  const claimed = async () => {
    const [found] = await environment.rows<{ count: number }>('SELECT count(*)::int AS count FROM deliveries WHERE attempt > 0')
    return found?.count ?? 0
  }
  const before = await claimed()
  const answered = () =>
    send(program, accounts[0], 'GET /invoice', { withinMs: 30_000 }).then(
      ({ status }) => status === 200,
      () => false,
    )
  const calls = trial.until('a call is answered', answered, { everyMs: 200 }).then(() => performance.now() - began)
  await trial.until('another email is claimed', async () => (await claimed()) > before)
  const emails = performance.now() - began
  const called = await calls
  await environment.untilClosed(900)
  const counted = tally(smtp.mails, accounts)
  return {
    figure: `${cut} connections cut; calls again after ${seconds(called)}, emails after ${seconds(emails)}; ${summarize(counted)}; everything sent after ${seconds(performance.now() - began)}`,
    holds: isDelivered(counted, inFlight.process) && called <= 15_000 && emails <= 15_000,
  }
})

row('10', '200 calls at the same time on a pool of 10', async (trial) => {
  trial.mustHold('none takes 10 s, health answers within 500 ms')
  const environment = await onAnyDatabase(trial)
  const smtp = await openMailServer(trial)
  const accounts = await environment.createAccounts({ count: 4, invoices: 500, smtp })
  const program = await environment.start()
  await send(program, null, 'GET /health')
  const calls = Array.from({ length: 200 }, (_none, nth) =>
    send(program, accounts[nth % 4] ?? null, nth % 2 === 0 ? 'GET /invoice' : 'GET /reminder/preview'),
  )
  const health: number[] = []
  let busy = true
  const watch = async () => {
    while (busy) {
      const { status, ms } = await send(program, null, 'GET /health')
      health.push(status === 200 ? ms : 60_000)
      await pause(20)
    }
  }
  const watched = watch()
  const answers = await Promise.all(calls)
  busy = false
  await watched
  const slowest = Math.max(...answers.map(({ ms }) => ms))
  const failed = answers.filter(({ status }) => status !== 200).length
  return {
    figure: `${failed} of 200 failed, the slowest after ${seconds(slowest)}; health at most ${Math.round(Math.max(...health))} ms (${health.length} requests)`,
    holds: failed === 0 && slowest < 10_000 && Math.max(...health) <= 500,
  }
})

row('11', 'the disk of the log is full', async (trial) => {
  trial.mustHold('sending continues, and the process ends with 0 on SIGTERM')
  const disk = mountSmallDisk(trial, 4)
  const log = openSync(path.join(disk, 'duely.log'), 'a')
  trial.stack.defer(() => closeSync(log))
  const filled = fill(disk)
  const environment = await onAnyDatabase(trial)
  const smtp = await openMailServer(trial, { delayMs: 5 })
  const accounts = await environment.createAccounts({ count: 2, invoices: 100, smtp, due: true })
  const program = await environment.start({ LOG_LEVEL: 'trace' }, { outputFile: log })
  for (let nth = 0; nth < 50; nth += 1) await send(program, accounts[0], 'GET /invoice')
  await untilRunsFinish(trial, program, accounts)
  const code = await program.end('SIGTERM')
  const counted = tally(smtp.mails, accounts)
  return {
    figure: `disk of 4 MB filled with ${filled} bytes, the log has ${statSync(path.join(disk, 'duely.log')).size}; ${summarize(counted)}; exit ${code}`,
    holds: isDelivered(counted) && code === 0,
  }
})

row('12', 'the disk of PostgreSQL is full in the middle of a run', async (trial) => {
  trial.mustHold('every email recorded as sent did leave; lost 0 once there is room; repeated at most what was in flight at a crash')
  const disk = mountSmallDisk(trial, 160)
  const cluster = await ownCluster(trial, { within: disk, settings: ['max_wal_size=48MB', 'min_wal_size=32MB'] })
  const environment = await onPostgres(trial, { cluster })
  const smtp = await openMailServer(trial, { delayMs: 10 })
  const accounts = await environment.createAccounts({ count: 4, invoices: 500, smtp, due: true })
  const program = await environment.start()
  await smtp.received(101)
  fill(disk)
  const full = performance.now()
  let last = { count: smtp.mails.length, at: performance.now() }
  const stalled = () => {
    if (smtp.mails.length > last.count) last = { count: smtp.mails.length, at: performance.now() }
    return cluster.hasEnded() || performance.now() - last.at > 5_000
  }
  await trial.until('no email has left for 5 s', stalled, { seconds: 45, everyMs: 200 }).catch(() => false)
  const stalledAt = smtp.mails.length
  await pause(3_000)
  rmSync(path.join(disk, 'filling'))
  const crashed = cluster.hasEnded()
  if (crashed) await cluster.start()
  const room = performance.now()
  await environment.untilClosed(2_000)
  const { sent = 0 } = await environment.states()
  const alive = await isAlive(program)
  const counted = tally(smtp.mails, accounts)
  return {
    figure: `${stalledAt} emails had left when sending stopped; the server ${crashed ? 'went down' : 'stayed up'}, the program ${alive ? 'stayed up' : 'ENDED'}; full for ${seconds(room - full)}, everything sent ${seconds(performance.now() - room)} after; ${summarize(counted)}; recorded as sent ${sent}`,
    holds: isDelivered(counted, 4 * inFlight.process) && sent === 2_000 && alive && stalledAt < 2_000,
  }
})

row('12 embedded', 'the disk of the embedded database is full in the middle of a run', async (trial) => {
  trial.mustHold('lost 0 once there is room and it was started again; repeated at most 8 per crash, the same bytes')
  const disk = mountSmallDisk(trial, 160)
  const environment = await embedded(trial, { within: disk })
  const smtp = await openMailServer(trial, { delayMs: 10 })
  const accounts = await environment.createAccounts({ invoices: 1_500, smtp, due: true })
  const program = await environment.start()
  await smtp.received(101)
  fill(disk)
  await pause(15_000)
  const stalledAt = smtp.mails.length
  const alive = await isAlive(program)
  await pause(3_000)
  const stalled = smtp.mails.length === stalledAt
  rmSync(path.join(disk, 'filling'))
  // It may recover without a restart; if it does not, an operator restarts it.
  await pause(12_000)
  const recovered = alive && smtp.mails.length > stalledAt
  const code = recovered ? null : await program.end('SIGTERM')
  await untilRunsFinish(trial, recovered ? program : await environment.start(), accounts)
  const counted = tally(smtp.mails, accounts)
  return {
    figure: `${stalledAt} emails had left${stalled ? ' when sending stopped' : ', sending had not stopped'}; the program ${alive ? 'stayed up' : 'ended'}, ${recovered ? 'resumed automatically' : `was started again (exit ${code})`}; ${summarize(counted)}`,
    holds: isDelivered(counted, 2 * inFlight.mailbox),
  }
})

row('12 pooler', 'PgBouncer in transaction mode between two processes and PostgreSQL', async (trial) => {
  trial.mustHold('2,000 emails: lost 0, repeated 0')
  const environment = await onPostgres(trial)
  const pooled = { DATABASE_URL: await openPgBouncer(trial, environment.url) }
  const smtp = await openMailServer(trial, { delayMs: 2 })
  const nextRunAt = Temporal.Now.instant().add({ seconds: 5 })
  const accounts = await environment.createAccounts({ count: 10, invoices: 200, smtp, nextRunAt })
  const programs = [await environment.start(pooled), await environment.start(pooled)] as const
  await environment.untilClosed(2_000)
  const began = performance.now()
  await environment.rows(`UPDATE invoices SET last_reminder_at = NULL WHERE owner_id = $1`, [accounts[0].id])
  const pressed = await send(programs[0], accounts[0], 'POST /reminder/send-immediate')
  const answered = performance.now() - began
  const errors = errorsLogged(...programs)
  const counted = tally(smtp.mails.slice(0, 2_000), accounts)
  return {
    figure: `${summarize(counted)}; Send Now of 200 answered ${pressed.status} after ${seconds(answered)}; errors logged ${errors.length}${errors[0] ? ` (${errors[0].slice(0, 300)})` : ''}`,
    holds: isDelivered(counted) && smtp.mails.length === 2_200 && pressed.status === 200 && errors.length === 0,
  }
})

/** A disk in memory. */
function mountSmallDisk({ stack, skip }: Trial, megabytes: number): string {
  const folder = mkdtempSync(path.join(tmpdir(), 'duely-disk-'))
  const mounted =
    spawnSync('mount', ['-t', 'tmpfs', '-o', `size=${megabytes}m,mode=777`, 'tmpfs', folder], { stdio: 'ignore' }).status === 0
  stack.defer(async () => {
    for (let tries = 0; mounted && tries < 50 && spawnSync('umount', [folder], { stdio: 'ignore' }).status !== 0; tries += 1)
      await pause(100)
    rmSync(folder, { recursive: true, force: true })
  })
  return mounted ? folder : skip('a small disk can be mounted by root on Linux only')
}

/** Fills a disk to its last byte; answers how many bytes that took. */
function fill(disk: string): number {
  const file = path.join(disk, 'filling')
  const to = openSync(file, 'a')
  try {
    for (const size of [1 << 20, 1 << 12, 1])
      try {
        for (;;) writeFileSync(to, Buffer.alloc(size, 1))
      } catch {
        // No room for that many bytes: try fewer.
      }
  } finally {
    closeSync(to)
  }
  return statSync(file).size
}

/** Starts PgBouncer in transaction mode in front of a database; answers the database's address through it. */
async function openPgBouncer({ stack, skip }: Trial, target: string): Promise<string> {
  const program = findPgBouncer()
  if (!program) return skip('there is no PgBouncer on this machine')
  const folder = mkdtempSync(path.join(tmpdir(), 'duely-pgbouncer-'))
  const user = ordinaryUser()
  if (user) chownSync(folder, user.uid, user.gid)
  const port = await freePort()
  const file = path.join(folder, 'pgbouncer.ini')
  const settings = {
    listen_addr: '127.0.0.1',
    listen_port: String(port),
    unix_socket_dir: '',
    auth_type: 'any',
    pool_mode: 'transaction',
    default_pool_size: '20',
    max_client_conn: '200',
    ignore_startup_parameters: 'extra_float_digits,options',
  }
  const lines = Object.entries(settings).map(([name, value]) => `${name} = ${value}`)
  writeFileSync(file, `[databases]\n* = host=127.0.0.1 port=${new URL(target).port} user=duely\n[pgbouncer]\n${lines.join('\n')}\n`, {
    mode: 0o644,
  })
  execFileSync('chmod', ['755', folder])
  const pgBouncer = spawn(program, [file], { ...user, stdio: 'ignore' })
  stack.defer(async () => {
    const ended = pgBouncer.exitCode !== null || pgBouncer.signalCode !== null ? null : once(pgBouncer, 'exit')
    pgBouncer.kill('SIGKILL')
    await ended
    rmSync(folder, { recursive: true, force: true })
  })
  return through(target, port)
}

/** The same address on another port. */
function through(url: string, port: number): string {
  const changed = new URL(url)
  changed.port = String(port)
  return changed.toString()
}
