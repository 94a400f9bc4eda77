import { type AnyColumn, and, count, eq, gte, inArray, isNotNull, isNull, lt, ne, or, type SQL, sql } from 'drizzle-orm'
import { z } from 'zod'
import type { accountCalls } from '#contract/accounts.ts'
import type { CallReply } from '#contract/call.ts'
import { isCurrency, unknownCurrency } from '#contract/currency-codes.ts'
import { deliveryProblem } from '#contract/delivery-problem.ts'
import { referenceKey } from '#contract/import/invoice-file.ts'
import {
  type Invoice,
  type InvoiceChange,
  type InvoiceDraft,
  type InvoiceQuery,
  type NotDelivered,
  tagOfInvoice,
} from '#contract/invoices.ts'
import { amountProblem, fromMinor, type Money, toMinor, toMoney } from '#contract/money.ts'
import type { PaymentOrigin } from '#contract/payments.ts'
import { searchKey } from '#contract/search.ts'
import { type AccountRow, changedMeanwhile, isMeant, lockAccount, lockRow, type Origin, writeAudit } from '#server/accounts/accounts.ts'
import { accounts } from '#server/accounts/tables.ts'
import { countCreated, monthOf as countedMonth, createdInMonth, roomInMonth } from '#server/billing/billing.ts'
import type { Instant } from '#server/platform/clock.ts'
import { given, newId, packed } from '#server/platform/columns.ts'
import { arrayText, columnText, type Database, rows, statement } from '#server/platform/database.ts'
import type { Deps } from '#server/platform/deps.ts'
import { invalid, ProblemError } from '#server/platform/problem-error.ts'
import {
  byStatus,
  dayKnown,
  insertPayments,
  isPaidAfter,
  type NewPayment,
  paidFields,
  paymentsText,
  type Settling,
  settle,
  sumOf,
} from './balance.ts'
import { changesText, insertChanges, lastChange, noteChanges } from './changes.ts'
import {
  type Clients,
  holdOf,
  holdRow,
  notPaused,
  packedClients,
  type paused,
  pauseOf,
  pauseRow,
  readClients,
  unpackClients,
} from './pauses.ts'
import { type AfterChange, addressHolds, clientPauses, clients, type InvoiceRow, invoicePayments, invoices } from './tables.ts'
import { texts } from './texts.ts'

/** A deleted invoice can be restored for this long; then it is erased. */
const keptDeleted = { hours: 30 * 24 }

/** Invoices read at a time where all are asked for: about 20 ms of work. */
const chunk = 250
/** A list or preview of more invoices than this is streamed, as a heavy call. */
export const long = 250
/** The most open invoices of an account: each is looked at every day. */
export const mostOpen = 50_000

// For the history of an invoice.
export { changesOf, notesOf } from './changes.ts'

const [invoiceRow, paymentRow] = [packed(invoices), packed(invoicePayments)]

/** Newest first. Must match the order of the index; neither column is ever null. */
const newestFirst = sql`${invoices.createdAt} DESC NULLS LAST, ${invoices.id} DESC NULLS LAST`

/** A page of the list, newest first, and the cursor of the next page: null when there is none. */
export async function listInvoices(
  db: Database,
  ownerId: string,
  query: InvoiceQuery,
): Promise<{ page: InvoiceRow[]; next: string | null }> {
  const asked = db
    .select({ row: invoiceRow.row.mapWith(invoiceRow.read) })
    .from(invoices)
    .where(
      and(
        ...listed(ownerId, query),
        query.search ? await withText(db, ownerId, query.search) : undefined,
        query.cursor === undefined ? undefined : await olderThan(db, ownerId, query.cursor),
      ),
    )
    .orderBy(newestFirst)
  const found = (await (query.limit === undefined ? asked : asked.limit(query.limit + 1))).map(({ row }) => row)
  const page = found.slice(0, query.limit)
  return { page, next: found.length > page.length ? (page.at(-1)?.id ?? null) : null }
}

/** All invoices of the list, newest first, in pages. */
export async function* invoicePages(db: Database, ownerId: string, query: InvoiceQuery): AsyncGenerator<InvoiceRow[]> {
  for (let cursor = query.cursor; ; ) {
    const { page, next } = await listInvoices(db, ownerId, { ...query, limit: chunk, cursor })
    yield page
    if (next === null) return
    cursor = next
  }
}

/** How many invoices an account has; those beyond `long` count as one. */
export async function sizeOfList(db: Database, ownerId: string): Promise<number> {
  return countUpTo(db, long + 1, and(...listed(ownerId, {})))
}

async function countUpTo(db: Database, most: number, which: SQL | undefined): Promise<number> {
  return db.$count(db.select({ id: invoices.id }).from(invoices).where(which).limit(most).as('counted'))
}

/** How many more open invoices an account may have; its row is locked. */
export async function openRoom(tx: Database, ownerId: string): Promise<number> {
  const open = and(...listed(ownerId, {}), ne(invoices.status, 'paid'))
  return mostOpen - (await countUpTo(tx, mostOpen, open))
}

export function tooManyOpen(): ProblemError {
  return new ProblemError('conflict', texts.tooManyOpen(mostOpen))
}

