import { sql } from 'drizzle-orm'
import { z } from 'zod'
import type { SmartResult } from '#contract/reminders.ts'
import { wasPaid } from '#server/invoices/balance.ts'
import { type Database, rows } from '#server/platform/database.ts'
import { neededPaid } from './smart.ts'
import { texts } from './texts.ts'

/** With fewer invoices in a group a difference says nothing. */
const fewestCompared = 30
/** The quantile of a 90 % interval. */
const z90 = 1.644854

const groupRow = z.object({ compared: z.boolean(), invoices: z.number(), late: z.number(), variance: z.number(), emails: z.number() })
const none = { invoices: 0, late: 0, variance: 0, emails: 0 }

const tenth = (value: number) => Math.round(value * 10) / 10

/**
 * The paid invoices for which a day was chosen, and those that were left as planned by the hash of their id. Both have in common that they were unpaid
 * when the window of a step opened and that enough was known to choose, so they differ by nothing but chance and the choice.
 */
export async function readCompared(db: Database, { id, today }: { id: string; today: string }): Promise<SmartResult> {
  const since = Temporal.PlainDate.from(today).subtract({ months: 24 }).toString()
  const [learned] = await rows(
    db,
    z.object({ paid: z.number() }),
    sql`SELECT count(*)::int AS paid FROM invoices i
        WHERE i.owner_id = ${id}::uuid AND i.deleted_at IS NULL AND i.status = 'paid' AND i.paid_on BETWEEN ${since}::date AND ${today}::date AND i.paid_at <> i.created_at AND ${wasPaid}`,
  )
  const groups = await rows(
    db,
    groupRow,
    sql`SELECT compared, count(*)::int AS invoices, avg(late)::float8 AS late, coalesce(var_samp(late), 0)::float8 AS variance, avg(emails)::float8 AS emails
        FROM (
          SELECT i.paid_on - i.due_date AS late, i.reminders_sent AS emails, bool_or(c.reason ->> 'kind' = 'compared') AS compared
          FROM smart_choices c JOIN invoices i ON i.id = c.invoice_id
          WHERE c.owner_id = ${id}::uuid AND c.reason ->> 'kind' <> 'learning' AND i.deleted_at IS NULL AND i.status = 'paid' AND i.paid_on IS NOT NULL
          GROUP BY i.id
        ) AS chosen GROUP BY compared`,
  )
  const smart = groups.find(({ compared }) => !compared) ?? none
  const planned = groups.find(({ compared }) => compared) ?? none
  const shown = ({ invoices, late, emails }: typeof none) => ({
    invoices,
    daysLate: invoices === 0 ? null : tenth(late),
    emails: invoices === 0 ? null : tenth(emails),
  })
  const isEnough = Math.min(smart.invoices, planned.invoices) >= fewestCompared
  const half = isEnough ? z90 * Math.sqrt(smart.variance / smart.invoices + planned.variance / planned.invoices) : 0
  const interval: SmartResult['interval'] = isEnough
    ? [tenth(smart.late - planned.late - half), tenth(smart.late - planned.late + half)]
    : null
  const paid = learned?.paid ?? 0
  const isLearning = paid < neededPaid.account
  const isNone = Math.min(smart.invoices, planned.invoices) === 0
  const t = texts.smart
  return {
    paid,
    needed: neededPaid.account,
    smart: shown(smart),
    planned: shown(planned),
    interval,
    words: isLearning
      ? t.learning(paid, neededPaid.account)
      : isNone
        ? t.tooFew
        : t.found({ smart: tenth(smart.late), planned: tenth(planned.late) }, { smart: smart.invoices, planned: planned.invoices }),
    says: isLearning || isNone ? null : interval === null ? t.tooFew : interval[0] <= 0 && interval[1] >= 0 ? t.noDifference : null,
  }
}
