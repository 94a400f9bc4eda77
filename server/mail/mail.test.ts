// Also on PostgreSQL: two changes of a mailbox meet on one row.
import net from 'node:net'
import { eq } from 'drizzle-orm'
import { expect, test } from 'vitest'
import { mailCalls, type SmtpDraft } from '#contract/mail.ts'
import { authenticate } from '#server/accounts/sessions.ts'
import { accounts } from '#server/accounts/tables.ts'
import { openApp } from '#server/platform/answer.ts'
import { newId } from '#server/platform/columns.ts'
import { openLog } from '#server/platform/log.ts'
import { ProblemError } from '#server/platform/problem-error.ts'
import { aMailbox, aPerson, type Person, signedInAgain } from '#test/factories.ts'
import { makeCertificate } from '#test/fakes/certificate.ts'
import { drip, type FakeSmtp, openFakeSmtp, reset, type Script, type SmtpOptions, silence } from '#test/fakes/smtp-server.ts'
import { ask, openTestApp, type TestApp } from '#test/harness.ts'
import { findSender, hasMailConfig, pauseSender } from './mail.ts'
import { openSmtpMailer } from './mailer.ts'
import { type MailHandDowns, mailRoutes } from './routes.ts'
import { defaultNetwork, type NetworkDeps } from './session.ts'
import { mailConfigs } from './tables.ts'

const unconfigured = { configured: false, provider: null, user: null, username: null, host: null, port: null, secure: null, pause: null }

function draftFor(smtp: FakeSmtp, about: Partial<SmtpDraft> = {}): SmtpDraft {
  return { host: smtp.host, port: smtp.port, secure: smtp.tls === 'ssl', ...smtp.login, ...about }
}

/** The same app with the mail calls in a world of the test's making, and what it logs. */
async function inWorld(
  app: TestApp,
  network: Partial<NetworkDeps>,
  about: { handDowns?: Pick<MailHandDowns, 'onSenderChange'>; patience?: { wholeMs: number; probeMs: number } } = {},
): Promise<TestApp & { logged: string[] }> {
  const logged: string[] = []
  const log = openLog({ level: 'trace', terminal: false, destination: { write: (line: string) => void logged.push(line) } })
  const own = await openApp({ log, trustProxy: false, authenticate: (request) => authenticate(app.deps, request) })
  const patience = about.patience ?? { wholeMs: 10_000, probeMs: 50 }
  const handDowns = { onSenderChange: async () => undefined, mostMailboxes: async () => 1, ...about.handDowns }
  mailRoutes(own, app.deps, handDowns, { network, patience })
  return { ...app, app: own, logged }
}

/** The public internet as far as a test needs it: every name leads to one public address, and who dials it gets this server. */
function publicly(smtp: FakeSmtp): Partial<NetworkDeps> {
  return {
    allowPrivateHosts: false,
    resolve: async () => ['93.184.215.14'],
    connect: () => net.connect(smtp.port, smtp.host),
    trust: smtp.certificate,
  }
}

async function nothingIsStored(app: TestApp, person: Person): Promise<void> {
  expect((await ask(app, person, mailCalls.config)).reply).toEqual(unconfigured)
  expect(await hasMailConfig(app.db, person.id)).toBe(false)
}

const forever = { until: null, learnedPerDay: null }

test('a mailbox is tried, saved and shown without its password', async () => {
  await using app = await openTestApp()
  await using smtp = await openFakeSmtp()
  const asha = await aPerson(app)
  await nothingIsStored(app, asha)
  const draft = draftFor(smtp)
  const pasted = { host: `smtp://${draft.host}:${draft.port}/`, pass: `${draft.pass}\n` }
  const saved = await ask(app, asha, mailCalls.configureSmtp, { body: { ...draft, ...pasted } })
  expect(saved.status).toBe(200)
  expect(saved.reply).toEqual({
    configured: true,
    provider: 'smtp',
    user: 'asha@example.com',
    username: null,
    host: '127.0.0.1',
    port: smtp.port,
    secure: false,
    pause: null,
  })
  expect(smtp.authTries).toBe(1)
  expect(smtp.mails).toEqual([])
  expect((await ask(app, asha, mailCalls.config)).reply).toEqual(saved.reply)
  expect((await ask(app, await aPerson(app), mailCalls.config)).reply).toEqual(unconfigured)
})

