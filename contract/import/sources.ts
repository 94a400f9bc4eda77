import { isCurrency } from '#contract/currency-codes.ts'
import { fromMinor, toMinor } from '#contract/money.ts'
import { currencyOfAmount, currencyOfHeader, type DateOrder, isNegative, readAmount, readCurrency, readDay } from './cells.ts'
import { columnName, type FileRow, guessDates } from './csv.ts'

/** Programs whose exports are known by their column names. */
export const sources = ['zoho', 'xero', 'quickbooks', 'freshbooks', 'wave', 'invoiceNinja', 'stripe', 'razorpay'] as const
export type Source = (typeof sources)[number]

/** What an export does not say, so that a person does. */
export interface Told {
  /** Days from the date of an invoice to its due date, where an invoice has none. */
  daysToPay: number | null
  addresses: Addresses | null
  /** null: as the dates of the file suggest. */
  dates?: DateOrder | null
}

/** Clients by their id or name, in lower case. */
export type Addresses = Map<string, { name: string; email: string }>

/** The columns that every export is brought to, in this order. */
const head = [
  'Reference',
  'Client Name',
  'Client Email',
  'Currency',
  'Amount',
  'Amount Paid',
  'Balance',
  'Issued On',
  'Due Date',
  'Status',
  'Type',
] as const
type Line = Partial<Record<(typeof head)[number], string>>

/** A row of an export, its cells by the names of their columns. */
interface Row {
  number: number
  cell(...names: string[]): string
  cells: string[]
  /** The currency of an amount for which the file names none. */
  usual: string
}

interface Format {
  /** Column names that an export of it has, as `columnName` writes them. */
  has: string[]
  /** The invoices of an export; a row that is none is left out by its status or type. */
  read(rows: Row[]): { number: number; line: Line }[]
}

/** Reports begin with a title: how many rows are searched for the column names. */
const titleRows = 12

