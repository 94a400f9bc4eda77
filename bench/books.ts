import { randomBytes } from 'node:crypto'
import { type SQL, sql } from 'drizzle-orm'
import { drizzle } from 'drizzle-orm/node-postgres'
import pg from 'pg'
import { z } from 'zod'
import type { Instant } from '#server/platform/clock.ts'
import { type Database, rows } from '#server/platform/database.ts'

/** Which invoices are written, and for whom. */
export interface Books {
  accounts: number
  /** How many there are in the end: they were created one after the other over two years, until then. */
  most: number
  until: Instant
}

/** What an email of the default template has, which PostgreSQL cannot compress. */
const bytesEach = 4_300
/** Rows of a table by one statement, and how many connections write. */
const [atOnce, writers] = [25_000, 2]
/** Of an account in its two years. */
const runsEach = 12

export const id = (kind: number, nth: string) => sql.raw(`('00000000-0000-${kind}000-8000-' || lpad((${nth})::text, 12, '0'))::uuid`)

/**
 * Connections without deadlines, and without triggers, checks of foreign keys and indexes: what is written here follows them. Afterwards the
 * indexes are built again, so that they have no free space yet, and all is vacuumed.
 */
export async function loadInto(url: string, work: (writers: [Database, ...Database[]]) => Promise<void>): Promise<void> {
  const clients = Array.from(
    { length: writers },
    () => new pg.Client({ connectionString: url, options: '-c session_replication_role=replica' }),
  )
  try {
    await Promise.all(clients.map((one) => one.connect()))
    const [first, ...others] = clients.map((client) => drizzle(client, { casing: 'snake_case' }))
    if (!first) return
    await first.execute(
      sql`UPDATE pg_index SET indisready = false, indisvalid = false WHERE indrelid IN (SELECT oid FROM pg_class WHERE relnamespace = 'public'::regnamespace)`,
    )
    await work([first, ...others])
    await first.execute(sql`REINDEX SCHEMA public`)
    await first.execute(sql`VACUUM ANALYZE`)
  } finally {
    await Promise.all(clients.map((one) => one.end()))
  }
}

/** Of each account a daily run every two months. */
export async function fillRuns(db: Database, { accounts, until }: Books): Promise<void> {
  const at = sql`${until.toString()}::timestamptz - make_interval(days => (${runsEach}::int - j) * 60)`
  for (let nth = 0; nth < runsEach; nth += 1)
    await db.execute(sql`
      INSERT INTO runs (id, owner_id, kind, local_date, created_at, deadline_at, planned_at, settled_at, sent, failed, dropped)
      SELECT ${id(2, `a * ${runsEach} + j`)}, ${id(1, 'a')}, 'daily', (${at})::date, ${at}, ${at} + interval '8 hours', ${at}, ${at}, 1, 0, 0
      FROM generate_series(1, ${accounts}::int) a, (SELECT ${nth}::int AS j) nth`)
}

/**
 * The invoices `from` to `to`, spread over the accounts. Of twenty, sixteen are paid, half of them after an email whose bytes were dropped; one is due
 * later, one falls due on that day, and two are overdue, each with an email that has its bytes and with decisions of five days. `held`: all are
 * overdue, with an email that is held.
 */
export async function fillInvoices(all: Database[], books: Books, range: { from: number; to: number }, held = false): Promise<void> {
  let next = range.from
  const write = async (db: Database) => {
    while (next < range.to) {
      const first = next
      next = Math.min(next + atOnce, range.to)
      for (const statement of invoiceStatements(books, { first, last: next - 1 }, held)) await db.execute(statement)
    }
  }
  await Promise.all(all.map(write))
}

