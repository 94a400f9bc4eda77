import {
  chmodSync,
  fsyncSync,
  linkSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import net from 'node:net'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { sql } from 'drizzle-orm'
import { expect, test, vi } from 'vitest'
import { z } from 'zod'
import { copyTemplate } from '#test/program.ts'
import { thorough } from '#test/thorough.ts'
import { answers, isUnavailable, openEmbedded, openServer, rows } from './database.ts'
import { loadSecretKey } from './secret-key.ts'
import { StartError } from './start-error.ts'

function aFolder(): Disposable & { at: string } {
  const at = mkdtempSync(path.join(tmpdir(), 'duely-database-'))
  return { at, [Symbol.dispose]: () => rmSync(at, { recursive: true, force: true }) }
}

async function aMigratedFolder(): Promise<ReturnType<typeof aFolder>> {
  const folder = aFolder()
  await copyTemplate(folder.at)
  return folder
}

const refusal = (begun: Promise<unknown>) =>
  begun.then(
    () => null,
    (error: unknown) => (error instanceof StartError ? error.message : error),
  )

test('a commit is on disk before it is answered', async () => {
  using folder = await aMigratedFolder()
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
})

test('committed data is there after a restart', async () => {
  using folder = await aMigratedFolder()
  const first = await openEmbedded(folder.at)
  await first.db.execute(sql`CREATE TABLE notes (text text)`)
  await first.db.execute(sql`INSERT INTO notes VALUES ('still here')`)
  await first.close()
  const second = await openEmbedded(folder.at)
  expect(await rows(second.db, z.object({ text: z.string() }), sql`SELECT text FROM notes`)).toEqual([{ text: 'still here' }])
  await second.close()
})

test('a folder is opened by one process at a time', async () => {
  using folder = await aMigratedFolder()
  const first = await openEmbedded(folder.at)
  expect(await refusal(openEmbedded(folder.at))).toBe(
    `Another Duely is already running on the folder ${folder.at}. Stop it, or set DATA_DIR to another folder.`,
  )
  await first.close()
  const second = await openEmbedded(folder.at)
  await second.close()
})

// Takes ten seconds: a database is made, and all migrations are applied.
test.runIf(thorough)('an interrupted first start is repeated', async () => {
  using folder = aFolder()
  mkdirSync(path.join(folder.at, 'postgres.making'), { recursive: true })
  writeFileSync(path.join(folder.at, 'postgres.making/PG_VERSION'), '18\n')
  const database = await openEmbedded(folder.at)
  expect(await answers(database.db)).toBe(true)
  await database.close()
})

test('data of another Postgres is refused and left alone', async () => {
  using folder = aFolder()
  const file = path.join(folder.at, 'postgres/PG_VERSION')
  mkdirSync(path.dirname(file))
  writeFileSync(file, '17\n')
  expect(await refusal(openEmbedded(folder.at))).toMatch(/was written by Postgres 17, this Duely reads 18\. Start the Duely that wrote it/)
  expect(readFileSync(file, 'utf8')).toBe('17\n')
})

test('a folder with other files is refused and left alone', async () => {
  using folder = aFolder()
  const file = path.join(folder.at, 'postgres/letter.txt')
  mkdirSync(path.dirname(file))
  writeFileSync(file, 'mine')
  expect(await refusal(openEmbedded(folder.at))).toMatch(/contains files that are not a Duely database/)
  expect(readFileSync(file, 'utf8')).toBe('mine')
})

test('a folder that cannot be written to is refused', async () => {
  using folder = aFolder()
  const file = path.join(folder.at, 'file')
  writeFileSync(file, '')
  expect(await refusal(openEmbedded(path.join(file, 'data')))).toMatch(
    /cannot be written to \(\w+\)\. Set DATA_DIR to a writable folder\.$/,
  )
})

test('each start closes the database to other users of the machine, as 0.2.0 has left it in a folder that they reach', async () => {
  using folder = await aMigratedFolder()
  const within = path.join(folder.at, 'postgres')
  writeFileSync(`${within}.lock`, '')
  const places = () => readdirSync(folder.at, { recursive: true, encoding: 'utf8' }).map((name) => path.join(folder.at, name))
  for (const place of places()) chmodSync(place, lstatSync(place).isDirectory() ? 0o755 : 0o666)
  const [linked, outside] = [path.join(folder.at, 'linked'), path.join(folder.at, 'outside')]
  linkSync(path.join(within, 'PG_VERSION'), linked)
  writeFileSync(outside, '')
  chmodSync(outside, 0o666)
  symlinkSync(outside, path.join(within, 'outside'))
  chmodSync(folder.at, 0o755)
  await (await openEmbedded(folder.at)).close()
  // The engine writes these again, in the folder that is closed.
  const here = places().filter((place) => !place.endsWith('pg_internal.init') && !lstatSync(place).isSymbolicLink())
  expect(here.filter((place) => lstatSync(place).mode & 0o077)).toEqual([outside])
  expect(statSync(linked).mode & 0o777).toBe(0o600)
  expect([statSync(within).mode & 0o777, statSync(folder.at).mode & 0o777]).toEqual([0o700, 0o755])
})

test('the secret key is created once, readable by its owner only, and never replaced', async () => {
  using folder = await aMigratedFolder()
  const database = await openEmbedded(folder.at)
  const settle = (given: string) => loadSecretKey(database.db, { given, dataDir: folder.at })
  const file = path.join(folder.at, 'secret-key')
  // What another user has put there would stay readable for them.
  writeFileSync(`${file}.new`, 'left behind')
  chmodSync(`${file}.new`, 0o666)
  const key = await settle('')
  expect(key.length).toBeGreaterThanOrEqual(32)
  expect(statSync(file).mode & 0o777).toBe(0o600)
  expect(await settle('')).toBe(key)
  expect(await settle(key)).toBe(key)
  expect(await refusal(settle('another secret key of 32 characters'))).toMatch(/^SECRET_KEY is not the key this database was created with/)

  rmSync(file)
  expect(await refusal(settle(''))).toMatch(/^The secret key of this database is missing\. Restore the file .* from a backup/)
  writeFileSync(file, 'another secret key of 32 characters\n')
  expect(await refusal(settle(''))).toMatch(/^The key in .*secret-key is not the key/)
  await database.close()
})

test('a server that does not answer is named without its password', async () => {
  const server = net.createServer().listen(0, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
  const { port } = server.address() as net.AddressInfo
  await new Promise((resolve) => server.close(resolve))
  expect(await refusal(openServer(`postgres://duely:hunter2@127.0.0.1:${port}/books`))).toBe(
    `The database at 127.0.0.1:${port}/books does not answer (ECONNREFUSED). Start it, or correct DATABASE_URL.`,
  )
})

test('a refused statement does not mean that the database is unavailable', async () => {
  using folder = await aMigratedFolder()
  const database = await openEmbedded(folder.at)
  const refused = await database.db.execute(sql`SELECT * FROM nothing_of_that_name`).catch((error: unknown) => error)
  expect(refused).toBeInstanceOf(Error)
  expect(isUnavailable(refused)).toBe(false)
  await database.close()
})

test('the five seconds of a transaction begin with it, however long it waited for its turn', async () => {
  using folder = await aMigratedFolder()
  const { db, pulse, close } = await openEmbedded(folder.at)
  const first = Promise.withResolvers<void>()
  const begun = Promise.withResolvers<void>()
  const holding = pulse.transaction(async () => {
    begun.resolve()
    await first.promise
  })
  await begun.promise
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  try {
    const waiting = db.transaction((tx) => tx.execute(sql`SELECT 1`))
    vi.advanceTimersByTime(6_000)
    first.resolve()
    await holding
    await waiting
    const never = db.transaction((tx) => tx.execute(sql`SELECT 1`).then(() => new Promise<never>(() => vi.advanceTimersByTime(5_000))))
    await expect(never).rejects.toThrow('A transaction was still open after 5 s and was rolled back.')
  } finally {
    vi.useRealTimers()
  }
  await close()
})