test('a mailbox beyond ASCII is tried with its domain in ASCII, and one whose name needs SMTPUTF8 is refused by a server without it', async () => {
  await using app = await openTestApp()
  await using smtp = await openFakeSmtp({ login: { user: 'apikey', pass: 'SG.secret' } })
  const asha = await aPerson(app)
  smtp.answer({ offers: { smtputf8: false } })
  const save = (user: string) => ask(app, asha, mailCalls.configureSmtp, { body: { ...draftFor(smtp), username: 'apikey', user } })
  expect((await save('asha@m\u00fcller.example')).reply.user).toBe('asha@müller.example')
  expect(smtp.commands).toContainEqual(expect.stringMatching(/^MAIL FROM:<asha@xn--mller-kva\.example>/))
  const refused = await save('jörg@müller.example')
  expect(refused.problem).toMatchObject({
    code: 'mail_test_failed',
    errors: [{ path: 'user', message: expect.stringContaining('SMTPUTF8') }],
  })
})

test('a mailbox that was saved sends', async () => {
  await using app = await openTestApp()
  await using smtp = await openFakeSmtp()
  const asha = await aPerson(app)
  await ask(app, asha, mailCalls.configureSmtp, { body: draftFor(smtp) })
  const sender = await findSender(app.db, asha.id)
  const mailer = openSmtpMailer({ secretKey: app.deps.config.secretKey, allowPrivateHosts: true, log: app.deps.log })
  const mail = { raw: Buffer.from('Subject: x\r\n\r\nx\r\n'), from: 'asha@example.com', to: 'client@example.org' }
  expect(sender && (await mailer.send(sender, async () => mail))).toMatchObject({ kind: 'accepted' })
  await mailer.close()
})

test('a username that is no address signs in, when the mailbox is tried and when it sends; the address stays the sender', async () => {
  await using app = await openTestApp()
  await using smtp = await openFakeSmtp({ login: { user: 'apikey', pass: 'SG.secret' } })
  const asha = await aPerson(app)
  const draft = { ...draftFor(smtp), user: 'asha@banyan.example', username: ' apikey ' }
  expect((await ask(app, asha, mailCalls.configureSmtp, { body: draft })).reply).toMatchObject({
    user: 'asha@banyan.example',
    username: 'apikey',
  })
  const sender = await findSender(app.db, asha.id)
  const mailer = openSmtpMailer({ secretKey: app.deps.config.secretKey, allowPrivateHosts: true, log: app.deps.log })
  const mail = { raw: Buffer.from('Subject: x\r\n\r\nx\r\n'), from: 'asha@banyan.example', to: 'client@example.org' }
  expect(sender && (await mailer.send(sender, async () => mail))).toMatchObject({ kind: 'accepted' })
  await mailer.close()
  const without = await ask(app, asha, mailCalls.configureSmtp, { body: { ...draft, username: '' } })
  expect(without.problem?.errors).toMatchObject([{ path: 'pass' }])
})

test('a mailbox is removed, and removing it twice does no harm', async () => {
  await using app = await openTestApp()
  await using smtp = await openFakeSmtp()
  const asha = await aPerson(app)
  await aMailbox(app, asha, smtp)
  expect((await ask(app, asha, mailCalls.config)).reply?.configured).toBe(true)
  expect((await ask(app, asha, mailCalls.remove)).status).toBe(204)
  await nothingIsStored(app, asha)
  expect((await ask(app, asha, mailCalls.remove)).status).toBe(204)
})

