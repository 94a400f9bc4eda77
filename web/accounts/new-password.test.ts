import { expect, test } from 'vitest'
import { newPasswordProblems } from './new-password.tsx'

const typed = { currentPassword: 'the old one', newPassword: 'secret', confirmPassword: 'secret' }

test('a new password that is long enough and typed twice alike is fine', () => {
  expect(newPasswordProblems(typed, 6)).toEqual({})
})

test('a new password that was mistyped the second time is refused', () => {
  expect(newPasswordProblems({ ...typed, confirmPassword: 'secret!' }, 6)).toEqual({ confirmPassword: 'New passwords do not match' })
})

test('a short one is refused by the minimum that this server has', () => {
  const short = { ...typed, newPassword: 'abcde', confirmPassword: 'abcde' }
  expect(newPasswordProblems(short, 6)).toEqual({ newPassword: 'Password must be at least 6 characters long' })
  expect(newPasswordProblems(typed, 12)).toEqual({ newPassword: 'Password must be at least 12 characters long' })
})

test('the password that counts now is needed', () => {
  expect(newPasswordProblems({ ...typed, currentPassword: '' }, 6)).toEqual({ currentPassword: 'Please enter your current password.' })
})
