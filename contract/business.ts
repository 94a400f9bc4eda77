import { z } from 'zod'
import { call, roles } from './call.ts'

const businessName = z
  .string('Please enter the name of the business.')
  .trim()
  .min(1, 'Please enter the name of the business.')
  .max(200, 'Please enter a name of at most 200 characters.')
  .refine((name) => !/\p{Cc}/u.test(name), 'Please enter a name on one line.')

export const business = z.object({
  _id: z.string(),
  /** As clients see it: the name of its owner, until it gets one of its own. */
  name: z.string(),
  role: z.enum(roles),
  /** The name of its owner. */
  owner: z.string(),
})
export type Business = z.infer<typeof business>

export const businessDetails = business.extend({
  /** Whether it has a name of its own. */
  named: z.boolean(),
  createdAt: z.string(),
})
export type BusinessDetails = z.infer<typeof businessDetails>

export const businessCalls = {
  list: call({ method: 'GET', path: '/businesses', by: 'self', summary: 'My businesses, the oldest first.', reply: z.array(business) }),
  create: call({
    method: 'POST',
    path: '/businesses',
    by: 'self',
    status: 201,
    summary: 'Add a business, which I own. `plan_limit` where I own one already that pays for no plan.',
    body: z.strictObject({ name: businessName }),
    reply: business,
  }),
  read: call({ method: 'GET', path: '/business', by: 'viewer', summary: 'The business that the call is about.', reply: businessDetails }),
  change: call({
    method: 'PATCH',
    path: '/business',
    by: 'admin',
    summary: 'Name the business.',
    body: z.strictObject({ name: businessName }),
    reply: businessDetails,
  }),
  remove: call({
    method: 'DELETE',
    path: '/business',
    by: 'owner',
    summary:
      'Delete the business with all of its records. `invalid` where the name is another one, `conflict` where it is my only business, `recent_sign_in_needed` after 15 minutes.',
    body: z.strictObject({ name: businessName }),
  }),
}