const formats: Record<Source, Format> = {
  zoho: {
    has: ['invoicenumber', 'invoicestatus', 'customername', 'duedate', 'total', 'balance'],
    read: (rows) =>
      firstOf(rows, 'invoicenumber', ['customername', 'currencycode', 'total', 'balance', 'duedate']).map((row) => ({
        number: row.number,
        line: {
          Reference: row.cell('invoicenumber'),
          'Client Name': row.cell('customername'),
          'Client Email': row.cell('primarycontactemailid'),
          Currency: row.cell('currencycode'),
          Amount: row.cell('total'),
          Balance: row.cell('balance'),
          'Issued On': row.cell('invoicedate'),
          'Due Date': row.cell('duedate'),
          Status: row.cell('invoicestatus'),
        },
      })),
  },
  xero: {
    has: ['contactname', 'emailaddress', 'invoicenumber', 'duedate', 'total'],
    read: (rows) =>
      firstOf(rows, 'invoicenumber', ['contactname', 'currency', 'total', 'invoiceamountdue', 'duedate', 'type']).map((row) => ({
        number: row.number,
        line: {
          Reference: row.cell('invoicenumber'),
          'Client Name': row.cell('contactname'),
          'Client Email': row.cell('emailaddress'),
          Currency: row.cell('currency'),
          Amount: row.cell('total'),
          'Amount Paid': row.cell('invoiceamountpaid', 'amountpaid'),
          Balance: row.cell('invoiceamountdue', 'amountdue'),
          'Issued On': row.cell('invoicedate'),
          'Due Date': row.cell('duedate'),
          Status: row.cell('status'),
          Type: row.cell('type'),
        },
      })),
  },
  quickbooks: {
    has: ['transactiontype', 'num', 'duedate', 'amount', 'openbalance'],
    read: (rows) => {
      let group = ''
      return rows.flatMap((row) => {
        const type = row.cell('transactiontype')
        const [first = '', ...others] = row.cells.filter((cell) => cell !== '')
        // The lines of a client begin with its name, alone, and end with their total.
        if (type === '') {
          if (others.length === 0 && !/^(grand )?total\b/i.test(first)) group = first
          return []
        }
        const line: Line = {
          Reference: row.cell('num'),
          'Client Name': row.cell('customerfullname', 'customer', 'name') || group,
          Currency: row.cell('currency'),
          Amount: row.cell('amount'),
          Balance: row.cell('openbalance'),
          'Issued On': row.cell('date'),
          'Due Date': row.cell('duedate'),
          Type: type,
        }
        return [{ number: row.number, line }]
      })
    },
  },
  freshbooks: {
    has: ['clientname', 'invoice#', 'dateissued', 'invoicestatus', 'linetotal'],
    read: (rows) =>
      byReference(rows, 'invoice#', 'clientname', 'currency').map((items) => {
        const [first] = items
        return {
          number: first.number,
          line: {
            Reference: first.cell('invoice#'),
            'Client Name': first.cell('clientname'),
            Currency: first.cell('currency'),
            Amount: sumOf(items, 'linetotal'),
            'Issued On': first.cell('dateissued'),
            'Due Date': first.cell('datedue', 'duedate'),
            Status: first.cell('invoicestatus'),
          },
        }
      }),
  },
  wave: {
    has: ['transactionid', 'transactiondate', 'amountonecolumn', 'customer', 'invoicenumber', 'accounttype'],
    read: (rows) =>
      byReference(
        rows.filter((row) => columnName(row.cell('accounttype')) === 'systemreceivableinvoice'),
        'invoicenumber',
      ).map((items) => {
        const [first] = items
        const owed = sumOf(items, 'amountonecolumn')
        return {
          number: first.number,
          line: {
            Reference: first.cell('invoicenumber'),
            'Client Name': first.cell('customer'),
            // Paid twice is paid.
            Balance: owed.startsWith('-') ? '0' : owed,
            Amount: owed.startsWith('-') ? '0' : owed,
            'Issued On': first.cell('transactiondate'),
          },
        }
      }),
  },
  invoiceNinja: {
    has: ['client', 'invoicenumber', 'amount', 'paid', 'status', 'duedate'],
    read: (rows) =>
      rows.map((row) => ({
        number: row.number,
        line: {
          Reference: row.cell('invoicenumber'),
          'Client Name': row.cell('client'),
          'Client Email': row.cell('email'),
          Currency: row.cell('currency'),
          Amount: row.cell('amount'),
          'Amount Paid': row.cell('paid'),
          'Issued On': row.cell('date', 'invoicedate'),
          'Due Date': row.cell('duedate'),
          Status: row.cell('status'),
        },
      })),
  },
  stripe: {
    has: ['id', 'amountdue', 'amountpaid', 'currency', 'customer', 'duedateutc', 'number', 'status'],
    read: (rows) =>
      rows.map((row) => ({
        number: row.number,
        line: {
          Reference: row.cell('number'),
          'Client Name': row.cell('customername', 'customer'),
          'Client Email': row.cell('customeremail'),
          Currency: row.cell('currency'),
          Amount: row.cell('amountdue'),
          'Amount Paid': row.cell('amountpaid'),
          Balance: row.cell('amountremaining'),
          'Issued On': row.cell('dateutc'),
          'Due Date': row.cell('duedateutc'),
          Status: row.cell('status'),
        },
      })),
  },
  razorpay: {
    has: ['invoiceno', 'customername', 'customeremail', 'currency', 'amount', 'expireby'],
    read: (rows) =>
      rows.map((row) => ({
        number: row.number,
        line: {
          Reference: row.cell('invoiceno'),
          'Client Name': row.cell('customername'),
          'Client Email': row.cell('customeremail'),
          // Razorpay takes rupees for what names no currency.
          Currency: row.cell('currency') || 'INR',
          Amount: ofSubunits(row.cell('amount'), row.cell('currency')),
          'Due Date': row.cell('expireby'),
          Status: row.cell('status'),
        },
      })),
  },
}

/** The program that a file is exported from, by its column names; null where none has them all. */
export function recognise(rows: FileRow[]): Source | null {
  return sources.find((source) => headerOf(rows, source) >= 0) ?? null
}

