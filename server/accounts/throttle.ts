import { isIPv6 } from 'node:net'
import { and, eq, gt, lt, lte, or, sql } from 'drizzle-orm'
import type { Instant } from '#server/platform/clock.ts'
import type { Database } from '#server/platform/database.ts'
import { ProblemError } from '#server/platform/problem-error.ts'
import { hashToken } from '#server/platform/secrets.ts'
import { throttles } from './tables.ts'
import { refusals } from './texts.ts'

/** Wrong guesses in a row without a pause; the longest pause, in seconds. */
const freeGuesses = 5
const longestPause = 900

/** Counts a try; refuses with `too_many` once there were more than `limit` within a window of `seconds`. */
export async function countTry(db: Database, key: string, rule: { limit: number; seconds: number }, now: Instant): Promise<void> {
  const { count, until } = await countOne(db, key, rule.seconds, now)
  if (count > rule.limit) throw tooMany(until, now)
}

interface Counted {
  count: number
  /** When the count starts again. */
  until: Instant
}

/** Counts one more within a window of `seconds`; answers how many there are now. */
export async function countOne(db: Database, key: string, seconds: number, now: Instant): Promise<Counted> {
  return countSome(db, key, { some: 1, seconds }, now)
}

/** Counts so many more within a window of `seconds`, in one statement; answers how many there are now. */
export async function countSome(
  db: Database,
  key: string,
  { some, seconds }: { some: number; seconds: number },
  now: Instant,
): Promise<Counted> {
  const over = lte(throttles.until, now)
  const [row] = await db
    .insert(throttles)
    .values({ key, count: some, until: now.add({ seconds }) })
    .onConflictDoUpdate({
      target: throttles.key,
      set: {
        count: sql`CASE WHEN ${over} THEN excluded.count ELSE ${throttles.count} + excluded.count END`,
        until: sql`CASE WHEN ${over} THEN excluded.until ELSE ${throttles.until} END`,
      },
    })
    .returning()
  if (!row) throw new Error('A count was neither begun nor continued.')
  return row
}

/** How many were counted in the present window. */
export async function countOf(db: Database, key: string, now: Instant): Promise<Counted> {
  const [row] = await db
    .select()
    .from(throttles)
    .where(and(eq(throttles.key, key), gt(throttles.until, now)))
  return row ?? { count: 0, until: now }
}

/**
 * Counts a guess as a wrong one before it is looked at, so that guesses in parallel cannot slip through together; a right one is
 * forgotten afterwards. From the fifth on each is followed by a pause of 1, 2, 4 … 900 s in which `too_many` is answered. Never a lock.
 */
export async function countGuess(db: Database, key: string, now: Instant): Promise<void> {
  const nth = sql`${throttles.count} + 1`
  const pause = sql`CASE WHEN ${nth} < ${freeGuesses} THEN 0 ELSE least(${longestPause}, 2 ^ least(${nth} - ${freeGuesses}, 20)) END`
  const [counted] = await db
    .insert(throttles)
    .values({ key, count: 1, until: now })
    .onConflictDoUpdate({
      target: throttles.key,
      set: { count: nth, until: sql`excluded.until + make_interval(secs => ${pause})` },
      setWhere: lte(throttles.until, now),
    })
    .returning()
  if (counted) return
  const [paused] = await db.select().from(throttles).where(eq(throttles.key, key))
  throw tooMany(paused?.until ?? now, now)
}

export async function forgetGuesses(db: Database, key: string): Promise<void> {
  await db.delete(throttles).where(eq(throttles.key, key))
}

/** With a new password: clears the guesses at password and code of every browser. */
export async function forgetEveryGuess(db: Database, { id, email }: { id: string; email: string }): Promise<void> {
  const begins = (key: string) => sql`starts_with(${throttles.key}, ${key})`
  await db.delete(throttles).where(or(begins(guessKey(email)), begins(codeKey(id, null)), eq(throttles.key, ownGuessKey(id))))
}

/** Undoes a count whose guess could not be verified. */
export async function takeBackGuess(db: Database, key: string): Promise<void> {
  await db
    .update(throttles)
    .set({ count: sql`${throttles.count} - 1` })
    .where(sql`${eq(throttles.key, key)} AND ${gt(throttles.count, 0)}`)
}

export async function pruneThrottles(db: Database, now: Instant): Promise<void> {
  await db.delete(throttles).where(lt(throttles.until, now.subtract({ hours: 24 })))
}

/**
 * The key of guesses at the password that belongs to an email, whether or not it has an account; in a browser that its owner is known by, one of its
 * own. Hashed: strangers' addresses are not kept.
 */
export function guessKey(email: string, browserId: string | null = null): string {
  const key = emailKey('guess', email)
  return browserId === null ? key : `${key}:${browserId}`
}

/** The key of guesses at the code of an account; in a known browser, and in a session, one of its own. */
export function codeKey(ownerId: string, where: string | null): string {
  return where === null ? `second-factor:${ownerId}` : `second-factor:${ownerId}:${where}`
}

/** The key of guesses at the current password in a signed-in session. */
export function ownGuessKey(ownerId: string): string {
  return `current-password:${ownerId}`
}

export function emailKey(what: string, email: string): string {
  return `${what}:${hashToken(email.toLowerCase())}`
}

/** The key of tries from an address. Of IPv6 the first 64 bits count: one connection has all the others to itself. */
export function addressKey(what: string, address: string): string {
  return `${what}:${isIPv6(address) ? network(address) : address}`
}

function network(address: string): string {
  const [plain = ''] = address.split('%')
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(plain)?.[1]
  if (mapped) return mapped
  const [head = '', tail = ''] = new URL(`http://[${plain}]`).hostname.slice(1, -1).split('::')
  const [before, after] = [head, tail].map((part) => (part === '' ? [] : part.split(':'))) as [string[], string[]]
  const groups = [...before, ...Array<string>(8 - before.length - after.length).fill('0'), ...after]
  return `${groups.slice(0, 4).join(':')}::/64`
}

/** Whole seconds until an instant, at least one. */
export function secondsUntil(until: Instant, now: Instant): number {
  return Math.max(1, Math.ceil((until.epochMilliseconds - now.epochMilliseconds) / 1000))
}

function tooMany(until: Instant, now: Instant): ProblemError {
  const seconds = secondsUntil(until, now)
  return new ProblemError('too_many', refusals.tooManyTries(seconds), {
    retryAfter: seconds,
  })
}

/** An address has had as many links as may be sent there for now. */
export function tooManyLinks(until: Instant, now: Instant): ProblemError {
  const seconds = secondsUntil(until, now)
  return new ProblemError('too_many', refusals.tooManyLinks(Math.ceil(seconds / 60)), { retryAfter: seconds })
}
