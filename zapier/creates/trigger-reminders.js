import { defineCreate } from 'zapier-platform-core'
import { address } from '../duely.js'

export const triggerReminders = defineCreate({
  key: 'trigger_reminders',
  noun: 'Reminder',
  display: {
    label: 'Trigger Reminders',
    description: 'Emails every client with an overdue invoice, at most once a day per invoice.',
  },
  operation: {
    inputFields: [],
    perform: async (z) => {
      const response = await z.request({ method: 'POST', url: `${address()}/api/trigger-reminders` })
      return response.data
    },
    sample: {
      count: 1,
      failed: 0,
      skipped: 0,
      retrying: 0,
      total: 1,
      invoices: 1,
      runId: '019caccf-7120-73f8-9afa-6b2d4e8c0f11',
      failures: [],
    },
    outputFields: [
      { key: 'count', label: 'Accepted by the Mail Server', type: 'integer' },
      { key: 'failed', label: 'Failed', type: 'integer' },
      { key: 'skipped', label: 'Skipped', type: 'integer' },
      { key: 'retrying', label: 'Retrying', type: 'integer' },
      { key: 'total', label: 'Emails in Total', type: 'integer' },
      { key: 'invoices', label: 'Invoices', type: 'integer' },
      { key: 'runId', label: 'Run ID', type: 'string' },
      { key: 'failures[]clientEmail', label: 'Failures Client Email', type: 'string' },
      { key: 'failures[]message', label: 'Failures Mail Server Reply', type: 'string' },
      { key: 'failures[]invoiceId', label: 'Failures Invoice ID', type: 'string' },
    ],
  },
})
