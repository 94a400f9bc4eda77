// Also on PostgreSQL: emails are locked, split and joined again.
import { eq } from 'drizzle-orm'
import { expect, test } from 'vitest'
import { clientCalls } from '#contract/clients.ts'
import { integrationCalls } from '#contract/integrations.ts'
import { invoiceCalls } from '#contract/invoices.ts'
import { leavingCalls } from '#contract/leaving.ts'
import { newStep } from '#contract/ready-sequences.ts'
import { type HoldMinutes, reminderCalls } from '#contract/reminders.ts'
import { sequenceCalls } from '#contract/sequences.ts'
import { accounts } from '#server/accounts/tables.ts'
import { mailConfigs } from '#server/mail/tables.ts'
import { aMailbox, anInvoice, anOffice, aPerson, aSequence } from '#test/factories.ts'
import { later } from '#test/fakes/smtp-server.ts'
import { ask } from '#test/harness.ts'
import { readEmail } from '#test/read-email.ts'
import { holdRestored } from './holds.ts'
import { deliveries } from './tables.ts'

const nine = '2026-03-02T03:30:00Z'
const leaves = '2026-03-02T03:40:00Z'

/** Asha at nine o'clock in India, with invoices past due, just after the daily run was made. */
async function onHold(
  about: {
    minutes?: HoldMinutes
    at?: string
    grouped?: boolean
    invoices?: string[]
    dueDate?: string
    sequence?: Parameters<typeof aSequence>[2]
  } = {},
) {
  const {
    minutes = 10,
    at = nine,
    grouped = false,
    invoices = ['a@example.com', 'b@example.com'],
    dueDate = '2026-02-20',
    sequence,
  } = about
  const office = await anOffice({ now: '2026-03-02T02:00:00Z' })
  const { app, asha } = office
  await ask(app, asha, reminderCalls.changeSettings, { body: { holdMinutes: minutes, groupByClient: grouped } })
  if (sequence) await aSequence(app, asha, sequence)
  await app.db
    .update(accounts)
    .set({ remindersActive: true, nextRunAt: Temporal.Instant.from(nine), nextRunFrom: '2026-03-02' })
    .where(eq(accounts.id, asha.id))
  const ids: string[] = []
  for (const clientEmail of invoices) ids.push((await anInvoice(app, { owner: asha, clientEmail, dueDate }))._id)
  app.clock.set(at)
  await app.runJobs()
  const [run] = (await ask(app, asha, reminderCalls.runs, { query: {} })).reply
  if (!run) throw new Error('The daily run was not made.')
  const params = { id: run._id }
  return Object.assign(office, {
    run,
    ids,
    to: () => office.smtp.mails.map(({ envelope }) => envelope.to.join()).sort(),
    leaveOut: (invoiceIds?: string[]) => ask(app, asha, leavingCalls.leaveOut, { params, body: invoiceIds ? { invoiceIds } : {} }),
    takeBack: (invoiceIds?: string[]) => ask(app, asha, leavingCalls.takeBack, { params, body: invoiceIds ? { invoiceIds } : {} }),
    listed: async () => (await ask(app, asha, leavingCalls.mails, { params })).reply,
    async moveTo(instant: string) {
      app.clock.set(instant)
      await app.runJobs()
    },
  })
}

test('the emails of a daily run wait for as long as its owner has chosen, and then leave', async () => {
  await using office = await onHold()
  expect(office.run).toMatchObject({ leavesAt: leaves, open: 2, sent: 0 })
  await office.moveTo('2026-03-02T03:39:59Z')
  expect(office.to()).toEqual([])
  await office.moveTo(leaves)
  expect(office.to()).toEqual(['a@example.com', 'b@example.com'])
})

