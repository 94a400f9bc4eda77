import { takeApart } from './amounts.ts'
import type { FileRow } from './csv.ts'
import { readWrittenDay } from './days.ts'
import { wordKey } from './headings.ts'
import { currenciesIn } from './invoice-currencies.ts'
import { duesIn } from './invoice-days.ts'
import {
  columnsOf,
  fieldColumns,
  fieldText,
  type Group,
  type InvoiceContext,
  type InvoiceField,
  type InvoiceFile,
  invoiceFields,
  labelOf,
  referenceKey,
} from './invoice-file.ts'
import { invoiceLayouts, type Program } from './invoice-layouts.ts'
import { moneyOf, type Owed } from './invoice-money.ts'
import { isLeftStatus, kindsIn, statusesIn } from './invoice-states.ts'
import { type InvoiceColumn, invoiceColumnOf, isTotal } from './invoice-words.ts'
import { choosable, columnKey, headingsKey, type Layout, layoutOf, type Vocabulary } from './layout.ts'
import { type Answers, type AskedColumn, type Meaning, type Question, refused } from './meaning.ts'
import { addressesIn, clientKey, readLanguage } from './people.ts'
import { type Sheet, textOf } from './table.ts'
import { texts } from './texts.ts'
import { distinctWords, mostWords } from './words.ts'

export const invoiceVocabulary: Vocabulary<InvoiceColumn> = {
  layouts: invoiceLayouts,
  columnOf: invoiceColumnOf,
  // At least two of what an invoice has, and something to pay.
  isTable: (columns) =>
    new Set(columns.filter((one) => /^(number|client|email|due|issued|dueOrOwed|status)$/.test(one))).size >= 2 ||
    (columns.some((one) => /^(client|number)$/.test(one)) && columns.some((one) => /^(balance|gross|total|amount|item)$/.test(one))),
  texts: new Set<InvoiceColumn>(['email', 'currency', 'language', 'text', 'against']),
  other: 'other',
}

export function layoutOfInvoices(sheet: Sheet, answers: Answers = {}): Layout<InvoiceColumn> {
  return layoutOf(sheet.rows, invoiceVocabulary, answers)
}

/** A row of a list of invoices: what it says, as far as it is known. */
export interface InvoiceRow {
  number: number
  /** The cells as written. */
  cells: string[]
  reference: string
  clientName: string
  clientEmail: string
  /** Further addresses of the cell, or of the client. */
  copies: string[]
  currency: Meaning<string>
  /** null where the cell is empty, or there is none. */
  due: Meaning<string> | null
  issued: Meaning<string> | null
  language: string | null
  owed: Owed
  /** Why it is no invoice that can be imported; null where it is one. */
  left: string | null
  /** The credit note that it is, for an invoice that it names. */
  credit: { against: string; amount: number } | null
  /** Whether it is a further row of the invoice above. */
  isItem: boolean
  /** What is wrong with its cells, by their fields. */
  wrong: Partial<Record<InvoiceField, string>>
  /** The texts of its fields, for a person to correct. */
  written(): Partial<Record<InvoiceField, string>>
}

export interface InvoiceReading {
  program: Program | null
  /** What files with the same headings have in common. */
  headings: string
  head: string[] | null
  questions: Question[]
  rows: InvoiceRow[]
  /** Whether the file has no addresses of clients. */
  lacksEmails: boolean
  fields: Partial<Record<InvoiceField, number>>
  choosable: AskedColumn[]
}

