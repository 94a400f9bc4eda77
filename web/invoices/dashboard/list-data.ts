import { z } from 'zod'
import type { BulkChange, Invoice } from '#contract/invoices.ts'
import { toMinor } from '#contract/money.ts'
import { isPaused } from '#web/invoices/pause.ts'
import { invoiceTexts } from '#web/invoices/texts.ts'
import { capitalized, dateIn, daysBetween, showDate, showMoment } from '#web/ui/dates.ts'
import type { DueItem } from '#web/ui/due-line-layout.ts'
import { type Filter, texts } from './texts.ts'

/** The invoices whose client's name or email contains the text, whatever its case. */
export function searchInvoices(invoices: Invoice[], search: string): Invoice[] {
  const wanted = search.trim().toLowerCase()
  if (wanted === '') return invoices
  return invoices.filter(({ clientName, clientEmail }) => `${clientName}\n${clientEmail}`.toLowerCase().includes(wanted))
}

/** The invoices of one status, as stored. */
export function filterInvoices(invoices: Invoice[], filter: Filter): Invoice[] {
  return filter === 'all' ? invoices : invoices.filter(({ status }) => status === filter)
}

/** How many invoices stand behind each filter button. */
export function countByFilter(invoices: Invoice[]): Record<Filter, number> {
  const counts = { all: invoices.length, paid: 0, unpaid: 0, overdue: 0 }
  for (const { status } of invoices) counts[status] += 1
  return counts
}

/** How many are past due but not called overdue: somebody wrote them down late, or set them back by hand. `today` is a calendar date. */
export function countLateUnpaid(invoices: Invoice[], today: string): number {
  return invoices.filter(({ status, dueDate }) => status === 'unpaid' && dueDate < today).length
}

/** What is still owed, as dots for the due line; `today` is a calendar date. */
export function openItems(invoices: Invoice[], today: string): DueItem[] {
  return invoices
    .filter(({ status }) => status !== 'paid')
    .map((invoice) => {
      const daysLate = daysBetween(invoice.dueDate, today)
      return {
        id: invoice._id,
        name: invoice.clientName,
        amount: toMinor(invoice.amount) ?? 0,
        daysLate,
        // Set by hand, "overdue" counts before its day too.
        late: daysLate > 0 || invoice.status === 'overdue',
      }
    })
}

/** The three sums above the due line, in integer minor units. The month is that of the zone. */
export function totals(
  invoices: Invoice[],
  items: DueItem[],
  today: string,
  zone: string | undefined,
): { overdue: number; soon: number; paid: number } {
  const month = today.slice(0, 7)
  const sums = { overdue: 0, soon: 0, paid: 0 }
  for (const { amount, daysLate, late } of items) {
    if (late) sums.overdue += amount
    else if (daysLate >= -14) sums.soon += amount
  }
  for (const { status, paidAt, amount } of invoices)
    if (status === 'paid' && paidAt !== null && dateIn(zone, new Date(paidAt)).startsWith(month)) sums.paid += toMinor(amount) ?? 0
  return sums
}

export const column = z.enum(['client', 'reference', 'amount', 'due', 'status', 'reminder'])
export type Column = z.infer<typeof column>

/** By which column a list is sorted, and which end comes first; null: newest first, as they come. */
export const order = z.object({ by: column, ascending: z.boolean() }).nullable()
export type Order = z.infer<typeof order>

let names: Intl.Collator | undefined
/** What is most pressing stands first. */
const urgency = { overdue: 0, unpaid: 1, paid: 2 }

const compare: Record<Column, (one: Invoice, other: Invoice) => number> = {
  client: (one, other) => byName(one.clientName, other.clientName),
  reference: (one, other) => byName(one.reference, other.reference),
  amount: (one, other) => one.amount - other.amount,
  due: (one, other) => byText(one.dueDate, other.dueDate),
  status: (one, other) => urgency[one.status] - urgency[other.status],
  reminder: (one, other) => byText(one.lastReminderAt ?? '', other.lastReminderAt ?? ''),
}

function byName(one: string, other: string): number {
  // Made when a list is first sorted so: on a phone it takes as long as all the rest of a module's start.
  names ??= new Intl.Collator('en', { sensitivity: 'base', numeric: true })
  return names.compare(one, other)
}

/** The invoices in that order; equal ones stay newest first. */
export function sortInvoices(invoices: Invoice[], order: Order): Invoice[] {
  if (order === null) return invoices
  const { by, ascending } = order
  return invoices.toSorted((one, other) => (ascending ? compare[by](one, other) : compare[by](other, one)))
}

/** What another click on a column's head leads to: its usual end first, then the other, then newest first again. */
export function nextOrder(now: Order, by: Column): Order {
  const first = by !== 'amount' && by !== 'reminder'
  if (now?.by !== by) return { by, ascending: first }
  return now.ascending === first ? { by, ascending: !first } : null
}

function byText(one: string, other: string): number {
  return one < other ? -1 : one > other ? 1 : 0
}

/** `Due 02/11/2026, 18 days ago`; of a paid invoice only the date. */
export function dueLabel(invoice: Invoice, today: string): string {
  const days = daysLabel(invoice, today)
  return `${texts.card.due(showDate(invoice.dueDate))}${days === '' ? '' : `, ${days}`}`
}

/** `18 days ago`, `today` or `in 8 days`; of a paid invoice nothing. */
export function daysLabel({ dueDate, status }: Invoice, today: string): string {
  if (status === 'paid') return ''
  const { card } = texts
  const days = daysBetween(today, dueDate)
  return days === 0 ? card.today : days > 0 ? card.ahead(days) : card.ago(-days)
}

/** What the mail server said where the last reminder of an invoice that is still owed never arrived. */
export function refusalOf({ status, refusal }: Invoice): string | null {
  return status === 'paid' ? null : refusal
}

/** The line at the foot: what happened last. */
export function lastEventLabel(invoice: Invoice, zone: string | undefined, now: Date): string {
  const { card } = texts
  if (invoice.status === 'paid' && invoice.paidAt !== null) {
    const paid = card.paid(showDate(dateIn(zone, new Date(invoice.paidAt))))
    return invoice.remindersSent > 0 ? `${paid}${card.after(invoice.remindersSent)}` : paid
  }
  if (refusalOf(invoice) !== null) return card.refused
  return invoice.lastReminderAt === null ? card.notReminded : card.reminded(showMoment(zone, new Date(invoice.lastReminderAt), now))
}

/** The same in a cell of the list: until when it is paused, that the last reminder was refused, or when it was. */
export function reminderLabel(invoice: Invoice, zone: string | undefined, now: Date): string {
  const { list } = texts
  if (invoice.pause !== null && isPaused(invoice))
    return invoiceTexts.pause.pill(invoice.pause.until === null ? null : showDate(invoice.pause.until))
  if (refusalOf(invoice) !== null) return list.refused
  return invoice.lastReminderAt === null ? list.never : capitalized(showMoment(zone, new Date(invoice.lastReminderAt), now))
}

/** The changes that put invoices back as they were before a change of many: few, however many invoices. */
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
