import type { Invoice } from '#contract/invoices.ts'
import { showDate } from '#web/ui/dates.ts'
import { invoiceTexts } from './texts.ts'

/** What a pause says besides until when: about what it is, what was promised, and the note. Of an invoice that is not paused nothing. */
export function describePause({ pause, clientEmail }: Pick<Invoice, 'pause' | 'clientEmail'>): string[] {
  if (pause === null) return []
  return [
    pause.scope === 'client' ? invoiceTexts.pause.which.client(clientEmail) : invoiceTexts.pause.which.invoice,
    ...(pause.promised && pause.until !== null ? [invoiceTexts.pause.promise(showDate(pause.until))] : []),
    ...(pause.note === '' ? [] : [pause.note]),
  ]
}

/** Whether the screens say that it is paused: once it is paid, no reminder goes out anyway. */
export function isPaused({ pause, status }: Pick<Invoice, 'pause' | 'status'>): boolean {
  return pause !== null && status !== 'paid'
}
