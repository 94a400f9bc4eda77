import { asc, eq, lte, sql } from 'drizzle-orm'
import { hasEmail } from '#server/accounts/accounts.ts'
import { notify } from '#server/accounts/notices.ts'
import { accounts } from '#server/accounts/tables.ts'
import type { Instant } from '#server/platform/clock.ts'
import type { Database } from '#server/platform/database.ts'
import type { Queue } from '#server/platform/job.ts'
import { ProblemError } from '#server/platform/problem-error.ts'
import { hold, holdEverything, release } from './deliveries.ts'
import { byHand, deliverJob } from './jobs.ts'
import { apartFrom, dailyDeadline, dayAfter, localDate, nextRun } from './schedule.ts'
import { deliveries, runs } from './tables.ts'
import { texts } from './texts.ts'

/** After the mailbox or the plan has changed, held emails are queued again; they are held again if the reason persists. */
export async function resumeHeld(tx: Database, queue: Queue, ownerId: string, now: Instant): Promise<void> {
  const resumed = await release(tx, sql`d.owner_id = ${ownerId}::uuid AND d.reason <> 'restored'`, now)
  if (resumed > 0) await queue.send(tx, deliverJob, { ownerId })
}

/** The owner approved the emails of a run that were held since a restore. Returns how many are sent. */
export async function releaseRestored(
  tx: Database,
  queue: Queue,
  about: { ownerId: string; runId: string },
  now: Instant,
): Promise<number> {
  const which = sql`d.owner_id = ${about.ownerId}::uuid AND ${about.runId}::uuid IN (d.run_id, d.pulled_by_run_id) AND d.reason = 'restored'`
  const released = await release(tx, which, now)
  if (released > 0) await queue.send(tx, deliverJob, { ownerId: about.ownerId }, byHand)
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
  const held = await holdEverything(tx, now)
  const behind = await tx.select().from(accounts).where(lte(accounts.nextRunAt, now)).orderBy(asc(accounts.id))
  for (const account of behind) {
    const today = localDate(now, account.timezone)
    const soonest = nextRun(account, { now, notBefore: today, lastRunAt: apartFrom(account) })
    const passed = Temporal.Instant.compare(soonest.at, now) <= 0
    const next = passed ? nextRun(account, { now, notBefore: dayAfter(today), lastRunAt: null }) : soonest
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

/**
 * The operator holds one account's sending: its emails wait, and fail at their deadline unless it is resumed before. Returns how many wait.
 * Refuses with `not_found`.
 */
export async function holdAccount(db: Database, email: string, now: Instant): Promise<number> {
  return db.transaction(async (tx) => {
    const ownerId = await setHeld(tx, email, now)
    return hold(tx, ownerId, 'operator')
  })
}

/** Resumes it; returns how many emails are sent now, within seconds. Refuses with `not_found`. */
export async function releaseAccount(db: Database, email: string, now: Instant): Promise<number> {
  return db.transaction(async (tx) => {
    const ownerId = await setHeld(tx, email, null)
    return release(tx, sql`d.owner_id = ${ownerId}::uuid AND d.reason = 'operator'`, now)
  })
}

async function setHeld(tx: Database, email: string, heldAt: Instant | null): Promise<string> {
  const [account] = await tx.update(accounts).set({ heldAt }).where(hasEmail(email)).returning({ id: accounts.id })
  if (!account) throw new ProblemError('not_found', texts.operator.noAccount(email))
  return account.id
}
