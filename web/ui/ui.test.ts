import { utils, write } from '@e965/xlsx'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { readDate } from '#contract/dates.ts'
import {
  capitalized,
  dateIn,
  dayAndTime,
  daysBetween,
  showComing,
  showDate,
  showDay,
  showDayAndTime,
  showHour,
  showMoment,
  zoneName,
} from './dates.ts'
import { type DueItem, dotLabel, layOutDueLine } from './due-line-layout.ts'
import { adviceFor } from './texts.ts'
import { readWorkbook } from './workbook.ts'

test('a time zone is shown by its current name', () => {
  expect(['Asia/Calcutta', 'Asia/Kolkata', 'America/New_York'].map(zoneName)).toEqual(['Asia/Kolkata', 'Asia/Kolkata', 'America/New York'])
})

test('a date is read day first or as ISO 8601', () => {
  expect(readDate('31/03/2026')).toBe('2026-03-31')
  expect(readDate('1.4.26')).toBe('2026-04-01')
  expect(readDate('2026-03-31')).toBe('2026-03-31')
})

test('a day that does not exist is no date', () => {
  expect(readDate('31/02/2026')).toBeNull()
  expect(readDate('03/31/2026')).toBeNull()
  expect(readDate('tomorrow')).toBeNull()
})

test('today is the day in the account’s zone, not in the browser’s', () => {
  const lateEvening = new Date('2026-03-02T20:00:00Z')
  expect(dateIn('Asia/Kolkata', lateEvening)).toBe('2026-03-03')
  expect(dateIn('America/New_York', lateEvening)).toBe('2026-03-02')
})

test('days between dates ignore daylight saving changes', () => {
  expect(daysBetween('2026-03-28', '2026-03-30')).toBe(2)
  expect(daysBetween('2026-11-02', '2026-10-31')).toBe(-2)
})

test('dates are shown day/month/year', () => {
  expect(showDate('2026-11-02')).toBe('02/11/2026')
})

test('a past moment is shown as today, yesterday or its date', () => {
  const now = new Date('2026-11-21T07:00:00Z')
  expect(showMoment('Asia/Kolkata', new Date('2026-11-21T03:30:00Z'), now)).toBe('today, 09:00')
  expect(showMoment('Asia/Kolkata', new Date('2026-11-20T03:30:00Z'), now)).toBe('yesterday, 09:00')
  expect(showMoment('Asia/Kolkata', new Date('2026-11-02T03:30:00Z'), now)).toBe('02/11/2026, 09:00')
})

test('a future moment is shown in the account’s zone', () => {
  const now = new Date('2026-03-02T20:00:00Z')
  expect(showComing('Asia/Kolkata', new Date('2026-03-03T03:30:00Z'), now)).toBe('today, 09:00')
  expect(showComing('Europe/London', new Date('2026-03-03T09:00:00Z'), now)).toBe('tomorrow, 09:00')
  expect(capitalized(showComing('Asia/Kolkata', new Date('2026-03-09T03:30:00Z'), now))).toBe('09/03/2026, 09:00')
  expect(capitalized('tomorrow, 09:00')).toBe('Tomorrow, 09:00')
})

test('advice on a failed email depends on the codes of the answer, never on its text', () => {
  expect(adviceFor('550 5.1.1 No such user here')).toBe('Check the client’s email address on the invoice.')
  expect(adviceFor('552 5.2.2 Mailbox full')).toMatch(/^The client’s mailbox isn’t accepting mail/)
  expect(adviceFor('554 5.7.1 Message rejected as spam')).toMatch(/^The mail server rejected this email/)
  expect(adviceFor('550 mailbox full, spam, no such user')).toMatch(/^Check the client’s email address on the invoice, or ask/)
  expect(adviceFor('450 4.3.0 Try again later')).toMatch(/^The invoice is fine/)
  expect(adviceFor('Not sent in time.')).toMatch(/^The invoice is fine/)
})

test('a date with its time is shown in the account’s zone', () => {
  expect(dayAndTime('Asia/Kolkata', '2026-03-02T20:00:00Z')).toBe('03/03/2026, 01:30')
})

test('an hour is shown with AM or PM', () => {
  expect([6, 9, 12, 17].map(showHour)).toEqual(['6 AM', '9 AM', '12 PM', '5 PM'])
})

