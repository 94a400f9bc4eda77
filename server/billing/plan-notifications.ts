import { and, between, eq, gt, inArray, isNotNull, or, sql } from 'drizzle-orm'
import type { PlanNotice } from '#contract/billing.ts'
import { trialDays } from '#contract/plans.ts'
import { screens } from '#contract/screens.ts'
import { linkForOwner } from '#server/accounts/notices.ts'
import { accounts, memberships, people } from '#server/accounts/tables.ts'
import type { Instant } from '#server/platform/clock.ts'
import type { Database } from '#server/platform/database.ts'
import type { Deps } from '#server/platform/deps.ts'
import { queueSystemMail, type Recipient, sendsSystemMail } from '#server/platform/system-mail.ts'
import { readSubscription } from './billing.ts'
import { planNotifications, purchases } from './tables.ts'
import { choosePlan, subjects } from './texts.ts'

/** The days since a trial began in which its end is notified: three before until two after. */
const trialWindow = { from: trialDays - 3, to: trialDays + 2 }
/** No one-time period is longer, credits included. */
const longestPeriod = { hours: 5 * 366 * 24 }

/** Subscriptions are selected by the end of what is paid for: notified a week before it, ended some days later if a card fails. */
const aroundTheEnd = { hours: 8 * 24 }

/**
 * Writes to owners whose plan is about to end, once each: of a period that was paid once seven days and one day before. Where daily
 * reminders are active, so that none of them stops in silence, also of a subscription, of the trial three days before, and of either on the
 * day. Nothing where this server sells nothing or sends no email. An owner who cannot be notified does not delay the others; the error is thrown
 * at the end.
 */
export async function notifyPlanEnds(deps: Deps): Promise<void> {
  const { db, config, clock } = deps
  if (!config.razorpay || !sendsSystemMail(config)) return
  const now = clock.now()
  const paidOnce = db
    .select({ id: purchases.ownerId })
    .from(purchases)
    .where(and(eq(purchases.paymentType, 'onetime'), isNotNull(purchases.ownerId), gt(purchases.paidAt, now.subtract(longestPeriod))))
  const [from, to] = [now.subtract(aroundTheEnd), now.add(aroundTheEnd)]
  const subscribed = db
    .select({ id: purchases.ownerId })
    .from(purchases)
    .where(
      and(
        eq(purchases.paymentType, 'subscription'),
        isNotNull(purchases.ownerId),
        or(between(purchases.paidThrough, from, to), between(purchases.creditUntil, from, to)),
      ),
    )
  const daysAgo = (days: number) => sql`${now.subtract({ hours: days * 24 }).toString()}::timestamptz`
  const began = sql`coalesce(${accounts.trialStartedAt}, ${accounts.createdAt})`
  const inTrial = and(
    eq(accounts.remindersActive, true),
    sql`${began} <= ${daysAgo(trialWindow.from)} AND ${began} > ${daysAgo(trialWindow.to)}`,
  )
  const concerned = await db
    .select({
      id: accounts.id,
      email: people.email,
      emailVerifiedAt: people.emailVerifiedAt,
      createdAt: accounts.createdAt,
      trialStartedAt: accounts.trialStartedAt,
      timezone: accounts.timezone,
      remindersActive: accounts.remindersActive,
    })
    .from(accounts)
    .innerJoin(memberships, and(eq(memberships.ownerId, accounts.id), eq(memberships.role, 'owner')))
    .innerJoin(people, eq(people.id, memberships.personId))
    .where(or(inArray(accounts.id, paidOnce), inTrial, and(eq(accounts.remindersActive, true), inArray(accounts.id, subscribed))))
  const failures: unknown[] = []
  for (const owner of concerned) await notifyOwner(deps, owner, now).catch((error: unknown) => failures.push(error))
  if (failures.length > 0) throw new AggregateError(failures, 'Some owners could not be notified of the end of their plan.')
}

type Owner = Recipient & Parameters<typeof readSubscription>[1] & { remindersActive: boolean }

async function notifyOwner(deps: Deps, owner: Owner, now: Instant): Promise<void> {
  const { notices, paymentType } = await readSubscription(deps.db, owner, now, deps.config)
  for (const notice of notices) {
    const email = emailAbout(notice)
    const unasked = notice.kind === 'period_ending' && paymentType === 'onetime'
    if (email && (unasked || owner.remindersActive) && !(await endedByHand(deps.db, owner, notice)))
      await sendOnce(deps, owner, notice, email, now)
  }
}

interface PlanEmail {
  /** Which end, and how long before. */
  what: string
  subject: string
  expiresIn: Temporal.DurationLike
}

function emailAbout({ kind, at, daysLeft }: PlanNotice): PlanEmail | null {
  switch (kind) {
    case 'period_ending': {
      const days = daysLeft <= 1 ? 1 : 7
      return {
        what: `period:${at}:${days}`,
        subject: subjects.periodEnding(daysLeft),
        expiresIn: { hours: 20 },
      }
    }
    case 'trial_ending':
      return { what: `trial:${at}:3`, subject: subjects.trialEnding, expiresIn: { hours: 48 } }
    case 'trial_ended':
      return { what: `trial:${at}:0`, subject: subjects.trialEnded, expiresIn: { hours: 24 } }
    case 'plan_ended':
      return { what: `period:${at}:0`, subject: subjects.planEnded, expiresIn: { hours: 24 } }
    case 'past_due':
    case 'confirming':
      return null
  }
}

/** An owner who switched to Free needs no email about it. */
async function endedByHand(db: Database, owner: { id: string }, { kind, at }: PlanNotice): Promise<boolean> {
  if (kind !== 'plan_ended') return false
  const endedAt = Temporal.Instant.from(at)
  const found = await db
    .select({ id: purchases.id })
    .from(purchases)
    .where(and(eq(purchases.ownerId, owner.id), eq(purchases.endedAt, endedAt)))
  return found.length > 0
}

async function sendOnce(deps: Deps, owner: Recipient & { id: string }, notice: PlanNotice, email: PlanEmail, now: Instant): Promise<void> {
  const { what, subject, expiresIn } = email
  await deps.db.transaction(async (tx) => {
    const first = await tx
      .insert(planNotifications)
      .values({ ownerId: owner.id, what, toldAt: now })
      .onConflictDoNothing()
      .returning({ what: planNotifications.what })
    if (first.length === 0) return
    const button = { label: choosePlan, path: await linkForOwner(tx, owner.id, screens.pricing) }
    await queueSystemMail(tx, deps, { kind: 'plan_ends', to: owner, subject, before: [notice.message], button, expiresIn }, now)
  })
}
