import { type SQL, sql } from 'drizzle-orm'
import { z } from 'zod'
import type { Age, ClientInsights, CurrencyInsights } from '#contract/insights.ts'
import { ages } from '#contract/insights.ts'
import { fromMinor } from '#contract/money.ts'
import { wasPaid } from '#server/invoices/balance.ts'
import { type Database, rows } from '#server/platform/database.ts'

/** Whose figures, and on which local date. */
export interface Whose {
  id: string
  currency: string
  timezone: string
  today: string
}

/** With fewer paid invoices a client's mean says little. */
const fewestOfClient = 3
/** The most clients of a chart. */
const mostClients = 10

/** To one decimal. */
export const tenth = (value: number) => Math.round(value * 10) / 10
/** In percent; null of nothing. */
export const share = (part: number, whole: number) => (whole === 0 ? null : tenth((100 * part) / whole))

/** The first day that is less than twelve months before today. */
function yearBefore(today: string): string {
  return Temporal.PlainDate.from(today).subtract({ years: 1 }).add({ days: 1 }).toString()
}

/** The account's currency first, then by code. */
export function inOrder<T extends { currency: string }>(all: T[], first: string): T[] {
  const place = ({ currency }: T) => (currency === first ? '' : currency)
  return all.toSorted((one, other) => (place(one) < place(other) ? -1 : 1))
}

const live = (ownerId: string) => sql`i.owner_id = ${ownerId}::uuid AND i.deleted_at IS NULL`
const balance = sql`greatest(0, i.amount_minor - i.paid_minor)`
/** The day of payment is known: not of an invoice that was created as paid, such as one of an imported history. */
const dayKnown = sql`i.paid_at <> i.created_at`

/** Of an open invoice: by how many days its due date is past. */
const aged: Record<Age, (late: SQL) => SQL> = {
  notDue: (late) => sql`${late} <= 0`,
  to30: (late) => sql`${late} BETWEEN 1 AND 30`,
  to60: (late) => sql`${late} BETWEEN 31 AND 60`,
  to90: (late) => sql`${late} BETWEEN 61 AND 90`,
  over90: (late) => sql`${late} > 90`,
}

const clientPart = z.object({
  key: z.string(),
  clientId: z.string(),
  currency: z.string(),
  name: z.string(),
  email: z.string(),
  /** Minor units, by age, and how many invoices. */
  sums: z.array(z.number()),
  counts: z.array(z.number()),
  paid: z.number(),
  late: z.number(),
  onTime: z.number(),
})
export type ClientPart = z.output<typeof clientPart>

/** What each client owes and how they paid within twelve months, in each currency: every figure that all plans have is a sum of these. */
export async function readClientParts(db: Database, { id, today }: Whose): Promise<ClientPart[]> {
  const late = sql`(${today}::date - i.due_date)`
  const open = (age: Age) => sql`i.status <> 'paid' AND ${aged[age](late)}`
  const paid = sql`i.status = 'paid' AND ${dayKnown} AND ${wasPaid} AND i.paid_on >= ${yearBefore(today)}::date AND i.paid_on <= ${today}::date`
  const each = (what: (age: Age) => SQL) => sql`ARRAY[${sql.join(ages.map(what), sql`, `)}]`
  const found = await rows(
    db,
    z.object({ parts: z.array(clientPart.omit({ clientId: true })).nullable() }),
    sql`SELECT json_agg(p) AS parts FROM (
          SELECT lower(i.client_email) AS key, i.currency,
            (array_agg(i.client_name ORDER BY i.created_at DESC))[1] AS name, (array_agg(i.client_email ORDER BY i.created_at DESC))[1] AS email,
            ${each((age) => sql`coalesce(sum(${balance}) FILTER (WHERE ${open(age)}), 0)::float8`)} AS sums,
            ${each((age) => sql`count(*) FILTER (WHERE ${open(age)})::int`)} AS counts,
            count(*) FILTER (WHERE ${paid})::int AS paid, coalesce(sum(i.paid_on - i.due_date) FILTER (WHERE ${paid}), 0)::int AS late,
            count(*) FILTER (WHERE ${paid} AND i.paid_on <= i.due_date)::int AS "onTime"
          FROM invoices i WHERE ${live(id)} GROUP BY 1, 2) p`,
  )
  const known = await rows(
    db,
    z.object({ ids: z.record(z.string(), z.string()).nullable() }),
    sql`SELECT json_object_agg(email_key, id) AS ids FROM clients WHERE owner_id = ${id}::uuid`,
  )
  return (found[0]?.parts ?? []).map((part) => ({ ...part, clientId: known[0]?.ids?.[part.key] ?? '' }))
}

