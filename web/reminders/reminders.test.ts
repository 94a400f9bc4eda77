import { expect, test } from 'vitest'
import type { PreviewLine, Run } from '#contract/reminders.ts'
import type { PlannedMail } from '#contract/sequences.ts'
import {
  byAddress,
  type ComingEmail,
  canRetry,
  clientsOf,
  emailCount,
  emailsOf,
  isInProgress,
  laterThan,
  listedFirst,
  openFailures,
  planned,
  type Sample,
  sendRate,
  withSample,
} from './runs.ts'
import { texts } from './texts.ts'

const now = new Date('2026-11-23T03:00:00Z')
const tomorrow = '2026-11-24T03:30:00Z'
const later = '2026-11-28T03:30:00Z'

const line = (invoiceId: string, given: Partial<PreviewLine> = {}): PreviewLine => ({
  invoiceId,
  reference: `INV-${invoiceId}`,
  clientName: 'Kaveri Foods',
  clientEmail: 'billing@kaveri.example',
  amount: 0.1,
  invoiceAmount: 0.1,
  paidAmount: 0,
  currency: 'INR',
  language: 'en',
  dueDate: '2026-11-20',
  daysOverdue: 3,
  dueNow: true,
  remindedToday: 0,
  heldFor: null,
  sendNowLeft: 3,
  nextAt: tomorrow,
  reason: null,
  notDelivered: null,
  sentJustNow: null,
  sequence: 'every_day',
  step: null,
  movedFrom: null,
  why: null,
  atClient: null,
  ...given,
})

const aFailure = (given: Partial<Run['failures'][number]>): Run['failures'][number] => ({
  invoiceId: '1',
  reference: 'INV-1',
  clientName: 'Kaveri Foods',
  clientEmail: 'billing@kaveri.example',
  message: '550 5.1.1 No such user',
  words: 'address doesn’t exist',
  canRetry: true,
  ...given,
})

const run = (_id: string, failures: Run['failures']): Run => ({
  _id,
  kind: 'daily',
  localDate: '2026-11-23',
  startedAt: '2026-11-23T03:30:00Z',
  finishedAt: '2026-11-23T03:31:00Z',
  cancelledAt: null,
  leavesAt: null,
  skippedReason: null,
  total: 5,
  sent: 5 - failures.length,
  failed: failures.length,
  skipped: 0,
  open: 0,
  retrying: 0,
  held: 0,
  holdReason: null,
  nextTryAt: null,
  failures,
})

test('invoices are planned by the run that reminds of them, the next run first; a pause with an end has a run', () => {
  const { runs, others } = planned(
    [line('1', { nextAt: later }), line('2'), line('3', { nextAt: later, reason: 'paused' }), line('4')],
    false,
    now,
  )
  expect(runs.map(({ at, emails }) => [at, emails.map(({ lines }) => lines[0].invoiceId)])).toEqual([
    [tomorrow, ['2', '4']],
    [later, ['1', '3']],
  ])
  expect(others).toEqual([])
})

test('after the next run come the emails that leave later on its date, for clients elsewhere, and those of the days after it', () => {
  const mail = (invoiceId: string, at: string): PlannedMail => ({
    at,
    localDate: at.slice(0, 10),
    clientName: 'Kaveri Foods',
    clientEmail: 'billing@kaveri.example',
    invoiceIds: [invoiceId],
    sequence: 'every_day',
    offset: 1,
    tone: 'friendly',
    subject: 'Reminder',
    why: null,
    movedFrom: null,
  })
  // In the run, held for ten minutes; at a client elsewhere on the same day; and a day later.
  const mails = [mail('2', '2026-11-24T03:40:00Z'), mail('3', '2026-11-24T14:00:00Z'), mail('2', later)]
  const [next] = planned([line('2'), line('3', { nextAt: '2026-11-24T14:00:00Z' })], false, now).runs
  const idsAfter = (shown: ComingEmail[] | null) =>
    laterThan(tomorrow, mails, shown, 'Asia/Kolkata').map(({ invoiceIds, at }) => [...invoiceIds, at])
  expect(idsAfter(next?.emails ?? [])).toEqual([
    ['3', '2026-11-24T14:00:00Z'],
    ['2', later],
  ])
  // Once daily reminders are started, those of today leave at any time.
  expect(idsAfter(null)).toEqual([['2', later]])
})

test('invoices without a run are listed by reason: on hold before anything else, and a delayed email apart from one in progress', () => {
  const { runs, others } = planned(
    [
      line('1', { nextAt: null, reason: 'open_mail', heldFor: 'plan' }),
      line('2', { nextAt: '2026-11-23T04:00:00Z', reason: 'open_mail' }),
      line('3', { nextAt: '2026-11-23T02:59:00Z', reason: 'open_mail' }),
      line('4', { nextAt: null, reason: 'paused' }),
      line('5', { nextAt: null, reason: 'paused' }),
      line('6', { nextAt: null }),
    ],
    false,
    now,
  )
  expect(runs).toEqual([])
  expect(others.map(({ why, lines }) => [why, lines.length])).toEqual([
    ['paused', 2],
    ['held_plan', 1],
    ['retrying', 1],
    ['open_mail', 1],
    ['no_date', 1],
  ])
})

