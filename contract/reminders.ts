import { z } from 'zod'
import { emailAddress, money } from './accounts.ts'
import { call } from './call.ts'
import { invoiceQuery, notDelivered, note } from './invoices.ts'
import { payAnswer } from './pay-answers.ts'
import { payment } from './payments.ts'
import { quietSettings, smartSettings } from './quiet-days.ts'
import { senderPause } from './sender-pause.ts'
import { fingerprint, sequenceChoice, smartOne, tone } from './sequence-choice.ts'
import { wordingContent, wordingSubject } from './wordings.ts'

export const deliveryState = z
  .enum(['queued', 'sending', 'sent', 'retrying', 'failed', 'held', 'cancelled', 'superseded'])
  .meta({ id: 'MailState', description: 'The state of an email. sent, failed, cancelled and superseded are final.' })

export const holdReason = z
  .enum(['not_configured', 'sending_paused', 'plan', 'restored', 'email_not_confirmed', 'operator', 'address', 'paying'])
  .meta({ description: 'Why due emails are held.' })
export type HoldReason = z.infer<typeof holdReason>

export const runKind = z.enum(['daily', 'start', 'send_now', 'trigger', 'retry']).meta({
  id: 'RunKind',
  description: 'What started the run: the schedule, Start Reminders, Send Now, a trigger by an API client, or a retry of failed emails.',
})
export type RunKind = z.infer<typeof runKind>

const failures = z
  .array(
    z.object({
      invoiceId: z.string(),
      reference: z.string(),
      clientName: z.string(),
      clientEmail: z.string(),
      message: z.string().meta({ description: 'The mail server’s reply.' }),
      words: z.string().meta({ description: 'The reason in a few words, such as `mailbox full`.' }),
      canRetry: z
        .boolean()
        .meta({ description: 'A retry of the run may send it again: it is owed, and none about it was accepted since.' }),
    }),
  )
  .meta({ description: 'Where it failed, one entry for each invoice.' })

export const runAnswer = z
  .object({
    count: z.number().int().meta({ description: 'Emails that the mail server accepted.' }),
    failed: z.number().int().meta({ description: 'Emails that it permanently refused.' }),
    skipped: z.number().int().meta({ description: 'Emails that were not sent, for example because the invoice was already reminded.' }),
    retrying: z.number().int().meta({ description: 'Emails that were deferred or not sent yet: they are retried.' }),
    total: z.number().int(),
    invoices: z.number().int().meta({ description: 'How many invoices the emails are about.' }),
    runId: z
      .string()
      .nullable()
      .meta({ format: 'uuid', description: 'The run, to be followed at `/reminder/runs/{id}`; null where there was nothing to send.' }),
    failures,
  })
  .meta({ id: 'RunAnswer', description: 'The result of a run. `count` + `failed` + `skipped` + `retrying` = `total`, all in emails.' })
export type RunAnswer = z.infer<typeof runAnswer>

export const run = z
  .object({
    _id: z.string().meta({ format: 'uuid', description: 'The run.' }),
    kind: runKind,
    localDate: z.string().meta({ format: 'date', description: 'The local date of the account.' }),
    startedAt: z.string().meta({ format: 'date-time', description: 'When it started.' }),
    finishedAt: z.string().nullable().meta({ format: 'date-time', description: 'When nothing of it was left to do; null before.' }),
    cancelledAt: z.string().nullable().meta({ format: 'date-time', description: 'When it was cancelled.' }),
    leavesAt: z
      .string()
      .nullable()
      .meta({ format: 'date-time', description: 'Until when its emails wait so that some can be left out; null where they do not.' }),
    skippedReason: z.string().nullable().meta({ description: 'Why the whole day was skipped; null where it was not.' }),
    total: z.number().int().meta({ description: 'Emails of this run.' }),
    sent: z.number().int().meta({ description: 'Emails that the mail server accepted.' }),
    failed: z.number().int().meta({ description: 'Emails that it permanently refused.' }),
    skipped: z.number().int().meta({ description: 'Emails that were not needed after all.' }),
    open: z.number().int().meta({ description: 'Emails that are still to be sent.' }),
    retrying: z.number().int().meta({ description: 'Open emails that are retried later.' }),
    held: z.number().int().meta({ description: 'Open emails that are held.' }),
    holdReason: holdReason.nullable(),
    nextTryAt: z.string().nullable().meta({ format: 'date-time', description: 'When the next of them is retried.' }),
    failures,
  })
  .meta({ id: 'Run', description: 'One occasion on which reminders were sent.' })
