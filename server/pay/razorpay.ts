import { z } from 'zod'
import { collection, openProviderHttp, ProviderError, type ProviderSettings, paymentShape } from '#server/billing/razorpay.ts'
import type { Instant } from '#server/platform/clock.ts'

/** Payment links of Razorpay (razorpay.com/docs/api/payments/payment-links), in INR by the keys of an account. Amounts are integer paise. */

/** A link as the provider has it. */
export interface ProviderLink {
  id: string
  /** Where the client pays. */
  url: string
  state: 'created' | 'partially_paid' | 'expired' | 'cancelled' | 'paid'
}

export interface ProviderPaid {
  id: string
  amount: number
  currency: string
  /** The money has arrived. */
  captured: boolean
  /** The money is reserved, and neither captured nor let go. */
  reserved: boolean
  method: string | null
  at: Instant
  refunds: { id: string; amount: number; at: Instant }[]
}

/** Every method throws ProviderError and nothing else. */
export interface PaymentProvider {
  /** Refused where the keys are not right. */
  check(): Promise<void>
  /** `reference`: unique, at most 40 characters; by it a link is found whose making was not answered. */
  begin(link: {
    amount: number
    reference: string
    description: string
    /** Where the provider leads the client afterwards. */
    callbackUrl: string
    expiresAt: Instant
  }): Promise<ProviderLink>
  /** The link of a reference; null where none was made. */
  find(reference: string): Promise<ProviderLink | null>
  /** The link, and what was paid by it. */
  ask(id: string): Promise<{ state: ProviderLink['state']; payments: ProviderPaid[] }>
  /** Refused where it is paid, cancelled or expired already. */
  cancel(id: string): Promise<void>
}

const linkShape = z.object({
  id: z.string(),
  short_url: z.url({ protocol: /^https?$/ }),
  status: z.enum(['created', 'partially_paid', 'expired', 'cancelled', 'paid']),
  reference_id: z.string().nullish(),
  order_id: z.string().nullish(),
  /** Null until something was paid; in lists it is empty although something was. */
  payments: z
    .array(z.object({ payment_id: z.string() }))
    .nullish()
    .transform((payments) => payments ?? []),
})
const refundShape = z.object({ id: z.string(), amount: z.number().int(), status: z.string().nullish(), created_at: z.number() })
type Payment = z.output<typeof paymentShape>

const part = encodeURIComponent
/** Some answers name an order without what its id begins with. */
const orderIdOf = (id: string) => (id.startsWith('order_') ? id : `order_${id}`)

export function openPaymentProvider(settings: ProviderSettings): PaymentProvider {
  const { read, write } = openProviderHttp(settings)
  const linkOf = ({ id, short_url: url, status }: z.output<typeof linkShape>): ProviderLink => ({ id, url, state: status })
  const refundsOf = async ({ id, amount_refunded }: Payment) => {
    if (amount_refunded === 0) return []
    const { items } = await read(`/payments/${part(id)}/refunds?count=100`, collection(refundShape))
    return items
      .filter(({ status }) => (status ?? 'processed') === 'processed')
      .map(({ id, amount, created_at }) => ({ id, amount, at: Temporal.Instant.fromEpochMilliseconds(created_at * 1000) }))
  }
  return {
    async check() {
      await read('/payment_links?count=1', z.object({ payment_links: z.array(z.unknown()) }))
    },
    async begin({ amount, reference, description, callbackUrl, expiresAt }) {
      const link = {
        amount,
        currency: 'INR',
        accept_partial: false,
        reference_id: reference,
        description,
        expire_by: Math.floor(expiresAt.epochMilliseconds / 1000),
        notify: { sms: false, email: false },
        reminder_enable: false,
        callback_url: callbackUrl,
        callback_method: 'get',
      }
      return linkOf(await write('/payment_links', link, linkShape))
    },
    async find(reference) {
      const { payment_links: found } = await read(
        `/payment_links?reference_id=${part(reference)}`,
        z.object({ payment_links: z.array(linkShape) }),
      )
      const link = found.find((one) => one.reference_id === reference)
      return link ? linkOf(link) : null
    },
    async ask(id) {
      const link = await read(`/payment_links/${part(id)}`, linkShape)
      const tried = link.order_id ? (await read(`/orders/${part(orderIdOf(link.order_id))}/payments`, collection(paymentShape))).items : []
      const named = link.payments.map((one) => one.payment_id).filter((one) => !tried.some((payment) => payment.id === one))
      for (const one of new Set(named)) tried.push(await read(`/payments/${part(one)}`, paymentShape))
      const payments: ProviderPaid[] = []
      for (const payment of tried) {
        const { id, amount, currency, status, method, created_at: at } = payment
        const captured = payment.captured && (status === 'captured' || status === 'refunded')
        const refunds = captured ? await refundsOf(payment) : []
        payments.push({ id, amount, currency, captured, reserved: status === 'authorized', method, at, refunds })
      }
      return { state: link.status, payments: payments.toSorted((a, b) => Temporal.Instant.compare(a.at, b.at)) }
    },
    async cancel(id) {
      await write(`/payment_links/${part(id)}/cancel`, {}, z.object({}))
    },
  }
}

/** Of an event only what it is about is read: its payload is a snapshot that may be old when it comes. */
const named = z
  .object({ entity: z.object({ id: z.string().optional(), payment_id: z.string().optional(), reference_id: z.string().nullish() }) })
  .optional()
  .catch(undefined)
const envelope = z.object({ event: z.string(), payload: z.object({ payment_link: named, payment: named, refund: named }) })

export interface ProviderEvent {
  name: string
  linkId: string | null
  reference: string | null
  paymentId: string | null
}

/** What an event is about; null where it cannot be read. */
export function readProviderEvent(body: Buffer): ProviderEvent | null {
  const parsed = envelope.safeParse(parse(body))
  if (!parsed.success) return null
  const { event, payload } = parsed.data
  return {
    name: event,
    linkId: payload.payment_link?.entity.id ?? null,
    reference: payload.payment_link?.entity.reference_id ?? null,
    paymentId: payload.payment?.entity.id ?? payload.refund?.entity.payment_id ?? null,
  }
}

function parse(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString('utf8'))
  } catch {
    return null
  }
}

export { ProviderError }
