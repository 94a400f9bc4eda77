import net from 'node:net'
import { afterEach, expect, test } from 'vitest'
import { openLog } from '#server/platform/log.ts'
import { makeCertificate } from '#test/fakes/certificate.ts'
import { drip, type FakeSmtp, later, openFakeSmtp, reset, type Script, type SmtpOptions, silence } from '#test/fakes/smtp-server.ts'
import { type Mail, type Mailer, type MailerOptions, type Outcome, openSmtpMailer } from './mailer.ts'
import { type Sender, sealPassword } from './sender.ts'
import type { Deadlines } from './session.ts'
import { ehloOf } from './session.ts'

const secretKey = 'a secret key for tests, 32 characters'
const raw = Buffer.from('Message-ID: <one@example.com>\r\nSubject: Your invoice\r\n\r\n.hello\r\n')
const toClient = { raw, from: 'asha@example.com', to: 'client@example.org' }

const lines: string[] = []
const mailers: Mailer[] = []
afterEach(async () => {
  await Promise.all(mailers.splice(0).map((mailer) => mailer.close()))
})

/** A mailer that is handed mails which are ready. */
interface ReadyMailer {
  send(sender: Sender, mail: Mail): Promise<Outcome>
  opened: Mailer
}

/** A mailer that may go to loopback, as an operator can allow it to. */
function aMailer(options: Partial<MailerOptions> = {}): ReadyMailer {
  lines.length = 0
  const log = openLog({ level: 'trace', terminal: false, destination: { write: (line: string) => void lines.push(line) } })
  const mailer = openSmtpMailer({ secretKey, allowPrivateHosts: true, log, ...options })
  mailers.push(mailer)
  return {
    opened: mailer,
    async send(sender, mail) {
      const outcome = await mailer.send(sender, async () => mail)
      if (!outcome) throw new Error('Nothing was sent.')
      return outcome
    },
  }
}

/** The public internet as far as a test needs it: every name leads to one public address, and who dials it gets this server. */
function publicly(smtp: FakeSmtp): Partial<MailerOptions> {
  return {
    allowPrivateHosts: false,
    resolve: async () => ['93.184.215.14'],
    connect: () => net.connect(smtp.port, smtp.host),
    trust: smtp.certificate,
  }
}

function aSender(
  smtp: { host: string; port: number; login: { user: string; pass: string }; tls?: string },
  about: Partial<Sender> = {},
): Sender {
  return {
    ownerId: 'a67bbcc2-0000-7000-8000-000000000001',
    senderId: 'a67bbcc2-0000-7000-8000-000000000002',
    place: 'a67bbcc2-0000-7000-8000-000000000001',
    isDefault: true,
    provider: 'smtp',
    address: smtp.login.user,
    username: null,
    host: smtp.host,
    port: smtp.port,
    secure: smtp.tls === 'ssl',
    sealedPassword: sealPassword(secretKey, 'a67bbcc2-0000-7000-8000-000000000001', smtp.login.pass),
    createdAt: Temporal.Instant.from('2026-03-02T09:00Z'),
    madeBy: null,
    offeredTo: null,
    pauseReason: null,
    pauseMessage: null,
    pausedAt: null,
    pausedUntil: null,
    renewingUntil: null,
    perHour: null,
    perDay: null,
    learnedPerDay: null,
    learnedPerDayAt: null,
    learnedPerMinute: null,
    learnedPerMinuteAt: null,
    sealedRefreshToken: null,
    ...about,
  }
}

/** A sender at a public name, whose port is one that may be used. */
function aPublicSender(smtp: FakeSmtp, about: Partial<Sender> = {}): Sender {
  return aSender(smtp, { host: 'smtp.example.com', port: smtp.tls === 'ssl' ? 465 : 587, ...about })
}

test('an email arrives byte for byte', async () => {
  await using smtp = await openFakeSmtp()
  expect(await aMailer().send(aSender(smtp), toClient)).toEqual({ kind: 'accepted', reply: '250 2.0.0 Accepted' })
  expect(smtp.mails[0]).toMatchObject({ raw, envelope: { from: 'asha@example.com', to: ['client@example.org'] } })
})

