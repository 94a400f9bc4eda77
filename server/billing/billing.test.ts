// Also on PostgreSQL: jobs of billing are leased, and amounts come as the driver types them.
import { sql } from 'drizzle-orm'
import { expect, test } from 'vitest'
import { accountCalls } from '#contract/accounts.ts'
import { billingCalls } from '#contract/billing.ts'
import { invoiceCalls } from '#contract/invoices.ts'
import { aPerson, type Person, signedInAgain } from '#test/factories.ts'
import { ask, openTestApp, type TestApp } from '#test/harness.ts'
import { buyOnce, openShop, planOfPerson, subscribe, verify } from '#test/shop.ts'
import { entitlementsOf, refuseWithout } from './billing.ts'

const draft = { clientName: 'Kaveri Foods', clientEmail: 'billing@kaveri.example', amount: 5000, dueDate: '2026-03-20' }
const create = (app: TestApp, person: Person) => ask(app, person, invoiceCalls.create, { body: draft })
async function createMany(app: TestApp, person: Person, count: number): Promise<void> {
  for (let nth = 0; nth < count; nth += 1) expect((await create(app, person)).status).toBe(201)
}

// What a plan is

test('a new account is on Free with every Pro feature for 14 days, without a card', async () => {
  await using shop = await openShop({ now: '2026-03-02T09:00:00Z' })
  const { app } = shop
  const asha = await aPerson(app)
  expect(await planOfPerson(shop, asha)).toEqual({
    state: 'Pro trial, 14 days left',
    nextChargeAt: null,
    renewableFrom: null,
    plan: 'free',
    status: 'active',
    paymentType: null,
    billingPeriod: null,
    amount: 0,
    currency: 'INR',
    currentPeriodStart: null,
    currentPeriodEnd: null,
    trialEnd: '2026-03-16T09:00:00Z',
    newUntil: '2026-03-16T09:00:00Z',
    cancelAtPeriodEnd: false,
    endsIfCancelled: null,
    ended: null,
    entitlements: {
      plan: 'pro',
      by: 'trial',
      invoicesPerMonth: null,
      abilities: ['scheduling', 'smartReminders', 'advancedAnalytics'],
      until: '2026-03-16T09:00:00Z',
    },
    usage: { month: '2026-03', invoicesCreated: 0, invoicesPerMonth: null, invoicesLeft: null },
    notices: [],
    checkout: { scriptUrl: shop.razorpay.settings.checkoutUrl, keyId: shop.razorpay.settings.keyId, themeColor: '#2563eb' },
  })
  expect((await ask(app, null, accountCalls.server)).reply.payments).toBe(true)
})

test('the end of the trial is notified three days before and on the day, and data stays', async () => {
  await using shop = await openShop({ now: '2026-03-02T09:00:00Z' })
  const { app } = shop
  const asha = await aPerson(app)
  await createMany(app, asha, 51)
  const messages = async (now: string) => {
    app.clock.set(now)
    return (await planOfPerson(shop, asha)).notices.map(({ kind, daysLeft, message }) => [kind, daysLeft, message])
  }
  expect(await messages('2026-03-13T08:59:00Z')).toEqual([])
  expect(await messages('2026-03-13T09:00:00Z')).toEqual([
    ['trial_ending', 3, 'Your free trial of Pro ends on 16/03/2026, in 3 days. Choose Pro to keep daily reminders.'],
  ])
  expect(await messages('2026-03-16T09:00:00Z')).toEqual([
    [
      'trial_ended',
      0,
      'Your free trial of Pro ended on 16/03/2026. Your data stays, and daily reminders are on hold until you choose Pro.',
    ],
  ])
  expect(await messages('2026-03-23T09:00:00Z')).toEqual([])
  expect((await ask(app, await signedInAgain(app, asha), invoiceCalls.list, { query: {} })).reply).toHaveLength(51)
  expect((await planOfPerson(shop, asha)).usage).toEqual({ month: '2026-03', invoicesCreated: 51, invoicesPerMonth: 50, invoicesLeft: 0 })
  expect((await create(app, await signedInAgain(app, asha))).problem?.message).toBe(
    'Free includes 50 invoices a month, and you have created more. Pro has no limit. On Free you can continue from 01/04/2026.',
  )
})

