import { formatMoney, fromMinor, toMinor } from '#contract/money.ts'
import { amountOf, type Decimals, decimalsQuestion, provenDecimals, takeApart } from './amounts.ts'
import type { FileRow } from './csv.ts'
import type { Currencies } from './invoice-currencies.ts'
import { columnsOf, type Group, type InvoiceField, type InvoiceFile, labelOf } from './invoice-file.ts'
import { isLeftStatus, type Statuses } from './invoice-states.ts'
import type { Status } from './invoice-words.ts'
import { certain, type Meaning, refused } from './meaning.ts'
import { textOf } from './table.ts'
import { texts } from './texts.ts'

/** What a row says about money. */
export type Owed =
  /** `paid`: null where the file does not have it. */
  | {
      kind: 'owed'
      total: number
      paid: number | null
      status: Exclude<Status, 'draft' | 'void' | 'cancelled' | 'deleted' | 'writtenOff' | 'credit' | 'leave'>
    }
  /** `isSettled`: nothing is owed any more. */
  | { kind: 'left'; why: string; isSettled: boolean }
  | { kind: 'asked'; question: string }
  /** What is wrong is with its cells. */
  | { kind: 'refused' }

export interface Money {
  owed: Owed
  wrong: Partial<Record<InvoiceField, string>>
  /** Of a credit note: what it credits, where that is certain. */
  credited?: number
}

/** An amount of a cell: above or at 0, and whether it is marked as below. */
interface Read {
  meaning: Meaning<number>
  isNegative: boolean
}

/** Columns of amounts, as far as they are known. */
interface AmountColumns {
  main: number | null
  /** Whether its cells are amounts of items by their heading. */
  isLine: boolean
  /** Whether its heading says only that it is an amount. */
  isVague: boolean
  balance: number | null
  paid: number[]
  paidOn: number | null
  /** The question which column it is; null where that is known. */
  question: string | null
}

interface About {
  statuses: Statuses
  currencies: Currencies
  isInvoice(row: FileRow): boolean
  isCredit(row: FileRow): boolean
}

/** What is owed of each invoice: the balance, else the total less what was paid, else the total with a status. */
export function moneyOf(file: InvoiceFile, groups: Group[], about: About): (group: Group) => Money {
  const rows = groups.flatMap(({ first, others }) => [first, ...others])
  const counted = groups.filter(({ first }) => about.isInvoice(first))
  const columns = amountColumns(
    file,
    counted.map(({ first }) => first),
  )
  const money = columnsOf(file, 'balance', 'gross', 'total', 'amount', 'item', 'paidAmount', 'net', 'tax', 'otherAmount')
  const styles = new Map<string, Decimals | null>()
  const styleOf = (currency: string) => {
    if (!styles.has(currency)) styles.set(currency, provenDecimals(rows, money, currency))
    return styles.get(currency) ?? null
  }
  const unclear = new Map<number, { cell: string; both: { point: number; comma: number } }[]>()
  const read = (row: FileRow, column: number | null, field: InvoiceField, currency: string): Read | null => {
    const typed = file.edits[row.number]?.[field]
    const cell = typed ?? textOf(row, column)
    const value = typed === undefined && column !== null ? row.values?.[column] : undefined
    const isFormula = value !== undefined && 'formula' in value
    if (!isFormula && (cell === '' || /^([-–—]|n\/?a|null|none|nil)$/i.test(cell))) return null
    const written = takeApart(cell, value)
    if (file.known?.inSubunits) return { meaning: ofSubunits(cell, currency), isNegative: false }
    const label = column === null ? { heading: field, key: field } : labelOf(file, column)
    const { both, ...meaning } = amountOf(
      { cell, value, written, currency },
      { ...label, decimals: styleOf(currency), answers: file.answers },
    )
    if (both && column !== null) unclear.set(column, [...(unclear.get(column) ?? []), { cell, both }])
    return { meaning, isNegative: written !== null && (written.minus || written.side === 'in') }
  }
  const found = new Map(groups.map((group) => [group, moneyOfGroup(file, group, { ...about, columns, read })]))
  for (const [column, waiting] of unclear) {
    const question = decimalsQuestion(labelOf(file, column), waiting)
    if (question) file.questions.set(question.id, question)
  }
  return (group) => found.get(group) ?? noInvoice
}

