import { and, eq, gt, lte, sql } from 'drizzle-orm'
import type { AccountRow } from '#server/accounts/accounts.ts'
import { accounts } from '#server/accounts/tables.ts'
import type { Instant } from '#server/platform/clock.ts'
import type { Database } from '#server/platform/database.ts'
import type { Deps } from '#server/platform/deps.ts'
import { sendsSystemMail } from '#server/platform/system-mail.ts'
import { hashAddress } from '#server/platform/system-mail-limits.ts'
import { createdIn, monthOf } from './billing.ts'
import { formerAccounts, invoiceCounts } from './tables.ts'

type Remembering = Pick<Deps['config'], 'razorpay' | 'secretKey' | 'systemSmtpUrl' | 'systemMailFrom'>

const remembered = { hours: 365 * 24 }

/**
 * Remembers how much of the trial and of the month's invoices an account has used, before its email is free again. Nothing where nothing is sold, and
 * nothing of an email that was never confirmed where it could have been: a stranger must not use up the trial of its owner.
 */
export async function rememberAddress(db: Database, config: Deps['config'], owner: AccountRow, now: Instant): Promise<void> {
  if (!config.razorpay || (owner.emailVerifiedAt === null && sendsSystemMail(config))) return
  const month = monthOf(now, owner.timezone)
  const used = {
    trialStartedAt: owner.trialStartedAt ?? owner.createdAt,
    month,
    created: await createdIn(db, owner.id, month),
    leftAt: now,
  }
  await db
    .insert(formerAccounts)
    .values({ addressHash: hashOf(config, owner.email), ...used })
    .onConflictDoUpdate({ target: formerAccounts.addressHash, set: used })
}

/** A new account whose email had one within a year continues its trial and its month. */
export async function recallAddress(tx: Database, config: Remembering, account: AccountRow, now: Instant): Promise<void> {
  if (!config.razorpay) return
  const [former] = await tx
    .select()
    .from(formerAccounts)
    .where(and(eq(formerAccounts.addressHash, hashOf(config, account.email)), gt(formerAccounts.leftAt, now.subtract(remembered))))
  if (!former) return
  const { trialStartedAt, month, created } = former
  await tx.update(accounts).set({ trialStartedAt }).where(eq(accounts.id, account.id))
  if (created > 0 && month === monthOf(now, account.timezone))
    await tx
      .insert(invoiceCounts)
      .values({ ownerId: account.id, month, created })
      .onConflictDoUpdate({ target: [invoiceCounts.ownerId, invoiceCounts.month], set: { created: sql`excluded.created` } })
}

export async function pruneFormerAccounts(db: Database, now: Instant): Promise<void> {
  await db.delete(formerAccounts).where(lte(formerAccounts.leftAt, now.subtract(remembered)))
}

function hashOf(config: Pick<Deps['config'], 'secretKey'>, email: string): string {
  return hashAddress(config, email, 'former-account')
}
