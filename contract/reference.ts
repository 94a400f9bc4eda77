import type { z } from 'zod'
import type { Call, CallInput, CallReply } from './call.ts'
import { evidenceCalls } from './evidence.ts'
import { integrationCalls, type WebhookPayload, webhookPayload } from './integrations.ts'
import { type Invoice, invoiceCalls, noteCalls } from './invoices.ts'
import { leavingCalls, type ReminderDay } from './leaving.ts'
import { invoiceFileCalls, payLinkCalls } from './pay-links.ts'
import { type Payment, paymentCalls } from './payments.ts'
import type { ProblemCode } from './problem.ts'
import { type OwnDay, quietDayCalls } from './quiet-days.ts'
import { type Run, type RunAnswer, reminderCalls } from './reminders.ts'
import { type Sequence, type SequenceStep, sequenceCalls } from './sequences.ts'
import { defaultContent, defaultGroupContent, defaultGroupSubject, defaultSubject, reminderDocument } from './templates.ts'

/** The reference's description of a call, in addition to its summary and schemas. */
export interface ExplainedCall {
  /** The operation's name in generated clients. */
  name: string
  call: Call
  subject: Subject
  detail?: string
  /** Descriptions of path parameters. */
  params?: Record<string, string>
  headers?: ExplainedHeader[]
  answers?: ExplainedHeader[]
  /** Errors by code, in addition to those of every call. */
  refusals: Partial<Record<ProblemCode, string>>
  /** Its body is a PDF instead of JSON. */
  pdf?: 'sent'
  /** It answers a file of this type. */
  file?: 'application/pdf' | 'application/zip'
  /** The meaning of a 202 response, if the call has one. */
  later?: string
  /** The meaning of a 304 response, if the call has one. */
  unchanged?: string
  /** An example that works as printed, except for the ids. */
  example: Example
}

export interface Example {
  params?: unknown
  query?: unknown
  body?: unknown
  headers?: Record<string, string>
  reply?: unknown
}

export interface ExplainedHeader {
  name: string
  description: string
  example: string
}

/** The reference's introduction, in Markdown. */
export const intro = `Authenticate each request with an **API key** or an **OAuth 2.0** access token:

\`\`\`
Authorization: Bearer duely_key_…
\`\`\`

- **Errors** have a status, a \`code\` for software and a \`message\` for people: \`{"message": "This invoice does not exist, or it was deleted.", "code": "not_found"}\`. Unknown fields are refused.
- **Amounts** are numbers in the \`currency\` beside them, an ISO 4217 code, with at most as many decimals as it has: two for most, none for JPY, three for KWD. Sums are listed by currency, never converted. **Dates** are \`YYYY-MM-DD\`; **timestamps** are ISO 8601 in UTC.
- **Responses** may get new fields. Existing fields are not removed and keep their meaning.
- **Rate limits** are in the headers of each response.

`

export const subjects = {
  Account: 'The account that a key or token belongs to.',
  Invoices: 'Invoices and what clients owe.',
  Reminders: 'Send, schedule and track reminders.',
  Zapier: 'The calls of the Zapier app. Any OAuth app that a person connected can use them; API keys cannot.',
  Webhooks: 'Events that Duely sends to your URL.',
}
type Subject = keyof typeof subjects

/** Errors of every call. */
export const everyRefusal: Partial<Record<ProblemCode, string>> = {
  not_signed_in: 'The key or token is missing, unknown, expired or revoked.',
  not_allowed: 'The key or token may read but not write, does not cover this call, or was made by a person whose role is too low for it.',
  too_many: 'Too many requests within a minute. Wait for the seconds in Retry-After.',
  fault: 'An error in Duely. Report it to the operator with the X-Request-Id header.',
  not_ready: 'Duely can’t reach its database. Try again after the seconds in Retry-After.',
}
/** Errors of calls that are open to API keys. */
export const keyRefusals: Partial<Record<ProblemCode, string>> = {
  plan_limit: 'The account’s plan has no API access. OAuth apps don’t need it.',
}
/** Errors of calls with a body or query. */
export const inputRefusals: Partial<Record<ProblemCode, string>> = {
  invalid: 'A field is missing, unknown or invalid; `errors` lists each one.',
}
/** Errors of calls with a body. */
export const bodyRefusals: Partial<Record<ProblemCode, string>> = {
  ...inputRefusals,
  too_large: 'The body is larger than its call allows, or it has more parameters, fields or values.',
}

type ExampleOf<C extends Call> = CallInput<C> & {
  headers?: Record<string, string>
} & (C['reply'] extends z.ZodType ? { reply: CallReply<C> } : { reply?: undefined })

/** Checks an example's type against its call. */
function explain<C extends Call>(
  name: string,
  call: C,
  about: Omit<ExplainedCall, 'name' | 'call' | 'example'> & { example: ExampleOf<C> },
): ExplainedCall {
  return { ...about, name, call }
}

/** The time of all examples: 2 March 2026, 10:00 in India. */
const now = '2026-03-02T04:30:00Z'
const ids = {
  person: '019ca0f1-2b10-7c52-9d0e-3f0c62d41e9a',
  account: '019ca0f1-2b10-7c52-9d0e-41b7a6f0c3d8',
  invoice: '019caccf-6940-7a41-8f25-3c9e5b7d1a60',
  another: '019caccf-6941-7d08-b3aa-90c4e2f8176b',
  run: '019caccf-7120-73f8-9afa-6b2d4e8c0f11',
  mail: '019caccf-7128-7e78-9b81-d5a3c17e9042',
  hook: '019caccf-8b30-7f16-a2c9-58e07d41b6f3',
  payment: '019caccf-7a02-7c15-a1de-64b0f29d8e37',
  answer: '019caccf-7b31-7f52-9c40-5a18e3d7b264',
  sequence: '019caccf-7c11-7d40-8f6e-2b95a0d3c71e',
  event: '019caccf-8f44-7b90-8c3d-2e6a1f95d7c8',
}

