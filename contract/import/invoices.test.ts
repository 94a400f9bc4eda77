import fc from 'fast-check'
import { expect, test } from 'vitest'
import { exportsOf } from '#test/exports.ts'
import { referenceKey } from './invoice-file.ts'
import { type Program, programs } from './invoice-layouts.ts'
import { statusOf } from './invoice-words.ts'
import { type InvoiceReading, readInvoiceSheet } from './invoices.ts'
import { balanceOf, type CheckedRow, checkRows } from './lines.ts'
import type { Answers } from './meaning.ts'
import { type Addresses, addressesIn, readAddresses, readLanguage } from './people.ts'
import { openCsv, type Sheet } from './table.ts'

const limits = { rows: 20_000, columns: 500, length: 50_000 }
const today = '2026-11-28'

function sheetOf(file: string | string[]): Sheet {
  const opened = openCsv(Uint8Array.from(new TextEncoder().encode(Array.isArray(file) ? file.join('\n') : file)).buffer, limits)
  const sheet = opened.kind === 'sheets' ? opened.sheets[0] : undefined
  if (!sheet) throw new Error(`The file has no sheet: ${opened.kind}`)
  return sheet
}

interface Told {
  usual?: string
  held?: string[]
  answers?: Answers
  addresses?: Addresses | null
  edits?: Parameters<typeof readInvoiceSheet>[1]['edits']
}

function read(file: string | string[] | Sheet, { usual = 'EUR', held = [usual], ...told }: Told = {}): InvoiceReading {
  const sheet = typeof file === 'string' || Array.isArray(file) ? sheetOf(file) : file
  return readInvoiceSheet(sheet, { usual, held, languages: ['en', 'de', 'fr', 'pt'], answers: {}, ...told, edits: told.edits ?? {} })
}

function check(file: string | string[] | Sheet, told: Told = {}): CheckedRow[] {
  const { usual = 'EUR' } = told
  return checkRows(read(file, told), { invoices: [], ofSource: new Set(), onExisting: 'refuse', today, usual })
}

/** What is owed by each row that is imported, `A-1 120 EUR 2026-11-20`, and `A-2 paid`. */
const owed = (file: string | string[] | Sheet, told: Told = {}) =>
  check(file, told).flatMap(({ draft }) => {
    if (!draft) return []
    const { amount, currency } = balanceOf(draft)
    return [draft.status === 'paid' ? `${draft.reference} paid` : `${draft.reference} ${amount} ${currency} ${draft.dueDate}`]
  })
const asked = ({ questions }: InvoiceReading) => questions.map(({ id }) => id)
const messages = (file: string | string[] | Sheet, told: Told = {}) => check(file, told).map(({ message }) => message)

