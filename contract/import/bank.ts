import type { BankLine, RecordedPayment } from '#contract/bank-file.ts'
import { amountOf, currencyOf, decimalsQuestion, provenDecimals, takeApart, type WrittenAmount } from './amounts.ts'
import { layouts } from './bank-layouts.ts'
import { type BankColumn, bankColumnOf, type Direction, directionsOf, isSum, type State, stateInDate, stateOf } from './bank-words.ts'
import type { FileRow } from './csv.ts'
import { daysOf, plainDigits } from './days.ts'
import { wordKey } from './headings.ts'
import { choosable, columnKey, columnLabel, headingsKey, type Layout, layoutOf, type Vocabulary } from './layout.ts'
import { type Answers, type AskedColumn, asked, certain, known, type Meaning, type Question, refused } from './meaning.ts'
import { cellValue, type Sheet, textOf } from './table.ts'
import { distinctWords, mostWords, readWords } from './words.ts'

/** What a person can say that a column is. */
export const bankFields = ['date', 'amount', 'in', 'out', 'description', 'reference', 'name', 'currency', 'direction', 'state'] as const
export type BankField = (typeof bankFields)[number]

const vocabulary: Vocabulary<BankColumn> = {
  layouts,
  columnOf: bankColumnOf,
  isTable: (columns) =>
    columns.some((one) => /^(booked|date|valued|begun|otherDate)$/.test(one)) &&
    columns.some((one) => /^(amount|gross|net|in|out|both|otherAmount)$/.test(one)),
  texts: new Set<BankColumn>(['description', 'reference', 'name', 'account', 'bankId', 'balance', 'currency']),
  other: 'other',
}

/** Where the headings of a sheet are, and what its columns are, before a person says anything. */
export function layoutOfBank(sheet: Sheet, answers: Answers = {}): Layout<BankColumn> {
  return layoutOf(sheet.rows, vocabulary, answers)
}

/** A row of a bank file: what it says, as far as it is known. */
export interface BankRow {
  number: number
  /** Where it is in the file: `row 12`, `entry 3, transaction 2`. */
  place: string
  /** The cells as written. */
  cells: string[]
  date: Meaning<string>
  writtenDate: string
  /** The value date, where it is known and another day. */
  valued: string | null
  /** Without its sign; null where the row has none and is no transfer. */
  amount: Meaning<number>
  writtenAmount: string
  currency: Meaning<string>
  direction: Meaning<Direction>
  state: Meaning<State>
  description: string
  reference: string
  name: string
  /** The bank's own id of it; empty where there is none. */
  bankId: string
  /** The fee that the bank took of it, as written; empty where there is none. */
  fee: string
  /** What was sent in another currency, as written; empty where nothing was. */
  sent: string
  /** Why a person must look at it before it is recorded, in a sentence. */
  unclear: string | null
  /** Why it is left out although all of it is known; null where it is not. */
  left: Left | null
  /** The place of the row that takes it back. */
  returnedIn: string | null
}

/** Why a row is no payment that came in. */
export type Left = Exclude<State, 'booked'> | 'sum' | 'out' | 'future' | 'info' | 'reversal' | 'came-back'

export interface BankReading {
  /** The bank or program whose layout it has; null where it was read by its words. */
  layout: string | null
  /** A statement of a card: nothing in it is a client's payment. */
  isCard: boolean
  /** What files with the same headings have in common; empty where there are none, so that the file could be of any bank. */
  headings: string
  /** The row with the headings, as a spreadsheet numbers it; null where there is none. */
  headingRow: number | null
  questions: Question[]
  rows: BankRow[]
  /** The column that each field is read from, where there is one, and those that can be chosen instead. */
  fields: Partial<Record<BankField, number>>
  choosable: AskedColumn[]
  /** What of the file was left out or does not add up, in sentences. */
  notes: string[]
}

export interface BankContext {
  /** `YYYY-MM-DD`, where the account is. */
  today: string
  /** The currencies in use in the account. */
  held: readonly string[]
  answers: Answers
}

const directionChoices = ['in', 'out', 'leave'] as const
const stateChoices = ['booked', 'leave'] as const
const texts = {
  both: 'Money in and money out are filled in one row.',
  contradiction: (word: string, amount: string) => `The row says “${word}”, and its amount is ${amount}.`,
  noAmount: 'This row has no amount.',
}