function moneyOfGroup(file: InvoiceFile, group: Group, reading: Reading): Money {
  const { first, others } = group
  const { isInvoice, isCredit, statuses, currencies, columns, read } = reading
  const money = isInvoice(first) ? owedOf(file, group, reading) : noInvoice
  const isNegative = money.owed.kind === 'left' && money.owed.why === texts.left.credit
  if ((!isCredit(first) && !isNegative) || others.length > 0) return money
  const status = statuses(first)
  // A draft and a void one credit nothing. One that was applied, or refunded, has a status of its own.
  if (status.kind === 'certain' && /^(draft|void|cancelled|deleted|leave)$/.test(status.value)) return money
  const currency = currencies.of(first)
  const amount = currency.kind === 'certain' ? read(first, columns.main, 'amount', currency.value)?.meaning : undefined
  return amount?.kind === 'certain' && amount.value > 0 ? { ...money, credited: amount.value } : money
}

const noInvoice: Money = { owed: { kind: 'left', why: '', isSettled: false }, wrong: {} }

function ofSubunits(cell: string, currency: string): Meaning<number> {
  return /^\d{1,15}$/.test(cell) ? certain(fromMinor(Number(cell), currency), 'layout') : refused(texts.noAmount)
}

/** Which columns have the amounts. Several that could be, and differ, are a question. */
function amountColumns(file: InvoiceFile, rows: FileRow[]): AmountColumns {
  const [gross, total, amount, item] = (['gross', 'total', 'amount', 'item'] as const).map((kind) => columnsOf(file, kind)) as [
    number[],
    number[],
    number[],
    number[],
  ]
  const balances = columnsOf(file, 'balance')
  const paid = columnsOf(file, 'paidAmount')
  const main = gross[0] ?? total[0] ?? amount[0] ?? item[0] ?? null
  const isLine = main !== null && main === item[0]
  const columns: AmountColumns = {
    main,
    isLine,
    isVague: main !== null && main === amount[0],
    balance: balances[0] ?? null,
    paid,
    paidOn: columnsOf(file, 'paidOn')[0] ?? null,
    question: null,
  }
  if (file.known) return columns
  const ask = (field: 'amount' | 'balance' | 'amountPaid', all: number[]) => {
    const id = `column/${field}`
    const options = all.map((column) => {
      const { heading, key } = labelOf(file, column)
      return {
        column,
        key,
        heading,
        example: textOf(rows.find((row) => textOf(row, column) !== '') ?? { number: 0, cells: [] }, column).slice(0, 60),
      }
    })
    file.questions.set(id, { id, rows: rows.length, kind: 'column', field, columns: options })
    columns.question = id
  }
  if (balances.length > 1 && differ(file, rows, balances)) ask('balance', balances)
  const rivals = gross.length > 0 ? gross : isTotalOf(file, rows, total, amount) ? total : [...total, ...amount]
  // What is owed is known from the balance, whatever the total is.
  if (balances.length === 0 && rivals.length > 1 && differ(file, rows, rivals)) ask('amount', rivals)
  const payments = paid.filter((at) => !isCredits(file, at))
  if (balances.length === 0 && payments.length > 1) {
    if (differ(file, rows, payments)) ask('amountPaid', payments)
    else columns.paid = [...payments.slice(0, 1), ...paid.filter((at) => isCredits(file, at))]
  }
  return columns
}

