import { z } from 'zod'
import { call } from './call.ts'
import { abilities, billingPeriods, paidPlanNames, paymentTypes, planNames } from './plans.ts'

const planName = z.enum(planNames)
const paidPlanName = z.enum(paidPlanNames, 'Please choose the plan pro or enterprise.')
const billingPeriod = z.enum(billingPeriods, 'Please choose monthly or yearly.')
const paymentType = z.enum(paymentTypes, 'Please choose onetime or subscription.')
const ability = z.enum(abilities)

/**
 * `active`: paid for, or Free. `trialing`: a subscription whose first charge is still to come. `past_due`: a charge failed and is tried
 * again; everything stays open meanwhile. All three count as the current plan.
 */
const subscriptionStatus = z.enum(['active', 'trialing', 'past_due'])
export type SubscriptionStatus = z.infer<typeof subscriptionStatus>

/** What the account may do at this moment. What exists is never taken away: limits are about new things only. */
export const entitlements = z.object({
  /** The plan whose features are open: `pro` in the trial of a new account. */
  plan: planName,
  /** Why they are: the plan itself, the 14 days of a new account, or that this server limits nothing. */
  by: z.enum(['plan', 'trial', 'unlimited_server']),
  /** How many invoices may be created in a calendar month; null: any number. */
  invoicesPerMonth: z.number().int().nullable(),
  abilities: z.array(ability),
  /** When they end automatically: the end of the trial or of the paid period; null: open-ended. */
  until: z.string().nullable(),
})

const planNotice = z.object({
  kind: z.enum(['trial_ending', 'trial_ended', 'period_ending', 'plan_ended', 'past_due', 'confirming']),
  /** The moment it is about. */
  at: z.string(),
  /** Whole days until then, rounded up; 0 once it is past. */
  daysLeft: z.number().int(),
  /** One or two sentences for a banner. */
  message: z.string(),
})
export type PlanNotice = z.infer<typeof planNotice>

export const subscription = z.object({
  /** The plan's name in one voice: `Pro trial, 4 days left`, `Free`, `Pro until 22/12/2026`. Every screen shows this. */
  state: z.string(),
  /** When money is charged next, of a subscription; null where nothing is. */
  nextChargeAt: z.string().nullable(),
  /** A plan that was paid once can be bought again: from this moment, to begin when it ends. Null where that does not apply. */
  renewableFrom: z.string().nullable(),
  /** The current plan; `free` where none is paid for, also in the trial of a new account. */
  plan: planName,
  status: subscriptionStatus,
  /** null on Free. */
  paymentType: paymentType.nullable(),
  billingPeriod: billingPeriod.nullable(),
  /** Paise for one period: shown divided by 100. 0 on Free. */
  amount: z.number().int(),
  currency: z.literal('INR'),
  currentPeriodStart: z.string().nullable(),
  /** Until when it is paid for, or the first charge while `trialing`. null on Free. */
  currentPeriodEnd: z.string().nullable(),
  /** On Free: until when (or since when no longer) a new account has every Pro feature. While `trialing`: the first charge. Else null. */
  trialEnd: z.string().nullable(),
  /** Until when a new account has every Pro feature, independent of its plan; null after that, and where nothing is sold. */
  newUntil: z.string().nullable(),
  /** It was cancelled: it ends at `currentPeriodEnd`, and nothing is charged or announced before. */
  cancelAtPeriodEnd: z.boolean(),
  /** When it would end if it were cancelled now; null where that is at once, and on Free. */
  endsIfCancelled: z.string().nullable(),
  /** The paid plan that ended last, while none runs. */
  ended: z.object({ plan: paidPlanName, at: z.string() }).nullable(),
  entitlements,
  usage: z.object({
    /** The calendar month of the account, YYYY-MM. */
    month: z.string(),
    /** Invoices created in it; deleting one gives nothing back. */
    invoicesCreated: z.number().int(),
    invoicesPerMonth: z.number().int().nullable(),
    /** How many more may be created this month; null: any number. */
    invoicesLeft: z.number().int().nullable(),
  }),
  /** What the person should know, most urgent first; each is a banner. */
  notices: z.array(planNotice),
  /** What opens the provider's checkout; null where payments are not set up on this server. */
  checkout: z.object({ scriptUrl: z.string(), keyId: z.string(), themeColor: z.string() }).nullable(),
})
export type Subscription = z.infer<typeof subscription>

export const purchase = z.strictObject({ plan: paidPlanName, billingPeriod })
export type PurchaseDraft = z.output<typeof purchase>

/** What buying a plan now would mean; amounts in rupees. Show it before paying. */
export const quote = z.object({
  plan: paidPlanName,
  billingPeriod,
  paymentType,
  /** One whole period. */
  price: z.number(),
  /** What is left of the plan that runs and is replaced. */
  credit: z.number(),
  /** To pay now. A one-time payment is at least ₹1; what the credit exceeds the price by makes the period longer. 0: the first charge is later. */
  dueNow: z.number(),
  /** When money is charged next after today; null for a one-time payment. */
  nextChargeAt: z.string().nullable(),
  /** When the plan begins: at once, or when the same plan ends that was paid once. */
  startsAt: z.string(),
  /** One-time: when it ends. Subscription: null. */
  endsAt: z.string().nullable(),
  /** Subscription: when the first whole price is charged; null where that is now, and for a one-time payment. */
  firstChargeAt: z.string().nullable(),
  /** The paid plan that ends with this purchase. */
  replaces: paidPlanName.nullable(),
  /** What is charged today and when the next charge comes: `₹9 today. Next charge: ₹9 on 02/04/2026, then every month.` */
  charges: z.string(),
  /** What else it means, in one or two sentences; empty where the plain price says it all. */
  message: z.string(),
})
export type Quote = z.infer<typeof quote>

