import { randomBytes } from 'node:crypto'
import { and, desc, eq, isNotNull, isNull, ne, type SQL, sql } from 'drizzle-orm'
import pLimit from 'p-limit'
import { z } from 'zod'
import type { CallParts } from '#contract/call.ts'
import type { integrationCalls, Webhook } from '#contract/integrations.ts'
import { screens } from '#contract/screens.ts'
import { countTry, lockAccount, lockAsSeen, type OnAccountDeleted, type Origin, writeAudit } from '#server/accounts/accounts.ts'
import { refuseHandedOver, reportMade } from '#server/accounts/made.ts'
import { withdrawNotices } from '#server/accounts/notices.ts'
import { accounts } from '#server/accounts/tables.ts'
import { refuseWithout } from '#server/billing/billing.ts'
import type { Account } from '#server/platform/answer.ts'
import type { Instant } from '#server/platform/clock.ts'
import { newId } from '#server/platform/columns.ts'
import type { Database } from '#server/platform/database.ts'
import type { Deps } from '#server/platform/deps.ts'
import { invalid, ProblemError } from '#server/platform/problem-error.ts'
import { callWebhook, defaultNetwork, refuseAddress, type WebhookNetwork } from './http-client.ts'
import { callReceiversJob } from './jobs.ts'
import { oauthGrants, webhookDeliveries, webhookEvents, webhooks } from './tables.ts'
import { texts } from './texts.ts'
import { newWebhookSecret, sealWebhookSecret } from './webhook-secret.ts'

export type WebhookRow = typeof webhooks.$inferSelect
type Knowing = Pick<Deps, 'db' | 'config'>

/** A webhook, and whether it waits because its owner has unsubscribed from Zapier. */
export interface KnownWebhook {
  webhook: WebhookRow
  unsubscribed: boolean
}

/** Notifying Zapier of the end of an account's Zaps: calls at a time, and how long all of them may take. */
const farewellsAtOnce = 20
const farewellMilliseconds = 6_000
/** Limits per account, because each webhook multiplies the calls that Duely makes. */
const mostWebhooks = 20
const mostZaps = 100

/** The matching webhooks of an account, newest first. */
export async function findWebhooks({ db, config }: Knowing, which: SQL | undefined): Promise<KnownWebhook[]> {
  return db
    .select({ webhook: webhooks, unsubscribed: isUnsubscribed(config) })
    .from(webhooks)
    .innerJoin(accounts, eq(accounts.id, webhooks.ownerId))
    .leftJoin(oauthGrants, eq(oauthGrants.id, webhooks.grantId))
    .where(which)
    .orderBy(desc(webhooks.createdAt), desc(webhooks.id))
}

/**
 * A Zap's webhook waits while its owner has unsubscribed from Zapier; those of other apps do not. For a query of webhooks with their
 * account and grant.
 */
export function isUnsubscribed({ zapier }: Pick<Deps['config'], 'zapier'>): SQL<boolean> {
  return sql<boolean>`(${webhooks.kind} = 'zapier' AND NOT ${accounts.sendReminders}
    AND (${webhooks.grantId} IS NULL OR ${oauthGrants.clientId} = ${zapier?.clientId ?? ''}))`
}

/** One webhook of an account. Refuses with `not_found` where it is missing or of another account. */
export async function readWebhook(deps: Knowing, ownerId: string, id: string): Promise<KnownWebhook> {
  const [found] = await findWebhooks(deps, mine(ownerId, id))
  if (!found) throw notThere()
  return found
}

export async function listWebhooks(deps: Knowing, ownerId: string): Promise<Webhook[]> {
  return (await findWebhooks(deps, eq(webhooks.ownerId, ownerId))).map(toWebhook)
}

/**
 * Adds a webhook and returns its secret this once. Refuses with `invalid` a URL that must not be called, with `plan_limit` where the plan
 * has no webhooks, with `conflict` where there are too many or one for that URL and event, and with `too_many`. Its URL is verified before
 * the first event.
 */
