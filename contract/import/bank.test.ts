import { expect, test } from 'vitest'
import type { RecordedPayment } from '#contract/bank-file.ts'
import { type BankReading, lineOf, readBankSheet, refusalOf, takenBackIn, waitsFor } from './bank.ts'
import type { Answers } from './meaning.ts'
import { openCsv, type Sheet } from './table.ts'

const limits = { rows: 20_000, columns: 500, length: 50_000 }
const today = '2026-11-28'

function sheetOf(file: string | string[]): Sheet {
  const opened = openCsv(Uint8Array.from(new TextEncoder().encode(Array.isArray(file) ? file.join('\n') : file)).buffer, limits)
  const sheet = opened.kind === 'sheets' ? opened.sheets[0] : undefined
  if (!sheet) throw new Error(`The file has no sheet: ${opened.kind}`)
  return sheet
}

function read(file: string | string[], { held = ['EUR'], answers = {} }: { held?: string[]; answers?: Answers } = {}): BankReading {
  return readBankSheet(sheetOf(file), { today, held, answers })
}

/** The payments that are known, as `2026-11-20 120 EUR`. */
const payments = (reading: BankReading) =>
  reading.rows.flatMap((row) => {
    const found = lineOf(row)
    return found && refusalOf(row) === null && waitsFor(row).length === 0
      ? [`${found.line.date} ${found.line.amount} ${found.currency}`]
      : []
  })
const asked = ({ questions }: BankReading) => questions.map(({ id }) => id)
const lefts = ({ rows }: BankReading) => rows.map(({ left }) => left)

/** Files of the forms that banks use, each with one payment of 120 on 20 November, or 120.50, that came in. */
const forms: [form: string, file: string[], currency?: string][] = [
  ['two columns', ['Date,Particulars,Withdrawals,Deposits,Balance', '20-11-2026,NEFT A,,120.00,9', '19-11-2026,UPI B,75.00,,8'], 'INR'],
  [
    'zeros in the other column',
    ['Value Date,Withdrawal Amount (INR ),Deposit Amount (INR )', '20/11/2026,0.0,120.0', '19/11/2026,75.0,0.0'],
    'INR',
  ],
  ['money out below zero in its column', ['Datum;Gutschrift in CHF;Lastschrift in CHF', '20.11.2026;120.00;', '19.11.2026;;-75.00'], 'CHF'],
  ['signs', ['Buchungstag;Verwendungszweck;Betrag;Währung', '20.11.2026;A;120,00;EUR', '19.11.2026;B;-75,00;EUR']],
  ['signs on both sides', ['Datum;Bedrag', '20-11-2026;+120,00', '19-11-2026;-75,00']],
  [
    'Cr and Dr behind the amount',
    ['Date,Narration,Withdrawal (Dr)/Deposit (Cr)', '20-11-2026,A,120.00(Cr)', '19-11-2026,B,75.00(Dr)'],
    'INR',
  ],
  ['CR and DB behind the amount', ['Date,Description,Amount,Balance', '20/11/2026,A,120.00 CR,1', '19/11/2026,B,75.00 DB,2'], 'IDR'],
  [
    'words beside the amount',
    ['Date,Description,Amount,Dr / Cr,Balance,Dr / Cr', '20/11/2026,A,120.00,CR,9.00,CR', '19/11/2026,B,75.00,DR,8.00,CR'],
    'INR',
  ],
  ['Af and Bij', ['Datum;Naam;Af Bij;Bedrag (EUR)', '20261120;A;Bij;120,00', '20261119;B;Af;75,00']],
  ['ISO codes', ['Booking Date,Amount,Currency,CreditDebit', '2026-11-20,120.00,EUR,CRDT', '2026-11-19,75.00,EUR,DBIT']],
  ['letters of a pair', ['Date;Amount;Currency;D/K', '2026-11-20;120.00;EUR;K', '2026-11-19;75.00;EUR;D']],
  ['soll and haben', ['Datum;Betrag;Soll/Haben', '20.11.2026;120,00;H', '19.11.2026;75,00;S']],
  ['payments and receipts', ['Date,Details,Payments,Receipts', '20/11/2026,A,,120.00', '19/11/2026,B,75.00,']],
  ['French', ['Date;Libellé;Débit euros;Crédit euros', '20/11/2026;A;;120,00', '19/11/2026;B;75,00;']],
  ['Spanish', ['Fecha;Concepto;Importe;Divisa', '20/11/2026;A;120,00;EUR', '19/11/2026;B;-75,00;EUR']],
  ['Portuguese', ['Data;Histórico;Entradas;Saídas', '20/11/2026;A;120,00;', '19/11/2026;B;;75,00']],
  ['Italian', ['Data contabile;Descrizione;Dare;Avere', '20/11/2026;A;;120,00', '19/11/2026;B;75,00;']],
  ['Hindi', ['दिनांक,विवरण,निकासी,जमा', '20-11-2026,A,,120.00', '19-11-2026,B,75.00,'], 'INR'],
  ['lines above the headings', ['Account;DE89', 'Balance;9,00 €', '', 'Buchungsdatum;Umsatz', '20.11.2026;120,00', '19.11.2026;-75,00']],
  [
    'the gross amount before the net one',
    ['Date,Gross amount,Fee amount,Net amount,Currency', '2026-11-20,120.00,4.00,116.00,EUR', '2026-11-19,-75.00,0,-75.00,EUR'],
  ],
  [
    'an amount in a foreign currency beside it',
    ['Date,Amount (EUR),Amount (Foreign Currency),Foreign Currency', '2026-11-20,120.0,,', '2026-11-19,-75.0,-80.0,USD'],
  ],
  [
    'booking date before value date',
    ['Value Date,Transaction Date,Credit,Debit', '18/11/2026,20/11/2026,120.00,', '19/11/2026,19/11/2026,,75.00'],
  ],
  ['months in words', ['Date,Details,Amount', '20 Nov 2026,A,120.00', 'Thursday 19 November 2026,B,-75.00']],
]

