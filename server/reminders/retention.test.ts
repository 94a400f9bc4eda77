// Also on PostgreSQL: rows are deleted by their physical address, and indexes are read from its catalogue.
import { type SQL, sql } from 'drizzle-orm'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { accountCalls } from '#contract/accounts.ts'
import { reminderCalls } from '#contract/reminders.ts'
import { type Database, rows } from '#server/platform/database.ts'
import { anOffice, aPerson, payInFull, signedInAgain } from '#test/factories.ts'
import { ask, openTestApp, type TestApp } from '#test/harness.ts'
import { deleteHistory, deleteOldRows, dropOldBytes } from './retention.ts'

/** An account of some years: that many finished emails, each with an invoice paid since, and the decisions of as many days. */
async function fillHistory(app: TestApp, ownerId: string, about: { emails: number; days: number }): Promise<void> {
  const id = (kind: 8 | 9) => sql.raw(`('00000000-0000-7000-${kind}000-' || lpad(nth::text, 12, '0'))::uuid`)
  const { emails, days } = about
  await app.db.execute(sql`
    INSERT INTO runs (id, owner_id, kind, local_date, created_at, deadline_at, planned_at)
    VALUES ('00000000-0000-7000-8000-000000000000', ${ownerId}::uuid, 'daily', '2020-01-01', now(), now(), now())`)
  await app.db.execute(sql`
    INSERT INTO invoices (id, owner_id, reference, client_name, client_email, amount_minor, due_date, status, created_at, updated_at)
    SELECT ${id(9)}, ${ownerId}::uuid, 'OLD-' || nth, 'Client', 'client' || nth || '@example.com', 100, '2020-01-01', 'unpaid', now(), now() FROM generate_series(1, ${emails}::int) nth`)
  await payInFull(app.db, sql`i.owner_id = ${ownerId}::uuid`)
  await app.db.execute(sql`
    INSERT INTO deliveries (id, owner_id, run_id, client_email, state, created_at, next_try_at, deadline_at)
    SELECT ${id(8)}, ${ownerId}::uuid, '00000000-0000-7000-8000-000000000000', 'client' || nth || '@example.com', 'sent', now(), now(), now() FROM generate_series(1, ${emails}::int) nth`)
  await app.db.execute(sql`
    INSERT INTO delivery_invoices (owner_id, delivery_id, invoice_id, open) SELECT ${ownerId}::uuid, ${id(8)}, ${id(9)}, false FROM generate_series(1, ${emails}::int) nth`)
  await app.db.execute(sql`
    INSERT INTO decisions (owner_id, invoice_id, local_date, rule, delivery_id, decided_at)
    SELECT ${ownerId}::uuid, ${id(9)}, date '2020-01-01' + day, 'mail', ${id(8)}, now() FROM generate_series(1, ${emails}::int) nth, generate_series(1, ${days}::int) day`)
}

/** The database, and how many rows each statement changed outside of transactions. */
function counted(db: Database): { db: Database; counts: number[] } {
  const counts: number[] = []
  const execute = async (query: SQL) => {
    const result = (await db.execute(query)) as { rowCount?: number; affectedRows?: number }
    counts.push(result.rowCount ?? result.affectedRows ?? 0)
    return result
  }
  return { counts, db: new Proxy(db, { get: (target, name) => (name === 'execute' ? execute : Reflect.get(target, name, target)) }) }
}

