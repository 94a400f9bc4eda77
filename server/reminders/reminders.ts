import { setTimeout as pause } from 'node:timers/promises'
import { and, desc, eq, isNotNull, isNull, sql } from 'drizzle-orm'
import type { FastifyReply } from 'fastify'
import { z } from 'zod'
import type { CallReply } from '#contract/call.ts'
import { fromMinor } from '#contract/money.ts'
import { holdReasonOf, type PreviewLine, type Run, type RunAnswer, type reminderCalls } from '#contract/reminders.ts'
import { lockAsSeen, maySend, type OnAccountTakeover, refuseUnconfirmed } from '#server/accounts/accounts.ts'
import { accounts } from '#server/accounts/tables.ts'
import { entitlementsOf, refuseWithout } from '#server/billing/billing.ts'
import { findSender, hasMailConfig, type Sender, toMailConfig } from '#server/mail/mail.ts'
import type { Account } from '#server/platform/answer.ts'
import type { Instant } from '#server/platform/clock.ts'
import { instantText } from '#server/platform/columns.ts'
import { type Database, rows } from '#server/platform/database.ts'
import type { Deps } from '#server/platform/deps.ts'
import type { Queue } from '#server/platform/job.ts'
import { ProblemError } from '#server/platform/problem-error.ts'
import { releaseRestored } from './holds.ts'
import { pausedOn } from './owed.ts'
import { findTrouble } from './processes.ts'
import { answerOf, findRun, refuseTotalFailure, toRun } from './progress.ts'
import { cancelRun, cancelRuns, decide, makeRun, sendNowPerDay } from './runs.ts'
import {
  apartFrom,
  dayBeforeOf,
  daysOverdue,
  firstDateAfterStart,
  laterDate,
  localDate,
  nextReminder,
  nextRun,
  startOfDay,
} from './schedule.ts'
import { runs } from './tables.ts'
import { texts } from './texts.ts'

/** A Send Now this soon after another one counts as the same press of the button, in seconds. */
const samePressSeconds = 60

/** How long a call waits for its run; afterwards the screen polls it. */
const longestWaitMilliseconds = 20_000

const nothingDue: RunAnswer = { count: 0, failed: 0, skipped: 0, retrying: 0, total: 0, invoices: 0, runId: null, failures: [] }

interface Asking {
  db: Database
  queue: Queue
  account: Account
  now: Instant
  config: Deps['config']
}

/**
 * Turns daily reminders on and makes the first run, in one transaction. Returns the run, or null where nothing is due. Refuses with
 * `mail_not_configured`, `email_not_confirmed`, and with `plan_limit` where the plan has no daily reminders.
 */
export async function startReminders({ db, queue, account, now, config }: Asking): Promise<string | null> {
  return db.transaction(async (tx) => {
    const locked = await lockAsSeen(tx, account)
    if (!(await hasMailConfig(tx, account.id))) throw new ProblemError('mail_not_configured', texts.noMailboxToStart)
    refuseUnconfirmed(config, locked)
    await refuseWithout('scheduling', tx, account.id, now, config)
    if (!locked.remindersActive) {
      const next = nextRun(locked, { now, notBefore: firstDateAfterStart(locked, now), lastRunAt: apartFrom(locked) })
      await tx
        .update(accounts)
        .set({ remindersActive: true, nextRunAt: next.at, nextRunFrom: next.date })
        .where(eq(accounts.id, account.id))
    }
    const run = await makeRun(tx, queue, locked, { kind: 'start', now })
    return run?.id ?? null
  })
}

/** Turns daily reminders off and cancels every open run; emails in flight are still sent. Returns how many were cancelled. */
export async function stopReminders({ db, account, now }: Omit<Asking, 'queue' | 'config'>): Promise<number> {
  return db.transaction(async (tx) => {
    await lockAsSeen(tx, account)
    await turnOff(tx, account.id)
    return cancelRuns(tx, account.id, now)
  })
}

/** Reminds of every invoice past due now. A second press within a minute gets the run of the first. Refuses with `mail_not_configured`, `email_not_confirmed`. */
export async function sendNow({ db, queue, account, now, config }: Asking): Promise<string | null> {
  return db.transaction(async (tx) => {
    const locked = await lockAsSeen(tx, account)
    if (!(await hasMailConfig(tx, account.id))) throw new ProblemError('mail_not_configured', texts.noMailboxToSend)
    refuseUnconfirmed(config, locked)
    const [same] = await tx
      .select({ id: runs.id })
      .from(runs)
      .where(
        and(
          eq(runs.ownerId, account.id),
          eq(runs.kind, 'send_now'),
          isNull(runs.cancelledAt),
          sql`${runs.createdAt} > ${now.subtract({ seconds: samePressSeconds }).toString()}::timestamptz`,
          // Of simultaneous presses the last may be served first. A run further ahead was made before the clock was set back.
          sql`${runs.createdAt} < ${now.add({ seconds: samePressSeconds }).toString()}::timestamptz`,
        ),
      )
      .orderBy(desc(runs.createdAt))
      .limit(1)
    if (same) return same.id
    const run = await makeRun(tx, queue, locked, { kind: 'send_now', now })
    return run?.id ?? null
  })
}

