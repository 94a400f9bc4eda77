import { createHash } from 'node:crypto'
import { and, desc, eq, isNotNull, isNull, type SQL, sql } from 'drizzle-orm'
import { z } from 'zod'
import { type WebhookEvent, type WebhookPayload, webhookPayload } from '#contract/integrations.ts'
import { mostListed } from '#contract/templates.ts'
import { toPayment } from '#server/invoices/balance.ts'
import { toInvoice } from '#server/invoices/invoices.ts'
import { readClients } from '#server/invoices/pauses.ts'
import type { InvoiceRow, PaymentRow } from '#server/invoices/tables.ts'
import { invoicePayments, invoices } from '#server/invoices/tables.ts'
import { answerFields } from '#server/pay/pay.ts'
import { payAnswers } from '#server/pay/tables.ts'
import type { Instant } from '#server/platform/clock.ts'
import type { Database } from '#server/platform/database.ts'
import { deliveries, deliveryInvoices, runs } from '#server/reminders/tables.ts'
import { webhookEvents } from './tables.ts'

const most = 10

/**
 * The latest events of a type, newest first: as they were sent, and where no webhook listened at the time, as they would have been by the
 * present data.
 */
export async function sampleEvents(db: Database, ownerId: string, type: WebhookEvent): Promise<WebhookPayload[]> {
  const delivered = await readDelivered(db, ownerId, type)
  const subjects = new Set(delivered.map(subjectOf))
  const others = (await readPresent(db, ownerId, type)).filter((one) => !subjects.has(subjectOf(one)))
  return [...delivered, ...others]
    .toSorted((one, other) => Temporal.Instant.compare(Temporal.Instant.from(other.timestamp), Temporal.Instant.from(one.timestamp)))
    .slice(0, most)
}

async function readDelivered(db: Database, ownerId: string, type: WebhookEvent): Promise<WebhookPayload[]> {
  const found = await db
    .select({ payload: webhookEvents.payload })
    .from(webhookEvents)
    .where(and(eq(webhookEvents.ownerId, ownerId), eq(webhookEvents.type, type), isNotNull(webhookEvents.payload)))
    .orderBy(desc(webhookEvents.position))
    .limit(most)
  // One from before an invoice had all its present fields is read like those that were never sent.
  return found.flatMap(({ payload }) => webhookPayload.safeParse(withCount(JSON.parse(payload ?? ''))).data ?? [])
}

const payloadOfReminder = z.looseObject({ data: z.looseObject({ invoices: z.array(z.unknown()) }) })

/** A body from before the list of invoices had a limit. */
function withCount(payload: unknown): unknown {
  const { data: event } = payloadOfReminder.safeParse(payload)
  if (!event) return payload
  const { invoices } = event.data
  return { ...event, data: { invoiceCount: invoices.length, ...event.data, invoices: invoices.slice(0, mostListed) } }
}

/** The records of the present, as they would have been sent. */
function readPresent(db: Database, ownerId: string, type: WebhookEvent): Promise<WebhookPayload[]> {
  const { createdAt, updatedAt, paidAt, status } = invoices
  switch (type) {
    case 'invoice.created':
      return readInvoices(db, { ownerId, type, which: undefined, at: (row) => row.createdAt, newest: sql`${createdAt}` })
    case 'invoice.overdue':
      return readInvoices(db, { ownerId, type, which: eq(status, 'overdue'), at: (row) => row.updatedAt, newest: sql`${updatedAt}` })
    case 'invoice.paid': {
      const at = (row: InvoiceRow) => row.paidAt ?? row.updatedAt
      return readInvoices(db, { ownerId, type, which: eq(status, 'paid'), at, newest: sql`coalesce(${paidAt}, ${updatedAt})` })
    }
    case 'payment.recorded':
      return readPayments(db, { ownerId, type, which: undefined, at: (row) => row.recordedAt, newest: sql`${invoicePayments.recordedAt}` })
    case 'payment.voided': {
      const { voidedAt } = invoicePayments
      return readPayments(db, {
        ownerId,
        type,
        which: isNotNull(voidedAt),
        at: (row) => row.voidedAt ?? row.recordedAt,
        newest: sql`${voidedAt}`,
      })
    }
    case 'sequence.ended':
    case 'promise.broken': {
      const day = type === 'sequence.ended' ? invoices.sequenceEndedOn : invoices.promisedUntil
      return readInvoices(db, { ownerId, type, which: isNotNull(day), at: (row) => row.updatedAt, newest: sql`${day}` })
    }
    case 'client.answered':
      return readAnswers(db, ownerId, type)
    case 'reminder.sent':
      return readReminders(db, { ownerId, type, state: 'sent' })
    case 'reminder.failed':
      return readReminders(db, { ownerId, type, state: 'failed' })
    case 'reminder.bounced':
      return readReminders(db, { ownerId, type, state: 'sent' })
  }
}

async function readInvoices(
  db: Database,
  about: {
    ownerId: string
    type: Extract<WebhookEvent, `invoice.${string}` | 'sequence.ended' | 'promise.broken'>
    which: SQL | undefined
    at: (row: InvoiceRow) => Instant
    newest: SQL
  },
): Promise<WebhookPayload[]> {
  const { ownerId, type, which, at, newest } = about
  const found = await db
    .select()
    .from(invoices)
    .where(and(eq(invoices.ownerId, ownerId), isNull(invoices.deletedAt), which))
    .orderBy(sql`${newest} DESC`, desc(invoices.id))
    .limit(most)
  const clients = await readClients(db, ownerId, found)
  return found.map((row) => ({
    id: idOf(type, row.id),
    type,
    timestamp: at(row).toString(),
    data: { invoice: toInvoice(row, clients) },
  }))
}

