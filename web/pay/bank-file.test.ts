import { expect, test } from 'vitest'
import { type BankMatch, bankFileCalls, mostLines } from '#contract/bank-file.ts'
import { linesOf, type ReadLine, readBankSheet } from '#contract/import/bank.ts'
import { readStatement } from '#contract/import/formats/read.ts'
import type { Question } from '#contract/import/meaning.ts'
import { readBankStatement } from '#contract/import/statement-rows.ts'
import { openCsv } from '#contract/import/table.ts'
import { type Invoice, invoiceCalls } from '#contract/invoices.ts'
import { banks, latin1, type Transfer, utf16 } from '#test/bank-files.ts'
import { anInvoice, aPerson } from '#test/factories.ts'
import { ask, openTestApp } from '#test/harness.ts'
import { camt053, mt940, ofx, qif, type StatementTransfer } from '#test/statement-files.ts'
import { fileLimits } from '#web/ui/open-sheets.ts'
import { inCalls } from './bank-calls.ts'
import { withoutOverpaying } from './bank-rows.ts'

const today = '2026-03-02'

interface ReadFile {
  lines: ReadLine[]
  questions: Question[]
  out: number
}

function read(content: ArrayBuffer | string, currency = 'INR'): ReadFile {
  const bytes = typeof content === 'string' ? new TextEncoder().encode(content) : new Uint8Array(content)
  const statement = readStatement(bytes)
  if (statement?.kind === 'statement') {
    const { rows, questions } = readBankStatement(statement, { today, held: [currency], answers: {} })
    return { lines: [...linesOf(rows).values()], questions, out: rows.filter(({ left }) => left === 'out').length }
  }
  const opened = openCsv(typeof content === 'string' ? Uint8Array.from(new TextEncoder().encode(content)).buffer : content, fileLimits)
  const sheet = opened.kind === 'sheets' ? opened.sheets[0] : undefined
  if (!sheet) throw new Error(`The file has no sheet: ${opened.kind}`)
  const { rows, questions } = readBankSheet(sheet, { today, held: [currency], answers: {} })
  return { lines: [...linesOf(rows).values()], questions, out: rows.filter(({ left }) => left === 'out').length }
}

const salary: Transfer = { date: '2026-02-03', amount: -18_250, name: 'Meera Iyer', purpose: 'SALARY' }
const few: Transfer[] = [
  { date: '2026-02-02', amount: 3_000, name: 'Kaveri Foods', purpose: 'INV-0001' },
  salary,
  { date: '2026-02-12', amount: 1_250, name: 'Studio Indigo', purpose: 'INV-0002' },
  { date: '2026-02-12', amount: 125_000.5, name: 'Banyan Textiles', purpose: 'INV-0003' },
]

test.each(banks)('a file of $name is read without help', ({ write, currency }) => {
  const found = read(write(few), currency)
  const sorted = found.lines.toSorted(({ line: one }, { line: other }) => one.date.localeCompare(other.date) || one.amount - other.amount)
  expect(sorted.map(({ line }) => [line.date, line.amount])).toEqual([
    ['2026-02-02', 3_000],
    ['2026-02-12', 1_250],
    ['2026-02-12', 125_000.5],
  ])
  expect([found.out, found.questions]).toEqual([1, []])
  expect(found.lines.every((one) => one.currency === currency)).toBe(true)
})

test('lines are compared in parts of a size that one call takes', () => {
  const parts = (count: number, text: string) =>
    inCalls(
      read(['Date,Narration,Credit', ...Array.from({ length: count }, () => `20/02/2026,${text},5.00`)].join('\n')).lines,
      mostLines,
    ).map(({ length }) => length)
  expect([parts(2_001, 'NEFT'), parts(2_000, 'x'.repeat(500)).length]).toEqual([[2_000, 1], 2])
})

test('what one part of a file pays is not paid again by the next one', () => {
  const sure = (line: number, amount: number): BankMatch => ({
    line,
    verdict: 'sure',
    invoices: [{ invoiceId: 'a', amount }],
    reason: '',
    inOtherCurrency: null,
    evidence: [],
  })
  const checked = withoutOverpaying([sure(0, 300), sure(1, 200), sure(2, 1)], {
    owedOf: () => 500,
    minorOf: (_match, amount) => amount,
    reason: 'again',
  })
  expect(checked.map(({ verdict, reason }) => [verdict, reason])).toEqual([
    ['sure', ''],
    ['sure', ''],
    ['likely', 'again'],
  ])
})

