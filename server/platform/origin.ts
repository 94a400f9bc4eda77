import { eq, sql } from 'drizzle-orm'
import { z } from 'zod'
import type { Instant } from './clock.ts'
import { type Database, rows } from './database.ts'
import { serverChecks } from './tables.ts'

const subject = 'database'

/**
 * Where these rows are kept: the cluster, the database in it, and the table. Restoring a dump recreates the tables, possibly in another database, so at
 * least one of the three changes. PostgreSQL keeps all three over restarts, failovers and VACUUM FULL; `pg_upgrade` changes the first.
 */
async function placeOf(db: Database): Promise<string> {
  const [place] = await rows(
    db,
    z.object({ at: z.string() }),
    sql`SELECT concat_ws('/', (SELECT system_identifier FROM pg_control_system()),
          (SELECT oid FROM pg_database WHERE datname = current_database()), 'server_checks'::regclass::oid) AS at`,
  )
  return place?.at ?? ''
}

/** Whether the rows of this database were written somewhere else: it was put back from a backup, or is a copy. */
export async function wasRestored(db: Database): Promise<boolean> {
  const [known] = await db.select().from(serverChecks).where(eq(serverChecks.subject, subject))
  return known !== undefined && known.value !== (await placeOf(db))
}

/** Records where the rows are kept now. */
export async function recordOrigin(db: Database): Promise<void> {
  await record(db, await placeOf(db))
}

/** They are kept elsewhere from now on: a process that starts here finds a restored database. */
export async function renounceOrigin(db: Database): Promise<void> {
  await record(db, 'elsewhere')
}

async function record(db: Database, value: string, about = subject): Promise<void> {
  await db.insert(serverChecks).values({ subject: about, value }).onConflictDoUpdate({ target: serverChecks.subject, set: { value } })
}

const restored = 'restored'

/** Records that these rows were put back from a backup, which does not know what was done between it and this moment. */
export async function recordRestore(db: Database, now: Instant): Promise<void> {
  await record(db, now.toString(), restored)
}

/** When that was last, as a table with one row `at`; without a row: never. */
export const lastRestore = sql`(SELECT ${serverChecks.value}::timestamptz AS at FROM ${serverChecks} WHERE ${serverChecks.subject} = ${restored})`
