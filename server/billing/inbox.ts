import { createHash } from 'node:crypto'
import { z } from 'zod'
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

/** Keeps events: resolves once they are in the database. */
export type Inbox = (event: Event) => Promise<void>

/**
 * The provider waits 5 s for an answer and calls anything later a failure. However many events come at once and however slow the database
 * is, one statement is under way and the next one takes all that has come meanwhile.
 */
export function openInbox(keep: (events: Event[]) => Promise<void>): Inbox {
  let waiting: { event: Event; done: () => void; fail: (error: unknown) => void }[] = []
  let busy = false
  const flush = async () => {
    busy = true
    while (waiting.length > 0) {
      const batch = waiting
      waiting = []
      try {
        await keep(batch.map(({ event }) => event))
        for (const { done } of batch) done()
      } catch (error) {
        for (const { fail } of batch) fail(error)
      }
    }
    busy = false
  }
  return (event) =>
    new Promise((done, fail) => {
      waiting.push({ event, done, fail })
      if (!busy) void flush()
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
