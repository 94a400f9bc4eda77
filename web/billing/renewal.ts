import type { Subscription } from '#contract/billing.ts'

/** Whether the current plan can be bought again now. */
export function isOpen(renewableFrom: string | null): boolean {
  return renewableFrom !== null && Date.parse(renewableFrom) <= Date.now()
}

/** Changes whenever a purchase of the plan takes effect, also of the plan that runs already. */
export function purchaseMark({ plan, paymentType, currentPeriodEnd }: Subscription): string {
  return `${plan} ${paymentType} ${currentPeriodEnd}`
}
