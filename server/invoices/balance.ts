import { and, desc, eq, inArray, isNull, sql } from 'drizzle-orm'
import { z } from 'zod'
import { formatMoney, fromMinor } from '#contract/money.ts'
import type { Payment } from '#contract/payments.ts'
import { screens } from '#contract/screens.ts'
import type { AccountRow } from '#server/accounts/accounts.ts'
import { notify, withdrawNotices } from '#server/accounts/notices.ts'
import type { Instant } from '#server/platform/clock.ts'
import { given, newId, packed } from '#server/platform/columns.ts'
import { arrayText, byKeys, type Database, statement } from '#server/platform/database.ts'
import { ProblemError } from '#server/platform/problem-error.ts'
import { changesBetween, changesText, insertChanges } from './changes.ts'
import { type AfterChange, type InvoiceRow, invoicePayments, invoices, type PaymentRow } from './tables.ts'
import { texts } from './texts.ts'

/** What is left to pay. */
export const balanceMinor = ({ amountMinor, paidMinor }: Pick<InvoiceRow, 'amountMinor' | 'paidMinor'>) =>
  Math.max(0, amountMinor - paidMinor)
/** What was paid beyond the amount. */
const overpaidMinor = ({ amountMinor, paidMinor }: Pick<InvoiceRow, 'amountMinor' | 'paidMinor'>) => Math.max(0, paidMinor - amountMinor)

/** What an invoice's JSON names of its payments, in its currency. */
export const paidFields = (row: InvoiceRow) => ({
  amountPaid: fromMinor(row.paidMinor, row.currency),
  balance: fromMinor(balanceMinor(row), row.currency),
  overpaid: fromMinor(overpaidMinor(row), row.currency),
  paidOn: row.paidOn,
  hasFile: row.fileId !== null,
})

/** A payment or refund to be recorded. Where nothing else is given: by hand, without method, reference or note. */
export type NewPayment = Pick<PaymentRow, 'origin' | 'amountMinor' | 'paidOn'> &
  Partial<
    Pick<
      PaymentRow,
      'id' | 'kind' | 'method' | 'reference' | 'note' | 'providerId' | 'bankLineHash' | 'bankId' | 'batchId' | 'requestKey' | 'requestHash'
    >
  >

/** What changes of one invoice. */
export interface Settling {
  /** As it is; locked by this transaction, and so is its account. */
  row: InvoiceRow
  /** Its payments and refunds that count. */
  live: PaymentRow[] | undefined
  /** Other columns that change with it. */
  set?: Settable
  /** The status that a person chose: `paid` only where nothing is left to pay then, another one only where something is. */
  status?: InvoiceRow['status'] | undefined
  keptUnpaid?: boolean
  record?: NewPayment[]
  takeBack?: PaymentRow[]
  /** Of the import that changes it. */
  importId?: string | null
}
type Settled =
  | 'clientName'
  | 'clientEmail'
  | 'amountMinor'
  | 'currency'
  | 'language'
  | 'issuedOn'
  | 'dueDate'
  | 'reference'
  | 'refusal'
  | 'undeliveredSince'
  | 'undeliveredReply'
type Settable = { [Column in Settled]?: InvoiceRow[Column] | undefined }

const [invoiceRow, paymentRow] = [packed(invoices), packed(invoicePayments)]
const settledColumns = [
  ...(['clientName', 'clientEmail', 'amountMinor', 'currency', 'language', 'issuedOn', 'dueDate', 'reference'] as const),
  ...([
    'importedAs',
    'refusal',
    'undeliveredSince',
    'undeliveredReply',
    'status',
    'paidMinor',
    'paidOn',
    'paidAt',
    'keptUnpaid',
    'updatedAt',
  ] as const),
]
const after = given(invoices, ['id', ...settledColumns])
const payment = given(invoicePayments, [
  ...([
    'ownerId',
    'id',
    'invoiceId',
    'kind',
    'origin',
    'amountMinor',
    'currency',
    'paidOn',
    'method',
    'reference',
    'note',
    'providerId',
  ] as const),
  ...(['bankLineHash', 'bankId', 'batchId', 'requestKey', 'requestHash', 'recordedAt'] as const),
])
/** Adds the payments that come with a statement as `payments`, by `paymentsText`. */
export const insertPayments = sql`INSERT INTO ${invoicePayments} (${payment.columns}) SELECT ${payment.columns} FROM ${payment.rows('payments')}`

