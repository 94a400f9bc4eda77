import type { InferSelectModel } from 'drizzle-orm'
import type { SubscriptionStatus } from '#contract/billing.ts'
import { type Ability, type BillingPeriod, type PaidPlanName, type PaymentType, type PlanName, planOf, planRank } from '#contract/plans.ts'
import type { Instant } from '#server/platform/clock.ts'
import type { purchases } from './tables.ts'

export type Purchase = InferSelectModel<typeof purchases>

/** A period in which a purchase activates its plan. */
export interface PlanPeriod {
  purchaseId: string
  plan: PaidPlanName
  paymentType: PaymentType
  billingPeriod: BillingPeriod
  priceMinor: number
  status: SubscriptionStatus
  from: Instant
  /** null: until something happens. */
  to: Instant | null
  /** What is paid for, for people to read: the period's end, or the first charge. */
  periodStart: Instant
  periodEnd: Instant | null
  /** It ends there and nothing is charged again. */
  ends: boolean
  /** It was cancelled, so that nothing is announced about its end. */
  cancelled: boolean
  /** Where it would end if it were cancelled; null: at once. */
  endsIfCancelled: Instant | null
  /** Money that was paid for a period of time, and kept: what is left of it is credited to the plan that replaces this one. */
  worth: { minor: number; from: Instant; to: Instant }
}

/** How long a quoted credit is honoured; later it is recomputed. */
const quoteHolds = { hours: 24 }

/**
 * The periods in which a plan is active, by start, derived from the purchases. The same purchases give the same answer, regardless of the order
 * and number of the provider's reports.
 *
 * A plan that is bought while another one runs replaces it at once; what is left of the old one has been taken off the price, or puts
 * the first charge off. The same plan bought twice (from two windows at the same moment, or reserved at the bank and captured late) is
 * not lost: the second period follows the first, and what was paid once waits behind what a subscription has paid for. A subscription
 * that was bought to begin at the end of what was paid once follows it.
 */
export function planPeriods(bought: Purchase[]): PlanPeriod[] {
  const begun = bought
    .map((purchase) => ({ purchase, begin: beginOf(purchase) }))
    .filter((one): one is { purchase: Purchase; begin: Instant } => one.begin !== null)
    .sort((a, b) => Temporal.Instant.compare(a.begin, b.begin) || (a.purchase.id < b.purchase.id ? -1 : 1))
  let periods: PlanPeriod[] = []
  for (const { purchase, begin } of begun) {
    const replaced = periods.filter((one) => one.plan !== purchase.plan && lastsBeyond(one, begin))
    const same = periods.filter((one) => one.plan === purchase.plan && lastsBeyond(one, begin))
    const next = purchase.paymentType === 'onetime' ? orderPeriod(purchase, begin, replaced, same) : subscriptionPeriod(purchase, begin)
    const cut = purchase.endedAt ? cutAt(next, purchase.endedAt) : next
    const waiting = cut && purchase.paymentType === 'subscription' ? same.filter(paidOnce).filter((one) => !follows(purchase, one)) : []
    const over = new Set<PlanPeriod>([...replaced, ...waiting])
    periods = periods.flatMap((one) => (over.has(one) ? (cutAt(one, begin) ?? []) : one))
    if (!cut) continue
    periods.push(cut)
    let end = spokenForUntil(cut, begin)
    for (const one of waiting) {
      const rest = restOf(one, begin, end)
      const endedAt = bought.find(({ id }) => id === one.purchaseId)?.endedAt
      const kept = endedAt ? cutAt(rest, endedAt) : rest
      if (kept) periods.push(kept)
      end = rest.to
    }
  }
  return periods
}

/**
 * The active plan: of several the one with most abilities, then the open-ended one, then the newest. null: Free. Consecutive periods of one
 * plan end with the last of them.
 */
export function currentOf(periods: PlanPeriod[], now: Instant): PlanPeriod | null {
  let best: PlanPeriod | null = null
  for (const one of periods) {
    if (Temporal.Instant.compare(one.from, now) > 0 || !lastsBeyond(one, now)) continue
    if (!best || planRank(one.plan) > planRank(best.plan) || (one.plan === best.plan && (best.to !== null || one.to === null))) best = one
  }
  return best && withWhatFollows(best, periods)
}

function withWhatFollows(current: PlanPeriod, periods: PlanPeriod[]): PlanPeriod {
  let end = current.to ?? current.endsIfCancelled
  let { cancelled } = current
  for (;;) {
    const next = periods.find(
      ({ plan, from, to }) =>
        plan === current.plan && end && to && Temporal.Instant.compare(from, end) <= 0 && Temporal.Instant.compare(to, end) > 0,
    )
    if (!next) break
    end = next.to
    cancelled = next.cancelled
  }
  return current.to === null
    ? { ...current, endsIfCancelled: end }
    : { ...current, to: end, periodEnd: end, endsIfCancelled: end, cancelled }
}

