import { and, asc, eq, inArray, isNull, type SQL, sql } from 'drizzle-orm'
import { z } from 'zod'
import { deliveryProblem } from '#contract/delivery-problem.ts'
import type { HoldReason } from '#contract/reminders.ts'
import { EmailTooLarge } from '#contract/templates.ts'
import { type AccountRow, findAccount, lockAccount, lockRow, maySend } from '#server/accounts/accounts.ts'
import { entitlementsOf } from '#server/billing/billing.ts'
import { noteHeldImports } from '#server/invoices/pauses.ts'
import type { AfterChange, Corrected } from '#server/invoices/tables.ts'
import type { Sender, SendingLimits } from '#server/mail/mail.ts'
import type { Mailer, Outcome } from '#server/mail/mailer.ts'
import { readFiles } from '#server/pay/files.ts'
import { cancelChanged, closeAnswers } from '#server/pay/pay.ts'
import type { Instant } from '#server/platform/clock.ts'
import { newId } from '#server/platform/columns.ts'
import { arrayText, columnText, type Database, isUnavailable, rows, statement } from '#server/platform/database.ts'
import type { Deps } from '#server/platform/deps.ts'
import { failPoint } from '#server/platform/fail-point.ts'
import type { Slot, Slots } from '#server/platform/fair-scheduler.ts'
import { speechOf } from '#server/platform/speech.ts'
import type { Wordings } from '#server/templates/templates.ts'
import type { Beginning, PendingMail } from './begin.ts'
import type { ClaimedDelivery } from './claims.ts'
import { attachedFiles, type ComposedMail, composeReminder, type SentBrand, withFiles, withLogo } from './compose.ts'
import { refreshStatistics } from './daily-runs.ts'
import {
  type Copies,
  close,
  closedFor,
  failRefused,
  failTooLarge,
  followHolds,
  giveBack,
  hold,
  holdPaying,
  holdRefused,
  markComposing,
  pending,
  putOff,
  putOffForHost,
  release,
  releasePaying,
  retryAllLater,
  retryLater,
  split,
  stepCame,
  stillPending,
  supersedeAbout,
  takeBack,
  unmark,
} from './deliveries.ts'
import { followAddresses, holdAddress } from './holds.ts'
import type { ConnectPass } from './hosts.ts'
import { deliverJob, wakeAccounts } from './jobs.ts'
import { closeLeftOut, moveLeftOut } from './left-out.ts'
import { pauseSending, roomLeft, takeBackAlike } from './mailbox-pauses.ts'
import { isSentBy, type SendingMailbox } from './mailboxes.ts'
import { neverReminded, owedToday } from './owed.ts'
import { readAhead } from './pending.ts'
import { openRateLimit, putOffInARow, type RateLimit, slowDown } from './rate-limit.ts'
import { planRun } from './runs.ts'
import { localDate, retrySeconds } from './schedule.ts'
import type { Sending } from './sending.ts'
import { countOutcome, mailboxesAtOnce } from './sending.ts'
import { ofAll, runs } from './tables.ts'
import { texts } from './texts.ts'

/** The dependencies of sending. */
export interface Delivering extends Deps, Sending {
  mailer: Mailer
  /** The row in `processes` that claims belong to. */
  processId: string
  /** A number in [0, 1) that spreads retries. */
  random(): number
  /** What a mailbox may send. */
  limitsOf(sender: Sender, now: Instant): SendingLimits
}

/** From so many emails on, a second connection is worth its login. */
const manyForOneConnection = 8
/** Sent emails of a mailbox whose records are still collected; a crash repeats at most these and the two in flight. */
const mostUnrecorded = 6
/** After this time a mailbox with many emails lets another have its turn, if one waits: beginning again costs a connection and reading its emails. */
const sliceMilliseconds = 3_000
/** A minute's turn that is further away, in ms, is a timer: no connection and no mailbox's place is kept for it. */
const longestTurn = 500
/** How long, in s, the emails of a mailbox whose host is down or crowded are put off; a host that is back wakes them earlier. */
const putOffSeconds = { down: [15, 300], busy: [2, 5] } as const
/** How long to wait, in ms, before the next try on a database that is unavailable. */
const awayMilliseconds = 250

/**
 * Sends what one account has pending, of any run, until nothing is due, the slice is over or the process stops.
 *
 * Each email is claimed in one statement that checks again that it is still wanted, then sent, then recorded. A crash between the mail
 * server's "accepted" and the record is the one window that no order of these steps can close (RFC 5321, 4.5.3.2.6): such an email is sent
 * once more, the same bytes under the same Message-ID.
 *
 * `orphaned`: a process died while it was sending for this account, so each email is marked before it is composed.
 */
