// Also on PostgreSQL: one run per account and day, under the lock of the account.
import { eq, sql, TransactionRollbackError } from 'drizzle-orm'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { accountCalls } from '#contract/accounts.ts'
import { invoiceCalls } from '#contract/invoices.ts'
import { mailCalls } from '#contract/mail.ts'
import { reminderCalls } from '#contract/reminders.ts'
import { findAccount, lockAccount } from '#server/accounts/accounts.ts'
import { mailConfigs } from '#server/mail/tables.ts'
import { newId } from '#server/platform/columns.ts'
import { type Database, rows } from '#server/platform/database.ts'
import { aMailbox, anInvoice, anOffice, aPerson, type Person, signedInAgain } from '#test/factories.ts'
import { openFakeSmtp } from '#test/fakes/smtp-server.ts'
import { ask, openTestApp, type TestApp } from '#test/harness.ts'
import { readEmail } from '#test/read-email.ts'
import { thorough } from '#test/thorough.ts'
import { makeDueRuns } from './daily-runs.ts'
import { claim, close } from './deliveries.ts'
import { readPending } from './pending.ts'
import { answerOf } from './progress.ts'
import { previewReminders, reminderStatus } from './reminders.ts'
import { makeRun } from './runs.ts'
import { deliveries, runs } from './tables.ts'

const start = (app: TestApp, person: Person) => app.whileJobsRun(ask(app, person, reminderCalls.start))
const sendNow = (app: TestApp, person: Person) => app.whileJobsRun(ask(app, person, reminderCalls.sendNow))

test('Start reminds every client past due immediately, from the own mailbox, in an email that can be answered', async () => {
  await using office = await anOffice({ now: '2026-03-02T06:30:00Z', person: { displayName: 'Asha Rao' } })
  const { app, asha, smtp } = office
  await anInvoice(app, {
    owner: asha,
    clientName: 'Kaveri Foods',
    clientEmail: 'billing@kaveri.example',
    amount: 184200,
    dueDate: '2026-02-22',
  })

  const answered = await start(app, asha)

  expect(answered.reply).toMatchObject({ count: 1, failed: 0, skipped: 0, retrying: 0, total: 1, invoices: 1, failures: [] })
  const [received] = smtp.mails
  expect(received?.envelope).toEqual({ from: smtp.login.user, to: ['billing@kaveri.example'] })
  const mail = await readEmail(received?.raw ?? '')
  const header = (name: string) => mail.headers.find(({ key }) => key === name)?.value
  expect(mail.from).toEqual({ name: 'Asha Rao', address: smtp.login.user })
  expect(mail.to).toEqual([{ name: 'Kaveri Foods', address: 'billing@kaveri.example' }])
  expect(mail.subject).toBe('Invoice INV-0001 from Asha Rao: ₹1,84,200.00 was due on 22/02/2026')
  expect(mail.text).toContain('₹1,84,200.00\nInvoice INV-0001 from Asha Rao\nDue on 22/02/2026, 8 days overdue\n')
  expect(mail.html).toContain('font-size:26px;line-height:1.4">₹1,84,200.00</strong>')
  expect(header('auto-submitted')).toBe('auto-generated')
  expect(mail.messageId).toContain(header('x-reminder-id') ?? 'missing')
  expect(mail.date).toBe('2026-03-02T06:30:00.000Z')
})

test('a paid, deleted, or not yet due invoice is never reminded', async () => {
  await using office = await anOffice({ now: '2026-03-02T06:30:00Z' })
  const { app, asha, smtp } = office
  await anInvoice(app, { owner: asha, status: 'paid', dueDate: '2026-02-22' })
  await anInvoice(app, { owner: asha, status: 'unpaid', dueDate: '2026-03-02' })
  await anInvoice(app, { owner: asha, status: 'overdue', dueDate: '2026-03-20' })
  const gone = await anInvoice(app, { owner: asha, dueDate: '2026-02-22' })
  await ask(app, asha, invoiceCalls.remove, { params: { id: gone._id } })

  const answered = await start(app, asha)

  expect(answered.status).toBe(200)
  expect(answered.reply).toMatchObject({ count: 0, total: 0, runId: null })
  expect(smtp.mails).toEqual([])
})

test('past due is decided by the local date of the account', async () => {
  await using smtp = await openFakeSmtp()
  await using app = await openTestApp({ now: '2026-03-02T23:30:00Z' })
  const inIndia = await aPerson(app, { timezone: 'Asia/Kolkata' })
  const inNewYork = await aPerson(app, { timezone: 'America/New_York' })
  for (const person of [inIndia, inNewYork]) {
    await aMailbox(app, person, smtp)
    await anInvoice(app, { owner: person, dueDate: '2026-03-02' })
  }
  expect((await start(app, inIndia)).reply.count).toBe(1)
  expect((await start(app, inNewYork)).reply.count).toBe(0)
})

