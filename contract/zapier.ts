import { z } from 'zod'
import { call } from './call.ts'

const settingsRecord = z
  .object({
    sendReminders: z.boolean().meta({ description: 'Events are delivered to Zapier.' }),
    available: z.boolean().meta({ description: 'This server is set up for Zapier.' }),
    connected: z.boolean().meta({ description: 'Zapier has access to the account: without it nothing is delivered.' }),
  })
  .meta({ id: 'ZapierSettings', description: 'Whether events are delivered to Zapier.' })

/** The sidebar's calls, separate from the rest so that screens need not load all of it. */
export const zapierCalls = {
  subscribe: call({
    method: 'POST',
    path: '/zapier/subscribe',
    by: 'admin',
    summary: 'Deliver events to Zapier.',
    reply: settingsRecord,
  }),
  unsubscribe: call({
    method: 'POST',
    path: '/zapier/unsubscribe',
    by: 'admin',
    summary: 'Pause deliveries to Zapier.',
    reply: settingsRecord,
  }),
  subscription: call({
    method: 'GET',
    path: '/zapier/check-subscription',
    by: 'viewer',
    summary: 'Whether events are delivered to Zapier.',
    reply: settingsRecord,
  }),
}
