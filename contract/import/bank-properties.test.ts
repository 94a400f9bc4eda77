import fc from 'fast-check'
import { expect, test } from 'vitest'
import { type BankReading, lineOf, readBankSheet, refusalOf, waitsFor } from './bank.ts'
import type { Answers, Question } from './meaning.ts'
import { openCsv } from './table.ts'

/*
 * A file is written from transfers whose meaning is known, in a form that says all of it, or not. What is recorded without an answer is
 * one of the transfers that came in, on its day and of its amount.
 */

interface Truth {
  isIn: boolean
  state: 'booked' | 'pending' | 'failed'
  day: string
  minor: number
}

const drawnDay = fc
  .date({ min: new Date('2026-01-01T00:00:00Z'), max: new Date('2026-11-20T00:00:00Z'), noInvalidDate: true })
  .map((date) => date.toISOString().slice(0, 10))
const truth = fc.record({
  isIn: fc.boolean(),
  state: fc.constantFrom('booked' as const, 'booked' as const, 'pending' as const, 'failed' as const),
  day: fc.oneof(drawnDay, fc.constantFrom('2026-03-05', '2026-05-03', '2026-10-11', '2026-11-10')),
  minor: fc.integer({ min: 1, max: 300_000_000 }),
})

const word = fc.constantFrom(
  'Zorp',
  'X1',
  'Card type',
  'Kind of card',
  'Betreff',
  'Info text',
  'Ref',
  'S',
  'H',
  'Flag',
  'Amount note',
  'Category',
)
const form = fc.record({
  days: fc.constantFrom('iso', 'dmy', 'mdy', 'words'),
  dayHeading: fc.constantFrom('Date', 'Booking Date', 'Buchungstag', 'Fecha', 'Datum', 'Value Date'),
  money: fc.constantFrom('signed', 'signs', 'two', 'words', 'oddWords', 'oneWord', 'unsigned', 'behind'),
  moneyHeading: fc.constantFrom('Amount', 'Betrag', 'Importe', 'Montant', 'Transaction Amount'),
  directionHeading: fc.constantFrom('Type', 'Dr / Cr', 'Direction', 'Transaction Type', 'Credit/Debit'),
  pair: fc.constantFrom(
    ['CR', 'DR'],
    ['Credit', 'Debit'],
    ['C', 'D'],
    ['CRDT', 'DBIT'],
    ['H', 'S'],
    ['Money in', 'Money out'],
    ['IN', 'OUT'],
  ),
  odd: fc.constantFrom(['INW', 'TRF'], ['A', 'B'], ['Zufluss', 'Abfluss'], ['1', '0']),
  comma: fc.boolean(),
  grouped: fc.boolean(),
  stateHeading: fc.constantFrom('Status', 'State', 'Buchungsstatus', 'Transaction status'),
  states: fc.constantFrom(
    { booked: 'Completed', pending: 'Pending', failed: 'Failed' },
    { booked: 'Gebucht', pending: 'Vorgemerkt', failed: 'Rejected' },
    { booked: 'K1', pending: 'K2', failed: 'K3' },
    { booked: 'Booked', pending: 'Qu', failed: 'Qu' },
  ),
  noise: fc.array(
    fc.record({
      heading: word,
      cells: fc.array(fc.constantFrom('credit', 'debit', 'S', 'H', 'C', 'D', '', 'pending', '12', '05/03/2026', '99.00')),
    }),
    {
      maxLength: 3,
    },
  ),
  at: fc.nat({ max: 8 }),
})
type Form = typeof form extends fc.Arbitrary<infer T> ? T : never

const months = 'Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec'.split(' ')
function dayIn(day: string, { days }: Form): string {
  const [year = '', month = '', date = ''] = day.split('-')
  if (days === 'iso') return day
  if (days === 'words') return `${date} ${months[Number(month) - 1]} ${year}`
  return days === 'dmy' ? `${date}/${month}/${year}` : `${month}/${date}/${year}`
}
function digits(minor: number, { comma, grouped }: Form): string {
  const [whole = '', cents = ''] = (minor / 100).toFixed(2).split('.')
  const parts = grouped ? whole.replace(/\B(?=(\d{3})+$)/g, comma ? '.' : ',') : whole
  return `${parts}${comma ? ',' : '.'}${cents}`
}

