import { and, eq, sql } from 'drizzle-orm'
import PostalMime from 'postal-mime'
import { z } from 'zod'
import type { CallReply } from '#contract/call.ts'
import type { ClientEmail } from '#contract/clients.ts'
import type { DayDecision, InvoiceHistory, reminderCalls } from '#contract/reminders.ts'
import { deliveryState, holdReasonOf, runKind } from '#contract/reminders.ts'
import type { AccountRow } from '#server/accounts/accounts.ts'
import { paymentsOf, toPayment } from '#server/invoices/balance.ts'
import { changesOf, chosenSequence, notesOf } from '#server/invoices/invoices.ts'
import { invoices } from '#server/invoices/tables.ts'
import { answersOfInvoice } from '#server/pay/pay.ts'
import type { Instant } from '#server/platform/clock.ts'
import { instantText } from '#server/platform/columns.ts'
import { type Database, rows } from '#server/platform/database.ts'
import type { Deps } from '#server/platform/deps.ts'
import { ProblemError } from '#server/platform/problem-error.ts'
import { previewReminders } from './reminders.ts'
import { decisions, deliveries } from './tables.ts'
import { holdTexts, texts } from './texts.ts'

/** The most that are shown of each, newest first. */
const mostShown = 200

/** The emails about an invoice, the decision of each day, and its next reminder; of each at most `most`. Refuses with `not_found`. */
export async function invoiceHistory(
  { db, config }: Pick<Deps, 'db' | 'config'>,
  account: AccountRow,
  invoiceId: string,
  now: Instant,
  most = mostShown,
): Promise<InvoiceHistory> {
  const [invoice] = await db
    .select()
    .from(invoices)
    .where(and(eq(invoices.ownerId, account.id), sql`${invoices.id}::text = ${invoiceId}`))
  if (!invoice) throw new ProblemError('not_found', texts.noInvoice)
  const [line] = (await previewReminders({ db, config }, account, now, { only: [invoice.id] })).lines
  return {
    nextAt: line?.nextAt ?? null,
    reason: line ? line.reason : invoice.deletedAt ? 'deleted' : 'paid',
    sequence: line?.sequence ?? chosenSequence(invoice) ?? account.sequenceId ?? account.follows,
    step: line?.step ?? null,
    movedFrom: line?.movedFrom ?? null,
    why: line?.why ?? null,
    atClient: line?.atClient ?? null,
    smart: invoice.smart,
    notDelivered: line?.notDelivered ?? null,
    mails: await mailsOf(db, invoice.id, most),
    days: await daysOf(db, invoice.id, most),
    payments: (await paymentsOf(db, account.id, [invoice.id])).slice(0, most).map(toPayment),
    answers: await answersOfInvoice(db, account.id, invoice.id),
    changes: await changesOf(db, invoice, most),
    notes: await notesOf(db, account.id, invoice.id, most),
  }
}

const mailRow = z.object({
  _id: z.string(),
  runId: z.string(),
  kind: runKind,
  state: deliveryState,
  reason: z.string().nullable(),
  subject: z.string().nullable(),
  clientEmail: z.string(),
  createdAt: instantText,
  sentAt: instantText.nullable(),
  bouncedAt: instantText.nullable(),
  attempt: z.number(),
  nextTryAt: instantText.nullable(),
  serverReply: z.string().nullable(),
  copiesRefused: z.string().nullable(),
  invoices: z.number(),
  sequence: z.string().nullable(),
  step: z.number().nullable(),
  stored: z.boolean(),
})

function mailsOf(db: Database, invoiceId: string, most: number): Promise<z.output<typeof mailRow>[]> {
  return rows(
    db,
    mailRow,
    sql`SELECT d.id AS _id, d.run_id AS "runId", r.kind, d.state, d.reason, d.subject, d.client_email AS "clientEmail", d.created_at AS "createdAt",
          d.sent_at AS "sentAt", d.bounced_at AS "bouncedAt", d.attempt, CASE WHEN d.state IN ('queued', 'retrying') THEN d.next_try_at END AS "nextTryAt", d.server_reply AS "serverReply", d.copies_refused AS "copiesRefused",
          (SELECT count(*)::int FROM delivery_invoices n WHERE n.delivery_id = d.id) AS invoices,
          d.sequence_id AS sequence, d.step_offset AS step, d.raw IS NOT NULL AS stored
        FROM delivery_invoices di JOIN deliveries d ON d.id = di.delivery_id JOIN runs r ON r.id = coalesce(d.pulled_by_run_id, d.run_id)
        WHERE di.invoice_id = ${invoiceId}::uuid ORDER BY d.created_at DESC, d.id DESC LIMIT ${most}`,
  )
}

const clientEmail = z.object({
  kind: z.literal('email'),
  _id: z.string(),
  at: instantText,
  state: deliveryState,
  subject: z.string().nullable(),
  reply: z.string().nullable(),
  copiesRefused: z.string().nullable(),
  references: z.array(z.string()),
  stored: z.boolean(),
})

/** The emails about the invoices of a client that were sent or tried, newest first. `emailKey`: the address in lower case. */
export function emailsOfClient(db: Database, ownerId: string, emailKey: string): Promise<ClientEmail[]> {
  return rows(
    db,
    clientEmail,
    sql`SELECT 'email' AS kind, d.id AS _id, coalesce(d.sent_at, d.tried_at) AS at, d.state, d.subject, d.server_reply AS reply, d.copies_refused AS "copiesRefused", d.raw IS NOT NULL AS stored,
          (SELECT array_agg(i.reference ORDER BY i.due_date, i.id) FROM delivery_invoices n JOIN invoices i ON i.id = n.invoice_id WHERE n.delivery_id = d.id) AS "references"
        FROM deliveries d
        WHERE d.owner_id = ${ownerId}::uuid AND coalesce(d.sent_at, d.tried_at) IS NOT NULL AND d.id IN (
          SELECT x.delivery_id FROM invoices i JOIN delivery_invoices x ON x.invoice_id = i.id
          WHERE i.owner_id = ${ownerId}::uuid AND lower(i.client_email) = ${emailKey} AND i.deleted_at IS NULL)
        ORDER BY at DESC, d.id DESC LIMIT ${mostShown}`,
  )
}

