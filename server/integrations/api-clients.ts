import { and, eq, isNull, lte, or, sql } from 'drizzle-orm'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { z } from 'zod'
import type { Call, Role } from '#contract/call.ts'
import { isOpenTo, openTo, type Scope, scope, scopeFor } from '#contract/integrations.ts'
import { askedAccount, askedFrom, askedShape, businessOf, readAccount } from '#server/accounts/sessions.ts'
import { memberships } from '#server/accounts/tables.ts'
import { countOne, secondsUntil } from '#server/accounts/throttle.ts'
import { refuseWithout } from '#server/billing/billing.ts'
import type { Account, ApiClient, Principal } from '#server/platform/answer.ts'
import type { Instant } from '#server/platform/clock.ts'
import { type Database, rows } from '#server/platform/database.ts'
import type { Deps } from '#server/platform/deps.ts'
import { ProblemError } from '#server/platform/problem-error.ts'
import { hashToken } from '#server/platform/secrets.ts'
import { prefixes } from './provider.ts'
import { apiKeys, oauthClients, oauthGrants, oauthTokens } from './tables.ts'
import { texts } from './texts.ts'

/** The calls that an API client may make in a minute: each key, and each app for one person. */
const rate = { limit: 120, seconds: 60 }
/** The last use is recorded at most this often. */
const seenEvery = { seconds: 60 }

type Knowing = Pick<Deps, 'db' | 'config'>

/** An API client recognized by its token or key. */
interface Recognised extends ApiClient {
  account: Account
  role: Role
  scopes: Scope[]
  lastUsedAt: Instant | null
}

/**
 * The account for which an API client calls; null where the request has no token or key of ours. Refuses with `not_signed_in` what is
 * unknown, expired or revoked, with `too_many`, with `not_allowed` where the call is not open to it, and with `plan_limit` a key whose
 * account's plan has none.
 */
export async function authenticateApiClient(
  deps: Knowing,
  about: { request: FastifyRequest; call: Call; reply: FastifyReply },
  now: Instant,
): Promise<Principal | null> {
  const { request, call, reply } = about
  const brought = /^Bearer (\S+)$/i.exec(request.headers.authorization ?? '')?.[1] ?? ''
  if (!Object.values(prefixes).some((prefix) => brought.startsWith(prefix))) return null
  const found = await recognise(deps.db, brought, now)
  if (!found) {
    reply.header('www-authenticate', challenge({ error: 'invalid_token' }))
    throw new ProblemError('not_signed_in', notGood(brought))
  }
  const { kind, id, name, account, role } = found
  const wanted = businessOf(request)
  if (wanted !== null && wanted !== account.id) throw new ProblemError('not_allowed', texts.access.otherBusiness)
  if (deps.config.rateLimit) await countCall(deps.db, `${kind}:${id}`, reply, now)
  refuseClosed(found, call, reply)
  if (kind === 'key' && deps.config.razorpay)
    await refuseWithout({ ability: 'apiAccess', what: 'API keys' }, deps.db, account.id, now, deps.config)
  await noteUse(deps.db, found, now)
  return {
    account,
    role,
    apiClient: { kind, id, name },
    get sessionId(): string {
      throw new ProblemError('not_allowed', texts.access.browserOnly)
    },
  }
}

async function recognise(db: Database, brought: string, now: Instant): Promise<Recognised | null> {
  const hash = hashToken(brought)
  const row = brought.startsWith(prefixes.key) ? await findKey(db, hash) : await findToken(db, hash)
  return row && (row.expiresAt === null || Temporal.Instant.compare(row.expiresAt, now) > 0) ? row : null
}

/** Zapier is in the environment and not among the registered apps. */
async function findToken(db: Database, tokenHash: string) {
  const [found] = await rows(
    db,
    recognised,
    sql`SELECT ${askedAccount}, ${oauthGrants.id} AS id, coalesce(${oauthClients.name}, 'Zapier') AS name, ${oauthGrants.lastUsedAt} AS "lastUsedAt", ${oauthTokens.scopes} AS scopes, ${oauthTokens.expiresAt} AS "expiresAt"
        FROM ${oauthTokens} JOIN ${oauthGrants} ON ${oauthGrants.id} = ${oauthTokens.grantId} LEFT JOIN ${oauthClients} ON ${oauthClients.id} = ${oauthGrants.clientId} JOIN ${memberships} ON ${memberships.ownerId} = ${oauthGrants.ownerId} AND ${memberships.personId} = ${oauthGrants.madeBy} ${askedFrom}
        WHERE ${oauthTokens.tokenHash} = ${tokenHash} AND ${oauthTokens.kind} = 'access'`,
  )
  return found && { ...found, account: readAccount(found), kind: 'application' as const }
}

