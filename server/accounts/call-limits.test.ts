import { EventEmitter } from 'node:events'
import type { FastifyReply } from 'fastify'
import { expect, inject, test } from 'vitest'
import { invoiceCalls } from '#contract/invoices.ts'
import { ProblemError } from '#server/platform/problem-error.ts'
import { aPerson, type Person } from '#test/factories.ts'
import { ask, openTestApp } from '#test/harness.ts'
import { openCallLimits } from './call-limits.ts'

/** A reply whose end is up to the test. */
const aReply = () => {
  const raw = Object.assign(new EventEmitter(), { destroyed: false })
  return { reply: { raw } as unknown as FastifyReply, end: () => raw.emit('close') }
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

test('sixty heavy calls a minute, over all processes', async () => {
  await using app = await openTestApp({ config: { rateLimit: true } })
  const [one, other] = [openCallLimits(app.deps).enterHeavy, openCallLimits(app.deps).enterHeavy]
  const call = async (enter: typeof one) => {
    const { reply, end } = aReply()
    await enter('asha', reply)
    end()
  }
  for (let nth = 0; nth < 30; nth += 1) {
    await call(one)
    await call(other)
  }
  const refused = await call(one).catch((error: unknown) => error)
  expect(refused).toBeInstanceOf(ProblemError)
  expect(refused).toMatchObject({ code: 'too_many', retryAfter: 60 })
  app.clock.advance({ seconds: 60 })
  await call(one)
})
