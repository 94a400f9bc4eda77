import { lte, sql } from 'drizzle-orm'
import { z } from 'zod'
import { screens, withQuery } from '#contract/screens.ts'
import { type AccountRow, findAccount, lockAccount } from '#server/accounts/accounts.ts'
import { hasNotice, notifyOwner } from '#server/accounts/notices.ts'
import {
  adviceFor,
  composeText,
  dueRefusedSenders,
  findSenders,
  firstSenderTry,
  limitsOf,
  pauseSender,
  providerNames,
  resumeAfterLogin,
  resumeSender,
  type Sender,
  type SendingLimits,
  takeSenderTry,
} from '#server/mail/mail.ts'
import type { Mailer, Outcome } from '#server/mail/mailer.ts'
import { mailConfigs } from '#server/mail/tables.ts'
import type { Instant } from '#server/platform/clock.ts'
import { instantText, newId } from '#server/platform/columns.ts'
import { type Database, rows } from '#server/platform/database.ts'
import type { Deps } from '#server/platform/deps.ts'
import { refusedAlike, takeBackRefused } from './deliveries.ts'
import { resumeHeld } from './holds.ts'
import { trySenderJob } from './jobs.ts'
import { renderedFor, type SendingMailbox } from './mailboxes.ts'
import { countSent } from './rate-limit.ts'
import { atHour, dayAfter, localDate, startOfDay } from './schedule.ts'
import { texts } from './texts.ts'

/* When a mailbox sends no more, for whose fault, and when it does again. */

interface Pausing extends Deps {
  limitsOf(sender: Sender, now: Instant): SendingLimits
}

interface ByMailbox {
  account: AccountRow
  sender: SendingMailbox
}

/** Below this the quota was consumed outside Duely, so no limit may be learned from it. */
const leastPerDay = 20

/**
 * More tries would be refused too and might lock the mailbox, so nothing is sent until its owner reconnects it. The owner is notified once.
 */
export async function pauseSending(
  deps: Pausing,
  { account, sender }: ByMailbox,
  outcome: Outcome & { kind: 'login_refused' | 'sender_refused' | 'quota' },
): Promise<void> {
  const now = deps.clock.now()
  if (outcome.kind === 'quota') {
    const { sent } = await countSent(deps, sender, now.subtract({ hours: 24 }))
    const { seconds } = outcome
    const until = seconds === undefined ? startOfDay(dayAfter(localDate(now, account.timezone)), account.timezone) : now.add({ seconds })
    return pauseForQuota(deps, account, {
      sender,
      words: texts.quota.replied(outcome.reply),
      until,
      // So few show that the quota was consumed elsewhere, not what the mailbox allows.
      learnedPerDay: sent < leastPerDay || seconds !== undefined ? null : sent,
    })
  }
  await deps.db.transaction(async (tx) => {
    const { kind, reply } = outcome
    const cause = sender.several ? sender.place : ''
    // It was accepted from itself to itself and refused for clients: only its owner can change that.
    const isAgain = kind === 'sender_refused' && (await hasNotice(tx, account.id, kind, cause, now.subtract({ hours: 24 })))
    const until = kind === 'sender_refused' && !isAgain ? now.add(firstSenderTry) : null
    const first = await pauseSender(tx, sender, { reason: kind, words: reply, until, learnedPerDay: null }, now)
    if (!first || isAgain) return
    deps.log.warn({ ownerId: account.id, reason: kind }, 'Sending is paused for an account.')
    const about =
      kind === 'sender_refused'
        ? { title: texts.sender.title(sender.address), text: texts.sender.text(reply, adviceFor(reply, sender.address)) }
        : sender.provider === 'smtp'
          ? { title: texts.login.smtpTitle, text: texts.login.smtp(outcome.reply) }
          : { title: texts.login.grantTitle(providerNames[sender.provider]), text: texts.login.grant(outcome.reply) }
    const which = sender.several ? { cause: sender.place, title: texts.login.of(about.title, sender.address) } : {}
    await notifyOwner(tx, deps, account, { kind, summary: about.title, ...about, ...which, link: '/dashboard/mail-settings' }, now)
  })
}