test.for([
  { minutes: 0, at: nine, leavesAt: null, words: 'immediately where none was chosen' },
  { minutes: 60, at: '2026-03-02T11:45:00Z', leavesAt: '2026-03-02T12:00:00Z', words: 'at 17:30 at the latest' },
  { minutes: 60, at: '2026-03-02T12:10:00Z', leavesAt: null, words: 'immediately after 17:30' },
] as const)('emails of a daily run leave $words', async ({ minutes, at, leavesAt }) => {
  await using office = await onHold({ minutes, at })
  expect(office.run.leavesAt).toBe(leavesAt)
  expect(office.to().length).toBe(leavesAt === null ? 2 : 0)
})

test('a run has something to review where it made emails, also once all are left out', async () => {
  const leaving = async (office: Awaited<ReturnType<typeof onHold>>) =>
    (await ask(office.app, office.asha, reminderCalls.status)).reply.leavingRunId
  await using empty = await onHold({ invoices: [] })
  expect([empty.run.leavesAt, await leaving(empty)]).toEqual([leaves, null])
  await using office = await onHold()
  await office.leaveOut()
  expect(await leaving(office)).toBe(office.run._id)
})

test('Start and Send Now do not wait', async () => {
  await using office = await anOffice({ now: nine, invoices: 1 })
  const { app, asha, smtp } = office
  await ask(app, asha, reminderCalls.changeSettings, { body: { holdMinutes: 60 } })
  await app.whileJobsRun(ask(app, asha, reminderCalls.start))
  expect(smtp.mails.length).toBe(1)
  await app.whileJobsRun(ask(app, asha, reminderCalls.sendNow))
  expect(smtp.mails.length).toBe(2)
})

// Row 12.
test.for([
  ['a payment', (one) => ask(one.app, one.asha, invoiceCalls.update, { params: { id: one.ids[0] ?? '' }, body: { status: 'paid' } })],
  ['a pause', (one) => ask(one.app, one.asha, invoiceCalls.pause, { params: { id: one.ids[0] ?? '' }, body: { paused: true } })],
  ['Stop', (one) => ask(one.app, one.asha, reminderCalls.stop)],
  ['cancelling the run', (one) => ask(one.app, one.asha, reminderCalls.cancelRun, { params: { id: one.run._id } })],
  ['leaving it out', (one) => one.leaveOut(one.ids)],
] as [string, (one: Awaited<ReturnType<typeof onHold>>) => Promise<{ status: number }>][])(
  '%s a millisecond before the claim of an email keeps it from leaving',
  async ([, act]) => {
    await using office = await onHold({ invoices: ['a@example.com'] })
    const { claims } = office.app.deps
    const claim = claims.claim
    let acted = 0
    claims.claim = async (wanted) => {
      office.app.clock.set('2026-03-02T03:39:59.999Z')
      expect((await act(office)).status).toBe(200)
      acted += 1
      office.app.clock.set(leaves)
      return claim(wanted)
    }
    await office.moveTo(leaves)
    claims.claim = claim
    expect([acted, office.to()]).toEqual([1, []])
    await office.moveTo('2026-03-02T12:29:00Z')
    expect(office.to()).toEqual([])
  },
)

test('what is left out stays out for that day, whatever a program triggers, and comes on the next', async () => {
  await using office = await onHold()
  const [first = ''] = office.ids
  expect((await office.leaveOut([first])).reply).toMatchObject({ open: 1, skipped: 1 })
  expect((await office.listed()).map(({ clientEmail, leftOut }) => [clientEmail, leftOut])).toEqual([
    ['a@example.com', true],
    ['b@example.com', false],
  ])
  await office.moveTo(leaves)
  await office.app.whileJobsRun(ask(office.app, office.asha, integrationCalls.trigger))
  expect(office.to()).toEqual(['b@example.com'])
  const history = await ask(office.app, office.asha, reminderCalls.history, { params: { id: first } })
  expect(history.reply.days[0]).toMatchObject({ outcome: 'left_out', words: 'Left out by you.' })
  await office.moveTo('2026-03-03T03:30:00Z')
  await office.moveTo('2026-03-03T03:40:00Z')
  expect(office.to()).toEqual(['a@example.com', 'b@example.com', 'b@example.com'])
})

