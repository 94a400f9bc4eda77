// Also on PostgreSQL: a proof of payment is applied once, also by a hundred at once.
import { expect, test } from 'vitest'
import { accountCalls } from '#contract/accounts.ts'
import { billingCalls } from '#contract/billing.ts'
import { aPerson, type Person, signedInAgain } from '#test/factories.ts'
import { sign } from '#test/fakes/razorpay/entities.ts'
import { ask } from '#test/harness.ts'
import { buyOnce, openShop, planOfPerson, type Shop, subscribe, verify, verifySubscribed } from '#test/shop.ts'
import { payments, purchases } from './tables.ts'

const pro = { plan: 'pro', billingPeriod: 'monthly' } as const
const rows = (shop: Shop) => shop.app.db.select().from(payments)

/** An owner after the trial. */
async function afterTrial(shop: Shop) {
  const person = await aPerson(shop.app)
  shop.app.clock.advance({ days: 20 })
  return signedInAgain(shop.app, person)
}

// Paying once

test('an order is made for the price in the catalogue, under the purchase as its receipt', async () => {
  await using shop = await openShop()
  const asha = await aPerson(shop.app)
  const { status, reply } = await ask(shop.app, asha, billingCalls.createOrder, { body: { plan: 'enterprise', billingPeriod: 'yearly' } })
  expect(status).toBe(200)
  expect(reply).toEqual({ amount: 9000, currency: 'INR', orderId: expect.stringMatching(/^order_/), keyId: shop.razorpay.settings.keyId })
  const [order] = shop.razorpay.provider.orders.values()
  const [purchase] = await shop.app.db.select().from(purchases)
  expect(order).toMatchObject({ id: reply.orderId, amount: 9000, receipt: purchase?.id })
})

test('an amount from the browser and an unknown plan are refused', async () => {
  await using shop = await openShop()
  const asha = await aPerson(shop.app)
  const post = (payload: object) =>
    shop.app.app.inject({ method: 'POST', url: '/subscription/create-order', headers: { authorization: `Bearer ${asha.token}` }, payload })
  for (const broken of [{ ...pro, amount: 1 }, { ...pro, plan: 'free' }, { ...pro, billingPeriod: 'weekly' }, { plan: 'pro' }, {}])
    expect((await post(broken)).statusCode).toBe(400)
  expect(shop.razorpay.asked).toEqual([])
})

test('paying once opens the plan when the browser comes back', async () => {
  await using shop = await openShop({ now: '2026-03-02T09:00:00Z' })
  const asha = await aPerson(shop.app)
  const answered = await buyOnce(shop, asha, 'pro', 'yearly')
  expect(answered.status).toBe(200)
  expect(answered.reply).toMatchObject({ plan: 'pro', status: 'active', amount: 4000, currentPeriodEnd: '2027-03-02T09:00:00Z' })
  const { reply } = await ask(shop.app, asha, billingCalls.payments)
  expect(reply).toEqual([
    {
      _id: expect.any(String),
      paymentId: expect.stringMatching(/^pay_/),
      plan: 'pro',
      billingPeriod: 'yearly',
      paymentType: 'onetime',
      amount: 40,
      refunded: 0,
      currency: 'INR',
      status: 'captured',
      method: 'card',
      reason: null,
      paidAt: '2026-03-02T09:00:00Z',
    },
  ])
})

test('a proof that is forged, reversed or for another account’s order activates nothing', async () => {
  await using shop = await openShop()
  const [asha, ravi] = [await aPerson(shop.app), await aPerson(shop.app)]
  const { reply: order } = await ask(shop.app, asha, billingCalls.createOrder, { body: pro })
  const proof = shop.razorpay.pay(order.orderId)
  const { keySecret } = shop.razorpay.settings
  const failed = { code: 'payment_not_verified', message: 'Payment verification failed. Please contact support.' }
  for (const razorpay_signature of [
    'forged',
    sign(keySecret, `${proof.razorpay_payment_id}|${order.orderId}`),
    sign('another secret', `${order.orderId}|${proof.razorpay_payment_id}`),
  ]) {
    const refused = await verify(shop, asha, { ...proof, razorpay_signature })
    expect([refused.status, refused.problem]).toEqual([400, failed])
  }
  expect((await verify(shop, ravi, proof)).status).toBe(404)
  expect((await verify(shop, asha, { ...proof, razorpay_order_id: 'order_nothing' })).status).toBe(404)
  for (const person of [asha, ravi]) expect((await planOfPerson(shop, person)).plan).toBe('free')
  expect((await verify(shop, asha, proof)).status).toBe(200)
  expect((await planOfPerson(shop, ravi)).plan).toBe('free')
})

test('the good signature of another payment does not pay for this order', async () => {
  await using shop = await openShop()
  const [asha, ravi] = [await aPerson(shop.app), await aPerson(shop.app)]
  const { reply: paidFor } = await ask(shop.app, ravi, billingCalls.createOrder, { body: pro })
  const { razorpay_payment_id } = shop.razorpay.pay(paidFor.orderId)
  const { reply: order } = await ask(shop.app, asha, billingCalls.createOrder, { body: pro })
  const signature = sign(shop.razorpay.settings.keySecret, `${order.orderId}|${razorpay_payment_id}`)
  const refused = await verify(shop, asha, { razorpay_order_id: order.orderId, razorpay_payment_id, razorpay_signature: signature })
  expect(refused.problem?.code).toBe('payment_not_verified')
  expect((await planOfPerson(shop, asha)).plan).toBe('free')
})

