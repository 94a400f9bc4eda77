import { and, eq, isNull, sql } from 'drizzle-orm'
import { z } from 'zod'
import { amountProblem, formatMoney, fromMinor, toMinor } from '#contract/money.ts'
import type { PaymentDraft } from '#contract/payments.ts'
import { type Origin, writeAudit } from '#server/accounts/accounts.ts'
import type { Instant } from '#server/platform/clock.ts'
import type { Database } from '#server/platform/database.ts'
import { invalid, ProblemError } from '#server/platform/problem-error.ts'
import { isPaidAfter, type NewPayment, paymentsOf, refundFirst, type Settling, settle, sumOf } from './balance.ts'
import { hashOf } from './idempotency.ts'
import { localDate, lockInvoice, lockOwnersRow, openRoom, readInvoice, refuseMorePayments, tooManyOpen } from './invoices.ts'
import { type AfterChange, type InvoiceRow, invoicePayments, type PaymentRow } from './tables.ts'
import { texts } from './texts.ts'

interface Recorded {
  payment: PaymentRow
  invoice: InvoiceRow
}

/** The payments and refunds of an invoice, newest first. Refuses with `not_found`. */
export async function listPayments(db: Database, ownerId: string, invoiceId: string): Promise<PaymentRow[]> {
  return paymentsOf(db, ownerId, [(await readInvoice(db, ownerId, invoiceId)).id])
}

/**
 * Records a payment or a refund. Under an Idempotency-Key at most once, also for simultaneous requests, and whenever it is repeated: the key
 * is kept with the row. Refuses with `invalid` a date in the future and a refund of more than is paid, and with `conflict` a key that was
 * used for something else, and one more payment than an invoice may have.
 */
export async function recordPayment(
  db: Database,
  ownerId: string,
  asked: { invoiceId: string; draft: PaymentDraft; key: string | null; origin: PaymentRow['origin'] },
  now: Instant,
  afterChange: AfterChange,
): Promise<Recorded> {
  const { invoiceId, draft, key, origin } = asked
  const requestHash = key === null ? null : hashOf(draft, invoiceId.toLowerCase())
  return db.transaction(async (tx) => {
    const [, { owner, row, live, recorded }] = await Promise.all([lockOwnersRow(tx, ownerId), lockInvoice(tx, ownerId, invoiceId)])
    const before = key === null ? null : await recordedUnder(tx, ownerId, key)
    if (before && before.requestHash !== requestHash) throw new ProblemError('conflict', texts.payment.keyUsed)
    if (before) return { payment: before, invoice: row }
    refuseMorePayments(row, recorded)
    const today = localDate(now, owner.timezone)
    const { amount, paidOn = today, ...fields } = draft
    if (paidOn > today) throw invalid('paidOn', texts.payment.future)
    const amountMinor = toMinor(amount, row.currency)
    if (amountMinor === null) throw invalid('amount', amountProblem(amount, row.currency) ?? '')
    if (draft.kind === 'credit') await refuseCreditTwice(tx, row, draft.reference)
    if (draft.kind === 'refund' && amountMinor > row.paidMinor)
      throw invalid('amount', texts.payment.mostRefund(formatMoney(fromMinor(row.paidMinor, row.currency), row.currency)))
    const payment: NewPayment = { ...fields, amountMinor, paidOn, origin, requestKey: key, requestHash }
    return settleOne(tx, owner, { row, live, record: [payment] }, now, afterChange)
  })
}

/**
 * Takes a payment or refund back: it stays in the list and does not count any more. Once it is taken back, nothing changes. Refuses with
 * `conflict` one that came from the provider, and a payment that a refund needs.
 */
export async function takePaymentBack(
  db: Database,
  ownerId: string,
  about: { invoiceId: string; paymentId: string; from: Origin },
  now: Instant,
  afterChange: AfterChange,
): Promise<Recorded> {
  return db.transaction(async (tx) => {
    const [, { owner, row, live }] = await Promise.all([lockOwnersRow(tx, ownerId), lockInvoice(tx, ownerId, about.invoiceId)])
    const payment = await readPayment(tx, row, about.paymentId)
    if (payment.voidedAt) return { payment, invoice: row }
    if (payment.origin === 'razorpay') throw new ProblemError('conflict', texts.payment.fromProvider)
    if (row.paidMinor < sumOf([payment])) throw refundFirst(row.reference)
    const { invoice } = await settleOne(tx, owner, { row, live, takeBack: [payment] }, now, afterChange)
    const what = texts.payment.voided(payment.kind, formatMoney(fromMinor(payment.amountMinor, row.currency), row.currency), row.reference)
    await writeAudit(tx, { ownerId, kind: 'payment_voided', about: what }, about.from, now)
    return { payment: { ...payment, voidedAt: now }, invoice }
  })
}

/** As `settle`, of one invoice; refuses where it is owed again and the account has as many open invoices as it may have. */
async function settleOne(
  tx: Database,
  owner: Parameters<typeof settle>[1],
  settling: Settling,
  now: Instant,
  afterChange: AfterChange,
): Promise<Recorded> {
  const { row, takeBack } = settling
  if (row.status === 'paid' && !isPaidAfter(settling) && (await openRoom(tx, owner.id)) < 1) throw tooManyOpen()
  const { rows, recorded } = await settle(tx, owner, [settling], now, afterChange)
  const payment = recorded[0] ?? takeBack?.[0]
  if (!payment) throw new Error('A payment was neither recorded nor taken back.')
  return { payment, invoice: rows[0] ?? row }
}

/** A credit note counts once, however often the file is chosen that has it. */
async function refuseCreditTwice(tx: Database, { ownerId, id, reference: invoice }: InvoiceRow, reference: string): Promise<void> {
  if (reference === '') return
  const [same] = await tx
    .select({ id: invoicePayments.id })
    .from(invoicePayments)
    .where(
      and(
        eq(invoicePayments.ownerId, ownerId),
        eq(invoicePayments.invoiceId, id),
        eq(invoicePayments.kind, 'credit'),
        sql`lower(${invoicePayments.reference}) = lower(${reference})`,
        isNull(invoicePayments.voidedAt),
      ),
    )
    .limit(1)
  if (same) throw new ProblemError('conflict', texts.payment.creditTwice(reference, invoice))
}

async function readPayment(tx: Database, { ownerId, id }: InvoiceRow, paymentId: string): Promise<PaymentRow> {
  const its = and(eq(invoicePayments.ownerId, ownerId), eq(invoicePayments.invoiceId, id))
  const [payment] = z.uuid().safeParse(paymentId).success
    ? await tx
        .select()
        .from(invoicePayments)
        .where(and(its, eq(invoicePayments.id, paymentId)))
    : []
  if (!payment) throw new ProblemError('not_found', texts.payment.notFound)
  return payment
}

async function recordedUnder(tx: Database, ownerId: string, key: string): Promise<PaymentRow | null> {
  const [row] = await tx
    .select()
    .from(invoicePayments)
    .where(and(eq(invoicePayments.ownerId, ownerId), eq(invoicePayments.requestKey, key)))
  return row ?? null
}
