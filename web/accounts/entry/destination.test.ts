import { expect, test } from 'vitest'
import { destination } from './destination.ts'

const from = (pathname: string, search = '', hash = '') => ({ from: { pathname, search, hash } })

test('signing in returns to the requested screen with its query', () => {
  expect(destination(from('/dashboard/edit-invoice/7', '?a=b'))).toBe('/dashboard/edit-invoice/7?a=b')
})

test('signing in without a requested screen opens the dashboard', () => {
  expect(destination(null)).toBe('/dashboard')
  expect(destination({ from: 'nonsense' })).toBe('/dashboard')
})

test('signing in never redirects outside the dashboard', () => {
  for (const path of ['https://evil.example/dashboard', '//evil.example/dashboard', '/pricing', '/dashboardx', 'javascript:alert(1)'])
    expect(destination(from(path))).toBe('/dashboard')
})
