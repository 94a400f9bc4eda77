// Also on PostgreSQL: references are numbered under a lock, search follows the locale, dates and amounts come as the driver types them.
import { eq, sql } from 'drizzle-orm'
import { expect, test } from 'vitest'
import { accountCalls } from '#contract/accounts.ts'
import { type InvoiceDraft, invoiceCalls } from '#contract/invoices.ts'
import { reminderCalls } from '#contract/reminders.ts'
import { newId } from '#server/platform/columns.ts'
import { anInvoice, aPerson, type Person, signedInAgain } from '#test/factories.ts'
import { ask, openTestApp, type TestApp } from '#test/harness.ts'
import {
  createInvoice,
  invoiceTotals,
  listInvoices,
  pruneDeleted,
  removeInvoice,
  restoreInvoice,
  toInvoice,
  updateInvoice,
} from './invoices.ts'
import { noClients } from './pauses.ts'
import { type AfterChange, invoices } from './tables.ts'

const draft = { clientName: 'Kaveri Foods', clientEmail: 'billing@kaveri.example', amount: 5000.5, dueDate: '2026-03-31' }
const nobody = '01900000-0000-7000-8000-000000000000'

const create = (app: TestApp, someone: Person, about: Partial<InvoiceDraft> = {}) =>
  ask(app, someone, invoiceCalls.create, { body: { ...draft, ...about } })
const update = (app: TestApp, someone: Person, id: string, body: Partial<InvoiceDraft>) =>
  ask(app, someone, invoiceCalls.update, { params: { id }, body })
const remove = (app: TestApp, someone: Person, id: string) => ask(app, someone, invoiceCalls.remove, { params: { id } })
const restore = (app: TestApp, someone: Person, id: string) => ask(app, someone, invoiceCalls.restore, { params: { id } })
const list = (
  app: TestApp,
  someone: Person,
  query: { status?: 'unpaid' | 'paid' | 'overdue'; search?: string; limit?: number; cursor?: string } = {},
) => ask(app, someone, invoiceCalls.list, { query })

test('a created invoice is read back unchanged', async () => {
  await using app = await openTestApp({ now: '2026-03-02T09:00:00Z' })
  const asha = await aPerson(app)
  const { status, reply, headers } = await create(app, asha)
  expect(status).toBe(201)
  expect(headers['cache-control']).toBe('no-store')
  expect(reply).toEqual({
    ...draft,
    issuedOn: '2026-03-02',
    _id: expect.stringMatching(/^[0-9a-f-]{36}$/),
    currency: 'INR',
    language: null,
    status: 'unpaid',
    reference: 'INV-0001',
    createdAt: '2026-03-02T09:00:00Z',
    updatedAt: '2026-03-02T09:00:00Z',
    version: 1,
    paidAt: null,
    amountPaid: 0,
    balance: 5000.5,
    overpaid: 0,
    paidOn: null,
    hasFile: false,
    remindersSent: 0,
    lastReminderAt: null,
    refusal: null,
    pause: null,
    notDelivered: null,
    addressHold: null,
    sequence: null,
  })
  expect((await ask(app, asha, invoiceCalls.read, { params: { id: reply._id } })).reply).toEqual(reply)
  expect((await list(app, asha)).reply).toEqual([reply])
})