export async function addWebhook(
  deps: Deps,
  account: Account,
  { url, events }: Pick<CallParts<typeof integrationCalls.addWebhook>['body'], 'url' | 'events'>,
  from: Origin,
  now: Instant,
): Promise<Webhook & { secret: string }> {
  const { db, config, queue } = deps
  refuseUncallable(url, 'url', config)
  const ownerId = account.id
  return db.transaction(async (tx) => {
    await lockAsSeen(tx, account)
    await refuseWithout({ ability: 'apiAccess', what: 'Webhooks' }, tx, ownerId, now, config)
    if ((await countWebhooks(tx, ownerId, 'webhook')) >= mostWebhooks) throw new ProblemError('conflict', texts.webhook.limit(mostWebhooks))
    await refuseSame(tx, ownerId, { url, events })
    const id = newId()
    const secret = newWebhookSecret()
    const values = { id, ownerId, kind: 'webhook' as const, url, events, sealedSecret: sealWebhookSecret(config.secretKey, id, secret) }
    const [row] = await tx
      .insert(webhooks)
      .values({ ...values, madeBy: account.person.id, createdAt: now })
      .returning()
    if (!row) throw new Error('A webhook was not stored.')
    await writeAudit(tx, { ownerId, kind: 'webhook_added', about: hostOf(row) }, from, now)
    await reportMade(tx, deps, account, madeOf(row), now)
    const webhook = await verify(tx, { queue, config }, row, now)
    return { ...toWebhook({ webhook, unsubscribed: false }), secret }
  })
}

/**
 * Subscribes a URL for a Zap or another app. The same URL for the same event is one webhook: it belongs to the app that subscribed last,
 * ends with its grant, and resumes where it was paused for failing. Refuses as `addWebhook` does, but needs no plan, and with `not_allowed`
 * an app without the scope read, which would receive data otherwise. Zapier's own addresses need no verification: it made them for this
 * subscription, and does not answer challenges.
 */
export async function addZap(
  { db, config, queue }: Knowing & Pick<Deps, 'queue'>,
  asker: { ownerId: string; grantId: string },
  { hookUrl, event }: CallParts<typeof integrationCalls.addZap>['body'],
  now: Instant,
): Promise<{ id: string }> {
  refuseUncallable(hookUrl, 'hookUrl', config)
  const { ownerId, grantId } = asker
  return db.transaction(async (tx) => {
    await lockAccount(tx, ownerId)
    const grant = await grantToRead(tx, grantId)
    const same = and(eq(webhooks.ownerId, ownerId), eq(webhooks.kind, 'zapier'), eq(webhooks.url, hookUrl), eq(webhooks.events, [event]))
    const [known] = await tx
      .update(webhooks)
      .set({
        grantId,
        // Zapier does not know what failed before and shows the Zap as on. A pause by its owner stays.
        failures: 0,
        pausedBecause: sql`nullif(${webhooks.pausedBecause}, 'failing')`,
      })
      .where(same)
      .returning({ id: webhooks.id })
    if (known) {
      await withdrawFailing(tx, ownerId)
      return known
    }
    if ((await countWebhooks(tx, ownerId, 'zapier')) >= mostZaps) throw new ProblemError('conflict', texts.webhook.zapLimit(mostZaps))
    await refuseSame(tx, ownerId, { url: hookUrl, events: [event] })
    const id = newId()
    const sealedSecret = sealWebhookSecret(config.secretKey, id, newWebhookSecret())
    const values = { id, ownerId, grantId, kind: 'zapier' as const, url: hookUrl, events: [event], sealedSecret, createdAt: now }
    const ofZapier = grant.clientId === config.zapier?.clientId && isZapiers(hookUrl)
    const [row] = await tx
      .insert(webhooks)
      .values({ ...values, verifiedAt: ofZapier ? now : null })
      .returning()
    if (row && !ofZapier) await verify(tx, { queue, config }, row, now)
    return { id }
  })
}

