import { isCurrency } from '#contract/currency-codes.ts'
import { type Invoice, type InvoiceDraft, type InvoiceImport, invoiceDraft } from '#contract/invoices.ts'
import { formatMoney, fromMinor, type Money, toMinor } from '#contract/money.ts'
import { changesAnything, changeText, followLine, type KeptInvoice, paidLine, renamedInvoice } from './again.ts'
import type { FileRow } from './csv.ts'
import { type InvoiceField, referenceKey } from './invoice-file.ts'
import type { InvoiceReading, InvoiceRow } from './invoices.ts'
import { known } from './meaning.ts'
import { clientKey } from './people.ts'
import { texts } from './texts.ts'

/**
 * A row of the file after validation. `left`: not an invoice to import; `message` is why. `waits`: for the answers to questions. Of an invoice that is
 * here already: `update`, `same`, or `noted` where it stays although the row has it differently. `missing`: it is not in the file.
 */
export type CheckedRow = FileRow &
  (
    | { state: 'ready' | 'same'; draft: InvoiceDraft; message: null }
    | { state: 'duplicate' | 'update' | 'noted' | 'missing'; draft: InvoiceDraft; message: string }
    /** `isItem`: a further row of an invoice that another row is about. `credit`: it can be recorded on an invoice that is here. */
    | { state: 'left'; draft: null; message: string; isItem: boolean; credit?: OfferedCredit }
    /** `fields`: in which of its cells something is wrong or missing. */
    | { state: 'bad'; draft: null; message: string; fields: InvoiceField[] }
    | { state: 'waits'; draft: null; message: string; questions: string[] }
  )

/** A credit note for an open invoice of the same client. `invoice`, `reference`: those of the invoice here, and of the credit note. */
export interface OfferedCredit {
  invoice: string
  reference: string
  amount: number
  /** Its date, YYYY-MM-DD; null where the file has none that is certain. */
  issuedOn: string | null
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
  /** The account's currency. */
  usual: string
}

const keysOf = (references: Iterable<string>) => new Set([...references].map(referenceKey))

/** Validates each row against the contract, the existing invoices and the rows before it. */
export function checkRows({ rows }: Pick<InvoiceReading, 'rows'>, against: Against): CheckedRow[] {
  const { invoices, onExisting, usual } = against
  const ofSource = keysOf(against.ofSource)
  const deleted = keysOf(against.deleted ?? [])
  const byReference = new Map(invoices.map((invoice) => [referenceKey(invoice.reference), invoice]))
  const references = new Set(byReference.keys())
  const renamed = Map.groupBy(
    invoices.filter(({ reference, importedAs }) => importedAs && ofSource.has(referenceKey(reference))),
    ({ importedAs }) => referenceKey(importedAs ?? ''),
  )
  const named = new Set(rows.map(({ reference }) => reference))
  const keptOf = (key: string, { clientName, clientEmail }: InvoiceRow) =>
    key === '' ? undefined : (byReference.get(key) ?? renamedInvoice(renamed.get(key), { clientName, clientEmail }, named))
  const followed = new Set<string>()
  // Invoices of one source differ by their numbers.
  const others = onExisting === 'update' ? invoices.filter(({ reference }) => !ofSource.has(referenceKey(reference))) : invoices
  const alike = new Map(others.map((invoice) => [keyOfKept(invoice), texts.duplicateOf(invoice.reference)]))
  /** The rows before, by what makes two of them the same invoice. */
  const before = new Map<string, Map<string | undefined, number>>()
  return rows.map((row): CheckedRow => {
    const { number, cells, reference } = row
    const base = { number, cells }
    const key = referenceKey(reference)
    const kept = onExisting === 'update' ? keptOf(key, row) : undefined
    if (!kept && key !== '' && deleted.has(key))
      return { ...base, state: 'left', draft: null, message: texts.left.deletedHere(reference), isItem: false }
    const given = draftOf(row, kept ?? null, against)
    if (row.credit !== null) return { ...base, ...creditOf(row, row.credit, byReference.get(referenceKey(row.credit.against)), against) }
    if (given.kind === 'left') {
      const open = kept && !given.isItem && kept.status !== 'paid' ? ` ${texts.stillOpen(reference)}` : ''
      return { ...base, state: 'left', draft: null, message: `${given.why}${open}`, isItem: given.isItem }
    }
    const bad = (messages: Iterable<string>, fields: InvoiceField[]): CheckedRow => {
      const message = [...messages].join(' ')
      return { ...base, state: 'bad', draft: null, message, fields }
    }
    if (given.kind === 'wrong') return bad(new Set(Object.values(given.wrong)), Object.keys(given.wrong) as InvoiceField[])
    if (given.kind === 'waits') return { ...base, state: 'waits', draft: null, message: texts.waits, questions: given.questions }
    const parsed = invoiceDraft.safeParse(given.draft)
    if (!parsed.success) {
      const issues = parsed.error.issues.map(({ path, message }) => ({ field: String(path[0]) as InvoiceField, message }))
      const messages = issues.map(({ field, message }) => (field === 'dueDate' || field === 'issuedOn' ? texts.noDate : message))
      return bad(new Set(messages), [...new Set(issues.map(({ field }) => field))])
    }
    const { data: draft } = parsed
    if (kept && followed.has(kept.reference)) return bad([texts.referenceTwice(reference)], ['reference'])
    if (kept) {
      followed.add(kept.reference)
      return { ...base, ...compared(kept, draft, usual) }
    }
    const look = duplicateKey({ ...draft, currency: draft.currency ?? usual })
    const same = before.get(look) ?? new Map<string | undefined, number>()
    const its = draft.reference === undefined ? undefined : key
    // Two invoices of one file may be alike in everything but their numbers.
    const twin = its === undefined ? [...same.values()][0] : (same.get(its) ?? same.get(undefined))
    const duplicate = alike.get(look) ?? (twin === undefined ? undefined : texts.duplicateRow(twin))
    if (duplicate !== undefined) return { ...base, state: 'duplicate', draft, message: duplicate }
    if (its !== undefined) {
      if (references.has(key)) return bad([texts.referenceTaken(reference)], ['reference'])
      references.add(key)
    }
    before.set(look, same.set(its, number))
    return { ...base, state: 'ready', draft, message: null }
  })
}

