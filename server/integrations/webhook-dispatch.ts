import { and, eq, isNull, type SQL, sql } from 'drizzle-orm'
import pLimit from 'p-limit'
import { systemTimers } from '#server/platform/clock.ts'
import type { Deps } from '#server/platform/deps.ts'
import { type FairScheduler, openFairScheduler, type Slots } from '#server/platform/fair-scheduler.ts'
import { defaultNetwork, type WebhookNetwork } from './http-client.ts'
import { callReceiversJob } from './jobs.ts'
import { webhookDeliveries, webhooks } from './tables.ts'
import { callReceiver, claimNext, isDue, putOff, record } from './webhook-delivery.ts'
import { hostKey, takeTurn } from './webhook-hosts.ts'
import { findWebhooks, isCallable, isUnsubscribed, type KnownWebhook } from './webhooks.ts'

/** Calls in flight in a process, of one account, and of receivers that have been slow for 2 s: each call is a socket and a few KB. */
const limits = { slots: 256, each: 8, slow: { afterMs: 2_000, slots: 64 } }
/** Accounts whose receivers a process calls at a time: each is some memory and, while it waits for a receiver, a query a second. */
export const accountsAtOnce = 1_000
/** Deliveries of a process that use the database at a time: the rest of its connections are for calls and emails. */
const databaseAtOnce = 4
/** Calls of one account leave at least this far apart, in ms: twenty a second. */
const apart = 50
/** How long a host that has no turn is left alone, in ms. */
const noTurn = 500
/** How often an account is looked at for further deliveries that are due, in ms. */
const lookEvery = 1_000

/** What the receivers of all accounts share in a process. */
export interface Receivers {
  scheduler: FairScheduler
  /** Runs work on the database, a few at a time. */
  database<T>(work: () => Promise<T>): Promise<T>
  /** The line of each host: accounts take turns in it. */
  lines: Map<string, { scheduler: FairScheduler; users: number }>
  /** How many accounts are being served, and the most at a time: then each hands over to others after its slice, in ms. */
  served: number
  most: number
  slice: number
}

export function openReceivers({ most = accountsAtOnce, slice = 3_000, timers = systemTimers } = {}): Receivers {
  return { scheduler: openFairScheduler({ ...limits, timers }), database: pLimit(databaseAtOnce), lines: new Map(), served: 0, most, slice }
}

/**
 * Sends the due deliveries of an account, one after the other for each webhook and several webhooks at a time, until nothing is due or the
 * process stops.
 *
 * Each is claimed, then sent, then recorded. A crash between a receiver's response and the record is the one window that no order of these
 * steps can close: such an event is sent once more, under the same id, so that the receiver can drop the duplicate (at least once, as
 * standardwebhooks.com specifies).
 */
export async function callReceivers(
  deps: Deps,
  { ownerId, receivers }: { ownerId: string; receivers: Receivers },
  stopping: AbortSignal,
  network = defaultNetwork(deps.config),
): Promise<void> {
  const began = deps.clock.elapsed()
  const over = new AbortController()
  const until = AbortSignal.any([stopping, over.signal])
  const serving = new Map<string, Promise<unknown>>()
  const failures: unknown[] = []
  using slots = receivers.scheduler.open(ownerId)
  let nextCall = 0
  const pace = async () => {
    const now = deps.clock.elapsed()
    nextCall = Math.max(nextCall + apart, now)
    await deps.clock.pause(nextCall - now)
  }
  receivers.served += 1
  try {
    for (;;) {
      if (receivers.served >= receivers.most && deps.clock.elapsed() - began > receivers.slice) {
        await deps.db.transaction((tx) => deps.queue.send(tx, callReceiversJob, { ownerId }))
        return
      }
      for (const hookId of until.aborted ? [] : await receivers.database(() => findDue(deps, ownerId)))
        if (!serving.has(hookId)) {
          const served = serve({ deps, receivers, slots, pace, until, network }, hookId)
            .catch((error: unknown) => failures.push(error))
            .finally(() => serving.delete(hookId))
          serving.set(hookId, served)
        }
      if (failures.length > 0) throw failures[0]
      if (serving.size === 0) return
      await Promise.race([...serving.values(), deps.clock.pause(lookEvery)])
    }
  } finally {
    over.abort()
    await Promise.all(serving.values())
    receivers.served -= 1
  }
}

