import { screens } from '#contract/screens.ts'
import { isMac } from '#web/ui/hooks.ts'
import { count } from '#web/ui/texts.ts'

/** Texts of the palette and the shortcuts dialog, loaded with them. */
export const paletteTexts = {
  placeholder: 'Search invoices, screens and actions',
  groups: { invoices: 'Invoices', screens: 'Screens', actions: 'Actions', site: 'Site' },
  profile: { security: 'Security', subscription: 'Subscription', preferences: 'Preferences' },
  team: 'Team: invite a colleague or an accountant',
  start: 'Start or stop daily reminders',
  sendNow: 'Send reminders now',
  remind: (client: string) => `Remind ${client} now…`,
  testMail: 'Send a test email',
  import: 'Import invoices from CSV',
  export: 'Export all invoices as CSV',
  exported: (name: string) => `${name} is in your downloads.`,
  exportFailed: (message: string) => `Couldn’t create the file. ${message}`,
  due: (date: string) => `due ${date}`,
  hint: 'Type a client, an email or a reference to find an invoice.',
  found: (n: number) => count(n, 'result'),
  loading: 'Loading invoices...',
  failed: (message: string) => `Error loading invoices: ${message}`,
  nothing: (typed: string) => `No results for "${typed}"`,
  keys: {
    title: 'Keyboard shortcuts',
    list: (): { does: string; press: string[] }[] => [
      { does: 'Search and commands', press: isMac() ? ['⌘', 'K'] : ['Ctrl', 'K'] },
      { does: 'Search invoices', press: ['/'] },
      { does: 'Create an invoice', press: ['N'] },
      { does: 'Move from search to the invoices', press: ['↓'] },
      { does: 'Move between invoices', press: ['←', '↑', '→', '↓'] },
      { does: 'Open the invoice', press: ['Enter'] },
      { does: 'Select the invoice', press: ['X'] },
      { does: 'Select a range', press: ['Shift', 'click'] },
      { does: 'Show these shortcuts', press: ['?'] },
    ],
    single: 'Single-key shortcuts',
    singleHint: 'Turn them off if you use voice input or press them by accident. The shortcut for search and commands keeps working.',
  },
}

/** Texts of a demo, loaded with its notice. */
export const demoTexts = {
  label: 'Demo',
  title: 'This is a demo',
  text: 'A year of a made-up studio. Change anything you like: no email leaves this machine, and no money moves.',
  start: 'Show me around',
  emails: 'See the emails',
  stop: (nth: number, of: number, title: string) => `${nth} of ${of}: ${title}`,
  next: (title: string) => `Next: ${title}`,
  end: 'End the tour',
  stops: [
    {
      screen: screens.dashboard,
      title: 'The due line',
      text: 'Each dot is an unpaid invoice on its due date; overdue ones are right of today. Click a dot to see its emails and payments.',
    },
    {
      screen: screens.sequences,
      title: 'Sequences',
      text: 'Reminders get firmer step by step, from friendly to final. Edit a step and see the emails of the next 30 days before you save.',
    },
    {
      screen: screens.reminderControl,
      title: 'Reminder Control',
      text: 'See what is sent next, what was sent before, and who is skipped and why. One button stops all reminders.',
    },
    {
      screen: screens.insights,
      title: 'Insights',
      text: 'See what you are owed, who pays late, and how much is likely to come in. Each figure shows how it’s calculated.',
    },
    {
      screen: screens.gettingPaid,
      title: 'Getting paid',
      text: 'Choose how clients can pay, and read their answers. Open an email and follow its pay link to see the client’s page. Paying there closes the invoice.',
    },
  ],
}

/** Texts of the list behind the bell, loaded with it. */
export const attentionTexts = {
  title: (count: number) => (count === 0 ? 'Notifications' : `${count} need${count === 1 ? 's' : ''} attention`),
  close: 'Close notifications',
  empty: 'All clear. Nothing needs your attention right now.',
  others: 'For your information',
  client: (name: string, reference: string) => `${name}, ${reference}`,
  reply: 'What the mail server replied',
  /** The accessible name of a button in a list of several. */
  about: (action: string, title: string) => `${action}: ${title}`,
  dismiss: 'Dismiss',
  dismissing: 'Dismissing...',
}
