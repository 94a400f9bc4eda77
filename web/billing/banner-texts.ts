import type { PlanNotice } from '#contract/billing.ts'
import { count } from '#web/ui/texts.ts'

/** Apart from the other texts of billing, because every screen of the dashboard loads these. */
export const bannerTexts = {
  titles: {
    trial_ending: 'Your free trial ends soon',
    trial_ended: 'Your free trial has ended',
    period_ending: 'Your plan ends soon',
    plan_ended: 'Your plan has ended',
    past_due: 'A payment failed',
    confirming: 'Confirming your payment',
  } satisfies Record<PlanNotice['kind'], string>,
  choose: (plan: string) => `Choose ${plan}`,
  viewPlan: 'View your plan',
  renew: (plan: string) => `Renew ${plan}`,
  limits: {
    title: (used: number, of: number) => (used > of ? `${used} invoices this month` : `${used} of ${of} invoices this month`),
    left: (left: number, plan: string, lifts: string) =>
      `You can create ${count(left, 'more invoice')} this month on ${plan}. ${lifts} has no limit.`,
    none: (plan: string, lifts: string, from: string, over: 'all' | 'more') =>
      `${over === 'all' ? 'You’ve reached' : 'You’re over'} the monthly limit of ${plan}. You can create invoices again from ${from}, or now with ${lifts}, which has no limit.`,
  },
  waiting: {
    title: (lifts: string) => `On hold: daily reminders need ${lifts}`,
    text: 'Send Now still works.',
  },
  trial: {
    text: (date: string) => `It includes daily reminders until ${date}. No card needed.`,
  },
}
