import { openFakeRazorpay } from '#test/fakes/razorpay/server.ts'
import type { Program } from '#test/program.ts'
import { type Account, type Environment, onPostgres, openMailServer, send } from './environment.ts'
import { row, seconds, type Trial } from './row.ts'

/** An account whose clients pay online at a fake Razorpay, and the settings of its programs. */
async function openBusiness(trial: Trial, invoices: number) {
  const environment = await onPostgres(trial)
  const smtp = await openMailServer(trial)
  const razorpay = trial.stack.use(await openFakeRazorpay({ keyId: 'rzp_live_FakeFakeFake01' }))
  const [account] = await environment.createAccounts({ invoices, smtp })
  const { keyId, keySecret, apiUrl } = razorpay.settings
  const env = { PAY_LINKS: 'on', RAZORPAY_API_URL: apiUrl }
  const connect = async (program: Program) => {
    const { body } = await send(program, account, 'PUT /payment-settings/razorpay', { body: { keyId, keySecret } })
    const { webhookUrl, webhookSecret } = body as { webhookUrl: string; webhookSecret: string }
    razorpay.provider.rotateSecret(webhookSecret)
    return new URL(webhookUrl).pathname
  }
  return { environment, smtp, razorpay, account, env, connect }
}

/** Presses "Pay online" on the page of the nth invoice. */
async function press(program: Program, account: Account, nth: number): Promise<Response> {
  const { body } = await send(program, account, `POST /invoice/${account.invoices[nth]?.id}/pay-link`)
  const amount = String((10_000 + nth) / 100)
  return fetch(`${program.url}${new URL((body as { url: string }).url).pathname}/online`, {
    method: 'POST',
    redirect: 'manual',
    body: new URLSearchParams({ amount, of: amount }),
  })
}

const paidOf = async (environment: Environment) =>
  environment.rows<{ paid: string; status: string; payments: number }>(
    `SELECT i.paid_minor - i.amount_minor AS paid, i.status, (SELECT count(*)::int FROM invoice_payments p WHERE p.invoice_id = i.id) AS payments
     FROM invoices i ORDER BY i.reference`,
  )

// Waits 20 s for what no webhook tells; it computes little.
row(
  '127',
  'payments online while webhooks are lost, sent three times and shuffled, and one of two processes is killed',
  { concurrent: 6 },
  async (trial) => {
    trial.mustHold('one payment an invoice, within 2 minutes')
    const count = 200
    const { environment, razorpay, account, env, connect } = await openBusiness(trial, count)
    const programs = [await environment.start(env), await environment.start(env)] as const
    const hook = await connect(programs[0])
    for (let nth = 0; nth < count; nth += 1)
      if ((await press(programs[nth % 2 ? 0 : 1], account, nth)).status !== 303) throw new Error('A payment could not be started.')
    const before = razorpay.provider.events.length
    const began = performance.now()
    for (const id of razorpay.provider.links.keys()) razorpay.provider.payLink(id)
    const events = razorpay.provider.events.slice(before)
    const sent = [...events, ...events, ...events]
      .map((event) => ({ event, at: trial.random() }))
      .filter(() => trial.random() < 0.5)
      .toSorted((a, b) => a.at - b.at)
    for (const [nth, { event }] of sent.entries()) {
      if (nth === Math.floor(sent.length / 2)) await programs[0].end('SIGKILL')
      await razorpay.send(event, programs[nth > sent.length / 2 || nth % 2 ? 1 : 0].url + hook)
    }
    await trial.until('every invoice is paid', async () => (await paidOf(environment)).every(({ status }) => status === 'paid'))
    const took = performance.now() - began
    const after = await paidOf(environment)
    const once = after.filter(({ payments, paid }) => payments === 1 && Number(paid) === 0).length
    return {
      figure: `${count} invoices, ${sent.length} of ${events.length * 3} webhooks sent: ${once} with one payment, the last after ${seconds(took)}`,
      holds: once === count && took <= 120_000,
    }
  },
)

// Waits 10 s for the provider, as the client does.
row('128', 'Razorpay makes a payment link and never answers', { concurrent: 6 }, async (trial) => {
  trial.mustHold('the page stays, the next press leads to the same link, and no email leaves before the payment')
  const { environment, smtp, razorpay, account, env, connect } = await openBusiness(trial, 1)
  const program = await environment.start(env)
  await connect(program)
  razorpay.answer(({ method }) => (method === 'POST' ? 'hang_after' : 'reset'))
  const hanging = press(program, account, 0)
  await trial.until('the link is made', () => razorpay.provider.links.size > 0)
  const { ms } = await send(program, account, 'GET /payment-settings')
  const failed = await hanging
  await failed.text()
  razorpay.answer(() => undefined)
  await send(program, account, 'POST /reminder/send-immediate')
  const [held] = await environment.rows<{ reason: string }>('SELECT reason FROM deliveries')
  const again = await press(program, account, 0)
  for (const id of razorpay.provider.links.keys()) razorpay.provider.payLink(id)
  await trial.until('the invoice is paid', async () => (await paidOf(environment)).every(({ status }) => status === 'paid'))
  await environment.untilClosed(1)
  const links = razorpay.provider.links.size
  return {
    figure: `${links} link, answered ${failed.status} and then ${again.status}; calls meanwhile in ${Math.round(ms)} ms; the email was held (${held?.reason}), ${smtp.mails.length} left`,
    holds:
      links === 1 && failed.status === 502 && again.status === 303 && ms < 1_000 && held?.reason === 'paying' && smtp.mails.length === 0,
  }
})
