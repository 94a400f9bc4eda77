import { and, asc, desc, eq, getTableColumns, inArray, lte, type SQL, sql } from 'drizzle-orm'
import { z } from 'zod'
import type { HookDelivery, HookEvent } from '#contract/integrations.ts'
import { countTry, writeAudit } from '#server/accounts/accounts.ts'
import { notify, notifyOwner } from '#server/accounts/notices.ts'
import { accounts } from '#server/accounts/tables.ts'
import type { Instant } from '#server/platform/clock.ts'
import { newId } from '#server/platform/columns.ts'
import type { Database } from '#server/platform/database.ts'
import type { Deps } from '#server/platform/deps.ts'
import { Refusal } from '#server/platform/refusal.ts'
import { signHook } from './hook-secret.ts'
import { callHook, type HookAnswer, type HookOutside, isTaken, usualOutside } from './hook-target.ts'
import { findHooks, type HookRow, hostOf, type KnownHook, pauseOf, readHook, withdrawMended } from './hooks.ts'
import { deliverHookJob } from './jobs.ts'
import { hookDeliveries, hookEvents, hooks } from './tables.ts'

type DeliveryRow = typeof hookDeliveries.$inferSelect

/** Seconds from a failed try to the next one; after the last of these there is none. */
const pauses = [5, 300, 1_800, 7_200, 18_000, 36_000, 36_000]
/** So many failed tries in a row pause a hook. */
const patience = 100
/** A try that nobody has recorded is made again after so long: its process is gone. Longer than any call takes. */
const claimed = { seconds: 60 }
/** A receiver to whom much is due lets others have their turn after so long. */
const sliceMilliseconds = 3_000
/** So many receivers of one account are called at a time in a process: whoever has many slow ones leaves room for others. */
const placesEach = 8
const mostListed = 50
/** Calls that a person asks for, tests and repetitions. */
const byHand = { limit: 120, seconds: 3_600 }

/**
 * Tells one receiver what is due to it, one after the other, until nothing is, its slice is over or the process stops.
 *
 * Each is claimed, then told, then recorded. A crash between a receiver's answer and the record is the one window that no order of these can
 * close: such an event is told once more, under the same id, so that who has seen it can drop it (at least once, as standardwebhooks.com says).
 */
export async function deliverHook(
  deps: Deps,
  { hookId, places }: { hookId: string; places: Places },
  stopping: AbortSignal,
  outside = usualOutside(deps.config),
): Promise<void> {
  const began = performance.now()
  const find = async () => (await findHooks(deps, eq(hooks.id, hookId)))[0]
  let known = await find()
  // Where the account has no place left, whoever is still to be told is woken again in a moment.
  using place = known ? places.enter(known.hook.ownerId) : null
  for (; place && known && !pauseOf(known) && !stopping.aborted; known = await find()) {
    if (performance.now() - began > sliceMilliseconds) return deps.db.transaction((tx) => deps.queue.send(tx, deliverHookJob, { hookId }))
    const delivery = await claimNext(deps.db, hookId, deps.clock.now())
    if (!delivery) return
    await tell(deps, { known, delivery, afterFailure: 'retry' }, outside)
  }
}

/** The places of a process that accounts take while their receivers are called. */
export interface Places {
  /** Null where the account has none left. */
  enter(ownerId: string): Disposable | null
}

export function openPlaces(): Places {
  const taken = new Map<string, number>()
  return {
    enter(ownerId) {
      const before = taken.get(ownerId) ?? 0
      if (before >= placesEach) return null
      taken.set(ownerId, before + 1)
      return {
        [Symbol.dispose]() {
          const left = (taken.get(ownerId) ?? 1) - 1
          if (left === 0) taken.delete(ownerId)
          else taken.set(ownerId, left)
        },
      }
    },
  }
}

/** Sends a test at once, whether the hook is paused or not, and answers what came of it. Nothing is repeated. Refuses with `not_found` and `too_many`. */
export async function testHook(deps: Deps, ownerId: string, id: string, outside = usualOutside(deps.config)): Promise<HookDelivery> {
  const { db, clock } = deps
  const known = await readHook(deps, ownerId, id)
  const now = clock.now()
  await countByHand(deps, ownerId, now)
  const eventId = newId()
  const payload = JSON.stringify({ id: eventId, type: 'test', timestamp: now.toString(), data: {} })
  const delivery = await db.transaction(async (tx) => {
    await tx.insert(hookEvents).values({ id: eventId, ownerId, type: 'test', happenedAt: now, facts: {}, payload })
    const values = { ownerId, hookId: known.hook.id, eventId, state: 'waiting' as const, createdAt: now, attempt: 1, lastTriedAt: now }
    const [row] = await tx.insert(hookDeliveries).values(values).returning()
    return row
  })
  if (!delivery) throw new Error('A test was not written down.')
  return tell(deps, { known, delivery: { ...delivery, type: 'test', payload }, afterFailure: 'give up' }, outside)
}

