import { expect, test } from 'vitest'
import { sign } from '#test/fakes/razorpay/entities.ts'
import { type FakeRazorpay, openFakeRazorpay } from '#test/fakes/razorpay/server.ts'
import { isSignedOrder, isSignedSubscription, isSignedWebhook, openRazorpay, ProviderError, type Razorpay } from './razorpay.ts'

const usual = { deadline: 60_000, pauses: [5, 10] }
const receipt = '0193a0c0-0000-7000-8000-000000000001'
const anOrder = { amount: 400, receipt, notes: { plan: 'pro' } }

async function failure(call: Promise<unknown>): Promise<ProviderError> {
  try {
    await call
  } catch (error) {
    if (error instanceof ProviderError) return error
    throw error
  }
  throw new Error('The call went well.')
}

// Signatures: the vectors of the provider's own library.

const orderVector = 'b3e9e5351d895b3867537973bb95a636c5d6d81531a6052a641c824d990729ce'
const subscriptionVector = '41d81c145e4580c4b9bb824568f4b90f1529a864bfad512da97b8785588e08f8'
const webhookVector = '1bd3788d3c7f6e6a85fcb09f9c84a3e7cc87040ce1751fd9331dff21a5d4d275'
const order = { orderId: 'order_TEST0000000001', paymentId: 'pay_TEST0000000001' }
const agreement = { subscriptionId: 'sub_TEST0000000001', paymentId: 'pay_TEST0000000001' }

test('signatures are checked as the provider makes them, in its order', () => {
  expect(isSignedOrder('test_key_secret', { ...order, signature: orderVector })).toBe(true)
  expect(isSignedSubscription('test_key_secret', { ...agreement, signature: subscriptionVector })).toBe(true)
  expect(isSignedWebhook('whsec_test', Buffer.from('{"event":"order.paid"}'), webhookVector)).toBe(true)
  expect(sign('test_key_secret', `${order.orderId}|${order.paymentId}`)).toBe(orderVector)
})

test('a signature that is reversed, changed, cut, of another secret or of another kind is none', () => {
  const reversed = sign('test_key_secret', `${order.paymentId}|${order.orderId}`)
  for (const signature of [reversed, orderVector.toUpperCase(), orderVector.slice(1), `${orderVector}0`, '', 'é', subscriptionVector])
    expect(isSignedOrder('test_key_secret', { ...order, signature })).toBe(false)
  expect(isSignedOrder('another_secret', { ...order, signature: orderVector })).toBe(false)
  expect(
    isSignedSubscription('test_key_secret', { ...agreement, signature: sign('test_key_secret', 'sub_TEST0000000001|pay_TEST0000000001') }),
  ).toBe(false)
})

test('a webhook may be signed with the new secret or with the old one, and with no other', () => {
  const body = Buffer.from('{"event":"order.paid"}')
  expect(isSignedWebhook('new_secret, whsec_test', body, webhookVector)).toBe(true)
  expect(isSignedWebhook('whsec_test,old_secret', body, webhookVector)).toBe(true)
  expect(isSignedWebhook('new_secret', body, webhookVector)).toBe(false)
  expect(isSignedWebhook(',', body, sign('', body.toString()))).toBe(false)
})

// The calls

async function opened(about = usual): Promise<{ fake: FakeRazorpay; client: Razorpay } & AsyncDisposable> {
  const fake = await openFakeRazorpay()
  return { fake, client: openRazorpay(fake.settings, about), [Symbol.asyncDispose]: () => fake[Symbol.asyncDispose]() }
}

test('an order is made, found by its receipt and asked for its payments', async () => {
  await using at = await opened()
  const made = await at.client.createOrder(anOrder)
  expect(at.fake.asked[0]).toEqual({ method: 'POST', path: '/orders', body: { ...anOrder, currency: 'INR' } })
  expect(await at.client.findOrder(receipt)).toEqual(made)
  expect(await at.client.findOrder('somebody else')).toBeNull()
  at.fake.provider.payOrder(made.id, { outcome: 'failed' })
  at.fake.pay(made.id)
  const paid = await at.client.orderPayments(made.id)
  expect(paid.map(({ status, amount, order_id }) => [status, amount, order_id])).toEqual([
    ['captured', 400, made.id],
    ['failed', 400, made.id],
  ])
  expect((await at.client.payment(paid[0]?.id ?? '')).currency).toBe('INR')
})

