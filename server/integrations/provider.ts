import { createHash } from 'node:crypto'
import { and, eq, isNull, type SQL, sql } from 'drizzle-orm'
import { type Scope, scope } from '#contract/integrations.ts'
import { countTry } from '#server/accounts/throttle.ts'
import type { Instant } from '#server/platform/clock.ts'
import type { Database } from '#server/platform/database.ts'
import type { Deps } from '#server/platform/deps.ts'
import { deriveKey, hashToken, hmac, newToken, sameText } from '#server/platform/secrets.ts'
import type { OauthClient } from './oauth-clients.ts'
import { oauthCodes, oauthGrants, oauthTokens } from './tables.ts'

/** How all tokens and keys begin, so that a leaked one is recognized. */
export const prefixes = { application: 'duely_at_', refresh: 'duely_rt_', key: 'duely_key_' } as const

const accessSeconds = 3_600
const codeLife = { seconds: 60 }
/** For so long the refresh token before the current one is still accepted, because the response with its successor may have been lost. */
const grace = { seconds: 10 }
/** Refreshes of one grant: each stores an access token for an hour, and where the refresh token rotates, the old one for 30 days. */
const refreshes = { seconds: 60, limit: 120, rotating: 10 }

/** The error codes of RFC 6749, 4.1.2.1 and 5.2. */
type OauthErrorCode =
  | 'invalid_request'
  | 'invalid_client'
  | 'invalid_grant'
  | 'invalid_scope'
  | 'unsupported_grant_type'
  | 'unsupported_response_type'

/** An error in the words of the standard; its message is for developers. */
export class OauthError extends Error {
  readonly code: OauthErrorCode

  constructor(code: OauthErrorCode, description: string) {
    super(description)
    this.code = code
  }
}

/** A code or refresh token was used twice, so someone may have a copy of it. */
class Reuse extends OauthError {
  readonly grantId: string

  constructor(grantId: string, description: string) {
    super('invalid_grant', description)
    this.grantId = grantId
  }
}

/** What an app asks for in a valid authorization request. */
export interface Asked {
  redirectUri: string
  /** null without one. */
  state: string | null
  scopes: Scope[]
  /** S256; null without PKCE. */
  codeChallenge: string | null
}

/** What the tokens of one code have in common. */
interface Chain {
  grantId: string
  /** The code that they descend from. */
  codeHash: string
}

/** The body of a successful token response (RFC 6749, 5.1). */
interface TokenResponse {
  token_type: 'Bearer'
  expires_in: number
  access_token: string
  refresh_token: string
  scope: string
}

interface Exchange {
  client: OauthClient
  /** The parameters of the request. */
  given: Record<string, string>
  config: Deps['config']
  now: Instant
}

/** The scopes of a request, or all of them where it names none. Throws OauthError. */
export function readScopes(text: string | undefined): Scope[] {
  if (text === undefined) return scope.options
  const names = text.split(' ')
  const unknown = names.filter((name) => !scope.safeParse(name).success)
  if (unknown.length > 0) throw unknownScopes(unknown)
  return [...new Set(names.map((name) => scope.parse(name)))]
}

/** Creates the code of a grant. */
export async function issueCode(tx: Database, grantId: string, asked: Omit<Asked, 'state'>, now: Instant): Promise<string> {
  const code = newToken()
  const { redirectUri, scopes, codeChallenge } = asked
  await tx
    .insert(oauthCodes)
    .values({ codeHash: hashToken(code), grantId, redirectUri, scopes, codeChallenge, expiresAt: now.add(codeLife) })
  return code
}

/**
 * Exchanges a code or a refresh token for tokens (RFC 6749, 4.1.3 and 6), in one transaction. Errors of the request are returned, not thrown,
 * because what reuse ends must be committed. Refuses with `too_many` a grant that is refreshed too often.
 */
export async function exchange(
  { db, config, log }: Pick<Deps, 'db' | 'config' | 'log'>,
  client: OauthClient,
  given: Record<string, string>,
  now: Instant,
): Promise<TokenResponse | OauthError> {
  const about = { client, given, config, now }
  return db.transaction(async (tx) => {
    try {
      return await (given.grant_type === 'refresh_token' ? refresh(tx, about) : redeemCode(tx, about))
    } catch (error) {
      if (!(error instanceof OauthError)) throw error
      if (error instanceof Reuse) log.warn({ clientId: client.id, grantId: error.grantId }, error.message)
      return error
    }
  })
}

