import { expect, test } from 'vitest'
import { lineOf, readBankSheet, refusalOf, waitsFor } from './bank.ts'
import { layouts } from './bank-layouts.ts'
import type { BankColumn } from './bank-words.ts'
import { headingsOf } from './layout.ts'
import { openCsv } from './table.ts'

/* Each known layout, with rows whose meaning is known. */

interface Row {
  amount: number
  text: string
  /** A word in the place of the date, as banks write of what is not booked. */
  dateWord?: string
  state?: string
  direction?: string
}

type Layout = (typeof layouts)[number]
const has = (layout: Layout, column: BankColumn) => headingsOf(layout).some((one) => one.column === column)

/** The word of a layout for a meaning. */
function wordFor(layout: Layout, column: 'direction' | 'state', meaning: string, otherwise: string): string {
  return Object.entries(layout.words?.[column] ?? {}).find(([, means]) => means === meaning)?.[0] ?? otherwise
}

function write(layout: Layout, rows: Row[]): string[] {
  const headings = headingsOf(layout)
  const quoted = (cell: string) => (/[",]/.test(cell) ? `"${cell}"` : cell)
  const cellOf = (column: BankColumn, row: Row): string => {
    const isIn = row.amount > 0
    const money = Math.abs(row.amount).toFixed(2)
    switch (column) {
      case 'booked':
      case 'date':
        return row.dateWord ?? '2026-11-20'
      case 'valued':
        return '2026-11-19'
      case 'amount':
        return has(layout, 'direction') || isIn ? money : `-${money}`
      case 'in':
        return isIn ? money : ''
      case 'out':
        return isIn ? '' : money
      case 'direction':
        return row.direction ?? wordFor(layout, 'direction', isIn ? 'in' : 'out', isIn ? 'CR' : 'DR')
      case 'state':
        return row.state ?? wordFor(layout, 'state', 'booked', 'Completed')
      case 'description':
        return row.text
      case 'currency':
        return 'EUR'
      default:
        return ''
    }
  }
  return [
    headings.map(({ written }) => quoted(written)).join(','),
    ...rows.map((row) => headings.map(({ column }) => quoted(cellOf(column, row))).join(',')),
  ]
}

function read(layout: Layout, rows: Row[]) {
  const opened = openCsv(Uint8Array.from(new TextEncoder().encode(write(layout, rows).join('\n'))).buffer, {
    rows: 1_000,
    columns: 100,
    length: 10_000,
  })
  const sheet = opened.kind === 'sheets' ? opened.sheets[0] : undefined
  if (!sheet) throw new Error(`The file has no sheet: ${opened.kind}`)
  // The headings of some name rupees.
  return readBankSheet(sheet, { today: '2026-11-28', held: ['EUR'], answers: {} })
}

const paid: Row = { amount: 120, text: 'NEFT INV-9001' }
const rent: Row = { amount: -75, text: 'RENT 1188' }

test.each(layouts.filter(({ isCard }) => !isCard))('$name is read in both directions', (layout) => {
  const reading = read(layout, [paid, rent])
  expect([reading.layout, reading.questions]).toEqual([layout.name, []])
  expect(reading.rows.map(({ left }) => left)).toEqual([null, 'out'])
  expect(reading.rows.flatMap((row) => lineOf(row)?.line.amount ?? [])).toEqual([120])
  expect(reading.rows[0]?.date).toMatchObject({ kind: 'certain', value: '2026-11-20' })
})

test.each(layouts.filter(({ isCard }) => !isCard))(
  '$name leaves out what is pending or reversed, and asks about a word that is not known',
  (layout) => {
    const others: Row[] = has(layout, 'state')
      ? [
          { ...paid, text: 'pending 1', state: 'Pending' },
          { ...paid, text: 'reversed 2', state: 'Reversed' },
          { ...paid, text: 'unknown 3', state: 'Zorp' },
        ]
      : has(layout, 'direction')
        ? [
            { ...paid, text: 'pending 1', dateWord: 'Pending' },
            { ...paid, text: 'reversed 2', direction: 'Reversal' },
            { ...paid, text: 'unknown 3', direction: 'Zorp' },
          ]
        : [{ ...paid, text: 'pending 1', dateWord: 'Pending' }]
    const reading = read(layout, [paid, rent, ...others])
    const recorded = reading.rows.filter((row) => lineOf(row) && refusalOf(row) === null && waitsFor(row).length === 0)
    expect(recorded).toHaveLength(1)
    if (has(layout, 'description')) expect(recorded[0]?.description).toContain(paid.text)
    if (others.length > 1) expect(reading.questions.map(({ kind }) => kind)).toContain('words')
    // Without a column for it, a debit of the same amount with the same reference is the reversal.
    const back = read(layout, [paid, { ...paid, amount: -120, text: 'REVERSAL NEFT INV-9001' }])
    expect(back.rows[0]?.returnedIn).toBe('row 3')
  },
)

test('a known statement of a card has no payments', () => {
  for (const layout of layouts.filter(({ isCard }) => isCard)) expect(read(layout, [paid, rent])).toMatchObject({ isCard: true, rows: [] })
})
