// Also on PostgreSQL: deliveries are claimed by conditional updates.
import { eq, sql } from 'drizzle-orm'
import { expect, test } from 'vitest'
import { accountCalls } from '#contract/accounts.ts'
import { businessCalls } from '#contract/business.ts'
import { clientCalls } from '#contract/clients.ts'
import { invoiceCalls } from '#contract/invoices.ts'
import { mailCalls } from '#contract/mail.ts'
import { noticeCalls } from '#contract/notices.ts'
import { paymentCalls } from '#contract/payments.ts'
import { newStep } from '#contract/ready-sequences.ts'
import { reminderCalls } from '#contract/reminders.ts'
import { sequenceCalls } from '#contract/sequences.ts'
import { templateCalls } from '#contract/templates.ts'
import { lockAccount } from '#server/accounts/accounts.ts'
import { accounts } from '#server/accounts/tables.ts'
import { invoices } from '#server/invoices/tables.ts'
import { pauseSender } from '#server/mail/mail.ts'
import { mailConfigs } from '#server/mail/tables.ts'
import { newId } from '#server/platform/columns.ts'
import {
  aMailbox,
  anInvoice,
  anOffice,
  aPerson,
  aSequence,
  type Person,
  payInFull,
  refusedUpdates,
  signedInAgain,
} from '#test/factories.ts'
import { later, openFakeSmtp, reset } from '#test/fakes/smtp-server.ts'
import { ask, type TestApp } from '#test/harness.ts'
import { readEmail } from '#test/read-email.ts'
import { beat, reclaimAll, reclaimDead } from './processes.ts'
import { makeRun } from './runs.ts'
import { mailboxesAtOnce } from './sending.ts'
import { deliveries, leftOut } from './tables.ts'

const morning = '2026-03-02T06:30:00Z'
const start = (app: TestApp, person: Person) => app.whileJobsRun(ask(app, person, reminderCalls.start))
const sendNow = (app: TestApp, person: Person) => app.whileJobsRun(ask(app, person, reminderCalls.sendNow))
const newestRun = async (app: TestApp, person: Person) => (await ask(app, person, reminderCalls.runs, { query: {} })).reply[0]

test('a deferred email is delivered later, once, with the same bytes under the same Message-ID', async () => {
  await using office = await anOffice({ now: morning, invoices: 1 })
  const { app, asha, smtp } = office
  const seen: Buffer[] = []
  smtp.answer({
    dot: (mail, nth) => {
      seen.push(mail.raw)
      return nth <= 2 ? '451 4.7.1 Greylisted' : undefined
    },
  })
  expect((await start(app, asha)).reply).toMatchObject({ count: 0, retrying: 1, failed: 0 })
  app.clock.advance({ minutes: 3 })
  await app.runJobs()
  expect(seen.length).toBe(1)
  app.clock.advance({ minutes: 3 })
  await app.runJobs()
  expect(seen.length).toBe(2)
  app.clock.advance({ minutes: 18 })
  await app.runJobs()
  expect(smtp.mails.length).toBe(1)
  expect(seen.every((raw) => raw.equals(seen[0] ?? Buffer.alloc(0)))).toBe(true)
  expect(await newestRun(app, asha)).toMatchObject({ sent: 1, open: 0, finishedAt: app.clock.now().toString() })
})

test('a refused email is not marked sent: the run shows the reply of the mail server', async () => {
  await using office = await anOffice({ now: morning, invoices: 2 })
  const { app, asha, invoices, smtp } = office
  smtp.answer({ rcpt: (to) => (to.startsWith('client1') ? '550 5.1.1 No such user here' : undefined) })
  const answered = await start(app, asha)
  expect(answered.reply).toMatchObject({ count: 1, failed: 1, total: 2 })
  expect(answered.reply.failures).toEqual([
    {
      invoiceId: invoices[0]?._id,
      reference: 'INV-0001',
      clientName: 'Kaveri Foods',
      clientEmail: 'client1@example.com',
      message: expect.stringContaining('550 5.1.1 No such user here'),
      words: 'address doesn’t exist',
      canRetry: true,
    },
  ])
  const refused = (await ask(app, asha, invoiceCalls.read, { params: { id: invoices[0]?._id ?? '' } })).reply
  expect(refused).toMatchObject({ remindersSent: 0, lastReminderAt: null })
  app.clock.advance({ hours: 3 })
  await app.runJobs()
  expect(smtp.mails.length).toBe(1)
})

test('an invoice shows that its last reminder was refused, until one is accepted or its client has another address', async () => {
  await using office = await anOffice({ now: '2026-03-02T06:30:00Z', invoices: 3 })
  const { app, asha, invoices, smtp } = office
  const refusals = async () => (await ask(app, asha, invoiceCalls.list, { query: {} })).reply.map(({ refusal }) => refusal).toReversed()
  smtp.answer({ rcpt: (to) => (to.startsWith('client3') ? undefined : '550 5.7.1 Message refused') })
  await app.whileJobsRun(ask(app, asha, reminderCalls.start))
  const said = expect.stringContaining('550 5.7.1 Message refused')
  expect(await refusals()).toEqual([said, said, null])

  const change = (body: object) => ask(app, asha, invoiceCalls.update, { params: { id: invoices[0]?._id ?? '' }, body })
  await change({ amount: 5 })
  expect(await refusals()).toEqual([said, said, null])
  await change({ clientEmail: 'right@example.com' })
  expect(await refusals()).toEqual([null, said, null])

  smtp.answer({})
  app.clock.set('2026-03-03T03:30:00Z')
  await app.runJobs()
  expect(await refusals()).toEqual([null, null, null])
})

test('an address corrected while the wrong one is being refused is not marked as refused', async () => {
  await using office = await anOffice({ now: '2026-03-02T06:30:00Z', invoices: 1 })
  const { app, asha, invoices, smtp } = office
  const correct = () =>
    ask(app, asha, invoiceCalls.update, { params: { id: invoices[0]?._id ?? '' }, body: { clientEmail: 'right@example.com' } })
  smtp.answer({ rcpt: () => later(correct(), '550 5.7.1 Message refused') })
  await app.whileJobsRun(ask(app, asha, reminderCalls.start))
  expect((await ask(app, asha, invoiceCalls.list, { query: {} })).reply).toMatchObject([
    { clientEmail: 'right@example.com', refusal: null },
  ])
})

