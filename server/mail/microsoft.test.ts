// Also on PostgreSQL: one process at a time renews a grant.
import { sql } from 'drizzle-orm'
import PostalMime from 'postal-mime'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { accountCalls } from '#contract/accounts.ts'
import { deliveryProblem } from '#contract/delivery-problem.ts'
import { invoiceCalls } from '#contract/invoices.ts'
import { mailCalls } from '#contract/mail.ts'
import { noticeCalls } from '#contract/notices.ts'
import { paymentSettingsCalls } from '#contract/payment-settings.ts'
import { reminderCalls } from '#contract/reminders.ts'
import { rows } from '#server/platform/database.ts'
import { anInvoice, aPerson, type Person, signedInAgain } from '#test/factories.ts'
import { type FakeMicrosoft, graphError, openFakeMicrosoft } from '#test/fakes/microsoft.ts'
import { ask, openTestApp, type TestApp } from '#test/harness.ts'
import { findSender } from './mail.ts'
import { openRefreshToken } from './sender.ts'
import { mailConfigs } from './tables.ts'
import { openMailer } from './transports.ts'

/** Ten in the morning in India. */
const morning = '2026-03-02T04:30:00Z'
const upi = { id: 'asha@okaxis', name: 'Asha Traders', merchantCode: null }

/** Without the limit of 30 emails a minute, which limits.test.ts is about. */
async function withMicrosoft(microsoft: FakeMicrosoft, config = {}): Promise<TestApp> {
  const app = await openTestApp({ now: morning, config: { microsoft: microsoft.config, ...config } })
  app.deps.limitsOf = () => ({ provider: 'Exchange Online', perHour: null, perDay: null, perMinute: null })
  return app
}

/** What the button does: it asks where to go, and comes back with a page and the cookie. */
async function goToMicrosoft(app: TestApp, microsoft: FakeMicrosoft, person: Person) {
  const started = await ask(app, person, mailCalls.startMicrosoft)
  const sent = String(started.headers['set-cookie'])
  const page = await microsoft.visit(started.reply.url)
  const state = page.searchParams.get('state') ?? '?'
  return { page, state, cookie: sent.split(';')[0] ?? '', code: page.searchParams.get('code') ?? '?', sent }
}

async function connect(app: TestApp, microsoft: FakeMicrosoft, person: Person) {
  const { cookie, code, state } = await goToMicrosoft(app, microsoft, person)
  return ask(app, person, mailCalls.configureMicrosoft, { body: { code, state } }, { cookie })
}

/** Asha with a mailbox at Microsoft 365 and so many invoices past due. */
async function ashaOnMicrosoft(app: TestApp, microsoft: FakeMicrosoft, count: number): Promise<Person> {
  const asha = await aPerson(app)
  expect((await connect(app, microsoft, asha)).status).toBe(200)
  for (let n = 1; n <= count; n += 1) await anInvoice(app, { owner: asha, clientEmail: `client${n}@example.com` })
  return asha
}

const start = (app: TestApp, person: Person) => app.whileJobsRun(ask(app, person, reminderCalls.start))
const deliveryOf = async (app: TestApp) => {
  const delivery = z.object({ state: z.string(), messageId: z.string().nullable(), reply: z.string().nullable() })
  const [found] = await rows(app.db, delivery, sql`SELECT state, message_id AS "messageId", server_reply AS reply FROM deliveries`)
  return found
}
const pauseOf = async (app: TestApp, person: Person) => (await ask(app, person, reminderCalls.status)).reply.pause

