import fc from 'fast-check'
import { expect, test } from 'vitest'
import { daysBetween, formatDate } from './dates.ts'

test('a date is shown as day/month/year', () => {
  expect(formatDate('2025-01-15')).toBe('15/01/2025')
})

test('days are counted on the calendar, over months, leap days and clock changes', () => {
  expect(daysBetween('2025-01-15', '2025-01-20')).toBe(5)
  expect(daysBetween('2028-02-28', '2028-03-01')).toBe(2)
  expect(daysBetween('2026-03-30', '2026-03-28')).toBe(-2)
  const day = fc.integer({ min: 0, max: 60_000 }).map((days) => Temporal.PlainDate.from('1970-01-01').add({ days }))
  fc.assert(fc.property(day, day, (a, b) => daysBetween(a.toString(), b.toString()) === a.until(b).days))
})
