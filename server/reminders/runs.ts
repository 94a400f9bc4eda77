import { and, eq, isNull, type SQL, sql } from 'drizzle-orm'
import { z } from 'zod'
import type { RunKind } from '#contract/reminders.ts'
import type { Wording } from '#contract/templates.ts'
import type { AccountRow } from '#server/accounts/accounts.ts'
import { accounts } from '#server/accounts/tables.ts'
import type { Instant } from '#server/platform/clock.ts'
import { instantText, newId } from '#server/platform/columns.ts'
import { arrayText, type Database, rows } from '#server/platform/database.ts'
import type { Queue } from '#server/platform/job.ts'
import { ProblemError } from '#server/platform/problem-error.ts'
import { cancel, close, extend, giveBack, handOver, invoicesOf, type PlannedMail, pending, plan, pullForward } from './deliveries.ts'
import { completeEarlierDays } from './earlier-days.ts'
import { noteRestored } from './holds.ts'
import { byHand, deliverJob } from './jobs.ts'
import { closeLeftOut } from './left-out.ts'
import { addressHeld, emailsOf, notRemindedSince, openEmailOf, ownLanguage, pausedOn } from './owed.ts'
import type { Rule } from './plan.ts'
import {
  dailyDeadline,
  dayBeforeOf,
  immediateDeadline,
  leavesAt,
  localDate,
  movedSummary,
  nextEvening,
  nextRun,
  owedFrom,
  startOfDay,
} from './schedule.ts'
import { planSteps, withFailedSteps, withReachedSteps } from './steps.ts'
import { type decisions, runs } from './tables.ts'
import { texts } from './texts.ts'
import { earliestStep, type PlanAccount } from './world.ts'

/** How many manual reminders an invoice gets a day. */
export const sendNowPerDay = 3
/** Emails of an account that were not sent, in so long, after which it makes no more runs by hand. */
const mostUnsent = 20_000
const unsentFor = { hours: 24 }
/** A run with more invoices is made empty, and planned in chunks while its first emails are being sent. */
export const firstChunk = 1_000
/** Invoices decided at a time after the first chunk, so that a large run neither blocks others nor delays its first email. */
const laterChunk = 5_000

/** What decides whether an invoice past due gets an email in a run. */
interface DueFacts {
  /** Its reminders, or those of its client, are paused today. */
  paused: boolean
  /** A mail server has permanently refused its address, and it has not been tried again since. */
  addressHeld: boolean
  /** An email about it was accepted today. */
  remindedToday: boolean
  /** The mail server permanently refused an email about it today, at the address it still has; or its owner left it out today. */
  refusedToday: boolean
  /** An email about it is pending or in flight. */
  openMail: boolean
  /** How many Send Now emails it had or has today. */
  byHandToday: number
}

/**
 * Invoices that are paused, or whose address is held, are never reminded. An invoice past due gets at most one email per local day from any trigger other than Send Now. Send
 * Now may write up to three a day, and pulls a pending email forward instead of adding one. The API trigger skips addresses refused today,
 * because a client that retries on failure would loop, and what was left out today.
 */
export function decide(kind: RunKind, facts: DueFacts): 'write' | 'pull' | LeftOut {
  if (facts.paused) return 'paused'
  if (facts.addressHeld) return 'address_held'
  if (kind === 'send_now') {
    if (facts.openMail) return 'pull'
    return facts.byHandToday < sendNowPerDay ? 'write' : 'already'
  }
  const refused = kind === 'trigger' && facts.refusedToday
  return facts.openMail || facts.remindedToday || refused ? 'already' : 'write'
}

/** Why an invoice past due gets no email in a run. */
export type LeftOut = 'already' | 'paused' | 'address_held'

/** What a run does about an invoice; null: nothing, and nothing is recorded, because it is not past due. */
type Decision = ReturnType<typeof decide> | Rule

type Run = typeof runs.$inferSelect

