import { sql } from 'drizzle-orm'
import {
  bigint,
  boolean,
  check,
  date,
  foreignKey,
  index,
  integer,
  jsonb,
  pgTable,
  primaryKey,
  text,
  unique,
  uniqueIndex,
  uuid,
} from 'drizzle-orm/pg-core'
import type { ClientCopy } from '#contract/clients.ts'
import type { FileAnswer } from '#contract/file-layouts.ts'
import { changedFields } from '#contract/reminders.ts'
import { accounts, actorColumns } from '#server/accounts/tables.ts'
import type { Instant } from '#server/platform/clock.ts'
import { id, instant, newId } from '#server/platform/columns.ts'
import type { Database } from '#server/platform/database.ts'

/** A sequence of an account: its steps are in `sequence_steps`. */
export const sequences = pgTable(
  'sequences',
  {
    ownerId: uuid()
      .notNull()
      .references(() => accounts.id, { onDelete: 'cascade' }),
    id: id(),
    name: text().notNull(),
    /** Raised by every change: an email that waits is composed again. */
    version: integer().notNull().default(1),
    everyDays: integer(),
    atMost: integer(),
    atLeast: integer().notNull(),
    createdAt: instant().notNull(),
    updatedAt: instant().notNull(),
  },
  (t) => [unique('sequences_owner_id').on(t.ownerId, t.id)],
)

/** Whose choice of a sequence applies: `inherit` leaves it to the client, and then to the account; with `own` it is that of `sequenceId`. */
const follows = () =>
  text({ enum: ['inherit', 'every_day', 'never', 'own'] })
    .notNull()
    .default('inherit')

