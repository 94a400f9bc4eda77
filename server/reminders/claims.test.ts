import { sql } from 'drizzle-orm'
import { expect, test } from 'vitest'
import { lockAccount } from '#server/accounts/accounts.ts'
import { findSender } from '#server/mail/mail.ts'
import { newId } from '#server/platform/columns.ts'
import type { Database } from '#server/platform/database.ts'
import { anOffice, refusedUpdates } from '#test/factories.ts'
import { openClaims } from './claims.ts'
import { readPending } from './pending.ts'
import { beat } from './processes.ts'
import { makeRun } from './runs.ts'
import { deliveries } from './tables.ts'

/** The same database, whose first statement takes until `until` resolves. */
function slowAtFirst(db: Database, until: Promise<void>): Database {
  let first = true
  return new Proxy(db, {
    get(target, name) {
      const value: unknown = Reflect.get(target, name, target)
      if (typeof value !== 'function') return value
      if (name !== 'execute' || !first) return value.bind(target)
      first = false
      return async (statement: Parameters<Database['execute']>[0]) => {
        await until
        return target.execute(statement)
      }
    },
  })
}

test('a delivery claimed while lost claims are reclaimed keeps its claim, or it would be sent twice', async () => {
  await using office = await anOffice({ now: '2026-03-02T06:30:00Z', invoices: 1 })
  const { app, asha } = office
  const now = app.clock.now()
  const account = await app.db.transaction(async (tx) => {
    const locked = await lockAccount(tx, asha.id)
    if (locked) await makeRun(tx, app.deps.queue, locked, { kind: 'send_now', now })
    return locked
  })
  const sender = await findSender(app.db, asha.id)
  if (!account || !sender) throw new Error('Asha has an account and a mailbox.')
  const pending = await readPending(app.db, [{ account, sender: { ...sender, several: false }, scheduling: true }], now)
  const [mail] = pending.get(account.id) ?? []
  if (!mail) throw new Error('One mail waits.')
  const processId = newId()
  await beat(app.db, processId)
  const claimed = Promise.withResolvers<void>()
  const claims = openClaims({
    db: slowAtFirst(app.db, claimed.promise),
    clock: app.clock,
    processId,
    statements: 1,
    claimMs: 0,
    recordMs: 0,
  })

  const freeing = claims.reclaimLost()
  const composed = { raw: Buffer.from('Subject: Hello'), subject: 'Hello', messageId: '<1@example.com>' }
  expect(await claims.claim({ mail, composed, sender, today: '2026-03-02' })).not.toBeNull()
  claimed.resolve()

  expect(await freeing).toBe(0)
  expect(await app.db.select().from(deliveries)).toMatchObject([{ state: 'sending', claimedBy: processId, attempt: 1 }])
})

test('a record that the database refuses keeps none of another email from being made', async () => {
  await using office = await anOffice({ now: '2026-03-02T06:30:00Z', invoices: 2 })
  const { app, asha, invoices } = office
  const now = app.clock.now()
  await app.db.transaction(async (tx) => {
    const account = await lockAccount(tx, asha.id)
    if (account) await makeRun(tx, app.deps.queue, account, { kind: 'send_now', now })
  })
  const claimed = (await app.db.update(deliveries).set({ state: 'sending', claim: sql`gen_random_uuid()` }).returning()).map(
    ({ id, claim }) => ({ id, claim: claim ?? '', attempt: 1, raw: Buffer.of() }),
  )
  const about = { db: app.db, clock: app.clock, processId: newId(), statements: 1, claimMs: 0, recordMs: 0 }
  const { accepted } = openClaims(about)
  await using _refused = await refusedUpdates(app, 'invoices', `NEW.id = '${invoices[0]?._id}'`)
  // At the same moment, so by one statement.
  const recorded = await Promise.allSettled(claimed.map((mail) => accepted({ mail, reply: '250 OK', tookMs: 1, copies: null })))
  expect(recorded.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected'])
  const states = await app.db.select({ state: deliveries.state }).from(deliveries)
  expect(states.map(({ state }) => state).toSorted()).toEqual(['sending', 'sent'])
})
