// Also on PostgreSQL: one row per invoice and day, by unique indexes.
import { eq, isNotNull, sql } from 'drizzle-orm'
import { expect, test } from 'vitest'
import { accountCalls } from '#contract/accounts.ts'
import { invoiceCalls } from '#contract/invoices.ts'
import { noticeCalls } from '#contract/notices.ts'
import { reminderCalls } from '#contract/reminders.ts'
import { invoices } from '#server/invoices/tables.ts'
import { templates } from '#server/templates/tables.ts'
import { aMailbox, anInvoice, anOffice, aPerson, type Person } from '#test/factories.ts'
import { type FakeSmtp, later, openFakeSmtp } from '#test/fakes/smtp-server.ts'
import { ask, openTestApp, type TestApp } from '#test/harness.ts'
import { readEmail } from '#test/read-email.ts'

const start = (app: TestApp, person: Person) => app.whileJobsRun(ask(app, person, reminderCalls.start))
const history = async (app: TestApp, person: Person, id: string) =>
  (await ask(app, person, reminderCalls.history, { params: { id } })).reply
const days = async (app: TestApp, person: Person, id: string) =>
  (await history(app, person, id)).days.map(({ date, outcome }) => [date, outcome])
const pause = (app: TestApp, person: Person, id: string, body: object) =>
  ask(app, person, invoiceCalls.pause, { params: { id }, body: { paused: true, ...body } })

/** Of each email, its recipient and which amounts it names. */
const amountsIn = (mails: FakeSmtp['mails']) =>
  Promise.all(
    mails.map(async ({ envelope, raw }) => {
      const { text = '' } = await readEmail(raw)
      return [envelope.to[0], ['1,000.00', '77.00'].filter((amount) => text.includes(amount))]
    }),
  )

test('every day of the schedule has one row per invoice with its reason', async () => {
  await using office = await anOffice({ now: '2026-03-02T06:30:00Z' })
  const { app, asha, smtp } = office
  const invoice = await anInvoice(app, { owner: asha, dueDate: '2026-02-20' })
  await start(app, asha)
  app.clock.set('2026-03-03T03:30:00Z')
  smtp.answer({ rcpt: () => '550 5.7.1 Message refused' })
  await app.runJobs()
  app.clock.set('2026-03-04T03:30:00Z')
  smtp.answer({})
  await pause(app, asha, invoice._id, { until: '2026-03-04', note: 'On holiday' })
  await app.runJobs()
  app.clock.set('2026-03-05T12:31:00Z')
  await app.runJobs()
  app.clock.set('2026-03-06T02:00:00Z')
  await app.whileJobsRun(ask(app, asha, reminderCalls.sendNow))
  app.clock.set('2026-03-06T03:30:00Z')
  await app.runJobs()

  const { days: told } = await history(app, asha, invoice._id)
  expect(told.map(({ date, outcome, words }) => [date, outcome, words])).toEqual([
    ['2026-03-06', 'already_reminded', expect.stringContaining('already reminded that day')],
    ['2026-03-05', 'not_running', expect.stringContaining('not running')],
    ['2026-03-04', 'paused', 'Paused: On holiday'],
    ['2026-03-03', 'failed', expect.stringContaining('550 5.7.1 Message refused')],
    ['2026-03-02', 'sent', expect.stringContaining('250')],
  ])
})

test('an invoice added after the run of its day is shown as added later', async () => {
  await using office = await anOffice({ now: '2026-03-02T06:30:00Z' })
  const { app, asha } = office
  await anInvoice(app, { owner: asha })
  await start(app, asha)
  app.clock.set('2026-03-02T10:00:00Z')
  const late = await anInvoice(app, { owner: asha, dueDate: '2026-02-20' })
  app.clock.set('2026-03-03T03:30:00Z')
  await app.runJobs()
  expect(await days(app, asha, late._id)).toEqual([
    ['2026-03-03', 'sent'],
    ['2026-03-02', 'added_later'],
  ])
})

test('every past-due invoice has exactly one row a day, with any manual runs', async () => {
  await using office = await anOffice({ now: '2026-03-02T02:00:00Z' })
  const { app, asha } = office
  const invoices = [await anInvoice(app, { owner: asha }), await anInvoice(app, { owner: asha }), await anInvoice(app, { owner: asha })]
  await start(app, asha)
  for (let day = 2; day <= 6; day += 1) {
    app.clock.set(`2026-03-0${day}T03:30:00Z`)
    await app.runJobs()
    app.clock.advance({ hours: 2 })
    await app.whileJobsRun(ask(app, asha, reminderCalls.sendNow))
    await start(app, asha)
  }
  for (const { _id } of invoices)
    expect((await days(app, asha, _id)).map(([date]) => date)).toEqual([
      '2026-03-06',
      '2026-03-05',
      '2026-03-04',
      '2026-03-03',
      '2026-03-02',
    ])
})

