// Also on PostgreSQL: a code is used once, also by two at the same moment.
import { expect, test } from 'vitest'
import { accountCalls } from '#contract/accounts.ts'
import { aPerson, type Person } from '#test/factories.ts'
import { ask, openTestApp, type TestApp } from '#test/harness.ts'
import { makeResetLink, removeLostTwoFactor } from './recovery.ts'
import { recoveryCodes, secondFactors } from './tables.ts'
import { stepOf, totpAt } from './totp.ts'

const password = 'correct horse'

/** RFC 6238, appendix B: the secret is '12345678901234567890'; the last six digits of each. */
test.each([
  ['1970-01-01T00:00:59Z', '287082'],
  ['2005-03-18T01:58:29Z', '081804'],
  ['2005-03-18T01:58:31Z', '050471'],
  ['2009-02-13T23:31:30Z', '005924'],
  ['2033-05-18T03:33:20Z', '279037'],
  ['2603-10-11T11:33:20Z', '353130'],
])('at %s the code is %s', (instant, code) => {
  expect(totpAt('GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ', stepOf(Temporal.Instant.from(instant)))).toBe(code)
})

const signIn = (app: TestApp, person: Person, code?: string) =>
  ask(app, null, accountCalls.signIn, { body: { email: person.email, password, ...(code === undefined ? {} : { code }) } })
const twoFactor = async (app: TestApp, person: Person) => (await ask(app, person, accountCalls.profile)).reply.twoFactor
const kinds = async (app: TestApp, person: Person) =>
  (await ask(app, person, accountCalls.audit, { query: {} })).reply.map(({ kind }) => kind)

/** Switches it on and answers the authenticator; half a minute later, so that its next code is a new one. */
async function switchedOn(app: TestApp, person: Person) {
  const started = await ask(app, person, accountCalls.startTwoFactor, { body: { currentPassword: password } })
  const { secret, uri } = started.reply
  const shown = () => totpAt(secret, stepOf(app.clock.now()))
  const confirmed = await ask(app, person, accountCalls.confirmTwoFactor, { body: { code: shown() } })
  app.clock.advance({ seconds: 30 })
  return { shown, secret, uri, codes: confirmed.reply.recoveryCodes }
}

test('a person turns two-factor authentication on and from then on signs in with a code', async () => {
  await using app = await openTestApp()
  const asha = await aPerson(app, { email: 'asha@example.com', password })
  const { shown, secret, uri, codes } = await switchedOn(app, asha)
  expect(uri).toBe(`otpauth://totp/Duely%3Aasha%40example.com?secret=${secret}&issuer=Duely&algorithm=SHA1&digits=6&period=30`)
  expect(new Set(codes).size).toBe(10)
  expect(codes[0]).toMatch(/^[A-Z2-7]{4}(-[A-Z2-7]{4}){3}$/)
  expect(await twoFactor(app, asha)).toEqual({ recoveryCodesLeft: 10 })
  const needed = await signIn(app, asha)
  expect(needed).toMatchObject({ status: 401, problem: { code: 'second_factor_needed' } })
  expect(needed.headers['set-cookie']).toBeUndefined()
  expect((await signIn(app, asha, '000000')).problem?.code).toBe('wrong_second_factor')
  expect((await signIn(app, asha, ` ${shown().slice(0, 3)} ${shown().slice(3)} `)).status).toBe(200)
  expect(await kinds(app, asha)).toEqual(['signed_in', 'sign_in_refused', 'two_factor_on'])
})

test('a wrong password is answered as ever, whether or not there is a second factor', async () => {
  await using app = await openTestApp()
  const asha = await aPerson(app, { password })
  const { shown } = await switchedOn(app, asha)
  const answered = await ask(app, null, accountCalls.signIn, { body: { email: asha.email, password: 'wrong horse', code: shown() } })
  expect(answered.problem?.code).toBe('wrong_credentials')
})

