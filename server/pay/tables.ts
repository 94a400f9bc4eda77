import { sql } from 'drizzle-orm'
import { bigint, boolean, date, foreignKey, index, integer, jsonb, pgTable, text, unique, uniqueIndex, uuid } from 'drizzle-orm/pg-core'
import type { BankSettings, OwnLink, UpiSettings } from '#contract/payment-settings.ts'
import { accounts } from '#server/accounts/tables.ts'
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

/** The logo of an account's pay page. Apart from the settings, which are read for every email. */
export const paymentLogos = pgTable('payment_logos', {
  id: id(),
  ownerId: uuid()
    .notNull()
    .unique('payment_logos_owner')
    .references(() => accounts.id, { onDelete: 'cascade' }),
  type: text({ enum: ['image/png', 'image/jpeg'] }).notNull(),
  image: bytes().notNull(),
})

/**
 * The link of an invoice, or of all invoices of one client (no invoice). It belongs to one address of a client: with another one it is dead.
 * The row stays when the link is replaced; `revision` counts that.
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
    createdAt: instant().notNull(),
  },
  (t) => [
    foreignKey({ columns: [t.ownerId], foreignColumns: [accounts.id] }).onDelete('cascade'),
    foreignKey({ columns: [t.ownerId, t.invoiceId], foreignColumns: [invoices.ownerId, invoices.id] }).onDelete('cascade'),
    unique('pay_links_token').on(t.tokenHash),
    index('pay_links_owner').on(t.ownerId, t.invoiceId),
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
