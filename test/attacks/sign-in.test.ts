import { setTimeout as pause } from 'node:timers/promises'
import { openMailServer } from '#test/faults/environment.ts'
import { percentile, row } from '#test/faults/row.ts'
import { residentMb } from '#test/program.ts'
import { Browser, openTarget, password, signIn, signUp, systemMailEnv } from './browser.ts'

row('56', 'a refresh token that was used 11 s ago is used again', async (trial) => {
  trial.mustHold('refused, and the whole session ends')
  const owner = await signUp((await openTarget(trial)).url)
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
})

row('57', 'two tabs refresh at the same moment, a hundred times', { short: true }, async (trial) => {
  trial.mustHold('signed out 0 times')
  const tab = await signUp((await openTarget(trial)).url)
  let signedOut = 0
  for (let nth = 0; nth < 100; nth += 1) {
    const other = tab.copy()
    const both = await Promise.all([tab.ask('POST /auth/refresh'), other.ask('POST /auth/refresh')])
    signedOut += both.filter(({ status }) => status !== 200).length
  }
  const { status } = await tab.ask('GET /user/profile')
  return { figure: `200 refreshes, ${signedOut} signed out`, holds: signedOut === 0 && status === 200 }
})

row('66', 'a thousand passwords tried on one account from 50 addresses', async (trial) => {
  trial.mustHold(
    'at most 20 checked; the owner can sign in again within 15 minutes, and immediately in a browser that was signed in before',
  )
  const { url } = await openTarget(trial, { RATE_LIMIT: 'on', TRUST_PROXY: '1' })
  const own = await signUp(url, { email: 'victim@example.com' })
  const statuses = new Map<number, number>()
  let next = 0
  const guessers = Array.from({ length: 20 }, async () => {
    while (next < 1_000 && !trial.signal.aborted) {
      const nth = next++
      const { status } = await new Browser(url).ask('POST /auth', {
        body: { email: 'victim@example.com', password: `guess ${nth}` },
        headers: { 'x-forwarded-for': `198.51.100.${nth % 50}` },
      })
      statuses.set(status, (statuses.get(status) ?? 0) + 1)
    }
  })
  await Promise.all(guessers)
  const [checked, limited] = [statuses.get(401) ?? 0, statuses.get(429) ?? 0]
  const answered = await new Browser(url).ask('POST /auth', { body: { email: 'victim@example.com', password } })
  const wait = answered.status === 200 ? 0 : Number(answered.headers.get('retry-after') ?? Number.POSITIVE_INFINITY)
  own.token = null
  const known = await own.ask('POST /auth', { body: { email: 'victim@example.com', password } })
  return {
    figure: `${checked} checked, ${limited} rate-limited; the owner waits ${wait} s, in a known browser ${known.status === 200 ? '0 s' : 'as well'}`,
    holds: checked <= 20 && checked + limited === 1_000 && wait <= 900 && known.status === 200,
  }
})

row('67', 'which emails have accounts, learned from the time and words of an answer', async (trial) => {
  trial.mustHold('medians within 5 ms or 5 %; the same body')
  const { url } = await openTarget(trial, systemMailEnv(await openMailServer(trial)))
  const known = await Promise.all(Array.from({ length: 10 }, () => signUp(url)))
  const each = trial.short ? 60 : 300
  const ways = [
    { name: 'signing in', call: 'POST /auth', body: (email: string, nth: number) => ({ email, password: `not it ${nth}` }) },
    { name: 'a forgotten password', call: 'POST /auth/forgot-password', body: (email: string) => ({ email }) },
  ]
  const figures: string[] = []
  let holds = true
  for (const { name, call, body } of ways) {
    const ms: Record<'known' | 'unknown', number[]> = { known: [], unknown: [] }
    const answers = new Set<string>()
    for (let nth = 0; nth < each && !trial.signal.aborted; nth += 1) {
      const order = (['known', 'unknown'] as const).toSorted(() => trial.random() - 0.5)
      for (const kind of order) {
        const email = kind === 'known' ? (known[nth % known.length]?.email ?? '') : `unknown${nth}@example.com`
        const answered = await new Browser(url).ask(call, { body: body(email, nth) })
        ms[kind].push(answered.ms)
        answers.add(`${answered.status} ${answered.text}`)
      }
    }
    const [one, other] = [percentile(ms.known, 0.5), percentile(ms.unknown, 0.5)]
    const apart = Math.abs(one - other)
    holds &&= answers.size === 1 && (apart <= 5 || apart <= 0.05 * Math.max(one, other))
    const count = `${answers.size} different ${answers.size === 1 ? 'answer' : 'answers'}`
    figures.push(`${name}: medians ${one.toFixed(1)} and ${other.toFixed(1)} ms, ${count}`)
  }
  return { figure: `${each} each; ${figures.join('; ')}`, holds }
})

