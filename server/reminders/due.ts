import { and, asc, eq, isNull, lte, sql } from 'drizzle-orm'
import { z } from 'zod'
import type { RunKind } from '#contract/reminders.ts'
import { lockAccount } from '#server/accounts/accounts.ts'
import { accounts } from '#server/accounts/tables.ts'
import type { Account } from '#server/platform/answer.ts'
import type { Instant } from '#server/platform/clock.ts'
import { newId } from '#server/platform/columns.ts'
import { changed, type Database, rows } from '#server/platform/database.ts'
import type { Queue } from '#server/platform/job.ts'
import { deliverJob } from './jobs.ts'
import { dailyDeadline, dayAfter, immediateDeadline, laterDate, localDate, nextRun, startOfDay } from './schedule.ts'
import { runs } from './tables.ts'

/** By hand an invoice is reminded at most this often a day. */
export const sendNowPerDay = 3
/** Mails of a run are written down this many at a time, so that a large run neither holds up others nor delays its first mail. */
const chunk = 1_000
/** How many missed days are written down at most after a long time without a process. */
const mostSkippedDays = 31

/** What decides whether an invoice past due gets a mail in a run. */
export interface DueFacts {
  /** A mail about it was accepted today. */
  remindedToday: boolean
  /** A mail about it is under way. */
  openMail: boolean
  /** How many Send Now mails it had or has today. */
  byHandToday: number
}

/**
 * Who is reminded: an invoice past due is written to at most once per local day by whatever is not a hand pressing Send Now;
 * by hand up to three times, and a mail that is already under way is pulled forward instead of doubled.
 */
export function decide(kind: RunKind, facts: DueFacts): 'write' | 'pull' | 'skip' {
  if (kind === 'send_now') {
    if (facts.openMail) return 'pull'
    return facts.byHandToday < sendNowPerDay ? 'write' : 'skip'
  }
  return facts.openMail || facts.remindedToday ? 'skip' : 'write'
}

type Run = typeof runs.$inferSelect

/** One account that a run is being made for: its row is locked. */
type Locked = Pick<Account, 'id' | 'timezone' | 'reminderHour'>

/**
 * Makes a run: its row and the first thousand of its mails, the rest follows in `planRun`. The account's row must be locked.
 * Answers null where a daily run of that local date already exists, or where a run by hand has nobody to write to.
 */
export async function makeRun(tx: Database, queue: Queue, account: Locked, kind: RunKind, now: Instant): Promise<Run | null> {
  const date = localDate(now, account.timezone)
  const [run] = await tx
    .insert(runs)
    .values({
      ownerId: account.id,
      kind,
      localDate: date,
      createdAt: now,
      deadlineAt: kind === 'daily' ? dailyDeadline(date, account.timezone) : immediateDeadline(now),
    })
    .onConflictDoNothing()
    .returning()
  if (!run) return null
  const planned = await planChunk(tx, account, run, now)
  if (planned === 0 && kind !== 'daily') {
    await tx.delete(runs).where(eq(runs.id, run.id))
    return null
  }
  await queue.send(tx, deliverJob, { ownerId: account.id })
  return run
}

/** Writes down the next mails of a run that is not complete; the account's row must be locked. */
export async function planRun(tx: Database, account: Locked, runId: string, now: Instant): Promise<void> {
  const [run] = await tx
    .select()
    .from(runs)
    .where(and(eq(runs.id, runId), isNull(runs.plannedAt), isNull(runs.cancelledAt)))
  if (run) await planChunk(tx, account, run, now)
}

const candidate = z.object({
  id: z.string(),
  due: z.string(),
  remindedToday: z.boolean(),
  openDelivery: z.string().nullable(),
  byHandToday: z.number(),
})

