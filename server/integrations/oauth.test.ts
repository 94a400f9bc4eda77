// Also on PostgreSQL: a code is used once, also by two at the same moment.
import { expect, test } from 'vitest'
import { integrationCalls, ownRedirectPath } from '#contract/integrations.ts'
import { zapierCalls } from '#contract/zapier.ts'
import { aPerson } from '#test/factories.ts'
import { ask, openTestApp, type TestApp } from '#test/harness.ts'
import {
  anApplication,
  authorize,
  broughtBy,
  challengeOf,
  connect,
  permit,
  refresh,
  trade,
  tradeCode,
  zapier,
  zapierItself,
} from '#test/programs.ts'
import { removeOauthClient } from './oauth-clients.ts'

const openWithZapier = () => openTestApp({ config: { zapier, publicUrl: 'https://duely.example' } })

async function consentOf(app: TestApp, someone: { sessionId: string }, location: unknown) {
  return ask(app, someone, integrationCalls.consent, { query: broughtBy(String(location)) })
}

async function isGood(app: TestApp, token: string): Promise<boolean> {
  return (await ask(app, { token }, integrationCalls.me)).status === 200
}

test('an app asks, a person allows it, and the app gets tokens', async () => {
  await using app = await openWithZapier()
  const asha = await aPerson(app)
  const verifier = 'v'.repeat(43)
  const asked = await authorize(app, zapierItself, {
    code_challenge: challengeOf(verifier),
    code_challenge_method: 'S256',
    state: 'a? &=/%',
  })
  expect(asked.statusCode).toBe(303)
  const page = new URL(String(asked.headers.location))
  expect(page.origin + page.pathname).toBe('https://duely.example/dashboard/oauth-consent')
  expect([...page.searchParams.keys()].toSorted()).toEqual(['redirect_uri', 'request', 'state'])
  const question = await consentOf(app, asha, page)
  expect(question.reply).toEqual({
    application: 'Zapier',
    own: false,
    scopes: ['read', 'write'],
    returnsTo: 'zapier.com',
    refuseUrl: `${zapierItself.redirectUri}?error=access_denied&error_description=The+person+said+no.&state=a%3F+%26%3D%2F%25&iss=https%3A%2F%2Fduely.example`,
  })
  const { reply } = await ask(app, asha, integrationCalls.allow, { query: { json: 'true' }, body: broughtBy(page.href) })
  const back = new URL(reply.redirect)
  expect(reply.redirect.startsWith(`${zapierItself.redirectUri}?`)).toBe(true)
  expect(back.searchParams.get('state')).toBe('a? &=/%')
  expect(back.searchParams.get('iss')).toBe('https://duely.example')
  const answered = await tradeCode(app, zapierItself, { code: back.searchParams.get('code') ?? '', verifier })
  expect(answered.status).toBe(200)
  expect(answered.headers).toMatchObject({ 'cache-control': 'no-store', pragma: 'no-cache' })
  expect(answered.body).toEqual({
    token_type: 'Bearer',
    expires_in: 3600,
    access_token: expect.stringMatching(/^duely_at_[\w-]{43}$/),
    refresh_token: expect.stringMatching(/^duely_rt_[\w-]{43}$/),
    scope: 'read write',
  })
  const { reply: me } = await ask(app, { token: answered.body.access_token }, integrationCalls.me)
  expect(me).toEqual({
    id: String(asha.personId),
    email: asha.email,
    displayName: asha.displayName,
    businessId: asha.id,
    businessName: asha.displayName,
  })
})

test('connecting Zapier subscribes to it', async () => {
  await using app = await openWithZapier()
  const asha = await aPerson(app)
  const other = await anApplication(app)
  await connect(app, asha, other)
  expect((await ask(app, asha, zapierCalls.subscription)).reply).toEqual({ sendReminders: false, available: true, connected: false })
  await connect(app, asha, zapierItself)
  expect((await ask(app, asha, zapierCalls.subscription)).reply).toEqual({ sendReminders: true, available: true, connected: true })
})

