import type { InvoiceColumn } from './invoice-words.ts'
import type { KnownLayout } from './layout.ts'

/*
 * Programs whose lists of invoices are known: facts about their headings and words, each with its source. What an entry does not say is read by the
 * words of its cells, or asked.
 */

/** Programs by the names that imports keep: never rename one. */
export const programs = [
  'zoho',
  'xero',
  'quickbooks',
  'freshbooks',
  'wave',
  'invoiceNinja',
  'stripe',
  'razorpay',
  'tally',
  'erpnext',
  'odoo',
  'sevdesk',
  'lexoffice',
  'pennylane',
  'holded',
  'sage',
] as const
export type Program = (typeof programs)[number]

export interface InvoiceLayout extends KnownLayout<InvoiceColumn> {
  program: Program
  /** Rows of one number are added: items of an invoice, or what it owes and its payments. */
  rows?: 'lines' | 'ledger'
  /** The word of the `filter` column of rows that count. */
  only?: string
  /** The rows of a client are below a line with its name. */
  groups?: true
  /** Amounts are in paise, cents and the like. */
  inSubunits?: true
  /** The currency of an amount for which the file names none. */
  usual?: string
}

export const invoiceLayouts: InvoiceLayout[] = [
  {
    program: 'zoho',
    name: 'Zoho',
    headings:
      'Invoice Number = number | Invoice Status = status | Customer Name = client | Due Date = due | Total = gross | Balance = balance | Currency Code? = currency | Invoice Date? = issued | Invoice ID? = other | Primary Contact EmailID? = email | Item Name? = text | Item Total? = other | SubTotal? = net',
    words: { status: { closed: 'paid' } },
    source: 'invoiceninja, tests/Feature/Import/zoho_invoices.csv',
  },
  {
    program: 'xero',
    name: 'Xero',
    headings:
      'ContactName = client | EmailAddress = email | InvoiceNumber = number | DueDate = due | Total = gross | InvoiceDate? = issued | InvoiceAmountPaid? = paidAmount | AmountPaid? = paidAmount | InvoiceAmountDue? = balance | AmountDue? = balance | Currency? = currency | Type? = kind | Status? = status | Reference? = other | LineAmount? = other | Description? = text',
    words: { status: { submitted: 'draft' } },
    source: 'central.xero.com, export of sales invoices',
  },
  {
    program: 'quickbooks',
    name: 'QuickBooks, open invoices',
    headings:
      'Date = issued | Transaction type = kind | Num = number | Due date = due | Open balance = balance | Amount? = gross | Customer full name? = client | Customer? = client | Name? = client | Currency? = currency | Email? = email | Terms? = other',
    groups: true,
    source: 'quickbooks.intuit.com, report “Open invoices”',
  },
  {
    program: 'quickbooks',
    name: 'QuickBooks, invoices',
    headings:
      'Date = issued | No. = number | Customer = client | Due date = due | Balance = balance | Total = gross | Status = status | Email? = email | Currency? = currency',
    words: { status: { closed: 'paid', deposited: 'paid' } },
    source: 'quickbooks.intuit.com, list of invoices',
  },
  {
    program: 'freshbooks',
    name: 'FreshBooks',
    headings:
      'Client Name = client | Invoice # = number | Date Issued = issued | Invoice Status = status | Line Total = item | Date Due? = due | Due Date? = due | Date Paid? = paidOn | Currency? = currency | Email? = email | Item Name? = text',
    rows: 'lines',
    source: 'invoiceninja, tests/Feature/Import/freshbooks_invoices.csv',
  },
  {
    program: 'wave',
    name: 'Wave, transactions',
    headings:
      'Transaction ID = other | Transaction Date = issued | Amount (One column) = item | Customer = client | Invoice Number = number | Account Type = filter',
    rows: 'ledger',
    only: 'system receivable invoice',
    source: 'invoiceninja, tests/Feature/Import/wave_invoices.csv',
  },
  {
    program: 'wave',
    name: 'Wave, invoices',
    headings:
      'Customer = client | Invoice Number = number | Status = status | Date = issued | Due Date = due | Amount Due = balance | Total = gross | Email? = email | Currency? = currency',
    words: { status: { unsent: 'draft', saved: 'draft' } },
    source: 'support.waveapps.com, export of invoices',
  },
  {
    program: 'invoiceNinja',
    name: 'Invoice Ninja',
    headings:
      'Client = client | Invoice Number = number | Amount = gross | Paid = paidAmount | Status = status | Due Date = due | Email? = email | Date? = issued | Currency? = currency',
    source: 'invoiceninja, tests/Feature/Import/invoice.csv',
  },
  {
    program: 'invoiceNinja',
    name: 'Invoice Ninja, report',
    headings:
      'Client = client | Invoice Invoice Number = number | Invoice Amount = gross | Invoice Paid = paidAmount | Invoice Status = status | Invoice Due Date = due | Email? = email | Client Email? = email | Invoice Date? = issued | Invoice Balance? = balance | Currency? = currency | Client Currency? = currency',
    source: 'invoiceninja, app/Export/CSV/InvoiceExport.php',
  },
  {
    program: 'invoiceNinja',
    name: 'Invoice Ninja 5',
    headings:
      'Invoice Number = number | Client Name = client | Invoice Amount = gross | Invoice Balance = balance | Invoice Paid to Date = paidAmount | Invoice Status = status | Invoice Due Date = due | Client Email? = email | Invoice Date? = issued | Client Currency? = currency',
    source: 'invoiceninja, app/Export/CSV/InvoiceExport.php',
  },
  {
    program: 'stripe',
    name: 'Stripe',
    headings:
      'id = other | Amount Due = gross | Amount Paid = paidAmount | Currency = currency | Customer = client | Due Date (UTC) = due | Number = number | Status = status | Amount Remaining? = balance | Customer Email? = email | Customer Name? = client | Date (UTC)? = issued | Paid? = other | Closed? = other | Subtotal? = other | Total? = other | Tax? = other | Amount Billed? = other',
    source: 'docs.stripe.com, export of invoices',
  },
  {
    program: 'razorpay',
    name: 'Razorpay',
    headings:
      'Invoice No. = number | Customer Name = client | Customer Email = email | Currency = currency | Amount = gross | Expire by = due | Status? = status',
    inSubunits: true,
    usual: 'INR',
    order: 'dmy',
    source: 'razorpay.com/docs/payments/payment-links/batch-upload',
  },
  {
    program: 'tally',
    name: 'Tally',
    headings:
      "Date = issued | Ref. No. = number | Party's Name = client | Pending Amount = balance | Due on = due | Opening Amount? = gross | E-mail? = email | E-Mail ID? = email | Overdue by days? = other | Age of Bill in Days? = other",
    source: 'help.tallysolutions.com, bills receivable',
  },
  {
    program: 'erpnext',
    name: 'ERPNext',
    headings:
      'ID = number | Grand Total = gross | Outstanding Amount = balance | Status = status | Customer Name? = client | Customer? = client | Payment Due Date? = due | Due Date? = due | Posting Date? = issued | Date? = issued | Currency? = currency | Contact Email? = email | Is Return (Credit Note)? = return | Return Against? = against | Grand Total (Company Currency)? = other',
    words: {
      status: {
        submitted: 'open',
        return: 'credit',
        'credit note issued': 'writtenOff',
        'unpaid and discounted': 'unpaid',
        'overdue and discounted': 'overdue',
        'partly paid and discounted': 'partial',
        'internal transfer': 'void',
      },
    },
    source: 'frappe/erpnext, accounts/doctype/sales_invoice/sales_invoice.json',
  },
  {
    program: 'odoo',
    name: 'Odoo',
    headings:
      'Number = number | Invoice Partner Display Name = client | Due Date = due | Total Signed = gross | Amount Due Signed = balance | Payment Status? = status | Status? = status | Invoice/Bill Date? = issued | Currency? = currency | Email? = email | Untaxed Amount Signed? = net | Tax Signed? = tax',
    words: { status: { posted: 'open', 'in payment': 'open' } },
    source: 'odoo/odoo, addons/account/models/account_move.py',
  },
  {
    program: 'sevdesk',
    name: 'sevDesk',
    headings:
      'Rechnungsnummer = number | Kunde = client | Rechnungsdatum = issued | Fällig am = due | Summe brutto = gross | Offener Betrag? = balance | Währung? = currency | Status? = status | E-Mail? = email | Summe netto? = net',
    order: 'dmy',
    source: 'hilfe.sevdesk.de, export of invoices',
  },
  {
    program: 'lexoffice',
    name: 'lexoffice',
    headings:
      'Belegnummer = number | Kunde = client | Belegdatum = issued | Fälligkeitsdatum = due | Betrag = gross | Offen = balance | Status = status | E-Mail? = email',
    order: 'dmy',
    source: 'help.lexware.de, export of vouchers',
  },
  {
    program: 'pennylane',
    name: 'Pennylane',
    headings:
      'id = other | invoice_number = number | customer_name = client | issue_date = issued | deadline = due | currency = currency | amount_eur = gross | remaining_amount = balance | status = status | customer_email? = email | amount_eur_excl_taxes? = net | paid? = paidFlag',
    words: { status: { upcoming: 'open', incomplete: 'draft', archived: 'void' } },
    source: 'pennylane.readme.io, customer invoices',
  },
  {
    program: 'holded',
    name: 'Holded',
    headings:
      'Date = issued | Due date = due | Num = number | Client = client | Total = gross | Collected = paidAmount | Pending = balance | Status = status | Email? = email | Subtotal? = net | VAT? = tax',
    order: 'dmy',
    source: 'holded.com, export of invoices',
  },
  {
    program: 'holded',
    name: 'Holded, Spanish',
    headings:
      'Fecha = issued | Vencimiento = due | Num = number | Cliente = client | Total = gross | Cobrado = paidAmount | Pendiente = balance | Estado = status | Email? = email | Subtotal? = net | IVA? = tax',
    order: 'dmy',
    source: 'holded.com, export of invoices',
  },
  {
    program: 'sage',
    name: 'Sage',
    headings:
      'Invoice Number = number | Date = issued | Due Date = due | Customer Name = client | Total Amount = gross | Outstanding = balance | Status = status | Email? = email | Reference? = other | Net Amount? = net | VAT Amount? = tax',
    source: 'help.sbc.sage.com, export of sales invoices',
  },
]
