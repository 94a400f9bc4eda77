import { createHmac, randomInt } from 'node:crypto'

/** Razorpay's formats with their irregularities: empty notes are a list, `captured` is a string in events of subscriptions. */
export type Entity = Record<string, unknown> & { id: string; entity: string }

export interface Order extends Entity {
  amount: number
  amount_paid: number
  amount_due: number
  currency: string
  receipt: string | null
  status: 'created' | 'attempted' | 'paid'
  attempts: number
}
export interface FakePayment extends Entity {
  amount: number
  currency: string
  status: 'created' | 'authorized' | 'captured' | 'refunded' | 'failed'
  order_id: string | null
  invoice_id: string | null
  amount_refunded: number
  captured: boolean
  created_at: number
}

/** An error in Razorpay's format. */
export class Refused extends Error {
  readonly field: string | undefined

  constructor(description: string, field?: string) {
    super(description)
    this.field = field
  }
}

const letters = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789'

export function newId(kind: string): string {
  return `${kind}_${Array.from({ length: 14 }, () => letters[randomInt(letters.length)]).join('')}`
}

/** Empty notes are a list. */
export function notesOf(notes: unknown): unknown {
  return typeof notes === 'object' && notes !== null && Object.keys(notes).length > 0 ? notes : []
}

export function sign(secret: string, message: string): string {
  return createHmac('sha256', secret).update(message).digest('hex')
}
