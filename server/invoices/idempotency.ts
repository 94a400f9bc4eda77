import { createHash } from 'node:crypto'
import { and, eq, gt, inArray, isNull, lte, sql } from 'drizzle-orm'
import { type ImportedLine, type InvoiceDraft, idempotencyKey } from '#contract/invoices.ts'
import type { Instant } from '#server/platform/clock.ts'
import type { Database } from '#server/platform/database.ts'
import { invalid, ProblemError } from '#server/platform/problem-error.ts'
import { lockOwner, type Shown } from './invoices.ts'
import { readClients } from './pauses.ts'
import { type InvoiceRow, idempotencyKeys, invoices } from './tables.ts'
import { texts } from './texts.ts'

/** How long a key is remembered. */
const kept = { hours: 24 }
const prunedAtOnce = 1_000

/**
 * The Idempotency-Key of a request; null without one. An empty one, one that is too long, or one with anything but printable ASCII is
 * `invalid`.
 */
export function readIdempotencyKey(header: string | string[] | undefined): string | null {
  if (header === undefined) return null
  const key = [header].flat().join(', ')
  const parsed = idempotencyKey.safeParse(key)
  if (parsed.success) return key
  throw invalid('Idempotency-Key', parsed.error.issues[0]?.message ?? '')
}

/**
 * Creates an invoice at most once under a key, also for simultaneous requests: within a day the same draft gets the invoice that exists
 * already, another draft is a `conflict`. A refused request leaves no trace, so its key may be used again.
 */
export async function createIdempotently(
  db: Database,
  ownerId: string,
  asked: { key: string; draft: InvoiceDraft },
  now: Instant,
  create: (tx: Database) => Promise<Shown>,
): Promise<Shown> {
  const requestHash = hashOf(asked.draft)
  return db.transaction(async (tx) => {
    // A simultaneous request waits here and then finds the key.
    await lockOwner(tx, ownerId)
    const under = and(eq(idempotencyKeys.ownerId, ownerId), eq(idempotencyKeys.key, asked.key))
    const [known] = await tx
      .select()
      .from(idempotencyKeys)
      .where(and(under, gt(idempotencyKeys.createdAt, now.subtract(kept))))
    if (known) {
      if (known.requestHash !== requestHash) throw new ProblemError('conflict', texts.keyUsed)
      const row = await readMade(tx, ownerId, known.invoiceId)
      return { row, clients: await readClients(tx, ownerId, [row]) }
    }
    await tx.delete(idempotencyKeys).where(under)
    const made = await create(tx)
    await tx.insert(idempotencyKeys).values({ ownerId, key: asked.key, requestHash, invoiceId: made.row.id, createdAt: now })
    return made
  })
}

/** A line of an import, numbered from 1 as in the request. */
export interface Line {
  line: number
  draft: InvoiceDraft
}

/** What an import's key remembers about one of its lines. */
export interface MadeLine {
  draft: 'same' | 'another'
  /** null: deleted since. */
  invoiceId: string | null
  held: boolean
}

/** Which of these lines were already created under the key, by number. The owner is locked. */
export async function madeBefore(
  tx: Database,
  ownerId: string,
  { key, lines }: { key: string; lines: Line[] },
  now: Instant,
): Promise<Map<number, MadeLine>> {
  const byKey = new Map(lines.map((one) => [lineKey(key, one.line), one]))
  const rows = await tx
    .select({
      key: idempotencyKeys.key,
      requestHash: idempotencyKeys.requestHash,
      invoiceId: idempotencyKeys.invoiceId,
      deletedAt: invoices.deletedAt,
      held,
    })
    .from(idempotencyKeys)
    .innerJoin(invoices, sameInvoice)
    .where(
      and(
        eq(idempotencyKeys.ownerId, ownerId),
        inArray(idempotencyKeys.key, [...byKey.keys()]),
        gt(idempotencyKeys.createdAt, now.subtract(kept)),
      ),
    )
  return new Map(
    rows.flatMap((row): [number, MadeLine][] => {
      const asked = byKey.get(row.key)
      if (!asked) return []
      const draft = row.requestHash === hashOf(asked.draft) ? 'same' : 'another'
      return [[asked.line, { draft, invoiceId: row.deletedAt === null ? row.invoiceId : null, held: row.held }]]
    }),
  )
}

