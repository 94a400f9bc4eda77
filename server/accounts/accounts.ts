import { type InferSelectModel, sql } from 'drizzle-orm'
import type { Profile } from '#contract/accounts.ts'
import type { Instant } from '#server/platform/clock.ts'
import type { Database } from '#server/platform/database.ts'
import { accounts } from './tables.ts'

export type AccountRow = InferSelectModel<typeof accounts>

declare module '#server/platform/answer.ts' {
  interface Account extends AccountRow {}
}

interface NewAccount {
  displayName: string
  email: string
  passwordHash: string | null
  timezone: string
}

/** Writes down an account; its first midnight job is the next one in its own zone. */
export async function createAccount(db: Database, draft: NewAccount, now: Instant): Promise<AccountRow> {
  const here = now.toZonedDateTimeISO(draft.timezone)
  const [row] = await db
    .insert(accounts)
    .values({
      ...draft,
      createdAt: now,
      updatedAt: now,
      overdueThrough: here.toPlainDate().toString(),
      nextMidnightAt: here.toPlainDate().add({ days: 1 }).toZonedDateTime(draft.timezone).toInstant(),
    })
    .returning()
  return row as AccountRow
}

/** Holds the account's row until the transaction ends: whoever makes runs or numbers takes turns here. */
export async function lockAccount(tx: Database, id: string): Promise<AccountRow | null> {
  const [row] = await tx.select().from(accounts).where(sql`${accounts.id} = ${id}`).for('update')
  return row ?? null
}

export function toProfile(row: AccountRow): Profile {
  return {
    _id: row.id,
    displayName: row.displayName,
    email: row.email,
    ...(row.googleSub ? { googleId: row.googleSub } : {}),
    createdAt: row.createdAt.toString(),
    timezone: row.timezone,
    reminderHour: row.reminderHour,
  }
}
