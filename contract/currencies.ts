/**
 * The digits behind the point: 2, or 0 as for JPY, or 3 as for KWD. Frozen from ISO 4217, whose codes are in currency-codes.ts. Not from
 * Intl, which gives HUF, PKR, IDR, COP and IQD no decimals, and differs between the server's runtime and browsers.
 */
export function decimalsOf(currency: string): 0 | 2 | 3 {
  if (/^(BIF|CLP|DJF|GNF|ISK|JPY|KMF|KRW|PYG|RWF|UGX|VND|VUV|X[AOP]F)$/.test(currency)) return 0
  return /^(BHD|IQD|JOD|KWD|LYD|OMR|TND)$/.test(currency) ? 3 : 2
}