export async function deliver(deps: Delivering, ownerId: string, stopping: AbortSignal, orphaned = false): Promise<void> {
  if (deps.resting.has(ownerId)) return
  deps.serving.add(ownerId)
  using _served = { [Symbol.dispose]: () => void deps.serving.delete(ownerId) }
  using slots = deps.slots.open(ownerId)
  using attaching = deps.attaching.open(ownerId)
  const shared = { stopping, slots, attaching, orphaned, planning: null }
  const slice: Slice = { ...shared, over: overAfter(deps, stopping, () => slice.others.length > 0), pass: null, sender: null, others: [] }
  let next = await drainMailbox(deps, { ownerId, place: null }, slice)
  // One after the other, so that the account's slots and its job serve all its mailboxes.
  for (const place of slice.others) {
    const own = { ...slice, over: overAfter(deps, stopping, () => true), pass: null, sender: null, others: [] }
    next = sooner(next, await drainMailbox(deps, { ownerId, place }, own))
    slice.planning ??= own.planning
  }
  await slice.planning?.done
  if (stopping.aborted || next === 'done') return
  const wake = () => throughOutages(deps, stopping, () => wakeAccounts(deps.db, deps.queue, [ownerId]))
  if (next === 'again') return wake()
  const cancel = deps.clock.after(next.restMs, () => {
    deps.resting.delete(ownerId)
    // The sweep wakes it where this fails.
    wake().catch((error: unknown) => deps.log.warn({ err: error }, 'A mailbox could not be woken for its turn.'))
  })
  deps.resting.set(ownerId, cancel)
}

/** What comes of a mailbox: nothing more now, another slice, or a timer. */
type Next = 'done' | 'again' | { restMs: number }

/** `awaited`: whether another mailbox of the account waits. */
function overAfter({ clock, serving }: Delivering, stopping: AbortSignal, awaited: () => boolean): () => boolean {
  const began = clock.elapsed()
  return () => stopping.aborted || (clock.elapsed() - began > sliceMilliseconds && (serving.size >= mailboxesAtOnce || awaited()))
}

function sooner(one: Next, other: Next): Next {
  if (one === 'again' || other === 'again') return 'again'
  if (one === 'done') return other
  return other === 'done' || one.restMs < other.restMs ? one : other
}

async function drainMailbox(deps: Delivering, which: Beginning, slice: Slice): Promise<Next> {
  return throughOutages(deps, slice.stopping, () => drain(deps, which, slice)).finally(() => {
    slice.pass?.leave()
    if (slice.sender) deps.mailer.closeIdle(slice.sender)
  })
}

/** The job waits here while the database is unavailable: returned to the queue, it would run much later than the database is back. */
async function throughOutages<T>({ log, clock }: Delivering, stopping: AbortSignal, work: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await work()
    } catch (error) {
      if (!isUnavailable(error) || stopping.aborted) throw error
      log.info({ err: error }, 'Sending waits for the database.')
      await clock.pause(awayMilliseconds)
    }
  }
}

/** Plans the rest of incomplete runs while their first emails are being sent. */
async function planOpenRuns(deps: Delivering, ownerId: string, stopping: AbortSignal): Promise<void> {
  const { db, clock } = deps
  let planned = 0
  await throughOutages(deps, stopping, async () => {
    for (;;) {
      const open = await db
        .select({ id: runs.id })
        .from(runs)
        .where(and(eq(runs.ownerId, ownerId), isNull(runs.plannedAt), isNull(runs.cancelledAt)))
        .orderBy(asc(runs.createdAt))
        .limit(1)
      const [run] = open
      if (!run || stopping.aborted) return
      await db.transaction(async (tx) => {
        const account = await lockAccount(tx, ownerId)
        if (account) planned += await planRun(tx, account, run.id, clock.now())
      })
    }
  })
  await refreshStatistics(db, planned)
}

interface Slice {
  /** Whether its time has ended. */
  over(): boolean
  stopping: AbortSignal
  slots: Slots
  attaching: Slots
  orphaned: boolean
  /** The rest of incomplete runs, which is planned while their first emails are being sent. */
  planning: { done: Promise<void>; ended: boolean } | null
  /** Allows the first connection. */
  pass: ConnectPass | null
  /** The mailbox used last; its idle connections are closed at the end. */
  sender: Sender | null
  /** The places of the mailboxes that follow. */
  others: string[]
}

function startPlanning(deps: Delivering, ownerId: string, stopping: AbortSignal): NonNullable<Slice['planning']> {
  const planning = { done: planOpenRuns(deps, ownerId, stopping), ended: false }
  const end = () => {
    planning.ended = true
  }
  // Errors reach the caller that awaits `done`.
  planning.done.then(end, end)
  return planning
}

