import { expect, test } from 'vitest'
import { limitsOf } from './limits.ts'

const sender = { provider: 'smtp' as const, host: 'smtp.gmail.com', address: 'asha@gmail.com', learnedPerDay: null }

test('a mailbox has the limits its provider publishes', () => {
  expect(limitsOf(sender)).toMatchObject({ provider: 'Gmail', perDay: 500 })
  expect(limitsOf({ ...sender, address: 'asha@banyan.example' })).toMatchObject({ provider: 'Google Workspace', perDay: 2000 })
  expect(limitsOf({ ...sender, host: null, provider: 'gmail' })).toMatchObject({ provider: 'Gmail', perDay: 500 })
  expect(limitsOf({ ...sender, host: 'SMTP.Office365.com' })).toMatchObject({ perMinute: 30, perDay: 10_000 })
  expect(limitsOf({ ...sender, host: 'mail.banyan.example' })).toMatchObject({ perDay: null, perMinute: null })
})

test('what a mailbox turned out to allow counts where it is less', () => {
  expect(limitsOf({ ...sender, learnedPerDay: 120 }).perDay).toBe(120)
  expect(limitsOf({ ...sender, learnedPerDay: 900 }).perDay).toBe(500)
  expect(limitsOf({ ...sender, host: 'mail.banyan.example', learnedPerDay: 40 }).perDay).toBe(40)
})