test('a manual email in progress at nine is tried until 18:00, and the day shows its outcome', async () => {
  await using office = await anOffice({ now: '2026-03-02T06:30:00Z', invoices: 1 })
  const { app, asha, invoices, smtp } = office
  const { _id } = invoices[0] ?? { _id: '' }
  await start(app, asha)
  smtp.answer({ rcpt: () => '450 4.2.0 Later' })
  app.clock.set('2026-03-03T03:29:00Z')
  await app.whileJobsRun(ask(app, asha, reminderCalls.sendNow))
  app.clock.set('2026-03-03T03:30:00Z')
  await app.runJobs()
  expect((await days(app, asha, _id))[0]).toEqual(['2026-03-03', 'retrying'])
  for (const hour of ['04', '05', '06', '07', '08', '09']) {
    app.clock.set(`2026-03-03T${hour}:00:00Z`)
    await app.runJobs()
  }
  smtp.answer({})
  app.clock.set('2026-03-03T11:00:00Z')
  await app.runJobs()
  expect(smtp.mails).toHaveLength(2)
  expect((await days(app, asha, _id))[0]).toEqual(['2026-03-03', 'sent'])
})

test('the history shows every email with the reply of the mail server, and the email as it was sent', async () => {
  await using smtp = await openFakeSmtp()
  await using app = await openTestApp({ now: '2026-03-02T06:30:00Z' })
  const asha = await aPerson(app)
  const ravi = await aPerson(app)
  await aMailbox(app, asha, smtp)
  const invoice = await anInvoice(app, { owner: asha, clientEmail: 'billing@kaveri.example', amount: 1234.5 })
  await start(app, asha)
  const told = await history(app, asha, invoice._id)
  expect(told).toMatchObject({ nextAt: '2026-03-03T03:30:00Z', reason: null })
  expect(told.mails).toMatchObject([
    { state: 'sent', kind: 'start', attempt: 1, sentAt: '2026-03-02T06:30:00Z', serverReply: '250 2.0.0 Accepted', invoices: 1 },
  ])
  const id = told.mails[0]?._id ?? ''
  const { reply: mail } = await ask(app, asha, reminderCalls.mail, { params: { id } })
  expect(mail).toMatchObject({ to: 'billing@kaveri.example', from: `Asha Rao <${smtp.login.user}>`, subject: told.mails[0]?.subject })
  expect(mail.html).toContain('₹1,234.50')
  expect(smtp.mails[0]?.messageId).toBe(mail.messageId)
  expect((await ask(app, ravi, reminderCalls.mail, { params: { id } })).status).toBe(404)
  expect((await ask(app, ravi, reminderCalls.history, { params: { id: invoice._id } })).status).toBe(404)
  await ask(app, asha, invoiceCalls.update, { params: { id: invoice._id }, body: { status: 'paid' } })
  expect(await history(app, asha, invoice._id)).toMatchObject({ nextAt: null, reason: 'paid' })
})

test('a paused invoice gets no email from any trigger, and shows when reminders resume', async () => {
  await using office = await anOffice({ now: '2026-03-02T06:30:00Z' })
  const { app, asha, smtp } = office
  const invoice = await anInvoice(app, { owner: asha })
  const { reply: paused } = await pause(app, asha, invoice._id, { until: '2026-03-04', note: 'Dispute about hours' })
  expect(paused.pause).toEqual({ until: '2026-03-04', note: 'Dispute about hours', promised: false, scope: 'invoice', because: 'owner' })
  expect((await start(app, asha)).reply).toMatchObject({ count: 0, skipped: 1, total: 1 })
  await app.whileJobsRun(ask(app, asha, reminderCalls.sendNow))
  expect(await history(app, asha, invoice._id)).toMatchObject({ nextAt: '2026-03-05T03:30:00Z', reason: 'paused' })
  for (const day of [3, 4]) {
    app.clock.set(`2026-03-0${day}T03:30:00Z`)
    await app.runJobs()
  }
  expect(smtp.mails).toEqual([])
  app.clock.set('2026-03-05T03:30:00Z')
  await app.runJobs()
  expect(smtp.mails.length).toBe(1)
  expect((await ask(app, asha, invoiceCalls.read, { params: { id: invoice._id } })).reply.pause).toBeNull()
  expect((await ask(app, asha, noticeCalls.list)).reply).toEqual([])
})