/** Sends what is due; returns what is to come. */
async function drain(deps: Delivering, which: Beginning, slice: Slice): Promise<Next> {
  const { ownerId } = which
  const { over, stopping } = slice
  let idle = 0
  let rateLimit: RateLimit | null = null
  let patience = putOffInARow
  for (;;) {
    // Emails added later bring a job of their own.
    const complete = slice.planning?.ended ?? true
    const begun = await deps.begin(which)
    if (!begun) return 'done'
    const { account, sender } = begun
    if (which.place === null) slice.others = begun.others
    // Removed meanwhile.
    else if (!sender) return 'done'
    const reason = holdReason(account, sender)
    if (!sender || reason) {
      await hold(deps.db, ownerId, reason ?? 'not_configured', sender ?? undefined)
      return 'done'
    }
    if (begun.unplanned && !slice.planning) {
      slice.planning = startPlanning(deps, ownerId, stopping)
      continue
    }
    if (!maySend(deps.config, account) && (await holdUnlessConfirmed(deps, ownerId))) return 'done'
    const [first] = begun.pending
    const room = await roomLeft(deps, { account, sender, wanted: first ? recipients(first) : 1 })
    if (room === 0 || (!begun.scheduling && !(await holdUnlessBought(deps, ownerId)))) continue
    const paying = begun.pending.filter((mail) => mail.paying).map(({ id }) => id)
    if (paying.length > 0) {
      await holdPaying(deps.db, ownerId, paying, deps.clock.now())
      continue
    }
    const waiting = fitting(begun.pending, room)
    if (waiting.length === 0) {
      if (complete) return 'done'
      await deps.clock.pause(20)
      continue
    }
    rateLimit ??= await openRateLimit(deps, sender)
    if (rateLimit && rateLimit.untilNext() > longestTurn) return { restMs: rateLimit.untilNext() }
    if (!(await mayConnect(deps, sender, slice))) return 'done'
    slice.sender = sender
    const batch: Batch = {
      ...slice,
      account,
      sender,
      wordings: begun.wordings,
      brand: begun.brand,
      waiting,
      rateLimit,
      composing: new Map(),
      recording: new Set(),
      usedUp: [],
      putOff: 0,
      patience,
      resting: false,
      restUntil: null,
    }
    const moved = await sendAll(deps, batch)
    if (batch.restUntil) {
      await putOff(deps.db, sender, deps.clock.now(), batch.restUntil)
      return 'done'
    }
    if (batch.putOff >= patience) {
      if (await slowDown(deps, sender)) return 'done'
      patience = Number.POSITIVE_INFINITY
    }
    if (rateLimit && batch.resting) return { restMs: rateLimit.untilNext() }
    if (complete && moved === begun.pending.length && begun.pending.length < readAhead) return 'done'
    if (over()) return 'again'
    // A change that affects all of them at once, such as a paused sender, is read again; what remains unexplained waits for the sweep.
    if (moved === 0 && idle++ > 2) return 'done'
  }
}

/** To how many addresses an email goes: each counts towards the limit of its mailbox. */
function recipients({ copies }: PendingMail): number {
  return 1 + copies.length
}

/** The first of these emails, as many as have room. */
function fitting(pending: PendingMail[], room: number): PendingMail[] {
  let left = room
  const over = pending.findIndex((mail) => {
    left -= recipients(mail)
    return left < 0
  })
  return over === -1 ? pending.slice() : pending.slice(0, over)
}

/** What `hosts` knows a mail server by. */
function hostOf({ provider, host, port }: Sender): string {
  return provider === 'smtp' ? `${host?.toLowerCase()}:${port}` : provider
}

/** Whether this mailbox may connect now; if its mail server did not answer others, or too many wait for it, its emails are put off. */
async function mayConnect(deps: Delivering, sender: SendingMailbox, slice: Slice): Promise<boolean> {
  if (slice.pass) return true
  const entry = await deps.hosts.enter(hostOf(sender))
  if ('pass' in entry) {
    slice.pass = entry.pass
    return true
  }
  if (slice.stopping.aborted) return false
  const now = deps.clock.now()
  const [least, most] = 'down' in entry ? putOffSeconds.down : putOffSeconds.busy
  const until = now.add({ seconds: Math.round(least + deps.random() * (most - least)) })
  if ('down' in entry) await putOffForHost(deps.db, sender, { now, until, reply: entry.down })
  else await putOff(deps.db, sender, now, until)
  return false
}

/**
 * Under the account's lock, so that a purchase at this moment either finds nothing held and the emails are sent, or finds all of it and
 * resumes it. Returns whether it is held.
 */
async function holdUnlessBought({ db, clock, config }: Delivering, ownerId: string): Promise<boolean> {
  return db.transaction(async (tx) => {
    await lockAccount(tx, ownerId)
    if ((await entitlementsOf(tx, ownerId, clock.now(), config)).abilities.includes('scheduling')) return false
    await hold(tx, ownerId, 'plan')
    return true
  })
}

/** The same for an email that is confirmed at this moment. */
async function holdUnlessConfirmed({ db, config }: Delivering, ownerId: string): Promise<boolean> {
  return db.transaction(async (tx) => {
    const account = await lockAccount(tx, ownerId)
    if (!account || maySend(config, account)) return false
    await hold(tx, ownerId, 'email_not_confirmed')
    return true
  })
}

function holdReason(account: AccountRow, sender: Sender | null): HoldReason | null {
  if (account.heldAt) return 'operator'
  if (!sender) return 'not_configured'
  return sender.pauseReason === null ? null : 'sending_paused'
}

