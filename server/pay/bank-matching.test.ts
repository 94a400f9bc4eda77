import { expect, test } from 'vitest'
import { openPace, type Pace } from '#server/platform/pace.ts'
import { type BankLine, type Match, matchLines, type NamedPayment, type OpenAnswer, type Payable } from './bank-matching.ts'
import { formOf } from './bank-text.ts'

const rupees = (minor: number) => `₹${minor / 100}`

function payable(reference: string, balance: number, more: Partial<Payable> = {}): Payable {
  return { id: reference, reference, clientName: 'Kaveri Foods', dueDate: '2026-02-01', balanceMinor: balance * 100, payments: [], ...more }
}

function lineOf(description: string, amount: number, more: Partial<BankLine> = {}): BankLine {
  return { date: '2026-03-02', amountMinor: Math.round(amount * 100), description, reference: '', name: '', recorded: false, ...more }
}

const match = (lines: BankLine[], invoices: Payable[], answers: OpenAnswer[] = [], payments: NamedPayment[] = []) =>
  matchLines(lines, { invoices, answers, payments, clients: [] }, rupees)

/** The verdict on one line, and what it pays: `sure INV-0042:3000`. */
async function said(line: BankLine, invoices: Payable[], answers: OpenAnswer[] = [], payments: NamedPayment[] = []): Promise<string> {
  const [found] = await match([line], invoices, answers, payments)
  return spoken(found)
}

const spoken = (found: Match | undefined) =>
  [found?.verdict, ...(found?.invoices ?? []).map(({ invoiceId, amountMinor }) => `${invoiceId}:${amountMinor / 100}`)].join(' ')

test.each([
  ['as it is', 'NEFT CR-HDFC0001234-KAVERI FOODS-INV-0042', 'sure INV-0042:3000'],
  ['in lower case', 'upi/412345678901/inv-0042/okaxis', 'sure INV-0042:3000'],
  ['without its separator', 'INV0042 KAVERI', 'sure INV-0042:3000'],
  ['with another separator', 'paid inv/0042', 'sure INV-0042:3000'],
  ['with a space', 'Invoice INV 0042', 'sure INV-0042:3000'],
  ['behind a colon', 'RFB:INV-0042;EREF', 'sure INV-0042:3000'],
  ['with a longer number', 'INV-00421', 'none'],
  ['within a word', 'REFINV-0042', 'none'],
  ['with a year behind it, which may be a part of it', 'INV-0042/26', 'likely INV-0042:3000'],
])('a reference is found %s', async (_how, description, expected) => {
  expect(await said(lineOf(description, 3_000), [payable('INV-0042', 5_000)])).toBe(expected)
})

test('a date is no reference', async () => {
  expect(await said(lineOf('CARD 15/01 2026', 10), [payable('1501', 500), payable('2026-15', 700)])).toBe('none')
  expect(await said(lineOf('Rechnung 2026-15', 10), [payable('2026-15', 700)])).toBe('sure 2026-15:10')
})

test('a reference that is too short, or has no figure, is never recognised', async () => {
  expect(['A-1', 'ACME', '12', 'AB-12'].map((reference) => formOf(reference).text)).toEqual(['', '', '', 'ab12'])
  expect(await said(lineOf('ACME A-1 12', 10), [payable('ACME', 500), payable('A-1', 500), payable('12', 700)])).toBe('none')
})

test('of a reference inside another one only the longer counts, also when that one is paid', async () => {
  const invoices = [payable('INV-1-2', 500), payable('INV-1', 500), payable('2026-INV-7', 0), payable('INV-7', 900)]
  expect(await said(lineOf('INV-1-2', 500), invoices)).toBe('sure INV-1-2:500')
  expect(await said(lineOf('2026-INV-7', 50), invoices)).toBe('none')
})

test('references that are the same but for separators are for review', async () => {
  expect(await said(lineOf('INV0042', 10), [payable('INV-0042', 500), payable('INV/0042', 700)])).toMatch(/^likely/)
})

