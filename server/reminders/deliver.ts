import { setTimeout as pause } from 'node:timers/promises'
import { and, asc, eq, isNull, lte, type SQL, sql } from 'drizzle-orm'
import { z } from 'zod'
import type { HoldReason } from '#contract/reminders.ts'
import { EmailTooLarge, type Wording } from '#contract/templates.ts'
import { lockAccount } from '#server/accounts/accounts.ts'
import { notifyOwner } from '#server/accounts/notices.ts'
import { accounts } from '#server/accounts/tables.ts'
import { entitlementsOf } from '#server/billing/billing.ts'
import { findSender, pauseSender, resumeSender, type Sender, type SendingLimits } from '#server/mail/mail.ts'
import type { Mailer, Outcome } from '#server/mail/mailer.ts'
import { mailConfigs } from '#server/mail/tables.ts'
import type { Account } from '#server/platform/answer.ts'
import type { Instant } from '#server/platform/clock.ts'
import { instantText, newId } from '#server/platform/columns.ts'
import { changed, type Database, isUnavailable, rows } from '#server/platform/database.ts'
import type { Deps } from '#server/platform/deps.ts'
import { failPoint } from '#server/platform/fail-point.ts'
import type { Slots } from '#server/platform/fair-scheduler.ts'
import { readWording } from '#server/templates/templates.ts'
import type { ClaimedDelivery, Claims } from './claims.ts'
import { type ComposedMail, composeReminder } from './compose.ts'
import { heldTooLong, holdScheduled, holdWaiting, notInTime, resumeHeld } from './holds.ts'
import { deliverJob } from './jobs.ts'
import { owedToday, type PendingDelivery, readAhead, readPending } from './pending.ts'
import { countSent, openRateLimit, putOffInARow, type RateLimit, slowDown } from './rate-limit.ts'
import { planRun } from './runs.ts'
import { dayAfter, localDate, retrySeconds, startOfDay } from './schedule.ts'
import { runs } from './tables.ts'
import { holdTexts, texts } from './texts.ts'

/** The dependencies of sending. */
export interface Delivering extends Deps {
  mailer: Mailer
  /** The row in `processes` that claims belong to. */
  processId: string
  claims: Claims
  /** A number in [0, 1) that spreads retries. */
  random(): number
  /** What a mailbox may send. */
  limitsOf(sender: Sender, now: Instant): SendingLimits
}

/** Emails in flight for one mailbox at a time. */
const concurrency = 2
/** After this time a mailbox with many emails lets another account have its turn. */
const sliceMilliseconds = 3_000
/** From this many new rows on, the planner's statistics must be refreshed. */
const manyAtOnce = 1_000
/** Below this the quota was consumed outside Duely, so no limit may be learned from it. */
const leastPerDay = 20
/** How long to wait, in ms, before the next try on a database that is unavailable. */
const awayMilliseconds = 250

/**
 * Sends what one account has pending, of any run, until nothing is due, the slice is over or the process stops.
 *
 * Each email is claimed in one statement that checks again that it is still wanted, then sent, then recorded. A crash between the mail
 * server's "accepted" and the record is the one window that no order of these steps can close (RFC 5321, 4.5.3.2.6): such an email is sent
 * once more, the same bytes under the same Message-ID.
 */
export async function deliver(deps: Delivering, ownerId: string, stopping: AbortSignal): Promise<void> {
  const began = performance.now()
  const over = () => stopping.aborted || performance.now() - began > sliceMilliseconds
  using slots = deps.claims.scheduler.open(ownerId)
  const planning = planOpenRuns(deps, ownerId, stopping)
  // Errors are handled below; silence `unhandledRejection` until then.
  planning.catch(() => undefined)
  const resting: Resting = { sender: null }
  const again = await throughOutages(deps, stopping, () => drain(deps, ownerId, { over, stopping, planning, slots, resting })).finally(
    () => {
      if (resting.sender) deps.mailer.closeIdle(resting.sender)
    },
  )
  await planning
  if (again && !stopping.aborted)
    await throughOutages(deps, stopping, () => deps.db.transaction((tx) => deps.queue.send(tx, deliverJob, { ownerId })))
}

