import { type Invoice, type InvoiceDraft, type InvoiceStatus, invoiceDraft } from '#contract/invoices.ts'
import { readAmount } from '#web/invoices/form/invoice-values.ts'
import { readDate } from '#web/ui/dates.ts'
import type { FileRow } from './csv.ts'
import { texts } from './texts.ts'

export const fields = ['clientName', 'clientEmail', 'amount', 'dueDate', 'status', 'reference'] as const
export type Field = (typeof fields)[number]
export const requiredFields: Field[] = ['clientName', 'clientEmail', 'amount', 'dueDate']

/** The index of each field's column; null if the file has none. */
export type Columns = Record<Field, number | null>

/** Column names used by other programs, the most specific first. */
const columnNames: Record<Field, RegExp[]> = {
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

const noColumns: Columns = { clientName: null, clientEmail: null, amount: null, dueDate: null, status: null, reference: null }

/** Guesses the columns by the names in the first row. */
export function guessByHeader(head: string[]): Columns {
  const cells = head.map((cell) => cell.toLowerCase().replaceAll('_', ' ').replace(/\s+/g, ' ').trim())
  const guess = { ...noColumns }
  const taken = new Set<number>()
  for (const rank of [0, 1, 2, 3]) {
    for (const [field, patterns] of Object.entries(columnNames) as [Field, RegExp[]][]) {
      const pattern = patterns[rank]
      if (guess[field] !== null || !pattern) continue
      const found = cells.findIndex((word, index) => !taken.has(index) && pattern.test(word))
      if (found < 0) continue
      guess[field] = found
      taken.add(found)
    }
  }
  return guess
}

/** Whether the first row contains column names: at least two are known, and no cell is an email address. */
export function isHeader(first: string[]): boolean {
  if (first.some((cell) => cell.includes('@'))) return false
  return Object.values(guessByHeader(first)).filter((column) => column !== null).length >= 2
}

/** Guesses the columns of a file without column names by their content. */
export function guessByContent(rows: FileRow[]): Columns {
  const sample = rows.slice(0, 50).map(({ cells }) => cells)
  const width = Math.max(0, ...sample.map((cells) => cells.length))
  const guess = { ...noColumns }
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

/** Guesses whether dates begin with the day or the month, by numbers above 12; otherwise the day. */
export function guessDates(rows: FileRow[], column: number | null): DateOrder {
  if (column === null) return 'dmy'
  const parts = rows.map(({ cells }) => /^(\d{1,2})[/.\- ](\d{1,2})[/.\- ]\d{2,4}/.exec(cells[column] ?? ''))
  const above = (group: 1 | 2) => parts.filter((found) => Number(found?.[group] ?? 0) > 12).length
  return above(2) > above(1) ? 'mdy' : 'dmy'
}

/** A row of the file after validation. */
export type CheckedRow = FileRow &
  (
    | { state: 'ready'; draft: InvoiceDraft; message: null }
    | { state: 'duplicate'; draft: InvoiceDraft; message: string }
    | { state: 'bad'; draft: null; message: string }
  )

/** Validates each row against the contract, the existing invoices and the rows before it. */
export function checkRows(rows: FileRow[], columns: Columns, dates: DateOrder, invoices: Invoice[]): CheckedRow[] {
  const references = new Set(invoices.map(({ reference }) => reference))
  const known = new Map<string, string>()
  for (const invoice of invoices) known.set(duplicateKey(invoice), texts.duplicateOf(invoice.reference))
  return rows.map((row): CheckedRow => {
    const parsed = invoiceDraft.safeParse(toDraft(row.cells, columns, dates))
    if (!parsed.success) {
      const messages = parsed.error.issues.map((issue) => messageOf(issue.path[0], issue.message, row.cells, columns))
      return { ...row, state: 'bad', draft: null, message: [...new Set(messages)].join(' ') }
    }
    const { data: draft } = parsed
    const key = duplicateKey(draft)
    const duplicate = known.get(key)
    if (duplicate !== undefined) return { ...row, state: 'duplicate', draft, message: duplicate }
    if (draft.reference !== undefined) {
      if (references.has(draft.reference)) return { ...row, state: 'bad', draft: null, message: texts.referenceTaken(draft.reference) }
      references.add(draft.reference)
    }
    known.set(key, texts.duplicateRow(row.number))
    return { ...row, state: 'ready', draft, message: null }
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

/** For a cell that could not be parsed, the format it needs; otherwise the contract's message. */
function messageOf(field: PropertyKey | undefined, message: string, cells: string[], columns: Columns): string {
  const cell = (name: keyof Columns) => (columns[name] === null ? '' : (cells[columns[name]] ?? ''))
  if (field === 'status') return texts.unknownStatus(cell('status'))
  if (field === 'dueDate' && readDay(cell('dueDate'), 'dmy') === null) return texts.noDate
  if (field === 'amount' && readAmount(cell('amount')) === null) return texts.noAmount
  return message
}

/** Invoices with the same client email, amount and due date are duplicates. */
function duplicateKey({ clientEmail, amount, dueDate }: Pick<Invoice, 'clientEmail' | 'amount' | 'dueDate'>): string {
  return `${clientEmail.toLowerCase()} ${amount.toFixed(2)} ${dueDate.slice(0, 10)}`
}

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

const statusNames: Record<InvoiceStatus, RegExp> = {
  paid: /^(paid|yes|settled|received|closed|complete|completed)$/,
  unpaid: /^(unpaid|not paid|no|open|due|pending|outstanding|sent|draft|partially paid|partial|viewed)$/,
  overdue: /^(overdue|over due|late|past due)$/,
}

/** Parses a status as other programs write it; an empty cell is unpaid, an unknown status null. */
export function readStatus(text: string): InvoiceStatus | null {
  const name = text.trim().toLowerCase().replaceAll('_', ' ')
  if (name === '') return 'unpaid'
  const found = Object.entries(statusNames).find(([, pattern]) => pattern.test(name))
  return (found?.[0] as InvoiceStatus | undefined) ?? null
}
