// Also on PostgreSQL: two imports of a file meet on its invoices.
import { sql } from 'drizzle-orm'
import { expect, test } from 'vitest'
import { accountCalls } from '#contract/accounts.ts'
import type { CallInput } from '#contract/call.ts'
import { keptInvoice } from '#contract/import/again.ts'
import { readCsv } from '#contract/import/csv.ts'
import type { Program } from '#contract/import/invoice-layouts.ts'
import { readInvoiceSheet } from '#contract/import/invoices.ts'
import { type Against, checkRows, missingFrom } from '#contract/import/lines.ts'
import { invoiceCalls } from '#contract/invoices.ts'
import { paymentCalls } from '#contract/payments.ts'
import { exportsOf } from '#test/exports.ts'
import { anInvoice, anOffice, aPerson, type Person } from '#test/factories.ts'
import { ask, openTestApp, type TestApp } from '#test/harness.ts'

const now = '2026-03-02T06:30:00Z'
const line = { clientName: 'Kaveri Foods', clientEmail: 'billing@kaveri.example', amount: 5000, dueDate: '2026-03-31', reference: 'A-1' }
type Body = CallInput<typeof invoiceCalls.import>['body']

const bring = (app: TestApp, who: Person, lines: object[], more: Partial<Body> = {}, key?: string) =>
  ask(
    app,
    who,
    invoiceCalls.import,
    { body: { lines, onExisting: 'update', source: 'zoho', ...more } },
    key ? { 'idempotency-key': key } : {},
  )
const outcomes = ({ reply }: Awaited<ReturnType<typeof bring>>) =>
  reply.lines.map((one) => ('outcome' in one ? (one.note ?? one.outcome) : `${one.code}: ${one.message}`))
const byReference = async (app: TestApp, who: Person, reference: string) => {
  const { reply } = await ask(app, who, invoiceCalls.list, { query: {} })
  const found = reply.find((one) => one.reference === reference)
  if (!found) throw new Error(`There is no invoice ${reference}.`)
  return found
}
const money = async (app: TestApp, who: Person, reference: string) => {
  const { amount, amountPaid, balance, status, dueDate } = await byReference(app, who, reference)
  return { amount, amountPaid, balance, status, dueDate }
}
const countsOf = ({ reply: { imported, updated, unchanged } }: Awaited<ReturnType<typeof bring>>) => [imported, updated, unchanged]

test('a reference is the same however it is written: width, dashes, case and spaces make no difference, and it stays as it was', async () => {
  await using app = await openTestApp({ now })
  const asha = await aPerson(app)
  await bring(app, asha, [{ ...line, reference: 'Büro–7 A' }])
  const written = ['büro-7a', 'BÜRO—7\u00a0A', 'Ｂüro−７a', 'bu\u0308ro-7 a']
  for (const [nth, reference] of written.entries())
    expect(outcomes(await bring(app, asha, [{ ...line, reference, amount: 4000 + nth }]))).toEqual(['updated'])
  expect(await money(app, asha, 'Büro–7 A')).toMatchObject({ amount: 4003 })
  const draft = { clientName: line.clientName, clientEmail: line.clientEmail, dueDate: line.dueDate, amount: 3000 }
  const put = await ask(app, asha, invoiceCalls.put, { params: { reference: 'BÜRO-7A' }, body: draft })
  expect(put.reply).toMatchObject({ reference: 'Büro–7 A', amount: 3000 })
  const taken = await ask(app, asha, invoiceCalls.create, { body: { ...draft, reference: 'büro-7a' } })
  expect(taken.problem).toMatchObject({ code: 'conflict', message: 'Another invoice already has the reference büro-7a.' })
  expect(outcomes(await bring(app, asha, [{ ...line, reference: 'BÜRO-7A', amount: 70 }], { onExisting: 'refuse' }))).toEqual([
    'conflict: Another invoice already has the reference BÜRO-7A.',
  ])
  const { _id: id } = await byReference(app, asha, 'Büro–7 A')
  const renamed = await ask(app, asha, invoiceCalls.update, { params: { id }, body: { reference: 'BÜRO-7A' } })
  expect(renamed.reply).toMatchObject({ reference: 'BÜRO-7A' })
})