/**
 * Tells an event once more at once, whatever became of it before and whether the hook is paused or not. What waits goes on as it was; what was
 * over is not tried again by itself. Refuses with `not_found` and `too_many`.
 */
export async function resendHook(
  deps: Deps,
  ownerId: string,
  { id, deliveryId }: { id: string; deliveryId: string },
  outside = usualOutside(deps.config),
): Promise<HookDelivery> {
  const known = await readHook(deps, ownerId, id)
  const now = deps.clock.now()
  await countByHand(deps, ownerId, now)
  const which = and(eq(hookDeliveries.hookId, known.hook.id), eq(hookDeliveries.id, deliveryId))
  const delivery = z.uuid().safeParse(deliveryId).success ? await claim(deps.db, which, now) : null
  if (!delivery) throw new Refusal('not_found', 'There is no such delivery. What is older than 30 days is forgotten.')
  return tell(deps, { known, delivery, afterFailure: delivery.state === 'waiting' ? 'retry' : 'give up' }, outside)
}

/** What was delivered to a hook lately, newest first. Refuses with `not_found`. */
export async function listHookDeliveries(deps: Pick<Deps, 'db' | 'config'>, ownerId: string, id: string): Promise<HookDelivery[]> {
  const known = await readHook(deps, ownerId, id)
  const found = await deps.db
    .select({ delivery: hookDeliveries, type: hookEvents.type })
    .from(hookDeliveries)
    .innerJoin(hookEvents, eq(hookEvents.id, hookDeliveries.eventId))
    .where(eq(hookDeliveries.hookId, known.hook.id))
    .orderBy(desc(hookDeliveries.id))
    .limit(mostListed)
  return found.map(({ delivery, type }) => toDelivery(delivery, type, known))
}

/** An event on its way to a receiver. */
type Claimed = DeliveryRow & { type: HookEvent | 'test'; payload: string }

/** Of the deliveries of a hook: what waits, and whose time has come. */
export function isDue(hookId: string | typeof hooks.id, now: Instant): SQL | undefined {
  return and(eq(hookDeliveries.hookId, hookId), eq(hookDeliveries.state, 'waiting'), lte(hookDeliveries.nextTryAt, now))
}

/** Takes what has been due for longest. From here on it counts as tried, so that a call that brings this process down is not made for ever. */
async function claimNext(db: Database, hookId: string, now: Instant): Promise<Claimed | null> {
  const next = db
    .select({ id: hookDeliveries.id })
    .from(hookDeliveries)
    .where(isDue(hookId, now))
    .orderBy(asc(hookDeliveries.nextTryAt), asc(hookDeliveries.id))
    .limit(1)
    .for('update', { skipLocked: true })
  return claim(db, inArray(hookDeliveries.id, next), now)
}

async function claim(db: Database, which: SQL | undefined, now: Instant): Promise<Claimed | null> {
  const again = now.add(claimed).toString()
  const [row] = await db
    .update(hookDeliveries)
    .set({
      attempt: sql`${hookDeliveries.attempt} + 1`,
      lastTriedAt: now,
      nextTryAt: sql`CASE WHEN ${hookDeliveries.state} = 'waiting' THEN ${again}::timestamptz END`,
    })
    .from(hookEvents)
    .where(and(eq(hookEvents.id, hookDeliveries.eventId), which))
    .returning({ ...getTableColumns(hookDeliveries), type: hookEvents.type, payload: hookEvents.payload })
  // Whatever is delivered was composed before.
  return row?.payload ? { ...row, payload: row.payload } : null
}

interface Telling {
  known: KnownHook
  delivery: Claimed
  afterFailure: 'retry' | 'give up'
}

/** Calls the receiver, outside of any transaction, and writes down what it said. */
async function tell(deps: Deps, telling: Telling, outside: HookOutside): Promise<HookDelivery> {
  const { db, clock, config } = deps
  const { known, delivery } = telling
  const signed = signHook(config.secretKey, known.hook, { eventId: delivery.eventId, body: delivery.payload }, clock.now())
  const headers = { 'content-type': 'application/json', ...signed }
  const answer = await callHook({ method: 'POST', url: known.hook.url, headers, body: delivery.payload }, outside)
  return db.transaction((tx) => record(tx, deps, telling, answer))
}

