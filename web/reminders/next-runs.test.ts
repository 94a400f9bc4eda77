import { expect, test } from 'vitest'
import type { PreviewLine, Run } from '#contract/reminders.ts'
import { showDay, showDayAndTime } from './dates.ts'
import { byAddress, openFailures } from './failures.ts'
import { clientsOf, emailsOf, planned, totalOf } from './next-runs.ts'

const now = new Date('2026-11-23T03:00:00Z')
const tomorrow = '2026-11-24T03:30:00Z'
const later = '2026-11-28T03:30:00Z'

const line = (invoiceId: string, given: Partial<PreviewLine> = {}): PreviewLine => ({
  invoiceId,
  reference: `INV-${invoiceId}`,
  clientName: 'Kaveri Foods',
  clientEmail: 'billing@kaveri.example',
  amount: 0.1,
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
  ...given,
})

const aFailure = (given: Partial<Run['failures'][number]>): Run['failures'][number] => ({
  invoiceId: '1',
  reference: 'INV-1',
  clientName: 'Kaveri Foods',
  clientEmail: 'billing@kaveri.example',
  message: '550 5.1.1 No such user',
  words: 'address doesn’t exist',
  ...given,
})

const run = (_id: string, failures: Run['failures']): Run => ({
  _id,
  kind: 'daily',
  localDate: '2026-11-23',
  startedAt: '2026-11-23T03:30:00Z',
  finishedAt: '2026-11-23T03:31:00Z',
  cancelledAt: null,
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

test('one email per client takes upper and lower case as one address, and sums without a rounding error', () => {
  const lines = [
    line('1'),
    line('2', { clientEmail: 'Billing@Kaveri.example', amount: 0.2 }),
    line('3', { clientEmail: 'hello@banyan.example' }),
  ]
  expect(emailsOf(lines, false)).toHaveLength(3)
  expect(emailsOf(lines, true).map((email) => [email.lines.length, email.total])).toEqual([
    [2, 0.3],
    [1, 0.1],
  ])
  expect(clientsOf(lines)).toBe(2)
  expect(totalOf(lines)).toBe(0.4)
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

test('days are shown with their weekday in the account’s zone, and with the year where it is another one', () => {
  expect(showDay('Asia/Kolkata', '2026-11-23T20:00:00Z', now)).toBe('Tue 24/11')
  expect(showDay('Asia/Kolkata', '2027-01-02T03:30:00Z', now)).toBe('Sat 02/01/2027')
  expect(showDayAndTime('Asia/Kolkata', '2026-11-21T03:30:00Z', now)).toBe('Sat 21/11, 09:00')
})
