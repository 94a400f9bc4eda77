import { z } from 'zod'
import type { Database } from '#server/platform/database.ts'
import { job, type Queue } from '#server/platform/job.ts'

/** Signals that an account has due deliveries. */
export const deliverJob = job({ name: 'deliver', payload: z.object({ ownerId: z.string() }), key: ({ ownerId }) => ownerId })

/** Signals that the mailbox of a refused sender is to be tried again. */
export const trySenderJob = job({
  name: 'try-sender',
  payload: z.object({ ownerId: z.string(), senderId: z.string() }),
  key: ({ senderId }) => senderId,
})

/** Signals it for many accounts. */
export function wakeAccounts(db: Database, queue: Queue, ownerIds: string[]): Promise<void> {
  return queue.sendMany(
    db,
    deliverJob,
    ownerIds.map((ownerId) => ({ ownerId })),
  )
}

/** The place in the queue of work that a person waits for: before the daily burst. */
export const byHand = -1