test('a proof sent a hundred times concurrently is applied once', async () => {
  await using shop = await openShop({ now: '2026-03-02T09:00:00Z' })
  const asha = await aPerson(shop.app)
  const { reply: order } = await ask(shop.app, asha, billingCalls.createOrder, { body: pro })
  const proof = shop.razorpay.pay(order.orderId)
  const answers = await Promise.all(Array.from({ length: 100 }, () => verify(shop, asha, proof)))
  expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]))
  expect(await rows(shop)).toHaveLength(1)
  expect((await planOfPerson(shop, asha)).currentPeriodEnd).toBe('2026-04-02T09:00:00Z')
  expect((await rows(shop))[0]?.amountMinor).toBe(shop.razorpay.provider.taken())
})

test('a payment that is too small or not captured opens nothing until the money is there in full', async () => {
  await using shop = await openShop()
  const { provider } = shop.razorpay
  const asha = await aPerson(shop.app)
  const { reply: order } = await ask(shop.app, asha, billingCalls.createOrder, { body: pro })
  const small = provider.payOrder(order.orderId, { amount: 100 })
  const tooSmall = await verify(shop, asha, provider.proofOf(small, { orderId: order.orderId }))
  expect(tooSmall.problem?.code).toBe('payment_not_verified')
  const ravi = await aPerson(shop.app)
  const { reply: other } = await ask(shop.app, ravi, billingCalls.createOrder, { body: pro })
  const promised = provider.payOrder(other.orderId, { outcome: 'authorized' })
  const pending = await verify(shop, ravi, provider.proofOf(promised, { orderId: other.orderId }))
  expect([pending.status, pending.problem]).toEqual([
    409,
    {
      code: 'payment_pending',
      message: 'Your payment is not complete yet. Your plan starts automatically once it is. Please do not pay again.',
    },
  ])
  for (const person of [asha, ravi]) expect((await planOfPerson(shop, person)).plan).toBe('free')
  expect((await planOfPerson(shop, ravi)).notices.map(({ kind }) => kind)).toContain('confirming')
  provider.capture(promised.id)
  await shop.settle()
  expect(await planOfPerson(shop, ravi)).toMatchObject({ plan: 'pro', notices: [] })
  expect((await rows(shop)).map(({ status, amountMinor }) => [status, amountMinor]).sort()).toEqual([
    ['captured', 100],
    ['captured', 400],
  ])
})

test('a failed attempt is shown in the history and does not block the next one on the same order', async () => {
  await using shop = await openShop()
  const asha = await aPerson(shop.app)
  const { reply: order } = await ask(shop.app, asha, billingCalls.createOrder, { body: pro })
  shop.razorpay.provider.payOrder(order.orderId, { outcome: 'failed' })
  await shop.settle()
  expect((await ask(shop.app, asha, billingCalls.payments)).reply).toMatchObject([
    { status: 'failed', reason: 'Your payment has been cancelled by the bank. Try again or use another method.' },
  ])
  expect((await verify(shop, asha, shop.razorpay.pay(order.orderId))).reply).toMatchObject({ plan: 'pro' })
  expect((await ask(shop.app, asha, billingCalls.payments)).reply.map(({ status }) => status).sort()).toEqual(['captured', 'failed'])
})

test('a checkout that was closed and opened again is about the same order', async () => {
  await using shop = await openShop()
  const asha = await aPerson(shop.app)
  const first = await ask(shop.app, asha, billingCalls.createOrder, { body: pro })
  const second = await ask(shop.app, asha, billingCalls.createOrder, { body: pro })
  expect(second.reply.orderId).toBe(first.reply.orderId)
  shop.app.clock.advance({ minutes: 16 })
  expect((await ask(shop.app, await signedInAgain(shop.app, asha), billingCalls.createOrder, { body: pro })).reply.orderId).not.toBe(
    first.reply.orderId,
  )
})

test('the current plan cannot be bought again, and the message shows its end', async () => {
  await using shop = await openShop({ now: '2026-03-02T09:00:00Z' })
  const asha = await aPerson(shop.app)
  await buyOnce(shop, asha, 'pro')
  for (const refused of [
    await ask(shop.app, asha, billingCalls.createOrder, { body: { ...pro, billingPeriod: 'yearly' } }),
    await ask(shop.app, asha, billingCalls.createSubscription, { body: pro }),
    await ask(shop.app, asha, billingCalls.quote, { query: { ...pro, paymentType: 'onetime' } }),
  ])
    expect([refused.status, refused.problem?.message]).toEqual([
      409,
      'You have Pro until 02/04/2026. You can buy it again from 19/03/2026, to continue from 02/04/2026.',
    ])
})

