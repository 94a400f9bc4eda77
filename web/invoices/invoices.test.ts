import { QueryClient } from '@tanstack/react-query'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { ClientEvent } from '#contract/clients.ts'
import { type Invoice, invoiceCalls } from '#contract/invoices.ts'
import type { PayAnswer } from '#contract/pay-answers.ts'
import type { Payment } from '#contract/payments.ts'
import type { DayDecision, HistoryChange, HistoryMail, HoldReason, InvoiceHistory } from '#contract/reminders.ts'
import { aShownInvoice } from '#test/shown-invoice.ts'
import { daysFromDue, foldEvents, usualDelay, withVoids } from '#web/invoices/clients/client-data.ts'
import { clientChanges } from '#web/invoices/clients/client-reminders.tsx'
import { clientsOf, statusByDate, suggestions } from '#web/invoices/form/invoice-form.tsx'
import { refetchDelay, timelineOf, undoable } from '#web/invoices/history/history-timeline.tsx'
import { type InvoiceDates, layOutInvoiceLine } from '#web/invoices/summary/invoice-line.tsx'
import { type ApiCache, applyToCache, queryKey } from '#web/platform/query.ts'
import {
  describeAnswer,
  describePause,
  isPaused,
  type Known,
  nextLabel,
  pausePill,
  removeInvoice,
  stateOf,
  writeInvoice,
} from './invoice-state.ts'

test('of a client only what was changed is sent, and a country or time zone takes its region along', () => {
  const before = { copies: [], mailbox: '', language: 'de', country: 'DE', region: 'BY', timezone: null, smart: true }
  expect(clientChanges(before, { ...before })).toEqual({})
  const copies = [{ email: 'two@kaveri.example', gets: 'from_step:2' }]
  expect(clientChanges(before, { ...before, copies, language: '' })).toEqual({
    copies: [{ email: 'two@kaveri.example', gets: 'from_step', step: 2 }],
    language: null,
  })
  expect(clientChanges(before, { ...before, timezone: 'Europe/Berlin' })).toEqual({ timezone: 'Europe/Berlin', region: 'BY' })
  expect(clientChanges(before, { ...before, country: 'FR', region: '' })).toEqual({ country: 'FR', region: null })
  expect(clientChanges(before, { ...before, region: 'BE' })).toEqual({ region: 'BE' })
})

const listKey = queryKey(invoiceCalls.list, {})
const anInvoice = (_id: string, day: string, given: Partial<Invoice> = {}) =>
  aShownInvoice({ _id, createdAt: `2026-11-${day}T00:00:00Z`, ...given })
const listIn = (queries: QueryClient) => queries.getQueryData<Invoice[]>(listKey)
const save = (queries: QueryClient, invoice: Invoice) =>
  applyToCache<typeof invoiceCalls.update>(queries, { update: writeInvoice, invalidates: [invoiceCalls.list] }, invoice, {
    params: { id: invoice._id },
    body: {},
  })

test('a created, a changed and a restored invoice each appear at their place in the list', async () => {
  const queries = new QueryClient()
  queries.setQueryData(listKey, [anInvoice('c', '03'), anInvoice('a', '01')])
  await save(queries, anInvoice('d', '04'))
  await save(queries, anInvoice('b', '02'))
  await save(queries, anInvoice('a', '01', { status: 'paid' }))
  expect(listIn(queries)?.map(({ _id, status }) => [_id, status])).toEqual([
    ['d', 'unpaid'],
    ['c', 'unpaid'],
    ['b', 'unpaid'],
    ['a', 'paid'],
  ])
  expect(queries.getQueryData(queryKey(invoiceCalls.read, { params: { id: 'a' } }))).toMatchObject({ status: 'paid' })
})

test('a deleted invoice leaves the list', async () => {
  const queries = new QueryClient()
  queries.setQueryData(listKey, [anInvoice('b', '02'), anInvoice('a', '01')])
  const update = (cache: ApiCache) => removeInvoice(cache, 'b')
  await applyToCache<typeof invoiceCalls.remove>(queries, { update }, undefined, { params: { id: 'b' } })
  expect(listIn(queries)?.map(({ _id }) => _id)).toEqual(['a'])
})

test('a list that is not cached is not made up from one invoice', async () => {
  const queries = new QueryClient()
  await save(queries, anInvoice('a', '01'))
  expect(listIn(queries)).toBeUndefined()
})

test('a list requested before the save does not overwrite it', async () => {
  const queries = new QueryClient()
  queries.setQueryData(listKey, [])
  const answers: ((list: Invoice[]) => void)[] = []
  const queryFn = () => new Promise<Invoice[]>((answer) => answers.push(answer))
  const before = queries.fetchQuery({ queryKey: listKey, queryFn }).catch(() => undefined)
  await save(queries, anInvoice('a', '01'))
  answers[0]?.([])
  await before
  expect(listIn(queries)).toHaveLength(1)
})

