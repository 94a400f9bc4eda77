// Also on PostgreSQL: events are handed out in order, under advisory locks.
import { eq, sql } from 'drizzle-orm'
import { describe, expect, test } from 'vitest'
import { accountCalls } from '#contract/accounts.ts'
import { integrationCalls, type webhookEvent } from '#contract/integrations.ts'
import { noticeCalls } from '#contract/notices.ts'
import { newId } from '#server/platform/columns.ts'
import { anInvoice, aPerson, signedInAgain } from '#test/factories.ts'
import { type HeardCall, openFakeReceiver } from '#test/fakes/receiver.ts'
import { type Asker, ask, openTestApp, type TestApp } from '#test/harness.ts'
import { aKey, anApplication, connect, zapier, zapierItself } from '#test/programs.ts'
import { openShop, subscribe } from '#test/shop.ts'
import { aWebhook, copyZap, isSigned, toldTo } from '#test/webhooks.ts'
import { pruneWebhookEvents } from './outbox.ts'
import { webhookDeliveries, webhookEvents, webhooks } from './tables.ts'
import { takeTurn } from './webhook-hosts.ts'

const lax = { allowPrivateWebhookHosts: true }
const zap = { hookUrl: 'https://hooks.zapier.com/hooks/standard/1042/abc/', event: 'invoice.paid' as const }
const mine = { url: 'https://example.com/duely', events: ['invoice.paid' as const] }

const list = async (app: TestApp, someone: Asker) => (await ask(app, someone, integrationCalls.webhooks)).reply
const add = (app: TestApp, someone: Asker, body: { url: string; events: (typeof webhookEvent.options)[number][] } = mine) =>
  ask(app, someone, integrationCalls.addWebhook, { body })

test('a webhook is listed without its secret, which is shown once', async () => {
  await using app = await openTestApp({ now: '2026-03-02T04:30:00Z' })
  const asha = await aPerson(app)
  const { status, reply } = await add(app, asha)
  const { secret, ...webhook } = reply
  expect(status).toBe(201)
  expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/)
  expect(webhook).toEqual({
    _id: expect.any(String),
    kind: 'webhook',
    ...mine,
    createdAt: '2026-03-02T04:30:00Z',
    pausedBecause: 'unverified',
    failures: 0,
    lastDeliveredAt: null,
    skipped: 0,
    lastSkippedAt: null,
  })
  expect(await list(app, asha)).toEqual([webhook])
  const [row] = await app.db.select().from(webhooks)
  expect(row?.sealedSecret).not.toContain(secret.slice(6, 20))
})

test('adding, removing and changing a webhook, and replacing its secret, are in the audit log, by host only', async () => {
  await using app = await openTestApp()
  const asha = await aPerson(app)
  const { reply } = await add(app, asha, { ...mine, url: 'https://example.com/a-token-of-its-own' })
  const params = { id: reply._id }
  for (const events of [['invoice.created'], ['invoice.created']] as const)
    await ask(app, asha, integrationCalls.changeWebhook, { params, body: { events: [...events] } })
  await ask(app, asha, integrationCalls.changeWebhook, { params, body: { url: 'https://other.example/token' } })
  await ask(app, asha, integrationCalls.replaceSecret, { params })
  await ask(app, asha, integrationCalls.removeWebhook, { params })
  const { reply: log } = await ask(app, asha, accountCalls.audit, { query: {} })
  expect(log.map(({ text }) => text)).toEqual([
    'Webhook to other.example removed.',
    'Secret of the webhook to other.example replaced.',
    'Webhook to other.example changed.',
    'Webhook to example.com changed.',
    'Webhook to example.com added.',
  ])
})

test('a URL that must not be called is refused with the field and a reason', async () => {
  await using app = await openTestApp()
  const asha = await aPerson(app)
  const { token } = await connect(app, asha, await anApplication(app))
  const known = (await add(app, asha)).reply
  for (const url of [
    'http://example.com/',
    'https://127.0.0.1/',
    'https://2130706433/',
    'https://example.com:8443/',
    'https://a:b@example.com/',
  ]) {
    const refusals = [
      [await add(app, asha, { ...mine, url }), 'url'],
      [await ask(app, asha, integrationCalls.changeWebhook, { params: { id: known._id }, body: { url } }), 'url'],
      [await ask(app, { token }, integrationCalls.addZap, { body: { ...zap, hookUrl: url } }), 'hookUrl'],
    ] as const
    for (const [{ status, problem }, path] of refusals)
      expect({ status, problem }, url).toEqual({
        status: 400,
        problem: { code: 'invalid', message: expect.any(String), errors: [{ path, message: problem?.message }] },
      })
  }
  expect((await list(app, asha)).map(({ url }) => url)).toEqual([mine.url])
})

