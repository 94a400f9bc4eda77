import { and, desc, eq, gt, inArray, isNotNull, isNull, or, sql } from 'drizzle-orm'
import type { PurchaseDraft, Quote } from '#contract/billing.ts'
import { fromMinor } from '#contract/money.ts'
import { type BillingPeriod, type PaidPlanName, type PaymentType, periodWord, planOf } from '#contract/plans.ts'
import { countTry, lockAccount, writeAudit } from '#server/accounts/accounts.ts'
import type { Account } from '#server/platform/answer.ts'
import type { Instant } from '#server/platform/clock.ts'
import { newId } from '#server/platform/columns.ts'
import type { Database } from '#server/platform/database.ts'
import { ProblemError } from '#server/platform/problem-error.ts'
import { boughtBy, dayOf, renewableFrom, trialEndOf } from './billing.ts'
import {
  creditOfAll,
  currentOf,
  endOf,
  isOver,
  lastsBeyond,
  type PlanPeriod,
  type Purchase,
  periodAfter,
  planPeriods,
} from './entitlements.ts'
import { isSignedOrder, isSignedSubscription, openRazorpay, ProviderError, type ProviderSettings, type Razorpay } from './razorpay.ts'
import {
  auditChange,
  cancelAtProvider,
  firstCheck,
  type ReconcileDeps,
  reconcileInBackground,
  reconcilePurchase,
  scheduleCheck,
} from './reconcile.ts'
import { providerPlans, purchases } from './tables.ts'
import { failed, quote, refusals } from './texts.ts'

/** The least that the provider takes: ₹1. */
const leastMinor = 100
/** A first charge that is put off by less than this is made at once. */
const worthWaiting = { hours: 1 }
/** A checkout that is closed and reopened within this time reuses its order or subscription. */
const reusedFor = { minutes: 15 }

/** A recent purchase may have been paid without a webhook yet, so it is checked before another purchase or a cancellation. */
const asked = { since: { hours: 24 }, atMost: 5 }

/** Each one costs requests to the provider. */
const begunByOneAccount = { limit: 60, seconds: 3_600 }

const trialPlan: PaidPlanName = 'pro'

interface Buying {
  plan: PaidPlanName
  billingPeriod: BillingPeriod
  paymentType: PaymentType
}

/** A quote in paise and instants. */
interface Price {
  /** Now, or the end of the same plan that was paid once. */
  startsAt: Instant
  priceMinor: number
  creditMinor: number
  dueMinor: number
  endsAt: Instant | null
  firstChargeAt: Instant | null
  replaces: PlanPeriod | null
}

/** The price of a plan for an owner with these periods; pure. The current plan is bought to begin when its paid period ends. */
export function priceOf(buying: Buying, about: { periods: PlanPeriod[]; trialEnd: Instant }, now: Instant): Price {
  const { plan, billingPeriod, paymentType } = buying
  const priceMinor = planOf(plan).price[billingPeriod]
  const replaced = about.periods.filter((one) => one.plan !== plan && lastsBeyond(one, now))
  const creditMinor = creditOfAll(replaced, now)
  const current = currentOf(about.periods, now)
  const startsAt = (current?.plan === plan ? current.to : null) ?? now
  const shared = { startsAt, priceMinor, creditMinor, replaces: currentOf(replaced, now) }
  if (paymentType === 'onetime') {
    const dueMinor = Math.max(priceMinor - creditMinor, leastMinor)
    return { ...shared, dueMinor, endsAt: endOf(startsAt, billingPeriod, dueMinor + creditMinor, priceMinor), firstChargeAt: null }
  }
  const inTrial = Temporal.Instant.compare(startsAt, about.trialEnd) < 0 ? about.trialEnd : startsAt
  const waits = creditMinor > 0 ? endOf(inTrial, billingPeriod, creditMinor, priceMinor) : inTrial
  const later = Temporal.Instant.compare(waits, now.add(worthWaiting)) > 0
  return { ...shared, dueMinor: later ? 0 : priceMinor, endsAt: null, firstChargeAt: later ? wholeSecond(waits) : null }
}

