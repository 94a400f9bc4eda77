// Also on PostgreSQL: bytes come back as the driver types them, and claims compare what an email was rendered from.
import { strFromU8, unzipSync } from 'fflate'
import PostalMime from 'postal-mime'
import { expect, test } from 'vitest'
import { accountCalls } from '#contract/accounts.ts'
import { clientCalls } from '#contract/clients.ts'
import { invoiceCalls } from '#contract/invoices.ts'
import { fileName, invoiceFileCalls, payLinkCalls } from '#contract/pay-links.ts'
import { paymentSettingsCalls } from '#contract/payment-settings.ts'
import { reminderCalls } from '#contract/reminders.ts'
import { anInvoice, anOffice, aPerson, type Person } from '#test/factories.ts'
import { ask, openTestApp, type TestApp } from '#test/harness.ts'
import { aKey, connect, zapier, zapierItself } from '#test/programs.ts'
import { invoiceFiles } from './tables.ts'

const morning = '2026-03-02T06:30:00Z'
const payLinks = { publicUrl: 'https://duely.example', payLinks: true }
const upi = { id: 'asha@okaxis', name: 'Asha Traders', merchantCode: null }
/** `size` bytes that differ by their name. */
const pdf = (name: string, size = 200) => Buffer.from(`%PDF-1.7 ${name}\n`.padEnd(size - 6, 'x').concat('%%EOF\n'), 'latin1')

interface Upload {
  name?: string
  type?: string
  length?: number
}

const put = (app: TestApp, who: { token: string }, id: string, bytes: Buffer, about: Upload = {}) =>
  app.app.inject({
    method: 'PUT',
    url: `/invoice/${id}/file${about.name === undefined ? '' : `?name=${encodeURIComponent(about.name)}`}`,
    headers: {
      authorization: `Bearer ${who.token}`,
      'content-type': about.type ?? 'application/pdf',
      ...(about.length === undefined ? {} : { 'content-length': String(about.length) }),
    },
    payload: bytes,
  })
const get = (app: TestApp, who: { token: string }, id: string) =>
  app.app.inject({ method: 'GET', url: `/invoice/${id}/file`, headers: { authorization: `Bearer ${who.token}` } })
const attach = (app: TestApp, someone: Person) => ask(app, someone, paymentSettingsCalls.save, { body: { upi, pdf: 'attach' } })
const sendNow = (app: TestApp, person: Person) => app.whileJobsRun(ask(app, person, reminderCalls.sendNow))

test('a PDF is stored, replaced, downloaded as an attachment and removed', async () => {
  await using app = await openTestApp()
  const { owner, _id } = await anInvoice(app)
  expect((await put(app, owner, _id, pdf('one'), { name: 'INV-0001.pdf' })).json()).toEqual({ name: 'INV-0001.pdf', size: 200 })
  expect((await ask(app, owner, invoiceCalls.read, { params: { id: _id } })).reply.hasFile).toBe(true)
  expect((await put(app, owner, _id, pdf('two'), { name: 'Rechnung März.pdf' })).statusCode).toBe(200)
  const read = await get(app, owner, _id)
  expect(read.rawPayload.equals(pdf('two'))).toBe(true)
  expect(read.headers).toMatchObject({
    'content-type': 'application/pdf',
    'content-disposition': `attachment; filename="invoice.pdf"; filename*=UTF-8''Rechnung%20M%C3%A4rz.pdf`,
    'x-content-type-options': 'nosniff',
    'content-security-policy': "default-src 'none'; sandbox",
    'cache-control': 'no-store',
  })
  expect(await app.db.$count(invoiceFiles)).toBe(1)
  expect((await ask(app, owner, invoiceFileCalls.remove, { params: { id: _id } })).status).toBe(204)
  expect((await get(app, owner, _id)).json()).toMatchObject({ code: 'not_found', message: 'This invoice has no PDF.' })
  expect(await app.db.$count(invoiceFiles)).toBe(0)
})

