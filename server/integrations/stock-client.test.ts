import {
  AuthorizationResponseError,
  allowInsecureRequests,
  authorizationCodeGrant,
  buildAuthorizationUrl,
  type ClientAuth,
  ClientSecretBasic,
  ClientSecretPost,
  calculatePKCECodeChallenge,
  discovery,
  fetchProtectedResource,
  None,
  randomPKCECodeVerifier,
  randomState,
  refreshTokenGrant,
  tokenRevocation,
} from 'openid-client'
import { expect, test } from 'vitest'
import { integrationCalls } from '#contract/integrations.ts'
import { aPerson, type Person } from '#test/factories.ts'
import { ask, openTestApp, type TestApp } from '#test/harness.ts'
import { freePort } from '#test/program.ts'
import { type Application, anApplication, broughtBy, zapier, zapierItself } from '#test/programs.ts'

/** The program where a third-party client can reach it, over HTTP. */
async function openAtAnAddress(): Promise<{ app: TestApp; address: string } & AsyncDisposable> {
  const port = await freePort()
  const address = `http://127.0.0.1:${port}`
  const app = await openTestApp({ config: { zapier, publicUrl: address } })
  await app.app.listen({ port, host: '127.0.0.1' })
  return { app, address, [Symbol.asyncDispose]: () => app[Symbol.asyncDispose]() }
}

/** A browser that follows redirects and allows or refuses on the consent page. Returns the address that the app gets back. */
async function answerConsent(app: TestApp, someone: Person, url: URL, word: 'yes' | 'no'): Promise<URL> {
  const sent = await fetch(url, { redirect: 'manual' })
  expect(sent.status).toBe(303)
  const brought = broughtBy(sent.headers.get('location') ?? '')
  const { refuseUrl } = (await ask(app, someone, integrationCalls.consent, { query: brought })).reply
  if (word === 'no') return new URL(refuseUrl)
  return new URL((await ask(app, someone, integrationCalls.allow, { query: { json: 'true' }, body: brought })).reply.redirect)
}

const redirectUri = 'https://robot.example/back'
const applications: [what: string, application: (app: TestApp) => Promise<Application>, by: (secret: string) => ClientAuth][] = [
  ['Zapier, with its secret in the body', async () => zapierItself, ClientSecretPost],
  ['an application with its secret in a header', (app) => anApplication(app, { redirectUri }), ClientSecretBasic],
  ['an application without a secret', (app) => anApplication(app, { kind: 'public', redirectUri }), None],
]

test.each(applications)('a stock client gets through unaided: %s', async (_what, application, by) => {
  await using office = await openAtAnAddress()
  const { app, address } = office
  const asha = await aPerson(app)
  const { id, secret, redirectUri } = await application(app)
  const client = await discovery(new URL(address), id, undefined, by(secret ?? ''), {
    algorithm: 'oauth2',
    execute: [allowInsecureRequests],
  })
  const [state, verifier] = [randomState(), randomPKCECodeVerifier()]
  const url = buildAuthorizationUrl(client, {
    redirect_uri: redirectUri,
    scope: 'read write',
    state,
    code_challenge: await calculatePKCECodeChallenge(verifier),
    code_challenge_method: 'S256',
  })
  const back = await answerConsent(app, asha, url, 'yes')
  const tokens = await authorizationCodeGrant(client, back, { expectedState: state, pkceCodeVerifier: verifier })
  expect(tokens.expires_in).toBe(3600)
  const me = async (token: string) => {
    const answered = await fetchProtectedResource(client, token, new URL(`${address}/api/me`), 'GET')
    return (await answered.json()) as unknown
  }
  expect(await me(tokens.access_token)).toMatchObject({ email: asha.email })
  const renewed = await refreshTokenGrant(client, tokens.refresh_token ?? '')
  expect(await me(renewed.access_token)).toMatchObject({ email: asha.email })
  await tokenRevocation(client, renewed.refresh_token ?? '')
  await expect(me(renewed.access_token)).rejects.toThrow()
  await expect(refreshTokenGrant(client, renewed.refresh_token ?? '')).rejects.toMatchObject({ error: 'invalid_grant' })
})

test('a stock client handles a refusal', async () => {
  await using office = await openAtAnAddress()
  const { app, address } = office
  const asha = await aPerson(app)
  const client = await discovery(new URL(address), zapier.clientId, undefined, ClientSecretPost(zapier.clientSecret), {
    algorithm: 'oauth2',
    execute: [allowInsecureRequests],
  })
  const state = randomState()
  const url = buildAuthorizationUrl(client, { redirect_uri: zapierItself.redirectUri, scope: 'read', state })
  const back = await answerConsent(app, asha, url, 'no')
  const refused = authorizationCodeGrant(client, back, { expectedState: state })
  await expect(refused).rejects.toBeInstanceOf(AuthorizationResponseError)
  await expect(refused).rejects.toMatchObject({ error: 'access_denied' })
})
