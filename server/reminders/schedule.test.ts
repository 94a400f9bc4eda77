import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { zones } from '#test/zones.ts'
import {
  apartFrom,
  dailyDeadline,
  daysOverdue,
  firstDateAfterStart,
  localDate,
  movedSummary,
  nextReminder,
  nextRun,
  nextSummary,
  retrySeconds,
  startOfDay,
} from './schedule.ts'

const instant = (text: string) => Temporal.Instant.from(text)

describe('nine in the morning is nine on the wall, whatever the clocks do', () => {
  test.each([
    ['America/New_York', '2026-03-07', '2026-03-07T14:00:00Z'],
    ['America/New_York', '2026-03-08', '2026-03-08T13:00:00Z'],
    ['America/New_York', '2026-11-01', '2026-11-01T14:00:00Z'],
    ['Europe/London', '2026-03-29', '2026-03-29T08:00:00Z'],
    ['Europe/London', '2026-10-25', '2026-10-25T09:00:00Z'],
    ['Asia/Kolkata', '2026-03-02', '2026-03-02T03:30:00Z'],
    ['Asia/Kathmandu', '2026-03-02', '2026-03-02T03:15:00Z'],
    ['Australia/Lord_Howe', '2026-04-04', '2026-04-03T22:00:00Z'],
    ['Australia/Lord_Howe', '2026-04-05', '2026-04-04T22:30:00Z'],
    ['Australia/Lord_Howe', '2026-10-04', '2026-10-03T22:00:00Z'],
    ['Africa/Cairo', '2026-04-24', '2026-04-24T06:00:00Z'],
    ['Asia/Beirut', '2026-03-29', '2026-03-29T06:00:00Z'],
    ['Africa/Casablanca', '2026-03-22', '2026-03-22T08:00:00Z'],
    ['America/St_Johns', '2026-03-08', '2026-03-08T11:30:00Z'],
    ['Pacific/Kiritimati', '2026-01-01', '2025-12-31T19:00:00Z'],
  ])('%s on %s', (timezone, date, expected) => {
    const found = nextRun({ timezone, reminderHour: 9 }, { now: startOfDay(date, timezone), notBefore: date, lastRunAt: null })
    expect(found.at.toString()).toBe(expected)
    expect(found.date).toBe(date)
  })

  test('a date that a zone skipped runs once, under the date of its instant', () => {
    const schedule = { timezone: 'Pacific/Apia', reminderHour: 9 }
    const first = nextRun(schedule, { now: instant('2011-12-30T08:00:00Z'), notBefore: '2011-12-30', lastRunAt: null })
    expect(first.date).toBe('2011-12-31')
    const second = nextRun(schedule, { now: first.at, notBefore: '2012-01-01', lastRunAt: first.at })
    expect(second.date).toBe('2012-01-01')
  })

  test('adding 24 hours would be wrong on the night the clocks change', () => {
    const schedule = { timezone: 'America/New_York', reminderHour: 9 }
    const saturday = nextRun(schedule, { now: instant('2026-03-07T12:00:00Z'), notBefore: '2026-03-07', lastRunAt: null })
    const sunday = nextRun(schedule, { now: saturday.at, notBefore: '2026-03-08', lastRunAt: saturday.at })
    expect(saturday.at.until(sunday.at).total('hours')).toBe(23)
  })
})

test('a missed run is caught up on the same day until 18:00', () => {
  const schedule = { timezone: 'Asia/Kolkata', reminderHour: 9 }
  const at1759 = nextRun(schedule, { now: instant('2026-03-02T12:29:00Z'), notBefore: '2026-03-02', lastRunAt: null })
  expect(at1759).toMatchObject({ date: '2026-03-02' })
  const at1800 = nextRun(schedule, { now: instant('2026-03-02T12:30:00Z'), notBefore: '2026-03-02', lastRunAt: null })
  expect(at1800).toMatchObject({ date: '2026-03-03' })
})

test('after a change of zone the next automatic run is at least twelve hours away', () => {
  const lastRunAt = instant('2026-03-02T03:30:00Z')
  const found = nextRun(
    { timezone: 'America/New_York', reminderHour: 9 },
    { now: instant('2026-03-02T04:00:00Z'), notBefore: '2026-03-02', lastRunAt },
  )
  expect(found.date).toBe('2026-03-03')
})

test('Start in the morning still has the run of today before it, Start at nine does not', () => {
  const schedule = { timezone: 'Asia/Kolkata', reminderHour: 9 }
  expect(firstDateAfterStart(schedule, instant('2026-03-02T03:29:59Z'))).toBe('2026-03-02')
  expect(firstDateAfterStart(schedule, instant('2026-03-02T03:30:00Z'))).toBe('2026-03-03')
})

test('every run is later than the one before, at least 12 hours later, at the chosen hour, once per date', () => {
  const zones = [
    'America/New_York',
    'Europe/London',
    'Asia/Kolkata',
    'Australia/Lord_Howe',
    'Africa/Casablanca',
    'Pacific/Apia',
    'America/Santiago',
  ]
  const start = instant('2024-01-01T00:00:00Z').epochMilliseconds
  fc.assert(
    fc.property(
      fc.array(
        fc.record({ zone: fc.constantFrom(...zones), hour: fc.integer({ min: 6, max: 17 }), hoursLater: fc.integer({ min: 0, max: 40 }) }),
        { minLength: 2 },
      ),
      fc.integer({ min: 0, max: 3 * 365 * 24 }),
      (changes, offset) => {
        let now = Temporal.Instant.fromEpochMilliseconds(start + offset * 3_600_000)
        let last: { at: Temporal.Instant; date: string } | null = null
        for (const { zone, hour, hoursLater } of changes) {
          const schedule = { timezone: zone, reminderHour: hour }
          const found = nextRun(schedule, {
            now,
            notBefore: last ? Temporal.PlainDate.from(last.date).add({ days: 1 }).toString() : localDate(now, zone),
            lastRunAt: last?.at ?? null,
          })
          const wall = found.at.toZonedDateTimeISO(zone)
          expect(wall.hour).toBe(hour)
          expect(wall.toPlainDate().toString()).toBe(found.date)
          const ran = Temporal.Instant.compare(found.at, now) < 0 ? now : found.at
          expect(Temporal.Instant.compare(ran, dailyDeadline(found.date, zone))).toBeLessThan(0)
          if (last) {
            expect(last.at.until(found.at).total('hours')).toBeGreaterThanOrEqual(12)
            expect(found.date > last.date).toBe(true)
          }
          last = { at: ran, date: found.date }
          now = ran.add({ hours: hoursLater })
        }
      },
    ),
    { numRuns: 300 },
  )
})