test('Start reports a partial failure as partial', async () => {
  await using office = await anOffice({ now: morning, invoices: 2 })
  const { app, asha, smtp } = office
  smtp.answer({ rcpt: (to) => (to.startsWith('client1') ? '550 5.7.1 Message refused' : undefined) })
  await start(app, asha)
  const again = await start(app, asha)
  expect(again.status).toBe(200)
  expect(again.reply).toMatchObject({ count: 0, failed: 1, skipped: 1, total: 2 })
})

test('Start answers with the reply of the mail server when it refuses every email permanently, and stays active', async () => {
  await using office = await anOffice({ now: morning, invoices: 2 })
  const { app, asha, smtp } = office
  smtp.answer({ rcpt: () => '550 5.7.1 We do not relay' })
  const answered = await start(app, asha)
  expect(answered.status).toBe(502)
  expect(answered.problem).toMatchObject({ code: 'mail_refused', message: expect.stringContaining('550 5.7.1 We do not relay') })
  expect((await ask(app, asha, reminderCalls.status)).reply.isActive).toBe(true)
})

test('a manual email is given up after four hours, a daily one at 18:00', async () => {
  await using office = await anOffice({ now: '2026-03-02T01:00:00Z', invoices: 1 })
  const { app, asha, smtp } = office
  smtp.answer({ rcpt: () => '450 4.2.0 Try later' })
  await sendNow(app, asha)
  for (let minutes = 0; minutes < 300; minutes += 5) {
    app.clock.advance({ minutes: 5 })
    await app.runJobs()
  }
  expect(await newestRun(app, asha)).toMatchObject({
    kind: 'send_now',
    failed: 1,
    open: 0,
    failures: [{ message: expect.stringContaining('450 4.2.0') }],
  })

  app.clock.set('2026-03-02T12:00:00Z')
  await start(app, asha)
  app.clock.set('2026-03-03T03:30:00Z')
  for (let tries = 0; tries < 15; tries += 1) {
    await app.runJobs()
    app.clock.advance({ hours: 1 })
  }
  expect(await newestRun(app, asha)).toMatchObject({ kind: 'daily', localDate: '2026-03-03', failed: 1, open: 0 })
  smtp.answer({})
  app.clock.set('2026-03-03T18:00:00Z')
  await app.runJobs()
  expect(smtp.mails).toEqual([])
  app.clock.set('2026-03-04T03:30:00Z')
  await app.runJobs()
  expect(smtp.mails.length).toBe(1)
})

test('a refused login pauses sending after at most two tries, and a working password resumes it', async () => {
  await using office = await anOffice({ now: morning, invoices: 20 })
  const { app, asha, smtp } = office
  smtp.login = { user: smtp.login.user, pass: 'changed at the provider' }
  const answered = await start(app, asha)
  expect(answered.reply).toMatchObject({ count: 0, failed: 0, retrying: 20 })
  expect(smtp.authTries).toBeLessThanOrEqual(2)
  const status = (await ask(app, asha, reminderCalls.status)).reply
  expect(status.pause).toMatchObject({ reason: 'login_refused', message: expect.stringContaining('535') })
  expect(await newestRun(app, asha)).toMatchObject({ held: 20, holdReason: 'sending_paused' })
  app.clock.advance({ hours: 1 })
  await app.runJobs()
  expect(smtp.authTries).toBeLessThanOrEqual(2)

  const saved = await ask(app, await signedInAgain(app, asha), mailCalls.configureSmtp, {
    body: { host: smtp.host, port: smtp.port, secure: false, user: smtp.login.user, pass: 'changed at the provider' },
  })
  expect(saved.status).toBe(200)
  await app.runJobs()
  expect(smtp.mails.length).toBe(20)
  expect((await ask(app, asha, reminderCalls.status)).reply.pause).toBeNull()
})

test('a reached quota stops sending within two emails; the rest is sent first once the mailbox may send again', async () => {
  await using office = await anOffice({ now: morning, invoices: 60 })
  const { app, asha, smtp } = office
  smtp.answer({ mail: (_from, nth) => (nth > 24 ? '550 5.4.5 Daily user sending limit exceeded' : undefined) })
  const answered = await start(app, asha)
  expect(answered.reply).toMatchObject({ count: 24, retrying: 36, failed: 0 })
  expect(smtp.commands.filter((command) => command.startsWith('MAIL')).length).toBeLessThanOrEqual(26)
  const { pause } = (await ask(app, asha, reminderCalls.status)).reply
  expect(pause).toMatchObject({ reason: 'quota', message: expect.stringContaining('5.4.5'), until: '2026-03-02T18:30:00Z' })
  expect((await ask(app, asha, noticeCalls.list)).reply).toMatchObject([{ kind: 'quota' }])

  const first = smtp.mails.map(({ envelope }) => envelope.to[0])
  smtp.answer({})
  app.clock.set('2026-03-03T03:30:00Z')
  await app.runJobs()
  expect(smtp.mails.length).toBe(24)
  expect((await ask(app, asha, reminderCalls.status)).reply.pause).toMatchObject({ until: '2026-03-03T06:30:00Z' })
  app.clock.set('2026-03-03T06:31:00Z')
  await app.runJobs()
  expect(smtp.mails.length).toBe(48)
  const second = smtp.mails.slice(24).map(({ envelope }) => envelope.to[0])
  expect(second.filter((to) => first.includes(to))).toEqual([])
})

test.each([false, true])('a daily limit leaves out no client for days; grouped: %s', async (groupByClient) => {
  await using office = await anOffice({ now: morning })
  const { app, asha, smtp } = office
  for (let client = 0; client < 10; client += 1) await anInvoice(app, { owner: asha, clientEmail: `client${client}@example.com` })
  await ask(app, asha, reminderCalls.changeSettings, { body: { groupByClient } })
  app.deps.limitsOf = () => ({ provider: 'Gmail', perHour: null, perDay: 7, perMinute: null })
  expect((await start(app, asha)).reply).toMatchObject({ count: 7, retrying: 3 })
  const first = smtp.mails.map(({ envelope }) => envelope.to[0])
  for (const at of ['2026-03-03T03:30:00Z', '2026-03-03T06:31:00Z']) {
    app.clock.set(at)
    await app.runJobs()
  }
  const second = smtp.mails.slice(7).map(({ envelope }) => envelope.to[0])
  expect([second.length, new Set([...first, ...second]).size]).toEqual([7, 10])
})

