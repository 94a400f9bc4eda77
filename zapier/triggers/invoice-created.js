import { hookTrigger } from './hook.js'
import { invoiceEvent, invoiceEventFields } from './samples.js'

export const invoiceCreated = hookTrigger({
  key: 'invoice_created',
  event: 'invoice.created',
  noun: 'Invoice',
  label: 'New Invoice',
  description: 'Triggers when an invoice is created.',
  sample: invoiceEvent('invoice.created'),
  outputFields: invoiceEventFields,
})
