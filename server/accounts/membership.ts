import { and, asc, desc, eq, lt, ne, or, sql } from 'drizzle-orm'
import type { Instant } from '#server/platform/clock.ts'
import type { PersonId } from '#server/platform/columns.ts'
import type { Database } from '#server/platform/database.ts'
import { type Origin, writeAudit } from './audit.ts'
import { ownerOf } from './lock.ts'
import { type AccountRow, accounts, auditEntries, invitations, memberships } from './tables.ts'

/** Someone who is no admin any more is offered nothing, and the links that they sent let in no one: one may be their own. */
export async function endAdmin(tx: Database, ownerId: string, whom: string): Promise<void> {
  await tx.delete(invitations).where(and(eq(invitations.ownerId, ownerId), sql`${invitations.invitedBy} = ${whom}::uuid`))
  await tx
    .update(accounts)
    .set({ offeredTo: null, offeredUntil: null })
    .where(and(eq(accounts.id, ownerId), sql`${accounts.offeredTo} = ${whom}::uuid`))
}

/** The roles of two people swap; the account must be locked. One after the other, because each account has one owner at any moment. */
export async function handOver(tx: Database, account: AccountRow, to: PersonId, from: Origin | null, now: Instant): Promise<void> {
  const before = await ownerOf(tx, account.id)
  if (before.id === to) return
  const role = { ownerId: account.id, joinedAt: now }
  await tx
    .update(memberships)
    .set({ role: 'admin' })
    .where(and(eq(memberships.ownerId, account.id), eq(memberships.personId, before.id)))
  await tx
    .insert(memberships)
    .values({ ...role, personId: to, role: 'owner' })
    .onConflictDoUpdate({ target: [memberships.ownerId, memberships.personId], set: { role: 'owner', getsMails: true } })
  await tx.update(accounts).set({ offeredTo: null, offeredUntil: null }).where(eq(accounts.id, account.id))
  const after = await ownerOf(tx, account.id)
  await writeAudit(tx, { ownerId: account.id, kind: 'ownership_changed', about: `${before.email} to ${after.email}` }, from, now)
}

/**
 * Who gets a business back from the one it was handed over to: who handed it over, or where they are gone the admin who has worked there for longest. Null where
 * its owner created it, or has it from the operator, or no one is left who could have it.
 */
export async function heirOf(
  tx: Database,
  account: AccountRow,
  owner: { personId: PersonId; joinedAt: Instant },
): Promise<PersonId | null> {
  if (Temporal.Instant.compare(owner.joinedAt, account.createdAt) <= 0) return null
  const newest = (kind: 'ownership_changed' | 'ownership_offered', before: string | undefined) =>
    tx
      .select({ id: auditEntries.id, by: auditEntries.personId })
      .from(auditEntries)
      .where(
        and(
          eq(auditEntries.ownerId, account.id),
          eq(auditEntries.kind, kind),
          before === undefined ? undefined : lt(auditEntries.id, before),
        ),
      )
      .orderBy(desc(auditEntries.id))
      .limit(1)
  const [accepted] = await newest('ownership_changed', undefined)
  if (!accepted?.by) return null
  const [offered] = await newest('ownership_offered', accepted.id)
  const gave = sql`${memberships.personId} IS NOT DISTINCT FROM ${offered?.by ?? null}::uuid`
  const [heir] = await tx
    .select({ id: memberships.personId })
    .from(memberships)
    .where(and(eq(memberships.ownerId, account.id), ne(memberships.personId, owner.personId), or(gave, eq(memberships.role, 'admin'))))
    .orderBy(desc(gave), asc(memberships.joinedAt))
    .limit(1)
  return heir?.id ?? null
}
