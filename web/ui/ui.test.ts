import { expect, test } from 'vitest'
import {
  capitalized,
  dateIn,
  dayAndTime,
  daysBetween,
  readDate,
  showComing,
  showDate,
  showDay,
  showDayAndTime,
  showHour,
  showMoment,
  zoneName,
} from './dates.ts'
import { adviceFor } from './texts.ts'

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
