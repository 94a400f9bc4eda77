import { expect, test } from 'vitest'
import { clientCalls } from '#contract/clients.ts'
import { invoiceCalls } from '#contract/invoices.ts'
import { mailCalls } from '#contract/mail.ts'
import { noticeCalls } from '#contract/notices.ts'
import { reminderCalls } from '#contract/reminders.ts'
import { anInvoice, anOffice, aPerson, type Person } from '#test/factories.ts'
import { openFakeGoogle } from '#test/fakes/google.ts'
import { type FakeSmtp, openFakeSmtp } from '#test/fakes/smtp-server.ts'
import { ask, openTestApp, type TestApp } from '#test/harness.ts'
import { buyOnce, openShop } from '#test/shop.ts'
import { findSender, findSenders } from './mail.ts'

const now = '2026-03-02T06:30:00Z'
const settings = (smtp: FakeSmtp) => ({ provider: 'smtp' as const, host: smtp.host, port: smtp.port, secure: false, ...smtp.login })
const add = (app: TestApp, person: Person, smtp: FakeSmtp, user = smtp.login.user) =>
  ask(app, person, mailCalls.addMailbox, { body: { ...settings(smtp), user, username: smtp.login.user } })
const list = async (app: TestApp, person: Person) => (await ask(app, person, mailCalls.mailboxes)).reply
const recipients = (smtp: FakeSmtp) => smtp.mails.map(({ envelope }) => envelope.to[0]).toSorted()

/** Asha with a default mailbox, another one for the client `export@example.com`, and an overdue invoice of each of three clients. */
async function twoMailboxes() {
  const office = await anOffice({ now })
  const { app, asha } = office
  const exports = await openFakeSmtp({ login: { user: 'exports@banyan.example', pass: 'second password' } })
  const added = await add(app, asha, exports)
  for (const name of ['export', 'home1', 'home2']) await anInvoice(app, { owner: asha, clientEmail: `${name}@example.com` })
  const clients = (await ask(app, asha, clientCalls.list)).reply
  const client = clients.find(({ email }) => email === 'export@example.com')
  const choose = (mailbox: string | null) => ask(app, asha, clientCalls.update, { params: { id: client?._id ?? '' }, body: { mailbox } })
  expect((await choose(added.reply._id)).reply.mailbox).toBe(added.reply._id)
  return Object.assign(office, {
    exports,
    second: added.reply,
    choose,
    async [Symbol.asyncDispose]() {
      await exports[Symbol.asyncDispose]()
      await office.app[Symbol.asyncDispose]()
      await office.smtp[Symbol.asyncDispose]()
    },
  })
}

test('a further mailbox sends to the clients that have it, and the default one to the others', async () => {
  await using office = await twoMailboxes()
  const { app, asha, smtp, exports, second } = office
  const { mailboxes, most } = await list(app, asha)
  expect(most).toBe(10)
  expect(mailboxes).toMatchObject([
    { user: smtp.login.user, isDefault: true, provider: 'smtp' },
    { _id: second._id, user: 'exports@banyan.example', isDefault: false, pause: null },
  ])
  expect((await ask(app, asha, mailCalls.config)).reply).toMatchObject({ configured: true, user: smtp.login.user })
  expect((await app.whileJobsRun(ask(app, asha, reminderCalls.start))).reply).toMatchObject({ count: 3, failed: 0 })
  expect([recipients(smtp), recipients(exports)]).toEqual([['home1@example.com', 'home2@example.com'], ['export@example.com']])
  expect(exports.mails[0]?.envelope.from).toBe('exports@banyan.example')
})

