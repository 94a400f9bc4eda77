import { decimalsOf } from '#contract/currencies.ts'
import { isCurrency } from '#contract/currency-codes.ts'
import { readDate } from '#contract/dates.ts'
import { amountProblem, formatMoney, readTypedAmount, signOf } from '#contract/money.ts'

export type DateOrder = 'dmy' | 'mdy'

const months = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec']

/** Parses a date as other programs write it to `YYYY-MM-DD`, ignoring a time. Null if there is no such date. */
export function readDay(text: string, order: DateOrder): string | null {
  const day = text.trim().replace(/[T ]\d{1,2}:\d{2}.*$/, '')
  const named = /^(\d{1,2})[\s\-/]([a-z]{3})[a-z]*\.?[\s\-/,]+(\d{4}|\d{2})$/i.exec(day)
  if (named) return withMonth(named[1], named[2], named[3])
  const american = /^([a-z]{3})[a-z]*\.?\s(\d{1,2}),?\s(\d{4})$/i.exec(day)
  if (american) return withMonth(american[2], american[1], american[3])
  const swapped = order === 'mdy' ? day.replace(/^(\d{1,2})([/.\- ])(\d{1,2})(?=[/.\- ]\d)/, '$3$2$1') : day
  return readDate(/^\d{4}/.test(day) ? day.replaceAll('/', '-') : swapped)
}

function withMonth(day = '', month = '', year = ''): string | null {
  const number = months.indexOf(month.toLowerCase()) + 1
  return number === 0 ? null : readDate(`${day}/${number}/${year}`)
}

const symbols: [RegExp, string][] = [
  [/₹|\brs\b|\brupees?\b/i, 'INR'],
  [/€|\beuros?\b/i, 'EUR'],
  [/£/, 'GBP'],
  [/\bus ?\$|\bus dollars?\b/i, 'USD'],
]

/** The currency of a cell such as `INR`, `inr - Indian Rupee` or `€`: its code, else the cell as it is; null where it is empty. */
export function readCurrency(text: string): string | null {
  const bare = text.trim()
  if (bare === '') return null
  const known = symbols.find(([pattern]) => pattern.test(bare))?.[1]
  const code = /^[a-z]{3}$/i.test(bare) ? bare : /\b[A-Z]{3}\b/.exec(bare)?.[0]
  return code?.toUpperCase() ?? known ?? bare.slice(0, 20)
}

/** The currency written with an amount, `€1,200.00` or `1200 USD`; null where there is none. */
export function currencyOfAmount(text: string): string | null {
  const beside = text.replace(/[\d.,'()\s\u00a0+-]|\/-/g, '')
  return /\p{Sc}|^[a-z]{3}$|^rs$/iu.test(beside) ? readCurrency(beside) : null
}

/**
 * What the parts of a line name as its currency, each once. A sign that several currencies have, such as $, is that of the code beside it, else the
 * usual one where that is written so.
 */
export function currenciesOf(named: (string | null)[], usual: string): string[] {
  const found = [...new Set(named.filter((one) => one !== null))]
  const codes = found.filter((one) => isCurrency(one))
  const hasSign = (sign: string) => (code: string) => signOf(code).endsWith(sign)
  return found.flatMap((one) => {
    if (!/^\p{Sc}$/u.test(one) || codes.includes(one)) return [one]
    if (codes.some(hasSign(one))) return []
    return codes.length === 0 && hasSign(one)(usual) ? [usual] : [one]
  })
}

/** The currency in the name of a column, `Total (EUR)` or `Amount in INR`; null where there is none. */
export function currencyOfHeader(name: string): string | null {
  const found = /[([]\s*([a-z]{3}|rs\.?|\p{Sc})\s*[)\]]|\bin ([A-Z]{3})$|\s([A-Z]{3})$|(\p{Sc})/iu.exec(name)
  const written = found?.slice(1).find((part) => part !== undefined)
  if (written === undefined) return null
  const code = readCurrency(written)
  return code !== null && (/\p{Sc}/u.test(written) || (isCurrency(code) && !notCurrencies.has(code))) ? code : null
}

/** Codes that are also words in the names of columns, such as `Total (ALL)`. */
const notCurrencies = new Set(['ALL', 'TOP', 'TRY', 'MOP', 'BAM', 'LAK', 'GEL', 'PEN'])

/** Whether an amount is below zero: `-5`, `5-` or `(500.00)`. The Indian `500/-` is not. */
export function isNegative(text: string): boolean {
  return /^\D*[-−]\s*\D*\d|\d\s*-$|^\(.*\d.*\)$/.test(text.trim()) && !/\/-$/.test(text.trim())
}

/** An amount without signs and codes of currencies: the caller knows which currency it is. Other words stay. */
function unmarked(text: string): string {
  return text.replace(/[a-z]{0,2}\p{Sc}|\brs\b\.?|(?<![a-z])[a-z]{3}(?![a-z])/giu, (mark) =>
    /^[a-z]{3}$/i.test(mark) && !isCurrency(mark.toUpperCase()) ? mark : '',
  )
}

/**
 * Parses an amount from a file, where a decimal comma, `1.234,50`, is possible too; null if it is not an amount, or may be two: `5.000` is
 * five or five thousand, and so is `5,000` in a currency with three decimals.
 */
export function readAmount(text: string, currency: string): number | null {
  const plainText = unmarked(text)
  if (decimalsOf(currency) === 3 && /^-?\d{1,3},\d{3}$/.test(plainText.trim())) return null
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

/** Why a typed amount above 0 does not fit its currency; null where it does, or is no amount at all. */
export function decimalsProblem(typed: string, currency: string): string | null {
  const amount = readTypedAmount(typed, currency)
  return amount !== null && amount > 0 && amount < 1e10 ? amountProblem(amount, currency) : null
}

/** A language by its tag or its name, in English or in itself; of a tag with a region that is not known, without it. Null: not one of `known`. */
export function readLanguage(text: string, known: readonly string[]): string | null {
  const key = text.trim().replaceAll('_', '-').toLowerCase()
  const isNamed = (tag: string) =>
    ['en', tag].some((shown) => new Intl.DisplayNames([shown], { type: 'language' }).of(tag)?.toLowerCase() === key)
  return known.find((tag) => tag.toLowerCase() === key) ?? known.find((tag) => tag === key.split('-')[0]) ?? known.find(isNamed) ?? null
}
