import { EventEmitter } from 'node:events'
import type { FastifyReply } from 'fastify'
import { expect, test } from 'vitest'
import { ProblemError } from '#server/platform/problem-error.ts'
import { openTestApp } from '#test/harness.ts'
import { openHeavyCalls } from './heavy-calls.ts'

/** A reply whose end is up to the test. */
const aReply = () => {
  const raw = Object.assign(new EventEmitter(), { destroyed: false })
  return { reply: { raw } as unknown as FastifyReply, end: () => raw.emit('close') }
}
const settled = () => new Promise((resolve) => setImmediate(resolve))

test('two heavy calls of an account run at a time, eight wait, and others are refused; other accounts are not affected', async () => {
  await using app = await openTestApp()
  const enter = openHeavyCalls(app.deps)
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

test('sixty heavy calls a minute, over all processes', async () => {
  await using app = await openTestApp({ config: { rateLimit: true } })
  const [one, other] = [openHeavyCalls(app.deps), openHeavyCalls(app.deps)]
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