async function readPayments(
  db: Database,
  about: {
    ownerId: string
    type: Extract<WebhookEvent, `payment.${string}`>
    which: SQL | undefined
    at: (row: PaymentRow) => Instant
    newest: SQL
  },
): Promise<WebhookPayload[]> {
  const { ownerId, type, which, at, newest } = about
  const found = await db
    .select({ payment: invoicePayments, invoice: invoices })
    .from(invoicePayments)
    .innerJoin(invoices, and(eq(invoices.ownerId, invoicePayments.ownerId), eq(invoices.id, invoicePayments.invoiceId)))
    .where(and(eq(invoicePayments.ownerId, ownerId), isNull(invoices.deletedAt), which))
    .orderBy(sql`${newest} DESC`, desc(invoicePayments.id))
    .limit(most)
  const clients = await readClients(
    db,
    ownerId,
    found.map(({ invoice }) => invoice),
  )
  return found.map(({ payment, invoice }) => ({
    id: idOf(type, payment.id),
    type,
    timestamp: at(payment).toString(),
    data: { payment: toPayment(payment), invoice: toInvoice(invoice, clients) },
  }))
}

async function readAnswers(db: Database, ownerId: string, type: 'client.answered'): Promise<WebhookPayload[]> {
  const found = await db
    .select({ answer: payAnswers, invoice: invoices })
    .from(payAnswers)
    .innerJoin(invoices, and(eq(invoices.ownerId, payAnswers.ownerId), eq(invoices.id, payAnswers.invoiceId)))
    .where(and(eq(payAnswers.ownerId, ownerId), isNull(invoices.deletedAt)))
    .orderBy(desc(payAnswers.at), desc(payAnswers.id))
    .limit(most)
  const clients = await readClients(
    db,
    ownerId,
    found.map(({ invoice }) => invoice),
  )
  return found.map(({ answer, invoice }) => ({
    id: idOf(type, answer.id),
    type,
    timestamp: answer.at.toString(),
    data: { answer: answerFields(answer, invoice.currency), invoice: toInvoice(invoice, clients) },
  }))
}

async function readReminders(
  db: Database,
  about: { ownerId: string; type: Extract<WebhookEvent, `reminder.${string}`>; state: 'sent' | 'failed' },
): Promise<WebhookPayload[]> {
  const { ownerId, type, state } = about
  // A failed email has the time of its next try, but no later than its deadline.
  const bounced = type === 'reminder.bounced'
  const at =
    sql<Instant>`coalesce(${bounced ? deliveries.bouncedAt : deliveries.sentAt}, least(${deliveries.nextTryAt}, ${deliveries.deadlineAt}))`.mapWith(
      deliveries.nextTryAt,
    )
  const found = await db
    .select({ delivery: deliveries, kind: runs.kind, at })
    .from(deliveries)
    .innerJoin(runs, eq(runs.id, deliveries.runId))
    .where(and(eq(deliveries.ownerId, ownerId), eq(deliveries.state, state), bounced ? isNotNull(deliveries.bouncedAt) : undefined))
    .orderBy(sql`${at} DESC`, desc(deliveries.id))
    .limit(most)
  const covered = await Promise.all(
    found.map(async ({ delivery }) => {
      const its = eq(deliveryInvoices.deliveryId, delivery.id)
      const listed = await db
        .select({ invoice: invoices })
        .from(deliveryInvoices)
        .innerJoin(invoices, eq(invoices.id, deliveryInvoices.invoiceId))
        .where(its)
        .orderBy(invoices.dueDate, invoices.id)
        .limit(mostListed)
      return { count: await db.$count(deliveryInvoices, its), listed: listed.map(({ invoice }) => invoice) }
    }),
  )
  const clients = await readClients(
    db,
    ownerId,
    covered.flatMap(({ listed }) => listed),
  )
  return found.map(({ delivery, kind, at }, nth) => ({
    id: idOf(type, delivery.id),
    type,
    timestamp: at.toString(),
    data: {
      reminder: {
        _id: delivery.id,
        runId: delivery.runId,
        kind,
        clientEmail: delivery.clientEmail,
        subject: delivery.subject,
        attempt: delivery.attempt,
        sentAt: delivery.sentAt?.toString() ?? null,
        serverReply: delivery.serverReply,
        sequence: delivery.sequenceId,
        step: delivery.stepOffset,
      },
      invoices: (covered[nth]?.listed ?? []).map((row) => toInvoice(row, clients)),
      invoiceCount: covered[nth]?.count ?? 0,
    },
  }))
}

/** The id of the record that the event is about. */
function subjectOf({ data }: WebhookPayload): string {
  if ('payment' in data) return data.payment._id
  if ('answer' in data) return data.answer._id
  return 'invoice' in data ? data.invoice._id : data.reminder._id
}

/** The same id each time, so that a sample never looks like a new event: a UUID of version 8 (RFC 9562), derived from the record. */
function idOf(type: WebhookEvent, recordId: string): string {
  const bytes = createHash('sha256').update(`${type} ${recordId}`).digest().subarray(0, 16)
  bytes[6] = ((bytes[6] ?? 0) & 0x0f) | 0x80
  bytes[8] = ((bytes[8] ?? 0) & 0x3f) | 0x80
  return bytes.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5')
}
