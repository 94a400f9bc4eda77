import { createHash } from 'node:crypto'
import { and, asc, eq, inArray, isNull, sql } from 'drizzle-orm'
import { z } from 'zod'
import { changesAnything, type Followed, followLine } from '#contract/import/again.ts'
import { referenceKey } from '#contract/import/invoice-file.ts'
import type { InvoiceDraft, UndoneImport } from '#contract/invoices.ts'
import type { PaymentOrigin } from '#contract/payments.ts'
import { type AccountRow, type Origin, writeAudit, writeAudits } from '#server/accounts/accounts.ts'
import type { Instant } from '#server/platform/clock.ts'
import { arrayText, type Database } from '#server/platform/database.ts'
import type { Deps } from '#server/platform/deps.ts'
import { ProblemError } from '#server/platform/problem-error.ts'
import { balanceMinor, isPaidAfter, livePayments, type NewPayment, refundFirst, type Settling, settle, sumOf } from './balance.ts'
import { noteChanges } from './changes.ts'
import {
  createInvoices,
  hasReference,
  localDate,
  lockOwner,
  notFound,
  openRoom,
  refusedAmount,
  refusedPayments,
  tooManyOpen,
} from './invoices.ts'
import { type AfterChange, type InvoiceRow, invoiceChanges, invoices, type PaymentRow } from './tables.ts'
import { texts } from './texts.ts'

/** Invoices of an import that are taken back in one transaction; in between, others get their turn. */
const chunk = 100

/** The id of the import under an Idempotency-Key: a request that is repeated is the same import. */
export function importIdFor(ownerId: string, key: string): string {
  const hash = createHash('sha256').update(`${ownerId}\n${key}`).digest('hex')
  return hash.replace(/^(.{8})(.{4}).(.{3}).(.{3})(.{12}).*$/, '$1-$2-8$3-8$4-$5')
}

/** The invoices with these references, locked. One that is written in another way is found where it is the only one. */
export async function lockByReference(
  tx: Database,
  ownerId: string,
  references: string[],
): Promise<(reference: string) => InvoiceRow | undefined> {
  if (references.length === 0) return () => undefined
  const found = await tx
    .select()
    .from(invoices)
    .where(and(eq(invoices.ownerId, ownerId), isNull(invoices.deletedAt), hasReference(references)))
    .for('update')
  const exact = new Map(found.map((row) => [row.reference, row]))
  const alike = Map.groupBy(found, ({ reference }) => referenceKey(reference))
  return (reference) => {
    const [only, ...others] = alike.get(referenceKey(reference)) ?? []
    return exact.get(reference) ?? (others.length === 0 ? only : undefined)
  }
}

/** The invoices that their source has by these references and that have other ones here, locked, by the reference there, the latest last. */
export async function lockByImportedAs(
  tx: Database,
  { ownerId, source, references }: { ownerId: string; source: string; references: string[] },
): Promise<Map<string | null, InvoiceRow[]>> {
  if (references.length === 0) return new Map()
  const found = await tx
    .select()
    .from(invoices)
    .where(
      and(
        eq(invoices.ownerId, ownerId),
        isNull(invoices.deletedAt),
        eq(invoices.source, source),
        sql`${invoices.importedAs} = ANY(${arrayText(references)}::text[])`,
      ),
    )
    .orderBy(asc(invoices.createdAt), asc(invoices.id))
    .for('update')
  return Map.groupBy(found, ({ importedAs }) => importedAs)
}

interface Matched {
  row: InvoiceRow
  draft: InvoiceDraft
}

/** The result for an invoice that a line was for. */
interface Outcome {
  row: InvoiceRow
  changed: boolean
  note: string | null
}

/**
 * Brings invoices up to date with the lines that have their references, as `followLine` decides; invoices and account are locked. Records
 * what changed where it is an import, so that it can be undone. `origin`: of the payments.
 */
export async function followLines(
  tx: Database,
  owner: AccountRow,
  matched: Matched[],
  { importId, origin }: { importId: string | null; origin: PaymentOrigin },
  now: Instant,
  afterChange: AfterChange,
): Promise<Outcome[]> {
  const today = localDate(now, owner.timezone)
  const decided = matched.map(({ row, draft }) => ({ row, followed: followLine(row, draft, owner.currency) }))
  const changed = decided.filter(({ followed }) => changesAnything(followed))
  const live = await livePayments(
    tx,
    owner.id,
    changed.map(({ row }) => row.id),
  )
  const settling = changed.map(({ row, followed }) => settlingOf(row, followed, { live: live.get(row.id), importId, origin, today }))
  const refused = await refusedPayments(tx, owner.id, settling)
  const possible = settling.filter(({ row }) => !refused.has(row.id))
  const after = new Map<string, InvoiceRow>()
  for (const row of (await settle(tx, owner, possible, now, afterChange)).rows) after.set(row.id, row)
  return decided.map(({ row, followed }) => ({
    row: after.get(row.id) ?? row,
    changed: after.has(row.id),
    note: refused.get(row.id)?.message ?? followed.note,
  }))
}