test('what is taken back leaves with the others, and later immediately', async () => {
  await using office = await onHold()
  const [first = '', second = ''] = office.ids
  await office.leaveOut()
  expect((await office.takeBack([first])).reply).toMatchObject({ open: 1, finishedAt: null })
  await office.moveTo('2026-03-02T03:39:59Z')
  expect(office.to()).toEqual([])
  await office.moveTo(leaves)
  expect(office.to()).toEqual(['a@example.com'])
  await office.moveTo('2026-03-02T05:00:00Z')
  await office.takeBack([second])
  await office.moveTo('2026-03-02T05:00:01Z')
  expect(office.to()).toEqual(['a@example.com', 'b@example.com'])
  const { reply } = await ask(office.app, office.asha, reminderCalls.history, { params: { id: second } })
  expect(reply.days[0]?.outcome).toBe('sent')
  office.app.clock.set('2026-03-02T12:30:00Z')
  expect((await office.takeBack()).problem).toMatchObject({ code: 'conflict', message: 'This day is over.' })
})

test('one invoice of a grouped email is left out alone, and taken back into the same email', async () => {
  await using office = await onHold({ grouped: true, invoices: ['a@example.com', 'A@example.com', 'a@example.com', 'b@example.com'] })
  const [one = '', two = '', three = ''] = office.ids
  expect(office.run.open).toBe(2)
  await office.leaveOut([one, three])
  const sizes = async () => (await office.listed()).map(({ leftOut, invoices }) => [leftOut, invoices.length]).sort()
  expect(await sizes()).toEqual([
    [false, 1],
    [false, 1],
    [true, 2],
  ])
  await office.takeBack([three])
  expect(await sizes()).toEqual([
    [false, 1],
    [false, 2],
    [true, 1],
  ])
  await office.moveTo(leaves)
  expect(office.to().map((to) => to.toLowerCase())).toEqual(['a@example.com', 'b@example.com'])
  const sent = await Promise.all(office.smtp.mails.map(({ raw }) => readEmail(raw)))
  const both = sent.find(({ text }) => text?.includes('INV-0002'))
  expect(both?.text).toContain('INV-0003')
  expect(both?.text).not.toContain('INV-0001')
  const days = async (id: string) => (await ask(office.app, office.asha, reminderCalls.history, { params: { id } })).reply.days[0]?.outcome
  expect([await days(one), await days(two), await days(three)]).toEqual(['left_out', 'sent', 'sent'])
})

test('an invoice that was reminded by hand meanwhile, or is about to be, stays out of the email that is taken back', async () => {
  await using office = await onHold({ grouped: true, invoices: ['a@example.com', 'a@example.com', 'a@example.com'] })
  const { app, asha, smtp, ids } = office
  const [one = '', two = ''] = ids
  const sendNow = (id: string) => app.whileJobsRun(ask(app, asha, reminderCalls.sendNow, { body: { invoiceIds: [id] } }))
  await office.leaveOut()
  await sendNow(one)
  smtp.answer({ rcpt: () => '451 4.3.0 Later' })
  await sendNow(two)
  smtp.answer({})
  await office.takeBack()
  await office.moveTo(leaves)
  const texts = await Promise.all(smtp.mails.map(async ({ raw }) => (await readEmail(raw)).text ?? ''))
  expect(texts.map((text) => ['INV-0001', 'INV-0002', 'INV-0003'].filter((reference) => text.includes(reference)))).toEqual([
    ['INV-0001'],
    ['INV-0002'],
    ['INV-0003'],
  ])
})