export type Run = z.infer<typeof run>

/** Why an email is held, from its stored reason. */
export function holdReasonOf(reason: string | null): HoldReason {
  return holdReason.catch('sending_paused').parse(reason)
}

const noReminderReason = z
  .enum([
    'schedule_inactive',
    'operator',
    'email_not_confirmed',
    'not_configured',
    'sending_paused',
    'plan',
    'open_mail',
    'paused',
    'address_held',
    'ended',
    'never',
  ])
  .meta({ description: 'Why there is no next date, or none from the schedule.' })

const nextStep = z
  .object({
    number: z.number().int().meta({ description: 'Its number in the sequence, repetitions counted.' }),
    of: z.number().int().meta({ description: 'How many steps the sequence has.' }),
    offset: z.number().int().meta({ description: 'In days from the due date.' }),
    tone,
  })
  .nullable()
  .meta({ description: 'The step that is sent next, or that Start would send now; null where it has none, or is reminded every day.' })

const stepFields = {
  sequence: z.string().meta({ description: 'The sequence that applies: an id, `every_day` or `never`.' }),
  step: nextStep,
  movedFrom: z.string().nullable().meta({ format: 'date', description: 'The date of that step, where it leaves on another one.' }),
  why: z.string().nullable().meta({ description: 'What makes it wait, in a sentence.' }),
  atClient: z
    .string()
    .nullable()
    .meta({ description: 'The time on the clock of the client when it is reminded next, such as `9:00`; null where it is the same.' }),
}

export const previewLine = z
  .object({
    invoiceId: z.string().meta({ format: 'uuid', description: 'The invoice.' }),
    reference: z.string(),
    clientName: z.string(),
    clientEmail: z.string(),
    amount: z.number().meta({ description: 'What is left to pay, in its currency.' }),
    invoiceAmount: z.number().meta({ description: 'What the invoice is over.' }),
    paidAmount: z.number().meta({ description: 'What was paid of it.' }),
    currency: z.string().meta({ description: 'The ISO 4217 code of its currency.' }),
    language: z.string().meta({ description: 'The BCP 47 tag of the language of its emails.' }),
    dueDate: z.string().meta({ format: 'date', description: 'The last day to pay.' }),
    daysOverdue: z.number().int().meta({ description: 'How many days it is past due; below 1 where it is not.' }),
    dueNow: z.boolean().meta({ description: 'Start Reminders would remind of it now.' }),
    remindedToday: z.number().int().meta({ description: 'How many emails about it were accepted today.' }),
    heldFor: holdReason.nullable().meta({ description: 'Why its pending email is held.' }),
    sendNowLeft: z.number().int().meta({ description: 'How many more times Send Now can remind of it today.' }),
    nextAt: z.string().nullable().meta({ format: 'date-time', description: 'When it is reminded next.' }),
    reason: noReminderReason.nullable().meta({ description: 'Why it is not.' }),
    notDelivered: notDelivered.nullable().meta({ description: 'Since when reminders of it have not been delivered, and why.' }),
    sentJustNow: z.string().nullable().meta({
      format: 'uuid',
      description: 'The Send Now of the last 60 seconds that has it, with the same address and amount, and did not fail.',
    }),
    ...stepFields,
  })
  .meta({ id: 'PreviewLine', description: 'Whether and when an unpaid invoice is reminded.' })
export type PreviewLine = z.infer<typeof previewLine>

/**
 * The run that Send Now of these lines answers with instead of making another, because all that it would send has just been sent: what a
 * double press gets. Null where it makes a new run.
 */
export function repeatedSendNow(lines: Pick<PreviewLine, 'sendNowLeft' | 'sentJustNow'>[]): string | null {
  const sent = new Set(lines.filter(({ sendNowLeft }) => sendNowLeft > 0).map(({ sentJustNow }) => sentJustNow))
  const [only = null] = sent
  return sent.size === 1 ? only : null
}

