import { isCurrency, unknownCurrency } from '#contract/currency-codes.ts'
import { type Invoice, type InvoiceDraft, type InvoiceImport, type InvoiceStatus, invoiceDraft } from '#contract/invoices.ts'
import { fromMinor, type Money, toMinor } from '#contract/money.ts'
import { languages as usualLanguages } from '#contract/speech.ts'
import { changesAnything, changeText, followLine, type KeptInvoice, paidLine, renamedInvoice } from './again.ts'
import { currenciesOf, currencyOfAmount, currencyOfHeader, isNegative, readAmount, readCurrency, readDay, readLanguage } from './cells.ts'
import { type Columns, type Field, isOwed, type Mapping, readStatus, type Status, statusKey, typeColumn } from './columns.ts'
import { bodyOf, type FileRow } from './csv.ts'
import { texts } from './texts.ts'

/**
 * A row of the file after validation. `left`: not an invoice to import; `message` is why. Of an invoice that is here already: `update`,
 * `same`, or `noted` where it stays although the row has it differently. `missing`: it is not in the file.
 */
export type CheckedRow = FileRow &
  (
    | { state: 'ready' | 'same'; draft: InvoiceDraft; message: null }
    | { state: 'duplicate' | 'update' | 'noted' | 'missing'; draft: InvoiceDraft; message: string }
    | { state: 'bad' | 'left'; draft: null; message: string }
  )

/** How the lines with a status that is not known are imported, by `statusKey`. */
export type Answers = Record<string, InvoiceStatus | 'leave'>

/** A status that is not known: how it is written in the file first, and in how many lines. */
export interface UnknownStatus {
  key: string
  written: string
  lines: number
}

type Comparison =
  | { state: 'same'; draft: InvoiceDraft; message: null }
  | { state: 'update' | 'noted'; draft: InvoiceDraft; message: string }

/** What rows are validated against. `today`: the account's date, YYYY-MM-DD. */
export interface Against {
  invoices: KeptInvoice[]
  /** The references of those that came from the source of this file. */
  ofSource: ReadonlySet<string>
  /** The references of those that came from there and were deleted: they stay deleted. */
  deleted?: ReadonlySet<string>
  onExisting: InvoiceImport['onExisting']
  today: string
  /** The account's currency: that of an amount for which the file names none. */
  usual: string
  /** Those that emails can be written in; those with texts of ours unless given. */
  languages?: readonly string[]
  answers: Answers
}

/** Validates each row against the contract, the existing invoices and the rows before it. */
export function checkRows(all: FileRow[], mapping: Mapping, against: Against): CheckedRow[] {
  const { invoices, ofSource, deleted, onExisting, today, usual, languages = usualLanguages, answers } = against
  const rows = bodyOf(all, mapping)
  const head = mapping.header === null ? null : (all[mapping.header]?.cells ?? null)
  const read = readerOf(head, mapping, { today, usual, languages, answers })
  const items = itemsOf(rows, mapping.columns)
  const byReference = new Map(invoices.map((invoice) => [invoice.reference, invoice]))
  const references = new Set(byReference.keys())
  const renamed = Map.groupBy(
    invoices.filter(({ reference, importedAs }) => importedAs && ofSource.has(reference)),
    ({ importedAs }) => importedAs,
  )
  const { reference: at, clientName, clientEmail } = mapping.columns
  const named = new Set(rows.map(({ cells }) => cellOf(cells, at)))
  const keptOf = (reference: string, cells: string[]) =>
    byReference.get(reference) ??
    renamedInvoice(renamed.get(reference), { clientName: cellOf(cells, clientName), clientEmail: cellOf(cells, clientEmail) }, named)
  const followed = new Set<string>()
  // Invoices of one source differ by their numbers.
  const others = onExisting === 'update' ? invoices.filter(({ reference }) => !ofSource.has(reference)) : invoices
  const known = new Map(others.map((invoice) => [keyOfKept(invoice), texts.duplicateOf(invoice.reference)]))
  /** The rows before, by what makes two of them the same invoice. */
  const before = new Map<string, Map<string | undefined, number>>()
  return rows.map((row): CheckedRow => {
    const reference = cellOf(row.cells, at)
    const kept = onExisting === 'update' ? keptOf(reference, row.cells) : undefined
    if (!kept && deleted?.has(reference)) return { ...row, state: 'left', draft: null, message: texts.left.deletedHere(reference) }
    const given = read(row.cells, kept ?? null)
    const item = items.get(row)
    if ('left' in given || item?.left) {
      const left = item?.left ?? ('left' in given ? given.left : '')
      const open = kept && !item?.left && kept.status !== 'paid' ? ` ${texts.stillOpen(reference)}` : ''
      return { ...row, state: 'left', draft: null, message: `${left}${open}` }
    }
    if (item?.bad) return { ...row, state: 'bad', draft: null, message: item.bad }
    const parsed = invoiceDraft.safeParse(given.draft)
    const issues = parsed.error?.issues.map(({ path, message }) => given.wrong[String(path[0]) as Field] ?? message) ?? []
    const messages = new Set([...issues, ...Object.values(given.wrong)])
    if (!parsed.success || messages.size > 0) return { ...row, state: 'bad', draft: null, message: [...messages].join(' ') }
    const { data: draft } = parsed
    if (kept && followed.has(reference)) return { ...row, state: 'bad', draft: null, message: texts.referenceTwice(reference) }
    if (kept) {
      followed.add(reference)
      return { ...row, ...compared(kept, draft, usual) }
    }
    const key = duplicateKey({ ...draft, currency: draft.currency ?? usual })
    const same = before.get(key) ?? new Map<string | undefined, number>()
    // Two invoices of one file may be alike in everything but their numbers.
    const twin = draft.reference === undefined ? [...same.values()][0] : (same.get(draft.reference) ?? same.get(undefined))
    const duplicate = known.get(key) ?? (twin === undefined ? undefined : texts.duplicateRow(twin))
    if (duplicate !== undefined) return { ...row, state: 'duplicate', draft, message: duplicate }
    if (draft.reference !== undefined) {
      if (references.has(reference)) return { ...row, state: 'bad', draft: null, message: texts.referenceTaken(reference) }
      references.add(reference)
    }
    before.set(key, same.set(draft.reference, row.number))
    return { ...row, state: 'ready', draft, message: null }
  })
}