const promise = { until: '2026-12-05', note: 'Call Mr Rao on Monday', promised: true, scope: 'client' as const, because: 'owner' as const }
const clientEmail = 'billing@kaveri.example'

test('a pause is described by its scope, promise and note', () => {
  expect(describePause({ clientEmail, pause: promise })).toEqual([
    'Reminders are paused for all invoices of billing@kaveri.example.',
    'Client promised to pay by 05/12/2026.',
    'Call Mr Rao on Monday',
  ])
  expect(describePause({ clientEmail, pause: { until: null, note: '', promised: false, scope: 'invoice', because: 'owner' } })).toEqual([
    'Reminders are paused for this invoice.',
  ])
})

test('a pause by what the client said names it', () => {
  const pause = { until: '2026-03-17', note: '', promised: false, scope: 'invoice' as const, because: 'says_paid' as const }
  expect(pausePill(pause)).toBe('Says paid: paused until 17/03/2026')
  expect(describePause({ clientEmail, pause })).toEqual(['Reminders are paused for this invoice.', 'The client says that it is paid.'])
  const question = { ...pause, because: 'question' as const }
  expect(pausePill(question)).toBe('Question: paused until 17/03/2026')
})

test('a paid invoice is not shown as paused', () => {
  expect(isPaused({ pause: promise, status: 'overdue' })).toBe(true)
  expect(isPaused({ pause: promise, status: 'paid' })).toBe(false)
  expect(isPaused({ pause: null, status: 'overdue' })).toBe(false)
})

const of = (clientName: string, clientEmail: string) => ({ clientName, clientEmail })
const clients = clientsOf([
  of('Kaveri Foods', 'new@kaveri.example'),
  of('kaveri foods', 'NEW@kaveri.example'),
  of('Kaveri Foods', 'old@kaveri.example'),
  of('Studio Banyan', 'hello@banyan.example'),
])

test('clients of earlier invoices are suggested once, as written on the newest', () => {
  expect(suggestions(clients, 'name', 'KAV')).toEqual(['Kaveri Foods'])
  expect(suggestions(clients, 'email', 'kaveri')).toEqual(['new@kaveri.example', 'old@kaveri.example'])
})

test('no suggestions for an empty field or for text typed in full', () => {
  expect(suggestions(clients, 'name', ' ')).toEqual([])
  expect(suggestions(clients, 'name', 'studio banyan')).toEqual([])
})

const known: Known = { zone: 'Asia/Kolkata', now: new Date('2026-11-20T10:00:00Z'), broken: new Set(), next: undefined }
const full = { since: '2026-11-17T03:30:00Z', code: 'mailbox_full' as const, words: 'mailbox full', reply: '452 4.2.2 Over quota' }
const hold = { since: '2026-11-17T03:30:00Z', words: 'Refused.', reply: '550 5.1.1 No such user' }
const pause = { until: '2026-11-28', note: '', promised: true, scope: 'invoice' as const, because: 'owner' as const }
const textOf = (given: Parameters<typeof aShownInvoice>[0], around: Partial<Known> = {}) =>
  stateOf(aShownInvoice(given), { ...known, ...around }).text

test('a typed due date decides between unpaid and overdue, but never about a paid invoice', () => {
  const after = (status: string, date: string) => statusByDate(date, '2026-11-20', { dueDate: '2026-11-10', status })
  expect(after('overdue', '2026-11-20')).toBe('unpaid')
  expect(after('unpaid', '2026-11-19')).toBe('overdue')
  expect(after('paid', '2026-12-24')).toBe('paid')
  expect(after('unpaid', '2026-11-10')).toBe('unpaid')
  expect(after('overdue', '2026-12-')).toBe('overdue')
})

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
  const paid = { status: 'paid', paidOn: '2026-11-05' } as const
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
    nextLabel(invoice, { ...known, next: new Map([['a', { heldFor: null, language: 'en', step: null, ...line }]]) })
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

test('an invoice that was created as paid tells nothing of when its client pays', () => {
  const paid = (paidOn: string, given: Partial<Invoice> = {}) =>
    aShownInvoice({ status: 'paid', dueDate: '2026-11-01', paidOn, paidAt: `${paidOn}T09:00:00Z`, ...given })
  const imported = paid('2026-11-25', { createdAt: '2026-11-25T09:00:00Z' })
  const list = [paid('2026-11-03'), paid('2026-11-04'), paid('2026-11-05')]
  expect(daysFromDue(imported, '2026-11-26')).toBeNull()
  expect(daysFromDue(paid('2026-11-03'), '2026-11-26')).toBe(2)
  expect(usualDelay([imported, imported, ...list], '2026-11-26')).toEqual({ days: 3, of: 3 })
  expect(usualDelay([imported, imported, imported], '2026-11-26')).toBeNull()
})

