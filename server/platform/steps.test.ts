// Also on PostgreSQL: the lease is a conditional upsert by the database's clock.
import { sql } from 'drizzle-orm'
import { expect, test } from 'vitest'
import { openTestApp } from '#test/harness.ts'
import { systemTimers } from './clock.ts'
import { newId } from './columns.ts'
import { openLeadership } from './leader.ts'
import { openLog } from './log.ts'
import { findLateSteps, recordStep, repeatSteps } from './steps.ts'
import { leases } from './tables.ts'

test('one process leads, until its lease expires or it gives the lead up', async () => {
  await using app = await openTestApp()
  const [one, other] = [newId(), newId()]
  // A new one each time: it believes an answer for some seconds.
  const ask = (processId: string) => openLeadership({ db: app.db, processId, soleProcess: false, timers: systemTimers })
  expect(await Promise.all([ask(one).leads(), ask(one).leads()])).toEqual([true, true])
  expect(await ask(other).leads()).toBe(false)
  await app.db.update(leases).set({ until: sql`now() - interval '1 second'` })
  expect(await ask(other).leads()).toBe(true)
  expect(await ask(one).leads()).toBe(false)
  await ask(other).release()
  expect(await ask(one).leads()).toBe(true)
  await app.db.update(leases).set({ until: sql`now() + interval '2 hours'` })
  expect(await ask(other).leads()).toBe(true)
})

test('a failing step delays no other, and is reported once it is late', async () => {
  await using app = await openTestApp()
  const done = Promise.withResolvers<void>()
  const leadership = openLeadership({ db: app.db, processId: newId(), soleProcess: true, timers: systemTimers })
  const log = openLog({ level: 'silent', terminal: false })
  const steps = repeatSteps({ pulse: app.db, leadership, log, timers: systemTimers }, [
    { name: 'broken step', everySeconds: 3600, run: () => Promise.reject(new Error('Out of paper.')) },
    { name: 'other step', everySeconds: 3600, run: async () => done.resolve() },
  ])
  await done.promise
  for (const step of steps) await step.stop()
  expect(await findLateSteps(app.db)).toBeNull()
  const names = await app.db.execute(sql`SELECT name FROM steps`)
  expect((names as unknown as { rows: object[] }).rows).toEqual([{ name: 'other step' }])
  await recordStep(app.db, 'broken step', 300)
  await app.db.execute(
    sql`UPDATE steps SET succeeded_at = now() - interval '7 minutes', late_at = now() - interval '2 minutes' WHERE name = 'broken step'`,
  )
  expect(await findLateSteps(app.db)).toBe('Background work is late: broken step has not succeeded for 7 minutes. The log has the errors.')
})

test('a step that lasts counts as done as often as it reports progress', async () => {
  await using app = await openTestApp()
  const [begun, ended] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  const leadership = openLeadership({ db: app.db, processId: newId(), soleProcess: true, timers: systemTimers })
  const [step] = repeatSteps({ pulse: app.db, leadership, log: openLog({ level: 'silent', terminal: false }), timers: systemTimers }, [
    {
      name: 'long step',
      everySeconds: 3600,
      async run(progressed) {
        await progressed()
        begun.resolve()
        await ended.promise
      },
    },
  ])
  await begun.promise
  const names = await app.db.execute(sql`SELECT name FROM steps`)
  expect((names as unknown as { rows: object[] }).rows).toEqual([{ name: 'long step' }])
  ended.resolve()
  await step?.stop()
})
