import { count } from '#web/ui/texts.ts'

export const texts = {
  intro: 'Set up once. Reminders go out every morning.',
  next: {
    invoice: () => 'Next: add your unpaid invoices',
    mailbox: () => 'Next: connect the mailbox your reminders are sent from',
    preview: () => 'Next: see who gets an email',
    start: (daily: boolean) => (daily ? 'Next: start daily reminders' : 'Next: send the first reminders'),
  },
  done: '(done)',
  goal: 'First reminder sent',
  steps: {
    invoice: {
      short: 'Invoice',
      name: () => 'Add your unpaid invoices',
      detail: 'Enter one, or import a CSV file from the software you use.',
      added: (invoices: number, first: string) => `${count(invoices, 'invoice')}: ${first}${invoices > 1 ? ' and more' : ''}`,
      action: () => 'Add an invoice',
    },
    mailbox: {
      short: 'Mailbox',
      name: () => 'Connect your mailbox',
      detail: 'Reminders come from your own address. Duely never reads your inbox.',
      connected: (address: string) => `Connected: ${address}`,
      action: () => 'Connect your mailbox',
    },
    preview: {
      short: 'Preview',
      name: () => 'Preview the first emails',
      detail: 'You’ll see who gets an email before anything is sent.',
      ready: (invoices: number) => `${count(invoices, 'overdue invoice')} ready to remind. Nothing is sent yet.`,
      action: () => 'Preview the first email',
    },
    start: {
      short: 'Start',
      name: (daily: boolean) => (daily ? 'Start daily reminders' : 'Send the first reminders'),
      detail: (hour: string) => `Every day at ${hour}. Reminders for an invoice stop when you mark it as paid.`,
      byHand: 'Your plan sends reminders when you press Send Now.',
      action: (daily: boolean) => (daily ? 'Start daily reminders' : 'Send the first reminders'),
    },
  },
  providers: {
    list: [
      { provider: 'gmail', name: 'Gmail' },
      { provider: 'microsoft', name: 'Microsoft 365' },
      { provider: 'zoho', name: 'Zoho' },
      { provider: 'fastmail', name: 'Fastmail' },
      { provider: 'custom', name: 'Custom' },
    ],
  },
  import: 'Import from CSV',
  addMore: 'Add more',
  waits: 'Everything is set up',
  nothingDue: 'The first reminder goes out once an invoice is overdue.',
  firstAt: (when: string) => `First reminder: ${when}`,
  control: 'Open Reminder Control',
  rejected: (client: string) => `Rejected: the first reminder to ${client}`,
  open: (reference: string) => `Open ${reference}`,
  paused: 'Sending is paused',
  settings: 'Open Email Settings',
  accepted: (time: string) => `Your first reminder was sent at ${time}.`,
  closes: 'This checklist won’t appear on your next visit.',
}