test('a person connects Microsoft 365, and a reminder keeps X-Reminder-Id where Graph replaces the Message-ID', async () => {
  await using microsoft = await openFakeMicrosoft()
  await using app = await withMicrosoft(microsoft)
  const asha = await aPerson(app)
  expect((await ask(app, null, accountCalls.server)).reply.microsoft).toBe(true)
  const { page, cookie, code, state, sent } = await goToMicrosoft(app, microsoft, asha)
  expect(page.origin + page.pathname).toBe('http://localhost:0/dashboard/mail-settings')
  expect(state).toMatch(/^microsoft\./)
  expect(sent.split('; ').slice(1).sort()).toEqual(['HttpOnly', 'Max-Age=600', 'Path=/mail-config/microsoft', 'SameSite=Strict'])
  expect(microsoft.authorizations[0]?.searchParams.get('scope')).toBe('offline_access User.Read Mail.Send')
  const connected = await ask(app, asha, mailCalls.configureMicrosoft, { body: { code, state } }, { cookie })
  expect(connected.reply).toMatchObject({ configured: true, provider: 'microsoft', user: 'asha@banyan.example', host: null, pause: null })
  const invoice = await anInvoice(app, { owner: asha })
  expect((await start(app, asha)).reply).toMatchObject({ count: 1, failed: 0 })
  const delivery = await deliveryOf(app)
  const mail = await PostalMime.parse(microsoft.mails[0]?.raw ?? '')
  expect(mail).toMatchObject({ from: { name: 'Asha Rao', address: 'asha@banyan.example' }, to: [{ address: invoice.clientEmail }] })
  const header = (name: string) => mail.headers.find(({ key }) => key === name)?.value
  expect(mail.messageId).not.toBe(delivery?.messageId)
  expect(header('auto-submitted')).toBeUndefined()
  expect(delivery?.messageId).toContain(header('x-reminder-id'))
  expect(delivery?.reply).toMatch(/^Microsoft 365 accepted it as [\w-]{36}\.$/)
})

test('where Microsoft is not set up, its calls answer not_ready', async () => {
  await using app = await openTestApp()
  const asha = await aPerson(app)
  expect((await ask(app, asha, mailCalls.startMicrosoft)).problem?.code).toBe('not_ready')
  expect((await ask(app, asha, mailCalls.configureMicrosoft, { body: { code: 'x' } })).problem?.code).toBe('not_ready')
  expect((await ask(app, asha, mailCalls.microsoftApproval)).problem?.code).toBe('not_ready')
  expect((await ask(app, null, accountCalls.server)).reply.microsoft).toBe(false)
})

test('a code from another account, browser or state does not connect a mailbox', async () => {
  await using microsoft = await openFakeMicrosoft()
  await using app = await withMicrosoft(microsoft)
  const [asha, thief] = [await aPerson(app), await aPerson(app)]
  const began = await goToMicrosoft(app, microsoft, asha)
  const crafted = await goToMicrosoft(app, microsoft, thief)
  const tries: [Person, string, Record<string, string>][] = [
    [asha, crafted.code, {}],
    [asha, crafted.code, { cookie: began.cookie }],
    [asha, crafted.code, { cookie: crafted.cookie }],
    [thief, began.code, { cookie: began.cookie }],
    [await signedInAgain(app, asha), began.code, { cookie: began.cookie }],
  ]
  for (const [person, code, headers] of tries)
    expect((await ask(app, person, mailCalls.configureMicrosoft, { body: { code } }, headers)).problem?.code).toBe('microsoft_failed')
  const other = await goToMicrosoft(app, microsoft, asha)
  const refused = await ask(
    app,
    asha,
    mailCalls.configureMicrosoft,
    { body: { code: other.code, state: began.state } },
    { cookie: other.cookie },
  )
  expect(refused.problem?.code).toBe('microsoft_failed')
  expect(await app.db.select().from(mailConfigs)).toEqual([])
})

test('a refusal of Microsoft is reported in words, and an administrator can allow Duely by a link', async () => {
  await using microsoft = await openFakeMicrosoft()
  await using app = await withMicrosoft(microsoft)
  const asha = await aPerson(app)
  const refusal = async () => (await connect(app, microsoft, asha)).problem
  microsoft.answer({ token: () => ({ status: 400, body: { error: 'invalid_grant', error_codes: [65001], suberror: 'consent_required' } }) })
  expect(await refusal()).toMatchObject({
    code: 'administrator_needed',
    message: expect.stringMatching(/^Your administrator has to allow Duely once/),
  })
  microsoft.answer({ grants: (asked) => asked.filter((scope) => scope !== 'Mail.Send') })
  expect((await refusal())?.message).toContain('did not allow Duely to send email')
  microsoft.answer({ grants: (asked) => asked.filter((scope) => scope !== 'offline_access') })
  expect((await refusal())?.message).toContain('did not grant long-term access')
  microsoft.answer({ token: () => ({ status: 503 }) })
  expect((await refusal())?.code).toBe('not_ready')
  microsoft.answer({})
  microsoft.person = { mail: null, userPrincipalName: 'no-address' }
  expect((await refusal())?.message).toContain('has no mailbox')
  expect(await app.db.select().from(mailConfigs)).toEqual([])
  const approval = new URL((await ask(app, asha, mailCalls.microsoftApproval)).reply.url)
  expect(approval.pathname).toBe('/organizations/v2.0/adminconsent')
  expect(Object.fromEntries(approval.searchParams)).toEqual({
    client_id: microsoft.config.clientId,
    scope: 'https://graph.microsoft.com/User.Read https://graph.microsoft.com/Mail.Send',
    redirect_uri: 'http://localhost:0/dashboard/mail-settings',
    state: 'microsoft.approval',
  })
})