/** What the concurrent senders of a mailbox share. */
interface Batch extends Slice {
  account: AccountRow
  sender: SendingMailbox
  wordings: Wordings
  brand: SentBrand | null
  waiting: PendingMail[]
  rateLimit: RateLimit | null
  /** The next emails, composed while others are in flight. */
  composing: Map<string, Promise<ComposedMail | null>>
  /** Sent emails that are being recorded while the next ones are in flight. */
  recording: Set<Promise<void>>
  /** Records of emails refused because the mailbox reached its sending limit. */
  usedUp: (() => Promise<void>)[]
  /** How many emails the mail server has deferred since it last accepted one. */
  putOff: number
  /** After how many deferred emails the per-minute limit is checked. */
  patience: number
  /** The next minute's turn is a timer. */
  resting: boolean
  /** The provider wants no email of this mailbox before. */
  restUntil: Instant | null
}

function ended(batch: Batch): boolean {
  return batch.over() || isRefusing(batch)
}

/** Further emails would be refused too. */
function isRefusing({ usedUp, putOff, patience, restUntil }: Batch): boolean {
  return usedUp.length > 0 || putOff >= patience || restUntil !== null
}

/** Returns how many emails changed state. Nothing is in flight when it ends, even when it fails. */
async function sendAll(deps: Delivering, batch: Batch): Promise<number> {
  // Emails of a process that died are tried one at a time.
  const connections = batch.orphaned || batch.waiting.length < manyForOneConnection ? 1 : 2
  const results = await Promise.allSettled(Array.from({ length: connections }, () => sendPending(deps, batch)))
  await Promise.all(batch.recording)
  // The limit of a mailbox is learned from everything it has sent, so this comes last.
  for (const record of batch.usedUp) await record()
  return results.reduce((sum, one) => {
    if (one.status === 'rejected') throw one.reason
    return sum + one.value
  }, 0)
}

/** Sends from the shared list, one after the other, until it is empty; returns how many emails changed state. */
async function sendPending(deps: Delivering, batch: Batch): Promise<number> {
  for (let moved = 0; ; ) {
    if (ended(batch) || batch.waiting.length === 0) return moved
    if (batch.rateLimit && !(await batch.rateLimit.wait(longestTurn))) {
      batch.resting = true
      return moved
    }
    const mail = ended(batch) ? undefined : batch.waiting.shift()
    if (!mail) return moved
    const tried = await (mail.deaths > 0 || batch.orphaned ? sendSuspect(deps, batch, mail) : sendOne(deps, batch, mail))
    moved += tried.moved
    if (tried.last) return moved
  }
}

/** `last`: the next email would fare no better. */
interface Sent {
  moved: number
  last: boolean
}

/** A process may have died of this email, so it is marked before it is composed; if one did with it in hand, it is sent alone. */
async function sendSuspect(deps: Delivering, batch: Batch, mail: PendingMail): Promise<Sent> {
  const slot = mail.deaths > 0 ? await batch.slots.acquire({ alone: true }) : null
  try {
    await markComposing(deps.db, mail.id, deps.processId)
    const sent = await sendOne(deps, batch, mail, slot ?? undefined)
    await Promise.all(batch.recording)
    return sent
  } finally {
    slot?.release()
    await unmark(deps.db, mail.id, deps.processId)
  }
}

/**
 * Claims and sends one email. It is claimed only once a connection is ready, so that an email stopped while a slow server is being reached
 * is never sent.
 */
async function sendOne(
  deps: Delivering,
  batch: Batch,
  mail: PendingMail,
  /** The slot that it has already. */
  own?: Slot,
): Promise<Sent> {
  const composing = batch.composing.get(mail.id) ?? compose(deps, batch, mail)
  composeAhead(deps, batch)
  const composed = await composing.catch((error: unknown) => {
    if (error instanceof EmailTooLarge) return 'too_large' as const
    throw error
  })
  if (composed === 'too_large') return { moved: await failTooLarge(deps.db, mail.id, deps.clock.now()), last: false }
  const ids = attachedFiles(mail)
  // Stored bytes may be from a moment when the plan had white-label.
  const logo = batch.brand?.picture && (batch.brand.whiteLabel || mail.composed) ? batch.brand.picture.image : null
  const slots = ids.length > 0 ? batch.attaching : batch.slots
  const inFlight: InFlight = { claimed: null, since: deps.clock.elapsed(), slot: null }
  const outcome = await deps.mailer
    .send(batch.sender, async () => {
      batch.pass?.connected()
      inFlight.slot = own ?? (await slots.acquire({ server: hostOf(batch.sender), until: batch.stopping }).catch(() => null))
      // An email that has waited for its slot is sent, even if the slice has ended meanwhile.
      if (batch.stopping.aborted || isRefusing(batch)) return null
      // Before the claim, which finds the email changed where one of them was replaced.
      const files = await readFiles(deps.db, batch.account.id, ids)
      if (files.length < ids.length) return null
      const today = localDate(deps.clock.now(), batch.account.timezone)
      inFlight.claimed = await deps.claims.claim({ mail, composed, sender: batch.sender, today })
      inFlight.since = deps.clock.elapsed()
      // Nothing is lost by waiting longer for a slow server, but not in a slot that others need.
      inFlight.slot?.begin(() => inFlight.slot?.release())
      return (
        inFlight.claimed && {
          raw: withFiles(withLogo(inFlight.claimed.raw, logo), files),
          from: batch.sender.address,
          to: mail.clientEmail,
          copies: mail.copies,
        }
      )
    })
    .catch((error: unknown) => {
      inFlight.slot?.release()
      throw error
    })
  if (!outcome) {
    inFlight.slot?.release()
    // One that only changed stays and is read again.
    const which = sql`d.id = ${mail.id}::uuid`
    if (mail.pulledBy !== null) await giveBack(deps.db, which)
    return { moved: ended(batch) ? 0 : await close(deps.db, { now: deps.clock.now(), account: batch.account, which }), last: false }
  }
  countOutcome(deps, outcome.kind)
  const tookMs = deps.clock.elapsed() - inFlight.since
  if (outcome.kind === 'temporary' && outcome.unreached) batch.pass?.failed(outcome.reply)
  else batch.pass?.connected()
  countPutOff(batch, outcome)
  if (outcome.kind === 'temporary' && outcome.retryAfter) batch.restUntil = deps.clock.now().add({ seconds: outcome.retryAfter })
  const record = async () => {
    await recordPersistently(deps, batch, inFlight.claimed, { mail, outcome, tookMs })
    if (inFlight.claimed) deps.claims.release(inFlight.claimed)
    inFlight.slot?.release()
  }
  if (outcome.kind === 'quota') {
    batch.usedUp.push(record)
    return { moved: 1, last: true }
  }
  const recorded = record().finally(() => batch.recording.delete(recorded))
  batch.recording.add(recorded)
  if (batch.recording.size >= mostUnrecorded) await Promise.race(batch.recording)
  // Any other reply may apply to the next email too.
  if (outcome.kind !== 'accepted') await recorded
  return { moved: 1, last: !inFlight.claimed }
}

