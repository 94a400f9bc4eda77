import { readdirSync, readFileSync } from 'node:fs'
import { sql } from 'drizzle-orm'
import { createAccount } from '#server/accounts/accounts.ts'
import { signAccessToken } from '#server/accounts/sessions.ts'
import { sessions } from '#server/accounts/tables.ts'
import { newId } from '#server/platform/columns.ts'
import type { Database } from '#server/platform/database.ts'
import { query } from '#test/postgres.ts'

export const secretKey = 'a secret key for measuring, 32 characters'
/** For `openCluster`: counts statements. */
export const counting = 'shared_preload_libraries=pg_stat_statements'

export interface Owner {
  id: string
  email: string
  sessionId: string
  authorization: string
}

/** A signed-in account with that many overdue invoices, and no mailbox. */
export async function addOwner(db: Database, email: string, invoices: number, passwordHash: string | null): Promise<Owner> {
  const now = Temporal.Now.instant()
  const { id, person } = await createAccount(
    db,
    { displayName: 'Asha Rao', email, timezone: 'Asia/Kolkata', passwordHash, emailVerifiedAt: now },
    now,
  )
  const sessionId = newId()
  await db
    .insert(sessions)
    .values({ id: sessionId, personId: person.id, refreshHash: sessionId, rotatedAt: now, createdAt: now, lastSeenAt: now })
  await db.execute(sql`
    INSERT INTO invoices (id, owner_id, reference, client_name, client_email, amount_minor, due_date, status, created_at, updated_at)
    SELECT gen_random_uuid(), ${id}::uuid, 'INV-' || n, 'Kaveri Foods ' || n, 'billing' || n || '@kaveri.example', 500000 + n, current_date - 10, 'overdue', now() - n * interval '1 second', now() FROM generate_series(1, ${invoices}::int) n`)
  return { id, email, sessionId, authorization: `Bearer ${signAccessToken(secretKey, sessionId, now)}` }
}

/** Invoices of two years, four of five paid after 0 to 29 days, with emails 5 days apart each. */
export async function addHistory(db: Database, ownerId: string, about: { invoices: number; emails: number }): Promise<void> {
  await db.execute(sql`
    INSERT INTO invoices (id, owner_id, reference, client_name, client_email, amount_minor, issued_on, due_date, status, created_at, updated_at, reminders_sent)
    SELECT gen_random_uuid(), ${ownerId}::uuid, 'INV-' || n, 'Client ' || n % 400, 'client' || n % 400 || '@example.com', 100000 + n,
      current_date - n % 730 - 14, current_date - n % 730, 'unpaid', now() - interval '800 days', now(), ${about.emails}::int FROM generate_series(1, ${about.invoices}::int) n`)
  await db.execute(sql`
    WITH paid AS (
      UPDATE invoices SET status = 'paid', paid_minor = amount_minor, paid_on = least(current_date, due_date + (amount_minor % 30)::int), paid_at = now()
      WHERE owner_id = ${ownerId}::uuid AND amount_minor % 5 <> 0 RETURNING *)
    INSERT INTO invoice_payments (id, owner_id, invoice_id, kind, origin, amount_minor, paid_on, recorded_at)
    SELECT gen_random_uuid(), owner_id, id, 'payment', 'by_hand', amount_minor, paid_on, now() FROM paid`)
  if (about.emails === 0) return
  await db.execute(
    sql`INSERT INTO runs (id, owner_id, kind, local_date, created_at, deadline_at) VALUES (gen_random_uuid(), ${ownerId}::uuid, 'start', current_date, now(), now())`,
  )
  await db.execute(sql`
    WITH mail AS (
      INSERT INTO deliveries (id, owner_id, run_id, client_email, state, created_at, next_try_at, deadline_at, sent_at, subject)
      SELECT gen_random_uuid(), i.owner_id, r.id, i.client_email, 'sent', now(), now(), now(), i.due_date + 5 * e * interval '1 day', i.id::text
      FROM invoices i JOIN runs r ON r.owner_id = i.owner_id, generate_series(1, ${about.emails}::int) e WHERE i.owner_id = ${ownerId}::uuid RETURNING *)
    INSERT INTO delivery_invoices (owner_id, delivery_id, invoice_id, open) SELECT owner_id, id, subject::uuid, false FROM mail`)
}

export const analyzed = sql`VACUUM ANALYZE invoices, invoice_payments, deliveries, delivery_invoices, clients`

/** How many statements a server with `counting` has run in the database at `url`, BEGIN and COMMIT included. */
export async function statementsAt(url: string): Promise<number> {
  await query(url, 'CREATE EXTENSION IF NOT EXISTS pg_stat_statements')
  const [found] = await query<{ count: number }>(
    url,
    `SELECT coalesce(sum(calls), 0)::float8 AS count FROM pg_stat_statements
     WHERE dbid = (SELECT oid FROM pg_database WHERE datname = current_database()) AND query NOT LIKE '%pg_stat_statements%'`,
  )
  return found?.count ?? 0
}

/** What `/proc` says of a process, its times in ms: it counts in hundredths of a second. */
function processOf(pid: number | string): { parent: number; own: number; ended: number } {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ').map(Number) ?? []
  const [, parent = 0, , , , , , , , , , user = 0, system = 0, endedUser = 0, endedSystem = 0] = fields
  return { parent, own: (user + system) * 10, ended: (endedUser + endedSystem) * 10 }
}

/** CPU of a process so far, in ms. */
export const cpuMs = (pid: number | string) => processOf(pid).own

/** CPU so far of the PostgreSQL server at `url`, in ms, with its processes that have ended. */
export function cpuOfServer(url: string): number {
  const servers = readdirSync('/proc').flatMap((pid) => {
    try {
      if (!/^\d+$/.test(pid) || readFileSync(`/proc/${pid}/comm`, 'utf8') !== 'postgres\n') return []
      return [
        {
          pid: Number(pid),
          first: readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes(`\0-p\0${new URL(url).port}\0`),
          ...processOf(pid),
        },
      ]
    } catch {
      // It has ended meanwhile.
      return []
    }
  })
  const first = servers.find((one) => one.first)
  return servers.reduce((sum, one) => sum + (one.parent === first?.pid ? one.own : 0), (first?.own ?? 0) + (first?.ended ?? 0))
}

/** The value below which this share of all values lies. */
export function quantile(values: number[], share: number): number {
  return values.toSorted((a, b) => a - b)[Math.min(values.length - 1, Math.floor(values.length * share))] ?? 0
}
