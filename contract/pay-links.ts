import { z } from 'zod'
import { money } from './accounts.ts'
import { call } from './call.ts'

const byId = z.object({ id: z.string() })
const payLink = z.object({ url: z.string().meta({ format: 'uri', description: 'The address of the pay page. It needs no sign-in.' }) })

/** The most bytes of a PDF, and of all PDFs of an account. */
export const largestFile = 3 * 1024 * 1024
export const mostFiles = 200 * 1024 * 1024
/** PDFs of an email that are larger together are linked instead of attached. Graph takes 4 MiB, in which a PDF is in base64 twice. */
export const largestAttached = { smtp: 8 * 1024 * 1024, gmail: 8 * 1024 * 1024, microsoft: 2 * 1024 * 1024 }

/** A file's name in letters, figures and ` .-_`, at most 80 characters, ending with .pdf. */
export function fileName(given: string): string {
  const kept = given
    .replace(/\.pdf$/i, '')
    .replace(/[^\p{L}\p{M}\p{N} ._-]/gu, '')
    .replace(/^[ .]+/, '')
  const name = [...kept]
    .slice(0, 76)
    .join('')
    .replace(/[ .]+$/, '')
  return `${name === '' ? 'invoice' : name}.pdf`
}

const storedFile = z
  .object({
    name: z.string().meta({ description: 'As it is downloaded: letters, figures and ` .-_`.' }),
    size: z.number().int().meta({ description: 'In bytes.' }),
  })
  .meta({ id: 'InvoiceFile', description: 'The PDF of an invoice.' })

/** The bytes travel as `application/pdf`. */
export const invoiceFileCalls = {
  save: call({
    method: 'PUT',
    path: '/invoice/:id/file',
    by: 'member',
    summary: 'Add the PDF of an invoice, or replace it. The body is the file, as `application/pdf`, at most 3 MiB.',
    bodyLimit: largestFile,
    params: byId,
    query: z.strictObject({
      name: z
        .string()
        .max(300, 'Please enter a name of at most 300 characters.')
        .default('invoice.pdf')
        .meta({ description: 'The name of the file. Other characters than letters, figures and ` .-_` are left out.' }),
    }),
    reply: storedFile,
  }),
  read: call({
    method: 'GET',
    path: '/invoice/:id/file',
    by: 'viewer',
    summary: 'The PDF of an invoice, as it was added.',
    params: byId,
    /** The file itself. */
    reply: z.unknown(),
  }),
  remove: call({
    method: 'DELETE',
    path: '/invoice/:id/file',
    by: 'member',
    summary: 'Remove the PDF of an invoice.',
    params: byId,
  }),
}

export const statement = z.object({
  client: z.object({ name: z.string(), email: z.string() }),
  /** The day that it was made on, in the time zone of the account. */
  date: z.string(),
  /** What is to be paid, by currency. */
  open: z.array(money),
  /** Open invoices, oldest first, at most 500. */
  invoices: z.array(
    z.object({
      _id: z.string(),
      reference: z.string(),
      dueDate: z.string(),
      /** Below 1 where it is not overdue. */
      daysOverdue: z.number().int(),
      amount: z.number(),
      amountPaid: z.number(),
      balance: z.number(),
      currency: z.string(),
    }),
  ),
})
export type Statement = z.output<typeof statement>

export const payLinkCalls = {
  create: call({
    method: 'POST',
    path: '/invoice/:id/pay-link',
    by: 'member',
    summary: 'The link to the pay page of an invoice: the same each time, until it is revoked or the client has another email.',
    params: byId,
    reply: payLink,
  }),
  revoke: call({
    method: 'DELETE',
    path: '/invoice/:id/pay-link',
    by: 'member',
    summary: 'Revoke the link to the pay page of an invoice: it stops working, and the next one is another.',
    params: byId,
  }),
  createStatement: call({
    method: 'POST',
    path: '/clients/:id/pay-link',
    by: 'member',
    summary: 'The link to the statement of a client: all open invoices of their email, each with its own page below.',
    params: byId,
    reply: payLink,
  }),
  revokeStatement: call({
    method: 'DELETE',
    path: '/clients/:id/pay-link',
    by: 'member',
    summary: 'Revoke the link to the statement of a client: it stops working, and the next one is another.',
    params: byId,
  }),
  readStatement: call({
    method: 'GET',
    path: '/clients/:id/statement',
    by: 'viewer',
    summary: 'The statement of a client: all open invoices of their email. With `format=pdf` it is a PDF.',
    params: byId,
    query: z.strictObject({ format: z.enum(['json', 'pdf'], 'Please choose json or pdf.').default('json') }),
    /** With `format=pdf` the file itself. */
    reply: statement,
  }),
}
