// Also on PostgreSQL: retries are claimed by conditional updates.
import PostalMime from 'postal-mime'
import { expect, test } from 'vitest'
import { invoiceCalls } from '#contract/invoices.ts'
import { mailCalls } from '#contract/mail.ts'
import { noticeCalls } from '#contract/notices.ts'
import { reminderCalls } from '#contract/reminders.ts'
import { anInvoice, anOffice, type Person } from '#test/factories.ts'
import { type FakeSmtp, openFakeSmtp } from '#test/fakes/smtp-server.ts'
import { ask, type TestApp } from '#test/harness.ts'
import { makeDueRuns } from './daily-runs.ts'

const refusal = '550 5.7.1 Message refused'
const nine = (day: number) => `2026-03-0${day}T03:30:00Z`

async function told(app: TestApp, asha: Person): Promise<object[]> {
  return (await ask(app, asha, noticeCalls.list)).reply.map(({ kind, title, text, link }) => ({ kind, title, text, link }))
}

/** The link to the newest run, opened. */
async function newestRun(app: TestApp, asha: Person): Promise<string> {
  const [run] = (await ask(app, asha, reminderCalls.runs, { query: {} })).reply
  return `/dashboard/reminder-control?run=${run?._id}`
}

async function mailsToOwner(smtp: FakeSmtp): Promise<string[]> {
  return Promise.all(smtp.mails.map(async ({ raw }) => (await PostalMime.parse(raw)).subject ?? ''))
}

test('failures of the daily run are reported by notice and email, and the next day only on the screens', async () => {
  await using own = await openFakeSmtp()
  await using office = await anOffice({
    now: '2026-03-02T06:30:00Z',
    invoices: 3,
    config: { systemSmtpUrl: `smtp://127.0.0.1:${own.port}`, systemMailFrom: 'Duely <hello@duely.example>' },
  })
  const { app, asha, invoices, smtp } = office
  await app.whileJobsRun(ask(app, asha, reminderCalls.start))
  expect(smtp.mails).toHaveLength(3)
  const before = (await mailsToOwner(own)).length
  smtp.answer({ rcpt: (to) => (to === 'client2@example.com' ? refusal : undefined) })
  app.clock.set(nine(3))
  await app.runJobs()
  const [, second] = invoices
  expect(await told(app, asha)).toEqual([
    {
      kind: 'not_delivered',
      title: `The reminder to ${second?.clientName} was not delivered`,
      text: `Check the address client2@example.com, or contact your client another way. The mail server replied: ${refusal}`,
      link: await newestRun(app, asha),
    },
  ])
  expect((await mailsToOwner(own)).slice(before)).toEqual(['Some reminders were not sent'])
  const [notice] = (await ask(app, asha, noticeCalls.list)).reply
  expect(notice).toMatchObject({ summary: `${second?.clientName} (blocked by the mail server)`, createdAt: nine(3), updatedAt: nine(3) })
  expect(notice?.clients).toEqual([{ clientName: second?.clientName, invoiceId: second?._id, reference: second?.reference }])

  app.clock.set(nine(4))
  await app.runJobs()
  const updated = (await ask(app, asha, noticeCalls.list)).reply
  expect(updated).toMatchObject([{ _id: notice?._id, createdAt: nine(3), updatedAt: nine(4), link: await newestRun(app, asha) }])
  expect((await mailsToOwner(own)).slice(before)).toHaveLength(1)

  smtp.answer({ rcpt: () => refusal })
  await ask(app, asha, invoiceCalls.update, { params: { id: second?._id ?? '' }, body: { clientName: 'Nila Printers' } })
  app.clock.set(nine(5))
  await app.runJobs()
  expect((await ask(app, asha, noticeCalls.list)).reply).toMatchObject([
    {
      title: '3 reminders were not delivered',
      text: expect.stringMatching(
        /^(Kaveri Foods|Nila Printers) \(blocked by the mail server\) and (?!\1)\w+ \w+ \(blocked by the mail server\)\.$/,
      ),
      link: await newestRun(app, asha),
      clients: expect.arrayContaining(invoices.map(({ _id, reference }) => expect.objectContaining({ invoiceId: _id, reference }))),
    },
  ])
  expect((await mailsToOwner(own)).slice(before)).toHaveLength(2)

  smtp.answer({})
  app.clock.set(nine(6))
  await app.runJobs()
  expect(await told(app, asha)).toEqual([])
})

