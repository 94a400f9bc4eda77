// Also on PostgreSQL: refreshes at the same moment meet on one row.
import { eq } from 'drizzle-orm'
import { expect, test } from 'vitest'
import { accountCalls } from '#contract/accounts.ts'
import { hashToken, newToken } from '#server/platform/secrets.ts'
import { aPerson, type Person } from '#test/factories.ts'
import { type Answered, ask, openTestApp, type TestApp } from '#test/harness.ts'
import { openSession, pruneSessions } from './sessions.ts'
import { sessions } from './tables.ts'

const password = 'correct horse'

/** What a browser does: it keeps the cookie it is sent and shows it again. */
async function signedIn(app: TestApp, person: Person, headers: Record<string, string> = {}) {
  const answered = await ask(app, null, accountCalls.signIn, { body: { email: person.email, password } }, headers)
  return { token: answered.reply.accessToken, cookie: cookieOf(answered), sent: sentCookie(answered) }
}

const refresh = (app: TestApp, cookie: string, headers: Record<string, string> = {}) =>
  ask(app, null, accountCalls.refresh, undefined, { cookie, ...headers })

function sentCookie(answered: Pick<Answered<typeof accountCalls.refresh>, 'headers'>): string {
  const sent = [answered.headers['set-cookie'] ?? []].flat().map(String)
  return sent.find((line) => line.startsWith('refreshToken=')) ?? ''
}

function cookieOf(answered: Pick<Answered<typeof accountCalls.refresh>, 'headers'>): string {
  return sentCookie(answered).split(';')[0] ?? ''
}

test('the refresh cookie is HttpOnly, SameSite=Strict and scoped to /auth', async () => {
  await using app = await openTestApp()
  const { sent } = await signedIn(app, await aPerson(app, { password }))
  expect(sent.split('; ').slice(1).sort()).toEqual(['HttpOnly', 'Max-Age=2592000', 'Path=/auth', 'SameSite=Strict'])
})

test('on https the refresh cookie never travels in the clear', async () => {
  await using app = await openTestApp({ config: { publicUrl: 'https://duely.example.com' } })
  const { sent } = await signedIn(app, await aPerson(app, { password }))
  expect(sent.split('; ')).toContain('Secure')
})

test('the database knows neither the refresh token nor its successor', async () => {
  await using app = await openTestApp()
  const { cookie } = await signedIn(app, await aPerson(app, { password }), { 'user-agent': 'x'.repeat(400) })
  const next = cookieOf(await refresh(app, cookie))
  const stored = await app.db.select().from(sessions)
  for (const kept of [cookie, next]) expect(JSON.stringify(stored)).not.toContain(kept.split('.')[1])
  expect(stored.map(({ userAgent }) => userAgent.length)).toContain(300)
})

test('an access token expires after 15 minutes and the cookie renews it', async () => {
  await using app = await openTestApp()
  const { token, cookie } = await signedIn(app, await aPerson(app, { password }))
  app.clock.advance({ minutes: 14, seconds: 59 })
  expect((await ask(app, { token }, accountCalls.profile)).status).toBe(200)
  app.clock.advance({ seconds: 1 })
  expect((await ask(app, { token }, accountCalls.profile)).problem?.code).toBe('not_signed_in')
  const refreshed = await refresh(app, cookie)
  expect(refreshed.status).toBe(200)
  expect(Object.keys(refreshed.reply)).toEqual(['accessToken'])
  expect((await ask(app, { token: refreshed.reply.accessToken }, accountCalls.profile)).status).toBe(200)
})

test('a refresh brings a new cookie and notes the visit', async () => {
  await using app = await openTestApp()
  const { cookie } = await signedIn(app, await aPerson(app, { password }))
  app.clock.advance({ hours: 5 })
  const next = cookieOf(await refresh(app, cookie))
  expect(next).toMatch(/^refreshToken=/)
  expect(next).not.toBe(cookie)
  const seen = (await app.db.select().from(sessions)).map(({ lastSeenAt }) => lastSeenAt.toString())
  expect(seen).toContain(app.clock.now().toString())
})

