import { defineCreate } from 'zapier-platform-core'
import { address } from '../duely.js'
import { invoice, invoiceFields } from '../triggers/samples.js'

export const createInvoice = defineCreate({
  key: 'create_invoice',
  noun: 'Invoice',
  display: { label: 'Create Invoice', description: 'Creates an invoice. This sends no email.' },
  operation: {
    inputFields: [
      { key: 'clientName', label: 'Client Name', type: 'string', required: true },
      { key: 'clientEmail', label: 'Client Email', type: 'string', required: true, helpText: 'Reminders are sent to this address.' },
      { key: 'amount', label: 'Amount', type: 'number', required: true, helpText: 'A number such as 12250.50.' },
      {
        key: 'currency',
        label: 'Currency',
        type: 'string',
        required: false,
        helpText: 'A currency code such as INR or EUR. Default: the currency of your Duely account.',
      },
      { key: 'dueDate', label: 'Due Date', type: 'datetime', required: true, helpText: 'The last day to pay. The time of day is ignored.' },
      {
        key: 'idempotencyKey',
        label: 'Source ID',
        type: 'string',
        required: true,
        helpText:
          'Identifies what this invoice is for, such as the order number. Within a day, the same value creates only one invoice, even if Zapier repeats the step.',
      },
      {
        key: 'reference',
        label: 'Reference',
        type: 'string',
        required: false,
        helpText: 'A unique short number. Default: the next free one, such as INV-0042.',
      },
      {
        key: 'status',
        label: 'Status',
        type: 'string',
        required: false,
        choices: { unpaid: 'Unpaid', paid: 'Paid', overdue: 'Overdue' },
        helpText: 'Default: unpaid.',
      },
    ],
    perform: async (z, bundle) => {
      const { idempotencyKey, ...body } = bundle.inputData
      const response = await z.request({
        method: 'POST',
        url: `${address()}/invoice`,
        headers: { 'idempotency-key': String(idempotencyKey) },
        body: { ...body, amount: Number(body.amount) },
      })
      return response.data
    },
    sample: invoice,
    outputFields: invoiceFields,
  },
})
