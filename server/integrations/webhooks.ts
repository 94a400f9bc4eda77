import { and, desc, eq, type SQL, sql } from 'drizzle-orm'
import { z } from 'zod'
import type { CallParts } from '#contract/call.ts'
import type { integrationCalls, Webhook } from '#contract/integrations.ts'
import { lockAccount, type OnAccountDeleted, type Origin, writeAudit } from '#server/accounts/accounts.ts'
import { withdrawNotices } from '#server/accounts/notices.ts'
import { accounts } from '#server/accounts/tables.ts'
import { refuseWithout } from '#server/billing/billing.ts'
import type { Instant } from '#server/platform/clock.ts'
import { newId } from '#server/platform/columns.ts'
import type { Database } from '#server/platform/database.ts'
import type { Deps } from '#server/platform/deps.ts'
import { ProblemError } from '#server/platform/problem-error.ts'
import { callWebhook, defaultNetwork, refuseAddress, type WebhookNetwork } from './http-client.ts'
import { callReceiversJob } from './jobs.ts'
import { oauthGrants, webhooks } from './tables.ts'
import { texts } from './texts.ts'
import { newWebhookSecret, sealWebhookSecret } from './webhook-secret.ts'

export type WebhookRow = typeof webhooks.$inferSelect
type Knowing = Pick<Deps, 'db' | 'config'>

/** A webhook, and whether it waits because its owner has unsubscribed from Zapier. */
export interface KnownWebhook {
  webhook: WebhookRow
  unsubscribed: boolean
}

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
 * has no webhooks, and with `conflict` where there are too many.
 */
export async function addWebhook(
  { db, config }: Knowing,
  ownerId: string,
  { url, events }: CallParts<typeof integrationCalls.addWebhook>['body'],
  from: Origin,
  now: Instant,
): Promise<Webhook & { secret: string }> {
  refuseUncallable(url, 'url', config)
  return db.transaction(async (tx) => {
    await lockAccount(tx, ownerId)
    await refuseWithout('apiAccess', tx, ownerId, now, config)
    if ((await countWebhooks(tx, ownerId, 'webhook')) >= mostWebhooks) throw new ProblemError('conflict', texts.webhook.limit(mostWebhooks))
    const id = newId()
    const secret = newWebhookSecret()
    const values = { id, ownerId, kind: 'webhook' as const, url, events, sealedSecret: sealWebhookSecret(config.secretKey, id, secret) }
    const [row] = await tx
      .insert(webhooks)
      .values({ ...values, createdAt: now })
      .returning()
    if (!row) throw new Error('A webhook was not written down.')
    await writeAudit(tx, { ownerId, kind: 'webhook_added', about: hostOf(row) }, from, now)
    return { ...toWebhook({ webhook: row, unsubscribed: false }), secret }
  })
}

/**
 * Subscribes a URL for a Zap or another app. The same URL for the same event is one webhook: it belongs to the app that subscribed last,
 * ends with its grant, and resumes where it was paused for failing. Refuses as `addWebhook` does, but needs no plan, and with `not_allowed`
 * an app without the scope read, which would receive data otherwise.
 */
export async function addZap(
  { db, config }: Knowing,
  asker: { ownerId: string; grantId: string | null },
  { hookUrl, event }: CallParts<typeof integrationCalls.addZap>['body'],
  now: Instant,
): Promise<{ id: string }> {
  refuseUncallable(hookUrl, 'hookUrl', config)
  const { ownerId, grantId } = asker
  return db.transaction(async (tx) => {
    await lockAccount(tx, ownerId)
    if (grantId !== null) await refuseWithoutRead(tx, grantId)
    const same = and(eq(webhooks.ownerId, ownerId), eq(webhooks.kind, 'zapier'), eq(webhooks.url, hookUrl), eq(webhooks.events, [event]))
    const [known] = await tx
      .update(webhooks)
      .set({
        grantId: grantId ?? sql`${webhooks.grantId}`,
        // Zapier does not know what failed before and shows the Zap as on. A pause by its owner stays.
        failures: 0,
        pausedBecause: sql`nullif(${webhooks.pausedBecause}, 'failing')`,
      })
      .where(same)
      .returning({ id: webhooks.id })
    if (known) {
      await withdrawMended(tx, ownerId)
      return known
    }
    if ((await countWebhooks(tx, ownerId, 'zapier')) >= mostZaps) throw new ProblemError('conflict', texts.webhook.zapLimit(mostZaps))
    const id = newId()
    const sealedSecret = sealWebhookSecret(config.secretKey, id, newWebhookSecret())
    await tx.insert(webhooks).values({ id, ownerId, grantId, kind: 'zapier', url: hookUrl, events: [event], sealedSecret, createdAt: now })
    return { id }
  })
}

/**
 * Changes, pauses or resumes a webhook; resuming queues what waits. URL and events of a Zap's webhook belong to the Zap: `not_allowed`.
 * Refuses with `not_found`, and with `invalid` a URL that must not be called.
 */