test('a mailbox that cannot be resumed after its quota delays no other, and its error is reported', async () => {
  await using office = await anOffice({ now: morning })
  const { app, asha, smtp } = office
  const ravi = await aPerson(app)
  await aMailbox(app, ravi, smtp)
  for (const { id } of [asha, ravi]) {
    const [sender] = await app.db.select().from(mailConfigs).where(eq(mailConfigs.ownerId, id))
    if (!sender) throw new Error('There is no mailbox.')
    const stop = { reason: 'quota' as const, words: 'Enough', until: app.clock.now(), learnedPerDay: null }
    await pauseSender(app.db, sender, stop, app.clock.now())
  }
  await using _refused = await refusedUpdates(app, 'mail_configs', `NEW.owner_id = '${asha.id}'`)
  await expect(app.runJobs()).rejects.toThrow('could not be resumed')
  expect((await ask(app, asha, reminderCalls.status)).reply.pause).toMatchObject({ reason: 'quota' })
  expect((await ask(app, ravi, reminderCalls.status)).reply.pause).toBeNull()
})

test('an account whose emails cannot be read delays none of the accounts that begin with it', async () => {
  await using office = await anOffice({ now: morning })
  const { app, asha, smtp } = office
  const ravi = await aPerson(app)
  await aMailbox(app, ravi, smtp)
  await app.db.update(accounts).set({ timezone: 'Nowhere/Land' }).where(eq(accounts.id, ravi.id))
  // At the same moment, so by one set of statements.
  const begun = await Promise.allSettled([ravi, asha].map(({ id }) => app.deps.begin({ ownerId: id, place: null })))
  expect(begun.map(({ status }) => status)).toEqual(['rejected', 'fulfilled'])
})

test('a record that the database refuses is tried again less and less often, is logged as an error, and is not lost', async () => {
  await using office = await anOffice({ now: morning, invoices: 2, config: {} })
  const { app, asha, invoices, smtp } = office
  await using refused = await refusedUpdates(app, 'invoices', `NEW.id = '${invoices[0]?._id}' AND NEW.reminders_sent > 0`)
  const recorded = async () => {
    const found = await app.db.select({ state: deliveries.state }).from(deliveries)
    return found.filter(({ state }) => state === 'sent').length
  }
  const waits: number[] = []
  app.clock.pause = async (ms) => {
    waits.push(ms)
    if (waits.length < 14) return
    await expect.poll(recorded).toBe(1)
    await refused[Symbol.asyncDispose]()
  }
  await app.db.transaction(async (tx) => {
    const account = await lockAccount(tx, asha.id)
    if (account) await makeRun(tx, app.deps.queue, account, { kind: 'send_now', now: app.clock.now() })
  })
  await app.runJobs()
  expect(waits.slice(0, 3)).toEqual([50, 100, 200])
  expect(waits.at(-1)).toBe(60_000)
  expect(app.errorsLogged.splice(0)).toHaveLength(waits.filter((ms) => ms >= 2_000).length)
  expect(await recorded()).toBe(2)
  expect(smtp.mails).toHaveLength(2)
})

test('a mailbox keeps its connection until its emails are sent, unless another one waits for its place', async () => {
  const office = async () => {
    const opened = await anOffice({ now: morning, invoices: 7 })
    let elapsed = 0
    opened.app.clock.elapsed = () => elapsed
    opened.smtp.answer({
      dot: () => {
        elapsed += 1_000
        return undefined
      },
    })
    return opened
  }
  await using alone = await office()
  expect((await start(alone.app, alone.asha)).reply).toMatchObject({ count: 7 })
  expect(alone.smtp.connections.total).toBe(1)

  await using crowded = await office()
  for (let nth = 0; nth < mailboxesAtOnce; nth += 1) crowded.app.deps.serving.add(newId())
  expect((await start(crowded.app, crowded.asha)).reply).toMatchObject({ count: 7 })
  expect(crowded.smtp.connections.total).toBe(2)
})

test('a quota consumed outside Duely teaches no smaller limit for the next day', async () => {
  await using office = await anOffice({ now: morning, invoices: 10 })
  const { app, asha, smtp } = office
  smtp.answer({ mail: (_from, nth) => (nth > 4 ? '550 5.4.5 Daily user sending limit exceeded' : undefined) })
  expect((await start(app, asha)).reply).toMatchObject({ count: 4, retrying: 6 })
  expect((await ask(app, asha, reminderCalls.status)).reply.pause).toMatchObject({ reason: 'quota', until: '2026-03-02T18:30:00Z' })
  smtp.answer({})
  app.clock.set('2026-03-03T03:30:00Z')
  await app.runJobs()
  expect(smtp.mails.slice(4).map(({ envelope }) => envelope.to[0])).toHaveLength(10)
  expect((await ask(app, asha, reminderCalls.status)).reply.pause).toBeNull()
})

test('a known limit is never exceeded', async () => {
  await using office = await anOffice({ now: morning, invoices: 30 })
  const { app, asha } = office
  app.deps.limitsOf = () => ({ provider: 'Gmail', perHour: null, perDay: 7, perMinute: null })
  expect((await start(app, asha)).reply).toMatchObject({ count: 7, retrying: 23 })
  expect((await ask(app, asha, reminderCalls.status)).reply.pause).toMatchObject({
    reason: 'quota',
    message: 'Gmail allows 7 emails in 24 hours, and that many have been sent.',
    until: '2026-03-03T06:30:00Z',
  })
})

test('each copy of an email counts towards a known limit, and none is sent in part', async () => {
  await using office = await anOffice({ now: morning, invoices: 5 })
  const { app, asha, smtp } = office
  const steps = [{ ...newStep(1, 'friendly'), copyToMe: true }]
  await aSequence(app, asha, { name: 'With a copy', steps, everyDays: null, atMost: null, atLeast: 1 })
  app.deps.limitsOf = () => ({ provider: 'Gmail', perHour: null, perDay: 7, perMinute: null })
  expect((await start(app, asha)).reply).toMatchObject({ count: 3, retrying: 2 })
  expect(smtp.mails.flatMap(({ envelope }) => envelope.to)).toHaveLength(6)
  expect((await ask(app, asha, reminderCalls.status)).reply.pause).toMatchObject({ reason: 'quota', until: '2026-03-03T06:30:00Z' })
})

test('a per-minute limit of the provider spaces the emails', async () => {
  await using office = await anOffice({ now: morning, invoices: 6 })
  const { app, asha, smtp } = office
  app.deps.limitsOf = () => ({ provider: 'Exchange Online', perHour: null, perDay: null, perMinute: 1_200 })
  await start(app, asha)
  const times = smtp.mails.map(({ at }) => at)
  expect(times.length).toBe(6)
  expect((times.at(-1) ?? 0) - (times[0] ?? 0)).toBeGreaterThanOrEqual(5 * 50 - 60)
})