/** Ends a token of a client (RFC 7009); with a refresh token everything that descends from the same code. Others' tokens stay. */
export async function revokeToken(db: Database, client: OauthClient, token: string, now: Instant): Promise<void> {
  await db.transaction(async (tx) => {
    const found = await findToken(tx, token, client, 'update')
    if (found?.kind === 'refresh') await endChain(tx, found, now)
    if (found?.kind === 'access') await tx.delete(oauthTokens).where(eq(oauthTokens.tokenHash, found.tokenHash))
  })
}

async function redeemCode(tx: Database, { client, given, now }: Exchange): Promise<TokenResponse> {
  if (given.code === undefined) throw new OauthError('invalid_request', 'Send the code.')
  const code = await findCode(tx, hashToken(given.code), client)
  if (!code) throw new OauthError('invalid_grant', 'This code is not known.')
  if (code.usedAt) {
    await endChain(tx, code, now)
    throw new Reuse(code.grantId, 'This code was used before, so its tokens have ended. Please ask for access again.')
  }
  if (Temporal.Instant.compare(now, code.expiresAt) >= 0) throw new OauthError('invalid_grant', 'This code has expired.')
  if (given.redirect_uri === undefined) throw new OauthError('invalid_request', 'Send the redirect_uri of the authorization request.')
  if (given.redirect_uri !== code.redirectUri) throw new OauthError('invalid_grant', 'This code was issued for another redirect_uri.')
  checkVerifier(code.codeChallenge, given.code_verifier)
  await tx.update(oauthCodes).set({ usedAt: now }).where(eq(oauthCodes.codeHash, code.codeHash))
  const refreshToken = prefixes.refresh + newToken()
  await store(tx, code, { token: refreshToken, kind: 'refresh', scopes: code.scopes, expiresAt: null }, now)
  return issueAccess(tx, code, { scopes: code.scopes, refreshToken }, now)
}

/** RFC 7636, 4.5 and 4.6. */
function checkVerifier(challenge: string | null, verifier: string | undefined): void {
  if (challenge === null) {
    // A verifier without a challenge: someone may have stripped the challenge from the request (RFC 9700, 2.1.1).
    if (verifier !== undefined) throw new OauthError('invalid_grant', 'This code was issued without a code_challenge.')
    return
  }
  if (verifier === undefined || !/^[\w.~-]{43,128}$/.test(verifier))
    throw new OauthError('invalid_request', 'Send the code_verifier: 43 to 128 characters of RFC 7636.')
  if (!sameText(createHash('sha256').update(verifier).digest('base64url'), challenge))
    throw new OauthError('invalid_grant', 'The code_verifier does not match the code_challenge.')
}

/** The refresh token of a confidential client stays; that of a public one rotates with each use (RFC 9700, 4.14.2). */
async function refresh(tx: Database, { client, given, config, now }: Exchange): Promise<TokenResponse> {
  const token = given.refresh_token
  if (token === undefined) throw new OauthError('invalid_request', 'Send the refresh_token.')
  const rotates = client.secretHash === null
  const found = await findToken(tx, token, client, rotates ? 'update' : 'key share')
  if (found?.kind !== 'refresh') throw new OauthError('invalid_grant', 'This refresh token is not known, or access was revoked.')
  const { seconds, limit, rotating } = refreshes
  if (config.rateLimit) await countTry(tx, `refresh:${found.grantId}`, { seconds, limit: rotates ? rotating : limit }, now)
  // Derived from the token, so that a repetition within the grace period gets the same one.
  const successor = prefixes.refresh + hmac(deriveKey(config.secretKey, 'oauth-refresh-successor'), token)
  if (found.expiresAt) {
    const isRepetition = Temporal.Instant.compare(now, found.expiresAt.add(grace)) <= 0 && (await isCurrent(tx, successor))
    if (!isRepetition) {
      await endChain(tx, found, now)
      throw new Reuse(found.grantId, 'This refresh token was used before, so someone may have a copy. Please ask for access again.')
    }
  }
  const scopes = given.scope === undefined ? found.scopes : readScopes(given.scope)
  const more = scopes.filter((one) => !found.scopes.includes(one))
  if (more.length > 0) throw unknownScopes(more)
  if (rotates && !found.expiresAt) {
    await tx.update(oauthTokens).set({ expiresAt: now }).where(eq(oauthTokens.tokenHash, found.tokenHash))
    await store(tx, found, { token: successor, kind: 'refresh', scopes, expiresAt: null }, now)
  }
  return issueAccess(tx, found, { scopes, refreshToken: rotates ? successor : token }, now)
}

