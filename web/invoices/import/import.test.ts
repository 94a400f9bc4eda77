import { expect, test } from 'vitest'
import { aShownInvoice } from '#test/shown-invoice.ts'
import { readAmount, readTypedAmount } from '#web/invoices/form/invoice-values.ts'
import { readCsv } from './csv.ts'
import { checkRows, guessByContent, guessByHeader, guessDates, isHeader, readDay, readStatus } from './import-rows.ts'

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

test('the encodings that Excel writes are detected', () => {
  const windows = Uint8Array.from([0x4d, 0xfc, 0x6c, 0x6c, 0x65, 0x72, 0x2c, 0x31]).buffer
  expect(rowsOf(windows)).toEqual([{ number: 1, cells: ['Müller', '1'] }])
  const marked = bytes('\uFEFFनाम,1')
  expect(rowsOf(marked)).toEqual([{ number: 1, cells: ['नाम', '1'] }])
})

test('a spreadsheet is reported as not CSV, an empty file as empty', () => {
  expect(rowsOf(bytes('PK\u0003\u0004rest'))).toBe('not-csv')
  expect(rowsOf(bytes('\n\n  \n'))).toBe('empty')
})

test('a file in an unknown encoding is rejected', () => {
  const shiftJis = Uint8Array.from([0x83, 0x58, 0x83, 0x5e, 0x81, 0x5b, 0x2c, 0x31]).buffer
  expect(rowsOf(shiftJis)).toBe('unknown-encoding')
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
    status: 5,
    reference: 0,
  })
})

test('a number above 12 decides whether dates begin with the month', () => {
  const dates = (...cells: string[]) => cells.map((cell, index) => ({ number: index, cells: [cell] }))
  expect(guessDates(dates('01/02/2026', '03/25/2026'), 0)).toBe('mdy')
  expect(guessDates(dates('01/02/2026', '25/03/2026'), 0)).toBe('dmy')
  expect(guessDates(dates('01/02/2026'), 0)).toBe('dmy')
})

test.each([
  ['₹1,84,200.00', 184200],
  ['Rs. 500', 500],
  ['INR 12.5', 12.5],
  ['1.234,50', 1234.5],
  ['1,234', 1234],
  ['12,50', 12.5],
  ['5000/-', 5000],
  ['-5', -5],
  ['(500)', null],
  ['', null],
  ['1.2.3', null],
  ['twelve', null],
])('the amount %s in a file is parsed as %s', (text, expected) => {
  expect(readAmount(text)).toBe(expected)
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
  expect(readTypedAmount(text)).toBe(expected)
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

test('statuses of other programs are recognised, and an empty cell is unpaid', () => {
  expect(['Paid', 'SENT', 'past_due', '', 'lost'].map(readStatus)).toEqual(['paid', 'unpaid', 'overdue', 'unpaid', null])
})

const there = aShownInvoice({ amount: 5000, dueDate: '2026-03-31' })

test('each row is ready, a duplicate or invalid, with the reason', () => {
  const columns = { clientName: 0, clientEmail: 1, amount: 2, dueDate: 3, status: 4, reference: 5 }
  const cells = [
    ['Studio Banyan', 'hello@banyan.example', '10', '01/04/2026', '', ''],
    ['Kaveri', 'Billing@Kaveri.example', '5,000.00', '31/03/2026', '', ''],
    ['Studio Banyan', 'hello@banyan.example', '10.00', '2026-04-01', 'paid', ''],
    ['Other', 'other@example.com', '12', '01/04/2026', '', 'INV-0001'],
    ['', 'nobody', '0', '31/02/2026', 'lost', ''],
  ]
  const checked = checkRows(
    cells.map((row, index) => ({ number: index + 2, cells: row })),
    columns,
    'dmy',
    [there],
  )
  expect(checked.map(({ state, message }) => [state, message])).toEqual([
    ['ready', null],
    ['duplicate', 'Duplicate: INV-0001 has the same client email, amount and due date.'],
    ['duplicate', 'Duplicate: row 2 has the same client email, amount and due date.'],
    ['bad', 'Another invoice already has the reference INV-0001.'],
    [
      'bad',
      'Please enter the client\'s name. Please enter an email address like name@example.com. Please enter an amount above 0. Please enter a date such as 31/03/2026. We don\'t know the status "lost". Please use paid, unpaid or overdue.',
    ],
  ])
})
