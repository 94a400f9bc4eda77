import { sql } from 'drizzle-orm'
import { openEmbedded } from '#server/platform/database.ts'

/**
 * Backdates the accounts in a folder and adds to their monthly usage, while no program runs on it: a real program on a real clock would need
 * weeks for.
 */
export async function makeOlder(dataDir: string, about: { email: string; days: number; invoicesThisMonth: number }): Promise<void> {
  const { db, close } = await openEmbedded(dataDir)
  await db.execute(sql`UPDATE accounts SET created_at = created_at - make_interval(days => ${about.days}) WHERE email = ${about.email}`)
  await db.execute(sql`INSERT INTO invoice_counts (owner_id, month, created)
    SELECT id, to_char(now() AT TIME ZONE timezone, 'YYYY-MM'), ${about.invoicesThisMonth} FROM accounts WHERE email = ${about.email}`)
  await close()
}
