import { z } from 'zod'
import { currencyCode, emailAddress } from './accounts.ts'
import { call } from './call.ts'
import { amountProblem } from './money.ts'
import { problem } from './problem.ts'
import { searchKey } from './search.ts'
import { languageTag } from './speech.ts'
import { entered } from './text.ts'

export const invoiceStatus = z.enum(['unpaid', 'paid', 'overdue'], 'Please choose unpaid, paid or overdue.').meta({
  id: 'InvoiceStatus',
  description:
    'Unpaid becomes overdue automatically in the night after the due date. A status set by a person stays until the due date changes. A paid invoice is never reminded.',
})
export type InvoiceStatus = z.infer<typeof invoiceStatus>

/** A calendar date, `YYYY-MM-DD`, from 1900 to 2999; the time of an ISO date-time is ignored. */
export const calendarDate = z
  .string('Please enter a date such as 2026-03-31.')
  .transform((text) => (/^.{10}T\d{2}:\d{2}(:\d{2}(\.\d+)?)?(Z|[+-]\d{2}:?\d{2})?$/.test(text) ? text.slice(0, 10) : text))
  .pipe(
    z.iso
      .date({ error: 'Please enter a date that exists, such as 2026-03-31.', abort: true })
      .refine((date) => date >= '1900-01-01' && date < '3000-01-01', 'Please enter a year from 1900 to 2999.'),
  )

const fields = {
  clientName: entered("Please enter the client's name.")
    .min(1, "Please enter the client's name.")
    .max(200, "Please enter a client's name of at most 200 characters.")
    .refine((name) => !/[\p{Cc}\p{Cs}\u2028\u2029]/u.test(name), "Please enter the client's name on one line.")
    .meta({ description: 'The name of the client, on one line.' }),
  clientEmail: emailAddress.meta({ format: 'email', description: 'The address that reminders are sent to.' }),
  amount: z
    .number('Please enter an amount such as 5000.50.')
    .positive({ error: 'Please enter an amount above 0.', abort: true })
    .max(9_999_999_999.99, { error: 'Please enter an amount of at most 9,999,999,999.99.', abort: true })
    .meta({ description: 'In its currency, with at most as many decimals as that has: two for most, none for JPY, three for KWD.' }),
  currency: currencyCode,
  language: languageTag
    .nullable()
    .meta({ description: 'The language of its emails, as a BCP 47 tag; null: that of its client, else of the account.' }),
  issuedOn: calendarDate.meta({ format: 'date', description: 'The day it was issued, which figures about invoicing count it on.' }),
  dueDate: calendarDate.meta({
    format: 'date',
    description: 'A date from 1900 to 2999. Of a date with a time, the first ten characters are used.',
  }),
  status: invoiceStatus,
  reference: entered('Please enter a reference such as INV-0001.')
    .min(1, 'Please enter a reference such as INV-0001.')
    .max(40, 'Please enter a reference of at most 40 characters.')
    .refine((text) => !/\p{Cc}/u.test(text), 'Please enter a reference on one line.')
    .meta({
      description: 'A short number that is unique in the account. Without it a new invoice gets the next free one, such as INV-0001.',
    }),
}

/** An amount must fit its currency. Where the currency is not given, the server knows which it is. */
interface Amounts {
  amount?: number | undefined
  amountPaid?: number | undefined
  currency?: string | undefined
}
const amountFits = z.check<Amounts>(({ value, issues }) => {
  for (const path of ['amount', 'amountPaid'] as const) {
    const amount = value[path]
    const message = amount === undefined || value.currency === undefined ? null : amountProblem(amount, value.currency)
    if (message !== null) issues.push({ code: 'custom', input: amount, path: [path], message })
  }
})

