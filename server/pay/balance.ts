import { fromMinor } from '#contract/money.ts'
import type { InvoiceRow } from '#server/invoices/tables.ts'

/** What an invoice comes to, in units of its currency. */
export interface Owed {
  currency: string
  /** Still to pay. */
  balance: number
  total: number
  paid: number
}

export function owedOf({ amountMinor, paidMinor, currency }: InvoiceRow): Owed {
  return {
    currency,
    balance: fromMinor(Math.max(0, amountMinor - paidMinor), currency),
    total: fromMinor(amountMinor, currency),
    paid: fromMinor(paidMinor, currency),
  }
}
