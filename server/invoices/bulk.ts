import { and, eq, inArray, isNull } from 'drizzle-orm'
import { z } from 'zod'
import { referenceKey } from '#contract/import/invoice-file.ts'
import type { BulkChange, BulkResult } from '#contract/invoices.ts'
import { type Origin, writeAudits } from '#server/accounts/accounts.ts'
import type { Instant } from '#server/platform/clock.ts'
import { analyzeGrown, type Database } from '#server/platform/database.ts'
import { ProblemError } from '#server/platform/problem-error.ts'
import { byStatus, livePayments, type Settling, settle } from './balance.ts'
import { noteChanges } from './changes.ts'
import {
  canBeThere,
  liveReferences,
  localDate,
  lockOwner,
  notFound,
  openRoom,
  referenceTaken,
  refusedPayments,
  tooManyOpen,
} from './invoices.ts'
import { becauseOf, notPaused, paused, refusePast } from './pauses.ts'
import { type AfterChange, type InvoiceRow, invoices, manyInvoices, writtenInBulk } from './tables.ts'

const uuid = z.uuid()

/**
 * Changes many invoices in one statement, by the rules for one, and reports which were changed. One that cannot be (deleted meanwhile, its
 * reference taken) does not stop the others; a pause that ends in the past is refused as a whole.
 */
export async function changeInvoices(
  db: Database,
  ownerId: string,
  { ids, change }: { ids: string[]; change: BulkChange },
  from: Origin,
  now: Instant,
  afterChange: AfterChange,
): Promise<BulkResult> {
  if (ids.length >= manyInvoices) await analyzeGrown(db, writtenInBulk)
  return db.transaction(async (tx) => {
    const owner = await lockOwner(tx, ownerId)
    const today = localDate(now, owner.timezone)
    if (change.do === 'pause') refusePast(change.until, today)
    const asked = [...new Set(ids)]
    const possible = asked.filter((id) => uuid.safeParse(id).success)
    const rows = await tx
      .select()
      .from(invoices)
      .where(
        and(
          eq(invoices.ownerId, ownerId),
          inArray(invoices.id, possible),
          change.do === 'restore' ? canBeThere(now) : isNull(invoices.deletedAt),
        ),
      )
      .for('update')
    const refused = change.do === 'restore' ? await takenMeanwhile(tx, ownerId, rows) : new Map<string, ProblemError>()
    const marked = change.do === 'mark' ? await markings(tx, ownerId, rows, { status: change.status, today }, refused) : []
    for (const [id, problem] of await refusedPayments(tx, ownerId, marked)) refused.set(id, problem)
    await refuseBeyondRoom(tx, ownerId, change, rows, refused)
    const wanted = rows.filter(({ id }) => !refused.has(id))
    const touched = wanted.filter((row) => change.do !== 'restore' || row.deletedAt !== null).map(({ id }) => id)
    if (change.do === 'mark') {
      const settling = marked.filter(({ row }) => !refused.has(row.id))
      await settle(tx, owner, settling, now, afterChange)
    } else if (touched.length > 0) {
      await tx.update(invoices).set(asColumns(change, now)).where(inArray(invoices.id, touched))
      if (change.do === 'delete') {
        const deleted = wanted.map(({ reference }) => ({ ownerId, kind: 'invoice_deleted' as const, about: reference }))
        await writeAudits(tx, deleted, from, now)
      }
      const field = change.do === 'delete' ? 'deleted' : change.do === 'restore' ? 'restored' : null
      const noted = field === null ? [] : touched.map((invoiceId) => ({ invoiceId, field }) as const)
      await noteChanges(tx, ownerId, noted, now)
      await afterChange(tx, ownerId, touched, now)
    }
    const there = new Set(wanted.map(({ id }) => id))
    // The database takes an id in capitals too.
    const isThere = (id: string) => there.has(id.toLowerCase())
    return {
      changed: asked.filter(isThere),
      failed: asked.flatMap((id) => {
        if (isThere(id)) return []
        const { code, message } = refused.get(id.toLowerCase()) ?? notFound()
        return { _id: id, code, message }
      }),
    }
  })
}

/** Adds to the refused ones those that would be more open invoices than an account may have. */
async function refuseBeyondRoom(
  tx: Database,
  ownerId: string,
  change: BulkChange,
  rows: InvoiceRow[],
  refused: Map<string, ProblemError>,
): Promise<void> {
  const opens = (row: InvoiceRow) =>
    change.do === 'restore'
      ? row.deletedAt !== null && row.status !== 'paid'
      : change.do === 'mark' && change.status !== 'paid' && row.status === 'paid'
  const opened = rows.filter((row) => opens(row) && !refused.has(row.id))
  if (opened.length === 0) return
  const room = Math.max(0, await openRoom(tx, ownerId))
  for (const { id } of opened.slice(room)) refused.set(id, tooManyOpen())
}

/** What marking these invoices means for their payments; refuses those that other payments cover. */
async function markings(
  tx: Database,
  ownerId: string,
  rows: InvoiceRow[],
  { status, today }: { status: InvoiceRow['status']; today: string },
  refused: Map<string, ProblemError>,
): Promise<Settling[]> {
  const live = await livePayments(
    tx,
    ownerId,
    rows.map(({ id }) => id),
  )
  return rows.flatMap((row) => {
    try {
      const its = live.get(row.id)
      return { row, live: its, ...byStatus(row, its, { status, today }), keptUnpaid: status === 'unpaid' && row.dueDate < today }
    } catch (error) {
      if (!(error instanceof ProblemError)) throw error
      refused.set(row.id, error)
      return []
    }
  })
}

/** The columns that the change sets. */
function asColumns(change: Exclude<BulkChange, { do: 'mark' }>, now: Instant) {
  switch (change.do) {
    case 'pause':
      return { ...paused(change, now), pauseBecause: becauseOf(change) }
    case 'resume':
      return notPaused
    case 'delete':
      return { deletedAt: now, updatedAt: now }
    case 'restore':
      return { deletedAt: null, updatedAt: now }
  }
}

/** The deleted ones that cannot be restored because another invoice, or one restored with them, has their reference. */
async function takenMeanwhile(tx: Database, ownerId: string, rows: InvoiceRow[]): Promise<Map<string, ProblemError>> {
  const deleted = rows.filter(({ deletedAt }) => deletedAt !== null)
  if (deleted.length === 0) return new Map()
  const references = deleted.map(({ reference }) => reference)
  const taken = new Set((await liveReferences(tx, ownerId, references)).map(referenceKey))
  const refused = new Map<string, ProblemError>()
  for (const { id, reference } of deleted) {
    if (taken.has(referenceKey(reference))) refused.set(id, referenceTaken(reference))
    taken.add(referenceKey(reference))
  }
  return refused
}
