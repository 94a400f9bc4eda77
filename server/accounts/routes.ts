import { accountCalls } from '#contract/accounts.ts'
import { type App, answer } from '#server/platform/answer.ts'
import type { Deps } from '#server/platform/deps.ts'
import { toProfile } from './accounts.ts'

export function accountRoutes(app: App, _deps: Deps): void {
  answer(app, accountCalls.profile, async (_parts, { account }) => toProfile(account))
}
