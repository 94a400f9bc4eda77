import { expect, test } from 'vitest'
import type { DayDecision, HistoryMail, InvoiceHistory } from '#contract/reminders.ts'
import { refetchDelay, timelineOf } from './timeline.ts'

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
const aHistory = (about: Partial<InvoiceHistory>): InvoiceHistory => ({
  nextAt: null,
  reason: null,
  notDelivered: null,
  mails: [],
  days: [],
  ...about,
})

test('days are newest first, and so are the entries of a day', () => {
  const history = aHistory({
    mails: [aMail({ _id: 'by hand', kind: 'send_now', sentAt: '2026-03-02T09:00:00Z' }), aMail({ _id: 'daily' })],
    days: [aDay({ date: '2026-03-03', outcome: 'paused' }), aDay({ mailId: 'daily', outcome: 'sent' })],
  })
  const days = timelineOf(history, zone)
  expect(days.map(({ date }) => date)).toEqual(['2026-03-03', '2026-03-02'])
  expect(days[1]?.entries.map((entry) => entry.kind === 'mail' && entry.mail._id)).toEqual(['by hand', 'daily'])
})

test('a decision that led to an email is listed once', () => {
  const history = aHistory({ mails: [aMail({})], days: [aDay({ mailId: 'mail', outcome: 'sent', words: 'Sent.' })] })
  expect(timelineOf(history, zone).flatMap(({ entries }) => entries.map(({ kind }) => kind))).toEqual(['mail'])
})

test('a superseded email is listed once, although its decision no longer refers to it', () => {
  const history = aHistory({ mails: [aMail({ state: 'superseded', sentAt: null })], days: [aDay({ outcome: 'superseded' })] })
  expect(timelineOf(history, zone)[0]?.entries).toHaveLength(1)
})

test('a decision whose email is too old to be listed appears with its own text', () => {
  const history = aHistory({ days: [aDay({ mailId: 'long ago', outcome: 'sent', words: 'Sent.' })] })
  expect(timelineOf(history, zone)[0]?.entries).toMatchObject([{ kind: 'day', decision: { words: 'Sent.' } }])
})

test('an email belongs to the day of the account, not of the browser', () => {
  const late = aMail({ createdAt: '2026-03-02T19:00:00Z', sentAt: '2026-03-02T19:00:00Z' })
  expect(timelineOf(aHistory({ mails: [late] }), zone)[0]?.date).toBe('2026-03-03')
})

test('consecutive paused days are merged', () => {
  const paused = ['2026-03-05', '2026-03-04', '2026-03-03', '2026-03-01'].map((date) => aDay({ date }))
  const days = timelineOf(aHistory({ days: [...paused, aDay({ date: '2026-02-28', words: 'Paused: on holiday' })] }), zone)
  expect(days.map(({ since, date }) => [since, date])).toEqual([
    ['2026-03-03', '2026-03-05'],
    ['2026-03-01', '2026-03-01'],
    ['2026-02-28', '2026-02-28'],
  ])
})

test('polling is fastest while an email is being sent, slower while one waits, slowest afterwards', () => {
  const now = new Date('2026-03-02T03:30:00Z')
  const leaving = refetchDelay(aHistory({ reason: 'open_mail', nextAt: '2026-03-02T03:30:00Z', mails: [aMail({ state: 'sending' })] }), now)
  const waiting = refetchDelay(
    aHistory({ reason: 'open_mail', nextAt: '2026-03-02T03:45:00Z', mails: [aMail({ state: 'retrying' })] }),
    now,
  )
  const left = refetchDelay(aHistory({ mails: [aMail({})] }), now)
  expect(leaving).toBeLessThan(waiting)
  expect(waiting).toBeLessThan(left)
})