test.each([
  ['a longer path', 'https://robot.example/back/more'],
  ['a suffix', 'https://robot.example/backdoor'],
  ['another path', 'https://robot.example/'],
  ['another case', 'https://robot.example/Back'],
  ['an encoded letter', 'https://robot.example/%62ack'],
  ['an encoded slash', 'https://robot.example%2Fback'],
  ['a user in front', 'https://robot.example@evil.example/back'],
  ['a user of the host', 'https://me@robot.example/back'],
  ['a slash more', 'https://robot.example/back/'],
  ['a query', 'https://robot.example/back?to=https://evil.example'],
  ['a fragment', 'https://robot.example/back#there'],
  ['another port', 'https://robot.example:444/back'],
  ['the default port', 'https://robot.example:443/back'],
  ['another scheme', 'http://robot.example/back'],
  ['a host below', 'https://evil.robot.example/back'],
  ['a path that climbs', 'https://robot.example/x/../back'],
  ['a backslash', 'https://robot.example\\@evil.example/back'],
  ['a space', ' https://robot.example/back'],
  ['nothing', undefined],
  ['an empty text', ''],
])('nobody is sent back to an address with %s', async (_what, redirect) => {
  await using app = await openTestApp()
  const robot = await anApplication(app, { redirectUri: 'https://robot.example/back' })
  for (const more of [{}, { response_type: 'token' }, { scope: 'everything' }]) {
    const asked = await authorize(app, robot, { redirect_uri: redirect, ...more })
    expect(asked.statusCode).toBe(400)
    expect(asked.headers.location).toBeUndefined()
  }
})

test('a repeated redirect address, and an unknown app, redirect nowhere', async () => {
  await using app = await openTestApp()
  const robot = await anApplication(app)
  const twice = await app.app.inject({
    method: 'GET',
    url: `/oauth/authorize?response_type=code&state=x&client_id=${robot.id}&redirect_uri=${encodeURIComponent(robot.redirectUri)}&redirect_uri=https%3A%2F%2Fevil.example`,
  })
  const unknown = await authorize(app, { ...robot, id: 'somebody' })
  const nameless = await authorize(app, robot, { client_id: undefined })
  const unreadable = await authorize(app, robot, { client_id: '\u0000' })
  for (const asked of [twice, unknown, nameless, unreadable]) {
    expect(asked.statusCode).toBe(400)
    expect(asked.headers.location).toBeUndefined()
  }
  const page = await app.app.inject({ method: 'GET', url: '/oauth/authorize?client_id=<script>', headers: { accept: 'text/html' } })
  expect(page.statusCode).toBe(400)
  expect(page.headers['content-type']).toContain('text/html')
  expect(page.body).toContain('This app is not registered here.')
  expect(page.body).not.toContain('<script>')
})

test.each([
  ['another response type', { response_type: 'token' }, 'unsupported_response_type'],
  ['no response type', { response_type: undefined }, 'invalid_request'],
  ['another response mode', { response_mode: 'fragment' }, 'invalid_request'],
  ['a scope that is none', { scope: 'read everything' }, 'invalid_scope'],
  ['neither state nor PKCE', { state: undefined }, 'invalid_request'],
  ['a state that is no text', { state: 'line\nbreak' }, 'invalid_request'],
  ['a state without end', { state: 'x'.repeat(2_001) }, 'invalid_request'],
  ['plain PKCE', { code_challenge: 'c'.repeat(43), code_challenge_method: 'plain' }, 'invalid_request'],
  ['PKCE that does not say how', { code_challenge: 'c'.repeat(43) }, 'invalid_request'],
  ['a challenge that is none', { code_challenge: 'short', code_challenge_method: 'S256' }, 'invalid_request'],
  ['a method without a challenge', { code_challenge_method: 'S256' }, 'invalid_request'],
])('the application hears of %s', async (_what, over: Record<string, string | undefined>, code) => {
  await using app = await openTestApp({ config: { publicUrl: 'https://duely.example' } })
  const robot = await anApplication(app)
  const asked = await authorize(app, robot, over)
  expect(asked.statusCode).toBe(303)
  const location = String(asked.headers.location)
  expect(location.startsWith(`${robot.redirectUri}&`)).toBe(true)
  const said = new URL(location).searchParams
  expect(said.get('error')).toBe(code)
  expect(said.get('error_description')).toMatch(/\S/)
  expect(said.get('state')).toBe('state' in over ? (over.state ?? null) : 'a state')
  expect(said.get('iss')).toBe('https://duely.example')
})

