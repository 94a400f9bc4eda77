import { expect, test } from 'vitest'
import { limitsOf } from './limits.ts'

const sender = {
  provider: 'smtp' as const,
  host: 'smtp.gmail.com',
  address: 'asha@gmail.com',
  perHour: null,
  perDay: null,
  learnedPerDay: null,
  learnedPerDayAt: null,
  learnedPerMinute: null,
  learnedPerMinuteAt: null,
}
const now = Temporal.Instant.from('2026-03-02T06:30:00Z')

test('a mailbox has the limits its provider publishes', () => {
  expect(limitsOf(sender, now)).toMatchObject({ provider: 'Gmail', perDay: 500 })
  expect(limitsOf({ ...sender, address: 'asha@banyan.example' }, now)).toMatchObject({ provider: 'Google Workspace', perDay: 2000 })
  expect(limitsOf({ ...sender, host: null, provider: 'gmail' }, now)).toMatchObject({ provider: 'Gmail', perDay: 500 })
  const microsoft = { ...sender, host: null, provider: 'microsoft' as const }
  expect(limitsOf({ ...microsoft, address: 'asha@banyan.example' }, now)).toMatchObject({ perDay: 10_000, perMinute: 30 })
  expect(limitsOf({ ...microsoft, address: 'asha@hotmail.com' }, now)).toMatchObject({ provider: 'Outlook.com', perDay: 300 })
  expect(limitsOf({ ...sender, host: 'SMTP.Office365.com' }, now)).toMatchObject({ perMinute: 30, perDay: 10_000 })
  expect(limitsOf({ ...sender, host: 'mail.banyan.example' }, now)).toMatchObject({ perDay: null, perMinute: null })
})

test('a learned limit applies where it is lower', () => {
  expect(limitsOf({ ...sender, learnedPerDay: 120, learnedPerDayAt: now }, now).perDay).toBe(120)
  expect(limitsOf({ ...sender, learnedPerDay: 900, learnedPerDayAt: now }, now).perDay).toBe(500)
  expect(limitsOf({ ...sender, host: 'mail.banyan.example', learnedPerDay: 40, learnedPerDayAt: now }, now).perDay).toBe(40)
  // Two days later it is asked again.
  expect(limitsOf({ ...sender, learnedPerDay: 120, learnedPerDayAt: now.subtract({ hours: 48 }) }, now).perDay).toBe(500)
})

test('a mailbox that accepted 25 emails in a minute gets no more a minute for an hour', () => {
  const slow = { ...sender, learnedPerMinute: 25, learnedPerMinuteAt: now }
  expect(limitsOf(slow, now).perMinute).toBe(25)
  expect(limitsOf({ ...slow, host: 'smtp.office365.com', learnedPerMinute: 90 }, now).perMinute).toBe(30)
  expect(limitsOf(slow, now.add({ hours: 1 })).perMinute).toBeNull()
})

test('what its owner allows comes before what its provider publishes, and what it turned out to allow before both', () => {
  expect(limitsOf({ ...sender, perHour: 50, perDay: 200 }, now)).toEqual({ provider: null, perHour: 50, perDay: 200, perMinute: null })
  expect(limitsOf({ ...sender, perDay: 2_000 }, now)).toMatchObject({ provider: null, perDay: 2_000 })
  expect(limitsOf({ ...sender, perDay: 200, learnedPerDay: 120, learnedPerDayAt: now }, now)).toMatchObject({
    provider: 'Gmail',
    perDay: 120,
  })
  expect(limitsOf({ ...sender, perDay: 100, learnedPerDay: 120, learnedPerDayAt: now }, now)).toMatchObject({ provider: null, perDay: 100 })
})
