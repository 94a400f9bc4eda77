import { parentPort, workerData } from 'node:worker_threads'
import type { FileLayout } from '#contract/file-layouts.ts'
import type { KeptInvoice } from '#contract/import/again.ts'
import { askedInWords } from '#contract/import/asked.ts'
import type { CsvLimits, LongRow } from '#contract/import/csv.ts'
import { type InvoiceReading, layoutOfInvoices, readInvoiceSheet } from '#contract/import/invoices.ts'
import { keptAnswers } from '#contract/import/kept.ts'
import { headingsKey } from '#contract/import/layout.ts'
import { type CheckedRow, checkRows, missingFrom } from '#contract/import/lines.ts'
import { openCsv } from '#contract/import/table.ts'

/* A thread that reads one file, so that a large one does not delay emails and calls of others. */

/** Far more columns than any export that is recognised has. A cell of a spreadsheet has at most 32,767 characters. */
const limits = { rows: 20_000, columns: 1_000, length: 50_000 } satisfies CsvLimits

/** What it is handed. */
export interface Reading {
  bytes: Uint8Array<ArrayBuffer>
  today: string
  usual: string
  /** The currencies in use in the account. */
  held: string[]
  daysToPay: number | null
  /** Those that clients can be written to in. */
  languages: string[]
  /** What people have answered about files that they imported themselves. */
  layouts: Pick<FileLayout, 'headings' | 'answers'>[]
}

/** Which invoices the file is about, in answer to its references. */
export interface Known {
  invoices: KeptInvoice[]
  ofSource: Set<string>
  /** References of invoices from this address that were deleted here. */
  deleted: Set<string>
}

/** First it asks for invoices, by their references; then it answers. `asks`: what the file leaves open, in sentences. */
export type Read =
  | { kind: 'references'; references: string[] }
  | { kind: 'not-csv' | 'empty' | 'no-columns' | 'too-long' }
  | LongRow
  | { kind: 'rows'; checked: CheckedRow[]; missing: CheckedRow[]; asks: string[] }

const port = parentPort
if (port) {
  const { bytes, today, usual, held, daysToPay, languages, layouts } = workerData as Reading
  const say = (message: Read) => port.postMessage(message)
  const opened = openCsv(bytes.buffer, limits)
  // A page that asks to sign in is no file.
  const isPage = /^\s*(?:\uFEFF)?\s*</.test(new TextDecoder().decode(bytes.subarray(0, 200)))
  const sheet = opened.kind === 'sheets' ? opened.sheets[0] : undefined
  if (opened.kind === 'empty') say({ kind: 'empty' })
  else if (isPage) say({ kind: 'not-csv' })
  else if (opened.kind === 'long-row') say(opened)
  else if (!sheet) say({ kind: 'not-csv' })
  else if (sheet.rows.length > limits.rows) say({ kind: 'too-long' })
  else {
    const headings = headingsKey(layoutOfInvoices(sheet))
    const kept = layouts.find((one) => one.headings === headings)
    const answers = { ...keptAnswers(kept?.answers ?? []), ...(daysToPay === null ? {} : { 'days/due': String(daysToPay) }) }
    const reading = readInvoiceSheet(sheet, { usual, held, languages, answers })
    if (lacksColumns(reading)) say({ kind: 'no-columns' })
    else if (reading.rows.length === 0) say({ kind: 'empty' })
    else {
      port.once('message', ({ invoices, ofSource, deleted }: Known) => {
        const about = { invoices, ofSource, deleted, onExisting: 'update' as const, today, usual }
        const asks = reading.questions.map(askedInWords)
        say({ kind: 'rows', checked: checkRows(reading, about).filter(isOwn).map(shown), missing: missingFrom(reading, about), asks })
      })
      say({ kind: 'references', references: [...new Set(reading.rows.flatMap(({ reference }) => reference || []))] })
    }
  }
}

/** Whether a file lacks a column without which no row is an invoice that can be followed. */
function lacksColumns({ fields, program, questions }: InvoiceReading): boolean {
  const isAsked = questions.some(
    (one) => one.kind === 'column' && /^(clientName|clientEmail|amount|dueDate)$/.test(one.field) && one.columns.length !== 2,
  )
  return fields.reference === undefined || (program === null && (isAsked || fields.clientEmail === undefined))
}

/** Whether a row is more than a further item of an invoice. */
function isOwn(row: CheckedRow): boolean {
  return !(row.state === 'left' && row.isItem)
}

/** Of its cells a row is shown by the first one: all of them would take as much memory again where it is handed to. */
function shown(row: CheckedRow): CheckedRow {
  return { ...row, cells: row.cells.filter((cell) => cell !== '').slice(0, 1) }
}
