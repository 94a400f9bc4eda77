import type { HoldReason, Run, RunKind } from '#contract/reminders.ts'
import { sequenceTexts } from '#web/platform/sequences/texts.ts'
import { zoneName } from '#web/ui/dates.ts'
import { count } from '#web/ui/texts.ts'
import type { Unplanned } from './runs.ts'

const kinds = {
  daily: 'Daily run',
  start: 'Start Reminders',
  send_now: 'Send Now',
  trigger: 'Trigger Reminder Emails',
  retry: 'Retry',
} satisfies Record<RunKind, string>

/** `2 failed, 4 on hold` */
function unsent({ failed, retrying, held }: Run): string {
  const parts: [number, string][] = [
    [failed, 'failed'],
    [retrying, 'retrying'],
    [held, 'on hold'],
  ]
  return parts.flatMap(([n, state]) => (n > 0 ? `${n.toLocaleString('en-IN')} ${state}` : [])).join(', ')
}

/** `1 email is on hold` */
const onHold = (n: number) => `${count(n, 'email')} ${n === 1 ? 'is' : 'are'} on hold`

const skipped = (n: number, day: string) =>
  `${count(n, 'reminder')} skipped: already sent ${day}, paused, on hold, with an email in progress, or no longer due.`

const weekdayNames = ['Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday', 'Sunday']
/** `Saturday and Sunday`, from days of the week, 1 for Monday. */
const weekdays = (days: number[]) => days.map((day) => weekdayNames[day - 1] ?? '').join(' and ')

const signed = (value: number) => (value > 0 ? `+${value}` : String(value).replace('-', '−'))

