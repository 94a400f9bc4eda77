import { hookTrigger } from './hook.js'
import { reminderEvent, reminderEventFields } from './samples.js'

export const reminderSent = hookTrigger({
  key: 'reminder_sent',
  event: 'reminder.sent',
  noun: 'Reminder',
  label: 'Reminder Sent',
  description: 'Triggers when your mail server accepts a reminder to a client.',
  sample: reminderEvent('reminder.sent'),
  outputFields: reminderEventFields,
})