test('pressing Start twice sends nothing twice', async () => {
  await using office = await anOffice({ now: '2026-03-02T06:30:00Z' })
  const { app, asha, smtp } = office
  await anInvoice(app, { owner: asha })
  await anInvoice(app, { owner: asha })
  await start(app, asha)
  const again = await start(app, asha)
  expect(again.reply).toMatchObject({ count: 0, skipped: 2, total: 2 })
  expect(smtp.mails.length).toBe(2)
})

test('Start and Send Now need a mailbox first, and say so', async () => {
  await using app = await openTestApp()
  const asha = await aPerson(app)
  await anInvoice(app, { owner: asha })
  const started = await ask(app, asha, reminderCalls.start)
  expect(started).toMatchObject({
    status: 400,
    problem: { message: 'Please configure your email settings first before starting reminders.' },
  })
  const sent = await ask(app, asha, reminderCalls.sendNow)
  expect(sent).toMatchObject({ status: 400, problem: { message: 'Please configure your email settings first before sending reminders.' } })
  expect((await ask(app, asha, reminderCalls.status)).reply.isActive).toBe(false)
})

test('the daily run reminds every morning at nine, until the invoice is marked paid', async () => {
  await using office = await anOffice({ now: '2026-03-02T06:30:00Z' })
  const { app, asha, smtp } = office
  const invoice = await anInvoice(app, { owner: asha, dueDate: '2026-02-22' })
  await start(app, asha)
  expect((await ask(app, asha, reminderCalls.status)).reply.nextRunAt).toBe('2026-03-03T03:30:00Z')

  app.clock.set('2026-03-03T03:29:59Z')
  await app.runJobs()
  expect(smtp.mails.length).toBe(1)
  app.clock.set('2026-03-03T03:30:00Z')
  await app.runJobs()
  await app.runJobs()
  expect(smtp.mails.length).toBe(2)
  app.clock.set('2026-03-04T03:30:00Z')
  await app.runJobs()
  expect(smtp.mails.length).toBe(3)

  await ask(app, asha, invoiceCalls.update, { params: { id: invoice._id }, body: { status: 'paid' } })
  app.clock.set('2026-03-05T03:30:00Z')
  await app.runJobs()
  expect(smtp.mails.length).toBe(3)
})

test('a follow-up answers the last accepted reminder of its invoice and refers to the first, so that they are one thread', async () => {
  await using office = await anOffice({ now: '2026-03-02T06:30:00Z' })
  const { app, asha, smtp } = office
  await anInvoice(app, { owner: asha })
  await start(app, asha)
  app.clock.set('2026-03-03T03:30:00Z')
  await app.runJobs()
  app.clock.set('2026-03-04T03:30:00Z')
  await app.runJobs()
  const mails = await Promise.all(smtp.mails.map(({ raw }) => readEmail(raw)))
  expect(mails.length).toBe(3)
  expect(mails[0]?.inReplyTo).toBeUndefined()
  expect(mails[1]).toMatchObject({ inReplyTo: mails[0]?.messageId, references: mails[0]?.messageId })
  expect(mails[2]?.inReplyTo).toBe(mails[1]?.messageId)
  expect(new Set(mails.map(({ subject }) => subject)).size).toBe(1)
  expect(mails[2]?.references).toBe(`${mails[0]?.messageId} ${mails[1]?.messageId}`)
  expect(new Set(mails.map(({ messageId }) => messageId)).size).toBe(3)
})

test('an invoice reminded manually this morning is not reminded again at nine', async () => {
  await using office = await anOffice({ now: '2026-03-02T02:00:00Z' })
  const { app, asha, smtp } = office
  await anInvoice(app, { owner: asha })
  await start(app, asha)
  expect(smtp.mails.length).toBe(1)
  app.clock.set('2026-03-02T03:30:00Z')
  await app.runJobs()
  expect(smtp.mails.length).toBe(1)
  const runs = await ask(app, asha, reminderCalls.runs, { query: {} })
  expect(runs.reply[0]).toMatchObject({ kind: 'daily', localDate: '2026-03-02', total: 1, skipped: 1, sent: 0 })
})

