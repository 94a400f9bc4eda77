import { hookTrigger } from './hook.js'
import { invoiceEvent, invoiceEventFields } from './samples.js'

export const promiseBroken = hookTrigger({
  key: 'promise_broken',
  event: 'promise.broken',
  noun: 'Invoice',
  label: 'Promise Broken',
  description: 'Triggers when the day by which a client promised to pay is over and the invoice is still open.',
  sample: invoiceEvent('promise.broken', { status: 'overdue' }),
  outputFields: invoiceEventFields,
})