/**
 * Unknown words, the same to clients at several domains one after the other, are about the mailbox: it is paused, and these emails wait with
 * the others instead of having failed.
 */
export async function takeBackAlike(deps: Pausing, by: ByMailbox, emailId: string, reply: string): Promise<void> {
  const alike = await refusedAlike(deps.db, { emailId, senderId: by.sender.senderId }, reply)
  if (alike.length === 0) return
  await pauseSending(deps, by, { kind: 'sender_refused', reply })
  await takeBackRefused(deps.db, alike, by.sender)
}

/**
 * A mailbox that reached its limit: the rest waits until it may send again, and goes first the next day where that is too late for today.
 */
async function pauseForQuota(
  deps: Deps,
  account: AccountRow,
  about: { sender: SendingMailbox; words: string; until: Instant; learnedPerDay: number | null; notifies?: boolean },
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
    if (about.notifies === false) return
    log.warn({ ownerId: account.id, reason: 'quota' }, 'Sending is paused for an account.')
    const [waiting] = await rows(
      tx,
      z.object({ run: z.string() }),
      sql`SELECT coalesce(d.pulled_by_run_id, d.run_id) AS run FROM deliveries d
          WHERE d.owner_id = ${account.id}::uuid AND d.state IN ('queued', 'sending', 'retrying', 'held') ORDER BY d.created_at DESC, d.id DESC LIMIT 1`,
    )
    await notifyOwner(
      tx,
      deps,
      account,
      {
        kind: 'quota',
        summary: texts.quota.title,
        title: texts.quota.title,
        text: texts.quota.text(about.words),
        link: withQuery(screens.reminderControl, { run: waiting?.run }),
      },
      now,
    )
  })
}

/**
 * To how many recipients the mailbox may still send. One whose next email, to `wanted` of them, is over a limit is paused until a tenth of that
 * has left the last hour, or the last 24. Its owner, who set the one by the hour, hears of the other one only.
 */
export async function roomLeft(deps: Pausing, { account, sender, wanted }: ByMailbox & { wanted: number }): Promise<number> {
  const now = deps.clock.now()
  const { perDay, perHour, provider } = deps.limitsOf(sender, now)
  let left = Number.POSITIVE_INFINITY
  for (const { hours, most, whose } of [
    { hours: 24, most: perDay, whose: provider },
    { hours: 1, most: perHour, whose: null },
  ]) {
    if (most === null) continue
    const since = now.subtract({ hours })
    const { sent } = await countSent(deps, sender, since)
    left = Math.min(left, most - sent)
    if (sent + wanted <= most) continue
    const [room] = await rows(
      deps.db,
      z.object({ sentAt: instantText }),
      sql`SELECT sent_at AS "sentAt" FROM deliveries WHERE owner_id = ${account.id}::uuid AND state = 'sent' AND sent_at > ${since.toString()}::timestamptz ${renderedFor(sender)}
          ORDER BY sent_at OFFSET ${Math.floor(most / 10) + Math.max(0, sent - most)} LIMIT 1`,
    )
    const until = (room ? Temporal.Instant.from(room.sentAt) : now).add({ hours })
    const words = texts.quota.allowance(whose, most, hours)
    await pauseForQuota(deps, account, { sender, words, until, learnedPerDay: null, notifies: hours > 1 })
    return 0
  }
  return left
}

/** How many emails the limits of the default mailbox allow; null where it has none. */
export async function readAllowance(
  db: Database,
  ownerId: string,
  now: Instant,
): Promise<{ perHour: number | null; room: number; today: number | null } | null> {
  const senders = await findSenders(db, ownerId)
  const sender = senders.find(({ isDefault }) => isDefault)
  if (!sender) return null
  const { perHour, perDay } = limitsOf(sender, now)
  const left = async (hours: number, most: number | null) => {
    if (most === null) return null
    const { sent } = await countSent({ db }, { ...sender, several: senders.length > 1 }, now.subtract({ hours }))
    return Math.max(0, most - sent)
  }
  const [hour, today] = [await left(1, perHour), await left(24, perDay)]
  return hour === null && today === null
    ? null
    : { perHour, room: Math.min(hour ?? Number.MAX_SAFE_INTEGER, today ?? Number.MAX_SAFE_INTEGER), today }
}