// Takes 3 s: 12,000 decisions are filled in.
test('an account with a long history is deleted in chunks, with an email still waiting', async () => {
  await using office = await anOffice({ now: '2026-03-02T06:30:00Z', invoices: 1 })
  const { app, asha, smtp } = office
  smtp.answer({ mail: () => '451 4.3.0 Later' })
  await app.whileJobsRun(ask(app, asha, reminderCalls.start))
  await fillHistory(app, asha.id, { emails: 1_500, days: 8 })
  const { db, counts } = counted(app.db)
  await deleteHistory(db, asha.id, app.clock.now())
  expect(Math.max(...counts)).toBeLessThanOrEqual(5_000)
  expect(counts.reduce((sum, one) => sum + one)).toBeGreaterThanOrEqual(12_000 + 1_500 + 1_500)
  expect((await ask(app, asha, accountCalls.deleteMe)).status).toBe(204)
  const tables = await rows(
    app.db,
    z.object({ name: z.string() }),
    sql`SELECT DISTINCT table_name AS name FROM information_schema.columns WHERE table_schema = 'public' AND column_name = 'owner_id'`,
  )
  for (const { name } of tables)
    expect(await rows(app.db, z.unknown(), sql`SELECT 1 FROM ${sql.identifier(name)} WHERE owner_id = ${asha.id}::uuid`), name).toEqual([])
})

// Takes 1 s: 6,000 emails are filled in.
test('bytes that may be dropped are found by an index, however many emails have none any more', async () => {
  await using app = await openTestApp({ now: '2026-03-02T06:30:00Z' })
  const { id } = await aPerson(app)
  await app.db.execute(sql`
    WITH run AS (
      INSERT INTO runs (id, owner_id, kind, local_date, created_at, deadline_at) VALUES (gen_random_uuid(), ${id}::uuid, 'daily', '2025-01-01', now(), now()) RETURNING id)
    INSERT INTO deliveries (id, owner_id, run_id, client_email, state, created_at, next_try_at, deadline_at, raw, bytes_due_at)
    SELECT gen_random_uuid(), ${id}::uuid, run.id, 'client@example.com', 'sent', '2025-01-01', now(), now(), CASE WHEN nth % 2 = 0 THEN 'bytes'::bytea END,
      CASE WHEN nth % 2 = 0 THEN timestamptz '2026-04-01' END FROM run, generate_series(1, 6000) nth`)
  await app.db.execute(sql`ANALYZE deliveries`)
  const plans: string[] = []
  const execute = async (query: SQL) => {
    const result = (await app.db.execute(sql`EXPLAIN ${query}`)) as { rows: object[] }
    plans.push(JSON.stringify(result.rows))
    return { rows: [], rowCount: 0 }
  }
  const explaining = new Proxy(app.db, { get: (target, name) => (name === 'execute' ? execute : Reflect.get(target, name, target)) })
  await dropOldBytes(explaining, app.clock.now(), 90)
  expect(plans).toHaveLength(2)
  for (const plan of plans) expect(plan).toMatch(/using deliveries_bytes/)
})

test('every foreign key has an index, so that deleting a row reads no table from end to end', async () => {
  await using app = await openTestApp()
  const without = await rows(
    app.db,
    z.object({ key: z.string() }),
    sql`SELECT c.conrelid::regclass || ' (' || (SELECT string_agg(a.attname, ', ') FROM pg_attribute a WHERE a.attrelid = c.conrelid AND a.attnum = ANY(c.conkey)) || ')' AS key
        FROM pg_constraint c WHERE c.contype = 'f' AND NOT EXISTS (
          SELECT 1 FROM pg_index x WHERE x.indrelid = c.conrelid
            AND (x.indpred IS NULL OR pg_get_expr(x.indpred, x.indrelid) LIKE '%IS NOT NULL%')
            AND x.indkey[0] = ANY(c.conkey)
            AND (cardinality(c.conkey) = 1 OR x.indkey[0] <> (SELECT attnum FROM pg_attribute WHERE attrelid = c.conrelid AND attname = 'owner_id') OR x.indkey[1] = ANY(c.conkey)))
        ORDER BY 1`,
  )
  expect(without).toEqual([])
})

