import { randomBytes, timingSafeEqual } from 'node:crypto'
import { and, desc, eq, gt, inArray, lte, ne, or, sql } from 'drizzle-orm'
import { alias } from 'drizzle-orm/pg-core'
import type { FastifyRequest } from 'fastify'
import { z } from 'zod'
import type { SignedInBrowser } from '#contract/accounts.ts'
import { businessHeader, roles } from '#contract/call.ts'
import type { Principal } from '#server/platform/answer.ts'
import type { Instant } from '#server/platform/clock.ts'
import { newId, type PersonId, packed } from '#server/platform/columns.ts'
import { type Database, statement } from '#server/platform/database.ts'
import type { Deps } from '#server/platform/deps.ts'
import { ProblemError } from '#server/platform/problem-error.ts'
import { deriveKey, everyKey, hashToken, hmac, sameText } from '#server/platform/secrets.ts'
import { forMany } from '#server/platform/turns.ts'
import type { Origin } from './audit.ts'
import { deviceOf } from './device.ts'
import { withOwner } from './lock.ts'
import { placeOf } from './place.ts'
import { type AccountRow, accounts, memberships, type PersonRow, people, sessions } from './tables.ts'
import { refusals } from './texts.ts'

const accessSeconds = 15 * 60
/** A session ends after 30 days without use, and after 90 in any case. */
const idle = { hours: 30 * 24 }
const absolute = { hours: 90 * 24 }
/** Beyond this many the one unused for longest ends: a program that signs in for each request must not add sessions without end. */
const mostSessions = 100
/** For so long after signing in, what cannot be undone needs no further proof. */
const recent = { minutes: 15 }
/** How long the previous token stays valid, for two tabs or a lost answer. */
const grace = { seconds: 10 }

/** What a browser keeps of a session: `<session id>.<secret>`, and for how long. */
export interface RefreshToken {
  sessionId: string
  token: string
  maxAgeSeconds: number
}

/** The one header of our tokens (RFC 9068): a token with any other is not ours, whatever algorithm it names. */
const jwtHeader = Buffer.from(JSON.stringify({ alg: 'HS256', typ: 'at+jwt' })).toString('base64url')
const claims = z.object({ sub: z.string(), aud: z.literal('web'), exp: z.number() })

/** An access token: HS256, 15 minutes, names its session. By node:crypto, because WebCrypto does each MAC in a job of another thread. */
export function signAccessToken(secretKey: string, sessionId: string, now: Instant): string {
  const iat = Math.floor(now.epochMilliseconds / 1000)
  const payload = JSON.stringify({ sub: sessionId, aud: 'web', iat, exp: iat + accessSeconds })
  const signed = `${jwtHeader}.${Buffer.from(payload).toString('base64url')}`
  return `${signed}.${hmac(deriveKey(secretKey, 'access-token'), signed)}`
}

/** Who a request comes from: its token must be valid and its session still there. */
export async function authenticate({ db, config, clock }: Deps, request: FastifyRequest): Promise<Principal> {
  const refused = new ProblemError('not_signed_in', refusals.signIn)
  const now = clock.now()
  const sessionId = readAccessToken(config.secretKey, request, now, 0)
  if (!sessionId) throw refused
  const wanted = businessOf(request)
  const known = {
    session: sessionId,
    lastSeenAfter: now.subtract(idle).toString(),
    createdAfter: now.subtract(absolute).toString(),
  }
  // One row by its key, for a token that is signed: it goes first, because its account is not known yet.
  const [found] = await forMany(() => principalOf(db, { ...known, wanted }))
  if (!found && wanted !== null && (await forMany(() => principalOf(db, { ...known, wanted: null }))).length > 0)
    throw new ProblemError('not_found', refusals.noBusiness)
  if (!found) throw refused
  const { role, chosen } = found
  if (wanted !== null && wanted !== chosen) await db.update(sessions).set({ chosenId: wanted }).where(eq(sessions.id, sessionId))
  return { account: readAccount(found), role, apiClient: null, sessionId }
}

