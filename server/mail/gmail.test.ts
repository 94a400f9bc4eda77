// Also on PostgreSQL: one process at a time renews a grant.
import { eq } from 'drizzle-orm'
import PostalMime from 'postal-mime'
import { expect, test } from 'vitest'
import { accountCalls } from '#contract/accounts.ts'
import { invoiceCalls } from '#contract/invoices.ts'
import { mailCalls } from '#contract/mail.ts'
import { noticeCalls } from '#contract/notices.ts'
import { paymentSettingsCalls } from '#contract/payment-settings.ts'
import { reminderCalls } from '#contract/reminders.ts'
import { anInvoice, aPerson, type Person, refusedUpdates, signedInAgain } from '#test/factories.ts'
import { apiError, type FakeGoogle, openFakeGoogle } from '#test/fakes/google.ts'
import { openFakeSmtp } from '#test/fakes/smtp-server.ts'
import { ask, openTestApp, type TestApp } from '#test/harness.ts'
import { findSender } from './mail.ts'
import { openRefreshToken } from './sender.ts'
import { mailConfigs } from './tables.ts'

/** Ten in the morning in India. */
const morning = '2026-03-02T04:30:00Z'

function withGoogle(google: FakeGoogle) {
  return openTestApp({ now: morning, config: { google: { ...google.client, issuer: google.url, gmailApiUrl: google.url } } })
}

/** What the button does: it asks where to go, and comes back with a page and the cookie. */
async function goToGoogle(app: TestApp, google: FakeGoogle, person: Person) {
  const started = await ask(app, person, mailCalls.startGmail)
  const cookie = String(started.headers['set-cookie']).split(';')[0] ?? ''
  const page = await google.visit(started.reply.url)
  return { page, cookie, code: page.searchParams.get('code') ?? '?', sent: String(started.headers['set-cookie']) }
}

async function connect(app: TestApp, google: FakeGoogle, person: Person) {
  const { cookie, code } = await goToGoogle(app, google, person)
  return ask(app, person, mailCalls.configureGmail, { body: { code } }, { cookie })
}

/** Asha with a Gmail mailbox and so many invoices past due. */
async function ashaOnGmail(app: TestApp, google: FakeGoogle, count: number): Promise<Person> {
  const asha = await aPerson(app)
  expect((await connect(app, google, asha)).status).toBe(200)
  for (let n = 1; n <= count; n += 1) await anInvoice(app, { owner: asha, clientEmail: `client${n}@example.com` })
  return asha
}

const start = (app: TestApp, person: Person) => app.whileJobsRun(ask(app, person, reminderCalls.start))
const pauseOf = async (app: TestApp, person: Person) => (await ask(app, person, reminderCalls.status)).reply.pause
const auditOf = async (app: TestApp, person: Person) =>
  (await ask(app, person, accountCalls.audit, { query: {} })).reply.map(({ text }) => text)

test('a person connects Gmail and reminders leave by it, as the bytes that were rendered', async () => {
  await using google = await openFakeGoogle()
  await using app = await withGoogle(google)
  const asha = await aPerson(app)
  const { page, cookie, code, sent } = await goToGoogle(app, google, asha)
  expect(page.origin + page.pathname).toBe('http://localhost:0/dashboard/mail-settings')
  expect(sent.split('; ').slice(1).sort()).toEqual(['HttpOnly', 'Max-Age=600', 'Path=/mail-config/gmail', 'SameSite=Strict'])
  const [asked] = google.authorizations.map((url) => Object.fromEntries(url.searchParams))
  expect(asked).toMatchObject({
    access_type: 'offline',
    prompt: expect.stringContaining('consent'),
    scope: 'openid email https://www.googleapis.com/auth/gmail.send',
  })
  const connected = await ask(
    app,
    asha,
    mailCalls.configureGmail,
    { body: { code, state: page.searchParams.get('state') ?? '' } },
    { cookie },
  )
  expect(connected.reply).toEqual({
    configured: true,
    provider: 'gmail',
    user: 'asha@gmail.com',
    username: null,
    host: null,
    port: null,
    secure: null,
    pause: null,
  })
  expect(await auditOf(app, asha)).toEqual(['Mailbox asha@gmail.com connected.'])
  const invoice = await anInvoice(app, { owner: asha })
  expect((await start(app, asha)).reply).toMatchObject({ count: 1, failed: 0 })
  expect(google.mails).toHaveLength(1)
  const mail = await PostalMime.parse(google.mails[0]?.raw ?? '')
  expect(mail).toMatchObject({ from: { name: 'Asha Rao', address: 'asha@gmail.com' }, to: [{ address: invoice.clientEmail }] })
})