/** A version of some rows: every write gives a row a new xmin, independent of clocks, so the sum over (key, xmin) changes with every change. */
const versionOf = (key: AnyColumn) => sql`coalesce(sum(hashtextextended(${key}::text || xmin::text, 0)), 0)::text`

const listOwner = sql`${sql.placeholder('owner')}::uuid`
const live = sql`${invoices.ownerId} = ${listOwner} AND ${invoices.deletedAt} IS NULL`
/** Of a list that is answered as a whole, the part that concerns the clients in it. */
const ofListed = (key: AnyColumn) => sql`${key} IN (SELECT lower(${invoices.clientEmail}) FROM ${invoices} WHERE ${live})`
const isWanted = sql`v.size <= ${sql.placeholder('most')}::int AND NOT v.version = ANY(${sql.placeholder('known')}::text[])`

const wholeList = statement(
  z.object({
    size: z.number(),
    version: z.string(),
    rows: z.array(z.array(z.unknown())).nullable(),
    ...packedClients.shape,
  }),
  sql`SELECT v.size, v.version,
        CASE WHEN ${isWanted} THEN (SELECT coalesce(json_agg(${invoiceRow.row} ORDER BY ${newestFirst}), '[]') FROM ${invoices} WHERE ${live}) END AS rows,
        CASE WHEN ${isWanted} THEN (SELECT json_agg(${pauseRow.row}) FROM ${clientPauses} WHERE ${clientPauses.ownerId} = ${listOwner} AND ${ofListed(clientPauses.clientKey)}) END AS pauses,
        CASE WHEN ${isWanted} THEN (SELECT json_agg(${holdRow.row}) FROM ${addressHolds} WHERE ${addressHolds.ownerId} = ${listOwner} AND ${ofListed(addressHolds.clientKey)}) END AS holds
      FROM (SELECT i.size, concat_ws('.', i.size, i.version, p.version, h.version) AS version
        FROM (SELECT count(*)::int AS size, ${versionOf(invoices.id)} AS version FROM ${invoices} WHERE ${live}) i,
          (SELECT ${versionOf(clientPauses.clientKey)} AS version FROM ${clientPauses} WHERE ${clientPauses.ownerId} = ${listOwner}) p,
          (SELECT ${versionOf(addressHolds.clientKey)} AS version FROM ${addressHolds} WHERE ${addressHolds.ownerId} = ${listOwner}) h) v`,
)

/**
 * The size and version of an account's invoices; and the invoices themselves, newest first, with what is known about their clients, where
 * they are at most `most` and none of the `known` versions is theirs. One statement, so that all of it is of one moment.
 */
export async function readList(
  db: Database,
  ownerId: string,
  about: { most: number; known: string[] },
): Promise<{ size: number; version: string; list: { rows: InvoiceRow[]; clients: Clients } | null }> {
  const [found] = await wholeList(db, { owner: ownerId, most: about.most, known: arrayText(about.known) })
  if (!found) throw new Error('The statement of a list answers one row.')
  const { size, version, rows } = found
  return { size, version, list: rows && { rows: rows.map(invoiceRow.read), clients: unpackClients(found) } }
}

/** One invoice. Refuses with `not_found` where it is missing, deleted or of another account. */
export async function readInvoice(db: Database, ownerId: string, id: string): Promise<InvoiceRow> {
  const [row] = await db.select().from(invoices).where(mine(ownerId, id))
  if (!row) throw notFound()
  return row
}

/** An invoice, and what is known about its client. */
export interface Shown {
  row: InvoiceRow
  clients: Clients
}

/**
 * Creates an invoice under the given reference or the account's next number. Refuses with `conflict` a taken reference and one more open
 * invoice than an account may have, and with `plan_limit` one more than the plan allows this month.
 */
export async function createInvoice(
  db: Database,
  ownerId: string,
  draft: InvoiceDraft,
  now: Instant,
  config: Pick<Deps['config'], 'razorpay'>,
  origin: PaymentOrigin = 'by_hand',
): Promise<Shown> {
  return db.transaction(async (tx) => {
    const owner = await lockOwner(tx, ownerId)
    const [[created], clients] = await Promise.all([
      createInvoices(tx, owner, [draft], now, config, { origin }),
      readClients(tx, ownerId, [draft]),
    ])
    if (!created || created instanceof ProblemError) throw created ?? notFound()
    return { row: created, clients }
  })
}

/** A draft, the pause that its invoice begins with, and what it is imported from. */
type NewInvoice = InvoiceDraft & Partial<ReturnType<typeof paused>> & { source?: string | null }

/** What a draft names as paid: the part, and with the status `paid` a mark over the rest. */
function paidOf(
  { amount, amountPaid = 0, status }: InvoiceDraft,
  { origin, batchId, today, currency }: { origin: PaymentOrigin; batchId: string | null; today: string; currency: string },
): NewPayment[] {
  const rest = status === 'paid' ? minor(amount, currency) - minor(amountPaid, currency) : 0
  return [
    ...(amountPaid > 0 ? [{ origin, amountMinor: minor(amountPaid, currency), paidOn: today, batchId }] : []),
    ...(rest > 0 ? [{ origin: 'marked' as const, amountMinor: rest, paidOn: today, batchId }] : []),
  ]
}

