import { expect, test } from 'vitest'
import { type Invoice, searchInvoices } from '#contract/invoices.ts'
import type { Tone } from '#contract/sequences.ts'
import { aShownInvoice } from '#test/shown-invoice.ts'
import type { Known, Next } from '#web/invoices/invoice-state.ts'
import type { DueItem } from '#web/ui/due-line-layout.ts'
import { countByFilter, dueLabel, inverseChanges, nextOrder, nextRun, openItems, sortInvoices, totals } from './list-data.ts'
import { findingOf } from './overview.tsx'

const today = '2026-11-20'
let count = 0
function anInvoice(given: Partial<Invoice>): Invoice {
  count += 1
  return aShownInvoice({ _id: String(count), dueDate: today, reference: `INV-${count}`, ...given })
}
const known: Known = { zone: 'Asia/Kolkata', now: new Date('2026-11-20T10:00:00Z'), broken: new Set(), next: undefined }
const named = (_id: string, given: Partial<Invoice>) => aShownInvoice({ _id, ...given })

test('search matches part of a name or email, case-insensitive', () => {
  const list = [anInvoice({}), anInvoice({ clientName: 'Studio Banyan', clientEmail: 'hello@banyan.example' })]
  expect(searchInvoices(list, 'KAVERI f')).toEqual([list[0]])
  expect(searchInvoices(list, 'hello@')).toEqual([list[1]])
  expect(searchInvoices(list, '  ')).toEqual(list)
})

test('search matches part of a reference, and the beginning of an amount with or without commas', () => {
  const list = [anInvoice({ reference: 'INV-0040', amount: 36_400 }), anInvoice({ reference: 'K-7', amount: 640.5 })]
  expect(searchInvoices(list, 'inv-00')).toEqual([list[0]])
  for (const typed of ['36,400', '36400.00', '₹36,4', 'Rs. 364']) expect(searchInvoices(list, typed), typed).toEqual([list[0]])
  expect(searchInvoices(list, '640.5')).toEqual([list[1]])
  expect(searchInvoices(list, '400')).toEqual([])
})

test('search matches the note of a pause', () => {
  const pause = { until: null, note: 'Held until you resume it.', promised: false, scope: 'invoice' as const, because: 'owner' as const }
  const list = [anInvoice({ pause }), anInvoice({})]
  expect(searchInvoices(list, 'held until')).toEqual([list[0]])
})

test('each filter button counts the invoices of its status as stored', () => {
  const list = [anInvoice({ status: 'paid' }), anInvoice({ status: 'unpaid', dueDate: '2020-01-01' }), anInvoice({ status: 'overdue' })]
  expect(countByFilter(list)).toEqual({ all: 3, paid: 1, unpaid: 1, overdue: 1 })
})

test('totals: overdue with its invoices and clients as its status counts them, due within 14 days', () => {
  const list = [
    anInvoice({ amount: 0.1, dueDate: '2026-11-19', status: 'overdue' }),
    anInvoice({ amount: 3, dueDate: '2026-11-19' }),
    anInvoice({ amount: 0.4, dueDate: '2026-11-25', status: 'overdue' }),
    anInvoice({ amount: 0.2, dueDate: '2026-11-01', status: 'overdue', clientEmail: 'BILLING@kaveri.example' }),
    anInvoice({ amount: 5, dueDate: '2026-11-20' }),
    anInvoice({ amount: 7, dueDate: '2026-12-04' }),
    anInvoice({ amount: 9, dueDate: '2026-12-05' }),
    anInvoice({ amount: 500, balance: 8, amountPaid: 492, dueDate: '2026-12-01' }),
    anInvoice({ amount: 11, status: 'paid' }),
    anInvoice({ amount: 120, balance: 120, currency: 'EUR', dueDate: '2026-11-19', status: 'overdue', clientEmail: 'b@example.com' }),
  ]
  expect(totals(openItems(list, today), 'INR')).toEqual({
    overdue: [
      { currency: 'INR', amount: 0.7 },
      { currency: 'EUR', amount: 120 },
    ],
    invoices: 4,
    clients: 2,
    soon: [{ currency: 'INR', amount: 20 }],
  })
})

test('a card shows the days to or since the due date; a paid one only the date', () => {
  expect(dueLabel(anInvoice({ dueDate: '2026-11-02' }), today)).toBe('Due 02/11/2026, 18 days ago')
  expect(dueLabel(anInvoice({ dueDate: '2026-11-28' }), today)).toBe('Due 28/11/2026, in 8 days')
  expect(dueLabel(anInvoice({ dueDate: '2026-11-19' }), today)).toBe('Due 19/11/2026, 1 day ago')
  expect(dueLabel(anInvoice({}), today)).toBe('Due 20/11/2026, today')
  expect(dueLabel(anInvoice({ amount: 5000, amountPaid: 2000, balance: 3000 }), today)).toBe('of ₹5,000.00, due today')
  expect(dueLabel(anInvoice({ dueDate: '2026-11-01', status: 'paid' }), today)).toBe('Due 01/11/2026')
})

