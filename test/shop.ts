import type { Subscription } from '#contract/billing.ts'
import { billingCalls } from '#contract/billing.ts'
import type { BillingPeriod, PaidPlanName } from '#contract/plans.ts'
import type { Config } from '#server/config.ts'
import type { FakeEvent, Proof } from '#test/fakes/razorpay/provider.ts'
import { type FakeRazorpay, openFakeRazorpay } from '#test/fakes/razorpay/server.ts'
import { type Person, signedInAgain } from './factories.ts'
import { type Asker, ask, openTestApp, type TestApp } from './harness.ts'

/** Duely with something to sell: payments go to a Razorpay on loopback that lives by the test's clock. */
export interface Shop extends AsyncDisposable {
  app: TestApp
  razorpay: FakeRazorpay
  /** Events that have not been delivered yet, in the order in which they happened. */
  undelivered(): FakeEvent[]
  /** Brings one event, as the provider does; answers the status. */
  deliver(event: FakeEvent): Promise<number>
  /** Lets the provider do what is due, brings everything that it has to tell, and works off what follows. */
  settle(): Promise<void>
  /** Days go by: the provider charges and tells as its time comes. */
  pass(duration: Temporal.DurationLike): Promise<void>
}

export async function openShop(options: { now?: string; config?: Partial<Config>; webhookSecret?: string } = {}): Promise<Shop> {
  let clock: TestApp['clock'] | null = null
  const razorpay = await openFakeRazorpay({ now: () => (clock?.now().epochMilliseconds ?? 0) / 1000 })
  const { settings } = razorpay
  const config = { ...options.config, razorpay: { ...settings, webhookSecret: options.webhookSecret ?? settings.webhookSecret } }
  const app = await openTestApp({ ...options, config })
  clock = app.clock
  const delivered = new Set<string>()
  const shop: Shop = {
    app,
    razorpay,
    undelivered: () => razorpay.provider.events.filter(({ id }) => !delivered.has(id)),
    async deliver(event) {
      delivered.add(event.id)
      const answered = await app.app.inject({ method: 'POST', url: '/subscription/webhook', headers: event.headers, payload: event.body })
      return answered.statusCode
    },
    async settle() {
      razorpay.provider.run()
      for (const event of shop.undelivered()) await shop.deliver(event)
      await app.runJobs()
    },
    async pass(duration) {
      app.clock.advance(duration)
      await shop.settle()
    },
    async [Symbol.asyncDispose]() {
      await app[Symbol.asyncDispose]()
      await razorpay[Symbol.asyncDispose]()
    },
  }
  return shop
}

/** What somebody's plan is now, whatever became of their session meanwhile. */
export async function planOfPerson({ app }: Pick<Shop, 'app'>, person: Person): Promise<Subscription> {
  return (await ask(app, await signedInAgain(app, person), billingCalls.subscription)).reply
}

/** Pays once, in the checkout, and comes back from it. */
export async function buyOnce(shop: Shop, someone: Asker, plan: PaidPlanName, billingPeriod: BillingPeriod = 'monthly') {
  const { reply } = await ask(shop.app, someone, billingCalls.createOrder, { body: { plan, billingPeriod } })
  return verify(shop, someone, shop.razorpay.pay(reply.orderId))
}

/** Agrees to be charged every period, in the checkout, and comes back from it. */
export async function subscribe(shop: Shop, someone: Asker, plan: PaidPlanName, billingPeriod: BillingPeriod = 'monthly') {
  const { reply } = await ask(shop.app, someone, billingCalls.createSubscription, { body: { plan, billingPeriod } })
  const proof = shop.razorpay.pay(reply.subscriptionId)
  return { subscriptionId: reply.subscriptionId, answered: await verifySubscribed(shop, someone, proof) }
}

/** Hands over what the checkout gave for an order. */
export function verify(shop: Pick<Shop, 'app'>, someone: Asker, proof: Proof) {
  return ask(shop.app, someone, billingCalls.verifyPayment, { body: { ...proof, razorpay_order_id: proof.razorpay_order_id ?? '' } })
}

/** Hands over what the checkout gave for a subscription. */
export function verifySubscribed(shop: Pick<Shop, 'app'>, someone: Asker, proof: Proof) {
  return ask(shop.app, someone, billingCalls.verifySubscriptionPayment, { body: { ...proof } })
}
