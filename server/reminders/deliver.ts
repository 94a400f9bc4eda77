import { setTimeout as pause } from 'node:timers/promises'
import { and, asc, eq, isNull, lte, type SQL, sql } from 'drizzle-orm'
import { z } from 'zod'
import type { HoldReason } from '#contract/reminders.ts'
import type { Wording } from '#contract/templates.ts'
import { lockAccount } from '#server/accounts/accounts.ts'
import { notify } from '#server/accounts/notices.ts'
import { accounts } from '#server/accounts/tables.ts'
import { findSender, pauseSender, resumeSender, type Sender, type SendingLimits } from '#server/mail/mail.ts'
import type { Mailer, Outcome } from '#server/mail/mailer.ts'
import { mailConfigs } from '#server/mail/tables.ts'
import type { Account } from '#server/platform/answer.ts'
import type { Instant } from '#server/platform/clock.ts'
import { instantText, newId } from '#server/platform/columns.ts'
import { changed, type Database, rows } from '#server/platform/database.ts'
import type { Deps } from '#server/platform/deps.ts'
import { failPoint } from '#server/platform/fail-point.ts'
import { readWording } from '#server/templates/templates.ts'
import { type ComposedMail, composeReminder } from './compose.ts'
import { pausedOn, planRun } from './due.ts'
import { deliverJob } from './jobs.ts'
import { dayAfter, localDate, retrySeconds, startOfDay } from './schedule.ts'
import { runs } from './tables.ts'

/** What sending needs beside what everybody is given. */
export interface Delivering extends Deps {
  mailer: Mailer
  /** The row in `processes` that claims belong to. */
  processId: string
  /** A number in [0, 1): spreads retries. */
  chance(): number
  /** What a mailbox may send. */
  limitsOf(sender: Sender): SendingLimits
}

/** In flight for one mailbox at a time. */
const lanes = 2
/** How many mails are read ahead: a mail is claimed one by one all the same. */
const readAhead = 20
/** A mailbox with much to send lets another account have its turn after so long. */
const sliceMilliseconds = 3_000

/**
 * Sends what one account has waiting, whatever run it belongs to, until nothing is due, the slice is over or the process stops.
 *
 * Each mail: claimed in one statement that checks once more that it is still wanted, then sent, then recorded. A crash between the mail
 * server's "accepted" and the record is the one window that no order of these can close (RFC 5321, 4.5.3.2.6): such a mail is sent once
 * more, the same bytes under the same Message-ID.
 */
export async function deliver(deps: Delivering, ownerId: string, stopping: AbortSignal): Promise<void> {
  const began = performance.now()
  const over = () => stopping.aborted || performance.now() - began > sliceMilliseconds
  const planning = planOpenRuns(deps, ownerId, stopping)
  const again = await drain(deps, ownerId, over, planning)
  await planning
  if (again && !stopping.aborted) await deps.db.transaction((tx) => deps.queue.send(tx, deliverJob, { ownerId }))
}

/** Writes down the rest of the mails of runs that are not complete, while the first ones are being sent. */
async function planOpenRuns({ db, clock }: Deps, ownerId: string, stopping: AbortSignal): Promise<void> {
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
      if (account) await planRun(tx, account, run.id, clock.now())
    })
  }
}

/** Answers whether there is more to do at this moment. */
async function drain(deps: Delivering, ownerId: string, over: () => boolean, planning: Promise<void>): Promise<boolean> {
  let planned = false
  let idle = 0
  let pace: Pace | null = null
  void planning.finally(() => {
    planned = true
  })
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
    pace ??= await openPace(deps, sender)
    const waiting = (await readWaiting(deps, account, sender)).slice(0, room)
    if (waiting.length === 0) {
      if (planned) return false
      await pause(20)
      continue
    }
    const wordings = { one: await readWording(deps.db, ownerId, 'one'), group: await readWording(deps.db, ownerId, 'group') }
    const moved = await Promise.all(Array.from({ length: lanes }, () => lane(deps, { account, sender, wordings, waiting, over, pace })))
    if (over()) return true
    // Whatever changed under all of them at once, such as a paused sender, is looked at anew; what cannot be explained waits for the sweep.
    if (moved.every((count) => count === 0) && idle++ > 2) return false
  }
}

function holdReason(sender: Sender | null): HoldReason | null {
  if (!sender) return 'not_configured'
  return sender.pauseReason === null ? null : 'sending_paused'
}

