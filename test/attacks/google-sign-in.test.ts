import { type FakeGoogle, openFakeGoogle, type Script } from '#test/fakes/google.ts'
import { onPostgres, openMailServer } from '#test/faults/environment.ts'
import { row, type Trial } from '#test/faults/row.ts'
import {
  Browser,
  confirmEmail,
  enableTwoFactor,
  googleEnv,
  openTarget,
  overdueInvoice,
  signIn,
  signUp,
  startTarget,
  systemMailEnv,
} from './browser.ts'

/** Signs in with Google: the status of the last call, 0 where Google's answer was refused before it. */
async function signInByGoogle(browser: Browser, google: FakeGoogle): Promise<number> {
  const authorization = await browser.visit(new URL('/auth/google', browser.url))
  const page = await browser.visit(await google.visit(authorization.href))
  const code = page.searchParams.get('code')
  if (code === null) return 0
  const answered = await browser.ask('POST /auth/google/exchange', { body: { code } })
  if (answered.status === 200) browser.token = (answered.body as { accessToken: string }).accessToken
  return answered.status
}

const inThePast = () => Math.floor(Date.now() / 1000) - 7200
const forgeries: [name: string, script: Script][] = [
  ['another audience', { claims: (right) => ({ ...right, aud: 'another-app.apps.example' }) }],
  ['another issuer', { claims: (right) => ({ ...right, iss: 'https://accounts.evil.example' }) }],
  ['expired', { claims: (right) => ({ ...right, iat: inThePast() - 3600, exp: inThePast() }) }],
  ['another nonce', { claims: (right) => ({ ...right, nonce: 'of-another-request' }) }],
  ['alg none', { signature: 'none' }],
  ['a key that is not listed', { signature: 'stranger' }],
  ['another key under a listed name', { signature: 'forged' }],
]

async function withGoogle(trial: Trial, env: Record<string, string> = {}) {
  const google = trial.stack.use(await openFakeGoogle())
  return { google, program: await openTarget(trial, { ...googleEnv(google), ...env }) }
}

row('49', 'ID tokens of Google with one wrong claim or signature', { short: true }, async (trial) => {
  trial.mustHold('every one refused, no account created; the right one is accepted')
  const { google, program } = await withGoogle(trial)
  const accepted: string[] = []
  for (const [name, script] of forgeries) {
    google.answer(script)
    if ((await signInByGoogle(new Browser(program.url), google)) === 200) accepted.push(name)
  }
  google.answer({})
  const right = await signInByGoogle(new Browser(program.url), google)
  return {
    figure: `${forgeries.length - accepted.length} of ${forgeries.length} refused${accepted.length > 0 ? `, accepted: ${accepted.join(', ')}` : ''}; the right one: ${right}`,
    holds: accepted.length === 0 && right === 200,
  }
})

row('50', 'an account created with another person’s email before that person signs in with Google', async (trial) => {
  trial.mustHold(
    'the creator keeps no session, password or key that works, or has no part in the account; the second factor cannot be bypassed',
  )
  const systemMail = await openMailServer(trial)
  const { google, program } = await withGoogle(trial, systemMailEnv(systemMail))
  // Not confirmed: the owner of the mailbox takes the account over, and its creator loses every way in.
  google.person = { ...google.person, sub: '1', email: 'first@gmail.com' }
  const squatter = await signUp(program.url, { email: 'first@gmail.com' })
  await enableTwoFactor(squatter)
  const takenOver = await signInByGoogle(new Browser(program.url), google)
  const squats = (await squatter.ask('GET /user/profile')).status !== 401 || (await signIn(program.url, 'first@gmail.com')) !== null
  // Confirmed: the account belongs to the owner of the mailbox, and every earlier way in ends.
  google.person = { ...google.person, sub: '2', email: 'second@gmail.com' }
  const hijacker = await signUp(program.url, { email: 'second@gmail.com' })
  const elsewhere = await signIn(program.url, 'second@gmail.com')
  const { key } = (await hijacker.ask('POST /api-keys', { body: { name: 'Mine', scopes: ['read', 'write'], ...hijacker.proof } })).body as {
    key: string
  }
  const byKey = new Browser(program.url, key)
  const keyWorked = (await byKey.ask('GET /api/me')).status === 200
  await confirmEmail(trial, systemMail, hijacker)
  const linked = await signInByGoogle(new Browser(program.url), google)
  let alive = 0
  for (const one of [hijacker, elsewhere]) {
    if (!one) continue
    if ((await one.ask('GET /user/profile')).status !== 401) alive += 1
    if ((await one.ask('POST /auth/refresh')).status !== 401) alive += 1
  }
  const passwordWorks = (await signIn(program.url, 'second@gmail.com')) !== null
  const keyWorks = (await byKey.ask('GET /api/me')).status !== 401
  // A second factor of this account: the Google account alone must not be enough.
  google.person = { ...google.person, sub: '3', email: 'third@gmail.com' }
  const guarded = await signUp(program.url, { email: 'third@gmail.com' })
  await confirmEmail(trial, systemMail, guarded)
  await enableTwoFactor(guarded)
  const bypassed = await signInByGoogle(new Browser(program.url), google)
  return {
    figure: `not confirmed: taken over ${takenOver}, creator still in ${squats ? 1 : 0}; confirmed: linked ${linked}, earlier sessions alive ${alive}, old password works ${passwordWorks ? 1 : 0}, earlier API keys work ${keyWorks ? 1 : 0}; second factor bypassed ${bypassed === 200 ? 1 : 0}`,
    holds: takenOver === 200 && !squats && linked === 200 && alive === 0 && !passwordWorks && keyWorked && !keyWorks && bypassed === 409,
  }
})

