import { openFakeReceiver } from '#test/fakes/receiver.ts'
import { row, seconds } from '#test/faults/row.ts'
import { Browser, openTarget, overdueInvoice, signUp } from './browser.ts'
import { connect, zapier, zapierEnv } from './oauth-client.ts'

/** Receivers on this machine may be called. */
const env = { HOOK_ALLOW_PRIVATE_HOSTS: 'true' }

async function addWebhook(browser: Browser, url: string): Promise<void> {
  const added = await browser.ask('POST /webhooks', { body: { url, events: ['invoice.created'] } })
  if (added.status !== 201) throw new Error(`Adding ${url}: ${added.status} ${added.text}`)
}

const createInvoice = (browser: Browser) => browser.ask('POST /invoice', { body: { ...overdueInvoice(), dueDate: '2999-01-01' } })

row('85', 'webhook receivers of 16 accounts take 9 s, while another account has events', { short: true, concurrent: 2 }, async (trial) => {
  trial.mustHold('no event of the other account takes 3 times as long as the slowest one before the attack')
  const [attackers, hooks, events] = trial.short ? [5, 8, 3] : [16, 20, 10]
  const slow = trial.stack.use(await openFakeReceiver())
  const healthy = trial.stack.use(await openFakeReceiver())
  slow.answer({ status: 200, afterMs: 9_000 })
  const program = await openTarget(trial, env)
  const other = await signUp(program.url)
  await addWebhook(other, `${healthy.url}/duely`)
  const arrivals = async (count: number) => {
    const waits: number[] = []
    for (let nth = 0; nth < count; nth += 1) {
      const [began, before] = [performance.now(), healthy.calls.length]
      await createInvoice(other)
      await trial.until('the event arrives', () => healthy.calls.length > before, { everyMs: 5 })
      waits.push(performance.now() - began)
    }
    return Math.max(...waits)
  }
  const undisturbed = await arrivals(events)
  const accounts = await Promise.all(Array.from({ length: attackers }, () => signUp(program.url)))
  for (const one of accounts) for (let nth = 0; nth < hooks; nth += 1) await addWebhook(one, `${slow.url}/${one.email}/${nth}`)
  // Two events each, so that every receiver is called again once its first call has ended.
  for (let nth = 0; nth < 2; nth += 1) await Promise.all(accounts.map(createInvoice))
  await trial.until('32 slow calls are in flight', () => slow.calls.length >= 32)
  const attacked = await arrivals(events)
  return {
    figure: `${events} events during ${slow.calls.length} slow calls: the slowest after ${seconds(attacked)}, before the attack ${seconds(undisturbed)}`,
    holds: attacked < undisturbed * 3,
  }
})

row('91', 'a stranger’s server called by many webhooks of one account', { short: true, concurrent: 2 }, async (trial) => {
  trial.mustHold(
    'a plain session adds 0 REST hooks; a server that answers no challenge gets 0 events; one that does gets each event once per URL, at most 10 a second; at most 1,000 wait for a webhook',
  )
  const [hooks, lines] = trial.short ? [10, 30] : [100, 1_000]
  const victim = trial.stack.use(await openFakeReceiver())
  const echoing = trial.stack.use(await openFakeReceiver())
  victim.ignoresChallenges = true
  victim.answer(({ body }) => ({ status: 200, body }))
  const program = await openTarget(trial, { ...env, ...zapierEnv, RATE_LIMIT: 'on' })
  const attacker = await signUp(program.url)
  const token = new Browser(program.url, (await connect(attacker, zapier)).access_token)
  const subscribe = (as: Browser, hookUrl: string) => as.ask('POST /zapier/hooks', { body: { hookUrl, event: 'invoice.created' } })
  const statuses: number[] = []
  for (let nth = 0; nth < hooks; nth += 1) statuses.push((await subscribe(attacker, `${victim.url}/session/${nth}`)).status)
  const added = statuses.filter((status) => status < 400).length
  for (let nth = 0; nth < hooks - 5; nth += 1) await subscribe(token, `${victim.url}/token/${nth}`)
  for (let nth = 0; nth < 5; nth += 1) await subscribe(token, `${echoing.url}/token/${nth}`)
  for (const event of ['invoice.created', 'invoice.paid'])
    await attacker.ask('POST /webhooks', { body: { url: `${echoing.url}/token/0`, events: [event] } })
  await trial.until('the other server has answered its challenges', () => echoing.challenges.length >= 5)
  const began = performance.now()
  for (let batch = 0; batch < (trial.short ? 1 : 2); batch += 1) {
    const some = Array.from({ length: lines }, (_none, nth) => ({
      ...overdueInvoice(),
      dueDate: '2999-01-01',
      amount: batch * lines + nth + 1,
    }))
    const imported = await attacker.ask('POST /invoices/import', { body: { lines: some } })
    if (imported.status !== 200) throw new Error(`Importing: ${imported.status} ${imported.text}`)
  }
  await trial.until('the other server has been called for a while', () => echoing.calls.length >= 100)
  const seconds = (performance.now() - began) / 1000
  const calls = echoing.calls.length
  const events = victim.calls.filter(({ body }) => !body.includes('"challenge"')).length
  const repeated = calls - new Set(echoing.calls.map(({ path, headers }) => `${path} ${headers['webhook-id']}`)).size
  const list = (await attacker.ask('GET /webhooks')).body as { url: string; skipped: number }[]
  const skipped = list.filter(({ skipped }) => skipped > 0).length
  return {
    figure: `by session ${added} of ${hooks} added; ${victim.calls.length} challenges without an answer, then ${events} events; the other server ${calls} calls in ${seconds.toFixed(1)} s, ${repeated} repeated; ${skipped} webhooks with skipped events`,
    // Ten a second, and those of the second that has begun.
    holds: added === 0 && events === 0 && repeated === 0 && calls <= 10 * seconds + 10 && (trial.short || skipped > 0),
  }
})
