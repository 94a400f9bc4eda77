import { and, asc, desc, eq, getTableColumns, inArray, lte, type SQL, sql } from 'drizzle-orm'
import { z } from 'zod'
import type { DeliveredEvent, WebhookDelivery } from '#contract/integrations.ts'
import { screens } from '#contract/screens.ts'
import { findAccount, lockAccount, writeAudit } from '#server/accounts/accounts.ts'
import { refuseHandedOver } from '#server/accounts/made.ts'
import { notify, notifyOwner } from '#server/accounts/notices.ts'
import { accounts } from '#server/accounts/tables.ts'
import type { Instant } from '#server/platform/clock.ts'
import { newId } from '#server/platform/columns.ts'
import type { Database } from '#server/platform/database.ts'
import type { Deps } from '#server/platform/deps.ts'
import { ProblemError } from '#server/platform/problem-error.ts'
import { callWebhook, defaultNetwork, isAccepted, type WebhookNetwork, type WebhookResponse } from './http-client.ts'
import { webhookDeliveries, webhookEvents, webhooks } from './tables.ts'
import { texts } from './texts.ts'
import { takeTurn } from './webhook-hosts.ts'
import { signWebhook } from './webhook-secret.ts'
import {
  claimed,
  countByHand,
  hostOf,
  isCallable,
  type KnownWebhook,
  queueChallenge,
  readWebhook,
  releaseWaiting,
  type WebhookRow,
  withdrawFailing,
} from './webhooks.ts'

type DeliveryRow = typeof webhookDeliveries.$inferSelect

/** Seconds from a failed try to the next one; after the last of these the delivery fails. */
const pauses = [5, 300, 1_800, 7_200, 18_000, 36_000, 36_000]
/** So many failed tries in a row pause a webhook. */
const patience = 100
const mostListed = 50

/**
 * Sends a test event, even if the webhook is paused, and returns its outcome. It is not retried. Where the URL is not verified it is the
 * challenge instead, which is. Refuses with `not_found` and `too_many`.
 */
export async function sendTestEvent(
  deps: Deps,
  ownerId: string,
  id: string,
  network = defaultNetwork(deps.config),
): Promise<WebhookDelivery> {
  const { db, clock } = deps
  const known = await readWebhook(deps, ownerId, id)
  refuseHandedOver(known.webhook)
  const now = clock.now()
  await countByHand(db, deps.config, ownerId, now)
  await refuseBusyHost(deps, known.webhook)
  if (known.webhook.verifiedAt === null) {
    const { delivery, payload } = await db.transaction(async (tx) => {
      await lockAccount(tx, ownerId)
      return queueChallenge(tx, known.webhook, { now, tried: true })
    })
    return attempt(deps, { known, delivery: { ...delivery, type: 'challenge', payload }, afterFailure: 'retry' }, network)
  }
  const eventId = newId()
  const payload = JSON.stringify({ id: eventId, type: 'test', timestamp: now.toString(), data: {} })
  const delivery = await db.transaction(async (tx) => {
    await tx.insert(webhookEvents).values({ id: eventId, ownerId, type: 'test', happenedAt: now, facts: {}, payload })
    const values = { ownerId, hookId: known.webhook.id, eventId, state: 'waiting' as const, createdAt: now, attempt: 1, lastTriedAt: now }
    const [row] = await tx.insert(webhookDeliveries).values(values).returning()
    return row
  })
  if (!delivery) throw new Error('A test was not stored.')
  return attempt(deps, { known, delivery: { ...delivery, type: 'test', payload }, afterFailure: 'give up' }, network)
}

/**
 * Sends an event again, in any state of its delivery, even if the webhook is paused. A waiting delivery keeps waiting if this fails; a
 * finished one is not retried. Refuses with `not_found` and `too_many`.
 */