async function findKey(db: Database, keyHash: string) {
  const [found] = await rows(
    db,
    recognised,
    sql`SELECT ${askedAccount}, ${apiKeys.id} AS id, ${apiKeys.name} AS name, ${apiKeys.lastUsedAt} AS "lastUsedAt", ${apiKeys.scopes} AS scopes, ${apiKeys.expiresAt} AS "expiresAt"
        FROM ${apiKeys} JOIN ${memberships} ON ${memberships.ownerId} = ${apiKeys.ownerId} AND ${memberships.personId} = ${apiKeys.madeBy} ${askedFrom}
        WHERE ${apiKeys.keyHash} = ${keyHash} AND ${apiKeys.offeredTo} IS NULL`,
  )
  return found && { ...found, account: readAccount(found), kind: 'key' as const }
}

const time = z
  .string()
  .transform((text) => Temporal.Instant.from(text))
  .nullable()
const recognised = askedShape.extend({ id: z.string(), name: z.string(), lastUsedAt: time, scopes: z.array(scope), expiresAt: time })

/** Counts a call and adds to every reply how many are left (IETF draft-ietf-httpapi-ratelimit-headers, 03). */
async function countCall(db: Database, key: string, reply: FastifyReply, now: Instant): Promise<void> {
  const { count, until } = await countOne(db, `program:${key}`, rate.seconds, now)
  const seconds = secondsUntil(until, now)
  reply.headers({
    'ratelimit-limit': rate.limit,
    'ratelimit-remaining': Math.max(0, rate.limit - count),
    'ratelimit-reset': seconds,
  })
  if (count > rate.limit) {
    throw new ProblemError('too_many', texts.access.tooMany(rate.limit, seconds), { retryAfter: seconds })
  }
}

function refuseClosed({ kind, scopes }: Recognised, call: Call, reply: FastifyReply): void {
  const asked = `${call.method} ${call.path}`
  if (!isOpenTo(kind, call)) {
    const open = new Intl.ListFormat('en-GB').format(openTo[kind].map((part) => `/${part}`))
    throw new ProblemError('not_allowed', texts.access.closed(kind, open, asked))
  }
  const needed = scopeFor(call)
  if (scopes.includes(needed)) return
  reply.header('www-authenticate', challenge({ error: 'insufficient_scope', scope: needed }))
  throw new ProblemError('not_allowed', texts.access.scope(asked, needed, kind, scopes.join(', ')))
}

function notGood(brought: string): string {
  if (brought.startsWith(prefixes.key)) return texts.access.invalidKey
  if (brought.startsWith(prefixes.refresh)) return texts.access.refreshToken
  return texts.access.invalidToken
}

/** RFC 6750, 3. */
function challenge(parameters: Record<string, string>): string {
  return `Bearer realm="Duely", ${Object.entries(parameters)
    .map(([name, value]) => `${name}="${value}"`)
    .join(', ')}`
}

async function noteUse(db: Database, { kind, id, lastUsedAt }: Recognised, now: Instant): Promise<void> {
  const before = now.subtract(seenEvery)
  if (lastUsedAt && Temporal.Instant.compare(lastUsedAt, before) > 0) return
  // Of simultaneous calls only the first one writes.
  if (kind === 'key')
    await db
      .update(apiKeys)
      .set({ lastUsedAt: now })
      .where(and(eq(apiKeys.id, id), or(isNull(apiKeys.lastUsedAt), lte(apiKeys.lastUsedAt, before))))
  else
    await db
      .update(oauthGrants)
      .set({ lastUsedAt: now })
      .where(and(eq(oauthGrants.id, id), or(isNull(oauthGrants.lastUsedAt), lte(oauthGrants.lastUsedAt, before))))
}
