// Also on PostgreSQL: answers are stored as JSON.
import { expect, test } from 'vitest'
import { type FileAnswer, fileLayoutCalls, type LayoutKind, mostLayouts } from '#contract/file-layouts.ts'
import { aPerson, type Person } from '#test/factories.ts'
import { ask, openTestApp, type TestApp } from '#test/harness.ts'
import { fileLayouts } from './tables.ts'

const dmy: FileAnswer = { question: 'order/date', answer: 'dmy' }
const layout = (headings: string, answers: FileAnswer[] = [dmy], kind: LayoutKind = 'bank') => ({
  kind,
  headings,
  name: 'My bank',
  answers,
})
const keep = (app: TestApp, person: Person, body: ReturnType<typeof layout>) => ask(app, person, fileLayoutCalls.keep, { body })
const kept = async (app: TestApp, person: Person) => (await ask(app, person, fileLayoutCalls.list)).reply

test('answers are kept by the headings, kept again in their place, renamed and deleted', async () => {
  await using app = await openTestApp()
  const asha = await aPerson(app)
  const { reply: first } = await keep(app, asha, layout('date|amount'))
  app.clock.advance({ minutes: 1 })
  await keep(app, asha, layout('date|amount', [], 'invoices'))
  app.clock.advance({ minutes: 1 })
  await ask(app, asha, fileLayoutCalls.rename, { params: { id: first._id }, body: { name: 'Salary account' } })
  const answers = [
    { ...dmy, answer: 'mdy' },
    { question: 'column/amount', answer: 'sum' },
  ]
  const { reply: again } = await keep(app, asha, layout('date|amount', answers))
  expect(again).toMatchObject({ _id: first._id, name: 'Salary account', answers })
  expect((await kept(app, asha)).map(({ kind, headings, name }) => [kind, headings, name])).toEqual([
    ['bank', 'date|amount', 'Salary account'],
    ['invoices', 'date|amount', 'My bank'],
  ])
  expect(await kept(app, await aPerson(app))).toEqual([])
  await ask(app, asha, fileLayoutCalls.remove, { params: { id: first._id } })
  expect((await ask(app, asha, fileLayoutCalls.remove, { params: { id: first._id } })).status).toBe(404)
  expect(await kept(app, asha)).toMatchObject([{ kind: 'invoices' }])
})

test('an account keeps so many layouts of a kind, each of a bounded size', async () => {
  await using app = await openTestApp()
  const asha = await aPerson(app)
  const now = app.clock.now()
  const rows = Array.from({ length: mostLayouts - 1 }, (_, nth) => ({
    ...layout(`${nth}`),
    ownerId: asha.id,
    hash: `${nth}`,
    createdAt: now,
    usedAt: now,
  }))
  await app.db.insert(fileLayouts).values(rows)
  const statuses = await Promise.all([keep(app, asha, layout('a')), keep(app, asha, layout('b'))])
  expect(statuses.map(({ status }) => status).toSorted()).toEqual([200, 409])
  expect(await keep(app, asha, layout('c'))).toMatchObject({
    status: 409,
    problem: { message: expect.stringContaining('You keep 50 layouts') },
  })
  expect((await keep(app, asha, layout('c', [], 'invoices'))).status).toBe(200)
  const long = 'x'.repeat(201)
  const many = Array.from({ length: 61 }, () => dmy)
  for (const answers of [[{ question: long, answer: 'a' }], [{ question: 'a', answer: long }], many])
    expect((await keep(app, asha, layout('d', answers, 'invoices'))).status).toBe(400)
  expect((await keep(app, asha, layout('x'.repeat(4_001), [], 'invoices'))).status).toBe(400)
})