/** One invoice of one account. */
export const invoices = pgTable(
  'invoices',
  {
    id: id(),
    ownerId: uuid().notNull(),
    /** INV-0001: short, unique in the account, changeable. */
    reference: text().notNull(),
    clientName: text().notNull(),
    clientEmail: text().notNull(),
    /** In minor units of the currency, as many decimals as ISO 4217 gives it. */
    amountMinor: bigint({ mode: 'number' }).notNull(),
    currency: text().notNull().default('INR'),
    /** In which its emails are, as a BCP 47 tag; null: that of its client. */
    language: text(),
    /** A trigger sets it where a process of an earlier release inserts without it. */
    issuedOn: date({ mode: 'string' }).notNull(),
    dueDate: date({ mode: 'string' }).notNull(),
    status: text({ enum: ['unpaid', 'paid', 'overdue'] }).notNull(),
    createdAt: instant().notNull(),
    updatedAt: instant().notNull(),
    /** When nothing was left to pay; null where something is. */
    paidAt: instant(),
    /** Payments less refunds, of the rows that are not voided: a trigger compares it with them when the transaction commits. */
    paidMinor: bigint({ mode: 'number' }).notNull().default(0),
    /** The date of the latest payment of a paid invoice. */
    paidOn: date({ mode: 'string' }),
    /** A person set it to unpaid when it was past due: the midnight job must leave it until its due date changes. */
    keptUnpaid: boolean().notNull().default(false),
    /** Soft deletion: it can be restored for 30 days. */
    deletedAt: instant(),

    /**
     * When its reminders were paused; the last local date of the pause (null: until resumed); the note; whether the client promised to pay
     * by then; and whether the owner paused it or what the client said.
     */
    pausedAt: instant(),
    pausedUntil: date({ mode: 'string' }),
    pauseNote: text().notNull().default(''),
    pausePromised: boolean().notNull().default(false),
    pauseBecause: text({ enum: ['owner', 'says_paid', 'promised', 'question', 'wrong_person'] })
      .notNull()
      .default('owner'),

    follows: follows(),
    sequenceId: uuid(),
    /** Whether smart reminders may move its steps, where the account and the client have them. */
    smart: boolean().notNull().default(true),
    /**
     * Steps of a sequence up to this date are dealt with: the local date of the last automatic email that was accepted, or of its step. Here and below one
     * that came back does not count.
     */
    remindedThrough: date({ mode: 'string' }),
    /** How many emails of sequences about it were accepted. */
    stepsSent: integer().notNull().default(0),
    /** The last day of a promise to pay that was broken. */
    promisedUntil: date({ mode: 'string' }),
    /** Since which date no step is left; null again once another one was accepted. */
    sequenceEndedOn: date({ mode: 'string' }),

    /** What it was imported from last; null where it was not. */
    source: text(),
    /** Its reference there, where a person chose another one here: its line is found by that. */
    importedAs: text(),
    /** Raised by a trigger when a column changes that people set; not by midnight and not by emails. */
    version: integer().notNull().default(1),

    /** Its PDF, a row in `invoice_files`; null without one. */
    fileId: uuid(),

    /** How many emails about it were accepted, and when the last one was that did not come back. */
    remindersSent: integer().notNull().default(0),
    lastReminderAt: instant(),
    /** The mail server's reply that permanently refused the last reminder; null once one is accepted, or the client has another address. */
    refusal: text(),
    /** Since when no email about it was accepted though one was tried, and the mail server's last reply; null once one is accepted. */
    undeliveredSince: instant(),
    undeliveredReply: text(),
    /** Of the first and of the last accepted reminder. Follow-ups refer to them, so that a mailbox shows one thread. */
    firstMessageId: text(),
    lastMessageId: text(),
  },
  (t) => [
    foreignKey({ columns: [t.ownerId], foreignColumns: [accounts.id] }).onDelete('cascade'),
    /** Composite keys refer to it, so that an id of another account cannot even be stored. */
    unique('invoices_owner_id').on(t.ownerId, t.id),
    uniqueIndex('invoices_reference').on(t.ownerId, t.reference).where(sql`${t.deletedAt} IS NULL`),
    // `reference_key` is a function of the database: `referenceKey` in the contract, as far as it tells cases apart.
    index('invoices_reference_key').on(t.ownerId, sql`reference_key(${t.reference})`).where(sql`${t.deletedAt} IS NULL`),
    foreignKey({ columns: [t.ownerId, t.sequenceId], foreignColumns: [sequences.ownerId, sequences.id] }),
    index('invoices_sequence').on(t.ownerId, t.sequenceId).where(sql`${t.sequenceId} IS NOT NULL`),
    index('invoices_newest').on(t.ownerId, t.createdAt.desc(), t.id.desc()).where(sql`${t.deletedAt} IS NULL`),
    index('invoices_owed').on(t.ownerId, t.dueDate).where(sql`${t.deletedAt} IS NULL AND ${t.status} <> 'paid'`),
    index('invoices_paused').on(t.pausedUntil).where(sql`${t.pausedUntil} IS NOT NULL`),
    index('invoices_client').on(t.ownerId, sql`lower(${t.clientEmail})`),
    index('invoices_source').on(t.ownerId, t.source).where(sql`${t.source} IS NOT NULL`),
    index('invoices_imported_as').on(t.ownerId, t.source, t.importedAs).where(sql`${t.importedAs} IS NOT NULL`),
    index('invoices_deleted').on(t.deletedAt).where(sql`${t.deletedAt} IS NOT NULL`),
    check('invoices_amount', sql`${t.amountMinor} BETWEEN 1 AND 999999999999`),
    check('invoices_currency', sql`${t.currency} ~ '^[A-Z]{3}$'`),
    check('invoices_follows', sql`(${t.follows} = 'own') = (${t.sequenceId} IS NOT NULL)`),
    check('invoices_paid', sql`(${t.status} = 'paid') = (${t.paidMinor} >= ${t.amountMinor}) AND ${t.paidMinor} >= 0`),
  ],
)

