// Also on PostgreSQL: sums are compared by a deferred trigger, keys and amounts come as the driver types them.
import { sql } from 'drizzle-orm'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { accountCalls } from '#contract/accounts.ts'
import { bankFileCalls } from '#contract/bank-file.ts'
import type { CallInput } from '#contract/call.ts'
import { type InvoiceChange, invoiceCalls } from '#contract/invoices.ts'
import { noticeCalls } from '#contract/notices.ts'
import { paymentCalls } from '#contract/payments.ts'
import { reminderCalls } from '#contract/reminders.ts'
import { rows } from '#server/platform/database.ts'
import { anInvoice, aPerson, type InvoiceAbout, type Person } from '#test/factories.ts'
import { ask, openTestApp, type TestApp } from '#test/harness.ts'
import { aKey } from '#test/programs.ts'
import { wasPaid } from './balance.ts'
import { invoicePayments } from './tables.ts'

const now = '2026-03-02T09:00:00Z'
type Draft = CallInput<typeof paymentCalls.record>['body']

async function anOpenInvoice(about: InvoiceAbout = {}) {
  const app = await openTestApp({ now })
  const asha = await aPerson(app)
  const invoice = await anInvoice(app, { owner: asha, ...about })
  const params = { id: invoice._id }
  return {
    app,
    asha,
    invoice,
    record: (body: Draft, key?: string) => ask(app, asha, paymentCalls.record, { params, body }, key ? { 'idempotency-key': key } : {}),
    takeBack: (pid: string) => ask(app, asha, paymentCalls.takeBack, { params: { ...params, pid } }),
    list: async () => (await ask(app, asha, paymentCalls.list, { params })).reply,
    update: (body: InvoiceChange) => ask(app, asha, invoiceCalls.update, { params, body }),
    read: async () => (await ask(app, asha, invoiceCalls.read, { params })).reply,
    [Symbol.asyncDispose]: () => app[Symbol.asyncDispose](),
  }
}

test('a part that is recorded leaves the rest to pay, and the rest pays the invoice', async () => {
  await using of = await anOpenInvoice()
  const first = await of.record({ amount: 2000, paidOn: '2026-02-27', method: 'upi', reference: 'UTR 1', note: 'Thanks' })
  expect(first.status).toBe(201)
  expect(first.reply.payment).toEqual({
    _id: first.reply.payment._id,
    invoiceId: of.invoice._id,
    kind: 'payment',
    origin: 'by_hand',
    amount: 2000,
    currency: 'INR',
    paidOn: '2026-02-27',
    method: 'upi',
    reference: 'UTR 1',
    note: 'Thanks',
    recordedAt: now,
    voidedAt: null,
  })
  expect(first.reply.invoice).toMatchObject({ status: 'unpaid', amountPaid: 2000, balance: 3000, overpaid: 0, paidOn: null, paidAt: null })
  of.app.clock.advance({ minutes: 5 })
  const second = await of.record({ amount: 3000, paidOn: '2026-02-20' })
  expect(second.reply.invoice).toMatchObject({
    status: 'paid',
    amountPaid: 5000,
    balance: 0,
    paidAt: '2026-03-02T09:05:00Z',
    paidOn: '2026-02-27',
  })
  expect((await of.list()).map(({ amount }) => amount)).toEqual([3000, 2000])
  expect((await ask(of.app, of.asha, reminderCalls.history, { params: { id: of.invoice._id } })).reply.payments).toEqual(await of.list())
})

test('without a day a payment is of today in the zone of the account, and never of a later day', async () => {
  await using of = await anOpenInvoice()
  of.app.clock.set('2026-03-02T20:00:00Z')
  expect((await of.record({ amount: 1 })).reply.payment.paidOn).toBe('2026-03-03')
  const { status, problem } = await of.record({ amount: 1, paidOn: '2026-03-04' })
  expect([status, problem?.errors]).toEqual([400, [{ path: 'paidOn', message: 'Please choose today or an earlier day.' }]])
  expect(await of.list()).toHaveLength(1)
})

