import { and, desc, eq, inArray, isNotNull, isNull, ne, type SQL, sql } from 'drizzle-orm'
import type { FastifyReply } from 'fastify'
import { z } from 'zod'
import type { CallParts, CallReply } from '#contract/call.ts'
import { fromMinor, toMinor, toMoney } from '#contract/money.ts'
import { largestAttached } from '#contract/pay-links.ts'
import {
  holdReasonOf,
  type PreviewLine,
  previewLine,
  type ReminderDraft,
  type Run,
  type RunAnswer,
  type RunSelection,
  reminderCalls,
  repeatedSendNow,
  type SendNowRequest,
} from '#contract/reminders.ts'
import type { SenderPause } from '#contract/sender-pause.ts'
import {
  EmailTooLarge,
  groupVariables,
  hasPayLink,
  reminderDocument,
  templateVariables,
  type Wording,
  wordingProblems,
} from '#contract/templates.ts'
import {
  type AccountRow,
  findAccount,
  lockAsSeen,
  type OnAccountTakeover,
  type Origin,
  refuseStale,
  refuseUnconfirmed,
  versionOf,
  writeAudit,
} from '#server/accounts/accounts.ts'
import { accounts } from '#server/accounts/tables.ts'
import { entitlementsOf, refuseWithout } from '#server/billing/billing.ts'
import { notDeliveredSince } from '#server/invoices/invoices.ts'
import { invoices } from '#server/invoices/tables.ts'
import { findSenders, hasMailConfig, toMailConfig } from '#server/mail/mail.ts'
import { filesOf } from '#server/pay/files.ts'
import { payLinksFor } from '#server/pay/links.ts'
import { nothingToPay, readEmailPayments, readOwnBrands } from '#server/pay/pay.ts'
import { qrPng } from '#server/pay/qr-png.ts'
import type { Account } from '#server/platform/answer.ts'
import type { Instant } from '#server/platform/clock.ts'
import { instantText } from '#server/platform/columns.ts'
import { type Database, rows } from '#server/platform/database.ts'
import type { Deps } from '#server/platform/deps.ts'
import type { Queue } from '#server/platform/job.ts'
import { ProblemError } from '#server/platform/problem-error.ts'
import { speechOf } from '#server/platform/speech.ts'
import { jsonItems } from '#server/platform/stream-json.ts'
import { sendsSystemMail } from '#server/platform/system-mail.ts'
import { readWordings, type TemplateKind } from '#server/templates/templates.ts'
import { quietAfter } from './calendars.ts'
import { attachedFiles, filesLeftOut, type MailPayment, type ReminderAbout, renderMail, sentBrand, toMailBrand } from './compose.ts'
import { releaseAddress, releaseAddressesOf, releaseRestored } from './holds.ts'
import { closeLeftOut } from './left-out.ts'
import { senderTo } from './mailboxes.ts'
import { type Outlook, readOutlook } from './outlook.ts'
import { addressHeld, balance, emailsOf, openEmailOf, pausedOn } from './owed.ts'
import { endOwnerLinks } from './owner-links.ts'
import { findTrouble } from './processes.ts'
import { answerOf, findRun, isSettled, refuseTotalFailure, toRun } from './progress.ts'
import { cancelRuns, decide, makeRun, sendNowPerDay } from './runs.ts'
import {
  apartFrom,
  dayBeforeOf,
  daysOverdue,
  firstDateAfterStart,
  laterDate,
  localDate,
  nextEvening,
  nextReminder,
  nextRun,
  nextSummary,
  startOfDay,
} from './schedule.ts'
import { readStoredSteps, wordingsAt } from './sequence-steps.ts'
import { assignToAccount, noteSteps, removeSequences } from './sequences.ts'
import { refuseChanged } from './simulate.ts'
import { everyDay, readNextSteps, withReachedSteps } from './steps.ts'
import { leftOut, runs } from './tables.ts'
import { texts } from './texts.ts'

/** A Send Now this soon after another one counts as the same press of the button, in seconds. */
const samePressSeconds = 60

/** How long a call waits for its run; afterwards the screen polls it. */
const longestWaitMilliseconds = 20_000

const nothingDue: RunAnswer = { count: 0, failed: 0, skipped: 0, retrying: 0, total: 0, invoices: 0, runId: null, failures: [] }

export interface Asking {
  db: Database
  queue: Queue
  account: Account
  now: Instant
  config: Deps['config']
}

/** Locks an account that is about to send. Refuses with `mail_not_configured`, and with `email_not_confirmed`. */
async function lockToSend(
  tx: Database,
  { account, config }: Pick<Asking, 'account' | 'config'>,
  noMailbox = texts.noMailboxToSend,
): Promise<Account> {
  const locked = await lockAsSeen(tx, account)
  if (!(await hasMailConfig(tx, account.id))) throw new ProblemError('mail_not_configured', noMailbox)
  refuseUnconfirmed(config, locked)
  return locked
}

/**
 * Turns daily reminders on and makes the first run, of every invoice past due or of the chosen ones, in one transaction. Returns the run, or null where nothing is due. Refuses with
 * `mail_not_configured`, `email_not_confirmed`, and with `plan_limit` where the plan has no daily reminders.
 */
