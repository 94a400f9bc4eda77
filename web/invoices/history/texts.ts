import type { DayDecision, HoldReason, InvoiceHistory, RunKind } from '#contract/reminders.ts'
import { screens } from '#contract/screens.ts'
import { count } from '#web/ui/texts.ts'

interface Reason {
  text: string
  to: string | null
  link: string | null
}
const reminderControl = { to: screens.reminderControl, link: 'Open Reminder Control' }
const emailSettings = { to: screens.mailSettings, link: 'Open Email Settings' }
const plans = { to: screens.pricing, link: 'See plans' }
const profile = { to: screens.profile, link: 'Open Profile' }
const noLink = { to: null, link: null }

export const texts = {
  title: 'History',
  loading: 'Loading reminders...',
  failed: (message: string) => `Couldn't load the reminders of this invoice: ${message}`,
  next: 'Next reminder',
  afterPause: (when: string) => `${when}, after the pause`,
  noDate: 'Not scheduled yet',
  reasons: {
    schedule_inactive: { text: 'Daily reminders are off', ...reminderControl },
    operator: { text: 'Sending is on hold by the operator of this server', ...noLink },
    email_not_confirmed: { text: 'Your email is not confirmed', ...profile },
    not_configured: { text: 'No mailbox is connected', ...emailSettings },
    sending_paused: { text: 'Sending from your mailbox is paused', ...emailSettings },
    plan: { text: "Your plan doesn't include daily reminders", ...plans },
    open_mail: { text: 'An email is being sent', ...noLink },
    paused: { text: 'None while paused', ...noLink },
    address_held: { text: "On hold: the client's address doesn't exist", ...noLink },
    paid: { text: 'None: this invoice is paid', ...noLink },
    deleted: { text: 'None: this invoice is deleted', ...noLink },
  } satisfies Record<NonNullable<InvoiceHistory['reason']>, Reason>,
  held: {
    not_configured: { text: 'An email is on hold: no mailbox is connected', ...emailSettings },
    sending_paused: { text: 'An email is on hold: sending from your mailbox is paused', ...emailSettings },
    plan: { text: "An email is on hold: your plan doesn't include daily reminders", ...plans },
    email_not_confirmed: { text: 'An email is on hold: your email is not confirmed', ...profile },
    address: { text: "An email is on hold: the client's address doesn't exist", ...noLink },
    restored: { text: 'An email needs your approval: your data was restored from a backup', ...reminderControl },
    operator: { text: 'An email is on hold by the operator of this server', ...noLink },
  } satisfies Record<HoldReason, Reason>,
  delayed: (when: string) => `An email is delayed, next attempt ${when}`,
  none: 'No reminders sent yet.',
  firstAt: (when: string) => `The first reminder goes out ${when} if the invoice is still unpaid.`,
  firstWhy: {
    schedule_inactive: 'Once you start daily reminders, one goes out every day after the due date until it is paid.',
    operator: 'Once the operator of this server resumes sending, a reminder goes out every day after the due date until it is paid.',
    email_not_confirmed: 'Once you confirm your email, a reminder goes out every day after the due date until it is paid.',
    not_configured: 'Once you connect a mailbox, a reminder goes out every day after the due date until it is paid.',
    sending_paused: 'Once sending resumes, a reminder goes out every day after the due date until it is paid.',
    plan: 'With a plan that includes daily reminders, one goes out every day after the due date until it is paid.',
    open_mail: 'The first reminder is being sent.',
    paused: 'No reminders are sent while it is paused.',
    address_held: "No reminders are sent because the client's address doesn't exist. Correct it to resume.",
    paid: 'The invoice is paid, so no reminders are sent.',
    deleted: 'The invoice is deleted, so no reminders are sent.',
  } satisfies Record<NonNullable<InvoiceHistory['reason']>, string>,
  span: (from: string, to: string) => `${from} to ${to}`,
  outcomes: {
    sent: 'Sent',
    failed: 'Not delivered',
    retrying: 'Retrying',
    held: 'On hold',
    waiting: 'Queued',
    cancelled: 'Cancelled',
    superseded: 'Not needed',
    already_reminded: 'Already reminded',
    paused: 'Paused',
    address_held: 'On hold',
    left_out: 'Left out',
    not_running: 'Not sent',
    added_later: 'Not in the run',
  } satisfies Record<DayDecision['outcome'], string>,
  invoice: { created: 'Invoice created', paid: 'Marked as paid' },
  sent: (times: number) => (times === 1 ? 'Reminder sent' : `${times} reminders sent`),
  failedTimes: (times: number, words: string | null) =>
    `${times === 1 ? 'Not delivered' : `${times} reminders not delivered`}${words === null ? '' : `: ${words}`}`,
  eachDay: 'one each day',
  days: (days: number) => count(days, 'day'),
  kinds: {
    daily: 'by the daily run',
    start: 'by Start Reminders',
    send_now: 'by Send Now',
    trigger: 'by a trigger',
    retry: 'by a manual retry',
  } satisfies Record<RunKind, string>,
  serverReply: 'The mail server replied:',
  notAccepted: 'Not accepted yet.',
  heldWhy: {
    not_configured: 'No mailbox is connected.',
    sending_paused: 'Sending from the mailbox is paused.',
    plan: "Your plan doesn't include daily reminders.",
    email_not_confirmed: 'Your email is not confirmed.',
    address: "The client's address doesn't exist.",
    restored: 'Your data was restored from a backup, so it may already have been sent.',
    operator: 'Sending is on hold by the operator of this server.',
  } satisfies Record<HoldReason, string>,
  stopped: 'Reminders were stopped before it was sent.',
  notOwed: 'The invoice was paid, paused, deleted or no longer due by then.',
  attempts: (attempts: number) => count(attempts, 'attempt'),
  nextAttempt: (when: string) => `next attempt ${when}`,
  several: (invoices: number) => `one email for ${invoices} invoices`,
  open: (subject: string) => `Show email: ${subject}`,
  show: 'Show',
  unfold: (entries: number) => `Show ${entries}`,
  earlier: 'Show earlier',
  email: {
    loading: 'Loading the email...',
    failed: (message: string) => `Couldn't load the email: ${message}`,
    title: 'Email as sent',
    from: 'From',
    to: 'To',
    date: 'Date',
    messageId: 'Message-ID',
    reply: 'Mail server',
    html: 'As sent',
    text: 'Plain text',
    frame: (subject: string) => `The email "${subject}"`,
    noHtml: 'This email has no formatted part.',
    noText: 'This email has no plain text part.',
    dropped: 'The text of this email is no longer stored.',
  },
}