test('many processes ticking at the same second make one run', async () => {
  await using office = await anOffice({ now: '2026-03-02T02:00:00Z' })
  const { app, asha, smtp } = office
  await start(app, asha)
  await anInvoice(app, { owner: asha })
  app.clock.set('2026-03-02T03:30:00Z')
  await Promise.all(Array.from({ length: 20 }, () => makeDueRuns(app.db, app.deps.queue, app.clock.now())))
  await app.runJobs()
  expect(smtp.mails.length).toBe(1)
  const runs = await ask(app, asha, reminderCalls.runs, { query: {} })
  expect(runs.reply.filter(({ kind }) => kind === 'daily').length).toBe(1)
})

test('a run missed by an outage is caught up on the same day, once', async () => {
  await using office = await anOffice({ now: '2026-03-02T02:00:00Z' })
  const { app, asha, smtp } = office
  await start(app, asha)
  await anInvoice(app, { owner: asha })
  app.clock.set('2026-03-02T05:30:00Z')
  await app.runJobs()
  await app.runJobs()
  expect(smtp.mails.length).toBe(1)
})

test('a day without a process is recorded as skipped, and its emails are not sent the day after', async () => {
  await using office = await anOffice({ now: '2026-03-02T02:00:00Z' })
  const { app, asha, smtp } = office
  await start(app, asha)
  await anInvoice(app, { owner: asha })
  app.clock.set('2026-03-02T12:30:00Z')
  await app.runJobs()
  expect(smtp.mails.length).toBe(0)
  app.clock.set('2026-03-04T03:00:00Z')
  await app.runJobs()
  expect(smtp.mails.length).toBe(0)
  app.clock.set('2026-03-04T03:30:00Z')
  await app.runJobs()
  expect(smtp.mails.length).toBe(1)
  const runs = await ask(app, asha, reminderCalls.runs, { query: {} })
  expect(runs.reply.map(({ kind, localDate, skippedReason }) => [kind, localDate, skippedReason !== null])).toEqual([
    ['daily', '2026-03-04', false],
    ['daily', '2026-03-03', true],
    ['daily', '2026-03-02', true],
  ])
})

test('a clock that jumps back makes no second run', async () => {
  await using office = await anOffice({ now: '2026-03-02T02:00:00Z' })
  const { app, asha, smtp } = office
  await start(app, asha)
  await anInvoice(app, { owner: asha })
  app.clock.set('2026-03-02T04:00:00Z')
  await app.runJobs()
  app.clock.set('2026-03-02T02:00:00Z')
  await app.runJobs()
  app.clock.set('2026-03-02T03:30:00Z')
  await app.runJobs()
  expect(smtp.mails.length).toBe(1)
})

test('Stop pauses the schedule and cancels what is pending', async () => {
  await using office = await anOffice({ now: '2026-03-02T06:30:00Z' })
  const { app, asha, smtp } = office
  await anInvoice(app, { owner: asha })
  smtp.answer({ rcpt: () => '450 4.2.0 Try later' })
  expect((await start(app, asha)).reply).toMatchObject({ count: 0, retrying: 1 })
  const stopped = await ask(app, asha, reminderCalls.stop)
  expect(stopped.reply).toEqual({ isActive: false, cancelled: 1 })
  smtp.answer({})
  app.clock.set('2026-03-02T08:00:00Z')
  await app.runJobs()
  app.clock.set('2026-03-03T03:30:00Z')
  await app.runJobs()
  expect(smtp.mails).toEqual([])
  expect((await ask(app, asha, reminderCalls.status)).reply).toMatchObject({ isActive: false, nextRunAt: null, openRunId: null })
  const [run] = (await ask(app, asha, reminderCalls.runs, { query: {} })).reply
  expect(run).toMatchObject({ kind: 'start', skipped: 1, open: 0, retrying: 0 })
})

test('Start after Stop reminds what was not reminded today', async () => {
  await using office = await anOffice({ now: '2026-03-02T06:30:00Z' })
  const { app, asha, smtp } = office
  await anInvoice(app, { owner: asha, clientEmail: 'one@kaveri.example' })
  await anInvoice(app, { owner: asha, clientEmail: 'two@kaveri.example' })
  smtp.answer({ rcpt: (to) => (to.startsWith('two') ? '450 4.2.0 Try later' : undefined) })
  await start(app, asha)
  await ask(app, asha, reminderCalls.stop)
  smtp.answer({})
  expect((await start(app, asha)).reply).toMatchObject({ count: 1, skipped: 1 })
  expect(smtp.mails.map(({ envelope }) => envelope.to[0])).toEqual(['one@kaveri.example', 'two@kaveri.example'])
})

