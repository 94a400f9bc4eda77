import { and, asc, eq, isNull, lte, or, type SQL, sql } from 'drizzle-orm'
import { z } from 'zod'
import type { AccountRow } from '#server/accounts/accounts.ts'
import { selectAccounts } from '#server/accounts/accounts.ts'
import { accounts } from '#server/accounts/tables.ts'
import type { Instant } from '#server/platform/clock.ts'
import { newId } from '#server/platform/columns.ts'
import { analyzeGrown, arrayText, columnText, type Database, rows } from '#server/platform/database.ts'
import type { Queue } from '#server/platform/job.ts'
import { zoneOf } from '#server/platform/zones.ts'
import { planned, stillQueued } from './deliveries.ts'
import { completeEarlierDays, mostSkippedDays } from './earlier-days.ts'
import { wakeAccounts } from './jobs.ts'
import { closeLeftOut } from './left-out.ts'
import { addressHeld, balance, ownLanguage, pausedOn } from './owed.ts'
import { firstChunk, makeRun } from './runs.ts'
import {
  apartFrom,
  dailyDeadline,
  dayAfter,
  dayBeforeOf,
  lastHour,
  laterDate,
  leavesAt,
  localDate,
  nextRun,
  owedFrom,
  startOfDay,
} from './schedule.ts'
import { texts } from './texts.ts'

/** Accounts whose runs are made by one set of statements. */
const accountsAtOnce = 100
/** Invoices decided by one statement, of several accounts. */
const invoicesAtOnce = 1_000
/** From this many new rows on, the planner's statistics may be wrong. */
const manyAtOnce = 1_000
/** How long, in minutes, a run waits for the watched addresses of its account: one that never answers must not end reminders. */
const readingMinutes = 5

/**
 * The tick of the daily run: makes the run of every account that is due and sets its next one. Any number of processes may tick at once: the
 * account's row is the lock, the local date the key, and a process skips what another one has locked. An account that fails does not delay
 * the others; its error is thrown at the end. `progressed` is called after every few accounts, because all of them may take minutes. `unread`:
 * whether an account has watched addresses to be read first.
 */
export async function makeDueRuns(
  db: Database,
  queue: Queue,
  now: Instant,
  { progressed = async () => {}, unread = sql`false` }: { progressed?: () => Promise<void>; unread?: SQL } = {},
): Promise<void> {
  const failures: unknown[] = []
  // Those with sequences take several statements each, so they come after the others.
  for (const plansSteps of [false, true]) await makeDue(db, queue, now, plansSteps, { failures, progressed, unread })
  if (failures.length > 0) throw new AggregateError(failures, 'The daily runs of some accounts could not be made.')
}

interface Making {
  /** The errors of accounts are added here. */
  failures: unknown[]
  progressed(): Promise<void>
  unread: SQL
}

/** The same for the accounts whose runs are planned by `plan`, or for the others. */
async function makeDue(db: Database, queue: Queue, now: Instant, plansSteps: boolean, making: Making): Promise<void> {
  const { failures, progressed, unread } = making
  const isNotReading = or(isNull(accounts.readingUntil), lte(accounts.readingUntil, now))
  let made = 0
  let last: { id: string; nextRunAt: Instant | null } | undefined
  do {
    const behind = last && sql`(${accounts.nextRunAt}, ${accounts.id}) > (${last.nextRunAt?.toString()}::timestamptz, ${last.id}::uuid)`
    const due = await db
      .select({ id: accounts.id, nextRunAt: accounts.nextRunAt, invoices: invoicesOpen, isUnread: sql<boolean>`${unread}` })
      .from(accounts)
      .where(and(lte(accounts.nextRunAt, now), eq(accounts.plansSteps, plansSteps), isNotReading, behind))
      .orderBy(asc(accounts.nextRunAt), asc(accounts.id))
      .limit(accountsAtOnce)
      // Without those whose runs another process is making: to lock them in vain takes as long as making a few runs where the database is far away.
      .for('key share', { of: accounts, skipLocked: true })
    const waiting = await waitForReading(
      db,
      due.filter(({ isUnread }) => isUnread).map(({ id }) => id),
      now,
    )
    const ready = due.filter(({ id }) => !waiting.has(id))
    for (const ids of plansSteps ? ready.map(({ id }) => [id]) : inParts(ready)) {
      await makeRunsOf(db, queue, ids, now).catch(async () => {
        for (const id of ids) await makeRunsOf(db, queue, [id], now).catch((error: unknown) => failures.push(error))
      })
      await progressed()
    }
    made += due.length
    last = due.at(-1)
    // Sending has begun with the first of them.
    if (made % manyAtOnce === 0 || !last) await refreshStatistics(db, made)
  } while (last)
}