/** The job waits here while the database is unavailable: returned to the queue, it would run much later than the database is back. */
async function throughOutages<T>({ log }: Delivering, stopping: AbortSignal, work: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await work()
    } catch (error) {
      if (!isUnavailable(error) || stopping.aborted) throw error
      log.info({ err: error }, 'Sending waits for the database.')
      await pause(awayMilliseconds)
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
  // Plans made while these tables were small would read all of them for every email.
  if (planned >= manyAtOnce) await db.execute(sql`ANALYZE deliveries, delivery_invoices, decisions`)
}

/** The mailbox used last; its idle connections are closed at the end. */
interface Resting {
  sender: Sender | null
}

interface Slice {
  resting: Resting
  over(): boolean
  stopping: AbortSignal
  planning: Promise<void>
  slots: Slots
}

/** Returns whether more is due at this moment. */
async function drain(deps: Delivering, ownerId: string, { over, stopping, planning, slots, resting }: Slice): Promise<boolean> {
  let planned = false
  let idle = 0
  let rateLimit: RateLimit | null = null
  let patience = putOffInARow
  const done = () => {
    planned = true
  }
  planning.then(done, done)
  for (;;) {
    const sender = await findSender(deps.db, ownerId)
    const hold = holdReason(sender)
    if (!sender || hold) {
      await holdWaiting(deps.db, ownerId, hold ?? 'not_configured')
      return false
    }
    const [account] = await deps.db.select().from(accounts).where(eq(accounts.id, ownerId))
    if (!account) return false
    const room = await roomLeft(deps, account, sender)
    if (room === 0) continue
    rateLimit ??= await openRateLimit(deps, sender)
    const scheduling = (await maySchedule(deps, deps.db, ownerId)) || !(await holdUnlessBought(deps, ownerId))
    // Emails added later bring a job of their own.
    const complete = planned
    const read = await readPending(deps.db, { account, sender, scheduling, now: deps.clock.now() })
    const waiting = read.slice(0, room)
    if (waiting.length === 0) {
      if (complete) return false
      await pause(20)
      continue
    }
    const wordings = { one: await readWording(deps.db, ownerId, 'one'), group: await readWording(deps.db, ownerId, 'group') }
    resting.sender = sender
    const batch: Batch = {
      account,
      sender,
      wordings,
      waiting,
      over,
      stopping,
      rateLimit,
      slots,
      composing: new Map(),
      recording: new Set(),
      usedUp: [],
      putOff: 0,
      patience,
    }
    const moved = await sendAll(deps, batch)
    if (batch.putOff >= patience) {
      if (await slowDown(deps, sender)) return false
      patience = Number.POSITIVE_INFINITY
    }
    if (over()) return true
    if (complete && moved === read.length && read.length < readAhead) return false
    // A change that affects all of them at once, such as a paused sender, is read again; what remains unexplained waits for the sweep.
    if (moved === 0 && idle++ > 2) return false
  }
}

async function maySchedule({ clock, config }: Delivering, db: Database, ownerId: string): Promise<boolean> {
  return (await entitlementsOf(db, ownerId, clock.now(), config)).abilities.includes('scheduling')
}

/**
 * Under the account's lock, so that a purchase at this moment either finds nothing held and the emails are sent, or finds all of it and
 * resumes it. Returns whether it is held.
 */
async function holdUnlessBought(deps: Delivering, ownerId: string): Promise<boolean> {
  return deps.db.transaction(async (tx) => {
    await lockAccount(tx, ownerId)
    if (await maySchedule(deps, tx, ownerId)) return false
    await holdScheduled(tx, ownerId)
    return true
  })
}

function holdReason(sender: Sender | null): HoldReason | null {
  if (!sender) return 'not_configured'
  return sender.pauseReason === null ? null : 'sending_paused'
}

/** What the concurrent senders of a mailbox share. */
interface Batch {
  account: Account
  sender: Sender
  wordings: { one: Wording; group: Wording }
  waiting: PendingDelivery[]
  over: () => boolean
  stopping: AbortSignal
  rateLimit: RateLimit | null
  slots: Slots
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
}

function ended(batch: Batch): boolean {
  return batch.over() || isRefusing(batch)
}