const kaveri: Invoice = {
  _id: ids.invoice,
  clientName: 'Kaveri Foods',
  clientEmail: 'billing@kaveri.example',
  amount: 12250.5,
  currency: 'INR',
  language: null,
  issuedOn: '2026-03-02',
  dueDate: '2026-02-20',
  status: 'unpaid',
  reference: 'INV-0001',
  createdAt: now,
  updatedAt: now,
  version: 1,
  paidAt: null,
  amountPaid: 0,
  balance: 12250.5,
  overpaid: 0,
  paidOn: null,
  hasFile: false,
  remindersSent: 0,
  lastReminderAt: null,
  refusal: null,
  pause: null,
  notDelivered: null,
  addressHold: null,
  sequence: null,
}
const paidKaveri: Invoice = { ...kaveri, status: 'paid', paidAt: now, amountPaid: 12250.5, balance: 0, paidOn: '2026-03-02' }
const payment: Payment = {
  _id: ids.payment,
  invoiceId: ids.invoice,
  kind: 'payment',
  origin: 'program',
  amount: 5000,
  currency: 'INR',
  paidOn: '2026-03-01',
  method: 'upi',
  reference: '606012345678',
  note: '',
  recordedAt: now,
  voidedAt: null,
}
const partPaidKaveri: Invoice = { ...kaveri, amountPaid: 5000, balance: 7250.5 }
const subject = 'Invoice INV-0001 from Asha Rao: ₹12,250.50 was due on 20/02/2026'
const accepted = '250 2.0.0 Accepted'
const oneSent: RunAnswer = { count: 1, failed: 0, skipped: 0, retrying: 0, total: 1, invoices: 1, runId: ids.run, failures: [] }
const finishedRun: Run = {
  _id: ids.run,
  kind: 'send_now',
  localDate: '2026-03-02',
  startedAt: now,
  finishedAt: now,
  cancelledAt: null,
  leavesAt: null,
  skippedReason: null,
  total: 1,
  sent: 1,
  failed: 0,
  skipped: 0,
  open: 0,
  retrying: 0,
  held: 0,
  holdReason: null,
  nextTryAt: null,
  failures: [],
}
const leavesAt = '2026-03-02T04:40:00Z'
const leavingRun: Run = { ...finishedRun, kind: 'daily', finishedAt: null, leavesAt, sent: 0, open: 1, nextTryAt: leavesAt }
const theDay = { date: 'The local date of the daily run, `YYYY-MM-DD`.' }
const dayOver = { conflict: 'That day is over.' }
const leftOutDay: ReminderDay = {
  date: '2026-03-03',
  leave: 0,
  of: 1,
  clients: [
    { clientName: 'Kaveri Foods', clientEmail: 'billing@kaveri.example', references: ['INV-0001'], emails: 1, leftOut: true, gone: false },
  ],
}
const leftOutRun: Run = { ...leavingRun, finishedAt: now, skipped: 1, open: 0, nextTryAt: null }
const cancelledRun: Run = { ...finishedRun, cancelledAt: now, sent: 0, skipped: 1 }

const gentleStep: SequenceStep = {
  offset: 3,
  tone: 'friendly',
  subject: 'Invoice {{invoiceId}} was due on {{dueDate}}',
  content: 'Dear {{clientName}},\n\n{{amount}} was due on {{dueDate}}.\n\n{{userName}}',
  groupSubject: '{{totalAmount}} is due',
  groupContent: 'Dear {{clientName}},\n\n{{invoiceList}}\n\n{{userName}}',
  copyToMe: false,
  copyToSecondContact: false,
}
const gentleDraft = { name: 'Every two weeks', steps: [gentleStep], everyDays: 14, atMost: 6, atLeast: 5 }
const unused = { version: 1, invoices: 0, clients: 0, isDefault: false }
const gentle: Sequence = { _id: ids.sequence, ...gentleDraft, ...unused, builtIn: false }
const builtIn = { ...unused, everyDays: null, atMost: null, atLeast: 1, builtIn: true }
const template = { subject: defaultSubject, content: defaultContent, groupSubject: defaultGroupSubject, groupContent: defaultGroupContent }
const everyDay: Sequence = {
  _id: 'every_day',
  name: 'Every day',
  ...builtIn,
  steps: [{ offset: 1, tone: 'friendly', ...template, copyToMe: false, copyToSecondContact: false }],
  everyDays: 1,
  isDefault: true,
}
const never: Sequence = { _id: 'never', name: 'Never by itself', ...builtIn, steps: [] }

const idempotencyKey: ExplainedHeader = {
  name: 'Idempotency-Key',
  description:
    'Any text of yours, such as an order number. Repeating the request with the same key within a day creates nothing and returns the same invoice; a different request with this key is a `conflict`.',
  example: 'order-1042',
}
const paymentKey: ExplainedHeader = {
  name: 'Idempotency-Key',
  description:
    'Any text of yours that names the payment. It is kept with the payment: the same request under it always returns that payment, and a different one is a `conflict`.',
  example: 'utr-606012345678',
}
const nextPage: ExplainedHeader = {
  name: 'Link',
  description: 'The address of the next page, with `rel="next"`. Absent on the last page.',
  example: `</invoice?status=unpaid&limit=1&cursor=${ids.another}>; rel="next"`,
}
const tag: ExplainedHeader = {
  name: 'ETag',
  description: 'Identifies this state of the list. Send it as If-None-Match to avoid loading an unchanged list.',
  example: 'W/"019ca0f1-2b10-7c52-9d0e-41b7a6f0c3d8.1.8146729.X3yq0LMvUaEu"',
}

