import { eq } from 'drizzle-orm'
import type { Database } from '#server/platform/database.ts'
import { ProblemError } from '#server/platform/problem-error.ts'
import { type AccountRow, accounts } from './tables.ts'
import { refusals } from './texts.ts'

/** Locks the account's row until the transaction ends. It serialises runs and invoice numbers. */
export async function lockAccount(tx: Database, id: string): Promise<AccountRow | null> {
  const [row] = await tx.select().from(accounts).where(eq(accounts.id, id)).for('update')
  return row ?? null
}

/**
 * Locks the account of a request as it was authenticated. Refuses with `not_signed_in` where it was deleted, or its credentials changed, since:
 * a slow request must not store anything in an account that was taken over meanwhile.
 */
export async function lockAsSeen(tx: Database, seen: Pick<AccountRow, 'id' | 'passwordHash' | 'googleSub'>): Promise<AccountRow> {
  const row = await lockAccount(tx, seen.id)
  if (!row || row.passwordHash !== seen.passwordHash || row.googleSub !== seen.googleSub)
    throw new ProblemError('not_signed_in', refusals.signIn)
  return row
}
