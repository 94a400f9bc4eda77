import { expect, test } from 'vitest'
import { aShownInvoice } from '#test/shown-invoice.ts'
import { findInvoices, matches } from './palette-items.ts'

const anInvoice = (reference: string, clientName: string) =>
  aShownInvoice({ _id: reference, reference, clientName, clientEmail: 'someone@example.com' })

test('an invoice is found by its reference and by its client; what begins like that stands first', () => {
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

test('of thousands a handful is offered', () => {
  const many = Array.from({ length: 5000 }, (_, index) => anInvoice(`INV-${index}`, 'Kaveri Foods'))
  expect(findInvoices(many, 'kaveri')).toHaveLength(8)
})

test('words are found in any order', () => {
  expect(matches('Create Invoice', 'inv cre')).toBe(true)
  expect(matches('Create Invoice', 'export')).toBe(false)
})
