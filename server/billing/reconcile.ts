import { and, asc, eq, gt, inArray, isNotNull, isNull, lte, notInArray, or, type SQL, sql } from 'drizzle-orm'
import { planOf } from '#contract/plans.ts'
import { lockAccount, type OnAccountDeleted, type Origin, writeAudit } from '#server/accounts/accounts.ts'
import type { Clock, Instant } from '#server/platform/clock.ts'
import type { Database } from '#server/platform/database.ts'
import type { Deps } from '#server/platform/deps.ts'
import { currentOf, isOver, type PlanPeriod, type Purchase, planPeriods, replacedOf } from './entitlements.ts'
import { reconcileJob } from './jobs.ts'
import {
  openRazorpay,
  ProviderError,
  type ProviderInvoice,
  type ProviderPayment,
  type ProviderSubscription,
  type Razorpay,
} from './razorpay.ts'
import { paymentEvents, payments, purchases } from './tables.ts'

/**
 * Runs when an event changes an account's entitlements: a payment, a charge that finally failed, a cancellation. It runs in the same transaction,
 * with the account's row locked. A plan that reaches its end triggers nothing: `entitlementsOf` must be read at that time.
 */
export type OnPlanChange = (tx: Database, ownerId: string, now: Instant) => Promise<void>

export interface ReconcileDeps extends Pick<Deps, 'db' | 'config' | 'log'> {
  clock: Clock
  onPlanChange: OnPlanChange
  /** The browser that asked; missing in the background. */
  origin?: Origin
}

/** Pauses before the provider is asked again after it did not answer, in seconds. */
const retryPauses = [60, 300, 900, 3_600, 6 * 3_600]
const longestPause = 24 * 3_600
const daily = { hours: 24 }
/** So many of a subscription's last charges are asked about again although they are in the ledger: they may have been given back, or tried again. */
const recentCharges = 3
/** An older one is asked about again for so long after an event that names it: the provider may have been away meanwhile. */
const mentionCounts = { hours: 7 * 24 }
/** An unpaid order is checked after this time, then daily while the provider may repeat its events. */
const firstLook = { minutes: 15 }
const orderLives = { hours: 7 * 24 }
/** Money that came in may be given back for half a year. It is asked about daily as long as events are repeated, then weekly. */
const refundLives = { hours: 183 * 24 }
const weekly = { hours: 7 * 24 }
/** A subscription without the customer's agreement is cancelled after this time. */
const agreementLives = { hours: 24 }
/** With agreement it takes longer, because a bank may need days for the first charge. */
const firstChargeLives = { hours: 7 * 24 }

/** The provider as this server is set up with it; null where it sells nothing. */
export function providerOf({ razorpay }: Pick<Deps['config'], 'razorpay'>): Razorpay | null {
  return razorpay ? openRazorpay(razorpay) : null
}

/** The first look at a purchase that has just been made. */
export function firstCheck(createdAt: Instant): Instant {
  return createdAt.add(firstLook)
}

/**
 * Reads a purchase from the provider and stores it: each payment once, and never an older state over a newer one. Browser, webhook and daily
 * check all end here. The provider is called outside of any transaction. Throws ProviderError if it does not answer; a later check is scheduled.
 */
export async function reconcilePurchase(deps: ReconcileDeps, purchaseId: string): Promise<Purchase | null> {
  const provider = providerOf(deps.config)
  if (!provider) return null
  const [asked] = await deps.db
    .update(purchases)
    .set({ asked: sql`${purchases.asked} + 1` })
    .where(eq(purchases.id, purchaseId))
    .returning()
  if (!asked) return null
  try {
    const now = deps.clock.now()
    const heard = await ask(provider, asked, await settledPayments(deps.db, purchaseId, now), now)
    return await deps.db.transaction((tx) => writeDown(tx, deps, asked, heard))
  } catch (error) {
    if (error instanceof ProviderError) await recheckLater(deps, asked, error)
    throw error
  }
}

