import { and, desc, eq, inArray, type SQL, sql } from 'drizzle-orm'
import type { Payment, PlanNotice, Subscription } from '#contract/billing.ts'
import { formatDate } from '#contract/dates.ts'
import { fromMinor } from '#contract/money.ts'
import { type Ability, planOf, planThatLifts, trialDays } from '#contract/plans.ts'
import type { AccountRow } from '#server/accounts/accounts.ts'
import { accounts } from '#server/accounts/tables.ts'
import type { Instant } from '#server/platform/clock.ts'
import { arrayText, type Database } from '#server/platform/database.ts'
import type { Deps } from '#server/platform/deps.ts'
import type { Sources } from '#server/platform/headers.ts'
import { ProblemError } from '#server/platform/problem-error.ts'
import { currentOf, type Entitlements, entitlementsAt, lastEnded, type PlanPeriod, type Purchase, planPeriods } from './entitlements.ts'
import { invoiceCounts, payments, purchases } from './tables.ts'
import { notices, refusals, states } from './texts.ts'

export type { Entitlements } from './entitlements.ts'
export {
  billingOnAccountDeleted,
  enqueueDueChecks,
  type OnPlanChange,
  processInbox,
  pruneEvents,
  type ReconcileDeps,
  reconcileInBackground,
} from './reconcile.ts'

type Selling = Pick<Deps['config'], 'razorpay'>
/** What of an account its plan depends on. */
type Owner = Pick<AccountRow, 'id' | 'createdAt' | 'trialStartedAt' | 'timezone'>

/** Blue, as the provider's checkout shows it. */
const themeColor = '#2563eb'
/** How long before its end a plan that was paid once can be bought again. */
const renewable = { hours: 14 * 24 }
/** What has ended is spoken of for so long. */
const recently = { hours: 7 * 24 }

/** Where the provider's own checkout loads from beside its script (its published list for content security policies). */
const providersOwn = {
  'script-src': ['https://checkout.razorpay.com', 'https://cdn.razorpay.com'],
  'frame-src': ['https://api.razorpay.com', 'https://checkout.razorpay.com'],
  'connect-src': ['https://lumberjack.razorpay.com', 'https://lumberjack-metrics.razorpay.com'],
  'img-src': ['https://cdn.razorpay.com'],
}

/** The one page on which plans are bought, and what the provider's checkout loads there; null where nothing is sold. */
export function checkoutPage({ razorpay }: Selling): { path: string; sources: Sources } | null {
  if (!razorpay) return null
  const { origin } = new URL(razorpay.checkoutUrl)
  const own = providersOwn['script-src'].includes(origin)
  return { path: '/pricing', sources: own ? providersOwn : { 'script-src': [origin], 'frame-src': [origin] } }
}

/** What an account may do at this moment. Throws where there is no such account. */
export async function entitlementsOf(db: Database, ownerId: string, now: Instant, config: Selling): Promise<Entitlements> {
  const owners = await db
    .select({ id: accounts.id, createdAt: accounts.createdAt, trialStartedAt: accounts.trialStartedAt })
    .from(accounts)
    .where(eq(accounts.id, ownerId))
  const entitled = (await entitlementsOfMany(db, owners, now, config)).get(ownerId)
  if (!entitled) throw new Error('There is no such account.')
  return entitled
}

/** The same for many accounts, by account. */
export async function entitlementsOfMany(
  db: Database,
  owners: Pick<AccountRow, 'id' | 'createdAt' | 'trialStartedAt'>[],
  now: Instant,
  config: Selling,
): Promise<Map<string, Entitlements>> {
  const sells = config.razorpay !== null
  const bought = await db
    .select()
    .from(purchases)
    .where(sql`${purchases.ownerId} = ANY(${arrayText(owners.map(({ id }) => id))}::uuid[])`)
  const byOwner = Map.groupBy(bought, ({ ownerId }) => ownerId)
  return new Map(
    owners.map((owner) => {
      const current = currentOf(planPeriods(byOwner.get(owner.id) ?? []), now)
      return [owner.id, entitlementsAt({ current, trialEnd: trialEndOf(owner), sells }, now)]
    }),
  )
}

/** How many people besides viewers, the owner among them, and how many viewers a plan allows; null: any number. */
export async function seatsOf(
  db: Database,
  ownerId: string,
  now: Instant,
  config: Selling,
): Promise<{ people: number | null; viewers: number | null }> {
  const { by, abilities } = await entitlementsOf(db, ownerId, now, config)
  if (by === 'unlimited_server') return { people: null, viewers: null }
  return abilities.includes('teamCollaboration') ? { people: 10, viewers: 10 } : { people: 1, viewers: 1 }
}

