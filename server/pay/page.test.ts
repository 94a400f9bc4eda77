// Also on PostgreSQL: answers are counted under a lock, and addresses are compared without case.
import { isNotNull, sql } from 'drizzle-orm'
import PostalMime from 'postal-mime'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { accountCalls } from '#contract/accounts.ts'
import type { CallInput } from '#contract/call.ts'
import { clientCalls } from '#contract/clients.ts'
import { type InvoiceChange, invoiceCalls } from '#contract/invoices.ts'
import { noticeCalls } from '#contract/notices.ts'
import { payAnswerCalls } from '#contract/pay-answers.ts'
import { payLinkCalls } from '#contract/pay-links.ts'
import { paymentSettingsCalls } from '#contract/payment-settings.ts'
import { paymentCalls } from '#contract/payments.ts'
import { reminderCalls } from '#contract/reminders.ts'
import { invoices } from '#server/invoices/tables.ts'
import { rows } from '#server/platform/database.ts'
import { reseal } from '#server/platform/reseal.ts'
import { anInvoice, anOffice, aPerson, type Person, signedInAgain } from '#test/factories.ts'
import { openFakeSmtp } from '#test/fakes/smtp-server.ts'
import { ask, openTestApp, type TestApp } from '#test/harness.ts'
import { readQrCodes, readQrPng } from '#test/read-qr.ts'
import { buyOnce, openShop } from '#test/shop.ts'
import { sealedPayLinks } from './links.ts'

const upi = { id: 'asha@okaxis', name: 'Asha Traders', merchantCode: null }
const now = '2026-03-02T09:00:00Z'
const openPublic = () => openTestApp({ now, config: { publicUrl: 'https://duely.example', payLinks: true } })

async function linkOf(app: TestApp, someone: Person, id: string): Promise<string> {
  const { reply } = await ask(app, someone, payLinkCalls.create, { params: { id } })
  return new URL(reply.url).pathname
}
const open = (app: TestApp, url: string) => app.app.inject({ method: 'GET', url })
const post = (app: TestApp, url: string, fields: Record<string, string>) =>
  app.app.inject({
    method: 'POST',
    url,
    headers: { 'content-type': 'application/x-www-form-urlencoded', origin: 'null' },
    payload: new URLSearchParams(fields).toString(),
  })
const textOf = (html: string) =>
  html
    .replace(/<style[\s\S]*?<\/style>/, '')
    .replace(/<[^>]+>/g, ' ')
    .replace(/\s+/g, ' ')

test('the page of a client shows what they said, and why an invoice waits', async () => {
  await using app = await openPublic()
  const asha = await aPerson(app)
  const { _id: id } = await anInvoice(app, { owner: asha, amount: 5_000 })
  const address = await linkOf(app, asha, id)
  const message = 'Which order is this, می\u200cخواهم 👩\u200d👧?'
  await post(app, `${address}/answer`, { kind: 'question', message: `\u202e${message}` })
  const [client] = (await ask(app, asha, clientCalls.list)).reply
  expect(client?.said).toEqual({ because: 'question', until: '2026-03-16' })
  const { reply } = await ask(app, asha, clientCalls.read, { params: { id: client?._id ?? '' } })
  expect(reply.timeline).toMatchObject([{ kind: 'answer', answer: { kind: 'question', message, state: 'open' } }])
  const { reply: history } = await ask(app, asha, reminderCalls.history, { params: { id } })
  expect(history.answers).toMatchObject([{ kind: 'question', state: 'open' }])
  const ravi = await aPerson(app)
  await anInvoice(app, { owner: ravi })
  const [other] = (await ask(app, ravi, clientCalls.list)).reply
  expect(other?.said).toBeNull()
  expect((await ask(app, ravi, clientCalls.read, { params: { id: other?._id ?? '' } })).reply.timeline).toEqual([])
  await ask(app, asha, payAnswerCalls.accept, { params: { id: reply.timeline[0]?._id ?? '' }, body: {} })
  expect((await ask(app, asha, clientCalls.list)).reply).toMatchObject([{ said: null }])
})

test('a pay link is the same each time, and another one after it was revoked', async () => {
  await using app = await openPublic()
  const { owner, _id } = await anInvoice(app)
  const first = await ask(app, owner, payLinkCalls.create, { params: { id: _id } })
  expect(first.reply.url).toMatch(/^https:\/\/duely\.example\/pay\/[\w-]{43}$/)
  expect((await ask(app, owner, payLinkCalls.create, { params: { id: _id } })).reply).toEqual(first.reply)
  expect((await ask(app, owner, payLinkCalls.revoke, { params: { id: _id } })).status).toBe(204)
  const second = await ask(app, owner, payLinkCalls.create, { params: { id: _id } })
  expect(second.reply.url).not.toBe(first.reply.url)
  expect((await open(app, new URL(first.reply.url).pathname)).statusCode).toBe(404)
  expect((await open(app, new URL(second.reply.url).pathname)).statusCode).toBe(200)
})

test('the page shows what is to pay and how, and nothing that is not the client’s', async () => {
  await using app = await openPublic()
  const { owner, _id } = await anInvoice(app)
  await anInvoice(app, { owner, reference: 'OTHER-7' })
  await ask(app, owner, paymentSettingsCalls.save, { body: { upi, businessName: 'Neem Studio', details: 'GSTIN 29ABCDE1234F1Z5' } })
  const page = await open(app, await linkOf(app, owner, _id))
  expect(page.statusCode).toBe(200)
  const text = textOf(page.body)
  for (const shown of [
    'Invoice INV-0001 from Neem Studio',
    '₹5,000.00 to pay',
    'For Kaveri Foods · due 22/02/2026 · 8 days overdue',
    'asha@okaxis',
    'Something else?',
  ])
    expect(text).toContain(shown)
  expect(page.body).toContain('upi://pay?pa=asha@okaxis&amp;pn=Asha%20Traders&amp;am=5000.00&amp;cu=INR&amp;tn=INV-0001')
  expect(page.body).not.toMatch(/billing@kaveri|OTHER-7|asha\d+@example/)
  expect(Buffer.byteLength(page.body)).toBeLessThan(20 * 1024)
  expect(page.headers).toMatchObject({
    'cache-control': 'no-store',
    'x-robots-tag': 'noindex, nofollow',
    'referrer-policy': 'no-referrer',
    'content-security-policy': expect.stringMatching(
      /^default-src 'none'; style-src 'nonce-[\w+/=]{24}'; script-src 'self'; img-src 'self' data:; form-action 'self'/,
    ),
  })
  expect(page.headers['set-cookie']).toBeUndefined()
})

/** Every row of every table but the counts of views. */
async function everyRow(app: TestApp): Promise<string[]> {
  const name = z.object({ name: z.string() })
  const tables = await rows(
    app.db,
    name,
    sql`SELECT table_name AS name FROM information_schema.tables WHERE table_schema = 'public' ORDER BY 1`,
  )
  const all: string[] = []
  for (const { name } of tables) {
    if (name === 'throttles') continue
    const found = await rows(app.db, z.object({ row: z.string() }), sql`SELECT t::text AS row FROM ${sql.identifier(name)} t ORDER BY 1`)
    all.push(...found.map(({ row }) => `${name} ${row}`))
  }
  return all
}