test('a refresh token is sealed, and replaced at each renewal', async () => {
  await using microsoft = await openFakeMicrosoft()
  await using app = await withMicrosoft(microsoft)
  const asha = await ashaOnMicrosoft(app, microsoft, 12)
  const tokenOf = async () => {
    const sender = await findSender(app.db, asha.id)
    if (!sender) throw new Error('There is no mailbox.')
    const token = openRefreshToken(app.deps.config.secretKey, sender)
    expect(JSON.stringify(sender)).not.toContain(token)
    return token
  }
  microsoft.answer({ singleUse: true })
  const before = await tokenOf()
  expect((await start(app, asha)).reply).toMatchObject({ count: 12 })
  expect(microsoft.refreshes).toBe(1)
  const after = await tokenOf()
  expect(after).not.toBe(before)
  microsoft.expireAccess()
  await anInvoice(app, { owner: asha })
  await app.whileJobsRun(ask(app, asha, reminderCalls.sendNow))
  expect(microsoft.refreshes).toBe(2)
  expect(await tokenOf()).not.toBe(after)
  expect(microsoft.mails).toHaveLength(25)
})

test('two processes renew one after the other, so that neither uses up the token of the other', async () => {
  await using microsoft = await openFakeMicrosoft()
  await using app = await withMicrosoft(microsoft)
  const asha = await ashaOnMicrosoft(app, microsoft, 0)
  const sender = await findSender(app.db, asha.id)
  if (!sender) throw new Error('There is no mailbox.')
  microsoft.answer({ singleUse: true, refreshMs: 50 })
  const processes = Array.from({ length: 3 }, () => openMailer(app.deps))
  const raw = Buffer.from('From: Asha <asha@banyan.example>\r\nMessage-ID: <1@banyan.example>\r\n\r\nHello')
  const take = async () => ({ raw, from: sender.address, to: 'client@example.com' })
  const outcomes = await Promise.all(processes.map((mailer) => mailer.send(sender, take)))
  await Promise.all(processes.map((mailer) => mailer.close()))
  expect(outcomes.map((outcome) => outcome?.kind)).toEqual(['accepted', 'accepted', 'accepted'])
  expect([microsoft.refreshes, microsoft.mostAtOnce]).toEqual([3, 1])
})

test('a process that lacks a rotated key tries again for half an hour, then the mailbox is paused', async () => {
  await using microsoft = await openFakeMicrosoft()
  await using app = await withMicrosoft(microsoft)
  const asha = await ashaOnMicrosoft(app, microsoft, 2)
  const restarted = {
    ...app.deps,
    config: { ...app.deps.config, secretKey: `another secret key, of 32 characters\n${app.deps.config.secretKey}` },
  }
  const sender = await findSender(app.db, asha.id)
  if (!sender) throw new Error('There is no mailbox.')
  const raw = Buffer.from('From: Asha <asha@banyan.example>\r\nMessage-ID: <1@banyan.example>\r\n\r\nHello')
  const rotated = openMailer(restarted)
  await rotated.send(sender, async () => ({ raw, from: sender.address, to: 'client@example.com' }))
  await rotated.close()
  app.deps.mailer = openMailer(app.deps)
  expect((await start(app, asha)).reply).toMatchObject({ count: 0, failed: 0, retrying: 2 })
  app.clock.advance({ minutes: 20 })
  await app.runJobs()
  expect(await pauseOf(app, asha)).toBeNull()
  app.deps.mailer = openMailer(restarted)
  app.clock.advance({ minutes: 20 })
  await app.runJobs()
  expect(microsoft.mails).toHaveLength(3)

  await anInvoice(app, { owner: asha, clientEmail: 'later@example.com' })
  app.deps.mailer = openMailer(app.deps)
  await app.whileJobsRun(ask(app, asha, reminderCalls.sendNow))
  for (const minutes of [10, 25]) {
    app.clock.advance({ minutes })
    await app.runJobs()
  }
  expect(await pauseOf(app, asha)).toMatchObject({
    reason: 'login_refused',
    message: expect.stringContaining('connect Microsoft 365 again'),
  })
})