test('a pause without an end lasts until it is resumed', async () => {
  await using office = await anOffice({ now: '2026-03-02T06:30:00Z' })
  const { app, asha, smtp } = office
  const invoice = await anInvoice(app, { owner: asha })
  await start(app, asha)
  await pause(app, asha, invoice._id, {})
  app.clock.set('2026-03-20T03:30:00Z')
  await app.runJobs()
  expect(smtp.mails.length).toBe(1)
  expect(await history(app, asha, invoice._id)).toMatchObject({ nextAt: null, reason: 'paused' })
  await ask(app, asha, invoiceCalls.pause, { params: { id: invoice._id }, body: { paused: false } })
  app.clock.set('2026-03-21T03:30:00Z')
  await app.runJobs()
  expect(smtp.mails.length).toBe(2)
})

test('pausing in the middle of a run takes effect before the next email', async () => {
  await using office = await anOffice({ now: '2026-03-02T06:30:00Z' })
  const { app, asha, smtp } = office
  const invoice = await anInvoice(app, { owner: asha })
  smtp.answer({ rcpt: () => '450 4.2.0 Later' })
  await start(app, asha)
  smtp.answer({})
  await pause(app, asha, invoice._id, {})
  app.clock.advance({ minutes: 10 })
  await app.runJobs()
  expect(smtp.mails).toEqual([])
  expect(await days(app, asha, invoice._id)).toEqual([['2026-03-02', 'superseded']])
})

test('a paused client gets no reminders for any invoice, also for those added later', async () => {
  await using office = await anOffice({ now: '2026-03-02T06:30:00Z' })
  const { app, asha, smtp } = office
  const invoice = await anInvoice(app, { owner: asha, clientEmail: 'Billing@Kaveri.example' })
  await anInvoice(app, { owner: asha, clientEmail: 'billing@kaveri.example' })
  await pause(app, asha, invoice._id, { scope: 'client', until: '2026-03-10', note: 'New owner, talks in May' })
  await anInvoice(app, { owner: asha, clientEmail: 'billing@kaveri.example' })
  await anInvoice(app, { owner: asha, clientEmail: 'somebody@else.example' })
  expect((await start(app, asha)).reply).toMatchObject({ count: 1, skipped: 3 })
  expect((await history(app, asha, invoice._id)).days).toMatchObject([{ outcome: 'paused', words: 'Paused: New owner, talks in May' }])
  const { reply: listed } = await ask(app, asha, invoiceCalls.list, { query: {} })
  expect(listed.map(({ pause: one }) => one?.scope ?? null)).toEqual([null, 'client', 'client', 'client'])
  await ask(app, asha, invoiceCalls.pause, { params: { id: invoice._id }, body: { paused: false, scope: 'client' } })
  app.clock.set('2026-03-03T03:30:00Z')
  await app.runJobs()
  expect(smtp.mails.length).toBe(5)
})

test('a pause ends though a thousand others that end later are before it in line', async () => {
  await using app = await openTestApp({ now: '2026-03-05T18:31:00Z' })
  const [west, asha] = [await aPerson(app, { timezone: 'Pacific/Pago_Pago' }), await aPerson(app)]
  await app.db.execute(sql`
    INSERT INTO invoices (id, owner_id, reference, client_name, client_email, amount_minor, due_date, status, created_at, updated_at, paused_at, paused_until)
    SELECT ('00000000-0000-7000-8000-' || lpad(nth::text, 12, '0'))::uuid, ${west.id}::uuid, 'W-' || nth, 'Client', 'c@example.com', 100, '2026-02-01', 'overdue', now(), now(), now(), '2026-03-05'
    FROM generate_series(1, 1000) nth`)
  const { _id } = await anInvoice(app, { owner: asha })
  await app.db.update(invoices).set({ pausedAt: app.clock.now(), pausedUntil: '2026-03-05' }).where(eq(invoices.id, _id))
  await app.runJobs()
  const paused = await app.db.select({ ownerId: invoices.ownerId }).from(invoices).where(isNotNull(invoices.pausedUntil))
  expect(new Set(paused.map(({ ownerId }) => ownerId))).toEqual(new Set([west.id]))
  expect(paused.length).toBe(1_000)
})