/** The figures of each currency that the account uses; its own comes first, also where it has no invoice. */
export function sumUp(parts: ClientPart[], { currency }: Whose): [CurrencyInsights, ...CurrencyInsights[]] {
  const byCurrency = Map.groupBy(parts, (part) => part.currency)
  if (!byCurrency.has(currency)) byCurrency.set(currency, [])
  const [first, ...others] = inOrder(
    [...byCurrency].map(([code, its]) => ofCurrency(code, its)),
    currency,
  )
  if (!first) throw new Error('An account has a currency.')
  return [first, ...others]
}

function ofCurrency(currency: string, parts: ClientPart[]): CurrencyInsights {
  const total = (of: (part: ClientPart) => number) => parts.reduce((sum, part) => sum + of(part), 0)
  const byAge = (of: (at: number) => number) => Object.fromEntries(ages.map((age, at) => [age, of(at)])) as Record<Age, number>
  const paid = total((part) => part.paid)
  const regular = parts
    .filter((part) => part.paid >= fewestOfClient)
    .toSorted((one, other) => other.paid - one.paid || (one.key < other.key ? -1 : 1))
    .slice(0, mostClients)
  return {
    currency,
    ageing: byAge((at) =>
      fromMinor(
        total(({ sums }) => sums[at] ?? 0),
        currency,
      ),
    ),
    invoices: byAge((at) => total(({ counts }) => counts[at] ?? 0)),
    daysLate: {
      mean: paid === 0 ? null : tenth(total(({ late }) => late) / paid),
      onTime: share(
        total(({ onTime }) => onTime),
        paid,
      ),
      paid,
      clients: regular
        .map((part) => ({ clientId: part.clientId, name: part.name, email: part.email, paid: part.paid, mean: meanOf(part) ?? 0 }))
        .toSorted((one, other) => one.mean - other.mean),
    },
    latePayers: parts
      .filter((part) => overdueOf(part) > 0)
      .toSorted((one, other) => overdueOf(other) - overdueOf(one) || (one.key < other.key ? -1 : 1))
      .slice(0, mostClients)
      .map((part) => ({ clientId: part.clientId, name: part.name, email: part.email, overdue: fromMinor(overdueOf(part), currency) })),
  }
}

/** Every client in each of their currencies; those with the most overdue first. */
export function listClients(parts: ClientPart[], { currency }: Whose): ClientInsights[] {
  const sorted = parts.toSorted((one, other) => overdueOf(other) - overdueOf(one) || (one.key < other.key ? -1 : 1))
  return inOrder(
    sorted.map((part) => ({
      clientId: part.clientId,
      name: part.name,
      email: part.email,
      currency: part.currency,
      overdue: fromMinor(overdueOf(part), part.currency),
      open: fromMinor(overdueOf(part) + (part.sums[0] ?? 0), part.currency),
      paid: part.paid,
      mean: meanOf(part),
      onTime: share(part.onTime, part.paid),
    })),
    currency,
  )
}

function meanOf({ paid, late }: ClientPart): number | null {
  return paid === 0 ? null : tenth(late / paid)
}

function overdueOf({ sums }: ClientPart): number {
  return sums.slice(1).reduce((sum, one) => sum + one, 0)
}

/** What each month has of a currency, and what was open at its end. Minor units. */
interface MonthFigures {
  month: string
  invoiced: number
  receivables: number
  /** The part of it that was not past due. */
  notDue: number
  paid: number
  onTime: number
}

/**
 * The last thirteen months of each currency, oldest first, and what was invoiced in every month before. An invoice that was created as paid was open
 * until its due date, at the latest until then: left out, it would miss from what was invoiced, and DSO would count back far too many days.
 */
