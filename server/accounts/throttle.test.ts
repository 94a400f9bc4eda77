// Also on PostgreSQL: tries at the same moment count each.
import { expect, test } from 'vitest'
import { openTestApp } from '#test/harness.ts'
import { throttles } from './tables.ts'
import { addressKey, countGuess, countTry, guessKey, pruneThrottles, takeBackGuess } from './throttle.ts'

const tenAMinute = { limit: 10, seconds: 60 }

test('tries that come at the same moment are all counted', async () => {
  await using app = await openTestApp()
  const now = app.clock.now()
  const tries = await Promise.allSettled(Array.from({ length: 25 }, () => countTry(app.db, 'door', tenAMinute, now)))
  expect(tries.filter(({ status }) => status === 'fulfilled')).toHaveLength(10)
})

test('a new window begins when the old one is over, not with every try', async () => {
  await using app = await openTestApp()
  const knock = () => countTry(app.db, 'door', { limit: 1, seconds: 60 }, app.clock.now())
  await knock()
  app.clock.advance({ seconds: 59 })
  await expect(knock()).rejects.toMatchObject({ code: 'too_many', retryAfter: 1, message: 'Too many tries. Please try again in 1 second.' })
  app.clock.advance({ seconds: 1 })
  await knock()
  await expect(knock()).rejects.toMatchObject({ retryAfter: 60, message: 'Too many tries. Please try again in 60 seconds.' })
})

test('a guess that was never looked at is taken back', async () => {
  await using app = await openTestApp()
  const now = app.clock.now()
  for (let n = 0; n < 20; n += 1) {
    await countGuess(app.db, 'safe', now)
    await takeBackGuess(app.db, 'safe')
  }
  await takeBackGuess(app.db, 'safe')
  expect(await app.db.select().from(throttles)).toMatchObject([{ key: 'safe', count: 0 }])
})

test('what has not counted for a day is forgotten, what still counts is kept', async () => {
  await using app = await openTestApp()
  await countTry(app.db, 'old', tenAMinute, app.clock.now())
  app.clock.advance({ hours: 24, minutes: 2 })
  await countTry(app.db, 'new', tenAMinute, app.clock.now())
  await pruneThrottles(app.db, app.clock.now())
  expect((await app.db.select().from(throttles)).map(({ key }) => key)).toEqual(['new'])
})

test('an IPv4 address is counted alone, an IPv6 address with its /64 network', () => {
  expect(addressKey('sign-in', '203.0.113.7')).toBe('sign-in:203.0.113.7')
  expect(addressKey('sign-in', '::ffff:203.0.113.7')).toBe('sign-in:203.0.113.7')
  const home = addressKey('sign-in', '2001:db8:1:2:3:4:5:6')
  expect(home).toBe('sign-in:2001:db8:1:2::/64')
  expect(addressKey('sign-in', '2001:0DB8:0001:0002::9')).toBe(home)
  expect(addressKey('sign-in', '2001:db8:1:3::9')).not.toBe(home)
  expect(addressKey('sign-in', '::1')).toBe('sign-in:0:0:0:0::/64')
  expect(addressKey('sign-in', 'fe80::1%eth0')).toBe('sign-in:fe80:0:0:0::/64')
})

test('the key of guesses at an email is the same in any case and does not show the email', () => {
  expect(guessKey('Asha@Example.com')).toBe(guessKey('asha@example.com'))
  expect(guessKey('asha@example.com')).not.toBe(guessKey('asha@example.org'))
  expect(guessKey('asha@example.com')).not.toContain('asha')
})
