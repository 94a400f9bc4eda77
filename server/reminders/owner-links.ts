import { and, eq, gt, lte } from 'drizzle-orm'
import type { Instant } from '#server/platform/clock.ts'
import type { Database } from '#server/platform/database.ts'
import { hashToken, newToken } from '#server/platform/secrets.ts'
import { ownerLinks } from './tables.ts'

type OwnerLink = typeof ownerLinks.$inferSelect

/** Adds a link and returns its token. */
export async function addOwnerLink(
  tx: Database,
  about: Pick<OwnerLink, 'ownerId' | 'purpose' | 'expiresAt'> & { localDate?: string },
): Promise<string> {
  const token = newToken()
  await tx.insert(ownerLinks).values({ ...about, tokenHash: hashToken(token) })
  return token
}

/** The link of a token; null where there is none, or it has expired. */
export async function findOwnerLink(db: Database, token: string, purpose: OwnerLink['purpose'], now: Instant): Promise<OwnerLink | null> {
  const [found] = await db
    .select()
    .from(ownerLinks)
    .where(and(eq(ownerLinks.tokenHash, hashToken(token)), eq(ownerLinks.purpose, purpose), gt(ownerLinks.expiresAt, now)))
  return found ?? null
}

/** Once another person may have the mailbox that they were sent to. */
export async function endOwnerLinks(tx: Database, ownerId: string): Promise<void> {
  await tx.delete(ownerLinks).where(eq(ownerLinks.ownerId, ownerId))
}

export async function pruneOwnerLinks(db: Database, now: Instant): Promise<void> {
  await db.delete(ownerLinks).where(lte(ownerLinks.expiresAt, now))
}