test('a name keeps letters, figures, spaces, dots, hyphens and underscores, at most 80', () => {
  for (const [given, kept] of [
    ['../../etc/passwd', 'etcpasswd.pdf'],
    ['C:\\invoices\\INV 7.PDF', 'Cinvoices INV 7.pdf'.replace('s I', 'sI')],
    ['a"; filename="evil.exe', 'a filenameevil.exe.pdf'],
    ['line\r\nX-Header: 1', 'lineX-Header 1.pdf'],
    ['इनवॉइस_7.pdf', 'इनवॉइस_7.pdf'],
    ['\u202efdp.exe', 'fdp.exe.pdf'],
    ['...', 'invoice.pdf'],
    ['x'.repeat(300), `${'x'.repeat(76)}.pdf`],
  ] as const)
    expect(fileName(given), given).toBe(kept)
})

test('what is no PDF, too large or declared as too large is refused and changes nothing', async () => {
  await using app = await openTestApp()
  const { owner, _id } = await anInvoice(app)
  for (const [bytes, about, code, message] of [
    [Buffer.from('<html><script>alert(1)</script>'), {}, 'invalid', 'Please choose a PDF.'],
    [Buffer.from('%PDF-1.7 cut off'), {}, 'invalid', 'Please choose a PDF.'],
    [Buffer.from(`<html>${pdf('inside')}`), {}, 'invalid', 'Please choose a PDF.'],
    [pdf('x'), { type: 'text/html' }, 'invalid', 'Please send a PDF with the header Content-Type: application/pdf.'],
    [pdf('x', 4 * 1024 * 1024), {}, 'too_large', 'Please choose a PDF of at most 3 MiB.'],
    [pdf('x'), { length: 2 * 1024 ** 3 }, 'too_large', 'Please choose a PDF of at most 3 MiB.'],
  ] as const)
    expect((await put(app, owner, _id, bytes, about)).json(), message).toMatchObject({ code, message })
  expect((await ask(app, owner, invoiceCalls.read, { params: { id: _id } })).reply.hasFile).toBe(false)
  expect((await put(app, owner, _id, pdf('x', 3 * 1024 * 1024))).statusCode).toBe(200)
})

test('all PDFs of an account are at most 200 MiB', async () => {
  await using app = await openTestApp()
  const owner = await aPerson(app)
  const [one, other] = [await anInvoice(app, { owner }), await anInvoice(app, { owner })]
  await put(app, owner, one._id, pdf('x'))
  await app.db.update(invoiceFiles).set({ size: 200 * 1024 ** 2 - 300 })
  expect((await put(app, owner, other._id, pdf('x', 301))).json()).toMatchObject({
    code: 'conflict',
    message: 'All PDFs of your account may be 200 MiB together. Please remove one first.',
  })
  expect((await put(app, owner, other._id, pdf('x', 300))).statusCode).toBe(200)
  // One that is replaced counts no more.
  expect((await put(app, owner, one._id, pdf('x', 1_000_000))).statusCode).toBe(200)
})

test('programs store and read PDFs by their scope, and accounts only their own', async () => {
  await using app = await openTestApp({ config: { zapier } })
  const { owner, _id } = await anInvoice(app)
  const stranger = await aPerson(app, { email: 'meera@example.com' })
  const [reader, writer] = [await aKey(app, owner, ['read']), await aKey(app, owner)]
  const zap = await connect(app, owner, zapierItself)
  expect((await put(app, reader, _id, pdf('x'))).json().code).toBe('not_allowed')
  expect((await put(app, writer, _id, pdf('key'))).statusCode).toBe(200)
  expect((await put(app, zap, _id, pdf('zap'))).statusCode).toBe(200)
  expect((await get(app, reader, _id)).rawPayload.equals(pdf('zap'))).toBe(true)
  expect((await get(app, stranger, _id)).statusCode).toBe(404)
  expect((await put(app, stranger, _id, pdf('x'))).statusCode).toBe(404)
  expect((await ask(app, stranger, invoiceFileCalls.remove, { params: { id: _id } })).status).toBe(404)
  const [client] = (await ask(app, owner, clientCalls.list)).reply
  expect((await ask(app, writer, payLinkCalls.readStatement, { params: { id: client?._id ?? '' }, query: {} })).problem?.code).toBe(
    'not_allowed',
  )
})