/** In the background a provider that does not answer is no error: the check is repeated later. */
export async function reconcileInBackground(deps: ReconcileDeps, purchaseId: string): Promise<void> {
  try {
    await reconcilePurchase(deps, purchaseId)
  } catch (error) {
    if (!(error instanceof ProviderError)) throw error
    deps.log.warn({ err: error, purchaseId }, 'The payment provider did not answer; retrying later.')
  }
}

/** Schedules an immediate provider check. */
export async function scheduleCheck(tx: Database, which: SQL | undefined, now: Instant): Promise<void> {
  await tx
    .update(purchases)
    .set({ nextCheckAt: now, wakes: sql`${purchases.wakes} + 1` })
    .where(which)
}

/** Schedules checks of the purchases that stored events are about. */
export async function processInbox({ db, clock }: Pick<ReconcileDeps, 'db' | 'clock'>): Promise<void> {
  for (;;) {
    const waiting = await db
      .select()
      .from(paymentEvents)
      .where(isNull(paymentEvents.handledAt))
      .orderBy(asc(paymentEvents.receivedAt))
      .limit(100)
    for (const event of waiting) await db.transaction((tx) => readEvent(tx, event, clock.now()))
    if (waiting.length < 100) return
  }
}

export async function enqueueDueChecks({ db, queue, clock, config }: Pick<Deps, 'db' | 'queue' | 'clock' | 'config'>): Promise<void> {
  if (!config.razorpay) return
  const due = await db
    .select({ id: purchases.id })
    .from(purchases)
    .where(lte(purchases.nextCheckAt, clock.now()))
    .orderBy(asc(purchases.nextCheckAt))
    .limit(200)
  if (due.length === 0) return
  await db.transaction(async (tx) => {
    for (const { id } of due) await queue.send(tx, reconcileJob, { purchaseId: id })
  })
}

/** The provider repeats an event for 7 days at most: what is older than a month need not be known any more. */
export async function pruneEvents(db: Database, now: Instant): Promise<void> {
  await db.delete(paymentEvents).where(lte(paymentEvents.receivedAt, now.subtract({ hours: 30 * 24 })))
}

/**
 * What the deletion of an account means here: its subscriptions are cancelled at the provider, in the background and until that has
 * happened. They are recognised by having no owner; this only makes it happen immediately and not within a day.
 */
export function billingOnAccountDeleted({ clock }: Pick<Deps, 'clock'>): OnAccountDeleted {
  return async (db, ownerId) => {
    const bought = await db.select().from(purchases).where(eq(purchases.ownerId, ownerId))
    const running = bought
      .filter(({ paymentType, providerStatus }) => paymentType === 'subscription' && !isOver(providerStatus))
      .map(({ id }) => id)
    return async () => {
      if (running.length > 0) await scheduleCheck(db, inArray(purchases.id, running), clock.now())
    }
  }
}

/** Marks a subscription to be cancelled at the provider; what marks it has its reasons in the database already. */
export async function cancelAtProvider(tx: Database, purchaseId: string, now: Instant): Promise<void> {
  await tx.update(purchases).set({ cancelWanted: true }).where(eq(purchases.id, purchaseId))
  await scheduleCheck(tx, eq(purchases.id, purchaseId), now)
}

interface Heard {
  providerId: string | null
  payments: ProviderPayment[]
  subscription: ProviderSubscription | null
  /** The paid ones, the newest period first. */
  invoices: ProviderInvoice[]
}