/** What both lanes of a mailbox share. */
interface Batch {
  account: Account
  sender: Sender
  wordings: { one: Wording; group: Wording }
  waiting: WaitingMail[]
  over: () => boolean
  pace: Pace | null
}

/**
 * One after the other from the shared list, until it is empty. Answers how many mails it moved on.
 * A mail is claimed only once a connection is ready for it, so that what is stopped while a slow server is being reached never leaves.
 */
async function lane(deps: Delivering, batch: Batch): Promise<number> {
  for (let moved = 0; ; ) {
    const mail = batch.over() ? undefined : batch.waiting.shift()
    if (!mail) return moved
    await batch.pace?.turn()
    let claimed: ClaimedMail | null = null
    const outcome = await deps.mailer.send(batch.sender, async () => {
      const composed = mail.composed ? null : await compose(deps, batch, mail)
      claimed = await claim(deps, batch, mail, composed)
      return claimed && { raw: claimed.raw, from: batch.sender.address, to: mail.clientEmail }
    })
    if (!outcome) moved += await closeUnwanted(deps, batch.account, mail.id)
    else {
      await recordPersistently(deps, batch, claimed, { mail, outcome })
      if (claimed) inHand.delete((claimed as ClaimedMail).claim)
      moved += 1
      if (!claimed) return moved
    }
  }
}

const waitingMail = z.object({
  id: z.string(),
  attempt: z.number(),
  /** Where it goes: the invoice's address of now. */
  clientEmail: z.string(),
  /** What it would be rendered from now. */
  source: z.string().nullable(),
  /** Whether the stored bytes are of that. */
  composed: z.boolean(),
  /** How many invoices it was made for; those that are not owed any more are not in `about`. */
  madeFor: z.number(),
  about: z.array(
    z.object({
      id: z.string(),
      reference: z.string(),
      clientName: z.string(),
      clientEmail: z.string(),
      amountMinor: z.number(),
      dueDate: z.string(),
      firstMessageId: z.string().nullable(),
    }),
  ),
})
type WaitingMail = z.output<typeof waitingMail>

/**
 * The invoices of a delivery `d` that are still to be reminded: unpaid or overdue, past due today, not deleted, not paused.
 * OFFSET 0 makes Postgres go from the mail to its invoices by their keys, however old its statistics are.
 */
const owedToday = (today: string) => sql`
  FROM (SELECT invoice_id FROM delivery_invoices WHERE delivery_id = d.id OFFSET 0) di
  JOIN LATERAL (SELECT * FROM invoices WHERE invoices.id = di.invoice_id OFFSET 0) i
    ON i.deleted_at IS NULL AND i.status <> 'paid' AND i.due_date < ${today}::date AND NOT ${pausedOn(today)}`

/** What a mail is rendered from: the mailbox, and every invoice in it with its version. Null where nothing is owed any more. */
const sourceOf = (senderId: string, today: string) =>
  sql`(SELECT ${senderId}::text || string_agg(' ' || i.id || '@' || extract(epoch FROM i.updated_at), '' ORDER BY i.id) ${owedToday(today)})`

async function readWaiting({ db, clock }: Delivering, account: Account, sender: Sender): Promise<WaitingMail[]> {
  const now = clock.now()
  const today = localDate(now, account.timezone)
  return rows(
    db,
    waitingMail,
    sql`SELECT d.id, d.attempt, s.source, coalesce(d.raw IS NOT NULL AND d.rendered_from = s.source, false) AS composed,
          (SELECT count(*)::int FROM delivery_invoices n WHERE n.delivery_id = d.id) AS "madeFor",
          s.about, coalesce(s.about->0->>'clientEmail', d.client_email) AS "clientEmail"
        FROM (
          SELECT * FROM deliveries WHERE owner_id = ${account.id}::uuid AND state IN ('queued', 'retrying') AND next_try_at <= ${now.toString()}::timestamptz
          ORDER BY next_try_at, id LIMIT ${readAhead}) d
        CROSS JOIN LATERAL (
          SELECT ${sourceOf(sender.senderId, today)} AS source, coalesce((
            SELECT json_agg(json_build_object('id', i.id, 'reference', i.reference, 'clientName', i.client_name, 'clientEmail', i.client_email,
              'amountMinor', i.amount_minor, 'dueDate', i.due_date::text, 'firstMessageId', i.first_message_id) ORDER BY i.due_date, i.id)
            ${owedToday(today)}), '[]') AS about) s
        ORDER BY d.next_try_at, d.id`,
  )
}