const noInvoice = { not_found: 'The account has no such invoice, or it was deleted.' }
const noRun = { not_found: 'The account has no such run.' }
const notDaily = { conflict: 'It is not a daily run, or its emails are still being prepared.' }
const takenReference = { conflict: 'Another invoice already has this reference.' }
const noMailbox = { mail_not_configured: 'No mailbox is connected. Connect one under Email Settings.' }
const unconfirmed = { email_not_confirmed: 'The email of the account is not confirmed. Its owner opens the link that was sent there.' }
const allRefused = { mail_refused: 'The mail server permanently refused every email.' }
const asAtFirst = {
  quietWeekends: false,
  quietHolidays: false,
  ownHolidaysToo: true,
  country: null,
  region: null,
  smart: false,
  smartDays: 5,
}
const stocktaking: OwnDay = { date: '2026-03-31', name: 'Stocktaking', open: false }
const noSequence = { not_found: 'The account has no such sequence.' }
const noSteps = 'The plan has no daily reminders.'
const planChanged = 'The plan has changed since the simulation with this `fingerprint`; `simulation` has what the change would do now.'
const later = 'Not all emails were attempted within 20 seconds. The run continues: with an API key, follow it at `/reminder/runs/{id}`.'
const theInvoice = { id: 'The `_id` of the invoice.' }
const theSequence = { id: 'The `_id` of the sequence.' }
const theRun = { id: 'The `_id` of the run, as in `runId`.' }

