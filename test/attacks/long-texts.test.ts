import { row } from '#test/faults/row.ts'
import { Browser, openTarget, overdueInvoice, password, signUp } from './browser.ts'

row('148', 'long texts that a rule of a field tries to divide in every way, beside another person', { short: true }, async (trial) => {
  trial.mustHold('the other person is answered within 1 s')
  const { url } = await openTarget(trial, { PAY_LINKS: 'on' })
  const attacker = await signUp(url)
  const { _id: id } = (await attacker.ask('POST /invoice', { body: overdueInvoice() })).body as { _id: string }
  const link = new URL(((await attacker.ask(`POST /invoice/${id}/pay-link`)).body as { url: string }).url).pathname
  const [kilobytes, spaces] = [100, ' '.repeat(15_000)]
  const long = (unit: string) => unit.repeat((kilobytes * 1024) / unit.length)
  const answer = new URLSearchParams({ kind: 'paid', date: '2026-01-01', amount: `1${spaces}1`, reference: 'x' })
  const form = { 'content-type': 'application/x-www-form-urlencoded', origin: 'null' }
  const tries = [
    () =>
      attacker.ask('PUT /payment-settings', {
        body: { ownLink: { label: 'Pay', url: `https://a${long(':')}#{` }, currentPassword: password },
      }),
    () => attacker.ask('PATCH /business', { body: { brand: { website: `a${long('.b')}@` } } }),
    () => new Browser(url).ask(`GET ${link}?amount=1${spaces.replaceAll(' ', '+')}1`),
    () => new Browser(url).ask(`POST ${link}/answer`, { raw: answer.toString(), headers: form }),
  ]
  const waits: number[] = []
  const statuses: number[] = []
  for (const attack of tries) {
    const attacked = attack()
    waits.push((await new Browser(url).ask('GET /health')).ms)
    statuses.push((await attacked).status)
  }
  const longest = Math.max(...waits)
  return {
    figure: `${tries.length} texts answered with ${statuses.join(', ')}; the other person within ${Math.round(longest)} ms`,
    holds: longest < 1_000 && statuses.every((status) => status === 400),
  }
})
