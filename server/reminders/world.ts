import { and, eq, type SQL, sql } from 'drizzle-orm'
import { z } from 'zod'
import type { OwnDay } from '#contract/quiet-days.ts'
import type { AccountRow } from '#server/accounts/accounts.ts'
import { sequences } from '#server/invoices/tables.ts'
import type { Instant } from '#server/platform/clock.ts'
import { arrayText, type Database, rows } from '#server/platform/database.ts'
import { type Move, type Quiet, type QuietAccount, readQuiet } from './calendars.ts'
import type { Learned } from './learned.ts'
import { type Learning, readLearning } from './learning.ts'
import { readLeftOut } from './left-out.ts'
import { addressHeld, openEmailOf } from './owed.ts'
import { type DayNumber, dayNumber, groupKey, type PlanInvoice, type PlanSequence, type World } from './plan.ts'
import { lastHour } from './schedule.ts'
import { sequenceSteps } from './tables.ts'

/** What `plan` must know of an account. */
export type PlanAccount = QuietAccount &
  Pick<AccountRow, 'reminderHour' | 'holdMinutes' | 'follows' | 'sequenceId' | 'leftOutUntil' | 'smart' | 'smartDays'>

/** What is chosen for an invoice and its client. Of a sequence an id or a built-in one; null: the next one applies. */
export interface Choices {
  clientId: string | null
  own: string | null
  ofClient: string | null
  /** Whether smart reminders may move its steps. */
  smart: boolean
  smartOfClient: boolean
}

/** The choice of an invoice `i`, and that of its client `k`. */
const ownChoice = sql`CASE WHEN i.follows <> 'inherit' THEN coalesce(i.sequence_id::text, i.follows) END`
const choiceOfClient = sql`CASE WHEN k.follows <> 'inherit' THEN coalesce(k.sequence_id::text, k.follows) END`
const ofAccount = ({ follows, sequenceId }: Pick<PlanAccount, 'follows' | 'sequenceId'>) => sequenceId ?? follows

/** Steps leave at most 60 days before the due date, and some days earlier where those are quiet. */
export const earliestStep = 60 + 366

const invoiceRow = z.object({
  id: z.string(),
  clientKey: z.string(),
  currency: z.string(),
  language: z.string(),
  due: z.string(),
  clientId: z.string().nullable(),
  own: z.string().nullable(),
  ofClient: z.string().nullable(),
  through: z.string().nullable(),
  lastAt: z.number().nullable(),
  sent: z.number(),
  promisedUntil: z.string().nullable(),
  paused: z.boolean(),
  pausedUntil: z.string().nullable(),
  addressHeld: z.boolean(),
  openMail: z.boolean(),
  /** Once that email is accepted: up to which date it deals with steps, and whether it is one. */
  openThrough: z.string().nullable(),
  openStep: z.boolean(),
  smart: z.boolean(),
  smartOfClient: z.boolean(),
})

/** An invoice of a world as it is stored, whatever the settings of the account are. */
export type StoredInvoice = z.output<typeof invoiceRow>

/** The invoices `i` of an account that match and are not paid, by their due date. */
export function readStored(db: Database, ownerId: string, which: SQL): Promise<StoredInvoice[]> {
  return rows(
    db,
    invoiceRow,
    sql`SELECT i.id, lower(i.client_email) AS "clientKey", i.currency, coalesce(i.language, k.language, (SELECT a.language FROM accounts a WHERE a.id = ${ownerId}::uuid)) AS language, i.due_date::text AS due, k.id AS "clientId", ${ownChoice} AS own, ${choiceOfClient} AS "ofClient", i.reminded_through::text AS through,
          (extract(epoch FROM i.last_reminder_at) * 1000)::float8 AS "lastAt", i.steps_sent AS sent,
          greatest(i.promised_until, CASE WHEN i.pause_promised THEN i.paused_until END, CASE WHEN p.pause_promised THEN p.paused_until END)::text AS "promisedUntil",
          i.paused_at IS NOT NULL OR p.client_key IS NOT NULL AS paused,
          CASE WHEN (i.paused_at IS NULL OR i.paused_until IS NOT NULL) AND (p.client_key IS NULL OR p.paused_until IS NOT NULL) THEN greatest(i.paused_until, p.paused_until)::text END AS "pausedUntil",
          ${addressHeld} AS "addressHeld", o.id IS NOT NULL AS "openMail", greatest(o.deals_through, o.own_step)::text AS "openThrough", o.own_step IS NOT NULL AS "openStep",
          i.smart, coalesce(k.smart, true) AS "smartOfClient"
        FROM invoices i
        LEFT JOIN clients k ON k.owner_id = i.owner_id AND k.email_key = lower(i.client_email)
        LEFT JOIN client_pauses p ON p.owner_id = i.owner_id AND p.client_key = lower(i.client_email)
        LEFT JOIN ${openEmailOf} ON true
        WHERE i.owner_id = ${ownerId}::uuid AND i.deleted_at IS NULL AND i.status <> 'paid' AND ${which}
        ORDER BY i.due_date, i.id`,
  )
}