export async function readMonths(
  db: Database,
  { id, today }: Whose,
): Promise<Map<string, { months: MonthFigures[]; invoiced: Map<string, number> }>> {
  const thisMonth = Temporal.PlainYearMonth.from(today.slice(0, 7))
  const months = Array.from({ length: 13 }, (_none, at) => thisMonth.subtract({ months: 12 - at }).toString())
  const ends = months.map((month, at) => (at === 12 ? today : Temporal.PlainYearMonth.from(month).toPlainDate({ day: 31 }).toString()))
  const each = (what: (end: SQL, at: number) => SQL) =>
    sql.join(
      ends.map((end, at) => what(sql`${end}::date`, at)),
      sql`, `,
    )
  const paidBy = (at: number) => sql.raw(`p[${at + 1}]`)
  const rest = (end: SQL, at: number) =>
    sql`CASE WHEN paid_by IS NULL THEN greatest(0, amount - ${paidBy(at)}) WHEN paid_by <= ${end} THEN 0 ELSE amount END`
  const open = await rows(
    db,
    z.object({ currency: z.string(), receivables: z.array(z.number()), due: z.array(z.number()) }),
    // Grouped instead of joined: without statistics a join compares each payment with each invoice.
    sql`SELECT currency,
          ARRAY[${each((end, at) => sql`coalesce(sum(${rest(end, at)}) FILTER (WHERE issued <= ${end}), 0)::float8`)}] AS receivables,
          ARRAY[${each((end, at) => sql`coalesce(sum(${rest(end, at)}) FILTER (WHERE issued <= ${end} AND due >= ${end}), 0)::float8`)}] AS due
        FROM (
          SELECT max(currency) AS currency, max(issued) AS issued, max(due) AS due, max(amount) AS amount, max(paid_by) AS paid_by,
            ARRAY[${each((end) => sql`coalesce(sum(signed) FILTER (WHERE paid_on <= ${end}), 0)`)}] AS p
          FROM (
            SELECT i.id, i.currency, i.issued_on AS issued, i.due_date AS due, i.amount_minor::float8 AS amount,
              CASE WHEN i.status = 'paid' AND NOT (${dayKnown}) THEN least(i.due_date, i.paid_on) END AS paid_by, NULL::date AS paid_on, 0::float8 AS signed
            FROM invoices i WHERE ${live(id)}
            UNION ALL
            SELECT invoice_id, NULL, NULL, NULL, NULL, NULL, paid_on, CASE kind WHEN 'refund' THEN -amount_minor ELSE amount_minor END::float8
            FROM invoice_payments WHERE owner_id = ${id}::uuid AND voided_at IS NULL
          ) AS parts GROUP BY parts.id HAVING max(currency) IS NOT NULL
        ) AS each GROUP BY currency`,
  )
  const monthly = await rows(
    db,
    z.object({ currency: z.string(), month: z.string(), invoiced: z.number(), paid: z.number(), onTime: z.number() }),
    sql`SELECT currency, month, sum(invoiced)::float8 AS invoiced, sum(paid)::int AS paid, sum(on_time)::int AS "onTime" FROM (
          SELECT i.currency, to_char(i.issued_on, 'YYYY-MM') AS month, sum(i.amount_minor) AS invoiced, 0 AS paid, 0 AS on_time
          FROM invoices i WHERE ${live(id)} AND i.issued_on <= ${today}::date GROUP BY 1, 2
          UNION ALL
          SELECT i.currency, to_char(i.paid_on, 'YYYY-MM'), 0, count(*), count(*) FILTER (WHERE i.paid_on <= i.due_date)
          FROM invoices i WHERE ${live(id)} AND i.status = 'paid' AND ${dayKnown} AND ${wasPaid} AND i.paid_on >= ${`${months[0]}-01`}::date AND i.paid_on <= ${today}::date GROUP BY 1, 2
        ) AS each GROUP BY 1, 2`,
  )
  return new Map(
    open.map(({ currency, receivables, due }) => {
      const its = new Map(monthly.filter((one) => one.currency === currency).map((one) => [one.month, one]))
      return [
        currency,
        {
          invoiced: new Map([...its].flatMap(([month, { invoiced }]) => (invoiced > 0 ? [[month, invoiced] as const] : []))),
          months: months.map((month, at) => ({
            month,
            invoiced: its.get(month)?.invoiced ?? 0,
            receivables: receivables[at] ?? 0,
            notDue: due[at] ?? 0,
            paid: its.get(month)?.paid ?? 0,
            onTime: its.get(month)?.onTime ?? 0,
          })),
        },
      ]
    }),
  )
}

/** With less history DSO says nothing. */
const fewestMonths = 3

/**
 * Countback: the receivables at the end of a month are taken out of what was invoiced, month by month backwards; whole months count their days, the
 * last one its part. Null with fewer than three months of invoicing. `days`: of the month itself, the present one has as many as have begun.
 */
export function daysOutstanding(
  receivables: number,
  invoiced: ReadonlyMap<string, number>,
  { month, days }: { month: string; days: number },
): number | null {
  const known = [...invoiced.keys()].filter((one) => one <= month).toSorted()
  const [oldest] = known
  const end = Temporal.PlainYearMonth.from(month)
  if (oldest === undefined || Temporal.PlainYearMonth.from(oldest).until(end, { largestUnit: 'months' }).months + 1 < fewestMonths)
    return null
  let [left, counted] = [receivables, 0]
  for (let at = end; left > 0 && at.toString() >= oldest; at = at.subtract({ months: 1 })) {
    const its = invoiced.get(at.toString()) ?? 0
    const length = at.equals(end) ? days : at.daysInMonth
    if (left < its) return tenth(counted + (left / its) * length)
    left -= its
    counted += length
  }
  return tenth(counted)
}

/** How much of what was due came in, in percent. */
export function collected(opening: number, { invoiced, receivables, notDue }: MonthFigures): number | null {
  const due = opening + invoiced - notDue
  return due <= 0 ? null : share(opening + invoiced - receivables, due)
}
