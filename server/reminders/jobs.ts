import { z } from 'zod'
import { job } from '#server/platform/job.ts'

/** Signals that an account has due deliveries. */
export const deliverJob = job({ name: 'deliver', payload: z.object({ ownerId: z.string() }), key: ({ ownerId }) => ownerId })

/** The place in the queue of work that a person waits for: before the daily burst. */
export const byHand = -1