test('a per-minute limit of the mail server is detected, and the rest waits until the minute is over', async () => {
  await using office = await anOffice({ now: '2026-03-02T01:00:00Z' })
  const { app, asha, smtp } = office
  await start(app, asha)
  for (let nth = 1; nth <= 40; nth += 1) await anInvoice(app, { owner: asha, clientEmail: `client${nth}@example.com` })
  let asked = 0
  smtp.answer({
    mail() {
      asked += 1
      return asked > 12 ? '451 4.7.1 Too many messages, slow down' : undefined
    },
  })
  app.clock.set('2026-03-02T03:30:00Z')
  await app.runJobs()
  expect(smtp.mails.length).toBe(12)
  const [mailbox] = await app.db.select().from(mailConfigs)
  expect(mailbox?.learnedPerMinute).toBe(12)
  // Two deferred in a row: the one before and the one in flight meanwhile.
  expect(asked).toBeLessThanOrEqual(16)
  const before = asked
  app.clock.advance({ seconds: 59 })
  await app.runJobs()
  expect(asked).toBe(before)
  smtp.answer({})
  app.deps.limitsOf = () => ({ provider: 'A provider', perHour: null, perDay: null, perMinute: null })
  app.clock.advance({ minutes: 30 })
  await app.runJobs()
  expect(smtp.mails.map(({ envelope }) => envelope.to[0]).sort()).toEqual(
    Array.from({ length: 40 }, (_, nth) => `client${nth + 1}@example.com`).sort(),
  )
})

test('a closed connection in the middle is not taken for a per-minute limit', async () => {
  await using office = await anOffice({ now: morning, invoices: 40 })
  const { app, asha, smtp } = office
  smtp.answer({ mail: (_from, nth) => (nth > 12 && nth < 17 ? '421 4.7.0 Closing' : undefined) })
  const { reply } = await start(app, asha)
  // A kept connection is replaced immediately, so some of the four are no try.
  expect([reply.count + reply.retrying, reply.retrying > 0]).toEqual([40, true])
  expect((await app.db.select().from(mailConfigs))[0]?.learnedPerMinute).toBeNull()
})

test.each([
  ['command by command', false],
  ['with the envelope at once', true],
])('greylisting is not taken for a per-minute limit, %s', async (_how, pipelining) => {
  await using office = await anOffice({ now: morning, invoices: 30 })
  const { app, asha, smtp } = office
  smtp.answer({
    offers: { pipelining },
    rcpt: (to) => (Number(to.slice(6, to.indexOf('@'))) > 12 ? '451 4.7.1 Greylisted' : undefined),
  })
  expect((await start(app, asha)).reply).toMatchObject({ count: 12, retrying: 18 })
  expect((await app.db.select().from(mailConfigs))[0]?.learnedPerMinute).toBeNull()
})

test('without a mailbox the emails of the day are held, and sent the same day once one is connected', async () => {
  await using office = await anOffice({ now: '2026-03-02T01:00:00Z' })
  const { app, asha, smtp } = office
  await start(app, asha)
  await anInvoice(app, { owner: asha })
  await ask(app, asha, mailCalls.remove)
  app.clock.set('2026-03-02T03:30:00Z')
  await app.runJobs()
  expect(await newestRun(app, asha)).toMatchObject({ kind: 'daily', held: 1, holdReason: 'not_configured' })
  app.clock.set('2026-03-02T11:00:00Z')
  await app.runJobs()
  await ask(app, await signedInAgain(app, asha), mailCalls.configureSmtp, {
    body: { host: smtp.host, port: smtp.port, secure: false, user: smtp.login.user, pass: smtp.login.pass },
  })
  await app.runJobs()
  expect(smtp.mails.length).toBe(1)
})

test('an email still held at 18:00 ends with its reason and is not sent in addition tomorrow', async () => {
  await using office = await anOffice({ now: '2026-03-02T01:00:00Z' })
  const { app, asha, smtp } = office
  await start(app, asha)
  await anInvoice(app, { owner: asha })
  await ask(app, asha, mailCalls.remove)
  app.clock.set('2026-03-02T03:30:00Z')
  await app.runJobs()
  app.clock.set('2026-03-02T12:30:00Z')
  await app.runJobs()
  expect(await newestRun(app, asha)).toMatchObject({
    held: 0,
    failed: 1,
    failures: [{ message: 'Not sent: no mailbox was connected that day.' }],
  })
  await aMailbox(app, asha, smtp)
  app.clock.set('2026-03-03T03:30:00Z')
  await app.runJobs()
  expect(smtp.mails.length).toBe(1)
})

test('an invoice marked paid between queue and send is not reminded', async () => {
  await using office = await anOffice({ now: morning, invoices: 3 })
  const { app, asha, invoices, smtp } = office
  smtp.answer({ rcpt: () => '450 4.2.0 Try later' })
  await start(app, asha)
  smtp.answer({})
  await ask(app, asha, invoiceCalls.update, { params: { id: invoices[0]?._id ?? '' }, body: { status: 'paid' } })
  await ask(app, asha, invoiceCalls.remove, { params: { id: invoices[1]?._id ?? '' } })
  app.clock.advance({ minutes: 10 })
  await app.runJobs()
  expect(smtp.mails.map(({ envelope }) => envelope.to[0])).toEqual(['client3@example.com'])
  expect(await newestRun(app, asha)).toMatchObject({ sent: 1, skipped: 2, open: 0 })
})

type Undone = (app: TestApp, person: Person, id: string) => { done: () => Promise<unknown>; undone: () => Promise<unknown> }
const undoable: [string, Undone][] = [
  [
    'marked as paid',
    (app, person, id) => {
      const mark = (status: 'paid' | 'unpaid') => ask(app, person, invoiceCalls.update, { params: { id }, body: { status } })
      return { done: () => mark('paid'), undone: () => mark('unpaid') }
    },
  ],
  [
    'deleted',
    (app, person, id) => ({
      done: () => ask(app, person, invoiceCalls.remove, { params: { id } }),
      undone: () => ask(app, person, invoiceCalls.restore, { params: { id } }),
    }),
  ],
  [
    'paused with its client',
    (app, person, id) => ({
      done: () => ask(app, person, invoiceCalls.pause, { params: { id }, body: { paused: true, scope: 'client', until: null } }),
      undone: () => ask(app, person, invoiceCalls.pause, { params: { id }, body: { paused: false, scope: 'client' } }),
    }),
  ],
  [
    'paused with others',
    (app, person, id) => ({
      done: () => ask(app, person, invoiceCalls.bulkChange, { body: { ids: [id], change: { do: 'pause', until: null, note: '' } } }),
      undone: () => ask(app, person, invoiceCalls.bulkChange, { body: { ids: [id], change: { do: 'resume' } } }),
    }),
  ],
]

