import { z } from 'zod'
import { call } from './call.ts'
import { mostSelected, run } from './reminders.ts'

/* What an owner can do about the emails of a daily run before they leave. */

/** Emails that the list of a run has. */
export const mostLeaving = 1_000

export const leavingMail = z
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
    summary: `The emails of a daily run that have not left, and those that were left out; the first ${mostLeaving}.`,
    params: byId,
    reply: z.array(leavingMail),
  }),
  leaveOut: call({
    method: 'POST',
    path: '/reminder/runs/:id/leave-out',
    summary: 'Leave invoices out of a daily run, for that day only; emails being sent at this moment may still be delivered.',
    params: byId,
    body: which,
    reply: run,
  }),
  takeBack: call({
    method: 'POST',
    path: '/reminder/runs/:id/take-back',
    summary: 'Take back what was left out of a daily run: its emails leave after all.',
    params: byId,
    body: which,
    reply: run,
  }),
  sendNow: call({
    method: 'POST',
    path: '/reminder/runs/:id/send-now',
    summary: 'Send the emails of a daily run that are waiting to leave now.',
    params: byId,
    reply: run,
  }),
}
