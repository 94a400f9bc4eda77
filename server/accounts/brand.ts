import { eq, inArray, sql } from 'drizzle-orm'
import { type Brand, noBrand } from '#contract/brand.ts'
import type { Instant } from '#server/platform/clock.ts'
import type { Database } from '#server/platform/database.ts'
import { sameText } from '#server/platform/secrets.ts'
import { brands } from './tables.ts'

/** What businesses say about themselves; without an entry nothing. */
export async function readBrands(db: Database, ownerIds: string[]): Promise<Map<string, Brand>> {
  const found = ownerIds.length === 0 ? [] : await db.select().from(brands).where(inArray(brands.ownerId, ownerIds))
  return new Map(found.map(({ ownerId, content }) => [ownerId, { ...noBrand, ...content }]))
}

export async function readBrand(db: Database, ownerId: string): Promise<Brand> {
  return (await readBrands(db, [ownerId])).get(ownerId) ?? noBrand
}

/** Changes the parts that are given: emails that wait are composed again. Also for a changed logo, which is stored elsewhere. */
export async function saveBrand(tx: Database, ownerId: string, change: Partial<Brand>, now: Instant): Promise<void> {
  const content = { ...(await readBrand(tx, ownerId)), ...change }
  await tx
    .insert(brands)
    .values({ ownerId, version: 1, content, updatedAt: now })
    .onConflictDoUpdate({ target: brands.ownerId, set: { content, version: sql`${brands.version} + 1`, updatedAt: now } })
}

export async function removeBrand(tx: Database, ownerId: string): Promise<void> {
  await tx.delete(brands).where(eq(brands.ownerId, ownerId))
}

/** How often a code can be entered. */
export const codeTries = 5

/** Where clients answer to, and where a code was sent that was not entered yet. */
export async function readReplyTo(db: Database, ownerId: string): Promise<{ replyTo: string | null; asked: string | null }> {
  const [row] = await db.select().from(brands).where(eq(brands.ownerId, ownerId))
  return { replyTo: row?.replyTo ?? null, asked: row?.askedReplyTo ?? null }
}

interface ReplyToChange {
  replyTo?: string | null
  /** What was sent; null ends it. */
  asked?: { address: string; codeHash: string; expiresAt: Instant } | null
}

export async function saveReplyTo(tx: Database, ownerId: string, { replyTo, asked }: ReplyToChange, now: Instant): Promise<void> {
  await saveBrand(tx, ownerId, {}, now)
  await tx
    .update(brands)
    .set({
      replyTo,
      ...(asked === undefined
        ? {}
        : {
            askedReplyTo: asked?.address ?? null,
            codeHash: asked?.codeHash ?? null,
            codeExpiresAt: asked?.expiresAt ?? null,
            codeTries: 0,
          }),
    })
    .where(eq(brands.ownerId, ownerId))
}

/** Where clients answer to from now on; null where the code is a wrong one, which counts, or can be entered no more. */
export async function confirmReplyTo(tx: Database, ownerId: string, codeHash: string, now: Instant): Promise<string | null> {
  const [row] = await tx.select().from(brands).where(eq(brands.ownerId, ownerId)).for('update')
  if (!row || row.askedReplyTo === null || row.codeHash === null || row.codeExpiresAt === null || row.codeTries >= codeTries) return null
  if (Temporal.Instant.compare(row.codeExpiresAt, now) <= 0) return null
  if (!sameText(row.codeHash, codeHash)) {
    await tx
      .update(brands)
      .set({ codeTries: row.codeTries + 1 })
      .where(eq(brands.ownerId, ownerId))
    return null
  }
  await saveReplyTo(tx, ownerId, { replyTo: row.askedReplyTo, asked: null }, now)
  return row.askedReplyTo
}

/** Where clients of these accounts answer to, where that is not the mailbox. */
export async function readReplyTos(db: Database, ownerIds: string[]): Promise<Map<string, string>> {
  const found = ownerIds.length === 0 ? [] : await db.select().from(brands).where(inArray(brands.ownerId, ownerIds))
  return new Map(found.flatMap(({ ownerId, replyTo }) => (replyTo === null ? [] : [[ownerId, replyTo] as const])))
}