export function refuseFullTeam(): ProblemError {
  return new ProblemError('plan_limit', refusals.fullTeam(planThatLifts('teamCollaboration').title))
}

/** Refuses with `plan_limit` another business of someone who owns one that pays for no plan: each may create invoices for nothing. */
export async function refuseSecondUnpaid(db: Database, ownedIds: string[], now: Instant, { razorpay }: Selling): Promise<void> {
  if (!razorpay) return
  const bought = await db
    .select()
    .from(purchases)
    .where(sql`${purchases.ownerId} = ANY(${arrayText(ownedIds)}::uuid[])`)
  const byOwner = Map.groupBy(bought, ({ ownerId }) => ownerId)
  const unpaid = ownedIds.some((id) => currentOf(planPeriods(byOwner.get(id) ?? []), now) === null)
  if (unpaid) throw new ProblemError('plan_limit', refusals.secondUnpaid)
}

/** What of an ability is asked for, as a refusal names it. */
export type Wanted =
  | 'scheduling'
  | { ability: Exclude<Ability, 'scheduling'>; what: 'API keys' | 'Webhooks' | 'Advanced analytics' | 'Smart reminders' }
  | { ability: 'scheduling'; what: 'Watched addresses' }

/** Refuses with `plan_limit`, naming what was asked for and which plan has it, where the account may not do it. */
export async function refuseWithout(wanted: Wanted, db: Database, ownerId: string, now: Instant, config: Selling): Promise<void> {
  const { abilities } = await entitlementsOf(db, ownerId, now, config)
  const ability = wanted === 'scheduling' ? wanted : wanted.ability
  if (abilities.includes(ability)) return
  const lifts = planThatLifts(ability).title
  const message = wanted === 'scheduling' ? refusals.noScheduling(lifts) : refusals.notIncluded(wanted.what, lifts)
  throw new ProblemError('plan_limit', message)
}

/** The most invoices that an account creates in a month, by any plan: paid and deleted ones are kept too. */
const mostInMonth = 100_000

/** How many invoices may be created, and the `plan_limit` for the others, or `conflict` where no plan allows more. */
export interface Room {
  allowed: number
  refusal: ProblemError
}

/** The month that an account's invoices are counted in, and how many were created in it: read by a statement of the caller. */
export const createdInMonth = (owner: SQL, month: SQL) =>
  sql`coalesce((SELECT c.created FROM invoice_counts c WHERE c.owner_id = ${owner} AND c.month = ${month}), 0)`

/** Counts `wanted` more, in the transaction that creates them. */
export const countCreated = (owner: SQL, month: SQL, wanted: SQL) =>
  sql`INSERT INTO invoice_counts AS c (owner_id, month, created) SELECT ${owner}, ${month}, ${wanted} WHERE ${wanted} > 0
      ON CONFLICT (owner_id, month) DO UPDATE SET created = c.created + excluded.created`

/**
 * How many more invoices an account may create in this month of its calendar, where it has created so many. The account's row must be locked: that is
 * what makes the count hold.
 */
export async function roomInMonth(tx: Database, owner: Owner, created: number, now: Instant, config: Selling): Promise<Room> {
  const { plan, invoicesPerMonth } = config.razorpay
    ? await entitlementsOf(tx, owner.id, now, config)
    : { plan: 'free' as const, invoicesPerMonth: null }
  const left = (invoicesPerMonth ?? mostInMonth) - created
  const next = Temporal.PlainDate.from(`${monthOf(now, owner.timezone)}-01`)
    .add({ months: 1 })
    .toString()
  if (invoicesPerMonth === null)
    return { allowed: left, refusal: new ProblemError('conflict', refusals.mostInMonth(mostInMonth, formatDate(next))) }
  const message = refusals.invoiceLimit({
    plan: planOf(plan).title,
    perMonth: invoicesPerMonth,
    // There is no limit in the trial, so an account that has just left it may have created more.
    over: left < 0,
    next: formatDate(next),
    lifts: planThatLifts('invoicesPerMonth').title,
  })
  return { allowed: left, refusal: new ProblemError('plan_limit', message) }
}