test('a promise to pay that passes unpaid notifies the owner once, also by email; a kept one does not', async () => {
  await using own = await openFakeSmtp()
  await using office = await anOffice({
    now: '2026-03-02T06:30:00Z',
    config: { systemSmtpUrl: `smtp://127.0.0.1:${own.port}`, systemMailFrom: 'Duely <hello@duely.example>' },
  })
  const { app, asha } = office
  const broken = await anInvoice(app, { owner: asha, clientName: 'Kaveri Foods', amount: 500 })
  const kept = await anInvoice(app, { owner: asha, clientName: 'Studio Banyan' })
  for (const { _id } of [broken, kept]) await pause(app, asha, _id, { until: '2026-03-05', promised: true, note: 'Cheque is in the post' })
  await ask(app, asha, invoiceCalls.update, { params: { id: kept._id }, body: { status: 'paid' } })
  app.clock.set('2026-03-05T18:29:00Z')
  await app.runJobs()
  expect((await ask(app, asha, noticeCalls.list)).reply).toEqual([])
  app.clock.set('2026-03-05T18:31:00Z')
  await app.runJobs()
  await app.runJobs()
  const { reply: notices } = await ask(app, asha, noticeCalls.list)
  expect(notices).toMatchObject([
    { kind: 'promise_broken', title: 'Kaveri Foods has not paid as promised', text: expect.stringContaining('₹500.00') },
  ])
  expect(notices[0]?.text).toContain('Daily reminders are off')
  const subjects = await Promise.all(own.mails.map(async ({ raw }) => (await readEmail(raw)).subject))
  expect(subjects.filter((subject) => subject?.includes('promised'))).toEqual(['A client has not paid as promised'])
  await ask(app, asha, noticeCalls.dismiss, { params: { id: notices[0]?._id ?? '' } })
  expect((await ask(app, asha, noticeCalls.list)).reply).toEqual([])
})

test('the notice of a broken promise is withdrawn once what was promised is paid or deleted', async () => {
  await using office = await anOffice({ now: '2026-03-02T06:30:00Z' })
  const { app, asha } = office
  const [paid, gone, first, second] = [
    await anInvoice(app, { owner: asha, clientName: 'Kaveri Foods', clientEmail: 'a@example.com' }),
    await anInvoice(app, { owner: asha, clientName: 'Studio Banyan', clientEmail: 'b@example.com' }),
    await anInvoice(app, { owner: asha, clientName: 'Nila Printers', clientEmail: 'c@example.com' }),
    await anInvoice(app, { owner: asha, clientName: 'Nila Printers', clientEmail: 'C@example.com' }),
  ]
  for (const { _id } of [paid, gone]) await pause(app, asha, _id, { until: '2026-03-05', promised: true })
  await pause(app, asha, first._id, { until: '2026-03-05', promised: true, scope: 'client' })
  app.clock.set('2026-03-05T18:31:00Z')
  await app.runJobs()
  const named = async () => (await ask(app, asha, noticeCalls.list)).reply.map(({ clients }) => clients[0]?.clientName).sort()
  expect(await named()).toEqual(['Kaveri Foods', 'Nila Printers', 'Studio Banyan'])
  await ask(app, asha, invoiceCalls.update, { params: { id: paid._id }, body: { status: 'paid' } })
  await ask(app, asha, invoiceCalls.remove, { params: { id: gone._id } })
  await ask(app, asha, invoiceCalls.update, { params: { id: first._id }, body: { status: 'paid' } })
  expect(await named()).toEqual(['Nila Printers'])
  await ask(app, asha, invoiceCalls.update, { params: { id: second._id }, body: { status: 'paid' } })
  expect(await named()).toEqual([])
})

test('a pause that ends in the past is refused by its field', async () => {
  await using app = await openTestApp({ now: '2026-03-02T06:30:00Z' })
  const asha = await aPerson(app)
  const ravi = await aPerson(app)
  const invoice = await anInvoice(app, { owner: asha })
  expect((await pause(app, asha, invoice._id, { until: '2026-03-01' })).problem).toMatchObject({
    code: 'invalid',
    errors: [{ path: 'until' }],
  })
  expect((await pause(app, asha, invoice._id, { until: 'soon' })).status).toBe(400)
  expect((await pause(app, ravi, invoice._id, {})).status).toBe(404)
})

test('"try these again" sends only the emails that failed', async () => {
  await using office = await anOffice({ now: '2026-03-02T06:30:00Z' })
  const { app, asha, smtp } = office
  const one = await anInvoice(app, { owner: asha, clientEmail: 'one@example.com' })
  await anInvoice(app, { owner: asha, clientEmail: 'two@example.com' })
  smtp.answer({ rcpt: (to) => (to.startsWith('one') ? '550 5.1.1 Mailbox full of bees' : undefined) })
  const { runId } = (await start(app, asha)).reply
  smtp.answer({})
  const again = await app.whileJobsRun(ask(app, asha, reminderCalls.retryRun, { params: { id: runId ?? '' } }))
  expect(again.reply).toMatchObject({ count: 1, total: 1 })
  expect(smtp.mails.map(({ envelope }) => envelope.to[0])).toEqual(['two@example.com', 'one@example.com'])
  expect(await days(app, asha, one._id)).toEqual([['2026-03-02', 'sent']])
  const nothing = await app.whileJobsRun(ask(app, asha, reminderCalls.retryRun, { params: { id: runId ?? '' } }))
  expect(nothing.reply).toMatchObject({ count: 0 })
  expect(smtp.mails.length).toBe(2)
})