/**
 * Changes, pauses or resumes a webhook; resuming queues what waits. URL and events of a Zap's webhook belong to the Zap: `not_allowed`.
 * A new URL is verified before the next event; who sets it makes the webhook theirs, with a secret that its maker of before does not know, returned
 * this once. Refuses with `not_found`, with `invalid` a URL that must not be called, with `conflict` where there is one for that URL and event, and one
 * that was handed over, and with `too_many`.
 */
export async function changeWebhook(
  deps: Deps,
  account: Account,
  id: string,
  { paused, ...fields }: Pick<CallParts<typeof integrationCalls.changeWebhook>['body'], 'url' | 'events' | 'paused'>,
  from: Origin,
  now: Instant,
): Promise<Webhook & { secret?: string }> {
  const { db, config, queue } = deps
  const ownerId = account.id
  if (fields.url !== undefined) refuseUncallable(fields.url, 'url', config)
  return db.transaction(async (tx) => {
    // Must lock the account first, as deleting it does, because another order would deadlock.
    await lockAsSeen(tx, account)
    const [before] = await tx.select().from(webhooks).where(mine(ownerId, id)).for('update')
    if (!before) throw notThere()
    refuseHandedOver(before)
    const { url = before.url, events = before.events } = fields
    if (Object.keys(fields).length > 0) {
      refuseZap(before)
      await refuseSame(tx, ownerId, { id: before.id, url, events })
    }
    const moved = url !== before.url
    const changed = moved || events.toSorted().join() !== before.events.toSorted().join()
    const secret = moved && before.madeBy !== account.person.id ? newWebhookSecret() : null
    const change = {
      ...fields,
      ...(moved ? { failures: 0, verifiedAt: null, madeBy: account.person.id } : {}),
      ...(secret === null ? {} : { sealedSecret: sealWebhookSecret(config.secretKey, before.id, secret) }),
      ...(paused === undefined ? {} : paused ? { pausedBecause: 'by_hand' as const } : resumed),
    }
    if (Object.keys(change).length > 0) {
      const [after] = await tx.update(webhooks).set(change).where(eq(webhooks.id, before.id)).returning()
      if (after && moved) {
        await reportMade(tx, deps, account, madeOf(after), now)
        await verify(tx, { queue, config }, after, now)
      }
    }
    if (changed) await writeAudit(tx, { ownerId, kind: 'webhook_changed', about: hostOf({ url }) }, from, now)
    if (paused === false) await queue.send(tx, callReceiversJob, { ownerId })
    await withdrawFailing(tx, ownerId)
    const shown = toWebhook(await readWebhook({ db: tx, config }, ownerId, before.id))
    return secret === null ? shown : { ...shown, secret }
  })
}

/** Removes a webhook with its deliveries. Refuses with `not_found`. */
export async function removeWebhook(db: Database, ownerId: string, id: string, from: Origin, now: Instant): Promise<void> {
  await db.transaction(async (tx) => {
    await lockAccount(tx, ownerId)
    const [gone] = await tx.delete(webhooks).where(mine(ownerId, id)).returning()
    if (!gone) throw notThere()
    if (gone.kind === 'webhook') await writeAudit(tx, { ownerId, kind: 'webhook_removed', about: hostOf(gone) }, from, now)
    await withdrawFailing(tx, ownerId)
  })
}

/** Unsubscribes a Zap that was turned off. An app removes its own webhooks only. Refuses with `not_found`. */
export async function removeZap(db: Database, { ownerId, grantId }: { ownerId: string; grantId: string }, id: string): Promise<void> {
  await db.transaction(async (tx) => {
    await lockAccount(tx, ownerId)
    const gone = await tx
      .delete(webhooks)
      .where(and(mine(ownerId, id), eq(webhooks.kind, 'zapier'), eq(webhooks.grantId, grantId)))
      .returning({ id: webhooks.id })
    if (gone.length === 0) throw notThere()
    await withdrawFailing(tx, ownerId)
  })
}

