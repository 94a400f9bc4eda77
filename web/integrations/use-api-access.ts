import { billingCalls } from '#contract/billing.ts'
import { type Plan, planOf, planThatLifts } from '#contract/plans.ts'
import { useApiQuery } from '#web/platform/query.ts'

/** The plan that somebody is on, and the one that has webhooks and API keys; null where theirs has them, and until that is known: the server decides. */
export function useLackOfApiAccess(): { here: Plan; lifts: Plan } | null {
  const entitled = useApiQuery(billingCalls.subscription).data?.entitlements
  if (!entitled || entitled.abilities.includes('apiAccess')) return null
  return { here: planOf(entitled.plan), lifts: planThatLifts('apiAccess') }
}
