// Also on PostgreSQL: triggers write events, in the order of commits.
import { sql } from 'drizzle-orm'
import { expect, test } from 'vitest'
import { integrationCalls, type WebhookEvent, type WebhookPayload } from '#contract/integrations.ts'
import { invoiceCalls } from '#contract/invoices.ts'
import { type PayAnswer, payAnswerCalls } from '#contract/pay-answers.ts'
import { payLinkCalls } from '#contract/pay-links.ts'
import { paymentCalls } from '#contract/payments.ts'
import { newStep } from '#contract/ready-sequences.ts'
import { reminderCalls } from '#contract/reminders.ts'
import { createInvoice } from '#server/invoices/invoices.ts'
import { post } from '#test/business.ts'
import { aMailbox, anInvoice, anOffice, aPerson, aSequence, type Person } from '#test/factories.ts'
import { type FakeReceiver, openFakeReceiver } from '#test/fakes/receiver.ts'
import { type Asker, ask, openTestApp, type TestApp } from '#test/harness.ts'
import { anApplication, connect } from '#test/programs.ts'
import { aWebhook, toldTo } from '#test/webhooks.ts'
import { composeWebhooks } from './outbox.ts'
import { webhookDeliveries, webhookEvents } from './tables.ts'

const lax = { allowPrivateWebhookHosts: true }
const now = '2026-03-02T04:30:00Z'
const kaveri = { clientName: 'Kaveri Foods', clientEmail: 'billing@kaveri.example', amount: 12250.5, dueDate: '2026-03-02' }

const ofInvoices: WebhookEvent[] = ['invoice.created', 'invoice.overdue', 'invoice.paid']

/** The types of the events that a receiver got since the last call. */
function fresh(receiver: FakeReceiver, path?: string): string[] {
  const types = toldTo(receiver, path).map(({ type }) => type)
  receiver.calls.length = 0
  return types
}

const create = async (app: TestApp, someone: Person, body = kaveri) => (await ask(app, someone, invoiceCalls.create, { body })).reply

test('a created invoice is one event per webhook, in the shape of the API', async () => {
  await using receiver = await openFakeReceiver()
  await using app = await openTestApp({ now, config: lax })
  const asha = await aPerson(app)
  await aWebhook(app, asha, receiver, { path: '/one' })
  await aWebhook(app, asha, receiver, { path: '/two', events: ['invoice.created'] })
  await aWebhook(app, asha, receiver, { path: '/three', events: ['invoice.paid', 'reminder.sent'] })
  const invoice = await create(app, asha)
  app.clock.advance({ seconds: 2 })
  await app.runJobs()
  await app.runJobs()
  const [told] = toldTo(receiver, '/one')
  expect(toldTo(receiver, '/one')).toEqual([{ id: expect.any(String), type: 'invoice.created', timestamp: now, data: { invoice } }])
  expect(toldTo(receiver, '/two')).toEqual([told])
  expect(toldTo(receiver, '/three')).toEqual([])
  expect(receiver.calls.map(({ headers }) => headers['webhook-id'])).toEqual([told?.id, told?.id])
})

test('imported invoices are events too, line by line and in order', async () => {
  await using receiver = await openFakeReceiver()
  await using app = await openTestApp({ now, config: lax })
  const asha = await aPerson(app)
  await aWebhook(app, asha, receiver)
  const lines = Array.from({ length: 120 }, (_, nth) => ({ ...kaveri, amount: nth + 1 }))
  await ask(app, asha, invoiceCalls.import, { body: { lines: [...lines, { ...kaveri, amount: -1 }] } })
  await app.runJobs()
  const amounts = toldTo(receiver).map((told) => ('invoice' in told.data ? told.data.invoice.amount : null))
  expect(amounts).toEqual(lines.map(({ amount }) => amount))
  expect(new Set(toldTo(receiver).map(({ id }) => id)).size).toBe(120)
})

