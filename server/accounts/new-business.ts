import { and, asc, eq, inArray, ne } from 'drizzle-orm'
import { trialDays } from '#contract/plans.ts'
import type { Instant } from '#server/platform/clock.ts'
import type { Database } from '#server/platform/database.ts'
import { type AccountRow, accounts, memberships, type PersonRow, people } from './tables.ts'

/** Creates an account that a person owns. `about`: what it does not get by default. */
export async function createBusiness(
  db: Database,
  person: PersonRow,
  about: Pick<typeof accounts.$inferInsert, 'timezone' | 'currency' | 'name' | 'trialStartedAt'>,
  now: Instant,
): Promise<AccountRow> {
  const today = now.toZonedDateTimeISO(about.timezone).toPlainDate().toString()
  const [row] = await db
    .insert(accounts)
    .values({ ...about, createdAt: now, updatedAt: now, nextMidnightAt: midnightAfter(today, about.timezone) })
    .returning()
  if (!row) throw new Error('An account was not stored.')
  await db.insert(memberships).values({ ownerId: row.id, personId: person.id, role: 'owner', joinedAt: now })
  const { displayName, email, emailVerifiedAt } = person
  return { ...row, displayName: row.name ?? displayName, email, emailVerifiedAt }
}

/** For someone who has just left a business: an empty one without a trial, where it was their last. Answers it. */
export async function createBusinessOfTheirOwn(
  tx: Database,
  person: PersonRow,
  { timezone, currency }: Pick<AccountRow, 'timezone' | 'currency'>,
  now: Instant,
): Promise<AccountRow | undefined> {
  if ((await tx.$count(memberships, eq(memberships.personId, person.id))) > 0) return undefined
  return createBusiness(tx, person, { timezone, currency, trialStartedAt: trialOver(now) }, now)
}

/** Only the business of a sign-up has a trial. */
export function trialOver(now: Instant): Instant {
  return now.subtract({ hours: 24 * trialDays })
}

/** Locks the people of an account but for its owner, in one order. The account must be locked. */
export async function lockOthersIn(tx: Database, ownerId: string): Promise<PersonRow[]> {
  const others = tx
    .select({ id: memberships.personId })
    .from(memberships)
    .where(and(eq(memberships.ownerId, ownerId), ne(memberships.role, 'owner')))
  return tx.select().from(people).where(inArray(people.id, others)).orderBy(asc(people.id)).for('update')
}

/** The start of the day after a local date: not always 00:00, where clocks are put forward at midnight. */
function midnightAfter(date: string, timezone: string): Instant {
  return Temporal.PlainDate.from(date).add({ days: 1 }).toZonedDateTime(timezone).toInstant()
}