test('a new invoice has the given currency, else that of the account; another currency keeps the number', async () => {
  await using app = await openTestApp()
  const asha = await aPerson(app)
  const { reply: rupees } = await create(app, asha)
  await ask(app, asha, accountCalls.changeProfile, { body: { currency: 'eur' } })
  const { reply: euros } = await create(app, asha, { amount: 120 })
  const { reply: yen } = await create(app, asha, { amount: 5000, currency: 'JPY' })
  const { reply: dinars } = await create(app, asha, { amount: 12.345, currency: 'KWD' })
  expect([rupees, euros, yen, dinars].map(({ amount, currency }) => [amount, currency])).toEqual([
    [5000.5, 'INR'],
    [120, 'EUR'],
    [5000, 'JPY'],
    [12.345, 'KWD'],
  ])
  const minor = await app.db.select({ minor: invoices.amountMinor }).from(invoices).orderBy(invoices.id)
  expect(minor).toEqual([{ minor: 500_050 }, { minor: 12_000 }, { minor: 5000 }, { minor: 12_345 }])
  const { reply: changed } = await update(app, asha, yen._id, { currency: 'INR' })
  expect([changed.amount, changed.currency]).toEqual([5000, 'INR'])
  const [{ minor: after } = { minor: 0 }] = await app.db
    .select({ minor: invoices.amountMinor })
    .from(invoices)
    .where(eq(invoices.id, yen._id))
  expect(after).toBe(500_000)
  await update(app, asha, euros._id, { status: 'paid' })
  await update(app, asha, rupees._id, { status: 'paid' })
  expect((await ask(app, asha, accountCalls.stats)).reply).toMatchObject({
    totalRevenue: 120,
    revenueByCurrency: [
      { currency: 'EUR', amount: 120 },
      { currency: 'INR', amount: 5000.5 },
    ],
  })
})

test('an amount that does not fit its currency is refused and changes nothing', async () => {
  await using app = await openTestApp()
  const asha = await aPerson(app)
  const { reply: there } = await create(app, asha)
  const refused = [
    await create(app, asha, { amount: 1.234 }),
    await create(app, asha, { amount: 12.5, currency: 'JPY' }),
    await create(app, asha, { amount: 5_000_000_000, currency: 'KWD' }),
    await create(app, asha, { currency: 'XYZ' }),
    await ask(app, asha, accountCalls.changeProfile, { body: { currency: 'XYZ' } }),
    await update(app, asha, there._id, { currency: 'JPY' }),
    await update(app, asha, there._id, { amount: 0.001 }),
  ]
  expect(refused.map(({ status, problem }) => [status, problem?.errors?.[0]])).toEqual([
    [400, { path: 'amount', message: 'Please enter an amount with at most two decimals.' }],
    [400, { path: 'amount', message: 'Please enter an amount without decimals: JPY has none.' }],
    [400, { path: 'amount', message: 'Please enter an amount of at most 999,999,999.999 in KWD.' }],
    [400, { path: 'currency', message: 'Duely does not know the currency XYZ. Please enter a currency code such as INR.' }],
    [400, { path: 'currency', message: 'Duely does not know the currency XYZ. Please enter a currency code such as INR.' }],
    [400, { path: 'amount', message: 'Please enter an amount without decimals: JPY has none.' }],
    [400, { path: 'amount', message: 'Please enter an amount with at most two decimals.' }],
  ])
  expect((await list(app, asha)).reply).toEqual([there])
})

test('a due date with a time keeps its date as written', async () => {
  await using app = await openTestApp()
  const asha = await aPerson(app)
  expect((await create(app, asha, { dueDate: '2026-03-31T23:59:59.000-11:00' })).reply.dueDate).toBe('2026-03-31')
})

test('every amount is read back to the paisa', async () => {
  await using app = await openTestApp()
  const asha = await aPerson(app)
  for (const amount of [0.01, 0.29, 1.1, 19.99, 4.35, 1.005e3, 8.2e2, 9_999_999_999.99])
    expect((await create(app, asha, { amount })).reply.amount).toBe(amount)
})

test('references are numbered per account and skip those typed by a person, also when there are many', async () => {
  await using app = await openTestApp()
  const asha = await aPerson(app)
  const ravi = await aPerson(app)
  await create(app, asha, { reference: 'INV-0002' })
  const given = await Promise.all([create(app, asha), create(app, asha), create(app, asha)])
  expect(given.map(({ reply }) => reply.reference).sort()).toEqual(['INV-0001', 'INV-0003', 'INV-0004'])
  expect((await create(app, ravi)).reply.reference).toBe('INV-0001')
  for (let number = 2; number <= 150; number += 1)
    await anInvoice(app, { owner: ravi, reference: `INV-${String(number).padStart(4, '0')}` })
  expect((await create(app, ravi)).reply.reference).toBe('INV-0151')
})