/** The account that a run is made for; its row is locked. */
type Locked = PlanAccount & Pick<AccountRow, 'groupByClient' | 'plansSteps'>

/**
 * Makes a run: its row and the first thousand of its emails; `planRun` makes the rest. The account's row must be locked. `retryOf` limits
 * it to the invoices whose email failed in that run. Returns null where the daily run of that date exists, or where a manual run has
 * nothing to send.
 */
export async function makeRun(
  tx: Database,
  queue: Queue,
  account: Locked,
  about: {
    kind: RunKind
    now: Instant
    retryOf?: string
    /** Only these invoices. */
    only?: string[] | undefined
    /** In place of the setting of the account. */
    groupByClient?: boolean | undefined
    /** The wording of its one email. */
    wording?: Wording | null
  },
): Promise<Run | null> {
  const { kind, now } = about
  if (kind !== 'daily') await refuseManyUnsent(tx, account.id, now)
  // Emails to other time zones are tried until the next run: what they are about has its turn again in it.
  if (account.plansSteps)
    await close(tx, {
      now,
      account: null,
      which: sql`d.owner_id = ${account.id}::uuid AND ${pending} AND d.deadline_at <= ${now.toString()}::timestamptz`,
    })
  const date = localDate(now, account.timezone)
  const [run] = await tx
    .insert(runs)
    .values({
      ownerId: account.id,
      kind,
      localDate: date,
      createdAt: now,
      deadlineAt: kind === 'daily' ? dailyDeadline(date, account.timezone) : immediateDeadline(now),
      leavesAt: kind === 'daily' ? leavesAt(account, now) : null,
      grouped: about.groupByClient ?? account.groupByClient,
      subject: about.wording?.subject ?? null,
      content: about.wording?.content ?? null,
      retryOf: about.retryOf ?? null,
    })
    .onConflictDoNothing()
    .returning()
  if (!run) return null
  const planned = about.only ? await planChosen(tx, account, run, about.only, now) : await planChunk(tx, account, run, now)
  if (planned === 0 && kind !== 'daily') {
    await tx.delete(runs).where(eq(runs.id, run.id))
    return null
  }
  await queue.send(tx, deliverJob, { ownerId: account.id }, kind === 'daily' ? 0 : byHand)
  return run
}

/** Refuses with `too_many` an account whose runs of a day have left so many emails unsent: each is stored, and no other limit counts them. */
async function refuseManyUnsent(tx: Database, ownerId: string, now: Instant): Promise<void> {
  const [found] = await rows(
    tx,
    z.object({ unsent: z.number(), oldest: instantText.nullable() }),
    sql`SELECT coalesce(sum(failed + dropped), 0)::int AS unsent, min(created_at) FILTER (WHERE failed + dropped > 0) AS oldest FROM runs
        WHERE owner_id = ${ownerId}::uuid AND created_at > ${now.subtract(unsentFor).toString()}::timestamptz`,
  )
  if (!found?.oldest || found.unsent < mostUnsent) return
  const seconds = Math.max(
    1,
    Math.ceil((Temporal.Instant.from(found.oldest).add(unsentFor).epochMilliseconds - now.epochMilliseconds) / 1000),
  )
  throw new ProblemError('too_many', texts.manyUnsent(mostUnsent, Math.ceil(seconds / 3600)), { retryAfter: seconds })
}

/** Plans a run of chosen invoices as a whole, because the choice is not stored. */
async function planChosen(tx: Database, account: Locked, run: Run, only: string[], now: Instant): Promise<number> {
  const chosen = new Set(only.map((id) => id.toLowerCase()))
  let planned = 0
  for (let open: Run | undefined = run; open; ) {
    planned += await planChunk(tx, account, open, now, chosen)
    ;[open] = await tx
      .select()
      .from(runs)
      .where(and(eq(runs.id, run.id), isNull(runs.plannedAt)))
  }
  return planned
}

