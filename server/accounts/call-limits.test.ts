import { EventEmitter } from 'node:events'
import type { FastifyReply } from 'fastify'
import { expect, inject, test } from 'vitest'
import { bankFileCalls } from '#contract/bank-file.ts'
import { invoiceCalls } from '#contract/invoices.ts'
import type { CallLimits } from '#server/platform/answer.ts'
import { asWork, cpuMs } from '#server/platform/work.ts'
import { aPerson, type Person } from '#test/factories.ts'
import { ask, openTestApp } from '#test/harness.ts'
import { openCallLimits } from './call-limits.ts'
import { throttles } from './tables.ts'
import { refusals } from './texts.ts'

/** A reply whose end is up to the test. */
const aReply = (handling: Promise<void> | null = null) => {
  const raw = Object.assign(new EventEmitter(), { destroyed: false })
  return { reply: { raw, handling } as unknown as FastifyReply, end: () => raw.emit('close') }
}
const settled = () => new Promise((resolve) => setImmediate(resolve))

test('two heavy calls of an account run at a time, eight wait, and others are refused; other accounts are not affected', async () => {
  await using app = await openTestApp()
  const { enterHeavy: enter } = openCallLimits(app.deps)
  const entered: string[] = []
  const replies = Array.from({ length: 10 }, aReply)
  const waiting = replies.map(({ reply }, nth) => enter('asha', reply).then(() => entered.push(`asha ${nth}`)))
  await settled()
  expect(entered).toEqual(['asha 0', 'asha 1'])
  await expect(enter('asha', aReply().reply)).rejects.toMatchObject({ code: 'too_many', retryAfter: 2 })
  await enter('meera', aReply().reply)
  replies[0]?.end()
  await settled()
  expect(entered).toEqual(['asha 0', 'asha 1', 'asha 2'])
  // An answer that was sent and whose connection closes later makes room once.
  replies[0]?.end()
  await settled()
  expect(entered).toHaveLength(3)
  for (const { end } of replies) {
    end()
    await settled()
  }
  await Promise.all(waiting)
  expect(entered).toHaveLength(10)
})

test('three heavy calls of all accounts run at a time, others wait until one ends', async () => {
  await using app = await openTestApp()
  const { enterHeavy: enter } = openCallLimits(app.deps)
  const entered: string[] = []
  const replies = ['asha', 'meera', 'ravi', 'kiran', 'leela'].map((who) => ({ who, ...aReply() }))
  const waiting = replies.map(({ who, reply }) => enter(who, reply).then(() => entered.push(who)))
  await settled()
  expect(entered).toEqual(['asha', 'meera', 'ravi'])
  for (const { end } of replies) {
    end()
    await settled()
  }
  await Promise.all(waiting)
  expect(entered).toEqual(['asha', 'meera', 'ravi', 'kiran', 'leela'])
})

test('six calls of an account run at a time, 200 wait until one ends, and others are refused; other accounts are not affected', async () => {
  await using app = await openTestApp()
  const { enter } = openCallLimits(app.deps)
  let entered = 0
  const replies = Array.from({ length: 206 }, aReply)
  const waiting = replies.map(({ reply }) => enter('asha', reply).then(() => (entered += 1)))
  await settled()
  expect(entered).toBe(6)
  await expect(enter('asha', aReply().reply)).rejects.toMatchObject({ code: 'too_many', retryAfter: 2 })
  await enter('meera', aReply().reply)
  for (const { end } of replies) {
    end()
    await settled()
  }
  await Promise.all(waiting)
  expect(entered).toBe(206)
})

/** One transaction keeps only the embedded database to itself. */
const embedded = test.skipIf(inject('postgresUrl'))

embedded('a call of an account that asks little goes before the waiting calls of others', async () => {
  await using app = await openTestApp()
  const busy = [await aPerson(app), await aPerson(app), await aPerson(app)]
  const neighbour = await aPerson(app)
  const list = (person: Person) => ask(app, person, invoiceCalls.list, { query: {} })
  // They use so much that the moment at which a call begins to wait decides nothing.
  for (let nth = 0; nth < 12; nth += 1) for (const person of busy) await list(person)
  const answered: string[] = []
  const { promise: free, resolve } = Promise.withResolvers<void>()
  // Nothing of a call is done meanwhile, so that all of them wait.
  const held = app.db.transaction(() => free)
  const asked = [...busy, ...busy, neighbour].map((person) => list(person).then(() => answered.push(person.id)))
  // Until each has verified its token, on the threads that this digest is computed on too, and waits.
  for (let nth = 0; nth < 100; nth += 1) await crypto.subtle.digest('SHA-256', new Uint8Array(1)).then(settled)
  expect(answered).toEqual([])
  resolve()
  await Promise.all([held, ...asked])
  // One of the others may have begun while its session was looked up.
  expect(answered.slice(0, 2)).toContain(neighbour.id)
})