/** Further emails would be refused too. */
function isRefusing({ usedUp, putOff, patience }: Batch): boolean {
  return usedUp.length > 0 || putOff >= patience
}

/** Returns how many emails changed state. Nothing is in flight when it ends, even when it fails. */
async function sendAll(deps: Delivering, batch: Batch): Promise<number> {
  const results = await Promise.allSettled(Array.from({ length: concurrency }, () => sendPending(deps, batch)))
  await Promise.all(batch.recording)
  // The limit of a mailbox is learned from everything it has sent, so this comes last.
  for (const record of batch.usedUp) await record()
  return results.reduce((sum, one) => {
    if (one.status === 'rejected') throw one.reason
    return sum + one.value
  }, 0)
}

/**
 * Sends from the shared list, one after the other, until it is empty; returns how many emails changed state. An email is claimed only once
 * a connection is ready, so that an email stopped while a slow server is being reached is never sent.
 */
async function sendPending(deps: Delivering, batch: Batch): Promise<number> {
  for (let moved = 0; ; ) {
    const mail = ended(batch) ? undefined : batch.waiting.shift()
    if (!mail) return moved
    const composing = batch.composing.get(mail.id) ?? compose(deps, batch, mail)
    composeAhead(deps, batch)
    const composed = await composing.catch((error: unknown) => {
      if (error instanceof EmailTooLarge) return 'too_large' as const
      throw error
    })
    if (composed === 'too_large') {
      moved += await failTooLarge(deps, mail.id)
      continue
    }
    const inFlight: InFlight = { claimed: null, release: () => undefined }
    const outcome = await deps.mailer
      .send(batch.sender, async () => {
        await batch.rateLimit?.wait()
        inFlight.release = (await batch.slots.acquire()).release
        // An email that has waited for its slot is sent, even if the slice has ended meanwhile.
        if (batch.stopping.aborted || isRefusing(batch)) return null
        const today = localDate(deps.clock.now(), batch.account.timezone)
        inFlight.claimed = await deps.claims.claim({ mail, composed, senderId: batch.sender.senderId, today })
        return inFlight.claimed && { raw: inFlight.claimed.raw, from: batch.sender.address, to: mail.clientEmail }
      })
      .catch((error: unknown) => {
        inFlight.release()
        throw error
      })
    if (!outcome) {
      inFlight.release()
      if (!ended(batch)) moved += await closeUnwanted(deps, batch.account, mail.id)
      continue
    }
    moved += 1
    countPutOff(batch, outcome)
    const record = async () => {
      await recordPersistently(deps, batch, inFlight.claimed, { mail, outcome })
      if (inFlight.claimed) deps.claims.release(inFlight.claimed)
      inFlight.release()
    }
    if (outcome.kind === 'quota') {
      batch.usedUp.push(record)
      return moved
    }
    const recorded = record().finally(() => batch.recording.delete(recorded))
    batch.recording.add(recorded)
    // Any other reply may apply to the next email too.
    if (outcome.kind !== 'accepted') await recorded
    if (!inFlight.claimed) return moved
  }
}

function countPutOff(batch: Batch, outcome: Outcome): void {
  if (outcome.kind === 'accepted') batch.putOff = 0
  if (outcome.kind === 'temporary' && outcome.ofMailbox) batch.putOff += 1
}

interface InFlight {
  claimed: ClaimedDelivery | null
  release(): void
}

/** How many emails are composed ahead: enough that no connection waits for one. */
const wordedAhead = 4

function composeAhead(deps: Delivering, batch: Batch): void {
  for (const mail of batch.waiting.slice(0, wordedAhead)) {
    if (batch.composing.has(mail.id)) continue
    const composing = compose(deps, batch, mail)
    // The error reaches the sender that awaits it; silence `unhandledRejection` until then.
    composing.catch(() => undefined)
    batch.composing.set(mail.id, composing)
  }
}

/** Null where the stored bytes still apply, or nothing is owed any more. */
async function compose({ clock }: Delivering, { account, sender, wordings }: Batch, mail: PendingDelivery): Promise<ComposedMail | null> {
  const [first, ...others] = mail.about
  if (mail.composed || !first) return null
  const now = clock.now()
  return composeReminder({
    id: newId(),
    about: [first, ...others],
    owed: mail.owed,
    wordings,
    from: { name: account.displayName, address: sender.address },
    today: localDate(now, account.timezone),
    now,
  })
}

