import { sql } from 'drizzle-orm'
import { index, integer, jsonb, pgTable, primaryKey, text, uuid } from 'drizzle-orm/pg-core'
import { id, instant } from './columns.ts'

/** What every process on this database must agree on, one row a subject. */
export const serverChecks = pgTable('server_checks', {
  subject: text().primaryKey(),
  value: text().notNull(),
})

/** A queued system email; its row is deleted once it was sent, permanently refused, or has expired. */
export const systemMails = pgTable(
  'system_mails',
  {
    id: id(),
    /** Recipient, subject and text as JSON, sealed for this row: a text may carry a link that opens an account. */
    sealedMail: text().notNull(),
    attempt: integer().notNull().default(0),
    nextTryAt: instant().notNull(),
    expiresAt: instant().notNull(),
  },
  (t) => [index('system_mails_next_try').on(t.nextTryAt)],
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
    notBefore: instant().notNull().default(sql`now()`),
    /** Failures in a row. */
    tries: integer().notNull().default(0),
    /** This one go at it, and until when it is left alone. By the database's clock. */
    ticket: uuid(),
    leaseUntil: instant(),
  },
  (t) => [
    primaryKey({ columns: [t.name, t.key] }),
    index('jobs_wanted').on(t.name, t.notBefore).where(sql`${t.turn} > 0`),
    index('jobs_ticket').on(t.ticket),
  ],
)
