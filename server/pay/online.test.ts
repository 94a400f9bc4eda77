// Also on PostgreSQL: webhooks arrive at the same time.
import { createHmac } from 'node:crypto'
import { eq, sql } from 'drizzle-orm'
import PostalMime from 'postal-mime'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { accountCalls } from '#contract/accounts.ts'
import { invoiceCalls } from '#contract/invoices.ts'
import { noticeCalls } from '#contract/notices.ts'
import { payLinkCalls } from '#contract/pay-links.ts'
import { paymentSettingsCalls } from '#contract/payment-settings.ts'
import { paymentCalls } from '#contract/payments.ts'
import { reminderCalls } from '#contract/reminders.ts'
import { deletePerson } from '#server/accounts/accounts.ts'
import { people } from '#server/accounts/tables.ts'
import { rows } from '#server/platform/database.ts'
import { reseal } from '#server/platform/reseal.ts'
import { type Business, keySecret, openBusiness, pageOf, pass, post, start } from '#test/business.ts'
import { aMailbox, anInvoice, aPerson, signedInAgain } from '#test/factories.ts'
import { openFakeSmtp } from '#test/fakes/smtp-server.ts'
import { ask } from '#test/harness.ts'
import { seeded } from '#test/seeded.ts'
import { times } from '#test/thorough.ts'
import { payOnAccountDeleted } from './confirm.ts'
import { sealedPayKeys } from './keys.ts'

const invoiceOf = async ({ app, asha }: Business, id: string) => (await ask(app, asha, invoiceCalls.read, { params: { id } })).reply
const paymentsOf = async ({ app, asha }: Pick<Business, 'app' | 'asha'>, id: string) =>
  (await ask(app, asha, paymentCalls.list, { params: { id } })).reply
const noticesOf = async ({ app, asha }: Business) =>
  (await ask(app, asha, noticeCalls.list)).reply.filter(({ kind }) => kind !== 'payment_settings').map(({ title }) => title)
const states = async ({ app }: Pick<Business, 'app'>) =>
  (await rows(app.db, z.object({ state: z.string() }), sql`SELECT state FROM pay_attempts ORDER BY id`)).map(({ state }) => state)

test('keys are tried before they are stored, and refused in the words of Razorpay', async () => {
  await using business = await openBusiness()
  const { app, asha } = business
  const meera = await aPerson(app)
  const connect = (body: { keyId: string; keySecret: string }) => ask(app, meera, paymentSettingsCalls.connectRazorpay, { body })
  expect((await connect({ keyId: 'rzp_live_FakeFakeFake01', keySecret: 'wrong-secret' })).problem).toMatchObject({
    code: 'invalid',
    message: 'Razorpay refused these keys: Authentication failed',
  })
  expect((await ask(app, meera, paymentSettingsCalls.read)).reply.razorpay).toBeNull()
  const { reply } = await ask(app, asha, paymentSettingsCalls.read)
  expect(reply.razorpay).toEqual({
    keyId: 'rzp_live_FakeFakeFake01',
    webhookUrl: expect.stringMatching(/^https:\/\/duely\.example\/payment-hooks\/razorpay\/[\w-]{36}$/),
    since: '2026-03-02T09:00:00Z',
    handedOver: false,
  })
  expect(JSON.stringify(reply)).not.toContain(business.hook.secret)
  const stored = await rows(app.db, z.object({ row: z.string() }), sql`SELECT to_json(t)::text AS row FROM pay_keys t`)
  for (const secret of [keySecret, business.hook.secret]) expect(JSON.stringify(stored)).not.toContain(secret)
  expect((await ask(app, asha, accountCalls.audit, { query: {} })).reply.map(({ text }) => text)).toEqual([
    'How clients pay you was changed.',
  ])
  for (let tried = 0; tried < 9; tried += 1) await connect({ keyId: 'rzp_live_FakeFakeFake01', keySecret: 'wrong-secret' })
  expect((await connect({ keyId: 'rzp_live_FakeFakeFake01', keySecret })).status).toBe(429)
})

