import { createHash, randomBytes } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import { openMovedClock } from '#chaos/moved-clock.ts'
import { anywhere } from '#chaos/place.ts'
import type { Chaos, Scenario } from '#chaos/scenario.ts'
import { registerOauthClient } from '#server/integrations/integrations.ts'
import type { Program } from '#test/program.ts'
import type { Application } from '#test/programs.ts'
import { type Answered, Browser, signIn, somebody, startAt } from './browser.ts'

export const zapier: Application = {
  id: 'duely-for-zapier',
  secret: 'a-secret-of-zapier-alone',
  redirectUri: 'https://zapier.com/dashboard/auth/oauth/return/App1CLIAPI/',
}
export const zapierEnv = {
  ZAPIER_CLIENT_ID: zapier.id,
  ZAPIER_CLIENT_SECRET: zapier.secret ?? '',
  ZAPIER_REDIRECT_URIS: zapier.redirectUri,
}

/** A program that knows Zapier, and another application that its operator registered. */
async function withApplications(chaos: Chaos, env: Record<string, string> = {}): Promise<{ program: Program; robot: Application }> {
  const place = await anywhere(chaos)
  const redirectUri = 'https://robot.example/back'
  const registered = await place.prepare((db) =>
    registerOauthClient(db, { name: 'Ledger Robot', redirectUris: [redirectUri], kind: 'confidential' }, Temporal.Now.instant()),
  )
  return { program: await startAt(place, { ...zapierEnv, ...env }), robot: { ...registered, redirectUri } }
}

type Parameters = Record<string, string | undefined>

const challengeOf = (verifier: string) => createHash('sha256').update(verifier).digest('base64url')

/** Sends a browser to ask for permission; `over` changes a good request, and leaves out what is undefined. */
function authorize(browser: Browser, { id, redirectUri }: Application, over: Parameters = {}): Promise<Answered> {
  const good = { client_id: id, redirect_uri: redirectUri, response_type: 'code', state: 'a state', scope: 'read write', ...over }
  const query = new URLSearchParams(Object.entries(good).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])))
  return browser.ask(`GET /oauth/authorize?${query}`)
}

interface Brought {
  request: string
  redirect_uri: string
  state: string
}

/** What the consent page was opened with. */
function broughtBy(browser: Browser, { headers }: Answered): Brought {
  const asked = new URL(headers.get('location') ?? '/', browser.url).searchParams
  return { request: asked.get('request') ?? '', redirect_uri: asked.get('redirect_uri') ?? '', state: asked.get('state') ?? '' }
}

const allow = (browser: Browser, body: object) => browser.ask('POST /oauth/login/callback?json=true', { body })

interface Permitted {
  code: string
  verifier: string
}

/** Somebody is asked and says yes. */
async function permit(browser: Browser, application: Application, over: Parameters = {}): Promise<Permitted> {
  const verifier = randomBytes(32).toString('base64url')
  const pkce = { code_challenge: challengeOf(verifier), code_challenge_method: 'S256' }
  const asked = await authorize(browser, application, { ...pkce, ...over })
  const allowed = await allow(browser, broughtBy(browser, asked))
  if (allowed.status !== 200) throw new Error(`Allowing ${application.id}: ${allowed.status} ${allowed.text}`)
  return { code: new URL((allowed.body as { redirect: string }).redirect).searchParams.get('code') ?? '', verifier }
}

interface Tokens {
  access_token: string
  refresh_token: string
  error?: string
}

/** Asks for tokens as a program does, by a form, with its secret. */
async function trade(url: string, { id, secret }: Application, given: Parameters): Promise<{ status: number; tokens: Tokens }> {
  const form = Object.entries({ client_id: id, client_secret: secret ?? undefined, ...given })
  const { status, body } = await new Browser(url).ask('POST /oauth/token', {
    raw: new URLSearchParams(form.flatMap(([name, value]) => (value === undefined ? [] : [[name, value]]))).toString(),
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
  })
  return { status, tokens: body as Tokens }
}

const byCode = ({ redirectUri }: Application, { code, verifier }: Permitted) => ({
  grant_type: 'authorization_code',
  code,
  redirect_uri: redirectUri,
  code_verifier: verifier,
})
const byRefresh = (token: string) => ({ grant_type: 'refresh_token', refresh_token: token })

/** An application that somebody allowed, with its tokens. */
export async function connect(browser: Browser, application: Application, scope = 'read write'): Promise<Tokens> {
  const permitted = await permit(browser, application, { scope })
  const { status, tokens } = await trade(browser.url, application, byCode(application, permitted))
  if (status !== 200) throw new Error(`Connecting ${application.id}: ${status} ${tokens.error}`)
  return tokens
}

/** Whoever asks with this token. */
export function holderOf(url: string, token: string): Browser {
  const holder = new Browser(url)
  holder.token = token
  return holder
}

async function countAlive(url: string, tokens: string[]): Promise<number> {
  const answers = await Promise.all(tokens.map((token) => holderOf(url, token).ask('GET /api/me')))
  return answers.filter(({ status }) => status === 200).length
}