test('the PDF is in the export of the account, and gone with the account', async () => {
  await using app = await openTestApp()
  const { owner, _id } = await anInvoice(app)
  await put(app, owner, _id, pdf('x'))
  const exported = await app.app.inject({ method: 'GET', url: '/user/export', headers: { authorization: `Bearer ${owner.token}` } })
  const files = unzipSync(exported.rawPayload)
  const [name = ''] = Object.keys(files).filter((one) => one.startsWith('invoice_files/'))
  expect(name).toMatch(/\.pdf$/)
  expect(strFromU8(files[name] ?? new Uint8Array())).toBe(pdf('x').toString())
  expect((await ask(app, owner, accountCalls.deleteMe)).status).toBeLessThan(300)
  await app.runJobs()
  expect(await app.db.$count(invoiceFiles)).toBe(0)
})

test('the pay page leads to the PDF, and an email that links it too', async () => {
  await using office = await anOffice({ now: morning, invoices: 1, config: payLinks })
  const { app, asha, smtp, invoices } = office
  const id = invoices[0]?._id ?? ''
  await ask(app, asha, paymentSettingsCalls.save, { body: { upi } })
  await put(app, asha, id, pdf('x'), { name: 'INV-0001.pdf' })
  await sendNow(app, asha)
  const mail = await PostalMime.parse(smtp.mails[0]?.raw ?? '')
  expect(mail.attachments.map(({ mimeType }) => mimeType)).toEqual(['image/png'])
  const [, address = ''] =
    /Download the invoice \(PDF\): https:\/\/duely\.example(\/pay\/[\w-]{43}\/invoice\.pdf)\r\n/.exec(mail.text ?? '') ?? []
  const page = await app.app.inject({ method: 'GET', url: address.replace('/invoice.pdf', '') })
  expect(page.body).toContain(`href="${address}"`)
  expect(page.body).toContain('Download the invoice (PDF)')
  const read = await app.app.inject({ method: 'GET', url: address })
  expect(read.rawPayload.equals(pdf('x'))).toBe(true)
  expect(read.headers).toMatchObject({
    'content-disposition': `attachment; filename="INV-0001.pdf"; filename*=UTF-8''INV-0001.pdf`,
    'x-robots-tag': 'noindex, nofollow',
    'referrer-policy': 'no-referrer',
    'cache-control': 'no-store',
  })
  await ask(app, asha, invoiceFileCalls.remove, { params: { id } })
  expect((await app.app.inject({ method: 'GET', url: address })).statusCode).toBe(404)
  await ask(app, asha, payLinkCalls.revoke, { params: { id } })
  expect((await app.app.inject({ method: 'GET', url: address })).statusCode).toBe(404)
})

test('an attached PDF is sent and not stored; a retry sends the same bytes, and a replaced PDF is sent instead', async () => {
  await using office = await anOffice({ now: morning, invoices: 1, config: payLinks })
  const { app, asha, smtp, invoices } = office
  const id = invoices[0]?._id ?? ''
  await attach(app, asha)
  const first = pdf('first', 100_001)
  await put(app, asha, id, first, { name: 'März.pdf' })
  const seen: Buffer[] = []
  smtp.answer({
    dot: (mail, nth) => {
      seen.push(mail.raw)
      return nth <= 2 ? '451 4.7.1 Greylisted' : undefined
    },
  })
  await sendNow(app, asha)
  app.clock.advance({ minutes: 6 })
  await app.runJobs()
  expect(seen).toHaveLength(2)
  expect(seen[1]?.equals(seen[0] ?? Buffer.alloc(0))).toBe(true)
  const sent = await PostalMime.parse(seen[0] ?? '')
  const attached = sent.attachments.filter(({ mimeType }) => mimeType === 'application/pdf')
  expect(attached.map(({ filename, disposition }) => [filename, disposition])).toEqual([['März.pdf', 'attachment']])
  expect(Buffer.from(attached[0]?.content as ArrayBuffer).equals(first)).toBe(true)
  expect(sent.text).not.toContain('Download the invoice')
  const exported = await app.app.inject({ method: 'GET', url: '/user/export', headers: { authorization: `Bearer ${asha.token}` } })
  const stored = Object.entries(unzipSync(exported.rawPayload)).filter(([name]) => name.startsWith('deliveries/'))
  expect(stored.map(([, bytes]) => bytes.length < 20_000)).toEqual([true])
  const second = pdf('second', 5_000)
  await put(app, asha, id, second, { name: 'INV-0001.pdf' })
  app.clock.advance({ minutes: 20 })
  await app.runJobs()
  const last = await PostalMime.parse(smtp.mails[0]?.raw ?? '')
  const [other] = last.attachments.filter(({ mimeType }) => mimeType === 'application/pdf')
  expect(Buffer.from(other?.content as ArrayBuffer).equals(second)).toBe(true)
  expect(last.messageId).not.toBe(sent.messageId)
})