test.each([
  ['no events', { url: mine.url, events: [] }],
  ['an event twice', { url: mine.url, events: ['invoice.paid', 'invoice.paid'] }],
  ['an event that there is not', { url: mine.url, events: ['invoice.lost'] }],
  ['no address', { url: 'duely', events: ['invoice.paid'] }],
  ['another protocol', { url: 'gopher://example.com/', events: ['invoice.paid'] }],
  ['somebody else as its owner', { ...mine, ownerId: '019ca0f1-2b10-7c52-9d0e-41b7a6f0c3d8' }],
  ['a secret of its own', { ...mine, secret: 'whsec_AAAA' }],
  ['a kind', { ...mine, kind: 'zapier' }],
  ['failures', { ...mine, failures: -1000 }],
])('a webhook with %s is refused', async (_what, payload) => {
  await using app = await openTestApp()
  const { token } = await aPerson(app)
  const asked = await app.app.inject({ method: 'POST', url: '/webhooks', headers: { authorization: `Bearer ${token}` }, payload })
  expect(asked.statusCode).toBe(400)
  expect(await app.db.select().from(webhooks)).toEqual([])
})

test('an account has at most twenty webhooks', async () => {
  await using app = await openTestApp()
  const asha = await aPerson(app)
  const another = (nth: number) => add(app, asha, { ...mine, url: `${mine.url}/${nth}` })
  for (let nth = 0; nth < 20; nth += 1) expect((await another(nth)).status).toBe(201)
  expect(await another(20)).toMatchObject({ status: 409, problem: { code: 'conflict' } })
  const [first] = await list(app, asha)
  await ask(app, asha, integrationCalls.removeWebhook, { params: { id: first?._id ?? '' } })
  expect((await another(20)).status).toBe(201)
  expect((await add(app, await aPerson(app))).status).toBe(201)
})

test('where plans are sold, adding a webhook needs Enterprise; a Zap needs no plan, and existing webhooks continue', async () => {
  await using shop = await openShop({ config: { zapier } })
  const { app } = shop
  const asha = await aPerson(app)
  expect(await add(app, asha)).toMatchObject({
    status: 402,
    problem: { code: 'plan_limit', message: 'Webhooks need Enterprise: choose it under Pricing.' },
  })
  const { token } = await connect(app, asha, zapierItself)
  expect((await ask(app, { token }, integrationCalls.addZap, { body: zap })).status).toBe(201)

  await subscribe(shop, asha, 'enterprise')
  await shop.settle()
  const added = await add(app, asha)
  expect(added.status).toBe(201)
})

test('webhooks of another account are not found: neither read nor changed, tested, resent or removed', async () => {
  await using receiver = await openFakeReceiver()
  await using app = await openTestApp({ config: lax })
  const [asha, meera] = [await aPerson(app), await aPerson(app)]
  const { _id } = await aWebhook(app, asha, receiver)
  await anInvoice(app, { owner: asha })
  await app.runJobs()
  const [delivery] = (await ask(app, asha, integrationCalls.webhookDeliveries, { params: { id: _id } })).reply
  const own = await aWebhook(app, meera, receiver, { path: '/meera' })
  const deliveryId = delivery?._id ?? ''
  const calls = receiver.calls.length
  const asked = [
    await ask(app, meera, integrationCalls.changeWebhook, { params: { id: _id }, body: { paused: true } }),
    await ask(app, meera, integrationCalls.removeWebhook, { params: { id: _id } }),
    await ask(app, await connect(app, meera, await anApplication(app)), integrationCalls.removeZap, { params: { id: _id } }),
    await ask(app, meera, integrationCalls.replaceSecret, { params: { id: _id } }),
    await ask(app, meera, integrationCalls.testWebhook, { params: { id: _id } }),
    await ask(app, meera, integrationCalls.webhookDeliveries, { params: { id: _id } }),
    await ask(app, meera, integrationCalls.resend, { params: { id: _id, deliveryId } }),
    await ask(app, meera, integrationCalls.resend, { params: { id: own._id, deliveryId } }),
    await ask(app, asha, integrationCalls.resend, { params: { id: _id, deliveryId: own._id } }),
    await ask(app, asha, integrationCalls.resend, { params: { id: _id, deliveryId: 'x' } }),
    await ask(app, asha, integrationCalls.removeWebhook, { params: { id: 'x' } }),
  ]
  expect(asked.map(({ status, problem }) => [status, problem?.code])).toEqual(asked.map(() => [404, 'not_found']))
  expect((await list(app, meera)).map(({ _id }) => _id)).toEqual([own._id])
  expect(await list(app, asha)).toMatchObject([{ _id, pausedBecause: null }])
  expect(receiver.calls.length).toBe(calls)
})

