import type { Subscription } from '#contract/billing.ts'
import { billingCalls } from '#contract/billing.ts'
import type { BillingPeriod, PaidPlanName } from '#contract/plans.ts'
import type { Config } from '#server/config.ts'
import type { FakeEvent, Proof } from '#test/fakes/razorpay/provider.ts'
import { type FakeRazorpay, openFakeRazorpay } from '#test/fakes/razorpay/server.ts'
import { type Person, signedInAgain } from './factories.ts'
import { type Asker, ask, openTestApp, type TestApp } from './harness.ts'

/** Duely with paid plans: payments go to a fake Razorpay on the test's clock. */
export interface Shop extends AsyncDisposable {
  app: TestApp
  razorpay: FakeRazorpay
  /** Undelivered events, in order. */
  undelivered(): FakeEvent[]
  /** Delivers one event like the provider; returns the status. */
  deliver(event: FakeEvent): Promise<number>
  /** Runs the provider's due work, delivers all its events, and runs the resulting jobs. */
  settle(): Promise<void>
  /** Advances the clock by days: the provider charges and sends events when they are due. */
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

/** A person's current plan, with a new session if theirs has ended. */
export async function planOfPerson({ app }: Pick<Shop, 'app'>, person: Person): Promise<Subscription> {
  return (await ask(app, await signedInAgain(app, person), billingCalls.subscription)).reply
}

/** Makes a one-time payment in the checkout and returns from it. */
export async function buyOnce(shop: Shop, someone: Asker, plan: PaidPlanName, billingPeriod: BillingPeriod = 'monthly') {
  const { reply } = await ask(shop.app, someone, billingCalls.createOrder, { body: { plan, billingPeriod } })
  return verify(shop, someone, shop.razorpay.pay(reply.orderId))
}

/** Subscribes in the checkout and returns from it. */
export async function subscribe(shop: Shop, someone: Asker, plan: PaidPlanName, billingPeriod: BillingPeriod = 'monthly') {
  const { reply } = await ask(shop.app, someone, billingCalls.createSubscription, { body: { plan, billingPeriod } })
  const proof = shop.razorpay.pay(reply.subscriptionId)
  return { subscriptionId: reply.subscriptionId, answered: await verifySubscribed(shop, someone, proof) }
}

/** Sends the checkout's proof for an order. */
export function verify(shop: Pick<Shop, 'app'>, someone: Asker, proof: Proof) {
  return ask(shop.app, someone, billingCalls.verifyPayment, { body: { ...proof, razorpay_order_id: proof.razorpay_order_id ?? '' } })
}

/** Sends the checkout's proof for a subscription. */
export function verifySubscribed(shop: Pick<Shop, 'app'>, someone: Asker, proof: Proof) {
  return ask(shop.app, someone, billingCalls.verifySubscriptionPayment, { body: { ...proof } })
}
