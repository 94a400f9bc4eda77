import { expect, test } from 'vitest'
import type { PayAnswer } from '#contract/pay-answers.ts'
import type { Payment } from '#contract/payments.ts'
import type { DayDecision, HistoryMail, InvoiceHistory } from '#contract/reminders.ts'
import { describeAnswer } from '#web/invoices/invoice-state.ts'
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
  stored: true,
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
  sequence: 'every_day',
  step: null,
  movedFrom: null,
  why: null,
  notDelivered: null,
  mails: [],
  days: [],
  payments: [],
  answers: [],
  ...about,
})
const aPayment = (about: Partial<Payment>): Payment => ({
  _id: 'payment',
  invoiceId: 'invoice',
  kind: 'payment',
  origin: 'by_hand',
  amount: 2000,
  currency: 'INR',
  paidOn: '2026-03-01',
  method: 'upi',
  reference: '',
  note: '',
  recordedAt: '2026-03-04T08:00:00Z',
  voidedAt: null,
  ...about,
})
const unpaid = { createdAt: '2026-02-01T06:00:00Z' }
/** Each line as its outcome and days, without the creation at the end. */
const linesOf = (history: InvoiceHistory, of: Parameters<typeof timelineOf>[1] = unpaid) =>
  timelineOf(history, of, zone)
    .map(({ entries }) => [entries[0].outcome, ...entries.map(({ date }) => date.slice(5))].join(' '))
    .slice(0, -1)

test('lines are newest first, from the payment to the creation', () => {
  const history = aHistory({
    mails: [aMail({ _id: 'by hand', kind: 'send_now', sentAt: '2026-03-02T09:00:00Z' }), aMail({ _id: 'daily' })],
    days: [aDay({ date: '2026-03-03', outcome: 'paused' }), aDay({ mailId: 'daily', outcome: 'sent' })],
  })
  const lines = timelineOf({ ...history, payments: [aPayment({ origin: 'marked' })] }, unpaid, zone)
  expect(lines.map(({ entries: [{ outcome, date }] }) => `${date} ${outcome}`)).toEqual([
    '2026-03-04 paid',
    '2026-03-03 paused',
    '2026-03-02 sent',
    '2026-03-02 sent',
    '2026-02-01 created',
  ])
  expect(lines[2]?.entries[0]).toMatchObject({ mail: { _id: 'by hand' } })
})

test('a payment is listed when it was recorded, and when it was taken back', () => {
  const refund = aPayment({ _id: 'refund', kind: 'refund', recordedAt: '2026-03-05T08:00:00Z' })
  const history = aHistory({ payments: [refund, aPayment({ voidedAt: '2026-03-06T08:00:00Z' })] })
  expect(linesOf(history)).toEqual(['taken_back 03-06', 'refunded 03-05', 'received 03-04'])
})

test('what the client said is listed, with the words', () => {
  const answer: PayAnswer = {
    _id: 'answer',
    invoiceId: 'invoice',
    kind: 'paid',
    at: '2026-03-04T08:00:00Z',
    date: '2026-03-03',
    amount: 3000,
    reference: 'UTR 4711',
    message: '',
    name: '',
    email: '',
    state: 'open',
    pausedUntil: '2026-03-09',
    invoice: { reference: 'INV-0001', clientName: 'Kaveri Foods', clientEmail: 'billing@kaveri.example', balance: 5000, currency: 'INR' },
  }
  expect(linesOf(aHistory({ answers: [answer], payments: [aPayment({})] }))).toEqual(['received 03-04', 'answered 03-04'])
  expect(describeAnswer(answer)).toEqual({ title: 'Says paid: ₹3,000.00 on 03/03/2026', words: 'UTR 4711' })
  // The currency of the invoice was changed since.
  expect(describeAnswer({ ...answer, amount: null })).toEqual({ title: 'Says paid on 03/03/2026', words: 'UTR 4711' })
})

test('a decision that led to an email is listed once', () => {
  expect(linesOf(aHistory({ mails: [aMail({})], days: [aDay({ mailId: 'mail', outcome: 'sent', words: 'Sent.' })] }))).toEqual([
    'sent 03-02',
  ])
})

test('a superseded email is listed once, although its decision no longer refers to it', () => {
  const history = aHistory({ mails: [aMail({ state: 'superseded', sentAt: null })], days: [aDay({ outcome: 'superseded' })] })
  expect(linesOf(history)).toEqual(['superseded 03-02'])
})

test('a decision whose email is too old to be listed appears with its own text', () => {
  const history = aHistory({ days: [aDay({ mailId: 'long ago', outcome: 'sent', words: 'Sent.' })] })
  expect(timelineOf(history, unpaid, zone)[0]?.entries).toMatchObject([{ kind: 'day', decision: { words: 'Sent.' } }])
})

test('an email belongs to the day of the account, not of the browser', () => {
  const late = aMail({ createdAt: '2026-03-02T19:00:00Z', sentAt: '2026-03-02T19:00:00Z' })
  expect(linesOf(aHistory({ mails: [late] }))).toEqual(['sent 03-03'])
})

test('consecutive days with the same decision are one line', () => {
  const paused = ['2026-03-05', '2026-03-04', '2026-03-03', '2026-03-01'].map((date) => aDay({ date }))
  expect(linesOf(aHistory({ days: [...paused, aDay({ date: '2026-02-28', words: 'Paused: on holiday' })] }))).toEqual([
    'paused 03-05 03-04 03-03',
    'paused 03-01',
    'paused 02-28',
  ])
})

const sentOn = (day: string, about: Partial<HistoryMail> = {}) =>
  aMail({ _id: `${day} ${about.kind ?? ''}`, createdAt: `2026-03-${day}T03:30:00Z`, sentAt: `2026-03-${day}T03:30:01Z`, ...about })
const failedOn = (day: string, serverReply: string) => sentOn(day, { sentAt: null, state: 'failed', reason: 'refused', serverReply })

test('the same email on consecutive days is one line, and equal failures are', () => {
  expect(linesOf(aHistory({ mails: [sentOn('08'), sentOn('07'), sentOn('06'), sentOn('04')] }))).toEqual([
    'sent 03-08 03-07 03-06',
    'sent 03-04',
  ])
  const mails = [failedOn('08', '452 4.2.2 full'), failedOn('07', '452 4.2.2 full'), failedOn('06', '550 5.7.1 spam'), sentOn('05')]
  expect(linesOf(aHistory({ mails }))).toEqual(['failed 03-08 03-07', 'failed 03-06', 'sent 03-05'])
})

test('a day with more than one event is not folded', () => {
  const mails = [sentOn('08'), sentOn('07'), sentOn('07', { kind: 'send_now', sentAt: '2026-03-07T10:00:00Z' }), sentOn('06')]
  expect(linesOf(aHistory({ mails }))).toHaveLength(4)
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
