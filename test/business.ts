import { payLinkCalls } from '#contract/pay-links.ts'
import { paymentSettingsCalls } from '#contract/payment-settings.ts'
import type { FakeEvent } from '#test/fakes/razorpay/provider.ts'
import { type FakeRazorpay, openFakeRazorpay } from '#test/fakes/razorpay/server.ts'
import { aPerson, type Person } from './factories.ts'
import { ask, openTestApp, type TestApp } from './harness.ts'

const now = '2026-03-02T09:00:00Z'
export const keySecret = 'owner-key-secret'

/** An account whose clients pay online, at a fake Razorpay on the test's clock. */
export interface Business extends AsyncDisposable {
  app: TestApp
  razorpay: FakeRazorpay
  asha: Person
  hook: { path: string; secret: string }
  /** Sends an event to the webhook; answers its status. */
  deliver(event: FakeEvent): Promise<number>
}

export async function openBusiness({ keyId = 'rzp_live_FakeFakeFake01' } = {}): Promise<Business> {
  let clock: TestApp['clock'] | null = null
  const razorpay = await openFakeRazorpay({ keyId, keySecret, now: () => (clock?.now().epochMilliseconds ?? 0) / 1000 })
  const config = { publicUrl: 'https://duely.example', payLinks: true, razorpayApiUrl: razorpay.settings.apiUrl }
  const app = await openTestApp({ now, config })
  clock = app.clock
  const asha = await aPerson(app)
  const { reply } = await ask(app, asha, paymentSettingsCalls.connectRazorpay, { body: { keyId, keySecret } })
  const hook = { path: new URL(reply.webhookUrl).pathname, secret: reply.webhookSecret }
  razorpay.provider.rotateSecret(hook.secret)
  return {
    app,
    razorpay,
    asha,
    hook,
    deliver: async ({ body, headers }) => (await app.app.inject({ method: 'POST', url: hook.path, headers, payload: body })).statusCode,
    async [Symbol.asyncDispose]() {
      await app[Symbol.asyncDispose]()
      await razorpay[Symbol.asyncDispose]()
    },
  }
}

/** A form of a page, as a browser sends it from there. */
export const post = (app: TestApp, url: string, fields: Record<string, string>) =>
  app.app.inject({
    method: 'POST',
    url,
    headers: { 'content-type': 'application/x-www-form-urlencoded', origin: 'null' },
    payload: new URLSearchParams(fields).toString(),
  })

/** The path of an invoice's pay page. */
export async function pageOf({ app, asha }: Business, id: string): Promise<string> {
  const { reply } = await ask(app, asha, payLinkCalls.create, { params: { id } })
  return new URL(reply.url).pathname
}

/** Presses "Pay online"; answers the id of the link at the provider that the browser is led to. */
export async function start({ app }: Pick<Business, 'app'>, page: string, amount = 5000, of = amount): Promise<string> {
  const pressed = await post(app, `${page}/online`, { amount: String(amount), of: String(of) })
  if (pressed.statusCode !== 303) throw new Error(`Starting an online payment was answered ${pressed.statusCode}.`)
  const leaving = await app.app.inject(String(pressed.headers.location))
  const [, url = ''] = /http-equiv="refresh" content="0;url=([^"]+)"/.exec(leaving.body) ?? []
  return url.slice(url.lastIndexOf('/') + 1)
}

/** The worker, after this long. */
export async function pass({ app }: Pick<Business, 'app'>, duration: Temporal.DurationLike): Promise<void> {
  app.clock.advance(duration)
  await app.runJobs()
}
