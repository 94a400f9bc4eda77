import { decimalsOf } from '#contract/currencies.ts'
import { isCurrency } from '#contract/currency-codes.ts'
import { type Invoice, invoiceStatus } from '#contract/invoices.ts'
import { amountProblem, formatMoney, toMinor } from '#contract/money.ts'
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
}

/**
 * The contract's message shows dates as YYYY-MM-DD; the form's fields take dd/mm/yyyy. How many decimals an amount may have depends on the
 * currency.
 */
export function checkDraft({ dueDate, amount: typed, currency }: InvoiceValues, usual: string): Record<string, string> {
  const problem = decimalsProblem(typed, currency || usual)
  return { ...(readDate(dueDate) === null ? { dueDate: texts.noDate } : {}), ...(problem === null ? {} : { amount: problem }) }
}

/** Why a typed amount above 0 does not fit its currency; null where it does, or is no amount at all. */
export function decimalsProblem(typed: string, currency: string): string | null {
  const amount = readTypedAmount(typed, currency)
  return amount !== null && amount > 0 && amount < 1e10 ? amountProblem(amount, currency) : null
}

/** The values as a request body. An empty reference is left out, so that the server assigns one. */
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
} {
  const { reference, status, amount, currency, ...rest } = values
  return {
    ...rest,
    amount: readTypedAmount(amount, currency || usual) ?? Number.NaN,
    ...(currency === '' ? {} : { currency }),
    status: invoiceStatus.catch('unpaid').parse(status),
    ...(reference.trim() === '' ? {} : { reference }),
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

/** Plain digits, or grouped as in India, `1,84,200`, or as elsewhere, `184,200`. */
const amountPattern = /^-?(?:\d+|\d{1,2}(?:,\d{2})*,\d{3}|\d{1,3}(?:,\d{3})+|(?=\.\d))(?:\.(\d*))?$/

/**
 * Parses a typed amount of a currency: `48,500`, `1,84,200.50`, `₹ 500`, `5000/-`. Commas only group. Ambiguous text is null: `1,00` could
 * be one or a hundred, `5.000` five or five thousand, unless the currency has three decimals.
 */
export function readTypedAmount(text: string, currency: string): number | null {
  const bare = withoutSign(text.trim(), currency).replace(/\s*\/-$/, '')
  const found = amountPattern.exec(bare)
  if (!found) return null
  const amount = Number(bare.replaceAll(',', ''))
  const decimals = found[1]?.length ?? 0
  return decimals > Math.max(2, decimalsOf(currency)) && toMinor(amount, currency) !== null ? null : amount
}

/** A typed amount without the sign of its currency before it. Another sign stays, and makes it no amount. */
function withoutSign(text: string, currency: string): string {
  const sign = signOf(currency)
  const signs = currency === 'INR' ? [sign, 'INR', 'RS.', 'RS'] : [sign, currency, sign.slice(-1)]
  const found = signs.find((one) => /\D/.test(one) && text.toUpperCase().startsWith(one))
  return found === undefined ? text : text.slice(found.length).trimStart()
}

/** ₹, €, US$, or the code of a currency without a sign. */
export function signOf(currency: string): string {
  return formatMoney(0, currency).replace(/[\d.,\s]/g, '')
}

/** An amount without signs and codes of currencies: the caller knows which currency it is. Other words stay. */
function unmarked(text: string): string {
  return text.replace(/[a-z]{0,2}\p{Sc}|\brs\b\.?|(?<![a-z])[a-z]{3}(?![a-z])/giu, (mark) =>
    /^[a-z]{3}$/i.test(mark) && !isCurrency(mark.toUpperCase()) ? mark : '',
  )
}

/**
 * Parses an amount from a file, where a decimal comma, `1.234,50`, is possible too; null if it is not an amount, or may be two: `5.000` is
 * five or five thousand.
 */
export function readAmount(text: string, currency: string): number | null {
  const plainText = unmarked(text)
  const typed = readTypedAmount(plainText, currency)
  if (typed !== null) return typed
  const bare = plainText.replace(/\/-|[\s\u00a0']/g, '')
  if (!/^\d[\d.,]*$/.test(bare) || /^\d{1,3}\.\d{3}$/.test(bare)) return null
  // The last comma is decimal if one or two digits follow it and no point does.
  const decimalComma = /,\d{1,2}$/.test(bare) && !/\.\d*$/.test(bare.slice(bare.lastIndexOf(',')))
  const plain = decimalComma
    ? bare
        .replaceAll('.', '')
        .replaceAll(/,(?=.*,)/g, '')
        .replace(',', '.')
    : bare.replaceAll(',', '')
  return /^\d+(\.\d*)?$/.test(plain) ? Number(plain) : null
}

/** The format of the amount field: `1,84,200.00`. */
export function showAmount(amount: number, currency: string): string {
  return formatMoney(amount, currency).replace(/[^\d.,]/g, '')
}