interface Failure {
  name: string
  options?: SmtpOptions
  script?: Script
  draft?: Partial<SmtpDraft>
  world?: Partial<NetworkDeps>
  /** Only patience ends it. */
  slow?: true
  field: string | null
  says: string
}
const starttls: SmtpOptions = { tls: 'starttls' }
const failures: Failure[] = [
  {
    name: 'a wrong password',
    options: starttls,
    draft: { pass: 'wrong' },
    field: 'pass',
    says: 'smtp.example.com refused the login. It said: “535 5.7.8 Username and Password not accepted” Please check email and password. Many providers, including Gmail, require an app password instead of your normal one.',
  },
  {
    name: 'an app password required',
    options: starttls,
    script: { auth: () => '534-5.7.9 Application-specific\r\n534 5.7.9 password required' },
    field: 'pass',
    says: '“534 5.7.9 Application-specific password required”',
  },
  {
    name: 'a login that cannot be checked now',
    options: starttls,
    script: { auth: () => '454 4.7.0 Later' },
    field: null,
    says: 'can’t check logins right now. It said: “454 4.7.0 Later”',
  },
  {
    name: 'a server without logins',
    options: starttls,
    script: { offers: { auth: false } },
    field: 'port',
    says: 'doesn’t accept logins on port 587',
  },
  {
    name: 'a server with other logins alone',
    options: starttls,
    script: { offers: { mechanisms: 'SCRAM-SHA-256 XOAUTH2' } },
    field: 'host',
    says: 'offers only ways to log in that Duely doesn’t have (SCRAM-SHA-256, XOAUTH2), so no password was sent',
  },
  {
    name: 'SSL on a TLS port',
    options: starttls,
    draft: { secure: true },
    field: 'secure',
    says: "does not use SSL on port 587. Choose 'TLS (Port 587)' as security, or change the port to 465.",
  },
  {
    name: 'SSL on another TLS port',
    options: starttls,
    draft: { secure: true, port: 2525 },
    field: 'secure',
    says: "does not use SSL on port 2525. Choose 'TLS (Port 587)' as security, or change the port to 465.",
  },
  {
    name: 'TLS on an SSL port',
    options: { tls: 'ssl' },
    draft: { secure: false, port: 465 },
    field: 'secure',
    says: "uses SSL on port 465. Choose 'SSL (Port 465)' as security, or change the port to 587.",
  },
  {
    name: 'no STARTTLS',
    options: starttls,
    script: { offers: { starttls: false } },
    field: 'secure',
    says: 'does not offer TLS on port 587, and a password is never sent without it',
  },
  { name: 'no TLS at all', options: { tls: 'none' }, field: 'secure', says: 'does not offer TLS on port 587' },
  {
    name: 'an unknown host',
    world: { resolve: () => Promise.reject(new Error('ENOTFOUND')) },
    field: 'host',
    says: 'Couldn’t find a public mail server called smtp.example.com.',
  },
  {
    name: 'a closed port',
    world: { connect: () => net.connect(1, '127.0.0.1') },
    field: 'port',
    says: 'smtp.example.com refuses connections on port 587.',
  },
  {
    name: 'names that are never resolved',
    slow: true,
    world: { resolve: () => new Promise(() => undefined) },
    field: 'port',
    says: 'did not answer on port 587 in time',
  },
  {
    name: 'a silent greeting',
    slow: true,
    options: starttls,
    script: { greeting: () => silence },
    field: 'port',
    says: 'did not answer on port 587 in time',
  },
  {
    name: 'a greeting that drips',
    slow: true,
    options: starttls,
    script: { greeting: () => drip(20, '220-welcome '.repeat(99)) },
    field: 'port',
    says: 'did not answer on port 587 in time',
  },
  {
    name: 'silence at the login',
    slow: true,
    options: starttls,
    script: { auth: () => silence },
    field: 'port',
    says: 'did not answer on port 587 in time',
  },
  {
    name: 'a reset at the greeting',
    options: starttls,
    script: { greeting: () => reset },
    field: 'port',
    says: 'closed the connection on port 587',
  },
  {
    name: 'a server that is busy',
    options: starttls,
    script: { greeting: () => '421 4.3.2 internal detail 42' },
    field: null,
    says: 'is refusing connections right now (code 421)',
  },
  {
    name: 'a server of another kind',
    options: starttls,
    script: { greeting: () => '-ERR internal detail 42' },
    field: null,
    says: 'is refusing connections',
  },
  {
    name: 'a certificate of another name',
    options: { ...starttls, certificate: makeCertificate(['mail.example.net']) },
    field: 'host',
    says: 'is for another name',
  },
  {
    name: 'a certificate of another name with SSL',
    options: { tls: 'ssl', certificate: makeCertificate(['mail.example.net']) },
    field: 'host',
    says: 'is for another name',
  },
  {
    name: 'a certificate that has expired',
    options: { ...starttls, certificate: makeCertificate(['smtp.example.com'], -1) },
    field: 'host',
    says: 'has expired',
  },
  {
    name: 'an untrusted certificate',
    options: starttls,
    world: { trust: null },
    field: 'host',
    says: 'isn’t signed by a trusted authority',
  },
  {
    name: 'an untrusted certificate with SSL',
    options: { tls: 'ssl' },
    world: { trust: null },
    field: 'host',
    says: 'isn’t signed by a trusted authority',
  },
]
test.each(failures)(
  '$name is reported in words, with the field, and nothing is stored',
  async ({ options, script, draft, world, slow, field, says }) => {
    await using base = await openTestApp()
    await using smtp = await openFakeSmtp(options)
    smtp.answer(script ?? {})
    const app = await inWorld(base, { ...publicly(smtp), ...world }, slow && { patience: { wholeMs: 250, probeMs: 50 } })
    const asha = await aPerson(app)
    const body = draftFor(smtp, { host: 'smtp.example.com', port: 587, ...draft })
    const answered = await ask(app, asha, mailCalls.configureSmtp, { body })
    expect(answered.problem).toMatchObject({ code: 'mail_test_failed', message: expect.stringContaining(says) })
    expect(answered.status).toBe(400)
    expect(answered.problem?.errors).toEqual(field ? [{ path: field, message: answered.problem?.message }] : undefined)
    expect(answered.problem?.message).not.toContain('internal detail')
    await nothingIsStored(app, asha)
    if (field === 'secure' || field === 'host') expect(smtp.commands.filter((line) => line.startsWith('AUTH'))).toEqual([])
  },
)

