import { defineCreate } from 'zapier-platform-core'
import { address } from '../duely.js'

export const reportBounce = defineCreate({
  key: 'report_bounce',
  noun: 'Reminder',
  display: {
    label: 'Report Returned Reminder',
    description: 'Reports that a reminder came back to your mailbox. Reminders to its address are held until you correct it.',
  },
  operation: {
    inputFields: [
      {
        key: 'messageId',
        label: 'Message ID',
        type: 'string',
        required: true,
        helpText: 'The Message-ID or X-Reminder-Id of the reminder, as the returned email quotes it.',
      },
    ],
    perform: async (z, bundle) => {
      const body = { messageId: bundle.inputData.messageId }
      const response = await z.request({ method: 'POST', url: `${address()}/api/bounces`, body })
      return response.data
    },
    sample: { _id: '019caccf-7128-7e78-9b81-d5a3c17e9042', clientEmail: 'billing@kaveri.example', held: true },
    outputFields: [
      { key: '_id', label: 'Email ID', type: 'string' },
      { key: 'clientEmail', label: 'Client Email', type: 'string' },
      { key: 'held', label: 'Address On Hold', type: 'boolean' },
    ],
  },
})
