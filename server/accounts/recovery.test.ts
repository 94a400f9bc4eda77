import PostalMime from 'postal-mime'
import { expect, test } from 'vitest'
import { accountCalls } from '#contract/accounts.ts'
import { systemMails } from '#server/platform/tables.ts'
import { aPerson, changePerson, type Person, signedInAgain } from '#test/factories.ts'
import { type FakeSmtp, openFakeSmtp } from '#test/fakes/smtp-server.ts'
import { type Asker, ask, openTestApp, type TestApp } from '#test/harness.ts'
import { makeResetLink } from './recovery.ts'
import { accountLinks } from './tables.ts'

const password = 'correct horse'
const newPassword = 'battery staple'

/** A server that has a mailbox of its own. */
function withMail(smtp: FakeSmtp, config: object = {}) {
  return openTestApp({
    config: { systemSmtpUrl: `smtp://127.0.0.1:${smtp.port}`, systemMailFrom: 'Duely <hello@duely.example>', ...config },
  })
}

async function letters(smtp: FakeSmtp, to: string) {
  const own = smtp.mails.filter(({ envelope }) => envelope.to.includes(to))
  return Promise.all(own.map(({ raw }) => PostalMime.parse(raw)))
}

/** The secret of the newest link that was sent there. */
async function linkSentTo(smtp: FakeSmtp, to: string): Promise<string> {
  const all = await letters(smtp, to)
  const tokens = all.flatMap(({ text }) => /#token=([\w-]+)/.exec(text ?? '')?.[1] ?? [])
  return tokens.at(-1) ?? ''
}

async function forgot(app: TestApp, email: string) {
  const answered = await ask(app, null, accountCalls.forgotPassword, { body: { email } })
  await app.runJobs()
  return answered
}

const signIn = (app: TestApp, email: string, given: string) => ask(app, null, accountCalls.signIn, { body: { email, password: given } })
const reset = (app: TestApp, token: string) => ask(app, null, accountCalls.resetPassword, { body: { token, newPassword } })
const confirm = (app: TestApp, person: Asker, token: string) => ask(app, person, accountCalls.confirmEmail, { body: { token } })
const profile = async (app: TestApp, person: Person) => (await ask(app, person, accountCalls.profile)).reply

test('a forgotten password is reset by an emailed link, which ends every session', async () => {
  await using smtp = await openFakeSmtp()
  await using app = await withMail(smtp)
  const asha = await aPerson(app, { password })
  expect((await forgot(app, asha.email.toUpperCase())).status).toBe(200)
  const [letter] = await letters(smtp, asha.email)
  expect(letter).toMatchObject({ subject: 'Reset your Duely password', from: { name: 'Duely', address: 'hello@duely.example' } })
  expect(letter?.text).toContain(`${app.deps.config.publicUrl}/reset-password#token=`)
  expect((await reset(app, await linkSentTo(smtp, asha.email))).status).toBe(200)
  expect((await ask(app, asha, accountCalls.profile)).status).toBe(401)
  expect((await signIn(app, asha.email, password)).status).toBe(401)
  const signedIn = await signIn(app, asha.email, newPassword)
  expect(signedIn.status).toBe(200)
  // Opening a link from a mailbox verifies it.
  expect((await ask(app, { token: signedIn.reply.accessToken }, accountCalls.profile)).reply.emailVerified).toBe(true)
  await app.runJobs()
  expect((await letters(smtp, asha.email)).map(({ subject }) => subject)).toContain('Your Duely password was changed')
})

test('a link works once', async () => {
  await using smtp = await openFakeSmtp()
  await using app = await withMail(smtp)
  const asha = await aPerson(app, { password })
  await forgot(app, asha.email)
  const token = await linkSentTo(smtp, asha.email)
  const answers = await Promise.all([reset(app, token), reset(app, token), reset(app, token)])
  expect(answers.map(({ status }) => status).sort()).toEqual([200, 400, 400])
  expect((await reset(app, token)).problem?.code).toBe('link_expired')
})

test('a password link is valid for an hour from when the mail server accepted it', async () => {
  await using smtp = await openFakeSmtp()
  await using app = await withMail(smtp)
  const asha = await aPerson(app, { password })
  smtp.answer({ greeting: () => '421 4.3.2 Try again later' })
  await forgot(app, asha.email)
  app.clock.advance({ minutes: 50 })
  smtp.answer({})
  await app.runJobs()
  const token = await linkSentTo(smtp, asha.email)
  app.clock.advance({ minutes: 59, seconds: 59 })
  expect((await ask(app, null, accountCalls.resetPassword, { body: { token, newPassword: 'short' } })).problem?.code).toBe('invalid')
  const [link] = await app.db.select().from(accountLinks)
  expect(link?.expiresAt.toString()).toBe(app.clock.now().add({ seconds: 1 }).toString())
  app.clock.advance({ seconds: 1 })
  expect((await reset(app, token)).problem?.code).toBe('link_expired')
  expect((await signIn(app, asha.email, password)).status).toBe(200)
})

test('a link that confirms an email is valid for 24 hours', async () => {
  await using smtp = await openFakeSmtp()
  await using app = await withMail(smtp)
  const asha = await aPerson(app, { password })
  const confirmAfter = async (duration: object) => {
    await ask(app, await signedInAgain(app, asha), accountCalls.sendConfirmation)
    await app.runJobs()
    app.clock.advance(duration)
    return confirm(app, await signedInAgain(app, asha), await linkSentTo(smtp, asha.email))
  }
  expect((await confirmAfter({ hours: 24 })).problem?.code).toBe('link_expired')
  expect((await confirmAfter({ hours: 23, minutes: 59 })).status).toBe(200)
})

test('a link whose email was refused permanently is invalid', async () => {
  await using smtp = await openFakeSmtp()
  await using app = await withMail(smtp)
  const asha = await aPerson(app, { password })
  smtp.answer({ rcpt: (to) => (to === 'next@example.com' ? '550 5.1.1 No such user' : undefined) })
  await ask(app, asha, accountCalls.changeProfile, { body: { email: 'next@example.com', currentPassword: password } })
  expect((await profile(app, asha)).pendingEmail).toBe('next@example.com')
  await app.runJobs()
  expect((await profile(app, asha)).pendingEmail).toBeNull()
  expect(await app.db.select().from(accountLinks)).toEqual([])
})

test('the database contains neither links nor their emails in plain text', async () => {
  await using smtp = await openFakeSmtp()
  await using app = await withMail(smtp)
  const asha = await aPerson(app, { password })
  await ask(app, null, accountCalls.forgotPassword, { body: { email: asha.email } })
  const [waiting] = await app.db.select().from(systemMails)
  expect(waiting?.sealedMail).toMatch(/^v1\./)
  await app.runJobs()
  const stored = JSON.stringify(await app.db.select().from(accountLinks))
  const token = await linkSentTo(smtp, asha.email)
  expect(token).toHaveLength(43)
  expect(stored).not.toContain(token)
  expect(await app.db.select().from(systemMails)).toEqual([])
})

test('an unknown address gets the same answer and no email', async () => {
  await using smtp = await openFakeSmtp()
  await using app = await withMail(smtp)
  const asha = await aPerson(app, { password })
  const known = await forgot(app, asha.email)
  const unknown = await forgot(app, 'nobody@example.com')
  expect(unknown.status).toBe(known.status)
  expect(unknown.reply).toEqual(known.reply)
  expect(smtp.mails.map(({ envelope }) => envelope.to)).toEqual([[asha.email]])
  expect(await app.db.select().from(systemMails)).toEqual([])
})

test('an account with Google sign-in gets an email without a link', async () => {
  await using smtp = await openFakeSmtp()
  await using app = await withMail(smtp)
  const asha = await aPerson(app, { googleId: '10769150350006150715113082367', confirmed: true })
  await forgot(app, asha.email)
  expect((await letters(smtp, asha.email)).map(({ subject }) => subject)).toEqual(['Signing in to Duely'])
  expect(await app.db.select().from(accountLinks)).toEqual([])
})

test('a short new password is refused and the link stays valid', async () => {
  await using smtp = await openFakeSmtp()
  await using app = await withMail(smtp)
  const asha = await aPerson(app, { password })
  await forgot(app, asha.email)
  const token = await linkSentTo(smtp, asha.email)
  const refused = await ask(app, null, accountCalls.resetPassword, { body: { token, newPassword: 'short' } })
  expect(refused.problem?.errors).toEqual([{ path: 'newPassword', message: 'Password must be at least 6 characters long' }])
  expect((await reset(app, token)).status).toBe(200)
})

test('emails to one mailbox are rate limited', async () => {
  await using smtp = await openFakeSmtp()
  await using app = await withMail(smtp, { rateLimit: true })
  for (const email of ['asha@example.com', 'nobody@example.com']) {
    const answers = []
    for (let n = 0; n < 4; n += 1) answers.push((await forgot(app, email)).status)
    expect(answers).toEqual([200, 200, 200, 429])
  }
  app.clock.advance({ minutes: 15 })
  expect((await forgot(app, 'asha@example.com')).status).toBe(200)
})

test('without system email the operator creates the link', async () => {
  await using app = await openTestApp()
  const asha = await aPerson(app, { password })
  expect((await ask(app, null, accountCalls.server)).reply.systemMail).toBe(false)
  expect((await forgot(app, asha.email)).problem?.code).toBe('not_ready')
  const link = await makeResetLink(app.deps, asha.email, app.clock.now())
  const [address, token = ''] = link.split('#token=')
  expect(address).toBe(`${app.deps.config.publicUrl}/reset-password`)
  expect((await reset(app, token)).status).toBe(200)
  const signedIn = await signIn(app, asha.email, newPassword)
  // The operator handed it over: it shows nothing about the mailbox.
  expect((await ask(app, { token: signedIn.reply.accessToken }, accountCalls.profile)).reply.emailVerified).toBe(false)
  await expect(makeResetLink(app.deps, 'nobody@example.com', app.clock.now())).rejects.toThrow(
    'There is no account with the email nobody@example.com.',
  )
})

test('a password by the operator’s link is the only way in, also for someone who signed in with Google', async () => {
  await using app = await openTestApp()
  const asha = await aPerson(app, { googleId: '10769150350006150715113082367', confirmed: true })
  const [, token = ''] = (await makeResetLink(app.deps, asha.email, app.clock.now())).split('#token=')
  expect((await reset(app, token)).status).toBe(200)
  expect((await signIn(app, asha.email, newPassword)).reply.foundUser.googleId).toBeUndefined()
})

test('a new account confirms its email by the link that was sent there', async () => {
  await using smtp = await openFakeSmtp()
  await using app = await withMail(smtp)
  const email = 'meera@example.com'
  await ask(app, null, accountCalls.signUp, { body: { displayName: 'Meera', email, password } })
  await app.runJobs()
  const signedIn = await signIn(app, email, password)
  const meera = { token: signedIn.reply.accessToken }
  expect((await ask(app, meera, accountCalls.profile)).reply.emailVerified).toBe(false)
  const confirmed = await confirm(app, meera, await linkSentTo(smtp, email))
  expect(confirmed.reply).toEqual({ email, message: 'Your email is confirmed.' })
  expect((await ask(app, meera, accountCalls.profile)).reply.emailVerified).toBe(true)
  expect((await ask(app, meera, accountCalls.sendConfirmation)).problem?.code).toBe('conflict')
})

test('the confirmation is sent again on request, and the older link stays valid', async () => {
  await using smtp = await openFakeSmtp()
  await using app = await withMail(smtp, { rateLimit: true })
  const asha = await aPerson(app, { password })
  for (let n = 0; n < 3; n += 1) expect((await ask(app, asha, accountCalls.sendConfirmation)).status).toBe(200)
  expect((await ask(app, asha, accountCalls.sendConfirmation)).problem?.code).toBe('too_many')
  await app.runJobs()
  const sent = await letters(smtp, asha.email)
  expect(sent).toHaveLength(3)
  const [, first = ''] = /#token=([\w-]+)/.exec(sent[0]?.text ?? '') ?? []
  expect((await confirm(app, asha, first)).status).toBe(200)
})

test('a link for a password confirms no email, and the other way round', async () => {
  await using smtp = await openFakeSmtp()
  await using app = await withMail(smtp)
  const asha = await aPerson(app, { password })
  await forgot(app, asha.email)
  expect((await confirm(app, asha, await linkSentTo(smtp, asha.email))).problem?.code).toBe('link_expired')
  await ask(app, asha, accountCalls.sendConfirmation)
  await app.runJobs()
  expect((await reset(app, await linkSentTo(smtp, asha.email))).problem?.code).toBe('link_expired')
})

test('a new email takes effect once its link is opened, and the old mailbox is notified', async () => {
  await using smtp = await openFakeSmtp()
  await using app = await withMail(smtp)
  const asha = await aPerson(app, { password, confirmed: true })
  const next = 'asha.rao@example.com'
  const asked = await ask(app, asha, accountCalls.changeProfile, {
    body: { email: next, currentPassword: password, displayName: 'Asha R' },
  })
  expect(asked.reply).toMatchObject({ email: asha.email, pendingEmail: next, displayName: 'Asha R' })
  await app.runJobs()
  expect((await letters(smtp, asha.email)).map(({ subject }) => subject)).toEqual(['Someone asked to change your Duely email'])
  expect((await confirm(app, asha, await linkSentTo(smtp, next))).reply.email).toBe(next)
  expect(await profile(app, asha)).toMatchObject({ email: next, pendingEmail: null, emailVerified: true })
  await app.runJobs()
  expect((await letters(smtp, asha.email)).at(-1)?.subject).toBe('Your Duely email was changed')
  expect((await signIn(app, next, password)).status).toBe(200)
})

test('an unconfirmed new email expires, and only the newest link is valid', async () => {
  await using smtp = await openFakeSmtp()
  await using app = await withMail(smtp)
  const asha = await aPerson(app, { password })
  const change = async (email: string) => {
    await ask(app, asha, accountCalls.changeProfile, { body: { email, currentPassword: password } })
    await app.runJobs()
  }
  await change('one@example.com')
  await change('two@example.com')
  expect((await confirm(app, asha, await linkSentTo(smtp, 'one@example.com'))).problem?.code).toBe('link_expired')
  expect((await profile(app, asha)).pendingEmail).toBe('two@example.com')
  app.clock.advance({ hours: 24 })
  expect((await profile(app, asha)).pendingEmail).toBeNull()
  expect((await confirm(app, asha, await linkSentTo(smtp, 'two@example.com'))).problem?.code).toBe('link_expired')
  expect((await profile(app, asha)).email).toBe(asha.email)
})

test('repeated email changes to one address are rate limited', async () => {
  await using smtp = await openFakeSmtp()
  await using app = await withMail(smtp, { rateLimit: true })
  const [asha, meera] = [await aPerson(app, { password }), await aPerson(app, { password })]
  const change = async (person: Person, email: string) =>
    (await ask(app, person, accountCalls.changeProfile, { body: { email, currentPassword: password } })).status
  const stranger = 'stranger@example.org'
  for (const email of [stranger, stranger.toUpperCase(), stranger]) expect(await change(asha, email)).toBe(200)
  expect(await change(asha, stranger)).toBe(429)
  expect(await change(meera, stranger)).toBe(429)
  expect((await profile(app, asha)).pendingEmail).toBe(stranger)
  await app.runJobs()
  expect(smtp.mails.filter(({ envelope }) => envelope.to.some((to) => to.toLowerCase() === stranger))).toHaveLength(3)
  // Nor many strangers with one each.
  const statuses = []
  for (let n = 0; n < 8; n += 1) statuses.push(await change(asha, `stranger${n}@example.org`))
  expect(statuses).toEqual([200, 200, 200, 200, 200, 200, 429, 429])
  app.clock.advance({ hours: 1 })
  expect(await change(await signedInAgain(app, asha), stranger)).toBe(200)
})

test('a new email taken meanwhile is refused when its link is opened', async () => {
  await using smtp = await openFakeSmtp()
  await using app = await withMail(smtp)
  const asha = await aPerson(app, { password })
  const taken = 'meera@example.com'
  await ask(app, asha, accountCalls.changeProfile, { body: { email: taken, currentPassword: password } })
  await app.runJobs()
  await aPerson(app, { email: taken })
  expect((await confirm(app, asha, await linkSentTo(smtp, taken))).problem?.code).toBe('email_taken')
  expect((await profile(app, asha)).email).toBe(asha.email)
})

test('changing the password invalidates earlier links', async () => {
  await using smtp = await openFakeSmtp()
  await using app = await withMail(smtp)
  const asha = await aPerson(app, { password })
  await forgot(app, asha.email)
  await ask(app, asha, accountCalls.changePassword, { body: { currentPassword: password, newPassword } })
  expect((await reset(app, await linkSentTo(smtp, asha.email))).problem?.code).toBe('link_expired')
})

test('without system email a new email takes effect immediately, unconfirmed', async () => {
  await using app = await openTestApp()
  const asha = await aPerson(app, { password })
  await changePerson(app, asha, { emailVerifiedAt: app.clock.now() })
  const changed = await ask(app, asha, accountCalls.changeProfile, { body: { email: 'new@example.com', currentPassword: password } })
  expect(changed.reply).toMatchObject({ email: 'new@example.com', pendingEmail: null, emailVerified: false })
})

test('a system email is retried while the mail server is down, and sent once', async () => {
  await using smtp = await openFakeSmtp()
  await using app = await withMail(smtp)
  const asha = await aPerson(app, { password })
  smtp.answer({ greeting: (connection) => (connection <= 2 ? '421 4.3.2 Try again later' : undefined) })
  await forgot(app, asha.email)
  expect(smtp.mails).toHaveLength(0)
  app.clock.advance({ seconds: 15 })
  await app.runJobs()
  app.clock.advance({ seconds: 30 })
  await app.runJobs()
  expect(await letters(smtp, asha.email)).toHaveLength(1)
  app.clock.advance({ minutes: 5 })
  await app.runJobs()
  expect(await letters(smtp, asha.email)).toHaveLength(1)
})

test('a system email that is refused permanently or has expired is dropped, one that a broken server refuses is retried', async () => {
  await using smtp = await openFakeSmtp()
  await using app = await withMail(smtp)
  const asha = await aPerson(app, { password })
  smtp.answer({ rcpt: () => '550 5.1.1 No such user' })
  await forgot(app, asha.email)
  expect(await app.db.select().from(systemMails)).toEqual([])
  smtp.answer({ greeting: () => '554 5.3.2 No service' })
  // A connection that is kept has had its greeting.
  smtp.hangUp()
  await smtp.quiet()
  await forgot(app, asha.email)
  expect(await app.db.select().from(systemMails)).toHaveLength(1)
  smtp.answer({ rcpt: () => '451 4.7.1 Greylisted' })
  app.clock.advance({ seconds: 15 })
  await app.runJobs()
  expect(await app.db.select().from(systemMails)).toHaveLength(1)
  app.clock.advance({ minutes: 60 })
  await app.runJobs()
  expect(await app.db.select().from(systemMails)).toEqual([])
  expect(smtp.mails).toHaveLength(0)
})
