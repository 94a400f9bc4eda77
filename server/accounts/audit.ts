import { and, desc, eq, lt } from 'drizzle-orm'
import type { FastifyRequest } from 'fastify'
import type { AuditEntry, AuditKind } from '#contract/accounts.ts'
import type { Instant } from '#server/platform/clock.ts'
import type { Database } from '#server/platform/database.ts'
import { deviceOf } from './device.ts'
import { auditEntries } from './tables.ts'

/** Where a request comes from. */
export interface Origin {
  address: string
  userAgent: string
}

export function originOf(request: FastifyRequest): Origin {
  return { address: request.ip, userAgent: request.headers['user-agent'] ?? '' }
}

const perPage = 100

/**
 * Writes down what happened to an account, in the transaction in which it does. `about`: who or what, never a secret.
 * `from`: null where no browser asked, as with the operator's commands.
 */
export async function writeAudit(tx: Database, entry: Happening, from: Origin | null, now: Instant): Promise<void> {
  await writeAudits(tx, [entry], from, now)
}

interface Happening {
  ownerId: string
  kind: AuditKind
  about?: string | undefined
}

/** The same for all that happened at once. */
export async function writeAudits(tx: Database, entries: Happening[], from: Origin | null, now: Instant): Promise<void> {
  if (entries.length === 0) return
  await tx.insert(auditEntries).values(
    entries.map(({ ownerId, kind, about }) => ({
      ownerId,
      kind,
      about: about?.slice(0, 300) ?? null,
      at: now,
      address: from?.address ?? '',
      userAgent: from?.userAgent.slice(0, 300) ?? '',
    })),
  )
}

/** The account's entries, newest first, those older than the entry `before`. */
export async function listAudit(db: Database, ownerId: string, before: string | undefined): Promise<AuditEntry[]> {
  const found = await db
    .select()
    .from(auditEntries)
    .where(and(eq(auditEntries.ownerId, ownerId), before === undefined ? undefined : lt(auditEntries.id, before)))
    .orderBy(desc(auditEntries.id))
    .limit(perPage)
  return found.map(({ id, at, kind, about, address, userAgent }) => ({
    _id: id,
    at: at.toString(),
    kind,
    text: sentence(kind, about ?? ''),
    device: userAgent === '' ? '' : deviceOf(userAgent),
    address,
  }))
}

function sentence(kind: AuditKind, about: string): string {
  switch (kind) {
    case 'signed_up':
      return 'The account was created.'
    case 'signed_in':
      return about === '' ? 'Signed in.' : `Signed in with ${about}.`
    case 'sign_in_refused':
      return `A sign-in was refused: ${about}.`
    case 'sessions_ended':
      return about === '' ? 'Every other browser was signed out.' : `${about} was signed out.`
    case 'password_changed':
      return 'The password was changed.'
    case 'password_reset':
      return 'The password was set anew by a link.'
    case 'email_changed':
      return `The email was changed to ${about}.`
    case 'email_confirmed':
      return `The email ${about} was confirmed.`
    case 'google_linked':
      return `Google sign-in was linked (${about}).`
    case 'google_unlinked':
      return 'Google sign-in was unlinked; the password counts again.'
    case 'two_factor_on':
      return 'Two-factor sign-in was switched on.'
    case 'two_factor_off':
      return 'Two-factor sign-in was switched off.'
    case 'recovery_code_used':
      return 'A recovery code was used to sign in.'
    case 'recovery_codes_renewed':
      return 'New recovery codes were made; the old ones count no more.'
    case 'sender_connected':
      return `The mailbox ${about} was connected.`
    case 'sender_removed':
      return about === '' ? 'The mailbox was removed.' : `The mailbox ${about} was removed.`
    case 'template_changed':
      return 'The wording of the reminders was changed.'
    case 'plan_changed':
      return `The plan was changed: ${about}.`
    case 'invoice_deleted':
      return `Invoice ${about} was deleted.`
    case 'data_exported':
      return 'All data of the account were downloaded.'
    case 'application_allowed':
      return `${about} was allowed to use the account.`
    case 'application_disconnected':
      return `${about} may not use the account any more.`
    case 'key_made':
      return `The API key ${about} was made.`
    case 'key_revoked':
      return `The API key ${about} was revoked.`
    case 'webhook_added':
      return `A webhook to ${about} was added.`
    case 'webhook_changed':
      return `A webhook was changed to call ${about}.`
    case 'webhook_removed':
      return `The webhook to ${about} was removed.`
  }
}