test('several references are sure where their balances add up, else for review', async () => {
  const invoices = [payable('INV-0042', 3_000, { dueDate: '2026-01-10' }), payable('INV-0043', 2_000, { dueDate: '2026-01-05' })]
  expect(await said(lineOf('INV-0042 INV-0043', 5_000), invoices)).toBe('sure INV-0042:3000 INV-0043:2000')
  expect(await said(lineOf('INV-0042, INV-0043', 2_500), invoices)).toBe('likely INV-0043:2000 INV-0042:500')
  expect(await said(lineOf('INV-0042, INV-0043', 6_000), invoices)).toBe('likely INV-0043:2000 INV-0042:4000')
})

test('more than the balance is for review', async () => {
  const [found] = await match([lineOf('INV-0042', 3_500)], [payable('INV-0042', 3_000)])
  expect(found).toMatchObject({ verdict: 'likely', reason: '“INV-0042” is in the row, but only ₹3000 of INV-0042 is still to pay.' })
})

test('an equal balance is for review: by a word of the name, or where only one fits', async () => {
  const invoices = [payable('INV-0042', 3_000), payable('INV-0043', 3_000, { clientName: 'Studio Indigo' }), payable('INV-0044', 750)]
  expect(await said(lineOf('IMPS INDIGO', 3_000), invoices)).toBe('likely INV-0043:3000')
  expect(await said(lineOf('IMPS 99', 3_000), invoices)).toBe('none')
  expect(await said(lineOf('IMPS 99', 750), invoices)).toBe('likely INV-0044:750')
  expect(await said(lineOf('', 3_000, { name: 'Kaverí Foods Pvt Ltd' }), invoices)).toBe('likely INV-0042:3000')
})

test('what one line surely pays is no longer open for the next, in the order of their dates', async () => {
  const found = await match(
    [lineOf('INV-0042', 3_000, { date: '2026-03-03' }), lineOf('INV-0042', 3_000, { date: '2026-03-01' })],
    [payable('INV-0042', 5_000)],
  )
  expect(found.map(({ verdict }) => verdict)).toEqual(['likely', 'sure'])
})

test('a payment reference that a client named pays its invoice', async () => {
  const answers = [{ invoiceId: 'INV-0042', reference: 'UTR 412345678901', amountMinor: 300_000 }]
  const invoices = [payable('INV-0042', 3_000), payable('INV-0043', 3_000)]
  expect(await said(lineOf('NEFT UTR412345678901', 3_000), invoices, answers)).toBe('sure INV-0042:3000')
  expect(await said(lineOf('NEFT UTR412345678901', 2_999), invoices, answers)).toBe('none')
  const recorded = { payments: [{ amountMinor: 300_000, paidOn: '2026-02-28' }] }
  expect(await said(lineOf('NEFT UTR412345678901', 3_000), [payable('INV-0042', 3_000, recorded)], answers)).toBe('likely INV-0042:3000')
})

test('a transfer that is recorded by its reference is no payment of another invoice', async () => {
  const invoices = [payable('INV-0043', 3_000)]
  const recorded = (more: Partial<NamedPayment> = {}): NamedPayment[] => [
    { invoiceId: 'INV-0042', invoice: 'INV-0042', reference: 'UTR 412345678901', amountMinor: 300_000, paidOn: '2026-03-09', ...more },
  ]
  const line = lineOf('NEFT UTR412345678901 KAVERI FOODS', 3_000)
  const [found] = await match([line], invoices, [], recorded())
  expect(found).toMatchObject({
    verdict: 'likely',
    reason: 'Perhaps recorded already: INV-0042 has a payment of this amount from about that day.',
  })
  expect(spoken(found)).toBe('likely INV-0042:3000')
  // Nor of one that its text names, or that the client named it for.
  expect(await said(lineOf('UTR412345678901 INV-0043', 3_000), invoices, [], recorded())).toBe('likely INV-0042:3000')
  const answers = [{ invoiceId: 'INV-0043', reference: 'UTR 412345678901', amountMinor: 300_000 }]
  expect(await said(line, invoices, answers, recorded())).toBe('likely INV-0042:3000')
  for (const other of [{ amountMinor: 299_900 }, { reference: 'UTR 900000000009' }, { reference: '' }, { paidOn: '2026-01-02' }])
    expect(await said(line, invoices, [], recorded(other))).toBe('likely INV-0043:3000')
  // The reference of an invoice is in each of its transfers.
  expect(await said(lineOf('INV-0043', 1_000), invoices, [], recorded({ reference: 'INV-0043', amountMinor: 100_000 }))).toBe(
    'sure INV-0043:1000',
  )
})

