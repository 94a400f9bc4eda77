import { and, lte, sql } from 'drizzle-orm'
import type { AccountRow } from '#server/accounts/accounts.ts'
import { selectAccounts } from '#server/accounts/accounts.ts'
import { accounts } from '#server/accounts/tables.ts'
import type { Instant } from '#server/platform/clock.ts'
import { arrayText } from '#server/platform/database.ts'
import type { Deps } from '#server/platform/deps.ts'

const atOnce = 200

/**
 * Does the work of every account for which an instant has come; the work must move that instant. An account that fails does not delay the others; its
 * error is thrown at the end.
 */
export async function eachDue(
  { db, clock }: Pick<Deps, 'db' | 'clock'>,
  dueAt: typeof accounts.nextSummaryAt | typeof accounts.nextEveningAt,
  work: (account: AccountRow, now: Instant) => Promise<void>,
  progressed: () => Promise<void>,
): Promise<void> {
  const now = clock.now()
  const failed = new Map<string, unknown>()
  for (;;) {
    const due = await selectAccounts(db)
      .where(and(lte(dueAt, now), sql`${accounts.id} <> ALL(${arrayText([...failed.keys()])}::uuid[])`))
      .orderBy(dueAt)
      .limit(atOnce)
    for (const account of due) {
      await work(account, now).catch((error: unknown) => failed.set(account.id, error))
      await progressed()
    }
    if (due.length < atOnce) break
  }
  if (failed.size > 0) throw new AggregateError(failed.values(), 'The emails to some owners could not be sent.')
}
