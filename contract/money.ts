/** The largest amount of one invoice, in minor units: 9,999,999,999.99. */
export const largestMinor = 999_999_999_999

const twoDecimals = /^\d{1,10}(\.\d{1,2})?$/

/** A JSON number with at most two decimals to integer minor units; null when it is not one. No float arithmetic: the digits are read. */
export function toMinor(amount: number): number | null {
  const text = String(amount)
  if (!twoDecimals.test(text)) return null
  const [whole = '0', cents = ''] = text.split('.')
  return Number(whole) * 100 + Number(cents.padEnd(2, '0'))
}

/** Integer minor units to the number that people write: 184200 to 1842. */
export function fromMinor(minor: number): number {
  return Number(`${Math.trunc(minor / 100)}.${String(minor % 100).padStart(2, '0')}`)
}

let rupees: Intl.NumberFormat | undefined

/** ₹1,84,200.00: Indian grouping, always two decimals. */
export function formatRupees(amount: number): string {
  // Made when the first amount is shown: on a phone it takes as long as all the rest of a module's start.
  rupees ??= new Intl.NumberFormat('en-IN', { style: 'currency', currency: 'INR', minimumFractionDigits: 2 })
  return rupees.format(amount)
}