test('the number of a deleted invoice is not reused', async () => {
  await using app = await openTestApp()
  const asha = await aPerson(app)
  await remove(app, asha, (await create(app, asha)).reply._id)
  expect((await create(app, asha)).reply.reference).toBe('INV-0002')
})

test('a reference is unique in an account', async () => {
  await using app = await openTestApp()
  const asha = await aPerson(app)
  const first = await create(app, asha, { reference: 'A-1' })
  const second = await create(app, asha, { reference: 'A-2' })
  const again = await create(app, asha, { reference: ' A-1 ' })
  expect(again.status).toBe(409)
  expect(again.problem).toMatchObject({ code: 'conflict', errors: [{ path: 'reference' }] })
  expect((await update(app, asha, second.reply._id, { reference: 'A-1' })).problem?.errors).toMatchObject([{ path: 'reference' }])
  expect((await update(app, asha, first.reply._id, { reference: 'A-1', clientName: 'Kaveri' })).status).toBe(200)
  expect((await create(app, await aPerson(app), { reference: 'A-1' })).status).toBe(201)
})

test('of two simultaneous invoices with the same reference one is created', async () => {
  await using app = await openTestApp()
  const asha = await aPerson(app)
  const both = await Promise.all([create(app, asha, { reference: 'A-1' }), create(app, asha, { reference: 'A-1' })])
  expect(both.map(({ status }) => status).sort()).toEqual([201, 409])
})

test('an update changes the given fields and its time', async () => {
  await using app = await openTestApp({ now: '2026-03-02T09:00:00Z' })
  const asha = await aPerson(app)
  const { reply: before } = await create(app, asha)
  app.clock.advance({ hours: 1 })
  const { status, reply } = await update(app, asha, before._id, { amount: 0.07 })
  expect(status).toBe(200)
  expect(reply).toEqual({ ...before, amount: 0.07, balance: 0.07, version: 2, updatedAt: '2026-03-02T10:00:00Z' })
  app.clock.advance({ minutes: 1 })
  expect((await update(app, asha, before._id, {})).reply).toEqual(reply)
})

test('paidAt is set when an invoice is paid, and cleared when it is not', async () => {
  await using app = await openTestApp({ now: '2026-03-02T09:00:00Z' })
  const asha = await aPerson(app)
  const { reply } = await create(app, asha)
  expect((await update(app, asha, reply._id, { status: 'paid' })).reply.paidAt).toBe('2026-03-02T09:00:00Z')
  app.clock.advance({ minutes: 5 })
  expect((await update(app, asha, reply._id, { status: 'paid', amount: 1 })).reply.paidAt).toBe('2026-03-02T09:00:00Z')
  expect((await update(app, asha, reply._id, { clientName: 'Kaveri' })).reply.paidAt).toBe('2026-03-02T09:00:00Z')
  expect((await update(app, asha, reply._id, { status: 'overdue' })).reply.paidAt).toBeNull()
  expect((await create(app, asha, { status: 'paid' })).reply.paidAt).toBe('2026-03-02T09:05:00Z')
})

test('a deleted invoice is not found, and can be restored for 30 days', async () => {
  await using app = await openTestApp({ now: '2026-03-02T09:00:00Z' })
  let asha = await aPerson(app)
  const { reply } = await create(app, asha)
  expect((await remove(app, asha, reply._id)).status).toBe(204)
  for (const gone of [
    await ask(app, asha, invoiceCalls.read, { params: { id: reply._id } }),
    await update(app, asha, reply._id, { amount: 1 }),
    await remove(app, asha, reply._id),
  ])
    expect(gone.problem?.code).toBe('not_found')
  expect((await list(app, asha)).reply).toEqual([])
  app.clock.advance({ hours: 30 * 24 })
  asha = await signedInAgain(app, asha)
  await pruneDeleted(app.db, app.clock.now())
  const restored = await restore(app, asha, reply._id)
  expect(restored.status).toBe(200)
  expect(restored.reply).toEqual({ ...reply, updatedAt: '2026-04-01T09:00:00Z' })
  expect((await list(app, asha)).reply).toEqual([restored.reply])
  expect((await restore(app, asha, reply._id)).reply).toEqual(restored.reply)
})