/**
 * An export as a plain table: our column names, then one line per invoice under the number of its first row. Amounts that cannot be summed
 * stay as they are written, so that they are refused by name.
 */
export function asTable(rows: FileRow[], source: Source, { daysToPay, addresses, usual, ...told }: Told & { usual: string }): FileRow[] {
  const at = headerOf(rows, source)
  const header = rows[at]?.cells ?? []
  const names = namesIn(header, source)
  // `Total (EUR)`: the column loses its name below, so the amounts are marked.
  const code = header
    .map((name, column) => (amountNames.has(names[column] ?? '') ? currencyOfHeader(name) : null))
    .find((one) => one !== null)
  const body = rows.slice(at + 1).map(
    ({ number, cells }): Row => ({
      number,
      cells,
      usual,
      cell: (...wanted) => wanted.map((name) => cells[names.indexOf(name)] ?? '').find((cell) => cell !== '') ?? '',
    }),
  )
  const lines = formats[source].read(body)
  const guessed = guessDates(
    lines.map(({ number, line }) => ({ number, cells: [line['Issued On'] ?? ''] })),
    0,
  )
  const dates = told.dates ?? guessed
  const whole = lines.map(({ number, line }) => {
    const known = addresses?.get(keyOf(line['Client Name'] ?? ''))
    const issued = daysToPay === null || line['Due Date'] ? null : readDay(line['Issued On'] ?? '', dates)
    const completed: Line = {
      ...line,
      ...(code && line.Amount && currencyOfAmount(line.Amount) === null ? { Amount: `${code} ${line.Amount}` } : {}),
      ...(known && !line['Client Email']
        ? { 'Client Email': known.email, ...(isId(line, known) ? { 'Client Name': known.name } : {}) }
        : {}),
      ...(issued === null || daysToPay === null ? {} : { 'Due Date': Temporal.PlainDate.from(issued).add({ days: daysToPay }).toString() }),
    }
    return { number, line: completed }
  })
  const used = head.filter((name) => always.has(name) || whole.some(({ line }) => line[name]))
  return [
    { number: rows[at]?.number ?? 1, cells: used },
    ...whole.map(({ number, line }) => ({ number, cells: used.map((name) => line[name] ?? '') })),
  ]
}

/** Columns that amounts are read from. */
const amountNames = new Set([
  'total',
  'balance',
  'invoiceamountpaid',
  'amountpaid',
  'invoiceamountdue',
  'amountdue',
  'amount',
  'openbalance',
  'linetotal',
  'amountonecolumn',
  'paid',
  'amountremaining',
])

/** Columns of a table without a value too. */
const always = new Set<string>(['Client Name', 'Client Email', 'Amount', 'Due Date'] satisfies (typeof head)[number][])

/** Whether no line of a table has an email address, and whether one lacks a due date. */
export function lacks(table: FileRow[]): { emails: boolean; dueDates: boolean } {
  const [names, ...lines] = table
  const [email, due] = [names?.cells.indexOf('Client Email') ?? -1, names?.cells.indexOf('Due Date') ?? -1]
  return { emails: !lines.some(({ cells }) => cells[email]?.includes('@')), dueDates: lines.some(({ cells }) => cells[due] === '') }
}

const nameOfClient = /^(display|customer|client|company|contact|organi[sz]ation)?name$|^(customer|client|company|organi[sz]ation)$/
const idOfClient = /^(customer|client|contact)?id$/
const emailOfClient = /^(primary|customer|client|contact|billing)?e?mail(id|address)?$/