test('a cancelled run sends no further email, and the schedule continues', async () => {
  await using office = await anOffice({ now: '2026-03-02T06:30:00Z' })
  const { app, asha, smtp } = office
  await anInvoice(app, { owner: asha })
  smtp.answer({ rcpt: () => '450 4.2.0 Later' })
  const { runId } = (await start(app, asha)).reply
  const { reply: cancelled } = await ask(app, asha, reminderCalls.cancelRun, { params: { id: runId ?? '' } })
  expect(cancelled).toMatchObject({ open: 0, skipped: 1, cancelledAt: '2026-03-02T06:30:00Z' })
  smtp.answer({})
  app.clock.advance({ minutes: 10 })
  await app.runJobs()
  expect(smtp.mails).toEqual([])
  app.clock.set('2026-03-03T03:30:00Z')
  await app.runJobs()
  expect(smtp.mails.length).toBe(1)
})

test('the carry-over of a full mailbox is sent first the next day', async () => {
  await using office = await anOffice({ now: '2026-03-02T06:30:00Z' })
  const { app, asha, smtp } = office
  for (let nth = 1; nth <= 6; nth += 1)
    await anInvoice(app, { owner: asha, clientEmail: `client${nth}@example.com`, dueDate: `2026-02-0${nth}` })
  smtp.answer({ rcpt: (to) => (Number(/\d/.exec(to)?.[0]) > 3 ? '550 5.2.0 Not today' : undefined) })
  await start(app, asha)
  smtp.answer({})
  smtp.mails.length = 0
  app.clock.set('2026-03-03T03:30:00Z')
  await app.runJobs()
  const order = smtp.mails.map(({ envelope }) => Number(/\d/.exec(envelope.to[0] ?? '')?.[0]))
  // While one of the two connections is slow, the other may have sent what comes after.
  expect(order.slice(0, 3).filter((client) => client > 3).length).toBeGreaterThanOrEqual(2)
  expect(order.length).toBe(6)
})

test('grouped, a client with several overdue invoices gets one email that lists them all', async () => {
  await using office = await anOffice({ now: '2026-03-02T06:30:00Z' })
  const { app, asha, smtp } = office
  await ask(app, asha, reminderCalls.changeSettings, { body: { groupByClient: true } })
  const first = await anInvoice(app, { owner: asha, clientEmail: 'billing@kaveri.example', amount: 1000, dueDate: '2026-02-20' })
  const second = await anInvoice(app, { owner: asha, clientEmail: 'Billing@Kaveri.example', amount: 250.5, dueDate: '2026-03-01' })
  await anInvoice(app, { owner: asha, clientEmail: 'other@example.com' })
  expect((await ask(app, asha, reminderCalls.preview, { query: {} })).reply).toMatchObject({ mails: 2, sendNowMails: 2 })
  const answered = await start(app, asha)
  expect(answered.reply).toMatchObject({ count: 2, total: 2, invoices: 3 })
  expect(smtp.mails.length).toBe(2)
  const [mail] = (await history(app, asha, first._id)).mails
  expect(mail).toMatchObject({ invoices: 2, state: 'sent' })
  expect((await history(app, asha, second._id)).mails[0]?._id).toBe(mail?._id)
  const { reply } = await ask(app, asha, reminderCalls.mail, { params: { id: mail?._id ?? '' } })
  for (const words of ['INV-0001', 'INV-0002', '₹1,000.00', '₹250.50', '10 days overdue', '1 day overdue', '₹1,250.50'])
    expect(reply.text).toContain(words)
  const { remindersSent } = (await ask(app, asha, invoiceCalls.read, { params: { id: second._id } })).reply
  expect(remindersSent).toBe(1)
})

test('grouped, a client has one email per currency, each with the sum of its own, and no sum adds across', async () => {
  await using office = await anOffice({ now: '2026-03-02T06:30:00Z' })
  const { app, asha, smtp } = office
  await ask(app, asha, reminderCalls.changeSettings, { body: { groupByClient: true } })
  for (const [amount, currency] of [
    [1000, 'INR'],
    [250.5, 'INR'],
    [70, 'EUR'],
    [50, 'EUR'],
    [1200, 'JPY'],
  ] as const)
    await anInvoice(app, { owner: asha, amount, currency, dueDate: '2026-02-20' })
  expect((await ask(app, asha, reminderCalls.preview, { query: {} })).reply).toMatchObject({
    mails: 3,
    sendNowMails: 3,
    total: 1250.5,
    totals: [
      { currency: 'INR', amount: 1250.5 },
      { currency: 'EUR', amount: 120 },
      { currency: 'JPY', amount: 1200 },
    ],
  })
  expect((await start(app, asha)).reply).toMatchObject({ count: 3, total: 3, invoices: 5 })
  const subjects = await Promise.all(smtp.mails.map(async ({ raw }) => (await readEmail(raw)).subject))
  expect(subjects.toSorted()).toEqual([
    '2 invoices from Asha Rao: €120.00 overdue',
    '2 invoices from Asha Rao: ₹1,250.50 overdue',
    'Invoice INV-0005 from Asha Rao: JP¥1,200 was due on 20/02/2026',
  ])
})

