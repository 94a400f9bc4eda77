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
