import { expect, test } from 'vitest'
import type { Invoice } from '#contract/invoices.ts'
import { aShownInvoice } from '#test/shown-invoice.ts'
import { nextOrder, sortInvoices } from './order.ts'

const anInvoice = (_id: string, said: Partial<Invoice>) => aShownInvoice({ _id, ...said })
const idsOf = (list: Invoice[]) => list.map(({ _id }) => _id).join('')

test('a list is sorted by each of its columns, and equal ones stay newest first', () => {
  const list = [
    anInvoice('a', { clientName: 'banyan', amount: 9, dueDate: '2026-01-02', status: 'paid', reference: 'INV-10' }),
    anInvoice('b', { clientName: 'Banyan', amount: 1000, dueDate: '2025-12-31', status: 'overdue', reference: 'INV-9' }),
    anInvoice('c', {
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

test('a third click on a column leads back to newest first', () => {
  const first = nextOrder(null, 'amount')
  expect(first).toEqual({ by: 'amount', ascending: false })
  const second = nextOrder(first, 'amount')
  expect(second).toEqual({ by: 'amount', ascending: true })
  expect(nextOrder(second, 'amount')).toBeNull()
  expect(nextOrder(first, 'due')).toEqual({ by: 'due', ascending: true })
})
