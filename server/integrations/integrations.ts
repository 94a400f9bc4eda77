import { and, asc, desc, eq, isNull, lte, ne, or } from 'drizzle-orm'
import { z } from 'zod'
import { type Connection, ownClientId } from '#contract/integrations.ts'
import { lockAccount, type OnAccountTakeover, type Origin, writeAudit, writeAudits } from '#server/accounts/accounts.ts'
import { linkForOwner } from '#server/accounts/notices.ts'
import { accounts } from '#server/accounts/tables.ts'
import type { Account } from '#server/platform/answer.ts'
import type { Instant } from '#server/platform/clock.ts'
import type { PersonId } from '#server/platform/columns.ts'
import type { Database } from '#server/platform/database.ts'
import type { Deps } from '#server/platform/deps.ts'
import { ProblemError } from '#server/platform/problem-error.ts'
import { queueSystemMail } from '#server/platform/system-mail.ts'
import { opensNothing } from './provider.ts'
import { apiKeys, oauthCodes, oauthGrants, oauthTokens, sources, webhooks } from './tables.ts'
import { accessGrantedEmail, labelOf, texts } from './texts.ts'
import { farewellToZaps, hostOf, zapOnAccountDeleted } from './webhooks.ts'

// The API client of every call is authenticated in one place.
export { authenticateApiClient } from './api-clients.ts'
export type { WebhookNetwork } from './http-client.ts'
// Handed to the team: what they made ends, or is taken over, where they leave.
export { integrationsMade } from './made.ts'
// Commands of the operator.
export { listOauthClients, registerOauthClient, removeOauthClient } from './oauth-clients.ts'
export { composeWebhooks, pruneWebhookEvents, wakeWebhooks } from './outbox.ts'
// Watched addresses are pulled in the background; daily runs, and emails held for want of a plan, wait for them.
export { enqueueDuePulls, pullDue, pulledAtOnce, resumeOnceRead, sourceReach, waitsForSources } from './sources.ts'
// Webhooks are delivered in the background.
export { accountsAtOnce, callReceivers, openReceivers } from './webhook-dispatch.ts'
export { pruneWebhookHosts } from './webhook-hosts.ts'
// For re-encrypting all secrets.
export { sealedWebhooks } from './webhook-secret.ts'
// Called when an account is deleted.
export { zapOnAccountDeleted } from './webhooks.ts'

type Knowing = Pick<Deps['config'], 'zapier'>

/** Reuse of a code, or of a rotated refresh token, is detected for this long. */
const remembered = { hours: 30 * 24 }
/** A grant that never led to a token is shown for this long. */
const patience = { hours: 1 }

/** The apps with access to an account, newest first. */
export async function listConnections(db: Database, account: Account, config: Knowing): Promise<Connection[]> {
  const found = await db
    .select()
    .from(oauthGrants)
    .where(eq(oauthGrants.ownerId, account.id))
    .orderBy(desc(oauthGrants.createdAt), desc(oauthGrants.id))
  return found.map(({ id, clientId, clientName, scopes, createdAt, lastUsedAt }) => ({
    _id: id,
    name: clientName,
    scopes,
    since: createdAt.toString(),
    lastUsedAt: lastUsedAt?.toString() ?? null,
    own: clientId === ownClientId,
    paused: clientId === config.zapier?.clientId && !account.sendReminders,
  }))
}

/**
 * Revokes a grant with its tokens and the webhooks of its Zaps, and notifies Zapier of those. Where no one else has a grant for Zapier nothing is
 * delivered there, so that subscription ends too. Refuses with `not_found`.
 */
export async function disconnect(
  { db, config }: Pick<Deps, 'db' | 'config'>,
  ownerId: string,
  id: string,
  from: Origin,
  now: Instant,
): Promise<void> {
  const farewell = await db.transaction(async (tx) => {
    await lockOwner(tx, ownerId)
    const known = z.uuid().safeParse(id).success
    const notifyZapier = known ? await farewellToZaps(tx, config, and(eq(webhooks.ownerId, ownerId), eq(webhooks.grantId, id))) : null
    const [gone] = known
      ? await tx
          .delete(oauthGrants)
          .where(and(eq(oauthGrants.ownerId, ownerId), eq(oauthGrants.id, id)))
          .returning()
      : []
    if (!gone) throw new ProblemError('not_found', texts.notConnected)
    await writeAudit(tx, { ownerId, kind: 'application_disconnected', about: gone.clientName }, from, now)
    if (gone.clientId !== config.zapier?.clientId) return null
    if (!(await isConnectedToZapier(tx, ownerId, config))) await subscribeToZapier(tx, ownerId, false)
    return notifyZapier
  })
  await farewell?.()
}

/** Locks the account before what belongs to it, in the order in which deleting an account does, because another order would deadlock. */
export async function lockOwner(tx: Database, ownerId: string): Promise<void> {
  // The account was deleted after the session was checked.
  if (!(await lockAccount(tx, ownerId))) throw new ProblemError('not_signed_in', texts.signIn)
}

