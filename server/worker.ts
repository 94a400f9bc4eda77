import { and, isNotNull, isNull, lte, or, sql } from 'drizzle-orm'
import { pruneReturns } from '#server/accounts/google.ts'
import { pruneLinks, settleLink } from '#server/accounts/links.ts'
import { pruneSessions } from '#server/accounts/sessions.ts'
import { accounts } from '#server/accounts/tables.ts'
import { pruneInvitations } from '#server/accounts/team.ts'
import { pruneThrottles } from '#server/accounts/throttle.ts'
import { enqueueDueChecks, processInbox, pruneEvents, type ReconcileDeps, reconcileInBackground } from '#server/billing/billing.ts'
import { pruneFormerAccounts } from '#server/billing/former-accounts.ts'
import { reconcileJob } from '#server/billing/jobs.ts'
import { notifyPlanEnds } from '#server/billing/plan-notifications.ts'
import {
  accountsAtOnce,
  callReceivers,
  composeWebhooks,
  enqueueDuePulls,
  openReceivers,
  pruneGrants,
  pruneWebhookEvents,
  pruneWebhookHosts,
  pullDue,
  pulledAtOnce,
  resumeOnceRead,
  sourceReach,
  type WebhookNetwork,
  waitsForSources,
  wakeWebhooks,
} from '#server/integrations/integrations.ts'
import { callReceiversJob, composeWebhooksJob, pullSourcesJob } from '#server/integrations/jobs.ts'
import { pruneIdempotencyKeys } from '#server/invoices/idempotency.ts'
import { pruneDeleted } from '#server/invoices/invoices.ts'
import { turnOverdue } from '#server/invoices/overdue.ts'
import { endPauses } from '#server/invoices/pauses.ts'
import { askProviderJob } from '#server/pay/jobs.ts'
import { askDue, confirmPayment, notifyLapsed, pruneAttempts } from '#server/pay/pay.ts'
import { type Database, isUnavailable } from '#server/platform/database.ts'
import { type Work, work } from '#server/platform/job.ts'
import { openLeadership } from '#server/platform/leader.ts'
import { repeat } from '#server/platform/repeat.ts'
import { repeatSteps, type Step } from '#server/platform/steps.ts'
import { enqueueDueSystemMails, openSystemMailer, systemLinkJob, systemNoticeJob } from '#server/platform/system-mail.ts'
import { pruneSystemMailCounts } from '#server/platform/system-mail-limits.ts'
import { makeDueRuns } from '#server/reminders/daily-runs.ts'
import {
  afterInvoiceChange,
  closeTooLate,
  type Delivering,
  deliver,
  releaseEnded,
  resumePaying,
  wakeDue,
} from '#server/reminders/deliver.ts'
import { sendEveningLists } from '#server/reminders/evening.ts'
import { notifyFailures } from '#server/reminders/failures.ts'
import { openHeartbeat } from '#server/reminders/heartbeat.ts'
import { deliverJob, trySenderJob } from '#server/reminders/jobs.ts'
import { pruneLeftOut } from '#server/reminders/left-out.ts'
import { endQuotaPauses, enqueueSenderTries, forgetRefusedSenders, trySender } from '#server/reminders/mailbox-pauses.ts'
import { sayNext } from '#server/reminders/outlook.ts'
import { pruneOwnerLinks } from '#server/reminders/owner-links.ts'
import { beat, heartbeatSeconds, reclaimAll, reclaimDead, recordTick, releaseProcess } from '#server/reminders/processes.ts'
import { deleteOldRows, dropOldBytes } from '#server/reminders/retention.ts'
import { countOutcome, mailboxesAtOnce } from '#server/reminders/sending.ts'
import { sendSummaries } from '#server/reminders/summary.ts'

