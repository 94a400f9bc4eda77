import {
  AuthorizationServer,
  type OAuthAuthCode,
  type OAuthClient,
  OAuthException,
  type OAuthScope,
  type ResponseInterface,
} from '@jmondi/oauth2-server'
import { and, eq, isNull, type SQL, sql } from 'drizzle-orm'
import { z } from 'zod'
import { type Scope, scope } from '#contract/integrations.ts'
import type { Instant } from '#server/platform/clock.ts'
import type { Database } from '#server/platform/database.ts'
import type { Deps } from '#server/platform/deps.ts'
import { deriveKey, hashToken, hmac, newToken, sameText } from '#server/platform/secrets.ts'
import type { OauthClient } from './oauth-clients.ts'
import { oauthCodes, oauthGrants, oauthTokens } from './tables.ts'

/** How everything begins that opens an account, so that it is known for what it is wherever it turns up. */
export const prefixes = { application: 'duely_at_', refresh: 'duely_rt_', key: 'duely_key_' } as const

const accessSeconds = 3_600
const codeLife = { seconds: 60 }
/** For so long the refresh token before the current one still counts: an answer that was lost on its way is asked for again. */
const grace = { seconds: 10 }
/** The library reckons by the machine's own clock; what counts is decided here, by the clock that is handed in. */
const notForTheLibrary = new Date(8.64e15)

interface Serving {
  db: Database
  secretKey: string
  client: OauthClient
  now: Instant
}

/** Somebody's permission for an application, to make a code for. */
interface Granting extends Serving {
  ownerId: string
  grantId: string
}

/** What a code or a refresh token leads to. */
interface Chain {
  grantId: string
  ownerId: string
  /** The code that it goes back to. */
  codeHash: string
}

/** What an application asked for in a request that the library has found in order. */
export interface Asked {
  redirectUri: string
  /** null where the application brought none. */
  state: string | null
  scopes: Scope[]
  /** S256; null where the application does not use PKCE. */
  codeChallenge: string | null
}

/** The scopes that an authorization request asks for: both where it names none. Throws OAuthException, also about PKCE that is none. */
export async function readRequest(serving: Serving, query: Record<string, string>): Promise<Scope[]> {
  const { scopes } = await openServer(serving, {}).validateAuthorizationRequest({ headers: {}, body: {}, query })
  return scopesOf(scopes)
}

/** Makes a code for an application and answers the address with it that the browser is to go to. */
export async function issueCode(granting: Granting, asked: Asked): Promise<string> {
  const { ownerId, client } = granting
  const said = await openServer(granting, { granting, asked }).completeAuthorizationRequest({
    grantTypeId: 'authorization_code',
    client: toLibrary(client),
    redirectUri: asked.redirectUri,
    user: { id: ownerId },
    scopes: asked.scopes.map((name) => ({ name })),
    isAuthorizationApproved: true,
    ...(asked.state === null ? {} : { state: asked.state }),
    ...(asked.codeChallenge === null ? {} : { codeChallenge: asked.codeChallenge, codeChallengeMethod: 'S256' }),
  })
  return said.get('location')
}

/**
 * Trades a code or a refresh token for tokens (RFC 6749, 4.1.3 and 6), in one transaction. What is wrong with the request is answered, not
 * thrown: a code that comes a second time ends its tokens, and that has to stay.
 */
export async function tradeForTokens(
  { db, config, log }: Pick<Deps, 'db' | 'config' | 'log'>,
  client: OauthClient,
  given: Record<string, string>,
  now: Instant,
): Promise<ResponseInterface | OAuthException> {
  return db.transaction(async (tx) => {
    try {
      const server = openServer({ db: tx, secretKey: config.secretKey, client, now }, { given })
      const said = await server.respondToAccessTokenRequest({ headers: {}, query: {}, body: given })
      said.body.expires_in = accessSeconds
      return said
    } catch (error) {
      if (!(error instanceof OAuthException)) throw error
      if (error instanceof Replayed) log.warn({ clientId: client.id, grantId: error.grantId }, error.message)
      return error
    }
  })
}

/** Ends a token of an application (RFC 7009); with a refresh token everything that goes back to the same code. Of others' it does nothing. */
export async function revokeToken(db: Database, client: OauthClient, token: string, now: Instant): Promise<void> {
  await db.transaction(async (tx) => {
    const found = await findToken(tx, token, client, 'update')
    if (found?.kind === 'refresh') await endChain(tx, found, now)
    if (found?.kind === 'access') await tx.delete(oauthTokens).where(eq(oauthTokens.tokenHash, found.tokenHash))
  })
}

/** Somebody has a copy of what was good once. */
class Replayed extends OAuthException {
  readonly grantId: string

  constructor(grantId: string, description: string) {
    const { error, errorType } = OAuthException.invalidGrant()
    super(error, errorType, description)
    this.grantId = grantId
  }
}