async function ask(provider: Razorpay, purchase: Purchase, settled: Set<string>, now: Instant): Promise<Heard> {
  const providerId = purchase.providerId ?? (await findAgain(provider, purchase))
  const nothing: Heard = { providerId, payments: [], subscription: null, invoices: [] }
  if (!providerId) return nothing
  if (purchase.paymentType === 'onetime') return { ...nothing, payments: await provider.orderPayments(providerId) }
  let subscription = await provider.subscription(providerId)
  const agreed = purchase.claimedAt !== null || subscription.customer_id !== null
  const stale =
    subscription.status === 'created' &&
    purchase.providerStatus === 'created' &&
    isPast(purchase.createdAt.add(agreed ? firstChargeLives : agreementLives), now)
  const unwanted = purchase.cancelWanted || purchase.ownerId === null || stale
  if (unwanted && !isOver(subscription.status)) subscription = await provider.cancelSubscription(providerId, 'now')
  const invoices = (await provider.subscriptionInvoices(providerId)).sort(
    (a, b) => (b.billing_end?.epochMilliseconds ?? 0) - (a.billing_end?.epochMilliseconds ?? 0),
  )
  const paid = invoices.filter(({ status }) => status === 'paid')
  const unsettled = paid.filter(({ payment_id }) => payment_id && !settled.has(payment_id))
  const found: ProviderPayment[] = []
  for (const invoice of new Set([...invoices.slice(0, recentCharges), ...paid.slice(0, recentCharges), ...unsettled]))
    found.push(...(await triedFor(provider, invoice)))
  return { ...nothing, subscription, invoices: paid, payments: found }
}

/** Every try to charge an invoice: the customer is to find the failed ones too, and why. */
async function triedFor(provider: Razorpay, { order_id: orderId, payment_id: paymentId }: ProviderInvoice): Promise<ProviderPayment[]> {
  const tried = orderId ? await provider.orderPayments(orderId) : []
  return paymentId && !tried.some(({ id }) => id === paymentId) ? [...tried, await provider.payment(paymentId)] : tried
}

/** Payments of which the ledger knows that they came in, and of which no event has spoken lately. */
async function settledPayments(db: Database, purchaseId: string, now: Instant): Promise<Set<string>> {
  const mentioned = db
    .select({ paymentId: sql<string>`${paymentEvents.paymentId}` })
    .from(paymentEvents)
    .where(and(gt(paymentEvents.receivedAt, now.subtract(mentionCounts)), isNotNull(paymentEvents.paymentId)))
  const known = await db
    .select({ paymentId: payments.paymentId })
    .from(payments)
    .where(
      and(
        eq(payments.purchaseId, purchaseId),
        inArray(payments.status, ['captured', 'refunded']),
        notInArray(payments.paymentId, mentioned),
      ),
    )
  return new Set(known.map(({ paymentId }) => paymentId))
}

/** An order whose making was never answered is found by its receipt. A subscription is not: without its ID the customer cannot have agreed to it. */
async function findAgain(provider: Razorpay, purchase: Purchase): Promise<string | null> {
  return purchase.paymentType === 'onetime' ? ((await provider.findOrder(purchase.id))?.id ?? null) : null
}

async function writeDown(tx: Database, deps: ReconcileDeps, asked: Purchase, heard: Heard): Promise<Purchase> {
  const now = deps.clock.now()
  const ownerId = asked.ownerId
  if (ownerId) await lockAccount(tx, ownerId)
  const [purchase] = await tx.select().from(purchases).where(eq(purchases.id, asked.id)).for('update')
  if (!purchase) throw new Error('A purchase has gone, although none is ever deleted.')
  const before = ownerId ? await currentIn(tx, ownerId, now) : null
  for (const one of heard.payments) await keepPayment(tx, purchase, one, now)
  const learned = purchase.paymentType === 'onetime' ? learnOrder(purchase, heard) : learnSubscription(purchase, asked, heard)
  const after = { ...purchase, ...learned }
  const [written] = await tx
    .update(purchases)
    .set({
      ...learned,
      providerId: purchase.providerId ?? heard.providerId,
      failures: 0,
      // An event since the question needs another check.
      ...(purchase.wakes === asked.wakes ? { nextCheckAt: nextCheck(after, heard, now) } : {}),
    })
    .where(eq(purchases.id, purchase.id))
    .returning()
  if (ownerId) {
    const bought = await tx.select().from(purchases).where(eq(purchases.ownerId, ownerId))
    for (const { id } of replacedOf(bought)) await cancelAtProvider(tx, id, now)
    const current = currentOf(planPeriods(bought), now)
    if (fingerprint(current) !== fingerprint(before)) await deps.onPlanChange(tx, ownerId, now)
    await auditChange(tx, deps, { ownerId, before, after: current }, now)
  }
  warnOfUnwanted(deps, purchase, after)
  return written ?? purchase
}

