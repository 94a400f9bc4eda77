// Only on PostgreSQL: data moves from the embedded database to a server and back.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { gunzipSync, gzipSync } from 'node:zlib'
import { sql } from 'drizzle-orm'
import { expect, inject, test } from 'vitest'
import { z } from 'zod'
import { readConfig } from '#server/config.ts'
import { systemClock } from '#server/platform/clock.ts'
import { type Database, migrate, openConnection, openEmbedded, rows, wrapEmbedded } from '#server/platform/database.ts'
import { wasRestored } from '#server/platform/origin.ts'
import { programFile } from '#test/bundle.ts'
import { openFakeSmtp } from '#test/fakes/smtp-server.ts'
import { engineFromTemplate } from '#test/harness.ts'
import { createDatabase, query } from '#test/postgres.ts'
import { programFlags, someoneAt, startProgram } from '#test/program.ts'
import { thorough } from '#test/thorough.ts'
import { linesOf } from './backup.ts'
import { operate, runAlone } from './commands.ts'
import { openCopy, readCopy, writeCopy } from './database-copy.ts'

const server = inject('postgresUrl') ?? ''
const about = { version: '0.0.0', at: '2026-03-02T09:00:00Z', secretKey: null }

/** A command as with this environment: its lines in one text, after its exit code. */
async function run(env: Record<string, string>, ...args: string[]): Promise<string> {
  const { code, lines } = (await runAlone(() => readConfig(env), args)) ?? { code: -1, lines: [] }
  return [code, ...lines].join('\n')
}

