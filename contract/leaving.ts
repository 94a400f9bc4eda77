import { z } from 'zod'
import { call } from './call.ts'
import { mostSelected, run } from './reminders.ts'

/* What an owner can do about the emails of a daily run before they leave. */

/** Emails that the list of a run has. */
export const mostLeaving = 1_000

const leavingMail = z
  .object({
    clientName: z.string(),
    clientEmail: z.string(),
    leftOut: z.boolean().meta({ description: 'It was left out, and can be taken back.' }),
    invoices: z
      .array(
        z.object({
          invoiceId: z.string().meta({ format: 'uuid' }),
          reference: z.string(),
          amount: z.number().meta({ description: 'What is left to pay, in its currency.' }),
          currency: z.string(),
          dueDate: z.string().meta({ format: 'date' }),
        }),
      )
      .meta({ description: 'By due date.' }),
  })
  .meta({ id: 'LeavingMail', description: 'An email of a daily run that has not left.' })
export type LeavingMail = z.infer<typeof leavingMail>

export const reminderDay = z
  .object({
    date: z.string().meta({ format: 'date' }),
    leave: z.number().int().meta({ description: 'How many emails leave.' }),
    of: z.number().int().meta({ description: 'How many there are, those that were left out included.' }),
    clients: z
      .array(
        z.object({
          clientName: z.string(),
          clientEmail: z.string(),
          references: z.array(z.string()).meta({ description: 'The invoices that their emails are about.' }),
          emails: z.number().int().meta({ description: 'How many they are.' }),
          leftOut: z.boolean(),
          gone: z.boolean().meta({ description: 'Their emails have left, or are being sent at this moment.' }),
        }),
      )
      .meta({ description: 'In the order of the emails.' }),
  })
  .meta({ id: 'ReminderDay', description: 'The emails of the daily run of a date: as planned, or as they were made.' })
export type ReminderDay = z.infer<typeof reminderDay>

const byDate = z.object({ date: z.string().meta({ format: 'date' }) })
const whichClients = z.strictObject({
  clientEmails: z
    .array(z.string().max(320))
    .min(1, 'Please choose at least one client.')
    .max(mostSelected)
    .optional()
    .meta({ description: 'Only clients of these addresses. Without it all of that date.' }),
})

const byId = z.object({ id: z.string() })
const which = z.strictObject({
  invoiceIds: z
    .array(z.string())
    .min(1, 'Please choose at least one invoice.')
    .max(mostSelected, 'Please choose at most 10,000 invoices.')
    .optional()
    .meta({ description: 'Only these invoices. Without it all of the run.' }),
})
export type WhichLeave = z.output<typeof which>

export const leavingCalls = {
  mails: call({
    method: 'GET',
    path: '/reminder/runs/:id/leaving',
    by: 'viewer',
    summary: `The emails of a daily run that have not left, and those that were left out; the first ${mostLeaving}.`,
    params: byId,
    reply: z.array(leavingMail),
  }),
  leaveOut: call({
    method: 'POST',
    path: '/reminder/runs/:id/leave-out',
    by: 'member',
    summary: 'Leave invoices out of a daily run, for that day only; emails being sent at this moment may still be delivered.',
    params: byId,
    body: which,
    reply: run,
  }),
  takeBack: call({
    method: 'POST',
    path: '/reminder/runs/:id/take-back',
    by: 'member',
    summary: 'Take back what was left out of a daily run: its emails leave after all.',
    params: byId,
    body: which,
    reply: run,
  }),
  leaveOutOnDay: call({
    method: 'POST',
    path: '/reminder/days/:date/leave-out',
    by: 'member',
    summary: 'Leave clients out of the daily run of a date, today or one of the next 30 days.',
    params: byDate,
    body: whichClients,
    reply: reminderDay,
  }),
  takeBackOnDay: call({
    method: 'POST',
    path: '/reminder/days/:date/take-back',
    by: 'member',
    summary: 'Take back clients that were left out on a date.',
    params: byDate,
    body: whichClients,
    reply: reminderDay,
  }),
  sendNow: call({
    method: 'POST',
    path: '/reminder/runs/:id/send-now',
    by: 'member',
    summary: 'Send the emails of a daily run that are waiting to leave now.',
    params: byId,
    reply: run,
  }),
}
