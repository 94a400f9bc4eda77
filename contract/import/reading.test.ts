import { expect, test } from 'vitest'
import { amountOf, currenciesNamed, provenDecimals, readDigits, takeApart } from './amounts.ts'
import { readWrittenDay } from './days.ts'
import { headingOf, wordKey } from './headings.ts'

test.each([
  ['20261120', '2026-11-20'],
  ['2026.11.20', '2026-11-20'],
  ['2026-11-20T23:30:00Z', '2026-11-20'],
  ['2026年11月20日', '2026-11-20'],
  ['20Nov2026', '2026-11-20'],
  ['20th Nov 2026', '2026-11-20'],
  ['Friday, 20 November 2026', '2026-11-20'],
  ['Nov-20-2026', '2026-11-20'],
  ['Nov 20, 2026 11:00 PM', '2026-11-20'],
  ['20-Nov-26', '2026-11-20'],
  ['20/11/2026 10:00', '2026-11-20'],
  ['1er décembre 2026', '2026-12-01'],
  ['24. März 2026', '2026-03-24'],
  ['24 de noviembre de 2026', '2026-11-24'],
  ['20 नवंबर 2026', '2026-11-20'],
  ['२०/११/२०२६', '2026-11-20'],
])('the date %s has one meaning', (text, day) => {
  const read = readWrittenDay(text)
  expect(read && ('day' in read ? read.day : (read.dmy ?? read.mdy))).toBe(day)
})

test.each(['soon', '31/02/2026', 'Pending 20 Nov 2026', '20 Nov', '2026', '46350', '20/11-2026', 'INV-20-11-2026'])(
  '%s is no date',
  (text) => {
    expect(readWrittenDay(text)).toBe(null)
  },
)

test('a day and a month below 13 are read in both orders, and one of them where the other does not exist', () => {
  expect(readWrittenDay('03/05/2026')).toEqual({ dmy: '2026-05-03', mdy: '2026-03-05' })
  expect(readWrittenDay('24/11/2026')).toEqual({ dmy: '2026-11-24', mdy: null })
  expect(readWrittenDay('05/05/2026')).toEqual({ day: '2026-05-05' })
})

test.each([
  ['₹1,18,000.00 Dr', { digits: '1,18,000.00', side: 'out', currency: '₹' }],
  ['CR 150.00', { digits: '150.00', side: 'in' }],
  ['(500.00)', { digits: '500.00', minus: true }],
  ['500.00-', { digits: '500.00', minus: true }],
  ['−500.00', { digits: '500.00', minus: true }],
  ['Rs. 1,200/-', { digits: '1,200', minus: false, currency: 'Rs.' }],
  ['1 200,50 €', { digits: '1 200,50', currency: '€' }],
  ['US$1,200.50', { digits: '1,200.50', currency: 'US$' }],
  ['+120,00 H', { digits: '120,00', plus: true, side: 'in' }],
])('%s is taken apart', (cell, parts) => {
  expect(takeApart(cell)).toMatchObject(parts)
})

test.each(['', 'twelve', '1.2.3 or so', 'INV-1 and 2', '12/11/2026'])('%s is no amount', (cell) => {
  expect(takeApart(cell)).toBe(null)
})

test.each([
  ['1,18,000.00', 'INR', { value: 118_000 }],
  ['1’234.50', 'CHF', { value: 1_234.5 }],
  ['1 120,50', 'EUR', { value: 1_120.5 }],
  ['1.234.567', 'EUR', { value: 1_234_567 }],
  ['0.500', 'KWD', { value: 0.5 }],
  ['12,000', 'JPY', { value: 12_000 }],
  ['12000.00', 'JPY', { value: 12_000 }],
  ['1.200', 'EUR', { point: 1.2, comma: 1_200 }],
  ['1,200', 'EUR', { point: 1_200, comma: 1.2 }],
  ['1.23.4', 'EUR', null],
  ['1 23', 'EUR', null],
])('%s in %s is read', (digits, currency, value) => {
  const read = readDigits(digits, currency)
  expect(read && 'value' in read ? { value: read.value } : read).toEqual(value)
})

test('what a comma divides is proven by another amount of the file, said by the currency, or asked', () => {
  const of = (cell: string, currency: string, others: string[] = []) => {
    const rows = others.map((other, number) => ({ number, cells: [other] }))
    const column = { heading: 'Amount', key: 'amount', decimals: provenDecimals(rows, [0], currency), answers: {} }
    const found = amountOf({ cell, written: takeApart(cell), currency }, column)
    return found.kind === 'certain' ? found.value : found.kind
  }
  expect([of('1,200', 'INR'), of('1.200', 'INR'), of('1,200', 'EUR'), of('1.200', 'EUR')]).toEqual([1_200, 'asked', 'asked', 'asked'])
  expect([of('1.200', 'EUR', ['12,50']), of('1,200', 'EUR', ['12.50']), of('1.200', 'EUR', ['12,50', '12.50'])]).toEqual([
    1_200,
    1_200,
    'asked',
  ])
  expect([of('33.333', 'EUR', ['12.50']), of('120.005', 'KWD'), of('1e5', 'EUR')]).toEqual(['refused', 120.005, 'refused'])
})

test('a sign of several currencies is that of the account where it has one of them', () => {
  expect([
    currenciesNamed('$', ['INR', 'CAD']),
    currenciesNamed('₹', []),
    currenciesNamed('inr - Indian Rupee', []),
    currenciesNamed('Foo', []),
  ]).toEqual([['CAD'], ['INR'], ['INR'], []])
  expect(currenciesNamed('$', ['USD', 'CAD']).length).toBeGreaterThan(1)
})

test.each([
  ['*InvoiceAmountDue (INR)', 'invoice amount due', 'INR'],
  ['Montant en €', 'montant', '€'],
  ['Belastung CHF', 'belastung', 'CHF'],
  ['Gutschrift in CHF', 'gutschrift', 'CHF'],
  ['amount_eur', 'amount', 'EUR'],
  ['Débit euros', 'debit', 'euros'],
  ['Total (ALL)', 'total all', null],
  ['Naamtegenpartij', 'naamtegenpartij', null],
  ['Dr / Cr', 'dr cr', null],
  ['राशि', 'राशि', null],
])('the heading %s is “%s”', (cell, key, currency) => {
  expect(headingOf(cell)).toMatchObject({ key, currency })
})

test('a word is compared without case, accents and points', () => {
  expect(['Umsatz vorgemerkt', 'ACH_CREDIT', 'Dr.', 'Obciążenie', '+'].map(wordKey)).toEqual([
    'umsatz vorgemerkt',
    'ach credit',
    'dr',
    'obciazenie',
    '+',
  ])
})
