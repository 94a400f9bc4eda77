import { useEffect, useRef, useState } from 'react'
import { createPath, useBlocker } from 'react-router'
import { billingCalls, type Subscription } from '#contract/billing.ts'
import type { BillingPeriod, PaymentType, Plan } from '#contract/plans.ts'
import { pageMeta } from '#web/platform/page-meta.tsx'
import { errorMessage, Problem } from '#web/platform/problem.ts'
import { send } from '#web/platform/send.ts'
import { readSession } from '#web/platform/session.ts'
import { useDay } from './banners.tsx'
import { texts } from './texts.ts'

const t = texts.subscribe
/** Milliseconds before each retry of the verification while the server is unreachable. */
const retryDelays = [1_500, 4_000]

export interface Choice {
  billingPeriod: BillingPeriod
  paymentType: PaymentType
}

/** `ordering`: the server creates the order. `paying`: the checkout is open. `verifying`: the server checks the payment. */
type Stage = 'idle' | 'ordering' | 'paying' | 'verifying'

interface CheckoutState {
  stage: Stage
  problem: string | null
  pay: (choice: Choice) => Promise<void>
  clearProblem: () => void
}

interface CheckoutInput {
  plan: Plan
  subscription: Subscription
  /** The plan is active. */
  onPaid: (message: string) => void
  onError: (message: string) => void
  /** The user paid, and the server could not confirm the payment yet. */
  onUnconfirmed: () => void
  /** Refetches the subscription. */
  onChange: () => Promise<Subscription | undefined>
}

/** Buys a plan: creates an order or a subscription, opens the provider’s checkout, and has the server verify its proof. */
export function useCheckout({ plan, subscription, onPaid, onError, onUnconfirmed, onChange }: CheckoutInput): CheckoutState {
  const [stage, setStage] = useState<Stage>('idle')
  const [problem, setProblem] = useState<string | null>(null)
  const day = useDay()
  // A double click must not order twice, and the state is updated only at the next render.
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
    const problem = await sendProof(choice, proof).then(
      () => null,
      (error: unknown) => unverifiedMessage(choice, error),
    )
    const after = await onChange().catch(() => undefined)
    const active = after?.plan === plan.name && purchaseMark(after) !== purchaseMark(subscription)
    // A webhook of the provider may have reached the server first.
    if (problem === null || active) {
      end()
      if (choice.paymentType === 'onetime') return onPaid(t.paid)
      // Without the next charge the provider has not confirmed the subscription yet.
      if (!active || after.nextChargeAt === null) return onPaid(t.subscribed)
      const next = day(after.nextChargeAt)
      return onPaid(after.status === 'trialing' ? t.begins(next) : t.renews(plan.title, next))
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
      const order = await createOrder(plan, choice)
      let refused: string | null = null
      let paid = false
      const opened = new Razorpay({
        ...order,
        name: 'Duely',
        description: t.description(plan.title, t.periods[choice.billingPeriod].toLowerCase()),
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
      // The checkout stays open after a failed attempt; the bank’s reason is shown once it is closed.
      opened.on('payment.failed', ({ error }) => {
        refused = t.notPaid(error?.description ?? t.noReason)
      })
      setStage('paying')
      opened.open()
    } catch (error) {
      const generic = choice.paymentType === 'onetime' ? t.orderFailed : t.subscriptionFailed
      fail(error instanceof Problem && error.code !== 'offline' ? error.message : `${generic}. ${errorMessage(error)}`)
      if (error instanceof Problem && error.code === 'conflict') await onChange()
    }
  }

  return { stage, problem, pay, clearProblem: () => setProblem(null) }
}

async function createOrder(
  plan: Plan,
  { billingPeriod, paymentType }: Choice,
): Promise<Pick<CheckoutOptions, 'key' | 'order_id' | 'subscription_id' | 'amount' | 'currency'>> {
  if (plan.name === 'free') throw new Error('The Free plan cannot be bought.')
  const body = { plan: plan.name, billingPeriod }
  if (paymentType === 'subscription') {
    const { keyId, subscriptionId } = await send(billingCalls.createSubscription, { body })
    return { key: keyId, subscription_id: subscriptionId }
  }
  const { keyId, orderId, amount, currency } = await send(billingCalls.createOrder, { body })
  return { key: keyId, order_id: orderId, amount, currency }
}

/** Retries while the server is unreachable, because the user has paid already. */
async function sendProof({ paymentType }: Choice, proof: CheckoutProof): Promise<void> {
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
      const delay = retryDelays[nth]
      const unreachable = error instanceof Problem && (error.code === 'offline' || error.code === 'not_ready')
      if (!unreachable || delay === undefined) throw error
      await new Promise((done) => setTimeout(done, delay))
    }
  }
}

