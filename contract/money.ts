import { decimalsOf } from './currencies.ts'

/** The largest amount of one invoice, in minor units: 9,999,999,999.99. */
export const largestMinor = 999_999_999_999

/** An amount of money as JSON has it. */
export interface Money {
  currency: string
  amount: number
}

const withDecimals = /^(\d{1,10})(?:\.(\d{1,3}))?$/

/**
 * A JSON number to integer minor units of a currency; null when it is negative, too large, or has more decimals than the currency. No float
 * arithmetic: the digits are read.
 */
export function toMinor(amount: number, currency: string): number | null {
  const [, whole, part = ''] = withDecimals.exec(String(amount)) ?? []
  const decimals = decimalsOf(currency)
  if (whole === undefined || part.length > decimals) return null
  const minor = Number(whole + part.padEnd(decimals, '0'))
  return minor > largestMinor ? null : minor
}

/** Integer minor units to the number that people write: 184200 to 1842 in INR, to 184200 in JPY. */
export function fromMinor(minor: number, currency: string): number {
  const decimals = decimalsOf(currency)
  const digits = String(minor).padStart(decimals + 1, '0')
  return Number(`${digits.slice(0, digits.length - decimals)}.${digits.slice(digits.length - decimals)}`)
}

const formats = new Map<string, Intl.NumberFormat>()

/** ₹1,84,200.00 with Indian grouping, other currencies as in British English: €184,200.00, JP¥184,200. Always all of their decimals. */
export function formatMoney(amount: number, currency: string): string {
  let format = formats.get(currency)
  if (!format) {
    // Made when the first amount is shown: on a phone it takes as long as all the rest of a module's start.
    const decimals = decimalsOf(currency)
    const locale = currency === 'INR' ? 'en-IN' : 'en-GB'
    format = new Intl.NumberFormat(locale, {
      style: 'currency',
      currency,
      minimumFractionDigits: decimals,
      maximumFractionDigits: decimals,
    })
    formats.set(currency, format)
  }
  return format.format(amount)
}

/** Plain digits, or grouped as in India, `1,84,200`, or as elsewhere, `184,200`. */
const amountPattern = /^-?(?:\d+|\d{1,2}(?:,\d{2})*,\d{3}|\d{1,3}(?:,\d{3})+|(?=\.\d))(?:\.(\d*))?$/

/**
 * Parses a typed amount of a currency: `48,500`, `1,84,200.50`, `₹ 500`, `5000/-`. Commas only group. Ambiguous text is null: `1,00` could
 * be one or a hundred, `5.000` five or five thousand, unless the currency has three decimals.
 */
export function readTypedAmount(text: string, currency: string): number | null {
  const unsigned = withoutSign(text.trim(), currency)
  const bare = unsigned.endsWith('/-') ? unsigned.slice(0, -2).trimEnd() : unsigned
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

/** What does not fit into an amount of a currency, in a sentence; null where nothing does not. */
export function amountProblem(amount: number, currency: string): string | null {
  if (toMinor(amount, currency) !== null) return null
  const decimals = decimalsOf(currency)
  if (decimals === 3 && amount * 1000 > largestMinor) return `Please enter an amount of at most 999,999,999.999 in ${currency}.`
  if (decimals === 0) return `Please enter an amount without decimals: ${currency} has none.`
  return `Please enter an amount with at most ${decimals === 2 ? 'two' : 'three'} decimals.`
}

/** Why a typed amount above 0 does not fit its currency; null where it does, or is no amount at all. */
export function decimalsProblem(typed: string, currency: string): string | null {
  const amount = readTypedAmount(typed, currency)
  return amount !== null && amount > 0 && amount < 1e10 ? amountProblem(amount, currency) : null
}

/** The format of the amount field: `1,84,200.00`. */
export function showAmount(amount: number, currency: string): string {
  return formatMoney(amount, currency).replace(/[^\d.,]/g, '')
}

/** Adds up amounts by their currency, exactly; never across currencies. In the order of `toMoney`. */
export function sumByCurrency(amounts: Iterable<Money>, first: string): Money[] {
  const sums = new Map<string, number>()
  for (const { currency, amount } of amounts) sums.set(currency, (sums.get(currency) ?? 0) + (toMinor(amount, currency) ?? 0))
  return toMoney(sums, first)
}

/** Minor units by currency as amounts: `first`, then the others by their codes. */
export function toMoney(sums: ReadonlyMap<string, number>, first: string): Money[] {
  const place = (currency: string) => (currency === first ? '' : currency)
  return [...sums]
    .toSorted(([one], [other]) => (place(one) < place(other) ? -1 : 1))
    .map(([currency, minor]) => ({ currency, amount: fromMinor(minor, currency) }))
}

/** ₹5,000.00 + €120.00: sums of several currencies are never added. Without any it is zero of `currency`. */
export function formatSums(sums: Money[], currency: string): string {
  return sums.length === 0 ? formatMoney(0, currency) : sums.map((sum) => formatMoney(sum.amount, sum.currency)).join(' + ')
}
