import PostalMime from 'postal-mime'
import { expect, test } from 'vitest'
import { mailCalls } from '#contract/mail.ts'
import { reminderCalls } from '#contract/reminders.ts'
import { authenticate } from '#server/accounts/sessions.ts'
import { openApp } from '#server/platform/answer.ts'
import { aMailbox, anInvoice, aPerson } from '#test/factories.ts'
import { openFakeSmtp, reset, type Script, silence } from '#test/fakes/smtp-server.ts'
import { ask, openTestApp, type TestApp } from '#test/harness.ts'
import { findSender, pauseSender } from './mail.ts'
import { mailRoutes } from './routes.ts'

/** The same app, with less patience for a mail server that takes its time. */
async function impatient(app: TestApp): Promise<TestApp> {
  const own = await openApp({ log: app.deps.log, trustProxy: false, authenticate: (request) => authenticate(app.deps, request) })
  mailRoutes(own, app.deps, { onSenderChange: async () => undefined, mostMailboxes: async () => 1 }, { testPatienceMs: 300 })
  return { ...app, app: own }
}

test("a test email goes from the person's mailbox to their own address, and says what the mail server said", async () => {
  await using app = await openTestApp()
  await using smtp = await openFakeSmtp({ login: { user: 'billing@asha.example', pass: 'app-password' } })
  smtp.answer({ dot: () => '250 2.0.0 OK queued as 4711' })
  const asha = await aPerson(app, { displayName: 'Asha Rao', email: 'asha@example.com' })
  await aMailbox(app, asha, smtp)
  const { status, reply } = await ask(app, asha, mailCalls.test)
  expect({ status, reply }).toEqual({ status: 200, reply: { to: 'asha@example.com', reply: '250 2.0.0 OK queued as 4711' } })
  expect(smtp.mails).toHaveLength(1)
  const [mail] = smtp.mails
  expect(mail?.envelope).toEqual({ from: 'billing@asha.example', to: ['asha@example.com'] })
  const read = await PostalMime.parse(mail?.raw ?? '')
  expect(read.from).toEqual({ name: 'Asha Rao', address: 'billing@asha.example' })
  expect(read.subject).toBe('Test email from Duely')
  expect(read.text).toContain('It was sent from billing@asha.example')
  expect(read.messageId).toMatch(/^<test\.[\w-]+@asha\.example>$/)
  expect(read.headers.find(({ key }) => key === 'auto-submitted')?.value).toBe('auto-generated')
})

test('a test email is no reminder: no run, no last reminder, and the invoice is reminded as before', async () => {
  await using app = await openTestApp()
  await using smtp = await openFakeSmtp()
  const invoice = await anInvoice(app)
  await aMailbox(app, invoice.owner, smtp)
  expect((await ask(app, invoice.owner, mailCalls.test)).status).toBe(200)
  await app.runJobs()
  expect(smtp.mails).toHaveLength(1)
  expect((await ask(app, invoice.owner, reminderCalls.status)).reply.lastReminderSent).toBeNull()
  expect((await ask(app, invoice.owner, reminderCalls.runs, { query: {} })).reply).toEqual([])
  const sent = await app.whileJobsRun(ask(app, invoice.owner, reminderCalls.sendNow))
  expect(sent.reply).toMatchObject({ count: 1, skipped: 0 })
})

test('without a mailbox a test email is refused', async () => {
  await using app = await openTestApp()
  const { status, problem } = await ask(app, await aPerson(app), mailCalls.test)
  expect(status).toBe(400)
  expect(problem).toEqual({
    code: 'mail_not_configured',
    message: 'Please configure your email settings first before sending a test email.',
  })
})

