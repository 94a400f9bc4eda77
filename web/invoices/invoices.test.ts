import { QueryClient } from '@tanstack/react-query'
import { expect, test } from 'vitest'
import type { ClientEvent } from '#contract/clients.ts'
import { type Invoice, invoiceCalls } from '#contract/invoices.ts'
import type { HoldReason } from '#contract/reminders.ts'
import { aShownInvoice } from '#test/shown-invoice.ts'
import { withVoids } from '#web/invoices/clients/client-data.ts'
import { clientsOf, suggestions } from '#web/invoices/form/invoice-values.ts'
import { type ApiCache, applyToCache, queryKey } from '#web/platform/query.ts'
import { removeInvoice, writeInvoice } from './invoice-cache.ts'
import { describePause, isPaused, type Known, nextLabel, pausePill, stateOf } from './invoice-state.ts'

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
