import { expect, test } from 'vitest'
import { clientsOf, suggestions } from './client-names.ts'

const of = (clientName: string, clientEmail: string) => ({ clientName, clientEmail })
const clients = clientsOf([
  of('Kaveri Foods', 'new@kaveri.example'),
  of('kaveri foods', 'NEW@kaveri.example'),
  of('Kaveri Foods', 'old@kaveri.example'),
  of('Studio Banyan', 'hello@banyan.example'),
])

test('clients of earlier invoices are offered once, as the newest invoice writes them', () => {
  expect(suggestions(clients, 'name', 'KAV')).toEqual(['Kaveri Foods'])
  expect(suggestions(clients, 'email', 'kaveri')).toEqual(['new@kaveri.example', 'old@kaveri.example'])
})

test('nothing is offered for nothing, nor for what is typed in full', () => {
  expect(suggestions(clients, 'name', ' ')).toEqual([])
  expect(suggestions(clients, 'name', 'studio banyan')).toEqual([])
})