/** Whether nothing is left to pay of it. */
function isPaidFrom({ status, amount, amountPaid = 0 }: InvoiceDraft): boolean {
  return status === 'paid' || amountPaid >= amount
}

const owned = sql`${sql.placeholder('owner')}::uuid`
const thisMonth = sql`${sql.placeholder('month')}::text`
/** Whether an invoice has one of these references, however it is written. */
const referenceAmong = (references: SQL) =>
  sql`reference_key(${invoices.reference}) = ANY(ARRAY(SELECT reference_key(asked) FROM unnest(${references}::text[]) AS asked))`
export const hasReference = (references: string[]) => referenceAmong(sql`${arrayText(references)}`)
const liveReferencesAmong = sql`SELECT ${invoices.reference} FROM ${invoices} WHERE ${live} AND ${referenceAmong(sql`${sql.placeholder('references')}`)}`
const openCount = sql`SELECT count(*)::int FROM (SELECT 1 FROM ${invoices} WHERE ${live} AND ${invoices.status} <> 'paid' LIMIT ${mostOpen}) AS counted`

/** What decides whether an account may create invoices; its row is locked. */
const limits = statement(
  z.object({ open: z.number(), created: z.number(), taken: z.array(z.string()) }),
  sql`SELECT (${openCount}) AS open, ${createdInMonth(owned, thisMonth)} AS created, ARRAY(${liveReferencesAmong}) AS taken`,
)

const fresh = given(invoices, [
  ...(['id', 'ownerId', 'reference', 'clientName', 'clientEmail', 'amountMinor', 'currency', 'language', 'issuedOn', 'dueDate'] as const),
  ...(['status', 'createdAt', 'updatedAt', 'paidAt', 'paidMinor', 'paidOn', 'source'] as const),
  ...(['pausedAt', 'pausedUntil', 'pauseNote', 'pausePromised', 'pauseBecause'] as const),
])
const createAll = statement(
  z.object({ row: z.array(z.unknown()) }),
  sql`WITH created AS (INSERT INTO ${invoices} (${fresh.columns}) SELECT ${fresh.columns} FROM ${fresh.rows('rows')} RETURNING ${invoices.id}, ${invoiceRow.row} AS row),
        recorded AS (${insertPayments}), noted AS (${insertChanges}),
        counted AS (${countCreated(owned, thisMonth, sql`${sql.placeholder('count')}::int`)}),
        numbered AS (UPDATE accounts SET last_reference_number = ${sql.placeholder('last')}::int WHERE id = ${owned} AND last_reference_number <> ${sql.placeholder('last')}::int)
      SELECT row FROM created ORDER BY id`,
)

/**
 * Creates many invoices in a transaction that has locked their owner: for each draft, in its place, the row or the refusal. Every invoice
 * is created here. `origin`: of what they name as paid. `importId`: of an import that can be undone.
 */
export async function createInvoices(
  tx: Database,
  owner: AccountRow,
  drafts: NewInvoice[],
  now: Instant,
  config: Pick<Deps['config'], 'razorpay'>,
  { origin = 'by_hand', importId = null }: { origin?: PaymentOrigin; importId?: string | null } = {},
): Promise<(InvoiceRow | ProblemError)[]> {
  const wanted = drafts.flatMap(({ reference }) => reference ?? [])
  const month = countedMonth(now, owner.timezone)
  const next = numbersFrom(owner.lastReferenceNumber + 1, drafts.length - wanted.length)
  const references = arrayText([...wanted, ...next.map(numbered)])
  const [found] = await limits(tx, { owner: owner.id, month, references })
  if (!found) throw new Error('The statement of limits answers one row.')
  const taken = new Set(found.taken.map(referenceKey))
  const clashes = drafts.map(({ reference, amount, amountPaid = 0, currency = owner.currency }) => {
    const unfit = refusedAmount({ amount, amountPaid }, currency)
    if (unfit || reference === undefined) return unfit
    if (taken.has(referenceKey(reference))) return referenceTaken(reference)
    taken.add(referenceKey(reference))
    return null
  })
  let open = mostOpen - found.open
  const fitting = clashes.map((clash, at) => clash ?? (isPaidFrom(drafts[at] as NewInvoice) || open-- > 0 ? null : tooManyOpen()))
  const room = await roomInMonth(tx, owner, found.created, now, config)
  let left = room.allowed
  const refusals = fitting.map((clash) => clash ?? (left-- > 0 ? null : room.refusal))
  const good = drafts.filter((_draft, index) => refusals[index] === null)
  if (good.length === 0) return refusals.flatMap((refusal) => refusal ?? [])
  const unnumbered = good.filter(({ reference }) => reference === undefined).length
  const numbers = await nextReferences(tx, owner.id, { first: owner.lastReferenceNumber + 1, howMany: unnumbered, known: next, taken })
  const last = numbers.at(-1) ?? owner.lastReferenceNumber
  // They share an instant, so ascending ids keep their order.
  const ids = good.map(() => newId()).sort()
  const today = localDate(now, owner.timezone)
  const payments: Parameters<typeof paymentsText>[1] = []
  const rows = good.map((draft) => {
    const { amount, currency = owner.currency, reference, amountPaid: _, ...fields } = draft
    const id = ids.shift() ?? newId()
    const its = paidOf(draft, { origin, batchId: importId, today, currency })
    payments.push(...its.map((payment) => ({ ...payment, invoiceId: id, currency })))
    return {
      ...notPaused,
      ...fields,
      ...(isPaidFrom(draft) ? { status: 'paid' as const, paidAt: now, paidOn: today } : { paidAt: null, paidOn: null }),
      id,
      ownerId: owner.id,
      reference: reference ?? numbered(numbers.shift() ?? 0),
      amountMinor: minor(amount, currency),
      currency,
      language: draft.language ?? null,
      issuedOn: draft.issuedOn ?? today,
      paidMinor: sumOf(its),
      source: draft.source ?? null,
      createdAt: now,
      updatedAt: now,
    }
  })
  const created = await createAll(tx, {
    owner: owner.id,
    month,
    count: rows.length,
    last,
    rows: fresh.text(rows),
    payments: paymentsText(owner.id, payments, now),
    changes: changesText(
      owner.id,
      rows.map(({ id }) => ({ invoiceId: id, field: 'created', importId })),
      now,
    ),
  })
  const inOrder = created.map(({ row }) => invoiceRow.read(row))
  return refusals.flatMap((refusal) => refusal ?? inOrder.shift() ?? [])
}

