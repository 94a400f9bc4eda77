import { and, eq, sql } from 'drizzle-orm'
import { decimalsOf } from '#contract/currencies.ts'
import { type InvoiceQuery, searchInvoices } from '#contract/invoices.ts'
import { fromMinor } from '#contract/money.ts'
import type { Instant } from '#server/platform/clock.ts'
import { csvCell } from '#server/platform/csv.ts'
import type { Database } from '#server/platform/database.ts'
import { balanceMinor, newestPayments } from './balance.ts'
import { invoicePages, toInvoice } from './invoices.ts'
import { readClients } from './pauses.ts'
import { type InvoiceRow, invoicePayments, invoices, type PaymentRow } from './tables.ts'

/** Payments read at a time. */
const chunk = 500

type Cell = string | { number: string }
type Columns<Row> = [head: string, cell: (row: Row, zone: string) => Cell][]

/** The columns use the words that the import recognizes, so that an exported file can be imported. */
const invoiceColumns: Columns<InvoiceRow> = [
  ['Reference', (row) => row.reference],
  ['Client Name', (row) => row.clientName],
  ['Client Email', (row) => row.clientEmail],
  ['Amount', (row) => amount(row.amountMinor, row.currency)],
  ['Currency', (row) => row.currency],
  ['Due Date', (row) => row.dueDate],
  ['Status', (row) => row.status],
  ['Created On', (row, zone) => dateIn(row.createdAt, zone)],
  ['Paid On', (row) => row.paidOn ?? ''],
  ['Reminders Sent', (row) => ({ number: String(row.remindersSent) })],
  ['Last Reminder', (row, zone) => dateIn(row.lastReminderAt, zone)],
  ['Issued On', (row) => row.issuedOn],
  ['Amount Paid', (row) => amount(row.paidMinor, row.currency)],
  ['Balance', (row) => amount(balanceMinor(row), row.currency)],
]

interface Exported {
  payment: PaymentRow
  invoice: Pick<InvoiceRow, 'reference' | 'clientName' | 'clientEmail' | 'deletedAt'>
}

const paymentColumns: Columns<Exported> = [
  ['Invoice', ({ invoice }) => invoice.reference],
  ['Client Name', ({ invoice }) => invoice.clientName],
  ['Client Email', ({ invoice }) => invoice.clientEmail],
  ['Kind', ({ payment }) => payment.kind],
  ['Amount', ({ payment }) => amount(payment.amountMinor, payment.currency)],
  ['Currency', ({ payment }) => payment.currency],
  ['Paid On', ({ payment }) => payment.paidOn],
  ['Method', ({ payment }) => payment.method ?? ''],
  ['Reference', ({ payment }) => payment.reference],
  ['Note', ({ payment }) => payment.note],
  ['Origin', ({ payment }) => payment.origin],
  ['Recorded On', ({ payment }, zone) => dateIn(payment.recordedAt, zone)],
  ['Taken Back On', ({ payment }, zone) => dateIn(payment.voidedAt, zone)],
  ['Invoice Deleted On', ({ invoice }, zone) => dateIn(invoice.deletedAt, zone)],
]

/**
 * The invoices as a CSV file (RFC 4180) in UTF-8 with a byte order mark, without which Excel reads it as Latin-1. Dates are in the given
 * zone.
 */
export function exportInvoices(
  db: Database,
  ownerId: string,
  { search = '', ...query }: Pick<InvoiceQuery, 'status' | 'search'>,
  zone: string,
): AsyncGenerator<string> {
  const pages = invoicePages(db, ownerId, query)
  return asCsv(invoiceColumns, search === '' ? pages : foundIn(pages, search, { db, ownerId }), zone)
}

/** By the search of the dashboard, so that the file has what is shown there. */
async function* foundIn(
  pages: AsyncIterable<InvoiceRow[]>,
  search: string,
  { db, ownerId }: { db: Database; ownerId: string },
): AsyncGenerator<InvoiceRow[]> {
  for await (const page of pages) {
    const clients = await readClients(db, ownerId, page)
    yield searchInvoices(
      page.map((row) => ({ ...toInvoice(row, clients), row })),
      search,
    ).map(({ row }) => row)
  }
}

/** All payments and refunds, newest first, as the invoices are exported; also those of deleted invoices, with the date of that. */
export function exportPayments(db: Database, ownerId: string, zone: string): AsyncGenerator<string> {
  return asCsv(paymentColumns, paymentPages(db, ownerId), zone)
}

/** `duely-invoices-2026-03-02.csv`, with the local date of the account. */
export function exportName(what: 'invoices' | 'payments', now: Instant, zone: string): string {
  return `duely-${what}-${dateIn(now, zone)}.csv`
}

async function* asCsv<Row>(columns: Columns<Row>, pages: AsyncIterable<Row[]>, zone: string): AsyncGenerator<string> {
  const line = (cells: string[]) => `${cells.join(',')}\r\n`
  yield `\uFEFF${line(columns.map(([head]) => csvCell(head)))}`
  for await (const page of pages) yield page.map((row) => line(columns.map(([, cell]) => written(cell(row, zone))))).join('')
}

async function* paymentPages(db: Database, ownerId: string): AsyncGenerator<Exported[]> {
  for (let last: PaymentRow | undefined; ; ) {
    const behind =
      last && sql`(${invoicePayments.recordedAt}, ${invoicePayments.id}) < (${last.recordedAt.toString()}::timestamptz, ${last.id}::uuid)`
    const page: Exported[] = await db
      .select({
        payment: invoicePayments,
        invoice: {
          reference: invoices.reference,
          clientName: invoices.clientName,
          clientEmail: invoices.clientEmail,
          deletedAt: invoices.deletedAt,
        },
      })
      .from(invoicePayments)
      .innerJoin(invoices, and(eq(invoices.ownerId, invoicePayments.ownerId), eq(invoices.id, invoicePayments.invoiceId)))
      .where(and(eq(invoicePayments.ownerId, ownerId), behind))
      .orderBy(...newestPayments)
      .limit(chunk)
    yield page
    if (page.length < chunk) return
    last = page.at(-1)?.payment
  }
}

function written(cell: Cell): string {
  return typeof cell === 'string' ? csvCell(cell) : cell.number
}

/** All decimals of the currency, without grouping, as a spreadsheet reads a number. */
function amount(minor: number, currency: string): Cell {
  return { number: fromMinor(minor, currency).toFixed(decimalsOf(currency)) }
}

function dateIn(instant: Instant | null, zone: string): string {
  return instant?.toZonedDateTimeISO(zone).toPlainDate().toString() ?? ''
}
