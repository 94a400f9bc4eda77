import { sql } from 'drizzle-orm'
import { z } from 'zod'
import type { Instant } from '#server/platform/clock.ts'
import { columnText, type Database, rows } from '#server/platform/database.ts'
import { dayAfter, startOfDay } from './schedule.ts'

/** The most missed days that are recorded after a long time without a process. */
export const mostSkippedDays = 31

/**
 * Fills the gaps of earlier days: an invoice added, already past due, after the run of its day, and every invoice on a day without a
 * process.
 */
export async function completeEarlierDays(
  tx: Database,
  those: { id: string; timezone: string; date: string }[],
  now: Instant,
): Promise<void> {
  const ends = new Map<string, string>()
  const endOf = (date: string, timezone: string) => {
    const key = `${date} ${timezone}`
    const end = ends.get(key) ?? startOfDay(dayAfter(date), timezone).toString()
    ends.set(key, end)
    return end
  }
  const days = await rows(
    tx,
    z.object({ ownerId: z.string(), timezone: z.string(), date: z.string(), rule: z.string(), note: z.string().nullable() }),
    // A run cancelled before it was complete has decided nothing about the rest.
    sql`SELECT DISTINCT ON (r.owner_id, r.local_date) r.owner_id AS "ownerId", w.timezone, r.local_date::text AS date, r.skipped_reason AS note,
          CASE WHEN r.skipped_reason IS NOT NULL THEN 'not_running' WHEN r.planned_at IS NULL THEN 'cancelled' ELSE 'added_later' END AS rule
        FROM unnest(${columnText(those, ({ id }) => id)}::uuid[], ${columnText(those, ({ timezone }) => timezone)}::text[], ${columnText(those, ({ date }) => date)}::date[]) AS w (owner_id, timezone, before)
        JOIN runs r ON r.owner_id = w.owner_id AND r.kind IN ('daily', 'start') AND r.local_date < w.before AND r.local_date >= greatest(w.before - ${mostSkippedDays}::int, (
          SELECT max(x.local_date) FROM runs x WHERE x.owner_id = w.owner_id AND x.kind = 'daily' AND x.skipped_reason IS NULL AND x.local_date < w.before))
        ORDER BY r.owner_id, r.local_date, r.skipped_reason NULLS FIRST, r.planned_at NULLS LAST`,
  )
  if (days.length === 0) return
  await tx.execute(sql`
    INSERT INTO decisions (owner_id, invoice_id, local_date, rule, note, decided_at)
    SELECT i.owner_id, i.id, d.date, d.rule, d.note, ${now.toString()}::timestamptz
    FROM unnest(${columnText(days, ({ ownerId }) => ownerId)}::uuid[], ${columnText(days, ({ date }) => date)}::date[], ${columnText(days, ({ rule }) => rule)}::text[], ${columnText(days, ({ note }) => note)}::text[],
      ${columnText(days, ({ date, timezone }) => endOf(date, timezone))}::timestamptz[]) AS d (owner_id, date, rule, note, ended)
    JOIN invoices i ON i.owner_id = d.owner_id AND i.deleted_at IS NULL AND i.due_date < d.date AND i.created_at < d.ended AND (i.status <> 'paid' OR i.paid_at >= d.ended)
    ON CONFLICT (invoice_id, local_date) DO NOTHING`)
}
