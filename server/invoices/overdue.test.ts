// Also on PostgreSQL: the midnight job skips rows that others hold.
import { sql } from 'drizzle-orm'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { accountCalls } from '#contract/accounts.ts'
import { invoiceCalls } from '#contract/invoices.ts'
import { rows } from '#server/platform/database.ts'
import { anInvoice, aPerson, type Person } from '#test/factories.ts'
import { ask, openTestApp, type TestApp } from '#test/harness.ts'
import { turnOverdue } from './overdue.ts'

const turn = (app: TestApp) => turnOverdue(app.db, app.clock.now())
/** The statuses of a person's invoices by reference. */
async function statuses(app: TestApp, person: Person): Promise<Record<string, string>> {
  const { reply } = await ask(app, person, invoiceCalls.list, { query: {} })
  return Object.fromEntries(reply.map(({ reference, status }) => [reference, status]))
}
async function change(app: TestApp, person: Person, id: string, body: { dueDate?: string; status?: 'unpaid' | 'paid' | 'overdue' }) {
  return (await ask(app, person, invoiceCalls.update, { params: { id }, body })).reply
}
async function midnightOf(app: TestApp, person: Person): Promise<string> {
  const [found] = await rows(
    app.db,
    z.object({ midnight: z.string() }),
    sql`SELECT next_midnight_at::text AS midnight FROM accounts WHERE id = ${person.id}`,
  )
  return Temporal.Instant.from(found?.midnight ?? '').toString()
}

test('an unpaid invoice becomes overdue at the local midnight after its due date', async () => {
  await using app = await openTestApp({ now: '2026-03-02T09:00:00Z' })
  const asha = await aPerson(app, { timezone: 'Asia/Kolkata' })
  const ann = await aPerson(app, { timezone: 'America/New_York' })
  for (const owner of [asha, ann]) {
    await anInvoice(app, { owner, reference: 'today', dueDate: '2026-03-02' })
    await anInvoice(app, { owner, reference: 'tomorrow', dueDate: '2026-03-03' })
    await anInvoice(app, { owner, reference: 'paid', dueDate: '2026-03-02', status: 'paid' })
  }
  app.clock.set('2026-03-02T18:29:59Z')
  await turn(app)
  expect(await statuses(app, asha)).toEqual({ today: 'unpaid', tomorrow: 'unpaid', paid: 'paid' })
  app.clock.set('2026-03-02T18:30:00Z')
  await turn(app)
  expect(await statuses(app, asha)).toEqual({ today: 'overdue', tomorrow: 'unpaid', paid: 'paid' })
  expect(await statuses(app, ann)).toMatchObject({ today: 'unpaid' })
  app.clock.set('2026-03-03T05:00:00Z')
  await turn(app)
  expect(await statuses(app, ann)).toEqual({ today: 'overdue', tomorrow: 'unpaid', paid: 'paid' })
})

test('an invoice that turned overdue has a new updatedAt', async () => {
  await using app = await openTestApp({ now: '2026-03-02T09:00:00Z' })
  const { _id: id, owner } = await anInvoice(app, { dueDate: '2026-03-02' })
  app.clock.set('2026-03-02T18:30:00Z')
  await turn(app)
  const { reply } = await ask(app, owner, invoiceCalls.read, { params: { id } })
  expect(reply).toMatchObject({ status: 'overdue', updatedAt: '2026-03-02T18:30:00Z' })
})

