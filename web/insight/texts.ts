import type { Age } from '#contract/insights.ts'
import { count } from '#web/ui/texts.ts'

/** 44%. */
export const percent = (share: number) => `${Math.round(share)}%`

const whole = (days: number) => count(Math.abs(Math.round(days)), 'day')
const lateness = (mean: number) => (Math.round(mean) === 0 ? 'on the due date' : `${whole(mean)} ${mean < 0 ? 'early' : 'late'}`)
const ordinals = ['First', 'Second', 'Third', 'Fourth', 'Fifth', 'Sixth', 'Seventh', 'Eighth', 'Ninth', 'Tenth']

export const texts = {
  title: 'Insights',
  subtitle: 'How you are paid, and what reminders do',
  loading: 'Loading figures...',
  failed: (message: string) => `The figures could not be loaded: ${message}`,
  none: { title: 'Nothing to show yet', text: 'Figures come with your first invoices.', create: 'Create Invoice' },
  currency: 'Currency',
  asTable: 'As a table',
  asChart: 'As a chart',
  download: 'Download CSV or PNG',
  downloadCsv: 'Download CSV',
  downloadPng: 'Download PNG',
  downloaded: (name: string) => `${name} is downloaded.`,
  notDownloaded: (message: string) => `The file was not downloaded: ${message}`,
  howCounted: 'How it’s calculated',
  dueDate: 'due date',
  today: 'today',
  pro: {
    part: (plan: string) => `Part of ${plan}`,
    see: (plan: string) => `See ${plan}`,
    free: 'Ageing, days late and late payers stay free.',
  },
  days: (mean: number) =>
    Math.round(mean) === 0 ? 'on the day' : mean < 0 ? `${Math.abs(Math.round(mean))} early` : String(Math.round(mean)),
  ageing: {
    title: (about: { open: number; late: number; veryLate: number; money: (amount: number) => string }) =>
      about.veryLate > 0
        ? `${about.money(about.veryLate)} is more than 30 days late`
        : about.late > 0
          ? `${about.money(about.late)} is late, none of it more than 30 days`
          : about.open > 0
            ? 'Nothing is late'
            : 'Nothing is open',
    about: (open: string, late: string) => `${open} is open, ${late} of it late. Each part opens its invoices.`,
    formula:
      'What is left to pay of each invoice, by the days from its due date to today. Paid invoices are not in it; amounts of other currencies are never converted.',
    age: {
      notDue: 'Not due',
      to30: '1–30 days late',
      to60: '31–60 days late',
      to90: '61–90 days late',
      over90: '90+ days late',
    } satisfies Record<Age, string>,
    columns: ['Age', 'Amount', 'Invoices'],
    invoices: (n: number) => count(n, 'invoice'),
    list: (age: string) => `${age}: invoices`,
    listColumns: ['Client', 'Due', 'Amount'],
    noMatch: 'No invoices of this age.',
    close: 'Close the list',
    more: (n: number) => `and ${n} more; search for a client on the dashboard to find them.`,
    loading: 'Loading invoices...',
    failed: (message: string) => `Error loading invoices: ${message}`,
  },
  daysLate: {
    title: (mean: number, onTime: number) =>
      `Clients pay ${lateness(mean)} on average, and ${onTime === 0 ? 'no invoice' : onTime === 100 ? 'every invoice' : `${percent(onTime)} of invoices`} on time`,
    none: 'No payment day recorded in the last 12 months',
    about: 'Average per client over 12 months. Shows clients with at least 3 paid invoices.',
    noClients: 'No client has paid 3 invoices in 12 months yet.',
    formula:
      'The day of payment less the due date, of every invoice that was paid in full in the last 12 months; early is below 0. On time: paid on the due date or before. Paid days are as recorded; invoices created or imported as paid have none, and do not count. Of the clients with 3 paid invoices or more, the ten with the most are shown.',
    columns: ['Client', 'Paid invoices', 'Days late'],
    unit: 'days late',
    mark: (name: string, days: string, paid: number) => `${name}: ${days}, ${count(paid, 'paid invoice')}`,
  },
  latePayers: {
    title: (name: string, amount: string) => `${name} owes the most: ${amount} is late`,
    none: 'No client is late',
    about: 'The ten clients with the largest overdue amounts.',
    formula: 'What is left to pay of the invoices of each client whose due date is past, the largest sum first.',
    columns: ['Client', 'Past due'],
    mark: (name: string, amount: string) => `${name}: ${amount} past due`,
  },
  clients: {
    show: 'Show all clients',
    hide: 'Hide all clients',
    title: 'All clients',
    more: (n: number) => `and ${n.toLocaleString('en-IN')} more; the CSV file has all of them.`,
    columns: ['Client', 'Past due', 'Open', 'Paid invoices', 'Days late', 'On time'],
  },
  effect: {
    name: 'Reminder effect',
    what: 'How many pay within 3 and 7 days after each reminder.',
    title: (share: string) => `${share} pay within 7 days after the first reminder`,
    few: 'Reminder effect: too few to tell',
    fewAbout: 'A share needs 20 emails that are 7 days old.',
    about: 'Grey: within 3 days. Blue: within 7. Bars: 95% interval.',
    formula:
      'Of the emails about an invoice that were accepted at least 7 days ago: after how many it was paid in full within 3 and 7 days, and before the next email. Below 20 emails no share is given. The interval is Wilson’s.',
    caution: 'Many would have paid anyway: this shows what followed, not what it caused.',
    ordinal: (n: number) => ordinals[n - 1] ?? String(n),
    sent: (n: number) => `${n.toLocaleString('en-IN')} sent`,
    within: { 3: 'in 3 days', 7: 'in 7 days' },
    rest: (name: string, part: number, sent: number) => `${name}: ${part} of ${sent} paid within 7 days. Too few for a rate.`,
    columns: ['Reminder', 'Sent', 'Within 3 days', 'Within 7 days'],
    share: (part: number, share: string | null) => (share === null ? String(part) : `${part} (${share})`),
    mark: (name: string, share: string, days: number, [low, high]: readonly [number, number]) =>
      `${name} reminder: ${share} paid within ${days} days, between ${percent(low)} and ${percent(high)}`,
  },
  forecast: {
    name: 'Forecast',
    what: 'What to expect in the next 8 weeks, and how sure that is.',
    title: (median: string, low: string, high: string) => `Expected in the next 8 weeks: ${median}, most likely ${low} to ${high}`,
    few: 'Forecast: too few to tell',
    learning: (paid: number, needed: number) => `Learning: ${paid} of ${needed} paid invoices.`,
    about: (later: string) => `Line: the middle of 500 forecasts. Band: 8 in 10 of them. Later or never: ${later}.`,
    formula:
      'For each day after the due date, the chance that an invoice unpaid until then is paid, learned from 24 months: of the client, and of the account where the client has few. Each open invoice is drawn 500 times by these chances. It expects that reminders continue as they were.',
    columns: ['Week from', 'Low', 'Middle', 'High'],
    mark: (week: string, median: string, low: string, high: string) => `Week from ${week}: ${median}, most likely ${low} to ${high}`,
  },
  trend: {
    name: 'Trend',
    what: 'Receivables, DSO, CEI and on time over 12 months.',
    title: (from: number | null, to: number | null) => {
      if (to === null) return 'DSO needs 3 months of invoices'
      const now = Math.round(to)
      if (from === null || Math.round(from) === now) return from === null ? `DSO is ${now} days` : `DSO is ${now} days, as a year ago`
      return `DSO ${now < from ? 'fell' : 'rose'} from ${Math.round(from)} to ${now} days in a year`
    },
    about: 'DSO: how many days of invoices are still unpaid. CEI: the share of the amount due that was collected.',
    formula:
      'Receivables: what was issued and not paid at the end of the month. DSO counts back: the receivables are taken out of what was invoiced, month by month backwards; whole months count their days, the last one its part. CEI: (opening + invoiced − closing) ÷ (opening + invoiced − closing not due) × 100. On time: of the invoices paid in the month, those paid by their due date. Invoices created or imported as paid count as paid on their due date, and not for On time. The present month is up to today.',
    columns: ['Month', 'Receivables', 'DSO', 'CEI', 'On time'],
    series: { receivables: 'Receivables', dso: 'DSO', cei: 'CEI', onTime: 'On time' },
    days: (n: number) => count(Math.round(n), 'day'),
    nothing: '–',
    at: (month: string, value: string) => `${month}: ${value}`,
  },
  promises: {
    name: 'Promises',
    what: 'How many promises to pay were kept, and by whom.',
    title: (kept: number, all: number) => `${kept} of ${count(all, 'promise')} ${all === 1 ? 'was' : 'were'} kept`,
    none: 'No promises on the pay page yet',
    noneAbout: 'Clients can promise a payment date there.',
    sides: ['kept', 'broken'] as [string, string],
    about: (over: string | null) => (over === null ? 'Green: kept. Red: broken.' : `Green: kept. Red: broken, by ${over} on average.`),
    formula:
      'Clients promise a day on the pay page. A promise is kept if the invoice is paid in full by the end of that day. Days over: from that day to the day of payment, or to today. One that was replaced or taken back before its day does not count.',
    columns: ['Client', 'Kept', 'Broken', 'Days over'],
    days: (mean: number) => whole(mean),
    mark: (name: string, kept: number, broken: number) => `${name}: ${kept} kept, ${broken} broken`,
  },
}
