import { setImmediate as nextTurn } from 'node:timers/promises'
import { and, asc, eq, gt, inArray, isNull, lte, type SQL, sql } from 'drizzle-orm'
import type { AnyPgColumn } from 'drizzle-orm/pg-core'
import { z } from 'zod'
import { screens } from '#contract/screens.ts'
import { notify } from '#server/accounts/notices.ts'
import { accounts } from '#server/accounts/tables.ts'
import type { Instant } from '#server/platform/clock.ts'
import { type Database, rows } from '#server/platform/database.ts'
import type { Deps } from '#server/platform/deps.ts'
import type { Job } from '#server/platform/job.ts'
import { jobs } from '#server/platform/tables.ts'
import { callReceiversJob, composeWebhooksJob } from './jobs.ts'
import { oauthGrants, webhookDeliveries, webhookEvents, webhooks } from './tables.ts'
import { texts } from './texts.ts'
import { isDue } from './webhook-delivery.ts'
import { composePayload } from './webhook-payload.ts'
import { hostOf, isUnsubscribed, type WebhookRow } from './webhooks.ts'

/** Events per transaction, and deliveries: 100 Zaps may listen to each event, and a statement has at most 65,535 parameters. */
const composedAtOnce = { events: 100, deliveries: 2_000 }
/** After so many transactions an account with many events lets others have their turn. */
const composedInTurn = 5
/** Accounts that are signalled at a time. */
const wokenAtOnce = 1_000
/** At most so many events wait for a webhook: further ones are skipped. */
const mostWaiting = 1_000
/** How many finished deliveries of a webhook are kept: more than anybody reads. */
const keptDeliveries = 1_000
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
        sql`EXISTS (SELECT 1 FROM ${webhookDeliveries} WHERE ${isDue(webhooks.id, clock.now())} AND ${webhookDeliveries.attempt} >= 0)`,
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
  const listening = await tx
    .select()
    .from(webhooks)
    .where(eq(webhooks.ownerId, ownerId))
    .orderBy(asc(webhooks.createdAt), asc(webhooks.id))
    .for('key share')
  const most = Math.max(1, Math.min(composedAtOnce.events, Math.floor(composedAtOnce.deliveries / Math.max(1, listening.length))))
  const happened = await tx
    .select()
    .from(webhookEvents)
    .where(and(eq(webhookEvents.ownerId, ownerId), isNull(webhookEvents.payload)))
    .orderBy(asc(webhookEvents.position))
    .limit(most)
    .for('update')
  const room = await roomOf(tx, ownerId)
  const skipped = new Map<string, number>()
  const composed: { id: string; payload: string }[] = []
  const unwanted: string[] = []
  const deliveries: (typeof webhookDeliveries.$inferInsert)[] = []
  for (const { id, type, happenedAt, facts } of happened) {
    // Test events are composed when they are made.
    if (type === 'test' || type === 'challenge') continue
    const queued = onePerUrl(listening.filter(({ events }) => events.includes(type))).filter(({ id: hookId }) => {
      const left = room.get(hookId) ?? mostWaiting
      if (left > 0) room.set(hookId, left - 1)
      else skipped.set(hookId, (skipped.get(hookId) ?? 0) + 1)
      return left > 0
    })
    if (queued.length === 0) unwanted.push(id)
    else composed.push({ id, payload: JSON.stringify(composePayload({ id, type, at: happenedAt ?? now, facts })) })
    // An event may list 200 invoices.
    await nextTurn()
    for (const { id: hookId, verifiedAt } of queued)
      deliveries.push({ ownerId, hookId, eventId: id, state: 'waiting', createdAt: now, nextTryAt: verifiedAt && now })
  }
  if (unwanted.length > 0) await tx.delete(webhookEvents).where(inArray(webhookEvents.id, unwanted))
  await noteSkipped(tx, listening, skipped, now)
  if (composed.length > 0) {
    const values = composed.map(({ id, payload }) => sql`(${id}::uuid, ${payload}::text)`)
    await tx.execute(sql`
      UPDATE hook_events e SET payload = v.payload, facts = '{}', happened_at = coalesce(e.happened_at, ${now.toString()}::timestamptz)
      FROM (VALUES ${sql.join(values, sql`, `)}) AS v (id, payload) WHERE e.id = v.id`)
  }
  if (deliveries.length > 0) await tx.insert(webhookDeliveries).values(deliveries)
  const queued = new Set(deliveries.map(({ hookId }) => hookId))
  if (listening.some(({ id, pausedBecause, verifiedAt }) => queued.has(id) && !pausedBecause && verifiedAt))
    await queue.send(tx, callReceiversJob, { ownerId })
  return happened.length < most
}

