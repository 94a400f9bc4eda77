import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { constants, existsSync, readdirSync, readFileSync } from 'node:fs'
import { cp, mkdir } from 'node:fs/promises'
import net from 'node:net'
import path from 'node:path'
import type { Readable } from 'node:stream'
import { setTimeout as pause } from 'node:timers/promises'
import { businessHeader } from '#contract/call.ts'
import type { OpenDatabase } from '#server/platform/database.ts'
import { compileCache, programFile } from './bundle.ts'
import { keptFolder, migrationFiles } from './cache.ts'

/** The real program in a process of its own. */
export interface Program extends AsyncDisposable {
  url: string
  pid: number
  /** Its output so far. */
  output(): string
  /** Its exit code once it has ended, null if a signal ended it. */
  ended: Promise<number | null>
  /** Ends it and answers its exit code, null if a signal ended it. */
  end(signal: 'SIGTERM' | 'SIGKILL' | 'SIGINT'): Promise<number | null>
}

interface StartOptions {
  /** The file descriptor that the output goes to, instead of `output()`. */
  outputFile?: number
  /** Makes and migrates the database as a first start does, instead of copying a migrated one. */
  firstStart?: boolean
  /** The folder of another version's code. */
  root?: string
  /** Further options of Node. */
  flags?: string[]
  /** The user that it runs as, where that is not this one. */
  uid?: number
}

/** A name server that is not there: no question of a test leaves the machine. */
const nobody = '127.0.0.1:9'

/** In ms: only what hangs takes that long, however busy the machine is. */
const startLimit = 300_000

/** Options of Node for the programs that a test starts (vitest.config.ts). */
export const programFlags = process.env.PROGRAM_FLAGS?.split(' ') ?? []

/**
 * Starts the program as an operator would, with nothing from this environment but the path, and waits until it is healthy.
 * An empty data folder gets a copy of a migrated database first: making one costs nine times the CPU of the start itself.
 */
export async function startProgram(env: Record<string, string>, to: StartOptions = {}): Promise<Program> {
  if (env.DATA_DIR && !env.DATABASE_URL && !to.firstStart) await copyTemplate(env.DATA_DIR)
  const port = env.PORT ?? String(await freePort())
  const file = to.root ? path.join(to.root, 'server/start.ts') : await programFile('start')
  const child = spawn(process.execPath, [...programFlags, ...(to.flags ?? []), file], {
    env: {
      PATH: process.env.PATH ?? '',
      PORT: port,
      HOST: '127.0.0.1',
      RATE_LIMIT: 'off',
      SMTP_ALLOW_PRIVATE_HOSTS: 'true',
      DNS_SERVERS: nobody,
      NODE_COMPILE_CACHE: compileCache,
      ...env,
    },
    stdio: ['ignore', to.outputFile ?? 'pipe', to.outputFile ?? 'pipe'],
    ...(to.uid ? { uid: to.uid, gid: to.uid } : {}),
  })
  let output = ''
  child.stdout?.on('data', (text) => (output += String(text)))
  child.stderr?.on('data', (text) => (output += String(text)))
  const exited = once(child, 'exit').then(([code]) => code as number | null)
  const url = `http://127.0.0.1:${port}`
  // A level above `info` leaves out that the program is ready.
  const logged = child.stdout && !env.LOG_LEVEL ? readyIn(child.stdout) : Promise.resolve()
  await healthy(url, child, { logged, output: () => output }).catch((error: unknown) => {
    child.kill('SIGKILL')
    throw error
  })
  return {
    url,
    pid: child.pid ?? 0,
    output: () => output,
    ended: exited,
    end(signal) {
      child.kill(signal)
      return exited
    },
    async [Symbol.asyncDispose]() {
      child.kill('SIGKILL')
      await exited
    },
  }
}

/** Until the program logs that it is ready, or has ended: asking it again and again would take CPU from its start. */
function readyIn(log: Readable): Promise<void> {
  return new Promise((resolve) => {
    let line = ''
    log.on('data', (text) => {
      line = `${line}${String(text)}`.slice(-2_000)
      if (line.includes('Duely is ready')) resolve()
    })
    log.once('close', resolve)
  })
}

/** A program that was to start, and exited before it answered. */
export class ProgramExited extends Error {}

/** Waits until a program answers that it is healthy. */
export async function healthy(
  url: string,
  child: ChildProcess,
  { logged, output }: { logged: Promise<void>; output(): string },
): Promise<void> {
  const deadline = performance.now() + startLimit
  await Promise.race([logged, pause(startLimit, undefined, { ref: false })])
  do {
    if (child.exitCode !== null || child.signalCode !== null) throw new ProgramExited(`The program exited immediately:\n${output()}`)
    const answered = await fetch(`${url}/health`, { signal: AbortSignal.timeout(startLimit) }).catch(() => null)
    if (answered?.ok) return
    await pause(50)
  } while (performance.now() < deadline)
  throw new Error(`The program was not healthy in time:\n${output()}`)
}

async function openFolder(dataDir: string): Promise<OpenDatabase> {
  const { openEmbedded } = await import('#server/platform/database.ts')
  return openEmbedded(dataDir, () => undefined)
}

/** Gives an empty data folder a migrated database without rows. The program makes its secret key at its first start, as in an empty folder. */
export async function copyTemplate(dataDir: string): Promise<void> {
  if (existsSync(dataDir) && readdirSync(dataDir).length > 0) return
  const template = await keptFolder('data', migrationFiles(), async (folder) => (await openFolder(folder)).close())
  await mkdir(dataDir, { recursive: true, mode: 0o700 })
  await cp(template, dataDir, { recursive: true, mode: constants.COPYFILE_FICLONE })
}

/** Changes the data of a program that has ended, where only time would. */
export async function changeData(dataDir: string, statement: string): Promise<void> {
  const database = await openFolder(dataDir)
  await database.db.execute(statement)
  await database.close()
}

/** Memory of a process, in MB. */
export function residentMb(pid: number): number {
  return Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0) / 1024
}

export async function freePort(): Promise<number> {
  const server = net.createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as net.AddressInfo
  server.close()
  await once(server, 'close')
  return port
}

/** A signed-in account that uses the program over HTTP; makes the account first if there is none. */
export async function someoneAt(
  url: string,
  email: string,
  password = 'correct horse battery',
): Promise<{
  send(method: string, path: string, body?: object, business?: string): Promise<unknown>
  /** What shows that it is them, where a session is not enough. */
  proof: { currentPassword: string }
}> {
  const ask = async (method: string, path: string, body: object | undefined, token: string, business?: string) => {
    const answered = await fetch(url + path, {
      method,
      headers: {
        ...(body ? { 'content-type': 'application/json' } : {}),
        ...(token ? { authorization: `Bearer ${token}` } : {}),
        ...(business ? { [businessHeader]: business } : {}),
      },
      ...(body ? { body: JSON.stringify(body) } : {}),
    })
    const text = await answered.text()
    if (!answered.ok) throw new Error(`${method} ${path}: ${answered.status} ${text}`)
    return text === '' ? undefined : (JSON.parse(text) as unknown)
  }
  const account = { email, password }
  await ask('POST', '/user', { ...account, displayName: 'Asha Rao', timezone: 'Asia/Kolkata' }, '').catch((error: Error) => {
    if (!error.message.includes(' 409 ')) throw error
  })
  const { accessToken } = (await ask('POST', '/auth', account, '')) as { accessToken: string }
  return { send: (method, path, body, business) => ask(method, path, body, accessToken, business), proof: { currentPassword: password } }
}
