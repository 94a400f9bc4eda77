import { setTimeout as pause } from 'node:timers/promises'
import { and, asc, eq, inArray, lte, sql } from 'drizzle-orm'
import { fromMinor } from '#contract/money.ts'
import { isTestKey } from '#contract/payment-settings.ts'
import type { PaymentMethod } from '#contract/payments.ts'
import { screens } from '#contract/screens.ts'
import { type AccountRow, lockAccount, type OnAccountDeleted } from '#server/accounts/accounts.ts'
import { notifyOwner } from '#server/accounts/notices.ts'
import { balanceMinor, livePayments, type NewPayment, settle, sumOf } from '#server/invoices/balance.ts'
import { type AfterChange, type InvoiceRow, invoicePayments, invoices } from '#server/invoices/tables.ts'
import type { Instant } from '#server/platform/clock.ts'
import type { Database } from '#server/platform/database.ts'
import type { Deps } from '#server/platform/deps.ts'
import { type Attempt, cancelAttempts, isOpen, markOpen, openStates } from './attempts.ts'
import { askProviderJob } from './jobs.ts'
import { providersOf } from './keys.ts'
import { type PaymentProvider, ProviderError, type ProviderLink, type ProviderPaid } from './razorpay.ts'
import { payAttemptInvoices, payAttempts, payEvents } from './tables.ts'
import { noticeTexts } from './texts.ts'

/** Seconds after the start at which the provider is asked; then again and again, until some time after the link has expired. */
const firstAsks = [20, 40, 90]
const askedEvery = { seconds: 120 }
const askedAfterExpiry = { minutes: 15 }
/** Days after a payment at which it is looked at for refunds. */
const refundDays = [1, 3, 7, 30, 90]
/** Where the provider does not answer by then, it is asked hourly for a day, then daily for a month. */
const lateAsks = { hourly: 24, daily: 30 }
/** A link whose making was not answered does not exist if it cannot be found after so long. */
const surelyMade = { seconds: 90 }
/** Milliseconds before the link of a deleted account is tried again, and after which no try begins. */
const cancelPauses = [200, 600, 1_200]
const cancelWithin = 10_000

interface Confirming extends Deps {
  afterChange: AfterChange
}

/** The job of one attempt: what the provider answers is the truth, whatever a webhook or a browser has said. */
export async function confirmPayment(deps: Confirming, attemptId: string): Promise<void> {
  const { db, clock, config, log } = deps
  const now = clock.now()
  const [attempt] = await db.select().from(payAttempts).where(eq(payAttempts.id, attemptId))
  if (!attempt?.nextAskAt || Temporal.Instant.compare(attempt.nextAskAt, now) > 0) return
  // A process that dies meanwhile has asked too little, never too often.
  const next = nextAsk(attempt, now) ?? now.add(askedEvery)
  await db
    .update(payAttempts)
    .set({ nextAskAt: next })
    .where(and(eq(payAttempts.id, attemptId), eq(payAttempts.wakes, attempt.wakes)))
  const providers = await providersOf(db, config, attempt)
  try {
    const heard = await inTurn(providers, (provider) => ask(db, provider, attempt, now))
    await db.transaction((tx) => writeDown(deps, tx, attempt, heard, now))
  } catch (error) {
    if (!(error instanceof ProviderError)) throw error
    log.warn({ err: error, attemptId }, 'The payment provider did not answer about an online payment.')
    await askLater(db, attempt, error, now)
  }
}

/** By the next keys where the provider does not know these any more. */
async function inTurn<T>(providers: PaymentProvider[], work: (provider: PaymentProvider) => Promise<T>): Promise<T | null> {
  for (const [at, provider] of providers.entries())
    try {
      return await work(provider)
    } catch (error) {
      if (!(error instanceof ProviderError) || error.status !== 401 || at === providers.length - 1) throw error
    }
  return null
}

/** `missing`: the provider has no such link. */
type Heard = { state: ProviderLink['state'] | 'missing'; payments: ProviderPaid[] }

