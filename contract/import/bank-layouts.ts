import type { BankColumn } from './bank-words.ts'
import type { KnownLayout } from './layout.ts'

/*
 * Banks and programs whose exports are known: facts about their headings and words, each with its source. What an entry does not say is read by the
 * words of its headings, or asked.
 */

const reporting = {
  charge: 'in',
  payment: 'in',
  refund: 'out',
  payout: 'leave',
  transfer: 'leave',
  adjustment: 'leave',
  fee: 'out',
  dispute: 'out',
}

export const layouts: KnownLayout<BankColumn>[] = [
  {
    name: 'PayPal',
    headings:
      'Date = date | Name = name | Type = other | Status = state | Currency = currency | Gross = amount | Fee = fee | Net = net | Transaction ID = bankId | Item Title? = description | Invoice Number? = reference | Subject? = description | Note? = description | Balance Impact? = other',
    signed: true,
    source: 'paypal.com, activity download',
  },
  {
    name: 'Stripe, itemised balance',
    headings:
      'balance_transaction_id = bankId | created_utc = date | available_on_utc? = valued | currency = currency | gross = amount | fee = fee | net = net | reporting_category = direction | description = description',
    words: { direction: { ...reporting, 'charge failure': 'out' } },
    source: 'docs.stripe.com/reports, balance change from activity',
  },
  {
    name: 'Stripe, balance transactions',
    headings:
      'id = bankId | Type = direction | Source = other | Amount = amount | Fee = fee | Net = net | Currency = currency | Created (UTC) = date | Available On (UTC) = valued | Description = description',
    words: { direction: { ...reporting, 'payment refund': 'out', 'payment failure refund': 'out', 'stripe fee': 'out' } },
    source: 'docs.stripe.com, export of balance transactions',
  },
  {
    name: 'Razorpay, settlements',
    headings:
      'transaction_entity = direction | entity_id = bankId | amount = amount | currency = currency | debit = other | credit = other | entity_created_at = date | payment_description? = description | order_receipt? = reference | settlement_id = other',
    words: { direction: reporting },
    order: 'dmy',
    source: 'razorpay.com/docs/payments/settlements, reconciliation report',
  },
  {
    name: 'Razorpay, payments',
    headings:
      'id = bankId | amount = amount | currency = currency | status = state | order_id = reference | method = other | amount_refunded = other | captured = other | description? = description | email? = name | fee? = fee | created_at = date',
    words: { state: { captured: 'booked', failed: 'failed', refunded: 'refunded', created: 'pending', authorized: 'pending' } },
    order: 'dmy',
    signed: true,
    source: 'razorpay.com/docs/payments/dashboard, export of payments',
  },
  {
    name: 'American Express',
    headings: 'Date Processed = date | Description = description | Amount = amount',
    isCard: true,
    source: 'bank2ynab/bank2ynab, test-data',
  },
  {
    name: 'Chase',
    headings:
      'Details = other | Posting Date = booked | Description = description | Amount = amount | Type = other | Balance = balance | Check or Slip # = reference',
    order: 'mdy',
    signed: true,
    source: 'mtlynch/beancount-chase-bank',
  },
  {
    name: 'Bank of America',
    headings: 'Date = date | Description = description | Amount = amount | Running Bal. = balance',
    order: 'mdy',
    signed: true,
    source: 'bankofamerica.com, download of transactions',
  },
  {
    name: 'HDFC Bank',
    headings:
      'Date = date | Narration = description | Chq./Ref.No. = reference | Value Dt = valued | Withdrawal Amt. = out | Deposit Amt. = in | Closing Balance = balance',
    order: 'dmy',
    source: 'firefly-iii/import-configurations#138',
  },
  {
    name: 'HDFC Bank, delimited',
    headings:
      'Date = date | Narration = description | Value Dat = valued | Debit Amount = out | Credit Amount = in | Chq/Ref Number = reference | Closing Balance = balance',
    order: 'dmy',
    source: 'firefly-iii/import-configurations, in/hdfc',
  },
  {
    name: 'ICICI Bank',
    headings:
      'S No. = other | Value Date = valued | Transaction Date = date | Cheque Number = reference | Transaction Remarks = description | Withdrawal Amount (INR ) = out | Deposit Amount (INR ) = in | Balance (INR ) = balance',
    order: 'dmy',
    source: 'FFFSTANZA/SharaLedger, docs/INDIAN_BANK_FORMATS.md',
  },
  {
    name: 'Barclays',
    headings: 'Number = other | Date = date | Account = account | Amount = amount | Subcategory = other | Memo = description',
    order: 'dmy',
    signed: true,
    source: 'firefly-iii/import-configurations, gb/barclays',
  },
]
