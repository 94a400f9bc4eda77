// Also on PostgreSQL: tries at the same moment count each.
import { hash } from '@node-rs/argon2'
import { eq } from 'drizzle-orm'
import { expect, test } from 'vitest'
import { accountCalls } from '#contract/accounts.ts'
import { aPerson, changePerson, type Person, signedInAgain } from '#test/factories.ts'
import { ask, openTestApp, type TestApp } from '#test/harness.ts'
import { hashPassword, isOldHash } from './passwords.ts'
import { makeResetLink } from './recovery.ts'
import { people } from './tables.ts'

const password = 'correct horse'
/** Throttled as in earnest; the address of a request is what the proxy says. */
const throttled = { config: { rateLimit: true, trustProxy: 1 } }

let addresses = 0
function signIn(app: TestApp, email: string, given: string, from?: string, cookie?: string) {
  addresses += 1
  const address = from ?? `10.0.${addresses >> 8}.${addresses & 255}`
  const headers = { 'x-forwarded-for': address, ...(cookie === undefined ? {} : { cookie }) }
  return ask(app, null, accountCalls.signIn, { body: { email, password: given } }, headers)
}

/** The cookies of a known browser. */
async function browserOf(app: TestApp, email: string): Promise<string> {
  const answered = await signIn(app, email, password)
  const sent = [answered.headers['set-cookie'] ?? []].flat().map(String)
  return sent.find((line) => line.startsWith('knownBrowser='))?.split(';')[0] ?? ''
}

test('a person signs in with email and password and is known from then on', async () => {
  await using app = await openTestApp()
  const asha = await aPerson(app, { password })
  const { status, reply } = await signIn(app, asha.email, password)
  expect(status).toBe(200)
  expect(reply.foundUser).toEqual({ _id: String(asha.personId), displayName: 'Asha Rao', email: asha.email })
  expect(Object.keys(reply).sort()).toEqual(['accessToken', 'foundUser'])
  expect((await ask(app, { token: reply.accessToken }, accountCalls.profile)).reply._id).toBe(String(asha.personId))
})

test('a person who is linked to Google is shown as such', async () => {
  await using app = await openTestApp()
  const asha = await aPerson(app, { password, googleId: '10769150350006150715113082367' })
  expect((await signIn(app, asha.email, password)).reply.foundUser.googleId).toBe('10769150350006150715113082367')
})

test('the case of an email and the spaces around it do not matter, those of a password do', async () => {
  await using app = await openTestApp()
  await aPerson(app, { email: 'Asha@Example.com', password })
  const answered = await signIn(app, ' aSHA@example.COM ', password)
  expect(answered.reply.foundUser.email).toBe('Asha@Example.com')
  expect((await signIn(app, 'asha@example.com', 'Correct horse')).problem?.code).toBe('wrong_credentials')
  expect((await signIn(app, 'asha@example.com', `${password} `)).problem?.code).toBe('wrong_credentials')
})

test('a wrong email, a wrong password and an account without a password get one and the same answer', async () => {
  await using app = await openTestApp()
  const asha = await aPerson(app, { password })
  const google = await aPerson(app, { googleId: '1076915' })
  const answers = [
    await signIn(app, asha.email, 'wrong horse'),
    await signIn(app, 'nobody@example.com', password),
    await signIn(app, google.email, password),
  ]
  for (const answered of answers) {
    expect(answered.status).toBe(401)
    expect(answered.problem).toEqual({ code: 'wrong_credentials', message: 'Wrong email or password. Please check both and try again.' })
    expect(answered.headers['set-cookie']).toBeUndefined()
  }
})