export const texts = {
  title: 'Reminder Control',
  subtitle: 'Schedule, send and track your reminders',
  loading: 'Loading reminder status...',
  failed: (message: string) => `Error loading reminder status: ${message}`,
  emailSettings: 'Open Email Settings',
  close: 'Close',
  cancelDialog: 'Cancel',

  unconfigured: {
    title: 'Email is not configured',
    text: 'Reminders are sent from your own mailbox. Connect it first; nothing is sent until then.',
    beforeStart: 'Please configure your email settings first before starting reminders.',
    beforeSend: 'Please configure your email settings first before sending reminders.',
  },
  pause: {
    titles: {
      login_refused: 'Sending is paused: the mail server refused the login',
      sender_refused: 'Sending is paused: the mail server doesn’t let this mailbox send',
      gmail: 'Sending is paused: reconnect Gmail',
      microsoft: 'Sending is paused: reconnect Microsoft 365',
      quota: 'Sending is paused: the mailbox reached its sending limit',
      handed_over: 'Sending is paused: the person who connected this mailbox has left',
    },
    said: 'The mail server replied:',
    since: (when: string) => `Since ${when}.`,
    resumes: (when: string) => `Sending resumes automatically ${when}.`,
    tries: (when: string) => `Duely tries again ${when}, and sends what is waiting as soon as it may.`,
    todo: {
      login_refused: {
        smtp: 'Enter the new app password in Email Settings. Waiting emails are sent right away.',
        gmail: 'Reconnect Gmail in Email Settings. Waiting emails are sent right away.',
        microsoft: 'Reconnect Microsoft 365 in Email Settings. Waiting emails are sent right away.',
      },
      sender_refused: {
        smtp: 'Then send a test email in Email Settings. Waiting emails are sent right away.',
        gmail: 'Then send a test email in Email Settings. Waiting emails are sent right away.',
        microsoft: 'Then send a test email in Email Settings. Waiting emails are sent right away.',
      },
      quota: {
        smtp: 'Save the settings again in Email Settings once your provider allows more. Waiting emails are sent right away.',
        gmail: 'Reconnect Gmail in Email Settings once Google allows more. Waiting emails are sent right away.',
        microsoft: 'Reconnect Microsoft 365 in Email Settings once Microsoft allows more. Waiting emails are sent right away.',
      },
      handed_over: {
        smtp: 'Waiting emails are sent right away once it is connected again in Email Settings.',
        gmail: 'Waiting emails are sent right away once it is connected again in Email Settings.',
        microsoft: 'Waiting emails are sent right away once it is connected again in Email Settings.',
      },
    },
  },

  parts: {
    label: 'Parts of this screen',
    next: 'Next reminders',
    'last-runs': 'Recent runs',
    settings: 'Settings',
    failed: 'not delivered',
    /** What went wrong, where the runs are out of view. */
    undelivered: (clients: string[], words: string) => {
      const [first = '', second] = clients
      if (second === undefined) return `Not delivered: ${first}, ${words}`
      return `Not delivered: ${clients.length === 2 ? `${first} and ${second}` : `${first} and ${clients.length - 1} other clients`}`
    },
  },
  status: {
    daily: (hour: string, zone: string) => `Daily at ${hour}, ${zone}`,
    choose: 'Choose Pro',
    email: 'Email',
    configured: 'Configured',
    notConfigured: 'Not Configured',
    last: 'Last reminder',
    never: 'Never',
    zone: zoneName,
  },
  start: {
    button: 'Start Reminders',
    busy: 'Starting...',
    checking: 'Checking which invoices are due...',
    done: 'Reminders started successfully!',
    failed: (message: string) => `Failed to start reminders: ${message}`,
    refused: (message: string) => `Reminders are active, but the mail server accepted no email. ${message}`,
    title: 'Start reminders',
    nothingDue: 'No reminders are due, so nothing is sent now. This only turns on the daily schedule.',
    list: 'Emails to send now',
    skipped: (n: number) =>
      `${count(n, 'overdue invoice')} skipped: already reminded today, paused, on hold, or with an email in progress.`,
    daily: (hour: string, zone: string) =>
      `After that, every overdue invoice is reminded daily at ${hour} (${zone}) until it is paid or you stop reminders.`,
    bySequence: (hour: string, zone: string) =>
      `After that, the next steps go out on their days at ${hour} (${zone}) until an invoice is paid or you stop reminders.`,
    pausedNow: 'Sending is paused. These emails wait until you fix the problem in Email Settings.',
  },
  stop: {
    button: 'Stop Reminders',
    sending: 'Stop Sending',
    busy: 'Stopping...',
    done: 'Reminders stopped successfully!',
    cancelled: (n: number) => `${count(n, 'waiting email')} cancelled.`,
    failed: (message: string) => `Failed to stop reminders: ${message}`,
    title: 'Stop reminders',
    schedule: 'This stops daily reminders. No emails are sent automatically until you start them again.',
    waiting: (n: number) => `${count(n, 'waiting email')} will be cancelled.`,
    nothingWaiting: 'No emails are waiting, so none will be cancelled.',
    leaving: 'Emails already being sent can’t be stopped.',
  },
  cancel: {
    button: 'Cancel Run',
    busy: 'Cancelling...',
    title: 'Cancel this run',
    keep: 'Keep sending',
    stillActive: 'Daily reminders stay active: unpaid invoices are reminded again the next day.',
    done: 'Run cancelled.',
    failed: (message: string) => `Couldn’t cancel the run. ${message}`,
  },
  retry: {
    button: 'Retry failed emails',
    busy: 'Retrying...',
    nothingLeft: 'Nothing to retry: these invoices were reminded today or are no longer due.',
    failed: (message: string) => `Couldn’t retry the emails. ${message}`,
    refused: (message: string) => `The mail server rejected the emails again. ${message}`,
    resumed: 'Reminders to this address have resumed. None is due now.',
  },
  sendNow: {
    button: 'Send Now',
    busy: 'Sending...',
    description: 'Send reminder emails to all clients with overdue invoices right now',
    done: (n: number) => `${n} reminder emails sent successfully!`,
    failed: (message: string) => `Failed to send reminders: ${message}`,
    nothingDue: 'No invoices are overdue, so no reminders were sent.',
    same: 'Already sent less than a minute ago. No client was emailed twice.',
    allSkipped: 'No emails were sent: every overdue invoice was skipped.',
    title: 'Send reminders now',
    again: (n: number) => `${count(n, 'invoice was', 'invoices were')} already reminded today.`,
    limit: 'Each invoice can get at most 3 manual reminders a day.',
    skipped: (n: number) => `${count(n, 'overdue invoice')} skipped: at today’s limit, paused or on hold.`,
    nothingLeft: (quiet: number) =>
      quiet === 0
        ? 'Every overdue invoice has reached today’s limit of 3 manual reminders.'
        : `${count(quiet, 'overdue invoice is', 'overdue invoices are')} paused or on hold. Every other one has reached today’s limit of 3 manual reminders.`,
    noneReady: 'No reminder can be sent now.',
  },
  choose: {
    ready: (sent: number, of: number) =>
      sent === of ? `${count(of, 'email')} ready to send` : `${sent.toLocaleString('en-IN')} of ${count(of, 'email')} chosen`,
    all: (emails: number) => (emails === 1 ? '1 email' : `All ${emails.toLocaleString('en-IN')} emails`),
    none: 'Tick at least one email.',
    lastLeaves: (room: number, when: string) =>
      room === 0
        ? `Your mailbox is at its sending limit. The last email leaves at about ${when}.`
        : `${count(room, 'email')} can leave now, the others within your mailbox’s sending limit. The last one leaves at about ${when}.`,
    someLater: (emails: number) =>
      emails === 0
        ? 'Your mailbox is at its sending limit. These emails leave first in the next daily run.'
        : `Your mailbox’s sending limit lets ${count(emails, 'email')} leave today. The others leave first in the next daily run.`,
    send: (emails: number) => `Send ${count(emails, 'email')}`,
    references: (references: string[]) =>
      references.length <= 3 ? references.join(', ') : `${references.slice(0, 3).join(', ')} and ${references.length - 3} more`,
    several: (clients: number) => `${count(clients, 'client')} will get several emails.`,
    combine: 'Combine into one email per client',
    combined: (clients: number) =>
      clients === 1
        ? '1 client gets one email for several invoices.'
        : `${count(clients, 'client')} get one email for several invoices each.`,
    separate: 'Send separate emails',
    later: (invoices: number) =>
      `The next daily run includes ${invoices === 1 ? 'the invoice' : `the ${invoices.toLocaleString('en-IN')} invoices`} you unticked.`,
  },
  firstEmail: {
    read: 'Read the first email',
    loading: 'Loading the email...',
    failed: (message: string) => `Couldn’t load the email. ${message}`,
  },

  help: {
    heading: 'How reminders work',
    start: (hour: string) => `Starting sends immediate emails to overdue recipients, then periodic reminders go out daily at ${hour}.`,
    changeHour: 'Change the hour',
    who: "Only invoices with status 'unpaid' or 'overdue' with past due dates are included.",
    stop: 'Stopping pauses periodic reminders.',
  },

  kinds,

  run: {
    sending: (kind: RunKind) => `${kinds[kind]}: sending reminders`,
    preparingTitle: 'Sending reminders',
    ended: (sent: number, of: number) => (of === 0 ? 'No reminders sent' : `Reminders sent: ${texts.run.progress(sent, of)}`),
    progress: (done: number, of: number) => `${done.toLocaleString('en-IN')} of ${of.toLocaleString('en-IN')}`,
    rate: (perSecond: number) =>
      perSecond >= 1
        ? `${Math.round(perSecond).toLocaleString('en-IN')} per second`
        : `${Math.max(1, Math.round(perSecond * 60))} per minute`,
    left: (seconds: number) => {
      const minutes = Math.ceil(seconds / 60)
      if (minutes <= 1) return 'less than a minute left'
      return minutes < 55 ? `about ${minutes} minutes left` : `about ${count(Math.max(1, Math.round(minutes / 60)), 'hour')} left`
    },
    preparing: 'Preparing the emails...',
    label: 'Reminder progress',
    dismiss: 'Close this result',
    count: {
      sent: 'sent',
      failed: 'failed',
      waiting: 'waiting',
      retrying: 'retrying',
      held: 'on hold',
      skipped: 'skipped',
      cancelled: 'cancelled',
    },
    sent: (n: number) => `The mail server accepted ${count(n, 'email')}.`,
    nothing: 'No emails were sent.',
    shortfall: (run: Run) => `${run.sent === 0 ? 'No reminder emails were sent:' : `${count(run.sent, 'email')} sent,`} ${unsent(run)}.`,
    allFailures: (n: number) => `Show all ${n.toLocaleString('en-IN')}`,
    failedLine: (n: number) => `${count(n, 'email')} couldn’t be delivered:`,
    retryLine: (n: number, when: string | null) =>
      `${count(n, 'email is', 'emails are')} delayed${when === null ? '. We’ll retry automatically.' : `; next attempt ${when}.`}`,
    held: {
      sending_paused: (n: number) => `${onHold(n)} because sending is paused. See Email Settings.`,
      not_configured: (n: number) => `${onHold(n)} because no mailbox is connected. See Email Settings.`,
      plan: (n: number) => `${onHold(n)} because your plan has no daily reminders. Use Send Now to send ${n === 1 ? 'it' : 'them'}.`,
      email_not_confirmed: (n: number) => `${onHold(n)} until you confirm your email.`,
      address: (n: number) => `${onHold(n)} because the client’s address doesn’t exist. Correct it to resume.`,
      restored: (n: number) =>
        `${onHold(n)} because your data was restored from a backup: ${n === 1 ? 'it' : 'they'} may have been sent already.`,
      paying: (n: number) => `${onHold(n)} because the client is paying.`,
      operator: (n: number) => `${onHold(n)} by the operator of this server. Contact them to find out why.`,
    } satisfies Record<HoldReason, (n: number) => string>,
    sendHeld: 'Send them now',
    sendingHeld: 'Sending...',
    heldUntil: {
      daily: 'Emails on hold are sent once this is resolved, until 18:00.',
      byHand: 'Emails on hold are sent once this is resolved, up to 4 hours after the run started.',
    },
    skipped: {
      daily: (n: number) => skipped(n, 'that day'),
      start: (n: number) => skipped(n, 'today'),
      trigger: (n: number) => skipped(n, 'that day'),
      send_now: (n: number) =>
        `${count(n, 'reminder')} skipped: already sent manually 3 times that day, paused, on hold, or no longer due.`,
      retry: (n: number) => skipped(n, 'today'),
    } satisfies Record<RunKind, (n: number) => string>,
    cancelled: (n: number) => `${count(n, 'email')} cancelled or skipped because the run was stopped.`,
    more: (n: number) => `and ${n.toLocaleString('en-IN')} more`,
    noReason: 'The mail server gave no reason.',
    openInvoice: (reference: string) => `Open ${reference}`,
    addressHeld: (address: string) => `${address} doesn’t exist. Correct the address to resume.`,
    correct: 'Correct the address',
    tryAgain: 'Try again',
  },

  next: {
    title: 'Next reminders',
    loading: 'Loading upcoming reminders...',
    failed: (message: string) => `Error loading upcoming reminders: ${message}`,
    none: 'No unpaid invoices. The next reminder for each one will appear here.',
    create: 'Create Invoice',
    emails: (emails: number, clients: number) =>
      emails === clients && emails === 1 ? '1 email' : `${count(emails, 'email')} to ${count(clients, 'client')}`,
    firstReminders: (emails: number, clients: number) => `${count(emails, 'email')} to ${count(clients, 'client')}`,
    invoices: (n: number) => count(n, 'invoice'),
    list: 'Emails of the next run',
    readyList: 'Emails ready to send',
    showAll: (n: number) => `Show all ${n.toLocaleString('en-IN')}`,
    showMore: (n: number) => `Show ${n.toLocaleString('en-IN')} more`,
    allDays: (n: number) => `Show all ${n.toLocaleString('en-IN')} days`,
    andMore: (n: number) => `and ${n.toLocaleString('en-IN')} more`,
    notDelivered: (days: number, words: string) => `Not delivered${days < 1 ? '' : ` for ${count(days, 'day')}`}: ${words}`,
    remindedToday: (n: number) => (n === 1 ? 'Reminded today' : `Reminded ${n} times today`),
    nothingPlanned: 'No email is planned',
    runsAnyway: (when: string) => `Next run ${when.charAt(0).toLowerCase()}${when.slice(1)}.`,
    notNow: 'Not due now',
    /** Over the emails of the next days, while no run comes. */
    once: {
      schedule_inactive: 'Once you start reminders, these follow',
      email_not_confirmed: 'Once you confirm your email, these follow',
      not_configured: 'Once a mailbox is connected, these follow',
      sending_paused: 'Once the mailbox works again, these follow',
    },
    unscheduled: {
      schedule_inactive: {
        when: 'No next run',
        text: (emails: number) =>
          emails === 0
            ? 'Daily reminders are off. No emails are sent automatically.'
            : 'Daily reminders are off. Ready to send when you start:',
      },
      plan: {
        when: 'No next run',
        text: (emails: number) =>
          emails === 0 ? 'Daily reminders need Pro. No reminder can be sent now.' : 'Daily reminders need Pro. Send Now still sends these:',
      },
      operator: {
        when: 'No next run',
        text: () => 'Nothing is sent until the operator of this server resumes your account. Contact them to find out why.',
      },
      email_not_confirmed: {
        when: 'Once you confirm your email',
        text: (emails: number) => (emails === 0 ? 'No reminder is due.' : 'Waiting:'),
      },
      not_configured: {
        when: 'Once a mailbox is connected',
        text: (emails: number) => (emails === 0 ? 'No reminder is due.' : 'Waiting:'),
      },
      sending_paused: {
        when: 'Once the mailbox works again',
        text: (emails: number) => (emails === 0 ? 'No reminder is due.' : 'Waiting:'),
      },
    },
    reasons: {
      schedule_inactive: 'Daily reminders are off',
      operator: 'On hold by the operator of this server',
      email_not_confirmed: 'Confirm your email first',
      not_configured: 'No mailbox connected',
      sending_paused: 'Sending is paused',
      plan: 'Daily reminders need Pro',
      open_mail: 'Email in progress',
      retrying: 'Delayed, will be retried',
      waiting: 'Waiting to be sent',
      paused: 'Paused',
      address_held: 'On hold: the address doesn’t exist',
      ended: 'All steps are over',
      never: 'Not reminded automatically',
      no_date: 'No date yet',
      held_not_configured: 'On hold: no mailbox connected',
      held_sending_paused: 'On hold: sending is paused',
      held_plan: 'On hold: daily reminders need Pro',
      held_email_not_confirmed: 'On hold: confirm your email',
      held_address: 'On hold: the address doesn’t exist',
      held_restored: 'Needs your approval',
      held_paying: 'Waiting: the client is paying',
      held_operator: 'On hold by the operator of this server',
    } satisfies Record<Unplanned, string>,
  },
  settings: {
    title: 'Settings',
    mailbox: 'Mailbox',
    sentFrom: (address: string) => `Reminders are sent from ${address}.`,
    noMailbox: 'No mailbox is connected.',
    /** Where two people change them. */
    names: {
      groupByClient: 'emails per client',
      sequence: 'sequence',
      holdMinutes: 'minutes before emails leave',
      eveningList: 'evening list',
      weeklySummary: 'weekly summary',
      quietWeekends: 'weekends',
      quietHolidays: 'public holidays',
      ownHolidaysToo: 'own holidays',
      country: 'country',
      region: 'region',
      smart: 'smart reminders',
      smartDays: 'days of smart reminders',
    },
    shown: (value: string | number | boolean | null) =>
      value === null ? 'Not chosen' : typeof value === 'boolean' ? (value ? 'On' : 'Off') : String(value),
  },

  /** Emails of Duely to its own customer. */
  ownEmails: {
    none: 'This server sends no mail of its own.',
    eveningList: {
      label: 'Send me tomorrow’s list at 17:00',
      hint: 'An email that lists who is reminded tomorrow, with a link to leave some out.',
    },
    weeklySummary: {
      label: 'Weekly summary',
      hint: 'An email on Mondays at 8:00: what was paid, what was sent, and this week’s reminders.',
    },
  },

  sequence: {
    title: 'How clients are reminded',
    loading: 'Loading the sequence...',
    failed: (message: string) => `Couldn’t load the sequence. ${message}`,
    change: 'Change',
    all: 'All sequences',
    everyDay: 'Every day may be more than your clients like.',
  },
  quietDays: {
    title: sequenceTexts.quiet.title,
    loading: 'Loading quiet days...',
    failed: (message: string) => `Couldn’t load quiet days. ${message}`,
    weekends: sequenceTexts.quiet.quietWeekends,
    weekend: (days: number[], country: string | null) => `${weekdays(days)}${country === null ? '' : ` in ${country}`}`,
    weekendsHint: 'The weekend of the country of each client.',
    holidays: sequenceTexts.quiet.quietHolidays,
    holidaysHint: 'Those of the country and region of each client.',
    known: (country: string, until: string) => `Holidays of ${country} are known until ${until}.`,
    noCountry: 'Choose your country, so that its holidays are known.',
    ownToo: 'My own holidays too',
    ownTooHint: 'Your public holidays are quiet for clients in other countries as well.',
    mayMove: (name: string) => `${name}, may move by a day`,
    openDay: (name: string) => (name === '' ? 'Open' : `Open: ${name}`),
    add: 'Add a day',
    place: 'Country and region',
    country: 'Country',
    byZone: (country: string) => `${country}, from your time zone`,
    fromZone: 'From your time zone',
    noneFound: 'No country found',
    region: 'Region',
    wholeCountry: 'The whole country',
    ownDays: 'Days of your own',
    ownDaysHint: 'They apply to all clients, and correct a holiday that is wrong.',
    remove: (date: string) => `Remove ${date}`,
    date: 'Date',
    noDate: 'Please enter a date such as 31/03/2026.',
    name: 'Name',
    kind: 'On this day',
    closed: 'No reminders',
    open: 'Reminders in spite of a holiday',
    another: 'Add another',
    cancel: 'Cancel',
    save: 'Save',
    saving: 'Saving...',
    saved: 'Quiet days saved.',
    daysSaved: 'Days saved.',
  },
  smart: {
    title: 'Smart reminders',
    label: 'Let Duely choose the day',
    loading: 'Loading smart reminders...',
    failed: (message: string) => `Couldn’t load smart reminders. ${message}`,
    hint: (days: number) =>
      `Duely may move a step by up to ${count(days, 'day')}, by how each client has paid. No invoice gets more emails than your sequence has.`,
    everyDay: 'Only steps of a sequence can be moved: it has no effect on clients who are reminded every day.',
    days: 'Move a step by up to, in days',
    change: (days: number) => `Up to ${count(days, 'day')}: change`,
    interval: ([low, high]: [number, number]) => `Between ${signed(low)} and ${signed(high)} days late, with 90 % confidence`,
    emails: (smart: number, planned: number) => `${smart} emails an invoice with smart reminders, ${planned} without`,
    compared: 'Every fifth invoice keeps the days of its sequence: the others are compared with it once they are paid.',
    saved: 'Smart reminders saved.',
  },
  ahead: {
    all: 'All 30 days',
    day: (emails: number, clients: number) => `${count(emails, 'email')} to ${count(clients, 'client')}`,
    moved: (from: string | null, why: string | null) => [from && `Moved from ${from}`, why].filter((one) => one !== null).join(' · '),
    list: (day: string) => `Emails of ${day}`,
  },
  step: ({ number, of, tone }: { number: number; of: number; tone: string }) =>
    number > of ? `Last step again, ${tone}` : `Step ${number} of ${of}, ${tone}`,

  grouping: {
    title: 'One email or several',
    loading: 'Loading the setting...',
    failed: (message: string) => `Couldn’t load the setting. ${message}`,
    notSaved: (message: string) => `Couldn’t change the setting. ${message}`,
    label: 'One email per client',
    hint: 'A client with several overdue invoices gets one email that lists them all with the total, instead of one email each. Applies from the next run.',
    single: 'A client with several overdue invoices gets one email for each of them. Applies from the next run.',
    saved: 'The emails of the next run are as you chose.',
    template: 'Edit this email in Email Templates',
  },

  runs: {
    title: 'Recent runs',
    loading: 'Loading recent runs...',
    failed: (message: string) => `Error loading recent runs: ${message}`,
    none: 'No reminders sent yet. Each run and its results will appear here.',
    notDelivered: (n: number) => `${n.toLocaleString('en-IN')} not delivered`,
    all: (n: number) => `Show all ${n.toLocaleString('en-IN')} runs`,
    skippedDay: 'Skipped',
    inProgress: 'In progress',
    stopped: (sent: number) => `Stopped, ${sent.toLocaleString('en-IN')} sent`,
    sent: (sent: number, of: number) => `${texts.run.progress(sent, of)} sent`,
    allSkipped: 'All skipped',
    nothingDue: 'Nothing was due',
  },
}
