import type { FastifyReply, FastifyRequest } from 'fastify'
import { z } from 'zod'
import { scope } from '#contract/integrations.ts'
import { screens } from '#contract/screens.ts'
import { addressKey, countTry, takeBackGuess } from '#server/accounts/throttle.ts'
import { type App, problemOf } from '#server/platform/answer.ts'
import { readForm } from '#server/platform/body.ts'
import type { Instant } from '#server/platform/clock.ts'
import type { Deps } from '#server/platform/deps.ts'
import { ProblemError } from '#server/platform/problem-error.ts'
import { hashToken, sameText } from '#server/platform/secrets.ts'
import { keepRequest, returnTo } from './consent.ts'
import { findOauthClient, type OauthClient } from './oauth-clients.ts'
import { exchange, OauthError, readScopes, revokeToken } from './provider.ts'
import { texts } from './texts.ts'

const paths = {
  authorize: '/oauth/authorize',
  token: '/oauth/token',
  revoke: '/oauth/revoke',
  metadata: '/.well-known/oauth-authorization-server',
}
const grantTypes = ['authorization_code', 'refresh_token']
/** Wrong secrets of one client from one address. Right ones count only while they are being checked. */
const wrongSecrets = { limit: 60, seconds: 600 }

/**
 * An OAuth 2 provider for standard clients: authorization code with PKCE (RFC 6749, 7636, 9700), refresh, revocation (RFC 7009), metadata
 * (RFC 8414). These routes are not in the contract, because their shapes are fixed by the standards.
 */
export async function oauthRoutes(app: App, deps: Deps): Promise<void> {
  const { clock, config } = deps
  const { publicUrl } = config

  app.get(paths.metadata, { schema: { summary: 'The metadata of the OAuth provider.' } }, async (_request, reply) =>
    reply.header('cache-control', 'public, max-age=3600').send({
      issuer: publicUrl,
      authorization_endpoint: publicUrl + paths.authorize,
      token_endpoint: publicUrl + paths.token,
      revocation_endpoint: publicUrl + paths.revoke,
      scopes_supported: scope.options,
      response_types_supported: ['code'],
      response_modes_supported: ['query'],
      grant_types_supported: grantTypes,
      token_endpoint_auth_methods_supported: ['client_secret_basic', 'client_secret_post', 'none'],
      revocation_endpoint_auth_methods_supported: ['client_secret_basic', 'client_secret_post', 'none'],
      code_challenge_methods_supported: ['S256'],
      authorization_response_iss_parameter_supported: true,
    }),
  )

  app.get(paths.authorize, { schema: { summary: 'Ask a person for access to their account.' } }, async (request, reply) => {
    const now = clock.now()
    const { given, repeated } = readParameters(request.query)
    const client = given.client_id === undefined ? null : await findOauthClient(deps, given.client_id)
    const redirectUri = given.redirect_uri
    // The address is not the client's, so redirecting there would be an open redirect.
    if (!client) return refuseOpenly(request, reply, texts.consent.unknownApp)
    if (redirectUri === undefined || !client.redirectUris.includes(redirectUri))
      return refuseOpenly(request, reply, `${client.name} has not registered this redirect address.`)
    const state = given.state ?? null
    const goTo = (address: string) => reply.header('cache-control', 'no-store').redirect(address, 303)
    try {
      const codeChallenge = readChallenge(client, given, repeated)
      const scopes = readScopes(given.scope)
      const sealed = keepRequest(config.secretKey, client.id, { redirectUri, state, scopes, codeChallenge }, now)
      const asked = new URLSearchParams({ redirect_uri: redirectUri, state: state ?? '', request: sealed })
      return goTo(`${publicUrl}${screens.oauthConsent}?${asked}`)
    } catch (error) {
      if (!(error instanceof OauthError)) throw error
      return goTo(returnTo({ redirectUri, state }, publicUrl, explain(error, request)))
    }
  })

  await app.register((programs, _options, done) => {
    // Only here: elsewhere a form from another site must not be accepted.
    programs.addContentTypeParser(
      'application/x-www-form-urlencoded',
      { parseAs: 'string' },
      async (_request: FastifyRequest, body: string) => Object.fromEntries(readForm(body)),
    )
    programs.setErrorHandler((error, request, reply) => {
      if (error instanceof ProblemError && error.retryAfter !== undefined) reply.header('retry-after', error.retryAfter)
      const status = statusOf(error, request)
      if (status === 500) request.log.error({ err: error }, 'A call failed.')
      // RFC 6749, 5.2.
      if (status === 401) reply.header('www-authenticate', 'Basic realm="Duely"')
      return reply.status(status).headers(uncached).send(explain(error, request))
    })

    programs.post(paths.token, { schema: { summary: 'Exchange a code or a refresh token for tokens.' } }, async (request, reply) => {
      const { given, client } = await authenticateClient(deps, request, clock.now())
      if (given.grant_type === undefined) throw new OauthError('invalid_request', 'Send grant_type.')
      if (!grantTypes.includes(given.grant_type))
        throw new OauthError('unsupported_grant_type', `Send a grant_type of ${grantTypes.join(' or ')}.`)
      const tokens = await exchange(deps, client, given, clock.now())
      if (tokens instanceof OauthError) throw tokens
      return reply.headers(uncached).send(tokens)
    })

    programs.post(paths.revoke, { schema: { summary: 'Revoke a token.' } }, async (request, reply) => {
      const { given, client } = await authenticateClient(deps, request, clock.now())
      if (given.token === undefined) throw new OauthError('invalid_request', 'Send the token.')
      await revokeToken(deps.db, client, given.token, clock.now())
      return reply.headers(uncached).send({})
    })
    done()
  })
}

