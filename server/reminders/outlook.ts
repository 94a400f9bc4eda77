import { formatDate } from '#contract/dates.ts'
import { type AccountRow, maySend } from '#server/accounts/accounts.ts'
import { entitlementsOf } from '#server/billing/billing.ts'
import { findSender } from '#server/mail/mail.ts'
import type { Instant } from '#server/platform/clock.ts'
import type { Database } from '#server/platform/database.ts'
import type { Deps } from '#server/platform/deps.ts'
import { sendsBefore } from './mailboxes.ts'
import { apartFrom, dailyDeadline, localDate, nextRun, type Occurrence } from './schedule.ts'
import { texts } from './texts.ts'

/** Why the daily schedule sends nothing at the moment. */
type NoRunReason = 'schedule_inactive' | 'operator' | 'email_not_confirmed' | 'not_configured' | 'sending_paused' | 'plan'

/** What the daily schedule does next. Every sentence about what comes next must be made from this. */
export type Outlook = (({ state: 'active' } & Occurrence) | { state: 'off' | 'on_hold'; reason: NoRunReason }) & {
  /** The state for a screen, and what comes next in a sentence. */
  words: string
  next: string
}

type Scheduled = Pick<
  AccountRow,
  | 'id'
  | 'heldAt'
  | 'emailVerifiedAt'
  | 'remindersActive'
  | 'nextRunAt'
  | 'timezone'
  | 'reminderHour'
  | 'lastDailyRunAt'
  | 'scheduleChangedAt'
>

export async function readOutlook(db: Database, account: Scheduled, now: Instant, config: Deps['config']): Promise<Outlook> {
  const { timezone, nextRunAt } = account
  const t = texts.outlook
  if (!account.remindersActive || !nextRunAt) return { state: 'off', reason: 'schedule_inactive', words: t.off, next: t.nextOff }
  const onHold = (reason: Exclude<NoRunReason, 'schedule_inactive'>): Outlook => ({ state: 'on_hold', reason, ...t.onHold[reason] })
  if (account.heldAt) return onHold('operator')
  if (!maySend(config, account)) return onHold('email_not_confirmed')
  const next = nextRun(account, { now, notBefore: localDate(nextRunAt, timezone), lastRunAt: apartFrom(account) })
  const { abilities, until } = await entitlementsOf(db, account.id, now, config)
  // A run after the end of the trial or of the plan would be held: announcing it would promise what will not happen.
  const endsBefore = until !== null && Temporal.Instant.compare(until, next.at) <= 0
  if (!abilities.includes('scheduling') || endsBefore) return onHold('plan')
  const sender = await findSender(db, account.id)
  if (!sender) return onHold('not_configured')
  const last = dailyDeadline(next.date, timezone)
  if (sender.pauseReason && !(await sendsBefore(db, account.id, last))) return onHold('sending_paused')
  const hour = next.at.toZonedDateTimeISO(timezone).toPlainTime().toString({ smallestUnit: 'minute' })
  return { state: 'active', ...next, words: t.active, next: t.nextRun(formatDate(next.date), hour) }
}

/** What comes next in a sentence, for notices of other slices. */
export async function sayNext(
  db: Database,
  account: Scheduled,
  now: Instant,
  config: Deps['config'],
): Promise<{ runs: boolean; next: string }> {
  const { state, next } = await readOutlook(db, account, now, config)
  return { runs: state === 'active', next }
}
