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

/** The invoices of that reference or client: those that are called just so first, then those that begin with it, otherwise newest first. */
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
