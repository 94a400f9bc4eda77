import { and, eq, type SQL, sql } from 'drizzle-orm'
import { z } from 'zod'
import { deliveryProblem } from '#contract/delivery-problem.ts'
import { holdReason, type Run, type RunAnswer } from '#contract/reminders.ts'
import type { Instant } from '#server/platform/clock.ts'
import { instantText } from '#server/platform/columns.ts'
import { type Database, preparedRows, rows } from '#server/platform/database.ts'
import { ProblemError } from '#server/platform/problem-error.ts'
import { notRemindedSince } from './owed.ts'
import { runs } from './tables.ts'
import { texts } from './texts.ts'

/** The most failures that a reply lists. */
const mostFailures = 100

const tally = z.object({
  sent: z.number(),
  failed: z.number(),
  dropped: z.number(),
  open: z.number(),
  retrying: z.number(),
  held: z.number(),
  holdReason: holdReason.nullable(),
  nextTryAt: instantText.nullable(),
  lastChangeAt: instantText.nullable(),
})

/** The emails of a run: its own, and those it pulled forward. */
const ofRun = (runId: string | SQL) => sql`(d.run_id = ${runId}::uuid OR d.pulled_by_run_id = ${runId}::uuid)`

/** Settles the runs `r` that `which` names, with their counts, and returns `columns` of each run `q`. */
export function settle(which: SQL, now: Instant, columns: SQL): SQL {
  return sql`UPDATE runs q SET settled_at = ${now.toString()}::timestamptz, last_sent_at = t.last_sent_at,
      sent = CASE WHEN NOT t.open THEN t.sent END, failed = CASE WHEN NOT t.open THEN t.failed END, dropped = CASE WHEN NOT t.open THEN t.dropped END
    FROM (${which}) settled CROSS JOIN LATERAL (
      SELECT count(*) FILTER (WHERE d.state = 'sent')::int AS sent, count(*) FILTER (WHERE d.state = 'failed')::int AS failed,
        count(*) FILTER (WHERE d.state IN ('cancelled', 'superseded'))::int AS dropped, max(d.sent_at) AS last_sent_at,
        coalesce(bool_or(d.state IN ('queued', 'sending', 'retrying', 'held')), false) AS open
      FROM deliveries d WHERE ${ofRun(sql`settled.id`)}) t
    WHERE q.id = settled.id RETURNING ${columns}`
}

/** Counts an open run; a settled one has its counts. */
async function count(db: Database, run: RunRow): Promise<z.output<typeof tally>> {
  const { sent, failed, dropped } = run
  if (sent !== null && failed !== null && dropped !== null) {
    const open = { open: 0, retrying: 0, held: 0, holdReason: null, nextTryAt: null }
    return { sent, failed, dropped, ...open, lastChangeAt: run.lastSentAt?.toString() ?? null }
  }
  const [found] = await rows(
    db,
    tally,
    sql`SELECT count(*) FILTER (WHERE d.state = 'sent')::int AS sent,
          count(*) FILTER (WHERE d.state = 'failed')::int AS failed,
          count(*) FILTER (WHERE d.state IN ('cancelled', 'superseded'))::int AS dropped,
          count(*) FILTER (WHERE d.state IN ('queued', 'sending', 'retrying', 'held'))::int AS open,
          count(*) FILTER (WHERE d.state = 'retrying')::int AS retrying,
          count(*) FILTER (WHERE d.state = 'held')::int AS held,
          min(d.reason) FILTER (WHERE d.state = 'held') AS "holdReason",
          min(d.next_try_at) FILTER (WHERE d.state IN ('queued', 'retrying')) AS "nextTryAt",
          max(d.sent_at) AS "lastChangeAt"
        FROM deliveries d WHERE ${ofRun(run.id)}`,
  )
  return tally.parse(found)
}

const failure = z.object({
  invoiceId: z.string(),
  reference: z.string(),
  clientName: z.string(),
  clientEmail: z.string(),
  message: z.string(),
  canRetry: z.boolean(),
})