/** The library on our tables, for one request. */
function openServer(
  { db, secretKey, client, now }: Serving,
  about: { granting?: Granting; asked?: Asked; given?: Record<string, string> },
): AuthorizationServer {
  const { granting, asked, given = {} } = about
  const own = toLibrary(client)
  const isPublic = client.secretHash === null
  /** What this request's code or refresh token leads to. */
  let chain: Chain | null = null
  /** A refresh token that was rotated a moment ago: its successor is there already. */
  let late = false
  const store = async (token: string, kind: 'access' | 'refresh', scopes: Scope[], expiresAt: Instant | null) => {
    if (!chain) throw new Error('A token was to be made for nothing.')
    const { grantId, codeHash } = chain
    await db.insert(oauthTokens).values({ tokenHash: hashToken(token), kind, grantId, codeHash, scopes, createdAt: now, expiresAt })
  }

  const server = new AuthorizationServer(
    {
      getByIdentifier: async (id) => {
        if (id !== client.id) throw OAuthException.invalidClient()
        return own
      },
      isClientValid: async (grantType, _client, secret) =>
        own.allowedGrants.includes(grantType) &&
        (client.secretHash === null || (secret !== undefined && sameText(hashToken(secret), client.secretHash))),
    },
    {
      issueToken: async (_client, scopes, user) => ({
        accessToken: prefixes.application + newToken(),
        accessTokenExpiresAt: notForTheLibrary,
        client: own,
        scopes,
        user: user ?? null,
      }),
      persist: (token) => store(token.accessToken, 'access', scopesOf(token.scopes), now.add({ seconds: accessSeconds })),
      issueRefreshToken: async (token) => {
        const brought = given.refresh_token
        if (brought === undefined) {
          token.refreshToken = prefixes.refresh + newToken()
          await store(token.refreshToken, 'refresh', scopesOf(token.scopes), null)
        } else if (!isPublic) token.refreshToken = brought
        else {
          // It follows from the token before it, so that whoever asks again in time is answered the same.
          token.refreshToken = prefixes.refresh + hmac(deriveKey(secretKey, 'oauth-refresh-successor'), brought)
          if (!late) await store(token.refreshToken, 'refresh', scopesOf(token.scopes), null)
        }
        return token
      },
      getByRefreshToken: async (token) => {
        const found = await findToken(db, token, client, isPublic ? 'update' : 'key share')
        if (found?.kind !== 'refresh')
          throw OAuthException.invalidGrant('This refresh token is not known, or the permission was taken back.')
        chain = found
        if (found.expiresAt) {
          const successor = prefixes.refresh + hmac(deriveKey(secretKey, 'oauth-refresh-successor'), token)
          late = Temporal.Instant.compare(now, found.expiresAt.add(grace)) <= 0 && (await isCurrent(db, successor))
          if (!late) {
            await endChain(db, found, now)
            throw new Replayed(
              found.grantId,
              'This refresh token was used before, so somebody may have a copy. Please ask for permission again.',
            )
          }
        }
        return {
          accessToken: '',
          accessTokenExpiresAt: notForTheLibrary,
          refreshToken: token,
          client: own,
          user: { id: found.ownerId },
          scopes: found.scopes.map((name) => ({ name })),
          originatingAuthCodeId: found.codeHash,
        }
      },
      isRefreshTokenRevoked: async () => false,
      revoke: async ({ refreshToken }) => {
        if (!isPublic || late || !refreshToken) return
        await db
          .update(oauthTokens)
          .set({ expiresAt: now })
          .where(eq(oauthTokens.tokenHash, hashToken(refreshToken)))
      },
    },
    {
      getAllByIdentifiers: async (names) => names.filter((name) => scope.safeParse(name).success).map((name) => ({ name })),
      finalize: async (scopes) => (scopes.length > 0 ? scopes : scope.options.map((name) => ({ name }))),
    },
    {
      // An access token is its own name, and says nothing by itself.
      sign: async (payload) => z.object({ jti: z.string() }).parse(payload).jti,
      verify: () => Promise.reject(new Error('Tokens are looked up, not verified.')),
      decode: () => null,
    },
    { requiresPKCE: false, requiresS256: true, useOpaqueAuthorizationCodes: true, useOpaqueRefreshTokens: true },
  )
  server.enableGrantTypes('refresh_token', {
    grant: 'authorization_code',
    userRepository: { getUserByCredentials: async (id) => ({ id }) },
    authCodeRepository: {
      issueAuthCode: () => ({ code: newToken(), expiresAt: notForTheLibrary, client: own, scopes: [] }),
      persist: async ({ code, scopes }) => {
        if (!granting || !asked) throw new Error('A code was to be made without a permission.')
        await db.insert(oauthCodes).values({
          codeHash: hashToken(code),
          grantId: granting.grantId,
          redirectUri: asked.redirectUri,
          scopes: scopesOf(scopes),
          codeChallenge: asked.codeChallenge,
          expiresAt: now.add(codeLife),
        })
      },
      getByIdentifier: async (code): Promise<OAuthAuthCode> => {
        const found = await findCode(db, hashToken(code), client)
        if (!found) throw OAuthException.invalidGrant('This code is not known.')
        chain = found
        if (found.usedAt) {
          await endChain(db, found, now)
          throw new Replayed(found.grantId, 'This code was used before, so its tokens have ended. Please ask for permission again.')
        }
        if (Temporal.Instant.compare(now, found.expiresAt) >= 0) throw OAuthException.invalidGrant('This code has expired.')
        if (given.redirect_uri !== undefined && given.redirect_uri !== found.redirectUri)
          throw OAuthException.invalidGrant('This code was made for another redirect_uri.')
        // Whoever asked without PKCE and comes with a verifier had the challenge taken away on the way (RFC 9700, 2.1.1).
        if (found.codeChallenge === null && given.code_verifier !== undefined)
          throw OAuthException.invalidGrant('This code was made without a code_challenge.')
        return {
          code: found.codeHash,
          redirectUri: found.redirectUri,
          codeChallenge: found.codeChallenge,
          codeChallengeMethod: found.codeChallenge === null ? null : 'S256',
          expiresAt: notForTheLibrary,
          client: own,
          user: { id: found.ownerId },
          scopes: found.scopes.map((name) => ({ name })),
        }
      },
      isRevoked: async () => false,
      revoke: async (codeHash) => {
        await db.update(oauthCodes).set({ usedAt: now }).where(eq(oauthCodes.codeHash, codeHash))
      },
    },
  })
  return server
}

