import type { FileRow } from './csv.ts'
import type { InvoiceLayout } from './invoice-layouts.ts'
import { exactness, type InvoiceColumn } from './invoice-words.ts'
import { columnKey, columnLabel, type Layout } from './layout.ts'
import type { Answers, Question } from './meaning.ts'
import { type Addresses, plain } from './people.ts'
import { textOf } from './table.ts'

/* What the parts of the reading of a list of invoices share. */

/** What a person can say that a column is, and what can be typed where a row lacks it. */
export const invoiceFields = [
  'clientName',
  'clientEmail',
  'amount',
  'dueDate',
  'issuedOn',
  'amountPaid',
  'balance',
  'status',
  'kind',
  'reference',
  'currency',
  'language',
] as const
export type InvoiceField = (typeof invoiceFields)[number]

/** What a person has typed into the rows of a file, by their numbers. */
export type Edits = Record<number, Partial<Record<InvoiceField, string>>>

export interface InvoiceContext {
  /** The account's currency: that of an amount for which the file names none. */
  usual: string
  /** The currencies in use in the account. */
  held: readonly string[]
  /** Those that emails can be written in. */
  languages: readonly string[]
  answers: Answers
  /** Of clients, from another file. */
  addresses?: Addresses | null
  edits?: Edits
}

/** What the column of a field can be, the best first. */
export const fieldColumns: Record<InvoiceField, InvoiceColumn[]> = {
  reference: ['number'],
  clientName: ['client'],
  clientEmail: ['email'],
  amount: ['gross', 'total', 'amount', 'item'],
  balance: ['balance'],
  amountPaid: ['paidAmount'],
  dueDate: ['due'],
  issuedOn: ['issued'],
  status: ['status'],
  kind: ['kind'],
  currency: ['currency'],
  language: ['language'],
}

/** A list of invoices while it is read. */
export interface InvoiceFile extends InvoiceContext {
  layout: Layout<InvoiceColumn>
  known: InvoiceLayout | null
  columns: InvoiceColumn[]
  questions: Map<string, Question>
  /** Columns that may be about payment, by the ids of their questions: what is owed depends on them. `isPaid`: unless the balance says it. */
  unclear: { id: string; isPaid: boolean }[]
  edits: Edits
  /** The columns of each field, once they are decided. */
  found: Map<InvoiceField, number[]>
}

export const labelOf = ({ layout }: Pick<InvoiceFile, 'layout'>, column: number) => ({
  heading: columnLabel(layout, column),
  key: columnKey(layout, column),
})

/** The columns of some kinds, the most exact heading first. */
export function columnsOf({ columns, layout }: Pick<InvoiceFile, 'columns' | 'layout'>, ...kinds: InvoiceColumn[]): number[] {
  return kinds.flatMap((kind) =>
    columns
      .flatMap((column, at) => (column === kind ? [at] : []))
      .toSorted((one, other) => exactness(layout.headings[one]?.key ?? '') - exactness(layout.headings[other]?.key ?? '')),
  )
}

/** The rows of one invoice: its first, and those with its further items. */
export interface Group {
  first: FileRow
  others: FileRow[]
}

/** A reference in the form that references are compared in: width, dashes, case and spaces make no difference. */
export function referenceKey(reference: string): string {
  return plain(reference.normalize('NFKC'))
    .replace(/[\p{Pd}−]/gu, '-')
    .replace(/\s+/g, '')
    .toLowerCase()
}

/** The text of a field: as a person typed it, else of the first of its columns that has one. */
export function fieldText(file: InvoiceFile, row: FileRow, field: InvoiceField): string {
  const typed = file.edits[row.number]?.[field]
  if (typed !== undefined) return plain(typed)
  let columns = file.found.get(field)
  if (!columns) {
    columns = columnsOf(file, ...fieldColumns[field])
    file.found.set(field, columns)
  }
  for (const at of columns) {
    const text = plain(textOf(row, at))
    if (text !== '') return text
  }
  return ''
}