/** The server’s message if it has checked the payment; otherwise a text that also explains that the payment is not lost. */
function unverifiedMessage({ paymentType }: Choice, error: unknown): string {
  const generic = paymentType === 'onetime' ? t.unverified : t.subscriptionUnverified
  if (!(error instanceof Problem)) return generic
  switch (error.code) {
    case 'payment_not_verified':
    case 'payment_pending':
    case 'payment_refused':
      return error.message
    default:
      return `${generic} ${t.notLost}`
  }
}

/** Options of Razorpay’s standard web integration: an order or a subscription, never both. */
interface CheckoutOptions {
  key: string
  name: string
  description: string
  order_id?: string
  subscription_id?: string
  /** Paise; with an order only. */
  amount?: number
  currency?: string
  prefill: { name: string; email: string }
  theme: { color: string }
  handler: (proof: CheckoutProof) => void
  modal: { ondismiss: () => void; confirm_close: boolean }
}

/** Razorpay’s proof of a payment. */
interface CheckoutProof {
  razorpay_payment_id: string
  razorpay_order_id?: string
  razorpay_subscription_id?: string
  razorpay_signature: string
}

interface Checkout {
  open: () => void
  on: (event: 'payment.failed', listener: (failed: { error?: { description?: string } }) => void) => void
}

declare global {
  interface Window {
    Razorpay?: new (options: CheckoutOptions) => Checkout
  }
}

/** Milliseconds. */
const scriptTimeout = 20_000

/** Loads the provider’s script when a dialog opens. */
export function useCheckoutScript(url: string | null): { state: 'loading' | 'ready' | 'failed'; retry: () => void } {
  const [state, setState] = useState<'loading' | 'ready' | 'failed'>('loading')
  const [attempt, setAttempt] = useState(0)
  // biome-ignore lint/correctness/useExhaustiveDependencies: must load again for each attempt.
  useEffect(() => {
    if (url === null) return
    let unmounted = false
    const end = (result: 'ready' | 'failed') => {
      if (!unmounted) setState(result)
    }
    load(url).then(
      () => end('ready'),
      () => end('failed'),
    )
    return () => {
      unmounted = true
    }
  }, [url, attempt])
  const retry = () => {
    setState('loading')
    setAttempt((before) => before + 1)
  }
  return { state, retry }
}

/** A script that failed must be removed, because the browser would not request it again. */
function load(url: string): Promise<void> {
  if (window.Razorpay) return Promise.resolve()
  return new Promise((done, fail) => {
    const script = document.createElement('script')
    const timeout = setTimeout(() => end(false), scriptTimeout)
    const end = (loaded: boolean) => {
      clearTimeout(timeout)
      if (loaded && window.Razorpay) return done()
      script.remove()
      fail(new Error('The checkout did not load.'))
    }
    script.src = url
    script.async = true
    script.onload = () => end(true)
    script.onerror = () => end(false)
    document.head.append(script)
  })
}

/**
 * The provider’s script may run on the pricing page only, and a browser applies the policy and keeps the scripts of the page that was loaded
 * while screens change inside it. The pricing page must therefore be loaded as a page of its own before its checkout opens, and be left the
 * same way. False while it is reloading.
 */
export function useCheckoutPage(wanted: boolean): boolean {
  const isCheckoutPage = pageMeta('checkout') === 'on'
  const mustReload = !isCheckoutPage && !loadedHere()
  useEffect(() => {
    if (wanted && mustReload) window.location.reload()
  }, [wanted, mustReload])
  const leaving = useBlocker(({ currentLocation, nextLocation }) => isCheckoutPage && currentLocation.pathname !== nextLocation.pathname)
  useEffect(() => {
    if (leaving.state === 'blocked') window.location.assign(createPath(leaving.location))
  }, [leaving])
  return !mustReload
}

/** The browser loaded this page itself, so reloading it would change nothing. */
function loadedHere(): boolean {
  const [loaded] = performance.getEntriesByType('navigation')
  return loaded !== undefined && new URL(loaded.name).pathname === window.location.pathname
}

/** Changes whenever a purchase of the plan takes effect, also of the plan that runs already. */
export function purchaseMark({ plan, paymentType, currentPeriodEnd }: Subscription): string {
  return `${plan} ${paymentType} ${currentPeriodEnd}`
}
