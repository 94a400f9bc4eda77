import { type BankLine, mostLines } from '#contract/bank-file.ts'
import { isCurrency } from '#contract/currency-codes.ts'
import {
  currencyOfAmount,
  currencyOfHeader,
  type DateOrder,
  isNegative,
  readAmount,
  readCurrency,
  readDay,
} from '#contract/import/cells.ts'
import { bodyOf, type FileColumns, type FileMapping, type FileRow, guessByNames, guessDates } from '#contract/import/csv.ts'
import { amountProblem } from '#contract/money.ts'

export type Field = 'date' | 'amount' | 'debit' | 'description' | 'reference' | 'name' | 'currency'
export type Mapping = FileMapping<Field>
export const requiredFields: Field[] = ['date', 'amount']

/** Column names of banks, without case, spaces and punctuation. A column of credits is the amount before one with both directions. */
const columnNames: Record<Field, RegExp[]> = {
  date: [
    /^((transaction|txn|trans?|posting|posted|post|booking|completed|entry)date|date|buchungs(tag|datum)|datum)$/,
    /^(value|val|valuta)(date|datum|dat|dt)?$|^wert(stellung)?$|date/,
  ],
  amount: [
    /^(credit|deposit|moneyin|paidin|in|haben|eingang|gutschrift)s?(amount|amt)?$|^cr(amount|amt)?$|^(amount|amt)(credited|deposited|in)$/,
    /^(transaction|txn)?(amount|amt|value)$|^(betrag|umsatz)$/,
    /^(?!.*(balance|saldo|fee|charge|gebühr|tax|original|debit|withdraw)).*(amount|betrag|amt)/,
  ],
  debit: [
    /^(debit|withdrawal|moneyout|paidout|out|soll|ausgang|lastschrift)s?(amount|amt)?$|^dr(amount|amt)?$|^(amount|amt)(debited|withdrawn|out)$/,
  ],
  description: [
    /^(narration|narrative|description|(transaction|payment)(remarks|description|details)|particulars|remarks|memo|verwendungszweck)$/,
    /^(details|text|purpose|message|buchungstext)$|narration|description|remarks|zweck/,
  ],
  reference: [
    /^(ref|reference|refno|reference(no|number)|chqref(no|number)|refnochequeno|utr(no|number)?|transactionid|kundenreferenz|endtoend(id|reference)|paymentreference|bankreference)$/,
    /^(?!mandat).*(refer|refno|utr)/,
    /cheque|chq|slip/,
  ],
  name: [
    /^(payer|remitter|sender|counterparty|partner|otherparty|customer|payee)(name)?$|^name$|^begünstigterauftraggeber$|^auftraggeber(empfänger)?$|^namezahlungsbeteiligter$/,
    /(payer|remitter|counterparty|partner|auftraggeber|zahlungspflichtiger)/,
  ],
  currency: [/^(currency|currencycode|ccy|curr|währung|waehrung)$/],
}

/** Banks write up to twenty lines about the account above the column names. */
const linesAbove = 40

/** Guesses where the column names are, the columns and the date format. `today`: `YYYY-MM-DD`. */
export function guessMapping(rows: FileRow[], today: string): Mapping {
  const found = rows.slice(0, linesAbove).findIndex(({ cells }) => {
    const { date, amount, debit } = guessByNames(cells, columnNames)
    return date !== null && (amount !== null || debit !== null)
  })
  const header = found < 0 ? null : found
  return { header, ...guessColumns(rows, header, today) }
}

/** The columns and the date format, given where the column names are. Without names only the dates and the longest text are recognised. */
export function guessColumns(rows: FileRow[], header: number | null, today: string): Pick<Mapping, 'columns' | 'dates'> {
  const body = bodyOf(rows, { header })
  const columns = guessByNames((header === null ? undefined : rows[header]?.cells) ?? [], columnNames)
  if (header === null) {
    const sample = body.slice(0, 50).map(({ cells }) => cells)
    const width = Math.max(0, ...sample.map((cells) => cells.length))
    const letters = (column: number) => sample.reduce((sum, cells) => sum + (cells[column]?.match(/\p{L}/gu)?.length ?? 0), 0)
    const all = Array.from({ length: width }, (_, column) => column)
    const isDate = (cell = '') => readDay(cell, 'dmy') !== null || readDay(cell, 'mdy') !== null
    columns.date = all.find((column) => sample.filter((cells) => isDate(cells[column])).length > sample.length * 0.7) ?? null
    columns.description = all.toSorted((one, other) => letters(other) - letters(one))[0] ?? null
  }
  return { columns, dates: orderOf(body, columns.date, today) }
}

/** The order in which no date is in the future or unknown; where both fit, the one in which the lines are sorted. */
function orderOf(body: FileRow[], column: number | null, today: string): DateOrder {
  if (column === null) return 'dmy'
  const cells = body.map((row) => row.cells[column] ?? '').filter((cell) => /\d/.test(cell))
  const read = (order: DateOrder) => cells.flatMap((cell) => readDay(cell, order) ?? [])
  const past = (order: DateOrder) => read(order).filter((day) => day <= today).length
  if (past('dmy') !== past('mdy')) return past('dmy') > past('mdy') ? 'dmy' : 'mdy'
  const jumps = (order: DateOrder) => {
    const days = read(order)
    const rising = days.filter((day, at) => day > (days[at - 1] ?? day)).length
    const falling = days.filter((day, at) => day < (days[at - 1] ?? day)).length
    return Math.min(rising, falling)
  }
  if (jumps('dmy') !== jumps('mdy')) return jumps('dmy') < jumps('mdy') ? 'dmy' : 'mdy'
  return guessDates(body, column)
}

