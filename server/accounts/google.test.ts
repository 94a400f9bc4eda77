// Also on PostgreSQL: two first sign-ins meet on one row.
import { eq } from 'drizzle-orm'
import { expect, test } from 'vitest'
import { accountCalls } from '#contract/accounts.ts'
import { teamCalls } from '#contract/business.ts'
import { businessHeader } from '#contract/call.ts'
import { integrationCalls } from '#contract/integrations.ts'
import { sourceCalls } from '#contract/sources.ts'
import { aPerson, changePerson, type Person } from '#test/factories.ts'
import { type FakeGoogle, openFakeGoogle, type Script } from '#test/fakes/google.ts'
import { openFakeSmtp } from '#test/fakes/smtp-server.ts'
import { ask, openTestApp, type TestApp } from '#test/harness.ts'
import { aKey } from '#test/programs.ts'
import { pruneReturns } from './google.ts'
import { accounts, googleReturns, people, sessions } from './tables.ts'
import { stepOf, totpAt } from './totp.ts'

const password = 'correct horse'

function withGoogle(google: FakeGoogle, config: NonNullable<Parameters<typeof openTestApp>[0]>['config'] = {}) {
  return openTestApp({ config: { google: { ...google.client, issuer: google.url, gmailApiUrl: google.url }, ...config } })
}

/** A browser: it keeps the cookies it is sent and shows those whose path fits. */
class Browser {
  readonly #app: TestApp
  readonly #jar = new Map<string, { value: string; path: string }>()
  readonly sent: string[] = []

  constructor(app: TestApp) {
    this.#app = app
  }

