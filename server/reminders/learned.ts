import { setImmediate } from 'node:timers/promises'
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

interface Place {
  id: string
  at: string
}

/**
 * The invoices of 24 months, each from the day it was issued until it was paid or yesterday, the newest first. One that was created as paid has no
 * known day of payment. `afterEmails`: whether the days after emails count. A forecast expects that emails continue as they were; for smart reminders
 * payments that emails caused are no habit. `pageOf`: so many are read by one statement, which the embedded database cannot interrupt; other calls have
 * their turn between two.
 */
export async function readLearned(
  db: Database,
  { id, today, timezone }: { id: string; today: string; timezone: string },
  { afterEmails, pageOf = 10_000 }: { afterEmails: boolean; pageOf?: number },
): Promise<Learned[]> {
  const since = Temporal.PlainDate.from(today).subtract({ months: 24 }).toString()
  const emails = afterEmails
    ? sql`NULL`
    : sql`CASE WHEN i.reminders_sent > 0 THEN (SELECT json_agg((d.sent_at AT TIME ZONE ${timezone})::date - i.due_date)
          FROM delivery_invoices x JOIN deliveries d ON d.id = x.delivery_id WHERE x.invoice_id = i.id AND d.state = 'sent') END`
  const learned: Learned[] = []
  for (let after = null as Place | null; ; await setImmediate()) {
    const [found] = await rows(
      db,
      z.object({ page: z.array(learnedRow).nullable(), at: z.string().nullable() }),
      sql`SELECT json_agg(json_build_array(id, client, currency, "from", "to", paid, balance, sent) ORDER BY created_at DESC, id DESC) AS page, min(created_at)::text AS at
          FROM (SELECT i.id, i.created_at, lower(i.client_email) AS client, i.currency, greatest(i.issued_on, ${since}::date) - i.due_date AS "from",
              coalesce(i.paid_on, ${today}::date - 1) - i.due_date AS "to", i.status = 'paid' AS paid, greatest(0, i.amount_minor - i.paid_minor) AS balance,
              ${emails} AS sent
            FROM invoices i
            WHERE i.owner_id = ${id}::uuid AND i.deleted_at IS NULL
              AND (i.status <> 'paid' OR (i.paid_on >= ${since}::date AND i.paid_on <= ${today}::date AND i.paid_at <> i.created_at))
              AND ${after ? sql`(i.created_at, i.id) < (${after.at}::timestamptz, ${after.id}::uuid)` : sql`true`}
            ORDER BY i.created_at DESC, i.id DESC LIMIT ${pageOf}) page`,
    )
    const page = found?.page ?? []
    for (const [invoiceId, client, currency, from, to, paid, balance, sent] of page) {
      const without = (sent ?? []).flatMap((day) => Array.from({ length: causedFor + 1 }, (_none, next) => day + next))
      learned.push({ id: invoiceId, client, currency, from, to, paid, balance, without })
    }
    after = { id: page.at(-1)?.[0] ?? '', at: found?.at ?? '' }
    if (page.length < pageOf) return learned
  }
}