test('a payment that is taken back counts no more, once however often; the invoice is overdue again, without paid dates', async () => {
  await using of = await anOpenInvoice()
  const { payment } = (await of.record({ amount: 5000 })).reply
  const taken = await of.takeBack(payment._id)
  expect(taken.status).toBe(200)
  expect(taken.reply.payment.voidedAt).toBe(now)
  expect(taken.reply.invoice).toMatchObject({ status: 'overdue', balance: 5000, paidAt: null, paidOn: null })
  of.app.clock.advance({ minutes: 1 })
  expect((await of.takeBack(payment._id)).reply.payment.voidedAt).toBe(now)
  expect((await of.read()).amountPaid).toBe(0)
  expect((await of.takeBack(of.invoice._id)).problem?.message).toBe('This payment does not exist.')
  const [happened] = (await ask(of.app, of.asha, accountCalls.audit, { query: {} })).reply
  expect(happened?.text).toBe('Taken back: payment of ₹5,000.00 for INV-0001.')
})

test('before its due date an invoice is unpaid again', async () => {
  await using of = await anOpenInvoice({ dueDate: '2026-03-02' })
  const { payment } = (await of.record({ amount: 5000 })).reply
  expect((await of.takeBack(payment._id)).reply.invoice.status).toBe('unpaid')
})

test('a refund is at most what is paid, and opens the invoice again; the payment it needs cannot be taken back', async () => {
  await using of = await anOpenInvoice()
  const { payment } = (await of.record({ amount: 5000 })).reply
  const tooMuch = await of.record({ kind: 'refund', amount: 5000.01 })
  expect([tooMuch.status, tooMuch.problem?.message]).toEqual([400, 'At most ₹5,000.00 can be refunded.'])
  const { reply } = await of.record({ kind: 'refund', amount: 2000 })
  expect(reply.invoice).toMatchObject({ status: 'overdue', amountPaid: 3000, balance: 2000 })
  const needed = await of.takeBack(payment._id)
  expect([needed.status, needed.problem?.message]).toEqual([
    409,
    'More of INV-0001 was refunded than would be left as paid. Please take the refund back first.',
  ])
  expect((await of.takeBack(reply.payment._id)).reply.invoice.status).toBe('paid')
})

test('more than the balance is recorded as it is, and shown', async () => {
  await using of = await anOpenInvoice()
  expect((await of.record({ amount: 5500 })).reply.invoice).toMatchObject({ status: 'paid', balance: 0, overpaid: 500, amountPaid: 5500 })
  const notices = async () => (await ask(of.app, of.asha, noticeCalls.list)).reply.map(({ kind, title }) => [kind, title])
  expect(await notices()).toEqual([['overpaid', 'INV-0001: ₹500.00 too much']])
  await of.record({ kind: 'refund', amount: 200 })
  expect(await notices()).toEqual([['overpaid', 'INV-0001: ₹300.00 too much']])
  await of.record({ kind: 'refund', amount: 300 })
  expect(await notices()).toEqual([])
})

test('a payment from the provider is not taken back here', async () => {
  await using of = await anOpenInvoice()
  const { payment } = (await of.record({ amount: 100 })).reply
  await of.app.db.execute(sql`ALTER TABLE invoice_payments DISABLE TRIGGER invoice_payments_keep`)
  await of.app.db.execute(sql`UPDATE invoice_payments SET origin = 'razorpay'`)
  await of.app.db.execute(sql`ALTER TABLE invoice_payments ENABLE TRIGGER invoice_payments_keep`)
  const { status, problem } = await of.takeBack(payment._id)
  expect([status, problem?.message]).toEqual([
    409,
    'This payment came from Razorpay. Refund it there; it is then taken off here by itself.',
  ])
})