const historyMail = z
  .object({
    _id: z.string().meta({ format: 'uuid', description: 'The email, to be read at `/reminder/mails/{id}`.' }),
    runId: z.string().meta({ format: 'uuid', description: 'Its run.' }),
    kind: runKind,
    state: deliveryState,
    reason: z.string().nullable().meta({ description: 'Why it is held or was never sent.' }),
    subject: z.string().nullable(),
    clientEmail: z.string(),
    createdAt: z.string().meta({ format: 'date-time', description: 'When it was planned.' }),
    sentAt: z.string().nullable().meta({ format: 'date-time', description: 'When the mail server accepted it.' }),
    bouncedAt: z.string().nullable().meta({ format: 'date-time', description: 'When it was reported that it came back.' }),
    attempt: z.number().int().meta({ description: 'How many times it was tried.' }),
    nextTryAt: z.string().nullable().meta({ format: 'date-time', description: 'When it is retried.' }),
    serverReply: z.string().nullable().meta({ description: 'The mail server’s reply to the last try.' }),
    copiesRefused: z.string().nullable().meta({ description: 'Which of its copies the mail server refused, and why.' }),
    invoices: z.number().int().meta({ description: 'How many invoices it lists: more than one where emails are grouped.' }),
    sequence: z
      .string()
      .nullable()
      .meta({ description: 'The id of the sequence whose text it has; null: it has the text of the email template.' }),
    step: z.number().int().nullable().meta({ description: 'The step whose text it has, in days from the due date.' }),
    stored: z
      .boolean()
      .meta({ description: 'Whether its text is stored: from the first try until some time after its invoices are paid.' }),
  })
  .meta({ id: 'MailAboutInvoice', description: 'One email about an invoice, and its state.' })
export type HistoryMail = z.infer<typeof historyMail>

const dayDecision = z
  .object({
    date: z.string().meta({ format: 'date', description: 'The local date of the account.' }),
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
      'address_held',
      'left_out',
      'not_running',
      'added_later',
      'no_step',
      'gap',
      'quiet',
      'ended',
      'refused',
      'never',
    ]),
    words: z.string().meta({ description: 'The decision in one sentence.' }),
    decidedAt: z.string().meta({ format: 'date-time', description: 'When it was decided.' }),
    nextTryAt: z.string().nullable().meta({ format: 'date-time', description: 'When the email is retried.' }),
    mailId: z.string().nullable().meta({ format: 'uuid', description: 'The email of that day.' }),
  })
  .meta({ id: 'DayDecision', description: 'The decision about an invoice on one day.' })
export type DayDecision = z.infer<typeof dayDecision>

/** What can change of an invoice. */
export const changedFields = [
  'created',
  'deleted',
  'restored',
  'client_name',
  'client_email',
  'amount',
  'currency',
  'language',
  'issued_on',
  'due_date',
  'status',
  'reference',
  'kept_unpaid',
  'paid',
] as const

/** Shown in the history; what was paid is among the payments. */
const historyChange = z
  .object({
    _id: z.string(),
    at: z.string().meta({ format: 'date-time', description: 'When.' }),
    by: z.string().meta({ description: 'Who: a person, a program in a person’s name, or Duely.' }),
    field: z.enum(changedFields).exclude(['kept_unpaid', 'paid']).meta({ description: 'Which field.' }),
    before: z.string().nullable().meta({ description: 'Its value before, as text.' }),
    after: z.string().nullable().meta({ description: 'Its value after, as text.' }),
  })
  .meta({ id: 'HistoryChange', description: 'A field of an invoice that was changed.' })
export type HistoryChange = z.infer<typeof historyChange>

export const invoiceHistory = z
  .object({
    nextAt: z.string().nullable().meta({ format: 'date-time', description: 'When it is reminded next; null where it is not.' }),
    reason: noReminderReason
      .or(z.enum(['paid', 'deleted']))
      .nullable()
      .meta({ description: 'Why it is not reminded.' }),
    ...stepFields,
    smart: smartOne,
    notDelivered: notDelivered.nullable().meta({ description: 'Since when reminders of it have not been delivered, and why.' }),
    mails: z.array(historyMail).meta({ description: 'Newest first.' }),
    days: z.array(dayDecision).meta({ description: 'Newest first.' }),
    payments: z.array(payment).meta({ description: 'Payments and refunds, newest first, with those that were taken back.' }),
    answers: z.array(payAnswer).meta({ description: 'What the client said on its pay page, newest first.' }),
    changes: z.array(historyChange).meta({ description: 'Who created and changed it, newest first.' }),
    notes: z.array(note).meta({ description: 'What the team keeps about it, newest first.' }),
  })
  .meta({
    id: 'InvoiceHistory',
    description: 'The emails about an invoice, the decision of each day, its payments, what the client said, and who changed it.',
  })
export type InvoiceHistory = z.infer<typeof invoiceHistory>