const packedRows = z.array(z.array(z.unknown())).nullable()
/** What changes first is read first: triggers make its events before those of payments. */
const settleAll = statement(
  z.object({ rows: packedRows, recorded: packedRows }),
  sql`WITH changed AS (
        UPDATE ${invoices} SET (${after.columns}) = ROW (${after.of('s')})
        FROM ${byKeys(after.rows('rows'))} s WHERE ${invoices.ownerId} = ${sql.placeholder('owner')}::uuid AND ${invoices.id} = s.id
        RETURNING ${invoiceRow.row} AS row),
      voided AS (
        UPDATE ${invoicePayments} SET voided_at = ${sql.placeholder('now')}::timestamptz
        WHERE ${invoicePayments.ownerId} = ${sql.placeholder('owner')}::uuid AND ${invoicePayments.id} = ANY(${sql.placeholder('voided')}::uuid[]) RETURNING 1),
      recorded AS (${insertPayments} RETURNING ${paymentRow.row} AS row),
      noted AS (${insertChanges})
      SELECT (SELECT json_agg(row) FROM changed) AS rows, (SELECT count(*) FROM voided), (SELECT json_agg(row) FROM recorded) AS recorded`,
)

/** Whether something that a trigger reads is so until it is set again. */
const reopening = statement(z.unknown(), sql`SELECT set_config('duely.reopened', ${sql.placeholder('on')}::text, true)`)

/**
 * Everything that changes payments or amounts of invoices goes through here: it writes the rows, their sums and the status that follows, and
 * records who changed what, and calls `afterChange`. A paid invoice that something is left to pay of again is overdue where its due date has passed, else unpaid, without
 * an event. The account's row must be locked. Returns the invoices in the given order, the new payments, and whether anything followed that
 * may have changed them further.
 */
export async function settle(
  tx: Database,
  owner: Pick<AccountRow, 'id' | 'timezone'>,
  changes: Settling[],
  now: Instant,
  afterChange: AfterChange,
): Promise<{ rows: InvoiceRow[]; recorded: PaymentRow[]; followed: boolean }> {
  if (changes.length === 0) return { rows: [], recorded: [], followed: false }
  const today = now.toZonedDateTimeISO(owner.timezone).toPlainDate().toString()
  const settled = changes.map((change) => {
    const set = Object.fromEntries(Object.entries(change.set ?? {}).filter(([, value]) => value !== undefined))
    const before = change.row
    const after = { ...before, ...set, importedAs: importedAs(change), ...statusAfter(change, today, now), updatedAt: now }
    return { change, before, after }
  })
  const isReopened = settled.some(
    ({ change: { row, status }, after }) => row.status === 'paid' && status === undefined && after.status === 'overdue',
  )
  // Read by the trigger that tells of overdue invoices.
  if (isReopened) await reopening(tx, { on: 'on' })
  const [written] = await settleAll(tx, {
    owner: owner.id,
    now: now.toString(),
    rows: after.text(settled.map((one) => one.after)),
    voided: arrayText(changes.flatMap(({ takeBack = [] }) => takeBack.map(({ id }) => id))),
    payments: paymentsText(
      owner.id,
      settled.flatMap(({ change: { record = [] }, after: { id, currency } }) => record.map((one) => ({ ...one, invoiceId: id, currency }))),
      now,
    ),
    changes: changesText(
      owner.id,
      settled.flatMap(({ change: { importId }, before, after }) => changesBetween(before, after).map((one) => ({ ...one, importId }))),
      now,
    ),
  })
  if (isReopened) await reopening(tx, { on: '' })
  const byId = new Map((written?.rows ?? []).map(invoiceRow.read).map((row) => [row.id, row]))
  const pairs = settled.map(({ change: { takeBack = [] }, before }) => {
    const after = byId.get(before.id) ?? before
    return { before, after, takenBack: takeBack.length > 0 && after.status !== 'paid' }
  })
  const followed = await afterChange(
    tx,
    owner.id,
    pairs.map(({ before }) => before.id),
    now,
    pairs.filter(
      ({ before, after, takenBack }) =>
        takenBack || before.clientEmail !== after.clientEmail || before.currency !== after.currency || before.dueDate < after.dueDate,
    ),
  )
  for (const { before, after } of pairs) if (overpaidMinor(before) !== overpaidMinor(after)) await noteOverpaid(tx, after, now)
  return { rows: pairs.map(({ after }) => after), recorded: (written?.recorded ?? []).map(paymentRow.read), followed }
}

