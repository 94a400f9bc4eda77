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

/** Events per transaction. */
const composedAtOnce = 100
/** Accounts, and webhooks, that are signalled at a time. */
const wokenAtOnce = 1_000
/** How long events are kept, with their deliveries. */
const kept = { hours: 30 * 24 }

/** Signals accounts with new events, and webhooks with due deliveries. Every 2 s. */
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
 * Composes the new events of an account, in order, and adds a delivery for each webhook that listens. However often it is interrupted, no
 * event is added twice.
 */
export async function composeWebhooks({ db, queue, clock }: Deps, ownerId: string): Promise<void> {
  for (;;) {
    const complete = await db.transaction(async (tx) => {
      // Waits for an account that is being deleted, and must lock in the same order as deleting does.
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
    // Test events are composed when they are made.
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

/** Prunes events older than 30 days, with their deliveries, a few hundred at a time; called by a worker. */
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