test('a repeated parameter is refused', async () => {
  await using app = await openTestApp()
  const robot = await anApplication(app)
  const query = new URLSearchParams({ client_id: robot.id, redirect_uri: robot.redirectUri, response_type: 'code', state: 'x' })
  const asked = await app.app.inject({ method: 'GET', url: `/oauth/authorize?${query}&scope=read&scope=write` })
  expect(new URL(String(asked.headers.location)).searchParams.get('error')).toBe('invalid_request')
})

test('a public client must use PKCE', async () => {
  await using app = await openTestApp()
  const robot = await anApplication(app, { kind: 'public', redirectUri: 'com.example.robot:/back' })
  const asked = await authorize(app, robot)
  expect(String(asked.headers.location)).toMatch(/^com\.example\.robot:\/back\?error=invalid_request&/)
  const asha = await aPerson(app)
  expect((await connect(app, asha, robot)).token).toMatch(/^duely_at_/)
})

test('a client with PKCE needs no state, and gets none back', async () => {
  await using app = await openTestApp()
  const asha = await aPerson(app)
  const robot = await anApplication(app)
  const { back, code, verifier } = await permit(app, asha, robot, { state: undefined })
  expect(back.searchParams.has('state')).toBe(false)
  expect((await tradeCode(app, robot, { code, verifier })).status).toBe(200)
})

test('an app that names no scope asks for all of them, and the consent page shows it', async () => {
  await using app = await openTestApp()
  const asha = await aPerson(app)
  const robot = await anApplication(app)
  const ask = async (scope: string | undefined) => {
    const asked = await authorize(app, robot, { scope })
    return (await consentOf(app, asha, asked.headers.location)).reply.scopes
  }
  expect(await ask(undefined)).toEqual(['read', 'write'])
  expect(await ask('read')).toEqual(['read'])
})

test('the sealed request of the consent page cannot be combined with others or changed', async () => {
  await using app = await openTestApp()
  const asha = await aPerson(app)
  const robot = await anApplication(app)
  const other = await anApplication(app, { redirectUri: 'https://other.example/back' })
  const brought = broughtBy(String((await authorize(app, robot)).headers.location))
  const swapped = broughtBy(String((await authorize(app, other)).headers.location))
  const wrong = [
    { ...brought, state: 'another' },
    { ...brought, state: '' },
    { ...brought, redirect_uri: 'https://evil.example/' },
    { ...brought, redirect_uri: swapped.redirect_uri },
    { ...brought, request: swapped.request },
    { ...brought, request: `${brought.request}x` },
    { ...brought, request: '' },
    { ...brought, request: 'v1.a.b.c.d' },
  ]
  for (const body of wrong) {
    expect(await ask(app, asha, integrationCalls.consent, { query: body })).toMatchObject({ status: 400, problem: { code: 'invalid' } })
    const allowed = await ask(app, asha, integrationCalls.allow, { query: { json: 'true' }, body })
    expect(allowed).toMatchObject({ status: 400, problem: { code: 'invalid' } })
  }
  app.clock.advance({ minutes: 10 })
  const late = await ask(app, asha, integrationCalls.allow, { query: { json: 'true' }, body: brought })
  expect(late).toMatchObject({ status: 400, problem: { code: 'link_expired' } })
  expect((await ask(app, asha, integrationCalls.connections)).reply).toEqual([])
})

test('Duely itself is allowed without a request, and only with a redirect to itself', async () => {
  await using app = await openTestApp({ config: { publicUrl: 'https://duely.example' } })
  const asha = await aPerson(app)
  for (const redirect_uri of [ownRedirectPath, `https://duely.example${ownRedirectPath}`]) {
    const brought = { request: '', redirect_uri, state: 'mine' }
    expect((await ask(app, asha, integrationCalls.consent, { query: brought })).reply).toEqual({
      application: 'Duely',
      own: true,
      scopes: ['read', 'write'],
      returnsTo: 'duely.example',
      refuseUrl: '/dashboard',
    })
    const { reply } = await ask(app, asha, integrationCalls.allow, { query: { json: 'true' }, body: brought })
    expect(reply.redirect).toBe(`${redirect_uri}&state=mine`)
  }
  expect((await ask(app, asha, integrationCalls.connections)).reply).toMatchObject([{ name: 'Duely', own: true, paused: false }])
  for (const redirect_uri of [
    'https://evil.example/dashboard?trigger',
    '/dashboard',
    '//evil.example',
    `https://duely.example.evil.example${ownRedirectPath}`,
  ]) {
    const body = { request: '', redirect_uri, state: '' }
    expect((await ask(app, asha, integrationCalls.allow, { query: { json: 'true' }, body })).status).toBe(400)
  }
})