/** Fails an email that its template makes too large: no later try could make it smaller. */
async function failTooLarge({ db }: Delivering, id: string): Promise<number> {
  const closed = await changed(
    db,
    sql`WITH failed AS (
          UPDATE deliveries SET state = 'failed', reason = 'too_large', server_reply = ${texts.tooLarge}
          WHERE id = ${id}::uuid AND state IN ('queued', 'retrying') RETURNING id)
        UPDATE delivery_invoices SET open = false FROM failed WHERE delivery_id = failed.id`,
  )
  return Math.min(closed, 1)
}

/** Closes an email that could not be claimed, if that is permanent; one that only changed stays and is read again. */
async function closeUnwanted({ db, clock }: Delivering, account: Account, id: string): Promise<number> {
  return close(db, { now: clock.now(), account, which: sql`d.id = ${id}::uuid` })
}

/** Closes every email whose deadline has passed. */
export async function closeTooLate(db: Database, now: Instant): Promise<number> {
  return close(db, { now, account: null, which: sql`d.deadline_at <= ${now.toString()}::timestamptz` })
}

/** Closes the pending emails of invoices that must not be reminded any more: paid, deleted, or no longer past due. */
export async function closeNotOwed(tx: Database, ownerId: string, invoiceIds: string[], now: Instant): Promise<void> {
  const [account] = await tx.select().from(accounts).where(eq(accounts.id, ownerId))
  if (!account || invoiceIds.length === 0) return
  await mailApart(tx, ownerId, sql`o.invoice_id IN ${invoiceIds}`)
  await close(tx, {
    now,
    account,
    which: sql`d.id IN (SELECT o.delivery_id FROM delivery_invoices o WHERE o.invoice_id IN ${invoiceIds} AND o.open)`,
  })
}

const movedAway = z.object({ invoiceId: z.string(), deliveryId: z.string() })

/** An invoice whose address changed while a grouped email waits gets an email of its own, in the same run. */
async function mailApart(tx: Database, ownerId: string, which: SQL): Promise<void> {
  const moved = await rows(
    tx,
    movedAway,
    sql`SELECT o.invoice_id AS "invoiceId", o.delivery_id AS "deliveryId"
        FROM delivery_invoices o JOIN deliveries d ON d.id = o.delivery_id JOIN invoices i ON i.id = o.invoice_id
        WHERE o.owner_id = ${ownerId}::uuid AND ${which} AND o.open AND d.state IN ('queued', 'retrying', 'held')
          AND lower(i.client_email) <> lower(d.client_email)
          AND EXISTS (SELECT 1 FROM delivery_invoices n WHERE n.delivery_id = d.id AND n.invoice_id <> o.invoice_id)
        FOR UPDATE OF d SKIP LOCKED`,
  )
  for (const { invoiceId, deliveryId } of moved) {
    const own = newId()
    const mine = sql`owner_id = ${ownerId}::uuid AND delivery_id = ${deliveryId}::uuid AND invoice_id = ${invoiceId}::uuid`
    await tx.execute(sql`
      INSERT INTO deliveries (id, owner_id, run_id, pulled_by_run_id, client_email, state, reason, created_at, next_try_at, deadline_at)
      SELECT ${own}::uuid, d.owner_id, d.run_id, d.pulled_by_run_id, i.client_email, CASE d.state WHEN 'held' THEN 'held' ELSE 'queued' END, d.reason,
        d.created_at, d.next_try_at, d.deadline_at
      FROM deliveries d JOIN invoices i ON i.owner_id = d.owner_id AND i.id = ${invoiceId}::uuid WHERE d.id = ${deliveryId}::uuid AND d.owner_id = ${ownerId}::uuid`)
    await tx.execute(sql`UPDATE delivery_invoices SET delivery_id = ${own}::uuid WHERE ${mine}`)
    await tx.execute(sql`UPDATE decisions SET delivery_id = ${own}::uuid WHERE ${mine}`)
  }
}

