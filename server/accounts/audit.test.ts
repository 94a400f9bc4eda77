// Also on PostgreSQL: triggers keep entries from being changed, and ids keep their order.
import { sql } from 'drizzle-orm'
import { expect, test } from 'vitest'
import { accountCalls } from '#contract/accounts.ts'
import { aPerson } from '#test/factories.ts'
import { ask, openTestApp } from '#test/harness.ts'
import { writeAudit } from './audit.ts'
import { auditEntries } from './tables.ts'

const password = 'correct horse'
const firefox = 'Mozilla/5.0 (X11; Linux x86_64; rv:145.0) Gecko/20100101 Firefox/145.0'

test('the audit log lists entries newest first', async () => {
  await using app = await openTestApp()
  const draft = { displayName: 'Asha', email: 'asha@example.com', password }
  await ask(app, null, accountCalls.signUp, { body: draft }, { 'user-agent': firefox })
  const { reply } = await ask(app, null, accountCalls.signIn, { body: { email: draft.email, password } }, { 'user-agent': firefox })
  const asha = { token: reply.accessToken }
  app.clock.advance({ minutes: 1 })
  await ask(app, asha, accountCalls.changePassword, { body: { currentPassword: password, newPassword: 'battery staple' } })
  const log = (await ask(app, asha, accountCalls.audit, { query: {} })).reply
  expect(log.map(({ kind }) => kind)).toEqual(['password_changed', 'signed_in', 'signed_up'])
  expect(log[1]).toMatchObject({ text: 'Signed in.', device: 'Firefox on Linux', address: '127.0.0.1', at: '2026-03-02T09:00:00Z' })
  expect(JSON.stringify(log)).not.toContain('battery')
})

test('the audit log is paged by 100 entries', async () => {
  await using app = await openTestApp()
  const asha = await aPerson(app)
  for (let n = 1; n <= 120; n += 1)
    await writeAudit(app.db, { ownerId: asha.id, kind: 'invoice_deleted', about: `INV-${n}` }, null, app.clock.now())
  const first = (await ask(app, asha, accountCalls.audit, { query: {} })).reply
  expect(first).toHaveLength(100)
  const rest = (await ask(app, asha, accountCalls.audit, { query: { before: first.at(-1)?._id } })).reply
  expect(rest).toHaveLength(20)
  expect(new Set([...first, ...rest].map(({ text }) => text)).size).toBe(120)
})

test('the audit log of another account is not readable', async () => {
  await using app = await openTestApp()
  const [asha, meera] = [await aPerson(app), await aPerson(app)]
  await writeAudit(app.db, { ownerId: asha.id, kind: 'sender_removed' }, null, app.clock.now())
  expect((await ask(app, meera, accountCalls.audit, { query: {} })).reply).toEqual([])
})

test('the database refuses to change or delete entries before their account', async () => {
  await using app = await openTestApp()
  const asha = await aPerson(app)
  await writeAudit(app.db, { ownerId: asha.id, kind: 'sender_removed' }, null, app.clock.now())
  const refused = { cause: expect.objectContaining({ message: 'The audit log is only ever added to.' }) }
  await expect(app.db.execute(sql`UPDATE audit_entries SET kind = 'signed_in'`)).rejects.toMatchObject(refused)
  await expect(app.db.execute(sql`DELETE FROM audit_entries`)).rejects.toMatchObject(refused)
  expect(await app.db.select().from(auditEntries)).toHaveLength(1)
  expect((await ask(app, asha, accountCalls.deleteMe)).status).toBe(204)
  expect(await app.db.select().from(auditEntries)).toEqual([])
})