row('51', 'an email that Google has not verified, and one that changed at Google', async (trial) => {
  trial.mustHold('no account by the first; the same account by the second')
  const { google, program } = await withGoogle(trial)
  google.person = { sub: '11', email: 'claimed@example.com', email_verified: false, name: 'Claim' }
  const unverified = await signInByGoogle(new Browser(program.url), google)
  google.person = { sub: '12', email: 'before@gmail.com', email_verified: true, name: 'Asha Rao' }
  const before = new Browser(program.url)
  await signInByGoogle(before, google)
  google.person = { ...google.person, email: 'after@gmail.com' }
  const after = new Browser(program.url)
  await signInByGoogle(after, google)
  // The address now belongs to another person, as happens in companies.
  google.person = { ...google.person, sub: '13', email: 'before@gmail.com' }
  const successor = await signInByGoogle(new Browser(program.url), google)
  const same = (await before.accountId()) === (await after.accountId())
  return {
    figure: `unverified: ${unverified}; same sub, new email: ${same ? 'the same account' : 'another account'}; same email, new sub: ${successor}`,
    holds: unverified !== 200 && same && successor !== 200,
  }
})

row('52', 'Google revokes a permission to send, or answers 503', async (trial) => {
  trial.mustHold('revoked: paused after one attempt, resumed once connected again; 503: tried again; emails lost 0, repeated 0')
  const google = trial.stack.use(await openFakeGoogle())
  const environment = await onPostgres(trial)
  const program = await startTarget(environment, googleEnv(google))
  const connect = async (browser: Browser) => {
    const { url } = (await browser.ask('POST /mail-config/gmail/start')).body as { url: string }
    const back = await google.visit(url)
    const [code, state] = ['code', 'state'].map((name) => back.searchParams.get(name))
    return (await browser.ask('POST /mail-config/gmail', { body: { code, state } })).status
  }
  const withThreeOverdue = async (email: string) => {
    const browser = await signUp(program.url, { email })
    google.person = { sub: email, email: `${email.split('@')[0]}@gmail.com`, email_verified: true, name: 'Asha Rao' }
    await connect(browser)
    for (let nth = 0; nth < 3; nth += 1) await browser.ask('POST /invoice', { body: overdueInvoice({ clientEmail: `${nth}.${email}` }) })
    return browser
  }
  const pauseOf = async (browser: Browser) =>
    ((await browser.ask('GET /mail-config')).body as { pause: { reason: string } | null }).pause?.reason ?? 'none'

  const revoked = await withThreeOverdue('revoked@client.example')
  google.takeBack()
  google.refreshes = 0
  await revoked.ask('POST /reminder/send-immediate')
  await trial.until('sending is paused', async () => (await pauseOf(revoked)) !== 'none')
  const [attempts, pause, sentMeanwhile] = [google.refreshes, await pauseOf(revoked), google.mails.length]
  await connect(revoked)
  await trial.until('the held emails leave', () => google.mails.length >= sentMeanwhile + 3)

  const troubled = await withThreeOverdue('troubled@client.example')
  google.answer({ token: (grant) => (grant === 'refresh_token' ? { status: 503 } : undefined) })
  await troubled.ask('POST /reminder/send-immediate')
  const paused = await pauseOf(troubled)
  google.answer({})
  await environment.rows(`UPDATE deliveries SET next_try_at = now() WHERE state = 'retrying'`)
  await trial.until('the delayed emails leave', () => google.mails.length >= sentMeanwhile + 6)
  const count = google.mails.length - sentMeanwhile
  return {
    figure: `revoked: ${attempts} attempt, pause ${pause}, sent ${sentMeanwhile}; 503: pause ${paused}; of 6 emails ${count} left`,
    holds: attempts <= 2 && pause === 'login_refused' && sentMeanwhile === 0 && paused === 'none' && count === 6,
  }
})
