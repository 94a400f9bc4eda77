// Also on PostgreSQL: two imports at the same time meet on the hashes of their lines.
import { createHash } from 'node:crypto'
import { expect, test } from 'vitest'
import { accountCalls } from '#contract/accounts.ts'
import { bankFileCalls } from '#contract/bank-file.ts'
import { invoiceCalls } from '#contract/invoices.ts'
import { noticeCalls } from '#contract/notices.ts'
import { payAnswerCalls } from '#contract/pay-answers.ts'
import { payLinkCalls } from '#contract/pay-links.ts'
import { paymentCalls } from '#contract/payments.ts'
import { invoicePayments } from '#server/invoices/tables.ts'
import { anInvoice, aPerson, type Person } from '#test/factories.ts'
import { ask, openTestApp, type TestApp } from '#test/harness.ts'

const line = (description: string, amount: number, date = '2026-03-01') => ({ date, amount, description, reference: '', name: '' })

async function reviewed(app: TestApp, person: Person, lines: ReturnType<typeof line>[]) {
  const { reply } = await ask(app, person, bankFileCalls.match, { body: { lines } })
  return reply
}

/** Imports what the review calls sure. */
async function imported(app: TestApp, person: Person, lines: ReturnType<typeof line>[]) {
  const matches = await reviewed(app, person, lines)
  const sure = matches.filter(({ verdict }) => verdict === 'sure')
  const chosen = sure.map(({ line: at, invoices }) => ({ ...(lines[at] as ReturnType<typeof line>), invoices }))
  return ask(app, person, bankFileCalls.import, { body: { lines: chosen } })
}

const paymentsOf = async (app: TestApp, person: Person, id: string) =>
  (await ask(app, person, paymentCalls.list, { params: { id } })).reply.filter(({ voidedAt }) => voidedAt === null)

test('a bank file is matched, recorded and taken back', async () => {
  await using app = await openTestApp()
  const asha = await aPerson(app)
  const [one, two] = [await anInvoice(app, { owner: asha, amount: 5_000 }), await anInvoice(app, { owner: asha, amount: 700 })]
  const lines = [line(`NEFT ${one.reference} KAVERI`, 2_000), line(`IMPS/${two.reference}`, 700), line('SALARY', 12.5)]
  expect(await reviewed(app, asha, lines)).toEqual([
    {
      line: 0,
      verdict: 'sure',
      invoices: [{ invoiceId: one._id, amount: 2_000 }],
      reason: `“${one.reference}” and “KAVERI” are in the row.`,
      inOtherCurrency: null,
      evidence: [
        { field: 'description', text: one.reference, kind: 'reference' },
        { field: 'description', text: 'KAVERI', kind: 'name' },
      ],
    },
    {
      line: 1,
      verdict: 'sure',
      invoices: [{ invoiceId: two._id, amount: 700 }],
      reason: `“${two.reference}” is in the row.`,
      inOtherCurrency: null,
      evidence: [{ field: 'description', text: two.reference, kind: 'reference' }],
    },
    { line: 2, verdict: 'none', invoices: [], reason: '', inOtherCurrency: null, evidence: [] },
  ])
  expect(await paymentsOf(app, asha, one._id)).toEqual([])
  const { reply } = await imported(app, asha, lines)
  expect(reply).toMatchObject({ recorded: 2, paid: 1 })
  expect(await paymentsOf(app, asha, one._id)).toMatchObject([
    { origin: 'bank_file', method: 'bank', amount: 2_000, paidOn: '2026-03-01', note: `NEFT ${one.reference} KAVERI` },
  ])
  expect((await ask(app, asha, invoiceCalls.read, { params: { id: two._id } })).reply).toMatchObject({ status: 'paid', balance: 0 })
  const undo = () => ask(app, asha, bankFileCalls.undo, { params: { id: reply.importId } })
  expect((await undo()).reply).toEqual({ takenBack: 2 })
  expect((await undo()).reply).toEqual({ takenBack: 0 })
  const { reply: audit } = await ask(app, asha, accountCalls.audit, { query: {} })
  expect(audit.filter(({ kind }) => kind === 'payment_voided').map(({ text }) => text)).toEqual(['Taken back: 2 payments of a bank file.'])
  expect((await ask(app, asha, invoiceCalls.read, { params: { id: two._id } })).reply).toMatchObject({ balance: 700, amountPaid: 0 })
  expect((await imported(app, asha, lines)).reply).toMatchObject({ recorded: 2, paid: 1 })
})

