import { defineCreate } from 'zapier-platform-core'
import { address } from '../duely.js'
import { invoice, invoiceFields } from '../triggers/samples.js'

export const markInvoicePaid = defineCreate({
  key: 'mark_invoice_paid',
  noun: 'Invoice',
  display: { label: 'Mark Invoice Paid', description: 'Marks an invoice as paid. No further reminders are sent for it.' },
  operation: {
    inputFields: [
      {
        key: 'invoiceId',
        label: 'Invoice ID',
        type: 'string',
        required: true,
        helpText: 'From a Duely trigger, or from an earlier step that finds the invoice.',
      },
    ],
    perform: async (z, bundle) => {
      const id = encodeURIComponent(String(bundle.inputData.invoiceId))
      const response = await z.request({ method: 'PATCH', url: `${address()}/invoice/${id}`, body: { status: 'paid' } })
      return response.data
    },
    sample: { ...invoice, status: 'paid', paidAt: '2026-03-02T04:30:00Z', amountPaid: 12250.5, balance: 0, paidOn: '2026-03-02' },
    outputFields: invoiceFields,
  },
})
