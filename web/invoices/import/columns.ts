import { readAmount } from '#web/invoices/form/invoice-values.ts'
import { currencyOfHeader, type DateOrder, readDay, readStatus } from './cells.ts'
import type { FileRow } from './csv.ts'

export const fields = ['clientName', 'clientEmail', 'amount', 'dueDate', 'status', 'reference', 'currency'] as const
export type Field = (typeof fields)[number]
export const requiredFields: Field[] = ['clientName', 'clientEmail', 'amount', 'dueDate']

/** The index of each field's column; null if the file has none. */
export type Columns = Record<Field, number | null>

/** Where the header is and which column has which field. */
export interface Mapping {
  /** The index of the row with the column names among the file's rows; null where there is none. */
  header: number | null
  columns: Columns
  dates: DateOrder
}

/** Columns that are not imported, but decide what the others mean. */
export interface Hints {
  /** What is still owed: it must win over any total. */
  owed: number | null
  total: number | null
  /** What has been paid in part. */
  paid: number | null
  /** Invoice, credit note, estimate… */
  type: number | null
}

/** What is still owed, as other programs name it, the most exact first: Stripe’s “Amount Due” does not fall with payments, “Amount Remaining” does. */
const owedNames = [
  /^(invoice)?(amount|balance|total)?(remaining|outstanding|pending|unpaid)(amount|balance|total)?$/,
  /^(open|invoice|current)?balance(due|amount|outstanding|owing|owed|remaining)?$|^open(invoice)?amount$/,
  /^(invoice|total)?amount(due|owed|owing)$|^(total)?(due|owed|owing)amount$|^total(due|owed|owing)$/,
]
const totalNames = [
  /^(invoice|bill|grand|gross|order)?(total|totalamount)(incltax|inctax|withtax|inclusiveoftax)?$/,
  /^(invoice|bill|gross|total|order)?(amount|value)$/,
]