test.each(forms)('a file with %s is read without a question', (_form, file, currency = 'EUR') => {
  const reading = read(file, { held: [currency] })
  expect([asked(reading), payments(reading)]).toEqual([[], [`2026-11-20 120 ${currency}`]])
})

test.each([
  ['unsigned amounts alone', ['Date,Details,Amount', '20/11/2026,A,120.00', '19/11/2026,B,75.00'], ['direction/rows']],
  ['the kind of a card', ['Date,Details,Amount,Card type', '20/11/2026,A,120.00,debit', '19/11/2026,B,75.00,credit'], ['direction/rows']],
  [
    'a word that is not known beside two that are',
    ['Date,Amount,Type', '20/11/2026,120.00,CR', '19/11/2026,75.00,DR', '18/11/2026,10.00,RV'],
    ['direction/type'],
  ],
  [
    'one side only, and blanks',
    ['Date,Details,Amount,Debit flag', '20/11/2026,A,120.00,', '19/11/2026,B,75.00,D'],
    ['direction/debit flag'],
  ],
  ['states that are not known', ['Date,Amount,Status', '20/11/2026,120.00,S', '19/11/2026,-75.00,S'], ['state/status']],
  ['dates in either order', ['Date,Amount', '10/08/2026,120.00', '10/05/2026,-75.00'], ['order/date']],
  ['dates in both orders', ['Date,Amount', '24/11/2026,120.00', '11/24/2026,-75.00', '05/06/2026,3.00'], ['order/date/both']],
  ['amounts in either form', ['Date;Amount', '20.11.2026;1.200', '19.11.2026;-2.500'], ['decimals/amount']],
  [
    'two amounts that differ',
    ['Date,Account amount,Settled amount', '20/11/2026,120.00,130.00', '19/11/2026,-75.00,-80.00'],
    ['column/amount'],
  ],
  [
    'credits less a fee beside the amount',
    ['Date,Amount,Debit,Credit', '20/11/2026,120.00,,117.17', '19/11/2026,75.00,75.00,'],
    ['column/amount'],
  ],
  ['no headings', ['20/11/2026,"+120.00",A,"+900.00"', '19/11/2026,"-75.00",B,"+780.00"'], ['column/date', 'column/amount']],
  ['a sign of several currencies', ['Date,Amount', '20/11/2026,$120.00', '19/11/2026,-$75.00'], ['currency/$'], ['USD', 'AUD']],
  ['no currency where several are in use', ['Date,Amount', '20/11/2026,120.00', '19/11/2026,-75.00'], ['currency/file'], ['EUR', 'USD']],
] as [string, string[], string[], string[]?][])(
  '%s are asked about, and nothing that waits is a payment',
  (_what, file, questions, held = ['EUR']) => {
    const reading = read(file, { held })
    expect(asked(reading)).toEqual(questions)
    for (const row of reading.rows) if (waitsFor(row).length > 0) expect(lineOf(row)).toBe(null)
  },
)