const sentMail = z
  .object({
    _id: z.string().meta({ format: 'uuid', description: 'The email.' }),
    /** As in the email's header: `Asha Rao <asha@example.com>`. */
    from: z.string(),
    to: z.string(),
    subject: z.string(),
    messageId: z.string().meta({ description: 'The same on every try.' }),
    date: z.string().meta({ format: 'date-time', description: 'The date in the header of the email.' }),
    html: z.string(),
    text: z.string(),
  })
  .meta({ id: 'SentMail', description: 'An email as it was sent.' })

const byId = z.object({ id: z.string() })

/** The most invoices that a run may be limited to. */
export const mostSelected = 10_000

const selected = z.array(z.string()).max(mostSelected, 'Please choose at most 10,000 invoices.')

const runSelection = z.strictObject({
  invoiceIds: selected
    .min(1, 'Please choose at least one invoice.')
    .optional()
    .meta({ description: 'Only these invoices. Without it every overdue invoice.' }),
  groupByClient: z
    .boolean()
    .optional()
    .meta({ description: 'For this run: one email per client, or one per invoice. Without it as in the settings.' }),
})
export type RunSelection = z.output<typeof runSelection>

const startSelection = runSelection.extend({
  invoiceIds: selected.optional().meta({ description: 'Only these invoices, or none now. Without it every overdue invoice.' }),
})

/** Not strict: programs may send a body that nothing read so far. */
export const triggerSelection = z.object({ invoiceIds: runSelection.shape.invoiceIds })

const wordingOverride = z.strictObject({
  subject: wordingSubject.optional().meta({ description: 'The subject of this one email, with the variables of the template.' }),
  content: wordingContent.optional().meta({ description: 'The text of this one email, with the variables of the template.' }),
})

const sendNowRequest = runSelection.extend(wordingOverride.shape).meta({
  id: 'SendNowRequest',
  description: 'What to send. An empty body sends a reminder for every overdue invoice.',
})
export type SendNowRequest = z.output<typeof sendNowRequest>

const reminderDraft = z
  .object({
    mails: z.number().int().meta({ description: 'How many emails would be sent for these invoices now.' }),
    repeats: z.string().nullable().meta({
      format: 'uuid',
      description: 'The run that Send Now would answer with instead, because it has just sent the same; null where it would send.',
    }),
    leftOut: z
      .array(
        z.object({
          invoiceId: z.string(),
          reference: z.string(),
          clientName: z.string(),
          words: z.string().meta({ description: 'Why, in a sentence.' }),
        }),
      )
      .meta({ description: 'The chosen invoices that would not be reminded.' }),
    email: z
      .object({
        kind: z.enum(['one', 'group']).meta({ description: 'Whose variables its wording may use.' }),
        from: z.string(),
        to: z.string(),
        clientName: z.string(),
        wording: z
          .object({ subject: z.string(), content: z.string() })
          .meta({ description: 'The wording that it is rendered from: the given one, else the account’s.' }),
        subject: z.string(),
        html: z.string(),
        text: z.string(),
        attached: z.array(z.string()).meta({ description: 'The names of the PDFs that it has attached.' }),
        notAttached: z.array(z.string()).meta({
          description: 'The names of the PDFs that are too large to be attached. It links to them where clients can reach this server.',
        }),
      })
      .nullable()
      .meta({ description: 'The email as it would be sent now; null where there is none, or more than one.' }),
  })
  .meta({ id: 'ReminderDraft', description: 'What Send Now would send for chosen invoices.' })
export type ReminderDraft = z.infer<typeof reminderDraft>

/** How long the emails of a daily run may wait before they leave, in minutes. */
export const holdMinutes = [0, 5, 10, 30, 60] as const
export type HoldMinutes = (typeof holdMinutes)[number]

const settingFields = {
  groupByClient: z
    .boolean()
    .meta({ description: 'One email per client and currency that lists everything past due, instead of one per invoice.' }),
  sequence: sequenceChoice.meta({ description: 'The sequence of every client without one of its own: an id, `every_day` or `never`.' }),
  holdMinutes: z
    .literal(holdMinutes, 'Please choose 0, 5, 10, 30 or 60 minutes.')
    .meta({ description: 'For how many minutes the emails of the daily run wait, so that some can be left out; 0: they leave at once.' }),
  eveningList: z
    .boolean()
    .meta({ description: 'An email to the owner at 17:00 with the reminders of the next day, and a link to leave some out.' }),
  weeklySummary: z
    .boolean()
    .meta({ description: 'An email to the owner on Mondays at 8:00: what was paid and sent in the week before, and what is planned.' }),
  ...quietSettings,
  ...smartSettings,
}

