import { and, asc, eq, inArray } from 'drizzle-orm'
import { writeAudits } from '#server/accounts/accounts.ts'
import type { MadeThings } from '#server/accounts/made.ts'
import { withdrawNotices } from '#server/accounts/notices.ts'
import type { Deps } from '#server/platform/deps.ts'
import { hashToken, newToken } from '#server/platform/secrets.ts'
import { callReceiversJob } from './jobs.ts'
import { prefixes } from './provider.ts'
import { apiKeys, sources, webhooks } from './tables.ts'
import { labelOf } from './texts.ts'
import { newWebhookSecret, sealWebhookSecret } from './webhook-secret.ts'
import { hostOf, resumed, withdrawFailing } from './webhooks.ts'

const keysOf = (ownerId: string, ids: string[]) => and(eq(apiKeys.ownerId, ownerId), inArray(apiKeys.id, ids))

const madeKeys: MadeThings = {
  kind: 'api_key',
  async list(db, ownerId) {
    const found = await db.select().from(apiKeys).where(eq(apiKeys.ownerId, ownerId)).orderBy(asc(apiKeys.createdAt), asc(apiKeys.id))
    return found.map(({ id, madeBy, offeredTo, ...key }) => ({ id, name: labelOf(key), detail: null, madeBy, offeredTo }))
  },
  async offer(tx, ownerId, ids, { to }) {
    // Each gets a secret that no one has seen: the one of before opens nothing, also where its maker is a member again.
    for (const id of ids)
      await tx
        .update(apiKeys)
        .set({ offeredTo: to, keyHash: hashToken(newToken()) })
        .where(keysOf(ownerId, [id]))
  },
  async takeOver(tx, ownerId, id, { by }) {
    const key = prefixes.key + newToken()
    await tx
      .update(apiKeys)
      .set({ madeBy: by, offeredTo: null, keyHash: hashToken(key), ending: key.slice(-4) })
      .where(keysOf(ownerId, [id]))
    return key
  },
  async end(tx, ownerId, ids, { from, now }) {
    const gone = await tx.delete(apiKeys).where(keysOf(ownerId, ids)).returning()
    const entries = gone.map((key) => ({ ownerId, kind: 'key_revoked' as const, about: labelOf(key) }))
    await writeAudits(tx, entries, from, now)
    return []
  },
}

const hooksOf = (ownerId: string, ids: string[]) => and(eq(webhooks.ownerId, ownerId), inArray(webhooks.id, ids))

const madeWebhooks = ({ config, queue }: Pick<Deps, 'config' | 'queue'>): MadeThings => ({
  kind: 'webhook',
  async list(db, ownerId) {
    const found = await db
      .select()
      .from(webhooks)
      // That of a Zap ends with its grant.
      .where(and(eq(webhooks.ownerId, ownerId), eq(webhooks.kind, 'webhook')))
      .orderBy(asc(webhooks.createdAt), asc(webhooks.id))
    return found.map(({ id, url, madeBy, offeredTo }) => ({ id, name: hostOf({ url }), detail: url, madeBy, offeredTo }))
  },
  async offer(tx, ownerId, ids, { to }) {
    await tx.update(webhooks).set({ offeredTo: to, pausedBecause: 'by_hand' }).where(hooksOf(ownerId, ids))
  },
  async takeOver(tx, ownerId, id, { by }) {
    const secret = newWebhookSecret()
    await tx
      .update(webhooks)
      .set({ ...resumed, madeBy: by, offeredTo: null, sealedSecret: sealWebhookSecret(config.secretKey, id, secret) })
      .where(hooksOf(ownerId, [id]))
    await queue.send(tx, callReceiversJob, { ownerId })
    return secret
  },
  async end(tx, ownerId, ids, { from, now }) {
    const gone = await tx.delete(webhooks).where(hooksOf(ownerId, ids)).returning()
    const entries = gone.map((hook) => ({ ownerId, kind: 'webhook_removed' as const, about: hostOf(hook) }))
    await writeAudits(tx, entries, from, now)
    await withdrawFailing(tx, ownerId)
    return []
  },
})

const sourcesOf = (ownerId: string, ids: string[]) => and(eq(sources.ownerId, ownerId), inArray(sources.id, ids))

const madeSources: MadeThings = {
  kind: 'source',
  async list(db, ownerId) {
    const found = await db.select().from(sources).where(eq(sources.ownerId, ownerId)).orderBy(asc(sources.createdAt), asc(sources.id))
    return found.map(({ id, name, url, madeBy, offeredTo }) => ({ id, name, detail: url, madeBy, offeredTo }))
  },
  async offer(tx, ownerId, ids, { to }) {
    await tx.update(sources).set({ offeredTo: to }).where(sourcesOf(ownerId, ids))
  },
  async takeOver(tx, ownerId, id, { by }) {
    await tx
      .update(sources)
      .set({ madeBy: by, offeredTo: null, failures: 0 })
      .where(sourcesOf(ownerId, [id]))
    return null
  },
  async end(tx, ownerId, ids, { from, now }) {
    const gone = await tx.delete(sources).where(sourcesOf(ownerId, ids)).returning()
    for (const { id } of gone) await withdrawNotices(tx, ownerId, ['source_failing', 'source_waiting'], id)
    const entries = gone.map(({ url }) => ({ ownerId, kind: 'source_removed' as const, about: new URL(url).host }))
    await writeAudits(tx, entries, from, now)
    return []
  },
}

/** What people set up here that works without them. */
export const integrationsMade = (deps: Pick<Deps, 'config' | 'queue'>): MadeThings[] => [madeKeys, madeWebhooks(deps), madeSources]
