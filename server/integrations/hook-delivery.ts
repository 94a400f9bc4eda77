import { and, asc, desc, eq, isNull, lte, type SQL, sql } from 'drizzle-orm'
import { z } from 'zod'
import type { HookDelivery, HookEvent } from '#contract/integrations.ts'
import { countTry, writeAudit } from '#server/accounts/accounts.ts'
import { notify, tellOwner } from '#server/accounts/notices.ts'
import { accounts } from '#server/accounts/tables.ts'
import type { Instant } from '#server/platform/clock.ts'
import { newId } from '#server/platform/columns.ts'
import type { Database } from '#server/platform/database.ts'
import type { Deps } from '#server/platform/deps.ts'
import { Refusal } from '#server/platform/refusal.ts'
import { composePayload } from './hook-payload.ts'
import { signHook } from './hook-secret.ts'
import { callHook, type HookAnswer, type HookOutside, isTaken, usualOutside } from './hook-target.ts'
import { findHooks, hostOf, isUnsubscribed, type KnownHook, pauseOf, readHook } from './hooks.ts'
import { composeHooksJob, deliverHookJob } from './jobs.ts'
import { hookDeliveries, hookEvents, hooks, oauthGrants } from './tables.ts'

type DeliveryRow = typeof hookDeliveries.$inferSelect

/** Seconds from a failed try to the next one; after the last of these there is none. */
const pauses = [5, 300, 1_800, 7_200, 18_000, 36_000, 36_000]
/** So many failed tries in a row pause a hook. */
const patience = 100
/** A try that nobody has recorded is made again after so long: its process is gone. Longer than any call takes. */
const claimed = { seconds: 60 }
/** A receiver to whom much is due lets others have their turn after so long. */
const sliceMilliseconds = 3_000
/** So many events share a commit. */
const composedAtOnce = 100
/** So many accounts, and so many receivers, are woken at a time. */
const wokenAtOnce = 1_000
/** What happened is kept for so long, and with it what became of telling it. */
const kept = { hours: 30 * 24 }
const mostListed = 50
/** Calls that a person asks for, tests and repetitions. */
const byHand = { limit: 120, seconds: 3_600 }

/** Wakes somebody up for whatever has happened and for whoever is to be told of it. Every 2 s. */
export async function wakeHooks({ db, queue, clock, config }: Deps): Promise<void> {
  const happened = await db
    .selectDistinct({ ownerId: hookEvents.ownerId })
    .from(hookEvents)
    .where(isNull(hookEvents.payload))
    .limit(wokenAtOnce)
  for (const { ownerId } of happened) await db.transaction((tx) => queue.send(tx, composeHooksJob, { ownerId }))
  const due = await db
    .select({ hookId: hooks.id })
    .from(hooks)
    .innerJoin(accounts, eq(accounts.id, hooks.ownerId))
    .leftJoin(oauthGrants, eq(oauthGrants.id, hooks.grantId))
    .where(
      and(
        isNull(hooks.pausedBecause),
        sql`NOT ${isUnsubscribed(config)}`,
        sql`EXISTS (SELECT 1 FROM ${hookDeliveries} WHERE ${isDue(hooks.id, clock.now())})`,
      ),
    )
    .limit(wokenAtOnce)
  for (const { hookId } of due) await db.transaction((tx) => queue.send(tx, deliverHookJob, { hookId }))
}

/**
 * Puts what has happened to an account into the words that its receivers are told, in its order, and writes down for each of them that it is to
 * be told. Nobody is told twice of one event, however often this is cut off.
 */
export async function composeHooks({ db, queue, clock }: Deps, ownerId: string): Promise<void> {
  for (;;) {
    const complete = await db.transaction(async (tx) => {
      // An account that is being deleted is waited for, and nothing of it is touched in another order than it goes.
      const [owner] = await tx.select({ id: accounts.id }).from(accounts).where(eq(accounts.id, ownerId)).for('key share')
      return owner ? composeSome(tx, queue, ownerId, clock.now()) : true
    })
    if (complete) return
  }
}

