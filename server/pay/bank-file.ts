import { createHash } from 'node:crypto'
import { and, between, desc, eq, inArray, isNull, ne, type SQL, sql } from 'drizzle-orm'
import { z } from 'zod'
import { type BankLine, type BankMatch, type ImportedBankLine, mostRecorded, type RecordedPayment } from '#contract/bank-file.ts'
import { amountProblem, formatMoney, fromMinor, toMinor } from '#contract/money.ts'
import { withoutMarks } from '#contract/text.ts'
import { type Origin, writeAudit } from '#server/accounts/accounts.ts'
import {
  balanceMinor,
  isPaidAfter,
  livePayments,
  type NewPayment,
  refundFirst,
  type Settling,
  settle,
  sumOf,
} from '#server/invoices/balance.ts'
import { localDate, lockOwner, openRoom, refusedPayments, tooManyOpen } from '#server/invoices/invoices.ts'
import {
  type AfterChange,
  type InvoiceRow,
  invoicePayments,
  invoices,
  manyInvoices,
  type PaymentRow,
  writtenInBulk,
} from '#server/invoices/tables.ts'
import type { Instant } from '#server/platform/clock.ts'
import { newId } from '#server/platform/columns.ts'
import { analyzeGrown, arrayText, type Database } from '#server/platform/database.ts'
import { openPace, type Pace } from '#server/platform/pace.ts'
import { invalid, ProblemError } from '#server/platform/problem-error.ts'
import { hashesOf, recordedLines, type Transfer } from './bank-known.ts'
import { matchLines, type NamedPayment, type OpenAnswer, type Payable, recordedWithin } from './bank-matching.ts'
import { dashes, type Form, formOf, isWrittenAs, joined, References, readRuns, shaped } from './bank-text.ts'
import { payAnswers } from './tables.ts'
import { bankTexts as texts } from './texts.ts'

/** The account, and the currency of lines that name none: matched are only invoices of the currency of a line. */
interface Owner {
  id: string
  currency: string
}

/** The text of a line, as the references in it are read. */
type LineText = Pick<BankLine, 'description' | 'reference' | 'name'>

/** Lines with their currencies, and their amounts in minor units of them. */
function linesOf<L extends BankLine>(lines: L[], usual: string): (L & Transfer)[] {
  return lines.map((line, at) => {
    const { amount, currency = usual } = line
    refuseAmount(amount, currency, `lines.${at}.amount`)
    return { ...line, currency, amountMinor: minorOf(amount, currency) }
  })
}

/** Which invoices the lines pay. Reads only; the same lines get the same answer until something is recorded. */
export async function matchBankFile(db: Database, { id: ownerId, currency }: Owner, asked: BankLine[]): Promise<BankMatch[]> {
  const lines = linesOf(asked, currency)
  const pace = openPace()
  const hashes = await hashesOf(lines, pace)
  const recorded = await recordedLines(db, ownerId, { lines, hashes, inOtherWords: true }, pace)
  const answers = await openAnswers(db, ownerId)
  const clients = await clientNames(db, ownerId)
  const found: BankMatch[] = []
  const places = Map.groupBy(
    lines.map((line, at) => ({ line, at })),
    ({ line }) => line.currency,
  )
  for (const [currency, those] of places) {
    const its = those.map(({ line, at }) => ({ ...line, recorded: recorded.has(at) }))
    const invoices = await payables(db, ownerId, { lines: its, currency }, pace)
    const payments = await namedPayments(db, ownerId, { lines: its, currency })
    const format = (minor: number) => formatMoney(fromMinor(minor, currency), currency)
    const matches = await matchLines(its, { invoices, answers, payments, clients }, format, pace)
    for (const [nth, { verdict, invoices, reason, evidence }] of matches.entries())
      found.push({
        line: those[nth]?.at ?? 0,
        verdict,
        invoices: invoices.map(({ invoiceId, amountMinor }) => ({ invoiceId, amount: fromMinor(amountMinor, currency) })),
        reason,
        inOtherCurrency: null,
        evidence,
      })
  }
  const isOpen = new Set(found.flatMap(({ line, verdict }) => (verdict === 'none' ? [line] : [])))
  const unmatched = lines.map((line, at) => ({ ...line, at })).filter(({ at }) => isOpen.has(at))
  const elsewhere = await namedElsewhere(db, ownerId, unmatched, pace)
  return found.map((match) => ({ ...match, ...elsewhere.get(match.line) })).toSorted((one, other) => one.line - other.line)
}

