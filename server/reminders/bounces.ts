import { eq, sql } from 'drizzle-orm'
import { z } from 'zod'
import type { CallReply } from '#contract/call.ts'
import type { integrationCalls } from '#contract/integrations.ts'
import { lockAccount } from '#server/accounts/accounts.ts'
import type { Account } from '#server/platform/answer.ts'
import type { Instant } from '#server/platform/clock.ts'
import { type Database, rows } from '#server/platform/database.ts'
import { ProblemError } from '#server/platform/problem-error.ts'
import { holdAddress } from './holds.ts'
import { deliveries } from './tables.ts'
import { texts } from './texts.ts'

/** Bounces arrive within days. Older emails are found by their id only: few are read for each bounce. */
const bouncesWithinDays = 90

const uuid = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i

const bounced = z.object({ id: z.string(), clientEmail: z.string(), first: z.boolean() })

/**
 * An email came back. The first report of it holds its address as a permanent refusal does; further ones change nothing, so that an address
 * that was tried again stays free. `messageId`: its Message-ID, with or without angle brackets, its X-Reminder-Id, or its `_id`. Refuses with
 * `not_found`.
 */
export async function recordBounce(
  db: Database,
  account: Account,
  messageId: string,
  now: Instant,
): Promise<CallReply<typeof integrationCalls.bounce>> {
  const given = messageId.trim().replace(/^<|>$/g, '')
  const id = uuid.test(given) ? given.toLowerCase() : null
  const recent = sql`d.sent_at > ${now.subtract({ hours: 24 * bouncesWithinDays }).toString()}::timestamptz`
  // Some providers replace the Message-ID of an email; its X-Reminder-Id is the first part of it.
  const which = id === null ? sql`d.message_id = ${`<${given}>`}` : sql`starts_with(d.message_id, ${`<rem.${id}@`})`
  return db.transaction(async (tx) => {
    await lockAccount(tx, account.id)
    const [email] = await rows(
      tx,
      bounced,
      sql`SELECT d.id, d.client_email AS "clientEmail", d.bounced_at IS NULL AS first FROM deliveries d
          WHERE d.owner_id = ${account.id}::uuid AND d.state = 'sent' AND (d.id = ${id}::uuid OR (${recent} AND ${which}))
          LIMIT 1`,
    )
    if (!email) throw new ProblemError('not_found', texts.bounced.notFound)
    const { clientEmail } = email
    if (email.first) {
      await holdBounced(tx, account.id, email, now)
      // At last, because the event that follows from it shows the invoices as they are then.
      await tx.update(deliveries).set({ bouncedAt: now }).where(eq(deliveries.id, email.id))
    }
    const [hold] = await rows(
      tx,
      z.object({ held: z.boolean() }),
      sql`SELECT EXISTS (SELECT 1 FROM address_holds h WHERE h.owner_id = ${account.id}::uuid AND h.client_key = ${clientEmail.toLowerCase()}) AS held`,
    )
    return { _id: email.id, clientEmail, held: hold?.held ?? false }
  })
}

/** Only its invoices that still have this address: a corrected one is another address. */
async function holdBounced(tx: Database, ownerId: string, email: { id: string; clientEmail: string }, now: Instant): Promise<void> {
  const its = await rows(
    tx,
    z.object({ id: z.string(), reference: z.string() }),
    sql`UPDATE invoices i SET undelivered_since = coalesce(i.undelivered_since, ${now.toString()}::timestamptz), undelivered_reply = ${texts.bounced.reply}
        FROM delivery_invoices di
        WHERE di.delivery_id = ${email.id}::uuid AND i.id = di.invoice_id AND i.deleted_at IS NULL AND lower(i.client_email) = ${email.clientEmail.toLowerCase()}
        RETURNING i.id, i.reference`,
  )
  const [first] = its
  if (!first) return
  const about = texts.bounced.notice(first.reference, email.clientEmail)
  await holdAddress(tx, ownerId, { invoiceIds: its.map(({ id }) => id), reply: texts.bounced.reply, about }, now)
}