/** Reads the sheet of a bank file. What it does not prove is a question; rows that need its answer wait. */
export function readBankSheet(sheet: Sheet, { today, held, answers }: BankContext): BankReading {
  const layout = layoutOfBank(sheet, answers)
  const body = sheet.rows.slice(layout.header === null ? 0 : layout.header + 1)
  const chosen = withChoices(layout, answers)
  const all = choosable(layout, body)
  const start = {
    layout: layout.known?.name ?? null,
    isCard: layout.known?.isCard === true,
    headings: headingsKey(layout),
    headingRow: layout.header === null ? null : (sheet.rows[layout.header]?.number ?? null),
    fields: chosen.fields,
    choosable: all,
    notes: [],
  }
  const ask = (field: BankField): Question => ({ id: `column/${field}`, rows: body.length, kind: 'column', field, columns: all })
  const { dateAt, money } = chosen
  const missing = [...(dateAt === null ? [ask('date')] : []), ...(money === null ? [ask('amount')] : [])]
  if (dateAt === null || money === null || start.isCard) return { ...start, questions: start.isCard ? [] : missing, rows: [] }
  const file: BankFile = { chosen, layout, today, held, answers, questions: [] }
  return { ...start, ...readBody(file, { body, dateAt, money, all }) }
}

/** The columns with amounts: one for each direction, or one for both. */
interface Money {
  in: number | null
  out: number | null
  /** One column with both directions. */
  amount: number | null
  /** The column that a person chose for the amounts, where the direction is in two others. */
  value: number | null
  /** Others that could be the amount, which is asked where they differ. */
  rivals: number[]
}

interface Chosen {
  columns: BankColumn[]
  fields: Partial<Record<BankField, number>>
  dateAt: number | null
  money: Money | null
}

const fieldColumns: Record<BankField, BankColumn[]> = {
  date: ['booked', 'date', 'valued', 'begun'],
  amount: ['amount', 'gross', 'both', 'net'],
  in: ['in'],
  out: ['out'],
  description: ['description'],
  reference: ['reference'],
  name: ['name'],
  currency: ['currency'],
  direction: ['direction', 'kind'],
  state: ['state'],
}

/** Which column is which: as a person chose, else by the headings. */
function withChoices(layout: Layout<BankColumn>, answers: Answers): Chosen {
  const columns = [...layout.columns]
  const fields: Partial<Record<BankField, number>> = {}
  const isChosen = new Set<BankField>()
  for (const field of bankFields) {
    const answer = answers[`column/${field}`]
    if (answer === undefined) continue
    isChosen.add(field)
    for (const [at, column] of columns.entries()) if (fieldColumns[field].includes(column)) columns[at] = 'other'
    const at = columns.findIndex((_, column) => columnKey(layout, column) === answer)
    // Of two columns for the directions one is no column for both.
    if (at >= 0 && !(field === 'amount' && (columns[at] === 'in' || columns[at] === 'out'))) columns[at] = fieldColumns[field][0] ?? 'other'
  }
  const first = (...kinds: BankColumn[]) => {
    for (const kind of kinds) {
      const at = columns.indexOf(kind)
      if (at >= 0) return at
    }
    return null
  }
  for (const field of bankFields) {
    const at = field === 'direction' ? null : first(...fieldColumns[field])
    if (at !== null) fields[field] = at
  }
  const dateAt = first('booked', 'date', 'valued', 'begun')
  const money: Money = { in: first('in'), out: first('out'), amount: null, value: null, rivals: [] }
  const amounts = columns.flatMap((column, at) => (column === 'amount' ? [at] : []))
  const [amount = null, ...rivals] = amounts
  // Fees never reduce what was paid.
  money.amount = first('gross') ?? amount ?? first('both') ?? (isChosen.has('amount') ? null : first('net'))
  money.rivals = money.amount === amount ? rivals : amounts
  if (!layout.known && !isChosen.has('amount'))
    money.rivals.push(...columns.flatMap((column, at) => (column === 'otherAmount' ? [at] : [])))
  if (isChosen.has('amount') && money.in !== null) money.value = money.amount
  const isNone = money.in === null && money.amount === null
  return { columns, fields, dateAt, money: isNone ? null : money }
}

/** A row with its money taken apart. */
interface Taken {
  row: FileRow
  /** The column that the amount is in. */
  column: number
  cell: string
  written: WrittenAmount | null
  /** By its column. */
  side: 'in' | 'out' | null
  problem: string | null
}