test('the refresh token is sealed in the database and never shown', async () => {
  await using google = await openFakeGoogle()
  await using app = await withGoogle(google)
  const asha = await ashaOnGmail(app, google, 0)
  const sender = await findSender(app.db, asha.id)
  if (!sender) throw new Error('There is no mailbox.')
  const token = openRefreshToken(app.deps.config.secretKey, sender)
  expect(token).toMatch(/^refresh-/)
  expect(JSON.stringify(sender)).not.toContain(token)
  const meera = await aPerson(app)
  expect(() => openRefreshToken(app.deps.config.secretKey, { ...sender, ownerId: meera.id })).toThrow()
})

test('a code from another account or browser does not connect a mailbox', async () => {
  await using google = await openFakeGoogle()
  await using app = await withGoogle(google)
  const [asha, thief] = [await aPerson(app), await aPerson(app)]
  const began = await goToGoogle(app, google, asha)
  const crafted = await goToGoogle(app, google, thief)
  const tries: [Person, string, Record<string, string>][] = [
    [asha, crafted.code, {}],
    [asha, crafted.code, { cookie: began.cookie }],
    [asha, crafted.code, { cookie: crafted.cookie }],
    [thief, began.code, { cookie: began.cookie }],
    [await signedInAgain(app, asha), began.code, { cookie: began.cookie }],
    [asha, began.code, { cookie: 'gmailConnect=garbage' }],
  ]
  for (const [person, code, headers] of tries)
    expect((await ask(app, person, mailCalls.configureGmail, { body: { code } }, headers)).problem?.code).toBe('google_failed')
  const otherState = await goToGoogle(app, google, asha)
  const refused = await ask(
    app,
    asha,
    mailCalls.configureGmail,
    { body: { code: otherState.code, state: 'another' } },
    { cookie: otherState.cookie },
  )
  expect(refused.problem?.code).toBe('google_failed')
  const late = await goToGoogle(app, google, asha)
  app.clock.advance({ minutes: 10 })
  const tooLate = await ask(app, asha, mailCalls.configureGmail, { body: { code: late.code } }, { cookie: late.cookie })
  expect(tooLate.problem?.code).toBe('google_failed')
  expect(await app.db.select().from(mailConfigs)).toEqual([])
})

test('a missing scope is reported, and nothing is saved', async () => {
  await using google = await openFakeGoogle()
  await using app = await withGoogle(google)
  const asha = await aPerson(app)
  google.answer({ grants: (asked) => asked.filter((scope) => !scope.includes('gmail')) })
  expect((await connect(app, google, asha)).problem).toMatchObject({
    code: 'google_failed',
    message: expect.stringContaining('Send email on your behalf'),
  })
  expect(google.revoked).toHaveLength(1)
  google.answer({ refreshTokens: false })
  expect((await connect(app, google, asha)).problem?.message).toContain('did not grant long-term access')
  google.answer({ token: () => ({ status: 503 }) })
  expect((await connect(app, google, asha)).problem?.code).toBe('not_ready')
  expect(await app.db.select().from(mailConfigs)).toEqual([])
})

test('where Google is not set up, Gmail is not either', async () => {
  await using app = await openTestApp()
  const asha = await aPerson(app)
  expect((await ask(app, asha, mailCalls.startGmail)).problem?.code).toBe('not_ready')
  expect((await ask(app, asha, mailCalls.configureGmail, { body: { code: 'x' } })).problem?.code).toBe('not_ready')
})

