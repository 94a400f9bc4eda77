// Also on PostgreSQL: a delivery is claimed by one process, and advisory locks order events.
import { eq, sql } from 'drizzle-orm'
import PostalMime from 'postal-mime'
import { expect, test } from 'vitest'
import { accountCalls } from '#contract/accounts.ts'
import { integrationCalls, type Webhook, type WebhookDelivery } from '#contract/integrations.ts'
import { invoiceCalls } from '#contract/invoices.ts'
import { noticeCalls } from '#contract/notices.ts'
import { throttles } from '#server/accounts/tables.ts'
import { reseal } from '#server/platform/reseal.ts'
import { anInvoice, aPerson, type Person, signedInAgain } from '#test/factories.ts'
import { type FakeReceiver, openFakeReceiver } from '#test/fakes/receiver.ts'
import { openFakeSmtp } from '#test/fakes/smtp-server.ts'
import { ask, openTestApp, type TestApp } from '#test/harness.ts'
import { connect, zapier, zapierItself } from '#test/programs.ts'
import { thorough } from '#test/thorough.ts'
import { aWebhook, isSigned, toldTo } from '#test/webhooks.ts'
import { defaultNetwork } from './http-client.ts'
import { composeWebhooks, pruneWebhookEvents } from './outbox.ts'
import { webhookDeliveries, webhookEvents } from './tables.ts'
import { callReceivers, openReceivers } from './webhook-dispatch.ts'
import { sealedWebhooks, sealWebhookSecret, signWebhook } from './webhook-secret.ts'

const lax = { allowPrivateWebhookHosts: true }
const now = '2026-03-02T04:30:00Z'
const never = new AbortController().signal

interface Listening extends AsyncDisposable {
  app: TestApp
  asha: Person
  receiver: FakeReceiver
  webhook: Webhook & { secret: string }
}

/** An account whose webhook gets every event. */
async function listening(config: Parameters<typeof openTestApp>[0] = {}): Promise<Listening> {
  const receiver = await openFakeReceiver()
  const app = await openTestApp({ now, ...config, config: { ...lax, ...config.config } })
  const asha = await aPerson(app, { confirmed: true })
  return {
    app,
    asha,
    receiver,
    webhook: await aWebhook(app, asha, receiver),
    async [Symbol.asyncDispose]() {
      await app[Symbol.asyncDispose]()
      await receiver[Symbol.asyncDispose]()
    },
  }
}

const log = async ({ app, asha, webhook }: Listening): Promise<WebhookDelivery[]> =>
  (await ask(app, await signedInAgain(app, asha), integrationCalls.webhookDeliveries, { params: { id: webhook._id } })).reply
const webhooksOf = async ({ app, asha }: Listening): Promise<Webhook[]> =>
  (await ask(app, await signedInAgain(app, asha), integrationCalls.webhooks)).reply
const change = async ({ app, asha, webhook }: Listening, body: { paused?: boolean; url?: string }) =>
  ask(app, await signedInAgain(app, asha), integrationCalls.changeWebhook, { params: { id: webhook._id }, body })
const sendTest = async ({ app, asha, webhook }: Listening) =>
  (await ask(app, asha, integrationCalls.testWebhook, { params: { id: webhook._id } })).reply
const idsOf = ({ receiver }: Listening) => receiver.calls.map(({ headers }) => headers['webhook-id'])
const secondsOf = ({ app }: Listening) => Math.floor(app.clock.now().epochMilliseconds / 1000)

/** Of an invoice that does not become overdue meanwhile, which would be another event. */
const notDue = { dueDate: '2026-12-31' }

