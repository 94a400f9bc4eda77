import { readAmount } from './amount.ts'
import { type DateOrder, readDay } from './import-values.ts'
import type { FileLine } from './read-table.ts'

export const fields = ['clientName', 'clientEmail', 'amount', 'dueDate', 'status', 'reference'] as const
export type Field = (typeof fields)[number]
export const needed: Field[] = ['clientName', 'clientEmail', 'amount', 'dueDate']

/** Which column of the file holds which field; null: none does. */
export type Columns = Record<Field, number | null>

/** What other programs call these columns, the surest names first. */
const names: Record<Field, RegExp[]> = {
  clientEmail: [/^(client|customer|contact|billing)?\s*e-?\s*mail(\s*(id|address))?$/, /e-?mail/],
  dueDate: [/^(invoice\s*)?due(\s*(date|on|by))?$/, /^(date due|payment due( date)?|expiry date)$/, /due.*date|date.*due/],
  reference: [
    /^(invoice|bill)\s*(no|number|num|#)\.?$/,
    /^(ref|reference|number|num|no\.?|invoice#?|bill)$/,
    /^(reference|ref)\b|invoice\s*(no|number|id)\b/,
  ],
  amount: [
    /^(invoice\s*)?amount(\s*\(?(inr|rs\.?|₹)\)?)?$/,
    /^((grand|invoice)\s*)?total$|^amount due$/,
    /^balance(\s*due)?$/,
    /amount|total|balance/,
  ],
  status: [/^((invoice|payment)\s*)?status$/, /^state$/, /status/],
  clientName: [
    /^(client|customer|company|party|buyer|contact|account)(\s*name)?$/,
    /^(bill(ed)? to|name)$/,
    /(client|customer|company|party|buyer).*name/,
    /client|customer|company/,
  ],
}

const nothing: Columns = { clientName: null, clientEmail: null, amount: null, dueDate: null, status: null, reference: null }

/** Guesses the columns by the words in the first line. */
export function guessByHead(head: string[]): Columns {
  const words = head.map((cell) => cell.toLowerCase().replaceAll('_', ' ').replace(/\s+/g, ' ').trim())
  const guess = { ...nothing }
  const taken = new Set<number>()
  for (const rank of [0, 1, 2, 3]) {
    for (const [field, patterns] of Object.entries(names) as [Field, RegExp[]][]) {
      const pattern = patterns[rank]
      if (guess[field] !== null || !pattern) continue
      const found = words.findIndex((word, index) => !taken.has(index) && pattern.test(word))
      if (found < 0) continue
      guess[field] = found
      taken.add(found)
    }
  }
  return guess
}

/** Whether the first line holds names: at least two that are known, and nothing that only a line of an invoice holds. */
export function hasHead(first: string[]): boolean {
  if (first.some((cell) => cell.includes('@'))) return false
  return Object.values(guessByHead(first)).filter((column) => column !== null).length >= 2
}

/** Guesses the columns by what stands in them, for a file without names. */
export function guessByContent(lines: FileLine[]): Columns {
  const sample = lines.slice(0, 50).map(({ cells }) => cells)
  const width = Math.max(0, ...sample.map((cells) => cells.length))
  const guess = { ...nothing }
  const mostly = (column: number, is: (cell: string) => boolean) => {
    const filled = sample.map((cells) => cells[column] ?? '').filter((cell) => cell !== '')
    return filled.length > 0 && filled.filter(is).length >= filled.length * 0.7
  }
  const tests: [Field, (cell: string) => boolean][] = [
    ['clientEmail', (cell) => cell.includes('@')],
    ['dueDate', (cell) => readDay(cell, 'dmy') !== null || readDay(cell, 'mdy') !== null],
    ['status', (cell) => /^(un)?paid$|^overdue$/i.test(cell)],
    ['amount', (cell) => readAmount(cell) !== null],
    ['reference', (cell) => /^\S*\d\S*$/.test(cell)],
    ['clientName', (cell) => /\p{L}{2}/u.test(cell)],
  ]
  const taken = new Set<number>()
  for (const [field, is] of tests) {
    const found = Array.from({ length: width }, (_, column) => column).find((column) => !taken.has(column) && mostly(column, is))
    if (found === undefined) continue
    guess[field] = found
    taken.add(found)
  }
  return guess
}

/** Whether days or months stand first in the dates of a column: a number above 12 tells; where none does, days. */
export function guessDates(lines: FileLine[], column: number | null): DateOrder {
  if (column === null) return 'dmy'
  const parts = lines.map(({ cells }) => /^(\d{1,2})[/.\- ](\d{1,2})[/.\- ]\d{2,4}/.exec(cells[column] ?? ''))
  const above = (group: 1 | 2) => parts.filter((found) => Number(found?.[group] ?? 0) > 12).length
  return above(2) > above(1) ? 'mdy' : 'dmy'
}