/** What buying would cost and mean, for people. Refuses with `conflict` the plan that runs, with `payments_not_set_up` where nothing is sold. */
export async function quoteFor(deps: ReconcileDeps, account: Account, buying: Buying): Promise<Quote> {
  settingsOf(deps)
  const now = deps.clock.now()
  const { periods, price } = await priceFor(deps.db, account, buying, now)
  const { priceMinor, creditMinor, dueMinor, startsAt, endsAt, firstChargeAt, replaces } = price
  const current = currentOf(periods, now)
  const renews = current?.plan === buying.plan
  const nextChargeAt = buying.paymentType === 'onetime' ? null : (firstChargeAt ?? periodAfter(now, buying.billingPeriod))
  return {
    ...buying,
    price: fromMinor(priceMinor, 'INR'),
    credit: fromMinor(creditMinor, 'INR'),
    dueNow: fromMinor(dueMinor, 'INR'),
    startsAt: startsAt.toString(),
    endsAt: endsAt?.toString() ?? null,
    firstChargeAt: firstChargeAt?.toString() ?? null,
    nextChargeAt: nextChargeAt?.toString() ?? null,
    charges: [
      quote.today(dueMinor),
      nextChargeAt
        ? quote.nextCharge(priceMinor, dayOf(nextChargeAt, account.timezone), periodWord[buying.billingPeriod])
        : quote.noNextCharge,
    ].join(' '),
    replaces: replaces?.plan ?? null,
    message: [
      ...(current && creditMinor > 0 ? [quote.credit(creditMinor, planOf(current.plan).title)] : []),
      ...(current && renews ? [quote.follows(planOf(current.plan).title, dayOf(startsAt, account.timezone))] : []),
      ...(current && !renews && creditMinor === 0 ? [quote.replaces(planOf(current.plan).title)] : []),
      ...(endsAt && !current && buying.plan === trialPlan && Temporal.Instant.compare(now, trialEndOf(account)) < 0
        ? [quote.inTrial(planOf(trialPlan).title, dayOf(trialEndOf(account), account.timezone), periodWord[buying.billingPeriod])]
        : []),
      ...(endsAt && (renews || creditMinor > 0) ? [quote.runsUntil(planOf(buying.plan).title, dayOf(endsAt, account.timezone))] : []),
    ].join(' '),
  }
}

/** An order at the provider for a one-time payment. Refuses like `quoteFor`, and with `payment_refused` in the provider's words. */
export async function createOrder(
  deps: ReconcileDeps,
  account: Account,
  draft: PurchaseDraft,
): Promise<{ amount: number; currency: 'INR'; orderId: string; keyId: string }> {
  const settings = settingsOf(deps)
  await refreshPending(deps, account)
  const { purchase, known } = await beginPurchase(deps, account, { ...draft, paymentType: 'onetime' })
  try {
    const orderId = purchase.providerId ?? (await placeOrder(deps, openRazorpay(settings), purchase, known))
    return { amount: purchase.amountMinor, currency: 'INR', orderId, keyId: settings.keyId }
  } catch (error) {
    throw inWords(deps, error, failed.order, refusals.nothingCharged)
  }
}

/** A subscription at the provider; its first charge is put off to the end of a trial or of what is paid for. Refuses like `createOrder`. */
export async function createSubscription(
  deps: ReconcileDeps,
  account: Account,
  draft: PurchaseDraft,
): Promise<{ subscriptionId: string; keyId: string; amount: number; currency: 'INR'; startAt: string | null }> {
  const settings = settingsOf(deps)
  await refreshPending(deps, account)
  const { purchase } = await beginPurchase(deps, account, { ...draft, paymentType: 'subscription' })
  try {
    const subscriptionId = purchase.providerId ?? (await placeSubscription(deps, settings, purchase))
    return {
      subscriptionId,
      keyId: settings.keyId,
      amount: purchase.priceMinor,
      currency: 'INR',
      startAt: purchase.startAt?.toString() ?? null,
    }
  } catch (error) {
    throw inWords(deps, error, failed.subscription, refusals.nothingCharged)
  }
}

interface Proof {
  providerId: string
  paymentId: string
  signature: string
}