/** What is done when a job comes. Mailboxes take turns at the gate: many may wait for slow mail servers at a time. */
export function works(deps: Delivering, webhookNetwork?: WebhookNetwork): Work[] {
  const receivers = openReceivers({ timers: deps.clock })
  const sendSystemMail = openSystemMailer(deps, settleLink)
  const reconciling: ReconcileDeps = { ...deps, onPlanChange: (tx, ownerId, now) => resumeOnceRead(tx, deps.queue, ownerId, now) }
  return [
    work(deliverJob, mailboxesAtOnce, ({ ownerId }, stopping, orphaned) => deliver(deps, ownerId, stopping, orphaned)),
    // Four at a time over two connections. Notices never hold both: a link waits for one of them at most.
    work(trySenderJob, 4, (which) => trySender(deps, which)),
    work(systemLinkJob, 3, ({ mailId }) => sendSystemMail(mailId)),
    work(systemNoticeJob, 1, ({ mailId }) => sendSystemMail(mailId)),
    work(reconcileJob, 2, ({ purchaseId }) => reconcileInBackground(reconciling, purchaseId)),
    work(askProviderJob, 8, ({ attemptId }) => confirmPayment({ ...deps, afterChange: afterInvoiceChange(deps.queue) }, attemptId)),
    work(pullSourcesJob, pulledAtOnce, ({ ownerId }, stopping) =>
      pullDue({ ...deps, onChange: afterInvoiceChange(deps.queue) }, ownerId, sourceReach(deps.config), stopping),
    ),
    work(composeWebhooksJob, 2, ({ ownerId }) => composeWebhooks(deps, ownerId)),
    work(callReceiversJob, accountsAtOnce, ({ ownerId }, stopping) =>
      callReceivers(deps, { ownerId, receivers }, stopping, webhookNetwork),
    ),
  ]
}

/** Milliseconds until the next daily run is due, so that the tick after this one comes in time. */
async function untilNextRun({ db, clock }: Delivering): Promise<number> {
  const now = clock.now()
  const [next] = await db
    .select({ at: accounts.nextRunAt })
    .from(accounts)
    .where(and(isNotNull(accounts.nextRunAt), or(isNull(accounts.readingUntil), lte(accounts.readingUntil, now))))
    .orderBy(accounts.nextRunAt)
    .limit(1)
  // A run that could not be made is due all the time.
  return next?.at ? Math.max(250, now.until(next.at).total('milliseconds')) : Number.POSITIVE_INFINITY
}

/** What one process at a time does every few seconds about schedules. */
function tickSteps(deps: Delivering): Step[] {
  const { db, queue, clock, config } = deps
  return [
    { name: 'late emails', everySeconds: 2, run: async () => countOutcome(deps, 'too_late', await closeTooLate(db, clock.now())) },
    { name: 'overdue invoices', everySeconds: 2, run: () => turnOverdue(db, clock.now()) },
    {
      name: 'pauses of invoices',
      everySeconds: 15,
      run: () =>
        endPauses({
          ...deps,
          sayNext: (tx, owner, now) => sayNext(tx, owner, now, config),
          onAnswerLapsed: (tx, row, because, now) => notifyLapsed(tx, deps, row, because, now),
        }),
    },
    { name: 'evening lists', everySeconds: 15, run: (progressed) => sendEveningLists(deps, progressed) },
    { name: 'weekly summaries', everySeconds: 15, run: (progressed) => sendSummaries(deps, progressed) },
    { name: 'watched addresses', everySeconds: 15, run: () => enqueueDuePulls(deps) },
    { name: 'refused senders', everySeconds: 15, run: () => enqueueSenderTries(deps) },
    { name: 'pauses of mailboxes', everySeconds: 2, run: () => endQuotaPauses(db, queue, clock.now()) },
  ]
}

/** While many runs are made, this often, in ms, the process reports that it still does. */
const progressEvery = 10_000

/** Makes the runs whose hour has come; every process does. */
async function makeRuns({ db, queue, clock, processId }: Delivering, progressed = async () => {}): Promise<void> {
  let failure: unknown
  let reportedAt = clock.elapsed()
  const report = async () => {
    if (clock.elapsed() - reportedAt < progressEvery) return
    reportedAt = clock.elapsed()
    await recordTick(db, processId)
    await progressed()
  }
  const now = clock.now()
  await makeDueRuns(db, queue, now, { progressed: report, unread: waitsForSources(now) }).catch((error: unknown) => {
    failure = error
  })
  // The database was reached: accounts whose run fails are late on their own.
  if (!isUnavailable(failure)) await recordTick(db, processId)
  if (failure) throw failure
}

/** Every step of schedules once, in order. */
export async function tick(deps: Delivering): Promise<void> {
  const failures: unknown[] = []
  for (const run of [...tickSteps(deps).map((step) => () => step.run(async () => {})), () => makeRuns(deps)])
    await run().catch((error: unknown) => failures.push(error))
  if (failures.length > 0) throw failures.length === 1 ? failures[0] : new AggregateError(failures, 'Some steps of the tick failed.')
}

/** Takes webhooks to the purchases they are about, and asks the provider about those, and the payments of clients, whose time has come. Every 2 s. */
export async function reconcileDue(deps: Delivering): Promise<void> {
  await processInbox(deps)
  await enqueueDueChecks(deps)
  await askDue(deps)
}