test('an Idempotency-Key records once, for any time: the same body gets the same row, another one is refused', async () => {
  await using of = await anOpenInvoice()
  const first = await of.record({ amount: 2000, note: 'x' }, 'utr-1')
  of.app.clock.advance({ hours: 24 * 20 })
  const again = await of.record({ note: 'x', amount: 2000 }, 'utr-1')
  expect([again.status, again.reply.payment]).toEqual([201, first.reply.payment])
  const other = await of.record({ amount: 2001 }, 'utr-1')
  expect([other.status, other.problem?.code]).toEqual([409, 'conflict'])
  await of.takeBack(first.reply.payment._id)
  expect((await of.record({ amount: 2000, note: 'x' }, 'utr-1')).reply.payment.voidedAt).not.toBeNull()
  expect(await of.list()).toHaveLength(1)
})

test('100 requests at the same time: one row under one key; two rows under two keys, overpaid', async () => {
  await using of = await anOpenInvoice()
  const same = await Promise.all(Array.from({ length: 100 }, () => of.record({ amount: 5000 }, 'one')))
  expect(new Set(same.map(({ status, reply }) => `${status} ${reply.payment._id}`)).size).toBe(1)
  const two = await Promise.all(Array.from({ length: 100 }, (_, nth) => of.record({ amount: 5000 }, nth % 2 ? 'one' : 'two')))
  expect(two.every(({ status }) => status === 201)).toBe(true)
  expect(await of.list()).toHaveLength(2)
  expect(await of.read()).toMatchObject({ status: 'paid', amountPaid: 10_000, overpaid: 5000 })
})

test('an invoice has at most 500 payments and refunds, with those that were taken back', async () => {
  await using of = await anOpenInvoice()
  const { reply } = await of.record({ amount: 1 }, 'first')
  await of.takeBack(reply.payment._id)
  const { app, invoice } = of
  const more = sql`INSERT INTO invoice_payments (id, owner_id, invoice_id, kind, origin, amount_minor, paid_on, recorded_at, voided_at)
    SELECT gen_random_uuid(), owner_id, invoice_id, kind, origin, amount_minor, paid_on, recorded_at, voided_at FROM invoice_payments, generate_series(1, 498)`
  await app.db.execute(more)
  expect((await of.record({ amount: 1 })).status).toBe(201)
  const message =
    'An invoice can have 500 payments and refunds, also taken back ones, and INV-0001 would have more. Please create another invoice.'
  expect((await of.record({ amount: 1 })).problem).toEqual({ code: 'conflict', message })
  expect((await of.update({ status: 'paid' })).problem).toEqual({ code: 'conflict', message })
  expect((await of.record({ amount: 1 }, 'first')).reply.payment._id).toBe(reply.payment._id)
  expect((await of.update({ clientName: 'Kaveri' })).reply._id).toBe(invoice._id)
  // Many at once, by an import, by a program, and by a bank file.
  const { _id: id, reference, clientName, clientEmail, dueDate } = invoice
  const { asha: owner, read } = of
  const second = await anInvoice(app, { owner })
  const marked = await ask(app, owner, invoiceCalls.bulkChange, { body: { ids: [id, second._id], change: { do: 'mark', status: 'paid' } } })
  expect(marked.reply).toEqual({ changed: [second._id], failed: [{ _id: id, code: 'conflict', message }] })
  const draft = { clientName: 'Kaveri', clientEmail, amount: 5000, dueDate, status: 'paid' as const }
  const line = { ...draft, reference }
  const imported = await ask(app, owner, invoiceCalls.import, { body: { lines: [line], onExisting: 'update' } })
  expect(imported.reply).toMatchObject({ lines: [{ outcome: 'unchanged', note: message }] })
  expect((await ask(app, owner, invoiceCalls.put, { params: { reference }, body: draft })).problem).toEqual({ code: 'conflict', message })
  const paid = { date: '2026-03-01', amount: 1, description: clientName, reference: '', name: '', invoices: [{ invoiceId: id, amount: 1 }] }
  expect((await ask(app, owner, bankFileCalls.import, { body: { lines: [paid] } })).problem).toEqual({ code: 'conflict', message })
  expect((await read()).status).not.toBe('paid')
})