/** What the parts of a reading share. */
interface BankFile extends BankContext {
  chosen: Chosen
  layout: Layout<BankColumn>
  questions: Question[]
}

function readBody(
  file: BankFile,
  { body, dateAt, money, all }: { body: FileRow[]; dateAt: number; money: Money; all: AskedColumn[] },
): Pick<BankReading, 'questions' | 'rows' | 'isCard'> {
  const { answers, today, layout, questions } = file
  const { columns } = file.chosen
  const label = (column: number) => ({ heading: columnLabel(layout, column), key: columnKey(layout, column) })
  const isText = (at: number) => columns[at] === 'description' || columns[at] === 'reference' || columns[at] === 'name'
  const merged = joinRows(body, { dateAt, money, isText })
  const taken = merged.map(({ row }) => takeRow(row, money))
  const transfers = taken.flatMap((one) => (one === null ? [] : [one]))
  const rows = transfers.map(({ row }) => row)
  const extra = new Map(merged.map(({ row, more }) => [row, more]))
  const sums = new Set(rows.filter((row) => row.cells.some((cell) => isSum(cell))))
  const counted = rows.filter((row) => !sums.has(row))
  // A word such as “Pending” in the place of a date is the state of its row.
  const undated = new Map(
    counted.flatMap((row) => {
      const state = stateInDate(wordKey(textOf(row, dateAt)))
      return state === null ? [] : [[row, state] as const]
    }),
  )
  const dated = counted.filter((row) => !undated.has(row))
  const days = daysOf(dated, { column: dateAt, ...label(dateAt), order: layout.known?.order ?? null, answers })
  const valuedAt = columns.indexOf('valued')
  const values =
    valuedAt < 0 || valuedAt === dateAt
      ? null
      : daysOf(dated, { column: valuedAt, ...label(valuedAt), order: layout.known?.order ?? null, answers })
  const valuedOn = (row: FileRow) => {
    const value = values?.of.get(row)
    return value?.kind === 'certain' ? value.value : null
  }
  const rival = rivalQuestion(
    file,
    transfers.filter(({ row }) => !sums.has(row)),
    money,
    all,
  )
  const directions = directionsIn(
    file,
    transfers.filter(({ row }) => !sums.has(row)),
    money,
  )
  const states = statesIn(file, counted)
  if (days.question) file.questions.push(days.question)
  if (rival) file.questions.unshift(rival)
  const moneyColumns = columns.flatMap((column, at) =>
    /^(amount|gross|net|in|out|both|balance|fee|foreign|otherAmount)$/.test(column) ? [at] : [],
  )
  const currencies = currenciesIn(file, transfers)
  const unclear = new Map<number, { cell: string; both: { point: number; comma: number } }[]>()
  const styles = new Map<string, ReturnType<typeof provenDecimals>>()
  const styleOf = (currency: string) => {
    if (!styles.has(currency))
      styles.set(
        currency,
        provenDecimals(
          merged.map(({ row }) => row),
          moneyColumns,
          currency,
        ),
      )
    return styles.get(currency) ?? null
  }
  const list = (kind: BankColumn, row: FileRow) =>
    columns.flatMap((column, at) => (column === kind && textOf(row, at) !== '' ? [textOf(row, at)] : []))
  // Beside a column that says whose name it has, one that does not is that of the account.
  const bare = (at: number) => /^(name|naam|nom|nombre|nome|nimi|navn|namn)$/.test(file.layout.headings[at]?.key ?? '')
  const nameAt = columns
    .flatMap((column, at) => (column === 'name' ? [at] : []))
    .toSorted((one, other) => Number(bare(one)) - Number(bare(other)))
  const nameOf = (row: FileRow) => nameAt.map((at) => textOf(row, at)).find((text) => text !== '') ?? ''
  const read = transfers.map(({ row, column, cell, written, problem }): BankRow => {
    const currency = currencies(row)
    const code = currency.kind === 'certain' ? currency.value : (file.held[0] ?? 'EUR')
    const { both, ...amount } = rival
      ? { both: undefined, ...asked(rival.id) }
      : amountOf({ cell, value: cellValue(row, column), written, currency: code }, { ...label(column), decimals: styleOf(code), answers })
    if (both && !sums.has(row)) {
      const those = unclear.get(column) ?? []
      those.push({ cell, both })
      unclear.set(column, those)
    }
    const state = undated.get(row)
    return {
      number: row.number,
      place: `row ${row.number}`,
      cells: row.cells,
      date: days.of.get(row) ?? refused(textOf(row, dateAt) === '' ? 'This row has no date.' : `“${textOf(row, dateAt)}” is no date.`),
      writtenDate: textOf(row, dateAt),
      valued: valuedOn(row),
      amount: problem === null ? amount : refused(problem),
      writtenAmount: cell,
      currency,
      direction: directions.get(row) ?? asked('direction/rows'),
      state: state ? certain(state, 'word') : (states(row) ?? certain('booked', 'heading')),
      description: [...list('description', row), ...(extra.get(row) ?? [])].join(' ').slice(0, 1_000),
      reference: list('reference', row)
        .filter((one) => /[\p{L}\p{N}]/u.test(one))
        .join(' ')
        .slice(0, 200),
      name: nameOf(row).slice(0, 200),
      bankId: list('bankId', row)[0] ?? '',
      fee: list('fee', row)[0] ?? '',
      sent: '',
      unclear: null,
      left: sums.has(row) ? 'sum' : null,
      returnedIn: null,
    }
  })
  for (const [column, waiting] of unclear) {
    const question = decimalsQuestion(label(column), waiting)
    if (question) file.questions.push(question)
  }
  for (const row of read) row.left ??= leftOf(row, today)
  markReturns(read)
  const isCard = read.some(isCardPayment)
  return { questions: isCard ? [] : ordered(questions), rows: isCard ? [] : read, isCard }
}