test('a payment of a client is listed when it was recorded, and when it was taken back', () => {
  const paid = (_id: string, at: string, voidedAt: string | null): ClientEvent => ({
    kind: 'payment',
    _id,
    at,
    reference: 'INV-0001',
    payment: {
      _id,
      invoiceId: 'x',
      kind: 'payment',
      origin: 'by_hand',
      amount: 500,
      currency: 'INR',
      paidOn: '2026-03-01',
      method: null,
      reference: '',
      note: '',
      recordedAt: at,
      voidedAt,
    },
  })
  const events = [paid('second', '2026-03-03T09:00:00Z', null), paid('first', '2026-03-02T09:00:00Z', '2026-03-04T09:00:00Z')]
  const shown = withVoids(events).map((event) => [event._id, event.at, event.kind === 'payment' && event.payment.voidedAt !== null])
  expect(shown).toEqual([
    ['first void', '2026-03-04T09:00:00Z', true],
    ['second', '2026-03-03T09:00:00Z', false],
    ['first', '2026-03-02T09:00:00Z', false],
  ])
})

const dates = (given: Partial<InvoiceDates>): InvoiceDates => ({
  created: '2026-11-02',
  due: '2026-11-17',
  today: '2026-11-22',
  paid: null,
  parts: [],
  reminders: ['2026-11-18', '2026-11-19', '2026-11-22'],
  next: '2026-11-23',
  ...given,
})

test('the dates are in order, and the line names what has room', () => {
  const line = layOutInvoiceLine(dates({}), 800)
  const places = [line.created, line.due, ...line.reminders.map(({ x }) => x), line.today, line.next ?? 0]
  expect(places).toEqual(places.toSorted((one, other) => one - other))
  expect(line.labels.map(({ text }) => text).toSorted()).toEqual(['3 reminders', 'created 02/11', 'due 17/11', 'today'])
})

test('reminders of a year are few marks, and a paid invoice has no next reminder', () => {
  const days = Array.from({ length: 365 }, (_, nth) => new Date(Date.UTC(2025, 10, 18 + nth)).toISOString().slice(0, 10))
  const line = layOutInvoiceLine(dates({ due: '2025-11-17', created: '2025-11-01', reminders: days, paid: '2026-11-20' }), 800)
  expect(line.reminders.length).toBeLessThan(5)
  expect(line.next).toBeNull()
  expect(line.labels.map(({ text }) => text)).toContain('paid 20/11')
})

test('everything stays inside the frame, no two labels overlap, and none crosses the mark of today', () => {
  const day = fc
    .date({ min: new Date('2024-01-01'), max: new Date('2027-12-31'), noInvalidDate: true })
    .map((date) => date.toISOString().slice(0, 10))
  const some = fc.record({
    created: day,
    due: day,
    today: day,
    paid: fc.option(day),
    parts: fc.array(fc.record({ date: day, amount: fc.constantFrom('₹5.00', '₹9,99,99,99,999.99') }), { maxLength: 4 }),
    next: fc.option(day),
    reminders: fc.array(day, { maxLength: 40 }),
  })
  fc.assert(
    fc.property(some, fc.integer({ min: 250, max: 1100 }), (given, width) => {
      const { reminders, created, due, today, paid, next, labels, part } = layOutInvoiceLine(given, width)
      for (const x of [created, due, today, paid ?? 0, next ?? 0, ...reminders.flatMap((mark) => [mark.x, mark.end])]) {
        expect(x).toBeGreaterThanOrEqual(0)
        expect(x).toBeLessThanOrEqual(width)
      }
      for (const [left = 0, right = 0] of part ? [spanOf(part)] : []) {
        expect(left).toBeGreaterThanOrEqual(-0.01)
        expect(right).toBeLessThanOrEqual(width + 0.01)
        expect(left > today + 5 || right < today - 5).toBe(true)
      }
      const spans = labels.map(spanOf).toSorted(([one = 0], [other = 0]) => one - other)
      for (const [nth, [left = 0]] of spans.entries()) if (nth > 0) expect(left).toBeGreaterThanOrEqual(spans[nth - 1]?.[1] ?? 0)
    }),
  )
})

