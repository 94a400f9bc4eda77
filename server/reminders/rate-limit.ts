import { sql } from 'drizzle-orm'
import { z } from 'zod'
import { learnPerMinute, type Sender, type SendingLimits } from '#server/mail/mail.ts'
import type { Instant } from '#server/platform/clock.ts'
import { instantText } from '#server/platform/columns.ts'
import { rows } from '#server/platform/database.ts'
import type { Deps } from '#server/platform/deps.ts'
import { putOff } from './deliveries.ts'
import { renderedFor, type SendingMailbox } from './mailboxes.ts'

interface RateLimitDeps extends Pick<Deps, 'db' | 'clock'> {
  limitsOf(sender: Sender, now: Instant): SendingLimits
}

/** Spaces the emails of a mailbox where its provider limits them by the minute. */
export interface RateLimit {
  /** Waits for the next turn; answers false, and takes none, where it is more than `mostMs` away. */
  wait(mostMs: number): Promise<boolean>
  /** Milliseconds until the next turn. */
  untilNext(): number
}

/** So many deferred emails in a row, to any address, are no coincidence. */
export const putOffInARow = 2
/** A mailbox that accepted fewer in the last minute has no per-minute limit: its server is busy, or greylists. */
const leastPerMinute = 10
/** A minute with some slack, in ms: emails do not leave to the millisecond, and the provider counts when they arrive. */
const minute = 61_000

/** Null where the provider has no limit by the minute. */
export async function openRateLimit(deps: RateLimitDeps, sender: SendingMailbox): Promise<RateLimit | null> {
  const { clock } = deps
  const now = clock.now()
  const { perMinute } = deps.limitsOf(sender, now)
  if (perMinute === null) return null
  const apart = minute / perMinute
  const { last } = await countSent(deps, sender, now.subtract({ hours: 24 }))
  const sinceLast = last ? now.epochMilliseconds - last.epochMilliseconds : apart
  // After the clock was set back, the last one may lie in the future.
  let next = clock.elapsed() + Math.max(0, Math.min(apart, apart - sinceLast))
  return {
    async wait(mostMs) {
      const mine = Math.max(next, clock.elapsed())
      if (mine - clock.elapsed() > mostMs) return false
      next = mine + apart
      await clock.pause(Math.max(0, mine - clock.elapsed()))
      return true
    },
    untilNext: () => Math.max(0, next - clock.elapsed()),
  }
}

/**
 * Called when the mail server defers one email after the other. If it accepted many just before, it has a per-minute limit: what it
 * accepted in the last minute is that limit, and the rest waits until the first of those is a minute old. Returns whether that was it.
 */
export async function slowDown(deps: RateLimitDeps, sender: SendingMailbox): Promise<boolean> {
  const now = deps.clock.now()
  const { sent, first } = await countSent(deps, sender, now.subtract({ minutes: 1 }))
  if (!first || sent < leastPerMinute) return false
  await learnPerMinute(deps.db, sender, Math.min(sent, deps.limitsOf(sender, now).perMinute ?? sent), now)
  await putOff(deps.db, sender, now, first.add({ milliseconds: minute }))
  return true
}

/** How many emails this mailbox sent since then, each copy counted, and when the first and the last were. */
export async function countSent(
  { db }: Pick<Deps, 'db'>,
  sender: SendingMailbox,
  since: Instant,
): Promise<{ sent: number; first: Instant | null; last: Instant | null }> {
  const from = Temporal.Instant.compare(since, sender.createdAt) > 0 ? since : sender.createdAt
  const [found] = await rows(
    db,
    z.object({ sent: z.number(), first: instantText.nullable(), last: instantText.nullable() }),
    sql`SELECT (count(*) + coalesce(sum(copies), 0))::int AS sent, min(sent_at) AS first, max(sent_at) AS last FROM deliveries
        WHERE owner_id = ${sender.ownerId}::uuid AND state = 'sent' AND sent_at >= ${from.toString()}::timestamptz ${renderedFor(sender)}`,
  )
  const at = (text: string | null | undefined) => (text ? Temporal.Instant.from(text) : null)
  return { sent: found?.sent ?? 0, first: at(found?.first), last: at(found?.last) }
}