/** Columns and amounts first: the others follow from them. */
function ordered(questions: Question[]): Question[] {
  const rank = ['column', 'choice', 'words', 'order', 'decimals']
  return questions.toSorted((one, other) => rank.indexOf(one.kind) - rank.indexOf(other.kind))
}

/** The rows, each with the texts of those behind it that only continue it: they have no date and no amount, and words where it has some. */
function joinRows(
  body: FileRow[],
  { dateAt, money, isText }: { dateAt: number; money: Money; isText: (column: number) => boolean },
): { row: FileRow; more: string[] }[] {
  const found: { row: FileRow; more: string[] }[] = []
  const amounts = [money.in, money.out, money.amount].filter((one) => one !== null)
  for (const row of body) {
    const last = found.at(-1)
    const isBlank = textOf(row, dateAt) === '' && amounts.every((at) => textOf(row, at) === '')
    if (!isBlank || !last) found.push({ row, more: [] })
    else if (!row.cells.some(isSum))
      last.more.push(...row.cells.flatMap((cell, at) => (isText(at) && /\p{L}/u.test(cell) ? [cell.trim()] : [])))
  }
  return found
}

/** The amount of a row, and the direction of its column; null where the row has none. */
function takeRow(row: FileRow, money: Money): Taken | null {
  const at = (column: number | null) => {
    if (column === null) return null
    const cell = textOf(row, column)
    const value = cellValue(row, column)
    const isFormula = value !== undefined && 'formula' in value
    const isEmpty = !isFormula && (!/[1-9\p{L}\p{Nl}]/u.test(plainDigits(cell.normalize('NFKC'))) || /^(n\/?a|null|none|nil)$/i.test(cell))
    return { column, cell, written: takeApart(cell, value), isEmpty }
  }
  const [into, out, one, value] = [at(money.in), at(money.out), at(money.amount), at(money.value)]
  const isIn = into !== null && !into.isEmpty
  const isOut = out !== null && !out.isEmpty
  if (isIn && isOut) return { row, ...into, side: null, problem: texts.both }
  if (isIn) {
    const isBack = into.written?.minus === true || into.written?.side === 'out'
    return { row, ...(value ?? into), side: isBack ? 'out' : 'in', problem: null }
  }
  if (isOut)
    return { row, ...(value ?? out), side: 'out', problem: out.written?.side === 'in' ? texts.contradiction(out.cell, out.cell) : null }
  // Where each direction has a column, a row without either has no amount.
  if (one === null || one.isEmpty || (money.in !== null && money.out !== null)) return null
  return { row, ...one, side: null, problem: null }
}