const tooLateWords = sql.join(
  Object.entries(holdTexts).map(([reason, { tooLate }]) => sql`WHEN ${reason} THEN ${tooLate}`),
  sql` `,
)

/**
 * Closes what can no longer be sent, with the reason: stopped, too late, or (where the account, and so its date, is known) nothing owed.
 */
async function close(db: Database, about: { now: Instant; account: Account | null; which: SQL }): Promise<number> {
  const notOwed = about.account
    ? sql`WHEN NOT EXISTS (SELECT 1 ${owedToday(localDate(about.now, about.account.timezone))}) THEN 'not_owed'`
    : sql``
  const why = sql`CASE
      WHEN NOT EXISTS (SELECT 1 FROM runs r WHERE r.id IN (d.run_id, d.pulled_by_run_id) AND r.cancelled_at IS NULL) THEN 'stopped'
      WHEN d.deadline_at <= ${about.now.toString()}::timestamptz THEN 'too_late' ${notOwed} END`
  return changed(
    db,
    sql`WITH judged AS (
          SELECT d.id, ${why} AS why FROM deliveries d WHERE ${about.which} AND d.state IN ('queued', 'retrying', 'held') FOR UPDATE SKIP LOCKED),
        ended AS (
          UPDATE deliveries d SET reason = CASE WHEN judged.why = 'too_late' AND d.state = 'held' THEN ${heldTooLong} ELSE judged.why END,
            state = CASE judged.why WHEN 'stopped' THEN 'cancelled' WHEN 'not_owed' THEN 'superseded' ELSE 'failed' END,
            server_reply = CASE
              WHEN judged.why <> 'too_late' OR d.server_reply IS NOT NULL THEN d.server_reply
              WHEN d.state = 'held' THEN CASE d.reason ${tooLateWords} ELSE ${notInTime} END
              ELSE ${notInTime} END
          FROM judged WHERE d.id = judged.id AND judged.why IS NOT NULL RETURNING d.id)
        UPDATE delivery_invoices SET open = false FROM ended WHERE delivery_id = ended.id`,
  )
}

/** An accepted email must be recorded even if the database is unavailable for a while: the claim lasts as long as this process. */
async function recordPersistently(deps: Delivering, batch: Batch, claimed: ClaimedDelivery | null, said: Said): Promise<void> {
  const { mail, outcome } = said
  for (let wait = 50; ; wait = Math.min(wait * 2, 2_000)) {
    try {
      await (claimed ? record(deps, batch, claimed, said) : recordUnreachable(deps, batch, said))
      // An address that was corrected while its email was in flight gets an email of its own.
      if (mail.madeFor > 1 && outcome.kind !== 'accepted')
        await deps.db.transaction((tx) => mailApart(tx, batch.account.id, sql`o.delivery_id = ${mail.id}::uuid`))
      return
    } catch (error) {
      deps.log.warn({ err: error }, 'The reply of the mail server could not be recorded yet; trying again.')
      await pause(wait)
    }
  }
}

interface Said {
  mail: PendingDelivery
  outcome: Outcome
}

/** Every run that wants the email `d` was cancelled. */
const stopped = sql`NOT EXISTS (SELECT 1 FROM runs r WHERE r.id IN (d.run_id, d.pulled_by_run_id) AND r.cancelled_at IS NULL)`