test('Send Now sends up to three manual reminders a day, also for invoices already reminded', async () => {
  await using office = await anOffice({ now: '2026-03-02T06:30:00Z' })
  const { app, asha, smtp } = office
  await anInvoice(app, { owner: asha })
  await start(app, asha)
  for (const expected of [1, 1, 1, 0]) {
    app.clock.advance({ minutes: 2 })
    expect((await sendNow(app, asha)).reply).toMatchObject({ count: expected, total: 1, skipped: 1 - expected })
  }
  expect(smtp.mails.length).toBe(4)
  app.clock.set('2026-03-03T06:30:00Z')
  expect((await sendNow(app, asha)).reply.count).toBe(1)
  expect((await ask(app, asha, reminderCalls.status)).reply).toMatchObject({ isActive: true, lastReminderSent: '2026-03-03T06:30:00Z' })
})

test('the status shows why the daily run sends nothing, and when it does send', async () => {
  await using office = await anOffice({ now: '2026-03-02T06:30:00Z' })
  const { app, asha, smtp } = office
  await anInvoice(app, { owner: asha })
  const reason = async () => (await ask(app, asha, reminderCalls.status)).reply.reason
  expect(await reason()).toBe('schedule_inactive')
  await start(app, asha)
  expect(await reason()).toBeNull()
  const { login } = smtp
  smtp.login = { ...login, pass: 'changed at the provider' }
  app.clock.set('2026-03-03T06:30:00Z')
  await app.runJobs()
  expect(await reason()).toBe('sending_paused')
  await ask(app, asha, mailCalls.remove)
  expect(await reason()).toBe('not_configured')
  await ask(app, asha, reminderCalls.stop)
  expect(await reason()).toBe('schedule_inactive')
})

test('Send Now does not turn the schedule on', async () => {
  await using office = await anOffice({ now: '2026-03-02T06:30:00Z' })
  const { app, asha } = office
  await anInvoice(app, { owner: asha })
  await sendNow(app, asha)
  expect((await ask(app, asha, reminderCalls.status)).reply).toMatchObject({ isActive: false, nextRunAt: null })
})

test('twenty simultaneous presses of Send Now send one email per invoice', async () => {
  await using office = await anOffice({ now: '2026-03-02T06:30:00Z' })
  const { app, asha, smtp } = office
  await anInvoice(app, { owner: asha })
  await anInvoice(app, { owner: asha })
  const answers = await app.whileJobsRun(Promise.all(Array.from({ length: 20 }, () => ask(app, asha, reminderCalls.sendNow))))
  expect(smtp.mails.length).toBe(2)
  expect(new Set(answers.map(({ reply }) => reply.runId)).size).toBe(1)
  expect(answers.every(({ reply }) => reply.count === 2)).toBe(true)
})

test('Send Now pulls a pending email forward instead of adding one', async () => {
  await using office = await anOffice({ now: '2026-03-02T06:30:00Z' })
  const { app, asha, smtp } = office
  await anInvoice(app, { owner: asha })
  smtp.answer({ rcpt: (_to, offered) => (offered === 1 ? '450 4.2.0 Try later' : undefined) })
  expect((await start(app, asha)).reply).toMatchObject({ count: 0, retrying: 1 })
  app.clock.advance({ minutes: 1 })
  expect((await sendNow(app, asha)).reply).toMatchObject({ count: 1, retrying: 0, total: 1 })
  app.clock.advance({ hours: 1 })
  await app.runJobs()
  expect(smtp.mails.length).toBe(1)
})

test('a change of hour or zone moves the next run and repeats none', async () => {
  await using office = await anOffice({ now: '2026-03-02T02:00:00Z' })
  const { app, asha, smtp } = office
  await start(app, asha)
  await anInvoice(app, { owner: asha })
  await ask(app, asha, accountCalls.changeProfile, { body: { reminderHour: 11 } })
  app.clock.set('2026-03-02T03:31:00Z')
  await app.runJobs()
  expect(smtp.mails.length).toBe(0)
  app.clock.set('2026-03-02T05:30:00Z')
  await app.runJobs()
  expect(smtp.mails.length).toBe(1)
  await ask(app, asha, accountCalls.changeProfile, { body: { timezone: 'America/New_York' } })
  app.clock.set('2026-03-02T14:00:00Z')
  await app.runJobs()
  await ask(app, asha, accountCalls.changeProfile, { body: { reminderHour: 12 } })
  app.clock.set('2026-03-02T17:01:00Z')
  await app.runJobs()
  expect(smtp.mails.length).toBe(1)
  expect((await ask(app, asha, reminderCalls.status)).reply.nextRunAt).toBe('2026-03-03T17:00:00Z')
})

