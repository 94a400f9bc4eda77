import { hookTrigger } from './hook.js'
import { reminderEvent, reminderEventFields } from './samples.js'

export const reminderFailed = hookTrigger({
  key: 'reminder_failed',
  event: 'reminder.failed',
  noun: 'Reminder',
  label: 'Reminder Failed',
  description: 'Triggers when a reminder to a client has permanently failed.',
  sample: reminderEvent(
    'reminder.failed',
    { sentAt: null, serverReply: '550 5.1.1 No such user' },
    {
      notDelivered: {
        since: '2026-03-02T04:30:00Z',
        code: 'address',
        words: 'address doesn’t exist',
        reply: '550 5.1.1 No such user',
      },
    },
  ),
  outputFields: reminderEventFields,
})
