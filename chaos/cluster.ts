import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { chownSync, mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import pg from 'pg'
import { findInitdb, ordinaryUser } from '#test/postgres.ts'
import { freePort } from '#test/program.ts'
import { until } from './scenario.ts'

/** A PostgreSQL server of our own that can be crashed, stopped and started again; every commit is on disk before it is answered. */
export interface Cluster extends AsyncDisposable {
  port: number
  /** Makes an empty database and answers its address. */
  makeDatabase(): Promise<string>
  /** As `pg_ctl -m immediate stop` does: without a word to anybody. */
  crash(): Promise<void>
  /** As `pg_ctl -m fast stop` does. */
  stop(): Promise<void>
  /** Starts it again and waits until it takes connections. */
  start(): Promise<void>
  /** The programs of PostgreSQL. */
  bin: string
  /** The processes of the server ended by themselves. */
  hasEnded(): boolean
}

/** Null where this machine has no PostgreSQL. `within`: the folder that holds its data. */
export async function openCluster(about: { within?: string; settings?: string[] } = {}): Promise<Cluster | null> {
  const initdb = findInitdb()
  if (!initdb) return null
  const folder = mkdtempSync(path.join(about.within ?? tmpdir(), 'duely-chaos-'))
  const user = ordinaryUser()
  if (user) chownSync(folder, user.uid, user.gid)
  const options = { ...user, cwd: folder, env: { PATH: process.env.PATH ?? '', LC_ALL: 'C' } }
  const data = path.join(folder, 'data')
  const bin = path.dirname(realpathSync(initdb))
  const port = await freePort()
  let server: ChildProcess | null = null
  const remove = () => {
    server?.kill('SIGQUIT')
    rmSync(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 })
  }
  process.once('exit', remove)
  execFileSync(initdb, ['-D', data, '-U', 'duely', '-A', 'trust', '-E', 'UTF8', '--no-sync', '--locale=C'], { ...options, stdio: 'pipe' })

  const address = (database: string) => `postgres://duely@127.0.0.1:${port}/${database}`
  const end = async (signal: 'SIGQUIT' | 'SIGINT') => {
    const child = server
    if (!child || child.exitCode !== null || child.signalCode !== null) return
    const ended = once(child, 'exit')
    child.kill(signal)
    await ended
  }
  const start = async () => {
    const settings = ['listen_addresses=127.0.0.1', 'max_connections=200', ...(about.settings ?? [])]
    server = spawn(path.join(bin, 'postgres'), ['-D', data, '-p', String(port), '-k', folder, ...settings.flatMap((one) => ['-c', one])], {
      ...options,
      stdio: ['ignore', 'ignore', 'ignore'],
    })
    await until('PostgreSQL takes connections', { seconds: 60 }, () =>
      ask(address('postgres'), 'SELECT 1').then(
        () => true,
        () => false,
      ),
    )
  }
  await start()
  return {
    port,
    bin,
    async makeDatabase() {
      const name = `duely_${randomBytes(5).toString('hex')}`
      await ask(address('postgres'), `CREATE DATABASE ${name}`)
      return address(name)
    },
    crash: () => end('SIGQUIT'),
    stop: () => end('SIGINT'),
    start,
    hasEnded: () => server === null || server.exitCode !== null || server.signalCode !== null,
    async [Symbol.asyncDispose]() {
      await end('SIGQUIT')
      process.off('exit', remove)
      remove()
    },
  }
}

/** One statement on a connection of its own. */
export async function ask<R extends pg.QueryResultRow = pg.QueryResultRow>(
  url: string,
  statement: string,
  values: unknown[] = [],
): Promise<R[]> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 5_000 })
  client.on('error', () => undefined)
  await client.connect()
  try {
    return (await client.query<R>(statement, values)).rows
  } finally {
    await client.end().catch(() => undefined)
  }
}
