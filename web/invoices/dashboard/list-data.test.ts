import { expect, test } from 'vitest'
import type { Invoice } from '#contract/invoices.ts'
import { aShownInvoice } from '#test/shown-invoice.ts'
import {
  countByFilter,
  countLateUnpaid,
  dueLabel,
  inverseChanges,
  lastEventLabel,
  nextOrder,
  openItems,
  searchInvoices,
  sortInvoices,
  totals,
} from './list-data.ts'

const today = '2026-11-20'
let count = 0
function anInvoice(given: Partial<Invoice>): Invoice {
  count += 1
  return aShownInvoice({ _id: String(count), dueDate: today, reference: `INV-${count}`, ...given })
}
const named = (_id: string, given: Partial<Invoice>) => aShownInvoice({ _id, ...given })

test('search matches part of a name or email, case-insensitive', () => {
  const list = [anInvoice({}), anInvoice({ clientName: 'Studio Banyan', clientEmail: 'hello@banyan.example' })]
  expect(searchInvoices(list, 'KAVERI f')).toEqual([list[0]])
  expect(searchInvoices(list, 'hello@')).toEqual([list[1]])
  expect(searchInvoices(list, '  ')).toEqual(list)
})

test('each filter button counts the invoices of its status as stored', () => {
  const list = [anInvoice({ status: 'paid' }), anInvoice({ status: 'unpaid', dueDate: '2020-01-01' }), anInvoice({ status: 'overdue' })]
  expect(countByFilter(list)).toEqual({ all: 3, paid: 1, unpaid: 1, overdue: 1 })
})

test('invoices past due but marked unpaid are counted, because the overdue filter leaves them out', () => {
  const list = [
    anInvoice({ dueDate: '2026-11-19' }),
    anInvoice({ dueDate: today }),
    anInvoice({ dueDate: '2026-11-19', status: 'overdue' }),
    anInvoice({ dueDate: '2026-11-19', status: 'paid' }),
  ]
  expect(countLateUnpaid(list, today)).toBe(1)
})

test('totals: overdue, due within 14 days, paid this month', () => {
  const list = [
    anInvoice({ amount: 0.1, dueDate: '2026-11-19' }),
    anInvoice({ amount: 0.2, dueDate: '2026-11-01', status: 'overdue' }),
    anInvoice({ amount: 5, dueDate: '2026-11-20' }),
    anInvoice({ amount: 7, dueDate: '2026-12-04' }),
    anInvoice({ amount: 9, dueDate: '2026-12-05' }),
    anInvoice({ amount: 11, status: 'paid', paidAt: '2026-10-31T19:00:00Z' }),
    anInvoice({ amount: 13, status: 'paid', paidAt: '2026-10-31T18:00:00Z' }),
  ]
  expect(totals(list, openItems(list, today), today, 'Asia/Kolkata')).toEqual({ overdue: 30, soon: 1200, paid: 1100 })
})

test('a card shows the days to or since the due date; a paid one only the date', () => {
  expect(dueLabel(anInvoice({ dueDate: '2026-11-02' }), today)).toBe('Due 02/11/2026, 18 days ago')
  expect(dueLabel(anInvoice({ dueDate: '2026-11-28' }), today)).toBe('Due 28/11/2026, in 8 days')
  expect(dueLabel(anInvoice({ dueDate: '2026-11-19' }), today)).toBe('Due 19/11/2026, 1 day ago')
  expect(dueLabel(anInvoice({}), today)).toBe('Due 20/11/2026, today')
  expect(dueLabel(anInvoice({ dueDate: '2026-11-01', status: 'paid' }), today)).toBe('Due 01/11/2026')
})

test('the foot of a card shows the last event', () => {
  const now = new Date('2026-11-20T10:00:00Z')
  const zone = 'Asia/Kolkata'
  expect(lastEventLabel(anInvoice({}), zone, now)).toBe('No reminder yet')
  expect(lastEventLabel(anInvoice({ lastReminderAt: '2026-11-20T03:30:00Z' }), zone, now)).toBe('Reminded today, 09:00')
  const paid = { status: 'paid', paidAt: '2026-11-05T10:00:00Z' } as const
  expect(lastEventLabel(anInvoice({ ...paid, remindersSent: 2 }), zone, now)).toBe('Paid 05/11/2026 after 2 reminders')
  expect(lastEventLabel(anInvoice(paid), zone, now)).toBe('Paid 05/11/2026')
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
  const sorted = (by: Parameters<typeof nextOrder>[1], ascending = true) => idsOf(sortInvoices(list, { by, ascending }))
  expect(sorted('client')).toBe('cab')
  expect(sorted('client', false)).toBe('abc')
  expect(sorted('reference')).toBe('bac')
  expect(sorted('amount', false)).toBe('bca')
  expect(sorted('due')).toBe('bac')
  expect(sorted('status')).toBe('bca')
  expect(sorted('reminder', false)).toBe('cab')
  expect(idsOf(sortInvoices(list, null))).toBe('abc')
})

test('a third click on a column returns to newest first', () => {
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
  const own = { until: '2026-12-01', note: 'on holiday', promised: false, scope: 'invoice' as const }
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