test('an invoice that gets another currency while its grouped email waits is in the email of that currency', async () => {
  await using office = await anOffice({ now: '2026-03-02T06:30:00Z' })
  const { app, asha, smtp } = office
  await ask(app, asha, reminderCalls.changeSettings, { body: { groupByClient: true } })
  await anInvoice(app, { owner: asha, amount: 1000, dueDate: '2026-02-20' })
  const changed = await anInvoice(app, { owner: asha, amount: 77, dueDate: '2026-02-21' })
  smtp.answer({ rcpt: () => '450 4.2.0 Try later' })
  await start(app, asha)
  smtp.answer({})
  app.clock.advance({ minutes: 1 })
  await ask(app, asha, invoiceCalls.update, { params: { id: changed._id }, body: { currency: 'EUR' } })
  app.clock.advance({ minutes: 10 })
  await app.runJobs()
  expect(smtp.mails.length).toBe(1)
  const { subject, text = '' } = await readEmail(smtp.mails[0]?.raw)
  expect(subject).toBe('Invoice INV-0001 from Asha Rao: ₹1,000.00 was due on 20/02/2026')
  expect(text).not.toContain('77')
})

test('a grouped email names the 200 oldest invoices and sums up the rest', async () => {
  await using office = await anOffice({ now: '2026-03-02T06:30:00Z' })
  const { app, asha, smtp } = office
  await ask(app, asha, reminderCalls.changeSettings, { body: { groupByClient: true } })
  await manyInvoices(app, asha, 257)
  expect((await start(app, asha)).reply).toMatchObject({ count: 1, invoices: 257 })
  const { text } = await readEmail(smtp.mails[0]?.raw ?? '')
  const lines = text?.split('\n').filter((line) => /^INV-/.test(line)) ?? []
  expect(lines).toHaveLength(200)
  expect(lines[0]).toMatch(/^INV-0257: .* 258 days overdue$/)
  expect(text).toContain('and 57 more (₹57.00)')
  expect(text).toContain('257 invoices from Asha Rao')
  expect(text).toMatch(/^₹257\.00$/m)
  // Each of them counts as reminded, the unnamed ones included.
  const listed = (await ask(app, asha, invoiceCalls.list, { query: {} })).reply
  expect(listed.every(({ remindersSent }) => remindersSent === 1)).toBe(true)
})

test('a grouped email of more than 200 invoices leaves out what was paid before it was sent', async () => {
  await using office = await anOffice({ now: '2026-03-02T06:30:00Z' })
  const { app, asha, smtp } = office
  await ask(app, asha, reminderCalls.changeSettings, { body: { groupByClient: true } })
  await manyInvoices(app, asha, 210)
  smtp.answer({ rcpt: () => '451 4.3.0 Try again later' })
  await start(app, asha)
  expect(smtp.mails).toHaveLength(0)
  const [paid] = (await ask(app, asha, invoiceCalls.list, { query: { search: 'Kaveri' } })).reply
  await ask(app, asha, invoiceCalls.update, { params: { id: paid?._id ?? '' }, body: { status: 'paid' } })
  smtp.answer({})
  app.clock.advance({ minutes: 10 })
  await app.runJobs()
  const { text } = await readEmail(smtp.mails[0]?.raw ?? '')
  expect(text).toContain('and 9 more (₹9.00)')
  expect(text).toMatch(/^₹209\.00$/m)
  expect((await history(app, asha, paid?._id ?? '')).days[0]).toMatchObject({ outcome: 'superseded' })
})

test('a template that makes an email larger than 1 MB fails that email and no other', async () => {
  await using office = await anOffice({ now: '2026-03-02T06:30:00Z' })
  const { app, asha, smtp } = office
  await ask(app, asha, reminderCalls.changeSettings, { body: { groupByClient: true } })
  await manyInvoices(app, asha, 200)
  await anInvoice(app, { owner: asha, clientEmail: 'other@example.com' })
  // Saved before the number of uses was limited.
  await app.db.insert(templates).values({
    ownerId: asha.id,
    kind: 'group',
    useCustom: true,
    customSubject: 'Overdue',
    customContent: '{{invoiceList}}'.repeat(1_333),
    updatedAt: app.clock.now(),
  })
  const { reply } = await start(app, asha)
  expect(reply).toMatchObject({ count: 1, failed: 1 })
  expect(reply.failures[0]?.message).toBe('Not sent: the email would be larger than 1 MB. Shorten your email template.')
  expect(smtp.mails.map(({ envelope }) => envelope.to)).toEqual([['other@example.com']])
  await app.runJobs()
  expect(smtp.mails).toHaveLength(1)
})

