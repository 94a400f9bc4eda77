import { expect, test } from 'vitest'
import { noBrand } from '#contract/brand.ts'
import { clientCalls } from '#contract/clients.ts'
import { invoiceCalls } from '#contract/invoices.ts'
import { payLinkCalls } from '#contract/pay-links.ts'
import { paymentSettingsCalls } from '#contract/payment-settings.ts'
import { paymentCalls } from '#contract/payments.ts'
import { anInvoice, aPerson, type Person } from '#test/factories.ts'
import { ask, openTestApp, type TestApp } from '#test/harness.ts'
import { readPdf } from '#test/read-pdf.ts'
import { statementPdf } from './statement-pdf.ts'

const openPublic = () => openTestApp({ now: '2026-03-02T09:00:00Z', config: { publicUrl: 'https://duely.example', payLinks: true } })
const upi = { id: 'asha@okaxis', name: 'Asha Traders', merchantCode: null }

async function clientOf(app: TestApp, owner: Person): Promise<string> {
  return (await ask(app, owner, clientCalls.list)).reply[0]?._id ?? ''
}

const pdfOf = (app: TestApp, owner: Person, id: string) =>
  app.app.inject({ method: 'GET', url: `/clients/${id}/statement?format=pdf`, headers: { authorization: `Bearer ${owner.token}` } })

test('a statement lists what is open of a client, the oldest first, and sums per currency', async () => {
  await using app = await openPublic()
  const owner = await aPerson(app)
  const young = await anInvoice(app, { owner, amount: 12_250, dueDate: '2026-03-10' })
  const old = await anInvoice(app, { owner, amount: 5_000, dueDate: '2026-02-22' })
  await anInvoice(app, { owner, amount: 120, currency: 'EUR', dueDate: '2026-03-12' })
  const paid = await anInvoice(app, { owner, dueDate: '2026-01-22' })
  await ask(app, owner, invoiceCalls.update, { params: { id: paid._id }, body: { status: 'paid' } })
  await ask(app, owner, paymentCalls.record, { params: { id: old._id }, body: { amount: 2_000 } })
  await anInvoice(app, { owner, clientEmail: 'other@example.com' })
  const [kaveri] = (await ask(app, owner, clientCalls.list)).reply.filter(({ email }) => email === old.clientEmail)
  const { reply } = await ask(app, owner, payLinkCalls.readStatement, { params: { id: kaveri?._id ?? '' }, query: {} })
  expect(reply).toMatchObject({
    client: { name: 'Kaveri Foods', email: old.clientEmail },
    date: '2026-03-02',
    open: [
      { currency: 'INR', amount: 15_250 },
      { currency: 'EUR', amount: 120 },
    ],
    invoices: [
      { _id: old._id, daysOverdue: 8, amount: 5_000, amountPaid: 2_000, balance: 3_000, currency: 'INR' },
      { _id: young._id, daysOverdue: -8, balance: 12_250 },
      { balance: 120, currency: 'EUR' },
    ],
  })
  expect(
    (
      await ask(app, await aPerson(app, { email: 'm@example.com' }), payLinkCalls.readStatement, {
        params: { id: kaveri?._id ?? '' },
        query: {},
      })
    ).status,
  ).toBe(404)
})

