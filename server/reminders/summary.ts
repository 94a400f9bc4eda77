import { eq, sql } from 'drizzle-orm'
import { z } from 'zod'
import { fromMinor } from '#contract/money.ts'
import { screens, withQuery } from '#contract/screens.ts'
import { type AccountRow, lockAccount, type Origin, writeAudit } from '#server/accounts/accounts.ts'
import { linkForOwner } from '#server/accounts/notices.ts'
import { accounts } from '#server/accounts/tables.ts'
import { entitlementsOf } from '#server/billing/billing.ts'
import { dayKnown } from '#server/invoices/balance.ts'
import type { Instant } from '#server/platform/clock.ts'
import { rows } from '#server/platform/database.ts'
import type { Deps } from '#server/platform/deps.ts'
import { ProblemError } from '#server/platform/problem-error.ts'
import { queueSystemMail } from '#server/platform/system-mail.ts'
import { eachDue } from './due-accounts.ts'
import { addOwnerLink, findOwnerLink } from './owner-links.ts'
import { dayBeforeOf, localDate, nextSummary, startOfDay } from './schedule.ts'
import { countPlan } from './simulate.ts'
import { texts } from './texts.ts'

/** After a server was down it is sent this many hours late at most. */
const lateHours = 12
/** How long the link that ends the summaries works. */
const linkDays = 90

/** Sends the summaries that are due. */
export async function sendSummaries(deps: Deps, progressed = async () => {}): Promise<void> {
  await eachDue(deps, accounts.nextSummaryAt, (account, now) => sendSummary(deps, account, now), progressed)
}

async function sendSummary(deps: Deps, seen: AccountRow, now: Instant): Promise<void> {
  const isLate = seen.nextSummaryAt !== null && Temporal.Instant.compare(seen.nextSummaryAt.add({ hours: lateHours }), now) < 0
  const lines = isLate ? [] : await linesOf(deps, seen, now)
  await deps.db.transaction(async (tx) => {
    const account = await lockAccount(tx, seen.id)
    // Another process was first, or its owner has changed it meanwhile.
    if (!account?.nextSummaryAt || Temporal.Instant.compare(account.nextSummaryAt, now) > 0) return
    await tx
      .update(accounts)
      .set({ nextSummaryAt: nextSummary(account.timezone, now) })
      .where(eq(accounts.id, account.id))
    if (lines.length === 0) return
    const token = await addOwnerLink(tx, { ownerId: account.id, purpose: 'end_summaries', expiresAt: now.add({ hours: 24 * linkDays }) })
    const t = texts.summary
    await queueSystemMail(
      tx,
      deps,
      {
        kind: 'weekly_summary',
        to: account,
        subject: t.subject,
        before: [lines.join('\n')],
        button: { label: t.button, path: await linkForOwner(tx, account.id, screens.dashboard) },
        unsubscribe: { label: t.end, path: withQuery(screens.endSummaries, { token }) },
        expiresIn: { hours: lateHours },
      },
      now,
    )
  })
}

const week = z.object({
  paid: z.array(z.object({ currency: z.string(), minor: z.number(), invoices: z.number() })),
  sent: z.number(),
  failed: z.number(),
  broken: z.number(),
  overdue: z.number(),
})

/** What happened in the seven days before today, and what is planned for the seven from today on; empty where there is nothing. */
async function linesOf({ db, config }: Deps, account: AccountRow, now: Instant): Promise<string[]> {
  const { abilities } = await entitlementsOf(db, account.id, now, config)
  if (!abilities.includes('scheduling')) return []
  const today = localDate(now, account.timezone)
  const first = Temporal.PlainDate.from(today).subtract({ days: 7 }).toString()
  const last = dayBeforeOf(today)
  const on = (column: string) => sql`${sql.raw(column)} BETWEEN ${first}::date AND ${last}::date`
  const during = (column: string) =>
    sql`${sql.raw(column)} >= ${startOfDay(first, account.timezone).toString()}::timestamptz AND ${sql.raw(column)} < ${startOfDay(today, account.timezone).toString()}::timestamptz`
  const owned = sql`owner_id = ${account.id}::uuid`
  const open = sql`${owned} AND deleted_at IS NULL AND status <> 'paid'`
  const [found] = await rows(
    db,
    week,
    sql`SELECT
      (SELECT coalesce(json_agg(p ORDER BY p.minor DESC), '[]') FROM (
        SELECT currency, sum(amount_minor)::float8 AS minor, count(DISTINCT invoice_id)::int AS invoices FROM invoice_payments
        WHERE ${owned} AND kind = 'payment' AND voided_at IS NULL AND ${on('paid_on')} AND ${dayKnown} GROUP BY currency) p) AS paid,
      (SELECT count(*)::int FROM deliveries WHERE ${owned} AND state = 'sent' AND ${during('sent_at')}) AS sent,
      (SELECT count(*)::int FROM deliveries WHERE ${owned} AND state = 'failed' AND ${during('created_at')}) AS failed,
      (SELECT count(*)::int FROM invoices WHERE ${open} AND ${on('promised_until')}) AS broken,
      (SELECT count(*)::int FROM invoices WHERE ${open} AND ${on('due_date + 1')}) AS overdue`,
  )
  if (!found) return []
  const plan = await countPlan({ db, config, account, now }, 7)
  const t = texts.summary
  return [
    ...found.paid.map(({ currency, minor, invoices }) => t.paid({ currency, amount: fromMinor(minor, currency) }, invoices)),
    ...(found.sent > 0 ? [t.sent(found.sent)] : []),
    ...(found.failed > 0 ? [t.failed(found.failed)] : []),
    ...(found.broken > 0 ? [t.broken(found.broken)] : []),
    ...(found.overdue > 0 ? [t.overdue(found.overdue)] : []),
    ...(plan.emails > 0 ? [t.plan(plan.emails, plan.clients)] : []),
  ]
}

/** Ends the summaries of the account that got this link. Refuses with `not_found` a link that does not work. */
export async function endSummaries({ db, clock }: Pick<Deps, 'db' | 'clock'>, token: string, from: Origin): Promise<void> {
  const now = clock.now()
  const link = await findOwnerLink(db, token, 'end_summaries', now)
  if (!link) throw new ProblemError('not_found', texts.deadLink)
  const { ownerId } = link
  await db.transaction(async (tx) => {
    const account = await lockAccount(tx, ownerId)
    if (!account?.nextSummaryAt) return
    await tx.update(accounts).set({ nextSummaryAt: null }).where(eq(accounts.id, ownerId))
    await writeAudit(tx, { ownerId, kind: 'reminder_settings_changed' }, from, now)
  })
}
