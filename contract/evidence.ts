import { z } from 'zod'
import { call } from './call.ts'

export const evidenceCalls = {
  download: call({
    method: 'GET',
    path: '/invoice/:id/evidence',
    by: 'viewer',
    summary: 'What Duely did about an invoice, as a ZIP file.',
    params: z.object({ id: z.string() }),
    /** The file itself. */
    reply: z.unknown(),
  }),
}
