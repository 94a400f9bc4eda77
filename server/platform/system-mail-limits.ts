import { and, eq, gt, lt, sql } from 'drizzle-orm'
import type { Config } from '#server/config.ts'
import type { Instant } from './clock.ts'
import type { Database } from './database.ts'
import { deriveKey, hmac } from './secrets.ts'
import { systemMailCounts } from './tables.ts'

interface Limit {
  /** What is counted together. */
  kind: string
  most: number
  hours: number
}

/**
 * The owner of an address that was never confirmed did not ask for anything: all kinds of email and all accounts count together there. For
 * `accountless` addresses the same statements run, so that the duration of a request does not reveal them.
 */
const strangers = { unconfirmed: { most: 3, hours: 1 }, accountless: { most: 3, hours: 1 } }
/** Of each kind to a confirmed address. The rest becomes a digest. */
const ofOneKind = { most: 20, hours: 24 }
const remembered = { hours: 24 }

/** Which limit applies to an email of a kind. */
export function limitOf(kind: string, to: 'confirmed' | keyof typeof strangers): Limit {
  return to === 'confirmed' ? { kind, ...ofOneKind } : { kind: to, ...strangers[to] }
}

/**
 * What is stored of an address beyond its account, by a key of each purpose. A tag (`asha+x@`) and, at Gmail, dots name the same mailbox. Nothing is found again
 * after the secret key was rotated.
 */
export function hashAddress({ secretKey }: Pick<Config, 'secretKey'>, email: string, purpose = 'system-mail-address'): string {
  const [, name = email, domain = ''] = /^(.*)@(.*)$/.exec(email.normalize('NFKC').toLowerCase()) ?? []
  const [untagged = ''] = name.split('+')
  const gmail = domain === 'gmail.com' || domain === 'googlemail.com'
  const mailbox = gmail ? `${untagged.replaceAll('.', '')}@gmail.com` : `${untagged || name}@${domain}`
  return hmac(deriveKey(secretKey, purpose), mailbox)
}

/**
 * Counts an email to an address in the transaction that queues it. Answers null, or when the next one may be sent: this one must not.
 * `held`: then it is to be part of a digest.
 */
export async function countMail(
  tx: Database,
  about: { addressHash: string; limit: Limit; subject: string; held: boolean },
  now: Instant,
): Promise<Instant | null> {
  const { addressHash, limit, subject } = about
  const [before] = await tx
    .insert(systemMailCounts)
    .values({ addressHash, kind: limit.kind, subject, sentAt: [], changedAt: now })
    // Locks the row, so that emails queued at the same time are counted one after the other.
    .onConflictDoUpdate({ target: [systemMailCounts.addressHash, systemMailCounts.kind], set: { subject, changedAt: now } })
    .returning()
  if (!before) throw new Error('A count was neither begun nor continued.')
  const recent = before.sentAt.filter((at) => at > now.subtract({ hours: limit.hours }).epochMilliseconds)
  const [oldest] = recent
  const full = oldest !== undefined && recent.length >= limit.most
  await tx
    .update(systemMailCounts)
    .set({ sentAt: full ? recent : [...recent, now.epochMilliseconds], held: before.held + (full && about.held ? 1 : 0) })
    .where(and(eq(systemMailCounts.addressHash, addressHash), eq(systemMailCounts.kind, limit.kind)))
  return full ? Temporal.Instant.fromEpochMilliseconds(oldest).add({ hours: limit.hours }) : null
}

export interface HeldMails {
  kind: string
  subject: string
  held: number
}

/** What was not sent to an address and waits for its digest. */
export async function findHeld(db: Database, addressHash: string): Promise<HeldMails[]> {
  return db
    .select({ kind: systemMailCounts.kind, subject: systemMailCounts.subject, held: systemMailCounts.held })
    .from(systemMailCounts)
    .where(and(eq(systemMailCounts.addressHash, addressHash), gt(systemMailCounts.held, 0)))
    .orderBy(systemMailCounts.kind)
}

/** These were in a digest; others may have come since. */
export async function forgetHeld(tx: Database, addressHash: string, listed: HeldMails[]): Promise<void> {
  for (const { kind, held } of listed)
    await tx
      .update(systemMailCounts)
      .set({ held: sql`${systemMailCounts.held} - ${held}` })
      .where(and(eq(systemMailCounts.addressHash, addressHash), eq(systemMailCounts.kind, kind)))
}

export async function pruneSystemMailCounts(db: Database, now: Instant): Promise<void> {
  await db.delete(systemMailCounts).where(and(lt(systemMailCounts.changedAt, now.subtract(remembered)), eq(systemMailCounts.held, 0)))
}