test('answers settle what was asked, and only that', () => {
  const file = ['Date,Details,Amount,Type', '03/05/2026,A,120.00,INW', '04/05/2026,B,75.00,TRF', '05/05/2026,C,10.00,CR']
  const first = read(file)
  expect(asked(first)).toEqual(['direction/type', 'order/date'])
  expect(payments(first)).toEqual([])
  const words = { 'direction/type/inw': 'in', 'direction/type/trf': 'leave', 'direction/type/cr': 'in' }
  expect(payments(read(file, { answers: words }))).toEqual(['2026-05-05 10 EUR'])
  expect(payments(read(file, { answers: { ...words, 'order/date': 'mdy' } }))).toEqual(['2026-03-05 120 EUR', '2026-05-05 10 EUR'])
  expect(payments(read(file, { answers: { ...words, 'order/date': 'leave' } }))).toEqual(['2026-05-05 10 EUR'])
  const unsigned = ['Date,Amount', '20/11/2026,120.00']
  expect(payments(read(unsigned, { answers: { 'direction/rows': 'in' } }))).toEqual(['2026-11-20 120 EUR'])
  expect(payments(read(unsigned, { answers: { 'direction/rows': 'out' } }))).toEqual([])
})

test('an answer to an earlier file is overruled by what the rows of this one prove', () => {
  const answers = { 'order/date': 'mdy', 'direction/rows': 'in' }
  expect(payments(read(['Date,Amount', '03/05/2026,1.00', '25/05/2026,-2.00'], { answers }))).toEqual(['2026-05-03 1 EUR'])
})

test('columns that a person chooses are read, also in a file without headings', () => {
  const file = ['20/11/2026,"+120.00",A,"+900.00"', '19/11/2026,"-75.00",B,"+780.00"']
  const answers = { 'column/date': '#1', 'column/amount': '#2', 'column/description': '#3' }
  const reading = read(file, { answers })
  expect([payments(reading), reading.rows[0]?.description]).toEqual([['2026-11-20 120 EUR'], 'A'])
  const rivals = ['Date,Account amount,Settled amount', '20/11/2026,120.00,130.00', '19/11/2026,-75.00,-80.00']
  expect(payments(read(rivals, { answers: { 'column/amount': 'settled amount' } }))).toEqual(['2026-11-20 130 EUR'])
  const fees = ['Date,Amount,Debit,Credit', '20/11/2026,120.00,,117.17', '19/11/2026,75.00,75.00,']
  expect(payments(read(fees, { answers: { 'column/amount': 'amount' } }))).toEqual(['2026-11-20 120 EUR'])
  expect(payments(read(fees, { answers: { 'column/amount': 'credit' } }))).toEqual(['2026-11-20 117.17 EUR'])
})

test.each([
  ['Status', 'Completed', 'Pending', 'pending'],
  ['Info', 'Umsatz gebucht', 'Umsatz vorgemerkt', 'pending'],
  ['State', 'COMPLETED', 'REVERTED', 'returned'],
  ['status', 'captured', 'failed', 'failed'],
  ['Estado', 'Contabilizado', 'Anulado', 'cancelled'],
  ['Statut', 'Exécuté', 'Remboursé', 'refunded'],
  ['Pending', 'no', 'yes', 'pending'],
  ['Reversal', '', 'true', 'returned'],
] as const)('%s: “%s” is a payment, “%s” is left out', (heading, booked, other, left) => {
  const reading = read([
    `Date,Amount,${heading}`,
    `20/11/2026,120.00,${booked}`,
    `21/11/2026,119.00,${other}`,
    `19/11/2026,-75.00,${booked}`,
  ])
  expect([payments(reading), lefts(reading)]).toEqual([['2026-11-20 120 EUR'], [null, left, 'out']])
})