test('tabs that refresh at the same moment all stay signed in, with one and the same successor', async () => {
  await using app = await openTestApp()
  const { cookie } = await signedIn(app, await aPerson(app, { password }))
  const answers = await Promise.all(Array.from({ length: 8 }, () => refresh(app, cookie)))
  expect(answers.map(({ status }) => status)).toEqual(Array(8).fill(200))
  expect(new Set(answers.map(cookieOf)).size).toBe(1)
  expect((await refresh(app, cookieOf(answers[0] as (typeof answers)[0]))).status).toBe(200)
})

test('a lost answer can be requested again within 10 s', async () => {
  await using app = await openTestApp()
  const { cookie } = await signedIn(app, await aPerson(app, { password }))
  const lost = cookieOf(await refresh(app, cookie))
  app.clock.advance({ seconds: 6 })
  expect(cookieOf(await refresh(app, cookie))).toBe(lost)
  // Asking again does not stretch the 10 s.
  app.clock.advance({ seconds: 4 })
  expect(cookieOf(await refresh(app, cookie))).toBe(lost)
  app.clock.advance({ milliseconds: 1 })
  expect((await refresh(app, cookie)).problem?.code).toBe('not_signed_in')
})

test('a token used again after 10 s ends the session for thief and owner alike', async () => {
  await using app = await openTestApp()
  const { cookie } = await signedIn(app, await aPerson(app, { password }))
  const refreshed = await refresh(app, cookie)
  app.clock.advance({ seconds: 11 })
  expect((await refresh(app, cookie)).problem?.code).toBe('not_signed_in')
  expect((await refresh(app, cookieOf(refreshed))).problem?.code).toBe('not_signed_in')
  expect((await ask(app, { token: refreshed.reply.accessToken }, accountCalls.profile)).problem?.code).toBe('not_signed_in')
})

test('a token two steps old ends the session immediately', async () => {
  await using app = await openTestApp()
  const asha = await aPerson(app, { password })
  const { cookie } = await signedIn(app, asha)
  const elsewhere = await signedIn(app, asha)
  const second = cookieOf(await refresh(app, cookie))
  const third = cookieOf(await refresh(app, second))
  expect((await refresh(app, cookie)).problem?.code).toBe('not_signed_in')
  expect((await refresh(app, third)).problem?.code).toBe('not_signed_in')
  expect((await refresh(app, elsewhere.cookie)).status).toBe(200)
})

test('a made-up secret of a known session ends nothing, neither by a refresh nor by signing out', async () => {
  await using app = await openTestApp()
  const { token, cookie } = await signedIn(app, await aPerson(app, { password }))
  const madeUp = `${cookie.split('.')[0]}.${'a'.repeat(43)}`
  expect((await refresh(app, madeUp)).problem?.code).toBe('not_signed_in')
  expect((await ask(app, null, accountCalls.signOut, undefined, { cookie: madeUp })).status).toBe(204)
  expect((await ask(app, { token }, accountCalls.profile)).status).toBe(200)
  expect((await refresh(app, cookie)).status).toBe(200)
})

test('a refresh token of version 0.1.0 is traded for a new one, and its reuse ends the session', async () => {
  await using app = await openTestApp()
  const { cookie } = await signedIn(app, await aPerson(app, { password }))
  const old = `${cookie.split('.')[0]}.${newToken()}`
  await app.db.update(sessions).set({ refreshHash: hashToken(old.replace('refreshToken=', '')) })
  const next = await refresh(app, old)
  expect(next.status).toBe(200)
  app.clock.advance({ seconds: 11 })
  expect((await refresh(app, old)).status).toBe(401)
  expect((await refresh(app, cookieOf(next))).status).toBe(401)
})

test('the hundred-and-first session ends the one that was unused for longest', async () => {
  await using app = await openTestApp()
  const asha = await aPerson(app)
  const from = { address: '127.0.0.1', userAgent: '' }
  for (let n = 0; n < 100; n += 1) {
    app.clock.advance({ seconds: 1 })
    await openSession(app.db, app.deps.config.secretKey, asha.personId, from, app.clock.now())
  }
  expect(await app.db.$count(sessions)).toBe(100)
  expect((await ask(app, asha, accountCalls.profile)).status).toBe(401)
})