/** Lines that pay no invoice of their currency, and name one of another: what of it they pay is a question. */
async function namedElsewhere(
  db: Database,
  ownerId: string,
  lines: (BankLine & Transfer & { at: number })[],
  pace: Pace,
): Promise<Map<number, Pick<BankMatch, 'verdict' | 'reason' | 'inOtherCurrency' | 'evidence'>>> {
  const found = new Map<number, Pick<BankMatch, 'verdict' | 'reason' | 'inOtherCurrency' | 'evidence'>>()
  if (lines.length === 0) return found
  const open = and(eq(invoices.ownerId, ownerId), isNull(invoices.deletedAt), ne(invoices.status, 'paid'))
  const currencies = await db.selectDistinct({ currency: invoices.currency }).from(invoices).where(open)
  for (const { currency } of currencies) {
    const its = lines.filter((line) => line.currency !== currency && !found.has(line.at)).map((line) => ({ ...line, recorded: false }))
    if (its.length === 0) continue
    const known = { invoices: await payables(db, ownerId, { lines: its, currency }, pace), answers: [], payments: [], clients: [] }
    for (const [nth, match] of (await matchLines(its, known, String, pace)).entries()) {
      const [share, ...others] = match.invoices
      const evidence = match.evidence.filter(({ kind }) => kind === 'reference')
      const { at } = its[nth] ?? {}
      if (at === undefined || share === undefined || others.length > 0 || evidence.length === 0) continue
      const reason = texts.namedElsewhere(evidence, currency)
      found.set(at, { verdict: 'likely', reason, inOtherCurrency: share.invoiceId, evidence })
    }
  }
  return found
}

/**
 * Records what the lines pay, all in one transaction; a line that is recorded already is left out, also by a request at the same time. A request that
 * is repeated under its key is answered with what the first one recorded. Refuses with `invalid` a date in the future and parts that do not add up to
 * their line, with `not_found` an invoice that is gone, and with `conflict` more payments than an invoice may have, or a key of another request.
 */