/** Which of several columns is the amount, where they differ. */
function rivalQuestion(file: BankFile, transfers: Taken[], money: Money, all: AskedColumn[]): Question | null {
  const { answers } = file
  if (answers['column/amount'] !== undefined) return null
  const main = (one: Taken) => one.written?.digits
  const figures = (row: FileRow, at: number) => takeApart(textOf(row, at), cellValue(row, at))?.digits
  const beside = money.in === null ? money.rivals : [...money.rivals, ...(money.amount === null ? [] : [money.amount])]
  const differing = beside.filter((at) =>
    transfers.some((one) => {
      const digits = figures(one.row, at)
      return at !== one.column && digits !== undefined && /[1-9]/.test(String(digits)) && String(digits) !== String(main(one))
    }),
  )
  if (differing.length === 0 || file.layout.known) return null
  const possible = new Set([...differing, ...[money.in, money.amount].filter((one) => one !== null)])
  return {
    id: 'column/amount',
    rows: transfers.length,
    kind: 'column',
    field: 'amount',
    columns: all.filter(({ column }) => possible.has(column)),
  }
}

/** Whether money came in or went out, row by row: by two columns, by words, by signs, else asked. */
function directionsIn(file: BankFile, transfers: Taken[], money: Money): Map<FileRow, Meaning<Direction>> {
  const { answers } = file
  const found = new Map<FileRow, Meaning<Direction>>()
  const open = transfers.filter((one) => {
    if (one.side !== null) found.set(one.row, certain(one.side, 'heading'))
    else if (one.written?.side) found.set(one.row, certain(one.written.side, 'written'))
    else if (one.problem !== null) found.set(one.row, refused(one.problem))
    return !found.has(one.row)
  })
  if (open.length === 0) return found
  const signed = open.some(({ written }) => written?.minus || written?.plus)
  const words = directionColumn(file, transfers, money, signed)
  if (words) {
    const { of, question } = readWords(
      open.map(({ row }) => row),
      words,
    )
    for (const { row, written, cell } of open) {
      const meaning = of.get(row) ?? asked(words.about)
      const isContrary = meaning.kind === 'certain' && meaning.value === 'in' && written?.minus === true
      found.set(row, isContrary ? refused(texts.contradiction(textOf(row, words.column), cell)) : meaning)
    }
    if (question) file.questions.push(question)
    return found
  }
  const id = signed ? 'direction/unmarked' : 'direction/rows'
  const marked = transfers.some(({ written }) => written?.side)
  const waiting: Taken[] = []
  for (const one of open) {
    const { row, written } = one
    if (written?.minus) found.set(row, certain('out', 'written'))
    else if (written?.plus || ((signed || file.layout.known?.signed) && !marked))
      found.set(row, certain('in', signed ? 'column' : 'layout'))
    else {
      const answer = directionChoices.find((choice) => choice === answers[id])
      found.set(row, answer ? certain(answer, 'answer') : asked(id))
      if (!answer) waiting.push(one)
    }
  }
  if (waiting.length > 0)
    file.questions.push({
      id,
      rows: waiting.length,
      kind: 'choice',
      about: 'direction',
      heading: columnLabel(file.layout, money.amount ?? 0),
      choices: [...directionChoices],
    })
  return found
}

/** The column whose words say the direction, where there is one, or where it must be asked. */
function directionColumn(file: BankFile, transfers: Taken[], money: Money, signed: boolean) {
  const { columns } = file.chosen
  const { known } = file.layout
  const rows = transfers.map(({ row }) => row)
  const amountAt = money.amount ?? money.in ?? 0
  const about = (column: number, means: (word: string) => Direction | null) => ({
    column,
    heading: columnLabel(file.layout, column),
    key: columnKey(file.layout, column),
    about: 'direction',
    means,
    choices: directionChoices,
    answers: file.answers,
    example: (row: FileRow) => exampleOf(row, columns),
  })
  // The one that follows the amount, where there are several.
  const inOrder = (kind: BankColumn) => {
    const all = columns.flatMap((column, at) => (column === kind ? [at] : []))
    return [...all.filter((at) => at > amountAt), ...all.filter((at) => at < amountAt)]
  }
  const taught = known?.words?.direction
  for (const column of inOrder('direction')) {
    const words = distinctWords(rows, column)
    if (!words || (words.size === 1 && words.has(''))) continue
    const means = taught ? (word: string) => directionIn(taught, word) : directionsOf(words)
    const sides = new Set([...words].map(means))
    const isBeside = column === amountAt + 1 || column === amountAt - 1
    const isKnown = taught !== undefined || (sides.has('in') && sides.has('out')) || isBeside
    // One side only, and elsewhere: the words are asked about.
    return about(column, isKnown ? means : () => null)
  }
  for (const column of inOrder('kind')) {
    const words = distinctWords(rows, column)
    if (!words || words.size > mostWords) continue
    const means = taught ? (word: string) => directionIn(taught, word) : directionsOf(words)
    const meanings = [...words].map(means)
    const isWhole = meanings.every((one) => one !== null) && meanings.includes('in') && meanings.includes('out')
    if (isWhole || taught) return about(column, means)
    if (signed || known?.signed) continue
    if (words.size > 1 || !words.has('')) return about(column, meanings.includes('in') && meanings.includes('out') ? means : () => null)
  }
  return null
}

