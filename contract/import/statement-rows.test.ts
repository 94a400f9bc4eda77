import { zipSync } from 'fflate'
import { expect, test } from 'vitest'
import { readStatement } from '#contract/import/formats/read.ts'
import { camt053, camtStatement, mt940, ofx, ownAccount, qif, type StatementTransfer } from '#test/statement-files.ts'
import { type BankReading, lineOf, refusalOf, waitsFor } from './bank.ts'
import type { Answers } from './meaning.ts'
import { readBankStatement } from './statement-rows.ts'

const today = '2026-11-28'

function read(content: string | Uint8Array, { held = ['EUR'], answers = {} }: { held?: string[]; answers?: Answers } = {}): BankReading {
  const file = readStatement(typeof content === 'string' ? new TextEncoder().encode(content) : content)
  if (file?.kind !== 'statement') throw new Error(JSON.stringify(file))
  return readBankStatement(file, { today, held, answers })
}

const payments = ({ rows }: BankReading) =>
  rows.flatMap((row) => {
    const found = lineOf(row)
    return found ? [`${found.line.date} ${found.line.amount} ${found.currency}`] : []
  })
const lefts = ({ rows }: BankReading) => rows.map(({ left }) => left)
const asked = ({ questions }: BankReading) => questions.map(({ id }) => id)

const transfers: StatementTransfer[] = [
  { date: '2026-11-20', amount: 120, name: 'Asha & Co', purpose: 'INV-0008' },
  { date: '2026-11-19', amount: -75, name: 'Landlord', purpose: 'Rent' },
]

test.each([camt053, mt940, ofx, qif])('$name is read in both directions without a question', ({ write }) => {
  const reading = read(write(transfers))
  expect([payments(reading), lefts(reading), asked(reading)]).toEqual([['2026-11-20 120 EUR'], [null, 'out'], []])
  expect(reading.rows[0]).toMatchObject({ name: 'Asha & Co', description: 'INV-0008', returnedIn: null, unclear: null })
})

test('what is pending, informational, reversed or a payment of the account that came back is left out by name', () => {
  const [paid, rent] = transfers as [StatementTransfer, StatementTransfer]
  const all: StatementTransfer[] = [
    { ...paid, state: 'pending' },
    { ...paid, state: 'info' },
    { ...paid, isReversal: true },
    { ...rent, isReversal: true },
  ]
  expect(lefts(read(camt053.write(all)))).toEqual(['pending', 'info', 'reversal', 'out'])
  expect(lefts(read(mt940.write(all.filter(({ state }) => state !== 'info'))))).toEqual(['pending', 'reversal', 'out'])
  const back = camt053.write([paid]).replace('<RmtInf>', '<RtrInf><Rsn><Cd>AC04</Cd></Rsn></RtrInf><RmtInf>')
  expect(lefts(read(back))).toEqual(['came-back'])
  expect(lefts(read(camt053.write([{ ...paid, date: '2026-12-01' }])))).toEqual(['future'])
})

test('a later reversal marks the payment that it takes back', () => {
  const [paid] = transfers as [StatementTransfer]
  const reading = read(camt053.write([paid, { ...paid, date: '2026-11-22', amount: -120, isReversal: true, id: 'R1' }]))
  expect(reading.rows.map(({ returnedIn }) => returnedIn)).toEqual(['entry 2', null])
})

test('the payments of a batch are rows of their own, and one that does not add up is looked at', () => {
  const detail = (amount: string, purpose: string) =>
    `<TxDtls><AmtDtls><TxAmt><Amt Ccy="EUR">${amount}</Amt></TxAmt></AmtDtls><RmtInf><Ustrd>${purpose}</Ustrd></RmtInf></TxDtls>`
  const batch = (second: string) =>
    camt053
      .write([{ date: '2026-11-20', amount: 120, name: 'Batch', purpose: 'x' }])
      .replace(/<TxDtls>.*<\/TxDtls>/s, detail('100.00', 'INV-1') + detail(second, 'INV-2'))
  expect(read(batch('20.00')).rows.map(({ place, description }) => [place, description])).toEqual([
    ['entry 1, transaction 1', 'INV-1'],
    ['entry 1, transaction 2', 'INV-2'],
  ])
  expect(payments(read(batch('20.00')))).toEqual(['2026-11-20 100 EUR', '2026-11-20 20 EUR'])
  expect(read(batch('21.00')).rows.map(({ unclear }) => unclear)).toEqual(['The 2 payments in this batch do not add up to its amount.'])
})