function compared(kept: KeptInvoice, draft: InvoiceDraft, usual: string): Comparison {
  const changes = followLine(kept, draft, usual)
  const note = changes.note ?? ''
  if (changesAnything(changes)) return { state: 'update', draft, message: `${changeText(kept, changes)} ${note}`.trim() }
  return note === '' ? { state: 'same', draft, message: null } : { state: 'noted', draft, message: note }
}

/** Open invoices that came from the source of a file, and that no row of it is about. */
export function missingFrom(
  all: FileRow[],
  mapping: Mapping,
  { invoices, ofSource }: Pick<Against, 'invoices' | 'ofSource'>,
): CheckedRow[] {
  const column = mapping.columns.reference
  if (column === null) return []
  const there = new Set(bodyOf(all, mapping).map(({ cells }) => cellOf(cells, column)))
  const isThere = ({ reference, importedAs }: KeptInvoice) => there.has(reference) || (!!importedAs && there.has(importedAs))
  return invoices
    .filter((kept) => kept.status !== 'paid' && ofSource.has(kept.reference) && !isThere(kept))
    .map((kept) => ({
      number: 0,
      cells: [kept.reference],
      state: 'missing',
      draft: paidLine(kept),
      message: texts.missing(kept.reference),
    }))
}

/** The statuses of a file that are not known, the most frequent first. */
export function unknownStatuses(rows: FileRow[], column: number | null): UnknownStatus[] {
  if (column === null) return []
  const found = new Map<string, UnknownStatus>()
  for (const { cells } of rows) {
    const written = cells[column] ?? ''
    if (readStatus(written) !== null) continue
    const key = statusKey(written)
    const before = found.get(key)
    found.set(key, { key, written: before?.written ?? written, lines: (before?.lines ?? 0) + 1 })
  }
  return [...found.values()].sort((one, other) => other.lines - one.lines)
}

/** A line that is left out, or its draft with what is wrong in its cells, by field. */
type Given = { left: string } | { draft: object; wrong: Partial<Record<Field, string>> }