/**
 * Changes the given fields; another currency keeps the number. An invoice past due that a person sets to unpaid stays so until its due date
 * changes. `ifMatch`: the tags of the versions that the change is meant for; refuses with `changed_meanwhile` where the invoice has another one.
 */
export async function updateInvoice(
  db: Database,
  ownerId: string,
  { id, change, ifMatch }: { id: string; change: InvoiceChange; ifMatch?: string | undefined },
  now: Instant,
  afterChange: AfterChange,
): Promise<Shown> {
  return db.transaction(async (tx) => {
    const [, { owner, row, live, recorded }] = await Promise.all([lockOwnersRow(tx, ownerId), lockInvoice(tx, ownerId, id)])
    const readAgain = async () => {
      const after = await readInvoice(tx, ownerId, id)
      return { row: after, clients: await readClients(tx, ownerId, [after]) }
    }
    if (!isMeant(ifMatch, tagOfInvoice({ _id: row.id, version: row.version }))) {
      const about = { what: 'this invoice', version: row.version, change: await lastChange(tx, row) } as const
      throw await changedMeanwhile(tx, owner, about, row.updatedAt)
    }
    if (Object.keys(change).length === 0) return readAgain()
    if (change.reference !== undefined && change.reference !== row.reference)
      await refuseTakenReference(tx, ownerId, change.reference, row.reference)
    const { amount = fromMinor(row.amountMinor, row.currency), status: chosen, paidOn, ...fields } = change
    const { currency = row.currency } = change
    const unfit = refusedAmount({ amount }, currency)
    if (unfit) throw unfit
    const today = localDate(now, owner.timezone)
    if (paidOn !== undefined && paidOn > today) throw invalid('paidOn', texts.payment.future)
    const amountMinor = minor(amount, currency)
    if (currency !== row.currency && live !== undefined) throw paidInAnotherCurrency(row)
    const money = byStatus(row, live, { status: chosen, amountMinor, today: paidOn ?? today })
    if (money.record?.length) refuseMorePayments(row, recorded)
    const settling: Settling = {
      row,
      live,
      set: {
        ...fields,
        amountMinor,
        ...(isOtherAddress(row, change) ? { refusal: null, undeliveredSince: null, undeliveredReply: null } : {}),
      },
      ...money,
      status: money.status ?? movedStatus(row, change, today),
      keptUnpaid: keptUnpaid(row, change, today),
    }
    if (row.status === 'paid' && !isPaidAfter(settling) && (await openRoom(tx, ownerId)) < 1) throw tooManyOpen()
    const to = { clientName: change.clientName ?? row.clientName, clientEmail: change.clientEmail ?? row.clientEmail }
    const isTakenAlong = isOtherAddress(row, change) && (await takeClientAlong(tx, row, to))
    const [{ rows, followed }, clients] = await Promise.all([
      settle(tx, owner, [settling], now, afterChange),
      readClients(tx, ownerId, [row]),
    ])
    if (isOtherAddress(row, change)) await dropClients(tx, ownerId, [row.clientEmail.toLowerCase()], isTakenAlong)
    // A pause may have ended meanwhile, such as that by the former client's word.
    return followed || isOtherAddress(row, change) ? readAgain() : { row: rows[0] ?? row, clients }
  })
}

