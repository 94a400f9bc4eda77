import { eq, inArray, sql } from 'drizzle-orm'
import { type Brand, noBrand } from '#contract/brand.ts'
import { actorNow } from '#server/platform/actor.ts'
import type { Instant } from '#server/platform/clock.ts'
import type { Database } from '#server/platform/database.ts'
import { sameText } from '#server/platform/secrets.ts'
import { writeAudit } from './audit.ts'
import type { MadeThings } from './made.ts'
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

/** The address for replies, unless who set it has left: then clients answer to the mailbox until someone takes it over. */
const inUse = ({ replyTo, replyToOfferedTo }: typeof brands.$inferSelect) => (replyToOfferedTo === null ? replyTo : null)

/** Where clients answer to, and where a code was sent that was not entered yet. */
export async function readReplyTo(db: Database, ownerId: string): Promise<{ replyTo: string | null; asked: string | null }> {
  const [row = null] = await db.select().from(brands).where(eq(brands.ownerId, ownerId))
  return { replyTo: row && inUse(row), asked: row?.askedReplyTo ?? null }
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
      // Who sets it, or takes it over.
      ...(replyTo === undefined ? {} : { replyTo, replyToMadeBy: actorNow().personId, replyToOfferedTo: null }),
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
  return new Map(
    found.flatMap((row) => {
      const replyTo = inUse(row)
      return replyTo === null ? [] : [[row.ownerId, replyTo] as const]
    }),
  )
}

/** The address for replies, as something that works without who set it. It has no secret, and a business has one. */
export const madeReplyTo: MadeThings = {
  kind: 'reply_to',
  async list(db, ownerId) {
    const found = await db.select().from(brands).where(eq(brands.ownerId, ownerId))
    return found.flatMap(({ replyTo, replyToMadeBy: madeBy, replyToOfferedTo: offeredTo }) =>
      replyTo === null ? [] : [{ id: ownerId, name: replyTo, detail: null, madeBy, offeredTo }],
    )
  },
  async offer(tx, ownerId, _ids, { to, now }) {
    // Emails that wait are composed again.
    await saveBrand(tx, ownerId, {}, now)
    await tx.update(brands).set({ replyToOfferedTo: to }).where(eq(brands.ownerId, ownerId))
  },
  async takeOver(tx, ownerId, _id, { by, now }) {
    await saveBrand(tx, ownerId, {}, now)
    await tx.update(brands).set({ replyToMadeBy: by, replyToOfferedTo: null }).where(eq(brands.ownerId, ownerId))
    return null
  },
  async end(tx, ownerId, _ids, { from, now }) {
    await saveReplyTo(tx, ownerId, { replyTo: null, asked: null }, now)
    await writeAudit(tx, { ownerId, kind: 'reply_to_changed' }, from, now)
    return []
  },
}
