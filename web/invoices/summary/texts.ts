import { count } from '#web/ui/texts.ts'

/** Texts above the form of an invoice. */
export const summaryTexts = {
  label: 'Summary',
  toPay: 'owed',
  stillToPay: (amount: string) => `still to pay of ${amount}`,
  part: 'Part paid',
  paid: (date: string | null) => (date === null ? 'paid' : `paid ${date}`),
  next: 'Next reminder',
  remind: 'Remind now…',
  markPaid: 'Mark as paid',
  markUnpaid: 'Mark as unpaid',
  pause: 'Pause',
  resume: 'Resume',
  resuming: 'Resuming...',
  changePause: 'Change pause',
  duplicate: 'Duplicate',
  remove: 'Delete',
  tryAddress: 'Try again',
  trying: 'Trying...',
  tried: (email: string) => `Reminders to ${email} have resumed.`,
  correct: 'Correct address',
  reply: (reply: string) => `The mail server replied: ${reply}`,
  line: {
    created: (date: string) => `created ${date}`,
    due: (date: string) => `due ${date}`,
    paid: (date: string) => `paid ${date}`,
    part: (amount: string) => `${amount} paid`,
    today: 'today',
    next: 'next',
    reminders: (reminders: number) => count(reminders, 'reminder'),
  },
}