test('GET and HEAD of everything below a link change no row', async () => {
  await using app = await openPublic()
  const { owner, _id } = await anInvoice(app)
  await ask(app, owner, paymentSettingsCalls.save, { body: { upi } })
  const headers = { authorization: `Bearer ${owner.token}`, 'content-type': 'application/pdf' }
  await app.app.inject({ method: 'PUT', url: `/invoice/${_id}/file`, headers, payload: '%PDF-1.7 %%EOF' })
  const path = await linkOf(app, owner, _id)
  const [client] = (await ask(app, owner, clientCalls.list)).reply
  const { url } = (await ask(app, owner, payLinkCalls.createStatement, { params: { id: client?._id ?? '' } })).reply
  const statement = new URL(url).pathname
  await post(app, `${path}/answer`, { kind: 'question', message: 'Which order is this?' })
  const before = await everyRow(app)
  const found: number[] = []
  for (const one of [path, `${path}?amount=100`, statement, `${statement}/${_id}`])
    for (const below of ['', '/invoice.pdf', '/statement.pdf', '/logo', '/answer', '/take-back', '/online'])
      for (const method of ['GET', 'HEAD'] as const)
        found.push((await app.app.inject({ method, url: one.replace(/(?=\?|$)/, below) })).statusCode)
  expect(found.filter((status) => status === 200).length).toBeGreaterThan(8)
  expect(await everyRow(app)).toEqual(before)
})

test('without a way to pay the page asks for a reply', async () => {
  await using app = await openPublic()
  const { owner, _id } = await anInvoice(app)
  const { body } = await open(app, await linkOf(app, owner, _id))
  expect(textOf(body)).toContain('Please reply to the email to ask how to pay.')
})

test('another amount is paid for a part, from 1 to the balance', async () => {
  await using app = await openPublic()
  const { owner, _id } = await anInvoice(app)
  await ask(app, owner, paymentSettingsCalls.save, { body: { upi } })
  const path = await linkOf(app, owner, _id)
  const part = (await open(app, `${path}?amount=1,200.50`)).body
  expect(part).toContain('am=1200.50&amp;')
  expect(textOf(part)).toContain('Paying ₹1,200.50 now')
  for (const wrong of ['0.50', '5000.01', '-1', '1e3', '1.234', '50,00', 'all']) {
    const page = await open(app, `${path}?amount=${wrong}`)
    expect([page.statusCode, page.body.includes('am=5000.00&amp;')], wrong).toEqual([400, true])
  }
  // The ways fold once the client has answered, but not where they ask for an amount.
  await post(app, `${path}/answer`, { kind: 'question', message: 'A part now?' })
  for (const [query, isOpen] of [
    ['', false],
    ['?amount=1000', true],
    ['?amount=0.50', true],
  ] as const)
    expect((await open(app, `${path}${query}`)).body.includes('class="way fold" open'), query).toBe(isOpen)
})

test('another amount has no more decimals than the currency', async () => {
  await using app = await openPublic()
  const { owner, _id } = await anInvoice(app, { currency: 'JPY' })
  await ask(app, owner, paymentSettingsCalls.save, { body: { ownLink: { label: 'Pay by card', url: 'https://pay.example/asha' } } })
  const path = await linkOf(app, owner, _id)
  for (const [amount, status] of [
    ['1,200', 200],
    ['1200.5', 400],
    ['1200.50', 400],
  ] as const)
    expect((await open(app, `${path}?amount=${amount}`)).statusCode, amount).toBe(status)
})

test('unknown, revoked, deleted, of another address and paid long ago are one page', async () => {
  await using app = await openPublic()
  const owner = await aPerson(app)
  const made = async () => {
    const { _id } = await anInvoice(app, { owner })
    return { id: _id, path: await linkOf(app, owner, _id) }
  }
  const [revoked, deleted, moved, paid] = [await made(), await made(), await made(), await made()]
  await ask(app, owner, payLinkCalls.revoke, { params: { id: revoked.id } })
  await ask(app, owner, invoiceCalls.remove, { params: { id: deleted.id } })
  await ask(app, owner, invoiceCalls.update, { params: { id: moved.id }, body: { clientEmail: 'other@kaveri.example' } })
  await ask(app, owner, invoiceCalls.update, { params: { id: paid.id }, body: { status: 'paid' } })
  expect(textOf((await open(app, paid.path)).body)).toContain('Paid. Thank you.')
  app.clock.advance({ hours: 181 * 24 })
  const paths = [`/pay/${'x'.repeat(43)}`, '/pay/short', revoked.path, deleted.path, moved.path, paid.path]
  const answered = await Promise.all(paths.map((path) => open(app, path)))
  const plain = (body: string) => body.replace(/nonce="[^"]+"/, '')
  expect(new Set(answered.map(({ statusCode, body }) => `${statusCode} ${plain(body)}`)).size).toBe(1)
  expect(textOf(answered[0]?.body ?? '')).toContain('This link does not work any more')
})

test('an address opens 120 pages a minute and 20 unknown links in ten, and a link takes 10 answers a day', async () => {
  await using app = await openTestApp({ now, config: { publicUrl: 'https://duely.example', payLinks: true, rateLimit: true } })
  const { owner, _id } = await anInvoice(app)
  const path = await linkOf(app, owner, _id)
  /** How many of these were answered before the first 429. */
  const taken = async (act: () => Promise<{ statusCode: number }>) => {
    for (let count = 0; ; count += 1) if ((await act()).statusCode === 429) return count
  }
  const unknown = `/pay/${'x'.repeat(43)}`
  expect(await taken(() => open(app, path))).toBe(120)
  app.clock.advance({ minutes: 1 })
  expect(await taken(() => open(app, unknown))).toBe(20)
  app.clock.advance({ minutes: 9 })
  expect((await open(app, unknown)).statusCode).toBe(429)
  app.clock.advance({ minutes: 1 })
  expect((await open(app, unknown)).statusCode).toBe(404)
  expect(await taken(() => post(app, `${path}/answer`, { kind: 'question', message: 'Still?' }))).toBe(10)
})

test('a deleted invoice that is restored has its link again', async () => {
  await using app = await openPublic()
  const { owner, _id } = await anInvoice(app)
  const path = await linkOf(app, owner, _id)
  await ask(app, owner, invoiceCalls.remove, { params: { id: _id } })
  expect((await open(app, path)).statusCode).toBe(404)
  await ask(app, owner, invoiceCalls.restore, { params: { id: _id } })
  expect((await open(app, path)).statusCode).toBe(200)
})