// Takes 3 s: fourteen calls with a program of their own.
test('a month as CSV read by 0.2.0, as CSV, CAMT, MT940, OFX and QIF, and in a longer file, is recorded once', async () => {
  await using app = await openTestApp({ now: `${today}T09:00:00Z` })
  const asha = await aPerson(app)
  const month: StatementTransfer[] = [
    { date: '2026-02-13', amount: 3_000, name: 'Kaveri Foods', purpose: 'Invoice INV-0001' },
    { date: '2026-02-14', amount: -18_250, name: 'Meera Iyer', purpose: 'SALARY' },
    // Two equal transfers of one day are two.
    { date: '2026-02-17', amount: 1_250, name: 'Studio Indigo', purpose: 'INV-0002 thanks' },
    { date: '2026-02-17', amount: 1_250, name: 'Studio Indigo', purpose: 'INV-0002 thanks' },
    { date: '2026-02-20', amount: 500.5, name: 'Banyan Textiles', purpose: 'INV-0003' },
  ]
  const drafts = [
    ['INV-0001', 'Kaveri Foods', 9_000],
    ['INV-0002', 'Studio Indigo', 9_000],
    ['INV-0003', 'Banyan Textiles', 9_000],
  ] as const
  await ask(app, asha, invoiceCalls.import, {
    body: {
      lines: drafts.map(([reference, clientName, amount]) => ({
        reference,
        clientName,
        clientEmail: 'pay@example.com',
        amount,
        currency: 'EUR',
        dueDate: '2026-01-05',
      })),
    },
  })
  const { reply: invoices } = await ask(app, asha, invoiceCalls.list, { query: {} })
  // The texts that the reader of 0.2.0 gave of a file of Deutsche Bank.
  const lines020 = month
    .filter(({ amount }) => amount > 0)
    .map(({ date, amount, name, purpose }) => ({
      date,
      amount,
      description: `Rechnung ${purpose} SVWZ+`,
      reference: 'NOTPROVIDED',
      name,
      invoices: [{ invoiceId: invoices.find(({ reference }) => purpose.includes(reference))?._id ?? '', amount }],
    }))
  expect((await ask(app, asha, bankFileCalls.import, { body: { lines: lines020, currency: 'EUR' } })).reply.recorded).toBe(4)

  const csv = banks.find(({ name }) => name === 'Deutsche Bank')
  const utf8 = (text: string) => Uint8Array.from(new TextEncoder().encode(text)).buffer
  const formats: [name: string, write: (all: StatementTransfer[]) => ArrayBuffer][] = [
    ['CSV', (all) => csv?.write(all) ?? utf8('')],
    ...[camt053, mt940, ofx, qif].map(({ name, write }): [string, (all: StatementTransfer[]) => ArrayBuffer] => [
      name,
      (all) => utf8(write(all)),
    ]),
  ]
  const longer: StatementTransfer[] = [...month, { date: '2026-02-21', amount: 75, name: 'Kaveri Foods', purpose: 'INV-0001 rest' }]
  const found: unknown[] = []
  for (const [name, write] of formats) found.push([name, await importSure(app, asha, write(month), 'EUR')])
  // The first of them records the rest, and to the others it is recorded before.
  for (const [name, write] of formats) found.push([name, await importSure(app, asha, write(longer), 'EUR')])
  expect(found).toEqual([
    ...formats.map(([name]) => [name, { recorded: 0, before: 4 }]),
    ...formats.map(([name], nth) => [name, nth === 0 ? { recorded: 1, before: 4 } : { recorded: 0, before: 5 }]),
  ])
})

/** Records what the review calls sure, and how many of its lines were recorded before. */
async function importSure(
  app: Awaited<ReturnType<typeof openTestApp>>,
  person: Awaited<ReturnType<typeof aPerson>>,
  content: ArrayBuffer | string,
  currency = 'INR',
) {
  const lines = read(content, currency).lines.map(({ line }) => line)
  const { reply: matches } = await ask(app, person, bankFileCalls.match, { body: { lines, currency } })
  const chosen = new Map(matches.filter(({ verdict }) => verdict === 'sure').map(({ line, invoices }) => [line, invoices]))
  const body = { lines: lines.map((line, at) => ({ ...line, invoices: chosen.get(at) ?? [] })), currency }
  const { reply } = await ask(app, person, bankFileCalls.import, { body })
  return { recorded: reply.recorded, before: matches.filter(({ verdict }) => verdict === 'recorded').length }
}

// Takes 2 s: nine imports.
test('row 23: a file twice, overlapping, in other encodings and with escaped formulas records no payment twice', async () => {
  await using app = await openTestApp({ now: `${today}T09:00:00Z` })
  const asha = await aPerson(app)
  const { reference } = await anInvoice(app, { owner: asha, amount: 9_000 })
  const head = 'Date,Narration,Credit,Name'
  // Two equal transfers of one day are two.
  const lines = [
    `20/02/2026,NEFT ${reference},500.00,Müller`,
    `20/02/2026,NEFT ${reference},500.00,Müller`,
    `21/02/2026,'=${reference}+1 paid,700.00,Müller`,
  ]
  const file = [head, ...lines].join('\r\n')
  expect(await importSure(app, asha, file)).toEqual({ recorded: 3, before: 0 })
  const again = [
    file,
    utf16(file.replaceAll(',', '\t')),
    latin1(file),
    latin1(file.replaceAll(',', ';')),
    file.replaceAll("'=", '='),
    [head, ...lines.toReversed()].join('\n'),
    ['Statement of account', '', head, ...lines.slice(1)].join('\n'),
  ]
  for (const one of again) expect((await importSure(app, asha, one)).recorded).toBe(0)
  const third = [head, lines[0], lines[0], lines[0], '22/02/2026,ATM,,'].join('\n')
  // One more of them is another payment, or the same seen twice: it is asked about.
  expect(await importSure(app, asha, third)).toEqual({ recorded: 0, before: 2 })
  expect((await ask(app, asha, invoiceCalls.list, { query: {} })).reply).toMatchObject([{ amountPaid: 1_700 }])
})