test('what is recorded of a row is without marks of direction, and the row is known again with them', async () => {
  await using app = await openTestApp()
  const asha = await aPerson(app)
  const { _id, reference } = await anInvoice(app, { owner: asha, amount: 500 })
  const lines = [{ ...line(`NEFT ${reference} \u202eIREVAK`, 500), reference: '\u200eUTR412' }]
  expect((await imported(app, asha, lines)).reply).toMatchObject({ recorded: 1 })
  expect(await paymentsOf(app, asha, _id)).toMatchObject([{ reference: 'UTR412', note: `NEFT ${reference} IREVAK` }])
  expect(await reviewed(app, asha, lines)).toMatchObject([{ verdict: 'recorded' }])
})

/** The client of an invoice says that 3,000 of it are paid. Returns how to read what is owed, why it is paused, and the state of that answer. */
async function saysPaid(app: TestApp, owner: Person, id: string) {
  const { reply: link } = await ask(app, owner, payLinkCalls.create, { params: { id } })
  await app.app.inject({
    method: 'POST',
    url: `${new URL(link.url).pathname}/answer`,
    headers: { 'content-type': 'application/x-www-form-urlencoded', origin: 'null' },
    payload: new URLSearchParams({ kind: 'paid', date: '2026-03-01', amount: '3000', reference: 'UTR412345678901' }).toString(),
  })
  return async () => {
    const { reply } = await ask(app, owner, invoiceCalls.read, { params: { id } })
    return [reply.balance, reply.pause?.because ?? null, (await ask(app, owner, payAnswerCalls.list)).reply[0]?.state]
  }
}

test('what a client named is answered by the import of its line, and open again after its Undo', async () => {
  await using app = await openTestApp({ config: { publicUrl: 'https://duely.example', payLinks: true } })
  const invoice = await anInvoice(app, { amount: 5_000 })
  const { owner, _id: id } = invoice
  const now = await saysPaid(app, owner, id)
  app.clock.advance({ minutes: 1 })
  const lines = [line('NEFT UTR412345678901 KAVERI', 3_000), line(`NEFT ${invoice.reference}`, 500)]
  const { reply: first } = await imported(app, owner, lines)
  expect(await now()).toEqual([1_500, null, 'accepted'])
  expect((await ask(app, owner, noticeCalls.list)).reply).toEqual([])
  // Another payment of the same import is taken back.
  const other = (await paymentsOf(app, owner, id)).find(({ amount }) => amount === 500)
  app.clock.advance({ minutes: 1 })
  await ask(app, owner, paymentCalls.takeBack, { params: { id, pid: other?._id ?? '' } })
  expect(await now()).toEqual([2_000, null, 'accepted'])
  // Undo asks for the decision again, with the pause.
  app.clock.advance({ minutes: 1 })
  await ask(app, owner, bankFileCalls.undo, { params: { id: first.importId } })
  expect(await now()).toEqual([5_000, 'says_paid', 'open'])
  // Where the owner had ended the pause, it stays ended.
  await ask(app, owner, invoiceCalls.pause, { params: { id }, body: { paused: false } })
  const { reply: second } = await imported(app, owner, lines.slice(0, 1))
  expect(await now()).toEqual([2_000, null, 'accepted'])
  app.clock.advance({ minutes: 1 })
  await ask(app, owner, bankFileCalls.undo, { params: { id: second.importId } })
  expect(await now()).toEqual([5_000, null, 'open'])
})

