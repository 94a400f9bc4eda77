import { createHmac } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import { z } from 'zod'
import type { BillingPeriod } from '#contract/plans.ts'
import type { Instant } from '#server/platform/clock.ts'
import { sameText } from '#server/platform/secrets.ts'

/** Razorpay's REST calls that Duely needs (razorpay.com/docs/api), and its signatures. Amounts are integer paise, times seconds since 1970. */

/** Why the provider did not do what it was asked. */
export class ProviderError extends Error {
  /** `refused`: it said no, in `message`. `away`: no answer or an unreadable one, so the effect is unknown. */
  readonly kind: 'refused' | 'away'
  readonly status: number | null

  constructor(kind: 'refused' | 'away', message: string, extra: { status?: number; cause?: unknown } = {}) {
    super(message, { cause: extra.cause })
    this.kind = kind
    this.status = extra.status ?? null
  }
}

export interface ProviderSettings {
  keyId: string
  keySecret: string
  apiUrl: string
}

const seconds = z.number().transform((at) => Temporal.Instant.fromEpochMilliseconds(at * 1000))
const maybeSeconds = seconds.nullish().transform((at) => at ?? null)
const text = z
  .string()
  .nullish()
  .transform((value) => value ?? null)

const orderShape = z.object({ id: z.string(), amount: z.number().int(), currency: z.string(), receipt: text, created_at: seconds })
type ProviderOrder = z.output<typeof orderShape>

export const paymentShape = z.object({
  id: z.string(),
  amount: z.number().int(),
  currency: z.string(),
  status: z.enum(['created', 'authorized', 'captured', 'refunded', 'failed']),
  order_id: text,
  /** Money that was only reserved and let go is `refunded` too, but was never captured. The provider writes true, 1 or "1". */
  captured: z
    .union([z.boolean(), z.number(), z.string()])
    .nullish()
    .transform((value) => value === true || value === 1 || value === '1'),
  amount_refunded: z
    .number()
    .nullish()
    .transform((value) => value ?? 0),
  method: text,
  error_description: text,
  created_at: seconds,
})
export type ProviderPayment = z.output<typeof paymentShape>

const subscriptionShape = z.object({
  id: z.string(),
  plan_id: z.string(),
  status: z.enum(['created', 'authenticated', 'active', 'pending', 'halted', 'paused', 'cancelled', 'completed', 'expired']),
  customer_id: text,
  current_start: maybeSeconds,
  current_end: maybeSeconds,
  start_at: maybeSeconds,
  ended_at: maybeSeconds,
  paid_count: z.number().int(),
  created_at: seconds,
})
export type ProviderSubscription = z.output<typeof subscriptionShape>

const invoiceShape = z.object({
  id: z.string(),
  status: z.string(),
  order_id: text,
  payment_id: text,
  amount: z.number().int(),
  billing_start: maybeSeconds,
  billing_end: maybeSeconds,
})
export type ProviderInvoice = z.output<typeof invoiceShape>

const planShape = z.object({ id: z.string() })
export const collection = <S extends z.ZodType>(item: S) => z.object({ items: z.array(item) })
const refusal = z.object({ error: z.object({ description: z.string().min(1) }) })

/** Milliseconds a call may take in all, retries included. */
const deadline = 10_000
/** Pauses before a read is retried. Writes are not retried, because the effect of the first is unknown. */
const pauses = [200, 600]
/** A page of the provider's lists. */
const pageSize = 100
/** An agreement to be charged lasts ten years. */
const cycles: Record<BillingPeriod, number> = { monthly: 120, yearly: 10 }

/** Every method of it throws ProviderError and nothing else. */
export interface Razorpay {
  createOrder(order: { amount: number; receipt: string; notes: Record<string, string> }): Promise<ProviderOrder>
  /** The order that was made for a receipt; null where none was. */
  findOrder(receipt: string): Promise<ProviderOrder | null>
  orderPayments(orderId: string): Promise<ProviderPayment[]>
  payment(paymentId: string): Promise<ProviderPayment>
  createPlan(plan: { period: BillingPeriod; name: string; amount: number }): Promise<string>
  createSubscription(draft: {
    planId: string
    period: BillingPeriod
    /** The first charge; null: at once. */
    startAt: Instant | null
    notes: Record<string, string>
  }): Promise<ProviderSubscription>
  subscription(id: string): Promise<ProviderSubscription>
  subscriptionInvoices(id: string): Promise<ProviderInvoice[]>
  cancelSubscription(id: string, when: 'now' | 'cycle_end'): Promise<ProviderSubscription>
}

interface Patience {
  /** Milliseconds a call may take in all, retries included. */
  deadline: number
  /** Milliseconds before a read is retried. */
  pauses: number[]
}

/** Calls by the keys of one business. `read` is retried, `write` is not. Both throw ProviderError and nothing else. */
interface ProviderHttp {
  read<S extends z.ZodType>(path: string, shape: S): Promise<z.output<S>>
  write<S extends z.ZodType>(path: string, body: object, shape: S): Promise<z.output<S>>
}

