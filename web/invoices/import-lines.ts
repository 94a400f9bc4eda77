import { type Invoice, type InvoiceDraft, invoiceDraft } from '#contract/invoices.ts'
import { readAmount } from './amount.ts'
import type { Columns } from './import-columns.ts'
import { importTexts } from './import-texts.ts'
import { type DateOrder, readDay, readStatus } from './import-values.ts'
import type { FileLine } from './read-table.ts'

const words = importTexts

/** What would become of a line of the file. */
export type Judged = FileLine &
  (
    | { state: 'ready'; draft: InvoiceDraft; says: null }
    | { state: 'duplicate'; draft: InvoiceDraft; says: string }
    | { state: 'bad'; draft: null; says: string }
  )

/** Judges every line by the rules for an invoice, by the invoices that are there, and by the lines before it. */
export function judgeLines(lines: FileLine[], columns: Columns, dates: DateOrder, invoices: Invoice[]): Judged[] {
  const references = new Set(invoices.map(({ reference }) => reference))
  const known = new Map<string, string>()
  for (const invoice of invoices) known.set(keyOf(invoice), words.duplicateOf(invoice.reference))
  return lines.map((line): Judged => {
    const parsed = invoiceDraft.safeParse(toDraft(line.cells, columns, dates))
    if (!parsed.success) {
      const says = [...new Set(parsed.error.issues.map((issue) => errorMessage(issue.path[0], issue.message, line.cells, columns)))].join(
        ' ',
      )
      return { ...line, state: 'bad', draft: null, says }
    }
    const { data: draft } = parsed
    const key = keyOf(draft)
    const twin = known.get(key)
    if (twin !== undefined) return { ...line, state: 'duplicate', draft, says: twin }
    if (draft.reference !== undefined) {
      if (references.has(draft.reference)) return { ...line, state: 'bad', draft: null, says: words.referenceTaken(draft.reference) }
      references.add(draft.reference)
    }
    known.set(key, words.duplicateLine(line.line))
    return { ...line, state: 'ready', draft, says: null }
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

/** Where a cell could not be read at all, how it should be written; else what the rule says. */
function errorMessage(field: PropertyKey | undefined, message: string, cells: string[], columns: Columns): string {
  const cell = (name: keyof Columns) => (columns[name] === null ? '' : (cells[columns[name]] ?? ''))
  if (field === 'status') return words.noStatus
  if (field === 'dueDate' && readDay(cell('dueDate'), 'dmy') === null) return words.noDate
  if (field === 'amount' && readAmount(cell('amount')) === null) return words.noAmount
  return message
}

/** Client email, amount and due date: what makes two invoices look the same. */
function keyOf({ clientEmail, amount, dueDate }: Pick<Invoice, 'clientEmail' | 'amount' | 'dueDate'>): string {
  return `${clientEmail.toLowerCase()} ${amount.toFixed(2)} ${dueDate.slice(0, 10)}`
}