test('a permission is renewed once for many emails, and its old token is kept where no new one comes', async () => {
  await using google = await openFakeGoogle()
  await using app = await withGoogle(google)
  const asha = await ashaOnGmail(app, google, 12)
  const before = await findSender(app.db, asha.id)
  google.answer({ refreshMs: 50 })
  expect((await start(app, asha)).reply).toMatchObject({ count: 12 })
  expect(google.refreshes).toBe(1)
  expect(await findSender(app.db, asha.id)).toEqual(before)
})

test('a new token that comes with a renewal is the one from then on', async () => {
  await using google = await openFakeGoogle()
  await using app = await withGoogle(google)
  const asha = await ashaOnGmail(app, google, 1)
  const before = await findSender(app.db, asha.id)
  google.answer({ rotates: true })
  await start(app, asha)
  const after = await findSender(app.db, asha.id)
  expect(after?.sealedRefreshToken).not.toBe(before?.sealedRefreshToken)
  // Until the access token's end nothing is renewed: taken away, the new refresh token is the one that counts.
  google.expireAccess()
  await anInvoice(app, { owner: asha })
  await app.whileJobsRun(ask(app, asha, reminderCalls.sendNow))
  expect(google.refreshes).toBe(2)
  expect(google.mails).toHaveLength(3)
})

test('a database error at renewal pauses nothing, and the email is sent later', async () => {
  await using google = await openFakeGoogle()
  await using app = await withGoogle(google)
  const asha = await ashaOnGmail(app, google, 1)
  google.answer({ rotates: true })
  const before = google.refreshes
  let started: Promise<unknown>
  {
    await using _refused = await refusedUpdates(app, 'mail_configs', 'NEW.sealed_refresh_token <> OLD.sealed_refresh_token')
    // The call waits for the email, which no job sends before the renewal works again.
    started = ask(app, asha, reminderCalls.start)
    while (google.refreshes === before) {
      await app.runJobs().catch(() => undefined)
      await new Promise((resolve) => setImmediate(resolve))
    }
    expect(google.mails).toHaveLength(0)
    expect(await pauseOf(app, asha)).toBeNull()
  }
  app.clock.advance({ minutes: 6 })
  await app.runJobs()
  await started
  expect(google.mails).toHaveLength(1)
  expect(await pauseOf(app, asha)).toBeNull()
})

test('an access token that ends before its time is renewed, and the email is sent once', async () => {
  await using google = await openFakeGoogle()
  await using app = await withGoogle(google)
  const asha = await ashaOnGmail(app, google, 1)
  await start(app, asha)
  google.expireAccess()
  await anInvoice(app, { owner: asha })
  await app.whileJobsRun(ask(app, asha, reminderCalls.sendNow))
  // The first one once more, and the new one.
  expect(google.mails).toHaveLength(3)
})

test('a revoked grant pauses sending after at most two attempts, and reconnecting resumes it', async () => {
  await using google = await openFakeGoogle()
  await using app = await withGoogle(google)
  const asha = await ashaOnGmail(app, google, 20)
  google.takeBack()
  expect((await start(app, asha)).reply).toMatchObject({ count: 0, failed: 0, retrying: 20 })
  expect(google.refreshes).toBeLessThanOrEqual(2)
  expect(await pauseOf(app, asha)).toMatchObject({
    reason: 'login_refused',
    message: 'Google no longer lets Duely send from this mailbox. Please connect Gmail again.',
  })
  expect((await ask(app, asha, noticeCalls.list)).reply).toMatchObject([{ title: 'Gmail needs to be reconnected' }])
  app.clock.advance({ minutes: 30 })
  await app.runJobs()
  expect(google.refreshes).toBeLessThanOrEqual(2)
  expect((await connect(app, google, await signedInAgain(app, asha))).status).toBe(200)
  await app.runJobs()
  expect(google.mails).toHaveLength(20)
  expect(await pauseOf(app, asha)).toBeNull()
})