test('a Zap subscribes its URL once, and unsubscribes it', async () => {
  await using app = await openTestApp({ config: { zapier } })
  const asha = await aPerson(app)
  const zapierOf = await connect(app, asha, zapierItself)
  const on = () => ask(app, zapierOf, integrationCalls.addZap, { body: zap })
  const [first, again] = [await on(), await on()]
  expect([first.status, again.status]).toEqual([201, 201])
  expect(again.reply).toEqual(first.reply)
  const other = await ask(app, zapierOf, integrationCalls.addZap, { body: { ...zap, event: 'invoice.created' } })
  expect(other.reply.id).not.toBe(first.reply.id)
  expect(await list(app, asha)).toMatchObject([
    { kind: 'zapier', url: zap.hookUrl, events: ['invoice.created'] },
    { _id: first.reply.id, kind: 'zapier', url: zap.hookUrl, events: ['invoice.paid'] },
  ])
  const off = () => ask(app, zapierOf, integrationCalls.removeZap, { params: first.reply })
  expect([(await off()).status, (await off()).status]).toEqual([204, 404])
  expect((await list(app, asha)).map(({ _id }) => _id)).toEqual([other.reply.id])
})

test('the webhooks of an app end with its grant, and no other app removes them', async () => {
  await using app = await openTestApp({ config: { zapier } })
  const asha = await aPerson(app)
  const zapierOf = await connect(app, asha, zapierItself)
  const robot = await connect(app, asha, await anApplication(app))
  const { reply } = await ask(app, zapierOf, integrationCalls.addZap, { body: zap })
  const its = await ask(app, robot, integrationCalls.addZap, { body: { ...zap, hookUrl: 'https://robot.example/hook' } })
  expect((await ask(app, robot, integrationCalls.removeZap, { params: reply })).status).toBe(404)
  const { reply: connections } = await ask(app, asha, integrationCalls.connections)
  const ofZapier = connections.find(({ name }) => name === 'Zapier')
  await ask(app, asha, integrationCalls.disconnect, { params: { id: ofZapier?._id ?? '' } })
  expect((await list(app, asha)).map(({ _id }) => _id)).toEqual([its.reply.id])
  // An earlier version let a person subscribe in a browser: subscribed again by an app it belongs to the app.
  await app.db.update(webhooks).set({ grantId: null })
  const again = await ask(app, robot, integrationCalls.addZap, { body: { ...zap, hookUrl: 'https://robot.example/hook' } })
  expect(again.reply).toEqual(its.reply)
  const [last] = (await ask(app, asha, integrationCalls.connections)).reply
  await ask(app, asha, integrationCalls.disconnect, { params: { id: last?._id ?? '' } })
  expect(await list(app, asha)).toEqual([])
})

test('a Zap that subscribes again is resumed after failures; a pause by its owner stays', async () => {
  await using receiver = await openFakeReceiver()
  await using app = await openTestApp({ config: { ...lax, zapier } })
  const asha = await aPerson(app)
  const zapierOf = await connect(app, asha, zapierItself)
  const body = { hookUrl: `${receiver.url}/zap`, event: 'invoice.created' as const }
  const on = async () => (await ask(app, zapierOf, integrationCalls.addZap, { body })).reply
  const { id } = await on()
  await app.runJobs()
  await app.db.update(webhooks).set({ failures: 100, pausedBecause: 'failing' })
  await anInvoice(app, { owner: asha })
  await app.runJobs()
  expect(receiver.calls).toEqual([])
  expect(await on()).toEqual({ id })
  expect(await list(app, asha)).toMatchObject([{ failures: 0, pausedBecause: null }])
  await app.runJobs()
  expect(toldTo(receiver, '/zap')).toHaveLength(1)

  await ask(app, asha, integrationCalls.changeWebhook, { params: { id }, body: { paused: true } })
  await on()
  expect(await list(app, asha)).toMatchObject([{ pausedBecause: 'by_hand' }])
})