test('a wrong email takes as long as a wrong password', async () => {
  await using app = await openTestApp()
  const asha = await aPerson(app, { password })
  const google = await aPerson(app, { googleId: '1076915' })
  const emails = [asha.email, 'nobody@example.com', google.email]
  const shortest = emails.map(() => Number.POSITIVE_INFINITY)
  const ratios = () => shortest.slice(1).map((other) => other / (shortest[0] ?? 1))
  // One hash is most of a sign-in: without it the shortest of many tries is a fraction of the others, however busy the machine is.
  for (let round = 0; round < 60; round += 1) {
    for (const [n, email] of emails.entries()) {
      const begin = performance.now()
      await signIn(app, email, 'wrong horse')
      shortest[n] = Math.min(shortest[n] ?? 0, performance.now() - begin)
    }
    if (round >= 5 && ratios().every((ratio) => ratio > 0.5 && ratio < 2)) break
  }
  for (const ratio of ratios()) {
    expect(ratio).toBeGreaterThan(0.5)
    expect(ratio).toBeLessThan(2)
  }
})

test('a weak hash is replaced at the next sign-in, and the password stays', async () => {
  await using app = await openTestApp()
  const asha = await aPerson(app)
  const weak = await hash(password, { memoryCost: 8_192, timeCost: 1 })
  await changePerson(app, asha, { passwordHash: weak })
  expect((await signIn(app, asha.email, 'wrong horse')).status).toBe(401)
  expect(await storedHash(app, asha)).toBe(weak)
  expect((await signIn(app, asha.email, password)).status).toBe(200)
  const strong = await storedHash(app, asha)
  expect(await isOldHash(strong, password)).toBe(false)
  expect((await signIn(app, asha.email, password)).status).toBe(200)
  expect(await storedHash(app, asha)).toBe(strong)
})

test('a sign-in that is under way while the password changes opens nothing that lasts', async () => {
  await using app = await openTestApp()
  const asha = await aPerson(app, { password })
  const tokens: string[] = []
  let changed = false
  const signInAgainAndAgain = async () => {
    while (!changed) {
      const { reply } = await signIn(app, asha.email, password)
      if (reply) tokens.push(reply.accessToken)
    }
  }
  const change = ask(app, asha, accountCalls.changePassword, { body: { currentPassword: password, newPassword: 'battery staple' } })
  const [changing] = await Promise.all([
    change.finally(() => {
      changed = true
    }),
    ...Array.from({ length: 6 }, signInAgainAndAgain),
  ])
  expect(changing.status).toBe(200)
  for (const token of tokens) expect((await ask(app, { token }, accountCalls.profile)).status).toBe(401)
})

test.each(['asha@example.com', 'nobody@example.com'])('after five wrong passwords for %s each further try waits longer', async (email) => {
  await using app = await openTestApp(throttled)
  await aPerson(app, { email: 'asha@example.com', password })
  const pauses: number[] = []
  for (let wrong = 1; wrong <= 17; wrong += 1) {
    expect((await signIn(app, email.toUpperCase(), 'wrong horse')).problem?.code).toBe('wrong_credentials')
    if (wrong < 5) continue
    const paused = await signIn(app, email, password)
    expect(paused.status).toBe(429)
    const seconds = Number(paused.headers['retry-after'])
    expect(paused.problem).toEqual({
      code: 'too_many',
      message: `Too many tries. Please try again in ${seconds} ${seconds === 1 ? 'second' : 'seconds'}.`,
    })
    pauses.push(seconds)
    app.clock.advance({ seconds: seconds - 1, milliseconds: 999 })
    expect((await signIn(app, email, password)).status).toBe(429)
    app.clock.advance({ milliseconds: 1 })
  }
  expect(pauses).toEqual([1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 900, 900, 900])
})

test('after any number of wrong passwords the right one opens again, once the pause is over', async () => {
  await using app = await openTestApp(throttled)
  const asha = await aPerson(app, { password })
  for (let wrong = 1; wrong <= 12; wrong += 1) {
    await signIn(app, asha.email, 'wrong horse')
    app.clock.advance({ seconds: 900 })
  }
  expect((await signIn(app, asha.email, password)).status).toBe(200)
})

