import { type Entity, type FakePayment, newId, notesOf, type Order, Refused, sign } from './entities.ts'
import { openLinks } from './payment-links.ts'

/** A model of Razorpay: orders, payments, plans, subscriptions, invoices and events. Times are seconds since 1970. */

export interface Plan extends Entity {
  period: 'daily' | 'weekly' | 'monthly' | 'quarterly' | 'yearly'
  interval: number
  item: { name: string; amount: number; currency: string }
}
export interface FakeSubscription extends Entity {
  plan_id: string
  status: 'created' | 'authenticated' | 'active' | 'pending' | 'halted' | 'paused' | 'cancelled' | 'completed' | 'expired'
  customer_id: string | null
  current_start: number | null
  current_end: number | null
  ended_at: number | null
  charge_at: number | null
  start_at: number | null
  auth_attempts: number
  total_count: number
  paid_count: number
  remaining_count: number
  created_at: number
}
export interface FakeInvoice extends Entity {
  subscription_id: string
  order_id: string
  payment_id: string | null
  status: 'issued' | 'paid'
  amount: number
  billing_start: number
  billing_end: number
  created_at: number
}

interface FakeRefund extends Entity {
  amount: number
  payment_id: string
  status: 'pending' | 'processed' | 'failed'
  created_at: number
}

/** A webhook: each attempt has the same id, the same bytes and the secret of its creation. */
export interface FakeEvent {
  id: string
  name: string
  body: string
  headers: { 'content-type': string; 'x-razorpay-signature': string; 'x-razorpay-event-id': string }
}

/** The checkout's result. */
export interface Proof {
  razorpay_payment_id: string
  razorpay_order_id?: string
  razorpay_subscription_id?: string
  razorpay_signature: string
}

export interface ProviderOptions {
  keySecret: string
  webhookSecret: string
  /** Seconds since 1970. */
  now(): number
  /** Where the client of a payment link pays. */
  payUrl(id: string): string
  onEvent(event: FakeEvent): void
}

const day = 86_400
/** A failed charge is retried on the next three days (payments/subscriptions/payment-retries). */
const retries = 3
/** An uncaptured authorization is refunded automatically after this time (payments/payments/capture-settings). */
const captureLives = 3 * day

export type Provider = ReturnType<typeof openProvider>

