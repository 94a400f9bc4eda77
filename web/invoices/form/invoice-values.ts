import { type Invoice, invoiceStatus } from '#contract/invoices.ts'
import { amountProblem, readTypedAmount } from '#contract/money.ts'
import { readDate } from '#web/ui/dates.ts'
import { texts } from './texts.ts'

/** The form's values as typed. */
export type InvoiceValues = {
  clientName: string
  clientEmail: string
  amount: string
  /** '' is the account's. */
  currency: string
  dueDate: string
  status: string
  reference: string
  issuedOn: string
}

/**
 * The contract's message shows dates as YYYY-MM-DD; the form's fields take dd/mm/yyyy. How many decimals an amount may have depends on the
 * currency.
 */
export function checkDraft({ dueDate, issuedOn, amount: typed, currency }: InvoiceValues, usual: string): Record<string, string> {
  const problem = decimalsProblem(typed, currency || usual)
  return {
    ...(readDate(dueDate) === null ? { dueDate: texts.noDate } : {}),
    ...(issuedOn !== '' && readDate(issuedOn) === null ? { issuedOn: texts.noDate } : {}),
    ...(problem === null ? {} : { amount: problem }),
  }
}

/** Why a typed amount above 0 does not fit its currency; null where it does, or is no amount at all. */
export function decimalsProblem(typed: string, currency: string): string | null {
  const amount = readTypedAmount(typed, currency)
  return amount !== null && amount > 0 && amount < 1e10 ? amountProblem(amount, currency) : null
}

/** The values as a request body. An empty reference or day of issue is left out, so that the server assigns one. */
export function toDraft(
  values: InvoiceValues,
  usual: string,
): {
  clientName: string
  clientEmail: string
  amount: number
  currency?: string
  dueDate: string
  status: 'unpaid' | 'paid' | 'overdue'
  reference?: string
  issuedOn?: string
} {
  const { reference, issuedOn, status, amount, currency, ...rest } = values
  return {
    ...rest,
    amount: readTypedAmount(amount, currency || usual) ?? Number.NaN,
    ...(currency === '' ? {} : { currency }),
    status: invoiceStatus.catch('unpaid').parse(status),
    ...(reference.trim() === '' ? {} : { reference }),
    ...(issuedOn === '' ? {} : { issuedOn }),
  }
}

/** A client of earlier invoices, as written on the newest. */
export interface Client {
  name: string
  email: string
}

/** Each pair of name and email once, newest first. */
export function clientsOf(invoices: Pick<Invoice, 'clientName' | 'clientEmail'>[]): Client[] {
  const seen = new Set<string>()
  const clients: Client[] = []
  for (const { clientName, clientEmail } of invoices) {
    const key = `${clientName.toLowerCase()}\n${clientEmail.toLowerCase()}`
    if (seen.has(key)) continue
    seen.add(key)
    clients.push({ name: clientName, email: clientEmail })
  }
  return clients
}

/** At most six suggestions for a field, without duplicates and without what is already typed in full. */
export function suggestions(clients: Client[], field: keyof Client, typed: string): string[] {
  const wanted = typed.trim().toLowerCase()
  if (wanted === '') return []
  const found = new Map<string, string>()
  for (const client of clients) {
    const key = client[field].toLowerCase()
    if (key !== wanted && key.includes(wanted) && !found.has(key)) found.set(key, client[field])
    if (found.size === 6) break
  }
  return [...found.values()]
}