test('a PDF replaced at the instant of its email is sent instead of the old one', async () => {
  await using office = await anOffice({ now: morning, invoices: 1, config: payLinks })
  const { app, asha, smtp, invoices } = office
  const id = invoices[0]?._id ?? ''
  await attach(app, asha)
  await put(app, asha, id, pdf('first'))
  smtp.answer({ dot: (_mail, nth) => (nth === 1 ? '451 4.7.1 Greylisted' : undefined) })
  await sendNow(app, asha)
  await put(app, asha, id, pdf('second'))
  app.clock.advance({ minutes: 6 })
  await app.runJobs()
  const { attachments } = await PostalMime.parse(smtp.mails[0]?.raw ?? '')
  const [attached] = attachments.filter(({ mimeType }) => mimeType === 'application/pdf')
  expect(Buffer.from(attached?.content as ArrayBuffer).equals(pdf('second'))).toBe(true)
})

test('a grouped email has the PDFs of all its invoices attached, unless they are more than 8 MiB', async () => {
  await using office = await anOffice({ now: morning, invoices: 0, config: payLinks })
  const { app, asha, smtp } = office
  await ask(app, asha, reminderCalls.changeSettings, { body: { groupByClient: true } })
  await attach(app, asha)
  const three = [await anInvoice(app, { owner: asha }), await anInvoice(app, { owner: asha }), await anInvoice(app, { owner: asha })]
  for (const { _id, reference } of three.slice(1)) await put(app, asha, _id, pdf(reference, 3 * 1024 * 1024), { name: `${reference}.pdf` })
  const draft = await ask(app, asha, reminderCalls.draft, { body: { invoiceIds: three.map(({ _id }) => _id) } })
  expect(draft.reply.email?.attached).toEqual(three.slice(1).map(({ reference }) => `${reference}.pdf`))
  await sendNow(app, asha)
  const names = async (nth: number) =>
    (await PostalMime.parse(smtp.mails[nth]?.raw ?? '')).attachments.flatMap(({ filename, mimeType }) =>
      mimeType === 'application/pdf' ? [filename] : [],
    )
  expect(await names(0)).toEqual(three.slice(1).map(({ reference }) => `${reference}.pdf`))
  await put(app, asha, three[0]?._id ?? '', pdf('third', 3 * 1024 * 1024))
  app.clock.advance({ minutes: 2 })
  await sendNow(app, asha)
  expect(smtp.mails).toHaveLength(2)
  expect(await names(1)).toEqual([])
  const { text = '', html = '' } = await PostalMime.parse(smtp.mails[1]?.raw ?? '')
  for (const { _id, reference } of three) {
    const [, url = ''] =
      new RegExp(`^Download ${reference} \\(PDF\\): (https://duely\\.example/pay/[\\w-]{43}/${_id}/invoice\\.pdf)$`, 'm').exec(text) ?? []
    expect(html).toContain(`<a href="${url}" style="color:inherit">Download ${reference} (PDF)</a>`)
    const read = await app.app.inject({ method: 'GET', url: new URL(url).pathname })
    expect([read.statusCode, read.rawPayload.length]).toEqual([200, 3 * 1024 * 1024])
  }
})
