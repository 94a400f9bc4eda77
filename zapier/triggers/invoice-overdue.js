import { hookTrigger } from './hook.js'
import { invoiceEvent, invoiceEventFields } from './samples.js'

export const invoiceOverdue = hookTrigger({
  key: 'invoice_overdue',
  event: 'invoice.overdue',
  noun: 'Invoice',
  label: 'Invoice Overdue',
  description: 'Triggers when the due date of an unpaid invoice has passed.',
  sample: invoiceEvent('invoice.overdue', { status: 'overdue' }),
  outputFields: invoiceEventFields,
})
