import { count } from '#web/ui/texts.ts'

/** Texts of the reminder that a person sends for chosen invoices. */
export const remindTexts = {
  one: (client: string) => `Remind ${client} now`,
  several: (invoices: number) => `Send reminders for ${count(invoices, 'invoice')} now`,
  loading: 'Preparing the email...',
  to: 'To',
  subject: 'Subject',
  content: 'Text',
  contentHint: 'Only this email changes. Words in {{braces}} are filled in for the client.',
  edit: 'Edit this email',
  reset: 'Undo my changes',
  frame: (subject: string) => `The email "${subject}"`,
  mails: (mails: number) => `${count(mails, 'email')} ready to send, each with the text of your template.`,
  leftOut: (invoices: number) => `${count(invoices, 'invoice')} left out:`,
  more: (invoices: number) => `and ${invoices} more.`,
  justSent: 'Already sent less than a minute ago. No client is emailed twice.',
  cancel: 'Cancel',
  send: (mails: number) => (mails > 1 ? `Send ${mails} emails` : 'Send reminder'),
  sending: 'Sending...',
  openSettings: 'Open Email Settings',
  sent: (client: string) => `Reminder sent to ${client}.`,
  sentOf: (sent: number, total: number) => `Reminders sent: ${sent} of ${total}.`,
  notSentYet: (emails: number) => `${count(emails, 'email is', 'emails are')} not sent yet. Reminder Control shows why.`,
  nothing: 'Nothing was sent. Reminder Control shows why.',
  paused: 'Sending is paused. The emails wait until it resumes: see Email Settings.',
  refused: (client: string, words: string) => `The reminder to ${client} wasn't delivered: ${words}.`,
}