test('a zone that is tried and reverted loses no day, and a day lost by a move shows why', async () => {
  await using office = await anOffice({ now: '2026-03-02T13:00:00Z', person: { timezone: 'America/New_York' } })
  const { app, asha, smtp } = office
  const move = (timezone: string) => ask(app, asha, accountCalls.changeProfile, { body: { timezone } })
  const next = async () => (await ask(app, asha, reminderCalls.status)).reply.nextRunAt
  await start(app, asha)
  const invoice = await anInvoice(app, { owner: asha, dueDate: '2026-02-20' })
  app.clock.set('2026-03-02T14:00:00Z')
  await app.runJobs()
  expect(smtp.mails.length).toBe(1)
  // Nine in Auckland is six hours after the run of New York.
  await move('Pacific/Auckland')
  expect(await next()).toBe('2026-03-03T20:00:00Z')
  await move('America/New_York')
  expect(await next()).toBe('2026-03-03T14:00:00Z')
  await move('Pacific/Auckland')
  app.clock.set('2026-03-03T20:00:00Z')
  await app.runJobs()
  expect(smtp.mails.length).toBe(2)
  const { days } = (await ask(app, asha, reminderCalls.history, { params: { id: invoice._id } })).reply
  expect(days.map(({ date, outcome }) => [date, outcome])).toEqual([
    ['2026-03-04', 'sent'],
    ['2026-03-03', 'not_running'],
    ['2026-03-02', 'sent'],
  ])
  expect(days[1]?.words).toContain('The time zone changed')
})

test('the preview lists what would be sent now and the next date of every other invoice', async () => {
  await using office = await anOffice({ now: '2026-03-02T06:30:00Z' })
  const { app, asha } = office
  const late = await anInvoice(app, { owner: asha, dueDate: '2026-02-22', amount: 1200.5 })
  const soon = await anInvoice(app, { owner: asha, dueDate: '2026-03-05' })
  await anInvoice(app, { owner: asha, dueDate: '2026-02-01', status: 'paid' })
  const before = (await ask(app, asha, reminderCalls.preview, { query: {} })).reply
  expect(before).toMatchObject({ mails: 1, total: 1200.5, sendNowMails: 1, remindedToday: 0 })
  expect(before.lines.map(({ invoiceId, dueNow, nextAt, reason }) => ({ invoiceId, dueNow, nextAt, reason }))).toEqual([
    { invoiceId: late._id, dueNow: true, nextAt: null, reason: 'schedule_inactive' },
    { invoiceId: soon._id, dueNow: false, nextAt: null, reason: 'schedule_inactive' },
  ])
  await start(app, asha)
  const after = (await ask(app, asha, reminderCalls.preview, { query: {} })).reply
  expect(after).toMatchObject({ mails: 0, total: 0, sendNowMails: 1, remindedToday: 1 })
  expect(after.lines.map(({ nextAt, sendNowLeft }) => [nextAt, sendNowLeft])).toEqual([
    ['2026-03-03T03:30:00Z', 3],
    ['2026-03-06T03:30:00Z', 0],
  ])
})

test('an invoice that is not past due has no reminder today, although a run is planned', async () => {
  await using office = await anOffice({ now: '2026-03-01T18:00:00Z' })
  const { app, asha } = office
  await start(app, asha)
  app.clock.set('2026-03-02T02:00:00Z')
  for (const dueDate of ['2026-03-01', '2026-03-02', '2026-03-03', '2026-04-10']) await anInvoice(app, { owner: asha, dueDate })
  const { lines } = (await ask(app, asha, reminderCalls.preview, { query: {} })).reply
  expect(lines.map(({ dueDate, nextAt }) => [dueDate, nextAt])).toEqual([
    ['2026-03-01', '2026-03-02T03:30:00Z'],
    ['2026-03-02', '2026-03-03T03:30:00Z'],
    ['2026-03-03', '2026-03-04T03:30:00Z'],
    ['2026-04-10', '2026-04-11T03:30:00Z'],
  ])
})

test('a reminder sent after midnight counts for the day on which it was sent, in the preview as in the run', async () => {
  await using office = await anOffice({ now: '2026-03-02T18:20:00Z', invoices: 1 })
  const { app, asha, smtp } = office
  smtp.answer({ rcpt: () => '450 4.2.0 Later' })
  await start(app, asha)
  smtp.answer({})
  app.clock.set('2026-03-02T18:40:00Z')
  await app.runJobs()
  expect(smtp.mails).toHaveLength(1)
  expect((await ask(app, asha, reminderCalls.preview, { query: {} })).reply).toMatchObject({
    mails: 0,
    remindedToday: 1,
    lines: [{ dueNow: false, remindedToday: 1, nextAt: '2026-03-04T03:30:00Z' }],
  })
  app.clock.set('2026-03-03T03:30:00Z')
  await app.runJobs()
  expect(smtp.mails).toHaveLength(1)
})

