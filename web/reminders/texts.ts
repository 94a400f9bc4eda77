import type { HoldReason, Run, RunKind } from '#contract/reminders.ts'
import { zoneName } from '#web/ui/dates.ts'

const counted = (n: number, one: string, many: string) => `${n.toLocaleString('en-IN')} ${n === 1 ? one : many}`
const emails = (n: number) => counted(n, 'email', 'emails')
const invoices = (n: number) => counted(n, 'invoice', 'invoices')

const kinds = { daily: 'Daily run', start: 'Start', send_now: 'Send Now', trigger: 'Trigger', retry: 'Tried Again' } satisfies Record<
  RunKind,
  string
>

/** What kept mails of a run from leaving: `2 failed, 4 held back`. */
function unsent({ failed, retrying, held }: Run): string {
  const parts: [number, string][] = [
    [failed, 'failed'],
    [retrying, 'tried again later'],
    [held, 'held back'],
  ]
  return parts.flatMap(([n, what]) => (n > 0 ? `${n.toLocaleString('en-IN')} ${what}` : [])).join(', ')
}

/** Every word of Reminder Control. */
export const texts = {
  title: 'Reminder Control',
  subtitle: 'Who is written to, when, and what became of it',
  loading: 'Loading reminder status...',
  failed: (message: string) => `Error loading reminder status: ${message}`,
  emailSettings: 'Open Email Settings',

  unconfigured: {
    title: 'Email is not configured',
    text: 'Reminders leave from your own mailbox. Connect it first; until then nothing is sent.',
    beforeStart: 'Please configure your email settings first before starting reminders.',
    beforeSend: 'Please configure your email settings first before sending reminders.',
    close: 'Close',
  },
  pause: {
    titles: {
      login_refused: 'Sending is paused: the mail server refused the login',
      gmail: 'Sending is paused: reconnect Gmail',
      quota: 'Sending is paused: the mailbox reached its sending limit',
    },
    said: 'The mail server said:',
    since: (when: string) => `Since ${when}.`,
    goesOn: (when: string) => `Sending resumes automatically ${when}.`,
    todo: {
      login_refused: {
        smtp: 'Enter the new app password in Email Settings: what is still waiting then leaves.',
        gmail: 'Connect Gmail again in Email Settings: what is still waiting then leaves.',
      },
      quota: {
        smtp: 'Save the settings again in Email Settings once your provider allows more: what is still waiting leaves then.',
        gmail: 'Connect Gmail again in Email Settings once Google allows more: what is still waiting leaves then.',
      },
    },
  },

  status: {
    heading: 'Daily reminders',
    active: 'Active',
    inactive: 'Inactive',
    waits: 'Waiting for a mailbox: nothing is sent until one is connected.',
    waitingNext: 'Once a mailbox is connected',
    pausedWaits: 'Waiting for the mailbox: nothing is sent while it refuses.',
    pausedNext: 'Once the mailbox works again',
    email: 'Email',
    configured: 'Configured',
    notConfigured: 'Not Configured',
    last: 'Last reminder',
    never: 'Never',
    next: 'Next run',
    noNext: 'None while inactive',
    notPlanned: 'Not planned',
    zone: zoneName,
  },
  start: {
    button: 'Start Reminders',
    busy: 'Starting...',
    checking: 'Looking who is due...',
    done: 'Reminders started successfully!',
    failed: (message: string) => `Failed to start reminders: ${message}`,
    refused: (message: string) => `Reminders are active, but no email was accepted. ${message}`,
    title: 'Start reminders',
    now: (mails: number) => `${emails(mails)} ${mails === 1 ? 'leaves' : 'leave'} at once, for`,
    nobody: 'Nobody is due at the moment, so no email leaves now. Starting only activates the schedule.',
    list: 'Who is written to now',
    leftOut: (n: number) =>
      `${invoices(n)} past due ${n === 1 ? 'is' : 'are'} left out: reminded today already, paused, or with an email under way.`,
    daily: (hour: string, zone: string) =>
      `After that a reminder goes out daily at ${hour} (${zone}) until an invoice is paid or you stop.`,
    pausedNow: 'Sending is paused at the moment: these emails wait until you have mended that in Email Settings.',
  },
  stop: {
    button: 'Stop Reminders',
    sending: 'Stop Sending',
    busy: 'Stopping...',
    done: 'Reminders stopped successfully!',
    cancelled: (n: number) => `${counted(n, 'waiting email was', 'waiting emails were')} cancelled.`,
    failed: (message: string) => `Failed to stop reminders: ${message}`,
    title: 'Stop reminders',
    schedule: 'This pauses the daily reminders: nothing more goes out by itself until you start them again.',
    waiting: (n: number) => `${counted(n, 'email that is', 'emails that are')} still waiting ${n === 1 ? 'is' : 'are'} cancelled.`,
    nothingWaiting: 'No email is waiting at the moment, so none is cancelled.',
    leaving: 'An email that is leaving at this very moment still arrives.',
  },
  cancel: {
    button: 'Cancel Run',
    busy: 'Cancelling...',
    title: 'Cancel this run',
    keep: 'Keep sending',
    goesOn: 'Daily reminders stay active: what is still unpaid is reminded again on the next day.',
    done: 'The run is cancelled.',
    failed: (message: string) => `The run was not cancelled. ${message}`,
  },
  retry: {
    button: 'Try these again',
    busy: 'Trying again...',
    nobody: 'Nobody is left to write to: these invoices were reminded today meanwhile, or are no longer owed.',
    failed: (message: string) => `They could not be tried again. ${message}`,
    refused: (message: string) => `They were tried again, and none was accepted. ${message}`,
  },
  sendNow: {
    button: 'Send Now',
    busy: 'Sending...',
    description: 'Send reminder emails to all clients with overdue invoices right now',
    held: (mails: number) =>
      mails === 0 ? 'Nobody would be written to at the moment.' : `${emails(mails)} would wait until the mailbox works again.`,
    reminded: (n: number) => `${invoices(n)} ${n === 1 ? 'was' : 'were'} reminded today already.`,
    reach: (mails: number) => (mails === 0 ? 'Nobody would be written to at the moment.' : `${emails(mails)} would leave at the moment.`),
    done: (count: number) => `${count} reminder emails sent successfully!`,
    failed: (message: string) => `Failed to send reminders: ${message}`,
    nobody: 'No invoice is past due, so there was nobody to write to.',
    same: 'You pressed Send Now less than a minute ago. That run counts: nobody was written to twice.',
    nobodyLeft: 'No email was sent: nobody was left to write to today.',
    title: 'Send again today',
    again: (n: number) => `${counted(n, 'invoice was', 'invoices were')} reminded today already.`,
    limit: 'By hand an invoice can be reminded at most 3 times a day.',
    leaving: (mails: number) => `${emails(mails)} ${mails === 1 ? 'leaves' : 'leave'} now.`,
    nothingLeft: 'Nothing would leave now: for every invoice past due the day is used up.',
    confirm: 'Send Now',
    close: 'Close',
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
    waking: 'Sending reminders',
    ended: (kind: RunKind) => `${kinds[kind]}: what happened`,
    progress: (done: number, of: number) => `${done.toLocaleString('en-IN')} of ${of.toLocaleString('en-IN')}`,
    pace: (perSecond: number) =>
      perSecond >= 1 ? `${Math.round(perSecond).toLocaleString('en-IN')} a second` : `${Math.max(1, Math.round(perSecond * 60))} a minute`,
    left: (seconds: number) => {
      const minutes = Math.ceil(seconds / 60)
      if (minutes <= 1) return 'less than a minute left'
      return minutes < 55
        ? `about ${minutes} minutes left`
        : `about ${counted(Math.max(1, Math.round(minutes / 60)), 'hour', 'hours')} left`
    },
    preparing: 'Preparing the emails...',
    label: 'Progress of the reminders',
    dismiss: 'Close this result',
    count: {
      sent: 'sent',
      failed: 'failed',
      waiting: 'waiting',
      retrying: 'tried again later',
      held: 'held back',
      skipped: 'left out',
      cancelled: 'cancelled',
    },
    sentAll: (n: number) => `${counted(n, 'email was', 'emails were')} accepted by the mail server.`,
    nothing: 'No email was sent.',
    shortfall: (run: Run) => `${run.sent === 0 ? 'No reminder email was sent:' : `${emails(run.sent)} sent,`} ${unsent(run)}.`,
    failedLine: (n: number) => `${counted(n, 'email', 'emails')} could not be delivered:`,
    retryLine: (n: number, when: string | null) =>
      `${counted(n, 'email', 'emails')} could not be handed over yet and ${n === 1 ? 'is' : 'are'} tried again by itself${when === null ? '' : `, next ${when}`}.`,
    held: {
      sending_paused: (n: number) =>
        `${counted(n, 'email is', 'emails are')} held back because sending is paused; see Email Settings. Nothing of this has left.`,
      not_configured: (n: number) =>
        `${counted(n, 'email is', 'emails are')} held back because no mailbox is connected; see Email Settings. Nothing of this has left.`,
      plan: (n: number) =>
        `${counted(n, 'email is', 'emails are')} held back because your plan has no daily reminders; Send Now sends ${n === 1 ? 'it' : 'them'} all the same.`,
      restored: (n: number) =>
        `${counted(n, 'email is', 'emails are')} held back because the data was put back from a backup: ${n === 1 ? 'it' : 'they'} may have left already.`,
    } satisfies Record<HoldReason, (n: number) => string>,
    sendHeld: 'Send them now',
    sendingHeld: 'Sending...',
    heldUntil: {
      daily: 'What waits leaves once that is mended, until 18:00.',
      byHand: 'What waits leaves once that is mended, within four hours of pressing the button.',
    },
    skipped: {
      daily: (n: number) =>
        `${counted(n, 'reminder', 'reminders')} left out: sent that day already, paused, with an email under way, or no longer owed.`,
      start: (n: number) =>
        `${counted(n, 'reminder', 'reminders')} left out: sent today already, paused, with an email under way, or no longer owed.`,
      trigger: (n: number) =>
        `${counted(n, 'reminder', 'reminders')} left out: sent that day already, paused, with an email under way, or no longer owed.`,
      send_now: (n: number) =>
        `${counted(n, 'reminder', 'reminders')} left out: sent by hand 3 times that day already, paused, or no longer owed.`,
      retry: (n: number) =>
        `${counted(n, 'reminder', 'reminders')} left out: sent today meanwhile, paused, with an email under way, or no longer owed.`,
    } satisfies Record<RunKind, (n: number) => string>,
    cancelled: (n: number) => `${counted(n, 'email was', 'emails were')} cancelled or left out, because this was stopped.`,
    more: (n: number) => `and ${n.toLocaleString('en-IN')} more`,
    noWords: 'The mail server gave no reason.',
    openInvoice: 'Open invoice',
  },

  upcoming: {
    title: 'Coming up',
    loading: 'Loading what is coming up...',
    failed: (message: string) => `Error loading what is coming up: ${message}`,
    label: 'Next reminder',
    none: 'No invoice is waiting to be paid. Once you write one down, its next reminder stands here.',
    create: 'Create Invoice',
    caption: 'The next reminder of every unpaid invoice',
    client: 'Client',
    owed: 'Amount',
    due: 'Due',
    next: 'Next reminder',
    open: (n: number) => `${counted(n, 'unpaid invoice', 'unpaid invoices')}`,
    showAll: (n: number) => `Show all ${n.toLocaleString('en-IN')}`,
    showMore: (n: number) => `Show ${n.toLocaleString('en-IN')} more`,
    remindedToday: (n: number) => (n === 1 ? 'Reminded today' : `Reminded ${n} times today`),
    reasons: {
      schedule_inactive: 'None: reminders are not active',
      not_configured: 'None: no mailbox connected',
      sending_paused: 'None: sending is paused',
      plan: 'None: daily reminders need Pro',
      open_mail: 'Email under way',
      paused: 'None: this invoice is paused',
    },
    held: {
      not_configured: 'Waiting: no mailbox connected',
      sending_paused: 'Waiting: sending is paused',
      plan: 'Waiting: daily reminders need Pro',
      restored: 'Waiting for your word',
    },
    nextTry: (when: string) => `Email under way, next try ${when}`,
    noDate: 'No date yet',
  },

  grouping: {
    title: 'One email or several',
    loading: 'Loading the setting...',
    failed: (message: string) => `The setting could not be loaded: ${message}`,
    notSaved: (message: string) => `The setting was not changed. ${message}`,
    label: 'One email per client',
    says: 'A client with several overdue invoices gets one email that lists them all with their total, instead of one email for each. From the next run on.',
    template: 'Change its words in Email Templates',
  },

  runs: {
    title: 'Last runs',
    loading: 'Loading the last runs...',
    failed: (message: string) => `Error loading the last runs: ${message}`,
    none: 'No reminder has gone out yet. What was sent, and what became of it, will stand here.',
    skippedDay: 'Not run',
    underWay: 'Under way',
    stopped: 'Stopped',
    nobody: 'Nobody was due',
    details: 'What happened',
  },
}