function settlingOf(
  row: InvoiceRow,
  { amountMinor, payMinor, isPaid, dueDate }: Followed,
  about: { live: PaymentRow[] | undefined; importId: string | null; origin: PaymentOrigin; today: string },
): Settling {
  const payment = (origin: PaymentOrigin, minor: number): NewPayment => ({
    origin,
    amountMinor: minor,
    paidOn: about.today,
    batchId: about.importId,
  })
  const base = { row, live: about.live, importId: about.importId }
  if (isPaid) return { ...base, record: [payment('marked', balanceMinor(row))], status: 'paid' }
  const set = {
    ...(amountMinor === undefined ? {} : { amountMinor }),
    ...(dueDate === undefined ? {} : { dueDate }),
  }
  return {
    ...base,
    ...(Object.keys(set).length === 0 ? {} : { set }),
    ...(dueDate === undefined ? {} : { status: statusOn(dueDate, about.today), keptUnpaid: false }),
    record: payMinor === undefined ? [] : [payment(about.origin, payMinor)],
  }
}

function statusOn(dueDate: string, today: string): 'overdue' | 'unpaid' {
  return dueDate < today ? 'overdue' : 'unpaid'
}

/** Which of these invoices an import changed before: the same request is repeated. */
export async function changedBefore(tx: Database, ownerId: string, importId: string, invoiceIds: string[]): Promise<Set<string>> {
  if (invoiceIds.length === 0) return new Set()
  const found = await tx
    .selectDistinct({ id: invoiceChanges.invoiceId })
    .from(invoiceChanges)
    .where(
      and(
        eq(invoiceChanges.ownerId, ownerId),
        eq(invoiceChanges.importId, importId),
        isNull(invoiceChanges.undoneAt),
        inArray(invoiceChanges.invoiceId, invoiceIds),
      ),
    )
  return new Set(found.map(({ id }) => id))
}

/**
 * Creates the invoice with this reference, or brings it up to date by the rules of an import. Refuses with `conflict` where something stays
 * that the draft has differently, such as a payment that is known here: then nothing changes.
 */
export async function putInvoice(
  db: Database,
  ownerId: string,
  { reference, draft, origin }: { reference: string; draft: Omit<InvoiceDraft, 'reference'>; origin: PaymentOrigin },
  now: Instant,
  afterChange: AfterChange,
  config: Pick<Deps['config'], 'razorpay'>,
): Promise<InvoiceRow> {
  return db.transaction(async (tx) => {
    const owner = await lockOwner(tx, ownerId)
    const row = (await lockByReference(tx, ownerId, [reference]))(reference)
    if (!row) {
      const [created] = await createInvoices(tx, owner, [{ ...draft, reference }], now, config, { origin })
      if (!created || created instanceof ProblemError) throw created ?? notFound()
      return created
    }
    const unfit = refusedAmount(draft, draft.currency ?? owner.currency)
    if (unfit) throw unfit
    const { note } = followLine(row, draft, owner.currency)
    if (note !== null) throw new ProblemError('conflict', note)
    const [outcome] = await followLines(tx, owner, [{ row, draft }], { importId: null, origin }, now, afterChange)
    // One that may have no more payments.
    if (outcome?.note) throw new ProblemError('conflict', outcome.note)
    return outcome?.row ?? row
  })
}

type ChangeRow = typeof invoiceChanges.$inferSelect

/**
 * Undoes an import: deletes what it created, takes its payments back, and sets amounts and due dates as before. An invoice that was changed
 * since stays as it is, and is named. `id`: of the import, or its Idempotency-Key. Refuses with `not_found` an unknown import.
 */
export async function undoImport(
  db: Database,
  { ownerId, id, from }: { ownerId: string; id: string; from: Origin },
  now: Instant,
  afterChange: AfterChange,
): Promise<UndoneImport> {
  // Most keys are UUIDs too.
  const named = [importIdFor(ownerId, id), ...(z.uuid().safeParse(id).success ? [id] : [])]
  const all = await db
    .select()
    .from(invoiceChanges)
    .where(and(eq(invoiceChanges.ownerId, ownerId), inArray(invoiceChanges.importId, named)))
    .orderBy(asc(invoiceChanges.id))
  const importId = all[0]?.importId
  if (!importId) throw new ProblemError('not_found', texts.again.importNotFound)
  const ids = [...new Set(all.filter(({ undoneAt }) => undoneAt === null).map(({ invoiceId }) => invoiceId))]
  const undone: UndoneImport = { deleted: 0, restored: 0, kept: [] }
  for (let start = 0; start < ids.length; start += chunk) {
    const part = ids.slice(start, start + chunk)
    const done = await db.transaction((tx) => undoPart(tx, { ownerId, importId, part, from }, now, afterChange))
    undone.deleted += done.deleted
    undone.restored += done.restored
    undone.kept.push(...done.kept)
  }
  return undone
}

