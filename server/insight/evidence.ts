import { createHash } from 'node:crypto'
import { sql } from 'drizzle-orm'
import { z } from 'zod'
import type { InvoiceHistory } from '#contract/reminders.ts'
import { readInvoice, toInvoice } from '#server/invoices/invoices.ts'
import { noClients } from '#server/invoices/pauses.ts'
import type { Account } from '#server/platform/answer.ts'
import type { Instant } from '#server/platform/clock.ts'
import { csvCell } from '#server/platform/csv.ts'
import { type Database, rows } from '#server/platform/database.ts'
import type { Deps } from '#server/platform/deps.ts'
import { type ZipFile, zipped } from '#server/platform/zip.ts'
import { invoiceHistory } from '#server/reminders/history.ts'
import { evidenceTexts as t } from './texts.ts'

/** More than any invoice has. */
const every = 100_000

const bytes = z.instanceof(Uint8Array)

/** A file of the archive; its bytes are read when its turn comes. */
interface Entry {
  name: string
  read(): Promise<Uint8Array | null>
}

/**
 * What Duely did about an invoice as a ZIP file, made while it is sent: one email is in memory at a time. SHA256SUMS names the sum of every other
 * file, in the form that `sha256sum -c` reads. Refuses with `not_found` before anything is sent.
 */
export async function openEvidence(
  { db, config }: Pick<Deps, 'db' | 'config'>,
  account: Account,
  invoiceId: string,
  now: Instant,
): Promise<{ name: string; parts: AsyncGenerator<Buffer> }> {
  const row = await readInvoice(db, account.id, invoiceId)
  const history = await invoiceHistory({ db, config }, account, row.id, now, every)
  const invoice = toInvoice(row, noClients)
  const zone = account.timezone
  const local = (at: string) => localTime(at, zone)
  const text = (words: string) => async () => Buffer.from(words)
  const entries: Entry[] = [
    { name: 'README.txt', read: text(t.readme(row.reference, local(now.toString()), zone)) },
    { name: 'invoice.json', read: text(`${JSON.stringify(invoice, null, 2)}\n`) },
    ...(row.fileId === null ? [] : [{ name: 'invoice.pdf', read: () => readFile(db, account.id, row.fileId ?? '') }]),
    {
      name: 'timeline.pdf',
      async read() {
        // Loaded with its fonts only when one is wanted.
        const { timelinePdf } = await import('./evidence-pdf.ts')
        return timelinePdf({ row, business: account.displayName, history, local, today: local(now.toString()), fonts: config.pdfFonts })
      },
    },
    { name: 'emails.csv', read: text(emailsCsv(history, local)) },
    {
      name: 'decisions.csv',
      read: text(
        csv(
          t.heads.decisions,
          history.days.map((day) => [day.date, day.outcome, day.words, local(day.decidedAt)]),
        ),
      ),
    },
    { name: 'payments.csv', read: text(paymentsCsv(history, local)) },
    { name: 'answers.csv', read: text(answersCsv(history, local)) },
    ...history.mails
      .filter(({ stored }) => stored)
      .toReversed()
      .map(({ _id, createdAt }, at) => ({
        name: `emails/${String(at + 1).padStart(3, '0')}-${local(createdAt).slice(0, 10)}-${_id}.eml`,
        read: () => readRaw(db, account.id, _id),
      })),
  ]
  return { name: `${row.reference.replace(/[^\p{L}\p{M}\p{N}_.-]/gu, '_')}-evidence.zip`, parts: zipped(withSums(entries)) }
}

/** The files with their sums last. */
async function* withSums(entries: Entry[]): AsyncGenerator<ZipFile> {
  const sums: string[] = []
  for (const { name, read } of entries) {
    const content = await read()
    // Its bytes were dropped meanwhile.
    if (content === null) continue
    sums.push(`${createHash('sha256').update(content).digest('hex')}  ${name}\n`)
    yield { name, parts: once(content) }
  }
  yield { name: 'SHA256SUMS', parts: once(sums.join('')) }
}

async function* once<T>(content: T): AsyncGenerator<T> {
  yield content
}

async function readRaw(db: Database, ownerId: string, id: string): Promise<Uint8Array | null> {
  const [found] = await rows(
    db,
    z.object({ raw: bytes.nullable() }),
    sql`SELECT raw FROM deliveries WHERE owner_id = ${ownerId}::uuid AND id = ${id}::uuid`,
  )
  return found?.raw ?? null
}

async function readFile(db: Database, ownerId: string, id: string): Promise<Uint8Array | null> {
  const [found] = await rows(
    db,
    z.object({ file: bytes }),
    sql`SELECT file FROM invoice_files WHERE owner_id = ${ownerId}::uuid AND id = ${id}::uuid`,
  )
  return found?.file ?? null
}

function csv(head: string[], lines: (string | number | null)[][]): string {
  const line = (cells: (string | number | null)[]) =>
    `${cells.map((cell) => (typeof cell === 'number' ? cell : csvCell(cell ?? ''))).join(',')}\r\n`
  return `\uFEFF${line(head)}${lines.map(line).join('')}`
}

type Local = (at: string) => string

function emailsCsv({ mails }: InvoiceHistory, local: Local): string {
  return csv(
    t.heads.emails,
    mails.map((mail) => [
      local(mail.createdAt),
      mail.clientEmail,
      mail.subject,
      mail.state,
      mail.reason,
      mail.sentAt && local(mail.sentAt),
      mail.attempt,
      mail.serverReply,
      mail._id,
      mail.stored ? 'yes' : 'no',
    ]),
  )
}

function paymentsCsv({ payments }: InvoiceHistory, local: Local): string {
  return csv(
    t.heads.payments,
    payments.map((one) => [
      one.kind,
      one.amount,
      one.currency,
      one.paidOn,
      one.method,
      one.reference,
      one.note,
      one.origin,
      local(one.recordedAt),
      one.voidedAt && local(one.voidedAt),
    ]),
  )
}

function answersCsv({ answers }: InvoiceHistory, local: Local): string {
  return csv(
    t.heads.answers,
    answers.map((one) => [
      local(one.at),
      one.kind,
      one.date,
      one.amount,
      one.reference,
      one.message,
      one.name,
      one.email,
      one.state,
      one.pausedUntil,
    ]),
  )
}

/** 2026-03-02 14:30, in the zone of the account. */
function localTime(at: string, zone: string): string {
  return Temporal.Instant.from(at).toZonedDateTimeISO(zone).toPlainDateTime().toString({ smallestUnit: 'minute' }).replace('T', ' ')
}