/** Files of the forms that programs write, each with one open invoice, A-1 over 120 to be paid by 20 November. */
const forms: [form: string, file: string[], currency?: string][] = [
  ['English words', ['Invoice No,Client,Email,Due Date,Amount', 'A-1,Acme,a@c.example,20/11/2026,120.00']],
  ['a balance beside the total', ['Number,Customer,Email,Due Date,Total,Balance Due', 'A-1,Acme,a@c.example,20/11/2026,200.00,120.00']],
  ['what was paid beside the total', ['Number,Customer,Email,Due Date,Total,Amount Paid', 'A-1,Acme,a@c.example,20/11/2026,200.00,-80.00']],
  ['payments and credits', ['Number,Customer,Email,Due Date,Total,Payments,Credits', 'A-1,Acme,a@c.example,20/11/2026,200.00,50.00,30.00']],
  ['Total, Paid and Due', ['Number,Customer,Email,Due Date,Total,Paid,Due', 'A-1,Acme,a@c.example,2026-11-20,200,80,120']],
  ['Due as the date', ['Invoice,Client,Email,Due,Total (EUR),Balance due (EUR)', 'A-1,Acme,a@c.example,20/11/2026,200.00,120.00'], 'USD'],
  [
    'a net and a gross amount',
    ['Invoice No,Client,Email,Due Date,Net Amount,Tax Amount,Gross Amount', 'A-1,Acme,a@c.example,20/11/2026,100,20,120'],
  ],
  [
    'an amount with its tax in a total',
    ['Invoice No,Client,Email,Due Date,Amount,VAT,Total', 'A-1,Acme,a@c.example,20/11/2026,100,20,120'],
  ],
  ['Is Paid', ['No,Client,Email,Due Date,Total,Is Paid', 'A-1,Acme,a@c.example,20/11/2026,120,FALSE']],
  [
    'two columns of statuses',
    ['No,Client,Email,Due Date,Total,Status,Payment Status', 'A-1,Acme,a@c.example,20/11/2026,120,Posted,Not Paid'],
  ],
  [
    'lines above the headings',
    ['Studio Indigo', 'Invoice List', '', 'No.,Customer,Email,Due date,Total', 'A-1,Acme,a@c.example,20/11/2026,120.00'],
  ],
  [
    'German',
    ['Rechnungsnummer;Kunde;E-Mail;Rechnungsdatum;Fällig am;Summe brutto;Währung', 'A-1;Acme;a@c.example;05.11.2026;20.11.2026;120,00;EUR'],
  ],
  ['French', ['Numéro de facture;Client;Courriel;Échéance;Total TTC;Reste à payer', 'A-1;Acme;a@c.example;20/11/2026;200,00;120,00']],
  [
    'Spanish',
    ['Número de factura;Cliente;Correo electrónico;Vencimiento;Importe total;Pendiente', 'A-1;Acme;a@c.example;20/11/2026;200,00;120,00'],
  ],
  ['Portuguese', ['Fatura;Cliente;E-mail;Vencimento;Valor total;Estado', 'A-1;Acme;a@c.example;20/11/2026;120,00;Em aberto']],
  [
    'Italian',
    ['Numero fattura;Ragione sociale;Email;Data scadenza;Totale fattura;Stato', 'A-1;Acme;a@c.example;20/11/2026;120,00;Da incassare'],
  ],
  ['Dutch', ['Factuurnummer;Klant;E-mailadres;Vervaldatum;Totaalbedrag;Openstaand', 'A-1;Acme;a@c.example;20-11-2026;200,00;120,00']],
  ['Hindi', ['इनवॉइस नंबर,ग्राहक का नाम,ईमेल,देय तिथि,कुल राशि', 'A-1,Acme,a@c.example,20-11-2026,120.00'], 'INR'],
  ['Dr behind a balance', ['Ref No,Party Name,Email,Due on,Pending Amount', 'A-1,Acme,a@c.example,20-Nov-26,120.00 Dr']],
  ['months in words', ['No,Client,Email,Due Date,Amount', 'A-1,Acme,a@c.example,"Friday, 20 November 2026",120.00']],
  ['the texts of formulas', ['No,Client,Email,Due Date,Amount', '="A-1",Acme,a@c.example,20/11/2026,="120.00"']],
]

test.each(forms)('a list with %s is read without a question', (_form, file, currency = 'EUR') => {
  const reading = read(file, { usual: currency })
  expect([asked(reading), owed(file, { usual: currency })]).toEqual([[], [`A-1 120 ${currency === 'USD' ? 'EUR' : currency} 2026-11-20`]])
})

