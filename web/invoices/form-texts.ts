/** Every word of the invoice form. */
export const formTexts = {
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
  gone: 'This invoice is not there',
  failed: (message: string) => `Failed to load invoice: ${message}`,
  toDashboard: 'Go to the dashboard',
  clientName: 'Client Name',
  clientEmail: 'Client Email',
  amount: 'Amount',
  dueDate: 'Due Date',
  noDate: 'Please enter a date such as 31/03/2026.',
  status: 'Status',
  reference: 'Reference',
  cancel: 'Cancel',
}
