import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chownSync, mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import pg from 'pg'
import { findProgram, installPackage, versionFolders } from './machine.ts'

/** A PostgreSQL server of our own, empty, on a free port of loopback. */
export interface Cluster {
  url: string
  version: string
  /** Ends it and removes its folder. */
  stop(): Promise<void>
}

const oldest = 15
/** Plain C knows small and capital letters from A to Z only. */
const locale = process.platform === 'linux' ? 'C.UTF-8' : 'en_US.UTF-8'

/** Starts a server in a folder of its own; null where there is no PostgreSQL 15 or later and none can be installed. */
export async function openCluster(): Promise<Cluster | null> {
  const initdb = ensureInitdb()
  if (!initdb) return null
  const folder = mkdtempSync(path.join(tmpdir(), 'duely-postgres-'))
  const user = ordinaryUser()
  if (user) chownSync(folder, user.uid, user.gid)
  const options = { ...user, cwd: folder, env: { PATH: process.env.PATH ?? '', LC_ALL: 'C' } }
  const data = path.join(folder, 'data')
  let server: ChildProcess | null = null
  const remove = () => {
    server?.kill('SIGKILL')
    rmSync(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 })
  }
  // Whatever ends this process, nothing is left behind.
  process.once('exit', remove)
  try {
    execFileSync(initdb, ['-D', data, '-U', 'duely', '-A', 'trust', '-E', 'UTF8', '--no-sync', `--locale=${locale}`], {
      ...options,
      stdio: 'pipe',
    })
    const port = await freePort()
    const settings = ['fsync=off', 'synchronous_commit=off', 'full_page_writes=off', 'max_connections=200', 'listen_addresses=127.0.0.1']
    const postgres = path.join(path.dirname(initdb), 'postgres')
    const child = spawn(postgres, ['-D', data, '-p', String(port), '-k', folder, ...settings.flatMap((one) => ['-c', one])], {
      ...options,
      stdio: ['ignore', 'ignore', 'pipe'],
    })
    server = child
    let said = ''
    child.stderr?.on('data', (text) => {
      said = `${said}${String(text)}`.slice(-4_000)
    })
    const url = `postgres://duely@127.0.0.1:${port}/postgres`
    const version = await firstAnswer(url, child, () => said)
    return {
      url,
      version,
      async stop() {
        const ended = child.exitCode !== null || child.signalCode !== null ? Promise.resolve() : once(child, 'exit')
        // Fast shutdown: who is connected is thrown out.
        child.kill('SIGINT')
        await Promise.race([ended, pause(10_000, undefined, { ref: false })])
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

/** The `initdb` of PostgreSQL 15 or later, installed first where that is possible. */
export function ensureInitdb(): string | null {
  return findInitdb() ?? (installPackage('postgresql') ? findInitdb() : null)
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

/** PostgreSQL refuses to run as root: then it runs as its own user, or as nobody. */
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

async function firstAnswer(url: string, child: ChildProcess, said: () => string): Promise<string> {
  for (;;) {
    if (child.exitCode !== null || child.signalCode !== null) throw new Error(`PostgreSQL did not start:\n${said()}`)
    const client = new pg.Client({ connectionString: url })
    try {
      await client.connect()
      const { rows } = await client.query<{ server_version: string }>('SHOW server_version')
      return rows[0]?.server_version ?? ''
    } catch {
      await pause(50)
    } finally {
      await client.end().catch(() => undefined)
    }
  }
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  server.close()
  await once(server, 'close')
  if (address === null || typeof address === 'string') throw new Error('There is no free port.')
  return address.port
}