const row = 'A-1,Acme,a@c.example'
test.each([
  ['dates in either order', ['No,Client,Email,Due Date,Amount', `${row},03/05/2026,120.00`], ['order/due date']],
  [
    'dates in both orders',
    ['No,Client,Email,Due Date,Amount', `${row},24/11/2026,1`, 'A-2,B,b@c.example,11/24/2026,2'],
    ['order/due date/both'],
  ],
  ['amounts in either form', ['No,Client,Email,Due Date,Amount', `${row},20/11/2026,1.200`], ['decimals/amount']],
  ['two amounts that differ', ['No,Client,Email,Due Date,Amount,Total', `${row},20/11/2026,100,120`], ['column/amount']],
  ['two balances that differ', ['No,Client,Email,Due Date,Amount Due,Outstanding', `${row},20/11/2026,100,120`], ['column/balance']],
  ['a sign of several currencies', ['No,Client,Email,Due Date,Amount', `${row},20/11/2026,$120`], ['currency/$']],
  [
    'no currency where others have one',
    ['No,Client,Email,Due Date,Amount', `${row},20/11/2026,120`, 'A-2,B,b@c.example,20/11/2026,GBP 5'],
    ['currency/file'],
  ],
  ['a status that is not known', ['No,Client,Email,Due Date,Amount,Status', `${row},20/11/2026,120,Disputed`], ['status/status']],
  ['a kind that is not known', ['No,Client,Email,Due Date,Amount,Type', `${row},20/11/2026,120,Milestone`], ['kind/type']],
  ['a word that says what was paid', ['No,Client,Email,Due Date,Amount,Paid', `${row},20/11/2026,120,partly, see note`], ['paid/paid']],
  [
    '1 and 0 in a column called Paid',
    ['No,Client,Email,Due Date,Amount,Paid', `${row},20/11/2026,120,1`, 'A-2,B,b@c.example,20/11/2026,5,0'],
    ['paid/paid'],
  ],
  [
    'amounts and words that say what was paid',
    ['No,Client,Email,Due Date,Amount,Paid', `${row},20/11/2026,120,50`, 'A-2,B,b@c.example,20/11/2026,5,no'],
    ['says/paid'],
  ],
  ['a day of payment without a status', ['No,Client,Email,Due Date,Paid on,Amount', `${row},20/11/2026,25/11/2026,120`], ['says/paid on']],
  [
    'equal amounts of one number',
    ['No,Client,Email,Due Date,Item,Amount', `${row},20/11/2026,Day 1,60`, `${row},20/11/2026,Day 2,60`],
    ['lines/amount'],
  ],
  [
    'different amounts of one number',
    ['No,Client,Email,Due Date,Item,Total', `${row},20/11/2026,Day 1,60`, `${row},20/11/2026,Day 2,70`],
    ['lines/total'],
  ],
  ['only another date', ['No,Client,Email,Created,Amount', `${row},2026-11-05,120`], ['days/due']],
  [
    'only the date of the invoice',
    ['Rechnungsnummer;Kunde;E-Mail;Rechnungsdatum;Betrag', 'A-1;Acme;a@c.example;05.11.2026;120,00'],
    ['days/due'],
  ],
  ['only a day of payment', ['No,Client,Email,Paid at,Status,Amount', `${row},2026-11-05,Paid,120`], ['column/dueDate']],
  ['no headings', [`${row},20/11/2026,120.00`], ['column/clientName', 'column/clientEmail', 'column/amount', 'column/dueDate']],
] as [string, string[], string[]][])('%s are asked about, and nothing that waits is imported', (_what, file, questions) => {
  const reading = read(file, { held: ['EUR', 'USD', 'AUD'] })
  expect(asked(reading)).toEqual(questions)
  expect(owed(file, { held: ['EUR', 'USD', 'AUD'] }).filter((one) => one.startsWith('A-1'))).toEqual([])
})

test('answers settle what was asked', () => {
  const dates = ['No,Client,Email,Due Date,Amount', `${row},03/05/2026,120.00`]
  expect(owed(dates, { answers: { 'order/due date': 'mdy' } })).toEqual(['A-1 120 EUR 2026-03-05'])
  expect(messages(dates, { answers: { 'order/due date': 'leave' } })).toEqual(['Left out, as you chose for its date.'])
  const items = ['No,Client,Email,Due Date,Item,Amount', `${row},20/11/2026,Day 1,60`, `${row},20/11/2026,Day 2,60`, ',,,,Day 3,60']
  expect(['sum', 'same', 'leave'].map((one) => owed(items, { answers: { 'lines/amount': one } }))).toEqual([
    ['A-1 180 EUR 2026-11-20'],
    ['A-1 60 EUR 2026-11-20'],
    [],
  ])
  const days = ['No,Client,Email,Invoice Date,Amount', `${row},05/11/2026,120`, 'A-2,B,b@c.example,25/11/2026,5']
  expect(owed(days, { answers: { 'days/due': '15' } })).toEqual(['A-1 120 EUR 2026-11-20', 'A-2 5 EUR 2026-12-10'])
  const paidOn = ['No,Client,Email,Due Date,Paid on,Amount', `${row},20/11/2026,25/11/2026,120`]
  expect(['paid', 'leave'].map((one) => owed(paidOn, { answers: { 'says/paid on': one } }))).toEqual([
    ['A-1 paid'],
    ['A-1 120 EUR 2026-11-20'],
  ])
  const words = ['No,Client,Email,Due Date,Amount,Status', `${row},20/11/2026,120,Disputed`, 'A-2,B,b@c.example,20/11/2026,5,DISPUTED']
  expect(messages(words, { answers: { 'status/status/disputed': 'leave' } })).toEqual(
    Array(2).fill(expect.stringMatching(/^Left out, as you chose/)),
  )
  expect(owed(words, { answers: { 'status/status/disputed': 'unpaid' } })).toHaveLength(2)
  const none = [`${row},20/11/2026,120.00`]
  const answers = {
    'column/reference': '#1',
    'column/clientName': '#2',
    'column/clientEmail': '#3',
    'column/dueDate': '#4',
    'column/amount': '#5',
  }
  expect(owed(none, { answers })).toEqual(['A-1 120 EUR 2026-11-20'])
})