/** Decides the next thousand invoices past due, oldest first, and answers how many there were. */
async function planChunk(tx: Database, account: Locked, run: Run, now: Instant): Promise<number> {
  const today = run.localDate
  const dayBegan = startOfDay(today, account.timezone).toString()
  const after =
    run.cursorDueDate === null ? sql`` : sql`AND (i.due_date, i.id) > (${run.cursorDueDate}::date, ${run.cursorInvoiceId}::uuid)`
  const byHand =
    run.kind === 'send_now'
      ? sql`(SELECT count(*)::int FROM delivery_invoices h JOIN deliveries hd ON hd.id = h.delivery_id JOIN runs hr ON hr.id = coalesce(hd.pulled_by_run_id, hd.run_id)
             WHERE h.invoice_id = i.id AND hr.kind = 'send_now' AND hr.local_date = ${today}::date AND hd.state IN ('queued', 'sending', 'sent', 'retrying', 'held'))`
      : sql`0`
  const found = await rows(
    tx,
    candidate,
    sql`SELECT i.id, i.due_date::text AS due, coalesce(i.last_reminder_at >= ${dayBegan}::timestamptz, false) AS "remindedToday",
          o.delivery_id AS "openDelivery", ${byHand} AS "byHandToday"
        FROM invoices i LEFT JOIN delivery_invoices o ON o.invoice_id = i.id AND o.open
        WHERE i.owner_id = ${account.id} AND i.deleted_at IS NULL AND i.status <> 'paid' AND i.due_date < ${today}::date ${after}
        ORDER BY i.due_date, i.id LIMIT ${chunk}`,
  )
  const decisions = found.map((one) => ({
    ...one,
    decision: decide(run.kind, { remindedToday: one.remindedToday, openMail: one.openDelivery !== null, byHandToday: one.byHandToday }),
  }))
  await insertDeliveries(
    tx,
    run,
    decisions.filter(({ decision }) => decision === 'write').map(({ id }) => id),
    now,
  )
  const pulled = decisions.flatMap(({ decision, openDelivery }) => (decision === 'pull' && openDelivery ? [openDelivery] : []))
  await pullForward(tx, run, pulled, now)
  const last = found.at(-1)
  await tx
    .update(runs)
    .set({
      skipped: sql`${runs.skipped} + ${decisions.filter(({ decision }) => decision === 'skip').length}`,
      ...(last ? { cursorDueDate: last.due, cursorInvoiceId: last.id } : {}),
      ...(found.length < chunk ? { plannedAt: now } : {}),
    })
    .where(eq(runs.id, run.id))
  return found.length
}

/** One mail per invoice. Ids ascend in the order given, so that the oldest due date is written to first. */
async function insertDeliveries(tx: Database, run: Run, invoiceIds: string[], now: Instant): Promise<void> {
  if (invoiceIds.length === 0) return
  const ids = invoiceIds.map(() => newId()).sort()
  const pairs = sql`unnest(${arrayText(ids)}::uuid[], ${arrayText(invoiceIds)}::uuid[]) AS pair(delivery_id, invoice_id)`
  await tx.execute(sql`
    INSERT INTO deliveries (id, owner_id, run_id, client_email, state, created_at, next_try_at, deadline_at)
    SELECT pair.delivery_id, ${run.ownerId}::uuid, ${run.id}::uuid, i.client_email, 'queued', ${now.toString()}::timestamptz, ${now.toString()}::timestamptz, ${run.deadlineAt.toString()}::timestamptz
    FROM ${pairs} JOIN invoices i ON i.id = pair.invoice_id`)
  await tx.execute(sql`
    INSERT INTO delivery_invoices (owner_id, delivery_id, invoice_id, open)
    SELECT ${run.ownerId}::uuid, pair.delivery_id, pair.invoice_id, true FROM ${pairs}`)
}

/** Mails that wait for their next try are tried now, on behalf of this run too. */
async function pullForward(tx: Database, run: Run, deliveryIds: string[], now: Instant): Promise<void> {
  if (deliveryIds.length === 0) return
  await tx.execute(sql`
    UPDATE deliveries SET pulled_by_run_id = ${run.id}::uuid, deadline_at = greatest(deadline_at, ${run.deadlineAt.toString()}::timestamptz),
      next_try_at = CASE WHEN state IN ('queued', 'retrying') THEN least(next_try_at, ${now.toString()}::timestamptz) ELSE next_try_at END
    WHERE id = ANY(${arrayText(deliveryIds)}::uuid[]) AND owner_id = ${run.ownerId}::uuid`)
}

function arrayText(ids: string[]): string {
  return `{${ids.join(',')}}`
}

/**
 * The tick of the daily run: makes the run of every account whose time has come, each in its own transaction, and sets its next one.
 * Any number of processes may tick at once: the account's row is the lock, the local date the key. An account that fails does not hold up
 * the others; what failed is thrown at the end.
 */