const draftFields = {
  ...fields,
  currency: fields.currency.optional().meta({ description: 'An ISO 4217 code. Without it the currency of the account.' }),
  language: fields.language.optional(),
  issuedOn: fields.issuedOn.optional().meta({ format: 'date', description: 'The day it was issued. Without it today.' }),
  status: invoiceStatus.default('unpaid'),
  reference: fields.reference.optional(),
  amountPaid: z
    .number('Please enter an amount such as 5000.50.')
    .min(0, { error: 'Please enter an amount of 0 or more.', abort: true })
    .max(9_999_999_999.99, { error: 'Please enter an amount of at most 9,999,999,999.99.', abort: true })
    .optional()
    .meta({ description: 'What was paid so far. With the whole amount the invoice is paid.' }),
}
export const invoiceDraft = z.strictObject(draftFields).check(amountFits).meta({ id: 'InvoiceDraft', description: 'A new invoice.' })
export type InvoiceDraft = z.output<typeof invoiceDraft>

const { reference: _, ...withoutReference } = draftFields
const invoiceUnderReference = z
  .strictObject(withoutReference)
  .check(amountFits)
  .meta({ id: 'InvoiceUnderReference', description: 'An invoice whose reference is in the address.' })

export const invoiceChange = z
  .strictObject({
    ...fields,
    paidOn: calendarDate.meta({
      format: 'date',
      description: 'With the status `paid`: the day of the payment, not in the future. Without it today.',
    }),
  })
  .partial()
  .check(amountFits)
  .refine(({ status, paidOn }) => paidOn === undefined || status === 'paid', {
    path: ['paidOn'],
    error: 'Please give this day with the status "paid" only.',
  })
  .meta({ id: 'InvoiceChange', description: 'The fields to change; the others stay as they are.' })
export type InvoiceChange = z.output<typeof invoiceChange>

export const invoicePause = z
  .object({
    until: z.string().nullable().meta({ format: 'date', description: 'The last day of the pause; null: until it is resumed.' }),
    note: z.string().meta({ description: 'A note of the owner, never sent to the client.' }),
    promised: z.boolean().meta({ description: 'The client promised to pay by then. If that day passes unpaid, the owner is notified.' }),
    scope: z.enum(['invoice', 'client']).meta({ description: 'Whether this invoice is paused, or every invoice of the client’s address.' }),
    because: z
      .enum(['owner', 'says_paid', 'promised', 'question', 'wrong_person'])
      .meta({ description: 'Whether the owner paused it, or what the client said that paused it.' }),
  })
  .meta({ id: 'InvoicePause', description: 'Why and for how long an invoice is not reminded.' })
export type InvoicePause = z.infer<typeof invoicePause>

export const pauseChange = z
  .discriminatedUnion('paused', [
    z
      .strictObject({
        paused: z.literal(true),
        until: calendarDate
          .nullable()
          .default(null)
          .meta({ format: 'date', description: 'The last day of the pause; null: until it is resumed.' }),
        note: entered()
          .max(500, 'Please enter a note of at most 500 characters.')
          .refine((text) => !/[\p{Cc}--\n]/v.test(text), 'Please enter a note without control characters.')
          .default('')
          .meta({ description: 'A note for yourself, never sent to the client.' }),
        promised: z
          .boolean()
          .default(false)
          .meta({ description: 'The client promised to pay by then: if that day passes unpaid, you are notified.' }),
        scope: z
          .enum(['invoice', 'client'])
          .default('invoice')
          .meta({ description: 'Pause this invoice, or every invoice of the client’s address.' }),
      })
      .meta({ description: 'Begins a pause, or changes the current one.' }),
    z
      .strictObject({ paused: z.literal(false), scope: z.enum(['invoice', 'client']).default('invoice') })
      .meta({ description: 'Ends the pause of the invoice, or with the scope `client` that of its client’s address.' }),
  ])
  .meta({ id: 'PauseChange', description: 'Begins or ends a pause.' })
export type PauseChange = z.output<typeof pauseChange>

