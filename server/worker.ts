import { isNotNull, sql } from 'drizzle-orm'
import { pruneReturns } from '#server/accounts/google.ts'
import { pruneLinks, settleLink } from '#server/accounts/links.ts'
import { pruneSessions } from '#server/accounts/sessions.ts'
import { accounts } from '#server/accounts/tables.ts'
import { pruneThrottles } from '#server/accounts/throttle.ts'
import { enqueueDueChecks, processInbox, pruneEvents, type ReconcileDeps, reconcileInBackground } from '#server/billing/billing.ts'
import { pruneFormerAccounts } from '#server/billing/former-accounts.ts'
import { reconcileJob } from '#server/billing/jobs.ts'
import { notifyPlanEnds } from '#server/billing/plan-notifications.ts'
import {
  accountsAtOnce,
  callReceivers,
  composeWebhooks,
  openReceivers,
  pruneGrants,
  pruneWebhookEvents,
  pruneWebhookHosts,
  wakeWebhooks,
} from '#server/integrations/integrations.ts'
import { callReceiversJob, composeWebhooksJob } from '#server/integrations/jobs.ts'
import { pruneIdempotencyKeys } from '#server/invoices/idempotency.ts'
import { pruneDeleted } from '#server/invoices/invoices.ts'
import { turnOverdue } from '#server/invoices/overdue.ts'
import { endPauses } from '#server/invoices/pauses.ts'
import { type Database, isUnavailable } from '#server/platform/database.ts'
import { type Work, work } from '#server/platform/job.ts'
import { type Repeating, repeat } from '#server/platform/repeat.ts'
import { enqueueDueSystemMails, openSystemMailer, systemLinkJob, systemNoticeJob } from '#server/platform/system-mail.ts'
import { pruneSystemMailCounts } from '#server/platform/system-mail-limits.ts'
import { makeDueRuns } from '#server/reminders/daily-runs.ts'
import { closeTooLate, type Delivering, deliver, endQuotaPauses, releaseEnded, wakeDue } from '#server/reminders/deliver.ts'
import { notifyFailures } from '#server/reminders/failures.ts'
import { resumeHeld } from '#server/reminders/holds.ts'
import { deliverJob } from '#server/reminders/jobs.ts'
import { sayNext } from '#server/reminders/outlook.ts'
import {
  beat,
  heartbeatSeconds,
  reclaimAll,
  reclaimDead,
  recordTick,
  registerProcess,
  releaseProcess,
} from '#server/reminders/processes.ts'
import { deleteOldRows, dropOldBytes } from '#server/reminders/retention.ts'
import { mailboxesAtOnce } from '#server/reminders/sending.ts'

/** What is done when a job comes. Mailboxes take turns at the gate: many may wait for slow mail servers at a time. */
export function works(deps: Delivering): Work[] {
  const receivers = openReceivers()
  const sendSystemMail = openSystemMailer(deps, settleLink)
  const reconciling: ReconcileDeps = { ...deps, onPlanChange: (tx, ownerId, now) => resumeHeld(tx, deps.queue, ownerId, now) }
  return [
    work(deliverJob, mailboxesAtOnce, ({ ownerId }, stopping, orphaned) => deliver(deps, ownerId, stopping, orphaned)),
    // Four at a time over two connections. Notices never hold both: a link waits for one of them at most.
    work(systemLinkJob, 3, ({ mailId }) => sendSystemMail(mailId)),
    work(systemNoticeJob, 1, ({ mailId }) => sendSystemMail(mailId)),
    work(reconcileJob, 2, ({ purchaseId }) => reconcileInBackground(reconciling, purchaseId)),
    work(composeWebhooksJob, 2, ({ ownerId }) => composeWebhooks(deps, ownerId)),
    work(callReceiversJob, accountsAtOnce, ({ ownerId }, stopping) => callReceivers(deps, { ownerId, receivers }, stopping)),
  ]
}

/** Milliseconds until the next daily run is due, so that the tick after this one comes in time. */
async function untilNextRun({ db, clock }: Delivering): Promise<number> {
  const [next] = await db
    .select({ at: accounts.nextRunAt })
    .from(accounts)
    .where(isNotNull(accounts.nextRunAt))
    .orderBy(accounts.nextRunAt)
    .limit(1)
  // A run that could not be made is due all the time.
  return next?.at ? Math.max(250, clock.now().until(next.at).total('milliseconds')) : Number.POSITIVE_INFINITY
}

