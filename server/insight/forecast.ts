import type { Hazard } from '#server/reminders/hazard.ts'

/** An open invoice: what is left to pay, in minor units, and how many days its due date is past today. */
export interface Open {
  client: string
  balance: number
  late: number
}

/** In minor units: the middle of the draws, and what 80 % of them lie between. */
export interface Spread {
  median: number
  low: number
  high: number
}

export interface Forecast {
  /** Week by week; the first begins today. */
  weeks: Spread[]
  total: Spread
}

const draws = 500
const weeks = 8

/**
 * What is paid in the next eight weeks: in each of 500 draws every invoice is paid, in full, on a day drawn by the chances of its days. The same
 * input is always answered the same.
 */
export function forecast(open: Open[], hazard: Hazard): Forecast {
  const random = sequence(open.length + 1)
  const sums = Array.from({ length: weeks }, () => new Float64Array(draws))
  const totals = new Float64Array(draws)
  for (const { client, balance, late } of open) {
    const until = paidUntil(hazard, client, late)
    for (let draw = 0; draw < draws; draw += 1) {
      const at = random()
      let week = 0
      while (week < weeks && at >= (until[week] ?? 1)) week += 1
      const sum = sums[week]
      if (!sum) continue
      sum[draw] = (sum[draw] ?? 0) + balance
      totals[draw] = (totals[draw] ?? 0) + balance
    }
  }
  return { weeks: sums.map(spread), total: spread(totals) }
}

/** The chances that it is paid by the end of each week. */
function paidUntil(hazard: Hazard, client: string, late: number): Float64Array {
  const until = new Float64Array(weeks)
  let unpaid = 1
  for (let day = 0; day < weeks * 7; day += 1) {
    unpaid *= 1 - hazard.at(client, late + day)
    if (day % 7 === 6) until[(day - 6) / 7] = 1 - unpaid
  }
  return until
}

function spread(values: Float64Array): Spread {
  const sorted = values.toSorted()
  const at = (share: number) => sorted[Math.round(share * (sorted.length - 1))] ?? 0
  return { median: at(0.5), low: at(0.1), high: at(0.9) }
}

/** Numbers from 0 to 1, the same for the same seed (mulberry32). */
function sequence(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}