test('a paused mailbox holds its own emails only, and resumes when it is connected again', async () => {
  await using office = await twoMailboxes()
  const { app, asha, smtp, exports, second } = office
  exports.answer({ auth: () => '535 5.7.8 Username and Password not accepted' })
  expect((await app.whileJobsRun(ask(app, asha, reminderCalls.start))).reply).toMatchObject({ count: 2, failed: 0 })
  await app.runJobs()
  expect(recipients(smtp)).toEqual(['home1@example.com', 'home2@example.com'])
  const { mailboxes } = await list(app, asha)
  expect(mailboxes.map(({ pause }) => pause?.reason ?? null)).toEqual([null, 'login_refused'])
  expect((await ask(app, asha, noticeCalls.list)).reply).toMatchObject([
    { kind: 'login_refused', title: 'Your mailbox rejected the login: exports@banyan.example' },
  ])
  await anInvoice(app, { owner: asha, clientEmail: 'home3@example.com' })
  await app.whileJobsRun(ask(app, asha, reminderCalls.sendNow))
  expect(recipients(smtp)).toContain('home3@example.com')
  exports.answer({})
  const again = await ask(app, asha, mailCalls.changeMailbox, { params: { id: second._id }, body: { connect: settings(exports) } })
  expect(again.reply).toMatchObject({ _id: second._id, isDefault: false, pause: null })
  await app.runJobs()
  expect(recipients(exports)).toEqual(['export@example.com'])
})

test('each mailbox has its own limit of emails a day', async () => {
  await using office = await twoMailboxes()
  const { app, asha, smtp, exports } = office
  app.deps.limitsOf = ({ address }) => ({
    provider: 'Post',
    perHour: null,
    perDay: address === smtp.login.user ? 1 : null,
    perMinute: null,
  })
  await app.whileJobsRun(ask(app, asha, reminderCalls.start))
  expect([recipients(smtp).length, recipients(exports).length]).toEqual([1, 1])
  const { mailboxes } = await list(app, asha)
  expect(mailboxes.map(({ pause }) => pause?.reason ?? null)).toEqual(['quota', null])
})

test('another default takes the clients without a mailbox, and a removed one leaves its clients to the default', async () => {
  await using office = await twoMailboxes()
  const { app, asha, smtp, exports, second, choose } = office
  const [first] = (await list(app, asha)).mailboxes
  expect((await ask(app, asha, mailCalls.changeMailbox, { params: { id: second._id }, body: { isDefault: true } })).reply.isDefault).toBe(
    true,
  )
  expect((await ask(app, asha, mailCalls.config)).reply.user).toBe('exports@banyan.example')
  await app.whileJobsRun(ask(app, asha, reminderCalls.start))
  expect([smtp.mails.length, exports.mails.length]).toEqual([0, 3])
  await choose(first?._id ?? '')
  expect((await ask(app, asha, mailCalls.removeMailbox, { params: { id: second._id } })).status).toBe(204)
  expect((await list(app, asha)).mailboxes).toMatchObject([{ _id: first?._id, isDefault: true }])
  expect((await ask(app, asha, mailCalls.remove)).status).toBe(204)
  expect((await list(app, asha)).mailboxes).toEqual([])
  const chosen = (await ask(app, asha, clientCalls.list)).reply.map(({ mailbox }) => mailbox)
  expect(chosen).toEqual([null, null, null])
})

test.each(['from the further mailbox to the default one', 'from the default mailbox to the further one'])(
  'an email that waits goes %s with the address of its invoice',
  async (way) => {
    await using office = await twoMailboxes()
    const { app, asha, smtp, exports } = office
    const [before, after] = way.startsWith('from the further') ? ['export', 'home2'] : ['home1', 'export']
    const listed = (await ask(app, asha, invoiceCalls.list, { query: {} })).reply
    const invoice = listed.find(({ clientEmail }) => clientEmail === `${before}@example.com`)
    for (const server of [smtp, exports]) server.answer({ rcpt: () => '451 4.3.0 Later' })
    await app.whileJobsRun(ask(app, asha, reminderCalls.start))
    for (const server of [smtp, exports]) server.answer({})
    const changed = await ask(app, asha, invoiceCalls.update, {
      params: { id: invoice?._id ?? '' },
      body: { clientEmail: `${after}@example.com` },
    })
    expect(changed.status).toBe(200)
    app.clock.advance({ minutes: 30 })
    await app.runJobs()
    await app.runJobs()
    const expected = before === 'export' ? [['home1', 'home2', 'home2'], []] : [['home2'], ['export', 'export']]
    expect([recipients(smtp), recipients(exports)]).toEqual(expected.map((names) => names.map((name) => `${name}@example.com`)))
    const { mails } = (await ask(app, asha, reminderCalls.history, { params: { id: invoice?._id ?? '' } })).reply
    expect(mails).toMatchObject([{ state: 'sent', clientEmail: `${after}@example.com`, attempt: 2 }])
  },
)