test('a private host gets the same answer in any spelling, with or without a server on it', async () => {
  await using base = await openTestApp()
  await using smtp = await openFakeSmtp()
  let dialled = 0
  const app = await inWorld(base, {
    ...defaultNetwork,
    allowPrivateHosts: false,
    connect: () => {
      dialled += 1
      return net.connect(smtp.port, smtp.host)
    },
  })
  const asha = await aPerson(app)
  for (const host of [
    '127.0.0.1',
    '127.1',
    '2130706433',
    '0x7f000001',
    '0177.0.0.1',
    '[::1]',
    '::ffff:127.0.0.1',
    'localhost',
    '10.0.0.1',
    '169.254.169.254',
  ])
    for (const port of [25, 465, 587, 2525]) {
      const { status, problem } = await ask(app, asha, mailCalls.configureSmtp, { body: draftFor(smtp, { host, port }) })
      const message = `${host} can’t be used because it isn’t on the public internet. Please enter your provider's SMTP server, such as smtp.gmail.com.`
      expect({ status, problem }).toEqual({
        status: 400,
        problem: { code: 'mail_host_refused', message, errors: [{ path: 'host', message }] },
      })
    }
  expect(dialled).toBe(0)
  await nothingIsStored(app, asha)
})

test('a name is resolved once: a second answer is not followed', async () => {
  await using base = await openTestApp()
  await using smtp = await openFakeSmtp({ tls: 'starttls' })
  const dialled: string[][] = []
  let asked = 0
  const app = await inWorld(base, {
    ...publicly(smtp),
    resolve: async () => [['93.184.215.14'], ['127.0.0.1']][asked++] ?? [],
    connect(addresses) {
      dialled.push(addresses)
      return net.connect(smtp.port, smtp.host)
    },
  })
  const asha = await aPerson(app)
  const body = draftFor(smtp, { host: 'smtp.example.com', port: 587 })
  expect((await ask(app, asha, mailCalls.configureSmtp, { body })).status).toBe(200)
  expect((await ask(app, asha, mailCalls.configureSmtp, { body })).problem?.code).toBe('mail_test_failed')
  expect(dialled).toEqual([['93.184.215.14']])
})

test('a port other than the four for email is refused by its field', async () => {
  await using app = await openTestApp({ config: { allowPrivateSmtpHosts: false } })
  await using smtp = await openFakeSmtp()
  const answered = await ask(app, await aPerson(app), mailCalls.configureSmtp, {
    body: draftFor(smtp, { host: '93.184.215.14', port: 6379 }),
  })
  expect(answered.problem).toMatchObject({ code: 'mail_host_refused', errors: [{ path: 'port' }] })
})

