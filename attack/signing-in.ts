import { readFileSync } from 'node:fs'
import { setTimeout as pause } from 'node:timers/promises'
import { percentile, type Scenario } from '#chaos/scenario.ts'
import { openFakeSmtp } from '#test/fakes/smtp-server.ts'
import { type Answered, aTarget, Browser, password, signIn, somebody } from './browser.ts'

/** Rows 56, 57 and 66 to 69: sessions, passwords and pages of others. */
export const signInAttacks: Scenario[] = [
  {
    row: '56',
    name: 'a refresh token that was used 11 s ago comes once more',
    criterion: 'refused, and the whole session with it',
    async run(chaos) {
      const { program } = await aTarget(chaos)
      const owner = await somebody(program.url)
      const thief = owner.copy()
      const first = await owner.ask('POST /auth/refresh')
      await pause(11_000)
      const [old, current, token] = [
        await thief.ask('POST /auth/refresh'),
        await owner.ask('POST /auth/refresh'),
        await owner.ask('GET /user/profile'),
      ]
      return {
        figure: `first use ${first.status}; again after 11 s ${old.status}, the current one then ${current.status}, the access token ${token.status}`,
        holds: first.status === 200 && [old, current, token].every(({ status }) => status === 401),
      }
    },
  },
  {
    row: '57',
    name: 'two tabs refresh at the same moment, a hundred times',
    criterion: 'signed out 0 times',
    short: true,
    async run(chaos) {
      const { program } = await aTarget(chaos)
      const tab = await somebody(program.url)
      let out = 0
      for (let nth = 0; nth < 100; nth += 1) {
        const other = tab.copy()
        const both = await Promise.all([tab.ask('POST /auth/refresh'), other.ask('POST /auth/refresh')])
        out += both.filter(({ status }) => status !== 200).length
      }
      return { figure: `200 refreshes, ${out} signed out`, holds: out === 0 && (await tab.ask('GET /user/profile')).status === 200 }
    },
  },
  {
    row: '66',
    name: 'a thousand passwords tried on one account from 50 addresses',
    criterion: 'at most 20 looked at; its owner is in again within 15 minutes, and at once where they were signed in before',
    async run(chaos) {
      const { program } = await aTarget(chaos, { RATE_LIMIT: 'on', TRUST_PROXY: 'true' })
      const own = await somebody(program.url, { email: 'victim@example.com' })
      const statuses = new Map<number, number>()
      let next = 0
      const guessers = Array.from({ length: 20 }, async () => {
        while (next < 1_000 && !chaos.over.aborted) {
          const nth = next++
          const { status } = await new Browser(program.url).ask('POST /auth', {
            body: { email: 'victim@example.com', password: `guess ${nth}` },
            headers: { 'x-forwarded-for': `198.51.100.${nth % 50}` },
          })
          statuses.set(status, (statuses.get(status) ?? 0) + 1)
        }
      })
      await Promise.all(guessers)
      const looked = statuses.get(401) ?? 0
      const answered = await new Browser(program.url).ask('POST /auth', { body: { email: 'victim@example.com', password } })
      const wait = answered.status === 200 ? 0 : Number(answered.headers.get('retry-after') ?? Number.POSITIVE_INFINITY)
      own.token = null
      const atHome = await own.ask('POST /auth', { body: { email: 'victim@example.com', password } })
      return {
        figure: `${looked} looked at, ${statuses.get(429) ?? 0} put off; the owner waits ${wait} s, in their own browser ${atHome.status === 200 ? '0 s' : 'as well'}`,
        holds: looked <= 20 && looked + (statuses.get(429) ?? 0) === 1_000 && wait <= 900 && atHome.status === 200,
      }
    },
  },
  {
    row: '67',
    name: 'which emails have accounts, told by the time and words of an answer',
    criterion: 'medians within 5 ms or 5 %; the same body',
    async run(chaos) {
      const post = chaos.stack.use(await openFakeSmtp())
      const { program } = await aTarget(chaos, {
        SYSTEM_SMTP_URL: `smtp://${encodeURIComponent(post.login.user)}:${post.login.pass}@${post.host}:${post.port}`,
        SYSTEM_MAIL_FROM: 'Duely <post@duely.example>',
      })
      const known = await Promise.all(Array.from({ length: 10 }, () => somebody(program.url)))
      const each = chaos.short ? 60 : 300
      const ways = [
        { name: 'signing in', call: 'POST /auth', body: (email: string, nth: number) => ({ email, password: `not it ${nth}` }) },
        { name: 'a forgotten password', call: 'POST /auth/forgot-password', body: (email: string) => ({ email }) },
      ]
      const figures: string[] = []
      let holds = true
      for (const { name, call, body } of ways) {
        const ms: Record<'known' | 'unknown', number[]> = { known: [], unknown: [] }
        const answers = new Set<string>()
        for (let nth = 0; nth < each && !chaos.over.aborted; nth += 1) {
          const order = (['known', 'unknown'] as const).toSorted(() => chaos.random() - 0.5)
          for (const kind of order) {
            const email = kind === 'known' ? (known[nth % known.length]?.email ?? '') : `nobody${nth}@example.com`
            const answered = await new Browser(program.url).ask(call, { body: body(email, nth) })
            ms[kind].push(answered.ms)
            answers.add(`${answered.status} ${answered.text}`)
          }
        }
        const [one, other] = [percentile(ms.known, 0.5), percentile(ms.unknown, 0.5)]
        const apart = Math.abs(one - other)
        holds &&= answers.size === 1 && (apart <= 5 || apart <= 0.05 * Math.max(one, other))
        figures.push(
          `${name}: medians ${one.toFixed(1)} and ${other.toFixed(1)} ms, ${answers.size} different ${answers.size === 1 ? 'answer' : 'answers'}`,
        )
      }
      return { figure: `${each} each; ${figures.join('; ')}`, holds }
    },
  },
  {
    row: '68',
    name: '200 sign-ins at once',
    criterion: 'health p95 at most 500 ms; at most 200 MB more of memory',
    async run(chaos) {
      const { program } = await aTarget(chaos)
      const { email } = await somebody(program.url)
      const rss = () => Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${program.pid}/status`, 'utf8'))?.[1] ?? 0) / 1024
      const before = rss()
      let [most, flooding] = [before, true]
      const health: number[] = []
      const watcher = (async () => {
        while (flooding) {
          health.push((await new Browser(program.url).ask('GET /health')).ms)
          most = Math.max(most, rss())
          await pause(10)
        }
      })()
      const flood = await Promise.all(
        Array.from({ length: 200 }, (_none, nth) =>
          new Browser(program.url).ask('POST /auth', { body: { email, password: nth % 2 ? password : 'not it' } }),
        ),
      )
      flooding = false
      await watcher
      const count = (status: number) => flood.filter((one) => one.status === status).length
      const p95 = percentile(health, 0.95)
      return {
        figure: `${count(200)} in, ${count(401)} refused, ${count(429)} put off; health p95 ${p95.toFixed(0)} ms; ${(most - before).toFixed(0)} MB more`,
        holds: p95 <= 500 && most - before <= 200 && count(200) + count(401) + count(429) === 200,
      }
    },
  },
  {
    row: '69',
    name: 'a page of another site posts to the calls that live on a cookie',
    criterion: 'carried out 0 times; the session is still there',
    short: true,
    async run(chaos) {
      const { program } = await aTarget(chaos)
      const victim = await somebody(program.url, { email: 'victim@example.com' })
      const token = victim.token
      const cookies = victim.cookie('/auth')
      const body = JSON.stringify({ email: 'victim@example.com', password, code: 'x' })
      const form = new URLSearchParams({ email: 'victim@example.com', password, code: 'x' }).toString()
      const from: Record<string, string>[] = [
        { origin: 'https://evil.example', 'sec-fetch-site': 'cross-site' },
        { origin: 'https://evil.example' },
        { origin: 'null' },
        { origin: 'null', 'sec-fetch-site': 'cross-site' },
        { origin: `${program.url}.evil.example` },
      ]
      const ways: { headers: Record<string, string>; raw: string }[] = [
        { headers: { 'content-type': 'text/plain' }, raw: body },
        { headers: { 'content-type': 'application/x-www-form-urlencoded' }, raw: form },
        { headers: { 'content-type': 'multipart/form-data; boundary=x' }, raw: '--x--' },
        { headers: { 'content-type': 'application/json' }, raw: body },
        { headers: {}, raw: '' },
      ]
      let tries = 0
      const effects: string[] = []
      for (const call of ['POST /auth', 'POST /auth/refresh', 'POST /auth/logout', 'POST /auth/google/exchange'])
        for (const origin of from)
          for (const way of ways) {
            tries += 1
            const answered: Answered = await new Browser(program.url).ask(call, {
              headers: { ...cookies, ...origin, ...way.headers },
              ...(way.raw === '' ? {} : { raw: way.raw }),
            })
            const rotated = answered.headers.getSetCookie().some((line) => /^refreshToken=[^;]/.test(line))
            if (answered.status < 400 || rotated)
              effects.push(`${call} as ${way.headers['content-type'] ?? 'nothing'} from ${origin.origin}`)
          }
      victim.token = token
      const still = [await victim.ask('GET /user/profile'), await victim.ask('POST /auth/refresh')].every(({ status }) => status === 200)
      return {
        figure: `${tries} posts, ${effects.length} carried out${effects.length > 0 ? ` (${effects.slice(0, 3).join('; ')})` : ''}; session ${still ? 'there' : 'gone'}`,
        holds: effects.length === 0 && still && (await signIn(program.url, 'victim@example.com')) !== null,
      }
    },
  },
]