  cookie(path: string): Record<string, string> {
    const fitting = [...this.#jar].filter(([, kept]) => path.startsWith(kept.path) && kept.value !== '')
    return fitting.length === 0 ? {} : { cookie: fitting.map(([name, { value }]) => `${name}=${value}`).join('; ') }
  }

  keep(header: string | string[] | number | undefined): void {
    for (const line of [header ?? []].flat().map(String)) {
      this.sent.push(line)
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? []
      this.#jar.set(name, { value, path: /Path=([^;]+)/.exec(line)?.[1] ?? '/' })
    }
  }

  /** Where an address sends it. */
  async visit(url: URL): Promise<URL> {
    const answered = await this.#app.app.inject({ method: 'GET', url: url.pathname + url.search, headers: this.cookie(url.pathname) })
    this.keep(answered.headers['set-cookie'])
    expect(answered.statusCode).toBe(303)
    return new URL(String(answered.headers.location), this.#app.deps.config.publicUrl)
  }

  /** From the button to the page that it comes back to. */
  async goToGoogle(google: FakeGoogle): Promise<URL> {
    const authorization = await this.visit(new URL('/auth/google', this.#app.deps.config.publicUrl))
    return this.visit(await google.visit(authorization.href))
  }

  async exchange(page: URL, extra: { timezone?: string; headers?: Record<string, string> } = {}) {
    const { headers, ...body } = extra
    const answered = await ask(
      this.#app,
      null,
      accountCalls.exchangeGoogleCode,
      { body: { code: page.searchParams.get('code') ?? '?', ...body } },
      { ...this.cookie('/auth/google/exchange'), ...headers },
    )
    this.keep(answered.headers['set-cookie'])
    return answered
  }
}

/** The whole way, and what the program says at its end. */
async function signInWithGoogle(app: TestApp, google: FakeGoogle) {
  const browser = new Browser(app)
  const page = await browser.goToGoogle(google)
  expect(page.pathname).toBe('/signin')
  return page.searchParams.has('error') ? { error: page.searchParams.get('error') } : browser.exchange(page)
}

async function link(app: TestApp, google: FakeGoogle, person: Person, code?: string) {
  const browser = new Browser(app)
  const started = await startLink(app, person, code)
  browser.keep(started.headers['set-cookie'])
  const page = await browser.visit(await google.visit(started.reply.url))
  expect(page.pathname).toBe('/dashboard/profile')
  return ask(
    app,
    person,
    accountCalls.linkGoogle,
    { body: { code: page.searchParams.get('code') ?? '?' } },
    browser.cookie('/auth/google/link'),
  )
}

const startLink = (app: TestApp, person: Person, code?: string) =>
  ask(app, person, accountCalls.startGoogleLink, { body: { currentPassword: password, ...(code === undefined ? {} : { code }) } })

/** Turns two-factor authentication on; answers what the authenticator shows from now on, each time a code that was not used yet. */
async function withAuthenticator(app: TestApp, person: Person): Promise<() => string> {
  const { reply } = await ask(app, person, accountCalls.startTwoFactor, { body: { currentPassword: password } })
  const shown = () => {
    app.clock.advance({ seconds: 30 })
    return totpAt(reply.secret, stepOf(app.clock.now()))
  }
  await ask(app, person, accountCalls.confirmTwoFactor, { body: { code: shown() } })
  return shown
}

const accountOf = async (app: TestApp, email: string) => (await app.db.select().from(people).where(eq(people.email, email)))[0]
const verify = (app: TestApp, person: Person) => changePerson(app, person, { emailVerifiedAt: app.clock.now() })

test('a new person signs up with Google', async () => {
  await using google = await openFakeGoogle()
  await using app = await withGoogle(google)
  const browser = new Browser(app)
  const page = await browser.goToGoogle(google)
  expect(page.href).toMatch(/^http:\/\/localhost:0\/signin\?code=[\w-]{43}$/)
  const { status, reply } = await browser.exchange(page, { timezone: 'Europe/London' })
  expect(status).toBe(200)
  expect(Object.keys(reply).sort()).toEqual(['accessToken', 'refreshToken', 'user'])
  expect(reply.refreshToken).toBe('cookie-based')
  expect(reply.user).toMatchObject({ displayName: 'Asha Rao', email: 'asha@gmail.com', googleId: google.person.sub })
  const asha = { token: reply.accessToken }
  expect((await ask(app, asha, accountCalls.profile)).reply).toMatchObject({ timezone: 'Europe/London', emailVerified: true })
  expect((await ask(app, null, accountCalls.refresh, undefined, browser.cookie('/auth/refresh'))).status).toBe(200)
  expect((await ask(app, asha, accountCalls.audit, { query: {} })).reply.map(({ text }) => text)).toEqual([
    'Signed in with Google.',
    'Account created.',
  ])
})

test('the server reports Google sign-in and requests identity scopes only', async () => {
  await using google = await openFakeGoogle()
  await using app = await withGoogle(google)
  expect((await ask(app, null, accountCalls.server)).reply.google).toBe(true)
  await signInWithGoogle(app, google)
  const [asked] = google.authorizations.map((url) => Object.fromEntries(url.searchParams))
  expect(asked).toMatchObject({
    client_id: google.client.clientId,
    response_type: 'code',
    scope: 'openid email profile',
    redirect_uri: 'http://localhost:0/auth/google/callback',
    code_challenge_method: 'S256',
  })
  for (const secret of [asked?.state, asked?.nonce, asked?.code_challenge]) expect(secret?.length).toBeGreaterThan(40)
})

test('without Google settings, Google sign-in answers an error', async () => {
  await using app = await openTestApp()
  expect((await ask(app, null, accountCalls.server)).reply.google).toBe(false)
  const page = await new Browser(app).visit(new URL('http://localhost/auth/google'))
  expect(page.pathname + page.search).toBe('/signin?error=google_not_configured')
  const asha = await aPerson(app, { password })
  const started = await ask(app, asha, accountCalls.startGoogleLink, { body: { currentPassword: password } })
  expect(started.problem?.code).toBe('not_ready')
})

test('the sign-in cookie is HttpOnly and scoped to Google sign-in', async () => {
  await using google = await openFakeGoogle()
  await using app = await withGoogle(google, { publicUrl: 'https://duely.example.com' })
  const browser = new Browser(app)
  await browser.goToGoogle(google)
  const rules = browser.sent.filter((line) => !line.includes('Expires=')).map((line) => line.split('; ').slice(1).sort())
  expect(rules).toEqual([
    ['HttpOnly', 'Max-Age=600', 'Path=/auth/google', 'SameSite=Lax', 'Secure'],
    ['HttpOnly', 'Max-Age=60', 'Path=/auth/google', 'SameSite=Lax', 'Secure'],
  ])
})

test('a returning person is identified by `sub`, not by email', async () => {
  await using google = await openFakeGoogle()
  await using app = await withGoogle(google)
  const first = await signInWithGoogle(app, google)
  google.person = { ...google.person, email: 'asha.rao@gmail.com', name: 'Somebody Else' }
  const second = await signInWithGoogle(app, google)
  expect('reply' in second && second.reply.user).toEqual('reply' in first && first.reply.user)
  expect(await app.db.select().from(accounts)).toHaveLength(1)
})

test('a reassigned email does not open the previous owner’s account', async () => {
  await using google = await openFakeGoogle()
  await using app = await withGoogle(google)
  await signInWithGoogle(app, google)
  google.person = { ...google.person, sub: '999' }
  const other = await signInWithGoogle(app, google)
  expect('problem' in other && other.problem?.code).toBe('email_taken')
  expect((await accountOf(app, 'asha@gmail.com'))?.googleSub).toBe('10769150350006150715113082367')
})

test.each<[string, Script]>([
  ['for another program', { claims: (right) => ({ ...right, aud: 'another.apps.example' }) }],
  ['of another issuer', { claims: (right) => ({ ...right, iss: 'https://accounts.evil.example' }) }],
  ['that has run out', { claims: (right) => ({ ...right, exp: Math.floor(Date.now() / 1000) - 3600 }) }],
  ['with another nonce', { claims: (right) => ({ ...right, nonce: 'another' }) }],
  ['without a nonce', { claims: ({ nonce: _nonce, ...right }) => right }],
  ['without a subject', { claims: ({ sub: _sub, ...right }) => right }],
  ['without an email', { claims: ({ email: _email, ...right }) => right }],
  ['without a signature', { signature: 'none' }],
  ['that a stranger signed', { signature: 'stranger' }],
  ['that a stranger signed in the name of Google', { signature: 'forged' }],
])('a token %s opens nothing', async (_what, script) => {
  await using google = await openFakeGoogle()
  await using app = await withGoogle(google)
  google.answer(script)
  expect(await signInWithGoogle(app, google)).toEqual({ error: 'google_failed' })
  expect(await app.db.select().from(accounts)).toEqual([])
  google.answer({})
  expect(await signInWithGoogle(app, google)).toMatchObject({ status: 200 })
})

test('an unverified Google email neither creates nor opens an account', async () => {
  await using google = await openFakeGoogle()
  await using app = await withGoogle(google)
  google.person.email_verified = false
  const refused = await signInWithGoogle(app, google)
  expect('problem' in refused && refused.problem?.code).toBe('google_failed')
  await verify(app, await aPerson(app, { email: 'asha@gmail.com', password }))
  const again = await signInWithGoogle(app, google)
  expect('problem' in again && again.problem?.code).toBe('google_failed')
  expect((await accountOf(app, 'asha@gmail.com'))?.googleSub).toBeNull()
})

test('a squatter of an email loses access once its owner signs in with Google', async () => {
  await using smtp = await openFakeSmtp()
  await using google = await openFakeGoogle()
  await using app = await withGoogle(google, { systemSmtpUrl: `smtp://127.0.0.1:${smtp.port}`, systemMailFrom: 'hello@duely.example' })
  // Even where the owner was tricked into opening the link of an email.
  const thief = await aPerson(app, { email: 'asha@gmail.com', password, confirmed: true })
  const key = await aKey(app, thief, undefined, null, { currentPassword: password })
  await ask(app, null, accountCalls.forgotPassword, { body: { email: 'asha@gmail.com' } })
  await app.runJobs()
  const letters = smtp.mails.map(({ raw }) => raw.toString().replace(/=\r\n/g, '')).join()
  const [, token = ''] = /#token=3?D?([\w-]+)/.exec(letters) ?? []
  expect(await signInWithGoogle(app, google)).toMatchObject({ status: 200 })
  expect((await ask(app, thief, accountCalls.profile)).status).toBe(401)
  expect((await ask(app, null, accountCalls.signIn, { body: { email: 'asha@gmail.com', password } })).status).toBe(401)
  expect((await ask(app, key, integrationCalls.me)).status).toBe(401)
  const late = await ask(app, null, accountCalls.resetPassword, { body: { token, newPassword: 'battery staple' } })
  expect(token).toHaveLength(43)
  expect(late.problem?.code).toBe('link_expired')
  await app.runJobs()
  expect(smtp.mails.map(({ subject }) => subject)).toContain('Google sign-in was linked to your Duely account')
})

test('a first sign-in with Google ends the programs of its person, not those of their team or the watched addresses', async () => {
  await using google = await openFakeGoogle()
  await using app = await withGoogle(google)
  const owner = await aPerson(app, { email: 'asha@gmail.com', password, confirmed: true })
  const admin = await aPerson(app)
  const { reply } = await ask(app, owner, teamCalls.invite, { body: { email: admin.email, role: 'admin', currentPassword: password } })
  await ask(app, admin, teamCalls.acceptInvitation, { body: { token: reply.link.split('#token=')[1] ?? '' } })
  const within = { [businessHeader]: owner.id }
  const made = await ask(app, admin, integrationCalls.addKey, { body: { name: 'Ledger', scopes: ['read', 'write'] } }, within)
  const hook = { url: 'https://hooks.example.com/', events: ['invoice.paid' as const] }
  await ask(app, admin, integrationCalls.addWebhook, { body: hook }, within)
  const books = { url: 'https://books.example.com/open.csv', name: 'Books', currentPassword: password }
  await ask(app, owner, sourceCalls.create, { body: books })
  const key = await aKey(app, owner, undefined, null, { currentPassword: password })
  expect(await signInWithGoogle(app, google)).toMatchObject({ status: 200 })
  const left = {
    own: (await ask(app, key, integrationCalls.me)).status,
    theirs: (await ask(app, { token: made.reply.key }, integrationCalls.me)).status,
    hooks: (await ask(app, admin, integrationCalls.webhooks, {}, within)).reply.length,
    sources: (await ask(app, admin, sourceCalls.list, {}, within)).reply.length,
  }
  expect(left).toEqual({ own: 401, theirs: 200, hooks: 1, sources: 1 })
})

test('an account whose email was never confirmed is taken over by Google sign-in where the server sends links', async () => {
  await using google = await openFakeGoogle()
  await using app = await withGoogle(google, { systemSmtpUrl: 'smtp://127.0.0.1:1', systemMailFrom: 'hello@duely.example' })
  const thief = await aPerson(app, { email: 'asha@gmail.com', password, displayName: 'Our bank has changed' })
  await withAuthenticator(app, thief)
  const taken = await signInWithGoogle(app, google)
  expect(taken).toMatchObject({ status: 200, reply: { removed: ['display_name', 'two_factor'] } })
  expect((await ask(app, thief, accountCalls.profile)).status).toBe(401)
  expect(await accountOf(app, 'asha@gmail.com')).toMatchObject({
    displayName: 'Asha Rao',
    passwordHash: null,
    googleSub: google.person.sub,
  })
})

test('on a server without email, Google sign-in does not take over an account', async () => {
  await using google = await openFakeGoogle()
  await using app = await withGoogle(google)
  await aPerson(app, { email: 'asha@gmail.com', password })
  const refused = await signInWithGoogle(app, google)
  expect('problem' in refused && refused.problem).toEqual({
    code: 'email_taken',
    message: 'An account with this email already exists. Please sign in with your password, then link Google on your profile.',
    errors: [{ path: 'email', message: expect.any(String) }],
  })
  expect((await accountOf(app, 'asha@gmail.com'))?.googleSub).toBeNull()
})

test('a Google account with a foreign mailbox is not linked automatically', async () => {
  await using google = await openFakeGoogle()
  await using app = await withGoogle(google)
  google.person.email = 'asha@firm.example'
  await verify(app, await aPerson(app, { email: 'asha@firm.example', password }))
  const refused = await signInWithGoogle(app, google)
  expect('problem' in refused && refused.problem?.code).toBe('email_taken')
  google.person.hd = 'firm.example'
  expect(await signInWithGoogle(app, google)).toMatchObject({ status: 200 })
})

test('a code works once, in the same browser, for a minute', async () => {
  await using google = await openFakeGoogle()
  await using app = await withGoogle(google)
  const browser = new Browser(app)
  const page = await browser.goToGoogle(google)
  expect((await new Browser(app).exchange(page)).problem?.code).toBe('google_failed')
  const headers = browser.cookie('/auth/google/exchange')
  expect((await browser.exchange(page)).status).toBe(200)
  expect((await browser.exchange(page, { headers })).problem?.code).toBe('google_failed')
  const late = await browser.goToGoogle(google)
  app.clock.advance({ seconds: 60 })
  expect((await browser.exchange(late)).problem?.code).toBe('google_failed')
  await pruneReturns(app.db, app.clock.now())
  expect(await app.db.select().from(googleReturns)).toEqual([])
})

test('replayed returns from Google are rate limited before Google is called', async () => {
  await using google = await openFakeGoogle()
  await using app = await withGoogle(google, { rateLimit: true })
  const browser = new Browser(app)
  const authorization = await browser.visit(new URL('/auth/google', app.deps.config.publicUrl))
  const headers = browser.cookie('/auth/google/callback')
  const back = await google.visit(authorization.href)
  const places: string[] = []
  for (let n = 0; n < 61; n += 1) {
    const answered = await app.app.inject({ method: 'GET', url: back.pathname + back.search, headers })
    places.push(new URL(String(answered.headers.location)).search.replace(/=.{43}$/, ''))
  }
  expect(places[0]).toBe('?code')
  expect(new Set(places.slice(1, -1))).toEqual(new Set(['?error=google_failed']))
  expect(places.at(-1)).toBe('?error=too_many')
  app.clock.advance({ minutes: 11 })
  expect((await new Browser(app).goToGoogle(google)).search).toContain('?code=')
})

test('a page of another site cannot sign in', async () => {
  await using google = await openFakeGoogle()
  await using app = await withGoogle(google)
  const browser = new Browser(app)
  const page = await browser.goToGoogle(google)
  const foreign = await browser.exchange(page, { headers: { 'sec-fetch-site': 'cross-site', origin: 'https://evil.example' } })
  expect(foreign.problem?.code).toBe('not_allowed')
})

test('a late answer of Google, or one for another browser, is refused', async () => {
  await using google = await openFakeGoogle()
  await using app = await withGoogle(google)
  const [thief, victim] = [new Browser(app), new Browser(app)]
  const start = new URL('/auth/google', 'http://localhost')
  const cameBack = await google.visit((await thief.visit(start)).href)
  expect((await new Browser(app).visit(cameBack)).search).toBe('?error=google_failed')
  await victim.visit(start)
  expect((await victim.visit(cameBack)).search).toBe('?error=google_failed')
  const late = new Browser(app)
  const tooLate = await google.visit((await late.visit(start)).href)
  app.clock.advance({ minutes: 10 })
  expect((await late.visit(tooLate)).search).toBe('?error=google_failed')
})

test('declining at Google, and Google being down, each show an error', async () => {
  await using google = await openFakeGoogle()
  await using app = await withGoogle(google)
  google.answer({ all: { status: 503 } })
  const away = await new Browser(app).visit(new URL('/auth/google', 'http://localhost'))
  expect(away.search).toBe('?error=google_unreachable')
  google.answer({ denies: true })
  expect(await signInWithGoogle(app, google)).toEqual({ error: 'access_denied' })
  google.answer({ token: () => ({ status: 503 }) })
  expect(await signInWithGoogle(app, google)).toEqual({ error: 'google_unreachable' })
  google.answer({ token: () => 'reset' })
  expect(await signInWithGoogle(app, google)).toEqual({ error: 'google_unreachable' })
})

test('linking Google on the profile makes it the only sign-in', async () => {
  await using google = await openFakeGoogle()
  await using app = await withGoogle(google)
  const asha = await aPerson(app, { email: 'asha@firm.example', password })
  const elsewhere = await ask(app, null, accountCalls.signIn, { body: { email: asha.email, password } })
  const linked = await link(app, google, asha)
  expect(linked.reply).toMatchObject({ email: asha.email, googleId: google.person.sub, emailVerified: false })
  expect((await ask(app, asha, accountCalls.profile)).status).toBe(200)
  expect((await ask(app, { token: elsewhere.reply.accessToken }, accountCalls.profile)).status).toBe(401)
  expect((await ask(app, null, accountCalls.signIn, { body: { email: asha.email, password } })).status).toBe(401)
  const signedIn = await signInWithGoogle(app, google)
  expect('reply' in signedIn && signedIn.reply.user._id).toBe(String(asha.personId))
  const change = await ask(app, asha, accountCalls.changeProfile, { body: { email: 'new@example.com', currentPassword: password } })
  expect(change.problem?.code).toBe('not_allowed')
  const again = await ask(app, asha, accountCalls.startGoogleLink, { body: { currentPassword: password } })
  expect(again.problem?.code).toBe('conflict')
})

test('linking Google needs the second factor', async () => {
  await using google = await openFakeGoogle()
  await using app = await withGoogle(google)
  const asha = await aPerson(app, { email: 'asha@gmail.com', password })
  await verify(app, asha)
  const shown = await withAuthenticator(app, asha)
  // A thief of the Google account.
  const stranger = await signInWithGoogle(app, google)
  expect('problem' in stranger && stranger.problem?.code).toBe('email_taken')
  // A thief of a session and the password.
  for (const code of [undefined, '000000']) expect((await startLink(app, asha, code)).problem?.errors?.[0]?.path).toBe('code')
  expect((await ask(app, asha, accountCalls.profile)).reply.twoFactor).not.toBeNull()
  const linked = await link(app, google, asha, shown())
  expect(linked.reply).toMatchObject({ googleId: google.person.sub, twoFactor: null })
  expect(await signInWithGoogle(app, google)).toMatchObject({ status: 200 })
})

test('linking needs the password, and a Google account belongs to one account', async () => {
  await using google = await openFakeGoogle()
  await using app = await withGoogle(google)
  const [asha, meera] = [await aPerson(app, { password }), await aPerson(app, { password })]
  const wrong = await ask(app, asha, accountCalls.startGoogleLink, { body: { currentPassword: 'wrong horse' } })
  expect(wrong.problem?.code).toBe('wrong_password')
  expect((await link(app, google, asha)).status).toBe(200)
  expect((await link(app, google, meera)).problem?.code).toBe('conflict')
})

test('of two accounts linking one Google account concurrently, one gets a conflict', async () => {
  await using google = await openFakeGoogle()
  await using app = await withGoogle(google)
  const ready = []
  for (const person of [await aPerson(app, { password }), await aPerson(app, { password })]) {
    const browser = new Browser(app)
    const started = await startLink(app, person)
    browser.keep(started.headers['set-cookie'])
    const code = (await browser.visit(await google.visit(started.reply.url))).searchParams.get('code') ?? '?'
    ready.push({ person, code, headers: browser.cookie('/auth/google/link') })
  }
  const answers = await Promise.all(
    ready.map(({ person, code, headers }) => ask(app, person, accountCalls.linkGoogle, { body: { code } }, headers)),
  )
  expect(answers.map(({ status }) => status).sort()).toEqual([200, 409])
})

test('codes for sign-in and for linking are not interchangeable, nor usable for another account', async () => {
  await using google = await openFakeGoogle()
  await using app = await withGoogle(google)
  const [asha, meera] = [await aPerson(app, { password }), await aPerson(app, { password })]
  const browser = new Browser(app)
  const signingIn = (await browser.goToGoogle(google)).searchParams.get('code') ?? '?'
  const crossed = await ask(app, asha, accountCalls.linkGoogle, { body: { code: signingIn } }, browser.cookie('/auth/google/link'))
  expect(crossed.problem?.code).toBe('google_failed')
  for (const finish of [
    (page: URL) => browser.exchange(page),
    (page: URL) =>
      ask(
        app,
        meera,
        accountCalls.linkGoogle,
        { body: { code: page.searchParams.get('code') ?? '?' } },
        browser.cookie('/auth/google/link'),
      ),
  ]) {
    const started = await ask(app, asha, accountCalls.startGoogleLink, { body: { currentPassword: password } })
    browser.keep(started.headers['set-cookie'])
    expect((await finish(await browser.visit(await google.visit(started.reply.url)))).problem?.code).toBe('google_failed')
  }
  expect((await app.db.select().from(people)).map(({ googleSub }) => googleSub)).toEqual([null, null])
})

/** From the profile to Google and back, and with a new password in hand. */
async function unlink(app: TestApp, google: FakeGoogle, token: string, newPassword: string, browser = new Browser(app)) {
  const started = await ask(app, { token }, accountCalls.startGoogleUnlink)
  if (started.problem) return started
  browser.keep(started.headers['set-cookie'])
  const page = await browser.visit(await google.visit(started.reply.url))
  const code = page.searchParams.get('code') ?? '?'
  app.clock.advance({ minutes: 9 })
  const send = (password: string) =>
    ask(app, { token }, accountCalls.unlinkGoogle, { body: { code, newPassword: password } }, browser.cookie('/auth/google/unlink'))
  // A password that is too short does not use the way to Google up.
  expect((await send('abc')).problem?.errors?.[0]?.path).toBe('newPassword')
  return send(newPassword)
}

test('unlinking Google needs a fresh Google sign-in and a new password', async () => {
  await using google = await openFakeGoogle()
  await using app = await withGoogle(google)
  const [one, other] = [await signInWithGoogle(app, google), await signInWithGoogle(app, google)]
  const [token, elsewhere] = [one, other].map((answered) => ('reply' in answered ? answered.reply.accessToken : ''))
  const answered = await unlink(app, google, token ?? '', 'lotus staple monsoon')
  expect(answered.status).toBe(200)
  expect((await ask(app, { token: token ?? '' }, accountCalls.profile)).reply.googleId).toBeUndefined()
  expect((await ask(app, { token: elsewhere ?? '' }, accountCalls.profile)).status).toBe(401)
  const credentials = { email: 'asha@gmail.com', password: 'lotus staple monsoon' }
  expect((await ask(app, null, accountCalls.signIn, { body: credentials })).status).toBe(200)
  expect((await ask(app, { token: token ?? '' }, accountCalls.audit, { query: {} })).reply.map(({ text }) => text)).toContain(
    'Google sign-in unlinked; password sign-in re-enabled.',
  )
  expect((await unlink(app, google, token ?? '', 'lotus staple monsoon')).problem?.code).toBe('conflict')
})

test('a fresh return from Google proves who it is, another Google account does not', async () => {
  await using google = await openFakeGoogle()
  await using app = await withGoogle(google)
  const browser = new Browser(app)
  const { reply } = await browser.exchange(await browser.goToGoogle(google))
  const asha = { token: reply.accessToken }
  const prove = async () => {
    const started = await ask(app, asha, accountCalls.startGoogleUnlink)
    browser.keep(started.headers['set-cookie'])
    const back = await browser.visit(await google.visit(started.reply.url))
    const code = back.searchParams.get('code') ?? ''
    return ask(app, asha, accountCalls.reauthenticateWithGoogle, { body: { code } }, browser.cookie('/auth/google/reauthenticate'))
  }
  // The access token lasts as long as the proof.
  await app.db.update(sessions).set({ createdAt: app.clock.now().subtract({ minutes: 20 }) })
  expect((await ask(app, asha, accountCalls.deleteMe)).problem?.code).toBe('recent_sign_in_needed')
  const own = google.person
  google.person = { ...own, sub: '999' }
  expect((await prove()).problem?.code).toBe('google_failed')
  google.person = own
  expect((await prove()).status).toBe(204)
  expect((await ask(app, asha, accountCalls.deleteMe)).status).toBe(204)
})

test('another Google account, and a code from a link that was begun, unlink nothing', async () => {
  await using google = await openFakeGoogle()
  await using app = await withGoogle(google)
  const signedIn = await signInWithGoogle(app, google)
  const token = 'reply' in signedIn ? signedIn.reply.accessToken : ''
  google.person = { ...google.person, sub: 'somebody-else', email: 'thief@gmail.com' }
  expect((await unlink(app, google, token, 'lotus staple monsoon')).problem?.code).toBe('google_failed')
  const page = await new Browser(app).goToGoogle(google)
  const body = { code: page.searchParams.get('code') ?? '?', newPassword: 'lotus staple monsoon' }
  expect((await ask(app, { token }, accountCalls.unlinkGoogle, { body })).problem?.code).toBe('google_failed')
  expect((await ask(app, { token }, accountCalls.profile)).reply.googleId).toBeDefined()
})