test('nothing changes before a code is confirmed', async () => {
  await using app = await openTestApp()
  const asha = await aPerson(app, { password })
  const first = await ask(app, asha, accountCalls.startTwoFactor, { body: { currentPassword: password } })
  const second = await ask(app, asha, accountCalls.startTwoFactor, { body: { currentPassword: password } })
  expect((await signIn(app, asha)).status).toBe(200)
  const stale = await ask(app, asha, accountCalls.confirmTwoFactor, { body: { code: totpAt(first.reply.secret, stepOf(app.clock.now())) } })
  expect(stale.problem?.errors?.[0]?.path).toBe('code')
  expect(await twoFactor(app, asha)).toBeNull()
  const code = totpAt(second.reply.secret, stepOf(app.clock.now()))
  expect((await ask(app, asha, accountCalls.confirmTwoFactor, { body: { code } })).status).toBe(200)
  const again = await ask(app, asha, accountCalls.startTwoFactor, { body: { currentPassword: password } })
  expect(again.problem?.code).toBe('conflict')
})

test('a code counts once, a minute ago not at all, and half a minute off still', async () => {
  await using app = await openTestApp()
  const asha = await aPerson(app, { password })
  const { shown, secret } = await switchedOn(app, asha)
  const code = shown()
  const answers = await Promise.all([signIn(app, asha, code), signIn(app, asha, code), signIn(app, asha, code)])
  expect(answers.map(({ status }) => status).sort()).toEqual([200, 401, 401])
  const late = shown()
  app.clock.advance({ minutes: 2 })
  expect((await signIn(app, asha, late)).problem?.code).toBe('wrong_second_factor')
  const behind = totpAt(secret, stepOf(app.clock.now()) - 1)
  expect((await signIn(app, asha, behind)).status).toBe(200)
  expect((await signIn(app, asha, totpAt(secret, stepOf(app.clock.now()) + 1))).status).toBe(200)
})

test('a recovery code opens the account once', async () => {
  await using app = await openTestApp()
  const asha = await aPerson(app, { password })
  const { codes } = await switchedOn(app, asha)
  // The codes of another account must not count.
  await switchedOn(app, await aPerson(app, { email: 'ravi@example.com', password }))
  const [code = ''] = codes
  expect((await signIn(app, asha, code.toLowerCase())).status).toBe(200)
  expect((await signIn(app, asha, code)).problem?.code).toBe('wrong_second_factor')
  expect(await twoFactor(app, asha)).toEqual({ recoveryCodesLeft: 9 })
  expect(await kinds(app, asha)).toContain('recovery_code_used')
})

test('new recovery codes replace the old ones, with password and code', async () => {
  await using app = await openTestApp()
  const asha = await aPerson(app, { password })
  const { codes, shown } = await switchedOn(app, asha)
  const renew = (currentPassword: string, code: string) =>
    ask(app, asha, accountCalls.renewRecoveryCodes, { body: { currentPassword, code } })
  expect((await renew('wrong horse', shown())).problem?.code).toBe('wrong_password')
  expect((await renew(password, '000000')).problem?.code).toBe('invalid')
  const renewed = await renew(password, shown())
  expect((await signIn(app, asha, codes[0])).problem?.code).toBe('wrong_second_factor')
  expect((await signIn(app, asha, renewed.reply.recoveryCodes[0])).status).toBe(200)
  expect(await kinds(app, asha)).toContain('recovery_codes_renewed')
})

test('a new password by a link does not get round the second factor', async () => {
  await using app = await openTestApp()
  const asha = await aPerson(app, { password })
  const { shown } = await switchedOn(app, asha)
  const [, token = ''] = (await makeResetLink(app.deps, asha.email, app.clock.now())).split('#token=')
  await ask(app, null, accountCalls.resetPassword, { body: { token, newPassword: password } })
  expect((await signIn(app, asha)).problem?.code).toBe('second_factor_needed')
  expect((await signIn(app, asha, shown())).status).toBe(200)
})

