import Papa from 'papaparse'

/** A line of a file: its number as spreadsheets count, and its cells. */
export interface FileRow {
  line: number
  cells: string[]
}

export type Table = { kind: 'lines'; lines: FileRow[] } | { kind: 'not-csv' | 'unknown-coding' | 'empty' }

/** The lines of a CSV file that are not blank, whatever separates its cells and however its letters are coded. */
export function readTable(bytes: ArrayBuffer): Table {
  const start = new Uint8Array(bytes.slice(0, 4))
  // PK: a zip, which is what .xlsx and .ods are; D0 CF: an old .xls.
  if ((start[0] === 0x50 && start[1] === 0x4b) || (start[0] === 0xd0 && start[1] === 0xcf)) return { kind: 'not-csv' }
  const text = decode(bytes, start)
  if (text === null || text.includes('\0')) return { kind: 'unknown-coding' }
  // Blank lines would mislead the guess at what separates the cells.
  const { meta } = Papa.parse<string[]>(text, { skipEmptyLines: 'greedy', preview: 30 })
  const { data } = Papa.parse<string[]>(text, { delimiter: meta.delimiter })
  const lines = data
    .map((cells, index) => ({ line: index + 1, cells: cells.map(undefuse) }))
    .filter(({ cells }) => cells.some((cell) => cell !== ''))
  return lines.length === 0 ? { kind: 'empty' } : { kind: 'lines', lines }
}

/** UTF-8 where it is, else what Excel writes: UTF-16 with a mark in front, or Windows-1252. Null where it is none of them. */
function decode(bytes: ArrayBuffer, start: Uint8Array): string | null {
  if (start[0] === 0xff && start[1] === 0xfe) return new TextDecoder('utf-16le').decode(bytes)
  if (start[0] === 0xfe && start[1] === 0xff) return new TextDecoder('utf-16be').decode(bytes)
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    const text = new TextDecoder('windows-1252').decode(bytes)
    // Five bytes mean nothing in Windows-1252: where one of them stands, the letters are of another coding.
    return /[\u0080-\u009f]/.test(text) ? null : text
  }
}

/** An apostrophe in front of what looks like a formula was put there by an export, ours too. */
function undefuse(cell: string): string {
  const text = cell.trim()
  return /^'\s*[=+\-@]/.test(text) ? text.slice(1).trim() : text
}

/** Lines as CSV in UTF-8 with a byte order mark; what begins like a formula is made text. */
export function writeTable(lines: string[][]): Blob {
  return new Blob(['\uFEFF', Papa.unparse(lines, { quotes: true, escapeFormulae: true, newline: '\r\n' })], { type: 'text/csv' })
}