/**
 * What a browser brings from the checkout. The posted id only picks one of this account's own purchases (`not_found`); what is stored
 * there is what must have been signed (`payment_not_verified`), and what the provider says of the payment is what counts.
 */
export async function verifyOrder(deps: ReconcileDeps, account: Account, { providerId, paymentId, signature }: Proof): Promise<void> {
  const settings = settingsOf(deps)
  const purchase = await ownPurchase(deps.db, account, 'onetime', providerId)
  const unverified = new ProblemError('payment_not_verified', refusals.orderNotVerified)
  if (!isSignedOrder(settings.keySecret, { orderId: providerId, paymentId, signature })) throw unverified
  if (purchase.paidAt) return
  await claim(deps, purchase)
  const settled = await confirm(deps, purchase.id)
  if (settled.paidAt) return
  const payment = await openRazorpay(settings)
    .payment(paymentId)
    .catch((error) => {
      throw unconfirmed(deps, error)
    })
  if (payment.order_id === providerId && payment.status === 'authorized') throw pending()
  throw unverified
}

/** The same for a subscription. */
export async function verifySubscription(
  deps: ReconcileDeps,
  account: Account,
  { providerId, paymentId, signature }: Proof,
): Promise<void> {
  const settings = settingsOf(deps)
  const purchase = await ownPurchase(deps.db, account, 'subscription', providerId)
  if (!isSignedSubscription(settings.keySecret, { subscriptionId: providerId, paymentId, signature }))
    throw new ProblemError('payment_not_verified', refusals.subscriptionNotVerified)
  await claim(deps, purchase)
  const { providerStatus } = await confirm(deps, purchase.id)
  if (providerStatus === 'created' || providerStatus === null) throw pending()
  if (providerStatus !== 'authenticated' && providerStatus !== 'active')
    throw new ProblemError('payment_not_verified', refusals.subscriptionNotVerified)
}

/**
 * Cancels the plan that runs: a subscription at the end of what is paid for, at once where nothing has been paid yet. What was paid once
 * is kept, and nothing is announced about its end any more. Refuses with `conflict` on Free, with `payment_refused` in the provider's words.
 */
export async function cancelPlan(deps: ReconcileDeps, account: Account): Promise<void> {
  const settings = settingsOf(deps, refusals.cancelNotSetUp)
  const now = deps.clock.now()
  const bought = await boughtBy(deps.db, account.id)
  const current = currentOf(planPeriods(bought), now)
  const purchase = bought.find(({ id }) => id === current?.purchaseId)
  if (!current || !purchase) throw new ProblemError('conflict', refusals.nothingToCancel)
  if (current.cancelled) return
  // Before its first charge there is no cycle at whose end it could be cancelled; what a credit has paid for stays open all the same.
  const when = current.ends ? null : purchase.providerStatus === 'active' ? 'cycle_end' : 'now'
  if (when) await cancelThere(deps, openRazorpay(settings), purchase, when, failed.cancel)
  const lasting = planPeriods(bought).filter((one) => one.plan === current.plan && lastsBeyond(one, now))
  const paidOnce = lasting.flatMap(({ paymentType, purchaseId }) => (paymentType === 'onetime' ? purchaseId : []))
  const ending = when === 'cycle_end' ? [...paidOnce, purchase.id] : paidOnce
  if (ending.length > 0)
    await deps.db.transaction(async (tx) => {
      await lockAccount(tx, account.id)
      await tx.update(purchases).set({ cancelAtPeriodEnd: true }).where(inArray(purchases.id, ending))
      const end = current.endsIfCancelled
      const about = `${planOf(current.plan).title} was cancelled${end ? ` and ends on ${dayOf(end, account.timezone)}` : ''}`
      await writeAudit(tx, { ownerId: account.id, kind: 'plan_changed', about }, deps.origin ?? null, now)
      await deps.onPlanChange(tx, account.id, now)
    })
  if (when) await refreshPurchase(deps, purchase.id, now)
}

