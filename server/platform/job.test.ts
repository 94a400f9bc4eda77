import { PGlite } from '@electric-sql/pglite'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { wrapEmbedded } from './database.ts'
import { job, openQueue, work } from './job.ts'
import { openLog } from './log.ts'

test('a key that was busy when the queue looked after itself is served again as soon as it is free', async () => {
  const database = await wrapEmbedded(new PGlite())
  const errand = job({ name: 'errand', payload: z.object({ key: z.string(), nth: z.number() }), key: ({ key }) => key })
  const queue = await openQueue(database, { url: null, jobs: [errand], log: openLog({ level: 'silent', terminal: false }) })
  const begun: number[] = []
  const [first, second] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  const free = Promise.withResolvers<void>()
  await queue.start([
    work(errand, 2, async ({ nth }) => {
      begun.push(nth)
      if (nth === 2) return second.resolve()
      first.resolve()
      await free.promise
    }),
  ])
  const ask = (nth: number) => database.db.transaction((tx) => queue.send(tx, errand, { key: 'asha', nth }))
  await ask(1)
  await first.promise
  await queue.recover()
  // The second one waits while pg-boss reads its notes on the queue anew, every two seconds.
  const noted = new Promise((resolve) => setTimeout(resolve, 2_500))
  await ask(2)
  await noted
  expect(begun).toEqual([1])
  free.resolve()
  const late = new Promise((resolve) => setTimeout(resolve, 9_000, 'late'))
  expect(await Promise.race([second.promise, late])).not.toBe('late')
  await queue.stop()
  await database.close()
}, 60_000)
