import { expect, test } from 'vitest'
import type { Invoice } from '#contract/invoices.ts'
import { aShownInvoice } from '#test/shown-invoice.ts'
import { undoing } from './undoing.ts'

const anInvoice = (_id: string, said: Partial<Invoice>) => aShownInvoice({ _id, ...said })

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
