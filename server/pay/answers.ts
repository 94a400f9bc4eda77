import { and, desc, eq, gte, inArray, isNull, not, sql } from 'drizzle-orm'
import { z } from 'zod'
import { emailAddress } from '#contract/accounts.ts'
import { calendarDate } from '#contract/invoices.ts'
import { readTypedAmount, toMinor } from '#contract/money.ts'
import { hidden, visible } from '#contract/pay.ts'
import { screens } from '#contract/screens.ts'
import { type AccountRow, findAccount, lockAccount } from '#server/accounts/accounts.ts'
import { notifyOwner, withdrawNotices } from '#server/accounts/notices.ts'
import { localDate } from '#server/invoices/invoices.ts'
import { type AnswerPause, pauseByClient, pauseOf, readClients, resumeByClient } from '#server/invoices/pauses.ts'
import { type AfterChange, type InvoiceRow, invoicePayments, invoices } from '#server/invoices/tables.ts'
import type { Instant } from '#server/platform/clock.ts'
import { arrayText, columnText, type Database, rows } from '#server/platform/database.ts'
import type { Deps } from '#server/platform/deps.ts'
import { isReferredTo } from './bank-matching.ts'
import { changeClient, noteClient } from './links.ts'
import type { AnswerKind } from './page.ts'
import { payAnswers } from './tables.ts'
import { noticeTexts, pageTexts } from './texts.ts'

/** How many days after the answer's own its pause lasts; a promise is until its day. */
const quietFor: Record<Exclude<AnswerKind, 'promise'>, number> = { paid: 5, question: 14, wrong_person: 14 }
/** By the client's word alone an invoice is quiet for at most so many days after that of the first answer, until the owner accepts one. */
const mostQuiet = 30

const because = { paid: 'says_paid', promise: 'promised', question: 'question', wrong_person: 'wrong_person' } as const

type Row = typeof payAnswers.$inferSelect

/** What a form says, read. */
export type Answer =
  | { kind: 'paid'; date: string; amount: number; reference: string }
  | { kind: 'promise'; date: string }
  | { kind: 'question'; message: string }
  | { kind: 'wrong_person'; name: string; email: string }

const oneLine = (text: string, most: number) => Array.from(visible(text)).slice(0, most).join('')

/** Reads a form; `today`: the date in the account's zone. Answers the sentence that the page shows for the first field that is wrong. */
export function readAnswer(
  given: Record<string, string>,
  today: string,
  owed: { total: number; currency: string },
): Answer | { kind: AnswerKind; wrong: string } | null {
  const t = pageTexts.errors
  const date = calendarDate.safeParse(given.date)
  switch (given.kind) {
    case 'paid': {
      if (!date.success || date.data > today) return { kind: 'paid', wrong: t.pastDate }
      const amount = readTypedAmount(given.amount ?? '', owed.currency)
      if (amount === null || amount <= 0 || toMinor(amount, owed.currency) === null || amount > owed.total * 10)
        return { kind: 'paid', wrong: t.amount }
      const reference = oneLine(given.reference ?? '', 80)
      return reference === '' ? { kind: 'paid', wrong: t.reference } : { kind: 'paid', date: date.data, amount, reference }
    }
    case 'promise': {
      const latest = Temporal.PlainDate.from(today).add({ days: mostQuiet }).toString()
      if (!date.success || date.data < today || date.data > latest) return { kind: 'promise', wrong: t.date }
      return { kind: 'promise', date: date.data }
    }
    case 'question': {
      const message = (given.message ?? '')
        .replace(/\r\n?/g, '\n')
        .replace(/[^\P{Cc}\n]/gu, ' ')
        .replace(hidden, '')
        .replace(/[\p{Zl}\p{Zp}]/gu, '')
        .trim()
        .toWellFormed()
      if (message === '' || message.length > 2000) return { kind: 'question', wrong: t.message }
      return { kind: 'question', message }
    }
    case 'wrong_person': {
      if (given.wrong !== 'yes') return { kind: 'wrong_person', wrong: t.wrongPerson }
      const email = emailAddress.safeParse(given.email ?? '')
      if ((given.email ?? '').trim() !== '' && !email.success) return { kind: 'wrong_person', wrong: t.email }
      return { kind: 'wrong_person', name: oneLine(given.name ?? '', 200), email: email.success ? email.data : '' }
    }
    default:
      return null
  }
}