const refusals: [what: string, script: Script, says: string][] = [
  [
    'a login that is refused',
    { auth: () => '535 5.7.8 Username and Password not accepted' },
    'The test email was not sent. 127.0.0.1 refused the login. It said: “535 5.7.8 Username and Password not accepted” Please check email and password. Many providers, including Gmail, require an app password instead of your normal one.',
  ],
  [
    'passwords that the provider has switched off',
    { auth: () => '535 5.7.139 Authentication unsuccessful, basic authentication is disabled.' },
    'The test email was not sent. 127.0.0.1 doesn’t accept passwords for sending from this mailbox. Ask your Microsoft 365 admin to turn on Authenticated SMTP for it, or connect another mailbox. It said: “535 5.7.139 Authentication unsuccessful, basic authentication is disabled.”',
  ],
  [
    'a recipient that is refused',
    { rcpt: () => '550 5.1.1 No such user here' },
    'The test email was not sent. 127.0.0.1 refused. It said: “550 5.1.1 No such user here”',
  ],
  [
    'a mail that is put off',
    { dot: () => '451 4.7.1 Greylisted, come back later' },
    'The test email was not sent. 127.0.0.1 refused. It said: “451 4.7.1 Greylisted, come back later”',
  ],
  [
    'a used-up day',
    { data: () => '550 5.4.5 Daily user sending limit exceeded' },
    'The test email was not sent. 127.0.0.1 refused. It said: “550 5.4.5 Daily user sending limit exceeded”',
  ],
  ['a server that breaks off', { greeting: () => reset }, 'The test email was not sent. 127.0.0.1 closed the connection on port'],
  ['a connection lost after the mail', { dot: () => reset }, '127.0.0.1 hasn’t confirmed the test email but may have it'],
]
test.each(refusals)("%s is reported in the mail server's words", async (_what, script, says) => {
  await using app = await openTestApp()
  await using smtp = await openFakeSmtp()
  const asha = await aPerson(app)
  await aMailbox(app, asha, smtp)
  smtp.answer(script)
  const { status, problem } = await ask(app, asha, mailCalls.test)
  expect({ status, code: problem?.code }).toEqual({ status: 502, code: 'mail_refused' })
  expect(problem?.message).toContain(says)
})

test('the test of a mailbox whose server is gone names its port', async () => {
  await using app = await openTestApp()
  const asha = await aPerson(app)
  const smtp = await openFakeSmtp()
  await aMailbox(app, asha, smtp)
  await smtp[Symbol.asyncDispose]()
  expect((await ask(app, asha, mailCalls.test)).problem?.message).toContain('refuses connections on port')
})

test('a test email times out, and is not sent afterwards', async () => {
  await using app = await openTestApp()
  await using smtp = await openFakeSmtp()
  const asha = await aPerson(app)
  await aMailbox(app, asha, smtp)
  const own = await impatient(app)
  smtp.answer({ greeting: () => silence })
  const silent = await ask(own, asha, mailCalls.test)
  expect(silent.problem?.message).toBe('The test email was not sent. 127.0.0.1 did not answer in time. Please try again in a few minutes.')
  smtp.hangUp()
  await smtp.quiet()
  smtp.answer({ dot: () => silence })
  const unsure = await ask(own, asha, mailCalls.test)
  expect(unsure.problem?.message).toContain('may have it. Please check your inbox')
  smtp.hangUp()
  await own.app.close()
  expect(smtp.mails).toHaveLength(1)
})

test('an account sends itself ten test emails an hour, another account is not affected', async () => {
  await using app = await openTestApp({ config: { rateLimit: true } })
  await using smtp = await openFakeSmtp()
  const [asha, ravi] = [await aPerson(app), await aPerson(app)]
  await aMailbox(app, asha, smtp)
  await aMailbox(app, ravi, smtp)
  for (let nth = 1; nth <= 10; nth++) expect((await ask(app, asha, mailCalls.test)).status).toBe(200)
  const eleventh = await ask(app, asha, mailCalls.test)
  expect(eleventh).toMatchObject({ status: 429, problem: { code: 'too_many' }, headers: { 'retry-after': '3600' } })
  expect(smtp.mails).toHaveLength(10)
  expect((await ask(app, ravi, mailCalls.test)).status).toBe(200)
  app.clock.advance({ minutes: 61 })
  expect((await ask(app, asha, mailCalls.test)).status).toBe(200)
})

test('a test email that is taken ends a pause for a refused login, and what waited leaves; a used-up quota stays one', async () => {
  await using app = await openTestApp()
  await using smtp = await openFakeSmtp()
  const invoice = await anInvoice(app)
  const sender = await aMailbox(app, invoice.owner, smtp)
  const stop = { words: '535 5.7.8 No', until: null, learnedPerDay: null }
  await pauseSender(app.db, sender, { ...stop, reason: 'login_refused' }, app.clock.now())
  await app.whileJobsRun(ask(app, invoice.owner, reminderCalls.start))
  expect(smtp.mails).toHaveLength(0)
  expect((await ask(app, invoice.owner, mailCalls.test)).status).toBe(200)
  expect((await ask(app, invoice.owner, mailCalls.config)).reply.pause).toBeNull()
  await app.runJobs()
  expect(smtp.mails.map(({ envelope }) => envelope.to[0])).toEqual([invoice.owner.email, 'billing@kaveri.example'])

  await pauseSender(app.db, sender, { ...stop, reason: 'quota', until: app.clock.now().add({ hours: 24 }) }, app.clock.now())
  expect((await ask(app, invoice.owner, mailCalls.test)).status).toBe(200)
  expect((await findSender(app.db, invoice.owner.id))?.pauseReason).toBe('quota')
})