test('a withdrawn permission pauses sending, and connecting again resumes it', async () => {
  await using microsoft = await openFakeMicrosoft()
  await using app = await withMicrosoft(microsoft)
  const asha = await ashaOnMicrosoft(app, microsoft, 20)
  microsoft.takeBack()
  expect((await start(app, asha)).reply).toMatchObject({ count: 0, failed: 0, retrying: 20 })
  expect(microsoft.refreshes).toBeLessThanOrEqual(2)
  expect(await pauseOf(app, asha)).toMatchObject({
    reason: 'login_refused',
    message: 'Microsoft no longer lets Duely send from this mailbox. Please connect Microsoft 365 again.',
  })
  expect((await ask(app, asha, noticeCalls.list)).reply).toMatchObject([{ title: 'Microsoft 365 needs to be reconnected' }])
  expect((await connect(app, microsoft, asha)).status).toBe(200)
  await app.runJobs()
  expect(microsoft.mails).toHaveLength(20)
  expect(await pauseOf(app, asha)).toBeNull()
})

test('while Microsoft is away nothing is lost, paused or sent twice', async () => {
  await using microsoft = await openFakeMicrosoft()
  await using app = await withMicrosoft(microsoft)
  const asha = await ashaOnMicrosoft(app, microsoft, 3)
  microsoft.answer({ token: () => ({ status: 503 }) })
  expect((await start(app, asha)).reply).toMatchObject({ count: 0, retrying: 3 })
  microsoft.answer({ send: () => ({ status: 503 }) })
  app.clock.advance({ minutes: 10 })
  await app.runJobs()
  microsoft.answer({ send: () => 'reset' })
  app.clock.advance({ minutes: 25 })
  await app.runJobs()
  expect(microsoft.mails).toHaveLength(0)
  expect(await pauseOf(app, asha)).toBeNull()
  microsoft.answer({})
  app.clock.advance({ minutes: 75 })
  await app.runJobs()
  expect(microsoft.mails).toHaveLength(3)
})

test('429 stops the mailbox for as long as Retry-After says', async () => {
  await using microsoft = await openFakeMicrosoft()
  await using app = await withMicrosoft(microsoft)
  const asha = await ashaOnMicrosoft(app, microsoft, 0)
  await ask(app, asha, reminderCalls.start)
  for (let n = 1; n <= 3; n += 1) await anInvoice(app, { owner: asha, clientEmail: `client${n}@example.com` })
  let calls = 0
  const throttled = { ...graphError(429, 'ApplicationThrottled'), retryAfter: 1_200 }
  microsoft.answer({
    send: () => {
      calls += 1
      return throttled
    },
  })
  // The daily run of the next morning: Start would wait for every email.
  app.clock.set('2026-03-03T03:30:00Z')
  await app.runJobs()
  expect(calls).toBe(1)
  const reply = (await deliveryOf(app))?.reply ?? ''
  expect(reply).toBe('450 ApplicationThrottled: Microsoft says: ApplicationThrottled')
  expect(deliveryProblem(reply).words).toBe('mail server asked to try later')
  app.clock.advance({ minutes: 19 })
  await app.runJobs()
  expect(calls).toBe(1)
  expect(await pauseOf(app, asha)).toBeNull()
  microsoft.answer({})
  app.clock.advance({ minutes: 2 })
  await app.runJobs()
  expect(microsoft.mails).toHaveLength(3)
})

test.each([
  [graphError(400, 'ErrorInvalidRecipients'), 'failed', '554 ErrorInvalidRecipients: Microsoft says: ErrorInvalidRecipients'],
  [graphError(413, 'RequestEntityTooLarge'), 'failed', '552 5.3.4 The email is larger than the mail server allows.'],
  [graphError(403, 'ErrorAccessDenied'), 'held', 'login_refused'],
  [graphError(404, 'MailboxNotEnabledForRESTAPI'), 'held', 'login_refused'],
  [graphError(403, 'ErrorExceededMessageLimit'), 'held', 'quota'],
])('Graph answers %o: the email is %s', async (fault, state, why) => {
  await using microsoft = await openFakeMicrosoft()
  await using app = await withMicrosoft(microsoft)
  const asha = await ashaOnMicrosoft(app, microsoft, 1)
  microsoft.answer({ send: () => fault })
  await start(app, asha)
  const delivery = await deliveryOf(app)
  expect(delivery?.state).toBe(state)
  expect(state === 'held' ? (await pauseOf(app, asha))?.reason : delivery?.reply).toBe(why)
})