test('a code is valid for 60 s, once, for its client, redirect address and verifier', async () => {
  await using app = await openWithZapier()
  const asha = await aPerson(app)
  const robot = await anApplication(app)
  const of = (permitted: { code: string; verifier: string }) => ({
    grant_type: 'authorization_code',
    code: permitted.code,
    redirect_uri: robot.redirectUri,
    code_verifier: permitted.verifier,
  })
  const good = await permit(app, asha, robot)
  const { code_verifier: _left, ...withoutVerifier } = of(good)
  const { redirect_uri: _out, ...withoutRedirect } = of(good)
  const wrong: [who: typeof robot, given: Record<string, string>, error: string][] = [
    [zapierItself, of(good), 'invalid_grant'],
    [robot, { ...of(good), code_verifier: 'w'.repeat(43) }, 'invalid_grant'],
    [robot, { ...of(good), code_verifier: 'short' }, 'invalid_request'],
    [robot, withoutVerifier, 'invalid_request'],
    [robot, withoutRedirect, 'invalid_request'],
    [robot, { ...of(good), redirect_uri: `${robot.redirectUri}/` }, 'invalid_grant'],
    [robot, { ...of(good), code: `${good.code}x` }, 'invalid_grant'],
    [robot, { ...of(good), code: '' }, 'invalid_request'],
    [robot, { ...of(good), grant_type: 'client_credentials' }, 'unsupported_grant_type'],
    [robot, { ...of(good), grant_type: 'password' }, 'unsupported_grant_type'],
    [robot, { ...of(good), grant_type: '' }, 'invalid_request'],
  ]
  for (const [who, given, error] of wrong) {
    const answered = await trade(app, who, given)
    expect([given, answered.status, answered.body.error]).toEqual([given, 400, error])
    expect(answered.body.error_description).toMatch(/^[\x20-\x21\x23-\x5b\x5d-\x7e]+$/)
    expect(answered.headers['cache-control']).toBe('no-store')
  }
  const late = await permit(app, asha, robot)
  app.clock.advance({ seconds: 59 })
  expect((await trade(app, robot, of(good))).status).toBe(200)
  app.clock.advance({ seconds: 1 })
  expect((await trade(app, robot, of(late))).body.error).toBe('invalid_grant')
})

test('a verifier for a code without PKCE is refused, because the challenge may have been stripped', async () => {
  await using app = await openTestApp()
  const asha = await aPerson(app)
  const robot = await anApplication(app)
  const { code } = await permit(app, asha, robot, { code_challenge: undefined, code_challenge_method: undefined })
  const given = { grant_type: 'authorization_code', code, redirect_uri: robot.redirectUri }
  expect((await trade(app, robot, { ...given, code_verifier: 'v'.repeat(43) })).body.error).toBe('invalid_grant')
  expect((await trade(app, robot, given)).status).toBe(200)
})

test('a reused code ends its own tokens only', async () => {
  await using app = await openTestApp()
  const asha = await aPerson(app)
  const robot = await anApplication(app)
  const before = await connect(app, asha, robot)
  const permitted = await permit(app, asha, robot)
  const { body } = await tradeCode(app, robot, permitted)
  const renewed = await refresh(app, robot, body.refresh_token)
  app.clock.advance({ minutes: 5 })
  expect((await tradeCode(app, robot, permitted)).body.error).toBe('invalid_grant')
  expect(await isGood(app, body.access_token)).toBe(false)
  expect(await isGood(app, renewed.body.access_token)).toBe(false)
  expect((await refresh(app, robot, body.refresh_token)).body.error).toBe('invalid_grant')
  expect(await isGood(app, before.token)).toBe(true)
  expect((await refresh(app, robot, before.refreshToken)).status).toBe(200)
})

