import { and, desc, eq, inArray, notInArray, sql } from 'drizzle-orm'
import { z } from 'zod'
import type { Note } from '#contract/invoices.ts'
import { fromMinor } from '#contract/money.ts'
import type { changedFields, HistoryChange } from '#contract/reminders.ts'
import { lockRow, nameActors } from '#server/accounts/accounts.ts'
import { actorNow } from '#server/platform/actor.ts'
import type { Instant } from '#server/platform/clock.ts'
import { given, newId } from '#server/platform/columns.ts'
import { type Database, statement } from '#server/platform/database.ts'
import { ProblemError } from '#server/platform/problem-error.ts'
import { type InvoiceRow, invoiceChanges, invoiceNotes } from './tables.ts'
import { texts } from './texts.ts'

type Field = (typeof changedFields)[number]

/** What `invoices.version` counts. */
const versioned = ['client_name', 'client_email', 'amount', 'currency', 'language', 'issued_on', 'due_date', 'status', 'reference'] as const

/** A change that is to be recorded. `importId`: of the import that made it. */
interface Noted {
  invoiceId: string
  field: Field
  before?: string | null
  after?: string | null
  importId?: string | null | undefined
}

const columns = [
  ['client_name', 'clientName'],
  ['client_email', 'clientEmail'],
  ['amount', 'amountMinor'],
  ['currency', 'currency'],
  ['language', 'language'],
  ['issued_on', 'issuedOn'],
  ['due_date', 'dueDate'],
  ['status', 'status'],
  ['reference', 'reference'],
  ['kept_unpaid', 'keptUnpaid'],
  ['paid', 'paidMinor'],
] as const satisfies [Field, keyof InvoiceRow][]

/** The fields in which an invoice differs from how it was. */
export function changesBetween(before: InvoiceRow, after: Pick<InvoiceRow, 'id' | (typeof columns)[number][1]>): Noted[] {
  return columns.flatMap(([field, column]) =>
    before[column] === after[column]
      ? []
      : [{ invoiceId: after.id, field, before: String(before[column] ?? ''), after: String(after[column] ?? '') }],
  )
}

const change = given(invoiceChanges, ['ownerId', 'id', 'invoiceId', 'at', 'personId', 'program', 'importId', 'field', 'before', 'after'])
/** Records the changes that come with a statement as `changes`, by `changesText`. */
export const insertChanges = sql`INSERT INTO ${invoiceChanges} (${change.columns}) SELECT ${change.columns} FROM ${change.rows('changes')}`

/** What changed, and for whom the running code acts. */
export function changesText(ownerId: string, changes: Noted[], now: Instant): string {
  const actor = actorNow()
  return change.text(
    changes.map(({ invoiceId, field, before = null, after = null, importId = null }) => ({
      ...{ ownerId, id: newId(), invoiceId, at: now, ...actor, importId, field, before, after },
    })),
  )
}

const noted = statement(z.unknown(), insertChanges)

export async function noteChanges(tx: Database, ownerId: string, changes: Noted[], now: Instant): Promise<void> {
  if (changes.length > 0) await noted(tx, { changes: changesText(ownerId, changes, now) })
}

/** The changes of an invoice, newest first, with who made them; what was paid is among its payments. */
export async function changesOf(
  db: Database,
  { id, ownerId, currency }: Pick<InvoiceRow, 'id' | 'ownerId' | 'currency'>,
  most: number,
): Promise<HistoryChange[]> {
  const found = await db
    .select()
    .from(invoiceChanges)
    .where(and(ofInvoice(ownerId, id), notInArray(invoiceChanges.field, ['kept_unpaid', 'paid'])))
    .orderBy(desc(invoiceChanges.id))
    .limit(most)
  const nameOf = await nameActors(db, found)
  const shown = (field: Field, value: string | null, its: string) =>
    value === null || field !== 'amount' ? value : String(fromMinor(Number(value), its))
  // The currency before and after the change that is read: minor units of one are not those of another.
  let [earlier, later] = [currency, currency]
  let exchangedAt: Instant | null = null
  return found.flatMap(({ id: _id, at, field, before, after, ...actor }) => {
    if (field === 'kept_unpaid' || field === 'paid') return []
    // An amount that changed with the currency is the next one that is read.
    const isExchanged = field === 'amount' && exchangedAt !== null && at.equals(exchangedAt)
    if (!isExchanged) later = earlier
    if (field === 'currency') [earlier, exchangedAt] = [before ?? earlier, at]
    else if (field === 'amount') exchangedAt = null
    return [{ _id, at: at.toString(), by: nameOf(actor), field, before: shown(field, before, earlier), after: shown(field, after, later) }]
  })
}

/** The last change of what people set of an invoice; undefined: none was recorded. */
export async function lastChange(db: Database, { id, ownerId }: Pick<InvoiceRow, 'id' | 'ownerId'>) {
  const [found] = await db
    .select()
    .from(invoiceChanges)
    .where(and(ofInvoice(ownerId, id), inArray(invoiceChanges.field, [...versioned])))
    .orderBy(desc(invoiceChanges.id))
    .limit(1)
  return found
}

function ofInvoice(ownerId: string, id: string) {
  return and(eq(invoiceChanges.ownerId, ownerId), sql`${invoiceChanges.invoiceId} = ${id}::uuid`)
}

/** The notes about an invoice, newest first. */
export async function notesOf(db: Database, ownerId: string, invoiceId: string, most: number): Promise<Note[]> {
  const found = await db
    .select()
    .from(invoiceNotes)
    .where(and(eq(invoiceNotes.ownerId, ownerId), eq(invoiceNotes.invoiceId, invoiceId)))
    .orderBy(desc(invoiceNotes.id))
    .limit(most)
  return toNotes(db, found)
}

/** Notes stay as they are, and each look at the invoice reads them all. */
export const mostNotes = 200

/** Refuses with `conflict` one more note than an invoice may have. */
export async function addNote(
  db: Database,
  { id, ownerId }: Pick<InvoiceRow, 'id' | 'ownerId'>,
  text: string,
  now: Instant,
): Promise<Note> {
  const its = and(eq(invoiceNotes.ownerId, ownerId), eq(invoiceNotes.invoiceId, id))
  const rows = await db.transaction(async (tx) => {
    await lockRow(tx, ownerId)
    if ((await tx.$count(invoiceNotes, its)) >= mostNotes) throw new ProblemError('conflict', texts.tooManyNotes(mostNotes))
    return tx
      .insert(invoiceNotes)
      .values({ ownerId, invoiceId: id, at: now, ...actorNow(), text })
      .returning()
  })
  const [added] = await toNotes(db, rows)
  if (!added) throw new Error('A note was not stored.')
  return added
}

async function toNotes(db: Database, rows: (typeof invoiceNotes.$inferSelect)[]): Promise<Note[]> {
  const nameOf = await nameActors(db, rows)
  return rows.map(({ id: _id, at, text, ...actor }) => ({ _id, at: at.toString(), by: nameOf(actor), text }))
}
