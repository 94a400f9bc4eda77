import { asc, eq, lte, sql } from 'drizzle-orm'
import type { HoldReason } from '#contract/reminders.ts'
import { notify } from '#server/accounts/notices.ts'
import { accounts } from '#server/accounts/tables.ts'
import type { Instant } from '#server/platform/clock.ts'
import { changed, type Database } from '#server/platform/database.ts'
import type { Queue } from '#server/platform/job.ts'
import { deliverJob } from './jobs.ts'
import { dailyDeadline, dayAfter, localDate, nextRun } from './schedule.ts'
import { deliveries, runs } from './tables.ts'
import { texts } from './texts.ts'

/** The reason of an email that was held until its deadline, for API clients. */
export const heldTooLong = 'held_too_long'
/** Stored in place of a mail server's reply where the deadline passed for another reason. Compared in queries: it must not change. */
export const notInTime = 'Not sent in time.'

/** Nothing of this account can be sent at the moment: its emails are held until the reason ends. */
export async function holdWaiting(db: Database, ownerId: string, reason: HoldReason): Promise<void> {
  await db.execute(
    sql`UPDATE deliveries SET state = 'held', reason = ${reason} WHERE owner_id = ${ownerId}::uuid AND state IN ('queued', 'retrying')`,
  )
}

/** Whether only the daily run wants the email `d`. */
export const onlyScheduled = sql`(d.pulled_by_run_id IS NULL AND EXISTS (SELECT 1 FROM runs r WHERE r.id = d.run_id AND r.kind = 'daily'))`

/** The plan has no daily reminders: emails of the daily run are held, manual ones are not. */
export async function holdScheduled(db: Database, ownerId: string): Promise<void> {
  await db.execute(
    sql`UPDATE deliveries d SET state = 'held', reason = 'plan' WHERE owner_id = ${ownerId}::uuid AND state IN ('queued', 'retrying') AND ${onlyScheduled}`,
  )
}

/** After the mailbox or the plan has changed, held emails are queued again; they are held again if the reason persists. */
export async function resumeHeld(tx: Database, queue: Queue, ownerId: string, now: Instant): Promise<void> {
  const resumed = await changed(
    tx,
    sql`UPDATE deliveries SET state = 'queued', reason = NULL, next_try_at = ${now.toString()}::timestamptz
        WHERE owner_id = ${ownerId}::uuid AND state = 'held' AND reason <> 'restored'`,
  )
  if (resumed > 0) await queue.send(tx, deliverJob, { ownerId })
}

/** The owner approved the emails of a run that were held since a restore. Returns how many are sent. */
export async function releaseRestored(
  tx: Database,
  queue: Queue,
  about: { ownerId: string; runId: string },
  now: Instant,
): Promise<number> {
  const released = await changed(
    tx,
    sql`UPDATE deliveries SET state = 'queued', reason = NULL, next_try_at = ${now.toString()}::timestamptz
        WHERE owner_id = ${about.ownerId}::uuid AND ${about.runId}::uuid IN (run_id, pulled_by_run_id) AND state = 'held' AND reason = 'restored'`,
  )
  if (released > 0) await queue.send(tx, deliverJob, { ownerId: about.ownerId })
  return released
}

/**
 * After a restore from a backup, pending emails may already have been sent since the backup was made: all of them need their owner's
 * approval, and daily runs whose hour has passed are not caught up. Returns how many emails are held.
 */
export async function holdRestored(tx: Database, now: Instant): Promise<number> {
  const at = now.toString()
  const owners = await tx
    .selectDistinct({ ownerId: deliveries.ownerId })
    .from(deliveries)
    .where(sql`state IN ('queued', 'retrying', 'sending', 'held') AND deadline_at > ${at}::timestamptz`)
  const held = await changed(
    tx,
    sql`UPDATE deliveries SET state = 'held', reason = 'restored', claimed_by = NULL, claim = NULL
        WHERE state IN ('queued', 'retrying', 'sending', 'held') AND deadline_at > ${at}::timestamptz`,
  )
  const behind = await tx.select().from(accounts).where(lte(accounts.nextRunAt, now)).orderBy(asc(accounts.id))
  for (const account of behind) {
    const today = localDate(now, account.timezone)
    const soonest = nextRun(account, { now, notBefore: today, lastRunAt: account.lastDailyRunAt })
    const passed = Temporal.Instant.compare(soonest.at, now) <= 0
    const next = passed ? nextRun(account, { now, notBefore: dayAfter(today), lastRunAt: now }) : soonest
    await tx.update(accounts).set({ nextRunAt: next.at, nextRunFrom: next.date }).where(eq(accounts.id, account.id))
    if (passed)
      await tx
        .insert(runs)
        .values({
          ownerId: account.id,
          kind: 'daily',
          localDate: today,
          createdAt: now,
          deadlineAt: dailyDeadline(today, account.timezone),
          plannedAt: now,
          skippedReason: texts.skipped.restored,
        })
        .onConflictDoNothing()
  }
  for (const { ownerId } of owners)
    await notify(
      tx,
      ownerId,
      {
        kind: 'restored',
        title: texts.restored.title,
        text: texts.restored.text,
        link: '/dashboard/reminder-control',
      },
      now,
    )
  return held
}
