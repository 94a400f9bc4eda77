/* Amounts stay text: no digit of a bank's file goes through a float. */

/** Most digits behind the point. */
const places = 15

/** Digits with a point before decimals, without zeros that say nothing: `0012.5000` is `12.50`. Null where it is no such number. */
export function plainAmount(text: string): string | null {
  const found = /^0*(\d*)(?:\.(\d*))?$/.exec(text)
  const [, whole = '', part = ''] = found ?? []
  if (!found || !/\d/.test(text) || whole.length > 15 || part.length > places) return null
  const decimals = part.replace(/(?<=^\d{2}\d*?)0+$/, '')
  return `${whole || '0'}${decimals === '' ? '' : `.${decimals}`}`
}

/** A plain amount as an integer, so that sums are exact. */
export function unitsOf(amount: string): bigint {
  const [whole = '0', part = ''] = amount.split('.')
  return BigInt(whole + part.padEnd(places, '0'))
}

/** The sum of movements, `in` above zero. */
export function sumOf(movements: Iterable<{ amount: string; direction: 'in' | 'out' }>): bigint {
  let sum = 0n
  for (const { amount, direction } of movements) sum += direction === 'in' ? unitsOf(amount) : -unitsOf(amount)
  return sum
}

/** A balance by its amount and its side. */
export interface Balance {
  amount: string
  direction: 'in' | 'out'
  currency: string
}

/** Whether booked entries lead from one balance to the other. */
export function addsUp(opening: Balance, closing: Balance, entries: Iterable<{ amount: string; direction: 'in' | 'out' }>): boolean {
  return sumOf([opening]) + sumOf(entries) === sumOf([closing])
}

/** The sign before decimals. */
export type Mark = '.' | ','

export interface ReadAmount {
  amount: string
  direction: 'in' | 'out'
  /** Whether it can be another amount too, such as 1,234. */
  isUnclear: boolean
  written: string
}

const shapes = {
  // Whole, or decimals that no group of thousands has.
  decimals: /^\d*[.,](?:\d{0,2}|\d{4,})$|^(?:0|\d{4,})?[.,]\d{3}$|^\d+$/,
  either: /^[1-9]\d{0,2}[.,]\d{3}$/,
  // Groups of three digits, or of two as in India.
  groups: /^\d{1,3}(?:(?:,\d{2,3})*,\d{3}(?:\.\d*)?|(?:\.\d{3})+(?:,\d*)?)$/,
}

/** A number with a sign, as programs write it: `-1,234.56`, `1.234,56`. `mark`: the sign before decimals where it is known. Null: it is none. */
export function readAmount(text: string, mark: Mark | null): ReadAmount | null {
  const written = text.trim()
  const [, sign = '', digits = ''] = /^([+-]?)\s*([\d.,]+)$/.exec(written) ?? []
  const isUnclear = shapes.either.test(digits) && mark === null
  const isGrouped = shapes.either.test(digits) ? mark !== null && !digits.includes(mark) : shapes.groups.test(digits)
  if (!isGrouped && !shapes.either.test(digits) && !shapes.decimals.test(digits)) return null
  const last = Math.max(digits.lastIndexOf('.'), digits.lastIndexOf(','))
  const hasBoth = digits.includes('.') && digits.includes(',')
  const whole = isGrouped ? (hasBoth ? digits.slice(0, last) : digits).replace(/[.,]/g, '') : null
  const plain = whole === null ? digits.replace(',', '.') : `${whole}${hasBoth ? `.${digits.slice(last + 1)}` : ''}`
  const amount = plainAmount(plain)
  return amount === null ? null : { amount, direction: sign === '-' ? 'out' : 'in', isUnclear, written }
}

/** The sign before decimals that a file's amounts prove; null where none does, or where they disagree. */
export function decimalMark(amounts: string[]): Mark | null {
  const proven = new Set(
    amounts.flatMap((text): Mark[] => {
      const digits = text.trim().replace(/^[+-]\s*/, '')
      if (/^\d[\d,]*\.(?:\d{1,2}|\d{4,})$|^\d{1,3}(?:,\d{3})+\.\d*$|^\d+(?:,\d{2,3})+,\d{3}$/.test(digits)) return ['.']
      return /^\d[\d.]*,(?:\d{1,2}|\d{4,})$|^\d{1,3}(?:\.\d{3})+,\d*$|^\d+(?:\.\d{3}){2,}$/.test(digits) ? [','] : []
    }),
  )
  return proven.size === 1 ? ([...proven][0] ?? null) : null
}