test('a right password clears the count of wrong ones', async () => {
  await using app = await openTestApp(throttled)
  const asha = await aPerson(app, { password })
  for (let round = 1; round <= 3; round += 1) {
    for (let wrong = 1; wrong <= 4; wrong += 1) expect((await signIn(app, asha.email, 'wrong horse')).status).toBe(401)
    expect((await signIn(app, asha.email, password)).status).toBe(200)
  }
})

test('guesses that come at the same moment from many addresses are counted one by one', async () => {
  await using app = await openTestApp(throttled)
  const asha = await aPerson(app, { password })
  const answers = await Promise.all(Array.from({ length: 40 }, () => signIn(app, asha.email, 'wrong horse')))
  expect(answers.filter(({ status }) => status === 401)).toHaveLength(5)
  expect(answers.filter(({ status }) => status === 429)).toHaveLength(35)
})

test('one address may try to sign in 20 times a minute, across all emails', async () => {
  await using app = await openTestApp(throttled)
  for (let n = 1; n <= 20; n += 1) expect((await signIn(app, `nobody${n}@example.com`, password, '203.0.113.7')).status).toBe(401)
  app.clock.advance({ seconds: 20 })
  const refused = await signIn(app, 'nobody21@example.com', password, '203.0.113.7')
  expect(refused.problem).toEqual({ code: 'too_many', message: 'Too many tries. Please try again in 40 seconds.' })
  expect(refused.headers['retry-after']).toBe('40')
  expect((await signIn(app, 'nobody21@example.com', password, '203.0.113.8')).status).toBe(401)
  app.clock.advance({ seconds: 40 })
  expect((await signIn(app, 'nobody21@example.com', password, '203.0.113.7')).status).toBe(401)
})

test('one address may create 20 accounts an hour', async () => {
  await using app = await openTestApp(throttled)
  const from = { 'x-forwarded-for': '203.0.113.7' }
  const signUp = (n: number, headers: Record<string, string> = from) =>
    ask(app, null, accountCalls.signUp, { body: { displayName: 'Asha Rao', email: `asha${n}@example.org`, password } }, headers)
  for (let n = 1; n <= 20; n += 1) expect((await signUp(n)).status).toBe(201)
  expect((await signUp(21)).problem?.code).toBe('too_many')
  expect((await signUp(21, { 'x-forwarded-for': '203.0.113.8' })).status).toBe(201)
  app.clock.advance({ hours: 1 })
  expect((await signUp(22)).status).toBe(201)
})

test('guessing the current password inside a session is slowed down like a sign-in', async () => {
  await using app = await openTestApp(throttled)
  const asha = await aPerson(app, { password })
  for (let n = 1; n <= 4; n += 1) {
    const body = { currentPassword: 'wrong horse', newPassword: 'battery staple' }
    expect((await ask(app, asha, accountCalls.changePassword, { body })).problem?.code).toBe('wrong_password')
  }
  const change = { body: { email: 'rao@example.com', currentPassword: 'wrong horse' } }
  expect((await ask(app, asha, accountCalls.changeProfile, change)).problem?.code).toBe('wrong_password')
  expect((await ask(app, asha, accountCalls.changeProfile, change)).problem?.code).toBe('too_many')
})

/** Strangers at many addresses, who begin again as soon as they may. */
async function guessWithoutEnd(app: TestApp, email: string): Promise<void> {
  for (let wrong = 1; wrong <= 12; wrong += 1) {
    await signIn(app, email, 'wrong horse')
    app.clock.advance({ seconds: 900 })
  }
  await signIn(app, email, 'wrong horse')
}

