import { createHmac, randomBytes } from 'node:crypto'
import type { Instant } from '#server/platform/clock.ts'
import type { SealedColumn } from '#server/platform/reseal.ts'
import { seal, unseal } from '#server/platform/secrets.ts'

const prefix = 'whsec_'
const purpose = 'hook-secret'
const placeOf = (hookId: string) => `hooks.${hookId}.sealedSecret`

export const sealedWebhooks: SealedColumn = { table: 'hooks', column: 'sealed_secret', key: 'id', purpose, place: placeOf }

/** The signing secret as its receiver sees it: 256 random bits in base64 behind `whsec_` (standardwebhooks.com). */
export function newWebhookSecret(): string {
  return prefix + randomBytes(32).toString('base64')
}

/** Bound to the row of its webhook. */
export function sealWebhookSecret(secretKey: string, hookId: string, secret: string): string {
  return seal(secretKey, purpose, placeOf(hookId), secret)
}

/**
 * The signature headers: `v1,` and the HMAC-SHA256 of id, seconds and body, in base64. Throws where the secret was sealed for another row.
 */
export function signWebhook(
  secretKey: string,
  webhook: { id: string; sealedSecret: string },
  event: { eventId: string; body: string },
  now: Instant,
): Record<string, string> {
  const seconds = String(Math.floor(now.epochMilliseconds / 1000))
  const secret = unseal(secretKey, purpose, placeOf(webhook.id), webhook.sealedSecret)
  const key = Buffer.from(secret.slice(prefix.length), 'base64')
  const signature = createHmac('sha256', key).update(`${event.eventId}.${seconds}.${event.body}`).digest('base64')
  return { 'webhook-id': event.eventId, 'webhook-timestamp': seconds, 'webhook-signature': `v1,${signature}` }
}