/** A credit note is offered on the invoice that it names, where that is open here, of the same client, and at least so much is to pay. */
function creditOf(
  { reference, clientName, clientEmail, currency, issued }: InvoiceRow,
  { against, amount }: NonNullable<InvoiceRow['credit']>,
  kept: KeptInvoice | undefined,
  { today }: Against,
): { state: 'left'; draft: null; message: string; isItem: boolean; credit?: OfferedCredit } {
  const code = known(currency) ?? ''
  const left = { state: 'left', draft: null, isItem: false } as const
  const what = formatMoney(amount, code)
  const isSame =
    kept !== undefined &&
    (clientEmail === ''
      ? clientKey(clientName) === clientKey(kept.clientName)
      : clientEmail.toLowerCase() === kept.clientEmail.toLowerCase() || clientKey(clientName) === clientKey(kept.clientName))
  if (!kept || !isSame) return { ...left, message: texts.credit.gone(what, against) }
  if (kept.status === 'paid') return { ...left, message: texts.credit.paid(what, kept.reference) }
  const toPay = kept.amountMinor - kept.paidMinor
  const shown = (minor: number) => formatMoney(fromMinor(minor, kept.currency), kept.currency)
  const minor = code === kept.currency ? toMinor(amount, code) : null
  if (minor === null || minor > toPay) return { ...left, message: texts.credit.more(what, kept.reference, shown(toPay)) }
  const day = issued === null ? null : known(issued)
  return {
    ...left,
    message: texts.credit.offered(what, kept.reference, shown(toPay), shown(toPay - minor)),
    credit: { invoice: kept.reference, reference, amount, issuedOn: day !== null && day <= today ? day : null },
  }
}

function compared(kept: KeptInvoice, draft: InvoiceDraft, usual: string): Comparison {
  const changes = followLine(kept, draft, usual)
  const note = changes.note ?? ''
  if (changesAnything(changes)) return { state: 'update', draft, message: `${changeText(kept, changes)} ${note}`.trim() }
  return note === '' ? { state: 'same', draft, message: null } : { state: 'noted', draft, message: note }
}

type Given =
  | { kind: 'draft'; draft: object }
  | { kind: 'left'; why: string; isItem: boolean }
  | { kind: 'wrong'; wrong: InvoiceRow['wrong'] }
  | { kind: 'waits'; questions: string[] }

