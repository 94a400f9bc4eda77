import { and, asc, eq, isNull, lt, lte, sql } from 'drizzle-orm'
import { accounts } from '#server/accounts/tables.ts'
import type { Instant } from '#server/platform/clock.ts'
import type { Database } from '#server/platform/database.ts'
import { invoices } from './tables.ts'

const batch = 200

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
    for (const account of due) await turnAccount(db, account.id, now).catch((error: unknown) => failures.push(error))
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

async function turnAccount(db: Database, id: string, now: Instant): Promise<void> {
  await db.transaction(async (tx) => {
    const [account] = await tx
      .select({ timezone: accounts.timezone })
      .from(accounts)
      .where(and(eq(accounts.id, id), lte(accounts.nextMidnightAt, now)))
      .for('update', { skipLocked: true })
    if (!account) return
    const today = now.toZonedDateTimeISO(account.timezone).toPlainDate()
    await tx
      .update(invoices)
      .set({ status: 'overdue', updatedAt: now })
      .where(
        and(
          eq(invoices.ownerId, id),
          isNull(invoices.deletedAt),
          eq(invoices.status, 'unpaid'),
          lt(invoices.dueDate, today.toString()),
          eq(invoices.keptUnpaid, false),
        ),
      )
    const midnight = today.add({ days: 1 }).toZonedDateTime(account.timezone).toInstant()
    await tx.update(accounts).set({ nextMidnightAt: midnight }).where(eq(accounts.id, id))
  })
}