const dayRow = z.object({
  date: z.string(),
  rule: z.enum(decisions.rule.enumValues),
  note: z.string().nullable(),
  decidedAt: instantText,
  mailId: z.string().nullable(),
  state: deliveryState.nullable(),
  reason: z.string().nullable(),
  serverReply: z.string().nullable(),
  copiesRefused: z.string().nullable(),
  nextTryAt: instantText.nullable(),
})

async function daysOf(db: Database, invoiceId: string, most: number): Promise<DayDecision[]> {
  const found = await rows(
    db,
    dayRow,
    sql`SELECT x.local_date::text AS date, x.rule, x.note, x.decided_at AS "decidedAt", x.delivery_id AS "mailId", d.state, d.reason,
          d.server_reply AS "serverReply", d.copies_refused AS "copiesRefused", CASE WHEN d.state IN ('queued', 'retrying') THEN d.next_try_at END AS "nextTryAt"
        FROM decisions x LEFT JOIN deliveries d ON d.id = x.delivery_id
        WHERE x.invoice_id = ${invoiceId}::uuid ORDER BY x.local_date DESC LIMIT ${most}`,
  )
  return found.map((day) => ({
    date: day.date,
    ...sayDay(day),
    decidedAt: day.decidedAt,
    nextTryAt: day.nextTryAt,
    mailId: day.mailId,
  }))
}

/** The outcome of a day, as a code for API clients and a sentence for people. */
function sayDay(day: z.output<typeof dayRow>): Pick<DayDecision, 'outcome' | 'words'> {
  const server = day.serverReply ? ` ${texts.day.replied(day.serverReply)}` : ''
  switch (day.rule) {
    case 'already_reminded':
      return { outcome: 'already_reminded', words: texts.day.alreadyReminded }
    case 'paused':
      return { outcome: 'paused', words: texts.day.paused(day.note) }
    case 'address_held':
      return { outcome: 'address_held', words: texts.day.addressHeld(day.note) }
    case 'left_out':
      return { outcome: 'left_out', words: day.mailId === null ? texts.day.leftOut : texts.day.leftOutByHand }
    case 'not_running':
      return { outcome: 'not_running', words: day.note ?? texts.day.notRunning }
    case 'added_later':
      return { outcome: 'added_later', words: texts.day.addedLater }
    case 'cancelled':
      return { outcome: 'cancelled', words: texts.day.stopped }
    case 'not_owed':
      return { outcome: 'superseded', words: texts.day.notOwed }
    case 'no_step':
      return { outcome: day.rule, words: texts.day.noStep }
    case 'gap':
    case 'quiet':
    case 'ended':
    case 'never':
      return { outcome: day.rule, words: texts.day[day.rule] }
    case 'refused':
      return { outcome: day.rule, words: texts.day.addressHeld(day.note) }
    case 'mail':
      break
  }
  switch (day.state) {
    case 'sent':
      return { outcome: 'sent', words: [`${texts.day.sent}${server}`, day.copiesRefused, day.note].filter(Boolean).join(' ') }
    case 'failed':
      return {
        outcome: 'failed',
        words: failureOf(day.serverReply ?? '', { refused: day.reason === 'refused', server }),
      }
    case 'retrying':
      return { outcome: 'retrying', words: `${texts.day.retrying}${server}` }
    case 'held':
      return {
        outcome: 'held',
        words: day.reason === 'sending_paused' ? `${holdTexts.sending_paused.waits}${server}` : holdTexts[holdReasonOf(day.reason)].waits,
      }
    case 'cancelled':
      return { outcome: 'cancelled', words: texts.day.stopped }
    case 'superseded':
      return { outcome: 'superseded', words: texts.day.notOwed }
    case 'queued':
    case 'sending':
    case null:
      return { outcome: 'waiting', words: texts.day.waiting }
  }
}

/** The mail server's reply, or the sentence stored in its place where none was asked. */
function failureOf(reply: string, about: { refused: boolean; server: string }): string {
  if (reply.startsWith('Not sent')) return reply
  return `${texts.day.notSent} ${about.refused ? about.server.trim() : reply}`.trim()
}

const lines = (part = '') => part.replaceAll('\r\n', '\n')

/** An email exactly as it was sent, read from the stored bytes. Refuses with `not_found` also where it was never rendered, or is no longer stored. */
export async function readMail(db: Database, account: AccountRow, id: string): Promise<CallReply<typeof reminderCalls.mail>> {
  const [mail] = await db
    .select()
    .from(deliveries)
    .where(and(eq(deliveries.ownerId, account.id), sql`${deliveries.id}::text = ${id}`))
  if (mail?.messageId && !mail.raw) throw new ProblemError('not_found', texts.noLongerStored)
  if (!mail?.raw || !mail.messageId) throw new ProblemError('not_found', texts.noEmail)
  const parsed = await PostalMime.parse(mail.raw)
  return {
    _id: mail.id,
    from: [parsed.from?.name, parsed.from?.address && `<${parsed.from.address}>`].filter(Boolean).join(' '),
    to: mail.clientEmail,
    subject: parsed.subject ?? '',
    messageId: mail.messageId,
    date: parsed.date ?? mail.createdAt.toString(),
    html: lines(parsed.html),
    text: lines(parsed.text),
  }
}
