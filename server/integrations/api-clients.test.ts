// Also on PostgreSQL: grants are counted and ended by conditional updates.
import { expect, test } from 'vitest'
import { call } from '#contract/call.ts'
import { everyCall } from '#contract/index.ts'
import { integrationCalls } from '#contract/integrations.ts'
import { invoiceCalls } from '#contract/invoices.ts'
import { reminderCalls } from '#contract/reminders.ts'
import { answer } from '#server/platform/answer.ts'
import { newId } from '#server/platform/columns.ts'
import { anInvoice, anOffice, aPerson } from '#test/factories.ts'
import { ask, openTestApp, type TestApp } from '#test/harness.ts'
import { aKey, anApplication, connect, refresh } from '#test/programs.ts'
import { buyOnce, openShop } from '#test/shop.ts'
import { times } from '#test/thorough.ts'
import { apiKeys } from './tables.ts'

const draft = { clientName: 'Kaveri Foods', clientEmail: 'billing@kaveri.example', amount: 5000, dueDate: '2026-02-20' }

/** The calls that are open to an API client; the others are refused with `not_allowed`. */
async function doorsOf(app: TestApp, token: string): Promise<string[]> {
  const open: string[] = []
  for (const { method, path } of everyCall.filter((one) => !one.open)) {
    const headers = { authorization: `Bearer ${token}` }
    const answered = await app.app.inject({ method, url: path.replace(/:\w+/g, newId()), headers })
    const refused = answered.statusCode === 403 && answered.json<{ code: string }>().code === 'not_allowed'
    if (!refused) open.push(`${method} ${path}`)
  }
  return open.toSorted()
}

const callsUnder = (paths: RegExp, methods = /./) =>
  everyCall
    .filter(({ path, method }) => paths.test(path) && methods.test(`${method} ${path}`))
    .map(({ path, method }) => `${method} ${path}`)

test('an OAuth token may call /api, /zapier and /invoice, and nothing else', async () => {
  await using app = await openTestApp()
  const robot = await anApplication(app)
  const asha = await aPerson(app)
  const paths = /^\/(?:api|zapier|invoice)(?:\/|$)/
  expect(await doorsOf(app, (await connect(app, asha, robot)).token)).toEqual(callsUnder(paths).toSorted())
  expect(await doorsOf(app, (await connect(app, asha, robot, ['read'])).token)).toEqual(
    callsUnder(paths, /^GET|^POST \/reminder\/(?:draft|simulate)$/).toSorted(),
  )
  expect(await doorsOf(app, (await connect(app, asha, robot, ['write'])).token)).toEqual(
    callsUnder(paths, /^(?!GET|POST \/reminder\/(?:draft|simulate)$)/).toSorted(),
  )
})

test('a key may call /invoice, /reminder and /api, and nothing else', async () => {
  await using app = await openTestApp()
  const asha = await aPerson(app)
  const paths = /^\/(?:invoice|reminder|api)(?:\/|$)/
  expect(await doorsOf(app, (await aKey(app, asha)).token)).toEqual(callsUnder(paths).toSorted())
  expect(await doorsOf(app, (await aKey(app, asha, ['read'])).token)).toEqual(
    callsUnder(paths, /^GET|^POST \/reminder\/(?:draft|simulate)$/).toSorted(),
  )
  expect(await doorsOf(app, (await aKey(app, asha, ['write'])).token)).toEqual(
    callsUnder(paths, /^(?!GET|POST \/reminder\/(?:draft|simulate)$)/).toSorted(),
  )
})

test('a client without the needed scope gets the missing one by name', async () => {
  await using app = await openTestApp()
  const asha = await aPerson(app)
  const key = await aKey(app, asha, ['read'])
  const zap = await connect(app, asha, await anApplication(app), ['read'])
  const refused = await ask(app, key, invoiceCalls.create, { body: draft })
  expect(refused.problem).toEqual({ code: 'not_allowed', message: 'POST /invoice needs the scope write. This key has only read.' })
  expect(refused.headers['www-authenticate']).toBe('Bearer realm="Duely", error="insufficient_scope", scope="write"')
  expect((await ask(app, zap, reminderCalls.runs, { query: {} })).problem).toEqual({
    code: 'not_allowed',
    message: 'An OAuth access token may call /api, /zapier and /invoice, but not GET /reminder/runs.',
  })
})