export async function makeDueRuns(db: Database, queue: Queue, now: Instant): Promise<void> {
  const failures: unknown[] = []
  let last: { id: string; nextRunAt: Instant | null } | undefined
  do {
    const behind = last && sql`(${accounts.nextRunAt}, ${accounts.id}) > (${last.nextRunAt?.toString()}::timestamptz, ${last.id}::uuid)`
    const due = await db
      .select({ id: accounts.id, nextRunAt: accounts.nextRunAt })
      .from(accounts)
      .where(and(lte(accounts.nextRunAt, now), behind))
      .orderBy(asc(accounts.nextRunAt), asc(accounts.id))
      .limit(100)
    for (const { id } of due) await makeDueRun(db, queue, id, now).catch((error: unknown) => failures.push(error))
    last = due.at(-1)
  } while (last)
  if (failures.length > 0) throw new AggregateError(failures, 'The daily runs of some accounts could not be made.')
}

async function makeDueRun(db: Database, queue: Queue, accountId: string, now: Instant): Promise<void> {
  await db.transaction(async (tx) => {
    const account = await lockAccount(tx, accountId)
    if (!account?.nextRunAt || Temporal.Instant.compare(account.nextRunAt, now) > 0) return
    const planned = localDate(account.nextRunAt, account.timezone)
    const today = nextRun(account, { now, notBefore: planned, lastRunAt: account.lastDailyRunAt })
    await recordSkippedDays(tx, account, { from: planned, before: today.date }, now)
    const runsNow = Temporal.Instant.compare(today.at, now) <= 0
    if (runsNow) await makeRun(tx, queue, account, 'daily', now)
    const following = runsNow ? nextRun(account, { now, notBefore: dayAfter(today.date), lastRunAt: now }) : today
    await tx
      .update(accounts)
      .set({ nextRunAt: following.at, ...(runsNow ? { lastDailyRunAt: now } : {}) })
      .where(eq(accounts.id, account.id))
  })
}

/** A day on which no process ran until six in the evening is written down as skipped; its mails are not sent later. */
async function recordSkippedDays(tx: Database, account: Locked, days: { from: string; before: string }, now: Instant): Promise<void> {
  const earliest = Temporal.PlainDate.from(days.before).subtract({ days: mostSkippedDays }).toString()
  for (let date = laterDate(days.from, earliest); date < days.before; date = dayAfter(date)) {
    await tx
      .insert(runs)
      .values({
        ownerId: account.id,
        kind: 'daily',
        localDate: date,
        createdAt: now,
        deadlineAt: dailyDeadline(date, account.timezone),
        plannedAt: now,
        skippedReason: 'Duely was not running between the hour of the reminders and 18:00 that day.',
      })
      .onConflictDoNothing()
  }
}

/** Where the schedule changes (time zone, hour), the run that was to come keeps its date, at its new instant. */
export async function reschedule(tx: Database, before: Account, after: Account, now: Instant): Promise<void> {
  if (!before.remindersActive || !before.nextRunAt) return
  const next = nextRun(after, { now, notBefore: localDate(before.nextRunAt, before.timezone), lastRunAt: before.lastDailyRunAt })
  await tx.update(accounts).set({ nextRunAt: next.at }).where(eq(accounts.id, before.id))
}

/** Cancels every open run of an account; mails that are being sent at this moment still leave. Answers how many mails were cancelled. */
export async function cancelRuns(tx: Database, ownerId: string, now: Instant): Promise<number> {
  await tx
    .update(runs)
    .set({ cancelledAt: now })
    .where(
      and(
        eq(runs.ownerId, ownerId),
        isNull(runs.cancelledAt),
        sql`(${runs.plannedAt} IS NULL OR EXISTS (SELECT 1 FROM deliveries d WHERE d.run_id = ${runs.id} AND d.state IN ('queued', 'sending', 'retrying', 'held')))`,
      ),
    )
  return changed(
    tx,
    sql`WITH ended AS (
          UPDATE deliveries SET state = 'cancelled', reason = 'stopped' WHERE owner_id = ${ownerId}::uuid AND state IN ('queued', 'retrying', 'held') RETURNING id)
        UPDATE delivery_invoices SET open = false FROM ended WHERE delivery_id = ended.id`,
  )
}
