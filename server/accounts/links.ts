import { and, eq, lte, type SQL, sql } from 'drizzle-orm'
import type { Instant } from '#server/platform/clock.ts'
import type { PersonId } from '#server/platform/columns.ts'
import type { Database } from '#server/platform/database.ts'
import type { Deps } from '#server/platform/deps.ts'
import { hashToken, newToken } from '#server/platform/secrets.ts'
import { type OnLinkSettled, queueSystemMail, type Recipient, sendsSystemMail } from '#server/platform/system-mail.ts'
import { accountLinks, people } from './tables.ts'
import { confirmationEmail, emailChangeEmail, emailChangeRequestedEmail } from './texts.ts'

/** A person as the recipient of an email about how they sign in. */
export function recipientOf({ id, email, emailVerifiedAt }: Addressee): Recipient & { id: string } {
  return { id: String(id), email, emailVerifiedAt }
}

type Purpose = 'reset_password' | 'confirm_email' | 'change_email'

/** How long a link is valid once the mail server has accepted its email, in minutes. */
const linkMinutes: Record<Purpose, number> = { reset_password: 60, confirm_email: 24 * 60, change_email: 24 * 60 }

/** The recipient of a link. */
type Addressee = Omit<Recipient, 'id'> & { id: PersonId }

/**
 * Sends the link that confirms a person's email; nothing where the server sends no email. Answers null, or when the next link may be sent
 * to this address, because there were too many.
 */
export async function sendConfirmLink(tx: Database, deps: Deps, person: Addressee, now: Instant): Promise<Instant | null> {
  if (!sendsSystemMail(deps.config)) return null
  const token = newToken()
  const email = confirmationEmail(token)
  await writeLink(tx, { token, email: person.email, purpose: 'confirm_email', now, queuedFor: email.expiresIn }, eq(people.id, person.id))
  return queueSystemMail(tx, deps, { ...email, to: recipientOf(person), link: { hash: hashToken(token) } }, now)
}

/**
 * Sends the link that makes `newEmail` the person's, and notifies the current mailbox. An earlier link becomes invalid. Answers as
 * `sendConfirmLink` does.
 */
export async function sendChangeLink(tx: Database, deps: Deps, person: Addressee, newEmail: string, now: Instant): Promise<Instant | null> {
  const token = newToken()
  const email = emailChangeEmail(token)
  await dropLinks(tx, person.id, 'change_email')
  await writeLink(tx, { token, email: newEmail, purpose: 'change_email', now, queuedFor: email.expiresIn }, eq(people.id, person.id))
  const to = { id: String(person.id), email: newEmail, emailVerifiedAt: null }
  const nextAt = await queueSystemMail(tx, deps, { ...email, to, link: { hash: hashToken(token) } }, now)
  if (nextAt === null) await queueSystemMail(tx, deps, { ...emailChangeRequestedEmail(), to: recipientOf(person) }, now)
  return nextAt
}

/** A link's validity begins when the mail server accepts its email; one whose email was not sent is invalid. */
export const settleLink: OnLinkSettled = async (db, hash, acceptedAt) => {
  if (acceptedAt === null) await db.delete(accountLinks).where(eq(accountLinks.tokenHash, hash))
  else
    for (const purpose of accountLinks.purpose.enumValues)
      await db
        .update(accountLinks)
        .set({ expiresAt: acceptedAt.add({ minutes: linkMinutes[purpose] }) })
        .where(and(eq(accountLinks.tokenHash, hash), eq(accountLinks.purpose, purpose)))
}

/** Those of one purpose, or all. */
export async function dropLinks(tx: Database, person: PersonId, purpose?: Purpose): Promise<void> {
  await tx
    .delete(accountLinks)
    .where(and(eq(accountLinks.personId, person), purpose === undefined ? undefined : eq(accountLinks.purpose, purpose)))
}

export async function pruneLinks(db: Database, now: Instant): Promise<void> {
  await db.delete(accountLinks).where(lte(accountLinks.expiresAt, now))
}

interface NewLink {
  token: string
  email: string | null
  purpose: Purpose
  now: Instant
  /** How long its email may wait for the mail server: until the email is accepted, the link stays valid. */
  queuedFor?: Temporal.DurationLike
}

/** Stores a link for the person that fits; answers whether there was one. */
export async function writeLink(
  tx: Database,
  { token, email, purpose, now, queuedFor = { minutes: 0 } }: NewLink,
  which: SQL,
): Promise<boolean> {
  const written = await tx
    .insert(accountLinks)
    .select(
      tx
        .select({
          tokenHash: sql<string>`${hashToken(token)}::text`.as('token_hash'),
          personId: people.id,
          purpose: sql<NewLink['purpose']>`${purpose}::text`.as('purpose'),
          email: sql<string | null>`${email}::text`.as('email'),
          expiresAt: sql<Instant>`${now.add(queuedFor).add({ minutes: linkMinutes[purpose] }).toString()}::timestamptz`.as('expires_at'),
        })
        .from(people)
        .where(which),
    )
    .returning({ personId: accountLinks.personId })
  return written.length > 0
}