test('an API client reaches only the data of its own account', async () => {
  await using office = await anOffice({ now: '2026-03-02T04:30:00Z' })
  const { app, asha } = office
  const hers = await anInvoice(app, { owner: asha, clientName: 'Zanzibar Foods' })
  await app.whileJobsRun(ask(app, asha, reminderCalls.sendNow))
  const [run] = (await ask(app, asha, reminderCalls.runs, { query: {} })).reply
  const meera = await aPerson(app)
  const own = (await connect(app, asha, await anApplication(app))).token
  for (const { token } of [await aKey(app, meera), await connect(app, meera, await anApplication(app))]) {
    const found: string[] = []
    for (const { method, path } of everyCall.filter((one) => !one.open))
      for (const id of [hers._id, run?._id ?? '', asha.id].slice(0, times(1, 3))) {
        const payload = method === 'PATCH' ? { clientName: 'Mine now' } : undefined
        const headers = { authorization: `Bearer ${token}` }
        const answered = await app.app.inject({ method, url: path.replace(/:\w+/g, id), headers, ...(payload ? { payload } : {}) })
        if (answered.body.includes('Zanzibar')) found.push(`${method} ${path} tells of it`)
        if (path.includes(':') && answered.statusCode < 400) found.push(`${method} ${path} finds it`)
      }
    expect(found).toEqual([])
  }
  expect((await ask(app, { token: own }, invoiceCalls.read, { params: { id: hers._id } })).reply.clientName).toBe('Zanzibar Foods')
})

test('an unknown token or key gets 401 and no information', async () => {
  await using app = await openTestApp()
  const asha = await aPerson(app)
  const { token } = await aKey(app, asha)
  const strange = [`${token}x`, token.slice(0, -1), 'duely_key_', 'duely_at_', `duely_at_${token.slice(10)}`, `duely_rt_${token.slice(10)}`]
  for (const one of strange)
    for (const url of ['/api/me', '/user/profile', '/invoice/x']) {
      const answered = await app.app.inject({ method: 'GET', url, headers: { authorization: `Bearer ${one}` } })
      expect([one, url, answered.statusCode, answered.json<{ code: string }>().code]).toEqual([one, url, 401, 'not_signed_in'])
      expect(answered.headers['www-authenticate']).toBe('Bearer realm="Duely", error="invalid_token"')
    }
})

test('a key ends when it expires, and immediately when it is revoked', async () => {
  await using app = await openTestApp()
  const asha = await aPerson(app)
  const [short, long] = [await aKey(app, asha, ['read'], 1), await aKey(app, asha, ['read'])]
  app.clock.advance({ hours: 23, minutes: 59, seconds: 59 })
  expect((await ask(app, short, integrationCalls.me)).status).toBe(200)
  app.clock.advance({ seconds: 1 })
  expect((await ask(app, short, integrationCalls.me)).status).toBe(401)
  expect((await ask(app, long, integrationCalls.me)).status).toBe(200)
  await ask(app, asha, integrationCalls.removeKey, { params: { id: long.id } })
  expect((await ask(app, long, integrationCalls.me)).status).toBe(401)
})

test('where plans are sold a key works as long as the plan has API access', async () => {
  await using shop = await openShop()
  const { app } = shop
  const asha = await aPerson(app)
  const refused = await ask(app, asha, integrationCalls.addKey, { body: { name: 'Nightly job', scopes: ['read'] } })
  expect(refused).toMatchObject({
    status: 402,
    problem: { code: 'plan_limit', message: 'API keys need Enterprise: choose it under Pricing.' },
  })
  await buyOnce(shop, asha, 'enterprise')
  const key = await aKey(app, asha)
  const robot = await anApplication(app)
  const { refreshToken } = await connect(app, asha, robot)
  expect((await ask(app, key, integrationCalls.me)).status).toBe(200)
  await shop.pass({ hours: 24 * 32 })
  expect(await ask(app, key, integrationCalls.me)).toMatchObject({ status: 402, problem: { code: 'plan_limit' } })
  // Connected apps belong to every plan.
  const { body } = await refresh(app, robot, refreshToken)
  expect((await ask(app, { token: body.access_token }, integrationCalls.me)).status).toBe(200)
})