/** A payment that came in. */
export interface ReadLine {
  /** Its line in the file. */
  number: number
  line: BankLine
  currency: string
}

/** Why a line with an amount is left out. */
export type NotRead = 'date' | 'future' | 'amount' | 'currency'

export interface ReadFile {
  lines: ReadLine[]
  notRead: { number: number; why: NotRead }[]
  /** How many payments out there are. */
  out: number
  /** Whether each line names its currency, so that none has to be chosen. */
  namesCurrency: boolean
}

/** Whether the lines are too many for one call, or their texts too long: the server takes 1 MiB. */
export function isTooMuch(lines: ReadLine[]): boolean {
  // Room for what each line pays.
  const sent = () => new Blob([JSON.stringify(lines.map(({ line }) => line))]).size + lines.length * 100
  return lines.length > mostLines || sent() > 1024 * 1024
}

const debitWord = /^(dr|d|debit|db|debited|withdrawal|soll|s|out)\.?$/i
const creditWord = /^(cr|c|credit|credited|deposit|haben|h|in)\.?$/i

/** The payments in of a file. `currency`: of the lines that name none; null: they are left out until it is chosen. */
export function readLines(
  rows: FileRow[],
  { header, columns, dates }: Mapping,
  { currency, today }: { currency: string | null; today: string },
): ReadFile {
  const found: ReadFile = { lines: [], notRead: [], out: 0, namesCurrency: true }
  if (columns.date === null || columns.amount === null) return found
  const body = bodyOf(rows, { header })
  const cellOf = (cells: string[], column: number | null) => (column === null ? '' : (cells[column] ?? ''))
  const amounts = body.flatMap(({ cells }) => [cellOf(cells, columns.amount), cellOf(cells, columns.debit)])
  // Where decimals follow a comma, 1.250 is more than a thousand.
  const decimalComma = amounts.some((cell) => /,\d{1,2}\D*$/.test(cell)) && !amounts.some((cell) => /\.\d{1,2}\D*$/.test(cell))
  const direction = directionColumn(body, columns)
  const ofHeader = currencyOfHeader(rows[header ?? -1]?.cells[columns.amount] ?? '')
  for (const { number, cells } of body) {
    const cell = (field: Field) => cellOf(cells, columns[field])
    const written = cell('amount')
    const debit = cell('debit')
    const named = readCurrency(cell('currency')) ?? currencyOfAmount(withoutSide(written)) ?? ofHeader
    const code = named ?? currency
    const amount = amountOf(written, code ?? 'INR', decimalComma)
    const isOut = amount?.out || debitWord.test(cellOf(cells, direction)) || (isZero(written) && !isZero(debit))
    const date = readDay(cell('date'), dates)
    if (isOut && date !== null) found.out += 1
    // Totals, balances and remarks of the bank are no payments.
    if (isOut || isZero(written) || (date === null && (amount === null || isSum(cells)))) continue
    if (named === null) found.namesCurrency = false
    const why = problemOf(amount?.value ?? null, date, { code: named ?? currency, today })
    if (why !== null) found.notRead.push({ number, why })
    else if (date !== null && amount?.value && code !== null)
      found.lines.push({
        number,
        currency: code,
        line: {
          date,
          amount: amount.value,
          description: cell('description').slice(0, 1_000),
          reference: cell('reference').slice(0, 200),
          name: cell('name').slice(0, 200),
        },
      })
  }
  return found
}

function problemOf(amount: number | null, date: string | null, { code, today }: { code: string | null; today: string }): NotRead | null {
  if (amount === null) return 'amount'
  if (date === null) return 'date'
  if (date > today) return 'future'
  // Without one it has to be chosen first.
  if (code !== null && !isCurrency(code)) return 'currency'
  return code !== null && amountProblem(amount, code) !== null ? 'amount' : null
}

function isSum(cells: string[]): boolean {
  return cells.some((cell) => /^(grand |sub ?)?total\b|^(opening|closing) balance|saldo|kontostand/i.test(cell))
}

function isZero(cell: string): boolean {
  return !/[1-9]/.test(cell)
}

/** The column that says `DR` or `CR` in each line, where amounts have no sign. */
function directionColumn(body: FileRow[], { date, amount, debit }: FileColumns<Field>): number | null {
  if (debit !== null || date === null) return null
  const sample = body.slice(0, 200).map(({ cells }) => cells)
  const width = Math.max(0, ...sample.map((cells) => cells.length))
  const isDirection = (column: number) => {
    const words = sample.map((cells) => cells[column] ?? '').filter((cell) => cell !== '')
    return words.length > 0 && words.every((word) => debitWord.test(word) || creditWord.test(word))
  }
  const found = Array.from({ length: width }, (_, column) => column).find(
    (column) => column !== amount && column !== date && isDirection(column),
  )
  return found ?? null
}

const side = /(?<=\d)\s*\(?(cr|dr)\.?\)?$/i

/** An amount without the `Cr` or `Dr` behind it. */
function withoutSide(cell: string): string {
  return cell.trim().replace(side, '')
}

/** An amount above 0, and whether it went out; null where it is none, or may be two. */
function amountOf(cell: string, currency: string, decimalComma: boolean): { value: number; out: boolean } | null {
  const written = withoutSide(cell)
  const out = isNegative(written) || /dr/i.test(side.exec(cell.trim())?.[1] ?? '')
  const bare = written.replace(/^\(|\)$|^[^\d.,]*[-−+]|[-−+]$/g, '').trim()
  const value = readAmount(decimalComma && /^\d{1,3}(\.\d{3})+$/.test(bare) ? bare.replaceAll('.', '') : bare, currency)
  return value === null || value === 0 ? null : { value, out }
}
