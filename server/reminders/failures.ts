import { sql } from 'drizzle-orm'
import { z } from 'zod'
import { formatDate } from '#contract/dates.ts'
import type { Notice } from '#contract/notices.ts'
import { lockAccount } from '#server/accounts/accounts.ts'
import { notify, tellOwner, withdraw } from '#server/accounts/notices.ts'
import type { Account } from '#server/platform/answer.ts'
import type { Instant } from '#server/platform/clock.ts'
import { type Database, rows } from '#server/platform/database.ts'
import type { Deps } from '#server/platform/deps.ts'
import { notRunning, pausedOn } from './due.ts'

/** Runs are looked through so many at a time. */
const atOnce = 200
/** What is older than so many days is no news. */
const newsDays = 2
/** An invoice whose mail failed within so many days before is not worth another mail to the owner, only the notice on the screens. */
const knownDays = 7

type Told = Pick<Notice, 'kind' | 'title' | 'text' | 'link'>

const settledRun = z.object({ kind: z.string(), localDate: z.string(), skippedReason: z.string().nullable(), news: z.boolean() })

const failedMail = z.object({
  invoiceId: z.string(),
  clientName: z.string(),
  clientEmail: z.string(),
  reply: z.string().nullable(),
  known: z.boolean(),
})
type FailedMail = z.output<typeof failedMail>

/**
 * Tells owners, once for each run that nobody presses for (the daily one, and one that a program triggered), what of it was never delivered,
 * as soon as nothing of it is open any more. Mails that were held are not told of: what holds them is on the screens all along.
 */
export async function tellFailures(deps: Deps): Promise<void> {
  const over = await rows(
    deps.db,
    z.object({ id: z.string(), ownerId: z.string() }),
    sql`SELECT r.id, r.owner_id AS "ownerId" FROM runs r
        WHERE r.settled_at IS NULL AND r.kind IN ('daily', 'trigger') AND (r.planned_at IS NOT NULL OR r.cancelled_at IS NOT NULL)
          AND NOT EXISTS (SELECT 1 FROM deliveries d WHERE d.run_id = r.id AND d.state IN ('queued', 'sending', 'retrying', 'held'))
        ORDER BY r.created_at LIMIT ${atOnce}`,
  )
  for (const { id, ownerId } of over) await deps.db.transaction((tx) => settleRun(tx, deps, { id, ownerId }))
}

async function settleRun(tx: Database, deps: Deps, about: { id: string; ownerId: string }): Promise<void> {
  const now = deps.clock.now()
  const account = await lockAccount(tx, about.ownerId)
  const [run] = await rows(
    tx,
    settledRun,
    sql`UPDATE runs SET settled_at = ${now.toString()}::timestamptz WHERE id = ${about.id}::uuid AND settled_at IS NULL
        RETURNING kind, local_date::text AS "localDate", skipped_reason AS "skippedReason",
          created_at > ${now.subtract({ hours: 24 * newsDays }).toString()}::timestamptz AS news`,
  )
  if (!account || !run?.news) return
  if (run.skippedReason !== null) {
    if (run.skippedReason === notRunning && (await wasSomebodyDue(tx, account, run.localDate)))
      await replace(dayLeftOut(run.localDate), true)
    return
  }
  const failed = await readFailed(tx, about.id, now)
  const [first] = failed
  if (first)
    await replace(
      notDelivered(failed, first),
      failed.some(({ known }) => !known),
    )
  else if (run.kind === 'daily') await withdraw(tx, about.ownerId, ['not_delivered'])

  async function replace(notice: Told, byMail: boolean): Promise<void> {
    if (!account) return
    // The newest says how things stand.
    await withdraw(tx, about.ownerId, ['not_delivered'])
    if (byMail) await tellOwner(tx, deps, account, notice, now)
    else await notify(tx, account.id, notice, now)
  }
}

/** The mails of a run that a mail server was asked about and that never left, of invoices that are still owed; one line for each mail. */
async function readFailed(tx: Database, runId: string, now: Instant): Promise<FailedMail[]> {
  return rows(
    tx,
    failedMail,
    sql`SELECT DISTINCT ON (d.created_at, d.id) i.id AS "invoiceId", i.client_name AS "clientName", d.client_email AS "clientEmail", d.server_reply AS reply,
          EXISTS (SELECT 1 FROM delivery_invoices o JOIN deliveries e ON e.id = o.delivery_id
            WHERE o.invoice_id = i.id AND e.run_id <> d.run_id AND e.state = 'failed'
              AND e.created_at > ${now.subtract({ hours: 24 * knownDays }).toString()}::timestamptz) AS known
        FROM deliveries d JOIN delivery_invoices di ON di.delivery_id = d.id JOIN invoices i ON i.id = di.invoice_id
        WHERE d.run_id = ${runId}::uuid AND d.state = 'failed' AND d.attempt > 0 AND i.status <> 'paid' AND i.deleted_at IS NULL
        ORDER BY d.created_at, d.id, i.due_date, i.id`,
  )
}

/** Whether an invoice was left without its reminder on that date. */
async function wasSomebodyDue(tx: Database, account: Account, localDate: string): Promise<boolean> {
  const due = await rows(
    tx,
    z.object({ id: z.string() }),
    sql`SELECT i.id FROM invoices i
        WHERE i.owner_id = ${account.id}::uuid AND i.status <> 'paid' AND i.deleted_at IS NULL AND i.due_date < ${localDate}::date
          AND NOT ${pausedOn(localDate)}
          AND (i.last_reminder_at IS NULL OR (i.last_reminder_at AT TIME ZONE ${account.timezone})::date <> ${localDate}::date) LIMIT 1`,
  )
  return due.length > 0
}

function notDelivered(failed: FailedMail[], first: FailedMail): Told {
  const said = first.reply === null ? '' : ` The mail server said: ${first.reply}`
  if (failed.length === 1)
    return {
      kind: 'not_delivered',
      title: `The reminder to ${first.clientName} was not delivered`,
      text: `Check the address ${first.clientEmail}, or write to your client yourself.${said}`,
      link: `/dashboard/edit-invoice/${first.invoiceId}`,
    }
  return {
    kind: 'not_delivered',
    title: `${failed.length.toLocaleString('en-IN')} reminders were not delivered`,
    text: `Reminder Control says for each of them why. Of the one to ${first.clientName}:${said || ' the mail server gave no reason.'}`,
    link: '/dashboard/reminder-control',
  }
}

function dayLeftOut(localDate: string): Told {
  return {
    kind: 'not_delivered',
    title: `No reminders went out on ${formatDate(localDate)}`,
    text: `${notRunning} What is still unpaid is reminded with the next daily run.`,
    link: '/dashboard/reminder-control',
  }
}
