const counted = (n: number, one: string, many: string) => `${n.toLocaleString('en-IN')} ${n === 1 ? one : many}`
const emails = (n: number) => counted(n, 'email', 'emails')

/** Every word of Trigger Reminder Emails. */
export const triggerTexts = {
  title: 'Trigger Reminder Emails',
  cancel: 'Cancel',
  close: 'Close',
  loading: 'Looking who is due...',
  failed: (message: string) => `It could not be found out who is due. ${message}`,
  mailbox: {
    text: 'Please configure your email settings first before sending reminders.',
    open: 'Open Email Settings',
  },
  leaving: (mails: number) => `${emails(mails)} ${mails === 1 ? 'leaves' : 'leave'} now, for`,
  list: 'Who is written to now',
  once: 'This way an invoice is reminded at most once a day.',
  nobody: 'Nobody is due at the moment, so no email would leave.',
  leftOut: (n: number) =>
    `${counted(n, 'invoice', 'invoices')} past due ${n === 1 ? 'is' : 'are'} left out: reminded today already, or with an email under way.`,
  paused: 'Sending is paused at the moment: these emails wait until you have mended that in Email Settings.',
  confirm: 'Trigger Reminder Emails',
  busy: 'Sending...',
  done: 'Reminder emails triggered successfully.',
  notDone: 'Failed to trigger reminders. Please try again.',
  sent: (n: number) => `${emails(n)} ${n === 1 ? 'was' : 'were'} accepted by the mail server.`,
  sentNone: 'Nobody was due any more, so no email was sent.',
  failedOnes: (n: number) => `${counted(n, 'email', 'emails')} could not be delivered:`,
  failedShort: (n: number) => `${n.toLocaleString('en-IN')} failed.`,
  underWay: (n: number) => `${emails(n)} ${n === 1 ? 'is' : 'are'} still on ${n === 1 ? 'its' : 'their'} way or tried again later.`,
  skipped: (n: number) => `${counted(n, 'invoice was', 'invoices were')} left out: reminded today already, or with an email under way.`,
  noWords: 'The mail server gave no reason.',
  follow: 'Open Reminder Control',
}