/** Reads the sheet of a list of invoices. What it does not prove is a question; rows that need its answer wait. */
export function readInvoiceSheet(sheet: Sheet, context: InvoiceContext): InvoiceReading {
  const { answers } = context
  const layout = layoutOfInvoices(sheet, answers)
  const all = sheet.rows.slice(layout.header === null ? 0 : layout.header + 1)
  const known = invoiceLayouts.find((one) => one === layout.known) ?? null
  const { columns, fields } = withChoices(layout, answers)
  const file: InvoiceFile = {
    ...context,
    layout,
    known,
    columns,
    questions: new Map(),
    unclear: [],
    edits: context.edits ?? {},
    found: new Map(),
  }
  tellForms(file, all)
  for (const field of invoiceFields) {
    const [at] = columnsOf(file, ...fieldColumns[field])
    if (at !== undefined) fields[field] = at
  }
  const start = {
    program: known?.program ?? null,
    headings: headingsKey(layout),
    head: layout.header === null ? null : (sheet.rows[layout.header]?.cells ?? null),
    fields,
    choosable: choosable(layout, all),
  }
  askColumns(file, all, start.choosable)
  const hasColumns = fields.clientName !== undefined && (fields.amount !== undefined || fields.balance !== undefined)
  if (!hasColumns && !known) return { ...start, questions: [...file.questions.values()], rows: [], lacksEmails: false }
  const { rows, lacksEmails } = readRows(file, all)
  return { ...start, questions: ordered([...file.questions.values()]), rows, lacksEmails }
}

/** Columns and amounts first: the others follow from them. */
function ordered(questions: Question[]): Question[] {
  const rank = ['column', 'choice', 'words', 'order', 'decimals', 'number']
  return questions.toSorted((one, other) => rank.indexOf(one.kind) - rank.indexOf(other.kind))
}

/** Which column is which: as a person chose, else by the headings. */
function withChoices(layout: Layout<InvoiceColumn>, answers: Answers): { columns: InvoiceColumn[]; fields: InvoiceReading['fields'] } {
  const columns = [...layout.columns]
  for (const field of invoiceFields) {
    const answer = answers[`column/${field}`]
    if (answer === undefined) continue
    for (const [at, column] of columns.entries()) if (fieldColumns[field].includes(column)) columns[at] = 'other'
    const at = columns.findIndex((_, column) => columnKey(layout, column) === answer)
    if (at >= 0) columns[at] = fieldColumns[field][0] ?? 'other'
  }
  return { columns, fields: {} }
}

/** What the cells of a column are: nothing but dates, amounts or words. */
function formOf(rows: FileRow[], column: number): 'dates' | 'amounts' | 'words' | 'mixed' | 'empty' {
  const found = new Set<string>()
  for (const row of rows) {
    const text = textOf(row, column)
    const value = row.values?.[column]
    if (text === '' || /^[-–—]$/.test(text)) continue
    const isDay = value ? 'date' in value : !/^\d+$/.test(text) && readWrittenDay(text) !== null
    found.add(isDay ? 'dates' : takeApart(text, value) ? 'amounts' : 'words')
  }
  const [only] = found
  return only === undefined ? 'empty' : found.size > 1 ? 'mixed' : (only as 'dates')
}

/** Decides what headings such as `Paid` and `Due` name, by the form of their cells; where that is unclear it is asked. */
function tellForms(file: InvoiceFile, rows: FileRow[]): void {
  const { columns, answers, questions } = file
  const counted = rows.filter(({ cells }) => !cells.some(isTotal))
  for (const [at, column] of columns.entries()) {
    if (column !== 'paid' && column !== 'dueOrOwed') continue
    const { heading, key } = labelOf(file, at)
    const id = `says/${key}`
    const form = formOf(counted, at)
    const words = distinctWords(counted, at)
    const isFlag = words?.has('1') === true && [...words].every((word) => /^[01]?$/.test(word))
    const told = answers[id]
    const isPaid = column === 'paid'
    const becomes: InvoiceColumn | null =
      told === 'leave' || form === 'empty'
        ? 'other'
        : told === 'amount'
          ? isPaid
            ? 'paidAmount'
            : 'balance'
          : told === 'date'
            ? 'due'
            : form === 'amounts' && !(isPaid && isFlag)
              ? isPaid
                ? 'paidAmount'
                : 'balance'
              : form === 'dates' && (isPaid || !/^(open|offen)$/.test(key))
                ? isPaid
                  ? 'paidOn'
                  : 'due'
                : isPaid && words && words.size <= mostWords && (form === 'words' || isFlag)
                  ? 'paidFlag'
                  : null
    columns[at] = becomes ?? 'other'
    if (becomes !== null) continue
    file.unclear.push({ id, isPaid })
    questions.set(id, {
      id,
      rows: counted.length,
      kind: 'choice',
      about: isPaid ? 'paid' : 'due',
      heading,
      choices: isPaid ? ['amount', 'leave'] : ['amount', 'date', 'leave'],
    })
  }
  // Two columns with a due date are one: `Due` beside `Due Date`.
  const [first] = columnsOf(file, 'due')
  for (const at of columnsOf(file, 'due')) if (at !== first) columns[at] = 'otherDate'
}