const idsOf = (list: Invoice[]) => list.map(({ _id }) => _id).join('')

test('sorting works by every column, and equal invoices stay newest first', () => {
  const list = [
    named('a', { clientName: 'banyan', amount: 9, dueDate: '2026-01-02', status: 'paid', reference: 'INV-10' }),
    named('b', { clientName: 'Banyan', amount: 1000, dueDate: '2025-12-31', status: 'overdue', reference: 'INV-9' }),
    named('c', {
      clientName: 'Álamo',
      amount: 20,
      dueDate: '2026-01-02',
      reference: 'INV-100',
      lastReminderAt: '2026-01-03T00:00:00Z',
    }),
  ]
  const sorted = (by: Parameters<typeof nextOrder>[1], ascending = true) => idsOf(sortInvoices(list, { by, ascending }, known))
  expect(sorted('client')).toBe('cab')
  expect(sorted('client', false)).toBe('abc')
  expect(sorted('reference')).toBe('bac')
  expect(sorted('amount', false)).toBe('bca')
  expect(sorted('due')).toBe('bac')
  expect(sorted('status')).toBe('bca')
  expect(sorted('reminder', false)).toBe('cab')
  expect(idsOf(sortInvoices(list, 'newest', known))).toBe('abc')
})

const failing = { since: '2026-11-17T03:30:00Z', code: 'mailbox_full' as const, words: 'mailbox full', reply: '452 4.2.2 full' }

test('what needs attention comes first: refused, broken promise, not delivered, the longest overdue, due soon, paid', () => {
  const list = [
    named('p', { status: 'paid', paidAt: '2026-11-02T00:00:00Z' }),
    named('q', { status: 'paid', paidAt: '2026-11-09T00:00:00Z' }),
    named('s', { dueDate: '2026-11-22' }),
    named('l', { dueDate: '2026-09-01', status: 'overdue' }),
    named('m', { dueDate: '2026-11-19', status: 'overdue' }),
    named('f', { dueDate: '2026-11-18', status: 'overdue', notDelivered: failing }),
    named('b', { dueDate: '2026-11-18', status: 'overdue' }),
    named('r', { dueDate: '2026-11-19', status: 'overdue', refusal: '550 5.1.1 no such user' }),
  ]
  expect(idsOf(sortInvoices(list, null, { ...known, broken: new Set(['b']) }))).toBe('rbflmsqp')
})

const aLine = { nextAt: null, reason: null, heldFor: null, language: 'en', step: null }

test('by the next reminder, an invoice without one comes last', () => {
  const at = (day: string) => ({ ...aLine, nextAt: `2026-11-${day}T03:30:00Z` })
  const next = new Map<string, Next>([
    ['a', { ...aLine, reason: 'schedule_inactive' }],
    ['b', at('25')],
    ['c', at('21')],
  ])
  const list = [named('a', {}), named('b', {}), named('c', {}), named('d', { status: 'paid' })]
  expect(idsOf(sortInvoices(list, { by: 'next', ascending: true }, { ...known, next }))).toBe('cbad')
})

test('the next emails are those of the first planned moment, one per client where they are grouped', () => {
  const line = (nextAt: string, reason: 'paused' | null = null) => ({ ...aLine, nextAt, reason })
  const morning = '2026-11-21T03:30:00Z'
  const list = [
    named('a', { clientName: 'Kaveri Foods', amount: 10 }),
    named('b', { clientName: 'Kaveri Foods', amount: 10 }),
    named('c', { clientName: 'Studio Banyan', clientEmail: 'hello@banyan.example', amount: 15 }),
    named('d', { clientName: 'Later', clientEmail: 'later@later.example' }),
    named('e', { clientName: 'Paused', clientEmail: 'paused@paused.example' }),
  ]
  const next = new Map([
    ['a', line(morning)],
    ['b', line(morning)],
    ['c', line(morning)],
    ['d', line('2026-11-25T03:30:00Z')],
    ['e', line('2026-11-20T03:30:00Z', 'paused')],
  ])
  expect(nextRun(list, { ...known, next }, false)).toEqual({ at: morning, emails: 3, clients: ['Kaveri Foods', 'Studio Banyan'] })
  expect(nextRun(list, { ...known, next }, true)).toMatchObject({ emails: 2 })
  expect(nextRun(list, { ...known, next: new Map() }, true)).toBeNull()
})