test('the PDF of a statement says the same, for the owner and at the link of the client', async () => {
  await using app = await openPublic()
  const owner = await aPerson(app)
  await ask(app, owner, paymentSettingsCalls.save, { body: { upi, businessName: 'Neem Studio', details: 'GSTIN 29ABCDE1234F1Z5' } })
  await anInvoice(app, { owner, amount: 12_250, dueDate: '2026-03-10' })
  await anInvoice(app, { owner, amount: 5_000, dueDate: '2026-02-22' })
  const id = await clientOf(app, owner)
  const own = await pdfOf(app, owner, id)
  expect(own.headers).toMatchObject({
    'content-type': 'application/pdf',
    'content-disposition': `attachment; filename="Statement Kaveri Foods 2026-03-02.pdf"; filename*=UTF-8''Statement%20Kaveri%20Foods%202026-03-02.pdf`,
  })
  const text = readPdf(own.rawPayload)
  for (const words of [
    'Neem Studio',
    'GSTIN 29ABCDE1234F1Z5',
    '₹17,250.00 to pay',
    'For Kaveri Foods · 02/03/2026',
    '22/02/2026 · 8 days overdue',
    '₹12,250.00',
    'UPI ID: \nasha@okaxis',
    'page 1 of 1',
  ])
    expect(text).toContain(words)
  const { reply } = await ask(app, owner, payLinkCalls.createStatement, { params: { id } })
  const path = new URL(reply.url).pathname
  const page = await app.app.inject({ method: 'GET', url: path })
  expect(page.body).toContain(`href="${path}/statement.pdf"`)
  const theirs = await app.app.inject({ method: 'GET', url: `${path}/statement.pdf` })
  expect(readPdf(theirs.rawPayload)).toBe(text)
  expect(theirs.headers).toMatchObject({
    'x-robots-tag': 'noindex, nofollow',
    'referrer-policy': 'no-referrer',
    'cache-control': 'no-store',
  })
  await ask(app, owner, payLinkCalls.revokeStatement, { params: { id } })
  expect((await app.app.inject({ method: 'GET', url: `${path}/statement.pdf` })).statusCode).toBe(404)
})

// 2 s: it makes ten of them.
test('a link gives 10 PDFs of its statement in ten minutes', async () => {
  await using app = await openTestApp({ config: { publicUrl: 'https://duely.example', payLinks: true, rateLimit: true } })
  const { owner } = await anInvoice(app)
  const { reply } = await ask(app, owner, payLinkCalls.createStatement, { params: { id: await clientOf(app, owner) } })
  const url = `${new URL(reply.url).pathname}/statement.pdf`
  const statuses: number[] = []
  for (let nth = 0; nth < 11; nth += 1) statuses.push((await app.app.inject({ method: 'GET', url })).statusCode)
  expect(statuses).toEqual([...Array(10).fill(200), 429])
})

test('a name that the font cannot print gives way to the email', async () => {
  await using app = await openPublic()
  const owner = await aPerson(app)
  await ask(app, owner, paymentSettingsCalls.save, { body: { businessName: '株式会社ニーム' } })
  await anInvoice(app, { owner, clientName: 'شركة كافري', clientEmail: 'billing@kaveri.example' })
  await anInvoice(app, { owner, clientName: 'कावेरी फूड्स', clientEmail: 'hindi@kaveri.example' })
  for (const { _id, email } of (await ask(app, owner, clientCalls.list)).reply) {
    const text = readPdf((await pdfOf(app, owner, _id)).rawPayload)
    expect(text).toContain(owner.email)
    if (email === 'billing@kaveri.example') expect(text).toContain('For billing@kaveri.example')
    else expect(text).not.toContain('hindi@kaveri.example')
  }
})

test('500 invoices take several pages, each with the heads of the table, and a long reference is whole', async () => {
  const long = 'INV/2026-27/MAHARASHTRA/000041-REVISED'
  const owed = { currency: 'INR', balance: 9_999_999_999.99, total: 9_999_999_999.99, paid: 0 }
  const pdf = await statementPdf(
    {
      path: '',
      confirming: false,
      error: null,
      business: 'Neem Studio',
      email: 'asha@example.com',
      details: '',
      logo: null,
      hasWideLogo: false,
      namesDuely: false,
      brand: noBrand,
      methods: { upi, bank: null, ownLink: null },
      today: '2026-03-02',
      clientName: 'Kaveri Foods',
      clientEmail: 'billing@kaveri.example',
      invoices: Array.from({ length: 500 }, (_none, nth) => ({
        id: String(nth),
        reference: nth === 7 ? long : `INV-${nth}`,
        dueDate: '2026-02-20',
        daysOverdue: 10,
        owed,
      })),
    },
    null,
  )
  const text = readPdf(pdf)
  expect(text.match(/To pay/g)?.length).toBe(Number(/page 1 of (\d+)/.exec(text)?.[1]))
  expect(text.match(/INV-\d+\n/g)?.length).toBe(499)
  expect(text.replaceAll('\n', '')).toContain(long)
  expect(text).toContain('₹9,99,99,99,999.99')
})