test('a second import brings invoices up to date by reference, a third changes nothing, and undo sets all as before', async () => {
  await using app = await openTestApp({ now })
  const asha = await aPerson(app)
  const before = [line, { ...line, reference: 'A-2', amount: 800 }, { ...line, reference: 'A-3', amount: 90, dueDate: '2026-04-01' }]
  expect(countsOf(await bring(app, asha, before))).toEqual([3, 0, 0])
  const after = [
    { ...line, amountPaid: 1500, clientName: 'Kaveri Ltd', clientEmail: 'billing@kaveri.example' },
    { ...line, reference: 'A-2', amount: 800, status: 'paid' },
    { ...line, reference: 'A-3', amount: 120, dueDate: '2026-02-01' },
    { ...line, reference: 'A-4', amount: 7 },
  ]
  const second = await bring(app, asha, after)
  expect([countsOf(second), outcomes(second)]).toEqual([
    [1, 3, 0],
    ['updated', 'updated', 'updated', 'created'],
  ])
  const { clientName } = await byReference(app, asha, 'A-1')
  expect(clientName).toBe('Kaveri Foods')
  expect(await money(app, asha, 'A-1')).toMatchObject({ amount: 5000, amountPaid: 1500, balance: 3500, status: 'unpaid' })
  expect(await money(app, asha, 'A-2')).toMatchObject({ amountPaid: 800, status: 'paid' })
  expect(await money(app, asha, 'A-3')).toMatchObject({ amount: 120, dueDate: '2026-02-01', status: 'overdue' })
  expect(countsOf(await bring(app, asha, after))).toEqual([0, 0, 4])
  const undo = () => ask(app, asha, invoiceCalls.undoImport, { params: { id: second.reply.importId } })
  expect((await undo()).reply).toEqual({ deleted: 1, restored: 3, kept: [] })
  expect((await undo()).reply).toEqual({ deleted: 0, restored: 0, kept: [] })
  expect(await money(app, asha, 'A-1')).toMatchObject({ amount: 5000, amountPaid: 0, balance: 5000, status: 'unpaid' })
  expect(await money(app, asha, 'A-2')).toMatchObject({ amountPaid: 0, status: 'unpaid' })
  expect(await money(app, asha, 'A-3')).toEqual({ amount: 90, amountPaid: 0, balance: 90, dueDate: '2026-04-01', status: 'unpaid' })
  expect((await ask(app, asha, invoiceCalls.list, { query: {} })).reply).toHaveLength(3)
  const { reply: audit } = await ask(app, asha, accountCalls.audit, { query: {} })
  expect(audit.map(({ text }) => text)).toContain('Taken back: 2 payments of an import.')
  const [ravi] = [await aPerson(app)]
  expect((await ask(app, ravi, invoiceCalls.undoImport, { params: { id: second.reply.importId } })).status).toBe(404)
})

test('an import is undone by its Idempotency-Key too, also where that is a UUID', async () => {
  await using app = await openTestApp({ now })
  const asha = await aPerson(app)
  for (const key of [crypto.randomUUID(), 'import-2']) {
    await bring(app, asha, [{ ...line, reference: key.slice(0, 36) }], {}, key)
    const { reply } = await ask(app, asha, invoiceCalls.undoImport, { params: { id: key } })
    expect(reply).toEqual({ deleted: 1, restored: 0, kept: [] })
  }
})

test('an import that refuses what exists is undone by its id and its key, but for what was there before', async () => {
  await using app = await openTestApp({ now })
  const asha = await aPerson(app)
  await anInvoice(app, { owner: asha, ...line })
  const lines = [line, { ...line, reference: 'A-2', amount: 800 }]
  for (const key of [undefined, 'import-1']) {
    const { reply } = await bring(app, asha, lines, { onExisting: 'refuse' }, key)
    expect(reply.imported).toBe(1)
    const undone = await ask(app, asha, invoiceCalls.undoImport, { params: { id: key ?? reply.importId } })
    expect(undone.reply).toEqual({ deleted: 1, restored: 0, kept: [] })
    expect((await ask(app, asha, invoiceCalls.list, { query: {} })).reply.map(({ reference }) => reference)).toEqual(['A-1'])
  }
})