test('a run of another account is not found', async () => {
  await using smtp = await openFakeSmtp()
  await using app = await openTestApp({ now: '2026-03-02T06:30:00Z' })
  const asha = await aPerson(app)
  const ravi = await aPerson(app)
  await aMailbox(app, asha, smtp)
  await anInvoice(app, { owner: asha })
  const { runId } = (await start(app, asha)).reply
  expect((await ask(app, asha, reminderCalls.run, { params: { id: runId ?? '' } })).reply).toMatchObject({ sent: 1, open: 0, total: 1 })
  expect((await ask(app, ravi, reminderCalls.run, { params: { id: runId ?? '' } })).status).toBe(404)
  expect((await ask(app, asha, reminderCalls.run, { params: { id: 'not-an-id' } })).status).toBe(404)
  expect((await ask(app, ravi, reminderCalls.runs, { query: {} })).reply).toEqual([])
})

// 7 s on a server and 18 s embedded. Send Now of more than a chunk is planned whole in `npm test`.
test.runIf(thorough)('a run of several chunks reminds of every invoice once, oldest due first', async () => {
  await using office = await anOffice({ now: '2026-03-02T06:30:00Z' })
  const { app, asha, smtp } = office
  const { sql } = await import('drizzle-orm')
  await app.db.execute(sql`
    INSERT INTO invoices (id, owner_id, reference, client_name, client_email, amount_minor, due_date, status, created_at, updated_at)
    SELECT gen_random_uuid(), ${asha.id}::uuid, 'INV-' || n, 'Client ' || n, 'client' || n || '@example.com', 100 * n, date '2026-02-28' - (n % 300), 'overdue', now(), now()
    FROM generate_series(1, 1500) n`)
  const answered = await start(app, asha)
  await app.runJobs()
  const run = (await ask(app, asha, reminderCalls.run, { params: { id: answered.reply.runId ?? '' } })).reply
  expect(run).toMatchObject({ total: 1500, sent: 1500, open: 0 })
  expect(new Set(smtp.mails.map(({ envelope }) => envelope.to[0])).size).toBe(1500)
  expect(smtp.mails.length).toBe(1500)
  const first = smtp.mails.slice(0, 8).map(({ envelope }) => Number(/\d+/.exec(envelope.to[0] ?? '')?.[0]) % 300)
  expect(Math.min(...first)).toBeGreaterThanOrEqual(298)
})

test('a failing account does not delay the daily runs of others', async () => {
  await using office = await anOffice({ now: '2026-03-02T02:00:00Z' })
  const { app, asha } = office
  await start(app, asha)
  await anInvoice(app, { owner: asha })
  const broken = await aPerson(app)
  await app.db.execute(
    sql`UPDATE accounts SET timezone = 'Nowhere/Land', next_midnight_at = '2026-03-01T00:00:00Z' WHERE id = ${broken.id}::uuid`,
  )
  app.clock.set('2026-03-02T03:30:00Z')
  await expect(app.runJobs()).rejects.toThrow('some accounts')
  const runs = await ask(app, asha, reminderCalls.runs, { query: {} })
  expect(runs.reply[0]).toMatchObject({ kind: 'daily', localDate: '2026-03-02', total: 1 })
})

test('after 20,000 emails that were not sent within a day no run is made by hand', async () => {
  await using office = await anOffice({ now: '2026-03-02T04:30:00Z', invoices: 1 })
  const { app, asha, smtp } = office
  smtp.answer({ rcpt: () => '550 5.7.1 Blocked' })
  await app.whileJobsRun(ask(app, asha, reminderCalls.sendNow))
  await app.db.execute(sql`UPDATE runs SET failed = 19998, dropped = 2`)
  app.clock.advance({ minutes: 30 })
  const message =
    '20,000 of your emails failed or were cancelled within a day. Find out why under Reminder Control, and try again in 24 hours.'
  for (const call of [reminderCalls.sendNow, reminderCalls.start])
    expect(await ask(app, asha, call)).toMatchObject({ status: 429, headers: { 'retry-after': '84600' }, problem: { message } })
  app.clock.advance({ hours: 24 })
  smtp.answer({})
  expect((await app.whileJobsRun(ask(app, await signedInAgain(app, asha), reminderCalls.sendNow))).status).toBe(200)
})