test('of simultaneous exchanges of one code one gets tokens, and then they are revoked', async () => {
  await using app = await openTestApp()
  const asha = await aPerson(app)
  const robot = await anApplication(app)
  const permitted = await permit(app, asha, robot)
  const answered = await Promise.all(Array.from({ length: 8 }, () => tradeCode(app, robot, permitted)))
  const got = answered.filter(({ status }) => status === 200)
  expect(got).toHaveLength(1)
  expect(await isGood(app, got[0]?.body.access_token ?? '')).toBe(false)
  expect((await ask(app, asha, integrationCalls.connections)).reply).toEqual([])
})

test('Zapier may reuse one refresh token, also simultaneously', async () => {
  await using app = await openTestApp({ config: { zapier, rateLimit: true } })
  const asha = await aPerson(app)
  const { refreshToken } = await connect(app, asha, zapierItself)
  const answered = await Promise.all(Array.from({ length: 20 }, () => refresh(app, zapierItself, refreshToken)))
  expect(answered.map(({ status }) => status)).toEqual(Array(20).fill(200))
  expect(new Set(answered.map(({ body }) => body.access_token)).size).toBe(20)
  for (const { body } of answered) {
    expect(body.refresh_token).toBe(refreshToken)
    expect(await isGood(app, body.access_token)).toBe(true)
  }
  app.clock.advance({ hours: 24 * 400 })
  expect((await refresh(app, zapierItself, refreshToken)).status).toBe(200)
})

test('a grant is refreshed at most 120 times a minute, one of a public client 10 times', async () => {
  await using app = await openTestApp({ config: { zapier, rateLimit: true } })
  const asha = await aPerson(app)
  const phone = await anApplication(app, { kind: 'public' })
  for (const [client, limit] of [
    [zapierItself, 120],
    [phone, 10],
  ] as const) {
    let { refreshToken } = await connect(app, asha, client)
    for (let nth = 0; nth < limit; nth += 1) refreshToken = (await refresh(app, client, refreshToken)).body.refresh_token
    const refused = await refresh(app, client, refreshToken)
    expect(refused).toMatchObject({ status: 429, body: { error: 'temporarily_unavailable' } })
    app.clock.advance({ minutes: 1 })
    expect((await refresh(app, client, refreshToken)).status).toBe(200)
  }
})

test('an access token is valid for an hour, and no other token passes for one', async () => {
  await using app = await openTestApp()
  const asha = await aPerson(app)
  const robot = await anApplication(app)
  const { token, refreshToken } = await connect(app, asha, robot)
  app.clock.advance({ minutes: 59, seconds: 59 })
  expect(await isGood(app, token)).toBe(true)
  app.clock.advance({ seconds: 1 })
  const late = await ask(app, { token }, integrationCalls.me)
  expect(late).toMatchObject({ status: 401, problem: { code: 'not_signed_in' } })
  expect(late.headers['www-authenticate']).toBe('Bearer realm="Duely", error="invalid_token"')
  expect(await isGood(app, refreshToken)).toBe(false)
  expect((await refresh(app, robot, token)).body.error).toBe('invalid_grant')
})

test('a refresh may ask for fewer scopes, never for more', async () => {
  await using app = await openTestApp()
  const asha = await aPerson(app)
  const robot = await anApplication(app)
  const { refreshToken } = await connect(app, asha, robot)
  expect((await refresh(app, robot, refreshToken, { scope: 'read' })).body.scope).toBe('read')
  expect((await refresh(app, robot, refreshToken)).body.scope).toBe('read write')
  const reader = await connect(app, asha, robot, ['read'])
  expect((await refresh(app, robot, reader.refreshToken, { scope: 'read write' })).body.error).toBe('invalid_scope')
  expect((await refresh(app, robot, reader.refreshToken, { scope: 'everything' })).body.error).toBe('invalid_scope')
})

test('the refresh token of a public client rotates, and reuse of an old one ends the chain', async () => {
  await using app = await openTestApp()
  const asha = await aPerson(app)
  const robot = await anApplication(app, { kind: 'public' })
  const { refreshToken: first } = await connect(app, asha, robot)
  const second = (await refresh(app, robot, first)).body.refresh_token
  expect(second).not.toBe(first)
  // A response that was lost on its way.
  app.clock.advance({ seconds: 10 })
  expect((await refresh(app, robot, first)).body.refresh_token).toBe(second)
  const third = await refresh(app, robot, second)
  expect(third.status).toBe(200)
  // Once its successor has been used, the first one is an old copy.
  expect((await refresh(app, robot, first)).body.error).toBe('invalid_grant')
  expect((await refresh(app, robot, third.body.refresh_token)).body.error).toBe('invalid_grant')
  expect(await isGood(app, third.body.access_token)).toBe(false)
})