/** The plan that ended last, where none runs. */
export function lastEnded(periods: PlanPeriod[], now: Instant): { plan: PaidPlanName; at: Instant; paymentType: PaymentType } | null {
  let last: { plan: PaidPlanName; at: Instant; paymentType: PaymentType } | null = null
  for (const { plan, to, paymentType } of periods) {
    if (to === null || Temporal.Instant.compare(to, now) > 0) return null
    if (!last || Temporal.Instant.compare(to, last.at) > 0) last = { plan, at: to, paymentType }
  }
  return last
}

/** Subscriptions that run on at the provider although a later purchase has replaced them, or their owner has ended them. */
export function replacedOf(bought: Purchase[]): Purchase[] {
  const begun = bought.map((purchase) => ({ purchase, begin: beginOf(purchase) }))
  return begun
    .filter(({ purchase, begin }) => {
      if (purchase.paymentType !== 'subscription' || isOver(purchase.providerStatus) || purchase.cancelWanted) return false
      if (purchase.endedAt) return true
      if (!begin) return false
      return begun.some(
        (other) =>
          other.begin !== null &&
          Temporal.Instant.compare(other.begin, begin) > 0 &&
          (other.purchase.plan !== purchase.plan || other.purchase.paymentType === 'subscription'),
      )
    })
    .map(({ purchase }) => purchase)
}

/** A subscription in such a state never comes back (payments/subscriptions/states of the provider). */
export function isOver(status: Purchase['providerStatus']): boolean {
  return status === 'cancelled' || status === 'completed' || status === 'expired'
}

/** What the account may do at a moment. Without a payment provider nothing is limited. */
export interface Entitlements {
  plan: PlanName
  by: 'plan' | 'trial' | 'unlimited_server'
  invoicesPerMonth: number | null
  abilities: Ability[]
  until: Instant | null
}

/** The only place that derives rights from a plan and a time. `trialEnd`: until when this account, being new, has every Pro feature. */
export function entitlementsAt(about: { current: PlanPeriod | null; trialEnd: Instant; sells: boolean }, now: Instant): Entitlements {
  const { current, trialEnd, sells } = about
  if (!sells)
    return {
      plan: current?.plan ?? 'free',
      by: 'unlimited_server',
      invoicesPerMonth: null,
      abilities: planOf('enterprise').abilities,
      until: null,
    }
  if (current) return { ...rightsOf(current.plan), by: 'plan', until: current.to }
  if (Temporal.Instant.compare(now, trialEnd) < 0) return { ...rightsOf('pro'), by: 'trial', until: trialEnd }
  return { ...rightsOf('free'), by: 'plan', until: null }
}

function rightsOf(name: PlanName): Pick<Entitlements, 'plan' | 'invoicesPerMonth' | 'abilities'> {
  const { invoicesPerMonth, abilities } = planOf(name)
  return { plan: name, invoicesPerMonth, abilities }
}

/** What is left of the money that was paid for a period; whole paise, never more than was paid. */
export function creditOf({ worth }: PlanPeriod, at: Instant): number {
  const whole = worth.to.epochMilliseconds - worth.from.epochMilliseconds
  const left = worth.to.epochMilliseconds - Math.max(at.epochMilliseconds, worth.from.epochMilliseconds)
  return left <= 0 || whole <= 0 ? 0 : Math.floor((worth.minor * left) / whole)
}

export function creditOfAll(periods: PlanPeriod[], at: Instant): number {
  return periods.reduce((sum, one) => sum + creditOf(one, at), 0)
}

/** One period later, by the calendar in UTC, so that it does not depend on the owner's time zone. */
export function periodAfter(from: Instant, period: BillingPeriod): Instant {
  return from
    .toZonedDateTimeISO('UTC')
    .add(period === 'monthly' ? { months: 1 } : { years: 1 })
    .toInstant()
}

/** The end of what `minor` buys at `price` a period: exactly one period for the price, more or less of it in proportion. */
export function endOf(from: Instant, period: BillingPeriod, minor: number, price: number): Instant {
  const whole = periodAfter(from, period)
  if (minor === price) return whole
  const length = whole.epochMilliseconds - from.epochMilliseconds
  return from.add({ milliseconds: Math.floor((length * minor) / price) })
}

export function lastsBeyond({ to }: PlanPeriod, at: Instant): boolean {
  return to === null || Temporal.Instant.compare(to, at) > 0
}

/** When a purchase took effect; null if it never did. */
function beginOf(purchase: Purchase): Instant | null {
  if (purchase.paymentType === 'onetime') return purchase.paidAt
  switch (purchase.providerStatus) {
    case null:
    case 'created':
    case 'expired':
      return null
    case 'authenticated':
    case 'active':
    case 'pending':
      return purchase.createdAt
    case 'halted':
    case 'paused':
    case 'cancelled':
    case 'completed':
      return paidUntil(purchase) && purchase.authorised ? purchase.createdAt : null
  }
}

/** Until when a subscription is paid for, by a charge or by a credit. */
function paidUntil({ paidThrough, creditUntil }: Purchase): Instant | null {
  if (!paidThrough || !creditUntil) return paidThrough ?? creditUntil
  return Temporal.Instant.compare(paidThrough, creditUntil) > 0 ? paidThrough : creditUntil
}

