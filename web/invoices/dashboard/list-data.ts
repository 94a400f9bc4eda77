import { z } from 'zod'
import { type BulkChange, type Invoice, owedAmount } from '#contract/invoices.ts'
import { formatMoney, type Money, sumByCurrency } from '#contract/money.ts'
import { isPartPaid, type Known } from '#web/invoices/invoice-state.ts'
import { emailKey } from '#web/platform/sequences/steps.ts'
import { capitalized, daysBetween, showDate, showMoment } from '#web/ui/dates.ts'
import type { DueItem } from '#web/ui/due-line-layout.ts'
import { type Filter, texts } from './texts.ts'

export function filterInvoices(invoices: Invoice[], filter: Filter): Invoice[] {
  return filter === 'all' ? invoices : invoices.filter(({ status }) => status === filter)
}

export function countByFilter(invoices: Invoice[]): Record<Filter, number> {
  const counts = { all: invoices.length, paid: 0, unpaid: 0, overdue: 0 }
  for (const { status } of invoices) counts[status] += 1
  return counts
}

/** Unpaid invoices as items of the due line. `today` is a calendar date. */
export function openItems(invoices: Invoice[], today: string): DueItem[] {
  return invoices
    .filter(({ status }) => status !== 'paid')
    .map((invoice) => {
      const daysLate = daysBetween(invoice.dueDate, today)
      return {
        id: invoice._id,
        name: invoice.clientName,
        email: invoice.clientEmail.toLowerCase(),
        currency: invoice.currency,
        amount: invoice.balance,
        daysLate,
        // By the status alone, as the pill and the filter: a person may have set it before the due date, or taken it back after.
        late: invoice.status === 'overdue',
      }
    })
}

export interface Totals {
  /** By currency, that of the account first. */
  overdue: Money[]
  soon: Money[]
  /** How many invoices are overdue, of how many clients. */
  invoices: number
  clients: number
}

/** The sums around the due line; `currency` is that of the account. */
export function totals(items: DueItem[], currency: string): Totals {
  const late = items.filter((item) => item.late)
  const soon = items.filter((item) => !item.late && item.daysLate >= -14 && item.daysLate <= 0)
  return {
    overdue: sumByCurrency(late, currency),
    soon: sumByCurrency(soon, currency),
    invoices: late.length,
    clients: new Set(late.map(({ email }) => email)).size,
  }
}

export const column = z.enum(['client', 'reference', 'amount', 'due', 'status', 'reminder', 'next'])
export type Column = z.infer<typeof column>

/** The sort order; null is what needs attention first, `newest` the order of the API. */
export const order = z.union([z.literal('newest'), z.object({ by: column, ascending: z.boolean() })]).nullable()
export type Order = z.infer<typeof order>

let collator: Intl.Collator | undefined
const urgency = { overdue: 0, unpaid: 1, paid: 2 }

const compare: Record<Column, (one: Invoice, other: Invoice, known: Known) => number> = {
  client: (one, other) => byName(one.clientName, other.clientName),
  reference: (one, other) => byName(one.reference, other.reference),
  // Amounts of different currencies cannot be compared.
  amount: (one, other) => byText(one.currency, other.currency) || owedAmount(one) - owedAmount(other),
  due: (one, other) => byText(one.dueDate, other.dueDate),
  status: (one, other) => urgency[one.status] - urgency[other.status],
  reminder: (one, other) => byText(one.lastReminderAt ?? '', other.lastReminderAt ?? ''),
  next: (one, other, known) => byText(nextAt(one, known), nextAt(other, known)),
}

/** An invoice that is not reminded comes after all that are. */
function nextAt({ _id, status }: Invoice, { next }: Known): string {
  return (status === 'paid' ? null : next?.get(_id)?.nextAt) ?? '9999'
}

function byName(one: string, other: string): number {
  // Created on first use: on a phone it takes as long as the rest of the module's start.
  collator ??= new Intl.Collator('en', { sensitivity: 'base', numeric: true })
  return collator.compare(one, other)
}

/** Stable: equal invoices stay newest first. */
export function sortInvoices(invoices: Invoice[], order: Order, known: Known): Invoice[] {
  if (order === 'newest') return invoices
  if (order === null) return byAttention(invoices, known)
  const { by, ascending } = order
  return invoices.toSorted((one, other) => (ascending ? compare[by](one, other, known) : compare[by](other, one, known)))
}

