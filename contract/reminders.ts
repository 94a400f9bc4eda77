import { z } from 'zod'
import { call } from './call.ts'
import { senderPause } from './mail.ts'

/** What one mail is doing. queued → sending → sent · retrying · failed · held · cancelled · superseded. */
export const deliveryState = z.enum(['queued', 'sending', 'sent', 'retrying', 'failed', 'held', 'cancelled', 'superseded'])

/** Why a mail waits although its time has come. */
export const holdReason = z.enum(['not_configured', 'sending_paused', 'plan', 'restored'])
export type HoldReason = z.infer<typeof holdReason>

/** Why a run was made: nine o'clock, Start Reminders, Send Now, a token, or "try these again". */
export const runKind = z.enum(['daily', 'start', 'send_now', 'trigger', 'retry'])
export type RunKind = z.infer<typeof runKind>

/** Answer of start, send-immediate and trigger. count + failed + skipped + retrying = total, all in mails. */
export const runAnswer = z.object({
  /** Mails that a mail server accepted. */
  count: z.number().int(),
  failed: z.number().int(),
  skipped: z.number().int(),
  retrying: z.number().int(),
  total: z.number().int(),
  invoices: z.number().int(),
  runId: z.string().nullable(),
  failures: z.array(z.object({ invoiceId: z.string(), clientEmail: z.string(), message: z.string() })),
})
export type RunAnswer = z.infer<typeof runAnswer>

export const run = z.object({
  _id: z.string(),
  kind: runKind,
  /** The account's own date, YYYY-MM-DD. */
  localDate: z.string(),
  startedAt: z.string(),
  finishedAt: z.string().nullable(),
  cancelledAt: z.string().nullable(),
  /** Set when the day was skipped as a whole: why. */
  skippedReason: z.string().nullable(),
  total: z.number().int(),
  sent: z.number().int(),
  failed: z.number().int(),
  skipped: z.number().int(),
  /** Still open: queued, sending, retrying or held. */
  open: z.number().int(),
  retrying: z.number().int(),
  held: z.number().int(),
  holdReason: holdReason.nullable(),
  nextTryAt: z.string().nullable(),
  failures: z.array(z.object({ invoiceId: z.string(), clientEmail: z.string(), message: z.string() })),
})
export type Run = z.infer<typeof run>

/** Why a held mail waits, from its stored reason. */
export function holdReasonOf(reason: string | null): HoldReason {
  return holdReason.catch('sending_paused').parse(reason)
}

/** Why an unpaid invoice has no next date, or none from the daily run. */
export const noReminderReason = z.enum(['schedule_inactive', 'not_configured', 'sending_paused', 'plan', 'open_mail', 'paused'])

export const previewLine = z.object({
  invoiceId: z.string(),
  reference: z.string(),
  clientName: z.string(),
  clientEmail: z.string(),
  amount: z.number(),
  dueDate: z.string(),
  daysOverdue: z.number().int(),
  /** Would be written to if Start were pressed now. */
  dueNow: z.boolean(),
  /** How many mails about it a server accepted today, by hand or by the daily run. */
  remindedToday: z.number().int(),
  /** What the mail under way waits for; null where there is none, or nothing holds it. */
  heldFor: holdReason.nullable(),
  /** Send Now can still write to it today. */
  sendNowLeft: z.number().int(),
  /** The instant of the next automatic reminder, or null and the reason why not. */
  nextAt: z.string().nullable(),
  reason: noReminderReason.nullable(),
})
export type PreviewLine = z.infer<typeof previewLine>

/** One mail about an invoice: what became of it. */
export const historyMail = z.object({
  _id: z.string(),
  runId: z.string(),
  kind: runKind,
  state: deliveryState,
  /** Why it waits or was never sent, for programs. */
  reason: z.string().nullable(),
  subject: z.string().nullable(),
  clientEmail: z.string(),
  createdAt: z.string(),
  sentAt: z.string().nullable(),
  attempt: z.number().int(),
  nextTryAt: z.string().nullable(),
  /** The mail server's own words on the last try. */
  serverReply: z.string().nullable(),
  /** How many invoices the mail lists: more than one where mails are grouped. */
  invoices: z.number().int(),
})
export type HistoryMail = z.infer<typeof historyMail>

/** What was decided about an invoice on one day of an active schedule, and by which rule. */
export const dayDecision = z.object({
  date: z.string(),
  outcome: z.enum([
    'sent',
    'failed',
    'retrying',
    'held',
    'waiting',
    'cancelled',
    'superseded',
    'already_reminded',
    'paused',
    'not_running',
    'added_later',
  ]),
  /** One sentence for people, with the mail server's words where it said something. */
  words: z.string(),
  decidedAt: z.string(),
  nextTryAt: z.string().nullable(),
  mailId: z.string().nullable(),
})
export type DayDecision = z.infer<typeof dayDecision>