export const notDelivered = z
  .object({
    since: z.string().meta({ format: 'date-time', description: 'The first time that it was not accepted, since one was.' }),
    code: z
      .enum(['address', 'mailbox_full', 'mailbox', 'policy', 'too_large', 'late', 'unreachable', 'temporary', 'bounced', 'refused'])
      .meta({ description: 'The reason of the last time.' }),
    words: z.string().meta({ description: 'The same in a few words, such as `mailbox full`.' }),
    reply: z.string().meta({ description: 'The mail server’s reply to the last try.' }),
  })
  .meta({ id: 'NotDelivered', description: 'Since when reminders of an invoice have not been delivered, and why.' })
export type NotDelivered = z.infer<typeof notDelivered>

export const addressHold = z
  .object({
    since: z.string().meta({ format: 'date-time', description: 'When the address was refused.' }),
    words: z.string().meta({ description: 'Why, and what to do, in two sentences.' }),
    reply: z.string().meta({ description: 'The mail server’s reply.' }),
  })
  .meta({
    id: 'AddressHold',
    description:
      'A mail server permanently refused the client’s address, or an email came back, so that reminders to it are held until it is corrected or tried again.',
  })
export type AddressHold = z.infer<typeof addressHold>

export const invoice = z
  .object({
    _id: z.string().meta({ format: 'uuid', description: 'Assigned by Duely. Later invoices have later ids.' }),
    clientName: z.string().meta({ description: 'The name of the client.' }),
    clientEmail: z.string().meta({ description: 'The address that reminders are sent to.' }),
    amount: z.number().meta({ description: 'In its currency.' }),
    currency: z.string().meta({ description: 'The ISO 4217 code of its currency, such as `INR`.' }),
    language: z
      .string()
      .nullable()
      .default(null)
      .meta({ description: 'The BCP 47 tag of the language of its emails; null: that of its client.' }),
    issuedOn: z.string().meta({ format: 'date', description: 'The day it was issued; unless given, that on which it was created.' }),
    dueDate: z.string().meta({ format: 'date', description: 'The last day to pay. From the day after it is past due.' }),
    status: invoiceStatus,
    reference: z.string().meta({ description: 'A short number that is unique in the account.' }),
    createdAt: z.string().meta({ format: 'date-time', description: 'When it was created.' }),
    updatedAt: z.string().meta({ format: 'date-time', description: 'When it last changed.' }),
    version: z.number().int().meta({ description: 'Raised when a field changes that people set. The ETag of one invoice names it.' }),
    paidAt: z.string().nullable().meta({ format: 'date-time', description: 'When its status became paid.' }),
    amountPaid: z.number().meta({ description: 'Its payments and credit notes less its refunds.' }),
    balance: z.number().meta({ description: 'What is left to pay; 0 once it is paid. Reminders ask for this amount.' }),
    overpaid: z.number().meta({ description: 'What was paid beyond the amount; 0 where nothing was.' }),
    paidOn: z.string().nullable().meta({ format: 'date', description: 'The day of its latest payment, once it is paid.' }),
    hasFile: z.boolean().meta({ description: 'Whether a PDF of the invoice is kept.' }),
    remindersSent: z.number().int().meta({ description: 'How many emails about it were accepted by a mail server.' }),
    lastReminderAt: z
      .string()
      .nullable()
      .meta({ format: 'date-time', description: 'When an email about it was last accepted that did not come back.' }),
    refusal: z.string().nullable().meta({
      description:
        'The mail server’s reply when it permanently refused the last reminder. Null once one is accepted, or the client has another address.',
    }),
    pause: invoicePause.nullable().meta({ description: 'Its pause; null where it is not paused.' }),
    notDelivered: notDelivered.nullable().meta({ description: 'Null once one is accepted, or the client has another address.' }),
    addressHold: addressHold.nullable().meta({ description: 'Why reminders to its address are held; null where they are not.' }),
    sequence: z
      .string()
      .nullable()
      .meta({ description: 'Its own sequence: an id, `every_day` or `never`; null where it has that of its client, or of the account.' }),
  })
  .meta({ id: 'Invoice', description: 'An amount that a client owes.' })