export async function startReminders(
  { db, queue, account, now, config }: Asking,
  { invoiceIds, groupByClient }: RunSelection = {},
): Promise<string | null> {
  return db.transaction(async (tx) => {
    const locked = await lockToSend(tx, { account, config }, texts.noMailboxToStart)
    await refuseWithout('scheduling', tx, account.id, now, config)
    if (!locked.remindersActive) {
      const next = nextRun(locked, { now, notBefore: firstDateAfterStart(locked, now), lastRunAt: apartFrom(locked) })
      await tx
        .update(accounts)
        .set({ remindersActive: true, nextRunAt: next.at, nextRunFrom: next.date })
        .where(eq(accounts.id, account.id))
    }
    const run = await makeRun(tx, queue, locked, { kind: 'start', now, only: invoiceIds && validIds(invoiceIds), groupByClient })
    return run?.id ?? null
  })
}

/** Turns daily reminders off and cancels every open run; emails in flight are still sent. Returns how many were cancelled. */
export async function stopReminders({ db, account, now }: Omit<Asking, 'queue' | 'config'>): Promise<number> {
  return db.transaction(async (tx) => {
    await lockAsSeen(tx, account)
    return stopAll(tx, account.id, now)
  })
}

/**
 * Reminds now of every invoice past due, or of the chosen ones. Where all of that has just been sent, it returns that run instead. Refuses
 * with `mail_not_configured`, `email_not_confirmed`; with `conflict` where none of the chosen ones can be reminded; with `invalid` a wording that is not valid, or
 * is for more than one email.
 */
export async function sendNow({ db, queue, account, now, config }: Asking, asked: SendNowRequest = {}): Promise<string | null> {
  return db.transaction(async (tx) => {
    const locked = await lockToSend(tx, { account, config })
    let wording: Wording | null = null
    if (asked.invoiceIds || isWritten(asked) || (await hasJustSent(tx, account.id, now))) {
      const { lines, wanted, mails } = await wantedNow({ db: tx, account: locked, now, config }, asked)
      if (asked.invoiceIds && wanted.length === 0) throw noneLeft(await leftOutOf(tx, locked, lines, asked.invoiceIds))
      const same = repeatedSendNow(lines)
      if (same) return same
      wording = await wordingOf({ db: tx, account: locked, now }, asked, { mails, wanted })
    }
    const { groupByClient, invoiceIds } = asked
    const run = await makeRun(tx, queue, locked, {
      kind: 'send_now',
      now,
      wording,
      only: invoiceIds && validIds(invoiceIds),
      groupByClient,
    })
    if (run && wording) await refuseUnlessOneEmail(tx, run.id)
    return run?.id ?? null
  })
}

type Drafted = 'send_now' | 'start'
type Drafting = Omit<Asking, 'queue'> & Pick<Deps, 'log'>

/** What Send Now, or Start, would do for chosen invoices, and the email where it is one. */
export async function draftReminder(
  asking: Drafting,
  asked: SendNowRequest & { invoiceIds: string[]; kind?: Drafted | undefined },
): Promise<ReminderDraft> {
  const { db, account, now, config } = asking
  if (asked.kind === 'start') return draftStart(asking, asked)
  const { lines, wanted, mails } = await wantedNow({ db, account, now, config }, asked)
  const wording = await wordingOf({ db, account, now }, asked, { mails, wanted })
  return {
    mails,
    repeats: repeatedSendNow(lines),
    leftOut: await leftOutOf(db, account, lines, asked.invoiceIds),
    email: mails === 1 ? await draftEmail(asking, { wanted, kind: 'send_now', written: wording }) : null,
  }
}

/** What is not due yet is drafted as of the day on which it is. */
async function draftStart(asking: Drafting, { invoiceIds, groupByClient }: RunSelection): Promise<ReminderDraft> {
  const { db, account, now, config } = asking
  const { lines } = await previewReminders({ db, config }, account, now, { only: invoiceIds })
  const due = lines.filter(({ dueNow }) => dueNow)
  const wanted = due.length > 0 ? due : lines
  const grouped = groupByClient ?? account.groupByClient
  const email = countMails(wanted, grouped) === 1 ? await draftEmail(asking, { wanted, kind: 'start', written: null }) : null
  return { mails: countMails(due, grouped), repeats: null, leftOut: [], email }
}

/**
 * Ends the hold of an address and reminds of what is past due there. Returns the run, or null where nothing is. Refuses with
 * `mail_not_configured`, and with `not_found` an address that is not held.
 */
export async function tryAddress(asking: Asking, clientEmail: string): Promise<string | null> {
  const { db, queue, account, now, config } = asking
  return db.transaction(async (tx) => {
    const locked = await lockToSend(tx, asking)
    if (!(await releaseAddress(tx, queue, account.id, clientEmail, now))) throw new ProblemError('not_found', texts.noHold(clientEmail))
    const owed = await tx
      .select({ id: invoices.id })
      .from(invoices)
      .where(
        and(
          eq(invoices.ownerId, account.id),
          isNull(invoices.deletedAt),
          ne(invoices.status, 'paid'),
          sql`lower(${invoices.clientEmail}) = lower(${clientEmail})`,
        ),
      )
    const { lines } = await previewReminders({ db: tx, config }, locked, now, { only: owed.map(({ id }) => id) })
    const only = lines.flatMap(({ sendNowLeft, invoiceId }) => (sendNowLeft > 0 ? invoiceId : []))
    return only.length === 0 ? null : ((await makeRun(tx, queue, locked, { kind: 'send_now', now, only }))?.id ?? null)
  })
}

/**
 * Reminds of every invoice past due that was not reminded today. Where nothing is left to send it makes no run, or repeated API calls would
 * fill the list of runs; then it returns how many were skipped. Refuses with `mail_not_configured`, `email_not_confirmed`.
 */
