import { utils, write } from '@e965/xlsx'
import { expect, test } from 'vitest'
import { readWorkbook } from './xlsx.ts'

const most = 20_000
type Cell = { v: string | number | boolean; t: 's' | 'n' | 'b'; z?: string }

/** A workbook of these sheets. */
function workbook(...sheets: Cell[][][]): ArrayBuffer {
  const book = utils.book_new()
  for (const [index, rows] of sheets.entries()) utils.book_append_sheet(book, utils.aoa_to_sheet(rows), `Sheet ${index + 1}`)
  return write(book, { type: 'array', bookType: 'xlsx', compression: true }) as ArrayBuffer
}
const text = (v: string): Cell => ({ v, t: 's' })
const number = (v: number, z = 'General'): Cell => ({ v, t: 'n', z })

test('a workbook is read as its CSV file would be: full numbers with their currency, dates, references with their zeros', () => {
  const rows = [
    ['Client', 'Amount', 'Due', 'No'].map(text),
    [text('Kaveri'), number(0.1 + 0.2, '0.0'), number(46112, 'dd/mm/yyyy'), number(7, '0000')],
    [],
    [text(' Acme '), number(1234.5, '[$€-407] #,##0'), number(46112.75, 'yyyy-mm-dd hh:mm'), { v: true, t: 'b' } satisfies Cell],
  ]
  expect(readWorkbook(workbook([[]], rows), most)).toEqual({
    kind: 'rows',
    rows: [
      { number: 1, cells: ['Client', 'Amount', 'Due', 'No'] },
      { number: 2, cells: ['Kaveri', '0.3', '2026-03-31', '0007'] },
      { number: 4, cells: ['Acme', 'EUR 1234.5', '2026-03-31', 'true'] },
    ],
  })
})

test('a workbook without lines, one that unpacks to too much, and another archive are not read; of too many lines one more is', () => {
  expect(readWorkbook(workbook([[]]), most)).toEqual({ kind: 'empty' })
  const good = workbook([[text('a')]])
  const bomb = new DataView(good.slice(0))
  let at = bomb.byteLength - 22
  while (bomb.getUint32(at, true) !== 0x06054b50) at -= 1
  bomb.setUint32(bomb.getUint32(at + 16, true) + 24, 0xfffffff0, true)
  expect(readWorkbook(bomb.buffer, most)).toEqual({ kind: 'not-csv' })
  expect(readWorkbook(new TextEncoder().encode('PK\u0003\u0004rest').buffer, most)).toEqual({ kind: 'not-csv' })
  const long = readWorkbook(workbook(Array.from({ length: 12 }, (_, index) => [number(index)])), 10)
  expect(long.kind === 'rows' && long.rows.length).toBe(11)
})
