import type { InvoicePause, InvoiceStatus } from '#contract/invoices.ts'

const filterNames = { all: 'All', paid: 'Paid', unpaid: 'Unpaid', overdue: 'Overdue' } as const
export type Filter = keyof typeof filterNames

/** A number of invoices in words. */
export function invoicesOf(count: number): string {
  return count === 1 ? '1 invoice' : `${count.toLocaleString('en-IN')} invoices`
}

/** Every word of the dashboard and the invoice form. */
export const texts = {
  dashboard: {
    title: 'Dashboard',
    subtitle: 'Manage your invoices and reminders',
    create: 'Create Invoice',
    import: 'Import',
    importCsv: 'Import from CSV',
    loading: 'Loading invoices...',
    failed: (message: string) => `Error loading invoices: ${message}`,
    totals: { overdue: 'Overdue', soon: 'Due within 14 days', paid: 'Paid this month' },
    nothingOwed: 'Every invoice is paid. Nobody owes you anything today.',
    search: 'Search',
    clear: 'Clear search',
    filters: 'Filter by status',
    filter: (filter: Filter, count: number) => `${filterNames[filter]} (${count})`,
    invoices: 'Invoices',
  },
  view: { label: 'Show as', cards: 'Cards', list: 'List' },
  list: {
    columns: { client: 'Client', reference: 'Reference', amount: 'Amount', due: 'Due', status: 'Status', reminder: 'Last reminder' },
    selection: 'Selection',
    actions: 'Actions',
    never: 'None yet',
    refused: 'Refused',
    sortBy: 'Sort by',
    newest: 'Newest first',
    orders: {
      client: { ascending: 'Client, A to Z', descending: 'Client, Z to A' },
      reference: { ascending: 'Reference, lowest first', descending: 'Reference, highest first' },
      amount: { ascending: 'Amount, smallest first', descending: 'Amount, largest first' },
      due: { ascending: 'Due date, earliest first', descending: 'Due date, latest first' },
      status: { ascending: 'Status, overdue first', descending: 'Status, paid first' },
      reminder: { ascending: 'Last reminder, oldest first', descending: 'Last reminder, newest first' },
    },
    select: (reference: string, client: string) => `Select ${reference} of ${client}`,
  },
  exporting: {
    button: 'Export',
    busy: 'Exporting...',
    all: 'All invoices',
    shown: (count: number) => `Only the ${invoicesOf(count)} shown`,
    done: (name: string) => `${name} is in your downloads.`,
    failed: (message: string) => `The file could not be made. ${message}`,
  },
  none: { title: 'No invoices yet', text: 'Get started by creating your first invoice' },
  firstSteps: {
    title: 'Three things, once. Then mornings.',
    list: {
      invoice: { says: 'Write down what you are owed', more: 'or bring it in from a CSV file' },
      mailbox: { says: 'Connect your own mailbox', more: 'reminders come from your address', done: 'Connected' },
      start: { says: 'Press Start', more: 'you see first who is written to', done: 'Active' },
    },
  },
  schedule: {
    active: {
      says: (next: string | null) => (next === null ? 'Daily reminders are active.' : `Daily reminders are active, next run ${next}.`),
      to: '/dashboard/reminder-control',
      link: 'Reminder Control',
    },
    reasons: {
      schedule_inactive: {
        says: 'Daily reminders are not active: nobody is written to by itself.',
        to: '/dashboard/reminder-control',
        link: 'Start them',
      },
      not_configured: { says: 'No mailbox is connected, so no reminder leaves.', to: '/dashboard/mail-settings', link: 'Connect one' },
      sending_paused: { says: 'Sending is paused, so no reminder leaves.', to: '/dashboard/mail-settings', link: 'Email Settings' },
      plan: {
        says: 'Your plan has no daily reminders; you can send them by hand.',
        to: '/dashboard/reminder-control',
        link: 'Reminder Control',
      },
    },
  },
  noMatch: {
    title: 'No invoices found',
    text: (search: string, filter: Filter) => `No invoices match your search "${search}"${filter === 'all' ? '' : ` in ${filter} status`}`,
    byFilter: {
      unpaid: 'No unpaid invoices at the moment.',
      paid: 'No invoices have been marked as paid yet.',
      overdue: 'No overdue invoices found.',
    } satisfies Record<InvoiceStatus, string>,
    lateUnpaid: (count: number) =>
      count === 1
        ? '1 invoice is past due but still marked unpaid. It counts as overdue above, and is reminded all the same.'
        : `${invoicesOf(count)} are past due but still marked unpaid. They count as overdue above, and are reminded all the same.`,
    viewUnpaid: 'View unpaid invoices',
    clear: 'Clear search',
    viewAll: 'View all invoices',
  },
  status: { unpaid: 'Unpaid', paid: 'Paid', overdue: 'Overdue' } satisfies Record<InvoiceStatus, string>,
  card: {
    due: (date: string) => `Due ${date}`,
    ago: (days: number) => (days === 1 ? '1 day ago' : `${days} days ago`),
    today: 'today',
    ahead: (days: number) => (days === 1 ? 'in 1 day' : `in ${days} days`),
    reminded: (moment: string) => `Reminded ${moment}`,
    notReminded: 'No reminder yet',
    refused: 'Last reminder refused',
    paid: (date: string) => `Paid ${date}`,
    after: (reminders: number) => (reminders === 1 ? ' after 1 reminder' : ` after ${reminders} reminders`),
    menu: (reference: string, client: string) => `Actions for ${reference} of ${client}`,
    edit: 'Edit',
    markPaid: 'Mark as paid',
    markUnpaid: 'Mark as unpaid',
    pause: 'Pause reminders',
    changePause: 'Change the pause',
    resume: 'Resume reminders',
    remove: 'Delete',
    marked: (client: string, status: InvoiceStatus) =>
      status === 'paid' ? `${client} has paid. No more reminders go out for this invoice.` : `The invoice of ${client} is unpaid again.`,
    markFailed: (message: string) => `The invoice was not changed. ${message}`,
  },
  remove: {
    title: 'Delete this invoice?',
    text: (reference: string, client: string, amount: string) =>
      `${reference} of ${client}, ${amount}. No more reminders go out for it. You can undo this right afterwards.`,
    confirm: 'Delete',
    busy: 'Deleting...',
    done: (reference: string) => `${reference} deleted.`,
    undone: (reference: string) => `${reference} is back.`,
    undoFailed: (message: string) => `The invoice could not be brought back. ${message}`,
  },
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