/**
 * Replaces the signing secret, which makes the webhook theirs who asked, and returns it this once. Refuses with `not_found`, with `not_allowed` that of a
 * Zap, which does not use it, and with `conflict` one that was handed over.
 */
export async function replaceSecret(deps: Deps, account: Account, id: string, from: Origin, now: Instant): Promise<{ secret: string }> {
  const ownerId = account.id
  return deps.db.transaction(async (tx) => {
    await lockAsSeen(tx, account)
    const [webhook] = await tx.select().from(webhooks).where(mine(ownerId, id)).for('update')
    if (!webhook) throw notThere()
    refuseZap(webhook)
    refuseHandedOver(webhook)
    const secret = newWebhookSecret()
    await tx
      .update(webhooks)
      .set({ madeBy: account.person.id, sealedSecret: sealWebhookSecret(deps.config.secretKey, webhook.id, secret) })
      .where(eq(webhooks.id, webhook.id))
    await writeAudit(tx, { ownerId, kind: 'webhook_secret_replaced', about: hostOf(webhook) }, from, now)
    await reportMade(tx, deps, account, { ...madeOf(webhook), isSecret: true }, now)
    return { secret }
  })
}

/** Turns off the Zaps in Zapier by deleting their webhooks ("reverse unsubscribe"), once the account or the grant is gone. */
export function zapOnAccountDeleted(
  config: Deps['config'],
  network: WebhookNetwork = { ...defaultNetwork(config), deadline: 3_000 },
): OnAccountDeleted {
  return (db, ownerId) => farewellToZaps(db, config, eq(webhooks.ownerId, ownerId), network)
}

/** The same for some of the Zaps. */
export async function farewellToZaps(
  db: Database,
  config: Deps['config'],
  which: SQL | undefined,
  network: WebhookNetwork = { ...defaultNetwork(config), deadline: 3_000 },
): Promise<() => Promise<void>> {
  const zaps = await db
    .select({ url: webhooks.url })
    .from(webhooks)
    .innerJoin(oauthGrants, eq(oauthGrants.id, webhooks.grantId))
    .where(and(which, eq(oauthGrants.clientId, config.zapier?.clientId ?? ''), isNotNull(webhooks.verifiedAt)))
  return async () => {
    const over = AbortSignal.timeout(farewellMilliseconds)
    const call = async ({ url }: { url: string }) => {
      if (!over.aborted) await callWebhook({ method: 'DELETE', url, headers: {}, body: '' }, network, over)
    }
    await pLimit(farewellsAtOnce).map(zaps, call)
  }
}

/** Withdraws the notices once no webhook is failing any more. */
export async function withdrawFailing(tx: Database, ownerId: string): Promise<void> {
  const failing = await tx
    .select({ id: webhooks.id })
    .from(webhooks)
    .where(and(eq(webhooks.ownerId, ownerId), eq(webhooks.pausedBecause, 'failing')))
    .limit(1)
  if (failing.length === 0) await withdrawNotices(tx, ownerId, ['webhook_failing'])
}

/** The host of a receiver, for display. The rest of its URL may give access, as that of a Zap does. */
export function hostOf({ url }: Pick<WebhookRow, 'url'>): string {
  return new URL(url).host
}

/** What keeps events from a webhook: its own pause before that of all of Zapier. */
export function pauseOf({ webhook, unsubscribed }: KnownWebhook): Webhook['pausedBecause'] {
  if (webhook.offeredTo !== null) return 'handed_over'
  return webhook.pausedBecause ?? (unsubscribed ? 'zapier_unsubscribed' : webhook.verifiedAt === null ? 'unverified' : null)
}

