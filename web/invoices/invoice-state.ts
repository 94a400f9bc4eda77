import { accountCalls } from '#contract/accounts.ts'
import { isAddressRefusal } from '#contract/delivery-problem.ts'
import { type Invoice, type InvoicePause, invoiceCalls } from '#contract/invoices.ts'
import { formatMoney } from '#contract/money.ts'
import { noticeCalls } from '#contract/notices.ts'
import type { PayAnswer } from '#contract/pay-answers.ts'
import { type PreviewLine, reminderCalls } from '#contract/reminders.ts'
import type { ApiCache } from '#web/platform/query.ts'
import { dateIn, daysBetween, showComing, showDate, showMoment } from '#web/ui/dates.ts'
import { invoiceTexts } from './texts.ts'

/** When an invoice is reminded next, or why it is not; undefined until it is known. */
export type Next = Pick<PreviewLine, 'nextAt' | 'reason' | 'heldFor' | 'language' | 'step'> | undefined

/** What the screens know besides the invoices themselves. */
export interface Known {
  zone: string | undefined
  now: Date
  /** The invoices whose client broke a promise to pay. */
  broken: ReadonlySet<string>
  /** By invoice id; undefined until it is loaded. */
  next: ReadonlyMap<string, Next> | undefined
}

export interface InvoiceState {
  kind: 'paid' | 'address' | 'broken' | 'failing' | 'paused' | 'reminded' | 'new'
  tone: 'good' | 'bad' | 'warn' | 'quiet'
  text: string
  /** The mail server's own words, shown on request. */
  reply: string | null
}

const texts = invoiceTexts.state

/** Whether a part was paid, and something is left. */
export function isPartPaid({ status, amountPaid }: Invoice): boolean {
  return status !== 'paid' && amountPaid > 0
}

/** The one thing about an invoice that matters most: what needs its owner, else what happened last. */
export function stateOf(invoice: Invoice, { zone, now, broken, next }: Known): InvoiceState {
  const { _id, status, paidOn, remindersSent, addressHold, notDelivered, pause, lastReminderAt } = invoice
  if (status === 'paid') {
    const paid = paidOn === null ? texts.paid : texts.paidOn(showDate(paidOn))
    return { kind: 'paid', tone: 'good', text: remindersSent > 0 ? `${paid}${texts.after(remindersSent)}` : paid, reply: null }
  }
  if (addressHold)
    return {
      kind: 'address',
      tone: 'bad',
      text: isAddressRefusal(addressHold.reply) ? texts.address : texts.cameBack,
      reply: addressHold.reply,
    }
  if (broken.has(_id)) return { kind: 'broken', tone: 'bad', text: texts.broken, reply: null }
  if (notDelivered) {
    const days = daysBetween(dateIn(zone, new Date(notDelivered.since)), dateIn(zone, now))
    const { words, reply } = notDelivered
    return { kind: 'failing', tone: invoice.refusal === null ? 'warn' : 'bad', text: texts.notDelivered(days, words), reply }
  }
  if (pause !== null && isPaused(invoice)) {
    const until = pause.until === null ? null : showDate(pause.until)
    const text = pause.promised && until !== null ? invoiceTexts.pause.promise(until) : invoiceTexts.pause.pill(until, pause.because)
    return { kind: 'paused', tone: 'quiet', text, reply: null }
  }
  if (lastReminderAt !== null)
    return { kind: 'reminded', tone: 'quiet', text: texts.reminded(showMoment(zone, new Date(lastReminderAt), now)), reply: null }
  const first = next?.get(_id)
  const text = first?.nextAt && first.reason === null ? texts.first(showComing(zone, new Date(first.nextAt), now)) : texts.notReminded
  return { kind: 'new', tone: 'quiet', text, reply: null }
}

/** When it is reminded next, or why it is not, in a few words; null for a paid invoice, and until it is known. */
export function nextLabel(invoice: Invoice, { zone, now, next }: Known): string | null {
  if (invoice.status === 'paid') return null
  const { pause } = invoice
  if (pause !== null) return pausePill(pause)
  if (invoice.addressHold) return texts.held
  const line = next?.get(invoice._id)
  if (!line) return null
  const { nextAt, reason, heldFor } = line
  if (heldFor !== null) return texts.emailHeld
  const delayed = reason === 'open_mail' && nextAt !== null && new Date(nextAt) > now
  if (reason !== null && reason !== 'paused' && !delayed) return texts.noNext[reason]
  return nextAt === null ? texts.notPlanned : showComing(zone, new Date(nextAt), now)
}

/** `Paused until 17/03/2026`, `Says paid: paused until 17/03/2026`. */
export function pausePill({ until, because }: InvoicePause): string {
  return invoiceTexts.pause.pill(until === null ? null : showDate(until), because)
}

/** The scope of a pause, what the client said, promise and note, a sentence each. */
export function describePause({ pause, clientEmail }: Pick<Invoice, 'pause' | 'clientEmail'>): string[] {
  if (pause === null) return []
  return [
    pause.scope === 'client' ? invoiceTexts.pause.which.client(clientEmail) : invoiceTexts.pause.which.invoice,
    ...(pause.because === 'owner' ? [] : [invoiceTexts.pause.because[pause.because] ?? []].flat()),
    ...(pause.promised && pause.until !== null ? [invoiceTexts.pause.promise(showDate(pause.until))] : []),
    ...(pause.note === '' ? [] : [pause.note]),
  ]
}

/** What a client said on a pay page: a title, and the words of the client. */
export function describeAnswer({ kind, amount, date, reference, message, name, email, invoice }: PayAnswer): {
  title: string
  words: string
} {
  const { says } = invoiceTexts.answer
  const day = date === null ? '' : showDate(date)
  const title =
    kind === 'paid'
      ? says.paid(amount === null ? null : formatMoney(amount, invoice.currency), day)
      : kind === 'promise'
        ? says.promise(day)
        : says[kind]
  return { title, words: [message, reference, name, email].filter((part) => part !== '').join(', ') }
}

/** A paid invoice is not shown as paused: it gets no reminders anyway. */
export function isPaused({ pause, status }: Pick<Invoice, 'pause' | 'status'>): boolean {
  return pause !== null && status !== 'paid'
}

/** Puts a created, changed or restored invoice into the list, which is newest first, and under its own key. */
export function writeInvoice(cache: ApiCache, invoice: Invoice): void {
  cache.write(invoiceCalls.read, invoice, { params: { id: invoice._id } })
  cache.update(invoiceCalls.list, (list) => {
    if (list.some(({ _id }) => _id === invoice._id)) return list.map((one) => (one._id === invoice._id ? invoice : one))
    const older = list.findIndex(({ createdAt }) => createdAt <= invoice.createdAt)
    return list.toSpliced(older < 0 ? list.length : older, 0, invoice)
  })
}

/** Takes a deleted invoice out of the list. */
export function removeInvoice(cache: ApiCache, id: string): void {
  cache.update(invoiceCalls.list, (list) => list.filter(({ _id }) => _id !== id))
}

/** The queries that a change of an invoice, or a payment, makes out of date: its next reminder follows from it, and what was received. */
export const changeInvalidates = [invoiceCalls.list, invoiceCalls.read, reminderCalls.history, reminderCalls.preview, accountCalls.stats]

/** The queries that a pause, or its end, makes out of date. */
export const pauseInvalidates = [...changeInvalidates, reminderCalls.status, reminderCalls.run, noticeCalls.list]
