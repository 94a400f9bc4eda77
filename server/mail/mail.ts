import { and, asc, desc, eq, inArray, isNull, lte, sql } from 'drizzle-orm'
import type { FastifyRequest } from 'fastify'
import { asciiAddress } from '#contract/addresses.ts'
import type { Mailbox, MailConfig, SmtpDraft } from '#contract/mail.ts'
import { countTry, type Origin, writeAudit } from '#server/accounts/accounts.ts'
import { actorNow } from '#server/platform/actor.ts'
import type { Account } from '#server/platform/answer.ts'
import type { Instant } from '#server/platform/clock.ts'
import { newId } from '#server/platform/columns.ts'
import type { Database } from '#server/platform/database.ts'
import { invalid, ProblemError } from '#server/platform/problem-error.ts'
import { sameText } from '#server/platform/secrets.ts'
import { publishedLimits } from './limits.ts'
import { adviceOf } from './refusals.ts'
import { openPassword, type Sender, sealPassword, sealRefreshToken } from './sender.ts'
import { type NetworkDeps, openSession } from './session.ts'
import { isTemporary, MailError } from './smtp-errors.ts'
import { mailConfigs } from './tables.ts'
import { describeError, mayNotSendText, outcomes, refusals, senderAdvice } from './texts.ts'

export { limitsOf, type SendingLimits } from './limits.ts'
export { sameWordsAtDomains, wordsOf } from './refusals.ts'
export { domainOf, type Sender, sealedSenders } from './sender.ts'
export { composeText } from './test-mail.ts'
export { providerNames } from './texts.ts'

/** How often an account may try a mailbox, because each attempt connects to a foreign server. */
const tries = { limit: 10, seconds: 3600 }
/** A person waits for the answer. `probeMs`: when a silent server is probed for TLS. */
const tryPatience = { wholeMs: 10_000, probeMs: 3_000 }

/** Which mailbox is saved: the default one, connected or not, a further one, or the one with this id. */
export type Which = 'default' | 'new' | { id: string }

/** Stores a mailbox as `store` does, with everything that follows from that. `place` is its place. */
export type SaveSender = (
  account: Account,
  request: FastifyRequest,
  which: Which,
  about: Pick<Sender, 'provider' | 'address'>,
  store: (tx: Database, place: string, now: Instant) => Promise<Sender>,
) => Promise<Sender>

/** The place of a mailbox that is saved; a further one with the address of another is that one again. Refuses with `not_found`. */
export async function placeFor(db: Database, ownerId: string, which: Which, about: Pick<Sender, 'provider' | 'address'>): Promise<string> {
  if (typeof which === 'object') return (await findMailbox(db, ownerId, which.id)).place
  const senders = await findSenders(db, ownerId)
  if (which === 'default' && senders[0]) return senders[0].place
  const same = senders.find(({ provider, address }) => provider === about.provider && address.toLowerCase() === about.address.toLowerCase())
  if (same) return same.place
  return senders.some(({ place }) => place === ownerId) ? newId() : ownerId
}

/** Who connected the mailbox has left, and knows its password: refuses that one with `invalid`, because it would be no other secret. */
export async function refuseKnownPassword(
  db: Database,
  secretKey: string,
  { ownerId, which, draft }: { ownerId: string; which: Which; draft: SmtpDraft },
): Promise<void> {
  const place = await placeFor(db, ownerId, which, { provider: 'smtp', address: draft.user })
  const before = (await findSenders(db, ownerId)).find((sender) => sender.place === place)
  if (!before?.offeredTo || before.sealedPassword === null) return
  if (sameText(openPassword(secretKey, before), draft.pass)) throw invalid('pass', refusals.knownPassword)
}

const notPaused = { pauseReason: null, pauseMessage: null, pausedAt: null, pausedUntil: null }
/** Limits learned for the previous mailbox do not apply. */
const untried = {
  ...notPaused,
  learnedPerDay: null,
  learnedPerDayAt: null,
  learnedPerMinute: null,
  learnedPerMinuteAt: null,
  renewingUntil: null,
}

/** The account's default mailbox; null while it has none. */
export async function findSender(db: Database, ownerId: string): Promise<Sender | null> {
  const [row] = await db
    .select()
    .from(mailConfigs)
    .where(and(eq(mailConfigs.ownerId, ownerId), mailConfigs.isDefault))
  return row ?? null
}

/** Every mailbox of an account, the default first. */
export function findSenders(db: Database, ownerId: string): Promise<Sender[]> {
  return db
    .select()
    .from(mailConfigs)
    .where(eq(mailConfigs.ownerId, ownerId))
    .orderBy(desc(mailConfigs.isDefault), asc(mailConfigs.createdAt), asc(mailConfigs.place))
}