/** The draft of a row, as far as what it says is known. What is known of the invoice here is not needed in the file. */
function draftOf(row: InvoiceRow, kept: KeptInvoice | null, { today, usual }: Against): Given {
  const { owed, currency, due, issued, wrong, left, isItem } = row
  const code = known(currency) ?? usual
  const isSettled = owed.kind === 'left' && owed.isSettled
  if (kept && left !== null && !isItem && isSettled) return { kind: 'draft', draft: { ...paidLine(kept), currency: code } }
  if (left !== null) return { kind: 'left', why: left, isItem }
  const isCurrencyKnown = currency.kind === 'certain' && isCurrency(currency.value)
  if (kept && owed.kind === 'owed' && owed.status === 'paid' && isCurrencyKnown)
    return { kind: 'draft', draft: { ...paidLine(kept), currency: code } }
  const dates = {
    ...(due?.kind === 'refused' ? { dueDate: due.why } : {}),
    ...(issued?.kind === 'refused' ? { issuedOn: issued.why } : {}),
  }
  const all = { ...wrong, ...dates }
  // A row that cannot be read waits for no answer.
  if (Object.keys(all).length > 0) return { kind: 'wrong', wrong: { ...all, ...missingOf(row, kept) } }
  const questions = [owed, currency, due, issued].flatMap((one) => (one?.kind === 'asked' ? [one.question] : []))
  if (questions.length > 0 || owed.kind !== 'owed') return { kind: 'waits', questions }
  const day = due === null ? (kept?.dueDate ?? '') : (known(due) ?? '')
  const issuedOn = issued === null ? null : known(issued)
  const { status } = owed
  const isLate = day !== '' && day < today
  return {
    kind: 'draft',
    draft: {
      clientName: row.clientName || kept?.clientName || '',
      clientEmail: row.clientEmail || kept?.clientEmail || '',
      amount: owed.total,
      currency: code,
      ...(owed.paid === null ? {} : { amountPaid: owed.paid }),
      dueDate: day,
      ...(issuedOn === null ? {} : { issuedOn }),
      status: status === 'open' || status === 'partial' ? (isLate ? 'overdue' : 'unpaid') : status,
      ...(row.reference === ''
        ? {}
        : { reference: kept && referenceKey(kept.reference) === referenceKey(row.reference) ? kept.reference : row.reference }),
      ...(row.language === null ? {} : { language: row.language }),
    },
  }
}

/** What a row lacks besides what is wrong with it, so that all of it is corrected at the same time. */
function missingOf({ clientName, clientEmail }: InvoiceRow, kept: KeptInvoice | null): InvoiceRow['wrong'] {
  const { shape } = invoiceDraft
  const problem = (field: 'clientName' | 'clientEmail', text: string) => {
    const why = kept ? null : (shape[field].safeParse(text).error?.issues[0]?.message ?? null)
    return why === null ? {} : { [field]: why }
  }
  return { ...problem('clientName', clientName), ...problem('clientEmail', clientEmail) }
}

/** Open invoices that came from the source of a file, and that no row of it is about. */
export function missingFrom(
  { rows, fields }: Pick<InvoiceReading, 'rows' | 'fields'>,
  { invoices, ofSource }: Pick<Against, 'invoices' | 'ofSource'>,
): CheckedRow[] {
  if (fields.reference === undefined) return []
  const there = keysOf(rows.map(({ reference }) => reference))
  const its = keysOf(ofSource)
  const isThere = ({ reference, importedAs }: KeptInvoice) =>
    there.has(referenceKey(reference)) || (!!importedAs && there.has(referenceKey(importedAs)))
  return invoices
    .filter((kept) => kept.status !== 'paid' && its.has(referenceKey(kept.reference)) && !isThere(kept))
    .map((kept) => ({
      number: 0,
      cells: [kept.reference],
      state: 'missing',
      draft: paidLine(kept),
      message: texts.missing(kept.reference),
    }))
}

/** What a line asks for. */
export function balanceOf({ amount, amountPaid = 0, currency = 'INR' }: InvoiceDraft): Money {
  return { currency, amount: fromMinor((toMinor(amount, currency) ?? 0) - (toMinor(amountPaid, currency) ?? 0), currency) }
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