interface Fault {
  name: string
  script: Script
  outcome: Partial<Outcome>
  kept?: number
  /** The server says nothing or never comes to an end: only this deadline does. */
  slow?: keyof Deadlines
}
const faults: Fault[] = [
  {
    name: '550 at RCPT',
    script: { rcpt: () => '550 5.1.1 No such user' },
    outcome: { kind: 'permanent', reply: '550 5.1.1 No such user' },
  },
  {
    name: '450 at RCPT',
    script: { rcpt: () => '450 4.7.1 Greylisted' },
    outcome: { kind: 'temporary', reply: '450 4.7.1 Greylisted', unknown: false, ofMailbox: false },
  },
  {
    name: '450 at MAIL',
    script: { mail: () => '450 4.7.1 Too many messages' },
    outcome: { kind: 'temporary', reply: '450 4.7.1 Too many messages', unknown: false, ofMailbox: true },
  },
  {
    name: '550 at MAIL',
    script: { mail: () => '550 5.1.0 Sender rejected' },
    outcome: { kind: 'sender_refused', reply: '550 5.1.0 Sender rejected' },
  },
  {
    name: '550 at MAIL, for a reason of its own',
    script: { mail: () => '550 5.7.1 Not allowed' },
    outcome: { kind: 'sender_refused', reply: '550 5.7.1 Not allowed' },
  },
  { name: '452 full', script: { rcpt: () => '452 4.2.2 Mailbox full' }, outcome: { kind: 'temporary', unknown: false } },
  {
    name: '421 at the greeting',
    script: { greeting: () => '421 4.3.2 Busy' },
    outcome: { kind: 'temporary', reply: '421 4.3.2 Busy', unknown: false },
  },
  { name: '554 at the greeting', script: { greeting: () => '554 Go away' }, outcome: { kind: 'temporary', unknown: false } },
  { name: '421 at MAIL', script: { mail: () => '421 4.7.0 Closing' }, outcome: { kind: 'temporary', unknown: false } },
  { name: '421 at RCPT', script: { rcpt: () => '421 4.7.0 Closing' }, outcome: { kind: 'temporary', unknown: false } },
  { name: '421 after the dot', script: { dot: () => '421 4.3.0 Closing' }, outcome: { kind: 'temporary', unknown: false } },
  {
    name: '535 at AUTH',
    script: { auth: () => '535-5.7.8 Username and\r\n535 5.7.8 Password not accepted' },
    outcome: { kind: 'login_refused', reply: '535 5.7.8 Username and Password not accepted' },
  },
  { name: '534 at AUTH', script: { auth: () => '534 5.7.9 App password required' }, outcome: { kind: 'login_refused' } },
  {
    name: '454 at AUTH',
    script: { auth: () => '454 4.7.0 Too many logins' },
    outcome: { kind: 'temporary', reply: '454 4.7.0 Too many logins', unknown: false },
  },
  { name: '421 at AUTH', script: { auth: () => '421 4.7.0 Later' }, outcome: { kind: 'temporary' } },
  { name: '530 at MAIL', script: { mail: () => '530 5.7.0 Authentication required' }, outcome: { kind: 'login_refused' } },
  {
    name: 'the daily quota',
    script: { data: () => '550 5.4.5 Daily user sending limit exceeded' },
    outcome: { kind: 'quota', reply: '550 5.4.5 Daily user sending limit exceeded' },
  },
  {
    name: 'the daily quota after the dot',
    script: { dot: () => '550-5.4.5 Daily user\r\n550 5.4.5 sending limit' },
    outcome: { kind: 'quota' },
  },
  {
    name: 'words about a quota without its code',
    script: { rcpt: () => '550 5.2.2 Quota exceeded, daily limit' },
    outcome: { kind: 'permanent' },
  },
  { name: '552 after the dot', script: { dot: () => '552 5.2.2 Full' }, outcome: { kind: 'permanent', reply: '552 5.2.2 Full' } },
  { name: '554 after the dot', script: { dot: () => '554 5.7.1 Spam' }, outcome: { kind: 'permanent' } },
  { name: 'a silent greeting', slow: 'greeting', script: { greeting: () => silence }, outcome: { kind: 'temporary', unknown: false } },
  {
    name: 'a greeting that drips',
    slow: 'greeting',
    script: { greeting: () => drip(20, '220-welcome '.repeat(99)) },
    outcome: { kind: 'temporary', unknown: false },
  },
  { name: 'a MAIL that drips', slow: 'command', script: { mail: () => drip(20) }, outcome: { kind: 'temporary', unknown: false } },
  { name: 'a reset before MAIL', script: { mail: () => reset }, outcome: { kind: 'temporary', unknown: false } },
  { name: 'a reset at the greeting', script: { greeting: () => reset }, outcome: { kind: 'temporary', unknown: false } },
  { name: 'silence at DATA', slow: 'command', script: { data: () => silence }, outcome: { kind: 'temporary', unknown: false } },
  { name: 'a reset after the dot', script: { dot: () => reset }, outcome: { kind: 'temporary', unknown: true }, kept: 1 },
  { name: 'silence after the dot', slow: 'dot', script: { dot: () => silence }, outcome: { kind: 'temporary', unknown: true }, kept: 1 },
  { name: 'a drip after the dot', slow: 'dot', script: { dot: () => drip(20) }, outcome: { kind: 'temporary', unknown: true }, kept: 1 },
  { name: 'a 250 that comes late', script: { dot: () => later(100) }, outcome: { kind: 'accepted' }, kept: 1 },
]
/** Large providers take the envelope at once (RFC 2920), small ones command by command. */
for (const pipelining of [false, true])
  test.each(faults)(`outcome of $name (${pipelining ? 'pipelined' : 'one by one'})`, async ({ script, outcome, kept, slow }) => {
    await using smtp = await openFakeSmtp()
    smtp.answer({ ...script, offers: { pipelining } })
    const mailer = aMailer(slow ? { deadlines: { [slow]: 200 } } : {})
    expect(await mailer.send(aSender(smtp), toClient)).toMatchObject(outcome)
    expect(smtp.mails).toHaveLength(kept ?? 0)
    expect(smtp.connections.total).toBe(1)

    if (slow) return
    smtp.answer({ offers: { pipelining } })
    expect(await mailer.send(aSender(smtp), toClient)).toMatchObject({ kind: 'accepted' })
    expect(smtp.mails).toHaveLength((kept ?? 0) + 1)
  })