test('endless guessing does not lock out the owner’s known browser', async () => {
  await using app = await openTestApp(throttled)
  const [asha, meera] = [await aPerson(app, { password }), await aPerson(app, { password })]
  const own = await browserOf(app, asha.email)
  await guessWithoutEnd(app, asha.email)
  expect((await signIn(app, asha.email, password)).problem?.code).toBe('too_many')
  // Another owner's browser, and one with a forged cookie, are strangers.
  for (const cookie of [await browserOf(app, meera.email), own.replace(/\.[\w-](?=[^.]*$)/, (sealed) => (sealed === '.A' ? '.B' : '.A'))])
    expect((await signIn(app, asha.email, password, undefined, cookie)).problem?.code).toBe('too_many')
  expect((await signIn(app, asha.email, password, undefined, own)).status).toBe(200)
})

test('in a browser that is known wrong passwords are counted too', async () => {
  await using app = await openTestApp(throttled)
  const asha = await aPerson(app, { password })
  const own = await browserOf(app, asha.email)
  for (let n = 1; n <= 5; n += 1) expect((await signIn(app, asha.email, 'wrong horse', undefined, own)).status).toBe(401)
  expect((await signIn(app, asha.email, password, undefined, own)).problem?.code).toBe('too_many')
  // No guesses were made elsewhere yet.
  expect((await signIn(app, asha.email, password)).status).toBe(200)
})

test('a password reset clears the pauses of earlier guesses', async () => {
  await using app = await openTestApp(throttled)
  const asha = await aPerson(app, { password })
  const own = await browserOf(app, asha.email)
  for (const cookie of [own, undefined])
    for (let n = 1; n <= 5; n += 1) expect((await signIn(app, asha.email, 'wrong horse', undefined, cookie)).status).toBe(401)
  const [, token = ''] = (await makeResetLink(app.deps, asha.email, app.clock.now())).split('#token=')
  await ask(app, null, accountCalls.resetPassword, { body: { token, newPassword: 'battery staple' } })
  for (const cookie of [own, undefined]) expect((await signIn(app, asha.email, 'battery staple', undefined, cookie)).status).toBe(200)
})

test('guessing does not block password changes in a session', async () => {
  await using app = await openTestApp(throttled)
  const asha = await aPerson(app, { password })
  await guessWithoutEnd(app, asha.email)
  const signedIn = await signedInAgain(app, asha)
  const body = { currentPassword: password, newPassword: 'battery staple' }
  expect((await ask(app, signedIn, accountCalls.changePassword, { body })).status).toBe(200)
})

test('RATE_LIMIT=false disables all limits', async () => {
  await using app = await openTestApp()
  const asha = await aPerson(app, { password })
  const from = '203.0.113.7'
  for (let n = 1; n <= 22; n += 1) expect((await signIn(app, asha.email, 'wrong horse', from)).status).toBe(401)
  expect((await signIn(app, asha.email, password, from)).status).toBe(200)
})

test('too many concurrent sign-ins answer 429 with Retry-After and do not count as wrong guesses', async () => {
  await using app = await openTestApp(throttled)
  const asha = await aPerson(app, { password })
  let full = true
  const keepBusy = async () => {
    while (full) await hashPassword('somebody else')
  }
  const crowd = Array.from({ length: 54 }, keepBusy)
  const sentAway: Awaited<ReturnType<typeof signIn>>[] = []
  for (let n = 1; n <= 8; n += 1) sentAway.push(await signIn(app, asha.email, password))
  full = false
  await Promise.all(crowd)
  for (const { status, headers, problem } of sentAway) {
    expect(status).toBe(429)
    expect(headers['retry-after']).toBe('5')
    expect(problem?.message).toBe('Many people are signing in right now. Please try again in a few seconds.')
  }
  expect((await signIn(app, asha.email, 'wrong horse')).status).toBe(401)
  expect((await signIn(app, asha.email, password)).status).toBe(200)
})

async function storedHash(app: TestApp, { personId }: Person): Promise<string> {
  const [row] = await app.db.select().from(people).where(eq(people.id, personId))
  return row?.passwordHash ?? ''
}