/** An account's plan, rights, use and notices, as its owner sees them. */
export async function readSubscription(db: Database, owner: Owner, now: Instant, config: Selling): Promise<Subscription> {
  const bought = await boughtBy(db, owner.id)
  const periods = planPeriods(bought)
  const current = currentOf(periods, now)
  const sells = config.razorpay !== null
  const trialEnd = trialEndOf(owner)
  const entitled = entitlementsAt({ current, trialEnd, sells }, now)
  const ended = current ? null : lastEnded(periods, now)
  const month = monthOf(now, owner.timezone)
  const invoicesCreated = await createdIn(db, owner.id, month)
  return {
    state: planState({ current, entitled, timezone: owner.timezone }, now),
    nextChargeAt: (current && nextChargeOf(current))?.toString() ?? null,
    renewableFrom: (current && renewableFrom(current))?.toString() ?? null,
    plan: current?.plan ?? 'free',
    status: current?.status ?? 'active',
    paymentType: current?.paymentType ?? null,
    billingPeriod: current?.billingPeriod ?? null,
    amount: current?.priceMinor ?? 0,
    currency: 'INR',
    currentPeriodStart: current?.periodStart.toString() ?? null,
    currentPeriodEnd: current?.periodEnd?.toString() ?? null,
    trialEnd: shownTrialEnd(current, sells ? trialEnd : null)?.toString() ?? null,
    newUntil: (sells ? beyond(trialEnd, now) : null)?.toString() ?? null,
    cancelAtPeriodEnd: current?.cancelled ?? false,
    endsIfCancelled: beyond(current?.endsIfCancelled ?? null, now)?.toString() ?? null,
    ended: ended && { plan: ended.plan, at: ended.at.toString() },
    entitlements: { ...entitled, until: entitled.until?.toString() ?? null },
    usage: {
      month,
      invoicesCreated,
      invoicesPerMonth: entitled.invoicesPerMonth,
      invoicesLeft: entitled.invoicesPerMonth === null ? null : Math.max(0, entitled.invoicesPerMonth - invoicesCreated),
    },
    notices: sells ? noticesOf({ claimed: await claimedIn(db, bought, now), current, ended, trialEnd, owner }, now) : [],
    checkout: config.razorpay && { scriptUrl: config.razorpay.checkoutUrl, keyId: config.razorpay.keyId, themeColor },
  }
}

/** The plan's name for people. Every sentence that names an account's plan must use this. */
function planState(about: { current: PlanPeriod | null; entitled: Entitlements; timezone: string }, now: Instant): string {
  const { current, entitled, timezone } = about
  const { title } = planOf(current?.plan ?? entitled.plan)
  if (!current) return entitled.by === 'trial' && entitled.until ? states.trial(title, daysUntil(entitled.until, now)) : title
  if (current.status === 'past_due') return states.pastDue(title)
  if (current.ends && current.to) return states.until(title, dayOf(current.to, timezone))
  const charge = nextChargeOf(current)
  if (!charge) return title
  return (current.status === 'trialing' ? states.firstCharge : states.renews)(title, dayOf(charge, timezone))
}

/** From when a plan that was paid once can be bought again, to begin when it ends; null for a subscription. */
export function renewableFrom({ paymentType, to }: PlanPeriod): Instant | null {
  return paymentType === 'onetime' && to ? to.subtract(renewable) : null
}

/** When a subscription is charged next; null where nothing is, or a failed charge is being retried. */
function nextChargeOf({ ends, status, periodEnd }: PlanPeriod): Instant | null {
  return ends || status === 'past_due' ? null : periodEnd
}

/** An account's payments, newest first. */
export async function listPayments(db: Database, ownerId: string): Promise<Payment[]> {
  const found = await db
    .select({ payment: payments, purchase: purchases })
    .from(payments)
    .innerJoin(purchases, eq(purchases.id, payments.purchaseId))
    .where(eq(payments.ownerId, ownerId))
    .orderBy(desc(payments.paidAt), desc(payments.id))
  return found.map(({ payment, purchase }) => ({
    _id: payment.id,
    paymentId: payment.paymentId,
    plan: purchase.plan,
    billingPeriod: purchase.billingPeriod,
    paymentType: purchase.paymentType,
    amount: fromMinor(payment.amountMinor, payment.currency),
    refunded: fromMinor(payment.refundedMinor, payment.currency),
    currency: payment.currency,
    status: payment.status,
    method: payment.method,
    reason: payment.reason,
    paidAt: payment.paidAt.toString(),
  }))
}

/** Everything an account has bought or begun to buy. */
export async function boughtBy(db: Database, ownerId: string): Promise<Purchase[]> {
  return db.select().from(purchases).where(eq(purchases.ownerId, ownerId))
}

/** Until when an account, being new, has every Pro feature. */
export function trialEndOf({ createdAt, trialStartedAt }: Pick<AccountRow, 'createdAt' | 'trialStartedAt'>): Instant {
  return (trialStartedAt ?? createdAt).add({ hours: trialDays * 24 })
}

/** The date of an instant where the account lives, for people: 16/03/2026. */
export function dayOf(at: Instant, timezone: string): string {
  return formatDate(at.toZonedDateTimeISO(timezone).toPlainDate().toString())
}

