// Also on PostgreSQL: held deliveries are claimed again.
import { eq, sql } from 'drizzle-orm'
import { expect, test } from 'vitest'
import { accountCalls } from '#contract/accounts.ts'
import { clientCalls } from '#contract/clients.ts'
import { integrationCalls } from '#contract/integrations.ts'
import { invoiceCalls } from '#contract/invoices.ts'
import { mailCalls } from '#contract/mail.ts'
import { noticeCalls } from '#contract/notices.ts'
import { quietDayCalls } from '#contract/quiet-days.ts'
import { newStep } from '#contract/ready-sequences.ts'
import { reminderCalls } from '#contract/reminders.ts'
import { writeLink } from '#server/accounts/links.ts'
import { accounts, people } from '#server/accounts/tables.ts'
import { invoices } from '#server/invoices/tables.ts'
import { newToken } from '#server/platform/secrets.ts'
import { openBusiness, pageOf, pass, start } from '#test/business.ts'
import { aMailbox, anInvoice, anOffice, aPerson, aSequence, changePerson, type Person, signedInAgain } from '#test/factories.ts'
import { type FakeSmtp, openFakeSmtp } from '#test/fakes/smtp-server.ts'
import { ask, type TestApp } from '#test/harness.ts'
import { readEmail } from '#test/read-email.ts'
import { buyOnce, openShop, type Shop } from '#test/shop.ts'
import { holdAccount, holdRestored, releaseAccount } from './holds.ts'
import { deliverJob } from './jobs.ts'
import { runs } from './tables.ts'

const statesOf = async (app: TestApp) =>
  ((await app.db.execute(sql`SELECT state, reason FROM deliveries ORDER BY id`)) as { rows: { state: string; reason: string | null }[] })
    .rows

/** A new account where plans are sold, with a mailbox and active reminders. */
async function someoneInTrial({ app }: Shop, smtp: FakeSmtp): Promise<Person> {
  const asha = await aPerson(app)
  await aMailbox(app, asha, smtp)
  await app.whileJobsRun(ask(app, asha, reminderCalls.start))
  return asha
}

test('after a restore from a backup, pending emails are sent only with the approval of their owner', async () => {
  await using office = await anOffice({ now: '2026-03-02T06:30:00Z' })
  const { app, asha, smtp } = office
  smtp.answer({ mail: () => '451 4.3.0 Later' })
  await anInvoice(app, { owner: asha })
  await app.whileJobsRun(ask(app, asha, reminderCalls.start))
  const [run] = (await ask(app, asha, reminderCalls.runs, { query: {} })).reply
  smtp.answer({})

  expect(await holdRestored(app.db, app.clock.now())).toBe(1)
  app.clock.set('2026-03-02T09:30:00Z')
  await app.runJobs()
  expect(smtp.mails).toEqual([])
  const held = (await ask(app, asha, reminderCalls.run, { params: { id: run?._id ?? '' } })).reply
  expect(held).toMatchObject({ held: 1, holdReason: 'restored' })
  expect((await ask(app, asha, reminderCalls.preview, { query: {} })).reply.lines).toMatchObject([
    { reason: 'open_mail', heldFor: 'restored', nextAt: null },
  ])

  await app.whileJobsRun(ask(app, asha, reminderCalls.retryRun, { params: { id: run?._id ?? '' } }))
  expect(smtp.mails.length).toBe(1)
  expect(await statesOf(app)).toEqual([{ state: 'sent', reason: null }])
})

const restore = (app: TestApp) => app.db.transaction((tx) => holdRestored(tx, app.clock.now()))

