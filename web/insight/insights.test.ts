import { expect, test } from 'vitest'
import type { AdvancedInsights, CurrencyAdvanced, CurrencyInsights } from '#contract/insights.ts'
import { ageingOf, clientsOf, daysLateOf, effectOf, forecastOf, latePayersOf, promisesOf, shortMoney, trendOf } from './figures.ts'

const nothing: CurrencyInsights = {
  currency: 'INR',
  ageing: { notDue: 0, to30: 0, to60: 0, to90: 0, over90: 0 },
  invoices: { notDue: 0, to30: 0, to60: 0, to90: 0, over90: 0 },
  daysLate: { mean: null, onTime: null, paid: 0, clients: [] },
  latePayers: [],
}
const ageing = (change: Partial<CurrencyInsights['ageing']>) => ageingOf({ ...nothing, ageing: { ...nothing.ageing, ...change } })

test('the ageing’s finding is what is more than 30 days late, else what is late, else that nothing is', () => {
  expect(ageing({ notDue: 182_400, to30: 104_250, to60: 62_300, to90: 22_000, over90: 34_500 })).toMatchObject({
    title: '₹1,18,800.00 is more than 30 days late',
    about: '₹4,05,450.00 is open, ₹2,23,050.00 of it late. Each part opens its invoices.',
  })
  expect(ageing({ to30: 5 }).title).toBe('₹5.00 is late, none of it more than 30 days')
  expect(ageing({ notDue: 5 }).title).toBe('Nothing is late')
  expect(ageing({}).title).toBe('Nothing is open')
})

test('days late are in words: late, early, on the due date, or none paid', () => {
  const title = (mean: number | null, onTime: number | null) =>
    daysLateOf({ ...nothing, daysLate: { mean, onTime, paid: 1, clients: [] } }).title
  expect(title(8.4, 44.4)).toBe('Clients pay 8 days late on average, and 44% of invoices on time')
  expect(title(-1.2, 100)).toBe('Clients pay 1 day early on average, and every invoice on time')
  expect(title(3, 0)).toBe('Clients pay 3 days late on average, and no invoice on time')
  expect(title(0.3, 90)).toBe('Clients pay on the due date on average, and 90% of invoices on time')
  expect(title(null, null)).toBe('No payment day recorded in the last 12 months')
})

test('the other findings name their figures, or that there are too few', () => {
  expect(latePayersOf(nothing).title).toBe('No client is late')
  const few = { effect: [{ n: 1, sent: 19, within3: 3, within7: 9, interval: null }] } as unknown as AdvancedInsights
  expect(effectOf(few)).toMatchObject({
    title: 'Reminder effect: too few to tell',
    rows: [['First', '19', '3', '9']],
    rest: ['First: 9 of 19 paid within 7 days. Too few for a rate.'],
  })
  const learned = { paid: 3, needed: 20 }
  const unknown = { currency: 'INR', forecast: [], expected: null, laterOrNever: null, trend: [] } as unknown as CurrencyAdvanced
  expect(forecastOf(unknown, learned)).toMatchObject({ title: 'Forecast: too few to tell', about: 'Learning: 3 of 20 paid invoices.' })
  expect(forecastOf({ ...unknown, expected: { median: 420_000, low: 310_000, high: 505_000 }, laterOrNever: 5 }, learned).title).toBe(
    'Expected in the next 8 weeks: ₹4,20,000.00, most likely ₹3,10,000.00 to ₹5,05,000.00',
  )
  const month = (dso: number | null) => ({ month: '2026-03', receivables: 0, dso, cei: null, onTime: null })
  const trend = (...dso: (number | null)[]) => trendOf({ ...unknown, trend: dso.map(month) }).title
  expect(trend(47, 40, 36)).toBe('DSO fell from 47 to 36 days in a year')
  expect(trend(36, 47)).toBe('DSO rose from 36 to 47 days in a year')
  expect(trend(36.2, 35.9)).toBe('DSO is 36 days, as a year ago')
  expect(trend(null, 36)).toBe('DSO is 36 days')
  expect(trend(null, null)).toBe('DSO needs 3 months of invoices')
  const promises = (kept: number, broken: number) =>
    promisesOf({ promises: { kept, broken, meanDaysOver: null, clients: [] } } as unknown as AdvancedInsights).title
  expect(promises(9, 4)).toBe('9 of 13 promises were kept')
  expect(promises(0, 0)).toBe('No promises on the pay page yet')
})

test('the list of all clients has those of one currency, with a dash where nothing was paid', () => {
  const one = {
    clientId: '1',
    name: 'Kaveri Foods',
    email: 'k@example.com',
    currency: 'INR',
    overdue: 5,
    open: 12,
    paid: 4,
    mean: 3.4,
    onTime: 50,
  }
  const { rows } = clientsOf([one, { ...one, name: 'Nila', paid: 0, mean: null, onTime: null }, { ...one, currency: 'EUR' }], 'INR')
  expect(rows).toEqual([
    ['Kaveri Foods', '₹5.00', '₹12.00', '4', '3', '50%'],
    ['Nila', '₹5.00', '₹12.00', '0', '–', '–'],
  ])
})

test('axes have money without decimals, in any currency', () => {
  expect(['INR', 'JPY', 'KWD'].map((currency) => shortMoney(62_000, currency))).toEqual(['₹62,000', 'JP¥62,000', 'KWD\u00a062,000'])
})