/** Plans the next emails of an incomplete run and returns how many invoices that were. The account's row must be locked. */
export async function planRun(tx: Database, account: Locked, runId: string, now: Instant): Promise<number> {
  const [run] = await tx
    .select()
    .from(runs)
    .where(and(eq(runs.id, runId), isNull(runs.plannedAt), isNull(runs.cancelledAt)))
  return run ? planChunk(tx, account, run, now) : 0
}

const candidate = z.object({
  id: z.string(),
  /** Its position in the order of the run. */
  place: z.string(),
  /** The client's address, the currency, and the language where it is not that of the client: what one grouped email is for. */
  groupKey: z.string(),
  paused: z.boolean(),
  addressHeld: z.boolean(),
  remindedToday: z.boolean(),
  refusedToday: z.boolean(),
  openDelivery: z.string().nullable(),
  byHandToday: z.number(),
})
type Candidate = z.output<typeof candidate>
type Decided = Candidate & { decision: Decision }

/** Decides the next invoices past due and returns how many there were. */
async function planChunk(tx: Database, account: Locked, run: Run, now: Instant, only?: ReadonlySet<string>): Promise<number> {
  const { found, last } = await readCandidates(tx, account, run, only)
  const { decisions: decided, mails } = await (account.plansSteps
    ? decideSteps(tx, account, run, { found, only, now })
    : decideAll(run, found, only))
  if ((await plan(tx, run, mails, now)) > 0) await noteRestored(tx, run.ownerId, run.id, now)
  const pulled = decided.flatMap(({ decision, openDelivery }) => (decision === 'pull' && openDelivery ? [openDelivery] : []))
  await pullForward(tx, run, pulled, now)
  if (isScheduled(run))
    await extend(
      tx,
      run,
      decided.flatMap(({ decision, openDelivery }) => (decision === 'already' && openDelivery ? [openDelivery] : [])),
    )
  await recordDecisions(tx, run, { mails, others: decided.filter(({ decision }) => decision !== null && isLeftOut(decision)) }, now)
  await tx
    .update(runs)
    .set({
      skipped: sql`${runs.skipped} + ${countLeftOut(decided, run)}`,
      ...(last === null ? { plannedAt: now } : { cursor: last }),
    })
    .where(eq(runs.id, run.id))
  if (run.kind === 'daily') await closeLeftOut(tx, account, run, now)
  if (last === null && run.kind === 'daily') await completeEarlierDays(tx, [{ ...account, date: run.localDate }], now)
  return found.length
}

function decideAll(run: Run, found: Candidate[], only?: ReadonlySet<string>): { decisions: Decided[]; mails: PlannedMail[] } {
  const decisions = found.map((one): Decided => {
    const decision = decide(run.kind, { ...one, openMail: one.openDelivery !== null })
    return { ...one, decision: decision === 'write' && only?.has(one.id) === false ? 'left_out' : decision }
  })
  const write = decisions.filter(({ decision }) => decision === 'write')
  return { decisions, mails: toMails(write, run.grouped) }
}

/** The same where an invoice may have a sequence. What is sent by hand is about everything past due, in the words of the step reached. */
async function decideSteps(
  tx: Database,
  account: Locked,
  run: Run,
  { found, only, now }: { found: Candidate[]; only: ReadonlySet<string> | undefined; now: Instant },
): Promise<{ decisions: Decided[]; mails: PlannedMail[] }> {
  const { kind } = run
  if (kind === 'send_now' || kind === 'retry') {
    const { decisions, mails } = decideAll(run, found)
    return {
      decisions,
      mails: run.retryOf ? await withFailedSteps(tx, run.retryOf, mails) : await withReachedSteps(tx, account, run, mails),
    }
  }
  const refusedToday = new Set(found.flatMap((one) => (one.refusedToday ? one.id : [])))
  const { mails, rules } = await planSteps(
    tx,
    account,
    { ...run, kind },
    { invoiceIds: found.map(({ id }) => id), only, refusedToday, now },
  )
  return { decisions: found.map((one) => ({ ...one, decision: rules.has(one.id) ? (rules.get(one.id) ?? null) : 'write' })), mails }
}