test('a client may make 120 calls a minute, and every reply has how many are left', async () => {
  await using app = await openTestApp({ config: { rateLimit: true } })
  const asha = await aPerson(app)
  const [key, other] = [await aKey(app, asha), await aKey(app, asha)]
  const first = await ask(app, key, integrationCalls.me)
  expect(first.headers).toMatchObject({ 'ratelimit-limit': '120', 'ratelimit-remaining': '119', 'ratelimit-reset': '60' })
  app.clock.advance({ seconds: 20 })
  const lost = await ask(app, key, invoiceCalls.read, { params: { id: newId() } })
  expect([lost.status, lost.headers['ratelimit-remaining'], lost.headers['ratelimit-reset']]).toEqual([404, '118', '40'])
  const closed = await app.app.inject({ method: 'GET', url: '/user/profile', headers: { authorization: `Bearer ${key.token}` } })
  expect([closed.statusCode, closed.headers['ratelimit-remaining']]).toEqual([403, '117'])
  const rest = await Promise.all(Array.from({ length: 130 }, () => ask(app, key, integrationCalls.me)))
  expect(rest.filter(({ status }) => status === 200)).toHaveLength(117)
  const over = await ask(app, key, integrationCalls.me)
  expect(over).toMatchObject({
    status: 429,
    problem: { code: 'too_many', message: 'Limit of 120 calls a minute reached. Try again in 40 seconds.' },
  })
  expect(over.headers).toMatchObject({ 'retry-after': '40', 'ratelimit-remaining': '0', 'ratelimit-reset': '40' })
  expect((await ask(app, other, integrationCalls.me)).status).toBe(200)
  expect((await ask(app, asha, integrationCalls.me)).headers['ratelimit-limit']).toBeUndefined()
  app.clock.advance({ seconds: 40 })
  expect((await ask(app, key, integrationCalls.me)).headers['ratelimit-remaining']).toBe('119')
})

test('the tokens of one app share a limit', async () => {
  await using app = await openTestApp({ config: { rateLimit: true } })
  const asha = await aPerson(app)
  const robot = await anApplication(app)
  const [one, two] = [await connect(app, asha, robot), await connect(app, asha, robot)]
  await ask(app, one, integrationCalls.me)
  expect((await ask(app, two, integrationCalls.me)).headers['ratelimit-remaining']).toBe('118')
})

test('the last use of a client is recorded to the minute', async () => {
  await using app = await openTestApp({ now: '2026-03-02T09:00:00Z' })
  const asha = await aPerson(app)
  const [key, zap] = [await aKey(app, asha), await connect(app, asha, await anApplication(app))]
  const seen = async () => {
    const [kept] = (await ask(app, asha, integrationCalls.keys)).reply
    const [connected] = (await ask(app, asha, integrationCalls.connections)).reply
    return [kept?.lastUsedAt, connected?.lastUsedAt]
  }
  expect(await seen()).toEqual([null, null])
  const use = async () => {
    await ask(app, key, integrationCalls.me)
    await ask(app, zap, integrationCalls.me)
  }
  await use()
  app.clock.advance({ seconds: 59 })
  await use()
  expect(await seen()).toEqual(['2026-03-02T09:00:00Z', '2026-03-02T09:00:00Z'])
  app.clock.advance({ seconds: 1 })
  await use()
  expect(await seen()).toEqual(['2026-03-02T09:01:00Z', '2026-03-02T09:01:00Z'])
})

test('a call that needs a session is refused to an API client, even where its path is open', async () => {
  await using app = await openTestApp({ config: {} })
  const needy = call({ method: 'POST', path: '/api/session', by: 'member', summary: 'Needs a session.' })
  answer(app.app, needy, async (_parts, { sessionId }) => void sessionId)
  const asha = await aPerson(app)
  expect((await ask(app, asha, needy)).status).toBe(204)
  expect(await ask(app, await aKey(app, asha), needy)).toMatchObject({ status: 403, problem: { code: 'not_allowed' } })
})

test('an API client creates invoices for its account', async () => {
  await using app = await openTestApp()
  const asha = await aPerson(app)
  const zap = await connect(app, asha, await anApplication(app))
  const { status, reply } = await ask(app, zap, invoiceCalls.create, { body: draft }, { 'idempotency-key': 'zap-1' })
  expect(status).toBe(201)
  expect((await ask(app, asha, invoiceCalls.read, { params: { id: reply._id } })).reply).toEqual(reply)
})

test('no key can be read from the database', async () => {
  await using app = await openTestApp()
  const asha = await aPerson(app)
  const { token } = await aKey(app, asha)
  const [kept] = await app.db.select().from(apiKeys)
  expect(JSON.stringify(kept)).not.toContain(token.slice('duely_key_'.length))
  expect(kept?.ending).toBe(token.slice(-4))
})