/**
 * Lets the runs of those of these accounts wait that are due, or will be while a file may still be read, each once and never until 18:00, when its
 * day would be over. Returns which begin to wait.
 */
export async function waitForReading(db: Database, ids: string[], now: Instant): Promise<Set<string>> {
  if (ids.length === 0) return new Set()
  const until = sql`${now.add({ minutes: readingMinutes }).toString()}::timestamptz`
  const begun = await rows(
    db,
    z.object({ id: z.string() }),
    sql`UPDATE accounts SET reading_until = ${until}
        WHERE accounts.id = ANY(${arrayText(ids)}::uuid[]) AND accounts.next_run_at <= ${until}
          AND (accounts.reading_until IS NULL OR accounts.reading_until < accounts.next_run_at) AND extract(hour FROM ${until} AT TIME ZONE ${zoneOf(accounts.timezone)}) < ${lastHour}::int
        RETURNING accounts.id`,
  )
  return new Set(begun.map(({ id }) => id))
}

/** After `added` new emails: plans made while these tables were small would read all of them for every email. */
export async function refreshStatistics(db: Database, added: number): Promise<void> {
  if (added >= manyAtOnce) await analyzeGrown(db, ['deliveries', 'delivery_invoices', 'decisions', 'runs', 'jobs'])
}

/** Of a due account, at most one more than are planned at once. */
const invoicesOpen = sql<number>`(SELECT count(*) FROM (
  SELECT 1 FROM invoices i WHERE i.owner_id = accounts.id AND i.deleted_at IS NULL AND i.status <> 'paid' LIMIT ${firstChunk + 1}) open)::int`

/** A transaction may take five seconds, and on the embedded database all calls wait for it. */
function inParts(due: { id: string; invoices: number }[]): string[][] {
  const parts: string[][] = []
  let room = 0
  for (const { id, invoices } of due) {
    if (parts.length === 0 || invoices > room) {
      parts.push([])
      room = invoicesAtOnce
    }
    parts.at(-1)?.push(id)
    room -= invoices
  }
  return parts
}

type Due = AccountRow & { date: string; following: { at: Instant; date: string } }

/** Those of the accounts that are still due. */
async function makeRunsOf(db: Database, queue: Queue, ids: string[], now: Instant): Promise<void> {
  await db.transaction(async (tx) => {
    const due = await selectAccounts(tx)
      .where(and(sql`${accounts.id} = ANY(${arrayText(ids)}::uuid[])`, lte(accounts.nextRunAt, now)))
      .orderBy(asc(accounts.id))
      .for('update', { of: accounts, skipLocked: true })
    if (due.length === 0) return
    const skipped: SkippedDay[] = []
    const running: Due[] = []
    const next: { id: string; at: Instant; from: string; ran: boolean }[] = []
    for (const account of due) {
      if (!account.nextRunAt) continue
      const planned = localDate(account.nextRunAt, account.timezone)
      const owed = owedFrom({ ...account, nextRunAt: account.nextRunAt })
      const today = nextRun(account, { now, notBefore: planned, lastRunAt: apartFrom(account) })
      skipped.push(...skippedDays(account, { from: owed, before: planned, reason: texts.skipped.zoneChanged }))
      skipped.push(...skippedDays(account, { from: planned, before: today.date, reason: texts.skipped.notRunning }))
      const ran = Temporal.Instant.compare(today.at, now) <= 0
      const following = ran ? nextRun(account, { now, notBefore: dayAfter(today.date), lastRunAt: null }) : today
      // The date at this moment: the run that was due may have been one of another zone.
      if (ran) running.push({ ...account, date: localDate(now, account.timezone), following })
      next.push({ id: account.id, at: following.at, from: ran ? dayAfter(today.date) : today.date, ran })
    }
    await recordSkippedDays(tx, skipped, now)
    const [withSteps, others] = [running.filter((one) => one.plansSteps), running.filter((one) => !one.plansSteps)]
    await insertRuns(tx, others, now)
    await holdRuns(tx, others, now)
    for (const account of others) await closeLeftOut(tx, account, { localDate: account.date }, now)
    for (const account of withSteps) await makeRun(tx, queue, account, { kind: 'daily', now })
    await completeEarlierDays(tx, running, now)
    await tx.execute(sql`
      UPDATE accounts a SET next_run_at = n.at, next_run_from = n.date, last_daily_run_at = CASE WHEN n.ran THEN ${now.toString()}::timestamptz ELSE a.last_daily_run_at END
      FROM unnest(${columnText(next, ({ id }) => id)}::uuid[], ${columnText(next, ({ at }) => at.toString())}::timestamptz[], ${columnText(next, ({ from }) => from)}::date[],
        ${columnText(next, ({ ran }) => String(ran))}::boolean[]) AS n (id, at, date, ran)
      WHERE a.id = n.id`)
    await wakeAccounts(
      tx,
      queue,
      running.map(({ id }) => id),
    )
  })
}