/** How many emails were skipped: one per invoice left out; grouped, one per client and currency whose invoices are all left out. */
function countLeftOut(all: Decided[], { kind, grouped }: Run): number {
  const leftOut = ({ decision }: Decided) => isLeftOut(decision)
  // What was not chosen for a run was not skipped by it.
  const decisions = all.filter(({ decision }) => !isNotDue(decision) && (kind === 'daily' || decision !== 'left_out'))
  if (!grouped) return decisions.filter(leftOut).length
  return [...Map.groupBy(decisions, ({ groupKey }) => groupKey).values()].filter((group) => group.every(leftOut)).length
}

function isLeftOut(decision: Decision): boolean {
  return decision !== 'write' && decision !== 'pull'
}

/** Its sequence has no email for this day: none was skipped. */
function isNotDue(decision: Decision): boolean {
  return decision === null || ['no_step', 'gap', 'quiet', 'ended', 'never'].includes(decision)
}

/**
 * The next invoices past due in the order of the run. Carry-over of the last run first: of what was not written about last time. One email per invoice: then the
 * oldest due date. Grouped: then client by client and currency by currency, and no such group is split. `last` is null where the run is complete.
 */
async function readCandidates(
  tx: Database,
  account: Locked,
  run: Run,
  only: ReadonlySet<string> | undefined,
): Promise<{ found: Candidate[]; last: string | null }> {
  const today = run.localDate
  const dayBegan = startOfDay(today, account.timezone).toString()
  const dayBefore = startOfDay(dayBeforeOf(today), account.timezone).toString()
  // An email sent meanwhile by this same run must not move its invoice in the order.
  const wroteLastTime = sql`coalesce(i.last_reminder_at >= ${dayBefore}::timestamptz AND i.last_reminder_at < ${run.createdAt.toString()}::timestamptz, false)`
  const groupKey = sql`concat_ws(' ', lower(i.client_email), i.currency, ${ownLanguage})`
  // Of what is past due, as in the statement of daily-runs.ts.
  const wroteToGroup = sql`bool_or(${wroteLastTime} AND i.due_date < ${today}::date) OVER (PARTITION BY ${groupKey} COLLATE "C")`
  const place = run.grouped
    ? sql`concat_ws(' ', CASE WHEN ${wroteToGroup} THEN 1 ELSE 0 END, ${groupKey})`
    : sql`concat_ws(' ', CASE WHEN ${wroteLastTime} THEN 1 ELSE 0 END, i.due_date, i.id)`
  const byHand =
    run.kind === 'send_now'
      ? sql`(SELECT count(*)::int FROM ${emailsOf} WHERE r.kind = 'send_now' AND r.local_date = ${today}::date AND d.state IN ('queued', 'sending', 'sent', 'retrying', 'held') AND d.bounced_at IS NULL)`
      : sql`0`
  const refusedToday =
    run.kind === 'trigger'
      ? sql`((i.refusal IS NOT NULL AND EXISTS (SELECT 1 FROM ${emailsOf}
             WHERE d.state = 'failed' AND d.reason = 'refused' AND d.created_at >= ${dayBegan}::timestamptz))
           OR EXISTS (SELECT 1 FROM decisions l WHERE l.invoice_id = i.id AND l.local_date = ${today}::date AND l.rule = 'left_out' AND l.delivery_id IS NOT NULL))`
      : sql`false`
  const failedThere = run.retryOf
    ? sql`AND i.id IN (SELECT f.invoice_id FROM delivery_invoices f JOIN deliveries d ON d.id = f.delivery_id
          WHERE ${run.retryOf}::uuid IN (d.run_id, d.pulled_by_run_id) AND d.state = 'failed' AND ${notRemindedSince})`
    : sql``
  // Steps may leave before the due date.
  const from =
    account.plansSteps && run.kind !== 'send_now'
      ? sql`i.due_date <= ${today}::date + ${earliestStep}::int`
      : sql`i.due_date < ${today}::date`
  // The other runs record or count why the others get none.
  const chosen = only && run.kind === 'send_now' ? sql`AND i.id = ANY(${arrayText([...only])}::uuid[])` : sql``
  const read = (where: SQL, most: SQL) =>
    rows(
      tx,
      candidate,
      sql`SELECT * FROM (
            SELECT i.id, i.due_date, ${place} AS place, ${groupKey} AS "groupKey", ${pausedOn(today)} AS paused, ${addressHeld} AS "addressHeld",
              coalesce(i.last_reminder_at >= ${dayBegan}::timestamptz, false) AS "remindedToday", ${refusedToday} AS "refusedToday", o.id AS "openDelivery", ${byHand} AS "byHandToday"
            FROM invoices i LEFT JOIN ${openEmailOf} ON true
            WHERE i.owner_id = ${account.id} AND i.deleted_at IS NULL AND i.status <> 'paid' AND ${from} ${failedThere} ${chosen}) i
          WHERE ${where} ORDER BY place COLLATE "C", i.due_date, i.id ${most}`,
    )
  const chunk = run.cursor === null ? firstChunk : laterChunk
  const behind = run.cursor === null ? sql`true` : sql`place COLLATE "C" > ${run.cursor}`
  const found = await read(behind, sql`LIMIT ${chunk + 1}`)
  if (found.length <= chunk) return { found, last: null }
  if (!run.grouped) {
    found.pop()
    return { found, last: found.at(-1)?.place ?? null }
  }
  const tail = found.at(-1)?.place
  const whole = found.filter((one) => one.place !== tail)
  if (whole.length > 0) return { found: whole, last: whole.at(-1)?.place ?? null }
  return { found: await read(sql`place = ${tail}`, sql``), last: tail ?? null }
}