test('a closed port is a temporary failure', async () => {
  const smtp = await openFakeSmtp()
  await smtp[Symbol.asyncDispose]()
  expect(await aMailer().send(aSender(smtp), toClient)).toMatchObject({
    kind: 'temporary',
    unknown: false,
    reply: expect.stringContaining('refuses connections'),
  })
})

test('a name that is not found, and one whose server of names never answers, are temporary failures', async () => {
  await using smtp = await openFakeSmtp()
  const lost = aMailer({ resolve: () => Promise.reject(new Error('ENOTFOUND')) })
  expect(await lost.send(aSender(smtp, { host: 'smtp.example.com' }), toClient)).toMatchObject({ kind: 'temporary', unknown: false })
  const mute = aMailer({ resolve: () => new Promise(() => undefined), deadlines: { connect: 100 } })
  expect(await mute.send(aSender(smtp, { host: 'smtp.example.com' }), toClient)).toMatchObject({ kind: 'temporary', unknown: false })
})

test('a greylisted email is accepted on a later attempt', async () => {
  await using smtp = await openFakeSmtp()
  smtp.answer({ rcpt: (_to, offered) => (offered <= 2 ? '450 4.7.1 Greylisted' : undefined) })
  const mailer = aMailer()
  const kinds: string[] = []
  for (const _try of [1, 2, 3]) kinds.push((await mailer.send(aSender(smtp), toClient)).kind)
  expect(kinds).toEqual(['temporary', 'temporary', 'accepted'])
  expect(smtp.authTries).toBeLessThanOrEqual(2)
})

test('one mailbox uses at most two connections, another mailbox has its own', async () => {
  await using smtp = await openFakeSmtp({ delayMs: 2 })
  const mailer = aMailer()
  const other = aSender(smtp, { senderId: 'a67bbcc2-0000-7000-8000-000000000009' })
  const outcomes = await Promise.all(Array.from({ length: 40 }, (_, nth) => mailer.send(nth % 2 ? aSender(smtp) : other, toClient)))
  expect(outcomes.filter(({ kind }) => kind === 'accepted')).toHaveLength(40)
  expect(smtp.connections).toMatchObject({ most: 4, total: 4 })
  expect(smtp.authTries).toBe(4)
})

