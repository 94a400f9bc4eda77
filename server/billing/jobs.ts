import { z } from 'zod'
import { job } from '#server/platform/job.ts'

/** Asks the provider about one purchase and records its answer. */
export const reconcileJob = job({ name: 'settle', payload: z.object({ purchaseId: z.string() }), key: ({ purchaseId }) => purchaseId })
