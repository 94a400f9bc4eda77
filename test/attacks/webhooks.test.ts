import { setTimeout as pause } from 'node:timers/promises'
import { type Answer, openFakeReceiver } from '#test/fakes/receiver.ts'
import { onAnyDatabase } from '#test/faults/environment.ts'
import { openFakeClock } from '#test/faults/fake-clock.ts'
import { row, seconds } from '#test/faults/row.ts'
import { Browser, openTarget, overdueInvoice, signIn, signUp, startTarget } from './browser.ts'
import { connect, zapier, zapierEnv } from './oauth-client.ts'

/** Receivers on this machine may be called, so that only the program's own rules keep it from following a redirect here. */
const env = { HOOK_ALLOW_PRIVATE_HOSTS: 'true' }
/** Seconds from a failed attempt to the next one, as documented. */
const schedule = [5, 300, 1_800, 7_200, 18_000, 36_000, 36_000]
/** Each attempt is awaited from this many seconds before its time, so that an early one is noticed. */
const early = 3
/** An attempt may be this much late: due attempts are looked up every 2 s. */
const mostLate = 10

interface Delivery {
  event: string
  state: string
  attempt: number
  status: number | null
  words: string | null
}

async function addWebhook(browser: Browser, url: string): Promise<string> {
  const added = await browser.ask('POST /webhooks', { body: { url, events: ['invoice.created'], ...browser.proof } })
  if (added.status !== 201) throw new Error(`Adding ${url}: ${added.status} ${added.text}`)
  return (added.body as { _id: string })._id
}

/** The deliveries to a webhook after its challenge, the oldest event first. */
async function deliveriesTo(browser: Browser, id: string): Promise<Delivery[]> {
  const all = (await browser.ask(`GET /webhooks/${id}/deliveries`)).body as Delivery[]
  return all.filter(({ event }) => event !== 'challenge').toReversed()
}

row('59', 'webhooks that answer 410, never finish their answer, or redirect to 127.0.0.1', { concurrent: 6 }, async (trial) => {
  trial.mustHold('410: called once and removed; cut off after 10 s, others called meanwhile; redirects followed 0 times')
  const receiver = trial.stack.use(await openFakeReceiver())
  const canary = trial.stack.use(await openFakeReceiver())
  const loopback = ['http://127.0.0.1', 'http://localhost', '//127.0.0.1', 'http://0x7f000001', 'http://[::ffff:127.0.0.1]']
  const redirects: [path: string, answer: Answer][] = [301, 302, 303, 307, 308].map((status, nth) => [
    `/redirect-${status}`,
    { status, headers: { location: `${loopback[nth]}:${canary.port}/inside` } },
  ])
  const answers = new Map<string, Answer>([
    ['/gone', { status: 410 }],
    ['/zap-gone', { status: 410 }],
    ['/silent', 'silence'],
    ['/dripping', { raw: 'HTTP/1.1 200 OK\r\nx-more: ', everyMs: 200 }],
    ...redirects,
  ])
  const calledAt = new Map<string, number>()
  receiver.answer(({ path }) => {
    if (!calledAt.has(path)) calledAt.set(path, performance.now())
    return answers.get(path) ?? { status: 200 }
  })
  const program = await openTarget(trial, { ...env, ...zapierEnv })
  const owner = await signUp(program.url)
  const ids = new Map<string, string>()
  for (const path of [...answers.keys(), '/well']) if (path !== '/zap-gone') ids.set(path, await addWebhook(owner, receiver.url + path))
  const zap = new Browser(program.url, (await connect(owner, zapier)).access_token)
  await zap.ask('POST /zapier/hooks', { body: { hookUrl: `${receiver.url}/zap-gone`, event: 'invoice.created' } })
  const callsTo = (path: string) => receiver.calls.filter((call) => call.path === path).length
  const of = (path: string) => deliveriesTo(owner, ids.get(path) ?? '')

  await owner.ask('POST /invoice', { body: overdueInvoice() })
  await trial.until('each is called once', () => calledAt.size === answers.size + 1)
  // Two of them hang now.
  const began = performance.now()
  await owner.ask('POST /invoice', { body: overdueInvoice() })
  await trial.until('the healthy one is called again', () => callsTo('/well') === 2)
  const meanwhile = performance.now() - began
  const cuts: number[] = []
  const cutOff = async (path: string) => {
    const [first] = await trial.until(`${path} is cut off`, async () => {
      const found = await of(path)
      return found[0]?.words ? found : null
    })
    cuts.push(performance.now() - (calledAt.get(path) ?? 0))
    return first?.status === null && first.state === 'waiting'
  }
  const retried = await Promise.all(['/silent', '/dripping'].map(cutOff))
  // Meanwhile the second attempt is due, 5 s after the first.
  const statuses: number[] = []
  for (const [path] of redirects) {
    await trial.until(`${path} is called again`, () => callsTo(path) > 2)
    statuses.push(...(await of(path)).map(({ status }) => status ?? 0))
  }
  const left = ((await owner.ask('GET /webhooks')).body as { url: string }[]).filter(({ url }) => url.endsWith('gone')).length
  const gone = [callsTo('/gone'), callsTo('/zap-gone')]
  const [shortest, longest] = [Math.min(...cuts), Math.max(...cuts)]
  return {
    figure: `410: ${gone.join(' and ')} call, ${left} of 2 left; cut off after ${seconds(shortest)} and ${seconds(longest)}, another one called after ${seconds(meanwhile)}; ${redirects.length} redirect: ${redirects.reduce((sum, [path]) => sum + callsTo(path), 0)} calls, followed ${canary.connections}`,
    holds:
      gone.every((calls) => calls === 1) &&
      left === 0 &&
      retried.every(Boolean) &&
      shortest >= 9_000 &&
      longest <= 12_000 &&
      meanwhile <= 5_000 &&
      statuses.every((status) => status >= 300 && status < 400) &&
      canary.connections === 0,
  }
})