test('an email to an address that was refused meanwhile waits for it when it is taken back', async () => {
  await using office = await onHold({ invoices: ['a@example.com'] })
  const { app, asha, smtp } = office
  await office.leaveOut()
  smtp.answer({ rcpt: () => '550 5.1.1 No such user here' })
  await app.whileJobsRun(ask(app, asha, reminderCalls.sendNow))
  smtp.answer({})
  expect((await office.takeBack()).reply).toMatchObject({ open: 1, held: 1, holdReason: 'address' })
  await office.moveTo(leaves)
  expect(office.to()).toEqual([])
})

test('what was left out stays out of what is taken back where its client is never reminded since', async () => {
  await using office = await onHold()
  const { app, asha } = office
  await office.leaveOut()
  const { reply: clients } = await ask(app, asha, clientCalls.list, { query: {} })
  const id = clients.find(({ email }) => email === 'a@example.com')?._id ?? ''
  await ask(app, asha, clientCalls.update, { params: { id }, body: { sequence: 'never' } })
  expect((await office.takeBack()).reply).toMatchObject({ open: 1 })
  await office.moveTo(leaves)
  expect(office.to()).toEqual(['b@example.com'])
})

test.for([
  ['leaves', false],
  ['stays closed once that is stopped', true],
] as const)('what a Send Now had pulled forward for a client who is never reminded %s, after Undo of Mark as paid', async ([, stopped]) => {
  await using office = await onHold({ invoices: ['a@example.com'] })
  const { app, asha, smtp } = office
  const mark = (status: 'paid' | 'unpaid') => ask(app, asha, invoiceCalls.update, { params: { id: office.ids[0] ?? '' }, body: { status } })
  smtp.answer({ rcpt: () => '451 4.3.0 Later' })
  await app.whileJobsRun(ask(app, asha, reminderCalls.sendNow))
  smtp.answer({})
  await mark('paid')
  const [client] = (await ask(app, asha, clientCalls.list)).reply
  await ask(app, asha, clientCalls.update, { params: { id: client?._id ?? '' }, body: { sequence: 'never' } })
  const [newest] = (await ask(app, asha, reminderCalls.runs, { query: {} })).reply
  expect(newest?.kind).toBe('send_now')
  if (stopped) await ask(app, asha, reminderCalls.cancelRun, { params: { id: newest?._id ?? '' } })
  await mark('unpaid')
  await office.moveTo('2026-03-02T05:00:00Z')
  expect(office.to()).toEqual(stopped ? [] : ['a@example.com'])
})

test('a step that is left out is not dealt with: it leaves on the next day', async () => {
  const { content, groupContent, groupSubject } = newStep(10, 'friendly')
  const text = { content, groupContent, groupSubject, tone: 'friendly' as const, copyToMe: false, copyToSecondContact: false }
  const steps = [
    { ...text, offset: 10, subject: 'Ten' },
    { ...text, offset: 20, subject: 'Twenty' },
  ]
  await using office = await onHold({
    invoices: ['a@example.com'],
    sequence: { name: 'Two', everyDays: null, atMost: null, atLeast: 1, steps },
  })
  expect(office.run).toMatchObject({ leavesAt: leaves, open: 1 })
  await office.leaveOut()
  await office.moveTo(leaves)
  expect(office.to()).toEqual([])
  await office.moveTo('2026-03-03T03:30:00Z')
  await office.moveTo('2026-03-03T03:40:00Z')
  expect((await readEmail(office.smtp.mails[0]?.raw ?? '')).subject).toBe('Ten')
})

test('the run leaves immediately when its owner chooses that, without what is left out', async () => {
  await using office = await onHold()
  await office.leaveOut(office.ids.slice(0, 1))
  const sent = await ask(office.app, office.asha, leavingCalls.sendNow, { params: { id: office.run._id } })
  expect(sent.reply).toMatchObject({ leavesAt: null, open: 1 })
  await office.moveTo('2026-03-02T03:31:00Z')
  expect(office.to()).toEqual(['b@example.com'])
})

