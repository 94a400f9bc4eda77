import { and, eq, sql } from 'drizzle-orm'
import { z } from 'zod'
import { fileName, invoiceFileCalls, largestFile, mostFiles } from '#contract/pay-links.ts'
import { lockAccount } from '#server/accounts/accounts.ts'
import { readInvoice } from '#server/invoices/invoices.ts'
import { type InvoiceRow, invoices } from '#server/invoices/tables.ts'
import { type App, answer } from '#server/platform/answer.ts'
import type { Instant } from '#server/platform/clock.ts'
import { arrayText, type Database, rows } from '#server/platform/database.ts'
import type { Deps } from '#server/platform/deps.ts'
import { attachment } from '#server/platform/headers.ts'
import { ProblemError } from '#server/platform/problem-error.ts'
import { streamed } from '#server/platform/stream-json.ts'
import { invoiceFiles } from './tables.ts'
import { texts } from './texts.ts'

const type = 'application/pdf'

export interface StoredFile {
  name: string
  file: Buffer
}

/** The calls for the PDF of an invoice. Its body is refused by its headers, before it is read, where they name another type or size. */
export function fileRoutes(app: App, { db, clock }: Pick<Deps, 'db' | 'clock'>): void {
  app.register((files: App, _options, done) => {
    files.addContentTypeParser(type, { parseAs: 'buffer' }, (_request, body, done) => done(null, body))
    files.addHook('preParsing', async ({ method, headers }) => {
      if (method !== 'PUT') return
      if (headers['content-type']?.split(';')[0]?.trim().toLowerCase() !== type) throw new ProblemError('invalid', texts.file.wrongType)
      if (Number(headers['content-length'] ?? 0) > largestFile) throw new ProblemError('too_large', texts.file.tooLarge)
    })
    answer(files, invoiceFileCalls.save, async ({ params, query }, { account }, { request }) =>
      saveFile(db, { ownerId: account.id, invoiceId: params.id, name: query.name, file: request.body }, clock.now()),
    )
    answer(files, invoiceFileCalls.read, async ({ params }, { account }, { reply }) => {
      const found = await readFile(db, await readInvoice(db, account.id, params.id))
      if (!found) throw new ProblemError('not_found', texts.file.none)
      reply.headers(pdfHeaders(found.name))
      return streamed(only(found.file))
    })
    answer(files, invoiceFileCalls.remove, async ({ params }, { account }) => removeFile(db, account.id, params.id, clock.now()))
    done()
  })
}

/** A PDF is saved by a browser, never shown in a page of this server. */
export function pdfHeaders(name: string): Record<string, string> {
  return {
    'content-type': type,
    'content-disposition': attachment(name, 'invoice.pdf'),
    'content-security-policy': "default-src 'none'; sandbox",
    'x-content-type-options': 'nosniff',
    'cache-control': 'no-store',
  }
}

export async function* only(bytes: Buffer): AsyncGenerator<Buffer> {
  yield bytes
}

/**
 * Stores the PDF of an invoice in a new row; the row of the last one is erased. The file is neither opened nor scanned. Refuses with `invalid`
 * what is not marked as a PDF, and with `conflict` what would be too much for all files of the account.
 */
async function saveFile(
  db: Database,
  about: { ownerId: string; invoiceId: string; name: string; file: unknown },
  now: Instant,
): Promise<{ name: string; size: number }> {
  const { ownerId, file } = about
  if (!Buffer.isBuffer(file) || !file.subarray(0, 5).equals(Buffer.from('%PDF-')) || !file.includes('%%EOF'))
    throw new ProblemError('invalid', texts.file.notPdf)
  const [name, size] = [fileName(about.name), file.length]
  return db.transaction(async (tx) => {
    await lockAccount(tx, ownerId)
    const row = await readInvoice(tx, ownerId, about.invoiceId)
    await replaceFile(tx, row, null, now)
    const [used] = await tx
      .select({ bytes: sql<number>`coalesce(sum(${invoiceFiles.size}), 0)::float8` })
      .from(invoiceFiles)
      .where(eq(invoiceFiles.ownerId, ownerId))
    if ((used?.bytes ?? 0) + size > mostFiles) throw new ProblemError('conflict', texts.file.noRoom)
    const [made] = await tx
      .insert(invoiceFiles)
      .values({ ownerId, invoiceId: row.id, name, size, createdAt: now, file })
      .returning({ id: invoiceFiles.id })
    await replaceFile(tx, row, made?.id ?? null, now)
    return { name, size }
  })
}

/** Erases the rows of other files of the invoice: an email that was to have one of them is composed again. */
async function replaceFile(tx: Database, { ownerId, id }: InvoiceRow, fileId: string | null, now: Instant): Promise<void> {
  await tx.update(invoices).set({ fileId, updatedAt: now }).where(eq(invoices.id, id))
  const others = sql`${invoiceFiles.id} IS DISTINCT FROM ${fileId}::uuid`
  await tx.delete(invoiceFiles).where(and(eq(invoiceFiles.ownerId, ownerId), eq(invoiceFiles.invoiceId, id), others))
}

/** The PDF of an invoice; null without one. */
export async function readFile(db: Database, { ownerId, fileId }: Pick<InvoiceRow, 'ownerId' | 'fileId'>): Promise<StoredFile | null> {
  const [found] = await readFiles(db, ownerId, fileId === null ? [] : [fileId])
  return found ?? null
}

/** These files of an account, in this order. One that was replaced or removed is missing. */
export async function readFiles(db: Database, ownerId: string, ids: string[]): Promise<StoredFile[]> {
  if (ids.length === 0) return []
  const found = await rows(
    db,
    z.object({ id: z.string(), name: z.string(), file: z.instanceof(Uint8Array).transform((bytes) => Buffer.from(bytes)) }),
    sql`SELECT id, name, file FROM invoice_files WHERE owner_id = ${ownerId}::uuid AND id = ANY(${arrayText(ids)}::uuid[])`,
  )
  return ids.flatMap((id) => found.find((one) => one.id === id) ?? [])
}

/** The PDFs of these invoices, in the order given. */
export async function filesOf(
  db: Database,
  ownerId: string,
  invoiceIds: string[],
): Promise<Map<string, { id: string; name: string; size: number }>> {
  const found = await rows(
    db,
    z.object({ invoiceId: z.string(), id: z.string(), name: z.string(), size: z.number() }),
    sql`SELECT i.id AS "invoiceId", f.id, f.name, f.size FROM invoices i JOIN invoice_files f ON f.owner_id = i.owner_id AND f.id = i.file_id
        WHERE i.owner_id = ${ownerId}::uuid AND i.id = ANY(${arrayText(invoiceIds)}::uuid[])`,
  )
  return new Map(invoiceIds.flatMap((id) => found.flatMap(({ invoiceId, ...file }) => (invoiceId === id ? [[id, file]] : []))))
}

async function removeFile(db: Database, ownerId: string, invoiceId: string, now: Instant): Promise<void> {
  await db.transaction(async (tx) => {
    await lockAccount(tx, ownerId)
    const row = await readInvoice(tx, ownerId, invoiceId)
    if (row.fileId !== null) await replaceFile(tx, row, null, now)
  })
}