function countPutOff(batch: Batch, outcome: Outcome): void {
  if (outcome.kind === 'accepted') batch.putOff = 0
  if (outcome.kind === 'temporary' && outcome.ofMailbox) batch.putOff += 1
}

interface InFlight {
  claimed: ClaimedDelivery | null
  /** When it was claimed, or, before that, begun. */
  since: number
  slot: Slot | null
}

/** How many emails are composed ahead: enough that no connection waits for one. */
const wordedAhead = 4

function composeAhead(deps: Delivering, batch: Batch): void {
  if (batch.orphaned) return
  for (const mail of batch.waiting.slice(0, wordedAhead)) {
    if (mail.deaths > 0 || batch.composing.has(mail.id)) continue
    const composing = compose(deps, batch, mail)
    // The error reaches the sender that awaits it; silence `unhandledRejection` until then.
    composing.catch(() => undefined)
    batch.composing.set(mail.id, composing)
  }
}

/** Null where the stored bytes still apply, or nothing is owed any more. */
async function compose(
  { clock }: Delivering,
  { account, sender, wordings, brand }: Batch,
  mail: PendingMail,
): Promise<ComposedMail | null> {
  const [first, ...others] = mail.about
  if (mail.composed || !first) return null
  const now = clock.now()
  return composeReminder({
    id: newId(),
    about: [first, ...others],
    owed: mail.owed,
    wordings: mail.written ? { one: mail.written, group: mail.written } : (mail.step ?? wordings.in(mail.language)),
    speech: speechOf(mail.language),
    brand,
    copies: mail.copies,
    from: { name: mail.fromName, address: sender.address },
    today: mail.clientDate ?? localDate(now, account.timezone),
    now,
    pay: mail.pay,
  })
}

/** Emails closed by one statement: at 18:00 very many are too late. */
const closedAtOnce = 2_000

/** Closes every email whose deadline has passed. Returns how many. */
export async function closeTooLate(db: Database, now: Instant): Promise<number> {
  for (let count = 0; ; ) {
    // A statement of its own: there is rarely one, and as a part of the next one PostgreSQL would read all that wait.
    const late = await rows(
      db,
      z.object({ id: z.string() }),
      sql`SELECT id FROM deliveries WHERE state IN ('queued', 'retrying', 'held') AND ${ofAll} AND deadline_at <= ${now.toString()}::timestamptz ORDER BY deadline_at LIMIT ${closedAtOnce}::int`,
    )
    if (late.length === 0) return count
    const closed = await close(db, { now, account: null, which: sql`d.id = ANY(${arrayText(late.map(({ id }) => id))}::uuid[])` })
    count += closed
    if (closed < closedAtOnce) return count
  }
}