export function openProvider(options: ProviderOptions) {
  const orders = new Map<string, Order>()
  const payments = new Map<string, FakePayment>()
  const plans = new Map<string, Plan>()
  const subscriptions = new Map<string, FakeSubscription>()
  const invoices = new Map<string, FakeInvoice>()
  const refunds = new Map<string, FakeRefund>()
  const events: FakeEvent[] = []
  const cancelAtCycleEnd = new Set<string>()
  const cards = new Map<string, 'good' | 'bad'>()
  let webhookSecret = options.webhookSecret
  const now = () => Math.floor(options.now())

  const tell = (name: string, entities: Record<string, Entity>, inside: Record<string, unknown> = {}) => {
    const payload = Object.fromEntries(Object.entries(entities).map(([kind, entity]) => [kind, { entity }]))
    const body = JSON.stringify({
      entity: 'event',
      account_id: 'acc_FakeFakeFake01',
      event: name,
      contains: Object.keys(entities),
      payload: { ...payload, ...inside },
      created_at: now(),
    })
    const event: FakeEvent = {
      id: newId('evt').slice(4),
      name,
      body,
      headers: {
        'content-type': 'application/json',
        'x-razorpay-signature': sign(webhookSecret, body),
        'x-razorpay-event-id': '',
      },
    }
    event.headers['x-razorpay-event-id'] = event.id
    events.push(event)
    options.onEvent(event)
  }

  const find = <T>(map: Map<string, T>, id: string): T => {
    const found = map.get(id)
    if (!found) throw new Refused('The id provided does not exist')
    return found
  }

  const createOrder = (body: Record<string, unknown>): Order => {
    const { amount, currency, receipt, notes } = body
    if (amount === undefined) throw new Refused('The amount field is required.', 'amount')
    if (!Number.isInteger(amount)) throw new Refused('The amount must be an integer.', 'amount')
    if ((amount as number) < 100) throw new Refused('The amount must be at least INR 1.00', 'amount')
    if (currency === undefined) throw new Refused('The currency field is required.', 'currency')
    if (currency !== 'INR') throw new Refused('Currency is not supported', 'currency')
    if (typeof receipt === 'string' && receipt.length > 40)
      throw new Refused('The receipt may not be greater than 40 characters.', 'receipt')
    const order: Order = {
      id: newId('order'),
      entity: 'order',
      amount: amount as number,
      amount_paid: 0,
      amount_due: amount as number,
      currency: 'INR',
      receipt: typeof receipt === 'string' ? receipt : null,
      offer_id: null,
      status: 'created',
      attempts: 0,
      notes: notesOf(notes),
      created_at: now(),
    }
    orders.set(order.id, order)
    return order
  }

  const createPlan = (body: Record<string, unknown>): Plan => {
    const { period, interval, item, offer_id: offer, notes } = body
    if (offer !== undefined) throw new Refused('offer_id is/are not required and should not be sent')
    if (period !== 'monthly' && period !== 'yearly') throw new Refused('The period field is required.', 'period')
    const { name, amount, currency } = (item ?? {}) as Record<string, unknown>
    if (typeof name !== 'string') throw new Refused('The item.name field is required.', 'item.name')
    if (!Number.isInteger(amount) || (amount as number) < 100) throw new Refused('The amount must be at least INR 1.00', 'item.amount')
    const plan: Plan = {
      id: newId('plan'),
      entity: 'plan',
      interval: Number(interval),
      period,
      item: {
        id: newId('item'),
        active: true,
        name,
        description: null,
        amount,
        unit_amount: amount,
        currency,
        type: 'plan',
      } as unknown as Plan['item'],
      notes: notesOf(notes),
      created_at: now(),
    }
    plans.set(plan.id, plan)
    return plan
  }

  const createSubscription = (body: Record<string, unknown>): FakeSubscription => {
    const { plan_id: planId, total_count: total, start_at: startAt, customer_notify: notify, quantity, notes } = body
    if (typeof planId !== 'string') throw new Refused('The plan id field is required.', 'plan_id')
    if (!plans.has(planId)) throw new Refused('The id provided does not exist')
    if (!Number.isInteger(total)) throw new Refused('The total count field is required.', 'total_count')
    if (startAt !== undefined && (startAt as number) <= now()) throw new Refused('The start time must be in the future.', 'start_at')
    const start = startAt === undefined ? null : (startAt as number)
    const subscription: FakeSubscription = {
      id: newId('sub'),
      entity: 'subscription',
      plan_id: planId,
      customer_id: null,
      status: 'created',
      current_start: null,
      current_end: null,
      ended_at: null,
      quantity: quantity ?? 1,
      notes: notesOf(notes),
      charge_at: start,
      start_at: start,
      end_at: null,
      auth_attempts: 0,
      total_count: total as number,
      paid_count: 0,
      customer_notify: notify === undefined ? true : notify === 1 ? true : notify,
      created_at: now(),
      expire_by: null,
      short_url: `https://rzp.io/i/${newId('x').slice(2, 11)}`,
      has_scheduled_changes: false,
      change_scheduled_at: null,
      source: 'api',
      remaining_count: total as number,
    }
    subscriptions.set(subscription.id, subscription)
    return subscription
  }

  const cancelSubscription = (id: string, body: Record<string, unknown>): FakeSubscription => {
    const subscription = find(subscriptions, id)
    const { status } = subscription
    if (status === 'cancelled' || status === 'completed' || status === 'expired')
      throw new Refused(`Subscription is not cancellable in ${status} status.`, 'status')
    const atEnd = body.cancel_at_cycle_end === true || body.cancel_at_cycle_end === 1
    if (atEnd && (status === 'created' || status === 'authenticated'))
      throw new Refused('Subscription cannot be cancelled since no billing cycle is going on', 'cancel_at_cycle_end')
    if (atEnd) cancelAtCycleEnd.add(id)
    else end(subscription, 'cancelled')
    return subscription
  }

  const end = (subscription: FakeSubscription, status: 'cancelled' | 'completed' | 'expired') => {
    Object.assign(subscription, { status, ended_at: now(), charge_at: null })
    if (status !== 'expired') tell(`subscription.${status}`, { subscription })
  }

  const newPayment = (about: Partial<FakePayment> & { amount: number }): FakePayment => {
    const payment: FakePayment = {
      id: newId('pay'),
      entity: 'payment',
      currency: 'INR',
      status: 'captured',
      order_id: null,
      invoice_id: null,
      international: false,
      method: 'card',
      amount_refunded: 0,
      refund_status: null,
      captured: about.status === undefined || about.status === 'captured',
      description: null,
      card_id: newId('card'),
      bank: null,
      wallet: null,
      vpa: null,
      email: 'asha@example.com',
      contact: '+919876543210',
      notes: [],
      fee: null,
      tax: null,
      error_code: null,
      error_description: null,
      error_source: null,
      error_step: null,
      error_reason: null,
      acquirer_data: {},
      created_at: now(),
      ...about,
    }
    payments.set(payment.id, payment)
    return payment
  }

  const settleOrder = (order: Order, payment: FakePayment) => {
    Object.assign(order, { amount_paid: order.amount_paid + payment.amount, amount_due: Math.max(0, order.amount_due - payment.amount) })
    if (order.amount_due === 0) order.status = 'paid'
    tell('payment.captured', { payment })
    if (order.status === 'paid') tell('order.paid', { payment, order })
  }

  /** The customer pays an order in the checkout. */
  const payOrder = (
    id: string,
    about: { outcome?: 'captured' | 'authorized' | 'failed'; amount?: number; currency?: string } = {},
  ): FakePayment => {
    const order = find(orders, id)
    if (order.status === 'paid') throw new Refused('Payment already done for this order.')
    const outcome = about.outcome ?? 'captured'
    order.attempts += 1
    order.status = 'attempted'
    const payment = newPayment({
      amount: about.amount ?? order.amount,
      currency: about.currency ?? 'INR',
      order_id: id,
      status: outcome,
      ...(outcome === 'failed'
        ? {
            captured: false,
            error_code: 'BAD_REQUEST_ERROR',
            error_description: 'Your payment has been cancelled by the bank. Try again or use another method.',
            error_source: 'bank',
            error_step: 'payment_authorization',
            error_reason: 'payment_failed',
          }
        : {}),
    })
    if (outcome === 'failed') tell('payment.failed', { payment })
    else tell('payment.authorized', { payment: { ...payment, status: 'authorized', captured: false } })
    if (outcome === 'captured') settleOrder(order, payment)
    return payment
  }

  const capture = (id: string) => {
    const payment = find(payments, id)
    if (payment.status !== 'authorized') throw new Refused('This payment has already been captured')
    Object.assign(payment, { status: 'captured', captured: true })
    settleOrder(find(orders, payment.order_id ?? ''), payment)
    links.settleLink(payment)
  }

  const refund = (id: string, amount?: number) => {
    const payment = find(payments, id)
    if (!payment.captured) throw new Refused('The payment status should be captured for action to be taken')
    giveBack(payment, amount ?? payment.amount)
  }

  const giveBack = (payment: FakePayment, amount: number) => {
    payment.amount_refunded += amount
    const whole = payment.amount_refunded === payment.amount
    if (whole) payment.status = 'refunded'
    payment.refund_status = whole ? 'full' : 'partial'
    const refund: FakeRefund = {
      id: newId('rfnd'),
      entity: 'refund',
      amount,
      currency: payment.currency,
      payment_id: payment.id,
      notes: [],
      status: 'processed',
      created_at: now(),
    }
    refunds.set(refund.id, refund)
    tell('refund.processed', { refund, payment })
  }

  const links = openLinks({ now, keySecret: options.keySecret, payUrl: options.payUrl, orders, createOrder, payOrder, tell })

  /** The customer subscribes in the checkout: charged immediately without a future start, otherwise a small charge is made and refunded. */
  const agree = (id: string): FakePayment => {
    const subscription = find(subscriptions, id)
    if (subscription.status !== 'created') throw new Refused('Subscription is not in a state to be authorised.')
    subscription.customer_id = newId('cust')
    if (subscription.start_at !== null && subscription.start_at > now()) {
      const payment = newPayment({ amount: 500, status: 'refunded', amount_refunded: 500, captured: true })
      subscription.status = 'authenticated'
      tell('subscription.authenticated', { subscription })
      return payment
    }
    subscription.start_at = now()
    beginCycle(subscription, now())
    subscription.status = 'active'
    const payment = charged(subscription)
    tell('subscription.authenticated', { subscription })
    // One sample in the provider's docs has its time inside the payload.
    tell('subscription.activated', { subscription, payment: asInSubscriptions(payment) }, { created_at: now() })
    tell('subscription.charged', { subscription, payment: asInSubscriptions(payment) })
    return payment
  }

  /** The checkout's result for a payment. */
  const proofOf = (payment: FakePayment, of: { orderId: string } | { subscriptionId: string }): Proof =>
    'orderId' in of
      ? {
          razorpay_payment_id: payment.id,
          razorpay_order_id: of.orderId,
          razorpay_signature: sign(options.keySecret, `${of.orderId}|${payment.id}`),
        }
      : {
          razorpay_payment_id: payment.id,
          razorpay_subscription_id: of.subscriptionId,
          razorpay_signature: sign(options.keySecret, `${payment.id}|${of.subscriptionId}`),
        }

  /** The customer subscribes, and the bank delays the first charge: nothing happens until `agree`. */
  const hesitate = (id: string): Proof => {
    find(subscriptions, id).customer_id = newId('cust')
    return proofOf(newPayment({ amount: 0, status: 'created', captured: false }), { subscriptionId: id })
  }

  const beginCycle = (subscription: FakeSubscription, start: number) => {
    const plan = find(plans, subscription.plan_id)
    const to = new Date(start * 1000)
    if (plan.period === 'monthly') to.setUTCMonth(to.getUTCMonth() + plan.interval)
    else to.setUTCFullYear(to.getUTCFullYear() + plan.interval)
    Object.assign(subscription, { current_start: start, current_end: Math.floor(to.getTime() / 1000), auth_attempts: 0 })
    const order = createOrder({ amount: plan.item.amount, currency: 'INR' })
    const invoice: FakeInvoice = {
      id: newId('inv'),
      entity: 'invoice',
      subscription_id: subscription.id,
      order_id: order.id,
      payment_id: null,
      status: 'issued',
      amount: plan.item.amount,
      currency: 'INR',
      billing_start: start,
      billing_end: subscription.current_end ?? 0,
      notes: [],
      created_at: now(),
    }
    invoices.set(invoice.id, invoice)
  }

  const openInvoice = (subscription: FakeSubscription) =>
    [...invoices.values()].find((one) => one.subscription_id === subscription.id && one.billing_start === subscription.current_start)

  const charged = (subscription: FakeSubscription): FakePayment => {
    const invoice = openInvoice(subscription)
    if (!invoice) throw new Error('A cycle without an invoice.')
    const payment = newPayment({
      amount: invoice.amount,
      order_id: invoice.order_id,
      invoice_id: invoice.id,
      description: 'Recurring Payment via Subscription',
    })
    Object.assign(invoice, { status: 'paid', payment_id: payment.id, paid_at: now() })
    Object.assign(find(orders, invoice.order_id), { status: 'paid', amount_paid: invoice.amount, amount_due: 0 })
    Object.assign(subscription, {
      paid_count: subscription.paid_count + 1,
      remaining_count: subscription.remaining_count - 1,
      charge_at: subscription.current_end,
      auth_attempts: 0,
    })
    tell('payment.captured', { payment })
    return payment
  }

  const charge = (subscription: FakeSubscription) => {
    if (cards.get(subscription.id) !== 'bad') {
      subscription.status = 'active'
      const payment = charged(subscription)
      tell('subscription.charged', { subscription, payment: asInSubscriptions(payment) })
      return
    }
    const invoice = openInvoice(subscription)
    const payment = newPayment({
      amount: invoice?.amount ?? 0,
      order_id: invoice?.order_id ?? null,
      invoice_id: invoice?.id ?? null,
      status: 'failed',
      captured: false,
      error_description: 'The card has no balance.',
    })
    subscription.auth_attempts += 1
    const last = subscription.auth_attempts > retries
    Object.assign(
      subscription,
      last ? { status: 'halted', charge_at: subscription.current_end } : { status: 'pending', charge_at: now() + day },
    )
    tell('payment.failed', { payment })
    tell(`subscription.${subscription.status}`, { subscription })
  }

  /** Performs one due step; false if none is due. */
  const step = (): boolean => {
    for (const one of payments.values()) {
      if (one.status !== 'authorized' || one.created_at + captureLives > now()) continue
      giveBack(one, one.amount)
      return true
    }
    for (const one of subscriptions.values()) {
      if (one.charge_at === null || one.charge_at > now()) continue
      switch (one.status) {
        case 'created':
          end(one, 'expired')
          return true
        case 'authenticated':
          one.status = 'active'
          beginCycle(one, one.start_at ?? now())
          tell('subscription.activated', { subscription: one })
          charge(one)
          return true
        case 'active':
          if (cancelAtCycleEnd.has(one.id)) end(one, 'cancelled')
          else if (one.remaining_count <= 0) end(one, 'completed')
          else {
            beginCycle(one, one.charge_at)
            charge(one)
          }
          return true
        case 'pending':
          charge(one)
          return true
        case 'halted':
          // Invoices are still created; none of them is charged.
          beginCycle(one, one.charge_at)
          one.charge_at = one.current_end
          return true
        default:
      }
    }
    return false
  }

  return {
    orders,
    payments,
    plans,
    subscriptions,
    invoices,
    refunds,
    events,
    ...links,
    createOrder,
    createPlan,
    createSubscription,
    cancelSubscription,
    payOrder,
    capture,
    refund,
    agree,
    hesitate,
    find,
    /** Performs all due steps: first charges, renewals, retries, ends. */
    run() {
      while (step());
    },
    /** Renews, or retries, ahead of time. */
    hasten(id: string) {
      const subscription = find(subscriptions, id)
      if (subscription.charge_at !== null) subscription.charge_at = Math.min(subscription.charge_at, now())
      if (subscription.status === 'authenticated') subscription.start_at = now()
      step()
    },
    /** Whether a subscription's card pays. */
    setCard(id: string, card: 'good' | 'bad') {
      cards.set(find(subscriptions, id).id, card)
    },
    /** A new card: charges the last unpaid invoice of the subscription. */
    changeCard(id: string) {
      const subscription = find(subscriptions, id)
      cards.set(id, 'good')
      if (subscription.status === 'pending' || subscription.status === 'halted') charge(subscription)
    },
    pause(id: string) {
      const subscription = find(subscriptions, id)
      if (subscription.status === 'authenticated') return end(subscription, 'cancelled')
      if (subscription.status !== 'active') throw new Refused('Subscription is not in active state.')
      subscription.status = 'paused'
      tell('subscription.paused', { subscription })
    },
    resume(id: string) {
      const subscription = find(subscriptions, id)
      subscription.status = 'active'
      tell('subscription.resumed', { subscription })
    },
    proofOf,
    /** Signs new events with another secret; existing ones keep theirs. */
    rotateSecret(next: string) {
      webhookSecret = next
    },
    /** Paise received, by order and subscription, without charges that are refunded immediately. */
    taken(): number {
      return [...payments.values()]
        .filter(({ captured, order_id: orderId }) => orderId !== null && captured)
        .reduce((sum, { amount }) => sum + amount, 0)
    },
  }
}

/** Events of subscriptions have the string "1" where payments have true. */
function asInSubscriptions(payment: FakePayment): Entity {
  return { ...payment, captured: '1' }
}