export const invoiceHistory = z.object({
  nextAt: z.string().nullable(),
  reason: noReminderReason.or(z.enum(['paid', 'deleted'])).nullable(),
  mails: z.array(historyMail),
  days: z.array(dayDecision),
})
export type InvoiceHistory = z.infer<typeof invoiceHistory>

/** A mail as it was sent. */
export const sentMail = z.object({
  _id: z.string(),
  /** As in the mail's head: `Asha Rao <asha@example.com>`. */
  from: z.string(),
  to: z.string(),
  subject: z.string(),
  messageId: z.string(),
  date: z.string(),
  html: z.string(),
  text: z.string(),
})

const byId = z.object({ id: z.string() })

export const reminderSettings = z.object({
  /** One mail per client that lists all that is overdue, instead of one per invoice. */
  groupByClient: z.boolean(),
})

export const reminderCalls = {
  settings: call({ method: 'GET', path: '/reminder/settings', summary: 'How my reminders are sent.', reply: reminderSettings }),
  changeSettings: call({
    method: 'PATCH',
    path: '/reminder/settings',
    summary: 'Change how my reminders are sent.',
    body: z.strictObject(reminderSettings.shape).partial(),
    reply: reminderSettings,
  }),
  cancelRun: call({
    method: 'POST',
    path: '/reminder/runs/:id/cancel',
    summary: 'Cancel what is left of a run; at most the mails in flight still leave.',
    params: byId,
    reply: run,
  }),
  retryRun: call({
    method: 'POST',
    path: '/reminder/runs/:id/retry',
    summary: 'Write again to those whose mail failed in this run.',
    params: byId,
    reply: runAnswer,
  }),
  history: call({
    method: 'GET',
    path: '/invoice/:id/history',
    summary: 'Every mail about an invoice, what was decided day by day, and the next date or the reason why there is none.',
    params: byId,
    reply: invoiceHistory,
  }),
  mail: call({ method: 'GET', path: '/reminder/mails/:id', summary: 'A mail as it was sent.', params: byId, reply: sentMail }),
  status: call({
    method: 'GET',
    path: '/reminder/status',
    summary: 'Whether daily reminders are active, and when the last one left.',
    reply: z.object({
      isActive: z.boolean(),
      lastReminderSent: z.string().nullable(),
      /** When the next daily run is, while active. */
      nextRunAt: z.string().nullable(),
      /** Why the daily run writes to nobody at the moment, one of the four that hold for all invoices; null where it does. */
      reason: noReminderReason.extract(['schedule_inactive', 'not_configured', 'sending_paused', 'plan']).nullable(),
      timezone: z.string(),
      reminderHour: z.number().int(),
      pause: senderPause.nullable(),
      /** What keeps Duely itself from sending on time, in a sentence; null while all is well. */
      trouble: z.string().nullable(),
      /** A run that is still under way, to follow. */
      openRunId: z.string().nullable(),
    }),
  }),
  preview: call({
    method: 'GET',
    path: '/reminder/preview',
    summary: 'Who would be written to now, and when each unpaid invoice is next.',
    reply: z.object({
      mails: z.number().int(),
      total: z.number(),
      sendNowMails: z.number().int(),
      remindedToday: z.number().int(),
      lines: z.array(previewLine),
    }),
  }),
  start: call({
    method: 'POST',
    path: '/reminder/start',
    summary: 'Activate daily reminders and write at once to everyone past due who was not reminded today.',
    reply: runAnswer,
  }),
  stop: call({
    method: 'POST',
    path: '/reminder/stop',
    summary: 'Pause daily reminders and cancel what is under way.',
    reply: z.object({ isActive: z.boolean(), cancelled: z.number().int() }),
  }),
  sendNow: call({
    method: 'POST',
    path: '/reminder/send-immediate',
    summary: 'Write now to every client with an invoice past due.',
    reply: runAnswer,
  }),
  runs: call({
    method: 'GET',
    path: '/reminder/runs',
    summary: 'The last runs, newest first.',
    query: z.strictObject({ limit: z.coerce.number().int().min(1).max(100).default(20) }),
    reply: z.array(run),
  }),
  run: call({
    method: 'GET',
    path: '/reminder/runs/:id',
    summary: 'One run and how far it is.',
    params: byId,
    reply: run,
  }),
}