/**
 * Stores what a client says about an invoice: it replaces an open answer, pauses the reminders within the limit, and notifies the owner. An owner's
 * own pause stays as it is.
 */
export async function answerInvoice(
  deps: Deps,
  about: { invoiceId: string; ownerId: string },
  answer: Answer,
  afterChange: AfterChange,
  now: Instant,
): Promise<void> {
  await deps.db.transaction(async (tx) => {
    const owner = await lockAccount(tx, about.ownerId)
    const [row] = await tx.select().from(invoices).where(eq(invoices.id, about.invoiceId)).for('update')
    if (!owner || !row || row.deletedAt || row.status === 'paid') return
    const today = localDate(now, owner.timezone)
    await close(tx, row, 'replaced', now)
    await noteClient(tx, row, now)
    // What the owner has done since they accepted a promise counts instead of it.
    if (row.pauseBecause === 'owner') await endPromises(tx, row)
    const promised = await acceptedPromise(tx, row, today)
    const until = await pausedUntil(tx, row, answer, { today, zone: owner.timezone, promised })
    const isPromised = until === promised || (answer.kind === 'promise' && until === answer.date)
    // Before the answer: its event has the invoice with the pause.
    if (until !== null) await pauseByClient(tx, row, { until, because: because[answer.kind], promised: isPromised }, now)
    await tx.insert(payAnswers).values({
      ownerId: row.ownerId,
      invoiceId: row.id,
      kind: answer.kind,
      at: now,
      date: 'date' in answer ? answer.date : null,
      amountMinor: 'amount' in answer ? toMinor(answer.amount, row.currency) : null,
      reference: 'reference' in answer ? answer.reference : '',
      message: 'message' in answer ? answer.message : '',
      name: 'name' in answer ? answer.name : '',
      email: 'email' in answer ? answer.email : '',
      state: 'open',
      pausedFrom: until === null ? null : today,
      pausedUntil: until,
    })
    if (until !== null) await afterChange(tx, row.ownerId, [row.id], now)
    await notifyOfAnswer(tx, deps, owner, row, answer, until, now)
  })
}

/**
 * The last day of the pause that an answer begins; null where it pauses nothing: the owner has paused the invoice, or the client's word has kept it
 * quiet for as long as it may. `promised`: the day of the promise that the owner accepted, before which it does not end.
 */
async function pausedUntil(
  tx: Database,
  row: InvoiceRow,
  answer: Answer,
  { today, zone, promised }: { today: string; zone: string; promised: string | null },
): Promise<string | null> {
  if (row.pausedAt && row.pauseBecause === 'owner') return null
  const wanted = answer.kind === 'promise' ? answer.date : Temporal.PlainDate.from(today).add({ days: quietFor[answer.kind] }).toString()
  const quiet = await quietDays(tx, row, zone)
  quiet.delete(today)
  // The day of the first answer is not counted: its reminder is usually out.
  const left = mostQuiet + 1 - quiet.size
  if (left < 1) return promised
  const latest = Temporal.PlainDate.from(today)
    .add({ days: left - 1 })
    .toString()
  const [until = wanted] = [wanted, latest].sort()
  return promised !== null && promised > until ? promised : until
}

/**
 * The day of the promise that the owner accepted, from this client; null where there is none, its day is over, or the owner has ended its pause. No
 * other answer ends what was agreed.
 */
export async function acceptedPromise(tx: Database, row: InvoiceRow, today: string): Promise<string | null> {
  const [promise] = await tx
    .select({ date: payAnswers.date })
    .from(payAnswers)
    .where(and(acceptedPromises(row), gte(payAnswers.date, today), gte(payAnswers.pausedUntil, today), not(saidByFormer(row.id))))
    .orderBy(desc(payAnswers.at), desc(payAnswers.id))
    .limit(1)
  return promise?.date ?? null
}

const acceptedPromises = ({ ownerId, id }: InvoiceRow) =>
  and(eq(payAnswers.ownerId, ownerId), eq(payAnswers.invoiceId, id), eq(payAnswers.state, 'accepted'), eq(payAnswers.kind, 'promise'))

/** Whether an answer is of a former client. */
export const saidByFormer = (invoiceId: string) =>
  sql`EXISTS (SELECT 1 FROM pay_links l WHERE l.invoice_id = ${invoiceId}::uuid AND l.created_at > ${payAnswers.at})`

