import type { FastifyReply, FastifyRequest } from 'fastify'
import { z } from 'zod'
import type { Instant } from '#server/platform/clock.ts'
import { newId, type PersonId } from '#server/platform/columns.ts'
import { sealedCookie } from '#server/platform/sealed-cookie.ts'

/** `ownerId`: the person. The cookies of before have it under that name, when each person was an account. */
const knownBrowser = z.object({ ownerId: z.string(), browserId: z.string() })
export type KnownBrowser = z.output<typeof knownBrowser>

/** Longer than any session, because it is read at the next sign-in. */
const seconds = 180 * 24 * 3600

/**
 * Browsers that a person was signed in with before, known by a sealed cookie. Their attempts are counted separately, so that
 * strangers who guess without end do not keep an account's owner waiting (OWASP, "Slow Down Online Guessing Attacks with Device Cookies").
 */
export function knownBrowsers(server: { secretKey: string; publicUrl: string }) {
  const cookie = sealedCookie(knownBrowser, { name: 'knownBrowser', path: '/auth', sameSite: 'strict', seconds }, server)
  return {
    read: cookie.read,
    /** Remembers the browser for another half year; it keeps its name as long as the account is the same. */
    keep(request: FastifyRequest, reply: FastifyReply, person: PersonId, now: Instant): void {
      const ownerId = String(person)
      const before = cookie.read(request, now)
      cookie.keep(reply, { ownerId, browserId: before?.ownerId === ownerId ? before.browserId : newId() }, now)
    },
  }
}
