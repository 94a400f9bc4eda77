import type { Invoice } from '#contract/invoices.ts'

/** How many invoices are offered at once. */
const most = 8

/** Whether every word of what was typed is found in the text. */
export function matches(text: string, typed: string): boolean {
  const lower = text.toLowerCase()
  return typed
    .toLowerCase()
    .split(/\s+/)
    .every((word) => lower.includes(word))
}

/** The invoices of that reference or client: those that begin with it first, otherwise newest first. */
export function findInvoices(invoices: Invoice[], typed: string): Invoice[] {
  const wanted = typed.trim().toLowerCase()
  if (wanted === '') return []
  const beginning: Invoice[] = []
  const others: Invoice[] = []
  for (const invoice of invoices) {
    const { reference, clientName, clientEmail } = invoice
    if ([reference, clientName, clientEmail].some((text) => text.toLowerCase().startsWith(wanted))) beginning.push(invoice)
    else if (others.length < most && matches(`${reference}\n${clientName}\n${clientEmail}`, wanted)) others.push(invoice)
    if (beginning.length === most) break
  }
  return [...beginning, ...others].slice(0, most)
}