/** One email per invoice, or one per client and currency. Ids ascend in the given order, so that the first of the run is sent first. */
function toMails(write: Candidate[], grouped: boolean): PlannedMail[] {
  const groups = grouped ? [...Map.groupBy(write, ({ groupKey }) => groupKey).values()] : write.map((one) => [one])
  const ids = groups.map(() => newId()).sort()
  return groups.map((group, nth) => ({ deliveryId: ids[nth] ?? newId(), invoiceIds: group.map(({ id }) => id) }))
}

/**
 * The decision log: scheduled runs (daily, and the one that Start makes) write a row for every invoice past due; a manual email later that
 * day replaces that row.
 */
async function recordDecisions(tx: Database, run: Run, decided: { mails: PlannedMail[]; others: Decided[] }, now: Instant): Promise<void> {
  const scheduled = isScheduled(run)
  const at = now.toString()
  if (decided.mails.length > 0 && scheduled)
    await tx.execute(sql`
      INSERT INTO decisions (owner_id, invoice_id, local_date, rule, delivery_id, note, decided_at)
      SELECT ${run.ownerId}::uuid, pair.invoice_id, ${run.localDate}::date, 'mail', pair.delivery_id, pair.note, ${at}::timestamptz
      FROM ${invoicesOf(decided.mails)} JOIN invoices i ON i.id = pair.invoice_id WHERE i.due_date < ${run.localDate}::date
      ON CONFLICT (invoice_id, local_date) DO UPDATE SET rule = 'mail', delivery_id = excluded.delivery_id, note = excluded.note, decided_at = excluded.decided_at`)
  if (decided.mails.length > 0 && !scheduled)
    await tx.execute(sql`
      UPDATE decisions x SET rule = 'mail', delivery_id = pair.delivery_id, note = NULL, decided_at = ${at}::timestamptz
      FROM ${invoicesOf(decided.mails)} WHERE x.invoice_id = pair.invoice_id AND x.local_date = ${run.localDate}::date`)
  if (decided.others.length > 0 && scheduled)
    await tx.execute(sql`
      INSERT INTO decisions (owner_id, invoice_id, local_date, rule, delivery_id, note, decided_at)
      SELECT ${run.ownerId}::uuid, one.invoice_id, ${run.localDate}::date, one.rule, one.delivery_id,
        CASE one.rule WHEN 'paused' THEN coalesce(nullif(i.pause_note, ''), nullif(c.pause_note, '')) WHEN 'address_held' THEN i.client_email WHEN 'refused' THEN i.client_email END, ${at}::timestamptz
      FROM unnest(${arrayText(decided.others.map(({ id }) => id))}::uuid[], ${arrayText(decided.others.map(ruleOf))}::text[],
        ${arrayText(decided.others.map((one) => (ruleOf(one) === 'mail' ? one.openDelivery : null)))}::uuid[]) AS one(invoice_id, rule, delivery_id)
      JOIN invoices i ON i.id = one.invoice_id LEFT JOIN client_pauses c ON c.owner_id = i.owner_id AND c.client_key = lower(i.client_email)
      ON CONFLICT (invoice_id, local_date) DO NOTHING`)
}