const madeOf = (webhook: Pick<WebhookRow, 'id' | 'url'>) =>
  ({ kind: 'webhook', id: webhook.id, name: hostOf(webhook), link: screens.webhook(webhook.id) }) as const

/** Everything but the secret. */
function toWebhook(known: KnownWebhook): Webhook {
  const { id, kind, url, events, createdAt, failures, lastDeliveredAt, skipped, lastSkippedAt } = known.webhook
  return {
    _id: id,
    kind,
    url,
    events,
    createdAt: createdAt.toString(),
    pausedBecause: pauseOf(known),
    failures,
    lastDeliveredAt: lastDeliveredAt?.toString() ?? null,
    skipped,
    lastSkippedAt: lastSkippedAt?.toString() ?? null,
  }
}

/** Whether a webhook may be called: one that is not verified gets its challenge only, because no other delivery is due. One handed over is paused. */
export function isCallable({ webhook, unsubscribed }: KnownWebhook): boolean {
  return webhook.pausedBecause === null && !unsubscribed
}

/** A claim without a record is taken over after this: its process is gone. Longer than any call takes. */
export const claimed = { seconds: 60 }
/** What resuming a webhook changes. */
export const resumed = { pausedBecause: null, failures: 0, skipped: 0, lastSkippedAt: null }

/** Receives the events of Zaps, at addresses that Zapier makes. */
export function isZapiers(url: string): boolean {
  return /(?:^|\.)zapier\.com$/.test(new URL(url).hostname)
}

/** The limit of calls to URLs that may not want them, and of calls that a person requests. */
const byHand = { limit: 120, seconds: 3_600 }

/** Counts a call that a person or an app requests, in an hour of the account. */
export async function countByHand(db: Database, config: Pick<Deps['config'], 'rateLimit'>, ownerId: string, now: Instant): Promise<void> {
  if (config.rateLimit) await countTry(db, `hook-by-hand:${ownerId}`, byHand, now)
}

/**
 * Makes a webhook wait until its URL has answered a challenge, which is sent immediately and retried as an event is. A URL that answered one
 * for this account needs no other.
 */
async function verify(
  tx: Database,
  { queue, config }: Pick<Deps, 'queue' | 'config'>,
  webhook: WebhookRow,
  now: Instant,
): Promise<WebhookRow> {
  const { id, ownerId, url } = webhook
  const [known] = await tx
    .select({ verifiedAt: webhooks.verifiedAt })
    .from(webhooks)
    .where(and(eq(webhooks.ownerId, ownerId), eq(webhooks.url, url), isNotNull(webhooks.verifiedAt)))
    .limit(1)
  if (known) {
    await tx.update(webhooks).set(known).where(eq(webhooks.id, id))
    await dropChallenge(tx, id)
    await releaseWaiting(tx, queue, webhook, now)
    return { ...webhook, ...known }
  }
  await countByHand(tx, config, ownerId, now)
  await tx
    .update(webhookDeliveries)
    .set({ nextTryAt: null })
    .where(and(eq(webhookDeliveries.hookId, id), eq(webhookDeliveries.state, 'waiting')))
  await queueChallenge(tx, webhook, { now, tried: false })
  await queue.send(tx, callReceiversJob, { ownerId })
  return webhook
}

/** Makes the events due that waited until a webhook was verified. */
export async function releaseWaiting(
  tx: Database,
  queue: Deps['queue'],
  { id, ownerId }: Pick<WebhookRow, 'id' | 'ownerId'>,
  now: Instant,
): Promise<void> {
  await tx
    .update(webhookDeliveries)
    .set({ nextTryAt: now })
    .where(and(eq(webhookDeliveries.hookId, id), eq(webhookDeliveries.state, 'waiting'), isNull(webhookDeliveries.nextTryAt)))
  await withdrawNotices(tx, ownerId, ['webhook_unverified'])
  await queue.send(tx, callReceiversJob, { ownerId })
}