/** Every row of a database, its tables in order and their rows sorted. */
async function everything(db: Database): Promise<string[]> {
  const tables: string[][] = []
  for await (const line of readCopy(db, about)) {
    if (line.startsWith('{')) tables.push([line])
    else tables.at(-1)?.push(line)
  }
  // A process that works on the data ends jobs, and writes when its steps ran.
  const others = tables.filter(([head]) => !/^\{"table":"(?:jobs|steps)"/.test(head ?? ''))
  return others.flatMap(([head = '', ...lines]) => [head, ...lines.sort()])
}

/** What is stored of every email: its bytes, by its id. */
async function emailsOf(db: Database): Promise<string[]> {
  const found = await rows(
    db,
    z.object({ id: z.string(), raw: z.instanceof(Uint8Array) }),
    sql`SELECT id, raw FROM deliveries WHERE raw IS NOT NULL ORDER BY id`,
  )
  return found.map(({ id, raw }) => `${id} ${Buffer.from(raw).toString('base64')}`)
}

const both = async (db: Database) => [await everything(db), await emailsOf(db)] as const

async function look<T>(open: Promise<{ db: Database; close(): Promise<void> }>, at: (db: Database) => Promise<T>): Promise<T> {
  const { db, close } = await open
  try {
    return await at(db)
  } finally {
    await close()
  }
}

test('a backup restores, and data moves to a server and back, with every byte of every email', async () => {
  const within = await mkdtemp(path.join(tmpdir(), 'duely-'))
  await using _gone = { [Symbol.asyncDispose]: () => rm(within, { recursive: true, force: true }) }
  const place = (name: string) => path.join(within, name)
  const [dataDir, open, closed] = [place('data'), place('with-key.gz'), place('without-key.gz')]
  await using smtp = await openFakeSmtp()
  smtp.answer({ rcpt: (to) => (to.startsWith('later') ? '451 4.7.1 Try later' : undefined) })
  await using program = await startProgram({ DATA_DIR: dataDir })
  const asha = await someoneAt(program.url, 'asha@example.com')
  await asha.send('POST', '/mail-config/smtp', { host: smtp.host, port: smtp.port, secure: false, ...smtp.login })
  for (const [clientName, clientEmail] of [
    ['Zoë "Quote" O’Néill \\ 株式会社', 'zoe@example.com'],
    ["Kaveri 'Traders' $1 {{x}}", 'kaveri@example.com'],
    ['Later 🪔', 'later@example.com'],
  ])
    await asha.send('POST', '/invoice', { clientName, clientEmail, amount: 1234.56, dueDate: '2026-01-01' })
  await asha.send('POST', '/reminder/start')
  await smtp.received(2)

  // While it runs.
  expect(await run({ DATA_DIR: dataDir }, 'backup', open, '--with-key')).toContain('It contains the secret key: with this file alone')
  expect((await stat(open)).mode & 0o777).toBe(0o600)
  const key = (await readFile(path.join(dataDir, 'secret-key'), 'utf8')).trim()
  const empty = await createDatabase(server)
  // Each command is a process that takes seconds; `npm run test:full` sees them all.
  if (thorough) {
    expect(await run({ DATA_DIR: dataDir }, 'backup', open)).toBe(`1\n${open} exists. Choose another name.`)
    expect(await run({ DATA_DIR: dataDir }, 'restore', open)).toContain('already holds data')
    expect(await run({ DATA_DIR: dataDir }, 'move-to-server', empty)).toContain('Another Duely is already running')
  }
  await program.end('SIGTERM')
  expect(await run({ DATA_DIR: dataDir }, 'backup', closed)).toMatch(
    /^0\n.*without-key\.gz has all data, .*\nIt does not contain the secret key\. Keep .*secret-key elsewhere/,
  )
  expect(gunzipSync(await readFile(closed)).includes(key)).toBe(false)

  // To a server, once, and only into an empty one that is not used.
  const [original, emails] = await look(openEmbedded(dataDir), both)
  expect(emails).toHaveLength(3)
  expect(emails[0]).toContain(smtp.mails[0]?.raw.subarray(0, 30).toString('base64') ?? 'no email')
  if (thorough) {
    const used = await openConnection(empty, 'duely')
    expect(await run({ DATA_DIR: dataDir }, 'move-to-server', empty)).toContain('Duely is running on the database')
    await used.close()
  }
  if (thorough) {
    const filled = await createDatabase(server)
    await query(filled, 'CREATE TABLE theirs (id int)')
    expect(await run({ DATA_DIR: dataDir }, 'move-to-server', filled)).toContain('already holds tables')
  }
  expect(await run({ DATA_DIR: dataDir }, 'move-to-server', empty)).toMatch(
    /^0\n\d+ rows of \d+ tables were copied, 3 emails among them\. Counts and sums of both databases are equal\.\n.*postgres\.moved: .*\nStart every process with DATABASE_URL=.* and SECRET_KEY="\$\(cat .*secret-key\)"\.$/,
  )
  if (thorough) expect(await run({ DATA_DIR: dataDir }, 'move-to-server', empty)).toContain('There is no Duely data')
  const onServer = { DATABASE_URL: empty, SECRET_KEY: key }
  expect(await look(openConnection(empty, 'test'), emailsOf)).toEqual(emails)
  expect(await look(openConnection(empty, 'test'), wasRestored)).toBe(false)

  // A server's backup is made while processes work on it, and they keep it from being moved or filled.
  if (thorough) {
    await using working = await startProgram(onServer)
    expect(await run(onServer, 'backup', place('of-server.gz'))).toContain('It does not contain the secret key. Keep SECRET_KEY elsewhere')
    expect(await run(onServer, 'restore', place('of-server.gz'))).toContain('Duely is running on the database')
    expect(await run(onServer, 'move-to-embedded', dataDir)).toContain('Duely is running on the database')
    await working.end('SIGTERM')
    const other = { ...onServer, DATABASE_URL: await createDatabase(server) }
    expect(await run(other, 'restore', place('of-server.gz'))).toMatch(/^0\n3 invoices, 3 emails and /)
    expect(await look(openConnection(other.DATABASE_URL, 'test'), emailsOf)).toEqual(emails)
  }

  // And back; the server that was left holds what waits there, should a process start on it. Making an embedded database takes seconds.
  if (thorough) {
    expect(await run(onServer, 'move-to-embedded', dataDir)).toMatch(/^0\n/)
    expect(await run(onServer, 'move-to-embedded', dataDir)).toContain('already holds data')
    expect(await look(openConnection(empty, 'test'), wasRestored)).toBe(true)
    const [returned, emailsReturned] = await look(openEmbedded(dataDir), both)
    // Only the row that names the server was added on the way.
    const ofPlaces = (line: string) => !/^\["database"|^\{"sequences"/.test(line)
    expect(returned.filter(ofPlaces)).toEqual(original.filter(ofPlaces))
    expect(emailsReturned).toEqual(emails)
  }

  // A restored one holds what waited. It needs the key, from the backup or the environment.
  const restored = place('restored')
  const wrongKey = { DATABASE_URL: await createDatabase(server), SECRET_KEY: 'not the key of this database, 32 ch.' }
  if (thorough) expect(await run({ DATA_DIR: restored }, 'restore', closed)).toContain('This backup has no secret key.')
  if (thorough) expect(await run(wrongKey, 'restore', closed)).toContain('is not the key this database was created with')
  const taken = place('taken')
  await mkdir(taken)
  await writeFile(path.join(taken, 'secret-key'), 'the key of a database that was moved away')
  expect(await run({ DATA_DIR: taken }, 'restore', open)).toContain('has the secret key of another database.')
  expect(await run({ ...wrongKey, SECRET_KEY: key }, 'restore', closed)).toContain('\n1 reminder needs its owner’s approval.\n')
  expect(await look(openConnection(wrongKey.DATABASE_URL, 'test'), emailsOf)).toEqual(emails)
  if (thorough) {
    expect(await run({ DATA_DIR: restored }, 'restore', open)).toMatch(
      /^0\n3 invoices, 3 emails and \d+ rows in all of 20.* UTC are in .*restored\.\n1 reminder needs its owner’s approval\.\n/,
    )
    expect((await readFile(path.join(restored, 'secret-key'), 'utf8')).trim()).toBe(key)
    expect(await look(openEmbedded(restored), emailsOf)).toEqual(emails)
  }

  // A file that is not whole changes nothing.
  const target = await wrapEmbedded(await engineFromTemplate())
  const lines = gunzipSync(await readFile(open))
    .toString()
    .trimEnd()
    .split('\n')
  const wrote = async (made: Buffer) => {
    await writeFile(place('damaged.gz'), made)
    const copy = openCopy(linesOf(place('damaged.gz'))).then((opened) => writeCopy(target.pulse, opened, async () => undefined))
    return copy.then(
      () => 'written',
      (error: Error) => error.message,
    )
  }
  expect(await wrote(gzipSync(lines.slice(0, -1).join('\n')))).toContain('its end is missing')
  expect(await wrote(gzipSync(lines.filter((line) => !line.includes('kaveri@example.com')).join('\n')))).toMatch(
    /The rows of \w+ are not those of the copy/,
  )
  expect(await wrote(gzipSync('{"hello":1}'))).toContain('is not a backup of Duely')
  expect(await wrote(gzipSync(lines.join('\n').replace(/"level":\d+/, '"level":9999999999999')))).toContain('which is newer')
  expect(await wrote((await readFile(open)).subarray(0, 5_000))).toContain('The backup is damaged')
  expect((await everything(target.pulse)).filter((line) => line.startsWith('['))).toEqual([])
  await target.close()
})

test('a backup that is interrupted leaves no file, and what a killed one left is overwritten', async () => {
  const within = await mkdtemp(path.join(tmpdir(), 'duely-'))
  await using _gone = { [Symbol.asyncDispose]: () => rm(within, { recursive: true, force: true }) }
  const [file, made] = [path.join(within, 'backup.gz'), path.join(within, 'backup.gz.unfinished')]
  const env = { DATABASE_URL: await createDatabase(server), SECRET_KEY: 'a secret key for tests, 32 characters' }
  expect(await run(env, 'migrate')).toMatch(/^0\n/)
  const left = 'left by a backup that was killed '.repeat(1_000)
  await writeFile(made, left)
  await look(openConnection(env.DATABASE_URL, 'test'), async (db) => {
    // The backup waits for it, while its file is open.
    await db.execute(sql`BEGIN`)
    await db.execute(sql`LOCK TABLE accounts`)
    const command = [...programFlags, await programFile('duely'), 'backup', file]
    const backup = spawn(process.execPath, command, { env: { PATH: process.env.PATH ?? '', ...env }, stdio: 'ignore' })
    const ended = once(backup, 'exit')
    await expect.poll(async () => (await stat(made)).size).toBeLessThan(left.length)
    backup.kill('SIGTERM')
    expect(await ended).toEqual([null, 'SIGTERM'])
  })
  expect(await readdir(within)).toEqual([])
  await writeFile(made, left)
  expect(await run(env, 'backup', file)).toMatch(/^0\n/)
  expect(await readdir(within)).toEqual(['backup.gz'])
  expect(gunzipSync(await readFile(file)).toString()).toMatch(/^\{"duely":1/)
})

test('values of every type arrive as they were, also in a table that is added later', async () => {
  const engine = await engineFromTemplate()
  const source = await wrapEmbedded(engine)
  const target = await openConnection(await createDatabase(server), 'test')
  const types = await rows(
    source.pulse,
    z.object({ type: z.string() }),
    sql`SELECT DISTINCT format_type(atttypid, atttypmod) AS type FROM pg_attribute a JOIN pg_class c ON c.oid = attrelid
        WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace AND attnum > 0 AND NOT attisdropped`,
  )
  const values: Record<string, string[]> = {
    bigint: ['9223372036854775807', '-1'],
    boolean: ['true', 'false'],
    bytea: ['\\x', '\\x00ff0a0d5c'],
    date: ['2024-02-29', '0001-01-01'],
    'double precision': ['0.1', '1e-300', 'NaN', '-0'],
    integer: ['-2147483648', '7'],
    jsonb: ['null', '{"a": [1, "\\u00e9", null], "b": "\\"\\\\"}'],
    text: ['', ' a\n\r\tb\\N "q" ’ 株 🪔 ', 'null'],
    'text[]': ['{}', '{NULL,"a,b","\\"q\\""}'],
    'timestamp with time zone': ['2026-03-29 01:59:59.123456+00', 'infinity'],
    uuid: ['00000000-0000-0000-0000-000000000000'],
  }
  expect(types.map(({ type }) => type).filter((type) => !values[type])).toEqual([])
  await migrate(target.db)
  for (const db of [source.pulse, target.db]) {
    const columns = Object.keys(values).map((type, at) => sql.raw(`c${at} ${type}`))
    await db.execute(sql`CREATE TABLE added_later (id serial, ${sql.join(columns, sql`, `)})`)
  }
  for (let nth = 0; nth < 5; nth += 1) {
    const cells = Object.values(values).map((list) => sql.raw(list[nth] === undefined ? 'NULL' : `'${list[nth]?.replace(/'/g, "''")}'`))
    await source.pulse.execute(sql`INSERT INTO added_later VALUES (DEFAULT, ${sql.join(cells, sql`, `)})`)
  }
  const copied = await writeCopy(target.db, await openCopy(readCopy(source.pulse, about)), async () => undefined)
  expect(copied.rows).toBe(5)
  expect(await everything(target.db)).toEqual(await everything(source.pulse))
  // Numbers given out by sequences do not repeat, and foreign keys and triggers are back.
  const structure = (db: Database) =>
    rows(
      db,
      z.object({ what: z.string() }),
      sql`SELECT conname || pg_get_constraintdef(oid) AS what FROM pg_constraint WHERE contype = 'f'
          UNION ALL SELECT tgname || tgenabled::text FROM pg_trigger WHERE NOT tgisinternal ORDER BY 1`,
    )
  expect(await structure(target.db)).toEqual(await structure(source.pulse))
  await target.close()
  await source.close()
})

test('migrate creates the tables of an empty database, once, and starts nothing', async () => {
  const empty = await createDatabase(server)
  const env = { DATABASE_URL: empty, SECRET_KEY: 'a secret key for tests, 32 characters' }
  const state = () => look(openConnection(empty, 'test'), everything)
  expect(await run(env, 'migrate')).toMatch(/^0\nThe database at 127\.0\.0\.1:\d+\/\w+ has the tables of this version, after [\d.]+ s\.$/)
  const made = await state()
  expect(made.filter((line) => line.startsWith('{')).length).toBeGreaterThan(40)
  expect(await run(env, 'migrate')).toMatch(/^0\n/)
  expect(await state()).toEqual(made)
})

test('a copy of files is refused where no embedded database runs', async () => {
  expect(await operate({ db: {} as Database, clock: systemClock, config: readConfig({}) }, ['snapshot', '/tmp/x'])).toEqual({
    code: 1,
    lines: ['Duely does not run on an embedded database here. Use backup.'],
  })
})

test('doctor names the missing migrations of a database of 0.1.0', async () => {
  const url = await createDatabase(server)
  const { db, close } = await openConnection(url, 'test')
  await migrate(db, 1795300815301)
  await close()
  const said = await runAlone(() => readConfig({ DATABASE_URL: url, SECRET_KEY: 'x'.repeat(32) }), ['doctor'])
  expect(said?.lines.join('\n')).toMatch(/WARN {3}database: \d+ migrations are missing/)
})
