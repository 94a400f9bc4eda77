import type { Source } from '#contract/import/sources.ts'

/** A file of each program whose exports are recognised, its lines. */
export const exportsOf: Record<Source, string[]> = {
  zoho: [
    'Invoice Date,Invoice Number,Invoice Status,Customer Name,Due Date,Currency Code,Item Name,Item Total,Total,Balance,Primary Contact EmailID',
    '2026-01-05,INV-01,Overdue,Kaveri Foods,2026-02-04,INR,Design,100.00,1180.00,180.00,pay@kaveri.example',
    '2026-01-05,INV-01,Overdue,Kaveri Foods,2026-02-04,INR,Print,1080.00,1180.00,180.00,pay@kaveri.example',
    '2026-01-05,INV-02,Closed,Kaveri Foods,2026-02-04,INR,Design,5000.00,5000.00,0.00,pay@kaveri.example',
    '2026-01-05,INV-03,Draft,Kaveri Foods,2026-02-04,INR,Design,700.00,700.00,700.00,pay@kaveri.example',
    '2026-01-05,INV-04,Void,Kaveri Foods,2026-02-04,INR,Design,700.00,700.00,0.00,pay@kaveri.example',
    '2026-01-05,INV-05,Sent,Kaveri Foods,2026-02-04,INR,Design,700.00,700.00,700.00,pay@kaveri.example',
    '2026-01-05,INV-05,Sent,Kaveri Foods,2026-02-04,INR,Design,700.00,900.00,900.00,pay@kaveri.example',
  ],
  xero: [
    '*ContactName,EmailAddress,*InvoiceNumber,InvoiceDate,*DueDate,Total,InvoiceAmountPaid,InvoiceAmountDue,Description,Currency,Type,Status',
    'Zenith Labs,ap@zenith.example,INV-1,13/01/2026,12/02/2026,1180.0000,180.0000,1000.0000,Design,GBP,Sales invoice,Awaiting Payment',
    'Zenith Labs,ap@zenith.example,INV-1,13/01/2026,12/02/2026,1180.0000,180.0000,1000.0000,Print,GBP,Sales invoice,Awaiting Payment',
    'Zenith Labs,ap@zenith.example,CN-1,13/01/2026,12/02/2026,80.0000,0.0000,80.0000,Back,GBP,Sales credit note,Awaiting Payment',
    'Paper Ltd,ap@paper.example,77,13/01/2026,12/02/2026,80.0000,0.0000,80.0000,Paper,GBP,Bill,Awaiting Payment',
  ],
  quickbooks: [
    'Studio Indigo,,,,,',
    'Open Invoices,,,,,',
    'Date,Transaction type,Num,Due date,Amount,Open balance',
    'Acme Corp,,,,,',
    '01/15/2026,Invoice,1042,02/14/2026,"1,200.00",200.00',
    '01/20/2026,Payment,,,-50.00,-50.00',
    'Total for Acme Corp,,,,"1,150.00",150.00',
    'Beta LLC,,,,,',
    '02/03/2026,Invoice,1043,03/05/2026,450.00,450.00',
    'TOTAL,,,,"1,600.00",600.00',
  ],
  freshbooks: [
    'Client Name,Invoice #,Date Issued,Invoice Status,Date Paid,Item Name,Rate,Quantity,Line Total,Currency',
    'Alpha,INV-1,2026-01-05,sent,,Design,75,10,750.00,USD',
    'Alpha,INV-1,2026-01-05,sent,,Print,5,10,50.25,USD',
    'Alpha,INV-2,2026-01-05,partial,,Print,5,10,50.00,USD',
    'Alpha,INV-3,2026-01-05,auto-paid,2026-01-09,Print,5,10,50.00,USD',
  ],
  wave: [
    'Transaction ID,Transaction Date,Account Name,Transaction Description,Amount (One column),Customer,Invoice Number,Account Type',
    '1,2026-01-10,Accounts Receivable,Invoice 7,1500.00,Acme,7,System Receivable Invoice',
    '1,2026-01-10,Sales,Invoice 7,1500.00,Acme,7,Income',
    '2,2026-01-20,Accounts Receivable,Payment,-500.00,Acme,7,System Receivable Invoice',
    '3,2026-01-21,Accounts Receivable,Invoice 8,80.00,Acme,8,System Receivable Invoice',
    '4,2026-01-22,Accounts Receivable,Payment,-80.00,Acme,8,System Receivable Invoice',
  ],
  invoiceNinja: [
    'Invoice report,,,,,,',
    'Client,Email,Invoice Invoice Number,Invoice Amount,Invoice Paid,Invoice Status,Invoice Due Date',
    'Acme,ap@acme.example,0007,"1,500.00",500.00,Partial,2026-02-01',
    'Acme,ap@acme.example,0008,80.00,80.00,Paid,2026-02-01',
    'Acme,ap@acme.example,0009,80.00,0.00,Draft,2026-02-01',
  ],
  stripe: [
    'id,Amount Due,Currency,Customer,Date (UTC),Due Date (UTC),Number,Amount Paid,Status',
    'in_1,5000.00,inr,cus_9,2026-01-02 10:00,2026-02-01 10:00,A-1,2000.00,open',
    'in_2,50.00,usd,cus_9,2026-01-02 10:00,2026-02-01 10:00,A-2,0.00,void',
    'in_3,50.00,usd,cus_8,2026-01-02 10:00,2026-02-01 10:00,A-3,0.00,open',
  ],
  razorpay: [
    'Invoice No.,Customer Name,Customer Email,Currency,Amount,Expire by',
    'R-1,Acme,ap@acme.example,INR,500050,01-02-2026',
    'R-2,Acme,ap@acme.example,JPY,5000,01-02-2026',
    'R-3,Acme,ap@acme.example,INR,5000.50,01-02-2026',
  ],
}