test('what is known here is not undone, and what the file does not tell stays: those lines are listed', async () => {
  await using app = await openTestApp({ now })
  const asha = await aPerson(app)
  const names = ['paid', 'part', 'total', 'other', 'euro', 'owed']
  await bring(
    app,
    asha,
    names.map((reference, index) => ({ ...line, reference, dueDate: `2026-03-1${index}` })),
  )
  const record = async (reference: string, amount: number) => {
    const { _id } = await byReference(app, asha, reference)
    await ask(app, asha, paymentCalls.record, { params: { id: _id }, body: { amount } })
  }
  await record('paid', 5000)
  await record('part', 2000)
  await record('total', 2000)
  await record('owed', 2000)
  const again = await bring(app, asha, [
    { ...line, reference: 'paid', dueDate: '2026-03-10', amountPaid: 0 },
    { ...line, reference: 'part', dueDate: '2026-03-20', amountPaid: 0 },
    { ...line, reference: 'total', dueDate: '2026-03-12', amount: 4000 },
    { ...line, reference: 'other', dueDate: '2026-03-13', clientName: 'Zenith', clientEmail: 'ap@zenith.example', amount: 1 },
    { ...line, reference: 'euro', dueDate: '2026-03-14', currency: 'EUR' },
    { ...line, reference: 'owed', dueDate: '2026-03-15', amount: 3000 },
    { ...line, reference: 'owed', dueDate: '2026-03-15', amount: 1000 },
  ])
  expect(outcomes(again).toSorted()).toEqual(
    [
      'paid is already paid here. It stays paid.',
      'Payments recorded here cover more of part. ₹3,000.00 is left to pay, as before.',
      'It is unclear what was paid of total. ₹3,000.00 is left to pay, as before.',
      'other is an invoice of Kaveri Foods here. It stays as it is.',
      'euro is in INR here, not in EUR. It stays as it is.',
      'unchanged',
      'duplicate: Line 6 already has the reference owed.',
    ].toSorted(),
  )
  expect(countsOf(again)).toEqual([0, 1, 5])
  expect((await byReference(app, asha, 'paid')).status).toBe('paid')
  // The due date is no question of money, so that a client is not reminded before it.
  expect(await money(app, asha, 'part')).toMatchObject({ balance: 3000, dueDate: '2026-03-20' })
  expect(await money(app, asha, 'total')).toMatchObject({ amount: 5000, balance: 3000 })
  expect(await money(app, asha, 'other')).toMatchObject({ amount: 5000 })
  // The next file knows the payment too: nothing is recorded twice.
  expect(countsOf(await bring(app, asha, [{ ...line, reference: 'part', dueDate: '2026-03-20', amountPaid: 2000 }]))).toEqual([0, 0, 1])
  expect(await money(app, asha, 'part')).toMatchObject({ amountPaid: 2000 })
})

test('the same request again is the same import, and undo keeps what was changed since', async () => {
  await using app = await openTestApp({ now })
  const asha = await aPerson(app)
  await bring(app, asha, [line, { ...line, reference: 'A-2' }])
  const lines = [
    { ...line, status: 'paid' },
    { ...line, reference: 'A-2', amount: 6000 },
  ]
  const all = await Promise.all([0, 1].map(() => bring(app, asha, lines, {}, 'books-0')))
  expect(all.map(outcomes)).toEqual([
    ['updated', 'updated'],
    ['updated', 'updated'],
  ])
  expect(new Set(all.map(({ reply }) => reply.importId)).size).toBe(1)
  expect((await ask(app, asha, paymentCalls.list, { params: { id: (await byReference(app, asha, 'A-1'))._id } })).reply).toHaveLength(1)
  const { _id } = await byReference(app, asha, 'A-2')
  await ask(app, asha, invoiceCalls.update, { params: { id: _id }, body: { amount: 6500 } })
  const { reply } = await ask(app, asha, invoiceCalls.undoImport, { params: { id: all[0]?.reply.importId ?? '' } })
  expect(reply).toEqual({ deleted: 0, restored: 1, kept: [{ _id, message: 'A-2 was changed since. It stays as it is.' }] })
  expect((await byReference(app, asha, 'A-1')).status).toBe('unpaid')
})

