import type { InvoiceStatus } from '#contract/invoices.ts'
import { readDate } from '#web/ui/dates.ts'

/** What stands first in a date: the day or the month. */
export type DateOrder = 'dmy' | 'mdy'

const months = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec']

/** A date as programs write it, as `YYYY-MM-DD`; a time behind it is left away. Null where the calendar has no such day. */
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

const words: Record<InvoiceStatus, RegExp> = {
  paid: /^(paid|yes|settled|received|closed|complete|completed)$/,
  unpaid: /^(unpaid|not paid|no|open|due|pending|outstanding|sent|draft|partially paid|partial|viewed)$/,
  overdue: /^(overdue|over due|late|past due)$/,
}

/** What other programs call the three states; an empty cell is unpaid, null what is none of them. */
export function readStatus(text: string): InvoiceStatus | null {
  const said = text.trim().toLowerCase().replaceAll('_', ' ')
  if (said === '') return 'unpaid'
  const found = Object.entries(words).find(([, pattern]) => pattern.test(said))
  return (found?.[0] as InvoiceStatus | undefined) ?? null
}
