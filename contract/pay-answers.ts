import { z } from 'zod'
import { emailAddress } from './accounts.ts'
import { call } from './call.ts'
import { invoiceDraft, invoicePause } from './invoices.ts'
import { paymentAmount, paymentMethod } from './payments.ts'
import { entered } from './text.ts'

export const answerFact = z
  .object({
    _id: z.string().meta({ format: 'uuid', description: 'The answer.' }),
    invoiceId: z.string().meta({ format: 'uuid', description: 'The invoice that it is about.' }),
    kind: z.enum(['paid', 'promise', 'question', 'wrong_person']).meta({ description: 'What the client said.' }),
    at: z.string().meta({ format: 'date-time', description: 'When.' }),
    date: z.string().nullable().meta({ format: 'date', description: 'When it was paid, or by when it will be.' }),
    amount: z.number().nullable().meta({ description: 'What was paid, in the currency of the invoice.' }),
    reference: z.string().meta({ description: 'The reference of the payment, such as a UTR.' }),
    message: z.string().meta({ description: 'The question.' }),
    name: z.string().meta({ description: 'The name of the right person.' }),
    email: z.string().meta({ description: 'The email of the right person.' }),
    state: z.enum(['open', 'accepted', 'declined', 'replaced', 'ended']).meta({ description: 'Open until the owner decides, or it ends.' }),
    pausedUntil: z
      .string()
      .nullable()
      .meta({ format: 'date', description: 'Until when it pauses the reminders; null where it pauses nothing.' }),
  })
  .meta({ id: 'Answer', description: 'What a client said about an invoice on its pay page.' })

export const payAnswer = answerFact
  .extend({
    invoice: z
      .object({
        reference: z.string(),
        clientName: z.string(),
        clientEmail: z.string(),
        balance: z.number(),
        amountPaid: z.number(),
        currency: z.string(),
      })
      .meta({ description: 'The invoice as it is now.' }),
  })
  .meta({ id: 'PayAnswer', description: 'What a client said about an invoice on its pay page, and the invoice.' })
export type PayAnswer = z.output<typeof payAnswer>

const decidedAnswer = payAnswer
  .extend({ pause: invoicePause.nullable().meta({ description: 'What its invoice still waits for; null: reminders have resumed.' }) })
  .meta({ id: 'DecidedAnswer', description: 'A decided answer, and the pause of its invoice.' })
export type DecidedAnswer = z.output<typeof decidedAnswer>

/** Corrections: of the payment that is recorded, or of the new contact. */
const answerAcceptance = z
  .strictObject({
    amount: paymentAmount,
    paidOn: invoiceDraft.shape.dueDate,
    method: paymentMethod,
    reference: entered().max(80, 'Please enter a reference of at most 80 characters.'),
    recorded: z.boolean().meta({ description: 'Whether the payment is recorded already: then none is recorded.' }),
    clientName: invoiceDraft.shape.clientName,
    clientEmail: emailAddress,
  })
  .partial()
export type AnswerAcceptance = z.output<typeof answerAcceptance>

const byId = z.object({ id: z.string() })

export const payAnswerCalls = {
  list: call({
    method: 'GET',
    path: '/answers',
    by: 'viewer',
    summary: 'What clients said on pay pages, newest first, at most 200.',
    reply: z.array(payAnswer),
  }),
  accept: call({
    method: 'POST',
    path: '/answers/:id/accept',
    by: 'member',
    summary:
      'Accept an answer: a payment is recorded, a promise keeps its pause, a question is settled, another contact is taken over. `conflict` where it is not open any more, or its payment is recorded already: `recorded` accepts it without another one.',
    params: byId,
    body: answerAcceptance,
    reply: decidedAnswer,
  }),
  decline: call({
    method: 'POST',
    path: '/answers/:id/decline',
    by: 'member',
    summary:
      'Decline an answer: its pause ends, and reminders resume unless the owner paused them or accepted a promise before. `conflict` where it is not open any more.',
    params: byId,
    reply: decidedAnswer,
  }),
}