export type Invoice = z.infer<typeof invoice>

/** The ETag of an invoice: with If-Match, a change is refused where the invoice was changed meanwhile. */
export function tagOfInvoice({ _id, version }: Pick<Invoice, '_id' | 'version'>): string {
  return `"${_id}.${version}"`
}

/** What is left to pay; of a paid invoice its amount. */
export function owedAmount({ status, amount, balance }: Invoice): number {
  return status === 'paid' ? amount : balance
}

type SearchedField = 'clientName' | 'clientEmail' | 'reference' | 'pause' | 'amount' | 'balance'

/**
 * What the dashboard finds. Matches part of the client's name or email, of the reference or of the note of a pause, as `searchKey` compares them, or the beginning of the
 * amount, typed with or without commas.
 */
export function searchInvoices<I extends Pick<Invoice, SearchedField>>(invoices: I[], search: string): I[] {
  const wanted = searchKey(search)
  if (wanted === '') return invoices
  const digits = wanted.replace(/^(?:[a-z]{0,3}\p{Sc}|rs\.?|[a-z]{3})\s*/u, '').replaceAll(',', '')
  const amount = /^\d+(?:\.\d{0,3})?$/.test(digits) ? digits : null
  return invoices.filter(
    ({ clientName, clientEmail, reference, pause, amount: full, balance }) =>
      searchKey(`${clientName}\n${clientEmail}\n${reference}\n${pause?.note ?? ''}`).includes(wanted) ||
      (amount !== null && (full.toFixed(3).startsWith(amount) || balance.toFixed(3).startsWith(amount))),
  )
}

const byId = z.object({ id: z.string() })
/** What invoices were imported from: a program, such as `zoho`, or the id of a watched address. */
const importSource = z.string().regex(/^[a-zA-Z0-9-]{1,40}$/, 'Please name the source with at most 40 letters, figures and hyphens.')

export const invoiceQuery = z.strictObject({
  status: invoiceStatus.optional().meta({ description: 'Only invoices with this status.' }),
  search: z
    .string()
    .max(200, 'Please search for at most 200 characters.')
    .refine((text) => !/\p{Cc}/u.test(text), 'Please search on one line.')
    .optional()
    .meta({ description: 'Only invoices with this text in the client’s name or email, whatever their case and accents.' }),
  source: importSource
    .optional()
    .meta({ description: 'Only invoices that were imported from there last, but for those that have another reference here since.' }),
  limit: z.coerce
    .number('Please ask for 1 to 1,000 invoices at once.')
    .int('Please ask for 1 to 1,000 invoices at once.')
    .min(1, 'Please ask for 1 to 1,000 invoices at once.')
    .max(1000, 'Please ask for 1 to 1,000 invoices at once.')
    .optional()
    .meta({ description: 'The most invoices of a page. Without it the whole list.' }),
  cursor: z.string().max(200).optional().meta({ description: 'Where the page before ended, from its Link header.' }),
})
export type InvoiceQuery = z.output<typeof invoiceQuery>

/** The most lines of an import, and the most invoices of a bulk change. */
export const mostAtOnce = 1_000

const invoiceImport = z.strictObject({
  /** Drafts of invoices, validated one by one: an invalid line does not stop the others. */
  lines: z.array(z.unknown()).min(1, 'Please send at least one line.').max(mostAtOnce, 'Please send at most 1,000 lines at once.'),
  /** True: a line with the client email, amount and due date of an existing invoice is imported too. */
  keepDuplicates: z.boolean('Please say true or false.').default(false),
  /**
   * What happens to created invoices that are past due while daily reminders are on: their reminders are held until resumed, or the next
   * daily run includes them.
   */
  pastDue: z.enum(['hold', 'remind'], 'Please choose hold or remind.').default('hold'),
  /**
   * What happens to a line whose reference an invoice has: it is refused, or that invoice takes over what is owed, the due date and that it
   * is paid. Names and addresses stay.
   */
  onExisting: z.enum(['refuse', 'update'], 'Please choose refuse or update.').default('refuse'),
  /** Where the lines come from: kept with their invoices, to find those that a later file of it lacks. */
  source: importSource.nullable().default(null),
})
export type InvoiceImport = z.output<typeof invoiceImport>

