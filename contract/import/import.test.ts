import { expect, test } from 'vitest'
import { readTypedAmount } from '#contract/money.ts'
import { exportsOf } from '#test/exports.ts'
import { aShownInvoice } from '#test/shown-invoice.ts'
import { keptInvoice } from './again.ts'
import { currencyOfAmount, currencyOfHeader, readAmount, readCurrency, readDay } from './cells.ts'
import { guessByContent, guessByHeader, guessMapping, isHeader, readStatus } from './columns.ts'
import { bodyOf, type FileRow, guessDates, readCsv } from './csv.ts'
import { type Answers, balanceOf, checkRows, unknownStatuses } from './lines.ts'
import { asTable, lacks, readAddresses, recognise, type Source, type Told } from './sources.ts'

const bytes = (text: string) => new TextEncoder().encode(text).buffer
const rowsOf = (content: ArrayBuffer) => {
  const table = readCsv(content)
  return table.kind === 'rows' ? table.rows : table.kind
}

test('the separator of a file is detected, and blank rows keep their number', () => {
  expect(rowsOf(bytes('a;b\r\n\r\n"x;y";2\r\n'))).toEqual([
    { number: 1, cells: ['a', 'b'] },
    { number: 3, cells: ['x;y', '2'] },
  ])
  expect(rowsOf(bytes('a\tb\n1\t2'))).toEqual([
    { number: 1, cells: ['a', 'b'] },
    { number: 2, cells: ['1', '2'] },
  ])
})

test('within limits a file is read piece by piece as it is in one piece, but for blank cells at the end of a row', () => {
  const lines = ['No;Name;Note;', '1;Kaveri Foods;', '', '2;"Zenith; ""Labs""";"two\n\nlines";', ';;;', "3;Paper Ltd;'=1;", '']
  for (const end of ['\n', '\r\n', '\r']) {
    const file = bytes(lines.join(end))
    const whole = rowsOf(file) as FileRow[]
    const rows = whole.map(({ number, cells }) => ({ number, cells: cells.slice(0, cells.findLastIndex((cell) => cell !== '') + 1) }))
    for (let length = 40; length < 60; length += 1) expect(readCsv(file, { rows: 9, columns: 3, length })).toEqual({ kind: 'rows', rows })
  }
})

test('a file is not read behind its limits: one row more than are allowed, or a row that is too long, which is named', () => {
  const limits = { rows: 3, columns: 4, length: 20 }
  const numbers = (content: string) => {
    const table = readCsv(bytes(content), limits)
    return table.kind === 'rows' ? table.rows.map(({ number }) => number) : table
  }
  expect(numbers('a,b\n\n1,2\n'.repeat(500))).toEqual([1, 3, 4, 6])
  expect(numbers(`${'\n'.repeat(500)}a,b`)).toEqual([501])
  expect(numbers('\n'.repeat(500))).toEqual({ kind: 'empty' })
  expect(numbers('a,b\n\n1,2,3,4,5')).toEqual({ kind: 'long-row', number: 3 })
  expect(numbers(`a,b\n${','.repeat(19)}\n1,2,3,4,,,`)).toEqual([1, 3])
  expect(numbers(`a,b\n${'x'.repeat(22)}\n1,2`)).toEqual({ kind: 'long-row', number: 2 })
  expect(numbers(`a,b\n1,"2\n${'3,4\n'.repeat(500)}`)).toEqual({ kind: 'long-row', number: 2 })
})

test('the encodings that Excel writes are detected', () => {
  const windows = Uint8Array.from([0x4d, 0xfc, 0x6c, 0x6c, 0x65, 0x72, 0x2c, 0x31]).buffer
  expect(rowsOf(windows)).toEqual([{ number: 1, cells: ['Müller', '1'] }])
  const shiftJis = Uint8Array.from([0x83, 0x58, 0x83, 0x5e, 0x81, 0x5b, 0x2c, 0x31]).buffer
  expect(rowsOf(shiftJis)).toEqual([{ number: 1, cells: ['スター', '1'] }])
  const marked = bytes('\uFEFFनाम,1')
  expect(rowsOf(marked)).toEqual([{ number: 1, cells: ['नाम', '1'] }])
})

test('a spreadsheet is reported as not CSV, an empty file as empty', () => {
  expect(rowsOf(bytes('PK\u0003\u0004rest'))).toBe('not-csv')
  expect(rowsOf(bytes('\n\n  \n'))).toBe('empty')
})

test('a file in an unknown encoding is rejected', () => {
  const unknown = Uint8Array.from([0x81, 0x20, 0x9d, 0x2c, 0x31]).buffer
  expect(rowsOf(unknown)).toBe('unknown-encoding')
  const unmarked = Uint8Array.from([0x61, 0, 0x2c, 0, 0x62, 0]).buffer
  expect(rowsOf(unmarked)).toBe('unknown-encoding')
  const marked = Uint8Array.from([0xff, 0xfe, 0x61, 0, 0x2c, 0, 0x62, 0]).buffer
  expect(rowsOf(marked)).toEqual([{ number: 1, cells: ['a', 'b'] }])
})

test('a formula that an export escaped is read without the escape', () => {
  expect(rowsOf(bytes("'=SUM(1),'it is"))).toEqual([{ number: 1, cells: ['=SUM(1)', "'it is"] }])
})