test('what is sure takes its invoice before what only fits, and two lines that fit get two invoices', async () => {
  const invoices = [payable('INV-0043', 5_000, { dueDate: '2026-02-28' }), payable('INV-0042', 5_000, { dueDate: '2026-01-31' })]
  const lines = (...all: string[]) => all.map((description, at) => lineOf(description, 5_000, { date: `2026-03-0${at + 1}` }))
  const all = async (...descriptions: string[]) => (await match(lines(...descriptions), invoices)).map(spoken)
  expect(await all('KAVERI FOODS', 'NEFT KAVERI')).toEqual(['likely INV-0042:5000', 'likely INV-0043:5000'])
  expect(await all('KAVERI FOODS', 'KAVERI INV-0042')).toEqual(['likely INV-0043:5000', 'sure INV-0042:5000'])
  expect(await all('KAVERI 1', 'KAVERI 2', 'KAVERI 3')).toEqual(['likely INV-0042:5000', 'likely INV-0043:5000', 'likely INV-0042:5000'])
})

test('a payment of the same amount within three days is perhaps recorded already, and a recorded line is', async () => {
  const payments = [{ amountMinor: 300_000, paidOn: '2026-02-27' }]
  expect(await said(lineOf('INV-0042', 3_000), [payable('INV-0042', 0, { payments })])).toBe('likely INV-0042:3000')
  expect(await said(lineOf('INV-0042', 3_000, { date: '2026-03-03' }), [payable('INV-0042', 9_000, { payments })])).toBe(
    'sure INV-0042:3000',
  )
  expect(await said(lineOf('INV-0042', 3_000, { recorded: true }), [payable('INV-0042', 9_000)])).toBe('recorded')
})

/** Which words of a line are the evidence, as `reference: INV-0042`. */
async function evidence(line: BankLine, invoices: Payable[], clients: string[] = [], answers: OpenAnswer[] = []): Promise<string[]> {
  const [found] = await matchLines([line], { invoices, answers, payments: [], clients }, rupees)
  for (const { field, text } of found?.evidence ?? []) expect(line[field]).toContain(text)
  return (found?.evidence ?? []).map(({ text, kind }) => `${kind}: ${text}`)
}

test('the evidence is what the row says, as it says it', async () => {
  const invoices = [payable('INV-0042', 5_000), payable('INV-0043', 700, { clientName: 'Studio Indigo' })]
  const answers = [{ invoiceId: 'INV-0042', reference: 'UTR 412345678901', amountMinor: 300_000 }]
  expect(await evidence(lineOf('NEFT KAVERI FOODS PVT LTD inv 0042', 3_000), invoices)).toEqual([
    'reference: inv 0042',
    'name: KAVERI FOODS',
  ])
  expect(await evidence(lineOf('Rechnung ＩＮＶ－００４２ Kaverí', 3_000), invoices)).toEqual([
    'reference: ＩＮＶ－００４２',
    'name: Kaverí',
  ])
  expect(await evidence(lineOf('IMPS', 700, { name: 'INDIGO, STUDIO' }), invoices)).toEqual(['name: INDIGO', 'name: STUDIO'])
  expect(await evidence(lineOf('UPI/611402/studioindigo@okicici', 700), invoices)).toEqual(['name: studioindigo'])
  expect(await evidence(lineOf('NEFT UTR412345678901', 3_000), invoices, [], answers)).toEqual(['payment: UTR412345678901'])
  expect(await evidence(lineOf('CASH', 700), invoices)).toEqual([])
})