const owner = sql`${sql.placeholder('owner')}::uuid`
const ids = sql`${sql.placeholder('ids')}::uuid[]`
/** What must follow these invoices: usually nothing, which one statement finds out. A notice that was dismissed stays away. */
const readElsewhere = statement(
  z.object({
    emails: z.boolean(),
    holds: z.boolean(),
    answers: z.boolean(),
    payments: z.boolean(),
    notices: z.boolean(),
    imports: z.boolean(),
    closed: z.boolean(),
  }),
  sql`SELECT EXISTS (SELECT 1 FROM delivery_invoices o WHERE o.owner_id = ${owner} AND o.invoice_id = ANY(${ids}) AND o.open) AS emails,
        EXISTS (SELECT 1 FROM address_holds h WHERE h.owner_id = ${owner}) AS holds,
        EXISTS (SELECT 1 FROM pay_answers x WHERE x.owner_id = ${owner} AND x.invoice_id = ANY(${ids}) AND x.state = 'open') AS answers,
        EXISTS (SELECT 1 FROM pay_attempts p WHERE p.owner_id = ${owner} AND p.state IN ('starting', 'open') AND NOT p.cancel_wanted) AS payments,
        EXISTS (SELECT 1 FROM notices n WHERE n.owner_id = ${owner} AND n.kind IN ('promise_broken', 'sequence_ended')) AS notices,
        EXISTS (SELECT 1 FROM notices n WHERE n.owner_id = ${owner} AND n.kind = 'imports_held') AS imports,
        EXISTS (SELECT 1 FROM (SELECT * FROM invoices WHERE owner_id = ${owner} AND id = ANY(${ids}) AND status <> 'paid' AND deleted_at IS NULL OFFSET 0) i
          JOIN ${closedFor(sql`${sql.placeholder('now')}`)}) AS closed`,
)

/** Closes the pending emails of invoices that must not be reminded any more: paid, deleted, or no longer past due. */
async function closeNotOwed(tx: Database, ownerId: string, invoiceIds: string[], now: Instant): Promise<void> {
  const account = await findAccount(tx, ownerId)
  if (!account || invoiceIds.length === 0) return
  await split(tx, ownerId, sql`o.invoice_id IN ${invoiceIds}`)
  await close(tx, {
    now,
    account,
    which: sql`d.id IN (SELECT o.delivery_id FROM delivery_invoices o WHERE o.invoice_id IN ${invoiceIds} AND o.open)`,
  })
}

/**
 * The opposite for invoices that are owed again: reopened, restored or resumed, as by Undo. A grouped email leaves without an invoice that is not owed, so it
 * comes back only where none of them was; and of a step only where that has come by the due date of now.
 */
async function requeueOwed(tx: Database, queue: Deps['queue'], ownerId: string, invoiceIds: string[], now: Instant): Promise<void> {
  const account = await findAccount(tx, ownerId)
  if (!account) return
  const today = localDate(now, account.timezone)
  const found = await rows(
    tx,
    z.object({ id: z.string(), runId: z.string() }),
    // What is owed is looked for once for each email: it may be about a thousand invoices.
    sql`SELECT d.id, d.run_id AS "runId" FROM (
          SELECT DISTINCT d.id FROM (SELECT * FROM invoices WHERE owner_id = ${ownerId}::uuid AND id = ANY(${arrayText(invoiceIds)}::uuid[]) OFFSET 0) i
          JOIN ${closedFor(sql`${now.toString()}`)} WHERE ${stepCame}) closed
        JOIN LATERAL (SELECT * FROM deliveries WHERE deliveries.id = closed.id OFFSET 0) d ON true WHERE EXISTS (SELECT 1 ${owedToday(today)})`,
  )
  if (found.length === 0) return
  const back = Map.groupBy(found, ({ runId }) => runId)
  for (const run of await tx
    .select()
    .from(runs)
    .where(inArray(runs.id, [...back.keys()])))
    await takeBack(tx, run, back.get(run.id)?.map(({ id }) => id) ?? [], now, 'not_owed')
  const its = arrayText(found.map(({ id }) => id))
  await split(tx, ownerId, sql`o.delivery_id = ANY(${its}::uuid[])`)
  await giveBack(tx, sql`d.id = ANY(${its}::uuid[])`)
  await followHolds(tx, ownerId, sql`x.delivery_id = ANY(${its}::uuid[])`, now)
  await closeLeftOut(tx, account, { localDate: today }, now)
  await queue.send(tx, deliverJob, { ownerId })
}

/** Removes the notices that something is still unpaid where it is paid or deleted by now. That of a client's promise names all that they owe. */
async function withdrawUnpaid(tx: Database, ownerId: string, invoiceIds: string[]): Promise<void> {
  const changed = sql`FROM invoices i WHERE i.owner_id = ${ownerId}::uuid AND i.id = ANY(${arrayText(invoiceIds)}::uuid[])
    AND (i.status = 'paid' OR i.deleted_at IS NOT NULL)`
  await tx.execute(sql`DELETE FROM notices n WHERE n.owner_id = ${ownerId}::uuid AND n.kind IN ('promise_broken', 'sequence_ended')
    AND (n.cause IN (SELECT i.id::text ${changed})
      OR n.cause IN (SELECT lower(i.client_email) ${changed} AND NOT EXISTS (
        SELECT 1 FROM invoices o WHERE o.owner_id = i.owner_id AND lower(o.client_email) = lower(i.client_email)
          AND o.status <> 'paid' AND o.deleted_at IS NULL)))`)
}