test('1,200 calls of an account a minute', async () => {
  await using app = await openTestApp({ config: { rateLimit: true } })
  const { enter } = openCallLimits(app.deps)
  const call = async (ownerId: string) => {
    const { reply, end } = aReply()
    await enter(ownerId, reply)
    end()
  }
  for (let nth = 0; nth < 1_200; nth += 1) await call('asha')
  app.clock.advance({ seconds: 45 })
  await expect(call('asha')).rejects.toMatchObject({ code: 'too_many', retryAfter: 15 })
  await call('meera')
  app.clock.advance({ seconds: 15 })
  await call('asha')
})

test('what heavy calls of an account work in a minute is limited over all processes and restarts', async () => {
  await using app = await openTestApp({ config: { rateLimit: true } })
  const open = () => openCallLimits(app.deps, { workMs: 40 }).enterHeavy
  const stored = () => app.db.select().from(throttles)
  const call = (enter: CallLimits['enterHeavy'], owner: string, ms: number) =>
    asWork(async () => {
      const { reply, end } = aReply()
      await enter(owner, reply)
      for (const until = cpuMs() + ms; cpuMs() < until; ) Math.random()
      end()
    })
  const [one, other] = [open(), open()]
  await call(one, 'asha', 25)
  await expect.poll(stored).toMatchObject([{ key: 'work:asha' }])
  app.clock.advance({ seconds: 20 })
  await call(other, 'asha', 25)
  await expect.poll(async () => (await stored())[0]?.count).toBeGreaterThanOrEqual(50)
  for (const enter of [one, other, open()])
    await expect(call(enter, 'asha', 1)).rejects.toMatchObject({
      code: 'too_many',
      retryAfter: 40,
      message: refusals.tooMuchWork(0.04, 40),
    })
  await call(one, 'meera', 1)
  app.clock.advance({ seconds: 40 })
  await call(open(), 'asha', 1)
})

test('a client that goes away neither frees the place of its call nor ends its count', async () => {
  await using app = await openTestApp({ config: { rateLimit: true } })
  const { enterHeavy: enter } = openCallLimits(app.deps)
  const { promise: handling, resolve } = Promise.withResolvers<void>()
  const abandoned = [aReply(handling), aReply(handling)]
  await Promise.all(abandoned.map(({ reply }) => asWork(() => enter('asha', reply))))
  let entered = false
  const third = enter('asha', aReply().reply).then(() => (entered = true))
  for (const { end } of abandoned) end()
  await settled()
  expect(entered).toBe(false)
  resolve()
  await third
})

test('an account that used its work is refused with the limit and when to try again', async () => {
  await using app = await openTestApp({ config: { rateLimit: true } })
  const asha = await aPerson(app)
  await app.db.insert(throttles).values({ key: `work:${asha.id}`, count: 15_000, until: app.clock.now().add({ seconds: 20 }) })
  const match = () => ask(app, asha, bankFileCalls.match, { body: { lines: [{ date: '2026-01-05', amount: 1 }] } })
  const message =
    'Your large requests used the 15 seconds of work that an account has a minute. Try again in 20 seconds, with fewer records at a time.'
  expect(await match()).toMatchObject({ status: 429, problem: { code: 'too_many', message }, headers: { 'retry-after': '20' } })
  app.clock.advance({ seconds: 20 })
  expect((await match()).status).toBe(200)
})

test('a long body is counted before it is read, also one that is refused', async () => {
  await using app = await openTestApp({ config: { rateLimit: true } })
  const asha = await aPerson(app)
  const line = { date: '2026-01-05', amount: 1, description: 'x'.repeat(900) }
  const match = (lines: object[]) => ask(app, asha, bankFileCalls.match, { body: { lines: lines as never } })
  expect((await match([line, {}])).status).toBe(400)
  expect(await app.db.select().from(throttles)).toEqual([])
  expect((await match([...Array.from({ length: 99 }, () => line), {}])).status).toBe(400)
  const { id } = asha
  await expect.poll(() => app.db.select().from(throttles)).toMatchObject([{ key: `work:${id}` }])
})