test('buying in the trial and switching back to Free notifies the end of the trial only', async () => {
  await using shop = await openShop({ now: '2026-03-02T09:00:00Z' })
  const { app } = shop
  const asha = await aPerson(app)
  await buyOnce(shop, asha, 'pro')
  expect(await planOfPerson(shop, asha)).toMatchObject({ plan: 'pro', trialEnd: null, newUntil: '2026-03-16T09:00:00Z' })
  app.clock.advance({ hours: 24 })
  await ask(app, await signedInAgain(app, asha), billingCalls.activateFree)
  const messages = async () => {
    const { entitlements, notices } = await planOfPerson(shop, asha)
    return [entitlements.by, notices.map(({ message }) => message)]
  }
  expect(await messages()).toEqual(['trial', []])
  app.clock.set('2026-03-14T09:00:00Z')
  expect(await messages()).toEqual(['trial', ['Your free trial of Pro ends on 16/03/2026, in 2 days. Choose Pro to keep daily reminders.']])
  app.clock.set('2026-03-16T09:00:00Z')
  expect(await messages()).toEqual([
    'plan',
    ['Your free trial of Pro ended on 16/03/2026. Your data stays, and daily reminders are on hold until you choose Pro.'],
  ])
  expect((await planOfPerson(shop, asha)).newUntil).toBeNull()
})

test('an account creates at most 100,000 invoices a month, by any plan, and where nothing is sold', async () => {
  await using app = await openTestApp({ now: '2026-03-02T09:00:00Z' })
  const asha = await aPerson(app)
  await createMany(app, asha, 1)
  await app.db.execute(sql`UPDATE invoice_counts SET created = 99999 WHERE owner_id = ${asha.id}::uuid`)
  await createMany(app, asha, 1)
  const beyond = await ask(app, asha, invoiceCalls.create, { body: { ...draft, status: 'paid' } })
  const message = 'An account can create 1,00,000 invoices a month, and yours has created that many. You can continue from 01/04/2026.'
  expect(beyond).toMatchObject({ status: 409, problem: { code: 'conflict', message } })
  app.clock.set('2026-04-01T09:00:00Z')
  await createMany(app, await signedInAgain(app, asha), 1)
})

test('where no provider is set up nothing is limited, and nothing can be bought', async () => {
  await using app = await openTestApp({ now: '2026-03-02T09:00:00Z' })
  const asha = await aPerson(app)
  app.clock.advance({ days: 60 })
  const owner = await signedInAgain(app, asha)
  await createMany(app, owner, 60)
  const plan = await planOfPerson({ app }, asha)
  expect(plan).toMatchObject({ state: 'Free', plan: 'free', trialEnd: null, notices: [], checkout: null })
  expect(plan.entitlements).toMatchObject({ by: 'unlimited_server', invoicesPerMonth: null, until: null })
  expect(plan.usage).toEqual({ month: '2026-05', invoicesCreated: 60, invoicesPerMonth: null, invoicesLeft: null })
  await expect(refuseWithout('scheduling', app.db, asha.id, app.clock.now(), app.deps.config)).resolves.toBeUndefined()
  const body = { plan: 'pro', billingPeriod: 'monthly' } as const
  const notSetUp = { code: 'payments_not_set_up', message: 'Payments are not set up on this server.' }
  for (const refused of [
    await ask(app, owner, billingCalls.createOrder, { body }),
    await ask(app, owner, billingCalls.createSubscription, { body }),
    await ask(app, owner, billingCalls.quote, { query: { ...body, paymentType: 'onetime' } }),
  ])
    expect([refused.status, refused.problem]).toEqual([503, notSetUp])
  const cancelled = await ask(app, owner, billingCalls.cancel)
  expect([cancelled.status, cancelled.problem?.message]).toEqual([503, 'Subscription cancellation will be available soon'])
  expect((await ask(app, owner, billingCalls.activateFree)).status).toBe(200)
})