test('without update a line with a known reference is refused, and invoices of one source differ by their numbers', async () => {
  await using app = await openTestApp({ now })
  const asha = await aPerson(app)
  await anInvoice(app, { ...line, owner: asha, reference: 'INV-0001' })
  await bring(app, asha, [{ ...line, amount: 70 }])
  const again = { ...line, amount: 70 }
  expect(outcomes(await bring(app, asha, [{ ...again, dueDate: '2026-05-01' }], { onExisting: 'refuse' }))).toEqual([
    'conflict: Another invoice already has the reference A-1.',
  ])
  // INV-0001 may be the same one under another number; of one program are two.
  const known = await bring(app, asha, [
    { ...line, reference: 'Z-1' },
    { ...again, reference: 'A-2' },
  ])
  expect(outcomes(known)).toEqual(['duplicate: INV-0001 already has this client email, amount and due date.', 'created'])
  const { reply } = await ask(app, asha, invoiceCalls.list, { query: { source: 'zoho' } })
  expect(reply.map(({ reference }) => reference).toSorted()).toEqual(['A-1', 'A-2'])
})

test('an import that updates sends no email, and a paid invoice is not reminded', async () => {
  await using office = await anOffice({ now })
  const { app, asha, smtp } = office
  const late = { ...line, dueDate: '2026-02-20', status: 'overdue' }
  await bring(app, asha, [late, { ...late, reference: 'A-2' }])
  await bring(app, asha, [
    { ...late, amountPaid: 4000 },
    { ...late, reference: 'A-2', status: 'paid' },
  ])
  await app.runJobs()
  expect(smtp.mails).toHaveLength(0)
  expect(await money(app, asha, 'A-1')).toMatchObject({ status: 'overdue', balance: 1000 })
})

test('a program puts an invoice by its reference: it is created once, follows, and keeps what is paid here', async () => {
  await using app = await openTestApp({ now })
  const asha = await aPerson(app)
  const { reference, ...draft } = line
  const put = (body: object) => ask(app, asha, invoiceCalls.put, { params: { reference }, body: { ...draft, ...body } })
  const first = await put({})
  expect([first.status, first.reply.reference, first.reply.balance]).toEqual([200, 'A-1', 5000])
  expect((await put({})).reply).toEqual(first.reply)
  expect((await put({ amount: 6000, dueDate: '2026-04-30' })).reply).toMatchObject({
    _id: first.reply._id,
    balance: 6000,
    dueDate: '2026-04-30',
  })
  expect((await put({ amount: 6000, amountPaid: 1000 })).reply).toMatchObject({ balance: 5000 })
  const refused = await put({ amount: 6000, amountPaid: 500 })
  expect([refused.status, refused.problem?.message]).toEqual([
    409,
    'Payments recorded here cover more of A-1. ₹5,000.00 is left to pay, as before.',
  ])
  expect((await put({ amount: 6000, status: 'paid' })).reply).toMatchObject({ status: 'paid', balance: 0 })
  expect((await put({ amount: 6000, amountPaid: 1000 })).status).toBe(409)
  expect((await put({ amount: 1.234 })).status).toBe(400)
  expect((await ask(app, asha, invoiceCalls.list, { query: {} })).reply).toHaveLength(1)
})