test('in the last 14 days a plan that was paid once can be bought again, and continues when it ends', async () => {
  await using shop = await openShop({ now: '2026-03-02T09:00:00Z' })
  const { app } = shop
  const asha = await aPerson(app)
  await buyOnce(shop, asha, 'pro')
  app.clock.set('2026-03-19T08:59:00Z')
  const query = { ...pro, paymentType: 'onetime' as const }
  const owner = await signedInAgain(app, asha)
  expect((await ask(app, owner, billingCalls.quote, { query })).status).toBe(409)
  app.clock.set('2026-03-19T09:00:00Z')
  expect((await ask(app, owner, billingCalls.quote, { query })).reply).toMatchObject({
    dueNow: 4,
    credit: 0,
    startsAt: '2026-04-02T09:00:00Z',
    endsAt: '2026-05-02T09:00:00Z',
    replaces: null,
    nextChargeAt: null,
    charges: '₹4 today. No further charge.',
    message: 'It begins on 02/04/2026, when your present Pro ends. Pro then runs until 02/05/2026.',
  })
  await ask(app, owner, billingCalls.cancel)
  await buyOnce(shop, owner, 'pro')
  const renewed = { plan: 'pro', state: 'Pro until 02/05/2026', currentPeriodEnd: '2026-05-02T09:00:00Z', cancelAtPeriodEnd: false }
  expect(await planOfPerson(shop, asha)).toMatchObject({ ...renewed, renewableFrom: '2026-04-18T09:00:00Z' })
  app.clock.set('2026-04-20T09:00:00Z')
  expect(await planOfPerson(shop, asha)).toMatchObject(renewed)
  app.clock.set('2026-05-02T09:00:01Z')
  expect(await planOfPerson(shop, asha)).toMatchObject({ plan: 'free', state: 'Free' })
})

test('a subscription bought in the last 14 days of a plan that was paid once charges when that ends, and nothing is lost or given twice', async () => {
  await using shop = await openShop({ now: '2026-03-02T09:00:00Z' })
  const { app, razorpay } = shop
  const asha = await aPerson(app)
  await buyOnce(shop, asha, 'pro')
  app.clock.set('2026-03-20T09:00:00Z')
  const owner = await signedInAgain(app, asha)
  const query = { ...pro, paymentType: 'subscription' as const }
  expect((await ask(app, owner, billingCalls.quote, { query })).reply).toMatchObject({
    dueNow: 0,
    startsAt: '2026-04-02T09:00:00Z',
    firstChargeAt: '2026-04-02T09:00:00Z',
    nextChargeAt: '2026-04-02T09:00:00Z',
    charges: 'No charge today. Next charge: ₹4 on 02/04/2026, then every month.',
  })
  await subscribe(shop, owner, 'pro')
  expect(await planOfPerson(shop, asha)).toMatchObject({
    plan: 'pro',
    status: 'trialing',
    paymentType: 'subscription',
    state: 'Pro, first charge on 02/04/2026',
    nextChargeAt: '2026-04-02T09:00:00Z',
    endsIfCancelled: '2026-04-02T09:00:00Z',
    renewableFrom: null,
  })
  expect(razorpay.provider.taken()).toBe(400)
  await shop.pass({ hours: 14 * 24 })
  expect(razorpay.provider.taken()).toBe(800)
  expect(await planOfPerson(shop, asha)).toMatchObject({ state: 'Pro, renews on 02/05/2026', currentPeriodEnd: '2026-05-02T09:00:00Z' })
  await ask(app, await signedInAgain(app, asha), billingCalls.cancel)
  await shop.settle()
  expect(await planOfPerson(shop, asha)).toMatchObject({ state: 'Pro until 02/05/2026', cancelAtPeriodEnd: true })
  await shop.pass({ hours: 30 * 24 })
  expect((await planOfPerson(shop, asha)).plan).toBe('free')
})

test('a subscription that was to continue a plan paid once, cancelled before its first charge, leaves what is paid for', async () => {
  await using shop = await openShop({ now: '2026-03-02T09:00:00Z' })
  const { app } = shop
  const asha = await aPerson(app)
  await buyOnce(shop, asha, 'pro')
  app.clock.set('2026-03-20T09:00:00Z')
  const owner = await signedInAgain(app, asha)
  await subscribe(shop, owner, 'pro')
  await ask(app, owner, billingCalls.cancel)
  await shop.settle()
  expect(await planOfPerson(shop, asha)).toMatchObject({ plan: 'pro', state: 'Pro until 02/04/2026', cancelAtPeriodEnd: true })
  await shop.pass({ hours: 14 * 24 })
  expect((await planOfPerson(shop, asha)).plan).toBe('free')
  expect(shop.razorpay.provider.taken()).toBe(400)
})

test('the charge of today and the next one come with every choice', async () => {
  await using shop = await openShop({ now: '2026-03-02T09:00:00Z' })
  const asha = await aPerson(shop.app)
  const charges = async (plan: 'pro' | 'enterprise', paymentType: 'onetime' | 'subscription') =>
    (
      await ask(shop.app, await signedInAgain(shop.app, asha), billingCalls.quote, {
        query: { plan, billingPeriod: 'monthly', paymentType },
      })
    ).reply.charges
  expect(await charges('pro', 'subscription')).toBe('No charge today. Next charge: ₹4 on 16/03/2026, then every month.')
  shop.app.clock.set('2026-03-20T09:00:00Z')
  expect(await charges('pro', 'onetime')).toBe('₹4 today. No further charge.')
  expect(await charges('enterprise', 'subscription')).toBe('₹9 today. Next charge: ₹9 on 20/04/2026, then every month.')
})