test('a mailbox that is connected again meanwhile does not end the wait', async () => {
  await using office = await onHold()
  const { app, asha, smtp } = office
  await app.db.delete(mailConfigs).where(eq(mailConfigs.ownerId, asha.id))
  await office.moveTo('2026-03-02T03:32:00Z')
  await aMailbox(app, asha, smtp)
  await office.moveTo('2026-03-02T03:35:00Z')
  expect(office.to()).toEqual([])
  await office.moveTo(leaves)
  expect(office.to()).toEqual(['a@example.com', 'b@example.com'])
})

test('once a Send Now is stopped, what it had pulled forward waits for its run again, and can be left out', async () => {
  await using office = await onHold({ minutes: 30 })
  const { app, asha, smtp, ids } = office
  smtp.answer({ rcpt: () => '451 4.3.0 Later' })
  app.clock.set('2026-03-02T03:31:00Z')
  const { reply } = await app.whileJobsRun(ask(app, asha, reminderCalls.sendNow))
  smtp.answer({})
  expect(await office.listed()).toEqual([])
  const stopped = await ask(app, asha, reminderCalls.cancelRun, { params: { id: reply.runId ?? '' } })
  expect(stopped.reply).toMatchObject({ total: 0, open: 0 })
  expect((await office.listed()).map(({ clientEmail }) => clientEmail)).toEqual(['a@example.com', 'b@example.com'])
  expect((await office.leaveOut(ids.slice(0, 1))).reply).toMatchObject({ open: 1, skipped: 1 })
  await office.moveTo('2026-03-02T03:59:00Z')
  expect(office.to()).toEqual([])
  await office.moveTo('2026-03-02T04:00:05Z')
  expect(office.to()).toEqual(['b@example.com'])
})

test.each(['is offered to its mail server', 'waits for a connection'])(
  'a Send Now that is stopped while its email %s gives it back',
  async (when) => {
    await using office = await onHold({ minutes: 30 })
    const { app, asha, smtp } = office
    const reached = Promise.withResolvers<void>()
    const stopped = Promise.withResolvers<void>()
    const move = (next?: string) => {
      reached.resolve()
      return later(stopped.promise, next)
    }
    smtp.answer(when === 'waits for a connection' ? { greeting: () => move() } : { rcpt: () => move('451 4.3.0 Later') })
    app.clock.set('2026-03-02T03:31:00Z')
    const pressed = app.whileJobsRun(ask(app, asha, reminderCalls.sendNow))
    await reached.promise
    const [run] = (await ask(app, asha, reminderCalls.runs, { query: {} })).reply
    await ask(app, asha, reminderCalls.cancelRun, { params: { id: run?._id ?? '' } })
    stopped.resolve()
    await pressed
    await app.runJobs()
    smtp.answer({})
    expect(await office.listed()).toHaveLength(2)
    await office.moveTo('2026-03-02T03:59:00Z')
    expect(office.to()).toEqual([])
    await office.moveTo('2026-03-02T04:00:05Z')
    expect(office.to()).toEqual(['a@example.com', 'b@example.com'])
  },
)

test('what a Send Now had pulled forward does not wait again where its run left meanwhile', async () => {
  await using office = await onHold({ minutes: 30 })
  const { app, asha, smtp, run } = office
  smtp.answer({ rcpt: () => '451 4.3.0 Later' })
  app.clock.set('2026-03-02T03:31:00Z')
  const { reply } = await app.whileJobsRun(ask(app, asha, reminderCalls.sendNow))
  await ask(app, asha, leavingCalls.sendNow, { params: { id: run._id } })
  smtp.answer({})
  await ask(app, asha, reminderCalls.cancelRun, { params: { id: reply.runId ?? '' } })
  await office.moveTo('2026-03-02T03:45:00Z')
  expect(office.to()).toEqual(['a@example.com', 'b@example.com'])
})

