import { expect, test } from 'vitest'
import type { StatementEntry, StatementFile } from '#contract/import/statement.ts'
import { readStatement } from './read.ts'

const read = (text: string) => readStatement(new TextEncoder().encode(text))
function statementOf(text: string): StatementFile {
  const file = read(text)
  if (file?.kind !== 'statement') throw new Error(JSON.stringify(file))
  return file
}
const entryOf = (text: string) => statementOf(text).entries[0] as StatementEntry
const record = (...lines: string[]) => `${[...lines, '^'].join('\n')}\n`

test('an entry is read in both directions, and neither its date nor its currency is guessed', () => {
  const file = statementOf(
    `!Type:Bank\n${record('D03/05/2026', 'T150.00', 'N1001', 'PAsha & Co', 'MInvoice INV-0008', 'LIncome:Design')}${record('D03/06/2026', 'U-20.50', 'PFee')}`,
  )
  expect(file).toMatchObject({
    formats: ['QIF'],
    accounts: [{ id: null, currency: null, name: null, isCard: false }],
    notes: [],
    entries: [
      {
        booked: null,
        valued: null,
        dateText: '03/05/2026',
        amount: '150.00',
        currency: null,
        direction: 'in',
        state: 'booked',
        reversal: false,
        bankId: null,
        references: ['1001'],
        name: 'Asha & Co',
        text: 'Invoice INV-0008',
        code: 'Income:Design',
        unclear: null,
        position: 'line 2',
      },
      { direction: 'out', amount: '20.50', name: 'Fee', position: 'line 9' },
    ],
  })
})

test.each([
  ["3/ 5'26", null, '3/5/2026'],
  ["03/05'2026", null, '03/05/2026'],
  ['31.12.26', null, '31.12.26'],
  ['2026-03-05', '2026-03-05', null],
  ['2026/3/5', '2026-03-05', null],
  ['2026-02-30', null, null],
  ['5 March 2026', null, '5 March 2026'],
])('the date %s', (written, booked, dateText) => {
  expect(entryOf(`!Type:Bank\n${record(`D${written}`, 'T5')}`)).toMatchObject({ booked, dateText })
})

test('each account has its entries, and that of a card is one', () => {
  const account = (name: string, type: string) => `!Account\n${record(`N${name}`, `T${type}`)}`
  const file = statementOf(
    `!Option:AutoSwitch\n${account('Checking', 'Bank')}!Type:Bank\n${record('D1/2/26', 'T5')}${account('Visa', 'CCard')}!Type:CCard\n${record('D1/2/26', 'T-6')}!Clear:AutoSwitch\n`,
  )
  expect(file.accounts).toMatchObject([
    { name: 'Checking', isCard: false },
    { name: 'Visa', isCard: true },
  ])
  expect(file.entries.map(({ account: index }) => index)).toEqual([0, 1])
})

test('a transfer between own accounts is no payment until a person says so, and an opening balance is left out', () => {
  const lines = record('D1/1/26', 'T900', 'POpening Balance', 'L[Checking]') + record('D1/2/26', 'T5', 'L[Savings]')
  const file = statementOf(`!Account\n${record('NChecking', 'TBank')}!Type:Bank\n${lines}`)
  expect(file.notes).toEqual(['Left out line 6: it is the opening balance, not a payment.'])
  expect(file.entries).toMatchObject([{ amount: '5', unclear: 'It is a transfer between your own accounts, with Savings.' }])
  expect(
    statementOf(`!Account\n${record('NChecking', 'TBank')}!Type:Bank\n${lines.replace('Opening Balance', 'Saldo')}`).entries,
  ).toHaveLength(1)
})

test('parts that do not add up are a question', () => {
  const split = (second: string) => entryOf(`!Type:Bank\n${record('D1/2/26', 'T100.00', 'SDesign', '$60.00', 'STravel', `$${second}`)}`)
  expect(split('40.00').unclear).toBeNull()
  expect(split('41.00').unclear).toBe('Its parts do not add up to its amount.')
})

test('what a register has not cleared is a question', () => {
  const file = statementOf(`!Type:Bank\n${record('D1/2/26', 'T5', 'CX')}${record('D1/2/26', 'T6')}${record('D1/2/26', 'T7', 'C*')}`)
  expect(file.entries).toMatchObject([{ state: 'booked' }, { state: null, stateText: 'not cleared' }, { state: 'booked' }])
})

test.each([
  ['1,234.56', '1234.56', null],
  ['1.234,56', '1234.56', null],
  ['1,18,000.00', '118000.00', null],
  ['1,234', '1.234', '1,234'],
])('the amount %s is %s', (amount, plain, amountText) => {
  expect(entryOf(`!Type:Bank\n${record('D1/2/26', `T${amount}`)}`)).toMatchObject({ amount: plain, amountText, unclear: null })
})

test('records without a heading are those of a bank', () => {
  expect(entryOf(record('D13/05/08', 'T-20.50', 'MCheque'))).toMatchObject({ direction: 'out', amount: '20.50', dateText: '13/05/08' })
})

test('investments and lists are left out', () => {
  const file = statementOf(
    `!Type:Cat\n${record('NFood', 'E')}!Type:Invst\n${record('D1/2/26', 'NBuy', 'T100')}!Type:Bank\n${record('D1/2/26', 'T5')}`,
  )
  expect(file.entries).toMatchObject([{ amount: '5' }])
  expect(file.notes).toEqual([expect.stringContaining('investment account')])
})

test('a file that is cut in an entry is refused as a whole', () => {
  const text = `!Type:Bank\n${record('D03/05/2026', 'T150.00')}${record('D03/06/2026', 'T1234.50', 'PAsha')}`
  const second = text.lastIndexOf('D03')
  for (let length = second + 1; length < text.lastIndexOf('^'); length += 1)
    expect(read(text.slice(0, length)), `${length}`).toEqual({ kind: 'refused', message: expect.stringContaining('ends in the middle') })
  expect(read(text.replace(/\^\n(?=D)/, '!Type:Bank\n'))).toEqual({
    kind: 'refused',
    message: expect.stringContaining('ends in the middle, in line 3'),
  })
})
