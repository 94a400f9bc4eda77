import { createHmac } from 'node:crypto'
import { type FakeRazorpay, openFakeRazorpay } from '#test/fakes/razorpay/server.ts'
import { onPostgres } from '#test/faults/environment.ts'
import { row } from '#test/faults/row.ts'
import { Browser, overdueInvoice, password, signUp, startTarget } from './browser.ts'

interface Hook {
  path: string
  secret: string
}

async function connect(browser: Browser, { settings: { keyId, keySecret } }: FakeRazorpay): Promise<Hook> {
  const { body } = await browser.ask('PUT /payment-settings/razorpay', { body: { keyId, keySecret, currentPassword: password } })
  const { webhookUrl, webhookSecret } = body as { webhookUrl: string; webhookSecret: string }
  return { path: new URL(webhookUrl).pathname, secret: webhookSecret }
}

row(
  '149',
  'webhooks, returns and amounts that a client or another account makes up, and keys changed during a payment',
  { short: true },
  async (trial) => {
    trial.mustHold('one payment, of what Razorpay says; no other link than over the balance or less; the rest refused')
    const environment = await onPostgres(trial)
    const keyId = 'rzp_live_FakeFakeFake01'
    const razorpay = trial.stack.use(await openFakeRazorpay({ keyId }))
    const { url } = await startTarget(environment, { PAY_LINKS: 'on', RAZORPAY_API_URL: razorpay.settings.apiUrl })
    const [asha, mallory] = [await signUp(url), await signUp(url)]
    const hook = await connect(asha, razorpay)
    const foreign = await connect(mallory, razorpay)
    const { _id: id } = (await asha.ask('POST /invoice', { body: overdueInvoice({ amount: 500 }) })).body as { _id: string }
    const page = new URL(((await asha.ask(`POST /invoice/${id}/pay-link`)).body as { url: string }).url).pathname
    const client = new Browser(url)
    const start = (amount: string, of = '500') =>
      client.ask(`POST ${page}/online`, {
        raw: new URLSearchParams({ amount, of }).toString(),
        headers: { 'content-type': 'application/x-www-form-urlencoded', origin: 'null' },
      })
    for (const amount of ['500.01', '1000000', '0', '-500', '0.5', 'NaN', '1e999', '', '500', '5e2'])
      await start(amount, amount === '1000000' ? amount : '500')
    const links = () => [...razorpay.provider.links.values()]
    const tooMuch = links().filter(({ amount }) => amount < 100 || amount > 50_000).length
    const [link] = links().filter(({ status }) => status === 'created')
    if (!link) throw new Error('No payment was started.')
    // Said to be paid by anyone who opens this address.
    const said = { payment_link_id: link.id, payment_link_status: 'paid', payment_id: 'pay_Made0fNothing', signature: 'f'.repeat(64) }
    const back = new URLSearchParams(Object.entries(said).map(([name, value]) => [`razorpay_${name}`, value]))
    await client.ask(`GET ${page}?${back}`)
    const forged = JSON.stringify({
      event: 'payment_link.paid',
      payload: {
        payment_link: { entity: { ...link, status: 'paid' } },
        payment: { entity: { id: 'pay_Made0fNothing', amount: 50_000, status: 'captured', captured: true } },
      },
    })
    const sign = (secret: string, body = forged) => createHmac('sha256', secret).update(body).digest('hex')
    let nth = 0
    const tell = async (to: Hook, signature: string, body = forged) => {
      nth += 1
      const headers = { 'content-type': 'application/json', 'x-razorpay-signature': signature, 'x-razorpay-event-id': `forged${nth}` }
      return (await client.ask(`POST ${to.path}`, { raw: body, headers })).status
    }
    const refused = [
      await tell(hook, sign(foreign.secret)),
      await tell(hook, sign('')),
      await tell(hook, ''),
      await tell(hook, sign(hook.secret).toUpperCase()),
      await tell(hook, sign(hook.secret, `${forged} `)),
    ]
    // Signed well, and about something else than it says: Razorpay is asked.
    const taken = [await tell(hook, sign(hook.secret)), await tell(foreign, sign(foreign.secret))]
    await trial.until('Razorpay was asked about the link', () =>
      razorpay.asked.some(({ path }) => path.startsWith(`/payment_links/${link.id}`)),
    )
    const payments = () =>
      environment.rows<{ owner: string; amount: string }>('SELECT owner_id::text AS owner, amount_minor AS amount FROM invoice_payments')
    const before = (await payments()).length
    // The same keys again, with a new secret for the webhook: what was open is cancelled. Paid in this moment, it is recorded.
    razorpay.provider.payLink(link.id)
    const renewed = await connect(asha, razorpay)
    const [paid] = razorpay.provider.events.filter(({ name }) => name === 'payment_link.paid')
    const honest = paid?.body ?? ''
    const again = [await tell(renewed, sign(hook.secret, honest), honest), await tell(renewed, sign(renewed.secret, honest), honest)]
    await trial.until('the payment is recorded', async () => (await payments()).length > 0)
    await tell(renewed, sign(renewed.secret, honest), honest)
    await asha.ask(`DELETE /invoice/${id}/pay-link`)
    const dead = (await start('100', '100')).status
    const recorded = await payments()
    return {
      figure: `links over another amount ${tooMuch}; forged webhooks ${refused.join(', ')}, signed ones ${[...taken, ...again].join(', ')}; payments ${before} before and ${recorded.length} after Razorpay had one; a revoked page ${dead}`,
      holds:
        tooMuch === 0 &&
        refused.every((status) => status === 400) &&
        [...taken, ...again].every((status) => status === 200) &&
        before === 0 &&
        recorded.length === 1 &&
        Number(recorded[0]?.amount) === 50_000 &&
        recorded[0]?.owner === (await asha.accountId()) &&
        dead === 404,
    }
  },
)
