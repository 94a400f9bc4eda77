import { eq, inArray, sql } from 'drizzle-orm'
import { type Brand, noBrand } from '#contract/brand.ts'
import type { Instant } from '#server/platform/clock.ts'
import type { Database } from '#server/platform/database.ts'
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
