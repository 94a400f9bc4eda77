import { type Call, reaches, roleTexts } from '#contract/call.ts'
import type { Principal } from '#server/platform/answer.ts'
import type { Database } from '#server/platform/database.ts'
import { ProblemError } from '#server/platform/problem-error.ts'
import { ownerOf } from './lock.ts'

/** What a principal may do; not by copying all of it: a program refuses to be asked for its session. */
export function roleOf({ role, kept }: Pick<Principal, 'role' | 'kept'>): Pick<Principal, 'role' | 'kept'> {
  return { role, ...(kept ? { kept } : {}) }
}

/** Refuses with `not_allowed` a principal whose role in the business is below the one that is needed. */
export async function refuseBelow(
  db: Database,
  { role, kept, account }: Pick<Principal, 'role' | 'kept' | 'account'>,
  needed: Call['by'],
): Promise<void> {
  if (needed === null || needed === 'self' || needed === 'viewer' || reaches(role, needed)) return
  const owner = await ownerOf(db, account.id)
  if (kept && reaches(kept, needed)) throw new ProblemError('not_allowed', roleTexts.noTeamPlan(account.displayName, owner.displayName))
  throw new ProblemError('not_allowed', roleTexts.needed(needed, account.displayName, owner.displayName))
}
