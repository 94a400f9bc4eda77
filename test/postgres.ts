import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { chownSync, mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import pg from 'pg'
import { openServer } from '#server/platform/database.ts'
import { findProgram, installPackage, versionFolders } from './machine.ts'
import { freePort } from './program.ts'

declare module 'vitest' {
  export interface ProvidedContext {
    /** A PostgreSQL server of this run, in the project that tests on one. */
    postgresUrl?: string
  }
}

/** A PostgreSQL server of our own, empty, on a free port of loopback. */
export interface Cluster {
  url: string
  version: string
  /** The folder of PostgreSQL's programs. */
  bin: string
  /** As `pg_ctl -m immediate stop` does: the next start recovers from the log. */
  crash(): Promise<void>
  /** As `pg_ctl -m fast stop` does. */
  shutDown(): Promise<void>
  /** Starts it again and waits until it accepts connections. */
  start(): Promise<void>
  hasEnded(): boolean
  /** Ends it and removes its folder. */
  stop(): Promise<void>
}

export interface ClusterOptions {
  /** The folder that holds its data. */
  within?: string
  /** Every commit is on disk before it is answered. */
  durable?: boolean
  settings?: string[]
  /** Of `initdb`, besides the folder. */
  initdb?: string[]
}

const oldest = 15
const fast = ['fsync=off', 'synchronous_commit=off', 'full_page_writes=off']
/** Plain C maps only A to Z between upper and lower case. */
const locale = process.platform === 'linux' ? 'C.UTF-8' : 'en_US.UTF-8'

/** Starts a server in a folder of its own; null if PostgreSQL 15 or later is missing and can't be installed. */
export async function openCluster({
  within = tmpdir(),
  durable = false,
  settings = [],
  initdb: made,
}: ClusterOptions = {}): Promise<Cluster | null> {
  const initdb = ensureInitdb()
  if (!initdb) return null
  const folder = mkdtempSync(path.join(within, 'duely-postgres-'))
  const user = ordinaryUser()
  if (user) chownSync(folder, user.uid, user.gid)
  const options = { ...user, cwd: folder, env: { PATH: process.env.PATH ?? '', LC_ALL: 'C' } }
  const data = path.join(folder, 'data')
  const bin = path.dirname(realpathSync(initdb))
  let server: ChildProcess | null = null
  const hasEnded = () => server === null || server.exitCode !== null || server.signalCode !== null
  const remove = () => {
    server?.kill('SIGQUIT')
    rmSync(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 })
  }
  const end = async (signal: 'SIGINT' | 'SIGQUIT') => {
    if (!server || hasEnded()) return
    const ended = once(server, 'exit')
    server.kill(signal)
    await Promise.race([ended, pause(10_000, undefined, { ref: false })])
  }
  // However this process ends, the server and its folder must go with it.
  process.once('exit', remove)
  try {
    execFileSync(initdb, ['-D', data, '-U', 'duely', '-A', 'trust', '--no-sync', ...(made ?? ['-E', 'UTF8', `--locale=${locale}`])], {
      ...options,
      stdio: 'pipe',
    })
    const port = await freePort()
    const url = `postgres://duely@127.0.0.1:${port}/postgres`
    const all = ['max_connections=200', 'listen_addresses=127.0.0.1', ...(durable ? [] : fast), ...settings]
    const start = async () => {
      const child = spawn(
        path.join(bin, 'postgres'),
        ['-D', data, '-p', String(port), '-k', folder, ...all.flatMap((one) => ['-c', one])],
        {
          ...options,
          stdio: ['ignore', 'ignore', 'pipe'],
        },
      )
      server = child
      let errors = ''
      child.stderr?.on('data', (text) => {
        errors = `${errors}${String(text)}`.slice(-4_000)
      })
      return firstAnswer(url, child, () => errors)
    }
    const version = await start()
    return {
      url,
      version,
      bin,
      hasEnded,
      crash: () => end('SIGQUIT'),
      shutDown: () => end('SIGINT'),
      start: async () => void (await start()),
      async stop() {
        await end('SIGINT')
        process.off('exit', remove)
        remove()
      },
    }
  } catch (error) {
    process.off('exit', remove)
    remove()
    throw error
  }
}

/** The `initdb` of PostgreSQL 15 or later, installed first if possible. */
export function ensureInitdb(): string | null {
  return findInitdb() ?? (installPackage('postgresql') ? findInitdb() : null)
}

/** The migrated database that tests copy, on the server of a run. */
export const templateDatabase = 'duely_template'

/** Creates a database on a server, empty or a copy of another one that nothing is connected to, and returns its address. */
export async function createDatabase(
  server: string,
  { copyOf, name = `duely_${randomBytes(5).toString('hex')}` }: { copyOf?: string; name?: string } = {},
): Promise<string> {
  await query(server, `CREATE DATABASE ${name}${copyOf ? ` TEMPLATE ${copyOf}` : ''}`)
  const url = new URL(server)
  url.pathname = `/${name}`
  return url.toString()
}

/** Makes the database that tests copy. */
export async function makeTemplate(server: string): Promise<void> {
  const url = await createDatabase(server, { name: templateDatabase })
  await openServer(url).then((database) => database.close())
}

/** One statement on a connection of its own. */
export async function query<R extends pg.QueryResultRow = pg.QueryResultRow>(
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

export function findInitdb(): string | null {
  const folders = [
    ...versionFolders('/usr/lib/postgresql', ''),
    ...versionFolders('/usr', 'pgsql-'),
    ...versionFolders('/opt/homebrew/opt', 'postgresql'),
    ...versionFolders('/usr/local/opt', 'postgresql'),
  ]
  const found = findProgram(['initdb'], folders)
  if (!found) return null
  const version = /(\d+)/.exec(execFileSync(found, ['--version'], { encoding: 'utf8' }))?.[1]
  return Number(version) >= oldest ? found : null
}

/** PostgreSQL refuses to run as root: then it runs as the user `postgres` or `nobody`. */
export function ordinaryUser(): { uid: number; gid: number } | undefined {
  if (process.getuid?.() !== 0) return undefined
  for (const name of ['postgres', 'nobody']) {
    try {
      const ask = (what: string) => Number(execFileSync('id', [what, name], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }))
      return { uid: ask('-u'), gid: ask('-g') }
    } catch {
      // Not on this machine: the next one.
    }
  }
  return undefined
}

async function firstAnswer(url: string, child: ChildProcess, errors: () => string): Promise<string> {
  for (;;) {
    if (child.exitCode !== null || child.signalCode !== null) throw new Error(`PostgreSQL did not start:\n${errors()}`)
    const answered = await query<{ server_version: string }>(url, 'SHOW server_version').catch(() => null)
    if (answered) return answered[0]?.server_version ?? ''
    await pause(50)
  }
}
