import { createHash, randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type Fault, faulty, reply, type SentMail, token } from './google.ts'

/** Injected faults. Numbers count from 1 and restart with each `answer`. */
interface MicrosoftScript {
  /** What the consent page comes back with: the person said no, or may not consent without an administrator. */
  consent?: 'denied' | 'administrator'
  /** The granted scopes; by default all requested ones. */
  grants?: (asked: string[]) => string[]
  token?: (grant: 'authorization_code' | 'refresh_token', nth: number) => Fault | undefined
  /** A refresh token works once. At Microsoft an old one stays valid for a while, which no client may rely on. */
  singleUse?: boolean
  /** A delay before a refresh is answered. */
  refreshMs?: number
  /** `cut`: the email is taken, and the connection breaks before the answer. */
  send?: (nth: number) => Exclude<Fault, { status: number }> | { status: number; body?: object; retryAfter?: number } | 'cut' | undefined
  /** All requests: Microsoft is unavailable. */
  all?: Fault
}

export interface FakeMicrosoft extends AsyncDisposable {
  config: { clientId: string; clientSecret: string; loginUrl: string; graphApiUrl: string }
  person: { mail: string | null; userPrincipalName: string }
  /** As they arrive: with another Message-ID, and without Auto-Submitted. */
  mails: (SentMail & { posted: Buffer })[]
  authorizations: URL[]
  refreshes: number
  /** The most refreshes at a time. */
  mostAtOnce: number
  answer(script: MicrosoftScript): void
  /** Follows an authorization request like a browser and returns the redirect address. */
  visit(authorizationUrl: string): Promise<URL>
  /** A lasting permission, as if this mailbox had been connected; answers its refresh token. */
  grant(email: string): string
  /** The permission is withdrawn: its tokens become invalid. */
  takeBack(): void
  /** Access tokens expire early. */
  expireAccess(): void
}

interface Permission {
  email: string
  scopes: string[]
}
interface Code extends Permission {
  redirectUri: string
  challenge: string
}

const graph = 'https://graph.microsoft.com/'
/** Graph's limit of a request. */
const longest = 4 * 1024 * 1024

