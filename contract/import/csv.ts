import Papa from 'papaparse'
import { currencyOfHeader, type DateOrder } from './cells.ts'

/** `number` is the row number that a spreadsheet shows. */
export interface FileRow {
  number: number
  cells: string[]
}

/** The index of each field's column; null if the file has none. */
export type FileColumns<Field extends string> = Record<Field, number | null>

/** Where the column names are and which column has which field. */
export interface FileMapping<Field extends string> {
  /** The index of the row with the column names among the file's rows; null where there is none. */
  header: number | null
  columns: FileColumns<Field>
  dates: DateOrder
}

export type Table = { kind: 'rows'; rows: FileRow[] } | { kind: 'not-csv' | 'unknown-encoding' | 'empty' }

/** The rows behind the column names. */
export function bodyOf(rows: FileRow[], { header }: Pick<FileMapping<string>, 'header'>): FileRow[] {
  return header === null ? rows : rows.slice(header + 1)
}

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

/** A column's name without case, spaces, punctuation and the currency of its amounts: `*InvoiceAmountDue (INR)` is `invoiceamountdue`. */
export function columnName(cell: string): string {
  const code = currencyOfHeader(cell)
  const bare = code === null ? cell : cell.replace(/[([].*[)\]]|\bin [a-z]{3}\b|\b[A-Z]{3}$|[₹$€£]|\brs\.?/gi, '')
  return bare.toLowerCase().replace(/[^\p{L}\p{N}\p{M}#]/gu, '')
}

/** Guesses the columns by their names: the patterns of each field are in the order of their rank, the most exact first. */
export function guessByNames<Field extends string>(head: string[], patterns: Record<Field, RegExp[]>): FileColumns<Field> {
  const names = head.map(columnName)
  const fields = Object.entries<RegExp[]>(patterns) as [Field, RegExp[]][]
  const guess = Object.fromEntries(fields.map(([field]) => [field, null])) as FileColumns<Field>
  const taken = new Set<number>()
  for (let rank = 0; rank < Math.max(...fields.map(([, ranked]) => ranked.length)); rank += 1) {
    for (const [field, { [rank]: pattern }] of fields) {
      if (guess[field] !== null || !pattern) continue
      const found = names.findIndex((name, index) => !taken.has(index) && pattern.test(name))
      if (found < 0) continue
      guess[field] = found
      taken.add(found)
    }
  }
  return guess
}

/** Guesses whether dates begin with the day or the month, by numbers above 12 in the column, else in any other; otherwise the day. */
export function guessDates(rows: FileRow[], column: number | null): DateOrder {
  if (column === null) return 'dmy'
  const order = (cells: (cells: string[]) => string[]): DateOrder | null => {
    const parts = rows.flatMap((row) => cells(row.cells)).map((cell) => /^(\d{1,2})[/.\- ](\d{1,2})[/.\- ]\d{2,4}/.exec(cell))
    const above = (group: 1 | 2) => parts.filter((found) => Number(found?.[group] ?? 0) > 12).length
    return above(2) > above(1) ? 'mdy' : above(1) > 0 ? 'dmy' : null
  }
  return order((cells) => [cells[column] ?? '']) ?? order((cells) => cells) ?? 'dmy'
}