async function failures(db: Database, runId: string): Promise<Run['failures']> {
  const found = await rows(
    db,
    failure,
    sql`SELECT i.id AS "invoiceId", i.reference, i.client_name AS "clientName", d.client_email AS "clientEmail", coalesce(d.server_reply, '') AS message,
          i.status <> 'paid' AND i.deleted_at IS NULL AND ${notRemindedSince} AS "canRetry"
        FROM deliveries d JOIN delivery_invoices di ON di.delivery_id = d.id JOIN invoices i ON i.id = di.invoice_id
        WHERE ${ofRun(runId)} AND d.state = 'failed' ORDER BY d.id LIMIT ${mostFailures}`,
  )
  return found.map((one) => ({ ...one, words: deliveryProblem(one.message).words }))
}

type RunRow = typeof runs.$inferSelect

/** A run as the screens show it. */
export async function toRun(db: Database, run: RunRow): Promise<Run> {
  const counted = await count(db, run)
  const finished = run.plannedAt !== null && counted.open === 0
  return {
    _id: run.id,
    kind: run.kind,
    localDate: run.localDate,
    startedAt: run.createdAt.toString(),
    finishedAt: finished ? (counted.lastChangeAt ?? run.plannedAt?.toString() ?? null) : null,
    cancelledAt: run.cancelledAt?.toString() ?? null,
    leavesAt: run.leavesAt?.toString() ?? null,
    skippedReason: run.skippedReason,
    total: counted.sent + counted.failed + counted.dropped + counted.open + run.skipped,
    sent: counted.sent,
    failed: counted.failed,
    skipped: counted.dropped + run.skipped,
    open: counted.open,
    retrying: counted.retrying,
    held: counted.held,
    holdReason: counted.holdReason,
    nextTryAt: counted.nextTryAt,
    failures: counted.failed > 0 ? await failures(db, run.id) : [],
  }
}

export async function findRun(db: Database, ownerId: string, runId: string): Promise<RunRow> {
  const [run] = await db
    .select()
    .from(runs)
    .where(and(eq(runs.ownerId, ownerId), sql`${runs.id}::text = ${runId}`))
  if (!run) throw new ProblemError('not_found', texts.noRun)
  return run
}

/** Whether a run has nothing left to try at this moment. A call that waits for that asks often, so it reads up to the first such email only. */
export async function isSettled(db: Database, runId: string, now: Instant): Promise<boolean> {
  const [found] = await preparedRows(
    db,
    z.object({ settled: z.boolean() }),
    sql`SELECT (r.planned_at IS NOT NULL OR r.cancelled_at IS NOT NULL) AND NOT EXISTS (SELECT 1 FROM deliveries d
          WHERE ${ofRun(runId)} AND (d.state = 'sending' OR (d.state IN ('queued', 'retrying') AND d.next_try_at <= ${now.toString()}::timestamptz))) AS settled
        FROM runs r WHERE r.id = ${runId}::uuid`,
  )
  return found?.settled ?? true
}

/** The reply of Start, Send Now and trigger. */
export async function answerOf(db: Database, ownerId: string, runId: string): Promise<RunAnswer> {
  const run = await findRun(db, ownerId, runId)
  const counted = await count(db, run)
  const skipped = counted.dropped + run.skipped
  return {
    count: counted.sent,
    failed: counted.failed,
    skipped,
    retrying: counted.open,
    total: counted.sent + counted.failed + skipped + counted.open,
    invoices: await countInvoices(db, runId),
    runId,
    failures: counted.failed > 0 ? await failures(db, runId) : [],
  }
}

async function countInvoices(db: Database, runId: string): Promise<number> {
  const [found] = await rows(
    db,
    z.object({ count: z.number() }),
    sql`SELECT coalesce(sum(x.invoices), 0)::int AS count FROM deliveries d
        JOIN LATERAL (SELECT count(*) AS invoices FROM delivery_invoices WHERE delivery_id = d.id) x ON true WHERE ${ofRun(runId)}`,
  )
  return found?.count ?? 0
}

/** A run of which every email was permanently refused is answered with an error that quotes the mail server. */
export function refuseTotalFailure(answer: RunAnswer): void {
  // A skipped client had a reminder, or one is pending: then not every email was refused.
  if (answer.failed === 0 || answer.failed < answer.total) return
  const words = [...new Set(answer.failures.map(({ message }) => message))]
  const [first = ''] = words
  throw new ProblemError('mail_refused', first === texts.tooLarge ? first : texts.allRejected(first, words.length - 1))
}
