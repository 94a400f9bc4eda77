import { hookTrigger } from './hook.js'
import { invoiceEvent, invoiceEventFields } from './samples.js'

export const invoicePaid = hookTrigger({
  key: 'invoice_paid',
  event: 'invoice.paid',
  noun: 'Invoice',
  label: 'Invoice Paid',
  description: 'Triggers when an invoice is paid in full.',
  sample: invoiceEvent('invoice.paid', {
    status: 'paid',
    paidAt: '2026-03-02T04:30:00Z',
    amountPaid: 12250.5,
    balance: 0,
    paidOn: '2026-03-02',
  }),
  outputFields: invoiceEventFields,
})
