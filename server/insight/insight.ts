import { sql } from 'drizzle-orm'
import { z } from 'zod'
import type { AdvancedInsights, ClientInsights, CurrencyAdvanced, Insights } from '#contract/insights.ts'
import { fromMinor } from '#contract/money.ts'
import type { AccountRow } from '#server/accounts/accounts.ts'
import { localDate } from '#server/invoices/invoices.ts'
import type { Instant } from '#server/platform/clock.ts'
import { type Database, rows } from '#server/platform/database.ts'
import { type Hazard, learnHazard } from '#server/reminders/hazard.ts'
import { type OpenInvoice, readLearned } from '#server/reminders/learned.ts'
import {
  type ClientPart,
  collected,
  daysOutstanding,
  inOrder,
  listClients,
  readClientParts,
  readMonths,
  share,
  sumUp,
  type Whose,
} from './figures.ts'
import { readEffect, readPromises } from './followed.ts'
import { forecast, type Spread } from './forecast.ts'

/** The forecast needs so many paid invoices to learn from. */
const fewestLearned = 20
/** How many accounts' figures a process keeps. */
const mostKept = 200

type Owner = Pick<AccountRow, 'id' | 'currency' | 'timezone'>

interface Figures {
  version: string
  parts?: Promise<ClientPart[]>
  advanced?: Promise<AdvancedInsights>
}

/** An account's figures on its local date, each computed once until an invoice or an answer changes. */
export interface Insight {
  read(account: Owner, now: Instant): Promise<Insights>
  advanced(account: Owner, now: Instant): Promise<AdvancedInsights>
  clients(account: Owner, now: Instant): Promise<ClientInsights[]>
}

export function openInsight(db: Database): Insight {
  const kept = new Map<string, Figures>()
  const figuresOf = async (whose: Whose): Promise<Figures> => {
    // The version must not be read after the figures: a change in between then only computes them again.
    const version = `${whose.today} ${whose.timezone} ${whose.currency} ${await invoicesVersion(db, whose.id)}`
    const before = kept.get(whose.id)
    const figures = before?.version === version ? before : { version }
    kept.delete(whose.id)
    kept.set(whose.id, figures)
    const [oldest] = kept.keys()
    if (kept.size > mostKept && oldest !== undefined) kept.delete(oldest)
    return figures
  }
  const whoseOf = ({ id, currency, timezone }: Owner, now: Instant): Whose => ({
    id,
    currency,
    timezone,
    today: localDate(now, timezone),
  })
  /** What failed is not kept. */
  const once = async <F extends 'parts' | 'advanced'>(figures: Figures, field: F, compute: () => NonNullable<Figures[F]>) => {
    figures[field] ??= compute()
    try {
      return await (figures[field] as NonNullable<Figures[F]>)
    } catch (error) {
      delete figures[field]
      throw error
    }
  }
  const partsOf = async (whose: Whose) => once(await figuresOf(whose), 'parts', () => readClientParts(db, whose))
  return {
    async read(account, now) {
      const whose = whoseOf(account, now)
      const all = sumUp(await partsOf(whose), whose)
      return { ...all[0], today: whose.today, byCurrency: all }
    },
    async advanced(account, now) {
      const whose = whoseOf(account, now)
      return once(await figuresOf(whose), 'advanced', () => computeAdvanced(db, whose))
    },
    async clients(account, now) {
      const whose = whoseOf(account, now)
      return listClients(await partsOf(whose), whose)
    },
  }
}

/** Changes with every change of an invoice, its payments and emails, and of an answer: each write gives a row a new xmin. */
async function invoicesVersion(db: Database, ownerId: string): Promise<string> {
  const sum = sql`count(*) || '.' || coalesce(sum(hashtextextended(id::text || xmin::text, 0)), 0)`
  const [found] = await rows(
    db,
    z.object({ version: z.string() }),
    sql`SELECT (SELECT ${sum} FROM invoices WHERE owner_id = ${ownerId}::uuid AND deleted_at IS NULL) || ' ' ||
          (SELECT ${sum} FROM pay_answers WHERE owner_id = ${ownerId}::uuid) AS version`,
  )
  return found?.version ?? ''
}

async function computeAdvanced(db: Database, whose: Whose): Promise<AdvancedInsights> {
  const months = await readMonths(db, whose)
  const learned = await readLearned(db, whose, { afterEmails: true })
  const hazard = learnHazard(learned.watched)
  const used = new Set([whose.currency, ...months.keys()])
  const all = inOrder(
    [...used].map((currency) => ({
      currency,
      ...trendOf(months.get(currency), currency, whose.today),
      ...forecastOf(
        learned.open.filter((one) => one.currency === currency),
        hazard,
        { currency, today: whose.today },
      ),
    })),
    whose.currency,
  )
  const [first] = all
  if (!first) throw new Error('An account has a currency.')
  return {
    ...first,
    effect: await readEffect(db, whose),
    promises: await readPromises(db, whose),
    learned: { paid: hazard.paid(), needed: fewestLearned },
    byCurrency: all,
  }
}

type Months = Awaited<ReturnType<typeof readMonths>> extends Map<string, infer M> ? M : never

function trendOf(of: Months | undefined, currency: string, today: string): Pick<CurrencyAdvanced, 'dso' | 'cei' | 'trend'> {
  const { months = [], invoiced = new Map<string, number>() } = of ?? {}
  const trend = months.slice(1).map((its, at) => {
    const { month, receivables, paid, onTime } = its
    const days = month === today.slice(0, 7) ? Number(today.slice(8)) : Temporal.PlainYearMonth.from(month).daysInMonth
    return {
      month,
      receivables: fromMinor(receivables, currency),
      dso: daysOutstanding(receivables, invoiced, { month, days }),
      cei: collected(months[at]?.receivables ?? 0, its),
      onTime: share(onTime, paid),
    }
  })
  const last = trend.at(-1)
  return { dso: last?.dso ?? null, cei: last?.cei ?? null, trend }
}

function forecastOf(
  invoices: OpenInvoice[],
  hazard: Hazard,
  { currency, today }: { currency: string; today: string },
): Pick<CurrencyAdvanced, 'forecast' | 'expected' | 'laterOrNever'> {
  if (hazard.paid() < fewestLearned) return { forecast: [], expected: null, laterOrNever: null }
  // Yesterday was the last day that an open invoice was watched.
  const open = invoices.map(({ client, balance, to }) => ({ client, balance, late: to + 1 }))
  const { weeks, total } = forecast(open, hazard)
  const amounts = ({ median, low, high }: Spread) => ({
    median: fromMinor(median, currency),
    low: fromMinor(low, currency),
    high: fromMinor(high, currency),
  })
  const first = Temporal.PlainDate.from(today)
  return {
    forecast: weeks.map((week, at) => ({ week: first.add({ weeks: at }).toString(), ...amounts(week) })),
    expected: amounts(total),
    laterOrNever: fromMinor(open.reduce((sum, { balance }) => sum + balance, 0) - total.median, currency),
  }
}
