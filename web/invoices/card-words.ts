import type { Invoice } from '#contract/invoices.ts'
import { dateIn, daysBetween, showDate, showMoment } from '#web/ui/dates.ts'
import { texts } from './texts.ts'

/** `Due 02/11/2026, 18 days ago`; of a paid invoice only the date. */
export function dueWords({ dueDate, status }: Invoice, today: string): string {
  const { card } = texts
  const due = card.due(showDate(dueDate))
  if (status === 'paid') return due
  const days = daysBetween(today, dueDate)
  return `${due}, ${days === 0 ? card.today : days > 0 ? card.ahead(days) : card.ago(-days)}`
}

/** The line at the foot: what happened last. */
export function footWords(invoice: Invoice, zone: string | undefined, now: Date): string {
  const { card } = texts
  if (invoice.status === 'paid' && invoice.paidAt !== null) {
    const paid = card.paid(showDate(dateIn(zone, new Date(invoice.paidAt))))
    return invoice.remindersSent > 0 ? `${paid}${card.after(invoice.remindersSent)}` : paid
  }
  return invoice.lastReminderAt === null ? card.notReminded : card.reminded(showMoment(zone, new Date(invoice.lastReminderAt), now))
}