/** Payments for deleted accounts and cancelled subscriptions: only the operator can refund them. */
function warnOfUnwanted({ log }: ReconcileDeps, before: Purchase, after: Purchase): void {
  const paid = (after.paidAt ?? after.paidThrough)?.toString()
  if (!paid || paid === (before.paidAt ?? before.paidThrough)?.toString()) return
  const about = { purchaseId: after.id, providerId: after.providerId }
  if (!after.ownerId) log.warn(about, 'A payment arrived for a deleted account. Please refund it.')
  else if (before.cancelWanted)
    log.warn(about, 'A subscription was charged once more before it could be cancelled. Please check whether to refund it.')
}

async function currentIn(tx: Database, ownerId: string, now: Instant): Promise<PlanPeriod | null> {
  const bought = await tx.select().from(purchases).where(eq(purchases.ownerId, ownerId))
  return currentOf(planPeriods(bought), now)
}

/** The plan that runs, as one word to compare. */
function fingerprint(current: PlanPeriod | null): string {
  return current ? `${current.purchaseId} ${current.plan} ${current.status} ${current.to}` : 'free'
}

/** Records that another plan runs, for the account's owner to read. A plan that ends because its time has come is not recorded. */
export async function auditChange(
  tx: Database,
  { origin }: Pick<ReconcileDeps, 'origin'>,
  change: { ownerId: string; before: Pick<PlanPeriod, 'plan'> | null; after: Pick<PlanPeriod, 'plan'> | null },
  now: Instant,
): Promise<void> {
  const [before, after] = [change.before, change.after].map((one) => planOf(one?.plan ?? 'free').title)
  if (before === after) return
  await writeAudit(tx, { ownerId: change.ownerId, kind: 'plan_changed', about: `${before} to ${after}` }, origin ?? null, now)
}

/** Of a payment that is known already only what goes forward is taken: authorized, then captured, then refunded. */
async function keepPayment(tx: Database, purchase: Purchase, heard: ProviderPayment, now: Instant): Promise<void> {
  if (heard.status === 'created') return
  const rank = sql`array_position(ARRAY['failed', 'authorized', 'captured', 'refunded'], ${payments.status})`
  const values = {
    paymentId: heard.id,
    purchaseId: purchase.id,
    ownerId: purchase.ownerId,
    amountMinor: heard.amount,
    refundedMinor: heard.amount_refunded,
    currency: heard.currency,
    status: heard.status,
    method: heard.method,
    reason: heard.error_description,
    paidAt: heard.created_at,
    recordedAt: now,
  }
  await tx
    .insert(payments)
    .values(values)
    .onConflictDoUpdate({
      target: payments.paymentId,
      set: {
        status: heard.status,
        refundedMinor: sql`greatest(${payments.refundedMinor}, excluded.refunded_minor)`,
        reason: values.reason,
      },
      // A payment belongs to one purchase for ever.
      setWhere: sql`${rank} <= array_position(ARRAY['failed', 'authorized', 'captured', 'refunded'], excluded.status) AND ${payments.purchaseId} = excluded.purchase_id`,
    })
}

/** An order is paid by the first payment that was captured for it, in full, in its currency. */
function learnOrder(purchase: Purchase, heard: Heard): Partial<Purchase> {
  const orderId = purchase.providerId ?? heard.providerId
  const full = heard.payments
    .filter(
      (one) =>
        (one.status === 'captured' || (one.status === 'refunded' && one.captured)) &&
        one.order_id === orderId &&
        one.amount === purchase.amountMinor &&
        one.currency === 'INR',
    )
    .sort((a, b) => Temporal.Instant.compare(a.created_at, b.created_at))[0]
  if (!full) return {}
  const refundedMinor = Math.max(purchase.refundedMinor, full.amount_refunded)
  return purchase.paidAt ? { refundedMinor } : { paidAt: full.created_at, paidMinor: purchase.amountMinor, refundedMinor }
}