async function record(tx: Database, deps: Deps, { known, delivery, afterFailure }: Telling, answer: HookAnswer): Promise<HookDelivery> {
  const now = deps.clock.now()
  const { hook } = known
  const taken = isTaken(answer)
  const pause = afterFailure === 'retry' && !taken && answer.status !== gone ? pauses[delivery.attempt - 1] : undefined
  const said = {
    status: answer.status,
    words: answer.words,
    state: taken ? ('delivered' as const) : pause === undefined ? ('failed' as const) : ('waiting' as const),
    nextTryAt: pause === undefined ? null : now.add({ seconds: pause }),
  }
  // In the order in which an account and a hook that are deleted take what is theirs with them.
  await tx.select({ id: accounts.id }).from(accounts).where(eq(accounts.id, hook.ownerId)).for('key share')
  await tx.select({ id: hooks.id }).from(hooks).where(eq(hooks.id, hook.id)).for('update')
  // Whoever has tried it again meanwhile tells the truth.
  const mine = and(eq(hookDeliveries.id, delivery.id), eq(hookDeliveries.attempt, delivery.attempt))
  const changed = await tx.update(hookDeliveries).set(said).where(mine).returning({ id: hookDeliveries.id })
  const pausedBecause = changed.length > 0 ? await recordAtHook(tx, deps, known, answer, now) : hook.pausedBecause
  return toDelivery({ ...delivery, ...said }, delivery.type, { ...known, hook: { ...hook, pausedBecause } })
}

/** Answers what keeps the hook from being called from here on, but for Zapier as a whole. */
async function recordAtHook(
  tx: Database,
  deps: Deps,
  known: KnownHook,
  answer: HookAnswer,
  now: Instant,
): Promise<HookRow['pausedBecause']> {
  if (answer.status === gone) {
    await forgetHook(tx, known, now)
    return null
  }
  const failures = sql`${hooks.failures} + 1`
  const [after] = await tx
    .update(hooks)
    .set(
      isTaken(answer)
        ? { failures: 0, lastDeliveredAt: now }
        : {
            failures,
            pausedBecause: sql`CASE WHEN ${failures} >= ${patience}::int THEN coalesce(${hooks.pausedBecause}, 'failing') ELSE ${hooks.pausedBecause} END`,
          },
    )
    .where(eq(hooks.id, known.hook.id))
    .returning()
  if (after?.pausedBecause === 'failing' && after.failures === patience) await tellOfPause(tx, deps, after, answer, now)
  return after?.pausedBecause ?? null
}

/** "The address is gone": whoever says so is called no more. */
const gone = 410

async function forgetHook(tx: Database, { hook }: KnownHook, now: Instant): Promise<void> {
  await tx.delete(hooks).where(eq(hooks.id, hook.id))
  await withdrawMended(tx, hook.ownerId)
  // Of a Zap its owner knows: it was switched off.
  if (hook.kind === 'zapier') return
  const host = hostOf(hook)
  await writeAudit(tx, { ownerId: hook.ownerId, kind: 'webhook_removed', about: host }, null, now)
  const text = `It answered that the address is gone for good (410), so the webhook was removed. If that was a mistake, add it again.`
  await notify(tx, hook.ownerId, { kind: 'webhook_gone', title: `${host} wants no more calls`, text, link: '/dashboard/connections' }, now)
}

async function tellOfPause(tx: Database, deps: Deps, hook: HookRow, { status, words }: HookAnswer, now: Instant): Promise<void> {
  const [owner] = await tx.select().from(accounts).where(eq(accounts.id, hook.ownerId))
  if (!owner) return
  deps.log.warn({ ownerId: hook.ownerId, hookId: hook.id, status }, 'A webhook is paused: too many tries in a row have failed.')
  const last = status === null ? words : `The last time it answered ${status}${words === '' ? '.' : `: “${words}”`}`
  const text = `${patience} calls in a row have failed. ${last} What happens meanwhile waits for up to 30 days: once the receiver is mended, resume the webhook.`
  const link = `/dashboard/connections/webhooks/${hook.id}`
  await notifyOwner(tx, deps, owner, { kind: 'webhook_failing', title: `The webhook to ${hostOf(hook)} is paused`, text, link }, now)
}

async function countByHand({ db, config }: Deps, ownerId: string, now: Instant): Promise<void> {
  if (config.rateLimit) await countTry(db, `hook-by-hand:${ownerId}`, byHand, now)
}

function toDelivery(row: DeliveryRow, type: HookEvent | 'test', known: KnownHook): HookDelivery {
  const { id, eventId, state, createdAt, attempt, nextTryAt, lastTriedAt, status, words } = row
  return {
    _id: id,
    eventId,
    event: type,
    state,
    createdAt: createdAt.toString(),
    attempt,
    nextTryAt: state === 'waiting' && !pauseOf(known) ? (nextTryAt?.toString() ?? null) : null,
    lastTriedAt: lastTriedAt?.toString() ?? null,
    status,
    words,
  }
}
