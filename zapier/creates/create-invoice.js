import { defineCreate } from 'zapier-platform-core'
import { address } from '../duely.js'
import { invoice, invoiceFields } from '../triggers/samples.js'

export const createInvoice = defineCreate({
  key: 'create_invoice',
  noun: 'Invoice',
  display: { label: 'Create Invoice', description: 'Writes down an invoice. Nobody is written to because of it.' },
  operation: {
    inputFields: [
      { key: 'clientName', label: 'Client Name', type: 'string', required: true },
      { key: 'clientEmail', label: 'Client Email', type: 'string', required: true, helpText: 'Where reminders go.' },
      { key: 'amount', label: 'Amount', type: 'number', required: true, helpText: 'Rupees, with at most two decimals.' },
      { key: 'dueDate', label: 'Due Date', type: 'datetime', required: true, helpText: 'The last day to pay. A time of day is left out.' },
      {
        key: 'idempotencyKey',
        label: 'Made From',
        type: 'string',
        required: true,
        helpText:
          'What this invoice is made from, such as the number of the order. Within a day the same one makes one invoice only, however often Zapier repeats the step.',
      },
      {
        key: 'reference',
        label: 'Reference',
        type: 'string',
        required: false,
        helpText: 'A short number that no other invoice has. Left out: the next free one, such as INV-0042.',
      },
      {
        key: 'status',
        label: 'Status',
        type: 'string',
        required: false,
        choices: { unpaid: 'Unpaid', paid: 'Paid', overdue: 'Overdue' },
        helpText: 'Left out: unpaid.',
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
