import { eq } from 'drizzle-orm'
import { strFromU8, unzipSync } from 'fflate'
import { expect, test } from 'vitest'
import { accountCalls } from '#contract/accounts.ts'
import { businessCalls, teamCalls } from '#contract/business.ts'
import { businessHeader } from '#contract/call.ts'
import { integrationCalls, ownRedirectPath } from '#contract/integrations.ts'
import { zapierCalls } from '#contract/zapier.ts'
import { newId } from '#server/platform/columns.ts'
import { hashToken } from '#server/platform/secrets.ts'
import { aPerson, type Person } from '#test/factories.ts'
import { openFakeReceiver } from '#test/fakes/receiver.ts'
import { ask, openTestApp, type TestApp } from '#test/harness.ts'
import { aKey, anApplication, connect, permit, refresh, zapier, zapierItself } from '#test/programs.ts'
import { pruneGrants } from './integrations.ts'
import { apiKeys, oauthCodes, oauthGrants, oauthTokens, webhooks } from './tables.ts'

const connectionsOf = async (app: TestApp, someone: Person) => (await ask(app, someone, integrationCalls.connections)).reply
const auditOf = async (app: TestApp, someone: Person) => {
  const { reply } = await ask(app, someone, accountCalls.audit, { query: {} })
  return reply.map(({ kind, text }) => [kind, text])
}

test('a person sees the apps with access, their scopes and dates, and revokes one', async () => {
  await using app = await openTestApp({ now: '2026-03-02T09:00:00Z', config: { zapier } })
  const [asha, meera] = [await aPerson(app), await aPerson(app)]
  const robot = await anApplication(app)
  await connect(app, asha, robot, ['read'])
  app.clock.advance({ hours: 1 })
  const { token, refreshToken } = await connect(app, asha, zapierItself)
  const hers = await connect(app, meera, zapierItself)
  const listed = await connectionsOf(app, asha)
  const expected = { _id: expect.any(String), lastUsedAt: null, own: false, paused: false }
  expect(listed).toEqual([
    { ...expected, name: 'Zapier', scopes: ['read', 'write'], since: '2026-03-02T10:00:00Z' },
    { ...expected, name: 'Ledger Robot', scopes: ['read'], since: '2026-03-02T09:00:00Z' },
  ])
  const id = listed[0]?._id ?? ''
  expect((await ask(app, meera, integrationCalls.disconnect, { params: { id } })).status).toBe(404)
  expect((await ask(app, { token }, integrationCalls.me)).status).toBe(200)
  expect((await ask(app, asha, integrationCalls.disconnect, { params: { id } })).status).toBe(204)
  expect((await ask(app, asha, integrationCalls.disconnect, { params: { id } })).status).toBe(404)
  expect((await ask(app, asha, integrationCalls.disconnect, { params: { id: 'x' } })).status).toBe(404)
  expect((await ask(app, { token }, integrationCalls.me)).status).toBe(401)
  expect((await refresh(app, zapierItself, refreshToken)).body.error).toBe('invalid_grant')
  expect((await connectionsOf(app, asha)).map(({ name }) => name)).toEqual(['Ledger Robot'])
  expect((await ask(app, hers, integrationCalls.me)).status).toBe(200)
  expect(await auditOf(app, asha)).toEqual([
    ['application_disconnected', 'Zapier lost access to the account.'],
    ['application_allowed', 'Zapier was given access to the account.'],
    ['application_allowed', 'Ledger Robot was given access to the account.'],
  ])
})

test('an app that asks again is one connection with the union of its scopes', async () => {
  await using app = await openTestApp()
  const asha = await aPerson(app)
  const robot = await anApplication(app)
  const { token } = await connect(app, asha, robot, ['write'])
  await connect(app, asha, robot, ['read'])
  expect(await connectionsOf(app, asha)).toMatchObject([{ scopes: ['read', 'write'] }])
  // Earlier tokens keep their scopes.
  expect((await ask(app, { token }, integrationCalls.me)).status).toBe(403)
})

test('disconnecting Zapier removes its webhooks and the subscription', async () => {
  await using app = await openTestApp({ config: { zapier } })
  const asha = await aPerson(app)
  await connect(app, asha, zapierItself)
  const [connected] = await connectionsOf(app, asha)
  const grantId = connected?._id ?? ''
  const now = app.clock.now()
  const zap = { ownerId: asha.id, kind: 'zapier' as const, grantId, url: 'https://hooks.zapier.com/1', sealedSecret: 'x', createdAt: now }
  await app.db.insert(webhooks).values({ ...zap, events: ['invoice.paid'] })
  await ask(app, asha, integrationCalls.disconnect, { params: { id: grantId } })
  expect(await app.db.select().from(webhooks)).toEqual([])
  expect((await ask(app, asha, zapierCalls.subscription)).reply).toEqual({ sendReminders: false, available: true, connected: false })
})

