import { pgTable, text } from 'drizzle-orm/pg-core'

/** What every process on this database must agree on, one row a subject. */
export const serverChecks = pgTable('server_checks', {
  subject: text().primaryKey(),
  value: text().notNull(),
})