/** Every call open to API clients, in the order of the reference. */
export const explainedCalls: ExplainedCall[] = [
  explain('getAccount', integrationCalls.me, {
    subject: 'Account',
    detail: 'Use this to verify a new key. It changes nothing.',
    refusals: {},
    example: {
      reply: { id: ids.person, email: 'asha@example.com', displayName: 'Asha Rao', businessId: ids.account, businessName: 'Asha Rao' },
    },
  }),

  explain('listInvoices', invoiceCalls.list, {
    subject: 'Invoices',
    detail:
      'Returns the whole list, or one page if `limit` is set: follow the Link header until there is none. Invoices created or deleted meanwhile do not make a page skip or repeat others.',
    headers: [{ name: 'If-None-Match', description: 'The ETag of your copy of the list.', example: tag.example }],
    answers: [nextPage, tag],
    unchanged: 'The list has not changed since the ETag in If-None-Match.',
    refusals: {},
    example: { query: { status: 'unpaid', limit: 1 }, reply: [{ ...kaveri, _id: ids.another, reference: 'INV-0002' }] },
  }),
  explain('createInvoice', invoiceCalls.create, {
    subject: 'Invoices',
    detail: 'Sends no email. Use an Idempotency-Key if a request may be repeated, for example after a timeout.',
    headers: [idempotencyKey],
    refusals: {
      plan_limit: 'The plan allows no more invoices in this calendar month.',
      conflict: 'Another invoice already has this reference, or the Idempotency-Key was used for another request.',
    },
    example: {
      headers: { 'Idempotency-Key': idempotencyKey.example },
      body: { clientName: 'Kaveri Foods', clientEmail: 'billing@kaveri.example', amount: 12250.5, dueDate: '2026-02-20' },
      reply: kaveri,
    },
  }),
  explain('getInvoice', invoiceCalls.read, {
    subject: 'Invoices',
    params: theInvoice,
    refusals: noInvoice,
    example: { params: { id: ids.invoice }, reply: kaveri },
  }),
  explain('updateInvoice', invoiceCalls.update, {
    subject: 'Invoices',
    detail:
      'To mark an invoice as paid, send `{"status": "paid"}`. No further reminder is sent for it, not even a queued one. With the `ETag` of the invoice as If-Match, nothing is changed where it was changed meanwhile; without it the last change wins.',
    params: theInvoice,
    refusals: {
      ...noInvoice,
      changed_meanwhile: 'If-Match has the ETag of an earlier version. `meanwhile` has the present one, and who changed it when.',
      conflict:
        'Another invoice already has this reference, or payments that were recorded one by one cover an invoice that is to be unpaid.',
    },
    example: { params: { id: ids.invoice }, body: { status: 'paid' }, reply: { ...paidKaveri, version: 2 } },
  }),
  explain('putInvoice', invoiceCalls.put, {
    subject: 'Invoices',
    detail:
      'For a program that brings its invoices up to date. Where there is none with this reference, it is created. Otherwise the amount owed, the due date and that it is paid follow, and the client’s name and email stay. Payments that Duely knows are not undone: where the request has less paid, it answers `conflict`. Sent again, it changes nothing.',
    params: { reference: 'The reference of the invoice, such as `INV-0001`.' },
    refusals: {
      plan_limit: 'The plan allows no more invoices in this calendar month.',
      conflict:
        'The invoice is paid in Duely, or more of it is, or it is in another currency or of another client, or already has 500 payments and refunds.',
    },
    example: {
      params: { reference: 'INV-0001' },
      body: { clientName: 'Kaveri Foods', clientEmail: 'billing@kaveri.example', amount: 12250.5, dueDate: '2026-02-20' },
      reply: kaveri,
    },
  }),
  explain('deleteInvoice', invoiceCalls.remove, {
    subject: 'Invoices',
    params: theInvoice,
    refusals: noInvoice,
    example: { params: { id: ids.invoice } },
  }),
  explain('restoreInvoice', invoiceCalls.restore, {
    subject: 'Invoices',
    params: theInvoice,
    refusals: { not_found: 'The account has no such invoice, or it was deleted more than 30 days ago.', ...takenReference },
    example: { params: { id: ids.invoice }, reply: kaveri },
  }),
  explain('pauseInvoice', invoiceCalls.pause, {
    subject: 'Invoices',
    params: theInvoice,
    refusals: noInvoice,
    example: {
      params: { id: ids.invoice },
      body: { paused: true, until: '2026-03-09', note: 'Promised on the phone.', promised: true },
      reply: {
        ...kaveri,
        pause: { until: '2026-03-09', note: 'Promised on the phone.', promised: true, scope: 'invoice', because: 'owner' },
      },
    },
  }),
  explain('createPayLink', payLinkCalls.create, {
    subject: 'Invoices',
    detail: 'For your own emails and messages. Anyone with the link can see what is to pay, and answer for the client.',
    params: theInvoice,
    refusals: noInvoice,
    example: { params: { id: ids.invoice }, reply: { url: 'https://duely.example.com/pay/kT0vXw2rJ8mQb1n5pZ3sYc7dLf9gHaUeViRoWtGxKjM' } },
  }),
  explain('revokePayLink', payLinkCalls.revoke, {
    subject: 'Invoices',
    params: theInvoice,
    refusals: noInvoice,
    example: { params: { id: ids.invoice } },
  }),
  explain('putInvoiceFile', invoiceFileCalls.save, {
    subject: 'Invoices',
    detail:
      'It must begin with `%PDF-` and contain `%%EOF`. It is neither opened nor scanned for viruses. Reminders lead to it on the pay page, or have it attached.',
    params: theInvoice,
    pdf: 'sent',
    refusals: {
      ...noInvoice,
      invalid: 'The body is not a PDF, or is sent under another Content-Type.',
      too_large: 'The PDF is larger than 3 MiB.',
      conflict: 'All PDFs of the account would be larger than 200 MiB.',
    },
    example: { params: { id: ids.invoice }, query: { name: 'INV-0001.pdf' }, reply: { name: 'INV-0001.pdf', size: 48_213 } },
  }),
  explain('getInvoiceFile', invoiceFileCalls.read, {
    subject: 'Invoices',
    params: theInvoice,
    file: 'application/pdf',
    refusals: { not_found: 'The account has no such invoice, or it has no PDF.' },
    example: { params: { id: ids.invoice }, reply: undefined },
  }),
  explain('deleteInvoiceFile', invoiceFileCalls.remove, {
    subject: 'Invoices',
    detail: 'Without a PDF it changes nothing.',
    params: theInvoice,
    refusals: noInvoice,
    example: { params: { id: ids.invoice } },
  }),
  explain('getInvoiceEvidence', evidenceCalls.download, {
    subject: 'Invoices',
    detail:
      'The invoice and its PDF, each email as it was sent, what mail servers answered, the decision of each day, payments, what the client said, a timeline as a PDF, and SHA256SUMS. A record of what Duely did, not legal advice.',
    params: theInvoice,
    file: 'application/zip',
    refusals: noInvoice,
    example: { params: { id: ids.invoice }, reply: undefined },
  }),
  explain('getInvoiceHistory', reminderCalls.history, {
    subject: 'Invoices',
    params: theInvoice,
    refusals: { not_found: 'The account has no such invoice.' },
    example: {
      params: { id: ids.invoice },
      reply: {
        nextAt: '2026-03-03T03:30:00Z',
        reason: null,
        sequence: 'every_day',
        step: null,
        movedFrom: null,
        why: null,
        atClient: null,
        smart: true,
        notDelivered: null,
        mails: [
          {
            _id: ids.mail,
            runId: ids.run,
            kind: 'start',
            state: 'sent',
            reason: null,
            subject,
            clientEmail: 'billing@kaveri.example',
            createdAt: now,
            sentAt: now,
            bouncedAt: null,
            attempt: 1,
            nextTryAt: null,
            serverReply: accepted,
            copiesRefused: null,
            invoices: 1,
            sequence: null,
            step: null,
            stored: true,
          },
        ],
        days: [
          {
            date: '2026-03-02',
            outcome: 'sent',
            words: `Sent. The mail server replied: ${accepted}`,
            decidedAt: now,
            nextTryAt: null,
            mailId: ids.mail,
          },
        ],
        payments: [],
        answers: [],
        notes: [],
        changes: [{ _id: ids.event, at: now, by: 'Duely', field: 'created', before: null, after: null }],
      },
    },
  }),
  explain('listNotes', noteCalls.list, {
    subject: 'Invoices',
    detail: 'Clients never see them, and no email has them.',
    params: theInvoice,
    refusals: noInvoice,
    example: { params: { id: ids.invoice }, reply: [] },
  }),
  explain('addNote', noteCalls.add, {
    subject: 'Invoices',
    detail: 'A note has at most 2,000 characters and is never changed.',
    params: theInvoice,
    refusals: { ...noInvoice, conflict: 'The invoice already has 200 notes.' },
    example: {
      params: { id: ids.invoice },
      body: { text: 'Meera asked for the order number; sent it on the phone.' },
      reply: { _id: ids.event, at: now, by: 'Nightly job (Asha Rao)', text: 'Meera asked for the order number; sent it on the phone.' },
    },
  }),
  explain('listPayments', paymentCalls.list, {
    subject: 'Invoices',
    params: theInvoice,
    refusals: noInvoice,
    example: { params: { id: ids.invoice }, reply: [payment] },
  }),
  explain('recordPayment', paymentCalls.record, {
    subject: 'Invoices',
    detail:
      'Once nothing is left to pay, the invoice is paid and no further reminder is sent; until then reminders ask for the rest. Use an Idempotency-Key, such as the reference of the bank: without one, a repeated request records a second payment.',
    params: theInvoice,
    headers: [paymentKey],
    refusals: {
      ...noInvoice,
      conflict: 'The Idempotency-Key was used for another payment, or the invoice already has 500 payments and refunds.',
    },
    example: {
      params: { id: ids.invoice },
      headers: { 'Idempotency-Key': paymentKey.example },
      body: { amount: 5000, paidOn: '2026-03-01', method: 'upi', reference: '606012345678' },
      reply: { payment, invoice: partPaidKaveri },
    },
  }),
  explain('voidPayment', paymentCalls.takeBack, {
    subject: 'Invoices',
    detail: 'A payment is never changed: to correct one, take it back and record another.',
    params: { ...theInvoice, pid: 'The `_id` of the payment.' },
    refusals: {
      not_found: 'The account has no such invoice, or it has no such payment.',
      conflict: 'The payment came from a payment provider, or a refund depends on it.',
    },
    example: {
      params: { id: ids.invoice, pid: ids.payment },
      reply: { payment: { ...payment, voidedAt: now }, invoice: kaveri },
    },
  }),

  explain('triggerReminders', integrationCalls.trigger, {
    subject: 'Reminders',
    detail:
      'For automation: invoices already reminded today are skipped, so that a loop of triggers ends. Responds after every email was attempted, after 20 seconds at the latest.',
    refusals: { ...noMailbox, ...unconfirmed, ...allRefused },
    later,
    example: { body: {}, reply: oneSent },
  }),
  explain('reportBounce', integrationCalls.bounce, {
    subject: 'Reminders',
    detail:
      'Duely reads no mailbox, so your program reports what comes back. It holds the address as a permanent refusal does, until the address is corrected or tried again. Reported once more, the same email changes nothing.',
    refusals: { not_found: 'The account has sent no such email, or it is older than 90 days.' },
    example: {
      body: { messageId: `<rem.${ids.mail}@example.com>` },
      reply: { _id: ids.mail, clientEmail: kaveri.clientEmail, held: true },
    },
  }),
  explain('sendReminders', reminderCalls.sendNow, {
    subject: 'Reminders',
    detail:
      'Send Now: includes invoices already reminded today, up to three times a day per invoice. Repeated within 60 seconds it returns the first run, if every invoice that it would send is in that run with the same address and amount, and did not fail. An email about one client can have a subject and a text of its own, with the variables of the template.',
    refusals: {
      ...noMailbox,
      ...unconfirmed,
      ...allRefused,
      conflict: 'None of the chosen invoices can be reminded now; the message has the reason.',
    },
    later,
    example: { body: { groupByClient: true }, reply: oneSent },
  }),
  explain('startReminders', reminderCalls.start, {
    subject: 'Reminders',
    refusals: { ...noMailbox, ...unconfirmed, ...allRefused, plan_limit: 'The plan has no daily reminders.' },
    later,
    example: { body: { groupByClient: false }, reply: oneSent },
  }),
  explain('draftReminder', reminderCalls.draft, {
    subject: 'Reminders',
    detail: 'Sends nothing. The email is rendered as it would be sent at this moment.',
    refusals: {},
    example: {
      body: { invoiceIds: [ids.invoice] },
      reply: {
        mails: 0,
        repeats: null,
        leftOut: [{ invoiceId: ids.invoice, reference: '', clientName: '', words: 'This invoice does not exist, or it was deleted.' }],
        email: null,
      },
    },
  }),
  explain('tryAddress', reminderCalls.tryAddress, {
    subject: 'Reminders',
    detail:
      'After a mail server has permanently refused an address (5.1.x), reminders to it are held: the invoice has an `addressHold`. They also resume when the client’s address changes.',
    refusals: { ...noMailbox, ...unconfirmed, ...allRefused, not_found: 'Reminders to this address are not held.' },
    later,
    example: { body: { clientEmail: kaveri.clientEmail }, reply: oneSent },
  }),
  explain('stopReminders', reminderCalls.stop, {
    subject: 'Reminders',
    detail: 'Emails that are being sent at this moment may still be delivered.',
    refusals: {},
    example: { reply: { isActive: false, cancelled: 0 } },
  }),
  explain('getReminderStatus', reminderCalls.status, {
    subject: 'Reminders',
    refusals: {},
    example: {
      reply: {
        isActive: true,
        state: 'active',
        words: 'Active',
        next: 'The next daily run is on 03/03/2026 at 09:00.',
        lastReminderSent: now,
        nextRunAt: '2026-03-03T03:30:00Z',
        reason: null,
        timezone: 'Asia/Kolkata',
        reminderHour: 9,
        pause: null,
        trouble: null,
        openRunId: null,
        leavingRunId: null,
      },
    },
  }),
  explain('previewReminders', reminderCalls.preview, {
    subject: 'Reminders',
    detail: 'Sends nothing.',
    refusals: {},
    example: {
      query: { limit: 100 },
      reply: {
        mails: 1,
        total: 12250.5,
        totals: [{ currency: 'INR', amount: 12250.5 }],
        sendNowMails: 1,
        remindedToday: 0,
        allowance: null,
        lines: [
          {
            invoiceId: ids.invoice,
            reference: 'INV-0001',
            clientName: 'Kaveri Foods',
            clientEmail: 'billing@kaveri.example',
            amount: 12250.5,
            invoiceAmount: 12250.5,
            paidAmount: 0,
            currency: 'INR',
            language: 'en',
            dueDate: '2026-02-20',
            daysOverdue: 10,
            dueNow: true,
            remindedToday: 0,
            heldFor: null,
            sendNowLeft: 3,
            nextAt: null,
            reason: 'schedule_inactive',
            notDelivered: null,
            sentJustNow: null,
            sequence: 'every_day',
            step: null,
            movedFrom: null,
            why: null,
            atClient: null,
          },
        ],
      },
    },
  }),
  explain('listRuns', reminderCalls.runs, {
    subject: 'Reminders',
    refusals: {},
    example: { query: { limit: 1 }, reply: [finishedRun] },
  }),
  explain('getRun', reminderCalls.run, {
    subject: 'Reminders',
    params: theRun,
    refusals: noRun,
    example: { params: { id: ids.run }, reply: finishedRun },
  }),
  explain('cancelRun', reminderCalls.cancelRun, {
    subject: 'Reminders',
    params: theRun,
    refusals: noRun,
    example: { params: { id: ids.run }, reply: cancelledRun },
  }),
  explain('retryRun', reminderCalls.retryRun, {
    subject: 'Reminders',
    params: theRun,
    refusals: { ...noRun, ...noMailbox, ...unconfirmed, ...allRefused },
    later,
    example: { params: { id: ids.run }, reply: oneSent },
  }),
  explain('listLeaving', leavingCalls.mails, {
    subject: 'Reminders',
    params: theRun,
    refusals: noRun,
    example: {
      params: { id: ids.run },
      reply: [
        {
          clientName: 'Kaveri Foods',
          clientEmail: 'billing@kaveri.example',
          leftOut: false,
          invoices: [{ invoiceId: ids.invoice, reference: 'INV-0001', amount: 12250.5, currency: 'INR', dueDate: '2026-02-20' }],
        },
      ],
    },
  }),
  explain('leaveOut', leavingCalls.leaveOut, {
    subject: 'Reminders',
    detail: 'The step of a sequence that is left out comes on the next day that is open.',
    params: theRun,
    refusals: { ...noRun, ...notDaily },
    example: { params: { id: ids.run }, body: {}, reply: leftOutRun },
  }),
  explain('takeBack', leavingCalls.takeBack, {
    subject: 'Reminders',
    params: theRun,
    refusals: { ...noRun, ...notDaily },
    example: { params: { id: ids.run }, body: {}, reply: leavingRun },
  }),
  explain('leaveOutOnDay', leavingCalls.leaveOutOnDay, {
    subject: 'Reminders',
    detail: 'Before that run was made its emails are those of the plan.',
    params: theDay,
    refusals: dayOver,
    example: { params: { date: '2026-03-03' }, body: { clientEmails: ['billing@kaveri.example'] }, reply: leftOutDay },
  }),
  explain('takeBackOnDay', leavingCalls.takeBackOnDay, {
    subject: 'Reminders',
    params: theDay,
    refusals: dayOver,
    example: {
      params: { date: '2026-03-03' },
      body: {},
      reply: { ...leftOutDay, leave: 1, clients: leftOutDay.clients.map((client) => ({ ...client, leftOut: false })) },
    },
  }),
  explain('sendRunNow', leavingCalls.sendNow, {
    subject: 'Reminders',
    detail: 'What was left out of it stays left out.',
    params: theRun,
    refusals: { ...noRun, ...notDaily },
    example: { params: { id: ids.run }, reply: { ...leavingRun, leavesAt: null, nextTryAt: now } },
  }),
  explain('getSentMail', reminderCalls.mail, {
    subject: 'Reminders',
    params: { id: 'The `_id` of the email, from an invoice’s history.' },
    refusals: { not_found: 'The account has no such email, or it has not been rendered yet.' },
    example: {
      params: { id: ids.mail },
      reply: {
        _id: ids.mail,
        from: 'Asha Rao <asha@example.com>',
        to: 'billing@kaveri.example',
        subject: 'Invoice INV-0001',
        messageId: '<rem.019caccf-712c-7d59-8994-9d9cc8b96788@example.com>',
        date: '2026-03-02T04:30:00.000Z',
        html: reminderDocument(
          'Dear Kaveri Foods,<br><br>₹12,250.50 was due on 20/02/2026.<br><br>Asha Rao',
          undefined,
          'Invoice INV-0001',
        ),
        text: 'Dear Kaveri Foods,\n\n₹12,250.50 was due on 20/02/2026.\n\nAsha Rao',
      },
    },
  }),
  explain('getReminderSettings', reminderCalls.settings, {
    subject: 'Reminders',
    refusals: {},
    example: {
      reply: {
        groupByClient: false,
        sequence: 'every_day',
        holdMinutes: 0,
        eveningList: false,
        weeklySummary: false,
        ...asAtFirst,
        quietChosen: false,
        version: `${ids.account}.erGpCf24jpgv`,
      },
    },
  }),
  explain('updateReminderSettings', reminderCalls.changeSettings, {
    subject: 'Reminders',
    detail:
      'A sequence applies to every client and invoice without one of its own. To go back to one email a day, send `every_day`. With the `ETag` of the settings as If-Match, nothing is changed where they were changed meanwhile; without it the last change wins.',
    refusals: {
      changed_meanwhile: 'If-Match has the ETag of an earlier version. `meanwhile` has the present one, and who changed it when.',
      not_found: 'The account has no such sequence.',
      plan_limit: noSteps,
      plan_changed: planChanged,
    },
    example: {
      body: { groupByClient: true },
      reply: {
        groupByClient: true,
        sequence: 'every_day',
        holdMinutes: 0,
        eveningList: false,
        weeklySummary: false,
        ...asAtFirst,
        quietChosen: false,
        version: `${ids.account}.4hhF1pg-vQ7R`,
      },
    },
  }),
  explain('getSmartReminders', reminderCalls.smart, {
    subject: 'Reminders',
    refusals: {},
    example: {
      reply: {
        paid: 0,
        needed: 20,
        smart: { invoices: 0, daysLate: null, emails: null },
        planned: { invoices: 0, daysLate: null, emails: null },
        interval: null,
        words: 'Learning: 0 of 20 paid invoices.',
        says: null,
      },
    },
  }),
  explain('getHolidays', quietDayCalls.read, {
    subject: 'Reminders',
    detail: 'Quiet days apply to daily runs only: what is sent by hand or by a trigger leaves on every day.',
    refusals: {},
    example: {
      query: { country: 'IN', days: 14 },
      reply: {
        country: 'IN',
        name: 'India',
        region: null,
        weekend: [7],
        until: '2032-12-31',
        days: [{ date: '2026-03-04', name: 'Holi', mayMove: false }],
        ownDays: [],
        countries: null,
      },
    },
  }),
  explain('replaceOwnDays', quietDayCalls.replaceOwnDays, {
    subject: 'Reminders',
    detail: 'Own days apply to all clients, whichever days are quiet otherwise, and correct a public holiday that is wrong.',
    refusals: { plan_limit: noSteps, plan_changed: planChanged },
    example: { body: { days: [stocktaking] }, reply: { days: [stocktaking] } },
  }),
  explain('listSequences', sequenceCalls.list, {
    subject: 'Reminders',
    refusals: {},
    example: { reply: [everyDay, never] },
  }),
  explain('getSequence', sequenceCalls.read, {
    subject: 'Reminders',
    params: theSequence,
    refusals: noSequence,
    example: { params: { id: ids.sequence }, reply: gentle },
  }),
  explain('createSequence', sequenceCalls.create, {
    subject: 'Reminders',
    detail: 'Nothing is sent by it until an invoice, a client or the account has it.',
    refusals: { plan_limit: noSteps, conflict: 'The account already has 20 sequences, or texts in 20 other languages.' },
    example: { body: gentleDraft, reply: gentle },
  }),
  explain('replaceSequence', sequenceCalls.replace, {
    subject: 'Reminders',
    detail:
      'With the `ETag` of the sequence as If-Match, nothing is changed where it was changed meanwhile; without it the last change wins.',
    params: theSequence,
    refusals: {
      ...noSequence,
      changed_meanwhile: 'If-Match has the ETag of an earlier version. `meanwhile` has the present one, and who changed it when.',
      plan_limit: noSteps,
      plan_changed: planChanged,
      conflict: 'The account already has texts in 20 other languages.',
    },
    example: { params: { id: ids.sequence }, body: gentleDraft, reply: { ...gentle, version: 2 } },
  }),
  explain('deleteSequence', sequenceCalls.remove, {
    subject: 'Reminders',
    params: theSequence,
    refusals: { ...noSequence, conflict: 'The sequence is in use, and `use` names none that takes its place.' },
    example: { params: { id: ids.sequence }, query: { use: 'every_day' } },
  }),
  explain('testSequence', sequenceCalls.test, {
    subject: 'Reminders',
    detail: 'Ten an hour, together with other test emails.',
    params: theSequence,
    refusals: {
      not_found: 'The account has no such sequence, or the sequence has no such step.',
      ...noMailbox,
      mail_refused: 'The mail server refused the email; the message has its reply.',
    },
    example: { params: { id: ids.sequence }, body: { offset: 3 }, reply: { to: 'asha@example.com' } },
  }),
  explain('chooseSequence', sequenceCalls.assign, {
    subject: 'Invoices',
    params: theInvoice,
    refusals: {
      not_found: 'The account has no such invoice or sequence, or the invoice was deleted.',
      plan_limit: noSteps,
      plan_changed: planChanged,
    },
    example: { params: { id: ids.invoice }, body: { sequence: 'never' }, reply: { ...kaveri, sequence: 'never' } },
  }),
  explain('getPlan', sequenceCalls.plan, {
    subject: 'Reminders',
    detail: 'Empty while nothing can leave: daily reminders are off or on hold.',
    refusals: {},
    example: { query: { days: 2 }, reply: { mails: [], count: 0, clients: 0, fingerprint: 'AbpHGcgLb-kRsJGnwFEktk' } },
  }),
  explain('simulateReminders', sequenceCalls.simulate, {
    subject: 'Reminders',
    detail:
      'Send the `fingerprint` with the change itself: if other emails would leave by then, it is refused with `plan_changed` and the new answer.',
    refusals: {},
    example: {
      body: { settings: { sequence: 'never' } },
      reply: {
        before: [],
        after: [],
        added: [],
        removed: [],
        moved: [],
        reworded: [],
        counts: { before: 0, after: 0, added: 0, removed: 0, moved: 0, reworded: 0 },
        most: null,
        fingerprint: 'daEdpEyAJIa8b2VkCqSKcw',
      },
    },
  }),

  explain('subscribe', integrationCalls.addZap, {
    subject: 'Zapier',
    detail:
      'Repeating the call with the same URL and event creates no second webhook. Only https URLs with public addresses are called. A URL outside zapier.com must answer a challenge before its first event: a POST with the `type` `challenge`, answered with the value of `data.challenge`.',
    refusals: { conflict: 'The account already has 100 webhooks, or one of its own for that URL and event.' },
    example: { body: { hookUrl: 'https://hooks.zapier.com/hooks/standard/1042/abc/', event: 'invoice.paid' }, reply: { id: ids.hook } },
  }),
  explain('unsubscribe', integrationCalls.removeZap, {
    subject: 'Zapier',
    params: { id: 'The `id` that subscribing returned.' },
    refusals: { not_found: 'This app has no such webhook, or it was removed.' },
    example: { params: { id: ids.hook } },
  }),
  explain('getSample', integrationCalls.sample, {
    subject: 'Zapier',
    params: { event: 'The event’s type.' },
    refusals: { invalid: 'Unknown event type.' },
    example: {
      params: { event: 'invoice.created' },
      reply: [{ id: ids.event, type: 'invoice.created', timestamp: now, data: { invoice: kaveri } }],
    },
  }),
  explain('resumeDeliveries', integrationCalls.subscribe, {
    subject: 'Zapier',
    refusals: {},
    example: { reply: { sendReminders: true, available: true, connected: true } },
  }),
  explain('pauseDeliveries', integrationCalls.unsubscribe, {
    subject: 'Zapier',
    detail: 'Events during the pause are stored and delivered when deliveries resume.',
    refusals: {},
    example: { reply: { sendReminders: false, available: true, connected: true } },
  }),
  explain('getDeliveries', integrationCalls.subscription, {
    subject: 'Zapier',
    refusals: {},
    example: { reply: { sendReminders: true, available: true, connected: true } },
  }),
]

