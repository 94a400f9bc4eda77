import { z } from 'zod'
import type { reminderFact, WebhookEvent, WebhookPayload } from '#contract/integrations.ts'
import { invoiceStatus } from '#contract/invoices.ts'
import { fromMinor } from '#contract/money.ts'
import { answerFact } from '#contract/pay-answers.ts'
import { type Payment, paymentKind, paymentMethod, paymentOrigin } from '#contract/payments.ts'
import { runKind } from '#contract/reminders.ts'
import { mostListed } from '#contract/templates.ts'
import { toInvoice } from '#server/invoices/invoices.ts'
import type { Clients } from '#server/invoices/pauses.ts'
import type { InvoiceRow } from '#server/invoices/tables.ts'
import { answerFields } from '#server/pay/pay.ts'
import type { Instant } from '#server/platform/clock.ts'

/** An event as a trigger wrote it. */
interface Happened {
  id: string
  type: WebhookEvent
  at: Instant
  facts: unknown
}

/** The body of an event. Throws where the facts are not what the triggers write. */
export function composePayload({ id, type, at, facts }: Happened): WebhookPayload {
  const head = { id, timestamp: at.toString() }
  switch (type) {
    case 'invoice.created':
    case 'invoice.overdue':
    case 'invoice.paid':
    case 'sequence.ended':
    case 'promise.broken': {
      const { invoice, ...clients } = invoiceFacts.parse(facts)
      return { ...head, type, data: { invoice: toInvoice(invoice, clients) } }
    }
    case 'payment.recorded':
    case 'payment.voided': {
      const { payment, invoice, ...clients } = paymentFacts.parse(facts)
      return { ...head, type, data: { payment, invoice: toInvoice(invoice, clients) } }
    }
    case 'client.answered': {
      const { answer, invoice, ...clients } = answerFacts.parse(facts)
      return { ...head, type, data: { answer: answerFields(answer, invoice.currency), invoice: toInvoice(invoice, clients) } }
    }
    case 'reminder.sent':
    case 'reminder.failed':
    case 'reminder.bounced': {
      const { delivery, invoices, invoice_count: invoiceCount = invoices.length, ...clients } = deliveryFacts.parse(facts)
      const listed = invoices.slice(0, mostListed).map((row) => toInvoice(row, clients))
      return { ...head, type, data: { reminder: delivery, invoices: listed, invoiceCount } }
    }
  }
}

// Below: rows as `to_jsonb` writes them. Columns by their names in the database, times in ISO 8601 with the offset of the session.

const moment = z.string().transform((text) => Temporal.Instant.from(text))

const invoiceRow = z
  .object({
    id: z.string(),
    owner_id: z.string(),
    reference: z.string(),
    client_name: z.string(),
    client_email: z.string(),
    amount_minor: z.number().int(),
    /** Missing in facts from before this column existed. */
    currency: z.string().default('INR'),
    /** Missing in facts from before this column existed. */
    language: z.string().nullable().default(null),
    /** Missing in facts from before this column existed. */
    issued_on: z.string().optional(),
    due_date: z.string(),
    status: invoiceStatus,
    created_at: moment,
    updated_at: moment,
    paid_at: moment.nullable(),
    /** Missing in facts from before these columns existed: an invoice was paid in full or not at all. */
    paid_minor: z.number().int().optional(),
    paid_on: z.string().nullable().default(null),
    pause_because: z.enum(['owner', 'says_paid', 'promised', 'question', 'wrong_person']).default('owner'),
    /** Missing in facts from before invoices had PDFs. */
    file_id: z.string().nullable().default(null),
    kept_unpaid: z.boolean().default(false),
    /** Missing in facts from before there were sequences. */
    follows: z.enum(['inherit', 'every_day', 'never', 'own']).default('inherit'),
    sequence_id: z.string().nullable().default(null),
    undelivered_since: moment.nullable().default(null),
    undelivered_reply: z.string().nullable().default(null),
    deleted_at: moment.nullable(),
    paused_at: moment.nullable(),
    paused_until: z.string().nullable(),
    pause_note: z.string(),
    pause_promised: z.boolean(),
    reminders_sent: z.number().int(),
    last_reminder_at: moment.nullable(),
    /** Missing in facts from before this column existed. */
    refusal: z.string().nullable().default(null),
    first_message_id: z.string().nullable(),
    last_message_id: z.string().nullable().default(null),
    /** Missing in facts from before this column existed. */
    version: z.number().int().default(1),
  })
  .transform(
    (row): InvoiceRow => ({
      id: row.id,
      ownerId: row.owner_id,
      reference: row.reference,
      clientName: row.client_name,
      clientEmail: row.client_email,
      amountMinor: row.amount_minor,
      currency: row.currency,
      language: row.language,
      issuedOn: row.issued_on ?? row.created_at.toString().slice(0, 10),
      dueDate: row.due_date,
      status: row.status,
      createdAt: row.created_at,
      updatedAt: row.updated_at,
      paidAt: row.paid_at,
      paidMinor: row.paid_minor ?? (row.status === 'paid' ? row.amount_minor : 0),
      paidOn: row.paid_on,
      keptUnpaid: row.kept_unpaid,
      undeliveredSince: row.undelivered_since,
      undeliveredReply: row.undelivered_reply,
      deletedAt: row.deleted_at,
      pausedAt: row.paused_at,
      pausedUntil: row.paused_until,
      pauseNote: row.pause_note,
      pausePromised: row.pause_promised,
      pauseBecause: row.pause_because,
      fileId: row.file_id,
      follows: row.follows,
      sequenceId: row.sequence_id,
      // Webhooks have no fields for these.
      remindedThrough: null,
      stepsSent: 0,
      promisedUntil: null,
      smart: true,
      sequenceEndedOn: null,
      source: null,
      importedAs: null,
      remindersSent: row.reminders_sent,
      lastReminderAt: row.last_reminder_at,
      refusal: row.refusal,
      firstMessageId: row.first_message_id,
      lastMessageId: row.last_message_id,
      version: row.version,
    }),
  )

