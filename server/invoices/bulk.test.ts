// Also on PostgreSQL: many rows are locked in one order.
import { expect, test } from 'vitest'
import { accountCalls } from '#contract/accounts.ts'
import { type BulkChange, invoiceCalls } from '#contract/invoices.ts'
import { anInvoice, aPerson, type Person, signedInAgain } from '#test/factories.ts'
import { ask, openTestApp, type TestApp } from '#test/harness.ts'

const change = (app: TestApp, someone: Person, ids: string[], what: BulkChange) =>
  ask(app, someone, invoiceCalls.bulkChange, { body: { ids, change: what } })
const list = async (app: TestApp, someone: Person) => (await ask(app, someone, invoiceCalls.list, { query: {} })).reply
const pause = { do: 'pause', until: '2026-03-10', note: '', promised: false } as const

async function three(app: TestApp): Promise<{ asha: Person; ids: string[] }> {
  const asha = await aPerson(app)
  const ids: string[] = []
  for (let number = 1; number <= 3; number += 1) ids.push((await anInvoice(app, { owner: asha }))._id)
  return { asha, ids }
}

test('many invoices are marked as paid in one request, and unpaid again', async () => {
  await using app = await openTestApp({ now: '2026-03-02T09:00:00Z' })
  const { asha, ids } = await three(app)
  expect((await change(app, asha, ids, { do: 'mark', status: 'paid' })).reply).toEqual({ changed: ids, failed: [] })
  expect((await list(app, asha)).map(({ status, paidAt }) => [status, paidAt])).toEqual(Array(3).fill(['paid', '2026-03-02T09:00:00Z']))
  await change(app, asha, ids.slice(0, 2), { do: 'mark', status: 'overdue' })
  expect((await list(app, asha)).map(({ status }) => status)).toEqual(['paid', 'overdue', 'overdue'])
})

test('an id in capitals is the same invoice, and is reported as changed', async () => {
  await using app = await openTestApp({ now: '2026-03-02T09:00:00Z' })
  const { asha, ids } = await three(app)
  const capitals = (ids[0] ?? '').toUpperCase()
  expect((await change(app, asha, [capitals], { do: 'delete' })).reply).toEqual({ changed: [capitals], failed: [] })
  expect(await list(app, asha)).toHaveLength(2)
})

test('many invoices are paused until a day or until resumed, and resumed', async () => {
  await using app = await openTestApp({ now: '2026-03-02T09:00:00Z' })
  const { asha, ids } = await three(app)
  await change(app, asha, ids, pause)
  expect((await list(app, asha)).map((one) => one.pause?.until)).toEqual(['2026-03-10', '2026-03-10', '2026-03-10'])
  await change(app, asha, ids, { do: 'resume' })
  expect((await list(app, asha)).map((one) => one.pause)).toEqual([null, null, null])
})

test('a pause until a day that has passed is refused as a whole', async () => {
  await using app = await openTestApp({ now: '2026-03-02T09:00:00Z' })
  const { asha, ids } = await three(app)
  const { status, problem } = await change(app, asha, ids, { ...pause, until: '2026-03-01' })
  expect([status, problem?.message]).toEqual([400, 'Please choose today or a later day.'])
  expect((await list(app, asha)).map((one) => one.pause)).toEqual([null, null, null])
})

test('invoices deleted together are restored together; one whose reference was taken says so', async () => {
  await using app = await openTestApp()
  const { asha, ids } = await three(app)
  expect((await change(app, asha, ids, { do: 'delete' })).reply.changed).toEqual(ids)
  expect(await list(app, asha)).toEqual([])
  const happened = (await ask(app, asha, accountCalls.audit, { query: {} })).reply.filter(({ kind }) => kind === 'invoice_deleted')
  expect(happened.map(({ text }) => text).toSorted()).toEqual(['INV-0001', 'INV-0002', 'INV-0003'].map((one) => `Invoice ${one} deleted.`))
  await anInvoice(app, { owner: asha, reference: 'INV-0002' })
  const { reply } = await change(app, asha, ids, { do: 'restore' })
  expect(reply.changed).toEqual([ids[0], ids[2]])
  expect(reply.failed).toEqual([{ _id: ids[1], code: 'conflict', message: 'Another invoice already has the reference INV-0002.' }])
})

test('five hundred invoices change in one request, and each keeps the day on which it was paid', async () => {
  await using app = await openTestApp({ now: '2026-03-02T09:00:00Z' })
  const asha = await aPerson(app)
  const lines = Array.from({ length: 500 }, (_, index) => ({
    clientName: 'Kaveri Foods',
    clientEmail: 'billing@kaveri.example',
    amount: index + 1,
    dueDate: '2026-03-31',
    status: index === 0 ? 'paid' : 'unpaid',
  }))
  await ask(app, asha, invoiceCalls.import, { body: { lines } })
  app.clock.advance({ hours: 24 })
  const asha2 = await signedInAgain(app, asha)
  const ids = (await list(app, asha2)).map(({ _id }) => _id)
  expect((await change(app, asha2, ids, { do: 'mark', status: 'paid' })).reply.changed).toHaveLength(500)
  const days = (await list(app, asha2)).map(({ paidAt }) => paidAt)
  expect(days.filter((day) => day === '2026-03-02T09:00:00Z')).toHaveLength(1)
  expect(days.filter((day) => day === '2026-03-03T09:00:00Z')).toHaveLength(499)
})

test("another account's invoice is not found", async () => {
  await using app = await openTestApp()
  const { asha, ids } = await three(app)
  const ravi = await aPerson(app)
  const { reply } = await change(app, ravi, [...ids, 'nonsense'], { do: 'delete' })
  expect(reply.changed).toEqual([])
  expect(new Set(reply.failed.map(({ code }) => code))).toEqual(new Set(['not_found']))
  expect(await list(app, asha)).toHaveLength(3)
})
