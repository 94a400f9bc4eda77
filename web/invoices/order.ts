import { z } from 'zod'
import type { Invoice } from '#contract/invoices.ts'

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
