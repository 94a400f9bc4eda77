import zapier, { defineApp } from 'zapier-platform-core'
import { authentication } from './authentication.js'
import { createInvoice } from './creates/create-invoice.js'
import { markInvoicePaid } from './creates/mark-invoice-paid.js'
import { recordPayment } from './creates/record-payment.js'
import { reportBounce } from './creates/report-bounce.js'
import { triggerReminders } from './creates/trigger-reminders.js'
import packageJson from './package.json' with { type: 'json' }
import { explainRefusal, sendToken } from './requests.js'
import { findInvoice } from './searches/find-invoice.js'
import { clientAnswered } from './triggers/client-answered.js'
import { invoiceCreated } from './triggers/invoice-created.js'
import { invoiceOverdue } from './triggers/invoice-overdue.js'
import { invoicePaid } from './triggers/invoice-paid.js'
import { paymentRecorded } from './triggers/payment-recorded.js'
import { paymentVoided } from './triggers/payment-voided.js'
import { promiseBroken } from './triggers/promise-broken.js'
import { reminderBounced } from './triggers/reminder-bounced.js'
import { reminderFailed } from './triggers/reminder-failed.js'
import { reminderSent } from './triggers/reminder-sent.js'
import { sequenceEnded } from './triggers/sequence-ended.js'

export default defineApp({
  version: packageJson.version,
  platformVersion: zapier.version,
  authentication,
  beforeRequest: [sendToken],
  afterResponse: [explainRefusal],
  triggers: {
    [invoiceCreated.key]: invoiceCreated,
    [invoiceOverdue.key]: invoiceOverdue,
    [invoicePaid.key]: invoicePaid,
    [paymentRecorded.key]: paymentRecorded,
    [paymentVoided.key]: paymentVoided,
    [clientAnswered.key]: clientAnswered,
    [sequenceEnded.key]: sequenceEnded,
    [promiseBroken.key]: promiseBroken,
    [reminderSent.key]: reminderSent,
    [reminderFailed.key]: reminderFailed,
    [reminderBounced.key]: reminderBounced,
  },
  creates: {
    [createInvoice.key]: createInvoice,
    [markInvoicePaid.key]: markInvoicePaid,
    [recordPayment.key]: recordPayment,
    [triggerReminders.key]: triggerReminders,
    [reportBounce.key]: reportBounce,
  },
  searches: {
    [findInvoice.key]: findInvoice,
  },
})