test('what a part payment answered is open again once it and what paid the rest are taken back, one after the other', async () => {
  await using app = await openTestApp({ config: { publicUrl: 'https://duely.example', payLinks: true } })
  const { owner, _id: id } = await anInvoice(app, { amount: 5_000 })
  const now = await saysPaid(app, owner, id)
  const record = async (amount: number, reference: string) => {
    app.clock.advance({ minutes: 1 })
    return (await ask(app, owner, paymentCalls.record, { params: { id }, body: { amount, reference } })).reply.payment._id
  }
  const takeBack = (pid: string) => {
    app.clock.advance({ minutes: 1 })
    return ask(app, owner, paymentCalls.takeBack, { params: { id, pid } })
  }
  const named = await record(3_000, 'UTR412345678901')
  expect(await now()).toEqual([2_000, null, 'accepted'])
  const rest = await record(6_000, 'CHEQUE 7')
  await takeBack(named)
  expect(await now()).toEqual([0, null, 'accepted'])
  await takeBack(rest)
  expect(await now()).toEqual([5_000, 'says_paid', 'open'])
  // Where its payment was recorded again meanwhile, that counts.
  const again = await record(3_000, 'UTR412345678901')
  const more = await record(6_000, 'CHEQUE 7')
  await takeBack(again)
  await record(3_000, 'UTR412345678901')
  await takeBack(more)
  expect(await now()).toEqual([2_000, null, 'accepted'])
})

test('the same file twice, one that overlaps it, and two imports at the same time record each line once', async () => {
  await using app = await openTestApp()
  const asha = await aPerson(app)
  const invoice = await anInvoice(app, { owner: asha, amount: 5_000 })
  // Two equal transfers of one day are two payments.
  const lines = [line(`NEFT ${invoice.reference}`, 500), line(`NEFT ${invoice.reference}`, 500), line(`NEFT ${invoice.reference}`, 800)]
  const body = { lines: lines.map((one) => ({ ...one, invoices: [{ invoiceId: invoice._id, amount: one.amount }] })) }
  const both = await Promise.all([0, 1].map(() => ask(app, asha, bankFileCalls.import, { body })))
  expect(both.map(({ reply }) => reply.recorded).toSorted()).toEqual([0, 3])
  expect(await reviewed(app, asha, lines)).toMatchObject(lines.map(() => ({ verdict: 'recorded', reason: 'Recorded before.' })))
  const later = line(` neft  ${invoice.reference} `, 900, '2026-03-02')
  const overlapping = [...lines.slice(1), later]
  expect((await reviewed(app, asha, overlapping)).map(({ verdict }) => verdict)).toEqual(['recorded', 'recorded', 'sure'])
  expect((await imported(app, asha, overlapping)).reply).toMatchObject({ recorded: 1 })
  expect((await paymentsOf(app, asha, invoice._id)).map(({ amount }) => amount).toSorted()).toEqual([500, 500, 800, 900])
})

test('of two equal lines of one day the second can be recorded alone, then the first', async () => {
  await using app = await openTestApp()
  const asha = await aPerson(app)
  const invoice = await anInvoice(app, { owner: asha, amount: 5_000 })
  const same = line(`NEFT ${invoice.reference}`, 500)
  const pays = { ...same, invoices: [{ invoiceId: invoice._id, amount: 500 }] }
  const bring = async (lines: (typeof pays)[]) => (await ask(app, asha, bankFileCalls.import, { body: { lines } })).reply.recorded
  expect(await bring([{ ...same, invoices: [] }, pays])).toBe(1)
  expect((await reviewed(app, asha, [same, same])).map(({ verdict }) => verdict)).toEqual(['likely', 'recorded'])
  expect([await bring([pays, pays]), await bring([pays, pays])]).toEqual([1, 0])
  expect(await paymentsOf(app, asha, invoice._id)).toHaveLength(2)
})

test('a transfer that was recorded by hand with its reference is not proposed for the next invoice, until it is taken back', async () => {
  await using app = await openTestApp()
  const asha = await aPerson(app)
  const [one, two] = [await anInvoice(app, { owner: asha, amount: 500 }), await anInvoice(app, { owner: asha, amount: 500 })]
  const body = { amount: 500, reference: 'UTR 412345678901' }
  const { reply } = await ask(app, asha, paymentCalls.record, { params: { id: one._id }, body })
  const lines = [line('NEFT CR UTR412345678901 KAVERI FOODS', 500, '2026-02-24')]
  expect(await reviewed(app, asha, lines)).toMatchObject([
    {
      verdict: 'likely',
      invoices: [{ invoiceId: one._id, amount: 500 }],
      reason: `Perhaps recorded already: ${one.reference} has a payment of this amount from about that day.`,
    },
  ])
  const meera = await aPerson(app)
  const other = await anInvoice(app, { owner: meera, amount: 500 })
  expect(await reviewed(app, meera, lines)).toMatchObject([{ invoices: [{ invoiceId: other._id }] }])
  await ask(app, asha, invoiceCalls.update, { params: { id: two._id }, body: { dueDate: '2026-01-01' } })
  await ask(app, asha, paymentCalls.takeBack, { params: { id: one._id, pid: reply.payment._id } })
  expect(await reviewed(app, asha, lines)).toMatchObject([{ verdict: 'likely', invoices: [{ invoiceId: two._id }] }])
})

