import { sql } from 'drizzle-orm'
import { afterAll, expect, test } from 'vitest'
import { z } from 'zod'
import { engineFromTemplate } from '#test/harness.ts'
import { systemTimers } from './clock.ts'
import { type Database, type OpenDatabase, wrapEmbedded } from './database.ts'
import { job, openQueue, type Queue, type Work, work } from './job.ts'
import { openLog } from './log.ts'

const errand = job({ name: 'errand', payload: z.object({ key: z.string(), nth: z.number() }), key: ({ key }) => key })

interface Desk extends AsyncDisposable {
  database: OpenDatabase
  queue: Queue
  ask(key: string, nth: number): Promise<void>
}

/** Of all tests here: making one takes a second. */
let opened: Promise<OpenDatabase> | null = null
afterAll(async () => (await opened)?.close())

/** The database, where `before` comes between the end of a statement and its answer. */
function withAnswers(db: Database, before: (text: string) => Promise<void>): Database {
  const { session } = db._
  const prepareQuery: typeof session.prepareQuery = (query, ...more) => {
    const prepared = session.prepareQuery(query, ...more)
    const execute = prepared.execute.bind(prepared)
    prepared.execute = async (...values) => {
      const answered = await execute(...values)
      await before(query.sql)
      return answered
    }
    return prepared
  }
  const late = new Proxy(session, { get: (of, name) => (name === 'prepareQuery' ? prepareQuery : Reflect.get(of, name)) })
  return new Proxy(db, { get: (of, name) => (name === '_' ? { ...db._, session: late } : Reflect.get(of, name)) })
}

async function aDesk(works: Work[], through = (db: Database) => db): Promise<Desk> {
  opened ??= engineFromTemplate().then((engine) => wrapEmbedded(engine))
  const database = await opened
  await database.db.execute(sql`DELETE FROM jobs`)
  const queue = await openQueue({
    db: through(database.db),
    log: openLog({ level: 'silent', terminal: false }),
    soleProcess: false,
    timers: systemTimers,
  })
  queue.start(works)
  return {
    database,
    queue,
    ask: (key, nth) => database.db.transaction((tx) => queue.send(tx, errand, { key, nth })),
    async [Symbol.asyncDispose]() {
      await queue.stop()
    },
  }
}

/** A place where one waits to be let through. */
function aBarrier() {
  const [come, go] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  return {
    come: come.promise,
    open: go.resolve,
    pass() {
      come.resolve()
      return go.promise
    },
  }
}

test('a busy key does not delay other keys, and a job sent meanwhile runs afterwards', async () => {
  const busy = aBarrier()
  const begun: string[] = []
  const [other, again] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  await using desk = await aDesk([
    work(errand, 2, async ({ key, nth }) => {
      begun.push(`${key} ${nth}`)
      if (key === 'ravi') other.resolve()
      if (nth === 1) await busy.pass()
      if (nth === 3) again.resolve()
    }),
  ])
  await desk.ask('asha', 1)
  await busy.come
  await desk.ask('asha', 2)
  await desk.ask('asha', 3)
  await desk.ask('ravi', 4)
  await other.promise
  expect(begun).toEqual(['asha 1', 'ravi 4'])
  busy.open()
  await again.promise
  expect(begun).toEqual(['asha 1', 'ravi 4', 'asha 3'])
})

test('of many processes one runs a job, once', async () => {
  const done: number[] = []
  const last = Promise.withResolvers<void>()
  const works = [
    work(errand, 3, async ({ nth }) => {
      done.push(nth)
      if (done.length === 40) last.resolve()
    }),
  ]
  await using desk = await aDesk(works)
  const other = await openQueue({
    db: desk.database.db,
    log: openLog({ level: 'silent', terminal: false }),
    soleProcess: false,
    timers: systemTimers,
  })
  other.start(works)
  await Promise.all(Array.from({ length: 40 }, (_, nth) => desk.ask(`key ${nth}`, nth)))
  await last.promise
  await other.stop()
  expect(done.sort((a, b) => a - b)).toEqual(Array.from({ length: 40 }, (_, nth) => nth))
})

test('a job of a silent process is taken over once its lease expires', async () => {
  const taken = Promise.withResolvers<number>()
  await using desk = await aDesk([])
  await desk.ask('asha', 1)
  await desk.database.db.execute(sql`UPDATE jobs SET ticket = gen_random_uuid(), lease_until = now() + interval '9 seconds'`)
  const works = [work(errand, 1, async ({ nth }) => taken.resolve(nth))]
  expect(await desk.queue.runWaiting(works)).toBe(0)
  await desk.database.db.execute(sql`UPDATE jobs SET lease_until = now() - interval '1 second'`)
  expect(await desk.queue.runWaiting(works)).toBe(1)
  expect(await taken.promise).toBe(1)
})