/** Whether a column has credit notes that were applied, beside what was paid. */
function isCredits(file: InvoiceFile, at: number): boolean {
  return /credit|gutschrift|avoir|abonad/.test(file.layout.headings[at]?.key ?? '')
}

const figure = (row: FileRow, at: number) => {
  const digits = takeApart(textOf(row, at), row.values?.[at])?.digits
  return digits === undefined ? null : String(digits)
}

function differ(_file: InvoiceFile, rows: FileRow[], columns: number[]): boolean {
  return rows.some((row) => new Set(columns.map((at) => figure(row, at)).filter((one) => one !== null)).size > 1)
}

/** Whether a total is the amount with its tax, in every row. */
function isTotalOf(file: InvoiceFile, rows: FileRow[], total: number[], amount: number[]): boolean {
  const [sum, part] = [total[0], amount[0]]
  const tax = columnsOf(file, 'tax')
  if (sum === undefined || part === undefined || tax.length === 0 || total.length > 1 || amount.length > 1) return false
  const number = (row: FileRow, at: number) => Number((figure(row, at) ?? '0').replaceAll(',', ''))
  return rows.every((row) => Math.abs(number(row, sum) - number(row, part) - tax.reduce((all, at) => all + number(row, at), 0)) < 0.005)
}

type ReadAmount = (row: FileRow, column: number | null, field: InvoiceField, currency: string) => Read | null

interface Reading extends About {
  columns: AmountColumns
  read: ReadAmount
}

const left = (why: string, isSettled = false): Money => ({ owed: { kind: 'left', why, isSettled }, wrong: {} })
const wrong = (field: InvoiceField, why: string): Money => ({ owed: { kind: 'refused' }, wrong: { [field]: why } })
const waits = (question: string): Money => ({ owed: { kind: 'asked', question }, wrong: {} })

function owedOf(file: InvoiceFile, group: Group, { columns, read, statuses, currencies }: Reading): Money {
  const { first, others } = group
  const rows = [first, ...others]
  const status = statuses(first)
  if (status.kind === 'certain' && isLeftStatus(status.value))
    return left(status.value === 'leave' ? texts.left.chosen(statuses.written(first)) : texts.left[status.value])
  const currency = currencies.of(first)
  const code = currency.kind === 'certain' ? currency.value : file.usual
  const unclear = () =>
    wrong(
      'amount',
      texts.unclearItems(
        referenceOf(file, first),
        rows.map(({ number }) => number),
      ),
    )
  const all = (column: number | null, field: InvoiceField) => rows.flatMap((row) => read(row, column, field, code) ?? [])
  const one = (reads: Read[]): Read | 'differ' | null =>
    reads.length === 0 ? null : reads.every((other) => isEqual(other, reads[0])) ? (reads[0] ?? null) : 'differ'
  if (others.length > 0 && (isUnlike(file, rows, 'due') || !haveOneStatus(rows, statuses) || !haveOneCurrency(rows, currencies)))
    return unclear()

  const balance = one(all(columns.balance, 'balance'))
  const payments = [...columns.paid, ...(columns.paid.length === 0 ? [null] : [])].map((column) => one(all(column, 'amountPaid')))
  const paid = payments.filter((read) => read !== null)
  if (balance === 'differ' || paid.includes('differ')) return unclear()
  const known = paid as Read[]
  const amounts = all(columns.main, 'amount')
  let total = one(amounts)
  const isAnyway = columns.question === 'column/balance'
  if (columns.question !== null && (isAnyway || balance === null)) return waits(columns.question)
  const unknown = file.unclear.find(({ isPaid }) => !isPaid || balance === null)
  if (unknown) return waits(unknown.id)
  const isSummed = columns.isLine || file.known?.rows !== undefined
  if (balance !== null) {
    if (total === 'differ' || isSummed) total = null
  } else if (isSummed && amounts.length > 0) {
    const sum = sumOf(amounts, code)
    if (sum.kind !== 'certain') return fromMeaning(sum, 'amount')
    if (file.known?.rows === 'ledger' && sum.value <= 0) return left(texts.left.settled, true)
    total = { meaning: certain(Math.abs(sum.value), sum.by), isNegative: sum.value < 0 }
  } else if (amounts.length > 1 && (total === 'differ' || columns.isVague)) {
    if (file.known) return unclear()
    const asked = linesAsked(file, columns.main ?? 0, group)
    if (asked.kind === 'asked') return waits(asked.question)
    const choice = asked.kind === 'certain' ? asked.value : 'leave'
    if (choice === 'leave') return left(texts.left.chosenLines)
    if (choice === 'sum') {
      const sum = sumOf(amounts, code)
      if (sum.kind !== 'certain') return fromMeaning(sum, 'amount')
      if (known.length > 0 && known.some(({ meaning }) => !(meaning.kind === 'certain' && meaning.value === 0))) return unclear()
      total = { meaning: certain(Math.abs(sum.value), sum.by), isNegative: sum.value < 0 }
    } else if (total === 'differ') return unclear()
  }
  if (total === 'differ') return unclear()
  if (total?.isNegative || balance?.isNegative) return left(texts.left.credit)
  return decided(file, first, { total, balance, paid: known, status, statuses, code, columns })
}

