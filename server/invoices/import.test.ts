// Also on PostgreSQL: two imports at the same time meet on references.
import { sql } from 'drizzle-orm'
import { expect, test } from 'vitest'
import { invoiceCalls } from '#contract/invoices.ts'
import { noticeCalls } from '#contract/notices.ts'
import { reminderCalls } from '#contract/reminders.ts'
import { anInvoice, anOffice, aPerson, type Person } from '#test/factories.ts'
import { ask, openTestApp, type TestApp } from '#test/harness.ts'

const line = { clientName: 'Kaveri Foods', clientEmail: 'billing@kaveri.example', amount: 5000.5, dueDate: '2026-03-31' }

const send = (app: TestApp, someone: Person, lines: unknown[], keepDuplicates = false) =>
  ask(app, someone, invoiceCalls.import, { body: { lines, keepDuplicates } })
const sendUnder = (app: TestApp, someone: Person, key: string, lines: unknown[], keepDuplicates = false) =>
  ask(app, someone, invoiceCalls.import, { body: { lines, keepDuplicates } }, { 'idempotency-key': key })
const imported = async (app: TestApp, someone: Person, key: string) => {
  const { reply, problem } = await ask(app, someone, invoiceCalls.imported, { params: { key } })
  return problem ? problem.code : reply
}
const list = async (app: TestApp, someone: Person) => (await ask(app, someone, invoiceCalls.list, { query: {} })).reply

test('imported lines become invoices, numbered like those created one by one', async () => {
  await using app = await openTestApp()
  const asha = await aPerson(app)
  const { status, reply } = await send(app, asha, [line, { ...line, amount: 7, status: 'paid', reference: 'A-17' }])
  expect(status).toBe(200)
  const created = { _id: expect.any(String), held: false, outcome: 'created', note: null }
  expect(reply).toMatchObject({ imported: 2, lines: [1, 2].map((number) => ({ line: number, ...created })) })
  const there = await list(app, asha)
  expect(there.map(({ reference, status, amount }) => [reference, status, amount])).toEqual([
    ['A-17', 'paid', 7],
    ['INV-0001', 'unpaid', 5000.5],
  ])
})

test('an invalid line reports its errors and does not stop the others', async () => {
  await using app = await openTestApp()
  const asha = await aPerson(app)
  await anInvoice(app, { owner: asha, reference: 'TAKEN' })
  const bad = [{ ...line, clientEmail: 'nobody', amount: -1 }, { ...line, amount: 1, reference: 'TAKEN' }, { ...line, more: 1 }, 'x', null]
  const { reply } = await send(app, asha, [...bad, line])
  expect(reply.imported).toBe(1)
  expect(reply.lines.slice(0, 5).map((said) => ('code' in said ? said.code : 'written'))).toEqual([
    'invalid',
    'conflict',
    'invalid',
    'invalid',
    'invalid',
  ])
  const [first, second] = reply.lines
  expect(first && 'errors' in first && first.errors?.map(({ path }) => path)).toEqual(['clientEmail', 'amount'])
  expect(second && 'message' in second && second.message).toBe('Another invoice already has the reference TAKEN.')
  expect(reply.lines[5]).toMatchObject({ line: 6, _id: expect.any(String), held: false })
  expect(await list(app, asha)).toHaveLength(2)
})

test('a duplicate line is reported, and created when duplicates are kept', async () => {
  await using app = await openTestApp()
  const asha = await aPerson(app)
  const ravi = await aPerson(app)
  await anInvoice(app, { ...line, owner: asha })
  await anInvoice(app, { ...line, owner: ravi, amount: 9 })
  const lines = [
    { ...line, clientEmail: 'Billing@Kaveri.example', clientName: 'Kaveri' },
    { ...line, amount: 9 },
    { ...line, amount: 9 },
  ]
  const { reply } = await send(app, asha, lines)
  expect(reply.lines.map((said) => ('code' in said ? `${said.code}: ${said.message}` : 'written'))).toEqual([
    'duplicate: INV-0001 already has this client email, amount and due date.',
    'written',
    'duplicate: Line 2 already has this client email, amount and due date.',
  ])
  expect((await send(app, asha, lines)).reply.imported).toBe(0)
  expect((await send(app, asha, lines, true)).reply.imported).toBe(3)
  expect(await list(app, asha)).toHaveLength(5)
})

