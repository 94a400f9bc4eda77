import http from 'node:http'
import type net from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import { checkoutFrame, checkoutScript } from './checkout.ts'
import { Refused } from './entities.ts'
import { type FakeEvent, openProvider, type Proof, type Provider } from './provider.ts'

export interface Asked {
  method: string
  /** With its query. */
  path: string
  body: Record<string, unknown>
}

/**
 * An injected fault. `hang`: does nothing and never responds. `hang_after`: performs the call and never responds. `reset`: resets the
 * connection. Or a response of its own, performed or not.
 */
export type Move = 'hang' | 'hang_after' | 'reset' | { status: number; body?: unknown; html?: string; done?: boolean }

type Script = (asked: Asked, nth: number) => Move | undefined | Promise<Move | undefined>

export interface FakeRazorpay extends AsyncDisposable {
  /** The value of `config.razorpay`. */
  settings: { keyId: string; keySecret: string; webhookSecret: string; apiUrl: string; checkoutUrl: string }
  provider: Provider
  /** Every REST call, in order. */
  asked: Asked[]
  /** Called for each REST call; its result, or the promise's, replaces the response. `nth` counts from 1 since the last `answer`. */
  answer(script: Script): void
  /** Pays an order or subscribes like the customer in the checkout, and returns the checkout's result. */
  pay(id: string): Proof
  /** Sends further events there, signed with this secret, as the webhook that an owner sets up in the dashboard. */
  sendEventsTo(url: string, secret: string): void
  /** Sends an event like Razorpay; returns the status, or null without a response within 5 s. */
  send(event: FakeEvent, to: string): Promise<number | null>
}

export interface FakeOptions {
  port?: number
  keyId?: string
  keySecret?: string
  webhookSecret?: string
  /** Seconds since 1970; by default the machine's clock. */
  now?: () => number
  /** Where events are sent, with retries. By default nowhere: tests send them. */
  webhookUrl?: string
  /** Seconds between attempts; doubled each time. */
  retrySeconds?: number
}

interface Page {
  status: number
  type: string
  text: string
  /** Where the browser is sent instead. */
  to?: string
}

const ackDeadline = 5_000
const giveUpAfter = 24 * 3_600