test('“I have paid” pauses the reminders for five days and notifies the owner', async () => {
  await using app = await openPublic()
  const { owner, _id } = await anInvoice(app)
  const path = await linkOf(app, owner, _id)
  // A decimal comma may be one of a group: it is never read as a hundred times as much.
  const unclear = await post(app, `${path}/answer`, { kind: 'paid', date: '2026-03-01', amount: '3000,50', reference: 'UTR 4711' })
  expect(unclear.statusCode).toBe(400)
  const sent = await post(app, `${path}/answer`, { kind: 'paid', date: '2026-03-01', amount: '3000', reference: 'UTR 4711' })
  expect([sent.statusCode, sent.headers.location]).toEqual([303, path])
  expect((await ask(app, owner, invoiceCalls.read, { params: { id: _id } })).reply.pause).toMatchObject({
    until: '2026-03-07',
  })
  expect((await ask(app, owner, noticeCalls.list)).reply).toMatchObject([
    {
      title: 'Kaveri Foods says INV-0001 is paid',
      text: '₹3,000.00 on 01/03/2026, reference UTR 4711. Its reminders wait until 07/03/2026.',
    },
  ])
  expect(textOf((await open(app, path)).body)).toContain(
    'You told Asha Rao that you have paid. They are checking it; reminders wait until 07/03/2026.',
  )
})

test('the email about an answer has its words as text, and a reply to it goes to the client', async () => {
  await using smtp = await openFakeSmtp()
  const systemMail = { systemSmtpUrl: `smtp://127.0.0.1:${smtp.port}`, systemMailFrom: 'hello@duely.example' }
  await using app = await openTestApp({ now, config: { publicUrl: 'https://duely.example', payLinks: true, ...systemMail } })
  const asha = await aPerson(app, { confirmed: true })
  const { _id } = await anInvoice(app, { owner: asha, clientName: 'Kaveri <b>Foods</b>', clientEmail: 'billing@kaveri.example' })
  const path = await linkOf(app, asha, _id)
  await post(app, `${path}/answer`, { kind: 'question', message: 'Which order?\r\nBcc: all@evil.example\n<img src=x>' })
  await app.runJobs()
  const email = await PostalMime.parse(smtp.mails[0]?.raw ?? '')
  expect(smtp.mails.map(({ envelope }) => envelope.to)).toEqual([[asha.email]])
  expect([email.subject, email.replyTo?.map(({ address }) => address), email.bcc]).toEqual([
    'A client answered a reminder',
    ['billing@kaveri.example'],
    undefined,
  ])
  expect(email.text).toContain(`> Kaveri <b>Foods</b> asks about INV-0001
> “Which order?
> Bcc: all@evil.example
> <img src=x>” Its reminders wait until 16/03/2026.

Read the answer:
https://duely.example/dashboard/getting-paid#answers`)
  expect(email.html).toContain('Kaveri &lt;b&gt;Foods&lt;/b&gt; asks about INV-0001<br>“Which order?<br>')
  expect(email.html).not.toMatch(/<img|<b>/)
})

test('a form whose last field is filled stores nothing, and comes back with what was typed and that field to empty', async () => {
  await using app = await openPublic()
  const { owner, _id } = await anInvoice(app)
  const path = await linkOf(app, owner, _id)
  const first = (await open(app, path)).body
  expect(first.match(/<div class="gone"><label for="[a-z_]+-website">Leave this field empty<\/label>/g)).toHaveLength(4)
  const before = await everyRow(app)
  const forms: [fields: Record<string, string>, shown: string[]][] = [
    [
      { kind: 'paid', date: '2026-02-27', amount: '12.50', reference: 'UTR "7"' },
      ['value="2026-02-27"', 'value="12.50"', 'value="UTR &quot;7&quot;"'],
    ],
    [{ kind: 'promise', date: '2026-03-09' }, ['value="2026-03-09"']],
    [{ kind: 'question', message: 'Which\n<b>order</b>?' }, ['Which\n&lt;b&gt;order&lt;/b&gt;?</textarea>']],
    [
      { kind: 'wrong_person', wrong: 'yes', name: 'Ravi', email: 'ravi@x.example' },
      [' checked>', 'value="Ravi"', 'value="ravi@x.example"'],
    ],
  ]
  for (const [fields, shown] of forms) {
    const { statusCode, body } = await post(app, `${path}/answer`, { ...fields, website: 'https://x.example' })
    expect(statusCode).toBe(400)
    for (const one of [...shown, 'Please leave the last field empty.', `<div><label for="${fields.kind}-website">`])
      expect(body).toContain(one)
    expect(body).not.toContain('https://x.example')
    expect(body.match(/ class="gone"/g)).toHaveLength(3)
  }
  expect(await everyRow(app)).toEqual(before)
  // What else is wrong with a form is no reason to type it again.
  const wrong = await post(app, `${path}/answer`, { kind: 'wrong_person', wrong: 'yes', name: 'Ravi', email: 'ravi' })
  for (const one of ['Please enter an email such as', 'value="Ravi"', 'value="ravi"', ' checked>']) expect(wrong.body).toContain(one)
  await post(app, `${path}/answer`, { kind: 'question', message: 'Which order?', website: '' })
  const said = await everyRow(app)
  const kept = await post(app, `${path}/take-back`, { website: 'x' })
  expect([kept.statusCode, kept.body.includes('<div><label for="take_back-website">')]).toEqual([400, true])
  expect(await everyRow(app)).toEqual(said)
})

test('“Take this back” ends the pause and the notice', async () => {
  await using app = await openPublic()
  const { owner, _id } = await anInvoice(app)
  const path = await linkOf(app, owner, _id)
  await post(app, `${path}/answer`, { kind: 'question', message: 'What is this about?' })
  expect((await post(app, `${path}/take-back`, {})).statusCode).toBe(303)
  expect((await ask(app, owner, invoiceCalls.read, { params: { id: _id } })).reply.pause).toBeNull()
  expect((await ask(app, owner, noticeCalls.list)).reply).toEqual([])
  expect(textOf((await open(app, path)).body)).toContain('Something else?')
})

test('a promise lasts until its day, at most 30 days ahead', async () => {
  await using app = await openPublic()
  const { owner, _id } = await anInvoice(app)
  const path = await linkOf(app, owner, _id)
  const promise = (date: string) => post(app, `${path}/answer`, { kind: 'promise', date })
  for (const date of ['2026-04-02', '2026-03-01', 'soon', '']) {
    const page = await promise(date)
    expect([page.statusCode, textOf(page.body).includes('Please choose a day within the next 30 days.')], date).toEqual([400, true])
  }
  await promise('2026-04-01')
  expect((await ask(app, owner, invoiceCalls.read, { params: { id: _id } })).reply.pause).toMatchObject({
    until: '2026-04-01',
    promised: true,
  })
})

test('an owner’s own pause is left as it is', async () => {
  await using app = await openPublic()
  const { owner, _id } = await anInvoice(app)
  await ask(app, owner, invoiceCalls.pause, { params: { id: _id }, body: { paused: true, note: 'Called them' } })
  const path = await linkOf(app, owner, _id)
  await post(app, `${path}/answer`, { kind: 'promise', date: '2026-03-20' })
  await post(app, `${path}/take-back`, {})
  expect((await ask(app, owner, invoiceCalls.read, { params: { id: _id } })).reply.pause).toMatchObject({
    until: null,
    note: 'Called them',
  })
})

