import { sql } from 'drizzle-orm'
import { z } from 'zod'
import { fromMinor } from '#contract/money.ts'
import type { PreviewLine } from '#contract/reminders.ts'
import type { AccountRow } from '#server/accounts/accounts.ts'
import { notify } from '#server/accounts/notices.ts'
import { balanceMinor } from '#server/invoices/balance.ts'
import { invoices } from '#server/invoices/tables.ts'
import type { Instant } from '#server/platform/clock.ts'
import { newId } from '#server/platform/columns.ts'
import { arrayText, type Database, rows } from '#server/platform/database.ts'
import type { Quiet } from './calendars.ts'
import type { PlannedMail } from './deliveries.ts'
import { stepReached } from './due-steps.ts'
import { keepChoices } from './learning.ts'
import type { Outlook } from './outlook.ts'
import {
  dateOfDay,
  dayNumber,
  isLeftOut,
  laterInstant,
  openNext,
  type PlanInvoice,
  type PlanMail,
  plan,
  type Rule,
  type StepDue,
} from './plan.ts'
import { dayAfter, localDate, nextRun } from './schedule.ts'
import type { runs } from './tables.ts'
import { texts } from './texts.ts'
import { type PlanAccount, readWorld } from './world.ts'

type Run = Pick<typeof runs.$inferSelect, 'id' | 'createdAt' | 'leavesAt' | 'ownerId' | 'localDate' | 'grouped' | 'retryOf'> & {
  kind: 'daily' | 'start' | 'trigger'
}

/** What `plan` decides about these invoices in a run: its emails, and why the other invoices get none. */
export async function planSteps(
  tx: Database,
  account: PlanAccount,
  run: Run,
  about: { invoiceIds: string[]; only: ReadonlySet<string> | undefined; refusedToday: ReadonlySet<string>; now: Instant },
): Promise<{ mails: PlannedMail[]; rules: Map<string, Rule> }> {
  const { invoiceIds, only, refusedToday, now } = about
  const read = await readWorld(tx, account, {
    which: sql`i.id = ANY(${arrayText(invoiceIds)}::uuid[])`,
    today: run.localDate,
    now,
    grouped: run.grouped,
  })
  const place = new Map(invoiceIds.map((id, nth) => [id, nth]))
  const inOrder = read.invoices.toSorted((one, other) => (place.get(one.id) ?? 0) - (place.get(other.id) ?? 0))
  const invoicesOfRun = inOrder.map((one) => ({ ...one, refusedToday: refusedToday.has(one.id), notChosen: only?.has(one.id) === false }))
  // Emails of clients that are left out are made and closed, so that they can be taken back.
  const world = { ...read, leftOut: new Map(), invoices: invoicesOfRun }
  const next = nextRun(account, { now, notBefore: dayAfter(run.localDate), lastRunAt: null })
  const planned = plan(world, { date: dayNumber(run.localDate), kind: run.kind, at: laterInstant(run.leavesAt ?? now, now), next: next.at })
  const rules = new Map([...planned.rules].map(([{ id }, rule]) => [id, rule]))
  await keepChoices(tx, account.id, planned.chosen, planned.next.smart?.credit ?? 0)
  await endSequences(
    tx,
    run,
    [...rules].flatMap(([id, rule]) => (rule === 'ended' ? id : [])),
    now,
  )
  const ids = planned.mails.map(() => newId()).sort()
  return { mails: planned.mails.map((mail, nth) => toPlannedMail(ids[nth] ?? newId(), mail)), rules }
}

function toPlannedMail(deliveryId: string, { invoices: about, step, at, until, date }: PlanMail): PlannedMail {
  return {
    deliveryId,
    invoiceIds: about.map(({ invoice }) => invoice.id),
    step: isOfTemplate(step) ? null : { sequenceId: step.sequence, offset: step.offset, date: dateOfDay(step.date) },
    steps: about.map((one) => ({ date: isOfTemplate(one.step) ? null : dateOfDay(one.step.date), note: noteOf(one.step) })),
    leaves: { at, until, clientDate: until && dateOfDay(date) },
  }
}

function isOfTemplate({ sequence }: Pick<StepDue, 'sequence'>): boolean {
  return sequence === 'every_day'
}

function noteOf({ number, overtaken }: StepDue): string | null {
  return number === null || overtaken.length === 0 ? null : texts.day.overtaken(overtaken, number)
}

