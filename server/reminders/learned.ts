import { setImmediate } from 'node:timers/promises'
import { sql } from 'drizzle-orm'
import { z } from 'zod'
import { wasPaid } from '#server/invoices/balance.ts'
import { type Database, rows } from '#server/platform/database.ts'
import type { Watched } from './hazard.ts'

/** An invoice that is not paid, and what is left to pay of it. Days are counted from its due date. */
export interface OpenInvoice {
  id: string
  client: string
  balance: number
  currency: string
  /** The first day on which it could have been paid, and the last one that is over. */
  from: number
  to: number
}

/** What an account learns from. The open invoices are among those watched. */
export interface Learned {
  watched: Watched[]
  open: OpenInvoice[]
}

/** So many days after an email a payment may have been caused by it. */
export const causedFor = 3

const pageRow = z.object({
  clients: z.array(z.tuple([z.string(), z.string(), z.string().nullable()])).nullable(),
  /** Where the next page begins; null: there is none. */
  last: z.tuple([z.string(), z.string()]).nullable(),
})

/**
 * The invoices of 24 months, each from the day it was issued until it was paid or yesterday. One that was created as paid has no known day of payment.
 * `afterEmails`: whether the days after emails count. A forecast expects that emails continue as they were; for smart reminders payments that emails
 * caused are no habit. `pageOf`: so many are read by one statement, which the embedded database cannot interrupt; other calls have their turn between
 * two. A page comes as a few numbers for each invoice in one text for each client: a row or an object for each takes six times as long.
 */
export async function readLearned(
  db: Database,
  { id, today, timezone }: { id: string; today: string; timezone: string },
  { afterEmails, pageOf = 10_000 }: { afterEmails: boolean; pageOf?: number },
): Promise<Learned> {
  const since = Temporal.PlainDate.from(today).subtract({ months: 24 }).toString()
  const emails = afterEmails
    ? sql`NULL`
    : sql`CASE WHEN i.reminders_sent > 0 THEN (SELECT string_agg(((d.sent_at AT TIME ZONE ${timezone})::date - i.due_date)::text, ',')
          FROM delivery_invoices x JOIN deliveries d ON d.id = x.delivery_id WHERE x.invoice_id = i.id AND d.state = 'sent' AND d.bounced_at IS NULL) END`
  const learned: Learned = { watched: [], open: [] }
  for (let after = null as [string, string] | null; ; await setImmediate()) {
    const [page] = await rows(
      db,
      pageRow,
      sql`WITH page AS MATERIALIZED (
          SELECT i.id, i.created_at, lower(i.client_email) AS client, i.currency, greatest(i.issued_on, ${since}::date) - i.due_date AS "from",
            coalesce(i.paid_on, ${today}::date - 1) - i.due_date AS "to", i.status = 'paid' AS paid, greatest(0, i.amount_minor - i.paid_minor) AS balance,
            ${emails} AS sent, row_number() OVER (ORDER BY i.created_at DESC NULLS LAST, i.id DESC NULLS LAST) AS nth
          FROM invoices i
          WHERE i.owner_id = ${id}::uuid AND i.deleted_at IS NULL
            AND (i.status <> 'paid' OR (i.paid_on >= ${since}::date AND i.paid_on <= ${today}::date AND i.paid_at <> i.created_at AND ${wasPaid}))
            AND ${after ? sql`(i.created_at, i.id) < (${after[0]}::timestamptz, ${after[1]}::uuid)` : sql`true`}
          ORDER BY nth LIMIT ${pageOf})
        SELECT (SELECT json_agg(json_build_array(client, watched, open)) FROM (
            SELECT client, string_agg(concat_ws(',', "from", "to", paid::int, sent), ' ') AS watched,
              string_agg(concat_ws(',', id, balance, currency, "from", "to"), ' ') FILTER (WHERE NOT paid) AS open
            FROM page GROUP BY client) c) AS clients,
          (SELECT json_build_array(created_at::text, id) FROM page WHERE nth = ${pageOf}) AS last`,
    )
    for (const [client, watched, open] of page?.clients ?? []) {
      for (const one of watched.split(' ')) learned.watched.push(toWatched(client, one))
      for (const one of open?.split(' ') ?? []) learned.open.push(toOpen(client, one))
    }
    after = page?.last ?? null
    if (!after) return learned
  }
}

function toWatched(client: string, text: string): Watched {
  const [from = 0, to = 0, paid, ...sent] = text.split(',').map(Number)
  const watched = { client, from, to, paid: paid === 1 }
  if (sent.length === 0) return watched
  return { ...watched, without: sent.flatMap((day) => Array.from({ length: causedFor + 1 }, (_none, next) => day + next)) }
}

function toOpen(client: string, text: string): OpenInvoice {
  const [id = '', balance, currency = '', from, to] = text.split(',')
  return { id, client, balance: Number(balance), currency, from: Number(from), to: Number(to) }
}