test('days are shown with their weekday in the account’s zone, and with the year where it is another one', () => {
  const now = new Date('2026-11-23T03:00:00Z')
  expect(showDay('Asia/Kolkata', '2026-11-23T20:00:00Z', now)).toBe('Tue 24/11')
  expect(showDay('Asia/Kolkata', '2027-01-02T03:30:00Z', now)).toBe('Sat 02/01/2027')
  expect(showDayAndTime('Asia/Kolkata', '2026-11-21T03:30:00Z', now)).toBe('Sat 21/11, 09:00')
})

const anItem = fc.record({
  id: fc.uuid(),
  name: fc.string(),
  amount: fc.integer({ min: 1, max: 9_999_999_999 }),
  currency: fc.constantFrom('INR', 'INR', 'EUR'),
  daysLate: fc.integer({ min: -4000, max: 4000 }),
})
const items = (max: number) =>
  fc
    .uniqueArray(anItem, { maxLength: max, selector: ({ id }) => id })
    .map((list): DueItem[] => list.map((item) => ({ ...item, email: item.name, late: item.daysLate > 0 })))
const widths = fc.integer({ min: 280, max: 1200 })

test('every open invoice is on the due line exactly once', () => {
  fc.assert(
    fc.property(items(300), widths, (list, width) => {
      const drawn = layOutDueLine(list, width, 'INR').dots.flatMap((dot) => dot.items.map(({ id }) => id))
      expect(drawn.toSorted()).toEqual(list.map(({ id }) => id).toSorted())
    }),
  )
})

test('overdue invoices are right of today, others left, all inside the frame', () => {
  fc.assert(
    fc.property(items(200), widths, (list, width) => {
      const { dots, todayX } = layOutDueLine(list, width, 'INR')
      for (const { x, radius, items: together } of dots) {
        for (const { daysLate } of together) expect(daysLate > 0 ? x > todayX : x < todayX).toBe(true)
        expect(x - radius).toBeGreaterThanOrEqual(0)
        expect(x + radius).toBeLessThanOrEqual(width)
      }
    }),
  )
})

test('many invoices become few dots that do not overlap and add up', () => {
  const crowd: DueItem[] = Array.from({ length: 1000 }, (_, index) => {
    const daysLate = ((index * 7919) % 140) - 70
    return { id: String(index), name: 'Kaveri Foods', email: 'kaveri', currency: 'INR', amount: 100 + index, daysLate, late: daysLate > 0 }
  })
  const { dots } = layOutDueLine(crowd, 1000, 'INR')
  expect(dots.length).toBeLessThan(40)
  expect(dots.flatMap((dot) => dot.items).length).toBe(crowd.length)
  for (const [index, dot] of dots.entries()) {
    const next = dots[index + 1]
    if (next) expect(next.x - next.radius).toBeGreaterThanOrEqual(dot.x + dot.radius)
  }
})

const anItemOf = (id: string, amount: number, daysLate: number, currency = 'INR'): DueItem => ({
  id,
  name: `Client ${id}`,
  email: id,
  currency,
  amount,
  daysLate,
  late: daysLate > 0,
})

test('the radius grows with the logarithm of the amount, so that one huge invoice does not hide the others', () => {
  const radiusOf = (items: DueItem[], id: string) => layOutDueLine(items, 900, 'INR').dots.find(({ key }) => key === id)?.radius ?? 0
  const usual = [anItemOf('a', 4_000_000, 3), anItemOf('b', 1_000_000, -9), anItemOf('c', 100_000, 20)]
  expect(radiusOf(usual, 'a')).toBeGreaterThan(radiusOf(usual, 'b'))
  expect(radiusOf(usual, 'b') - radiusOf(usual, 'c')).toBeCloseTo(0.3 * radiusOf(usual, 'a'))
  const withHuge = [...usual, anItemOf('d', 400_000_000, 40)]
  expect(radiusOf(withHuge, 'a')).toBeGreaterThan(0.35 * radiusOf(withHuge, 'd'))
  const { key } = layOutDueLine(usual, 900, 'INR')
  expect(key.map(({ amount }) => amount)).toEqual([10_000, 100_000, 1_000_000])
  expect(key.at(-1)?.radius).toBeCloseTo(radiusOf(usual, 'b'))
})

