import { type Call, reaches } from '#contract/call.ts'
import type { Principal } from '#server/platform/answer.ts'
import { ProblemError } from '#server/platform/problem-error.ts'
import { refusals } from './texts.ts'

/** Refuses with `not_allowed` a principal whose role in the business is below the one that is needed. */
export function refuseBelow({ role, account }: Pick<Principal, 'role' | 'account'>, needed: Call['by']): void {
  if (needed === null || needed === 'self' || needed === 'viewer' || reaches(role, needed)) return
  throw new ProblemError('not_allowed', refusals.roleNeeded(needed, account.displayName, account.displayName))
}