/** The state of each row; null where the file has no column of states. */
function statesIn(file: BankFile, rows: FileRow[]): (row: FileRow) => Meaning<State> | null {
  const { columns } = file.chosen
  const { known } = file.layout
  const read = columns.flatMap((column, at) => {
    if (column !== 'state' && column !== 'reversal') return []
    const words = distinctWords(rows, at)
    if (words?.size === 1 && words.has('')) return []
    const key = columnKey(file.layout, at)
    // A column called “Info” with many words is a text.
    if (!words && /^(info|cleared|details?)$/.test(key)) return []
    const taught = known?.words?.[column]
    const means = (word: string) =>
      (taught ? stateIn(taught, word) : column === 'reversal' ? reversalOf(word) : stateOf(word)) ?? yesOrNo(key, word)
    const { of, question } = readWords<State>(rows, {
      column: at,
      heading: columnLabel(file.layout, at),
      key,
      about: 'state',
      means,
      choices: stateChoices,
      answers: file.answers,
      example: (row) => exampleOf(row, columns),
    })
    if (question) file.questions.push(question)
    return [of]
  })
  return (row) => {
    const all = read.flatMap((of) => of.get(row) ?? [])
    return all.find((one) => one.kind === 'certain' && one.value !== 'booked') ?? all.find((one) => one.kind === 'asked') ?? all[0] ?? null
  }
}

/** The currency of each row: what the row, its column or the headings name, else that of the account where it has one only. */
function currenciesIn(file: BankFile, transfers: Taken[]): (row: FileRow) => Meaning<string> {
  const { held, answers } = file
  const { columns } = file.chosen
  const at = columns.indexOf('currency')
  const found = new Map<FileRow, Meaning<string>>()
  const waiting = new Map<string, { rows: number; choices: string[] }>()
  const ask = (id: string, choices: readonly string[]): Meaning<string> => {
    const answer = answers[id]
    if (answer !== undefined && /^[A-Z]{3}$/.test(answer)) return certain(answer, 'answer')
    waiting.set(id, { rows: (waiting.get(id)?.rows ?? 0) + 1, choices: [...choices] })
    return asked(id)
  }
  const read = ({ row, column, written }: Taken): Meaning<string> => {
    const named = [at < 0 ? '' : textOf(row, at), written?.currency ?? '', file.layout.headings[column]?.currency ?? ''].filter(
      (one) => one !== '',
    )
    if (named.length === 0) return held.length === 1 && held[0] !== undefined ? certain(held[0], 'heading') : ask('currency/file', held)
    return currencyOf(named, held, ask)
  }
  for (const one of transfers) found.set(one.row, read(one))
  for (const [id, { rows, choices }] of waiting)
    file.questions.push({ id, rows, kind: 'choice', about: 'currency', heading: id.slice('currency/'.length), choices })
  return (row) => found.get(row) ?? asked('currency/file')
}

function directionIn(words: Record<string, string>, word: string): Direction | null {
  return directionChoices.find((one) => one === words[word]) ?? null
}

function stateIn(words: Record<string, string>, word: string): State | null {
  return (words[word] as State | undefined) ?? stateOf(word)
}

function reversalOf(word: string): State | null {
  return word === '' || /^(no|n|false|0|nein|non|nee|nao|none)$/.test(word)
    ? 'booked'
    : /^(yes|y|true|1|ja|oui|si|sim|x|storno|r)$/.test(word)
      ? 'returned'
      : stateOf(word)
}

