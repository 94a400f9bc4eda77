import { type InferSelectModel, sql } from 'drizzle-orm'
import { boolean, date, doublePrecision, index, integer, jsonb, pgTable, primaryKey, text, uniqueIndex, uuid } from 'drizzle-orm/pg-core'
import type { AuditKind } from '#contract/accounts.ts'
import type { Brand } from '#contract/brand.ts'
import { roles } from '#contract/call.ts'
import { noticeKinds } from '#contract/notices.ts'
import type { HoldMinutes } from '#contract/reminders.ts'
import type { Instant } from '#server/platform/clock.ts'
import { id, instant, newId, type PersonId, personId } from '#server/platform/columns.ts'

const aPerson = () => uuid().$type<PersonId>()

/** Who did something; both null: Duely itself. No foreign keys: such rows outlive people and programs. */
export const actorColumns = {
  personId: aPerson(),
  /** The name of the API key or application that asked in the person's name, as it was then. */
  program: text(),
}

/**
 * Of what works without the person who set it up. No foreign keys: who is gone is no member. Rows of before it was recorded have no maker, and count
 * as the owner's.
 */
export const makerColumns = () => ({
  /** Who set it up last, and so knows its secret. */
  madeBy: aPerson(),
  /** Its maker has left: it does nothing until this person, or the owner, takes it over. */
  offeredTo: aPerson(),
})

/** What the entries of both logs have. */
const entryColumns = {
  at: instant().notNull(),
  kind: text().$type<AuditKind>().notNull(),
  /** Who or what it was about, such as a mailbox; never a secret. */
  about: text(),
  /** Where the request came from; empty for the operator and the program itself. */
  address: text().notNull().default(''),
  userAgent: text().notNull().default(''),
}

/** Someone who signs in. */
export const people = pgTable(
  'people',
  {
    id: aPerson()
      .primaryKey()
      .$defaultFn(() => personId(newId())),
    displayName: text().notNull(),
    email: text().notNull(),
    /** null where the person only ever signs in with Google. */
    passwordHash: text(),
    googleIssuer: text(),
    googleSub: text(),
    /** When the mailbox of `email` was last shown to be this person's. */
    emailVerifiedAt: instant(),
    /** Since when they are to look at what has access, because their password was reset; null: they need not, or have. */
    reviewAccessSince: instant(),
    createdAt: instant().notNull(),
    updatedAt: instant().notNull(),
  },
  (t) => [uniqueIndex('people_email').on(sql`lower(${t.email})`), uniqueIndex('people_google').on(t.googleIssuer, t.googleSub)],
)

export type PersonRow = InferSelectModel<typeof people>

/** A business that invoices: the owner of every other record. Its row is the lock for everything that makes runs. */
export const accounts = pgTable(
  'accounts',
  {
    id: id(),
    /** As clients see it; null: not named yet, so that of its owner. */
    name: text(),
    /** To whom its owner offers it, and until when that may be accepted. No foreign key: who is gone is no member. */
    offeredTo: aPerson(),
    offeredUntil: instant(),
    /** IANA name; every date of this account is a date there. */
    timezone: text().notNull(),
    /** The hour of the daily run, 6 to 17, in `timezone`. */
    reminderHour: integer().notNull().default(9),
    /** ISO 4217: that of an invoice for which none is given. */
    currency: text().notNull().default('INR'),
    /** In which its clients are written to, as a BCP 47 tag, where neither the invoice nor the client has one. */
    language: text().notNull().default('en'),
    createdAt: instant().notNull(),
    updatedAt: instant().notNull(),
    /** When the trial of the plan began; null: with the account. Earlier, where its email had an account before. */
    trialStartedAt: instant(),

    /** Whether daily reminders are switched on. */
    remindersActive: boolean().notNull().default(false),
    /** The next daily run; null while there is none. Finding who is due costs one index range. */
    nextRunAt: instant(),
    /** The first local date without a daily run or a recorded reason; a change of zone or hour does not change it. */
    nextRunFrom: date({ mode: 'string' }),
    /** When the last daily run was made, and when zone or hour were last changed: after a change automatic runs are 12 h apart. */
    lastDailyRunAt: instant(),
    scheduleChangedAt: instant(),
    /** Until then at the latest the daily run waits for its watched addresses to be read; it waits once. */
    readingUntil: instant(),

    /** Since when the operator holds its sending. */
    heldAt: instant(),

    /** One email per client that lists all overdue invoices, instead of one per invoice. */
    groupByClient: boolean().notNull().default(false),
    /** Minutes for which the emails of the daily run wait, so that some can be left out; 0: they leave at once. */
    holdMinutes: integer().$type<HoldMinutes>().notNull().default(0),
    /** The last local date whose daily run was reported as not begun. */
    runMissingOn: date({ mode: 'string' }),
    /** The next weekly summary; null: its owner gets none. */
    nextSummaryAt: instant(),
    /** The next evening list; null: its owner gets none. */
    nextEveningAt: instant(),
    /** The last local date on which some client is left out; a row of `left_out` has each. */
    leftOutUntil: date({ mode: 'string' }),
    /** Which sequence its clients follow: a built-in one, or with `own` that of this id. No foreign key: sequences refer to accounts. */
    follows: text({ enum: ['every_day', 'never', 'own'] })
      .notNull()
      .default('every_day'),
    sequenceId: uuid(),
    /** Some invoice of it may follow another sequence than Every day: then its runs are planned by `plan` and not by the statement for many accounts. */
    plansSteps: boolean().notNull().default(false),
    /** Whether no reminder leaves on weekends, and on public holidays; null: not chosen yet, so none is quiet. */
    quietWeekends: boolean(),
    quietHolidays: boolean(),
    /** The public holidays of its own place are quiet for clients elsewhere too. */
    ownHolidaysToo: boolean().notNull().default(true),
    /** ISO 3166; null: that of the time zone. A region of it as the table of holidays names it. */
    country: text(),
    region: text(),
    /** Smart reminders may move a step by up to so many days; what they saved and did not spend, in emails. */
    smart: boolean().notNull().default(false),
    smartDays: integer().notNull().default(5),
    smartCredit: doublePrecision().notNull().default(0),

    /** Subscribed to Zapier: events are delivered to its webhooks. */
    sendReminders: boolean().notNull().default(false),

    /** The account's next local midnight, when unpaid invoices become overdue. */
    nextMidnightAt: instant().notNull(),
    /** The number in the newest INV-0001. */
    lastReferenceNumber: integer().notNull().default(0),
  },
  (t) => [
    index('accounts_next_run').on(t.nextRunAt, t.id).where(sql`${t.nextRunAt} IS NOT NULL`),
    index('accounts_next_summary').on(t.nextSummaryAt).where(sql`${t.nextSummaryAt} IS NOT NULL`),
    index('accounts_next_evening').on(t.nextEveningAt).where(sql`${t.nextEveningAt} IS NOT NULL`),
    index('accounts_next_midnight').on(t.nextMidnightAt, t.id),
  ],
)