test.each([
  [
    'our own export',
    ['Reference', 'Client Name', 'Client Email', 'Amount', 'Due Date', 'Status', 'Created On', 'Paid On'],
    [1, 2, 3, 4, 5, 0],
  ],
  [
    'Zoho',
    ['Invoice Date', 'Invoice ID', 'Invoice Number', 'Invoice Status', 'Customer Name', 'Due Date', 'Email', 'Total'],
    [4, 6, 7, 5, 3, 2],
  ],
  ['QuickBooks', ['Num', 'Customer', 'Date', 'Due date', 'Balance', 'Total', 'Status', 'E-mail address'], [1, 7, 5, 3, 6, 0]],
  ['Tally', ['Party Name', 'E-Mail', 'Bill No.', 'Amount (INR)', 'Due on'], [0, 1, 3, 4, null, 2]],
  ['amounts with tax', ['Client', 'E-mail', 'Amount', 'GST', 'Total Amount (₹)', 'Due by'], [0, 1, 4, 5, null, null]],
  [
    'Tally, what is pending',
    ['Date', 'Ref. No.', "Party's Name", 'E-mail ID', 'Opening Amount', 'Pending Amount (Rs.)', 'Due on'],
    [2, 3, 5, 6, null, 1],
  ],
  ['snake case', ['client_name', 'client_email', 'amount', 'due_date'], [0, 1, 2, 3, null, null]],
])('columns of %s are recognised by their names', (_program, head, expected) => {
  const { clientName, clientEmail, amount, dueDate, status, reference } = guessByHeader(head)
  expect([clientName, clientEmail, amount, dueDate, status, reference]).toEqual(expected)
  expect(isHeader(head)).toBe(true)
})

test('columns without names are recognised by their content', () => {
  const first = ['INV-7', 'Kaveri Foods', 'billing@kaveri.example', '5,000.00', '31/03/2026', 'Paid']
  expect(isHeader(first)).toBe(false)
  expect(guessByContent([{ number: 1, cells: first }])).toEqual({
    clientName: 1,
    clientEmail: 2,
    amount: 3,
    dueDate: 4,
    issuedOn: null,
    amountPaid: null,
    balance: null,
    status: 5,
    reference: 0,
    currency: null,
    language: null,
  })
})

test('of two columns of numbers without names none is taken for the amount', () => {
  const row = ['1001', 'Kaveri Foods', 'billing@kaveri.example', '5000', '31/03/2026']
  expect(guessByContent([{ number: 1, cells: row }]).amount).toBe(null)
  expect(guessByHeader(['Client', 'Email', 'Rate', 'Tax Amount', 'Line Total', 'Sub Total', 'Due Date']).amount).toBe(null)
})

test('a number above 12 decides whether dates begin with the month', () => {
  const dates = (...cells: string[]) => cells.map((cell, index) => ({ number: index, cells: [cell] }))
  expect(guessDates(dates('01/02/2026', '03/25/2026'), 0)).toBe('mdy')
  expect(guessDates(dates('01/02/2026', '25/03/2026'), 0)).toBe('dmy')
  expect(guessDates(dates('01/02/2026'), 0)).toBe('dmy')
  expect(guessDates([{ number: 1, cells: ['01/02/2026', '12/31/2025'] }], 0)).toBe('mdy')
})

