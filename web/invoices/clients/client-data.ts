import type { Client, ClientEmail, ClientEvent } from '#contract/clients.ts'
import type { Invoice } from '#contract/invoices.ts'
import { formatSums, sumByCurrency } from '#contract/money.ts'
import type { PreviewLine } from '#contract/reminders.ts'
import { searchKey } from '#contract/search.ts'
import { invoiceTexts } from '#web/invoices/texts.ts'
import { capitalized, dateIn, daysBetween, showComing, showDate } from '#web/ui/dates.ts'
import { clientTexts as texts } from './texts.ts'

/** The open invoices of each client, by lower-case address. */
export function linesByClient(lines: PreviewLine[]): Map<string, PreviewLine[]> {
  return Map.groupBy(lines, ({ clientEmail }) => clientEmail.toLowerCase())
}

/** Name or email contains the text. */
export function searchClients(clients: Client[], typed: string): Client[] {
  const wanted = searchKey(typed)
  return wanted === '' ? clients : clients.filter(({ name, email }) => searchKey(`${name}\n${email}`).includes(wanted))
}

/** How many clients owe how much, and who owes most of it where all is one currency. */
export function findingOf(clients: Client[], currency: string): string {
  const owing = clients.filter(({ open }) => open.length > 0)
  if (owing.length === 0) return texts.allPaid
  const sums = sumByCurrency(
    owing.flatMap(({ open }) => open),
    currency,
  )
  const [only] = sums
  const [largest] = owing.toSorted((one, other) => (other.open[0]?.amount ?? 0) - (one.open[0]?.amount ?? 0))
  const most = owing.length > 1 && sums.length === 1 && only && largest && (largest.open[0]?.amount ?? 0) > only.amount / 2
  return `${texts.owe(owing.length, formatSums(sums, currency))}${most ? texts.most(largest.name) : ''}`
}

export interface ClientState {
  kind: 'address' | 'broken' | 'failing' | 'promise' | 'said' | 'paused' | 'next' | 'none'
  tone: 'bad' | 'warn' | 'quiet'
  text: string
}

interface Around {
  zone: string | undefined
  now: Date
  /** The invoices whose client broke a promise to pay. */
  broken: ReadonlySet<string>
}

/** What matters most about the reminders of a client: what needs the owner, a promise or pause, else when the next one goes out. */
export function stateOfClient(client: Client, lines: PreviewLine[], { zone, now, broken }: Around): ClientState {
  if (client.openInvoices === 0) return { kind: 'none', tone: 'quiet', text: texts.state.nothingOpen }
  if (client.addressHold) return { kind: 'address', tone: 'bad', text: texts.state.address }
  if (lines.some(({ invoiceId }) => broken.has(invoiceId))) return { kind: 'broken', tone: 'bad', text: invoiceTexts.state.broken }
  if (client.notDelivered) {
    const days = daysBetween(dateIn(zone, new Date(client.notDelivered.since)), dateIn(zone, now))
    return { kind: 'failing', tone: 'warn', text: invoiceTexts.state.notDelivered(days, client.notDelivered.words) }
  }
  if (client.pause) {
    const until = client.pause.until === null ? null : showDate(client.pause.until)
    if (client.pause.promised && until !== null) return { kind: 'promise', tone: 'warn', text: texts.state.promised(until) }
    return { kind: 'paused', tone: 'quiet', text: invoiceTexts.pause.pill(until) }
  }
  if (client.said) {
    const { because, until } = client.said
    const shown = until === null ? null : showDate(until)
    if (because === 'promised' && shown !== null) return { kind: 'promise', tone: 'warn', text: texts.state.promised(shown) }
    if (because !== 'owner') return { kind: 'said', tone: 'warn', text: texts.state.said(invoiceTexts.pause.said[because], shown) }
  }
  const planned = lines.flatMap(({ nextAt, reason, heldFor }) => (nextAt !== null && reason === null && heldFor === null ? [nextAt] : []))
  const [next] = planned.toSorted()
  if (next !== undefined) return { kind: 'next', tone: 'quiet', text: capitalized(showComing(zone, new Date(next), now)) }
  const [first] = lines
  if (!first) return { kind: 'none', tone: 'quiet', text: '' }
  if (first.heldFor !== null) return { kind: 'paused', tone: 'warn', text: invoiceTexts.state.emailHeld }
  const text = first.reason === null ? invoiceTexts.state.notPlanned : invoiceTexts.state.noNext[first.reason]
  return { kind: first.reason === 'paused' ? 'paused' : 'none', tone: 'quiet', text }
}

