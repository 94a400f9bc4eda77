import { expect, test } from 'vitest'
import { destination } from './destination.ts'

const from = (pathname: string, search = '', hash = '') => ({ from: { pathname, search, hash } })

test('who was sent to sign in comes back to the screen they asked for, with its query', () => {
  expect(destination(from('/dashboard/edit-invoice/7', '?a=b'))).toBe('/dashboard/edit-invoice/7?a=b')
})

test('who came by themselves goes to the dashboard', () => {
  expect(destination(null)).toBe('/dashboard')
  expect(destination({ from: 'nonsense' })).toBe('/dashboard')
})

test('nobody is sent anywhere outside the dashboard', () => {
  for (const path of ['https://evil.example/dashboard', '//evil.example/dashboard', '/pricing', '/dashboardx', 'javascript:alert(1)'])
    expect(destination(from(path))).toBe('/dashboard')
})
