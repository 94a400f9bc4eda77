import { hookTrigger } from './hook.js'
import { invoiceEvent, invoiceEventFields } from './samples.js'

export const sequenceEnded = hookTrigger({
  key: 'sequence_ended',
  event: 'sequence.ended',
  noun: 'Invoice',
  label: 'Sequence Ended',
  description: 'Triggers when an invoice has had all reminders of its sequence and is still open.',
  sample: invoiceEvent('sequence.ended', { status: 'overdue' }),
  outputFields: invoiceEventFields,
})