const reminderSettings = z
  .object({
    ...settingFields,
    quietChosen: z.boolean().meta({
      description:
        'Whether it was ever chosen which days are quiet. Until then the first `sequence` of yours turns on weekends and public holidays.',
    }),
    version: z.string().meta({ description: 'Another one after a change. The ETag names it.' }),
  })
  .meta({ id: 'ReminderSettings', description: 'How reminders are sent.' })
export type ReminderSettings = z.infer<typeof reminderSettings>

const smartGroup = z.object({
  invoices: z.number().int().meta({ description: 'Paid invoices.' }),
  daysLate: z.number().nullable().meta({ description: 'The mean of their days late, early ones negative; null of none.' }),
  emails: z.number().nullable().meta({ description: 'The mean of their emails.' }),
})

const smartResult = z
  .object({
    paid: z.number().int().meta({ description: 'Paid invoices that can be learned from.' }),
    needed: z.number().int().meta({ description: 'How many are needed.' }),
    smart: smartGroup.meta({ description: 'Those whose steps smart reminders chose a day for.' }),
    planned: smartGroup.meta({ description: 'Those compared with them: every fifth, by chance.' }),
    interval: z
      .tuple([z.number(), z.number()])
      .nullable()
      .meta({ description: 'What the difference of their days late lies between with 90 % confidence; null under 30 invoices each.' }),
    words: z.string().meta({ description: 'The result in a sentence.' }),
    says: z.string().nullable().meta({ description: 'What it does not tell, where it does not tell a difference.' }),
  })
  .meta({ id: 'SmartResult', description: 'Smart reminders compared with the plan.' })
export type SmartResult = z.infer<typeof smartResult>