/**
 * The steps of emails that are sent by hand: the one reached of each invoice, in the words of the mildest, which are true of all. They count as
 * none, so that the sequence continues as it would have.
 */
export async function withReachedSteps(
  tx: Database,
  account: PlanAccount,
  { localDate, createdAt: now }: Pick<Run, 'localDate' | 'createdAt'>,
  mails: PlannedMail[],
): Promise<PlannedMail[]> {
  const which = sql`i.id = ANY(${arrayText(mails.flatMap(({ invoiceIds }) => invoiceIds))}::uuid[])`
  const world = await readWorld(tx, { ...account, smart: false }, { which, today: localDate, now, grouped: false })
  const byId = new Map(world.invoices.map((invoice) => [invoice.id, invoice]))
  const reachedBy = (invoice: PlanInvoice | undefined) => {
    const sequence = invoice && world.sequences.get(invoice.sequence)
    const reached = sequence && stepReached(invoice, sequence, dayNumber(localDate))
    return reached ? { ...reached, sequenceId: invoice.sequence } : null
  }
  return mails.map((mail) => {
    const reached = mail.invoiceIds.map((id) => reachedBy(byId.get(id)))
    const [mildest] = reached
      .flatMap((one) => one ?? [])
      .toSorted((one, other) => tones.indexOf(one.tone) - tones.indexOf(other.tone) || other.offset - one.offset)
    // Words of a sequence would not be those that the other clients of the template know.
    const step =
      mildest && reached.every((one) => one !== null) ? { sequenceId: mildest.sequenceId, offset: mildest.offset, date: null } : null
    return { ...mail, step }
  })
}

type Steps = Pick<PreviewLine, 'sequence' | 'step' | 'movedFrom' | 'why' | 'atClient'>

/** Of a line whose account reminds every day. */
export const everyDay: Steps = { sequence: 'every_day', step: null, movedFrom: null, why: null, atClient: null }

/** What Start would send and what comes next, where invoices may have a sequence: as `plan` says. */
export async function readNextSteps(
  db: Database,
  account: AccountRow,
  about: { now: Instant; today: string; outlook: Outlook; only: string[] | undefined },
) {
  const { now, today, outlook, only } = about
  const which = only === undefined ? sql`true` : sql`i.id = ANY(${arrayText(only)}::uuid[])`
  const world = await readWorld(db, account, { which, today, now, grouped: account.groupByClient })
  const { mails, rules } = plan(world, { date: dayNumber(today), kind: 'start', at: now, next: now })
  const due = new Map(mails.flatMap(({ invoices: listed }) => listed.map(({ invoice, step }) => [invoice.id, step] as const)))
  const byId = new Map(world.invoices.map((invoice) => [invoice.id, invoice]))
  const findNext = openNext(world)
  const t = texts.nextStep
  return {
    dueNow: (id: string) => due.has(id),
    next(id: string, clientName: string): Partial<PreviewLine> & Steps {
      const invoice = byId.get(id)
      if (!invoice) return everyDay
      const { sequence } = invoice
      const own = world.sequences.get(sequence)
      const shown = (step: StepDue | undefined): Steps['step'] =>
        own && step && step.number !== null ? { number: step.number, of: own.steps.length, offset: step.offset, tone: step.tone } : null
      // What Start would send, where nothing is scheduled.
      const said = { ...everyDay, sequence, step: shown(due.get(id)) }
      const isWaiting = invoice.addressHeld || invoice.openMail || (invoice.pause && invoice.pause.until === null)
      if (isWaiting || outlook.state !== 'active') return said
      const from = dayNumber(outlook.date)
      const found = findNext(invoice, from)
      if (!found)
        return {
          ...said,
          step: null,
          nextAt: null,
          reason: sequence === 'never' ? 'never' : 'ended',
          why: sequence === 'never' ? null : t.over,
        }
      const { date, step } = found
      const at = found.at ?? (date === from ? outlook.at : nextRun(account, { now, notBefore: dateOfDay(date), lastRunAt: null }).at)
      const sentOn = localDate(at, account.timezone)
      const isGap = own !== undefined && rules.get(invoice) === 'gap'
      const isOut = [...(world.leftOut?.keys() ?? [])].findLast((day) => day >= from && day < date && isLeftOut(world, day, invoice))
      return {
        ...said,
        nextAt: at.toString(),
        atClient: clockElsewhere(at, account.timezone, world.clients.get(invoice.clientKey)?.timezone ?? null),
        reason: invoice.pause ? 'paused' : null,
        step: shown(step),
        movedFrom: step.number !== null && step.since !== step.date ? dateOfDay(step.date) : null,
        why:
          isOut !== undefined
            ? t.leftOut(dateOfDay(isOut))
            : isGap
              ? t.gap(sentOn, own.atLeast)
              : whyOn(step, { clientKey: invoice.clientKey, clientName, date: sentOn, say: world.say }),
      }
    },
  }
}

