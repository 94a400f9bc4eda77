import { formatMoney, formatSums, sumByCurrency } from '#contract/money.ts'
import type { DueItem } from '#web/ui/due-line-layout.ts'
import { findingTexts as texts } from './texts.ts'

/** A sentence and the figures behind it. */
export interface Finding {
  title: string
  text: string | null
}

interface Client {
  name: string
  amount: number
  items: DueItem[]
}

/** From this share of everything overdue on, one client is the finding; from this share on, old invoices are. */
const share = 0.5
const old = 30

/**
 * What the due line shows, in a sentence: the client who owes most of what is overdue, else the age of the debts, else what is due next.
 * Shares are only of one currency. `currency` is that of the account.
 */
export function findingOf(items: DueItem[], currency: string): Finding {
  if (items.length === 0) return { title: texts.allPaid, text: null }
  const late = items.filter((item) => item.late)
  if (late.length === 0) return dueNext(items)
  const clients = byClient(late)
  const [first] = clients
  if (!first) return dueNext(items)
  if (clients.length === 1) return { title: texts.onlyOne(first.name), text: detailsOf(first, currency) }
  const [oldest] = late.toSorted((one, other) => other.daysLate - one.daysLate)
  const oldestText = oldest ? texts.oldest(oldest.name, formatMoney(oldest.amount, oldest.currency), Math.max(0, oldest.daysLate)) : null
  const spread = { title: texts.spread(clients.length), text: oldestText }
  if (late.some((item) => item.currency !== oldest?.currency)) return spread
  const total = sum(late)
  const part = first.amount / total
  if (part >= share) return { title: texts.owes(first.name, percent(part)), text: detailsOf(first, currency) }
  const oldPart = sum(late.filter(({ daysLate }) => daysLate > old)) / total
  if (oldPart >= share) return { title: texts.older(percent(oldPart), old), text: oldestText }
  const three = clients.slice(0, 3)
  if (clients.length > 4) {
    const threePart = three.reduce((all, { amount }) => all + amount, 0) / total
    if (threePart >= share) return { title: texts.three(percent(threePart)), text: texts.names(three.map(({ name }) => name)) }
  }
  return spread
}

function dueNext(items: DueItem[]): Finding {
  const [next] = items.filter(({ daysLate }) => daysLate <= 0).toSorted((one, other) => other.daysLate - one.daysLate)
  return { title: texts.nothingLate, text: next ? texts.next(next.name, formatMoney(next.amount, next.currency), -next.daysLate) : null }
}

function detailsOf({ items }: Client, currency: string): string {
  return texts.details(
    formatSums(sumByCurrency(items, currency), currency),
    items.length,
    Math.max(0, ...items.map(({ daysLate }) => daysLate)),
  )
}

/** Largest first. */
function byClient(items: DueItem[]): Client[] {
  const clients = new Map<string, Client>()
  for (const item of items) {
    const client = clients.get(item.email) ?? { name: item.name, amount: 0, items: [] }
    client.amount += item.amount
    client.items.push(item)
    clients.set(item.email, client)
  }
  return [...clients.values()].toSorted((one, other) => other.amount - one.amount)
}

function sum(items: DueItem[]): number {
  return items.reduce((all, { amount }) => all + amount, 0)
}

/** Never rounded up to all of it. */
function percent(part: number): number {
  return Math.min(99, Math.round(part * 100))
}