test('a rotated refresh token is treated as a copy after 10 s', async () => {
  await using app = await openTestApp()
  const asha = await aPerson(app)
  const robot = await anApplication(app, { kind: 'public' })
  const { refreshToken: first } = await connect(app, asha, robot)
  const second = (await refresh(app, robot, first)).body.refresh_token
  app.clock.advance({ seconds: 11 })
  expect((await refresh(app, robot, first)).body.error).toBe('invalid_grant')
  expect((await refresh(app, robot, second)).body.error).toBe('invalid_grant')
})

test('simultaneous refreshes of a public client get the same token', async () => {
  await using app = await openTestApp()
  const asha = await aPerson(app)
  const robot = await anApplication(app, { kind: 'public' })
  const { refreshToken } = await connect(app, asha, robot)
  const answered = await Promise.all(Array.from({ length: 6 }, () => refresh(app, robot, refreshToken)))
  expect(answered.map(({ status }) => status)).toEqual(Array(6).fill(200))
  expect(new Set(answered.map(({ body }) => body.refresh_token)).size).toBe(1)
})

test('a refresh token is valid only for the client that it was issued to', async () => {
  await using app = await openWithZapier()
  const asha = await aPerson(app)
  const robot = await anApplication(app)
  const { refreshToken } = await connect(app, asha, zapierItself)
  expect((await refresh(app, robot, refreshToken)).body.error).toBe('invalid_grant')
  expect((await refresh(app, zapierItself, refreshToken)).status).toBe(200)
})

test('revoking an access token ends it alone, revoking a refresh token ends its chain', async () => {
  await using app = await openWithZapier()
  const asha = await aPerson(app)
  const robot = await anApplication(app)
  const revoke = (token: string, by = robot) => trade(app, by, { token }, {}, '/oauth/revoke')
  const one = await connect(app, asha, robot)
  const two = await connect(app, asha, robot)
  expect((await revoke(one.token)).status).toBe(200)
  expect(await isGood(app, one.token)).toBe(false)
  const renewed = (await refresh(app, robot, one.refreshToken)).body.access_token
  expect((await revoke(one.refreshToken, zapierItself)).status).toBe(200)
  expect(await isGood(app, renewed)).toBe(true)
  expect((await revoke(one.refreshToken)).status).toBe(200)
  expect((await revoke(one.refreshToken)).status).toBe(200)
  expect((await revoke('nonsense')).status).toBe(200)
  expect(await isGood(app, renewed)).toBe(false)
  expect((await refresh(app, robot, one.refreshToken)).body.error).toBe('invalid_grant')
  expect(await isGood(app, two.token)).toBe(true)
  expect((await ask(app, asha, integrationCalls.connections)).reply).toHaveLength(1)
  await revoke(two.refreshToken)
  // Nothing of the grant is left.
  expect((await ask(app, asha, integrationCalls.connections)).reply).toEqual([])
  expect((await revoke('')).body.error).toBe('invalid_request')
  expect((await revoke(two.token, { ...robot, secret: 'wrong' })).status).toBe(401)
})

