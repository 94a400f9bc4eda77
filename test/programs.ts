import { createHash, randomBytes } from 'node:crypto'
import type { Proof } from '#contract/accounts.ts'
import type { Scope } from '#contract/integrations.ts'
import { integrationCalls } from '#contract/integrations.ts'
import { registerOauthClient } from '#server/integrations/integrations.ts'
import { type Asker, ask, type TestApp } from './harness.ts'

/** An OAuth app. */
export interface Application {
  id: string
  /** null for a public client. */
  secret: string | null
  redirectUri: string
}

/** Zapier as configured in the environment: `openTestApp({ config: { zapier } })`. */
export const zapier = {
  clientId: 'duely-for-zapier',
  clientSecret: 'a secret: of+Zapier%20alone',
  redirectUris: ['https://zapier.com/dashboard/auth/oauth/return/App1CLIAPI/'],
}

export const zapierItself: Application = {
  id: zapier.clientId,
  secret: zapier.clientSecret,
  redirectUri: zapier.redirectUris[0] ?? '',
}

/** An OAuth app that the operator registered. */
export async function anApplication(
  app: TestApp,
  about: { name?: string; redirectUri?: string; kind?: 'confidential' | 'public' } = {},
): Promise<Application> {
  const { name = 'Ledger Robot', redirectUri = 'https://robot.example/back?from=duely', kind = 'confidential' } = about
  const { id, secret } = await registerOauthClient(app.db, { name, redirectUris: [redirectUri], kind }, app.clock.now())
  return { id, secret, redirectUri }
}

/** S256 of RFC 7636. */
export function challengeOf(verifier: string): string {
  return createHash('sha256').update(verifier).digest('base64url')
}

/** Requests consent in a browser; `over` changes the parameters of a valid request and removes undefined ones. */
export async function authorize(app: TestApp, { id, redirectUri }: Application, over: Record<string, string | undefined> = {}) {
  const good = { client_id: id, redirect_uri: redirectUri, response_type: 'code', state: 'a state', scope: 'read write', ...over }
  const query = new URLSearchParams(Object.entries(good).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])))
  return app.app.inject({ method: 'GET', url: `/oauth/authorize?${query}` })
}

/** The parameters of the consent page. */
export function broughtBy(location: string): { request: string; redirect_uri: string; state: string } {
  const asked = new URL(location).searchParams
  return { request: asked.get('request') ?? '', redirect_uri: asked.get('redirect_uri') ?? '', state: asked.get('state') ?? '' }
}

/** Requests consent and accepts it: the redirect address, and the PKCE verifier. */
export async function permit(app: TestApp, someone: Asker, application: Application, over: Record<string, string | undefined> = {}) {
  const verifier = randomBytes(32).toString('base64url')
  const pkce = { code_challenge: challengeOf(verifier), code_challenge_method: 'S256' }
  const asked = await authorize(app, application, { ...pkce, ...over })
  const body = broughtBy(String(asked.headers.location))
  const { reply, problem } = await ask(app, someone, integrationCalls.allow, { query: { json: 'true' }, body })
  if (problem) throw new Error(problem.message)
  const back = new URL(reply.redirect)
  return { back, code: back.searchParams.get('code') ?? '', verifier }
}

interface Tokens {
  access_token: string
  refresh_token: string
  token_type: string
  expires_in: number
  scope: string
  error: string
  error_description: string
}

/** Posts a form to /oauth/token, with the secret in the body unless `headers` authenticate. */
export async function trade(
  app: TestApp,
  { id, secret }: Application,
  given: Record<string, string>,
  headers: Record<string, string> = {},
  url = '/oauth/token',
) {
  const who = headers.authorization ? {} : { client_id: id, ...(secret === null ? {} : { client_secret: secret }) }
  const answered = await app.app.inject({
    method: 'POST',
    url,
    headers: { 'content-type': 'application/x-www-form-urlencoded', ...headers },
    payload: new URLSearchParams({ ...who, ...given }).toString(),
  })
  return { status: answered.statusCode, headers: answered.headers, body: answered.json<Tokens>() }
}

/** Exchanges a code for tokens. */
export async function tradeCode(app: TestApp, application: Application, { code, verifier }: { code: string; verifier: string }) {
  const given = { grant_type: 'authorization_code', code, redirect_uri: application.redirectUri, code_verifier: verifier }
  return trade(app, application, given)
}

export async function refresh(app: TestApp, application: Application, refreshToken: string, more: Record<string, string> = {}) {
  return trade(app, application, { grant_type: 'refresh_token', refresh_token: refreshToken, ...more })
}

/** An OAuth app with a grant and its tokens. `token` is the access token. */
export async function connect(app: TestApp, someone: Asker, application: Application, scopes: Scope[] = ['read', 'write']) {
  const permitted = await permit(app, someone, application, { scope: scopes.join(' ') })
  const { status, body } = await tradeCode(app, application, permitted)
  if (status !== 200) throw new Error(`${body.error}: ${body.error_description}`)
  return { token: body.access_token, refreshToken: body.refresh_token, code: permitted.code }
}

/** An API key; `token` is the key itself. */
export async function aKey(
  app: TestApp,
  someone: Asker,
  scopes: Scope[] = ['read', 'write'],
  expiresInDays: number | null = null,
  proof: Proof = {},
) {
  const body = { name: 'Nightly job', scopes, expiresInDays, ...proof }
  const { reply, problem } = await ask(app, someone, integrationCalls.addKey, { body })
  if (problem) throw new Error(problem.message)
  return { token: reply.key, id: reply._id }
}
