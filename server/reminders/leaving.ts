import { eq, type SQL, sql } from 'drizzle-orm'
import { z } from 'zod'
import { type LeavingMail, mostLeaving, type WhichLeave } from '#contract/leaving.ts'
import { fromMinor } from '#contract/money.ts'
import type { Run } from '#contract/reminders.ts'
import { lockAsSeen } from '#server/accounts/accounts.ts'
import type { Account } from '#server/platform/answer.ts'
import type { Instant } from '#server/platform/clock.ts'
import { arrayText, type Database, rows } from '#server/platform/database.ts'
import type { Queue } from '#server/platform/job.ts'
import { ProblemError } from '#server/platform/problem-error.ts'
import { followHolds, leaveOut, splitOthers, stillQueued, takeBack } from './deliveries.ts'
import { byHand, deliverJob } from './jobs.ts'
import { balance } from './owed.ts'
import { findRun, toRun } from './progress.ts'
import { type Asking, validIds } from './reminders.ts'
import { runs } from './tables.ts'
import { texts } from './texts.ts'

type Acting = Omit<Asking, 'config'>
type RunRow = typeof runs.$inferSelect

const leaving = z.object({
  clientName: z.string(),
  clientEmail: z.string(),
  leftOut: z.boolean(),
  invoices: z.array(
    z.object({
      invoiceId: z.string(),
      reference: z.string(),
      balanceMinor: z.number(),
      currency: z.string(),
      dueDate: z.string(),
    }),
  ),
})

/** What has not left of a daily run, and what was left out of it; without invoices that were paid or deleted meanwhile. */
export async function readLeaving(db: Database, account: Account, runId: string): Promise<LeavingMail[]> {
  const run = await findRun(db, account.id, runId)
  const found = await rows(
    db,
    leaving,
    sql`SELECT (array_agg(i.client_name ORDER BY i.due_date, i.id))[1] AS "clientName", d.client_email AS "clientEmail", d.state = 'superseded' AS "leftOut",
          json_agg(json_build_object('invoiceId', i.id, 'reference', i.reference, 'balanceMinor', ${balance}, 'currency', i.currency, 'dueDate', i.due_date) ORDER BY i.due_date, i.id) AS invoices
        FROM deliveries d JOIN delivery_invoices x ON x.delivery_id = d.id JOIN invoices i ON i.id = x.invoice_id
        WHERE d.run_id = ${run.id}::uuid AND ${ofDay} AND i.deleted_at IS NULL AND i.status <> 'paid'
        GROUP BY d.id ORDER BY d.id LIMIT ${mostLeaving}`,
  )
  return found.map(({ invoices, ...mail }) => ({
    ...mail,
    invoices: invoices.map(({ balanceMinor, ...one }) => ({ ...one, amount: fromMinor(balanceMinor, one.currency) })),
  }))
}

/** Emails `d` of a daily run that wait, or were left out. */
const ofDay = sql`d.pulled_by_run_id IS NULL AND (d.state IN ('queued', 'retrying', 'held') OR (d.state = 'superseded' AND d.reason = 'left_out'))`

/**
 * Leaves invoices out of a daily run, or all of it. What is being sent at this moment stays. Refuses with `not_found`, and with `conflict` a run
 * that is not a daily one or is still being planned.
 */
export function leaveOutOfRun(asking: Acting, runId: string, { invoiceIds }: WhichLeave): Promise<Run> {
  return inRun(asking, runId, async (tx, run) => {
    const ids = await mailsAbout(tx, run, sql`d.state IN ('queued', 'retrying', 'held')`, invoiceIds)
    await leaveOut(tx, run, ids, asking.now)
  })
}

/** The opposite, as long as the day lasts. */
export function takeBackInRun(asking: Acting, runId: string, { invoiceIds }: WhichLeave): Promise<Run> {
  const { now } = asking
  return inRun(asking, runId, async (tx, run) => {
    if (run.cancelledAt !== null || Temporal.Instant.compare(now, run.deadlineAt) >= 0)
      throw new ProblemError('conflict', texts.leaving.over)
    const ids = await mailsAbout(tx, run, sql`d.state = 'superseded' AND d.reason = 'left_out'`, invoiceIds)
    await reopen(tx, asking.queue, run, ids, now)
  })
}

