// Also on PostgreSQL: rows are deleted by their physical address, and indexes are read from its catalogue.
import { type SQL, sql } from 'drizzle-orm'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { accountCalls } from '#contract/accounts.ts'
import { reminderCalls } from '#contract/reminders.ts'
import { type Database, rows } from '#server/platform/database.ts'
import { anOffice } from '#test/factories.ts'
import { ask, openTestApp, type TestApp } from '#test/harness.ts'
import { deleteHistory } from './retention.ts'

/** An account of some years: that many finished emails, each with an invoice paid since, and the decisions of as many days. */
async function fillHistory(app: TestApp, ownerId: string, about: { emails: number; days: number }): Promise<void> {
  const id = (kind: 8 | 9) => sql.raw(`('00000000-0000-7000-${kind}000-' || lpad(nth::text, 12, '0'))::uuid`)
  const { emails, days } = about
  await app.db.execute(sql`
    INSERT INTO runs (id, owner_id, kind, local_date, created_at, deadline_at, planned_at)
    VALUES ('00000000-0000-7000-8000-000000000000', ${ownerId}::uuid, 'daily', '2020-01-01', now(), now(), now())`)
  await app.db.execute(sql`
    INSERT INTO invoices (id, owner_id, reference, client_name, client_email, amount_minor, due_date, status, created_at, updated_at)
    SELECT ${id(9)}, ${ownerId}::uuid, 'OLD-' || nth, 'Client', 'client' || nth || '@example.com', 100, '2020-01-01', 'paid', now(), now() FROM generate_series(1, ${emails}::int) nth`)
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
