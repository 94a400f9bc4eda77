import type { Age } from '#contract/insights.ts'

export const analyticsName = 'Advanced analytics'

/** The first lines of the CSV files. */
export const heads = {
  ageing: ['Currency', 'Age', 'Amount', 'Invoices'],
  clients: ['Client Name', 'Client Email', 'Currency', 'Overdue', 'Open', 'Paid Invoices', 'Mean Days Late', 'On Time %'],
  effect: [
    'Reminder',
    'Sent',
    'Paid Within 3 Days',
    'Paid Within 7 Days',
    'Within 3 Days From %',
    'Within 3 Days To %',
    'Within 7 Days From %',
    'Within 7 Days To %',
  ],
  forecast: ['Currency', 'Week', 'Median', 'Low', 'High'],
  trend: ['Currency', 'Month', 'Receivables', 'DSO', 'CEI %', 'On Time %'],
  promises: ['Client Name', 'Client Email', 'Kept', 'Broken', 'Mean Days Over'],
}

export const ageNames: Record<Age, string> = {
  notDue: 'Not due',
  to30: '1–30 days late',
  to60: '31–60 days late',
  to90: '61–90 days late',
  over90: '90+ days late',
}