async function ask(db: Database, provider: PaymentProvider, attempt: Attempt, now: Instant): Promise<Heard> {
  let { providerId } = attempt
  let cancelWanted = attempt.cancelWanted
  if (providerId === null) {
    const link = await provider.find(attempt.id)
    if (!link) return { state: 'missing', payments: [] }
    const opened = await markOpen(db, attempt.id, link)
    providerId = link.id
    // The client was not led there in time, or the account is deleted.
    cancelWanted ||= opened === null || isPast(attempt.startedAt.add(surelyMade), now)
  }
  if (cancelWanted && isOpen(attempt))
    await provider.cancel(providerId).catch((error: unknown) => {
      // It is paid, or has ended: that is asked now.
      if (!(error instanceof ProviderError) || error.kind !== 'refused' || error.status === 401) throw error
    })
  return provider.ask(providerId)
}

/** `heard` null: there are no keys any more. */
async function writeDown(deps: Confirming, tx: Database, asked: Attempt, heard: Heard | null, now: Instant): Promise<void> {
  const owner = await lockAccount(tx, asked.ownerId)
  const [attempt] = await tx.select().from(payAttempts).where(eq(payAttempts.id, asked.id)).for('update')
  if (!owner || !attempt) return
  const { state: linkState = 'missing', payments = [] } = heard ?? {}
  const captured = payments.filter((payment) => payment.captured)
  const reserved = payments.some((payment) => payment.reserved)
  const state = stateAfter(attempt, linkState, captured.length > 0, now)
  const after: Attempt = {
    ...attempt,
    state,
    paidAt: attempt.paidAt ?? captured[0]?.at ?? null,
    paymentIds: [
      ...new Set([...attempt.paymentIds, ...captured.flatMap(({ id, refunds }) => [id, ...refunds.map((refund) => refund.id)])]),
    ],
    failures: 0,
  }
  const next = heard === null ? null : nextAsk(after, now, reserved)
  // Before anything is recorded: what changes a balance cancels the open attempts over it.
  await tx
    .update(payAttempts)
    .set({
      state,
      paidAt: after.paidAt,
      paymentIds: after.paymentIds,
      failures: 0,
      // A webhook since the question needs another one, by the same keys.
      ...(attempt.wakes === asked.wakes ? { nextAskAt: next, ...(next === null ? { sealedSecret: null } : {}) } : {}),
    })
    .where(eq(payAttempts.id, attempt.id))
  let { paymentIds } = attempt
  for (const payment of captured) {
    if (!attempt.paymentIds.includes(payment.id)) {
      await record(deps, tx, owner, { ...attempt, paymentIds }, payment, now)
      paymentIds = [...paymentIds, payment.id]
    }
    for (const refund of payment.refunds) await recordRefund(deps, tx, owner, attempt, { ...refund, payment }, now)
  }
  if (reserved && captured.length === 0 && isOpen(attempt) && !isOpen(after)) await notifyReserved(deps, tx, owner, attempt, now)
}

function stateAfter(attempt: Attempt, said: Heard['state'], isPaid: boolean, now: Instant): Attempt['state'] {
  if (isPaid || attempt.state === 'paid') return 'paid'
  if (!isOpen(attempt)) return attempt.state
  if (said === 'cancelled') return 'cancelled'
  if (said === 'missing' && isPast(attempt.startedAt.add(surelyMade), now)) return 'failed'
  // A payment that was begun in time may arrive after the link has expired.
  return isPast(attempt.expiresAt.add(askedAfterExpiry), now) ? 'expired' : attempt.providerId === null ? attempt.state : 'open'
}

/** When the provider is asked next; null where nothing can change any more. `reserved`: money is, that may still be captured. */
function nextAsk(attempt: Attempt, now: Instant, reserved = false): Instant | null {
  const { startedAt, expiresAt, state, paidAt } = attempt
  const last = expiresAt.add(askedAfterExpiry)
  const first = (times: Instant[]) => times.find((at) => !isPast(at, now)) ?? null
  const daysAfter = (at: Instant) => refundDays.map((days) => at.add({ hours: 24 * days }))
  if (state === 'paid') return first([last, ...daysAfter(paidAt ?? startedAt)])
  if (state === 'failed') return null
  if (state === 'cancelled') return first([last])
  if (state === 'expired') return reserved ? first(daysAfter(startedAt)) : null
  const soon = first(firstAsks.map((seconds) => startedAt.add({ seconds }))) ?? now.add(askedEvery)
  return isPast(last, soon) && !isPast(last, now) ? last : soon
}

