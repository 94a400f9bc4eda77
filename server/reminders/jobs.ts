import { z } from 'zod'
import { job } from '#server/platform/job.ts'

/** Wakes somebody up for the mails of one account that are due. */
export const deliverJob = job({ name: 'deliver', payload: z.object({ ownerId: z.string() }), key: ({ ownerId }) => ownerId })