test('an invoice that becomes overdue at midnight is one event', async () => {
  await using receiver = await openFakeReceiver()
  await using app = await openTestApp({ now, config: lax })
  const asha = await aPerson(app)
  const invoice = await create(app, asha)
  await create(app, asha, { ...kaveri, dueDate: '2026-03-03' })
  await aWebhook(app, asha, receiver)
  app.clock.set('2026-03-02T18:29:59Z')
  await app.runJobs()
  expect(toldTo(receiver)).toEqual([])
  app.clock.set('2026-03-02T18:30:00Z')
  await app.runJobs()
  await app.runJobs()
  const overdue = { ...invoice, status: 'overdue' as const, updatedAt: '2026-03-02T18:30:00Z' }
  expect(toldTo(receiver)).toEqual([
    { id: expect.any(String), type: 'invoice.overdue', timestamp: '2026-03-02T18:30:00Z', data: { invoice: overdue } },
  ])
})

test('each paid invoice is one event, one by one and in bulk; undoing it is one where it becomes overdue again', async () => {
  await using receiver = await openFakeReceiver()
  await using app = await openTestApp({ now, config: lax })
  const asha = await aPerson(app)
  const [one, two, three] = [await create(app, asha), await create(app, asha), await create(app, asha)]
  await aWebhook(app, asha, receiver, { events: ofInvoices })
  const update = (id: string, status: 'paid' | 'unpaid' | 'overdue') =>
    ask(app, asha, invoiceCalls.update, { params: { id }, body: { status } })
  const mark = (ids: string[], status: 'paid' | 'unpaid' | 'overdue') =>
    ask(app, asha, invoiceCalls.bulkChange, { body: { ids, change: { do: 'mark', status } } })

  const { reply: paid } = await update(one._id, 'paid')
  await app.runJobs()
  expect(toldTo(receiver)).toMatchObject([{ type: 'invoice.paid', timestamp: now, data: { invoice: paid } }])
  await update(one._id, 'paid')
  await mark([one._id, two._id, three._id], 'paid')
  await app.runJobs()
  expect(fresh(receiver)).toEqual(['invoice.paid', 'invoice.paid', 'invoice.paid'])

  await update(one._id, 'unpaid')
  await mark([two._id], 'unpaid')
  await app.runJobs()
  expect(fresh(receiver)).toEqual([])

  await mark([three._id], 'overdue')
  await update(two._id, 'overdue')
  await update(two._id, 'overdue')
  await app.runJobs()
  expect(fresh(receiver)).toEqual(['invoice.overdue', 'invoice.overdue'])
})

test('an invoice created as overdue is created and becomes overdue: two events, in this order', async () => {
  await using receiver = await openFakeReceiver()
  await using app = await openTestApp({ now, config: lax })
  const asha = await aPerson(app)
  await aWebhook(app, asha, receiver)
  const { reply: invoice } = await ask(app, asha, invoiceCalls.create, { body: { ...kaveri, dueDate: '2026-01-02', status: 'overdue' } })
  await app.runJobs()
  expect(toldTo(receiver)).toMatchObject([
    { type: 'invoice.created', data: { invoice } },
    { type: 'invoice.overdue', data: { invoice } },
  ])
})

test('an old unpaid invoice becomes overdue at midnight, and that is one event', async () => {
  await using receiver = await openFakeReceiver()
  await using app = await openTestApp({ now, config: lax })
  const asha = await aPerson(app)
  const invoice = await create(app, asha, { ...kaveri, dueDate: '2026-01-02' })
  await aWebhook(app, asha, receiver)
  app.clock.set('2026-03-02T18:30:00Z')
  await app.runJobs()
  await app.runJobs()
  expect(toldTo(receiver)).toMatchObject([{ type: 'invoice.overdue', data: { invoice: { _id: invoice._id, status: 'overdue' } } }])
})

test('a payment is one event when it is recorded and one when it is taken back, with the invoice as it is then', async () => {
  await using receiver = await openFakeReceiver()
  await using app = await openTestApp({ now, config: lax })
  const asha = await aPerson(app)
  const robot = await connect(app, asha, await anApplication(app))
  const { _id: id } = await create(app, asha)
  const { reply: unheard } = await ask(app, asha, paymentCalls.record, { params: { id }, body: { amount: 250.5 } })
  expect(await sample(app, robot, 'payment.recorded')).toMatchObject([{ type: 'payment.recorded', timestamp: now, data: unheard }])
  await aWebhook(app, asha, receiver, { events: ['payment.recorded', 'payment.voided'] })
  const { reply: paid } = await ask(app, asha, paymentCalls.record, { params: { id }, body: { amount: 12_000, note: 'All of it' } })
  app.clock.advance({ minutes: 1 })
  const { reply: takenBack } = await ask(app, asha, paymentCalls.takeBack, { params: { id, pid: paid.payment._id } })
  await app.runJobs()
  expect(toldTo(receiver)).toMatchObject([
    { type: 'payment.recorded', timestamp: now, data: paid },
    { type: 'payment.voided', timestamp: '2026-03-02T04:31:00Z', data: takenBack },
  ])
  expect(await sample(app, robot, 'payment.voided')).toMatchObject([{ data: takenBack }])
})