/** The emails of these runs wait where their owners want to look at them first. Most do not: then it costs nothing. */
async function holdRuns(tx: Database, made: Due[], now: Instant): Promise<void> {
  const held = made.flatMap((one) => ({ id: one.id, date: one.date, at: leavesAt(one, now) })).filter(({ at }) => at !== null)
  if (held.length === 0) return
  await tx.execute(sql`
    WITH held AS (
      UPDATE runs r SET leaves_at = w.at
      FROM unnest(${columnText(held, ({ id }) => id)}::uuid[], ${columnText(held, ({ date }) => date)}::date[], ${columnText(held, ({ at }) => String(at))}::timestamptz[]) AS w (owner_id, date, at)
      WHERE r.owner_id = w.owner_id AND r.local_date = w.date AND r.kind = 'daily' AND r.created_at = ${now.toString()}::timestamptz RETURNING r.id, w.at)
    UPDATE deliveries d SET next_try_at = held.at FROM held WHERE d.run_id = held.id AND ${stillQueued}`)
}

interface SkippedDay {
  ownerId: string
  date: string
  deadline: Instant
  reason: string
}

/** Days without a run, because no process ran until 18:00 or for another `reason`; their emails are not sent later. */
function skippedDays(account: Pick<AccountRow, 'id' | 'timezone'>, days: { from: string; before: string; reason: string }): SkippedDay[] {
  const earliest = Temporal.PlainDate.from(days.before).subtract({ days: mostSkippedDays }).toString()
  const skipped: SkippedDay[] = []
  for (let date = laterDate(days.from, earliest); date < days.before; date = dayAfter(date))
    skipped.push({ ownerId: account.id, date, deadline: dailyDeadline(date, account.timezone), reason: days.reason })
  return skipped
}

async function recordSkippedDays(tx: Database, days: SkippedDay[], now: Instant): Promise<void> {
  if (days.length === 0) return
  await tx.execute(sql`
    INSERT INTO runs (id, owner_id, kind, local_date, created_at, deadline_at, planned_at, skipped_reason)
    SELECT s.id, s.owner_id, 'daily', s.date, ${now.toString()}::timestamptz, s.deadline, ${now.toString()}::timestamptz, s.reason
    FROM unnest(${columnText(days, () => newId())}::uuid[], ${columnText(days, ({ ownerId }) => ownerId)}::uuid[], ${columnText(days, ({ date }) => date)}::date[],
      ${columnText(days, ({ deadline }) => deadline.toString())}::timestamptz[], ${columnText(days, ({ reason }) => reason)}::text[]) AS s (id, owner_id, date, deadline, reason)
    ON CONFLICT DO NOTHING`)
}

/**
 * Makes the daily runs of these accounts with all their emails and decisions, in one statement. The accounts' rows must be locked. It decides
 * as `decide` does for a daily run; a test compares the two.
 */