/** How many further events may wait for each webhook that has some waiting. */
async function roomOf(tx: Database, ownerId: string): Promise<Map<string, number>> {
  // Counted for each webhook: a join might read what waits of all accounts.
  const waiting = await rows(
    tx,
    z.object({ hookId: z.string(), count: z.number() }),
    sql`SELECT h.id AS "hookId", waiting.count FROM hooks h
        CROSS JOIN LATERAL (SELECT count(*)::int AS count FROM hook_deliveries d WHERE d.hook_id = h.id AND d.state = 'waiting') waiting
        WHERE h.owner_id = ${ownerId}::uuid AND waiting.count > 0`,
  )
  return new Map(waiting.map(({ hookId, count }) => [hookId, mostWaiting - count]))
}

/** Webhooks of earlier versions may share a URL: one of them gets the event, an active one before a paused one, the oldest first. */
function onePerUrl(listening: WebhookRow[]): WebhookRow[] {
  const byUrl = new Map<string, WebhookRow>()
  for (const webhook of listening) {
    const other = byUrl.get(webhook.url)
    if (!other || (other.pausedBecause && !webhook.pausedBecause)) byUrl.set(webhook.url, webhook)
  }
  return [...byUrl.values()]
}

/** Counts the events that a webhook missed, and notifies its owner of the first. */
async function noteSkipped(tx: Database, listening: WebhookRow[], skipped: Map<string, number>, now: Instant): Promise<void> {
  for (const webhook of listening) {
    const count = skipped.get(webhook.id)
    if (count === undefined) continue
    const more = { skipped: sql`${webhooks.skipped} + ${count}::int`, lastSkippedAt: now }
    await tx.update(webhooks).set(more).where(eq(webhooks.id, webhook.id))
    if (webhook.skipped > 0) continue
    const text = texts.webhook.skipped(mostWaiting.toLocaleString('en-IN'))
    const link = screens.webhook(webhook.id)
    await notify(tx, webhook.ownerId, { kind: 'webhook_skipped', title: texts.webhook.skippedTitle(hostOf(webhook)), text, link }, now)
  }
}

/** Prunes events older than 30 days and the oldest of many deliveries, a few hundred at a time; called by a worker. */
export async function pruneWebhookEvents(db: Database, now: Instant): Promise<void> {
  for (;;) {
    const old = db
      .select({ id: webhookEvents.id })
      .from(webhookEvents)
      .where(lte(webhookEvents.happenedAt, now.subtract(kept)))
      .limit(500)
    const erased = await db.delete(webhookEvents).where(inArray(webhookEvents.id, old)).returning({ id: webhookEvents.id })
    if (erased.length === 0) break
  }
  const { skipped, lastSkippedAt } = webhooks
  await db
    .update(webhooks)
    .set({ skipped: 0, lastSkippedAt: null })
    .where(and(gt(skipped, 0), lte(lastSkippedAt, now.subtract(kept))))
  for (;;) {
    const [erased] = await rows(
      db,
      z.object({ count: z.number() }),
      sql`WITH surplus AS MATERIALIZED (
            SELECT d.id, d.event_id FROM hooks h CROSS JOIN LATERAL (
              SELECT id, event_id, state FROM hook_deliveries WHERE hook_id = h.id ORDER BY id DESC OFFSET ${keptDeliveries}::int) d
            WHERE d.state <> 'waiting' LIMIT 500),
          events AS (
            DELETE FROM hook_events e WHERE e.id IN (SELECT event_id FROM surplus)
              AND NOT EXISTS (SELECT 1 FROM hook_deliveries d WHERE d.event_id = e.id AND d.id NOT IN (SELECT id FROM surplus))),
          erased AS (DELETE FROM hook_deliveries d USING surplus WHERE d.id = surplus.id RETURNING d.id)
          SELECT count(*)::int AS count FROM erased`,
    )
    if (!erased?.count) return
  }
}