test('days overdue count from the day after the due date', () => {
  expect(daysOverdue('2026-03-01', '2026-03-01')).toBe(0)
  expect(daysOverdue('2026-02-28', '2026-03-01')).toBe(1)
  expect(daysOverdue('2024-02-28', '2024-03-01')).toBe(2)
})

test('retry delays grow from five minutes to two hours, plus or minus a fifth', () => {
  expect([1, 2, 3, 4, 5, 6, 9].map((attempt) => retrySeconds(attempt, 0.5) / 60)).toEqual([5, 15, 30, 60, 120, 120, 120])
  expect(retrySeconds(1, 0)).toBe(240)
  expect(retrySeconds(1, 0.999_999)).toBe(360)
})

test('the next date of an invoice is the first run after its due date', () => {
  const schedule = { timezone: 'Asia/Kolkata', reminderHour: 9 }
  const now = instant('2026-03-02T06:00:00Z')
  const next = { at: instant('2026-03-03T03:30:00Z'), date: '2026-03-03' }
  const about = { next, today: '2026-03-02', remindedToday: false, now }
  expect(nextReminder(schedule, { ...about, quietUntil: '2026-02-20' }).toString()).toBe('2026-03-03T03:30:00Z')
  expect(nextReminder(schedule, { ...about, quietUntil: '2026-03-02' }).toString()).toBe('2026-03-03T03:30:00Z')
  expect(nextReminder(schedule, { ...about, quietUntil: '2026-03-03' }).toString()).toBe('2026-03-04T03:30:00Z')
})

test('an invoice reminded manually this morning is next tomorrow', () => {
  const schedule = { timezone: 'Asia/Kolkata', reminderHour: 9 }
  const next = { at: instant('2026-03-02T03:30:00Z'), date: '2026-03-02' }
  const found = nextReminder(schedule, {
    next,
    quietUntil: '2026-02-01',
    today: '2026-03-02',
    remindedToday: true,
    now: instant('2026-03-02T02:00:00Z'),
  })
  expect(found.toString()).toBe('2026-03-03T03:30:00Z')
})

test('over every change of the clocks of 2026 and 2027 there is one run for each local date, however late it is caught up', () => {
  const wrong: string[] = []
  for (const timezone of zones) {
    let at: Temporal.ZonedDateTime | null = instant('2026-01-01T00:00:00Z').toZonedDateTimeISO(timezone)
    for (at = at.getTimeZoneTransition('next'); at && at.year < 2028; at = at.getTimeZoneTransition('next'))
      for (let reminderHour = 0; reminderHour < 18; reminderHour += 1)
        for (const caughtUpAt of [reminderHour, 12, 17]) {
          const schedule = { timezone, reminderHour }
          let date: string = at.toPlainDate().subtract({ days: 3 }).toString()
          let now = startOfDay(date, timezone)
          for (let day = 0; day < 6; day += 1) {
            const run = nextRun(schedule, { now, notBefore: date, lastRunAt: apartFrom({ lastDailyRunAt: now, scheduleChangedAt: null }) })
            if (run.date !== date)
              wrong.push(`${timezone} ${reminderHour}:00 caught up at ${caughtUpAt}:00: ${run.date} instead of ${date}`)
            const late = Temporal.PlainDate.from(date)
              .toZonedDateTime({ timeZone: timezone, plainTime: `${String(caughtUpAt).padStart(2, '0')}:05` })
              .toInstant()
            now = Temporal.Instant.compare(late, run.at) > 0 ? late : run.at
            date = Temporal.PlainDate.from(date).add({ days: 1 }).toString()
          }
        }
  }
  expect(wrong).toEqual([])
})

test.for([
  ['Asia/Kolkata', '2026-03-02T02:29:59Z', '2026-03-02T02:30:00Z'],
  ['Asia/Kolkata', '2026-03-02T02:30:00Z', '2026-03-09T02:30:00Z'],
  ['America/New_York', '2026-03-02T13:00:00Z', '2026-03-09T12:00:00Z'],
  ['Europe/London', '2026-10-19T07:00:00Z', '2026-10-26T08:00:00Z'],
  ['Pacific/Kiritimati', '2026-03-01T00:00:00Z', '2026-03-01T18:00:00Z'],
] as const)('in %s the weekly summary after %s is at %s', ([timezone, after, at]) => {
  expect(nextSummary(timezone, instant(after)).toString()).toBe(at)
})

test('after a change of zone the summary is that of the same Monday', () => {
  const planned = instant('2026-03-09T02:30:00Z')
  expect(zones.map((timezone) => movedSummary(planned, timezone).toZonedDateTimeISO(timezone).toPlainDateTime().toString())).toEqual(
    zones.map(() => '2026-03-09T08:00:00'),
  )
})