async function composeSome(tx: Database, queue: Deps['queue'], ownerId: string, now: Instant): Promise<boolean> {
  const happened = await tx
    .select()
    .from(hookEvents)
    .where(and(eq(hookEvents.ownerId, ownerId), isNull(hookEvents.payload)))
    .orderBy(asc(hookEvents.position))
    .limit(composedAtOnce)
  const listening = await tx
    .select({ id: hooks.id, events: hooks.events, pausedBecause: hooks.pausedBecause })
    .from(hooks)
    .where(eq(hooks.ownerId, ownerId))
    .for('key share')
  const composed: { id: string; payload: string }[] = []
  const deliveries: (typeof hookDeliveries.$inferInsert)[] = []
  for (const { id, type, happenedAt, facts } of happened) {
    // These are composed as they are made.
    if (type === 'test') continue
    composed.push({ id, payload: JSON.stringify(composePayload({ id, type, at: happenedAt ?? now, facts })) })
    for (const hook of listening.filter(({ events }) => events.includes(type)))
      deliveries.push({ ownerId, hookId: hook.id, eventId: id, state: 'waiting', createdAt: now, nextTryAt: now })
  }
  if (composed.length > 0) {
    const values = composed.map(({ id, payload }) => sql`(${id}::uuid, ${payload}::text)`)
    await tx.execute(sql`
      UPDATE hook_events e SET payload = v.payload, happened_at = coalesce(e.happened_at, ${now.toString()}::timestamptz)
      FROM (VALUES ${sql.join(values, sql`, `)}) AS v (id, payload) WHERE e.id = v.id`)
  }
  if (deliveries.length > 0) await tx.insert(hookDeliveries).values(deliveries)
  const told = new Set(deliveries.map(({ hookId }) => hookId))
  for (const { id, pausedBecause } of listening) if (told.has(id) && !pausedBecause) await queue.send(tx, deliverHookJob, { hookId: id })
  return happened.length < composedAtOnce
}

/**
 * Tells one receiver what is due to it, one after the other, until nothing is, its slice is over or the process stops.
 *
 * Each is claimed, then told, then recorded. A crash between a receiver's answer and the record is the one window that no order of these can
 * close: such an event is told once more, under the same id, so that who has seen it can drop it (at least once, as standardwebhooks.com says).
 */