test('a paid invoice is recognised however its reference is written', async () => {
  await using app = await openTestApp()
  const asha = await aPerson(app)
  const paid = async (reference: string) => {
    const { _id } = await anInvoice(app, { owner: asha, amount: 500, reference })
    await ask(app, asha, paymentCalls.record, { params: { id: _id }, body: { amount: 500, paidOn: '2026-03-01' } })
    return _id
  }
  const [dashed, wide] = [await paid('Ab–2026–7'), await paid('ＺＫ/０１５')]
  const open = await anInvoice(app, { owner: asha, amount: 500, reference: 'AB-2026' })
  const lines = ['NEFT AB 2026-7', 'IMPS zk015', 'AB-2026'].map((text) => line(text, 500))
  expect((await reviewed(app, asha, lines)).map(({ invoices, reason }) => [invoices[0]?.invoiceId, reason.split(':')[0]])).toEqual([
    [dashed, 'Perhaps recorded already'],
    [wide, 'Perhaps recorded already'],
    [open._id, '“AB-2026” is in the row.'],
  ])
})

test('one line pays several invoices, and the same amount within three days is asked about', async () => {
  await using app = await openTestApp()
  const asha = await aPerson(app)
  const [one, two] = [await anInvoice(app, { owner: asha, amount: 500 }), await anInvoice(app, { owner: asha, amount: 250.5 })]
  const both = [line(`${one.reference} ${two.reference}`, 750.5)]
  expect((await imported(app, asha, both)).reply).toMatchObject({ recorded: 2, paid: 2 })
  expect(await reviewed(app, asha, both)).toMatchObject([{ verdict: 'recorded' }])
  const again = await reviewed(app, asha, [line(`RTGS ${one.reference}`, 500, '2026-03-02')])
  expect(again).toMatchObject([{ verdict: 'likely', reason: expect.stringMatching(/^Perhaps recorded already/) }])
})

test.each([
  ['a date in the future', { date: '2026-03-03' }, 400, 'Please choose today or an earlier day.'],
  ['parts that do not add up', { amount: 501 }, 400, 'The amounts of the invoices must add up to the amount of the line.'],
])('%s is refused, and nothing is recorded', async (_what, wrong, status, message) => {
  await using app = await openTestApp()
  const asha = await aPerson(app)
  const invoice = await anInvoice(app, { owner: asha, amount: 5_000 })
  const good = { ...line('NEFT', 500), invoices: [{ invoiceId: invoice._id, amount: 500 }] }
  const refused = await ask(app, asha, bankFileCalls.import, { body: { lines: [good, { ...good, ...wrong }] } })
  expect([refused.status, refused.problem?.message]).toEqual([status, message])
  expect(await paymentsOf(app, asha, invoice._id)).toEqual([])
})

test('an invoice of another account, or one that was deleted, is not paid, and its import is not found', async () => {
  await using app = await openTestApp()
  const [asha, meera] = [await aPerson(app), await aPerson(app)]
  const invoice = await anInvoice(app, { owner: asha, amount: 500 })
  const lines = [{ ...line('NEFT', 500), invoices: [{ invoiceId: invoice._id, amount: 500 }] }]
  expect((await ask(app, meera, bankFileCalls.import, { body: { lines } })).status).toBe(404)
  expect(await reviewed(app, meera, [line(`NEFT ${invoice.reference}`, 500)])).toMatchObject([{ verdict: 'none', invoices: [] }])
  const { reply } = await ask(app, asha, bankFileCalls.import, { body: { lines } })
  expect((await ask(app, meera, bankFileCalls.undo, { params: { id: reply.importId } })).status).toBe(404)
  expect(await paymentsOf(app, asha, invoice._id)).toHaveLength(1)
  await ask(app, asha, invoiceCalls.remove, { params: { id: invoice._id } })
  expect(
    (await ask(app, asha, bankFileCalls.import, { body: { lines: [{ ...lines[0], description: 'again' }] as typeof lines } })).status,
  ).toBe(404)
})

