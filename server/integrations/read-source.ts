import { parentPort, workerData } from 'node:worker_threads'
import type { KeptInvoice } from '#contract/import/again.ts'
import { guessMapping, requiredFields } from '#contract/import/columns.ts'
import { bodyOf, type CsvLimits, type LongRow, readCsv } from '#contract/import/csv.ts'
import { type CheckedRow, checkRows, missingFrom } from '#contract/import/lines.ts'
import { asTable, recognise } from '#contract/import/sources.ts'

/* A thread that reads one file, so that a large one does not delay emails and calls of others. */

/** Far more columns than any export that is recognised has. A cell of a spreadsheet has at most 32,767 characters. */
const limits = { rows: 20_000, columns: 1_000, length: 50_000 } satisfies CsvLimits

/** What it is handed. */
export interface Reading {
  bytes: Uint8Array<ArrayBuffer>
  today: string
  usual: string
  daysToPay: number | null
  /** Those that clients can be written to in. */
  languages: string[]
}

/** Which invoices the file is about, in answer to its references. */
export interface Known {
  invoices: KeptInvoice[]
  ofSource: Set<string>
  /** References of invoices from this address that were deleted here. */
  deleted: Set<string>
}

/** First it asks for invoices, by their references; then it answers. */
export type Read =
  | { kind: 'references'; references: string[] }
  | { kind: 'not-csv' | 'empty' | 'no-columns' | 'too-long' }
  | LongRow
  | { kind: 'rows'; checked: CheckedRow[]; missing: CheckedRow[] }

const port = parentPort
if (port) {
  const { bytes, today, usual, daysToPay, languages } = workerData as Reading
  const say = (message: Read) => port.postMessage(message)
  const table = readCsv(bytes.buffer, limits)
  // A page that asks to sign in is no file.
  const isPage = /^\s*(?:\uFEFF)?\s*</.test(new TextDecoder().decode(bytes.subarray(0, 200)))
  if (table.kind === 'empty') say({ kind: 'empty' })
  else if (isPage) say({ kind: 'not-csv' })
  else if (table.kind === 'long-row') say(table)
  else if (table.kind !== 'rows') say({ kind: 'not-csv' })
  else if (table.rows.length > limits.rows) say({ kind: 'too-long' })
  else {
    const source = recognise(table.rows)
    const rows = source === null ? table.rows : asTable(table.rows, source, { daysToPay, addresses: null, usual })
    const mapping = guessMapping(rows)
    const { reference } = mapping.columns
    const body = bodyOf(rows, mapping)
    if (reference === null || requiredFields.some((field) => mapping.columns[field] === null))
      say({ kind: body.length === 0 ? 'empty' : 'no-columns' })
    else {
      port.once('message', ({ invoices, ofSource, deleted }: Known) => {
        const about = { invoices, ofSource, deleted, onExisting: 'update' as const, today, usual, languages, answers: {} }
        say({ kind: 'rows', checked: checkRows(rows, mapping, about).map(shown), missing: missingFrom(rows, mapping, about) })
      })
      say({ kind: 'references', references: [...new Set(body.flatMap(({ cells }) => cells[reference] || []))] })
    }
  }
}

/** Of its cells a row is shown by the first one: all of them would take as much memory again where it is handed to. */
function shown(row: CheckedRow): CheckedRow {
  return { ...row, cells: row.cells.filter((cell) => cell !== '').slice(0, 1) }
}