/** Signals every mailbox of a refused sender whose turn to be tried has come; each turn once, and the next is planned. */
export async function enqueueSenderTries({ db, queue, clock }: Pick<Deps, 'db' | 'queue' | 'clock'>): Promise<void> {
  const now = clock.now()
  for (const sender of await dueRefusedSenders(db, now)) {
    const account = await findAccount(db, sender.ownerId)
    if (!account) continue
    const { ownerId, senderId } = sender
    await db.transaction(async (tx) => {
      if (await takeSenderTry(tx, sender, nextSenderTry(now, account.timezone))) await queue.send(tx, trySenderJob, { ownerId, senderId })
    })
  }
}

/**
 * Tries a mailbox by an email to itself, because some servers refuse a sender with the message only. What waited for one that may send by now is queued
 * again.
 */
export async function trySender(
  { db, queue, clock, mailer }: Deps & { mailer: Mailer },
  { ownerId, senderId }: { ownerId: string; senderId: string },
): Promise<void> {
  const sender = (await findSenders(db, ownerId)).find((one) => one.senderId === senderId && one.pauseReason === 'sender_refused')
  const account = sender && (await findAccount(db, ownerId))
  if (!account) return
  const { address } = sender
  const { subject, text } = texts.sender.mayAgain(address)
  const mail = { id: `try.${newId()}`, subject, text, to: { name: account.displayName, address }, at: clock.now() }
  const raw = await composeText({ name: account.displayName, address }, mail)
  const outcome = await mailer.send(sender, async () => ({ raw, from: address, to: address }))
  if (outcome?.kind !== 'accepted') return
  // Its notice stays for a day: where clients are refused all the same, its owner has to act.
  await db.transaction(async (tx) => {
    await lockAccount(tx, ownerId)
    if (await resumeAfterLogin(tx, sender)) await resumeHeld(tx, queue, ownerId, clock.now())
  })
}

/** Each hour, but not at night: from 18:00 on the next day at 8:00. */
function nextSenderTry(now: Instant, timezone: string): Instant {
  const there = now.add({ hours: 1 }).toZonedDateTimeISO(timezone)
  if (there.hour >= 8 && there.hour < 18) return there.toInstant()
  const day = there.hour < 8 ? there.toPlainDate() : there.toPlainDate().add({ days: 1 })
  return atHour(day, 8, timezone).toInstant()
}

/** Resumes mailboxes whose quota has come back. An account that fails does not delay the others; its error is thrown at the end. */
export async function endQuotaPauses(db: Database, queue: Deps['queue'], now: Instant): Promise<void> {
  const over = await db.select({ ownerId: mailConfigs.ownerId }).from(mailConfigs).where(lte(mailConfigs.pausedUntil, now)).limit(1_000)
  const failures: unknown[] = []
  for (const { ownerId } of over)
    await db
      .transaction(async (tx) => {
        if (await resumeSender(tx, ownerId, now)) await resumeHeld(tx, queue, ownerId, now)
      })
      .catch((error: unknown) => failures.push(error))
  if (failures.length > 0) throw new AggregateError(failures, 'Some mailboxes could not be resumed.')
}

/** Removes notices about refused senders that may send again for a day. */
export async function forgetRefusedSenders(db: Database, now: Instant): Promise<void> {
  await db.execute(sql`
    DELETE FROM notices n WHERE n.kind = 'sender_refused' AND n.updated_at < ${now.subtract({ hours: 24 }).toString()}::timestamptz
      AND NOT EXISTS (SELECT 1 FROM mail_configs m WHERE m.owner_id = n.owner_id AND m.pause_reason = 'sender_refused')`)
}
