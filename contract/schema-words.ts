import { z } from 'zod'
import { integrationCalls, reminderFact, webhookEvent, webhookPayload } from './integrations.ts'
import { invoice, invoiceChange, invoiceDraft, invoicePause, invoiceQuery, invoiceStatus, pauseChange } from './invoices.ts'
import { problem } from './problem.ts'
import {
  dayDecision,
  deliveryState,
  historyMail,
  holdReason,
  invoiceHistory,
  noReminderReason,
  previewLine,
  reminderCalls,
  reminderSettings,
  run,
  runAnswer,
  runKind,
  sentMail,
} from './reminders.ts'

/** The name (`id`) and description of a schema in the reference. Formats are hints for readers and generators; they are not enforced. */
interface Words {
  [other: string]: unknown
  id?: string
  description?: string
  format?: 'uuid' | 'date' | 'date-time' | 'email' | 'uri'
}

export const schemaWords = z.registry<Words>()

function tell(schema: z.ZodType, words: Words | string): void {
  schemaWords.add(schema, typeof words === 'string' ? { description: words } : words)
}

/** Describes fields of an object. */
function tellFields<S extends z.ZodRawShape>(schema: z.ZodObject<S>, fields: { [K in keyof S]?: Words | string }): void {
  for (const [name, words] of Object.entries(fields)) {
    const field: unknown = schema.shape[name]
    if (field instanceof z.ZodType && words !== undefined) tell(field, words)
  }
}

const id = (description: string): Words => ({ format: 'uuid', description })
const at = (description: string): Words => ({ format: 'date-time', description })
const day = (description: string): Words => ({ format: 'date', description })

tell(problem, { id: 'Problem', description: 'Why a request was refused.' })
tellFields(problem, {
  message: 'One sentence that a person can act on. Its wording may change: use `code` in software.',
  code: 'For software. Each code always has the same status.',
  errors: 'The invalid fields, by dotted path.',
})

tell(invoice, { id: 'Invoice', description: 'What a client owes.' })
tellFields(invoice, {
  _id: id('Assigned by Duely. Later invoices have later ids.'),
  clientName: 'The addressee of the invoice.',
  clientEmail: 'Reminders are sent to this address.',
  amount: 'Rupees, with at most two decimals.',
  dueDate: day('The last day to pay. The invoice is past due from the next day.'),
  reference: 'A short number, unique within the account.',
  createdAt: at('When it was created.'),
  updatedAt: at('When it last changed.'),
  paidAt: at('When its status became paid.'),
  remindersSent: 'Number of emails about it that a mail server accepted.',
  lastReminderAt: at('When a mail server last accepted an email about it.'),
  refusal:
    'The mail server’s reply when it permanently refused the last reminder. Null after it accepts one, or when the client’s address changes.',
  pause: 'The pause of its reminders; null if there is none.',
})
tell(invoiceStatus, {
  id: 'InvoiceStatus',
  description:
    'Unpaid turns overdue automatically in the night after the due date. A status set manually applies until the due date changes. Paid invoices are never reminded.',
})
tell(invoicePause, { id: 'InvoicePause', description: 'Why and how long an invoice’s reminders are paused.' })
tellFields(invoicePause, {
  until: day('Paused through this day; null: until resumed.'),
  note: 'A note of the owner, never sent to the client.',
  promised: 'The client promised to pay by then. If that day passes unpaid, the owner is notified.',
  scope: 'This invoice only, or every invoice with the client’s address.',
})

tell(invoiceDraft, { id: 'InvoiceDraft', description: 'A new invoice.' })
tell(invoiceChange, { id: 'InvoiceChange', description: 'The fields to change; omitted fields stay as they are.' })
tellFields(invoiceDraft, {
  clientName: 'The addressee of the invoice, on one line.',
  clientEmail: { format: 'email', description: 'Reminders are sent to this address.' },
  amount: 'Rupees, with at most two decimals.',
  dueDate: day('A date from 1900 to 2999. If a time follows, it is ignored.'),
})
tell(
  invoiceDraft.shape.reference.unwrap(),
  'A short number, unique within the account. Default for a new invoice: the next free one, such as INV-0001.',
)