test('a connection is replaced after 100 emails', async () => {
  await using smtp = await openFakeSmtp()
  const mailer = aMailer()
  for (let nth = 0; nth < 101; nth++) await mailer.send(aSender(smtp), toClient)
  expect(smtp.mails).toHaveLength(101)
  expect(smtp.connections.total).toBe(2)
  expect(smtp.commands.filter((line) => line === 'QUIT')).toHaveLength(1)
})

test('a connection that the server ended meanwhile is replaced without a failed try', async () => {
  await using smtp = await openFakeSmtp()
  const mailer = aMailer()
  await mailer.send(aSender(smtp), toClient)
  smtp.hangUp()
  expect((await mailer.send(aSender(smtp), toClient)).kind).toBe('accepted')
  smtp.answer({ mail: (_from, nth) => (nth === 1 ? '421 4.4.2 You were idle too long' : undefined) })
  expect((await mailer.send(aSender(smtp), toClient)).kind).toBe('accepted')
  smtp.answer({ mail: (_from, nth) => (nth === 1 ? reset : undefined) })
  expect((await mailer.send(aSender(smtp), toClient)).kind).toBe('accepted')
  expect(smtp.mails).toHaveLength(4)
})

test('a connection lost after the data is never retried', async () => {
  await using smtp = await openFakeSmtp()
  const mailer = aMailer()
  await mailer.send(aSender(smtp), toClient)
  smtp.answer({ dot: () => reset })
  expect(await mailer.send(aSender(smtp), toClient)).toMatchObject({ kind: 'temporary', unknown: true })
  expect(smtp.mails).toHaveLength(2)
})

test('an idle connection is closed with QUIT', async () => {
  await using smtp = await openFakeSmtp()
  const mailer = aMailer({ idleMs: 20 })
  await mailer.send(aSender(smtp), toClient)
  await smtp.quiet()
  expect(smtp.commands.at(-1)).toBe('QUIT')
  expect((await mailer.send(aSender(smtp), toClient)).kind).toBe('accepted')
  expect(smtp.connections.total).toBe(2)
})

test('closing finishes the current email, takes no new one and leaves no connection', async () => {
  await using smtp = await openFakeSmtp({ delayMs: 60 })
  const mailer = aMailer()
  const inFlight = mailer.send(aSender(smtp), toClient)
  const closed = mailer.opened.close()
  expect(await mailer.opened.send(aSender(smtp), async () => toClient)).toBeNull()
  await closed
  expect((await inFlight).kind).toBe('accepted')
  expect(smtp.commands.at(-1)).toBe('QUIT')
})

test.each(['starttls', 'ssl'] as const)('a public server is spoken to over checked TLS (%s)', async (tls) => {
  await using smtp = await openFakeSmtp({ tls })
  expect((await aMailer(publicly(smtp)).send(aPublicSender(smtp), toClient)).kind).toBe('accepted')
})

test.each(['starttls', 'ssl'] as const)('a public address without a name needs a certificate for the address (%s)', async (tls) => {
  for (const [name, kind] of [
    ['93.184.215.14', 'accepted'],
    ['93.184.215.15', 'temporary'],
  ] as const) {
    await using smtp = await openFakeSmtp({ tls, certificate: makeCertificate([name]) })
    expect((await aMailer(publicly(smtp)).send(aPublicSender(smtp, { host: '93.184.215.14' }), toClient)).kind).toBe(kind)
  }
})

test('without STARTTLS no login is sent to a public server', async () => {
  await using smtp = await openFakeSmtp({ tls: 'starttls' })
  smtp.answer({ offers: { starttls: false } })
  expect(await aMailer(publicly(smtp)).send(aPublicSender(smtp), toClient)).toMatchObject({ kind: 'temporary', unknown: false })
  expect(smtp.authTries).toBe(0)
  expect(smtp.commands.map((line) => line.split(' ')[0])).toEqual(['EHLO', 'STARTTLS'])
})

test.each<[string, SmtpOptions['certificate'], boolean]>([
  ['of another name', makeCertificate(['mail.example.net']), true],
  ['that has expired', makeCertificate(['smtp.example.com'], -1), true],
  ['from an unknown authority', makeCertificate(['smtp.example.com']), false],
])('a certificate %s gets neither login nor mail', async (_what, certificate, trusted) => {
  for (const tls of ['starttls', 'ssl'] as const) {
    await using smtp = await openFakeSmtp({ tls, ...(certificate ? { certificate } : {}) })
    const { trust, ...world } = publicly(smtp)
    const mailer = aMailer(trusted && trust ? { ...world, trust } : world)
    expect(await mailer.send(aPublicSender(smtp), toClient)).toMatchObject({
      kind: 'temporary',
      reply: expect.stringContaining('certificate'),
    })
    expect(smtp.authTries).toBe(0)
  }
})

