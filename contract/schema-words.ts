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

/** What the reference calls a schema (`id`), and says of it and its fields. Formats are hints for readers and generators, no rules. */
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

/** Says something of fields of an object. */
function tellFields<S extends z.ZodRawShape>(schema: z.ZodObject<S>, fields: { [K in keyof S]?: Words | string }): void {
  for (const [name, words] of Object.entries(fields)) {
    const field: unknown = schema.shape[name]
    if (field instanceof z.ZodType && words !== undefined) tell(field, words)
  }
}

const id = (description: string): Words => ({ format: 'uuid', description })
const at = (description: string): Words => ({ format: 'date-time', description })
const day = (description: string): Words => ({ format: 'date', description })

tell(problem, { id: 'Problem', description: 'Why something was not done.' })
tellFields(problem, {
  message: 'One sentence that a person can act on. It may be worded anew at any time: decide by `code`.',
  code: 'What a program decides by. Each code always comes with the same status.',
  errors: 'Which fields are wrong, by dotted path.',
})

tell(invoice, { id: 'Invoice', description: 'What a client owes.' })
tellFields(invoice, {
  _id: id('Made by Duely. Later invoices have later ids.'),
  clientName: 'Whom the invoice is addressed to.',
  clientEmail: 'Where reminders go.',
  amount: 'Rupees, with at most two decimals.',
  dueDate: day('The last day to pay. From the day after it is past due.'),
  reference: 'A short number that no other invoice of the account has.',
  createdAt: at('When it was written down.'),
  updatedAt: at('When it last changed.'),
  paidAt: at('When its status became paid.'),
  remindersSent: 'How many mails about it a mail server has accepted.',
  lastReminderAt: at('When a mail server last accepted a mail about it.'),
  refusal:
    'What the mail server said when it refused the last reminder for good. Null once it takes one, or the client has another address.',
  pause: 'Why it is not reminded at present; null where nothing pauses it.',
})
tell(invoiceStatus, {
  id: 'InvoiceStatus',
  description:
    'Unpaid turns overdue by itself in the night after the due date. What is set by hand stands until the due date changes. Paid is never reminded.',
})
tell(invoicePause, { id: 'InvoicePause', description: 'Why and how long an invoice is not reminded.' })
tellFields(invoicePause, {
  until: day('The last quiet day; null: until it is resumed.'),
  note: 'Words of the owner, never sent to the client.',
  promised: 'The client promised to pay by then. Where that day passes unpaid, the owner is told.',
  scope: 'Whether this invoice is paused, or every invoice of the client’s address.',
})

tell(invoiceDraft, { id: 'InvoiceDraft', description: 'An invoice to be written down.' })
tell(invoiceChange, { id: 'InvoiceChange', description: 'What is to change; fields that are left out stay as they are.' })
tellFields(invoiceDraft, {
  clientName: 'Whom the invoice is addressed to, on one line.',
  clientEmail: { format: 'email', description: 'Where reminders go.' },
  amount: 'Rupees, with at most two decimals.',
  dueDate: day('A date from 1900 to 2999. Of a date with a time the first ten characters count.'),
})
tell(
  invoiceDraft.shape.reference.unwrap(),
  'A short number that no other invoice of the account has. Left out in a new invoice: the next free one, such as INV-0001.',
)

tellFields(invoiceQuery, {
  status: 'Only those with this status.',
  search: 'Only those with this text in the name or the email of the client, in capitals or not.',
  limit: 'At most so many. Without it all of them.',
  cursor: 'Where the page before ended, as its Link header says it.',
})

tell(pauseChange, { id: 'PauseChange', description: 'Begins or ends a pause.' })
const [begin, end] = pauseChange.options
tell(begin, 'Begins a pause, or changes the one that runs.')
tell(end, 'Ends the pause of the invoice, or with the scope `client` that of its client’s address.')
tellFields(begin, {
  until: day('The last quiet day; null: until it is resumed.'),
  note: 'Words for yourself, never sent to the client.',
  promised: 'The client promised to pay by then: where that day passes unpaid, you are told.',
  scope: 'Pause this invoice, or every invoice of the client’s address.',
})

tell(runKind, {
  id: 'RunKind',
  description: 'Why mails were sent: by the schedule, Start Reminders, Send Now, a program’s trigger, or to try failed ones again.',
})
tell(runAnswer, {
  id: 'RunAnswer',
  description: 'What became of a run. `count` + `failed` + `skipped` + `retrying` = `total`, all in mails.',
})
tellFields(runAnswer, {
  count: 'Mails that the mail server accepted.',
  failed: 'Mails that it refused for good.',
  skipped: 'Mails that were not to be sent, because the invoice was reminded already for example.',
  retrying: 'Mails that it refused for now, or that are not sent yet: they are tried again.',
  invoices: 'How many invoices the mails are about.',
  runId: id('The run, to be followed at `/reminder/runs/{id}`; null where nobody was to be written to.'),
  failures: 'Whom it failed for, with the mail server’s own words.',
})
tell(holdReason, 'Why mails wait although their time has come.')
tell(run, { id: 'Run', description: 'One occasion on which reminders were sent.' })
tellFields(run, {
  _id: id('The run.'),
  localDate: day('The date where the account is.'),
  startedAt: at('When it was begun.'),
  finishedAt: at('When nothing of it was left to do; null before.'),
  cancelledAt: at('When it was cancelled.'),
  skippedReason: 'Why the day was left out as a whole; null where it was not.',
  total: 'Mails of this run.',
  sent: 'Mails that the mail server accepted.',
  failed: 'Mails that it refused for good.',
  skipped: 'Mails that were not to be sent after all.',
  open: 'Mails that are still to be sent.',
  retrying: 'Open mails that are tried again later.',
  held: 'Open mails that wait for a reason to end.',
  nextTryAt: at('When the next of them is tried again.'),
  failures: 'Whom it failed for, with the mail server’s own words.',
})

