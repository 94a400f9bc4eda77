import type { PlanNotice, SubscriptionStatus } from '#contract/billing.ts'
import type { PaymentType } from '#contract/plans.ts'

const counted = (n: number, one: string, many: string) => `${n.toLocaleString('en-IN')} ${n === 1 ? one : many}`

/** Every word of plans, of paying for them and of what they allow. */
export const texts = {
  cards: {
    loading: 'Loading...',
    current: 'Current Plan',
    manage: 'Manage',
    manageWhat: (plan: string) => `Manage ${plan}`,
    free: 'Get Started Free',
    paid: (plan: string) => `Start ${plan} Trial`,
    failed: (message: string) => `Your plan could not be loaded. ${message}`,
    notLoaded: 'The plans could not be loaded. Please check your connection and reload the page.',
    again: 'Try again',
    trying: 'Trying again...',
    reload: 'Reload the page',
    until: (plan: string, date: string) => `${plan} runs until ${date}.`,
  },

  subscribe: {
    title: (plan: string) => `Subscribe to ${plan}`,
    period: 'Billing Period',
    periods: { monthly: 'Monthly', yearly: 'Yearly' },
    save: (saving: string) => `Save ${saving}`,
    saveHint: (saving: string) => `Save ${saving} compared to monthly billing`,
    type: 'Payment Type',
    types: { onetime: 'One-time Payment', subscription: 'Auto-Recurring' } satisfies Record<PaymentType, string>,
    typeHints: {
      onetime: 'Pay once for the selected period',
      subscription: 'Automatically charge every billing period',
    } satisfies Record<PaymentType, string>,
    per: { monthly: 'per month', yearly: 'per year' },
    credit: (plan: string) => `Left of ${plan}`,
    dueNow: 'To pay now',
    features: 'What is in it',
    payOnce: (price: string, period: string) => `Pay Once - ${price}/${period}`,
    payRest: (price: string) => `Pay Once - ${price} now`,
    subscribe: (price: string, period: string) => `Subscribe - ${price}/${period}`,
    processing: 'Processing...',
    loading: 'Loading...',
    close: 'Cancel',
    footer: 'Secure payment powered by a card payment provider',
    quoteFailed: (message: string) => `What this would cost you could not be found out. ${message}`,
    scriptFailed: (host: string) =>
      `The payment window could not be loaded from ${host}. Check your connection, and whether something in your browser blocks it, then try again.`,
    again: 'Try again',
    trying: 'Trying again...',
    description: (plan: string, period: string) => `${plan}, ${period}`,
    notPaid: (reason: string) => `The payment did not go through: ${reason}`,
    noReason: 'the bank gave no reason.',
    orderFailed: 'Failed to initiate payment',
    subscriptionFailed: 'Failed to initiate subscription',
    paid: 'Payment successful! Your subscription is now active.',
    subscribed: 'Subscription activated successfully! We will contact you for auto-renewal setup.',
    unverified: 'Payment verification failed. Please contact support.',
    subscriptionUnverified: 'Subscription payment verification failed. Please contact support.',
    notLost: 'If you have paid, your plan starts by itself within a few minutes; please do not pay again.',
    confirming: 'Your payment is being confirmed...',
  },

  own: {
    next: (price: string, period: string, date: string) => `${price} are charged every ${period}, next on ${date}.`,
    runs: (plan: string) => `You are on ${plan}.`,
    ends: (plan: string, date: string) => `${plan} ends on ${date} by itself: nothing more is charged. You can buy it again from then on.`,
  },

  cancel: {
    button: 'Cancel Subscription',
    busy: 'Cancelling...',
    title: 'Cancel Subscription',
    question: 'Are you sure you want to cancel your subscription?',
    keepsUntil: (plan: string, date: string) =>
      `${plan} stays open until ${date}. Nothing is charged after that, and then you are on Free; nothing of yours is taken away.`,
    atOnce: (plan: string) =>
      `Nothing is paid for beyond today, so ${plan} ends at once. Nothing is charged any more, and nothing of yours is taken away.`,
    keep: 'Keep it',
    done: 'Subscription cancelled successfully',
    failed: 'Failed to cancel subscription',
    later: 'Subscription cancellation will be available soon',
  },

  free: {
    title: 'Switch to Free',
    lost: (plan: string, date: string) => `${plan} is paid for until ${date}. It would end now, and what is left of it is not given back.`,
    lostPlain: (plan: string) => `${plan} would end now.`,
    instead: 'To use it to the end, cancel it instead: then it ends on that day and nothing more is charged.',
    stays: (invoices: number) => `Your invoices stay. On Free daily reminders wait, and you can create up to ${invoices} invoices a month.`,
    staysInTrial: (invoices: number, date: string) =>
      `Your invoices stay. Your free trial goes on until ${date}. From then on daily reminders wait, and you can create up to ${invoices} invoices a month.`,
    confirm: 'Switch to Free',
    busy: 'Switching...',
    keep: (plan: string) => `Keep ${plan}`,
    done: 'Successfully switched to Free plan!',
    failed: (message: string) => `Failed to activate free plan: ${message}`,
  },

  notices: {
    titles: {
      trial_ending: 'Your free trial ends soon',
      trial_ended: 'Your free trial has ended',
      period_ending: 'Your plan ends soon',
      plan_ended: 'Your plan has ended',
      past_due: 'A payment did not go through',
      confirming: 'Your payment is being confirmed',
    } satisfies Record<PlanNotice['kind'], string>,
    choose: (plan: string) => `Choose ${plan}`,
    look: 'See your plan',
    dismiss: 'Dismiss',
    dismissOne: (title: string) => `Dismiss: ${title}`,
  },

  limits: {
    title: (used: number, of: number) => `${used} of ${of} invoices this month`,
    left: (left: number, plan: string, lifts: string) =>
      `${plan} allows so many a month: ${counted(left, 'more invoice', 'more invoices')} can be created. ${lifts} has no limit.`,
    none: (plan: string, lifts: string, from: string) =>
      `That is all that ${plan} allows in a month. ${lifts} has no limit; on ${plan} you can go on from ${from}. What is there stays as it is.`,
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

  tab: {
    title: 'Subscription',
    plan: 'Plan',
    status: 'Status',
    statuses: { active: 'Active', trialing: 'Trialing', past_due: 'Payment overdue' } satisfies Record<SubscriptionStatus, string>,
    loading: 'Loading your plan...',
    failed: (message: string) => `Your plan could not be loaded. ${message}`,
    price: 'Price',
    per: (price: string, period: string) => `${price} per ${period}`,
    once: (price: string, period: string) => `${price}, paid once for a ${period}`,
    renews: 'Next payment',
    firstPayment: 'First payment',
    ends: 'Ends on',
    trial: 'Free trial',
    trialLeft: (days: number, date: string) => `Every feature of Pro, ${counted(days, 'day', 'days')} left, until ${date}`,
    trialOver: (date: string) => `Ended on ${date}`,
    used: 'Invoices this month',
    usedOf: (used: number, of: number) => `${used} of ${of} used`,
    usedFree: (used: number) => `${used}, no limit`,
    upgrade: 'Upgrade Plan',
    change: 'Change Plan',
    unlimited: 'Payments are not set up on this server. Nothing is limited here: every feature is yours, free of charge.',
  },

  history: {
    title: 'Billing history',
    loading: 'Loading your payments...',
    failed: (message: string) => `Your payments could not be loaded. ${message}`,
    none: 'Nothing has been paid yet. Every payment will stand here, with its receipt number.',
    date: 'Date',
    what: 'What for',
    amount: 'Amount',
    status: 'Status',
    number: 'Payment',
    refunded: (amount: string) => `${amount} given back`,
    statuses: { captured: 'Paid', authorized: 'Being confirmed', failed: 'Failed', refunded: 'Refunded' },
    more: (n: number) => `Show all ${n}`,
  },
}
