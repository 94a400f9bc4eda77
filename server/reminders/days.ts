import { sql } from 'drizzle-orm'
import { z } from 'zod'
import type { ReminderDay } from '#contract/leaving.ts'
import { type AccountRow, lockAsSeen } from '#server/accounts/accounts.ts'
import type { Account } from '#server/platform/answer.ts'
import type { Instant } from '#server/platform/clock.ts'
import { arrayText, type Database, rows } from '#server/platform/database.ts'
import type { Deps } from '#server/platform/deps.ts'
import { ProblemError } from '#server/platform/problem-error.ts'
import { reopen } from './leaving.ts'
import { addLeftOut, closeLeftOut, findDailyRun, readLeftOut, removeLeftOut } from './left-out.ts'
import { dayNumber } from './plan.ts'
import { dailyDeadline, localDate } from './schedule.ts'
import { readPlanOfDay } from './simulate.ts'
import { texts } from './texts.ts'

type ReadingDay = Pick<Deps, 'db' | 'config'> & { account: AccountRow; now: Instant }
type Acting = ReadingDay & Pick<Deps, 'queue'>
type Act = 'leave_out' | 'take_back'

/** Dates further ahead cannot be changed. */
const mostDays = 30

const dayMail = z.object({
  clientEmail: z.string(),
  clientName: z.string(),
  references: z.array(z.string()),
  state: z.enum(['leaves', 'left_out', 'gone']),
})
export type DayMail = z.output<typeof dayMail>

/** The emails of the daily run of a date: those that were made, or those of the plan. */
export async function readDay(reading: ReadingDay, date: string): Promise<DayMail[]> {
  const { db, account } = reading
  const run = await findDailyRun(db, account.id, date)
  if (run)
    return rows(
      db,
      dayMail,
      sql`SELECT d.client_email AS "clientEmail", (array_agg(i.client_name ORDER BY i.due_date, i.id))[1] AS "clientName", array_agg(i.reference ORDER BY i.due_date, i.id) AS "references",
            CASE WHEN d.state = 'superseded' THEN 'left_out' WHEN d.state IN ('sending', 'sent') OR d.pulled_by_run_id IS NOT NULL THEN 'gone' ELSE 'leaves' END AS state
          FROM deliveries d JOIN delivery_invoices x ON x.delivery_id = d.id JOIN invoices i ON i.id = x.invoice_id
          WHERE d.run_id = ${run.id}::uuid AND (d.state IN ('queued', 'retrying', 'held', 'sending', 'sent') OR (d.state = 'superseded' AND d.reason = 'left_out'))
          GROUP BY d.id ORDER BY d.id`,
    )
  const mails = await readPlanOfDay(reading, date)
  const out = (await readLeftOut(db, account, date)).get(dayNumber(date))
  return mails.map((mail) => ({ ...mail, state: out?.has(mail.clientEmail.toLowerCase()) ? 'left_out' : 'leaves' }))
}

/** By client, in the order of the emails. */
export function toClients(mails: DayMail[]): ReminderDay['clients'] {
  return [...Map.groupBy(mails, ({ clientEmail }) => clientEmail.toLowerCase()).values()].map((its) => ({
    clientName: its[0]?.clientName ?? '',
    clientEmail: its[0]?.clientEmail ?? '',
    references: its.flatMap(({ references }) => references),
    emails: its.length,
    leftOut: its.some(({ state }) => state === 'left_out') && !its.some(({ state }) => state === 'leaves'),
    gone: its.every(({ state }) => state === 'gone'),
  }))
}

export function toDay(date: string, mails: DayMail[]): ReminderDay {
  return { date, leave: mails.filter(({ state }) => state !== 'left_out').length, of: mails.length, clients: toClients(mails) }
}

/**
 * Leaves clients out of the daily run of a date, or takes them back; without their addresses all that it has. Refuses with `conflict` a date that is
 * over, and with `invalid` one too far ahead.
 */
export async function changeDay(
  acting: Acting & { account: Account },
  date: string,
  act: Act,
  clientEmails: string[] | undefined,
): Promise<ReminderDay> {
  const { db, account, now } = acting
  refuseOther(account, date, now)
  const keys = keysOf(await readDay(acting, date), clientEmails)
  const after = await db.transaction(async (tx) => {
    const locked = await lockAsSeen(tx, account)
    await changeClients({ ...acting, db: tx, account: locked }, date, act, keys)
    return { ...locked, leftOutUntil: date }
  })
  return toDay(date, await readDay({ ...acting, account: after }, date))
}

/** The clients of a date, by their address in lower case: all, or those of these addresses. */
export function keysOf(mails: DayMail[], clientEmails: string[] | undefined): string[] {
  const wanted = clientEmails && new Set(clientEmails.map((email) => email.toLowerCase()))
  const all = new Set(mails.map(({ clientEmail }) => clientEmail.toLowerCase()))
  return [...all].filter((key) => wanted?.has(key) ?? true)
}

/** The account's row must be locked. */
export async function changeClients({ db: tx, account, now, queue }: Acting, date: string, act: Act, keys: string[]): Promise<void> {
  if (keys.length === 0) return
  if (act === 'leave_out') {
    await addLeftOut(tx, account, date, keys)
    return closeLeftOut(tx, { ...account, leftOutUntil: date }, { localDate: date }, now)
  }
  await removeLeftOut(tx, account.id, date, keys)
  const run = await findDailyRun(tx, account.id, date)
  if (!run || run.cancelledAt !== null || Temporal.Instant.compare(now, run.deadlineAt) >= 0) return
  const ids = await leftOutOf(tx, run.id, keys)
  if (ids.length > 0) await reopen(tx, queue, run, ids, now)
}

/** The emails of a run that were left out, locked. */
async function leftOutOf(tx: Database, runId: string, keys: string[]): Promise<string[]> {
  const found = await rows(
    tx,
    z.object({ id: z.string() }),
    sql`SELECT d.id FROM deliveries d WHERE d.run_id = ${runId}::uuid AND d.pulled_by_run_id IS NULL AND d.state = 'superseded' AND d.reason = 'left_out'
          AND lower(d.client_email) = ANY(${arrayText(keys)}::text[]) ORDER BY d.id FOR UPDATE`,
  )
  return found.map(({ id }) => id)
}

function refuseOther({ timezone }: AccountRow, date: string, now: Instant): void {
  if (!z.iso.date().safeParse(date).success) throw new ProblemError('invalid', texts.leaving.noDate)
  if (Temporal.Instant.compare(now, dailyDeadline(date, timezone)) >= 0) throw new ProblemError('conflict', texts.leaving.over)
  if (dayNumber(date) - dayNumber(localDate(now, timezone)) > mostDays) throw new ProblemError('invalid', texts.leaving.tooFar(mostDays))
}