interface Parts {
  total: Read | null
  balance: Read | null
  paid: Read[]
  status: Meaning<Status>
  statuses: Statuses
  code: string
  columns: AmountColumns
}

/** What is owed of an invoice whose amounts are known, or wait, or are wrong. */
function decided(file: InvoiceFile, first: FileRow, { total, balance, paid, status, statuses, code, columns }: Parts): Money {
  for (const [read, field] of [[balance, 'balance'], [total, 'amount'], ...paid.map((one) => [one, 'amountPaid'] as const)] as const)
    if (read && read.meaning.kind !== 'certain') return fromMeaning(read.meaning, field)
  const minor = (read: Read | null) => (read?.meaning.kind === 'certain' ? toMinor(read.meaning.value, code) : null)
  const [whole, open] = [minor(total), minor(balance)]
  const given = paid.length === 0 ? null : paid.reduce((sum, one) => sum + (minor(one) ?? 0), 0)
  const said = status.kind === 'certain' ? status.value : null
  const isPaid = said === 'paid'
  const owed = (amount: number, paidMinor: number | null): Money => {
    if (status.kind !== 'certain') return fromMeaning(status, 'status')
    const kept = status.value
    if (isLeftStatus(kept)) return left(texts.left.credit)
    return {
      owed: { kind: 'owed', total: fromMinor(amount, code), paid: paidMinor === null ? null : fromMinor(paidMinor, code), status: kept },
      wrong: {},
    }
  }
  const contradiction = (left: number) =>
    wrong('status', texts.paidButOwed(statuses.written(first), formatMoney(fromMinor(left, code), code)))
  if (whole === null && open === null) return wrong('amount', texts.noAmount)
  if (open !== null) {
    if (open === 0) return isPaid && whole !== null && whole > 0 ? owed(whole, null) : left(texts.left.settled, true)
    if (isPaid) return contradiction(open)
    // Interest and fees are owed beyond the total.
    return whole === null ? owed(open, null) : whole >= open ? owed(whole, whole - open) : owed(open, 0)
  }
  const amount = whole ?? 0
  if (amount === 0) return left(texts.left.settled, true)
  if (given !== null && given > 0) {
    if (given >= amount) return isPaid ? owed(amount, null) : left(texts.left.settled, true)
    return isPaid ? contradiction(amount - given) : owed(amount, given)
  }
  if (isPaid) return owed(amount, null)
  if (columns.balance !== null && given === null) return wrong('balance', texts.noAmount)
  if (said === 'partial') return wrong('amountPaid', texts.noBalance)
  const paidOn = textOf(first, columns.paidOn)
  if (paidOn !== '' && columns.paidOn !== null && file.edits[first.number]?.status === undefined) {
    const told = paidOnAsked(file, columns.paidOn)
    if (told.kind === 'asked') return waits(told.question)
    if (told.kind === 'certain' && told.value === 'paid')
      return { owed: { kind: 'owed', total: fromMinor(amount, code), paid: null, status: 'paid' }, wrong: {} }
  }
  return owed(amount, given)
}