test('after downtime every missed midnight is made up for, by the date of each account', async () => {
  await using app = await openTestApp({ now: '2026-03-02T09:00:00Z' })
  const asha = await aPerson(app)
  const ann = await aPerson(app, { timezone: 'Pacific/Pago_Pago' })
  for (const owner of [asha, ann])
    for (const day of ['02', '05', '08', '09']) await anInvoice(app, { owner, reference: day, dueDate: `2026-03-${day}` })
  app.clock.set('2026-03-09T09:00:00Z')
  await turn(app)
  expect(await statuses(app, ann)).toEqual({ '02': 'overdue', '05': 'overdue', '08': 'unpaid', '09': 'unpaid' })
  expect(await midnightOf(app, ann)).toBe('2026-03-09T11:00:00Z')
  expect(await statuses(app, asha)).toEqual({ '02': 'overdue', '05': 'overdue', '08': 'overdue', '09': 'unpaid' })
  expect(await midnightOf(app, asha)).toBe('2026-03-09T18:30:00Z')
})

test('an invoice that a person set back to unpaid stays unpaid until its due date changes', async () => {
  await using app = await openTestApp({ now: '2026-03-02T09:00:00Z' })
  const asha = await aPerson(app)
  const ids = new Map<string, string>()
  for (const reference of ['one', 'many', 'paid', 'moved'])
    ids.set(reference, (await anInvoice(app, { owner: asha, reference, dueDate: '2026-03-02' }))._id)
  const idOf = (reference: string) => ids.get(reference) ?? ''
  app.clock.set('2026-03-02T18:30:00Z')
  await turn(app)
  await change(app, asha, idOf('one'), { status: 'unpaid' })
  const mark = { do: 'mark' as const, status: 'unpaid' as const }
  await ask(app, asha, invoiceCalls.bulkChange, { body: { ids: [idOf('many'), idOf('moved')], change: mark } })
  await change(app, asha, idOf('paid'), { status: 'paid' })
  await change(app, asha, idOf('paid'), { status: 'unpaid' })
  app.clock.advance({ hours: 24 * 3 })
  await turn(app)
  expect(await statuses(app, asha)).toEqual({ one: 'unpaid', many: 'unpaid', paid: 'unpaid', moved: 'unpaid' })
  await change(app, asha, idOf('moved'), { dueDate: '2026-03-01' })
  app.clock.advance({ hours: 24 })
  await turn(app)
  expect(await statuses(app, asha)).toEqual({ one: 'unpaid', many: 'unpaid', paid: 'unpaid', moved: 'overdue' })
})

test('an unpaid invoice set to unpaid before it was past due becomes overdue like any other', async () => {
  await using app = await openTestApp({ now: '2026-03-02T09:00:00Z' })
  const { _id: id, owner } = await anInvoice(app, { reference: 'A', dueDate: '2026-03-02', status: 'overdue' })
  await change(app, owner, id, { status: 'unpaid' })
  await ask(app, owner, invoiceCalls.bulkChange, { body: { ids: [id], change: { do: 'mark', status: 'unpaid' } } })
  app.clock.set('2026-03-02T18:30:00Z')
  await turn(app)
  expect(await statuses(app, owner)).toEqual({ A: 'overdue' })
})

test('an invoice past due at its creation has its given status, and unpaid ones become overdue at midnight whatever their age', async () => {
  await using app = await openTestApp({ now: '2026-03-02T09:00:00Z' })
  const asha = await aPerson(app)
  const draft = { clientName: 'Kaveri Foods', clientEmail: 'billing@kaveri.example', amount: 5000, dueDate: '2025-01-02' }
  const created = []
  for (const status of [undefined, 'unpaid', 'overdue', 'paid'] as const)
    created.push((await ask(app, asha, invoiceCalls.create, { body: { ...draft, ...(status ? { status } : {}) } })).reply.status)
  expect(created).toEqual(['unpaid', 'unpaid', 'overdue', 'paid'])
  app.clock.set('2026-03-02T18:30:00Z')
  await turn(app)
  expect(Object.values(await statuses(app, asha)).sort()).toEqual(['overdue', 'overdue', 'overdue', 'paid'])
})