test('marking as paid records what is left, dated today; marking as not paid takes the mark back and leaves the part', async () => {
  await using of = await anOpenInvoice()
  await of.record({ amount: 2000, paidOn: '2026-02-27' })
  const { reply } = await of.update({ status: 'paid' })
  expect(reply).toMatchObject({ status: 'paid', paidAt: now, paidOn: '2026-03-02', amountPaid: 5000 })
  expect((await of.list()).map(({ origin, amount }) => [origin, amount])).toEqual([
    ['marked', 3000],
    ['by_hand', 2000],
  ])
  expect((await of.update({ status: 'overdue' })).reply).toMatchObject({ status: 'overdue', amountPaid: 2000, balance: 3000 })
})

test('marked as paid again, as Undo does, an invoice is paid on the day that it was', async () => {
  await using of = await anOpenInvoice()
  await of.update({ status: 'paid', paidOn: '2026-02-25' })
  await of.update({ status: 'unpaid' })
  const { reply } = await of.update({ status: 'paid', paidOn: '2026-02-25' })
  expect(reply).toMatchObject({ status: 'paid', paidOn: '2026-02-25', paidAt: now, amountPaid: 5000 })
  const before = await of.read()
  for (const change of [
    { status: 'paid', paidOn: '2026-03-03' },
    { status: 'unpaid', paidOn: '2026-03-01' },
    { paidOn: '2026-03-01' },
  ] as const)
    expect((await of.update(change)).problem).toMatchObject({ code: 'invalid', errors: [{ path: 'paidOn' }] })
  expect(await of.read()).toEqual(before)
})

test('an invoice that recorded payments cover stays paid until one is taken back, alone and in bulk', async () => {
  await using of = await anOpenInvoice()
  const { payment } = (await of.record({ amount: 5000 })).reply
  const message = 'INV-0001 is paid by payments that were recorded one by one. Please take one back first.'
  const refused = await of.update({ status: 'unpaid' })
  expect([refused.status, refused.problem?.message]).toEqual([409, message])
  const bulk = await ask(of.app, of.asha, invoiceCalls.bulkChange, {
    body: { ids: [of.invoice._id], change: { do: 'mark', status: 'overdue' } },
  })
  expect(bulk.reply).toEqual({ changed: [], failed: [{ _id: of.invoice._id, code: 'conflict', message }] })
  await of.takeBack(payment._id)
  expect((await of.update({ status: 'unpaid' })).reply.status).toBe('unpaid')
})

const statuses = ['unpaid', 'overdue', 'paid'] as const

test.each(statuses.flatMap((from) => statuses.map((to) => ({ from, to }))))(
  'from $from to $to: PATCH and bulk answer as they did before there were payments',
  async ({ from, to }) => {
    await using of = await anOpenInvoice({ status: from })
    const other = await anInvoice(of.app, { owner: of.asha, status: from })
    of.app.clock.advance({ minutes: 5 })
    const paidAt = to !== 'paid' ? null : from === 'paid' ? now : '2026-03-02T09:05:00Z'
    const { status, reply } = await of.update({ status: to })
    expect([status, reply.status, reply.paidAt]).toEqual([200, to, paidAt])
    const body = { ids: [other._id], change: { do: 'mark' as const, status: to } }
    expect((await ask(of.app, of.asha, invoiceCalls.bulkChange, { body })).reply).toEqual({ changed: [other._id], failed: [] })
    expect((await ask(of.app, of.asha, invoiceCalls.read, { params: { id: other._id } })).reply).toMatchObject({ status: to, paidAt })
    expect((await of.list()).filter(({ voidedAt }) => voidedAt === null)).toHaveLength(to === 'paid' ? 1 : 0)
  },
)