/** Asks for the columns without which nothing is known. */
function askColumns(file: InvoiceFile, rows: FileRow[], all: AskedColumn[]): void {
  const { answers, questions, layout, known } = file
  if (known) return
  const ask = (field: InvoiceField) => {
    const id = `column/${field}`
    if (answers[id] === undefined) questions.set(id, { id, rows: rows.length, kind: 'column', field, columns: all })
  }
  if (columnsOf(file, 'client').length === 0) ask('clientName')
  if (columnsOf(file, 'email').length === 0 && layout.header === null) ask('clientEmail')
  if (columnsOf(file, 'gross', 'total', 'amount', 'item', 'balance').length === 0) ask('amount')
  if (columnsOf(file, 'due', 'issued', 'begun').length === 0) ask('dueDate')
}

/** What the rows of a body are: invoices, and what is none. */
interface Sorted {
  groups: Group[]
  left: { row: FileRow; why: string }[]
  /** The client of rows below a line with its name. */
  clientOf: Map<FileRow, string>
}

function sortRows(file: InvoiceFile, rows: FileRow[]): Sorted {
  const { known } = file
  const [numberAt = null] = columnsOf(file, 'number')
  const [dueAt = null] = columnsOf(file, 'due')
  const [filterAt = null] = columnsOf(file, 'filter')
  const left: Sorted['left'] = []
  const clientOf: Sorted['clientOf'] = new Map()
  const groups: Group[] = []
  const byNumber = new Map<string, (Group & { owner: string })[]>()
  let group = ''
  let last: Group | null = null
  for (const row of rows) {
    if (known?.only !== undefined && wordKey(textOf(row, filterAt)) !== known.only) continue
    const filled = row.cells.map((cell) => cell.trim()).filter((cell) => cell !== '')
    const email = fieldText(file, row, 'clientEmail')
    const client = fieldText(file, row, 'clientName')
    const reference = numberAt === null ? (file.edits[row.number]?.reference ?? '') : fieldText(file, row, 'reference')
    const isSum = email === '' && textOf(row, dueAt) === '' && row.cells.some(isTotal)
    if (isSum) {
      left.push({ row, why: texts.left.total })
      continue
    }
    if (known?.groups && filled.length === 1 && client === '') {
      group = filled[0] ?? ''
      continue
    }
    if (group !== '' && client === '') clientOf.set(row, group)
    const isBare = reference === '' && email === '' && client === ''
    // What has no words has only a sum.
    if (isBare && !filled.some((cell) => /\p{L}{2}/u.test(cell)) && !known?.groups) {
      left.push({ row, why: texts.left.total })
      continue
    }
    if (isBare && numberAt !== null && last && !known?.groups) {
      last.others.push(row)
      continue
    }
    const owner = clientKey(email || client || clientOf.get(row) || '')
    // A row without a client is one of the invoice whose number it has.
    const same = reference === '' ? undefined : byNumber.get(referenceKey(reference))?.find((one) => owner === '' || one.owner === owner)
    if (same) {
      same.others.push(row)
      last = same
      continue
    }
    const made = { first: row, others: [], owner }
    groups.push(made)
    if (reference !== '') byNumber.set(referenceKey(reference), [...(byNumber.get(referenceKey(reference)) ?? []), made])
    last = made
  }
  return { groups, left, clientOf }
}

