import { setTimeout as pause } from 'node:timers/promises'
import { and, eq, isNull, sql } from 'drizzle-orm'
import pLimit from 'p-limit'
import type { Deps } from '#server/platform/deps.ts'
import { type FairScheduler, openFairScheduler, type Slots } from '#server/platform/fair-scheduler.ts'
import { defaultNetwork, type WebhookNetwork } from './http-client.ts'
import { callReceiversJob } from './jobs.ts'
import { webhookDeliveries, webhooks } from './tables.ts'
import { callReceiver, claimNext, isDue, putOff, record } from './webhook-delivery.ts'
import { findWebhooks, isUnsubscribed, pauseOf } from './webhooks.ts'

/** Calls in flight in a process, of one account, and of receivers that have been slow for 2 s: each call is a socket and a few KB. */
const limits = { slots: 256, each: 8, slow: { afterMs: 2_000, slots: 64 } }
/** Accounts whose receivers a process calls at a time: each is some memory and, while it waits for a receiver, a query a second. */
export const accountsAtOnce = 1_000
/** Deliveries of a process that use the database at a time: the rest of its connections are for calls and emails. */
const databaseAtOnce = 4
/** How often an account is looked at for further deliveries that are due, in ms. */
const lookEvery = 1_000

/** What the receivers of all accounts share in a process. */
export interface Receivers {
  scheduler: FairScheduler
  /** Runs work on the database, a few at a time. */
  database<T>(work: () => Promise<T>): Promise<T>
  /** How many accounts are being served, and the most at a time: then each hands over to others after its slice, in ms. */
  served: number
  most: number
  slice: number
}

export function openReceivers({ most = accountsAtOnce, slice = 3_000 } = {}): Receivers {
  return { scheduler: openFairScheduler(limits), database: pLimit(databaseAtOnce), served: 0, most, slice }
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
  const began = performance.now()
  const over = new AbortController()
  const until = AbortSignal.any([stopping, over.signal])
  const serving = new Map<string, Promise<unknown>>()
  const failures: unknown[] = []
  using slots = receivers.scheduler.open(ownerId)
  receivers.served += 1
  try {
    for (;;) {
      if (receivers.served >= receivers.most && performance.now() - began > receivers.slice) {
        await deps.db.transaction((tx) => deps.queue.send(tx, callReceiversJob, { ownerId }))
        return
      }
      for (const hookId of until.aborted ? [] : await receivers.database(() => findDue(deps, ownerId)))
        if (!serving.has(hookId)) {
          const served = serve({ deps, receivers, slots, until, network }, hookId)
            .catch((error: unknown) => failures.push(error))
            .finally(() => serving.delete(hookId))
          serving.set(hookId, served)
        }
      if (failures.length > 0) throw failures[0]
      if (serving.size === 0) return
      await Promise.race([...serving.values(), pause(lookEvery, undefined, { ref: false })])
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
  until: AbortSignal
  network: WebhookNetwork
}

/** Sends a webhook its due deliveries, one after the other. A delivery is claimed only once there is a slot for its call. */
async function serve({ deps, receivers: { database }, slots, until, network }: Serving, hookId: string): Promise<void> {
  for (;;) {
    const slot = await slots.acquire({ server: hookId, until }).catch((error: unknown) => {
      if (until.aborted) return null
      throw error
    })
    if (!slot) return
    try {
      const claimed = await database(async () => {
        const [known] = await findWebhooks(deps, eq(webhooks.id, hookId))
        const delivery = known && !pauseOf(known) && !until.aborted ? await claimNext(deps.db, hookId, deps.clock.now()) : null
        return known && delivery && { known, delivery }
      })
      if (!claimed) return
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
  const due = sql`EXISTS (SELECT 1 FROM ${webhookDeliveries} WHERE ${isDue(webhooks.id, clock.now())})`
  const open = and(eq(webhooks.ownerId, ownerId), isNull(webhooks.pausedBecause), sql`NOT ${isUnsubscribed(config)}`)
  return (await findWebhooks({ db, config }, and(open, due))).map(({ webhook }) => webhook.id)
}
