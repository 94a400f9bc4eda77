// Also on PostgreSQL: what failed is taken back by conditional updates.
import { max } from 'drizzle-orm'
import { expect, test } from 'vitest'
import { clientCalls } from '#contract/clients.ts'
import { invoiceCalls } from '#contract/invoices.ts'
import { mailCalls } from '#contract/mail.ts'
import { noticeCalls } from '#contract/notices.ts'
import { reminderCalls } from '#contract/reminders.ts'
import { anInvoice, anOffice, type Person, signedInAgain } from '#test/factories.ts'
import type { FakeSmtp } from '#test/fakes/smtp-server.ts'
import { ask, type TestApp } from '#test/harness.ts'
import { deliveries } from './tables.ts'

const morning = '2026-03-02T06:30:00Z'
const postfix = (to: string) => `553 5.7.1 <asha@example.com>: Sender address rejected: not owned by user asha@example.com for <${to}>`

/** An account with overdue invoices of clients at domains of their own. */
async function withClients(count: number) {
  const office = await anOffice({ now: morning })
  for (let nth = 1; nth <= count; nth += 1)
    await anInvoice(office.app, { owner: office.asha, clientEmail: `billing@client${nth}.example`, dueDate: '2026-02-20' })
  return office
}

const start = (app: TestApp, person: Person) => app.whileJobsRun(ask(app, person, reminderCalls.start))
const newestRun = async (app: TestApp, person: Person) => (await ask(app, person, reminderCalls.runs, { query: {} })).reply[0]
const pauseOf = async (app: TestApp, person: Person) => (await ask(app, person, reminderCalls.status)).reply.pause
const kindsOf = async (app: TestApp, person: Person) => (await ask(app, person, noticeCalls.list)).reply.map(({ kind }) => kind)
const toClients = ({ mails }: FakeSmtp) => mails.filter(({ envelope }) => envelope.to[0] !== 'asha@example.com')

/** No client has a problem that its screens show. */
async function expectNoClientHarmed(app: TestApp, person: Person): Promise<void> {
  const invoices = (await ask(app, person, invoiceCalls.list, { query: {} })).reply
  expect(invoices.map(({ addressHold, notDelivered }) => addressHold ?? notDelivered).filter((one) => one !== null)).toEqual([])
  const clients = (await ask(app, person, clientCalls.list, { query: {} })).reply
  expect(clients.map(({ notDelivered }) => notDelivered).filter((one) => one !== null)).toEqual([])
}

test('a mailbox that may not send as itself holds its twelve emails, and sends them once it may, without anyone touching them', async () => {
  await using office = await withClients(12)
  const { app, asha, smtp } = office
  smtp.answer({ rcpt: postfix })
  expect((await start(app, asha)).reply).toMatchObject({ count: 0, failed: 0, retrying: 12 })
  expect(smtp.commands.filter((command) => command.startsWith('RCPT')).length).toBeLessThanOrEqual(2)
  expect(await newestRun(app, asha)).toMatchObject({ held: 12, failed: 0, holdReason: 'sending_paused' })
  expect(await pauseOf(app, asha)).toMatchObject({
    reason: 'sender_refused',
    message: expect.stringContaining('not owned by user'),
    advice: 'Let your provider allow asha@example.com for this login, or connect the mailbox that the login belongs to.',
    until: '2026-03-02T06:45:00Z',
  })
  await expectNoClientHarmed(app, asha)
  expect((await ask(app, asha, noticeCalls.list)).reply).toMatchObject([
    { kind: 'sender_refused', title: 'Your mail server doesn’t let you send as asha@example.com' },
  ])
  // Not yet: one try, and the next an hour later.
  const before = smtp.commands.filter((command) => command.startsWith('RCPT')).length
  app.clock.set('2026-03-02T06:46:00Z')
  await app.runJobs()
  expect(smtp.commands.filter((command) => command.startsWith('RCPT')).length).toBe(before + 1)
  expect(await pauseOf(app, asha)).toMatchObject({ reason: 'sender_refused', until: '2026-03-02T07:46:00Z' })

  smtp.answer({})
  app.clock.set('2026-03-02T07:46:00Z')
  await app.runJobs()
  expect(
    toClients(smtp)
      .map(({ envelope }) => envelope.to[0])
      .toSorted(),
  ).toEqual(Array.from({ length: 12 }, (_none, nth) => `billing@client${nth + 1}.example`).toSorted())
  expect(smtp.mails.length).toBe(13)
  expect(await newestRun(app, asha)).toMatchObject({ sent: 12, open: 0 })
  expect(await pauseOf(app, asha)).toBeNull()
})