/** Asha at nine o'clock in India, when an email on the day on which an invoice is due has just been planned; it waits for half an hour. */
async function waitingOnDueDate(invoices = 1) {
  const office = await anOffice({ now: '2026-03-02T02:00:00Z' })
  const { app, asha, smtp } = office
  await ask(app, asha, reminderCalls.changeSettings, { body: { holdMinutes: 30, groupByClient: invoices > 1 } })
  const steps = [newStep(0, 'friendly'), newStep(30, 'friendly')]
  await aSequence(app, asha, { name: 'On the day', steps, everyDays: null, atMost: null, atLeast: 1 })
  const nextRunAt = Temporal.Instant.from('2026-03-02T03:30:00Z')
  await app.db.update(accounts).set({ remindersActive: true, nextRunAt, nextRunFrom: '2026-03-02' }).where(eq(accounts.id, asha.id))
  const ids: string[] = []
  for (let nth = 0; nth < invoices; nth += 1) ids.push((await anInvoice(app, { owner: asha, dueDate: '2026-03-02' }))._id)
  const [id = ''] = ids
  const at = async (instant: string) => {
    app.clock.set(instant)
    await app.runJobs()
  }
  await at('2026-03-02T03:30:00Z')
  return Object.assign(office, { id, ids, at, sent: () => smtp.mails.length })
}

test.each(undoable)(
  'an email that waits is sent once, when it would have been, where its invoice was %s and that is undone',
  async (_what, change) => {
    await using office = await waitingOnDueDate()
    const { app, asha, id, at, sent } = office
    const { done, undone } = change(app, asha, id)
    await done()
    expect(await newestRun(app, asha)).toMatchObject({ open: 0, skipped: 1 })
    await undone()
    expect(await newestRun(app, asha)).toMatchObject({ open: 1, skipped: 0 })
    await at('2026-03-02T03:45:00Z')
    expect(sent()).toBe(0)
    await at('2026-03-02T04:00:00Z')
    expect(sent()).toBe(1)
    await done()
    await undone()
    await at('2026-03-02T06:00:00Z')
    await at('2026-03-03T06:00:00Z')
    expect(sent()).toBe(1)
  },
)

test.each(undoable)(
  'one email about several invoices is sent once, about what is owed then, where all of them were %s and that is undone',
  async (_what, change) => {
    await using office = await waitingOnDueDate(3)
    const { app, asha, ids, at, smtp, sent } = office
    const changes = ids.map((id) => change(app, asha, id))
    for (const { done } of changes) await done()
    expect(await newestRun(app, asha)).toMatchObject({ open: 0, skipped: 1 })
    const changed = await ask(app, asha, invoiceCalls.update, { params: { id: ids[2] ?? '' }, body: { dueDate: '2026-03-09' } })
    for (const { undone } of changes) await undone()
    expect(await newestRun(app, asha)).toMatchObject({ open: 1, skipped: 0 })
    await at('2026-03-02T03:45:00Z')
    expect(sent()).toBe(0)
    await at('2026-03-02T04:00:00Z')
    expect(sent()).toBe(1)
    const { text = '' } = await readEmail(smtp.mails[0]?.raw ?? '')
    expect(['INV-0001', 'INV-0002', 'INV-0003'].map((reference) => text.includes(reference))).toEqual([true, true, changed.status !== 200])
    for (const { done, undone } of changes) await done().then(undone)
    await at('2026-03-02T06:00:00Z')
    expect(sent()).toBe(1)
  },
)

test('what was closed is not sent after Undo where reminders were stopped or the client was left out meanwhile', async () => {
  const meanwhile: ((app: TestApp, person: Person, id: string) => Promise<unknown>)[] = [
    (app, person) => ask(app, person, reminderCalls.stop),
    async (app, { id: ownerId }, id) => {
      const [row] = await app.db.select().from(invoices).where(eq(invoices.id, id))
      await app.db.insert(leftOut).values({ ownerId, localDate: '2026-03-02', clientKey: row?.clientEmail ?? '' })
      await app.db.update(accounts).set({ leftOutUntil: '2026-03-02' }).where(eq(accounts.id, ownerId))
    },
  ]
  for (const happen of meanwhile) {
    await using office = await waitingOnDueDate()
    const { app, asha, id, at, sent } = office
    await ask(app, asha, invoiceCalls.update, { params: { id }, body: { status: 'paid' } })
    await happen(app, asha, id)
    await ask(app, asha, invoiceCalls.update, { params: { id }, body: { status: 'unpaid' } })
    await at('2026-03-02T06:00:00Z')
    expect(sent()).toBe(0)
  }
})

/** The client of an invoice that is not deleted is never reminded from now on. */
async function remindNever(app: TestApp, person: Person, { clientEmail }: { clientEmail: string }) {
  const client = (await ask(app, person, clientCalls.list)).reply.find(({ email }) => email === clientEmail)
  const answered = await ask(app, person, clientCalls.update, { params: { id: client?._id ?? '' }, body: { sequence: 'never' } })
  expect(answered.status).toBe(200)
}

test.each(undoable)(
  'an email that waits is not sent to a client who is never reminded since their invoices were %s, once that is undone',
  async (_what, change) => {
    for (const invoices of [1, 3]) {
      await using office = await waitingOnDueDate(invoices)
      const { app, asha, ids, at, sent } = office
      const notDue = await anInvoice(app, { owner: asha, dueDate: '2026-04-20' })
      const changes = ids.map((one) => change(app, asha, one))
      for (const { done } of changes) await done()
      await remindNever(app, asha, notDue)
      for (const { undone } of changes) await undone()
      await at('2026-03-02T06:00:00Z')
      expect(sent()).toBe(0)
      expect(await newestRun(app, asha)).toMatchObject({ open: 0, skipped: 1 })
    }
  },
)

test('of one email whose invoices were paused, those that are never reminded since stay out once they are resumed', async () => {
  await using office = await waitingOnDueDate(3)
  const { app, asha, ids, at, smtp } = office
  const [one = '', two = ''] = ids
  await remindNever(app, asha, await anInvoice(app, { owner: asha, clientEmail: 'never@example.com', dueDate: '2026-04-20' }))
  const pause = (paused: boolean) =>
    ask(app, asha, invoiceCalls.bulkChange, { body: { ids, change: paused ? { do: 'pause', until: null, note: '' } : { do: 'resume' } } })
  await pause(true)
  await ask(app, asha, sequenceCalls.assign, { params: { id: one }, body: { sequence: 'never' } })
  await ask(app, asha, invoiceCalls.update, { params: { id: two }, body: { clientEmail: 'never@example.com' } })
  await pause(false)
  await at('2026-03-02T06:00:00Z')
  const texts = await Promise.all(smtp.mails.map(async ({ raw }) => (await readEmail(raw)).text ?? ''))
  expect(texts.map((text) => ['INV-0001', 'INV-0002', 'INV-0003'].filter((reference) => text.includes(reference)))).toEqual([['INV-0003']])
})