function readRows(file: InvoiceFile, body: FileRow[]): Pick<InvoiceReading, 'rows' | 'lacksEmails'> {
  const { groups, left, clientOf } = sortRows(file, body)
  const rows = groups.flatMap(({ first, others }) => [first, ...others])
  const kinds = kindsIn(file, rows)
  const statuses = statusesIn(file, rows)
  const isOut = (row: FileRow) => {
    const status = statuses(row)
    return kinds(row).kind === 'left' || (status.kind === 'certain' && isLeftStatus(status.value))
  }
  const currencies = currenciesIn(file, rows, isOut)
  const [againstAt = null] = columnsOf(file, 'against')
  const isCredit = (row: FileRow) => {
    const kind = kinds(row)
    return kind.kind === 'left' && kind.isCredit
  }
  const money = moneyOf(file, groups, { statuses, currencies, isInvoice: (row) => kinds(row).kind === 'invoice', isCredit })
  const isOpen = (group: Group) => kinds(group.first).kind !== 'left' && money(group).owed.kind !== 'left'
  const open = groups.filter(isOpen)
  const due = duesIn(file, rows, open)
  for (const { first } of open) currencies.ask(first)
  let hasEmails = false
  const found = groups.flatMap((group): InvoiceRow[] => {
    const { first, others } = group
    const kind = kinds(first)
    const { owed, wrong, credited } = money(group)
    const against = textOf(first, againstAt)
    const contact = contactOf(file, first, clientOf.get(first) ?? '')
    if (contact.clientEmail !== '') hasEmails = true
    const language = languageOf(file, first)
    const isChosen = due.isChosen(first)
    const why = kind.kind === 'left' ? kind.why : owed.kind === 'left' ? owed.why : isChosen ? texts.left.chosenDate : null
    const currency = currencies.of(first)
    const row: InvoiceRow = {
      number: first.number,
      cells: first.cells,
      reference: fieldText(file, first, 'reference'),
      ...contact,
      currency,
      due: due.of(first),
      issued: due.issued(first),
      language: language.tag,
      owed: kind.kind === 'asked' ? { kind: 'asked', question: kind.question } : owed,
      left: why,
      credit: against !== '' && credited !== undefined ? { against, amount: credited } : null,
      isItem: false,
      wrong: {
        ...wrong,
        ...language.wrong,
        ...(currency.kind === 'refused' ? { currency: currency.why } : {}),
      },
      written: () => Object.fromEntries(invoiceFields.map((field) => [field, fieldText(file, first, field)])),
    }
    const items = others.map(
      (item): InvoiceRow => ({
        ...row,
        number: item.number,
        cells: item.cells,
        left: texts.left.item(first.number),
        credit: null,
        isItem: true,
      }),
    )
    return [row, ...items]
  })
  const sums = left.map(({ row, why }) => bareRow(row, why))
  return { rows: [...found, ...sums].toSorted((one, other) => one.number - other.number), lacksEmails: groups.length > 0 && !hasEmails }
}

/** A row that is no invoice. */
function bareRow({ number, cells }: FileRow, why: string): InvoiceRow {
  const none = refused(why)
  const contact = { clientName: '', clientEmail: '', copies: [], reference: '' }
  return {
    number,
    cells,
    ...contact,
    currency: none,
    due: null,
    issued: null,
    language: null,
    owed: { kind: 'left', why, isSettled: false },
    left: why,
    credit: null,
    isItem: false,
    wrong: {},
    written: () => ({}),
  }
}

function contactOf(file: InvoiceFile, row: FileRow, group: string): Pick<InvoiceRow, 'clientName' | 'clientEmail' | 'copies'> {
  const name = fieldText(file, row, 'clientName') || group
  const { addresses, name: named } = addressesIn(fieldText(file, row, 'clientEmail'))
  const [email = '', ...copies] = addresses
  const known = file.addresses?.get(clientKey(name))
  if (email !== '' || !known) return { clientName: name || named, clientEmail: email, copies }
  // An id, as Stripe's exports have, or the name.
  return { clientName: clientKey(name) === clientKey(known.name) ? name : known.name, clientEmail: known.email, copies: [] }
}

function languageOf(file: InvoiceFile, row: FileRow): { tag: string | null; wrong: InvoiceRow['wrong'] } {
  const text = fieldText(file, row, 'language')
  const tag = text === '' ? null : readLanguage(text, file.languages)
  return { tag, wrong: text !== '' && tag === null ? { language: texts.unknownLanguage(text) } : {} }
}
