import { sql } from 'drizzle-orm'
import { z } from 'zod'
import { mostListed } from '#contract/templates.ts'
import type { Sender } from '#server/mail/mail.ts'
import type { Account } from '#server/platform/answer.ts'
import type { Instant } from '#server/platform/clock.ts'
import { type Database, preparedRows } from '#server/platform/database.ts'
import { onlyScheduled } from './deliveries.ts'
import { owedToday, source } from './owed.ts'
import { localDate } from './schedule.ts'

/** How many emails are read ahead; each is still claimed by one statement of its own. */
export const readAhead = 40

const pendingDelivery = z.object({
  id: z.string(),
  attempt: z.number(),
  /** How often a process died with it in hand. */
  deaths: z.number(),
  /** The current address of the invoice. */
  clientEmail: z.string(),
  /** What it would be rendered from now. */
  source: z.string().nullable(),
  /** Whether the stored bytes were rendered from that. */
  composed: z.boolean(),
  /** How many invoices it was made for; `about` has only those still owed. */
  madeFor: z.number(),
  /** All that is owed now; `about` has the first of them, as many as an email lists. */
  owed: z.object({ count: z.number(), totalMinor: z.number() }),
  about: z.array(
    z.object({
      id: z.string(),
      reference: z.string(),
      clientName: z.string(),
      clientEmail: z.string(),
      amountMinor: z.number(),
      dueDate: z.string(),
      firstMessageId: z.string().nullable(),
    }),
  ),
})
export type PendingDelivery = z.output<typeof pendingDelivery>

/** The account's due emails, the oldest first, at most `readAhead`; those of the daily run only with `scheduling`. */
export async function readPending(
  db: Database,
  about: { account: Account; sender: Sender; scheduling: boolean; now: Instant },
): Promise<PendingDelivery[]> {
  const { account, sender, now } = about
  const today = localDate(now, account.timezone)
  return preparedRows(
    db,
    pendingDelivery,
    sql`SELECT d.id, d.attempt, d.deaths, s.source, coalesce(d.raw IS NOT NULL AND d.rendered_from = s.source, false) AS composed,
          (SELECT count(*)::int FROM delivery_invoices n WHERE n.delivery_id = d.id) AS "madeFor",
          a.about, s.owed, coalesce(a.about->0->>'clientEmail', d.client_email) AS "clientEmail"
        FROM (
          SELECT * FROM deliveries d WHERE owner_id = ${account.id}::uuid AND state IN ('queued', 'retrying') AND (${about.scheduling} OR NOT ${onlyScheduled}) AND next_try_at <= ${now.toString()}::timestamptz
          ORDER BY next_try_at, id LIMIT ${readAhead}::int) d
        CROSS JOIN LATERAL (
          SELECT ${source(sender.senderId)} AS source, json_build_object('count', count(*), 'totalMinor', coalesce(sum(i.amount_minor), 0)) AS owed
          ${owedToday(today)}) s
        CROSS JOIN LATERAL (
          SELECT coalesce((SELECT json_agg(one) FROM (
            SELECT i.id, i.reference, i.client_name AS "clientName", i.client_email AS "clientEmail", i.amount_minor AS "amountMinor",
              i.due_date::text AS "dueDate", i.first_message_id AS "firstMessageId"
            ${owedToday(today)} ORDER BY i.due_date, i.id LIMIT ${mostListed}::int) one), '[]') AS about) a
        ORDER BY d.next_try_at, d.id`,
  )
}