test('while the emails of a run wait, none of them is called delayed', () => {
  const { others } = planned([line('1', { nextAt: '2026-11-23T04:00:00Z', reason: 'open_mail' })], false, now, true)
  expect(others.map(({ why }) => why)).toEqual(['waiting'])
})

test('one email per client and currency takes upper and lower case as one address, and sums without a rounding error', () => {
  const lines = [
    line('1'),
    line('2', { clientEmail: 'Billing@Kaveri.example', amount: 0.2 }),
    line('3', { clientEmail: 'hello@banyan.example' }),
    line('4', { currency: 'EUR' }),
  ]
  expect(emailsOf(lines, false)).toHaveLength(4)
  expect(emailsOf(lines, true).map((email) => [email.lines.length, email.total])).toEqual([
    [2, { currency: 'INR', amount: 0.3 }],
    [1, { currency: 'INR', amount: 0.1 }],
    [1, { currency: 'EUR', amount: 0.1 }],
  ])
  expect(clientsOf(lines)).toBe(2)
})

test('an email lists invoices of one tone, but for Send Now', () => {
  const step = (offset: number, tone: 'friendly' | 'firm') => ({ number: 1, of: 3, offset, tone })
  const lines = [
    line('1', { step: step(-3, 'friendly') }),
    line('2', { step: step(1, 'friendly') }),
    line('3', { step: step(7, 'friendly') }),
    line('4', { step: step(14, 'firm') }),
  ]
  expect(emailsOf(lines, true, true).map((email) => email.lines.map(({ invoiceId }) => invoiceId))).toEqual([['1'], ['2', '3'], ['4']])
  expect(emailsOf(lines, true)).toHaveLength(1)
  expect(planned(lines, true, now).runs[0]?.emails).toHaveLength(3)
})

test('a failure stays open while its invoice is not delivered; only the newest run that names it shows it', () => {
  const failure = (invoiceId: string) => aFailure({ invoiceId })
  const runs = [run('newest', [failure('1'), failure('2')]), run('older', [failure('1'), failure('3'), failure('4')])]
  const notDelivered = { since: '2026-11-20T03:30:00Z', code: 'mailbox_full', words: 'mailbox full', reply: '552 5.2.2' } as const
  // The second is paid, the third was delivered since.
  const lines = [line('1', { notDelivered }), line('3'), line('4', { notDelivered })]
  const open = openFailures(runs, lines)
  expect([...open].map(([id, failures]) => [id, failures.map(({ invoiceId }) => invoiceId)])).toEqual([
    ['newest', ['1']],
    ['older', ['4']],
  ])
})

test('a run whose failures are still open is listed, however many runs came after it', () => {
  const runs = Array.from({ length: 9 }, (_, nth) => run(String(nth), nth === 7 ? [aFailure({})] : []))
  const ids = (open: Map<string, unknown>, asked: string | null) => listedFirst(runs, open, asked).map(({ _id }) => _id)
  expect(ids(new Map(), null)).toEqual(['0', '1', '2', '3', '4', '5'])
  expect(ids(new Map([['7', []]]), '8')).toEqual(['0', '1', '2', '3', '4', '5', '7', '8'])
})

test('a run offers a retry as long as one of its failures is owed and was not reminded since', () => {
  const settled = aFailure({ canRetry: false })
  expect(canRetry(run('1', [settled]))).toBe(false)
  expect(canRetry(run('1', [settled, aFailure({ invoiceId: '2' })]))).toBe(true)
  expect(canRetry({ ...run('1', [settled]), failed: 101 })).toBe(true)
})

test('failures of one address with one reply are one entry, with all its invoices', () => {
  const found = byAddress([
    aFailure({ invoiceId: '1', clientEmail: 'billing@kaveri.example', message: '550 5.1.1' }),
    aFailure({ invoiceId: '2', clientEmail: 'Billing@kaveri.example', message: '550 5.1.1' }),
    aFailure({ invoiceId: '3', clientEmail: 'billing@kaveri.example', message: '552 5.2.2' }),
  ])
  expect(found.map(({ message, failures }) => [message, failures.map(({ invoiceId }) => invoiceId)])).toEqual([
    ['550 5.1.1', ['1', '2']],
    ['552 5.2.2', ['3']],
  ])
})

const ended: Run = {
  _id: 'run',
  kind: 'start',
  localDate: '2026-03-02',
  startedAt: '2026-03-02T03:30:00Z',
  finishedAt: '2026-03-02T03:31:00Z',
  cancelledAt: null,
  leavesAt: null,
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