/** The notice that more was paid than the invoice is over, as long as that is so. It is never moved. */
async function noteOverpaid(tx: Database, row: InvoiceRow, now: Instant): Promise<void> {
  const { id, ownerId, reference, clientName, currency } = row
  const over = overpaidMinor(row)
  if (over === 0) return withdrawNotices(tx, ownerId, ['overpaid'], id)
  const { title, text } = texts.payment.overpaid
  const clients = [{ clientName, invoiceId: id, reference }]
  const shown = formatMoney(fromMinor(over, currency), currency)
  const about = { title: title(reference, shown), text: text(clientName), link: screens.invoice(id), cause: id, clients }
  await notify(tx, ownerId, { kind: 'overpaid', ...about }, now)
}

/** Payments for `insertPayments`. */
export function paymentsText(ownerId: string, payments: (NewPayment & { invoiceId: string; currency: string })[], now: Instant): string {
  const nothing = {
    method: null,
    reference: '',
    note: '',
    providerId: null,
    bankLineHash: null,
    bankId: null,
    batchId: null,
    requestKey: null,
    requestHash: null,
  }
  return payment.text(
    payments.map((one) => ({
      ...nothing,
      kind: 'payment' as const,
      ...one,
      id: one.id ?? newId(),
      ownerId,
      recordedAt: now,
    })),
  )
}

/** What a change leads to: the columns of an invoice that follow from its payments. */
function statusAfter(
  { row, live = [], set = {}, status: chosen, keptUnpaid, record = [], takeBack = [] }: Settling,
  today: string,
  now: Instant,
): Pick<InvoiceRow, 'status' | 'paidMinor' | 'paidOn' | 'paidAt' | 'keptUnpaid'> {
  const gone = new Set(takeBack.map(({ id }) => id))
  const payments = [...live.filter(({ id }) => !gone.has(id)), ...record]
  const paidMinor = payments.reduce((sum, payment) => sum + signed(payment), 0)
  const dueDate = set.dueDate ?? row.dueDate
  const isPaid = paidMinor >= (set.amountMinor ?? row.amountMinor)
  if (isPaid) {
    const latest = (wanted: PaymentRow['kind']) =>
      payments
        .flatMap(({ kind = 'payment', paidOn }) => (kind === wanted ? [paidOn] : []))
        .toSorted()
        .at(-1)
    const paidAt = row.status === 'paid' ? row.paidAt : now
    return { status: 'paid', paidMinor, paidOn: latest('payment') ?? latest('credit') ?? today, paidAt, keptUnpaid: false }
  }
  const reopened = dueDate < today ? 'overdue' : 'unpaid'
  const status = chosen ?? (row.status === 'paid' ? reopened : row.status)
  return { status, paidMinor, paidOn: null, paidAt: null, keptUnpaid: keptUnpaid ?? (row.status !== 'paid' && row.keptUnpaid) }
}

/** The reference that an invoice keeps where it was imported from, as soon as it has another one here. */
function importedAs({ row, set }: Settling): string | null {
  const there = row.importedAs ?? row.reference
  return row.source === null || there === (set?.reference ?? row.reference) ? null : there
}

/** Whether nothing is left to pay after a change. */
export function isPaidAfter({ row, set = {}, record = [], takeBack = [] }: Settling): boolean {
  return row.paidMinor + sumOf(record) - sumOf(takeBack) >= (set.amountMinor ?? row.amountMinor)
}

function signed({ kind, amountMinor }: Pick<NewPayment, 'kind' | 'amountMinor'>): number {
  return kind === 'refund' ? -amountMinor : amountMinor
}

/** What is paid by these rows. */
export const sumOf = (payments: Pick<NewPayment, 'kind' | 'amountMinor'>[]) => payments.reduce((sum, one) => sum + signed(one), 0)

/** The payments and refunds that count, by invoice. */
export async function livePayments(tx: Database, ownerId: string, invoiceIds: string[]): Promise<Map<string, PaymentRow[]>> {
  const found = await tx
    .select()
    .from(invoicePayments)
    .where(
      and(
        eq(invoicePayments.ownerId, ownerId),
        sql`${invoicePayments.invoiceId} = ANY(${arrayText(invoiceIds)}::uuid[])`,
        isNull(invoicePayments.voidedAt),
      ),
    )
  return Map.groupBy(found, ({ invoiceId }) => invoiceId)
}

