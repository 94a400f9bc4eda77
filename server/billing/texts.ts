import { formatPrice } from '#contract/plans.ts'

/** The start of a `payment_refused` message: which action failed. */
export const failed = {
  order: 'Failed to initiate payment',
  subscription: 'Failed to initiate subscription',
  cancel: 'Failed to cancel subscription',
  end: 'The plan was not ended',
}

/** Messages of refused calls. */
export const refusals = {
  fullTeam: (plan: string) => `Every seat of the plan is taken. ${plan} has 10 seats, and 10 for viewers.`,
  secondUnpaid: 'You own a business without a paid plan already. Choose a plan for it before you add another.',
  notSetUp: 'Payments are not set up on this server.',
  cancelNotSetUp: 'Subscription cancellation will be available soon',
  webhooksNotSetUp: 'Webhooks are not set up on this server.',
  webhookSignature: 'The signature of this webhook is invalid.',
  signIn: 'Please sign in.',
  nothingToCancel: 'You are on Free: there is no subscription to cancel.',
  noPurchase: 'There is no such purchase.',
  orderNotVerified: 'Payment verification failed. Please contact support.',
  subscriptionNotVerified: 'Subscription payment verification failed. Please contact support.',
  pending: 'Your payment is not complete yet. Your plan starts automatically once it is. Please do not pay again.',
  unconfirmed:
    'The payment provider has not confirmed your payment yet. Your plan starts automatically once it does. Please do not pay again.',
  /** What the provider answered, in its own words. */
  providerSays: (failure: string, message: string) => `${failure}. The payment provider says: ${message}`,
  providerDown: (failure: string, comfort: string) =>
    `${failure}. The payment provider is not responding correctly. ${comfort}Please try again in a few minutes.`,
  nothingCharged: 'Nothing was charged. ',
  runsUntil: (plan: string, date: string) => `You have ${plan} until ${date}. You can buy it again after that.`,
  renewableFrom: (plan: string, date: string, from: string) =>
    `You have ${plan} until ${date}. You can buy it again from ${from}, to continue from ${date}.`,
  runsAlready: (plan: string) => `You already have ${plan}.`,
  invoiceLimit: (about: { plan: string; perMonth: number; over: boolean; next: string; lifts: string }) =>
    `${about.plan} includes ${about.perMonth} invoices a month, and you have created ${about.over ? 'more' : 'as many'}. ${about.lifts} has no limit. On ${about.plan} you can continue from ${about.next}.`,
  mostInMonth: (most: number, next: string) =>
    `An account can create ${most.toLocaleString('en-IN')} invoices a month, and yours has created that many. You can continue from ${next}.`,
  noScheduling: (lifts: string) => `Daily reminders need ${lifts}: choose it under Pricing. Send Now works without it.`,
  notIncluded: (wanted: string, lifts: string) => `${wanted} need ${lifts}: choose it under Pricing.`,
}

/** The plan of an account, in one voice. */
export const states = {
  trial: (plan: string, days: number) => `${plan} trial, ${days} ${days === 1 ? 'day' : 'days'} left`,
  until: (plan: string, date: string) => `${plan} until ${date}`,
  renews: (plan: string, date: string) => `${plan}, renews on ${date}`,
  firstCharge: (plan: string, date: string) => `${plan}, first charge on ${date}`,
  pastDue: (plan: string) => `${plan}, payment overdue`,
}

/** The sentences of a quote. */
export const quote = {
  today: (minor: number) => (minor === 0 ? 'No charge today.' : `${formatPrice(minor)} today.`),
  nextCharge: (minor: number, date: string, period: string) => `Next charge: ${formatPrice(minor)} on ${date}, then every ${period}.`,
  noNextCharge: 'No further charge.',
  credit: (creditMinor: number, plan: string) => `Includes a ${formatPrice(creditMinor)} credit from your current ${plan} plan.`,
  follows: (plan: string, date: string) => `It begins on ${date}, when your present ${plan} ends.`,
  replaces: (plan: string) => `It replaces ${plan} immediately.`,
  inTrial: (plan: string, date: string, period: string) =>
    `Your free trial of ${plan} runs until ${date}. One-time: your ${period} starts today. Auto-Recurring: the first charge is after the trial.`,
  runsUntil: (plan: string, date: string) => `${plan} then runs until ${date}.`,
}

const within = (days: number) => (days <= 1 ? 'within a day' : `in ${days} days`)

/** Notices about the plan, shown on screens and sent by email. */
export const notices = {
  confirming: 'Your payment is being confirmed. Your plan starts automatically once it is. Please do not pay again.',
  pastDue: (plan: string) =>
    `Your last payment for ${plan} failed. We’ll try again over the next few days; your plan stays active until then.`,
  periodEnding: (plan: string, date: string, days: number) =>
    `${plan} ends on ${date}, ${within(days)}. You then move to Free: your data stays, and daily reminders are put on hold.`,
  renew: (plan: string, date: string, days: number) =>
    `${plan} ends on ${date}, ${within(days)}. Buy it again to continue from that day; otherwise you move to Free: your data stays, and daily reminders are put on hold.`,
  planEnded: (plan: string, date: string) =>
    `${plan} ended on ${date}. You are now on Free: your data stays, and daily reminders are on hold until you choose a plan.`,
  trialEnding: (plan: string, date: string, days: number) =>
    `Your free trial of ${plan} ends on ${date}, ${within(days)}. Choose ${plan} to keep daily reminders.`,
  trialEnded: (plan: string, date: string) =>
    `Your free trial of ${plan} ended on ${date}. Your data stays, and daily reminders are on hold until you choose ${plan}.`,
}

/** The button of an email about a plan that ends. */
export const choosePlan = 'See the plans'

export const subjects = {
  periodEnding: (days: number) => (days <= 1 ? 'Your plan ends tomorrow' : `Your plan ends in ${days} days`),
  trialEnding: 'Your free trial ends soon',
  trialEnded: 'Your free trial has ended',
  planEnded: 'Your plan has ended',
}
