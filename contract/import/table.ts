import { type CellValue, type CsvLimits, type FileRow, type LongRow, readCsv } from './csv.ts'

/*
 * How a file of others is read, in four steps that are functions without a clock, a network or a screen. Bank files and lists of invoices differ
 * in their fields and words only.
 *
 *   1. Table    `table.ts`, `csv.ts`: bytes to sheets of rows; a workbook is opened by `web/ui/workbook.ts`, which brings its sheets in this form.
 *   2. Layout   `headings.ts`, `layout.ts`: which row has the headings and what each column is, by known layouts (data), else by whole words.
 *   3. Meaning  `meaning.ts`, with `days.ts`, `amounts.ts` and `words.ts`: a cell to a value that is certain, answered, asked about or refused.
 *   4. Review   `bank.ts` for bank files: what is recorded, what waits for an answer, what is left out and why.
 *
 * A reading has evidence, or it is a question: what no heading names is not filled by its content, and a column with one word that is not known is
 * asked about. Answers are kept by the headings of the file, so that the next file of the same bank asks nothing.
 */

export interface Sheet {
  /** null in a file that has one only. */
  name: string | null
  rows: FileRow[]
  /** Rows that are hidden in the workbook, by their numbers. They are not in `rows`. */
  hiddenRows: number[]
}

/** The sheets that have rows, without those that are hidden. */
export interface Sheets {
  kind: 'sheets'
  sheets: Sheet[]
  hiddenSheets: string[]
}

export type Opened = Sheets | { kind: 'workbook' | 'unknown-encoding' | 'empty' } | LongRow

/** The one sheet of a CSV file. `workbook`: the bytes are no text, and perhaps a workbook. */
export function openCsv(bytes: ArrayBuffer, limits: CsvLimits): Opened {
  const table = readCsv(bytes, limits)
  if (table.kind === 'long-row') return table
  if (table.kind === 'rows') return { kind: 'sheets', sheets: [{ name: null, rows: table.rows, hiddenRows: [] }], hiddenSheets: [] }
  return { kind: table.kind === 'not-csv' ? 'workbook' : table.kind }
}

/** What a workbook says of a cell; undefined in a CSV file. */
export function cellValue(row: FileRow, column: number): CellValue | undefined {
  return row.values?.[column]
}

/** A cell's text; empty where there is no such column. */
export function textOf(row: FileRow, column: number | null): string {
  return column === null ? '' : (row.cells[column] ?? '').trim()
}
