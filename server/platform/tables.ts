import { index, integer, pgTable, text } from 'drizzle-orm/pg-core'
import { id, instant } from './columns.ts'

/** What every process on this database must agree on, one row a subject. */
export const serverChecks = pgTable('server_checks', {
  subject: text().primaryKey(),
  value: text().notNull(),
})

/** A mail of the product itself that is on its way; its row goes once it was sent, refused for good, or has outlived its use. */
export const systemMails = pgTable(
  'system_mails',
  {
    id: id(),
    /** Recipient, subject and text as JSON, sealed for this row: a text may carry a link that opens an account. */
    sealedMail: text().notNull(),
    attempt: integer().notNull().default(0),
    nextTryAt: instant().notNull(),
    /** From then on nobody has any use for it. */
    expiresAt: instant().notNull(),
  },
  (t) => [index('system_mails_next_try').on(t.nextTryAt)],
)
