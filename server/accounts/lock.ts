import { and, asc, eq, getTableColumns, inArray, type SQL, sql } from 'drizzle-orm'
import { z } from 'zod'
import { type Role, reaches, roleTexts } from '#contract/call.ts'
import { neededNow } from '#server/platform/actor.ts'
import type { Account } from '#server/platform/answer.ts'
import type { Instant } from '#server/platform/clock.ts'
import { type PersonId, packed } from '#server/platform/columns.ts'
import { type Database, isDeadlock, statement } from '#server/platform/database.ts'
import { ProblemError } from '#server/platform/problem-error.ts'
import { type AccountRow, accounts, memberships, type PersonRow, people } from './tables.ts'
import { refusals } from './texts.ts'

/** The columns of `AccountRow`, to be read by `fromAccounts`. */
const accountColumns = {
  ...getTableColumns(accounts),
  displayName: sql<string>`coalesce(${accounts.name}, ${people.displayName})`,
  email: people.email,
  emailVerifiedAt: people.emailVerifiedAt,
}

/** Reads accounts with their owners. A lock must be `{ of: accounts }`, and what it waited for may have changed the owner meanwhile. */
export function selectAccounts(db: Database) {
  return db
    .select(accountColumns)
    .from(accounts)
    .innerJoin(memberships, and(eq(memberships.ownerId, accounts.id), eq(memberships.role, 'owner')))
    .innerJoin(people, eq(people.id, memberships.personId))
}

const [accountRow, personRow] = [packed(accounts), packed(people)]
const values = z.array(z.unknown())
const its = sql.placeholder('id')
const accountOf = statement(
  z.object({ account: values, owner: values }),
  sql`SELECT ${accountRow.row} AS account, ${personRow.row} AS owner FROM ${accounts}
      JOIN ${memberships} ON ${memberships.ownerId} = ${accounts.id} AND ${memberships.role} = 'owner' JOIN ${people} ON ${people.id} = ${memberships.personId}
      WHERE ${accounts.id} = ${its}::uuid`,
)

export async function findAccount(db: Database, id: string): Promise<AccountRow | undefined> {
  const [found] = await accountOf(db, { id })
  return found && withOwner(found)
}

/** An account with what is read of its owner; both packed. */
export function withOwner(found: { account: unknown[]; owner: unknown[] }): AccountRow {
  const account = accountRow.read(found.account)
  const { displayName, email, emailVerifiedAt } = personRow.read(found.owner)
  return { ...account, displayName: account.name ?? displayName, email, emailVerifiedAt }
}

const lockedRow = statement(z.unknown(), sql`SELECT 1 FROM ${accounts} WHERE ${accounts.id} = ${its}::uuid FOR UPDATE`)

/** Locks the account's row; whether it is there. What follows in the transaction need not wait for the answer to be sent behind it. */
export async function lockRow(tx: Database, id: string): Promise<boolean> {
  return (await lockedRow(tx, { id })).length > 0
}

/** Who owns an account. */
export async function ownerOf(db: Database, id: string): Promise<PersonRow> {
  const [found] = await db
    .select({ owner: people })
    .from(memberships)
    .innerJoin(people, eq(people.id, memberships.personId))
    .where(and(eq(memberships.ownerId, id), eq(memberships.role, 'owner')))
  if (!found) throw new Error('An account has no owner.')
  return found.owner
}

/** Locks the account's row until the transaction ends. It serialises runs and invoice numbers. */
export async function lockAccount(tx: Database, id: string): Promise<AccountRow | null> {
  // Two statements: one that waits for the lock would read the owner as they were before.
  const [isThere, found] = await Promise.all([lockRow(tx, id), findAccount(tx, id)])
  return (isThere && found) || null
}

/**
 * Locks the account of a request as its person saw it. Refuses with `not_signed_in` where it was deleted, or the person's credentials changed, since:
 * a slow request must not store anything in an account that was taken over meanwhile. Refuses with `not_allowed` where their role is below the one
 * that the call needs by now.
 */
