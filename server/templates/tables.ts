import { boolean, pgTable, primaryKey, text, uuid } from 'drizzle-orm/pg-core'
import { accounts } from '#server/accounts/tables.ts'
import { instant } from '#server/platform/columns.ts'

/** An account's own wording of the email about one invoice, and of the one that lists several; without a row the default applies. */
export const templates = pgTable(
  'templates',
  {
    ownerId: uuid()
      .notNull()
      .references(() => accounts.id, { onDelete: 'cascade' }),
    kind: text({ enum: ['one', 'group'] }).notNull(),
    /** A BCP 47 tag. */
    language: text().notNull().default('en'),
    useCustom: boolean().notNull(),
    customSubject: text().notNull(),
    customContent: text().notNull(),
    updatedAt: instant().notNull(),
  },
  (t) => [primaryKey({ columns: [t.ownerId, t.kind, t.language] })],
)