/** Deletes a challenge that waits. */
async function dropChallenge(tx: Database, hookId: string): Promise<void> {
  await tx.execute(sql`
    DELETE FROM ${webhookEvents} e USING ${webhookDeliveries} d
    WHERE d.event_id = e.id AND d.hook_id = ${hookId}::uuid AND d.state = 'waiting' AND e.type = 'challenge'`)
}

/** Queues a challenge in the place of one that waits. `tried`: it is for a call that is made right away, and due again if that is interrupted. */
export async function queueChallenge(
  tx: Database,
  { id: hookId, ownerId }: Pick<WebhookRow, 'id' | 'ownerId'>,
  { now, tried }: { now: Instant; tried: boolean },
): Promise<{ delivery: typeof webhookDeliveries.$inferSelect; payload: string }> {
  await dropChallenge(tx, hookId)
  const id = newId()
  const challenge = randomBytes(32).toString('base64url')
  const payload = JSON.stringify({ id, type: 'challenge', timestamp: now.toString(), data: { challenge } })
  await tx.insert(webhookEvents).values({ id, ownerId, type: 'challenge', happenedAt: now, facts: {}, payload })
  const due = tried ? { attempt: 1, lastTriedAt: now, nextTryAt: now.add(claimed) } : { nextTryAt: now }
  const [delivery] = await tx
    .insert(webhookDeliveries)
    .values({ ownerId, hookId, eventId: id, state: 'waiting', createdAt: now, ...due })
    .returning()
  if (!delivery) throw new Error('A challenge was not stored.')
  return { delivery, payload }
}

/** A second webhook for the same URL and event would only multiply calls to it. */
async function refuseSame(
  tx: Database,
  ownerId: string,
  { id, url, events }: { id?: string; url: string; events: WebhookRow['events'] },
): Promise<void> {
  const overlapping = sql`${webhooks.events} && ${`{${events.join(',')}}`}::text[]`
  const others = and(eq(webhooks.ownerId, ownerId), eq(webhooks.url, url), overlapping, id === undefined ? undefined : ne(webhooks.id, id))
  const [other] = await tx.select({ id: webhooks.id }).from(webhooks).where(others).limit(1)
  if (other) throw new ProblemError('conflict', texts.webhook.same)
}

async function countWebhooks(tx: Database, ownerId: string, kind: WebhookRow['kind']): Promise<number> {
  const [kept] = await tx
    .select({ count: sql<number>`count(*)::int` })
    .from(webhooks)
    .where(and(eq(webhooks.ownerId, ownerId), eq(webhooks.kind, kind)))
  return kept?.count ?? 0
}

function refuseUncallable(url: string, path: 'url' | 'hookUrl', { allowPrivateWebhookHosts }: Deps['config']): void {
  const message = refuseAddress(url, { allowPrivateHosts: allowPrivateWebhookHosts })
  if (message !== null) throw invalid(path, message)
}

/** With the scope write alone an app must not receive data by a webhook. */
async function grantToRead(tx: Database, grantId: string): Promise<{ clientId: string }> {
  const { clientId, scopes } = oauthGrants
  const [grant] = await tx.select({ clientId, scopes }).from(oauthGrants).where(eq(oauthGrants.id, grantId))
  if (!grant?.scopes.includes('read')) throw new ProblemError('not_allowed', texts.webhook.needsRead)
  return grant
}

function refuseZap({ kind }: WebhookRow): void {
  if (kind === 'zapier') throw new ProblemError('not_allowed', texts.webhook.ofZap)
}

const uuid = z.uuid()

/** The webhook of that id. An invalid id finds nothing. */
function mine(ownerId: string, id: string): SQL | undefined {
  return uuid.safeParse(id).success ? and(eq(webhooks.ownerId, ownerId), eq(webhooks.id, id)) : sql`false`
}

function notThere(): ProblemError {
  return new ProblemError('not_found', texts.webhook.unknown)
}