/** What keeps emails moving: frees what dead processes held, wakes every account with something due, reports what was never delivered. */
function sweepSteps(deps: Delivering): Step[] {
  const everySeconds = 5
  return [
    { name: 'dead processes', everySeconds, run: async () => void (await reclaimDead(deps)) },
    { name: 'lost claims', everySeconds, everywhere: true, run: async () => void (await deps.claims.reclaimLost()) },
    { name: 'emails to paying clients', everySeconds, run: () => resumePaying(deps) },
    { name: 'due emails', everySeconds, run: () => wakeDue(deps) },
    { name: 'reports of failures', everySeconds, run: () => notifyFailures(deps) },
    { name: 'system emails', everySeconds, run: () => enqueueDueSystemMails(deps) },
  ]
}

/** The same once, in order. */
export async function sweep(deps: Delivering): Promise<void> {
  for (const { run } of sweepSteps(deps)) await run(async () => {})
}

/** Hourly. The embedded database has no autovacuum, so it is vacuumed here. */
async function tidy({ db, clock, queue, config, soleProcess }: Worker): Promise<void> {
  await queue.tidy()
  await pruneDeleted(db, clock.now())
  await pruneLinks(db, clock.now())
  await pruneReturns(db, clock.now())
  await pruneInvitations(db, clock.now())
  await pruneOwnerLinks(db, clock.now())
  await pruneLeftOut(db, clock.now())
  await forgetRefusedSenders(db, clock.now())
  await pruneSessions(db, clock.now())
  await pruneThrottles(db, clock.now())
  await pruneSystemMailCounts(db, clock.now())
  await pruneEvents(db, clock.now())
  await pruneAttempts(db, clock.now())
  await pruneFormerAccounts(db, clock.now())
  await pruneGrants(db, clock.now())
  await pruneWebhookEvents(db, clock.now())
  await pruneWebhookHosts(db)
  await pruneIdempotencyKeys(db, clock.now())
  await dropOldBytes(db, clock.now(), config.historyBytesDays)
  await deleteOldRows(db, clock.now())
  if (soleProcess) await db.execute(sql`VACUUM ANALYZE`)
}

export interface Worker extends Delivering {
  /** No other process can be on this database: it is the embedded one. */
  soleProcess: boolean
  /** A connection of its own, so that a busy process does not look dead. */
  pulse: Database
  /** What webhooks are called over; by default the machine's. */
  webhookNetwork?: WebhookNetwork
}

/** What is repeated besides the daily runs. */
export function stepsBesideRuns(deps: Worker): Step[] {
  return [
    ...tickSteps(deps),
    ...sweepSteps(deps),
    { name: 'payments', everySeconds: 2, run: () => reconcileDue(deps) },
    { name: 'webhooks', everySeconds: 1, run: () => wakeWebhooks(deps) },
    { name: 'held emails', everySeconds: 300, run: () => releaseEnded(deps) },
    { name: 'plan ends', everySeconds: 3600, run: () => notifyPlanEnds(deps) },
    { name: 'clean-up', everySeconds: 3600, run: () => tidy(deps) },
  ]
}

/** Begins to work in the background, until `stop`: emails in flight are finished and recorded, nothing new is begun. */
export async function startWorker(deps: Worker): Promise<{ stop(): Promise<void> }> {
  if (deps.soleProcess) await reclaimAll(deps)
  await beat(deps.db, deps.processId)
  const { log, pulse, processId, soleProcess, clock: timers } = deps
  const leadership = openLeadership({ db: pulse, processId, soleProcess, timers })
  const askOutside = openHeartbeat(deps)
  const heartbeat = repeat('heartbeat', { everySeconds: heartbeatSeconds, log, timers }, () => beat(pulse, processId))
  const steps = repeatSteps({ pulse, leadership, log, timers }, [
    {
      name: 'daily runs',
      everySeconds: 2,
      everywhere: true,
      async run(progressed) {
        await makeRuns(deps, progressed)
        // One process is enough, and a slow answer must not delay a run.
        if (await leadership.leads()) void askOutside()
        return untilNextRun(deps)
      },
    },
    ...stepsBesideRuns(deps),
  ])
  deps.queue.start(works(deps, deps.webhookNetwork))
  return {
    async stop() {
      deps.hosts.close()
      for (const cancel of deps.resting.values()) cancel()
      await Promise.all([deps.queue.stop(), ...steps.map((one) => one.stop())])
      await leadership.release()
      await deps.mailer.close()
      await heartbeat.stop()
      await releaseProcess(deps.db, deps.processId)
    },
  }
}
