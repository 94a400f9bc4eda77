import { and, eq, gt, lte, type SQL, sql } from 'drizzle-orm'
import type { Instant } from '#server/platform/clock.ts'
import type { Database } from '#server/platform/database.ts'
import type { Deps } from '#server/platform/deps.ts'
import { hashToken, newToken } from '#server/platform/secrets.ts'
import { queueSystemMail, sendsSystemMail } from '#server/platform/system-mail.ts'
import { accountLinks, accounts } from './tables.ts'
import { confirmationEmail, emailChangeEmail, emailChangeRequestedEmail } from './texts.ts'

const linkLife = { minutes: 10 }
/** Per kind of link, so that a stranger cannot flood a mailbox. */
export const emailsToOneMailbox = { limit: 3, seconds: 900 }

interface Addressee {
  id: string
  email: string
}

/** Sends the link that confirms the account's email; nothing where the server sends no mail. */
export async function sendConfirmLink(tx: Database, deps: Deps, account: Addressee, now: Instant): Promise<void> {
  if (!sendsSystemMail(deps.config)) return
  const token = newToken()
  await writeLink(tx, { token, email: account.email, purpose: 'confirm_email', now }, eq(accounts.id, account.id))
  await queueSystemMail(tx, deps, { ...confirmationEmail(deps.config.publicUrl, token), to: account.email }, now)
}

/** Sends the link that makes `newEmail` the account's, and notifies the current mailbox. An earlier link becomes invalid. */
export async function sendChangeLink(tx: Database, deps: Deps, account: Addressee, newEmail: string, now: Instant): Promise<void> {
  const token = newToken()
  await tx.delete(accountLinks).where(and(eq(accountLinks.ownerId, account.id), eq(accountLinks.purpose, 'change_email')))
  await writeLink(tx, { token, email: newEmail, purpose: 'change_email', now }, eq(accounts.id, account.id))
  await queueSystemMail(tx, deps, { ...emailChangeEmail(deps.config.publicUrl, token), to: newEmail }, now)
  await queueSystemMail(tx, deps, { ...emailChangeRequestedEmail(deps.config.publicUrl, newEmail), to: account.email }, now)
}

export async function findPendingEmail(db: Database, ownerId: string, now: Instant): Promise<string | null> {
  const [found] = await db
    .select({ email: accountLinks.email })
    .from(accountLinks)
    .where(and(eq(accountLinks.ownerId, ownerId), eq(accountLinks.purpose, 'change_email'), gt(accountLinks.expiresAt, now)))
  return found?.email ?? null
}

export async function dropLinks(tx: Database, ownerId: string): Promise<void> {
  await tx.delete(accountLinks).where(eq(accountLinks.ownerId, ownerId))
}

export async function pruneLinks(db: Database, now: Instant): Promise<void> {
  await db.delete(accountLinks).where(lte(accountLinks.expiresAt, now))
}

interface NewLink {
  token: string
  email: string | null
  purpose: 'reset_password' | 'confirm_email' | 'change_email'
  now: Instant
}

/** Writes a link of 10 minutes down for the account that fits; answers whether there was one. */
export async function writeLink(tx: Database, { token, email, purpose, now }: NewLink, which: SQL): Promise<boolean> {
  const written = await tx
    .insert(accountLinks)
    .select(
      tx
        .select({
          tokenHash: sql<string>`${hashToken(token)}::text`.as('token_hash'),
          ownerId: accounts.id,
          purpose: sql<NewLink['purpose']>`${purpose}::text`.as('purpose'),
          email: sql<string | null>`${email}::text`.as('email'),
          expiresAt: sql<Instant>`${now.add(linkLife).toString()}::timestamptz`.as('expires_at'),
        })
        .from(accounts)
        .where(which),
    )
    .returning({ ownerId: accountLinks.ownerId })
  return written.length > 0
}