test('what a client says on a pay page is one event, with the invoice and the pause that it begins', async () => {
  await using receiver = await openFakeReceiver()
  await using app = await openTestApp({ now, config: lax })
  const asha = await aPerson(app)
  const robot = await connect(app, asha, await anApplication(app))
  const { _id: id } = await create(app, asha)
  const { reply: link } = await ask(app, asha, payLinkCalls.create, { params: { id } })
  const say = (fields: Record<string, string>) => post(app, `${new URL(link.url).pathname}/answer`, fields)
  const newest = async () => {
    const [{ invoice: _invoice, ...answer }] = (await ask(app, asha, payAnswerCalls.list)).reply as [PayAnswer]
    return answer
  }
  await say({ kind: 'question', message: 'Which order is this?' })
  const [unheard] = await sample(app, robot, 'client.answered')
  expect(unheard).toMatchObject({ type: 'client.answered', timestamp: now, data: { answer: await newest(), invoice: { _id: id } } })
  await aWebhook(app, asha, receiver, { events: ['client.answered'] })
  await say({ kind: 'paid', date: '2026-03-01', amount: '250.5', reference: 'UTR 4711' })
  const answer = await newest()
  expect(answer).toMatchObject({ kind: 'paid', amount: 250.5, reference: 'UTR 4711', state: 'open', pausedUntil: '2026-03-07' })
  const { reply: invoice } = await ask(app, asha, invoiceCalls.read, { params: { id } })
  expect(invoice.pause).toMatchObject({ because: 'says_paid' })
  await ask(app, asha, payAnswerCalls.decline, { params: { id: answer._id } })
  await app.runJobs()
  const told = { id: expect.any(String), type: 'client.answered', timestamp: now, data: { answer, invoice } }
  expect(toldTo(receiver)).toEqual([told])
  // The first one as it is now, because no webhook listened to it.
  const replaced = { ...unheard?.data, answer: { state: 'replaced' }, invoice: { pause: null } }
  expect(await sample(app, robot, 'client.answered')).toMatchObject([told, { id: unheard?.id, data: replaced }])
})

test('an event has whether the invoice has a PDF', async () => {
  await using receiver = await openFakeReceiver()
  await using app = await openTestApp({ now, config: lax })
  const asha = await aPerson(app)
  const { _id: id } = await create(app, asha)
  await aWebhook(app, asha, receiver, { events: ['invoice.paid', 'payment.recorded'] })
  const headers = { authorization: `Bearer ${asha.token}`, 'content-type': 'application/pdf' }
  const added = await app.app.inject({ method: 'PUT', url: `/invoice/${id}/file`, headers, payload: Buffer.from('%PDF-1.7\n%%EOF\n') })
  expect(added.statusCode).toBe(200)
  await ask(app, asha, invoiceCalls.update, { params: { id }, body: { status: 'paid' } })
  await app.runJobs()
  expect(toldTo(receiver).map(({ data }) => 'invoice' in data && data.invoice.hasFile)).toEqual([true, true])
})

test('other changes are no events: other fields, pauses, deleting and restoring', async () => {
  await using receiver = await openFakeReceiver()
  await using app = await openTestApp({ now, config: lax })
  const asha = await aPerson(app)
  const { _id: id } = await create(app, asha)
  await ask(app, asha, invoiceCalls.update, { params: { id }, body: { status: 'paid' } })
  await aWebhook(app, asha, receiver, { events: ofInvoices })
  await ask(app, asha, invoiceCalls.update, { params: { id }, body: { amount: 7, clientName: 'Kaveri' } })
  await ask(app, asha, invoiceCalls.pause, { params: { id }, body: { paused: true } })
  await ask(app, asha, invoiceCalls.remove, { params: { id } })
  await ask(app, asha, invoiceCalls.restore, { params: { id } })
  await app.runJobs()
  expect(receiver.calls).toEqual([])
})