function spanOf({ x, text, anchor }: { x: number; text: string; anchor: 'start' | 'middle' | 'end' }): [number, number] {
  const room = text.length * 7.4
  return anchor === 'start' ? [x, x + room] : anchor === 'end' ? [x - room, x] : [x - room / 2, x + room / 2]
}

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
  bouncedAt: null,
  attempt: 1,
  nextTryAt: null,
  serverReply: '250 OK',
  copiesRefused: null,
  invoices: 1,
  sequence: null,
  step: null,
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
  atClient: null,
  notDelivered: null,
  mails: [],
  days: [],
  payments: [],
  answers: [],
  changes: [],
  notes: [],
  smart: true,
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
const unpaid = { createdAt: '2026-02-01T06:00:00Z', currency: 'INR' }
/** Each line as its outcome and days, without the creation at the end. */
const linesOf = (history: InvoiceHistory, of: Parameters<typeof timelineOf>[1] = unpaid) =>
  timelineOf(history, of, zone, null)
    .map(({ entries }) => [entries[0].outcome, ...entries.map(({ date }) => date.slice(5))].join(' '))
    .slice(0, -1)

test('lines are newest first, from the payment to the creation', () => {
  const history = aHistory({
    mails: [aMail({ _id: 'by hand', kind: 'send_now', sentAt: '2026-03-02T09:00:00Z' }), aMail({ _id: 'daily' })],
    days: [aDay({ date: '2026-03-03', outcome: 'paused' }), aDay({ mailId: 'daily', outcome: 'sent' })],
  })
  const lines = timelineOf({ ...history, payments: [aPayment({ origin: 'marked' })] }, unpaid, zone, null)
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
    invoice: {
      reference: 'INV-0001',
      clientName: 'Kaveri Foods',
      clientEmail: 'billing@kaveri.example',
      balance: 5000,
      amountPaid: 0,
      currency: 'INR',
    },
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

test('changes of one call are one line, those of a person who works alone are none, and only the last of a field can be undone', () => {
  const change = (given: Partial<HistoryChange>): HistoryChange => ({
    _id: `${given.at} ${given.field}`,
    at: '2026-03-05T09:00:00Z',
    by: 'Vikram Menon',
    field: 'amount',
    before: '5000',
    after: '5500',
    ...given,
  })
  const changes = [
    change({ at: '2026-03-06T09:00:00Z', field: 'amount', before: '5500', after: '6000' }),
    change({ field: 'due_date', before: '2026-03-02', after: '2026-03-20' }),
    change({}),
    change({ at: '2026-03-04T09:00:00Z', field: 'reference', before: 'INV-1', after: 'R-1', by: 'Robot (Asha Rao)' }),
    change({ at: '2026-03-03T09:00:00Z', field: 'status', before: 'unpaid', after: 'paid' }),
    change({ at: '2026-02-01T06:00:00Z', field: 'created', before: null, after: null, by: 'Asha Rao' }),
  ]
  const lines = timelineOf(aHistory({ changes }), unpaid, zone, null)
  expect(lines.map(({ entries: [entry] }) => (entry.kind === 'change' ? entry.changes.map(({ field }) => field) : entry))).toMatchObject([
    ['amount'],
    ['due_date', 'amount'],
    ['reference'],
    ['status'],
    { kind: 'invoice', by: 'Asha Rao' },
  ])
  expect(timelineOf(aHistory({ changes }), unpaid, zone, 'Vikram Menon')).toHaveLength(2)
  const now = aShownInvoice({ amount: 6000, dueDate: '2026-03-20', reference: 'R-1' })
  const undoing = (invoice: Invoice) => [
    ...undoable(
      lines.flatMap(({ entries }) => entries),
      invoice,
    ).values(),
  ]
  expect(undoing(now)).toEqual([{ amount: 5500 }, { reference: 'INV-1' }])
  // What was changed since without a line here stays, and so do the amount of a paid invoice and a payment.
  expect(undoing({ ...now, status: 'paid', reference: 'R-2' })).toEqual([])
})

test('a decision whose email is too old to be listed appears with its own text', () => {
  const history = aHistory({ days: [aDay({ mailId: 'long ago', outcome: 'sent', words: 'Sent.' })] })
  expect(timelineOf(history, unpaid, zone, null)[0]?.entries).toMatchObject([{ kind: 'day', decision: { words: 'Sent.' } }])
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

test('an email whose copy was refused is not folded into those whose copies arrived', () => {
  const copiesRefused = 'The copy to boss@example.com was refused: address doesn’t exist'
  const mails = [sentOn('08'), sentOn('07', { copiesRefused }), sentOn('06', { copiesRefused })]
  expect(linesOf(aHistory({ mails }))).toEqual(['sent 03-08', 'sent 03-07 03-06'])
  const events = mails.map(({ _id, sentAt, state, subject, serverReply, copiesRefused }) => ({
    ...{ kind: 'email' as const, _id, at: sentAt ?? '', state, subject, reply: serverReply, copiesRefused },
    ...{ references: ['INV-0001'], stored: true },
  }))
  expect(foldEvents(events).map((line) => (Array.isArray(line) ? line.length : 0))).toEqual([1, 2])
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