test.each([
  ['at MAIL', { mail: () => '550 5.1.1 No such user' }],
  ['with the message', { dot: () => '554 5.2.252 SendAsDenied; asha@example.com not allowed to send as billing@example.com' }],
])('a sender who is refused %s is tried again by the owner’s test', async (_where, faults) => {
  await using office = await withClients(2)
  const { app, asha, smtp } = office
  smtp.answer(faults)
  await start(app, asha)
  expect(await newestRun(app, asha)).toMatchObject({ held: 2, failed: 0 })
  await expectNoClientHarmed(app, asha)
  expect((await ask(app, asha, mailCalls.test)).problem?.code).toBe('mail_refused')
  smtp.answer({})
  expect((await ask(app, asha, mailCalls.test)).status).toBe(200)
  await app.runJobs()
  expect(await newestRun(app, asha)).toMatchObject({ sent: 2, open: 0 })
  expect(await kindsOf(app, asha)).toEqual([])
})

test('in the evening it is tried no more, and the next morning before the run', async () => {
  await using office = await withClients(1)
  const { app, asha, smtp } = office
  smtp.answer({ rcpt: postfix })
  await start(app, asha)
  app.clock.set('2026-03-02T12:00:00Z')
  await app.runJobs()
  // 18:30 there.
  expect(await pauseOf(app, asha)).toMatchObject({ until: '2026-03-03T02:30:00Z' })
})

test('what was accepted from the mailbox to itself and refused for clients waits for its owner, with one notice', async () => {
  await using office = await withClients(3)
  const { app, asha, smtp } = office
  smtp.answer({ rcpt: (to) => (to === 'asha@example.com' ? undefined : `554 5.7.1 <${to}>: Relay access denied`) })
  await start(app, asha)
  app.clock.advance({ minutes: 16 })
  await app.runJobs()
  expect(toClients(smtp)).toEqual([])
  expect(await newestRun(app, asha)).toMatchObject({ held: 3, failed: 0 })
  expect(await pauseOf(app, asha)).toMatchObject({ reason: 'sender_refused', until: null })
  expect(await kindsOf(app, asha)).toEqual(['sender_refused'])
})

test('a mailbox that is refused again days later is a new matter: it is tried again, and its owner gets an email', async () => {
  await using office = await withClients(1)
  const { app, asha, smtp } = office
  smtp.answer({ rcpt: postfix })
  await start(app, asha)
  smtp.answer({})
  app.clock.advance({ minutes: 16 })
  await app.runJobs()
  expect([toClients(smtp).length, await pauseOf(app, asha)]).toEqual([1, null])
  smtp.answer({ rcpt: postfix })
  app.clock.set('2026-03-05T03:30:00Z')
  await app.runJobs()
  expect(await pauseOf(app, asha)).toMatchObject({ reason: 'sender_refused', since: '2026-03-05T03:30:00Z', until: '2026-03-05T03:45:00Z' })
  expect((await ask(app, asha, noticeCalls.list)).reply).toContainEqual(
    expect.objectContaining({ kind: 'sender_refused', updatedAt: '2026-03-05T03:30:00Z' }),
  )
})

