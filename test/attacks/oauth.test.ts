import { setTimeout as pause } from 'node:timers/promises'
import type { Call } from '#contract/call.ts'
import { registerOauthClient } from '#server/integrations/integrations.ts'
import { onAnyDatabase, onPostgres, openMailServer } from '#test/faults/environment.ts'
import { findFakeTime, openFakeClock } from '#test/faults/fake-clock.ts'
import { row, type Trial } from '#test/faults/row.ts'
import { idsIn, mark, privateCalls, recordsOf, requestWith } from '#test/filled.ts'
import type { Program } from '#test/program.ts'
import { type Application, challengeOf } from '#test/programs.ts'
import { Browser, overdueInvoice, signIn, signUp, startTarget } from './browser.ts'
import {
  allow,
  authorize,
  byCode,
  byRefresh,
  connect,
  consentOf,
  countValid,
  type Grant,
  grant,
  requestTokens,
  zapier,
  zapierEnv,
} from './oauth-client.ts'

/** A program that knows Zapier, and another application that its operator registered. */
async function withApplications(trial: Trial, env: Record<string, string> = {}): Promise<{ program: Program; robot: Application }> {
  const environment = await onAnyDatabase(trial)
  const redirectUri = 'https://robot.example/back'
  const registered = await environment.prepare((db) =>
    registerOauthClient(db, { name: 'Ledger Robot', redirectUris: [redirectUri], kind: 'confidential' }, Temporal.Now.instant()),
  )
  return { program: await startTarget(environment, { ...zapierEnv, ...env }), robot: { ...registered, redirectUri } }
}