test('an import whose payment was refunded is not taken back', async () => {
  await using app = await openTestApp()
  const asha = await aPerson(app)
  const invoice = await anInvoice(app, { owner: asha, amount: 500 })
  const { reply } = await imported(app, asha, [line(invoice.reference, 500)])
  await ask(app, asha, paymentCalls.record, { params: { id: invoice._id }, body: { kind: 'refund', amount: 200 } })
  expect((await ask(app, asha, bankFileCalls.undo, { params: { id: reply.importId } })).status).toBe(409)
  expect(await paymentsOf(app, asha, invoice._id)).toHaveLength(2)
})

test('only invoices in the currency of the file are matched and paid: for one of another currency that it names, a person is asked', async () => {
  await using app = await openTestApp()
  const asha = await aPerson(app)
  const invoice = await anInvoice(app, { owner: asha, amount: 500, currency: 'EUR' })
  const lines = [line(invoice.reference, 500)]
  const asked = `“${invoice.reference}” is in the row, and that invoice is in EUR. How much of it was paid? Record that on the invoice.`
  expect(await reviewed(app, asha, [...lines, line('a transfer', 500)])).toMatchObject([
    { verdict: 'likely', invoices: [], inOtherCurrency: invoice._id, reason: asked, evidence: [{ text: invoice.reference }] },
    { verdict: 'none', inOtherCurrency: null },
  ])
  const chosen = lines.map((one) => ({ ...one, invoices: [{ invoiceId: invoice._id, amount: 500 }] }))
  const refused = await ask(app, asha, bankFileCalls.import, { body: { lines: chosen } })
  expect([refused.status, refused.problem?.message]).toEqual([400, `${invoice.reference} is in EUR, not in INR.`])
  expect((await ask(app, asha, bankFileCalls.match, { body: { lines, currency: 'EUR' } })).reply).toMatchObject([{ verdict: 'sure' }])
  expect((await ask(app, asha, bankFileCalls.import, { body: { lines: chosen, currency: 'EUR' } })).reply).toMatchObject({ paid: 1 })
})

test('a line over two invoices stays recorded while one of its payments counts', async () => {
  await using app = await openTestApp()
  const asha = await aPerson(app)
  const invoices = []
  for (const amount of [500, 250, 750]) invoices.push(await anInvoice(app, { owner: asha, amount }))
  const [one, two, three] = invoices.map(({ _id, amount }) => ({ invoiceId: _id, amount }))
  if (!one || !two || !three) throw new Error('Three invoices are needed.')
  const whole = line(`${invoices[0]?.reference} ${invoices[1]?.reference}`, 750)
  const bring = (on: { invoiceId: string; amount: number }[]) =>
    ask(app, asha, bankFileCalls.import, { body: { lines: [{ ...whole, invoices: on }] } })
  expect((await bring([one, two])).reply).toMatchObject({ recorded: 2 })
  const [first] = await paymentsOf(app, asha, one.invoiceId)
  await ask(app, asha, paymentCalls.takeBack, { params: { id: one.invoiceId, pid: first?._id ?? '' } })
  expect(await reviewed(app, asha, [whole])).toMatchObject([{ verdict: 'recorded' }])
  for (const again of [[one, two], [three]]) expect((await bring(again)).reply).toMatchObject({ recorded: 0 })
  expect([await paymentsOf(app, asha, one.invoiceId), await paymentsOf(app, asha, three.invoiceId)]).toEqual([[], []])
})

