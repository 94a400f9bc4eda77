// Only on PostgreSQL: requests wait for each other's locks.
import { sql } from 'drizzle-orm'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { teamCalls } from '#contract/business.ts'
import { businessHeader } from '#contract/call.ts'
import { sourceCalls } from '#contract/sources.ts'
import { rows } from '#server/platform/database.ts'
import { aPerson, type Person } from '#test/factories.ts'
import { ask, openTestApp, type TestApp } from '#test/harness.ts'
import { lockRow } from './lock.ts'

const password = 'correct horse'

/** A business with an owner and two admins. */
async function aTeam() {
  const app = await openTestApp()
  const [owner, admin, other] = [await aPerson(app, { password }), await aPerson(app), await aPerson(app)]
  const business = { [businessHeader]: owner.id }
  for (const { email, token } of [admin, other]) {
    const { link } = (await ask(app, owner, teamCalls.invite, { body: { email, role: 'admin', currentPassword: password } }, business))
      .reply
    await ask(app, { token }, teamCalls.acceptInvitation, { body: { token: link.split('#token=')[1] ?? '' } })
  }
  const params = { personId: String(admin.personId) }
  return {
    app,
    owner,
    admin,
    other,
    business,
    change: (by: Person, role: 'admin' | 'viewer') =>
      ask(app, by, teamCalls.changeMember, { params, body: { role, currentPassword: password } }, business),
    remove: () => ask(app, owner, teamCalls.removeMember, { params, body: {} }, business),
    offer: (to: Person) =>
      ask(app, owner, teamCalls.offerOwnership, { body: { personId: String(to.personId), currentPassword: password } }, business),
    accept: (by: Person) => ask(app, by, teamCalls.acceptOwnership, {}, business),
    [Symbol.asyncDispose]: () => app[Symbol.asyncDispose](),
  }
}

/** Asks the second while the first waits for the lock of an account: statuses of both. */
async function oneAfterTheOther(app: TestApp, id: string, asked: (() => Promise<{ status: number }>)[]): Promise<number[]> {
  const waiting = sql`SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`
  const begun: Promise<{ status: number }>[] = []
  await app.db.transaction(async (tx) => {
    await lockRow(tx, id)
    for (const one of asked) {
      begun.push(one())
      await expect.poll(() => rows(app.db, z.object({ pid: z.number() }), waiting)).toHaveLength(begun.length)
    }
  })
  return (await Promise.all(begun)).map(({ status }) => status)
}

test('an admin who was demoted while their requests waited lets in no one, and is not admin again', async () => {
  await using of = await aTeam()
  const { app, owner, admin, business } = of
  const demote = () => of.change(owner, 'viewer')
  const invite = () => ask(app, admin, teamCalls.invite, { body: { email: 'friend@example.com', role: 'admin' } }, business)
  expect(await oneAfterTheOther(app, owner.id, [demote, invite])).toEqual([200, 403])
  await of.change(owner, 'admin')
  expect(await oneAfterTheOther(app, owner.id, [demote, () => of.change(admin, 'admin')])).toEqual([200, 403])
})

test('who has just handed over a business offers it to no one else', async () => {
  await using of = await aTeam()
  const { app, owner, admin, other } = of
  await of.offer(admin)
  expect(await oneAfterTheOther(app, owner.id, [() => of.accept(admin), () => of.offer(other)])).toEqual([200, 403])
  expect((await of.accept(other)).status).toBe(409)
})

test('an admin who was removed while they added a watched address adds none', async () => {
  await using of = await aTeam()
  const { app, owner, admin, business } = of
  const add = () => ask(app, admin, sourceCalls.create, { body: { url: 'https://books.example/open.csv', name: 'Books' } }, business)
  expect(await oneAfterTheOther(app, owner.id, [of.remove, add])).toEqual([204, 404])
  expect((await ask(app, owner, sourceCalls.list, {}, business)).reply).toEqual([])
})