function shownTrialEnd(current: PlanPeriod | null, trialEnd: Instant | null): Instant | null {
  if (!current) return trialEnd
  return current.status === 'trialing' ? current.periodEnd : null
}

/**
 * When a browser came back from the checkout with what the provider has not confirmed yet. What the ledger has in another way, because it
 * was too little or went back to the customer, is not waited for: nothing must keep anybody from paying again.
 */
async function claimedIn(db: Database, bought: Purchase[], now: Instant): Promise<Instant[]> {
  const waiting = bought.flatMap(({ id, claimedAt, paidAt, providerStatus }) =>
    claimedAt && !paidAt && (providerStatus === null || providerStatus === 'created') && isWithin(claimedAt, now)
      ? [{ id, claimedAt }]
      : [],
  )
  if (waiting.length === 0) return []
  const ids = waiting.map(({ id }) => id)
  const known = await db
    .select({ id: payments.purchaseId, status: payments.status })
    .from(payments)
    .where(inArray(payments.purchaseId, ids))
  const has = (purchaseId: string, wanted: Payment['status'][]) =>
    known.some(({ id, status }) => id === purchaseId && wanted.includes(status))
  return waiting.filter(({ id }) => has(id, ['authorized']) || !has(id, ['captured', 'refunded'])).map(({ claimedAt }) => claimedAt)
}

interface NoticeFacts {
  claimed: Instant[]
  current: PlanPeriod | null
  ended: { plan: Purchase['plan']; at: Instant; paymentType: Purchase['paymentType'] } | null
  trialEnd: Instant
  owner: Pick<Owner, 'createdAt' | 'timezone'>
}

function noticesOf({ claimed, current, ended, trialEnd, owner: { createdAt, timezone } }: NoticeFacts, now: Instant): PlanNotice[] {
  const found: PlanNotice[] = []
  // A further business of a person begins without one.
  const hadTrial = Temporal.Instant.compare(trialEnd, createdAt) > 0
  // A plan that ended within the trial took nothing away: what ends then is the trial.
  const endedInTrial = ended !== null && Temporal.Instant.compare(ended.at, trialEnd) < 0
  const add = (kind: PlanNotice['kind'], at: Instant, message: string) =>
    found.push({ kind, at: at.toString(), daysLeft: daysUntil(at, now), message })
  for (const claimedAt of claimed) add('confirming', claimedAt, notices.confirming)
  if (current) {
    const { title } = planOf(current.plan)
    if (current.status === 'past_due') add('past_due', current.periodEnd ?? now, notices.pastDue(title))
    const end = current.to
    // A cancelled subscription shows its end with the plan; a one-time period ends without anybody having asked for it, unless it was cancelled.
    const once = current.paymentType === 'onetime'
    if (end && current.ends && !(once && current.cancelled) && daysUntil(end, now) <= 7)
      add('period_ending', end, (once ? notices.renew : notices.periodEnding)(title, dayOf(end, timezone), daysUntil(end, now)))
  } else if (ended && !endedInTrial && isWithin(ended.at, now))
    add('plan_ended', ended.at, notices.planEnded(planOf(ended.plan).title, dayOf(ended.at, timezone)))
  if (!current && hadTrial && (!ended || endedInTrial)) {
    const { title } = planThatLifts('scheduling')
    const left = daysUntil(trialEnd, now)
    if (left > 0 && left <= 3) add('trial_ending', trialEnd, notices.trialEnding(title, dayOf(trialEnd, timezone), left))
    else if (left === 0 && isWithin(trialEnd, now)) add('trial_ended', trialEnd, notices.trialEnded(title, dayOf(trialEnd, timezone)))
  }
  return found
}

/** What is past already ends at once. */
function beyond(at: Instant | null, now: Instant): Instant | null {
  return at && Temporal.Instant.compare(at, now) > 0 ? at : null
}

function daysUntil(at: Instant, now: Instant): number {
  return Math.max(0, Math.ceil((at.epochMilliseconds - now.epochMilliseconds) / 86_400_000))
}

function isWithin(at: Instant, now: Instant): boolean {
  return Temporal.Instant.compare(at.add(recently), now) > 0
}

export function monthOf(now: Instant, timezone: string): string {
  return now.toZonedDateTimeISO(timezone).toPlainDate().toPlainYearMonth().toString()
}

export async function createdIn(db: Database, ownerId: string, month: string): Promise<number> {
  const [found] = await db
    .select({ created: invoiceCounts.created })
    .from(invoiceCounts)
    .where(and(eq(invoiceCounts.ownerId, ownerId), eq(invoiceCounts.month, month)))
  return found?.created ?? 0
}
