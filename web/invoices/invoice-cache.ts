import { accountCalls } from '#contract/accounts.ts'
import { type Invoice, invoiceCalls } from '#contract/invoices.ts'
import { noticeCalls } from '#contract/notices.ts'
import { reminderCalls } from '#contract/reminders.ts'
import type { ApiCache } from '#web/platform/query.ts'

/** Puts a created, changed or restored invoice into the list, which is newest first, and under its own key. */
export function writeInvoice(cache: ApiCache, invoice: Invoice): void {
  cache.write(invoiceCalls.read, invoice, { params: { id: invoice._id } })
  cache.update(invoiceCalls.list, (list) => {
    if (list.some(({ _id }) => _id === invoice._id)) return list.map((one) => (one._id === invoice._id ? invoice : one))
    const older = list.findIndex(({ createdAt }) => createdAt <= invoice.createdAt)
    return list.toSpliced(older < 0 ? list.length : older, 0, invoice)
  })
}

/** Takes a deleted invoice out of the list. */
export function removeInvoice(cache: ApiCache, id: string): void {
  cache.update(invoiceCalls.list, (list) => list.filter(({ _id }) => _id !== id))
}

/** The queries that a change of an invoice, or a payment, makes out of date: its next reminder follows from it, and what was received. */
export const changeInvalidates = [invoiceCalls.list, invoiceCalls.read, reminderCalls.history, reminderCalls.preview, accountCalls.stats]

/** The queries that a pause, or its end, makes out of date. */
export const pauseInvalidates = [...changeInvalidates, reminderCalls.status, reminderCalls.run, noticeCalls.list]