/** The provider did not answer, or refused to: at the next time, and later less and less often. */
async function askLater(db: Database, attempt: Attempt, error: ProviderError, now: Instant): Promise<void> {
  const { failures, wakes } = attempt
  const isOver = isPast(attempt.expiresAt.add(askedAfterExpiry), now)
  const late =
    failures < lateAsks.hourly ? now.add({ hours: 1 }) : failures < lateAsks.hourly + lateAsks.daily ? now.add({ hours: 24 }) : null
  const isLost = isOver && (error.kind === 'refused' || late === null)
  const next = isLost
    ? null
    : isOver
      ? late
      : attempt.cancelWanted
        ? now.add({ seconds: 5 * 2 ** Math.min(failures, 5) })
        : nextAsk(attempt, now)
  await db
    .update(payAttempts)
    .set({
      failures: isOver ? sql`${payAttempts.failures} + 1` : attempt.cancelWanted ? failures + 1 : 0,
      nextAskAt: next,
      ...(isLost ? { sealedSecret: null, state: isOpen(attempt) ? ('expired' as const) : attempt.state } : {}),
    })
    .where(and(eq(payAttempts.id, attempt.id), eq(payAttempts.wakes, wakes)))
}

const methods: Record<string, PaymentMethod> = { upi: 'upi', card: 'card', emi: 'card', netbanking: 'bank', bank_transfer: 'bank' }

/**
 * Records one payment, over the invoices it was started for: what the provider says, even if it is another amount, comes twice, or an invoice was
 * deleted. What is beyond the parts goes to the last one.
 */
async function record(
  deps: Confirming,
  tx: Database,
  owner: AccountRow,
  attempt: Attempt,
  payment: ProviderPaid,
  now: Instant,
): Promise<void> {
  const { id: providerId, amount, at } = payment
  const { parts, rows, invoicesOf } = await partsOf(tx, attempt)
  const usable = payment.currency === 'INR' ? parts.filter(({ invoiceId }) => rows.get(invoiceId)?.currency === 'INR') : []
  let left = amount
  const shares = usable.flatMap(({ invoiceId, amountMinor }, index) => {
    const row = rows.get(invoiceId)
    const share = index === usable.length - 1 ? left : Math.min(left, amountMinor)
    left -= share
    return row && share > 0 ? [{ row, share }] : []
  })
  const paidOn = dateOf(owner, at, now)
  const live = await livePayments(
    tx,
    owner.id,
    shares.map(({ row }) => row.id),
  )
  const newPayment = (share: number): NewPayment => ({
    origin: 'razorpay',
    amountMinor: share,
    paidOn,
    method: methods[payment.method ?? ''] ?? 'online',
    reference: providerId,
    providerId,
  })
  const changes = shares.map(({ row, share }) => ({ row, live: live.get(row.id), record: [newPayment(share)] }))
  await settle(tx, owner, changes, now, deps.afterChange)
  const notice = isTestKey(attempt.keyId)
    ? noticeTexts.trial
    : noticeTexts.paidOnline({
        invoices: invoicesOf,
        amount: fromMinor(amount, payment.currency),
        currency: payment.currency,
        asked: fromMinor(attempt.amountMinor, 'INR'),
        isRecorded: shares.length > 0,
        isSecond: attempt.paymentIds.length > 0,
      })
  await notifyOfPayment(deps, tx, owner, { cause: providerId, ...notice, invoicesOf }, now)
}

/** Money that the owner's settings at the provider have not captured: it goes back to the client unless they do. */
async function notifyReserved(deps: Confirming, tx: Database, owner: AccountRow, attempt: Attempt, now: Instant): Promise<void> {
  const { invoicesOf } = await partsOf(tx, attempt)
  await notifyOfPayment(deps, tx, owner, { cause: attempt.id, ...noticeTexts.reserved(invoicesOf), invoicesOf }, now)
}

