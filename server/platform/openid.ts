import {
  AuthorizationResponseError,
  allowInsecureRequests,
  authorizationCodeGrant,
  buildAuthorizationUrl,
  ClientSecretPost,
  Configuration,
  calculatePKCECodeChallenge,
  discovery,
  enableNonRepudiationChecks,
  type ResponseBodyError,
  randomNonce,
  randomPKCECodeVerifier,
  randomState,
  refreshTokenGrant,
  type TokenEndpointResponse,
  tokenRevocation,
} from 'openid-client'
import { z } from 'zod'

/** What a browser must bring back for a code to count (RFC 9700, 2.1.1; OpenID Connect Core, 3.1.2). */
export const beginning = z.object({ state: z.string(), nonce: z.string(), verifier: z.string() })
export type Beginning = z.output<typeof beginning>

/** A verified identity. `sub` never changes and is never reassigned. */
export interface Identity {
  issuer: string
  sub: string
  email: string | null
  emailVerified: boolean
  name: string | null
  /** The organisation that the account belongs to, where it does (Google's `hd`). */
  hostedDomain: string | null
}

/** What a code was traded for. */
export interface Tokens {
  /** What was granted, which may be less than was asked for. */
  scopes: string[]
  accessToken: string
  accessSeconds: number
  refreshToken: string | null
}

export interface Grant extends Tokens {
  identity: Identity
}

/**
 * Why the provider gave nothing. `denied`: the person said no. `revoked`: the grant is permanently gone. `away`: it cannot be reached, or
 * has trouble of its own, and may answer later. `refused`: what came back is not what was asked for.
 */
export class ProviderError extends Error {
  readonly kind: 'denied' | 'revoked' | 'away' | 'refused'

  constructor(kind: ProviderError['kind'], cause: unknown) {
    super(`The OpenID provider: ${kind}.`, { cause })
    this.kind = kind
  }
}

/** An OAuth server that this server is a client of. Everything throws ProviderError. */
export interface OauthServer {
  /** The page to send a browser to, and what it must bring back. */
  begin(about: {
    redirectUri: string
    scopes: string[]
    parameters?: Record<string, string>
    /** How the state begins. */
    statePrefix?: string
  }): Promise<{ url: string; beginning: Beginning }>
  /** Trades the code in the address that the browser came back to, query and all. */
  finish(cameBack: URL, beginning: Beginning): Promise<Tokens>
  refresh(refreshToken: string): Promise<Pick<Tokens, 'accessToken' | 'accessSeconds' | 'refreshToken'>>
}

/** An OpenID provider, which also says who consented. */
export interface Provider extends OauthServer {
  finish(cameBack: URL, beginning: Beginning): Promise<Grant>
  revoke(token: string): Promise<void>
}

const patienceSeconds = 10

/** The provider is asked for its addresses at the first use, and again until it answers once. */
export function openProvider(about: { clientId: string; clientSecret: string; issuer: string }): Provider {
  const issuer = new URL(about.issuer)
  let known: Promise<Configuration> | null = null
  const configuration = () => {
    known ??= discovery(issuer, about.clientId, undefined, ClientSecretPost(about.clientSecret), {
      timeout: patienceSeconds,
      // Signatures are checked in addition to TLS, against a machine in the middle.
      execute: [enableNonRepudiationChecks, ...(issuer.protocol === 'http:' ? [allowInsecureRequests] : [])],
    }).catch((error: unknown) => {
      known = null
      throw error
    })
    return known
  }
  const attempt = attempting(configuration)
  return {
    ...beginAndRefresh(attempt),
    finish: (cameBack, began) =>
      attempt(async (configuration) => {
        const tokens = await authorizationCodeGrant(configuration, cameBack, {
          expectedState: began.state,
          expectedNonce: began.nonce,
          pkceCodeVerifier: began.verifier,
          idTokenExpected: true,
        })
        const claims = identityClaims.parse(tokens.claims())
        return {
          identity: {
            issuer: claims.iss,
            sub: claims.sub,
            email: claims.email ?? null,
            emailVerified: claims.email_verified === true,
            name: claims.name ?? null,
            hostedDomain: claims.hd ?? null,
          },
          ...tokensOf(tokens),
        }
      }),
    revoke: (token) => attempt((configuration) => tokenRevocation(configuration, token)),
  }
}

