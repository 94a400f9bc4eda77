import { isMac } from './use-shortcuts.ts'

/** Every word of the palette and of the keys, which are loaded when they are first wanted. */
export const paletteTexts = {
  placeholder: 'Search invoices, screens and actions',
  groups: { invoices: 'Invoices', screens: 'Screens', actions: 'Actions', site: 'Site' },
  profile: { security: 'Security', subscription: 'Subscription', preferences: 'Preferences' },
  start: 'Start or stop daily reminders',
  sendNow: 'Send reminders now',
  testMail: 'Send a test mail',
  import: 'Import invoices from CSV',
  export: 'Export all invoices as CSV',
  exported: (name: string) => `${name} is in your downloads.`,
  exportFailed: (message: string) => `The file could not be made. ${message}`,
  due: (date: string) => `due ${date}`,
  hint: 'Type a client, an email or a reference to find an invoice.',
  found: (count: number) => (count === 1 ? '1 result' : `${count} results`),
  nothing: (typed: string) => `Nothing is called "${typed}".`,
  keys: {
    title: 'Keyboard shortcuts',
    list: (): { does: string; press: string[] }[] => [
      { does: 'Search and commands', press: isMac() ? ['⌘', 'K'] : ['Ctrl', 'K'] },
      { does: 'Search invoices', press: ['/'] },
      { does: 'Create an invoice', press: ['N'] },
      { does: 'From the search to the invoices', press: ['↓'] },
      { does: 'From one invoice to the next', press: ['←', '↑', '→', '↓'] },
      { does: 'Open the invoice', press: ['Enter'] },
      { does: 'Select the invoice', press: ['X'] },
      { does: 'Select everything in between', press: ['Shift', 'click'] },
      { does: 'Show these shortcuts', press: ['?'] },
    ],
    single: 'Single-key shortcuts',
    singleHint: 'Turn them off if you speak to your computer or they get in your way. Ctrl K keeps working.',
  },
}
