import { z } from 'zod'
import { call } from './call.ts'
import { reminderDay } from './leaving.ts'
import { mostSelected } from './reminders.ts'

/* What an owner does without a session, by a link of an email. */

const token = z.string().max(200).meta({ description: 'From the link of the email.' })

/** Addresses that one act names: the page knows none, and sends the `key` of clients. */
const mostEmails = 200

/** The keys of `mostSelected` clients, 43 characters each. */
const ofSelection = 512 * 1024

const which = z.strictObject({
  token,
  clientEmails: z.array(z.string().max(320)).min(1).max(mostEmails).optional().meta({ description: 'Only clients of these addresses.' }),
  clients: z.array(z.string().max(100)).min(1).max(mostSelected).optional().meta({ description: 'Only clients of these keys.' }),
})

const eveningDay = reminderDay.omit({ clients: true }).extend({
  hour: z.string().meta({ description: 'When the daily run begins, at the account: `9:00`.' }),
  until: z.string().meta({ format: 'date-time', description: 'Until when the link works.' }),
  clients: z.array(reminderDay.shape.clients.element.omit({ clientEmail: true }).extend({ key: z.string() })),
})
export type EveningDay = z.infer<typeof eveningDay>

export const ownerLinkCalls = {
  lookAtEvening: call({
    method: 'POST',
    path: '/evening/look',
    open: true,
    reads: true,
    summary: 'The reminders of the date of a link: names and references only.',
    body: z.strictObject({ token }),
    reply: eveningDay,
  }),
  leaveOutOfEvening: call({
    method: 'POST',
    path: '/evening/leave-out',
    open: true,
    summary: 'Leave clients out on the date of a link, or all of it.',
    body: which,
    bodyLimit: ofSelection,
    reply: eveningDay,
  }),
  takeBackInEvening: call({
    method: 'POST',
    path: '/evening/take-back',
    open: true,
    summary: 'Take them back.',
    body: which,
    bodyLimit: ofSelection,
    reply: eveningDay,
  }),
  endSummaries: call({
    method: 'POST',
    path: '/summary/unsubscribe',
    open: true,
    summary: 'End the weekly summaries of the account that the email was for, as RFC 8058 describes; the body is not read.',
    query: z.object({ token }),
  }),
}