export const reminderCalls = {
  settings: call({ method: 'GET', path: '/reminder/settings', by: 'viewer', summary: 'My reminder settings.', reply: reminderSettings }),
  changeSettings: call({
    method: 'PATCH',
    path: '/reminder/settings',
    by: 'admin',
    summary: 'Change my reminder settings.',
    body: z.strictObject({ ...settingFields, fingerprint }).partial(),
    reply: reminderSettings,
  }),
  smart: call({
    method: 'GET',
    path: '/reminder/smart',
    by: 'viewer',
    summary: 'What smart reminders have changed so far, compared with every fifth invoice, whose steps leave as planned.',
    reply: smartResult,
  }),
  cancelRun: call({
    method: 'POST',
    path: '/reminder/runs/:id/cancel',
    by: 'member',
    summary: 'Cancel the rest of a run; emails being sent at this moment may still be delivered.',
    params: byId,
    reply: run,
  }),
  retryRun: call({
    method: 'POST',
    path: '/reminder/runs/:id/retry',
    by: 'member',
    summary: 'Retry the failed emails of a run.',
    params: byId,
    reply: runAnswer,
  }),
  history: call({
    method: 'GET',
    path: '/invoice/:id/history',
    by: 'viewer',
    summary: 'Every email about an invoice, the decision of each day, and the next reminder or why there is none.',
    params: byId,
    reply: invoiceHistory,
  }),
  mail: call({
    method: 'GET',
    path: '/reminder/mails/:id',
    by: 'viewer',
    summary: 'An email as it was sent.',
    params: byId,
    reply: sentMail,
  }),
  status: call({
    method: 'GET',
    path: '/reminder/status',
    by: 'viewer',
    summary: 'Whether daily reminders are active, and when the last one was sent.',
    reply: z.object({
      isActive: z.boolean().meta({ description: 'Whether the daily schedule is on.' }),
      state: z
        .enum(['active', 'on_hold', 'off'])
        .meta({ description: 'On hold: the schedule is on, but sends nothing until its `reason` ends, and has no next run.' }),
      words: z.string().meta({ description: 'The state for a screen, such as `On hold: daily reminders need Pro`.' }),
      next: z.string().meta({ description: 'What comes next, in a sentence.' }),
      lastReminderSent: z.string().nullable().meta({ format: 'date-time', description: 'When a reminder of any kind was last accepted.' }),
      nextRunAt: z.string().nullable().meta({ format: 'date-time', description: 'The next daily run; null where there is none.' }),
      /** Why the daily run sends nothing at the moment, one of the six reasons that apply to all invoices; null if it sends. */
      reason: noReminderReason
        .extract(['schedule_inactive', 'operator', 'email_not_confirmed', 'not_configured', 'sending_paused', 'plan'])
        .nullable(),
      timezone: z.string().meta({ description: 'The account’s time zone, an IANA name.' }),
      reminderHour: z.number().int().meta({ description: 'The full hour of its daily run.' }),
      pause: senderPause.nullable().meta({ description: 'Why sending from the mailbox is paused.' }),
      trouble: z.string().nullable().meta({ description: 'What keeps Duely from sending on time, in a sentence.' }),
      openRunId: z.string().nullable().meta({ format: 'uuid', description: 'A run that is still in progress.' }),
      leavingRunId: z
        .string()
        .nullable()
        .meta({ format: 'uuid', description: 'The daily run whose emails wait to leave, so that some can be left out.' }),
    }),
  }),
  preview: call({
    method: 'GET',
    path: '/reminder/preview',
    by: 'viewer',
    summary:
      'Who would get an email now, and the next reminder of each unpaid invoice; with `limit` one page of these and a Link to the next.',
    query: invoiceQuery.pick({ limit: true, cursor: true }),
    reply: z.object({
      mails: z.number().int().meta({ description: 'How many emails Start Reminders would send now.' }),
      total: z.number().meta({ description: 'The sum of those in the currency of the account.' }),
      totals: z.array(money).meta({ description: 'Their sums by currency, that of the account first; never added or converted.' }),
      sendNowMails: z.number().int().meta({ description: 'How many emails Send Now would send now.' }),
      remindedToday: z.number().int().meta({ description: 'How many invoices past due were already reminded today.' }),
      allowance: z
        .object({
          perHour: z.number().int().nullable().meta({ description: 'In any hour.' }),
          room: z.number().int().meta({ description: 'Now.' }),
          today: z.number().int().nullable().meta({ description: 'Within 24 hours.' }),
        })
        .nullable()
        .meta({ description: 'How many emails the default mailbox may send; null: no limit.' }),
      lines: z.array(previewLine).meta({ description: 'Every unpaid invoice, or with `limit` a page of them, by due date.' }),
    }),
  }),
  start: call({
    method: 'POST',
    path: '/reminder/start',
    by: 'admin',
    summary: 'Turn daily reminders on and remind of every overdue invoice, or the chosen ones, that was not reminded today.',
    body: startSelection.nullish(),
    reply: runAnswer,
  }),
  stop: call({
    method: 'POST',
    path: '/reminder/stop',
    by: 'admin',
    summary: 'Turn daily reminders off and cancel queued emails.',
    reply: z.object({
      isActive: z.boolean(),
      cancelled: z.number().int().meta({ description: 'How many pending emails were cancelled.' }),
    }),
  }),
  sendNow: call({
    method: 'POST',
    path: '/reminder/send-immediate',
    by: 'member',
    summary: 'Send reminders for all overdue invoices, or the chosen ones, now.',
    body: sendNowRequest.nullish(),
    reply: runAnswer,
  }),
  draft: call({
    method: 'POST',
    path: '/reminder/draft',
    by: 'viewer',
    summary: 'What Send Now, or Start, would send for chosen invoices, and the email where it is one. Sends nothing.',
    body: sendNowRequest.required({ invoiceIds: true }).extend({
      kind: z.enum(['send_now', 'start']).optional().meta({
        description:
          'Whose email it is: that of Send Now, or of Start and the daily runs, also where it is not due yet. Without it `send_now`.',
      }),
    }),
    reads: true,
    reply: reminderDraft,
  }),
  tryAddress: call({
    method: 'POST',
    path: '/reminder/try-address',
    by: 'member',
    summary: 'End the hold of a refused address, and remind of what is overdue there now.',
    body: z.strictObject({ clientEmail: emailAddress.meta({ format: 'email', description: 'The address.' }) }),
    reply: runAnswer,
  }),
  runs: call({
    method: 'GET',
    path: '/reminder/runs',
    by: 'viewer',
    summary: 'The last runs, newest first.',
    query: z.strictObject({
      limit: z.coerce.number().int().min(1).max(100).default(20).meta({ description: 'The most runs in the reply.' }),
    }),
    reply: z.array(run),
  }),
  run: call({
    method: 'GET',
    path: '/reminder/runs/:id',
    by: 'viewer',
    summary: 'One run and its progress.',
    params: byId,
    reply: run,
  }),
}