test('lines that are alike but for their numbers are two invoices, and one without a number is a duplicate', async () => {
  await using app = await openTestApp()
  const asha = await aPerson(app)
  const { reply } = await send(app, asha, [{ ...line, reference: 'A-1' }, { ...line, reference: 'A-2' }, line])
  expect(reply.lines.map((said) => ('code' in said ? said.message : 'written'))).toEqual([
    'written',
    'written',
    'Line 1 already has this client email, amount and due date.',
  ])
})

test('a deleted invoice does not make a line a duplicate', async () => {
  await using app = await openTestApp()
  const asha = await aPerson(app)
  const { _id } = await anInvoice(app, { ...line, owner: asha })
  await ask(app, asha, invoiceCalls.remove, { params: { id: _id } })
  expect((await send(app, asha, [line])).reply.imported).toBe(1)
})

test('a thousand lines are imported in one request; 1,001 and 0 are refused', async () => {
  await using app = await openTestApp()
  const asha = await aPerson(app)
  const lines = Array.from({ length: 1001 }, (_, index) => ({ ...line, amount: index + 1 }))
  const tooMany = await send(app, asha, lines)
  expect([tooMany.status, tooMany.problem?.message]).toEqual([400, 'Please send at most 1,000 lines at once.'])
  expect((await send(app, asha, [])).status).toBe(400)
  const { reply } = await send(app, asha, lines.slice(0, 1000))
  expect(reply.imported).toBe(1000)
  const there = await list(app, asha)
  expect(new Set(there.map(({ reference }) => reference)).size).toBe(1000)
})

test('an import sends no emails, however late its invoices are', async () => {
  await using app = await openTestApp()
  const asha = await aPerson(app)
  await send(app, asha, [{ ...line, dueDate: '2026-01-01', status: 'overdue' }])
  await app.runJobs()
  expect((await list(app, asha)).map(({ remindersSent, status }) => [remindersSent, status])).toEqual([[0, 'overdue']])
  expect(app.errorsLogged).toEqual([])
})

test('invoices past due are held from their creation while daily reminders are on, until they are resumed', async () => {
  await using office = await anOffice({ now: '2026-03-02T06:30:00Z' })
  const { app, asha, smtp } = office
  await app.whileJobsRun(ask(app, asha, reminderCalls.start))
  const late = { ...line, dueDate: '2026-02-20', status: 'overdue' }
  const lines = [late, { ...late, amount: 7, status: 'paid' }, { ...late, amount: 8, dueDate: '2026-03-02', status: 'unpaid' }]
  const { reply } = await sendUnder(app, asha, 'books-0', lines)
  const made = reply.lines.map((one) => ('_id' in one ? one : { _id: '', held: null }))
  expect(made.map(({ held }) => held)).toEqual([true, false, false])
  expect((await sendUnder(app, asha, 'books-0', lines)).reply).toEqual(reply)
  expect(await imported(app, asha, 'books-0')).toEqual(reply.lines)
  const { reply: held } = await ask(app, asha, invoiceCalls.read, { params: { id: made[0]?._id ?? '' } })
  expect(held.pause).toEqual({
    until: null,
    note: 'Imported when it was past due. Held until you resume it.',
    promised: false,
    scope: 'invoice',
    because: 'owner',
  })
  app.clock.set('2026-03-03T03:30:00Z')
  await app.runJobs()
  expect(smtp.mails.map(({ raw }) => raw.includes('INV-0003'))).toEqual([true])
  await ask(app, asha, invoiceCalls.bulkChange, { body: { ids: [held._id], change: { do: 'pause', until: '2026-03-03' } } })
  await app.runJobs()
  expect(smtp.mails).toHaveLength(1)
  app.clock.set('2026-03-04T03:30:00Z')
  await app.runJobs()
  expect(smtp.mails.filter(({ raw }) => raw.includes('INV-0001'))).toHaveLength(1)
})

test('imported invoices on hold are one notice, until none of them is held any more', async () => {
  await using office = await anOffice({ now: '2026-03-02T06:30:00Z' })
  const { app, asha } = office
  await app.whileJobsRun(ask(app, asha, reminderCalls.start))
  const notices = async () => (await ask(app, asha, noticeCalls.list)).reply.map(({ kind, title, link }) => [kind, title, link])
  const late = (amount: number) => ({ ...line, amount, dueDate: '2026-02-20' })
  const { reply } = await send(app, asha, [late(1), late(2)])
  const ids = reply.lines.flatMap((one) => ('_id' in one ? one._id : []))
  const link = '/dashboard?search=Imported+when+it+was+past+due.+Held+until+you+resume+it.'
  expect(await notices()).toEqual([['imports_held', '2 imported invoices are on hold', link]])
  await send(app, asha, [late(3)])
  await ask(app, asha, invoiceCalls.update, { params: { id: ids[0] ?? '' }, body: { status: 'paid' } })
  await ask(app, asha, invoiceCalls.remove, { params: { id: ids[1] ?? '' } })
  expect(await notices()).toEqual([['imports_held', '1 imported invoice is on hold', link]])
  const [last] = await list(app, asha)
  await ask(app, asha, invoiceCalls.pause, { params: { id: last?._id ?? '' }, body: { paused: false } })
  expect(await notices()).toEqual([])
})