test('a client authenticates in the header or in the body, as a form or as JSON', async () => {
  await using app = await openWithZapier()
  const asha = await aPerson(app)
  const { refreshToken } = await connect(app, asha, zapierItself)
  const { clientId, clientSecret } = zapier
  const basic = (id: string, secret: string) => `Basic ${Buffer.from(`${id}:${secret}`).toString('base64')}`
  const given = { grant_type: 'refresh_token', refresh_token: refreshToken }
  const form = (text: string) => encodeURIComponent(text).replaceAll('%20', '+').replaceAll('-', '%2D')
  const asForm = (authorization: string, more: Record<string, string> = {}) =>
    trade(app, zapierItself, { ...given, ...more }, { authorization })
  expect((await asForm(basic(form(clientId), form(clientSecret)))).status).toBe(200)
  expect((await asForm(basic(clientId, clientSecret))).status).toBe(200)
  expect((await asForm(basic(clientId, clientSecret), { client_id: clientId })).status).toBe(200)
  const json = await app.app.inject({
    method: 'POST',
    url: '/oauth/token',
    payload: { ...given, client_id: clientId, client_secret: clientSecret },
  })
  expect(json.statusCode).toBe(200)
  const wrong = await asForm(basic(clientId, 'wrong'))
  expect(wrong).toMatchObject({ status: 401, body: { error: 'invalid_client' }, headers: { 'www-authenticate': 'Basic realm="Duely"' } })
  expect((await asForm('Basic !!')).status).toBe(401)
  expect((await asForm('Bearer x')).status).toBe(401)
  expect((await asForm(basic('somebody', clientSecret))).status).toBe(401)
  expect((await asForm(basic(clientId, clientSecret), { client_secret: clientSecret })).body.error).toBe('invalid_request')
  expect((await asForm(basic(clientId, clientSecret), { client_id: 'somebody' })).body.error).toBe('invalid_request')
  expect((await trade(app, { ...zapierItself, id: '\u0000' }, given)).body.error).toBe('invalid_client')
  const bare = { ...zapierItself, secret: null }
  expect((await trade(app, bare, given)).body.error).toBe('invalid_client')
})

test.each([
  ['no JSON', 'application/json', '{broken'],
  ['a list', 'application/json', '[]'],
  ['an object for a text', 'application/json', '{"grant_type":{"a":1}}'],
  ['a number for a text', 'application/json', '{"grant_type":1}'],
  ['another type', 'text/xml', '<x/>'],
  ['a parameter twice', 'application/x-www-form-urlencoded', 'client_id=a&client_id=b'],
])('%s is refused in the words of the standard', async (_what, type, payload) => {
  await using app = await openTestApp()
  const answered = await app.app.inject({ method: 'POST', url: '/oauth/token', headers: { 'content-type': type }, payload })
  expect(answered.statusCode).toBe(400)
  expect(answered.json()).toMatchObject({ error: 'invalid_request', error_description: expect.stringMatching(/\S/) })
  expect(answered.headers['cache-control']).toBe('no-store')
})

test('forms are accepted at the token endpoint only', async () => {
  await using app = await openTestApp()
  const { token } = await aPerson(app)
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/x-www-form-urlencoded' }
  const answered = await app.app.inject({ method: 'POST', url: '/api-keys', headers, payload: 'name=x' })
  expect(answered.statusCode).toBe(400)
})

test('wrong secrets are counted per address, and do not lock out the right one elsewhere', async () => {
  await using app = await openTestApp({ config: { zapier, rateLimit: true, trustProxy: 1 } })
  const asha = await aPerson(app)
  const { refreshToken } = await connect(app, asha, zapierItself)
  const from = (address: string, secret: string) =>
    trade(app, { ...zapierItself, secret }, { grant_type: 'refresh_token', refresh_token: refreshToken }, { 'x-forwarded-for': address })
  const statuses = await Promise.all(Array.from({ length: 70 }, () => from('203.0.113.9', 'wrong')))
  expect(statuses.filter(({ status }) => status === 401)).toHaveLength(60)
  const shut = await from('203.0.113.9', zapier.clientSecret)
  expect(shut).toMatchObject({ status: 429, body: { error: 'temporarily_unavailable' } })
  expect(Number(shut.headers['retry-after'])).toBeGreaterThan(0)
  expect((await from('203.0.113.10', zapier.clientSecret)).status).toBe(200)
  app.clock.advance({ minutes: 10 })
  expect((await from('203.0.113.9', zapier.clientSecret)).status).toBe(200)
})

test('a client removed by the operator loses all access', async () => {
  await using app = await openTestApp()
  const asha = await aPerson(app)
  const robot = await anApplication(app)
  const { token, refreshToken } = await connect(app, asha, robot)
  expect(await removeOauthClient(app.db, robot.id)).toBe('Ledger Robot')
  expect(await isGood(app, token)).toBe(false)
  expect((await refresh(app, robot, refreshToken)).body.error).toBe('invalid_client')
  expect((await ask(app, asha, integrationCalls.connections)).reply).toEqual([])
})
