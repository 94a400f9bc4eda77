import { type SQL, sql } from 'drizzle-orm'
import { z } from 'zod'
import type { Sender } from '#server/mail/mail.ts'
import { mailConfigs } from '#server/mail/tables.ts'
import type { Instant } from '#server/platform/clock.ts'
import { type Database, rows } from '#server/platform/database.ts'

/** A mailbox, and whether its account has several. */
export interface SendingMailbox extends Sender {
  several: boolean
}

/** Of the email `d`: `address` is that of its client, in lower case. */
const mailboxOf = (address: SQL) => sql`(SELECT c.mailbox_id FROM clients c WHERE c.owner_id = d.owner_id AND c.email_key = ${address})`

/**
 * Where the email `d` would be sent now: an email about one invoice follows its address when that is corrected, and the row has the new one from
 * the claim on. Of an email about several invoices those that are corrected leave it.
 */
const addressNow = sql`coalesce((
  SELECT max(lower(i.client_email)) FROM (SELECT invoice_id FROM delivery_invoices WHERE delivery_id = d.id OFFSET 0) x
    JOIN LATERAL (SELECT client_email FROM invoices WHERE invoices.id = x.invoice_id OFFSET 0) i ON true HAVING count(*) = 1), lower(d.client_email))`

/** The place of the mailbox that the client of the email `d` is written to from, where it has one of its own. */
export const mailboxOfClient = mailboxOf(addressNow)

const sentFrom = (mailbox: SQL) => sql`m.owner_id = d.owner_id AND coalesce(${mailbox}, CASE WHEN m.is_default THEN m.place END) = m.place`

/** Whether the mailbox `m` sends the email `d`: that of its client, else the default one. */
export const isSentBy = sentFrom(mailboxOfClient)

/** The same for a statement that knows to which address. */
export const isSentTo = (address: SQL) => sentFrom(mailboxOf(sql`lower(${address})`))

/** The emails `d` that a mailbox sends. */
export function sentBy({ ownerId, place, isDefault, several }: SendingMailbox): SQL {
  const own = sql`d.owner_id = ${ownerId}::uuid`
  return several ? sql`(${own} AND coalesce(${mailboxOfClient}, ${isDefault ? place : null}::uuid) = ${place}::uuid)` : own
}

/** Of several mailboxes only what this one sent: an email names the mailbox that it was rendered for first. */
export function renderedFor({ several, senderId }: SendingMailbox): SQL {
  return several ? sql`AND starts_with(rendered_from, ${senderId})` : sql``
}

/** The mailbox that writes to this address; null while the account has none. */
export async function senderTo(db: Database, ownerId: string, clientEmail: string): Promise<Sender | null> {
  const chosen = sql`(SELECT c.mailbox_id FROM clients c WHERE c.owner_id = ${ownerId}::uuid AND c.email_key = ${clientEmail.toLowerCase()})`
  const { place, isDefault } = mailConfigs
  const [row] = await db
    .select()
    .from(mailConfigs)
    .where(sql`${mailConfigs.ownerId} = ${ownerId}::uuid AND coalesce(${chosen}, CASE WHEN ${isDefault} THEN ${place} END) = ${place}`)
  return row ?? null
}

/** Whether one of the mailboxes that write to clients is not paused, or only until before this instant. */
export async function sendsBefore(db: Database, ownerId: string, at: Instant): Promise<boolean> {
  const found = await rows(
    db,
    z.object({ place: z.string() }),
    sql`SELECT m.place FROM mail_configs m
        WHERE m.owner_id = ${ownerId}::uuid AND (m.pause_reason IS NULL OR m.pause_reason = 'quota' AND m.paused_until < ${at.toString()}::timestamptz)
          AND (m.is_default OR EXISTS (SELECT 1 FROM clients c WHERE c.owner_id = m.owner_id AND c.mailbox_id = m.place)) LIMIT 1`,
  )
  return found.length > 0
}
