import { z } from 'zod'
import { call } from './call.ts'

/* What an owner does without a session, by a link of an email. */

const token = z.string().max(200).meta({ description: 'From the link of the email.' })

export const ownerLinkCalls = {
  endSummaries: call({
    method: 'POST',
    path: '/summary/unsubscribe',
    open: true,
    summary: 'End the weekly summaries of the account that the email was for, as RFC 8058 describes; the body is not read.',
    query: z.object({ token }),
  }),
}