// A provider in trouble

test('an order whose answer was lost is found again, not created twice', async () => {
  await using shop = await openShop()
  const asha = await aPerson(shop.app)
  shop.razorpay.answer(({ method }) => (method === 'POST' ? { status: 504, html: 'Gateway Timeout', done: true } : undefined))
  const answered = await ask(shop.app, asha, billingCalls.createOrder, { body: pro })
  expect(answered.status).toBe(200)
  expect([...shop.razorpay.provider.orders.keys()]).toEqual([answered.reply.orderId])
  expect(await shop.app.db.select().from(purchases)).toHaveLength(1)
})

test('an order is looked for before another one is made when the first attempt was never answered at all', async () => {
  await using shop = await openShop()
  const asha = await aPerson(shop.app)
  shop.razorpay.answer(({ method }) => (method === 'POST' ? { status: 502, html: 'Bad Gateway', done: true } : { status: 502 }))
  expect((await ask(shop.app, asha, billingCalls.createOrder, { body: pro })).status).toBe(502)
  shop.razorpay.answer(() => undefined)
  const again = await ask(shop.app, asha, billingCalls.createOrder, { body: pro })
  expect([...shop.razorpay.provider.orders.keys()]).toEqual([again.reply.orderId])
})

test.each([
  ['busy', { status: 429 }],
  ['in trouble', { status: 502, html: '<html>Bad Gateway</html>' }],
  ['cut off', 'reset'],
] as const)('with a provider that is %s the failure is said, nothing is charged and nothing breaks', async (_what, move) => {
  await using shop = await openShop()
  const asha = await aPerson(shop.app)
  shop.razorpay.answer(() => move)
  const why = 'The payment provider is not responding correctly. Nothing was charged. Please try again in a few minutes.'
  const order = await ask(shop.app, asha, billingCalls.createOrder, { body: pro })
  expect([order.status, order.problem]).toEqual([502, { code: 'payment_refused', message: `Failed to initiate payment. ${why}` }])
  const subscription = await ask(shop.app, asha, billingCalls.createSubscription, { body: pro })
  expect([subscription.status, subscription.problem?.message]).toEqual([502, `Failed to initiate subscription. ${why}`])
  shop.razorpay.answer(() => undefined)
  expect((await buyOnce(shop, asha, 'pro')).status).toBe(200)
})

test('what the provider refuses is passed on in its words, except wrong keys', async () => {
  await using shop = await openShop()
  const asha = await aPerson(shop.app)
  shop.razorpay.answer(() => ({
    status: 400,
    body: { error: { code: 'BAD_REQUEST_ERROR', description: 'The requested URL was not found on the server.' } },
  }))
  const { problem } = await ask(shop.app, asha, billingCalls.createSubscription, { body: pro })
  expect(problem?.message).toBe(
    'Failed to initiate subscription. The payment provider says: The requested URL was not found on the server.',
  )
  shop.razorpay.answer(() => ({ status: 401, body: { error: { code: 'BAD_REQUEST_ERROR', description: 'Authentication failed' } } }))
  expect((await ask(shop.app, asha, billingCalls.createOrder, { body: pro })).problem?.message).not.toContain('Authentication')
})

test('a payment that the provider does not confirm at once is confirmed later, without the browser', async () => {
  await using shop = await openShop()
  const asha = await aPerson(shop.app)
  const { reply: order } = await ask(shop.app, asha, billingCalls.createOrder, { body: pro })
  const proof = shop.razorpay.pay(order.orderId)
  shop.razorpay.answer(() => ({ status: 502, html: 'Bad Gateway' }))
  const answered = await verify(shop, asha, proof)
  expect([answered.status, answered.problem]).toEqual([
    502,
    {
      code: 'payment_refused',
      message:
        'The payment provider has not confirmed your payment yet. Your plan starts automatically once it does. Please do not pay again.',
    },
  ])
  shop.razorpay.answer(() => undefined)
  // No webhook comes: it is asked for.
  shop.app.clock.advance({ minutes: 1 })
  await shop.app.runJobs()
  expect((await planOfPerson(shop, asha)).plan).toBe('pro')
})

// Subscribing