function invoiceStatements({ accounts, most, until }: Books, { first, last }: { first: number; last: number }, held: boolean): SQL[] {
  const end = sql`${until.toString()}::timestamptz`
  const nth = sql`(
    SELECT n, n / ${accounts}::int AS round, ${id(1, `n % ${accounts} + 1`)} AS owner, ${id(9, 'n')} AS invoice, ${id(8, 'n')} AS email,
      ${id(2, `(n % ${accounts} + 1) * ${runsEach} + least(${runsEach - 1}, ${runsEach}::bigint * n / ${most})`)} AS run,
      ${held ? sql`20` : sql`(n + n / ${accounts}::int) % 20`} AS kind, 'client' || n / ${accounts}::int % 20 || '@kaveri' || n % ${accounts}::int || '.example' AS client,
      ${end} - interval '2 days' - interval '728 days' * (1 - n::float8 / ${most}::int) AS at
    FROM generate_series(${first}::int, ${last}::int) n) x`
  const emailed = sql`(kind < 8 OR kind >= 18)`
  return [
    sql`INSERT INTO clients (id, owner_id, email_key) SELECT ${id(6, 'n')}, owner, client FROM ${nth} WHERE round < 20`,
    sql`INSERT INTO invoices (id, owner_id, reference, client_name, client_email, amount_minor, issued_on, due_date, status, paid_minor, paid_on, paid_at, created_at, updated_at,
          reminders_sent, last_reminder_at, paused_at)
        SELECT invoice, owner, 'INV-' || n, 'Kaveri Foods', client, 500000, at::date, CASE WHEN kind < 16 THEN at::date + 14 WHEN kind = 16 THEN ${end}::date + 10 WHEN kind = 17 THEN ${end}::date ELSE ${end}::date - 10 END,
          CASE WHEN kind < 16 THEN 'paid' WHEN kind < 18 THEN 'unpaid' ELSE 'overdue' END, CASE WHEN kind < 16 THEN 500000 ELSE 0 END, CASE WHEN kind < 16 THEN at::date END, CASE WHEN kind < 16 THEN at END, at, at,
          CASE WHEN ${emailed} THEN 1 ELSE 0 END, CASE WHEN ${emailed} THEN at END, CASE WHEN kind = 19 AND n % 7 = 0 THEN at END FROM ${nth}`,
    sql`INSERT INTO invoice_changes (id, owner_id, invoice_id, at, field) SELECT ${id(5, 'n')}, owner, invoice, at, 'created' FROM ${nth}`,
    sql`INSERT INTO invoice_payments (id, owner_id, invoice_id, kind, origin, amount_minor, paid_on, recorded_at)
        SELECT ${id(7, 'n')}, owner, invoice, 'payment', 'marked', 500000, at::date, at FROM ${nth} WHERE kind < 16`,
    sql`INSERT INTO deliveries (id, owner_id, run_id, client_email, state, reason, created_at, next_try_at, deadline_at, raw, bytes_due_at, subject, message_id, sent_at, server_reply, attempt, tried_at, took_ms)
        SELECT email, owner, run, client, ${held ? 'held' : 'sent'}, ${held ? 'plan' : null}, at, at, ${held ? end : sql`at`} + interval '8 hours', CASE WHEN kind IN (18, 19) THEN ${randomBytes(bytesEach)}::bytea END,
          CASE WHEN kind IN (18, 19) THEN ${end} + interval '7 days' END, 'Payment reminder: invoice INV-' || n || ' was due', '<' || email || '@duely.example>',
          ${held ? sql`NULL, NULL, 0, NULL, NULL` : sql`at, '250 2.0.0 OK', 1, at, 900`} FROM ${nth} WHERE ${emailed}`,
    sql`INSERT INTO delivery_invoices (owner_id, delivery_id, invoice_id, open, amount_minor) SELECT owner, email, invoice, ${held}::boolean, 500000 FROM ${nth} WHERE ${emailed}`,
    sql`INSERT INTO decisions (owner_id, invoice_id, local_date, rule, delivery_id, decided_at)
        SELECT owner, invoice, at::date - d, CASE WHEN d = 0 THEN 'mail' ELSE 'no_step' END, CASE WHEN d = 0 THEN email END, at
        FROM ${nth}, generate_series(0, CASE WHEN kind IN (18, 19) THEN 4 ELSE 0 END) d WHERE ${emailed}`,
  ]
}

const table = z.object({ name: z.string(), rows: z.number(), bytes: z.number(), indexes: z.number() })
const megabytes = (bytes: number) => (bytes / 1_000_000).toFixed(0)

/** The tables with many rows, of which VACUUM has just counted what they hold. */
export async function showSizes(db: Database): Promise<void> {
  const found = await rows(
    db,
    table,
    sql`SELECT relname AS name, n_live_tup::float8 AS rows, (pg_total_relation_size(relid) - pg_indexes_size(relid))::float8 AS bytes, pg_indexes_size(relid)::float8 AS indexes
        FROM pg_stat_user_tables WHERE n_live_tup >= 1000 ORDER BY pg_total_relation_size(relid) DESC`,
  )
  for (const { name, rows: count, bytes, indexes } of found)
    say(
      `  ${name.padEnd(20)} ${count} rows, ${megabytes(bytes)} + ${megabytes(indexes)} MB, ${(bytes / count).toFixed(0)} + ${(indexes / count).toFixed(0)} bytes a row (indexes)`,
    )
  say(`  ${(found.reduce((sum, { bytes, indexes }) => sum + bytes + indexes, 0) / 1e9).toFixed(2)} GB`)
}

export function say(line: string): void {
  process.stdout.write(`${line}\n`)
}