/** 4,000 emails of another account, in this state, and 100 invoices of Asha. */
async function besideMany(app: TestApp, asha: Person, state: 'queued' | 'failed'): Promise<void> {
  const stranger = await aPerson(app)
  const id = (digit: number) => sql.raw(`lpad(nth::text, 8, '0') || '-000${digit}-7000-8000-000000000000'`)
  const invoicesOf = (ownerId: string, digit: number, count: number) =>
    app.db.execute(sql`
      INSERT INTO invoices (id, owner_id, reference, client_name, client_email, amount_minor, due_date, status, created_at, updated_at)
      SELECT (${id(digit)})::uuid, ${ownerId}::uuid, 'INV-' || nth, 'Client', 'client' || nth || '@example.com', 100, '2026-01-01', 'overdue', now(), now()
      FROM generate_series(1, ${count}::int) nth`)
  await invoicesOf(stranger.id, 1, 4_000)
  await invoicesOf(asha.id, 2, 100)
  await app.db.execute(sql`
    INSERT INTO runs (id, owner_id, kind, local_date, created_at, deadline_at, planned_at)
    SELECT (${id(3)})::uuid, ${stranger.id}::uuid, 'send_now', '2026-03-01', now(), now(), now() FROM generate_series(1, 1) nth`)
  await app.db.execute(sql`
    INSERT INTO deliveries (id, owner_id, run_id, client_email, state, created_at, next_try_at, deadline_at)
    SELECT (${id(4)})::uuid, ${stranger.id}::uuid, '00000001-0003-7000-8000-000000000000', 'client' || nth || '@example.com', ${state}::text, now(),
      now() + interval '1 day', now() + interval '1 day'
    FROM generate_series(1, 4000) nth`)
  await app.db.execute(sql`
    INSERT INTO delivery_invoices (owner_id, delivery_id, invoice_id, open)
    SELECT ${stranger.id}::uuid, (${id(4)})::uuid, (${id(1)})::uuid, ${state === 'queued'}::boolean FROM generate_series(1, 4000) nth`)
}

/** Those that this connection made in earlier tests are for tables with a few rows. */
const forgetPlans = (tx: Database) => tx.execute(sql`DISCARD PLANS`)

/** How many rows of emails this connection has read so far, by reading tables in whole and by indexes. */
const readOfEmails = async (tx: Database) => {
  const [counted] = await rows(
    tx,
    z.object({ inWhole: z.coerce.number(), byIndex: z.coerce.number() }),
    sql`SELECT sum(seq_tup_read) AS "inWhole", sum(idx_tup_fetch) AS "byIndex" FROM pg_stat_xact_user_tables WHERE relname IN ('deliveries', 'delivery_invoices')`,
  )
  if (!counted) throw new Error('Nothing was counted.')
  return counted
}

/** What it answers, and how many rows of emails it read. */
async function countRead<T>(tx: Database, run: () => Promise<T>): Promise<[T, number]> {
  const before = await readOfEmails(tx)
  const answer = await run()
  const after = await readOfEmails(tx)
  return [answer, after.inWhole + after.byIndex - before.inWhole - before.byIndex]
}

test('Send Now, its preview and the status read no email of another account, without statistics too', async () => {
  await using office = await anOffice({ now: '2026-03-02T06:30:00Z' })
  const { app, asha } = office
  await besideMany(app, asha, 'failed')
  const earlier = Array.from({ length: 30 }, () => newId())
  await app.db.insert(runs).values(
    earlier.map((id) => {
      const at = app.clock.now().subtract({ hours: 1 })
      const settled = { plannedAt: at, settledAt: at, sent: 0, failed: 0, dropped: 0 }
      return { id, ownerId: asha.id, kind: 'send_now' as const, localDate: '2026-03-02', createdAt: at, deadlineAt: at, ...settled }
    }),
  )
  const [before, after] = await app.db.transaction(async (tx) => {
    const now = app.clock.now()
    const account = await lockAccount(tx, asha.id)
    if (!account) throw new Error('The account is missing.')
    await forgetPlans(tx)
    const counted = await readOfEmails(tx)
    await makeRun(tx, app.deps.queue, account, { kind: 'send_now', now })
    await previewReminders({ db: tx, config: app.deps.config }, account, now)
    await reminderStatus({ db: tx, config: app.deps.config }, account, now)
    for (const id of earlier) await answerOf(tx, asha.id, id)
    return [counted, await readOfEmails(tx)]
  })
  expect(after.inWhole).toBe(before.inWhole)
})

