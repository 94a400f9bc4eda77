import type { InvoicePause, InvoiceStatus } from '#contract/invoices.ts'

/** A number of invoices in words. */
export function invoicesOf(count: number): string {
  return count === 1 ? '1 invoice' : `${count.toLocaleString('en-IN')} invoices`
}

/** The texts that several screens of invoices share. */
export const invoiceTexts = {
  status: { unpaid: 'Unpaid', paid: 'Paid', overdue: 'Overdue' } satisfies Record<InvoiceStatus, string>,
  pause: {
    title: 'Pause reminders',
    change: 'Change the pause',
    changeButton: 'Change',
    about: (reference: string, client: string) => `${reference} of ${client}`,
    scope: 'Which reminders',
    scopes: {
      invoice: 'This invoice',
      client: (email: string) => `All invoices of ${email}`,
    },
    onlyOne: 'The other invoices of this client are reminded as before.',
    scopeKept: {
      invoice: 'The pause is about this invoice alone.',
      client: (email: string) => `The pause is about all invoices of ${email}.`,
    } satisfies Record<InvoicePause['scope'], unknown>,
    length: 'How long',
    until: 'Until a date',
    forGood: 'For good, until I resume them',
    lastDay: 'Last quiet day',
    lastDayHint: 'Reminders go on the day after.',
    chooseDay: 'Please choose the last quiet day.',
    pastDay: 'Please choose today or a later day.',
    promised: 'They promised to pay by this date',
    promisedHint: 'If it is still unpaid afterwards, you are told.',
    note: 'Note',
    noteHint: 'For yourself; the client does not see it.',
    submit: 'Pause reminders',
    save: 'Save the pause',
    bulkTitle: (count: number) => `Pause reminders of ${invoicesOf(count)}`,
    paidLeftOut: (count: number) =>
      count === 1
        ? 'One of the selected is paid already and left out.'
        : `${count.toLocaleString('en-IN')} of the selected are paid already and left out.`,
    busy: 'Pausing...',
    cancel: 'Cancel',
    done: (reference: string, until: string | null) =>
      until === null ? `The reminders of ${reference} are paused.` : `The reminders of ${reference} are paused until ${until}.`,
    doneClient: (email: string, until: string | null) =>
      until === null ? `All reminders to ${email} are paused.` : `All reminders to ${email} are paused until ${until}.`,
    pill: (until: string | null) => (until === null ? 'Paused' : `Paused until ${until}`),
    state: (until: string | null) => (until === null ? 'Paused for good' : `Paused until ${until}`),
    which: {
      invoice: 'This invoice is not reminded.',
      client: (email: string) => `No invoice of ${email} is reminded.`,
    },
    promise: (until: string) => `They promised to pay by ${until}.`,
    resume: 'Resume reminders',
    resumeBusy: 'Resuming...',
    resumed: (reference: string) => `The reminders of ${reference} go on.`,
    resumedClient: (email: string) => `The reminders to ${email} go on.`,
    stillPaused: (email: string) => `The pause of this invoice is over, but all invoices of ${email} are paused.`,
    resumeFailed: (message: string) => `The reminders are still paused. ${message}`,
    resumeTitle: 'Resume reminders to this client?',
    resumeText: (email: string) => `All invoices of ${email} are reminded again.`,
  },
}