export async function importBankFile(
  db: Database,
  { id: ownerId, currency, key, from }: Owner & { key: string | null; from: Origin },
  { lines: asked, takeBack = [] }: { lines: ImportedBankLine[]; takeBack?: string[] | undefined },
  now: Instant,
  afterChange: AfterChange,
): Promise<Imported> {
  const importId = key === null ? newId() : idOfKey(ownerId, key)
  const lines = linesOf(asked, currency)
  if (lines.length >= manyInvoices) await analyzeGrown(db, writtenInBulk)
  return db.transaction(async (tx) => {
    const owner = await lockOwner(tx, ownerId)
    const today = localDate(now, owner.timezone)
    for (const [at, line] of lines.entries()) refuseLine(line, `lines.${at}`, today)
    const pace = openPace()
    const hashes = await hashesOf(lines, pace)
    const done = key === null ? [] : await paymentsOfImport(tx, ownerId, importId)
    const back = await paymentsOf(tx, ownerId, takeBack)
    if (done.length > 0) return repeated(tx, ownerId, { importId, done, hashes, back })
    const before = await recordedLines(tx, ownerId, { lines, hashes, inOtherWords: false }, pace)
    const payments = lines.flatMap((line, at) =>
      before.has(at)
        ? []
        : line.invoices.map((share, part) => ({
            id: share.invoiceId.toLowerCase(),
            currency: line.currency,
            payment: paymentOf(line, minorOf(share.amount, line.currency), { hash: hashes[at] ?? '', part, importId }),
          })),
    )
    const byInvoice = Map.groupBy(payments, ({ id }) => id)
    // A repetition finds them taken back.
    const backOf = Map.groupBy(
      back.filter(({ voidedAt }) => voidedAt === null),
      ({ invoiceId }) => invoiceId,
    )
    const rows = await lockInvoices(tx, ownerId, [...new Set([...byInvoice.keys(), ...backOf.keys()])])
    for (const row of rows) {
      const other = byInvoice.get(row.id)?.find((one) => one.currency !== row.currency)
      if (other) throw invalid('currency', texts.otherCurrency(row.reference, row.currency, other.currency))
    }
    const live = await livePayments(
      tx,
      ownerId,
      rows.map(({ id }) => id),
    )
    const settling = rows.map((row) => ({
      row,
      live: live.get(row.id),
      record: (byInvoice.get(row.id) ?? []).map(({ payment }) => payment),
      takeBack: backOf.get(row.id) ?? [],
    }))
    await refuseTakingBack(tx, ownerId, settling)
    for (const problem of (await refusedPayments(tx, ownerId, settling)).values()) throw problem
    const { rows: settled, recorded } = await settle(tx, owner, settling, now, afterChange)
    const paid = settled.filter(({ status }, at) => status === 'paid' && rows[at]?.status !== 'paid').length
    const takenBack = [...backOf.values()].flat().length
    if (takenBack > 0) await writeAudit(tx, { ownerId, kind: 'payment_voided', about: texts.voided(takenBack) }, from, now)
    return { importId, recorded: recorded.length, paid, takenBack: back.length }
  })
}

interface Imported {
  importId: string
  recorded: number
  paid: number
  takenBack: number
}

/** Payments by their ids; refuses with `not_found` where one is of another account, or is none that a bank file can take back. */
async function paymentsOf(tx: Database, ownerId: string, ids: string[]): Promise<PaymentRow[]> {
  const wanted = [...new Set(ids.filter((id) => z.uuid().safeParse(id).success).map((id) => id.toLowerCase()))]
  if (ids.length === 0) return []
  const found = await tx
    .select()
    .from(invoicePayments)
    .where(
      and(
        eq(invoicePayments.ownerId, ownerId),
        eq(invoicePayments.kind, 'payment'),
        inArray(invoicePayments.origin, ofBank),
        sql`${invoicePayments.id} = ANY(${arrayText(wanted)}::uuid[])`,
      ),
    )
  if (found.length < wanted.length || wanted.length === 0) throw new ProblemError('not_found', texts.paymentGone)
  return found
}

/** Refuses what a refund needs, and more reopened invoices than there is room for. */
async function refuseTakingBack(tx: Database, ownerId: string, settling: Settling[]): Promise<void> {
  for (const { row, takeBack = [] } of settling) if (row.paidMinor < sumOf(takeBack)) throw refundFirst(row.reference)
  const reopened = settling.filter((change) => change.row.status === 'paid' && change.row.deletedAt === null && !isPaidAfter(change)).length
  if (reopened > 0 && (await openRoom(tx, ownerId)) < reopened) throw tooManyOpen()
}

/** Where the payments are from that a bank can take back. Razorpay names its own refunds. */
const ofBank: PaymentRow['origin'][] = ['bank_file', 'by_hand', 'answer', 'program']

