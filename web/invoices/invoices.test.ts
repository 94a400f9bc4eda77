import { QueryClient } from '@tanstack/react-query'
import { expect, test } from 'vitest'
import { type Invoice, invoiceCalls } from '#contract/invoices.ts'
import { aShownInvoice } from '#test/shown-invoice.ts'
import { clientsOf, suggestions } from '#web/invoices/form/invoice-values.ts'
import { type ApiCache, applyToCache, queryKey } from '#web/platform/query.ts'
import { removeInvoice, writeInvoice } from './invoice-cache.ts'
import { describePause, isPaused } from './pause.ts'

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

const promise = { until: '2026-12-05', note: 'Call Mr Rao on Monday', promised: true, scope: 'client' as const }
const clientEmail = 'billing@kaveri.example'

test('a pause is described by its scope, promise and note', () => {
  expect(describePause({ clientEmail, pause: promise })).toEqual([
    'Reminders are paused for all invoices of billing@kaveri.example.',
    'Client promised to pay by 05/12/2026.',
    'Call Mr Rao on Monday',
  ])
  expect(describePause({ clientEmail, pause: { until: null, note: '', promised: false, scope: 'invoice' } })).toEqual([
    'Reminders are paused for this invoice.',
  ])
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