test('a job whose lease expires while it runs is not started a second time, and runs again afterwards', async () => {
  const busy = aBarrier()
  const begun: string[] = []
  const [other, again] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  await using desk = await aDesk([
    work(errand, 3, async ({ key, nth }) => {
      begun.push(`${key} ${nth}`)
      if (key === 'ravi') other.resolve()
      if (begun.length === 1) await busy.pass()
      if (nth === 3) again.resolve()
    }),
  ])
  await desk.ask('asha', 1)
  await busy.come
  await desk.database.db.transaction(async (tx) => {
    await tx.execute(sql`UPDATE jobs SET lease_until = now() - interval '1 second'`)
    await desk.queue.send(tx, errand, { key: 'ravi', nth: 2 })
  })
  await other.promise
  expect(begun).toEqual(['asha 1', 'ravi 2'])
  await desk.ask('asha', 3)
  busy.open()
  await again.promise
  expect(begun).toEqual(['asha 1', 'ravi 2', 'asha 3'])
})

test('a job that is taken again before the record of its end is known runs again at once', async () => {
  const [working, recorded] = [aBarrier(), aBarrier()]
  const begun: { key: string; nth: number; orphaned: boolean }[] = []
  const [other, again] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  const answersLate = async (text: string) => {
    if (text.includes('j.turn - mine.turn') && begun.length === 1) await recorded.pass()
  }
  await using desk = await aDesk(
    [
      work(errand, 3, async ({ key, nth }, _signal, orphaned) => {
        begun.push({ key, nth, orphaned })
        if (begun.length === 1) await working.pass()
        if (key === 'ravi') other.resolve()
        if (nth === 2) again.resolve()
      }),
    ],
    (db) => withAnswers(db, answersLate),
  )
  await desk.ask('asha', 1)
  await working.come
  await desk.ask('asha', 2)
  working.open()
  await recorded.come
  // Takes both.
  await desk.ask('ravi', 3)
  await other.promise
  recorded.open()
  await again.promise
  expect(begun).toEqual([
    { key: 'asha', nth: 1, orphaned: false },
    { key: 'ravi', nth: 3, orphaned: false },
    { key: 'asha', nth: 2, orphaned: false },
  ])
})

test('a failed job is kept and retried after a pause', async () => {
  await using desk = await aDesk([])
  let fails = true
  const works = [
    work(errand, 1, async () => {
      if (fails) throw new Error('Out of paper.')
    }),
  ]
  await desk.ask('asha', 1)
  await expect(desk.queue.runWaiting(works)).rejects.toThrow('Out of paper.')
  fails = false
  expect(await desk.queue.runWaiting(works)).toBe(0)
  await desk.database.db.execute(sql`UPDATE jobs SET not_before = not_before - interval '2 seconds'`)
  expect(await desk.queue.runWaiting(works)).toBe(1)
  expect(await desk.queue.runWaiting(works)).toBe(0)
})

test('a job of a rolled-back transaction does not run', async () => {
  await using desk = await aDesk([])
  const works = [work(errand, 1, async () => undefined)]
  await desk.database.db
    .transaction(async (tx) => {
      await desk.queue.send(tx, errand, { key: 'asha', nth: 1 })
      throw new Error('Changed my mind.')
    })
    .catch(() => undefined)
  expect(await desk.queue.runWaiting(works)).toBe(0)
})

test('a clock that was set back does not block jobs', async () => {
  await using desk = await aDesk([])
  await desk.ask('asha', 1)
  await desk.database.db.execute(
    sql`UPDATE jobs SET ticket = gen_random_uuid(), not_before = now() + interval '2 hours', lease_until = now() + interval '2 hours'`,
  )
  expect(await desk.queue.runWaiting([work(errand, 1, async () => undefined)])).toBe(1)
})

test('an unreadable job is set aside for a day, or until it is sent with another payload', async () => {
  await using desk = await aDesk([])
  const done: string[] = []
  const works = [work(errand, 2, async ({ key }) => void done.push(key))]
  await desk.database.db.execute(sql`INSERT INTO jobs (name, key, payload, place) VALUES ('errand', 'old', '{"was": "otherwise"}', -1)`)
  await desk.ask('asha', 1)
  await expect(desk.queue.runWaiting(works)).rejects.toThrow('does not parse')
  await desk.database.db.execute(sql`UPDATE jobs SET lease_until = NULL, not_before = not_before - interval '2 hours'`)
  await desk.queue.runWaiting(works)
  expect(done).toEqual(['asha'])
  await desk.ask('old', 2)
  await desk.queue.runWaiting(works)
  expect(done).toEqual(['asha', 'old'])
})