/** The payments of these days that a later bank file may take back, the latest first. */
export async function recordedPayments(
  db: Database,
  ownerId: string,
  { from, to }: { from: string; to: string },
): Promise<RecordedPayment[]> {
  const found = await db
    .select({ payment: invoicePayments, invoice: invoices.reference, clientName: invoices.clientName })
    .from(invoicePayments)
    .innerJoin(invoices, and(eq(invoices.ownerId, invoicePayments.ownerId), eq(invoices.id, invoicePayments.invoiceId)))
    .where(
      and(
        eq(invoicePayments.ownerId, ownerId),
        between(invoicePayments.paidOn, from, to),
        eq(invoicePayments.kind, 'payment'),
        inArray(invoicePayments.origin, ofBank),
        isNull(invoicePayments.voidedAt),
        isNull(invoices.deletedAt),
      ),
    )
    .orderBy(desc(invoicePayments.paidOn), invoicePayments.id)
    .limit(mostRecorded)
  return found.map(({ payment: { id, invoiceId, amountMinor, currency, paidOn, reference, note, bankLineHash }, invoice, clientName }) => ({
    _id: id,
    transfer: bankLineHash?.split('.')[0] ?? id,
    invoiceId,
    invoice,
    clientName,
    amount: fromMinor(amountMinor, currency),
    currency,
    paidOn,
    text: [reference, note].filter(Boolean).join(' '),
  }))
}

