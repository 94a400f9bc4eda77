import { QueryClient } from '@tanstack/react-query'
import { expect, test } from 'vitest'
import { type Invoice, invoiceCalls } from '#contract/invoices.ts'
import { aShownInvoice } from '#test/shown-invoice.ts'
import { type ApiCache, applyToCache, queryKey } from '#web/platform/query.ts'
import { removeInvoice, writeInvoice } from './invoice-cache.ts'

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