test('what is owed is a balance, else a total less what was paid, else a total with its status', () => {
  const of = (head: string, line: string) =>
    owed([`No,Client,Email,Due Date,${head}`, `${row},20/11/2026,${line}`])[0] ??
    messages([`No,Client,Email,Due Date,${head}`, `${row},20/11/2026,${line}`])[0]
  expect(of('Total,Balance,Amount Paid', '200,120,50')).toBe('A-1 120 EUR 2026-11-20')
  expect(of('Total,Balance,Status', '200,0,Sent')).toBe('Nothing is owed: the balance is 0.')
  expect(of('Total,Balance,Status', '200,0,Paid')).toBe('A-1 paid')
  expect(of('Total,Balance,Status', '200,30,Paid')).toBe('The file says “Paid”, and that €30.00 is owed.')
  expect(of('Total,Paid,Status', '200,200,Open')).toBe('Nothing is owed: the balance is 0.')
  expect(of('Total,Paid', '200,Yes')).toBe('A-1 paid')
  expect(of('Total,Status', '200,Partially Paid')).toMatch(/^Partially paid\. Please choose the column/)
  expect(of('Total,Status,Payment Status', '200,Paid,Not Paid')).toBe(
    'One column says that this invoice is paid, and another that it is not.',
  )
  expect(of('Total,Balance,Status', '200,,Sent')).toBe('Please enter an amount such as 5000.50.')
  // Interest and fees are owed beyond the total.
  expect(of('Total,Balance', '200,210')).toBe('A-1 210 EUR 2026-11-20')
})

test.each(['(500.00)', '500.00-', '−500.00', '–500.00', 'CR 500.00', '500.00 CR', '500.00 Credit', '-€500.00'])(
  '%s is a credit',
  (amount) => {
    expect(messages(['No,Client,Email,Due Date,Amount', `${row},20/11/2026,${amount}`])).toEqual([
      'This is a credit, not an amount that is owed.',
    ])
  },
)