/** Notifies the owner by email of new access to their account, so that they can revoke it if it was not them. */
export async function notifyAccessGranted(tx: Database, deps: Deps, account: Account, what: 'app' | 'key', now: Instant): Promise<void> {
  const { button, ...email } = accessGrantedEmail(what, account.person.googleSub !== null)
  const path = await linkForOwner(tx, account.id, button.path)
  await queueSystemMail(
    tx,
    deps,
    { ...email, button: { ...button, path }, kind: 'access_granted', to: account, expiresIn: { hours: 24 } },
    now,
  )
}

/** Revokes all access of programs to an account, and its webhooks: who created them is not the owner any more. */
export function integrationsOnAccountTakeover(config: Deps['config']): OnAccountTakeover {
  return async (tx, ownerId) => {
    const afterwards = await zapOnAccountDeleted(config)(tx, ownerId)
    const gone = {
      applications: await tx.delete(oauthGrants).where(eq(oauthGrants.ownerId, ownerId)).returning({ id: oauthGrants.id }),
      api_keys: await tx.delete(apiKeys).where(eq(apiKeys.ownerId, ownerId)).returning({ id: apiKeys.id }),
      sources: await tx.delete(sources).where(eq(sources.ownerId, ownerId)).returning({ id: sources.id }),
      webhooks: await tx.delete(webhooks).where(eq(webhooks.ownerId, ownerId)).returning({ id: webhooks.id }),
    }
    await subscribeToZapier(tx, ownerId, false)
    return { removed: (['applications', 'api_keys', 'sources', 'webhooks'] as const).filter((kind) => gone[kind].length > 0), afterwards }
  }
}

/** Someone leaves an account: what they allowed apps to do ends. */
export async function endGrantsOf(tx: Database, ownerId: string, person: PersonId): Promise<void> {
  await tx.delete(oauthGrants).where(and(eq(oauthGrants.ownerId, ownerId), eq(oauthGrants.madeBy, person)))
}

/** All access of programs in someone's name to an account ends. */
export async function endProgramsOf(tx: Database, ownerId: string, person: PersonId): Promise<void> {
  await endGrantsOf(tx, ownerId, person)
  await tx.delete(apiKeys).where(and(eq(apiKeys.ownerId, ownerId), eq(apiKeys.madeBy, person)))
  await tx.delete(webhooks).where(and(eq(webhooks.ownerId, ownerId), eq(webhooks.madeBy, person)))
}

/** Every API key of someone ends, in all businesses. */
export async function endKeysOf(tx: Database, person: PersonId, from: Origin, now: Instant): Promise<void> {
  const theirs = and(eq(apiKeys.madeBy, person), isNull(apiKeys.offeredTo))
  const owners = await tx.selectDistinct({ ownerId: apiKeys.ownerId }).from(apiKeys).where(theirs).orderBy(asc(apiKeys.ownerId))
  for (const { ownerId } of owners) await lockAccount(tx, ownerId)
  const gone = await tx.delete(apiKeys).where(theirs).returning()
  await writeAudits(
    tx,
    gone.map((key) => ({ ownerId: key.ownerId, kind: 'key_revoked' as const, about: labelOf(key) })),
    from,
    now,
  )
}

/** Someone deletes their account: their grants end with it, and so do the API keys and webhooks that they made in businesses of others. */
export async function endProgramsOfDeleted(tx: Database, person: PersonId, now: Instant): Promise<void> {
  const keys = await tx.delete(apiKeys).where(eq(apiKeys.madeBy, person)).returning()
  const hooks = await tx.delete(webhooks).where(eq(webhooks.madeBy, person)).returning()
  const ended = [
    ...keys.map((key) => ({ ownerId: key.ownerId, kind: 'key_revoked' as const, about: labelOf(key) })),
    ...hooks.map((hook) => ({ ownerId: hook.ownerId, kind: 'webhook_removed' as const, about: hostOf(hook) })),
  ]
  await writeAudits(tx, ended, null, now)
}

/** Whether Zapier has access to an account. Without it a subscription delivers nothing. */
export async function isConnectedToZapier(db: Database, ownerId: string, { zapier }: Knowing): Promise<boolean> {
  if (!zapier) return false
  const found = await db
    .select({ id: oauthGrants.id })
    .from(oauthGrants)
    .where(and(eq(oauthGrants.ownerId, ownerId), eq(oauthGrants.clientId, zapier.clientId)))
    .limit(1)
  return found.length > 0
}

/** Turns deliveries to Zapier on or off. While they are off its webhooks are kept and wait. */
export async function subscribeToZapier(db: Database, ownerId: string, sendReminders: boolean): Promise<void> {
  await db.update(accounts).set({ sendReminders }).where(eq(accounts.id, ownerId))
}

/** Prunes expired codes and tokens, and grants that never led to one; called by a worker. */
export async function pruneGrants(db: Database, now: Instant): Promise<void> {
  const old = now.subtract(remembered)
  await db.delete(oauthCodes).where(lte(oauthCodes.expiresAt, old))
  await db
    .delete(oauthTokens)
    .where(or(and(eq(oauthTokens.kind, 'access'), lte(oauthTokens.expiresAt, now)), lte(oauthTokens.expiresAt, old)))
  await db
    .delete(oauthGrants)
    .where(and(ne(oauthGrants.clientId, ownClientId), lte(oauthGrants.createdAt, now.subtract(patience)), opensNothing(now)))
}
