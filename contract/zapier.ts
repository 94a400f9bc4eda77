import { z } from 'zod'
import { call } from './call.ts'

const settingsRecord = z.object({
  /** Subscribed to Zapier: what happens is delivered to it. */
  sendReminders: z.boolean(),
  /** The server knows a Zapier to connect with. */
  available: z.boolean(),
})

/** What the sidebar of every screen asks for, apart from the rest so that no screen has to load all of it. */
export const zapierCalls = {
  subscribe: call({
    method: 'POST',
    path: '/zapier/subscribe',
    summary: 'Deliver what happens to Zapier.',
    reply: settingsRecord,
  }),
  unsubscribe: call({
    method: 'POST',
    path: '/zapier/unsubscribe',
    summary: 'Pause deliveries to Zapier.',
    reply: settingsRecord,
  }),
  subscription: call({
    method: 'GET',
    path: '/zapier/check-subscription',
    summary: 'Whether what happens is delivered to Zapier.',
    reply: settingsRecord,
  }),
}
