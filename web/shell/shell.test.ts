import { expect, test } from 'vitest'
import type { Notice } from '#contract/notices.ts'
import { aShownInvoice } from '#test/shown-invoice.ts'
import { shownNotices } from './attention.tsx'
import { findInvoices, findReminded, matches } from './palette.tsx'

const anInvoice = (reference: string, clientName: string) =>
  aShownInvoice({ _id: reference, reference, clientName, clientEmail: 'someone@example.com' })

test('the palette finds an invoice by reference and by client, prefix matches first', () => {
  const list = [anInvoice('INV-0011', 'New Kaveri'), anInvoice('INV-0002', 'Kaveri Foods'), anInvoice('KAV-1', 'Studio Banyan')]
  const found = (typed: string) => findInvoices(list, typed).map(({ reference }) => reference)
  expect(found('kav')).toEqual(['INV-0002', 'KAV-1', 'INV-0011'])
  expect(found('inv-0002')).toEqual(['INV-0002'])
  expect(found('new kaveri')).toEqual(['INV-0011'])
  expect(findInvoices([anInvoice('1', 'Client 40'), anInvoice('2', 'Client 4')], 'client 4').map(({ reference }) => reference)).toEqual([
    '2',
    '1',
  ])
  expect(found('foods kaveri')).toEqual(['INV-0002'])
  expect(found(' ')).toEqual([])
})

test('the palette offers at most eight of thousands of invoices', () => {
  const many = Array.from({ length: 5000 }, (_, index) => anInvoice(`INV-${index}`, 'Kaveri Foods'))
  expect(findInvoices(many, 'kaveri')).toHaveLength(8)
})

test('the palette matches words in any order', () => {
  expect(matches('Create Invoice', 'inv cre')).toBe(true)
  expect(matches('Create Invoice', 'export')).toBe(false)
})

test('the palette reminds of a typed client, or with the command alone of those who are late the longest', () => {
  const list = [
    aShownInvoice({ _id: 'a', reference: 'INV-1', dueDate: '2026-03-03' }),
    aShownInvoice({
      _id: 'b',
      reference: 'INV-2',
      clientName: 'Studio Banyan',
      clientEmail: 'hello@banyan.example',
      dueDate: '2026-03-01',
    }),
    aShownInvoice({ _id: 'c', reference: 'INV-3', status: 'paid' }),
  ]
  const found = (typed: string) => findReminded(list, typed, 'Remind  now…').map(({ _id }) => _id)
  expect(found('remind kaveri')).toEqual(['a'])
  expect(found('banyan')).toEqual(['b'])
  expect(found('remind now')).toEqual(['b', 'a'])
  expect(found('inv-3')).toEqual([])
  expect(found('')).toEqual([])
})

const aNotice = (kind: Notice['kind']): Notice => ({
  _id: kind,
  kind,
  summary: kind,
  title: kind,
  text: '',
  link: null,
  clients: [],
  createdAt: '2026-03-02T03:30:00Z',
  updatedAt: '2026-03-02T03:30:00Z',
})
const all = [aNotice('promise_broken'), aNotice('login_refused'), aNotice('quota')]
const kinds = (notices: Notice[]) => notices.map(({ kind }) => kind)

test('a mailbox that refuses is listed once', () => {
  const pause = {
    reason: 'login_refused' as const,
    provider: 'smtp' as const,
    message: '535 no',
    advice: null,
    since: '2026-03-02T03:30:00Z',
    until: null,
  }
  expect(kinds(shownNotices(all, pause))).toEqual(['promise_broken'])
})

test('a login that works again shows nothing, yesterday’s quota does', () => {
  expect(kinds(shownNotices(all, null))).toEqual(['promise_broken', 'quota'])
})