test('an accepted reminder is one event, with the invoice as it is then', async () => {
  await using receiver = await openFakeReceiver()
  await using office = await anOffice({ now, invoices: 1, config: lax })
  const { app, asha, invoices } = office
  await aWebhook(app, asha, receiver, { events: ['reminder.sent', 'reminder.failed'] })
  const { reply } = await app.whileJobsRun(ask(app, asha, reminderCalls.sendNow))
  await app.runJobs()
  const [invoice] = invoices
  const { reply: history } = await ask(app, asha, reminderCalls.history, { params: { id: invoice?._id ?? '' } })
  expect(toldTo(receiver)).toEqual([
    {
      id: expect.any(String),
      type: 'reminder.sent',
      timestamp: now,
      data: {
        reminder: {
          _id: history.mails[0]?._id,
          runId: reply.runId,
          kind: 'send_now',
          clientEmail: 'client1@example.com',
          subject: expect.stringContaining('INV-0001'),
          attempt: 1,
          sentAt: now,
          serverReply: expect.stringMatching(/^250 /),
          sequence: null,
          step: null,
        },
        invoices: [{ ...invoice, owner: undefined, remindersSent: 1, lastReminderAt: now }],
        invoiceCount: 1,
      },
    },
  ])
})

test('the last email of a sequence has its step, and the end of the sequence is one event', async () => {
  await using receiver = await openFakeReceiver()
  await using office = await anOffice({ now, invoices: 1, config: lax })
  const { app, asha } = office
  const ours = { name: 'Ours', steps: [newStep(1, 'friendly')], everyDays: null, atMost: null, atLeast: 1 }
  const sequence = await aSequence(app, asha, ours)
  const robot = await connect(app, asha, await anApplication(app))
  expect(await sample(app, robot, 'sequence.ended')).toEqual([])
  await aWebhook(app, asha, receiver, { events: ['sequence.ended', 'reminder.sent'] })
  await app.whileJobsRun(ask(app, asha, reminderCalls.start))
  for (const date of ['2026-03-03', '2026-03-04']) {
    app.clock.set(`${date}T03:30:00Z`)
    await app.runJobs()
  }
  const invoice = { _id: office.invoices[0]?._id, sequence: null, remindersSent: 1 }
  expect(toldTo(receiver)).toMatchObject([
    { type: 'reminder.sent', timestamp: now, data: { reminder: { sequence, step: 1 }, invoices: [invoice] } },
    { type: 'sequence.ended', timestamp: '2026-03-03T03:30:00Z', data: { invoice } },
  ])
  const later = await connect(app, asha, await anApplication(app))
  expect(await sample(app, later, 'sequence.ended')).toEqual(toldTo(receiver).slice(1))
})

test('a promise that passes unpaid is one event per open invoice, also where the client promised for all of them', async () => {
  await using receiver = await openFakeReceiver()
  await using office = await anOffice({ now, config: lax })
  const { app, asha } = office
  const [one, two] = [await create(app, asha), await create(app, asha)]
  await aWebhook(app, asha, receiver, { events: ['promise.broken'] })
  const promise = async (id: string, scope: 'invoice' | 'client', until: string) =>
    ask(app, asha, invoiceCalls.pause, { params: { id }, body: { paused: true, until, promised: true, scope } })
  await promise(one._id, 'invoice', '2026-03-03')
  await promise(two._id, 'client', '2026-03-05')
  for (const day of ['03', '04', '05', '06']) {
    app.clock.set(`2026-03-${day}T04:00:00Z`)
    await app.runJobs()
  }
  const told = toldTo(receiver).map(({ type, timestamp, data }) => [type, timestamp, 'invoice' in data && data.invoice._id])
  expect(told.toSorted()).toEqual(
    [
      ['promise.broken', '2026-03-04T04:00:00Z', one._id],
      ['promise.broken', '2026-03-06T04:00:00Z', one._id],
      ['promise.broken', '2026-03-06T04:00:00Z', two._id],
    ].toSorted(),
  )
})

