import { readAmount, readDay } from './cells.ts'
import { columnName, type FileColumns, type FileMapping, type FileRow, guessByNames, guessDates } from './csv.ts'

export const fields = [
  'clientName',
  'clientEmail',
  'amount',
  'dueDate',
  'issuedOn',
  'amountPaid',
  'balance',
  'status',
  'reference',
  'currency',
  'language',
] as const
export type Field = (typeof fields)[number]
export const requiredFields: Field[] = ['clientName', 'clientEmail', 'amount', 'dueDate']

export type Columns = FileColumns<Field>
export type Mapping = FileMapping<Field>

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
  issuedOn: [/^(invoice|bill|issued?|document|doc)(date|on)(utc|gmt)?$|^date(issued|ofissue)$/, /^(invoice)?date$/],
  reference: [
    /^(invoice|bill)(no|number|num|nr|#)$/,
    /^(ref|reference|number|num|no|invoice#?|bill|#)$/,
    /^(reference|ref)|invoice(no|number|id)/,
    /^receipt(no|number)?$/,
  ],
  amount: totalNames,
  balance: owedNames,
  amountPaid: [/^(invoice)?(amount|total)(paid|received)$|^(paid|received)(amount|total)$|^paidtodate$|^payments?received$/],
  status: [/^((invoice|payment|current)?status|state)$/, /^(?!.*(email|sent|gst|tax|sync|delivery)).*status/],
  clientName: [
    /^(client|customer|party|buyer|contact|account|billto)(display|full)?name$/,
    /^(client|customer|company|party|buyer|contact|billedto|billto|name|companyname|organi[sz]ation(name)?)$/,
    /(client|customer|company|party|buyer).*name$/,
    /^(?!.*(id|no|number|code|type|email|phone|address|notes)$)(client|customer|company)/,
  ],
  language: [/^(client|customer|invoice|email|document|preferred)?(language|lang|locale)(code|tag)?$/],
  currency: [/^(invoice|original)?(currency|currencycode|curr|ccy)$/, /^(?!.*(base|rate|exchange|symbol|converted|account)).*currency/],
}

const typeName = /^(transaction|txn|document|doc|record|invoice|voucher)?type$/

const noColumns: Columns = {
  clientName: null,
  clientEmail: null,
  amount: null,
  dueDate: null,
  issuedOn: null,
  amountPaid: null,
  balance: null,
  status: null,
  reference: null,
  currency: null,
  language: null,
}

/** Guesses the columns by their names. What is still owed is the amount where there is no other. */
export function guessByHeader(head: string[]): Columns {
  const guess = guessByNames(head, columnNames)
  return guess.amount === null && guess.balance !== null ? { ...guess, amount: guess.balance, amountPaid: null, balance: null } : guess
}

/** The column with what is still owed, where that is not the amount; null if there is none. */
export function owedColumn(head: string[] | null): number | null {
  return head === null ? null : guessByHeader(head).balance
}

/** The column with the kind of document, such as a credit note; null if there is none. */
export function typeColumn(head: string[] | null): number | null {
  const found = (head ?? []).map(columnName).findIndex((name) => typeName.test(name))
  return found < 0 ? null : found
}

/** Whether a column has what is still owed, by its name. */
export function isOwed(name: string | undefined): boolean {
  return name !== undefined && owedNames.some((pattern) => pattern.test(columnName(name)))
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