test('a session ends after 30 days without a visit', async () => {
  await using app = await openTestApp()
  const { cookie } = await signedIn(app, await aPerson(app, { password }))
  app.clock.advance({ days: 29 })
  const next = cookieOf(await refresh(app, cookie))
  app.clock.advance({ days: 30 })
  expect((await refresh(app, next)).problem?.code).toBe('not_signed_in')
})

test('a session ends after 90 days, however often it is used', async () => {
  await using app = await openTestApp()
  let { cookie, sent } = await signedIn(app, await aPerson(app, { password }))
  for (let n = 0; n < 4; n += 1) {
    app.clock.advance({ days: 20 })
    const answered = await refresh(app, cookie)
    cookie = cookieOf(answered)
    sent = sentCookie(answered)
  }
  expect(sent).toContain(`Max-Age=${10 * 24 * 3600};`)
  app.clock.advance({ days: 9, hours: 23, minutes: 55 })
  const last = await refresh(app, cookie)
  expect(last.status).toBe(200)
  app.clock.advance({ minutes: 5 })
  expect((await ask(app, { token: last.reply.accessToken }, accountCalls.profile)).problem?.code).toBe('not_signed_in')
  expect((await refresh(app, cookieOf(last))).problem?.code).toBe('not_signed_in')
})

test('sessions past their life are forgotten, the others stay', async () => {
  await using app = await openTestApp()
  const asha = await aPerson(app, { password })
  await signedIn(app, asha)
  app.clock.advance({ days: 15 })
  const { cookie } = await signedIn(app, asha)
  app.clock.advance({ days: 15 })
  await pruneSessions(app.db, app.clock.now())
  expect(await app.db.select().from(sessions).where(eq(sessions.personId, asha.personId))).toHaveLength(1)
  expect((await refresh(app, cookie)).status).toBe(200)
})

test.each([
  ['no cookie', ''],
  ['an empty one', 'refreshToken='],
  ['garbage', 'refreshToken=garbage'],
  ['the marker of the browser', 'refreshToken=cookie-based'],
  ['a session that never was', `refreshToken=01890000-0000-7000-8000-000000000000.${'a'.repeat(43)}`],
  ['SQL', "refreshToken=' OR 1=1 --"],
])('a refresh with %s is refused', async (_what, cookie) => {
  await using app = await openTestApp()
  expect((await refresh(app, cookie)).problem).toEqual({
    code: 'not_signed_in',
    message: 'Your session has ended. Please sign in again.',
  })
})

test('a refresh token opens nothing but the refresh', async () => {
  await using app = await openTestApp()
  const { cookie } = await signedIn(app, await aPerson(app, { password }))
  const token = cookie.replace('refreshToken=', '')
  expect((await ask(app, { token }, accountCalls.profile)).problem?.code).toBe('not_signed_in')
  expect((await ask(app, null, accountCalls.profile, undefined, { cookie })).problem?.code).toBe('not_signed_in')
})

test('signing out ends this session, clears the cookie and keeps other sessions', async () => {
  await using app = await openTestApp()
  const asha = await aPerson(app, { password })
  const { token, cookie } = await signedIn(app, asha)
  const elsewhere = await signedIn(app, asha)
  const answered = await ask(app, { token }, accountCalls.signOut, undefined, { cookie })
  expect(answered.status).toBe(204)
  expect(sentCookie(answered)).toMatch(/^refreshToken=;.*Path=\/auth/)
  expect(sentCookie(answered)).toContain('Expires=Thu, 01 Jan 1970')
  expect((await ask(app, { token }, accountCalls.profile)).problem?.code).toBe('not_signed_in')
  expect((await refresh(app, cookie)).problem?.code).toBe('not_signed_in')
  expect((await ask(app, elsewhere, accountCalls.profile)).status).toBe(200)
})