test('a word that another client has too is no evidence of one, two words are', async () => {
  const invoices = [payable('INV-0042', 3_000), payable('INV-0043', 3_000, { clientName: 'Studio Indigo' })]
  expect(await evidence(lineOf('NEFT KAVERI', 3_000), invoices, ['Kaveri Textiles'])).toEqual([])
  expect(await evidence(lineOf('NEFT KAVERI FOODS', 3_000), invoices, ['Kaveri Textiles'])).toEqual(['name: KAVERI FOODS'])
  // Another spelling is the same client.
  expect(await evidence(lineOf('NEFT KAVERI', 3_000), invoices, ['kaveri foods Pvt Ltd'])).toEqual(['name: KAVERI'])
})

test('a number without its zeros is sure where the client is named too', async () => {
  const invoices = [payable('INV-0009', 3_000), payable('INV-0042', 700)]
  expect(await said(lineOf('UPI/kaverifoods@okicici/INV 9', 3_000), invoices)).toBe('sure INV-0009:3000')
  expect(await said(lineOf('INV 9', 1_000), invoices)).toBe('likely INV-0009:1000')
  expect(await said(lineOf('INV 9 KAVERI FOODS', 3_000), [...invoices, payable('INV-009', 500)])).toBe('likely INV-0009:3000')
  expect(await said(lineOf('INV 9 KAVERI', 10), [payable('INV-0009', 3_000), payable('INV-9', 700)])).toBe('sure INV-9:10')
  // Beside a whole reference it says nothing.
  expect(await said(lineOf('INV-0042 INV 9', 700), invoices)).toBe('sure INV-0042:700')
})

test.each([
  ['references without end', (nth: number) => lineOf(`INV-${nth} I${nth % 10}-1 2 `.repeat(90).slice(0, 1_000), 500 + nth)],
  ['figures alone', () => lineOf('1 2 3 4 5 '.repeat(100), 500)],
  ['one amount and one name', () => lineOf('NEFT KAVERI FOODS', 3_000)],
  ['one payment that many clients named', () => lineOf('UTR 412345678901 '.repeat(50), 500)],
])('a file of %s takes as much work as it has text, and others get their turn', async (_what, lineAt) => {
  let read = 0
  const count = <T extends object>(one: T): T =>
    new Proxy(one, {
      get(target, name, receiver) {
        read += 1
        return Reflect.get(target, name, receiver)
      },
    })
  const [lines, invoices] = [Array.from({ length: 400 }, (_none, nth) => lineAt(nth)), 400]
  const known = {
    invoices: Array.from({ length: invoices }, (_none, nth) => count(payable(`INV-${nth}`, 3_000))),
    answers: Array.from({ length: invoices }, (_none, nth) =>
      count({ invoiceId: `INV-${nth}`, reference: 'UTR 412345678901', amountMinor: 100 }),
    ),
    payments: Array.from({ length: invoices }, (_none, nth) =>
      count({ invoiceId: `INV-${nth}`, invoice: `INV-${nth}`, reference: 'UTR 412345678901', amountMinor: 100, paidOn: '2026-03-02' }),
    ),
    clients: [],
  }
  let [done, longest, rests] = [0, 0, 0]
  const pace = openPace(async () => {
    longest = Math.max(longest, done)
    done = 0
    rests += 1
  })
  const counted: Pace = {
    did(units) {
      done += units
      return pace.did(units)
    },
  }
  await matchLines(lines, known, rupees, counted)
  const text = lines.reduce((sum, { description }) => sum + description.length, 0)
  // Each line with each invoice would be 160,000.
  expect(read).toBeLessThan(100 * invoices + text / 4)
  expect(rests).toBeGreaterThan(0)
  expect(longest).toBeLessThan(30_000)
})
