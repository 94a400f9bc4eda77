import { type Invoice, type InvoiceDraft, type InvoiceStatus, invoiceDraft } from '#contract/invoices.ts'
import { readAmount } from '#web/invoices/form/invoice-values.ts'
import { readDate } from '#web/ui/dates.ts'
import type { FileRow } from './csv.ts'
import { texts } from './texts.ts'

export const fields = ['clientName', 'clientEmail', 'amount', 'dueDate', 'status', 'reference'] as const
export type Field = (typeof fields)[number]
export const needed: Field[] = ['clientName', 'clientEmail', 'amount', 'dueDate']

/** Which column of the file holds which field; null: none does. */
export type Columns = Record<Field, number | null>

/** What other programs call these columns, the surest names first. */
const names: Record<Field, RegExp[]> = {
  clientEmail: [/^(client|customer|contact|billing)?\s*e-?\s*mail(\s*(id|address))?$/, /e-?mail/],
  dueDate: [/^(invoice\s*)?due(\s*(date|on|by))?$/, /^(date due|payment due( date)?|expiry date)$/, /due.*date|date.*due/],
  reference: [
    /^(invoice|bill)\s*(no|number|num|#)\.?$/,
    /^(ref|reference|number|num|no\.?|invoice#?|bill)$/,
    /^(reference|ref)\b|invoice\s*(no|number|id)\b/,
  ],
  amount: [
    /^(invoice\s*)?amount(\s*\(?(inr|rs\.?|₹)\)?)?$/,
    /^((grand|invoice)\s*)?total$|^amount due$/,
    /^balance(\s*due)?$/,
    /amount|total|balance/,
  ],
  status: [/^((invoice|payment)\s*)?status$/, /^state$/, /status/],
  clientName: [
    /^(client|customer|company|party|buyer|contact|account)(\s*name)?$/,
    /^(bill(ed)? to|name)$/,
    /(client|customer|company|party|buyer).*name/,
    /client|customer|company/,
  ],
}

const nothing: Columns = { clientName: null, clientEmail: null, amount: null, dueDate: null, status: null, reference: null }

/** Guesses the columns by the words in the first line. */
export function guessByHead(head: string[]): Columns {
  const words = head.map((cell) => cell.toLowerCase().replaceAll('_', ' ').replace(/\s+/g, ' ').trim())
  const guess = { ...nothing }
  const taken = new Set<number>()
  for (const rank of [0, 1, 2, 3]) {
    for (const [field, patterns] of Object.entries(names) as [Field, RegExp[]][]) {
      const pattern = patterns[rank]
      if (guess[field] !== null || !pattern) continue
      const found = words.findIndex((word, index) => !taken.has(index) && pattern.test(word))
      if (found < 0) continue
      guess[field] = found
      taken.add(found)
    }
  }
  return guess
}

/** Whether the first line holds names: at least two that are known, and nothing that only a line of an invoice holds. */
export function hasHead(first: string[]): boolean {
  if (first.some((cell) => cell.includes('@'))) return false
  return Object.values(guessByHead(first)).filter((column) => column !== null).length >= 2
}

/** Guesses the columns by what stands in them, for a file without names. */
export function guessByContent(lines: FileRow[]): Columns {
  const sample = lines.slice(0, 50).map(({ cells }) => cells)
  const width = Math.max(0, ...sample.map((cells) => cells.length))
  const guess = { ...nothing }
  const mostly = (column: number, is: (cell: string) => boolean) => {
    const filled = sample.map((cells) => cells[column] ?? '').filter((cell) => cell !== '')
    return filled.length > 0 && filled.filter(is).length >= filled.length * 0.7
  }
  const tests: [Field, (cell: string) => boolean][] = [
    ['clientEmail', (cell) => cell.includes('@')],
    ['dueDate', (cell) => readDay(cell, 'dmy') !== null || readDay(cell, 'mdy') !== null],
    ['status', (cell) => /^(un)?paid$|^overdue$/i.test(cell)],
    ['amount', (cell) => readAmount(cell) !== null],
    ['reference', (cell) => /^\S*\d\S*$/.test(cell)],
    ['clientName', (cell) => /\p{L}{2}/u.test(cell)],
  ]
  const taken = new Set<number>()
  for (const [field, is] of tests) {
    const found = Array.from({ length: width }, (_, column) => column).find((column) => !taken.has(column) && mostly(column, is))
    if (found === undefined) continue
    guess[field] = found
    taken.add(found)
  }
  return guess
}

/** Whether days or months stand first in the dates of a column: a number above 12 tells; where none does, days. */
export function guessDates(lines: FileRow[], column: number | null): DateOrder {
  if (column === null) return 'dmy'
  const parts = lines.map(({ cells }) => /^(\d{1,2})[/.\- ](\d{1,2})[/.\- ]\d{2,4}/.exec(cells[column] ?? ''))
  const above = (group: 1 | 2) => parts.filter((found) => Number(found?.[group] ?? 0) > 12).length
  return above(2) > above(1) ? 'mdy' : 'dmy'
}

/** What would become of a line of the file. */
export type CheckedRow = FileRow &
  (
    | { state: 'ready'; draft: InvoiceDraft; says: null }
    | { state: 'duplicate'; draft: InvoiceDraft; says: string }
    | { state: 'bad'; draft: null; says: string }
  )

/** Judges every line by the rules for an invoice, by the invoices that are there, and by the lines before it. */
export function checkRows(lines: FileRow[], columns: Columns, dates: DateOrder, invoices: Invoice[]): CheckedRow[] {
  const references = new Set(invoices.map(({ reference }) => reference))
  const known = new Map<string, string>()
  for (const invoice of invoices) known.set(keyOf(invoice), texts.duplicateOf(invoice.reference))
  return lines.map((line): CheckedRow => {
    const parsed = invoiceDraft.safeParse(toDraft(line.cells, columns, dates))
    if (!parsed.success) {
      const says = [...new Set(parsed.error.issues.map((issue) => errorMessage(issue.path[0], issue.message, line.cells, columns)))].join(
        ' ',
      )
      return { ...line, state: 'bad', draft: null, says }
    }
    const { data: draft } = parsed
    const key = keyOf(draft)
    const twin = known.get(key)
    if (twin !== undefined) return { ...line, state: 'duplicate', draft, says: twin }
    if (draft.reference !== undefined) {
      if (references.has(draft.reference)) return { ...line, state: 'bad', draft: null, says: texts.referenceTaken(draft.reference) }
      references.add(draft.reference)
    }
    known.set(key, texts.duplicateLine(line.line))
    return { ...line, state: 'ready', draft, says: null }
  })
}

function toDraft(cells: string[], columns: Columns, dates: DateOrder): object {
  const cell = (field: keyof Columns) => (columns[field] === null ? '' : (cells[columns[field]] ?? ''))
  const reference = cell('reference')
  return {
    clientName: cell('clientName'),
    clientEmail: cell('clientEmail'),
    amount: readAmount(cell('amount')) ?? Number.NaN,
    dueDate: readDay(cell('dueDate'), dates) ?? '',
    status: readStatus(cell('status')),
    ...(reference === '' ? {} : { reference }),
  }
}

/** Where a cell could not be read at all, how it should be written; else what the rule says. */
function errorMessage(field: PropertyKey | undefined, message: string, cells: string[], columns: Columns): string {
  const cell = (name: keyof Columns) => (columns[name] === null ? '' : (cells[columns[name]] ?? ''))
  if (field === 'status') return texts.noStatus
  if (field === 'dueDate' && readDay(cell('dueDate'), 'dmy') === null) return texts.noDate
  if (field === 'amount' && readAmount(cell('amount')) === null) return texts.noAmount
  return message
}

/** Client email, amount and due date: what makes two invoices look the same. */
function keyOf({ clientEmail, amount, dueDate }: Pick<Invoice, 'clientEmail' | 'amount' | 'dueDate'>): string {
  return `${clientEmail.toLowerCase()} ${amount.toFixed(2)} ${dueDate.slice(0, 10)}`
}

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