/** Ends what is too late, turns unpaid into overdue at each account's midnight, ends pauses, makes the runs whose hour has come. In this order, every 2 s. */
export async function tick(deps: Delivering): Promise<void> {
  const { db, queue, clock, config, processId } = deps
  const failures: unknown[] = []
  for (const step of [
    () => closeTooLate(db, clock.now()),
    () => turnOverdue(db, clock.now()),
    () => endPauses({ ...deps, sayNext: (tx, owner, now) => sayNext(tx, owner, now, config) }),
    () => endQuotaPauses(db, queue, clock.now()),
    () => makeDueRuns(db, queue, clock.now()),
  ])
    await step().catch((error: unknown) => failures.push(error))
  // An unavailable database is not a tick; one failing step must not prevent the others.
  const away = failures.find(isUnavailable)
  if (away) throw away
  await recordTick(db, processId)
  if (failures.length > 0) throw failures.length === 1 ? failures[0] : new AggregateError(failures, 'Some steps of the tick failed.')
}

/** Takes webhooks to the purchases they are about, and asks the provider about those whose time has come. Every 2 s. */
export async function reconcileDue(deps: Delivering): Promise<void> {
  await processInbox(deps)
  await enqueueDueChecks(deps)
}

/** Frees what dead processes held, wakes every account with something due, tells of what was never delivered. Every 5 s. */
export async function sweep(deps: Delivering): Promise<void> {
  await reclaimDead(deps)
  await deps.claims.reclaimLost()
  await wakeDue(deps)
  await notifyFailures(deps)
  await enqueueDueSystemMails(deps)
}

/** Hourly. The embedded database has no autovacuum, so it is vacuumed here. */
async function tidy({ db, clock, queue, config, soleProcess }: Worker): Promise<void> {
  await queue.tidy()
  await pruneDeleted(db, clock.now())
  await pruneLinks(db, clock.now())
  await pruneReturns(db, clock.now())
  await pruneSessions(db, clock.now())
  await pruneThrottles(db, clock.now())
  await pruneSystemMailCounts(db, clock.now())
  await pruneEvents(db, clock.now())
  await pruneFormerAccounts(db, clock.now())
  await pruneGrants(db, clock.now())
  await pruneWebhookEvents(db, clock.now())
  await pruneWebhookHosts(db)
  await pruneIdempotencyKeys(db, clock.now())
  await dropOldBytes(db, clock.now(), config.historyBytesDays)
  await deleteOldRows(db, clock.now())
  if (soleProcess) await db.execute(sql`VACUUM ANALYZE`)
}

interface Worker extends Delivering {
  /** No other process can be on this database: it is the embedded one. */
  soleProcess: boolean
  /** A connection of its own, so that a busy process does not look dead. */
  pulse: Database
}

/** Begins to work in the background, until `stop`: mails in flight are finished and recorded, nothing new is begun. */
export async function startWorker(deps: Worker): Promise<{ stop(): Promise<void> }> {
  if (deps.soleProcess) await reclaimAll(deps)
  await registerProcess(deps.db, deps.processId)
  const { log } = deps
  const repeating: Repeating[] = [
    repeat('heartbeat', { everySeconds: heartbeatSeconds, log }, () => beat(deps.pulse, deps.processId)),
    repeat('tick', { everySeconds: 2, log }, async () => {
      await tick(deps)
      return untilNextRun(deps)
    }),
    repeat('payments', { everySeconds: 2, log }, () => reconcileDue(deps)),
    repeat('webhooks', { everySeconds: 1, log }, () => wakeWebhooks(deps)),
    repeat('sweep', { everySeconds: 5, log }, () => sweep(deps)),
    repeat('held', { everySeconds: 60, log }, () => releaseEnded(deps)),
    repeat('plan ends', { everySeconds: 3600, log }, () => notifyPlanEnds(deps)),
    repeat('tidy', { everySeconds: 3600, log }, () => tidy(deps)),
  ]
  deps.queue.start(works(deps))
  return {
    async stop() {
      deps.hosts.close()
      for (const timer of deps.resting.values()) clearTimeout(timer)
      await Promise.all([deps.queue.stop(), ...repeating.slice(1).map((one) => one.stop())])
      await deps.mailer.close()
      await repeating[0]?.stop()
      await releaseProcess(deps.db, deps.processId)
    },
  }
}