/** Addresses that whoever compares carelessly takes for the registered one. */
function resembling(address: string): (string | undefined)[] {
  const { origin, host, pathname } = new URL(address)
  return [
    ...[`${address}more`, `${address}/more`, `${origin}/elsewhere`, `${origin}/`, origin],
    ...[origin + pathname.toUpperCase(), `https://${host.toUpperCase()}${pathname}`, `HTTPS://${host}${pathname}`],
    origin + pathname.replace(/\w(?=\/?$)/, (letter) => `%${letter.charCodeAt(0).toString(16)}`),
    ...[origin + pathname.replaceAll('/', '%2F'), `${origin}%2F@evil.example${pathname}`],
    ...[`https://me@${host}${pathname}`, `https://${host}@evil.example${pathname}`, `https://${host}:x@evil.example${pathname}`],
    address.endsWith('/') ? address.slice(0, -1) : `${address}/`,
    ...[`${address}?to=https://evil.example`, `${address}?`, `${address}#there`, `${address}#`],
    ...[`https://${host}:443${pathname}`, `https://${host}:444${pathname}`, `http://${host}${pathname}`],
    ...[`https://evil.${host}${pathname}`, `https://${host}.evil.example${pathname}`, `https://${host}.${pathname}`],
    ...[`${origin}/x/..${pathname}`, `${address}/../../evil`, `${origin}//${pathname}`, `https://${host}\\@evil.example${pathname}`],
    ...[` ${address}`, `${address} `, `${address}\r\nlocation: https://evil.example`, `${address}\0`, `${address},https://evil.example`],
    ...['//evil.example/', 'https://evil.example/', 'javascript:alert(1)', 'data:text/html,evil', '*', '', undefined],
  ]
}