test.each<[string, Partial<Record<keyof SmtpDraft | 'extra', unknown>>, string]>([
  ['host', { host: 'smtp.example.com\r\nX: y' }, 'host'],
  ['host', { host: '   ' }, 'host'],
  ['host', { host: { path: '/etc/passwd' } }, 'host'],
  ['port', { port: 0 }, 'port'],
  ['port', { port: 70_000 }, 'port'],
  ['port', { port: '587' }, 'port'],
  ['secure', { secure: 'yes' }, 'secure'],
  ['user', { user: 'not an email' }, 'user'],
  ['user', { user: 'a@example.com\r\nRCPT TO:<b@example.com>' }, 'user'],
  ['pass', { pass: '' }, 'pass'],
  ['key', { extra: 1 }, 'extra'],
])('settings with a broken %s are refused by its name (%j)', async (_what, broken, path) => {
  await using app = await openTestApp()
  await using smtp = await openFakeSmtp()
  const asha = await aPerson(app)
  const answered = await ask(app, asha, mailCalls.configureSmtp, { body: { ...draftFor(smtp), ...broken } as SmtpDraft })
  expect(answered).toMatchObject({ status: 400, problem: { code: 'invalid', errors: [{ path }] } })
  if (path !== 'extra') expect(answered.problem?.message).toMatch(/^Please /)
  expect(smtp.connections.total).toBe(0)
})

test('a failed try leaves the mailbox that was there', async () => {
  await using app = await openTestApp()
  await using smtp = await openFakeSmtp()
  const asha = await aPerson(app)
  const before = await aMailbox(app, asha, smtp)
  expect((await ask(app, asha, mailCalls.configureSmtp, { body: draftFor(smtp, { pass: 'wrong' }) })).status).toBe(400)
  expect(await findSender(app.db, asha.id)).toEqual(before)
})

test('saving again creates a new sender and ends a pause', async () => {
  await using app = await openTestApp()
  await using smtp = await openFakeSmtp()
  const asha = await aPerson(app)
  const before = await aMailbox(app, asha, smtp)
  await pauseSender(app.db, before, { ...forever, reason: 'login_refused', words: '535 5.7.8 No' }, app.clock.now())
  expect((await ask(app, asha, mailCalls.config)).reply?.pause).toEqual({
    reason: 'login_refused',
    provider: 'smtp',
    message: '535 5.7.8 No',
    advice: null,
    since: '2026-03-02T09:00:00Z',
    until: null,
  })
  const saved = await ask(app, asha, mailCalls.configureSmtp, { body: draftFor(smtp) })
  expect(saved.reply?.pause).toBeNull()
  const after = await findSender(app.db, asha.id)
  expect(after?.senderId).not.toBe(before.senderId)
  expect(after?.sealedPassword).not.toBe(before.sealedPassword)
})

test('only the first to pause a mailbox paused it, and a pause of the mailbox before pauses nothing', async () => {
  await using app = await openTestApp()
  await using smtp = await openFakeSmtp()
  const asha = await aPerson(app)
  const before = await aMailbox(app, asha, smtp)
  const now = app.clock.now()
  expect(await pauseSender(app.db, before, { ...forever, reason: 'quota', words: '550 5.4.5 Enough' }, now)).toBe(true)
  expect(await pauseSender(app.db, before, { ...forever, reason: 'login_refused', words: '535 No' }, now)).toBe(false)
  expect((await findSender(app.db, asha.id))?.pauseReason).toBe('quota')
  await aMailbox(app, asha, smtp)
  expect(await pauseSender(app.db, before, { ...forever, reason: 'quota', words: '550 5.4.5 Enough' }, now)).toBe(false)
  expect((await findSender(app.db, asha.id))?.pauseReason).toBeNull()
})

test('onSenderChange runs in the transaction that saves or removes a mailbox', async () => {
  await using base = await openTestApp()
  await using smtp = await openFakeSmtp()
  const seen: (string | null)[] = []
  const told: Pick<MailHandDowns, 'onSenderChange'> = {
    async onSenderChange(tx, ownerId) {
      seen.push((await findSender(tx, ownerId))?.address ?? null)
    },
  }
  const app = await inWorld(base, { allowPrivateHosts: true }, { handDowns: told })
  const asha = await aPerson(app)
  await ask(app, asha, mailCalls.configureSmtp, { body: draftFor(smtp) })
  await ask(app, asha, mailCalls.remove)
  expect(seen).toEqual(['asha@example.com', null])
})