/** Microsoft on loopback: the authorization code flow with PKCE of Entra's v2.0 endpoints, with a new refresh token at each use, and Graph's sendMail. */
export async function openFakeMicrosoft(): Promise<FakeMicrosoft> {
  const codes = new Map<string, Code>()
  const access = new Map<string, Permission>()
  const refresh = new Map<string, Permission>()
  let script: MicrosoftScript = {}
  let counted = { authorization_code: 0, refresh_token: 0, send: 0 }
  let refreshing = 0

  const authorize = (url: URL, response: ServerResponse): void => {
    fake.authorizations.push(url)
    const asked = url.searchParams
    const back = new URL(asked.get('redirect_uri') ?? '')
    back.searchParams.set('state', asked.get('state') ?? '')
    if (script.consent) {
      back.searchParams.set('error', 'access_denied')
      const said = { denied: 'AADSTS65004: User declined to consent', administrator: 'AADSTS90094: The grant requires admin permission.' }
      back.searchParams.set('error_description', `${said[script.consent]} Trace ID: ${randomUUID()}`)
    } else {
      const code = token()
      const scopes = (asked.get('scope') ?? '').split(' ')
      codes.set(code, {
        email: addressOf(fake.person),
        redirectUri: asked.get('redirect_uri') ?? '',
        challenge: asked.get('code_challenge_method') === 'S256' ? (asked.get('code_challenge') ?? '') : '',
        scopes: script.grants?.(scopes) ?? scopes,
      })
      back.searchParams.set('code', code)
      back.searchParams.set('session_state', randomUUID())
    }
    response.writeHead(302, { location: back.href }).end()
  }

  /** A new refresh token comes with every answer. */
  const permit = (permission: Permission) => {
    const [accessToken, refreshToken] = [`EwB-${token()}`, `M.C5-${token()}`]
    const { scopes } = permission
    access.set(accessToken, permission)
    if (scopes.includes('offline_access')) refresh.set(refreshToken, permission)
    return {
      token_type: 'Bearer',
      scope: scopes
        .filter((scope) => scope !== 'offline_access')
        .map((scope) => graph + scope)
        .join(' '),
      expires_in: 3599,
      ext_expires_in: 3599,
      access_token: accessToken,
      ...(scopes.includes('offline_access') ? { refresh_token: refreshToken } : {}),
    }
  }

  const refused = (status: number, error: string, code: number) => ({
    status,
    body: { error, error_description: `AADSTS${code}: Microsoft says no.`, error_codes: [code], trace_id: randomUUID() },
  })

  const trade = async (form: URLSearchParams): Promise<{ status: number; body: object }> => {
    const grant = form.get('grant_type')
    if (grant !== 'authorization_code' && grant !== 'refresh_token') return refused(400, 'unsupported_grant_type', 70003)
    counted[grant] += 1
    if (grant === 'refresh_token') {
      fake.refreshes += 1
      refreshing += 1
      fake.mostAtOnce = Math.max(fake.mostAtOnce, refreshing)
      if (script.refreshMs) await new Promise((resolve) => setTimeout(resolve, script.refreshMs))
      refreshing -= 1
    }
    const fault = script.token?.(grant, counted[grant])
    if (fault) return faulty(fault)
    if (form.get('client_id') !== fake.config.clientId || form.get('client_secret') !== fake.config.clientSecret)
      return refused(401, 'invalid_client', 7000215)
    if (grant === 'refresh_token') {
      const given = form.get('refresh_token') ?? ''
      const permission = refresh.get(given)
      if (script.singleUse) refresh.delete(given)
      return permission ? { status: 200, body: permit(permission) } : refused(400, 'invalid_grant', 70008)
    }
    const code = codes.get(form.get('code') ?? '')
    codes.delete(form.get('code') ?? '')
    const challenge = createHash('sha256')
      .update(form.get('code_verifier') ?? '')
      .digest('base64url')
    if (!code || code.redirectUri !== form.get('redirect_uri') || code.challenge !== challenge) return refused(400, 'invalid_grant', 54005)
    return { status: 200, body: permit({ email: code.email, scopes: code.scopes }) }
  }

  const permissionOf = (request: IncomingMessage) => access.get((request.headers.authorization ?? '').replace('Bearer ', ''))

  const refusalOf = (request: IncomingMessage, body: Buffer) => {
    const permission = permissionOf(request)
    if (!permission) return graphError(401, 'InvalidAuthenticationToken')
    if (!permission.scopes.includes('Mail.Send')) return graphError(403, 'ErrorAccessDenied')
    if (body.length > longest) return graphError(413, 'RequestEntityTooLarge')
    if (request.headers['content-type'] !== 'text/plain' || !/^[\w+/]+={0,2}$/.test(body.toString('latin1')))
      return graphError(400, 'ErrorMimeContentInvalidBase64String')
    const raw = Buffer.from(body.toString('latin1'), 'base64')
    if (!raw.toString('latin1').includes(`<${permission.email}>`)) return graphError(403, 'ErrorSendAsDenied')
    fake.mails.push({ from: permission.email, raw: asExchange(raw), posted: raw })
    return null
  }

  const send = (request: IncomingMessage, response: ServerResponse, body: Buffer): void => {
    counted.send += 1
    const fault = script.send?.(counted.send)
    if (typeof fault === 'object' && fault.retryAfter !== undefined) response.setHeader('retry-after', fault.retryAfter)
    const refusal = fault && fault !== 'cut' ? faulty(fault) : refusalOf(request, body)
    if (refusal) reply(response, refusal)
    else if (fault === 'cut') response.socket?.resetAndDestroy()
    else response.writeHead(202, { 'request-id': randomUUID() }).end()
  }

  const server = createServer((request, response) => {
    void (async () => {
      const url = new URL(request.url ?? '', 'http://fake')
      const parts: Buffer[] = []
      for await (const part of request) parts.push(part as Buffer)
      const body = Buffer.concat(parts)
      if (script.all) return reply(response, faulty(script.all))
      switch (url.pathname) {
        case '/common/oauth2/v2.0/authorize':
          return authorize(url, response)
        case '/common/oauth2/v2.0/token':
          return reply(response, await trade(new URLSearchParams(body.toString())))
        case '/v1.0/me':
          return reply(response, permissionOf(request) ? { status: 200, body: fake.person } : graphError(401, 'InvalidAuthenticationToken'))
        case '/v1.0/me/sendMail':
          return send(request, response, body)
        default:
          return reply(response, graphError(404, 'ResourceNotFound'))
      }
    })()
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`

  const fake: FakeMicrosoft = {
    config: {
      clientId: '3fa4a7b1-52e6-4c41-9d5e-000000000000',
      clientSecret: 'a-microsoft-secret',
      loginUrl: `${url}/common`,
      graphApiUrl: `${url}/v1.0`,
    },
    person: { mail: 'asha@banyan.example', userPrincipalName: 'asha@banyan.onmicrosoft.example' },
    mails: [],
    authorizations: [],
    refreshes: 0,
    mostAtOnce: 0,
    answer(next) {
      script = next
      counted = { authorization_code: 0, refresh_token: 0, send: 0 }
    },
    async visit(authorizationUrl) {
      const answered = await fetch(authorizationUrl, { redirect: 'manual' })
      return new URL(answered.headers.get('location') ?? '')
    },
    grant(email) {
      return permit({ email, scopes: ['offline_access', 'User.Read', 'Mail.Send'] }).refresh_token ?? ''
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

function addressOf({ mail, userPrincipalName }: FakeMicrosoft['person']): string {
  return mail ?? userPrincipalName
}

/** An error in the format of Graph. */
export function graphError(status: number, code: string): { status: number; body: object } {
  return { status, body: { error: { code, message: `Microsoft says: ${code}`, innerError: { 'request-id': randomUUID() } } } }
}

/** What Exchange makes of a message: a Message-ID of its own, and no Auto-Submitted. */
function asExchange(raw: Buffer): Buffer {
  const text = raw.toString('latin1')
  const end = text.indexOf('\r\n\r\n')
  const header = text
    .slice(0, end)
    .replace(/^Message-ID:.*(?:\r\n[ \t].*)*/im, `Message-ID: <${token()}@PN3PPF00.INDPRD01.PROD.OUTLOOK.COM>`)
    .replace(/^Auto-Submitted:.*(?:\r\n[ \t].*)*\r\n/im, '')
  return Buffer.from(header + text.slice(end), 'latin1')
}