const owner = alias(people, 'owner')
const owning = alias(memberships, 'owning')
const [accountRow, personRow, ownerRow] = [packed(accounts), packed(people), packed(owner)]
/** An account with the person that asks and its owner, for `readAccount`. */
export const askedAccount = sql`${accountRow.row} AS account, ${personRow.row} AS person, ${ownerRow.row} AS owner, ${memberships.role} AS role`
/** The tables of `askedAccount`, where `memberships` is joined already. */
export const askedFrom = sql`JOIN ${people} ON ${people.id} = ${memberships.personId} JOIN ${accounts} ON ${accounts.id} = ${memberships.ownerId}
  JOIN ${memberships} owning ON ${owning.ownerId} = ${accounts.id} AND ${owning.role} = 'owner' JOIN ${people} owner ON ${owner.id} = ${owning.personId}`
const values = z.array(z.unknown())
export const askedShape = z.object({ account: values, person: values, owner: values, role: z.enum(roles) })

export function readAccount(found: z.output<typeof askedShape>): AccountRow & { person: PersonRow } {
  return { ...withOwner(found), person: personRow.read(found.person) }
}

const uuid = z.uuid()

/** The business that a request names; null: none. What is no id names one that does not exist. */
export function businessOf({ headers }: FastifyRequest): string | null {
  const named = headers[businessHeader.toLowerCase()]
  if (named === undefined) return null
  return uuid.safeParse(named).data ?? '00000000-0000-0000-0000-000000000000'
}

/** The person of a session that has not ended, with account and role; every call of a person begins with it. */
const principalOf = statement(
  askedShape.extend({ chosen: z.string().nullable() }),
  sql`SELECT ${askedAccount}, ${sessions.chosenId} AS chosen FROM ${sessions} JOIN ${memberships} ON ${memberships.personId} = ${sessions.personId} ${askedFrom}
      WHERE ${sessions.id} = ${sql.placeholder('session')}::uuid AND ${sessions.lastSeenAt} > ${sql.placeholder('lastSeenAfter')}::timestamptz
        AND ${sessions.createdAt} > ${sql.placeholder('createdAfter')}::timestamptz
        AND (${sql.placeholder('wanted')}::uuid IS NULL OR ${memberships.ownerId} = ${sql.placeholder('wanted')}::uuid)
      ORDER BY ${memberships.ownerId} = ${sessions.chosenId} DESC NULLS LAST, ${memberships.joinedAt}, ${memberships.ownerId} LIMIT 1`,
)

export async function openSession(tx: Database, secretKey: string, person: PersonId, from: Origin, now: Instant): Promise<RefreshToken> {
  const sessionId = newId()
  const token = issue(secretKey, sessionId, randomBytes(nonceBytes))
  await tx.delete(sessions).where(
    inArray(
      sessions.id,
      tx
        .select({ id: sessions.id })
        .from(sessions)
        .where(eq(sessions.personId, person))
        .orderBy(desc(sessions.lastSeenAt), desc(sessions.id))
        .offset(mostSessions - 1),
    ),
  )
  await tx.insert(sessions).values({
    id: sessionId,
    personId: person,
    refreshHash: hashToken(token),
    rotatedAt: now,
    createdAt: now,
    lastSeenAt: now,
    userAgent: from.userAgent.slice(0, 300),
    address: from.address,
  })
  return { sessionId, token, maxAgeSeconds: secondsLeft(now, now) }
}

const [hashGiven, rotatedNow] = [sql`${sql.placeholder('hash')}::text`, sql`${sql.placeholder('now')}::timestamptz`]
/** One statement, so that concurrent requests decide on the current row. The previous token only updates the visit. */
const rotate = statement(
  z.object({ createdAt: z.string() }),
  sql`UPDATE sessions SET previous_hash = ${hashGiven}, refresh_hash = ${sql.placeholder('successor')}::text, last_seen_at = ${rotatedNow}, address = ${sql.placeholder('address')}::text,
        rotated_at = CASE WHEN refresh_hash = ${hashGiven} THEN ${rotatedNow} ELSE rotated_at END
      WHERE id = ${sql.placeholder('session')}::uuid AND last_seen_at > ${sql.placeholder('lastSeenAfter')}::timestamptz AND created_at > ${sql.placeholder('createdAfter')}::timestamptz
        AND (refresh_hash = ${hashGiven} OR (previous_hash = ${hashGiven} AND rotated_at >= ${sql.placeholder('since')}::timestamptz))
      RETURNING created_at AS "createdAt"`,
)

