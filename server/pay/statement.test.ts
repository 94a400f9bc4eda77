import { fileURLToPath } from 'node:url'
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
import type { StatementPage } from './page.ts'
import { statementPdf } from './statement-pdf.ts'

const openPublic = () => openTestApp({ now: '2026-03-02T09:00:00Z', config: { publicUrl: 'https://duely.example', payLinks: true } })
const upi = { id: 'asha@okaxis', name: 'Asha Traders', merchantCode: null }

const statement: StatementPage = {
  path: '',
  confirming: false,
  error: null,
  business: 'Neem Studio',
  details: '',
  logo: null,
  hasWideLogo: false,
  namesDuely: false,
  brand: noBrand,
  methods: { upi, bank: null, ownLink: null },
  today: '2026-03-02',
  clientName: 'Kaveri Foods',
  clientEmail: 'billing@kaveri.example',
  invoices: [
    { id: '1', reference: 'INV-1', dueDate: '2026-02-20', daysOverdue: 10, owed: { currency: 'INR', balance: 500, total: 500, paid: 0 } },
  ],
}

const noBank = { accountNumber: null, ifsc: null, sortCode: null, routingNumber: null, text: null }

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
    'UPI ID: asha@okaxis',
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

const inScripts = {
  Devanagari: 'कावेरी फूड्स क्षत्रिय श्री ₹500',
  Bengali: 'কাবেরী ফুডস স্ত্রী ক্ষ',
  Gurmukhi: 'ਕਾਵੇਰੀ ਫੂਡਜ਼ ਪ੍ਰਾਈਵੇਟ',
  Gujarati: 'કાવેરી ફૂડ્સ ક્ષત્રિય',
  Oriya: 'କାବେରୀ ଫୁଡ୍ସ କ୍ଷତ୍ରିୟ',
  Tamil: 'காவேரி ஃபுட்ஸ் ஸ்ரீ',
  Telugu: 'కావేరి ఫుడ్స్ క్షత్రియ శ్రీ',
  Kannada: 'ಕಾವೇರಿ ಫುಡ್ಸ್ ಕ್ಷತ್ರಿಯ',
  Malayalam: 'കാവേരി ഫുഡ്സ് സ്ത്രീ ന്റെ',
  Arabic: 'شركة كافري للأغذية',
  Hebrew: 'חברת כאוורי בע״מ',
  Thai: 'บริษัท กาเวรี ฟู้ดส์ น้ำ',
  Greek: 'Καβέρι Τρόφιμα',
  Cyrillic: 'Кавери Фудс ЁЇ',
  Vietnamese: 'Thực phẩm Kaveri Ẫ',
}

// 1 s: it opens the fonts of all scripts.
test('a statement shows references in every script, as they were written', async () => {
  await using app = await openPublic()
  const owner = await aPerson(app)
  for (const reference of Object.values(inScripts)) await anInvoice(app, { owner, reference })
  const text = readPdf((await pdfOf(app, owner, await clientOf(app, owner))).rawPayload)
  // Long ones take two lines.
  const lines = text.replaceAll(/\s/g, '')
  for (const [script, reference] of Object.entries(inScripts)) expect(lines, script).toContain(reference.normalize().replaceAll(' ', ''))
  expect(text).not.toContain('□')
})

test.each([
  ['letters and their marks as one', 'Cafe\u0301 x\u0302', 'Café x̂'],
  ['an emoji as a box', 'Neem 🙂 Studio', 'Neem □ Studio'],
  ['a family of emoji as one box', 'Neem 👨‍👩‍👧', 'Neem □'],
  ['without marks that turn directions', 'Neem \u202eoidutS\u202c \u200b\ufeffCo', 'Neem oidutS Co'],
  ['what is not drawn alone as a box', '\u200b\u2060', '□'],
  ['a private character as a box', 'Neem \ue000', 'Neem □'],
  ['half a pair as a box', 'Neem \ufffd', 'Neem \ufffd'],
  ['a name in two scripts', 'Kaveri कावेरी (ਕਾਵੇਰੀ)', 'Kaveri कावेरी (ਕਾਵੇਰੀ)'],
  ['what runs to the left beside what does not', 'شركة كافري', 'شركة كافري'],
])('a statement shows %s', async (_what, given, shown) => {
  const text = readPdf(await statementPdf({ ...statement, business: given, clientName: given, invoices: [] }, { logo: null, fonts: [] }))
  expect(text.split('\n')).toEqual([
    shown,
    'Nothing is open at the moment.',
    `For ${shown} · 02/03/2026`,
    `Open invoices from ${shown} · page 1 of 1`,
  ])
})

test('an account name that no font has leaves the label and the IBAN where they are', async () => {
  const bank = { ...noBank, kind: 'iban', accountName: '\ue000\ue001', iban: 'DE89370400440532013000', bic: null } as const
  const text = readPdf(await statementPdf({ ...statement, methods: { upi: null, bank, ownLink: null } }, { logo: null, fonts: [] }))
  expect(text.split('\n')).toEqual(expect.arrayContaining(['Account name: □□', 'IBAN: DE89 3704 0044 0532 0130 00', 'Reference: INV-1']))
})

test('a font of the operator draws what the others lack', async () => {
  const fonts = [fileURLToPath(import.meta.resolve('#server/platform/fonts/NotoSansGurmukhi-Regular.ttf'))]
  const page = { ...statement, clientName: 'Nanak ☬' }
  expect(readPdf(await statementPdf(page, { logo: null, fonts: [] }))).toContain('For Nanak □ ·')
  expect(readPdf(await statementPdf(page, { logo: null, fonts }))).toContain('For Nanak ☬ ·')
})

test('a long name takes several lines and is whole', async () => {
  const name = 'कावेरी फूड्स प्राइवेट लिमिटेड '.repeat(7).trim()
  const [business] = readPdf(await statementPdf({ ...statement, business: name }, { logo: null, fonts: [] })).split('\n₹')
  expect(business?.split('\n').length).toBeGreaterThan(2)
  expect(business?.replaceAll('\n', ' ')).toBe(name)
})

test('500 invoices take several pages, each with the heads of the table, and a long reference is whole', async () => {
  const long = 'INV/2026-27/MAHARASHTRA/000041-REVISED'
  const owed = { currency: 'INR', balance: 9_999_999_999.99, total: 9_999_999_999.99, paid: 0 }
  const pdf = await statementPdf(
    {
      ...statement,
      invoices: Array.from({ length: 500 }, (_none, nth) => ({
        id: String(nth),
        reference: nth === 7 ? long : `INV-${nth}`,
        dueDate: '2026-02-20',
        daysOverdue: 10,
        owed,
      })),
    },
    { logo: null, fonts: [] },
  )
  const text = readPdf(pdf)
  expect(text.match(/To pay/g)?.length).toBe(Number(/page 1 of (\d+)/.exec(text)?.[1]))
  expect(text.match(/INV-\d+\n/g)?.length).toBe(499)
  expect(text.replaceAll('\n', '')).toContain(long)
  expect(text).toContain('₹9,99,99,99,999.99')
})