interface Serving {
  deps: Deps
  receivers: Receivers
  slots: Slots
  /** Waits until the account may make its next call. */
  pace(): Promise<void>
  until: AbortSignal
  network: WebhookNetwork
}

/** Sends a webhook its due deliveries, one after the other. A delivery is claimed only once it is its turn and there is a slot for its call. */
async function serve({ deps, receivers, slots, pace, until, network }: Serving, hookId: string): Promise<void> {
  const { database } = receivers
  for (;;) {
    if (deps.config.rateLimit) {
      const [known] = await database(() => findWebhooks(deps, and(eq(webhooks.id, hookId), hasDue(deps))))
      if (!known || !isCallable(known)) return
      await pace()
      await untilTurn(deps, receivers, known, until)
      if (until.aborted) return
    }
    const slot = await slots.acquire({ server: hookId, until }).catch((error: unknown) => {
      if (until.aborted) return null
      throw error
    })
    if (!slot) return
    try {
      const claimed = await database(async () => {
        const [known] = await findWebhooks(deps, eq(webhooks.id, hookId))
        const delivery = known && isCallable(known) && !until.aborted ? await claimNext(deps.db, hookId, deps.clock.now()) : null
        return known && delivery && { known, delivery }
      })
      if (!claimed) return
      // Its URL was changed while it was being tried.
      if (claimed.known.webhook.verifiedAt === null && claimed.delivery.type !== 'challenge') {
        await database(() => putOff(deps.db, claimed.delivery, null))
        continue
      }
      const cut = new AbortController()
      slot.begin(() => cut.abort())
      const answer = await callReceiver(deps, claimed, network, cut.signal)
      const { delivery } = claimed
      await database<unknown>(() =>
        cut.signal.aborted && answer.status === null
          ? putOff(deps.db, delivery, deps.clock.now())
          : deps.db.transaction((tx) => record(tx, deps, { ...claimed, afterFailure: 'retry' }, answer)),
      )
    } finally {
      slot.release()
    }
  }
}

/** The webhooks of an account that have due deliveries and may be called. */
async function findDue({ db, clock, config }: Deps, ownerId: string): Promise<string[]> {
  const open = and(eq(webhooks.ownerId, ownerId), isNull(webhooks.pausedBecause), sql`NOT ${isUnsubscribed(config)}`)
  return (await findWebhooks({ db, config }, and(open, hasDue({ clock })))).map(({ webhook }) => webhook.id)
}

function hasDue({ clock }: Pick<Deps, 'clock'>): SQL {
  // Looked up for each webhook: of EXISTS PostgreSQL might make a join with what waits of all accounts.
  return sql`(SELECT true FROM ${webhookDeliveries} WHERE ${isDue(webhooks.id, clock.now())} LIMIT 1)`
}

/** Waits in the line of a webhook's host for its turn. The accounts in it are called in turn, however many webhooks each of them has there. */
async function untilTurn(
  { db, clock }: Deps,
  { lines, database }: Receivers,
  { webhook }: KnownWebhook,
  until: AbortSignal,
): Promise<void> {
  const key = hostKey(webhook)
  const line = lines.get(key) ?? { scheduler: openFairScheduler({ slots: 1, timers: clock }), users: 0 }
  lines.set(key, line)
  line.users += 1
  try {
    using place = line.scheduler.open(webhook.ownerId)
    const head = await place.acquire({ until }).catch(() => null)
    if (!head) return
    try {
      for (let wait = await database(() => takeTurn(db, webhook)); ; wait = await database(() => takeTurn(db, webhook))) {
        await clock.pause(wait ?? noTurn)
        if (wait !== null || until.aborted) return
      }
    } finally {
      head.release()
    }
  } finally {
    line.users -= 1
    if (line.users === 0) lines.delete(key)
  }
}