/** Remembers the lines of an import, in the transaction that creates their invoices. */
export async function rememberLines(
  tx: Database,
  ownerId: string,
  { key, lines }: { key: string; lines: (Line & { invoiceId: string })[] },
  now: Instant,
): Promise<void> {
  if (lines.length === 0) return
  const rows = lines.map(({ line, draft, invoiceId }) => ({
    ownerId,
    key: lineKey(key, line),
    requestHash: hashOf(draft),
    invoiceId,
    createdAt: now,
  }))
  const target = [idempotencyKeys.ownerId, idempotencyKeys.key]
  const fresh = { requestHash: sql`excluded.request_hash`, invoiceId: sql`excluded.invoice_id`, createdAt: now }
  await tx.insert(idempotencyKeys).values(rows).onConflictDoUpdate({ target, set: fresh })
}

/**
 * The invoices that an import created under this key within a day and that still exist. Waits for an import in progress. `not_found` where
 * there are none.
 */
export async function readImported(db: Database, ownerId: string, key: string, now: Instant): Promise<ImportedLine[]> {
  return db.transaction(async (tx) => {
    await lockOwner(tx, ownerId)
    const rows = await tx
      .select({ key: idempotencyKeys.key, invoiceId: idempotencyKeys.invoiceId, held })
      .from(idempotencyKeys)
      .innerJoin(invoices, sameInvoice)
      .where(
        and(
          eq(idempotencyKeys.ownerId, ownerId),
          sql`starts_with(${idempotencyKeys.key}, ${lineKey(key, '')})`,
          gt(idempotencyKeys.createdAt, now.subtract(kept)),
          isNull(invoices.deletedAt),
        ),
      )
    if (rows.length === 0) throw new ProblemError('not_found', texts.nothingImported)
    const lines = rows.map((row) => ({
      line: Number(row.key.slice(lineKey(key, '').length)),
      _id: row.invoiceId,
      held: row.held,
      outcome: 'created' as const,
      note: null,
    }))
    return lines.sort((one, other) => one.line - other.line)
  })
}

/** Prunes expired keys, a thousand at a time, because each line of an import has one; called by a worker. */
export async function pruneIdempotencyKeys(db: Database, now: Instant): Promise<void> {
  for (;;) {
    const old = db
      .select({ ownerId: idempotencyKeys.ownerId, key: idempotencyKeys.key })
      .from(idempotencyKeys)
      .where(lte(idempotencyKeys.createdAt, now.subtract(kept)))
      .limit(prunedAtOnce)
    const erased = await db
      .delete(idempotencyKeys)
      .where(sql`(${idempotencyKeys.ownerId}, ${idempotencyKeys.key}) IN ${old}`)
      .returning({ key: idempotencyKeys.key })
    if (erased.length < prunedAtOnce) return
  }
}

const sameInvoice = and(eq(invoices.ownerId, idempotencyKeys.ownerId), eq(invoices.id, idempotencyKeys.invoiceId))

const held = sql<boolean>`${invoices.pausedAt} IS NOT NULL`

/** A header cannot hold a line break, so the key of a single invoice never equals that of a line. */
function lineKey(key: string, line: number | ''): string {
  return `${key}\n${line}`
}

async function readMade(tx: Database, ownerId: string, invoiceId: string): Promise<InvoiceRow> {
  const [row] = await tx
    .select()
    .from(invoices)
    .where(and(eq(invoices.ownerId, ownerId), eq(invoices.id, invoiceId), isNull(invoices.deletedAt)))
  if (row) return row
  throw new ProblemError('conflict', texts.keyDeleted)
}

/** A hash of the parsed draft, so that the order of its fields does not matter. `about`: what else makes it another request. */
export function hashOf(draft: object, ...about: string[]): string {
  const fields = Object.entries(draft).toSorted(([one], [other]) => (one < other ? -1 : 1))
  return createHash('sha256')
    .update(JSON.stringify([...about, ...fields]))
    .digest('base64url')
}