test('a step that was due by the time of a restore is sent with approval only, day after day; that of a later invoice leaves', async () => {
  await using office = await anOffice({ now: '2026-03-02T02:00:00Z' })
  const { app, asha, smtp } = office
  const steps = [newStep(7, 'friendly'), newStep(9, 'firm')]
  await aSequence(app, asha, { name: 'Ours', everyDays: null, atMost: null, atLeast: 1, steps })
  await ask(app, asha, reminderCalls.changeSettings, { body: { holdMinutes: 30 } })
  await app.db
    .update(accounts)
    .set({ remindersActive: true, nextRunAt: Temporal.Instant.from('2026-03-02T03:30:00Z'), nextRunFrom: '2026-03-02' })
    .where(eq(accounts.id, asha.id))
  await anInvoice(app, { owner: asha, dueDate: '2026-02-23', clientEmail: 'client@example.com' })
  const at = async (instant: string) => {
    app.clock.set(instant)
    await app.runJobs()
  }
  // One email waits in the backup; the step of another invoice may have left since.
  await at('2026-03-02T03:30:00Z')
  await anInvoice(app, { owner: asha, dueDate: '2026-02-23', clientEmail: 'second@example.com' })
  app.clock.set('2026-03-02T06:30:00Z')
  await restore(app)
  await anInvoice(app, { owner: asha, dueDate: '2026-02-22', clientEmail: 'new@example.com' })
  await at('2026-03-02T12:31:00Z')
  await at('2026-03-03T03:30:00Z')
  await at('2026-03-03T04:00:00Z')
  const to = () => smtp.mails.map(({ envelope }) => envelope.to[0])
  expect(to()).toEqual(['new@example.com'])
  expect((await ask(app, asha, noticeCalls.list)).reply.filter(({ kind }) => kind === 'restored')).toHaveLength(1)
  const [run] = (await ask(app, asha, reminderCalls.runs, { query: {} })).reply
  expect(run).toMatchObject({ held: 2, holdReason: 'restored' })
  await at('2026-03-04T03:30:00Z')
  await at('2026-03-04T04:00:00Z')
  expect(to()).toEqual(['new@example.com'])
  const [next] = (await ask(app, asha, reminderCalls.runs, { query: {} })).reply
  await app.whileJobsRun(ask(app, asha, reminderCalls.retryRun, { params: { id: next?._id ?? '' } }))
  expect(to().slice(1).toSorted()).toEqual(['client@example.com', 'second@example.com'])
})

test('a run that was still being planned at the backup sends with approval only', async () => {
  await using office = await anOffice({ now: '2026-03-02T02:00:00Z', invoices: 2 })
  const { app, asha, smtp } = office
  await app.db
    .update(accounts)
    .set({ remindersActive: true, nextRunAt: Temporal.Instant.from('2026-03-02T03:30:00Z'), nextRunFrom: '2026-03-02' })
    .where(eq(accounts.id, asha.id))
  await app.db.insert(runs).values({
    ownerId: asha.id,
    kind: 'daily',
    localDate: '2026-03-02',
    createdAt: Temporal.Instant.from('2026-03-02T03:30:00Z'),
    deadlineAt: Temporal.Instant.from('2026-03-02T12:30:00Z'),
  })
  app.clock.set('2026-03-02T07:30:00Z')
  await restore(app)
  await app.deps.queue.send(app.db, deliverJob, { ownerId: asha.id })
  await app.runJobs()
  expect(await statesOf(app)).toEqual(Array(2).fill({ state: 'held', reason: 'restored' }))
  expect(smtp.mails).toEqual([])
})

test('a run whose hour had passed at a restore is not caught up, and the next day runs as usual', async () => {
  await using office = await anOffice({ now: '2026-03-02T02:00:00Z' })
  const { app, asha, smtp } = office
  await app.whileJobsRun(ask(app, asha, reminderCalls.start))
  await anInvoice(app, { owner: asha })
  app.clock.set('2026-03-02T05:00:00Z')
  await holdRestored(app.db, app.clock.now())
  await app.runJobs()
  expect(smtp.mails).toEqual([])
  const [skipped] = (await ask(app, asha, reminderCalls.runs, { query: {} })).reply
  expect(skipped).toMatchObject({ localDate: '2026-03-02', skippedReason: expect.stringContaining('restored from a backup') })
  app.clock.set('2026-03-03T03:30:00Z')
  await app.runJobs()
  expect(smtp.mails.length).toBe(1)
})

