import { expect, test } from 'vitest'
import { destination } from '#web/accounts/entry/entry-page.tsx'
import { newPasswordProblems } from './new-password.tsx'

const typed = { currentPassword: 'the old one', newPassword: 'secret', confirmPassword: 'secret' }

test('a long enough password with a matching repetition is valid', () => {
  expect(newPasswordProblems(typed, 6)).toEqual({})
})

test('a repetition that does not match is refused', () => {
  expect(newPasswordProblems({ ...typed, confirmPassword: 'secret!' }, 6)).toEqual({ confirmPassword: 'New passwords do not match' })
})

test('a password shorter than the server’s minimum is refused', () => {
  const short = { ...typed, newPassword: 'abcde', confirmPassword: 'abcde' }
  expect(newPasswordProblems(short, 6)).toEqual({ newPassword: 'Password must be at least 6 characters long' })
  expect(newPasswordProblems(typed, 12)).toEqual({ newPassword: 'Password must be at least 12 characters long' })
})

test('the current password is required', () => {
  expect(newPasswordProblems({ ...typed, currentPassword: '' }, 6)).toEqual({ currentPassword: 'Please enter your current password.' })
})

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
