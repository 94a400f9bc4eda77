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
import { dealsThrough } from './owed.ts'
import { deliveries } from './tables.ts'
import { texts } from './texts.ts'

/** Bounces arrive within days. Older emails are found by their id only: few are read for each bounce. */
const bouncesWithinDays = 90

const uuid = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i

const bounced = z.object({ id: z.string(), clientEmail: z.string(), first: z.boolean() })

/**
 * An email came back. The first report of it holds its address as a permanent refusal does, and it no longer counts as a reminder; further ones change nothing, so that an address
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
      await takeBackReminder(tx, account.id, email.id)
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

/**
 * No client got it: its invoices are as reminded as the emails that did not come back have left them, at whichever address they are by now, so that
 * its step comes again.
 */
async function takeBackReminder(tx: Database, ownerId: string, emailId: string): Promise<void> {
  const its = sql`SELECT x.invoice_id FROM delivery_invoices x WHERE x.delivery_id = ${emailId}::uuid`
  // By a statement of its own, so that the next one sees every email that was recorded until then.
  await tx.execute(sql`SELECT i.id FROM invoices i WHERE i.id IN (${its}) ORDER BY i.id FOR UPDATE`)
  await tx.execute(
    sql`WITH changed AS (
          UPDATE invoices i SET last_reminder_at = others.last_at,
            reminded_through = CASE WHEN greatest(${dealsThrough}, x.step_date) IS NULL THEN i.reminded_through ELSE others.through END,
            steps_sent = greatest(0, i.steps_sent - CASE WHEN x.step_date IS NULL THEN 0 ELSE 1 END),
            sequence_ended_on = CASE WHEN x.step_date IS NULL THEN i.sequence_ended_on END
          FROM deliveries d JOIN delivery_invoices x ON x.delivery_id = d.id CROSS JOIN LATERAL (
            SELECT max(d.sent_at) AS last_at, max(greatest(${dealsThrough}, o.step_date)) AS through
            FROM (SELECT * FROM delivery_invoices WHERE invoice_id = x.invoice_id OFFSET 0) o JOIN deliveries d ON d.id = o.delivery_id
            WHERE d.id <> x.delivery_id AND d.state = 'sent' AND d.bounced_at IS NULL) others
          WHERE d.id = ${emailId}::uuid AND i.id = x.invoice_id RETURNING i.id, x.step_date)
        DELETE FROM notices n USING changed
        WHERE n.owner_id = ${ownerId}::uuid AND n.kind = 'sequence_ended' AND n.cause = changed.id::text AND changed.step_date IS NOT NULL`,
  )
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
