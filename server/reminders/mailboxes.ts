import { type SQL, sql } from 'drizzle-orm'
import type { Sender } from '#server/mail/mail.ts'
import { mailConfigs } from '#server/mail/tables.ts'
import type { Database } from '#server/platform/database.ts'

/** A mailbox, and whether its account has several. */
export interface SendingMailbox extends Sender {
  several: boolean
}

/** The place of the mailbox that the client of the email `d` is written to from, where it has one of its own. */
export const mailboxOfClient = sql`(SELECT c.mailbox_id FROM clients c WHERE c.owner_id = d.owner_id AND c.email_key = lower(d.client_email))`

/** Whether the mailbox `m` sends the email `d`: that of its client, else the default one. */
export const isSentBy = sql`m.owner_id = d.owner_id AND coalesce(${mailboxOfClient}, CASE WHEN m.is_default THEN m.place END) = m.place`

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