/** Overdue invoices over ₹1.00 each, all of one client, the last ones the oldest. */
async function manyInvoices(app: TestApp, owner: Person, count: number): Promise<void> {
  const lines = Array.from({ length: count }, (_, n) => ({
    clientName: 'Kaveri Foods',
    clientEmail: 'billing@kaveri.example',
    amount: 1,
    dueDate: Temporal.PlainDate.from('2026-03-01')
      .subtract({ days: n + 1 })
      .toString(),
  }))
  await ask(app, owner, invoiceCalls.import, { body: { lines, keepDuplicates: true } })
}

test('a grouped email leaves out what was paid before it was sent', async () => {
  await using office = await anOffice({ now: '2026-03-02T06:30:00Z' })
  const { app, asha, smtp } = office
  await ask(app, asha, reminderCalls.changeSettings, { body: { groupByClient: true } })
  const paid = await anInvoice(app, { owner: asha, clientEmail: 'billing@kaveri.example', amount: 1000 })
  await anInvoice(app, { owner: asha, clientEmail: 'billing@kaveri.example', amount: 77 })
  smtp.answer({ rcpt: () => '450 4.2.0 Later' })
  await start(app, asha)
  smtp.answer({})
  await ask(app, asha, invoiceCalls.update, { params: { id: paid._id }, body: { status: 'paid' } })
  app.clock.advance({ minutes: 10 })
  await app.runJobs()
  expect(smtp.mails.length).toBe(1)
  const { text } = await readEmail(smtp.mails[0]?.raw)
  expect(text).toContain('77.00')
  expect(text).not.toContain('1,000.00')
  expect((await ask(app, asha, invoiceCalls.read, { params: { id: paid._id } })).reply.remindersSent).toBe(0)
  expect(await days(app, asha, paid._id)).toEqual([['2026-03-02', 'superseded']])
})

test('a client never reads in a grouped email what another client owes, also where an address was corrected before it was sent', async () => {
  await using office = await anOffice({ now: '2026-03-02T06:30:00Z' })
  const { app, asha, smtp } = office
  await ask(app, asha, reminderCalls.changeSettings, { body: { groupByClient: true } })
  const moved = await anInvoice(app, { owner: asha, clientEmail: 'billing@kaveri.example', amount: 1000, dueDate: '2026-02-01' })
  const stays = await anInvoice(app, { owner: asha, clientEmail: 'billing@kaveri.example', amount: 77, dueDate: '2026-02-20' })
  smtp.answer({ rcpt: () => '450 4.2.0 Later' })
  await start(app, asha)
  smtp.answer({})
  await ask(app, asha, invoiceCalls.update, { params: { id: moved._id }, body: { clientEmail: 'accounts@malabar.example' } })
  app.clock.advance({ minutes: 10 })
  await app.runJobs()
  const amounts = await amountsIn(smtp.mails)
  expect(amounts.sort()).toEqual([
    ['accounts@malabar.example', ['1,000.00']],
    ['billing@kaveri.example', ['77.00']],
  ])
  for (const { _id } of [moved, stays]) {
    expect((await ask(app, asha, invoiceCalls.read, { params: { id: _id } })).reply.remindersSent).toBe(1)
    expect(await days(app, asha, _id)).toEqual([['2026-03-02', 'sent']])
  }
})

test('where an address is corrected while a grouped email fails, each client gets the next try', async () => {
  await using office = await anOffice({ now: '2026-03-02T06:30:00Z' })
  const { app, asha, smtp } = office
  await ask(app, asha, reminderCalls.changeSettings, { body: { groupByClient: true } })
  const moved = await anInvoice(app, { owner: asha, clientEmail: 'billing@kaveri.example', amount: 1000, dueDate: '2026-02-01' })
  await anInvoice(app, { owner: asha, clientEmail: 'billing@kaveri.example', amount: 77, dueDate: '2026-02-20' })
  const corrected = Promise.withResolvers<void>()
  smtp.answer({ dot: () => later(corrected.promise, '451 4.3.0 Later') })
  const running = start(app, asha)
  await expect.poll(() => smtp.commands).toContain('DATA')
  await ask(app, asha, invoiceCalls.update, { params: { id: moved._id }, body: { clientEmail: 'accounts@malabar.example' } })
  corrected.resolve()
  await running
  smtp.answer({})
  app.clock.advance({ minutes: 10 })
  await app.runJobs()
  const amounts = await amountsIn(smtp.mails)
  expect(amounts.sort()).toEqual([
    ['accounts@malabar.example', ['1,000.00']],
    ['billing@kaveri.example', ['77.00']],
  ])
})