test('the mark follows the amount of a marked invoice; recorded payments do not', async () => {
  await using of = await anOpenInvoice()
  await of.record({ amount: 2000, paidOn: '2026-02-01' })
  await of.update({ status: 'paid' })
  of.app.clock.advance({ hours: 48 })
  expect((await of.update({ amount: 6000 })).reply).toMatchObject({ status: 'paid', paidAt: now, paidOn: '2026-03-02', amountPaid: 6000 })
  expect((await of.update({ amount: 1500 })).reply).toMatchObject({ status: 'paid', amountPaid: 2000, overpaid: 500, paidOn: '2026-02-01' })
  expect((await of.list()).map(({ origin, voidedAt }) => [origin, voidedAt === null])).toEqual([
    ['marked', false],
    ['marked', false],
    ['by_hand', true],
  ])
  expect((await of.update({ amount: 7000 })).reply).toMatchObject({ status: 'overdue', balance: 5000 })
  expect((await of.update({ amount: 2000 })).reply).toMatchObject({ status: 'paid', balance: 0, paidAt: '2026-03-04T09:00:00Z' })
})

test('an invoice created with what was paid of it owes the rest; with all of it, it is paid', async () => {
  await using of = await anOpenInvoice()
  const { app, asha } = of
  const draft = { clientName: 'Nila', clientEmail: 'nila@example.com', amount: 5000, dueDate: '2026-02-20' }
  const create = async (body: object) => (await ask(app, asha, invoiceCalls.create, { body: { ...draft, ...body } })).reply
  const payments = async (id: string) =>
    (await ask(app, asha, paymentCalls.list, { params: { id } })).reply.map(({ origin, amount, paidOn }) => [origin, amount, paidOn])
  const part = await create({ amountPaid: 1000 })
  expect(part).toMatchObject({ status: 'unpaid', balance: 4000 })
  expect(await payments(part._id)).toEqual([['by_hand', 1000, '2026-03-02']])
  expect(await create({ amountPaid: 5000 })).toMatchObject({ status: 'paid', paidAt: now, paidOn: '2026-03-02' })
  const marked = await create({ amountPaid: 1000, status: 'paid' })
  expect(await payments(marked._id)).toEqual([
    ['marked', 4000, '2026-03-02'],
    ['by_hand', 1000, '2026-03-02'],
  ])
})

test('a program with write may record and take back, and its payments name it', async () => {
  await using of = await anOpenInvoice()
  const { app, asha, invoice } = of
  const key = await aKey(app, asha)
  const { reply } = await ask(app, key, paymentCalls.record, { params: { id: invoice._id }, body: { amount: 1 } })
  expect(reply.payment.origin).toBe('program')
  const reading = await aKey(app, asha, ['read'])
  expect((await ask(app, reading, paymentCalls.record, { params: { id: invoice._id }, body: { amount: 1 } })).status).toBe(403)
  expect((await ask(app, key, paymentCalls.export)).status).toBe(403)
  const other = await aPerson(app)
  expect((await ask(app, other, paymentCalls.list, { params: { id: invoice._id } })).status).toBe(404)
  expect((await ask(app, other, paymentCalls.takeBack, { params: { id: invoice._id, pid: reply.payment._id } })).status).toBe(404)
})

test('the database refuses rows and sums that differ, a status without its sum, and an edited row', async () => {
  await using of = await anOpenInvoice()
  await of.record({ amount: 2000 })
  const refused = async (statement: string) =>
    of.app.db.execute(sql.raw(statement)).then(
      () => 'done',
      (error: { cause?: { code?: string } }) => error.cause?.code,
    )
  expect(await refused(`UPDATE invoices SET paid_minor = 200001`)).toBe('23514')
  expect(await refused(`UPDATE invoices SET status = 'paid'`)).toBe('23514')
  expect(await refused(`DELETE FROM invoice_payments`)).toBe('23000')
  expect(await refused(`UPDATE invoice_payments SET amount_minor = 1`)).toBe('23000')
  expect(await refused(`UPDATE invoice_payments SET voided_at = now()`)).toBe('23514')
  expect(
    await refused(`INSERT INTO invoice_payments (id, owner_id, invoice_id, kind, origin, amount_minor, paid_on, recorded_at)
    SELECT gen_random_uuid(), owner_id, invoice_id, kind, origin, 1, paid_on, recorded_at FROM invoice_payments`),
  ).toBe('23514')
  expect(await of.read()).toMatchObject({ amountPaid: 2000 })
  await of.takeBack((await of.list())[0]?._id ?? '')
  expect(await refused(`DELETE FROM invoice_payments WHERE voided_at IS NOT NULL`)).toBe('23000')
  expect(await refused(`DELETE FROM accounts`)).toBe('done')
  expect(await of.app.db.$count(invoicePayments)).toBe(0)
})