test('an account has at most a hundred Zaps', async () => {
  await using app = await openTestApp({ config: { zapier } })
  const asha = await aPerson(app)
  const zapierOf = await connect(app, asha, zapierItself)
  const on = (nth: number) => ask(app, zapierOf, integrationCalls.addZap, { body: { ...zap, hookUrl: `${zap.hookUrl}${nth}` } })
  expect((await on(7)).status).toBe(201)
  await copyZap(app, 99)
  expect(await on(100)).toMatchObject({ status: 409, problem: { code: 'conflict' } })
  expect((await on(7)).status).toBe(201)
})

test('a person can only pause, resume and remove a Zap’s webhook', async () => {
  await using app = await openTestApp({ config: { zapier } })
  const asha = await aPerson(app)
  const { reply } = await ask(app, await connect(app, asha, zapierItself), integrationCalls.addZap, { body: zap })
  const change = (body: { url?: string; paused?: boolean }) => ask(app, asha, integrationCalls.changeWebhook, { params: reply, body })
  expect(await change({ url: mine.url })).toMatchObject({ status: 403, problem: { code: 'not_allowed' } })
  expect((await ask(app, asha, integrationCalls.replaceSecret, { params: reply })).status).toBe(403)
  expect(await change({ paused: true })).toMatchObject({ status: 200, reply: { pausedBecause: 'by_hand', url: zap.hookUrl } })
  expect((await ask(app, asha, integrationCalls.removeWebhook, { params: reply })).status).toBe(204)
})

test('webhooks of Zapier wait while its subscription is off and resume with it; those of other apps do not wait', async () => {
  await using receiver = await openFakeReceiver()
  await using app = await openTestApp({ config: { ...lax, zapier } })
  const asha = await aPerson(app)
  const zapierOf = await connect(app, asha, zapierItself)
  const robot = await connect(app, asha, await anApplication(app))
  const hook = (path: string) => ({ body: { hookUrl: receiver.url + path, event: 'invoice.created' as const } })
  await ask(app, zapierOf, integrationCalls.addZap, hook('/zapier'))
  await ask(app, robot, integrationCalls.addZap, hook('/robot'))
  await app.runJobs()
  await aWebhook(app, asha, receiver)
  await ask(app, asha, integrationCalls.unsubscribe)
  const states = async () =>
    Object.fromEntries((await list(app, asha)).map(({ url, pausedBecause }) => [new URL(url).pathname, pausedBecause]))
  expect(await states()).toEqual({ '/zapier': 'zapier_unsubscribed', '/robot': null, '/duely': null })

  await anInvoice(app, { owner: asha })
  await app.runJobs()
  expect(receiver.calls.map(({ path }) => path).sort()).toEqual(['/duely', '/robot'])
  const waiting = (await list(app, asha)).find(({ url }) => url.endsWith('/zapier'))
  const log = (await ask(app, asha, integrationCalls.webhookDeliveries, { params: { id: waiting?._id ?? '' } })).reply
  expect(log).toMatchObject([{ state: 'waiting', attempt: 0, nextTryAt: null }, { event: 'challenge' }])

  await ask(app, asha, integrationCalls.subscribe)
  await app.runJobs()
  expect(toldTo(receiver, '/zapier').map(({ type }) => type)).toEqual(['invoice.created'])
  expect((await states())['/zapier']).toBeNull()
})

test('keys cannot add webhooks, and apps only their own kind', async () => {
  await using app = await openTestApp({ config: { zapier } })
  const asha = await aPerson(app)
  const zapierOf = await connect(app, asha, zapierItself)
  const readsOnly = await connect(app, asha, await anApplication(app), ['read'])
  const writesOnly = await connect(app, asha, await anApplication(app), ['write'])
  const { reply } = await add(app, asha)
  expect((await ask(app, zapierOf, integrationCalls.webhooks)).status).toBe(403)
  expect((await ask(app, zapierOf, integrationCalls.removeZap, { params: { id: reply._id } })).status).toBe(404)
  // Reading data needs read; subscribing to it is a change.
  for (const one of [readsOnly, writesOnly])
    expect(await ask(app, one, integrationCalls.addZap, { body: zap })).toMatchObject({ status: 403, problem: { code: 'not_allowed' } })
  expect(await list(app, asha)).toMatchObject([{ _id: reply._id }])
})

