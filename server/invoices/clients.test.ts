// Also on PostgreSQL: triggers add clients.
import { eq, sql } from 'drizzle-orm'
import { expect, test } from 'vitest'
import { clientCalls } from '#contract/clients.ts'
import { invoiceCalls } from '#contract/invoices.ts'
import { mailCalls } from '#contract/mail.ts'
import { paymentCalls } from '#contract/payments.ts'
import { reminderCalls } from '#contract/reminders.ts'
import { anInvoice, anOffice, aPerson, type Person } from '#test/factories.ts'
import { ask, openTestApp, type TestApp } from '#test/harness.ts'
import { pruneDeleted } from './invoices.ts'
import { clients, invoices } from './tables.ts'

const list = async (app: TestApp, someone: Person) => (await ask(app, someone, clientCalls.list)).reply
const keys = async (app: TestApp) => (await app.db.select({ key: clients.emailKey }).from(clients)).map(({ key }) => key).toSorted()
const read = (app: TestApp, someone: Person, id: string) => ask(app, someone, clientCalls.read, { params: { id } })

test('clients are listed by what is overdue, with the name and address of their newest invoice, and sums by currency', async () => {
  await using app = await openTestApp({ now: '2026-03-02T06:30:00Z' })
  const asha = await aPerson(app)
  await anInvoice(app, { owner: await aPerson(app), clientEmail: 'billing@kaveri.example' })
  const late = { owner: asha, dueDate: '2026-02-20', status: 'overdue' as const }
  await anInvoice(app, { ...late, amount: 1000 })
  await anInvoice(app, {
    ...late,
    clientName: 'Kaveri',
    clientEmail: 'Billing@Kaveri.example',
    amount: 70,
    currency: 'EUR',
    dueDate: '2026-02-10',
  })
  await anInvoice(app, { owner: asha, clientName: 'Nila', clientEmail: 'nila@example.com', amount: 9000, dueDate: '2026-03-20' })
  await anInvoice(app, { owner: asha, clientName: 'Nila', clientEmail: 'nila@example.com', amount: 5, status: 'paid' })
  await anInvoice(app, { ...late, clientName: 'Arjun', clientEmail: 'arjun@example.com', amount: 4000 })
  const { _id: deleted } = await anInvoice(app, { owner: asha, clientEmail: 'gone@example.com' })
  await ask(app, asha, invoiceCalls.remove, { params: { id: deleted } })
  expect(await list(app, asha)).toMatchObject([
    { name: 'Arjun', overdue: [{ currency: 'INR', amount: 4000 }], openInvoices: 1 },
    {
      name: 'Kaveri',
      email: 'Billing@Kaveri.example',
      overdue: [
        { currency: 'INR', amount: 1000 },
        { currency: 'EUR', amount: 70 },
      ],
      oldestDueDate: '2026-02-10',
      invoices: 2,
    },
    { name: 'Nila', overdue: [], open: [{ currency: 'INR', amount: 9000 }], paid: [{ currency: 'INR', amount: 5 }], openInvoices: 1 },
  ])
})

test('a client’s page has the invoices and the emails about them; pausing it pauses each, and another account finds nothing', async () => {
  await using office = await anOffice({ now: '2026-03-02T06:30:00Z' })
  const { app, asha, smtp } = office
  const first = await anInvoice(app, { owner: asha, dueDate: '2026-02-20' })
  await anInvoice(app, { owner: asha, status: 'paid' })
  await app.whileJobsRun(ask(app, asha, reminderCalls.start))
  expect(smtp.mails.length).toBe(1)
  const [client] = await list(app, asha)
  const id = client?._id ?? ''
  expect((await read(app, asha, id)).reply).toMatchObject({
    name: 'Kaveri Foods',
    list: [{ _id: first._id }, { status: 'paid' }],
    timeline: expect.arrayContaining([expect.objectContaining({ kind: 'email', state: 'sent', references: ['INV-0001'], stored: true })]),
  })
  await ask(app, asha, paymentCalls.record, { params: { id: first._id }, body: { amount: 2000, method: 'upi' } })
  app.clock.advance({ minutes: 1 })
  const paid = (await read(app, asha, id)).reply
  expect(paid.timeline.map((event) => (event.kind === 'payment' ? [event.reference, event.payment.amount] : event.kind))).toEqual(
    expect.arrayContaining([['INV-0001', 2000], 'email', ['INV-0002', 5000]]),
  )
  expect([paid.overdue, paid.open, paid.paid]).toEqual([[], [{ currency: 'INR', amount: 3000 }], [{ currency: 'INR', amount: 7000 }]])
  const ravi = await aPerson(app)
  const change = (someone: Person, pause: object | null) =>
    ask(app, someone, clientCalls.update, { params: { id }, body: { pause: pause as null } })
  expect([(await read(app, ravi, id)).status, (await change(ravi, null)).status, (await read(app, asha, 'x')).status]).toEqual([
    404, 404, 404,
  ])
  expect((await change(asha, { until: '2026-03-01' })).problem?.message).toBe('Please choose today or a later day.')
  const { reply } = await change(asha, { until: '2026-03-09', note: 'On holiday', promised: true })
  expect(reply.pause).toEqual({ until: '2026-03-09', note: 'On holiday', promised: true })
  const read1 = await ask(app, asha, invoiceCalls.read, { params: { id: first._id } })
  expect(read1.reply.pause).toMatchObject({ scope: 'client', until: '2026-03-09' })
  expect((await change(asha, null)).reply.pause).toBeNull()
})