/** Switches to Free now: cancels at the provider and ends the plan, even if more is paid for. Does nothing on Free. */
export async function activateFree(deps: ReconcileDeps, account: Account): Promise<void> {
  const open = (bought: Purchase[], now: Instant) => {
    const lasting = planPeriods(bought).filter((one) => lastsBeyond(one, now))
    return bought.filter(({ id }) => lasting.some((one) => one.purchaseId === id))
  }
  if (deps.config.razorpay) await refreshPending(deps, account)
  const running = open(await boughtBy(deps.db, account.id), deps.clock.now())
  if (running.length === 0) return
  const provider = openRazorpay(settingsOf(deps))
  for (const purchase of running) {
    if (purchase.paymentType === 'subscription' && !isOver(purchase.providerStatus))
      await cancelThere(deps, provider, purchase, 'now', failed.end)
  }
  const now = deps.clock.now()
  await deps.db.transaction(async (tx) => {
    await lockAccount(tx, account.id)
    const bought = await boughtBy(tx, account.id)
    await auditChange(tx, deps, { ownerId: account.id, before: currentOf(planPeriods(bought), now), after: null }, now)
    for (const { id } of open(bought, now)) {
      await tx
        .update(purchases)
        .set({ endedAt: now })
        .where(and(eq(purchases.id, id), isNull(purchases.endedAt)))
      await scheduleCheck(tx, and(eq(purchases.id, id), eq(purchases.paymentType, 'subscription')), now)
    }
    await deps.onPlanChange(tx, account.id, now)
  })
}

function settingsOf({ config }: ReconcileDeps, message = refusals.notSetUp): ProviderSettings {
  if (!config.razorpay) throw new ProblemError('payments_not_set_up', message)
  return config.razorpay
}

async function priceFor(
  db: Database,
  account: Account,
  buying: Buying,
  now: Instant,
): Promise<{ periods: PlanPeriod[]; price: Price; bought: Purchase[] }> {
  const bought = await boughtBy(db, account.id)
  const periods = planPeriods(bought)
  const current = currentOf(periods, now)
  if (current?.plan === buying.plan) refuseTooEarly(current, account, now)
  return { bought, periods, price: priceOf(buying, { periods, trialEnd: trialEndOf(account) }, now) }
}

/** The plan that runs can be bought again only where it was paid once and ends soon. */
function refuseTooEarly(current: PlanPeriod, account: Account, now: Instant): void {
  const { title } = planOf(current.plan)
  const from = renewableFrom(current)
  if (from && Temporal.Instant.compare(from, now) <= 0) return
  const day = (at: Instant) => dayOf(at, account.timezone)
  if (from && current.to) throw new ProblemError('conflict', refusals.renewableFrom(title, day(current.to), day(from)))
  throw new ProblemError('conflict', current.ends && current.to ? refusals.runsUntil(title, day(current.to)) : refusals.runsAlready(title))
}

/**
 * A browser may have closed after paying, with the webhook still on its way. A paid purchase must neither be paid again nor be missing from a
 * credit. If the provider does not answer, the purchase goes ahead and the check is repeated later.
 */
async function refreshPending(deps: ReconcileDeps, account: Account): Promise<void> {
  const now = deps.clock.now()
  const begun = await deps.db
    .select({ id: purchases.id })
    .from(purchases)
    .where(
      and(
        eq(purchases.ownerId, account.id),
        isNull(purchases.paidAt),
        isNotNull(purchases.providerId),
        or(isNull(purchases.providerStatus), eq(purchases.providerStatus, 'created')),
        gt(purchases.createdAt, now.subtract(asked.since)),
      ),
    )
    .orderBy(desc(purchases.createdAt))
    .limit(asked.atMost)
  await Promise.all(begun.map(({ id }) => reconcileInBackground(deps, id)))
}

/**
 * Stores the purchase before the provider is called. `known`: the provider may have it already, so it is searched for first. Unpaid earlier
 * purchases are cancelled where possible.
 */