test('a word in the place of a date, a balance, a total and a day to come are left out', () => {
  const reading = read([
    'Date,Details,Amount',
    '01/11/2026,Opening balance,5000.00',
    'Pending,A,119.00',
    '20/11/2026,B,120.00',
    '19/11/2026,C,-75.00',
    '29/11/2026,D,130.00',
    ',Total credits,120.00',
    '27/11/2026,Closing balance as of 27/11/2026,5120.00',
    '20/11/2026,Total Energies INV-9002,80.00',
  ])
  expect(payments(reading)).toEqual(['2026-11-20 120 EUR', '2026-11-20 80 EUR'])
  expect(lefts(reading)).toEqual(['sum', 'pending', null, 'out', 'future', 'sum', 'sum', null])
})

test('rows that contradict themselves are refused in a sentence', () => {
  const refusals = (file: string[]) => read(file).rows.map(refusalOf)
  expect(refusals(['Date,Debit,Credit', '20/11/2026,1.00,2.00'])).toEqual(['Money in and money out are filled in one row.'])
  expect(refusals(['Date,Amount,Dr/Cr', '20/11/2026,-120.00,CR', '19/11/2026,75.00,DR'])[0]).toBe(
    'The row says “CR”, and its amount is -120.00.',
  )
  expect(refusals(['Date,Amount,Currency', '20/11/2026,120.00,XYZ', '19/11/2026,-75.00,EUR'])[0]).toBe(
    'Duely does not know the currency “XYZ”.',
  )
  expect(refusals(['Date,Amount,Currency', '20/11/2026,$120.00,EUR', '19/11/2026,-75.00,EUR'])[0]).toMatch(
    /^The row names several currencies/,
  )
  expect(refusals(['Date,Amount', 'soon,120.00', ',1.00', '31/02/2026,2.00', '20/11/2026,-1.00'])).toEqual([
    '“soon” is no date.',
    'This row has no date.',
    '“31/02/2026” is no date.',
    null,
  ])
  expect(refusals(['Date,Amount', '20/11/2026,33.333', '19/11/2026,-1.50'])[0]).toMatch(/more decimals/)
})

test('a row that only continues the one before it gives it its words', () => {
  const file = [
    'Transaction date,Value date,Description,Withdrawals,Deposits',
    '20/11/2026,20/11/2026,FAST PAYMENT,,120.00',
    ',,INV-9002 CLIENT PTE LTD,',
    '19/11/2026,19/11/2026,PURCHASE,75.00,',
  ]
  expect(read(file).rows.map(({ description }) => description)).toEqual(['FAST PAYMENT INV-9002 CLIENT PTE LTD', 'PURCHASE'])
})

test('a debit of the same amount with the same reference within thirty days marks what it takes back', () => {
  const file = (back: string) => [
    'Date,Details,Amount',
    '01/10/2026,NACH KAVERI INV-9019,500.00',
    '02/10/2026,NACH KAVERI INV-9020,500.00',
    back,
  ]
  const returned = (back: string) => read(file(back)).rows.map(({ returnedIn }) => returnedIn)
  expect(returned('13/10/2026,RTN NACH INV-9019,-500.00')).toEqual(['row 4', null, null])
  for (const other of ['13/10/2026,RTN NACH INV-9019,-501.00', '13/11/2026,RTN NACH INV-9019,-500.00', '13/10/2026,RENT,-500.00'])
    expect(returned(other)).toEqual([null, null, null])
})