/** An invoice with a pending email points to it, so that its day shows the outcome of that email. */
function ruleOf({ decision, openDelivery }: Decided): (typeof decisions.$inferSelect)['rule'] {
  if (decision !== null && decision !== 'write' && decision !== 'pull' && decision !== 'already') return decision
  return openDelivery === null ? 'already_reminded' : 'mail'
}

/** The daily run, and the one that Start makes. */
function isScheduled({ kind }: Run): boolean {
  return kind === 'daily' || kind === 'start'
}

/** After a change of time zone or hour, the run that is due keeps its date, at its new instant. */
export async function reschedule(tx: Database, before: AccountRow, after: AccountRow, now: Instant): Promise<void> {
  const nextSummaryAt = before.nextSummaryAt && movedSummary(before.nextSummaryAt, after.timezone)
  const nextEveningAt = before.nextEveningAt && nextEvening(after.timezone, now)
  await tx.update(accounts).set({ scheduleChangedAt: now, nextSummaryAt, nextEveningAt }).where(eq(accounts.id, before.id))
  if (!before.remindersActive || !before.nextRunAt) return
  const notBefore = owedFrom({ ...before, nextRunAt: before.nextRunAt })
  const next = nextRun(after, { now, notBefore, lastRunAt: before.lastDailyRunAt })
  await tx.update(accounts).set({ nextRunAt: next.at }).where(eq(accounts.id, before.id))
}

/**
 * Cancels every run `r` of an account that matches and is open, or would send again what is not owed at the moment; emails in flight are still sent. An email of another run that it had pulled forward is that run's
 * again, and one on which the run of the day counts is that run's. Returns how many emails were cancelled.
 */
export async function cancelRuns(tx: Database, ownerId: string, which: SQL, now: Instant): Promise<number> {
  const cancelled = await rows(
    tx,
    z.object({ id: z.string() }),
    sql`UPDATE runs r SET cancelled_at = ${now.toString()}::timestamptz
    WHERE r.owner_id = ${ownerId}::uuid AND r.cancelled_at IS NULL AND ${which}
      AND (r.planned_at IS NULL OR EXISTS (SELECT 1 FROM deliveries d WHERE r.id IN (d.run_id, d.pulled_by_run_id)
        AND (d.state IN ('queued', 'sending', 'retrying', 'held') OR (d.state = 'superseded' AND d.reason = 'not_owed' AND d.deadline_at > ${now.toString()}::timestamptz))))
    RETURNING r.id`,
  )
  const ids = cancelled.map(({ id }) => id)
  if (ids.length > 0) {
    await giveBack(tx, sql`d.owner_id = ${ownerId}::uuid AND d.pulled_by_run_id = ANY(${arrayText(ids)}::uuid[])`)
    await handOver(tx, ownerId, ids, now)
  }
  return cancel(tx, ownerId)
}