async function undoPart(
  tx: Database,
  { ownerId, importId, part, from }: { ownerId: string; importId: string; part: string[]; from: Origin },
  now: Instant,
  afterChange: AfterChange,
): Promise<UndoneImport> {
  const owner = await lockOwner(tx, ownerId)
  const its = and(
    eq(invoiceChanges.ownerId, ownerId),
    eq(invoiceChanges.importId, importId),
    inArray(invoiceChanges.invoiceId, part),
    isNull(invoiceChanges.undoneAt),
  )
  const changes = await tx.select().from(invoiceChanges).where(its).orderBy(asc(invoiceChanges.id))
  const byInvoice = Map.groupBy(changes, ({ invoiceId }) => invoiceId)
  const rows = await tx
    .select()
    .from(invoices)
    .where(and(eq(invoices.ownerId, ownerId), inArray(invoices.id, [...byInvoice.keys()])))
    .for('update')
  const live = await livePayments(tx, ownerId, part)
  const today = localDate(now, owner.timezone)
  const kept: UndoneImport['kept'] = []
  const created: InvoiceRow[] = []
  const settling: Settling[] = []
  for (const row of rows) {
    const mine = byInvoice.get(row.id) ?? []
    if (mine.some(({ field }) => field === 'created')) {
      if (row.deletedAt !== null) continue
      if (isPaidSince(row, live.get(row.id))) kept.push({ _id: row.id, message: texts.again.changedSince(row.reference) })
      else created.push(row)
      continue
    }
    const settled = takenBack(row, mine, { live: live.get(row.id), importId, today })
    if (typeof settled === 'string') kept.push({ _id: row.id, message: settled })
    else settling.push(settled)
  }
  const reopened = settling.filter((change) => change.row.status === 'paid' && !isPaidAfter(change)).length
  if (reopened > 0 && (await openRoom(tx, ownerId)) < reopened) throw tooManyOpen()
  await settle(tx, owner, settling, now, afterChange)
  if (created.length > 0) {
    const gone = created.map(({ id }) => id)
    await tx.update(invoices).set({ deletedAt: now, updatedAt: now }).where(inArray(invoices.id, gone))
    await writeAudits(
      tx,
      created.map(({ reference }) => ({ ownerId, kind: 'invoice_deleted' as const, about: reference })),
      from,
      now,
    )
    const noted = gone.map((invoiceId) => ({ invoiceId, field: 'deleted' }) as const)
    await noteChanges(tx, ownerId, noted, now)
    await afterChange(tx, ownerId, gone, now)
  }
  const payments = settling.flatMap(({ takeBack = [] }) => takeBack).length
  if (payments > 0) await writeAudit(tx, { ownerId, kind: 'payment_voided', about: texts.again.voided(payments) }, from, now)
  const stay = new Set(kept.map(({ _id }) => _id))
  const done = changes.filter(({ invoiceId }) => !stay.has(invoiceId)).map(({ id }) => id)
  await tx
    .update(invoiceChanges)
    .set({ undoneAt: now })
    .where(and(eq(invoiceChanges.ownerId, ownerId), sql`${invoiceChanges.id} = ANY(${arrayText(done)}::uuid[])`))
  return { deleted: created.length, restored: settling.length, kept }
}

/** Whether a payment counts that was recorded after the invoice was imported. */
function isPaidSince({ createdAt }: InvoiceRow, live: PaymentRow[] = []): boolean {
  return live.some(({ origin, recordedAt }) => !(recordedAt.equals(createdAt) && (origin === 'import' || origin === 'marked')))
}

/** How an invoice is again as it was before the import; or why it stays, where it was changed since. */
function takenBack(
  row: InvoiceRow,
  changes: ChangeRow[],
  { live, importId, today }: { live: PaymentRow[] | undefined; importId: string; today: string },
): Settling | string {
  const of = (field: ChangeRow['field']) => changes.find((change) => change.field === field)
  const [amount, dueDate, paid, keptUnpaid] = [of('amount'), of('due_date'), of('paid'), of('kept_unpaid')]
  const takeBack = (live ?? []).filter(({ batchId }) => batchId === importId)
  const changed =
    row.deletedAt !== null ||
    (amount && amount.after !== String(row.amountMinor)) ||
    (dueDate && dueDate.after !== row.dueDate) ||
    (paid && takeBack.length === 0)
  if (changed) return texts.again.changedSince(row.reference)
  if (row.paidMinor < sumOf(takeBack)) return refundFirst(row.reference).message
  const wasKept = keptUnpaid !== undefined || (row.keptUnpaid && dueDate === undefined)
  // None for a paid one: `settle` finds it, so that no event says that it became overdue.
  const status = row.status === 'paid' ? undefined : dueDate ? statusOn(dueDate.before ?? row.dueDate, today) : row.status
  return {
    row,
    live,
    takeBack,
    set: {
      ...(amount?.before ? { amountMinor: Number(amount.before) } : {}),
      ...(dueDate?.before ? { dueDate: dueDate.before } : {}),
    },
    status: wasKept ? 'unpaid' : status,
    keptUnpaid: wasKept,
  }
}
