import { type Column, type SQL, sql } from 'drizzle-orm'
import { z } from 'zod'
import { arrayText, type Database, rows } from './database.ts'

/** What the database knows, in small letters; null before it was asked. */
let known: string[] | null = null
/** Zones of accounts that it does not know: none, as a rule. */
let strange: string[] = []

/** Asks once which zones the database knows: its data may be older than those of this runtime, or lack former names. */
export async function learnZones(db: Database): Promise<void> {
  const named = z.object({ name: z.string() })
  known = (await rows(db, named, sql`SELECT lower(name) AS name FROM pg_timezone_names`)).map(({ name }) => name)
  // By name: accounts are in a slice above.
  const found = await rows(
    db,
    named,
    sql`SELECT DISTINCT timezone AS name FROM accounts WHERE lower(timezone) <> ALL(${arrayText(known)}::text[])`,
  )
  strange = found.map(({ name }) => name)
}

/** Whether this runtime and the database can reckon in the zone. The browser's formatter knows more old names, such as IST. */
export function isZone(timezone: string): boolean {
  try {
    Temporal.PlainDate.from('2026-01-01').toZonedDateTime(timezone)
    return /^[A-Za-z]/.test(timezone) && (known?.includes(timezone.toLowerCase()) ?? true)
  } catch {
    return false
  }
}

/**
 * The zone that a column names, for a statement about many accounts: UTC where the database does not know it, because one account must not fail
 * the statement for all. Such a zone is from before the database was replaced by an older one.
 */
export function zoneOf(column: Column): SQL {
  return strange.length > 0 ? sql`CASE WHEN ${column} = ANY(${arrayText(strange)}::text[]) THEN 'UTC' ELSE ${column} END` : sql`${column}`
}
