import type { InvoiceStatus } from '#contract/invoices.ts'

const filterNames = { all: 'All', paid: 'Paid', unpaid: 'Unpaid', overdue: 'Overdue' } as const
export type Filter = keyof typeof filterNames

/** Every word of the dashboard and the invoice form. */
export const texts = {
  dashboard: {
    title: 'Dashboard',
    subtitle: 'Manage your invoices and reminders',
    create: 'Create Invoice',
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
  none: { title: 'No invoices yet', text: 'Get started by creating your first invoice' },
  noMatch: {
    title: 'No invoices found',
    text: (search: string, filter: Filter) => `No invoices match your search "${search}"${filter === 'all' ? '' : ` in ${filter} status`}`,
    byFilter: {
      unpaid: 'No unpaid invoices at the moment.',
      paid: 'No invoices have been marked as paid yet.',
      overdue: 'No overdue invoices found.',
    } satisfies Record<InvoiceStatus, string>,
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
    paid: (date: string) => `Paid ${date}`,
    after: (reminders: number) => (reminders === 1 ? ' after 1 reminder' : ` after ${reminders} reminders`),
    menu: (reference: string, client: string) => `Actions for ${reference} of ${client}`,
    edit: 'Edit',
    markPaid: 'Mark as paid',
    markUnpaid: 'Mark as unpaid',
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
    undo: 'Undo',
    undone: (reference: string) => `${reference} is back.`,
    undoFailed: (message: string) => `The invoice could not be brought back. ${message}`,
  },
  form: {
    create: {
      title: 'Create Invoice',
      subtitle: 'Fill in the details to create a new invoice',
      submit: 'Create Invoice',
      busy: 'Creating Invoice...',
      referenceHint: 'Leave it empty to have one made, such as INV-0001.',
    },
    edit: {
      title: 'Edit Invoice',
      subtitle: 'Update invoice details',
      submit: 'Update Invoice',
      busy: 'Updating Invoice...',
      referenceHint: null,
    },
    loading: 'Loading invoice details...',
    failed: (message: string) => `Failed to load invoice: ${message}`,
    clientName: 'Client Name',
    clientEmail: 'Client Email',
    amount: 'Amount',
    dueDate: 'Due Date',
    status: 'Status',
    reference: 'Reference',
    cancel: 'Cancel',
  },
}
