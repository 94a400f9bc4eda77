import type { InvoiceQuery } from '#contract/invoices.ts'
import type { Instant } from '#server/platform/clock.ts'
import { csvCell } from '#server/platform/csv.ts'
import type { Database } from '#server/platform/database.ts'
import { listInvoices } from './invoices.ts'
import type { InvoiceRow } from './tables.ts'

type Cell = string | { number: string }

/** The columns of the file, in the words that the import guesses by: what was exported can be imported again. */
const columns: [head: string, cell: (row: InvoiceRow, zone: string) => Cell][] = [
  ['Reference', (row) => row.reference],
  ['Client Name', (row) => row.clientName],
  ['Client Email', (row) => row.clientEmail],
  ['Amount', (row) => ({ number: rupees(row.amountMinor) })],
  ['Due Date', (row) => row.dueDate],
  ['Status', (row) => row.status],
  ['Created On', (row, zone) => dateIn(row.createdAt, zone)],
  ['Paid On', (row, zone) => dateIn(row.paidAt, zone)],
  ['Reminders Sent', (row) => ({ number: String(row.remindersSent) })],
  ['Last Reminder', (row, zone) => dateIn(row.lastReminderAt, zone)],
]

/** The invoices as a CSV file (RFC 4180) in UTF-8 with a byte order mark, without which Excel takes it for Latin-1. Dates are those of the zone. */
export async function exportInvoices(db: Database, ownerId: string, query: InvoiceQuery, zone: string): Promise<string> {
  const { page } = await listInvoices(db, ownerId, query)
  const lines = [columns.map(([head]) => csvCell(head)), ...page.map((row) => columns.map(([, cell]) => written(cell(row, zone))))]
  return `\uFEFF${lines.map((cells) => `${cells.join(',')}\r\n`).join('')}`
}

/** `duely-invoices-2026-03-02.csv`, by the date where the account lives. */
export function exportName(now: Instant, zone: string): string {
  return `duely-invoices-${dateIn(now, zone)}.csv`
}

function written(cell: Cell): string {
  return typeof cell === 'string' ? csvCell(cell) : cell.number
}

function rupees(minor: number): string {
  return `${Math.trunc(minor / 100)}.${String(minor % 100).padStart(2, '0')}`
}

function dateIn(instant: Instant | null, zone: string): string {
  return instant?.toZonedDateTimeISO(zone).toPlainDate().toString() ?? ''
}