function orderPeriod(purchase: Purchase, begin: Instant, replaced: PlanPeriod[], same: PlanPeriod[]): PlanPeriod {
  const { plan, billingPeriod, priceMinor, createdAt, creditMinor } = purchase
  const asShown = replaced.length > 0 && Temporal.Instant.compare(begin, createdAt.add(quoteHolds)) <= 0
  // Another plan may have been bought since the order was made, or charged once more before it could be cancelled: nothing of it is lost.
  const [before, since] = [replaced.filter((one) => !chargedAfter(one, begin)), replaced.filter((one) => chargedAfter(one, begin))]
  const credit = Math.max(asShown ? creditMinor : 0, creditOfAll(before, begin)) + creditOfAll(since, begin)
  const paid = purchase.paidMinor ?? 0
  const from = same.reduce((until, one) => spokenForUntil(one, until), begin)
  const to = endOf(from, billingPeriod, paid + credit, priceMinor)
  return {
    purchaseId: purchase.id,
    plan,
    paymentType: 'onetime',
    billingPeriod,
    priceMinor,
    status: 'active',
    from,
    to,
    periodStart: from,
    periodEnd: to,
    ends: true,
    cancelled: purchase.cancelAtPeriodEnd,
    endsIfCancelled: to,
    worth: { minor: credit + Math.max(0, paid - purchase.refundedMinor), from, to },
  }
}

function chargedAfter({ paymentType, worth }: PlanPeriod, begin: Instant): boolean {
  return paymentType === 'subscription' && Temporal.Instant.compare(worth.from, begin) > 0
}

function paidOnce(period: PlanPeriod): period is PlanPeriod & { to: Instant } {
  return period.paymentType === 'onetime' && period.to !== null
}

/** Whether a subscription was bought to begin when this period ends: its first charge waits for that, and nothing was credited for it. */
function follows({ creditMinor, creditUntil }: Purchase, { to }: PlanPeriod & { to: Instant }): boolean {
  return creditMinor === 0 && creditUntil !== null && Temporal.Instant.compare(to, creditUntil) <= 0
}

/** The end of a period, if that is after `begin`; of an open-ended subscription, the end of what is paid for. */
function spokenForUntil({ to, endsIfCancelled, periodEnd }: PlanPeriod, begin: Instant): Instant {
  return latest(to ?? endsIfCancelled ?? periodEnd, begin) ?? begin
}

/** The rest of a one-time period when a subscription to the same plan begins: it is moved to `from`. */
function restOf(period: PlanPeriod & { to: Instant }, begin: Instant, from: Instant): PlanPeriod & { to: Instant } {
  const began = latest(period.from, begin) ?? begin
  const to = from.add({ milliseconds: period.to.epochMilliseconds - began.epochMilliseconds })
  return {
    ...period,
    from,
    to,
    periodStart: from,
    periodEnd: to,
    endsIfCancelled: to,
    worth: { minor: creditOf(period, begin), from, to },
  }
}

function subscriptionPeriod(purchase: Purchase, begin: Instant): PlanPeriod | null {
  const { plan, billingPeriod, priceMinor, providerStatus, startAt, currentEnd, paidFrom, paidThrough, creditMinor, creditUntil } = purchase
  const paid = paidUntil(purchase)
  const runs = providerStatus === 'authenticated' || providerStatus === 'active' || providerStatus === 'pending'
  const ends = !runs || purchase.cancelAtPeriodEnd
  const periodEnd = providerStatus === 'authenticated' ? startAt : providerStatus === 'active' ? latest(currentEnd, paid) : paid
  const to = !ends ? null : runs ? (paid ?? periodEnd) : paid
  if (ends && !to) return null
  return {
    purchaseId: purchase.id,
    plan,
    paymentType: 'subscription',
    billingPeriod,
    priceMinor,
    status: providerStatus === 'authenticated' ? 'trialing' : providerStatus === 'pending' ? 'past_due' : 'active',
    from: begin,
    to,
    periodStart: paidFrom ?? begin,
    periodEnd: ends ? to : periodEnd,
    ends,
    cancelled: ends,
    // Only a running cycle is cancelled at its end (`cancelPlan`); else what is paid for by then is all there is.
    endsIfCancelled: to ?? (providerStatus === 'active' ? (paid ?? periodEnd) : paid),
    worth:
      paidFrom && paidThrough
        ? { minor: Math.max(0, priceMinor - purchase.refundedMinor), from: paidFrom, to: paidThrough }
        : { minor: creditMinor, from: begin, to: creditUntil ?? begin },
  }
}

function latest(a: Instant | null, b: Instant | null): Instant | null {
  if (!a || !b) return a ?? b
  return Temporal.Instant.compare(a, b) > 0 ? a : b
}

function cutAt(period: PlanPeriod | null, at: Instant): PlanPeriod | null {
  if (!period || !lastsBeyond(period, at)) return period
  return Temporal.Instant.compare(period.from, at) >= 0 ? null : { ...period, to: at, periodEnd: at, ends: true, endsIfCancelled: at }
}