test('a credit note is offered on the open invoice of its client that it names, once its amount is certain', () => {
  const kept = (reference: string, toPay: number, status: 'unpaid' | 'paid' = 'unpaid') => ({
    ...{ reference, clientName: 'Acme', clientEmail: 'a@c.example', currency: 'EUR', status, dueDate: '2026-11-20' },
    ...{ amountMinor: 50_000, paidMinor: 50_000 - toPay },
  })
  const invoices = [kept('A-1', 20_000), kept('A-2', 5_000), kept('A-3', 0, 'paid')]
  const head = 'Type,Number,Customer,Email,Date,Due Date,Total,Status,Return Against'
  const note = (number: string, total: string, against: string, { client = 'Acme', date = '2026-11-10', status = 'Sent' } = {}) =>
    `Credit note,${number},${client},,${date},,${total},${status},${against}`
  const of = (...lines: string[]) => {
    const { rows } = read([head, 'Invoice,B-9,Acme,a@c.example,2026-11-01,2026-12-01,100.00,Sent,', ...lines])
    const checked = checkRows({ rows }, { invoices, ofSource: new Set(), onExisting: 'refuse', today, usual: 'EUR' })
    return checked.slice(1).map((one) => (one.state === 'left' ? [one.credit ?? null, one.message] : one))
  }
  expect(of(note('CN-1', '-80.00', 'a‑1'), note('CN-2', '80.00', 'A-1', { date: '2027-01-05' }))).toEqual([
    [
      { invoice: 'A-1', reference: 'CN-1', amount: 80, issuedOn: '2026-11-10' },
      'Credit note of €80.00 for A-1. It lowers what is to pay from €200.00 to €120.00.',
    ],
    [expect.objectContaining({ reference: 'CN-2', issuedOn: null }), expect.any(String)],
  ])
  expect(of(note('CN-3', '80.00', 'A-2'), note('CN-4', '80.00', 'A-3'), note('CN-5', '80.00', 'A-9'))).toEqual([
    [null, 'Credit note of €80.00 for A-2, of which €50.00 is to pay. If its payments lack this credit, record it on the invoice.'],
    [null, 'Credit note of €80.00 for A-3, which is paid.'],
    [null, 'Credit note of €80.00 for A-9. This client has no such invoice here.'],
  ])
  // Of another client, a draft, without an invoice, and an invoice that has one by name.
  expect(of(note('CN-6', '80.00', 'A-1', { client: 'Other' }))).toEqual([[null, expect.stringMatching(/no such invoice/)]])
  for (const line of [note('CN-7', '80.00', 'A-1', { status: 'Draft' }), note('CN-8', '80.00', ''), note('CN-9', '1.234', 'A-1')])
    expect(of(line)).toEqual([[null, expect.not.stringMatching(/lowers/)]])
})

test.each([
  ['Kind', 'Credit note', false],
  ['Document', 'Gutschrift', false],
  ['Transaction type', 'Payment', false],
  ['Voucher Type', 'Sales Order', false],
  ['Type', 'Avoir', false],
  ['Document Type', 'Deposit invoice', true],
  ['Type', 'Progress payment invoice', true],
  ['Belegart', 'Abschlagsrechnung', true],
  ['Is Return (Credit Note)', '1', false],
  ['Is Return (Credit Note)', '0', true],
])('%s: whether “%s” is an invoice is %s', (heading, word, isInvoice) => {
  expect(owed([`No,Client,Email,Due Date,Amount,${heading}`, `${row},20/11/2026,120,${word}`]).length).toBe(isInvoice ? 1 : 0)
})

test.each([
  ['Awaiting Payment', 'open'],
  ['AUTHORISED', 'open'],
  ['Due in 5 days (Viewed)', 'open'],
  ['Overdue 12 days', 'overdue'],
  ['PartiallyPaid', 'partial'],
  ['partially_paid', 'partial'],
  ['auto-paid', 'paid'],
  ['Paid - Overpaid', 'paid'],
  ['Überfällig', 'overdue'],
  ['Payée', 'paid'],
  ['Voided', 'void'],
  ['uncollectible', 'writtenOff'],
  ['', 'open'],
  ['50% paid', null],
  ['Closed', null],
  ['lost', null],
] as const)('the status “%s” is %s', (word, status) => {
  const [, means] = [
    0,
    read(['No,Client,Email,Due Date,Amount,Status', `${row},20/11/2026,120,${word}`, 'B,B,b@c.example,20/11/2026,1,lost']).questions[0],
  ]
  const known = means?.kind === 'words' ? means.words.find(({ written }) => written === word)?.means : undefined
  expect(known).toBe(status)
})

test('rows of one number are one invoice where a total or a balance repeats, and their items are left out', () => {
  const file = ['Number,Client,Email,Due Date,Item Total,Total,Balance', `${row},20/11/2026,60,200,120`, `${row},20/11/2026,140,200,120`]
  expect(owed(file)).toEqual(['A-1 120 EUR 2026-11-20'])
  expect(messages(file)).toEqual([null, 'Another item of the invoice in line 2.'])
  const lines = ['Number,Client,Email,Due Date,Line Total', `${row},20/11/2026,60`, 'a-1,,,,60.50', ',,,,-0.50', ',,,,120']
  // A row without a number belongs to the one above, unless it has nothing but a sum.
  const described = [
    'Number,Client,Email,Due Date,Description,Line Total',
    `${row},20/11/2026,Work,60`,
    'a–1,,,,More,60.50',
    ',,,,Discount,-0.50',
  ]
  expect(owed(described)).toEqual(['A-1 120 EUR 2026-11-20'])
  expect(messages(lines).slice(2)).toEqual(Array(2).fill('This line is a total, not an invoice.'))
  const unlike = ['Number,Client,Email,Due Date,Total', `${row},20/11/2026,60`, `${row},21/11/2026,60`]
  expect(messages(unlike)[0]).toBe('Lines 2 and 3 have the reference A-1 and different amounts, so what is owed is unclear.')
})