test('while Google is away nothing is lost, paused or sent twice', async () => {
  await using google = await openFakeGoogle()
  await using app = await withGoogle(google)
  const asha = await ashaOnGmail(app, google, 3)
  google.answer({ token: () => ({ status: 503 }) })
  expect((await start(app, asha)).reply).toMatchObject({ count: 0, retrying: 3 })
  expect(await pauseOf(app, asha)).toBeNull()
  google.answer({ send: () => ({ status: 503 }) })
  app.clock.advance({ minutes: 10 })
  await app.runJobs()
  google.answer({ send: () => 'reset' })
  app.clock.advance({ minutes: 25 })
  await app.runJobs()
  google.answer({ send: () => ({ status: 429, body: apiError(429, 'rateLimitExceeded') }) })
  app.clock.advance({ minutes: 40 })
  await app.runJobs()
  expect(google.mails).toHaveLength(0)
  google.answer({})
  app.clock.advance({ minutes: 75 })
  await app.runJobs()
  expect(google.mails).toHaveLength(3)
  expect(await pauseOf(app, asha)).toBeNull()
})

test('an email that Gmail refuses fails with its reply, and the others are sent', async () => {
  await using google = await openFakeGoogle()
  await using app = await withGoogle(google)
  const asha = await ashaOnGmail(app, google, 3)
  google.answer({ send: (nth) => (nth === 2 ? { status: 400, body: apiError(400, 'invalidArgument') } : undefined) })
  expect((await start(app, asha)).reply).toMatchObject({
    count: 2,
    failed: 1,
    failures: [{ message: '554 Google says: invalidArgument' }],
  })
})

test('a used-up day at Gmail pauses sending as with any mailbox', async () => {
  await using google = await openFakeGoogle()
  await using app = await withGoogle(google)
  const asha = await ashaOnGmail(app, google, 3)
  google.answer({ send: () => ({ status: 403, body: apiError(403, 'dailyLimitExceeded') }) })
  await start(app, asha)
  expect(await pauseOf(app, asha)).toMatchObject({ reason: 'quota' })
})

test('a Google account without Gmail pauses sending instead of failing each email', async () => {
  await using google = await openFakeGoogle()
  await using app = await withGoogle(google)
  const asha = await ashaOnGmail(app, google, 3)
  google.answer({ send: () => ({ status: 400, body: apiError(400, 'failedPrecondition') }) })
  await start(app, asha)
  expect(await pauseOf(app, asha)).toMatchObject({
    reason: 'login_refused',
    message:
      'This Google account can’t send by Gmail. Turn Gmail on for it and connect it again, or connect another mailbox. Google said: “Google says: failedPrecondition”',
  })
  expect((await ask(app, asha, noticeCalls.list)).reply).toMatchObject([{ title: 'Gmail needs to be reconnected' }])
})

test('a grant is revoked where the mailbox is removed, replaced, or its account deleted', async () => {
  await using google = await openFakeGoogle()
  await using smtp = await openFakeSmtp()
  await using app = await withGoogle(google)
  const asha = await ashaOnGmail(app, google, 0)
  expect((await ask(app, asha, mailCalls.remove)).status).toBe(204)
  expect(google.revoked).toHaveLength(1)
  expect(await auditOf(app, asha)).toContain('Mailbox asha@gmail.com removed.')
  await connect(app, google, asha)
  const replaced = await ask(app, asha, mailCalls.configureSmtp, {
    body: { host: smtp.host, port: smtp.port, secure: false, ...smtp.login },
  })
  expect(replaced.status).toBe(200)
  expect(google.revoked).toHaveLength(2)
  const meera = await ashaOnGmail(app, google, 0)
  google.answer({ all: { status: 503 } })
  expect((await ask(app, meera, accountCalls.deleteMe)).status).toBe(204)
  google.answer({})
  const ravi = await ashaOnGmail(app, google, 0)
  expect((await ask(app, ravi, accountCalls.deleteMe)).status).toBe(204)
  expect(google.revoked).toHaveLength(3)
  expect(new Set(google.revoked.map((token) => token.slice(0, 8)))).toEqual(new Set(['refresh-']))
})