tellFields(invoiceQuery, {
  status: 'Only invoices with this status.',
  search: 'Only invoices with this text in the client’s name or email; case-insensitive.',
  limit: 'The most invoices to return. Default: all.',
  cursor: 'The position of the next page, from the Link header.',
})

tell(pauseChange, { id: 'PauseChange', description: 'Starts or ends a pause.' })
const [begin, end] = pauseChange.options
tell(begin, 'Starts a pause, or changes the current one.')
tell(end, 'Ends the pause of the invoice, or with the scope `client` that of its client’s address.')
tellFields(begin, {
  until: day('Paused through this day; null: until resumed.'),
  note: 'A note for yourself, never sent to the client.',
  promised: 'The client promised to pay by then. If that day passes unpaid, you are notified.',
  scope: 'Pause this invoice, or every invoice with the client’s address.',
})

tell(runKind, {
  id: 'RunKind',
  description: 'What started the run: the schedule, Start Reminders, Send Now, a trigger by an API client, or a retry of failed emails.',
})
tell(runAnswer, {
  id: 'RunAnswer',
  description: 'The outcome of a run. `count` + `failed` + `skipped` + `retrying` = `total`, all in emails.',
})
tellFields(runAnswer, {
  count: 'Emails that the mail server accepted.',
  failed: 'Emails that it permanently refused.',
  skipped: 'Emails that were skipped, for example because the invoice was already reminded.',
  retrying: 'Emails that it temporarily refused, or that are not sent yet; Duely retries them.',
  invoices: 'Number of invoices in these emails.',
  runId: id('The run, see `/reminder/runs/{id}`; null if there was nothing to send.'),
  failures: 'The failed recipients, with the mail server’s reply.',
})
tell(holdReason, 'Why due emails are held.')
tell(run, { id: 'Run', description: 'One occasion to send reminders.' })
tellFields(run, {
  _id: id('The run.'),
  localDate: day('The date in the account’s time zone.'),
  startedAt: at('When it started.'),
  finishedAt: at('When it finished; null before.'),
  cancelledAt: at('When it was cancelled.'),
  skippedReason: 'Why the whole day was skipped; null if it was not.',
  total: 'Emails of this run.',
  sent: 'Emails that the mail server accepted.',
  failed: 'Emails that it permanently refused.',
  skipped: 'Emails that were skipped.',
  open: 'Emails still to be sent.',
  retrying: 'Open emails that will be retried.',
  held: 'Open emails on hold.',
  nextTryAt: at('When the next one is retried.'),
  failures: 'The failed recipients, with the mail server’s reply.',
})