test('subscribing in the trial charges nothing until the trial ends, then every month', async () => {
  await using shop = await openShop({ now: '2026-03-02T09:00:00Z' })
  const { app, razorpay } = shop
  const asha = await aPerson(app)
  const { reply: begun } = await ask(app, asha, billingCalls.createSubscription, { body: pro })
  expect(begun).toEqual({
    subscriptionId: expect.stringMatching(/^sub_/),
    keyId: razorpay.settings.keyId,
    amount: 400,
    currency: 'INR',
    startAt: '2026-03-16T09:00:00Z',
  })
  const answered = await verifySubscribed(shop, asha, razorpay.pay(begun.subscriptionId))
  expect(answered.reply).toMatchObject({
    plan: 'pro',
    status: 'trialing',
    paymentType: 'subscription',
    amount: 400,
    trialEnd: '2026-03-16T09:00:00Z',
    currentPeriodEnd: '2026-03-16T09:00:00Z',
    cancelAtPeriodEnd: false,
  })
  expect(razorpay.provider.taken()).toBe(0)
  expect(await rows(shop)).toEqual([])
  await shop.pass({ days: 14 })
  expect(await planOfPerson(shop, asha)).toMatchObject({
    plan: 'pro',
    status: 'active',
    trialEnd: null,
    currentPeriodEnd: '2026-04-16T09:00:00Z',
  })
  await shop.pass({ days: 31 })
  expect(await planOfPerson(shop, asha)).toMatchObject({ status: 'active', currentPeriodEnd: '2026-05-16T09:00:00Z' })
  expect((await rows(shop)).map(({ amountMinor }) => amountMinor)).toEqual([400, 400])
  expect(razorpay.provider.taken()).toBe(800)
})

test('subscribing after the trial charges immediately', async () => {
  await using shop = await openShop({ now: '2026-03-02T09:00:00Z' })
  const asha = await afterTrial(shop)
  const { answered } = await subscribe(shop, asha, 'enterprise', 'yearly')
  expect(answered.reply).toMatchObject({ plan: 'enterprise', status: 'active', amount: 9000, currentPeriodEnd: '2027-03-22T09:00:00Z' })
  expect((await rows(shop)).map(({ amountMinor }) => amountMinor)).toEqual([9000])
})

test('the subscription’s id is taken under both names, and its signature only in the provider’s order', async () => {
  await using shop = await openShop()
  const asha = await afterTrial(shop)
  const { reply } = await ask(shop.app, asha, billingCalls.createSubscription, { body: pro })
  const { razorpay_payment_id, razorpay_signature } = shop.razorpay.pay(reply.subscriptionId)
  const reversed = sign(shop.razorpay.settings.keySecret, `${reply.subscriptionId}|${razorpay_payment_id}`)
  const asOrder = { razorpay_payment_id, razorpay_order_id: reply.subscriptionId }
  const refused = await verifySubscribed(shop, asha, { ...asOrder, razorpay_signature: reversed })
  expect([refused.status, refused.problem?.message]).toEqual([400, 'Subscription payment verification failed. Please contact support.'])
  expect((await verifySubscribed(shop, await aPerson(shop.app), { ...asOrder, razorpay_signature })).status).toBe(404)
  expect((await verifySubscribed(shop, asha, { ...asOrder, razorpay_signature })).reply).toMatchObject({ plan: 'pro' })
})

test('a plan at the provider is made once for each price', async () => {
  await using shop = await openShop()
  for (let nth = 0; nth < 3; nth += 1) await subscribe(shop, await aPerson(shop.app), 'pro')
  await subscribe(shop, await aPerson(shop.app), 'pro', 'yearly')
  expect([...shop.razorpay.provider.plans.values()].map(({ item }) => item.amount)).toEqual([400, 4000])
})

test('a subscription that was begun and never agreed to is taken back when another one is begun', async () => {
  await using shop = await openShop()
  const asha = await aPerson(shop.app)
  const { reply: first } = await ask(shop.app, asha, billingCalls.createSubscription, { body: pro })
  await ask(shop.app, asha, billingCalls.createSubscription, { body: { ...pro, billingPeriod: 'yearly' } })
  await shop.settle()
  expect(shop.razorpay.provider.find(shop.razorpay.provider.subscriptions, first.subscriptionId).status).toBe('cancelled')
})

// Arrears

test('a charge that fails leaves everything open while it is tried again; when it never succeeds the account is on Free', async () => {
  await using shop = await openShop({ now: '2026-03-02T09:00:00Z' })
  const { provider } = shop.razorpay
  const asha = await afterTrial(shop)
  const { subscriptionId } = await subscribe(shop, asha, 'pro')
  provider.setCard(subscriptionId, 'bad')
  await shop.pass({ days: 31 })
  const inArrears = await planOfPerson(shop, asha)
  expect(inArrears).toMatchObject({ plan: 'pro', status: 'past_due' })
  expect(inArrears.entitlements.abilities).toContain('scheduling')
  expect(inArrears.notices).toMatchObject([
    {
      kind: 'past_due',
      message: 'Your last payment for Pro failed. We’ll try again over the next few days; your plan stays active until then.',
    },
  ])
  for (let day = 1; day <= 2; day += 1) {
    await shop.pass({ days: 1 })
    expect((await planOfPerson(shop, asha)).status).toBe('past_due')
  }
  await shop.pass({ days: 1 })
  expect(provider.find(provider.subscriptions, subscriptionId).status).toBe('halted')
  expect(await planOfPerson(shop, asha)).toMatchObject({ plan: 'free', ended: { plan: 'pro', at: '2026-04-22T09:00:00Z' } })
  provider.changeCard(subscriptionId)
  await shop.settle()
  expect(await planOfPerson(shop, asha)).toMatchObject({ plan: 'pro', status: 'active' })
  const { reply } = await ask(shop.app, await signedInAgain(shop.app, asha), billingCalls.payments)
  expect(reply.map(({ status, reason }) => `${status}${reason === null ? '' : `: ${reason}`}`)).toEqual([
    'captured',
    ...Array.from({ length: 4 }, () => 'failed: The card has no balance.'),
    'captured',
  ])
})