/**
 * Trades a refresh token for its successor. The successor follows from the token, so requests in parallel, and one repeated within
 * 10 s, all receive the same. Any other token that was issued for the session may be a stolen copy: the session ends. A made-up one ends
 * nothing, because session ids are no secret. Refuses with `not_signed_in`.
 */
export async function refreshSession(
  { db, config, log }: Deps,
  token: string | undefined,
  address: string,
  now: Instant,
): Promise<RefreshToken> {
  const refused = new ProblemError('not_signed_in', refusals.sessionEnded)
  const sessionId = sessionOf(token)
  if (!token || !sessionId) throw refused
  const hash = hashToken(token)
  const nonce = Buffer.from(hmac(deriveKey(config.secretKey, 'refresh-successor'), token), 'base64url').subarray(0, nonceBytes)
  const successor = issue(config.secretKey, sessionId, nonce)
  const [kept] = await rotate(db, {
    session: sessionId,
    hash,
    successor: hashToken(successor),
    now: now.toString(),
    since: now.subtract(grace).toString(),
    lastSeenAfter: now.subtract(idle).toString(),
    createdAfter: now.subtract(absolute).toString(),
    address,
  })
  if (kept) return { sessionId, token: successor, maxAgeSeconds: secondsLeft(Temporal.Instant.from(kept.createdAt), now) }
  const [ended] = await db
    .delete(sessions)
    .where(and(eq(sessions.id, sessionId), wasIssued(config.secretKey, token) ? undefined : eq(sessions.previousHash, hash)))
    .returning()
  if (ended) log.warn({ sessionId, personId: ended.personId }, 'A stale refresh token was used; its session was ended.')
  throw refused
}

/**
 * Ends the sessions that a request has a secret of: a refresh token that was issued for it, and an access token, also one that has expired.
 */
export async function endSessions({ db, config }: Deps, request: FastifyRequest, token: string | undefined, now: Instant): Promise<void> {
  const bearer = readAccessToken(config.secretKey, request, now, 90 * 24 * 3600)
  if (bearer !== undefined) await db.delete(sessions).where(eq(sessions.id, bearer))
  const sessionId = sessionOf(token)
  if (!token || !sessionId) return
  // A token of version 0.1.0 is known by its hash only.
  const matches = or(eq(sessions.refreshHash, hashToken(token)), eq(sessions.previousHash, hashToken(token)))
  await db.delete(sessions).where(and(eq(sessions.id, sessionId), wasIssued(config.secretKey, token) ? undefined : matches))
}

/** The session's person has just shown again who they are. Refuses with `not_signed_in` where it has ended. */
export async function recordAuthentication(db: Database, sessionId: string, now: Instant): Promise<void> {
  const found = await db.update(sessions).set({ authenticatedAt: now }).where(eq(sessions.id, sessionId)).returning({ id: sessions.id })
  if (found.length === 0) throw new ProblemError('not_signed_in', refusals.sessionEnded)
}

/** Refuses with `recent_sign_in_needed` a session whose person has not shown who they are for 15 minutes: it may be a thief's. */
export async function refuseOldSignIn(db: Database, sessionId: string, now: Instant, message = refusals.recentSignInNeeded): Promise<void> {
  if (!(await signedInRecently(db, sessionId, now))) throw new ProblemError('recent_sign_in_needed', message)
}

/** Whether the person of a session has shown who they are within 15 minutes. */
export async function signedInRecently(db: Database, sessionId: string, now: Instant): Promise<boolean> {
  const [found] = await db.select().from(sessions).where(eq(sessions.id, sessionId))
  if (!found) throw new ProblemError('not_signed_in', refusals.sessionEnded)
  const at = found.authenticatedAt ?? found.createdAt
  return Temporal.Instant.compare(at.add(recent), now) > 0
}