/** The world of `plan` with the invoices that match, or with `stored`. `choose` replaces what is chosen for an invoice. */
export async function readWorld(
  db: Database,
  account: PlanAccount,
  about: {
    which?: SQL
    stored?: StoredInvoice[]
    today: string
    now: Instant
    grouped: boolean
    choose?: (invoiceId: string, choices: Choices) => Choices
    /** In place of those of the account. */
    ownDays?: OwnDay[] | undefined
    /** Where clients would live, by their ids. */
    moved?: ReadonlyMap<string, Move> | undefined
    /** What smart reminders learn from, where it is read already. */
    learned?: Learned | undefined
  },
): Promise<World & Pick<Quiet, 'say'> & { learning: Learning | null }> {
  const found = about.stored ?? (await readStored(db, account.id, about.which ?? sql`true`))
  const quiet = await readQuiet(db, account, { own: about.ownDays, moved: about.moved })
  const dayOf = dayAt(account, quiet)
  const learning = account.smart ? await readLearning(db, account, about) : null
  const { choose = (_invoiceId: string, choices: Choices) => choices } = about
  const invoices = found.map(({ lastAt, paused, pausedUntil, clientId, own, ofClient, smart, smartOfClient, ...one }): PlanInvoice => {
    const chosen = choose(one.id, { clientId, own, ofClient, smart, smartOfClient })
    const promisedUntil = one.promisedUntil === null ? null : dayNumber(one.promisedUntil)
    const isSmart = chosen.smart && chosen.smartOfClient
    return {
      ...one,
      due: dayNumber(one.due),
      sequence: chosen.own ?? chosen.ofClient ?? ofAccount(account),
      through: one.through === null ? null : dayNumber(one.through),
      lastOn: lastAt === null ? null : dayOf(one.clientKey, lastAt),
      promisedUntil,
      pause: paused ? { until: pausedUntil === null ? null : dayNumber(pausedUntil) } : null,
      refusedToday: false,
      smart: isSmart,
      chosen: isSmart ? (learning?.chosen.get(one.id) ?? []) : [],
    }
  })
  return {
    timezone: account.timezone,
    reminderHour: account.reminderHour,
    holdMinutes: account.holdMinutes,
    grouped: about.grouped,
    ...quiet,
    leftOut: await readLeftOut(db, account, about.today),
    sequences: await readPlanSequences(db, account.id),
    smart: learning && { hazard: learning.hazard, days: account.smartDays, credit: learning.credit },
    learning,
    lastTo: about.grouped ? await readLastTo(db, account, invoices, { todayOf: todayAt(account, quiet, about.now), dayOf }) : new Map(),
    invoices,
  }
}