test('connecting a mailbox again sends nothing that is held since a restore', async () => {
  await using office = await anOffice({ now: '2026-03-02T06:30:00Z' })
  const { app, asha, smtp } = office
  smtp.answer({ mail: () => '451 4.3.0 Later' })
  await anInvoice(app, { owner: asha })
  await app.whileJobsRun(ask(app, asha, reminderCalls.start))
  smtp.answer({})
  await holdRestored(app.db, app.clock.now())
  const mailbox = { host: smtp.host, port: smtp.port, secure: smtp.tls === 'ssl', ...smtp.login }
  expect((await ask(app, asha, mailCalls.configureSmtp, { body: mailbox })).status).toBe(200)
  await app.runJobs()
  expect(smtp.mails).toEqual([])
  expect(await statesOf(app)).toEqual([{ state: 'held', reason: 'restored' }])
})

test('on Free after the trial the daily run is held and says so, Send Now works, and buying Pro resumes it the same day', async () => {
  await using smtp = await openFakeSmtp()
  await using shop = await openShop({ now: '2026-03-02T02:00:00Z' })
  const asha = await someoneInTrial(shop, smtp)
  const { app } = shop
  const now = () => signedInAgain(app, asha)
  await anInvoice(app, { owner: asha })
  await anInvoice(app, { owner: asha, clientEmail: 'accounts@banyan.example' })
  app.clock.set('2026-03-20T03:30:00Z')
  await app.runJobs()
  expect(smtp.mails).toEqual([])
  const [held] = (await ask(app, await now(), reminderCalls.runs, { query: {} })).reply
  expect(held).toMatchObject({ kind: 'daily', localDate: '2026-03-20', held: 2, holdReason: 'plan' })
  expect((await ask(app, await now(), reminderCalls.status)).reply.isActive).toBe(true)
  expect((await ask(app, await now(), reminderCalls.start)).problem).toMatchObject({
    code: 'plan_limit',
    message: expect.stringContaining('Pro'),
  })

  app.clock.set('2026-03-20T04:00:00Z')
  await buyOnce(shop, await now(), 'pro')
  await shop.settle()
  expect(smtp.mails.length).toBe(2)
})

test('steps of a sequence are held without a plan that has them, and the latest one leaves on the day it is bought', async () => {
  await using smtp = await openFakeSmtp()
  await using shop = await openShop({ now: '2026-03-02T02:00:00Z' })
  const asha = await someoneInTrial(shop, smtp)
  const { app } = shop
  const ours = { name: 'Ours', everyDays: null, atMost: null, atLeast: 1 }
  await aSequence(app, asha, { ...ours, steps: [newStep(1, 'friendly'), newStep(7, 'firm'), newStep(14, 'final')] })
  const { _id: id } = await anInvoice(app, { owner: asha, dueDate: '2026-03-10' })
  for (const at of ['2026-03-11T03:30:00Z', '2026-03-17T03:30:00Z', '2026-03-17T12:31:00Z', '2026-03-24T03:30:00Z']) {
    app.clock.set(at)
    await app.runJobs()
  }
  expect(smtp.mails).toHaveLength(1)
  app.clock.set('2026-03-24T04:00:00Z')
  await buyOnce(shop, await signedInAgain(app, asha), 'pro')
  await shop.settle()
  const subjects = await Promise.all(smtp.mails.map(async ({ raw }) => (await readEmail(raw)).subject))
  expect(subjects.slice(1)).toEqual(['Final reminder: invoice INV-0001'])
  const [row] = await app.db.select().from(invoices).where(eq(invoices.id, id))
  expect(row).toMatchObject({ remindedThrough: '2026-03-24', stepsSent: 2 })
})