async function notifyOfPayment(
  deps: Confirming,
  tx: Database,
  owner: AccountRow,
  about: { kind?: 'refunded_online'; cause: string; title: string; summary: string; text: string; invoicesOf: InvoiceRow[] },
  now: Instant,
): Promise<void> {
  const { invoicesOf, ...notice } = about
  const clients = invoicesOf.slice(0, 20).map(({ id, clientName, reference }) => ({ clientName, invoiceId: id, reference }))
  const [first] = invoicesOf.filter(({ deletedAt }) => deletedAt === null)
  const link = first ? screens.invoice(first.id) : screens.gettingPaid
  await notifyOwner(tx, deps, owner, { kind: 'paid_online', ...notice, link, clients }, now)
}

/** Takes a refund off what its payment paid, from the last invoice on, and never more than is paid. Once, and the owner gets one notice. */
async function recordRefund(
  deps: Confirming,
  tx: Database,
  owner: AccountRow,
  attempt: Attempt,
  refund: ProviderPaid['refunds'][number] & { payment: ProviderPaid },
  now: Instant,
): Promise<void> {
  // A trial is recorded nowhere.
  if (isTestKey(attempt.keyId)) return
  const { id: paymentId, currency } = refund.payment
  const its = and(eq(invoicePayments.ownerId, owner.id), inArray(invoicePayments.providerId, [paymentId, refund.id]))
  const known = await tx.select().from(invoicePayments).where(its).orderBy(asc(invoicePayments.id))
  if (known.some(({ providerId }) => providerId === refund.id)) return
  const rows = await lockInvoices(
    tx,
    owner.id,
    known.map(({ invoiceId }) => invoiceId),
  )
  const live = await livePayments(tx, owner.id, [...rows.keys()])
  // One that was found before took nothing off because it had been taken off by hand. What is paid since is not its.
  const wasFound = attempt.paymentIds.includes(refund.id)
  let left = refund.amount
  const changes = known.toReversed().flatMap(({ invoiceId, amountMinor }) => {
    const row = rows.get(invoiceId)
    if (!row) return []
    const before = (live.get(invoiceId) ?? []).filter(({ note }) => note === noticeTexts.refundOf(paymentId))
    const paid = amountMinor - before.reduce((sum, one) => sum + one.amountMinor, 0)
    const byHand = (live.get(invoiceId) ?? []).filter(({ kind, origin }) => wasFound && kind === 'refund' && origin !== 'razorpay')
    const share = Math.max(0, Math.min(left, paid, row.paidMinor) + sumOf(byHand))
    left -= share
    const recorded: NewPayment = {
      kind: 'refund',
      origin: 'razorpay',
      amountMinor: share,
      paidOn: dateOf(owner, refund.at, now),
      method: 'online',
      reference: refund.id,
      note: noticeTexts.refundOf(paymentId),
      providerId: refund.id,
    }
    return share > 0 ? [{ row, live: live.get(invoiceId), record: [recorded] }] : []
  })
  const settled = await settle(tx, owner, changes, now, deps.afterChange)
  if (changes.length === 0 && wasFound) return
  const invoicesOf = changes.length === 0 ? (await partsOf(tx, attempt)).invoicesOf : settled.rows.toReversed()
  const open = invoicesOf.filter((row) => row.deletedAt === null && row.currency === 'INR' && balanceMinor(row) > 0)
  const notice = noticeTexts.refunded({
    invoices: invoicesOf,
    amount: fromMinor(refund.amount, currency),
    currency,
    taken: fromMinor(-sumOf(settled.recorded), currency),
    open,
    balance: fromMinor(
      open.reduce((sum, row) => sum + balanceMinor(row), 0),
      'INR',
    ),
  })
  await notifyOfPayment(deps, tx, owner, { kind: 'refunded_online', cause: refund.id, ...notice, invoicesOf }, now)
}