test('a subscription is made with its start in seconds, and cancelled as it is meant: now, or at the end of the cycle', async () => {
  await using at = await opened()
  const planId = await at.client.createPlan({ period: 'monthly', name: 'Pro', amount: 400 })
  const startAt = Temporal.Instant.fromEpochMilliseconds(Date.now() + 86_400_000)
  const later = await at.client.createSubscription({ planId, period: 'monthly', startAt, notes: {} })
  expect(later.start_at?.epochMilliseconds).toBe(Math.ceil(startAt.epochMilliseconds / 1000) * 1000)
  const { id } = await at.client.createSubscription({ planId, period: 'monthly', startAt: null, notes: {} })
  at.fake.pay(id)
  expect((await at.client.cancelSubscription(id, 'cycle_end')).status).toBe('active')
  expect((await at.client.cancelSubscription(id, 'now')).status).toBe('cancelled')
  expect(at.fake.asked.filter(({ path }) => path.endsWith('/cancel')).map(({ body }) => body)).toEqual([
    { cancel_at_cycle_end: true },
    { cancel_at_cycle_end: false },
  ])
  expect((await at.client.subscriptionInvoices(id)).map(({ status, amount }) => [status, amount])).toEqual([['paid', 400]])
})

test('a list longer than a page is read to its end', async () => {
  await using at = await opened()
  const planId = await at.client.createPlan({ period: 'monthly', name: 'Pro', amount: 400 })
  const { id } = await at.client.createSubscription({ planId, period: 'monthly', startAt: null, notes: {} })
  at.fake.pay(id)
  for (let cycle = 1; cycle < 105; cycle += 1) at.fake.provider.hasten(id)
  expect(new Set((await at.client.subscriptionInvoices(id)).map((one) => one.id)).size).toBe(105)
})

test('what the provider refuses is said in its own words', async () => {
  await using at = await opened()
  const tooLittle = await failure(at.client.createOrder({ ...anOrder, amount: 99 }))
  expect([tooLittle.kind, tooLittle.message, tooLittle.status]).toEqual(['refused', 'The amount must be at least INR 1.00', 400])
  const unknown = await failure(at.client.payment('pay_nothing'))
  expect([unknown.kind, unknown.message]).toEqual(['refused', 'The id provided does not exist'])
  const stranger = openRazorpay({ ...at.fake.settings, keySecret: 'wrong' }, usual)
  expect((await failure(stranger.findOrder(receipt))).status).toBe(401)
})

test('a read is tried again when the provider is busy, in trouble or gone for a moment', async () => {
  await using at = await opened()
  const { id } = await at.client.createOrder(anOrder)
  for (const move of [
    { status: 429 },
    { status: 502, html: '<html>Bad Gateway</html>' },
    { status: 200, html: 'not json' },
    'reset',
  ] as const) {
    at.fake.answer((_asked, nth) => (nth <= 2 ? move : undefined))
    expect(await at.client.orderPayments(id)).toEqual([])
    at.fake.answer((_asked, nth) => (nth <= 3 ? move : undefined))
    expect((await failure(at.client.orderPayments(id))).kind).toBe('away')
  }
})

test('a write is never retried, because its effect is unknown', async () => {
  await using at = await opened()
  for (const move of [
    { status: 429 },
    { status: 502, html: '<html>Bad Gateway</html>' },
    { status: 200, body: { hello: 1 } },
    'reset',
  ] as const) {
    const before = at.fake.asked.length
    at.fake.answer(() => move)
    expect((await failure(at.client.createOrder(anOrder))).kind).toBe('away')
    expect(at.fake.asked.length - before).toBe(1)
  }
})

test('a silent provider is waited for until the deadline', async () => {
  await using at = await opened({ ...usual, deadline: 300 })
  at.fake.answer(() => 'hang')
  const silent = await failure(at.client.createOrder(anOrder))
  expect([silent.kind, silent.message]).toEqual(['away', 'The payment provider did not answer in time.'])
  expect((await failure(at.client.findOrder(receipt))).kind).toBe('away')
  const nowhere = openRazorpay({ ...at.fake.settings, apiUrl: 'http://127.0.0.1:1/v1' }, usual)
  expect((await failure(nowhere.createOrder(anOrder))).message).toBe('The payment provider cannot be reached.')
})
