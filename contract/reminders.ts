import { z } from 'zod'
import { call } from './call.ts'
import { senderPause } from './mail.ts'

/** What one mail is doing. queued → sending → sent · retrying · failed · held · cancelled · superseded. */
export const deliveryState = z.enum(['queued', 'sending', 'sent', 'retrying', 'failed', 'held', 'cancelled', 'superseded'])
export type DeliveryState = z.infer<typeof deliveryState>

/** Why a mail waits although its time has come. */
export const holdReason = z.enum(['not_configured', 'sending_paused'])
export type HoldReason = z.infer<typeof holdReason>

/** Why a run was made: nine o'clock, Start Reminders, Send Now, or a token. */
export const runKind = z.enum(['daily', 'start', 'send_now', 'trigger'])
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

/** Why an unpaid invoice has no next date, or none from the daily run. */
export const noReminderReason = z.enum(['schedule_inactive', 'not_configured', 'sending_paused', 'open_mail'])

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
  /** Send Now can still write to it today. */
  sendNowLeft: z.number().int(),
  /** The instant of the next automatic reminder, or null and the reason why not. */
  nextAt: z.string().nullable(),
  reason: noReminderReason.nullable(),
})
export type PreviewLine = z.infer<typeof previewLine>

export const reminderCalls = {
  status: call({
    method: 'GET',
    path: '/reminder/status',
    summary: 'Whether daily reminders are active, and when the last one left.',
    reply: z.object({
      isActive: z.boolean(),
      lastReminderSent: z.string().nullable(),
      /** When the next daily run is, while active. */
      nextRunAt: z.string().nullable(),
      timezone: z.string(),
      reminderHour: z.number().int(),
      pause: senderPause.nullable(),
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
    params: z.object({ id: z.string() }),
    reply: run,
  }),
}