/** Refused addresses and emails, broken promises, what does not arrive, then the longest overdue down to what is due last, then paid ones. */
function byAttention(invoices: Invoice[], { broken }: Known): Invoice[] {
  const rank = ({ _id, status, addressHold, refusal, notDelivered }: Invoice) => {
    if (status === 'paid') return 4
    if (addressHold !== null || refusal !== null) return 0
    if (broken.has(_id)) return 1
    return notDelivered === null ? 3 : 2
  }
  const ranks = new Map(invoices.map((invoice) => [invoice._id, rank(invoice)]))
  return invoices.toSorted((one, other) => {
    const [first, second] = [ranks.get(one._id) ?? 0, ranks.get(other._id) ?? 0]
    if (first !== second) return first - second
    return first === 4 ? byText(other.paidAt ?? '', one.paidAt ?? '') : byText(one.dueDate, other.dueDate)
  })
}

/** The order after a click on a column head: its default direction, then the other, then what needs attention first. */
export function nextOrder(current: Order, by: Column): Order {
  const first = by !== 'amount' && by !== 'reminder'
  if (current === null || current === 'newest' || current.by !== by) return { by, ascending: first }
  return current.ascending === first ? { by, ascending: !first } : null
}

function byText(one: string, other: string): number {
  return one < other ? -1 : one > other ? 1 : 0
}

/** `Due 02/11/2026, 18 days ago`; for a paid invoice only the date. */
export function dueLabel(invoice: Invoice, today: string): string {
  const days = daysLabel(invoice, today)
  if (isPartPaid(invoice)) return texts.card.part(formatMoney(invoice.amount, invoice.currency), days)
  return `${texts.card.due(showDate(invoice.dueDate))}${days === '' ? '' : `, ${days}`}`
}

/** `18 days ago`, `today` or `in 8 days`; empty for a paid invoice. */
export function daysLabel({ dueDate, status }: Invoice, today: string): string {
  if (status === 'paid') return ''
  const { card } = texts
  const days = daysBetween(today, dueDate)
  return days === 0 ? card.today : days > 0 ? card.ahead(days) : card.ago(-days)
}

/** The moment of the last reminder; empty before the first one. */
export function reminderLabel({ lastReminderAt }: Invoice, { zone, now }: Known): string {
  return lastReminderAt === null ? '' : capitalized(showMoment(zone, new Date(lastReminderAt), now))
}

/** The emails that go out next, to which clients; null where none is planned. */
export interface NextRun {
  at: string
  emails: number
  /** The clients, those who owe most first. */
  clients: string[]
}

/** The first emails of those that are planned. `grouped`: one email lists several invoices of a client. */
export function nextRun(invoices: Invoice[], known: Known, grouped: boolean): NextRun | null {
  const planned = invoices.flatMap((invoice) => {
    const next = invoice.status === 'paid' ? undefined : known.next?.get(invoice._id)
    return next?.nextAt && next.reason === null ? [{ ...invoice, at: next.nextAt, language: next.language, step: next.step }] : []
  })
  const at = planned.reduce((first, one) => (first === '' || one.at < first ? one.at : first), '')
  if (at === '') return null
  const owed = new Map<string, { client: string; name: string; amount: number }>()
  let invoicesThen = 0
  for (const one of planned) {
    if (one.at !== at) continue
    invoicesThen += 1
    const email = emailKey(one, true)
    owed.set(email, { client: one.clientEmail.toLowerCase(), name: one.clientName, amount: (owed.get(email)?.amount ?? 0) + one.balance })
  }
  const largestFirst = [...owed.values()].toSorted((one, other) => other.amount - one.amount)
  const clients = [...new Map(largestFirst.map(({ client, name }) => [client, name])).values()]
  return { at, emails: grouped ? owed.size : invoicesThen, clients }
}

/** The bulk changes that undo a bulk change, grouped so that they stay few however many invoices there are. */
export function inverseChanges(before: Invoice[], what: BulkChange['do']): { ids: string[]; change: BulkChange }[] {
  switch (what) {
    case 'mark':
      return grouped(before, ({ status }) => ({ do: 'mark', status }))
    case 'pause':
    case 'resume':
      return grouped(before, ({ pause }) =>
        pause?.scope === 'invoice' ? { do: 'pause', until: pause.until, note: pause.note, promised: pause.promised } : { do: 'resume' },
      )
    case 'delete':
      return grouped(before, () => ({ do: 'restore' }))
    case 'restore':
      return grouped(before, () => ({ do: 'delete' }))
  }
}

function grouped(invoices: Invoice[], changeOf: (invoice: Invoice) => BulkChange): { ids: string[]; change: BulkChange }[] {
  const groups = new Map<string, { ids: string[]; change: BulkChange }>()
  for (const invoice of invoices) {
    const change = changeOf(invoice)
    const key = JSON.stringify(change)
    const group = groups.get(key) ?? { ids: [], change }
    group.ids.push(invoice._id)
    groups.set(key, group)
  }
  return [...groups.values()]
}