test('the signature matches the example of the specification', () => {
  const secretKey = 'a secret key for tests, 32 characters'
  const id = '019caccf-8b30-7f16-a2c9-58e07d41b6f3'
  const sealedSecret = sealWebhookSecret(secretKey, id, 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw')
  const told = { eventId: 'msg_p5jXN8AQM9LWM0D4loKWxJek', body: '{"test": 2432232314}' }
  expect(signWebhook(secretKey, { id, sealedSecret }, told, Temporal.Instant.fromEpochMilliseconds(1_614_265_330_000))).toEqual({
    'webhook-id': 'msg_p5jXN8AQM9LWM0D4loKWxJek',
    'webhook-timestamp': '1614265330',
    'webhook-signature': 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=',
  })
  // Sealed for its row, it signs for no other.
  expect(() => signWebhook(secretKey, { id: 'another', sealedSecret }, told, Temporal.Instant.from(now))).toThrow()
})

test('each try is signed for its own time; the event and its bytes stay the same', async () => {
  await using all = await listening()
  const { app, asha, receiver, webhook } = all
  receiver.answer({ status: 500 })
  await anInvoice(app, { owner: asha, ...notDue })
  await app.runJobs()
  const [first] = receiver.calls
  if (!first) throw new Error('Nothing was told.')
  expect(isSigned(first, webhook.secret, secondsOf(all))).toBe(true)
  app.clock.advance({ seconds: 5 })
  await app.runJobs()
  const [, again] = receiver.calls
  if (!again) throw new Error('It was not told again.')
  expect(isSigned(again, webhook.secret, secondsOf(all))).toBe(true)
  expect([again.body, again.headers['webhook-id']]).toEqual([first.body, first.headers['webhook-id']])
  expect([first, again].map(({ headers }) => headers['webhook-timestamp'])).toEqual(['1772425800', '1772425805'])
  expect(JSON.parse(first.body)).toMatchObject({ id: first.headers['webhook-id'] })

  expect(isSigned({ ...again, body: again.body.replace('5000', '6000') }, webhook.secret, secondsOf(all))).toBe(false)
  expect(isSigned(again, `whsec_${Buffer.alloc(32).toString('base64')}`, secondsOf(all))).toBe(false)
})

test('a failing receiver is retried after 5 seconds, 5 and 30 minutes, 2, 5, 10 and 10 hours, and then no more', async () => {
  await using all = await listening()
  const { app, asha, receiver } = all
  receiver.answer((_call, nth) => ({ status: 500, body: `The till is closed (${nth}).` }))
  await anInvoice(app, { owner: asha, ...notDue })
  await app.runJobs()
  const pauses = [5, 300, 1_800, 7_200, 18_000, 36_000, 36_000]
  for (const [tried, seconds] of pauses.entries()) {
    const [delivery] = await log(all)
    expect(delivery).toMatchObject({
      state: 'waiting',
      attempt: tried + 1,
      status: 500,
      words: `The till is closed (${tried + 1}).`,
      lastTriedAt: app.clock.now().toString(),
      nextTryAt: app.clock.now().add({ seconds }).toString(),
    })
    app.clock.advance({ seconds: seconds - 1 })
    await app.runJobs()
    expect(receiver.calls.length).toBe(tried + 1)
    app.clock.advance({ seconds: 1 })
    await app.runJobs()
    expect(receiver.calls.length).toBe(tried + 2)
  }
  expect(await log(all)).toMatchObject([{ state: 'failed', attempt: 8, status: 500, nextTryAt: null }])
  expect(await webhooksOf(all)).toMatchObject([{ failures: 8, pausedBecause: null, lastDeliveredAt: null }])
  app.clock.advance({ hours: 48 })
  await app.runJobs()
  expect(receiver.calls.length).toBe(8)
  expect(new Set(idsOf(all)).size).toBe(1)
})

test('a receiver that works again gets the rest, and its failures are reset', async () => {
  await using all = await listening()
  const { app, asha, receiver } = all
  receiver.answer((_call, nth) => (nth < 3 ? 'reset' : { status: 204 }))
  await anInvoice(app, { owner: asha, ...notDue })
  await app.runJobs()
  app.clock.advance({ seconds: 5 })
  await app.runJobs()
  expect(await webhooksOf(all)).toMatchObject([{ failures: 2 }])
  app.clock.advance({ minutes: 5 })
  await app.runJobs()
  const at = app.clock.now().toString()
  expect(await log(all)).toMatchObject([{ state: 'delivered', attempt: 3, status: 204, words: '', lastTriedAt: at, nextTryAt: null }])
  expect(await webhooksOf(all)).toMatchObject([{ failures: 0, lastDeliveredAt: at }])
})

test('an event that a receiver refuses does not block the next ones', async () => {
  await using all = await listening()
  const { app, asha, receiver } = all
  receiver.answer(({ body }) => ({ status: body.includes('Cursed') ? 500 : 200 }))
  for (const clientName of ['Arjun & Sons', 'Cursed Mills', 'Studio Banyan']) await anInvoice(app, { owner: asha, clientName })
  await app.runJobs()
  expect((await log(all)).map(({ state }) => state)).toEqual(['delivered', 'waiting', 'delivered'])
})

test('a receiver that hangs is cut off at the deadline and retried later', async () => {
  await using all = await listening()
  const { app, asha, receiver, webhook } = all
  receiver.answer('silence')
  await ask(app, asha, integrationCalls.changeWebhook, { params: { id: webhook._id }, body: { paused: true } })
  await anInvoice(app, { owner: asha, ...notDue })
  await app.runJobs()
  await change(all, { paused: false })
  await callReceivers(app.deps, { ownerId: asha.id, receivers: openReceivers() }, never, {
    ...defaultNetwork(app.deps.config),
    deadline: 300,
  })
  expect(await log(all)).toMatchObject([
    { state: 'waiting', attempt: 1, status: null, words: expect.stringContaining('did not answer within 0.3 seconds') },
  ])
  receiver.answer({ status: 200 })
  app.clock.advance({ seconds: 5 })
  await app.runJobs()
  expect(await log(all)).toMatchObject([{ state: 'delivered', attempt: 2 }])
})

test('a redirect to this machine is not followed', async () => {
  await using canary = await openFakeReceiver()
  await using all = await listening()
  const { app, asha, receiver } = all
  receiver.answer({ status: 307, headers: { location: `${canary.url}/inside` } })
  await anInvoice(app, { owner: asha, ...notDue })
  for (const seconds of [0, 5, 300]) {
    app.clock.advance({ seconds })
    await app.runJobs()
  }
  expect([receiver.calls.length, canary.connections]).toEqual([3, 0])
  expect(await log(all)).toMatchObject([{ state: 'waiting', attempt: 3, status: 307, words: expect.stringContaining('does not follow') }])
})

test('where private addresses are not allowed, a webhook with one is not called, and says why', async () => {
  await using all = await listening()
  const { app, asha, receiver } = all
  await anInvoice(app, { owner: asha, ...notDue })
  await callReceiversStrictly(app)
  expect(await log(all)).toMatchObject([{ state: 'waiting', attempt: 1, status: null, words: expect.stringContaining('https://') }])
  await app.db.execute(sql`UPDATE hooks SET url = ${`https://127.0.0.1/duely`}`)
  app.clock.advance({ seconds: 5 })
  await callReceiversStrictly(app)
  expect(await log(all)).toMatchObject([{ attempt: 2, status: null, words: expect.stringContaining('not on the public internet') }])
  expect(receiver.connections).toBe(0)
})

/** The configuration without private hosts. */
async function callReceiversStrictly(app: TestApp): Promise<void> {
  for (const { ownerId } of await app.db.selectDistinct({ ownerId: webhookEvents.ownerId }).from(webhookEvents)) {
    await composeWebhooks(app.deps, ownerId)
    await callReceivers(app.deps, { ownerId, receivers: openReceivers() }, never, defaultNetwork({ allowPrivateWebhookHosts: false }))
  }
}

test('410 removes a webhook with its deliveries and notifies its owner', async () => {
  await using all = await listening()
  const { app, asha, receiver } = all
  receiver.answer({ status: 410, body: 'I have moved away.' })
  for (let nth = 0; nth < 3; nth += 1) await anInvoice(app, { owner: asha, ...notDue })
  await app.runJobs()
  expect(receiver.calls.length).toBe(1)
  expect(await webhooksOf(all)).toEqual([])
  expect(await app.db.select().from(webhookDeliveries)).toEqual([])
  const host = new URL(receiver.url).host
  expect((await ask(app, asha, noticeCalls.list)).reply).toMatchObject([
    { kind: 'webhook_gone', title: `Webhook removed: ${host} answered 410 Gone` },
  ])
  const { reply: entries } = await ask(app, asha, accountCalls.audit, { query: {} })
  expect(entries[0]).toMatchObject({ text: `Webhook to ${host} removed.`, device: '' })
  await anInvoice(app, { owner: asha, ...notDue })
  await app.runJobs()
  expect(receiver.calls.length).toBe(1)
})

test('410 removes a Zap without a notice, because its owner turned it off', async () => {
  await using receiver = await openFakeReceiver()
  await using app = await openTestApp({ now, config: { ...lax, zapier } })
  const asha = await aPerson(app)
  const zapierOf = await connect(app, asha, zapierItself)
  await ask(app, zapierOf, integrationCalls.addZap, { body: { hookUrl: `${receiver.url}/duely`, event: 'invoice.created' } })
  receiver.answer({ status: 410 })
  await anInvoice(app, { owner: asha, ...notDue })
  await app.runJobs()
  expect((await ask(app, asha, integrationCalls.webhooks)).reply).toEqual([])
  expect((await ask(app, asha, noticeCalls.list)).reply).toEqual([])
})

test('a hundred failed tries in a row pause a webhook and notify its owner once; resumed, it gets what waits', async () => {
  await using smtp = await openFakeSmtp()
  await using all = await listening({
    config: { systemSmtpUrl: `smtp://127.0.0.1:${smtp.port}`, systemMailFrom: 'Duely <hello@duely.example>' },
  })
  const { app, asha, receiver, webhook } = all
  const host = new URL(receiver.url).host
  receiver.answer({ status: 503, body: 'Closed for ever.' })
  const lines = Array.from({ length: 105 }, (_, nth) => ({
    clientName: 'Kaveri Foods',
    clientEmail: 'a@b.example',
    amount: nth + 1,
    dueDate: '2026-03-31',
  }))
  await ask(app, asha, invoiceCalls.import, { body: { lines } })
  await app.runJobs()
  expect(receiver.calls.length).toBe(100)
  expect(await webhooksOf(all)).toMatchObject([{ pausedBecause: 'failing', failures: 100 }])
  const waiting = await log(all)
  expect(waiting.map(({ state, nextTryAt }) => [state, nextTryAt])).toEqual(waiting.map(() => ['waiting', null]))

  const { reply: notices } = await ask(app, asha, noticeCalls.list)
  expect(notices).toMatchObject([
    {
      kind: 'webhook_failing',
      title: `The webhook to ${host} is paused`,
      text: expect.stringContaining('The last answer was 503: “Closed for ever.”'),
      link: `/dashboard/connections/webhooks/${webhook._id}`,
    },
  ])
  expect(smtp.mails.map(({ envelope }) => envelope.to)).toEqual([[asha.email]])
  const mail = await PostalMime.parse(smtp.mails[0]?.raw ?? '')
  expect([mail.subject, mail.text]).toEqual(['One of your webhooks is paused', expect.stringContaining(`/webhooks/${webhook._id}`)])
  // The receiver chose its name and its answer.
  expect(`${mail.subject} ${mail.text}`).not.toContain('Closed for ever')
  expect(`${mail.subject} ${mail.text}`).not.toContain(host)

  // Resending by hand changes nothing about the pause, and does not notify again.
  expect(await sendTest(all)).toMatchObject({ state: 'failed', status: 503 })
  app.clock.advance({ hours: 12 })
  await app.runJobs()
  expect([receiver.calls.length, smtp.mails.length]).toEqual([101, 1])

  receiver.answer({ status: 200 })
  expect((await change(all, { paused: false })).reply).toMatchObject({ pausedBecause: null, failures: 0 })
  await app.runJobs()
  expect(toldTo(receiver).length).toBe(205)
  expect(new Set(toldTo(receiver).map(({ id }) => id)).size).toBe(105)
  expect((await ask(app, await signedInAgain(app, asha), noticeCalls.list)).reply).toEqual([])
})

test.runIf(thorough)('one success resets the count of failures', async () => {
  await using all = await listening()
  const { app, asha, receiver } = all
  receiver.answer((_call, nth) => ({ status: nth === 60 ? 200 : 500 }))
  const lines = Array.from({ length: 120 }, (_, nth) => ({
    clientName: 'Kaveri Foods',
    clientEmail: 'a@b.example',
    amount: nth + 1,
    dueDate: '2026-03-31',
  }))
  await ask(app, asha, invoiceCalls.import, { body: { lines } })
  await app.runJobs()
  expect(receiver.calls.length).toBe(120)
  expect(await webhooksOf(all)).toMatchObject([{ pausedBecause: null, failures: 60 }])
})

test('events of a webhook paused by hand wait, and are delivered in order once it is resumed', async () => {
  await using all = await listening()
  const { app, asha, receiver } = all
  expect((await change(all, { paused: true })).reply).toMatchObject({ pausedBecause: 'by_hand' })
  for (const amount of [1, 2, 3]) await anInvoice(app, { owner: asha, amount, ...notDue })
  await app.runJobs()
  expect(receiver.calls).toEqual([])
  expect(await log(all)).toMatchObject([{ state: 'waiting', attempt: 0, nextTryAt: null }, {}, {}])
  app.clock.advance({ hours: 72 })
  await change(all, { paused: false })
  await app.runJobs()
  expect(toldTo(receiver).map(({ data }) => 'invoice' in data && data.invoice.amount)).toEqual([1, 2, 3])
})

test('a changed URL is called from then on, also with what waits', async () => {
  await using other = await openFakeReceiver()
  await using all = await listening()
  const { app, asha, receiver } = all
  receiver.answer({ status: 500 })
  await anInvoice(app, { owner: asha, ...notDue })
  await app.runJobs()
  expect((await change(all, { url: `${other.url}/duely` })).reply).toMatchObject({ failures: 0 })
  app.clock.advance({ seconds: 5 })
  await app.runJobs()
  expect([receiver.calls.length, toldTo(other).length]).toEqual([1, 1])
})

test('a test is sent immediately and returns the response; it is never retried', async () => {
  await using all = await listening()
  const { app, receiver, webhook } = all
  receiver.answer({ status: 401, body: 'Who are you?' })
  const refused = await sendTest(all)
  expect(refused).toMatchObject({ event: 'test', state: 'failed', attempt: 1, status: 401, words: 'Who are you?', nextTryAt: null })
  app.clock.advance({ hours: 1 })
  await app.runJobs()
  expect(receiver.calls.length).toBe(1)
  receiver.answer({ status: 200, body: 'Welcome' })
  await change(all, { paused: true })
  const taken = await sendTest(all)
  expect(taken).toMatchObject({ event: 'test', state: 'delivered', status: 200, words: 'Welcome' })
  const [, call] = receiver.calls
  if (!call) throw new Error('No test arrived.')
  expect(JSON.parse(call.body)).toEqual({ id: taken.eventId, type: 'test', timestamp: app.clock.now().toString(), data: {} })
  expect(isSigned(call, webhook.secret, secondsOf(all))).toBe(true)
  expect(await log(all)).toEqual([taken, refused])
  expect(await webhooksOf(all)).toMatchObject([{ pausedBecause: 'by_hand', failures: 0, lastDeliveredAt: app.clock.now().toString() }])
})

test('a test answered with 410 reports it, and removes the webhook', async () => {
  await using all = await listening()
  all.receiver.answer({ status: 410 })
  expect(await sendTest(all)).toMatchObject({ state: 'failed', status: 410 })
  expect(await webhooksOf(all)).toEqual([])
})

test('resending delivers the same bytes under the same id, in any state of the delivery', async () => {
  await using all = await listening()
  const { app, asha, receiver, webhook } = all
  await anInvoice(app, { owner: asha, ...notDue })
  await app.runJobs()
  const [delivered] = await log(all)
  const resend = async () =>
    (await ask(app, asha, integrationCalls.resend, { params: { id: webhook._id, deliveryId: delivered?._id ?? '' } })).reply
  expect(await resend()).toMatchObject({ _id: delivered?._id, state: 'delivered', attempt: 2, status: 200 })
  receiver.answer({ status: 500 })
  expect(await resend()).toMatchObject({ state: 'failed', attempt: 3, status: 500, nextTryAt: null })
  app.clock.advance({ hours: 1 })
  await app.runJobs()
  expect(receiver.calls.length).toBe(3)
  receiver.answer({ status: 200 })
  expect(await resend()).toMatchObject({ state: 'delivered', attempt: 4 })
  expect(new Set(idsOf(all)).size).toBe(1)
  expect(new Set(receiver.calls.map(({ body }) => body)).size).toBe(1)
  expect(await log(all)).toHaveLength(1)
})

test('a waiting delivery keeps waiting when resending it fails too', async () => {
  await using all = await listening()
  const { app, asha, receiver, webhook } = all
  receiver.answer({ status: 500 })
  await anInvoice(app, { owner: asha, ...notDue })
  await app.runJobs()
  const [waiting] = await log(all)
  const params = { id: webhook._id, deliveryId: waiting?._id ?? '' }
  const { reply } = await ask(app, asha, integrationCalls.resend, { params })
  expect(reply).toMatchObject({ state: 'waiting', attempt: 2, nextTryAt: app.clock.now().add({ seconds: 300 }).toString() })
  receiver.answer({ status: 200 })
  app.clock.advance({ seconds: 300 })
  await app.runJobs()
  expect(await log(all)).toMatchObject([{ state: 'delivered', attempt: 3 }])
})

test('tests and resends are limited in number', async () => {
  await using all = await listening({ config: { rateLimit: true } })
  const statuses: number[] = []
  const { app, asha, webhook } = all
  // Adding the webhook sent a challenge, which counts too.
  await app.db
    .update(throttles)
    .set({ count: sql`${throttles.count} + 117` })
    .where(eq(throttles.key, `hook-by-hand:${asha.id}`))
  for (let nth = 0; nth < 4; nth += 1)
    statuses.push((await ask(app, asha, integrationCalls.testWebhook, { params: { id: webhook._id } })).status)
  expect(statuses).toEqual([200, 200, 429, 429])
})

test('an event whose process died before the response is sent once more under the same id, and a late result changes nothing', async () => {
  await using all = await listening()
  const { app, asha, receiver } = all
  receiver.answer('silence')
  await anInvoice(app, { owner: asha, ...notDue })
  await change(all, { paused: true })
  await app.runJobs()
  await change(all, { paused: false })
  // The first process gets no response, for so long that it might as well be dead.
  const first = callReceivers(app.deps, { ownerId: asha.id, receivers: openReceivers() }, never, {
    ...defaultNetwork(app.deps.config),
    deadline: 60_000,
  })
  while (receiver.calls.length === 0) await new Promise((resolve) => setImmediate(resolve))
  receiver.answer({ status: 200 })
  app.clock.advance({ seconds: 59 })
  await callReceivers(app.deps, { ownerId: asha.id, receivers: openReceivers() }, never)
  expect(receiver.calls.length).toBe(1)
  app.clock.advance({ seconds: 1 })
  await callReceivers(app.deps, { ownerId: asha.id, receivers: openReceivers() }, never)
  expect(receiver.calls.length).toBe(2)
  receiver.hangUp()
  await first
  expect(new Set(idsOf(all)).size).toBe(1)
  expect(await log(all)).toMatchObject([{ state: 'delivered', attempt: 2, status: 200 }])
  expect(await webhooksOf(all)).toMatchObject([{ failures: 0 }])
})

test('a webhook removed during a call is removed with everything of it', async () => {
  await using all = await listening()
  const { app, asha, receiver, webhook } = all
  receiver.answer(() => 'silence')
  await anInvoice(app, { owner: asha, ...notDue })
  await change(all, { paused: true })
  await app.runJobs()
  await change(all, { paused: false })
  const calling = callReceivers(app.deps, { ownerId: asha.id, receivers: openReceivers() }, never, {
    ...defaultNetwork(app.deps.config),
    deadline: 60_000,
  })
  while (receiver.calls.length === 0) await new Promise((resolve) => setImmediate(resolve))
  await ask(app, asha, integrationCalls.removeWebhook, { params: { id: webhook._id } })
  receiver.hangUp()
  await calling
  expect(await app.db.select().from(webhookDeliveries)).toEqual([])
})

test('an account deleted during its calls is deleted completely, without an error', async () => {
  await using all = await listening()
  const { app, asha, receiver, webhook } = all
  const others = await Promise.all(Array.from({ length: 4 }, (_, nth) => aWebhook(app, asha, receiver, { path: `/${nth}` })))
  const lines = Array.from({ length: 30 }, (_, nth) => ({
    clientName: 'Kaveri Foods',
    clientEmail: 'a@b.example',
    amount: nth + 1,
    dueDate: '2026-03-31',
  }))
  const imported = async () => ask(app, asha, invoiceCalls.import, { body: { lines, keepDuplicates: true } })
  await imported()
  await composeWebhooks(app.deps, asha.id)
  await imported()
  const telling = callReceivers(app.deps, { ownerId: asha.id, receivers: openReceivers() }, never)
  const removing = ask(app, asha, integrationCalls.removeWebhook, { params: { id: webhook._id } })
  while (receiver.calls.length < 10) await new Promise((resolve) => setImmediate(resolve))
  const composing = composeWebhooks(app.deps, asha.id)
  const moving = others.map(({ _id }, nth) =>
    ask(app, asha, integrationCalls.changeWebhook, { params: { id: _id }, body: { url: `${receiver.url}/moved/${nth}` } }),
  )
  expect((await ask(app, asha, accountCalls.deleteMe)).status).toBe(204)
  expect((await removing).status).toBe(204)
  for (const { status } of await Promise.all(moving)) expect(status).toBeLessThan(500)
  await Promise.all([telling, composing])
  expect([await app.db.select().from(webhookEvents), await app.db.select().from(webhookDeliveries)]).toEqual([[], []])
})

test('a new secret signs from then on, and the old one no more', async () => {
  await using all = await listening()
  const { app, asha, receiver, webhook } = all
  const { reply } = await ask(app, asha, integrationCalls.replaceSecret, { params: { id: webhook._id } })
  expect(reply.secret).not.toBe(webhook.secret)
  await sendTest(all)
  const [call] = receiver.calls
  if (!call) throw new Error('No test arrived.')
  expect([reply.secret, webhook.secret].map((secret) => isSigned(call, secret, secondsOf(all)))).toEqual([true, false])
})

test('after a change of the server’s key the signatures stay valid', async () => {
  await using all = await listening()
  const { app, receiver, webhook } = all
  const before = app.deps.config.secretKey
  const both = `another secret key of at least 32 characters\n${before}`
  expect(await reseal(app.db, both, sealedWebhooks)).toEqual({ done: 1, closed: 0 })
  const deps = { ...app.deps, config: { ...app.deps.config, secretKey: both.split('\n')[0] ?? '' } }
  await anInvoice(app, { owner: all.asha, ...notDue })
  await composeWebhooks(deps, all.asha.id)
  await callReceivers(deps, { ownerId: all.asha.id, receivers: openReceivers() }, never)
  const [call] = receiver.calls
  if (!call) throw new Error('Nothing was told.')
  expect(isSigned(call, webhook.secret, secondsOf(all))).toBe(true)
})

test('events are kept for 30 days, with their deliveries', async () => {
  await using all = await listening()
  const { app, asha } = all
  await anInvoice(app, { owner: asha, reference: 'old' })
  await app.runJobs()
  app.clock.advance({ hours: 1 })
  await anInvoice(app, { owner: asha, reference: 'newer' })
  await app.runJobs()
  app.clock.advance({ hours: 30 * 24 - 1 })
  await pruneWebhookEvents(app.db, app.clock.now())
  const left = await app.db.select({ payload: webhookEvents.payload }).from(webhookEvents)
  expect(left.map(({ payload }) => JSON.parse(payload ?? '{}'))).toMatchObject([{ data: { invoice: { reference: 'newer' } } }])
  expect(await log(all)).toHaveLength(1)
})

test('the log shows the newest fifty', async () => {
  await using all = await listening()
  const { app, asha, webhook } = all
  await change(all, { paused: true })
  for (let nth = 0; nth < 55; nth += 1) await anInvoice(app, { owner: asha, ...notDue })
  await app.runJobs()
  const shown = await log(all)
  expect(shown).toHaveLength(50)
  const rows = await app.db.select().from(webhookDeliveries).where(eq(webhookDeliveries.hookId, webhook._id)).orderBy(sql`id DESC`)
  expect(shown.map(({ _id }) => _id)).toEqual(rows.slice(0, 50).map(({ id }) => id))
})

// Costs a second: an account is looked at so often.
test('an account hands over to others that wait, and continues in its next turn', async () => {
  await using all = await listening()
  const { app, asha, receiver } = all
  const receivers = openReceivers({ most: 1, slice: 200 })
  receiver.answer((_call, nth) => ({ status: 200, afterMs: nth === 1 ? 1_200 : 0 }))
  for (let nth = 0; nth < 3; nth += 1) await anInvoice(app, { owner: asha })
  await composeWebhooks(app.deps, asha.id)
  await callReceivers(app.deps, { ownerId: asha.id, receivers }, never)
  expect([toldTo(receiver).length, receivers.served]).toEqual([1, 0])
  // Its job is taken again at once, or when the row is free.
  while (toldTo(receiver).length < 3) await app.runJobs()
  expect(toldTo(receiver)).toHaveLength(3)
})

test('a call that is crowded out is no try, and is repeated at its turn', async () => {
  await using all = await listening()
  const { app, asha, receiver } = all
  await anInvoice(app, { owner: asha })
  await composeWebhooks(app.deps, asha.id)
  const receivers = openReceivers()
  let begun = 0
  // Stands for a process whose slots of slow work are all in use when the first call becomes slow.
  const scheduler = {
    ...receivers.scheduler,
    open: (ownerId: string) => {
      const { acquire, ...slots } = receivers.scheduler.open(ownerId)
      return {
        ...slots,
        async acquire(about?: object) {
          const slot = await acquire(about)
          return { ...slot, begin: (onCrowdedOut?: () => void) => void (begun++ === 0 && setTimeout(onCrowdedOut ?? (() => 0), 100)) }
        },
      }
    },
  }
  receiver.answer((_call, nth) => (nth === 1 ? 'silence' : { status: 200 }))
  await callReceivers(app.deps, { ownerId: asha.id, receivers: { ...receivers, scheduler } }, never)
  expect([begun, receiver.calls.length]).toEqual([2, 2])
  expect(await log(all)).toMatchObject([{ state: 'delivered', attempt: 1 }])
  expect(new Set(idsOf(all)).size).toBe(1)
})