test('signing out works with the cookie alone, with an access token that ran out, and where there is no session any more', async () => {
  await using app = await openTestApp()
  const asha = await aPerson(app, { password })
  const one = await signedIn(app, asha)
  const two = await signedIn(app, asha)
  app.clock.advance({ hours: 1 })
  expect((await ask(app, null, accountCalls.signOut, undefined, { cookie: one.cookie })).status).toBe(204)
  expect((await refresh(app, one.cookie)).problem?.code).toBe('not_signed_in')
  expect((await ask(app, two, accountCalls.signOut)).status).toBe(204)
  expect((await refresh(app, two.cookie)).problem?.code).toBe('not_signed_in')
  expect((await ask(app, two, accountCalls.signOut, undefined, { cookie: two.cookie })).status).toBe(204)
  expect((await ask(app, null, accountCalls.signOut)).status).toBe(204)
})

test('signing in again ends the browser’s previous session and no other', async () => {
  await using app = await openTestApp()
  const [asha, meera] = [await aPerson(app, { password }), await aPerson(app, { password })]
  const first = await signedIn(app, asha)
  const elsewhere = await signedIn(app, asha)
  const second = await signedIn(app, meera, { cookie: first.cookie })
  expect((await ask(app, { token: first.token }, accountCalls.profile)).status).toBe(401)
  for (const { token } of [elsewhere, second]) expect((await ask(app, { token }, accountCalls.profile)).status).toBe(200)
  // Who is refused keeps the session that is there.
  const wrong = { body: { email: asha.email, password: 'wrong horse' } }
  expect((await ask(app, null, accountCalls.signIn, wrong, { cookie: second.cookie })).status).toBe(401)
  expect((await ask(app, { token: second.token }, accountCalls.profile)).status).toBe(200)
})

test('a page of another site can neither refresh nor sign out', async () => {
  await using app = await openTestApp()
  const { token, cookie } = await signedIn(app, await aPerson(app, { password }))
  for (const headers of [
    { 'sec-fetch-site': 'cross-site' },
    { 'sec-fetch-site': 'cross-site', origin: 'http://localhost:80' },
    { origin: 'https://evil.example' },
    { origin: 'http://localhost.evil.example' },
    { origin: 'null' },
    // Of a sibling host, which the cookie is sent to as well.
    { 'sec-fetch-site': 'same-site', origin: 'http://blog.localhost' },
    { 'sec-fetch-site': 'same-site', origin: 'http://localhost:8080' },
    { 'sec-fetch-site': 'same-site' },
  ] as Record<string, string>[]) {
    expect((await refresh(app, cookie, headers)).problem?.code).toBe('not_allowed')
    expect((await ask(app, null, accountCalls.signOut, undefined, { cookie, ...headers })).problem?.code).toBe('not_allowed')
  }
  expect((await ask(app, { token }, accountCalls.profile)).status).toBe(200)
  expect((await refresh(app, cookie)).status).toBe(200)
})

test("the product's own pages refresh, by https and by plain http on a local network", async () => {
  await using app = await openTestApp({ config: { publicUrl: 'https://duely.example.com' } })
  let { cookie } = await signedIn(app, await aPerson(app, { password }))
  for (const headers of [
    { 'sec-fetch-site': 'same-origin' },
    { 'sec-fetch-site': 'same-site', origin: 'https://duely.example.com' },
    { 'sec-fetch-site': 'none' },
    { origin: 'http://192.168.1.20:3000', host: '192.168.1.20:3000' },
    { origin: 'https://duely.example.com', host: 'internal:3000' },
    {},
  ] as Record<string, string>[]) {
    const answered = await refresh(app, cookie, headers)
    expect(answered.status).toBe(200)
    cookie = cookieOf(answered)
  }
})

test('a page of another site cannot sign in a person', async () => {
  await using app = await openTestApp()
  const asha = await aPerson(app, { password })
  const answered = await ask(
    app,
    null,
    accountCalls.signIn,
    { body: { email: asha.email, password } },
    { 'sec-fetch-site': 'cross-site', origin: 'https://evil.example' },
  )
  expect(answered.problem?.code).toBe('not_allowed')
  expect(answered.headers['set-cookie']).toBeUndefined()
})