/** What was paid for an invoice, or paid back. A row is never edited and only erased with its invoice: a correction is a void and a new row. */
export const invoicePayments = pgTable(
  'invoice_payments',
  {
    id: id(),
    ownerId: uuid().notNull(),
    invoiceId: uuid().notNull(),
    /** `credit`: a credit note. It lowers what is owed, and no money came in. */
    kind: text({ enum: ['payment', 'refund', 'credit'] }).notNull(),
    /** `marked`: the balance at the moment when the status was set to paid. */
    origin: text({ enum: ['marked', 'by_hand', 'answer', 'bank_file', 'program', 'import', 'razorpay'] }).notNull(),
    amountMinor: bigint({ mode: 'number' }).notNull(),
    /** That of the invoice: it has one currency as long as a payment counts. */
    currency: text().notNull().default('INR'),
    paidOn: date({ mode: 'string' }).notNull(),
    method: text({ enum: ['upi', 'bank', 'card', 'cash', 'cheque', 'online', 'other'] }),
    reference: text().notNull().default(''),
    note: text().notNull().default(''),
    /** The payment at the provider that it came from. */
    providerId: text(),
    /** The line of a bank file that it came from, and the import it was recorded by, of lines or of invoices. */
    bankLineHash: text(),
    /** The bank's own id of that transfer. */
    bankId: text(),
    batchId: uuid(),
    /** The Idempotency-Key of the request that recorded it, and SHA-256 of that request. */
    requestKey: text(),
    requestHash: text(),
    recordedAt: instant().notNull(),
    voidedAt: instant(),
  },
  (t) => [
    foreignKey({ columns: [t.ownerId, t.invoiceId], foreignColumns: [invoices.ownerId, invoices.id] }).onDelete('cascade'),
    unique('invoice_payments_owner_id').on(t.ownerId, t.id),
    index('invoice_payments_invoice').on(t.ownerId, t.invoiceId),
    index('invoice_payments_paid_on').on(t.ownerId, t.paidOn),
    index('invoice_payments_credits').on(t.ownerId, t.invoiceId).where(sql`${t.kind} = 'credit'`),
    uniqueIndex('invoice_payments_request').on(t.ownerId, t.requestKey).where(sql`${t.requestKey} IS NOT NULL`),
    uniqueIndex('invoice_payments_provider').on(t.ownerId, t.invoiceId, t.providerId).where(sql`${t.providerId} IS NOT NULL`),
    uniqueIndex('invoice_payments_bank_line')
      .on(t.ownerId, t.bankLineHash)
      .where(sql`${t.bankLineHash} IS NOT NULL AND ${t.voidedAt} IS NULL`),
    check('invoice_payments_amount', sql`${t.amountMinor} > 0`),
    check('invoice_payments_texts', sql`char_length(${t.reference}) <= 80 AND char_length(${t.note}) <= 500`),
  ],
)

/**
 * Who created and changed invoices, field by field: shown in their history, and imports are undone by it. Payments have the id of their import.
 * Amounts are in minor units.
 */
export const invoiceChanges = pgTable(
  'invoice_changes',
  {
    ownerId: uuid().notNull(),
    id: uuid()
      .notNull()
      .$defaultFn(() => newId()),
    invoiceId: uuid().notNull(),
    at: instant().notNull(),
    ...actorColumns,
    importId: uuid(),
    field: text({ enum: changedFields }).notNull(),
    before: text(),
    after: text(),
    undoneAt: instant(),
  },
  (t) => [
    primaryKey({ columns: [t.ownerId, t.id] }),
    foreignKey({ columns: [t.ownerId, t.invoiceId], foreignColumns: [invoices.ownerId, invoices.id] }).onDelete('cascade'),
    index('invoice_changes_import').on(t.ownerId, t.importId),
    index('invoice_changes_invoice').on(t.ownerId, t.invoiceId),
  ],
)

/** What the team keeps about an invoice. A trigger refuses updates. */
export const invoiceNotes = pgTable(
  'invoice_notes',
  {
    ownerId: uuid().notNull(),
    id: uuid()
      .notNull()
      .$defaultFn(() => newId()),
    invoiceId: uuid().notNull(),
    at: instant().notNull(),
    ...actorColumns,
    text: text().notNull(),
  },
  (t) => [
    primaryKey({ columns: [t.ownerId, t.id] }),
    foreignKey({ columns: [t.ownerId, t.invoiceId], foreignColumns: [invoices.ownerId, invoices.id] }).onDelete('cascade'),
    index('invoice_notes_invoice').on(t.ownerId, t.invoiceId),
    check('invoice_notes_text', sql`char_length(${t.text}) <= 2000`),
  ],
)

/**
 * A client: an address that invoices go to. Triggers add the row with the first invoice to the address; it keeps what is set for the client,
 * and nothing that an invoice has itself.
 */
export const clients = pgTable(
  'clients',
  {
    ownerId: uuid()
      .notNull()
      .references(() => accounts.id, { onDelete: 'cascade' }),
    id: id(),
    /** The address in lower case. */
    emailKey: text().notNull(),
    follows: follows(),
    sequenceId: uuid(),
    /** Another address of the client, which gets copies of the steps that have one. */
    secondContact: text(),
    /** Its further recipients, besides that one; null: none. */
    copies: jsonb().$type<ClientCopy[]>(),
    /** The place of the mailbox that it is written to from; null: the default one. Its key to mail_configs is in the migration: a slice above. */
    mailboxId: uuid(),
    /** In which it is written to, as a BCP 47 tag; null: that of the account. */
    language: text(),
    /** Where and by which clock it lives; null: as the account. */
    country: text(),
    region: text(),
    timezone: text(),
    /** Whether smart reminders may move the steps of its invoices, where the account has them. */
    smart: boolean().notNull().default(true),
  },
  (t) => [
    foreignKey({ columns: [t.ownerId, t.sequenceId], foreignColumns: [sequences.ownerId, sequences.id] }),
    unique('clients_owner_id').on(t.ownerId, t.id),
    unique('clients_address').on(t.ownerId, t.emailKey),
    index('clients_mailbox').on(t.ownerId, t.mailboxId).where(sql`${t.mailboxId} IS NOT NULL`),
    index('clients_sequence').on(t.ownerId, t.sequenceId).where(sql`${t.sequenceId} IS NOT NULL`),
    check('clients_follows', sql`(${t.follows} = 'own') = (${t.sequenceId} IS NOT NULL)`),
  ],
)

