/** @import { Field } from './hook.js' */

/** An invoice in events and responses. */
export const invoice = {
  _id: '019caccf-6940-7a41-8f25-3c9e5b7d1a60',
  clientName: 'Kaveri Foods',
  clientEmail: 'billing@kaveri.example',
  amount: 12250.5,
  currency: 'INR',
  language: null,
  issuedOn: '2026-03-02',
  dueDate: '2026-02-20',
  status: 'unpaid',
  reference: 'INV-0001',
  createdAt: '2026-03-02T04:30:00Z',
  updatedAt: '2026-03-02T04:30:00Z',
  version: 1,
  paidAt: null,
  amountPaid: 0,
  balance: 12250.5,
  overpaid: 0,
  paidOn: null,
  hasFile: false,
  remindersSent: 0,
  lastReminderAt: null,
  refusal: null,
  pause: null,
  notDelivered: null,
  addressHold: null,
  sequence: null,
}

/** @type {Field[]} */
export const invoiceFields = [
  { key: '_id', label: 'Invoice ID', type: 'string' },
  { key: 'reference', label: 'Reference', type: 'string' },
  { key: 'clientName', label: 'Client Name', type: 'string' },
  { key: 'clientEmail', label: 'Client Email', type: 'string' },
  { key: 'amount', label: 'Amount', type: 'number' },
  { key: 'currency', label: 'Currency', type: 'string' },
  { key: 'language', label: 'Language', type: 'string' },
  { key: 'issuedOn', label: 'Issued On', type: 'string' },
  { key: 'dueDate', label: 'Due Date', type: 'string' },
  { key: 'status', label: 'Status', type: 'string' },
  { key: 'createdAt', label: 'Created At', type: 'datetime' },
  { key: 'updatedAt', label: 'Updated At', type: 'datetime' },
  { key: 'version', label: 'Version', type: 'integer' },
  { key: 'paidAt', label: 'Paid At', type: 'datetime' },
  { key: 'amountPaid', label: 'Amount Paid', type: 'number' },
  { key: 'balance', label: 'Balance', type: 'number' },
  { key: 'overpaid', label: 'Overpaid', type: 'number' },
  { key: 'paidOn', label: 'Paid On', type: 'string' },
  { key: 'hasFile', label: 'Has a PDF', type: 'boolean' },
  { key: 'remindersSent', label: 'Reminders Sent', type: 'integer' },
  { key: 'lastReminderAt', label: 'Last Reminder At', type: 'datetime' },
  { key: 'refusal', label: 'Why the Last Reminder Was Refused', type: 'string' },
  { key: 'sequence', label: 'Sequence', type: 'string' },
  { key: 'notDelivered__since', label: 'Not Delivered Since', type: 'datetime' },
  { key: 'notDelivered__code', label: 'Not Delivered Code', type: 'string' },
  { key: 'notDelivered__words', label: 'Why Not Delivered', type: 'string' },
  { key: 'notDelivered__reply', label: 'Not Delivered Mail Server Reply', type: 'string' },
  { key: 'addressHold__since', label: 'Address Held Since', type: 'datetime' },
  { key: 'addressHold__words', label: 'Why the Address Is Held', type: 'string' },
  { key: 'addressHold__reply', label: 'Address Held Mail Server Reply', type: 'string' },
]

/**
 * The same fields at a deeper path.
 * @param {string} path as Zapier writes it: `data__invoice__`, or `data__invoices[]`
 * @param {Field[]} fields
 * @param {string} [before] prefix of the labels
 */
function within(path, fields, before = '') {
  return fields.map(({ key, label, type }) => ({ key: `${path}${key}`, label: `${before}${label}`, ...(type ? { type } : {}) }))
}

/** @type {Field[]} */
const eventFields = [
  { key: 'id', label: 'Event ID', type: 'string' },
  { key: 'type', label: 'Event', type: 'string' },
  { key: 'timestamp', label: 'Occurred At', type: 'datetime' },
]

/** @type {Field[]} */
export const invoiceEventFields = [...eventFields, ...within('data__invoice__', invoiceFields)]

/**
 * @param {string} type
 * @param {Partial<Record<keyof typeof invoice, unknown>>} [change]
 */
export function invoiceEvent(type, change = {}) {
  return {
    id: '019caccf-8f44-7b90-8c3d-2e6a1f95d7c8',
    type,
    timestamp: '2026-03-02T04:30:00Z',
    data: { invoice: { ...invoice, ...change } },
  }
}

/** A payment in events and responses. */
export const payment = {
  _id: '019caccf-7a02-7c15-a1de-64b0f29d8e37',
  invoiceId: invoice._id,
  kind: 'payment',
  origin: 'by_hand',
  amount: 5000,
  currency: 'INR',
  paidOn: '2026-03-01',
  method: 'upi',
  reference: '606012345678',
  note: '',
  recordedAt: '2026-03-02T04:30:00Z',
  voidedAt: null,
}

/** The invoice of that payment. */
export const partPaidInvoice = { ...invoice, amountPaid: 5000, balance: 7250.5 }

