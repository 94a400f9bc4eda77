import { boolean, pgTable, text, uuid } from 'drizzle-orm/pg-core'
import { accounts } from '#server/accounts/tables.ts'
import { instant } from '#server/platform/columns.ts'

/** An account's own wording; without a row the default speaks. */
export const templates = pgTable('templates', {
  ownerId: uuid()
    .primaryKey()
    .references(() => accounts.id, { onDelete: 'cascade' }),
  useCustom: boolean().notNull(),
  customSubject: text().notNull(),
  customContent: text().notNull(),
  updatedAt: instant().notNull(),
})
