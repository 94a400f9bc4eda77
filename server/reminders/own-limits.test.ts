import { expect, test } from 'vitest'
import { mailCalls } from '#contract/mail.ts'
import { noticeCalls } from '#contract/notices.ts'
import { reminderCalls } from '#contract/reminders.ts'
import { anOffice, type Person } from '#test/factories.ts'
import { later } from '#test/fakes/smtp-server.ts'
import { ask, type TestApp } from '#test/harness.ts'

const morning = '2026-03-02T04:30:00Z'

async function limit(app: TestApp, asha: Person, body: { perHour?: number | null; perDay?: number | null }) {
  const [mailbox] = (await ask(app, asha, mailCalls.mailboxes)).reply.mailboxes
  return ask(app, asha, mailCalls.changeMailbox, { params: { id: mailbox?._id ?? '' }, body })
}
const pauseOf = async (app: TestApp, asha: Person) => (await ask(app, asha, reminderCalls.status)).reply.pause

test('an hourly limit lets the rest leave as the hour moves on, and bothers the owner who set it with no notice', async () => {
  await using office = await anOffice({ now: morning, invoices: 24 })
  const { app, asha, smtp } = office
  expect((await limit(app, asha, { perHour: 10 })).reply.limits).toMatchObject({ perHour: 10, perDay: null })
  expect((await ask(app, asha, reminderCalls.preview, { query: {} })).reply.allowance).toEqual({ perHour: 10, room: 10, today: null })
  expect((await app.whileJobsRun(ask(app, asha, reminderCalls.start))).reply).toMatchObject({ count: 10, retrying: 14 })
  expect(await pauseOf(app, asha)).toMatchObject({
    reason: 'quota',
    message: 'You allow this mailbox 10 emails an hour, and that many have been sent.',
    until: '2026-03-02T05:30:00Z',
  })
  expect((await ask(app, asha, reminderCalls.preview, { query: {} })).reply.allowance).toEqual({ perHour: 10, room: 0, today: null })
  for (const [at, sent] of [
    ['05:29:59', 10],
    ['05:30:01', 20],
    ['06:30:02', 24],
  ] as const) {
    app.clock.set(`2026-03-02T${at}Z`)
    await app.runJobs()
    expect(smtp.mails).toHaveLength(sent)
  }
  expect(new Set(smtp.mails.map(({ envelope }) => envelope.to[0])).size).toBe(24)
  expect(await pauseOf(app, asha)).toBeNull()
  expect((await ask(app, asha, noticeCalls.list)).reply.filter(({ kind }) => kind === 'quota')).toEqual([])
})

test('a limit that is lowered in the middle of a run counts at once, and one that is raised sends the rest', async () => {
  await using office = await anOffice({ now: morning, invoices: 30 })
  const { app, asha, smtp } = office
  smtp.answer({ dot: () => later(20) })
  const running = app.whileJobsRun(ask(app, asha, reminderCalls.start))
  await smtp.received(6)
  await limit(app, asha, { perDay: 10 })
  await running
  // Two may have been in flight.
  expect(smtp.mails.length).toBeLessThanOrEqual(12)
  expect(await pauseOf(app, asha)).toMatchObject({ message: 'You allow this mailbox 10 emails in 24 hours, and that many have been sent.' })
  expect((await ask(app, asha, noticeCalls.list)).reply.filter(({ kind }) => kind === 'quota')).toHaveLength(1)
  expect((await limit(app, asha, { perDay: 1_000 })).reply.pause).toBeNull()
  await app.runJobs()
  expect(smtp.mails).toHaveLength(30)
})

test('a limit that could hold an email with its copies is refused, and says what may be entered', async () => {
  await using office = await anOffice({ now: morning })
  const { app, asha } = office
  for (const [field, value] of [
    ['perHour', 9],
    ['perDay', 0],
    ['perDay', 10.5],
    ['perHour', 1_000_001],
  ] as const)
    expect((await limit(app, asha, { [field]: value })).problem).toMatchObject({
      code: 'invalid',
      errors: [{ path: field, message: expect.stringContaining('from 10 to 10,00,000') }],
    })
  await limit(app, asha, { perHour: 50, perDay: 200 })
  expect((await limit(app, asha, { perHour: null })).reply.limits).toMatchObject({ perHour: null, perDay: 200 })
})
