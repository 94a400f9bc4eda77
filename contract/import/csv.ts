import Papa, { type ParseResult } from 'papaparse'

/** What a workbook says of a cell beyond its text. */
export type CellValue =
  /** A number, in full; `currency`: of its format, a code or a sign; `day`: the one that it counts, where it could be a date without a format. */
  | { number: number; currency: string | null; day?: string }
  /** A day, `YYYY-MM-DD`: the cell is a date of the workbook. */
  | { date: string }
  /** A formula that was saved without its result. */
  | { formula: true }

/** `number` is the row number that a spreadsheet shows. */
export interface FileRow {
  number: number
  cells: string[]
  /** What a workbook says of its cells. */
  values?: (CellValue | undefined)[]
}

export type Table = { kind: 'rows'; rows: FileRow[] } | { kind: 'not-csv' | 'unknown-encoding' | 'empty' }

/** How much of a file is read. */
export interface CsvLimits {
  /** Rows that are not blank; one more is read, so that the caller sees that there are more. */
  rows: number
  /** Up to the last cell that is not blank. */
  columns: number
  /** Characters of one row. */
  length: number
}

/** A row beyond the limits, by its number. */
export interface LongRow {
  kind: 'long-row'
  number: number
}

/** As much of a file as its separator and its line breaks are detected by. */
const detectedBy = 1024 * 1024

/**
 * The rows of a CSV file that are not blank; the separator and the encoding are detected. Within limits a file is read piece by piece, and not
 * behind them: a few MB of line breaks are millions of rows.
 */
export function readCsv(bytes: ArrayBuffer): Table
export function readCsv(bytes: ArrayBuffer, limits: CsvLimits): Table | LongRow
export function readCsv(bytes: ArrayBuffer, limits?: CsvLimits): Table | LongRow {
  const start = new Uint8Array(bytes.slice(0, 4))
  // PK: a zip, as .xlsx and .ods are; D0 CF: an old .xls.
  if ((start[0] === 0x50 && start[1] === 0x4b) || (start[0] === 0xd0 && start[1] === 0xcf)) return { kind: 'not-csv' }
  const text = decode(bytes, start)
  if (text === null || text.includes('\0')) return { kind: 'unknown-encoding' }
  // Blank rows would mislead the detection of the separator.
  const { meta } = Papa.parse<string[]>(text.slice(0, detectedBy), { skipEmptyLines: 'greedy', preview: 30 })
  const parser = new Papa.Parser({ delimiter: meta.delimiter, newline: meta.linebreak as '\n' })
  const size = limits ? limits.length + meta.linebreak.length : text.length
  const rows: FileRow[] = []
  let number = 0
  for (let at = 0; at < text.length; ) {
    const isLast = at + size >= text.length
    // A row that the piece has only the beginning of is left for the next one.
    const piece = parser.parse(text.slice(at, at + size), at, !isLast) as ParseResult<string[]>
    for (const row of piece.data) {
      number += 1
      const width = row.findLastIndex((cell) => cell.trim() !== '') + 1
      if (width === 0) continue
      if (limits && width > limits.columns) return { kind: 'long-row', number }
      // Blank cells at the end take memory, but the browser shows their columns.
      rows.push({ number, cells: (limits ? row.slice(0, width) : row).map(unescapeFormula) })
      if (limits && rows.length > limits.rows) return { kind: 'rows', rows }
    }
    if (isLast) break
    if (piece.meta.cursor === at) return { kind: 'long-row', number: number + 1 }
    at = piece.meta.cursor
  }
  return rows.length === 0 ? { kind: 'empty' } : { kind: 'rows', rows }
}

/** UTF-8, or what Excel writes: UTF-16 with a byte order mark, Windows-1252, or in Japan Shift JIS. Null if it is none of them. */
function decode(bytes: ArrayBuffer, start: Uint8Array): string | null {
  if (start[0] === 0xff && start[1] === 0xfe) return new TextDecoder('utf-16le').decode(bytes)
  if (start[0] === 0xfe && start[1] === 0xff) return new TextDecoder('utf-16be').decode(bytes)
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    const text = new TextDecoder('windows-1252').decode(bytes)
    // Five bytes are undefined in Windows-1252: with one of them the encoding is another.
    return /[\u0080-\u009f]/.test(text) ? decodeJapanese(bytes) : text
  }
}

/** Shift JIS, where it is all that the bytes can be and has Japanese letters. */
function decodeJapanese(bytes: ArrayBuffer): string | null {
  try {
    const text = new TextDecoder('shift_jis', { fatal: true }).decode(bytes)
    return /[\u3040-\u30ff\u4e00-\u9fff]{2}/.test(text) ? text : null
  } catch {
    return null
  }
}

/** Removes what exports put around text that a spreadsheet would change: the apostrophe before a formula, ours included, and `="000123"`. */
function unescapeFormula(cell: string): string {
  const text = cell.trim()
  const quoted = /^=\s*"((?:[^"]|"")*)"$/.exec(text)?.[1]
  if (quoted !== undefined) return quoted.replaceAll('""', '"').trim()
  return /^'\s*[=+\-@]/.test(text) ? text.slice(1).trim() : text
}