test('after 30 days a deleted invoice cannot be restored and is erased', async () => {
  await using app = await openTestApp()
  let asha = await aPerson(app)
  const { reply } = await create(app, asha)
  const { reply: kept } = await create(app, asha)
  await remove(app, asha, reply._id)
  app.clock.advance({ hours: 30 * 24, seconds: 1 })
  asha = await signedInAgain(app, asha)
  expect((await restore(app, asha, reply._id)).status).toBe(404)
  await pruneDeleted(app.db, app.clock.now())
  app.clock.advance({ hours: -24 })
  expect((await restore(app, asha, reply._id)).status).toBe(404)
  expect((await list(app, asha)).reply).toEqual([kept])
})

test('an invoice whose reference was taken meanwhile is not restored', async () => {
  await using app = await openTestApp()
  const asha = await aPerson(app)
  const { reply } = await create(app, asha, { reference: 'A-1' })
  await remove(app, asha, reply._id)
  expect((await create(app, asha, { reference: 'A-1' })).status).toBe(201)
  const { status, problem } = await restore(app, asha, reply._id)
  expect(status).toBe(409)
  expect(problem).toMatchObject({ code: 'conflict', errors: [{ path: 'reference' }] })
})

test('another account’s invoice and an invalid id answer like a missing one', async () => {
  await using app = await openTestApp()
  const asha = await aPerson(app)
  const { _id: id } = await anInvoice(app)
  for (const call of [invoiceCalls.read, invoiceCalls.remove, invoiceCalls.restore]) {
    const missing = await ask(app, asha, call, { params: { id: nobody } })
    expect(missing.status).toBe(404)
    for (const other of [id, id.toUpperCase(), 'x', "' OR 1=1 --", '%00', '\0', 'null', `${id}x`])
      expect((await ask(app, asha, call, { params: { id: other } })).problem).toEqual(missing.problem)
  }
  const missing = await update(app, asha, nobody, { amount: 1 })
  expect(missing.status).toBe(404)
  for (const other of [id, 'x']) expect((await update(app, asha, other, { amount: 1 })).problem).toEqual(missing.problem)
})

test('the list is newest first and has only the own invoices', async () => {
  await using app = await openTestApp()
  const asha = await aPerson(app)
  await anInvoice(app)
  for (const clientName of ['First', 'Second', 'Third']) {
    await create(app, asha, { clientName })
    app.clock.advance({ minutes: 1 })
  }
  expect((await list(app, asha)).reply.map(({ clientName }) => clientName)).toEqual(['Third', 'Second', 'First'])
})

test('the list can be filtered by status and searched by name or email, case-insensitively and literally', async () => {
  await using app = await openTestApp()
  const asha = await aPerson(app)
  await create(app, asha, { clientName: 'Café 100%_\\', clientEmail: 'one@x.example', status: 'paid' })
  await create(app, asha, { clientName: 'Kaveri Foods', clientEmail: 'Two@Kaveri.example' })
  const found = async (query: Parameters<typeof list>[2]) => (await list(app, asha, query)).reply.map(({ clientName }) => clientName)
  expect(await found({ search: 'CAFÉ' })).toEqual(['Café 100%_\\'])
  for (const search of ['cafe', 'Cafe\u0301\u00a0100%', 'ＣＡＦＥ']) expect(await found({ search }), search).toEqual(['Café 100%_\\'])
  expect(await found({ search: 'two@kaveri' })).toEqual(['Kaveri Foods'])
  for (const search of ['%', '_', '\\', '0%_\\']) expect(await found({ search })).toEqual(['Café 100%_\\'])
  for (const search of ['%Foods', 'K_veri', 'INV-0001', "'"]) expect(await found({ search })).toEqual([])
  expect(await found({ status: 'paid' })).toEqual(['Café 100%_\\'])
  expect(await found({ status: 'paid', search: 'kaveri' })).toEqual([])
  expect(await found({ search: '' })).toHaveLength(2)
})

