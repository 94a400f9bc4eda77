import type { InvoiceStatus } from '#contract/invoices.ts'
import { screens } from '#contract/screens.ts'
import { count } from '#web/ui/texts.ts'

const filterNames = { all: 'All', paid: 'Paid', unpaid: 'Unpaid', overdue: 'Overdue' } as const
export type Filter = keyof typeof filterNames

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
    nothingOwed: 'All invoices are paid.',
    search: 'Search',
    clear: 'Clear search',
    filters: 'Filter by status',
    filter: (filter: Filter, invoices: number) => `${filterNames[filter]} (${invoices})`,
    invoices: 'Invoices',
  },
  view: { label: 'Show as', cards: 'Cards', list: 'List' },
  list: {
    columns: { client: 'Client', reference: 'Reference', amount: 'Amount', due: 'Due', status: 'Status', reminder: 'Last reminder' },
    selection: 'Selection',
    actions: 'Actions',
    never: 'Not sent yet',
    refused: 'Rejected',
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
    select: (reference: string, client: string) => `Select ${reference}, ${client}`,
  },
  exporting: {
    button: 'Export',
    busy: 'Exporting...',
    all: 'All invoices',
    shown: (invoices: number) => `Only the ${count(invoices, 'invoice')} shown`,
    done: (name: string) => `${name} is in your downloads.`,
    failed: (message: string) => `Couldn't export the invoices. ${message}`,
  },
  none: { title: 'No invoices yet', text: 'Get started by creating your first invoice' },
  schedule: {
    active: {
      text: (next: string | null) => (next === null ? 'Daily reminders are on.' : `Daily reminders are on. Next run ${next}.`),
      to: screens.reminderControl,
      link: 'Reminder Control',
    },
    reasons: {
      schedule_inactive: {
        text: 'Daily reminders are off. No emails are sent automatically.',
        to: screens.reminderControl,
        link: 'Start reminders',
      },
      operator: {
        text: 'On hold by the operator of this server: no reminders are sent until they resume your account. Contact them to find out why.',
        to: screens.reminderControl,
        link: 'Reminder Control',
      },
      email_not_confirmed: {
        text: 'Your email is not confirmed, so no reminders are sent.',
        to: screens.reminderControl,
        link: 'Confirm your email',
      },
      not_configured: {
        text: 'No mailbox is connected, so no reminders are sent.',
        to: screens.mailSettings,
        link: 'Connect a mailbox',
      },
      sending_paused: { text: 'Sending is paused, so no reminders are sent.', to: screens.mailSettings, link: 'Email Settings' },
      plan: {
        text: "Your plan doesn't include daily reminders. You can send them yourself.",
        to: screens.reminderControl,
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
    lateUnpaid: (invoices: number) =>
      `${count(invoices, 'invoice is', 'invoices are')} past due but still marked unpaid. ${invoices === 1 ? 'It is' : 'They are'} included in Overdue above and in reminders.`,
    viewUnpaid: 'View unpaid invoices',
    clear: 'Clear search',
    viewAll: 'View all invoices',
  },
  card: {
    due: (date: string) => `Due ${date}`,
    ago: (days: number) => `${count(days, 'day')} ago`,
    today: 'today',
    ahead: (days: number) => `in ${count(days, 'day')}`,
    reminded: (moment: string) => `Reminded ${moment}`,
    notReminded: 'No reminder yet',
    refused: 'Last reminder rejected',
    paid: (date: string) => `Paid ${date}`,
    after: (reminders: number) => ` after ${count(reminders, 'reminder')}`,
    menu: (reference: string, client: string) => `Actions for ${reference}, ${client}`,
    edit: 'Edit',
    markPaid: 'Mark as paid',
    markUnpaid: 'Mark as unpaid',
    pause: 'Pause reminders',
    changePause: 'Change pause',
    resume: 'Resume reminders',
    remove: 'Delete',
    marked: (client: string, status: InvoiceStatus) =>
      status === 'paid'
        ? `Invoice for ${client} marked as paid. No more reminders are sent for it.`
        : `Invoice for ${client} marked as unpaid.`,
    markFailed: (message: string) => `Couldn't update the invoice. ${message}`,
  },
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
  bulk: {
    label: 'Selected invoices',
    selected: (invoices: number) => `${invoices.toLocaleString('en-IN')} selected`,
    all: (invoices: number) => `Select all ${invoices.toLocaleString('en-IN')}`,
    clear: 'Clear selection',
    paid: 'Mark as paid',
    pause: 'Pause',
    remove: 'Delete',
    working: 'Saving...',
    marked: (invoices: number) => `${count(invoices, 'invoice')} marked as paid.`,
    paused: (invoices: number, until: string | null) => `${count(invoices, 'invoice')} paused${until === null ? '' : ` until ${until}`}.`,
    undone: (invoices: number) => `Change undone for ${count(invoices, 'invoice')}.`,
    partly: (failed: number, message: string) => `Couldn't change ${count(failed, 'invoice')}. ${message}`,
    failed: (message: string) => `Nothing was changed. ${message}`,
    nothingOpen: 'All selected invoices are already paid.',
    removeTitle: (invoices: number) => `Delete ${count(invoices, 'invoice')}?`,
    removeText: (amount: string) => `Total ${amount}. No more reminders are sent for them. You can undo this right after.`,
  },
}
