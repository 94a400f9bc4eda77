import { sql } from 'drizzle-orm'
import { z } from 'zod'
import type { Instant } from '#server/platform/clock.ts'
import { arrayText, changed, type Database, rows } from '#server/platform/database.ts'
import { stopAll } from './reminders.ts'

/** Rows deleted by one statement, so that none takes long: on the embedded database every call waits for it. */
const atOnce = { decisions: 5_000, emails: 1_000, invoices: 500 }

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
    await repeatedly(
      db,
      atOnce.decisions,
      (most) => sql`
        DELETE FROM decisions WHERE ctid = ANY(ARRAY(SELECT x.ctid FROM decisions x WHERE x.invoice_id = ANY(${some}::uuid[]) LIMIT ${most}::int))`,
    )
  }
  await repeatedly(
    db,
    atOnce.emails,
    (most) => sql`
      DELETE FROM deliveries WHERE id = ANY(ARRAY(
        SELECT d.id FROM deliveries d WHERE d.owner_id = ${ownerId}::uuid AND d.state IN ('sent', 'failed', 'cancelled', 'superseded') LIMIT ${most}::int))`,
  )
  await repeatedly(
    db,
    atOnce.invoices,
    (most) => sql`
      DELETE FROM invoices WHERE id = ANY(ARRAY(
        SELECT i.id FROM invoices i WHERE i.owner_id = ${ownerId}::uuid
          AND NOT EXISTS (SELECT 1 FROM delivery_invoices o WHERE o.invoice_id = i.id AND o.open) LIMIT ${most}::int))`,
  )
}

/** Runs a statement that changes at most `most` rows until it finds fewer; returns how many rows it changed. */
async function repeatedly(db: Database, most: number, statement: (most: number) => ReturnType<typeof sql>): Promise<number> {
  for (let total = 0; ; ) {
    const count = await changed(db, statement(most))
    total += count
    if (count < most) return total
  }
}
