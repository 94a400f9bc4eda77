import { spawn } from 'node:child_process'
import { chmodSync, chownSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import net from 'node:net'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { expect, test } from 'vitest'
import { compileCache, programFile } from '#test/bundle.ts'
import { freePort, programFlags, someoneAt, startProgram } from '#test/program.ts'
import { thorough } from '#test/thorough.ts'

function aFolder(): Disposable & { at: string } {
  const at = mkdtempSync(path.join(tmpdir(), 'duely-start-'))
  return { at, [Symbol.dispose]: () => rmSync(at, { recursive: true, force: true }) }
}

/** Runs the program until it exits. */
async function endOf(env: Record<string, string>, uid?: number): Promise<{ code: number | null; said: string; logged: string }> {
  const child = spawn(process.execPath, [...programFlags, await programFile('start')], {
    env: { PATH: process.env.PATH ?? '', HOST: '127.0.0.1', PORT: '0', NODE_COMPILE_CACHE: compileCache, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
    ...(uid === undefined ? {} : { uid, gid: uid }),
  })
  let said = ''
  let logged = ''
  child.stderr.on('data', (text) => (said += String(text)))
  child.stdout.on('data', (text) => (logged += String(text)))
  return new Promise((resolve) => child.once('close', (code) => resolve({ code, said, logged })))
}

test('invalid variables stop the start, one line each', async () => {
  const { code, said, logged } = await endOf({ PORT: 'http', ROLE: 'boss' })
  expect(code).toBe(1)
  expect(said).toBe('PORT must be a whole number from 0 to 65535, for example 3000\nROLE must be all, web or worker\n')
  expect(logged).toBe('')
})

test('a port in use stops the start with one message', async () => {
  using folder = aFolder()
  const other = net.createServer()
  await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve))
  const { port } = other.address() as net.AddressInfo
  const { code, said } = await endOf({ PORT: String(port), DATA_DIR: folder.at })
  other.close()
  expect(code).toBe(1)
  expect(said).toBe(`Port ${port} is in use by another program. Stop that program, or set PORT to another number.\n`)
})

test.runIf(thorough)('a foreign host stops the start with one message', async () => {
  using folder = aFolder()
  const { code, said } = await endOf({ HOST: '192.0.2.1', DATA_DIR: folder.at })
  expect(code).toBe(1)
  expect(said).toBe('HOST 192.0.2.1 is not an address of this machine (EADDRNOTAVAIL). Use for example localhost or 0.0.0.0.\n')
})

test('a read-only folder stops the start with one message', async () => {
  using folder = aFolder()
  const file = path.join(folder.at, 'file')
  writeFileSync(file, '')
  const { code, said } = await endOf({ DATA_DIR: path.join(file, 'data') })
  expect(code).toBe(1)
  expect(said).toBe(`The folder ${file}/data cannot be written to (ENOTDIR). Set DATA_DIR to a writable folder.\n`)
})

test.runIf(process.getuid?.() === 0)(
  'a database that belongs to another user and is open to all stops the start with one message',
  async () => {
    using folder = aFolder()
    const within = path.join(folder.at, 'postgres')
    mkdirSync(within)
    chownSync(within, 1, 1)
    for (const place of [folder.at, within]) chmodSync(place, 0o777)
    const { code, said } = await endOf({ DATA_DIR: folder.at }, 10_001)
    expect(code).toBe(1)
    expect(said).toBe(
      `Other users of this machine can open ${within}, and it belongs to one of them (EPERM). Run: sudo chown -R 10001:10001 ${within}\n`,
    )
  },
)

test.runIf(thorough && process.platform === 'linux')(
  'a place where no folder can be made stops the start too, and does not hang',
  async () => {
    const { code, said } = await endOf({ DATA_DIR: '/proc/duely' })
    expect(code).toBe(1)
    expect(said).toBe('The folder /proc/duely cannot be written to (ENOENT). Set DATA_DIR to a writable folder.\n')
  },
)

test('an unreachable database server stops the start with one message', async () => {
  const port = await freePort()
  const { code, said } = await endOf({ DATABASE_URL: `postgres://duely:hunter2@127.0.0.1:${port}/duely`, SECRET_KEY: 'x'.repeat(32) })
  expect(code).toBe(1)
  expect(said).toBe(`The database at 127.0.0.1:${port}/duely does not answer (ECONNREFUSED). Start it, or correct DATABASE_URL.\n`)
})

test('it serves, keeps data over kill -9, locks its data folder, and stops cleanly', async () => {
  using folder = aFolder()
  const env = { DATA_DIR: folder.at }
  {
    await using first = await startProgram(env, { firstStart: true })
    const health = await fetch(`${first.url}/health`)
    expect([health.status, await health.json()]).toEqual([200, { status: 'ok', version: expect.stringMatching(/^\d+\.\d+\.\d+$/) }])
    const asha = await someoneAt(first.url, 'asha@example.com')
    await asha.send('POST', '/invoice', { clientName: 'Kaveri Foods', clientEmail: 'k@example.com', amount: 5000, dueDate: '2026-01-01' })
    expect((await fetch(`${first.url}/metrics`)).status).toBe(404)

    const second = await endOf(env)
    expect(second.code).toBe(1)
    expect(second.said).toBe(`Another Duely is already running on the folder ${folder.at}. Stop it, or set DATA_DIR to another folder.\n`)
    await first.end('SIGKILL')
  }
  await using third = await startProgram({ ...env, METRICS_TOKEN: 'a-token-of-metrics' })
  const asha = await someoneAt(third.url, 'asha@example.com')
  expect(await asha.send('GET', '/invoice')).toMatchObject([{ clientName: 'Kaveri Foods', amount: 5000 }])
  const metrics = async (authorization: string) => {
    const answered = await fetch(`${third.url}/metrics`, { headers: { authorization } })
    return `${answered.status} ${await answered.text()}`
  }
  expect(await metrics('Bearer another-token-of-metrics')).toMatch(/^401 /)
  const said = await metrics('Bearer a-token-of-metrics')
  expect(said).toMatch(/^200 # HELP duely_info .*\nduely_info\{version="\d+\.\d+\.\d+",role="all"\} 1\n.*\nduely_database_up 1\n/s)
  expect(said).toContain('duely_calls_total{route="GET /invoice",status="2xx"} 1\n')
  expect(said).toContain('duely_call_seconds_bucket{route="GET /invoice",le="+Inf"} 1\n')
  expect(await third.end('SIGTERM')).toBe(0)
  expect(third.output()).toContain('Duely has stopped.')
})

test.runIf(thorough)('a different secret key is refused', async () => {
  using folder = aFolder()
  const env = { DATA_DIR: folder.at, SECRET_KEY: 'the first secret key, 32 characters' }
  {
    await using first = await startProgram(env)
    expect(await first.end('SIGINT')).toBe(0)
  }
  const { code, said } = await endOf({ ...env, SECRET_KEY: 'another secret key of 32 characters' })
  expect(code).toBe(1)
  expect(said).toMatch(/^SECRET_KEY is not the key this database was created with\.[^\n]*\n$/)
})

test.runIf(thorough)('with PORT=0 the log shows the chosen port', async () => {
  using folder = aFolder()
  const child = spawn(process.execPath, [...programFlags, await programFile('start')], {
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
})