/**
 * What a chosen status means for the payments of an invoice. To `paid`: what is left to pay is marked as paid today. From `paid`: the marks
 * are taken back; what others cover is refused with `conflict`. Where the amount of a marked invoice changes, the mark follows.
 */
export function byStatus(
  row: InvoiceRow,
  live: PaymentRow[] | undefined,
  about: { status: InvoiceRow['status'] | undefined; amountMinor?: number | undefined; today: string },
): Pick<Settling, 'record' | 'takeBack' | 'status'> {
  const { amountMinor = row.amountMinor, today } = about
  // A client may send back the status that it was given.
  const status = about.status === row.status ? undefined : about.status
  const marks = (live ?? []).filter(({ origin }) => origin === 'marked')
  const others = row.paidMinor - sumOf(marks)
  const mark = (rest: number, paidOn: string): NewPayment[] => (rest > 0 ? [{ origin: 'marked', amountMinor: rest, paidOn }] : [])
  if (status === 'paid' || (about.status === 'paid' && marks.length === 0))
    return { record: mark(amountMinor - row.paidMinor, today), status: 'paid' }
  if (row.status !== 'paid') {
    if (status !== undefined && row.paidMinor >= amountMinor) throw coveredByOthers(row.reference)
    return { status }
  }
  if (status !== undefined) {
    if (others >= amountMinor) throw coveredByOthers(row.reference)
    if (others < 0) throw refundFirst(row.reference)
    return { takeBack: marks, status }
  }
  const latest = marks.map(({ paidOn }) => paidOn).toSorted()
  const last = latest.at(-1)
  if (amountMinor === row.amountMinor || last === undefined) return {}
  return { takeBack: marks, record: mark(amountMinor - others, last) }
}

export function coveredByOthers(reference: string): ProblemError {
  const message = texts.payment.coveredByOthers(reference)
  return new ProblemError('conflict', message, { errors: [{ path: 'status', message }] })
}

export function refundFirst(reference: string): ProblemError {
  return new ProblemError('conflict', texts.payment.refundFirst(reference))
}

/** Of a payment: it was received on its day. What an import created as paid was received on a day that is not known. */
export const dayKnown = sql`(batch_id IS NULL OR recorded_at <> (SELECT i.created_at FROM invoices i WHERE i.id = invoice_id))`

/** Of a paid invoice `i`: money came in for it. One that was only credited was not paid, and teaches nothing about how its client pays. */
export const wasPaid = sql`NOT (EXISTS (SELECT 1 FROM invoice_payments c WHERE c.owner_id = i.owner_id AND c.invoice_id = i.id AND c.kind = 'credit' AND c.voided_at IS NULL)
  AND NOT EXISTS (SELECT 1 FROM invoice_payments p WHERE p.owner_id = i.owner_id AND p.invoice_id = i.id AND p.kind = 'payment' AND p.voided_at IS NULL))`

/** Newest first. */
export const newestPayments = [desc(invoicePayments.recordedAt), desc(invoicePayments.id)]

/** The payments and refunds of invoices, newest first, also those that were taken back. */
export async function paymentsOf(db: Database, ownerId: string, invoiceIds: string[]): Promise<PaymentRow[]> {
  if (invoiceIds.length === 0) return []
  return db
    .select()
    .from(invoicePayments)
    .where(and(eq(invoicePayments.ownerId, ownerId), inArray(invoicePayments.invoiceId, invoiceIds)))
    .orderBy(...newestPayments)
}

/** Converts a row to JSON: amounts in their currency, instants as ISO 8601 in UTC. */
export function toPayment(row: PaymentRow): Payment {
  return {
    _id: row.id,
    invoiceId: row.invoiceId,
    kind: row.kind,
    origin: row.origin,
    amount: fromMinor(row.amountMinor, row.currency),
    currency: row.currency,
    paidOn: row.paidOn,
    method: row.method,
    reference: row.reference,
    note: row.note,
    recordedAt: row.recordedAt.toString(),
    voidedAt: row.voidedAt?.toString() ?? null,
  }
}
