import { sql } from 'drizzle-orm'
import { z } from 'zod'
import { deliveryProblem } from '#contract/delivery-problem.ts'
import { shortName } from '#contract/notices.ts'
import { screens, withQuery } from '#contract/screens.ts'
import { type AccountRow, lockAccount } from '#server/accounts/accounts.ts'
import { emailOwner, type Notification, notify, notifyOwner } from '#server/accounts/notices.ts'
import type { Instant } from '#server/platform/clock.ts'
import { instantText } from '#server/platform/columns.ts'
import { arrayText, type Database, rows } from '#server/platform/database.ts'
import type { Deps } from '#server/platform/deps.ts'
import { heldTooLong, notInTime } from './deliveries.ts'
import { mostNamed } from './holds.ts'
import { readOutlook } from './outlook.ts'
import { addressHeld, notRemindedSince, pausedOn } from './owed.ts'
import { settle } from './progress.ts'
import { dayAfter, startOfDay } from './schedule.ts'
import { texts } from './texts.ts'

/** Runs settled at a time. */
const atOnce = 2_000
/** Accounts notified at a time. */
const notifiedAtOnce = 200
/** Failures older than this many days are not reported. */
const newsDays = 2
/** An invoice whose email failed within this many days is reported only on the screens, not by email again. */
const knownDays = 7

const settledRun = z.object({
  id: z.string(),
  kind: z.string(),
  localDate: z.string(),
  skippedReason: z.string().nullable(),
  createdAt: instantText,
  news: z.boolean(),
})
type SettledRun = z.output<typeof settledRun>

const failedMail = z.object({
  invoiceId: z.string(),
  reference: z.string(),
  clientName: z.string(),
  clientEmail: z.string(),
  /** Its address is held since: that is a notice of its own. */
  addressHeld: z.boolean(),
  /** The mail server's reply; null where it was not asked, or did not answer. */
  reply: z.string().nullable(),
  known: z.boolean(),
})
type FailedMail = z.output<typeof failedMail>

/** A run `r` without open emails that has not been reported yet. */
const over = sql`r.settled_at IS NULL AND (r.planned_at IS NOT NULL OR r.cancelled_at IS NOT NULL)
  AND NOT EXISTS (SELECT 1 FROM deliveries d WHERE d.run_id = r.id AND d.state IN ('queued', 'sending', 'retrying', 'held'))`

/** It was skipped, or an email of it was never delivered. */
const hasNews = sql`(r.skipped_reason IS NOT NULL OR EXISTS (SELECT 1 FROM deliveries d WHERE d.run_id = r.id AND d.state = 'failed'))`

/**
 * Notifies owners, once for each run, of the emails that were never delivered, as soon as none of the run is open any more. Of a manual run
 * only later failures are reported, because the screen showed the immediate ones; held emails are not, because the screens show why all
 * along. An account that fails does not delay the others; its error is thrown at the end.
 */
export async function notifyFailures(deps: Deps): Promise<void> {
  // One statement for both, because it checks every run in progress. Runs without news are settled first: there are few others, or very many.
  const ended = await rows(
    deps.db,
    z.object({ id: z.string(), ownerId: z.string(), news: z.boolean() }),
    sql`SELECT r.id, r.owner_id AS "ownerId", ${hasNews} AS news FROM runs r WHERE ${over} ORDER BY news, r.created_at LIMIT ${atOnce}`,
  )
  const { reported = [], quiet = [] } = Object.groupBy(ended, ({ news }) => (news ? 'reported' : 'quiet'))
  if (quiet.length > 0) await settleQuietly(deps, quiet)
  const failures: unknown[] = []
  for (const ownerId of [...new Set(reported.map((run) => run.ownerId))].slice(0, notifiedAtOnce))
    await deps.db.transaction((tx) => settleRuns(tx, deps, ownerId)).catch((error: unknown) => failures.push(error))
  if (failures.length > 0) throw new AggregateError(failures, 'Some owners could not be notified of their failures.')
}