// The limit of invoices

test('on Free the 51st invoice of a calendar month is refused, naming what is allowed and what lifts it', async () => {
  await using shop = await openShop({ now: '2026-03-01T20:00:00Z' })
  const { app } = shop
  const asha = await aPerson(app, { timezone: 'Asia/Kolkata' })
  app.clock.set('2026-03-20T09:00:00Z')
  let owner = await signedInAgain(app, asha)
  await createMany(app, owner, 50)
  const refused = await create(app, owner)
  expect(refused.status).toBe(402)
  expect(refused.problem).toEqual({
    code: 'plan_limit',
    message: 'Free includes 50 invoices a month, and you have created as many. Pro has no limit. On Free you can continue from 01/04/2026.',
  })
  // The month is the account's own: in India April begins while it is still March in UTC.
  app.clock.set('2026-03-31T18:29:59Z')
  owner = await signedInAgain(app, asha)
  expect((await create(app, owner)).status).toBe(402)
  app.clock.set('2026-03-31T18:30:00Z')
  expect((await create(app, owner)).status).toBe(201)
  expect((await planOfPerson(shop, asha)).usage).toEqual({ month: '2026-04', invoicesCreated: 1, invoicesPerMonth: 50, invoicesLeft: 49 })
})

test('deleting an invoice gives nothing back, and a refused one counts for nothing', async () => {
  await using shop = await openShop({ now: '2026-03-01T09:00:00Z' })
  const { app } = shop
  const asha = await aPerson(app)
  app.clock.set('2026-03-20T09:00:00Z')
  const owner = await signedInAgain(app, asha)
  await createMany(app, owner, 50)
  const [first] = (await ask(app, owner, invoiceCalls.list, { query: { limit: 1 } })).reply
  await ask(app, owner, invoiceCalls.remove, { params: { id: first?._id ?? '' } })
  for (let nth = 0; nth < 3; nth += 1) expect((await create(app, owner)).status).toBe(402)
  expect((await planOfPerson(shop, asha)).usage.invoicesCreated).toBe(50)
  // Existing invoices can still be changed, paid and restored.
  expect((await ask(app, owner, invoiceCalls.restore, { params: { id: first?._id ?? '' } })).status).toBe(200)
})

test('sixty at once at forty-nine make exactly one more', async () => {
  await using shop = await openShop({ now: '2026-03-01T09:00:00Z' })
  const { app } = shop
  const asha = await aPerson(app)
  app.clock.set('2026-03-20T09:00:00Z')
  const owner = await signedInAgain(app, asha)
  await createMany(app, owner, 49)
  const statuses = (await Promise.all(Array.from({ length: 60 }, () => create(app, owner)))).map(({ status }) => status)
  expect(statuses.filter((status) => status === 201)).toHaveLength(1)
  expect(statuses.filter((status) => status === 402)).toHaveLength(59)
  expect((await ask(app, owner, invoiceCalls.list, { query: {} })).reply).toHaveLength(50)
})

test('buying Pro lifts the limit at once', async () => {
  await using shop = await openShop({ now: '2026-03-01T09:00:00Z' })
  const { app } = shop
  const asha = await aPerson(app)
  app.clock.set('2026-03-20T09:00:00Z')
  const owner = await signedInAgain(app, asha)
  await createMany(app, owner, 50)
  expect((await create(app, owner)).status).toBe(402)
  expect((await buyOnce(shop, owner, 'pro')).status).toBe(200)
  expect((await create(app, owner)).status).toBe(201)
  expect((await planOfPerson(shop, asha)).usage).toMatchObject({ invoicesCreated: 51, invoicesLeft: null })
})