export async function lockAsSeen(tx: Database, { id, person }: Pick<Account, 'id' | 'person'>): Promise<Account> {
  const row = await lockAccount(tx, id)
  const locked = await lockPersonAsSeen(tx, person, 'share')
  if (!row) throw new ProblemError('not_signed_in', refusals.signIn)
  // Removing a member, and changing their role, lock the account too.
  const [membership] = await tx
    .select({ role: memberships.role })
    .from(memberships)
    .where(and(eq(memberships.ownerId, id), eq(memberships.personId, person.id)))
  if (!membership) throw new ProblemError('not_found', refusals.noBusiness)
  const needed = neededNow()
  if (needed !== null && needed !== 'self' && needed !== 'viewer' && !reaches(membership.role, needed))
    throw new ProblemError('not_allowed', roleTexts.needed(needed, row.displayName, (await ownerOf(tx, id)).displayName))
  return { ...row, person: locked }
}

/** Locks the row of a person; `whose` matches one. Accounts are locked before people, because another order would deadlock. */
export async function lockPerson(tx: Database, whose: SQL | undefined): Promise<PersonRow | undefined> {
  const [row] = await tx.select().from(people).where(whose).for('update')
  return row
}

/** The same for the person of a request. Refuses with `not_signed_in` as `lockAsSeen` does. */
export async function lockPersonAsSeen(
  tx: Database,
  seen: Pick<PersonRow, 'id' | 'passwordHash' | 'googleSub'>,
  strength: 'update' | 'share' = 'update',
): Promise<PersonRow> {
  const [row] = await tx.select().from(people).where(eq(people.id, seen.id)).for(strength)
  if (!row || row.passwordHash !== seen.passwordHash || row.googleSub !== seen.googleSub)
    throw new ProblemError('not_signed_in', refusals.signIn)
  return row
}

/** Locks the accounts that a person owns, and answers them. */
export async function lockOwned(tx: Database, person: PersonId): Promise<AccountRow[]> {
  const ids = tx
    .select({ id: memberships.ownerId })
    .from(memberships)
    .where(and(eq(memberships.personId, person), eq(memberships.role, 'owner')))
  const locked = await tx
    .select({ id: accounts.id })
    .from(accounts)
    .where(inArray(accounts.id, ids))
    .orderBy(asc(accounts.id))
    .for('update')
  if (locked.length === 0) return []
  // A statement of its own: another person may have become the owner of one while this waited for its lock.
  return selectAccounts(tx).where(
    and(
      eq(people.id, person),
      inArray(
        accounts.id,
        locked.map(({ id }) => id),
      ),
    ),
  )
}

/** A business in which a person works. */
interface Workplace {
  account: AccountRow
  role: Role
  joinedAt: Instant
}

/** A person and where they work, the oldest first. */
export interface Workplaces {
  person: PersonRow
  places: Workplace[]
}

/** Locks the accounts in which a person works, and the person: afterwards they neither join nor leave one. To be called by `retryingDeadlocks`. */
export async function lockWorkplaces(tx: Database, person: PersonId): Promise<Workplaces | undefined> {
  const ids = tx.select({ id: memberships.ownerId }).from(memberships).where(eq(memberships.personId, person))
  const lockThem = () =>
    tx.select({ id: accounts.id }).from(accounts).where(inArray(accounts.id, ids)).orderBy(asc(accounts.id)).for('update')
  await lockThem()
  const locked = await lockPerson(tx, eq(people.id, person))
  if (!locked) return undefined
  // One that they joined while this waited. Against the order, so that the database may have to end one of two transactions.
  await lockThem()
  const found = await tx
    .select()
    .from(memberships)
    .where(eq(memberships.personId, person))
    .orderBy(asc(memberships.joinedAt), asc(memberships.ownerId))
  const places: Workplace[] = []
  for (const { ownerId, role, joinedAt } of found) {
    const account = await findAccount(tx, ownerId)
    if (account) places.push({ account, role, joinedAt })
  }
  return { person: locked, places }
}

/** Tries again what a deadlock has ended: where the order in which rows are locked cannot be that of everyone else. */
export async function retryingDeadlocks<T>(work: () => Promise<T>, triesLeft = 20): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (!isDeadlock(error) || triesLeft === 0) throw error
    return retryingDeadlocks(work, triesLeft - 1)
  }
}
