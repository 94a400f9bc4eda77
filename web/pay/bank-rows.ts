import type { BankMatch, RecordedPayment } from '#contract/bank-file.ts'
import { type BankRow, type ReadLine, refusalOf, type TakenBack, waitsFor } from '#contract/import/bank.ts'

/** In which group a row is shown. `waits`: an answer is missing; `left`: it is no payment that came in, or cannot be read. */
export type Group = 'sure' | 'likely' | 'waits' | 'none' | 'recorded' | 'left'

export const groups: Group[] = ['sure', 'likely', 'waits', 'none', 'recorded', 'left']

export interface ShownRow {
  row: BankRow
  group: Group
  /** null where it is no payment yet. */
  line: ReadLine | null
  /** null until it was compared with the invoices. */
  match: BankMatch | null
  /** Payments of an earlier file that it takes back. */
  takesBack: RecordedPayment[]
  /** The ids of what it waits for. */
  waits: string[]
  /** Why it cannot be read. */
  refusal: string | null
}

/** The rows of a reading in their groups, each group in the order of the file. Money out only where it is wanted. */
export function shownRows(
  rows: BankRow[],
  {
    lines,
    matches,
    takenBack,
    withOut,
  }: { lines: ReadonlyMap<number, ReadLine>; matches: ReadonlyMap<number, BankMatch>; takenBack: TakenBack; withOut: boolean },
): ShownRow[] {
  const shown = new Map<Group, ShownRow[]>(groups.map((group) => [group, []]))
  for (const row of rows) {
    const takesBack = takenBack.get(row.number) ?? []
    if (row.left === 'out' && !withOut && takesBack.length === 0) continue
    const line = lines.get(row.number) ?? null
    const match = matches.get(row.number) ?? null
    const waits = waitsFor(row)
    const refusal = refusalOf(row)
    const group = takesBack.length > 0 ? 'likely' : groupOf({ row, match, waits, refusal })
    // A row that cannot be read waits for no answer.
    shown.get(group)?.push({ row, group, line, match, takesBack, waits: refusal === null ? waits : [], refusal })
  }
  return groups.flatMap((group) => shown.get(group) ?? [])
}

function groupOf({ row, match, waits, refusal }: Pick<ShownRow, 'row' | 'match' | 'waits' | 'refusal'>): Group {
  if (row.left !== null || refusal !== null) return 'left'
  if (waits.length > 0) return 'waits'
  const verdict = match?.verdict ?? 'none'
  // What was taken back later, or contradicts itself, is looked at by a person.
  return verdict === 'sure' && (row.returnedIn !== null || row.unclear !== null) ? 'likely' : verdict
}

/**
 * What the parts of a file are compared as: each call knows what its own lines pay. A line that surely pays more than earlier parts left of an invoice
 * is looked at by a person. `owedOf`: what is left to pay of an invoice, in minor units.
 */
export function withoutOverpaying(
  matches: BankMatch[],
  { owedOf, minorOf, reason }: { owedOf: (id: string) => number; minorOf: (match: BankMatch, amount: number) => number; reason: string },
): BankMatch[] {
  const left = new Map<string, number>()
  return matches.map((match) => {
    if (match.verdict !== 'sure') return match
    const after = match.invoices.map(
      ({ invoiceId, amount }) => [invoiceId, (left.get(invoiceId) ?? owedOf(invoiceId)) - minorOf(match, amount)] as const,
    )
    if (after.some(([, rest]) => rest < 0)) return { ...match, verdict: 'likely', reason }
    for (const [id, rest] of after) left.set(id, rest)
    return match
  })
}
