import { expect, test } from 'vitest'
import type { HoldReason } from '#contract/reminders.ts'
import { aShownInvoice } from '#test/shown-invoice.ts'
import { type Known, nextLabel, stateOf } from './invoice-state.ts'

const known: Known = { zone: 'Asia/Kolkata', now: new Date('2026-11-20T10:00:00Z'), broken: new Set(), next: undefined }
const full = { since: '2026-11-17T03:30:00Z', code: 'mailbox_full' as const, words: 'mailbox full', reply: '452 4.2.2 Over quota' }
const hold = { since: '2026-11-17T03:30:00Z', words: 'Refused.', reply: '550 5.1.1 No such user' }
const pause = { until: '2026-11-28', note: '', promised: true, scope: 'invoice' as const }
const textOf = (given: Parameters<typeof aShownInvoice>[0], around: Partial<Known> = {}) =>
  stateOf(aShownInvoice(given), { ...known, ...around }).text

test('the state names what needs the owner before what happened last', () => {
  const reminded = { lastReminderAt: '2026-11-20T03:30:00Z' }
  expect(textOf({})).toBe('No reminder yet')
  expect(textOf(reminded)).toBe('Reminded today, 09:00')
  expect(textOf({ ...reminded, pause })).toBe('Client promised to pay by 28/11/2026.')
  expect(textOf({ ...reminded, notDelivered: full })).toBe('Not delivered for 3 days: mailbox full')
  expect(textOf({ notDelivered: { ...full, since: '2026-11-20T03:30:00Z' } })).toBe('Not delivered: mailbox full')
  expect(textOf({ ...reminded, notDelivered: full }, { broken: new Set(['a']) })).toBe('Promised to pay and hasn’t.')
  expect(textOf({ ...reminded, addressHold: hold, notDelivered: full })).toBe('Address doesn’t exist. Correct it to resume.')
})

test('a paid invoice shows only when it was paid', () => {
  const paid = { status: 'paid', paidAt: '2026-11-05T10:00:00Z' } as const
  expect(textOf({ ...paid, addressHold: hold, remindersSent: 2 })).toBe('Paid 05/11/2026 after 2 reminders')
  expect(textOf(paid)).toBe('Paid 05/11/2026')
})

test('the mail server’s words come with a failure only', () => {
  expect(stateOf(aShownInvoice({ notDelivered: full }), known)).toMatchObject({ tone: 'warn', reply: full.reply })
  expect(stateOf(aShownInvoice({ notDelivered: full, refusal: full.reply }), known)).toMatchObject({ tone: 'bad' })
  expect(stateOf(aShownInvoice({ lastReminderAt: '2026-11-20T03:30:00Z' }), known).reply).toBeNull()
})

test('the next reminder has a date, or a reason why there is none', () => {
  const invoice = aShownInvoice({})
  const of = (line: { nextAt: string | null; reason: null | 'schedule_inactive' | 'open_mail'; heldFor?: HoldReason }) =>
    nextLabel(invoice, { ...known, next: new Map([['a', { heldFor: null, ...line }]]) })
  expect(nextLabel(invoice, known)).toBeNull()
  expect(of({ nextAt: '2026-11-21T03:30:00Z', reason: null })).toBe('tomorrow, 09:00')
  expect(of({ nextAt: null, reason: 'schedule_inactive' })).toBe('Off')
  expect(of({ nextAt: null, reason: 'open_mail' })).toBe('Being sent')
  expect(of({ nextAt: '2026-11-20T10:35:00Z', reason: 'open_mail' })).toBe('today, 16:05')
  expect(of({ nextAt: null, reason: 'open_mail', heldFor: 'sending_paused' })).toBe('On hold')
  expect(nextLabel(aShownInvoice({ pause }), known)).toBe('Paused until 28/11/2026')
  expect(nextLabel(aShownInvoice({ addressHold: hold }), known)).toBe('On hold: address')
  expect(nextLabel(aShownInvoice({ status: 'paid', pause }), known)).toBeNull()
})
