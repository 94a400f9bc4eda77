import { z } from 'zod'
import { call } from './call.ts'
import { senderPause } from './mail.ts'

/** The state of an email. queued → sending → sent · retrying · failed · held · cancelled · superseded. */
export const deliveryState = z.enum(['queued', 'sending', 'sent', 'retrying', 'failed', 'held', 'cancelled', 'superseded'])

/** Why a due email is held. */
export const holdReason = z.enum(['not_configured', 'sending_paused', 'plan', 'restored'])
export type HoldReason = z.infer<typeof holdReason>

/** What started a run: the schedule, Start Reminders, Send Now, an API client, or a retry. */
export const runKind = z.enum(['daily', 'start', 'send_now', 'trigger', 'retry'])
export type RunKind = z.infer<typeof runKind>

/** Response of start, send-immediate and trigger. count + failed + skipped + retrying = total, all in emails. */
export const runAnswer = z.object({
  /** Emails that a mail server accepted. */
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

/** Why an email is held, from its stored reason. */
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
  /** Start would send an email about it now. */
  dueNow: z.boolean(),
  /** Emails about it that a server accepted today, manual or by the daily run. */
  remindedToday: z.number().int(),
  /** Why its open email is held; null if there is none, or it is not held. */
  heldFor: holdReason.nullable(),
  /** How often Send Now can still remind of it today. */
  sendNowLeft: z.number().int(),
  /** The instant of the next automatic reminder, or null and the reason why not. */
  nextAt: z.string().nullable(),
  reason: noReminderReason.nullable(),
})
export type PreviewLine = z.infer<typeof previewLine>

/** One email about an invoice, with its state. */
export const historyMail = z.object({
  _id: z.string(),
  runId: z.string(),
  kind: runKind,
  state: deliveryState,
  /** Why it is held or was not sent, for software. */
  reason: z.string().nullable(),
  subject: z.string().nullable(),
  clientEmail: z.string(),
  createdAt: z.string(),
  sentAt: z.string().nullable(),
  attempt: z.number().int(),
  nextTryAt: z.string().nullable(),
  /** The mail server's reply to the last attempt. */
  serverReply: z.string().nullable(),
  /** Number of invoices it lists: more than one if emails are grouped. */
  invoices: z.number().int(),
})
export type HistoryMail = z.infer<typeof historyMail>

/** The decision about an invoice on one day of an active schedule, and its rule. */
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
  /** One sentence for people, with the mail server's reply if there is one. */
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

/** An email as it was sent. */
export const sentMail = z.object({
  _id: z.string(),
  /** As in the email's header: `Asha Rao <asha@example.com>`. */
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
  /** One email per client that lists everything overdue, instead of one per invoice. */
  groupByClient: z.boolean(),
})

export const reminderCalls = {
  settings: call({ method: 'GET', path: '/reminder/settings', summary: 'My reminder settings.', reply: reminderSettings }),
  changeSettings: call({
    method: 'PATCH',
    path: '/reminder/settings',
    summary: 'Change my reminder settings.',
    body: z.strictObject(reminderSettings.shape).partial(),
    reply: reminderSettings,
  }),
  cancelRun: call({
    method: 'POST',
    path: '/reminder/runs/:id/cancel',
    summary: 'Cancel the rest of a run; emails being sent at this moment may still be delivered.',
    params: byId,
    reply: run,
  }),
  retryRun: call({
    method: 'POST',
    path: '/reminder/runs/:id/retry',
    summary: 'Retry the failed emails of a run.',
    params: byId,
    reply: runAnswer,
  }),
  history: call({
    method: 'GET',
    path: '/invoice/:id/history',
    summary: 'Every email about an invoice, the decision of each day, and the next reminder or why there is none.',
    params: byId,
    reply: invoiceHistory,
  }),
  mail: call({ method: 'GET', path: '/reminder/mails/:id', summary: 'An email as it was sent.', params: byId, reply: sentMail }),
  status: call({
    method: 'GET',
    path: '/reminder/status',
    summary: 'Whether daily reminders are active, and when the last one was sent.',
    reply: z.object({
      isActive: z.boolean(),
      lastReminderSent: z.string().nullable(),
      /** When the next daily run is, while active. */
      nextRunAt: z.string().nullable(),
      /** Why the daily run sends nothing at the moment, one of the four reasons that apply to all invoices; null if it sends. */
      reason: noReminderReason.extract(['schedule_inactive', 'not_configured', 'sending_paused', 'plan']).nullable(),
      timezone: z.string(),
      reminderHour: z.number().int(),
      pause: senderPause.nullable(),
      /** Why Duely itself is late, in one sentence; null if it is not. */
      trouble: z.string().nullable(),
      /** A run that has not finished. */
      openRunId: z.string().nullable(),
    }),
  }),
  preview: call({
    method: 'GET',
    path: '/reminder/preview',
    summary: 'Who would get an email now, and the next reminder of each unpaid invoice.',
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
    summary: 'Turn daily reminders on and remind of every overdue invoice that was not reminded today.',
    reply: runAnswer,
  }),
  stop: call({
    method: 'POST',
    path: '/reminder/stop',
    summary: 'Turn daily reminders off and cancel queued emails.',
    reply: z.object({ isActive: z.boolean(), cancelled: z.number().int() }),
  }),
  sendNow: call({
    method: 'POST',
    path: '/reminder/send-immediate',
    summary: 'Send reminders for all overdue invoices now.',
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
    summary: 'One run and its progress.',
    params: byId,
    reply: run,
  }),
}
