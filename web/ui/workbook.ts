import { type CellObject, read, SSF, type WorkSheet } from '@e965/xlsx'
import type { CellValue, FileRow } from '#contract/import/csv.ts'
import type { Opened, Sheet } from '#contract/import/table.ts'

/** The most that a workbook may be unpacked: a file of 10 MB can hold gigabytes of one letter. */
const mostUnpacked = 150 * 1024 * 1024

/** The visible sheets of a workbook (XLSX, XLS, ODS) with their visible rows; of each sheet at most `most` rows, and one more. */
export function readWorkbook(bytes: ArrayBuffer, most: number): Opened {
  const start = new Uint8Array(bytes.slice(0, 2))
  const isArchive = start[0] === 0x50 && start[1] === 0x4b
  const unpacked = isArchive ? unpackedSize(bytes) : bytes.byteLength
  if (unpacked === null || unpacked > mostUnpacked) return { kind: 'workbook' }
  // `cellStyles`: without it the library forgets which rows are hidden. `sheetStubs`: and formulas that have no result.
  const book = read(bytes, {
    type: 'array',
    dense: true,
    cellNF: true,
    cellFormula: true,
    cellHTML: false,
    cellStyles: true,
    sheetStubs: true,
    sheetRows: most + 1,
  })
  const is1904 = book.Workbook?.WBProps?.date1904 === true
  const isHidden = (at: number) => (book.Workbook?.Sheets?.[at]?.Hidden ?? 0) > 0
  const hiddenSheets: string[] = []
  const sheets = book.SheetNames.flatMap((name, at) => {
    const sheet = readSheet(name, book.Sheets[name], is1904)
    if (sheet.rows.length === 0 && sheet.hiddenRows.length === 0) return []
    if (isHidden(at)) hiddenSheets.push(name)
    return isHidden(at) || sheet.rows.length === 0 ? [] : [sheet]
  })
  return sheets.length === 0 && hiddenSheets.length === 0 ? { kind: 'empty' } : { kind: 'sheets', sheets, hiddenSheets }
}

function readSheet(name: string, sheet: WorkSheet | undefined, is1904: boolean): Sheet {
  const lines = (sheet?.['!data'] ?? []) as (CellObject | undefined)[][]
  const found: Sheet = { name, rows: [], hiddenRows: [] }
  for (const [index, line] of lines.entries()) {
    const row = readRow(index + 1, line ?? [], is1904)
    if (row === null) continue
    if (sheet?.['!rows']?.[index]?.hidden) found.hiddenRows.push(row.number)
    else found.rows.push(row)
  }
  return found
}

function readRow(number: number, line: (CellObject | undefined)[], is1904: boolean): FileRow | null {
  const values: (CellValue | undefined)[] = []
  const cells: string[] = []
  for (const [column, cell] of Array.from(line).entries()) {
    const [text, value] = readCell(cell, is1904)
    cells[column] = text
    if (value !== undefined) values[column] = value
  }
  const isBlank = cells.every((text) => text === '') && values.every((value) => value === undefined)
  return isBlank ? null : { number, cells, ...(values.length === 0 ? {} : { values }) }
}

/** A cell's text as the workbook shows it, and its value: numbers in full, dates as 2026-03-31. */
function readCell(cell: CellObject | undefined, is1904: boolean): [string, CellValue?] {
  if (!cell) return ['']
  if (cell.v === undefined || cell.v === null || cell.t === 'z') return cell.f === undefined ? [''] : ['', { formula: true }]
  if (cell.t !== 'n' || typeof cell.v !== 'number') return [String(cell.t === 'e' ? (cell.w ?? '') : cell.v).trim()]
  const format = String(cell.z ?? 'General')
  if (SSF.is_date(format)) {
    const date = dayOf(cell.v, is1904)
    return [date, { date }]
  }
  const shown = (cell.w ?? '').trim()
  // The library shortens long numbers that have no format.
  const text = /^(general|@|0)$/i.test(format) || /e[+-]/i.test(shown) ? inFull(cell.v) : shown
  const isDay = Number.isInteger(cell.v) && cell.v > 30_000 && cell.v < 75_000 && /^general$/i.test(format)
  return [text, { number: cell.v, currency: currencyOf(format, shown), ...(isDay ? { day: dayOf(cell.v, is1904) } : {}) }]
}

function dayOf(serial: number, is1904: boolean): string {
  const { y, m, d } = SSF.parse_date_code(serial, { date1904: is1904 }) as { y: number; m: number; d: number }
  return `${y}-${String(m).padStart(2, '0')}-${String(d).padStart(2, '0')}`
}

function inFull(number: number): string {
  const text = String(Number(number.toPrecision(15)))
  return /e/.test(text) ? number.toLocaleString('en-US', { useGrouping: false, maximumFractionDigits: 20 }) : text
}

/** The currency that a format writes: `[$€-407]`, `[$USD]`, `"Rs."`; else the sign that is shown. */
function currencyOf(format: string, shown: string): string | null {
  const named = /\[\$([^\]-]+)(?:-[\dA-F]+)?\]/i.exec(format)?.[1]?.trim()
  if (named) return named
  const sign = /[A-Z]{0,2}\p{Sc}/u.exec(shown)?.[0]
  if (sign) return sign
  const word = /^-?\(?\s*([A-Za-z]{2,3})\.?\s*[\d(-]|[\d)]\s*([A-Z]{3}|kr|zł|Kč)\.?\)?$/.exec(shown)
  return word?.[1] ?? word?.[2] ?? null
}

/** The unpacked size of a ZIP archive, from its directory; null where it is none. */
function unpackedSize(bytes: ArrayBuffer): number | null {
  const view = new DataView(bytes)
  let end = view.byteLength - 22
  while (end >= 0 && view.getUint32(end, true) !== 0x06054b50) end -= 1
  if (end < 0) return null
  let at = view.getUint32(end + 16, true)
  let sum = 0
  for (let count = view.getUint16(end + 10, true); count > 0; count -= 1) {
    if (at + 46 > view.byteLength || view.getUint32(at, true) !== 0x02014b50) return null
    sum += view.getUint32(at + 24, true)
    at += 46 + view.getUint16(at + 28, true) + view.getUint16(at + 30, true) + view.getUint16(at + 32, true)
  }
  return sum
}