tell(deliveryState, { id: 'MailState', description: 'What a mail is doing. Of these sent, failed, cancelled and superseded are the last.' })
tell(noReminderReason, 'Why there is no next date, or none from the schedule.')
tell(historyMail, { id: 'MailAboutInvoice', description: 'One mail about an invoice, and what became of it.' })
tellFields(historyMail, {
  _id: id('The mail, to be read at `/reminder/mails/{id}`.'),
  runId: id('The run that it belongs to.'),
  reason: 'Why it waits or was never sent.',
  createdAt: at('When it was decided on.'),
  sentAt: at('When the mail server accepted it.'),
  attempt: 'How often it was tried.',
  nextTryAt: at('When it is tried again.'),
  serverReply: 'The mail server’s own words on the last try.',
  invoices: 'How many invoices it lists: more than one where mails are grouped.',
})
tell(dayDecision, { id: 'DayDecision', description: 'What was decided about an invoice on one day.' })
tellFields(dayDecision, {
  date: day('The date where the account is.'),
  words: 'The decision in one sentence.',
  decidedAt: at('When it was decided.'),
  nextTryAt: at('When the mail is tried again.'),
  mailId: id('The mail that it is about.'),
})
tell(invoiceHistory, { id: 'InvoiceHistory', description: 'Every mail about an invoice, and what was decided day by day.' })
tellFields(invoiceHistory, {
  nextAt: at('When it is reminded next; null where it is not.'),
  reason: 'Why it is not reminded.',
  mails: 'Newest first.',
  days: 'Newest first.',
})
tell(sentMail, { id: 'SentMail', description: 'A mail as it was sent.' })
tellFields(sentMail, { _id: id('The mail.'), messageId: 'The same on every try.', date: at('When the mail says that it was written.') })
tell(previewLine, { id: 'PreviewLine', description: 'When and whether an unpaid invoice is reminded.' })
tellFields(previewLine, {
  invoiceId: id('The invoice.'),
  amount: 'Rupees.',
  dueDate: day('The last day to pay.'),
  daysOverdue: 'How many days past due it is; below 1 where it is not.',
  dueNow: 'Start Reminders would write to it now.',
  remindedToday: 'How many mails about it a mail server accepted today.',
  heldFor: 'What the mail under way waits for.',
  sendNowLeft: 'How often Send Now can still write to it today.',
  nextAt: at('When it is reminded next.'),
  reason: 'Why it is not.',
})
tell(reminderSettings, { id: 'ReminderSettings', description: 'How reminders are sent.' })
tellFields(reminderSettings, { groupByClient: 'One mail per client that lists all that is past due, instead of one per invoice.' })
const { status, preview, stop, runs } = reminderCalls
tellFields(status.reply, {
  isActive: 'Whether the daily schedule is on.',
  lastReminderSent: at('When a mail server last accepted a reminder of any kind.'),
  nextRunAt: at('When the next daily run is.'),
  timezone: 'Where the account is, as an IANA name.',
  reminderHour: 'At which full hour of its day the daily run is.',
  pause: 'Why nothing is sent from the mailbox at present.',
  trouble: 'What keeps Duely itself from sending on time, in a sentence.',
  openRunId: id('A run that is still under way.'),
})
tellFields(preview.reply, {
  mails: 'How many mails Start Reminders would send now.',
  total: 'What they are about together, in rupees.',
  sendNowMails: 'How many mails Send Now would send now.',
  remindedToday: 'How many invoices past due were reminded today already.',
  lines: 'Every unpaid invoice.',
})
tellFields(stop.reply, { cancelled: 'How many mails were still to be sent and are not any more.' })
tellFields(runs.query, { limit: 'At most so many.' })

tell(webhookEvent, { id: 'Event', description: 'What happened.' })
const [invoiceEvent, reminderEvent] = webhookPayload.options
tell(invoiceEvent, { id: 'InvoiceEvent', description: 'Something happened to an invoice.' })
tell(reminderEvent, { id: 'ReminderEvent', description: 'A mail to a client was accepted by the mail server, or failed for good.' })
const everyEvent = {
  id: 'The event. The same on every try and for every receiver: who has seen it once can drop it.',
  timestamp: at('When it happened.'),
  data: 'As it was when it happened.',
}
tellFields(invoiceEvent, everyEvent)
tellFields(reminderEvent, everyEvent)
tellFields(reminderEvent.shape.data, { invoices: 'What the mail is about: more than one invoice where mails are grouped.' })
tell(reminderFact, { id: 'Reminder', description: 'One mail to a client.' })
tellFields(reminderFact, {
  _id: id('The mail.'),
  runId: id('The run that it belongs to.'),
  attempt: 'How often it was tried.',
  sentAt: at('When the mail server accepted it; null where it failed.'),
  serverReply: 'The mail server’s own words on the last try.',
})
tellFields(integrationCalls.me.reply, { id: id('The account.'), displayName: 'What the person is called, also towards clients.' })
tell(integrationCalls.subscription.reply, { id: 'ZapierSettings', description: 'Whether what happens is delivered to Zapier.' })
tellFields(integrationCalls.subscription.reply, {
  sendReminders: 'What happens is delivered to Zapier.',
  available: 'This server knows a Zapier to connect with.',
})
tellFields(integrationCalls.addZap.body, {
  hookUrl: { format: 'uri', description: 'The address to be called.' },
  event: 'What it is called about.',
})
tellFields(integrationCalls.addZap.reply, { id: id('The hook, to be removed by.') })
