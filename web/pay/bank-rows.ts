import { type BankMatch, mostLines } from '#contract/bank-file.ts'
import { type BankRow, lineOf, type ReadLine, refusalOf, waitsFor } from '#contract/import/bank.ts'

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
  /** The ids of what it waits for. */
  waits: string[]
  /** Why it cannot be read. */
  refusal: string | null
}

/** The rows of a reading in their groups, each group in the order of the file. Money out only where it is wanted. */
export function shownRows(rows: BankRow[], matches: ReadonlyMap<number, BankMatch>, { withOut }: { withOut: boolean }): ShownRow[] {
  const shown = rows.flatMap((row): ShownRow[] => {
    if (row.left === 'out' && !withOut) return []
    const line = lineOf(row)
    const match = matches.get(row.number) ?? null
    const waits = waitsFor(row)
    const refusal = refusalOf(row)
    // A row that cannot be read waits for no answer.
    return [{ row, group: groupOf({ row, match, waits, refusal }), line, match, waits: refusal === null ? waits : [], refusal }]
  })
  const place = new Map(groups.map((group, at) => [group, at]))
  return shown.toSorted((one, other) => (place.get(one.group) ?? 0) - (place.get(other.group) ?? 0))
}

function groupOf({ row, match, waits, refusal }: Pick<ShownRow, 'row' | 'match' | 'waits' | 'refusal'>): Group {
  if (row.left !== null || refusal !== null) return 'left'
  if (waits.length > 0) return 'waits'
  const verdict = match?.verdict ?? 'none'
  // What was taken back later is looked at by a person.
  return verdict === 'sure' && row.returnedIn !== null ? 'likely' : verdict
}

/** Whether the lines are too many for one call, or their texts too long: the server takes 1 MiB. */
export function isTooMuch(lines: ReadLine[]): boolean {
  // Room for what each line pays.
  const sent = () => new Blob([JSON.stringify(lines.map(({ line }) => line))]).size + lines.length * 100
  return lines.length > mostLines || sent() > 1024 * 1024
}
