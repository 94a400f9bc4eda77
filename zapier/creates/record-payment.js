import { defineCreate } from 'zapier-platform-core'
import { address } from '../duely.js'
import { partPaidInvoice, payment, recordedFields } from '../triggers/samples.js'

export const recordPayment = defineCreate({
  key: 'record_payment',
  noun: 'Payment',
  display: {
    label: 'Record Payment',
    description: 'Records a payment of an invoice. Reminders then ask for the rest, and end once nothing is left.',
  },
  operation: {
    inputFields: [
      {
        key: 'invoiceId',
        label: 'Invoice ID',
        type: 'string',
        required: true,
        helpText: 'From a Duely trigger, or from an earlier step that finds the invoice.',
      },
      { key: 'amount', label: 'Amount', type: 'number', required: true, helpText: 'What was paid, in the currency of the invoice.' },
      {
        key: 'idempotencyKey',
        label: 'Source ID',
        type: 'string',
        required: true,
        helpText:
          'Identifies the payment, such as its number at the bank. The same value records only one payment, even if Zapier repeats the step.',
      },
      {
        key: 'paidOn',
        label: 'Paid On',
        type: 'datetime',
        required: false,
        helpText: 'The day of the payment. Default: today. The time of day is ignored.',
      },
      {
        key: 'method',
        label: 'Method',
        type: 'string',
        required: false,
        choices: { upi: 'UPI', bank: 'Bank', card: 'Card', cash: 'Cash', cheque: 'Cheque', online: 'Online', other: 'Other' },
      },
      { key: 'reference', label: 'Payment Reference', type: 'string', required: false, helpText: 'Such as a UTR. At most 80 characters.' },
      { key: 'note', label: 'Note', type: 'text', required: false, helpText: 'For you, never sent to the client.' },
    ],
    perform: async (z, bundle) => {
      const { idempotencyKey, invoiceId, ...body } = bundle.inputData
      const response = await z.request({
        method: 'POST',
        url: `${address()}/invoice/${encodeURIComponent(String(invoiceId))}/payments`,
        headers: { 'idempotency-key': String(idempotencyKey) },
        body: { ...body, amount: Number(body.amount) },
      })
      return { id: response.data.payment._id, ...response.data }
    },
    sample: { id: payment._id, payment: { ...payment, origin: 'program' }, invoice: partPaidInvoice },
    outputFields: [{ key: 'id', label: 'ID', type: 'string' }, ...recordedFields],
  },
})