async function compose({ clock }: Delivering, { account, sender, wordings }: Batch, mail: WaitingMail): Promise<ComposedMail | null> {
  const [first, ...others] = mail.about
  if (!first) return null
  const now = clock.now()
  return composeReminder({
    id: newId(),
    about: [first, ...others],
    wordings,
    from: { name: account.displayName, address: sender.address },
    today: localDate(now, account.timezone),
    now,
  })
}

const claimedMail = z.object({
  id: z.string(),
  claim: z.string(),
  attempt: z.number(),
  raw: z.instanceof(Uint8Array).transform((raw) => Buffer.from(raw)),
})
type ClaimedMail = z.output<typeof claimedMail>

/**
 * Takes one mail for this process, if it is still wanted at this very moment: not taken, not cancelled, in time, the invoice still owed and as
 * it was rendered, the sender the same and not paused. The bytes are stored before anything leaves.
 */
async function claim(
  { db, clock, processId }: Delivering,
  { account, sender }: Batch,
  mail: WaitingMail,
  composed: ComposedMail | null,
): Promise<ClaimedMail | null> {
  const now = clock.now()
  const set = composed
    ? sql`, raw = ${composed.raw}, subject = ${composed.subject}, message_id = ${composed.messageId}, rendered_from = ${mail.source}, client_email = ${mail.clientEmail}`
    : sql``
  const ticket = newId()
  const taken = sql`UPDATE deliveries d SET state = 'sending', reason = NULL, attempt = d.attempt + 1, claimed_by = ${processId}::uuid, claim = ${ticket}::uuid${set}
        FROM mail_configs m
        WHERE d.id = ${mail.id}::uuid AND d.state IN ('queued', 'retrying') AND d.deadline_at > ${now.toString()}::timestamptz
          AND m.owner_id = d.owner_id AND m.sender_id = ${sender.senderId}::uuid AND m.pause_reason IS NULL
          AND EXISTS (SELECT 1 FROM runs r WHERE r.id IN (d.run_id, d.pulled_by_run_id) AND r.cancelled_at IS NULL)
          AND ${sourceOf(sender.senderId, localDate(now, account.timezone))} = ${composed ? mail.source : sql`d.rendered_from`}
        RETURNING d.id, d.claim, d.attempt, d.raw`
  inHand.add(ticket)
  let claimed: ClaimedMail | undefined
  try {
    ;[claimed] = await rows(db, claimedMail, mail.about.length === mail.madeFor ? taken : dropping(taken, mail))
  } finally {
    if (!claimed) inHand.delete(ticket)
  }
  if (claimed) failPoint('claim')
  return claimed ?? null
}

/** The tickets that this process holds, from the moment before it asks for one. */
const inHand = new Set<string>()

/**
 * Frees mails that this process has claimed without knowing: the database had said yes, and the answer was lost on the way. None of them
 * has left, for nothing is sent without that answer.
 */
export async function freeLostClaims(db: Database, processId: string): Promise<number> {
  return changed(
    db,
    sql`UPDATE deliveries SET state = 'queued', attempt = attempt - 1, claimed_by = NULL, claim = NULL
        WHERE state = 'sending' AND claimed_by = ${processId}::uuid AND claim <> ALL(${`{${[...inHand].join(',')}}`}::uuid[])`,
  )
}

/** A grouped mail that no longer lists everything it was made for: what is not in it is not reminded by it, and the day's row says so. */
function dropping(taken: SQL, mail: WaitingMail): SQL {
  const listed = sql`${`{${mail.about.map(({ id }) => id).join(',')}}`}::uuid[]`
  return sql`
    WITH claimed AS (${taken}),
    dropped AS (DELETE FROM delivery_invoices di USING claimed WHERE di.delivery_id = claimed.id AND di.invoice_id <> ALL(${listed}) RETURNING di.invoice_id, di.delivery_id),
    told AS (UPDATE decisions x SET rule = 'not_owed', delivery_id = NULL FROM dropped WHERE x.invoice_id = dropped.invoice_id AND x.delivery_id = dropped.delivery_id)
    SELECT * FROM claimed`
}

/** Closes one mail that could not be claimed, if that is for good; where it only changed meanwhile it stays as it is and is read anew. */
async function closeUnwanted({ db, clock }: Delivering, account: Account, id: string): Promise<number> {
  return close(db, { now: clock.now(), account, which: sql`d.id = ${id}::uuid` })
}