const lockedInvoice = statement(
  z.object({ row: z.array(z.unknown()), timezone: z.string(), payments: z.array(z.array(z.unknown())).nullable(), recorded: z.number() }),
  sql`SELECT ${invoiceRow.row} AS row, ${accounts.timezone} AS timezone,
        (SELECT json_agg(${paymentRow.row}) FROM ${invoicePayments} WHERE ${invoicePayments.ownerId} = ${owned} AND ${invoicePayments.invoiceId} = ${invoices.id} AND ${invoicePayments.voidedAt} IS NULL) AS payments,
        (SELECT count(*)::int FROM ${invoicePayments} WHERE ${invoicePayments.ownerId} = ${owned} AND ${invoicePayments.invoiceId} = ${invoices.id}) AS recorded
      FROM ${invoices} JOIN ${accounts} ON ${accounts.id} = ${invoices.ownerId}
      WHERE ${live} AND ${invoices.id} = ${sql.placeholder('id')}::uuid FOR UPDATE OF invoices`,
)

/**
 * An invoice, locked, with its payments that count, and `recorded`, how many it has with those that were taken back; its account's row must be locked
 * before. Refuses with `not_found`.
 */
export async function lockInvoice(tx: Database, ownerId: string, id: string) {
  const [found] = await lockedInvoice(tx, { owner: ownerId, id: uuid.safeParse(id).data ?? noId })
  if (!found) throw notFound()
  const live = found.payments?.map(paymentRow.read)
  return { row: invoiceRow.read(found.row), live, recorded: found.recorded, owner: { id: ownerId, timezone: found.timezone } }
}

/** What was taken back stays in the list, and each change of the invoice reads it. */
const mostPayments = 500

/** Refuses with `conflict` one more payment than an invoice may have. What comes from the provider is recorded all the same. */
export function refuseMorePayments(row: InvoiceRow, recorded: number): void {
  if (recorded >= mostPayments) throw tooManyPayments(row)
}

/** The same of many invoices: the refusals, by invoice, of those that would have more payments. */
export async function refusedPayments(tx: Database, ownerId: string, changes: Settling[]): Promise<Map<string, ProblemError>> {
  const recording = changes.filter(({ record = [] }) => record.length > 0)
  if (recording.length === 0) return new Map()
  const ids = arrayText(recording.map(({ row }) => row.id))
  const counted = await tx
    .select({ id: invoicePayments.invoiceId, recorded: count() })
    .from(invoicePayments)
    .where(and(eq(invoicePayments.ownerId, ownerId), sql`${invoicePayments.invoiceId} = ANY(${ids}::uuid[])`))
    .groupBy(invoicePayments.invoiceId)
  const recorded = new Map(counted.map((one) => [one.id, one.recorded]))
  const beyond = recording.filter(({ row, record = [] }) => (recorded.get(row.id) ?? 0) + record.length > mostPayments)
  return new Map(beyond.map(({ row }) => [row.id, tooManyPayments(row)]))
}

function tooManyPayments({ reference }: InvoiceRow): ProblemError {
  return new ProblemError('conflict', texts.payment.tooMany(reference, mostPayments))
}

function isOtherAddress(row: InvoiceRow, { clientEmail }: InvoiceChange): boolean {
  return clientEmail !== undefined && clientEmail.toLowerCase() !== row.clientEmail.toLowerCase()
}

/** Deletes an invoice so that it can be restored for 30 days; its reference can be used again immediately. */
export async function removeInvoice(
  db: Database,
  ownerId: string,
  id: string,
  from: Origin,
  now: Instant,
  afterChange: AfterChange,
): Promise<void> {
  await db.transaction(async (tx) => {
    await lockOwner(tx, ownerId)
    const [row] = await tx.update(invoices).set({ deletedAt: now, updatedAt: now }).where(mine(ownerId, id)).returning()
    if (!row) throw notFound()
    await writeAudit(tx, { ownerId, kind: 'invoice_deleted', about: row.reference }, from, now)
    await noteChanges(tx, ownerId, [{ invoiceId: row.id, field: 'deleted' }], now)
    await afterChange(tx, ownerId, [row.id], now)
  })
}

/**
 * Restores an invoice deleted within 30 days. Refuses with `conflict` where its reference was taken meanwhile; one that is not deleted
 * stays as it is.
 */
export async function restoreInvoice(
  db: Database,
  ownerId: string,
  id: string,
  now: Instant,
  afterChange: AfterChange,
): Promise<InvoiceRow> {
  return db.transaction(async (tx) => {
    await lockOwner(tx, ownerId)
    const [row] = await tx
      .select()
      .from(invoices)
      .where(and(thisOne(ownerId, id), canBeThere(now)))
      .for('update')
    if (!row) throw notFound()
    if (!row.deletedAt) return row
    await refuseTakenReference(tx, ownerId, row.reference)
    if (row.status !== 'paid' && (await openRoom(tx, ownerId)) < 1) throw tooManyOpen()
    const [restored] = await tx.update(invoices).set({ deletedAt: null, updatedAt: now }).where(eq(invoices.id, row.id)).returning()
    await noteChanges(tx, ownerId, [{ invoiceId: row.id, field: 'restored' }], now)
    await afterChange(tx, ownerId, [row.id], now)
    return restored as InvoiceRow
  })
}

/** The account's time zone. */
export async function zoneOf(db: Database, ownerId: string): Promise<string> {
  const [owner] = await db.select({ timezone: accounts.timezone }).from(accounts).where(eq(accounts.id, ownerId))
  if (!owner) throw new ProblemError('not_signed_in', texts.signIn)
  return owner.timezone
}