const uncached = { 'cache-control': 'no-store', pragma: 'no-cache' }

/** Each parameter once; an empty one counts as omitted (RFC 6749, 3.1 and 3.2). */
function readParameters(from: unknown): { given: Record<string, string>; repeated: string | null } {
  const read = z.record(z.string(), z.union([z.string(), z.array(z.string())])).safeParse(from ?? {})
  if (!read.success) throw new OauthError('invalid_request', 'Every parameter is a text.')
  const all = Object.entries(read.data).map(([name, value]) => [name, [value].flat()] as const)
  return {
    given: Object.fromEntries(all.flatMap(([name, values]) => (values.length === 1 && values[0] ? [[name, values[0]]] : []))),
    repeated: all.find(([, values]) => values.length > 1)?.[0] ?? null,
  }
}

/** Checks an authorization request, apart from its scopes, and returns its PKCE challenge; null without one. */
function readChallenge(client: OauthClient, given: Record<string, string>, repeated: string | null): string | null {
  const wrong = (why: string) => new OauthError('invalid_request', why)
  if (repeated !== null) throw wrong(`Send ${repeated} once`)
  if (given.response_type === undefined) throw wrong('Send response_type=code')
  if (given.response_type !== 'code') throw new OauthError('unsupported_response_type', 'Only response_type=code is supported')
  if ((given.response_mode ?? 'query') !== 'query') throw wrong('Only response_mode=query is supported')
  const { state, code_challenge: challenge, code_challenge_method: method } = given
  if (state !== undefined && (state.length > 2_000 || !/^[\x20-\x7e]*$/.test(state)))
    throw wrong('Send a state of at most 2,000 printable ASCII characters')
  if (challenge === undefined) {
    if (method !== undefined) throw wrong('A code_challenge_method goes with a code_challenge')
    if (client.secretHash === null) throw wrong('A public client must use PKCE with S256')
    // With neither, a code of someone else could be injected (RFC 9700, 2.1.1).
    if (state === undefined) throw wrong('Send a state, or use PKCE with S256')
    return null
  }
  if (!/^[\w-]{43}$/.test(challenge)) throw wrong('Send the S256 of the verifier: 43 characters of base64url')
  if (method !== 'S256') throw wrong('Send code_challenge_method=S256')
  return challenge
}