function write(all: Truth[], drawn: Form): string {
  const columns: [heading: string, cell: (one: Truth, nth: number) => string][] = [[drawn.dayHeading, ({ day }) => dayIn(day, drawn)]]
  const plain = ({ minor }: Truth) => digits(minor, drawn)
  const [into, out] = drawn.money === 'oddWords' ? drawn.odd : drawn.pair
  switch (drawn.money) {
    case 'two':
      columns.push(['Credit', (one) => (one.isIn ? plain(one) : '')], ['Debit', (one) => (one.isIn ? '' : plain(one))])
      break
    case 'words':
    case 'oddWords':
      columns.push([drawn.moneyHeading, plain], [drawn.directionHeading, ({ isIn }) => (isIn ? into : out) ?? ''])
      break
    case 'oneWord':
      // The word of the column is the same in both directions.
      columns.push([drawn.moneyHeading, plain], ['Kind of entry', () => into ?? ''])
      break
    case 'unsigned':
      columns.push([drawn.moneyHeading, plain])
      break
    case 'behind':
      columns.push([drawn.moneyHeading, (one) => `${plain(one)} ${one.isIn ? 'CR' : 'DR'}`])
      break
    default:
      columns.push([drawn.moneyHeading, (one) => `${one.isIn ? (drawn.money === 'signs' ? '+' : '') : '-'}${plain(one)}`])
  }
  // A file without a column of states has booked transfers only.
  if (all.some(({ state }) => state !== 'booked')) columns.push([drawn.stateHeading, ({ state }) => drawn.states[state]])
  for (const { heading, cells } of drawn.noise) columns.splice(drawn.at % (columns.length + 1), 0, [heading, (_, nth) => cells[nth] ?? ''])
  const cell = (text: string) => `"${text.replaceAll('"', '""')}"`
  return [
    columns.map(([heading]) => cell(heading)).join(';'),
    ...all.map((one, nth) => columns.map(([, of]) => cell(of(one, nth))).join(';')),
  ].join('\n')
}

function read(text: string, answers: Answers = {}): BankReading {
  const opened = openCsv(Uint8Array.from(new TextEncoder().encode(text)).buffer, { rows: 1_000, columns: 100, length: 10_000 })
  const sheet = opened.kind === 'sheets' ? opened.sheets[0] : undefined
  if (!sheet) throw new Error(`The file has no sheet: ${opened.kind}`)
  return readBankSheet(sheet, { today: '2026-11-28', held: ['EUR'], answers })
}

const recorded = ({ rows }: BankReading) =>
  rows.flatMap((row) => {
    const found = lineOf(row)
    return found && refusalOf(row) === null && waitsFor(row).length === 0
      ? [`${found.number}: ${found.line.date} ${found.line.amount}`]
      : []
  })
const trueOf = (all: Truth[]) =>
  new Set(all.flatMap(({ isIn, state, day, minor }, nth) => (isIn && state === 'booked' ? [`${nth + 2}: ${day} ${minor / 100}`] : [])))

// Takes 1 s, and the next one as long.
test('nothing is recorded with a direction, state, day or amount that the file does not prove', () => {
  let all = 0
  fc.assert(
    fc.property(fc.array(truth, { minLength: 1, maxLength: 8 }), form, (happened, drawn) => {
      const text = write(happened, drawn)
      const known = trueOf(happened)
      const found = recorded(read(text))
      for (const one of found) if (!known.has(one)) expect({ wrong: one, text }).toBeNull()
      all += found.length
    }),
    { numRuns: 1_500 },
  )
  // Files that say enough are read.
  expect(all).toBeGreaterThan(300)
})

/** The answers that someone gives who knows what happened. */
function truthfully(question: Question, all: Truth[], drawn: Form): Answers {
  switch (question.kind) {
    case 'order':
      return drawn.days === 'dmy' || drawn.days === 'mdy' ? { [question.id]: drawn.days } : {}
    case 'decimals':
      return { [question.id]: drawn.comma ? 'comma' : 'point' }
    case 'words':
      return Object.fromEntries(
        question.words.flatMap(({ id, written, means }): [string, string][] => {
          if (means !== null) return []
          if (question.about === 'direction') {
            const [into, out] = drawn.money === 'oddWords' ? drawn.odd : drawn.pair
            const both = drawn.money !== 'words' && drawn.money !== 'oddWords'
            return [[id, both ? 'leave' : written === into ? 'in' : written === out ? 'out' : 'leave']]
          }
          return [[id, written === drawn.states.booked ? 'booked' : 'leave']]
        }),
      )
    case 'choice':
      return question.about === 'direction'
        ? { [question.id]: all.every(({ isIn }) => isIn) ? 'in' : all.some(({ isIn }) => isIn) ? 'leave' : 'out' }
        : {}
    default:
      return {}
  }
}

test('with the answers of someone who knows, nothing else than what happened is recorded either', () => {
  fc.assert(
    fc.property(fc.array(truth, { minLength: 1, maxLength: 8 }), form, (all, drawn) => {
      const text = write(all, drawn)
      const known = trueOf(all)
      let answers: Answers = {}
      for (let round = 0; round < 4; round += 1) {
        const reading = read(text, answers)
        for (const one of recorded(reading)) if (!known.has(one)) expect({ wrong: one, answers, text }).toBeNull()
        answers = Object.assign({ ...answers }, ...reading.questions.map((question) => truthfully(question, all, drawn)))
      }
    }),
    { numRuns: 500 },
  )
})