/** Takes back emails that were left out of a run. */
export async function reopen(tx: Database, queue: Queue, run: RunRow, ids: string[], now: Instant): Promise<void> {
  await takeBack(tx, run, ids, now)
  await followHolds(tx, run.ownerId, sql`x.delivery_id = ANY(${arrayText(ids)}::uuid[])`, now)
  await tx.execute(sql`
    DELETE FROM left_out l USING deliveries d
    WHERE d.owner_id = ${run.ownerId}::uuid AND d.id = ANY(${arrayText(ids)}::uuid[]) AND l.owner_id = d.owner_id AND l.local_date = ${run.localDate}::date AND l.client_key = lower(d.client_email)`)
  await queue.send(tx, deliverJob, { ownerId: run.ownerId }, byHand)
}

/** Sends immediately what waits to leave. */
export function sendRunNow(asking: Acting, runId: string): Promise<Run> {
  return inRun(asking, runId, async (tx, run) => {
    if (run.leavesAt === null) return
    const now = sql`${asking.now.toString()}::timestamptz`
    await tx.execute(sql`
      UPDATE deliveries d SET next_try_at = ${now}
      WHERE d.run_id = ${run.id}::uuid AND ${stillQueued} AND d.next_try_at > ${now} AND d.next_try_at <= ${run.leavesAt.toString()}::timestamptz`)
    // What was pulled forward would wait again once its Send Now is stopped.
    await tx.execute(sql`
      UPDATE deliveries d SET own_next_try_at = ${now}
      WHERE d.run_id = ${run.id}::uuid AND d.own_next_try_at > ${now} AND d.own_next_try_at <= ${run.leavesAt.toString()}::timestamptz`)
    await tx.update(runs).set({ leavesAt: null }).where(eq(runs.id, run.id))
    await asking.queue.send(tx, deliverJob, { ownerId: run.ownerId }, byHand)
  })
}

/** Under the account's lock, as all that makes or stops runs. */
async function inRun({ db, account }: Acting, runId: string, work: (tx: Database, run: RunRow) => Promise<void>): Promise<Run> {
  await db.transaction(async (tx) => {
    await lockAsSeen(tx, account)
    const run = await findRun(tx, account.id, runId)
    if (run.kind !== 'daily') throw new ProblemError('conflict', texts.leaving.notDaily)
    if (run.plannedAt === null && run.cancelledAt === null) throw new ProblemError('conflict', texts.leaving.preparing)
    await work(tx, run)
  })
  return toRun(db, await findRun(db, account.id, runId))
}

const mailOfRun = z.object({ id: z.string(), wanted: z.array(z.string()), others: z.number() })

/** The emails of a run that match and list some of these invoices, locked, each about these alone; without `invoiceIds` all. */
async function mailsAbout(tx: Database, run: RunRow, state: SQL, invoiceIds: string[] | undefined): Promise<string[]> {
  const wanted = invoiceIds ? sql`x.invoice_id = ANY(${arrayText(validIds(invoiceIds))}::uuid[])` : sql`true`
  const found = await rows(
    tx,
    mailOfRun,
    sql`WITH locked AS (
          SELECT d.id FROM deliveries d WHERE d.run_id = ${run.id}::uuid AND d.owner_id = ${run.ownerId}::uuid AND d.pulled_by_run_id IS NULL AND ${state} ORDER BY d.id FOR UPDATE)
        SELECT d.id, array_agg(x.invoice_id::text) FILTER (WHERE ${wanted}) AS wanted, (count(*) FILTER (WHERE NOT ${wanted}))::int AS others
        FROM locked d JOIN delivery_invoices x ON x.delivery_id = d.id
        GROUP BY d.id HAVING bool_or(${wanted}) ORDER BY d.id`,
  )
  for (const { id, wanted: those, others } of found) if (others > 0) await splitOthers(tx, run.ownerId, id, those)
  return found.map(({ id }) => id)
}
