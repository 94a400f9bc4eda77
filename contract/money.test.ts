import fc from 'fast-check'
import { expect, test } from 'vitest'
import { decimalsOf } from './currencies.ts'
import { currencyCodes } from './currency-codes.ts'
import { amountProblem, formatMoney, formatSums, fromMinor, largestMinor, readTypedAmount, sumByCurrency, toMinor } from './money.ts'

/** Decimals as people type them: up to ten digits, none to two after the point. */
const typed = fc
  .tuple(
    fc.oneof(fc.integer({ min: 0, max: 999 }), fc.integer({ min: 0, max: 9_999_999_999 })),
    fc.constantFrom('', '.d', '.dd'),
    fc.nat(99),
  )
  .map(([whole, form, cents]) => {
    const digits = String(cents).padStart(2, '0')
    const decimals = form === '' ? '' : form === '.d' ? digits.slice(0, 1) : digits
    return { text: decimals === '' ? String(whole) : `${whole}.${decimals}`, minor: BigInt(whole) * 100n + BigInt(decimals.padEnd(2, '0')) }
  })

test('ten thousand decimals become paise and come back without losing one', () => {
  fc.assert(
    fc.property(typed, ({ text, minor }) => {
      const amount: number = JSON.parse(text)
      expect(toMinor(amount, 'INR')).toBe(Number(minor))
      expect(fromMinor(Number(minor), 'INR')).toBe(amount)
    }),
    { numRuns: 10_000 },
  )
})

test('every number of minor units round-trips, in currencies of none, two and three decimals', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 0, max: largestMinor }),
      fc.constantFrom('JPY', 'INR', 'KWD'),
      // An amount has at most ten digits before its decimals.
      (minor, code) => fromMinor(minor, code) > 9_999_999_999.999 || toMinor(fromMinor(minor, code), code) === minor,
    ),
    { numRuns: 10_000 },
  )
})

test('a number with more than two decimals, or that is no amount, is none', () => {
  for (const amount of [0.1 + 0.2, 10.005, 1e-7, 1e21, 10_000_000_000, -1, Number.NaN, Number.POSITIVE_INFINITY])
    expect(toMinor(amount, 'INR'), String(amount)).toBeNull()
})

test('rupees are grouped as in India and always have two decimals', () => {
  expect([5000, 184200.5, 0.07, 9_999_999_999.99].map((amount) => formatMoney(amount, 'INR'))).toEqual([
    '₹5,000.00',
    '₹1,84,200.50',
    '₹0.07',
    '₹9,99,99,99,999.99',
  ])
})

test('currencies have the decimals of ISO 4217, whatever the runtime gives them', () => {
  const of = (decimals: number) => currencyCodes.filter((code) => decimalsOf(code) === decimals).join(' ')
  expect(of(0)).toBe('BIF CLP DJF GNF ISK JPY KMF KRW PYG RWF UGX VND VUV XAF XOF XPF')
  expect(of(3)).toBe('BHD IQD JOD KWD LYD OMR TND')
  expect(currencyCodes.map((code) => formatMoney(1234, code)).filter((text) => !/1,234(\.00|\.000)?$/.test(text))).toEqual([])
  const money = { HUF: '1,234.00', PKR: '1,234.00', IDR: '1,234.00', COP: '1,234.00', IQD: '1,234.000', JPY: '1,234', KWD: '1,234.000' }
  for (const [code, digits] of Object.entries(money)) expect(formatMoney(1234, code).replace(/^\D+/, ''), code).toBe(digits)
})

test('an amount that its currency cannot have is refused in a sentence', () => {
  const refused = { INR: 1.234, EUR: 0.001, JPY: 12.5, KWD: 1.2345 }
  expect(Object.entries(refused).map(([code, amount]) => amountProblem(amount, code))).toEqual([
    'Please enter an amount with at most two decimals.',
    'Please enter an amount with at most two decimals.',
    'Please enter an amount without decimals: JPY has none.',
    'Please enter an amount with at most three decimals.',
  ])
  expect(amountProblem(1_000_000_000, 'KWD')).toBe('Please enter an amount of at most 999,999,999.999 in KWD.')
  expect(
    Object.entries({ INR: 1.23, JPY: 9_999_999_999, KWD: 999_999_999.999 }).map(([code, amount]) => amountProblem(amount, code)),
  ).toEqual([null, null, null])
})

test('sums are listed by currency, the first one named first, and never added across', () => {
  const amounts = [
    { currency: 'EUR', amount: 100.1 },
    { currency: 'INR', amount: 5000 },
    { currency: 'EUR', amount: 19.9 },
    { currency: 'AED', amount: 1 },
  ]
  expect(formatSums(sumByCurrency(amounts, 'INR'), 'INR')).toBe('₹5,000.00 + AED\u00a01.00 + €120.00')
  expect(formatSums([], 'EUR')).toBe('€0.00')
})

test.each([
  ['1,84,200', 184200],
  ['48,500', 48500],
  ['99,99,99,999.99', 999999999.99],
  ['184,200.5', 184200.5],
  [' ₹ 500 ', 500],
  ['5000/-', 5000],
  ['.5', 0.5],
  ['-5', -5],
  ['1.234', 1.234],
  ['1,00', null],
  ['48,50', null],
  ['1,84,20', null],
  ['5.000', null],
  ['1e5', null],
  ['1 5', null],
  ['', null],
])('the typed amount %s is parsed as %s: commas group, ambiguous text is rejected', (text, expected) => {
  expect(readTypedAmount(text, 'INR')).toBe(expected)
})