test('deleting an account removes its webhooks and deliveries', async () => {
  await using receiver = await openFakeReceiver()
  await using app = await openTestApp({ config: lax })
  const asha = await aPerson(app)
  await aWebhook(app, asha, receiver)
  await anInvoice(app, { owner: asha })
  await app.runJobs()
  await anInvoice(app, { owner: asha })
  expect((await ask(app, asha, accountCalls.deleteMe)).status).toBe(204)
  await app.runJobs()
  expect(await app.db.select().from(webhooks).where(eq(webhooks.ownerId, asha.id))).toEqual([])
  expect(toldTo(receiver)).toHaveLength(1)
})

test('Zapier is notified of a deleted account, webhook by webhook, and no other app is', async () => {
  await using receiver = await openFakeReceiver()
  await using app = await openTestApp({ config: { ...lax, zapier } })
  const [asha, meera] = [await aPerson(app), await aPerson(app)]
  const hook = (path: string) => ({ body: { hookUrl: receiver.url + path, event: 'invoice.created' as const } })
  for (const path of ['/zap/1', '/zap/2']) await ask(app, await connect(app, asha, zapierItself), integrationCalls.addZap, hook(path))
  await ask(app, await connect(app, asha, await anApplication(app)), integrationCalls.addZap, hook('/robot'))
  await ask(app, await connect(app, meera, zapierItself), integrationCalls.addZap, hook('/meera'))
  await aWebhook(app, asha, receiver)
  await app.runJobs()
  expect((await ask(app, asha, accountCalls.deleteMe)).status).toBe(204)
  expect(receiver.calls.map(({ method, path, body }) => [method, path, body]).toSorted()).toEqual([
    ['DELETE', '/zap/1', ''],
    ['DELETE', '/zap/2', ''],
  ])
})

test('Zapier is notified of a revoked grant, webhook by webhook, and of no other grant', async () => {
  await using receiver = await openFakeReceiver()
  await using app = await openTestApp({ config: { ...lax, zapier } })
  const asha = await aPerson(app)
  const hook = (path: string) => ({ body: { hookUrl: receiver.url + path, event: 'invoice.created' as const } })
  await ask(app, await connect(app, asha, zapierItself), integrationCalls.addZap, hook('/zap'))
  await ask(app, await connect(app, asha, await anApplication(app)), integrationCalls.addZap, hook('/robot'))
  await app.runJobs()
  const { reply } = await ask(app, asha, integrationCalls.connections)
  const disconnect = (wanted: string) =>
    ask(app, asha, integrationCalls.disconnect, { params: { id: reply.find(({ name }) => name === wanted)?._id ?? '' } })
  expect((await disconnect('Ledger Robot')).status).toBe(204)
  expect(receiver.calls).toEqual([])
  expect((await disconnect('Zapier')).status).toBe(204)
  expect(receiver.calls.map(({ method, path, body }) => [method, path, body])).toEqual([['DELETE', '/zap', '']])
})

test('a URL is stored in its normalized form', async () => {
  await using app = await openTestApp({ config: { zapier } })
  const asha = await aPerson(app)
  const { token } = await connect(app, asha, zapierItself)
  const written = 'HTTPS://Example.com:443/रसीद/\u0000?a b'
  const kept = 'https://example.com/%E0%A4%B0%E0%A4%B8%E0%A5%80%E0%A4%A6/%00?a%20b'
  expect((await add(app, asha, { ...mine, url: written })).reply.url).toBe(kept)
  const sent = { event: 'reminder.sent' as const }
  const one = await ask(app, { token }, integrationCalls.addZap, { body: { ...sent, hookUrl: written } })
  expect(one.status).toBe(201)
  expect((await ask(app, { token }, integrationCalls.addZap, { body: { ...sent, hookUrl: kept } })).reply).toEqual(one.reply)
  const long = `https://example.com/${'\u6cb8\u77e1\u5a5e'.repeat(600)}`
  expect(await ask(app, { token }, integrationCalls.addZap, { body: { ...zap, hookUrl: long } })).toMatchObject({ status: 400 })
})

test('a returning owner finds their webhooks unchanged', async () => {
  await using app = await openTestApp()
  const asha = await aPerson(app)
  const first = (await add(app, asha)).reply
  app.clock.advance({ hours: 1 })
  const second = (await add(app, await signedInAgain(app, asha), { ...mine, url: 'https://example.com/second' })).reply
  app.clock.advance({ hours: 40 * 24 })
  expect((await list(app, await signedInAgain(app, asha))).map(({ _id }) => _id)).toEqual([second._id, first._id])
})

