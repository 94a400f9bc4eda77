import { openMailServer } from '#test/faults/environment.ts'
import { row, seconds } from '#test/faults/row.ts'
import { openTarget, overdueInvoice, signUp } from './browser.ts'
import { openDnsServer } from './dns-server.ts'

row('147', 'webhooks of names whose name servers never answer, beside the mailbox of another account', { short: true }, async (trial) => {
  trial.mustHold('the mailbox of the other account is saved within 3 s')
  const [attackers, hooks] = [4, 10]
  const dns = await openDnsServer(trial, (name) => (name.endsWith('.silent.example') ? 'silent' : { v4: ['127.0.0.1'] }))
  if (!dns) return trial.skip('there is no network namespace of our own with a DNS server in it')
  const { port, login } = await openMailServer(trial)
  const { url } = await openTarget(trial, { HOOK_ALLOW_PRIVATE_HOSTS: 'true' })
  const other = await signUp(url)
  const mailbox = { host: 'mail.example', port, secure: false, ...login, ...other.proof }
  const save = () => other.ask('POST /mail-config/smtp', { body: mailbox })
  const before = await save()
  for (const attacker of await Promise.all(Array.from({ length: attackers }, () => signUp(url)))) {
    for (let nth = 0; nth < hooks; nth += 1)
      await attacker.ask('POST /webhooks', {
        body: { url: `https://${attacker.email.split('@')[0]}-${nth}.silent.example/`, events: ['invoice.created'], ...attacker.proof },
      })
    await attacker.ask('POST /invoice', { body: overdueInvoice() })
  }
  await trial.until('names are looked up', () => dns.asked.some((question) => question.endsWith('.silent.example')))
  // The first one is there while the calls begin, and the second one while they wait.
  const during = [await save(), await save()]
  const longest = Math.max(...during.map(({ ms }) => ms))
  return {
    figure: `saved with ${during.map(({ status }) => status).join(' and ')} within ${seconds(longest)}, before with ${before.status} within ${seconds(before.ms)}`,
    holds: [before, ...during].every(({ status }) => status === 200) && longest < 3_000,
  }
})