async function beginPurchase(deps: ReconcileDeps, account: Account, buying: Buying): Promise<{ purchase: Purchase; known: boolean }> {
  const now = deps.clock.now()
  if (deps.config.rateLimit) await countTry(deps.db, `checkout:${account.id}`, begunByOneAccount, now)
  return deps.db.transaction(async (tx) => {
    if (!(await lockAccount(tx, account.id))) throw new ProblemError('not_signed_in', refusals.signIn)
    const { price, bought } = await priceFor(tx, account, buying, now)
    const { priceMinor, creditMinor, firstChargeAt } = price
    const amountMinor = buying.paymentType === 'onetime' ? price.dueMinor : priceMinor
    const unpaid = bought.filter(
      (one) => !one.paidAt && !one.cancelWanted && (one.providerStatus === null || one.providerStatus === 'created'),
    )
    const same = unpaid.find(
      (one) =>
        one.plan === buying.plan &&
        one.billingPeriod === buying.billingPeriod &&
        one.paymentType === buying.paymentType &&
        one.amountMinor === amountMinor &&
        one.creditMinor === creditMinor &&
        (buying.paymentType === 'onetime' || (one.providerId !== null && sameInstant(one.startAt, firstChargeAt))) &&
        Temporal.Instant.compare(one.createdAt.add(reusedFor), now) > 0,
    )
    for (const one of unpaid)
      if (one !== same && one.paymentType === 'subscription' && one.providerId) await cancelAtProvider(tx, one.id, now)
    if (same) return { purchase: same, known: true }
    const [purchase] = await tx
      .insert(purchases)
      .values({
        id: newId(),
        ownerId: account.id,
        ...buying,
        priceMinor,
        amountMinor,
        creditMinor,
        creditUntil: creditMinor > 0 || !price.startsAt.equals(now) ? firstChargeAt : null,
        startAt: firstChargeAt,
        createdAt: now,
        nextCheckAt: firstCheck(now),
      })
      .returning()
    return { purchase: purchase as Purchase, known: false }
  })
}

/** Finds the order of an attempt that got no answer, or creates it: the provider has no idempotency keys. */
async function placeOrder(deps: ReconcileDeps, provider: Razorpay, purchase: Purchase, known: boolean): Promise<string> {
  const order = (known ? await provider.findOrder(purchase.id) : null) ?? (await makeOrder(provider, purchase))
  const [placed] = await deps.db
    .update(purchases)
    .set({ providerId: sql`coalesce(${purchases.providerId}, ${order.id})` })
    .where(eq(purchases.id, purchase.id))
    .returning({ providerId: purchases.providerId })
  return placed?.providerId ?? order.id
}

async function makeOrder(provider: Razorpay, purchase: Purchase): Promise<{ id: string }> {
  try {
    return await provider.createOrder({ amount: purchase.amountMinor, receipt: purchase.id, notes: notesOf(purchase) })
  } catch (error) {
    if (!(error instanceof ProviderError) || error.kind === 'refused') throw error
    // The order may have been created: if so, it is found by its receipt.
    const made = await provider.findOrder(purchase.id)
    if (!made) throw error
    return made
  }
}

async function placeSubscription(deps: ReconcileDeps, settings: ProviderSettings, purchase: Purchase): Promise<string> {
  const provider = openRazorpay(settings)
  const { id } = await provider.createSubscription({
    planId: await providerPlan(deps.db, settings, provider, purchase),
    period: purchase.billingPeriod,
    startAt: purchase.startAt,
    notes: notesOf(purchase),
  })
  await deps.db.update(purchases).set({ providerId: id, providerStatus: 'created' }).where(eq(purchases.id, purchase.id))
  return id
}

/** The provider's plan for a price, made the first time. Made twice at the same moment, the first one is kept. */
async function providerPlan(db: Database, settings: ProviderSettings, provider: Razorpay, purchase: Purchase): Promise<string> {
  const key = { keyId: settings.keyId, plan: purchase.plan, billingPeriod: purchase.billingPeriod, priceMinor: purchase.priceMinor }
  const find = async () => {
    const [found] = await db
      .select({ planId: providerPlans.planId })
      .from(providerPlans)
      .where(
        and(
          eq(providerPlans.keyId, key.keyId),
          eq(providerPlans.plan, key.plan),
          eq(providerPlans.billingPeriod, key.billingPeriod),
          eq(providerPlans.priceMinor, key.priceMinor),
        ),
      )
    return found?.planId
  }
  const found = await find()
  if (found) return found
  const planId = await provider.createPlan({
    period: purchase.billingPeriod,
    name: `Duely ${planOf(purchase.plan).title}, ${purchase.billingPeriod}`,
    amount: purchase.priceMinor,
  })
  await db
    .insert(providerPlans)
    .values({ ...key, planId })
    .onConflictDoNothing()
  return (await find()) ?? planId
}