/** Settles runs that leave nothing to report, in one statement; a daily one withdraws older notices all the same. */
async function settleQuietly({ db, clock }: Deps, ended: { id: string }[]): Promise<void> {
  const quiet = sql`
    SELECT r.id FROM runs r WHERE r.id = ANY(${arrayText(ended.map(({ id }) => id))}::uuid[]) AND ${over} AND NOT ${hasNews}
    ORDER BY r.id FOR UPDATE SKIP LOCKED`
  await db.execute(sql`
    WITH quiet AS (
      ${settle(quiet, clock.now(), sql`q.owner_id, q.kind, q.created_at`)})
    DELETE FROM notices n USING quiet
    WHERE quiet.kind = 'daily' AND n.owner_id = quiet.owner_id AND n.kind = 'not_delivered' AND n.created_at < quiet.created_at`)
}

async function settleRuns(tx: Database, deps: Deps, ownerId: string): Promise<void> {
  const now = deps.clock.now()
  const account = await lockAccount(tx, ownerId)
  if (!account) return
  const settled = await rows(
    tx,
    settledRun,
    sql`WITH settled AS (${settle(sql`SELECT r.id FROM runs r WHERE r.owner_id = ${ownerId}::uuid AND ${over}`, now, sql`q.*`)})
        SELECT id, kind, local_date::text AS "localDate", skipped_reason AS "skippedReason", created_at AS "createdAt",
          created_at > ${now.subtract({ hours: 24 * newsDays }).toString()}::timestamptz AS news
        FROM settled ORDER BY created_at, local_date`,
  )
  const news = settled.filter((run) => run.news)
  const leftOut: SettledRun[] = []
  for (const run of news)
    if (run.skippedReason === texts.skipped.notRunning && (await wasSomebodyDue(tx, account, run.localDate))) leftOut.push(run)
  const [firstOut] = leftOut
  if (firstOut) {
    const { next } = await readOutlook(tx, account, now, deps.config)
    await withdrawOlder(tx, ownerId, firstOut)
    await notifyOwner(tx, deps, account, daysLeftOut(leftOut, next), now)
  }
  for (const run of news.filter(({ skippedReason }) => skippedReason === null)) await notifyOf(tx, deps, account, run)
}

async function notifyOf(tx: Database, deps: Deps, account: AccountRow, run: SettledRun): Promise<void> {
  const now = deps.clock.now()
  const all = await readFailed(tx, run, now)
  const [refused] = all.filter((one) => one.addressHeld)
  const failed = all.filter((one) => !one.addressHeld)
  const [first] = failed
  if (run.kind === 'daily') await withdrawOlder(tx, account.id, run, first && missedDays)
  if (refused && !isWatched(run))
    await emailOwner(tx, deps, account, { kind: 'address_refused', link: screens.invoice(refused.invoiceId) }, now)
  if (!first) return
  const { next } = await readOutlook(tx, account, now, deps.config)
  const notification = notDelivered(run, failed, first, next)
  if (failed.some(({ known }) => !known)) await notifyOwner(tx, deps, account, notification, now)
  else await notify(tx, account.id, notification, now)
}

/** A newer run shows the current state, so older notices are withdrawn: all, or those of one cause. */
async function withdrawOlder(tx: Database, ownerId: string, run: SettledRun, cause?: string): Promise<void> {
  const which = cause === undefined ? sql`` : sql`AND cause = ${cause}`
  await tx.execute(
    sql`DELETE FROM notices WHERE owner_id = ${ownerId}::uuid AND kind = 'not_delivered' ${which} AND updated_at < ${run.createdAt}::timestamptz`,
  )
}

/** Whether someone pressed a button for it and saw the immediate refusals. */
function isWatched({ kind }: SettledRun): boolean {
  return kind !== 'daily' && kind !== 'trigger'
}

/**
 * The emails of a run that were never sent though nothing held them, of invoices still owed and not reminded since; one line for each
 * email.
 */