test('of two currencies the later one is shown also within a second', async () => {
  await using app = await openTestApp({ now: '2026-03-02T06:30:00Z' })
  const asha = await aPerson(app)
  // Shown are the newest name, the last answer, and since when nothing was delivered.
  const parts = [
    { clientName: 'Kaveri', currency: 'EUR', pauseBecause: 'says_paid', undeliveredReply: '550 5.1.1 No such user' },
    { clientName: 'Kaveri Foods', currency: 'INR', pauseBecause: 'question', undeliveredReply: '552 5.2.2 Mailbox full' },
  ] as const
  for (const { clientName, currency, ...said } of parts) {
    const { _id: id } = await anInvoice(app, { owner: asha, clientName, currency })
    const now = app.clock.now()
    await app.db
      .update(invoices)
      .set({ ...said, createdAt: now, pausedAt: now, undeliveredSince: now })
      .where(eq(invoices.id, id))
    app.clock.advance({ milliseconds: 500 })
  }
  expect(await list(app, asha)).toMatchObject([
    { name: 'Kaveri Foods', said: { because: 'question' }, notDelivered: { reply: '550 5.1.1 No such user' } },
  ])
})

test('a client’s timeline is newest first also within a second', async () => {
  await using app = await openTestApp({ now: '2026-03-02T06:30:00Z' })
  const asha = await aPerson(app)
  const { _id: id } = await anInvoice(app, { owner: asha })
  for (const amount of [1, 2, 3]) {
    await ask(app, asha, paymentCalls.record, { params: { id }, body: { amount } })
    app.clock.advance({ milliseconds: 500 })
  }
  const [client] = await list(app, asha)
  const { timeline } = (await read(app, asha, client?._id ?? '')).reply
  expect(timeline.map((event) => (event.kind === 'payment' ? event.payment.amount : event.kind))).toEqual([3, 2, 1])
})

test('a client comes with its first invoice, and goes once no invoice has the address', async () => {
  await using app = await openTestApp()
  const asha = await aPerson(app)
  const { _id: id } = await anInvoice(app, { owner: asha, clientEmail: 'One@example.com' })
  await anInvoice(app, { owner: asha, clientEmail: 'one@example.com', reference: 'A' })
  expect(await keys(app)).toEqual(['one@example.com'])
  await ask(app, asha, invoiceCalls.update, { params: { id }, body: { clientEmail: 'two@example.com' } })
  expect(await keys(app)).toEqual(['one@example.com', 'two@example.com'])
  await ask(app, asha, invoiceCalls.update, { params: { id }, body: { clientEmail: 'three@example.com' } })
  expect(await keys(app)).toEqual(['one@example.com', 'three@example.com'])
  await ask(app, asha, invoiceCalls.remove, { params: { id } })
  app.clock.advance({ hours: 30 * 24, seconds: 1 })
  await pruneDeleted(app.db, app.clock.now())
  expect(await keys(app)).toEqual(['one@example.com'])
})

