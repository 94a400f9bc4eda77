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
}

/** Days further from the due date are not learned from; their chance is that of the nearest. */
const first = -180
const last = 365
const size = last - first + 1

/** How many days an account, and a client, weighs against the prior: 0.6 payments in 20 days, and 6 days as the account. */
const prior = { events: 0.6, risk: 20 }
const clientPrior = 6

class Counts {
  readonly events = new Float64Array(size)
  /** Differences until `close`. */
  readonly risk = new Float64Array(size + 1)
  paid = 0

  add({ from, to, paid, without = [] }: Watched): void {
    if (paid) this.paid += 1
    const [begin, end] = [Math.max(from, first), Math.min(to, last)]
    if (end < begin) return
    this.#count(begin, end, 1)
    const left = new Set(without)
    for (const day of left) if (day >= begin && day <= end) this.#count(day, day, -1)
    if (paid && to === end && !left.has(to)) this.events[to - first] = (this.events[to - first] ?? 0) + 1
  }

  #count(begin: number, end: number, by: number): void {
    this.risk[begin - first] = (this.risk[begin - first] ?? 0) + by
    this.risk[end + 1 - first] = (this.risk[end + 1 - first] ?? 0) - by
  }

  close(): void {
    for (let at = 1; at <= size; at += 1) this.risk[at] = (this.risk[at] ?? 0) + (this.risk[at - 1] ?? 0)
  }
}

/** A sum over the day before, the day and the day after. */
function around(of: Float64Array, at: number): number {
  return (of[at - 1] ?? 0) + (of[at] ?? 0) + (at + 1 < size ? (of[at + 1] ?? 0) : 0)
}

/**
 * The chance that an unpaid invoice is paid on day t after its due date: of a client (events + 6·H(t)) ÷ (at risk + 6), where H(t) of the account
 * is (events + 0.6) ÷ (at risk + 20), each summed over t−1 to t+1.
 */
export function learnHazard(watched: Iterable<Watched>): Hazard {
  const all = new Counts()
  const clients = new Map<string, Counts>()
  for (const one of watched) {
    all.add(one)
    const its = clients.get(one.client) ?? new Counts()
    its.add(one)
    clients.set(one.client, its)
  }
  for (const counts of [all, ...clients.values()]) counts.close()
  return {
    at(client, t) {
      const at = Math.min(last, Math.max(first, t)) - first
      const account = (around(all.events, at) + prior.events) / (around(all.risk, at) + prior.risk)
      const its = clients.get(client)
      return its ? (around(its.events, at) + clientPrior * account) / (around(its.risk, at) + clientPrior) : account
    },
    paid: (client) => (client === undefined ? all.paid : (clients.get(client)?.paid ?? 0)),
  }
}
