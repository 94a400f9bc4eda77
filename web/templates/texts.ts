import type { GroupValues, TemplateVariable } from '#contract/templates.ts'
import { count } from '#web/ui/texts.ts'

export const texts = {
  title: 'Email Template Settings',
  subtitle: 'The subject and message of your reminder emails',
  tabs: { label: 'Kinds of email', one: 'One email per invoice', group: 'One email per client' },
  loading: 'Loading your template...',
  failed: (message: string) => `Couldn’t load the template. ${message}`,
  unconfigured: {
    title: 'Email is not configured',
    text: 'You can write your templates now. Emails are sent once you connect a mailbox.',
    action: 'Open Email Settings',
  },
  ungrouped: {
    text: 'Each invoice currently gets its own email. This template is used once you turn on “One email per client”.',
    action: 'Open Reminder Control',
  },
  custom: 'Use Custom Email Template',
  customHint: {
    one: 'Write your own subject and message. When off, the default is used.',
    group: 'Write the email that lists all overdue invoices of a client. When off, the default is used.',
  },
  preferenceFailed: (message: string) => `Failed to save template preference: ${message}`,
  wording: 'Your template',
  variables: 'Variables',
  variablesHint: 'Click a variable to insert it. It is filled in for each client.',
  insert: 'Insert ',
  meanings: {
    invoiceId: 'invoice number',
    clientName: 'client’s name',
    amount: 'amount still to pay',
    dueDate: 'due date',
    daysOverdue: 'days overdue',
    businessName: 'your business: your display name',
    userName: 'your name',
    invoiceAmount: 'amount of the invoice',
    paidAmount: 'amount paid so far',
    invoiceCount: 'number of invoices',
    totalAmount: 'total amount due',
    invoiceList: 'one line per invoice',
    payLink: 'link to the pay page',
  } satisfies Record<TemplateVariable | keyof GroupValues, string>,
  subject: 'Subject',
  content: 'Content',
  contentHint:
    'Line breaks are kept. You can use <b>, <i> and <u>; other HTML is removed, and listed below the preview. To show an amount large, put it in <strong> on its own line.',
  subjectMissing: 'Please enter a subject.',
  contentMissing: 'Please enter the text of the email.',
  save: 'Save Template',
  saving: 'Saving Template...',
  saved: 'Email template content updated successfully!',
  saveFailed: (message: string) => `Error updating template: ${message}`,
  reset: 'Reset',
  wasReset: 'Reset to the last saved template.',
  unsaved: 'Unsaved changes',
  /** Where two people change an email. */
  conflict: { customSubject: 'subject', customContent: 'text' },
  language: {
    label: 'Language',
    hint: 'Each client gets the text in their own language.',
    unsaved: 'Save or reset your changes to write in another language.',
    another: 'Another language…',
    tag: 'Language tag',
    tagHint: 'Such as sv for Swedish or en-US. Clients can have it once both emails are switched on in it.',
    write: 'Write in this language',
  },
  preview: {
    title: 'Preview',
    leftOut: (tags: string[]) => `Left out of the email: ${tags.join(', ')}`,
    sampleOnly: 'Shown with sample values, as the server formats them.',
    frame: 'The email as your client sees it',
    about: 'Preview with',
    aboutHint: {
      one: 'Invoices that are not overdue yet are shown as one day overdue.',
      group: 'Clients with more than one overdue invoice.',
    },
    aboutStep: 'Shown as on the day of this step.',
    sample: 'Sample values',
    loading: 'Loading invoices...',
    failed: (message: string) => `Couldn’t load your invoices. ${message}`,
    none: { one: 'No matching invoice.', group: 'No client has more than one overdue invoice.' },
    invoice: (reference: string, client: string, amount: string) => `${reference} · ${client} · ${amount}`,
    client: (client: string, invoices: number) => `${client} · ${invoices} invoices`,
    width: 'Preview width',
    desktop: 'Desktop',
    phone: 'Phone',
    from: 'From',
    to: 'To',
    copy: 'Copy',
    subject: 'Subject',
    tooLarge: 'This email would be larger than 1 MB and could not be sent. Shorten the template.',
    noSubject: '(no subject)',
    same: 'This is exactly what your client receives.',
  },
  reference: { custom: 'Default Template (for reference)', current: 'Current Template' },
}

/** Texts of Sequences and of the editor. */
export const editorTexts = {
  otherLanguage: 'Save or discard your changes to write in another language.',
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
  useForAll: 'Use for all',
  forAllClients: (name: string) => `Use for all clients: ${name}`,
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
    title: (number: number, of: number) => `Step ${number} of ${of}`,
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
    saveFirst: 'Save the sequence first.',
    faulty: 'Correct this step first.',
    about: 'With sample values, from your mailbox to you.',
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
  conflict: {
    fields: { name: 'name', steps: 'steps', everyDays: 'repetition', atMost: 'limit of emails', atLeast: 'days between two emails' },
    merged: 'Someone changed this sequence meanwhile. Your changes are on top of theirs now. Check the emails, then save again.',
    other: 'Nothing is saved yet: you see what would leave first.',
  },
}

/** `+14`, `−3`, `0` */
export function signed(offset: number): string {
  return offset > 0 ? `+${offset}` : offset < 0 ? `−${-offset}` : '0'
}

/** `44, 58 and 72 days` */
function listed(days: number[]): string {
  return days.length === 1 ? count(days[0] ?? 0, 'day') : `${days.slice(0, -1).join(', ')} and ${days.at(-1)} days`
}