/** How an attempt is divided, and its invoices, oldest first. */
async function partsOf(tx: Database, attempt: Attempt) {
  const parts = await tx
    .select()
    .from(payAttemptInvoices)
    .where(eq(payAttemptInvoices.attemptId, attempt.id))
    .orderBy(asc(payAttemptInvoices.place))
  const rows = await lockInvoices(
    tx,
    attempt.ownerId,
    parts.map(({ invoiceId }) => invoiceId),
  )
  return { parts, rows, invoicesOf: parts.flatMap(({ invoiceId }) => rows.get(invoiceId) ?? []) }
}

/** Also the deleted ones: what is paid is paid. */
async function lockInvoices(tx: Database, ownerId: string, ids: string[]): Promise<Map<string, InvoiceRow>> {
  if (ids.length === 0) return new Map()
  const found = await tx
    .select()
    .from(invoices)
    .where(and(eq(invoices.ownerId, ownerId), inArray(invoices.id, ids)))
    .orderBy(invoices.id)
    .for('update')
  return new Map(found.map((row) => [row.id, row]))
}

/** The date in the account's zone; the provider's clock may be ahead. */
function dateOf({ timezone }: AccountRow, at: Instant, now: Instant): string {
  const earlier = isPast(at, now) ? at : now
  return earlier.toZonedDateTimeISO(timezone).toPlainDate().toString()
}

function isPast(at: Instant, now: Instant): boolean {
  return Temporal.Instant.compare(at, now) <= 0
}

/** Enqueues the attempts whose time has come. Every two seconds. */
export async function askDue({ db, queue, clock }: Pick<Deps, 'db' | 'queue' | 'clock'>): Promise<void> {
  const due = await db
    .select({ attemptId: payAttempts.id })
    .from(payAttempts)
    .where(lte(payAttempts.nextAskAt, clock.now()))
    .orderBy(asc(payAttempts.nextAskAt))
    .limit(200)
  if (due.length > 0) await queue.sendMany(db, askProviderJob, due)
}

/** Events are repeated for days at most; attempts that came to nothing are of no use after a month. */
export async function pruneAttempts(db: Database, now: Instant): Promise<void> {
  const monthAgo = now.subtract({ hours: 30 * 24 })
  await db.delete(payEvents).where(lte(payEvents.receivedAt, monthAgo))
  await db
    .delete(payAttempts)
    .where(
      and(
        lte(payAttempts.startedAt, monthAgo),
        inArray(payAttempts.state, ['cancelled', 'expired', 'failed']),
        sql`${payAttempts.nextAskAt} IS NULL`,
      ),
    )
}

/** What is open of an account that is deleted is cancelled at the provider: nothing could record its payment any more. */
export function payOnAccountDeleted(deps: Pick<Deps, 'config' | 'log'>): OnAccountDeleted {
  return async (db, ownerId) => {
    const open = await db
      .select()
      .from(payAttempts)
      .where(and(eq(payAttempts.ownerId, ownerId), sql`${payAttempts.state} IN ${openStates}`))
    const found = await Promise.all(open.map(async (attempt) => ({ attempt, providers: await providersOf(db, deps.config, attempt) })))
    return async () => {
      await Promise.all(
        found.map(({ attempt, providers }) =>
          cancelNow(providers, attempt).catch((error: unknown) =>
            deps.log.warn({ err: error, attemptId: attempt.id }, 'The payment link of a deleted account could not be cancelled.'),
          ),
        ),
      )
    }
  }
}

/** Cancels a link, which is found by its reference where its making was not answered. A provider that does not answer is asked a few times. */
async function cancelNow(providers: PaymentProvider[], { id, providerId }: Attempt): Promise<void> {
  const signal = AbortSignal.timeout(cancelWithin)
  for (let tried = 0; ; tried += 1)
    try {
      await inTurn(providers, async (provider) => {
        const linkId = providerId ?? (await provider.find(id))?.id
        if (linkId !== undefined) await provider.cancel(linkId)
      })
      return
    } catch (error) {
      const wait = cancelPauses[tried]
      if (!(error instanceof ProviderError) || error.kind === 'refused' || wait === undefined || signal.aborted) throw error
      await pause(wait)
    }
}

/** Cancels everything that is open of an account, such as when its keys change. */
export const cancelAll = (tx: Database, ownerId: string, now: Instant) => cancelAttempts(tx, eq(payAttempts.ownerId, ownerId), now)