// Cancelling

test('cancelling ends the plan with what is paid for, and nothing is charged after it', async () => {
  await using shop = await openShop({ now: '2026-03-02T09:00:00Z' })
  const asha = await afterTrial(shop)
  await subscribe(shop, asha, 'pro')
  expect((await planOfPerson(shop, asha)).endsIfCancelled).toBe('2026-04-22T09:00:00Z')
  const { reply } = await ask(shop.app, asha, billingCalls.cancel)
  expect(reply).toMatchObject({ plan: 'pro', status: 'active', cancelAtPeriodEnd: true, currentPeriodEnd: '2026-04-22T09:00:00Z' })
  expect(shop.razorpay.asked.filter(({ path }) => path.endsWith('/cancel')).map(({ body }) => body)).toEqual([
    { cancel_at_cycle_end: true },
  ])
  expect((await ask(shop.app, asha, billingCalls.cancel)).status).toBe(200)
  await shop.pass({ days: 31 })
  expect(await planOfPerson(shop, asha)).toMatchObject({ plan: 'free', ended: { plan: 'pro', at: '2026-04-22T09:00:00Z' } })
  expect(shop.razorpay.provider.taken()).toBe(400)
})

test('cancelling before the first charge takes effect immediately', async () => {
  await using shop = await openShop({ now: '2026-03-02T09:00:00Z' })
  const asha = await aPerson(shop.app)
  const { subscriptionId } = await subscribe(shop, asha, 'pro')
  expect(await planOfPerson(shop, asha)).toMatchObject({ status: 'trialing', endsIfCancelled: null })
  const { reply } = await ask(shop.app, asha, billingCalls.cancel)
  // The 14 days of a new account stay what they were.
  expect(reply).toMatchObject({ plan: 'free', entitlements: { by: 'trial', until: '2026-03-16T09:00:00Z' } })
  expect(shop.razorpay.asked.filter(({ path }) => path.endsWith('/cancel')).map(({ body }) => body)).toEqual([
    { cancel_at_cycle_end: false },
  ])
  expect(shop.razorpay.provider.find(shop.razorpay.provider.subscriptions, subscriptionId).status).toBe('cancelled')
})

test('a cancellation that the provider does not carry out is said, and nothing has changed', async () => {
  await using shop = await openShop({ now: '2026-03-02T09:00:00Z' })
  const asha = await afterTrial(shop)
  await subscribe(shop, asha, 'pro')
  shop.razorpay.answer(() => ({ status: 502, html: 'Bad Gateway' }))
  const refused = await ask(shop.app, asha, billingCalls.cancel)
  expect([refused.status, refused.problem?.message]).toEqual([
    502,
    'Failed to cancel subscription. The payment provider is not responding correctly. Please try again in a few minutes.',
  ])
  expect(await planOfPerson(shop, asha)).toMatchObject({ plan: 'pro', cancelAtPeriodEnd: false })
})

test('on Free there is nothing to cancel', async () => {
  await using shop = await openShop()
  const refused = await ask(shop.app, await aPerson(shop.app), billingCalls.cancel)
  expect([refused.status, refused.problem?.code]).toEqual([409, 'conflict'])
})

test('a one-time plan ends without cancelling', async () => {
  await using shop = await openShop()
  const asha = await aPerson(shop.app)
  await buyOnce(shop, asha, 'pro')
  expect((await ask(shop.app, asha, billingCalls.cancel)).reply).toMatchObject({ plan: 'pro', cancelAtPeriodEnd: true })
})

// Switching to Free

test('switching to Free ends a subscription now, there and here', async () => {
  await using shop = await openShop({ now: '2026-03-02T09:00:00Z' })
  const asha = await afterTrial(shop)
  const { subscriptionId } = await subscribe(shop, asha, 'pro')
  shop.app.clock.advance({ minutes: 1 })
  const { reply } = await ask(shop.app, asha, billingCalls.activateFree)
  expect(reply).toMatchObject({ plan: 'free', status: 'active', ended: { plan: 'pro', at: '2026-03-22T09:01:00Z' } })
  expect(shop.razorpay.provider.find(shop.razorpay.provider.subscriptions, subscriptionId).status).toBe('cancelled')
  await shop.settle()
  expect((await planOfPerson(shop, asha)).plan).toBe('free')
  expect((await buyOnce(shop, asha, 'pro')).reply).toMatchObject({ plan: 'pro' })
})

test('switching to Free ends what was paid once, and is nothing on Free', async () => {
  await using shop = await openShop()
  const asha = await aPerson(shop.app)
  expect((await ask(shop.app, asha, billingCalls.activateFree)).status).toBe(200)
  await buyOnce(shop, asha, 'pro')
  shop.app.clock.advance({ minutes: 1 })
  expect((await ask(shop.app, asha, billingCalls.activateFree)).reply.plan).toBe('free')
})

test('if the provider does not cancel, the plan continues', async () => {
  await using shop = await openShop()
  const asha = await afterTrial(shop)
  await subscribe(shop, asha, 'pro')
  shop.razorpay.answer(() => 'reset')
  expect((await ask(shop.app, asha, billingCalls.activateFree)).problem?.code).toBe('payment_refused')
  expect((await planOfPerson(shop, asha)).plan).toBe('pro')
})