test('daily reminders are refused on Free, naming Pro, and are open in the trial and on Pro', async () => {
  await using shop = await openShop({ now: '2026-03-01T09:00:00Z' })
  const { app } = shop
  const asha = await aPerson(app)
  const check = () => refuseWithout('scheduling', app.db, asha.id, app.clock.now(), app.deps.config)
  await expect(check()).resolves.toBeUndefined()
  app.clock.set('2026-03-20T09:00:00Z')
  await expect(check()).rejects.toMatchObject({
    code: 'plan_limit',
    status: 402,
    message: 'Daily reminders need Pro: choose it under Pricing. Send Now works without it.',
  })
  await buyOnce(shop, await signedInAgain(app, asha), 'pro')
  await expect(check()).resolves.toBeUndefined()
  expect(await entitlementsOf(app.db, asha.id, app.clock.now(), app.deps.config)).toMatchObject({ plan: 'pro', by: 'plan' })
})

// The end of a period

test('what was paid once runs for its period, says so seven days and one day before, and falls back to Free', async () => {
  await using shop = await openShop({ now: '2026-03-01T09:00:00Z' })
  const { app } = shop
  const asha = await aPerson(app)
  await buyOnce(shop, asha, 'pro')
  expect(await planOfPerson(shop, asha)).toMatchObject({
    plan: 'pro',
    status: 'active',
    paymentType: 'onetime',
    billingPeriod: 'monthly',
    amount: 400,
    currentPeriodStart: '2026-03-01T09:00:00Z',
    currentPeriodEnd: '2026-04-01T09:00:00Z',
    trialEnd: null,
    cancelAtPeriodEnd: false,
    state: 'Pro until 01/04/2026',
    renewableFrom: '2026-03-18T09:00:00Z',
    nextChargeAt: null,
    notices: [],
    usage: { invoicesLeft: null },
  })
  app.clock.set('2026-03-25T09:00:00Z')
  expect((await planOfPerson(shop, asha)).notices).toEqual([
    {
      kind: 'period_ending',
      at: '2026-04-01T09:00:00Z',
      daysLeft: 7,
      message:
        'Pro ends on 01/04/2026, in 7 days. Buy it again to continue from that day; otherwise you move to Free: your data stays, and daily reminders are put on hold.',
    },
  ])
  app.clock.set('2026-03-31T09:00:00Z')
  expect((await planOfPerson(shop, asha)).notices[0]).toMatchObject({
    daysLeft: 1,
    message:
      'Pro ends on 01/04/2026, within a day. Buy it again to continue from that day; otherwise you move to Free: your data stays, and daily reminders are put on hold.',
  })
  app.clock.set('2026-04-01T09:00:00Z')
  const after = await planOfPerson(shop, asha)
  expect(after).toMatchObject({ plan: 'free', status: 'active', ended: { plan: 'pro', at: '2026-04-01T09:00:00Z' } })
  expect(after.entitlements).toMatchObject({ plan: 'free', invoicesPerMonth: 50, abilities: [] })
  expect(after.notices.map(({ message }) => message)).toEqual([
    'Pro ended on 01/04/2026. You are now on Free: your data stays, and daily reminders are on hold until you choose a plan.',
  ])
  // It can be bought again.
  expect((await buyOnce(shop, await signedInAgain(app, asha), 'pro')).reply).toMatchObject({
    plan: 'pro',
    currentPeriodEnd: '2026-05-01T09:00:00Z',
  })
})