test('keys need the password of the account, to connect and to disconnect', async () => {
  await using business = await openBusiness()
  const { app } = business
  const password = 'correct horse'
  const meera = await aPerson(app, { password })
  const body = { keyId: 'rzp_live_FakeFakeFake01', keySecret }
  expect((await ask(app, meera, paymentSettingsCalls.connectRazorpay, { body })).problem?.code).toBe('wrong_password')
  expect((await ask(app, meera, paymentSettingsCalls.connectRazorpay, { body: { ...body, currentPassword: password } })).status).toBe(200)
  expect((await ask(app, meera, paymentSettingsCalls.disconnectRazorpay, {})).problem?.code).toBe('wrong_password')
  const gone = await ask(app, meera, paymentSettingsCalls.disconnectRazorpay, { body: { currentPassword: password } })
  expect(gone.reply.razorpay).toBeNull()
})

test('a client pays online: the page leads to Razorpay, and the payment is recorded once it is asked', async () => {
  await using business = await openBusiness()
  const { app, razorpay } = business
  const { _id } = await anInvoice(app, { owner: business.asha })
  const page = await pageOf(business, _id)
  const shown = await app.app.inject(page)
  for (const text of ['Pay online', 'Pay ₹5,000.00 online', 'Asha Rao is told at once.']) expect(shown.body).toContain(text)
  const filled = await post(app, `${page}/online`, { amount: '5000', of: '5000', website: 'x' })
  expect([filled.statusCode, filled.body.match(/role="(?:alert|status)">[^<]+|<div><label for="[a-z_]+-website/g)]).toEqual([
    400,
    ['role="alert">Please leave the last field empty.', '<div><label for="online-website'],
  ])
  const link = await start(business, page)
  expect(razorpay.asked.at(-1)?.body).toMatchObject({
    amount: 500_000,
    currency: 'INR',
    accept_partial: false,
    notify: { sms: false, email: false },
    reminder_enable: false,
    description: 'Invoice INV-0001',
    callback_url: `https://duely.example${page}`,
  })
  expect(razorpay.asked.at(-1)?.body).not.toHaveProperty('customer')
  const back = new URL(razorpay.provider.callbackOf(link, razorpay.provider.payLink(link)))
  const confirming = await app.app.inject(back.pathname + back.search)
  expect(confirming.body).toContain('Your payment is being confirmed.')
  // What the address claims changes nothing.
  expect((await invoiceOf(business, _id)).status).not.toBe('paid')
  await pass(business, { seconds: 20 })
  expect(await invoiceOf(business, _id)).toMatchObject({ status: 'paid', balance: 0, overpaid: 0, paidOn: '2026-03-02' })
  const [payment] = await paymentsOf(business, _id)
  expect(payment).toMatchObject({ origin: 'razorpay', amount: 5000, method: 'card', reference: expect.stringMatching(/^pay_/) })
  expect((await app.app.inject(back.pathname + back.search)).body).toContain('Paid. <small>Thank you.</small>')
  expect(await noticesOf(business)).toEqual(['Kaveri Foods paid INV-0001 online'])
  const params = { id: _id, pid: payment?._id ?? '' }
  expect((await ask(app, business.asha, paymentCalls.takeBack, { params })).problem).toMatchObject({
    code: 'conflict',
    message: 'This payment came from Razorpay. Refund it there; it is then taken off here by itself.',
  })
})

test('reminders lead to the pay page once Razorpay is connected, and not with test keys', async () => {
  for (const [keyId, leads] of [
    ['rzp_live_FakeFakeFake01', true],
    ['rzp_test_FakeFakeFake01', false],
  ] as const) {
    await using smtp = await openFakeSmtp()
    await using business = await openBusiness({ keyId })
    const { app, asha } = business
    await aMailbox(app, asha, smtp)
    await anInvoice(app, { owner: asha })
    await app.whileJobsRun(ask(app, asha, reminderCalls.sendNow, { body: null }))
    const { text = '' } = await PostalMime.parse(smtp.mails[0]?.raw ?? '')
    expect(text.includes('Pay ₹5,000.00: https://duely.example/pay/')).toBe(leads)
  }
})

test('a webhook makes Duely ask immediately, is answered once for each event, and decides nothing', async () => {
  await using business = await openBusiness()
  const { app, razorpay, hook } = business
  const { _id } = await anInvoice(app, { owner: business.asha })
  const link = await start(business, await pageOf(business, _id))
  const before = razorpay.provider.events.length
  razorpay.provider.payLink(link)
  for (const event of razorpay.provider.events.slice(before)) expect(await business.deliver(event)).toBe(200)
  await app.runJobs()
  expect(await invoiceOf(business, _id)).toMatchObject({ status: 'paid' })
  // Events of an order do not name the link: what is about other links of the business is not kept.
  expect(await rows(app.db, z.object({ name: z.string() }), sql`SELECT name FROM pay_events`)).toEqual([{ name: 'payment_link.paid' }])
  // A new secret: events that were signed with the one before are still taken.
  const [event] = razorpay.provider.events.filter(({ name }) => name === 'payment_link.paid')
  await ask(app, business.asha, paymentSettingsCalls.connectRazorpay, { body: { keyId: 'rzp_live_FakeFakeFake01', keySecret } })
  if (event) expect(await business.deliver(event)).toBe(200)
  expect((await app.app.inject({ method: 'POST', url: `${hook.path.slice(0, -3)}000`, payload: '{}' })).statusCode).toBe(404)
})

test('lost, late, doubled and shuffled webhooks record each payment once', async () => {
  await using business = await openBusiness()
  const { app, razorpay } = business
  for (let seed = 1; seed <= times(8, 200); seed += 1) {
    const random = seeded(seed)
    const { _id } = await anInvoice(app, { owner: business.asha, amount: 100 + seed })
    const link = await start(business, await pageOf(business, _id), 100 + seed)
    const before = razorpay.provider.events.length
    razorpay.provider.payLink(link)
    const events = razorpay.provider.events.slice(before).flatMap((event) => [event, event, event])
    const sent = events.filter(() => random() < 0.7).map((event) => ({ event, at: random() }))
    for (const { event } of sent.toSorted((a, b) => a.at - b.at)) {
      expect(await business.deliver(event)).toBe(200)
      if (random() < 0.3) await app.runJobs()
    }
    await pass(business, { seconds: 120 })
    expect(await paymentsOf(business, _id)).toHaveLength(1)
    expect(await invoiceOf(business, _id)).toMatchObject({ status: 'paid', overpaid: 0 })
  }
})

test('a webhook that is forged, written again, or of another account changes nothing', async () => {
  await using business = await openBusiness()
  const { app, razorpay, hook } = business
  const { _id } = await anInvoice(app, { owner: business.asha })
  const link = await start(business, await pageOf(business, _id))
  razorpay.provider.payLink(link)
  const event = razorpay.provider.events.find(({ name }) => name === 'payment_link.paid')
  if (!event) throw new Error('Nothing was sent.')
  const send = (url: string, payload: string, signature: string) =>
    app.app.inject({ method: 'POST', url, payload, headers: { ...event.headers, 'x-razorpay-signature': signature } })
  const signature = event.headers['x-razorpay-signature']
  const rewritten = JSON.stringify(JSON.parse(event.body), null, 1)
  const statuses = [
    (await send(hook.path, event.body, 'f'.repeat(64))).statusCode,
    (await send(hook.path, rewritten, signature)).statusCode,
    (await send(hook.path, event.body, '')).statusCode,
  ]
  expect(statuses).toEqual([400, 400, 400])
  // Signed well, for a link of another account.
  const meera = await aPerson(app)
  const { reply } = await ask(app, meera, paymentSettingsCalls.connectRazorpay, { body: { keyId: 'rzp_live_FakeFakeFake01', keySecret } })
  const own = createHmac('sha256', reply.webhookSecret).update(event.body).digest('hex')
  expect((await send(new URL(reply.webhookUrl).pathname, event.body, own)).statusCode).toBe(200)
  expect((await send(hook.path, event.body, own)).statusCode).toBe(400)
  await app.runJobs()
  expect(await app.db.execute(sql`SELECT * FROM pay_events`)).toMatchObject({ rows: [] })
  expect(await paymentsOf(business, _id)).toEqual([])
})

test('another amount, a second payment and a deleted invoice are recorded as they are, and reported', async () => {
  await using business = await openBusiness()
  const { app, razorpay, asha } = business
  const [less, more, twice, deleted, foreign] = await Promise.all(
    ['LESS', 'MORE', 'TWICE', 'GONE', 'USD'].map((reference) => anInvoice(app, { owner: asha, reference })),
  )
  if (!less || !more || !twice || !deleted || !foreign) throw new Error('An invoice is missing.')
  const pay = async (id: string, about: { amount?: number; currency?: string; again?: boolean }) =>
    razorpay.provider.payLink(await start(business, await pageOf(business, id)), about)
  await pay(less._id, { amount: 300_000 })
  await pay(more._id, { amount: 550_000 })
  const link = await start(business, await pageOf(business, twice._id))
  razorpay.provider.payLink(link)
  razorpay.provider.payLink(link, { again: true })
  const gone = await start(business, await pageOf(business, deleted._id))
  razorpay.provider.payLink(gone)
  await ask(app, asha, invoiceCalls.remove, { params: { id: deleted._id } })
  await pay(foreign._id, { amount: 6_000, currency: 'USD' })
  await pass(business, { seconds: 40 })
  expect(await invoiceOf(business, less._id)).toMatchObject({ amountPaid: 3000, balance: 2000 })
  expect(await invoiceOf(business, more._id)).toMatchObject({ status: 'paid', overpaid: 500 })
  expect(await invoiceOf(business, twice._id)).toMatchObject({ status: 'paid', overpaid: 5000 })
  expect(await invoiceOf(business, foreign._id)).toMatchObject({ amountPaid: 0, balance: 5000 })
  expect((await noticesOf(business)).toSorted()).toEqual([
    'Kaveri Foods paid GONE online',
    'Kaveri Foods paid LESS online',
    'Kaveri Foods paid MORE online',
    'Kaveri Foods paid TWICE online',
    'Kaveri Foods paid TWICE online',
    'Kaveri Foods paid USD online',
    'MORE: ₹500.00 too much',
    'TWICE: ₹5,000.00 too much',
  ])
  const again = (await ask(app, asha, noticeCalls.list)).reply.filter(({ text }) => text.includes('The same payment link was paid before.'))
  expect(again.map(({ title }) => title)).toEqual(['Kaveri Foods paid TWICE online'])
  await ask(app, asha, invoiceCalls.restore, { params: { id: deleted._id } })
  expect(await invoiceOf(business, deleted._id)).toMatchObject({ status: 'paid' })
})

test('money that is only reserved is not recorded until it is captured', async () => {
  await using business = await openBusiness()
  const { app, razorpay } = business
  const { _id } = await anInvoice(app, { owner: business.asha })
  const payment = razorpay.provider.payLink(await start(business, await pageOf(business, _id)), { outcome: 'authorized' })
  await pass(business, { minutes: 5 })
  expect(await paymentsOf(business, _id)).toEqual([])
  await pass(business, { minutes: 71 })
  expect(await noticesOf(business)).toEqual(['Kaveri Foods paid INV-0001 online, and the money is not captured'])
  razorpay.provider.capture(payment.id)
  await pass(business, { hours: 24 })
  expect(await invoiceOf(business, _id)).toMatchObject({ status: 'paid' })
})

test('refunds at Razorpay are taken off in parts, each once, and the invoice is owed again', async () => {
  await using business = await openBusiness()
  const { app, razorpay } = business
  const { _id } = await anInvoice(app, { owner: business.asha })
  const payment = razorpay.provider.payLink(await start(business, await pageOf(business, _id)))
  await pass(business, { seconds: 20 })
  razorpay.provider.refund(payment.id, 100_000)
  const refunded = razorpay.provider.events.at(-1)
  for (let nth = 0; nth < 3; nth += 1) if (refunded) await business.deliver(refunded)
  await app.runJobs()
  expect(await invoiceOf(business, _id)).toMatchObject({ status: 'overdue', balance: 1000 })
  expect((await ask(app, business.asha, noticeCalls.list)).reply[0]).toMatchObject({
    kind: 'refunded_online',
    title: 'Razorpay refunded Kaveri Foods ₹1,000.00 for INV-0001',
    text: 'Duely took it off the recorded payments. INV-0001 is open with ₹1,000.00 to pay, and is reminded once past due.',
    link: `/dashboard/edit-invoice/${_id}`,
  })
  // This event is lost.
  razorpay.provider.refund(payment.id, 150_000)
  await pass(business, { hours: 25 })
  expect(await invoiceOf(business, _id)).toMatchObject({ balance: 2500 })
  await pass(business, { hours: 24 * 100 })
  const later = { ...business, asha: await signedInAgain(app, business.asha) }
  expect((await paymentsOf(later, _id)).map(({ kind, amount }) => [kind, amount])).toEqual([
    ['refund', 1500],
    ['refund', 1000],
    ['payment', 5000],
  ])
  expect(await noticesOf(later)).toEqual([
    'Razorpay refunded Kaveri Foods ₹1,500.00 for INV-0001',
    'Razorpay refunded Kaveri Foods ₹1,000.00 for INV-0001',
    'Kaveri Foods paid INV-0001 online',
  ])
})

test.each([
  [4500, 'only ₹500.00', [500]],
  [5000, 'nothing', []],
])('a refund of which %i was taken off by hand before gets one notice, and takes off %s', async (byHand, taken, amounts) => {
  await using business = await openBusiness()
  const { app, razorpay, asha } = business
  const { _id } = await anInvoice(app, { owner: asha })
  const payment = razorpay.provider.payLink(await start(business, await pageOf(business, _id)))
  await pass(business, { seconds: 20 })
  await ask(app, asha, paymentCalls.record, { params: { id: _id }, body: { kind: 'refund', amount: byHand } })
  razorpay.provider.refund(payment.id, 500_000)
  await pass(business, { hours: 25 })
  const [notice] = (await ask(app, asha, noticeCalls.list)).reply
  expect(notice).toMatchObject({
    title: 'Razorpay refunded Kaveri Foods ₹5,000.00 for INV-0001',
    text: `Duely took ${taken} off the recorded payments, because no more is recorded as paid. Please check them. INV-0001 is open with ₹5,000.00 to pay, and is reminded once past due.`,
  })
  const refunds = (await paymentsOf(business, _id)).filter(({ kind, origin }) => kind === 'refund' && origin === 'razorpay')
  expect(refunds.map(({ amount }) => amount)).toEqual(amounts)
  await ask(app, asha, noticeCalls.dismiss, { params: { id: notice?._id ?? '' } })
  await pass(business, { hours: 48 })
  expect(await noticesOf(business)).toEqual(['Kaveri Foods paid INV-0001 online'])
})

test.each(['disconnected', 'replaced'])(
  'after the keys are %s, refunds and second payments are still recorded for 90 days',
  async (how) => {
    await using business = await openBusiness()
    const { app, razorpay, asha } = business
    const { _id } = await anInvoice(app, { owner: asha })
    const link = await start(business, await pageOf(business, _id))
    const payment = razorpay.provider.payLink(link)
    await pass(business, { seconds: 20 })
    if (how === 'replaced') {
      const { keyId } = razorpay.settings
      const other = { keyId: 'rzp_live_OtherOther0002', keySecret }
      razorpay.settings.keyId = other.keyId
      expect((await ask(app, asha, paymentSettingsCalls.connectRazorpay, { body: other })).status).toBe(200)
      razorpay.settings.keyId = keyId
    } else await ask(app, asha, paymentSettingsCalls.disconnectRazorpay, {})
    razorpay.provider.payLink(link, { again: true })
    await pass(business, { minutes: 75 })
    expect(await invoiceOf(business, _id)).toMatchObject({ amountPaid: 10_000, overpaid: 5000 })
    razorpay.provider.refund(payment.id, 100_000)
    await pass(business, { hours: 24 })
    expect(await invoiceOf(business, _id)).toMatchObject({ amountPaid: 9000 })
    const keptSecrets = async () =>
      (await rows(app.db, z.object({ id: z.string() }), sql`SELECT id FROM pay_attempts WHERE sealed_secret IS NOT NULL`)).length
    expect(await keptSecrets()).toBe(1)
    await pass(business, { hours: 24 * 90 })
    expect(await keptSecrets()).toBe(0)
  },
)

test('a link whose making was not answered is found again, and no second one is made', async () => {
  await using business = await openBusiness()
  const { app, razorpay } = business
  const { _id } = await anInvoice(app, { owner: business.asha })
  const page = await pageOf(business, _id)
  razorpay.answer(({ method }, nth) =>
    method === 'POST' ? { status: 502, html: '<h1>Bad gateway</h1>', done: true } : nth < 5 ? 'reset' : undefined,
  )
  const failed = await post(app, `${page}/online`, { amount: '5000', of: '5000' })
  expect(failed.statusCode).toBe(502)
  expect(failed.body).toContain('The online payment could not be started. Nothing was charged. Please try again, or pay another way.')
  expect(failed.body).toContain('₹5,000.00')
  razorpay.answer(() => undefined)
  const link = await start(business, page)
  expect(razorpay.provider.links.size).toBe(1)
  razorpay.provider.payLink(link)
  await pass(business, { seconds: 20 })
  expect(await invoiceOf(business, _id)).toMatchObject({ status: 'paid' })
})

test('where Razorpay is away, the page stays and nothing is made; too many calls are no answer', async () => {
  await using business = await openBusiness()
  const { app, razorpay } = business
  const { _id } = await anInvoice(app, { owner: business.asha })
  const page = await pageOf(business, _id)
  razorpay.answer(() => ({ status: 429, body: { error: { description: 'Too many requests' } } }))
  expect((await post(app, `${page}/online`, { amount: '5000', of: '5000' })).statusCode).toBe(502)
  expect((await app.app.inject(page)).statusCode).toBe(200)
  await pass(business, { seconds: 40 })
  razorpay.answer(() => undefined)
  await pass(business, { seconds: 120 })
  expect(await states(business)).toEqual(['failed'])
  const link = await start(business, page)
  razorpay.provider.payLink(link)
  razorpay.answer(() => ({ status: 503, html: 'Away' }))
  await pass(business, { minutes: 60 })
  expect(await paymentsOf(business, _id)).toEqual([])
  razorpay.answer(() => undefined)
  await pass(business, { minutes: 10 })
  expect(await invoiceOf(business, _id)).toMatchObject({ status: 'paid' })
})

test('an open link of the same amount is used again for ten minutes; another amount cancels it', async () => {
  await using business = await openBusiness()
  const { app, razorpay } = business
  const { _id } = await anInvoice(app, { owner: business.asha })
  const page = await pageOf(business, _id)
  const first = await start(business, page)
  await pass(business, { minutes: 9 })
  expect(await start(business, page)).toBe(first)
  const part = await start(business, page, 3000, 5000)
  expect(part).not.toBe(first)
  await app.runJobs()
  expect(razorpay.provider.findLink(first).status).toBe('cancelled')
  await pass(business, { minutes: 11 })
  expect(await start(business, page, 3000, 5000)).not.toBe(part)
  expect((await app.app.inject(`${page}?amount=1200`)).body).toContain('Pay ₹1,200.00 online')
  const changed = await post(app, `${page}/online`, { amount: '5000', of: '4000' })
  expect([changed.statusCode, changed.body.includes('The amount has changed since you opened this page. Please look again.')]).toEqual([
    400,
    true,
  ])
})

test.each([
  [
    'the balance',
    (business: Business, id: string) => ask(business.app, business.asha, paymentCalls.record, { params: { id }, body: { amount: 2000 } }),
  ],
  ['the link', (business: Business, id: string) => ask(business.app, business.asha, payLinkCalls.revoke, { params: { id } })],
  [
    'the client',
    (business: Business, id: string) =>
      ask(business.app, business.asha, invoiceCalls.update, { params: { id }, body: { clientEmail: 'new@kaveri.example' } }),
  ],
  ['the keys', (business: Business) => ask(business.app, business.asha, paymentSettingsCalls.disconnectRazorpay, {})],
] as const)('an open link is cancelled within seconds once %s changes', async (_what, change) => {
  await using business = await openBusiness()
  const { app, razorpay } = business
  const { _id } = await anInvoice(app, { owner: business.asha })
  const link = await start(business, await pageOf(business, _id))
  expect((await change(business, _id)).status).toBeLessThan(300)
  await app.runJobs()
  expect(razorpay.provider.findLink(link).status).toBe('cancelled')
  expect(await states(business)).toEqual(['cancelled'])
})

test('a link that turns out to be paid when it is to be cancelled is recorded', async () => {
  await using business = await openBusiness()
  const { app, razorpay } = business
  const { _id } = await anInvoice(app, { owner: business.asha })
  const link = await start(business, await pageOf(business, _id))
  razorpay.provider.payLink(link)
  await ask(app, business.asha, paymentCalls.record, { params: { id: _id }, body: { amount: 500 } })
  await app.runJobs()
  expect(await invoiceOf(business, _id)).toMatchObject({ status: 'paid', overpaid: 500 })
  expect(await noticesOf(business)).toContain('INV-0001: ₹500.00 too much')
})

test('the open links of an account that is deleted are cancelled', async () => {
  await using business = await openBusiness()
  const { app, razorpay, asha } = business
  const { _id } = await anInvoice(app, { owner: asha })
  const page = await pageOf(business, _id)
  const link = await start(business, page)
  expect((await ask(app, asha, accountCalls.deleteMe)).status).toBe(204)
  expect(razorpay.provider.findLink(link).status).toBe('cancelled')
  expect((await app.app.inject(page)).statusCode).toBe(404)
  expect(await states(business)).toEqual([])
})

test('a link of a deleted account is cancelled where its making was not answered, and Razorpay does not answer at first', async () => {
  await using business = await openBusiness()
  const { app, razorpay, asha } = business
  const { _id } = await anInvoice(app, { owner: asha })
  const page = await pageOf(business, _id)
  razorpay.answer(({ method }) =>
    method === 'POST' ? { status: 502, html: 'Bad gateway', done: true } : { status: 502, html: 'Bad gateway' },
  )
  expect((await post(app, `${page}/online`, { amount: '5000', of: '5000' })).statusCode).toBe(502)
  expect(await states(business)).toEqual(['starting'])
  razorpay.answer(({ path }, nth) => (path.endsWith('/cancel') && nth <= 2 ? { status: 502, html: 'Bad gateway' } : undefined))
  expect((await ask(app, asha, accountCalls.deleteMe)).status).toBe(204)
  expect([...razorpay.provider.links.values()].map(({ status }) => status)).toEqual(['cancelled'])
})

test('a link that Razorpay makes while its account is deleted is cancelled', async () => {
  await using business = await openBusiness()
  const { app, razorpay, asha } = business
  const { _id } = await anInvoice(app, { owner: asha })
  const page = await pageOf(business, _id)
  razorpay.answer(async ({ path }) => {
    if (path === '/payment_links') await ask(app, asha, accountCalls.deleteMe)
    return undefined
  })
  await post(app, `${page}/online`, { amount: '5000', of: '5000' })
  expect([...razorpay.provider.links.values()].map(({ status }) => status)).toEqual(['cancelled'])
})

test('a link that is made while the rest of its account is deleted is cancelled', async () => {
  await using business = await openBusiness()
  const { app, razorpay, asha } = business
  const { _id } = await anInvoice(app, { owner: asha })
  const page = await pageOf(business, _id)
  const [person] = await app.db.select().from(people).where(eq(people.id, asha.personId))
  if (!person) throw new Error('There is no such account.')
  const handed = {
    onAccountDeleted: [payOnAccountDeleted(app.deps)],
    onPersonDeleted: async () => undefined,
    onAddressLeft: async () => {},
    deleteHistory: async () => void (await start(business, page)),
  }
  await deletePerson(app.deps, person, handed, app.clock.now())
  expect([...razorpay.provider.links.values()].map(({ status }) => status)).toEqual(['cancelled'])
  expect(await states(business)).toEqual([])
})

test('one payment over a statement is divided between its invoices, oldest first', async () => {
  await using business = await openBusiness()
  const { app, razorpay, asha } = business
  const newer = await anInvoice(app, { owner: asha, amount: 2000, dueDate: '2026-03-20' })
  const older = await anInvoice(app, { owner: asha, amount: 1000, dueDate: '2026-02-01' })
  await anInvoice(app, { owner: asha, amount: 70, currency: 'EUR' })
  const [client] = await rows(app.db, z.object({ id: z.string() }), sql`SELECT id FROM clients`)
  const { reply } = await ask(app, asha, payLinkCalls.createStatement, { params: { id: client?.id ?? '' } })
  const page = new URL(reply.url).pathname
  expect((await app.app.inject(page)).body).toContain('Pay ₹3,000.00 online')
  const link = await start(business, page, 3000)
  razorpay.provider.payLink(link, { amount: 300_000 })
  await pass(business, { seconds: 20 })
  expect(await invoiceOf(business, older._id)).toMatchObject({ status: 'paid', overpaid: 0 })
  expect(await invoiceOf(business, newer._id)).toMatchObject({ status: 'paid', overpaid: 0 })
  expect((await noticesOf(business))[0]).toBe('Kaveri Foods paid INV-0002 and INV-0001 online')
})

test('test keys serve a trial of the owner, and no client', async () => {
  await using business = await openBusiness({ keyId: 'rzp_test_FakeFakeFake01' })
  const { app, razorpay, asha } = business
  const { _id } = await anInvoice(app, { owner: asha })
  const page = await pageOf(business, _id)
  expect((await app.app.inject(page)).body).not.toContain('Pay online')
  expect((await post(app, `${page}/online`, { amount: '5000', of: '5000' })).statusCode).toBe(502)
  const { reply } = await ask(app, asha, paymentSettingsCalls.tryRazorpay)
  const link = reply.url.slice(reply.url.lastIndexOf('/') + 1)
  const before = razorpay.provider.events.length
  razorpay.provider.payLink(link)
  for (const event of razorpay.provider.events.slice(before)) await business.deliver(event)
  await app.runJobs()
  expect(await noticesOf(business)).toEqual(['Your test payment arrived'])
})

test('without a public address no client pays online', async () => {
  await using business = await openBusiness()
  const { app } = business
  const { _id } = await anInvoice(app, { owner: business.asha })
  Object.assign(app.deps.config, { payLinks: false })
  expect((await app.app.inject(await pageOf(business, _id))).body).not.toContain('Pay online')
})

test('a link has at most 20 starts of an online payment a day', async () => {
  await using business = await openBusiness()
  const { app } = business
  const { _id } = await anInvoice(app, { owner: business.asha })
  const page = await pageOf(business, _id)
  Object.assign(app.deps.config, { rateLimit: true })
  const statuses: number[] = []
  for (let nth = 0; nth < 21; nth += 1) statuses.push((await post(app, `${page}/online`, { amount: '5000', of: '5000' })).statusCode)
  expect(statuses.indexOf(429)).toBe(20)
})

test('keys, webhook secrets and those of open attempts are re-encrypted', async () => {
  await using business = await openBusiness()
  const { app, razorpay } = business
  await ask(app, business.asha, paymentSettingsCalls.connectRazorpay, { body: { keyId: 'rzp_live_FakeFakeFake01', keySecret } })
  const { _id } = await anInvoice(app, { owner: business.asha })
  const link = await start(business, await pageOf(business, _id))
  const next = `another secret key for tests, long enough`
  const both = `${next}\n${app.deps.config.secretKey}`
  for (const column of sealedPayKeys) expect(await reseal(app.db, both, column)).toEqual({ done: 1, closed: 0 })
  Object.assign(app.deps.config, { secretKey: next })
  razorpay.provider.payLink(link)
  await pass(business, { seconds: 20 })
  const [row] = await rows(app.db, z.object({ paid: z.number() }), sql`SELECT paid_minor::int AS paid FROM invoices WHERE id = ${_id}`)
  expect(row?.paid).toBe(500_000)
  // Also the copy of one that is paid: it is asked about for refunds.
  const third = 'a third secret key for tests, long enough'
  for (const column of sealedPayKeys) expect(await reseal(app.db, `${third}\n${next}`, column)).toEqual({ done: 1, closed: 0 })
})

test('a refund at Razorpay that was found taken off by hand does not take off a later payment', async () => {
  await using business = await openBusiness()
  const { app, razorpay, asha } = business
  const { _id } = await anInvoice(app, { owner: asha })
  const payment = razorpay.provider.payLink(await start(business, await pageOf(business, _id)))
  await pass(business, { seconds: 20 })
  await ask(app, asha, paymentCalls.record, { params: { id: _id }, body: { kind: 'refund', amount: 5000 } })
  razorpay.provider.refund(payment.id, 500_000)
  await pass(business, { hours: 25 })
  // The client pays by bank instead.
  await ask(app, asha, paymentCalls.record, { params: { id: _id }, body: { amount: 5000, method: 'bank' } })
  expect(await invoiceOf(business, _id)).toMatchObject({ status: 'paid' })
  await pass(business, { hours: 48 })
  expect(await invoiceOf(business, _id)).toMatchObject({ status: 'paid', balance: 0 })
})