const addresses = new Map(
  ['acme corp', 'beta llc', 'alpha', 'acme', 'cus_9', 'cus_8'].map((name) => [
    name,
    { name, email: `ap@${name.replace(/[ _]/g, '-')}.example` },
  ]),
)
/** The same export once its open invoices are paid. */
const oncePaid = {
  zoho: (lines: string[]) => lines.map((one) => one.replace(/Overdue(.*),180\.00,(?=pay)/, 'Closed$1,0.00,')),
  xero: (lines: string[]) => lines.map((one) => one.replace('180.0000,1000.0000', '1180.0000,0.0000').replace('Awaiting Payment', 'Paid')),
  quickbooks: (lines: string[]) =>
    lines.map((one) => one.replace('"1,200.00",200.00', '"1,200.00",0.00').replace('450.00,450.00', '450.00,0.00')),
  freshbooks: (lines: string[]) => lines.map((one) => one.replace(',sent,', ',paid,')),
  wave: (lines: string[]) => [...lines, '9,2026-02-10,Accounts Receivable,Payment,-1000.00,Acme,7,System Receivable Invoice'],
  invoiceNinja: (lines: string[]) => lines.map((one) => one.replace('"1,500.00",500.00,Partial', '"1,500.00","1,500.00",Paid')),
  stripe: (lines: string[]) => lines.map((one) => one.replace(/(in_\d),([\d.]+),(.*),[\d.]+,open$/, '$1,$2,$3,$2,paid')),
  // It has no status: what is paid is missing.
  razorpay: ([head = '', , , refused = '']: string[]) => [head, refused],
} satisfies Partial<Record<Program, (lines: string[]) => string[]>>

test.each(Object.keys(oncePaid) as (keyof typeof oncePaid)[])(
  'an export of %s again changes nothing, once paid it is paid, and undo sets it back',
  async (source) => {
    await using app = await openTestApp({ now })
    const asha = await aPerson(app)
    const all = async () => (await ask(app, asha, invoiceCalls.list, { query: {} })).reply
    const send = async (lines: string[]) => {
      const table = readCsv(new TextEncoder().encode(lines.join('\n')).buffer)
      if (table.kind !== 'rows') throw new Error(table.kind)
      const context = {
        usual: 'INR',
        held: ['INR', 'USD', 'GBP'],
        languages: ['en'],
        answers: { 'days/due': '14', 'order/due date': 'dmy' },
        addresses,
      }
      const reading = readInvoiceSheet({ name: null, rows: table.rows, hiddenRows: [] }, context)
      const invoices = (await all()).map(keptInvoice)
      const ofSource = new Set(invoices.map(({ reference }) => reference))
      const about: Against = { invoices, ofSource, onExisting: 'update', today: '2026-03-02', usual: 'INR' }
      const checked = [...checkRows(reading, about), ...missingFrom(reading, about)]
      const drafts = checked.flatMap(({ state, draft }) => (draft && state !== 'duplicate' ? [draft] : []))
      return bring(app, asha, drafts, { source })
    }
    const figures = async () =>
      (await all()).map(({ reference, amount, balance, dueDate, status }) => `${reference} ${amount} ${balance} ${dueDate} ${status}`)
    const first = await send(exportsOf[source])
    const before = await figures()
    expect(first.reply.imported).toBe(before.length)
    expect(before.filter((one) => !one.endsWith(' paid')).length).toBeGreaterThan(0)
    expect(countsOf(await send(exportsOf[source]))).toEqual([0, 0, before.length])
    expect(await figures()).toEqual(before)
    const paid = await send(oncePaid[source](exportsOf[source]))
    expect(paid.reply.imported).toBe(0)
    expect((await all()).map(({ status, balance }) => [status, balance])).toEqual(before.map(() => ['paid', 0]))
    // The older file once more: what is paid stays paid, and nothing is doubled.
    expect(countsOf(await send(exportsOf[source]))).toEqual([0, 0, before.length])
    expect((await all()).filter(({ status, overpaid }) => status !== 'paid' || overpaid > 0)).toEqual([])
    const { reply } = await ask(app, asha, invoiceCalls.undoImport, { params: { id: paid.reply.importId } })
    expect(reply).toMatchObject({ deleted: 0, restored: paid.reply.updated, kept: [] })
    expect(await figures()).toEqual(before)
  },
)

test('of two lines with one reference the second is refused, however far apart, and when the import is repeated', async () => {
  await using app = await openTestApp({ now })
  const asha = await aPerson(app)
  const others = Array.from({ length: 120 }, (_, nth) => ({ ...line, clientEmail: `c${nth}@kaveri.example`, reference: `X-${nth}` }))
  for (const lines of [
    [{ ...line, amount: 1000 }, ...others, { ...line, amount: 300 }],
    [
      { ...line, reference: 'B-1', amount: 1000 },
      { ...line, reference: 'B-1', amount: 300 },
    ],
  ])
    for (let nth = 0; nth < 2; nth += 1) {
      const brought = await bring(app, asha, lines, {}, `key ${lines.length}`)
      expect([brought.reply.imported, brought.reply.updated, brought.reply.lines.at(-1)]).toEqual([
        lines.length - 1,
        0,
        expect.objectContaining({ code: expect.stringMatching(/^(?:duplicate|conflict)$/) }),
      ])
    }
  expect([await money(app, asha, 'A-1'), await money(app, asha, 'B-1')]).toMatchObject([{ amount: 1000 }, { amount: 1000 }])
})