test('the profile counts what was received this month: payments less refunds, by their day', async () => {
  await using of = await anOpenInvoice()
  await of.record({ amount: 1000, paidOn: '2026-02-28' })
  await of.record({ amount: 700, paidOn: '2026-03-01' })
  await of.record({ kind: 'refund', amount: 200 })
  await of.takeBack((await of.record({ amount: 50 })).reply.payment._id)
  expect((await ask(of.app, of.asha, accountCalls.stats)).reply).toMatchObject({ receivedThisMonth: 500, totalRevenue: 0 })
})

test('payments are in the currency of their invoice, which cannot change while one counts', async () => {
  await using of = await anOpenInvoice()
  const change = (currency: string) => ask(of.app, of.asha, invoiceCalls.update, { params: { id: of.invoice._id }, body: { currency } })
  expect((await change('JPY')).status).toBe(200)
  expect((await of.record({ amount: 0.5 })).problem?.message).toBe('Please enter an amount without decimals: JPY has none.')
  const { reply } = await of.record({ amount: 2000 })
  expect([reply.payment.currency, reply.invoice.balance, reply.invoice.currency]).toEqual(['JPY', 3000, 'JPY'])
  const refused = await change('EUR')
  expect([refused.status, refused.problem?.message]).toEqual([
    409,
    'INV-0001 has payments in JPY. Please take them back before you change its currency.',
  ])
  await of.takeBack(reply.payment._id)
  expect((await change('EUR')).reply).toMatchObject({ amount: 5000, currency: 'EUR', balance: 5000 })
})

test('the export has a line for each payment, refund and void, and defuses formulas', async () => {
  await using of = await anOpenInvoice()
  const first = (await of.record({ amount: 2000, paidOn: '2026-02-27', method: 'upi', reference: '=1+1' })).reply
  of.app.clock.advance({ minutes: 1 })
  await of.record({ kind: 'refund', amount: 0.5, note: 'Too "much"' })
  of.app.clock.advance({ minutes: 1 })
  await of.record({ amount: 1 })
  await of.takeBack((await of.list())[0]?._id ?? '')
  const gone = await anInvoice(of.app, { owner: of.asha, status: 'paid', amount: 70 })
  await ask(of.app, of.asha, invoiceCalls.remove, { params: { id: gone._id } })
  const answered = await of.app.app.inject({
    url: '/payments/export',
    headers: { authorization: `Bearer ${of.asha.token}` },
  })
  expect(answered.headers['content-disposition']).toBe('attachment; filename="duely-payments-2026-03-02.csv"')
  const kaveri = '"INV-0001","Kaveri Foods","billing@kaveri.example"'
  expect(answered.body.replace('\uFEFF', '').trimEnd().split('\r\n')).toEqual([
    '"Invoice","Client Name","Client Email","Kind","Amount","Currency","Paid On","Method","Reference","Note","Origin","Recorded On","Taken Back On","Invoice Deleted On"',
    `"INV-0002","Kaveri Foods","billing@kaveri.example","payment",70.00,"INR","2026-03-02","","","","marked","2026-03-02","","2026-03-02"`,
    `${kaveri},"payment",1.00,"INR","2026-03-02","","","","by_hand","2026-03-02","2026-03-02",""`,
    `${kaveri},"refund",0.50,"INR","2026-03-02","","","Too ""much""","by_hand","2026-03-02","",""`,
    `${kaveri},"payment",2000.00,"INR","2026-02-27","upi","'=1+1","","by_hand","2026-03-02","",""`,
  ])
  expect(first.invoice.balance).toBe(3000)
})