const reminder = {
  _id: ids.mail,
  runId: ids.run,
  kind: 'daily' as const,
  clientEmail: kaveri.clientEmail,
  subject,
  attempt: 1,
  sentAt: now,
  serverReply: accepted,
  sequence: null,
  step: null,
}

/** The events of webhooks. */
export const explainedEvents: { summary: string; schema: z.ZodType; example: WebhookPayload }[] = [
  {
    summary: 'An invoice was created.',
    schema: webhookPayload.options[0],
    example: { id: ids.event, type: 'invoice.created', timestamp: now, data: { invoice: kaveri } },
  },
  {
    summary: 'An unpaid invoice became overdue.',
    schema: webhookPayload.options[0],
    example: { id: ids.event, type: 'invoice.overdue', timestamp: now, data: { invoice: { ...kaveri, status: 'overdue' } } },
  },
  {
    summary: 'An invoice was paid in full.',
    schema: webhookPayload.options[0],
    example: { id: ids.event, type: 'invoice.paid', timestamp: now, data: { invoice: paidKaveri } },
  },
  {
    summary: 'An invoice has had all reminders of its sequence and is still open.',
    schema: webhookPayload.options[0],
    example: {
      id: ids.event,
      type: 'sequence.ended',
      timestamp: now,
      data: { invoice: { ...kaveri, status: 'overdue', remindersSent: 5, lastReminderAt: now, sequence: ids.sequence } },
    },
  },
  {
    summary: 'The day by which a client promised to pay is over, and the invoice is still open.',
    schema: webhookPayload.options[0],
    example: { id: ids.event, type: 'promise.broken', timestamp: now, data: { invoice: { ...kaveri, status: 'overdue' } } },
  },
  {
    summary: 'A payment or refund of an invoice was recorded.',
    schema: webhookPayload.options[2],
    example: { id: ids.event, type: 'payment.recorded', timestamp: now, data: { payment, invoice: partPaidKaveri } },
  },
  {
    summary: 'A payment or refund was taken back.',
    schema: webhookPayload.options[2],
    example: { id: ids.event, type: 'payment.voided', timestamp: now, data: { payment: { ...payment, voidedAt: now }, invoice: kaveri } },
  },
  {
    summary: 'A client said something about an invoice on its pay page.',
    schema: webhookPayload.options[3],
    example: {
      id: ids.event,
      type: 'client.answered',
      timestamp: now,
      data: {
        answer: {
          _id: ids.answer,
          invoiceId: ids.invoice,
          kind: 'promise',
          at: now,
          date: '2026-03-09',
          amount: null,
          reference: '',
          message: '',
          name: '',
          email: '',
          state: 'open',
          pausedUntil: '2026-03-09',
        },
        invoice: { ...kaveri, pause: { until: '2026-03-09', note: '', promised: true, scope: 'invoice', because: 'promised' } },
      },
    },
  },
  {
    summary: 'The mail server accepted an email to a client.',
    schema: webhookPayload.options[1],
    example: {
      id: ids.event,
      type: 'reminder.sent',
      timestamp: now,
      data: { reminder, invoices: [{ ...kaveri, remindersSent: 1, lastReminderAt: now }], invoiceCount: 1 },
    },
  },
  {
    summary: 'An email to a client permanently failed.',
    schema: webhookPayload.options[1],
    example: {
      id: ids.event,
      type: 'reminder.failed',
      timestamp: now,
      data: { reminder: { ...reminder, sentAt: null, serverReply: '550 5.1.1 No such user' }, invoices: [kaveri], invoiceCount: 1 },
    },
  },
  {
    summary: 'An email to a client came back.',
    schema: webhookPayload.options[1],
    example: {
      id: ids.event,
      type: 'reminder.bounced',
      timestamp: now,
      data: { reminder, invoices: [{ ...kaveri, remindersSent: 1, lastReminderAt: now }], invoiceCount: 1 },
    },
  },
]

/** The rate limit of a key or token. */
export const limitHeaders: ExplainedHeader[] = [
  { name: 'RateLimit-Limit', description: 'Requests allowed per minute.', example: '120' },
  { name: 'RateLimit-Remaining', description: 'Requests left.', example: '119' },
  { name: 'RateLimit-Reset', description: 'Seconds until the limit resets.', example: '60' },
]

/** The headers of every webhook (standardwebhooks.com). */
export const webhookHeaders: ExplainedHeader[] = [
  { name: 'webhook-id', description: 'The `id` of the event: the same on every attempt.', example: ids.event },
  {
    name: 'webhook-timestamp',
    description: 'The time of this attempt, in seconds since 1970. Refuse values older than five minutes.',
    example: '1772425800',
  },
  {
    name: 'webhook-signature',
    description:
      '`v1,` and the base64 of the HMAC-SHA256 of `webhook-id.webhook-timestamp.body`. The key is the base64 after `whsec_` in the secret. There may be several signatures, separated by spaces.',
    example: 'v1,K5oZfzN95Z9UVu1EsfQmfVNQhnkZ2pj9o9NDN/H/pI4=',
  },
]
