import fc from 'fast-check'
import { expect, test } from 'vitest'
import { formatRupees, fromMinor, largestMinor, toMinor } from './money.ts'

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
      expect(toMinor(amount)).toBe(Number(minor))
      expect(fromMinor(Number(minor))).toBe(amount)
    }),
    { numRuns: 10_000 },
  )
})

test('every number of paise round-trips', () => {
  fc.assert(
    fc.property(fc.integer({ min: 0, max: largestMinor }), (minor) => toMinor(fromMinor(minor)) === minor),
    { numRuns: 10_000 },
  )
})

test('a number with more than two decimals, or that is no amount, is none', () => {
  for (const amount of [0.1 + 0.2, 10.005, 1e-7, 1e21, 10_000_000_000, -1, Number.NaN, Number.POSITIVE_INFINITY])
    expect(toMinor(amount), String(amount)).toBeNull()
})

test('rupees are grouped as in India and always have two decimals', () => {
  expect([5000, 184200.5, 0.07, 9_999_999_999.99].map(formatRupees)).toEqual(['₹5,000.00', '₹1,84,200.50', '₹0.07', '₹9,99,99,99,999.99'])
})
