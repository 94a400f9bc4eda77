import { z } from 'zod'
import { call } from './call.ts'

const currency = z.string().meta({ description: 'The ISO 4217 code.' })
const amount = z.number().meta({ description: 'In its currency, as the amount of an invoice.' })
/** Percents have one decimal; null where nothing can be divided by. */
const percent = z.number().nullable()
const days = z.number().nullable()
const month = z.string().meta({ description: 'YYYY-MM' })

/** The parts of what is open, by how late it is. */
export const ages = ['notDue', 'to30', 'to60', 'to90', 'over90'] as const
export type Age = (typeof ages)[number]

/** The age of an invoice, by how many days its due date is past. */
export function ageOf(late: number): Age {
  return late <= 0 ? 'notDue' : late <= 30 ? 'to30' : late <= 60 ? 'to60' : late <= 90 ? 'to90' : 'over90'
}

const ageing = z.object({ notDue: amount, to30: amount, to60: amount, to90: amount, over90: amount })
const counts = z.object({ notDue: z.number(), to30: z.number(), to60: z.number(), to90: z.number(), over90: z.number() })

const clientDays = z.object({ clientId: z.string(), name: z.string(), email: z.string(), paid: z.number().int(), mean: z.number() })
const daysLate = z.object({
  /** Days from the due date to the day of payment; below 0 is early. */
  mean: days,
  onTime: percent,
  paid: z.number().int(),
  /** Those with three paid invoices or more, of them the ten with the most; the earliest first. */
  clients: z.array(clientDays),
})
const latePayer = z.object({ clientId: z.string(), name: z.string(), email: z.string(), overdue: amount })

const ofCurrency = z.object({
  currency,
  ageing,
  invoices: counts.meta({ description: 'How many invoices each part of the ageing has.' }),
  daysLate,
  /** The ten that owe the most that is past due. */
  latePayers: z.array(latePayer),
})
export type CurrencyInsights = z.infer<typeof ofCurrency>

/** The figures of the account's currency; `byCurrency` has those of all, this one first. */
export const insights = ofCurrency.extend({ today: z.string(), byCurrency: z.array(ofCurrency) })
export type Insights = z.infer<typeof insights>

const trendMonth = z.object({ month, receivables: amount, dso: days, cei: percent, onTime: percent })
const week = z.object({ week: z.string().meta({ description: 'Its first day.' }), median: amount, low: amount, high: amount })
const ofCurrencyAdvanced = z.object({
  currency,
  dso: days,
  cei: percent,
  /** Twelve months, the present one last, up to today. */
  trend: z.array(trendMonth),
  /** Eight weeks from today; empty before enough invoices were paid to learn from. */
  forecast: z.array(week),
  /** Of all eight weeks together. */
  expected: week.omit({ week: true }).nullable(),
  /** What is open and not expected within the eight weeks. */
  laterOrNever: amount.nullable(),
})
export type CurrencyAdvanced = z.infer<typeof ofCurrencyAdvanced>

const interval = z.tuple([z.number(), z.number()])
export const effect = z.object({
  /** The first email about an invoice, the second, … */
  n: z.number().int(),
  sent: z.number().int(),
  within3: z.number().int(),
  within7: z.number().int(),
  /** In percent, with 95 % confidence; null below 20 emails. */
  interval: z.object({ within3: interval, within7: interval }).nullable(),
})
export type Effect = z.infer<typeof effect>

const kept = z.object({ kept: z.number().int(), broken: z.number().int(), meanDaysOver: days })
const advancedInsights = ofCurrencyAdvanced.extend({
  effect: z.array(effect),
  promises: kept.extend({ clients: z.array(kept.extend({ clientId: z.string(), name: z.string(), email: z.string() })) }),
  /** How many paid invoices the forecast learned from, and how many it needs. */
  learned: z.object({ paid: z.number().int(), needed: z.number().int() }),
  byCurrency: z.array(ofCurrencyAdvanced),
})
export type AdvancedInsights = z.infer<typeof advancedInsights>

const clientInsights = z.object({
  clientId: z.string(),
  name: z.string(),
  email: z.string(),
  currency,
  overdue: amount,
  open: amount,
  paid: z.number().int(),
  mean: days,
  onTime: percent,
})
export type ClientInsights = z.infer<typeof clientInsights>

export const exported = z.enum(['ageing', 'clients', 'effect', 'forecast', 'trend', 'promises'])
export type Exported = z.infer<typeof exported>

export const insightCalls = {
  read: call({
    method: 'GET',
    path: '/insights',
    by: 'viewer',
    summary: 'What is open by age, how late clients pay, and who is late.',
    reply: insights,
  }),
  advanced: call({
    method: 'GET',
    path: '/insights/advanced',
    by: 'viewer',
    summary: 'DSO, CEI, their trend, what follows reminders, a forecast and kept promises.',
    reply: advancedInsights,
  }),
  clients: call({
    method: 'GET',
    path: '/insights/clients',
    by: 'viewer',
    summary: 'Every client with what is overdue and how late they pay, by currency.',
    reply: z.array(clientInsights),
  }),
  export: call({
    method: 'GET',
    path: '/insights/export',
    by: 'viewer',
    summary: 'The figures of one chart as a CSV file.',
    query: z.strictObject({ what: exported }),
    reply: z.string(),
  }),
}
