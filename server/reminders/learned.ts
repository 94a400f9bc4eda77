import { sql } from 'drizzle-orm'
import { z } from 'zod'
import { type Database, rows } from '#server/platform/database.ts'
import type { Watched } from './hazard.ts'

/** An invoice that is learned from, and what is left to pay of it. */
export interface Learned extends Watched {
  id: string
  balance: number
  currency: string
}

/** So many days after an email a payment may have been caused by it. */
export const causedFor = 3

const learnedRow = z.tuple([
  z.string(),
  z.string(),
  z.string(),
  z.number(),
  z.number(),
  z.boolean(),
  z.number(),
  z.array(z.number()).nullable(),
])

/**
 * The invoices of 24 months, each from the day it was issued until it was paid or yesterday. One that was created as paid has no known day of
 * payment. `afterEmails`: whether the days after emails count. A forecast expects that emails continue as they were; for smart reminders payments
 * that emails caused are no habit.
 */
export async function readLearned(
  db: Database,
  { id, today, timezone }: { id: string; today: string; timezone: string },
  { afterEmails }: { afterEmails: boolean },
): Promise<Learned[]> {
  const since = Temporal.PlainDate.from(today).subtract({ months: 24 }).toString()
  const emails = afterEmails
    ? sql`NULL`
    : sql`CASE WHEN i.reminders_sent > 0 THEN (SELECT json_agg((d.sent_at AT TIME ZONE ${timezone})::date - i.due_date)
          FROM delivery_invoices x JOIN deliveries d ON d.id = x.delivery_id WHERE x.invoice_id = i.id AND d.state = 'sent') END`
  const [found] = await rows(
    db,
    z.object({ list: z.array(learnedRow).nullable() }),
    sql`SELECT json_agg(json_build_array(i.id, lower(i.client_email), i.currency, greatest(i.issued_on, ${since}::date) - i.due_date,
            coalesce(i.paid_on, ${today}::date - 1) - i.due_date, i.status = 'paid', greatest(0, i.amount_minor - i.paid_minor), ${emails}) ORDER BY i.id) AS list
        FROM invoices i
        WHERE i.owner_id = ${id}::uuid AND i.deleted_at IS NULL
          AND (i.status <> 'paid' OR (i.paid_on >= ${since}::date AND i.paid_on <= ${today}::date AND i.paid_at <> i.created_at))`,
  )
  return (found?.list ?? []).map(([invoiceId, client, currency, from, to, paid, balance, sent]) => ({
    id: invoiceId,
    client,
    currency,
    from,
    to,
    paid,
    balance,
    without: (sent ?? []).flatMap((day) => Array.from({ length: causedFor + 1 }, (_none, after) => day + after)),
  }))
}
