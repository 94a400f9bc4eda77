import { dayOf } from '#web/platform/sequences/texts.ts'
import { count } from '#web/ui/texts.ts'

/** Texts of Sequences and of the editor. */
export const texts = {
  title: 'Sequences',
  subtitle: 'Who hears what, and when',
  loading: 'Loading sequences...',
  failed: (message: string) => `Couldn’t load your sequences. ${message}`,
  none: {
    title: 'No sequence of your own yet',
    text: 'Until you make one, clients are reminded every day.',
  },
  start: (name: string) => `Start from ${name}`,
  startEmpty: 'Start with one step',
  another: 'Another sequence',
  tooMany: (most: number) => `An account can have ${most} sequences. Delete one that you do not use.`,
  own: 'Your sequences',
  builtIn: 'Built in',
  useForAll: 'Use for all clients',
  edit: 'Edit',
  editNamed: (name: string) => `Edit ${name}`,
  editTexts: 'Edit the email',
  remove: 'Delete',
  removeNamed: (name: string) => `Delete ${name}`,

  deleting: {
    title: (name: string) => `Delete ${name}?`,
    unused: 'No client and no invoice uses it.',
    used: (invoices: number, clients: number) => `${count(invoices, 'invoice')} and ${count(clients, 'client')} use it. Use instead:`,
    usedByAll: 'Every client without a sequence of their own uses it. Use instead:',
    cancel: 'Cancel',
    confirm: 'Delete',
    busy: 'Deleting...',
    done: 'Sequence deleted.',
  },

  back: 'Sequences',
  gone: 'Sequence not found',
  toSequences: 'Go to Sequences',
  newTitle: 'New sequence',
  name: 'Name',
  unused: 'Not used yet. Choose it in Reminder Control, for a client or for an invoice.',
  isBuiltIn: {
    title: 'This sequence is built in',
    text: 'It can’t be changed. The text of its email is your email template.',
    action: 'Open Email Templates',
  },

  score: {
    never: 'A client who never pays hears nothing from you',
    title: (emails: number, days: number) =>
      emails === 1
        ? 'A client who never pays hears from you once'
        : `A client who never pays hears from you ${emails} times in ${count(days, 'day')}`,
    endless: (emails: number, days: number, every: number) =>
      `A client who never pays hears from you ${emails === 1 ? 'once' : `${emails} times in ${count(days, 'day')}`}, then ${every === 1 ? 'every day' : `every ${every} days`}`,
    help: 'Drag a step sideways for the day, up for the tone. Or type the day. Arrow keys do both.',
    add: 'Add a step',
    asList: 'As a list',
    asScore: 'As a line',
    steps: 'Steps',
    step: (number: number, day: string, tone: string) => `Step ${number}: ${day}, ${tone}. Arrow keys change the day and the tone.`,
    day: (number: number) => `Day of step ${number}, from the due date`,
    was: (offset: number) => `was ${signed(offset)}`,
    repeats: (days: number) => count(days, 'day'),
    repeated: (every: number, days: string) => ({ title: every === 1 ? 'Then every day' : `Then every ${every} days`, text: days }),
    until: (days: number[], ends: boolean) => `${listed(days)} after${ends ? ', then it stops' : ' and so on'}`,
    silent: (steps: number, most: number) =>
      `${steps === 1 ? 'One step never leaves' : `${steps} steps never leave`}: at most ${count(most, 'email')}.`,
    overtaken: (steps: number, days: number) =>
      `${steps === 1 ? 'One step never leaves' : `${steps} steps never leave`}: at least ${count(days, 'day')} between two emails.`,
  },
  rules: {
    every: ['Then every', 'days'],
    most: ['At most', 'emails'],
    least: ['At least', 'days between two emails'],
    everyLabel: 'Then every … days',
    mostLabel: 'At most … emails',
    leastLabel: 'At least … days between two emails',
    none: 'never',
    noLimit: 'no limit',
    early: 'A sequence that ends on or before the due date is not repeated.',
  },

  step: {
    title: (number: number, of: number, offset: number) => `Step ${number} of ${of}, ${lower(dayOf(offset))}`,
    remove: 'Remove',
    day: 'Day',
    earlier: 'One day earlier',
    later: 'One day later',
    was: (offset: number) => `was ${signed(offset)}`,
    tone: 'Tone',
    about: 'Text for',
    one: 'One invoice',
    group: 'Several',
    subject: 'Subject',
    content: 'Text',
    copyToMe: 'Copy to me',
    copyToSecond: 'Copy to the second contact',
    secondHint: 'Clients without a second contact get the email alone.',
    faultOf: { one: 'in the text for one invoice', group: 'in the text for several' },
    otherFault: (message: string, where: string) => `${message} (${where})`,
  },
  preview: 'What they read',
  copies: { me: 'you', second: 'second contact' },
  test: {
    send: 'Send me a test',
    sending: 'Sending...',
    sent: (to: string) => `Test email sent to ${to}.`,
    saveFirst: 'Save first: the test email has the saved text.',
    about: 'With made-up values, from your mailbox to yourself.',
  },
  next: {
    title: 'Next to get this step',
    none: 'No client in the next 30 days.',
    more: (n: number) => `and ${n.toLocaleString('en-IN')} more`,
  },

  save: {
    label: 'Save',
    busy: 'Saving...',
    discard: 'Discard',
    checking: 'Save: checking the plan...',
    done: 'Sequence saved.',
    notChosen: (message: string) => `The sequence is saved. It could not be chosen for all clients: ${message}`,
    forAll: 'Use it for every client without a sequence of their own',
    forAllHint: 'Otherwise choose it later for a client or an invoice.',
    saved: 'No unsaved changes',
    wrong: (message: string) => `Not ready to save: ${message}`,
  },
}

/** `+14`, `−3`, `0` */
export function signed(offset: number): string {
  return offset > 0 ? `+${offset}` : offset < 0 ? `−${-offset}` : '0'
}

function lower(words: string): string {
  return words.charAt(0).toLowerCase() + words.slice(1)
}

/** `44, 58 and 72 days` */
function listed(days: number[]): string {
  return days.length === 1 ? count(days[0] ?? 0, 'day') : `${days.slice(0, -1).join(', ')} and ${days.at(-1)} days`
}