export async function changeWebhook(
  { db, config, queue }: Knowing & Pick<Deps, 'queue'>,
  ownerId: string,
  id: string,
  { paused, ...fields }: CallParts<typeof integrationCalls.changeWebhook>['body'],
  from: Origin,
  now: Instant,
): Promise<Webhook> {
  if (fields.url !== undefined) refuseUncallable(fields.url, 'url', config)
  return db.transaction(async (tx) => {
    // Must lock the account first, as deleting it does, because another order would deadlock.
    await lockAccount(tx, ownerId)
    const [before] = await tx.select().from(webhooks).where(mine(ownerId, id)).for('update')
    if (!before) throw notThere()
    if (Object.keys(fields).length > 0) refuseZap(before)
    const moved = fields.url !== undefined && fields.url !== before.url
    const change = {
      ...fields,
      ...(moved ? { failures: 0 } : {}),
      ...(paused === undefined ? {} : paused ? { pausedBecause: 'by_hand' as const } : { pausedBecause: null, failures: 0 }),
    }
    if (Object.keys(change).length > 0) await tx.update(webhooks).set(change).where(eq(webhooks.id, before.id))
    if (moved) await writeAudit(tx, { ownerId, kind: 'webhook_changed', about: hostOf({ url: fields.url ?? '' }) }, from, now)
    if (paused === false) await queue.send(tx, callReceiversJob, { ownerId })
    await withdrawMended(tx, ownerId)
    return toWebhook(await readWebhook({ db: tx, config }, ownerId, before.id))
  })
}

/** Removes a webhook with its deliveries. Refuses with `not_found`. */
export async function removeWebhook(db: Database, ownerId: string, id: string, from: Origin, now: Instant): Promise<void> {
  await db.transaction(async (tx) => {
    await lockAccount(tx, ownerId)
    const [gone] = await tx.delete(webhooks).where(mine(ownerId, id)).returning()
    if (!gone) throw notThere()
    if (gone.kind === 'webhook') await writeAudit(tx, { ownerId, kind: 'webhook_removed', about: hostOf(gone) }, from, now)
    await withdrawMended(tx, ownerId)
  })
}

/** Unsubscribes a Zap that was turned off. An app removes its own webhooks only. Refuses with `not_found`. */
export async function removeZap(db: Database, asker: { ownerId: string; grantId: string | null }, id: string): Promise<void> {
  const { ownerId, grantId } = asker
  const its = grantId === null ? undefined : eq(webhooks.grantId, grantId)
  await db.transaction(async (tx) => {
    await lockAccount(tx, ownerId)
    const gone = await tx
      .delete(webhooks)
      .where(and(mine(ownerId, id), eq(webhooks.kind, 'zapier'), its))
      .returning({ id: webhooks.id })
    if (gone.length === 0) throw notThere()
    await withdrawMended(tx, ownerId)
  })
}

/**
 * Replaces the signing secret and returns it this once. Refuses with `not_found`, and with `not_allowed` that of a Zap, which does not use
 * it.
 */
export async function replaceSecret({ db, config }: Knowing, ownerId: string, id: string): Promise<{ secret: string }> {
  return db.transaction(async (tx) => {
    const [webhook] = await tx.select().from(webhooks).where(mine(ownerId, id)).for('update')
    if (!webhook) throw notThere()
    refuseZap(webhook)
    const secret = newWebhookSecret()
    await tx
      .update(webhooks)
      .set({ sealedSecret: sealWebhookSecret(config.secretKey, webhook.id, secret) })
      .where(eq(webhooks.id, webhook.id))
    return { secret }
  })
}

/** Turns off the Zaps in Zapier by deleting their webhooks ("reverse unsubscribe"), once the account or the grant is gone. */
export function zapOnAccountDeleted(
  config: Deps['config'],
  network: WebhookNetwork = { ...defaultNetwork(config), deadline: 3_000 },
): OnAccountDeleted {
  return async (db, ownerId) => {
    const zaps = await db
      .select({ url: webhooks.url })
      .from(webhooks)
      .innerJoin(oauthGrants, eq(oauthGrants.id, webhooks.grantId))
      .where(and(eq(webhooks.ownerId, ownerId), eq(oauthGrants.clientId, config.zapier?.clientId ?? '')))
    return async () => {
      await Promise.all(zaps.map(({ url }) => callWebhook({ method: 'DELETE', url, headers: {}, body: '' }, network)))
    }
  }
}

/** Withdraws the notices once no webhook is failing any more. */
export async function withdrawMended(tx: Database, ownerId: string): Promise<void> {
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

/** What keeps a webhook from being called: its own pause before that of all of Zapier. */
export function pauseOf({ webhook, unsubscribed }: KnownWebhook): Webhook['pausedBecause'] {
  return webhook.pausedBecause ?? (unsubscribed ? 'zapier_unsubscribed' : null)
}

/** Everything but the secret. */
function toWebhook(known: KnownWebhook): Webhook {
  const { id, kind, url, events, createdAt, failures, lastDeliveredAt } = known.webhook
  return {
    _id: id,
    kind,
    url,
    events,
    createdAt: createdAt.toString(),
    pausedBecause: pauseOf(known),
    failures,
    lastDeliveredAt: lastDeliveredAt?.toString() ?? null,
  }
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
  if (message !== null) throw new ProblemError('invalid', message, { errors: [{ path, message }] })
}

/** With the scope write alone an app must not receive data by a webhook. */
async function refuseWithoutRead(tx: Database, grantId: string): Promise<void> {
  const [grant] = await tx.select({ scopes: oauthGrants.scopes }).from(oauthGrants).where(eq(oauthGrants.id, grantId))
  if (!grant?.scopes.includes('read')) throw new ProblemError('not_allowed', texts.webhook.needsRead)
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