/** The import that a key names: repeated, it is the same one. */
function idOfKey(ownerId: string, key: string): string {
  const hex = createHash('sha256').update(`${ownerId} bank file ${key}`).digest('hex')
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20, 32)}`
}

/** What an import recorded when it was first asked for. */
async function repeated(
  tx: Database,
  ownerId: string,
  { importId, done, hashes, back }: { importId: string; done: PaymentRow[]; hashes: string[]; back: PaymentRow[] },
): Promise<Imported> {
  const wanted = new Set(hashes)
  const isSame =
    done.every(({ bankLineHash }) => wanted.has(bankLineHash?.split('.')[0] ?? '')) && back.every(({ voidedAt }) => voidedAt !== null)
  if (!isSame) throw new ProblemError('conflict', texts.keyUsed)
  const rows = await lockInvoices(tx, ownerId, [...new Set(done.map(({ invoiceId }) => invoiceId))], { deletedToo: true })
  return { importId, recorded: done.length, paid: rows.filter(({ status }) => status === 'paid').length, takenBack: back.length }
}

/**
 * Takes all payments of an import back that count. Refuses with `not_found` an unknown import, and with `conflict` a payment that a refund
 * needs: then nothing is taken back.
 */
export async function undoBankFile(
  db: Database,
  { ownerId, importId, from }: { ownerId: string; importId: string; from: Origin },
  now: Instant,
  afterChange: AfterChange,
): Promise<{ takenBack: number }> {
  return db.transaction(async (tx) => {
    const owner = await lockOwner(tx, ownerId)
    const all = z.uuid().safeParse(importId).success ? await paymentsOfImport(tx, ownerId, importId) : []
    if (all.length === 0) throw new ProblemError('not_found', texts.importNotFound)
    const byInvoice = Map.groupBy(
      all.filter(({ voidedAt }) => voidedAt === null),
      ({ invoiceId }) => invoiceId,
    )
    const rows = await lockInvoices(tx, ownerId, [...byInvoice.keys()], { deletedToo: true })
    const live = await livePayments(
      tx,
      ownerId,
      rows.map(({ id }) => id),
    )
    const settling: Settling[] = rows.map((row) => ({ row, live: live.get(row.id), takeBack: byInvoice.get(row.id) ?? [] }))
    await refuseTakingBack(tx, ownerId, settling)
    await settle(tx, owner, settling, now, afterChange)
    const takenBack = settling.flatMap(({ takeBack = [] }) => takeBack).length
    if (takenBack > 0) await writeAudit(tx, { ownerId, kind: 'payment_voided', about: texts.voided(takenBack) }, from, now)
    return { takenBack }
  })
}

function refuseAmount(amount: number, currency: string, path: string): void {
  const problem = amountProblem(amount, currency)
  if (problem !== null) throw invalid(path, problem)
}

function refuseLine(line: ImportedBankLine & Transfer, path: string, today: string): void {
  const { currency } = line
  if (line.date > today) throw invalid(`${path}.date`, texts.future)
  for (const { amount } of line.invoices) refuseAmount(amount, currency, `${path}.amount`)
  if (line.invoices.length === 0) return
  const sum = line.invoices.reduce((so, { amount }) => so + minorOf(amount, currency), 0)
  if (sum !== line.amountMinor) throw invalid(`${path}.invoices`, texts.notTheSum)
  if (new Set(line.invoices.map(({ invoiceId }) => invoiceId.toLowerCase())).size < line.invoices.length)
    throw invalid(`${path}.invoices`, texts.twiceInLine)
}

function paymentOf(
  line: ImportedBankLine,
  amountMinor: number,
  { hash, part, importId }: { hash: string; part: number; importId: string },
): NewPayment {
  return {
    origin: 'bank_file',
    amountMinor,
    paidOn: line.date,
    method: 'bank',
    // Not in the line itself: its hash is of what the file has.
    reference: withoutMarks(line.reference).slice(0, 80),
    note: withoutMarks([line.name, line.description].filter(Boolean).join(': ')).slice(0, 500),
    bankLineHash: part === 0 ? hash : `${hash}.${part}`,
    bankId: line.bankId || null,
    batchId: importId,
  }
}

/** How the reference of an invoice is compared, as `formOf` does it. */
const inForm = sql`regexp_replace(lower(normalize(${invoices.reference}, NFKC)), ${`[[:space:]/${dashes}]`}, '', 'g')`
/** With every figure as 0 and every letter as a: an account has few of these, however many invoices it has. */
const shape = sql<string>`regexp_replace(regexp_replace(lower(normalize(${invoices.reference}, NFKC)), '[0-9]', '0', 'g'), ${`[^0[:space:]/${dashes}]`}, 'a', 'g')`

/** What in the lines can be the reference of a paid invoice. All paid ones are more than a process could compare. */
async function namedInLines(db: Database, ofPaid: SQL | undefined, lines: LineText[], pace: Pace): Promise<string[]> {
  const shapes = new References<Form>()
  for (const { reference } of await db.selectDistinct({ reference: shape }).from(invoices).where(ofPaid)) {
    const form = formOf(reference)
    shapes.add(form.text, form)
  }
  const named = new Set<string>()
  for (const { description, reference, name } of lines) {
    const runs = readRuns([description, reference, name])
    for (const token of shapes.in(runs.map(shaped)))
      if (shapes.get(token.text).some((form) => isWrittenAs(token, form))) named.add(joined(runs, token))
    await pace.did(description.length + reference.length + name.length)
  }
  return [...named]
}

/** The open invoices, and those that are paid and whose reference is in a line; with what was paid of them. */
async function payables(
  db: Database,
  ownerId: string,
  { lines, currency }: { lines: LineText[]; currency: string },
  pace: Pace,
): Promise<Payable[]> {
  const its = and(eq(invoices.ownerId, ownerId), eq(invoices.currency, currency), isNull(invoices.deletedAt))
  const named = await namedInLines(db, and(its, eq(invoices.status, 'paid')), lines, pace)
  const rows = await db
    .select({
      id: invoices.id,
      reference: invoices.reference,
      clientName: invoices.clientName,
      dueDate: invoices.dueDate,
      amountMinor: invoices.amountMinor,
      paidMinor: invoices.paidMinor,
    })
    .from(invoices)
    .where(and(its, sql`(${invoices.status} <> 'paid' OR ${inForm} = ANY(${arrayText(named)}::text[]))`))
  const paid = rows.filter(({ paidMinor }) => paidMinor > 0).map(({ id }) => id)
  const payments = await livePayments(db, ownerId, paid)
  return rows.map((row) => ({
    ...row,
    balanceMinor: balanceMinor(row),
    payments: (payments.get(row.id) ?? []).filter(({ kind }) => kind === 'payment'),
  }))
}

/** What was recorded with a reference around the days of the lines, over one of their amounts. */
async function namedPayments(
  db: Database,
  ownerId: string,
  { lines, currency }: { lines: BankLine[]; currency: string },
): Promise<NamedPayment[]> {
  const dates = lines.map(({ date }) => date).toSorted()
  const [first, last = first] = [dates[0], dates.at(-1)]
  if (first === undefined || last === undefined) return []
  const amounts = [...new Set(lines.map(({ amount }) => String(minorOf(amount, currency))))]
  const days = { days: recordedWithin }
  const [from, to] = [Temporal.PlainDate.from(first).subtract(days).toString(), Temporal.PlainDate.from(last).add(days).toString()]
  return db
    .select({
      invoiceId: invoices.id,
      invoice: invoices.reference,
      reference: invoicePayments.reference,
      amountMinor: invoicePayments.amountMinor,
      paidOn: invoicePayments.paidOn,
    })
    .from(invoicePayments)
    .innerJoin(invoices, and(eq(invoices.ownerId, invoicePayments.ownerId), eq(invoices.id, invoicePayments.invoiceId)))
    .where(
      and(
        eq(invoicePayments.ownerId, ownerId),
        between(invoicePayments.paidOn, from, to),
        eq(invoicePayments.kind, 'payment'),
        ne(invoicePayments.reference, ''),
        isNull(invoicePayments.bankLineHash),
        isNull(invoicePayments.voidedAt),
        eq(invoicePayments.currency, currency),
        sql`${invoicePayments.amountMinor} = ANY(${arrayText(amounts)}::bigint[])`,
        isNull(invoices.deletedAt),
      ),
    )
}

/** The invoices of these ids, in a fixed order; refuses with `not_found` where one is gone. */
async function lockInvoices(tx: Database, ownerId: string, ids: string[], { deletedToo = false } = {}): Promise<InvoiceRow[]> {
  const possible = ids.filter((id) => z.uuid().safeParse(id).success)
  const rows = await tx
    .select()
    .from(invoices)
    .where(
      and(
        eq(invoices.ownerId, ownerId),
        sql`${invoices.id} = ANY(${arrayText(possible)}::uuid[])`,
        deletedToo ? undefined : isNull(invoices.deletedAt),
      ),
    )
    .orderBy(invoices.id)
    .for('update')
  if (rows.length < ids.length) throw new ProblemError('not_found', texts.invoiceGone)
  return rows
}

async function paymentsOfImport(tx: Database, ownerId: string, importId: string): Promise<PaymentRow[]> {
  return tx
    .select()
    .from(invoicePayments)
    .where(and(eq(invoicePayments.ownerId, ownerId), eq(invoicePayments.batchId, importId)))
}

async function clientNames(db: Database, ownerId: string): Promise<string[]> {
  const found = await db
    .selectDistinct({ name: invoices.clientName })
    .from(invoices)
    .where(and(eq(invoices.ownerId, ownerId), isNull(invoices.deletedAt)))
  return found.map(({ name }) => name)
}

/** What clients said about payments and is not decided. */
async function openAnswers(db: Database, ownerId: string): Promise<OpenAnswer[]> {
  const found = await db
    .select({ invoiceId: payAnswers.invoiceId, reference: payAnswers.reference, amountMinor: payAnswers.amountMinor })
    .from(payAnswers)
    .where(and(eq(payAnswers.ownerId, ownerId), eq(payAnswers.state, 'open'), eq(payAnswers.kind, 'paid')))
  return found.flatMap(({ amountMinor, ...answer }) => (amountMinor === null ? [] : [{ ...answer, amountMinor }]))
}

function minorOf(amount: number, currency: string): number {
  const minor = toMinor(amount, currency)
  if (minor === null) throw new Error('An amount came past its validation.')
  return minor
}