test('of one client, invoices of another language or tone are in an email of their own, as in the run', () => {
  const list = [named('a', {}), named('b', {}), named('c', {}), named('d', {})]
  const step = { number: 1, of: 3, offset: 3, tone: 'friendly' as Tone }
  const line = { ...aLine, nextAt: '2026-11-21T03:30:00Z', step }
  const next = new Map([
    ['a', line],
    ['b', { ...line, step: { ...step, number: 3, offset: 14, tone: 'firm' as Tone } }],
    ['c', { ...line, language: 'hi' }],
    ['d', line],
  ])
  expect(nextRun(list, { ...known, next }, true)).toMatchObject({ emails: 3, clients: ['Kaveri Foods'] })
})

test('a third click on a column returns to what needs attention', () => {
  const first = nextOrder(null, 'amount')
  expect(first).toEqual({ by: 'amount', ascending: false })
  const second = nextOrder(first, 'amount')
  expect(second).toEqual({ by: 'amount', ascending: true })
  expect(nextOrder(second, 'amount')).toBeNull()
  expect(nextOrder(first, 'due')).toEqual({ by: 'due', ascending: true })
})

test('undoing a bulk status change restores each status', () => {
  const before = [named('a', {}), named('b', { status: 'overdue' }), named('c', {})]
  expect(inverseChanges(before, 'mark')).toEqual([
    { ids: ['a', 'c'], change: { do: 'mark', status: 'unpaid' } },
    { ids: ['b'], change: { do: 'mark', status: 'overdue' } },
  ])
})

test('undoing a bulk pause restores the previous pauses and ends the new ones', () => {
  const own = { until: '2026-12-01', note: 'on holiday', promised: false, scope: 'invoice' as const, because: 'owner' as const }
  const before = [named('a', {}), named('b', { pause: own }), named('c', { pause: { ...own, scope: 'client' } })]
  expect(inverseChanges(before, 'pause')).toEqual([
    { ids: ['a', 'c'], change: { do: 'resume' } },
    { ids: ['b'], change: { do: 'pause', until: '2026-12-01', note: 'on holiday', promised: false } },
  ])
})

test('undoing a bulk delete takes one call', () => {
  expect(inverseChanges([named('a', {}), named('b', { status: 'paid' })], 'delete')).toEqual([
    { ids: ['a', 'b'], change: { do: 'restore' } },
  ])
})

let items = 0
const item = (name: string, rupees: number, daysLate: number): DueItem => {
  items += 1
  return { id: String(items), name, email: `${name}@example.com`, currency: 'INR', amount: rupees, daysLate, late: daysLate > 0 }
}

test('the client who owes most of what is overdue is the finding', () => {
  expect(
    findingOf([item('Arjun & Sons', 420_000, 34), item('Zenith Labs', 146_400, 19), item('Lotus Dental', 9_000_000, -3)], 'INR'),
  ).toEqual({
    title: 'Arjun & Sons owes 74% of what is overdue',
    text: '₹4,20,000.00 in one invoice, 34 days late',
  })
  expect(findingOf([item('Kaveri', 3_000, 5), item('Kaveri', 1_000, 9)], 'INR')).toEqual({
    title: 'Only Kaveri is overdue',
    text: '₹4,000.00 in 2 invoices, up to 9 days late',
  })
})

test('a share is never rounded up to all', () => {
  expect(findingOf([item('Large', 100_000, 2), item('Small', 1, 1)], 'INR').title).toBe('Large owes 99% of what is overdue')
})

test('where no client owes most, the age is the finding, then the three largest, then their number', () => {
  const clients = (...days: number[]) => days.map((daysLate, nth) => item(`Client ${nth}`, 1_000, daysLate))
  expect(findingOf(clients(61, 40, 3), 'INR')).toEqual({
    title: '67% of what is overdue is more than 30 days late',
    text: 'The oldest: Client 0, ₹1,000.00, 61 days late',
  })
  expect(findingOf(clients(6, 5, 4, 3, 2), 'INR')).toEqual({
    title: 'Three clients owe 60% of what is overdue',
    text: 'Client 0, Client 1 and Client 2',
  })
  expect(findingOf(clients(6, 5, 4, 3, 2, 1, 1), 'INR').title).toBe('7 clients have overdue invoices')
})

test('without anything overdue the next due date is shown, and without anything open that all is paid', () => {
  expect(findingOf([item('Lotus', 6_400, -3), item('Banyan', 96_000, -13)], 'INR')).toEqual({
    title: 'Nothing is overdue',
    text: 'Next: Lotus, ₹6,400.00, due in 3 days',
  })
  expect(findingOf([{ ...item('Kept unpaid', 6_400, 3), late: false }], 'INR')).toEqual({ title: 'Nothing is overdue', text: null })
  expect(findingOf([], 'INR')).toEqual({ title: 'All invoices are paid.', text: null })
})
