import { invoiceCalls } from '#contract/invoices.ts'
import { reminderCalls } from '#contract/reminders.ts'

/** What a pause, and its end, makes out of date. */
export const changedByPause = [
  invoiceCalls.list,
  invoiceCalls.read,
  reminderCalls.history,
  reminderCalls.preview,
  reminderCalls.status,
  reminderCalls.run,
]
