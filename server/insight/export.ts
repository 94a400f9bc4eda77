import { decimalsOf } from '#contract/currencies.ts'
import type { Exported } from '#contract/insights.ts'
import { ages } from '#contract/insights.ts'
import { csvCell } from '#server/platform/csv.ts'
import type { Insight } from './insight.ts'
import { ageNames, heads } from './texts.ts'

type Cell = string | number | null
type About = Parameters<Insight['read']>

const money = (amount: number, currency: string) => amount.toFixed(decimalsOf(currency))
const plain = (text: string) => csvCell(text)

/** The lines of a chart, as its table has them. */
const lines: Record<Exported, (insight: Insight, ...about: About) => Promise<Cell[][]>> = {
  ageing: async (insight, ...about) =>
    (await insight.read(...about)).byCurrency.flatMap(({ currency, ageing, invoices }) =>
      ages.map((age) => [plain(currency), plain(ageNames[age]), money(ageing[age], currency), invoices[age]]),
    ),
  clients: async (insight, ...about) =>
    (await insight.clients(...about)).map((one) => [
      plain(one.name),
      plain(one.email),
      plain(one.currency),
      money(one.overdue, one.currency),
      money(one.open, one.currency),
      one.paid,
      one.mean,
      one.onTime,
    ]),
  effect: async (insight, ...about) =>
    (await insight.advanced(...about)).effect.map(({ n, sent, within3, within7, interval }) => [
      n,
      sent,
      within3,
      within7,
      ...(interval ? [...interval.within3, ...interval.within7] : [null, null, null, null]),
    ]),
  forecast: async (insight, ...about) =>
    (await insight.advanced(...about)).byCurrency.flatMap(({ currency, forecast }) =>
      forecast.map(({ week, ...amounts }) => [
        plain(currency),
        plain(week),
        ...[amounts.median, amounts.low, amounts.high].map((amount) => money(amount, currency)),
      ]),
    ),
  trend: async (insight, ...about) =>
    (await insight.advanced(...about)).byCurrency.flatMap(({ currency, trend }) =>
      trend.map(({ month, receivables, dso, cei, onTime }) => [
        plain(currency),
        plain(month),
        money(receivables, currency),
        dso,
        cei,
        onTime,
      ]),
    ),
  promises: async (insight, ...about) =>
    (await insight.advanced(...about)).promises.clients.map((one) => [
      plain(one.name),
      plain(one.email),
      one.kept,
      one.broken,
      one.meanDaysOver,
    ]),
}

/** The figures of a chart as a CSV file, as the invoices are exported. */
export async function exportFigures(insight: Insight, what: Exported, ...about: About): Promise<string> {
  const cells = [heads[what].map(plain), ...(await lines[what](insight, ...about))]
  return `\uFEFF${cells.map((line) => `${line.map((cell) => cell ?? '').join(',')}\r\n`).join('')}`
}