/** A year of an account: `each` emails a day about as many invoices, each of `kb` random kilobytes; the last day's are still owed. */
async function fillYear(app: TestApp, ownerId: string, about: { each: number; kb: number }): Promise<void> {
  const { each, kb } = about
  const at = sql`timestamptz '2025-03-01 03:30:00Z' + make_interval(days => day)`
  const id = (kind: 7 | 8 | 9) => sql.raw(`('00000000-0000-${kind}000-8000-' || lpad((day * 1000 + nth)::text, 12, '0'))::uuid`)
  const both = sql`generate_series(1, 365) day, generate_series(1, ${each}::int) nth`
  await app.db.execute(sql`
    INSERT INTO runs (id, owner_id, kind, local_date, created_at, deadline_at, planned_at, settled_at)
    SELECT ('00000000-0000-7000-8000-' || lpad((day * 1000)::text, 12, '0'))::uuid, ${ownerId}::uuid, 'daily', (${at})::date, ${at}, ${at}, ${at}, ${at} FROM generate_series(1, 365) day`)
  await app.db.execute(sql`
    INSERT INTO invoices (id, owner_id, reference, client_name, client_email, amount_minor, due_date, status, created_at, updated_at)
    SELECT ${id(9)}, ${ownerId}::uuid, 'Y-' || day || '-' || nth, 'Client', 'client' || nth || '@example.com', 100, '2025-02-01',
      'overdue', ${at}, ${at} FROM ${both}`)
  await payInFull(app.db, sql`i.owner_id = ${ownerId}::uuid AND i.reference NOT LIKE 'Y-365-%'`, sql`i.created_at + interval '1 day'`)
  await app.db.execute(sql`
    INSERT INTO deliveries (id, owner_id, run_id, client_email, state, created_at, next_try_at, deadline_at, raw, subject, message_id, sent_at, server_reply)
    SELECT ${id(8)}, ${ownerId}::uuid, ('00000000-0000-7000-8000-' || lpad((day * 1000)::text, 12, '0'))::uuid, 'client' || nth || '@example.com', 'sent', ${at}, ${at}, ${at},
      decode((SELECT string_agg(md5(random()::text || part), '') FROM generate_series(1, ${64 * kb}::int) part WHERE nth > 0), 'hex'), 'Invoice ' || nth, '<' || day || '.' || nth || '@example.com>', ${at}, '250 OK' FROM ${both}`)
  await app.db.execute(sql`
    INSERT INTO delivery_invoices (owner_id, delivery_id, invoice_id, open) SELECT ${ownerId}::uuid, ${id(8)}, ${id(9)}, false FROM ${both}`)
  await app.db.execute(sql`
    INSERT INTO decisions (owner_id, invoice_id, local_date, rule, delivery_id, decided_at) SELECT ${ownerId}::uuid, ${id(9)}, (${at})::date, 'mail', ${id(8)}, ${at} FROM ${both}`)
}

async function storedBytes(app: TestApp): Promise<{ emails: number; stored: number; bytes: number }> {
  const [found] = await rows(
    app.db,
    z.object({ emails: z.number(), stored: z.number(), bytes: z.number() }),
    sql`SELECT count(*)::int AS emails, count(raw)::int AS stored, coalesce(sum(octet_length(raw)), 0)::float8 AS bytes FROM deliveries`,
  )
  return found ?? { emails: 0, stored: 0, bytes: 0 }
}

