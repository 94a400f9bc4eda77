import { formatDate } from '#contract/dates.ts'
import type { Invoice, InvoiceDraft, InvoiceStatus } from '#contract/invoices.ts'
import { formatMoney, fromMinor, toMinor } from '#contract/money.ts'

/** What an import compares of the invoice that has the reference of a line. Amounts are in minor units of its currency. */
export interface KeptInvoice {
  reference: string
  clientName: string
  clientEmail: string
  currency: string
  amountMinor: number
  paidMinor: number
  status: InvoiceStatus
  dueDate: string
  /** Its reference in its source, where it has another one here. */
  importedAs?: string | null
}

/** An invoice of the list, as an import compares it. */
export function keptInvoice(invoice: Invoice): KeptInvoice {
  const { reference, clientName, clientEmail, currency, status } = invoice
  const minor = (amount: number) => toMinor(amount, currency) ?? 0
  const dueDate = invoice.dueDate.slice(0, 10)
  return {
    reference,
    clientName,
    clientEmail,
    currency,
    status,
    dueDate,
    amountMinor: minor(invoice.amount),
    paidMinor: minor(invoice.amountPaid),
  }
}

/** A line that says of an invoice that it is paid. */
export function paidLine(kept: KeptInvoice): InvoiceDraft {
  const { reference, clientName, clientEmail, currency, dueDate, amountMinor } = kept
  return { reference, clientName, clientEmail, currency, dueDate, amount: fromMinor(amountMinor, currency), status: 'paid' }
}

/** What changes of the invoice; nothing where all of it is as in the line. */
export interface Followed {
  amountMinor?: number
  /** A payment that the line names beyond those that are known. */
  payMinor?: number
  /** It is paid: the balance is marked as paid. */
  isPaid?: true
  dueDate?: string
  /** What stays as it is although the line has it differently, for a person to look at. */
  note: string | null
}

/**
 * What an invoice takes over from a line with its reference: what is owed, the due date, and that it is paid; never names and addresses. What
 * the line does not say for certain stays as it is: money is not guessed, and a payment that is known here is not undone. `usual`: the
 * currency of a line that names none.
 */
export function followLine(kept: KeptInvoice, line: InvoiceDraft, usual: string): Followed {
  const { currency = usual } = line
  if (currency !== kept.currency) return { note: notes.currency(kept, currency) }
  if (isOtherClients(kept, line)) return { note: notes.otherClient(kept) }
  const amountMinor = toMinor(line.amount, currency)
  const paidMinor = line.amountPaid === undefined ? null : toMinor(line.amountPaid, currency)
  if (amountMinor === null) return { note: notes.unclear(kept) }
  const isPaid = line.status === 'paid' || (paidMinor !== null && paidMinor >= amountMinor)
  if (kept.status === 'paid') return { note: isPaid ? null : notes.paidHere(kept) }
  if (isPaid) return { isPaid, note: null }
  const date = line.dueDate === kept.dueDate ? {} : { dueDate: line.dueDate }
  const owed = kept.amountMinor - kept.paidMinor
  if (owed === amountMinor - (paidMinor ?? 0) || (paidMinor === null && amountMinor === kept.amountMinor)) return { ...date, note: null }
  if (paidMinor === null && kept.paidMinor > 0) return { ...date, note: notes.unclear(kept) }
  const payMinor = (paidMinor ?? 0) - kept.paidMinor
  if (payMinor < 0) return { ...date, note: notes.morePaidHere(kept) }
  return { ...date, ...(amountMinor === kept.amountMinor ? {} : { amountMinor }), ...(payMinor > 0 ? { payMinor } : {}), note: null }
}

/**
 * The invoice of a line whose reference none has, among those that are imported by that reference and have another one here, the latest last. Only of
 * its client, and not where the source has the reference from here too (`named`): then the line is another invoice's.
 */
export function renamedInvoice<T extends KeptInvoice>(those: T[] | undefined, line: Contact, named: ReadonlySet<string>): T | undefined {
  return those?.findLast(
    (kept) =>
      !named.has(kept.reference) &&
      !isOtherClients(kept, { clientName: line.clientName || kept.clientName, clientEmail: line.clientEmail || kept.clientEmail }),
  )
}

type Contact = Pick<InvoiceDraft, 'clientName' | 'clientEmail'>

/** Whether a line only has the same reference: neither its name nor its address is that of the invoice. */
export function isOtherClients(kept: Pick<KeptInvoice, 'clientName' | 'clientEmail'>, line: Contact): boolean {
  return !isSame(kept.clientEmail, line.clientEmail) && !isSame(kept.clientName, line.clientName)
}

/** Whether a line changes anything. */
export function changesAnything({ note: _, ...changes }: Followed): boolean {
  return Object.keys(changes).length > 0
}

/** What a line changes, in sentences; empty where that is nothing. */
export function changeText(kept: KeptInvoice, { amountMinor = kept.amountMinor, payMinor = 0, isPaid, dueDate }: Followed): string {
  const owed = amountMinor - kept.paidMinor - payMinor
  const money =
    owed === kept.amountMinor - kept.paidMinor ? '' : texts.owed(owedHere(kept), formatMoney(fromMinor(owed, kept.currency), kept.currency))
  const date = dueDate === undefined ? '' : texts.due(formatDate(kept.dueDate), formatDate(dueDate))
  return isPaid ? texts.paid : [money, date].filter((part) => part !== '').join(' ')
}

function isSame(one: string, other: string): boolean {
  return one.trim().toLowerCase() === other.trim().toLowerCase()
}

const owedHere = ({ amountMinor, paidMinor, currency }: KeptInvoice) => formatMoney(fromMinor(amountMinor - paidMinor, currency), currency)

const texts = {
  paid: 'Paid.',
  owed: (before: string, after: string) => `${after} to pay, before ${before}.`,
  due: (before: string, after: string) => `Due ${after}, before ${before}.`,
}

const notes = {
  currency: ({ reference, currency }: KeptInvoice, other: string) =>
    `${reference} is in ${currency} here, not in ${other}. It stays as it is.`,
  otherClient: ({ reference, clientName }: KeptInvoice) => `${reference} is an invoice of ${clientName} here. It stays as it is.`,
  paidHere: ({ reference }: KeptInvoice) => `${reference} is already paid here. It stays paid.`,
  morePaidHere: (kept: KeptInvoice) =>
    `Payments recorded here cover more of ${kept.reference}. ${owedHere(kept)} is left to pay, as before.`,
  unclear: (kept: KeptInvoice) => `It is unclear what was paid of ${kept.reference}. ${owedHere(kept)} is left to pay, as before.`,
}
