import { type CellObject, read, SSF } from '@e965/xlsx'
import { currencyOfAmount } from '#contract/import/cells.ts'
import type { FileRow, Table } from '#contract/import/csv.ts'

/* Read outside of the page, which stays usable meanwhile. */
if ('WorkerGlobalScope' in globalThis)
  self.onmessage = ({ data: { bytes, most } }: MessageEvent<{ bytes: ArrayBuffer; most: number }>) => {
    const answer = (table: Table) => self.postMessage(table)
    try {
      answer(readWorkbook(bytes, most))
    } catch {
      answer({ kind: 'not-csv' })
    }
  }

/** The most that a workbook may be unpacked: a file of 10 MB can hold gigabytes of one letter. */
const mostUnpacked = 150 * 1024 * 1024

/** The rows of the first sheet of a workbook that has any, as a CSV file of it would have them; at most `most` lines, and one more. */
export function readWorkbook(bytes: ArrayBuffer, most: number): Table {
  const unpacked = unpackedSize(bytes)
  if (unpacked === null || unpacked > mostUnpacked) return { kind: 'not-csv' }
  const book = read(bytes, { type: 'array', dense: true, cellNF: true, cellFormula: false, cellHTML: false, sheetRows: most + 1 })
  const is1904 = book.Workbook?.WBProps?.date1904 === true
  for (const name of book.SheetNames) {
    const lines = (book.Sheets[name]?.['!data'] ?? []) as (CellObject | undefined)[][]
    const rows: FileRow[] = []
    for (const [index, line] of lines.entries()) {
      const cells = Array.from(line ?? [], (cell) => textOf(cell, is1904))
      if (cells.some((cell) => cell !== '')) rows.push({ number: index + 1, cells })
    }
    if (rows.length > 0) return { kind: 'rows', rows }
  }
  return { kind: 'empty' }
}

/** A cell as text: numbers in full, with the currency of their format; dates as 2026-03-31. */
function textOf(cell: CellObject | undefined, is1904: boolean): string {
  if (!cell || cell.v === undefined || cell.v === null) return ''
  if (cell.t !== 'n' || typeof cell.v !== 'number') return String(cell.t === 'e' ? (cell.w ?? '') : cell.v).trim()
  const format = String(cell.z ?? '')
  if (SSF.is_date(format)) {
    const { y, m, d } = SSF.parse_date_code(cell.v, { date1904: is1904 }) as { y: number; m: number; d: number }
    return `${y}-${String(m).padStart(2, '0')}-${String(d).padStart(2, '0')}`
  }
  // A number such as 0007 is a reference.
  if (/^0{2,}$/.test(format)) return cell.w ?? String(cell.v)
  const number = String(Number(cell.v.toPrecision(15)))
  const currency = currencyOfAmount(cell.w ?? '')
  return currency === null ? number : `${currency} ${number}`
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
