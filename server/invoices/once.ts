import { createHash } from 'node:crypto'
import { and, eq, gt, isNull, lte } from 'drizzle-orm'
import type { InvoiceDraft } from '#contract/invoices.ts'
import type { Instant } from '#server/platform/clock.ts'
import type { Database } from '#server/platform/database.ts'
import { Refusal } from '#server/platform/refusal.ts'
import { type InvoiceRow, lockOwner } from './invoices.ts'
import { idempotencyKeys, invoices } from './tables.ts'

/** So long a key stands for what was made under it. */
const kept = { hours: 24 }
const longestKey = 255

/** The key of a request, from its header; null where it has none. An empty or an over-long one, or one of other than printable ASCII, is `invalid`. */
export function readIdempotencyKey(header: string | string[] | undefined): string | null {
  if (header === undefined) return null
  const key = [header].flat().join(', ')
  if (key.length <= longestKey && /^[\x20-\x7e]*[\x21-\x7e][\x20-\x7e]*$/.test(key)) return key
  const message = `Please send an Idempotency-Key of 1 to ${longestKey} letters and figures, or none.`
  throw new Refusal('invalid', message, { errors: [{ path: 'Idempotency-Key', message }] })
}

/**
 * Writes down an invoice at most once under a key, whoever asks at the same time: within a day the same draft is answered with the invoice that
 * is there already, another one is a `conflict`. What is refused leaves no trace, so the same key may be tried again.
 */
export async function createOnce(
  db: Database,
  ownerId: string,
  asked: { key: string; draft: InvoiceDraft },
  now: Instant,
  create: (tx: Database) => Promise<InvoiceRow>,
): Promise<InvoiceRow> {
  const requestHash = hashOf(asked.draft)
  return db.transaction(async (tx) => {
    // Whoever comes second waits here, and finds the key afterwards.
    await lockOwner(tx, ownerId)
    const under = and(eq(idempotencyKeys.ownerId, ownerId), eq(idempotencyKeys.key, asked.key))
    const [known] = await tx
      .select()
      .from(idempotencyKeys)
      .where(and(under, gt(idempotencyKeys.createdAt, now.subtract(kept))))
    if (known) {
      if (known.requestHash !== requestHash)
        throw new Refusal('conflict', 'This Idempotency-Key was used for another invoice. Please send a new key with it.')
      return readMade(tx, ownerId, known.invoiceId)
    }
    await tx.delete(idempotencyKeys).where(under)
    const row = await create(tx)
    await tx.insert(idempotencyKeys).values({ ownerId, key: asked.key, requestHash, invoiceId: row.id, createdAt: now })
    return row
  })
}

/** Forgets keys that stand for nothing any more. Call it now and then from a worker. */
export async function forgetOldIdempotencyKeys(db: Database, now: Instant): Promise<void> {
  await db.delete(idempotencyKeys).where(lte(idempotencyKeys.createdAt, now.subtract(kept)))
}

async function readMade(tx: Database, ownerId: string, invoiceId: string): Promise<InvoiceRow> {
  const [row] = await tx
    .select()
    .from(invoices)
    .where(and(eq(invoices.ownerId, ownerId), eq(invoices.id, invoiceId), isNull(invoices.deletedAt)))
  if (row) return row
  throw new Refusal('conflict', 'The invoice that was made under this Idempotency-Key has been deleted since. A new key makes a new one.')
}

/** Of the draft as it was understood: whoever writes its fields in another order asks for the same. */
function hashOf(draft: InvoiceDraft): string {
  return createHash('sha256')
    .update(JSON.stringify(Object.entries(draft).toSorted(([one], [other]) => (one < other ? -1 : 1))))
    .digest('base64url')
}