const shortText = z.string().min(1).max(100)
/** What the checkout handed to its handler for an order. */
const paymentProof = z.strictObject({
  razorpay_order_id: shortText,
  razorpay_payment_id: shortText,
  razorpay_signature: z.string().min(1).max(200),
})
/** The same for a subscription: the checkout says `razorpay_subscription_id`; its id is taken under the order's name too. */
const subscriptionPaymentProof = z
  .strictObject({
    razorpay_subscription_id: shortText.optional(),
    razorpay_order_id: shortText.optional(),
    razorpay_payment_id: shortText,
    razorpay_signature: z.string().min(1).max(200),
  })
  .refine((proof) => (proof.razorpay_subscription_id ?? proof.razorpay_order_id) !== undefined, {
    path: ['razorpay_subscription_id'],
    message: 'The subscription is missing.',
  })

/** One payment in the billing history. */
export const payment = z.object({
  _id: z.string(),
  /** The provider's id, as printed on receipts: pay_… */
  paymentId: z.string(),
  plan: paidPlanName,
  billingPeriod,
  paymentType,
  /** Rupees. */
  amount: z.number(),
  /** Rupees that were given back. */
  refunded: z.number(),
  currency: z.string(),
  /** `authorized`: the bank agreed, the money has not moved yet. */
  status: z.enum(['captured', 'authorized', 'failed', 'refunded']),
  /** card, upi, netbanking …; null where the provider does not say. */
  method: z.string().nullable(),
  /** The bank's words where it failed. */
  reason: z.string().nullable(),
  paidAt: z.string(),
})
export type Payment = z.infer<typeof payment>

export const billingCalls = {
  subscription: call({
    method: 'GET',
    path: '/subscription',
    by: 'viewer',
    summary: 'My plan, what it allows, how much of it is used, and what I should know about it.',
    reply: subscription,
  }),
  quote: call({
    method: 'GET',
    path: '/subscription/quote',
    by: 'owner',
    summary: 'What buying a plan now would cost and mean. 409 for the plan that runs, 503 where payments are not set up.',
    query: z.strictObject({ plan: paidPlanName, billingPeriod, paymentType }),
    reply: quote,
  }),
  createOrder: call({
    method: 'POST',
    path: '/subscription/create-order',
    by: 'owner',
    summary:
      'An order to pay once for a period; hand `orderId`, `amount` and `keyId` to the checkout. 409 for the plan that runs, 502 with what the provider says, 503 where payments are not set up.',
    body: purchase,
    /** `amount` in paise, as the checkout takes it. */
    reply: z.object({ amount: z.number().int(), currency: z.literal('INR'), orderId: z.string(), keyId: z.string() }),
  }),
  createSubscription: call({
    method: 'POST',
    path: '/subscription/create-subscription',
    by: 'owner',
    summary:
      'A subscription that is charged every period; hand `subscriptionId` and `keyId` to the checkout. 409 for the plan that runs, 502 with what the provider says, 503 where payments are not set up.',
    body: purchase,
    /** `amount` in paise for each period. `startAt`: the first charge, where it is not at once. */
    reply: z.object({
      subscriptionId: z.string(),
      keyId: z.string(),
      amount: z.number().int(),
      currency: z.literal('INR'),
      startAt: z.string().nullable(),
    }),
  }),
  verifyPayment: call({
    method: 'POST',
    path: '/subscription/verify-payment',
    by: 'owner',
    summary:
      'What the checkout handed over after paying an order. 400 `payment_not_verified`, 404 for an order that is not mine, 409 `payment_pending` or 502 while the provider has not confirmed it: Duely keeps checking, do not pay again.',
    body: paymentProof,
    reply: subscription,
  }),
  verifySubscriptionPayment: call({
    method: 'POST',
    path: '/subscription/verify-subscription-payment',
    by: 'owner',
    summary: 'The same after subscribing.',
    body: subscriptionPaymentProof,
    reply: subscription,
  }),
  cancel: call({
    method: 'POST',
    path: '/subscription/cancel',
    by: 'owner',
    summary:
      'Cancel my plan: at the end of what is paid for (`currentPeriodEnd` says when), at once in a trial. 502 with what the provider says, 503 where payments are not set up.',
    reply: subscription,
  }),
  activateFree: call({
    method: 'POST',
    path: '/subscription/activate-free',
    by: 'owner',
    summary: 'Switch to Free now: a paid plan ends at once, what is left of it is lost, nothing is charged again. Ask first.',
    reply: subscription,
  }),
  payments: call({
    method: 'GET',
    path: '/subscription/payments',
    by: 'admin',
    summary: 'My billing history, newest first.',
    reply: z.array(payment),
  }),
}
