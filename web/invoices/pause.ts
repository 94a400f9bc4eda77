import type { Invoice } from '#contract/invoices.ts'
import { showDate } from '#web/ui/dates.ts'
import { invoiceTexts } from './texts.ts'

/** The scope, promise and note of a pause, a sentence each. */
export function describePause({ pause, clientEmail }: Pick<Invoice, 'pause' | 'clientEmail'>): string[] {
  if (pause === null) return []
  return [
    pause.scope === 'client' ? invoiceTexts.pause.which.client(clientEmail) : invoiceTexts.pause.which.invoice,
    ...(pause.promised && pause.until !== null ? [invoiceTexts.pause.promise(showDate(pause.until))] : []),
    ...(pause.note === '' ? [] : [pause.note]),
  ]
}

/** A paid invoice is not shown as paused: it gets no reminders anyway. */
export function isPaused({ pause, status }: Pick<Invoice, 'pause' | 'status'>): boolean {
  return pause !== null && status !== 'paid'
}