export async function endOtherSessions(tx: Database, person: PersonId, sessionId: string): Promise<void> {
  await tx.delete(sessions).where(and(eq(sessions.personId, person), ne(sessions.id, sessionId)))
}

export async function endAllSessions(tx: Database, person: PersonId): Promise<void> {
  await tx.delete(sessions).where(eq(sessions.personId, person))
}

/** Ends one session of a person; answers the browser that it was in, or undefined where there is no such session. */
export async function endSession(tx: Database, person: PersonId, sessionId: string): Promise<string | undefined> {
  const [ended] = await tx
    .delete(sessions)
    .where(and(eq(sessions.id, sessionId), eq(sessions.personId, person)))
    .returning()
  return ended?.userAgent
}

/** The browsers that a person is signed in with: the one that asks first, then the last used first. */
export async function listSessions(db: Database, person: PersonId, current: string, now: Instant): Promise<SignedInBrowser[]> {
  const found = await db
    .select()
    .from(sessions)
    .where(and(eq(sessions.personId, person), isAlive(now)))
    .orderBy(desc(eq(sessions.id, current)), desc(sessions.lastSeenAt), desc(sessions.id))
  return found.map(({ id, userAgent, address, createdAt, lastSeenAt }) => ({
    _id: id,
    device: deviceOf(userAgent),
    place: placeOf(address),
    createdAt: createdAt.toString(),
    lastSeenAt: lastSeenAt.toString(),
    current: id === current,
  }))
}

export async function pruneSessions(db: Database, now: Instant): Promise<void> {
  await db.delete(sessions).where(or(lte(sessions.lastSeenAt, now.subtract(idle)), lte(sessions.createdAt, now.subtract(absolute))))
}

function isAlive(now: Instant) {
  return and(gt(sessions.lastSeenAt, now.subtract(idle)), gt(sessions.createdAt, now.subtract(absolute)))
}

/** The session that a request's access token names; `late` seconds after its end it still does. */
function readAccessToken(secretKey: string, request: FastifyRequest, now: Instant, late: number): string | undefined {
  const token = /^Bearer (\S+)$/i.exec(request.headers.authorization ?? '')?.[1] ?? ''
  const [header, payload = '', mac = '', ...more] = token.split('.')
  if (header !== jwtHeader || more.length > 0) return undefined
  if (!everyKey(secretKey, 'access-token').some((key) => sameText(hmac(key, `${header}.${payload}`), mac))) return undefined
  const found = claims.safeParse(JSON.parse(Buffer.from(payload, 'base64url').toString())).data
  return found && found.exp + late > Math.floor(now.epochMilliseconds / 1000) ? found.sub : undefined
}

const nonceBytes = 16

/** A refresh token is a nonce and its MAC, 128 bits each: an old one is known as such although only the last two are stored. */
function issue(secretKey: string, sessionId: string, nonce: Buffer): string {
  return `${sessionId}.${Buffer.concat([nonce, macOf(deriveKey(secretKey, 'refresh-token'), sessionId, nonce)]).toString('base64url')}`
}

function wasIssued(secretKey: string, token: string): boolean {
  const [sessionId = '', secret = ''] = token.split('.')
  const bytes = Buffer.from(secret, 'base64url')
  const nonce = bytes.subarray(0, nonceBytes)
  return everyKey(secretKey, 'refresh-token').some((key) => timingSafeEqual(bytes.subarray(nonceBytes), macOf(key, sessionId, nonce)))
}

function macOf(key: Buffer, sessionId: string, nonce: Buffer): Buffer {
  return Buffer.from(hmac(key, `${sessionId}.${nonce.toString('base64url')}`), 'base64url').subarray(0, nonceBytes)
}

function sessionOf(token: string | undefined): string | undefined {
  return /^([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})\.[\w-]{43}$/.exec(token ?? '')?.[1]
}

function secondsLeft(createdAt: Instant, now: Instant): number {
  const end = Math.min(now.add(idle).epochMilliseconds, createdAt.add(absolute).epochMilliseconds)
  return Math.floor((end - now.epochMilliseconds) / 1000)
}