test('where that fails, nothing is saved', async () => {
  await using base = await openTestApp()
  await using smtp = await openFakeSmtp()
  const failing: Pick<MailHandDowns, 'onSenderChange'> = { onSenderChange: () => Promise.reject(new ProblemError('conflict', 'Not now.')) }
  const app = await inWorld(base, { allowPrivateHosts: true }, { handDowns: failing })
  const asha = await aPerson(app)
  expect((await ask(app, asha, mailCalls.configureSmtp, { body: draftFor(smtp) })).problem?.code).toBe('conflict')
  await nothingIsStored(app, asha)
})

test('an account tries a mailbox ten times an hour, another account is not affected', async () => {
  await using app = await openTestApp({ config: { rateLimit: true } })
  await using smtp = await openFakeSmtp()
  const asha = await aPerson(app)
  const knock = (person: Person) => ask(app, person, mailCalls.configureSmtp, { body: draftFor(smtp, { pass: 'wrong' }) })
  for (let nth = 1; nth <= 10; nth++) expect((await knock(asha)).problem?.code).toBe('mail_test_failed')
  const eleventh = await knock(asha)
  expect(eleventh).toMatchObject({ status: 429, problem: { code: 'too_many' }, headers: { 'retry-after': '3600' } })
  expect(smtp.authTries).toBe(10)
  expect((await knock(await aPerson(app))).problem?.code).toBe('mail_test_failed')
  app.clock.advance({ minutes: 61 })
  expect((await knock(await signedInAgain(app, asha))).problem?.code).toBe('mail_test_failed')
})

test('a password is sealed in the database, bound to its row, and in no answer and no log line', async () => {
  await using base = await openTestApp()
  const login = { user: 'asha@example.com', pass: 'canary-Passw0rd+/=' }
  await using smtp = await openFakeSmtp({ login })
  const app = await inWorld(base, { allowPrivateHosts: true })
  const [asha, ravi] = [await aPerson(app), await aPerson(app)]
  const answers = [
    await ask(app, asha, mailCalls.configureSmtp, { body: draftFor(smtp) }),
    await ask(app, asha, mailCalls.config),
    await ask(app, asha, mailCalls.configureSmtp, { body: { ...draftFor(smtp), port: 0 } }),
  ]
  smtp.answer({ auth: () => `535 5.7.8 You said ${login.pass}` })
  answers.push(await ask(app, asha, mailCalls.configureSmtp, { body: draftFor(smtp) }))
  expect(answers.map(({ status }) => status)).toEqual([200, 200, 400, 400])
  const stored = await findSender(app.db, asha.id)
  const forms = [login.pass, Buffer.from(login.pass).toString('base64'), Buffer.from(`\0${login.user}\0${login.pass}`).toString('base64')]
  for (const form of forms) expect(JSON.stringify([answers, app.logged, stored])).not.toContain(form)

  smtp.answer({})
  await app.db.insert(mailConfigs).values({ ...(await aMailbox(app, asha, smtp)), ownerId: ravi.id, senderId: newId() })
  const swapped = await findSender(app.db, ravi.id)
  const mailer = openSmtpMailer({ secretKey: app.deps.config.secretKey, allowPrivateHosts: true, log: app.deps.log })
  const sent = swapped && (await mailer.send(swapped, async () => ({ raw: Buffer.from('x'), from: login.user, to: 'client@example.org' })))
  expect(sent).toMatchObject({ kind: 'login_refused' })
  expect(smtp.mails).toEqual([])
  await mailer.close()
})

test('a mailbox goes with its account', async () => {
  await using app = await openTestApp()
  await using smtp = await openFakeSmtp()
  const asha = await aPerson(app)
  await aMailbox(app, asha, smtp)
  await app.db.delete(accounts).where(eq(accounts.id, asha.id))
  expect(await hasMailConfig(app.db, asha.id)).toBe(false)
})
