import { z } from 'zod'
import { currencyCode } from './accounts.ts'
import { call } from './call.ts'
import { calendarDate } from './invoices.ts'
import { paymentAmount } from './payments.ts'

/** Lines of one call: a busy year has fewer. */
export const mostLines = 2_000

const text = (most: number) =>
  z
    .string()
    .max(most, `Please shorten this text to ${most} characters.`)
    .transform((value) => value.replace(/\p{Cc}+/gu, ' ').trim())
    .default('')

/** A line of a bank file, as the browser read it: money that came in. */
const bankLine = z
  .strictObject({
    date: calendarDate.meta({ format: 'date', description: 'The day of the transfer.' }),
    amount: paymentAmount.meta({ description: 'What came in, above 0.' }),
    currency: currencyCode.optional().meta({ description: 'Its currency. Without it that of the call.' }),
    valueDate: calendarDate.nullable().default(null).meta({ format: 'date', description: 'The value date, where it is another day.' }),
    bankId: text(200).meta({ description: "The bank's own id of the transfer, where it has one." }),
    place: z.int().min(0).max(100_000).optional().meta({
      description: 'How many equal transfers of that day are before it in the file. Without it: in this call.',
    }),
    description: text(1_000).meta({ description: 'The text of the bank.' }),
    reference: text(200).meta({ description: 'The reference, where it is a column of its own.' }),
    name: text(200).meta({ description: 'Who paid, where it is a column of its own.' }),
  })
  .meta({ id: 'BankLine' })
export type BankLine = z.output<typeof bankLine>

const share = z
  .strictObject({ invoiceId: z.string().meta({ description: 'The invoice that the line pays.' }), amount: paymentAmount })
  .meta({ id: 'BankLineShare', description: 'What a line pays of one invoice.' })

export const verdict = z.enum(['sure', 'likely', 'recorded', 'none']).meta({
  description:
    '`sure`: the text names the invoice and the amount fits. `likely`: to be looked at. `recorded`: this line was recorded before. `none`: no invoice fits.',
})
export type Verdict = z.infer<typeof verdict>

const bankEvidence = z
  .object({
    field: z.enum(['description', 'reference', 'name']).meta({ description: 'Which text of the line.' }),
    text: z.string().meta({ description: 'What it says, as it says it.' }),
    kind: z.enum(['reference', 'name', 'payment']).meta({
      description:
        'What it matched: the `reference` of an invoice; the `name` of its client, by two words or by one that no other client has; or the reference of a `payment`, such as a UTR.',
    }),
  })
  .meta({ id: 'BankEvidence', description: 'Words of a line that a match rests on.' })
export type BankEvidence = z.infer<typeof bankEvidence>

export const bankMatch = z
  .object({
    line: z.int().meta({ description: 'Which of the lines it is about, from 0.' }),
    verdict,
    invoices: z.array(share),
    reason: z.string().meta({ description: 'Why, in a sentence; empty where no invoice fits.' }),
    inOtherCurrency: z.string().nullable().meta({
      format: 'uuid',
      description:
        'An open invoice that the line names, in another currency: what the line pays of it is not known. Its verdict is `likely`.',
    }),
    evidence: z.array(bankEvidence).meta({ description: 'The words of the line that are the reason; empty where the amount alone is.' }),
  })
  .meta({ id: 'BankMatch' })
export type BankMatch = z.infer<typeof bankMatch>

const lines = <Shape extends z.ZodType>(shape: Shape) =>
  z.array(shape).min(1, 'Please choose at least one line.').max(mostLines, 'Please choose at most 2,000 lines at once.')

const importedLine = bankLine
  .extend({
    invoices: z.array(share).max(100, 'Please choose at most 100 invoices for one line.').meta({
      description: 'Empty for a line that is not to be recorded: of equal transfers of one day it keeps the place of the others.',
    }),
  })
  .meta({ id: 'ImportedBankLine', description: 'A line of a bank file, and what it pays.' })
export type ImportedBankLine = z.output<typeof importedLine>

/** Recorded payments that a call answers at most: more than a business records within a year. */
export const mostRecorded = 5_000

const recordedPayment = z
  .object({
    _id: z.string().meta({ format: 'uuid', description: 'The payment.' }),
    transfer: z.string().meta({ description: 'Payments of one transfer have the same.' }),
    invoiceId: z.string().meta({ format: 'uuid' }),
    invoice: z.string().meta({ description: 'The reference of the invoice.' }),
    clientName: z.string(),
    amount: z.number(),
    currency: z.string(),
    paidOn: z.string().meta({ format: 'date' }),
    text: z.string().meta({ description: 'Its reference and note.' }),
  })
  .meta({ id: 'RecordedPayment', description: 'A payment that counts, as a later bank file may take it back.' })
export type RecordedPayment = z.output<typeof recordedPayment>

const currency = currencyCode.optional().meta({ description: 'The currency of the file. Without it that of the account.' })

export const bankFileCalls = {
  match: call({
    method: 'POST',
    path: '/payments/match',
    by: 'member',
    summary: 'Which invoices the lines of a bank file pay. Nothing is recorded.',
    body: z.strictObject({ lines: lines(bankLine), currency }),
    reply: z.array(bankMatch),
  }),
  import: call({
    method: 'POST',
    path: '/payments/import',
    by: 'member',
    summary:
      'Record the payments of a bank file, all or none. A line that was recorded before is left out, and the same request under its Idempotency-Key records nothing again.',
    body: z
      .strictObject({
        lines: z.array(importedLine).max(mostLines, 'Please choose at most 2,000 lines at once.'),
        takeBack: z
          .array(z.string())
          .max(500, 'Please take at most 500 payments back at once.')
          .optional()
          .meta({ description: 'Payments that were recorded before and that the file takes back: they no longer count.' }),
        currency,
      })
      .refine(({ lines, takeBack = [] }) => lines.length + takeBack.length > 0, {
        path: ['lines'],
        message: 'Please choose at least one line.',
      }),
    reply: z
      .object({
        importId: z.string().meta({ format: 'uuid', description: 'Names this import, to undo it.' }),
        recorded: z.int().meta({ description: 'How many payments were recorded.' }),
        paid: z.int().meta({ description: 'How many invoices are paid by them.' }),
        takenBack: z.int().meta({ description: 'How many payments were taken back.' }),
      })
      .meta({ id: 'BankImport' }),
  }),
  recorded: call({
    method: 'GET',
    path: '/payments/recorded',
    by: 'member',
    summary:
      'The payments that were recorded by bank file or by hand for these days, the latest first: what a later file takes back is among them.',
    query: z.object({ from: calendarDate.meta({ format: 'date' }), to: calendarDate.meta({ format: 'date' }) }),
    reply: z.array(recordedPayment),
  }),
  undo: call({
    method: 'POST',
    path: '/payments/import/:id/undo',
    by: 'member',
    summary: 'Take all payments of an import back. Again has no further effect.',
    params: z.object({ id: z.string() }),
    reply: z.object({ takenBack: z.int().meta({ description: 'How many payments were taken back.' }) }).meta({ id: 'UndoneBankImport' }),
  }),
}
