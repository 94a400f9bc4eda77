import { formatRupees, fromMinor } from '#contract/money.ts'
import type { Dot } from './due-line-layout.ts'
import { lateness, latenessOf } from './lateness.ts'
import { texts } from './texts.ts'

/** What a dot says: who or how many, how much, how late. */
export function wordsOf(dot: Dot): [name: string, amount: string, when: string] {
  const [first] = dot.items
  const amount = formatRupees(fromMinor(dot.amount))
  if (first && dot.items.length === 1) return [first.name, amount, lateness(first.daysLate)]
  return [texts.dueLine.several(dot.items.length), amount, latenessOf(dot.items.map(({ daysLate }) => daysLate))]
}
