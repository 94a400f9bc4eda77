import { useEffect, useState } from 'react'

/** What the provider's checkout is opened with (its standard web integration). An order or a subscription, never both. */
export interface CheckoutOptions {
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

/** What it hands over after paying. */
export interface CheckoutProof {
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

/** A script that says nothing for so long is not coming. */
const patience = 20_000

/** The provider's script, fetched when a dialog wants it. `again` tries once more after it did not come. */
export function useCheckoutScript(url: string | null): { state: 'loading' | 'ready' | 'failed'; again: () => void } {
  const [state, setState] = useState<'loading' | 'ready' | 'failed'>('loading')
  const [attempt, setAttempt] = useState(0)
  // biome-ignore lint/correctness/useExhaustiveDependencies: another attempt is a reason to load.
  useEffect(() => {
    if (url === null) return
    let gone = false
    const end = (how: 'ready' | 'failed') => {
      if (!gone) setState(how)
    }
    load(url).then(
      () => end('ready'),
      () => end('failed'),
    )
    return () => {
      gone = true
    }
  }, [url, attempt])
  const again = () => {
    setState('loading')
    setAttempt((before) => before + 1)
  }
  return { state, again }
}

/** Adds the script to this page, once; one that did not come is taken out again, so that the next attempt is a real one. */
function load(url: string): Promise<void> {
  if (window.Razorpay) return Promise.resolve()
  return new Promise((done, fail) => {
    const script = document.createElement('script')
    const late = setTimeout(() => end(false), patience)
    const end = (came: boolean) => {
      clearTimeout(late)
      if (came && window.Razorpay) return done()
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