// What the owner can read afterwards

test('every plan change is in the audit log, with its browser', async () => {
  await using shop = await openShop({ now: '2026-03-02T09:00:00Z' })
  const asha = await afterTrial(shop)
  const log = async () => {
    const { reply } = await ask(shop.app, asha, accountCalls.audit, { query: {} })
    return reply.flatMap(({ kind, text, address }) => (kind === 'plan_changed' ? [`${text} ${address === '' ? 'automatic' : 'here'}`] : []))
  }
  const { reply: begun } = await ask(shop.app, asha, billingCalls.createOrder, { body: pro })
  shop.razorpay.pay(begun.orderId)
  await shop.settle()
  expect(await log()).toEqual(['Plan changed: Free to Pro. automatic'])
  await subscribe(shop, asha, 'enterprise')
  await shop.settle()
  expect(await log()).toHaveLength(2)
  expect((await log())[0]).toBe('Plan changed: Pro to Enterprise. here')
  await ask(shop.app, asha, billingCalls.activateFree)
  await subscribe(shop, asha, 'pro')
  await ask(shop.app, asha, billingCalls.cancel)
  await ask(shop.app, asha, billingCalls.cancel)
  expect((await log()).slice(0, 3)).toEqual([
    'Plan changed: Pro was cancelled and ends on 22/04/2026. here',
    'Plan changed: Free to Pro. here',
    'Plan changed: Enterprise to Free. here',
  ])
})

test('paying once in the trial says that the trial would have gone on', async () => {
  await using shop = await openShop({ now: '2026-03-02T09:00:00Z' })
  const asha = await aPerson(shop.app)
  const message = async (plan: 'pro' | 'enterprise', paymentType: 'onetime' | 'subscription') =>
    (await ask(shop.app, asha, billingCalls.quote, { query: { plan, billingPeriod: 'monthly', paymentType } })).reply.message
  expect(await message('pro', 'onetime')).toBe(
    'Your free trial of Pro runs until 16/03/2026. One-time: your month starts today. Auto-Recurring: the first charge is after the trial.',
  )
  expect(await message('enterprise', 'onetime')).toBe('')
  expect(await message('pro', 'subscription')).toBe('')
})

// Changing plans

test('changing to Enterprise in mid-period takes what is left of Pro off the price, and says so before', async () => {
  await using shop = await openShop({ now: '2026-03-01T09:00:00Z' })
  const { app } = shop
  const asha = await aPerson(app)
  await buyOnce(shop, asha, 'pro')
  app.clock.set('2026-03-16T21:00:00Z')
  const owner = await signedInAgain(app, asha)
  const enterprise = { plan: 'enterprise', billingPeriod: 'monthly' } as const
  const { reply: quote } = await ask(app, owner, billingCalls.quote, { query: { ...enterprise, paymentType: 'onetime' } })
  expect(quote).toEqual({
    ...enterprise,
    paymentType: 'onetime',
    price: 9,
    credit: 2,
    dueNow: 7,
    startsAt: '2026-03-16T21:00:00Z',
    endsAt: '2026-04-16T21:00:00Z',
    firstChargeAt: null,
    nextChargeAt: null,
    replaces: 'pro',
    charges: '₹7 today. No further charge.',
    message: 'Includes a ₹2 credit from your current Pro plan. Enterprise then runs until 17/04/2026.',
  })
  const answered = await buyOnce(shop, owner, 'enterprise')
  expect(answered.reply).toMatchObject({ plan: 'enterprise', amount: 900, currentPeriodEnd: '2026-04-16T21:00:00Z' })
  expect(shop.razorpay.provider.taken()).toBe(1100)
})

test('a subscription that another plan replaces is cancelled at the provider, and the new one waits for what was paid', async () => {
  await using shop = await openShop({ now: '2026-03-02T09:00:00Z' })
  const { app, razorpay } = shop
  const asha = await afterTrial(shop)
  const { subscriptionId } = await subscribe(shop, asha, 'pro')
  await shop.pass({ days: 10 })
  const owner = await signedInAgain(app, asha)
  const { reply: quote } = await ask(app, owner, billingCalls.quote, {
    query: { plan: 'enterprise', billingPeriod: 'monthly', paymentType: 'subscription' },
  })
  expect(quote).toMatchObject({ price: 9, credit: 2.7, dueNow: 0, replaces: 'pro' })
  expect([quote.charges, quote.message]).toEqual([
    'No charge today. Next charge: ₹9 on 10/04/2026, then every month.',
    'Includes a ₹2.70 credit from your current Pro plan.',
  ])
  const { answered } = await subscribe(shop, owner, 'enterprise')
  expect(answered.reply).toMatchObject({ plan: 'enterprise', status: 'trialing', currentPeriodEnd: quote.firstChargeAt })
  await shop.settle()
  expect(razorpay.provider.find(razorpay.provider.subscriptions, subscriptionId).status).toBe('cancelled')
  expect(await planOfPerson(shop, asha)).toMatchObject({ plan: 'enterprise', endsIfCancelled: quote.firstChargeAt })
  // What was credited is paid for: cancelling does not take it away.
  const { reply: cancelled } = await ask(app, owner, billingCalls.cancel)
  expect(cancelled).toMatchObject({ plan: 'enterprise', cancelAtPeriodEnd: true, currentPeriodEnd: quote.firstChargeAt })
})