/** The time on the clock of another zone, if it is another one: 9:00. */
function clockElsewhere(at: Instant, home: string, zone: string | null): string | null {
  if (zone === null) return null
  const [there, here] = [zone, home].map((one) => at.toZonedDateTimeISO(one).toPlainDateTime())
  return there && here && !there.equals(here) ? `${there.hour}:${String(there.minute).padStart(2, '0')}` : null
}

/** Why a step leaves on a date: a quiet day, or what smart reminders chose. */
export function whyOn(
  { number, date: planned, since, choice }: StepDue,
  { clientKey, clientName, date, say }: { clientKey: string; clientName: string; date: string; say: Quiet['say'] | null },
): string | null {
  if (number === null) return null
  const quiet = since === (choice?.day ?? planned) ? null : say?.(clientKey, dateOfDay(choice?.day ?? planned))
  return quiet ?? (choice ? texts.smart.reason(choice.reason, clientName, date) : null)
}

const tones = ['friendly', 'firm', 'final']

const failedStep = z.object({
  invoiceId: z.string(),
  sequenceId: z.string().nullable(),
  offset: z.number().nullable(),
  date: z.string().nullable(),
  own: z.string().nullable(),
})

/** The emails of a run that repeats failed ones: each has the step that its invoice had there. */
export async function withFailedSteps(tx: Database, retryOf: string, mails: PlannedMail[]): Promise<PlannedMail[]> {
  const found = await rows(
    tx,
    failedStep,
    sql`SELECT x.invoice_id AS "invoiceId", d.sequence_id AS "sequenceId", d.step_offset AS "offset", d.step_date::text AS date, x.step_date::text AS own
        FROM deliveries d JOIN delivery_invoices x ON x.delivery_id = d.id
        WHERE ${retryOf}::uuid IN (d.run_id, d.pulled_by_run_id) AND d.state = 'failed'`,
  )
  const byInvoice = new Map(found.map((one) => [one.invoiceId, one]))
  return mails.map((mail) => {
    const failed = mail.invoiceIds.flatMap((id) => byInvoice.get(id) ?? [])
    const first = failed.find(({ sequenceId }) => sequenceId !== null)
    const step =
      first?.sequenceId != null && first.offset !== null ? { sequenceId: first.sequenceId, offset: first.offset, date: first.date } : null
    return { ...mail, step, steps: mail.invoiceIds.map((id) => ({ date: byInvoice.get(id)?.own ?? null, note: null })) }
  })
}

/** Notifies the owner once of invoices whose sequence is over. */
async function endSequences(tx: Database, run: Run, ids: string[], now: Instant): Promise<void> {
  if (run.kind === 'trigger' || ids.length === 0) return
  const ended = await tx
    .update(invoices)
    .set({ sequenceEndedOn: run.localDate, updatedAt: now })
    .where(sql`${invoices.id} = ANY(${arrayText(ids)}::uuid[]) AND ${invoices.sequenceEndedOn} IS NULL`)
    .returning()
  // Of a sequence without a step that was left there is nothing to report.
  for (const row of ended.filter(({ remindersSent }) => remindersSent > 0).slice(0, mostNotices)) {
    const t = texts.sequenceEnded
    const owed = { currency: row.currency, amount: fromMinor(balanceMinor(row), row.currency) }
    await notify(
      tx,
      run.ownerId,
      {
        kind: 'sequence_ended',
        cause: row.id,
        summary: t.summary(row.clientName),
        title: t.title(row.clientName, row.reference),
        text: t.text(owed, row.remindersSent),
        link: `/dashboard/edit-invoice/${row.id}`,
        clients: [{ clientName: row.clientName, invoiceId: row.id, reference: row.reference }],
      },
      now,
    )
  }
}

/** As many as the list of notices has. */
const mostNotices = 50