/** Whether an invoice `i` that was `moved` to another client follows another sequence there, or another clock. */
function isPlannedOtherwise(moved: Corrected[]): SQL {
  return sql`EXISTS (
    SELECT 1 FROM unnest(${columnText(moved, ({ after }) => after.id)}::uuid[], ${columnText(moved, ({ before }) => before.clientEmail.toLowerCase())}::text[]) AS w (id, key)
    JOIN clients b ON b.owner_id = i.owner_id AND b.email_key = w.key JOIN clients a ON a.owner_id = i.owner_id AND a.email_key = lower(i.client_email)
    WHERE w.id = i.id AND (a.timezone IS DISTINCT FROM b.timezone OR (i.follows = 'inherit' AND (a.follows, a.sequence_id) IS DISTINCT FROM (b.follows, b.sequence_id))))`
}

/** What follows in the emails, answers, open online payments and notices of invoices that have changed. */
export function afterInvoiceChange(queue: Deps['queue']): AfterChange {
  return async (tx, ownerId, invoiceIds, now, corrected = []) => {
    if (invoiceIds.length === 0) return false
    const [open] = await readElsewhere(tx, { owner: ownerId, ids: arrayText(invoiceIds), now: now.toString() })
    if (open?.emails) await closeNotOwed(tx, ownerId, invoiceIds, now)
    if (open?.closed) await requeueOwed(tx, queue, ownerId, invoiceIds, now)
    const later = corrected.flatMap(({ before, after }) => (before.dueDate < after.dueDate ? [after.id] : []))
    // The steps come again, by the new one.
    if (open?.emails && later.length > 0)
      await supersedeAbout(tx, ownerId, sql`i.id = ANY(${arrayText(later)}::uuid[])`, sql`${pending} AND d.step_date IS NOT NULL`)
    const moved = corrected.filter(({ before, after }) => before.clientEmail.toLowerCase() !== after.clientEmail.toLowerCase())
    if (open?.emails && moved.length > 0) await supersedeAbout(tx, ownerId, isPlannedOtherwise(moved))
    if (moved.length > 0) await moveLeftOut(tx, ownerId, moved)
    if (open?.holds) await followAddresses(tx, queue, ownerId, invoiceIds, now)
    if (open?.answers || corrected.length > 0) await closeAnswers(tx, ownerId, invoiceIds, now, corrected)
    if (open?.payments) await cancelChanged(tx, ownerId, invoiceIds, now)
    if (open?.notices) await withdrawUnpaid(tx, ownerId, invoiceIds)
    if (open?.imports) await noteHeldImports(tx, ownerId, now)
    return corrected.length > 0 || Object.values(open ?? {}).includes(true)
  }
}

/** How long, in ms, is waited at most before a reply is recorded again: while the database is unavailable, and where it refuses the record. */
const recordAgain = { away: 2_000, refused: 60_000 }

/**
 * An accepted email must be recorded, or it would be sent again, so this ends only with the process: the claim lasts as long. A record that the
 * database keeps refusing is an error for the operator. Meanwhile it holds back the emails of its own account, because a crash repeats what is unrecorded.
 */
async function recordPersistently(deps: Delivering, batch: Batch, claimed: ClaimedDelivery | null, said: Said): Promise<void> {
  const { mail, outcome } = said
  for (let wait = 50; ; ) {
    try {
      await (claimed ? record(deps, batch, claimed, said) : recordUnreachable(deps, batch, said))
      // Its Send Now may have been stopped meanwhile.
      if (mail.pulledBy !== null && outcome.kind !== 'accepted') await giveBack(deps.db, sql`d.id = ${mail.id}::uuid`)
      if (outcome.kind !== 'accepted') await followInFlight(deps.db, batch, said)
      return
    } catch (error) {
      wait = Math.min(wait, isUnavailable(error) ? recordAgain.away : recordAgain.refused)
      // A deadlock, for one, passes at once.
      const level = isUnavailable(error) || wait < recordAgain.away ? 'warn' : 'error'
      const about = { err: error, deliveryId: mail.id, ownerId: batch.account.id }
      deps.log[level](about, 'The reply of the mail server could not be recorded yet; trying again.')
      await deps.clock.pause(wait)
      wait *= 2
    }
  }
}

/** The invoices of an email that are never reminded: usually none. What a person sends again is sent about them too. */
const neverIn = statement(
  z.object({ id: z.string() }),
  sql`SELECT i.id FROM (SELECT invoice_id FROM delivery_invoices WHERE delivery_id = ${sql.placeholder('mail')}::uuid OFFSET 0) x
      JOIN LATERAL (SELECT * FROM invoices WHERE invoices.id = x.invoice_id OFFSET 0) i ON ${neverReminded}
      WHERE NOT EXISTS (SELECT 1 FROM deliveries d JOIN runs r ON r.id = d.run_id WHERE d.id = ${sql.placeholder('mail')}::uuid AND r.kind = 'retry')`,
)

/** What changed while an email was in flight, and was not sent: a corrected address gets an email of its own, and who is never reminded none. */
async function followInFlight(db: Database, { account }: Batch, { mail, outcome }: Said): Promise<void> {
  const never = outcome.kind === 'permanent' ? [] : await neverIn(db, { mail: mail.id })
  if (mail.madeFor === 1 && never.length === 0) return
  await db.transaction(async (tx) => {
    if (mail.madeFor > 1) await split(tx, account.id, sql`o.delivery_id = ${mail.id}::uuid`)
    if (never.length === 0) return
    // That email, and those that were split from it.
    const its = sql`ARRAY(SELECT x.delivery_id FROM delivery_invoices x WHERE x.invoice_id = ANY(${arrayText(never.map(({ id }) => id))}::uuid[]) AND x.open)`
    await supersedeAbout(tx, account.id, neverReminded, sql`d.id = ANY(${its}) AND ${stillPending}`)
  })
}

