import type { FastifyRequest } from 'fastify'
import { billingCalls } from '#contract/billing.ts'
import { originOf } from '#server/accounts/accounts.ts'
import { type Account, type App, answer } from '#server/platform/answer.ts'
import type { Deps } from '#server/platform/deps.ts'
import { ProblemError } from '#server/platform/problem-error.ts'
import { listPayments, type OnPlanChange, readSubscription } from './billing.ts'
import { activateFree, cancelPlan, createOrder, createSubscription, quoteFor, verifyOrder, verifySubscription } from './checkout.ts'
import { keepEvents, openInbox, readWebhook } from './inbox.ts'
import { isSignedWebhook, largestEvent } from './razorpay.ts'
import type { ReconcileDeps } from './reconcile.ts'
import { refusals } from './texts.ts'

/** `onPlanChange` is what higher slices do when an event changes what an account may do, within the transaction that changes it. */
export function billingRoutes(app: App, deps: Deps, onPlanChange: OnPlanChange): void {
  const { db, clock, config, log } = deps
  const reconciling: ReconcileDeps = { db, clock, config, log, onPlanChange }
  const by = (request: FastifyRequest): ReconcileDeps => ({ ...reconciling, origin: originOf(request) })
  const read = (account: Account) => readSubscription(db, account, clock.now(), config)

  answer(app, billingCalls.subscription, (_parts, { account }) => read(account))
  answer(app, billingCalls.quote, ({ query }, { account }) => quoteFor(reconciling, account, query))
  answer(app, billingCalls.createOrder, ({ body }, { account }) => createOrder(reconciling, account, body))
  answer(app, billingCalls.createSubscription, ({ body }, { account }) => createSubscription(reconciling, account, body))
  answer(app, billingCalls.verifyPayment, async ({ body }, { account }, { request }) => {
    await verifyOrder(by(request), account, {
      providerId: body.razorpay_order_id,
      paymentId: body.razorpay_payment_id,
      signature: body.razorpay_signature,
    })
    return read(account)
  })
  answer(app, billingCalls.verifySubscriptionPayment, async ({ body }, { account }, { request }) => {
    await verifySubscription(by(request), account, {
      providerId: body.razorpay_subscription_id ?? body.razorpay_order_id ?? '',
      paymentId: body.razorpay_payment_id,
      signature: body.razorpay_signature,
    })
    return read(account)
  })
  answer(app, billingCalls.cancel, async (_parts, { account }, { request }) => {
    await cancelPlan(by(request), account)
    return read(account)
  })
  answer(app, billingCalls.activateFree, async (_parts, { account }, { request }) => {
    await activateFree(by(request), account)
    return read(account)
  })
  answer(app, billingCalls.payments, (_parts, { account }) => listPayments(db, account.id))
  answerWebhooks(app, deps)
}

/** Webhooks: a plain route, because the signature is over the bytes as they came and the caller is the provider, not an account. */
function answerWebhooks(app: App, { db, clock, config, log }: Deps): void {
  const keep = openInbox((events) => keepEvents(db, events))
  app.register((raw, _options, ready) => {
    raw.removeAllContentTypeParsers()
    raw.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, body, done) => done(null, body))
    raw.post('/subscription/webhook', { schema: { hide: true }, bodyLimit: largestEvent }, async (request, reply) => {
      const secrets = config.razorpay?.webhookSecret
      if (!secrets) throw new ProblemError('payments_not_set_up', refusals.webhooksNotSetUp)
      const body = Buffer.isBuffer(request.body) ? request.body : Buffer.alloc(0)
      const signature = request.headers['x-razorpay-signature']
      if (typeof signature !== 'string' || !isSignedWebhook(secrets, body, signature))
        throw new ProblemError('invalid', refusals.webhookSignature)
      const eventId = request.headers['x-razorpay-event-id']
      const event = readWebhook(body, typeof eventId === 'string' && eventId !== '' ? eventId.slice(0, 200) : undefined, clock.now())
      // It is the provider's own and cannot be read: saying so would only make it come again for a day.
      if (event) await keep(event)
      else log.warn('A webhook from the payment provider could not be parsed.')
      return reply.header('cache-control', 'no-store').send({ received: true })
    })
    ready()
  })
}