/** A client, by lower-case email address, whose invoices are not reminded. */
export const clientPauses = pgTable(
  'client_pauses',
  {
    ownerId: uuid()
      .notNull()
      .references(() => accounts.id, { onDelete: 'cascade' }),
    clientKey: text().notNull(),
    pausedAt: instant().notNull(),
    pausedUntil: date({ mode: 'string' }),
    pauseNote: text().notNull(),
    pausePromised: boolean().notNull(),
  },
  (t) => [primaryKey({ columns: [t.ownerId, t.clientKey] }), index('client_pauses_until').on(t.pausedUntil)],
)

/** A client's address, in lower case, that a mail server has permanently refused: reminders to it are held. */
export const addressHolds = pgTable(
  'address_holds',
  {
    ownerId: uuid()
      .notNull()
      .references(() => accounts.id, { onDelete: 'cascade' }),
    clientKey: text().notNull(),
    heldSince: instant().notNull(),
    reply: text().notNull(),
  },
  (t) => [primaryKey({ columns: [t.ownerId, t.clientKey] })],
)

/** The invoice that a request, or a line of one, created under an Idempotency-Key: a repetition within a day gets it again. */
export const idempotencyKeys = pgTable(
  'idempotency_keys',
  {
    ownerId: uuid()
      .notNull()
      .references(() => accounts.id, { onDelete: 'cascade' }),
    key: text().notNull(),
    /** SHA-256 of the request: the same key for something else is an error. */
    requestHash: text().notNull(),
    invoiceId: uuid().notNull(),
    createdAt: instant().notNull(),
  },
  (t) => [
    primaryKey({ columns: [t.ownerId, t.key] }),
    foreignKey({ columns: [t.ownerId, t.invoiceId], foreignColumns: [invoices.ownerId, invoices.id] }).onDelete('cascade'),
    index('idempotency_keys_created').on(t.createdAt),
    index('idempotency_keys_invoice').on(t.ownerId, t.invoiceId),
  ],
)

/** What a person answered about files with the same headings, so that the next one is not asked about. */
export const fileLayouts = pgTable(
  'file_layouts',
  {
    ownerId: uuid()
      .notNull()
      .references(() => accounts.id, { onDelete: 'cascade' }),
    id: id(),
    kind: text({ enum: ['bank', 'invoices'] }).notNull(),
    /** SHA-256 of the headings: these can be longer than an entry of an index. */
    hash: text().notNull(),
    headings: text().notNull(),
    name: text().notNull(),
    /** Also the chosen columns: they are answers. */
    answers: jsonb().$type<FileAnswer[]>().notNull(),
    createdAt: instant().notNull(),
    usedAt: instant().notNull(),
  },
  (t) => [unique('file_layouts_kind_hash').on(t.ownerId, t.kind, t.hash)],
)

/** What an import or a change of many invoices writes. */
export const writtenInBulk = ['invoices', 'invoice_payments', 'clients']
/** From this many invoices on, the planner's statistics are looked at. */
export const manyInvoices = 100

export type InvoiceRow = typeof invoices.$inferSelect
export type PaymentRow = typeof invoicePayments.$inferSelect

/**
 * An invoice whose client email or currency is another one now, or whose due date is a later one; `takenBack`: a payment of it was taken back, and
 * it is owed.
 */
export interface Corrected {
  before: InvoiceRow
  after: InvoiceRow
  takenBack: boolean
}

/**
 * Runs in the transaction that changes, deletes or restores invoices, with the account's row locked: nothing can follow a new one. `corrected`: some of
 * them. Answers whether anything followed, which may have changed invoices, pauses and holds.
 */
export type AfterChange = (tx: Database, ownerId: string, invoiceIds: string[], now: Instant, corrected?: Corrected[]) => Promise<boolean>