/** A code of this application, its permission locked: whoever comes with the same code meanwhile waits, and finds it used. */
async function findCode(tx: Database, codeHash: string, client: OauthClient) {
  const [known] = await tx.select({ grantId: oauthCodes.grantId }).from(oauthCodes).where(eq(oauthCodes.codeHash, codeHash))
  const grant = known && (await lockGrant(tx, known.grantId, client, 'update'))
  if (!grant) return null
  const [code] = await tx.select().from(oauthCodes).where(eq(oauthCodes.codeHash, codeHash))
  return code ? { ...code, ownerId: grant.ownerId } : null
}

/** A token of this application, its permission locked: with `key share` any number may hold it at a time, and only taking it back waits. */
async function findToken(tx: Database, token: string, client: OauthClient, strength: 'update' | 'key share') {
  const tokenHash = hashToken(token)
  const [known] = await tx.select({ grantId: oauthTokens.grantId }).from(oauthTokens).where(eq(oauthTokens.tokenHash, tokenHash))
  const grant = known && (await lockGrant(tx, known.grantId, client, strength))
  if (!grant) return null
  const [found] = await tx.select().from(oauthTokens).where(eq(oauthTokens.tokenHash, tokenHash))
  return found ? { ...found, ownerId: grant.ownerId } : null
}

/** The permission first, what hangs from it afterwards, here as where it is taken back: two that lock in another order wait for each other. */
async function lockGrant(tx: Database, grantId: string, client: OauthClient, strength: 'update' | 'key share') {
  const [grant] = await tx
    .select({ ownerId: oauthGrants.ownerId })
    .from(oauthGrants)
    .where(and(eq(oauthGrants.id, grantId), eq(oauthGrants.clientId, client.id)))
    .for(strength)
  return grant ?? null
}

async function isCurrent(tx: Database, refreshToken: string): Promise<boolean> {
  const found = await tx
    .select({ tokenHash: oauthTokens.tokenHash })
    .from(oauthTokens)
    .where(and(eq(oauthTokens.tokenHash, hashToken(refreshToken)), isNull(oauthTokens.expiresAt)))
  return found.length > 0
}

/** Ends every token that goes back to one code. A permission that opens nothing any more, and for which no code is on its way, goes with them. */
async function endChain(tx: Database, { grantId, codeHash }: Chain, now: Instant): Promise<void> {
  await tx.delete(oauthTokens).where(eq(oauthTokens.codeHash, codeHash))
  await tx.delete(oauthGrants).where(and(eq(oauthGrants.id, grantId), opensNothing(now)))
}

/** Of an application's permission: there is neither a token of it nor a code that may still become one. */
export function opensNothing(now: Instant): SQL {
  return sql`NOT EXISTS (SELECT 1 FROM oauth_tokens t WHERE t.grant_id = ${oauthGrants.id})
    AND NOT EXISTS (SELECT 1 FROM oauth_codes c WHERE c.grant_id = ${oauthGrants.id} AND c.used_at IS NULL AND c.expires_at > ${now.toString()}::timestamptz)`
}

function toLibrary({ id, name, secretHash, redirectUris }: OauthClient): OAuthClient {
  return { id, name, secret: secretHash, redirectUris, allowedGrants: ['authorization_code', 'refresh_token'], scopes: [] }
}

function scopesOf(scopes: OAuthScope[]): Scope[] {
  return z.array(scope).parse([...new Set(scopes.map(({ name }) => name))])
}
