import type { Invoice } from '#contract/invoices.ts'

const most = 8

/** Whether the text contains every typed word. */
export function matches(text: string, typed: string): boolean {
  const lower = text.toLowerCase()
  return typed
    .toLowerCase()
    .split(/\s+/)
    .every((word) => lower.includes(word))
}

/** Invoices by reference or client: exact matches first, then prefixes, then the newest. */
export function findInvoices(invoices: Invoice[], typed: string): Invoice[] {
  const wanted = typed.trim().toLowerCase()
  if (wanted === '') return []
  const [exact, beginning, others]: [Invoice[], Invoice[], Invoice[]] = [[], [], []]
  for (const invoice of invoices) {
    const { reference, clientName, clientEmail } = invoice
    const names = [reference, clientName, clientEmail].map((text) => text.toLowerCase())
    const place = names.includes(wanted) ? exact : names.some((text) => text.startsWith(wanted)) ? beginning : others
    if (place.length < most && (place !== others || matches(names.join('\n'), wanted))) place.push(invoice)
    if (exact.length === most) break
  }
  return [...exact, ...beginning, ...others].slice(0, most)
}

const mostReminded = 4

/** Unpaid invoices to remind of, once part of the client or reference is typed; `command` is the name of the action. */
export function findReminded(invoices: Invoice[], typed: string, command: string): Invoice[] {
  const words = typed
    .toLowerCase()
    .split(/\s+/)
    .filter((word) => word !== '')
  const named = words.filter((word) => !command.toLowerCase().includes(word))
  // The command alone offers those who are late the longest.
  const open = invoices.filter(({ status }) => status !== 'paid')
  if (words.length > 0 && named.length === 0) return open.toSorted(byDue).slice(0, mostReminded)
  return findInvoices(open, named.join(' ')).slice(0, mostReminded)
}

function byDue(one: Invoice, other: Invoice): number {
  return one.dueDate < other.dueDate ? -1 : one.dueDate > other.dueDate ? 1 : 0
}