test('where the connection breaks before the answer, the email is repeated with the same bytes', async () => {
  await using microsoft = await openFakeMicrosoft()
  await using app = await withMicrosoft(microsoft)
  const asha = await ashaOnMicrosoft(app, microsoft, 1)
  microsoft.answer({ send: (nth) => (nth === 1 ? 'cut' : undefined) })
  await start(app, asha)
  app.clock.advance({ minutes: 10 })
  await app.runJobs()
  const reminders = await Promise.all(microsoft.mails.map(({ raw }) => PostalMime.parse(raw)))
  const ids = reminders.map(({ headers }) => headers.find(({ key }) => key === 'x-reminder-id')?.value)
  expect(ids).toEqual([ids[0], ids[0]])
})

test('PDFs that Graph would refuse with their email are linked instead, and the draft shows that', async () => {
  await using microsoft = await openFakeMicrosoft()
  await using app = await withMicrosoft(microsoft, { publicUrl: 'https://duely.example', payLinks: true })
  const asha = await ashaOnMicrosoft(app, microsoft, 2)
  await ask(app, asha, paymentSettingsCalls.save, { body: { upi, pdf: 'attach' } })
  const invoices = (await ask(app, asha, invoiceCalls.list, { query: {} })).reply
  const draftOf = async (id: string) => (await ask(app, asha, reminderCalls.draft, { body: { invoiceIds: [id] } })).reply.email
  for (const { _id, clientEmail } of invoices) {
    const payload = Buffer.alloc(clientEmail === 'client1@example.com' ? 2 * 1024 * 1024 : 2 * 1024 * 1024 + 1, '%PDF-1.7 %%EOF ')
    const headers = { authorization: `Bearer ${asha.token}`, 'content-type': 'application/pdf' }
    expect((await app.app.inject({ method: 'PUT', url: `/invoice/${_id}/file`, headers, payload })).statusCode).toBe(200)
  }
  const drafts = await Promise.all(invoices.map(({ _id }) => draftOf(_id)))
  const shown = drafts.map((draft) => [draft?.to, draft?.attached.length, draft?.text.includes('/invoice.pdf')])
  expect(shown.toSorted()).toEqual([
    ['client1@example.com', 1, false],
    ['client2@example.com', 0, true],
  ])
  expect((await start(app, asha)).reply).toMatchObject({ count: 2, failed: 0 })
  const mails = await Promise.all(microsoft.mails.map(({ raw }) => PostalMime.parse(raw)))
  const sent = mails.map(({ to, attachments, text }) => [
    to?.[0]?.address,
    attachments.filter(({ mimeType }) => mimeType === 'application/pdf').length,
    text?.includes('/invoice.pdf'),
  ])
  expect(sent.toSorted()).toEqual(shown.toSorted())
})

test.each([
  ['without a way to pay', { pdf: 'attach' }, true],
  ['without ways to pay in reminders', { pdf: 'attach', upi, inEmails: false }, true],
  ['where clients cannot reach this server', { pdf: 'attach' }, false],
] as const)('%s too, a PDF that Graph would refuse is linked if it can be, and the draft names it', async (_when, settings, payLinks) => {
  await using microsoft = await openFakeMicrosoft()
  await using app = await withMicrosoft(microsoft, { publicUrl: 'https://duely.example', payLinks })
  const asha = await ashaOnMicrosoft(app, microsoft, 1)
  await ask(app, asha, paymentSettingsCalls.save, { body: settings })
  const [invoice] = (await ask(app, asha, invoiceCalls.list, { query: {} })).reply
  const payload = Buffer.alloc(2 * 1024 * 1024 + 1, '%PDF-1.7 %%EOF ')
  const headers = { authorization: `Bearer ${asha.token}`, 'content-type': 'application/pdf' }
  expect((await app.app.inject({ method: 'PUT', url: `/invoice/${invoice?._id}/file`, headers, payload })).statusCode).toBe(200)
  const { email } = (await ask(app, asha, reminderCalls.draft, { body: { invoiceIds: [invoice?._id ?? ''] } })).reply
  expect(email).toMatchObject({ attached: [], notAttached: ['invoice.pdf'] })
  await start(app, asha)
  const sent = await PostalMime.parse(microsoft.mails[0]?.raw ?? '')
  const link = /^Download the invoice \(PDF\): https:\/\/duely\.example\/pay\/[\w-]+\/invoice\.pdf$/m
  expect([email?.text, sent.text].map((text) => link.test(text ?? ''))).toEqual([payLinks, payLinks])
  expect(sent.html?.includes('/invoice.pdf"')).toBe(payLinks)
})
