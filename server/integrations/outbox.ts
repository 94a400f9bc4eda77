import { and, asc, eq, inArray, isNull, lte, sql } from 'drizzle-orm'
import { accounts } from '#server/accounts/tables.ts'
import type { Instant } from '#server/platform/clock.ts'
import type { Database } from '#server/platform/database.ts'
import type { Deps } from '#server/platform/deps.ts'
import { composeWebhooksJob, deliverWebhookJob } from './jobs.ts'
import { oauthGrants, webhookDeliveries, webhookEvents, webhooks } from './tables.ts'
import { isDue } from './webhook-delivery.ts'
import { composePayload } from './webhook-payload.ts'
import { isUnsubscribed } from './webhooks.ts'

/** So many events share a commit. */
const composedAtOnce = 100
/** So many accounts, and so many receivers, are woken at a time. */
const wokenAtOnce = 1_000
/** What happened is kept for so long, and with it what became of telling it. */
const kept = { hours: 30 * 24 }

/** Wakes somebody up for whatever has happened and for whoever is to be told of it. Every 2 s. */
export async function wakeWebhooks({ db, queue, clock, config }: Deps): Promise<void> {
  const happened = await db
    .selectDistinct({ ownerId: webhookEvents.ownerId })
    .from(webhookEvents)
    .where(isNull(webhookEvents.payload))
    .limit(wokenAtOnce)
  for (const { ownerId } of happened) await db.transaction((tx) => queue.send(tx, composeWebhooksJob, { ownerId }))
  const due = await db
    .select({ hookId: webhooks.id })
    .from(webhooks)
    .innerJoin(accounts, eq(accounts.id, webhooks.ownerId))
    .leftJoin(oauthGrants, eq(oauthGrants.id, webhooks.grantId))
    .where(
      and(
        isNull(webhooks.pausedBecause),
        sql`NOT ${isUnsubscribed(config)}`,
        sql`EXISTS (SELECT 1 FROM ${webhookDeliveries} WHERE ${isDue(webhooks.id, clock.now())})`,
      ),
    )
    .limit(wokenAtOnce)
  for (const { hookId } of due) await db.transaction((tx) => queue.send(tx, deliverWebhookJob, { hookId }))
}

/**
 * Puts what has happened to an account into the words that its receivers are told, in its order, and writes down for each of them that it is to
 * be told. Nobody is told twice of one event, however often this is cut off.
 */
export async function composeWebhooks({ db, queue, clock }: Deps, ownerId: string): Promise<void> {
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
    .from(webhookEvents)
    .where(and(eq(webhookEvents.ownerId, ownerId), isNull(webhookEvents.payload)))
    .orderBy(asc(webhookEvents.position))
    .limit(composedAtOnce)
    .for('update')
  const listening = await tx
    .select({ id: webhooks.id, events: webhooks.events, pausedBecause: webhooks.pausedBecause })
    .from(webhooks)
    .where(eq(webhooks.ownerId, ownerId))
    .for('key share')
  const composed: { id: string; payload: string }[] = []
  const deliveries: (typeof webhookDeliveries.$inferInsert)[] = []
  for (const { id, type, happenedAt, facts } of happened) {
    // These are composed as they are made.
    if (type === 'test') continue
    composed.push({ id, payload: JSON.stringify(composePayload({ id, type, at: happenedAt ?? now, facts })) })
    for (const webhook of listening.filter(({ events }) => events.includes(type)))
      deliveries.push({ ownerId, hookId: webhook.id, eventId: id, state: 'waiting', createdAt: now, nextTryAt: now })
  }
  if (composed.length > 0) {
    const values = composed.map(({ id, payload }) => sql`(${id}::uuid, ${payload}::text)`)
    await tx.execute(sql`
      UPDATE hook_events e SET payload = v.payload, facts = '{}', happened_at = coalesce(e.happened_at, ${now.toString()}::timestamptz)
      FROM (VALUES ${sql.join(values, sql`, `)}) AS v (id, payload) WHERE e.id = v.id`)
  }
  if (deliveries.length > 0) await tx.insert(webhookDeliveries).values(deliveries)
  const told = new Set(deliveries.map(({ hookId }) => hookId))
  for (const { id, pausedBecause } of listening) if (told.has(id) && !pausedBecause) await queue.send(tx, deliverWebhookJob, { hookId: id })
  return happened.length < composedAtOnce
}

/** Forgets what happened more than 30 days ago, and with it what became of telling it, a few hundred at a time. Call it now and then from a worker. */
export async function pruneWebhookEvents(db: Database, now: Instant): Promise<void> {
  for (;;) {
    const old = db
      .select({ id: webhookEvents.id })
      .from(webhookEvents)
      .where(lte(webhookEvents.happenedAt, now.subtract(kept)))
      .limit(500)
    const erased = await db.delete(webhookEvents).where(inArray(webhookEvents.id, old)).returning({ id: webhookEvents.id })
    if (erased.length === 0) return
  }
}