test('a notice names a client with several emails once', async () => {
  await using office = await anOffice({ now: '2026-03-02T06:30:00Z', invoices: 1 })
  const { app, asha, invoices, smtp } = office
  const about = { owner: asha, dueDate: '2026-02-20' }
  for (const clientEmail of ['nila@example.com', 'Nila@example.com'])
    await anInvoice(app, { ...about, clientName: 'Nila Printers', clientEmail })
  await app.whileJobsRun(ask(app, asha, reminderCalls.start))
  smtp.answer({ rcpt: () => refusal })
  app.clock.set(nine(3))
  await app.runJobs()
  const [notice] = (await ask(app, asha, noticeCalls.list)).reply
  expect(notice).toMatchObject({
    title: '3 reminders were not delivered',
    text: 'Kaveri Foods (blocked by the mail server) and Nila Printers (blocked by the mail server).',
  })
  expect(notice?.clients.map(({ clientName, reference }) => [clientName, reference])).toEqual([
    ['Kaveri Foods', invoices[0]?.reference],
    ['Nila Printers', 'INV-0002'],
  ])
})

test('no failure is reported while an email is retried, for a watched press, or for an invoice that was paid meanwhile', async () => {
  await using office = await anOffice({ now: '2026-03-02T06:30:00Z', invoices: 2 })
  const { app, asha, invoices, smtp } = office
  smtp.answer({ rcpt: () => refusal })
  await app.whileJobsRun(ask(app, asha, reminderCalls.start))
  await app.runJobs()
  expect(await told(app, asha)).toEqual([])

  smtp.answer({ rcpt: (to) => (to === 'client1@example.com' ? '451 4.7.1 Try later' : refusal) })
  app.clock.set(nine(3))
  await app.runJobs()
  expect(await told(app, asha)).toEqual([])
  const [, second] = invoices
  await ask(app, asha, invoiceCalls.update, { params: { id: second?._id ?? '' }, body: { status: 'paid' } })
  app.clock.set('2026-03-03T12:31:00Z')
  await app.runJobs()
  expect(await told(app, asha)).toMatchObject([
    { title: expect.stringContaining('was not delivered'), text: expect.stringContaining('451 4.7.1 Try later') },
  ])
})

test('a day on which Duely did not run is reported where reminders were due', async () => {
  await using office = await anOffice({ now: '2026-03-02T06:30:00Z', invoices: 1 })
  const { app, asha } = office
  await app.whileJobsRun(ask(app, asha, reminderCalls.start))
  app.clock.set('2026-03-03T14:00:00Z')
  await app.runJobs()
  expect(await told(app, asha)).toEqual([
    {
      kind: 'not_delivered',
      title: 'No reminders went out on 03/03/2026',
      text: 'Duely was not running between the hour of the reminders and 18:00 that day. The next daily run is on 04/03/2026 at 09:00.',
      link: await newestRun(app, asha),
    },
  ])
})

test('a day on which Duely did not run is still reported when the next run went well', async () => {
  await using office = await anOffice({ now: '2026-03-02T06:30:00Z', invoices: 1 })
  const { app, asha, smtp } = office
  await app.whileJobsRun(ask(app, asha, reminderCalls.start))
  app.clock.set('2026-03-04T04:30:00Z')
  await app.runJobs()
  app.clock.advance({ seconds: 10 })
  await app.runJobs()
  expect(smtp.mails).toHaveLength(2)
  expect(await told(app, asha)).toMatchObject([{ title: 'No reminders went out on 03/03/2026' }])

  app.clock.set(nine(5))
  await app.runJobs()
  expect(await told(app, asha)).toEqual([])
})

