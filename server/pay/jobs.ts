import { z } from 'zod'
import { job } from '#server/platform/job.ts'

/** Asks the provider about one attempt to pay and records what it answers. */
export const askProviderJob = job({ name: 'ask-payment', payload: z.object({ attemptId: z.string() }), key: ({ attemptId }) => attemptId })
