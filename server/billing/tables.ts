import { sql } from 'drizzle-orm'
import { boolean, foreignKey, index, integer, pgTable, primaryKey, text, unique, uniqueIndex, uuid } from 'drizzle-orm/pg-core'
import { accounts } from '#server/accounts/tables.ts'
import { id, instant } from '#server/platform/columns.ts'

/**
 * One thing that was bought or is being bought: an order that is paid once, or a subscription. Only facts are stored here, most of them the
 * provider's; which plan runs is computed from them (`entitlements.ts`), so that it cannot depend on the order in which they became known.
 * A purchase outlives its account, without saying whose it was: a payment that still comes in must find what it is for.
 */
export const purchases = pgTable(
  'purchases',
  {
    /** Also the provider's `receipt`: after a timeout an order is found again by it. */
    id: id(),
    ownerId: uuid().references(() => accounts.id, { onDelete: 'set null' }),
    paymentType: text({ enum: ['onetime', 'subscription'] }).notNull(),
    plan: text({ enum: ['pro', 'enterprise'] }).notNull(),
    billingPeriod: text({ enum: ['monthly', 'yearly'] }).notNull(),
    /** Paise of one whole period, of what is asked for now, and of what was left of the plan that this one replaces. */
    priceMinor: integer().notNull(),
    amountMinor: integer().notNull(),
    creditMinor: integer().notNull().default(0),
    /** A subscription's first charge is put off until then by the credit. */
    creditUntil: instant(),
    createdAt: instant().notNull(),
    /** order_… or sub_…; null until the provider has answered. */
    providerId: text(),
    /** A browser came back from the checkout with a good signature. */
    claimedAt: instant(),

    /** An order: when the provider says that it was paid in full, and how much. */
    paidAt: instant(),
    paidMinor: integer(),
    /** Refunded paise of the last payment; they give no credit. */
    refundedMinor: integer().notNull().default(0),

    /** A subscription, as the provider said last. */
    providerStatus: text({
      enum: ['created', 'authenticated', 'active', 'pending', 'halted', 'paused', 'cancelled', 'completed', 'expired'],
    }),
    /** The customer has agreed to be charged. */
    authorised: boolean().notNull().default(false),
    startAt: instant(),
    currentEnd: instant(),
    /** The last period that is paid for. */
    paidFrom: instant(),
    paidThrough: instant(),
    /** It was cancelled: nothing is charged after what is paid for. */
    cancelAtPeriodEnd: boolean().notNull().default(false),

    /** The person ended it there and then. */
    endedAt: instant(),
    /** It must be cancelled at the provider immediately. */
    cancelWanted: boolean().notNull().default(false),

    /** The next provider check; null when the state is final. */
    nextCheckAt: instant(),
    /** How often something happened that is a reason to ask; failures in a row. */
    wakes: integer().notNull().default(0),
    failures: integer().notNull().default(0),
    /** Numbers of the last question and of the last one whose answer was taken: an answer to an earlier question is older. */
    asked: integer().notNull().default(0),
    heard: integer().notNull().default(0),
  },
  (t) => [
    index('purchases_owner').on(t.ownerId, t.createdAt),
    unique('purchases_owner_id').on(t.ownerId, t.id),
    uniqueIndex('purchases_provider').on(t.providerId),
    index('purchases_next_check').on(t.nextCheckAt).where(sql`${t.nextCheckAt} IS NOT NULL`),
  ],
)

/** The ledger: every payment that was ever tried, by the provider's id, once. Kept when an account goes, without saying whose it was. */
export const payments = pgTable(
  'payments',
  {
    id: id(),
    paymentId: text().notNull(),
    purchaseId: uuid()
      .notNull()
      .references(() => purchases.id),
    ownerId: uuid().references(() => accounts.id, { onDelete: 'set null' }),
    /** Paise. */
    amountMinor: integer().notNull(),
    refundedMinor: integer().notNull().default(0),
    currency: text().notNull(),
    status: text({ enum: ['captured', 'authorized', 'failed', 'refunded'] }).notNull(),
    method: text(),
    reason: text(),
    paidAt: instant().notNull(),
    recordedAt: instant().notNull(),
  },
  (t) => [
    /** The purchase is the same account's; when that goes, both forget whose they were. */
    foreignKey({ columns: [t.ownerId, t.purchaseId], foreignColumns: [purchases.ownerId, purchases.id] }).onUpdate('cascade'),
    uniqueIndex('payments_payment').on(t.paymentId),
    index('payments_owner').on(t.ownerId, t.paidAt.desc()),
    index('payments_purchase').on(t.purchaseId),
  ],
)

/** The inbox of webhooks, one row an event: what it is about, not its content, because that is read from the provider. */
export const paymentEvents = pgTable(
  'payment_events',
  {
    eventId: text().primaryKey(),
    name: text().notNull(),
    orderId: text(),
    subscriptionId: text(),
    paymentId: text(),
    receivedAt: instant().notNull(),
    handledAt: instant(),
  },
  (t) => [
    index('payment_events_waiting').on(t.receivedAt).where(sql`${t.handledAt} IS NULL`),
    index('payment_events_old').on(t.receivedAt),
  ],
)

/** The provider's plans are made once for each price and can never be changed. */
export const providerPlans = pgTable(
  'provider_plans',
  {
    /** Test and live keys know different plans. */
    keyId: text().notNull(),
    plan: text({ enum: ['pro', 'enterprise'] }).notNull(),
    billingPeriod: text({ enum: ['monthly', 'yearly'] }).notNull(),
    priceMinor: integer().notNull(),
    planId: text().notNull(),
  },
  (t) => [primaryKey({ columns: [t.keyId, t.plan, t.billingPeriod, t.priceMinor] })],
)

/** How many invoices an account has created in a calendar month of its own zone. Deleting gives nothing back. */
export const invoiceCounts = pgTable(
  'invoice_counts',
  {
    ownerId: uuid()
      .notNull()
      .references(() => accounts.id, { onDelete: 'cascade' }),
    /** YYYY-MM. */
    month: text().notNull(),
    created: integer().notNull(),
  },
  (t) => [primaryKey({ columns: [t.ownerId, t.month] })],
)

/** Emails about the end of a plan, each sent once. */
export const planNotifications = pgTable(
  'plan_tellings',
  {
    ownerId: uuid()
      .notNull()
      .references(() => accounts.id, { onDelete: 'cascade' }),
    /** Which end, and how long before: `trial:…:3`, `period:…:7`. */
    what: text().notNull(),
    toldAt: instant().notNull(),
  },
  (t) => [primaryKey({ columns: [t.ownerId, t.what] })],
)

/** What an email used up before its account was deleted or got another email, for a year: so that neither begins again with a new account. */
export const formerAccounts = pgTable(
  'former_accounts',
  {
    /** Keyed hash: an address cannot be guessed from a copy of the database. */
    addressHash: text().primaryKey(),
    trialStartedAt: instant().notNull(),
    /** YYYY-MM in the account's calendar, and the invoices created in it. */
    month: text().notNull(),
    created: integer().notNull(),
    leftAt: instant().notNull(),
  },
  (t) => [index('former_accounts_left').on(t.leftAt)],
)