test('claiming an email reads no email of another account, without statistics too', async () => {
  await using office = await anOffice({ now: '2026-03-02T06:30:00Z' })
  const { app, asha, smtp } = office
  smtp.answer({ mail: () => '451 4.3.0 Later' })
  await besideMany(app, asha, 'queued')
  await app.whileJobsRun(ask(app, asha, reminderCalls.sendNow))
  const [email] = await app.db.select().from(deliveries).where(eq(deliveries.ownerId, asha.id)).limit(1)
  const [mailbox] = await app.db.select().from(mailConfigs).where(eq(mailConfigs.ownerId, asha.id))
  if (!email || !mailbox) throw new Error('There is no email.')
  const wanted = {
    id: email.id,
    ticket: newId(),
    sender: mailbox,
    sentFor: email.runId,
    today: '2026-03-02',
    composed: null,
    dropsInvoices: false,
  }
  const [claimed, read] = await app.db.transaction(async (tx) => {
    await forgetPlans(tx)
    return countRead(tx, () => claim(tx, [wanted], { processId: app.deps.processId, now: app.clock.now() }))
  })
  expect(claimed).toHaveLength(1)
  expect(read).toBeLessThan(10)
})

test('reading, claiming and closing due emails reads no other account’s emails when statistics show an empty queue', async () => {
  await using office = await anOffice({ now: '2026-03-02T06:30:00Z' })
  const { app, asha, smtp } = office
  smtp.answer({ mail: () => '451 4.3.0 Later' })
  await besideMany(app, asha, 'queued')
  await app.whileJobsRun(ask(app, asha, reminderCalls.sendNow))
  const [mailbox] = await app.db.select().from(mailConfigs).where(eq(mailConfigs.ownerId, asha.id))
  const account = await findAccount(app.db, asha.id)
  if (!mailbox || !account) throw new Error('There is no mailbox.')
  const now = app.clock.now().add({ hours: 2 })
  const read: number[] = []
  const measured = app.db
    .transaction(async (tx) => {
      await tx.execute(
        sql`UPDATE deliveries SET state = 'sent', next_try_at = ${app.clock.now().toString()}::timestamptz, deadline_at = ${now.add({ hours: 9 }).toString()}::timestamptz`,
      )
      await tx.execute(sql`ANALYZE deliveries`)
      await tx.execute(sql`UPDATE deliveries SET state = 'queued'`)
      await forgetPlans(tx)
      const sender = { ...mailbox, several: false }
      const [due, readOfDue] = await countRead(tx, () => readPending(tx, [{ account, sender, scheduling: true }], now))
      const [email] = due.get(asha.id) ?? []
      const about = { sender: mailbox, sentFor: email?.sentFor ?? '', today: '2026-03-02', composed: null, dropsInvoices: false }
      const wanted = { ...about, id: email?.id ?? '', ticket: newId() }
      const [, readOfClosing] = await countRead(tx, () => close(tx, { now, account, which: sql`d.id = ${wanted.id}::uuid` }))
      const [claimed, readOfClaim] = await countRead(tx, () => claim(tx, [wanted], { processId: app.deps.processId, now }))
      expect(claimed).toHaveLength(1)
      read.push(readOfDue, readOfClosing, readOfClaim)
      tx.rollback()
    })
    .catch((error: unknown) => expect(error).toBeInstanceOf(TransactionRollbackError))
  // Other tests count what is read without any statistics.
  await measured.finally(() => app.db.execute(sql`TRUNCATE deliveries CASCADE`))
  expect(read).toHaveLength(3)
  expect(Math.max(...read)).toBeLessThan(1_000)
})

test('simultaneous presses of Send Now are one press, also for one that is served late', async () => {
  await using office = await anOffice({ now: '2026-03-02T06:30:00.200Z' })
  const { app, asha, smtp } = office
  await anInvoice(app, { owner: asha })
  const first = await sendNow(app, asha)
  app.clock.set('2026-03-02T06:30:00Z')
  const late = await sendNow(app, asha)
  expect(late.reply.runId).toBe(first.reply.runId)
  expect(smtp.mails.length).toBe(1)
})

test('Send Now after the clock was set back is a press of its own', async () => {
  await using office = await anOffice({ now: '2026-03-02T06:30:00Z' })
  const { app, asha, smtp } = office
  await anInvoice(app, { owner: asha })
  await sendNow(app, asha)
  app.clock.set('2026-03-02T04:30:00Z')
  await sendNow(app, asha)
  expect(smtp.mails.length).toBe(2)
})
