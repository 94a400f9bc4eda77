import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import net from 'node:net'
import path from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'

/** The real program in a process of its own. */
export interface Program extends AsyncDisposable {
  url: string
  pid: number
  /** What it has written so far. */
  output(): string
  /** Its exit code once it has ended by itself or by `end`, null where a signal ended it. */
  ended: Promise<number | null>
  /** Ends it and answers its exit code, or null where a signal ended it. */
  end(signal: 'SIGTERM' | 'SIGKILL' | 'SIGINT'): Promise<number | null>
}

/** Starts the program as an operator would, with nothing from this environment but the path, and waits until it is healthy. */
export async function startProgram(env: Record<string, string>, to: { outputFile?: number } = {}): Promise<Program> {
  const port = env.PORT ?? String(await freePort())
  const child = spawn(process.execPath, [path.join(import.meta.dirname, '../server/start.ts')], {
    env: { PATH: process.env.PATH ?? '', PORT: port, HOST: '127.0.0.1', RATE_LIMIT: 'off', SMTP_ALLOW_PRIVATE_HOSTS: 'true', ...env },
    stdio: ['ignore', to.outputFile ?? 'pipe', to.outputFile ?? 'pipe'],
  })
  let output = ''
  child.stdout?.on('data', (text) => (output += String(text)))
  child.stderr?.on('data', (text) => (output += String(text)))
  const exited = once(child, 'exit').then(([code]) => code as number | null)
  const url = `http://127.0.0.1:${port}`
  await healthy(url, child, () => output).catch((error: unknown) => {
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

async function healthy(url: string, child: ChildProcess, output: () => string): Promise<void> {
  const deadline = performance.now() + 100_000
  while (performance.now() < deadline) {
    if (child.exitCode !== null || child.signalCode !== null) throw new Error(`The program ended at once:\n${output()}`)
    const answered = await fetch(`${url}/health`, { signal: AbortSignal.timeout(5_000) }).catch(() => null)
    if (answered?.ok) return
    await pause(50)
  }
  throw new Error(`The program was not healthy within 100 s:\n${output()}`)
}

export async function freePort(): Promise<number> {
  const server = net.createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as net.AddressInfo
  server.close()
  await once(server, 'close')
  return port
}

/** Somebody who uses the program over HTTP, signed up and signed in. */
export async function someoneAt(
  url: string,
  email: string,
): Promise<{ send(method: string, path: string, body?: object): Promise<unknown> }> {
  const ask = async (method: string, path: string, body: object | undefined, token: string) => {
    const answered = await fetch(url + path, {
      method,
      headers: { ...(body ? { 'content-type': 'application/json' } : {}), ...(token ? { authorization: `Bearer ${token}` } : {}) },
      ...(body ? { body: JSON.stringify(body) } : {}),
    })
    const text = await answered.text()
    if (!answered.ok) throw new Error(`${method} ${path}: ${answered.status} ${text}`)
    return text === '' ? undefined : (JSON.parse(text) as unknown)
  }
  const account = { email, password: 'correct horse battery' }
  await ask('POST', '/user', { ...account, displayName: 'Asha Rao', timezone: 'Asia/Kolkata' }, '').catch((error: Error) => {
    if (!error.message.includes(' 409 ')) throw error
  })
  const { accessToken } = (await ask('POST', '/auth', account, '')) as { accessToken: string }
  return { send: (method, path, body) => ask(method, path, body, accessToken) }
}