test('a reminder that came back is one event, however often it is reported', async () => {
  await using receiver = await openFakeReceiver()
  await using office = await anOffice({ now, config: lax })
  const { app, asha, smtp } = office
  const invoice = await anInvoice(app, { owner: asha, dueDate: '2026-02-20' })
  await aWebhook(app, asha, receiver, { events: ['reminder.bounced'] })
  await app.whileJobsRun(ask(app, asha, reminderCalls.sendNow))
  app.clock.advance({ minutes: 30 })
  const at = app.clock.now().toString()
  const body = { messageId: smtp.mails[0]?.messageId ?? '' }
  for (let nth = 0; nth < 2; nth += 1) expect((await ask(app, asha, integrationCalls.bounce, { body })).status).toBe(200)
  await app.runJobs()
  expect(toldTo(receiver)).toMatchObject([
    { type: 'reminder.bounced', timestamp: at, data: { reminder: { clientEmail: invoice.clientEmail }, invoices: [{ _id: invoice._id }] } },
  ])
  const later = await connect(app, asha, await anApplication(app))
  expect(await sample(app, later, 'reminder.bounced')).toMatchObject([{ type: 'reminder.bounced', timestamp: at }])
})

test('a permanently failed reminder is one event, with the reply of the mail server; one that is retried is none', async () => {
  await using receiver = await openFakeReceiver()
  await using office = await anOffice({ now, invoices: 2, config: lax })
  const { app, asha, smtp } = office
  await aWebhook(app, asha, receiver)
  smtp.answer({ rcpt: (to) => (to === 'client1@example.com' ? '550 5.1.1 No such user' : '450 4.2.1 Later, please') })
  await app.whileJobsRun(ask(app, asha, reminderCalls.sendNow))
  await app.runJobs()
  const said = { clientEmail: 'client1@example.com', sentAt: null, serverReply: '550 5.1.1 No such user', attempt: 1 }
  expect(toldTo(receiver)).toMatchObject([
    {
      type: 'reminder.failed',
      timestamp: now,
      data: { reminder: said, invoices: [{ clientEmail: 'client1@example.com', remindersSent: 0 }] },
    },
  ])
  // After four hours the other one is not retried any more.
  app.clock.advance({ hours: 5 })
  await app.runJobs()
  expect(toldTo(receiver).slice(1)).toMatchObject([
    { type: 'reminder.failed', data: { reminder: { clientEmail: 'client2@example.com', serverReply: '450 4.2.1 Later, please' } } },
  ])
})

test('a grouped email is one event that lists its invoices', async () => {
  await using receiver = await openFakeReceiver()
  await using office = await anOffice({ now, config: lax })
  const { app, asha } = office
  await ask(app, asha, reminderCalls.changeSettings, { body: { groupByClient: true } })
  for (const dueDate of ['2026-02-20', '2026-02-10', '2026-02-15']) await anInvoice(app, { owner: asha, dueDate })
  await aWebhook(app, asha, receiver)
  await app.whileJobsRun(ask(app, asha, reminderCalls.start))
  await app.runJobs()
  expect(toldTo(receiver)).toMatchObject([
    { type: 'reminder.sent', data: { invoices: [{ dueDate: '2026-02-10' }, { dueDate: '2026-02-15' }, { dueDate: '2026-02-20' }] } },
  ])
})

