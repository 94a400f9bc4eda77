import { expect, test } from 'vitest'
import { type FileRow, readCsv } from './csv.ts'

const bytes = (text: string) => new TextEncoder().encode(text).buffer
const rowsOf = (content: ArrayBuffer) => {
  const table = readCsv(content)
  return table.kind === 'rows' ? table.rows : table.kind
}

test('the separator of a file is detected, and blank rows keep their number', () => {
  expect(rowsOf(bytes('a;b\r\n\r\n"x;y";2\r\n'))).toEqual([
    { number: 1, cells: ['a', 'b'] },
    { number: 3, cells: ['x;y', '2'] },
  ])
  expect(rowsOf(bytes('a\tb\n1\t2'))).toEqual([
    { number: 1, cells: ['a', 'b'] },
    { number: 2, cells: ['1', '2'] },
  ])
})

test('within limits a file is read piece by piece as it is in one piece, but for blank cells at the end of a row', () => {
  const lines = ['No;Name;Note;', '1;Kaveri Foods;', '', '2;"Zenith; ""Labs""";"two\n\nlines";', ';;;', "3;Paper Ltd;'=1;", '']
  for (const end of ['\n', '\r\n', '\r']) {
    const file = bytes(lines.join(end))
    const whole = rowsOf(file) as FileRow[]
    const rows = whole.map(({ number, cells }) => ({ number, cells: cells.slice(0, cells.findLastIndex((cell) => cell !== '') + 1) }))
    for (let length = 40; length < 60; length += 1) expect(readCsv(file, { rows: 9, columns: 3, length })).toEqual({ kind: 'rows', rows })
  }
})

test('a file is not read behind its limits: one row more than are allowed, or a row that is too long, which is named', () => {
  const limits = { rows: 3, columns: 4, length: 20 }
  const numbers = (content: string) => {
    const table = readCsv(bytes(content), limits)
    return table.kind === 'rows' ? table.rows.map(({ number }) => number) : table
  }
  expect(numbers('a,b\n\n1,2\n'.repeat(500))).toEqual([1, 3, 4, 6])
  expect(numbers(`${'\n'.repeat(500)}a,b`)).toEqual([501])
  expect(numbers('\n'.repeat(500))).toEqual({ kind: 'empty' })
  expect(numbers('a,b\n\n1,2,3,4,5')).toEqual({ kind: 'long-row', number: 3 })
  expect(numbers(`a,b\n${','.repeat(19)}\n1,2,3,4,,,`)).toEqual([1, 3])
  expect(numbers(`a,b\n${'x'.repeat(22)}\n1,2`)).toEqual({ kind: 'long-row', number: 2 })
  expect(numbers(`a,b\n1,"2\n${'3,4\n'.repeat(500)}`)).toEqual({ kind: 'long-row', number: 2 })
})

test('the encodings that Excel writes are detected', () => {
  const windows = Uint8Array.from([0x4d, 0xfc, 0x6c, 0x6c, 0x65, 0x72, 0x2c, 0x31]).buffer
  expect(rowsOf(windows)).toEqual([{ number: 1, cells: ['Müller', '1'] }])
  const shiftJis = Uint8Array.from([0x83, 0x58, 0x83, 0x5e, 0x81, 0x5b, 0x2c, 0x31]).buffer
  expect(rowsOf(shiftJis)).toEqual([{ number: 1, cells: ['スター', '1'] }])
  const marked = bytes('\uFEFFनाम,1')
  expect(rowsOf(marked)).toEqual([{ number: 1, cells: ['नाम', '1'] }])
})

test('a spreadsheet is reported as not CSV, an empty file as empty', () => {
  expect(rowsOf(bytes('PK\u0003\u0004rest'))).toBe('not-csv')
  expect(rowsOf(bytes('\n\n  \n'))).toBe('empty')
})

test('a file in an unknown encoding is rejected', () => {
  const unknown = Uint8Array.from([0x81, 0x20, 0x9d, 0x2c, 0x31]).buffer
  expect(rowsOf(unknown)).toBe('unknown-encoding')
  const unmarked = Uint8Array.from([0x61, 0, 0x2c, 0, 0x62, 0]).buffer
  expect(rowsOf(unmarked)).toBe('unknown-encoding')
  const marked = Uint8Array.from([0xff, 0xfe, 0x61, 0, 0x2c, 0, 0x62, 0]).buffer
  expect(rowsOf(marked)).toEqual([{ number: 1, cells: ['a', 'b'] }])
})

test('a formula that an export escaped is read without the escape, and text in a formula without it', () => {
  expect(rowsOf(bytes("'=SUM(1),'it is"))).toEqual([{ number: 1, cells: ['=SUM(1)', "'it is"] }])
  expect(rowsOf(bytes('="000123","=""200""",=A1'))).toEqual([{ number: 1, cells: ['000123', '200', '=A1'] }])
})
