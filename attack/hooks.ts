import { setTimeout as pause } from 'node:timers/promises'
import { openMovedClock } from '#chaos/moved-clock.ts'
import { anywhere } from '#chaos/place.ts'
import { type Scenario, seconds, until } from '#chaos/scenario.ts'
import { type Answer, openFakeReceiver } from '#test/fakes/receiver.ts'
import { aTarget, type Browser, lateInvoice, signIn, somebody, startAt } from './browser.ts'
import { connect, holderOf, zapier, zapierEnv } from './integrations.ts'

/** Receivers on this machine may be called: then nothing but Duely's own manners keeps it from going on to another place here. */
const env = { HOOK_ALLOW_PRIVATE_HOSTS: 'true' }
/** Seconds from a failed try to the next one, as they are promised. */
const promised = [5, 300, 1_800, 7_200, 18_000, 36_000, 36_000]
/** How long before its time a try is waited for: whoever were to make it too early would be seen. */
const early = 3
/** So much later than promised a try may be: there is somebody who looks every 2 s. */
const mostLate = 10

interface Delivery {
  state: string
  attempt: number
  status: number | null
  words: string | null
}

async function addWebhook(browser: Browser, url: string): Promise<string> {
  const added = await browser.ask('POST /webhooks', { body: { url, events: ['invoice.created'] } })
  if (added.status !== 201) throw new Error(`Adding ${url}: ${added.status} ${added.text}`)
  return (added.body as { _id: string })._id
}

/** What became of telling a webhook, the oldest event first. */
async function deliveriesTo(browser: Browser, id: string): Promise<Delivery[]> {
  return ((await browser.ask(`GET /webhooks/${id}/deliveries`)).body as Delivery[]).toReversed()
}

