import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, chownSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import net from 'node:net'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { findMailServers } from './packages.ts'

/** A folder for the mail servers of one test, and their processes. */
export interface Machine extends AsyncDisposable {
  folder: string
  /** The certificate of the authority that signed `certificate`, as a file. */
  authority: string
  /** The file with key and certificate for `localhost` and 127.0.0.1. */
  certificate: string
  /** Writes a file into the folder and returns its path. */
  write(name: string, text: string): string
  /** Makes a folder in it that belongs to this user of the servers' passwd. */
  folderOf(name: string, user?: string): string
  /** Starts a server. */
  start(program: string, args: string[], env?: Record<string, string>): Service
  /** Runs a tool of theirs to its end. */
  run(program: string, args: string[], env?: Record<string, string>): string
  /** What a log has, by its file name; empty where there is none yet. */
  log(name: string): string
}

/** A server and the processes that it started. */
export interface Service {
  hasEnded(): boolean
  /** With SIGTERM all of them finish; with SIGKILL nothing is finished. */
  end(signal: 'SIGTERM' | 'SIGKILL'): Promise<void>
  reload(): void
}

/** Lays the unpacked servers over /usr and /etc, read-only and for one process and its children alone, so that they find their files where they look. */
const inside = `
mount -t overlay overlay -o "lowerdir=$1/usr:/usr" /usr && mount -t overlay overlay -o "lowerdir=$1/etc:/etc" /etc || exit 70
shift; exec "$@"`

/** Null where this machine can't have the servers, or allows no mount of their own. */
export async function openMachine(find = findMailServers): Promise<Machine | null> {
  const root = await find()
  const wrapped = (program: string, args: string[]): [string, string[]] => [
    'unshare',
    ['--mount', 'sh', '-c', inside, 'sh', root ?? '', program, ...args],
  ]
  if (!root || spawnSync(...wrapped('true', [])).status !== 0) return null
  const folder = mkdtempSync(path.join(tmpdir(), 'duely-mail-servers-'))
  chmodSync(folder, 0o755)
  const own = (name: string) => path.join(folder, name)
  const services: Service[] = []
  const machine: Machine = {
    folder,
    ...makeCertificates(folder),
    write(name, text) {
      writeFileSync(own(name), text)
      return own(name)
    },
    folderOf(name, user) {
      mkdirSync(own(name), { recursive: true })
      const owner = user && new RegExp(`^${user}:x:(\\d+):(\\d+):`, 'm').exec(readFileSync(path.join(root, 'etc/passwd'), 'utf8'))
      if (owner) chownSync(own(name), Number(owner[1]), Number(owner[2]))
      return own(name)
    },
    start(program, args, env = {}) {
      const service = serviceOf(
        spawn(...wrapped(program, args), { cwd: folder, env: { PATH: process.env.PATH, ...env }, stdio: 'ignore', detached: true }),
      )
      services.push(service)
      return service
    },
    run: (program, args, env = {}) =>
      execFileSync(...wrapped(program, args), {
        cwd: folder,
        encoding: 'utf8',
        env: { PATH: process.env.PATH, ...env },
        stdio: ['ignore', 'pipe', 'pipe'],
      }),
    log(name) {
      try {
        return readFileSync(own(name), 'utf8')
      } catch {
        return ''
      }
    },
    async [Symbol.asyncDispose]() {
      await Promise.all(services.map((service) => service.end('SIGKILL')))
      rmSync(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 })
    },
  }
  return machine
}

/** A process leads a group of its own, so that its children end with it. */
function serviceOf(child: ChildProcess): Service {
  const kill = (signal: 'SIGTERM' | 'SIGKILL') => {
    try {
      if (child.pid) process.kill(signal === 'SIGKILL' ? -child.pid : child.pid, signal)
    } catch {
      // Gone already.
    }
  }
  const onExit = () => kill('SIGKILL')
  process.once('exit', onExit)
  const hasEnded = () => child.exitCode !== null || child.signalCode !== null
  return {
    hasEnded,
    reload: () => void child.kill('SIGHUP'),
    async end(signal) {
      const ended = hasEnded() ? null : once(child, 'exit')
      kill(signal)
      if (ended) await Promise.race([ended, pause(10_000, undefined, { ref: false })])
      kill('SIGKILL')
      process.off('exit', onExit)
    },
  }
}

/** Waits until a server greets on this port of loopback; fails with its log where it has ended. */
export async function untilGreeted(port: number, service: Service, log: () => string): Promise<void> {
  for (let tries = 0; ; tries += 1) {
    if (await greets(port)) return
    if (service.hasEnded() || tries > 600) throw new Error(`The mail server did not start:\n${log().slice(-2_000)}`)
    await pause(50)
  }
}

function greets(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = net.connect(port, '127.0.0.1')
    socket.setTimeout(2_000, () => socket.destroy())
    socket.once('data', (data) => {
      resolve(data.toString().startsWith('220'))
      socket.end('QUIT\r\n')
    })
    socket.once('error', () => resolve(false))
    socket.once('close', () => resolve(false))
  })
}

/** An authority, and a key with a certificate that it has signed. */
function makeCertificates(folder: string): Pick<Machine, 'authority' | 'certificate'> {
  const openssl = (...args: string[]) => execFileSync('openssl', args, { cwd: folder, stdio: 'pipe' })
  const shared = ['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-days', '30']
  openssl(...shared, '-subj', '/CN=Authority of the tests', '-keyout', 'ca.key', '-out', 'ca.pem')
  openssl(
    ...shared,
    '-subj',
    '/CN=localhost',
    '-addext',
    'subjectAltName=DNS:localhost,IP:127.0.0.1',
    '-addext',
    'basicConstraints=critical,CA:FALSE',
    '-CA',
    'ca.pem',
    '-CAkey',
    'ca.key',
    '-keyout',
    'server.key',
    '-out',
    'server.crt',
  )
  const certificate = path.join(folder, 'server.pem')
  writeFileSync(certificate, ['server.key', 'server.crt', 'ca.pem'].map((name) => readFileSync(path.join(folder, name), 'utf8')).join(''))
  return { authority: path.join(folder, 'ca.pem'), certificate }
}