/** Identifies a request, so that it can be repeated safely: printable ASCII. */
export const idempotencyKey = z
  .string()
  .regex(/^(?=.*[\x21-\x7e])[\x20-\x7e]{1,255}$/, 'Please send an Idempotency-Key of 1 to 255 letters and figures, or none.')

/** The outcome of a line, counted from 1. */
const importedLine = z.object({
  line: z.number().int(),
  _id: z.string(),
  held: z.boolean().meta({ description: 'Whether its reminders are held, because it was past due while daily reminders were on.' }),
  outcome: z
    .enum(['created', 'updated', 'unchanged'])
    .meta({ description: 'Whether it made its invoice, changed it, or found nothing to change.' }),
  note: z.string().nullable().meta({ description: 'What stays although the line has it differently: to be looked at by a person.' }),
})
export type ImportedLine = z.infer<typeof importedLine>
const refusedLine = z.object({
  line: z.number().int(),
  message: z.string(),
  code: problem.shape.code.or(z.literal('duplicate')),
  errors: problem.shape.errors,
})
const importResult = z.object({
  importId: z.string().meta({ format: 'uuid', description: 'Names this import, to undo it.' }),
  imported: z.number().int().meta({ description: 'How many invoices were created.' }),
  updated: z.number().int(),
  unchanged: z.number().int(),
  lines: z.array(z.union([importedLine, refusedLine])),
})
export type ImportResult = z.infer<typeof importResult>

const undoneImport = z
  .object({
    deleted: z.number().int().meta({ description: 'How many invoices that it created were deleted.' }),
    restored: z.number().int().meta({ description: 'How many invoices are as before it.' }),
    kept: z.array(z.object({ _id: z.string(), message: z.string() })).meta({ description: 'Those that stay as they are, and why.' }),
  })
  .meta({ id: 'UndoneImport' })
export type UndoneImport = z.infer<typeof undoneImport>

/** A bulk change; each has another that undoes it. */
export const bulkChange = z.discriminatedUnion('do', [
  z.strictObject({ do: z.literal('mark'), status: invoiceStatus }),
  z.strictObject({ do: z.literal('pause'), ...pauseChange.options[0].omit({ paused: true, scope: true }).shape }),
  z.strictObject({ do: z.literal('resume') }),
  z.strictObject({ do: z.literal('delete') }),
  z.strictObject({ do: z.literal('restore') }),
])
export type BulkChange = z.output<typeof bulkChange>

export const manyInvoices = z.strictObject({
  ids: z.array(z.string()).min(1, 'Please choose at least one invoice.').max(mostAtOnce, 'Please choose at most 1,000 invoices at once.'),
  change: bulkChange,
})
const bulkResult = z.object({
  changed: z.array(z.string()),
  failed: z.array(z.object({ _id: z.string(), message: z.string(), code: problem.shape.code })),
})
export type BulkResult = z.infer<typeof bulkResult>

export const note = z
  .object({
    _id: z.string().meta({ format: 'uuid' }),
    at: z.string().meta({ format: 'date-time', description: 'When it was added.' }),
    by: z.string().meta({ description: 'Who added it: a person, or a program in a person’s name.' }),
    text: z.string(),
  })
  .meta({ id: 'Note', description: 'What the team keeps about an invoice. Clients never see it.' })
export type Note = z.infer<typeof note>

const noteDraft = z.strictObject({
  text: entered('Please write a note.')
    .min(1, 'Please write a note.')
    .max(2_000, 'Please write a note of at most 2,000 characters.')
    .refine((text) => !/[\p{Cc}--[\n\t]]/v.test(text), 'Please write a note without control characters.'),
})

