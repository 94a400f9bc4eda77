import { expect, test } from 'vitest'
import { aShownInvoice } from '#test/shown-invoice.ts'
import { type Known, nextLabel, stateOf } from './invoice-state.ts'

const known: Known = { zone: 'Asia/Kolkata', now: new Date('2026-11-20T10:00:00Z'), broken: new Set(), next: undefined }
const pause = { until: '2026-11-28', note: '', promised: true, scope: 'invoice' as const }
const textOf = (given: Parameters<typeof aShownInvoice>[0], around: Partial<Known> = {}) =>
  stateOf(aShownInvoice(given), { ...known, ...around }).text

test('the state names what needs the owner before what happened last', () => {
  const reminded = { lastReminderAt: '2026-11-20T03:30:00Z' }
  expect(textOf({})).toBe('No reminder yet')
  expect(textOf(reminded)).toBe('Reminded today, 09:00')
  expect(textOf({ ...reminded, pause })).toBe('Client promised to pay by 28/11/2026.')
  expect(textOf({ ...reminded, refusal: '550 5.1.1 no' })).toBe('Last reminder rejected')
  expect(textOf({ ...reminded, refusal: '550 5.1.1 no' }, { broken: new Set(['a']) })).toBe('Promised to pay and hasn’t.')
})

test('a paid invoice shows only when it was paid', () => {
  const paid = { status: 'paid', paidAt: '2026-11-05T10:00:00Z' } as const
  expect(textOf({ ...paid, refusal: '550 no', remindersSent: 2 })).toBe('Paid 05/11/2026 after 2 reminders')
  expect(textOf(paid)).toBe('Paid 05/11/2026')
})

test('the next reminder has a date, or a reason why there is none', () => {
  const invoice = aShownInvoice({})
  const of = (line: { nextAt: string | null; reason: null | 'schedule_inactive' }) =>
    nextLabel(invoice, { ...known, next: new Map([['a', line]]) })
  expect(nextLabel(invoice, known)).toBeNull()
  expect(of({ nextAt: '2026-11-21T03:30:00Z', reason: null })).toBe('tomorrow, 09:00')
  expect(of({ nextAt: null, reason: 'schedule_inactive' })).toBe('Off')
  expect(nextLabel(aShownInvoice({ pause }), known)).toBe('Paused until 28/11/2026')
  expect(nextLabel(aShownInvoice({ status: 'paid', pause }), known)).toBeNull()
})