/**
 * Reminds of every invoice past due that was not reminded today. Where nothing is left to send it makes no run, or repeated API calls would
 * fill the list of runs; then it returns how many were skipped. Refuses with `mail_not_configured`, `email_not_confirmed`.
 */
export async function triggerReminders({ db, queue, account, now, config }: Asking): Promise<{ runId: string | null; skipped: number }> {
  return db.transaction(async (tx) => {
    const locked = await lockAsSeen(tx, account)
    if (!(await hasMailConfig(tx, account.id))) throw new ProblemError('mail_not_configured', texts.noMailboxToSend)
    refuseUnconfirmed(config, locked)
    const run = await makeRun(tx, queue, locked, { kind: 'trigger', now })
    if (!run) return { runId: null, skipped: 0 }
    const [empty] = await tx
      .delete(runs)
      .where(and(eq(runs.id, run.id), isNotNull(runs.plannedAt), sql`NOT EXISTS (SELECT 1 FROM deliveries d WHERE d.run_id = ${runs.id})`))
      .returning({ skipped: runs.skipped })
    return empty ? { runId: null, ...empty } : { runId: run.id, skipped: 0 }
  })
}

/**
 * Replies when nothing of the run is left to try at this moment, or after 20 s with 202. `skipped`: how many were skipped where there is no
 * run. Refuses with `mail_refused` where every email was permanently refused.
 */
export async function follow(
  { db, clock }: Pick<Deps, 'db' | 'clock'>,
  account: Account,
  runId: string | null,
  reply: FastifyReply,
  skipped = 0,
): Promise<RunAnswer> {
  if (runId === null) return { ...nothingDue, skipped, total: skipped }
  const began = performance.now()
  for (let wait = 25; ; wait = Math.min(wait * 1.5, 250)) {
    const { settled, answer } = await answerOf(db, account.id, runId, clock.now())
    if (settled) refuseTotalFailure(answer)
    const late = performance.now() - began > longestWaitMilliseconds
    if (late) reply.status(202)
    if (settled || late) return answer
    await pause(wait)
  }
}

/**
 * Sends again the emails that failed in a run, in a run of its own. If emails of it are held since a restore, these are released instead,
 * in their own run. Refuses with `mail_not_configured`, `email_not_confirmed` and `not_found`.
 */
export async function retryRun({ db, queue, account, now, config }: Asking, runId: string): Promise<string | null> {
  return db.transaction(async (tx) => {
    const locked = await lockAsSeen(tx, account)
    const failed = await findRun(tx, account.id, runId)
    if (!(await hasMailConfig(tx, account.id))) throw new ProblemError('mail_not_configured', texts.noMailboxToSend)
    refuseUnconfirmed(config, locked)
    if ((await releaseRestored(tx, queue, { ownerId: account.id, runId: failed.id }, now)) > 0) return failed.id
    const run = await makeRun(tx, queue, locked, { kind: 'retry', now, retryOf: failed.id })
    return run?.id ?? null
  })
}

/** Cancels what is left of a run; emails in flight are still sent. */
export async function stopRun({ db, account, now }: Omit<Asking, 'queue' | 'config'>, runId: string): Promise<Run> {
  await db.transaction(async (tx) => {
    await lockAsSeen(tx, account)
    const { id } = await findRun(tx, account.id, runId)
    await cancelRun(tx, account.id, id, now)
  })
  return toRun(db, await findRun(db, account.id, runId), now)
}

/** Changes how reminders are sent. A run in progress continues as it was made. */
export async function changeSettings(
  db: Database,
  account: Account,
  change: { groupByClient?: boolean | undefined },
): Promise<{ groupByClient: boolean }> {
  const groupByClient = change.groupByClient ?? account.groupByClient
  await db.update(accounts).set({ groupByClient }).where(eq(accounts.id, account.id))
  return { groupByClient }
}

/** Turns daily reminders off and cancels every waiting email. */
export const remindersOnAccountTakeover: OnAccountTakeover = async (tx, ownerId, now) => {
  const [before] = await tx.select({ active: accounts.remindersActive }).from(accounts).where(eq(accounts.id, ownerId))
  await turnOff(tx, ownerId)
  const cancelled = await cancelRuns(tx, ownerId, now)
  return { removed: [...(before?.active ? (['schedule'] as const) : []), ...(cancelled > 0 ? (['waiting_emails'] as const) : [])] }
}

