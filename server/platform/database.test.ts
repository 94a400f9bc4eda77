import { fsyncSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import net from 'node:net'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { type SQL, sql } from 'drizzle-orm'
import { expect, inject, test } from 'vitest'
import { z } from 'zod'
import { answers, isAway, openEmbedded, openServer, rows } from './database.ts'
import { settleSecretKey } from './secret-key.ts'
import { StartError } from './start-error.ts'

function aFolder(): Disposable & { at: string } {
  const at = mkdtempSync(path.join(tmpdir(), 'duely-database-'))
  return { at, [Symbol.dispose]: () => rmSync(at, { recursive: true, force: true }) }
}

const refusal = (begun: Promise<unknown>) =>
  begun.then(
    () => null,
    (error: unknown) => (error instanceof StartError ? error.message : error),
  )

test('a commit is on the disk before it is answered', async () => {
  using folder = aFolder()
  let synced = 0
  const database = await openEmbedded(folder.at, (fd) => {
    fsyncSync(fd)
    synced += 1
  })
  const commits = 20
  await database.db.execute(sql`CREATE TABLE notes (text text)`)
  const before = synced
  for (let n = 0; n < commits; n += 1) await database.db.execute(sql`INSERT INTO notes VALUES ('a commit')`)
  expect(synced - before).toBeGreaterThanOrEqual(commits)
  const reading = synced
  await database.db.execute(sql`SELECT count(*) FROM notes`)
  expect(synced).toBe(reading)
  await database.close()
}, 60_000)

test('what was committed is there after the next start', async () => {
  using folder = aFolder()
  const first = await openEmbedded(folder.at)
  await first.db.execute(sql`CREATE TABLE notes (text text)`)
  await first.db.execute(sql`INSERT INTO notes VALUES ('still here')`)
  await first.close()
  const second = await openEmbedded(folder.at)
  expect(await rows(second.db, z.object({ text: z.string() }), sql`SELECT text FROM notes`)).toEqual([{ text: 'still here' }])
  await second.close()
}, 60_000)

test('a folder is opened once at a time', async () => {
  using folder = aFolder()
  const first = await openEmbedded(folder.at)
  expect(await refusal(openEmbedded(folder.at))).toBe(
    `Another Duely is already running on the folder ${folder.at}. Stop it, or set DATA_DIR to another folder.`,
  )
  await first.close()
  const second = await openEmbedded(folder.at)
  await second.close()
}, 60_000)

test('a first start that was cut off is begun again', async () => {
  using folder = aFolder()
  mkdirSync(path.join(folder.at, 'postgres.making'), { recursive: true })
  writeFileSync(path.join(folder.at, 'postgres.making/PG_VERSION'), '18\n')
  const database = await openEmbedded(folder.at)
  expect(await answers(database.db)).toBe(true)
  await database.close()
}, 60_000)

test('data of another Postgres is refused and left alone', async () => {
  using folder = aFolder()
  const file = path.join(folder.at, 'postgres/PG_VERSION')
  mkdirSync(path.dirname(file))
  writeFileSync(file, '17\n')
  expect(await refusal(openEmbedded(folder.at))).toMatch(/was written by Postgres 17, this Duely reads 18\. Start the Duely that wrote it/)
  expect(readFileSync(file, 'utf8')).toBe('17\n')
})

test('a folder of somebody else is refused and left alone', async () => {
  using folder = aFolder()
  const file = path.join(folder.at, 'postgres/letter.txt')
  mkdirSync(path.dirname(file))
  writeFileSync(file, 'mine')
  expect(await refusal(openEmbedded(folder.at))).toMatch(/holds something that is not a database of Duely/)
  expect(readFileSync(file, 'utf8')).toBe('mine')
})

test('a folder that cannot be written to is refused', async () => {
  using folder = aFolder()
  const file = path.join(folder.at, 'file')
  writeFileSync(file, '')
  expect(await refusal(openEmbedded(path.join(file, 'data')))).toMatch(/cannot be written to \(\w+\)\. Set DATA_DIR to one that can\.$/)
})

test('the secret key is made once, for its owner alone, and never replaced', async () => {
  using folder = aFolder()
  const database = await openEmbedded(folder.at)
  const settle = (given: string) => settleSecretKey(database.db, { given, dataDir: folder.at })
  const file = path.join(folder.at, 'secret-key')
  const key = await settle('')
  expect(key.length).toBeGreaterThanOrEqual(32)
  expect(statSync(file).mode & 0o777).toBe(0o600)
  expect(await settle('')).toBe(key)
  expect(await settle(key)).toBe(key)
  expect(await refusal(settle('another secret key of 32 characters'))).toMatch(
    /^SECRET_KEY is not the one that this database was first started with/,
  )

  rmSync(file)
  expect(await refusal(settle(''))).toMatch(/^The secret key of this database is missing\. Put the file .* back from a backup/)
  writeFileSync(file, 'another secret key of 32 characters\n')
  expect(await refusal(settle(''))).toMatch(/^The key in .*secret-key is not the one/)
  await database.close()
}, 60_000)

test('a server that does not answer is named without its password', async () => {
  const server = net.createServer().listen(0, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
  const { port } = server.address() as net.AddressInfo
  await new Promise((resolve) => server.close(resolve))
  expect(await refusal(openServer(`postgres://duely:hunter2@127.0.0.1:${port}/books`))).toBe(
    `The database at 127.0.0.1:${port}/books does not answer (ECONNREFUSED). Start it, or correct DATABASE_URL.`,
  )
})

const server = inject('postgresUrl')

test.runIf(server)('a database that is not there is named', async () => {
  const url = new URL(server ?? '')
  url.pathname = '/nowhere'
  expect(await refusal(openServer(url.toString()))).toMatch(/^There is no such database at 127\.0\.0\.1:\d+\/nowhere/)
})

test.runIf(server)('a connection that dies between two statements of a transaction ends that transaction and nothing else', async () => {
  const database = await openServer(server ?? '')
  const pids = async (statement: SQL) => rows(database.pulse, z.object({ pid: z.number() }), statement)
  const cut = await database.db
    .transaction(async (tx) => {
      const [mine] = await rows(tx, z.object({ pid: z.number() }), sql`SELECT pg_backend_pid() AS pid`)
      await pids(sql`SELECT pid FROM pg_stat_activity WHERE pid = ${mine?.pid} AND pg_terminate_backend(pid)`)
      await expect.poll(() => pids(sql`SELECT pid FROM pg_stat_activity WHERE pid = ${mine?.pid}`)).toEqual([])
      await tx.execute(sql`SELECT 1`)
    })
    .catch((error: unknown) => error)
  expect(isAway(cut)).toBe(true)
  expect(await answers(database.db)).toBe(true)
  await database.close()
})

test.runIf(server)(
  'a server that falls silent is noticed, and is used again once it speaks',
  async () => {
    const target = new URL(server ?? '')
    const sockets = new Set<net.Socket>()
    let silent = false
    // In between: swallows everything while it is told to.
    const proxy = net.createServer((near) => {
      const far = net.connect(Number(target.port), target.hostname)
      for (const [from, to] of [
        [near, far],
        [far, near],
      ] as const) {
        sockets.add(from)
        from.on('data', (bytes) => !silent && to.write(bytes)).on('error', () => undefined)
        from.on('close', () => to.destroy())
      }
    })
    await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve))
    const url = new URL(target)
    url.port = String((proxy.address() as net.AddressInfo).port)
    const database = await openServer(url.toString())
    expect(await answers(database.db)).toBe(true)

    silent = true
    const began = performance.now()
    const asked = database.db.execute(sql`SELECT 1`).catch((error: unknown) => error)
    expect(await answers(database.db)).toBe(false)
    expect(performance.now() - began).toBeLessThan(10_000)
    const held = await asked
    expect(isAway(held)).toBe(true)
    expect(performance.now() - began).toBeLessThan(25_000)

    for (const socket of sockets) socket.destroy()
    silent = false
    await expect.poll(() => answers(database.db), { timeout: 20_000 }).toBe(true)
    await database.close()
    proxy.close()
    for (const socket of sockets) socket.destroy()
  },
  60_000,
)

test('a statement that is refused does not mean that the database is away', async () => {
  using folder = aFolder()
  const database = await openEmbedded(folder.at)
  const refused = await database.db.execute(sql`SELECT * FROM nothing_of_that_name`).catch((error: unknown) => error)
  expect(refused).toBeInstanceOf(Error)
  expect(isAway(refused)).toBe(false)
  await database.close()
}, 60_000)