/** The days that all rows show, before and after today. */
export const daysAhead = 30
/** The position of today, in percent of the width. */
export const todayAt = 38

export interface ClientDot {
  id: string
  /** In percent of the width. */
  x: number
  radius: number
  late: boolean
}

/** One axis for all rows, so that lateness can be compared: how many days it shows after today, and the dots of a client on it. */
export function axisOf(lines: PreviewLine[], today: string): { days: number; text: string; dotsOf: (lines: PreviewLine[]) => ClientDot[] } {
  const lateness = ({ dueDate }: PreviewLine) => daysBetween(dueDate, today)
  const furthest = lines.reduce((most, line) => Math.max(most, lateness(line)), 0)
  const days = furthest <= 30 ? 30 : furthest <= 60 ? 60 : 90
  // Only amounts of one currency can be compared.
  const largest = new Map<string, number>()
  for (const { currency, amount } of lines) largest.set(currency, Math.max(amount, largest.get(currency) ?? 0))
  const reach = (share: number) => Math.min(1, share) ** 0.7
  const dotsOf = (of: PreviewLine[]) =>
    of
      .map((line): ClientDot => {
        const late = lateness(line)
        const size = line.amount / (largest.get(line.currency) ?? line.amount)
        return {
          id: line.invoiceId,
          x: late > 0 ? todayAt + (96 - todayAt) * reach(late / days) : todayAt - (todayAt - 4) * reach(-late / daysAhead),
          radius: Math.max(3.5, 10 * (1 + 0.3 * Math.log10(size))),
          late: late > 0,
        }
      })
      .toSorted((one, other) => other.radius - one.radius)
      .slice(0, mostDots)
  return { days, text: furthest > days ? `${days}+` : `${days}`, dotsOf }
}

/** Further dots would lie on each other. */
const mostDots = 30

/**
 * Days from the due date to the payment; to today while it is open. Negative before the due date. Null where the day of the payment is not known: of
 * an invoice that was created as paid, such as one of an imported history.
 */
export function daysFromDue({ dueDate, status, paidOn, paidAt, createdAt }: Invoice, today: string): number | null {
  if (paidAt === createdAt) return null
  return daysBetween(dueDate.slice(0, 10), status === 'paid' && paidOn !== null ? paidOn : today)
}

/** The median of the last five paid invoices with a known day, in days after the due date; null for fewer than three: too few to tell. */
export function usualDelay(list: Invoice[], today: string): { days: number; of: number } | null {
  const days = list
    .filter(({ status }) => status === 'paid')
    .toSorted((one, other) => ((one.paidOn ?? '') < (other.paidOn ?? '') ? 1 : -1))
    .flatMap((invoice) => daysFromDue(invoice, today) ?? [])
    .slice(0, 5)
    .toSorted((one, other) => one - other)
  return days.length < 3 ? null : { days: days[Math.floor(days.length / 2)] ?? 0, of: days.length }
}

/** Each payment when it was recorded, and again when it was taken back; newest first. */
export function withVoids(events: ClientEvent[]): ClientEvent[] {
  return events
    .flatMap((event) => {
      if (event.kind !== 'payment' || event.payment.voidedAt === null) return event
      const { payment } = event
      return [
        { ...event, _id: `${event._id} void`, at: payment.voidedAt ?? event.at },
        { ...event, payment: { ...payment, voidedAt: null } },
      ]
    })
    .toSorted((one, other) => Date.parse(other.at) - Date.parse(one.at))
}

/** Consecutive emails about the same invoices with the same outcome are one line; newest first. */
export function foldEvents(events: ClientEvent[]): (Exclude<ClientEvent, ClientEmail> | [ClientEmail, ...ClientEmail[]])[] {
  const folded: ReturnType<typeof foldEvents> = []
  const likeness = ({ state, references, reply, copiesRefused }: ClientEmail) =>
    `${state} ${references.join()} ${state === 'sent' ? copiesRefused : reply}`
  for (const event of events) {
    const last = folded.at(-1)
    if (event.kind !== 'email') folded.push(event)
    else if (Array.isArray(last) && likeness(last[0]) === likeness(event)) last.push(event)
    else folded.push([event])
  }
  return folded
}