row('59 schedule', 'a webhook that answers 500 to every call', { concurrent: 6 }, async (trial) => {
  trial.mustHold(
    `tried again after ${schedule.join(', ')} s, at most ${mostLate} s late, never early; then no more; the same bytes each time`,
  )
  const clock = openFakeClock(trial)
  const receiver = trial.stack.use(await openFakeReceiver())
  receiver.answer({ status: 500 })
  const program = await startTarget(await onAnyDatabase(trial), { ...env, ...clock.env })
  const owner = await signUp(program.url)
  const id = await addWebhook(owner, `${receiver.url}/duely`)
  await owner.ask('POST /invoice', { body: { ...overdueInvoice(), dueDate: '2999-01-01' } })
  // Each jump of the clock ends the session.
  const asOwner = async () => (await signIn(program.url, owner.email)) ?? owner
  const attempted = async (count: number) => {
    await trial.until(`attempt ${count} is made`, () => receiver.calls.length >= count)
    // The clock must not be moved before the attempt is recorded: the next one is scheduled by it.
    const recorded = async () => {
      const [hook] = (await (await asOwner()).ask('GET /webhooks')).body as { failures: number }[]
      return hook?.failures === count
    }
    await trial.until(`attempt ${count} is recorded`, recorded, { everyMs: 200 })
    return Number(receiver.calls[count - 1]?.headers['webhook-timestamp'])
  }
  const gaps: number[] = []
  let last = await attempted(1)
  for (const [nth, wait] of schedule.entries()) {
    if (wait > 5) clock.set(Temporal.Instant.fromEpochMilliseconds((last + wait - early) * 1000))
    const next = await attempted(nth + 2)
    gaps.push(next - last)
    last = next
  }
  clock.advance({ hours: 48 })
  await pause(5_000)
  const [delivery] = await deliveriesTo(await asOwner(), id)
  const different = new Set(receiver.calls.map(({ body, headers }) => `${String(headers['webhook-id'])} ${body}`)).size
  return {
    figure: `${receiver.calls.length} attempts, after ${gaps.join(', ')} s; then ${delivery?.state} at attempt ${delivery?.attempt}; ${different} different ${different === 1 ? 'body' : 'bodies'}`,
    holds:
      gaps.every((gap, nth) => gap >= (schedule[nth] ?? 0) && gap <= (schedule[nth] ?? 0) + mostLate) &&
      receiver.calls.length === schedule.length + 1 &&
      delivery?.state === 'failed' &&
      different === 1,
  }
})