export async function triggerReminders(
  { db, queue, account, now, config }: Asking,
  invoiceIds?: string[],
): Promise<{ runId: string | null; skipped: number }> {
  return db.transaction(async (tx) => {
    const locked = await lockToSend(tx, { account, config })
    const run = await makeRun(tx, queue, locked, { kind: 'trigger', now, only: invoiceIds && validIds(invoiceIds) })
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
  const began = clock.elapsed()
  for (;;) {
    const settled = await isSettled(db, runId, clock.now())
    const waited = clock.elapsed() - began
    if (settled || waited > longestWaitMilliseconds) {
      const read = await answerOf(db, account.id, runId)
      if (settled) refuseTotalFailure(read)
      else reply.status(202)
      return read
    }
    // The longer it takes, the less a moment more matters, and the more all these questions would cost others.
    await clock.pause(Math.min(1_000, 25 + waited / 4))
  }
}

/**
 * Sends again the emails that failed in a run, in a run of its own, also to addresses that are held since. If emails of it are held since a restore, these are released instead,
 * in their own run. Refuses with `mail_not_configured`, `email_not_confirmed` and `not_found`.
 */
export async function retryRun({ db, queue, account, now, config }: Asking, runId: string): Promise<string | null> {
  return db.transaction(async (tx) => {
    const failed = await findRun(tx, account.id, runId)
    const locked = await lockToSend(tx, { account, config })
    if ((await releaseRestored(tx, queue, { ownerId: account.id, runId: failed.id }, now)) > 0) return failed.id
    await releaseAddressesOf(tx, queue, { ownerId: account.id, runId: failed.id }, now)
    const { subject, content } = failed
    const wording = subject === null || content === null ? null : { subject, content }
    const run = await makeRun(tx, queue, locked, { kind: 'retry', now, retryOf: failed.id, wording })
    return run?.id ?? null
  })
}

/** Cancels what is left of a run; emails in flight are still sent. */
export async function stopRun({ db, account, now }: Omit<Asking, 'queue' | 'config'>, runId: string): Promise<Run> {
  await db.transaction(async (tx) => {
    const locked = await lockAsSeen(tx, account)
    const { id } = await findRun(tx, account.id, runId)
    await cancelRuns(tx, account.id, sql`r.id = ${id}::uuid`, now)
    // What it had pulled forward may be to clients that were left out meanwhile.
    await closeLeftOut(tx, locked, { localDate: localDate(now, locked.timezone) }, now)
  })
  return toRun(db, await findRun(db, account.id, runId))
}

export function readSettings(account: AccountRow): CallReply<typeof reminderCalls.settings> {
  const {
    groupByClient,
    follows,
    sequenceId,
    holdMinutes,
    quietWeekends,
    quietHolidays,
    ownHolidaysToo,
    country,
    region,
    smart,
    smartDays,
  } = account
  const quiet = { quietWeekends: quietWeekends ?? false, quietHolidays: quietHolidays ?? false, ownHolidaysToo, country, region }
  const settings = {
    groupByClient,
    sequence: sequenceId ?? follows,
    holdMinutes,
    eveningList: account.nextEveningAt !== null,
    weeklySummary: account.nextSummaryAt !== null,
    ...quiet,
    smart,
    smartDays,
  }
  return { ...settings, quietChosen: quietWeekends !== null && quietHolidays !== null, version: versionOf(account.id, settings) }
}

/**
 * Changes how reminders are sent. A run in progress continues as it was made. Refuses with `plan_limit` a sequence that the plan does not have,
 * with `plan_changed` where the plan is another one than what was looked at,
 * and with `changed_meanwhile` where the settings are other ones than those that `ifMatch` names.
 */
export async function changeSettings(
  { db, account, now, config, from, ifMatch }: Omit<Asking, 'queue'> & { from: Origin | null; ifMatch: string | undefined },
  { fingerprint, ...change }: CallParts<typeof reminderCalls.changeSettings>['body'],
): Promise<CallReply<typeof reminderCalls.settings>> {
  return db.transaction(async (tx) => {
    const locked = await lockAsSeen(tx, account)
    const { version } = readSettings(locked)
    const kind = 'reminder_settings_changed'
    await refuseStale(tx, locked, { ifMatch, what: 'these settings', version, kind }, now)
    const { holdMinutes = locked.holdMinutes, weeklySummary, eveningList, ...settings } = change
    const { sequence, groupByClient = locked.groupByClient, smart = locked.smart, smartDays = locked.smartDays } = settings
    const quiet = quietAfter(locked, settings)
    await refuseChanged({ db: tx, config, account: locked, now }, { settings }, fingerprint)
    const wantsEmail = weeklySummary || eveningList
    if (wantsEmail && !sendsSystemMail(config)) throw new ProblemError('invalid', texts.noSystemMail)
    if (settings.quietWeekends || settings.quietHolidays || wantsEmail) await refuseWithout('scheduling', tx, account.id, now, config)
    if (settings.smart) await refuseWithout({ ability: 'smartReminders', what: texts.smart.name }, tx, account.id, now, config)
    await tx
      .update(accounts)
      .set({
        ...quiet,
        groupByClient,
        smart,
        smartDays,
        holdMinutes,
        ...(weeklySummary === undefined ? {} : { nextSummaryAt: weeklySummary ? nextSummary(locked.timezone, now) : null }),
        ...(eveningList === undefined ? {} : { nextEveningAt: eveningList ? nextEvening(locked.timezone, now) : null }),
      })
      .where(eq(accounts.id, account.id))
    if (sequence === undefined) await noteSteps(tx, account.id)
    else await assignToAccount(tx, { account: locked, config, from, now }, sequence)
    const after = readSettings((await findAccount(tx, account.id)) ?? locked)
    if (after.version !== version) await writeAudit(tx, { ownerId: account.id, kind }, from, now)
    return after
  })
}

/** Turns daily reminders off, cancels every waiting email, and removes sequences and the addresses of copies. */
export const remindersOnAccountTakeover: OnAccountTakeover = async (tx, ownerId, now) => {
  const [before] = await tx.select({ active: accounts.remindersActive }).from(accounts).where(eq(accounts.id, ownerId))
  const cancelled = await stopAll(tx, ownerId, now)
  const removed = await removeSequences(tx, ownerId)
  await tx.update(accounts).set({ nextSummaryAt: null, nextEveningAt: null, leftOutUntil: null }).where(eq(accounts.id, ownerId))
  await tx.delete(leftOut).where(eq(leftOut.ownerId, ownerId))
  await endOwnerLinks(tx, ownerId)
  return {
    removed: [
      ...(before?.active ? (['schedule'] as const) : []),
      ...(cancelled > 0 ? (['waiting_emails'] as const) : []),
      ...(removed > 0 ? (['sequences'] as const) : []),
    ],
  }
}

/** Turns daily reminders off and cancels every waiting email; returns how many. */
export async function stopAll(tx: Database, ownerId: string, now: Instant): Promise<number> {
  await tx.update(accounts).set({ remindersActive: false, nextRunAt: null, nextRunFrom: null }).where(eq(accounts.id, ownerId))
  return cancelRuns(tx, ownerId, sql`true`, now)
}

/** The last runs, newest first. */
export async function listRuns(db: Database, account: Account, limit: number): Promise<Run[]> {
  const found = await db.select().from(runs).where(eq(runs.ownerId, account.id)).orderBy(desc(runs.createdAt), desc(runs.id)).limit(limit)
  const listed: Run[] = []
  for (const run of found) listed.push(await toRun(db, run))
  return listed
}

/** Whether an email of the run `r` is about to leave. With `LIMIT`, the emails of all accounts are not read to look it up. */
const leaving = (run: SQL) =>
  sql`(SELECT true FROM deliveries d WHERE ${run} = r.id AND d.state IN ('queued', 'sending') LIMIT 1) IS NOT NULL`

/** Whether the schedule is on, when it runs next, when an email was last accepted, and what blocks it. */
export async function reminderStatus(
  { db, config }: Pick<Deps, 'db' | 'config'>,
  account: AccountRow,
  now: Instant,
): Promise<CallReply<typeof reminderCalls.status>> {
  const [last] = await rows(
    db,
    z.object({ sentAt: instantText.nullable(), openRunId: z.string().nullable(), leavingRunId: z.string().nullable() }),
    sql`SELECT
      (SELECT max(sent_at) FROM deliveries WHERE owner_id = ${account.id}::uuid AND state = 'sent') AS "sentAt",
      (SELECT r.id FROM runs r WHERE r.owner_id = ${account.id}::uuid AND r.cancelled_at IS NULL
         AND (r.planned_at IS NULL OR r.sent IS NULL AND (${leaving(sql`d.run_id`)} OR ${leaving(sql`d.pulled_by_run_id`)}))
       ORDER BY r.created_at DESC LIMIT 1) AS "openRunId",
      (SELECT r.id FROM runs r WHERE r.owner_id = ${account.id}::uuid AND r.kind = 'daily' AND r.local_date = ${localDate(now, account.timezone)}::date
         AND r.leaves_at > ${now.toString()}::timestamptz AND r.cancelled_at IS NULL
         AND EXISTS (SELECT 1 FROM deliveries d WHERE d.run_id = r.id)) AS "leavingRunId"`,
  )
  const outlook = await readOutlook(db, account, now, config)
  return {
    isActive: account.remindersActive,
    state: outlook.state,
    words: outlook.words,
    next: outlook.next,
    lastReminderSent: last?.sentAt ?? null,
    nextRunAt: outlook.state === 'active' ? outlook.at.toString() : null,
    reason: outlook.state === 'active' ? null : outlook.reason,
    timezone: account.timezone,
    reminderHour: account.reminderHour,
    pause: await findPause(db, account.id),
    trouble: await findTrouble(db, now),
    openRunId: last?.openRunId ?? null,
    leavingRunId: last?.leavingRunId ?? null,
  }
}

/** Of a mailbox that its owner must look at, else of the default one, else of another one. */
async function findPause(db: Database, ownerId: string): Promise<SenderPause | null> {
  const pauses = (await findSenders(db, ownerId)).flatMap((sender) => toMailConfig(sender).pause ?? [])
  return pauses.find(({ reason }) => reason !== 'quota') ?? pauses[0] ?? null
}

const owedLine = z.object({
  invoiceId: z.string(),
  reference: z.string(),
  clientName: z.string(),
  clientEmail: z.string(),
  balanceMinor: z.coerce.number(),
  amountMinor: z.coerce.number(),
  currency: z.string(),
  language: z.string(),
  dueDate: z.string(),
  remindedToday: z.number(),
  byHandToday: z.number(),
  openTryAt: instantText.nullable(),
  open: z.boolean(),
  heldFor: z.string().nullable(),
  paused: z.boolean(),
  /** The last day of the pause, where it has one. */
  pausedUntil: z.string().nullable(),
  addressHeld: z.boolean(),
  undeliveredSince: instantText.nullable(),
  undeliveredReply: z.string().nullable(),
  sentJustNow: z.string().nullable(),
})
type OwedLine = z.output<typeof owedLine>

/**
 * What would be sent now, and for every unpaid invoice (or these `only`) its next reminder or the reason for none. With a subject or text
 * `written` for one email, only one with the same has just been sent.
 */
export async function previewReminders(...about: Parameters<typeof previewLines>): Promise<Preview> {
  const [, account] = about
  const totals = openTotals(account)
  const lines: PreviewLine[] = []
  for await (const page of totals.added(previewLines(...about))) lines.push(...page)
  return { ...totals.read(), lines }
}

type Preview = Omit<WholePreview, 'allowance'>
type WholePreview = CallReply<typeof reminderCalls.preview>

/** The same with one page of the lines, and where the next one begins; null where there is none. */
export async function previewPage(
  deps: Pick<Deps, 'db' | 'config'>,
  account: AccountRow,
  now: Instant,
  { limit, cursor = '' }: { limit: number; cursor?: string | undefined },
): Promise<{ preview: Preview; next: string | null }> {
  const totals = openTotals(account)
  const found: PreviewLine[] = []
  for await (const page of totals.added(previewLines(deps, account, now)))
    found.push(...page.filter((line) => cursorOf(line) > cursor).slice(0, limit + 1 - found.length))
  const lines = found.slice(0, limit)
  const last = found.length > limit ? lines.at(-1) : undefined
  return { preview: { ...totals.read(), lines }, next: last ? cursorOf(last) : null }
}

/** The same as JSON, made while it is sent. */
export async function* previewJson(
  deps: Pick<Deps, 'db' | 'config'>,
  account: AccountRow,
  now: Instant,
  about: Pick<WholePreview, 'allowance'>,
): AsyncGenerator<string> {
  const totals = openTotals(account)
  yield '{"lines":['
  yield* jsonItems(previewLine, totals.added(previewLines(deps, account, now)))
  yield `],${JSON.stringify(reminderCalls.preview.reply.omit({ lines: true }).parse({ ...totals.read(), ...about })).slice(1)}`
}

/** Sorts as the lines do. */
function cursorOf({ dueDate, invoiceId }: PreviewLine): string {
  return `${dueDate}.${invoiceId}`
}

/** Sums up lines while they pass. */
function openTotals({ groupByClient, currency }: AccountRow) {
  const openCount = () => ({ lines: 0, groups: new Set<string>() })
  const [due, byHand] = [openCount(), openCount()]
  const sums = new Map<string, number>()
  let remindedToday = 0
  const count = (some: typeof due, line: PreviewLine) => {
    some.lines += 1
    if (groupByClient) some.groups.add(groupOf(line))
  }
  const mailsOf = ({ lines, groups }: typeof due) => (groupByClient ? groups.size : lines)
  return {
    async *added(pages: AsyncIterable<PreviewLine[]>): AsyncGenerator<PreviewLine[]> {
      for await (const page of pages) {
        for (const line of page) {
          if (line.dueNow) {
            count(due, line)
            sums.set(line.currency, (sums.get(line.currency) ?? 0) + (toMinor(line.amount, line.currency) ?? 0))
          }
          if (line.sendNowLeft > 0) count(byHand, line)
          if (line.remindedToday > 0) remindedToday += 1
        }
        yield page
      }
    },
    read: () => {
      const total = fromMinor(sums.get(currency) ?? 0, currency)
      return { mails: mailsOf(due), total, totals: toMoney(sums, currency), sendNowMails: mailsOf(byHand), remindedToday }
    },
  }
}

/** What one grouped email is for: a client, a currency and a language. */
function groupOf({ clientEmail, currency, language }: Pick<PreviewLine, 'clientEmail' | 'currency' | 'language'>): string {
  return `${clientEmail.toLowerCase()} ${currency} ${language}`
}

/** Invoices read at a time. */
const previewChunk = 1_000

/** The lines of a preview in pages, so that other calls get their turn in between. */
async function* previewLines(
  { db, config }: Pick<Deps, 'db' | 'config'>,
  account: AccountRow,
  now: Instant,
  { only, written = {} }: { only?: string[] | undefined; written?: Partial<Wording> } = {},
): AsyncGenerator<PreviewLine[]> {
  const today = localDate(now, account.timezone)
  const dayBegan = startOfDay(today, account.timezone).toString()
  // An email sent today may have been made in the last hours of yesterday.
  const dayBefore = startOfDay(dayBeforeOf(today), account.timezone).toString()
  const sameSubject = written.subject === undefined ? sql`` : sql`AND r.subject = ${written.subject}`
  const sameContent = written.content === undefined ? sql`` : sql`AND r.content = ${written.content}`
  const sentJustNow = sql`r.kind = 'send_now' AND r.cancelled_at IS NULL AND ${justNow(now)} ${sameSubject} ${sameContent}`
  const outlook = await readOutlook(db, account, now, config)
  const isPlanned = account.plansSteps || (account.leftOutUntil !== null && account.leftOutUntil >= today)
  const stepsOf = isPlanned ? await readNextSteps(db, account, { now, today, outlook, only: only && validIds(only) }) : null
  const read = (last: OwedLine | undefined): Promise<OwedLine[]> =>
    rows(
      db,
      owedLine,
      sql`SELECT i.id AS "invoiceId", i.reference, i.client_name AS "clientName", i.client_email AS "clientEmail", ${balance} AS "balanceMinor", i.amount_minor AS "amountMinor", i.currency, coalesce(i.language, k.language, ${account.language}::text) AS language, i.due_date::text AS "dueDate",
          CASE WHEN i.last_reminder_at >= ${dayBegan}::timestamptz THEN t.sent ELSE 0 END AS "remindedToday",
          CASE WHEN i.last_reminder_at >= ${dayBegan}::timestamptz OR o.id IS NOT NULL THEN t.by_hand ELSE 0 END AS "byHandToday",
          o.next_try_at AS "openTryAt", o.id IS NOT NULL AS open, CASE WHEN o.state = 'held' THEN coalesce(o.reason, '') END AS "heldFor",
          ${pausedOn(today)} AS paused,
          CASE WHEN (i.paused_at IS NULL OR i.paused_until IS NOT NULL) AND (cp.paused_at IS NULL OR cp.paused_until IS NOT NULL)
            THEN greatest(i.paused_until, cp.paused_until)::text END AS "pausedUntil",
          ${addressHeld} AS "addressHeld", i.undelivered_since AS "undeliveredSince", i.undelivered_reply AS "undeliveredReply",
          coalesce(t.just_now, (SELECT r.id FROM runs r WHERE r.owner_id = i.owner_id AND ${sentJustNow}
            AND r.planned_at IS NULL AND i.updated_at <= r.created_at AND o.id IS NULL ORDER BY r.created_at DESC LIMIT 1)) AS "sentJustNow"
        FROM invoices i
        LEFT JOIN clients k ON k.owner_id = i.owner_id AND k.email_key = lower(i.client_email)
        LEFT JOIN client_pauses cp ON cp.owner_id = i.owner_id AND cp.client_key = lower(i.client_email)
        LEFT JOIN ${openEmailOf} ON true
        LEFT JOIN LATERAL (
          SELECT count(*) FILTER (WHERE d.state = 'sent' AND d.sent_at >= ${dayBegan}::timestamptz)::int AS sent,
            count(*) FILTER (WHERE r.kind = 'send_now' AND r.local_date = ${today}::date AND d.state IN ('queued', 'sending', 'sent', 'retrying', 'held'))::int AS by_hand,
            (array_agg(r.id ORDER BY r.created_at DESC) FILTER (WHERE ${sentJustNow} AND d.state IN ('queued', 'sending', 'sent', 'retrying', 'held')
              AND lower(d.client_email) = lower(i.client_email) AND x.amount_minor = ${balance}))[1] AS just_now
          FROM ${emailsOf} WHERE d.created_at >= ${dayBefore}::timestamptz AND d.bounced_at IS NULL) t ON i.last_reminder_at >= ${dayBegan}::timestamptz OR o.id IS NOT NULL
        WHERE i.owner_id = ${account.id}::uuid AND i.deleted_at IS NULL AND i.status <> 'paid' ${only === undefined ? sql`` : sql`AND i.id = ANY(${`{${validIds(only).join(',')}}`}::uuid[])`}
          ${last === undefined ? sql`` : sql`AND (i.due_date, i.id) > (${last.dueDate}::date, ${last.invoiceId}::uuid)`}
        ORDER BY i.due_date, i.id LIMIT ${previewChunk}::int`,
    )
  const toLine = (one: OwedLine): PreviewLine => {
    const pastDue = one.dueDate < today
    const facts = {
      paused: one.paused,
      addressHeld: one.addressHeld,
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
      amount: fromMinor(one.balanceMinor, one.currency),
      invoiceAmount: fromMinor(one.amountMinor, one.currency),
      paidAmount: fromMinor(one.amountMinor - one.balanceMinor, one.currency),
      currency: one.currency,
      language: one.language,
      dueDate: one.dueDate,
      daysOverdue: Math.max(0, daysOverdue(one.dueDate, today)),
      dueNow: stepsOf ? stepsOf.dueNow(one.invoiceId) : pastDue && decide('start', facts) === 'write',
      remindedToday: one.remindedToday,
      heldFor: one.heldFor === null ? null : holdReasonOf(one.heldFor),
      sendNowLeft: pastDue && ['write', 'pull'].includes(decide('send_now', facts)) ? sendNowPerDay - one.byHandToday : 0,
      ...nextOf({ one, today, outlook, account, now }),
      ...(stepsOf ? stepsOf.next(one.invoiceId, one.clientName) : everyDay),
      notDelivered: notDeliveredSince(one.undeliveredSince, one.undeliveredReply),
      sentJustNow: one.sentJustNow,
    }
  }
  for (let last: OwedLine | undefined; ; ) {
    const owed = await read(last)
    yield owed.map(toLine)
    if (owed.length < previewChunk) return
    last = owed.at(-1)
  }
}

function countMails(lines: PreviewLine[], grouped: boolean): number {
  return grouped ? new Set(lines.map(groupOf)).size : lines.length
}

function nextOf(about: {
  one: OwedLine
  today: string
  outlook: Outlook
  account: AccountRow
  now: Instant
}): Pick<PreviewLine, 'nextAt' | 'reason'> {
  const { one, today, outlook, account, now } = about
  if (one.addressHeld) return { nextAt: null, reason: 'address_held' }
  if (one.open) return { nextAt: one.heldFor === null ? one.openTryAt : null, reason: 'open_mail' }
  if (one.paused && one.pausedUntil === null) return { nextAt: null, reason: 'paused' }
  if (outlook.state !== 'active') return { nextAt: null, reason: one.paused ? 'paused' : outlook.reason }
  const quietUntil = one.paused && one.pausedUntil !== null ? laterDate(one.dueDate, one.pausedUntil) : one.dueDate
  const at = nextReminder(account, { next: outlook, quietUntil, today, remindedToday: one.remindedToday > 0, now })
  return { nextAt: at.toString(), reason: one.paused ? 'paused' : null }
}

/** Runs `r` of the last minute. Of simultaneous presses the last may be served first; a run further ahead was made before the clock was set back. */
function justNow(now: Instant): SQL {
  const [from, to] = [now.subtract({ seconds: samePressSeconds }), now.add({ seconds: samePressSeconds })].map(String)
  return sql`r.created_at > ${from}::timestamptz AND r.created_at < ${to}::timestamptz`
}

async function hasJustSent(tx: Database, ownerId: string, now: Instant): Promise<boolean> {
  const found = await rows(
    tx,
    z.object({ id: z.string() }),
    sql`SELECT r.id FROM runs r WHERE r.owner_id = ${ownerId}::uuid AND r.kind = 'send_now' AND r.cancelled_at IS NULL AND ${justNow(now)} LIMIT 1`,
  )
  return found.length > 0
}

/** The lines of what was asked for, those that Send Now would remind of now, and in how many emails. */
async function wantedNow({ db, account, now, config }: Omit<Asking, 'queue'>, asked: SendNowRequest) {
  const { subject, content, invoiceIds, groupByClient = account.groupByClient } = asked
  const written = { ...(subject === undefined ? {} : { subject }), ...(content === undefined ? {} : { content }) }
  const { lines } = await previewReminders({ db, config }, account, now, { only: invoiceIds, written })
  const wanted = lines.filter(({ sendNowLeft }) => sendNowLeft > 0)
  return { lines, wanted, mails: countMails(wanted, groupByClient) }
}

function isWritten({ subject, content }: SendNowRequest): boolean {
  return subject !== undefined || content !== undefined
}

/**
 * The wording that was written for the one email, completed by the account's; null where none was. Refuses with `invalid` what is not valid
 * and what would be in several emails.
 */
async function wordingOf(
  about: Pick<Asking, 'db' | 'account' | 'now'>,
  written: SendNowRequest,
  { mails, wanted }: { mails: number; wanted: PreviewLine[] },
): Promise<Wording | null> {
  if (!isWritten(written)) return null
  if (mails > 1) throw new ProblemError('invalid', texts.wording.severalEmails)
  const kind = kindOf(wanted.length)
  const own = (await wordingsFor(about, wanted, 'send_now'))[kind]
  const wording = { subject: written.subject ?? own.subject, content: written.content ?? own.content }
  const errors = wordingProblems(wording, kind === 'one' ? templateVariables : groupVariables)
  if (errors[0]) throw new ProblemError('invalid', errors[0].message, { errors })
  return wording
}

/** The wordings of one email about these invoices: those of a step, else of the template. */
async function wordingsFor(
  { db, account, now }: Pick<Asking, 'db' | 'account' | 'now'>,
  lines: PreviewLine[],
  kind: Drafted,
): Promise<{ one: Wording; group: Wording }> {
  const language = lines[0]?.language ?? account.language
  const step = kind === 'start' ? latestStep(lines) : await reachedStep({ db, account, now }, lines)
  const ofStep = step && wordingsAt((await readStoredSteps(db, account.id, language)).get(step.sequenceId), step.offset, language)
  if (ofStep) return ofStep
  const wordings = (await readWordings(db, [account.id], [language])).get(account.id)
  if (!wordings) throw new Error('The wordings of an account were not read.')
  return wordings.in(language)
}

/** That of one email of a run. */
function latestStep(lines: PreviewLine[]): { sequenceId: string; offset: number } | null {
  const steps = lines.flatMap(({ sequence, step }) => (step ? { sequenceId: sequence, offset: step.offset } : []))
  return steps.toSorted((one, other) => one.offset - other.offset).at(-1) ?? null
}

/** That of one email that is sent by hand. */
async function reachedStep({ db, account, now }: Pick<Asking, 'db' | 'account' | 'now'>, lines: PreviewLine[]) {
  if (lines.every(({ sequence }) => sequence === everyDay.sequence)) return null
  const run = { localDate: localDate(now, account.timezone), createdAt: now }
  const mail = { deliveryId: '', invoiceIds: lines.map(({ invoiceId }) => invoiceId) }
  const [planned] = await withReachedSteps(db, account, run, [mail])
  return planned?.step ?? null
}

function kindOf(howMany: number): TemplateKind {
  return howMany > 1 ? 'group' : 'one'
}

/** The email as it would be sent, rendered as the sent one is. */
async function draftEmail(
  asking: Drafting,
  { wanted, kind: by, written }: { wanted: PreviewLine[]; kind: Drafted; written: Wording | null },
): Promise<ReminderDraft['email']> {
  const { db, account, now, config } = asking
  const [first] = wanted
  if (!first) return null
  const kind = kindOf(wanted.length)
  const wording = written ?? (await wordingsFor({ db, account, now }, wanted, by))[kind]
  const speech = speechOf(first.language)
  const files = await filesOf(
    db,
    account.id,
    wanted.map(({ invoiceId }) => invoiceId),
  )
  const about = wanted.map((line) => ({
    ...line,
    id: line.invoiceId,
    fileId: files.get(line.invoiceId)?.id ?? null,
    fileSize: files.get(line.invoiceId)?.size ?? null,
    balanceMinor: toMinor(line.amount, line.currency) ?? 0,
    amountMinor: toMinor(line.invoiceAmount, line.currency) ?? 0,
  }))
  const owed = { count: about.length, totalMinor: about.reduce((sum, { balanceMinor }) => sum + balanceMinor, 0) }
  const firstDay = Temporal.PlainDate.from(first.dueDate).add({ days: first.step?.offset ?? 1 })
  const date = localDate(now, account.timezone)
  const today = by === 'start' ? laterDate(date, firstDay.toString()) : date
  const sender = await senderTo(db, account.id, first.clientEmail)
  const mostAttached = largestAttached[sender?.provider ?? 'smtp']
  const pay = await paymentOf(asking, { about, owed }, { wording, mostAttached })
  const namesOf = (ids: string[]) => [...files.values()].flatMap(({ id, name }) => (ids.includes(id) ? [name] : []))
  const own = (await readOwnBrands(db, [account.id])).get(account.id)
  const brand = sentBrand(own, (await entitlementsOf(db, account.id, now, config)).abilities)
  try {
    const { subject, html, text } = renderMail({
      about,
      owed,
      wordings: { one: wording, group: wording },
      userName: account.displayName,
      today,
      pay,
      speech,
      brand: brand && toMailBrand(brand, `data:image/png;base64,${brand.picture?.image.toString('base64')}`),
      picture: (code) => `data:image/png;base64,${qrPng(code).toString('base64')}`,
    })
    return {
      kind,
      from: sender ? `${account.displayName} <${sender.address}>` : account.displayName,
      to: first.clientEmail,
      clientName: first.clientName,
      wording,
      subject,
      html: reminderDocument(html, speech, subject),
      text,
      attached: namesOf(attachedFiles({ about, owed, pay })),
      notAttached: namesOf(filesLeftOut({ about, owed, pay })),
    }
  } catch (error) {
    if (error instanceof EmailTooLarge) throw new ProblemError('invalid', texts.tooLarge)
    throw error
  }
}

/** How the client of a draft can pay: as the sent email says, with a link that works. */
async function paymentOf(
  { db, config, account, now, log }: Drafting,
  { about, owed }: { about: (PreviewLine & Pick<ReminderAbout, 'fileId' | 'fileSize'>)[]; owed: { count: number; totalMinor: number } },
  { wording, mostAttached }: { wording: Wording; mostAttached: number },
): Promise<MailPayment | null> {
  const payment = (await readEmailPayments(db, config, [account.id])).get(account.id)
  const [first] = about
  if (!first || !(payment || hasPayLink(wording))) return null
  const invoiceId = about.length === 1 ? first.invoiceId : null
  const clientKey = first.clientEmail.toLowerCase()
  const leavesOut = payment && filesLeftOut({ about, owed, pay: { ...payment, mostAttached } }).length > 0
  const linked = config.payLinks && (payment?.inEmails || leavesOut || hasPayLink(wording))
  const [payLink = null] = linked ? await payLinksFor({ db, config, log }, [{ ownerId: account.id, invoiceId, clientKey }], now) : []
  return { ...nothingToPay, ...payment, payLink, mostAttached }
}

/** The wording belongs to the one email of the run, which must not be on its way already. */
async function refuseUnlessOneEmail(tx: Database, runId: string): Promise<void> {
  const found = await rows(
    tx,
    z.object({ state: z.string() }),
    sql`SELECT d.state FROM deliveries d WHERE ${runId}::uuid IN (d.run_id, d.pulled_by_run_id)`,
  )
  if (found.length > 1) throw new ProblemError('invalid', texts.wording.severalEmails)
  if (found.some(({ state }) => state === 'sending')) throw new ProblemError('conflict', texts.wording.beingSent)
}

const uuid = z.uuid()

/** Ids that could be those of invoices: others find nothing. */
export function validIds(ids: string[]): string[] {
  return [...new Set(ids)].filter((id) => uuid.safeParse(id).success)
}

/** Why chosen invoices are not reminded now, by invoice. */
async function leftOutOf(db: Database, account: AccountRow, lines: PreviewLine[], chosen: string[]): Promise<ReminderDraft['leftOut']> {
  const ids = validIds(chosen)
  const found =
    ids.length === 0
      ? []
      : await db
          .select()
          .from(invoices)
          .where(and(eq(invoices.ownerId, account.id), inArray(invoices.id, ids), isNull(invoices.deletedAt)))
  const byId = new Map(found.map((row) => [row.id, row]))
  const lineOf = new Map(lines.map((line) => [line.invoiceId, line]))
  const t = texts.leftOut
  return [...new Set(chosen)].flatMap((invoiceId) => {
    const row = byId.get(invoiceId)
    const line = lineOf.get(invoiceId)
    if (line && line.sendNowLeft > 0) return []
    if (!row) return { invoiceId, reference: '', clientName: '', words: t.gone }
    const { reference, clientName, clientEmail } = row
    const about = { invoiceId, reference, clientName }
    if (!line) return { ...about, words: t.paid(reference) }
    if (line.daysOverdue < 1) return { ...about, words: t.notDue(reference) }
    if (line.reason === 'address_held') return { ...about, words: t.held(clientEmail) }
    if (line.reason === 'paused') return { ...about, words: t.paused(reference) }
    return { ...about, words: t.limit(reference, sendNowPerDay) }
  })
}

function noneLeft(leftOut: ReminderDraft['leftOut']): ProblemError {
  const [first] = leftOut
  const more = leftOut.length > 1 ? ` ${texts.leftOut.more(leftOut.length - 1)}` : ''
  return new ProblemError('conflict', `${first?.words ?? texts.leftOut.gone}${more}`)
}