test.each([
  ['₹1,84,200.00', 184200],
  ['Rs. 500', 500],
  ['INR 12.5', 12.5],
  ['1.234,50', 1234.5],
  ['1580.9400', 1580.94],
  ['5.000', null],
  ['₹ 5.000', null],
  ['1,234', 1234],
  ['12,50', 12.5],
  ['5000/-', 5000],
  ['-5', -5],
  ['(500)', null],
  ['', null],
  ['1.2.3', null],
  ['twelve', null],
])('the amount %s in a file is parsed as %s', (text, expected) => {
  expect(readAmount(text, 'INR')).toBe(expected)
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

test.each([
  ['31/03/2026', 'dmy', '2026-03-31'],
  ['03/31/2026', 'mdy', '2026-03-31'],
  ['03/31/2026', 'dmy', null],
  ['2026-03-31', 'mdy', '2026-03-31'],
  ['2026/3/31', 'dmy', '2026-03-31'],
  ['2026-03-31T00:00:00Z', 'dmy', '2026-03-31'],
  ['31-03-2026 00:00', 'dmy', '2026-03-31'],
  ['31 Mar 2026', 'dmy', '2026-03-31'],
  ['31-March-26', 'mdy', '2026-03-31'],
  ['March 31, 2026', 'dmy', '2026-03-31'],
  ['31/02/2026', 'dmy', null],
  ['soon', 'dmy', null],
] as const)('the date %s, %s, is parsed as %s', (text, order, expected) => {
  expect(readDay(text, order)).toBe(expected)
})

test.each([
  ['Awaiting Payment', 'open'],
  ['AWAITING-PAYMENT', 'open'],
  ['AUTHORISED', 'open'],
  ['Due in 5 days', 'open'],
  ['SENT', 'open'],
  ['', 'open'],
  ['Unpaid', 'unpaid'],
  ['PartiallyPaid', 'partial'],
  ['partially_paid', 'partial'],
  ['Past Due', 'overdue'],
  ['Overdue 12 days', 'overdue'],
  ['Paid', 'paid'],
  ['auto-paid', 'paid'],
  ['Closed', 'paid'],
  ['Draft', 'draft'],
  ['Voided', 'void'],
  ['Cancelled', 'cancelled'],
  ['canceled', 'cancelled'],
  ['uncollectible', 'writtenOff'],
  ['50% paid', null],
  ['lost', null],
])('the status %s is read as %s', (text, expected) => {
  expect(readStatus(text)).toBe(expected)
})

test('the currency is read from its column, from the amount and from the name of the column', () => {
  expect(['inr', 'Rs.', 'INR - Indian Rupee', 'Euro', 'usd', '$', ''].map(readCurrency)).toEqual([
    'INR',
    'INR',
    'INR',
    'EUR',
    'USD',
    '$',
    null,
  ])
  expect(['₹ 5,000', 'Rs. 5', '5000/-', '€1.200,00', '1200 USD', '$5', '-5', 'twelve'].map(currencyOfAmount)).toEqual([
    'INR',
    'INR',
    null,
    'EUR',
    'USD',
    '$',
    null,
    null,
  ])
  expect(['Total (EUR)', 'Amount in USD', 'Balance (₹)', 'Balance INR', 'Amount Due', 'Total (BCY)'].map(currencyOfHeader)).toEqual([
    'EUR',
    'USD',
    'INR',
    'INR',
    null,
    null,
  ])
})

const nothingHere = { invoices: [], ofSource: new Set<string>(), onExisting: 'refuse' as const }

/** Each line of a file: its number and what is imported, or its state and the reason. */
function read(lines: string[], answers: Answers = {}): unknown[] {
  const rows = rowsOf(bytes(lines.join('\r\n')))
  if (typeof rows === 'string') return [rows]
  return checkRows(rows, guessMapping(rows), { ...nothingHere, today: '2026-03-02', usual: 'INR', answers }).map(
    ({ number, state, draft, message }) =>
      draft && state === 'ready'
        ? [number, draft.clientEmail, shown(balanceOf(draft)), draft.dueDate, draft.status, draft.reference]
        : [number, state, message],
  )
}

test('a language is read by its tag or its name, a new invoice gets it, and an unknown one is a problem', () => {
  const rows = rowsOf(
    bytes(
      [
        'Client,Email,Amount,Due Date,Language',
        ...['de', 'German', 'français', 'pt_BR', '', 'xx'].map((one, n) => `A,a${n}@a.example,5,2026-03-31,${one}`),
      ].join('\n'),
    ),
  )
  if (typeof rows === 'string') throw new Error(rows)
  const about = { ...nothingHere, today: '2026-03-02', usual: 'INR', answers: {} }
  const checked = checkRows(rows, guessMapping(rows), about)
  expect(checked.map(({ draft }) => draft?.language)).toEqual(['de', 'de', 'fr', 'pt', undefined, undefined])
  expect(checked[5]?.message).toBe(
    'We don\'t know the language "xx". Enter a tag such as de, or write its texts under Email Templates first.',
  )
  // Those with texts of the business itself are handed over.
  expect(checkRows(rows, guessMapping(rows), { ...about, languages: ['en', 'xx'] })[5]?.draft?.language).toBe('xx')
})

const shown = ({ currency, amount }: { currency: string; amount: number }) => (currency === 'INR' ? amount : `${currency} ${amount}`)

test('where a file has the total too, the invoice is over it, and what was paid is kept; a balance wins over a paid amount', () => {
  const draftOf = (head: string, line: string) => {
    const rows = rowsOf(bytes(`${head}\n${line}`))
    if (typeof rows === 'string') return null
    const [row] = checkRows(rows, guessMapping(rows), { ...nothingHere, today: '2026-03-02', usual: 'INR', answers: {} })
    return row?.draft && { amount: row.draft.amount, amountPaid: row.draft.amountPaid, status: row.draft.status }
  }
  const columns = 'Client,Email,Due Date,Status'
  const client = 'Acme,ap@acme.example,01/02/2026,Partially Paid'
  expect(draftOf(`${columns},Total,Balance`, `${client},5000,3500`)).toEqual({ amount: 5000, amountPaid: 1500, status: 'overdue' })
  expect(draftOf(`${columns},Amount,Amount Paid`, `${client},5000,1500`)).toEqual({ amount: 5000, amountPaid: 1500, status: 'overdue' })
  expect(draftOf(`${columns},Total,Amount Paid,Balance`, `${client},5000,1000,3500`)).toMatchObject({ amountPaid: 1500 })
  expect(draftOf(`${columns},Balance`, `${client},3500`)).toEqual({ amount: 3500, amountPaid: undefined, status: 'overdue' })
})

test('an export of Zoho: the balance is imported, items and drafts are left out, each line keeps its currency', () => {
  const head =
    'Invoice Date,Invoice ID,Invoice Number,Invoice Status,Customer Name,Due Date,Currency Code,Exchange Rate,Item Name,Item Total,SubTotal,Total,Balance,Supplier E-Mail,Primary Contact EmailID'
  const line = (number: string, status: string, currency: string, total: number, balance: number, item = 'Design') =>
    `2026-01-05,46000${number},INV-${number},${status},Kaveri Foods,2026-02-04,${currency},1,${item},100.00,900.00,${total}.00,${balance}.00,me@studio.example,pay@kaveri.example`
  expect(
    read([
      head,
      line('01', 'Overdue', 'INR', 1180, 180),
      line('01', 'Overdue', 'INR', 1180, 180, 'Print'),
      line('02', 'Closed', 'INR', 5000, 0),
      line('03', 'Draft', 'INR', 700, 700),
      line('04', 'Sent', 'EUR', 1200, 1200),
      line('05', 'PartiallyPaid', 'INR', 900, 300),
      line('06', 'Void', 'INR', 10, 0),
      line('07', 'Sent', 'INR', 800, 0),
    ]),
  ).toEqual([
    [2, 'pay@kaveri.example', 180, '2026-02-04', 'overdue', 'INV-01'],
    [3, 'left', 'Another item of the invoice in line 2.'],
    [4, 'pay@kaveri.example', 5000, '2026-02-04', 'paid', 'INV-02'],
    [5, 'left', 'A draft: your client has not received this invoice.'],
    [6, 'pay@kaveri.example', 'EUR 1200', '2026-02-04', 'overdue', 'INV-04'],
    [7, 'pay@kaveri.example', 300, '2026-02-04', 'overdue', 'INV-05'],
    [8, 'left', 'This invoice is void.'],
    [9, 'left', 'Nothing is owed: the balance is 0.'],
  ])
})

test('an export of Xero: the amount due is imported, credit notes are left out', () => {
  const head =
    'ContactName,EmailAddress,POCity,InvoiceNumber,Reference,InvoiceDate,DueDate,PlannedDate,Total,TaxTotal,InvoiceAmountPaid,InvoiceAmountDue,Description,Quantity,UnitAmount,LineAmount,TaxAmount,Currency,Type,Sent,Status'
  const line = (number: string, due: string, paid: string, owed: string, currency: string, type: string, status: string) =>
    `Zenith Labs,ap@zenith.example,Pune,${number},PO 7,13/01/2026,${due},,1180.0000,180.0000,${paid},${owed},Design,1.0000,1000.0000,1000.0000,180.0000,${currency},${type},Sent,${status}`
  expect(
    read([
      head,
      line('INV-1', '12/02/2026', '180.0000', '1000.0000', 'INR', 'Sales invoice', 'Awaiting Payment'),
      line('INV-2', '12/03/2026', '0.0000', '1180.0000', 'INR', 'Sales invoice', 'Awaiting Payment'),
      line('INV-3', '13/02/2026', '1180.0000', '0.0000', 'INR', 'Sales invoice', 'Paid'),
      line('CN-1', '12/02/2026', '0.0000', '-1180.0000', 'INR', 'Sales credit note', 'Awaiting Payment'),
      line('INV-4', '12/02/2026', '0.0000', '1180.0000', 'GBP', 'Sales invoice', 'Voided'),
      line('INV-5', '12/02/2026', '0.0000', '1180.0000', 'GBP', 'Sales invoice', 'Awaiting Payment'),
    ]),
  ).toEqual([
    [2, 'ap@zenith.example', 1000, '2026-02-12', 'overdue', 'INV-1'],
    [3, 'ap@zenith.example', 1180, '2026-03-12', 'unpaid', 'INV-2'],
    [4, 'ap@zenith.example', 1180, '2026-02-13', 'paid', 'INV-3'],
    [5, 'left', 'This line is not an invoice: its type is “Sales credit note”.'],
    [6, 'left', 'This invoice is void.'],
    [7, 'ap@zenith.example', 'GBP 1180', '2026-02-12', 'overdue', 'INV-5'],
  ])
})

test('a report of QuickBooks: lines above its column names and totals below are no invoices', () => {
  expect(
    read([
      'Studio Indigo',
      'Invoice List',
      '"January 1, 2026 - March 2, 2026"',
      '',
      'Date,Transaction type,No.,Customer,Email,Due date,Amount,Open Balance,Status',
      '01/15/2026,Invoice,1042,Acme Corp,ap@acme.example,02/14/2026,"1,200.00","200.00",Overdue 16 days',
      '02/03/2026,Invoice,1043,Beta LLC,pay@beta.example,03/05/2026,450.00,450.00,Due in 3 days',
      '02/04/2026,Credit Memo,1044,Beta LLC,pay@beta.example,03/05/2026,-50.00,-50.00,Open',
      'Total,,,,,,"1,600.00",,',
    ]),
  ).toEqual([
    [6, 'ap@acme.example', 200, '2026-02-14', 'overdue', '1042'],
    [7, 'pay@beta.example', 450, '2026-03-05', 'unpaid', '1043'],
    [8, 'left', 'This line is not an invoice: its type is “Credit Memo”.'],
    [9, 'left', 'This line is a total, not an invoice.'],
  ])
})

test('an export of FreshBooks: the totals of lines are not taken for what is owed', () => {
  const head = [
    'Client Name',
    'Invoice #',
    'Date Issued',
    'Invoice Status',
    'Date Paid',
    'Item Name',
    'Rate',
    'Quantity',
    'Line Total',
    'Currency',
  ]
  expect(guessByHeader(head)).toMatchObject({ clientName: 0, reference: 1, status: 3, amount: null, currency: 9, dueDate: null })
  const lines = [
    [...head, 'Email', 'Due Date', 'Amount'].join(','),
    'Alpha,INV-1,2026-01-05,sent,,Design,75,10,750.00,INR,a@alpha.example,2026-02-04,750.00',
    'Alpha,INV-1,2026-01-05,sent,,Print,5,10,50.00,INR,a@alpha.example,2026-02-04,50.00',
    'Beta,INV-2,2026-01-05,auto-paid,2026-01-09,Print,5,10,50.00,INR,b@beta.example,2026-02-04,50.00',
    'Beta,INV-3,2026-01-05,partial,,Print,5,10,50.00,INR,b@beta.example,2026-02-04,50.00',
  ]
  const unclear = 'Lines 2 and 3 have the reference INV-1 and different amounts, so what is owed is unclear.'
  expect(read(lines)).toEqual([
    [2, 'bad', unclear],
    [3, 'bad', unclear],
    [4, 'b@beta.example', 50, '2026-02-04', 'paid', 'INV-2'],
    [5, 'bad', 'Partially paid. Please choose the column with the balance or the amount paid, or enter what is still owed.'],
  ])
})

test('an export of Stripe: the amount remaining wins over the amount due', () => {
  expect(
    read([
      'id,Amount Due,Amount Paid,Amount Remaining,Currency,Customer,Customer Email,Customer Name,Date (UTC),Due Date (UTC),Number,Subtotal,Total,Status',
      'in_1,5000.00,2000.00,3000.00,inr,cus_9,ap@acme.example,Acme,2026-01-02 10:00,2026-02-01 10:00,A-1,5000.00,5000.00,open',
      'in_2,50.00,0.00,50.00,usd,cus_9,ap@acme.example,Acme,2026-01-02 10:00,2026-02-01 10:00,A-2,50.00,50.00,open',
      'in_3,50.00,0.00,50.00,inr,cus_9,ap@acme.example,Acme,2026-01-02 10:00,2026-02-01 10:00,A-3,50.00,50.00,uncollectible',
    ]),
  ).toEqual([
    [2, 'ap@acme.example', 3000, '2026-02-01', 'overdue', 'A-1'],
    [3, 'ap@acme.example', 'USD 50', '2026-02-01', 'overdue', 'A-2'],
    [4, 'left', 'This invoice was written off or refunded.'],
  ])
})

test('an export of Wave and one of Razorpay', () => {
  expect(
    read([
      'Status,Due,Date,Number,Customer,Customer email,Total,Amount due',
      'Overdue,2026-02-01,2026-01-01,7,Acme,ap@acme.example,"₹5,000.00","₹1,500.00"',
      'Unsent,2026-02-01,2026-01-01,8,Acme,ap@acme.example,"₹5,000.00","₹5,000.00"',
    ]),
  ).toEqual([
    [2, 'ap@acme.example', 1500, '2026-02-01', 'overdue', '7'],
    [3, 'bad', 'We don\'t know the status "Unsent". Choose how to import it.'],
  ])
  expect(
    read([
      'id,receipt,customer_name,customer_email,amount,amount_paid,currency,status,issued_at,expire_by',
      'inv_1,R-1,Acme,ap@acme.example,5000.00,1500.00,INR,partially_paid,05/01/2026 10:00:00,01/02/2026 10:00:00',
      'inv_2,R-2,Acme,ap@acme.example,5000.00,0.00,INR,cancelled,05/01/2026 10:00:00,20/02/2026 10:00:00',
    ]),
  ).toEqual([
    [2, 'ap@acme.example', 3500, '2026-02-01', 'overdue', 'R-1'],
    [3, 'left', 'This invoice is cancelled.'],
  ])
})

test('a status of a plain file: past due lines that say nothing become overdue, unpaid ones stay as they are', () => {
  const line = (due: string, status: string) => `Acme,ap@acme.example,${due.slice(-2)},${due},${status}`
  expect(
    read(['Client,Email,Amount,Due Date,Status', line('2026-03-01', ''), line('2026-03-02', ''), line('2026-02-28', 'unpaid')]).map(
      (one) => Array.isArray(one) && one[4],
    ),
  ).toEqual(['overdue', 'unpaid', 'unpaid'])
})

test('an unknown status is asked for once per word, and the answer is for all its lines', () => {
  const lines = [
    'Client,Email,Amount,Due Date,Status',
    ...['Unsent', 'un-sent', 'Disputed', 'UNSENT'].map((word, index) => `A,a@a.example,${index + 1},2026-03-09,${word}`),
  ]
  const rows = rowsOf(bytes(lines.join('\n')))
  if (typeof rows === 'string') throw new Error(rows)
  const mapping = guessMapping(rows)
  expect(unknownStatuses(bodyOf(rows, mapping), mapping.columns.status)).toEqual([
    { key: 'unsent', written: 'Unsent', lines: 3 },
    { key: 'disputed', written: 'Disputed', lines: 1 },
  ])
  expect(read(lines, { unsent: 'unpaid', disputed: 'leave' }).map((one) => Array.isArray(one) && [one[1], one[2]])).toEqual([
    ['a@a.example', 1],
    ['a@a.example', 2],
    ['left', 'Left out, as you chose for "Disputed".'],
    ['a@a.example', 4],
  ])
})

test('a paid line without a total is left out, as nothing is known that was owed', () => {
  expect(read(['Client,Email,Balance,Due Date,Status', 'A,a@a.example,0.00,2026-03-09,Paid'])).toEqual([
    [2, 'left', 'Nothing is owed: the balance is 0.'],
  ])
})

const there = aShownInvoice({ amount: 5000, dueDate: '2026-03-31' })

test('rows that are alike but for their numbers are two invoices, and one without a number is a duplicate', () => {
  const columns = {
    clientName: 0,
    clientEmail: 1,
    amount: 2,
    dueDate: 3,
    issuedOn: null,
    amountPaid: null,
    balance: null,
    status: null,
    reference: 4,
    currency: null,
    language: null,
  }
  const rows = ['A-1', 'A-2', ''].map((reference, index) => ({
    number: index + 2,
    cells: ['Studio Banyan', 'hello@banyan.example', '10', '01/04/2026', reference],
  }))
  const checked = checkRows(
    rows,
    { header: null, columns, dates: 'dmy' },
    { ...nothingHere, today: '2026-03-02', usual: 'INR', answers: {} },
  )
  expect(checked.map(({ state }) => state)).toEqual(['ready', 'ready', 'duplicate'])
})

test('each row is ready, a duplicate or invalid, with the reason', () => {
  const columns = {
    clientName: 0,
    clientEmail: 1,
    amount: 2,
    dueDate: 3,
    issuedOn: null,
    amountPaid: null,
    balance: null,
    status: 4,
    reference: 5,
    currency: null,
    language: null,
  }
  const cells = [
    ['Studio Banyan', 'hello@banyan.example', '10', '01/04/2026', '', ''],
    ['Kaveri', 'Billing@Kaveri.example', '5,000.00', '31/03/2026', '', ''],
    ['Studio Banyan', 'hello@banyan.example', '10.00', '2026-04-01', 'paid', ''],
    ['Other', 'other@example.com', '12', '01/04/2026', '', 'INV-0001'],
    ['', 'nobody', '0', '31/02/2026', 'lost', ''],
    ['Other', 'other@example.com', '5.000', '01/04/2026', '', ''],
    ['Other', 'other@example.com', '(500.00)', '01/04/2026', '', ''],
    ['Other', 'other@example.com', '€500', '01/04/2026', '', ''],
  ]
  const checked = checkRows(
    cells.map((row, index) => ({ number: index + 2, cells: row })),
    { header: null, columns, dates: 'dmy' },
    { ...nothingHere, invoices: [keptInvoice(there)], today: '2026-03-02', usual: 'INR', answers: {} },
  )
  expect(checked.map(({ state, message }) => [state, message])).toEqual([
    ['ready', null],
    ['duplicate', 'Duplicate: INV-0001 has the same client email, amount and due date.'],
    ['duplicate', 'Duplicate: line 2 has the same client email, amount and due date.'],
    ['bad', 'Another invoice already has the reference INV-0001.'],
    [
      'bad',
      'Please enter the client\'s name. Please enter an email address like name@example.com. Please enter an amount above 0. Please enter a date such as 31/03/2026. We don\'t know the status "lost". Choose how to import it.',
    ],
    ['bad', '"5.000" can be read as two different amounts. Please write it as 5000.50.'],
    ['left', 'This is a credit, not an amount that is owed.'],
    ['ready', null],
  ])
})

test('the currency of a line is never guessed: two that differ and an unknown one are refused, three decimals are read as KWD has them', () => {
  expect(
    read([
      'Client,Email,Due Date,Total (EUR),Currency,Invoice No',
      'Acme,ap@acme.example,2026-02-01,50.00,EUR,A-1',
      'Acme,ap@acme.example,2026-02-01,50.00,USD,A-2',
      'Acme,ap@acme.example,2026-02-01,$50.00,,A-3',
    ]),
  ).toEqual([
    [2, 'ap@acme.example', 'EUR 50', '2026-02-01', 'overdue', 'A-1'],
    [3, 'bad', 'The file gives two currencies for this amount, USD and EUR. Please keep one.'],
    [4, 'bad', 'The file gives two currencies for this amount, $ and EUR. Please keep one.'],
  ])
  expect(
    read([
      'Client,Email,Due Date,Amount,Currency',
      'Acme,ap@acme.example,2026-02-01,12.500,KWD',
      'Acme,ap@acme.example,2026-02-01,5000,JPY',
      'Acme,ap@acme.example,2026-02-01,50.25,JPY',
      'Acme,ap@acme.example,2026-02-01,5,ABC',
    ]),
  ).toEqual([
    [2, 'ap@acme.example', 'KWD 12.5', '2026-02-01', 'overdue', undefined],
    [3, 'ap@acme.example', 'JPY 5000', '2026-02-01', 'overdue', undefined],
    [4, 'bad', 'Please enter an amount without decimals: JPY has none.'],
    [5, 'bad', 'Duely does not know the currency ABC. Please enter a currency code such as INR.'],
  ])
})

const row = (number: number, ...cells: string[]): FileRow => ({ number, cells })

/** What is read of an export whose program is recognised. */
function readExport(
  lines: string[],
  told: Partial<Told> = {},
  usual = 'INR',
): { source: Source | null; table: FileRow[]; read: unknown[] } {
  const rows = rowsOf(bytes(lines.join('\n')))
  if (typeof rows === 'string') throw new Error(rows)
  const source = recognise(rows)
  const table = source === null ? rows : asTable(rows, source, { daysToPay: null, addresses: null, usual, ...told })
  const checked = checkRows(table, guessMapping(table), { ...nothingHere, today: '2026-03-02', usual, answers: {} })
  const read = checked.map(({ number, state, draft, message }) =>
    draft
      ? [
          number,
          draft.clientName,
          draft.clientEmail,
          draft.currency,
          draft.amount,
          draft.amountPaid ?? 0,
          draft.dueDate,
          draft.status,
          draft.reference,
        ]
      : [number, state, message],
  )
  return { source, table, read }
}

test.each<[Source, Partial<Told>, unknown[]]>([
  [
    'zoho',
    {},
    [
      [2, 'Kaveri Foods', 'pay@kaveri.example', 'INR', 1180, 1000, '2026-02-04', 'overdue', 'INV-01'],
      [4, 'Kaveri Foods', 'pay@kaveri.example', 'INR', 5000, 0, '2026-02-04', 'paid', 'INV-02'],
      [5, 'left', 'A draft: your client has not received this invoice.'],
      [6, 'left', 'This invoice is void.'],
      [7, 'bad', 'Lines 7 and 8 have the reference INV-05 and different amounts, so what is owed is unclear.'],
      [8, 'bad', 'Lines 7 and 8 have the reference INV-05 and different amounts, so what is owed is unclear.'],
    ],
  ],
  [
    'xero',
    {},
    [
      [2, 'Zenith Labs', 'ap@zenith.example', 'GBP', 1180, 180, '2026-02-12', 'overdue', 'INV-1'],
      [4, 'left', 'This line is not an invoice: its type is “Sales credit note”.'],
      [5, 'left', 'This line is not an invoice: its type is “Bill”.'],
    ],
  ],
  [
    'quickbooks',
    { addresses: readAddresses([row(1, 'Customer', 'Email'), row(2, 'ACME CORP', 'ap@acme.example')]) },
    [
      [5, 'Acme Corp', 'ap@acme.example', 'INR', 1200, 1000, '2026-02-14', 'overdue', '1042'],
      [6, 'left', 'This line is not an invoice: its type is “Payment”.'],
      [9, 'bad', 'Please enter an email address like name@example.com.'],
    ],
  ],
  [
    'freshbooks',
    {
      daysToPay: 30,
      addresses: readAddresses([row(1, 'Organization', 'Email'), row(2, 'Alpha', 'a@alpha.example')]),
    },
    [
      [2, 'Alpha', 'a@alpha.example', 'USD', 800.25, 0, '2026-02-04', 'overdue', 'INV-1'],
      [4, 'bad', 'Partially paid. Please choose the column with the balance or the amount paid, or enter what is still owed.'],
      [5, 'Alpha', 'a@alpha.example', 'USD', 50, 0, '2026-02-04', 'paid', 'INV-3'],
    ],
  ],
  [
    'wave',
    { daysToPay: 14, addresses: readAddresses([row(1, 'customer_name', 'email'), row(2, 'Acme', 'ap@acme.example')]) },
    [
      [2, 'Acme', 'ap@acme.example', 'INR', 1000, 0, '2026-01-24', 'overdue', '7'],
      [5, 'left', 'Nothing is owed: the balance is 0.'],
    ],
  ],
  [
    'invoiceNinja',
    {},
    [
      [3, 'Acme', 'ap@acme.example', 'INR', 1500, 500, '2026-02-01', 'overdue', '0007'],
      [4, 'Acme', 'ap@acme.example', 'INR', 80, 0, '2026-02-01', 'paid', '0008'],
      [5, 'left', 'A draft: your client has not received this invoice.'],
    ],
  ],
  [
    'stripe',
    { addresses: readAddresses([row(1, 'id', 'Email', 'Name'), row(2, 'cus_9', 'ap@acme.example', 'Acme')]) },
    [
      [2, 'Acme', 'ap@acme.example', 'INR', 5000, 2000, '2026-02-01', 'overdue', 'A-1'],
      [3, 'left', 'This invoice is void.'],
      [4, 'bad', 'Please enter an email address like name@example.com.'],
    ],
  ],
  [
    'razorpay',
    {},
    [
      [2, 'Acme', 'ap@acme.example', 'INR', 5000.5, 0, '2026-02-01', 'overdue', 'R-1'],
      [3, 'Acme', 'ap@acme.example', 'JPY', 5000, 0, '2026-02-01', 'overdue', 'R-2'],
      [4, 'bad', 'Please enter an amount such as 5000.50.'],
    ],
  ],
])('an export of %s is recognised: one line per invoice, over what is owed', (source, told, expected) => {
  const { source: found, read } = readExport(exportsOf[source], told)
  expect(found).toBe(source)
  expect(read).toEqual(expected)
})

test('an export without addresses and due dates lacks both, and a plain file is of no program', () => {
  const { table } = readExport(['Client Name,Invoice #,Date Issued,Invoice Status,Line Total', 'Alpha,INV-1,2026-01-05,sent,750.00'])
  expect(lacks(table)).toEqual({ emails: true, dueDates: true })
  expect(readExport(['Client,Email,Amount,Due Date', 'Acme,ap@acme.example,5,2026-02-01']).source).toBeNull()
  expect(readAddresses([row(1, 'Name', 'Phone'), row(2, 'Acme', '1')])).toBeNull()
})

const asked = (head: string, ...lines: string[]) => read([head, ...lines]).map((one) => (Array.isArray(one) ? one.slice(1, 3) : one))

test('a currency beside a balance or a paid amount, or in the name of their columns, is that of the line', () => {
  const line = 'Acme,ap@acme.example,2026-02-01'
  const columns = 'Client,Email,Due Date'
  expect(asked(`${columns},Amount,Balance`, `${line},1200.00,EUR 200.00`)).toEqual([['ap@acme.example', 'EUR 200']])
  expect(asked(`${columns},Amount,Balance (EUR)`, `${line},1200.00,200.00`)).toEqual([['ap@acme.example', 'EUR 200']])
  expect(asked(`${columns},Amount,Amount Paid`, `${line},1200.00,€200.00`)).toEqual([['ap@acme.example', 'EUR 1000']])
  expect(asked(`${columns},Amount,Balance`, `${line},"₹1,200.00",EUR 200.00`)).toEqual([
    ['bad', 'The file gives two currencies for this amount, INR and EUR. Please keep one.'],
  ])
  // A sign that several currencies have is that of the code beside it.
  expect(asked(`${columns},Amount,Currency`, `${line},"$1,200.00",USD`, `${line},"$1,200.50",CAD`)).toEqual([
    ['ap@acme.example', 'USD 1200'],
    ['ap@acme.example', 'CAD 1200.5'],
  ])
  expect(asked(`${columns},Amount`, `${line},"$1,200.00"`)).toEqual([
    ['bad', 'Duely does not know the currency $. Please enter a currency code such as INR.'],
  ])
})

test('an amount in dollars of a business that counts in dollars is read, and 5,000 in a currency with three decimals is unclear', () => {
  const rows = rowsOf(bytes('Client,Email,Due Date,Amount\nAcme,ap@acme.example,2026-02-01,"$1,200.00"'))
  if (typeof rows === 'string') throw new Error(rows)
  const [row] = checkRows(rows, guessMapping(rows), { ...nothingHere, today: '2026-03-02', usual: 'USD', answers: {} })
  expect(row?.draft).toMatchObject({ amount: 1200, currency: 'USD' })
  expect([readAmount('5,000', 'KWD'), readAmount('12.500', 'KWD'), readAmount('5,000', 'EUR')]).toEqual([null, 12.5, 5000])
})

/** Of each line what is owed, or why it is not imported. */
const owedIn = (lines: string[], told: Partial<Told> = {}, usual = 'INR') => {
  const rows = readExport(lines, told, usual).read
  return rows.map((one) => (Array.isArray(one) && one.length > 3 ? `${one[3]} ${Number(one[4]) - Number(one[5])} ${one[6]}` : one))
}

test('the currency in the name of a column of an export is kept, and two that differ are refused', () => {
  const line = (currency: string) => `2026-01-05,INV-01,Sent,Kaveri Foods,2026-02-04,${currency},1180.00,180.00,pay@kaveri.example`
  const head = 'Invoice Date,Invoice Number,Invoice Status,Customer Name,Due Date,Currency Code,Total (EUR),Balance,Primary Contact EmailID'
  expect(owedIn([head, line('')])).toEqual(['EUR 180 2026-02-04'])
  expect(owedIn([head, line('USD')])).toEqual([[2, 'bad', 'The file gives two currencies for this amount, USD and EUR. Please keep one.']])
})

test('items are only added within one invoice, client and currency, also where their amounts have signs', () => {
  const addresses = new Map([['alpha', { name: 'Alpha', email: 'a@alpha.example' }]])
  const head = 'Client Name,Invoice #,Date Issued,Invoice Status,Line Total,Currency'
  const item = (amount: string, currency = 'EUR') => `Alpha,7,2026-01-05,sent,"${amount}",${currency}`
  const read = (...lines: string[]) => owedIn([head, ...lines], { daysToPay: 30, addresses })
  expect(read(item('750.00'), item('-50.25'))).toEqual(['EUR 699.75 2026-02-04'])
  expect(read(item('€750.00'), item('€-50.25'), item('(10,00)'))).toEqual([[2, 'bad', expect.any(String)]])
  expect(read(item('€750.00'), item('-€50.25'))).toEqual(['EUR 699.75 2026-02-04'])
  expect(read(item('1.250,50'), item('49,50'))).toEqual(['EUR 1300 2026-02-04'])
  expect(read(item('750.00'), item('50.00', 'USD')).every((one) => Array.isArray(one))).toBe(true)
  expect(read(item('750.00'), item('-1.2345'))).toEqual([[2, 'bad', 'Please enter an amount such as 5000.50.']])
})

test('an invoice of Wave that was paid twice is paid, and Razorpay takes rupees for what names no currency', () => {
  const head = 'Transaction ID,Transaction Date,Amount (One column),Customer,Invoice Number,Account Type'
  const row = (amount: string) => `1,2026-01-10,${amount},Acme,7,System Receivable Invoice`
  expect(owedIn([head, row('100.00'), row('-100.00'), row('-100.00')], { daysToPay: 14 })).toEqual([
    [2, 'left', 'Nothing is owed: the balance is 0.'],
  ])
  const paise = 'Invoice No.,Customer Name,Customer Email,Currency,Amount,Expire by'
  for (const usual of ['INR', 'JPY', 'KWD'])
    expect(owedIn([paise, 'R-1,Acme,ap@acme.example,,500050,01-02-2026'], {}, usual)).toEqual(['INR 5000.5 2026-02-01'])
})

test('dates of an export are read as a person says, also where a due date follows from them', () => {
  const head = 'Client Name,Invoice #,Date Issued,Invoice Status,Line Total,Currency'
  const addresses = new Map([['alpha', { name: 'Alpha', email: 'a@alpha.example' }]])
  const lines = [head, 'Alpha,7,03/05/2026,sent,10,EUR']
  expect(owedIn(lines, { daysToPay: 0, addresses })).toEqual(['EUR 10 2026-05-03'])
  expect(owedIn(lines, { daysToPay: 0, addresses, dates: 'mdy' })).toEqual(['EUR 10 2026-03-05'])
})

test('an invoice that was deleted here stays deleted where its file still has it', () => {
  const rows = rowsOf(bytes('No,Client,Email,Amount,Due Date\nB-1,Acme,ap@acme.example,5,2026-03-31'))
  if (typeof rows === 'string') throw new Error(rows)
  const about = { ...nothingHere, onExisting: 'update' as const, today: '2026-03-02', usual: 'INR', answers: {} }
  const [row] = checkRows(rows, guessMapping(rows), { ...about, deleted: new Set(['B-1']) })
  expect([row?.state, row?.message]).toEqual(['left', 'B-1 was deleted here. It stays deleted.'])
})