function readerOf(
  head: string[] | null,
  { columns, dates }: Mapping,
  { today, usual, languages, answers }: Required<Pick<Against, 'today' | 'usual' | 'languages' | 'answers'>>,
): (cells: string[], kept: KeptInvoice | null) => Given {
  const typeAt = typeColumn(head)
  const owed = columns.amount !== null && isOwed(head?.[columns.amount])
  const money = ['amount', 'balance', 'amountPaid'] as const
  const headCurrencies = money.map((field) => (columns[field] === null ? null : currencyOfHeader(head?.[columns[field]] ?? '')))
  return (cells, kept) => {
    const cell = (field: Field) => cellOf(cells, columns[field])
    if (cell('clientEmail') === '' && cell('dueDate') === '' && cells.some((one) => /^(grand |sub ?)?total\b/i.test(one)))
      return { left: texts.left.total }
    const type = cellOf(cells, typeAt)
    if (isOtherDocument(type)) return { left: texts.left.type(type) }
    const written = cell('status')
    const status = readStatus(written) ?? answers[statusKey(written)] ?? null
    if (status === 'leave') return { left: texts.left.chosen(written) }
    if (status !== null && isLeftOut(status)) return { left: texts.left[status] }
    const named = [readCurrency(cell('currency')), ...money.map((field) => currencyOfAmount(cell(field))), ...headCurrencies]
    const [currency = usual, other] = currenciesOf(named, usual)
    // What is known of the invoice is not needed in the file.
    const paid = (): Given => ({ draft: { ...(kept ? paidLine(kept) : {}), currency }, wrong: {} })
    if (kept && status === 'paid') return paid()
    const amount = readOwed(cells, { columns, owed, status, currency: isCurrency(currency) ? currency : usual })
    if (kept && 'left' in amount && amount.left === texts.left.settled) return paid()
    if ('left' in amount) return amount
    const day = cell('dueDate') === '' && kept ? kept.dueDate : readDay(cell('dueDate'), dates)
    const issued = readDay(cell('issuedOn'), dates)
    const reference = cell('reference')
    const language = cell('language') === '' ? undefined : readLanguage(cell('language'), languages)
    return {
      draft: {
        clientName: cell('clientName') || kept?.clientName || '',
        clientEmail: cell('clientEmail') || kept?.clientEmail || '',
        amount: amount.value,
        currency,
        ...(amount.paid === null ? {} : { amountPaid: amount.paid }),
        dueDate: day ?? '',
        ...(issued === null ? {} : { issuedOn: issued }),
        status: status === 'open' || status === 'partial' ? (day !== null && day < today ? 'overdue' : 'unpaid') : (status ?? 'unpaid'),
        ...(reference === '' ? {} : { reference }),
        ...(language ? { language } : {}),
      },
      wrong: {
        ...(amount.wrong === null ? {} : { amount: amount.wrong }),
        ...(other === undefined
          ? isCurrency(currency)
            ? {}
            : { currency: unknownCurrency(currency) }
          : { currency: texts.severalCurrencies(currency, other) }),
        ...(day === null && readDay(cell('dueDate'), 'dmy') === null ? { dueDate: texts.noDate } : {}),
        ...(issued === null && cell('issuedOn') !== '' ? { issuedOn: texts.noDate } : {}),
        ...(language === null ? { language: texts.unknownLanguage(cell('language')) } : {}),
        ...(status === null ? { status: texts.unknownStatus(written) } : {}),
      },
    }
  }
}

function cellOf(cells: string[], column: number | null): string {
  return column === null ? '' : (cells[column] ?? '')
}

const leftOut = ['draft', 'void', 'cancelled', 'deleted', 'writtenOff'] as const

function isLeftOut(status: Status): status is (typeof leftOut)[number] {
  return leftOut.some((one) => one === status)
}

/** Documents that exports list among invoices. */
function isOtherDocument(type: string): boolean {
  return /credit|refund|overpayment|prepayment|payment|estimate|quot(e|ation)|receipt|expense|purchase|^bill$|accpay|deposit|journal|pro ?-?forma|sales ?order/i.test(
    type,
  )
}

/**
 * The amount of a line, and what was paid of it. The balance wins over what was paid, because a reminder must never ask for money that was
 * paid. A paid line has its whole amount. `paid`: null where the file does not have it. `owed`: the amount is what is still to be paid.
 */