/** One of them, by its id. Refuses with `not_found`. */
export async function findMailbox(db: Database, ownerId: string, id: string): Promise<Sender> {
  const [row] = await db
    .select()
    .from(mailConfigs)
    .where(and(eq(mailConfigs.ownerId, ownerId), sql`${mailConfigs.place}::text = ${id}`))
  if (!row) throw new ProblemError('not_found', refusals.noMailbox)
  return row
}

export async function hasMailConfig(db: Database, ownerId: string): Promise<boolean> {
  const found = await db.select({ senderId: mailConfigs.senderId }).from(mailConfigs).where(eq(mailConfigs.ownerId, ownerId))
  return found.length > 0
}

/** Whether any account sends by this mailbox at Gmail. */
export async function sendsByGmail(db: Database, address: string): Promise<boolean> {
  const found = await db
    .select({ senderId: mailConfigs.senderId })
    .from(mailConfigs)
    .where(and(eq(mailConfigs.provider, 'gmail'), sql`lower(${mailConfigs.address}) = lower(${address})`))
    .limit(1)
  return found.length > 0
}

/** Counts a try of a mailbox; the eleventh within an hour is refused with `too_many`. */
export async function countMailTry(db: Database, ownerId: string, now: Instant): Promise<void> {
  await countTry(db, `mail-try:${ownerId}`, tries, now)
}

/** Sends an email to the person who asks, from the mailbox of the account; `compose` is handed the address of that. Refuses as the test email does. */
export type SendTest = (account: Account, compose: (from: string) => Promise<Buffer>, to?: string) => Promise<string>

/** Counts a test email; the eleventh within an hour is refused with `too_many`. */
export async function countTestMail(db: Database, ownerId: string, now: Instant): Promise<void> {
  await countTry(db, `mail-test:${ownerId}`, tries, now)
}

/** Counts a check of a domain, which asks foreign name servers; the 21st within an hour is refused with `too_many`. */
export async function countDomainCheck(db: Database, ownerId: string, now: Instant): Promise<void> {
  await countTry(db, `domain-check:${ownerId}`, { limit: 20, seconds: 3600 }, now)
}

/**
 * Connects, logs in and asks to write from the mailbox to itself, as an email would; sends nothing. What fails is refused in words a person can act on, with the field:
 * `mail_host_refused` for a host or port that is never connected to, `mail_test_failed` for the rest.
 */
export async function trySmtp(
  draft: SmtpDraft,
  network: NetworkDeps,
  patience: { wholeMs: number; probeMs: number } = tryPatience,
): Promise<void> {
  try {
    const session = await openSession({ ...draft, user: draft.username || draft.user }, network, {
      signal: AbortSignal.timeout(patience.wholeMs),
      probe: patience.probeMs,
    })
    const address = asciiAddress(draft.user) ?? draft.user
    if (!session.smtpUtf8 && /[^ -~]/.test(address)) {
      await session.quit()
      const sentence = outcomes.noSmtpUtf8(draft.user)
      throw new ProblemError('mail_test_failed', sentence, { errors: [{ path: 'user', message: sentence }] })
    }
    await session.tryEnvelope(address)
    await session.quit()
  } catch (error) {
    if (!(error instanceof MailError)) throw error
    // It may be put off at first, as a stranger's email is.
    if (error.code === 'reply' && isTemporary(error.reply)) return
    if (error.code === 'reply' && error.reply)
      throw new ProblemError('mail_test_failed', mayNotSendText(draft.host, draft.user, error.reply))
    const { field, sentence } = describeError(error, draft)
    const refused = error.code === 'host_refused' || error.code === 'port_refused'
    throw new ProblemError(refused ? 'mail_host_refused' : 'mail_test_failed', sentence, {
      ...(field ? { errors: [{ path: field, message: sentence }] } : {}),
    })
  }
}

/** Stores the mailbox at a place, instead of the one before, under a new senderId and with no pause. The password is sealed for this place. */
export async function storeSmtp(
  db: Database,
  secretKey: string,
  ownerId: string,
  draft: SmtpDraft,
  now: Instant,
  place = ownerId,
): Promise<Sender> {
  const values = {
    ownerId,
    place,
    senderId: newId(),
    provider: 'smtp' as const,
    address: draft.user,
    username: draft.username || null,
    host: draft.host,
    port: draft.port,
    secure: draft.secure,
    sealedPassword: sealPassword(secretKey, ownerId, draft.pass, place),
    sealedRefreshToken: null,
    createdAt: now,
    ...untried,
  }
  return store(db, values)
}

