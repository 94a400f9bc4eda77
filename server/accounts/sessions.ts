import { eq } from 'drizzle-orm'
import type { FastifyRequest } from 'fastify'
import { jwtVerify, SignJWT } from 'jose'
import type { Who } from '#server/platform/answer.ts'
import type { Instant } from '#server/platform/clock.ts'
import type { Deps } from '#server/platform/deps.ts'
import { Refusal } from '#server/platform/refusal.ts'
import { deriveKey } from '#server/platform/secrets.ts'
import { accounts, sessions } from './tables.ts'

const accessMinutes = 15

/** An access token: HS256, 15 minutes, names its session. */
export async function signAccessToken(secretKey: string, sessionId: string, now: Instant): Promise<string> {
  const seconds = Math.floor(now.epochMilliseconds / 1000)
  return new SignJWT({})
    .setProtectedHeader({ alg: 'HS256', typ: 'at+jwt' })
    .setSubject(sessionId)
    .setAudience('web')
    .setIssuedAt(seconds)
    .setExpirationTime(seconds + accessMinutes * 60)
    .sign(deriveKey(secretKey, 'access-token'))
}

/** Who a request comes from: its token must be valid and its session still there. */
export async function identify({ db, config, clock }: Deps, request: FastifyRequest): Promise<Who> {
  const token = /^Bearer (\S+)$/.exec(request.headers.authorization ?? '')?.[1]
  const refused = new Refusal('not_signed_in', 'Please sign in.')
  if (!token) throw refused
  const sessionId = await jwtVerify(token, deriveKey(config.secretKey, 'access-token'), {
    algorithms: ['HS256'],
    typ: 'at+jwt',
    audience: 'web',
    currentDate: new Date(clock.now().epochMilliseconds),
  }).then(
    ({ payload }) => payload.sub,
    () => undefined,
  )
  if (!sessionId) throw refused
  const [found] = await db
    .select({ account: accounts })
    .from(sessions)
    .innerJoin(accounts, eq(accounts.id, sessions.ownerId))
    .where(eq(sessions.id, sessionId))
  if (!found) throw refused
  return { account: found.account, sessionId }
}
