import { expect, test } from 'vitest'
import { accountCalls } from '#contract/accounts.ts'
import { aPerson, signedInAgain } from '#test/factories.ts'
import { ask, openTestApp } from '#test/harness.ts'
import { deviceOf } from './device.ts'

const chrome = 'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0 Safari/537.36'

test.each([
  [chrome, 'Chrome on Windows'],
  [`${chrome} Edg/142.0.0.0`, 'Edge on Windows'],
  [
    'Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/26.0 Safari/605.1.15',
    'Safari on Mac',
  ],
  [
    'Mozilla/5.0 (iPhone; CPU iPhone OS 18_6 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) CriOS/142.0 Mobile/15E148 Safari/604.1',
    'Chrome on iPhone',
  ],
  [
    'Mozilla/5.0 (Linux; Android 10; K) AppleWebKit/537.36 (KHTML, like Gecko) SamsungBrowser/28.0 Chrome/130.0.0.0 Mobile Safari/537.36',
    'Samsung Internet on Android',
  ],
  ['Mozilla/5.0 (X11; Linux x86_64; rv:145.0) Gecko/20100101 Firefox/145.0', 'Firefox on Linux'],
  ['Mozilla/5.0 (Windows NT 10.0; Win64; x64)', 'A browser on Windows'],
  ['curl/8.9.1', 'Unrecognized app'],
  ['', 'Unrecognized app'],
])('%s is shown as %s', (userAgent, words) => {
  expect(deviceOf(userAgent)).toBe(words)
})

const password = 'correct horse'

test('a person lists their sessions and ends one of them', async () => {
  await using app = await openTestApp()
  const asha = await aPerson(app, { password })
  app.clock.advance({ hours: 1 })
  const signedIn = await ask(app, null, accountCalls.signIn, { body: { email: asha.email, password } }, { 'user-agent': chrome })
  const elsewhere = { token: signedIn.reply.accessToken }
  const list = (await ask(app, asha, accountCalls.sessions)).reply
  expect(list.map(({ device, current }) => [device, current])).toEqual([
    ['Unrecognized app', true],
    ['Chrome on Windows', false],
  ])
  expect(list[1]).toMatchObject({
    place: 'Same computer as Duely',
    createdAt: '2026-03-02T10:00:00Z',
    lastSeenAt: '2026-03-02T10:00:00Z',
  })
  expect((await ask(app, asha, accountCalls.endSession, { params: { id: list[1]?._id ?? '' } })).status).toBe(204)
  expect((await ask(app, elsewhere, accountCalls.profile)).status).toBe(401)
  expect((await ask(app, asha, accountCalls.endSession, { params: { id: list[1]?._id ?? '' } })).problem?.code).toBe('not_found')
  expect((await ask(app, asha, accountCalls.audit, { query: {} })).reply[0]?.text).toBe('Session ended: Chrome on Windows.')
})

test('a session of another account cannot be ended', async () => {
  await using app = await openTestApp()
  const [asha, meera] = [await aPerson(app), await aPerson(app)]
  expect((await ask(app, meera, accountCalls.endSession, { params: { id: asha.sessionId } })).problem?.code).toBe('not_found')
  expect((await ask(app, asha, accountCalls.profile)).status).toBe(200)
})

test('all other sessions are ended together', async () => {
  await using app = await openTestApp()
  const asha = await aPerson(app)
  const others = [await signedInAgain(app, asha), await signedInAgain(app, asha)]
  expect((await ask(app, asha, accountCalls.endOtherSessions)).status).toBe(204)
  for (const other of others) expect((await ask(app, other, accountCalls.profile)).status).toBe(401)
  expect((await ask(app, asha, accountCalls.sessions)).reply).toHaveLength(1)
})
