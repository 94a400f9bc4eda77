import { isCurrency } from '#contract/currency-codes.ts'
import { readDate } from '#web/ui/dates.ts'

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

/**
 * What a status says. `open`: to be paid, and whether it is overdue follows from the date. `unpaid` is what a person chose to call unpaid.
 * The last five are left out.
 */
export type Status = 'paid' | 'unpaid' | 'overdue' | 'open' | 'partial' | 'draft' | 'void' | 'cancelled' | 'deleted' | 'writtenOff'

const statusNames: Record<Status, RegExp> = {
  paid: /^(fully|auto)?paid(infull)?$|^(yes|settled|received|closed|completed?|deposited)$/,
  unpaid: /^(unpaid|notpaid|no)$/,
  overdue: /^(overdue|late|pastdue|overdue(by|for)?\d+days?)$/,
  open: /^(open|due|pending|outstanding|sent|viewed|issued|approved|authori[sz]ed|awaitingpayment|pendingpayment|paymentpending|paymentdue|due(today|tomorrow|in\d+days?))$/,
  partial: /^(partial(ly)?(paid)?|partpaid|partpayment|paidpartially|partialpayment)$/,
  draft: /^(saved)?drafts?$|^(awaiting|pending)approval$/,
  void: /^(void|voided)$/,
  cancelled: /^cancell?ed$/,
  deleted: /^(deleted|rejected)$/,
  writtenOff: /^(writtenoff|writeoff|baddebt|uncollectible|refunded|credited)$/,
}

/** A status without case, spaces, hyphens and the like, so that each word has one meaning however it is written. */
export function statusKey(text: string): string {
  return text.toLowerCase().replace(/[\s\-_.,'"()/–—]/g, '')
}

/** Parses a status as other programs write it; an empty cell is open, an unknown status null. */
export function readStatus(text: string): Status | null {
  const key = statusKey(text)
  if (key === '') return 'open'
  const found = Object.entries(statusNames).find(([, pattern]) => pattern.test(key))
  return (found?.[0] as Status | undefined) ?? null
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

/** Whether an amount is below zero: `-5`, `5-`, `(500.00)` or `500 Cr`. */
export function isCredit(text: string): boolean {
  return /^\D*-\s*\D*\d|\d\s*-$|^\(.*\d.*\)$|\d\s*cr\.?$/i.test(text.trim()) && !/\/-$/.test(text.trim())
}