test('the end of the first of two consecutive periods is not notified', async () => {
  await using shop = await openShop({ now: '2026-03-02T09:00:00Z' })
  const { app, razorpay } = shop
  const asha = await aPerson(app)
  const body = { plan: 'pro', billingPeriod: 'monthly' } as const
  const { reply: one } = await ask(app, asha, billingCalls.createOrder, { body })
  app.clock.advance({ minutes: 16 })
  const { reply: two } = await ask(app, asha, billingCalls.createOrder, { body })
  await verify(shop, asha, razorpay.pay(one.orderId))
  await verify(shop, asha, razorpay.pay(two.orderId))
  app.clock.set('2026-04-01T09:00:00Z')
  expect(await planOfPerson(shop, asha)).toMatchObject({ plan: 'pro', currentPeriodEnd: '2026-05-02T09:16:00Z', notices: [] })
  app.clock.set('2026-04-30T09:16:00Z')
  expect((await planOfPerson(shop, asha)).notices).toMatchObject([{ kind: 'period_ending', at: '2026-05-02T09:16:00Z', daysLeft: 2 }])
})

// Deleting an account

test('deleting an account cancels its subscription at the provider, also when that takes a while, and keeps the ledger', async () => {
  await using shop = await openShop({ now: '2026-03-01T09:00:00Z' })
  const { app, razorpay } = shop
  const asha = await aPerson(app)
  app.clock.set('2026-03-20T09:00:00Z')
  const owner = await signedInAgain(app, asha)
  const { subscriptionId } = await subscribe(shop, owner, 'pro')
  razorpay.answer(() => ({ status: 502, html: 'Bad Gateway' }))
  expect((await ask(app, owner, accountCalls.deleteMe)).status).toBe(204)
  await shop.settle()
  const there = () => razorpay.provider.find(razorpay.provider.subscriptions, subscriptionId).status
  expect(there()).toBe('active')
  razorpay.answer(() => undefined)
  await shop.pass({ minutes: 5 })
  expect(there()).toBe('cancelled')
  const { rows } = (await app.db.execute('SELECT owner_id, amount_minor FROM payments')) as { rows: unknown[] }
  expect(rows).toEqual([{ owner_id: null, amount_minor: 400 }])
})

test('cancelling the subscription of a deleted account is repeated for days, until the provider has answered', async () => {
  await using shop = await openShop({ now: '2026-03-01T09:00:00Z' })
  const { app, razorpay } = shop
  const asha = await aPerson(app)
  app.clock.set('2026-03-20T09:00:00Z')
  const owner = await signedInAgain(app, asha)
  const { subscriptionId } = await subscribe(shop, owner, 'pro', 'yearly')
  const there = () => razorpay.provider.find(razorpay.provider.subscriptions, subscriptionId).status
  // Only cancelling fails: what is read of the subscription is answered.
  razorpay.answer(({ path }) => (path.endsWith('/cancel') ? { status: 500, html: 'Internal Server Error' } : undefined))
  await ask(app, owner, accountCalls.deleteMe)
  for (let day = 0; day < 5; day += 1) {
    await shop.pass({ hours: 24 })
    expect(there()).toBe('active')
  }
  razorpay.answer(() => undefined)
  await shop.pass({ hours: 24 })
  expect(there()).toBe('cancelled')
  expect(razorpay.provider.taken()).toBe(4_000)
})

test('an import on Free writes down as many as the month has room for and says why not of the others', async () => {
  await using shop = await openShop({ now: '2026-03-01T09:00:00Z' })
  const { app } = shop
  const asha = await aPerson(app)
  app.clock.set('2026-03-20T09:00:00Z')
  const owner = await signedInAgain(app, asha)
  await createMany(app, owner, 48)
  const lines = Array.from({ length: 5 }, (_, nth) => ({ ...draft, amount: 100 + nth }))
  const { reply } = await ask(app, owner, invoiceCalls.import, { body: { lines } })
  expect(reply.imported).toBe(2)
  expect(reply.lines.map((one) => ('code' in one ? one.code : 'written'))).toEqual([
    'written',
    'written',
    'plan_limit',
    'plan_limit',
    'plan_limit',
  ])
  expect((await planOfPerson(shop, asha)).usage).toMatchObject({ invoicesCreated: 50, invoicesLeft: 0 })
})