/** What emails and client pages say about a business; its logo is where the other settings of those pages are. */
export const brands = pgTable('brands', {
  ownerId: uuid()
    .primaryKey()
    .references(() => accounts.id, { onDelete: 'cascade' }),
  /** Counts the changes, also those of the logo: an email that was rendered from an older version is rendered again. */
  version: integer().notNull(),
  content: jsonb().$type<Brand>().notNull(),
  /** Where clients answer to; null: to the mailbox. */
  replyTo: text(),
  replyToMadeBy: makerColumns().madeBy,
  replyToOfferedTo: makerColumns().offeredTo,
  /** Where a code was sent, until when it can be entered, and how often a wrong one was. */
  askedReplyTo: text(),
  codeHash: text(),
  codeExpiresAt: instant(),
  codeTries: integer().notNull().default(0),
  updatedAt: instant().notNull(),
})

/** What a person is in a business; each business has one owner. */
export const memberships = pgTable(
  'memberships',
  {
    ownerId: uuid()
      .notNull()
      .references(() => accounts.id, { onDelete: 'cascade' }),
    personId: aPerson()
      .notNull()
      .references(() => people.id, { onDelete: 'cascade' }),
    role: text({ enum: roles }).notNull(),
    /** Whether warnings about the business are emailed to this person. */
    getsMails: boolean().notNull().default(true),
    joinedAt: instant().notNull(),
  },
  (t) => [
    primaryKey({ columns: [t.ownerId, t.personId] }),
    uniqueIndex('memberships_one_owner').on(t.ownerId).where(sql`${t.role} = 'owner'`),
    index('memberships_person').on(t.personId, t.joinedAt),
  ],
)

/** An invitation to a business: for one email, once, for 7 days. Only the hash of its token is stored. */
export const invitations = pgTable(
  'invitations',
  {
    ownerId: uuid()
      .notNull()
      .references(() => accounts.id, { onDelete: 'cascade' }),
    id: uuid()
      .notNull()
      .$defaultFn(() => newId()),
    email: text().notNull(),
    role: text({ enum: ['admin', 'member', 'viewer'] }).notNull(),
    tokenHash: text().notNull().unique(),
    invitedBy: aPerson().references(() => people.id, { onDelete: 'set null' }),
    createdAt: instant().notNull(),
    expiresAt: instant().notNull(),
  },
  (t) => [
    primaryKey({ columns: [t.ownerId, t.id] }),
    uniqueIndex('invitations_email').on(t.ownerId, sql`lower(${t.email})`),
    index('invitations_invited_by').on(t.invitedBy),
  ],
)

/** A business with what its emails and screens say of its owner. */
export interface AccountRow extends InferSelectModel<typeof accounts> {
  /** Of the business. */
  displayName: string
  email: string
  emailVerifiedAt: Instant | null
}

