import type { InvoicePause, InvoiceStatus } from '#contract/invoices.ts'
import type { PreviewLine } from '#contract/reminders.ts'
import { count } from '#web/ui/texts.ts'

/** What a client said on a pay page, in a few words. */
const said = { says_paid: 'Says paid', promised: 'Promised', question: 'Question', wrong_person: 'Wrong person' } satisfies Record<
  Exclude<InvoicePause['because'], 'owner'>,
  string
>

/** Texts that several screens of this slice share. */
export const invoiceTexts = {
  answer: {
    says: {
      /** `amount` null: its currency is not the invoice’s any more. */
      paid: (amount: string | null, date: string) => (amount === null ? `Says paid on ${date}` : `Says paid: ${amount} on ${date}`),
      promise: (date: string) => `Will pay by ${date}`,
      question: 'Asks a question',
      wrong_person: 'Says: wrong person',
    },
    states: { open: 'Open', accepted: 'Accepted', declined: 'Declined', replaced: 'Replaced', ended: 'Ended' },
  },
  status: { unpaid: 'Unpaid', paid: 'Paid', overdue: 'Overdue' } satisfies Record<InvoiceStatus, string>,
  state: {
    paid: 'Paid',
    paidOn: (date: string) => `Paid ${date}`,
    after: (reminders: number) => ` after ${count(reminders, 'reminder')}`,
    address: 'Address doesn’t exist. Correct it to resume.',
    cameBack: 'The last email came back. Correct the address to resume.',
    broken: 'Promised to pay and hasn’t.',
    notDelivered: (days: number, words: string) => `Not delivered${days < 1 ? '' : ` for ${count(days, 'day')}`}: ${words}`,
    reminded: (moment: string) => `Reminded ${moment}`,
    first: (moment: string) => `First reminder ${moment}`,
    notReminded: 'No reminder yet',
    held: 'On hold: address',
    emailHeld: 'On hold',
    notPlanned: 'Not scheduled',
    noNext: {
      schedule_inactive: 'Off',
      operator: 'On hold',
      email_not_confirmed: 'On hold',
      not_configured: 'No mailbox',
      sending_paused: 'On hold',
      plan: 'On hold',
      open_mail: 'Being sent',
      paused: 'Paused',
      address_held: 'On hold: address',
      ended: 'All steps over',
      never: 'Off',
    } satisfies Record<NonNullable<PreviewLine['reason']>, string>,
  },
  acting: {
    payLink: {
      copy: 'Copy pay link',
      copied: 'Pay link copied.',
      noAddress: 'Clients cannot reach this server, so reminders show how to pay without a pay page.',
    },
    marked: (reference: string, status: InvoiceStatus) =>
      status === 'paid' ? `${reference} is paid. No more reminders go out for it.` : `${reference} is marked as ${status}.`,
    markedBack: (reference: string, status: InvoiceStatus) => `${reference} is ${status} again.`,
    markFailed: (message: string) => `Couldn't update the invoice. ${message}`,
    remove: {
      title: 'Delete this invoice?',
      text: (reference: string, client: string, amount: string) =>
        `${reference} for ${client}, ${amount}. No more reminders are sent for it. You can undo this right after.`,
      action: 'Delete',
      busy: 'Deleting...',
      done: (reference: string) => `${reference} deleted.`,
      undone: (reference: string) => `${reference} restored.`,
      undoFailed: (message: string) => `Couldn't restore the invoice. ${message}`,
    },
  },
  deleted: (invoices: number) => `${count(invoices, 'invoice')} deleted.`,
  undoFailed: (message: string) => `Couldn't undo this. ${message}`,
  pause: {
    title: 'Pause reminders',
    change: 'Change pause',
    about: (reference: string, client: string) => `${reference}, ${client}`,
    scope: 'Applies to',
    scopes: {
      invoice: 'This invoice',
      client: (email: string) => `All invoices of ${email}`,
    },
    scopeKept: {
      invoice: 'Applies to this invoice only.',
      client: (email: string) => `Applies to all invoices of ${email}.`,
    } satisfies Record<InvoicePause['scope'], unknown>,
    length: 'Duration',
    until: 'Until a date',
    forGood: 'Until I resume them',
    lastDay: 'Paused through',
    lastDayHint: 'Reminders resume the next day.',
    chooseDay: 'Please choose the last day of the pause.',
    pastDay: 'Please choose today or a later day.',
    promised: 'Client promised to pay by this date',
    promisedHint: "We'll alert you if they don't.",
    note: 'Note',
    noteHint: 'Only you can see it.',
    submit: 'Pause reminders',
    save: 'Save pause',
    busy: 'Pausing...',
    cancel: 'Cancel',
    bulkTitle: (invoices: number) => `Pause reminders for ${count(invoices, 'invoice')}`,
    paidLeftOut: (invoices: number) => `${count(invoices, 'paid invoice is', 'paid invoices are')} skipped.`,
    done: (reference: string, until: string | null) => `Reminders for ${reference} paused${untilDate(until)}.`,
    doneClient: (email: string, until: string | null) => `All reminders to ${email} paused${untilDate(until)}.`,
    pill: (until: string | null, because: InvoicePause['because'] = 'owner') =>
      because === 'owner' ? `Paused${untilDate(until)}` : `${said[because]}: paused${untilDate(until)}`,
    said,
    because: {
      says_paid: 'The client says that it is paid.',
      promised: null,
      question: 'The client has a question, or says that it is wrong.',
      wrong_person: 'The client says that it is for another person.',
    } satisfies Record<Exclude<InvoicePause['because'], 'owner'>, string | null>,
    seeAnswer: 'See what the client says',
    state: (until: string | null) => (until === null ? 'Paused until you resume' : `Paused until ${until}`),
    which: {
      invoice: 'Reminders are paused for this invoice.',
      client: (email: string) => `Reminders are paused for all invoices of ${email}.`,
    },
    promise: (until: string) => `Client promised to pay by ${until}.`,
    resume: 'Resume reminders',
    resumeBusy: 'Resuming...',
    resumed: (reference: string) => `Reminders for ${reference} have resumed.`,
    resumedClient: (email: string) => `Reminders to ${email} have resumed.`,
    stillPaused: (email: string) => `This invoice is no longer paused, but all invoices of ${email} still are.`,
    resumeFailed: (message: string) => `Couldn't resume the reminders. ${message}`,
    resumeTitle: 'Resume reminders to this client?',
    resumeText: (email: string) => `Reminders resume for all invoices of ${email}.`,
  },
}

function untilDate(until: string | null): string {
  return until === null ? '' : ` until ${until}`
}