row('68', '200 sign-ins at the same time', async (trial) => {
  trial.mustHold('health p95 at most 500 ms; at most 200 MB more memory')
  const { url, pid } = await openTarget(trial)
  const { email } = await signUp(url)
  const rss = () => residentMb(pid)
  const before = rss()
  let [most, flooding] = [before, true]
  const health: number[] = []
  const watch = async () => {
    while (flooding) {
      health.push((await new Browser(url).ask('GET /health')).ms)
      most = Math.max(most, rss())
      await pause(10)
    }
  }
  const watched = watch()
  const signIns = Array.from({ length: 200 }, (_none, nth) =>
    new Browser(url).ask('POST /auth', { body: { email, password: nth % 2 ? password : 'not it' } }),
  )
  const answers = await Promise.all(signIns)
  flooding = false
  await watched
  const [accepted, refused, limited] = [200, 401, 429].map((status) => answers.filter((one) => one.status === status).length)
  const p95 = percentile(health, 0.95)
  return {
    figure: `${accepted} accepted, ${refused} refused, ${limited} rate-limited; health p95 ${p95.toFixed(0)} ms; ${(most - before).toFixed(0)} MB more`,
    holds: p95 <= 500 && most - before <= 200 && answers.every(({ status }) => [200, 401, 429].includes(status)),
  }
})

row('69', 'a page of another site posts to the calls that rely on a cookie', { short: true }, async (trial) => {
  trial.mustHold('carried out 0 times; the session stays')
  const { url } = await openTarget(trial)
  const victim = await signUp(url, { email: 'victim@example.com' })
  const cookies = victim.cookie('/auth')
  const fields = { email: 'victim@example.com', password, code: 'x' }
  const origins: Record<string, string>[] = [
    { origin: 'https://evil.example', 'sec-fetch-site': 'cross-site' },
    { origin: 'https://evil.example' },
    { origin: 'null' },
    { origin: 'null', 'sec-fetch-site': 'cross-site' },
    { origin: `${url}.evil.example` },
  ]
  const ways: { headers: Record<string, string>; raw: string }[] = [
    { headers: { 'content-type': 'text/plain' }, raw: JSON.stringify(fields) },
    { headers: { 'content-type': 'application/x-www-form-urlencoded' }, raw: new URLSearchParams(fields).toString() },
    { headers: { 'content-type': 'multipart/form-data; boundary=x' }, raw: '--x--' },
    { headers: { 'content-type': 'application/json' }, raw: JSON.stringify(fields) },
    { headers: {}, raw: '' },
  ]
  let tries = 0
  const effects: string[] = []
  for (const call of ['POST /auth', 'POST /auth/refresh', 'POST /auth/logout', 'POST /auth/google/exchange'])
    for (const origin of origins)
      for (const { headers, raw } of ways) {
        tries += 1
        const answered = await new Browser(url).ask(call, {
          headers: { ...cookies, ...origin, ...headers },
          ...(raw === '' ? {} : { raw }),
        })
        const rotated = answered.headers.getSetCookie().some((line) => /^refreshToken=[^;]/.test(line))
        if (answered.status < 400 || rotated) effects.push(`${call} as ${headers['content-type'] ?? 'nothing'} from ${origin.origin}`)
      }
  const still = [await victim.ask('GET /user/profile'), await victim.ask('POST /auth/refresh')].every(({ status }) => status === 200)
  return {
    figure: `${tries} posts, ${effects.length} carried out${effects.length > 0 ? ` (${effects.slice(0, 3).join('; ')})` : ''}; session ${still ? 'kept' : 'gone'}`,
    holds: effects.length === 0 && still && (await signIn(url, 'victim@example.com')) !== null,
  }
})

row('142', 'a page of a sibling host posts to the calls that rely on a cookie', { short: true }, async (trial) => {
  trial.mustHold('carried out 0 times; the session stays; a page of Duely itself, and a request of no page, are answered')
  const { url } = await openTarget(trial)
  const victim = await signUp(url, { email: 'victim@example.com' })
  const cookies = victim.cookie('/auth')
  const sibling = 'https://blog.duely.example'
  const foreign: Record<string, string>[] = [
    { 'sec-fetch-site': 'same-site', origin: sibling },
    { 'sec-fetch-site': 'same-site', origin: 'null' },
    { 'sec-fetch-site': 'same-site' },
    { 'sec-fetch-site': 'something-new', origin: sibling },
    { 'sec-fetch-site': '', origin: sibling },
  ]
  const calls: Record<string, object> = {
    'POST /auth': { email: 'victim@example.com', password },
    'POST /auth/refresh': {},
    'POST /auth/logout': {},
    'POST /auth/google/exchange': { code: 'x' },
  }
  const carriedOut: string[] = []
  for (const [call, body] of Object.entries(calls))
    for (const origin of foreign) {
      const { status } = await new Browser(url).ask(call, { headers: { ...cookies, ...origin }, body })
      if (status !== 403) carriedOut.push(`${call} as ${Object.values(origin).join(' ')}: ${status}`)
    }
  const own: Record<string, string>[] = [
    { 'sec-fetch-site': 'same-origin', origin: url },
    { 'sec-fetch-site': 'same-site', origin: url },
    { 'sec-fetch-site': 'none' },
    { origin: url },
    {},
  ]
  const refused: string[] = []
  for (const headers of own) {
    const { status } = await victim.ask('POST /auth/refresh', { headers })
    if (status !== 200) refused.push(`${Object.values(headers).join(' ')}: ${status}`)
  }
  return {
    figure: `${4 * foreign.length} posts, ${carriedOut.length} carried out${carriedOut.length > 0 ? ` (${carriedOut.slice(0, 3).join('; ')})` : ''}; of ${own.length} ordinary ones ${refused.length} refused${refused.length > 0 ? ` (${refused.join('; ')})` : ''}`,
    holds: carriedOut.length === 0 && refused.length === 0,
  }
})