export const noteCalls = {
  list: call({
    method: 'GET',
    path: '/invoice/:id/notes',
    by: 'viewer',
    summary: 'The notes about an invoice, newest first.',
    params: byId,
    reply: z.array(note),
  }),
  add: call({
    method: 'POST',
    path: '/invoice/:id/notes',
    by: 'member',
    status: 201,
    summary: 'Add a note about an invoice, which stays as it is.',
    params: byId,
    body: noteDraft,
    reply: note,
  }),
}

export const invoiceCalls = {
  list: call({
    method: 'GET',
    path: '/invoice',
    by: 'viewer',
    summary: 'My invoices, newest first; with `limit` one page and a Link to the next.',
    query: invoiceQuery,
    reply: z.array(invoice),
  }),
  create: call({
    method: 'POST',
    path: '/invoice',
    by: 'member',
    status: 201,
    summary: 'Create an invoice.',
    body: invoiceDraft,
    reply: invoice,
  }),
  read: call({ method: 'GET', path: '/invoice/:id', by: 'viewer', summary: 'One invoice.', params: byId, reply: invoice }),
  update: call({
    method: 'PATCH',
    path: '/invoice/:id',
    by: 'member',
    summary: 'Change an invoice.',
    params: byId,
    body: invoiceChange,
    reply: invoice,
  }),
  remove: call({
    method: 'DELETE',
    path: '/invoice/:id',
    by: 'member',
    summary: 'Delete an invoice; it can be restored for 30 days.',
    params: byId,
  }),
  pause: call({
    method: 'PATCH',
    path: '/invoice/:id/pause',
    by: 'member',
    summary: 'Pause the reminders of an invoice or of its client, until a date or until resumed; or end that pause.',
    params: byId,
    body: pauseChange,
    reply: invoice,
  }),
  restore: call({
    method: 'POST',
    path: '/invoice/:id/restore',
    by: 'member',
    summary: 'Restore a deleted invoice.',
    params: byId,
    reply: invoice,
  }),
  import: call({
    method: 'POST',
    path: '/invoices/import',
    by: 'member',
    summary: 'Import up to 1,000 invoices; each line has its own result, and no email is sent.',
    body: invoiceImport,
    reply: importResult,
  }),
  imported: call({
    method: 'GET',
    path: '/invoices/import/:key',
    by: 'viewer',
    summary: 'The existing invoices that an import with this Idempotency-Key created within a day.',
    params: z.object({ key: idempotencyKey }),
    reply: z.array(importedLine),
  }),
  undoImport: call({
    method: 'POST',
    path: '/invoices/import/:id/undo',
    by: 'member',
    summary:
      'Undo an import: delete what it created and take back what it changed, but for what was changed since. Again has no further effect.',
    params: z.object({ id: z.string().meta({ description: 'The `importId`, or the Idempotency-Key of the import.' }) }),
    reply: undoneImport,
  }),
  put: call({
    method: 'PUT',
    path: '/invoice/by-reference/:reference',
    by: 'member',
    summary: 'Create the invoice with this reference, or bring what is owed, the due date and that it is paid up to date.',
    params: z.object({ reference: fields.reference }),
    body: invoiceUnderReference,
    reply: invoice,
  }),
  export: call({
    method: 'GET',
    path: '/invoices/export',
    by: 'viewer',
    summary: 'My invoices as a CSV file, optionally by status or search.',
    query: invoiceQuery.pick({ status: true }).extend({
      search: invoiceQuery.shape.search.meta({
        description:
          'Only invoices that the dashboard finds by this text: in the client’s name or email, the reference or the note of a pause, case-insensitive, or as the beginning of the amount.',
      }),
    }),
    /** The file itself, text/csv in UTF-8. */
    reply: z.string(),
  }),
  bulkChange: call({
    method: 'POST',
    path: '/invoices/change',
    by: 'member',
    summary: 'Mark, pause, delete or restore up to 1,000 invoices; each has its own result.',
    body: manyInvoices,
    reply: bulkResult,
  }),
}
