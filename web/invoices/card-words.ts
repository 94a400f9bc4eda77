import type { Invoice } from '#contract/invoices.ts'
import { capitalized, dateIn, daysBetween, showDate, showMoment } from '#web/ui/dates.ts'
import { isPaused } from './pause-words.ts'
import { texts } from './texts.ts'

/** `Due 02/11/2026, 18 days ago`; of a paid invoice only the date. */
export function dueWords(invoice: Invoice, today: string): string {
  const days = daysWords(invoice, today)
  return `${texts.card.due(showDate(invoice.dueDate))}${days === '' ? '' : `, ${days}`}`
}

/** `18 days ago`, `today` or `in 8 days`; of a paid invoice nothing. */
export function daysWords({ dueDate, status }: Invoice, today: string): string {
  if (status === 'paid') return ''
  const { card } = texts
  const days = daysBetween(today, dueDate)
  return days === 0 ? card.today : days > 0 ? card.ahead(days) : card.ago(-days)
}

/** What the mail server said where the last reminder of an invoice that is still owed never arrived. */
export function refusalOf({ status, refusal }: Invoice): string | null {
  return status === 'paid' ? null : refusal
}

/** The line at the foot: what happened last. */
export function footWords(invoice: Invoice, zone: string | undefined, now: Date): string {
  const { card } = texts
  if (invoice.status === 'paid' && invoice.paidAt !== null) {
    const paid = card.paid(showDate(dateIn(zone, new Date(invoice.paidAt))))
    return invoice.remindersSent > 0 ? `${paid}${card.after(invoice.remindersSent)}` : paid
  }
  if (refusalOf(invoice) !== null) return card.refused
  return invoice.lastReminderAt === null ? card.notReminded : card.reminded(showMoment(zone, new Date(invoice.lastReminderAt), now))
}

/** The same in a cell of the list: until when it is paused, that the last reminder was refused, or when it was. */
export function reminderWords(invoice: Invoice, zone: string | undefined, now: Date): string {
  const { list, pause } = texts
  if (invoice.pause !== null && isPaused(invoice)) return pause.pill(invoice.pause.until === null ? null : showDate(invoice.pause.until))
  if (refusalOf(invoice) !== null) return list.refused
  return invoice.lastReminderAt === null ? list.never : capitalized(showMoment(zone, new Date(invoice.lastReminderAt), now))
}