function unknownScopes(names: string[]): OauthError {
  return new OauthError('invalid_scope', `These scopes cannot be given: ${names.join(', ')}.`)
}

async function issueAccess(
  tx: Database,
  chain: Chain,
  { scopes, refreshToken }: { scopes: Scope[]; refreshToken: string },
  now: Instant,
): Promise<TokenResponse> {
  const token = prefixes.application + newToken()
  await store(tx, chain, { token, kind: 'access', scopes, expiresAt: now.add({ seconds: accessSeconds }) }, now)
  return { token_type: 'Bearer', expires_in: accessSeconds, access_token: token, refresh_token: refreshToken, scope: scopes.join(' ') }
}

async function store(
  tx: Database,
  { grantId, codeHash }: Chain,
  { token, ...about }: { token: string; kind: 'access' | 'refresh'; scopes: Scope[]; expiresAt: Instant | null },
  now: Instant,
): Promise<void> {
  await tx.insert(oauthTokens).values({ tokenHash: hashToken(token), grantId, codeHash, createdAt: now, ...about })
}

/** A code of this client, its grant locked: a simultaneous request with the same code waits, and finds it used. */
async function findCode(tx: Database, codeHash: string, client: OauthClient) {
  const [known] = await tx.select({ grantId: oauthCodes.grantId }).from(oauthCodes).where(eq(oauthCodes.codeHash, codeHash))
  const grant = known && (await lockGrant(tx, known.grantId, client, 'update'))
  if (!grant) return null
  const [code] = await tx.select().from(oauthCodes).where(eq(oauthCodes.codeHash, codeHash))
  return code ?? null
}

/** A token of this client, its grant locked: with `key share` by any number at a time, so that only revoking waits. */
async function findToken(tx: Database, token: string, client: OauthClient, strength: 'update' | 'key share') {
  const tokenHash = hashToken(token)
  const [known] = await tx.select({ grantId: oauthTokens.grantId }).from(oauthTokens).where(eq(oauthTokens.tokenHash, tokenHash))
  const grant = known && (await lockGrant(tx, known.grantId, client, strength))
  if (!grant) return null
  const [found] = await tx.select().from(oauthTokens).where(eq(oauthTokens.tokenHash, tokenHash))
  return found ?? null
}

/** The grant must be locked before its codes and tokens, as revoking does, because another order would deadlock. */
async function lockGrant(tx: Database, grantId: string, client: OauthClient, strength: 'update' | 'key share') {
  const [grant] = await tx
    .select({ id: oauthGrants.id })
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

/** Ends every token that descends from one code, and its grant where nothing else of it is left. */
async function endChain(tx: Database, { grantId, codeHash }: Chain, now: Instant): Promise<void> {
  await tx.delete(oauthTokens).where(eq(oauthTokens.codeHash, codeHash))
  await tx.delete(oauthGrants).where(and(eq(oauthGrants.id, grantId), opensNothing(now)))
}

/** A grant without a token, and without a code that may still become one. */
export function opensNothing(now: Instant): SQL {
  return sql`NOT EXISTS (SELECT 1 FROM oauth_tokens t WHERE t.grant_id = ${oauthGrants.id})
    AND NOT EXISTS (SELECT 1 FROM oauth_codes c WHERE c.grant_id = ${oauthGrants.id} AND c.used_at IS NULL AND c.expires_at > ${now.toString()}::timestamptz)`
}
