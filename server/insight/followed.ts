import { sql } from 'drizzle-orm'
import { z } from 'zod'
import type { AdvancedInsights, Effect } from '#contract/insights.ts'
import { type Database, rows } from '#server/platform/database.ts'
import { tenth, type Whose } from './figures.ts'

/** Emails about an invoice after the tenth are not told apart any more: hardly any have so many. */
const mostCounted = 10
/** With fewer emails a share says little. */
const fewestSent = 20

/**
 * How many invoices were paid within 3 and 7 days after the n-th email about them and before the next one. An email counts once 7 days are over, and not if it came back;
 * a payment on the day of the next email counts for that one.
 */
export async function readEffect(db: Database, { id, timezone, today }: Whose): Promise<Effect[]> {
  const found = await rows(
    db,
    z.object({ n: z.number(), sent: z.number(), within3: z.number(), within7: z.number() }),
    sql`SELECT n::int, count(*)::int AS sent,
          count(*) FILTER (WHERE paid_on BETWEEN day AND day + 3 AND (next IS NULL OR paid_on < next))::int AS within3,
          count(*) FILTER (WHERE paid_on BETWEEN day AND day + 7 AND (next IS NULL OR paid_on < next))::int AS within7
        FROM (
          SELECT i.paid_on, m.day, row_number() OVER w AS n, lead(m.day) OVER w AS next
          FROM invoices i JOIN delivery_invoices x ON x.invoice_id = i.id
            JOIN LATERAL (SELECT (d.sent_at AT TIME ZONE ${timezone})::date AS day, d.sent_at, d.id FROM deliveries d
              WHERE d.id = x.delivery_id AND d.state = 'sent' AND d.bounced_at IS NULL) m ON true
          WHERE i.owner_id = ${id}::uuid AND i.deleted_at IS NULL AND i.reminders_sent > 0
          WINDOW w AS (PARTITION BY i.id ORDER BY m.sent_at, m.id)
        ) AS numbered
        WHERE n <= ${mostCounted} AND day <= ${today}::date - 7 GROUP BY n ORDER BY n`,
  )
  return found.map((one) => ({
    ...one,
    interval: one.sent < fewestSent ? null : { within3: wilson(one.within3, one.sent), within7: wilson(one.within7, one.sent) },
  }))
}

/** What a share lies between with 95 % confidence, in percent (Wilson). */
export function wilson(part: number, whole: number): [number, number] {
  const z2 = 1.959964 ** 2
  const p = part / whole
  const middle = (p + z2 / (2 * whole)) / (1 + z2 / whole)
  const half = (Math.sqrt(z2) / (1 + z2 / whole)) * Math.sqrt((p * (1 - p)) / whole + z2 / (4 * whole ** 2))
  return [tenth(100 * Math.max(0, middle - half)), tenth(100 * Math.min(1, middle + half))]
}

type Promises = AdvancedInsights['promises']

/**
 * Which promises of clients were kept: the invoice was paid in full by the end of the promised day. One that was replaced or taken back before
 * that day was over does not count, and one whose day is not over yet only once it is kept.
 */
export async function readPromises(db: Database, { id, timezone, today }: Whose): Promise<Promises> {
  const found = await rows(
    db,
    z.object({ clientId: z.string(), name: z.string(), email: z.string(), kept: z.boolean(), over: z.number() }),
    sql`SELECT coalesce(c.id::text, '') AS "clientId", i.client_name AS name, i.client_email AS email, coalesce(i.paid_on <= x.date, false) AS kept,
          coalesce(i.paid_on, ${today}::date) - x.date AS over
        FROM pay_answers x JOIN invoices i ON i.owner_id = x.owner_id AND i.id = x.invoice_id
          LEFT JOIN clients c ON c.owner_id = i.owner_id AND c.email_key = lower(i.client_email)
        WHERE x.owner_id = ${id}::uuid AND x.kind = 'promise' AND i.deleted_at IS NULL AND (i.paid_on <= x.date OR x.date < ${today}::date)
          AND NOT (x.state IN ('replaced', 'ended') AND (x.closed_at AT TIME ZONE ${timezone})::date <= x.date AND (x.state = 'replaced' OR i.paid_on IS NULL OR i.paid_on > x.date))
        ORDER BY x.at DESC`,
  )
  const clients = [...Map.groupBy(found, ({ email }) => email.toLowerCase()).values()].flatMap((its) => {
    const [newest] = its
    return newest ? [{ clientId: newest.clientId, name: newest.name, email: newest.email, ...keptOf(its) }] : []
  })
  const many = ({ kept, broken }: (typeof clients)[number]) => kept + broken
  return {
    ...keptOf(found),
    clients: clients.toSorted((one, other) => many(other) - many(one) || (one.email < other.email ? -1 : 1)).slice(0, 10),
  }
}

function keptOf(promises: { kept: boolean; over: number }[]): Omit<Promises, 'clients'> {
  const broken = promises.filter(({ kept }) => !kept)
  return {
    kept: promises.length - broken.length,
    broken: broken.length,
    meanDaysOver: broken.length === 0 ? null : tenth(broken.reduce((sum, { over }) => sum + over, 0) / broken.length),
  }
}