export async function resendDelivery(
  deps: Deps,
  ownerId: string,
  { id, deliveryId }: { id: string; deliveryId: string },
  network = defaultNetwork(deps.config),
): Promise<WebhookDelivery> {
  const known = await readWebhook(deps, ownerId, id)
  refuseHandedOver(known.webhook)
  const now = deps.clock.now()
  await countByHand(deps.db, deps.config, ownerId, now)
  await refuseBusyHost(deps, known.webhook)
  if (known.webhook.verifiedAt === null) throw new ProblemError('conflict', texts.webhook.unverified)
  const which = and(eq(webhookDeliveries.hookId, known.webhook.id), eq(webhookDeliveries.id, deliveryId))
  const delivery = z.uuid().safeParse(deliveryId).success ? await claim(deps.db, which, now) : null
  if (!delivery) throw new ProblemError('not_found', texts.webhook.noDelivery)
  return attempt(deps, { known, delivery, afterFailure: delivery.state === 'waiting' ? 'retry' : 'give up' }, network)
}

/** The latest deliveries of a webhook, newest first. Refuses with `not_found`. */
export async function listDeliveries(deps: Pick<Deps, 'db' | 'config'>, ownerId: string, id: string): Promise<WebhookDelivery[]> {
  const known = await readWebhook(deps, ownerId, id)
  const found = await deps.db
    .select({ delivery: webhookDeliveries, type: webhookEvents.type })
    .from(webhookDeliveries)
    .innerJoin(webhookEvents, eq(webhookEvents.id, webhookDeliveries.eventId))
    .where(eq(webhookDeliveries.hookId, known.webhook.id))
    .orderBy(desc(webhookDeliveries.id))
    .limit(mostListed)
  return found.map(({ delivery, type }) => toDelivery(delivery, type, known))
}

/** A claimed delivery with its event. */
type Claimed = DeliveryRow & { type: DeliveredEvent; payload: string }

/** Deliveries of a webhook that wait and are due. */
export function isDue(hookId: string | typeof webhooks.id, now: Instant): SQL | undefined {
  return and(eq(webhookDeliveries.hookId, hookId), eq(webhookDeliveries.state, 'waiting'), lte(webhookDeliveries.nextTryAt, now))
}

/** For statements that know the delivery: `coalesce` keeps PostgreSQL off the partial indexes, which have the waiting deliveries of all webhooks. */
const stillWaiting = sql`coalesce(${webhookDeliveries.state}, '') = 'waiting'`

/**
 * Claims the delivery that has been due for longest. It counts as tried from here on, so that a call that crashes this process is not
 * repeated without end.
 */
export async function claimNext(db: Database, hookId: string, now: Instant): Promise<Claimed | null> {
  const next = db
    .select({ id: webhookDeliveries.id })
    .from(webhookDeliveries)
    .where(isDue(hookId, now))
    .orderBy(asc(webhookDeliveries.nextTryAt), asc(webhookDeliveries.id))
    .limit(1)
    .for('update', { skipLocked: true })
  return claim(db, inArray(webhookDeliveries.id, next), now)
}

async function claim(db: Database, which: SQL | undefined, now: Instant): Promise<Claimed | null> {
  const again = now.add(claimed).toString()
  const [row] = await db
    .update(webhookDeliveries)
    .set({
      attempt: sql`${webhookDeliveries.attempt} + 1`,
      lastTriedAt: now,
      nextTryAt: sql`CASE WHEN ${webhookDeliveries.state} = 'waiting' THEN ${again}::timestamptz END`,
    })
    .from(webhookEvents)
    .where(and(eq(webhookEvents.id, webhookDeliveries.eventId), which))
    .returning({ ...getTableColumns(webhookDeliveries), type: webhookEvents.type, payload: webhookEvents.payload })
  // Only composed events have deliveries.
  return row?.payload ? { ...row, payload: row.payload } : null
}

interface Attempt {
  known: KnownWebhook
  delivery: Claimed
  afterFailure: 'retry' | 'give up'
}

/** Calls the receiver outside any transaction and records its response. */
async function attempt(deps: Deps, about: Attempt, network: WebhookNetwork): Promise<WebhookDelivery> {
  const answer = await callReceiver(deps, about, network)
  return deps.db.transaction((tx) => record(tx, deps, about, answer))
}