/**
 * An OAuth server at these addresses. No ID token is asked for: the issuer that Microsoft's `common` publishes is a template, which no
 * token matches.
 */
export function openOauthServer(about: {
  clientId: string
  clientSecret: string
  authorizationUrl: string
  tokenUrl: string
}): OauthServer {
  const endpoints = {
    issuer: new URL(about.tokenUrl).origin,
    authorization_endpoint: about.authorizationUrl,
    token_endpoint: about.tokenUrl,
  }
  const configuration = new Configuration(endpoints, about.clientId, undefined, ClientSecretPost(about.clientSecret))
  configuration.timeout = patienceSeconds
  if (new URL(about.tokenUrl).protocol === 'http:') allowInsecureRequests(configuration)
  const attempt = attempting(() => Promise.resolve(configuration))
  return {
    ...beginAndRefresh(attempt),
    finish: (cameBack, began) =>
      attempt(async (configuration) =>
        tokensOf(await authorizationCodeGrant(configuration, cameBack, { expectedState: began.state, pkceCodeVerifier: began.verifier })),
      ),
  }
}

type Attempt = <T>(work: (configuration: Configuration) => Promise<T>) => Promise<T>

function attempting(configuration: () => Promise<Configuration>): Attempt {
  return async (work) => {
    try {
      return await work(await configuration())
    } catch (error) {
      throw new ProviderError(kindOf(error), error)
    }
  }
}

function beginAndRefresh(attempt: Attempt): Pick<OauthServer, 'begin' | 'refresh'> {
  return {
    begin: ({ redirectUri, scopes, parameters = {}, statePrefix = '' }) =>
      attempt(async (configuration) => {
        const began = { state: statePrefix + randomState(), nonce: randomNonce(), verifier: randomPKCECodeVerifier() }
        const url = buildAuthorizationUrl(configuration, {
          ...parameters,
          redirect_uri: redirectUri,
          scope: scopes.join(' '),
          state: began.state,
          nonce: began.nonce,
          code_challenge: await calculatePKCECodeChallenge(began.verifier),
          code_challenge_method: 'S256',
        })
        return { url: url.href, beginning: began }
      }),
    refresh: (refreshToken) => attempt(async (configuration) => tokensOf(await refreshTokenGrant(configuration, refreshToken))),
  }
}

function tokensOf(tokens: TokenEndpointResponse): Tokens {
  return {
    scopes: (tokens.scope ?? '').split(' ').filter((scope) => scope !== ''),
    accessToken: tokens.access_token,
    accessSeconds: tokens.expires_in ?? 0,
    refreshToken: tokens.refresh_token ?? null,
  }
}

const identityClaims = z.object({
  iss: z.string(),
  sub: z.string().min(1),
  email: z.string().optional(),
  email_verified: z.boolean().optional(),
  name: z.string().optional(),
  hd: z.string().optional(),
})

/** By status and code, never by words. */
function kindOf(error: unknown): ProviderError['kind'] {
  if (error instanceof AuthorizationResponseError) return error.error === 'access_denied' ? 'denied' : 'refused'
  const {
    error: said,
    status,
    code,
    cause,
  } = error as Partial<Pick<ResponseBodyError, 'error' | 'status'>> & { code?: unknown; cause?: unknown }
  if (said === 'invalid_grant' || said === 'interaction_required') return 'revoked'
  const answered = status ?? (cause instanceof Response ? cause.status : undefined)
  if (answered !== undefined) return answered >= 500 || answered === 429 ? 'away' : 'refused'
  // Codes are the library's own verdicts on what was answered; without one the request itself did not come through.
  return typeof code === 'string' && code.startsWith('OAUTH_') && code !== 'OAUTH_TIMEOUT' ? 'refused' : 'away'
}
