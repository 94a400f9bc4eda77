import { openFakeReceiver } from '#test/fakes/receiver.ts'
import { row, seconds } from '#test/faults/row.ts'
import { type Browser, openTarget, overdueInvoice, signUp } from './browser.ts'

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
