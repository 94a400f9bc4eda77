/**
 * The one catalogue of plans: the cards, the dialog, the server's prices and its limits all read it. Money is integer paise. It knows no
 * schemas, so that a page that only shows prices need not load any; those of these names are in billing.ts.
 */

export const planNames = ['free', 'pro', 'enterprise'] as const
export type PlanName = (typeof planNames)[number]
/** Plans that cost something. */
export const paidPlanNames = ['pro', 'enterprise'] as const
export type PaidPlanName = (typeof paidPlanNames)[number]
export const billingPeriods = ['monthly', 'yearly'] as const
export type BillingPeriod = (typeof billingPeriods)[number]
/** `onetime`: paid once for one period, then Free again. `subscription`: charged every period until it is cancelled. */
export const paymentTypes = ['onetime', 'subscription'] as const
export type PaymentType = (typeof paymentTypes)[number]

/** What a plan lets people do beyond keeping invoices and Send Now, which everybody can. */
export const abilities = ['scheduling', 'smartReminders', 'advancedAnalytics', 'apiAccess', 'whiteLabel', 'teamCollaboration'] as const
export type Ability = (typeof abilities)[number]

export interface Plan {
  name: PlanName
  title: string
  description: string
  /** Paise for one period; 0 for Free. */
  price: Record<BillingPeriod, number>
  features: string[]
  /** What the card shows crossed out. */
  limitations: string[]
  /** The card's button for visitors who are not signed in. */
  cardText: string
  /** Marked 'Most Popular'. */
  popular: boolean
  /** How many invoices may be created in a calendar month of the account's zone; null: any number. */
  invoicesPerMonth: number | null
  abilities: Ability[]
}

/** In the order of the cards; each one includes what the one before it can. */
export const plans: readonly Plan[] = [
  {
    name: 'free',
    title: 'Free',
    description: 'For getting started',
    price: { monthly: 0, yearly: 0 },
    features: ['Up to 50 invoices per month', 'Immediate reminders', 'Custom templates'],
    limitations: ['Automated scheduling', 'Smart reminders', 'Advanced analytics'],
    cardText: 'Get Started Free',
    popular: false,
    invoicesPerMonth: 50,
    abilities: [],
  },
  {
    name: 'pro',
    title: 'Pro',
    description: 'For a growing business',
    price: { monthly: 400, yearly: 4_000 },
    features: ['Unlimited invoices', 'Automated scheduling', 'Smart reminders', 'Advanced analytics'],
    limitations: ['White-label', 'API access', 'Team collaboration'],
    cardText: 'Start Pro Trial',
    popular: true,
    invoicesPerMonth: null,
    abilities: ['scheduling', 'smartReminders', 'advancedAnalytics'],
  },
  {
    name: 'enterprise',
    title: 'Enterprise',
    description: 'For larger teams',
    price: { monthly: 900, yearly: 9_000 },
    features: ['Everything in Pro', 'White-label', 'Custom integrations', 'API access', 'Team collaboration'],
    limitations: [],
    cardText: 'Contact Sales',
    popular: false,
    invoicesPerMonth: null,
    abilities: ['scheduling', 'smartReminders', 'advancedAnalytics', 'apiAccess', 'whiteLabel', 'teamCollaboration'],
  },
]

/** How long a new account has every Pro feature, without a card. */
export const trialDays = 14

export function planOf(name: PlanName): Plan {
  const found = plans.find((plan) => plan.name === name)
  if (!found) throw new Error(`There is no plan called ${name}.`)
  return found
}

/** 0 for Free, then 1, 2: a plan of a higher rank can all that the lower ones can. */
export function planRank(name: PlanName): number {
  return plans.findIndex((plan) => plan.name === name)
}

/** The cheapest plan that has no limit of invoices, or that has the ability. */
export function planThatLifts(limit: 'invoicesPerMonth' | Ability): Plan {
  const found = plans.find((plan) => (limit === 'invoicesPerMonth' ? plan.invoicesPerMonth === null : plan.abilities.includes(limit)))
  if (!found) throw new Error(`No plan lifts ${limit}.`)
  return found
}

/** What a year costs less than twelve months, in paise. */
export function yearlySaving(plan: Plan): number {
  return 12 * plan.price.monthly - plan.price.yearly
}

/** ₹4, ₹1,000; with paise only where there are any: ₹3.87. */
export function formatPrice(minor: number): string {
  const whole = minor % 100 === 0
  return new Intl.NumberFormat('en-IN', {
    style: 'currency',
    currency: 'INR',
    minimumFractionDigits: whole ? 0 : 2,
    maximumFractionDigits: whole ? 0 : 2,
  }).format(minor / 100)
}

/** The word behind the price: 'Pay Once - ₹4/month', '₹40 per year'. */
export const periodWord: Record<BillingPeriod, 'month' | 'year'> = { monthly: 'month', yearly: 'year' }