test('a Send Now that is tried again is sent after Undo of Mark as paid, until its time is over', async () => {
  await using office = await anOffice({ now: morning, invoices: 2 })
  const { app, asha, invoices, smtp } = office
  smtp.answer({ rcpt: () => '451 4.7.1 Greylisted' })
  await sendNow(app, asha)
  smtp.answer({})
  const mark = async (status: 'paid' | 'unpaid', nth: number) => {
    const answered = await ask(app, asha, invoiceCalls.update, { params: { id: invoices[nth]?._id ?? '' }, body: { status } })
    expect(answered.status).toBe(200)
  }
  await mark('paid', 0)
  await mark('paid', 1)
  // By hand, those who are never reminded are too.
  await remindNever(app, asha, { clientEmail: 'client1@example.com' })
  await mark('unpaid', 0)
  app.clock.advance({ minutes: 30 })
  await app.runJobs()
  expect(smtp.mails.map(({ envelope }) => envelope.to[0])).toEqual(['client1@example.com'])
  app.clock.advance({ hours: 4 })
  await mark('unpaid', 1)
  await app.runJobs()
  expect(smtp.mails).toHaveLength(1)
})

test('the claiming statement notices an invoice that was paid directly in the database', async () => {
  await using office = await anOffice({ now: morning, invoices: 1 })
  const { app, asha, invoices, smtp } = office
  smtp.answer({ rcpt: () => '450 4.2.0 Try later' })
  await start(app, asha)
  smtp.answer({})
  await payInFull(app.db, sql`i.id = ${invoices[0]?._id ?? ''}::uuid`)
  app.clock.advance({ minutes: 10 })
  await app.runJobs()
  expect(smtp.mails).toEqual([])
  expect(await newestRun(app, asha)).toMatchObject({ skipped: 1, open: 0 })
})

const amountsIn = (smtp: { mails: { raw: Buffer }[] }) =>
  Promise.all(smtp.mails.map(async ({ raw }) => (await readEmail(raw)).text?.match(/₹[\d,.]+\d/g)?.[0]))

test('a part that is paid between two tries is not asked for again, also at the instant at which the email was composed', async () => {
  await using office = await anOffice({ now: morning, invoices: 2 })
  const { app, asha, invoices, smtp } = office
  smtp.answer({ rcpt: () => '450 4.2.0 Try later' })
  await start(app, asha)
  smtp.answer({})
  // The clock has not moved: the invoice has the same time of its last change as when the email was composed.
  const { reply } = await ask(app, asha, paymentCalls.record, { params: { id: invoices[0]?._id ?? '' }, body: { amount: 2000 } })
  expect(reply.invoice.updatedAt).toBe(invoices[0]?.updatedAt)
  app.clock.advance({ minutes: 10 })
  await app.runJobs()
  expect((await amountsIn(smtp)).toSorted()).toEqual(['₹3,000.00', '₹5,000.00'])
  await ask(app, asha, paymentCalls.takeBack, { params: { id: reply.invoice._id, pid: reply.payment._id } })
  expect((await ask(app, asha, reminderCalls.preview, { query: {} })).reply.total).toBe(0)
})

test('a grouped email and the preview sum up what is left to pay, and a wording may name the whole and the paid amount', async () => {
  await using office = await anOffice({ now: morning })
  const { app, asha, smtp } = office
  const one = await anInvoice(app, { owner: asha, dueDate: '2026-02-20' })
  await anInvoice(app, { owner: asha, dueDate: '2026-02-21' })
  await ask(app, asha, paymentCalls.record, { params: { id: one._id }, body: { amount: 1999.5 } })
  await ask(app, asha, reminderCalls.changeSettings, { body: { groupByClient: true } })
  const { reply: preview } = await ask(app, asha, reminderCalls.preview, { query: {} })
  expect([preview.total, preview.lines[0]?.amount, preview.lines[0]?.invoiceAmount]).toEqual([8000.5, 3000.5, 5000])
  await app.whileJobsRun(ask(app, asha, reminderCalls.sendNow))
  const { text = '' } = await readEmail(smtp.mails[0]?.raw ?? Buffer.from(''))
  expect(text).toContain('₹8,000.50')
  expect(text).toContain(`${one.reference}: ₹3,000.50, due 20/02/2026`)
  const written = { subject: '{{invoiceAmount}}', content: '{{amount}} of {{invoiceAmount}}, {{paidAmount}} paid' }
  const { reply: draft } = await ask(app, asha, reminderCalls.draft, { body: { invoiceIds: [one._id], ...written } })
  expect(draft.email?.text).toBe('₹3,000.50 of ₹5,000.00, ₹1,999.50 paid')
})

test('Stop in the middle of a run lets at most the two emails in flight be sent', async () => {
  await using office = await anOffice({ now: morning, invoices: 30 })
  const { app, asha, smtp } = office
  smtp.answer({ dot: () => later(20) })
  const running = start(app, asha)
  await smtp.received(6)
  await ask(app, asha, reminderCalls.stop)
  const atStop = smtp.mails.length
  await running
  expect(smtp.mails.length - atStop).toBeLessThanOrEqual(2)
  expect(await newestRun(app, asha)).toMatchObject({ sent: smtp.mails.length, open: 0, skipped: 30 - smtp.mails.length })
})

test('removing the mailbox in the middle of a run lets at most the two emails in flight be sent', async () => {
  await using office = await anOffice({ now: morning, invoices: 30 })
  const { app, asha, smtp } = office
  smtp.answer({ dot: () => later(20) })
  const running = start(app, asha)
  await smtp.received(6)
  await ask(app, asha, mailCalls.remove)
  const atRemoval = smtp.mails.length
  await running
  expect(smtp.mails.length - atRemoval).toBeLessThanOrEqual(2)
  expect(await newestRun(app, asha)).toMatchObject({ held: 30 - smtp.mails.length, holdReason: 'not_configured' })
})