/** @type {Field[]} */
export const paymentFields = [
  { key: '_id', label: 'Payment ID', type: 'string' },
  { key: 'invoiceId', label: 'Invoice ID', type: 'string' },
  { key: 'kind', label: 'Kind', type: 'string' },
  { key: 'origin', label: 'Origin', type: 'string' },
  { key: 'amount', label: 'Amount', type: 'number' },
  { key: 'currency', label: 'Currency', type: 'string' },
  { key: 'paidOn', label: 'Paid On', type: 'string' },
  { key: 'method', label: 'Method', type: 'string' },
  { key: 'reference', label: 'Payment Reference', type: 'string' },
  { key: 'note', label: 'Note', type: 'string' },
  { key: 'recordedAt', label: 'Recorded At', type: 'datetime' },
  { key: 'voidedAt', label: 'Taken Back At', type: 'datetime' },
]

/** @type {Field[]} */
export const recordedFields = [...within('payment__', paymentFields), ...within('invoice__', invoiceFields, 'Invoice ')]

/** @type {Field[]} */
export const paymentEventFields = [
  ...eventFields,
  ...within('data__payment__', paymentFields),
  ...within('data__invoice__', invoiceFields, 'Invoice '),
]

/** @type {Field[]} */
const reminderFields = [
  { key: '_id', label: 'Email ID', type: 'string' },
  { key: 'runId', label: 'Run ID', type: 'string' },
  { key: 'kind', label: 'Kind of Run', type: 'string' },
  { key: 'clientEmail', label: 'Client Email', type: 'string' },
  { key: 'subject', label: 'Subject', type: 'string' },
  { key: 'attempt', label: 'Attempt', type: 'integer' },
  { key: 'sentAt', label: 'Sent At', type: 'datetime' },
  { key: 'serverReply', label: 'Mail Server Reply', type: 'string' },
  { key: 'sequence', label: 'Sequence', type: 'string' },
  { key: 'step', label: 'Step, in Days from the Due Date', type: 'integer' },
]

/**
 * @param {string} type
 * @param {Partial<Record<keyof typeof payment, unknown>>} [change]
 * @param {Record<string, unknown>} [after] its invoice
 */
export function paymentEvent(type, change = {}, after = partPaidInvoice) {
  return {
    id: '019caccf-8f44-7b90-8c3d-2e6a1f95d7c8',
    type,
    timestamp: '2026-03-02T04:30:00Z',
    data: { payment: { ...payment, ...change }, invoice: after },
  }
}

/** @type {Field[]} */
const answerFields = [
  { key: '_id', label: 'Answer ID', type: 'string' },
  { key: 'invoiceId', label: 'Invoice ID', type: 'string' },
  { key: 'kind', label: 'What the Client Said', type: 'string' },
  { key: 'at', label: 'Answered At', type: 'datetime' },
  { key: 'date', label: 'Date', type: 'string' },
  { key: 'amount', label: 'Amount Paid', type: 'number' },
  { key: 'reference', label: 'Payment Reference', type: 'string' },
  { key: 'message', label: 'Message', type: 'string' },
  { key: 'name', label: 'Name of the Right Person', type: 'string' },
  { key: 'email', label: 'Email of the Right Person', type: 'string' },
  { key: 'state', label: 'State', type: 'string' },
  { key: 'pausedUntil', label: 'Reminders Paused Until', type: 'string' },
]

/** @type {Field[]} */
export const answerEventFields = [
  ...eventFields,
  ...within('data__answer__', answerFields),
  ...within('data__invoice__', invoiceFields, 'Invoice '),
]

/** A client says that they will pay. */
export const answerEvent = {
  id: '019caccf-8f44-7b90-8c3d-2e6a1f95d7c8',
  type: 'client.answered',
  timestamp: '2026-03-02T04:30:00Z',
  data: {
    answer: {
      _id: '019caccf-7b31-7f52-9c40-5a18e3d7b264',
      invoiceId: invoice._id,
      kind: 'promise',
      at: '2026-03-02T04:30:00Z',
      date: '2026-03-09',
      amount: null,
      reference: '',
      message: '',
      name: '',
      email: '',
      state: 'open',
      pausedUntil: '2026-03-09',
    },
    invoice: { ...invoice, pause: { until: '2026-03-09', note: '', promised: true, scope: 'invoice', because: 'promised' } },
  },
}

/** @type {Field[]} */
export const reminderEventFields = [
  ...eventFields,
  ...within('data__reminder__', reminderFields),
  ...within('data__invoices[]', invoiceFields, 'Invoices '),
  { key: 'data__invoiceCount', label: 'Number of Invoices', type: 'integer' },
]

/**
 * @param {string} type
 * @param {Record<string, unknown>} [change]
 * @param {Partial<Record<keyof typeof invoice, unknown>>} [invoiceChange]
 */
export function reminderEvent(type, change = {}, invoiceChange = {}) {
  const reminder = {
    _id: '019caccf-7128-7e78-9b81-d5a3c17e9042',
    runId: '019caccf-7120-73f8-9afa-6b2d4e8c0f11',
    kind: 'daily',
    clientEmail: invoice.clientEmail,
    subject: 'Invoice INV-0001 from Asha Rao: ₹12,250.50 was due on 20/02/2026',
    attempt: 1,
    sentAt: '2026-03-02T04:30:00Z',
    serverReply: '250 2.0.0 Accepted',
    sequence: null,
    step: null,
    ...change,
  }
  const event = { id: '019caccf-8f44-7b90-8c3d-2e6a1f95d7c8', type, timestamp: '2026-03-02T04:30:00Z' }
  return { ...event, data: { reminder, invoices: [{ ...invoice, ...invoiceChange }], invoiceCount: 1 } }
}
