import { sql } from 'drizzle-orm'
import {
  bigint,
  boolean,
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
import type { BankSettings, OwnLink, UpiSettings } from '#contract/payment-settings.ts'
import { accounts, makerColumns } from '#server/accounts/tables.ts'
import { invoices } from '#server/invoices/tables.ts'
import { bytes, id, instant } from '#server/platform/columns.ts'

/** How the clients of an account pay. Without a row no way is set, and emails are as if there were none. */
export const paymentSettings = pgTable('payment_settings', {
  ownerId: uuid()
    .primaryKey()
    .references(() => accounts.id, { onDelete: 'cascade' }),
  /** Counts the changes: an email that was rendered from an older version is rendered again. */
  version: integer().notNull(),
  upi: jsonb().$type<UpiSettings>(),
  bank: jsonb().$type<BankSettings>(),
  ownLink: jsonb().$type<OwnLink>(),
  inEmails: boolean().notNull(),
  pdf: text({ enum: ['link', 'attach'] }).notNull(),
  businessName: text().notNull(),
  details: text().notNull(),
  updatedAt: instant().notNull(),
})

/** The logo of an account. Apart from the settings, which are read for every email. */
export const paymentLogos = pgTable('payment_logos', {
  id: id(),
  ownerId: uuid()
    .notNull()
    .unique('payment_logos_owner')
    .references(() => accounts.id, { onDelete: 'cascade' }),
  type: text({ enum: ['image/png', 'image/jpeg'] }).notNull(),
  image: bytes().notNull(),
  /** Chosen as the logo of the brand; one of before was chosen for pages only. */
  inEmails: boolean().notNull().default(false),
})

/**
 * The link of an invoice, or of all invoices of one client (no invoice). It belongs to one address of a client: with another one it is dead.
 * The row is there from the first link or answer on, and stays when the link is replaced; `revision` counts that.
 */
export const payLinks = pgTable(
  'pay_links',
  {
    id: id(),
    ownerId: uuid().notNull(),
    invoiceId: uuid(),
    /** The client's address in lower case. */
    clientKey: text().notNull(),
    /** null once it is revoked. */
    tokenHash: text(),
    sealedToken: text(),
    revision: integer().notNull().default(0),
    /** Since when it is of this address: the page repeats no answer that was given before. */
    createdAt: instant().notNull(),
  },
  (t) => [
    foreignKey({ columns: [t.ownerId], foreignColumns: [accounts.id] }).onDelete('cascade'),
    foreignKey({ columns: [t.ownerId, t.invoiceId], foreignColumns: [invoices.ownerId, invoices.id] }).onDelete('cascade'),
    unique('pay_links_token').on(t.tokenHash),
    unique('pay_links_owner_id').on(t.ownerId, t.id),
    uniqueIndex('pay_links_invoice').on(t.invoiceId).where(sql`${t.invoiceId} IS NOT NULL`),
    uniqueIndex('pay_links_client').on(t.ownerId, t.clientKey).where(sql`${t.invoiceId} IS NULL`),
  ],
)

/** What a client said about an invoice on its pay page. At most one is open: a newer one replaces it. */
export const payAnswers = pgTable(
  'pay_answers',
  {
    id: id(),
    ownerId: uuid().notNull(),
    invoiceId: uuid().notNull(),
    kind: text({ enum: ['paid', 'promise', 'question', 'wrong_person'] }).notNull(),
    at: instant().notNull(),
    /** When it was paid, or by when it will be. */
    date: date({ mode: 'string' }),
    amountMinor: bigint({ mode: 'number' }),
    reference: text().notNull().default(''),
    message: text().notNull().default(''),
    name: text().notNull().default(''),
    email: text().notNull().default(''),
    state: text({ enum: ['open', 'accepted', 'declined', 'replaced', 'ended'] }).notNull(),
    /** The local dates of the pause that it began; null where it paused nothing. */
    pausedFrom: date({ mode: 'string' }),
    pausedUntil: date({ mode: 'string' }),
    closedAt: instant(),
  },
  (t) => [
    foreignKey({ columns: [t.ownerId, t.invoiceId], foreignColumns: [invoices.ownerId, invoices.id] }).onDelete('cascade'),
    index('pay_answers_newest').on(t.ownerId, t.at.desc()),
    index('pay_answers_invoice').on(t.ownerId, t.invoiceId, t.at.desc()),
    uniqueIndex('pay_answers_one_open').on(t.invoiceId).where(sql`${t.state} = 'open'`),
  ],
)

/** The PDF of an invoice. Never changed: a new one is a new row, and `fileId` of the invoice names the current one. */
export const invoiceFiles = pgTable(
  'invoice_files',
  {
    id: id(),
    ownerId: uuid().notNull(),
    invoiceId: uuid().notNull(),
    name: text().notNull(),
    size: integer().notNull(),
    createdAt: instant().notNull(),
    file: bytes().notNull(),
  },
  (t) => [
    foreignKey({ columns: [t.ownerId, t.invoiceId], foreignColumns: [invoices.ownerId, invoices.id] }).onDelete('cascade'),
    index('invoice_files_invoice').on(t.ownerId, t.invoiceId),
    index('invoice_files_created').on(t.createdAt),
  ],
)

/** The keys of an account at Razorpay, and the secrets of its webhook. */
export const payKeys = pgTable('pay_keys', {
  ownerId: uuid()
    .primaryKey()
    .references(() => accounts.id, { onDelete: 'cascade' }),
  keyId: text().notNull(),
  sealedSecret: text().notNull(),
  /** The last part of the webhook's address: the same as long as keys are connected. */
  hookId: uuid().notNull().unique('pay_keys_hook'),
  sealedHookSecret: text().notNull(),
  /** The secret before it: the provider repeats older events under the one of their time. */
  sealedHookSecretBefore: text(),
  since: instant().notNull(),
  ...makerColumns(),
})

/**
 * A client's try to pay online: stored before the provider is asked for a payment link, whose `reference_id` is its id. Over no invoice: the owner
 * tries the keys.
 */
export const payAttempts = pgTable(
  'pay_attempts',
  {
    id: id(),
    ownerId: uuid()
      .notNull()
      .references(() => accounts.id, { onDelete: 'cascade' }),
    /** The pay link that it was started from. */
    linkId: uuid(),
    amountMinor: bigint({ mode: 'number' }).notNull(),
    /** `starting`: the provider has not answered yet. `open`: the client may be paying. The others are final. */
    state: text({ enum: ['starting', 'open', 'paid', 'cancelled', 'expired', 'failed'] }).notNull(),
    /** The link at the provider, and where it leads; null until the provider has answered. */
    providerId: text(),
    url: text(),
    /** The keys that it was made with: it is asked about and cancelled with them after the account has others. Dropped with `nextAskAt`. */
    keyId: text().notNull(),
    sealedSecret: text(),
    startedAt: instant().notNull(),
    expiresAt: instant().notNull(),
    /** Emails about its invoices wait until then, or until it is final. */
    holdUntil: instant().notNull(),
    /** It must be cancelled at the provider. */
    cancelWanted: boolean().notNull().default(false),
    /** When the provider is asked next; null where nothing can change any more. */
    nextAskAt: instant(),
    /** How often something happened that is a reason to ask; failures in a row. */
    wakes: integer().notNull().default(0),
    failures: integer().notNull().default(0),
    /** When its first payment became known, and the provider's ids of all of them and of their refunds. */
    paidAt: instant(),
    paymentIds: text().array().notNull().default(sql`'{}'::text[]`),
  },
  (t) => [
    // Its migration adds that only the link is set to null.
    foreignKey({ columns: [t.ownerId, t.linkId], foreignColumns: [payLinks.ownerId, payLinks.id] }).onDelete('set null'),
    unique('pay_attempts_owner_id').on(t.ownerId, t.id),
    uniqueIndex('pay_attempts_provider').on(t.ownerId, t.providerId).where(sql`${t.providerId} IS NOT NULL`),
    index('pay_attempts_open').on(t.ownerId).where(sql`${t.state} IN ('starting', 'open')`),
    index('pay_attempts_next').on(t.nextAskAt).where(sql`${t.nextAskAt} IS NOT NULL`),
    index('pay_attempts_started').on(t.startedAt),
    index('pay_attempts_link').on(t.linkId),
  ],
)

/** How a payment is divided between invoices, oldest first. */
export const payAttemptInvoices = pgTable(
  'pay_attempt_invoices',
  {
    ownerId: uuid().notNull(),
    attemptId: uuid().notNull(),
    invoiceId: uuid().notNull(),
    /** 0 for the first one to be paid. */
    place: integer().notNull(),
    amountMinor: bigint({ mode: 'number' }).notNull(),
    /** What was left to pay when it began: once something else is, it is cancelled. */
    balanceMinor: bigint({ mode: 'number' }).notNull(),
  },
  (t) => [
    primaryKey({ columns: [t.attemptId, t.invoiceId] }),
    foreignKey({ columns: [t.ownerId, t.attemptId], foreignColumns: [payAttempts.ownerId, payAttempts.id] }).onDelete('cascade'),
    foreignKey({ columns: [t.ownerId, t.invoiceId], foreignColumns: [invoices.ownerId, invoices.id] }).onDelete('cascade'),
    index('pay_attempt_invoices_invoice').on(t.invoiceId),
  ],
)

/** The webhooks about attempts, one row an event: what it says is asked of the provider. */
export const payEvents = pgTable(
  'pay_events',
  {
    ownerId: uuid().notNull(),
    eventId: text().notNull(),
    attemptId: uuid().notNull(),
    name: text().notNull(),
    receivedAt: instant().notNull(),
  },
  (t) => [
    primaryKey({ columns: [t.ownerId, t.eventId] }),
    foreignKey({ columns: [t.ownerId, t.attemptId], foreignColumns: [payAttempts.ownerId, payAttempts.id] }).onDelete('cascade'),
    index('pay_events_attempt').on(t.ownerId, t.attemptId),
    index('pay_events_received').on(t.receivedAt),
  ],
)
