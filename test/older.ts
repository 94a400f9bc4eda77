import { sql } from 'drizzle-orm'
import { openEmbedded } from '#server/platform/database.ts'

/**
 * Backdates the accounts in a folder and adds to their monthly usage, while no program runs on it: a real program on a real clock would need
 * weeks for.
 */
export async function makeOlder(dataDir: string, about: { email: string; days: number; invoicesThisMonth: number }): Promise<void> {
  const { db, close } = await openEmbedded(dataDir)
  const owned = sql`id IN (SELECT m.owner_id FROM memberships m JOIN people p ON p.id = m.person_id WHERE p.email = ${about.email})`
  await db.execute(sql`UPDATE accounts SET created_at = created_at - make_interval(days => ${about.days}) WHERE ${owned}`)
  await db.execute(sql`INSERT INTO invoice_counts (owner_id, month, created)
    SELECT id, to_char(now() AT TIME ZONE timezone, 'YYYY-MM'), ${about.invoicesThisMonth} FROM accounts WHERE ${owned}`)
  await close()
}
