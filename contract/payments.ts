import { z } from 'zod'
import { call } from './call.ts'
import { calendarDate, invoice } from './invoices.ts'
import { entered } from './text.ts'

export const paymentKind = z.enum(['payment', 'refund', 'credit'], 'Please choose payment, refund or credit.').meta({
  description:
    'Whether the client paid, was paid back, or got a credit note. A credit lowers what is owed, and no money came in: it is not part of what was received.',
})
export type PaymentKind = z.infer<typeof paymentKind>

export const paymentMethod = z
  .enum(
    ['upi', 'bank', 'card', 'cash', 'cheque', 'online', 'other'],
    'Please choose one of upi, bank, card, cash, cheque, online and other.',
  )
  .meta({ description: 'How it was paid.' })
export type PaymentMethod = z.infer<typeof paymentMethod>

export const paymentOrigin = z.enum(['marked', 'by_hand', 'answer', 'bank_file', 'program', 'import', 'razorpay']).meta({
  description:
    'Where it came from. `marked`: the status was set to paid, and the payment is over what was left. `answer`: the client named it and you accepted it.',
})
export type PaymentOrigin = z.infer<typeof paymentOrigin>

export const payment = z
  .object({
    _id: z.string().meta({ format: 'uuid', description: 'Assigned by Duely.' }),
    invoiceId: z.string().meta({ format: 'uuid', description: 'The invoice that was paid.' }),
    kind: paymentKind,
    origin: paymentOrigin,
    amount: z.number().meta({
      description: 'In the currency of the invoice. Always above 0; a refund is taken off, a credit lowers what is owed as a payment does.',
    }),
    currency: z.string().meta({ description: 'The ISO 4217 code of that currency.' }),
    paidOn: z.string().meta({ format: 'date', description: 'The day of the payment.' }),
    method: paymentMethod.nullable().meta({ description: 'How it was paid; null where that is not known.' }),
    reference: z.string().meta({ description: 'The reference of the payment, such as a UTR; may be empty.' }),
    note: z.string().meta({ description: 'A note of the owner, never sent to the client.' }),
    recordedAt: z.string().meta({ format: 'date-time', description: 'When it was recorded.' }),
    voidedAt: z.string().nullable().meta({ format: 'date-time', description: 'When it was taken back: it does not count since.' }),
  })
  .meta({ id: 'Payment', description: 'A payment of an invoice, a refund, or a credit note. It is never changed, only taken back.' })
export type Payment = z.infer<typeof payment>

const line = (most: number, what: string) =>
  entered()
    .max(most, `Please enter ${what} of at most ${most} characters.`)
    .refine((text) => !/[\p{Cc}--\n]/v.test(text), `Please enter ${what} without control characters.`)

/** The amount of a payment: above 0. The server knows the currency of its invoice, and how many decimals that has. */
export const paymentAmount = z
  .number('Please enter an amount such as 5000.50.')
  .positive({ error: 'Please enter an amount above 0.', abort: true })
  .max(9_999_999_999.99, { error: 'Please enter an amount of at most 9,999,999,999.99.', abort: true })

const paymentDraft = z
  .strictObject({
    kind: paymentKind.default('payment'),
    amount: paymentAmount.meta({ description: 'What was paid. More than the balance is recorded as it is.' }),
    paidOn: calendarDate.optional().meta({ format: 'date', description: 'The day of the payment, not in the future. Without it today.' }),
    method: paymentMethod.nullable().default(null).meta({ description: 'How it was paid.' }),
    reference: line(80, 'a reference')
      .refine((text) => !text.includes('\n'), 'Please enter a reference on one line.')
      .default('')
      .meta({ description: 'The reference of the payment, such as a UTR.' }),
    note: line(500, 'a note').default('').meta({ description: 'A note for yourself, never sent to the client.' }),
  })
  .meta({ id: 'PaymentDraft', description: 'A payment, a refund or a credit note to record.' })
export type PaymentDraft = z.output<typeof paymentDraft>

export const recorded = z
  .object({ payment, invoice })
  .meta({ id: 'RecordedPayment', description: 'A payment, and its invoice as it is now.' })

const byInvoice = z.object({ id: z.string() })

export const paymentCalls = {
  list: call({
    method: 'GET',
    path: '/invoice/:id/payments',
    by: 'viewer',
    summary: 'The payments and refunds of an invoice, newest first, with those that were taken back.',
    params: byInvoice,
    reply: z.array(payment),
  }),
  record: call({
    method: 'POST',
    path: '/invoice/:id/payments',
    by: 'member',
    status: 201,
    summary:
      'Record a payment, a refund or a credit note. The invoice is paid once nothing is left to pay. `conflict` where a credit note with this reference is recorded on it already.',
    params: byInvoice,
    body: paymentDraft,
    reply: recorded,
  }),
  takeBack: call({
    method: 'POST',
    path: '/invoice/:id/payments/:pid/void',
    by: 'member',
    summary: 'Take a payment or refund back: it stays in the list and does not count any more. Again has no further effect.',
    params: byInvoice.extend({ pid: z.string() }),
    reply: recorded,
  }),
  export: call({
    method: 'GET',
    path: '/payments/export',
    by: 'viewer',
    summary: 'All payments and refunds as a CSV file, newest first.',
    /** The file itself, text/csv in UTF-8. */
    reply: z.string(),
  }),
}