/** The same for a mailbox at Gmail or Microsoft and its lasting permission. */
export async function storeGranted(
  db: Database,
  secretKey: string,
  ownerId: string,
  { provider, address, refreshToken }: { provider: 'gmail' | 'microsoft'; address: string; refreshToken: string },
  now: Instant,
  place: string,
): Promise<Sender> {
  return store(db, {
    ownerId,
    place,
    senderId: newId(),
    provider,
    address,
    username: null,
    host: null,
    port: null,
    secure: null,
    sealedPassword: null,
    sealedRefreshToken: sealRefreshToken(secretKey, ownerId, refreshToken, place),
    createdAt: now,
    ...untried,
  })
}

async function store(db: Database, given: Omit<Sender, 'isDefault' | 'madeBy' | 'offeredTo' | 'perHour' | 'perDay'>): Promise<Sender> {
  // The first one is the default.
  const isDefault = sql`NOT EXISTS (SELECT 1 FROM mail_configs WHERE owner_id = ${given.ownerId}::uuid)`
  // Who connects it knows its secret now.
  const values = { ...given, madeBy: actorNow().personId, offeredTo: null }
  const [row] = await db
    .insert(mailConfigs)
    .values({ ...values, isDefault })
    .onConflictDoUpdate({ target: [mailConfigs.ownerId, mailConfigs.place], set: values })
    .returning()
  return row as Sender
}

/** Removes a mailbox, and writes that into the log. */
export async function dropMailbox(tx: Database, sender: Sender, from: Origin | null, now: Instant): Promise<void> {
  await removeMailbox(tx, sender)
  await writeAudit(tx, { ownerId: sender.ownerId, kind: 'sender_removed', about: sender.address }, from, now)
}

/** Removes a mailbox; of those left, the oldest becomes the default where it was the default. */
async function removeMailbox(tx: Database, { ownerId, place, isDefault }: Sender): Promise<void> {
  await tx.delete(mailConfigs).where(and(eq(mailConfigs.ownerId, ownerId), eq(mailConfigs.place, place)))
  const [next] = await findSenders(tx, ownerId)
  if (isDefault && next) await makeDefault(tx, next)
}

/** What the others send to clients without a mailbox of their own leaves by this one from now on. */
export async function makeDefault(tx: Database, { ownerId, place }: Pick<Sender, 'ownerId' | 'place'>): Promise<void> {
  // Two statements: the index allows one default at any moment.
  await tx
    .update(mailConfigs)
    .set({ isDefault: false })
    .where(and(eq(mailConfigs.ownerId, ownerId), mailConfigs.isDefault))
  await tx
    .update(mailConfigs)
    .set({ isDefault: true })
    .where(and(eq(mailConfigs.ownerId, ownerId), eq(mailConfigs.place, place)))
}

/** Limits what leaves from a mailbox: what is being sent finds the limit changed, and what waited for the one before is tried again. */
export async function limitMailbox(
  tx: Database,
  { senderId, pauseReason }: Sender,
  limits: { perHour?: number | null | undefined; perDay?: number | null | undefined },
): Promise<void> {
  const ended = pauseReason === 'quota' ? notPaused : {}
  await tx
    .update(mailConfigs)
    .set({ ...limits, ...ended })
    .where(eq(mailConfigs.senderId, senderId))
}

/** Removes every mailbox of an account. */
export async function removeMailConfig(db: Database, ownerId: string): Promise<void> {
  await db.delete(mailConfigs).where(eq(mailConfigs.ownerId, ownerId))
}

interface SenderStop {
  reason: 'login_refused' | 'sender_refused' | 'quota'
  /** For the owner to read: the mail server's own words, or the provider's rule. */
  words: string
  /** When sending resumes automatically, or is tried again; null: when its owner has fixed it. */
  until: Instant | null
  /** How many emails a day it turned out to allow; null: nothing new is known. */
  learnedPerDay: number | null
}

/** Stores how many emails a minute this mailbox turned out to allow. */
export async function learnPerMinute(
  db: Database,
  sender: { ownerId: string; senderId: string },
  perMinute: number,
  now: Instant,
): Promise<void> {
  await db
    .update(mailConfigs)
    .set({ learnedPerMinute: perMinute, learnedPerMinuteAt: now })
    .where(and(eq(mailConfigs.ownerId, sender.ownerId), eq(mailConfigs.senderId, sender.senderId)))
}