/** Column names used by other programs, the most specific first, without case, spaces and punctuation. */
const columnNames: Record<Field, RegExp[]> = {
  clientEmail: [
    /^(primary|billing|main)?(client|customer|contact|billing|billto|recipient|buyer|party)(contact)?s?e?mail(id|address(es)?)?$/,
    /^(primary|billing)?e?mail(id|address(es)?)?$/,
    /^(?!.*(supplier|vendor|sender|seller|company|sales|agent|owner|from|user|staff|cc|notif)).*email(?!.*(sent|status|date|opened))/,
  ],
  dueDate: [
    /^(invoice)?due(date|on|by)?(utc|gmt)?$/,
    /^(datedue|paymentdue(date)?|paymentdate|expir(y|ation)(date)?|expireby)$/,
    /due.*date|date.*due/,
  ],
  reference: [
    /^(invoice|bill)(no|number|num|nr|#)$/,
    /^(ref|reference|number|num|no|invoice#?|bill|#)$/,
    /^(reference|ref)|invoice(no|number|id)/,
    /^receipt(no|number)?$/,
  ],
  amount: [...owedNames, ...totalNames],
  status: [/^((invoice|payment|current)?status|state)$/, /^(?!.*(email|sent|gst|tax|sync|delivery)).*status/],
  clientName: [
    /^(client|customer|party|buyer|contact|account|billto)(display|full)?name$/,
    /^(client|customer|company|party|buyer|contact|billedto|billto|name|companyname|organi[sz]ation(name)?)$/,
    /(client|customer|company|party|buyer).*name$/,
    /^(?!.*(id|no|number|code|type|email|phone|address|notes)$)(client|customer|company)/,
  ],
  currency: [/^(invoice|original)?(currency|currencycode|curr|ccy)$/, /^(?!.*(base|rate|exchange|symbol|converted|account)).*currency/],
}

const hintNames: Record<'paid' | 'type', RegExp> = {
  paid: /^(invoice)?(amount|total)(paid|received)$|^(paid|received)(amount|total)$|^paidtodate$|^payments?received$/,
  type: /^(transaction|txn|document|doc|record|invoice|voucher)?type$/,
}

const noColumns: Columns = {
  clientName: null,
  clientEmail: null,
  amount: null,
  dueDate: null,
  status: null,
  reference: null,
  currency: null,
}

/** A column's name without case, spaces, punctuation and the currency of its amounts: `*InvoiceAmountDue (INR)` is `invoiceamountdue`. */
function nameOf(cell: string): string {
  const code = currencyOfHeader(cell)
  const bare = code === null ? cell : cell.replace(/[([].*[)\]]|\bin [a-z]{3}\b|\b[A-Z]{3}$|[₹$€£]|\brs\.?/gi, '')
  return bare.toLowerCase().replace(/[^\p{L}\p{N}\p{M}#]/gu, '')
}

/** Guesses the columns by their names. */
export function guessByHeader(head: string[]): Columns {
  const names = head.map(nameOf)
  const guess = { ...noColumns }
  const taken = new Set<number>()
  for (const rank of [0, 1, 2, 3, 4]) {
    for (const [field, patterns] of Object.entries(columnNames) as [Field, RegExp[]][]) {
      const pattern = patterns[rank]
      if (guess[field] !== null || !pattern) continue
      const found = names.findIndex((name, index) => !taken.has(index) && pattern.test(name))
      if (found < 0) continue
      guess[field] = found
      taken.add(found)
    }
  }
  return guess
}

/** The columns that decide what an amount means; without column names there are none. */
export function hintsOf(head: string[] | null): Hints {
  const names = (head ?? []).map(nameOf)
  const first = (patterns: RegExp[]) => {
    const found = patterns.map((pattern) => names.findIndex((name) => pattern.test(name))).find((index) => index >= 0)
    return found ?? null
  }
  return { owed: first(owedNames), total: first(totalNames), paid: first([hintNames.paid]), type: first([hintNames.type]) }
}

/** Whether a column has what is still owed, by its name. */
export function isOwed(name: string | undefined): boolean {
  return name !== undefined && owedNames.some((pattern) => pattern.test(nameOf(name)))
}

/** Whether a row contains column names: at least two are known, and no cell is an email address. */
export function isHeader(row: string[]): boolean {
  if (row.some((cell) => cell.includes('@'))) return false
  return Object.values(guessByHeader(row)).filter((column) => column !== null).length >= 2
}

/** Reports begin with a title: how many rows are searched for the column names. */
const titleRows = 10

/** Guesses where the header is, the columns and the date format. */
export function guessMapping(rows: FileRow[]): Mapping {
  const found = rows.slice(0, titleRows).findIndex(({ cells }) => isHeader(cells))
  const header = found < 0 ? null : found
  return { header, ...guessColumns(rows, header) }
}

/** The columns and the date format, given where the header is. */
export function guessColumns(rows: FileRow[], header: number | null): Pick<Mapping, 'columns' | 'dates'> {
  const body = rows.slice(header === null ? 0 : header + 1)
  const content = guessByContent(body)
  const columns = header === null ? content : guessByHeader(rows[header]?.cells ?? [])
  // A column that its name did not reveal may be recognised by its content; an amount may not, because rates and taxes are numbers too.
  const taken = new Set(Object.values(columns))
  for (const field of requiredFields)
    if (field !== 'amount' && columns[field] === null && !taken.has(content[field])) columns[field] = content[field]
  return { columns, dates: guessDates(body, columns.dueDate) }
}

/** Guesses the columns of a file without column names by their content. Of several columns with numbers none is guessed to be the amount. */
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
    ['currency', (cell) => /^(inr|usd|eur|gbp|aed|sgd|aud|cad)$/i.test(cell)],
    ['status', (cell) => cell !== '' && readStatus(cell) !== null],
    ['amount', (cell) => readAmount(cell, 'INR') !== null],
    ['reference', (cell) => /^\S*\d\S*$/.test(cell)],
    ['clientName', (cell) => /\p{L}{2}/u.test(cell)],
  ]
  const taken = new Set<number>()
  for (const [field, is] of tests) {
    const found = Array.from({ length: width }, (_, column) => column).filter((column) => !taken.has(column) && mostly(column, is))
    if (found[0] === undefined || (field === 'amount' && found.length > 1)) continue
    guess[field] = found[0]
    taken.add(found[0])
  }
  return guess
}

/** Guesses whether dates begin with the day or the month, by numbers above 12 in the column, else in any other; otherwise the day. */
export function guessDates(rows: FileRow[], column: number | null): DateOrder {
  if (column === null) return 'dmy'
  const order = (cells: (cells: string[]) => string[]): DateOrder | null => {
    const parts = rows.flatMap((row) => cells(row.cells)).map((cell) => /^(\d{1,2})[/.\- ](\d{1,2})[/.\- ]\d{2,4}/.exec(cell))
    const above = (group: 1 | 2) => parts.filter((found) => Number(found?.[group] ?? 0) > 12).length
    return above(2) > above(1) ? 'mdy' : above(1) > 0 ? 'dmy' : null
  }
  return order((cells) => [cells[column] ?? '']) ?? order((cells) => cells) ?? 'dmy'
}
