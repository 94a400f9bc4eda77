import { and, asc, eq, inArray, isNull, lte, type SQL, sql } from 'drizzle-orm'
import type { AnyPgColumn } from 'drizzle-orm/pg-core'
import { accounts } from '#server/accounts/tables.ts'
import type { Instant } from '#server/platform/clock.ts'
import type { Database } from '#server/platform/database.ts'
import type { Deps } from '#server/platform/deps.ts'
import type { Job } from '#server/platform/job.ts'
import { jobs } from '#server/platform/tables.ts'
import { callReceiversJob, composeWebhooksJob } from './jobs.ts'
import { oauthGrants, webhookDeliveries, webhookEvents, webhooks } from './tables.ts'
import { isDue } from './webhook-delivery.ts'
import { composePayload } from './webhook-payload.ts'
import { isUnsubscribed } from './webhooks.ts'

/** Events per transaction. */
const composedAtOnce = 100
/** After so many transactions an account with many events lets others have their turn. */
const composedInTurn = 5
/** Accounts that are signalled at a time. */
const wokenAtOnce = 1_000
/** How long events are kept, with their deliveries. */
const kept = { hours: 30 * 24 }

/** Signals accounts with new events, and accounts with due deliveries. Every second. */
export async function wakeWebhooks({ db, queue, clock, config }: Deps): Promise<void> {
  const happened = await db
    .selectDistinct({ ownerId: webhookEvents.ownerId })
    .from(webhookEvents)
    .where(and(isNull(webhookEvents.payload), isNotSignalled(composeWebhooksJob, webhookEvents.ownerId)))
    .limit(wokenAtOnce)
  for (const { ownerId } of happened) await db.transaction((tx) => queue.send(tx, composeWebhooksJob, { ownerId }))
  const due = await db
    .selectDistinct({ ownerId: webhooks.ownerId })
    .from(webhooks)
    .innerJoin(accounts, eq(accounts.id, webhooks.ownerId))
    .leftJoin(oauthGrants, eq(oauthGrants.id, webhooks.grantId))
    .where(
      and(
        isNull(webhooks.pausedBecause),
        sql`NOT ${isUnsubscribed(config)}`,
        isNotSignalled(callReceiversJob, webhooks.ownerId),
        sql`EXISTS (SELECT 1 FROM ${webhookDeliveries} WHERE ${isDue(webhooks.id, clock.now())})`,
      ),
    )
    .limit(wokenAtOnce)
  for (const { ownerId } of due) await db.transaction((tx) => queue.send(tx, callReceiversJob, { ownerId }))
}

/** An account whose job waits or runs needs no further signal, so that the limit above reaches every account in turn. */
function isNotSignalled({ name }: Job, ownerId: AnyPgColumn): SQL {
  return sql`NOT EXISTS (SELECT 1 FROM ${jobs} WHERE ${jobs.name} = ${name} AND ${jobs.key} = ${ownerId}::text AND ${jobs.turn} > 0)`
}

/**
 * Composes the new events of an account, in order, and adds a delivery for each webhook that listens. However often it is interrupted, no
 * event is added twice.
 */
export async function composeWebhooks({ db, queue, clock }: Deps, ownerId: string): Promise<void> {
  for (let nth = 0; nth < composedInTurn; nth += 1) {
    const complete = await db.transaction(async (tx) => {
      // Waits for an account that is being deleted, and must lock in the same order as deleting does.
      const [owner] = await tx.select({ id: accounts.id }).from(accounts).where(eq(accounts.id, ownerId)).for('key share')
      return owner ? composeSome(tx, queue, ownerId, clock.now()) : true
    })
    if (complete) return
  }
  await db.transaction((tx) => queue.send(tx, composeWebhooksJob, { ownerId }))
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
  if (listening.some(({ id, pausedBecause }) => told.has(id) && !pausedBecause)) await queue.send(tx, callReceiversJob, { ownerId })
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