test('a due date moved into the past turns the invoice overdue at the next midnight, unless its status was set with it', async () => {
  await using app = await openTestApp({ now: '2026-03-02T09:00:00Z' })
  const asha = await aPerson(app)
  const ids = new Map<string, string>()
  for (const reference of ['moved', 'said', 'later', 'back', 'far'])
    ids.set(reference, (await anInvoice(app, { owner: asha, reference, dueDate: '2026-04-30' }))._id)
  const idOf = (reference: string) => ids.get(reference) ?? ''
  expect(await change(app, asha, idOf('moved'), { dueDate: '2026-02-10' })).toMatchObject({ status: 'unpaid' })
  await change(app, asha, idOf('said'), { dueDate: '2026-02-10', status: 'unpaid' })
  await change(app, asha, idOf('later'), { dueDate: '2026-02-10' })
  await change(app, asha, idOf('later'), { status: 'unpaid' })
  await change(app, asha, idOf('back'), { dueDate: '2026-02-10' })
  await change(app, asha, idOf('back'), { dueDate: '2026-04-30' })
  app.clock.set('2026-03-02T18:30:00Z')
  await turn(app)
  expect(await statuses(app, asha)).toEqual({ moved: 'overdue', said: 'unpaid', later: 'unpaid', back: 'unpaid', far: 'unpaid' })
})

test('an overdue invoice with a later due date is unpaid again, unless its status was set with it', async () => {
  await using app = await openTestApp({ now: '2026-03-02T09:00:00Z' })
  const { _id: id, owner } = await anInvoice(app, { dueDate: '2026-02-20', status: 'overdue' })
  expect(await change(app, owner, id, { dueDate: '2026-03-01' })).toMatchObject({ status: 'overdue' })
  expect(await change(app, owner, id, { dueDate: '2026-03-09', status: 'overdue' })).toMatchObject({ status: 'overdue' })
  expect(await change(app, owner, id, { dueDate: '2026-03-02' })).toMatchObject({ status: 'unpaid' })
  app.clock.set('2026-03-02T18:30:00Z')
  await turn(app)
  expect(await change(app, owner, id, {})).toMatchObject({ status: 'overdue' })
})

test('an invoice whose due date passed while it was deleted turns overdue once restored', async () => {
  await using app = await openTestApp({ now: '2026-03-02T09:00:00Z' })
  const asha = await aPerson(app)
  const { _id: id } = await anInvoice(app, { owner: asha, reference: 'passed', dueDate: '2026-03-03' })
  const { _id: said } = await anInvoice(app, { owner: asha, reference: 'said', dueDate: '2026-02-20' })
  await change(app, asha, said, { status: 'unpaid' })
  for (const one of [id, said]) await ask(app, asha, invoiceCalls.remove, { params: { id: one } })
  app.clock.set('2026-03-06T09:00:00Z')
  await turn(app)
  const again = asha
  for (const one of [id, said]) await ask(app, again, invoiceCalls.restore, { params: { id: one } })
  app.clock.set('2026-03-06T18:30:00Z')
  await turn(app)
  expect(await statuses(app, asha)).toEqual({ passed: 'overdue', said: 'unpaid' })
})

test('a repeated job, or two processes at once, change nothing more', async () => {
  await using app = await openTestApp({ now: '2026-03-02T09:00:00Z' })
  const { _id: id, owner } = await anInvoice(app, { reference: 'A', dueDate: '2026-03-02' })
  app.clock.set('2026-03-02T20:00:00Z')
  await Promise.all([turn(app), turn(app), turn(app)])
  expect(await statuses(app, owner)).toEqual({ A: 'overdue' })
  const before = await midnightOf(app, owner)
  await change(app, owner, id, { status: 'unpaid' })
  await turn(app)
  expect(await statuses(app, owner)).toEqual({ A: 'unpaid' })
  expect(await midnightOf(app, owner)).toBe(before)
})