test('dots of different currencies are sized within their own, and a group names each sum', () => {
  const mixed = [anItemOf('a', 1_000_000, 3), anItemOf('b', 500, -9, 'EUR'), anItemOf('c', 50, 20, 'EUR')]
  const { dots, key } = layOutDueLine(mixed, 900, 'INR')
  const radius = (id: string) => dots.find((dot) => dot.key === id)?.radius ?? 0
  expect(radius('b')).toBe(radius('a'))
  expect(radius('c')).toBeLessThan(radius('b'))
  expect(key).toEqual([])
  const together = [
    anItemOf('a', 5000, 40),
    anItemOf('b', 120, 40, 'EUR'),
    ...Array.from({ length: 9 }, (_, n) => anItemOf(`c${n}`, 1, 40)),
  ]
  const [dot] = layOutDueLine(together, 324, 'INR').dots
  expect(dot && dotLabel(dot, 'INR')[1]).toBe('₹5,009.00 + €120.00')
  const [name] = layOutDueLine(together, 900, 'INR').names
  expect(name && name.x + (name.amount.length * 7.8) / 2).toBeLessThanOrEqual(900)
})

test('the three largest are named, one on a phone, clear of dots, of each other and of today', () => {
  const few = [anItemOf('a', 42_000_000, 34), anItemOf('b', 9_600_000, -13), anItemOf('c', 4_850_000, 19), anItemOf('d', 300_000, 5)]
  expect(layOutDueLine(few, 900, 'INR').names.map(({ key }) => key)).toEqual(['a', 'b', 'c'])
  expect(layOutDueLine(few, 324, 'INR').names.map(({ key }) => key)).toEqual(['a'])
  fc.assert(
    fc.property(items(40), widths, (list, width) => {
      const { dots, names, todayX } = layOutDueLine(list, width, 'INR')
      for (const { x, y, name, amount } of names) {
        const half = Math.max(Math.min(150, name.length * 7.6), amount.length * 7.8) / 2
        expect(x - half).toBeGreaterThanOrEqual(-0.001)
        expect(x + half).toBeLessThanOrEqual(width + 0.001)
        expect(y - 34).toBeGreaterThanOrEqual(0)
        expect(x + half <= todayX - 4 || x - half >= todayX + 4).toBe(true)
        for (const dot of dots) if (Math.abs(dot.x - x) < half + dot.radius) expect(dot.y - dot.radius).toBeGreaterThanOrEqual(y)
      }
    }),
  )
})

test('a group dot is large enough for its number', () => {
  fc.assert(
    fc.property(items(99), widths, (list, width) => {
      for (const { items: together, radius } of layOutDueLine(list, width, 'INR').dots)
        if (together.length > 1) expect(radius).toBeGreaterThanOrEqual(together.length > 9 ? 12 : 9)
    }),
  )
})

test('no dot covers another, or the word today', () => {
  fc.assert(
    fc.property(items(60), widths, (list, width) => {
      const { dots, todayX } = layOutDueLine(list, width, 'INR')
      for (const [index, one] of dots.entries()) {
        for (const other of dots.slice(index + 1))
          expect(Math.hypot(one.x - other.x, one.y - other.y)).toBeGreaterThanOrEqual(one.radius + other.radius)
        const top = one.y - one.radius
        if (one.x < todayX && one.x + one.radius > todayX - 46) expect(top).toBeGreaterThanOrEqual(22)
      }
    }),
  )
})

test('nine equal invoices of one day are one dot labelled 9', () => {
  const nine: DueItem[] = Array.from({ length: 9 }, (_, index) => ({
    id: String(index),
    name: 'Nila Printers',
    email: 'nila',
    currency: 'INR',
    amount: 2_230_000,
    daysLate: 324,
    late: true,
  }))
  for (const width of [324, 900]) expect(layOutDueLine(nine, width, 'INR').dots.map(({ items: together }) => together.length)).toEqual([9])
})

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

const sheetsOf = (bytes: ArrayBuffer) => {
  const opened = readWorkbook(bytes, most)
  return opened.kind === 'sheets' ? opened : { sheets: [], hiddenSheets: [opened.kind] }
}