/** A column that is called `Pending` or `Cleared` answers yes or no. */
function yesOrNo(key: string, word: string): State | null {
  const says = /^(yes|y|true|1|ja|oui|si|sim)$/.test(word) ? true : /^(no|n|false|0|nein|non|nee|nao)$/.test(word) ? false : null
  if (says === null) return null
  if (/^(pending|vorgemerkt|umsatz vorgemerkt)$/.test(key)) return says ? 'pending' : 'booked'
  return /^cleared/.test(key) ? (says ? 'booked' : 'pending') : null
}

function exampleOf(row: FileRow, columns: BankColumn[]): string {
  const texts = columns.flatMap((column, at) => (column === 'description' || column === 'name' ? [textOf(row, at)] : []))
  return (texts.find((text) => text !== '') ?? row.cells.toSorted((one, other) => other.length - one.length)[0] ?? '').slice(0, 80)
}

/** Why a row is left out although all of it is known. */
export function leftOf({ state, direction, date }: BankRow, today: string): Left | null {
  if (state.kind === 'certain' && state.value !== 'booked') return state.value
  if (direction.kind === 'certain' && direction.value === 'out') return 'out'
  if (direction.kind === 'certain' && direction.value === 'leave') return 'leave'
  return date.kind === 'certain' && date.value > today ? 'future' : null
}

/** A payment to a card, in a statement where purchases are above 0. */
function isCardPayment({ direction, description, name }: BankRow): boolean {
  const isOut = direction.kind === 'certain' && direction.value === 'out' && direction.by === 'written'
  return isOut && /\bpayment (received|thank you)\b|\bpayment\W+thank you\b|\bautopay\b.*\bthank you\b/i.test(`${name} ${description}`)
}

/** How long after a transfer it can come back. */
export const returnDays = 30

/** Marks transfers that a later row takes back: money out of the same amount that names the same reference, within thirty days. */
export function markReturns(rows: BankRow[]): void {
  const isKnown = ({ amount, date }: BankRow) => amount.kind === 'certain' && date.kind === 'certain'
  const keyOf = ({ amount, currency }: BankRow) =>
    `${amount.kind === 'certain' ? amount.value : ''} ${currency.kind === 'certain' ? currency.value : ''}`
  const came = Map.groupBy(
    rows.filter((row) => row.left === null && isKnown(row)),
    keyOf,
  )
  if (came.size === 0) return
  const counts = new Map<string, number>()
  for (const row of rows) for (const token of tokensOf(row)) counts.set(token, (counts.get(token) ?? 0) + 1)
  // What is in many rows, such as the number of the account, names none of them.
  const isCommon = (token: string) => (counts.get(token) ?? 0) > Math.max(4, rows.length / 20)
  for (const back of rows) {
    if (!(back.left === 'out' || back.left === 'returned') || !isKnown(back)) continue
    const same = came.get(keyOf(back)) ?? []
    if (same.length === 0) continue
    const tokens = new Set([...tokensOf(back)].filter((token) => !isCommon(token)))
    const found = same.find(
      (row) => row.returnedIn === null && row !== back && isWithin(row, back) && [...tokensOf(row)].some((token) => tokens.has(token)),
    )
    if (found) found.returnedIn = back.place
  }
}

function isWithin({ date: one }: BankRow, { date: other }: BankRow): boolean {
  if (one.kind !== 'certain' || other.kind !== 'certain') return false
  const days = (Date.parse(other.value) - Date.parse(one.value)) / 86_400_000
  return days >= 0 && days <= returnDays
}

/** The payments of a transfer, recorded from an earlier file, that a row takes back. */
export type TakenBack = ReadonlyMap<number, RecordedPayment[]>

/**
 * What was recorded before and is taken back by the rows: money out of the same amount that names the same reference, within thirty days. Each
 * transfer once, the latest first.
 */