test('totals are no invoices, and a client called Total is one', () => {
  const file = [
    'No,Client,Email,Due Date,Amount',
    'A-1,Total Energies,a@c.example,20/11/2026,120',
    'Total,,,,120',
    ',Grand Total,,,120',
    ',,,,120',
  ]
  expect(messages(file)).toEqual([null, ...Array(3).fill('This line is a total, not an invoice.')])
})

test('names over two lines, several addresses and marks around them are taken apart', () => {
  expect(
    check(['No,Client,Email,Due Date,Amount', 'A-1,"Acme\nPvt Ltd"," a@c.example, b@c.example,",20/11/2026,120'])[0]?.draft,
  ).toMatchObject({
    clientName: 'Acme Pvt Ltd',
    clientEmail: 'a@c.example',
  })
  expect(
    [
      'Acme <a@c.example>',
      'mailto:a@c.example',
      'a@c.example;',
      '\u200ba@c.example',
      '"Acme, Ltd" <a@c.example>, B <b@c.example>',
      'no address',
    ].map((cell) => addressesIn(cell).addresses),
  ).toEqual([['a@c.example'], ['a@c.example'], ['a@c.example'], ['a@c.example'], ['a@c.example', 'b@c.example'], ['no address']])
})

test('references are compared without width, dashes, case and spaces', () => {
  expect(new Set(['INV-0001', 'inv–0001', 'INV - 0001', 'ＩＮＶ-0001', ' Inv‑0001 '].map(referenceKey))).toEqual(new Set(['inv-0001']))
  expect(referenceKey('INV-1')).not.toBe(referenceKey('INV-10'))
})