/** The accepted promises of an invoice pause it no longer. */
export async function endPromises(tx: Database, row: InvoiceRow): Promise<void> {
  await tx.update(payAnswers).set({ pausedUntil: null }).where(acceptedPromises(row))
}

/**
 * A promise that the owner accepts pauses the invoice until its day instead of any other pause, but for one of the owner that lasts as long. The row is locked.
 */
export async function keepPromise(tx: Database, row: InvoiceRow, answer: Row, today: string, now: Instant): Promise<void> {
  const { date } = answer
  await endPromises(tx, row)
  if (date === null || date < today) return
  const isLonger = row.pausedAt !== null && row.pauseBecause === 'owner' && (row.pausedUntil === null || row.pausedUntil >= date)
  if (isLonger) return
  await pauseByClient(tx, row, { until: date, because: 'promised', promised: true }, now)
  const pause = { pausedFrom: answer.pausedFrom ?? today, pausedUntil: date }
  await tx.update(payAnswers).set(pause).where(eq(payAnswers.id, answer.id))
}

/** The dates on which answers have kept an invoice quiet since the owner last accepted one. */
async function quietDays(tx: Database, { ownerId, id }: InvoiceRow, zone: string): Promise<Set<string>> {
  const all = await tx
    .select()
    .from(payAnswers)
    .where(and(eq(payAnswers.ownerId, ownerId), eq(payAnswers.invoiceId, id)))
    .orderBy(desc(payAnswers.at), desc(payAnswers.id))
  const accepted = all.findIndex(({ state }) => state === 'accepted')
  const days = new Set<string>()
  for (const { pausedFrom, pausedUntil: until, closedAt } of accepted < 0 ? all : all.slice(0, accepted)) {
    if (pausedFrom === null || until === null) continue
    const closed = closedAt?.toZonedDateTimeISO(zone).toPlainDate().toString() ?? until
    const [last = until] = [closed, until].sort()
    for (let day = Temporal.PlainDate.from(pausedFrom); day.toString() <= last; day = day.add({ days: 1 })) days.add(day.toString())
  }
  return days
}

/** Ends the open answer of an invoice, if there is one; its pause stays unless the caller ends it. */
async function close(tx: Database, row: InvoiceRow, state: Row['state'], now: Instant): Promise<Row | null> {
  const [closed] = await tx
    .update(payAnswers)
    .set({ state, closedAt: now })
    .where(and(eq(payAnswers.invoiceId, row.id), eq(payAnswers.state, 'open')))
    .returning()
  return closed ?? null
}

/** The client takes their answer back: its pause ends, and the notice about it is withdrawn. */
export async function takeBackAnswer(deps: Deps, about: { invoiceId: string; ownerId: string }, now: Instant): Promise<void> {
  await deps.db.transaction(async (tx) => {
    const owner = await lockAccount(tx, about.ownerId)
    const [row] = await tx.select().from(invoices).where(eq(invoices.id, about.invoiceId)).for('update')
    if (!owner || !row) return
    const closed = await close(tx, row, 'ended', now)
    if (!closed) return
    await resumeByClient(tx, row, await acceptedPromise(tx, row, localDate(now, owner.timezone)), now)
    await withdrawNotices(tx, row.ownerId, ['client_answered'], row.id)
  })
}

async function notifyOfAnswer(
  tx: Database,
  deps: Deps,
  owner: AccountRow,
  row: InvoiceRow,
  answer: Answer,
  until: string | null,
  now: Instant,
): Promise<void> {
  const { title, text } = noticeTexts.answered({
    client: row.clientName,
    reference: row.reference,
    currency: row.currency,
    answer,
    until,
    own: until === null ? pauseOf(row, await readClients(tx, row.ownerId, [row])) : null,
  })
  const clients = [{ clientName: row.clientName, invoiceId: row.id, reference: row.reference }]
  await notifyOwner(
    tx,
    deps,
    owner,
    {
      kind: 'client_answered',
      cause: row.id,
      title,
      text,
      link: `${screens.gettingPaid}#answers`,
      clients,
      quoted: { words: `${title}\n${text}`, replyTo: row.clientEmail },
    },
    now,
  )
}

/**
 * An invoice that is paid in full needs no answer any more, and one with another client none of the former, whose link ends too. What a payment
 * has closed is open again where it is taken back.
 */