test('mailboxes of another account can be neither chosen, changed nor removed', async () => {
  await using office = await twoMailboxes()
  const { app, asha, exports, second, choose } = office
  const stranger = await aPerson(app)
  const params = { id: second._id }
  expect((await ask(app, stranger, mailCalls.changeMailbox, { params, body: { isDefault: true } })).problem?.code).toBe('not_found')
  expect((await ask(app, stranger, mailCalls.changeMailbox, { params, body: { connect: settings(exports) } })).problem?.code).toBe(
    'not_found',
  )
  expect((await ask(app, stranger, mailCalls.removeMailbox, { params })).problem?.code).toBe('not_found')
  const theirs = await add(app, stranger, exports)
  expect((await choose(theirs.reply._id)).problem?.code).toBe('not_found')
  expect((await list(app, asha)).mailboxes).toHaveLength(2)
})

test('an account has at most ten mailboxes, and where plans are sold without Enterprise one', async () => {
  await using smtp = await openFakeSmtp()
  await using app = await openTestApp({ now })
  const asha = await aPerson(app)
  for (let nth = 1; nth <= 10; nth += 1) expect((await add(app, asha, smtp, `box${nth}@banyan.example`)).status).toBe(201)
  expect((await add(app, asha, smtp, 'box11@banyan.example')).problem?.code).toBe('conflict')
  // An address that is there is that mailbox again.
  expect((await add(app, asha, smtp, 'BOX3@banyan.example')).status).toBe(201)
  const senders = await findSenders(app.db, asha.id)
  expect(senders.filter(({ isDefault }) => isDefault)).toHaveLength(1)
  expect(new Set(senders.map(({ sealedPassword }) => sealedPassword)).size).toBe(10)
})

test('Gmail as a further mailbox: its grant is revoked with it', async () => {
  await using google = await openFakeGoogle()
  await using smtp = await openFakeSmtp()
  await using app = await openTestApp({ now, config: { google: { ...google.client, issuer: google.url, gmailApiUrl: google.url } } })
  const asha = await aPerson(app)
  await add(app, asha, smtp)
  const started = await ask(app, asha, mailCalls.startMailbox, { body: { provider: 'gmail' } })
  const cookie = String(started.headers['set-cookie']).split(';')[0] ?? ''
  expect(String(started.headers['set-cookie'])).toContain('Path=/mailboxes')
  const page = await google.visit(started.reply.url)
  expect(page.searchParams.get('state')).toMatch(/^further\./)
  const body = { provider: 'gmail' as const, code: page.searchParams.get('code') ?? '' }
  const added = await ask(app, asha, mailCalls.addMailbox, { body }, { cookie })
  expect(added.reply).toMatchObject({ provider: 'gmail', user: 'asha@gmail.com', isDefault: false })
  expect((await findSender(app.db, asha.id))?.provider).toBe('smtp')
  expect((await ask(app, asha, mailCalls.removeMailbox, { params: { id: added.reply._id } })).status).toBe(204)
  expect(google.revoked).toHaveLength(1)
})

test('a plan has one mailbox, and Enterprise ten', async () => {
  await using shop = await openShop({ now })
  await using smtp = await openFakeSmtp()
  const { app } = shop
  const asha = await aPerson(app)
  expect((await add(app, asha, smtp)).status).toBe(201)
  expect((await list(app, asha)).most).toBe(1)
  const more = () => add(app, asha, smtp, 'exports@banyan.example')
  expect((await more()).problem?.code).toBe('plan_limit')
  await buyOnce(shop, asha, 'enterprise')
  expect((await list(app, asha)).most).toBe(10)
  expect((await more()).status).toBe(201)
})