/** `patience` is for tests: 10 s and the usual pauses otherwise. */
export function openProviderHttp(settings: ProviderSettings, patience: Patience = { deadline, pauses }): ProviderHttp {
  // "Basic" in exactly these letters (api/authentication).
  const authorization = `Basic ${Buffer.from(`${settings.keyId}:${settings.keySecret}`).toString('base64')}`
  const base = settings.apiUrl.replace(/\/$/, '')

  const once = async <S extends z.ZodType>(
    method: 'GET' | 'POST',
    path: string,
    body: object | null,
    shape: S,
    signal: AbortSignal,
  ): Promise<z.output<S>> => {
    let answered: { status: number; ok: boolean; said: string }
    try {
      const response = await fetch(base + path, {
        method,
        headers: { authorization, accept: 'application/json', ...(body ? { 'content-type': 'application/json' } : {}) },
        ...(body ? { body: JSON.stringify(body) } : {}),
        redirect: 'error',
        signal,
      })
      answered = { status: response.status, ok: response.ok, said: await response.text() }
    } catch (error) {
      throw new ProviderError(
        'away',
        signal.aborted ? 'The payment provider did not answer in time.' : 'The payment provider cannot be reached.',
        {
          cause: error,
        },
      )
    }
    const { status, ok, said } = answered
    const json = parse(said)
    if (!ok) {
      const refused = refusal.safeParse(json)
      // "Too many" and its own troubles are no answer to what was asked.
      if (refused.success && status < 500 && status !== 429) throw new ProviderError('refused', refused.data.error.description, { status })
      throw new ProviderError('away', `The payment provider answered with status ${status}.`, { status })
    }
    const parsed = shape.safeParse(json)
    if (!parsed.success)
      throw new ProviderError('away', 'The payment provider answered with something unexpected.', { status, cause: parsed.error })
    return parsed.data
  }

  const read = async <S extends z.ZodType>(path: string, shape: S): Promise<z.output<S>> => {
    const signal = AbortSignal.timeout(patience.deadline)
    for (let attempt = 0; ; attempt += 1) {
      try {
        return await once('GET', path, null, shape, signal)
      } catch (error) {
        const wait = patience.pauses[attempt]
        if (!(error instanceof ProviderError) || error.kind === 'refused' || wait === undefined || signal.aborted) throw error
        await pause(wait)
      }
    }
  }
  const write = <S extends z.ZodType>(path: string, body: object, shape: S) =>
    once('POST', path, body, shape, AbortSignal.timeout(patience.deadline))
  return { read, write }
}

export function openRazorpay(settings: ProviderSettings, patience?: Patience): Razorpay {
  const { read, write } = openProviderHttp(settings, patience)
  const readAll = async <S extends z.ZodType>(path: string, shape: S): Promise<z.output<S>[]> => {
    const all: z.output<S>[] = []
    for (;;) {
      const { items } = await read(`${path}${path.includes('?') ? '&' : '?'}count=${pageSize}&skip=${all.length}`, collection(shape))
      all.push(...items)
      if (items.length < pageSize) return all
    }
  }
  const part = encodeURIComponent

  return {
    createOrder: ({ amount, receipt, notes }) => write('/orders', { amount, currency: 'INR', receipt, notes }, orderShape),
    async findOrder(receipt) {
      const { items } = await read(`/orders?receipt=${part(receipt)}`, collection(orderShape))
      return items.find((order) => order.receipt === receipt) ?? null
    },
    // This list comes whole: it knows neither count nor skip.
    orderPayments: async (orderId) => (await read(`/orders/${part(orderId)}/payments`, collection(paymentShape))).items,
    payment: (paymentId) => read(`/payments/${part(paymentId)}`, paymentShape),
    createPlan: async ({ period, name, amount }) =>
      (await write('/plans', { period, interval: 1, item: { name, amount, currency: 'INR' } }, planShape)).id,
    createSubscription: ({ planId, period, startAt, notes }) =>
      write(
        '/subscriptions',
        {
          plan_id: planId,
          total_count: cycles[period],
          quantity: 1,
          customer_notify: true,
          ...(startAt ? { start_at: Math.ceil(startAt.epochMilliseconds / 1000) } : {}),
          notes,
        },
        subscriptionShape,
      ),
    subscription: (id) => read(`/subscriptions/${part(id)}`, subscriptionShape),
    subscriptionInvoices: (id) => readAll(`/invoices?subscription_id=${part(id)}`, invoiceShape),
    cancelSubscription: (id, when) =>
      write(`/subscriptions/${part(id)}/cancel`, { cancel_at_cycle_end: when === 'cycle_end' }, subscriptionShape),
  }
}

function parse(said: string): unknown {
  try {
    return JSON.parse(said)
  } catch {
    return null
  }
}

/** Whether a checkout's proof of paying an order was signed with this secret: HMAC-SHA256 over `order|payment`, hexadecimal. */
export function isSignedOrder(keySecret: string, proof: { orderId: string; paymentId: string; signature: string }): boolean {
  return sameText(sign(keySecret, `${proof.orderId}|${proof.paymentId}`), proof.signature)
}

/** The same for a subscription, where the payment comes first: `payment|subscription`. */
export function isSignedSubscription(keySecret: string, proof: { subscriptionId: string; paymentId: string; signature: string }): boolean {
  return sameText(sign(keySecret, `${proof.paymentId}|${proof.subscriptionId}`), proof.signature)
}

/** The most bytes of a webhook: an event has some 10 KB. */
export const largestEvent = 256 * 1024

/**
 * Whether a webhook was signed with one of these secrets, over its bytes as they came. `secrets`: one, or the new and the old one with a
 * comma between them, for retries of older events keep the secret that was current when they were made.
 */
export function isSignedWebhook(secrets: string, body: Buffer, signature: string): boolean {
  return secrets
    .split(',')
    .map((secret) => secret.trim())
    .filter((secret) => secret !== '')
    .some((secret) => sameText(sign(secret, body), signature))
}

function sign(secret: string, message: string | Buffer): string {
  return createHmac('sha256', secret).update(message).digest('hex')
}