/** The sequences of an account as `plan` knows them, by id. */
async function readPlanSequences(db: Database, ownerId: string): Promise<Map<string, PlanSequence>> {
  const all = await db.select().from(sequences).where(eq(sequences.ownerId, ownerId))
  const steps = await db
    .select()
    .from(sequenceSteps)
    .where(and(eq(sequenceSteps.ownerId, ownerId)))
    .orderBy(sequenceSteps.offset)
  const stepsOf = Map.groupBy(steps, ({ sequenceId }) => sequenceId)
  return new Map(
    all.map(({ id, everyDays, atMost, atLeast }) => [
      id,
      { steps: (stepsOf.get(id) ?? []).map(({ offset, tone }) => ({ offset, tone })), everyDays, atMost, atLeast },
    ]),
  )
}

const lastRow = z.object({
  clientKey: z.string(),
  currency: z.string(),
  language: z.string(),
  ofSequences: z.number().nullable(),
  ofAny: z.number(),
})

/**
 * When the clients of these invoices last got an email about an invoice with a sequence, or today any: those of invoices that are reminded every
 * day do not count, or a sequence would never have its turn beside them.
 */
async function readLastTo(
  db: Database,
  account: PlanAccount,
  invoices: PlanInvoice[],
  { todayOf, dayOf }: { todayOf: (clientKey: string) => DayNumber; dayOf: DayAt },
): Promise<Map<string, number>> {
  const keys = [...new Set(invoices.map(({ clientKey }) => clientKey))]
  if (keys.length === 0) return new Map()
  const last = sql`(extract(epoch FROM max(i.last_reminder_at)`
  const found = await rows(
    db,
    lastRow,
    sql`SELECT lower(i.client_email) AS "clientKey", i.currency, coalesce(i.language, k.language, (SELECT a.language FROM accounts a WHERE a.id = ${account.id}::uuid)) AS language, ${last}) * 1000)::float8 AS "ofAny",
          ${last} FILTER (WHERE coalesce(${ownChoice}, ${choiceOfClient}, ${ofAccount(account)}::text) NOT IN ('every_day', 'never'))) * 1000)::float8 AS "ofSequences"
        FROM invoices i LEFT JOIN clients k ON k.owner_id = i.owner_id AND k.email_key = lower(i.client_email)
        WHERE i.owner_id = ${account.id}::uuid AND lower(i.client_email) = ANY(${arrayText(keys)}::text[]) AND i.last_reminder_at IS NOT NULL
        GROUP BY 1, 2, 3`,
  )
  return new Map(
    found.flatMap(({ ofSequences, ofAny, ...client }) => {
      const any = dayOf(client.clientKey, ofAny)
      const day = any >= todayOf(client.clientKey) ? any : ofSequences === null ? null : dayOf(client.clientKey, ofSequences)
      return day === null ? [] : [[groupKey(client), day] as const]
    }),
  )
}

type DayAt = (clientKey: string, milliseconds: number) => DayNumber

/** The date at a client at an instant in milliseconds: that of the account, but in other time zones. */
function dayAt({ timezone }: Pick<PlanAccount, 'timezone'>, { clients }: Pick<World, 'clients'>): DayAt {
  const inZone = new Map<string, (milliseconds: number) => DayNumber>()
  return (clientKey, milliseconds) => {
    const zone = clients.get(clientKey)?.timezone ?? timezone
    const dayOf = inZone.get(zone) ?? dayIn(zone)
    inZone.set(zone, dayOf)
    return dayOf(milliseconds)
  }
}

/** The date at a client on which an email can leave next. */
export function todayAt(
  account: Pick<PlanAccount, 'timezone'>,
  quiet: Pick<World, 'clients'>,
  now: Instant,
): (clientKey: string) => DayNumber {
  const dayOf = dayAt(account, quiet)
  return (clientKey) => {
    const zone = quiet.clients.get(clientKey)?.timezone ?? null
    const isOver = zone !== null && now.toZonedDateTimeISO(zone).hour >= lastHour
    return dayOf(clientKey, now.epochMilliseconds) + (isOver ? 1 : 0)
  }
}

/** The date of an instant in milliseconds. */
function dayIn(timezone: string): (milliseconds: number) => DayNumber {
  const format = new Intl.DateTimeFormat('en-CA', { timeZone: timezone, year: 'numeric', month: '2-digit', day: '2-digit' })
  return (milliseconds) => dayNumber(format.format(milliseconds))
}