test('only apps subscribe under /zapier: a person and their key are refused', async () => {
  await using app = await openTestApp({ config: { zapier } })
  const asha = await aPerson(app)
  const key = await aKey(app, asha)
  for (const one of [asha, key]) {
    const asked = [
      await ask(app, one, integrationCalls.addZap, { body: zap }),
      await ask(app, one, integrationCalls.removeZap, { params: { id: newId() } }),
      await ask(app, one, integrationCalls.sample, { params: { event: 'invoice.paid' } }),
    ]
    expect(asked.map(({ status, problem }) => [status, problem?.code])).toEqual(asked.map(() => [403, 'not_allowed']))
  }
  expect(await list(app, asha)).toEqual([])
})

test('one webhook per URL and event, whether a person or an app adds it', async () => {
  await using app = await openTestApp({ config: { zapier } })
  const asha = await aPerson(app)
  const robot = await connect(app, asha, await anApplication(app))
  const events = ['invoice.paid' as const, 'invoice.created' as const]
  const { reply } = await add(app, asha, { ...mine, events })
  const other = (await add(app, asha, { ...mine, events: ['reminder.sent'] })).reply
  const change = (id: string, body: { url?: string; events?: (typeof webhookEvent.options)[number][] }) =>
    ask(app, asha, integrationCalls.changeWebhook, { params: { id }, body })
  const refused = [
    await add(app, asha),
    await ask(app, robot, integrationCalls.addZap, { body: { hookUrl: mine.url, event: 'invoice.created' } }),
    await change(other._id, { events: ['reminder.sent', 'invoice.paid'] }),
  ]
  for (const one of refused) expect(one).toMatchObject({ status: 409, problem: { code: 'conflict' } })
  expect((await change(reply._id, { events: ['invoice.paid'] })).status).toBe(200)
  expect((await add(app, await aPerson(app), { ...mine, events })).status).toBe(201)
})

