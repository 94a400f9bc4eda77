/** The provider's checkout script: `new Razorpay(options).open()` opens a frame in which the customer pays, fails or closes. */
export function checkoutScript(origin: string): string {
  return `(() => {
  const origin = ${JSON.stringify(origin)}
  class Razorpay {
    constructor(options) {
      if (!options || !options.key) throw new Error('No key passed')
      if (!options.order_id && !options.subscription_id) throw new Error('order_id or subscription_id is mandatory')
      this.options = options
      this.listeners = {}
    }
    on(name, listener) {
      (this.listeners[name] ??= []).push(listener)
    }
    open() {
      const { key, order_id, subscription_id, amount, name, description, prefill = {}, theme = {} } = this.options
      const asked = new URLSearchParams({ key, name: name ?? '', description: description ?? '', color: theme.color ?? '', email: prefill.email ?? '', person: prefill.name ?? '' })
      if (order_id) asked.set('order_id', order_id)
      if (subscription_id) asked.set('subscription_id', subscription_id)
      if (amount !== undefined) asked.set('amount', String(amount))
      this.frame = document.createElement('iframe')
      this.frame.title = 'Checkout'
      this.frame.className = 'razorpay-checkout-frame'
      this.frame.src = origin + '/v1/checkout/frame?' + asked
      for (const [property, value] of Object.entries({ position: 'fixed', inset: '0', width: '100%', height: '100%', border: '0', zIndex: '2147483647' }))
        this.frame.style[property] = value
      this.hear = (event) => {
        if (event.origin !== origin || event.source !== this.frame.contentWindow) return
        const { kind, body } = event.data
        if (kind === 'paid') {
          this.close()
          this.options.handler?.(body)
        } else if (kind === 'failed') for (const listener of this.listeners['payment.failed'] ?? []) listener(body)
        else if (kind === 'dismissed') {
          this.close()
          this.options.modal?.ondismiss?.()
        }
      }
      window.addEventListener('message', this.hear)
      document.body.append(this.frame)
    }
    close() {
      window.removeEventListener('message', this.hear)
      this.frame?.remove()
    }
  }
  window.Razorpay = Razorpay
})()
`
}

/** The page in the frame. */
export function checkoutFrame(about: {
  heading: string
  lines: string[]
  color: string
  order: Record<string, string>
  refused: string | null
}): string {
  const { heading, lines, color, order, refused } = about
  const buttons = refused
    ? '<button data-act="dismiss">Close</button>'
    : '<button data-act="pay">Pay</button><button data-act="fail">Fail</button><button data-act="dismiss">Close</button>'
  return `<!doctype html><html lang="en"><meta charset="utf-8"><title>Checkout</title>
<style>body{margin:0;display:grid;place-items:center;min-height:100vh;background:#0008;font:16px system-ui}main{background:#fff;color:#111;padding:24px;border-top:6px solid ${escapeHtml(color || '#3399cc')};min-width:280px}button{margin:4px 8px 0 0;padding:10px 16px;font:inherit}</style>
<main><h1>${escapeHtml(heading)}</h1>${lines.map((line) => `<p>${escapeHtml(line)}</p>`).join('')}<p role="alert">${escapeHtml(refused ?? '')}</p>${buttons}</main>
<script>
const order = ${JSON.stringify(order).replaceAll('<', '\\u003c')}
const say = (kind, body) => parent.postMessage({ kind, body }, '*')
const act = async (name) => {
  if (name === 'dismiss') return say('dismissed')
  const answered = await fetch('/v1/checkout/act', { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify({ ...order, act: name }) })
  const body = await answered.json()
  if (answered.ok) return say('paid', body)
  document.querySelector('[role=alert]').textContent = body.error.description
  say('failed', body)
}
document.addEventListener('click', (event) => { const name = event.target.dataset?.act; if (name) act(name) })
document.addEventListener('keydown', (event) => { if (event.key === 'Escape') say('dismissed') })
</script></html>`
}

function escapeHtml(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;')
}