/** The parameters of a client's request, and the client, authenticated by its secret where it has one (RFC 6749, 2.3). */
async function authenticateClient(
  deps: Deps,
  request: FastifyRequest,
  now: Instant,
): Promise<{ given: Record<string, string>; client: OauthClient }> {
  const { given, repeated } = readParameters(request.body)
  if (repeated !== null) throw new OauthError('invalid_request', `Send ${repeated} once`)
  const { id, secrets } = readCredentials(request.headers.authorization, given)
  const client = await findOauthClient(deps, id)
  const key = addressKey(`client:${hashToken(id)}`, request.ip)
  // Must be counted before the check, or simultaneous guesses would exceed the limit.
  if (deps.config.rateLimit) await countTry(deps.db, key, wrongSecrets, now)
  const secret = secrets.find((one) => client?.secretHash && sameText(hashToken(one), client.secretHash))
  if (!client || (client.secretHash !== null && secret === undefined))
    throw new OauthError('invalid_client', 'This client is not known, or its secret is wrong.')
  if (deps.config.rateLimit) await takeBackGuess(deps.db, key)
  return { given, client }
}

/** The credentials in the body, or in a header, where both parts are form-encoded. Some clients do not encode them. */
function readCredentials(header: string | undefined, given: Record<string, string>): { id: string; secrets: string[] } {
  if (header === undefined) {
    if (given.client_id === undefined) throw new OauthError('invalid_client', 'Send client_id.')
    return { id: given.client_id, secrets: given.client_secret === undefined ? [] : [given.client_secret] }
  }
  const [, encoded] = /^Basic ([\w+/=-]+)$/i.exec(header) ?? []
  const [, id, secret] = /^([^:]*):(.*)$/s.exec(Buffer.from(encoded ?? '', 'base64').toString()) ?? []
  if (id === undefined || secret === undefined)
    throw new OauthError('invalid_client', 'The header Authorization is not Basic with id and secret.')
  const name = decoded(id)
  if (given.client_secret !== undefined)
    throw new OauthError('invalid_request', 'Send the secret once: in the header Authorization or in the body.')
  if (given.client_id !== undefined && given.client_id !== name)
    throw new OauthError('invalid_request', 'The header Authorization names another client_id.')
  return { id: name, secrets: [...new Set([decoded(secret), secret])] }
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '))
  } catch {
    return text
  }
}

function statusOf(error: unknown, request: FastifyRequest): number {
  if (error instanceof OauthError) return error.code === 'invalid_client' ? 401 : 400
  return problemOf(error, request).status
}

/** The body of an error (RFC 6749, 4.1.2.1 and 5.2). The standard limits a description to ASCII without quotes. */
function explain(error: unknown, request: FastifyRequest): { error: string; error_description: string } {
  const said = (code: string, description: string) => ({
    error: code,
    error_description: description.replaceAll(/[^\x20-\x21\x23-\x5b\x5d-\x7e]/g, "'"),
  })
  if (error instanceof OauthError) return said(error.code, error.message)
  const { status, problem } = problemOf(error, request)
  if (status >= 500 || status === 429) return said(status === 500 ? 'server_error' : 'temporarily_unavailable', problem.message)
  const isRead = error instanceof ProblemError || status === 413
  return said('invalid_request', isRead ? problem.message : 'This request cannot be read: send a form or JSON.')
}

/** A page for a browser, JSON for other clients, and no redirect for either. */
function refuseOpenly(request: FastifyRequest, reply: FastifyReply, message: string): FastifyReply {
  const sentence = `${message} ${texts.consent.nothingShared}`
  reply.status(400).header('cache-control', 'no-store')
  if (!(request.headers.accept ?? '').includes('text/html')) return reply.send({ error: 'invalid_request', error_description: sentence })
  const escaped = sentence.replaceAll('&', '&amp;').replaceAll('<', '&lt;')
  return reply
    .type('text/html; charset=utf-8')
    .send(
      `<!doctype html><html lang="en"><meta charset="utf-8"><title>Duely</title><h1>${texts.consent.heading}</h1><p>${escaped}</p></html>`,
    )
}