/** The end of every mail whose deadline has passed. */
export async function closeTooLate(db: Database, now: Instant): Promise<number> {
  return close(db, { now, account: null, which: sql`d.deadline_at <= ${now.toString()}::timestamptz` })
}

/** Closes the waiting mails of one invoice that is not to be reminded any more: paid, deleted, or no longer past due. */
export async function closeNotOwed(tx: Database, ownerId: string, invoiceIds: string[], now: Instant): Promise<void> {
  const [account] = await tx.select().from(accounts).where(eq(accounts.id, ownerId))
  if (!account || invoiceIds.length === 0) return
  await close(tx, {
    now,
    account,
    which: sql`d.id IN (SELECT o.delivery_id FROM delivery_invoices o WHERE o.invoice_id IN ${invoiceIds} AND o.open)`,
  })
}

/** Closes what waits in vain, and says why: stopped, too late, or (where the account, and so its date, is known) nobody owes it any more. */
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
          UPDATE deliveries d SET reason = judged.why,
            state = CASE judged.why WHEN 'stopped' THEN 'cancelled' WHEN 'not_owed' THEN 'superseded' ELSE 'failed' END,
            server_reply = CASE
              WHEN judged.why <> 'too_late' OR d.server_reply IS NOT NULL THEN d.server_reply
              WHEN d.state = 'held' AND d.reason = 'not_configured' THEN 'Not sent: no mailbox was connected that day.'
              WHEN d.state = 'held' THEN 'Not sent: sending was paused that day.'
              ELSE 'Not sent in time.' END
          FROM judged WHERE d.id = judged.id AND judged.why IS NOT NULL RETURNING d.id)
        UPDATE delivery_invoices SET open = false FROM ended WHERE delivery_id = ended.id`,
  )
}

/** Nothing of this account can be sent at the moment: its mails wait for the reason to end. */
async function holdWaiting(db: Database, ownerId: string, reason: HoldReason): Promise<void> {
  await db.execute(
    sql`UPDATE deliveries SET state = 'held', reason = ${reason} WHERE owner_id = ${ownerId}::uuid AND state IN ('queued', 'retrying')`,
  )
}

/** A mailbox was connected, changed or removed: what was held is tried at once, and held again if need be. */
export async function resumeHeld(tx: Database, queue: Deps['queue'], ownerId: string, now: Instant): Promise<void> {
  const resumed = await changed(
    tx,
    sql`UPDATE deliveries SET state = 'queued', reason = NULL, next_try_at = ${now.toString()}::timestamptz WHERE owner_id = ${ownerId}::uuid AND state = 'held'`,
  )
  if (resumed > 0) await queue.send(tx, deliverJob, { ownerId })
}

/** An accepted mail must be written down even if the database is away for a while: as long as this process lives, the claim is its own. */
async function recordPersistently(deps: Delivering, batch: Batch, claimed: ClaimedMail | null, said: Said): Promise<void> {
  for (let wait = 50; ; wait = Math.min(wait * 2, 2_000)) {
    try {
      await (claimed ? record(deps, batch, claimed, said.outcome) : recordUnreachable(deps, batch, said))
      return
    } catch (error) {
      deps.log.warn({ err: error }, 'What the mail server said could not be written down yet; trying again.')
      await pause(wait)
    }
  }
}

interface Said {
  mail: WaitingMail
  outcome: Outcome
}

/** Nobody but cancelled runs wants the mail `d` any more. */
const stopped = sql`NOT EXISTS (SELECT 1 FROM runs r WHERE r.id IN (d.run_id, d.pulled_by_run_id) AND r.cancelled_at IS NULL)`

/** Writes down what the mail server said about one mail. A claim that was taken away meanwhile changes nothing: whoever has it now tells the truth. */
async function record(deps: Delivering, batch: Batch, mail: ClaimedMail, outcome: Outcome): Promise<void> {
  const { db, clock } = deps
  const now = clock.now()
  const mine = sql`d.id = ${mail.id}::uuid AND d.claim = ${mail.claim}::uuid AND d.state = 'sending'`
  const free = sql`claimed_by = NULL, claim = NULL, server_reply = ${outcome.reply}`
  failPoint('before-commit')
  switch (outcome.kind) {
    case 'accepted':
      await db.execute(sql`
        WITH done AS (
          UPDATE deliveries d SET state = 'sent', sent_at = ${now.toString()}::timestamptz, ${free} WHERE ${mine} RETURNING d.id, d.message_id),
        closed AS (
          UPDATE delivery_invoices di SET open = false FROM done WHERE di.delivery_id = done.id RETURNING di.invoice_id, done.message_id)
        UPDATE invoices i SET reminders_sent = i.reminders_sent + 1, last_reminder_at = ${now.toString()}::timestamptz,
          first_message_id = coalesce(i.first_message_id, closed.message_id)
        FROM closed WHERE i.id = closed.invoice_id`)
      return
    case 'permanent':
      await db.execute(sql`
        WITH done AS (UPDATE deliveries d SET state = 'failed', reason = 'refused', ${free} WHERE ${mine} RETURNING d.id)
        UPDATE delivery_invoices di SET open = false FROM done WHERE di.delivery_id = done.id`)
      return
    case 'temporary':
      return retryLater(deps, { which: mine, set: free, attempt: mail.attempt })
    case 'login_refused':
    case 'quota':
      await pauseSending(deps, batch, outcome)
      await db.execute(sql`
        WITH done AS (
          UPDATE deliveries d SET ${free}, state = CASE WHEN ${stopped} THEN 'cancelled' ELSE 'held' END,
            reason = CASE WHEN ${stopped} THEN 'stopped' ELSE 'sending_paused' END
          WHERE ${mine} RETURNING d.id, d.state)
        UPDATE delivery_invoices di SET open = false FROM done WHERE di.delivery_id = done.id AND done.state = 'cancelled'`)
      return
  }
}

/** The server could not even be asked: that goes for every mail of this mailbox that is due, not just for the first in line. */
async function recordUnreachable(deps: Delivering, batch: Batch, { mail, outcome }: Said): Promise<void> {
  if (outcome.kind === 'login_refused' || outcome.kind === 'quota') return pauseSending(deps, batch, outcome)
  const now = deps.clock.now().toString()
  await retryLater(deps, {
    which: sql`d.owner_id = ${batch.account.id}::uuid AND d.state IN ('queued', 'retrying') AND d.next_try_at <= ${now}::timestamptz`,
    set: sql`attempt = d.attempt + 1, server_reply = ${outcome.reply}`,
    attempt: mail.attempt + 1,
  })
}

/** The next try after a growing pause; where that would be past the deadline, this was the last one. */
async function retryLater({ db, clock, chance }: Delivering, about: { which: SQL; set: SQL; attempt: number }): Promise<void> {
  const next = clock
    .now()
    .add({ seconds: retrySeconds(about.attempt, chance()) })
    .toString()
  await db.execute(sql`
    WITH done AS (
      UPDATE deliveries d SET ${about.set}, next_try_at = ${next}::timestamptz,
        state = CASE WHEN ${stopped} THEN 'cancelled' WHEN d.deadline_at <= ${next}::timestamptz THEN 'failed' ELSE 'retrying' END,
        reason = CASE WHEN ${stopped} THEN 'stopped' WHEN d.deadline_at <= ${next}::timestamptz THEN 'too_late' END
      WHERE ${about.which} RETURNING d.id, d.state)
    UPDATE delivery_invoices di SET open = false FROM done WHERE di.delivery_id = done.id AND done.state <> 'retrying'`)
}

/** Every further try of this mailbox would be refused too, and might lock it: nothing is tried until its owner has done something about it, and is told so once. */
async function pauseSending(
  deps: Delivering,
  { account, sender }: Batch,
  outcome: Outcome & { kind: 'login_refused' | 'quota' },
): Promise<void> {
  const now = deps.clock.now()
  if (outcome.kind === 'quota') {
    const { sent } = await countSent(deps, sender, now)
    const until = startOfDay(dayAfter(localDate(now, account.timezone)), account.timezone)
    return pauseForQuota(deps, account, {
      sender,
      words: `The mail server said: ${outcome.reply}`,
      until,
      learnedPerDay: Math.max(1, sent),
    })
  }
  await deps.db.transaction(async (tx) => {
    const first = await pauseSender(tx, sender, { reason: 'login_refused', words: outcome.reply, until: null, learnedPerDay: null }, now)
    if (!first) return
    deps.log.warn({ ownerId: account.id, reason: outcome.kind }, 'Sending is paused for an account.')
    await notify(
      tx,
      account.id,
      {
        kind: 'login_refused',
        title: 'Your mailbox refused the login',
        text: `Reminders wait until you enter a password that works. The mail server said: ${outcome.reply}`,
        link: '/dashboard/mail-settings',
      },
      now,
    )
  })
}

/** A mailbox that has sent what it may: the rest waits until it may again, and goes first the next day where that is too late for today. */
async function pauseForQuota(
  { db, clock, log }: Delivering,
  account: Account,
  about: { sender: Sender; words: string; until: Instant; learnedPerDay: number | null },
): Promise<void> {
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
    const text = `${about.words} What is left over goes as soon as the mailbox may send again, at the latest with the next daily run, before everything else.`
    await notify(
      tx,
      account.id,
      { kind: 'quota', title: 'Your mailbox has used up its mails for now', text, link: '/dashboard/reminder-control' },
      now,
    )
  })
}

/** Mails accepted from this mailbox in the last 24 hours, and when the first and the last of them were. */
async function countSent({ db }: Delivering, sender: Sender, now: Instant): Promise<{ sent: number; last: string | null }> {
  const dayAgo = now.subtract({ hours: 24 })
  const since = Temporal.Instant.compare(dayAgo, sender.createdAt) > 0 ? dayAgo : sender.createdAt
  const [found] = await rows(
    db,
    z.object({ sent: z.number(), last: instantText.nullable() }),
    sql`SELECT count(*)::int AS sent, max(sent_at) AS last FROM deliveries
        WHERE owner_id = ${sender.ownerId}::uuid AND state = 'sent' AND sent_at >= ${since.toString()}::timestamptz`,
  )
  return found ?? { sent: 0, last: null }
}

/** How many mails the mailbox may still send; one that has sent its day's worth is paused until a tenth of that has rolled out of the 24 hours. */
async function roomLeft(deps: Delivering, account: Account, sender: Sender): Promise<number> {
  const { perDay, provider } = deps.limitsOf(sender)
  if (perDay === null) return readAhead
  const now = deps.clock.now()
  const { sent } = await countSent(deps, sender, now)
  if (sent < perDay) return perDay - sent
  const [room] = await rows(
    deps.db,
    z.object({ sentAt: instantText }),
    sql`SELECT sent_at AS "sentAt" FROM deliveries WHERE owner_id = ${account.id}::uuid AND state = 'sent' AND sent_at > ${now.subtract({ hours: 24 }).toString()}::timestamptz
        ORDER BY sent_at OFFSET ${Math.floor(perDay / 10)} LIMIT 1`,
  )
  const until = (room ? Temporal.Instant.from(room.sentAt) : now).add({ hours: 24 })
  const words = `${provider} allows ${perDay.toLocaleString('en-IN')} mails in 24 hours, and so many have left.`
  await pauseForQuota(deps, account, { sender, words, until, learnedPerDay: null })
  return 0
}

/** Keeps the mails of a mailbox apart where its provider counts by the minute. */
interface Pace {
  turn(): Promise<void>
}

async function openPace(deps: Delivering, sender: Sender): Promise<Pace | null> {
  const { perMinute } = deps.limitsOf(sender)
  if (perMinute === null) return null
  const apart = 60_000 / perMinute
  const now = deps.clock.now()
  const { last } = await countSent(deps, sender, now)
  const sinceLast = last ? now.epochMilliseconds - Temporal.Instant.from(last).epochMilliseconds : apart
  let next = performance.now() + Math.max(0, apart - sinceLast)
  return {
    async turn() {
      const mine = Math.max(next, performance.now())
      next = mine + apart
      await pause(mine - performance.now())
    },
  }
}

/** Mailboxes whose quota has come back go on by themselves. */
export async function endQuotaPauses(db: Database, queue: Deps['queue'], now: Instant): Promise<void> {
  const over = await db.select({ ownerId: mailConfigs.ownerId }).from(mailConfigs).where(lte(mailConfigs.pausedUntil, now)).limit(1_000)
  for (const { ownerId } of over)
    await db.transaction(async (tx) => {
      if (await resumeSender(tx, ownerId, now)) await resumeHeld(tx, queue, ownerId, now)
    })
}

/** Wakes every account that has something to do: a mail whose time has come, a run that is not complete. */
export async function wakeDue({ db, queue, clock }: Deps): Promise<void> {
  const now = clock.now().toString()
  const due = await rows(
    db,
    z.object({ ownerId: z.string() }),
    sql`SELECT DISTINCT owner_id AS "ownerId" FROM deliveries WHERE state IN ('queued', 'retrying') AND next_try_at <= ${now}::timestamptz
        UNION SELECT owner_id FROM runs WHERE planned_at IS NULL AND cancelled_at IS NULL`,
  )
  for (const { ownerId } of due) await db.transaction((tx) => queue.send(tx, deliverJob, { ownerId }))
}
