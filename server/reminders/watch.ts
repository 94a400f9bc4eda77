import { sql } from 'drizzle-orm'
import { z } from 'zod'
import { screens } from '#contract/screens.ts'
import { type AccountRow, lockAccount } from '#server/accounts/accounts.ts'
import { emailOwner, notify } from '#server/accounts/notices.ts'
import { accounts } from '#server/accounts/tables.ts'
import type { Instant } from '#server/platform/clock.ts'
import { arrayText, type Database, rows } from '#server/platform/database.ts'
import type { Deps } from '#server/platform/deps.ts'
import type { SendSystemMail } from '#server/platform/system-mail.ts'
import { zoneOf } from '#server/platform/zones.ts'
import { readOutlook } from './outlook.ts'
import { isSilent, runMinutes, tickMinutes } from './processes.ts'
import { apartFrom, lastHour, localDate, nextRun } from './schedule.ts'
import { texts } from './texts.ts'

/** Accounts looked at in one turn; the others have theirs a minute later. */
const atOnce = 500
/** How long the email of a report may wait to be sent. */
const lasts = { hours: 12 }

/**
 * Reports runs that have not begun to their owners, once a day: where no process checks for due runs, and where one is half an hour late. Every
 * process that serves calls does it each minute. `send`: sends a queued email from this process, because without a worker no other does. An account
 * that fails does not delay the others; its error is thrown at the end.
 */
export function openWatch(deps: Deps, send: SendSystemMail): () => Promise<void> {
  const { db, clock } = deps
  /** When this process reported to an account while no worker was there: only it sends that email, so that no owner gets two. */
  const mine = new Map<string, Instant>()
  return async () => {
    const now = clock.now()
    const silent = await isSilent(db)
    const late = now.subtract({ minutes: silent ? tickMinutes : runMinutes })
    const there = sql`(${now.toString()}::timestamptz AT TIME ZONE ${zoneOf(accounts.timezone)})`
    // Not those whose day is over, or has not begun: they would keep the others from their turn.
    const found = await db
      .select({ id: accounts.id })
      .from(accounts)
      .where(
        sql`${accounts.nextRunAt} <= ${late.toString()}::timestamptz AND coalesce(${accounts.runMissingOn} < ${there}::date, true)
          AND extract(hour FROM ${there}) BETWEEN ${accounts.reminderHour} AND ${lastHour - 1}::int`,
      )
      .orderBy(accounts.nextRunAt)
      .limit(atOnce)
    const failures: unknown[] = []
    const keep = (error: unknown) => void failures.push(error)
    for (const { id } of found)
      await db.transaction((tx) => report(tx, deps, id, late, now)).then((isFirst) => isFirst && mine.set(id, now), keep)
    // Of a later day another process may have reported.
    for (const [id, at] of mine) if (Temporal.Instant.compare(at.add(lasts), now) <= 0) mine.delete(id)
    if (silent) await sendReports(db, (id) => send(id).catch(keep), [...mine.keys()], now)
    else {
      mine.clear()
      await withdraw(db)
    }
    if (failures.length > 0) throw new AggregateError(failures, 'Some runs that have not begun could not be reported.')
  }
}

async function report(tx: Database, deps: Deps, id: string, late: Instant, now: Instant): Promise<boolean> {
  const account = await lockAccount(tx, id)
  if (!account?.nextRunAt) return false
  const today = localDate(now, account.timezone)
  // Another process was first.
  if (account.runMissingOn !== null && account.runMissingOn >= today) return false
  const run = nextRun(account, { now, notBefore: localDate(account.nextRunAt, account.timezone), lastRunAt: apartFrom(account) })
  // After 18:00 that day is over, and is reported once Duely is back.
  if (Temporal.Instant.compare(run.at, late) > 0) return false
  await tx.update(accounts).set({ runMissingOn: today }).where(sql`${accounts.id} = ${id}::uuid`)
  const { state } = await readOutlook(tx, account, now, deps.config)
  if (state !== 'active' || !(await hasOpenInvoices(tx, account))) return false
  const { title, text } = texts.runMissing
  const hour = run.at.toZonedDateTimeISO(account.timezone)
  const words = text(`${hour.hour}:${String(hour.minute).padStart(2, '0')}`, deps.config.publicUrl)
  const about = { kind: 'run_missing', title, text: words, link: screens.reminderControl } as const
  await notify(tx, id, about, now)
  await emailOwner(tx, deps, account, { ...about, before: [words], expiresIn: lasts }, now)
  return true
}

async function hasOpenInvoices(tx: Database, { id }: AccountRow): Promise<boolean> {
  const open = await rows(
    tx,
    z.object({ id: z.string() }),
    sql`SELECT id FROM invoices WHERE owner_id = ${id}::uuid AND status <> 'paid' AND deleted_at IS NULL LIMIT 1`,
  )
  return open.length > 0
}

/** Without a worker no queue is worked off. */
async function sendReports(db: Database, send: SendSystemMail, accountIds: string[], now: Instant): Promise<void> {
  if (accountIds.length === 0) return
  const due = await rows(
    db,
    z.object({ id: z.string() }),
    sql`SELECT id FROM system_mails WHERE account_id = ANY(${arrayText(accountIds)}::uuid[]) AND NOT is_link AND digest_for IS NULL AND next_try_at <= ${now.toString()}::timestamptz
        ORDER BY place, next_try_at LIMIT ${atOnce}`,
  )
  for (const { id } of due) await send(id)
}

/** A run was made since. */
async function withdraw(db: Database): Promise<void> {
  await db.execute(
    sql`DELETE FROM notices n USING accounts a WHERE n.kind = 'run_missing' AND a.id = n.owner_id AND a.last_daily_run_at >= n.updated_at`,
  )
}