test('pages cover the whole list, also when an invoice at their border is deleted', async () => {
  await using app = await openTestApp()
  const asha = await aPerson(app)
  const written: string[] = []
  for (let number = 0; number < 7; number += 1) written.unshift((await create(app, asha, { clientName: 'A & B' })).reply._id)
  const whole = (await list(app, asha)).reply.map(({ _id }) => _id)
  expect(whole.toSorted()).toEqual(written.toSorted())
  const walked: string[] = []
  let page = await list(app, asha, { limit: 3, search: 'a & b', status: 'unpaid' })
  for (;;) {
    walked.push(...page.reply.map(({ _id }) => _id))
    const link = /^<\/invoice\?(.*)>; rel="next"$/.exec(String(page.headers.link))?.[1]
    if (!link) break
    if (walked.length === 3) await remove(app, asha, walked[2] as string)
    page = await list(app, asha, Object.fromEntries(new URLSearchParams(link)))
  }
  expect(page.headers.link).toBeUndefined()
  expect(walked).toEqual(whole)
  expect((await list(app, asha, { cursor: whole[4] as string })).reply.map(({ _id }) => _id)).toEqual(whole.slice(5))
})

test('an invalid page is refused', async () => {
  await using app = await openTestApp()
  const asha = await aPerson(app)
  const { _id: id } = await anInvoice(app)
  for (const cursor of ['x', nobody, id]) expect((await list(app, asha, { cursor })).problem?.errors).toMatchObject([{ path: 'cursor' }])
  for (const limit of [0, 1001, 1.5]) expect((await list(app, asha, { limit })).problem?.errors).toMatchObject([{ path: 'limit' }])
  expect((await list(app, asha, { search: 'a\0b' })).problem?.errors).toMatchObject([{ path: 'search' }])
})

test('an unchanged list answers 304', async () => {
  await using app = await openTestApp()
  const asha = await aPerson(app)
  await create(app, asha)
  const first = await list(app, asha)
  expect(first.headers).toMatchObject({ 'cache-control': 'private, no-cache', vary: 'Authorization, Duely-Business' })
  const etag = String(first.headers.etag)
  expect(etag).toContain(asha.id)
  const raw = (headers: Record<string, string>) => app.app.inject({ method: 'GET', url: '/invoice', headers })
  const authorization = `Bearer ${asha.token}`
  const again = await raw({ authorization, 'if-none-match': etag })
  expect(again.statusCode).toBe(304)
  expect(again.body).toBe('')
  expect(again.headers.etag).toBe(etag)
  expect((await raw({ authorization, 'if-none-match': `"other", ${etag.slice(2)}` })).statusCode).toBe(304)
  expect((await raw({ authorization, 'if-none-match': '"other"' })).statusCode).toBe(200)
  expect((await raw({ 'if-none-match': etag })).statusCode).toBe(401)
})

test('a cached list is never used for another account or another query', async () => {
  await using app = await openTestApp()
  const asha = await aPerson(app)
  const ravi = await aPerson(app)
  const tags = [
    await list(app, asha),
    await list(app, ravi),
    await list(app, asha, { status: 'paid' }),
    await list(app, asha, { limit: 1 }),
  ]
  expect(new Set(tags.map(({ headers }) => headers.etag)).size).toBe(tags.length)
})

