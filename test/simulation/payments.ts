import type { PGlite } from '@electric-sql/pglite'
import { findAccount } from '#server/accounts/accounts.ts'
import { createOrder } from '#server/billing/checkout.ts'
import { keepEvents, readWebhook } from '#server/billing/inbox.ts'
import type { Config } from '#server/config.ts'
import type { Deps } from '#server/platform/deps.ts'
import { resumeHeld } from '#server/reminders/holds.ts'
import { Refused } from '#test/fakes/razorpay/entities.ts'
import { type FakeEvent, openProvider } from '#test/fakes/razorpay/provider.ts'
import type { Chance } from './chance.ts'
import type { Machine } from './machine.ts'
import { Broken } from './oracle.ts'
import type { Deed, Owner } from './people.ts'

const settings = {
  keyId: 'rzp_test_FakeFakeFake01',
  keySecret: 'fake_key_secret',
  webhookSecret: 'fake_webhook_secret',
  apiUrl: 'https://provider.example/v1',
  checkoutUrl: 'https://provider.example/v1/checkout.js',
}
/** A payment is asked about a quarter of an hour after its order, then daily; the provider may be away meanwhile. */
const learnedWithin = { hours: 26 }

export interface Payments {
  /** What the configuration has. */
  settings: Config['razorpay']
  mood: 'well' | 'down' | 'silent'
  /** Takes the place of `fetch`. */
  fetch(url: string, init: RequestInit): Promise<Response>
  /** An owner buys a plan, pays for it at the provider, and may close the browser. */
  buying(owner: Owner): Deed
  /** The events that the provider sends; some twice, late or never. */
  sendEvents(deps: Deps): Promise<void>
  check(engine: PGlite): Promise<void>
}

/** The payment provider: the model that the fake server speaks for, asked within this process. */
export function openPayments(about: { machine: Machine; chance: Chance; trace(line: string): void }): Payments {
  const { machine, chance, trace } = about
  const outbox: FakeEvent[] = []
  const provider = openProvider({
    keySecret: settings.keySecret,
    webhookSecret: settings.webhookSecret,
    now: () => machine.now() / 1000,
    payUrl: (id) => `${settings.apiUrl}/pay/${id}`,
    onEvent(event) {
      if (chance.is(0.8)) outbox.push(event)
      if (chance.is(0.2)) outbox.push(event)
    },
  })

  function answer(method: string, url: URL, body: unknown): unknown {
    const [kind = '', id = '', of] = url.pathname.replace('/v1/', '').split('/')
    const list = (items: unknown[]) => ({ entity: 'collection', count: items.length, items })
    const newest = <T>(all: Map<string, T>) => [...all.values()].reverse()
    if (method === 'POST' && kind === 'orders') return provider.createOrder(body as Record<string, unknown>)
    if (kind === 'orders' && of === 'payments') return list(newest(provider.payments).filter((one) => one.order_id === id))
    if (kind === 'orders') return list(newest(provider.orders).filter((one) => one.receipt === url.searchParams.get('receipt')))
    if (kind === 'payments') return provider.find(provider.payments, id)
    throw new Refused('The requested URL was not found on the server.')
  }

  const payments: Payments = {
    settings,
    mood: 'well',
    async fetch(asked, init) {
      const url = new URL(asked)
      await machine.timers.pause(chance.int(5, 400))
      if (payments.mood === 'down') throw new TypeError('fetch failed')
      let said: { status: number; body: unknown }
      try {
        const body: unknown = typeof init.body === 'string' ? JSON.parse(init.body) : null
        said = { status: 200, body: structuredClone(answer(init.method ?? 'GET', url, body)) }
      } catch (error) {
        if (!(error instanceof Refused)) throw error
        said = { status: 400, body: { error: { code: 'BAD_REQUEST_ERROR', description: error.message } } }
      }
      trace(
        `the provider answers ${init.method ?? 'GET'} ${url.pathname.split('/')[2] ?? ''}: ${payments.mood === 'silent' ? 'too late' : said.status}`,
      )
      if (payments.mood === 'silent') await machine.timers.pause(15_000, init.signal ?? undefined)
      init.signal?.throwIfAborted()
      const text = JSON.stringify(said.body)
      return { status: said.status, ok: said.status < 400, text: async () => text } as Response
    },
    buying(owner) {
      const period = chance.pick(['monthly', 'yearly'] as const)
      return {
        name: `buys ${period}`,
        async do(deps) {
          const account = await findAccount(deps.db, owner.id)
          if (!account) throw new Error('The account has gone.')
          const reconciling = { ...deps, onPlanChange: resumeHeldOf(deps) }
          const { orderId } = await createOrder(reconciling, { ...account, person: owner.person }, { plan: 'pro', billingPeriod: period })
          // One press that was repeated has one order, which is paid once.
          const pay = () => provider.orders.get(orderId)?.status !== 'paid' && provider.payOrder(orderId)
          machine.after(chance.int(1_000, 1_200_000), () => void pay())
        },
      }
    },
    async sendEvents({ db, clock }) {
      const sent = outbox.splice(0).filter(() => chance.is(0.9))
      const events = sent.flatMap(({ body, id }) => readWebhook(Buffer.from(body), id, clock.now()) ?? [])
      if (events.length > 0) await keepEvents(db, events)
    },
    async check(engine) {
      const { rows } = await engine.query<{ order: string; paid: boolean; payments: number }>(
        `SELECT p.provider_id AS order, p.paid_at IS NOT NULL AS paid, (SELECT count(*)::int FROM payments m WHERE m.purchase_id = p.id AND m.status = 'captured') AS payments
         FROM purchases p WHERE p.provider_id IS NOT NULL`,
      )
      const known = new Map(rows.map((row) => [row.order, row]))
      const late = Temporal.Instant.fromEpochMilliseconds(machine.now()).subtract(learnedWithin).epochMilliseconds / 1000
      for (const payment of provider.payments.values()) {
        const row = known.get(payment.order_id ?? '')
        if (payment.status === 'captured' && payment.created_at < late && (!row?.paid || row.payments !== 1))
          throw new Broken(`a plan was paid for, and is not there: ${JSON.stringify(row ?? null)}`)
      }
      const captured = new Set([...provider.payments.values()].filter(({ status }) => status === 'captured').map((one) => one.order_id))
      for (const { order, paid } of rows) if (paid && !captured.has(order)) throw new Broken('a plan is there that was not paid for')
    },
  }
  return payments
}

function resumeHeldOf({ queue }: Deps): (tx: Deps['db'], ownerId: string, now: Temporal.Instant) => Promise<void> {
  return (tx, ownerId, now) => resumeHeld(tx, queue, ownerId, now)
}
