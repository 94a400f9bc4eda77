import { and, desc, eq, lte, ne, or } from 'drizzle-orm'
import { z } from 'zod'
import { type Connection, ownClientId } from '#contract/integrations.ts'
import { type AccountRow, lockAccount, type Origin, writeAudit } from '#server/accounts/accounts.ts'
import { accounts } from '#server/accounts/tables.ts'
import type { Instant } from '#server/platform/clock.ts'
import type { Database } from '#server/platform/database.ts'
import type { Deps } from '#server/platform/deps.ts'
import { ProblemError } from '#server/platform/problem-error.ts'
import { queueSystemMail } from '#server/platform/system-mail.ts'
import { opensNothing } from './provider.ts'
import { apiKeys, oauthCodes, oauthGrants, oauthTokens, webhooks } from './tables.ts'
import { texts } from './texts.ts'
import { zapOnAccountDeleted } from './webhooks.ts'

// Who asks is settled for every call at once.
export { authenticateApiClient } from './api-clients.ts'
// One of the operator's commands.
export { listOauthClients, registerOauthClient, removeOauthClient } from './oauth-clients.ts'
export { composeWebhooks, pruneWebhookEvents, wakeWebhooks } from './outbox.ts'
// What is told to others is told in the background.
export { deliverWebhook, openConcurrencyLimit } from './webhook-delivery.ts'
// For whoever seals every secret anew.
export { sealedWebhooks } from './webhook-secret.ts'
// Told of an account that is gone.
export { zapOnAccountDeleted } from './webhooks.ts'

type Knowing = Pick<Deps['config'], 'zapier'>

/** A code that comes again, and a refresh token that was rotated, are noticed for so long. */
const remembered = { hours: 30 * 24 }
/** A permission that never became a token is shown for so long. */
const patience = { hours: 1 }

/** The applications that an account allowed, the newest first. */
export async function listConnections(db: Database, account: AccountRow, config: Knowing): Promise<Connection[]> {
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
 * Takes a permission back: its tokens and the webhooks of its Zaps go with it, at once. Without Zapier's nothing is delivered there any more, so that
 * subscription ends too, and Zapier is told. Refuses with `not_found`.
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
    const notifyZapier = await zapOnAccountDeleted(config)(tx, ownerId)
    const known = z.uuid().safeParse(id).success
    const [gone] = known
      ? await tx
          .delete(oauthGrants)
          .where(and(eq(oauthGrants.ownerId, ownerId), eq(oauthGrants.id, id)))
          .returning()
      : []
    if (!gone) throw new ProblemError('not_found', texts.notConnected)
    await writeAudit(tx, { ownerId, kind: 'application_disconnected', about: gone.clientName }, from, now)
    if (gone.clientId !== config.zapier?.clientId) return null
    await subscribeToZapier(tx, ownerId, false)
    return notifyZapier
  })
  await farewell?.()
}

/** The account first, what belongs to it afterwards, as everywhere: deleting an account takes them in the same order. */
export async function lockOwner(tx: Database, ownerId: string): Promise<void> {
  // The account was deleted between signing in and now.
  if (!(await lockAccount(tx, ownerId))) throw new ProblemError('not_signed_in', texts.signIn)
}

/** A letter about whatever lets a program into an account from now on: an owner who knows nothing of it can still end it. */
export async function notifyAccessGranted(
  tx: Database,
  deps: Deps,
  { email }: Pick<AccountRow, 'email'>,
  what: string,
  now: Instant,
): Promise<void> {
  const { publicUrl } = deps.config
  const text = texts.accessGranted.text(what, `${publicUrl}/dashboard/connections`)
  await queueSystemMail(tx, deps, { to: email, subject: texts.accessGranted.subject, text, expiresIn: { hours: 24 } }, now)
}

/** Ends whatever lets a program into an account, or tells it of what happens there: whoever made it is not the owner any more. */
export async function revokeAccess(tx: Database, ownerId: string): Promise<void> {
  await tx.delete(oauthGrants).where(eq(oauthGrants.ownerId, ownerId))
  await tx.delete(apiKeys).where(eq(apiKeys.ownerId, ownerId))
  await tx.delete(webhooks).where(eq(webhooks.ownerId, ownerId))
}

/** Whether what happens is delivered to Zapier: while it is not, its webhooks are kept and wait. */
export async function subscribeToZapier(db: Database, ownerId: string, sendReminders: boolean): Promise<void> {
  await db.update(accounts).set({ sendReminders }).where(eq(accounts.id, ownerId))
}

/** Forgets codes and tokens that have been over for a while, and permissions that never opened anything. Call it now and then from a worker. */
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