interface Said {
  mail: PendingMail
  outcome: Outcome
  /** How long it kept a connection. */
  tookMs: number
}

/** Records the mail server's reply to one email. With a claim that was taken away meanwhile it changes nothing: the new claim decides. */
async function record(deps: Delivering, batch: Batch, mail: ClaimedDelivery, said: Said): Promise<void> {
  const { outcome, tookMs } = said
  const { db, clock } = deps
  const tried = { id: mail.id, claim: mail.claim, reply: outcome.reply, now: clock.now(), tookMs }
  failPoint('before-commit')
  switch (outcome.kind) {
    case 'accepted':
      return deps.claims.accepted({ mail, reply: outcome.reply, tookMs, copies: copiesOf(said.mail, outcome.copiesRefused ?? []) })
    case 'permanent': {
      const { reply, ofAddress = false } = outcome
      await db.transaction(async (tx) => {
        // The hold refers to the account, so it waits for a run that is being planned: before any email or invoice, or each would wait for the other.
        if (ofAddress) await lockRow(tx, batch.account.id)
        const invoiceIds = await failRefused(tx, tried)
        if (ofAddress) await holdAddress(tx, batch.account.id, { invoiceIds, reply }, tried.now)
      })
      return ofAddress ? undefined : takeBackAlike(deps, batch, mail.id, reply)
    }
    case 'temporary':
      return retryLater(db, tried, nextTry(deps, mail.attempt, outcome.retryAfter))
    case 'login_refused':
    case 'sender_refused':
    case 'quota':
      await pauseSending(deps, batch, outcome)
      return holdRefused(db, tried, batch.sender)
  }
}

function copiesOf({ copies }: PendingMail, refused: { to: string; reply: string }[]): Copies | null {
  if (copies.length === 0) return null
  const words = refused.map(({ to, reply }) => texts.copyRefused(to, deliveryProblem(reply).words))
  return { accepted: copies.length - refused.length, refused: words.length === 0 ? null : words.join(' ') }
}

async function recordUnreachable(deps: Delivering, batch: Batch, { mail, outcome, tookMs }: Said): Promise<void> {
  if (outcome.kind === 'login_refused' || outcome.kind === 'sender_refused' || outcome.kind === 'quota')
    return pauseSending(deps, batch, outcome)
  const tried = { id: mail.id, sender: batch.sender, reply: outcome.reply, now: deps.clock.now(), tookMs }
  await retryAllLater(deps.db, tried, nextTry(deps, mail.attempt + 1))
}

/** After a growing delay, and not before the provider allows it. */
function nextTry({ clock, random }: Delivering, attempt: number, atLeast = 0): Instant {
  return clock.now().add({ seconds: Math.max(retrySeconds(attempt, random()), atLeast) })
}

/** Resumes emails whose client has paid, has given up, or takes too long. Every few seconds. */
export async function resumePaying({ db, queue, clock }: Pick<Deps, 'db' | 'queue' | 'clock'>): Promise<void> {
  await wakeAccounts(db, queue, await releasePaying(db, clock.now()))
}

/** Resumes emails that were held at the moment when the reason ended. Reads every held email, so every five minutes. */
export async function releaseEnded({ db, clock }: Deps): Promise<void> {
  // Two statements, so that each is a join.
  await release(
    db,
    sql`d.reason IN ('not_configured', 'sending_paused') AND EXISTS (SELECT 1 FROM mail_configs m WHERE ${isSentBy} AND m.pause_reason IS NULL)`,
    clock.now(),
  )
  await release(
    db,
    sql`d.reason = 'operator' AND EXISTS (SELECT 1 FROM accounts a WHERE a.id = d.owner_id AND a.held_at IS NULL)`,
    clock.now(),
  )
}

/** Signals every account with due deliveries or an incomplete run. */
export async function wakeDue({ db, queue, clock }: Deps): Promise<void> {
  const now = clock.now().toString()
  const due = await rows(
    db,
    z.object({ ownerId: z.string() }),
    // Not those whose job waits or runs: at nine o'clock that would be all of them, every five seconds.
    sql`SELECT "ownerId" FROM (
          SELECT DISTINCT owner_id AS "ownerId" FROM deliveries WHERE state IN ('queued', 'retrying') AND ${ofAll} AND next_try_at <= ${now}::timestamptz
          UNION SELECT owner_id FROM runs WHERE planned_at IS NULL AND cancelled_at IS NULL) due
        WHERE NOT EXISTS (SELECT 1 FROM jobs j WHERE j.name = ${deliverJob.name} AND j.key = due."ownerId"::text AND j.turn > 0)`,
  )
  await queue.sendMany(db, deliverJob, due)
}
