import { sql } from 'drizzle-orm'
import { boolean, integer, pgTable, text, unique, uniqueIndex, uuid } from 'drizzle-orm/pg-core'
import { accounts, makerColumns } from '#server/accounts/tables.ts'
import { instant } from '#server/platform/columns.ts'

/** A mailbox of an account. Saving it again gives it a new senderId, so that a delivery notices a change of sender. */
export const mailConfigs = pgTable(
  'mail_configs',
  {
    ownerId: uuid()
      .notNull()
      .references(() => accounts.id, { onDelete: 'cascade' }),
    senderId: uuid().primaryKey(),
    /** What secrets are sealed to, and clients refer to: it stays when the mailbox is saved again. The first one of an account has the account's id. */
    place: uuid().notNull(),
    /** Sends to every client without a mailbox of its own. */
    isDefault: boolean().notNull().default(true),
    provider: text({ enum: ['smtp', 'gmail', 'microsoft'] }).notNull(),
    /** The mailbox: what From says. */
    address: text().notNull(),
    /** The login at the mail server, where it is not the address. */
    username: text(),
    host: text(),
    port: integer(),
    secure: boolean(),
    /** Sealed, bound to this row; never goes out again. */
    sealedPassword: text(),
    /** The lasting permission of Gmail or Microsoft, sealed likewise. */
    sealedRefreshToken: text(),
    /** A process renews the permission until then, by the database's clock: the provider may end the old one with it. */
    renewingUntil: instant(),
    createdAt: instant().notNull(),
    /** Sending is paused until the person has done something about it. */
    pauseReason: text({ enum: ['login_refused', 'sender_refused', 'quota'] }),
    pauseMessage: text(),
    pausedAt: instant(),
    /** For a quota pause: when sending resumes automatically. For a refused sender: when Duely tries again. */
    pausedUntil: instant(),
    /** Emails a day that this mailbox turned out to allow, where that is less than its provider says, and when: others may have used it that day. */
    learnedPerDay: integer(),
    learnedPerDayAt: instant(),
    /** Emails a minute that it turned out to allow, and when: a server that was only busy is asked for more again after a while. */
    learnedPerMinute: integer(),
    learnedPerMinuteAt: instant(),
    /** What its owner allows it to send in any hour, and in any 24 hours instead of what its provider publishes; null: no such limit. */
    perHour: integer(),
    perDay: integer(),
    ...makerColumns(),
  },
  (t) => [
    unique('mail_configs_place').on(t.ownerId, t.place),
    uniqueIndex('mail_configs_default').on(t.ownerId).where(sql`${t.isDefault}`),
  ],
)