test('a changed sender renders pending emails again, under a new Message-ID', async () => {
  await using other = await openFakeSmtp({ login: { user: 'accounts@asha.example', pass: 'app-password' } })
  await using office = await anOffice({ now: morning, invoices: 1 })
  const { app, asha, smtp } = office
  const seen: (string | null)[] = []
  smtp.answer({
    dot: (mail) => {
      seen.push(mail.messageId)
      return '451 4.3.0 Try later'
    },
  })
  await start(app, asha)
  await aMailbox(app, asha, other)
  app.clock.advance({ minutes: 10 })
  await app.runJobs()
  expect(other.mails.length).toBe(1)
  expect(other.mails[0]?.envelope.from).toBe('accounts@asha.example')
  expect(other.mails[0]?.messageId).not.toBe(seen[0])
})

test('an amount corrected between two tries is in the email', async () => {
  await using office = await anOffice({ now: morning, invoices: 1 })
  const { app, asha, invoices, smtp } = office
  smtp.answer({ rcpt: () => '450 4.2.0 Try later' })
  await start(app, asha)
  smtp.answer({})
  app.clock.advance({ minutes: 1 })
  await ask(app, asha, invoiceCalls.update, { params: { id: invoices[0]?._id ?? '' }, body: { amount: 77.5 } })
  app.clock.advance({ minutes: 10 })
  await app.runJobs()
  expect(smtp.mails.length).toBe(1)
  expect((await readEmail(smtp.mails[0]?.raw)).text).toContain('77.50')
})

/** Asha's own words about one invoice, in the language of a client. */
const ownWords = (app: TestApp, asha: Person, words: string, language = 'en') =>
  ask(app, asha, templateCalls.save, {
    query: { language },
    body: { useCustomTemplate: true, customSubject: words, customContent: `${words} {{clientName}}` },
  })

test('a template corrected between two tries is in the email, also in the one that Send Now pulls forward', async () => {
  await using office = await anOffice({ now: morning, invoices: 2 })
  const { app, asha, invoices, smtp } = office
  smtp.answer({ rcpt: () => '450 4.2.0 Try later' })
  await start(app, asha)
  smtp.answer({})
  app.clock.advance({ minutes: 1 })
  await ownWords(app, asha, 'Wrong')
  await ownWords(app, asha, 'Corrected')
  const body = { invoiceIds: [invoices[0]?._id ?? ''] }
  expect((await ask(app, asha, reminderCalls.draft, { body })).reply.email?.subject).toBe('Corrected')
  await app.whileJobsRun(ask(app, asha, reminderCalls.sendNow, { body }))
  expect(smtp.mails.map(({ subject }) => subject)).toEqual(['Corrected'])
  app.clock.advance({ minutes: 20 })
  await app.runJobs()
  expect(smtp.mails.map(({ subject }) => subject)).toEqual(['Corrected', 'Corrected'])
})

test('a business that is named otherwise between two tries has its new name in the email', async () => {
  await using office = await anOffice({ now: morning, invoices: 1 })
  const { app, asha, smtp } = office
  const seen: Buffer[] = []
  smtp.answer({
    dot(mail, nth) {
      seen.push(mail.raw)
      return nth <= 2 ? '451 4.7.1 Greylisted' : undefined
    },
  })
  await start(app, asha)
  app.clock.advance({ minutes: 1 })
  await ask(app, asha, accountCalls.changeProfile, { body: { displayName: 'Asha Iyer' } })
  app.clock.advance({ minutes: 10 })
  await app.runJobs()
  await ask(app, asha, businessCalls.change, { body: { name: 'Banyan Traders' } })
  app.clock.advance({ minutes: 20 })
  await app.runJobs()
  const sent = await Promise.all(seen.map((raw) => readEmail(raw)))
  expect(sent.map(({ from, subject }) => [from?.name, subject?.split(':')[0]])).toEqual(
    ['Asha Rao', 'Asha Iyer', 'Banyan Traders'].map((name) => [name, `Invoice INV-0001 from ${name}`]),
  )
})

test.each([
  ['that has words of its own', { content: 'Dear {{clientName}}', subject: 'About your invoice' }, ''],
  ['in another language', undefined, 'hi'],
])('an email %s keeps its bytes where the template is changed between two tries', async (_which, written, language) => {
  await using office = await anOffice({ now: morning, invoices: 1 })
  const { app, asha, invoices, smtp } = office
  await ownWords(app, asha, 'Before', language || 'en')
  const seen: Buffer[] = []
  smtp.answer({
    dot(mail, nth) {
      seen.push(mail.raw)
      return nth === 1 ? '451 4.7.1 Greylisted' : undefined
    },
  })
  await app.whileJobsRun(ask(app, asha, reminderCalls.sendNow, { body: { invoiceIds: [invoices[0]?._id ?? ''], ...written } }))
  await ownWords(app, asha, 'After', language || 'en')
  app.clock.advance({ minutes: 10 })
  await app.runJobs()
  expect(seen).toHaveLength(2)
  expect(seen[1]?.equals(seen[0] ?? Buffer.alloc(0))).toBe(true)
})

test('an address corrected between two tries receives the email', async () => {
  await using office = await anOffice({ now: morning, invoices: 1 })
  const { app, asha, invoices, smtp } = office
  smtp.answer({ rcpt: () => '450 4.2.0 Try later' })
  await start(app, asha)
  smtp.answer({})
  app.clock.advance({ minutes: 1 })
  await ask(app, asha, invoiceCalls.update, { params: { id: invoices[0]?._id ?? '' }, body: { clientEmail: 'right@example.com' } })
  app.clock.advance({ minutes: 10 })
  await app.runJobs()
  expect(smtp.mails[0]?.envelope.to).toEqual(['right@example.com'])
  expect(smtp.mails[0]?.raw.toString()).toContain('right@example.com')
})

test('an email whose sender process died is sent again, byte for byte, under its first Message-ID', async () => {
  await using office = await anOffice({ now: morning, invoices: 1 })
  const { app, asha, smtp } = office
  await start(app, asha)
  // The state after a kill between the server's 250 and the record.
  await app.db.execute(
    sql`UPDATE deliveries SET state = 'sending', claimed_by = ${newId()}::uuid, claim = ${newId()}::uuid, sent_at = NULL`,
  )
  await app.db.execute(sql`UPDATE delivery_invoices SET open = true`)
  expect(await reclaimAll(app.deps)).toBe(1)
  await app.runJobs()
  expect(smtp.mails.length).toBe(2)
  expect(smtp.mails[1]?.raw.equals(smtp.mails[0]?.raw ?? Buffer.alloc(0))).toBe(true)
  expect(smtp.mails[1]?.messageId).toBe(smtp.mails[0]?.messageId)
})