test('unknown words to three clients at three domains are about the mailbox: nothing more is tried, and the three come back', async () => {
  await using office = await withClients(7)
  const { app, asha, smtp } = office
  smtp.answer({ rcpt: (to, nth) => `550 5.7.1 ${to} blocked by rule 77${nth}, see https://rules.example/${nth}` })
  await start(app, asha)
  expect(smtp.commands.filter((command) => command.startsWith('RCPT')).length).toBe(3)
  expect(await newestRun(app, asha)).toMatchObject({ held: 7, failed: 0 })
  expect(await pauseOf(app, asha)).toMatchObject({ reason: 'sender_refused' })
  await expectNoClientHarmed(app, asha)
  smtp.answer({})
  app.clock.advance({ minutes: 16 })
  await app.runJobs()
  expect(toClients(smtp).length).toBe(7)
  expect(await newestRun(app, asha)).toMatchObject({ sent: 7, open: 0 })
})

test('different words, or clients of one domain, are about these clients', async () => {
  await using office = await withClients(3)
  const { app, asha, smtp } = office
  for (const nth of [1, 2, 3]) await anInvoice(app, { owner: asha, clientEmail: `p${nth}@same.example`, dueDate: '2026-02-20' })
  const said = ['Listed', 'Rejected by our content filter', 'Closed for strangers']
  smtp.answer({ rcpt: (to) => (to.endsWith('@same.example') ? '550 5.7.1 Policy' : `550 5.7.1 ${said[Number(to.at(14)) - 1]}`) })
  await start(app, asha)
  expect(await newestRun(app, asha)).toMatchObject({ held: 0, failed: 6 })
  expect(await pauseOf(app, asha)).toBeNull()
  expect((await ask(app, asha, invoiceCalls.list, { query: {} })).reply.filter(({ addressHold }) => addressHold !== null)).toEqual([])
})

test('a limit of an hour holds the rest for an hour, and fails none', async () => {
  await using office = await withClients(5)
  const { app, asha, smtp } = office
  const limited = '550 Domain example.com has exceeded the max emails per hour (2/2 (100%)) allowed. Message discarded.'
  smtp.answer({ rcpt: () => (smtp.mails.length >= 2 ? limited : undefined) })
  await start(app, asha)
  expect(await newestRun(app, asha)).toMatchObject({ sent: 2, held: 3, failed: 0 })
  expect(await pauseOf(app, asha)).toMatchObject({ reason: 'quota', until: '2026-03-02T07:30:00Z' })
  smtp.answer({})
  app.clock.advance({ minutes: 61 })
  await app.runJobs()
  expect(smtp.mails.length).toBe(5)
})

test('a mailbox is saved only if it may write from itself to itself, in the server’s words', async () => {
  await using office = await anOffice({ now: morning })
  const { app, asha, smtp } = office
  const body = { host: smtp.host, port: smtp.port, secure: false, user: 'asha@example.com', pass: smtp.login.pass }
  const save = async () => ask(app, await signedInAgain(app, asha), mailCalls.configureSmtp, { body })
  smtp.answer({ rcpt: postfix })
  const refused = await save()
  expect(refused.problem).toMatchObject({ code: 'mail_test_failed', message: expect.stringContaining('Sender address rejected') })
  smtp.answer({ rcpt: () => '451 4.7.1 Greylisted' })
  expect((await save()).status).toBe(200)
  smtp.answer({})
  expect((await save()).status).toBe(200)
  expect(smtp.commands.filter((command) => command === 'DATA')).toEqual([])
  expect(smtp.mails).toEqual([])
})

test('a server that allows one connection gets fifty-five emails at once: nothing is put off', async () => {
  await using office = await withClients(55)
  const { app, asha, smtp } = office
  smtp.answer({ greeting: () => (smtp.connections.open > 1 ? '421 4.7.0 Too many connections from your host' : undefined) })
  await start(app, asha)
  await app.runJobs()
  expect(smtp.mails.length).toBe(55)
  // One that was turned away, and none after it.
  expect(smtp.connections.total).toBeLessThanOrEqual(4)
  expect(await newestRun(app, asha)).toMatchObject({ sent: 55, open: 0 })
  const [email] = await app.db.select({ tries: max(deliveries.attempt) }).from(deliveries)
  expect(email?.tries).toBe(1)
})
