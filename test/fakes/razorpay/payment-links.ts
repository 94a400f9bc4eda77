import { type Entity, type FakePayment, newId, notesOf, type Order, Refused, sign } from './entities.ts'

export interface FakeLink extends Entity {
  amount: number
  amount_paid: number
  status: 'created' | 'partially_paid' | 'expired' | 'cancelled' | 'paid'
  reference_id: string
  order_id: string
  /** null until something was captured. */
  payments: { payment_id: string; amount: number; method: unknown; status: string }[] | null
  short_url: string
  callback_url: string
  expire_by: number
}

/** What links use of the provider they belong to. */
interface Parts {
  now(): number
  keySecret: string
  /** Where the client pays. */
  payUrl(id: string): string
  orders: Map<string, Order>
  createOrder(body: Record<string, unknown>): Order
  payOrder(id: string, about: LinkPayment): FakePayment
  tell(name: string, entities: Record<string, Entity>): void
}

/** How a client pays. `again`: although it was paid before. */
interface LinkPayment {
  outcome?: 'captured' | 'authorized' | 'failed'
  amount?: number
  currency?: string
  again?: boolean
}

/** A link must live so long, in seconds. */
const shortestLife = 15 * 60

/** Payment links with the irregularities of the real ones (api/payments/payment-links). */
export function openLinks({ now, keySecret, payUrl, orders, createOrder, payOrder, tell }: Parts) {
  const links = new Map<string, FakeLink>()

  const find = (id: string): FakeLink => {
    const link = links.get(id)
    if (!link) throw new Refused('The id provided does not exist')
    if (link.status === 'created' && link.expire_by <= now()) {
      Object.assign(link, { status: 'expired', expired_at: link.expire_by })
      tell('payment_link.expired', { payment_link: link })
    }
    return link
  }

  const create = (body: Record<string, unknown>): FakeLink => {
    const { amount, currency, reference_id: reference, expire_by: expireBy, notes, description, notify, callback_url: callbackUrl } = body
    if (amount === undefined) throw new Refused('The amount field is required.', 'amount')
    if (!Number.isInteger(amount) || (amount as number) < 100) throw new Refused('The amount must be at least INR 1.00', 'amount')
    if (currency !== 'INR') throw new Refused('Currency is not supported', 'currency')
    if (typeof reference !== 'string' || reference.length > 40)
      throw new Refused('reference_id: the length must be no more than 40.', 'reference_id')
    if ([...links.values()].some((link) => link.reference_id === reference))
      throw new Refused('payment link creation with reference ID already attempted')
    if (typeof expireBy !== 'number' || expireBy < now() + shortestLife) throw new Refused('timestamp must be atleast 15 minutes in future')
    const id = newId('plink')
    const link: FakeLink = {
      id,
      entity: 'payment_link',
      accept_partial: body.accept_partial === true,
      amount: amount as number,
      amount_paid: 0,
      callback_method: body.callback_method ?? '',
      callback_url: String(callbackUrl ?? ''),
      cancelled_at: 0,
      created_at: now(),
      currency: 'INR',
      customer: body.customer ?? {},
      description: description ?? '',
      expire_by: expireBy,
      expired_at: 0,
      first_min_partial_amount: 0,
      notes: notesOf(notes),
      notify: notify ?? { email: true, sms: true },
      order_id: createOrder({ amount, currency, receipt: reference }).id,
      payments: null,
      reference_id: reference,
      reminder_enable: body.reminder_enable ?? true,
      reminders: [],
      short_url: payUrl(id),
      status: 'created',
      updated_at: now(),
      upi_link: false,
      user_id: '',
    }
    links.set(id, link)
    return link
  }

  const cancel = (id: string): FakeLink => {
    const link = find(id)
    if (link.status !== 'created') throw new Refused('cannot cancel or expire an already paid/partially paid link')
    Object.assign(link, { status: 'cancelled', cancelled_at: now() })
    tell('payment_link.cancelled', { payment_link: link })
    return link
  }

  /** The client pays on the provider's page. */
  const pay = (id: string, about: LinkPayment = {}): FakePayment => {
    const link = find(id)
    if (link.status !== 'created' && !about.again) throw new Refused(`The payment link is ${link.status}.`)
    const order = orders.get(link.order_id)
    if (!order) throw new Error('A link without an order.')
    if (about.again) order.status = 'attempted'
    const payment = payOrder(order.id, about)
    if (payment.status === 'captured') settle(link, order, payment)
    return payment
  }

  const settle = (link: FakeLink, order: Order, payment: FakePayment) => {
    link.status = 'paid'
    link.amount_paid += payment.amount
    link.payments = [
      ...(link.payments ?? []),
      { payment_id: payment.id, plink_id: link.id, amount: payment.amount, method: payment.method, status: 'captured' } as never,
    ]
    // Here the order lacks what its id begins with.
    tell('payment_link.paid', { payment_link: link, order: { ...order, id: order.id.replace('order_', '') }, payment })
  }

  return {
    links,
    createLink: create,
    cancelLink: cancel,
    findLink: find,
    payLink: pay,
    /** An authorized payment of a link is captured. */
    settleLink(payment: FakePayment) {
      const link = [...links.values()].find((one) => one.order_id === payment.order_id)
      const order = link && orders.get(link.order_id)
      if (link && order) settle(link, order, payment)
    },
    /** In a list the payments of a link are left out. */
    listLinks: (query: URLSearchParams): unknown => {
      const wanted = query.get('reference_id')
      const found = [...links.keys()].map(find).filter((link) => wanted === null || link.reference_id === wanted)
      return { payment_links: found.reverse().map((link) => ({ ...link, payments: [] })) }
    },
    /** Where the client's browser goes after paying. */
    callbackOf(id: string, payment: FakePayment): string {
      const { callback_url: callbackUrl, reference_id: reference, status } = find(id)
      const url = new URL(callbackUrl)
      const said = { payment_id: payment.id, payment_link_id: id, payment_link_reference_id: reference, payment_link_status: status }
      for (const [name, value] of Object.entries(said)) url.searchParams.set(`razorpay_${name}`, value)
      url.searchParams.set('razorpay_signature', sign(keySecret, `${id}|${reference}|${status}|${payment.id}`))
      return url.href
    },
  }
}