/** Addresses that a careless comparison takes for the registered one. */
function similarTo(address: string): (string | undefined)[] {
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

row('53', 'authorization requests with addresses similar to the registered one', async (trial) => {
  trial.mustHold('no redirect to any of them, before or after consent; the registered one works')
  const { program, robot } = await withApplications(trial)
  const victim = await signUp(program.url)
  const requests = [{}, { response_type: 'token' }, { scope: 'everything' }]
  let [tries, working] = [0, 0]
  const redirected: string[] = []
  for (const application of [zapier, robot]) {
    const right = consentOf(await authorize(victim, application))
    for (const address of similarTo(application.redirectUri)) {
      const quoted = JSON.stringify(address ?? 'none')
      for (const over of requests) {
        tries += 1
        const { status, headers } = await authorize(victim, application, { ...over, redirect_uri: address })
        if (status !== 400 || headers.has('location') || headers.has('refresh')) redirected.push(`${quoted}: ${status}`)
      }
      // Changed between the question and the answer; a missing request must not be taken for one of Duely's own.
      for (const request of [right.request, '']) {
        tries += 2
        const changed = { ...right, request, redirect_uri: address ?? '' }
        const asked = await victim.ask(`GET /oauth/consent?${new URLSearchParams(changed)}`)
        const allowed = await allow(victim, changed)
        if (asked.status !== 400 || allowed.status !== 400) redirected.push(`${quoted} at consent: ${asked.status}, ${allowed.status}`)
      }
    }
    // Two addresses, the right one first or last: choosing either of them is a guess.
    for (const pair of [
      [application.redirectUri, 'https://evil.example/'],
      ['https://evil.example/', application.redirectUri],
    ]) {
      tries += 1
      const query = new URLSearchParams({ client_id: application.id, response_type: 'code', state: 'a state' })
      for (const address of pair) query.append('redirect_uri', address)
      const { status, headers } = await victim.ask(`GET /oauth/authorize?${query}`)
      if (status !== 400 || headers.has('location')) redirected.push(`two addresses: ${status}`)
    }
    const allowed = await allow(victim, right)
    if (String((allowed.body as { redirect?: string }).redirect).startsWith(`${application.redirectUri}?code=`)) working += 1
  }
  return {
    figure: `${similarTo(zapier.redirectUri).length} addresses of each of 2 applications, ${tries} tries: ${redirected.length} redirected${redirected.length > 0 ? ` (${redirected.slice(0, 3).join('; ')})` : ''}; the registered ones ${working} of 2`,
    holds: redirected.length === 0 && working === 2,
  }
})

row('54', 'codes that are replayed, late, of another application, with a wrong or plain verifier', async (trial) => {
  trial.mustHold('each refused with invalid_grant or invalid_request; a replayed code revokes its tokens, and no others')
  const clock = findFakeTime() ? openFakeClock(trial) : null
  const { program, robot } = await withApplications(trial, clock?.env)
  const { url } = program
  const owner = await signUp(url)
  const another = await connect(owner, robot)
  const wrong: string[] = []
  let tries = 0
  const refused = (name: string, error: string | null | undefined) => {
    tries += 1
    if (error !== 'invalid_grant' && error !== 'invalid_request') wrong.push(`${name}: ${error ?? 'accepted'}`)
  }
  const ways: [name: string, client: Application, over: (given: Grant) => Record<string, string | undefined>][] = [
    ['another application', zapier, () => ({})],
    ['another application with its own address', zapier, () => ({ redirect_uri: zapier.redirectUri })],
    ['a wrong verifier', robot, () => ({ code_verifier: 'w'.repeat(43) })],
    ['the challenge as its verifier', robot, ({ verifier }) => ({ code_verifier: challengeOf(verifier) })],
    ['no verifier', robot, () => ({ code_verifier: undefined })],
    ['another address', robot, () => ({ redirect_uri: `${robot.redirectUri}/` })],
  ]
  for (const [name, client, over] of ways) {
    const granted = await grant(owner, robot)
    refused(name, (await requestTokens(url, client, { ...byCode(robot, granted), ...over(granted) })).tokens.error)
  }
  const bare = await grant(owner, robot, { code_challenge: undefined, code_challenge_method: undefined })
  refused('a verifier without a challenge', (await requestTokens(url, robot, byCode(robot, bare))).tokens.error)
  for (const [name, over] of [
    ['plain', { code_challenge_method: 'plain' }],
    ['plain by default', { code_challenge_method: undefined }],
  ] as const) {
    const { headers } = await authorize(owner, robot, { code_challenge: 'c'.repeat(43), ...over })
    refused(name, new URL(headers.get('location') ?? '/', url).searchParams.get('error'))
  }

  const granted = await grant(owner, robot)
  const first = (await requestTokens(url, robot, byCode(robot, granted))).tokens
  const second = (await requestTokens(url, robot, byRefresh(first.refresh_token))).tokens
  const before = await countValid(url, [first.access_token, second.access_token, another.access_token])
  refused('replayed', (await requestTokens(url, robot, byCode(robot, granted))).tokens.error)
  refused('refreshed after that', (await requestTokens(url, robot, byRefresh(first.refresh_token))).tokens.error)
  const valid = await countValid(url, [first.access_token, second.access_token])
  const untouched = await countValid(url, [another.access_token])

  const shared = await grant(owner, robot)
  const crowd = await Promise.all(Array.from({ length: 20 }, () => requestTokens(url, robot, byCode(robot, shared))))
  const got = crowd.filter(({ status }) => status === 200).map(({ tokens }) => tokens.access_token)
  const kept = await countValid(url, got)

  const late = await grant(owner, robot)
  if (clock) clock.advance({ seconds: 61 })
  else await pause(61_000)
  refused('61 s old', (await requestTokens(url, robot, byCode(robot, late))).tokens.error)
  return {
    figure: `${tries - wrong.length} of ${tries} refused${wrong.length > 0 ? ` (not ${wrong.join('; ')})` : ''}; after a replay ${valid} of its 2 tokens valid, of another grant ${untouched} of 1; of 20 requests with one code at the same time ${got.length} got tokens, valid then ${kept}`,
    holds: wrong.length === 0 && before === 3 && valid === 0 && untouched === 1 && got.length === 1 && kept === 0,
  }
})

row('55', 'Zapier refreshes one token 20 times at the same time, and again a year later', async (trial) => {
  trial.mustHold('every one 200 with a token of its own that works; the connection stays')
  const clock = findFakeTime() ? openFakeClock(trial) : null
  const { program } = await withApplications(trial, { ...clock?.env, RATE_LIMIT: 'on' })
  const { url } = program
  const owner = await signUp(url)
  const { refresh_token: token } = await connect(owner, zapier)
  let [asked, ok, working] = [0, 0, 0]
  const access = new Set<string>()
  const refresh = new Set([token])
  const refreshFiveTimes = async () => {
    for (let round = 0; round < 5; round += 1) {
      const answers = await Promise.all(Array.from({ length: 20 }, () => requestTokens(url, zapier, byRefresh(token))))
      const tokens = answers.filter(({ status }) => status === 200).map((one) => one.tokens)
      asked += answers.length
      ok += tokens.length
      working += await countValid(
        url,
        tokens.map((one) => one.access_token),
      )
      for (const one of tokens) {
        access.add(one.access_token)
        refresh.add(one.refresh_token)
      }
    }
  }
  await refreshFiveTimes()
  // Longer than any grace period of a rotated token.
  if (clock) clock.advance({ hours: 24 * 365 })
  else await pause(61_000)
  await refreshFiveTimes()
  const again = await Promise.all([...refresh].map((one) => requestTokens(url, zapier, byRefresh(one))))
  const still = again.filter(({ status }) => status === 200).length
  const back = await signIn(url, owner.email)
  const listed = back ? ((await back.ask('GET /connections')).body as { name: string }[]).some(({ name }) => name === 'Zapier') : false
  return {
    figure: `${ok} of ${asked} are 200, ${working} of ${access.size} tokens work; of the refresh tokens handed out ${still} of ${again.length} work, connection ${listed ? 'kept' : 'gone'}`,
    holds: [ok, access.size, working].every((count) => count === asked) && still === again.length && listed,
  }
})

/** An account with a record of every kind that no application may see. */
async function furnishedAccount(trial: Trial, url: string): Promise<Browser> {
  const email = `asha@${mark.toLowerCase()}.example`
  const smtp = await openMailServer(trial, { login: { user: email, pass: 'app password' } })
  const browser = await signUp(url, { email, displayName: `Asha ${mark}` })
  await browser.saveMailbox(smtp)
  await browser.ask('PUT /mail-config/template', {
    body: { useCustomTemplate: true, customSubject: `${mark} {{invoiceId}}`, customContent: `${mark} {{amount}}` },
  })
  await browser.ask('POST /api-keys', { body: { name: `${mark} robot`, scopes: ['read'], ...browser.proof } })
  const hook = { url: `https://${mark.toLowerCase()}.example/duely`, events: ['invoice.paid'] }
  await browser.ask('POST /webhooks', { body: { ...hook, ...browser.proof } })
  await browser.ask('POST /invoice', { body: { ...overdueInvoice({ clientName: `${mark} Foods` }), dueDate: '2999-01-01' } })
  return browser
}

/** What an application's token opens, written down here once more: derived from the contract it would go wrong along with the program. */
const opensTo = ({ method, path }: Call, scope: string) =>
  /^\/(?:api|zapier|invoice)(?:\/|$)/.test(path) && scope.split(' ').includes(method === 'GET' ? 'read' : 'write')

row('58', 'tokens of Zapier on every call of the contract outside their scopes', async (trial) => {
  trial.mustHold('403 on 100 %; bytes disclosed 0, records changed 0; the calls of their scopes are open')
  const environment = await onPostgres(trial)
  const program = await startTarget(environment, zapierEnv)
  const owner = await furnishedAccount(trial, program.url)
  const tokens = new Map<string, string>()
  for (const scope of ['read write', 'read', 'write']) tokens.set(scope, (await connect(owner, zapier, scope)).access_token)
  const accountId = await owner.accountId()
  // The next try of a webhook, seconds later, is no change by these calls.
  await environment.rows("UPDATE hook_deliveries SET next_try_at = now() + interval '1 day' RETURNING id")
  const before = await recordsOf(environment.rows, accountId)
  // The ids of the owner's own records: nothing but the scope may refuse them.
  const ids = idsIn(before.join('\n'))
  const closed = new Set<string>()
  let tries = 0
  const [wrong, disclosed, shut]: [string[], string[], string[]] = [[], [], []]
  for (const [scope, token] of tokens)
    for (const call of privateCalls.filter((one) => !opensTo(one, scope))) {
      closed.add(`${call.method} ${call.path}`)
      for (const id of call.path.includes(':') ? ids : [accountId]) {
        tries += 1
        const { path, body } = requestWith(call, id)
        const answered = await new Browser(program.url, token).ask(path, body ? { body } : {})
        if (answered.status !== 403 || (answered.body as { code?: string }).code !== 'not_allowed')
          wrong.push(`${path} by ${scope}: ${answered.status}`)
        if (answered.text.toLowerCase().includes(mark.toLowerCase())) disclosed.push(path)
      }
    }
  const after = await recordsOf(environment.rows, accountId)
  const changed = after.join('\n') !== before.join('\n')
  let inside = 0
  for (const [scope, token] of tokens)
    for (const call of privateCalls.filter((one) => opensTo(one, scope))) {
      inside += 1
      const { status } = await new Browser(program.url, token).ask(`${call.method} ${call.path.replace(/:\w+/g, 'x')}`)
      if (status === 401 || status === 403 || status >= 500) shut.push(`${call.method} ${call.path} by ${scope}: ${status}`)
    }
  const both = ['/user', '/mail-config'].every((path) => [...closed].some((name) => name.includes(` ${path}`)))
  const failed = [...wrong, ...disclosed, ...shut]
  return {
    figure: `${closed.size} calls, 3 tokens, ${tries} tries: ${tries - wrong.length} refused, disclosed ${disclosed.length}, records ${changed ? 'changed' : 'unchanged'}; of ${inside} inside ${inside - shut.length} open${failed.length > 0 ? `; ${failed.slice(0, 3).join(', ')}` : ''}`,
    holds: both && ids.length > 5 && failed.length === 0 && !changed && before.join().includes(mark),
  }
})