/** A fake Razorpay on loopback: REST calls and errors, signatures, webhooks and checkout, with fault injection. */
export async function openFakeRazorpay(options: FakeOptions = {}): Promise<FakeRazorpay> {
  const settings = {
    keyId: options.keyId ?? 'rzp_test_FakeFakeFake01',
    keySecret: options.keySecret ?? 'fake_key_secret',
    webhookSecret: options.webhookSecret ?? 'fake_webhook_secret',
    apiUrl: '',
    checkoutUrl: '',
  }
  const closing = new AbortController()
  const sockets = new Set<net.Socket>()
  let webhookUrl = options.webhookUrl
  let script: Script = () => undefined
  let count = 0

  const send = async (event: FakeEvent, to: string): Promise<number | null> => {
    try {
      const answered = await fetch(to, {
        method: 'POST',
        headers: event.headers,
        body: event.body,
        signal: AbortSignal.timeout(ackDeadline),
      })
      await answered.arrayBuffer()
      return answered.status
    } catch {
      return null
    }
  }
  const sendPersistently = async (event: FakeEvent, to: string) => {
    for (let waited = 0, wait = options.retrySeconds ?? 1; waited < giveUpAfter && !closing.signal.aborted; waited += wait, wait *= 2) {
      const status = await send(event, to)
      if (status !== null && status >= 200 && status < 300) return
      await pause(wait * 1000, undefined, { signal: closing.signal }).catch(() => undefined)
    }
  }

  const provider = openProvider({
    keySecret: settings.keySecret,
    webhookSecret: settings.webhookSecret,
    now: options.now ?? (() => Date.now() / 1000),
    payUrl: (id) => `${settings.apiUrl}/pay/${id}`,
    onEvent(event) {
      if (webhookUrl) void sendPersistently(event, webhookUrl)
    },
  })

  const fake: FakeRazorpay = {
    settings,
    provider,
    asked: [],
    answer(next) {
      script = next
      count = 0
    },
    pay(id) {
      return id.startsWith('sub_')
        ? provider.proofOf(provider.agree(id), { subscriptionId: id })
        : provider.proofOf(provider.payOrder(id), { orderId: id })
    },
    sendEventsTo(url, secret) {
      webhookUrl = url
      provider.rotateSecret(secret)
    },
    send,
    async [Symbol.asyncDispose]() {
      closing.abort()
      for (const socket of sockets) socket.destroy()
      await new Promise<void>((resolve) => server.close(() => resolve()))
    },
  }

  const server = http.createServer((request, response) => {
    void handle(request, response).catch(() => response.destroy())
  })
  server.on('connection', (socket) => {
    sockets.add(socket)
    socket.on('close', () => sockets.delete(socket))
  })

  const handle = async (request: http.IncomingMessage, response: http.ServerResponse) => {
    const url = new URL(request.url ?? '/', settings.apiUrl)
    const said = await read(request)
    const open = openPage(url, said, request.method ?? 'GET')
    if (open?.to) return void response.writeHead(302, { location: open.to }).end()
    if (open) return reply(response, open.status, open.type, open.text)
    const rest = { method: request.method ?? 'GET', path: url.pathname.replace(/^\/v1/, '') + url.search, body: said }
    fake.asked.push(rest)
    const basic = Buffer.from(`${settings.keyId}:${settings.keySecret}`).toString('base64')
    if (request.headers.authorization !== `Basic ${basic}`)
      return answerJson(response, 401, refusalOf(new Refused('Authentication failed')))
    count += 1
    const move = await script(rest, count)
    if (move === 'hang') return
    if (move === 'reset') return void request.socket.resetAndDestroy()
    if (typeof move === 'object') {
      if (move.done) obey(rest, url)
      return move.html === undefined
        ? answerJson(response, move.status, move.body ?? {})
        : reply(response, move.status, 'text/html', move.html)
    }
    const answered = obey(rest, url)
    if (move === 'hang_after') return
    answerJson(response, answered.status, answered.body)
  }

  const obey = ({ method, body }: Asked, url: URL): { status: number; body: unknown } => {
    try {
      const done = obeyWell(method, url.pathname.replace(/^\/v1\//, '').split('/'), url.searchParams, body)
      // A copy, so that the response shows the state of this moment.
      if (done !== undefined) return { status: 200, body: structuredClone(done) }
      return { status: 400, body: refusalOf(new Refused('The requested URL was not found on the server.')) }
    } catch (error) {
      if (error instanceof Refused) return { status: 400, body: refusalOf(error) }
      throw error
    }
  }

  const obeyWell = (method: string, [kind, id = '', act]: string[], query: URLSearchParams, body: Record<string, unknown>): unknown => {
    const p = provider
    switch (`${method} ${kind}${id ? '/:id' : ''}${act ? `/${act}` : ''}`) {
      case 'POST orders':
        return p.createOrder(body)
      case 'GET orders':
        return list(
          [...p.orders.values()].reverse().filter((one) => !query.has('receipt') || one.receipt === query.get('receipt')),
          query,
        )
      case 'GET orders/:id':
        return p.find(p.orders, id)
      case 'GET orders/:id/payments': {
        p.find(p.orders, id)
        // This list has no pages.
        return collection([...p.payments.values()].reverse().filter((one) => one.order_id === id))
      }
      case 'POST payment_links':
        return p.createLink(body)
      case 'GET payment_links':
        return p.listLinks(query)
      case 'GET payment_links/:id':
        return p.findLink(id)
      case 'POST payment_links/:id/cancel':
        return p.cancelLink(id)
      case 'GET payments/:id/refunds':
        p.find(p.payments, id)
        return list(
          [...p.refunds.values()].reverse().filter((one) => one.payment_id === id),
          query,
        )
      case 'GET payments/:id':
        return p.find(p.payments, id)
      case 'POST payments/:id/capture':
        p.capture(id)
        return p.find(p.payments, id)
      case 'POST plans':
        return p.createPlan(body)
      case 'GET plans/:id':
        return p.find(p.plans, id)
      case 'POST subscriptions':
        return p.createSubscription(body)
      case 'GET subscriptions/:id':
        return p.find(p.subscriptions, id)
      case 'POST subscriptions/:id/cancel':
        return p.cancelSubscription(id, body)
      case 'GET invoices':
        return list(
          [...p.invoices.values()].reverse().filter((one) => one.subscription_id === query.get('subscription_id')),
          query,
        )
      default:
        return undefined
    }
  }

  /** The checkout needs no key. */
  const openPage = (url: URL, body: Record<string, unknown>, method: string): Page | null => {
    const [, linkId] = /^\/v1\/pay\/(plink_\w+)$/.exec(url.pathname) ?? []
    if (linkId !== undefined) return payPage(linkId, method, body)
    switch (`${method} ${url.pathname}`) {
      case 'GET /v1/checkout.js':
        return { status: 200, type: 'text/javascript', text: checkoutScript(new URL(settings.apiUrl).origin) }
      case 'GET /v1/checkout/frame':
        return { status: 200, type: 'text/html', text: frameFor(url.searchParams) }
      case 'POST /v1/checkout/act':
        return act(body)
      default:
        return null
    }
  }

  /** The provider's own page of a payment link, where the client pays. */
  const payPage = (id: string, method: string, body: Record<string, unknown>): Page => {
    try {
      const link = provider.findLink(id)
      if (method === 'POST') {
        const payment = provider.payLink(id, { outcome: body.act === 'pay' ? 'captured' : 'failed' })
        if (payment.status === 'captured') return { status: 302, type: 'text/html', text: '', to: provider.callbackOf(id, payment) }
      }
      const form = `<form method="post"><button name="act" value="pay">Pay</button><button name="act" value="fail">Fail</button></form>`
      const text = `<!doctype html><title>Pay</title><meta name="viewport" content="width=device-width"><style>:root { color-scheme: light dark } body { font: 16px/1.5 system-ui; max-width: 24em; margin: 4em auto; padding: 0 1em } button { font: inherit; padding: .5em 1.5em; margin-right: .5em }</style><p>Fake Razorpay server: no money moves.</p><h1>₹${(link.amount / 100).toLocaleString('en-IN', { minimumFractionDigits: 2 })}</h1><p>${link.description}</p>${link.status === 'created' ? form : `<p>This link is ${link.status}.</p>`}`
      return { status: 200, type: 'text/html', text }
    } catch (error) {
      if (error instanceof Refused) return { status: 404, type: 'text/html', text: error.message }
      throw error
    }
  }

  const frameFor = (asked: URLSearchParams): string => {
    const order = provider.orders.get(asked.get('order_id') ?? '')
    const subscription = provider.subscriptions.get(asked.get('subscription_id') ?? '')
    const amount = order?.amount ?? provider.plans.get(subscription?.plan_id ?? '')?.item.amount ?? 0
    const refused =
      asked.get('key') !== settings.keyId
        ? 'The key is not known.'
        : !order && !subscription
          ? 'The id provided does not exist'
          : order && asked.has('amount') && Number(asked.get('amount')) !== order.amount
            ? 'The amount does not match the order.'
            : null
    return checkoutFrame({
      heading: asked.get('name') ?? '',
      lines: [asked.get('description') ?? '', `₹${amount / 100}`, asked.get('person') ?? '', asked.get('email') ?? ''],
      color: asked.get('color') ?? '',
      order: order ? { order_id: order.id } : { subscription_id: subscription?.id ?? '' },
      refused,
    })
  }

  const act = (body: Record<string, unknown>): { status: number; type: string; text: string } => {
    const id = String(body.order_id ?? body.subscription_id ?? '')
    const json = (status: number, said: unknown) => ({ status, type: 'application/json', text: JSON.stringify(said) })
    try {
      if (body.act === 'pay') return json(200, fake.pay(id))
      const payment = id.startsWith('order_') ? provider.payOrder(id, { outcome: 'failed' }) : null
      const refused = refusalOf(new Refused('Your payment has been cancelled by the bank. Try again or use another method.'))
      Object.assign(refused.error, { source: 'bank', step: 'payment_authorization', reason: 'payment_failed' })
      Object.assign(refused.error.metadata, payment ? { payment_id: payment.id, order_id: id } : {})
      return json(400, refused)
    } catch (error) {
      if (error instanceof Refused) return json(400, refusalOf(error))
      throw error
    }
  }

  await new Promise<void>((resolve) => server.listen(options.port ?? 0, '127.0.0.1', resolve))
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('The fake Razorpay has no port.')
  settings.apiUrl = `http://127.0.0.1:${address.port}/v1`
  settings.checkoutUrl = `${settings.apiUrl}/checkout.js`
  return fake
}

function refusalOf(error: Refused): { error: Record<string, unknown> & { metadata: Record<string, unknown> } } {
  return {
    error: {
      code: 'BAD_REQUEST_ERROR',
      description: error.message,
      source: 'business',
      step: 'payment_initiation',
      reason: 'input_validation_failed',
      metadata: {},
      ...(error.field ? { field: error.field } : {}),
    },
  }
}

function list(items: unknown[], query: URLSearchParams): unknown {
  const skip = Number(query.get('skip') ?? 0)
  const count = Math.min(Number(query.get('count') ?? 10), 100)
  return collection(items.slice(skip, skip + count))
}

function collection(items: unknown[]): unknown {
  return { entity: 'collection', count: items.length, items }
}

async function read(request: http.IncomingMessage): Promise<Record<string, unknown>> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk as Buffer)
  const text = Buffer.concat(chunks).toString('utf8')
  if (request.headers['content-type']?.startsWith('application/x-www-form-urlencoded')) return Object.fromEntries(new URLSearchParams(text))
  return text === '' ? {} : (JSON.parse(text) as Record<string, unknown>)
}

function answerJson(response: http.ServerResponse, status: number, body: unknown): void {
  reply(response, status, 'application/json', JSON.stringify(body))
}

function reply(response: http.ServerResponse, status: number, type: string, text: string): void {
  response.writeHead(status, { 'content-type': `${type}; charset=utf-8` }).end(text)
}