test('a language is read by its tag or its name, and an unknown one is named', () => {
  expect(['de', 'German', 'français', 'pt_BR', 'xx'].map((one) => readLanguage(one, ['en', 'de', 'fr', 'pt']))).toEqual([
    'de',
    'de',
    'fr',
    'pt',
    null,
  ])
  expect(messages(['No,Client,Email,Due Date,Amount,Language', `${row},20/11/2026,120,xx`])[0]).toMatch(/^We don't know the language "xx"/)
})

test('a workbook: its days and numbers are read, formats make references, and what has no result is named', () => {
  const head = { number: 1, cells: ['Number', 'Client', 'Email', 'Due Date', 'Total'] }
  const line = (number: number, cells: string[], values: Sheet['rows'][number]['values']) => ({
    number,
    cells,
    ...(values ? { values } : {}),
  })
  const rows = [
    head,
    line(
      2,
      ['INV-0008', 'A', 'a@c.example', '2026-11-05', '33.33'],
      [{ number: 8, currency: null }, undefined, undefined, { date: '2026-11-05' }, { number: 1200.5, currency: 'EUR' }],
    ),
    line(
      3,
      ['9', 'B', 'b@c.example', '46331', '1.01'],
      [undefined, undefined, undefined, { number: 46331, currency: null, day: '2026-11-05' }, { number: 1.005, currency: null }],
    ),
    line(4, ['10', 'C', 'c@c.example', '2026-11-05', '0'], [undefined, undefined, undefined, { date: '2026-11-05' }, { formula: true }]),
  ] as Sheet['rows']
  const sheet = { name: 'Invoices', rows, hiddenRows: [] }
  expect(owed(sheet)).toEqual(['INV-0008 1200.5 EUR 2026-11-05'])
  expect(messages(sheet).slice(1)).toEqual([expect.stringMatching(/more decimals/), expect.stringMatching(/^A formula without its result/)])
})

test('what is typed into a cell is read in its place, and proves nothing about the others', () => {
  const file = ['No,Client,Email,Due Date,Amount', `${row},soon,120`, 'A-2,B,,03/05/2026,5']
  const rows = check(file)
  expect(rows[0]).toMatchObject({ state: 'bad', fields: ['dueDate'] })
  const edits = { 2: { dueDate: '20 Nov 2026' }, 3: { clientEmail: 'b@c.example', dueDate: '25/12/2026', amount: '6.50' } }
  expect(owed(file, { edits })).toEqual(['A-1 120 EUR 2026-11-20', 'A-2 6.5 EUR 2026-12-25'])
  expect(asked(read(file, { edits: { 2: { dueDate: '25/12/2026' } } }))).toEqual(['order/due date'])
  expect(owed(['No,Client,Due Date,Amount', 'A-1,Acme,20/11/2026,1'], { edits: { 2: { clientEmail: 'a@c.example' } } })).toHaveLength(1)
})

/** Of each export: what is owed, and how many rows are no open invoice. */
const expected: Record<Program, [owed: string[], others: number]> = {
  zoho: [['INV-01 180 INR 2026-02-04', 'INV-02 paid'], 5],
  xero: [['INV-1 1000 GBP 2026-02-12'], 3],
  quickbooks: [['1042 200 INR 2026-02-14', '1043 450 INR 2026-03-05'], 3],
  freshbooks: [['INV-1 800.25 USD 2026-02-04', 'INV-3 paid'], 2],
  wave: [['7 1000 INR 2026-02-09'], 3],
  invoiceNinja: [['0007 1000 INR 2026-02-01', '0008 paid'], 1],
  stripe: [['A-1 3000 INR 2026-02-01', 'A-3 50 USD 2026-02-01'], 1],
  razorpay: [['R-1 5000.5 INR 2026-02-01', 'R-2 5000 JPY 2026-02-01'], 1],
  tally: [['T/1 118000 INR 2026-02-04'], 2],
  erpnext: [['ACC-1 600 USD 2026-02-04', 'ACC-2 paid'], 3],
  odoo: [['INV/26/1 1000 EUR 2026-02-04', 'INV/26/2 paid'], 2],
  sevdesk: [['RE-1 1000 EUR 2026-02-04', 'RE-2 paid'], 1],
  lexoffice: [['RE1 1000 EUR 2026-02-04', 'RE2 paid'], 0],
  pennylane: [['F-1 1000 EUR 2026-02-04', 'F-2 paid'], 0],
  holded: [['F1 1000 EUR 2026-02-04', 'F2 paid'], 0],
  sage: [['SI-1 1000 EUR 2026-02-24', 'SI-2 paid'], 1],
}
const clients = readAddresses(
  sheetOf([
    'id,Name,Email',
    ',ACME CORP,ap@acme.example',
    ',Beta LLC,b@beta.example',
    ',Alpha,a@alpha.example',
    'cus_9,Acme,ap@acme.example',
    'cus_8,Eight,e@eight.example',
  ]).rows,
)

test.each(programs)('an export of %s is recognised, and what is owed is read', (program) => {
  const euro = ['odoo', 'sevdesk', 'lexoffice', 'pennylane', 'holded', 'sage'].includes(program)
  const told: Told = { usual: euro ? 'EUR' : 'INR', addresses: clients, answers: { 'days/due': '30', 'order/due date': 'dmy' } }
  const reading = read(exportsOf[program], told)
  const [open, others] = expected[program]
  expect([reading.program, asked(reading)]).toEqual([program, []])
  expect(owed(exportsOf[program], told)).toEqual(open)
  expect(check(exportsOf[program], told).filter(({ draft }) => !draft)).toHaveLength(others)
})

test('a known layout can be set aside, and then its headings are read by their words', () => {
  const reading = read(exportsOf.zoho, { usual: 'INR', answers: { layout: 'none' } })
  expect([reading.program, asked(reading)]).toEqual([null, ['status/invoice status']])
})

test('a program without addresses and due dates is asked for days, and lacks emails', () => {
  const reading = read(exportsOf.freshbooks, { usual: 'USD' })
  expect([asked(reading), reading.lacksEmails]).toEqual([['days/due'], true])
  // One credit note without a due date is no reason to ask.
  const xero = exportsOf.xero.map((line) => line.replace(/(CN-1,13.01.2026),[^,]*/, '$1,'))
  expect(asked(read(xero, { usual: 'GBP' }))).toEqual(['order/due date'])
})

test('clients and addresses of another file are found by name or id', () => {
  expect(clients?.get('cus_9')).toEqual({ name: 'Acme', email: 'ap@acme.example' })
  expect(readAddresses(sheetOf(['Name,Phone', 'Acme,1']).rows)).toBeNull()
})

/* For any headings and words that are drawn, nothing is imported with an amount, a date or a state that the file does not prove. */

const headings = [
  'Amount',
  'Total',
  'Net',
  'Paid',
  'Is Paid',
  'Paid on',
  'Due',
  'Due Date',
  'Created',
  'Order Date',
  'Invoice Date',
  'Balance',
  'Status',
  'Payment Status',
  'Type',
  'Value',
  'Betrag',
  'Offen',
  'Fällig',
  'Fecha',
  'Notes',
  'Credits',
  'Projected total',
  '',
]
const cells = [
  '120',
  '120.00',
  '1.200',
  '-5',
  '(5.00)',
  '0',
  '1',
  '03/05/2026',
  '24/11/2026',
  '11/24/2026',
  '2026-11-24',
  'yes',
  'no',
  'Paid',
  'Draft',
  'Disputed',
  'Credit note',
  'Invoice',
  '$120',
  'EUR 5',
  'n/a',
  '',
  'x',
]
const list = fc
  .uniqueArray(fc.constantFrom(...headings), { minLength: 2, maxLength: 6 })
  .chain((head) =>
    fc.tuple(
      fc.constant(head),
      fc.array(fc.array(fc.constantFrom(...cells), { minLength: head.length, maxLength: head.length }), { minLength: 1, maxLength: 4 }),
    ),
  )
const unsigned = (text: string) => text.replace(/[^\d.]/g, '')

test('no row is imported with an amount, a due date or a state that the file does not prove', () => {
  fc.assert(
    fc.property(list, ([head, lines]) => {
      const rows = [['Invoice No', 'Client', 'Email', ...head], ...lines.map((line, at) => [`N-${at}`, 'Acme', 'a@c.example', ...line])]
      const sheet = { name: null, rows: rows.map((of, at) => ({ number: at + 1, cells: of })), hiddenRows: [] }
      for (const { draft, cells: of } of check(sheet)) {
        if (!draft) continue
        const own = of.slice(3)
        const at = (pattern: RegExp) => own.filter((_, column) => pattern.test(head[column] ?? ''))
        // Its day is in the file as one that exists once, under a heading that names a due date.
        expect(at(/^(Due|Due Date|Fällig)$/).some((cell) => ['2026-11-24', '24/11/2026', '11/24/2026', '03/05/2026'].includes(cell))).toBe(
          true,
        )
        if (at(/^(Due|Due Date|Fällig)$/).every((cell) => cell === '03/05/2026' || cell === ''))
          expect(lines.some((line) => line.some((cell) => cell === '24/11/2026' || cell === '11/24/2026'))).toBe(true)
        // Its amount, or what is owed, is that of cells whose headings name one.
        const money = at(/^(Amount|Total|Value|Betrag|Balance|Due|Offen|Fällig|Paid|Credits)$/).map((cell) => Number(unsigned(cell)))
        expect(money).toContain(draft.amount)
        // It is paid only where a word or a day says so.
        if (draft.status === 'paid') expect(at(/Paid|Status/).some((cell) => cell === 'Paid' || cell === 'yes')).toBe(true)
        expect(own.some((cell, column) => /Status|Type/.test(head[column] ?? '') && /Draft|Disputed|Credit note/.test(cell))).toBe(false)
        expect(at(/^(Amount|Total|Balance)$/).some((cell) => /^[-(]/.test(cell)) && draft.amount === 5).toBe(false)
      }
    }),
    { numRuns: 400 },
  )
})

test('a word of a status is one that is known as a whole', () => {
  fc.assert(
    fc.property(fc.string({ minLength: 1, maxLength: 12 }), (text) => {
      // A fragment of a word is none.
      if (statusOf(`paid${text.replace(/\W/g, 'x')}x`) !== null) throw new Error(text)
    }),
    { numRuns: 100 },
  )
})