// Takes 3 s: 3,650 emails of a year are filled in.
test('the text of an email is kept while an invoice in it is owed, and for 90 days after it was paid', async () => {
  await using app = await openTestApp({ now: '2026-03-01T06:30:00Z' })
  const asha = await aPerson(app)
  await fillYear(app, asha.id, { each: 10, kb: 1 })
  const drop = () => dropOldBytes(app.db, app.clock.now(), 90)
  const total = 365 * 10
  await drop()
  // Paid on the day after; those of the last 90 days and those still owed are kept.
  expect(await storedBytes(app)).toEqual({ emails: total, stored: 910, bytes: 910 * 1024 })
  app.clock.set('2026-05-30T06:30:00Z')
  await drop()
  expect(await storedBytes(app)).toEqual({ emails: total, stored: 10, bytes: 10 * 1024 })

  const history = async (day: number) => {
    const id = `00000000-0000-9000-8000-${String(day * 1000 + 1).padStart(12, '0')}`
    return (await ask(app, await signedInAgain(app, asha), reminderCalls.history, { params: { id } })).reply
  }
  const [settled] = (await history(1)).mails
  expect(settled).toMatchObject({
    state: 'sent',
    subject: 'Invoice 1',
    sentAt: '2025-03-02T03:30:00Z',
    serverReply: '250 OK',
    stored: false,
  })
  expect((await history(1)).days).toMatchObject([{ date: '2025-03-02', outcome: 'sent' }])
  const owner = await signedInAgain(app, asha)
  const read = (id: string) => ask(app, owner, reminderCalls.mail, { params: { id } })
  expect((await read(settled?._id ?? '')).problem?.message).toContain('no longer stored')
  const [owed] = (await history(365)).mails
  expect(owed).toMatchObject({ stored: true })
  expect((await read(owed?._id ?? '')).status).toBe(200)

  // An invoice that was looked at while it was owed is looked at again within a week.
  await payInFull(app.db, sql`i.status <> 'paid'`, sql`${app.clock.now().toString()}::timestamptz`)
  app.clock.advance({ days: 89 })
  await drop()
  expect((await storedBytes(app)).stored).toBe(10)
  app.clock.advance({ days: 2 })
  await drop()
  expect(await storedBytes(app)).toEqual({ emails: total, stored: 0, bytes: 0 })
})

test('bytes go after three years though the invoice is owed, rows after seven, and an open email stays', async () => {
  await using office = await anOffice({ now: '2026-03-02T06:30:00Z', invoices: 2 })
  const { app, asha, smtp } = office
  smtp.answer({ rcpt: (to) => (to.startsWith('client2') ? '451 4.3.0 Later' : undefined) })
  await app.whileJobsRun(ask(app, asha, reminderCalls.start))
  const after = async (years: number, days: number) => {
    const now = app.clock.now().toZonedDateTimeISO('UTC').add({ years }).add({ days }).toInstant()
    await dropOldBytes(app.db, now, 90)
    await deleteOldRows(app.db, now)
    const counts = await rows(
      app.db,
      z.object({ state: z.string(), stored: z.boolean() }),
      sql`SELECT state, raw IS NOT NULL AS stored FROM deliveries ORDER BY state DESC`,
    )
    return counts.map(({ state, stored }) => `${state} ${stored ? 'with' : 'without'} its text`)
  }
  expect(await after(1, 0)).toEqual(['sent with its text', 'retrying with its text'])
  expect(await after(3, -1)).toEqual(['sent with its text', 'retrying with its text'])
  expect(await after(3, 1)).toEqual(['sent without its text', 'retrying with its text'])
  expect(await after(7, -1)).toEqual(['sent without its text', 'retrying with its text'])
  expect(await after(7, 1)).toEqual(['retrying with its text'])
  expect((await rows(app.db, z.unknown(), sql`SELECT 1 FROM decisions`)).length).toBe(0)
  expect((await rows(app.db, z.unknown(), sql`SELECT 1 FROM runs`)).length).toBe(1)
})

test('the bytes of an email of 29 February are dropped on 28 February three years later', async () => {
  await using office = await anOffice({ now: '2028-02-29T06:30:00Z', invoices: 1 })
  const { app, asha } = office
  await app.whileJobsRun(ask(app, asha, reminderCalls.start))
  await dropOldBytes(app.db, Temporal.Instant.from('2031-02-28T06:00:00Z'), 90)
  expect((await storedBytes(app)).stored).toBe(1)
  await dropOldBytes(app.db, Temporal.Instant.from('2031-02-28T12:00:00Z'), 90)
  expect((await storedBytes(app)).stored).toBe(0)
})