test('an event of a grouped email lists 200 of its invoices, and counts all', async () => {
  await using receiver = await openFakeReceiver()
  await using office = await anOffice({ now, config: lax })
  const { app, asha } = office
  await ask(app, asha, reminderCalls.changeSettings, { body: { groupByClient: true } })
  const lines = Array.from({ length: 257 }, (_none, nth) => ({
    ...kaveri,
    amount: nth + 1,
    dueDate: nth === 0 ? '2026-02-21' : '2026-02-20',
  }))
  await ask(app, asha, invoiceCalls.import, { body: { lines } })
  await aWebhook(app, asha, receiver)
  await app.whileJobsRun(ask(app, asha, reminderCalls.sendNow))
  await app.runJobs()
  const listed = (event: WebhookPayload | undefined) =>
    event && 'invoices' in event.data ? [event.data.invoiceCount, event.data.invoices.length, event.data.invoices[0]?.dueDate] : null
  const [told] = toldTo(receiver).filter(({ type }) => type === 'reminder.sent')
  expect(listed(told)).toEqual([257, 200, '2026-02-20'])
  const robot = await connect(app, asha, await anApplication(app))
  expect(listed((await sample(app, robot, 'reminder.sent'))[0])).toEqual([257, 200, '2026-02-20'])
  // Without a webhook the sample is composed of the present data.
  await app.db.execute(sql`DELETE FROM hook_events`)
  expect(listed((await sample(app, robot, 'reminder.sent'))[0])).toEqual([257, 200, '2026-02-20'])
})

// Writing 10,000 deliveries takes 2 s: one statement for all of them has too many parameters.
test('100 events at once for 101 webhooks are 10,100 deliveries', async () => {
  await using receiver = await openFakeReceiver()
  await using app = await openTestApp({ now, config: lax })
  const asha = await aPerson(app)
  await aWebhook(app, asha, receiver, { events: ['invoice.created'] })
  await app.db.execute(sql`
    INSERT INTO hooks (id, owner_id, kind, url, sealed_secret, events, created_at)
    SELECT gen_random_uuid(), owner_id, kind, url || '/' || n, sealed_secret, events, created_at FROM hooks, generate_series(1, 100) n`)
  const lines = Array.from({ length: 100 }, (_none, nth) => ({ ...kaveri, amount: nth + 1 }))
  await ask(app, asha, invoiceCalls.import, { body: { lines } })
  for (let nth = 0; nth < 3; nth += 1) await composeWebhooks(app.deps, asha.id)
  expect(await app.db.$count(webhookDeliveries)).toBe(10_100)
})

test('a delivered event keeps the state of its time', async () => {
  await using receiver = await openFakeReceiver()
  await using app = await openTestApp({ now, config: lax })
  const asha = await aPerson(app)
  await aWebhook(app, asha, receiver, { events: ['invoice.created'] })
  const first = await create(app, asha)
  await ask(app, asha, invoiceCalls.pause, { params: { id: first._id }, body: { paused: true, scope: 'client', note: 'on holiday' } })
  const second = await create(app, asha)
  expect(second.pause).toMatchObject({ scope: 'client', note: 'on holiday' })
  for (const id of [first._id, second._id])
    await ask(app, asha, invoiceCalls.update, { params: { id }, body: { amount: 1, status: 'paid' } })
  await ask(app, asha, invoiceCalls.pause, { params: { id: first._id }, body: { paused: false, scope: 'client' } })
  await ask(app, asha, invoiceCalls.remove, { params: { id: second._id } })
  await app.runJobs()
  expect(toldTo(receiver).map(({ data }) => data)).toEqual([{ invoice: first }, { invoice: second }])
})

test('a rolled back change is no event', async () => {
  await using receiver = await openFakeReceiver()
  await using app = await openTestApp({ now, config: lax })
  const asha = await aPerson(app)
  await aWebhook(app, asha, receiver)
  const failing = app.db.transaction(async (tx) => {
    await createInvoice(tx, asha.id, { ...kaveri, status: 'unpaid' }, app.clock.now(), app.deps.config)
    throw new Error('The power went out.')
  })
  await expect(failing).rejects.toThrow('The power went out.')
  await app.runJobs()
  expect(receiver.calls).toEqual([])
  expect(await app.db.select().from(webhookEvents)).toEqual([])
})

test('without webhooks no events are stored', async () => {
  await using receiver = await openFakeReceiver()
  await using office = await anOffice({ now, invoices: 1, config: lax })
  const { app, asha, smtp } = office
  const meera = await aPerson(app)
  await aMailbox(app, meera, smtp)
  await aWebhook(app, meera, receiver, { events: ['invoice.overdue'] })
  for (const person of [asha, meera]) {
    const { _id: id } = await create(app, person, { ...kaveri, dueDate: '2026-02-01' })
    await app.whileJobsRun(ask(app, person, reminderCalls.sendNow))
    await ask(app, person, invoiceCalls.update, { params: { id }, body: { status: 'paid' } })
  }
  await app.runJobs()
  expect(smtp.mails.length).toBe(3)
  expect(await app.db.select().from(webhookEvents)).toEqual([])
  expect(receiver.calls).toEqual([])
})

