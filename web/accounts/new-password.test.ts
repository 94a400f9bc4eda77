import { expect, test } from 'vitest'
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
