import { and, eq, sql } from 'drizzle-orm'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { z } from 'zod'
import { toMinor } from '#contract/money.ts'
import { isSignedWebhook, largestEvent } from '#server/billing/razorpay.ts'
import type { App } from '#server/platform/answer.ts'
import type { Instant } from '#server/platform/clock.ts'
import type { Database } from '#server/platform/database.ts'
import type { Deps } from '#server/platform/deps.ts'
import { ProblemError } from '#server/platform/problem-error.ts'
import { type Attempt, openStates, startPayment } from './attempts.ts'
import { askProviderJob } from './jobs.ts'
import { readHook } from './keys.ts'
import { isFilled } from './page.ts'
import { type ProviderEvent, readProviderEvent } from './razorpay.ts'
import { payAttempts, payEvents } from './tables.ts'
import { texts } from './texts.ts'
import type { Opened } from './view.ts'

const uuid = z.uuid()

/**
 * Webhooks of an account's own business: a plain route, because the signature is over the bytes as they came and the caller is the provider. They
 * only make it be asked; what is about other links of the business is not kept.
 */
export function paymentHookRoutes(app: App, { db, clock, config, queue, log }: Deps): void {
  app.register((raw, _options, ready) => {
    raw.removeAllContentTypeParsers()
    raw.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, body, done) => done(null, body))
    raw.post<{ Params: { hookId: string } }>(
      '/payment-hooks/razorpay/:hookId',
      { schema: { hide: true }, bodyLimit: largestEvent },
      async (request, reply) => {
        const { hookId } = request.params
        const hook = uuid.safeParse(hookId).success ? await readHook(db, config, hookId) : null
        if (!hook) throw new ProblemError('not_found', texts.noHook)
        const body = Buffer.isBuffer(request.body) ? request.body : Buffer.alloc(0)
        const signature = request.headers['x-razorpay-signature']
        if (typeof signature !== 'string' || !isSignedWebhook(hook.secrets, body, signature))
          throw new ProblemError('invalid', texts.wrongSignature)
        const event = readProviderEvent(body)
        const eventId = request.headers['x-razorpay-event-id']
        // What cannot be read is the provider's own: refusing it would only make it come again for a day.
        if (event && typeof eventId === 'string' && eventId !== '') {
          const now = clock.now()
          await db.transaction(async (tx) => {
            const attempt = await attemptOf(tx, hook.ownerId, event)
            if (!attempt) return
            const about = { ownerId: hook.ownerId, eventId: eventId.slice(0, 200), attemptId: attempt.id, name: event.name.slice(0, 100) }
            const stored = await tx
              .insert(payEvents)
              .values({ ...about, receivedAt: now })
              .onConflictDoNothing()
              .returning({ eventId: payEvents.eventId })
            if (stored.length === 0) return
            await tx
              .update(payAttempts)
              .set({ nextAskAt: now, wakes: sql`${payAttempts.wakes} + 1` })
              .where(eq(payAttempts.id, attempt.id))
            await queue.send(tx, askProviderJob, { attemptId: attempt.id })
          })
        } else log.warn({ hookId }, 'A webhook about online payments could not be parsed.')
        return reply.header('cache-control', 'no-store').send({ received: true })
      },
    )
    ready()
  })
}

/** The attempt that an event is about, by its link, its reference or one of its payments. */
async function attemptOf(tx: Database, ownerId: string, { linkId, reference, paymentId }: ProviderEvent): Promise<Attempt | null> {
  const its = [
    linkId === null ? undefined : eq(payAttempts.providerId, linkId),
    reference === null || !uuid.safeParse(reference).success ? undefined : eq(payAttempts.id, reference),
    paymentId === null ? undefined : sql`${paymentId} = ANY(${payAttempts.paymentIds})`,
  ]
  for (const which of its) {
    const [found] = which
      ? await tx
          .select()
          .from(payAttempts)
          .where(and(eq(payAttempts.ownerId, ownerId), which))
          .limit(1)
      : []
    if (found) return found
  }
  return null
}

/** Whether the client comes back from paying, and the provider was not asked yet. What the address says only chooses what is shown. */
export async function isConfirming(db: Database, { linkId }: Pick<Opened, 'linkId'>, query: Record<string, unknown>): Promise<boolean> {
  const { razorpay_payment_link_id: providerId, razorpay_payment_link_status: status } = query
  if (typeof providerId !== 'string' || status !== 'paid') return false
  const its = and(eq(payAttempts.linkId, linkId), eq(payAttempts.providerId, providerId))
  return (await db.$count(payAttempts, and(its, sql`${payAttempts.state} IN ${openStates}`))) > 0
}

interface Params {
  token: string
  invoiceId?: string
  attemptId?: string
}
type Request = FastifyRequest<{ Params: Params; Body: Record<string, string> | null }>

/** What these routes have in common with those of the page. */
interface PageParts {
  opened(request: Request, reply: FastifyReply, now: Instant): Promise<Opened | null>
  pathOf(params: Params): string
  /** Counts a start; true once the link has had too many, which is answered then. */
  tooMany(reply: FastifyReply, link: Opened, now: Instant): Promise<boolean>
  showError(
    request: Request,
    reply: FastifyReply,
    link: Opened,
    error: 'changed' | 'failed' | 'filled',
    now: Instant,
  ): Promise<FastifyReply>
  showLeaving(reply: FastifyReply, about: { amountMinor: number; url: string }): FastifyReply
}

/** Starting a payment online from a page, and the page that leads on to the provider: a form of ours may not lead to another origin. */
export function onlineRoutes(pages: App, url: string, deps: Deps, parts: PageParts): void {
  const { db, clock, config } = deps
  const hidden = { schema: { hide: true } } as const
  pages.post<{ Params: Params; Body: Record<string, string> | null }>(`${url}/online`, hidden, async (request, reply) => {
    const now = clock.now()
    const link = await parts.opened(request, reply, now)
    if (!link) return reply
    const path = parts.pathOf(request.params)
    if (isFilled(request.body ?? {})) return parts.showError(request, reply, link, 'filled', now)
    const [amountMinor, balanceMinor] = [request.body?.amount, request.body?.of].map((text) => toMinor(Number(text ?? Number.NaN), 'INR'))
    if (amountMinor == null || balanceMinor == null) return reply.redirect(path, 303)
    if (await parts.tooMany(reply, link, now)) return reply
    const attempt = await startPayment(deps, link, { amountMinor, balanceMinor, callbackUrl: `${config.publicUrl}${path}` }, now)
    if (typeof attempt === 'string') return parts.showError(request, reply, link, attempt, now)
    return reply.redirect(`${path}/online/${attempt.id}`, 303)
  })
  pages.get<{ Params: Params; Body: null }>(`${url}/online/:attemptId`, hidden, async (request, reply) => {
    const link = await parts.opened(request, reply, clock.now())
    if (!link) return reply
    const { attemptId = '' } = request.params
    const its = uuid.safeParse(attemptId).success ? and(eq(payAttempts.id, attemptId), eq(payAttempts.linkId, link.linkId)) : undefined
    const [attempt] = its ? await db.select().from(payAttempts).where(its) : []
    if (attempt?.state !== 'open' || attempt.url === null || attempt.cancelWanted) return reply.redirect(parts.pathOf(request.params), 303)
    return parts.showLeaving(reply, { amountMinor: attempt.amountMinor, url: attempt.url })
  })
}
