import { createHash } from 'node:crypto'
import { z } from 'zod'
import { batch } from '#server/platform/batch.ts'
import type { Instant } from '#server/platform/clock.ts'
import type { Database } from '#server/platform/database.ts'
import { paymentEvents } from './tables.ts'

type Event = typeof paymentEvents.$inferInsert

/** Of an event only what it is about is read. The payload is a snapshot that may be old when it comes, and in some events ids lack their prefix. */
const named = z
  .object({ entity: z.object({ id: z.string(), order_id: z.string().nullish() }).optional().catch(undefined) })
  .optional()
  .catch(undefined)
const envelope = z.object({
  event: z.string(),
  payload: z.object({
    payment: named,
    order: named,
    subscription: named,
    refund: z
      .object({ entity: z.object({ payment_id: z.string() }) })
      .optional()
      .catch(undefined),
  }),
})

/** What an event is about; null where it cannot be read. `eventId`: the provider's header; without it the bytes name it, which a retry repeats. */
export function readWebhook(body: Buffer, eventId: string | undefined, now: Instant): Event | null {
  const parsed = envelope.safeParse(parse(body))
  if (!parsed.success) return null
  const { event, payload } = parsed.data
  return {
    eventId: eventId ?? `sha256:${createHash('sha256').update(body).digest('hex')}`,
    name: event,
    orderId: payload.order?.entity?.id ?? payload.payment?.entity?.order_id ?? null,
    subscriptionId: payload.subscription?.entity?.id ?? null,
    paymentId: payload.payment?.entity?.id ?? payload.refund?.entity.payment_id ?? null,
    receivedAt: now,
  }
}

/**
 * Stores an event and resolves once it is in the database. The provider waits 5 s for an answer, so events that arrive while a statement runs share
 * the next one.
 */
export function openInbox(store: (events: Event[]) => Promise<void>): (event: Event) => Promise<void> {
  return batch({ concurrency: 1, size: 500 }, async (events: Event[]) => {
    await store(events)
    return events.map(() => undefined)
  })
}

/** One row an event, however often it comes. */
export async function keepEvents(db: Database, events: Event[]): Promise<void> {
  const once = new Map(events.map((event) => [event.eventId, event]))
  await db
    .insert(paymentEvents)
    .values([...once.values()])
    .onConflictDoNothing()
}

function parse(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString('utf8'))
  } catch {
    return null
  }
}