test('two-factor authentication is turned off with password and code, or by the operator', async () => {
  await using app = await openTestApp()
  const asha = await aPerson(app, { password })
  const { shown } = await switchedOn(app, asha)
  const remove = (currentPassword: string, code: string) =>
    ask(app, asha, accountCalls.removeTwoFactor, { body: { currentPassword, code } })
  expect((await remove('wrong horse', shown())).problem?.code).toBe('wrong_password')
  expect((await remove(password, '000000')).problem?.code).toBe('invalid')
  expect((await remove(password, shown())).status).toBe(204)
  expect((await signIn(app, asha)).status).toBe(200)
  await switchedOn(app, asha)
  await removeLostTwoFactor(app.deps, asha.email, app.clock.now())
  expect((await signIn(app, asha)).status).toBe(200)
  expect(await app.db.select().from(recoveryCodes)).toEqual([])
  await expect(removeLostTwoFactor(app.deps, asha.email, app.clock.now())).rejects.toThrow('already off')
})

test('codes cannot be tried one after the other', async () => {
  await using app = await openTestApp({ config: { rateLimit: true } })
  const asha = await aPerson(app, { password })
  const { shown } = await switchedOn(app, asha)
  for (let n = 0; n < 5; n += 1) expect((await signIn(app, asha, '000000')).problem?.code).toBe('wrong_second_factor')
  expect((await signIn(app, asha, shown())).problem?.code).toBe('too_many')
  app.clock.advance({ minutes: 1 })
  expect((await signIn(app, asha, shown())).status).toBe(200)
})

test('wrong codes elsewhere do not delay the owner in a known browser, and a new password clears them', async () => {
  await using app = await openTestApp({ config: { rateLimit: true } })
  const asha = await aPerson(app, { password })
  const { codes } = await switchedOn(app, asha)
  const signedInBefore = await signIn(app, asha, codes[0])
  const sent = [signedInBefore.headers['set-cookie'] ?? []].flat().map((line) => String(line).split(';')[0] ?? '')
  const cookie = sent.find((one) => one.startsWith('knownBrowser=')) ?? ''
  const here = (code = '') => ask(app, null, accountCalls.signIn, { body: { email: asha.email, password, code } }, { cookie })
  for (let n = 0; n < 5; n += 1) await signIn(app, asha, '000000')
  expect((await signIn(app, asha, codes[1])).problem?.code).toBe('too_many')
  expect((await here(codes[1])).status).toBe(200)
  await ask(app, asha, accountCalls.changePassword, { body: { currentPassword: password, newPassword: password } })
  expect((await signIn(app, asha, codes[2])).status).toBe(200)
})

test('proving who it is takes the second factor too', async () => {
  await using app = await openTestApp()
  const asha = await aPerson(app, { password })
  const { shown } = await switchedOn(app, asha)
  const prove = (code?: string) =>
    ask(app, asha, accountCalls.reauthenticate, { body: { currentPassword: password, ...(code === undefined ? {} : { code }) } })
  app.clock.advance({ minutes: 20 })
  expect((await prove()).problem?.code).toBe('invalid')
  expect((await prove('000000')).problem?.code).toBe('invalid')
  expect((await ask(app, asha, accountCalls.deleteMe)).problem?.code).toBe('recent_sign_in_needed')
  expect((await prove(shown())).status).toBe(204)
  expect((await ask(app, asha, accountCalls.deleteMe)).status).toBe(204)
})

test('the database contains neither the secret nor a recovery code in plain text', async () => {
  await using app = await openTestApp()
  const asha = await aPerson(app, { password })
  const { secret, codes } = await switchedOn(app, asha)
  const stored = JSON.stringify([await app.db.select().from(secondFactors), await app.db.select().from(recoveryCodes)])
  expect(stored).not.toContain(secret)
  for (const code of codes) expect(stored).not.toContain(code.replaceAll('-', ''))
})

test('an account with Google sign-in cannot turn on two-factor authentication', async () => {
  await using app = await openTestApp()
  const asha = await aPerson(app, { googleId: '1076915' })
  const started = await ask(app, asha, accountCalls.startTwoFactor, { body: { currentPassword: 'whatever' } })
  expect(started.problem?.code).toBe('not_allowed')
})