export function callReceiver(
  { clock, config }: Pick<Deps, 'clock' | 'config'>,
  { known, delivery }: Pick<Attempt, 'known' | 'delivery'>,
  network: WebhookNetwork,
  cut?: AbortSignal,
): Promise<WebhookResponse> {
  const signed = signWebhook(config.secretKey, known.webhook, { eventId: delivery.eventId, body: delivery.payload }, clock.now())
  const headers = { 'content-type': 'application/json', ...signed }
  return callWebhook({ method: 'POST', url: known.webhook.url, headers, body: delivery.payload }, network, cut)
}

/** Undoes a claim: a call that was not made, or was cut off for the sake of others, is no try. `nextTryAt` null: it waits for verification. */
export async function putOff(db: Database, { id, attempt }: Claimed, nextTryAt: Instant | null): Promise<void> {
  await db
    .update(webhookDeliveries)
    .set({ attempt: attempt - 1, nextTryAt })
    .where(and(eq(webhookDeliveries.id, id), eq(webhookDeliveries.attempt, attempt), stillWaiting))
}

export async function record(
  tx: Database,
  deps: Deps,
  { known, delivery, afterFailure }: Attempt,
  answer: WebhookResponse,
): Promise<WebhookDelivery> {
  const now = deps.clock.now()
  const { webhook } = known
  const isChallenge = delivery.type === 'challenge'
  const taken = isAccepted(answer) && (!isChallenge || isEchoed(answer, delivery))
  const again = afterFailure === 'retry' && !taken && answer.status !== gone ? pauses[delivery.attempt - 1] : undefined
  const said = {
    status: answer.status,
    words: taken || !isAccepted(answer) ? answer.words : notEchoed(answer),
    state: taken ? ('delivered' as const) : again === undefined ? ('failed' as const) : ('waiting' as const),
    nextTryAt: again === undefined ? null : now.add({ seconds: again }),
  }
  // Must lock in the order in which deleting an account or a webhook does.
  await tx.select({ id: accounts.id }).from(accounts).where(eq(accounts.id, webhook.ownerId)).for('key share')
  await tx.select({ id: webhooks.id }).from(webhooks).where(eq(webhooks.id, webhook.id)).for('update')
  // A newer try has changed it meanwhile: its result stays.
  const mine = and(eq(webhookDeliveries.id, delivery.id), eq(webhookDeliveries.attempt, delivery.attempt))
  const changed = await tx.update(webhookDeliveries).set(said).where(mine).returning({ id: webhookDeliveries.id })
  if (changed.length === 0) return toDelivery({ ...delivery, ...said }, delivery.type, known)
  const pausedBecause = await recordAtWebhook(tx, deps, known, { ...answer, taken }, now)
  if (isChallenge && taken) await releaseVerified(tx, deps, webhook, now)
  else if (isChallenge && said.state === 'failed' && answer.status !== gone) await notifyUnverified(tx, webhook, now)
  return toDelivery({ ...delivery, ...said }, delivery.type, { ...known, webhook: { ...webhook, pausedBecause } })
}

/** Returns what keeps the webhook from being called from here on, except for a pause of all of Zapier. */
async function recordAtWebhook(
  tx: Database,
  deps: Deps,
  known: KnownWebhook,
  answer: WebhookResponse & { taken: boolean },
  now: Instant,
): Promise<WebhookRow['pausedBecause']> {
  if (answer.status === gone) {
    await forgetWebhook(tx, known, now)
    return null
  }
  const failures = sql`${webhooks.failures} + 1`
  const [after] = await tx
    .update(webhooks)
    .set(
      answer.taken
        ? { failures: 0, lastDeliveredAt: now }
        : {
            failures,
            pausedBecause: sql`CASE WHEN ${failures} >= ${patience}::int THEN coalesce(${webhooks.pausedBecause}, 'failing') ELSE ${webhooks.pausedBecause} END`,
          },
    )
    .where(eq(webhooks.id, known.webhook.id))
    .returning()
  if (after?.pausedBecause === 'failing' && after.failures === patience) await notifyPaused(tx, deps, after, answer, now)
  return after?.pausedBecause ?? null
}

