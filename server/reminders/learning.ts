import { setImmediate } from 'node:timers/promises'
import { and, eq, sql } from 'drizzle-orm'
import { accounts } from '#server/accounts/tables.ts'
import { invoices } from '#server/invoices/tables.ts'
import { arrayText, type Database } from '#server/platform/database.ts'
import { type Hazard, Learner } from './hazard.ts'
import { causedFor, type Learned, readLearned } from './learned.ts'
import { type Choice, type DayNumber, dateOfDay, dayNumber, type PlanInvoice } from './plan.ts'
import { smartChoices } from './tables.ts'

/** What smart reminders of an account know on a day. */
export interface Learning {
  hazard: Hazard
  credit: number
  /** By invoice. */
  chosen: Map<string, Choice[]>
  /** Learns of the days before a date that these invoices stayed unpaid, as a simulation supposes. */
  until(date: DayNumber, open: readonly PlanInvoice[]): void
}

export async function readLearning(
  db: Database,
  { id, timezone }: { id: string; timezone: string },
  { today, learned }: { today: string; learned?: Learned | undefined },
): Promise<Learning> {
  const { watched, open } = learned ?? (await readLearned(db, { id, timezone, today }, { afterEmails: false }))
  const learner = new Learner()
  for (const [nth, one] of watched.entries()) {
    learner.add(one)
    // Other calls have their turn.
    if (nth % 10_000 === 9_999) await setImmediate()
  }
  const issued = new Map(open.map((one) => [one.id, one.from]))
  const [account] = await db.select({ credit: accounts.smartCredit }).from(accounts).where(eq(accounts.id, id))
  let over = dayNumber(today) - 1
  return {
    hazard: learner,
    credit: account?.credit ?? 0,
    chosen: await readChoices(db, id),
    until(date, unpaid) {
      for (over += 1; over < date; over += 1)
        for (const { id: invoiceId, clientKey, due, lastOn } of unpaid) {
          const late = over - due
          const isCaused = lastOn !== null && lastOn <= over && over - lastOn <= causedFor
          if (!isCaused && late >= (issued.get(invoiceId) ?? Number.POSITIVE_INFINITY)) learner.watch(clientKey, late)
        }
      over -= 1
    },
  }
}

async function readChoices(db: Database, ownerId: string): Promise<Map<string, Choice[]>> {
  const found = await db
    .select({ ...columns, invoiceId: smartChoices.invoiceId })
    .from(smartChoices)
    .innerJoin(invoices, eq(invoices.id, smartChoices.invoiceId))
    .where(and(eq(smartChoices.ownerId, ownerId), sql`${invoices.status} <> 'paid' AND ${invoices.deletedAt} IS NULL`))
  return new Map(
    [...Map.groupBy(found, ({ invoiceId }) => invoiceId)].map(([invoiceId, its]) => [
      invoiceId,
      its.map(({ step, day, p, reason }) => ({ step: dayNumber(step), day: dayNumber(day), p, reason })),
    ]),
  )
}

const columns = { step: smartChoices.stepDate, day: smartChoices.day, p: smartChoices.p, reason: smartChoices.reason }

/** Keeps what was chosen, and the credit that is left. The account's row must be locked. */
export async function keepChoices(tx: Database, ownerId: string, chosen: ReadonlyMap<PlanInvoice, Choice>, credit: number): Promise<void> {
  if (chosen.size === 0) return
  const all = [...chosen]
  const column = (of: (invoice: PlanInvoice, choice: Choice) => string) => arrayText(all.map(([invoice, choice]) => of(invoice, choice)))
  await tx.execute(sql`
    INSERT INTO smart_choices (owner_id, invoice_id, step_date, day, p, reason)
    SELECT ${ownerId}::uuid, c.* FROM unnest(${column(({ id }) => id)}::uuid[], ${column((_one, { step }) => dateOfDay(step))}::date[],
      ${column((_one, { day }) => dateOfDay(day))}::date[], ${column((_one, { p }) => String(p))}::float8[], ${column((_one, { reason }) => JSON.stringify(reason))}::jsonb[]) AS c
    ON CONFLICT (invoice_id, step_date) DO NOTHING`)
  await tx.update(accounts).set({ smartCredit: credit }).where(eq(accounts.id, ownerId))
}