export function takenBackIn(rows: BankRow[], recorded: RecordedPayment[]): TakenBack {
  const transfers = [...Map.groupBy(recorded, ({ transfer, currency }) => `${transfer} ${currency}`).values()].map((payments) => ({
    payments,
    tokens: tokensIn(payments.map(({ invoice, text }) => `${invoice} | ${text}`).join(' | ')),
  }))
  const keyOf = (amount: number, currency: string) => `${amount.toFixed(3)} ${currency}`
  const sumOf = (payments: RecordedPayment[]) => payments.reduce((sum, { amount }) => sum + amount, 0)
  const bySum = Map.groupBy(transfers, ({ payments }) => keyOf(sumOf(payments), payments[0]?.currency ?? ''))
  const counts = new Map<string, number>()
  for (const { tokens } of transfers) for (const token of tokens) counts.set(token, (counts.get(token) ?? 0) + 1)
  const isCommon = (token: string) => (counts.get(token) ?? 0) > Math.max(4, transfers.length / 20)
  const found = new Map<number, RecordedPayment[]>()
  const taken = new Set<object>()
  for (const row of rows) {
    const [date, amount, currency] = [known(row.date), known(row.amount), known(row.currency)]
    if (!(row.left === 'out' || row.left === 'returned') || date === null || amount === null || currency === null) continue
    const tokens = tokensOf(row)
    const one = bySum.get(keyOf(amount, currency))?.find((transfer) => {
      const days = (Date.parse(date) - Date.parse(transfer.payments[0]?.paidOn ?? '')) / 86_400_000
      const isNamed = [...tokens].some((token) => transfer.tokens.has(token) && !isCommon(token))
      return !taken.has(transfer) && days >= 0 && days <= returnDays && isNamed
    })
    if (!one) continue
    taken.add(one)
    found.set(row.number, one.payments)
  }
  return found
}

/** What could be a reference in the texts of a row: at least four letters and digits, with a digit. */
function tokensOf({ description, reference, name }: Pick<BankRow, 'description' | 'reference' | 'name'>): Set<string> {
  return tokensIn(`${description} | ${reference} | ${name}`)
}

function tokensIn(text: string): Set<string> {
  const found =
    text
      .normalize('NFKC')
      .toLowerCase()
      .match(/[\p{L}\p{N}]+(?:[-/][\p{L}\p{N}]+)*/gu) ?? []
  return new Set(found.map((token) => token.replace(/[-/]/g, '')).filter((token) => token.length >= 4 && /\d/.test(token)))
}

/** A payment that came in, without a doubt or as a person answered. */
export interface ReadLine {
  number: number
  currency: string
  line: BankLine
}

/** The payment of a row; null where the row is none, or is not known. */
export function lineOf(row: BankRow): ReadLine | null {
  const { number, description, reference, name, bankId, left } = row
  const [date, amount, currency] = [known(row.date), known(row.amount), known(row.currency)]
  const isPayment = left === null && known(row.direction) === 'in' && known(row.state) === 'booked'
  if (!isPayment || date === null || amount === null || currency === null) return null
  const valueDate = row.valued === date ? null : row.valued
  return { number, currency, line: { date, amount, currency, valueDate, bankId, description, reference, name } }
}

/** The payments of a file by the numbers of their rows, each with how many equal ones are before it: alone it would be taken for the first. */
export function linesOf(rows: BankRow[]): Map<number, ReadLine> {
  const counts = new Map<string, number>()
  const found = new Map<number, ReadLine>()
  for (const row of rows) {
    const read = lineOf(row)
    if (!read) continue
    const { date, amount, currency, description, reference, name } = read.line
    const text = [description, reference, name].join('\n').normalize('NFKC').toLowerCase().replace(/\s+/gu, ' ').trim()
    const key = JSON.stringify([date, amount, currency, text])
    const place = counts.get(key) ?? 0
    counts.set(key, place + 1)
    found.set(row.number, place === 0 ? read : { ...read, line: { ...read.line, place } })
  }
  return found
}

/** What a row waits for: the questions without which it is not known; empty where it is, or never can be. */
export function waitsFor(row: BankRow): string[] {
  return row.left === null ? meaningsOf(row).flatMap((one) => (one.kind === 'asked' ? [one.question] : [])) : []
}

/** What of a row can be uncertain; empty where nothing is, because a file may have thousands of rows. */
function meaningsOf({ amount, date, direction, currency, state }: BankRow): Meaning<unknown>[] {
  const isCertain =
    amount.kind === 'certain' &&
    date.kind === 'certain' &&
    direction.kind === 'certain' &&
    currency.kind === 'certain' &&
    state.kind === 'certain'
  return isCertain ? [] : [amount, date, direction, currency, state]
}

/** Why a row cannot be read; null where it can. */
export function refusalOf(row: BankRow): string | null {
  if (row.left !== null) return null
  const found = meaningsOf(row).find((one) => one.kind === 'refused')
  return found?.kind === 'refused' ? found.why : null
}
