import { expect, test } from 'vitest'
import type { Run } from '#contract/reminders.ts'
import { dayAndTime, relativeDate, relativeDateInline, showHour } from './dates.ts'
import { emailCount, isInProgress, type Sample, sendRate, withSample } from './run-progress.ts'
import { texts } from './texts.ts'

const ended: Run = {
  _id: 'run',
  kind: 'start',
  localDate: '2026-03-02',
  startedAt: '2026-03-02T03:30:00Z',
  finishedAt: '2026-03-02T03:31:00Z',
  cancelledAt: null,
  skippedReason: null,
  total: 5,
  sent: 3,
  failed: 1,
  skipped: 1,
  open: 0,
  retrying: 0,
  held: 0,
  holdReason: null,
  nextTryAt: null,
  failures: [],
}

test('a run is in progress while an email waits its turn, and before its emails are prepared', () => {
  expect(isInProgress({ ...ended, finishedAt: null, open: 2, retrying: 1 })).toBe(true)
  expect(isInProgress({ ...ended, finishedAt: null, total: 0, sent: 0, failed: 0, skipped: 0 })).toBe(true)
})

test('a run whose emails are on hold or wait for a retry is not in progress', () => {
  expect(isInProgress({ ...ended, finishedAt: null, open: 3, retrying: 1, held: 2 })).toBe(false)
})

test('a run that finished or was stopped is not in progress', () => {
  expect(isInProgress(ended)).toBe(false)
  expect(isInProgress({ ...ended, finishedAt: null, cancelledAt: '2026-03-02T03:30:30Z' })).toBe(false)
})

test('a skipped invoice is not counted as an email', () => {
  expect(emailCount(ended)).toBe(4)
})

test('dates are shown in the time zone of the account', () => {
  const now = new Date('2026-03-02T20:00:00Z')
  expect(relativeDate('Asia/Kolkata', '2026-03-03T03:30:00Z', now)).toBe('Today, 09:00')
  expect(relativeDate('Europe/London', '2026-03-03T09:00:00Z', now)).toBe('Tomorrow, 09:00')
  expect(relativeDateInline('Asia/Kolkata', '2026-03-03T03:30:00Z', now)).toBe('today, 09:00')
  expect(relativeDate('Asia/Kolkata', '2026-03-09T03:30:00Z', now)).toBe('09/03/2026, 09:00')
  expect(dayAndTime('Asia/Kolkata', '2026-03-02T20:00:00Z')).toBe('03/03/2026, 01:30')
})

test('an hour is shown with AM or PM', () => {
  expect([6, 9, 12, 17].map(showHour)).toEqual(['6 AM', '9 AM', '12 PM', '5 PM'])
})

test('the send rate covers the last 20 seconds, not the whole run', () => {
  let samples: Sample[] = []
  for (let second = 0; second <= 100; second += 1) {
    const done = second <= 50 ? second * 10 : 500 + (second - 50)
    samples = withSample(samples, { at: second * 1000, done })
  }
  expect(sendRate(samples, 100_000)).toBeCloseTo(1)
  expect(samples.length).toBeLessThan(30)
})

test('there is no send rate after a single sample, or while nothing is sent', () => {
  expect(sendRate([], 0)).toBeNull()
  expect(sendRate([{ at: 0, done: 3 }], 10_000)).toBeNull()
  expect(
    sendRate(
      [
        { at: 0, done: 0 },
        { at: 700, done: 5 },
      ],
      1_000,
    ),
  ).toBeNull()
})

test('rate and time left are rounded', () => {
  expect(texts.run.rate(12.4)).toBe('12 per second')
  expect(texts.run.rate(0.5)).toBe('30 per minute')
  expect(texts.run.left(42)).toBe('less than a minute left')
  expect(texts.run.left(61)).toBe('about 2 minutes left')
  expect(texts.run.left(3_500)).toBe('about 1 hour left')
  expect(texts.run.left(10_000)).toBe('about 3 hours left')
})