test('a private host is checked as a public one where the operator wants that', async () => {
  const strict = { allowPrivateHosts: 'strict' as const }
  await using plain = await openFakeSmtp()
  expect(await aMailer(strict).send(aSender(plain), toClient)).toMatchObject({ kind: 'temporary' })
  await using smtp = await openFakeSmtp({ tls: 'starttls' })
  expect(await aMailer(strict).send(aSender(smtp), toClient)).toMatchObject({
    kind: 'temporary',
    reply: expect.stringContaining('certificate'),
  })
  expect(plain.authTries + smtp.authTries).toBe(0)
  expect(await aMailer({ ...strict, trust: smtp.certificate }).send(aSender(smtp), toClient)).toMatchObject({ kind: 'accepted' })
})

test('a host that moves to a private address between two connections is not followed', async () => {
  await using smtp = await openFakeSmtp({ tls: 'starttls' })
  const dialled: string[][] = []
  const answers = [['93.184.215.14'], ['127.0.0.1']]
  const mailer = aMailer({
    ...publicly(smtp),
    resolve: async () => answers.shift() ?? [],
    connect(addresses) {
      dialled.push(addresses)
      return net.connect(smtp.port, smtp.host)
    },
  })
  expect((await mailer.send(aPublicSender(smtp), toClient)).kind).toBe('accepted')
  smtp.hangUp()
  const another = aPublicSender(smtp, { senderId: 'a67bbcc2-0000-7000-8000-000000000009' })
  expect(await mailer.send(another, toClient)).toMatchObject({ kind: 'temporary', unknown: false })
  expect(dialled).toEqual([['93.184.215.14']])
})

test('a private host that the operator allows may do without TLS, without a certificate and without a login', async () => {
  await using tls = await openFakeSmtp({ tls: 'starttls', certificate: makeCertificate(['somebody.else']) })
  expect((await aMailer().send(aSender(tls), toClient)).kind).toBe('accepted')
  expect(tls.commands).toContain('STARTTLS')
  await using ssl = await openFakeSmtp({ tls: 'ssl', certificate: makeCertificate(['somebody.else']) })
  expect((await aMailer().send(aSender(ssl), toClient)).kind).toBe('accepted')
  await using open = await openFakeSmtp()
  open.answer({ offers: { auth: false } })
  expect((await aMailer().send(aSender(open), toClient)).kind).toBe('accepted')
  expect(open.authTries).toBe(0)
})

test('a server that offers other logins alone gets no password, and is named', async () => {
  await using smtp = await openFakeSmtp()
  smtp.answer({ offers: { mechanisms: 'SCRAM-SHA-256 XOAUTH2' } })
  expect(await aMailer().send(aSender(smtp), toClient)).toMatchObject({
    kind: 'login_refused',
    reply: expect.stringContaining('SCRAM-SHA-256'),
  })
  expect(smtp.authTries).toBe(0)
})

test.each([
  ['https://duely.example/app', 'duely.example'],
  ['http://192.0.2.7:3000', '[192.0.2.7]'],
  ['http://[2001:db8::7]', '[IPv6:2001:db8::7]'],
])('a server at %s greets mail servers as %s', async (publicUrl, name) => {
  await using smtp = await openFakeSmtp()
  expect((await aMailer({ ehlo: ehloOf(publicUrl) }).send(aSender(smtp), toClient)).kind).toBe('accepted')
  expect(smtp.commands[0]).toBe(`EHLO ${name}`)
})