function readOwed(
  cells: string[],
  { columns, owed, status, currency }: { columns: Columns; owed: boolean; status: Status | InvoiceStatus | null; currency: string },
): { left: string } | { value: number; paid: number | null; wrong: string | null } {
  const [balanceCell, paidCell] = [cellOf(cells, columns.balance), cellOf(cells, columns.amountPaid)]
  const written = cellOf(cells, columns.amount) || balanceCell
  if ([written, balanceCell].some(isCredit)) return { left: texts.left.credit }
  const value = readAmount(written, currency)
  if (value === null) return { value: Number.NaN, paid: null, wrong: isUnclear(written) ? texts.unclearAmount(written) : texts.noAmount }
  if (owed && value === 0) return { left: texts.left.settled }
  if (status === 'paid') return { value, paid: null, wrong: null }
  if (columns.balance !== null && balanceCell === '' && paidCell === '') return { value, paid: 0, wrong: texts.noAmount }
  if (balanceCell !== '') {
    const balance = readAmount(balanceCell, currency)
    if (balance === null) return { value, paid: 0, wrong: texts.unclearAmount(balanceCell) }
    if (balance === 0) return { left: texts.left.settled }
    const paid = difference(value, balance, currency)
    // Interest and fees are owed beyond the total.
    return paid === null ? { value: Math.max(value, balance), paid: 0, wrong: null } : { value, paid, wrong: null }
  }
  if (paidCell === '') return { value, paid: null, wrong: status === 'partial' && !owed ? texts.noBalance : null }
  const paid = readAmount(paidCell, currency)
  if (paid === null) return { value, paid: 0, wrong: texts.unclearAmount(paidCell) }
  if (paid === 0) return { value, paid, wrong: status === 'partial' && !owed ? texts.noBalance : null }
  if (toMinor(value, currency) === null || toMinor(paid, currency) === null) return { value, paid: 0, wrong: null }
  return difference(value, paid, currency) === null ? { left: texts.left.settled } : { value, paid, wrong: null }
}

/** An amount below zero, or one that is marked so: `500 Cr`. */
function isCredit(text: string): boolean {
  return isNegative(text) || /\d\s*cr\.?$/i.test(text.trim())
}

/** What a line asks for. */
export function balanceOf({ amount, amountPaid = 0, currency = 'INR' }: InvoiceDraft): Money {
  return { currency, amount: fromMinor((toMinor(amount, currency) ?? 0) - (toMinor(amountPaid, currency) ?? 0), currency) }
}

/** What is above 0 between two amounts; null where nothing is, or one is not an amount. */
function difference(whole: number, part: number, currency: string): number | null {
  const [wholeMinor, partMinor] = [toMinor(whole, currency), toMinor(part, currency)]
  return wholeMinor === null || partMinor === null || partMinor >= wholeMinor ? null : fromMinor(wholeMinor - partMinor, currency)
}

/** Whether a text has only figures and separators, so that it is an amount which can be read in two ways. */
function isUnclear(text: string): boolean {
  return /^\D{0,4}\d[\d.,\s]*$/.test(text)
}

/**
 * Many exports have a row for each item of an invoice. Rows with the reference of an earlier one and nothing different are left out; where
 * the amounts differ they may be those of the items, so that none of them is imported.
 */
function itemsOf(rows: FileRow[], columns: Columns): Map<FileRow, { left?: string; bad?: string }> {
  const found = new Map<FileRow, { left?: string; bad?: string }>()
  if (columns.reference === null) return found
  const groups = new Map<string, FileRow[]>()
  for (const row of rows) {
    const reference = cellOf(row.cells, columns.reference)
    const group = groups.get(reference)
    if (group) group.push(row)
    else if (reference !== '') groups.set(reference, [row])
  }
  for (const [reference, group] of groups) {
    const [first, ...others] = group
    if (!first) continue
    const same = (row: FileRow, field: Field) => ['', cellOf(first.cells, columns[field])].includes(cellOf(row.cells, columns[field]))
    const ofClient = others.filter((row) => same(row, 'clientEmail'))
    const different = ofClient.filter((row) => !same(row, 'amount'))
    for (const row of ofClient) if (same(row, 'amount') && same(row, 'dueDate')) found.set(row, { left: texts.left.item(first.number) })
    if (different.length === 0) continue
    const bad = texts.unclearItems(
      reference,
      [first, ...different].map(({ number }) => number),
    )
    for (const row of [first, ...different]) found.set(row, { bad })
  }
  return found
}

/** Invoices with the same client email, amount, currency and due date are duplicates, unless one file gives them different numbers. */
function keyOfKept({ clientEmail, amountMinor, currency, dueDate }: KeptInvoice): string {
  return duplicateKey({ clientEmail, amount: fromMinor(amountMinor, currency), currency, dueDate })
}

function duplicateKey({
  clientEmail,
  amount,
  currency,
  dueDate,
}: Pick<Invoice, 'clientEmail' | 'amount' | 'currency' | 'dueDate'>): string {
  return `${clientEmail.toLowerCase()} ${amount.toFixed(3)} ${currency} ${dueDate.slice(0, 10)}`
}