test('a client’s word keeps an invoice quiet for at most 30 days', async () => {
  await using app = await openPublic()
  const { owner, _id } = await anInvoice(app)
  const path = await linkOf(app, owner, _id)
  let quiet = 0
  for (let day = 0; day < 45; day += 1) {
    await post(app, `${path}/answer`, { kind: day % 2 === 0 ? 'question' : 'wrong_person', message: 'Still?', wrong: 'yes' })
    quiet += await app.db.$count(invoices, isNotNull(invoices.pausedAt))
    if (day % 3 === 0) await post(app, `${path}/take-back`, {})
    app.clock.advance({ hours: 24 })
    await app.runJobs()
  }
  // The day of the first answer, whose reminder is usually out, and 30 more.
  expect(quiet).toBe(31)
})

test('an answer that the owner did not decide ends with its pause, and the owner learns that', async () => {
  await using app = await openPublic()
  const { owner, _id } = await anInvoice(app)
  const path = await linkOf(app, owner, _id)
  await post(app, `${path}/answer`, { kind: 'paid', date: '2026-03-01', amount: '5000', reference: 'x1' })
  app.clock.advance({ hours: 6 * 24 })
  await app.runJobs()
  expect((await ask(app, owner, invoiceCalls.read, { params: { id: _id } })).reply.pause).toBeNull()
  expect((await ask(app, owner, noticeCalls.list)).reply.map(({ title, text }) => [title, text])).toContainEqual([
    'Kaveri Foods said INV-0001 was paid, and no payment is recorded',
    'Its reminders go on.',
  ])
})

test.each([
  ['its reference', { amount: 2_000, reference: 'UTR412345678901' }, { state: 'accepted', pause: null }],
  ['its reference in another amount', { amount: 1_990, reference: 'utr 412345678901' }, { state: 'accepted', pause: null }],
  ['its reference in a note', { amount: 2_000, reference: 'NEFT', note: 'UTR412345678901' }, { state: 'accepted', pause: null }],
  ['its amount', { amount: 2_000 }, { state: 'accepted', pause: null }],
  ['not its amount', { amount: 1_000 }, { state: 'open', pause: { because: 'says_paid' } }],
  ['not its reference', { amount: 2_000, reference: 'UTR900000000009' }, { state: 'open', pause: { because: 'says_paid' } }],
])('a payment that is recorded elsewhere answers “I have paid” by %s', async (_what, body, expected) => {
  await using app = await openPublic()
  const paid = { kind: 'paid', date: '2026-03-01', amount: '2000', reference: 'UTR412345678901' }
  const { owner, id, invoice } = await answered(app, paid)
  app.clock.advance({ minutes: 1 })
  await ask(app, owner, paymentCalls.record, { params: { id }, body })
  const [answer] = (await ask(app, owner, payAnswerCalls.list)).reply
  expect({ state: answer?.state, pause: (await invoice()).pause }).toMatchObject(expected)
  const notices = (await ask(app, owner, noticeCalls.list)).reply.map(({ kind }) => kind)
  expect(notices).toEqual(expected.state === 'open' ? ['client_answered'] : [])
  app.clock.advance({ hours: 6 * 24 })
  await app.runJobs()
  const titles = (await ask(app, owner, noticeCalls.list)).reply.map(({ title }) => title)
  expect(titles.includes('Kaveri Foods said INV-0001 was paid, and nothing was decided')).toBe(expected.state === 'open')
  expect(titles.join()).not.toContain('no payment is recorded')
})

test('accepting “I have paid” does not record a payment again that is there', async () => {
  await using app = await openPublic()
  const owner = await aPerson(app)
  const { _id: id } = await anInvoice(app, { owner })
  await ask(app, owner, paymentCalls.record, { params: { id }, body: { amount: 2_000, reference: 'UTR412345678901' } })
  app.clock.advance({ minutes: 1 })
  const said = { kind: 'paid', date: '2026-03-01', amount: '2000', reference: 'utr 412345678901' }
  await post(app, `${await linkOf(app, owner, id)}/answer`, said)
  const [answer] = (await ask(app, owner, payAnswerCalls.list)).reply
  const params = { id: answer?._id ?? '' }
  const { problem } = await ask(app, owner, payAnswerCalls.accept, { params, body: {} })
  expect([problem?.code, problem?.message]).toEqual([
    'conflict',
    '₹2,000.00 with this reference is recorded already. If this is another payment, please change its reference; if not, choose “Recorded already”.',
  ])
  expect((await ask(app, owner, payAnswerCalls.list)).reply[0]?.state).toBe('open')
  await ask(app, owner, payAnswerCalls.accept, { params, body: { reference: 'UTR900000000009' } })
  expect((await ask(app, owner, invoiceCalls.read, { params: { id } })).reply).toMatchObject({ amountPaid: 4_000, pause: null })
})

test('“I have paid” about a payment that was recorded before is accepted without another one', async () => {
  await using app = await openPublic()
  const { owner, id, path, invoice, params } = await answered(app, { kind: 'paid', date: '2026-03-01', amount: '2000', reference: 'UTR 1' })
  await post(app, `${path}/take-back`, {})
  await ask(app, owner, paymentCalls.record, { params: { id }, body: { amount: 1_990, reference: 'NEFT of 1 March' } })
  app.clock.advance({ minutes: 6 })
  await post(app, `${path}/answer`, { kind: 'paid', date: '2026-03-01', amount: '2000', reference: 'UTR 1' })
  const [answer] = (await ask(app, owner, payAnswerCalls.list)).reply
  expect(answer).toMatchObject({ state: 'open', invoice: { amountPaid: 1_990, balance: 3_010 } })
  expect(answer?._id).not.toBe(params.id)
  const accepted = await ask(app, owner, payAnswerCalls.accept, { params: { id: answer?._id ?? '' }, body: { recorded: true } })
  expect(accepted.reply).toMatchObject({ state: 'accepted', pause: null, invoice: { amountPaid: 1_990 } })
  expect((await invoice()).amountPaid).toBe(1_990)
  expect((await ask(app, owner, noticeCalls.list)).reply).toEqual([])
  expect(textOf((await open(app, path)).body)).not.toContain('could not find this payment')
})

test('full payment closes the answer, its pause and its notice', async () => {
  await using app = await openPublic()
  const { owner, _id } = await anInvoice(app)
  const path = await linkOf(app, owner, _id)
  await post(app, `${path}/answer`, { kind: 'question', message: 'Which project?' })
  await ask(app, owner, invoiceCalls.update, { params: { id: _id }, body: { status: 'paid' } })
  expect((await ask(app, owner, noticeCalls.list)).reply).toEqual([])
  expect((await ask(app, owner, invoiceCalls.read, { params: { id: _id } })).reply.pause).toBeNull()
})