test('every change of the list changes its tag, also while the clock is stopped', async () => {
  await using app = await openTestApp()
  const asha = await aPerson(app)
  const { _id: id } = await anInvoice(app, { owner: asha })
  const { _id: other } = await anInvoice(app, { owner: asha })
  const tags = [(await list(app, asha)).headers.etag]
  const changes = [
    () => update(app, asha, id, { amount: 1 }),
    () => update(app, asha, id, { amount: 2 }),
    () => update(app, asha, other, { status: 'paid' }),
    async () => {
      await remove(app, asha, id)
      await create(app, asha)
    },
    () => restore(app, asha, id),
    () => app.db.execute(`UPDATE invoices SET reminders_sent = reminders_sent + 1 WHERE id = '${id}'`),
    () => app.db.execute(`UPDATE invoices SET last_reminder_at = '2020-01-01T00:00:00Z' WHERE id = '${id}'`),
  ]
  for (const change of changes) {
    await change()
    tags.push((await list(app, asha)).headers.etag)
  }
  expect(new Set(tags).size).toBe(changes.length + 1)
})

const refused: [field: string, value: unknown][] = [
  ...['', '   ', 'a\r\nBcc: x@example.com', 'a\0b', 'x'.repeat(201), 5, null, {}, ['a']].map((value): [string, unknown] => [
    'clientName',
    value,
  ]),
  ...[
    '',
    'billing',
    'a@b',
    'a b@example.com',
    'a@example.com\r\nBcc: b@example.com',
    'a@example.com%0aBcc:b@example.com',
    'a@example.com\0',
    'a@example.com, b@example.com',
    'a@example.com;b@example.com',
    'Group: a@example.com;',
    `${'a'.repeat(250)}@example.com`,
    { address: 'a@example.com' },
    null,
  ].map((value): [string, unknown] => ['clientEmail', value]),
  ...[0, -0, -1, 0.001, 10.005, 1e-7, 10_000_000_000, 1e21, '5000', '', null, true, {}, [5]].map((value): [string, unknown] => [
    'amount',
    value,
  ]),
  ...[
    '',
    '2026-02-30',
    '2026-13-01',
    '2026-2-1',
    '31/03/2026',
    '0000-01-01',
    '0026-03-31',
    '3000-01-01',
    '2026-03-31x',
    'tomorrow',
    20260331,
    null,
  ].map((value): [string, unknown] => ['dueDate', value]),
  ...['late', 'PAID', '', null].map((value): [string, unknown] => ['status', value]),
  ...['', ' ', 'a\nb', 'x'.repeat(41), 7].map((value): [string, unknown] => ['reference', value]),
]

test('invalid input is refused by its field, on create and on update', async () => {
  await using app = await openTestApp()
  const asha = await aPerson(app)
  const { _id: id } = await anInvoice(app, { owner: asha })
  for (const [field, value] of refused)
    for (const [method, url, body] of [
      ['POST', '/invoice', { ...draft, [field]: value }],
      ['PATCH', `/invoice/${id}`, { [field]: value }],
    ] as const) {
      const answered = await app.app.inject({ method, url, headers: { authorization: `Bearer ${asha.token}` }, payload: body })
      const said = `${method} ${field} ${JSON.stringify(value)}`
      expect(answered.statusCode, said).toBe(400)
      expect(answered.json(), said).toMatchObject({ code: 'invalid', errors: [{ path: field }] })
    }
  expect((await list(app, asha)).reply).toHaveLength(1)
})

test('all missing fields are named in one reply', async () => {
  await using app = await openTestApp()
  const asha = await aPerson(app)
  const answered = await app.app.inject({
    method: 'POST',
    url: '/invoice',
    headers: { authorization: `Bearer ${asha.token}` },
    payload: {},
  })
  expect(answered.json().errors.map(({ path }: { path: string }) => path)).toEqual(['clientName', 'clientEmail', 'amount', 'dueDate'])
})