/** Whether an account has any invoice, also one that was deleted and can still be brought back. */
export async function hasInvoices(db: Database, ownerId: string): Promise<boolean> {
  return (await db.select({ id: invoices.id }).from(invoices).where(eq(invoices.ownerId, ownerId)).limit(1)).length > 0
}

/** What an account has: how many invoices, what was paid of them, and what was received in the month of `now` in its zone, by currency. */
export async function invoiceTotals(
  db: Database,
  owner: Pick<AccountRow, 'id' | 'timezone' | 'currency'>,
  now: Instant,
): Promise<Omit<CallReply<typeof accountCalls.stats>, 'hasMailConfig'>> {
  const [month, next] = monthOf(now, owner.timezone)
  const sums = await rows(
    db,
    z.object({ currency: z.string(), count: z.number(), paid: z.number(), received: z.number() }),
    // Grouped instead of joined: without statistics a join compares each payment with each invoice.
    sql`SELECT currency, count(*)::int AS count, sum(paid)::float8 AS paid, sum(received)::float8 AS received FROM (
          SELECT max(currency) AS currency, greatest(0, sum(paid)) AS paid, sum(received) AS received FROM (
            SELECT id, currency, true AS listed, CASE status WHEN 'paid' THEN amount_minor ELSE 0 END AS paid, 0::bigint AS received
            FROM invoices WHERE owner_id = ${owner.id}::uuid AND deleted_at IS NULL
            UNION ALL
            SELECT invoice_id, NULL, false, 0, CASE kind WHEN 'refund' THEN -amount_minor ELSE amount_minor END FROM invoice_payments
            WHERE owner_id = ${owner.id}::uuid AND voided_at IS NULL AND kind <> 'credit' AND paid_on >= ${month}::date AND paid_on < ${next}::date AND ${dayKnown}
            UNION ALL
            SELECT invoice_id, NULL, false, -amount_minor, 0 FROM invoice_payments WHERE owner_id = ${owner.id}::uuid AND kind = 'credit' AND voided_at IS NULL
          ) AS parts GROUP BY id HAVING bool_or(listed)
        ) AS each GROUP BY currency`,
  )
  const listed = (of: 'paid' | 'received') =>
    toMoney(new Map(sums.flatMap((sum) => (sum[of] === 0 ? [] : [[sum.currency, sum[of]] as const]))), owner.currency)
  const its = (all: Money[]) => all.find(({ currency }) => currency === owner.currency)?.amount ?? 0
  const [revenue, received] = [listed('paid'), listed('received')]
  return {
    totalInvoices: sums.reduce((total, { count }) => total + count, 0),
    totalRevenue: its(revenue),
    revenueByCurrency: revenue,
    receivedThisMonth: its(received),
    receivedByCurrency: received,
  }
}

/** The first day of a local month, and of the next one. */
function monthOf(now: Instant, timezone: string): [string, string] {
  const first = now.toZonedDateTimeISO(timezone).toPlainDate().with({ day: 1 })
  return [first.toString(), first.add({ months: 1 }).toString()]
}

/** Permanently erases what was deleted more than 30 days ago, a few hundred at a time. */
export async function pruneDeleted(db: Database, now: Instant): Promise<void> {
  for (;;) {
    const old = db
      .select({ id: invoices.id })
      .from(invoices)
      .where(and(isNotNull(invoices.deletedAt), lt(invoices.deletedAt, now.subtract(keptDeleted))))
      .limit(500)
    const erased = await db
      .delete(invoices)
      .where(inArray(invoices.id, old))
      .returning({ ownerId: invoices.ownerId, email: sql<string>`lower(${invoices.clientEmail})` })
    if (erased.length === 0) return
    for (const [ownerId, theirs] of Map.groupBy(erased, (one) => one.ownerId))
      await db.transaction(async (tx) => {
        // No invoice can be added meanwhile.
        await lockAccount(tx, ownerId)
        await dropClients(
          tx,
          ownerId,
          theirs.map(({ email }) => email),
        )
      })
  }
}

/**
 * Erases those of these clients that have no invoices any more, deleted ones included, and `withPauses` their pauses. Their owner's row must
 * be locked.
 */
async function dropClients(tx: Database, ownerId: string, emailKeys: string[], withPauses = false): Promise<void> {
  await tx.execute(sql`
    WITH dropped AS (
      DELETE FROM clients c WHERE c.owner_id = ${ownerId}::uuid AND c.email_key = ANY(${arrayText(emailKeys)}::text[])
        AND NOT EXISTS (SELECT 1 FROM invoices i WHERE i.owner_id = c.owner_id AND lower(i.client_email) = c.email_key)
      RETURNING c.email_key)
    DELETE FROM client_pauses p USING dropped WHERE ${withPauses}::boolean AND p.owner_id = ${ownerId}::uuid AND p.client_key = dropped.email_key`)
}

/**
 * A client whose address is corrected keeps what is set for it, and its pause: they are copied, because it may have other invoices. One that
 * is there already stays as it is; so does an invoice's new client where the name is another one too and the former has other invoices: it is
 * someone else. Returns whether anything was copied. Before the invoice is changed; the account's row must be locked.
 */