test('many days without a run are reported in one notice and one email', async () => {
  await using own = await openFakeSmtp()
  await using office = await anOffice({
    now: '2026-03-02T06:30:00Z',
    invoices: 1,
    config: { systemSmtpUrl: `smtp://127.0.0.1:${own.port}`, systemMailFrom: 'Duely <hello@duely.example>' },
  })
  const { app, asha } = office
  await app.whileJobsRun(ask(app, asha, reminderCalls.start))
  const before = (await mailsToOwner(own)).length
  app.clock.set('2026-03-07T14:00:00Z')
  await app.runJobs()
  expect(await told(app, asha)).toEqual([
    {
      kind: 'not_delivered',
      title: 'No reminders went out on 5 days',
      text: 'From 03/03/2026 to 07/03/2026 Duely was not running between the hour of the reminders and 18:00. The next daily run is on 08/03/2026 at 09:00.',
      link: await newestRun(app, asha),
    },
  ])
  expect((await mailsToOwner(own)).slice(before)).toEqual(['Some reminders were not sent'])
})

test('a daily email that was never tried is reported, one that was held is not', async () => {
  await using office = await anOffice({ now: '2026-03-02T06:30:00Z', invoices: 1 })
  const { app, asha, invoices } = office
  await app.whileJobsRun(ask(app, asha, reminderCalls.start))
  app.clock.set(nine(3))
  // The state after a process that ended right after nine and restarted in the evening.
  await makeDueRuns(app.db, app.deps.queue, app.clock.now())
  app.clock.set('2026-03-03T14:00:00Z')
  await app.runJobs()
  expect(await told(app, asha)).toEqual([
    {
      kind: 'not_delivered',
      title: `The reminder to ${invoices[0]?.clientName} was not delivered`,
      text: 'It could not be sent in time. The next daily run is on 04/03/2026 at 09:00.',
      link: await newestRun(app, asha),
    },
  ])

  await ask(app, asha, mailCalls.remove)
  app.clock.set(nine(4))
  await app.runJobs()
  app.clock.set('2026-03-04T14:00:00Z')
  await app.runJobs()
  expect(await told(app, asha)).toEqual([])
})

test('an email delivered by another try meanwhile is not reported as failed', async () => {
  await using office = await anOffice({ now: '2026-03-02T06:30:00Z', invoices: 2 })
  const { app, asha, invoices, smtp } = office
  await app.whileJobsRun(ask(app, asha, reminderCalls.start))
  smtp.answer({ rcpt: (to) => (to === 'client1@example.com' ? '451 4.7.1 Try later' : refusal) })
  app.clock.set(nine(3))
  await app.runJobs()
  smtp.answer({ rcpt: (to) => (to === 'client1@example.com' ? '451 4.7.1 Try later' : undefined) })
  const [daily] = (await ask(app, asha, reminderCalls.runs, { query: {} })).reply
  await app.whileJobsRun(ask(app, asha, reminderCalls.retryRun, { params: { id: daily?._id ?? '' } }))
  app.clock.set('2026-03-03T12:31:00Z')
  await app.runJobs()
  expect((await ask(app, asha, noticeCalls.list)).reply).toMatchObject([
    { link: `/dashboard/reminder-control?run=${daily?._id}`, clients: [{ invoiceId: invoices[0]?._id }] },
  ])
})

test('a manual email given up hours later is reported, though its immediate refusals were not', async () => {
  await using office = await anOffice({ now: '2026-03-02T06:30:00Z', invoices: 2 })
  const { app, asha, invoices, smtp } = office
  smtp.answer({ rcpt: (to) => (to === 'client1@example.com' ? '451 4.7.1 Try later' : refusal) })
  await app.whileJobsRun(ask(app, asha, reminderCalls.sendNow))
  await app.runJobs()
  expect(await told(app, asha)).toEqual([])
  app.clock.advance({ hours: 4, minutes: 1 })
  await app.runJobs()
  expect(await told(app, asha)).toMatchObject([
    {
      title: `The reminder to ${invoices[0]?.clientName} was not delivered`,
      text: expect.stringContaining('451 4.7.1 Try later'),
      link: await newestRun(app, asha),
    },
  ])
})
