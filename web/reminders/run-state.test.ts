import { expect, test } from 'vitest'
import type { Run } from '#contract/reminders.ts'
import { comingMoment, dayAndTime, hourInWords } from './moments.ts'
import { isMoving, mailsOf } from './run-state.ts'

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

test('a run moves while a mail is waiting its turn, and before its mails are written down', () => {
  expect(isMoving({ ...ended, finishedAt: null, open: 2, retrying: 1 })).toBe(true)
  expect(isMoving({ ...ended, finishedAt: null, total: 0, sent: 0, failed: 0, skipped: 0 })).toBe(true)
})

test('a run whose mails are held or wait for their next try does not move', () => {
  expect(isMoving({ ...ended, finishedAt: null, open: 3, retrying: 1, held: 2 })).toBe(false)
})

test('a run that ended or was stopped does not move', () => {
  expect(isMoving(ended)).toBe(false)
  expect(isMoving({ ...ended, finishedAt: null, cancelledAt: '2026-03-02T03:30:30Z' })).toBe(false)
})

test('an invoice that was left out counts as no mail', () => {
  expect(mailsOf(ended)).toBe(4)
})

test('moments are told in the zone of the account', () => {
  const now = new Date('2026-03-02T20:00:00Z')
  expect(comingMoment('Asia/Kolkata', '2026-03-03T03:30:00Z', now)).toBe('Today, 09:00')
  expect(comingMoment('Europe/London', '2026-03-03T09:00:00Z', now)).toBe('Tomorrow, 09:00')
  expect(comingMoment('Asia/Kolkata', '2026-03-09T03:30:00Z', now)).toBe('09/03/2026, 09:00')
  expect(dayAndTime('Asia/Kolkata', '2026-03-02T20:00:00Z')).toBe('03/03/2026, 01:30')
})

test('an hour is told as people say it', () => {
  expect([6, 9, 12, 17].map(hourInWords)).toEqual(['6 AM', '9 AM', '12 PM', '5 PM'])
})