test('the subscription to Zapier is shown on its connection', async () => {
  await using app = await openTestApp({ config: { zapier } })
  const asha = await aPerson(app)
  expect((await ask(app, asha, zapierCalls.subscribe)).reply).toEqual({ sendReminders: true, available: true, connected: false })
  expect((await ask(app, asha, zapierCalls.unsubscribe)).reply).toEqual({ sendReminders: false, available: true, connected: false })
  const { token } = await connect(app, asha, zapierItself)
  expect((await ask(app, asha, zapierCalls.subscribe)).reply).toEqual({ sendReminders: true, available: true, connected: true })
  expect(await connectionsOf(app, asha)).toMatchObject([{ paused: false }])
  expect((await ask(app, { token }, zapierCalls.unsubscribe)).reply.sendReminders).toBe(false)
  expect(await connectionsOf(app, asha)).toMatchObject([{ paused: true }])
  expect((await ask(app, { token }, integrationCalls.me)).status).toBe(200)
})

test('a server without Zapier reports it as unavailable', async () => {
  await using app = await openTestApp()
  expect((await ask(app, await aPerson(app), zapierCalls.subscription)).reply).toEqual({
    sendReminders: false,
    available: false,
    connected: false,
  })
})

test('a key is shown once, recognized by its ending, and revoked', async () => {
  await using app = await openTestApp({ now: '2026-03-02T09:00:00Z' })
  const [asha, meera] = [await aPerson(app), await aPerson(app)]
  const body = { name: 'Nightly job', scopes: ['write' as const, 'write' as const], expiresInDays: 90 }
  const { status, reply } = await ask(app, asha, integrationCalls.addKey, { body })
  expect(status).toBe(201)
  const { key, ...kept } = reply
  expect(key).toMatch(/^duely_key_[\w-]{43}$/)
  expect(kept).toEqual({
    _id: expect.any(String),
    name: 'Nightly job',
    ending: key.slice(-4),
    scopes: ['write'],
    createdAt: '2026-03-02T09:00:00Z',
    expiresAt: '2026-05-31T09:00:00Z',
    lastUsedAt: null,
    handedOver: false,
  })
  expect((await ask(app, asha, integrationCalls.keys)).reply).toEqual([kept])
  expect((await ask(app, meera, integrationCalls.keys)).reply).toEqual([])
  expect((await ask(app, meera, integrationCalls.removeKey, { params: { id: kept._id } })).status).toBe(404)
  expect((await ask(app, asha, integrationCalls.removeKey, { params: { id: kept._id } })).status).toBe(204)
  expect((await ask(app, asha, integrationCalls.removeKey, { params: { id: kept._id } })).status).toBe(404)
  expect((await ask(app, asha, integrationCalls.keys)).reply).toEqual([])
  const about = `Nightly job (…${kept.ending})`
  expect(await auditOf(app, asha)).toEqual([
    ['key_revoked', `API key ${about} revoked.`],
    ['key_made', `API key ${about} created.`],
  ])
})

test.each([
  ['no name', { name: ' ', scopes: ['read'] }],
  ['no scope', { name: 'x', scopes: [] }],
  ['a scope that is none', { name: 'x', scopes: ['admin'] }],
  ['no time at all', { name: 'x', scopes: ['read'], expiresInDays: 0 }],
  ['an owner', { name: 'x', scopes: ['read'], ownerId: newId() }],
  ['a key of its own', { name: 'x', scopes: ['read'], key: 'duely_key_mine' }],
])('a key with %s is not made', async (_what, body) => {
  await using app = await openTestApp()
  const asha = await aPerson(app)
  const answered = await ask(app, asha, integrationCalls.addKey, { body: body as { name: string; scopes: ['read'] } })
  expect(answered).toMatchObject({ status: 400, problem: { code: 'invalid' } })
  expect(await app.db.select().from(apiKeys)).toEqual([])
})

test('only a person creates keys, and at most fifty', async () => {
  await using app = await openTestApp()
  const asha = await aPerson(app)
  const first = await aKey(app, asha)
  const body = { name: 'Another', scopes: ['read' as const] }
  expect((await ask(app, first, integrationCalls.addKey, { body })).status).toBe(403)
  for (let n = 1; n < 50; n += 1) await aKey(app, asha)
  expect(await ask(app, asha, integrationCalls.addKey, { body })).toMatchObject({ status: 409, problem: { code: 'conflict' } })
})

test('deleting an account removes all access to it', async () => {
  await using app = await openTestApp()
  const asha = await aPerson(app)
  const [key, zap] = [await aKey(app, asha), await connect(app, asha, await anApplication(app))]
  await ask(app, asha, accountCalls.deleteMe)
  for (const { token } of [key, zap]) expect((await ask(app, { token }, integrationCalls.me)).status).toBe(401)
  for (const table of [oauthGrants, oauthCodes, oauthTokens, apiKeys]) expect(await app.db.select().from(table)).toEqual([])
})

