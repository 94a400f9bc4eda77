import type { FastifyReply, FastifyRequest } from 'fastify'
import { z } from 'zod'
import type { Instant } from './clock.ts'
import { instantText } from './columns.ts'
import { seal, unseal } from './secrets.ts'

/** Something that a browser keeps for the server for a while, and can neither read nor change. */
interface SealedCookie<T> {
  keep(reply: FastifyReply, value: T, now: Instant): void
  /** What the browser kept; null where there is nothing, or it is too old, or not what was given to it. */
  read(request: FastifyRequest, now: Instant): T | null
  forget(reply: FastifyReply): void
}

/** `sameSite` lax where it must come along when another site sends the browser here. */
export function sealedCookie<S extends z.ZodType>(
  shape: S,
  about: { name: string; path: string; sameSite: 'lax' | 'strict'; seconds: number },
  server: { secretKey: string; publicUrl: string },
): SealedCookie<z.output<S>> {
  const purpose = `cookie ${about.name}`
  const kept = z.object({ value: z.unknown(), expiresAt: instantText })
  const rules = {
    path: about.path,
    httpOnly: true,
    sameSite: about.sameSite,
    secure: new URL(server.publicUrl).protocol === 'https:',
  } as const
  return {
    keep(reply, value, now) {
      const expiresAt = now.add({ seconds: about.seconds }).toString()
      reply.setCookie(about.name, seal(server.secretKey, purpose, about.name, JSON.stringify({ value, expiresAt })), {
        ...rules,
        maxAge: about.seconds,
      })
    },
    read(request, now) {
      try {
        const { value, expiresAt } = kept.parse(
          JSON.parse(unseal(server.secretKey, purpose, about.name, request.cookies[about.name] ?? '')),
        )
        return Temporal.Instant.compare(expiresAt, now) > 0 ? shape.parse(value) : null
      } catch {
        return null
      }
    },
    forget(reply) {
      reply.clearCookie(about.name, rules)
    },
  }
}