/** Rows 53 to 55: programs that ask for permission, and those that pretend to be one. */
export const integrationAttacks: Scenario[] = [
  {
    row: '53',
    name: 'permission asked for with addresses that resemble the registered one',
    criterion: 'nobody is sent to any of them, before the question or after it; the registered one is good',
    async run(chaos) {
      const { program, robot } = await withApplications(chaos)
      const victim = await somebody(program.url)
      const requests = [{}, { response_type: 'token' }, { scope: 'everything' }]
      let [tries, good] = [0, 0]
      const led: string[] = []
      for (const application of [zapier, robot]) {
        const right = await authorize(victim, application)
        const brought = broughtBy(victim, right)
        for (const address of resembling(application.redirectUri)) {
          const said = JSON.stringify(address ?? 'none')
          for (const over of requests) {
            tries += 1
            const { status, headers } = await authorize(victim, application, { ...over, redirect_uri: address })
            if (status !== 400 || headers.has('location') || headers.has('refresh')) led.push(`${said}: ${status}`)
          }
          // Put into the page between question and answer, by whoever can; without a request it would be Duely's own.
          for (const request of [brought.request, '']) {
            tries += 2
            const changed = { ...brought, request, redirect_uri: address ?? '' }
            const asked = await victim.ask(`GET /oauth/consent?${new URLSearchParams(changed)}`)
            const allowed = await allow(victim, changed)
            if (asked.status !== 400 || allowed.status !== 400) led.push(`${said} at the question: ${asked.status}, ${allowed.status}`)
          }
        }
        // Twice, the right one first or last: who takes one of them has guessed.
        for (const pair of [
          [application.redirectUri, 'https://evil.example/'],
          ['https://evil.example/', application.redirectUri],
        ]) {
          tries += 1
          const query = new URLSearchParams({ client_id: application.id, response_type: 'code', state: 'a state' })
          for (const address of pair) query.append('redirect_uri', address)
          const { status, headers } = await victim.ask(`GET /oauth/authorize?${query}`)
          if (status !== 400 || headers.has('location')) led.push(`two addresses: ${status}`)
        }
        const allowed = await allow(victim, brought)
        if (String((allowed.body as { redirect?: string }).redirect).startsWith(`${application.redirectUri}?code=`)) good += 1
      }
      return {
        figure: `${resembling(zapier.redirectUri).length} addresses of each of 2 applications, ${tries} tries: ${led.length} led on${led.length > 0 ? ` (${led.slice(0, 3).join('; ')})` : ''}; the registered ones ${good} of 2`,
        holds: led.length === 0 && good === 2,
      }
    },
  },
  {
    row: '54',
    name: 'codes that come again, late, from another application, with a wrong verifier or plain',
    criterion: 'each refused with invalid_grant or invalid_request; one that comes again ends its tokens, and no others',
    short: true,
    async run(chaos) {
      const clock = openMovedClock(chaos)
      const { program, robot } = await withApplications(chaos, clock?.env)
      const { url } = program
      const owner = await somebody(url)
      const another = await connect(owner, robot)
      const wrong: string[] = []
      let tries = 0
      const refused = (name: string, error: string | null | undefined) => {
        tries += 1
        if (error !== 'invalid_grant' && error !== 'invalid_request') wrong.push(`${name}: ${error ?? 'good'}`)
      }
      const ways: [name: string, who: Application, over: (given: Permitted) => Parameters][] = [
        ['another application', zapier, () => ({})],
        ['another application with its own address', zapier, () => ({ redirect_uri: zapier.redirectUri })],
        ['a wrong verifier', robot, () => ({ code_verifier: 'w'.repeat(43) })],
        ['the challenge as its verifier', robot, ({ verifier }) => ({ code_verifier: challengeOf(verifier) })],
        ['no verifier', robot, () => ({ code_verifier: undefined })],
        ['another address', robot, () => ({ redirect_uri: `${robot.redirectUri}/` })],
      ]
      for (const [name, who, over] of ways) {
        const permitted = await permit(owner, robot)
        refused(name, (await trade(url, who, { ...byCode(robot, permitted), ...over(permitted) })).tokens.error)
      }
      const bare = await permit(owner, robot, { code_challenge: undefined, code_challenge_method: undefined })
      refused('a verifier nobody asked for', (await trade(url, robot, byCode(robot, bare))).tokens.error)
      for (const [name, over] of [
        ['plain', { code_challenge_method: 'plain' }],
        ['plain by leaving out', { code_challenge_method: undefined }],
      ] as const) {
        const { headers } = await authorize(owner, robot, { code_challenge: 'c'.repeat(43), ...over })
        refused(name, new URL(headers.get('location') ?? '/', url).searchParams.get('error'))
      }

      const permitted = await permit(owner, robot)
      const first = (await trade(url, robot, byCode(robot, permitted))).tokens
      const second = (await trade(url, robot, byRefresh(first.refresh_token))).tokens
      const before = await countAlive(url, [first.access_token, second.access_token, another.access_token])
      refused('again', (await trade(url, robot, byCode(robot, permitted))).tokens.error)
      refused('refreshed after that', (await trade(url, robot, byRefresh(first.refresh_token))).tokens.error)
      const alive = await countAlive(url, [first.access_token, second.access_token])
      const untouched = await countAlive(url, [another.access_token])

      const shared = await permit(owner, robot)
      const crowd = await Promise.all(Array.from({ length: 20 }, () => trade(url, robot, byCode(robot, shared))))
      const got = crowd.filter(({ status }) => status === 200)
      const kept = await countAlive(
        url,
        got.map(({ tokens }) => tokens.access_token),
      )

      const late = await permit(owner, robot)
      if (clock) clock.advance({ seconds: 61 })
      else await pause(61_000)
      refused('61 s old', (await trade(url, robot, byCode(robot, late))).tokens.error)
      return {
        figure: `${tries - wrong.length} of ${tries} refused${wrong.length > 0 ? ` (not ${wrong.join('; ')})` : ''}; after a code came again ${alive} of its 2 tokens alive, another permission's ${untouched} of 1; of 20 with one code at once ${got.length} got tokens, alive then ${kept}`,
        holds: wrong.length === 0 && before === 3 && alive === 0 && untouched === 1 && got.length === 1 && kept === 0,
      }
    },
  },
  {
    row: '55',
    name: 'Zapier refreshes one token 20 times at once, and again long after',
    criterion: 'every one 200 with a token of its own that works; the connection is alive',
    async run(chaos) {
      const clock = openMovedClock(chaos)
      const { program } = await withApplications(chaos, { ...clock?.env, RATE_LIMIT: 'on' })
      const { url } = program
      const owner = await somebody(url)
      const { refresh_token: token } = await connect(owner, zapier)
      let [asked, good, working] = [0, 0, 0]
      const access = new Set<string>()
      const refreshed = new Set([token])
      const rounds = async () => {
        for (let round = 0; round < 5; round += 1) {
          const answers = await Promise.all(Array.from({ length: 20 }, () => trade(url, zapier, byRefresh(token))))
          const tokens = answers.filter(({ status }) => status === 200).map((one) => one.tokens)
          asked += answers.length
          good += tokens.length
          working += await countAlive(
            url,
            tokens.map((one) => one.access_token),
          )
          for (const one of tokens) access.add(one.access_token)
          for (const one of tokens) refreshed.add(one.refresh_token)
        }
      }
      await rounds()
      // Longer than any grace of a token that changes.
      if (clock) clock.advance({ hours: 24 * 365 })
      else await pause(61_000)
      await rounds()
      const again = await Promise.all([...refreshed].map((one) => trade(url, zapier, byRefresh(one))))
      const still = again.filter(({ status }) => status === 200).length
      const back = await signIn(url, owner.email)
      const listed = back ? ((await back.ask('GET /connections')).body as { name: string }[]).some(({ name }) => name === 'Zapier') : false
      return {
        figure: `${good} of ${asked} are 200, ${working} of ${access.size} tokens work; what was handed back refreshes ${still} of ${again.length}, connection ${listed ? 'alive' : 'gone'}`,
        holds: [good, access.size, working].every((count) => count === asked) && still === again.length && listed,
      }
    },
  },
]