test('a debit that names a payment of an earlier file takes it back, within thirty days and once', () => {
  const payment = (more: Partial<RecordedPayment> = {}): RecordedPayment => ({
    _id: 'p1',
    transfer: 't1',
    invoiceId: 'i1',
    invoice: 'INV-9019',
    clientName: 'Kaveri',
    amount: 500,
    currency: 'EUR',
    paidOn: '2026-10-01',
    text: 'NACH KAVERI',
    ...more,
  })
  const back = (recorded: RecordedPayment[], ...rows: string[]) => {
    const reading = read(['Date,Details,Amount', ...rows, '28/10/2026,CARD,-1.00'])
    return [...takenBackIn(reading.rows, recorded)].map(([row, payments]) => [row, payments.map(({ _id }) => _id)])
  }
  const row = '13/10/2026,RTN NACH INV-9019,-500.00'
  expect(back([payment()], row)).toEqual([[2, ['p1']]])
  expect(back([payment()], row, row)).toEqual([[2, ['p1']]])
  // A transfer that paid two invoices comes back as a whole.
  const parts = [payment({ amount: 300 }), payment({ _id: 'p2', amount: 200, invoice: 'INV-9020' })]
  expect(back(parts, row)).toEqual([[2, ['p1', 'p2']]])
  for (const other of [{ amount: 501 }, { currency: 'USD' }, { paidOn: '2026-09-12' }, { paidOn: '2026-10-14' }, { invoice: 'INV-1' }])
    expect(back([payment(other)], row)).toEqual([])
  expect(back([payment()], '13/10/2026,RTN NACH INV-9019,500.00')).toEqual([])
})

test('the statement of a card is none of a bank account', () => {
  const known = read(['Date Processed,Description,Amount', '12-Nov-2026,INSURANCE,"£1,183.23"'])
  const other = read(['Date,Details,Amount', '12/11/2026,INSURANCE,1183.23', '13/11/2026,PAYMENT RECEIVED - THANK YOU,-50.00'])
  expect([known, other].map(({ isCard, rows }) => [isCard, rows])).toEqual([
    [true, []],
    [true, []],
  ])
})

test.each([
  ['$150.00', 'USD', 'USD'],
  ['A$200', 'EUR', 'AUD'],
  ['¥12,000', 'JPY', 'JPY'],
  ['₦1,500', 'EUR', 'NGN'],
  ['Dirham 20', 'AED', 'AED'],
  ['kr 1 200,50', 'SEK', 'SEK'],
  ['12,500.00 INR', 'EUR', 'INR'],
])('the currency of %s is taken, where %s is in use', (amount, held, currency) => {
  const reading = read(['Date;Amount', `20.11.2026;${amount}`, '19.11.2026;-1'], { held: [held] })
  expect(reading.rows[0]?.currency).toMatchObject({ kind: 'certain', value: currency })
})

test.each([
  [
    'letters that have no accent to take off',
    [
      '#Data operacji;#Opis operacji;#Tytuł;#Nadawca/Odbiorca;#Kwota',
      '2026-11-20;PRZELEW;RE-7;KAVERI;120,00',
      '2026-11-19;ZAKUP;x;Z;-75,00',
    ],
    ['KAVERI', 'PRZELEW RE-7'],
  ],
  [
    'the name of the other party beside that of the account',
    ['Naam;Datum;Omschrijving;Bedrag;Naam tegenpartij', 'Asha;20/11/2026;RE-7;120,00;Kaveri', 'Asha;19/11/2026;x;-75,00;Shop'],
    ['Kaveri', 'RE-7'],
  ],
  [
    'headings in one word',
    ['dateOp;dateVal;label;amount', '2026-11-20;2026-11-20;VIR RE-7;120,00', '2026-11-19;2026-11-19;CARTE;-75,00'],
    ['', 'VIR RE-7'],
  ],
  [
    'a short and a complete text',
    [
      'Data_Operazione;Entrate;Uscite;Descrizione;Descrizione_Completa',
      '20/11/2026;120,00;;Bonifico;Kaveri RE-7',
      '19/11/2026;;-75,00;POS;x',
    ],
    ['', 'Bonifico Kaveri RE-7'],
  ],
])('who paid and for what is read from %s', (_form, file, [name, description]) => {
  const reading = read(file)
  expect(payments(reading)).toEqual(['2026-11-20 120 EUR'])
  expect(reading.rows[0]).toMatchObject({ name, description })
})
