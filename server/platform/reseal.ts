import { sql } from 'drizzle-orm'
import { z } from 'zod'
import { changed, type Database, rows } from './database.ts'
import { seal, sealMark, unseal } from './secrets.ts'

/** A column of sealed secrets. */
export interface SealedColumn {
  table: string
  column: string
  /** The column that names the row. */
  key: string
  /** Another column that the place names; by default the same. */
  within?: string
  purpose: string
  /** Where a secret of this row is bound to. */
  place(key: string, within: string): string
}

const batch = 200

/**
 * Re-encrypts every secret of a column with the first line of the secret key. A row is updated only if it is unchanged since it was read, so that
 * concurrent saves are kept. Answers how many were re-encrypted, and how many do not open.
 */
export async function reseal(db: Database, secretKey: string, of: SealedColumn): Promise<{ done: number; closed: number }> {
  const [table, column, key] = [sql.identifier(of.table), sql.identifier(of.column), sql.identifier(of.key)]
  const within = sql.identifier(of.within ?? of.key)
  const mark = sealMark(secretKey, of.purpose)
  let [done, closed, last] = [0, 0, '00000000-0000-0000-0000-000000000000']
  for (;;) {
    const found = await rows(
      db,
      z.object({ key: z.string(), within: z.string(), sealed: z.string() }),
      sql`SELECT ${key} AS key, ${within} AS within, ${column} AS sealed FROM ${table}
          WHERE ${column} IS NOT NULL AND NOT starts_with(${column}, ${mark}) AND ${key} > ${last}::uuid ORDER BY ${key} LIMIT ${batch}`,
    )
    for (const one of found) {
      last = one.key
      const plain = opened(() => unseal(secretKey, of.purpose, of.place(one.key, one.within), one.sealed))
      if (plain === null) closed += 1
      else {
        const resealed = seal(secretKey, of.purpose, of.place(one.key, one.within), plain)
        done += await changed(
          db,
          sql`UPDATE ${table} SET ${column} = ${resealed} WHERE ${key} = ${one.key}::uuid AND ${column} = ${one.sealed}`,
        )
      }
    }
    if (found.length < batch) return { done, closed }
  }
}

function opened(open: () => string): string | null {
  try {
    return open()
  } catch {
    return null
  }
}
