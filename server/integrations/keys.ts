import { and, desc, eq, sql } from 'drizzle-orm'
import { z } from 'zod'
import type { ApiKey, apiKeyDraft } from '#contract/integrations.ts'
import { lockAsSeen, type Origin, writeAudit } from '#server/accounts/accounts.ts'
import { refuseWithout } from '#server/billing/billing.ts'
import type { Account } from '#server/platform/answer.ts'
import type { Instant } from '#server/platform/clock.ts'
import type { Database } from '#server/platform/database.ts'
import type { Deps } from '#server/platform/deps.ts'
import { ProblemError } from '#server/platform/problem-error.ts'
import { hashToken, newToken } from '#server/platform/secrets.ts'
import { lockOwner, notifyAccessGranted } from './integrations.ts'
import { prefixes } from './provider.ts'
import { apiKeys } from './tables.ts'
import { labelOf, texts } from './texts.ts'

type KeyRow = typeof apiKeys.$inferSelect

/** Stops a program that creates keys in a loop; a person needs fewer. */
const mostKeys = 50

/** An account's keys, newest first. */
export async function listKeys(db: Database, ownerId: string): Promise<ApiKey[]> {
  const found = await db.select().from(apiKeys).where(eq(apiKeys.ownerId, ownerId)).orderBy(desc(apiKeys.createdAt), desc(apiKeys.id))
  return found.map(toKey)
}

/**
 * Creates a key and returns it this once: only its hash is stored. Refuses with `plan_limit` where the plan has no keys, and with
 * `conflict` where there are too many.
 */
export async function addKey(
  deps: Deps,
  account: Account,
  { name, scopes, expiresInDays }: z.output<typeof apiKeyDraft>,
  from: Origin,
  now: Instant,
): Promise<ApiKey & { key: string }> {
  const { db, config } = deps
  const ownerId = account.id
  return db.transaction(async (tx) => {
    await lockAsSeen(tx, account)
    await refuseWithout({ ability: 'apiAccess', what: 'API keys' }, tx, ownerId, now, config)
    const [kept] = await tx.select({ count: sql<number>`count(*)::int` }).from(apiKeys).where(eq(apiKeys.ownerId, ownerId))
    if ((kept?.count ?? 0) >= mostKeys) throw new ProblemError('conflict', texts.keyLimit(mostKeys))
    const key = prefixes.key + newToken()
    const [row] = await tx
      .insert(apiKeys)
      .values({
        ownerId,
        madeBy: account.person.id,
        name,
        keyHash: hashToken(key),
        ending: key.slice(-4),
        scopes: [...new Set(scopes)],
        createdAt: now,
        expiresAt: expiresInDays === null ? null : now.add({ hours: expiresInDays * 24 }),
      })
      .returning()
    if (!row) throw new Error('A key was not stored.')
    await writeAudit(tx, { ownerId, kind: 'key_made', about: labelOf(row) }, from, now)
    await notifyAccessGranted(tx, deps, account, 'key', now)
    return { ...toKey(row), key }
  })
}

/** Revokes a key. Refuses with `not_found`. */
export async function removeKey(db: Database, ownerId: string, id: string, from: Origin, now: Instant): Promise<void> {
  await db.transaction(async (tx) => {
    await lockOwner(tx, ownerId)
    const known = z.uuid().safeParse(id).success
    const [gone] = known
      ? await tx
          .delete(apiKeys)
          .where(and(eq(apiKeys.ownerId, ownerId), eq(apiKeys.id, id)))
          .returning()
      : []
    if (!gone) throw new ProblemError('not_found', texts.noKey)
    await writeAudit(tx, { ownerId, kind: 'key_revoked', about: labelOf(gone) }, from, now)
  })
}

function toKey({ id, name, ending, scopes, createdAt, expiresAt, lastUsedAt, offeredTo }: KeyRow): ApiKey {
  return {
    _id: id,
    name,
    ending,
    scopes,
    createdAt: createdAt.toString(),
    expiresAt: expiresAt?.toString() ?? null,
    lastUsedAt: lastUsedAt?.toString() ?? null,
    handedOver: offeredTo !== null,
  }
}
