// Also on PostgreSQL: claims are reclaimed by conditional updates.
import { eq, sql } from 'drizzle-orm'
import { expect, test } from 'vitest'
import { noticeCalls } from '#contract/notices.ts'
import { reminderCalls } from '#contract/reminders.ts'
import { newId } from '#server/platform/columns.ts'
import { anOffice } from '#test/factories.ts'
import { ask, type TestApp } from '#test/harness.ts'
import { busiestAccounts, reclaimAll, releaseProcess } from './processes.ts'
import { deliveries } from './tables.ts'

/** An email that its process was sending, or only composing, when it ended. */
async function inHand(app: TestApp, about: { claimed: boolean; email?: string }): Promise<void> {
  const which = about.email === undefined ? sql`true` : eq(deliveries.clientEmail, about.email)
  await app.db
    .update(deliveries)
    .set({ claimedBy: app.deps.processId, ...(about.claimed ? { state: 'sending', claim: newId() } : {}) })
    .where(sql`${which} AND state IN ('queued', 'retrying')`)
}

const stateOf = async (app: TestApp, email: string) => {
  const [found] = await app.db.select().from(deliveries).where(eq(deliveries.clientEmail, email))
  return found
}

test('an email that a process died with three times is set aside, and others are sent', async () => {
  await using office = await anOffice({ now: '2026-03-02T06:30:00Z', invoices: 2 })
  const { app, asha, invoices, smtp } = office
  smtp.answer({ mail: () => '451 4.3.0 Later' })
  await app.whileJobsRun(ask(app, asha, reminderCalls.start))
  smtp.answer({})
  for (const claimed of [true, false, true]) {
    await inHand(app, { claimed, email: 'client1@example.com' })
    await reclaimAll(app.deps)
  }
  const failed = await stateOf(app, 'client1@example.com')
  expect(failed).toMatchObject({ state: 'failed', reason: 'poisoned', deaths: 3, claimedBy: null })
  expect(app.errorsLogged.splice(0)).toEqual([expect.stringContaining(failed?.id ?? 'its id')])

  app.clock.advance({ minutes: 10 })
  await app.runJobs()
  expect(smtp.mails.map(({ envelope }) => envelope.to)).toEqual([['client2@example.com']])
  const why = expect.stringContaining('the server stopped three times while it was sending this email')
  const [run] = (await ask(app, asha, reminderCalls.runs, { query: {} })).reply
  expect(run).toMatchObject({ sent: 1, failed: 1, open: 0, failures: [{ clientEmail: 'client1@example.com', message: why }] })
  const history = (await ask(app, asha, reminderCalls.history, { params: { id: invoices[0]?._id ?? '' } })).reply
  expect(history.mails).toMatchObject([{ state: 'failed', reason: 'poisoned', serverReply: why }])
  expect(history.days[0]).toMatchObject({ outcome: 'failed', words: why })
  const notices = (await ask(app, asha, noticeCalls.list)).reply
  expect(notices).toMatchObject([{ kind: 'not_delivered', text: expect.stringContaining('Shorten your email template') }])
})

test('after its second death an email waits, so that others are sent first', async () => {
  await using office = await anOffice({ now: '2026-03-02T06:30:00Z', invoices: 1 })
  const { app, asha, smtp } = office
  smtp.answer({ mail: () => '451 4.3.0 Later' })
  await app.whileJobsRun(ask(app, asha, reminderCalls.start))
  smtp.answer({})
  app.clock.advance({ minutes: 10 })
  for (const _death of [1, 2]) {
    await inHand(app, { claimed: true })
    await reclaimAll(app.deps)
  }
  await app.runJobs()
  expect(smtp.mails).toEqual([])
  app.clock.advance({ seconds: 11 })
  await app.runJobs()
  expect(smtp.mails.length).toBe(1)
  expect(await stateOf(app, 'client1@example.com')).toMatchObject({ state: 'sent', deaths: 2 })
})

test('an orderly stop of a process does not count as a death', async () => {
  await using office = await anOffice({ now: '2026-03-02T06:30:00Z', invoices: 1 })
  const { app, asha, smtp } = office
  smtp.answer({ mail: () => '451 4.3.0 Later' })
  await app.whileJobsRun(ask(app, asha, reminderCalls.start))
  for (const claimed of [true, false]) {
    await inHand(app, { claimed })
    await releaseProcess(app.db, app.deps.processId)
    expect(await stateOf(app, 'client1@example.com')).toMatchObject({ deaths: 0, claimedBy: null, claim: null })
  }
})

test('the busiest accounts of the last hour come with their emails, failures and bytes', async () => {
  await using office = await anOffice({ now: '2026-03-02T06:30:00Z', invoices: 2 })
  const { app, asha, smtp } = office
  smtp.answer({ rcpt: (to) => (to.startsWith('client1') ? '550 5.1.1 No such user here' : undefined) })
  await app.whileJobsRun(ask(app, asha, reminderCalls.start))
  expect(await busiestAccounts(app.db, app.clock.now())).toEqual([
    { email: asha.email, seconds: expect.any(Number), sent: 1, failed: 1, bytes: expect.any(Number) },
  ])
  app.clock.advance({ hours: 2 })
  expect(await busiestAccounts(app.db, app.clock.now())).toEqual([])
})

test('a settled run is shown from its counts, without reading its emails', async () => {
  await using office = await anOffice({ now: '2026-03-02T06:30:00Z', invoices: 3 })
  const { app, asha, smtp } = office
  smtp.answer({ rcpt: (to) => (to.startsWith('client1') ? '550 5.7.1 Not allowed' : undefined) })
  await app.whileJobsRun(ask(app, asha, reminderCalls.start))
  const shown = async () => (await ask(app, asha, reminderCalls.runs, { query: {} })).reply[0]
  const before = await shown()
  expect(before).toMatchObject({ total: 3, sent: 2, failed: 1, skipped: 0, open: 0 })
  expect(before?.finishedAt).not.toBeNull()
  await app.runJobs()
  expect(await shown()).toEqual(before)
  await app.db.update(deliveries).set({ state: 'cancelled' })
  expect(await shown()).toMatchObject({ total: 3, sent: 2, failed: 1, skipped: 0, open: 0 })
})