async function turnOff(tx: Database, ownerId: string): Promise<void> {
  await tx.update(accounts).set({ remindersActive: false, nextRunAt: null, nextRunFrom: null }).where(eq(accounts.id, ownerId))
}

/** The last runs, newest first. */
export async function listRuns(db: Database, account: Account, limit: number, now: Instant): Promise<Run[]> {
  const found = await db.select().from(runs).where(eq(runs.ownerId, account.id)).orderBy(desc(runs.createdAt), desc(runs.id)).limit(limit)
  const listed: Run[] = []
  for (const run of found) listed.push(await toRun(db, run, now))
  return listed
}

/** Whether the schedule is on, when it runs next, when an email was last accepted, and what blocks it. */
export async function reminderStatus(
  { db, config }: Pick<Deps, 'db' | 'config'>,
  account: Account,
  now: Instant,
): Promise<CallReply<typeof reminderCalls.status>> {
  const [last] = await rows(
    db,
    z.object({ sentAt: instantText.nullable(), openRunId: z.string().nullable() }),
    sql`SELECT
      (SELECT max(sent_at) FROM deliveries WHERE owner_id = ${account.id}::uuid AND state = 'sent') AS "sentAt",
      (SELECT r.id FROM runs r WHERE r.owner_id = ${account.id}::uuid AND r.cancelled_at IS NULL
         AND (r.planned_at IS NULL OR EXISTS (SELECT 1 FROM deliveries d WHERE (d.run_id = r.id OR d.pulled_by_run_id = r.id) AND d.state IN ('queued', 'sending')))
       ORDER BY r.created_at DESC LIMIT 1) AS "openRunId"`,
  )
  const sender = await findSender(db, account.id)
  const { abilities } = await entitlementsOf(db, account.id, now, config)
  const schedule = scheduleOf(account, sender, { now, confirmed: maySend(config, account), withinPlan: abilities.includes('scheduling') })
  return {
    isActive: account.remindersActive,
    lastReminderSent: last?.sentAt ?? null,
    nextRunAt: account.nextRunAt?.toString() ?? null,
    reason: 'reason' in schedule ? schedule.reason : null,
    timezone: account.timezone,
    reminderHour: account.reminderHour,
    pause: toMailConfig(sender).pause,
    trouble: await findTrouble(db, now),
    openRunId: last?.openRunId ?? null,
  }
}

const owedLine = z.object({
  invoiceId: z.string(),
  reference: z.string(),
  clientName: z.string(),
  clientEmail: z.string(),
  amountMinor: z.coerce.number(),
  dueDate: z.string(),
  remindedToday: z.number(),
  byHandToday: z.number(),
  openTryAt: instantText.nullable(),
  open: z.boolean(),
  heldFor: z.string().nullable(),
  paused: z.boolean(),
  /** The last day of the pause, where it has one. */
  pausedUntil: z.string().nullable(),
})