test('a cell of a workbook is shown as there, with the number or the day that it has', () => {
  const rows = [
    ['Client', 'Amount', 'Due', 'No'].map(text),
    [text('Kaveri'), number(0.1 + 0.2, '0.0'), number(46112, 'dd/mm/yyyy'), number(7, '0000')],
    [],
    [text(' Acme '), number(1234.5, '[$€-407] #,##0.00'), number(46112.75, 'yyyy-mm-dd hh:mm'), number(8, '"INV-"0000')],
    [{ v: true, t: 'b' } satisfies Cell, number(123456789012345), number(46112), number(-500, '"Rs." #,##0;(#,##0)')],
  ]
  const { sheets } = sheetsOf(workbook([[]], rows))
  const due = { date: '2026-03-31' }
  expect(sheets.map(({ rows }) => rows)).toEqual([
    [
      { number: 1, cells: ['Client', 'Amount', 'Due', 'No'] },
      {
        number: 2,
        cells: ['Kaveri', '0.3', '2026-03-31', '0007'],
        values: [undefined, { number: 0.1 + 0.2, currency: null }, due, { number: 7, currency: null }],
      },
      {
        number: 4,
        cells: ['Acme', '€ 1,234.50', '2026-03-31', 'INV-0008'],
        values: [undefined, { number: 1234.5, currency: '€' }, due, { number: 8, currency: 'INV' }],
      },
      {
        number: 5,
        cells: ['true', '123456789012345', '46112', '(500)'],
        values: [
          undefined,
          { number: 123456789012345, currency: null },
          { number: 46112, currency: null, day: '2026-03-31' },
          { number: -500, currency: null },
        ],
      },
    ],
  ])
})

test('hidden sheets and rows of a workbook are left out by name, and a formula without its result is none', () => {
  const book = utils.book_new()
  const first = utils.aoa_to_sheet([['a'], ['b'], ['c']])
  first['!rows'] = [{}, { hidden: true }, {}]
  first.B1 = { t: 'n', f: 'A1*2' }
  first['!ref'] = 'A1:B3'
  utils.book_append_sheet(book, first, 'Shown')
  utils.book_append_sheet(book, utils.aoa_to_sheet([['old']]), 'Old')
  book.Workbook = { Sheets: [{}, { Hidden: 1 }] }
  const { sheets, hiddenSheets } = sheetsOf(write(book, { type: 'array', bookType: 'xlsx' }) as ArrayBuffer)
  expect(hiddenSheets).toEqual(['Old'])
  expect(sheets).toEqual([
    {
      name: 'Shown',
      rows: [
        { number: 1, cells: ['a', ''], values: [undefined, { formula: true }] },
        { number: 3, cells: ['c'] },
      ],
      hiddenRows: [2],
    },
  ])
})

test.each(['xls', 'ods', 'xlsx'] as const)('a workbook is read as %s', (bookType) => {
  const book = utils.book_new()
  utils.book_append_sheet(book, utils.aoa_to_sheet([[text('Amount'), number(1234.5, '#,##0.00')]]), 'Sheet')
  const { sheets } = sheetsOf(write(book, { type: 'array', bookType }) as ArrayBuffer)
  expect(sheets[0]?.rows[0]?.values?.[1]).toMatchObject({ number: 1234.5 })
})

test('a workbook without rows, one that unpacks to too much, and another archive are not read; of too many rows one more is', () => {
  expect(readWorkbook(workbook([[]]), most)).toEqual({ kind: 'empty' })
  const good = workbook([[text('a')]])
  const bomb = new DataView(good.slice(0))
  let at = bomb.byteLength - 22
  while (bomb.getUint32(at, true) !== 0x06054b50) at -= 1
  bomb.setUint32(bomb.getUint32(at + 16, true) + 24, 0xfffffff0, true)
  expect(readWorkbook(bomb.buffer, most)).toEqual({ kind: 'workbook' })
  expect(readWorkbook(new TextEncoder().encode('PK\u0003\u0004rest').buffer, most)).toEqual({ kind: 'workbook' })
  const long = readWorkbook(workbook(Array.from({ length: 12 }, (_, index) => [number(index)])), 10)
  expect(long.kind === 'sheets' && long.sheets[0]?.rows.length).toBe(11)
})