function notesOf({ id, plan, billingPeriod }: Purchase): Record<string, string> {
  return { purchase: id, plan, billingPeriod }
}

async function ownPurchase(db: Database, account: Account, paymentType: PaymentType, providerId: string): Promise<Purchase> {
  const [found] = await db
    .select()
    .from(purchases)
    .where(and(eq(purchases.ownerId, account.id), eq(purchases.paymentType, paymentType), eq(purchases.providerId, providerId)))
  if (!found) throw new ProblemError('not_found', refusals.noPurchase)
  return found
}

/** Makes the background check the purchase, even if this process dies before the provider answers. */
async function claim({ db, clock }: ReconcileDeps, purchase: Purchase): Promise<void> {
  const now = clock.now()
  await db
    .update(purchases)
    .set({ claimedAt: now })
    .where(and(eq(purchases.id, purchase.id), isNull(purchases.claimedAt)))
  await scheduleCheck(db, and(eq(purchases.id, purchase.id), gt(purchases.nextCheckAt, now)), now)
}

async function confirm(deps: ReconcileDeps, purchaseId: string): Promise<Purchase> {
  try {
    const settled = await reconcilePurchase(deps, purchaseId)
    if (!settled) throw new Error('A purchase has gone, although none is ever deleted.')
    return settled
  } catch (error) {
    throw unconfirmed(deps, error)
  }
}

function pending(): ProblemError {
  return new ProblemError('payment_pending', refusals.pending)
}

function unconfirmed({ log }: ReconcileDeps, error: unknown): unknown {
  if (!(error instanceof ProviderError)) return error
  log.warn({ err: error }, 'A payment is not confirmed yet; checking again later.')
  return new ProblemError('payment_refused', refusals.unconfirmed)
}

/** Cancels at the provider. Succeeds if it has ended there already; on any other failure nothing has changed. */
async function cancelThere(
  deps: ReconcileDeps,
  provider: Razorpay,
  purchase: Purchase,
  when: 'now' | 'cycle_end',
  failure: string,
): Promise<void> {
  if (!purchase.providerId) return
  try {
    await provider.cancelSubscription(purchase.providerId, when)
  } catch (error) {
    const over = error instanceof ProviderError && error.kind === 'refused' && (await isOverThere(provider, purchase.providerId))
    if (!over) throw inWords(deps, error, failure)
  }
}

async function isOverThere(provider: Razorpay, providerId: string): Promise<boolean> {
  try {
    return isOver((await provider.subscription(providerId)).status)
  } catch (error) {
    if (error instanceof ProviderError) return false
    throw error
  }
}

/** Reads back a change; if that fails, the background does it later. */
async function refreshPurchase(deps: ReconcileDeps, purchaseId: string, now: Instant): Promise<void> {
  await scheduleCheck(deps.db, eq(purchases.id, purchaseId), now)
  try {
    await reconcilePurchase(deps, purchaseId)
  } catch (error) {
    if (!(error instanceof ProviderError)) throw error
    deps.log.warn({ err: error, purchaseId }, 'The payment provider did not answer; retrying later.')
  }
}

function inWords({ log }: ReconcileDeps, error: unknown, failure: string, comfort = ''): unknown {
  if (!(error instanceof ProviderError)) return error
  log.warn({ err: error, status: error.status }, 'A request to the payment provider failed.')
  // 401 means wrong keys, which a customer cannot fix.
  const own = error.kind === 'refused' && error.status !== 401
  return new ProblemError('payment_refused', own ? refusals.providerSays(failure, error.message) : refusals.providerDown(failure, comfort))
}

function sameInstant(a: Instant | null, b: Instant | null): boolean {
  return a === null || b === null ? a === b : a.equals(b)
}

/** The provider knows whole seconds only. */
function wholeSecond(at: Instant): Instant {
  return Temporal.Instant.fromEpochMilliseconds(Math.ceil(at.epochMilliseconds / 1000) * 1000)
}