async function eventsOf(app: TestApp, owner: Person): Promise<string[]> {
  const found = await app.db.execute(sql`SELECT type FROM hook_events WHERE owner_id = ${owner.id}::uuid ORDER BY position`)
  return (found as unknown as { rows: { type: string }[] }).rows.map(({ type }) => type)
}

test('an invoice that is owed again because a payment is taken back reports no overdue event', async () => {
  await using of = await anOpenInvoice()
  await of.app.db.execute(sql`INSERT INTO hooks (id, owner_id, kind, url, sealed_secret, events, created_at)
    SELECT gen_random_uuid(), ${of.asha.id}::uuid, 'webhook', 'https://example.com', '', ARRAY['invoice.paid', 'invoice.overdue', 'payment.recorded', 'payment.voided'], now()`)
  const { payment } = (await of.record({ amount: 5000 })).reply
  await of.takeBack(payment._id)
  await of.update({ status: 'paid' })
  await of.update({ status: 'overdue' })
  expect(await eventsOf(of.app, of.asha)).toEqual([
    'invoice.paid',
    'payment.recorded',
    'payment.voided',
    'invoice.paid',
    'payment.recorded',
    'invoice.overdue',
    'payment.voided',
  ])
})

test('a credit note lowers what is owed, and is neither received money nor revenue', async () => {
  await using of = await anOpenInvoice()
  const credit = await of.record({ kind: 'credit', amount: 1000, paidOn: '2026-02-26', reference: 'CN-4' })
  expect(credit.reply).toMatchObject({
    payment: { kind: 'credit', amount: 1000, reference: 'CN-4' },
    invoice: { status: 'unpaid', amountPaid: 1000, balance: 4000 },
  })
  // Chosen again with its file, it counts once.
  expect((await of.record({ kind: 'credit', amount: 1000, paidOn: '2026-02-26', reference: 'cn-4' })).problem).toMatchObject({
    code: 'conflict',
    message: 'The credit note cn-4 is recorded on INV-0001 already.',
  })
  const stats = async () => (await ask(of.app, of.asha, accountCalls.stats)).reply
  expect(await stats()).toMatchObject({ receivedThisMonth: 0, totalRevenue: 0 })
  of.app.clock.advance({ minutes: 5 })
  const rest = await of.record({ amount: 4000, paidOn: '2026-03-01' })
  expect(rest.reply.invoice).toMatchObject({ status: 'paid', balance: 0, paidOn: '2026-03-01' })
  expect(await stats()).toMatchObject({ receivedThisMonth: 4000, totalRevenue: 4000 })
  // Credited as a whole it is settled, and teaches nothing about when its client pays.
  const other = await anInvoice(of.app, { owner: of.asha, amount: 500 })
  of.app.clock.advance({ minutes: 5 })
  const whole = await ask(of.app, of.asha, paymentCalls.record, { params: { id: other._id }, body: { kind: 'credit', amount: 500 } })
  expect(whole.reply.invoice).toMatchObject({ status: 'paid', balance: 0, paidOn: '2026-03-02' })
  expect(await stats()).toMatchObject({ receivedThisMonth: 4000, totalRevenue: 4000 })
  const [paid] = await rows(
    of.app.db,
    z.object({ id: z.string() }),
    sql`SELECT i.id FROM invoices i WHERE i.status = 'paid' AND ${wasPaid}`,
  )
  expect(paid?.id).toBe(of.invoice._id)
  const back = await ask(of.app, of.asha, paymentCalls.takeBack, { params: { id: other._id, pid: whole.reply.payment._id } })
  expect(back.reply.invoice).toMatchObject({ balance: 500 })
})