test('composing twice at once, or again after an interruption, adds no delivery twice', async () => {
  await using receiver = await openFakeReceiver()
  await using app = await openTestApp({ now, config: lax })
  const asha = await aPerson(app)
  await aWebhook(app, asha, receiver)
  for (let nth = 0; nth < 5; nth += 1) await create(app, asha)
  await Promise.all([composeWebhooks(app.deps, asha.id), composeWebhooks(app.deps, asha.id), composeWebhooks(app.deps, asha.id)])
  expect(await app.db.select().from(webhookDeliveries)).toHaveLength(5)
  await app.runJobs()
  expect(toldTo(receiver)).toHaveLength(5)
})

const sample = async (app: TestApp, someone: Asker, event: WebhookEvent) =>
  (await ask(app, someone, integrationCalls.sample, { params: { event } })).reply

test('samples are past events, or without webhooks what they would have been, newest first', async () => {
  await using receiver = await openFakeReceiver()
  await using office = await anOffice({ now, config: lax })
  const { app, asha, smtp } = office
  const events = ['invoice.created', 'invoice.overdue', 'invoice.paid', 'reminder.sent', 'reminder.failed'] as const
  const robot = await connect(app, asha, await anApplication(app))
  for (const event of events) expect(await sample(app, robot, event)).toEqual([])

  const before = await anInvoice(app, { owner: asha, clientEmail: 'one@example.com', dueDate: '2026-02-20' })
  const { reply: run } = await app.whileJobsRun(ask(app, asha, reminderCalls.sendNow))
  app.clock.advance({ minutes: 5 })
  await ask(app, asha, invoiceCalls.update, { params: { id: before._id }, body: { status: 'paid' } })
  const [created] = await sample(app, robot, 'invoice.created')
  expect(created).toMatchObject({ type: 'invoice.created', timestamp: now, data: { invoice: { _id: before._id, status: 'paid' } } })
  expect(created?.id).not.toBe(before._id)
  expect((await sample(app, robot, 'invoice.created'))[0]?.id).toBe(created?.id)
  expect(await sample(app, robot, 'invoice.paid')).toMatchObject([
    { timestamp: '2026-03-02T04:35:00Z', data: { invoice: { _id: before._id } } },
  ])
  expect(await sample(app, robot, 'reminder.sent')).toMatchObject([
    { timestamp: now, data: { reminder: { runId: run.runId, kind: 'send_now', sentAt: now }, invoices: [{ _id: before._id }] } },
  ])

  await aWebhook(app, asha, receiver)
  app.clock.advance({ minutes: 5 })
  const after = await create(app, asha, { ...kaveri, clientEmail: 'two@example.com', dueDate: '2026-02-20' })
  smtp.answer({ rcpt: () => '550 5.1.1 No such user' })
  await app.whileJobsRun(ask(app, asha, reminderCalls.sendNow))
  await ask(app, asha, invoiceCalls.update, { params: { id: after._id }, body: { status: 'overdue' } })
  await app.runJobs()
  for (const event of events) {
    const told = toldTo(receiver).filter(({ type }) => type === event)
    expect((await sample(app, robot, event)).slice(0, told.length), event).toEqual(told)
  }
  expect((await sample(app, robot, 'invoice.created')).map(({ data }) => 'invoice' in data && data.invoice._id)).toEqual([
    after._id,
    before._id,
  ])
  expect(await sample(app, robot, 'reminder.failed')).toHaveLength(1)
  const meera = await aPerson(app)
  expect(await sample(app, await connect(app, meera, await anApplication(app)), 'invoice.created')).toEqual([])
})

test('a sample is short, however much data there is', async () => {
  await using app = await openTestApp({ now })
  const asha = await aPerson(app)
  await ask(app, asha, invoiceCalls.import, { body: { lines: Array(30).fill(kaveri), keepDuplicates: true } })
  expect(await sample(app, await connect(app, asha, await anApplication(app)), 'invoice.created')).toHaveLength(10)
})