test('a grouped email is sent to the corrected address when all of its invoices have it', async () => {
  await using office = await anOffice({ now: '2026-03-02T06:30:00Z' })
  const { app, asha, smtp } = office
  await ask(app, asha, reminderCalls.changeSettings, { body: { groupByClient: true } })
  const both = [
    await anInvoice(app, { owner: asha, clientEmail: 'wrong@kaveri.example', amount: 1000, dueDate: '2026-02-01' }),
    await anInvoice(app, { owner: asha, clientEmail: 'wrong@kaveri.example', amount: 77, dueDate: '2026-02-20' }),
  ]
  smtp.answer({ rcpt: () => '450 4.2.0 Later' })
  await start(app, asha)
  smtp.answer({})
  for (const { _id } of both)
    await ask(app, asha, invoiceCalls.update, { params: { id: _id }, body: { clientEmail: 'billing@kaveri.example' } })
  app.clock.advance({ minutes: 10 })
  await app.runJobs()
  expect(new Set(smtp.mails.map(({ envelope }) => envelope.to[0]))).toEqual(new Set(['billing@kaveri.example']))
  for (const { _id } of both) expect((await ask(app, asha, invoiceCalls.read, { params: { id: _id } })).reply.remindersSent).toBe(1)
})

test('grouped, a skipped client counts once, because a run counts emails', async () => {
  await using office = await anOffice({ now: '2026-03-02T06:30:00Z' })
  const { app, asha, smtp } = office
  await ask(app, asha, reminderCalls.changeSettings, { body: { groupByClient: true } })
  const quiet = await anInvoice(app, { owner: asha, clientEmail: 'quiet@client.example' })
  await anInvoice(app, { owner: asha, clientEmail: 'Quiet@client.example' })
  await pause(app, asha, quiet._id, { scope: 'client', until: '2026-03-10' })
  const partly = await anInvoice(app, { owner: asha, clientEmail: 'partly@client.example' })
  await anInvoice(app, { owner: asha, clientEmail: 'partly@client.example' })
  await pause(app, asha, partly._id, { until: '2026-03-10' })
  expect((await start(app, asha)).reply).toMatchObject({ count: 1, invoices: 1, skipped: 1, total: 2 })
  expect(smtp.mails.length).toBe(1)
})

test('a client with more invoices than fit into one chunk still gets one email', async () => {
  await using office = await anOffice({ now: '2026-03-02T06:30:00Z' })
  const { app, asha, smtp } = office
  await ask(app, asha, reminderCalls.changeSettings, { body: { groupByClient: true } })
  await app.db.execute(sql`
    INSERT INTO invoices (id, owner_id, reference, client_name, client_email, amount_minor, due_date, status, created_at, updated_at)
    SELECT gen_random_uuid(), ${asha.id}::uuid, 'INV-' || n, 'Client', CASE WHEN n <= 1200 THEN 'big@example.com' ELSE 'c' || (n % 40) || '@example.com' END,
      100, date '2026-02-20', 'overdue', now(), now() FROM generate_series(1, 1400) n`)
  const answered = await start(app, asha)
  await app.runJobs()
  const { reply: run } = await ask(app, asha, reminderCalls.run, { params: { id: answered.reply.runId ?? '' } })
  expect(run).toMatchObject({ total: 41, sent: 41, open: 0 })
  expect(new Set(smtp.mails.map(({ envelope }) => envelope.to[0])).size).toBe(41)
})

test('the status reports when no worker checks for due reminders', async () => {
  await using app = await openTestApp({ now: '2026-03-02T06:30:00Z' })
  const asha = await aPerson(app)
  await app.runJobs()
  expect((await ask(app, asha, reminderCalls.status)).reply.trouble).toBeNull()
  await app.db.execute(sql`UPDATE processes SET started_at = now() - interval '1 hour', ticked_at = now() - interval '6 minutes'`)
  expect((await ask(app, asha, reminderCalls.status)).reply.trouble).toContain('5 minutes')
  await app.db.execute(sql`UPDATE processes SET ticked_at = now()`)
  await app.db.execute(sql`UPDATE accounts SET next_run_at = '2026-03-02T05:59:00Z', reminders_active = true`)
  expect((await ask(app, asha, reminderCalls.status)).reply.trouble).toContain('more than 30 minutes late')
})

test('changing the hour or the name does not change how emails are grouped', async () => {
  await using app = await openTestApp()
  const asha = await aPerson(app)
  await ask(app, asha, reminderCalls.changeSettings, { body: { groupByClient: true } })
  await ask(app, asha, accountCalls.changeProfile, { body: { reminderHour: 8 } })
  expect((await ask(app, asha, reminderCalls.settings)).reply).toMatchObject({ groupByClient: true })
  expect((await ask(app, asha, reminderCalls.changeSettings, { body: {} })).reply).toMatchObject({ groupByClient: true })
})