test('what a payment closed is open again where it is taken back, and its pause too unless the owner chose otherwise or its day is over', async () => {
  await using app = await openPublic()
  const owner = await aPerson(app)
  const later = () => app.clock.advance({ minutes: 1 })
  const promised = async () => {
    const { _id: id } = await anInvoice(app, { owner })
    await post(app, `${await linkOf(app, owner, id)}/answer`, { kind: 'promise', date: '2026-03-20' })
    const params = { id }
    const set = async (body: InvoiceChange) => {
      later()
      return (await ask(app, owner, invoiceCalls.update, { params, body })).reply
    }
    const pause = (body: CallInput<typeof invoiceCalls.pause>['body']) => ask(app, owner, invoiceCalls.pause, { params, body })
    const answer = async () => (await ask(app, owner, payAnswerCalls.list)).reply.find(({ invoiceId }) => invoiceId === id)?.state
    const now = async () => [await answer(), (await ask(app, owner, invoiceCalls.read, { params })).reply.pause?.until]
    return { id, params, set, pause, now }
  }
  const back = ['open', '2026-03-20']
  const first = await promised()
  expect(await first.set({ status: 'paid' })).toMatchObject({ status: 'paid', pause: null })
  expect((await first.set({ status: 'unpaid' })).pause).toMatchObject({ until: '2026-03-20', promised: true, because: 'promised' })
  expect(await first.now()).toEqual(back)
  // A mark that followed another amount.
  await first.set({ status: 'paid' })
  await first.set({ amount: 6000 })
  await first.set({ status: 'unpaid' })
  expect(await first.now()).toEqual(back)
  // Many at once.
  const mark = (status: 'paid' | 'unpaid') =>
    ask(app, owner, invoiceCalls.bulkChange, { body: { ids: [first.id], change: { do: 'mark', status } } })
  await mark('paid')
  expect(await first.now()).toEqual(['ended', undefined])
  await mark('unpaid')
  expect(await first.now()).toEqual(back)
  // A payment that is taken back; not one that is paid back.
  const pay = (kind: 'payment' | 'refund') => ask(app, owner, paymentCalls.record, { params: first.params, body: { kind, amount: 6000 } })
  const { reply } = await pay('payment')
  later()
  await ask(app, owner, paymentCalls.takeBack, { params: { ...first.params, pid: reply.payment._id } })
  expect(await first.now()).toEqual(back)
  later()
  await pay('payment')
  later()
  await pay('refund')
  expect(await first.now()).toEqual(['ended', undefined])
  const [resumed, paused, moved, over] = [await promised(), await promised(), await promised(), await promised()]
  await resumed.pause({ paused: false })
  for (const one of [resumed, paused, moved, over]) await one.set({ status: 'paid' })
  await paused.pause({ paused: true, until: '2026-03-09' })
  await moved.set({ clientEmail: 'other@kaveri.example' })
  for (const one of [resumed, paused, moved]) await one.set({ status: 'unpaid' })
  expect(await resumed.now()).toEqual(['open', undefined])
  expect(await paused.now()).toEqual(['open', '2026-03-09'])
  expect(await moved.now()).toEqual(['ended', undefined])
  app.clock.set('2026-03-21T09:00:00Z')
  const again = await signedInAgain(app, owner)
  await ask(app, again, invoiceCalls.update, { params: over.params, body: { status: 'unpaid' } })
  const { reply: it } = await ask(app, again, invoiceCalls.read, { params: over.params })
  const its = (await ask(app, again, payAnswerCalls.list)).reply.find(({ invoiceId }) => invoiceId === over.id)
  expect([its?.state, it.pause]).toEqual(['open', null])
})

test('pay links open after the secret key was rotated', async () => {
  await using app = await openPublic()
  const { owner, _id } = await anInvoice(app)
  const { reply } = await ask(app, owner, payLinkCalls.create, { params: { id: _id } })
  const rotated = `another secret key for tests, 32 characters\n${app.deps.config.secretKey}`
  expect(await reseal(app.db, rotated, sealedPayLinks)).toEqual({ done: 1, closed: 0 })
  app.deps.config.secretKey = rotated
  expect((await ask(app, owner, payLinkCalls.create, { params: { id: _id } })).reply).toEqual(reply)
  expect((await open(app, new URL(reply.url).pathname)).statusCode).toBe(200)
})

test('a pay link whose key is gone is replaced by one that opens', async () => {
  await using app = await openPublic()
  const { owner, _id } = await anInvoice(app)
  const before = await linkOf(app, owner, _id)
  app.deps.config.secretKey = 'another secret key for tests, 32 characters'
  const again = await signedInAgain(app, owner)
  const after = await linkOf(app, again, _id)
  expect((await open(app, before)).statusCode).toBe(404)
  expect((await open(app, after)).statusCode).toBe(200)
  expect(await linkOf(app, again, _id)).toBe(after)
})

test('GET /server says whether clients can reach the pay pages', async () => {
  await using app = await openPublic()
  expect((await ask(app, null, accountCalls.server)).reply.payLinks).toBe(true)
})

async function answered(app: TestApp, fields: Record<string, string>) {
  const { owner, _id: id } = await anInvoice(app)
  const path = await linkOf(app, owner, id)
  await post(app, `${path}/answer`, fields)
  const [answer] = (await ask(app, owner, payAnswerCalls.list)).reply
  if (!answer) throw new Error('The answer was not stored.')
  const invoice = async () => (await ask(app, owner, invoiceCalls.read, { params: { id } })).reply
  return { owner, id, path, answer, invoice, params: { id: answer._id } }
}

test('accepting “I have paid” records the payment once, with what the owner corrected', async () => {
  await using app = await openPublic()
  const { owner, answer, invoice, params } = await answered(app, { kind: 'paid', date: '2026-03-01', amount: '5000', reference: 'UTR 1' })
  expect(answer).toMatchObject({ kind: 'paid', amount: 5000, date: '2026-03-01', reference: 'UTR 1', state: 'open' })
  const { reply } = await ask(app, owner, payAnswerCalls.accept, { params, body: { amount: 2000, method: 'upi' } })
  expect(reply).toMatchObject({ state: 'accepted', invoice: { balance: 3000 } })
  expect(await invoice()).toMatchObject({ amountPaid: 2000, balance: 3000, pause: null })
  expect((await ask(app, owner, payAnswerCalls.accept, { params, body: {} })).problem?.code).toBe('conflict')
  expect((await ask(app, owner, noticeCalls.list)).reply).toEqual([])
})

test('“Not received” resumes the reminders, and the page asks to check the payment', async () => {
  await using app = await openPublic()
  const { owner, path, invoice, params } = await answered(app, { kind: 'paid', date: '2026-03-01', amount: '5000', reference: 'UTR 1' })
  expect((await ask(app, owner, payAnswerCalls.decline, { params })).reply.state).toBe('declined')
  expect((await invoice()).pause).toBeNull()
  expect(textOf((await open(app, path)).body)).toContain('Asha Rao could not find this payment yet. Please check it, or write to them.')
})

test('an accepted promise keeps its pause', async () => {
  await using app = await openPublic()
  const { owner, invoice, params } = await answered(app, { kind: 'promise', date: '2026-03-20' })
  await ask(app, owner, payAnswerCalls.accept, { params, body: {} })
  expect((await invoice()).pause).toMatchObject({ until: '2026-03-20', because: 'promised' })
})