tell(deliveryState, { id: 'MailState', description: 'The state of an email. Sent, failed, cancelled and superseded are final.' })
tell(noReminderReason, 'Why there is no next reminder, or none by the schedule.')
tell(historyMail, { id: 'MailAboutInvoice', description: 'One email about an invoice, and its state.' })
tellFields(historyMail, {
  _id: id('The email, see `/reminder/mails/{id}`.'),
  runId: id('Its run.'),
  reason: 'Why it is on hold or was not sent.',
  createdAt: at('When it was created.'),
  sentAt: at('When the mail server accepted it.'),
  attempt: 'Number of attempts.',
  nextTryAt: at('When it is retried.'),
  serverReply: 'The mail server’s reply to the last attempt.',
  invoices: 'Number of invoices it lists: more than one if emails are grouped.',
})
tell(dayDecision, { id: 'DayDecision', description: 'The decision about an invoice on one day.' })
tellFields(dayDecision, {
  date: day('The date in the account’s time zone.'),
  words: 'The decision in one sentence.',
  decidedAt: at('When it was decided.'),
  nextTryAt: at('When the email is retried.'),
  mailId: id('The email it refers to.'),
})
tell(invoiceHistory, { id: 'InvoiceHistory', description: 'Every email about an invoice, and the decision of each day.' })
tellFields(invoiceHistory, {
  nextAt: at('When it is reminded next; null if it is not.'),
  reason: 'Why it is not reminded.',
  mails: 'Newest first.',
  days: 'Newest first.',
})
tell(sentMail, { id: 'SentMail', description: 'An email as it was sent.' })
tellFields(sentMail, { _id: id('The email.'), messageId: 'The same on every attempt.', date: at('The email’s Date header.') })
tell(previewLine, { id: 'PreviewLine', description: 'Whether and when an unpaid invoice is reminded.' })
tellFields(previewLine, {
  invoiceId: id('The invoice.'),
  amount: 'Rupees.',
  dueDate: day('The last day to pay.'),
  daysOverdue: 'Days past due; below 1 if it is not past due.',
  dueNow: 'Start Reminders would send an email about it now.',
  remindedToday: 'Number of emails about it that a mail server accepted today.',
  heldFor: 'Why its open email is on hold.',
  sendNowLeft: 'How often Send Now can still remind of it today.',
  nextAt: at('When it is reminded next.'),
  reason: 'Why it has none.',
})
tell(reminderSettings, { id: 'ReminderSettings', description: 'How reminders are sent.' })
tellFields(reminderSettings, { groupByClient: 'One email per client that lists everything past due, instead of one per invoice.' })
const { status, preview, stop, runs } = reminderCalls
tellFields(status.reply, {
  isActive: 'Whether the daily schedule is on.',
  lastReminderSent: at('When a mail server last accepted a reminder of any kind.'),
  nextRunAt: at('When the next daily run is.'),
  timezone: 'The account’s time zone, as an IANA name.',
  reminderHour: 'The full hour of the daily run, local time.',
  pause: 'Why the mailbox is paused; null if it is not.',
  trouble: 'Why Duely itself is late, in one sentence; null if it is not.',
  openRunId: id('A run that has not finished.'),
})
tellFields(preview.reply, {
  mails: 'Number of emails that Start Reminders would send now.',
  total: 'The total amount of their invoices, in rupees.',
  sendNowMails: 'Number of emails that Send Now would send now.',
  remindedToday: 'Number of overdue invoices already reminded today.',
  lines: 'Every unpaid invoice.',
})
tellFields(stop.reply, { cancelled: 'Number of queued emails that were cancelled.' })
tellFields(runs.query, { limit: 'The most runs to return.' })

tell(webhookEvent, { id: 'Event', description: 'The type of an event.' })
const [invoiceEvent, reminderEvent] = webhookPayload.options
tell(invoiceEvent, { id: 'InvoiceEvent', description: 'An event about an invoice.' })
tell(reminderEvent, { id: 'ReminderEvent', description: 'The mail server accepted an email to a client, or it permanently failed.' })
const everyEvent = {
  id: 'The event. The same on every attempt and for every receiver, so a receiver can drop duplicates.',
  timestamp: at('When it happened.'),
  data: 'The data at the time of the event.',
}
tellFields(invoiceEvent, everyEvent)
tellFields(reminderEvent, everyEvent)
tellFields(reminderEvent.shape.data, { invoices: 'The invoices in the email: more than one if emails are grouped.' })
tell(reminderFact, { id: 'Reminder', description: 'One email to a client.' })
tellFields(reminderFact, {
  _id: id('The email.'),
  runId: id('Its run.'),
  attempt: 'Number of attempts.',
  sentAt: at('When the mail server accepted it; null if it failed.'),
  serverReply: 'The mail server’s reply to the last attempt.',
})
tellFields(integrationCalls.me.reply, { id: id('The account.'), displayName: 'The person’s name, also shown to clients.' })
tell(integrationCalls.subscription.reply, { id: 'ZapierSettings', description: 'Whether events are delivered to Zapier.' })
tellFields(integrationCalls.subscription.reply, {
  sendReminders: 'Events are delivered to Zapier.',
  available: 'Zapier is configured on this server.',
})
tellFields(integrationCalls.addZap.body, {
  hookUrl: { format: 'uri', description: 'The URL to call.' },
  event: 'The event to subscribe to.',
})
tellFields(integrationCalls.addZap.reply, { id: id('The webhook, for removing it.') })
