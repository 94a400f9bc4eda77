import { z } from 'zod'
import { job } from '#server/platform/job.ts'

/** Signals that an account has events that are not yet composed for its webhooks. */
export const composeWebhooksJob = job({ name: 'compose-hooks', payload: z.object({ ownerId: z.string() }), key: ({ ownerId }) => ownerId })

/** Signals that an account has watched addresses whose hour has come. */
export const pullSourcesJob = job({ name: 'pull-sources', payload: z.object({ ownerId: z.string() }), key: ({ ownerId }) => ownerId })

/** Signals that an account has webhooks with due deliveries. */
export const callReceiversJob = job({ name: 'call-receivers', payload: z.object({ ownerId: z.string() }), key: ({ ownerId }) => ownerId })