// Row 23.
test('a plan that ends with everything in use keeps each setting and holds what waits; bought back that day, it leaves at its hour', async () => {
  await using smtp = await openFakeSmtp()
  await using shop = await openShop({ now: '2026-03-02T02:00:00Z' })
  const asha = await someoneInTrial(shop, smtp)
  const { app } = shop
  const ours = { name: 'Ours', everyDays: null, atMost: null, atLeast: 1 }
  await aSequence(app, asha, { ...ours, steps: [newStep(1, 'friendly'), newStep(7, 'firm')] })
  const body = { quietWeekends: true, quietHolidays: true, smart: true, holdMinutes: 30 } as const
  expect((await ask(app, asha, reminderCalls.changeSettings, { body })).status).toBe(200)
  await ask(app, asha, quietDayCalls.replaceOwnDays, { body: { days: [{ date: '2026-03-25', name: 'Stocktaking', open: false }] } })
  await anInvoice(app, { owner: asha, dueDate: '2026-03-19', clientEmail: 'home@example.com' })
  await anInvoice(app, { owner: asha, dueDate: '2026-03-19', clientEmail: 'london@example.com' })
  const away = (await ask(app, asha, clientCalls.list)).reply.find(({ email }) => email === 'london@example.com')
  await ask(app, asha, clientCalls.update, { params: { id: away?._id ?? '' }, body: { timezone: 'Europe/London' } })
  const chosen = async () => (await ask(app, await signedInAgain(app, asha), reminderCalls.settings)).reply
  const before = await chosen()

  app.clock.set('2026-03-20T03:30:00Z')
  await app.runJobs()
  expect(await statesOf(app)).toEqual(Array(2).fill({ state: 'held', reason: 'plan' }))
  expect(await chosen()).toEqual(before)
  app.clock.set('2026-03-20T03:40:00Z')
  await buyOnce(shop, await signedInAgain(app, asha), 'pro')
  const sent: string[] = []
  for (const at of ['2026-03-20T03:40:00Z', '2026-03-20T04:00:00Z', '2026-03-20T08:59:00Z', '2026-03-20T09:00:00Z']) {
    app.clock.set(at)
    await shop.settle()
    await app.runJobs()
    sent.push(`${at.slice(11, 16)} ${smtp.mails.map(({ envelope }) => envelope.to[0]).join(' ')}`.trim())
  }
  const home = 'home@example.com'
  expect(sent).toEqual(['03:40', `04:00 ${home}`, `08:59 ${home}`, `09:00 ${home} london@example.com`])
  expect(await chosen()).toEqual(before)
})

test('Send Now still sends, once, what the plan holds', async () => {
  await using smtp = await openFakeSmtp()
  await using shop = await openShop({ now: '2026-03-02T02:00:00Z' })
  const asha = await someoneInTrial(shop, smtp)
  const { app } = shop
  await anInvoice(app, { owner: asha })
  app.clock.set('2026-03-20T03:30:00Z')
  await app.runJobs()
  await app.whileJobsRun(ask(app, await signedInAgain(app, asha), reminderCalls.sendNow))
  expect(smtp.mails.length).toBe(1)
  app.clock.set('2026-03-20T12:31:00Z')
  await app.runJobs()
  expect(smtp.mails.length).toBe(1)
})

test('what the plan held until 18:00 ends for the day with its reason', async () => {
  await using smtp = await openFakeSmtp()
  await using shop = await openShop({ now: '2026-03-02T02:00:00Z' })
  const asha = await someoneInTrial(shop, smtp)
  const { app } = shop
  const invoice = await anInvoice(app, { owner: asha })
  app.clock.set('2026-03-20T03:30:00Z')
  await app.runJobs()
  app.clock.set('2026-03-20T12:31:00Z')
  await app.runJobs()
  const { reply } = await ask(app, await signedInAgain(app, asha), reminderCalls.history, { params: { id: invoice._id } })
  expect(reply).toMatchObject({ reason: 'plan', nextAt: null })
  expect(reply.days.find(({ date }) => date === '2026-03-20')?.words).toBe('Not sent: the plan had no daily reminders that day.')
})

test('an account on hold keeps its emails until the operator releases it, and its owner sees why', async () => {
  await using office = await anOffice({ now: '2026-03-02T06:30:00Z', invoices: 1 })
  const { app, asha, invoices, smtp } = office
  smtp.answer({ mail: () => '451 4.3.0 Later' })
  await app.whileJobsRun(ask(app, asha, reminderCalls.start))
  smtp.answer({})
  expect(await holdAccount(app.db, asha.email.toUpperCase(), app.clock.now())).toBe(1)
  await anInvoice(app, { owner: asha })
  await app.whileJobsRun(ask(app, asha, reminderCalls.sendNow))
  app.clock.advance({ minutes: 30 })
  await app.runJobs()
  expect(smtp.mails).toEqual([])
  expect(await statesOf(app)).toEqual([
    { state: 'held', reason: 'operator' },
    { state: 'held', reason: 'operator' },
  ])
  expect((await ask(app, asha, reminderCalls.status)).reply.reason).toBe('operator')
  const history = (await ask(app, asha, reminderCalls.history, { params: { id: invoices[0]?._id ?? '' } })).reply
  expect(history.days[0]?.words).toContain('on hold by the operator of this server')

  expect(await releaseAccount(app.db, asha.email, app.clock.now())).toBe(2)
  await app.runJobs()
  expect(smtp.mails.length).toBe(2)
  expect((await ask(app, asha, reminderCalls.status)).reply.reason).toBeNull()
})