/** Records the mail server's reply to one email. With a claim that was taken away meanwhile it changes nothing: the new claim decides. */
async function record(deps: Delivering, batch: Batch, mail: ClaimedDelivery, { outcome }: Said): Promise<void> {
  const { db } = deps
  const mine = sql`d.id = ${mail.id}::uuid AND d.claim = ${mail.claim}::uuid AND d.state = 'sending'`
  const free = sql`claimed_by = NULL, claim = NULL, server_reply = ${outcome.reply}`
  failPoint('before-commit')
  switch (outcome.kind) {
    case 'accepted':
      return deps.claims.accepted({ mail, reply: outcome.reply })
    case 'permanent':
      await db.execute(sql`
        WITH done AS (UPDATE deliveries d SET state = 'failed', reason = 'refused', ${free} WHERE ${mine} RETURNING d.id, d.client_email),
        closed AS (UPDATE delivery_invoices di SET open = false FROM done WHERE di.delivery_id = done.id RETURNING di.invoice_id, done.client_email)
        UPDATE invoices i SET refusal = ${outcome.reply} FROM closed
        WHERE i.id = closed.invoice_id AND lower(i.client_email) = lower(closed.client_email)`)
      return
    case 'temporary':
      return retryLater(deps, { which: mine, set: free, attempt: mail.attempt })
    case 'login_refused':
    case 'quota':
      await pauseSending(deps, batch, outcome)
      // Where another mailbox was connected meanwhile, the refusal of this one must not hold anything.
      await db.execute(sql`
        WITH done AS (
          UPDATE deliveries d SET ${free},
            state = CASE WHEN ${stopped} THEN 'cancelled' WHEN ${isPaused(batch.sender)} THEN 'held' ELSE 'queued' END,
            reason = CASE WHEN ${stopped} THEN 'stopped' WHEN ${isPaused(batch.sender)} THEN 'sending_paused' END
          WHERE ${mine} RETURNING d.id, d.state)
        UPDATE delivery_invoices di SET open = false FROM done WHERE di.delivery_id = done.id AND done.state = 'cancelled'`)
      return
  }
}

function isPaused({ ownerId, senderId }: Sender): SQL {
  return sql`EXISTS (SELECT 1 FROM mail_configs m WHERE m.owner_id = ${ownerId}::uuid AND m.sender_id = ${senderId}::uuid AND m.pause_reason IS NOT NULL)`
}

/** An unreachable server concerns every due email of this mailbox, not just the first in line. */
async function recordUnreachable(deps: Delivering, batch: Batch, { mail, outcome }: Said): Promise<void> {
  if (outcome.kind === 'login_refused' || outcome.kind === 'quota') return pauseSending(deps, batch, outcome)
  const now = deps.clock.now().toString()
  await retryLater(deps, {
    which: sql`d.owner_id = ${batch.account.id}::uuid AND d.state IN ('queued', 'retrying') AND d.next_try_at <= ${now}::timestamptz`,
    set: sql`attempt = d.attempt + 1, server_reply = ${outcome.reply}`,
    attempt: mail.attempt + 1,
  })
}

/** Schedules the next try after a growing delay; where that is past the deadline, this was the last one. */
async function retryLater({ db, clock, random }: Delivering, about: { which: SQL; set: SQL; attempt: number }): Promise<void> {
  const next = clock
    .now()
    .add({ seconds: retrySeconds(about.attempt, random()) })
    .toString()
  await db.execute(sql`
    WITH done AS (
      UPDATE deliveries d SET ${about.set}, next_try_at = ${next}::timestamptz,
        state = CASE WHEN ${stopped} THEN 'cancelled' WHEN d.deadline_at <= ${next}::timestamptz THEN 'failed' ELSE 'retrying' END,
        reason = CASE WHEN ${stopped} THEN 'stopped' WHEN d.deadline_at <= ${next}::timestamptz THEN 'too_late' END
      WHERE ${about.which} RETURNING d.id, d.state)
    UPDATE delivery_invoices di SET open = false FROM done WHERE di.delivery_id = done.id AND done.state <> 'retrying'`)
}

/**
 * More tries would be refused too and might lock the mailbox, so nothing is sent until its owner reconnects it. The owner is notified once.
 */
async function pauseSending(
  deps: Delivering,
  { account, sender }: Batch,
  outcome: Outcome & { kind: 'login_refused' | 'quota' },
): Promise<void> {
  const now = deps.clock.now()
  if (outcome.kind === 'quota') {
    const { sent } = await countSent(deps, sender, now.subtract({ hours: 24 }))
    const until = startOfDay(dayAfter(localDate(now, account.timezone)), account.timezone)
    return pauseForQuota(deps, account, {
      sender,
      words: texts.quota.replied(outcome.reply),
      until,
      // So few show that the quota was consumed elsewhere, not what the mailbox allows.
      learnedPerDay: sent < leastPerDay ? null : sent,
    })
  }
  await deps.db.transaction(async (tx) => {
    const first = await pauseSender(tx, sender, { reason: 'login_refused', words: outcome.reply, until: null, learnedPerDay: null }, now)
    if (!first) return
    deps.log.warn({ ownerId: account.id, reason: outcome.kind }, 'Sending is paused for an account.')
    const about =
      sender.provider === 'gmail'
        ? { title: texts.login.gmailTitle, text: texts.login.gmail(outcome.reply) }
        : { title: texts.login.smtpTitle, text: texts.login.smtp(outcome.reply) }
    await notifyOwner(tx, deps, account, { kind: 'login_refused', ...about, link: '/dashboard/mail-settings' }, now)
  })
}