/** Whether a receiver answered a challenge: with its value as text, or as the `challenge` of a JSON object. */
function isEchoed({ words }: WebhookResponse, { payload }: Claimed): boolean {
  const { data } = z.object({ data: z.object({ challenge: z.string() }) }).parse(JSON.parse(payload))
  if (words === data.challenge) return true
  try {
    return z.object({ challenge: z.literal(data.challenge) }).safeParse(JSON.parse(words)).success
  } catch {
    return false
  }
}

function notEchoed({ words }: WebhookResponse): string {
  return words === '' ? texts.receiver.noChallenge : texts.receiver.noChallengeBut(words)
}

/** From now on the webhook gets its events, unless its URL was changed meanwhile. */
async function releaseVerified(tx: Database, { queue }: Deps, { id, ownerId, url }: WebhookRow, now: Instant): Promise<void> {
  const [verified] = await tx
    .update(webhooks)
    .set({ verifiedAt: now })
    .where(and(eq(webhooks.id, id), eq(webhooks.url, url)))
    .returning({ id: webhooks.id })
  if (verified) await releaseWaiting(tx, queue, { id, ownerId }, now)
}

async function notifyUnverified(tx: Database, webhook: WebhookRow, now: Instant): Promise<void> {
  const title = texts.webhook.unansweredTitle(hostOf(webhook))
  const link = screens.webhook(webhook.id)
  await notify(tx, webhook.ownerId, { kind: 'webhook_unverified', title, text: texts.webhook.unanswered, link }, now)
}

/** Calls by hand keep the limit of their host too. */
async function refuseBusyHost({ db, clock, config }: Deps, webhook: WebhookRow): Promise<void> {
  if (!config.rateLimit) return
  const wait = await takeTurn(db, webhook)
  if (wait === null) throw new ProblemError('too_many', texts.webhook.busyHost(hostOf(webhook)), { retryAfter: 5 })
  await clock.pause(wait)
}

/** "Gone": the receiver must not be called again. */
const gone = 410

async function forgetWebhook(tx: Database, { webhook }: KnownWebhook, now: Instant): Promise<void> {
  await tx.delete(webhooks).where(eq(webhooks.id, webhook.id))
  await withdrawFailing(tx, webhook.ownerId)
  // The owner of a Zap knows: they turned it off.
  if (webhook.kind === 'zapier') return
  const host = hostOf(webhook)
  await writeAudit(tx, { ownerId: webhook.ownerId, kind: 'webhook_removed', about: host }, null, now)
  await notify(
    tx,
    webhook.ownerId,
    {
      kind: 'webhook_gone',
      cause: webhook.id,
      summary: texts.webhook.goneTitle(host),
      title: texts.webhook.goneTitle(host),
      text: texts.webhook.gone,
      link: screens.connections,
    },
    now,
  )
}

async function notifyPaused(
  tx: Database,
  deps: Deps,
  webhook: WebhookRow,
  { status, words }: WebhookResponse,
  now: Instant,
): Promise<void> {
  const owner = await findAccount(tx, webhook.ownerId)
  if (!owner) return
  deps.log.warn({ ownerId: webhook.ownerId, hookId: webhook.id, status }, 'A webhook is paused: too many tries in a row have failed.')
  const last = status === null ? words : texts.webhook.lastAnswer(status, words)
  const text = texts.webhook.paused(patience, last)
  const link = screens.webhook(webhook.id)
  const title = texts.webhook.pausedTitle(hostOf(webhook))
  await notifyOwner(tx, deps, owner, { kind: 'webhook_failing', cause: webhook.id, summary: title, title, text, link }, now)
}

function toDelivery(row: DeliveryRow, type: DeliveredEvent, known: KnownWebhook): WebhookDelivery {
  const { id, eventId, state, createdAt, attempt, nextTryAt, lastTriedAt, status, words } = row
  return {
    _id: id,
    eventId,
    event: type,
    state,
    createdAt: createdAt.toString(),
    attempt,
    nextTryAt: state === 'waiting' && isCallable(known) ? (nextTryAt?.toString() ?? null) : null,
    lastTriedAt: lastTriedAt?.toString() ?? null,
    status,
    words,
  }
}