test('a dismissed notice about imported invoices stays away until the next import', async () => {
  await using office = await anOffice({ now: '2026-03-02T06:30:00Z' })
  const { app, asha } = office
  await app.whileJobsRun(ask(app, asha, reminderCalls.start))
  const notices = async () => (await ask(app, asha, noticeCalls.list)).reply
  const late = (amount: number) => ({ ...line, amount, dueDate: '2026-02-20' })
  await send(app, asha, [late(1), late(2)])
  await ask(app, asha, noticeCalls.dismiss, { params: { id: (await notices())[0]?._id ?? '' } })
  const [newest] = await list(app, asha)
  await ask(app, asha, invoiceCalls.update, { params: { id: newest?._id ?? '' }, body: { amount: 9 } })
  expect(await notices()).toEqual([])
  await send(app, asha, [late(3)])
  expect(await notices()).toMatchObject([{ title: '3 imported invoices are on hold' }])
})

test('invoices past due are not held where daily reminders are off, or where the import asks to remind', async () => {
  await using office = await anOffice({ now: '2026-03-02T06:30:00Z' })
  const { app, asha, smtp } = office
  const late = { ...line, dueDate: '2026-02-20' }
  expect((await send(app, asha, [late])).reply.lines).toMatchObject([{ line: 1, _id: expect.any(String), held: false }])
  await app.whileJobsRun(ask(app, asha, reminderCalls.start))
  const body = { lines: [{ ...late, amount: 7 }], pastDue: 'remind' as const }
  expect((await ask(app, asha, invoiceCalls.import, { body })).reply.lines).toMatchObject([
    { line: 1, _id: expect.any(String), held: false },
  ])
  app.clock.set('2026-03-03T03:30:00Z')
  await app.runJobs()
  expect(smtp.mails.filter(({ raw }) => raw.includes('INV-0002'))).toHaveLength(1)
})

test('each line keeps its currency, an unknown one is refused, and without one it is that of the account', async () => {
  await using app = await openTestApp()
  const asha = await aPerson(app)
  const { reply } = await send(
    app,
    asha,
    ['XYZ', 'eur', '', 7, undefined, 'JPY'].map((currency, index) => ({ ...line, amount: index + 1.5, currency })),
  )
  expect(reply.lines.map((one) => ('message' in one ? [one.message, one.errors?.map(({ path }) => path)] : 'created'))).toEqual([
    ['Duely does not know the currency XYZ. Please enter a currency code such as INR.', ['currency']],
    'created',
    ['Please enter a currency code such as INR.', ['currency']],
    ['Please enter a currency code such as INR.', ['currency']],
    'created',
    ['Please enter an amount without decimals: JPY has none.', ['amount']],
  ])
  expect((await list(app, asha)).map(({ amount, currency }) => [amount, currency])).toEqual([
    [5.5, 'INR'],
    [2.5, 'EUR'],
  ])
})

const severalHundred = Array.from({ length: 250 }, (_, index) => ({ ...line, amount: index + 1 }))

test.each([false, true])('the same lines under the same key are answered with the same invoices (keeping duplicates: %s)', async (keep) => {
  await using app = await openTestApp()
  const asha = await aPerson(app)
  const lines = [...severalHundred, { ...line, amount: -1 }, { ...line, amount: 1 }]
  const first = await sendUnder(app, asha, 'books-0', lines, keep)
  expect(first.reply.imported).toBe(keep ? 251 : 250)
  const again = await sendUnder(app, asha, 'books-0', lines, keep)
  const made = (lines: (typeof first)['reply']['lines']) => lines.map((said) => ('_id' in said ? said._id : said.code))
  expect(made(again.reply.lines)).toEqual(made(first.reply.lines))
  expect(again.reply.imported).toBe(first.reply.imported)
  expect(await list(app, asha)).toHaveLength(first.reply.imported)
})