export async function closeAnswers(...[tx, ownerId, invoiceIds, now, corrected = []]: Parameters<AfterChange>): Promise<void> {
  if (invoiceIds.length === 0) return
  const moved = corrected.flatMap(({ before, after }) => (keyOf(before) === keyOf(after) ? [] : [after]))
  for (const row of moved) await changeClient(tx, row, now)
  const exchanged = corrected.flatMap(({ before, after }) => (before.currency === after.currency ? [] : [after.id]))
  // An answer does not name its currency: as an amount of another one it would be wrong.
  if (exchanged.length > 0) await tx.update(payAnswers).set({ amountMinor: null }).where(inArray(payAnswers.invoiceId, exchanged))
  // A pause that the owner had ended or replaced does not come back with the answer: it is noted as over.
  const closed = await rows(
    tx,
    z.object({ invoiceId: z.string() }),
    sql`WITH closed AS (
          UPDATE pay_answers x SET state = 'ended', closed_at = ${now.toString()}::timestamptz,
            paused_until = CASE WHEN i.pause_because = 'owner' AND x.paused_until >= d.today THEN d.today - 1 ELSE x.paused_until END
          FROM invoices i JOIN (SELECT id, (${now.toString()}::timestamptz AT TIME ZONE timezone)::date AS today FROM accounts) d ON d.id = i.owner_id
          WHERE x.invoice_id = ANY(${arrayText(invoiceIds)}::uuid[]) AND x.state = 'open' AND i.id = x.invoice_id
            AND (i.status = 'paid' OR i.id = ANY(${arrayText(moved.map(({ id }) => id))}::uuid[]))
          RETURNING x.invoice_id),
        resumed AS (
          UPDATE invoices i SET paused_at = NULL, paused_until = NULL, pause_note = '', pause_promised = false, pause_because = 'owner'
          FROM closed WHERE i.id = closed.invoice_id AND i.pause_because <> 'owner')
        SELECT invoice_id AS "invoiceId" FROM closed`,
  )
  for (const { invoiceId } of closed) await withdrawNotices(tx, ownerId, ['client_answered', 'answer_lapsed'], invoiceId)
  const owed = corrected.flatMap(({ before, takenBack }) => (takenBack ? [before] : []))
  if (owed.length > 0) await reopenAnswers(tx, ownerId, owed, now)
  // Last: another payment may be the one that was named.
  await acceptRecorded(tx, ownerId, invoiceIds, now)
}

/**
 * “I have paid” is accepted where its payment was recorded since, because a decision would record it again: a payment with its reference, or
 * without any and over the same amount.
 */
async function acceptRecorded(tx: Database, ownerId: string, invoiceIds: string[], now: Instant): Promise<void> {
  const found = await tx
    .select({ answer: payAnswers, payment: invoicePayments, row: invoices })
    .from(payAnswers)
    .innerJoin(invoicePayments, and(eq(invoicePayments.ownerId, payAnswers.ownerId), eq(invoicePayments.invoiceId, payAnswers.invoiceId)))
    .innerJoin(invoices, eq(invoices.id, payAnswers.invoiceId))
    .where(
      and(
        eq(payAnswers.ownerId, ownerId),
        sql`${payAnswers.invoiceId} = ANY(${arrayText(invoiceIds)}::uuid[])`,
        eq(payAnswers.state, 'open'),
        eq(payAnswers.kind, 'paid'),
        isPaymentSince(payAnswers.at),
      ),
    )
  const named = found.filter(
    ({ answer, payment }) =>
      isReferredTo(payment, answer.reference) || (payment.reference === '' && payment.amountMinor === answer.amountMinor),
  )
  const owner = named.length === 0 ? null : await findAccount(tx, ownerId)
  if (!owner) return
  const today = localDate(now, owner.timezone)
  const yesterday = Temporal.PlainDate.from(today).subtract({ days: 1 }).toString()
  for (const { answer, payment, row } of new Map(named.map((one) => [one.row.id, one])).values()) {
    const { pausedUntil: until } = answer
    const isOver = row.pauseBecause === 'owner' && until !== null && until >= today
    const set = { state: 'accepted' as const, closedAt: payment.recordedAt, pausedUntil: isOver ? yesterday : until }
    await tx.update(payAnswers).set(set).where(eq(payAnswers.id, answer.id))
    await resumeByClient(tx, row, await acceptedPromise(tx, row, today), now)
    await withdrawNotices(tx, ownerId, ['client_answered', 'answer_lapsed'], row.id)
  }
}

