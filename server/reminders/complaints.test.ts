import { expect, test } from 'vitest'
import { invoiceCalls } from '#contract/invoices.ts'
import { reminderCalls } from '#contract/reminders.ts'
import { anOffice } from '#test/factories.ts'
import { later } from '#test/fakes/smtp-server.ts'
import { ask } from '#test/harness.ts'
import { reclaimAll } from './processes.ts'

// Complaints about reminder software: each is a day in an office here, and must not happen.

test('“sent twice”: Start, repeated presses, a restart in the middle and nine o’clock send one email per client and day', async () => {
  await using office = await anOffice({ now: '2026-03-02T03:29:00Z', invoices: 5 })
  const { app, asha, smtp } = office
  smtp.answer({ rcpt: (to) => (to.startsWith('client5') ? '451 4.7.1 Try later' : undefined) })
  await app.whileJobsRun(Promise.all([1, 2, 3].map(() => ask(app, asha, reminderCalls.start))))
  smtp.answer({})
  await reclaimAll(app.deps)
  app.clock.set('2026-03-02T03:30:00Z')
  await Promise.all([app.runJobs(), app.runJobs()])
  app.clock.set('2026-03-02T03:45:00Z')
  await app.runJobs()
  expect(smtp.mails.map(({ envelope }) => envelope.to[0]).sort()).toEqual([1, 2, 3, 4, 5].map((nth) => `client${nth}@example.com`))
})

test('“sent though paid”: an invoice marked paid during a run is not reminded', async () => {
  await using office = await anOffice({ now: '2026-03-02T06:30:00Z', invoices: 20 })
  const { app, asha, invoices, smtp } = office
  smtp.answer({ dot: () => later(20) })
  const running = app.whileJobsRun(ask(app, asha, reminderCalls.start))
  await smtp.received(4)
  const paid = invoices.slice(10)
  for (const { _id } of paid) await ask(app, asha, invoiceCalls.update, { params: { id: _id }, body: { status: 'paid' } })
  const before = smtp.mails.length
  await running
  app.clock.set('2026-03-03T03:30:00Z')
  await app.runJobs()
  const afterwards = smtp.mails.slice(before).map(({ envelope }) => envelope.to[0])
  // Two may have been in flight when they were marked.
  expect(paid.filter(({ clientEmail }) => afterwards.includes(clientEmail)).length).toBeLessThanOrEqual(2)
  expect(
    smtp.mails
      .slice(-10)
      .map(({ envelope }) => envelope.to[0])
      .sort(),
  ).toEqual(
    invoices
      .slice(0, 10)
      .map(({ clientEmail }) => clientEmail)
      .sort(),
  )
})

test('“marked sent but refused”: a refused email counts as failed in the reply, the run and the invoice', async () => {
  await using office = await anOffice({ now: '2026-03-02T06:30:00Z', invoices: 2 })
  const { app, asha, invoices, smtp } = office
  const refusal = '550 5.1.1 No such user here'
  smtp.answer({ rcpt: (to) => (to.startsWith('client1') ? refusal : undefined) })
  const { reply } = await app.whileJobsRun(ask(app, asha, reminderCalls.start))
  expect(reply).toMatchObject({ count: 1, failed: 1 })
  expect((await ask(app, asha, reminderCalls.run, { params: { id: reply.runId ?? '' } })).reply).toMatchObject({
    sent: 1,
    failed: 1,
    failures: [{ clientEmail: 'client1@example.com', message: expect.stringContaining(refusal) }],
  })
  const refused = { params: { id: invoices[0]?._id ?? '' } }
  expect((await ask(app, asha, invoiceCalls.read, refused)).reply).toMatchObject({ remindersSent: 0, lastReminderAt: null })
  expect((await ask(app, asha, reminderCalls.history, refused)).reply.mails).toMatchObject([
    { state: 'failed', sentAt: null, serverReply: expect.stringContaining(refusal) },
  ])
})

test('“wrong hour”: nine o’clock is nine in the account’s time zone, in winter and in summer', async () => {
  await using office = await anOffice({ now: '2026-03-06T20:00:00Z', person: { timezone: 'America/New_York' }, invoices: 1 })
  const { app, asha, smtp } = office
  await app.whileJobsRun(ask(app, asha, reminderCalls.start))
  const started = smtp.mails.length
  const leavesAt = async (nine: string) => {
    const before = smtp.mails.length
    app.clock.set(Temporal.Instant.from(nine).subtract({ seconds: 1 }).toString())
    await app.runJobs()
    expect(smtp.mails.length).toBe(before)
    app.clock.set(nine)
    await app.runJobs()
    expect(smtp.mails.length).toBe(before + 1)
  }
  await leavesAt('2026-03-07T14:00:00Z')
  // Clocks go forward in the night to 8 March.
  await leavesAt('2026-03-08T13:00:00Z')
  expect((await ask(app, asha, reminderCalls.status)).reply.nextRunAt).toBe('2026-03-09T13:00:00Z')
  expect(started).toBe(1)
})

test('“no reason shown”: every invoice without an email shows the reason and its next date', async () => {
  await using office = await anOffice({ now: '2026-03-02T06:30:00Z', invoices: 3 })
  const { app, asha, invoices, smtp } = office
  const [refused = '', paused = '', paid = ''] = invoices.map(({ _id }) => _id)
  await ask(app, asha, invoiceCalls.pause, {
    params: { id: paused },
    body: { paused: true, until: '2026-03-02', note: 'They asked for time' },
  })
  await ask(app, asha, invoiceCalls.update, { params: { id: paid }, body: { status: 'paid' } })
  smtp.answer({ rcpt: () => '550 5.7.1 Policy' })
  await app.whileJobsRun(ask(app, asha, reminderCalls.start))
  const history = async (id: string) => (await ask(app, asha, reminderCalls.history, { params: { id } })).reply
  const next = '2026-03-03T03:30:00Z'
  expect(await history(refused)).toMatchObject({
    nextAt: next,
    days: [{ outcome: 'failed', words: expect.stringContaining('550 5.7.1 Policy') }],
  })
  expect(await history(paused)).toMatchObject({ nextAt: next, days: [{ outcome: 'paused', words: 'Paused: They asked for time' }] })
  expect(await history(paid)).toMatchObject({ nextAt: null, reason: 'paid', days: [] })
})
