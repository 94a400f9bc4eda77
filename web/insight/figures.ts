import { decimalsOf } from '#contract/currencies.ts'
import type { AdvancedInsights, ClientInsights, CurrencyAdvanced, CurrencyInsights } from '#contract/insights.ts'
import { ages } from '#contract/insights.ts'
import { formatMoney } from '#contract/money.ts'
import { showDate } from '#web/ui/dates.ts'
import { percent, texts } from './texts.ts'

/** What a chart says, and the table with the same figures. The first column of a table names its rows; the others are figures. */
export interface Finding {
  title: string
  about: string
  columns: string[]
  rows: string[][]
}

const moneyIn = (currency: string) => (amount: number) => formatMoney(amount, currency)

/** ₹62,000: without decimals, for axes and labels in charts. */
export function shortMoney(amount: number, currency: string): string {
  const text = formatMoney(decimalsOf(currency) === 0 ? amount : Math.round(amount), currency)
  return text.replace(/\.0+$/, '')
}

export function ageingOf({ currency, ageing, invoices }: CurrencyInsights): Finding & { open: number } {
  const t = texts.ageing
  const money = moneyIn(currency)
  const veryLate = ageing.to60 + ageing.to90 + ageing.over90
  const late = veryLate + ageing.to30
  const open = late + ageing.notDue
  return {
    open,
    title: t.title({ open, late, veryLate, money }),
    about: t.about(money(open), money(late)),
    columns: t.columns,
    rows: ages.map((age) => [t.age[age], money(ageing[age]), String(invoices[age])]),
  }
}

export function daysLateOf({ daysLate: { mean, onTime, clients } }: CurrencyInsights): Finding {
  const t = texts.daysLate
  return {
    title: mean === null || onTime === null ? t.none : t.title(mean, onTime),
    about: clients.length === 0 ? t.noClients : t.about,
    columns: t.columns,
    rows: clients.map(({ name, paid, mean: days }) => [name, String(paid), texts.days(days)]),
  }
}

export function latePayersOf({ currency, latePayers }: CurrencyInsights): Finding {
  const t = texts.latePayers
  const [first] = latePayers
  return {
    title: first ? t.title(first.name, formatMoney(first.overdue, currency)) : t.none,
    about: t.about,
    columns: t.columns,
    rows: latePayers.map(({ name, overdue }) => [name, formatMoney(overdue, currency)]),
  }
}

/** Every client with invoices in a currency, those with the most overdue first. */
export function clientsOf(all: ClientInsights[], currency: string): Pick<Finding, 'title' | 'columns' | 'rows'> {
  const t = texts.clients
  return {
    title: t.title,
    columns: t.columns,
    rows: all
      .filter((one) => one.currency === currency)
      .map(({ name, overdue, open, paid, mean, onTime }) => [
        name,
        formatMoney(overdue, currency),
        formatMoney(open, currency),
        String(paid),
        mean === null ? texts.trend.nothing : texts.days(mean),
        onTime === null ? texts.trend.nothing : percent(onTime),
      ]),
  }
}

export function effectOf({ effect }: AdvancedInsights): Finding & { rest: string[] } {
  const t = texts.effect
  const first = effect.find(({ n, interval }) => n === 1 && interval !== null)
  const rate = (part: number, sent: number) => percent((100 * part) / sent)
  return {
    title: first ? t.title(rate(first.within7, first.sent)) : t.few,
    about: first ? t.about : t.fewAbout,
    columns: t.columns,
    rows: effect.map(({ n, sent, within3, within7, interval }) => [
      t.ordinal(n),
      String(sent),
      t.share(within3, interval && rate(within3, sent)),
      t.share(within7, interval && rate(within7, sent)),
    ]),
    rest: effect.flatMap(({ n, sent, within7, interval }) => (interval === null ? [t.rest(t.ordinal(n), within7, sent)] : [])),
  }
}

export function forecastOf(
  { currency, forecast, expected, laterOrNever }: CurrencyAdvanced,
  learned: AdvancedInsights['learned'],
): Finding {
  const t = texts.forecast
  const money = moneyIn(currency)
  return {
    title: expected ? t.title(money(expected.median), money(expected.low), money(expected.high)) : t.few,
    about: laterOrNever === null ? t.learning(learned.paid, learned.needed) : t.about(money(laterOrNever)),
    columns: t.columns,
    rows: forecast.map(({ week, low, median, high }) => [showDate(week), money(low), money(median), money(high)]),
  }
}

const monthNames = new Intl.DateTimeFormat('en-GB', { month: 'short', year: 'numeric', timeZone: 'UTC' })
export const showMonth = (month: string) => monthNames.format(new Date(`${month}-01T00:00:00Z`))

export function trendOf({ currency, trend }: CurrencyAdvanced): Finding {
  const t = texts.trend
  const [first, last] = [trend.find(({ dso }) => dso !== null), trend.at(-1)]
  return {
    title: t.title(first && first === trend[0] ? first.dso : null, last?.dso ?? null),
    about: t.about,
    columns: t.columns,
    rows: trend.map((one) => [
      showMonth(one.month),
      formatMoney(one.receivables, currency),
      one.dso === null ? t.nothing : t.days(one.dso),
      one.cei === null ? t.nothing : percent(one.cei),
      one.onTime === null ? t.nothing : percent(one.onTime),
    ]),
  }
}

export function promisesOf({ promises: { kept, broken, meanDaysOver, clients } }: AdvancedInsights): Finding {
  const t = texts.promises
  return {
    title: kept + broken === 0 ? t.none : t.title(kept, kept + broken),
    about: kept + broken === 0 ? t.noneAbout : t.about(meanDaysOver === null ? null : t.days(meanDaysOver)),
    columns: t.columns,
    rows: clients.map((one) => [
      one.name,
      String(one.kept),
      String(one.broken),
      one.meanDaysOver === null ? texts.trend.nothing : String(Math.round(one.meanDaysOver)),
    ]),
  }
}
