import { and, asc, lte, sql } from 'drizzle-orm'
import { accounts } from '#server/accounts/tables.ts'
import type { Instant } from '#server/platform/clock.ts'
import { arrayText, byKeys, type Database } from '#server/platform/database.ts'

/** Accounts in one transaction. */
const batch = 100

interface Due {
  id: string
  nextMidnightAt: Instant
}

/**
 * Turns unpaid invoices that are past due overdue in every account whose local midnight has passed, except those that a person set back to
 * unpaid. Any number of processes may do so at once. An account that fails is left for the next call and does not delay the others; its
 * error is thrown at the end.
 */
export async function turnOverdue(db: Database, now: Instant): Promise<void> {
  const failures: unknown[] = []
  let last: Due | undefined
  do {
    const due = await accountsDue(db, now, last)
    const ids = due.map(({ id }) => id)
    await turnAccounts(db, ids, now).catch(async () => {
      for (const id of ids) await turnAccounts(db, [id], now).catch((error: unknown) => failures.push(error))
    })
    last = due.at(-1)
  } while (last)
  if (failures.length > 0) throw new AggregateError(failures, 'Invoices of some accounts could not be turned overdue.')
}

/** The next accounts whose midnight has passed; continuing after the last one skips those locked by another process. */
async function accountsDue(db: Database, now: Instant, last: Due | undefined): Promise<Due[]> {
  const behind =
    last && sql`(${accounts.nextMidnightAt}, ${accounts.id}) > (${last.nextMidnightAt.toString()}::timestamptz, ${last.id}::uuid)`
  return db
    .select({ id: accounts.id, nextMidnightAt: accounts.nextMidnightAt })
    .from(accounts)
    .where(and(lte(accounts.nextMidnightAt, now), behind))
    .orderBy(asc(accounts.nextMidnightAt), asc(accounts.id))
    .limit(batch)
}

/** Those of the accounts that are still due: at midnight of a zone that is all of its accounts, so a hundred share three statements. */
async function turnAccounts(db: Database, ids: string[], now: Instant): Promise<void> {
  if (ids.length === 0) return
  await db.transaction(async (tx) => {
    const due = await tx
      .select({ id: accounts.id, timezone: accounts.timezone })
      .from(accounts)
      .where(and(sql`${accounts.id} = ANY(${arrayText(ids)}::uuid[])`, lte(accounts.nextMidnightAt, now)))
      .orderBy(asc(accounts.id))
      .for('update', { skipLocked: true })
    const days = due.map(({ id, timezone }) => {
      const today = now.toZonedDateTimeISO(timezone).toPlainDate()
      return { id, today: today.toString(), midnight: today.add({ days: 1 }).toZonedDateTime(timezone).toInstant().toString() }
    })
    const column = (of: keyof (typeof days)[number]) => arrayText(days.map((day) => day[of]))
    await tx.execute(sql`
      UPDATE invoices i SET status = 'overdue', updated_at = ${now.toString()}::timestamptz
      FROM ${byKeys(sql`unnest(${column('id')}::uuid[], ${column('today')}::date[]) AS d (owner_id, today)`)} d
      WHERE i.owner_id = d.owner_id AND i.due_date < d.today AND i.deleted_at IS NULL AND i.status = 'unpaid' AND NOT i.kept_unpaid`)
    await tx.execute(sql`
      UPDATE accounts a SET next_midnight_at = d.midnight
      FROM ${byKeys(sql`unnest(${column('id')}::uuid[], ${column('midnight')}::timestamptz[]) AS d (id, midnight)`)} d WHERE a.id = d.id`)
  })
}