test('only emails of an own daily run are left out, and changes of others are refused', async () => {
  await using office = await onHold()
  const { app, asha } = office
  const ravi = await aPerson(app)
  for (const call of [leavingCalls.leaveOut, leavingCalls.takeBack])
    expect((await ask(app, ravi, call, { params: { id: office.run._id }, body: {} })).status).toBe(404)
  const made = await app.whileJobsRun(ask(app, asha, reminderCalls.sendNow))
  const refused = await ask(app, asha, leavingCalls.leaveOut, { params: { id: made.reply.runId ?? '' }, body: {} })
  expect(refused.problem).toMatchObject({ code: 'conflict', message: 'Only emails of a daily run can be left out.' })
  const settings = { holdMinutes: 7 } as unknown as { holdMinutes: 5 }
  expect((await ask(app, asha, reminderCalls.changeSettings, { body: settings })).problem?.message).toBe(
    'Please choose 0, 5, 10, 30 or 60 minutes.',
  )
})

const ours = (...steps: ReturnType<typeof newStep>[]) => ({ name: 'Ours', steps, everyDays: null, atMost: null, atLeast: 1 })

test('another sequence of one invoice leaves the others of its email to be reminded', async () => {
  const sequence = ours(newStep(0, 'friendly'), newStep(7, 'friendly'))
  const [a, dueDate] = ['a@example.com', '2026-03-02']
  await using office = await onHold({ grouped: true, invoices: [a, a], dueDate, sequence })
  const { app, asha, ids, smtp } = office
  await ask(app, asha, sequenceCalls.assign, { params: { id: ids[0] ?? '' }, body: { sequence: 'never' } })
  await office.moveTo(leaves)
  expect(smtp.mails).toHaveLength(1)
  expect((await readEmail(smtp.mails[0]?.raw ?? '')).subject).toContain('INV-0002')
})

test('a step does not leave once a later due date makes it untrue, and that of the new date does', async () => {
  const sequence = ours(newStep(1, 'friendly'), newStep(30, 'final'))
  await using office = await onHold({ grouped: true, invoices: ['a@example.com', 'a@example.com'], dueDate: '2026-01-31', sequence })
  const { app, asha, ids, smtp } = office
  await ask(app, asha, invoiceCalls.update, { params: { id: ids[0] ?? '' }, body: { dueDate: '2026-02-27' } })
  const about = () => Promise.all(smtp.mails.map(async ({ raw }) => /INV-\d+/.exec((await readEmail(raw)).text ?? '')?.[0]))
  await office.moveTo(leaves)
  expect(await about()).toEqual(['INV-0002'])
  await office.moveTo('2026-03-03T03:30:00Z')
  await office.moveTo('2026-03-03T03:40:00Z')
  expect(await about()).toEqual(['INV-0002', 'INV-0001'])
})

test('a step before the due date does not leave once the due date is a month later, and that of the new date does', async () => {
  const sequence = ours(newStep(-3, 'friendly'), newStep(30, 'final'))
  await using office = await onHold({ invoices: ['a@example.com'], dueDate: '2026-03-05', sequence })
  const { app, asha, ids } = office
  await ask(app, asha, invoiceCalls.update, { params: { id: ids[0] ?? '' }, body: { dueDate: '2026-04-05' } })
  await office.moveTo(leaves)
  expect(office.to()).toEqual([])
  for (const at of ['2026-04-02T03:30:00Z', '2026-04-02T03:40:00Z']) await office.moveTo(at)
  expect(office.to()).toEqual(['a@example.com'])
})

test('what was left out after a restore waits for approval again when it is taken back', async () => {
  await using office = await onHold({ minutes: 30 })
  const { app, smtp } = office
  app.clock.set('2026-03-02T08:00:00Z')
  await app.db.transaction((tx) => holdRestored(tx, app.clock.now()))
  await office.leaveOut()
  await office.takeBack()
  await app.runJobs()
  expect((await app.db.select().from(deliveries)).map(({ state, reason }) => [state, reason])).toEqual(Array(2).fill(['held', 'restored']))
  expect(smtp.mails).toEqual([])
})