test('an email of an account on hold fails at its deadline with a sentence', async () => {
  await using office = await anOffice({ now: '2026-03-02T06:30:00Z', invoices: 1 })
  const { app, asha, smtp } = office
  await holdAccount(app.db, asha.email, app.clock.now())
  await app.whileJobsRun(ask(app, asha, reminderCalls.sendNow))
  app.clock.advance({ hours: 5 })
  await app.runJobs()
  const [run] = (await ask(app, asha, reminderCalls.runs, { query: {} })).reply
  expect(run?.failures).toMatchObject([{ message: 'Not sent: sending was on hold by the operator of this server that day.' }])
  expect(smtp.mails).toEqual([])
  await expect(holdAccount(app.db, 'nobody@example.com', app.clock.now())).rejects.toThrow('There is no account')
})

const sendsLinks = { systemSmtpUrl: 'smtp://127.0.0.1:1', systemMailFrom: 'hello@duely.example' }

test('the daily run of an account whose email is not confirmed is held and says so, and leaves once it is confirmed', async () => {
  await using office = await anOffice({ now: '2026-03-02T02:00:00Z', invoices: 2, config: sendsLinks })
  const { app, asha, smtp } = office
  await app.whileJobsRun(ask(app, asha, reminderCalls.start))
  expect(smtp.mails.length).toBe(2)
  // As it was before a confirmed email was needed.
  await changePerson(app, asha, { emailVerifiedAt: null })
  app.clock.set('2026-03-03T03:30:00Z')
  await app.runJobs()
  expect(smtp.mails.length).toBe(2)
  const [held] = (await ask(app, asha, reminderCalls.runs, { query: {} })).reply
  expect(held).toMatchObject({ kind: 'daily', localDate: '2026-03-03', held: 2, holdReason: 'email_not_confirmed' })
  expect((await ask(app, asha, reminderCalls.status)).reply).toMatchObject({ isActive: true, reason: 'email_not_confirmed' })
  const history = () => ask(app, asha, reminderCalls.history, { params: { id: office.invoices[0]?._id ?? '' } })
  expect((await history()).reply.days[0]).toMatchObject({ date: '2026-03-03', outcome: 'held', words: 'Waiting: confirm your email.' })

  app.clock.set('2026-03-03T04:30:00Z')
  const token = newToken()
  await writeLink(app.db, { token, email: asha.email, purpose: 'confirm_email', now: app.clock.now() }, eq(people.id, asha.personId))
  expect((await ask(app, asha, accountCalls.confirmEmail, { body: { token } })).status).toBe(200)
  await app.runJobs()
  expect(smtp.mails.length).toBe(4)
})

test('what waited for a confirmed email until 18:00 ends for the day with its reason', async () => {
  await using office = await anOffice({ now: '2026-03-02T02:00:00Z', invoices: 1, config: sendsLinks })
  const { app, asha } = office
  await app.whileJobsRun(ask(app, asha, reminderCalls.start))
  await changePerson(app, asha, { emailVerifiedAt: null })
  for (const at of ['2026-03-03T03:30:00Z', '2026-03-03T12:31:00Z']) {
    app.clock.set(at)
    await app.runJobs()
  }
  const { reply } = await ask(app, asha, reminderCalls.history, { params: { id: office.invoices[0]?._id ?? '' } })
  expect(reply.reason).toBe('email_not_confirmed')
  expect(reply.days[0]).toMatchObject({ date: '2026-03-03', words: 'Not sent: your email was not confirmed that day.' })
})