function fromMeaning(meaning: Meaning<unknown>, field: InvoiceField): Money {
  if (meaning.kind === 'asked') return waits(meaning.question)
  return wrong(field, meaning.kind === 'refused' ? meaning.why : texts.noAmount)
}

function isEqual(one: Read, other: Read | undefined): boolean {
  if (!other) return false
  const [a, b] = [one.meaning, other.meaning]
  if (a.kind === 'certain' && b.kind === 'certain') return a.value === b.value && one.isNegative === other.isNegative
  return a.kind === b.kind && JSON.stringify(a) === JSON.stringify(b)
}

/** The sum of amounts with their signs; what cannot be added is handed back. */
function sumOf(reads: Read[], code: string): Meaning<number> {
  let sum = 0
  for (const { meaning, isNegative } of reads) {
    if (meaning.kind !== 'certain') return meaning
    const minor = toMinor(meaning.value, code)
    if (minor === null) return refused(texts.noAmount)
    sum += isNegative ? -minor : minor
  }
  return certain(Math.sign(sum) * fromMinor(Math.abs(sum), code), 'column')
}

const lineChoices = ['sum', 'same', 'leave'] as const

/** Whether the rows of one number are its items, each with its own amount; asked once for the column. */
function linesAsked(file: InvoiceFile, column: number, { others }: Group): Meaning<(typeof lineChoices)[number]> {
  const { heading, key } = labelOf(file, column)
  const id = `lines/${key}`
  const answer = lineChoices.find((one) => one === file.answers[id])
  if (answer) return certain(answer, 'answer')
  const before = file.questions.get(id)?.rows ?? 0
  file.questions.set(id, { id, rows: before + others.length + 1, kind: 'choice', about: 'lines', heading, choices: [...lineChoices] })
  return { kind: 'asked', question: id }
}

/** Whether a day in a column such as `Paid on` says that the invoice is paid; asked once. */
function paidOnAsked(file: InvoiceFile, column: number): Meaning<'paid' | 'leave'> {
  const { heading, key } = labelOf(file, column)
  const id = `says/${key}`
  const answer = file.answers[id]
  if (answer === 'paid' || answer === 'leave') return certain(answer, 'answer')
  const before = file.questions.get(id)?.rows ?? 0
  file.questions.set(id, { id, rows: before + 1, kind: 'choice', about: 'paidOn', heading, choices: ['paid', 'leave'] })
  return { kind: 'asked', question: id }
}

function referenceOf(file: InvoiceFile, row: FileRow): string {
  return textOf(row, columnsOf(file, 'number')[0] ?? null)
}

/** Whether the rows of one invoice have different texts in a column. */
function isUnlike(file: InvoiceFile, rows: FileRow[], kind: 'due'): boolean {
  const [at = null] = columnsOf(file, kind)
  return new Set(rows.map((row) => textOf(row, at)).filter((text) => text !== '')).size > 1
}

function haveOneStatus(rows: FileRow[], statuses: Statuses): boolean {
  const said = rows.map((row) => statuses(row)).filter((one) => !(one.kind === 'certain' && one.value === 'open'))
  return new Set(said.map((one) => (one.kind === 'certain' ? one.value : one.kind))).size <= 1
}

function haveOneCurrency(rows: FileRow[], currencies: Currencies): boolean {
  return new Set(rows.map((row) => JSON.stringify(currencies.of(row)))).size <= 1
}
