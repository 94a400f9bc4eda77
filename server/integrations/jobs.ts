import { z } from 'zod'
import { job } from '#server/platform/job.ts'

/** Wakes somebody up for what happened to one account and has not been handed to those who listen. */
export const composeWebhooksJob = job({ name: 'compose-hooks', payload: z.object({ ownerId: z.string() }), key: ({ ownerId }) => ownerId })

/** Wakes somebody up for what is due to one receiver. */
export const deliverWebhookJob = job({ name: 'deliver-hook', payload: z.object({ hookId: z.string() }), key: ({ hookId }) => hookId })