export async function deliverHook(deps: Deps, hookId: string, stopping: AbortSignal, outside = usualOutside(deps.config)): Promise<void> {
  const began = performance.now()
  while (!stopping.aborted) {
    const [known] = await findHooks(deps, eq(hooks.id, hookId))
    if (!known || pauseOf(known)) return
    if (performance.now() - began > sliceMilliseconds) return deps.db.transaction((tx) => deps.queue.send(tx, deliverHookJob, { hookId }))
    const delivery = await claimNext(deps.db, hookId, deps.clock.now())
    if (!delivery) return
    await tell(deps, { known, delivery, afterFailure: 'retry' }, outside)
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
  const delivery = z.uuid().safeParse(deliveryId).success ? await claimAgain(deps.db, known.hook.id, deliveryId, now) : null
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

/** Forgets what happened more than 30 days ago, and with it what became of telling it. Call it now and then from a worker. */
export async function forgetOldHookEvents(db: Database, now: Instant): Promise<void> {
  await db.delete(hookEvents).where(lte(hookEvents.happenedAt, now.subtract(kept)))
}

/** An event on its way to a receiver. */
type Claimed = DeliveryRow & { type: HookEvent | 'test'; payload: string }

function isDue(hookId: string | typeof hooks.id, now: Instant): SQL | undefined {
  return and(eq(hookDeliveries.hookId, hookId), eq(hookDeliveries.state, 'waiting'), lte(hookDeliveries.nextTryAt, now))
}

/** Takes what has been due for longest. From here on it counts as tried, so that a receiver that brings this process down is not called for ever. */
async function claimNext(db: Database, hookId: string, now: Instant): Promise<Claimed | null> {
  const [next] = await db
    .select({ id: hookDeliveries.id })
    .from(hookDeliveries)
    .where(isDue(hookId, now))
    .orderBy(asc(hookDeliveries.nextTryAt), asc(hookDeliveries.id))
    .limit(1)
  if (!next) return null
  const [row] = await db
    .update(hookDeliveries)
    .set({ attempt: sql`${hookDeliveries.attempt} + 1`, lastTriedAt: now, nextTryAt: now.add(claimed) })
    .where(and(eq(hookDeliveries.id, next.id), isDue(hookId, now)))
    .returning()
  return row ? withEvent(db, row) : claimNext(db, hookId, now)
}

async function claimAgain(db: Database, hookId: string, id: string, now: Instant): Promise<Claimed | null> {
  const [row] = await db
    .update(hookDeliveries)
    .set({
      attempt: sql`${hookDeliveries.attempt} + 1`,
      lastTriedAt: now,
      nextTryAt: sql`CASE WHEN ${hookDeliveries.state} = 'waiting' THEN ${now.add(claimed).toString()}::timestamptz END`,
    })
    .where(and(eq(hookDeliveries.id, id), eq(hookDeliveries.hookId, hookId)))
    .returning()
  return row ? withEvent(db, row) : null
}

async function withEvent(db: Database, row: DeliveryRow): Promise<Claimed | null> {
  const [event] = await db
    .select({ type: hookEvents.type, payload: hookEvents.payload })
    .from(hookEvents)
    .where(eq(hookEvents.id, row.eventId))
  return event?.payload ? { ...row, type: event.type, payload: event.payload } : null
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
  // Whoever has tried it again meanwhile tells the truth.
  const mine = and(eq(hookDeliveries.id, delivery.id), eq(hookDeliveries.attempt, delivery.attempt))
  const changed = await tx.update(hookDeliveries).set(said).where(mine).returning({ id: hookDeliveries.id })
  if (changed.length > 0) {
    if (answer.status === gone) await forgetHook(tx, known, now)
    else if (taken) await tx.update(hooks).set({ failures: 0, lastDeliveredAt: now }).where(eq(hooks.id, hook.id))
    else await countFailure(tx, deps, known, answer, now)
  }
  const pausedBecause = await pauseNow(tx, hook.id)
  return toDelivery({ ...delivery, ...said }, delivery.type, { ...known, hook: { ...hook, pausedBecause } })
}

/** "The address is gone": whoever says so is called no more. */
const gone = 410

async function forgetHook(tx: Database, { hook }: KnownHook, now: Instant): Promise<void> {
  const deleted = await tx.delete(hooks).where(eq(hooks.id, hook.id)).returning({ id: hooks.id })
  // A Zap that was switched off says so itself, and its owner knows.
  if (deleted.length === 0 || hook.kind === 'zapier') return
  const host = hostOf(hook)
  await writeAudit(tx, { ownerId: hook.ownerId, kind: 'webhook_removed', about: host }, null, now)
  const text = `It answered that the address is gone for good (410), so the webhook was removed. If that was a mistake, add it again.`
  await notify(tx, hook.ownerId, { kind: 'webhook_gone', title: `${host} wants no more calls`, text, link: '/dashboard/connections' }, now)
}

async function countFailure(tx: Database, deps: Deps, { hook }: KnownHook, { status, words }: HookAnswer, now: Instant): Promise<void> {
  const [after] = await tx
    .update(hooks)
    .set({
      failures: sql`${hooks.failures} + 1`,
      pausedBecause: sql`CASE WHEN ${hooks.failures} + 1 >= ${patience}::int THEN coalesce(${hooks.pausedBecause}, 'failing') ELSE ${hooks.pausedBecause} END`,
    })
    .where(eq(hooks.id, hook.id))
    .returning()
  if (after?.pausedBecause !== 'failing' || after.failures !== patience) return
  const [owner] = await tx.select().from(accounts).where(eq(accounts.id, hook.ownerId))
  if (!owner) return
  const host = hostOf(hook)
  deps.log.warn({ ownerId: hook.ownerId, hookId: hook.id, status }, 'A webhook is paused: too many tries in a row have failed.')
  const last = status === null ? words : `The last time it answered ${status}${words === '' ? '.' : `: “${words}”`}`
  const text = `${patience} calls in a row have failed. ${last} What happens meanwhile waits for up to 30 days: once the receiver is mended, resume the webhook.`
  const link = `/dashboard/connections/webhooks/${hook.id}`
  await tellOwner(tx, deps, owner, { kind: 'webhook_failing', title: `The webhook to ${host} is paused`, text, link }, now)
}

async function pauseNow(tx: Database, hookId: string): Promise<'by_hand' | 'failing' | null> {
  const [now] = await tx.select({ pausedBecause: hooks.pausedBecause }).from(hooks).where(eq(hooks.id, hookId))
  return now?.pausedBecause ?? null
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