/** Row 59: whoever is called, and does not behave. */
export const hookAttacks: Scenario[] = [
  {
    row: '59',
    name: 'webhooks that are gone, never end their answer, or lead on to 127.0.0.1',
    criterion: 'gone: called once and removed; cut off after 10 s, others told meanwhile; followed 0 times',
    atOnce: 6,
    async run(chaos) {
      const receiver = chaos.stack.use(await openFakeReceiver())
      const canary = chaos.stack.use(await openFakeReceiver())
      const places = ['http://127.0.0.1', 'http://localhost', '//127.0.0.1', 'http://0x7f000001', 'http://[::ffff:127.0.0.1]']
      const leads: [path: string, answer: Answer][] = [301, 302, 303, 307, 308].map((status, nth) => [
        `/leads-on-${status}`,
        { status, headers: { location: `${places[nth]}:${canary.port}/inside` } },
      ])
      const answers = new Map<string, Answer>([
        ['/gone', { status: 410 }],
        ['/zap-gone', { status: 410 }],
        ['/silent', 'silence'],
        ['/dripping', { raw: 'HTTP/1.1 200 OK\r\nx-more: ', everyMs: 200 }],
        ...leads,
      ])
      const heardAt = new Map<string, number>()
      receiver.answer(({ path }) => {
        if (!heardAt.has(path)) heardAt.set(path, performance.now())
        return answers.get(path) ?? { status: 200 }
      })
      const { program } = await aTarget(chaos, { ...env, ...zapierEnv })
      const owner = await somebody(program.url)
      const ids = new Map<string, string>()
      for (const path of [...answers.keys(), '/well']) if (path !== '/zap-gone') ids.set(path, await addWebhook(owner, receiver.url + path))
      const zap = holderOf(program.url, (await connect(owner, zapier)).access_token)
      await zap.ask('POST /zapier/hooks', { body: { hookUrl: `${receiver.url}/zap-gone`, event: 'invoice.created' } })
      const callsTo = (path: string) => receiver.calls.filter((call) => call.path === path).length
      const of = (path: string) => deliveriesTo(owner, ids.get(path) ?? '')

      await owner.ask('POST /invoice', { body: lateInvoice() })
      await until('the first call of each', { seconds: 30, over: chaos.over }, () => heardAt.size === answers.size + 1)
      // While two of them hang.
      const began = performance.now()
      await owner.ask('POST /invoice', { body: lateInvoice() })
      await until('the one who is well', { seconds: 30, over: chaos.over }, () => callsTo('/well') === 2)
      const meanwhile = performance.now() - began
      const cuts: number[] = []
      const watch = async (path: string) => {
        const [told] = await until(`the end of ${path}`, { seconds: 30, over: chaos.over }, async () => {
          const found = await of(path)
          return found[0]?.words ? found : null
        })
        cuts.push(performance.now() - (heardAt.get(path) ?? 0))
        return told?.status === null && told.state === 'waiting'
      }
      const counted = await Promise.all(['/silent', '/dripping'].map(watch))
      // By now they have been tried a second time, 5 s after the first.
      const tries: number[] = []
      for (const [path] of leads) {
        await until(`${path} again`, { seconds: 30, over: chaos.over }, () => callsTo(path) > 2)
        tries.push(...(await of(path)).map(({ status }) => status ?? 0))
      }
      const left = ((await owner.ask('GET /webhooks')).body as { url: string }[]).filter(({ url }) => url.endsWith('gone')).length
      const gone = [callsTo('/gone'), callsTo('/zap-gone')]
      const [shortest, longest] = [Math.min(...cuts), Math.max(...cuts)]
      return {
        figure: `gone: ${gone.join(' and ')} call, ${left} of 2 left; cut off after ${seconds(shortest)} and ${seconds(longest)}, another one told after ${seconds(meanwhile)}; ${leads.length} lead on: ${leads.reduce((sum, [path]) => sum + callsTo(path), 0)} calls, followed ${canary.connections}`,
        holds:
          gone.every((calls) => calls === 1) &&
          left === 0 &&
          counted.every(Boolean) &&
          shortest >= 9_000 &&
          longest <= 12_000 &&
          meanwhile <= 5_000 &&
          tries.every((status) => status >= 300 && status < 400) &&
          canary.connections === 0,
      }
    },
  },
  {
    row: '59 schedule',
    name: 'a webhook that answers 500 to every call',
    criterion: `tried again after ${promised.join(', ')} s, at most ${mostLate} s late, never early; then no more; the same bytes each time`,
    atOnce: 6,
    async run(chaos) {
      const clock = openMovedClock(chaos)
      if (!clock) return { skipped: 'there is no libfaketime on this machine' }
      const receiver = chaos.stack.use(await openFakeReceiver())
      receiver.answer({ status: 500 })
      const place = await anywhere(chaos)
      const program = await startAt(place, { ...env, ...clock.env })
      const owner = await somebody(program.url)
      const id = await addWebhook(owner, `${receiver.url}/duely`)
      await owner.ask('POST /invoice', { body: { ...lateInvoice(), dueDate: '2999-01-01' } })
      // After each jump of the clock the session is an old one.
      const asOwner = async () => (await signIn(program.url, owner.email)) ?? owner
      const tried = async (count: number) => {
        await until(`try ${count}`, { seconds: 30, over: chaos.over }, () => receiver.calls.length >= count)
        // What is written down by a clock that has been moved meanwhile is another schedule.
        await until(`the record of try ${count}`, { seconds: 30, over: chaos.over, everyMs: 200 }, async () => {
          const [hook] = (await (await asOwner()).ask('GET /webhooks')).body as { failures: number }[]
          return hook?.failures === count
        })
        return Number(receiver.calls[count - 1]?.headers['webhook-timestamp'])
      }
      const gaps: number[] = []
      let last = await tried(1)
      for (const [nth, wait] of promised.entries()) {
        const waitedFor = Temporal.Instant.fromEpochMilliseconds((last + wait - early) * 1000)
        if (wait > 5) clock.set(waitedFor)
        const next = await tried(nth + 2)
        gaps.push(next - last)
        last = next
      }
      clock.advance({ hours: 48 })
      await pause(5_000)
      const [told] = await deliveriesTo(await asOwner(), id)
      const different = new Set(receiver.calls.map(({ body, headers }) => `${String(headers['webhook-id'])} ${body}`)).size
      return {
        figure: `${receiver.calls.length} tries, after ${gaps.join(', ')} s; then ${told?.state} at try ${told?.attempt}; ${different} different ${different === 1 ? 'body' : 'bodies'}`,
        holds:
          gaps.every((gap, nth) => gap >= (promised[nth] ?? 0) && gap <= (promised[nth] ?? 0) + mostLate) &&
          receiver.calls.length === promised.length + 1 &&
          told?.state === 'failed' &&
          different === 1,
      }
    },
  },
]
