import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import net from 'node:net'
import { tmpdir } from 'node:os'
import path from 'node:path'
import pg from 'pg'
import { expect, inject, test } from 'vitest'
import { freePort, someoneAt, startProgram } from '#test/program.ts'

const entry = path.join(import.meta.dirname, 'start.ts')

function aFolder(): Disposable & { at: string } {
  const at = mkdtempSync(path.join(tmpdir(), 'duely-start-'))
  return { at, [Symbol.dispose]: () => rmSync(at, { recursive: true, force: true }) }
}

/** Runs the program until it ends by itself. */
function endOf(env: Record<string, string>): Promise<{ code: number | null; said: string; logged: string }> {
  const child = spawn(process.execPath, [entry], {
    env: { PATH: process.env.PATH ?? '', HOST: '127.0.0.1', PORT: '0', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let said = ''
  let logged = ''
  child.stderr.on('data', (text) => (said += String(text)))
  child.stdout.on('data', (text) => (logged += String(text)))
  return new Promise((resolve) => child.once('close', (code) => resolve({ code, said, logged })))
}

test('wrong variables stop the start, each in a line of its own', async () => {
  const { code, said, logged } = await endOf({ PORT: 'http', ROLE: 'boss' })
  expect(code).toBe(1)
  expect(said).toBe('PORT must be a whole number from 0 to 65535, for example 3000\nROLE must be all, web or worker\n')
  expect(logged).toBe('')
})

test('a port in use stops the start in one sentence', async () => {
  using folder = aFolder()
  const other = net.createServer()
  await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve))
  const { port } = other.address() as net.AddressInfo
  const { code, said } = await endOf({ PORT: String(port), DATA_DIR: folder.at })
  other.close()
  expect(code).toBe(1)
  expect(said).toBe(`Port ${port} is in use by another program. Stop that one, or set PORT to another number.\n`)
})

test('a host that is not of this machine stops the start in one sentence', async () => {
  using folder = aFolder()
  const { code, said } = await endOf({ HOST: '192.0.2.1', DATA_DIR: folder.at })
  expect(code).toBe(1)
  expect(said).toBe('HOST 192.0.2.1 is not an address of this machine (EADDRNOTAVAIL). Use for example localhost or 0.0.0.0.\n')
})

test('a folder that cannot be written to stops the start in one sentence', async () => {
  using folder = aFolder()
  const file = path.join(folder.at, 'file')
  writeFileSync(file, '')
  const { code, said } = await endOf({ DATA_DIR: path.join(file, 'data') })
  expect(code).toBe(1)
  expect(said).toBe(`The folder ${file}/data cannot be written to (ENOTDIR). Set DATA_DIR to one that can.\n`)
})

test.runIf(process.platform === 'linux')('a place where no folder can be made stops the start too, and does not hang', async () => {
  const { code, said } = await endOf({ DATA_DIR: '/proc/duely' })
  expect(code).toBe(1)
  expect(said).toBe('The folder /proc/duely cannot be written to (ENOENT). Set DATA_DIR to one that can.\n')
})

test('a database server that does not answer stops the start in one sentence', async () => {
  const port = await freePort()
  const { code, said } = await endOf({ DATABASE_URL: `postgres://duely:hunter2@127.0.0.1:${port}/duely`, SECRET_KEY: 'x'.repeat(32) })
  expect(code).toBe(1)
  expect(said).toBe(`The database at 127.0.0.1:${port}/duely does not answer (ECONNREFUSED). Start it, or correct DATABASE_URL.\n`)
})

test('it serves, keeps what it was told over kill -9, lets nobody else on its data, and stops in order', async () => {
  using folder = aFolder()
  const env = { DATA_DIR: folder.at }
  {
    await using first = await startProgram(env, { firstStart: true })
    const health = await fetch(`${first.url}/health`)
    expect([health.status, await health.json()]).toEqual([200, { status: 'ok' }])
    const asha = await someoneAt(first.url, 'asha@example.com')
    await asha.send('POST', '/invoice', { clientName: 'Kaveri Foods', clientEmail: 'k@example.com', amount: 5000, dueDate: '2026-01-01' })

    const second = await endOf(env)
    expect(second.code).toBe(1)
    expect(second.said).toBe(`Another Duely is already running on the folder ${folder.at}. Stop it, or set DATA_DIR to another folder.\n`)
    await first.end('SIGKILL')
  }
  const began = performance.now()
  await using third = await startProgram(env)
  const asha = await someoneAt(third.url, 'asha@example.com')
  expect(await asha.send('GET', '/invoice')).toMatchObject([{ clientName: 'Kaveri Foods', amount: 5000 }])
  expect(performance.now() - began).toBeLessThan(30_000)
  const asked = performance.now()
  expect(await third.end('SIGTERM')).toBe(0)
  expect(performance.now() - asked).toBeLessThan(10_000)
  expect(third.output()).toContain('Duely has stopped.')
}, 120_000)

test('another secret key than the first one is refused', async () => {
  using folder = aFolder()
  const env = { DATA_DIR: folder.at, SECRET_KEY: 'the first secret key, 32 characters' }
  {
    await using first = await startProgram(env)
    expect(await first.end('SIGINT')).toBe(0)
  }
  const { code, said } = await endOf({ ...env, SECRET_KEY: 'another secret key of 32 characters' })
  expect(code).toBe(1)
  expect(said).toMatch(/^SECRET_KEY is not the one that this database was first started with\.[^\n]*\n$/)
}, 120_000)

test('where any free port was asked for, the log says which one it is', async () => {
  using folder = aFolder()
  const child = spawn(process.execPath, [entry], {
    env: { PATH: process.env.PATH ?? '', HOST: '127.0.0.1', PORT: '0', DATA_DIR: folder.at },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  let logged = ''
  const url = await new Promise<string>((resolve) => {
    child.stdout.on('data', (text) => {
      logged += String(text)
      const found = /Duely is ready: (http:\/\/127\.0\.0\.1:\d+)/.exec(logged)?.[1]
      if (found) resolve(found)
    })
  })
  expect((await fetch(`${url}/health`)).status).toBe(200)
  const ended = new Promise((resolve) => child.once('exit', resolve))
  child.kill('SIGTERM')
  expect(await ended).toBe(0)
}, 60_000)

const server = inject('postgresUrl')

async function aDatabase(): Promise<string> {
  const name = `duely_start_${process.pid}_${Math.floor(performance.now())}`
  const client = new pg.Client({ connectionString: server })
  await client.connect()
  await client.query(`CREATE DATABASE ${name}`)
  await client.end()
  const url = new URL(server ?? '')
  url.pathname = `/${name}`
  return url.toString()
}

test.runIf(server)(
  'web and worker start together on one empty database, each in its role',
  async () => {
    const env = { DATABASE_URL: await aDatabase(), SECRET_KEY: 'a secret key for tests, 32 characters' }
    const [web, worker] = await Promise.all([startProgram({ ...env, ROLE: 'web' }), startProgram({ ...env, ROLE: 'worker' })])
    await using _web = web
    await using _worker = worker
    await someoneAt(web.url, 'asha@example.com')
    expect((await fetch(`${worker.url}/health`)).status).toBe(200)
    expect((await fetch(`${worker.url}/server`)).status).toBe(404)
    expect(await Promise.all([web.end('SIGTERM'), worker.end('SIGTERM')])).toEqual([0, 0])
  },
  60_000,
)

test.runIf(server)(
  'where nobody looks for due reminders, health says so',
  async () => {
    await using web = await startProgram({
      DATABASE_URL: await aDatabase(),
      SECRET_KEY: 'a secret key for tests, 32 characters',
      ROLE: 'web',
    })
    const health = await fetch(`${web.url}/health`)
    expect([health.status, await health.json()]).toEqual([
      200,
      { status: 'degraded', reason: expect.stringContaining('looked for due reminders') },
    ])
    expect((await fetch(`${web.url}/health?strict=1`)).status).toBe(503)
  },
  60_000,
)

test.runIf(server)(
  'calls are turned away while the database is gone, and answered again once it is back',
  async () => {
    const target = new URL(await aDatabase())
    const sockets = new Set<net.Socket>()
    const listen = (port: number) =>
      new Promise<net.Server>((resolve) => {
        const proxy = net.createServer((near) => {
          const far = net.connect(Number(target.port), target.hostname)
          for (const socket of [near, far]) sockets.add(socket.on('error', () => undefined))
          near.pipe(far)
          far.pipe(near)
        })
        proxy.listen(port, '127.0.0.1', () => resolve(proxy))
      })
    let proxy = await listen(0)
    const { port } = proxy.address() as net.AddressInfo
    const url = new URL(target)
    url.port = String(port)
    await using program = await startProgram({ DATABASE_URL: url.toString(), SECRET_KEY: 'a secret key for tests, 32 characters' })
    const asha = await someoneAt(program.url, 'asha@example.com')

    proxy.close()
    for (const socket of sockets) socket.destroy()
    const began = performance.now()
    expect((await fetch(`${program.url}/health`)).status).toBe(503)
    await expect(asha.send('GET', '/invoice')).rejects.toThrow(/ 503 .*"code":"not_ready"/)
    expect(performance.now() - began).toBeLessThan(15_000)

    proxy = await listen(port)
    await expect.poll(async () => (await fetch(`${program.url}/health`)).status, { timeout: 15_000 }).toBe(200)
    expect(await asha.send('GET', '/invoice')).toEqual([])
    expect(await program.end('SIGTERM')).toBe(0)
    proxy.close()
    for (const socket of sockets) socket.destroy()
  },
  60_000,
)
