// Also on PostgreSQL: two requests with one key meet on one row.
import { sql } from 'drizzle-orm'
import { expect, test } from 'vitest'
import { invoiceCalls } from '#contract/invoices.ts'
import { anInvoice, aPerson, type Person } from '#test/factories.ts'
import { ask, openTestApp, type TestApp } from '#test/harness.ts'
import { pruneIdempotencyKeys } from './idempotency.ts'
import { idempotencyKeys } from './tables.ts'

const draft = { clientName: 'Kaveri Foods', clientEmail: 'billing@kaveri.example', amount: 5000, dueDate: '2026-02-20' }

async function create(app: TestApp, someone: Person, key: string, body: object = draft) {
  return ask(app, someone, invoiceCalls.create, { body: body as typeof draft }, { 'idempotency-key': key })
}

async function count(app: TestApp, someone: Person): Promise<number> {
  return (await ask(app, someone, invoiceCalls.list, { query: {} })).reply.length
}

test('the same request under the same key gets the same invoice', async () => {
  await using app = await openTestApp()
  const asha = await aPerson(app)
  const first = await create(app, asha, 'zap-1')
  expect(first.status).toBe(201)
  const again = await create(app, asha, 'zap-1', Object.fromEntries(Object.entries({ ...draft, status: 'unpaid' }).reverse()))
  expect(again).toMatchObject({ status: 201, reply: first.reply })
  expect(await count(app, asha)).toBe(1)
})

test('simultaneous requests under one key create one invoice', async () => {
  await using app = await openTestApp()
  const asha = await aPerson(app)
  const answered = await Promise.all(Array.from({ length: 20 }, () => create(app, asha, 'zap-1')))
  expect(answered.map(({ status }) => status)).toEqual(Array(20).fill(201))
  expect(new Set(answered.map(({ reply }) => reply._id)).size).toBe(1)
  expect(await count(app, asha)).toBe(1)
})

test('a key used for another invoice answers conflict', async () => {
  await using app = await openTestApp()
  const asha = await aPerson(app)
  await create(app, asha, 'zap-1')
  expect(await create(app, asha, 'zap-1', { ...draft, amount: 5001 })).toMatchObject({ status: 409, problem: { code: 'conflict' } })
  expect(await count(app, asha)).toBe(1)
})

test('a key is remembered for a day', async () => {
  await using app = await openTestApp()
  const asha = await aPerson(app)
  const first = await create(app, asha, 'zap-1')
  app.clock.advance({ hours: 23, minutes: 59 })
  expect((await create(app, asha, 'zap-1')).reply._id).toBe(first.reply._id)
  app.clock.advance({ minutes: 1 })
  expect((await create(app, asha, 'zap-1', { ...draft, amount: 7 })).reply).toMatchObject({ amount: 7 })
  expect(await count(app, asha)).toBe(2)
})

test('a refused request leaves its key free', async () => {
  await using app = await openTestApp()
  const asha = await aPerson(app)
  const { reference } = await anInvoice(app, { owner: asha })
  expect((await create(app, asha, 'zap-1', { ...draft, amount: -1 })).status).toBe(400)
  expect((await create(app, asha, 'zap-1', { ...draft, reference })).status).toBe(409)
  expect((await create(app, asha, 'zap-1')).status).toBe(201)
})

test('an invoice deleted meanwhile is not created again', async () => {
  await using app = await openTestApp()
  const asha = await aPerson(app)
  const { reply } = await create(app, asha, 'zap-1')
  await ask(app, asha, invoiceCalls.remove, { params: { id: reply._id } })
  expect(await create(app, asha, 'zap-1')).toMatchObject({ status: 409, problem: { code: 'conflict' } })
  expect(await count(app, asha)).toBe(0)
})

test('keys of one account do not affect another', async () => {
  await using app = await openTestApp()
  const [asha, meera] = [await aPerson(app), await aPerson(app)]
  const first = await create(app, asha, 'zap-1')
  const hers = await create(app, meera, 'zap-1', { ...draft, amount: 7 })
  expect(hers.status).toBe(201)
  expect(hers.reply._id).not.toBe(first.reply._id)
})

test.each(['', '   ', 'x'.repeat(256), 'caf\u00e9'])('%j is no key', async (key) => {
  await using app = await openTestApp()
  const asha = await aPerson(app)
  expect(await create(app, asha, key)).toMatchObject({ status: 400, problem: { code: 'invalid', errors: [{ path: 'Idempotency-Key' }] } })
  expect(await count(app, asha)).toBe(0)
})

test('expired keys are pruned', async () => {
  await using app = await openTestApp()
  const asha = await aPerson(app)
  const { reply } = await create(app, asha, 'old')
  await app.db.execute(sql`
    INSERT INTO idempotency_keys (owner_id, key, request_hash, invoice_id, created_at)
    SELECT owner_id, 'line ' || n, request_hash, invoice_id, created_at FROM idempotency_keys, generate_series(1, 2500) n WHERE invoice_id = ${reply._id}::uuid`)
  app.clock.advance({ hours: 24 })
  await create(app, asha, 'new')
  await pruneIdempotencyKeys(app.db, app.clock.now())
  expect((await app.db.select().from(idempotencyKeys)).map(({ key }) => key)).toEqual(['new'])
})
