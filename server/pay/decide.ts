import { and, desc, eq, isNull, type SQL, sql } from 'drizzle-orm'
import { z } from 'zod'
import type { ClientAnswer } from '#contract/clients.ts'
import { formatMoney, fromMinor, toMinor } from '#contract/money.ts'
import type { AnswerAcceptance, DecidedAnswer, PayAnswer } from '#contract/pay-answers.ts'
import { lockAccount } from '#server/accounts/accounts.ts'
import { withdrawNotices } from '#server/accounts/notices.ts'
import { balanceMinor, livePayments } from '#server/invoices/balance.ts'
import { localDate, updateInvoice } from '#server/invoices/invoices.ts'
import { pauseOf, readClients, resumeByClient } from '#server/invoices/pauses.ts'
import { recordPayment } from '#server/invoices/payments.ts'
import { type AfterChange, type InvoiceRow, invoices, type PaymentRow } from '#server/invoices/tables.ts'
import type { Instant } from '#server/platform/clock.ts'
import type { Database } from '#server/platform/database.ts'
import { invalid, ProblemError } from '#server/platform/problem-error.ts'
import { acceptedPromise, endPromises, keepPromise } from './answers.ts'
import { isReferredTo } from './bank-matching.ts'
import { payAnswers } from './tables.ts'
import { texts } from './texts.ts'

type Row = typeof payAnswers.$inferSelect
const mostListed = 200

/** What clients said about invoices that are not deleted, newest first. */
export async function listAnswers(db: Database, ownerId: string, about?: SQL): Promise<PayAnswer[]> {
  const found = await db
    .select({ answer: payAnswers, invoice: invoices })
    .from(payAnswers)
    .innerJoin(invoices, and(eq(invoices.ownerId, payAnswers.ownerId), eq(invoices.id, payAnswers.invoiceId)))
    .where(and(eq(payAnswers.ownerId, ownerId), isNull(invoices.deletedAt), about))
    .orderBy(desc(payAnswers.at), desc(payAnswers.id))
    .limit(mostListed)
  return found.map(({ answer, invoice }) => toAnswer(answer, invoice))
}

/** What a client said about invoices, newest first. `emailKey`: the address in lower case. */
export async function answersOfClient(db: Database, ownerId: string, emailKey: string): Promise<ClientAnswer[]> {
  const answers = await listAnswers(db, ownerId, sql`lower(${invoices.clientEmail}) = ${emailKey}`)
  return answers.map((answer) => ({ kind: 'answer' as const, _id: answer._id, at: answer.at, answer }))
}

/** What was said about an invoice, newest first. */
export function answersOfInvoice(db: Database, ownerId: string, invoiceId: string): Promise<PayAnswer[]> {
  return listAnswers(db, ownerId, eq(payAnswers.invoiceId, invoiceId))
}

/** `currency`: of its invoice. */
export function answerFields(answer: Omit<Row, 'ownerId' | 'pausedFrom' | 'closedAt'>, currency: string): Omit<PayAnswer, 'invoice'> {
  const { id, invoiceId, kind, at, date, amountMinor, reference, message, name, email, state, pausedUntil } = answer
  return {
    _id: id,
    invoiceId,
    kind,
    at: at.toString(),
    date,
    amount: amountMinor === null ? null : fromMinor(amountMinor, currency),
    reference,
    message,
    name,
    email,
    state,
    pausedUntil,
  }
}

function toAnswer(answer: Row, invoice: InvoiceRow): PayAnswer {
  const { currency } = invoice
  return {
    ...answerFields(answer, currency),
    invoice: {
      reference: invoice.reference,
      clientName: invoice.clientName,
      clientEmail: invoice.clientEmail,
      balance: fromMinor(balanceMinor(invoice), currency),
      amountPaid: fromMinor(invoice.paidMinor, currency),
      currency,
    },
  }
}

/**
 * The owner's decision about an open answer; `accept`: with what the owner corrected, null: declined. Reminders resume, but for a promise that is
 * accepted, now or before. Refuses with `not_found`, and with `conflict` an answer that is not open any more, and a payment
 * that is recorded already.
 */
