import { expect, test } from 'vitest'
import type { DayDecision, HistoryMail, InvoiceHistory } from '#contract/reminders.ts'
import { lookAgainIn, timelineOf } from './timeline.ts'

const zone = 'Asia/Kolkata'
const aMail = (about: Partial<HistoryMail>): HistoryMail => ({
  _id: 'mail',
  runId: 'run',
  kind: 'daily',
  state: 'sent',
  reason: null,
  subject: 'Payment reminder',
  clientEmail: 'billing@kaveri.example',
  createdAt: '2026-03-02T03:30:00Z',
  sentAt: '2026-03-02T03:30:01Z',
  attempt: 1,
  nextTryAt: null,
  serverReply: '250 OK',
  invoices: 1,
  ...about,
})
const aDay = (about: Partial<DayDecision>): DayDecision => ({
  date: '2026-03-02',
  outcome: 'paused',
  words: 'Paused.',
  decidedAt: '2026-03-02T03:30:00Z',
  nextTryAt: null,
  mailId: null,
  ...about,
})
const aHistory = (about: Partial<InvoiceHistory>): InvoiceHistory => ({ nextAt: null, reason: null, mails: [], days: [], ...about })

test('days stand newest first, and within a day what happened last', () => {
  const history = aHistory({
    mails: [aMail({ _id: 'by hand', kind: 'send_now', sentAt: '2026-03-02T09:00:00Z' }), aMail({ _id: 'daily' })],
    days: [aDay({ date: '2026-03-03', outcome: 'paused' }), aDay({ mailId: 'daily', outcome: 'sent' })],
  })
  const days = timelineOf(history, zone)
  expect(days.map(({ date }) => date)).toEqual(['2026-03-03', '2026-03-02'])
  expect(days[1]?.entries.map((entry) => entry.kind === 'mail' && entry.mail._id)).toEqual(['by hand', 'daily'])
})

test('a decision that became a mail is told once', () => {
  const history = aHistory({ mails: [aMail({})], days: [aDay({ mailId: 'mail', outcome: 'sent', words: 'Sent.' })] })
  expect(timelineOf(history, zone).flatMap(({ entries }) => entries.map(({ kind }) => kind))).toEqual(['mail'])
})

test('a mail that was no longer needed is told once, although its decision lets go of it', () => {
  const history = aHistory({ mails: [aMail({ state: 'superseded', sentAt: null })], days: [aDay({ outcome: 'superseded' })] })
  expect(timelineOf(history, zone)[0]?.entries).toHaveLength(1)
})

test('a decision whose mail is too old to be listed is told in its own words', () => {
  const history = aHistory({ days: [aDay({ mailId: 'long ago', outcome: 'sent', words: 'Sent.' })] })
  expect(timelineOf(history, zone)[0]?.entries).toMatchObject([{ kind: 'day', decision: { words: 'Sent.' } }])
})

test('a mail belongs to the day of the account, not of the browser', () => {
  const late = aMail({ createdAt: '2026-03-02T19:00:00Z', sentAt: '2026-03-02T19:00:00Z' })
  expect(timelineOf(aHistory({ mails: [late] }), zone)[0]?.date).toBe('2026-03-03')
})

test('a long pause is told once, not day by day', () => {
  const paused = ['2026-03-05', '2026-03-04', '2026-03-03', '2026-03-01'].map((date) => aDay({ date }))
  const days = timelineOf(aHistory({ days: [...paused, aDay({ date: '2026-02-28', words: 'Paused: on holiday' })] }), zone)
  expect(days.map(({ since, date }) => [since, date])).toEqual([
    ['2026-03-03', '2026-03-05'],
    ['2026-03-01', '2026-03-01'],
    ['2026-02-28', '2026-02-28'],
  ])
})

test('a mail that is leaving is looked at more often than one that waits, and one that has left hardly at all', () => {
  const now = new Date('2026-03-02T03:30:00Z')
  const leaving = lookAgainIn(aHistory({ reason: 'open_mail', nextAt: '2026-03-02T03:30:00Z', mails: [aMail({ state: 'sending' })] }), now)
  const waiting = lookAgainIn(aHistory({ reason: 'open_mail', nextAt: '2026-03-02T03:45:00Z', mails: [aMail({ state: 'retrying' })] }), now)
  const left = lookAgainIn(aHistory({ mails: [aMail({})] }), now)
  expect(leaving).toBeLessThan(waiting)
  expect(waiting).toBeLessThan(left)
})