/** A list of clients with their addresses, by name and by id; null where the file has no column of emails or none of names. */
export function readAddresses(rows: FileRow[]): Addresses | null {
  const names = (rows[0]?.cells ?? []).map(columnName)
  const [name, id, email] = [nameOfClient, idOfClient, emailOfClient].map((pattern) => names.findIndex((one) => pattern.test(one)))
  if (email === undefined || email < 0 || name === undefined || (name < 0 && (id ?? -1) < 0)) return null
  const found: Addresses = new Map()
  for (const { cells } of rows.slice(1)) {
    const about = { name: cells[name] || cells[id ?? -1] || '', email: cells[email] ?? '' }
    if (!about.email.includes('@')) continue
    for (const key of [cells[name], cells[id ?? -1]]) if (key && !found.has(keyOf(key))) found.set(keyOf(key), about)
  }
  return found.size === 0 ? null : found
}

/** Whether an export has only the id of a client, as Stripe's have. */
function isId(line: Line, { name }: { name: string }): boolean {
  return keyOf(line['Client Name'] ?? '') !== keyOf(name)
}

function keyOf(text: string): string {
  return text.trim().toLowerCase()
}

function headerOf(rows: FileRow[], source: Source): number {
  return rows.slice(0, titleRows).findIndex(({ cells }) => {
    const names = new Set(namesIn(cells, source))
    return formats[source].has.every((name) => names.has(name))
  })
}

/** Invoice Ninja 5 puts “Invoice” before every name. */
function namesIn(cells: string[], source: Source): string[] {
  const names = cells.map(columnName)
  if (source !== 'invoiceNinja') return names
  return names.map((name) =>
    name
      .replace(/^invoice(?=invoicenumber$|amount$|paid$|paidtodate$|status$|duedate$|date$)/, '')
      .replace(/^paidtodate$/, 'paid')
      .replace(/^(client|contact)email$/, 'email')
      .replace(/^clientname$/, 'client'),
  )
}

/** The first row of each invoice, since a line per item repeats what is owed; and those that differ in one of `same`, which are refused later. */
function firstOf(rows: Row[], reference: string, same: string[]): Row[] {
  return byReference(rows, reference).flatMap(([first, ...others]) => [
    first,
    ...others.filter((row) => same.some((name) => row.cell(name) !== first.cell(name))),
  ])
}

/** The rows of each invoice, in the order of the file: those that have the same in all of these columns. Rows without a number are left out. */
function byReference(rows: Row[], reference: string, ...others: string[]): [Row, ...Row[]][] {
  const groups = new Map<string, [Row, ...Row[]]>()
  for (const row of rows) {
    if (row.cell(reference) === '') continue
    const key = [reference, ...others].map((name) => row.cell(name)).join('\n')
    const group = groups.get(key)
    if (group) group.push(row)
    else groups.set(key, [row])
  }
  return [...groups.values()]
}

/** The sum of a column, as a plain number with its currency; the first amount that cannot be read, as it is written, so that it is refused. */
function sumOf(rows: [Row, ...Row[]], name: string): string {
  const named = readCurrency(rows[0].cell('currency'))
  const marks = new Set(rows.map((row) => currencyOfAmount(row.cell(name))))
  const [mark = null] = marks
  // Several are never added.
  if (marks.size > 1) return unclear
  const code = named ?? (mark !== null && isCurrency(mark) ? mark : rows[0].usual)
  let sum = 0
  for (const row of rows) {
    const written = row.cell(name)
    const negative = isNegative(written)
    const amount = readAmount(negative ? written.replace(/[-−()]/g, '') : written, code)
    const minor = amount === null ? null : toMinor(amount, code)
    // What is below zero, or marked so, would be left out as a credit.
    if (minor === null) return amount === null && /^\D{0,4}\d[\d.,]*$/.test(written) ? written : unclear
    sum += negative ? -minor : minor
  }
  const total = fromMinor(Math.abs(sum), code)
  return `${sum < 0 ? '-' : ''}${mark === null ? '' : `${mark} `}${total}`
}

/** In the place of an amount: it is refused. */
const unclear = '?'

/** Razorpay counts in paise, or the smallest part of another currency. Anything but a whole number is marked, so that it is refused. */
function ofSubunits(written: string, currency: string): string {
  return /^\d{1,15}$/.test(written) ? String(fromMinor(Number(written), readCurrency(currency) ?? 'INR')) : `${written} ?`
}
