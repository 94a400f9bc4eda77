import { hookTrigger } from './hook.js'
import { paymentEvent, paymentEventFields } from './samples.js'

export const paymentRecorded = hookTrigger({
  key: 'payment_recorded',
  event: 'payment.recorded',
  noun: 'Payment',
  label: 'Payment Recorded',
  description: 'Triggers when a payment or refund of an invoice is recorded.',
  sample: paymentEvent('payment.recorded'),
  outputFields: paymentEventFields,
})