test('connecting the same mailbox again hands nothing back: the new permission would die with the old', async () => {
  await using google = await openFakeGoogle()
  await using app = await withGoogle(google)
  const asha = await ashaOnGmail(app, google, 0)
  await connect(app, google, asha)
  expect(google.revoked).toEqual([])
  google.person = { ...google.person, sub: '2', email: 'office@gmail.com' }
  await connect(app, google, asha)
  expect(google.revoked).toHaveLength(1)
})

test('the grant of a mailbox that two accounts send by is revoked with the last of them', async () => {
  await using google = await openFakeGoogle()
  await using app = await withGoogle(google)
  const [asha, meera] = [await ashaOnGmail(app, google, 0), await ashaOnGmail(app, google, 1)]
  expect((await ask(app, asha, mailCalls.remove)).status).toBe(204)
  expect(google.revoked).toEqual([])
  expect((await start(app, meera)).reply).toMatchObject({ count: 1 })
  expect((await ask(app, meera, accountCalls.deleteMe)).status).toBe(204)
  expect(google.revoked).toHaveLength(1)
})

test('another account’s Gmail can be neither read nor removed', async () => {
  await using google = await openFakeGoogle()
  await using app = await withGoogle(google)
  const asha = await ashaOnGmail(app, google, 0)
  const meera = await aPerson(app)
  expect((await ask(app, meera, mailCalls.config)).reply.configured).toBe(false)
  await ask(app, meera, mailCalls.remove)
  expect(await app.db.select().from(mailConfigs).where(eq(mailConfigs.ownerId, asha.id))).toHaveLength(1)
})

test('a provider that turned passwords off is explained, when connecting and when sending', async () => {
  await using smtp = await openFakeSmtp()
  await using app = await openTestApp({ now: morning })
  const asha = await aPerson(app)
  const body = { host: smtp.host, port: smtp.port, secure: false, ...smtp.login }
  smtp.answer({ auth: () => '535 5.7.139 Authentication unsuccessful, SmtpClientAuthentication is disabled for the Tenant' })
  const refused = await ask(app, asha, mailCalls.configureSmtp, { body })
  expect(refused.problem?.message).toContain('Ask your Microsoft 365 admin to turn on Authenticated SMTP for it')
  smtp.answer({})
  await ask(app, asha, mailCalls.configureSmtp, { body })
  await anInvoice(app, { owner: asha })
  smtp.answer({ mail: () => '550 5.7.30 Basic authentication is not supported for Client Submission' })
  await start(app, asha)
  expect(await pauseOf(app, asha)).toMatchObject({ reason: 'login_refused', message: expect.stringContaining('5.7.30') })
})

test('a reminder with a PDF of 3 MiB is uploaded to Gmail', async () => {
  await using google = await openFakeGoogle()
  await using app = await withGoogle(google)
  const asha = await ashaOnGmail(app, google, 1)
  const [invoice] = (await ask(app, asha, invoiceCalls.list, { query: {} })).reply
  await ask(app, asha, paymentSettingsCalls.save, { body: { pdf: 'attach' } })
  const payload = Buffer.alloc(3 * 1024 * 1024, '%PDF-1.7 %%EOF ')
  const headers = { authorization: `Bearer ${asha.token}`, 'content-type': 'application/pdf' }
  expect((await app.app.inject({ method: 'PUT', url: `/invoice/${invoice?._id}/file`, headers, payload })).statusCode).toBe(200)
  await start(app, asha)
  const [attached] = (await PostalMime.parse(google.mails[0]?.raw ?? '')).attachments
  expect(Buffer.from(attached?.content as ArrayBuffer).equals(payload)).toBe(true)
})