async function readFailed(tx: Database, run: SettledRun, now: Instant): Promise<FailedMail[]> {
  return rows(
    tx,
    failedMail,
    sql`SELECT DISTINCT ON (d.created_at, d.id) i.id AS "invoiceId", i.reference, d.reason = 'refused' AND ${addressHeld} AS "addressHeld", i.client_name AS "clientName", d.client_email AS "clientEmail",
          nullif(d.server_reply, ${notInTime}) AS reply,
          EXISTS (SELECT 1 FROM delivery_invoices o JOIN deliveries e ON e.id = o.delivery_id
            WHERE o.invoice_id = i.id AND e.run_id <> d.run_id AND e.state = 'failed' AND e.reason IS DISTINCT FROM ${heldTooLong}
              AND e.created_at > ${now.subtract({ hours: 24 * knownDays }).toString()}::timestamptz) AS known
        FROM deliveries d JOIN delivery_invoices di ON di.delivery_id = d.id JOIN invoices i ON i.id = di.invoice_id
        WHERE d.run_id = ${run.id}::uuid AND d.state = 'failed' AND (NOT ${isWatched(run)}::boolean OR d.reason IN ('too_late', 'poisoned') OR d.attempt > 1) AND d.reason IS DISTINCT FROM ${heldTooLong} AND i.status <> 'paid' AND i.deleted_at IS NULL
          AND ${notRemindedSince}
        ORDER BY d.created_at, d.id, i.due_date, i.id`,
  )
}

/** Whether an invoice missed its reminder on that date. */
async function wasSomebodyDue(tx: Database, account: AccountRow, localDate: string): Promise<boolean> {
  const [began, ended] = [localDate, dayAfter(localDate)].map((date) => startOfDay(date, account.timezone).toString())
  const due = await rows(
    tx,
    z.object({ id: z.string() }),
    sql`SELECT i.id FROM invoices i
        WHERE i.owner_id = ${account.id}::uuid AND i.status <> 'paid' AND i.deleted_at IS NULL AND i.due_date < ${localDate}::date
          AND NOT ${pausedOn(localDate)} AND NOT ${addressHeld}
          AND (i.last_reminder_at IS NULL OR i.last_reminder_at < ${began}::timestamptz OR i.last_reminder_at >= ${ended}::timestamptz) LIMIT 1`,
  )
  return due.length > 0
}

/** A sentence stored in place of a mail server's reply. */
function isOurs(reply: string): boolean {
  return reply === texts.tooLarge || reply === texts.setAside
}

/** The most clients that the text of a notice names. */
const namedInText = 3

function notDelivered(run: SettledRun, failed: FailedMail[], first: FailedMail, next: string): Notification {
  const t = texts.notDelivered
  // A client may have several emails in a run.
  const clients = [...Map.groupBy(failed, ({ clientEmail }) => clientEmail.toLowerCase()).values()].flatMap(([its]) => its ?? [])
  const shared = {
    kind: 'not_delivered' as const,
    link: withQuery(screens.reminderControl, { run: run.id }),
    clients: clients.slice(0, mostNamed).map(({ clientName, invoiceId, reference }) => ({ clientName, invoiceId, reference })),
  }
  const causes = [...new Set(clients.map(({ clientName, reply }) => t.named(clientName, deliveryProblem(reply ?? notInTime).words)))]
  if (failed.length > 1)
    return {
      ...shared,
      summary: t.several(failed.length),
      title: t.several(failed.length),
      text: t.list(causes.slice(0, namedInText), Math.max(0, causes.length - namedInText)),
    }
  const { clientName, clientEmail, reply } = first
  const text = reply === null ? `${t.late} ${next}` : isOurs(reply) ? reply : t.rejected(clientEmail, reply)
  const summary = t.named(shortName(clientName), deliveryProblem(reply ?? notInTime).words)
  return { ...shared, summary, title: t.one(clientName), text }
}

/** The cause of the notice about days without a run: one notice, however many days are missing. */
const missedDays = 'days'

function daysLeftOut(runs: SettledRun[], next: string): Notification {
  const [first, last = first] = [runs[0], runs.at(-1)].map((run) => run?.localDate ?? '')
  const t = texts.daysLeftOut
  const title = runs.length === 1 ? t.one(last ?? '') : t.several(runs.length)
  const why = runs.length === 1 ? texts.skipped.notRunning : t.between(first ?? '', last ?? '')
  return {
    kind: 'not_delivered',
    cause: missedDays,
    summary: title,
    title,
    text: `${why} ${next}`,
    link: withQuery(screens.reminderControl, { run: runs.at(-1)?.id }),
  }
}