/** A client with everything that can be set, who is paused, and how it is shown. */
async function aSetClient() {
  const office = await anOffice({ now: '2026-03-02T06:30:00Z' })
  const { app, asha } = office
  await anInvoice(app, { owner: asha, dueDate: '2026-02-20' })
  const { _id: id } = await anInvoice(app, { owner: asha, clientName: 'Rohan', clientEmail: 'rohan@metha.example', dueDate: '2026-02-20' })
  const [mailbox] = (await ask(app, asha, mailCalls.mailboxes)).reply.mailboxes
  const set = {
    ...{ sequence: 'never', secondContact: 'boss@mehta.example', mailbox: mailbox?._id ?? '', language: 'de', smart: false },
    ...{ country: 'DE', region: 'BE', timezone: 'Europe/Berlin', pause: { until: '2026-04-15', note: 'Dispute', promised: true } },
  }
  const of = async (email: string) => (await list(app, asha)).find((one) => one.email === email)
  await ask(app, asha, clientCalls.update, { params: { id: (await of('rohan@metha.example'))?._id ?? '' }, body: set })
  const correct = (clientEmail: string, more: object = {}) =>
    ask(app, asha, invoiceCalls.update, { params: { id }, body: { clientEmail, ...more } })
  return Object.assign(office, { id, set, of, correct })
}

test('a corrected address keeps what is set for the client, its pause too, and so when it is corrected back', async () => {
  await using all = await aSetClient()
  const { app, asha, set, of, correct } = all
  for (const email of ['rohan@mehta.example', 'rohan@metha.example', 'rohan@mehta.example']) {
    const { reply } = await correct(email)
    expect([reply.pause, await of(email)]).toMatchObject([{ ...set.pause, scope: 'client' }, set])
  }
  await ask(app, asha, clientCalls.update, { params: { id: (await of('rohan@mehta.example'))?._id ?? '' }, body: { pause: null } })
  // What the address had before does not come back with it.
  expect((await correct('rohan@metha.example')).reply.pause).toBeNull()
  await app.whileJobsRun(ask(app, asha, reminderCalls.start))
  app.clock.advance({ hours: 24 })
  await app.runJobs()
  expect(new Set(all.smtp.mails.map(({ envelope }) => envelope.to[0]))).toEqual(new Set(['billing@kaveri.example']))
})

test('a client with other invoices keeps what is set for it when the address of one is corrected', async () => {
  await using all = await aSetClient()
  const { app, asha, set, of, correct } = all
  await anInvoice(app, { owner: asha, clientName: 'Rohan', clientEmail: 'rohan@metha.example' })
  await correct('boss@mehta.example')
  expect(await of('boss@mehta.example')).toMatchObject({ ...set, secondContact: null })
  expect(await of('rohan@metha.example')).toMatchObject(set)
})

test('what is set for a client does not follow its invoice to another client', async () => {
  await using all = await aSetClient()
  const { app, asha, set, of, correct } = all
  const nothing = { sequence: null, secondContact: null, mailbox: null, language: null, timezone: null, pause: null }
  await anInvoice(app, { owner: asha, clientName: 'Rohan', clientEmail: 'rohan@metha.example' })
  await correct('nila@example.com', { clientName: 'Nila' })
  expect(await of('nila@example.com')).toMatchObject(nothing)
  await correct('rohan@metha.example', { clientName: 'Rohan' })
  expect(await of('rohan@metha.example')).toMatchObject(set)
  await correct('billing@kaveri.example')
  expect(await of('billing@kaveri.example')).toMatchObject(nothing)
})

// Takes 1 s: an account with 10,000 clients.
test('a list of 10,000 clients is sent while it is made', async () => {
  await using app = await openTestApp()
  const asha = await aPerson(app)
  // In parts: on a busy machine one statement for all outlasts the limit on a silent database.
  for (let first = 1; first <= 10_000; first += 1_000)
    await app.db.execute(sql`
      INSERT INTO invoices (id, owner_id, reference, client_name, client_email, amount_minor, due_date, status, created_at, updated_at)
      SELECT gen_random_uuid(), ${asha.id}::uuid, 'C-' || n, 'Client ' || n, 'c' || n || '@example.com', n * 100, '2026-01-01', 'overdue', now(), now()
      FROM generate_series(${first}::int, ${first + 999}::int) n`)
  const all = await list(app, asha)
  expect(all.length).toBe(10_000)
  expect(all.slice(0, 2).map(({ name }) => name)).toEqual(['Client 10000', 'Client 9999'])
})
