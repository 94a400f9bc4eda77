import type { PlanNotice } from '#contract/billing.ts'

const counted = (n: number, one: string, many: string) => `${n.toLocaleString('en-IN')} ${n === 1 ? one : many}`

/** Every word of what stands above a screen about the plan, apart from the rest: it is on every one of them. */
export const bannerTexts = {
  titles: {
    trial_ending: 'Your free trial ends soon',
    trial_ended: 'Your free trial has ended',
    period_ending: 'Your plan ends soon',
    plan_ended: 'Your plan has ended',
    past_due: 'A payment did not go through',
    confirming: 'Your payment is on its way',
  } satisfies Record<PlanNotice['kind'], string>,
  choose: (plan: string) => `Choose ${plan}`,
  look: 'See your plan',
  dismiss: 'Dismiss',
  dismissOne: (title: string) => `Dismiss: ${title}`,
  limits: {
    title: (used: number, of: number) => (used > of ? `${used} invoices this month` : `${used} of ${of} invoices this month`),
    left: (left: number, plan: string, lifts: string) =>
      `${plan} allows so many a month: ${counted(left, 'more invoice', 'more invoices')} can be created. ${lifts} has no limit.`,
    none: (plan: string, lifts: string, from: string, over: 'all' | 'more') =>
      `That is ${over === 'all' ? 'all that' : 'more than'} ${plan} allows in a month. ${lifts} has no limit; on ${plan} you can go on from ${from}. What is there stays as it is.`,
    byHand: {
      title: (lifts: string) => `Daily reminders are part of ${lifts}`,
      text: (plan: string, lifts: string) =>
        `On ${plan} you remind by hand, with Send Now. Choose ${lifts}, and reminders go out by themselves every day.`,
    },
    waiting: {
      title: 'Your daily reminders wait',
      text: (plan: string, lifts: string) =>
        `They are switched on, but ${plan} sends none by itself: each day is written down as held back. Choose ${lifts}, and they go on the same day. Send Now works as ever.`,
    },
    trial: {
      title: (days: number) => `${counted(days, 'day', 'days')} left of your free trial`,
      text: (lifts: string, date: string) =>
        `Daily reminders are part of ${lifts}, and open to you until ${date}. Nothing has to be paid for that.`,
    },
  },
}
