import { expect, test } from 'vitest'
import type { DueItem } from '#web/ui/due-line-layout.ts'
import { findingOf } from './finding.ts'

let count = 0
const item = (name: string, rupees: number, daysLate: number): DueItem => {
  count += 1
  return { id: String(count), name, email: `${name}@example.com`, amount: rupees * 100, daysLate, late: daysLate > 0 }
}

test('the client who owes most of what is overdue is the finding', () => {
  expect(findingOf([item('Arjun & Sons', 420_000, 34), item('Zenith Labs', 146_400, 19), item('Lotus Dental', 9_000_000, -3)])).toEqual({
    title: 'Arjun & Sons owes 74% of what is overdue',
    text: '₹4,20,000.00 in one invoice, 34 days late',
  })
  expect(findingOf([item('Kaveri', 3_000, 5), item('Kaveri', 1_000, 9)])).toEqual({
    title: 'Only Kaveri is overdue',
    text: '₹4,000.00 in 2 invoices, up to 9 days late',
  })
})

test('a share is never rounded up to all', () => {
  expect(findingOf([item('Large', 100_000, 2), item('Small', 1, 1)]).title).toBe('Large owes 99% of what is overdue')
})

test('where no client owes most, the age is the finding, then the three largest, then their number', () => {
  const clients = (...days: number[]) => days.map((daysLate, nth) => item(`Client ${nth}`, 1_000, daysLate))
  expect(findingOf(clients(61, 40, 3))).toEqual({
    title: '67% of what is overdue is more than 30 days late',
    text: 'The oldest: Client 0, ₹1,000.00, 61 days late',
  })
  expect(findingOf(clients(6, 5, 4, 3, 2))).toEqual({
    title: 'Three clients owe 60% of what is overdue',
    text: 'Client 0, Client 1 and Client 2',
  })
  expect(findingOf(clients(6, 5, 4, 3, 2, 1, 1)).title).toBe('7 clients share what is overdue')
})

test('without anything overdue the next due date is shown, and without anything open that all is paid', () => {
  expect(findingOf([item('Lotus', 6_400, -3), item('Banyan', 96_000, -13)])).toEqual({
    title: 'Nothing is overdue',
    text: 'Next: Lotus, ₹6,400.00, due in 3 days',
  })
  expect(findingOf([{ ...item('Kept unpaid', 6_400, 3), late: false }])).toEqual({ title: 'Nothing is overdue', text: null })
  expect(findingOf([])).toEqual({ title: 'All invoices are paid.', text: null })
})
