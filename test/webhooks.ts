import { createHmac, timingSafeEqual } from 'node:crypto'
import { eq, inArray } from 'drizzle-orm'
import { z } from 'zod'
import {
  integrationCalls,
  type Webhook,
  type WebhookEvent,
  type WebhookPayload,
  webhookEvent,
  webhookPayload,
} from '#contract/integrations.ts'
import { webhookDeliveries, webhookEvents, webhooks } from '#server/integrations/tables.ts'
import { newId } from '#server/platform/columns.ts'
import type { FakeReceiver, HeardCall } from '#test/fakes/receiver.ts'
import { type Asker, ask, type TestApp } from './harness.ts'

/** A webhook that calls this receiver, with its secret. Its URL is verified. */
export async function aWebhook(
  app: TestApp,
  someone: Asker,
  receiver: FakeReceiver,
  about: { events?: WebhookEvent[]; path?: string } = {},
): Promise<Webhook & { secret: string }> {
  const body = { url: `${receiver.url}${about.path ?? '/duely'}`, events: about.events ?? [...webhookEvent.options] }
  const { reply, problem } = await ask(app, someone, integrationCalls.addWebhook, { body })
  if (problem) throw new Error(problem.message)
  const challenges = app.db.select({ id: webhookDeliveries.eventId }).from(webhookDeliveries).where(eq(webhookDeliveries.hookId, reply._id))
  await app.db.delete(webhookEvents).where(inArray(webhookEvents.id, challenges))
  await app.db.update(webhooks).set({ verifiedAt: app.clock.now() }).where(eq(webhooks.id, reply._id))
  return { ...reply, pausedBecause: null }
}

/** So many more copies of the only Zap, each with a URL of its own: a call for each would take seconds. */
export async function copyZap({ db }: TestApp, copies: number): Promise<void> {
  const [zap] = await db.select().from(webhooks)
  if (!zap) throw new Error('There is no Zap.')
  await db.insert(webhooks).values(Array.from({ length: copies }, (_none, nth) => ({ ...zap, id: newId(), url: `${zap.url}/${nth}` })))
}

/** The events a receiver got so far, each checked against the contract, without test events. */
export function toldTo(receiver: FakeReceiver, path = '/duely'): WebhookPayload[] {
  const bodies = receiver.calls.filter((call) => call.path === path).map(({ body }) => JSON.parse(body) as unknown)
  return bodies.filter((body) => z.object({ type: z.string() }).parse(body).type !== 'test').map((body) => webhookPayload.parse(body))
}

/**
 * Whether a call is from who knows the secret, as the specification of Standard Webhooks has a receiver find out: within five minutes of now (in
 * seconds), one signature of the list, over id, timestamp and the raw body.
 */
export function isSigned({ headers, body }: HeardCall, secret: string, now: number): boolean {
  const [id, timestamp, signatures] = ['webhook-id', 'webhook-timestamp', 'webhook-signature'].map((name) => headers[name])
  if (typeof id !== 'string' || typeof timestamp !== 'string' || typeof signatures !== 'string') return false
  if (!/^\d+$/.test(timestamp) || Math.abs(now - Number(timestamp)) > 300) return false
  const key = Buffer.from(secret.replace(/^whsec_/, ''), 'base64')
  const right = createHmac('sha256', key)
    .update(Buffer.concat([Buffer.from(`${id}.${timestamp}.`), Buffer.from(body)]))
    .digest()
  return signatures.split(' ').some((one) => {
    const [version, signature = ''] = one.split(',')
    const given = Buffer.from(signature, 'base64')
    return version === 'v1' && given.length === right.length && timingSafeEqual(given, right)
  })
}
