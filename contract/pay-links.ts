import { z } from 'zod'
import { call } from './call.ts'

const byId = z.object({ id: z.string() })
const payLink = z.object({ url: z.string().meta({ format: 'uri', description: 'The address of the pay page. It needs no sign-in.' }) })

export const payLinkCalls = {
  create: call({
    method: 'POST',
    path: '/invoice/:id/pay-link',
    summary: 'The link to the pay page of an invoice: the same each time, until it is revoked or the client has another email.',
    params: byId,
    reply: payLink,
  }),
  revoke: call({
    method: 'DELETE',
    path: '/invoice/:id/pay-link',
    summary: 'Revoke the link to the pay page of an invoice: it stops working, and the next one is another.',
    params: byId,
  }),
  createStatement: call({
    method: 'POST',
    path: '/clients/:id/pay-link',
    summary: 'The link to the statement of a client: all open invoices of their email, each with its own page below.',
    params: byId,
    reply: payLink,
  }),
  revokeStatement: call({
    method: 'DELETE',
    path: '/clients/:id/pay-link',
    summary: 'Revoke the link to the statement of a client: it stops working, and the next one is another.',
    params: byId,
  }),
}
