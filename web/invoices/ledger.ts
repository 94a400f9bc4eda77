import type { Invoice } from '#contract/invoices.ts'
import { toMinor } from '#contract/money.ts'
import { dateIn, daysBetween } from '#web/ui/dates.ts'
import type { DueItem } from '#web/ui/due-line-layout.ts'
import type { Filter } from './texts.ts'

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
