import { hookTrigger } from './hook.js'
import { invoice, paymentEvent, paymentEventFields } from './samples.js'

export const paymentVoided = hookTrigger({
  key: 'payment_voided',
  event: 'payment.voided',
  noun: 'Payment',
  label: 'Payment Taken Back',
  description: 'Triggers when a recorded payment or refund is taken back.',
  sample: paymentEvent('payment.voided', { voidedAt: '2026-03-02T04:30:00Z' }, invoice),
  outputFields: paymentEventFields,
})