/** An answer to an earlier question than the last one that was taken is older, and what is over stays over. */
function learnSubscription(purchase: Purchase, asked: Purchase, heard: Heard): Partial<Purchase> {
  if (!heard.subscription || asked.asked <= purchase.heard) return {}
  return { heard: asked.asked, ...stateOf(purchase, heard.subscription, heard) }
}

function stateOf(purchase: Purchase, said: ProviderSubscription, { invoices: paid, payments: found }: Heard): Partial<Purchase> {
  const status = isOver(purchase.providerStatus) && !isOver(said.status) ? purchase.providerStatus : said.status
  const agreed = status === 'authenticated' || status === 'active' || status === 'pending'
  const newest = paid.find((one) => one.billing_start !== null && one.billing_end !== null)
  const refundedMinor = found.find(({ id }) => id === newest?.payment_id)?.amount_refunded ?? 0
  return {
    providerStatus: status,
    authorised: purchase.authorised || agreed || said.customer_id !== null || paid.length > 0,
    startAt: said.start_at ?? purchase.startAt,
    currentEnd: said.current_end,
    ...(newest ? { paidFrom: newest.billing_start, paidThrough: newest.billing_end, refundedMinor } : {}),
    ...(isOver(status) ? { cancelWanted: false } : {}),
  }
}

/** When to check a purchase next, even without a webhook. */
function nextCheck(purchase: Purchase, heard: Heard, now: Instant): Instant | null {
  if (purchase.paymentType === 'subscription')
    return isOver(purchase.providerStatus) || (!purchase.providerId && isPast(purchase.createdAt.add(agreementLives), now))
      ? null
      : now.add(daily)
  if (purchase.paidAt) {
    const allGivenBack = !heard.payments.some(({ status }) => status === 'captured')
    if (allGivenBack || isPast(purchase.paidAt.add(refundLives), now)) return null
    return now.add(isPast(purchase.paidAt.add(orderLives), now) ? weekly : daily)
  }
  if (isPast(purchase.createdAt.add(orderLives), now)) return null
  const first = firstCheck(purchase.createdAt)
  return isPast(first, now) ? now.add(daily) : first
}

async function recheckLater(deps: ReconcileDeps, asked: Purchase, error: ProviderError): Promise<void> {
  const now = deps.clock.now()
  const pause = retryPauses[asked.failures] ?? longestPause
  await deps.db
    .update(purchases)
    .set({ failures: sql`${purchases.failures} + 1`, nextCheckAt: now.add({ seconds: pause }) })
    .where(and(eq(purchases.id, asked.id), eq(purchases.wakes, asked.wakes)))
  if (error.kind === 'refused')
    deps.log.warn({ err: error, purchaseId: asked.id, status: error.status }, 'The payment provider refused a query about a purchase.')
}

async function readEvent(tx: Database, event: typeof paymentEvents.$inferSelect, now: Instant): Promise<void> {
  const about = [event.orderId, event.subscriptionId].filter((one): one is string => one !== null)
  const [known] = event.paymentId
    ? await tx.select({ id: payments.purchaseId }).from(payments).where(eq(payments.paymentId, event.paymentId))
    : []
  const which = or(...about.map((providerId) => eq(purchases.providerId, providerId)), known ? eq(purchases.id, known.id) : undefined)
  if (which) await scheduleCheck(tx, which, now)
  await tx.update(paymentEvents).set({ handledAt: now }).where(eq(paymentEvents.eventId, event.eventId))
}

function isPast(at: Instant, now: Instant): boolean {
  return Temporal.Instant.compare(at, now) <= 0
}
