import { count } from '#web/ui/texts.ts'

/** Texts above the form of an invoice. */
export const summaryTexts = {
  label: 'Summary',
  toPay: 'to pay',
  paid: (date: string | null) => (date === null ? 'paid' : `paid ${date}`),
  next: 'Next reminder',
  markPaid: 'Mark as paid',
  markUnpaid: 'Mark as unpaid',
  pause: 'Pause',
  resume: 'Resume',
  changePause: 'Change pause',
  duplicate: 'Duplicate',
  remove: 'Delete',
  reply: (reply: string) => `The mail server replied: ${reply}`,
  line: {
    created: (date: string) => `created ${date}`,
    due: (date: string) => `due ${date}`,
    paid: (date: string) => `paid ${date}`,
    today: 'today',
    next: 'next',
    reminders: (reminders: number) => count(reminders, 'reminder'),
  },
}