test('a claim whose answer was lost is reclaimed, and its email is sent once', async () => {
  await using office = await anOffice({ now: morning, invoices: 1 })
  const { app, asha, smtp } = office
  smtp.answer({ mail: (_from, nth) => (nth === 1 ? '451 4.3.0 Later' : undefined) })
  await start(app, asha)
  app.clock.advance({ minutes: 7 })
  // The state after a lost connection to the database that swallowed the answer to the claim: this process lives and does not know of it.
  await app.db.execute(sql`UPDATE deliveries SET state = 'sending', claimed_by = ${app.deps.processId}::uuid, claim = ${newId()}::uuid`)
  await app.runJobs()
  expect(smtp.mails.length).toBe(1)
  expect(await newestRun(app, asha)).toMatchObject({ sent: 1, open: 0 })
})

test('a connection that breaks after the final dot is retried with the same bytes', async () => {
  await using office = await anOffice({ now: morning, invoices: 1 })
  const { app, asha, smtp } = office
  smtp.answer({ dot: (_mail, nth) => (nth === 1 ? reset : undefined) })
  expect((await start(app, asha)).reply).toMatchObject({ count: 0, retrying: 1 })
  app.clock.advance({ minutes: 7 })
  await app.runJobs()
  expect(smtp.mails.length).toBe(2)
  expect(smtp.mails[1]?.raw.equals(smtp.mails[0]?.raw ?? Buffer.alloc(0))).toBe(true)
  expect(await newestRun(app, asha)).toMatchObject({ sent: 1, open: 0 })
})

test('a stale worker cannot overwrite a newer result', async () => {
  await using office = await anOffice({ now: morning, invoices: 1 })
  const { app, asha, invoices, smtp } = office
  const takenOver = Promise.withResolvers<void>()
  smtp.answer({ dot: () => later(takenOver.promise, '550 5.7.1 Spam') })
  const running = start(app, asha).catch(() => undefined)
  await until(() => smtp.commands.includes('DATA'))
  // Another process has taken the email over, sent it, and recorded it.
  await app.db.execute(sql`UPDATE deliveries SET state = 'sent', sent_at = now(), claim = ${newId()}::uuid`)
  await app.db.execute(sql`UPDATE delivery_invoices SET open = false`)
  takenOver.resolve()
  await running
  const [delivery] = await app.db.select().from(deliveries).where(eq(deliveries.ownerId, asha.id))
  expect(delivery?.state).toBe('sent')
  const { remindersSent } = (await ask(app, asha, invoiceCalls.read, { params: { id: invoices[0]?._id ?? '' } })).reply
  expect(remindersSent).toBe(0)
})

test('an invoice has at most one open email, also with concurrent runs', async () => {
  await using office = await anOffice({ now: morning, invoices: 1 })
  const { app, asha, invoices, smtp } = office
  smtp.answer({ rcpt: () => '450 4.2.0 Try later' })
  await start(app, asha)
  const another = sql`INSERT INTO delivery_invoices (owner_id, delivery_id, invoice_id, open) SELECT owner_id, id, ${invoices[0]?._id ?? ''}::uuid, true FROM deliveries`
  await expect(app.db.execute(sql`UPDATE deliveries SET id = id`)).resolves.toBeDefined()
  await expect(app.db.execute(another)).rejects.toThrow()
})

test('deleting the account in the middle of a run leaves no rows and sends at most what is in flight', async () => {
  await using office = await anOffice({ now: morning, invoices: 30 })
  const { app, asha, smtp } = office
  smtp.answer({ dot: () => later(20) })
  const running = start(app, asha)
  await smtp.received(6)
  expect((await ask(app, asha, accountCalls.deleteMe)).status).toBe(204)
  const atDeletion = smtp.mails.length
  await running
  await app.runJobs()
  expect(smtp.mails.length - atDeletion).toBeLessThanOrEqual(2)
  expect(await app.db.select().from(deliveries)).toEqual([])
})

/** Lets other work proceed until a condition is met. */
async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await new Promise((resolve) => setImmediate(resolve))
}

test('an email that the old mailbox refuses is sent by a new one that was connected meanwhile', async () => {
  await using office = await anOffice({ now: morning, invoices: 1 })
  await using smtp = await openFakeSmtp()
  const { app, asha, smtp: old } = office
  let connected: Promise<unknown> | undefined
  old.answer({
    mail() {
      connected = aMailbox(app, asha, smtp)
      return later(connected, '550 5.4.5 Daily user sending limit exceeded')
    },
  })
  expect((await start(app, asha)).reply).toMatchObject({ count: 1, failed: 0 })
  await connected
  expect([old.mails.length, smtp.mails.length]).toEqual([0, 1])
})

test('an email held at the moment when its reason ends is found and sent', async () => {
  await using office = await anOffice({ now: morning })
  const { app, asha, smtp } = office
  await anInvoice(app, { owner: asha })
  smtp.answer({ mail: () => '451 4.3.0 Later' })
  await start(app, asha)
  smtp.answer({})
  await app.db.execute(sql`UPDATE deliveries SET state = 'held', reason = 'not_configured'`)
  await app.runJobs()
  expect(smtp.mails.length).toBe(1)
})

test('idle connections of a mailbox are closed, so that another process may open as many', async () => {
  await using office = await anOffice({ now: morning, invoices: 6 })
  const { app, asha, smtp } = office
  await start(app, asha)
  await expect.poll(() => smtp.connections.open).toBe(0)
  expect(smtp.connections.most).toBeLessThanOrEqual(2)
})

test('after the machine sleeps, a process does not take over another one’s emails', async () => {
  await using office = await anOffice({ now: '2026-03-02T06:30:00Z', invoices: 1 })
  const { app, asha, smtp } = office
  smtp.answer({ mail: () => '451 4.3.0 Later' })
  await app.whileJobsRun(ask(app, asha, reminderCalls.sendNow))
  const other = newId()
  await beat(app.db, other)
  await app.db.execute(sql`UPDATE deliveries SET claimed_by = ${other}::uuid`)
  await app.db.execute(sql`UPDATE processes SET heartbeat_at = now() - interval '30 minutes', steady_since = now() - interval '1 hour'`)
  expect(await reclaimDead(app.deps)).toBe(0)
  await beat(app.db, app.deps.processId)
  expect(await reclaimDead(app.deps)).toBe(0)
  await app.db.execute(sql`UPDATE processes SET steady_since = now() - interval '1 hour' WHERE id = ${app.deps.processId}::uuid`)
  expect(await reclaimDead(app.deps)).toBe(1)
})