test('unknown keys, broken JSON, other formats and oversized bodies are refused', async () => {
  await using app = await openTestApp()
  const asha = await aPerson(app)
  const send = (payload: string, type = 'application/json') =>
    app.app.inject({ method: 'POST', url: '/invoice', headers: { authorization: `Bearer ${asha.token}`, 'content-type': type }, payload })
  for (const extra of [{ ownerId: nobody }, { _id: nobody }, { paidAt: null }, { remindersSent: 0 }, { deletedAt: null }])
    expect((await send(JSON.stringify({ ...draft, ...extra }))).statusCode).toBe(400)
  for (const broken of ['{', '', 'null', '[]', '"x"', `{"amount": NaN}`, `{"__proto__": {"a": 1}}`]) {
    const answered = await send(broken)
    expect(answered.statusCode, broken).toBe(400)
    expect(answered.json().code, broken).toBe('invalid')
  }
  expect((await send(JSON.stringify(draft).replace('5000.5', '1e999'))).statusCode).toBe(400)
  expect((await send('clientName=Kaveri', 'application/x-www-form-urlencoded')).statusCode).toBe(400)
  const huge = await send(JSON.stringify({ ...draft, clientName: 'x'.repeat(1024 * 1024) }))
  expect(huge.statusCode).toBe(413)
  expect(huge.json().code).toBe('too_large')
  expect((await list(app, asha)).reply).toEqual([])
})

test('totals count all invoices and sum the paid ones', async () => {
  await using app = await openTestApp()
  const asha = await aPerson(app)
  const totals = () => invoiceTotals(app.db, { id: asha.id, timezone: 'Asia/Kolkata', currency: 'INR' }, app.clock.now())
  const none = { totalInvoices: 0, totalRevenue: 0, revenueByCurrency: [], receivedThisMonth: 0, receivedByCurrency: [] }
  expect(await totals()).toEqual(none)
  await anInvoice(app, { status: 'paid' })
  await anInvoice(app, { owner: asha, status: 'paid', amount: 0.1 })
  await anInvoice(app, { owner: asha, status: 'paid', amount: 0.2 })
  await anInvoice(app, { owner: asha })
  const { _id: id } = await anInvoice(app, { owner: asha, status: 'paid' })
  await remove(app, asha, id)
  const revenue = [{ currency: 'INR', amount: 0.3 }]
  expect(await totals()).toEqual({
    totalInvoices: 3,
    totalRevenue: 0.3,
    revenueByCurrency: revenue,
    receivedThisMonth: 0.3,
    receivedByCurrency: revenue,
  })
})

test('afterChange runs for every change but a creation, and its failure rolls the change back', async () => {
  await using app = await openTestApp()
  const { id: owner } = await aPerson(app)
  const now = app.clock.now()
  const told: string[] = []
  const hear: AfterChange = async (tx, ownerId, [invoiceId = '']) => {
    const [row] = await tx.select().from(invoices).where(eq(invoices.id, invoiceId))
    told.push(`${ownerId === owner} ${row?.clientName} ${row?.deletedAt ? 'deleted' : 'kept'}`)
    return false
  }
  const fail: AfterChange = async () => {
    throw new Error('The consequence failed.')
  }
  const full = { ...draft, status: 'unpaid' as const }
  const { row } = await createInvoice(app.db, owner, full, now, app.deps.config)
  const { id } = row
  await updateInvoice(app.db, owner, { id, change: { clientName: 'Kaveri' } }, now, hear)
  await removeInvoice(app.db, owner, id, { address: '127.0.0.1', userAgent: '' }, now, hear)
  await restoreInvoice(app.db, owner, id, now, hear)
  expect(told).toEqual(['true Kaveri kept', 'true Kaveri deleted', 'true Kaveri kept'])

  await expect(updateInvoice(app.db, owner, { id, change: { amount: 1 } }, now, fail)).rejects.toThrow()
  await expect(removeInvoice(app.db, owner, id, { address: '127.0.0.1', userAgent: '' }, now, fail)).rejects.toThrow()
  const { page } = await listInvoices(app.db, owner, {})
  expect(page.map((row) => toInvoice(row, noClients))).toMatchObject([{ _id: id, clientName: 'Kaveri', amount: draft.amount }])
})

