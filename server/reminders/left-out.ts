import { and, eq, gte, lt, sql } from 'drizzle-orm'
import { z } from 'zod'
import type { AccountRow } from '#server/accounts/accounts.ts'
import { accounts } from '#server/accounts/tables.ts'
import type { Corrected } from '#server/invoices/tables.ts'
import type { Instant } from '#server/platform/clock.ts'
import { arrayText, columnText, type Database, rows } from '#server/platform/database.ts'
import { leaveOut } from './deliveries.ts'
import { dayNumber } from './plan.ts'
import { laterDate, localDate } from './schedule.ts'
import { leftOut, runs } from './tables.ts'

type Owner = Pick<AccountRow, 'id' | 'leftOutUntil'>

/** The clients that are left out from a date on, by date. Most accounts have none: then it costs nothing. */
export async function readLeftOut(db: Database, { id, leftOutUntil }: Owner, from: string): Promise<Map<number, ReadonlySet<string>>> {
  if (leftOutUntil === null || leftOutUntil < from) return new Map()
  const found = await db
    .select()
    .from(leftOut)
    .where(and(eq(leftOut.ownerId, id), gte(leftOut.localDate, from)))
    .orderBy(leftOut.localDate)
  return new Map(
    [...Map.groupBy(found, (one) => one.localDate)].map(([date, its]) => [dayNumber(date), new Set(its.map(({ clientKey }) => clientKey))]),
  )
}

/** The account's row must be locked. */
export async function addLeftOut(tx: Database, account: Owner, date: string, keys: string[]): Promise<void> {
  await tx.execute(sql`
    INSERT INTO left_out (owner_id, local_date, client_key) SELECT ${account.id}::uuid, ${date}::date, key FROM unnest(${arrayText(keys)}::text[]) key
    ON CONFLICT DO NOTHING`)
  const leftOutUntil = account.leftOutUntil === null ? date : laterDate(account.leftOutUntil, date)
  await tx.update(accounts).set({ leftOutUntil }).where(eq(accounts.id, account.id))
}

/** A client that is left out stays so under a corrected address, unless others are written to there. `moved`: invoices with another address. */
export async function moveLeftOut(tx: Database, ownerId: string, moved: Corrected[]): Promise<void> {
  await tx.execute(sql`
    INSERT INTO left_out (owner_id, local_date, client_key)
    SELECT l.owner_id, l.local_date, w.key
    FROM unnest(${columnText(moved, ({ before }) => before.clientEmail.toLowerCase())}::text[], ${columnText(moved, ({ after }) => after.clientEmail.toLowerCase())}::text[]) AS w (former, key)
    JOIN left_out l ON l.owner_id = ${ownerId}::uuid AND l.client_key = w.former
    WHERE NOT EXISTS (SELECT 1 FROM invoices i WHERE i.owner_id = l.owner_id AND lower(i.client_email) = w.key
      AND i.id <> ALL(${arrayText(moved.map(({ after }) => after.id))}::uuid[]))
    ON CONFLICT DO NOTHING`)
}

export async function removeLeftOut(tx: Database, ownerId: string, date: string, keys: string[]): Promise<void> {
  await tx.execute(
    sql`DELETE FROM left_out WHERE owner_id = ${ownerId}::uuid AND local_date = ${date}::date AND client_key = ANY(${arrayText(keys)}::text[])`,
  )
}

/** Closes the emails of a daily run to clients that are left out on its date. The account's row must be locked. */
export async function closeLeftOut(tx: Database, account: Owner, { localDate: date }: { localDate: string }, now: Instant): Promise<void> {
  if (account.leftOutUntil === null || account.leftOutUntil < date) return
  const run = await findDailyRun(tx, account.id, date)
  if (!run) return
  const found = await rows(
    tx,
    z.object({ id: z.string() }),
    sql`SELECT d.id FROM deliveries d JOIN left_out l ON l.owner_id = d.owner_id AND l.local_date = ${date}::date AND l.client_key = lower(d.client_email)
        WHERE d.run_id = ${run.id}::uuid AND d.pulled_by_run_id IS NULL AND d.state IN ('queued', 'retrying', 'held') ORDER BY d.id FOR UPDATE OF d`,
  )
  if (found.length === 0) return
  await leaveOut(
    tx,
    run,
    found.map(({ id }) => id),
    now,
  )
}

export async function findDailyRun(db: Database, ownerId: string, date: string): Promise<typeof runs.$inferSelect | null> {
  const [run] = await db
    .select()
    .from(runs)
    .where(and(eq(runs.ownerId, ownerId), eq(runs.localDate, date), eq(runs.kind, 'daily')))
  return run ?? null
}

export async function pruneLeftOut(db: Database, now: Instant): Promise<void> {
  await db.delete(leftOut).where(lt(leftOut.localDate, localDate(now.subtract({ hours: 48 }), 'UTC')))
}
