import fc from 'fast-check'
import { expect, test } from 'vitest'
import { type InvoiceDates, layOutInvoiceLine } from './line-layout.ts'

const dates = (given: Partial<InvoiceDates>): InvoiceDates => ({
  created: '2026-11-02',
  due: '2026-11-17',
  today: '2026-11-22',
  paid: null,
  parts: [],
  reminders: ['2026-11-18', '2026-11-19', '2026-11-22'],
  next: '2026-11-23',
  ...given,
})

test('the dates are in order, and the line names what has room', () => {
  const line = layOutInvoiceLine(dates({}), 800)
  const places = [line.created, line.due, ...line.reminders.map(({ x }) => x), line.today, line.next ?? 0]
  expect(places).toEqual(places.toSorted((one, other) => one - other))
  expect(line.labels.map(({ text }) => text).toSorted()).toEqual(['3 reminders', 'created 02/11', 'due 17/11', 'today'])
})

test('reminders of a year are few marks, and a paid invoice has no next reminder', () => {
  const days = Array.from({ length: 365 }, (_, nth) => new Date(Date.UTC(2025, 10, 18 + nth)).toISOString().slice(0, 10))
  const line = layOutInvoiceLine(dates({ due: '2025-11-17', created: '2025-11-01', reminders: days, paid: '2026-11-20' }), 800)
  expect(line.reminders.length).toBeLessThan(5)
  expect(line.next).toBeNull()
  expect(line.labels.map(({ text }) => text)).toContain('paid 20/11')
})

test('everything stays inside the frame, no two labels overlap, and none crosses the mark of today', () => {
  const day = fc
    .date({ min: new Date('2024-01-01'), max: new Date('2027-12-31'), noInvalidDate: true })
    .map((date) => date.toISOString().slice(0, 10))
  const some = fc.record({
    created: day,
    due: day,
    today: day,
    paid: fc.option(day),
    parts: fc.array(fc.record({ date: day, amount: fc.constantFrom('₹5.00', '₹9,99,99,99,999.99') }), { maxLength: 4 }),
    next: fc.option(day),
    reminders: fc.array(day, { maxLength: 40 }),
  })
  fc.assert(
    fc.property(some, fc.integer({ min: 250, max: 1100 }), (given, width) => {
      const { reminders, created, due, today, paid, next, labels, part } = layOutInvoiceLine(given, width)
      for (const x of [created, due, today, paid ?? 0, next ?? 0, ...reminders.flatMap((mark) => [mark.x, mark.end])]) {
        expect(x).toBeGreaterThanOrEqual(0)
        expect(x).toBeLessThanOrEqual(width)
      }
      for (const [left = 0, right = 0] of part ? [spanOf(part)] : []) {
        expect(left).toBeGreaterThanOrEqual(-0.01)
        expect(right).toBeLessThanOrEqual(width + 0.01)
        expect(left > today + 5 || right < today - 5).toBe(true)
      }
      const spans = labels.map(spanOf).toSorted(([one = 0], [other = 0]) => one - other)
      for (const [nth, [left = 0]] of spans.entries()) if (nth > 0) expect(left).toBeGreaterThanOrEqual(spans[nth - 1]?.[1] ?? 0)
    }),
  )
})

function spanOf({ x, text, anchor }: { x: number; text: string; anchor: 'start' | 'middle' | 'end' }): [number, number] {
  const room = text.length * 7.4
  return anchor === 'start' ? [x, x + room] : anchor === 'end' ? [x - room, x] : [x - room / 2, x + room / 2]
}
