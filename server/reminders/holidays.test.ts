import { expect, test } from 'vitest'
import { noHistory } from '#test/paying-clients.ts'
import { thorough } from '#test/thorough.ts'
import { countryOf, holidayNumbers, holidaysOf, isKnown, knownPlaces, knownUntil, type Place, weekendOf } from './holidays.ts'
import { type Calendar, dateOfDay, dayNumber, openNext, type PlanInvoice, type World } from './plan.ts'

const places: Place[] = knownPlaces().flatMap(({ country, regions }) => [
  { country, region: null },
  ...regions.map(({ code }) => ({ country, region: code })),
])

test('the table has 250 countries, the regions of ten, and the days of India', () => {
  expect(knownPlaces()).toHaveLength(250)
  const withRegions = knownPlaces().filter(({ regions }) => regions.length > 0)
  expect(withRegions.map(({ country }) => country)).toEqual(['AT', 'AU', 'CA', 'CH', 'DE', 'ES', 'GB', 'IN', 'NZ', 'US'])
  const india = holidaysOf({ country: 'IN', region: null }).filter(({ date }) => date.startsWith('2026'))
  expect(india).toHaveLength(18)
  expect(india.find(({ date }) => date === '2026-11-08')?.name).toBe('Diwali (Deepavali)')
  expect(holidaysOf({ country: 'IN', region: 'MH' }).find(({ date }) => date === '2026-05-01')?.name).toContain('Maharashtra')
  expect(
    holidaysOf({ country: 'IN', region: null }).filter(({ name, mayMove }) => mayMove && name === 'Eid al-Fitr').length,
  ).toBeGreaterThan(3)
})

test('every day of the table is a date within it, ascending, with a name that says nothing of estimates', () => {
  for (const place of places) {
    const days = holidaysOf(place)
    expect(days.map(({ date }) => date)).toEqual([...new Set(days.map(({ date }) => date))].toSorted())
    expect(days.every(({ date, name }) => /^20(?:2[5-9]|3[0-2])-\d\d-\d\d$/.test(date) && name !== '' && !name.includes('estimated'))).toBe(
      true,
    )
  }
  expect(knownUntil()).toBe('2032-12-31')
})

test('an unknown country or region has no holidays', () => {
  expect(isKnown({ country: 'XX', region: null })).toBe(false)
  expect(isKnown({ country: 'IN', region: 'constructor' })).toBe(false)
  expect(holidaysOf({ country: 'XX', region: null })).toEqual([])
})

test('a time zone has a country, under each of its names, and a country its weekend', () => {
  const zones = ['Asia/Kolkata', 'Asia/Calcutta', 'Europe/London', 'Asia/Dubai', 'America/Los_Angeles', 'UTC']
  expect(zones.map(countryOf)).toEqual(['IN', 'IN', 'GB', 'AE', 'US', null])
  expect(['IN', 'AE', 'SA', 'GB', null].map((country) => [...weekendOf(country)])).toEqual([[7], [6, 7], [5, 6], [6, 7], [6, 7]])
})

const invoice: PlanInvoice = {
  id: 'i',
  clientKey: 'asha',
  currency: 'INR',
  language: 'en',
  due: 0,
  sequence: 's',
  ...noHistory,
  smart: false,
}

function worldIn(calendar: Calendar, offset: number): World {
  const sequence = { steps: [{ offset, tone: 'friendly' as const }], everyDays: null, atMost: null, atLeast: 1 }
  return {
    timezone: 'Asia/Kolkata',
    reminderHour: 9,
    grouped: false,
    calendar,
    clients: new Map(),
    sequences: new Map([['s', sequence]]),
    lastTo: new Map(),
    smart: null,
    invoices: [],
  }
}

// Row 9. Takes 1 s for every 60th place, and a minute for all of them.
test('in every country from 2025 to 2032 a step moves to an open day: later ones on, those before the due date back, and never past another', () => {
  const [first, last] = [dayNumber('2025-01-01'), dayNumber('2032-12-01')]
  for (const place of places.filter((_place, nth) => thorough || nth % 60 === 7)) {
    const calendar = { weekend: weekendOf(place.country), closed: holidayNumbers(place), open: new Set<number>() }
    for (const offset of [-3, 1]) {
      const next = openNext(worldIn(calendar, offset))
      let before = Number.NEGATIVE_INFINITY
      for (let date = first; date < last; date += 1) {
        const due = date - offset
        const found = next({ ...invoice, due }, offset > 0 ? due : due - 30)?.date ?? Number.NaN
        const day = (((found + 3) % 7) + 7) % 7
        const holds =
          found >= before && (offset > 0 ? found >= date : found <= date) && !calendar.closed.has(found) && !calendar.weekend.has(day + 1)
        if (!holds) expect.fail(`${place.country} ${place.region}: the step of ${dateOfDay(date)} leaves on ${found}`)
        before = found
      }
    }
  }
})
