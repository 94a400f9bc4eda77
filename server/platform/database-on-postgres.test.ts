// Only on PostgreSQL: connections that die or fall silent.
import { randomBytes } from 'node:crypto'
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import net from 'node:net'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { type SQL, sql } from 'drizzle-orm'
import { drizzle } from 'drizzle-orm/node-postgres'
import { migrate } from 'drizzle-orm/node-postgres/migrator'
import pg from 'pg'
import { expect, inject, test } from 'vitest'
import { z } from 'zod'
import { createDatabase, query } from '#test/postgres.ts'
import { thorough } from '#test/thorough.ts'
import { answers, isUnavailable, openConnection, openServer, rows } from './database.ts'
import { StartError } from './start-error.ts'

const refusal = (begun: Promise<unknown>) =>
  begun.then(
    () => null,
    (error: unknown) => (error instanceof StartError ? error.message : error),
  )

const server = inject('postgresUrl') ?? ''

test('a missing database is named', async () => {
  const url = new URL(server)
  url.pathname = '/nowhere'
  expect(await refusal(openServer(url.toString()))).toMatch(/^There is no such database at 127\.0\.0\.1:\d+\/nowhere/)
})

test('a database of another encoding is refused in one sentence', async () => {
  await query(server, `CREATE DATABASE latin ENCODING LATIN1 LC_COLLATE 'C' LC_CTYPE 'C' TEMPLATE template0`)
  const url = new URL(server)
  url.pathname = '/latin'
  const said = await refusal(openServer(url.toString()))
  expect(said).toMatch(/^The database at 127\.0\.0\.1:\d+\/latin has the encoding LATIN1, which can’t store every name\. Create one with /)
  expect(said).toBe(await refusal(openConnection(url.toString(), 'duely-doctor')))
  expect(await query(url.toString(), `SELECT 1 FROM pg_tables WHERE schemaname NOT IN ('pg_catalog', 'information_schema')`)).toEqual([])
})

test('a role without rights is refused with the statement that gives them', async () => {
  await query(server, 'CREATE ROLE reader LOGIN')
  const url = new URL(await createDatabase(server, { name: 'of_another' }))
  url.username = 'reader'
  const said =
    /^The user of DATABASE_URL may not use the database at \S+ as Duely needs to \(42501\)\. Make it the owner: ALTER DATABASE "of_another" OWNER TO "reader"\.$/
  expect(await refusal(openServer(url.toString()))).toMatch(said)
  await query(server, 'REVOKE CONNECT ON DATABASE of_another FROM PUBLIC')
  expect(await refusal(openServer(url.toString()))).toMatch(said)
  await query(server, 'ALTER DATABASE of_another OWNER TO reader')
  const opened = await openServer(url.toString())
  await opened.close()
})

/** A pooler that refuses each login in these words, as PgBouncer does. */
async function aPooler(words: string): Promise<net.Server> {
  const fields = `SFATAL\0C08P01\0M${words}\0\0`
  const pooler = net.createServer((socket) => {
    socket.on('error', () => undefined)
    socket.once('data', () => {
      const size = Buffer.alloc(4)
      size.writeInt32BE(4 + fields.length)
      socket.end(Buffer.concat([Buffer.from('E'), size, Buffer.from(fields)]))
    })
  })
  await new Promise<void>((resolve) => pooler.listen(0, '127.0.0.1', resolve))
  return pooler
}

test.each([
  ['no such database: books', 'is not in the [databases] of pgbouncer.ini. Add it, or correct DATABASE_URL.'],
  [
    'password authentication failed',
    'refused the login in PgBouncer’s words. Correct user and password in DATABASE_URL, or its auth_file.',
  ],
  [
    'no more connections allowed (max_client_conn)',
    'is behind a PgBouncer without a free connection. Raise max_client_conn in pgbouncer.ini.',
  ],
  ['pgbouncer cannot connect to server', 'is behind a PgBouncer that can’t reach it. Start PostgreSQL, or correct pgbouncer.ini.'],
  [
    'unsupported startup parameter: extra_float_digits',
    'is behind a PgBouncer that refuses a parameter. Add it to ignore_startup_parameters in pgbouncer.ini.',
  ],
  ['a word of its own', 'does not answer (08P01). Start it, or correct DATABASE_URL.'],
])('PgBouncer’s words “%s” get a sentence', async (words, sentence) => {
  await using pooler = await aPooler(words)
  const { port } = pooler.address() as net.AddressInfo
  expect(await refusal(openServer(`postgres://duely:secret@127.0.0.1:${port}/books`))).toBe(
    `The database at 127.0.0.1:${port}/books ${sentence}`,
  )
})

test('a connection that dies between two statements of a transaction ends that transaction and nothing else', async () => {
  const database = await openServer(server)
  const pids = async (statement: SQL) => rows(database.pulse, z.object({ pid: z.number() }), statement)
  const cut = await database.db
    .transaction(async (tx) => {
      const [mine] = await rows(tx, z.object({ pid: z.number() }), sql`SELECT pg_backend_pid() AS pid`)
      // Not as a condition on pg_stat_activity: the planner may evaluate it for every connection of the server.
      await pids(sql`SELECT ${mine?.pid}::int AS pid WHERE pg_terminate_backend(${mine?.pid}::int)`)
      await expect.poll(() => pids(sql`SELECT pid FROM pg_stat_activity WHERE pid = ${mine?.pid}`)).toEqual([])
      await tx.execute(sql`SELECT 1`)
    })
    .catch((error: unknown) => error)
  expect(isUnavailable(cut)).toBe(true)
  expect(await answers(database.db)).toBe(true)
  await database.close()
})