test('an order that was left open and is paid after another plan was bought takes nothing of that plan away', async () => {
  await using shop = await openShop({ now: '2026-03-01T09:00:00Z' })
  const { app, razorpay } = shop
  const asha = await aPerson(app)
  const { reply: left } = await ask(app, asha, billingCalls.createOrder, { body: { plan: 'enterprise', billingPeriod: 'monthly' } })
  app.clock.advance({ minutes: 1 })
  await buyOnce(shop, asha, 'pro', 'yearly')
  app.clock.advance({ minutes: 1 })
  const { reply } = await verify(shop, asha, razorpay.pay(left.orderId))
  expect(reply.plan).toBe('enterprise')
  // ₹9 and what is left of ₹40, at ₹9 a month.
  const months = (Date.parse(reply.currentPeriodEnd ?? '') - Date.parse('2026-03-01T09:02:00Z')) / (31 * 86_400_000)
  expect(months).toBeCloseTo((900 + 4_000) / 900, 2)
})

test('what was paid in a browser that died is heard of before anything else is bought or ended, without a webhook', async () => {
  await using shop = await openShop({ now: '2026-03-02T09:00:00Z' })
  const { app, razorpay } = shop
  const payUnheard = async (someone: Person) => {
    const { reply } = await ask(app, someone, billingCalls.createOrder, { body: pro })
    razorpay.pay(reply.orderId)
    app.clock.advance({ minutes: 1 })
  }
  const [asha, ravi, mira] = [await aPerson(app), await aPerson(app), await aPerson(app)]
  await payUnheard(asha)
  // Not a second time.
  for (const again of [billingCalls.createOrder, billingCalls.createSubscription])
    expect((await ask(app, asha, again, { body: pro })).problem?.code).toBe('conflict')
  expect((await rows(shop)).map(({ amountMinor }) => amountMinor)).toEqual([400])
  await payUnheard(ravi)
  const { reply } = await ask(app, ravi, billingCalls.createOrder, { body: { plan: 'enterprise', billingPeriod: 'monthly' } })
  expect(reply.amount).toBe(501)
  await payUnheard(mira)
  await ask(app, mira, billingCalls.activateFree)
  await shop.settle()
  expect((await planOfPerson(shop, mira)).plan).toBe('free')
})

test('what was given back is not credited to the next plan, and the plan itself stays', async () => {
  await using shop = await openShop({ now: '2026-03-02T09:00:00Z' })
  const { app, razorpay } = shop
  const creditOf = async (someone: Person) =>
    (await ask(app, someone, billingCalls.quote, { query: { plan: 'enterprise', billingPeriod: 'monthly', paymentType: 'onetime' } })).reply
      .credit
  const asha = await aPerson(app)
  await buyOnce(shop, asha, 'pro')
  const [once] = razorpay.provider.payments.values()
  razorpay.provider.refund(once?.id ?? '', 150)
  await shop.settle()
  expect(await creditOf(asha)).toBe(2.5)
  expect(await planOfPerson(shop, asha)).toMatchObject({ plan: 'pro', currentPeriodEnd: '2026-04-02T09:00:00Z' })
  const ravi = await afterTrial(shop)
  await subscribe(shop, ravi, 'pro')
  razorpay.provider.refund([...razorpay.provider.payments.keys()].at(-1) ?? '')
  await shop.settle()
  expect(await creditOf(ravi)).toBe(0)
})

test('purchases are limited to sixty an hour', async () => {
  await using shop = await openShop({ config: { rateLimit: true } })
  const asha = await aPerson(shop.app)
  const begin = () => ask(shop.app, asha, billingCalls.createOrder, { body: pro })
  const statuses: number[] = []
  for (let nth = 0; nth < 61; nth += 1) statuses.push((await begin()).status)
  expect(statuses.filter((status) => status === 200)).toHaveLength(60)
  expect(statuses.at(-1)).toBe(429)
})

test('a provider that makes the order and never answers is asked for it after ten seconds', async () => {
  await using shop = await openShop()
  const asha = await aPerson(shop.app)
  shop.razorpay.answer(({ method }) => (method === 'POST' ? 'hang_after' : undefined))
  const answered = await ask(shop.app, asha, billingCalls.createOrder, { body: pro })
  expect(answered.status).toBe(200)
  expect([...shop.razorpay.provider.orders.keys()]).toEqual([answered.reply.orderId])
})

test('a payment for a deleted account is recorded without an owner', async () => {
  await using shop = await openShop()
  const asha = await aPerson(shop.app)
  const { reply: order } = await ask(shop.app, asha, billingCalls.createOrder, { body: pro })
  await ask(shop.app, asha, accountCalls.deleteMe)
  shop.razorpay.pay(order.orderId)
  await shop.settle()
  expect((await rows(shop)).map(({ ownerId, amountMinor, status }) => [ownerId, amountMinor, status])).toEqual([[null, 400, 'captured']])
})