test('an import that is repeated under its key is answered as before and records nothing again; another one under it is refused', async () => {
  await using app = await openTestApp()
  const asha = await aPerson(app)
  const invoice = await anInvoice(app, { owner: asha, amount: 500 })
  const headers = { 'idempotency-key': 'statement-march' }
  const pays = (description: string) => ({ lines: [{ ...line(description, 200), invoices: [{ invoiceId: invoice._id, amount: 200 }] }] })
  const bring = (description: string) => ask(app, asha, bankFileCalls.import, { body: pays(description) }, headers)
  const first = await bring('NEFT')
  expect([first.reply, (await bring('NEFT')).reply]).toEqual([first.reply, first.reply])
  expect((await bring('RTGS')).status).toBe(409)
  expect(await paymentsOf(app, asha, invoice._id)).toHaveLength(1)
})

test('of equal lines the place in the file says which one is recorded, so that it can be sent alone', async () => {
  await using app = await openTestApp()
  const asha = await aPerson(app)
  const invoice = await anInvoice(app, { owner: asha, amount: 5_000 })
  const at = (place: number) => ({ ...line(`NEFT ${invoice.reference}`, 500), place })
  const bring = async (...places: number[]) => {
    const lines = places.map((place) => ({ ...at(place), invoices: [{ invoiceId: invoice._id, amount: 500 }] }))
    return (await ask(app, asha, bankFileCalls.import, { body: { lines } })).reply.recorded
  }
  expect([await bring(1), await bring(1), await bring(0, 1), await bring(0)]).toEqual([1, 0, 1, 0])
})

test('a transfer is recorded before in another file by its id at the bank, or in other words', async () => {
  await using app = await openTestApp()
  const asha = await aPerson(app)
  const invoice = await anInvoice(app, { owner: asha, amount: 5_000, clientName: 'Kaveri Foods' })
  const first = { ...line('NEFT-SBIN0001234-KAVERI FOODS-INV-9002', 500), bankId: 'FT1' }
  const lines = [{ ...first, invoices: [{ invoiceId: invoice._id, amount: 500 }] }]
  await ask(app, asha, bankFileCalls.import, { body: { lines } })
  const verdict = async (...others: object[]) =>
    (await ask(app, asha, bankFileCalls.match, { body: { lines: others.map((one) => ({ ...line('', 500), ...one })) } })).reply.map(
      ({ verdict }) => verdict,
    )
  expect(await verdict({ description: 'another text', date: '2026-02-27', bankId: 'FT1' })).toEqual(['recorded'])
  expect(await verdict({ name: 'Kaveri Foods', reference: 'INV-9002', bankId: 'E2E-77' })).toEqual(['recorded'])
  expect(await verdict({ name: 'Kaveri Foods', reference: 'INV-9002', date: '2026-02-27', valueDate: '2026-03-01' })).toEqual(['recorded'])
  // An id that several lines have is none, and two transfers of one day from one bank are two.
  expect(await verdict({ bankId: 'FT1', description: 'a' }, { bankId: 'FT1', description: 'b' })).not.toContain('recorded')
  expect(await verdict({ description: 'NEFT-SBIN0001234-INDIGO STUDIO-INV-9005' })).not.toContain('recorded')
  expect(await verdict({ name: 'Kaveri Foods', reference: 'INV-9002' }, { name: 'Kaveri Foods', reference: 'INV-9002' })).toEqual([
    'recorded',
    'none',
  ])
})

test('lines in several currencies are matched and recorded together, or not at all', async () => {
  await using app = await openTestApp()
  const asha = await aPerson(app)
  const [rupees, euros] = [
    await anInvoice(app, { owner: asha, amount: 500 }),
    await anInvoice(app, { owner: asha, amount: 70, currency: 'EUR' }),
  ]
  const lines = [
    { ...line(rupees.reference, 500), currency: 'INR' },
    { ...line(euros.reference, 70), currency: 'EUR' },
  ]
  expect((await ask(app, asha, bankFileCalls.match, { body: { lines } })).reply).toMatchObject([
    { line: 0, verdict: 'sure' },
    { line: 1, verdict: 'sure', invoices: [{ invoiceId: euros._id, amount: 70 }] },
  ])
  const pays = (second: typeof rupees) => ({
    lines: lines.map((one, at) => ({ ...one, invoices: [{ invoiceId: (at === 0 ? rupees : second)._id, amount: one.amount }] })),
  })
  expect((await ask(app, asha, bankFileCalls.import, { body: pays(rupees) })).status).toBe(400)
  expect(await paymentsOf(app, asha, rupees._id)).toEqual([])
  expect((await ask(app, asha, bankFileCalls.import, { body: pays(euros) })).reply).toMatchObject({ recorded: 2, paid: 2 })
})