test('an address beyond ASCII goes only to a server that knows such addresses', async () => {
  await using smtp = await openFakeSmtp()
  const mailer = aMailer()
  const beyond = { ...toClient, to: 'जयंत@example.org' }
  expect((await mailer.send(aSender(smtp), beyond)).kind).toBe('accepted')
  expect(smtp.commands).toContainEqual(expect.stringMatching(/^MAIL FROM:<asha@example.com> .*SMTPUTF8/))
  smtp.commands.length = 0
  smtp.answer({ offers: { smtputf8: false } })
  const fresh = aMailer()
  expect(await fresh.send(aSender(smtp), beyond)).toMatchObject({ kind: 'permanent', reply: expect.stringContaining('SMTPUTF8') })
  expect((await fresh.send(aSender(smtp), { ...toClient, to: 'client@bücher.example' })).kind).toBe('accepted')
  expect(smtp.commands).toContain('RCPT TO:<client@xn--bcher-kva.example>')
  expect(smtp.commands.join('')).toMatch(/^[\x20-\x7e]*$/)
})

test.each([
  'b@example.org\r\nRCPT TO:<evil@example.net>',
  'a@example.org, evil@example.net',
  'a@example.org>,<evil@example.net',
  'Asha <a@example.org>',
  '"a b"@example.org',
  'a@example.org\0',
  '@example.org',
  'nobody',
  '',
])('%j is not written to', async (to) => {
  await using smtp = await openFakeSmtp()
  expect((await aMailer().send(aSender(smtp), { ...toClient, to })).kind).toBe('permanent')
  expect((await aMailer().send(aSender(smtp), { ...toClient, from: to })).kind).toBe('permanent')
  expect(smtp.commands.filter((line) => /^(MAIL|RCPT)/.test(line))).toEqual([])
})

test('a password sealed for another account does not open, and for one sealed with another key it waits', async () => {
  await using smtp = await openFakeSmtp()
  const stolen = aSender(smtp, { ownerId: 'a67bbcc2-0000-7000-8000-00000000000f' })
  expect((await aMailer().send(stolen, toClient)).kind).toBe('login_refused')
  const rotated = await aMailer({ secretKey: 'quite another secret key, 32 characters' }).send(aSender(smtp), toClient)
  expect(rotated).toMatchObject({ kind: 'temporary', retryAfter: 300, unknown: false })
  expect(smtp.connections.total).toBe(0)
})

test('a password is neither logged nor repeated, even where the server repeats it', async () => {
  const login = { user: 'asha@example.com', pass: 'very-secret-canary' }
  await using smtp = await openFakeSmtp({ login })
  const plain = Buffer.from(`\0${login.user}\0${login.pass}`).toString('base64')
  smtp.answer({ auth: () => `535 5.7.8 Not accepted: AUTH PLAIN ${plain} (${login.pass})` })
  const outcome = await aMailer().send(aSender(smtp), toClient)
  expect(outcome).toEqual({ kind: 'login_refused', reply: '535 5.7.8 Not accepted: AUTH PLAIN ••• (•••)' })
  expect(lines).not.toEqual([])
  expect(lines.join()).not.toMatch(new RegExp(`${login.pass}|${plain.replaceAll('+', '\\+')}`))
})

test('a thousand emails of one mailbox reuse their connections', async () => {
  await using smtp = await openFakeSmtp()
  const mailer = aMailer()
  await Promise.all(Array.from({ length: 1000 }, () => mailer.send(aSender(smtp), toClient)))
  expect(smtp.mails).toHaveLength(1000)
  expect(smtp.connections.total).toBeLessThan(100)
})

test('an email is taken only once a connection is ready, and nothing is sent without one', async () => {
  await using smtp = await openFakeSmtp()
  const { opened } = aMailer()
  let ready = -1
  const sent = await opened.send(aSender(smtp), async () => {
    ready = smtp.connections.open
    return null
  })
  expect(sent).toBeNull()
  expect(ready).toBe(1)
  expect(smtp.commands).not.toContain('DATA')
  smtp.answer({ auth: () => '535 5.7.8 No' })
  let asked = false
  const refused = await aMailer().opened.send(aSender(smtp), async () => {
    asked = true
    return toClient
  })
  expect(refused?.kind).toBe('login_refused')
  expect(asked).toBe(false)
})

test('an error while taking the email is thrown and leaves the connection usable', async () => {
  await using smtp = await openFakeSmtp()
  const mailer = aMailer()
  await expect(mailer.opened.send(aSender(smtp), () => Promise.reject(new Error('no database')))).rejects.toThrow('no database')
  expect((await mailer.send(aSender(smtp), toClient)).kind).toBe('accepted')
  expect(smtp.connections.total).toBe(1)
})
