import { type SQL, sql } from 'drizzle-orm'
import { z } from 'zod'
import type { Instant } from '#server/platform/clock.ts'
import { arrayText, changed, type Database, rows } from '#server/platform/database.ts'
import { stopAll } from './reminders.ts'

/** Rows changed by one statement, so that none takes long: on the embedded database every call waits for it. */
const atOnce = { decisions: 5_000, deliveries: 1_000, invoices: 500, runs: 1_000 }
/** How many years the bytes of an email are kept at most, and how many its row, its run and its decisions. */
const mostYears = { bytes: 3, rows: 7 }
/** After so many days an email about an open invoice is looked at again. */
const againDays = 7

const finished = sql`('sent', 'failed', 'cancelled', 'superseded')`

const ago = (now: Instant, years: number) => now.toZonedDateTimeISO('UTC').subtract({ years }).toInstant()

/**
 * Drops the stored bytes of finished emails, `days` after the last of their invoices was paid or deleted and `days` after they were made, or
 * after three years. While an invoice is open they are the evidence. Subject, times and the mail server's reply stay.
 */
export async function dropOldBytes(db: Database, now: Instant, days: number): Promise<void> {
  const before = now.subtract({ hours: 24 * days }).toString()
  const settled = sql`least(CASE WHEN i.status = 'paid' THEN coalesce(i.paid_at, i.updated_at) END, i.deleted_at)`
  for (const due of [
    sql`d.bytes_due_at IS NULL AND d.created_at <= ${before}::timestamptz`,
    sql`d.bytes_due_at <= ${now.toString()}::timestamptz`,
  ])
    await repeatedly(
      db,
      atOnce.deliveries,
      (most) => sql`
      UPDATE deliveries d SET bytes_due_at = judged.again, raw = CASE WHEN judged.again IS NOT NULL THEN d.raw END
      FROM (
        SELECT d.id, CASE
            WHEN d.last_at <= ${now.toString()}::timestamptz THEN NULL
            WHEN about.open THEN least(${now.add({ hours: 24 * againDays }).toString()}::timestamptz, d.last_at)
            WHEN about.settled > ${before}::timestamptz THEN least(about.settled + make_interval(hours => ${24 * days}::int), d.last_at) END AS again
        FROM (SELECT d.id, d.created_at, d.created_at + make_interval(years => ${mostYears.bytes}::int) AS last_at FROM deliveries d WHERE d.raw IS NOT NULL AND d.state IN ${finished} AND ${due}
              ORDER BY d.bytes_due_at, d.created_at LIMIT ${most}::int) d
        CROSS JOIN LATERAL (
          SELECT coalesce(bool_or(${settled} IS NULL), false) AS open, max(${settled}) AS settled
          FROM delivery_invoices x JOIN invoices i ON i.id = x.invoice_id WHERE x.delivery_id = d.id) about) judged
      WHERE d.id = judged.id`,
    )
}

/** Deletes decisions, finished emails and runs after seven years. */
export async function deleteOldRows(db: Database, now: Instant): Promise<void> {
  const before = sql`${ago(now, mostYears.rows).toString()}::timestamptz`
  await deleteRows(db, 'decisions', sql`t.decided_at < ${before}`)
  await deleteRows(
    db,
    'deliveries',
    sql`t.created_at < ${before} AND t.state IN ${finished} AND NOT EXISTS (SELECT 1 FROM decisions x WHERE x.owner_id = t.owner_id AND x.delivery_id = t.id)`,
  )
  await deleteRows(
    db,
    'runs',
    sql`t.created_at < ${before} AND NOT EXISTS (SELECT 1 FROM deliveries d WHERE d.run_id = t.id OR d.pulled_by_run_id = t.id)
      AND NOT EXISTS (SELECT 1 FROM runs o WHERE o.owner_id = t.owner_id AND o.retry_of = t.id)`,
  )
}

/**
 * Before an account is deleted: stops its reminders, and deletes its finished emails, decisions and invoices in chunks. What is still open
 * goes with the account. If the process dies meanwhile, the account still exists, without a part of its history, and can be deleted again.
 */
export async function deleteHistory(db: Database, ownerId: string, now: Instant): Promise<void> {
  await db.transaction((tx) => stopAll(tx, ownerId, now))
  const owned = await rows(db, z.object({ id: z.string() }), sql`SELECT id FROM invoices WHERE owner_id = ${ownerId}::uuid ORDER BY id`)
  const ids = owned.map(({ id }) => id)
  for (let from = 0; from < ids.length; from += atOnce.invoices) {
    const some = arrayText(ids.slice(from, from + atOnce.invoices))
    await deleteRows(db, 'decisions', sql`t.invoice_id = ANY(${some}::uuid[])`)
  }
  await deleteRows(db, 'deliveries', sql`t.owner_id = ${ownerId}::uuid AND t.state IN ${finished}`)
  const isOpen = sql`EXISTS (SELECT 1 FROM delivery_invoices o WHERE o.invoice_id = t.id AND o.open)`
  await deleteRows(db, 'invoices', sql`t.owner_id = ${ownerId}::uuid AND NOT ${isOpen}`)
}

/** Deletes the rows `t` of a table that match, by their physical address: decisions have no id of their own. */
function deleteRows(db: Database, table: keyof typeof atOnce, which: SQL): Promise<void> {
  const from = sql.identifier(table)
  return repeatedly(
    db,
    atOnce[table],
    (most) => sql`DELETE FROM ${from} WHERE ctid = ANY(ARRAY(SELECT t.ctid FROM ${from} t WHERE ${which} LIMIT ${most}::int))`,
  )
}

/** Runs a statement that changes at most `most` rows until it finds none: it finds fewer also where another one has just changed some. */
async function repeatedly(db: Database, most: number, statement: (most: number) => SQL): Promise<void> {
  for (let count = most; count > 0; ) count = await changed(db, statement(most))
}