test.each([
  ['an open answer', { kind: 'paid', date: '2026-03-01', amount: '5000', reference: 'UTR 1' }, false],
  ['an open promise', { kind: 'promise', date: '2026-03-20' }, false],
  ['an accepted promise', { kind: 'promise', date: '2026-03-20' }, true],
])('a pause of many invoices that is undone leaves that of %s as it was', async (_of, fields, accepted) => {
  await using app = await openPublic()
  const { owner, id, path, invoice, params } = await answered(app, fields)
  if (accepted) await ask(app, owner, payAnswerCalls.accept, { params, body: {} })
  const { pause } = await invoice()
  if (!pause) throw new Error('An answer pauses its invoice.')
  const change = (until: string | null, promised: boolean, note = '') =>
    ask(app, owner, invoiceCalls.bulkChange, { body: { ids: [id], change: { do: 'pause', until, note, promised } } })
  await change('2026-03-31', false)
  expect((await invoice()).pause).toMatchObject({ until: '2026-03-31', because: 'owner' })
  await change(pause.until, pause.promised)
  expect((await invoice()).pause).toEqual(pause)
  await change(pause.until, pause.promised, 'Called them')
  expect((await invoice()).pause).toMatchObject({ because: 'owner' })
  await change(pause.until, pause.promised)
  await post(app, `${path}/take-back`, {})
  expect((await invoice()).pause).toEqual(accepted ? pause : null)
})

/** An accepted promise until a day, and what follows it. */
async function promised(app: TestApp, date: string) {
  const its = await answered(app, { kind: 'promise', date })
  const { owner, path, params, id } = its
  await ask(app, owner, payAnswerCalls.accept, { params, body: {} })
  const say = async (fields: Record<string, string>) => {
    app.clock.advance({ minutes: 5 })
    await post(app, `${path}/answer`, fields)
  }
  const decide = async (call: 'accept' | 'decline', body = {}) => {
    const open = (await ask(app, owner, payAnswerCalls.list)).reply.find(({ state }) => state === 'open')
    await ask(app, owner, payAnswerCalls[call], { params: { id: open?._id ?? '' }, body })
  }
  const resume = () => ask(app, owner, invoiceCalls.pause, { params: { id }, body: { paused: false } })
  return { ...its, say, decide, resume }
}
const question = { kind: 'question', message: 'Could you send the PDF again?' }
const hasPaid = { kind: 'paid', date: '2026-03-01', amount: '2000', reference: 'UTR 1' }
const wrongPerson = { kind: 'wrong_person', wrong: 'yes', name: '', email: '' }

test.each<[string, (its: Awaited<ReturnType<typeof promised>>, app: TestApp) => Promise<unknown>]>([
  ['a question is settled', async ({ say, decide }) => [await say(question), await decide('accept')]],
  ['a question is taken back', async ({ say, path }, app) => [await say(question), await post(app, `${path}/take-back`, {})]],
  ['a payment is not received', async ({ say, decide }) => [await say(hasPaid), await decide('decline')]],
  ['a part is recorded', async ({ say, decide }) => [await say(hasPaid), await decide('accept')]],
  ['the contact is kept', async ({ say, decide }) => [await say(wrongPerson), await decide('decline')]],
  [
    'a later promise is taken back',
    async ({ say, path }, app) => [await say({ kind: 'promise', date: '2026-03-25' }), await post(app, `${path}/take-back`, {})],
  ],
  [
    'an answer is not decided',
    async ({ say }, app) => {
      await say(hasPaid)
      app.clock.set('2026-03-19T09:00:00Z')
      await app.runJobs()
    },
  ],
])('an accepted promise outlasts other answers: %s', async (_what, follow) => {
  await using app = await openPublic()
  const its = await promised(app, '2026-03-20')
  await follow(its, app)
  const again = await signedInAgain(app, its.owner)
  const read = async () => (await ask(app, again, invoiceCalls.read, { params: { id: its.id } })).reply.pause
  expect(await read()).toMatchObject({ until: '2026-03-20', promised: true })
  app.clock.set('2026-03-21T09:00:00Z')
  await app.runJobs()
  const later = await signedInAgain(app, its.owner)
  expect((await ask(app, later, invoiceCalls.read, { params: { id: its.id } })).reply.pause).toBeNull()
  expect((await ask(app, later, noticeCalls.list)).reply.map(({ kind }) => kind)).toContain('promise_broken')
})

test('no other answer shortens an accepted promise, and one that waits longer prolongs its pause', async () => {
  await using app = await openPublic()
  const { say, invoice } = await promised(app, '2026-03-30')
  await say(question)
  expect((await invoice()).pause).toMatchObject({ until: '2026-03-30', because: 'question', promised: true })
  await say({ kind: 'promise', date: '2026-04-01' })
  expect((await invoice()).pause).toMatchObject({ until: '2026-04-01', because: 'promised', promised: true })
})

test('an accepted promise comes back with what a payment had closed', async () => {
  await using app = await openPublic()
  const { say, invoice, owner, id } = await promised(app, '2026-03-30')
  await say(question)
  const set = (change: InvoiceChange) => ask(app, owner, invoiceCalls.update, { params: { id }, body: change })
  await set({ status: 'paid' })
  app.clock.advance({ minutes: 1 })
  await set({ status: 'unpaid' })
  expect((await invoice()).pause).toMatchObject({ until: '2026-03-30', because: 'question', promised: true })
})

test('a decision answers what its invoice still waits for', async () => {
  await using app = await openPublic()
  const { owner, id, say } = await promised(app, '2026-03-20')
  const settle = async () => {
    await say(question)
    const open = (await ask(app, owner, payAnswerCalls.list)).reply.find(({ state }) => state === 'open')
    return (await ask(app, owner, payAnswerCalls.accept, { params: { id: open?._id ?? '' }, body: {} })).reply.pause
  }
  expect(await settle()).toMatchObject({ until: '2026-03-20', because: 'promised' })
  const pause = (body: CallInput<typeof invoiceCalls.pause>['body']) => ask(app, owner, invoiceCalls.pause, { params: { id }, body })
  await pause({ paused: false })
  expect(await settle()).toBeNull()
  await pause({ paused: true, scope: 'client' })
  expect(await settle()).toMatchObject({ until: null, scope: 'client' })
})

test('an accepted promise does not come back after the owner resumed reminders, declined a later one or changed the contact', async () => {
  await using app = await openPublic()
  const resumed = await promised(app, '2026-03-20')
  await resumed.resume()
  await resumed.say(question)
  expect((await resumed.invoice()).pause).toMatchObject({ until: '2026-03-16', promised: false })
  await resumed.decide('accept')
  expect((await resumed.invoice()).pause).toBeNull()

  const declined = await promised(app, '2026-03-20')
  await declined.say({ kind: 'promise', date: '2026-03-25' })
  await declined.decide('decline')
  expect((await declined.invoice()).pause).toBeNull()
  await declined.say(question)
  await declined.decide('accept')
  expect((await declined.invoice()).pause).toBeNull()

  const moved = await promised(app, '2026-03-20')
  await moved.say({ ...wrongPerson, email: 'ravi@kaveri.example' })
  await moved.decide('accept')
  expect((await moved.invoice()).pause).toBeNull()
})