test('midnight follows the calendar, through clock changes and where there is none', async () => {
  // [zone, now, the next time that a day begins there]
  const vectors: [string, string, string][] = [
    ['Asia/Kolkata', '2026-03-01T18:30:00Z', '2026-03-02T18:30:00Z'],
    ['America/New_York', '2026-03-08T06:00:00Z', '2026-03-09T04:00:00Z'],
    ['America/New_York', '2026-11-01T05:00:00Z', '2026-11-02T05:00:00Z'],
    ['Australia/Lord_Howe', '2026-10-03T14:00:00Z', '2026-10-04T13:00:00Z'],
    // In Beirut and Cairo clocks go from 00:00 to 01:00: the day begins at one.
    ['Asia/Beirut', '2026-03-28T12:00:00Z', '2026-03-28T22:00:00Z'],
    ['Africa/Cairo', '2026-04-23T12:00:00Z', '2026-04-23T22:00:00Z'],
    ['Pacific/Kiritimati', '2026-01-01T12:00:00Z', '2026-01-02T10:00:00Z'],
    // Apia skipped 30 December 2011.
    ['Pacific/Apia', '2011-12-30T09:00:00Z', '2011-12-30T10:00:00Z'],
  ]
  for (const [timezone, now, next] of vectors) {
    await using app = await openTestApp({ now: '2011-01-01T00:00:00Z' })
    const person = await aPerson(app, { timezone })
    app.clock.set(now)
    await turn(app)
    expect(await midnightOf(app, person), `${timezone} ${now}`).toBe(next)
  }
})

test('after a move to the west an overdue invoice stays overdue, and a day that ends again is checked for what was added meanwhile', async () => {
  // In Kolkata the third has begun, on Samoa it is the second.
  await using app = await openTestApp({ now: '2026-03-02T19:00:00Z' })
  const asha = await aPerson(app, { timezone: 'Asia/Kolkata' })
  const move = (timezone: string) => ask(app, asha, accountCalls.changeProfile, { body: { timezone } })
  await anInvoice(app, { owner: asha, reference: 'before', dueDate: '2026-03-02', status: 'overdue' })
  await move('Pacific/Pago_Pago')
  await turn(app)
  await anInvoice(app, { owner: asha, reference: 'today', dueDate: '2026-03-02' })
  await turn(app)
  expect(await statuses(app, asha)).toEqual({ before: 'overdue', today: 'unpaid' })
  await move('Pacific/Kiritimati')
  await turn(app)
  expect(await statuses(app, asha)).toEqual({ before: 'overdue', today: 'overdue' })
})

test('a failing account does not delay the others', async () => {
  await using app = await openTestApp({ now: '2026-03-02T09:00:00Z' })
  const broken = await aPerson(app)
  const { owner } = await anInvoice(app, { reference: 'A', dueDate: '2026-03-02' })
  await app.db.execute(
    sql`UPDATE accounts SET timezone = 'Nowhere/Land', next_midnight_at = '2026-03-01T00:00:00Z' WHERE id = ${broken.id}`,
  )
  app.clock.set('2026-03-02T18:30:00Z')
  await expect(turn(app)).rejects.toThrow(AggregateError)
  expect(await statuses(app, owner)).toEqual({ A: 'overdue' })
})

test('more accounts than a batch are processed in one call', async () => {
  await using app = await openTestApp({ now: '2026-03-02T09:00:00Z' })
  await app.db.execute(sql`INSERT INTO accounts (id, timezone, created_at, updated_at, next_midnight_at)
    SELECT gen_random_uuid(), 'Asia/Kolkata', now(), now(), '2026-03-02T18:30:00Z' FROM generate_series(1, 450) n`)
  app.clock.set('2026-03-02T18:30:00Z')
  await turn(app)
  const left = await rows(
    app.db,
    z.object({ count: z.number() }),
    sql`SELECT count(*)::int AS count FROM accounts WHERE next_midnight_at <= '2026-03-02T18:30:00Z'`,
  )
  expect(left).toEqual([{ count: 0 }])
})
