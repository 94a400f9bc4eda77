import { screens } from '#contract/screens.ts'
import { isMac } from '#web/ui/hooks.ts'
import { count } from '#web/ui/texts.ts'

/** Texts of the palette and the shortcuts dialog, loaded with them. */
export const paletteTexts = {
  placeholder: 'Search invoices, screens and actions',
  groups: { invoices: 'Invoices', screens: 'Screens', actions: 'Actions', site: 'Site' },
  profile: { security: 'Security', subscription: 'Subscription', preferences: 'Preferences' },
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
  text: 'A year of an invented studio. Change what you like: nothing leaves this machine, and no money is moved.',
  start: 'Show me around',
  emails: 'Open its emails',
  stop: (nth: number, of: number, title: string) => `${nth} of ${of}: ${title}`,
  next: (title: string) => `Next: ${title}`,
  end: 'End the tour',
  stops: [
    {
      screen: screens.dashboard,
      title: 'The due line',
      text: 'Each open invoice is a dot on its due date: what is late is left of today. Open one to see every email about it, and what was paid.',
    },
    {
      screen: screens.sequences,
      title: 'Sequences',
      text: 'Who hears what, and when: a friendly note first, a final one at the end. Move a step, and the next 30 days change before you save.',
    },
    {
      screen: screens.reminderControl,
      title: 'Reminder Control',
      text: 'What leaves next and what left today, who is left out and why. One button stops everything.',
    },
    {
      screen: screens.insights,
      title: 'Insights',
      text: 'What is owed, who pays late, and what is likely to come in. Each figure shows how it was worked out.',
    },
    {
      screen: screens.gettingPaid,
      title: 'Getting paid',
      text: 'How clients pay, and what they say. Open the emails and follow the link of one: that is the page a client sees. Paying there closes the invoice.',
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
