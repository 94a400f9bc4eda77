import { sql } from 'drizzle-orm'
import { boolean, index, integer, jsonb, pgTable, primaryKey, text, uniqueIndex, uuid } from 'drizzle-orm/pg-core'
import { id, instant } from './columns.ts'

/** What every process on this database must agree on, one row a subject. */
export const serverChecks = pgTable('server_checks', {
  subject: text().primaryKey(),
  value: text().notNull(),
})

/** Which process does the polling that one at a time needs to do, and until when it is left alone, by the database's clock. */
export const leases = pgTable('leases', {
  name: text().primaryKey(),
  processId: uuid().notNull(),
  until: instant().notNull(),
})

/** The steps of background work: when each last succeeded in any process, and when it is late, by the database's clock. */
export const steps = pgTable('steps', {
  name: text().primaryKey(),
  succeededAt: instant().notNull(),
  lateAt: instant().notNull(),
})

/** A queued system email; its row is deleted once it was sent, permanently refused, or has expired. */
export const systemMails = pgTable(
  'system_mails',
  {
    id: id(),
    /** Recipient, subject, text and HTML as JSON, sealed for this row: a text may carry a link that opens an account. */
    sealedMail: text().notNull(),
    attempt: integer().notNull().default(0),
    nextTryAt: instant().notNull(),
    expiresAt: instant().notNull(),
    /** The account that it is about. Not a reference, because an email about a deletion outlives the account. */
    accountId: uuid(),
    /** A confirmation or password link: sent before notices. */
    isLink: boolean().notNull().default(false),
    /** SHA-256 of the link's token. Its validity begins when the mail server accepts the email. */
    linkHash: text(),
    /** How many emails of the same account were waiting before it. */
    place: integer().notNull().default(0),
    /** The hash of an address: a digest of the emails that were not sent there. Composed when it is sent. */
    digestFor: text(),
  },
  (t) => [
    index('system_mails_next_try').on(t.nextTryAt),
    index('system_mails_account').on(t.accountId),
    uniqueIndex('system_mails_digest').on(t.digestFor),
  ],
)

/** The latest system emails of a kind to one address. Without a reference to the account, so that they count beyond its deletion. */
export const systemMailCounts = pgTable(
  'system_mail_counts',
  {
    /** Keyed hash: an address cannot be guessed from a copy of the database. */
    addressHash: text().notNull(),
    kind: text().notNull(),
    /** The subject of the latest one, for the digest. */
    subject: text().notNull(),
    /** In milliseconds, oldest first. */
    sentAt: jsonb().$type<number[]>().notNull(),
    /** Not sent, because there were too many; the next digest lists them. */
    held: integer().notNull().default(0),
    changedAt: instant().notNull(),
  },
  (t) => [primaryKey({ columns: [t.addressHash, t.kind] })],
)

/** Background jobs: one row per key. The data is in other tables; a job only triggers its processing. */
export const jobs = pgTable(
  'jobs',
  {
    name: text().notNull(),
    key: text().notNull(),
    payload: jsonb().notNull(),
    /** How often it is asked for; 0 once that is done. */
    turn: integer().notNull().default(1),
    /** Lower ones of a name are first. */
    place: integer().notNull().default(0),
    notBefore: instant().notNull().default(sql`now()`),
    /** Failures in a row. */
    tries: integer().notNull().default(0),
    /** This one go at it, and until when it is left alone. By the database's clock. */
    ticket: uuid(),
    leaseUntil: instant(),
  },
  (t) => [
    primaryKey({ columns: [t.name, t.key] }),
    index('jobs_wanted').on(t.name, t.place, t.notBefore).where(sql`${t.turn} > 0`),
    index('jobs_ticket').on(t.ticket),
  ],
)