test('an accepted promise pauses until its day, also where 30 days of the client’s word are over before', async () => {
  await using app = await openPublic()
  const { owner, id, path, params } = await answered(app, { kind: 'paid', date: '2026-03-01', amount: '5000', reference: 'UTR 1' })
  app.clock.advance({ hours: 48 })
  await ask(app, owner, payAnswerCalls.decline, { params })
  app.clock.advance({ hours: 24 })
  await post(app, `${path}/answer`, { kind: 'promise', date: '2026-04-04' })
  const read = async () => (await ask(app, owner, invoiceCalls.read, { params: { id } })).reply.pause
  // Not a day that the client named.
  expect(await read()).toMatchObject({ until: '2026-04-01', because: 'promised', promised: false })
  const [promise] = (await ask(app, owner, payAnswerCalls.list)).reply
  await ask(app, owner, payAnswerCalls.accept, { params: { id: promise?._id ?? '' }, body: {} })
  expect(await read()).toMatchObject({ until: '2026-04-04', because: 'promised', promised: true })
})

test('a promise that was not decided before its pause ended is not reported as broken', async () => {
  await using app = await openPublic()
  const { owner, path, params } = await answered(app, { kind: 'paid', date: '2026-03-01', amount: '5000', reference: 'UTR 1' })
  app.clock.advance({ hours: 48 })
  await ask(app, owner, payAnswerCalls.decline, { params })
  await post(app, `${path}/answer`, { kind: 'promise', date: '2026-04-03' })
  app.clock.set('2026-04-02T09:00:00Z')
  await app.runJobs()
  const again = await signedInAgain(app, owner)
  expect((await ask(app, again, noticeCalls.list)).reply.map(({ kind, title }) => [kind, title])).toEqual([
    ['answer_lapsed', 'Kaveri Foods will pay INV-0001 by 03/04/2026, and nothing was decided'],
    ['client_answered', 'Kaveri Foods will pay INV-0001 by 03/04/2026'],
  ])
})

test.each([
  ['a shorter one of the owner', '2026-03-10', { until: '2026-03-20', because: 'promised', promised: true, note: 'Called them' }],
  ['not a longer one', '2026-03-30', { until: '2026-03-30', because: 'owner', promised: false }],
  ['nor one without an end', null, { until: null, because: 'owner', promised: false }],
])('an accepted promise replaces a pause: %s', async (_which, until, expected) => {
  await using app = await openPublic()
  const { owner, _id: id } = await anInvoice(app)
  await ask(app, owner, invoiceCalls.pause, { params: { id }, body: { paused: true, until, note: 'Called them' } })
  await post(app, `${await linkOf(app, owner, id)}/answer`, { kind: 'promise', date: '2026-03-20' })
  const [notice] = (await ask(app, owner, noticeCalls.list)).reply
  const day = until === null ? '' : ` until ${until.split('-').reverse().join('/')}`
  expect(notice?.text).toBe(`You have paused its reminders${day}.`)
  const [answer] = (await ask(app, owner, payAnswerCalls.list)).reply
  await ask(app, owner, payAnswerCalls.accept, { params: { id: answer?._id ?? '' }, body: {} })
  expect((await ask(app, owner, invoiceCalls.read, { params: { id } })).reply.pause).toMatchObject(expected)
})

test('after an accepted promise the client can still say that they have paid, and its day ends the message', async () => {
  await using app = await openPublic()
  const { owner, path, params, invoice } = await answered(app, { kind: 'promise', date: '2026-03-20' })
  await ask(app, owner, payAnswerCalls.accept, { params, body: {} })
  const known = 'Thank you. Asha Rao knows that you will pay by 20/03/2026.'
  const page = textOf((await open(app, path)).body)
  for (const shown of [known, 'Something else?', 'I have paid']) expect(page).toContain(shown)
  expect(page).not.toContain('Take this back')
  app.clock.advance({ hours: 19 * 24 })
  expect(textOf((await open(app, path)).body)).not.toContain(known)
  await post(app, `${path}/answer`, { kind: 'paid', date: '2026-03-20', amount: '5000', reference: 'UTR 1' })
  expect((await invoice()).pause).toMatchObject({ because: 'says_paid' })
})

test('a link stays dead after the address of the client was changed and set back', async () => {
  await using app = await openPublic()
  const { owner, _id: id } = await anInvoice(app)
  const change = (clientEmail: string) => ask(app, owner, invoiceCalls.update, { params: { id }, body: { clientEmail } })
  const path = await linkOf(app, owner, id)
  await change('Billing@Kaveri.example')
  expect((await open(app, path)).statusCode).toBe(200)
  await change('other@kaveri.example')
  await change('billing@kaveri.example')
  expect((await open(app, path)).statusCode).toBe(404)
  expect((await open(app, await linkOf(app, owner, id))).statusCode).toBe(200)
})

test('what the former contact said ends with their address, and the next one does not read it', async () => {
  await using app = await openPublic()
  const owner = await aPerson(app)
  const made = async (fields: Record<string, string>, throughStatement: boolean) => {
    const { _id: id } = await anInvoice(app, { owner })
    const [client] = (await ask(app, owner, clientCalls.list)).reply
    const statement = await ask(app, owner, payLinkCalls.createStatement, { params: { id: client?._id ?? '' } })
    const path = throughStatement ? `${new URL(statement.reply.url).pathname}/${id}` : await linkOf(app, owner, id)
    await post(app, `${path}/answer`, fields)
    app.clock.advance({ minutes: 1 })
    return id
  }
  const paid = { kind: 'paid', date: '2026-03-01', amount: '5000', reference: 'UTR 1' }
  const undecided = await made(paid, false)
  const declined = await made(paid, true)
  const [newest] = (await ask(app, owner, payAnswerCalls.list)).reply
  await ask(app, owner, payAnswerCalls.decline, { params: { id: newest?._id ?? '' } })
  for (const id of [undecided, declined]) {
    const { reply } = await ask(app, owner, invoiceCalls.update, { params: { id }, body: { clientEmail: 'ravi@kaveri.example' } })
    expect(reply.pause).toBeNull()
    const page = textOf((await open(app, await linkOf(app, owner, id))).body)
    expect(page).toContain('Something else?')
    expect(page).not.toMatch(/You told|could not find/)
  }
  expect((await ask(app, owner, payAnswerCalls.list)).reply.map(({ state }) => state)).toEqual(['declined', 'ended'])
  expect((await ask(app, owner, noticeCalls.list)).reply).toEqual([])
  const path = await linkOf(app, owner, undecided)
  await post(app, `${path}/answer`, { kind: 'question', message: 'Which order is this?' })
  expect(textOf((await open(app, path)).body)).toContain('Your message was sent.')
})

test('after another currency the amount of an answer is asked for', async () => {
  await using app = await openPublic()
  const { owner, id, params, invoice } = await answered(app, { kind: 'paid', date: '2026-03-01', amount: '3000', reference: 'UTR 1' })
  await ask(app, owner, invoiceCalls.update, { params: { id }, body: { currency: 'JPY' } })
  expect((await ask(app, owner, payAnswerCalls.list)).reply).toMatchObject([{ amount: null, reference: 'UTR 1', state: 'open' }])
  expect((await ask(app, owner, payAnswerCalls.accept, { params, body: {} })).problem).toMatchObject({ errors: [{ path: 'amount' }] })
  await ask(app, owner, payAnswerCalls.accept, { params, body: { amount: 3000 } })
  expect(await invoice()).toMatchObject({ amountPaid: 3000, balance: 2000, currency: 'JPY' })
})