/**
 * A mailbox that reached its limit: the rest waits until it may send again, and goes first the next day where that is too late for today.
 */
async function pauseForQuota(
  deps: Delivering,
  account: Account,
  about: { sender: Sender; words: string; until: Instant; learnedPerDay: number | null },
): Promise<void> {
  const { db, clock, log } = deps
  const now = clock.now()
  await db.transaction(async (tx) => {
    const first = await pauseSender(
      tx,
      about.sender,
      { reason: 'quota', words: about.words, until: about.until, learnedPerDay: about.learnedPerDay },
      now,
    )
    if (!first) return
    log.warn({ ownerId: account.id, reason: 'quota' }, 'Sending is paused for an account.')
    await notifyOwner(
      tx,
      deps,
      account,
      { kind: 'quota', title: texts.quota.title, text: texts.quota.text(about.words), link: '/dashboard/reminder-control' },
      now,
    )
  })
}

/** How many emails the mailbox may still send. One at its daily limit is paused until a tenth of it has left the last 24 hours. */
async function roomLeft(deps: Delivering, account: Account, sender: Sender): Promise<number> {
  const now = deps.clock.now()
  const { perDay, provider } = deps.limitsOf(sender, now)
  if (perDay === null) return readAhead
  const { sent } = await countSent(deps, sender, now.subtract({ hours: 24 }))
  if (sent < perDay) return perDay - sent
  const [room] = await rows(
    deps.db,
    z.object({ sentAt: instantText }),
    sql`SELECT sent_at AS "sentAt" FROM deliveries WHERE owner_id = ${account.id}::uuid AND state = 'sent' AND sent_at > ${now.subtract({ hours: 24 }).toString()}::timestamptz
        ORDER BY sent_at OFFSET ${Math.floor(perDay / 10)} LIMIT 1`,
  )
  const until = (room ? Temporal.Instant.from(room.sentAt) : now).add({ hours: 24 })
  const words = texts.quota.allowance(provider, perDay)
  await pauseForQuota(deps, account, { sender, words, until, learnedPerDay: null })
  return 0
}

/** Resumes mailboxes whose quota has come back. */
export async function endQuotaPauses(db: Database, queue: Deps['queue'], now: Instant): Promise<void> {
  const over = await db.select({ ownerId: mailConfigs.ownerId }).from(mailConfigs).where(lte(mailConfigs.pausedUntil, now)).limit(1_000)
  for (const { ownerId } of over)
    await db.transaction(async (tx) => {
      if (await resumeSender(tx, ownerId, now)) await resumeHeld(tx, queue, ownerId, now)
    })
}

/**
 * Signals every account with due deliveries or an incomplete run. Emails that were held at the moment when the reason ended are resumed
 * first.
 */
export async function wakeDue({ db, queue, clock }: Deps): Promise<void> {
  const now = clock.now().toString()
  await db.execute(sql`
    UPDATE deliveries d SET state = 'queued', reason = NULL, next_try_at = ${now}::timestamptz FROM mail_configs m
    WHERE d.state = 'held' AND d.reason IN ('not_configured', 'sending_paused') AND m.owner_id = d.owner_id AND m.pause_reason IS NULL`)
  const due = await rows(
    db,
    z.object({ ownerId: z.string() }),
    sql`SELECT DISTINCT owner_id AS "ownerId" FROM deliveries WHERE state IN ('queued', 'retrying') AND next_try_at <= ${now}::timestamptz
        UNION SELECT owner_id FROM runs WHERE planned_at IS NULL AND cancelled_at IS NULL`,
  )
  for (const { ownerId } of due) await db.transaction((tx) => queue.send(tx, deliverJob, { ownerId }))
}