test('of several accounts one is chosen, or all of them, each in its currency', () => {
  const other = { id: 'NL91ABNA0417164300', currency: 'USD' }
  const [paid] = transfers as [StatementTransfer]
  const usual = { id: ownAccount, currency: 'EUR' }
  const statements = camtStatement([paid], usual) + camtStatement([{ ...paid, amount: 9 }], other)
  const file = camt053.write([]).replace(/<Stmt>.*<\/Stmt>/s, statements)
  const zip = zipSync({
    'a.xml': new TextEncoder().encode(camt053.write([paid], usual)),
    'b.xml': new TextEncoder().encode(camt053.write([{ ...paid, amount: 9 }], other)),
  })
  for (const content of [file, zip]) {
    const open = read(content)
    expect([asked(open), open.rows]).toEqual([['account/file'], []])
    const choices = [`${ownAccount} EUR`, `${other.id} USD`, 'all']
    expect(open.questions).toMatchObject([{ choices }])
    expect(choices.map((choice) => payments(read(content, { answers: { 'account/file': choice } })))).toEqual([
      ['2026-11-20 120 EUR'],
      ['2026-11-20 9 USD'],
      ['2026-11-20 120 EUR', '2026-11-20 9 USD'],
    ])
    // An account of another file is none of this one.
    expect(asked(read(content, { answers: { 'account/file': 'GB00 GBP' } }))).toEqual(['account/file'])
  }
})

test('a card account is none that clients pay into', () => {
  const card = '!Account\nNVisa\nTCCard\n^\n!Type:CCard\nD20/11/2026\nT120.00\nPAutopay\n^\n'
  expect(read(card)).toMatchObject({ isCard: true, rows: [] })
  const both = read(`!Account\nNGiro\nTBank\n^\n!Type:Bank\nD20/11/2026\nT5.00\nPAsha\n^\n${card}`)
  expect([payments(both), both.notes]).toEqual([
    ['2026-11-20 5 EUR'],
    ['Left out the card account Visa: nothing there is a payment from a client.'],
  ])
})

test('what a format does not define is asked, and the answer settles it', () => {
  const [paid] = transfers as [StatementTransfer]
  const early = qif.write([{ ...paid, date: '2026-11-05' }])
  expect(asked(read(early))).toEqual(['order/date'])
  expect(payments(read(early, { answers: { 'order/date': 'dmy' } }))).toEqual(['2026-11-05 120 EUR'])
  expect(asked(read(qif.write([paid]), { held: ['EUR', 'USD'] }))).toEqual(['currency/file'])
  expect(payments(read(qif.write([paid]), { held: ['EUR', 'USD'], answers: { 'currency/file': 'USD' } }))).toEqual(['2026-11-20 120 USD'])
  const thousands = qif.write([paid]).replace('120.00', '1.234')
  expect(asked(read(thousands))).toEqual(['decimals/amount'])
  expect(payments(read(thousands, { answers: { 'decimals/amount': 'comma' } }))).toEqual(['2026-11-20 1234 EUR'])
  const state = camt053.write([paid]).replace('BOOK', 'HELD')
  const open = read(state)
  expect([asked(open), payments(open), open.rows.map(waitsFor)]).toEqual([['state/file'], [], [['state/file/held']]])
  expect(payments(read(state, { answers: { 'state/file/held': 'booked' } }))).toEqual(['2026-11-20 120 EUR'])
  expect(lefts(read(state, { answers: { 'state/file/held': 'leave' } }))).toEqual(['leave'])
})

test('what no account can hold is refused in a sentence', () => {
  const one = (find: string, by: string) => read(camt053.write([transfers[0] as StatementTransfer]).replace(find, by)).rows.map(refusalOf)
  expect(one('120.00', '120.005')).toEqual(['120.005 is no amount of EUR: it has more decimals, or is too large.'])
  expect(one('Ccy="EUR">120', 'Ccy="XXQ">120')).toEqual(['Duely does not know the currency “XXQ”.'])
  expect(one('<BookgDt><Dt>2026-11-20</Dt></BookgDt><ValDt><Dt>2026-11-20</Dt></ValDt>', '')).toEqual(['This entry has no date.'])
})

test('files of the same accounts have their answers in common, and those that name none have not', () => {
  expect(read(camt053.write(transfers)).headings).toBe(`CAMT.053|${ownAccount} EUR`)
  expect(read(camt053.write([])).headings).toBe(`CAMT.053|${ownAccount} EUR`)
  expect(read(qif.write(transfers)).headings).toBe('')
})