/** A database as a version left it, up to a migration that is not applied. */
async function openOlder(before: string) {
  const name = `older_${randomBytes(5).toString('hex')}`
  const admin = new pg.Client({ connectionString: server })
  await admin.connect()
  await admin.query(`CREATE DATABASE ${name}`)
  const url = new URL(server)
  url.pathname = `/${name}`
  const folder = mkdtempSync(path.join(tmpdir(), 'duely-older-'))
  cpSync(path.join(import.meta.dirname, '../../migrations'), folder, { recursive: true })
  const file = path.join(folder, 'meta/_journal.json')
  const journal = JSON.parse(readFileSync(file, 'utf8')) as { entries: { tag: string }[] }
  const entries = journal.entries.slice(
    0,
    journal.entries.findIndex(({ tag }) => tag.endsWith(before)),
  )
  writeFileSync(file, JSON.stringify({ ...journal, entries }))
  const client = new pg.Client({ connectionString: url.toString() })
  await client.connect()
  await migrate(drizzle(client), { migrationsFolder: folder })
  return {
    url: url.toString(),
    client,
    async [Symbol.asyncDispose]() {
      await client.end()
      await admin.query(`DROP DATABASE ${name} WITH (FORCE)`)
      await admin.end()
      rmSync(folder, { recursive: true })
    },
  }
}

test('each account of before becomes a person and a business, once no older process runs, and no invoice is rewritten', async () => {
  const [accounts, each] = thorough ? [100_000, 3] : [50, 4]
  await using older = await openOlder('people_and_businesses')
  const { client } = older
  await client.query(`INSERT INTO accounts (id, email, display_name, password_hash, email_verified_at, timezone, created_at, updated_at, next_midnight_at)
    SELECT gen_random_uuid(), 'a' || n || '@example.com', 'Asha ' || n, 'hash ' || n, now(), 'Asia/Kolkata', now() - interval '9 days', now(), now() FROM generate_series(1, ${accounts}) n`)
  await client.query(`INSERT INTO invoices (id, owner_id, reference, client_name, client_email, amount_minor, due_date, issued_on, status, created_at, updated_at)
    SELECT gen_random_uuid(), a.id, 'INV-' || n, 'C', 'c@example.com', n, '2026-01-01', '2025-12-01', 'overdue', now(), now() FROM accounts a, generate_series(1, ${each}) n`)
  await client.query(
    `INSERT INTO sessions (id, owner_id, refresh_hash, rotated_at, created_at, last_seen_at) SELECT gen_random_uuid(), id, 'x', now(), now(), now() FROM accounts`,
  )
  await client.query(`INSERT INTO recovery_codes (owner_id, code_hash) SELECT id, 'x' FROM accounts`)
  const versions = async () =>
    (await client.query("SELECT md5(string_agg(xmin::text || ctid::text || id::text, ',' ORDER BY id)) AS all FROM invoices")).rows
  const before = await versions()
  await client.query('INSERT INTO processes (id) VALUES (gen_random_uuid())')
  const said: string[] = []
  const opening = openServer(older.url, (what) => void said.push(what))
  await expect.poll(() => said).toEqual([expect.stringContaining('An older version of Duely is running on this database.')])
  expect((await client.query("SELECT to_regclass('public.people') AS people")).rows).toEqual([{ people: null }])
  await client.query('DELETE FROM processes')
  const database = await opening
  await database.close()
  expect(await versions()).toEqual(before)
  const { rows: found } =
    await client.query(`SELECT count(*)::int AS accounts, count(p.id)::int AS people, count(s.id)::int AS sessions, count(r.code_hash)::int AS codes,
      count(*) FILTER (WHERE m.role = 'owner' AND m.joined_at = a.created_at AND p.created_at = a.created_at AND p.display_name = 'Asha ' || substr(p.password_hash, 6) AND p.email_verified_at IS NOT NULL)::int AS right
    FROM accounts a JOIN memberships m ON m.owner_id = a.id JOIN people p ON p.id = m.person_id AND p.id = a.id
    JOIN sessions s ON s.person_id = p.id JOIN recovery_codes r ON r.person_id = p.id`)
  expect(found).toEqual([{ accounts, people: accounts, sessions: accounts, codes: accounts, right: accounts }])
})

test('no connection compiles plans', async () => {
  const database = await openServer(server)
  for (const db of [database.db, database.background, database.pulse])
    expect(await rows(db, z.object({ jit: z.string() }), sql`SHOW jit`)).toEqual([{ jit: 'off' }])
  await database.close()
})

test('a silent server is detected and used again once it answers', async () => {
  const target = new URL(server)
  const sockets = new Set<net.Socket>()
  let silent = false
  // In between: swallows everything while switched on.
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
  const asked = database.db.execute(sql`SELECT 1`).catch((error: unknown) => error)
  expect(await answers(database.db)).toBe(false)
  const held = await asked
  expect(isUnavailable(held)).toBe(true)

  for (const socket of sockets) socket.destroy()
  silent = false
  await expect.poll(() => answers(database.db), { timeout: 60_000 }).toBe(true)
  await database.close()
  proxy.close()
  for (const socket of sockets) socket.destroy()
})
