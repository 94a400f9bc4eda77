import { randomBytes } from 'node:crypto'
import { type Application, challengeOf } from '#test/programs.ts'
import { type Answered, Browser } from './browser.ts'

export const zapier: Application = {
  id: 'duely-for-zapier',
  secret: 'a-secret-of-zapier-alone',
  redirectUri: 'https://zapier.com/dashboard/auth/oauth/return/App1CLIAPI/',
}
export const zapierEnv = {
  ZAPIER_CLIENT_ID: zapier.id,
  ZAPIER_CLIENT_SECRET: zapier.secret ?? '',
  ZAPIER_REDIRECT_URIS: zapier.redirectUri,
}

/** Parameters of a request; those that are undefined are left out. */
type Parameters = Record<string, string | undefined>
const encoded = (given: Parameters) =>
  new URLSearchParams(Object.entries(given).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]]))).toString()

/** Opens the authorization endpoint; `over` changes the parameters of a valid request. */
export function authorize(browser: Browser, { id, redirectUri }: Application, over: Parameters = {}): Promise<Answered> {
  const valid = { client_id: id, redirect_uri: redirectUri, response_type: 'code', state: 'a state', scope: 'read write' }
  return browser.ask(`GET /oauth/authorize?${encoded({ ...valid, ...over })}`)
}

/** The parameters of the consent page. */
export function consentOf({ headers }: Answered): { request: string; redirect_uri: string; state: string } {
  const query = new URL(headers.get('location') ?? '/', 'http://localhost').searchParams
  return { request: query.get('request') ?? '', redirect_uri: query.get('redirect_uri') ?? '', state: query.get('state') ?? '' }
}

export const allow = (browser: Browser, body: object) => browser.ask('POST /oauth/login/callback?json=true', { body })

export interface Grant {
  code: string
  verifier: string
}

/** The user allows an application. */
export async function grant(browser: Browser, application: Application, over: Parameters = {}): Promise<Grant> {
  const verifier = randomBytes(32).toString('base64url')
  const pkce = { code_challenge: challengeOf(verifier), code_challenge_method: 'S256' }
  const allowed = await allow(browser, consentOf(await authorize(browser, application, { ...pkce, ...over })))
  if (allowed.status !== 200) throw new Error(`Allowing ${application.id}: ${allowed.status} ${allowed.text}`)
  return { code: new URL((allowed.body as { redirect: string }).redirect).searchParams.get('code') ?? '', verifier }
}

interface Tokens {
  access_token: string
  refresh_token: string
  error?: string
}

/** A request to the token endpoint, with the client's secret. */
export async function requestTokens(
  url: string,
  { id, secret }: Application,
  given: Parameters,
): Promise<{ status: number; tokens: Tokens }> {
  const { status, body } = await new Browser(url).ask('POST /oauth/token', {
    raw: encoded({ client_id: id, client_secret: secret ?? undefined, ...given }),
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
  })
  return { status, tokens: body as Tokens }
}

export const byCode = ({ redirectUri }: Application, { code, verifier }: Grant) => ({
  grant_type: 'authorization_code',
  code,
  redirect_uri: redirectUri,
  code_verifier: verifier,
})
export const byRefresh = (token: string) => ({ grant_type: 'refresh_token', refresh_token: token })

/** The tokens of an application that the user allowed. */
export async function connect(browser: Browser, application: Application, scope = 'read write'): Promise<Tokens> {
  const granted = await grant(browser, application, { scope })
  const { status, tokens } = await requestTokens(browser.url, application, byCode(application, granted))
  if (status !== 200) throw new Error(`Connecting ${application.id}: ${status} ${tokens.error}`)
  return tokens
}

/** How many of these access tokens are valid. */
export async function countValid(url: string, tokens: string[]): Promise<number> {
  const answers = await Promise.all(tokens.map((token) => new Browser(url, token).ask('GET /api/me')))
  return answers.filter(({ status }) => status === 200).length
}
