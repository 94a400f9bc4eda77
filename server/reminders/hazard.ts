/** An invoice whose days were watched. Days are counted from its due date: −1 is the day before. */
export interface Watched {
  /** Any text that is the same for all invoices of a client. */
  client: string
  /** The first day and the last one on which it could have been paid; on the last one it was, if `paid`. */
  from: number
  to: number
  paid: boolean
  /** Days that count neither as a chance nor as a payment, such as those after an email. */
  without?: Iterable<number>
}

export interface Hazard {
  /** The chance that an invoice of the client that is unpaid before day `t` is paid on it. */
  at(client: string, t: number): number
  /** How many paid invoices it was learned from, of all clients or of one. */
  paid(client?: string): number
  /** How many invoices of the client were paid up to a day, on days that count; `last`: the latest of these days. */
  paidBy(client: string, day: number): { count: number; last: number }
}

/** Days further from the due date are not learned from; their chance is that of the nearest. */
const first = -180
const last = 365
const size = last - first + 1

/** How many days an account, and a client, weighs against the prior: 0.6 payments in 20 days, and 6 days as the account. */
const prior = { events: 0.6, risk: 20 }
const clientPrior = 6

class Counts {
  readonly events = new Uint32Array(size)
  readonly risk = new Uint32Array(size)
  paid = 0
}

/** Learns from invoices as a whole, or day by day. */
export class Learner implements Hazard {
  readonly #all = new Counts()
  readonly #clients = new Map<string, Counts>()

  add({ client, from, to, paid, without = [] }: Watched): void {
    const begin = Math.max(from, first) - first
    const end = Math.min(to, last) - first
    const left = [...new Set(without)].map((day) => day - first).filter((at) => at >= begin && at <= end)
    const isEvent = paid && to >= from && to >= first && to <= last && !left.includes(to - first)
    for (const counts of this.#both(client)) {
      const { events, risk } = counts
      // All days, then without those: an account has millions of days, and few of them are left out.
      for (let at = begin; at <= end; at += 1) risk[at] = (risk[at] ?? 0) + 1
      for (const at of left) risk[at] = (risk[at] ?? 1) - 1
      if (paid) counts.paid += 1
      if (isEvent) events[to - first] = (events[to - first] ?? 0) + 1
    }
  }

  /** One more day of an invoice that is still unpaid. */
  watch(client: string, day: number): void {
    if (day >= first && day <= last) for (const { risk } of this.#both(client)) addTo(risk, day)
  }

  at(client: string, t: number): number {
    const at = Math.min(last, Math.max(first, t)) - first
    const account = (around(this.#all.events, at) + prior.events) / (around(this.#all.risk, at) + prior.risk)
    const its = this.#clients.get(client)
    return its ? (around(its.events, at) + clientPrior * account) / (around(its.risk, at) + clientPrior) : account
  }

  paid(client?: string): number {
    return client === undefined ? this.#all.paid : (this.#clients.get(client)?.paid ?? 0)
  }

  paidBy(client: string, day: number): { count: number; last: number } {
    const found = { count: 0, last: day }
    const { events } = this.#clients.get(client) ?? {}
    for (let at = 0; events && at <= Math.min(day, last) - first; at += 1) {
      const here = events[at] ?? 0
      if (here > 0) found.last = at + first
      found.count += here
    }
    return found
  }

  #both(client: string): Counts[] {
    const its = this.#clients.get(client) ?? new Counts()
    this.#clients.set(client, its)
    return [this.#all, its]
  }
}

function addTo(days: Uint32Array, day: number): void {
  days[day - first] = (days[day - first] ?? 0) + 1
}

/** A sum over the day before, the day and the day after. */
function around(of: Uint32Array, at: number): number {
  return (of[at - 1] ?? 0) + (of[at] ?? 0) + (of[at + 1] ?? 0)
}

/**
 * The chance that an unpaid invoice is paid on day t after its due date: of a client (events + 6·H(t)) ÷ (at risk + 6), where H(t) of the account
 * is (events + 0.6) ÷ (at risk + 20), each summed over t−1 to t+1.
 */
export function learnHazard(watched: Iterable<Watched>): Hazard {
  const learner = new Learner()
  for (const one of watched) learner.add(one)
  return learner
}