/*
 * Row 24: 300 lines in files of six banks. Each is labelled with what it truly pays: the invoice that it names, or one that it does not name,
 * or none although it looks like one.
 */
test('row 24: of 300 lines of six banks no ticked one is wrong, and at least four of five are found', async () => {
  await using app = await openTestApp({ now: `${today}T09:00:00Z` })
  const asha = await aPerson(app)
  const names = 'Kaveri Foods,Studio Indigo,Banyan Textiles,Meera Ceramics,Neem Pharma,Lotus Logistics,Tamarind Cafe,Cedar Works'.split(',')
  const styles = [
    (n: number) => `INV-${String(n).padStart(4, '0')}`,
    (n: number) => `2026/${String(n).padStart(3, '0')}`,
    (n: number) => `AT${3_000 + n}`,
  ]
  const all = banks.flatMap((bank, which) =>
    Array.from({ length: 50 }, (_, line) => {
      const nth = which * 50 + line
      const reference = styles[line % styles.length]?.(nth + 1) ?? ''
      // Balances repeat, as the prices of a small business do.
      const balance = 1_000 + (nth % 40) * 125
      const name = names[nth % names.length] ?? ''
      const kind = line % 10
      // Seven of ten name their invoice; one of them pays a part. The others: an order number of the client's own, a date, nothing.
      const purpose = kind < 7 ? reference : kind === 7 ? `PO-${nth + 1}` : kind === 8 ? `20/26-${nth}` : 'REFUND'
      const amount = kind === 6 ? balance / 2 : kind < 8 ? balance : kind === 8 ? 17.25 : 99.5
      const date = `2026-02-${String(1 + (nth % 28)).padStart(2, '0')}`
      return { bank, reference, balance, name, pays: kind < 8 ? reference : null, transfer: { date, amount, name, purpose } }
    }),
  )
  const drafts = all.map(({ bank, reference, balance, name }, nth) => ({
    clientName: `${name} Ltd`,
    clientEmail: `pay${nth % names.length}@example.com`,
    amount: balance,
    currency: bank.currency,
    dueDate: `2026-01-${String(1 + (nth % 28)).padStart(2, '0')}`,
    reference,
  }))
  for (const part of [drafts.slice(0, 150), drafts.slice(150)])
    await ask(app, asha, invoiceCalls.import, { body: { lines: part, keepDuplicates: true } })
  const { reply: invoices } = await ask(app, asha, invoiceCalls.list, { query: {} })
  const referenceOf = new Map(invoices.map(({ _id, reference }: Invoice) => [_id, reference]))
  const [wrong, missed, sure]: [string[], string[], string[]] = [[], [], []]
  for (const bank of banks) {
    const its = all.filter((one) => one.bank === bank)
    const { lines } = read(bank.write([salary, ...its.map(({ transfer }) => transfer)]), bank.currency)
    expect(lines.length).toBe(50)
    const { reply } = await ask(app, asha, bankFileCalls.match, { body: { lines: lines.map(({ line }) => line), currency: bank.currency } })
    for (const { line: at, verdict, invoices: proposed } of reply) {
      const { line } = lines[at] ?? {}
      const label = its.find(
        ({ transfer, pays }) =>
          transfer.date === line?.date &&
          transfer.amount === line.amount &&
          (pays === null || `${line.description}${line.reference}`.replace(/[-\s]/g, '').includes(transfer.purpose.replace(/[-\s]/g, ''))),
      )
      const found = proposed.map(({ invoiceId }) => referenceOf.get(invoiceId))
      const about = `${bank.name}: ${line?.description} ${line?.amount}: ${verdict} ${found.join()}`
      if (verdict === 'sure' && (found.length !== 1 || found[0] !== label?.pays)) wrong.push(about)
      if (label?.pays && !found.includes(label.pays)) missed.push(about)
      if (verdict === 'sure') sure.push(about)
    }
  }
  expect(wrong).toEqual([])
  const paying = all.filter(({ pays }) => pays !== null).length
  expect(1 - missed.length / paying).toBeGreaterThanOrEqual(0.8)
  expect(sure.length / paying).toBeGreaterThanOrEqual(0.8)
})