async function insertRuns(tx: Database, due: Due[], now: Instant): Promise<void> {
  if (due.length === 0) return
  const at = sql`${now.toString()}::timestamptz`
  // Ids ascend in the order in which the emails are to be sent: the first digits of a new id, then the number of the email. No part is joined with
  // another one by a text: without statistics PostgreSQL would compare every pair.
  const idsBegin = newId().slice(0, 24)
  await tx.execute(sql`
    WITH w AS (
      SELECT * FROM unnest(${columnText(due, () => newId())}::uuid[], ${columnText(due, ({ id }) => id)}::uuid[], ${columnText(due, ({ date }) => date)}::date[],
        ${columnText(due, (one) => dailyDeadline(one.date, one.timezone).toString())}::timestamptz[], ${columnText(due, (one) => String(one.groupByClient))}::boolean[],
        ${columnText(due, (one) => startOfDay(one.date, one.timezone).toString())}::timestamptz[], ${columnText(due, (one) => startOfDay(dayBeforeOf(one.date), one.timezone).toString())}::timestamptz[])
        AS w (run_id, owner_id, local_date, deadline_at, grouped, day_began, day_before)
      WHERE NOT EXISTS (SELECT 1 FROM runs r WHERE r.owner_id = w.owner_id AND r.local_date = w.local_date AND r.kind = 'daily')),
    facts AS (
      SELECT w.*, i.id AS invoice_id, ${balance} AS amount_minor, i.client_email, i.currency, i.due_date, lower(i.client_email) AS client_key, o.delivery_id AS open_delivery,
        ${pausedOn(sql`w.local_date`)} AS paused, ${addressHeld} AS address_held, coalesce(i.last_reminder_at >= w.day_began, false) AS reminded_today,
        coalesce(nullif(i.pause_note, ''), nullif(c.pause_note, '')) AS pause_note,
        i.language, coalesce(i.last_reminder_at >= w.day_before AND i.last_reminder_at < ${at}, false) AS wrote_last_time,
        CASE WHEN w.grouped THEN concat_ws(' ', lower(i.client_email), i.currency, ${ownLanguage}) END COLLATE "C" AS group_key
      FROM w CROSS JOIN LATERAL (
        SELECT * FROM invoices WHERE owner_id = w.owner_id AND deleted_at IS NULL AND status <> 'paid' AND due_date < w.local_date LIMIT ${firstChunk + 1}::int) i
      LEFT JOIN delivery_invoices o ON o.invoice_id = i.id AND o.open
      LEFT JOIN client_pauses c ON c.owner_id = i.owner_id AND c.client_key = lower(i.client_email)),
    placed AS (
      SELECT *, CASE WHEN grouped THEN concat_ws(' ', CASE WHEN bool_or(wrote_last_time) OVER (PARTITION BY run_id, group_key) THEN 1 ELSE 0 END, group_key)
        ELSE concat_ws(' ', CASE WHEN wrote_last_time THEN 1 ELSE 0 END, due_date, invoice_id) END AS place
      FROM facts),
    decided AS (
      SELECT *, CASE WHEN decision = 'write' THEN
          (${idsBegin}::text || lpad(to_hex(dense_rank() OVER (PARTITION BY decision ORDER BY run_id, place COLLATE "C")), 12, '0'))::uuid END AS email_id
      FROM (
        SELECT *, CASE WHEN paused THEN 'paused' WHEN address_held THEN 'address_held' WHEN open_delivery IS NOT NULL OR reminded_today THEN 'already' ELSE 'write' END AS decision,
          count(*) OVER (PARTITION BY run_id) AS invoices
        FROM placed) judged
      WHERE invoices <= ${firstChunk}::int),
    emails AS (
      SELECT DISTINCT ON (email_id) email_id AS id, run_id, owner_id, deadline_at, client_email, currency, language
      FROM decided WHERE decision = 'write' ORDER BY email_id, due_date, invoice_id),
    large AS (SELECT run_id FROM facts GROUP BY run_id HAVING count(*) > ${firstChunk}::int),
    left_out AS (
      SELECT run_id, sum(CASE WHEN grouped AND NOT alone THEN 0 WHEN grouped THEN 1 ELSE invoices END)::int AS count
      FROM (SELECT run_id, grouped, place, bool_and(decision <> 'write') AS alone, count(*) FILTER (WHERE decision <> 'write') AS invoices FROM decided GROUP BY run_id, grouped, place) groups
      GROUP BY run_id),
    new_runs AS (
      INSERT INTO runs (id, owner_id, kind, local_date, created_at, deadline_at, grouped, planned_at, skipped)
      SELECT w.run_id, w.owner_id, 'daily', w.local_date, ${at}, w.deadline_at, w.grouped, CASE WHEN large.run_id IS NULL THEN ${at} END, coalesce(left_out.count, 0)
      FROM w LEFT JOIN large ON large.run_id = w.run_id LEFT JOIN left_out ON left_out.run_id = w.run_id),
    ${planned(at)},
    extended AS (
      UPDATE deliveries d SET deadline_at = greatest(d.deadline_at, o.deadline_at)
      FROM (SELECT open_delivery, max(deadline_at) AS deadline_at FROM decided WHERE decision = 'already' AND open_delivery IS NOT NULL GROUP BY open_delivery) o
      WHERE d.id = o.open_delivery),
    written AS (
      INSERT INTO decisions (owner_id, invoice_id, local_date, rule, delivery_id, decided_at)
      SELECT owner_id, invoice_id, local_date, 'mail', email_id, ${at} FROM decided WHERE decision = 'write'
      ON CONFLICT (invoice_id, local_date) DO UPDATE SET rule = 'mail', delivery_id = excluded.delivery_id, note = NULL, decided_at = excluded.decided_at)
    INSERT INTO decisions (owner_id, invoice_id, local_date, rule, delivery_id, note, decided_at)
    SELECT owner_id, invoice_id, local_date, CASE WHEN decision IN ('paused', 'address_held') THEN decision WHEN open_delivery IS NOT NULL THEN 'mail' ELSE 'already_reminded' END,
      CASE WHEN decision = 'already' THEN open_delivery END, CASE decision WHEN 'paused' THEN pause_note WHEN 'address_held' THEN client_email END, ${at}
    FROM decided WHERE decision <> 'write'
    ON CONFLICT (invoice_id, local_date) DO NOTHING`)
}