async function takeClientAlong(tx: Database, row: InvoiceRow, to: Pick<InvoiceRow, 'clientName' | 'clientEmail'>): Promise<boolean> {
  const { ownerId } = row
  const [from, emailKey] = [row.clientEmail.toLowerCase(), to.clientEmail.toLowerCase()]
  const itsOthers = and(eq(invoices.ownerId, ownerId), sql`lower(${invoices.clientEmail}) = ${from}`, ne(invoices.id, row.id))
  if (to.clientName !== row.clientName && (await countUpTo(tx, 1, itsOthers)) > 0) return false
  const [known] = await tx
    .select()
    .from(clients)
    .where(and(eq(clients.ownerId, ownerId), eq(clients.emailKey, from)))
  if (!known) return false
  const secondContact = known.secondContact?.toLowerCase() === emailKey ? null : known.secondContact
  const copies = known.copies?.filter(({ email }) => email.toLowerCase() !== emailKey) ?? null
  const added = await tx
    .insert(clients)
    .values({ ...known, id: newId(), emailKey, secondContact, copies })
    .onConflictDoNothing()
    .returning({ id: clients.id })
  if (added.length === 0) return false
  const [pause] = await tx
    .select()
    .from(clientPauses)
    .where(and(eq(clientPauses.ownerId, ownerId), eq(clientPauses.clientKey, from)))
  if (pause)
    await tx
      .insert(clientPauses)
      .values({ ...pause, clientKey: emailKey })
      .onConflictDoNothing()
  return true
}

/** Converts a row to JSON: amounts in their currency, instants as ISO 8601 in UTC. */
export function toInvoice(row: InvoiceRow, clients: Clients): Invoice {
  return {
    _id: row.id,
    clientName: row.clientName,
    clientEmail: row.clientEmail,
    amount: fromMinor(row.amountMinor, row.currency),
    currency: row.currency,
    language: row.language,
    issuedOn: row.issuedOn,
    dueDate: row.dueDate,
    status: row.status,
    reference: row.reference,
    createdAt: row.createdAt.toString(),
    updatedAt: row.updatedAt.toString(),
    version: row.version,
    paidAt: row.paidAt?.toString() ?? null,
    ...paidFields(row),
    remindersSent: row.remindersSent,
    lastReminderAt: row.lastReminderAt?.toString() ?? null,
    refusal: row.refusal,
    pause: pauseOf(row, clients),
    notDelivered: notDeliveredSince(row.undeliveredSince?.toString() ?? null, row.undeliveredReply),
    addressHold: holdOf(row, clients),
    sequence: chosenSequence(row),
  }
}

/** The own sequence of an invoice or a client: an id or a built-in one; null where it has none. */
export function chosenSequence({ follows, sequenceId }: Pick<InvoiceRow, 'follows' | 'sequenceId'>): string | null {
  return sequenceId ?? (follows === 'inherit' ? null : follows)
}

/** Since when emails about an invoice have not been accepted, and why. */
export function notDeliveredSince(since: string | null, reply: string | null): NotDelivered | null {
  return since === null || reply === null ? null : { since, ...deliveryProblem(reply), reply }
}

const uuid = z.uuid()
/** Of no record. */
const noId = '00000000-0000-0000-0000-000000000000'

/** The row of that id, deleted or not. An invalid id finds nothing. */
function thisOne(ownerId: string, id: string): SQL | undefined {
  return uuid.safeParse(id).success ? and(eq(invoices.ownerId, ownerId), eq(invoices.id, id)) : sql`false`
}

/** Not deleted, or deleted so lately that it can be restored. */
export function canBeThere(now: Instant): SQL | undefined {
  return or(isNull(invoices.deletedAt), gte(invoices.deletedAt, now.subtract(keptDeleted)))
}

function mine(ownerId: string, id: string): SQL | undefined {
  return and(thisOne(ownerId, id), isNull(invoices.deletedAt))
}

function listed(ownerId: string, query: InvoiceQuery): SQL[] {
  const conditions = [eq(invoices.ownerId, ownerId), isNull(invoices.deletedAt)]
  if (query.status) conditions.push(eq(invoices.status, query.status))
  // What has another reference here would look missing in a file of the source.
  if (query.source) conditions.push(eq(invoices.source, query.source), isNull(invoices.importedAs))
  return conditions
}

/** Invoices of the clients whose name or email has a text, compared as screens do. PostgreSQL has no function for that. */
async function withText(db: Database, ownerId: string, search: string): Promise<SQL> {
  const known = await db
    .selectDistinct({ name: invoices.clientName, email: invoices.clientEmail })
    .from(invoices)
    .where(and(...listed(ownerId, {})))
  const wanted = searchKey(search)
  const found = known.filter(({ name, email }) => searchKey(`${name}\n${email}`).includes(wanted))
  const [names, emails] = [columnText(found, ({ name }) => name), columnText(found, ({ email }) => email)]
  return sql`(${invoices.clientName}, ${invoices.clientEmail}) IN (SELECT * FROM unnest(${names}::text[], ${emails}::text[]))`
}

