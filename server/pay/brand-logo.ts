import { and, eq, inArray } from 'drizzle-orm'
import type { Brand } from '#contract/brand.ts'
import { planThatLifts } from '#contract/plans.ts'
import { lockAsSeen, type Origin, writeAudit } from '#server/accounts/accounts.ts'
import { readBrands, readReplyTos, saveBrand } from '#server/accounts/brand.ts'
import { entitlementsOf } from '#server/billing/billing.ts'
import type { Account } from '#server/platform/answer.ts'
import type { Instant } from '#server/platform/clock.ts'
import type { Database } from '#server/platform/database.ts'
import type { Deps } from '#server/platform/deps.ts'
import { invalid, ProblemError } from '#server/platform/problem-error.ts'
import { type Picture, rebuildPng } from './png.ts'
import { paymentLogos } from './tables.ts'
import { texts } from './texts.ts'

/** What emails of an account say about its business. */
export interface OwnBrand {
  brand: Brand
  /** The logo, where it may be in emails. */
  picture: Picture | null
  /** Where clients answer to; null: to the mailbox. */
  replyTo: string | null
}

/** By account; without an entry nothing was ever set. */
export async function readOwnBrands(db: Database, ownerIds: string[]): Promise<Map<string, OwnBrand>> {
  const all = await readBrands(db, ownerIds)
  if (all.size === 0) return new Map()
  const logos = await db
    .select()
    .from(paymentLogos)
    .where(and(inArray(paymentLogos.ownerId, [...all.keys()]), eq(paymentLogos.inEmails, true)))
  const pictureOf = new Map(
    logos.map(({ ownerId, image }) => [ownerId, { image, width: image.readUInt32BE(16), height: image.readUInt32BE(20) }]),
  )
  const replyTos = await readReplyTos(db, [...all.keys()])
  return new Map(
    [...all].map(([ownerId, brand]) => [
      ownerId,
      { brand, picture: pictureOf.get(ownerId) ?? null, replyTo: replyTos.get(ownerId) ?? null },
    ]),
  )
}

/** The logo as an address that holds it; null without one. */
export async function readLogo(db: Database, ownerId: string): Promise<{ logo: string | null; logoInEmails: boolean }> {
  const [logo] = await db.select().from(paymentLogos).where(eq(paymentLogos.ownerId, ownerId))
  return { logo: logo ? `data:${logo.type};base64,${logo.image.toString('base64')}` : null, logoInEmails: logo?.inEmails ?? false }
}

/** The logo of the brand, for what cannot load it; null without one. */
export async function readBrandLogo(db: Database, ownerId: string): Promise<Buffer | null> {
  const its = and(eq(paymentLogos.ownerId, ownerId), eq(paymentLogos.inEmails, true))
  const [logo] = await db.select({ image: paymentLogos.image }).from(paymentLogos).where(its)
  return logo?.image ?? null
}

interface Change {
  deps: Pick<Deps, 'db' | 'config'>
  account: Account
  from: Origin
  now: Instant
}

/** Refuses with `plan_limit` where the plan has no white-label. */
export async function refuseWithoutWhiteLabel(
  db: Database,
  ownerId: string,
  now: Instant,
  config: Pick<Deps['config'], 'razorpay'>,
): Promise<void> {
  const { abilities } = await entitlementsOf(db, ownerId, now, config)
  if (!abilities.includes('whiteLabel')) throw new ProblemError('plan_limit', texts.noWhiteLabel(planThatLifts('whiteLabel').title))
}

/** The one logo of emails and client pages; null removes it. Refuses with `plan_limit`, and with `invalid` what is no such PNG. */
export async function saveBrandLogo({ deps, account, from, now }: Change, file: Buffer | null): Promise<void> {
  const picture = file && rebuildPng(file)
  if (file && !picture) throw invalid('image', texts.wrongBrandLogo)
  const ownerId = account.id
  await deps.db.transaction(async (tx) => {
    await lockAsSeen(tx, account)
    if (picture) await refuseWithoutWhiteLabel(tx, ownerId, now, deps.config)
    await tx.delete(paymentLogos).where(eq(paymentLogos.ownerId, ownerId))
    if (picture) await tx.insert(paymentLogos).values({ ownerId, type: 'image/png', image: picture.image, inEmails: true })
    await saveBrand(tx, ownerId, {}, now)
    await writeAudit(tx, { ownerId, kind: 'brand_changed' }, from, now)
  })
}
