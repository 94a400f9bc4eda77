import { expect, test } from 'vitest'
import { type Invoice, invoice } from '#contract/invoices.ts'
import { undoing } from './undoing.ts'

function anInvoice(_id: string, said: Partial<Invoice>): Invoice {
  return invoice.parse({
    _id,
    clientName: 'Kaveri Foods',
    clientEmail: 'billing@kaveri.example',
    amount: 100,
    dueDate: '2026-11-20',
    status: 'unpaid',
    reference: 'INV-0001',
    createdAt: '2026-11-01T00:00:00Z',
    updatedAt: '2026-11-01T00:00:00Z',
    paidAt: null,
    remindersSent: 0,
    lastReminderAt: null,
    pause: null,
    ...said,
  })
}

test('marking many is taken back to what each was before', () => {
  const before = [anInvoice('a', {}), anInvoice('b', { status: 'overdue' }), anInvoice('c', {})]
  expect(undoing(before, 'mark')).toEqual([
    { ids: ['a', 'c'], change: { do: 'mark', status: 'unpaid' } },
    { ids: ['b'], change: { do: 'mark', status: 'overdue' } },
  ])
})

test('pausing many gives back the pauses there were, and those alone', () => {
  const own = { until: '2026-12-01', note: 'on holiday', promised: false, scope: 'invoice' as const }
  const before = [anInvoice('a', {}), anInvoice('b', { pause: own }), anInvoice('c', { pause: { ...own, scope: 'client' } })]
  expect(undoing(before, 'pause')).toEqual([
    { ids: ['a', 'c'], change: { do: 'resume' } },
    { ids: ['b'], change: { do: 'pause', until: '2026-12-01', note: 'on holiday', promised: false } },
  ])
})

test('deleting many is taken back in one go', () => {
  expect(undoing([anInvoice('a', {}), anInvoice('b', { status: 'paid' })], 'delete')).toEqual([
    { ids: ['a', 'b'], change: { do: 'restore' } },
  ])
})