test('a missing or mistyped field has a sentence of its own', async () => {
  await using app = await openTestApp()
  const asha = await aPerson(app)
  const body = { clientEmail: 'k@example.com', amount: 5, dueDate: '2026-03-31', status: 'late', owner: 'me' }
  const answered = await app.app.inject({
    method: 'POST',
    url: '/invoice',
    headers: { authorization: `Bearer ${asha.token}` },
    payload: body,
  })
  expect(answered.statusCode).toBe(400)
  const { errors } = answered.json<{ errors: { path: string; message: string }[] }>()
  expect(Object.fromEntries(errors.map(({ path, message }) => [path, message]))).toEqual({
    clientName: "Please enter the client's name.",
    status: 'Please choose unpaid, paid or overdue.',
    owner: 'There is no field called owner.',
  })
})

test('an invoice is issued on the day it is created, unless another day is given; a row of an earlier release likewise', async () => {
  await using app = await openTestApp({ now: '2026-03-02T20:00:00Z' })
  const asha = await aPerson(app, { timezone: 'Asia/Kolkata' })
  const draft = { clientName: 'Kaveri Foods', clientEmail: 'billing@kaveri.example', amount: 10, dueDate: '2026-03-31' }
  const created = (await ask(app, asha, invoiceCalls.create, { body: draft })).reply
  expect(created.issuedOn).toBe('2026-03-03')
  expect((await ask(app, asha, invoiceCalls.create, { body: { ...draft, issuedOn: '2026-01-15' } })).reply.issuedOn).toBe('2026-01-15')
  const change = (issuedOn: string) => ask(app, asha, invoiceCalls.update, { params: { id: created._id }, body: { issuedOn } })
  expect((await change('2026-02-01')).reply).toMatchObject({ issuedOn: '2026-02-01', dueDate: '2026-03-31', status: 'unpaid' })
  expect((await change('2026-02-30')).problem?.errors?.[0]?.path).toBe('issuedOn')
  const lines = [{ ...draft, amount: 11, issuedOn: '2026-02-10' }]
  const [line] = (await ask(app, asha, invoiceCalls.import, { body: { lines } })).reply.lines
  const read = async (id: string) => (await ask(app, asha, invoiceCalls.read, { params: { id } })).reply.issuedOn
  expect(await read(line && '_id' in line ? line._id : '')).toBe('2026-02-10')
  const id = newId()
  await app.db.execute(sql`
    INSERT INTO invoices (id, owner_id, reference, client_name, client_email, amount_minor, due_date, status, created_at, updated_at)
    VALUES (${id}::uuid, ${asha.id}::uuid, 'OLD-1', 'C', 'c@example.com', 100, '2026-01-01', 'unpaid', '2026-03-02T20:00:00Z', '2026-03-02T20:00:00Z')`)
  expect(await read(id)).toBe('2026-03-03')
})

test('the history has amounts in the currency that they had, so that Undo sets the same', async () => {
  await using app = await openTestApp()
  const asha = await aPerson(app)
  const { _id: id } = await anInvoice(app, { owner: asha, amount: 600 })
  const change = async (body: object) => ask(app, asha, invoiceCalls.update, { params: { id }, body })
  await change({ amount: 650 })
  app.clock.advance({ minutes: 1 })
  await change({ currency: 'JPY' })
  app.clock.advance({ minutes: 1 })
  await change({ currency: 'KWD', amount: 7.125 })
  app.clock.advance({ minutes: 1 })
  await change({ amount: 8.5 })
  const { changes } = (await ask(app, asha, reminderCalls.history, { params: { id } })).reply
  expect(changes.flatMap(({ field, before, after }) => (field === 'amount' ? [[before, after]] : []))).toEqual([
    ['7.125', '8.5'],
    ['650', '7.125'],
    ['650', '650'],
    ['600', '650'],
  ])
})