test('an export names connections and keys, without secrets', async () => {
  await using app = await openTestApp()
  const asha = await aPerson(app)
  const [key, zap] = [await aKey(app, asha), await connect(app, asha, await anApplication(app))]
  const headers = { authorization: `Bearer ${asha.token}` }
  const { rawPayload } = await app.app.inject({ method: 'GET', url: '/user/export', headers })
  const files = Object.entries(unzipSync(rawPayload)).map(([name, bytes]) => [name, strFromU8(bytes)] as const)
  const { 'oauth_grants.json': grants, 'api_keys.json': keys } = Object.fromEntries(files)
  expect(JSON.parse(grants ?? '')).toMatchObject([{ client_name: 'Ledger Robot', scopes: ['read', 'write'] }])
  expect(JSON.parse(keys ?? '')).toMatchObject([{ name: 'Nightly job', ending: key.token.slice(-4) }])
  const all = files.map(([, text]) => text).join()
  for (const secret of [key.token, zap.token, zap.refreshToken].flatMap((token) => [token, hashToken(token)]))
    expect(all).not.toContain(secret)
})

test('expired codes and tokens, and grants that never led to one, are pruned', async () => {
  await using app = await openTestApp()
  const [asha, meera] = [await aPerson(app), await aPerson(app)]
  const [robot, phone] = [await anApplication(app), await anApplication(app, { name: 'Phone', kind: 'public' })]
  const kept = await connect(app, asha, robot)
  const rotated = await connect(app, asha, phone)
  const current = (await refresh(app, phone, rotated.refreshToken)).body
  await permit(app, meera, robot)
  const body = { request: '', redirect_uri: ownRedirectPath, state: '' }
  await ask(app, meera, integrationCalls.allow, { query: { json: 'true' }, body })
  const tidy = () => pruneGrants(app.db, app.clock.now())
  await tidy()
  expect(await app.db.select().from(oauthGrants)).toHaveLength(4)
  app.clock.advance({ hours: 2 })
  await tidy()
  expect((await connectionsOf(app, meera)).map(({ name }) => name)).toEqual(['Duely'])
  const left = (await app.db.select().from(oauthTokens)).map(({ kind }) => kind)
  expect(left).toEqual(['refresh', 'refresh', 'refresh'])
  // Reuse of the rotated one is still detected.
  expect(
    await app.db
      .select()
      .from(oauthTokens)
      .where(eq(oauthTokens.expiresAt, Temporal.Instant.from('2026-03-02T09:00:00Z'))),
  ).toHaveLength(1)
  app.clock.advance({ hours: 24 * 31 })
  await tidy()
  expect(await app.db.select().from(oauthTokens)).toHaveLength(2)
  expect(await app.db.select().from(oauthCodes)).toEqual([])
  expect((await refresh(app, robot, kept.refreshToken)).status).toBe(200)
  expect((await refresh(app, phone, current.refresh_token)).status).toBe(200)
})

test('disconnecting one person’s Zapier leaves the Zaps of another person on', async () => {
  await using receiver = await openFakeReceiver()
  await using app = await openTestApp({ config: { zapier, allowPrivateWebhookHosts: true } })
  const [owner, admin] = [await aPerson(app), await aPerson(app)]
  const business = { [businessHeader]: owner.id }
  const { link } = (await ask(app, owner, teamCalls.invite, { body: { email: admin.email, role: 'admin' } }, business)).reply
  await ask(app, admin, teamCalls.acceptInvitation, { body: { token: link.split('#token=')[1] ?? '' } })
  // A grant is for the business that the session was last in.
  await ask(app, admin, businessCalls.read, {}, business)
  const hers = await connect(app, admin, zapierItself)
  const zap = { hookUrl: `${receiver.url}/hers`, event: 'invoice.paid' as const }
  await ask(app, hers, integrationCalls.addZap, { body: zap })
  await app.runJobs()
  const theirs = (await ask(app, owner, integrationCalls.connections, {}, business)).reply[0]?._id
  await connect(app, owner, zapierItself)
  const own = (await ask(app, owner, integrationCalls.connections, {}, business)).reply.find(({ _id }) => _id !== theirs)
  receiver.calls.length = 0
  await ask(app, owner, integrationCalls.disconnect, { params: { id: own?._id ?? '' } }, business)
  expect([await app.db.$count(webhooks), receiver.calls]).toEqual([1, []])
  const subscribed = async () => (await ask(app, owner, zapierCalls.subscription, {}, business)).reply
  expect(await subscribed()).toMatchObject({ sendReminders: true, connected: true })
  await ask(app, owner, integrationCalls.disconnect, { params: { id: theirs ?? '' } }, business)
  expect(receiver.calls.map(({ method, path }) => `${method} ${path}`)).toEqual(['DELETE /hers'])
  expect(await subscribed()).toMatchObject({ sendReminders: false, connected: false })
})