/** What would be sent now, and for every unpaid invoice (or the `only` one) its next reminder or the reason for none. */
export async function previewReminders(
  { db, config }: Pick<Deps, 'db' | 'config'>,
  account: Account,
  now: Instant,
  only?: string,
): Promise<CallReply<typeof reminderCalls.preview>> {
  const today = localDate(now, account.timezone)
  const dayBegan = startOfDay(today, account.timezone).toString()
  // An email sent today may have been made in the last hours of yesterday.
  const dayBefore = startOfDay(dayBeforeOf(today), account.timezone).toString()
  const sender = await findSender(db, account.id)
  const owed = await rows(
    db,
    owedLine,
    sql`SELECT i.id AS "invoiceId", i.reference, i.client_name AS "clientName", i.client_email AS "clientEmail", i.amount_minor AS "amountMinor", i.due_date::text AS "dueDate",
          CASE WHEN i.last_reminder_at >= ${dayBegan}::timestamptz THEN t.sent ELSE 0 END AS "remindedToday",
          CASE WHEN i.last_reminder_at >= ${dayBegan}::timestamptz OR o.id IS NOT NULL THEN t.by_hand ELSE 0 END AS "byHandToday",
          o.next_try_at AS "openTryAt", o.id IS NOT NULL AS open, CASE WHEN o.state = 'held' THEN coalesce(o.reason, '') END AS "heldFor",
          ${pausedOn(today)} AS paused,
          CASE WHEN (i.paused_at IS NULL OR i.paused_until IS NOT NULL) AND (cp.paused_at IS NULL OR cp.paused_until IS NOT NULL)
            THEN greatest(i.paused_until, cp.paused_until)::text END AS "pausedUntil"
        FROM invoices i
        LEFT JOIN client_pauses cp ON cp.owner_id = i.owner_id AND cp.client_key = lower(i.client_email)
        LEFT JOIN delivery_invoices oi ON oi.invoice_id = i.id AND oi.open LEFT JOIN deliveries o ON o.id = oi.delivery_id
        LEFT JOIN LATERAL (
          SELECT count(*) FILTER (WHERE d.state = 'sent' AND d.sent_at >= ${dayBegan}::timestamptz)::int AS sent,
            count(*) FILTER (WHERE r.kind = 'send_now' AND r.local_date = ${today}::date AND d.state IN ('queued', 'sending', 'sent', 'retrying', 'held'))::int AS by_hand
          FROM delivery_invoices di JOIN deliveries d ON d.id = di.delivery_id JOIN runs r ON r.id = coalesce(d.pulled_by_run_id, d.run_id)
          WHERE di.invoice_id = i.id AND d.created_at >= ${dayBefore}::timestamptz) t ON i.last_reminder_at >= ${dayBegan}::timestamptz OR o.id IS NOT NULL
        WHERE i.owner_id = ${account.id}::uuid AND i.deleted_at IS NULL AND i.status <> 'paid' ${only === undefined ? sql`` : sql`AND i.id = ${only}::uuid`}
        ORDER BY i.due_date, i.id`,
  )
  const { abilities } = await entitlementsOf(db, account.id, now, config)
  const schedule = scheduleOf(account, sender, { now, confirmed: maySend(config, account), withinPlan: abilities.includes('scheduling') })
  const lines = owed.map((one): PreviewLine => {
    const pastDue = one.dueDate < today
    const facts = {
      paused: one.paused,
      remindedToday: one.remindedToday > 0,
      refusedToday: false,
      openMail: one.open,
      byHandToday: one.byHandToday,
    }
    return {
      invoiceId: one.invoiceId,
      reference: one.reference,
      clientName: one.clientName,
      clientEmail: one.clientEmail,
      amount: fromMinor(one.amountMinor),
      dueDate: one.dueDate,
      daysOverdue: Math.max(0, daysOverdue(one.dueDate, today)),
      dueNow: pastDue && decide('start', facts) === 'write',
      remindedToday: one.remindedToday,
      heldFor: one.heldFor === null ? null : holdReasonOf(one.heldFor),
      sendNowLeft: pastDue && ['write', 'pull'].includes(decide('send_now', facts)) ? sendNowPerDay - one.byHandToday : 0,
      ...nextOf({ one, today, schedule, account, now }),
    }
  })
  const mailsFor = (some: PreviewLine[]) =>
    account.groupByClient ? new Set(some.map(({ clientEmail }) => clientEmail.toLowerCase())).size : some.length
  return {
    mails: mailsFor(lines.filter(({ dueNow }) => dueNow)),
    total: fromMinor(owed.reduce((sum, one, at) => (lines[at]?.dueNow ? sum + one.amountMinor : sum), 0)),
    sendNowMails: mailsFor(lines.filter(({ sendNowLeft }) => sendNowLeft > 0)),
    remindedToday: lines.filter(({ remindedToday }) => remindedToday > 0).length,
    lines,
  }
}

type NextRun = { reason: NonNullable<CallReply<typeof reminderCalls.status>['reason']> } | { at: Instant; date: string }

function scheduleOf(account: Account, sender: Sender | null, about: { now: Instant; confirmed: boolean; withinPlan: boolean }): NextRun {
  if (!account.remindersActive || !account.nextRunAt) return { reason: 'schedule_inactive' }
  if (account.heldAt) return { reason: 'operator' }
  if (!about.confirmed) return { reason: 'email_not_confirmed' }
  if (!about.withinPlan) return { reason: 'plan' }
  if (!sender) return { reason: 'not_configured' }
  if (sender.pauseReason) return { reason: 'sending_paused' }
  return nextRun(account, { now: about.now, notBefore: localDate(account.nextRunAt, account.timezone), lastRunAt: apartFrom(account) })
}

function nextOf(about: {
  one: z.output<typeof owedLine>
  today: string
  schedule: NextRun
  account: Account
  now: Instant
}): Pick<PreviewLine, 'nextAt' | 'reason'> {
  const { one, today, schedule, account, now } = about
  if (one.open) return { nextAt: one.heldFor === null ? one.openTryAt : null, reason: 'open_mail' }
  if (one.paused && one.pausedUntil === null) return { nextAt: null, reason: 'paused' }
  if ('reason' in schedule) return { nextAt: null, reason: one.paused ? 'paused' : schedule.reason }
  const quietUntil = one.paused && one.pausedUntil !== null ? laterDate(one.dueDate, one.pausedUntil) : one.dueDate
  const at = nextReminder(account, { next: schedule, quietUntil, today, remindedToday: one.remindedToday > 0, now })
  return { nextAt: at.toString(), reason: one.paused ? 'paused' : null }
}
