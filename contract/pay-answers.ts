import { z } from 'zod'
import { emailAddress } from './accounts.ts'
import { call } from './call.ts'
import { invoiceDraft } from './invoices.ts'
import { paymentAmount, paymentMethod } from './payments.ts'

/** What a client said about an invoice on its pay page. */
export const payAnswer = z.object({
  _id: z.string(),
  invoiceId: z.string(),
  kind: z.enum(['paid', 'promise', 'question', 'wrong_person']),
  at: z.string(),
  /** When it was paid, or by when it will be. */
  date: z.string().nullable(),
  amount: z.number().nullable(),
  reference: z.string(),
  message: z.string(),
  /** Of the right person. */
  name: z.string(),
  email: z.string(),
  state: z.enum(['open', 'accepted', 'declined', 'replaced', 'ended']),
  /** Until when it pauses the reminders; null where it pauses nothing. */
  pausedUntil: z.string().nullable(),
  /** The invoice as it is now. */
  invoice: z.object({
    reference: z.string(),
    clientName: z.string(),
    clientEmail: z.string(),
    balance: z.number(),
    currency: z.string(),
  }),
})
export type PayAnswer = z.output<typeof payAnswer>

/** Corrections: of the payment that is recorded, or of the new contact. */
export const answerAcceptance = z
  .strictObject({
    amount: paymentAmount,
    paidOn: invoiceDraft.shape.dueDate,
    method: paymentMethod,
    reference: z.string().trim().max(80, 'Please enter a reference of at most 80 characters.'),
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
    summary: 'What clients said on pay pages, newest first, at most 200.',
    reply: z.array(payAnswer),
  }),
  accept: call({
    method: 'POST',
    path: '/answers/:id/accept',
    summary:
      'Accept an answer: a payment is recorded, a promise keeps its pause, a question is settled, another contact is taken over. `conflict` where it is not open any more.',
    params: byId,
    body: answerAcceptance,
    reply: payAnswer,
  }),
  decline: call({
    method: 'POST',
    path: '/answers/:id/decline',
    summary: 'Decline an answer: its pause ends and reminders resume. `conflict` where it is not open any more.',
    params: byId,
    reply: payAnswer,
  }),
}