const isPaymentSince = (at: typeof payAnswers.at | Instant) =>
  and(eq(invoicePayments.kind, 'payment'), isNull(invoicePayments.voidedAt), gte(invoicePayments.recordedAt, at))

/**
 * What a client had said is open again, and its pause is as it was until its day: a payment closed it, and was taken back. Not what a former client
 * said or the owner decided, and no pause where the owner has set one since. A payment that was taken back while the invoice was still paid counts once
 * it is owed. `were`: as they were before.
 */
async function reopenAnswers(tx: Database, ownerId: string, were: InvoiceRow[], now: Instant): Promise<void> {
  await tx.execute(sql`
    WITH opened AS (
      UPDATE pay_answers x SET state = 'open', closed_at = NULL
      WHERE x.id IN (
        SELECT DISTINCT ON (a.invoice_id) a.id
        FROM unnest(${columnText(were, ({ id }) => id)}::uuid[], ${columnText(were, ({ paidAt }) => paidAt?.toString() ?? null)}::timestamptz[]) AS w (invoice_id, paid_at)
        JOIN pay_answers a ON a.owner_id = ${ownerId}::uuid AND a.invoice_id = w.invoice_id
        JOIN pay_links l ON l.invoice_id = a.invoice_id AND l.created_at <= a.at
        WHERE ((a.state = 'ended' AND a.closed_at = w.paid_at)
            OR (a.state = 'accepted' AND a.kind = 'paid' AND EXISTS (
              SELECT 1 FROM invoice_payments p WHERE p.owner_id = a.owner_id AND p.invoice_id = a.invoice_id
                AND p.recorded_at = a.closed_at AND p.voided_at >= coalesce(w.paid_at, ${now.toString()}::timestamptz) AND p.origin <> 'answer')))
          AND NOT EXISTS (SELECT 1 FROM pay_answers o WHERE o.invoice_id = a.invoice_id AND o.state = 'open')
        ORDER BY a.invoice_id, a.at DESC, a.id DESC)
      RETURNING x.*)
    UPDATE invoices i SET paused_at = o.at, paused_until = o.paused_until, pause_note = '', pause_promised = EXISTS (
        SELECT 1 FROM pay_answers p WHERE p.owner_id = o.owner_id AND p.invoice_id = o.invoice_id AND p.kind = 'promise'
          AND p.date = o.paused_until AND (p.id = o.id OR p.state = 'accepted')),
      pause_because = ${JSON.stringify(because)}::jsonb ->> o.kind
    FROM opened o JOIN accounts d ON d.id = o.owner_id
    WHERE i.id = o.invoice_id AND i.paused_at IS NULL AND o.paused_until >= (${now.toString()}::timestamptz AT TIME ZONE d.timezone)::date`)
}

const keyOf = ({ clientEmail }: InvoiceRow) => clientEmail.toLowerCase()

/**
 * The pause of an answer has ended and the owner decided nothing: reminders resume, unless a promise that they accepted is not over, and the owner
 * learns that. A broken promise has a notice of its own.
 */
export async function notifyLapsed(tx: Database, deps: Deps, row: InvoiceRow, why: AnswerPause, now: Instant): Promise<void> {
  const kind = (Object.keys(because) as AnswerKind[]).find((one) => because[one] === why)
  if (kind === undefined || (kind === 'promise' && row.pausePromised)) return
  const owner = await findAccount(tx, row.ownerId)
  if (!owner) return
  const promised = await acceptedPromise(tx, row, localDate(now, owner.timezone))
  if (promised !== null) await resumeByClient(tx, row, promised, now)
  const [open] = await tx
    .select()
    .from(payAnswers)
    .where(and(eq(payAnswers.invoiceId, row.id), eq(payAnswers.state, 'open')))
  if (!open) return
  const { text, ...titles } = noticeTexts.lapsed
  const since = and(eq(invoicePayments.ownerId, row.ownerId), eq(invoicePayments.invoiceId, row.id), isPaymentSince(open.at))
  const isRecorded = kind === 'paid' && (await tx.$count(invoicePayments, since)) > 0
  const title = titles[isRecorded ? 'recorded' : kind](row.clientName, row.reference, open.date ?? '')
  const about = { kind: 'answer_lapsed' as const, cause: row.id, title, text: text(promised) }
  const clients = [{ clientName: row.clientName, invoiceId: row.id, reference: row.reference }]
  await notifyOwner(tx, deps, owner, { ...about, link: `${screens.gettingPaid}#answers`, clients }, now)
}