/** What follows an invoice in the list; this stays valid when that invoice is deleted meanwhile. */
async function olderThan(db: Database, ownerId: string, cursor: string): Promise<SQL> {
  const [last] = await db.select({ createdAt: invoices.createdAt }).from(invoices).where(thisOne(ownerId, cursor))
  if (!last)
    throw new ProblemError('invalid', texts.firstPage, {
      errors: [{ path: 'cursor', message: texts.firstPage }],
    })
  return sql`(${invoices.createdAt}, ${invoices.id}) < (${last.createdAt.toString()}::timestamptz, ${cursor}::uuid)`
}

/** The account, its row locked until the transaction ends. */
export async function lockOwner(tx: Database, ownerId: string): Promise<AccountRow> {
  const owner = await lockAccount(tx, ownerId)
  // The account was deleted after the session was checked.
  if (!owner) throw new ProblemError('not_signed_in', texts.signIn)
  return owner
}

/** The same where nothing of the account is read. */
export async function lockOwnersRow(tx: Database, ownerId: string): Promise<void> {
  if (!(await lockRow(tx, ownerId))) throw new ProblemError('not_signed_in', texts.signIn)
}

/** `own`: what an invoice is called that gets another reference. */
async function refuseTakenReference(tx: Database, ownerId: string, reference: string, own?: string): Promise<void> {
  const taken = await liveReferences(tx, ownerId, [reference])
  if (taken.some((one) => one !== own)) throw referenceTaken(reference)
}

export function referenceTaken(reference: string): ProblemError {
  const message = texts.referenceTaken(reference)
  return new ProblemError('conflict', message, { errors: [{ path: 'reference', message }] })
}

/**
 * The next free numbers (INV-0001) of an account whose row is locked; references that a person typed, or is just typing, are skipped. `known`: those
 * of which `taken` says which are not free.
 */
async function nextReferences(
  tx: Database,
  ownerId: string,
  { first, howMany, known, taken }: { first: number; howMany: number; known: number[]; taken: Set<string> },
): Promise<number[]> {
  const free = known.filter((number) => !taken.has(referenceKey(numbered(number))))
  // Thousands of typed references must not cost thousands of queries.
  for (let [from, count] = [first + known.length, 8]; free.length < howMany; from += count, count = Math.min(count * 8, 1000)) {
    const candidates = numbersFrom(from, count)
    const found = await liveReferences(tx, ownerId, candidates.map(numbered))
    const used = new Set([...taken, ...found.map(referenceKey)])
    free.push(...candidates.filter((number) => !used.has(referenceKey(numbered(number)))))
  }
  return free.slice(0, howMany)
}

const numbersFrom = (first: number, count: number) => Array.from({ length: count }, (_, index) => first + index)

function numbered(number: number): string {
  return `INV-${String(number).padStart(4, '0')}`
}

/** The references, as written, of invoices that are not deleted and have one of these. */
export async function liveReferences(tx: Database, ownerId: string, references: string[]): Promise<string[]> {
  const found = await tx
    .select({ reference: invoices.reference })
    .from(invoices)
    .where(and(eq(invoices.ownerId, ownerId), isNull(invoices.deletedAt), hasReference(references)))
  return found.map(({ reference }) => reference)
}

/** Where no status is given, `overdue` ends when the due date moves to a day that is not past. */
function movedStatus(row: InvoiceRow, { dueDate, status }: InvoiceChange, today: string): 'unpaid' | undefined {
  const moved = status === undefined && dueDate !== undefined && dueDate !== row.dueDate && dueDate >= today
  return moved && row.status === 'overdue' ? 'unpaid' : undefined
}

/** Whether a person set it to unpaid although it is past due. */
function keptUnpaid(row: InvoiceRow, change: InvoiceChange, today: string): boolean {
  const { status, dueDate = row.dueDate } = change
  if (status !== undefined) return status === 'unpaid' && dueDate < today
  return row.keptUnpaid && dueDate === row.dueDate
}

/** The local date of the account. */
export function localDate(now: Instant, timezone: string): string {
  return now.toZonedDateTimeISO(timezone).toPlainDate().toString()
}

/** Refuses an unknown currency, and amounts with more decimals than theirs has. */
export function refusedAmount(
  { amount, amountPaid }: { amount: number; amountPaid?: number | undefined },
  currency: string,
): ProblemError | null {
  if (!isCurrency(currency)) return invalid('currency', unknownCurrency(currency))
  const errors = Object.entries({ amount, amountPaid }).flatMap(([path, one]) => {
    const message = one === undefined ? null : amountProblem(one, currency)
    return message === null ? [] : [{ path, message }]
  })
  return errors[0] ? new ProblemError('invalid', errors[0].message, { errors }) : null
}

function paidInAnotherCurrency({ reference, currency }: InvoiceRow): ProblemError {
  const message = texts.payment.inCurrency(reference, currency)
  return new ProblemError('conflict', message, { errors: [{ path: 'currency', message }] })
}

function minor(amount: number, currency: string): number {
  const read = toMinor(amount, currency)
  if (read === null) throw new Error('An amount that its currency cannot have came past the contract.')
  return read
}

export function notFound(): ProblemError {
  return new ProblemError('not_found', texts.notFound)
}