test('a line has the hash that 0.2.0 stored of it', async () => {
  await using app = await openTestApp()
  const invoice = await anInvoice(app, { amount: 5_000 })
  const lines = [
    { date: '2026-03-01', amount: 120.5, description: 'Rechnung  INV-0001 SVWZ+', reference: 'NOTPROVIDED', name: 'Müller' },
    { date: '2026-03-01', amount: 120.5, description: 'Rechnung  INV-0001 SVWZ+', reference: 'NOTPROVIDED', name: 'Müller' },
  ]
  const invoices = [{ invoiceId: invoice._id, amount: 120.5 }]
  await ask(app, invoice.owner, bankFileCalls.import, { body: { lines: lines.map((line) => ({ ...line, invoices })) } })
  const stored = await app.db.select({ hash: invoicePayments.bankLineHash }).from(invoicePayments)
  const hashes = lines.map(({ date, amount, description, reference, name }, before) => {
    const text = [description, reference, name].join('\n').normalize('NFKC').toLowerCase().replace(/\s+/gu, ' ').trim()
    return createHash('sha256')
      .update(`${JSON.stringify([date, 'INR', amount * 100, text])}${before}`)
      .digest('base64url')
  })
  expect(stored.map(({ hash }) => hash).toSorted()).toEqual(hashes.toSorted())
})

test('what a later file takes back no longer counts, together with what it records, once', async () => {
  await using app = await openTestApp()
  const asha = await aPerson(app)
  const [one, two] = [await anInvoice(app, { owner: asha, amount: 5_000 }), await anInvoice(app, { owner: asha, amount: 700 })]
  await imported(app, asha, [line(`NEFT ${two.reference} KAVERI`, 700, '2026-02-20')])
  const query = { from: '2026-02-01', to: '2026-03-01' }
  const { reply: recorded } = await ask(app, asha, bankFileCalls.recorded, { query })
  expect(recorded).toMatchObject([
    { invoiceId: two._id, invoice: two.reference, amount: 700, paidOn: '2026-02-20', text: `NEFT ${two.reference} KAVERI` },
  ])
  const takeBack = recorded.map(({ _id }) => _id)
  const lines = [{ ...line(`NEFT ${one.reference}`, 100), invoices: [{ invoiceId: one._id, amount: 100 }] }]
  const bo = await aPerson(app)
  expect((await ask(app, bo, bankFileCalls.import, { body: { lines: [], takeBack } })).status).toBe(404)
  expect((await ask(app, bo, bankFileCalls.recorded, { query })).reply).toEqual([])
  const send = () => ask(app, asha, bankFileCalls.import, { body: { lines, takeBack } }, { 'idempotency-key': 'returns-1' })
  const { reply: first } = await send()
  expect(first).toMatchObject({ recorded: 1, takenBack: 1 })
  expect((await send()).reply).toMatchObject({ importId: first.importId, recorded: 1, takenBack: 1 })
  const shown = async (id: string) => (await ask(app, asha, invoiceCalls.read, { params: { id } })).reply
  expect([await shown(one._id), await shown(two._id)]).toMatchObject([{ amountPaid: 100 }, { amountPaid: 0, balance: 700 }])
  expect((await ask(app, asha, bankFileCalls.recorded, { query })).reply.map(({ invoiceId }) => invoiceId)).toEqual([one._id])
  // One without new payments, also repeated.
  const back = { lines: [], takeBack }
  expect((await ask(app, asha, bankFileCalls.import, { body: back })).reply).toMatchObject({ recorded: 0, takenBack: 1 })
  expect((await ask(app, asha, bankFileCalls.import, { body: { lines: [] } })).status).toBe(400)
  const { reply: audit } = await ask(app, asha, accountCalls.audit, { query: {} })
  expect(audit.filter(({ kind }) => kind === 'payment_voided')).toHaveLength(1)
})
