import { count } from '#web/ui/texts.ts'

export const findingTexts = {
  allPaid: 'All invoices are paid.',
  nothingLate: 'Nothing is overdue',
  next: (name: string, amount: string, days: number) => `Next: ${name}, ${amount}, due ${days <= 0 ? 'today' : `in ${count(days, 'day')}`}`,
  onlyOne: (name: string) => `Only ${name} is overdue`,
  owes: (name: string, percent: number) => `${name} owes ${percent}% of what is overdue`,
  details: (amount: string, invoices: number, days: number) =>
    `${amount} in ${invoices === 1 ? 'one invoice' : `${invoices} invoices`}${days === 0 ? '' : `, ${invoices === 1 ? '' : 'up to '}${count(days, 'day')} late`}`,
  older: (percent: number, days: number) => `${percent}% of what is overdue is more than ${days} days late`,
  three: (percent: number) => `Three clients owe ${percent}% of what is overdue`,
  spread: (clients: number) => `${count(clients, 'client')} share what is overdue`,
  oldest: (name: string, amount: string, days: number) => `The oldest: ${name}, ${amount}, ${count(days, 'day')} late`,
  names: (names: string[]) => `${names.slice(0, -1).join(', ')} and ${names.at(-1) ?? ''}`,
}