/** The pauses of the clients concerned; missing in facts from before they were added. */
const clientPauses = z
  .array(
    z.object({
      owner_id: z.string(),
      client_key: z.string(),
      paused_at: moment,
      paused_until: z.string().nullable(),
      pause_note: z.string(),
      pause_promised: z.boolean(),
    }),
  )
  .default([])
  .transform(
    (rows): Clients['pauses'] =>
      new Map(
        rows.map((row) => [
          row.client_key,
          {
            ownerId: row.owner_id,
            clientKey: row.client_key,
            pausedAt: row.paused_at,
            pausedUntil: row.paused_until,
            pauseNote: row.pause_note,
            pausePromised: row.pause_promised,
          },
        ]),
      ),
  )

/** The holds of the addresses concerned; missing in facts from before there were any. */
const holds = z
  .array(z.object({ owner_id: z.string(), client_key: z.string(), held_since: moment, reply: z.string() }))
  .default([])
  .transform(
    (rows): Clients['holds'] =>
      new Map(
        rows.map((row) => [
          row.client_key,
          { ownerId: row.owner_id, clientKey: row.client_key, heldSince: row.held_since, reply: row.reply },
        ]),
      ),
  )

const deliveryRow = z
  .object({
    id: z.string(),
    run_id: z.string(),
    kind: runKind,
    client_email: z.string(),
    subject: z.string().nullable(),
    attempt: z.number().int(),
    sent_at: moment.nullable(),
    server_reply: z.string().nullable(),
    /** Missing in facts from before there were sequences. */
    sequence_id: z.string().nullable().default(null),
    step_offset: z.number().int().nullable().default(null),
  })
  .transform(
    (row): z.infer<typeof reminderFact> => ({
      _id: row.id,
      runId: row.run_id,
      kind: row.kind,
      clientEmail: row.client_email,
      subject: row.subject,
      attempt: row.attempt,
      sentAt: row.sent_at?.toString() ?? null,
      serverReply: row.server_reply,
      sequence: row.sequence_id,
      step: row.step_offset,
    }),
  )

const paymentRow = z
  .object({
    id: z.string(),
    invoice_id: z.string(),
    kind: paymentKind,
    origin: paymentOrigin,
    amount_minor: z.number().int(),
    currency: z.string().default('INR'),
    paid_on: z.string(),
    method: paymentMethod.nullable(),
    reference: z.string(),
    note: z.string(),
    recorded_at: moment,
    voided_at: moment.nullable(),
  })
  .transform(
    (row): Payment => ({
      _id: row.id,
      invoiceId: row.invoice_id,
      kind: row.kind,
      origin: row.origin,
      amount: fromMinor(row.amount_minor, row.currency),
      currency: row.currency,
      paidOn: row.paid_on,
      method: row.method,
      reference: row.reference,
      note: row.note,
      recordedAt: row.recorded_at.toString(),
      voidedAt: row.voided_at?.toString() ?? null,
    }),
  )

const answerRow = z
  .object({
    id: z.string(),
    invoice_id: z.string(),
    kind: answerFact.shape.kind,
    at: moment,
    date: z.string().nullable(),
    amount_minor: z.number().int().nullable(),
    reference: z.string(),
    message: z.string(),
    name: z.string(),
    email: z.string(),
    state: answerFact.shape.state,
    paused_until: z.string().nullable(),
  })
  .transform(({ invoice_id: invoiceId, amount_minor: amountMinor, paused_until: pausedUntil, ...row }) => ({
    ...row,
    invoiceId,
    amountMinor,
    pausedUntil,
  }))

const answerFacts = z.object({ answer: answerRow, invoice: invoiceRow, pauses: clientPauses, holds })
const paymentFacts = z.object({ payment: paymentRow, invoice: invoiceRow, pauses: clientPauses, holds })
const invoiceFacts = z.object({ invoice: invoiceRow, pauses: clientPauses, holds })
const deliveryFacts = z.object({
  delivery: deliveryRow,
  invoices: z.array(invoiceRow),
  /** Missing in facts from before the list had a limit. */
  invoice_count: z.number().int().optional(),
  pauses: clientPauses,
  holds,
})
