import { createHash, randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { exportJWK, generateKeyPair, type JWTPayload, SignJWT } from 'jose'

/** The person who signs in and consents. */
export interface GooglePerson {
  sub: string
  email: string
  email_verified: boolean
  name: string
  /** The organisation of a Workspace account. */
  hd?: string
}

/** An injected fault: a status with a body, or a reset connection. */
export type Fault = { status: number; body?: object } | 'reset' | 'silence'

/** Injected faults. Numbers count from 1 and restart with each `answer`. */
export interface Script {
  /** The person denies consent. */
  denies?: boolean
  /** The granted scopes; by default all requested ones. */
  grants?: (asked: string[]) => string[]
  /** false: no refresh token comes with a code. */
  refreshTokens?: boolean
  /** Wrong claims of the ID token. */
  claims?: (right: JWTPayload) => JWTPayload
  /** `none`: not signed at all. `stranger`: by a key that Google does not list. `forged`: by such a key under the name of a listed one. */
  signature?: 'none' | 'stranger' | 'forged'
  token?: (grant: 'authorization_code' | 'refresh_token', nth: number) => Fault | undefined
  /** A new refresh token with every refresh. */
  rotates?: boolean
  /** A delay before a refresh is answered. */
  refreshMs?: number
  send?: (nth: number) => Fault | undefined
  /** All requests: Google is unavailable. */
  all?: Fault
}

export interface SentMail {
  /** The mailbox it was sent from. */
  from: string
  raw: Buffer
}

export interface FakeGoogle extends AsyncDisposable {
  /** Issuer, and base of Gmail's API. */
  url: string
  client: { clientId: string; clientSecret: string }
  person: GooglePerson
  mails: SentMail[]
  /** Authorization requests, with their query. */
  authorizations: URL[]
  refreshes: number
  revoked: string[]
  answer(script: Script): void
  /** Follows an authorization request like a browser and returns the redirect address. */
  visit(authorizationUrl: string): Promise<URL>
  /** The person revokes the grant: its tokens become invalid. */
  takeBack(): void
  /** Access tokens expire early. */
  expireAccess(): void
}

interface Code {
  clientId: string
  redirectUri: string
  challenge: string
  nonce: string | null
  scopes: string[]
  offline: boolean
  person: GooglePerson
}
interface Permission {
  email: string
  scopes: string[]
}

/** Google on loopback: OpenID Connect with PKCE (RFC 7636), refresh and revocation (RFC 7009), and Gmail's call that sends an email. */
export async function openFakeGoogle(): Promise<FakeGoogle> {
  const [own, stranger] = await Promise.all([generateKeyPair('RS256'), generateKeyPair('RS256')])
  const jwk = { ...(await exportJWK(own.publicKey)), kid: 'google-1', use: 'sig', alg: 'RS256' }
  const codes = new Map<string, Code>()
  const access = new Map<string, Permission>()
  const refresh = new Map<string, Permission>()
  let script: Script = {}
  let counted = { authorization_code: 0, refresh_token: 0, send: 0 }

  const idToken = async (code: Code): Promise<string> => {
    const now = Math.floor(Date.now() / 1000)
    const right: JWTPayload = {
      iss: fake.url,
      aud: code.clientId,
      iat: now,
      exp: now + 3600,
      ...(code.nonce === null ? {} : { nonce: code.nonce }),
      ...code.person,
    }
    const claims = script.claims ? script.claims(right) : right
    if (script.signature === 'none') {
      const encode = (part: object) => Buffer.from(JSON.stringify(part)).toString('base64url')
      return `${encode({ alg: 'none' })}.${encode(claims)}.`
    }
    const [key, kid] =
      script.signature === undefined ? [own, 'google-1'] : [stranger, script.signature === 'forged' ? 'google-1' : 'nobody-1']
    return new SignJWT(claims).setProtectedHeader({ alg: 'RS256', kid, typ: 'JWT' }).sign(key.privateKey)
  }

  const permit = (permission: Permission, about: { refreshable: boolean }) => {
    const [accessToken, refreshToken] = [`access-${token()}`, `refresh-${token()}`]
    access.set(accessToken, permission)
    if (about.refreshable) refresh.set(refreshToken, permission)
    return {
      access_token: accessToken,
      expires_in: 3599,
      token_type: 'Bearer',
      scope: permission.scopes.join(' '),
      ...(about.refreshable ? { refresh_token: refreshToken } : {}),
    }
  }

  const authorize = (url: URL, response: ServerResponse): void => {
    fake.authorizations.push(url)
    const asked = url.searchParams
    const back = new URL(asked.get('redirect_uri') ?? '')
    const state = asked.get('state')
    if (state !== null) back.searchParams.set('state', state)
    if (script.denies) back.searchParams.set('error', 'access_denied')
    else {
      const code = token()
      const scopes = (asked.get('scope') ?? '').split(' ')
      codes.set(code, {
        clientId: asked.get('client_id') ?? '',
        redirectUri: asked.get('redirect_uri') ?? '',
        challenge: asked.get('code_challenge_method') === 'S256' ? (asked.get('code_challenge') ?? '') : '',
        nonce: asked.get('nonce'),
        scopes: script.grants?.(scopes) ?? scopes,
        offline: asked.get('access_type') === 'offline',
        person: { ...fake.person },
      })
      back.searchParams.set('code', code)
    }
    response.writeHead(302, { location: back.href }).end()
  }

  const trade = async (form: URLSearchParams): Promise<{ status: number; body: object }> => {
    const grant = form.get('grant_type')
    if (grant !== 'authorization_code' && grant !== 'refresh_token') return { status: 400, body: { error: 'unsupported_grant_type' } }
    counted[grant] += 1
    if (grant === 'refresh_token') {
      fake.refreshes += 1
      if (script.refreshMs) await new Promise((resolve) => setTimeout(resolve, script.refreshMs))
    }
    const fault = script.token?.(grant, counted[grant])
    if (fault) return faulty(fault)
    if (form.get('client_id') !== fake.client.clientId || form.get('client_secret') !== fake.client.clientSecret)
      return { status: 401, body: { error: 'invalid_client' } }
    if (grant === 'refresh_token') {
      const given = form.get('refresh_token') ?? ''
      const permission = refresh.get(given)
      if (!permission) return { status: 400, body: { error: 'invalid_grant', error_description: 'Token has been expired or revoked.' } }
      const rotates = script.rotates ?? false
      if (rotates) refresh.delete(given)
      return { status: 200, body: permit(permission, { refreshable: rotates }) }
    }
    const code = codes.get(form.get('code') ?? '')
    codes.delete(form.get('code') ?? '')
    const challenge = createHash('sha256')
      .update(form.get('code_verifier') ?? '')
      .digest('base64url')
    if (!code || code.redirectUri !== form.get('redirect_uri') || code.challenge !== challenge)
      return { status: 400, body: { error: 'invalid_grant' } }
    const tokens = permit(
      { email: code.person.email, scopes: code.scopes },
      { refreshable: code.offline && (script.refreshTokens ?? true) },
    )
    return { status: 200, body: { ...tokens, id_token: await idToken(code) } }
  }

  const send = (request: IncomingMessage, body: Buffer, uploads: boolean): { status: number; body: object } => {
    counted.send += 1
    const fault = script.send?.(counted.send)
    if (fault) return faulty(fault)
    const permission = access.get((request.headers.authorization ?? '').replace('Bearer ', ''))
    if (!permission) return { status: 401, body: apiError(401, 'authError') }
    if (!permission.scopes.includes('https://www.googleapis.com/auth/gmail.send'))
      return { status: 403, body: apiError(403, 'insufficientPermissions') }
    if (uploads && request.headers['content-type'] !== 'message/rfc822') return { status: 400, body: apiError(400, 'badContent') }
    if (!uploads && body.length > 5_000_000) return { status: 413, body: apiError(413, 'uploadTooLarge') }
    const raw = uploads ? body : Buffer.from((JSON.parse(body.toString()) as { raw: string }).raw, 'base64url')
    fake.mails.push({ from: permission.email, raw })
    return { status: 200, body: { id: `sent-${fake.mails.length}`, threadId: `thread-${fake.mails.length}`, labelIds: ['SENT'] } }
  }

  const server = createServer((request, response) => {
    void (async () => {
      const url = new URL(request.url ?? '', fake.url)
      const parts: Buffer[] = []
      for await (const part of request) parts.push(part as Buffer)
      const body = Buffer.concat(parts)
      if (script.all) return reply(response, faulty(script.all))
      switch (url.pathname) {
        case '/.well-known/openid-configuration':
          return reply(response, { status: 200, body: metadata(fake.url) })
        case '/certs':
          return reply(response, { status: 200, body: { keys: [jwk] } })
        case '/auth':
          return authorize(url, response)
        case '/token':
          return reply(response, await trade(new URLSearchParams(body.toString())))
        case '/revoke': {
          const given = new URLSearchParams(body.toString()).get('token') ?? ''
          fake.revoked.push(given)
          refresh.delete(given)
          return reply(response, { status: 200, body: {} })
        }
        case '/gmail/v1/users/me/messages/send':
          return reply(response, send(request, body, false))
        case '/upload/gmail/v1/users/me/messages/send':
          return reply(response, send(request, body, url.searchParams.get('uploadType') === 'media'))
        default:
          return reply(response, { status: 404, body: {} })
      }
    })()
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')

  const fake: FakeGoogle = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    client: { clientId: 'duely.apps.example', clientSecret: 'a-client-secret' },
    person: { sub: '10769150350006150715113082367', email: 'asha@gmail.com', email_verified: true, name: 'Asha Rao' },
    mails: [],
    authorizations: [],
    refreshes: 0,
    revoked: [],
    answer(next) {
      script = next
      counted = { authorization_code: 0, refresh_token: 0, send: 0 }
    },
    async visit(authorizationUrl) {
      const answered = await fetch(authorizationUrl, { redirect: 'manual' })
      return new URL(answered.headers.get('location') ?? '')
    },
    takeBack() {
      access.clear()
      refresh.clear()
    },
    expireAccess() {
      access.clear()
    },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
  return fake
}

function metadata(url: string): object {
  return {
    issuer: url,
    authorization_endpoint: `${url}/auth`,
    token_endpoint: `${url}/token`,
    jwks_uri: `${url}/certs`,
    revocation_endpoint: `${url}/revoke`,
    response_types_supported: ['code'],
    subject_types_supported: ['public'],
    id_token_signing_alg_values_supported: ['RS256'],
    code_challenge_methods_supported: ['S256'],
    token_endpoint_auth_methods_supported: ['client_secret_post', 'client_secret_basic'],
  }
}

/** An error in the format of Google's APIs. */
export function apiError(status: number, reason: string): object {
  return { error: { code: status, message: `Google says: ${reason}`, errors: [{ message: reason, domain: 'global', reason }] } }
}

export function faulty(fault: Fault): { status: number; body: object } {
  if (fault === 'reset') return { status: -1, body: {} }
  if (fault === 'silence') return { status: -2, body: {} }
  return { status: fault.status, body: fault.body ?? {} }
}

export function reply(response: ServerResponse, { status, body }: { status: number; body: object }): void {
  if (status === -1) response.socket?.resetAndDestroy()
  else if (status > 0) response.writeHead(status, { 'content-type': 'application/json; charset=utf-8' }).end(JSON.stringify(body))
}

export function token(): string {
  return randomBytes(24).toString('base64url')
}