test('before the email is confirmed nothing is started or sent, except a test email', async () => {
  await using office = await anOffice({ now: '2026-03-02T06:30:00Z', person: { confirmed: false }, invoices: 1, config: sendsLinks })
  const { app, asha, smtp } = office
  for (const call of [reminderCalls.start, reminderCalls.sendNow, integrationCalls.trigger]) {
    const { status, problem } = await ask(app, asha, call)
    expect([status, problem]).toEqual([403, { code: 'email_not_confirmed', message: 'Confirm your email to start sending.' }])
  }
  expect((await ask(app, asha, mailCalls.test)).status).toBe(200)
  expect(smtp.mails.map(({ envelope }) => envelope.to)).toEqual([[asha.email]])
})

test('an email waits while its client is paying, is closed by the payment, and resumes without one', async () => {
  await using smtp = await openFakeSmtp()
  await using business = await openBusiness()
  const { app, razorpay, asha } = business
  await aMailbox(app, asha, smtp)
  const [paid, given] = [await anInvoice(app, { owner: asha }), await anInvoice(app, { owner: asha, clientEmail: 'other@mills.example' })]
  const link = await start(business, await pageOf(business, paid._id))
  const other = await start(business, await pageOf(business, given._id))
  await app.whileJobsRun(ask(app, asha, reminderCalls.sendNow, { body: null }))
  expect(smtp.mails).toEqual([])
  const { reply: preview } = await ask(app, asha, reminderCalls.preview, { query: {} })
  expect(preview.lines.map(({ heldFor }) => heldFor)).toEqual(['paying', 'paying'])
  razorpay.provider.payLink(link)
  razorpay.provider.cancelLink(other)
  await pass(business, { seconds: 20 })
  expect((await ask(app, asha, invoiceCalls.read, { params: { id: paid._id } })).reply.status).toBe('paid')
  expect(smtp.mails.map(({ envelope }) => envelope.to)).toEqual([['other@mills.example']])
})

test('an email waits at most two hours for a client who is paying', async () => {
  await using smtp = await openFakeSmtp()
  await using business = await openBusiness()
  const { app, razorpay, asha } = business
  await aMailbox(app, asha, smtp)
  const { _id } = await anInvoice(app, { owner: asha })
  await start(business, await pageOf(business, _id))
  razorpay.answer(() => ({ status: 503, html: 'Away' }))
  await app.whileJobsRun(ask(app, asha, reminderCalls.sendNow, { body: null }))
  await pass(business, { minutes: 119 })
  expect(smtp.mails).toEqual([])
  await pass(business, { minutes: 1 })
  expect(smtp.mails).toHaveLength(1)
})

test('after a restore from a backup Razorpay is asked before any email leaves', async () => {
  await using smtp = await openFakeSmtp()
  await using business = await openBusiness()
  const { app, razorpay, asha } = business
  await aMailbox(app, asha, smtp)
  const { _id } = await anInvoice(app, { owner: asha })
  const link = await start(business, await pageOf(business, _id))
  razorpay.provider.payLink(link)
  app.clock.advance({ hours: 30 })
  await app.db.transaction((tx) => holdRestored(tx, app.clock.now()))
  await app.whileJobsRun(ask(app, asha, reminderCalls.sendNow, { body: null }))
  expect((await ask(app, asha, invoiceCalls.read, { params: { id: _id } })).reply.status).toBe('paid')
  expect(smtp.mails).toEqual([])
})

test('a client who begins to pay again and again holds no more than three times a day', async () => {
  await using smtp = await openFakeSmtp()
  await using business = await openBusiness()
  const { app, asha } = business
  await aMailbox(app, asha, smtp)
  const { _id } = await anInvoice(app, { owner: asha })
  const page = await pageOf(business, _id)
  for (const amount of [5000, 4000, 3000]) await start(business, page, amount, 5000)
  await app.whileJobsRun(ask(app, asha, reminderCalls.sendNow, { body: null }))
  expect(await statesOf(app)).toEqual([{ state: 'held', reason: 'paying' }])
  await start(business, page, 2000, 5000)
  await pass(business, { seconds: 20 })
  expect(smtp.mails).toHaveLength(1)
})
