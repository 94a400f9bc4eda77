import type { z } from 'zod'
import type { Call, CallInput, CallReply } from './call.ts'
import { integrationCalls, type WebhookPayload, webhookPayload } from './integrations.ts'
import { type Invoice, invoiceCalls } from './invoices.ts'
import type { ProblemCode } from './problem.ts'
import { type Run, type RunAnswer, reminderCalls } from './reminders.ts'
import { reminderDocument } from './templates.ts'

/** What the reference says of a call that programs may make, besides its summary and its schemas. */
export interface ExplainedCall {
  /** What generated clients call it. */
  name: string
  call: Call
  subject: Subject
  detail?: string
  /** What the parts of its path name. */
  params?: Record<string, string>
  headers?: ExplainedHeader[]
  answers?: ExplainedHeader[]
  /** Why it may be refused, beyond the reasons that hold for every call; by code. */
  refusals: Partial<Record<ProblemCode, string>>
  /** What an answer with 202 means, where there is one. */
  later?: string
  /** What an answer with 304 means, where there is one. */
  unchanged?: string
  /** An example that works as it stands, but for the ids. */
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

/** The first words of the reference, in Markdown. */
export const intro = `Everything here works with an **API key** or with a token that an application got by **OAuth 2.0**, sent with each request:

\`\`\`
Authorization: Bearer duely_key_…
\`\`\`

- **Errors** have a status, a \`code\` for programs and a \`message\` for people: \`{"message": "This invoice does not exist, or it was deleted.", "code": "not_found"}\`. Fields that Duely does not know are refused.
- **Money** is rupees, a number with at most two decimals. **Dates** are \`YYYY-MM-DD\`; **moments** are ISO 8601 in UTC.
- **Answers** may get further fields. Nothing that is here is taken away or changes its meaning.
- **Limits** are told with every answer; see the headers of each call.

`

export const subjects = {
  Account: 'Whose account a key or a token opens.',
  Invoices: 'The list of what clients owe.',
  Reminders: 'Who is written to, when, and what became of it.',
  Zapier: 'What the Zapier app is made of. Any application that a person connected by OAuth can use it; API keys cannot.',
  Webhooks: 'What Duely tells an address of yours, as it happens.',
}
type Subject = keyof typeof subjects

/** Why any call may be refused. */
export const everyRefusal: Partial<Record<ProblemCode, string>> = {
  not_signed_in: 'There is no key or token, or it is unknown, has run out or was revoked.',
  not_allowed: 'The key or token may read but not write, or is not for this call.',
  too_many: 'Too many requests within a minute. Retry-After says for how many seconds to wait.',
  fault: 'Something went wrong in Duely. The header X-Request-Id names the request to its operator.',
  not_ready: 'Duely cannot reach its database. Retry-After says when to try again.',
}
/** Why a call that keys open may be refused. */
export const keyRefusals: Partial<Record<ProblemCode, string>> = {
  plan_limit: 'The plan of the account has no API access. Applications that a person connected need none.',
}
/** Why a call that takes a body or a query may be refused. */
export const inputRefusals: Partial<Record<ProblemCode, string>> = {
  invalid: 'Something is missing, unknown or not as it should be; `errors` names each field.',
}
/** Why a call that takes a body may be refused as well. */
export const bodyRefusals: Partial<Record<ProblemCode, string>> = {
  ...inputRefusals,
  too_large: 'The body is more than 1 MB.',
}

type ExampleOf<C extends Call> = CallInput<C> & {
  headers?: Record<string, string>
} & (C['reply'] extends z.ZodType ? { reply: CallReply<C> } : { reply?: undefined })

/** Holds an example to the call that it is of. */
function explain<C extends Call>(
  name: string,
  call: C,
  about: Omit<ExplainedCall, 'name' | 'call' | 'example'> & { example: ExampleOf<C> },
): ExplainedCall {
  return { ...about, name, call }
}

/** The day of the examples: 2 March 2026, ten o'clock in the morning in India. */
const now = '2026-03-02T04:30:00Z'
const ids = {
  account: '019ca0f1-2b10-7c52-9d0e-41b7a6f0c3d8',
  invoice: '019caccf-6940-7a41-8f25-3c9e5b7d1a60',
  another: '019caccf-6941-7d08-b3aa-90c4e2f8176b',
  run: '019caccf-7120-73f8-9afa-6b2d4e8c0f11',
  mail: '019caccf-7128-7e78-9b81-d5a3c17e9042',
  hook: '019caccf-8b30-7f16-a2c9-58e07d41b6f3',
  event: '019caccf-8f44-7b90-8c3d-2e6a1f95d7c8',
}

const kaveri: Invoice = {
  _id: ids.invoice,
  clientName: 'Kaveri Foods',
  clientEmail: 'billing@kaveri.example',
  amount: 12250.5,
  dueDate: '2026-02-20',
  status: 'unpaid',
  reference: 'INV-0001',
  createdAt: now,
  updatedAt: now,
  paidAt: null,
  remindersSent: 0,
  lastReminderAt: null,
  refusal: null,
  pause: null,
}
const subject = 'Payment reminder: invoice INV-0001 was due on 20/02/2026'
const accepted = '250 2.0.0 Accepted'
const oneSent: RunAnswer = { count: 1, failed: 0, skipped: 0, retrying: 0, total: 1, invoices: 1, runId: ids.run, failures: [] }
const finishedRun: Run = {
  _id: ids.run,
  kind: 'send_now',
  localDate: '2026-03-02',
  startedAt: now,
  finishedAt: now,
  cancelledAt: null,
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
const cancelledRun: Run = { ...finishedRun, cancelledAt: now, sent: 0, skipped: 1 }

const idempotencyKey: ExplainedHeader = {
  name: 'Idempotency-Key',
  description:
    'Any text of your own, such as the number of an order. The same request with the same key within a day writes nothing down again and is answered with the same invoice; another request with it is a `conflict`.',
  example: 'order-1042',
}
const nextPage: ExplainedHeader = {
  name: 'Link',
  description: 'The address of the next page, with `rel="next"`. It is missing on the last page.',
  example: `</invoice?status=unpaid&limit=1&cursor=${ids.another}>; rel="next"`,
}
const tag: ExplainedHeader = {
  name: 'ETag',
  description: 'Names this state of the list. Sent back as If-None-Match it saves loading what has not changed.',
  example: 'W/"019ca0f1-2b10-7c52-9d0e-41b7a6f0c3d8.1.8146729.X3yq0LMvUaEu"',
}

const noInvoice = { not_found: 'There is no such invoice in this account, or it was deleted.' }
const noRun = { not_found: 'There is no such run in this account.' }
const takenReference = { conflict: 'Another invoice has the reference already.' }
const noMailbox = { mail_not_configured: 'No mailbox is connected yet. A person does that under Email Settings.' }
const allRefused = { mail_refused: 'The mail server refused every single mail for good.' }
const later = 'Not all mails are through after 20 seconds. The run goes on: with a key, follow it at `/reminder/runs/{id}`.'
const theInvoice = { id: 'The `_id` of the invoice.' }
const theRun = { id: 'The `_id` of the run, as `runId` says it.' }

/** Every call that programs may make, in the order of the reference. */
export const explainedCalls: ExplainedCall[] = [
  explain('getAccount', integrationCalls.me, {
    subject: 'Account',
    detail: 'The first call to make with a new key: it shows that the key works, and changes nothing.',
    refusals: {},
    example: { reply: { id: ids.account, email: 'asha@example.com', displayName: 'Asha Rao' } },
  }),

  explain('listInvoices', invoiceCalls.list, {
    subject: 'Invoices',
    detail:
      'Without `limit` the whole list. With it a page: go on to the address in the Link header until there is none. Invoices that are written down or deleted meanwhile do not make a page skip or repeat others.',
    headers: [{ name: 'If-None-Match', description: 'The ETag of the list that you have.', example: tag.example }],
    answers: [nextPage, tag],
    unchanged: 'The list is still the one that If-None-Match names.',
    refusals: {},
    example: { query: { status: 'unpaid', limit: 1 }, reply: [{ ...kaveri, _id: ids.another, reference: 'INV-0002' }] },
  }),
  explain('createInvoice', invoiceCalls.create, {
    subject: 'Invoices',
    detail: 'Nobody is written to because of it. Send an Idempotency-Key where a request may be sent twice, after a timeout for example.',
    headers: [idempotencyKey],
    refusals: {
      plan_limit: 'The plan allows no more invoices in this calendar month.',
      conflict: 'Another invoice has the reference already, or the Idempotency-Key was sent with another request.',
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
      'Marking an invoice as paid is this call with `{"status": "paid"}`. No reminder of it leaves from then on, not even one that was waiting.',
    params: theInvoice,
    refusals: { ...noInvoice, ...takenReference },
    example: { params: { id: ids.invoice }, body: { status: 'paid' }, reply: { ...kaveri, status: 'paid', paidAt: now } },
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
    refusals: { not_found: 'There is no such invoice in this account, or it was deleted more than 30 days ago.', ...takenReference },
    example: { params: { id: ids.invoice }, reply: kaveri },
  }),
  explain('pauseInvoice', invoiceCalls.pause, {
    subject: 'Invoices',
    params: theInvoice,
    refusals: noInvoice,
    example: {
      params: { id: ids.invoice },
      body: { paused: true, until: '2026-03-09', note: 'Promised on the phone.', promised: true },
      reply: { ...kaveri, pause: { until: '2026-03-09', note: 'Promised on the phone.', promised: true, scope: 'invoice' } },
    },
  }),
  explain('getInvoiceHistory', reminderCalls.history, {
    subject: 'Invoices',
    params: theInvoice,
    refusals: { not_found: 'There is no such invoice in this account.' },
    example: {
      params: { id: ids.invoice },
      reply: {
        nextAt: '2026-03-03T03:30:00Z',
        reason: null,
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
            attempt: 1,
            nextTryAt: null,
            serverReply: accepted,
            invoices: 1,
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
      },
    },
  }),

  explain('triggerReminders', integrationCalls.trigger, {
    subject: 'Reminders',
    detail:
      'For programs that trigger by themselves: whoever was written to today already is left out, so that a loop of triggers ends. It answers once every mail was tried, after 20 seconds at the latest.',
    refusals: { ...noMailbox, ...allRefused },
    later,
    example: { reply: oneSent },
  }),
  explain('sendReminders', reminderCalls.sendNow, {
    subject: 'Reminders',
    detail:
      'Send Now: also to those who were written to today, up to three times a day about each invoice. Within a minute of another Send Now it is answered with the run of that one.',
    refusals: { ...noMailbox, ...allRefused },
    later,
    example: { reply: oneSent },
  }),
  explain('startReminders', reminderCalls.start, {
    subject: 'Reminders',
    refusals: { ...noMailbox, ...allRefused, plan_limit: 'The plan has no daily reminders.' },
    later,
    example: { reply: oneSent },
  }),
  explain('stopReminders', reminderCalls.stop, {
    subject: 'Reminders',
    detail: 'At most the mails in flight still leave.',
    refusals: {},
    example: { reply: { isActive: false, cancelled: 0 } },
  }),
  explain('getReminderStatus', reminderCalls.status, {
    subject: 'Reminders',
    refusals: {},
    example: {
      reply: {
        isActive: true,
        lastReminderSent: now,
        nextRunAt: '2026-03-03T03:30:00Z',
        reason: null,
        timezone: 'Asia/Kolkata',
        reminderHour: 9,
        pause: null,
        trouble: null,
        openRunId: null,
      },
    },
  }),
  explain('previewReminders', reminderCalls.preview, {
    subject: 'Reminders',
    detail: 'Sends nothing.',
    refusals: {},
    example: {
      reply: {
        mails: 1,
        total: 12250.5,
        sendNowMails: 1,
        remindedToday: 0,
        lines: [
          {
            invoiceId: ids.invoice,
            reference: 'INV-0001',
            clientName: 'Kaveri Foods',
            clientEmail: 'billing@kaveri.example',
            amount: 12250.5,
            dueDate: '2026-02-20',
            daysOverdue: 10,
            dueNow: true,
            remindedToday: 0,
            heldFor: null,
            sendNowLeft: 3,
            nextAt: null,
            reason: 'schedule_inactive',
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
    refusals: { ...noRun, ...noMailbox, ...allRefused },
    later,
    example: { params: { id: ids.run }, reply: oneSent },
  }),
  explain('getSentMail', reminderCalls.mail, {
    subject: 'Reminders',
    params: { id: 'The `_id` of the mail, as the history of an invoice says it.' },
    refusals: { not_found: 'There is no such mail in this account, or it has not been written yet.' },
    example: {
      params: { id: ids.mail },
      reply: {
        _id: ids.mail,
        from: 'Asha Rao <asha@example.com>',
        to: 'billing@kaveri.example',
        subject: 'Invoice INV-0001',
        messageId: '<rem.019caccf-712c-7d59-8994-9d9cc8b96788@example.com>',
        date: '2026-03-02T04:30:00.000Z',
        html: `${reminderDocument('Dear Kaveri Foods,<br><br>₹12,250.50 was due on 20/02/2026.<br><br>Asha Rao')}\n`,
        text: 'Dear Kaveri Foods,\n\n₹12,250.50 was due on 20/02/2026.\n\nAsha Rao\n',
      },
    },
  }),
  explain('getReminderSettings', reminderCalls.settings, {
    subject: 'Reminders',
    refusals: {},
    example: { reply: { groupByClient: false } },
  }),
  explain('updateReminderSettings', reminderCalls.changeSettings, {
    subject: 'Reminders',
    refusals: {},
    example: { body: { groupByClient: true }, reply: { groupByClient: true } },
  }),

  explain('subscribe', integrationCalls.addZap, {
    subject: 'Zapier',
    detail: 'The same address for the same event is one hook, however often it is asked for. Only https and public addresses are called.',
    refusals: { conflict: 'The account has a hundred hooks already.' },
    example: { body: { hookUrl: 'https://hooks.zapier.com/hooks/standard/1042/abc/', event: 'invoice.paid' }, reply: { id: ids.hook } },
  }),
  explain('unsubscribe', integrationCalls.removeZap, {
    subject: 'Zapier',
    params: { id: 'The `id` that subscribing answered.' },
    refusals: { not_found: 'There is no such hook of this application any more.' },
    example: { params: { id: ids.hook } },
  }),
  explain('getSample', integrationCalls.sample, {
    subject: 'Zapier',
    params: { event: 'What happened.' },
    refusals: { invalid: 'There is no such event.' },
    example: {
      params: { event: 'invoice.created' },
      reply: [{ id: ids.event, type: 'invoice.created', timestamp: now, data: { invoice: kaveri } }],
    },
  }),
  explain('resumeDeliveries', integrationCalls.subscribe, {
    subject: 'Zapier',
    refusals: {},
    example: { reply: { sendReminders: true, available: true } },
  }),
  explain('pauseDeliveries', integrationCalls.unsubscribe, {
    subject: 'Zapier',
    detail: 'What happens meanwhile is kept and delivered once they go on.',
    refusals: {},
    example: { reply: { sendReminders: false, available: true } },
  }),
  explain('getDeliveries', integrationCalls.subscription, {
    subject: 'Zapier',
    refusals: {},
    example: { reply: { sendReminders: true, available: true } },
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
}

/** The five things that a webhook can be told of. */
export const explainedEvents: { summary: string; schema: z.ZodType; example: WebhookPayload }[] = [
  {
    summary: 'An invoice was written down.',
    schema: webhookPayload.options[0],
    example: { id: ids.event, type: 'invoice.created', timestamp: now, data: { invoice: kaveri } },
  },
  {
    summary: 'An unpaid invoice became overdue.',
    schema: webhookPayload.options[0],
    example: { id: ids.event, type: 'invoice.overdue', timestamp: now, data: { invoice: { ...kaveri, status: 'overdue' } } },
  },
  {
    summary: 'An invoice was marked as paid.',
    schema: webhookPayload.options[0],
    example: { id: ids.event, type: 'invoice.paid', timestamp: now, data: { invoice: { ...kaveri, status: 'paid', paidAt: now } } },
  },
  {
    summary: 'The mail server accepted a mail to a client.',
    schema: webhookPayload.options[1],
    example: {
      id: ids.event,
      type: 'reminder.sent',
      timestamp: now,
      data: { reminder, invoices: [{ ...kaveri, remindersSent: 1, lastReminderAt: now }] },
    },
  },
  {
    summary: 'A mail to a client failed for good.',
    schema: webhookPayload.options[1],
    example: {
      id: ids.event,
      type: 'reminder.failed',
      timestamp: now,
      data: { reminder: { ...reminder, sentAt: null, serverReply: '550 5.1.1 No such user' }, invoices: [kaveri] },
    },
  },
]

/** How often a key or a token may ask. */
export const limitHeaders: ExplainedHeader[] = [
  { name: 'RateLimit-Limit', description: 'How many requests a minute are allowed.', example: '120' },
  { name: 'RateLimit-Remaining', description: 'How many of them are left.', example: '119' },
  { name: 'RateLimit-Reset', description: 'In how many seconds all of them are there again.', example: '60' },
]

/** What comes with every webhook (standardwebhooks.com). */
export const webhookHeaders: ExplainedHeader[] = [
  { name: 'webhook-id', description: 'The `id` of the event: the same on every try.', example: ids.event },
  {
    name: 'webhook-timestamp',
    description: 'When this try was made, in seconds since 1970. Refuse what is older than five minutes.',
    example: '1772425800',
  },
  {
    name: 'webhook-signature',
    description:
      '`v1,` and the base64 of the HMAC-SHA256 of `webhook-id.webhook-timestamp.body`. The key is what follows `whsec_` in the secret, read as base64. There may be several, separated by spaces.',
    example: 'v1,K5oZfzN95Z9UVu1EsfQmfVNQhnkZ2pj9o9NDN/H/pI4=',
  },
]
