import { hookTrigger } from './hook.js'
import { reminderEvent, reminderEventFields } from './samples.js'

export const reminderBounced = hookTrigger({
  key: 'reminder_bounced',
  event: 'reminder.bounced',
  noun: 'Reminder',
  label: 'Reminder Came Back',
  description: 'Triggers when a reminder to a client was reported as returned to your mailbox.',
  sample: reminderEvent(
    'reminder.bounced',
    {},
    {
      notDelivered: {
        since: '2026-03-02T04:30:00Z',
        code: 'bounced',
        words: 'it came back',
        reply: 'Came back: the email was returned to your mailbox.',
      },
      addressHold: {
        since: '2026-03-02T04:30:00Z',
        words: 'An email to billing@kaveri.example came back. Correct the address to resume.',
        reply: 'Came back: the email was returned to your mailbox.',
      },
    },
  ),
  outputFields: reminderEventFields,
})