test('an interrupted import is completed under its key, with no line lost or repeated', async () => {
  await using app = await openTestApp()
  const asha = await aPerson(app)
  const before = (await sendUnder(app, asha, 'books-0', severalHundred.slice(0, 120))).reply
  const { reply } = await sendUnder(app, asha, 'books-0', severalHundred)
  expect(reply.imported).toBe(250)
  expect(reply.lines.slice(0, 120)).toEqual(before.lines)
  expect(await list(app, asha)).toHaveLength(250)
})

test('simultaneous imports under one key create each line once', async () => {
  await using app = await openTestApp()
  const asha = await aPerson(app)
  const lines = severalHundred.slice(0, 150)
  const answered = await Promise.all([1, 2, 3].map(() => sendUnder(app, asha, 'books-0', lines, true)))
  expect(new Set(answered.map(({ reply }) => JSON.stringify(reply))).size).toBe(1)
  expect(await list(app, asha)).toHaveLength(150)
})

test('the result of an import can be read by its key', async () => {
  await using app = await openTestApp()
  const [asha, ravi] = [await aPerson(app), await aPerson(app)]
  expect(await imported(app, asha, 'books-0')).toBe('not_found')
  const { reply } = await sendUnder(app, asha, 'books-0', [{ ...line, amount: -1 }, line, { ...line, amount: 7 }])
  const [, second, third] = reply.lines
  expect(await imported(app, asha, 'books-0')).toEqual([second, third])
  expect(await imported(app, asha, 'books')).toBe('not_found')
  expect(await imported(app, ravi, 'books-0')).toBe('not_found')
  await ask(app, asha, invoiceCalls.remove, { params: { id: second && '_id' in second ? second._id : '' } })
  expect(await imported(app, asha, 'books-0')).toEqual([third])
  app.clock.advance({ hours: 24 })
  expect(await imported(app, asha, 'books-0')).toBe('not_found')
})

test('a line whose invoice was deleted meanwhile is not created again', async () => {
  await using app = await openTestApp()
  const asha = await aPerson(app)
  const { reply } = await sendUnder(app, asha, 'books-0', [line, { ...line, amount: 7 }])
  const [first, second] = reply.lines
  await ask(app, asha, invoiceCalls.remove, { params: { id: first && '_id' in first ? first._id : '' } })
  expect((await sendUnder(app, asha, 'books-0', [line, { ...line, amount: 7 }])).reply).toMatchObject({
    imported: 1,
    lines: [{ line: 1, code: 'conflict', message: 'This line was imported before, and its invoice was deleted since.' }, second],
  })
  expect(await list(app, asha)).toHaveLength(1)
})

test('a key used for other lines answers conflict, until a day has passed', async () => {
  await using app = await openTestApp()
  const asha = await aPerson(app)
  await sendUnder(app, asha, 'books-0', [line])
  const other = () => sendUnder(app, asha, 'books-0', [{ ...line, amount: 7 }])
  expect((await other()).reply).toMatchObject({ imported: 0, lines: [{ line: 1, code: 'conflict' }] })
  app.clock.advance({ hours: 24 })
  expect((await other()).reply.imported).toBe(1)
  expect((await other()).reply.imported).toBe(1)
  expect(await list(app, asha)).toHaveLength(2)
})

test('keys of single invoices and of imports do not collide', async () => {
  await using app = await openTestApp()
  const asha = await aPerson(app)
  await ask(app, asha, invoiceCalls.create, { body: line }, { 'idempotency-key': 'books-0' })
  expect((await sendUnder(app, asha, 'books-0', [{ ...line, amount: 7 }])).reply.imported).toBe(1)
  expect(await sendUnder(app, asha, '  ', [line])).toMatchObject({ status: 400, problem: { errors: [{ path: 'Idempotency-Key' }] } })
  expect((await ask(app, asha, invoiceCalls.imported, { params: { key: 'caf\u00e9\u0000' } })).status).toBe(400)
})

test('after an import the planner knows how large the tables are', async () => {
  await using app = await openTestApp()
  const asha = await aPerson(app)
  const known = async () => {
    const { rows } = (await app.db.execute(sql`SELECT reltuples::int AS count FROM pg_class WHERE relname = 'invoices'`)) as unknown as {
      rows: { count: number }[]
    }
    return rows[0]?.count ?? 0
  }
  const lines = Array.from({ length: 400 }, (_, nth) => ({ ...line, clientEmail: `client${nth}@example.com` }))
  await app.db.execute(sql`VACUUM ANALYZE invoices`)
  expect(await known()).toBe(0)
  await send(app, asha, lines)
  expect(await known()).toBeGreaterThanOrEqual(400)
})
