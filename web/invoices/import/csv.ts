import Papa from 'papaparse'

/** `number` is the row number that a spreadsheet shows. */
export interface FileRow {
  number: number
  cells: string[]
}

export type Table = { kind: 'rows'; rows: FileRow[] } | { kind: 'not-csv' | 'unknown-encoding' | 'empty' }

/** The rows of a CSV file that are not blank; the separator and the encoding are detected. */
export function readCsv(bytes: ArrayBuffer): Table {
  const start = new Uint8Array(bytes.slice(0, 4))
  // PK: a zip, as .xlsx and .ods are; D0 CF: an old .xls.
  if ((start[0] === 0x50 && start[1] === 0x4b) || (start[0] === 0xd0 && start[1] === 0xcf)) return { kind: 'not-csv' }
  const text = decode(bytes, start)
  if (text === null || text.includes('\0')) return { kind: 'unknown-encoding' }
  // Blank rows would mislead the detection of the separator.
  const { meta } = Papa.parse<string[]>(text, { skipEmptyLines: 'greedy', preview: 30 })
  const { data } = Papa.parse<string[]>(text, { delimiter: meta.delimiter })
  const rows = data
    .map((cells, index) => ({ number: index + 1, cells: cells.map(unescapeFormula) }))
    .filter(({ cells }) => cells.some((cell) => cell !== ''))
  return rows.length === 0 ? { kind: 'empty' } : { kind: 'rows', rows }
}

/** UTF-8, or what Excel writes: UTF-16 with a byte order mark, or Windows-1252. Null if it is none of them. */
function decode(bytes: ArrayBuffer, start: Uint8Array): string | null {
  if (start[0] === 0xff && start[1] === 0xfe) return new TextDecoder('utf-16le').decode(bytes)
  if (start[0] === 0xfe && start[1] === 0xff) return new TextDecoder('utf-16be').decode(bytes)
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    const text = new TextDecoder('windows-1252').decode(bytes)
    // Five bytes are undefined in Windows-1252: with one of them the encoding is another.
    return /[\u0080-\u009f]/.test(text) ? null : text
  }
}

/** Removes the apostrophe that exports, ours included, put before text that looks like a formula. */
function unescapeFormula(cell: string): string {
  const text = cell.trim()
  return /^'\s*[=+\-@]/.test(text) ? text.slice(1).trim() : text
}

/** CSV in UTF-8 with a byte order mark; text that looks like a formula is escaped. */
export function writeCsv(rows: string[][]): Blob {
  return new Blob(['\uFEFF', Papa.unparse(rows, { quotes: true, escapeFormulae: true, newline: '\r\n' })], { type: 'text/csv' })
}
