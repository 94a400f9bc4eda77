import { useRef, useState } from 'react'
import { billingCalls, type Subscription } from '#contract/billing.ts'
import type { BillingPeriod, PaymentType, Plan } from '#contract/plans.ts'
import { errorMessage, Problem } from '#web/platform/problem.ts'
import { send } from '#web/platform/send.ts'
import { readSession } from '#web/platform/session.ts'
import type { CheckoutOptions, CheckoutProof } from './checkout-script.ts'
import { texts } from './texts.ts'

const words = texts.subscribe
/** Milliseconds before what was paid is brought to the server once more, where it could not be reached. */
const pauses = [1_500, 4_000]

export interface Choice {
  billingPeriod: BillingPeriod
  paymentType: PaymentType
}

/** `ordering`: the provider prepares it. `paying`: its checkout is open. `verifying`: the server asks it what became of it. */
export type Stage = 'idle' | 'ordering' | 'paying' | 'verifying'

export interface Checkout {
  stage: Stage
  /** What went wrong last; null once something is tried anew. */
  problem: string | null
  pay: (choice: Choice) => Promise<void>
  forget: () => void
}

interface Buying {
  plan: Plan
  subscription: Subscription
  /** The plan runs. */
  onPaid: (said: string) => void
  onError: (message: string) => void
  /** Something was paid, and the server could not confirm it at once. */
  onUnconfirmed: () => void
  /** The server knows of the payment, or may: what is shown of the plan is read anew. */
  onChange: () => Promise<Subscription | undefined>
}

/** Buys a plan: an order or a subscription, the provider's checkout, and what it hands over brought to the server. */
export function useCheckout({ plan, subscription, onPaid, onError, onUnconfirmed, onChange }: Buying): Checkout {
  const [stage, setStage] = useState<Stage>('idle')
  const [problem, setProblem] = useState<string | null>(null)
  // A double click must not order twice: the state above is only seen at the next paint.
  const busy = useRef(false)

  const end = () => {
    busy.current = false
    setStage('idle')
  }
  const fail = (message: string) => {
    setProblem(message)
    end()
    onError(message)
  }

  const verify = async (choice: Choice, proof: CheckoutProof) => {
    setStage('verifying')
    const problem = await bring(choice, proof).then(
      () => null,
      (error: unknown) => unverified(choice, error),
    )
    const after = await onChange().catch(() => undefined)
    // The provider may have told the server meanwhile.
    if (problem === null || after?.plan === plan.name) {
      end()
      return onPaid(choice.paymentType === 'onetime' ? words.paid : words.subscribed)
    }
    onUnconfirmed()
    fail(problem)
  }

  const pay = async (choice: Choice) => {
    const { Razorpay } = window
    const { checkout } = subscription
    if (busy.current || !Razorpay || !checkout) return
    busy.current = true
    setProblem(null)
    setStage('ordering')
    try {
      const order = await begin(plan, choice)
      let refused: string | null = null
      let paid = false
      const opened = new Razorpay({
        ...order,
        name: 'Duely',
        description: words.description(plan.title, words.periods[choice.billingPeriod].toLowerCase()),
        prefill: { name: readSession()?.user.displayName ?? '', email: readSession()?.user.email ?? '' },
        theme: { color: checkout.themeColor },
        handler: (proof) => {
          paid = true
          void verify(choice, proof)
        },
        modal: {
          confirm_close: false,
          ondismiss: () => {
            if (paid) return
            setProblem(refused)
            end()
          },
        },
      })
      // The checkout stays open after a failed attempt; what the bank said is shown once it is closed.
      opened.on('payment.failed', ({ error }) => {
        refused = words.notPaid(error?.description ?? words.noReason)
      })
      setStage('paying')
      opened.open()
    } catch (error) {
      const plain = choice.paymentType === 'onetime' ? words.orderFailed : words.subscriptionFailed
      fail(error instanceof Problem && error.code !== 'offline' ? error.message : `${plain}. ${errorMessage(error)}`)
      if (error instanceof Problem && error.code === 'conflict') await onChange()
    }
  }

  return { stage, problem, pay, forget: () => setProblem(null) }
}

async function begin(
  plan: Plan,
  { billingPeriod, paymentType }: Choice,
): Promise<Pick<CheckoutOptions, 'key' | 'order_id' | 'subscription_id' | 'amount' | 'currency'>> {
  if (plan.name === 'free') throw new Error('Free is not bought.')
  const body = { plan: plan.name, billingPeriod }
  if (paymentType === 'subscription') {
    const { keyId, subscriptionId } = await send(billingCalls.createSubscription, { body })
    return { key: keyId, subscription_id: subscriptionId }
  }
  const { keyId, orderId, amount, currency } = await send(billingCalls.createOrder, { body })
  return { key: keyId, order_id: orderId, amount, currency }
}

/** Brings the proof to the server; where it cannot be reached, a few times: the money has been paid. */
async function bring({ paymentType }: Choice, proof: CheckoutProof): Promise<void> {
  const { razorpay_payment_id, razorpay_order_id, razorpay_subscription_id, razorpay_signature } = proof
  for (let nth = 0; ; nth += 1) {
    try {
      if (paymentType === 'onetime')
        await send(billingCalls.verifyPayment, {
          body: { razorpay_order_id: razorpay_order_id ?? '', razorpay_payment_id, razorpay_signature },
        })
      else
        await send(billingCalls.verifySubscriptionPayment, {
          body: {
            ...(razorpay_subscription_id === undefined ? {} : { razorpay_subscription_id }),
            ...(razorpay_order_id === undefined ? {} : { razorpay_order_id }),
            razorpay_payment_id,
            razorpay_signature,
          },
        })
      return
    } catch (error) {
      const pause = pauses[nth]
      const away = error instanceof Problem && (error.code === 'offline' || error.code === 'not_ready')
      if (!away || pause === undefined) throw error
      await new Promise((done) => setTimeout(done, pause))
    }
  }
}

/** The server's words where it has looked at the payment; where it could not, that the payment is not lost. */
function unverified({ paymentType }: Choice, error: unknown): string {
  const plain = paymentType === 'onetime' ? words.unverified : words.subscriptionUnverified
  if (!(error instanceof Problem)) return plain
  switch (error.code) {
    case 'payment_not_verified':
    case 'payment_pending':
    case 'payment_refused':
      return error.message
    default:
      return `${plain} ${words.notLost}`
  }
}