export async function decideAnswer(
  db: Database,
  about: { ownerId: string; id: string; accept: AnswerAcceptance | null },
  afterChange: AfterChange,
  now: Instant,
): Promise<DecidedAnswer> {
  const { ownerId, id, accept } = about
  return db.transaction(async (tx) => {
    const owner = await lockAccount(tx, ownerId)
    const its = z.uuid().safeParse(id).success ? and(eq(payAnswers.ownerId, ownerId), eq(payAnswers.id, id)) : undefined
    const [answer] = its ? await tx.select().from(payAnswers).where(its) : []
    const [row] = answer ? await tx.select().from(invoices).where(eq(invoices.id, answer.invoiceId)).for('update') : []
    if (!owner || !answer || !row || row.deletedAt) throw new ProblemError('not_found', texts.noAnswer)
    if (answer.state !== 'open') throw new ProblemError('conflict', texts.decided)
    const state = accept ? ('accepted' as const) : ('declined' as const)
    await tx.update(payAnswers).set({ state, closedAt: now }).where(eq(payAnswers.id, answer.id))
    await withdrawNotices(tx, ownerId, ['client_answered', 'answer_lapsed'], row.id)
    const today = localDate(now, owner.timezone)
    if (accept && answer.kind === 'promise') await keepPromise(tx, row, answer, today, now)
    else {
      // “Resume reminders” ends what was promised before, too, and a promise of the wrong person is none.
      if (answer.kind === (accept ? 'wrong_person' : 'promise')) await endPromises(tx, row)
      await resumeByClient(tx, row, await acceptedPromise(tx, row, today), now)
    }
    if (accept) await carryOut(tx, answer, row, accept, afterChange, now)
    await afterChange(tx, ownerId, [row.id], now)
    const [after = row] = await tx.select().from(invoices).where(eq(invoices.id, row.id))
    const [decided = answer] = await tx.select().from(payAnswers).where(eq(payAnswers.id, answer.id))
    return { ...toAnswer(decided, after), pause: pauseOf(after, await readClients(tx, ownerId, [after])) }
  })
}

/** What accepting an answer does besides closing it. */
async function carryOut(
  tx: Database,
  answer: Row,
  row: InvoiceRow,
  accept: AnswerAcceptance,
  afterChange: AfterChange,
  now: Instant,
): Promise<void> {
  const { ownerId, id: invoiceId, currency } = row
  if (answer.kind === 'paid' && accept.recorded !== true) {
    const amount = accept.amount ?? (answer.amountMinor === null ? null : fromMinor(answer.amountMinor, currency))
    if (amount === null) throw invalid('amount', texts.whichAmount)
    const draft = {
      kind: 'payment' as const,
      amount,
      paidOn: accept.paidOn ?? answer.date ?? undefined,
      method: accept.method ?? null,
      reference: accept.reference ?? answer.reference,
      note: '',
    }
    const recorded = (await livePayments(tx, ownerId, [invoiceId])).get(invoiceId) ?? []
    const isSame = (one: PaymentRow) =>
      one.kind === 'payment' && one.amountMinor === toMinor(amount, currency) && isReferredTo(one, draft.reference)
    if (recorded.some(isSame)) throw new ProblemError('conflict', texts.recordedAlready(formatMoney(amount, currency)))
    await recordPayment(tx, ownerId, { invoiceId, draft, key: null, origin: 'answer' }, now, afterChange)
  }
  if (answer.kind === 'wrong_person') {
    const clientEmail = accept.clientEmail ?? (answer.email === '' ? undefined : answer.email)
    const clientName = accept.clientName ?? (answer.name === '' ? undefined : answer.name)
    if (clientEmail === undefined) throw invalid('clientEmail', texts.whichContact)
    const change = { clientEmail, ...(clientName === undefined ? {} : { clientName }) }
    await updateInvoice(tx, ownerId, { id: invoiceId, change }, now, afterChange)
  }
}
