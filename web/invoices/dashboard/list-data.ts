import { z } from 'zod'
import type { BulkChange, Invoice } from '#contract/invoices.ts'
import { toMinor } from '#contract/money.ts'
import { isPaused } from '#web/invoices/pause.ts'
import { invoiceTexts } from '#web/invoices/texts.ts'
import { capitalized, dateIn, daysBetween, showDate, showMoment } from '#web/ui/dates.ts'
import type { DueItem } from '#web/ui/due-line-layout.ts'
import { type Filter, texts } from './texts.ts'

/** Matches part of the client's name or email, case-insensitive. */
export function searchInvoices(invoices: Invoice[], search: string): Invoice[] {
  const wanted = search.trim().toLowerCase()
  if (wanted === '') return invoices
  return invoices.filter(({ clientName, clientEmail }) => `${clientName}\n${clientEmail}`.toLowerCase().includes(wanted))
}

export function filterInvoices(invoices: Invoice[], filter: Filter): Invoice[] {
  return filter === 'all' ? invoices : invoices.filter(({ status }) => status === filter)
}

export function countByFilter(invoices: Invoice[]): Record<Filter, number> {
  const counts = { all: invoices.length, paid: 0, unpaid: 0, overdue: 0 }
  for (const { status } of invoices) counts[status] += 1
  return counts
}

/** Past due but marked unpaid: created after the due date, or set back by hand. `today` is a calendar date. */
export function countLateUnpaid(invoices: Invoice[], today: string): number {
  return invoices.filter(({ status, dueDate }) => status === 'unpaid' && dueDate < today).length
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
        amount: toMinor(invoice.amount) ?? 0,
        daysLate,
        // Set by hand, "overdue" applies before the due date too.
        late: daysLate > 0 || invoice.status === 'overdue',
      }
    })
}

/** The sums above the due line, in minor units. The month is that of the zone. */
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

/** The sort order of the table; null is newest first, the order of the API. */
export const order = z.object({ by: column, ascending: z.boolean() }).nullable()
export type Order = z.infer<typeof order>

let collator: Intl.Collator | undefined
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
  // Created on first use: on a phone it takes as long as the rest of the module's start.
  collator ??= new Intl.Collator('en', { sensitivity: 'base', numeric: true })
  return collator.compare(one, other)
}

/** Stable: equal invoices stay newest first. */
export function sortInvoices(invoices: Invoice[], order: Order): Invoice[] {
  if (order === null) return invoices
  const { by, ascending } = order
  return invoices.toSorted((one, other) => (ascending ? compare[by](one, other) : compare[by](other, one)))
}

/** The order after a click on a column head: its default direction, then the other, then newest first. */
export function nextOrder(current: Order, by: Column): Order {
  const first = by !== 'amount' && by !== 'reminder'
  if (current?.by !== by) return { by, ascending: first }
  return current.ascending === first ? { by, ascending: !first } : null
}

function byText(one: string, other: string): number {
  return one < other ? -1 : one > other ? 1 : 0
}

/** `Due 02/11/2026, 18 days ago`; for a paid invoice only the date. */
export function dueLabel(invoice: Invoice, today: string): string {
  const days = daysLabel(invoice, today)
  return `${texts.card.due(showDate(invoice.dueDate))}${days === '' ? '' : `, ${days}`}`
}

/** `18 days ago`, `today` or `in 8 days`; empty for a paid invoice. */
export function daysLabel({ dueDate, status }: Invoice, today: string): string {
  if (status === 'paid') return ''
  const { card } = texts
  const days = daysBetween(today, dueDate)
  return days === 0 ? card.today : days > 0 ? card.ahead(days) : card.ago(-days)
}

/** The mail server's rejection of the last reminder, unless the invoice is paid. */
export function refusalOf({ status, refusal }: Invoice): string | null {
  return status === 'paid' ? null : refusal
}

export function lastEventLabel(invoice: Invoice, zone: string | undefined, now: Date): string {
  const { card } = texts
  if (invoice.status === 'paid' && invoice.paidAt !== null) {
    const paid = card.paid(showDate(dateIn(zone, new Date(invoice.paidAt))))
    return invoice.remindersSent > 0 ? `${paid}${card.after(invoice.remindersSent)}` : paid
  }
  if (refusalOf(invoice) !== null) return card.refused
  return invoice.lastReminderAt === null ? card.notReminded : card.reminded(showMoment(zone, new Date(invoice.lastReminderAt), now))
}

export function reminderLabel(invoice: Invoice, zone: string | undefined, now: Date): string {
  const { list } = texts
  if (invoice.pause !== null && isPaused(invoice))
    return invoiceTexts.pause.pill(invoice.pause.until === null ? null : showDate(invoice.pause.until))
  if (refusalOf(invoice) !== null) return list.refused
  return invoice.lastReminderAt === null ? list.never : capitalized(showMoment(zone, new Date(invoice.lastReminderAt), now))
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
