import { sql } from 'drizzle-orm'
import {
  bigint,
  boolean,
  check,
  date,
  doublePrecision,
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
import { accounts } from '#server/accounts/tables.ts'
import { invoices, sequences } from '#server/invoices/tables.ts'
import { bytes, id, instant, newId } from '#server/platform/columns.ts'
import type { Reason } from './smart.ts'

/** One occasion on which an account's clients are reminded. */
export const runs = pgTable(
  'runs',
  {
    id: id(),
    ownerId: uuid().notNull(),
    kind: text({ enum: ['daily', 'start', 'send_now', 'trigger', 'retry'] }).notNull(),
    /** The local date of the account when it was made: the key of a daily run. */
    localDate: date({ mode: 'string' }).notNull(),
    createdAt: instant().notNull(),
    /** The deadline: 18:00 local for the daily run, 4 h for a manual one. */
    deadlineAt: instant().notNull(),
    cancelledAt: instant(),
    /** Until when its emails wait, so that some can be left out; null: they leave immediately. */
    leavesAt: instant(),
    /** Emails are planned in chunks, in order: how far that is, and when it was complete. */
    cursor: text(),
    /** One email per client instead of one per invoice. */
    grouped: boolean().notNull().default(false),
    /** The wording of its one email, where that was written for it. */
    subject: text(),
    content: text(),
    /** The run whose failed emails this one repeats. */
    retryOf: uuid(),
    plannedAt: instant(),
    /** Invoices skipped because they were already reminded or had a pending email. */
    skipped: integer().notNull().default(0),
    /** Why the whole day was skipped, where it was. */
    skippedReason: text(),
    /** When nothing of it was open any more and its failures had been reported. */
    settledAt: instant(),
    /** How its emails ended, those it pulled forward included, and when the last one was accepted; null while some are open. */
    sent: integer(),
    failed: integer(),
    dropped: integer(),
    lastSentAt: instant(),
  },
  (t) => [
    foreignKey({ columns: [t.ownerId], foreignColumns: [accounts.id] }).onDelete('cascade'),
    unique('runs_owner_id').on(t.ownerId, t.id),
    foreignKey({ columns: [t.ownerId, t.retryOf], foreignColumns: [t.ownerId, t.id] }),
    uniqueIndex('runs_one_daily').on(t.ownerId, t.localDate).where(sql`${t.kind} = 'daily'`),
    index('runs_unplanned').on(t.ownerId).where(sql`${t.plannedAt} IS NULL`),
    index('runs_unsettled').on(t.createdAt).where(sql`${t.settledAt} IS NULL`),
    index('runs_newest').on(t.ownerId, t.createdAt.desc()),
    // Rows are stored about in this order, so that an index of a few pages finds the oldest.
    index('runs_oldest').using('brin', t.createdAt),
    index('runs_retried').on(t.ownerId, t.retryOf).where(sql`${t.retryOf} IS NOT NULL`),
  ],
)

/** One email. This row is its state; the queue only signals that it is due. */
export const deliveries = pgTable(
  'deliveries',
  {
    id: id(),
    ownerId: uuid().notNull(),
    runId: uuid().notNull(),
    /** The Send Now that pulled it forward, where one did. */
    pulledByRunId: uuid(),
    /** What that replaced, in case it is stopped: when the next try was to be, until when, and whether it was held for its owner's approval. */
    ownNextTryAt: instant(),
    ownDeadlineAt: instant(),
    approvedByPull: boolean(),
    clientEmail: text().notNull(),
    /** Of the invoices that it was made for: an email about several is for one client and one currency. */
    currency: text().notNull().default('INR'),
    /** The language of the first of them; null: that of the client. Those of an email about several have the same, by their own choice or not. */
    language: text(),
    state: text({ enum: ['queued', 'sending', 'sent', 'retrying', 'failed', 'held', 'cancelled', 'superseded'] }).notNull(),
    /** Why it waits (held) or why it was never sent (cancelled, superseded), as a code. */
    reason: text(),
    createdAt: instant().notNull(),
    /** Not tried before this. */
    nextTryAt: instant().notNull(),
    deadlineAt: instant().notNull(),
    /**
     * The sequence and step whose text it has; null: that of the template. The date is that of the step, or the day after a promise; null
     * where it counts as none, as for Send Now.
     */
    sequenceId: uuid(),
    stepOffset: integer(),
    stepDate: date({ mode: 'string' }),
    /** The date at a client in another time zone when it leaves, by which its step was chosen; null: the date of its run. */
    clientDate: date({ mode: 'string' }),
    /** How often a mail server was asked. */
    attempt: integer().notNull().default(0),

    /**
     * The process that has it in hand, and the ticket of this one try: a write with an older ticket changes nothing. Without a ticket it is
     * only being composed.
     */
    claimedBy: uuid(),
    claim: uuid(),
    /** How often a process died with this email in hand. */
    deaths: integer().notNull().default(0),

    /**
     * The email as rendered at the first claim, byte for byte, and its Message-ID. `renderedFrom` names the mailbox, the versions of the
     * invoices and what else it was rendered from (`sourceOf`): when these have changed, it is rendered again under a new Message-ID.
     */
    raw: bytes(),
    /** When the stored bytes of a finished email may be dropped, or are looked at again; null: some time after it was made. */
    bytesDueAt: instant(),
    subject: text(),
    messageId: text(),
    renderedFrom: text(),

    sentAt: instant(),
    /** When its owner, or a program, reported that it came back. */
    bouncedAt: instant(),
    /** Further recipients that the mail server accepted, and what it replied to those that it refused. */
    copies: integer().notNull().default(0),
    copiesRefused: text(),
    /** The mail server's reply to the last try. */
    serverReply: text(),
    /** When the last try ended, and how many milliseconds it kept a connection. */
    triedAt: instant(),
    tookMs: integer(),
  },
  (t) => [
    foreignKey({ columns: [t.ownerId], foreignColumns: [accounts.id] }).onDelete('cascade'),
    foreignKey({ columns: [t.ownerId, t.runId], foreignColumns: [runs.ownerId, runs.id] }).onDelete('cascade'),
    foreignKey({ columns: [t.ownerId, t.pulledByRunId], foreignColumns: [runs.ownerId, runs.id] }),
    unique('deliveries_owner_id').on(t.ownerId, t.id),
    index('deliveries_run').on(t.runId),
    index('deliveries_pulled').on(t.pulledByRunId).where(sql`${t.pulledByRunId} IS NOT NULL`),
    index('deliveries_waiting').on(t.ownerId, t.nextTryAt, t.id).where(sql`${t.state} IN ('queued', 'retrying')`),
    // `attempt >= 0` is always true: only statements that repeat it (`ofAll`) can use this index, so those about one account never do.
    index('deliveries_due').on(t.nextTryAt).where(sql`${t.state} IN ('queued', 'retrying') AND ${t.attempt} >= 0`),
    index('deliveries_held').on(t.ownerId).where(sql`${t.state} = 'held'`),
    index('deliveries_paying').on(t.ownerId).where(sql`${t.state} = 'held' AND ${t.reason} = 'paying'`),
    index('deliveries_deadline').on(t.deadlineAt).where(sql`${t.state} IN ('queued', 'retrying', 'held') AND ${t.attempt} >= 0`),
    index('deliveries_in_hand').on(t.claimedBy).where(sql`${t.claimedBy} IS NOT NULL`),
    index('deliveries_bytes')
      .on(t.bytesDueAt, t.createdAt)
      .where(sql`${t.raw} IS NOT NULL AND ${t.state} IN ('sent', 'failed', 'cancelled', 'superseded')`),
    index('deliveries_oldest').using('brin', t.createdAt),
    index('deliveries_sent').on(t.ownerId, t.sentAt.desc()).where(sql`${t.state} = 'sent'`),
    // Below 0 it would be in no index of what waits.
    check('deliveries_attempt', sql`${t.attempt} >= 0`),
  ],
)

/** The invoices of an email. `open` until the email is finished: an invoice has at most one open email. */
export const deliveryInvoices = pgTable(
  'delivery_invoices',
  {
    ownerId: uuid().notNull(),
    deliveryId: uuid().notNull(),
    invoiceId: uuid().notNull(),
    open: boolean().notNull(),
    /** What was left to pay of the invoice when the email was planned; null in rows from before this column. */
    amountMinor: bigint({ mode: 'number' }),
    /** The date of the step that it is about this invoice: that of the email may be another one's. */
    stepDate: date({ mode: 'string' }),
  },
  (t) => [
    primaryKey({ columns: [t.deliveryId, t.invoiceId] }),
    foreignKey({ columns: [t.ownerId, t.deliveryId], foreignColumns: [deliveries.ownerId, deliveries.id] }).onDelete('cascade'),
    foreignKey({ columns: [t.ownerId, t.invoiceId], foreignColumns: [invoices.ownerId, invoices.id] }).onDelete('cascade'),
    index('delivery_invoices_invoice').on(t.invoiceId),
    uniqueIndex('delivery_invoices_one_open').on(t.invoiceId).where(sql`${t.open}`),
  ],
)

/**
 * The decision about an invoice on one local date of an active schedule: exactly one row for every invoice past due. Where an email was
 * made, its own row has the outcome.
 */
export const decisions = pgTable(
  'decisions',
  {
    ownerId: uuid().notNull(),
    invoiceId: uuid().notNull(),
    localDate: date({ mode: 'string' }).notNull(),
    rule: text({
      enum: [
        'mail',
        'already_reminded',
        'paused',
        'address_held',
        'left_out',
        'not_running',
        'added_later',
        'cancelled',
        'not_owed',
        'no_step',
        'gap',
        'quiet',
        'ended',
        'refused',
        'never',
      ],
    }).notNull(),
    deliveryId: uuid(),
    note: text(),
    decidedAt: instant().notNull(),
  },
  (t) => [
    primaryKey({ columns: [t.invoiceId, t.localDate] }),
    foreignKey({ columns: [t.ownerId, t.invoiceId], foreignColumns: [invoices.ownerId, invoices.id] }).onDelete('cascade'),
    foreignKey({ columns: [t.ownerId, t.deliveryId], foreignColumns: [deliveries.ownerId, deliveries.id] }),
    // Deleting an account looks up the decisions of each of its emails.
    index('decisions_delivery').on(t.ownerId, t.deliveryId).where(sql`${t.deliveryId} IS NOT NULL`),
    index('decisions_oldest').using('brin', t.decidedAt),
  ],
)

/** One email of a sequence. */
export const sequenceSteps = pgTable(
  'sequence_steps',
  {
    ownerId: uuid().notNull(),
    sequenceId: uuid().notNull(),
    /** In days from the due date. */
    offset: integer().notNull(),
    tone: text({ enum: ['friendly', 'firm', 'final'] }).notNull(),
    copyToMe: boolean().notNull(),
    copyToSecondContact: boolean().notNull(),
  },
  (t) => [
    primaryKey({ columns: [t.sequenceId, t.offset] }),
    foreignKey({ columns: [t.ownerId, t.sequenceId], foreignColumns: [sequences.ownerId, sequences.id] }).onDelete('cascade'),
    unique('sequence_steps_owner').on(t.ownerId, t.sequenceId, t.offset),
  ],
)

/** The texts of a step in one language. */
export const stepTexts = pgTable(
  'step_texts',
  {
    ownerId: uuid().notNull(),
    sequenceId: uuid().notNull(),
    offset: integer().notNull(),
    language: text().notNull(),
    subject: text().notNull(),
    content: text().notNull(),
    groupSubject: text().notNull(),
    groupContent: text().notNull(),
  },
  (t) => [
    primaryKey({ columns: [t.sequenceId, t.offset, t.language] }),
    foreignKey({
      columns: [t.ownerId, t.sequenceId, t.offset],
      foreignColumns: [sequenceSteps.ownerId, sequenceSteps.sequenceId, sequenceSteps.offset],
    }).onDelete('cascade'),
  ],
)

/** The day that smart reminders chose for a step when its window opened: it is kept. */
export const smartChoices = pgTable(
  'smart_choices',
  {
    ownerId: uuid().notNull(),
    invoiceId: uuid().notNull(),
    stepDate: date({ mode: 'string' }).notNull(),
    day: date({ mode: 'string' }).notNull(),
    /** The chance that the invoice is paid inside the window without an email. */
    p: doublePrecision().notNull(),
    reason: jsonb().$type<Reason>().notNull(),
  },
  (t) => [
    primaryKey({ columns: [t.invoiceId, t.stepDate] }),
    foreignKey({ columns: [t.ownerId, t.invoiceId], foreignColumns: [invoices.ownerId, invoices.id] }).onDelete('cascade'),
    index('smart_choices_owner').on(t.ownerId),
  ],
)

/** A day on which no reminder leaves, or on which reminders leave in spite of a weekend or public holiday. */
export const ownDays = pgTable(
  'own_days',
  {
    ownerId: uuid()
      .notNull()
      .references(() => accounts.id, { onDelete: 'cascade' }),
    date: date({ mode: 'string' }).notNull(),
    name: text().notNull(),
    open: boolean().notNull(),
  },
  (t) => [primaryKey({ columns: [t.ownerId, t.date] })],
)

/** A client whose reminders do not leave on one local date, by its address in lower case. */
export const leftOut = pgTable(
  'left_out',
  {
    ownerId: uuid()
      .notNull()
      .references(() => accounts.id, { onDelete: 'cascade' }),
    localDate: date({ mode: 'string' }).notNull(),
    clientKey: text().notNull(),
  },
  (t) => [primaryKey({ columns: [t.ownerId, t.localDate, t.clientKey] }), index('left_out_date').on(t.localDate)],
)

/** A link by which an owner does one thing without a session; only its hash is stored. */
export const ownerLinks = pgTable(
  'owner_links',
  {
    ownerId: uuid()
      .notNull()
      .references(() => accounts.id, { onDelete: 'cascade' }),
    id: uuid().notNull().$defaultFn(newId),
    tokenHash: text().notNull(),
    purpose: text({ enum: ['end_summaries', 'evening'] }).notNull(),
    /** The only date that the link of an evening list is about. */
    localDate: date({ mode: 'string' }),
    expiresAt: instant().notNull(),
  },
  (t) => [
    primaryKey({ columns: [t.ownerId, t.id] }),
    uniqueIndex('owner_links_token').on(t.tokenHash),
    index('owner_links_expires').on(t.expiresAt),
  ],
)

/** One running process that sends email. Dead once its heartbeat is 20 s old by the database's clock; its claims can be taken over then. */
export const processes = pgTable('processes', {
  id: uuid().primaryKey(),
  startedAt: instant().notNull().default(sql`now()`),
  heartbeatAt: instant().notNull().default(sql`now()`),
  /**
   * Since when its heartbeat has had no gap. Only a steady process may declare another one dead: after an outage of the database or a
   * sleep of the machine all look dead.
   */
  steadySince: instant().notNull().default(sql`now()`),
  /** When it last checked which accounts are due, by the database's clock. */
  tickedAt: instant(),
})

/** Must be part of a statement about the emails of all accounts, so that it can use their index; must not be part of one about a single account. */
export const ofAll = sql`attempt >= 0`