test('undo keeps an invoice that was paid in part since it was imported', async () => {
  await using app = await openTestApp({ now })
  const asha = await aPerson(app)
  const lines = [
    { ...line, amountPaid: 100 },
    { ...line, reference: 'A-2', amount: 90, status: 'paid' as const },
  ]
  const { reply } = await bring(app, asha, lines)
  app.clock.advance({ minutes: 1 })
  const { _id: id } = await byReference(app, asha, 'A-1')
  await ask(app, asha, paymentCalls.record, { params: { id }, body: { amount: 2000 } })
  const undone = await ask(app, asha, invoiceCalls.undoImport, { params: { id: reply.importId } })
  expect(undone.reply).toMatchObject({ deleted: 1, kept: [{ _id: id }] })
  expect(await money(app, asha, 'A-1')).toMatchObject({ balance: 2900 })
})

test('an invoice that is owed again because an import is undone reports no overdue event', async () => {
  await using app = await openTestApp({ now })
  const asha = await aPerson(app)
  const late = { ...line, dueDate: '2026-02-01' }
  await bring(app, asha, [late])
  await app.db.execute(sql`INSERT INTO hooks (id, owner_id, kind, url, sealed_secret, events, created_at)
    SELECT gen_random_uuid(), ${asha.id}::uuid, 'webhook', 'https://example.com', '', ARRAY['invoice.overdue'], now()`)
  const { reply } = await bring(app, asha, [{ ...late, status: 'paid' }])
  await ask(app, asha, invoiceCalls.undoImport, { params: { id: reply.importId } })
  expect(await money(app, asha, 'A-1')).toMatchObject({ amountPaid: 0, status: 'overdue' })
  expect((await app.db.execute(sql`SELECT type FROM hook_events`)) as unknown).toMatchObject({ rows: [] })
})

test('a line finds the invoice that has another reference here, in an import from the same source only', async () => {
  await using app = await openTestApp({ now })
  const asha = await aPerson(app)
  await bring(app, asha, [line, { ...line, reference: 'A-2', amount: 800 }])
  const { _id: id } = await byReference(app, asha, 'A-1')
  const rename = (reference: string) => ask(app, asha, invoiceCalls.update, { params: { id }, body: { reference } })
  await rename('A-1a')
  const known = async () => (await ask(app, asha, invoiceCalls.list, { query: { source: 'zoho' } })).reply.map(({ reference }) => reference)
  expect(await known()).toEqual(['A-2'])
  const all = [{ ...line, amountPaid: 1500 }, ...Array.from({ length: 100 }, (_, nth) => ({ ...line, reference: `X-${nth}` }))]
  expect(countsOf(await bring(app, asha, all))).toEqual([100, 1, 0])
  expect(await money(app, asha, 'A-1a')).toMatchObject({ amount: 5000, balance: 3500 })
  // The source has both: the first is another invoice, though it comes in another part.
  const both = [{ ...line, amount: 70 }, ...all.slice(1), { ...line, reference: 'A-1a', amountPaid: 2000 }]
  expect(countsOf(await bring(app, asha, both))).toEqual([1, 1, 100])
  expect((await known()).toSorted().slice(0, 3)).toEqual(['A-1', 'A-1a', 'A-2'])
  expect([(await money(app, asha, 'A-1')).balance, (await money(app, asha, 'A-1a')).balance]).toEqual([70, 3000])
  await rename('A-1b')
  expect(countsOf(await bring(app, asha, [{ ...line, reference: 'A-1a', amount: 9 }], { source: 'xero' }))).toEqual([1, 0, 0])
})
