// Also on PostgreSQL: triggers keep entries from being changed, and ids keep their order.
import { sql } from 'drizzle-orm'
import { expect, test } from 'vitest'
import { accountCalls } from '#contract/accounts.ts'
import { businessCalls, teamCalls } from '#contract/business.ts'
import { businessHeader } from '#contract/call.ts'
import { integrationCalls } from '#contract/integrations.ts'
import { invoiceCalls } from '#contract/invoices.ts'
import { aPerson } from '#test/factories.ts'
import { ask, openTestApp } from '#test/harness.ts'
import { connect, zapier, zapierItself } from '#test/programs.ts'
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

test('the log of a business names people as long as they have an account, keys, applications and Duely; that of a person in a team is their own', async () => {
  await using app = await openTestApp({ config: { zapier } })
  const owner = await aPerson(app, { displayName: 'Asha Rao' })
  const farah = await aPerson(app, { displayName: 'Farah Khan' })
  const { reply } = await ask(app, owner, teamCalls.invite, { body: { email: farah.email, role: 'admin' } })
  await ask(app, farah, teamCalls.acceptInvitation, { body: { token: reply.link.split('#token=')[1] ?? '' } })
  const within = { [businessHeader]: owner.id }
  const { reply: key } = await ask(app, owner, integrationCalls.addKey, { body: { name: 'Robot', scopes: ['read', 'write'] } }, within)
  const { token } = await connect(app, owner, zapierItself)
  const draft = { clientName: 'Kaveri Foods', clientEmail: 'billing@kaveri.example', amount: 5000, dueDate: '2026-03-31' }
  for (const asker of [{ token: key.key }, { token }, farah]) {
    const { _id } = (await ask(app, farah, invoiceCalls.create, { body: draft }, within)).reply
    await ask(app, asker, invoiceCalls.remove, { params: { id: _id } }, asker === farah ? within : {})
  }
  await writeAudit(app.db, { ownerId: owner.id, kind: 'source_removed', about: 'sheet' }, null, app.clock.now())
  const log = async () => (await ask(app, owner, businessCalls.audit, { query: {} }, within)).reply.map(({ kind, by }) => `${kind} ${by}`)
  expect((await log()).slice(0, 4)).toEqual([
    'source_removed Duely',
    'invoice_deleted Farah Khan',
    'invoice_deleted Zapier (Asha Rao)',
    'invoice_deleted Robot (Asha Rao)',
  ])
  expect((await ask(app, farah, accountCalls.audit, { query: {} }, within)).reply).toEqual([])
  await ask(app, owner, teamCalls.removeMember, { params: { personId: String(farah.personId) }, body: {} }, within)
  expect((await log()).slice(0, 3)).toEqual(['member_removed Asha Rao', 'source_removed Duely', 'invoice_deleted Farah Khan'])
  await ask(app, farah, accountCalls.deleteMe)
  expect((await log())[2]).toBe('invoice_deleted a former member')
  expect((await ask(app, owner, accountCalls.audit, { query: {} }, within)).reply[0]).toMatchObject({
    kind: 'member_removed',
    by: 'Asha Rao',
  })
})