/** One signed-in browser. It ends by being deleted; every call checks that it is there. */
export const sessions = pgTable(
  'sessions',
  {
    id: id(),
    personId: aPerson()
      .notNull()
      .references(() => people.id, { onDelete: 'cascade' }),
    /** SHA-256 of the refresh token that is current, and of the one before it. The token names its session, so an older one ends it. */
    refreshHash: text().notNull(),
    previousHash: text(),
    rotatedAt: instant().notNull(),
    createdAt: instant().notNull(),
    lastSeenAt: instant().notNull(),
    /** When its person last proved who they are; null: when it began. */
    authenticatedAt: instant(),
    userAgent: text().notNull().default(''),
    /** The internet address of the last visit; '' before it was stored. */
    address: text().notNull().default(''),
    /** The business that its last call named; none of a call that names none before. No foreign key: one that is gone is not found. */
    chosenId: uuid(),
  },
  (t) => [index('sessions_person').on(t.personId)],
)

/** The authenticator of a person, active once a code has confirmed it. */
export const secondFactors = pgTable('second_factors', {
  personId: aPerson()
    .primaryKey()
    .references(() => people.id, { onDelete: 'cascade' }),
  /** Sealed, bound to this row. */
  sealedSecret: text().notNull(),
  confirmedAt: instant(),
  /** The step of the last code that was used; it and older steps are invalid. */
  lastStep: integer().notNull().default(0),
})

/** A single-use code for a person without their authenticator; only its hash is stored. */
export const recoveryCodes = pgTable(
  'recovery_codes',
  {
    personId: aPerson()
      .notNull()
      .references(() => people.id, { onDelete: 'cascade' }),
    codeHash: text().notNull(),
  },
  (t) => [primaryKey({ columns: [t.personId, t.codeHash] })],
)

/** A single-use link; only its hash is stored. */
export const accountLinks = pgTable(
  'account_links',
  {
    tokenHash: text().primaryKey(),
    personId: aPerson()
      .notNull()
      .references(() => people.id, { onDelete: 'cascade' }),
    purpose: text({ enum: ['reset_password', 'confirm_email', 'change_email'] }).notNull(),
    /** The mailbox that it was sent to; null where the operator handed it over. */
    email: text(),
    /** Set again when the mail server accepts the email with the link. */
    expiresAt: instant().notNull(),
  },
  (t) => [index('account_links_person').on(t.personId), index('account_links_expires').on(t.expiresAt)],
)

/** A return from Google: single-use, valid for 60 s, only in the browser with the matching cookie. */
export const googleReturns = pgTable(
  'google_returns',
  {
    codeHash: text().primaryKey(),
    browserHash: text().notNull(),
    issuer: text().notNull(),
    sub: text().notNull(),
    email: text().notNull(),
    name: text(),
    /** Whether Google says that the email is theirs; whether Google is the one to say so. */
    emailVerified: boolean().notNull(),
    authoritative: boolean().notNull(),
    /** The person that Google is to be linked to; null at sign-in. */
    personId: aPerson().references(() => people.id, { onDelete: 'cascade' }),
    expiresAt: instant().notNull(),
  },
  (t) => [index('google_returns_expires').on(t.expiresAt), index('google_returns_person').on(t.personId)],
)

/** The audit log of a person: how they sign in. A trigger refuses updates, and deletes before the person's own. */
export const personEntries = pgTable(
  'person_entries',
  {
    id: id(),
    personId: aPerson()
      .notNull()
      .references(() => people.id, { onDelete: 'cascade' }),
    ...entryColumns,
  },
  (t) => [index('person_entries_person').on(t.personId, t.id)],
)

/** The audit log of an account. A trigger refuses updates, and deletes before the account's own. */
export const auditEntries = pgTable(
  'audit_entries',
  {
    id: id(),
    ownerId: uuid()
      .notNull()
      .references(() => accounts.id, { onDelete: 'cascade' }),
    ...entryColumns,
    ...actorColumns,
  },
  (t) => [index('audit_entries_owner').on(t.ownerId, t.id)],
)

/** How often something was tried under a key (an account, an address): counted in the database, so it holds over processes. */
export const throttles = pgTable('throttles', {
  key: text().primaryKey(),
  count: integer().notNull(),
  /** When the count restarts, or the end of the pause. */
  until: instant().notNull(),
})

/** Shown to the owner until dismissed. */
export const notices = pgTable(
  'notices',
  {
    id: id(),
    ownerId: uuid()
      .notNull()
      .references(() => accounts.id, { onDelete: 'cascade' }),
    kind: text({ enum: noticeKinds }).notNull(),
    /** What it is about, within the kind: the same cause again updates this notice. '' where a kind has one cause. */
    cause: text().notNull(),
    summary: text().notNull(),
    title: text().notNull(),
    text: text().notNull(),
    link: text(),
    clients: jsonb().$type<{ clientName: string; invoiceId: string; reference: string }[]>().notNull().default([]),
    createdAt: instant().notNull(),
    updatedAt: instant().notNull(),
  },
  (t) => [index('notices_newest').on(t.ownerId, t.updatedAt.desc()), uniqueIndex('notices_cause').on(t.ownerId, t.kind, t.cause)],
)