describe('a challenge', () => {
  const created = ['invoice.created' as const]
  const stateOf = async (app: TestApp, someone: Asker) => (await list(app, someone)).map(({ pausedBecause }) => pausedBecause)

  test('is sent to a new URL, which gets its events, also those of meanwhile, once it has answered', async () => {
    await using receiver = await openFakeReceiver()
    await using app = await openTestApp({ config: lax })
    const asha = await aPerson(app)
    receiver.ignoresChallenges = true
    receiver.answer(({ body }) => ({ status: 200, body }))
    const { reply } = await add(app, asha, { url: `${receiver.url}/duely`, events: created })
    for (let nth = 0; nth < 3; nth += 1) await anInvoice(app, { owner: asha })
    await app.runJobs()
    expect(receiver.calls.map(({ body }) => (JSON.parse(body) as { type: string }).type)).toEqual(['challenge'])
    expect(isSigned(receiver.calls[0] as HeardCall, reply.secret, Math.floor(app.clock.now().epochMilliseconds / 1000))).toBe(true)
    const log = (await ask(app, asha, integrationCalls.webhookDeliveries, { params: { id: reply._id } })).reply
    expect(log.map(({ event, state }) => [event, state]).toSorted()).toEqual([
      ['challenge', 'waiting'],
      ...Array(3).fill(['invoice.created', 'waiting']),
    ])
    expect(log.find(({ event }) => event === 'challenge')?.words).toContain('must answer with the value of data.challenge')
    const [ordinary] = log.filter(({ event }) => event !== 'challenge')
    const resent = await ask(app, asha, integrationCalls.resend, { params: { id: reply._id, deliveryId: ordinary?._id ?? '' } })
    expect(resent).toMatchObject({ status: 409, problem: { code: 'conflict' } })

    receiver.ignoresChallenges = false
    receiver.calls.length = 0
    app.clock.advance({ seconds: 5 })
    await app.runJobs()
    expect([toldTo(receiver).length, ...(await stateOf(app, asha))]).toEqual([3, null])
  })

  test('may be answered as JSON, and is sent again by hand and on its schedule, with a notice at the end', async () => {
    await using receiver = await openFakeReceiver()
    await using app = await openTestApp({ config: lax })
    const asha = await aPerson(app)
    receiver.ignoresChallenges = true
    receiver.answer({ status: 404 })
    const { reply } = await add(app, asha, { url: `${receiver.url}/duely`, events: created })
    const someone = async () => signedInAgain(app, asha)
    for (let hours = 0; hours < 40; hours += 1) {
      await app.runJobs()
      app.clock.advance({ hours: 1 })
    }
    expect(receiver.calls).toHaveLength(8)
    const { reply: notices } = await ask(app, await someone(), noticeCalls.list)
    expect(notices).toMatchObject([{ kind: 'webhook_unverified' }])
    // Resuming is no way around it.
    await ask(app, await someone(), integrationCalls.changeWebhook, { params: { id: reply._id }, body: { paused: false } })
    await anInvoice(app, { owner: asha })
    await app.runJobs()
    expect(receiver.calls).toHaveLength(8)

    receiver.answer(({ body }) => ({ status: 200, body: JSON.stringify({ challenge: /"challenge":"([^"]+)"/.exec(body)?.[1] }) }))
    const tried = await ask(app, await someone(), integrationCalls.testWebhook, { params: { id: reply._id } })
    expect(tried.reply).toMatchObject({ event: 'challenge', state: 'delivered' })
    await app.runJobs()
    expect(await stateOf(app, await someone())).toEqual([null])
    expect((await ask(app, await someone(), noticeCalls.list)).reply).toEqual([])
    expect(receiver.calls.filter(({ body }) => body.includes('invoice.created'))).toHaveLength(1)
  })

  test('is needed for a changed URL, and not for one that answered in this account', async () => {
    await using receiver = await openFakeReceiver()
    await using app = await openTestApp({ config: lax })
    const asha = await aPerson(app)
    const { reply } = await add(app, asha, { url: `${receiver.url}/one`, events: created })
    await app.runJobs()
    await add(app, asha, { url: `${receiver.url}/one`, events: ['invoice.paid'] })
    expect(await stateOf(app, asha)).toEqual([null, null])
    await ask(app, asha, integrationCalls.changeWebhook, { params: { id: reply._id }, body: { url: `${receiver.url}/two` } })
    expect((await stateOf(app, asha)).toSorted()).toEqual([null, 'unverified'])
    await app.runJobs()
    expect(receiver.challenges.map(({ path }) => path)).toEqual(['/one', '/two'])
    expect(await stateOf(app, asha)).toEqual([null, null])
  })

  test('is not needed after a move to a URL that answered one: the events that waited are sent there', async () => {
    await using receiver = await openFakeReceiver()
    await using app = await openTestApp({ config: lax })
    const asha = await aPerson(app)
    await add(app, asha, { url: `${receiver.url}/one`, events: ['invoice.paid'] })
    await app.runJobs()
    receiver.ignoresChallenges = true
    receiver.answer({ status: 404 })
    const { reply } = await add(app, asha, { url: `${receiver.url}/two`, events: created })
    await anInvoice(app, { owner: asha })
    await app.runJobs()
    receiver.answer({ status: 200 })
    await ask(app, asha, integrationCalls.changeWebhook, { params: { id: reply._id }, body: { url: `${receiver.url}/one` } })
    await app.runJobs()
    expect(toldTo(receiver, '/one').map(({ type }) => type)).toEqual(['invoice.created'])
    const log = (await ask(app, asha, integrationCalls.webhookDeliveries, { params: { id: reply._id } })).reply
    expect(log.map(({ event, state }) => [event, state])).toEqual([['invoice.created', 'delivered']])
  })

  test('is not for addresses that Zapier makes, but for those of any other app', async () => {
    await using app = await openTestApp({ config: { zapier } })
    const asha = await aPerson(app)
    const robot = await connect(app, asha, await anApplication(app))
    const zapierOf = await connect(app, asha, zapierItself)
    const states: [string, string | null][] = []
    for (const [who, hookUrl] of [
      [zapierOf, zap.hookUrl],
      [zapierOf, 'https://zapier.com.example/hook'],
      [robot, 'https://hooks.zapier.com/hooks/catch/2'],
    ] as const) {
      const { id } = (await ask(app, who, integrationCalls.addZap, { body: { hookUrl, event: 'invoice.paid' } })).reply
      const found = (await list(app, asha)).find(({ _id }) => _id === id)
      states.push([hookUrl, found?.pausedBecause ?? null])
    }
    expect(states.map(([, state]) => state)).toEqual([null, 'unverified', 'unverified'])
  })
})

test('at most a thousand events wait for a webhook: the rest is skipped, counted and reported', async () => {
  await using receiver = await openFakeReceiver()
  await using app = await openTestApp({ config: lax })
  const asha = await aPerson(app)
  const { _id } = await aWebhook(app, asha, receiver, { events: ['invoice.created'] })
  const pause = (paused: boolean) => ask(app, asha, integrationCalls.changeWebhook, { params: { id: _id }, body: { paused } })
  await pause(true)
  await anInvoice(app, { owner: asha })
  await app.runJobs()
  await app.db.execute(sql`
    WITH more AS (
      INSERT INTO hook_events (id, owner_id, type, happened_at, facts, payload)
      SELECT gen_random_uuid(), owner_id, type, happened_at, facts, payload FROM hook_events, generate_series(1, 997) RETURNING id, owner_id)
    INSERT INTO hook_deliveries (id, owner_id, hook_id, event_id, state, created_at, next_try_at)
    SELECT gen_random_uuid(), owner_id, ${_id}::uuid, id, 'waiting', now(), now() FROM more`)
  for (let nth = 0; nth < 5; nth += 1) await anInvoice(app, { owner: asha })
  await app.runJobs()
  const now = app.clock.now().toString()
  expect(await list(app, asha)).toMatchObject([{ skipped: 3, lastSkippedAt: now }])
  expect((await ask(app, asha, noticeCalls.list)).reply).toMatchObject([{ kind: 'webhook_skipped' }])
  expect(await app.db.$count(webhookDeliveries)).toBe(1_000)
  expect(await app.db.$count(webhookEvents)).toBe(1_000)
  await pause(false)
  expect(await list(app, asha)).toMatchObject([{ skipped: 0, lastSkippedAt: null }])
})

test('webhooks of an earlier version that share a URL are called once per event', async () => {
  await using receiver = await openFakeReceiver()
  await using app = await openTestApp({ config: lax })
  const asha = await aPerson(app)
  for (let nth = 0; nth < 3; nth += 1) await aWebhook(app, asha, receiver, { path: `/${nth}`, events: ['invoice.created'] })
  await app.db.update(webhooks).set({ url: `${receiver.url}/duely` })
  await app.db
    .update(webhooks)
    .set({ pausedBecause: 'by_hand' })
    .where(eq(webhooks.id, (await list(app, asha))[2]?._id ?? ''))
  await anInvoice(app, { owner: asha })
  await app.runJobs()
  expect(receiver.calls).toHaveLength(1)
})

test('finished deliveries beyond the newest thousand are pruned', async () => {
  await using receiver = await openFakeReceiver()
  await using app = await openTestApp({ config: lax })
  const asha = await aPerson(app)
  const { _id } = await aWebhook(app, asha, receiver)
  const now = app.clock.now()
  const events = Array.from({ length: 1_200 }, () => newId()).sort()
  await app.db
    .insert(webhookEvents)
    .values(events.map((id) => ({ id, ownerId: asha.id, type: 'test' as const, happenedAt: now, facts: {}, payload: '{}' })))
  await app.db.insert(webhookDeliveries).values(
    events.map((eventId, nth) => {
      const state = nth < 3 ? ('waiting' as const) : ('delivered' as const)
      return { id: eventId, ownerId: asha.id, hookId: _id, eventId, state, createdAt: now }
    }),
  )
  await pruneWebhookEvents(app.db, now)
  expect(await app.db.$count(webhookDeliveries)).toBe(1_003)
  expect(await app.db.$count(webhookEvents)).toBe(1_003)
})

test('a host is called at most ten times a second over all accounts, and Zapier’s by account', async () => {
  await using app = await openTestApp()
  const turns = async (url: string, ownerIds: string[]) => {
    const waits: (number | null)[] = []
    for (let nth = 0; nth < 40; nth += 1) waits.push(await takeTurn(app.db, { url, ownerId: ownerIds[nth % ownerIds.length] ?? '' }))
    return waits.filter((wait) => wait !== null)
  }
  const [one, other] = [newId(), newId()]
  const shared = await turns('https://receiver.example/a', [one, other])
  // Each turn is 100 ms after the one before, and none is further ahead than two seconds.
  expect(Math.max(...shared)).toBeLessThanOrEqual(2_000)
  expect(shared.length).toBeGreaterThanOrEqual(20)
  const [before = 0] = shared
  expect(Math.max(...shared) - before).toBeLessThanOrEqual((shared.length - 1) * 100)
  expect((await turns('https://hooks.zapier.com/1', [one])).length).toBeGreaterThanOrEqual(20)
  expect(await takeTurn(app.db, { url: 'https://hooks.zapier.com/2', ownerId: other })).toBe(0)
  await app.db.execute(sql`UPDATE hook_hosts SET next_call_at = now() + interval '1 day'`)
  expect(await takeTurn(app.db, { url: 'https://receiver.example/b', ownerId: one }), 'after the clock was set back').toBe(0)
})
