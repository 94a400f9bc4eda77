import type { InvoiceQuery } from '#contract/invoices.ts'
import type { Instant } from '#server/platform/clock.ts'
import { csvCell } from '#server/platform/csv.ts'
import type { Database } from '#server/platform/database.ts'
import { balanceMinor } from './balance.ts'
import { invoicePages } from './invoices.ts'
import { decimals } from './payments.ts'
import type { InvoiceRow } from './tables.ts'

type Cell = string | { number: string }

/** The columns use the words that the import recognizes, so that an exported file can be imported. */
const columns: [head: string, cell: (row: InvoiceRow, zone: string) => Cell][] = [
  ['Reference', (row) => row.reference],
  ['Client Name', (row) => row.clientName],
  ['Client Email', (row) => row.clientEmail],
  ['Amount', (row) => ({ number: decimals(row.amountMinor, row.currency) })],
  ['Currency', (row) => row.currency],
  ['Due Date', (row) => row.dueDate],
  ['Status', (row) => row.status],
  ['Created On', (row, zone) => dateIn(row.createdAt, zone)],
  ['Paid On', (row) => row.paidOn ?? ''],
  ['Reminders Sent', (row) => ({ number: String(row.remindersSent) })],
  ['Last Reminder', (row, zone) => dateIn(row.lastReminderAt, zone)],
  ['Issued On', (row) => row.issuedOn],
  ['Amount Paid', (row) => ({ number: decimals(row.paidMinor, row.currency) })],
  ['Balance', (row) => ({ number: decimals(balanceMinor(row), row.currency) })],
]

/**
 * The invoices as a CSV file (RFC 4180) in UTF-8 with a byte order mark, without which Excel reads it as Latin-1. Dates are in the given
 * zone.
 */
export async function* exportInvoices(db: Database, ownerId: string, query: InvoiceQuery, zone: string): AsyncGenerator<string> {
  const line = (cells: string[]) => `${cells.join(',')}\r\n`
  yield `\uFEFF${line(columns.map(([head]) => csvCell(head)))}`
  for await (const page of invoicePages(db, ownerId, query))
    yield page.map((row) => line(columns.map(([, cell]) => written(cell(row, zone))))).join('')
}

/** `duely-invoices-2026-03-02.csv`, with the local date of the account. */
export function exportName(what: 'invoices' | 'payments', now: Instant, zone: string): string {
  return `duely-${what}-${dateIn(now, zone)}.csv`
}

function written(cell: Cell): string {
  return typeof cell === 'string' ? csvCell(cell) : cell.number
}

function dateIn(instant: Instant | null, zone: string): string {
  return instant?.toZonedDateTimeISO(zone).toPlainDate().toString() ?? ''
}