test('a new contact is taken over, and the old link is dead', async () => {
  await using app = await openPublic()
  const { owner, path, invoice, params } = await answered(app, {
    kind: 'wrong_person',
    wrong: 'yes',
    name: 'Ravi',
    email: 'ravi@kaveri.example',
  })
  await ask(app, owner, payAnswerCalls.accept, { params, body: {} })
  expect(await invoice()).toMatchObject({ clientName: 'Ravi', clientEmail: 'ravi@kaveri.example', pause: null })
  expect((await open(app, path)).statusCode).toBe(404)
})

test('a contact needs an email', async () => {
  await using app = await openPublic()
  const { owner, params } = await answered(app, { kind: 'wrong_person', wrong: 'yes', name: '', email: '' })
  expect((await ask(app, owner, payAnswerCalls.accept, { params, body: {} })).problem).toMatchObject({ errors: [{ path: 'clientEmail' }] })
  expect((await ask(app, owner, payAnswerCalls.list)).reply[0]?.state).toBe('open')
})

test('an email says how to pay, with the code, and a new version of the details is never sent with old bytes', async () => {
  await using office = await anOffice({ now, invoices: 1, config: { publicUrl: 'https://duely.example', payLinks: true } })
  const { app, asha, smtp } = office
  await ask(app, asha, paymentSettingsCalls.save, { body: { upi } })
  smtp.answer({ rcpt: () => '450 4.2.0 Try later' })
  await app.whileJobsRun(ask(app, asha, reminderCalls.sendNow))
  smtp.answer({})
  // The clock has not moved.
  await ask(app, asha, paymentSettingsCalls.save, { body: { upi: { ...upi, id: 'new@okaxis' } } })
  app.clock.advance({ minutes: 10 })
  await app.runJobs()
  const sent = await Promise.all(smtp.mails.map(({ raw }) => PostalMime.parse(raw)))
  const { text = '', html = '', attachments = [] } = sent.at(-1) ?? {}
  expect(text).toContain('UPI ID: new@okaxis')
  expect(text).toMatch(/Pay ₹5,000\.00: https:\/\/duely\.example\/pay\/[\w-]{43}\r\n/)
  expect(html).toContain('<img src="cid:upi-qr@duely"')
  expect(attachments).toMatchObject([{ contentId: '<upi-qr@duely>', mimeType: 'image/png', disposition: 'inline' }])
  expect((await open(app, /\/pay\/[\w-]{43}/.exec(text)?.[0] ?? '')).statusCode).toBe(200)
})

test('the codes of email, page, part and statement are read as exactly what they ask for: the balance', async () => {
  await using office = await anOffice({ now, invoices: 1, config: { publicUrl: 'https://duely.example', payLinks: true } })
  const { app, asha, smtp } = office
  const [invoice] = (await ask(app, asha, invoiceCalls.list, { query: {} })).reply
  const id = invoice?._id ?? ''
  const iban = { kind: 'iban', accountName: 'Neem GmbH', iban: 'DE89370400440532013000', bic: 'COBADEFFXXX' } as const
  await ask(app, asha, paymentSettingsCalls.save, { body: { upi, bank: iban } })
  await ask(app, asha, paymentCalls.record, { params: { id }, body: { amount: 1_999.5 } })
  await app.whileJobsRun(ask(app, asha, reminderCalls.sendNow))
  const [{ attachments = [] } = {}] = await Promise.all(smtp.mails.map(({ raw }) => PostalMime.parse(raw)))
  const upiOf = (amount: string, reference: string) => `upi://pay?pa=asha@okaxis&pn=Asha%20Traders&am=${amount}&cu=INR&tn=${reference}`
  expect(readQrPng(new Uint8Array(attachments[0]?.content as ArrayBuffer))).toBe(upiOf('3000.50', 'INV-0001'))
  const path = await linkOf(app, asha, id)
  const codes = async (url: string) => readQrCodes((await open(app, url)).body)
  expect(await codes(path)).toEqual([{ label: 'UPI QR code for ₹3,000.50', text: upiOf('3000.50', 'INV-0001') }])
  expect((await codes(`${path}?amount=120.25`)).map(({ text }) => text)).toEqual([upiOf('120.25', 'INV-0001')])

  const inEuro = { owner: asha, currency: 'EUR', clientEmail: 'ap@neem.example' }
  const { _id: first } = await anInvoice(app, { ...inEuro, amount: 1_250 })
  await anInvoice(app, { ...inEuro, amount: 80.5 })
  const epcOf = (amount: string, reference: string) =>
    `BCD\n002\n1\nSCT\nCOBADEFFXXX\nNeem GmbH\nDE89370400440532013000\nEUR${amount}\n\n\n${reference}`
  expect((await codes(await linkOf(app, asha, first))).map(({ text }) => text)).toEqual([epcOf('1250.00', 'INV-0002')])
  const neem = (await ask(app, asha, clientCalls.list)).reply.find(({ email }) => email === inEuro.clientEmail)
  const { url } = (await ask(app, asha, payLinkCalls.createStatement, { params: { id: neem?._id ?? '' } })).reply
  expect((await codes(new URL(url).pathname)).map(({ text }) => text)).toEqual([epcOf('1330.50', 'INV-0002 INV-0003')])
})

test('the statement of a client lists the open invoices of their email with their sum, each with its own page', async () => {
  await using app = await openPublic()
  const { owner, _id } = await anInvoice(app)
  await anInvoice(app, { owner, amount: 1200, clientEmail: 'Billing@Kaveri.example' })
  await anInvoice(app, { owner, amount: 70, clientEmail: 'other@client.example', reference: 'OTHER-7' })
  await ask(app, owner, paymentSettingsCalls.save, { body: { upi } })
  const all = (await ask(app, owner, clientCalls.list)).reply
  const id = all.find(({ email }) => email.toLowerCase() === 'billing@kaveri.example')?._id ?? ''
  const { url } = (await ask(app, owner, payLinkCalls.createStatement, { params: { id } })).reply
  const path = new URL(url).pathname
  const statement = textOf((await open(app, path)).body)
  for (const shown of ['₹6,200.00 to pay', 'INV-0001', 'INV-0002', '₹1,200.00']) expect(statement).toContain(shown)
  expect(statement).not.toContain('OTHER-7')
  expect(textOf((await open(app, `${path}/${_id}`)).body)).toContain('₹5,000.00 to pay')
  await ask(app, owner, payLinkCalls.revokeStatement, { params: { id } })
  expect((await open(app, path)).statusCode).toBe(404)
})

test('the page names Duely, until the plan of its business has white-label or where nothing is sold', async () => {
  const named = async (app: TestApp, owner: Person) => {
    const { _id } = await anInvoice(app, { owner })
    return textOf((await open(app, await linkOf(app, owner, _id))).body).includes('Sent with Duely')
  }
  await using shop = await openShop({ now, config: { publicUrl: 'https://duely.example', payLinks: true } })
  const asha = await aPerson(shop.app)
  expect(await named(shop.app, asha)).toBe(true)
  await buyOnce(shop, asha, 'enterprise')
  expect(await named(shop.app, asha)).toBe(false)
  await using app = await openPublic()
  expect(await named(app, await aPerson(app))).toBe(false)
})