/** True for the first caller; false if it is paused already or was saved again meanwhile. */
export async function pauseSender(
  db: Database,
  sender: { ownerId: string; senderId: string },
  stop: SenderStop,
  now: Instant,
): Promise<boolean> {
  const paused = await db
    .update(mailConfigs)
    .set({
      pauseReason: stop.reason,
      pauseMessage: stop.words,
      pausedAt: now,
      pausedUntil: stop.until,
      ...(stop.learnedPerDay === null ? {} : { learnedPerDay: stop.learnedPerDay, learnedPerDayAt: now }),
    })
    .where(and(eq(mailConfigs.ownerId, sender.ownerId), eq(mailConfigs.senderId, sender.senderId), isNull(mailConfigs.pauseReason)))
    .returning({ senderId: mailConfigs.senderId })
  return paused.length > 0
}

/** What to do where a mailbox may not send as itself, by the server's reply. */
export function adviceFor(reply: string, address: string): string {
  return senderAdvice[adviceOf(reply)](address)
}

/** How long after a refused sender is tried again, at first. */
export const firstSenderTry = { minutes: 15 }

/** The mailboxes of refused senders whose turn it is to be tried. */
export async function dueRefusedSenders(db: Database, now: Instant): Promise<Sender[]> {
  const { pauseReason, pausedUntil } = mailConfigs
  const isDue = and(eq(pauseReason, 'sender_refused'), lte(pausedUntil, now))
  return db.select().from(mailConfigs).where(isDue).orderBy(pausedUntil).limit(20)
}

/** For one caller at each turn: when the next one is. */
export async function takeSenderTry(db: Database, { senderId, pausedUntil }: Sender, next: Instant): Promise<boolean> {
  if (!pausedUntil) return false
  const taken = await db
    .update(mailConfigs)
    .set({ pausedUntil: next })
    .where(and(eq(mailConfigs.senderId, senderId), eq(mailConfigs.pauseReason, 'sender_refused'), eq(mailConfigs.pausedUntil, pausedUntil)))
    .returning({ senderId: mailConfigs.senderId })
  return taken.length > 0
}

/** Ends a pause whose time is over. True where there was one. */
export async function resumeSender(db: Database, ownerId: string, now: Instant): Promise<boolean> {
  const resumed = await db
    .update(mailConfigs)
    .set(notPaused)
    .where(and(eq(mailConfigs.ownerId, ownerId), eq(mailConfigs.pauseReason, 'quota'), lte(mailConfigs.pausedUntil, now)))
    .returning({ senderId: mailConfigs.senderId })
  return resumed.length > 0
}

/** Ends a pause for a refused login or sender: the mail server has accepted an email, or an envelope, since. True where there was one. */
export async function resumeAfterLogin(db: Database, sender: { ownerId: string; senderId: string }): Promise<boolean> {
  const resumed = await db
    .update(mailConfigs)
    .set(notPaused)
    .where(
      and(
        eq(mailConfigs.ownerId, sender.ownerId),
        eq(mailConfigs.senderId, sender.senderId),
        inArray(mailConfigs.pauseReason, ['login_refused', 'sender_refused']),
        isNull(mailConfigs.offeredTo),
      ),
    )
    .returning({ senderId: mailConfigs.senderId })
  return resumed.length > 0
}

/** One of several mailboxes, for its owner. */
export function toMailbox(sender: Sender): Mailbox {
  const { configured: _, ...shown } = toMailConfig(sender)
  const { place, provider, address, isDefault, perHour, perDay } = sender
  const published = publishedLimits(sender)
  const limits = { perHour, perDay, provider: published.provider, published: published.perDay }
  return { ...shown, _id: place, provider, user: address, isDefault, limits }
}

/** What the owner sees of the mailbox: everything but the password. */
export function toMailConfig(sender: Sender | null): MailConfig {
  if (!sender) return { configured: false, provider: null, user: null, username: null, host: null, port: null, secure: null, pause: null }
  const { provider, address, username, host, port, secure, pauseReason, pauseMessage, pausedAt, pausedUntil, offeredTo } = sender
  const reason = offeredTo === null ? pauseReason : 'handed_over'
  return {
    configured: true,
    provider,
    user: address,
    username,
    host,
    port,
    secure,
    pause:
      reason && pausedAt
        ? {
            reason,
            provider,
            message: pauseMessage ?? '',
            advice: reason === 'sender_refused' ? adviceFor(pauseMessage ?? '', address) : null,
            since: pausedAt.toString(),
            until: pausedUntil?.toString() ?? null,
          }
        : null,
  }
}
