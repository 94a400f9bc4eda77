import PostalMime from 'postal-mime'
import { onServer } from '#chaos/place.ts'
import { type Chaos, type Scenario, until } from '#chaos/scenario.ts'
import { stepOf, totpAt } from '#server/accounts/totp.ts'
import { type FakeGoogle, openFakeGoogle, type Script } from '#test/fakes/google.ts'
import { type FakeSmtp, openFakeSmtp } from '#test/fakes/smtp-server.ts'
import { aTarget, Browser, googleEnv, lateInvoice, password, signIn, somebody, startAt } from './browser.ts'

/** From the button to Google and back to the page. */
async function cameBack(browser: Browser, google: FakeGoogle): Promise<URL> {
  const authorization = await browser.visit(new URL('/auth/google', browser.url))
  return browser.visit(await google.visit(authorization.href))
}

/** The whole way: the status of the last call, 0 where Google's answer was refused before it. */
async function signInByGoogle(browser: Browser, google: FakeGoogle): Promise<number> {
  const page = await cameBack(browser, google)
  const code = page.searchParams.get('code')
  if (code === null) return 0
  const answered = await browser.ask('POST /auth/google/exchange', { body: { code } })
  if (answered.status === 200) browser.token = (answered.body as { accessToken: string }).accessToken
  return answered.status
}

/** Opens the link that was sent to somebody who signed up. */
async function confirmBy(post: FakeSmtp, browser: Browser, chaos: Chaos): Promise<void> {
  const letter = await until('the letter', { seconds: 30, over: chaos.over }, () =>
    post.mails.find(({ envelope }) => envelope.to.includes(browser.email)),
  )
  const token = /#token=(\S+)/.exec((await PostalMime.parse(letter.raw)).text ?? '')?.[1] ?? ''
  await browser.ask('POST /auth/confirm-email', { body: { token } })
}

async function switchTwoFactorOn(browser: Browser): Promise<void> {
  const { secret } = (await browser.ask('POST /user/two-factor/start', { body: { currentPassword: password } })).body as { secret: string }
  await browser.ask('POST /user/two-factor', { body: { code: totpAt(secret, stepOf(Temporal.Now.instant())) } })
}

/** Who somebody is to the program: the id of their account. */
async function idOf(browser: Browser): Promise<string> {
  return ((await browser.ask('GET /user/profile')).body as { _id: string })._id
}

const inThePast = () => Math.floor(Date.now() / 1000) - 7200
const forgeries: [name: string, script: Script][] = [
  ['another audience', { claims: (right) => ({ ...right, aud: 'somebody-else.apps.example' }) }],
  ['another issuer', { claims: (right) => ({ ...right, iss: 'https://accounts.evil.example' }) }],
  ['expired', { claims: (right) => ({ ...right, iat: inThePast() - 3600, exp: inThePast() }) }],
  ['another nonce', { claims: (right) => ({ ...right, nonce: 'somebody-elses' }) }],
  ['alg none', { signature: 'none' }],
  ['a key nobody lists', { signature: 'stranger' }],
  ['a key under a listed name', { signature: 'forged' }],
]

async function withGoogle(chaos: Chaos, env: Record<string, string> = {}) {
  const google = chaos.stack.use(await openFakeGoogle())
  return { google, ...(await aTarget(chaos, { ...googleEnv(google), ...env })) }
}

/** Rows 49 to 52: what comes from Google, or says so. */
export const googleAttacks: Scenario[] = [
  {
    row: '49',
    name: 'ID tokens of Google that are wrong in one thing',
    criterion: 'every one refused, no account made; the right one is good',
    short: true,
    async run(chaos) {
      const { google, program } = await withGoogle(chaos)
      const letIn: string[] = []
      for (const [name, script] of forgeries) {
        google.answer(script)
        if ((await signInByGoogle(new Browser(program.url), google)) === 200) letIn.push(name)
      }
      google.answer({})
      const right = await signInByGoogle(new Browser(program.url), google)
      return {
        figure: `${forgeries.length - letIn.length} of ${forgeries.length} refused${letIn.length > 0 ? `, let in: ${letIn.join(', ')}` : ''}; the right one: ${right}`,
        holds: letIn.length === 0 && right === 200,
      }
    },
  },
  {
    row: '50',
    name: 'an account made with somebody’s email before they come by Google',
    criterion:
      'the one who came first has no session, password or key that works, or no part in the account; no second factor is got round',
    short: true,
    async run(chaos) {
      const post = chaos.stack.use(await openFakeSmtp())
      const { google, program } = await withGoogle(chaos, {
        SYSTEM_SMTP_URL: `smtp://${encodeURIComponent(post.login.user)}:${post.login.pass}@${post.host}:${post.port}`,
        SYSTEM_MAIL_FROM: 'Duely <post@duely.example>',
      })
      // Never confirmed: the owner of the mailbox is not put into a stranger's account.
      google.person = { ...google.person, sub: '1', email: 'first@gmail.com' }
      await somebody(program.url, { email: 'first@gmail.com' })
      const merged = await signInByGoogle(new Browser(program.url), google)
      // Confirmed, by whoever: the account is the mailbox owner's, and everything from before ends.
      google.person = { ...google.person, sub: '2', email: 'second@gmail.com' }
      const hijacker = await somebody(program.url, { email: 'second@gmail.com' })
      const elsewhere = await signIn(program.url, 'second@gmail.com')
      const made = (await hijacker.ask('POST /api-keys', { body: { name: 'Mine', scopes: ['read', 'write'] } })).body
      const byKey = new Browser(program.url)
      byKey.token = (made as { key: string }).key
      const keyWorked = (await byKey.ask('GET /api/me')).status === 200
      await confirmBy(post, hijacker, chaos)
      const owner = new Browser(program.url)
      const linked = await signInByGoogle(owner, google)
      let alive = 0
      for (const one of [hijacker, elsewhere]) {
        if (!one) continue
        if ((await one.ask('GET /user/profile')).status !== 401) alive += 1
        if ((await one.ask('POST /auth/refresh')).status !== 401) alive += 1
      }
      const passwordWorks = (await signIn(program.url, 'second@gmail.com')) !== null
      const keyWorks = (await byKey.ask('GET /api/me')).status !== 401
      // A second factor that was set up here is not got round: whoever has the Google account alone stays outside.
      google.person = { ...google.person, sub: '3', email: 'third@gmail.com' }
      const guarded = await somebody(program.url, { email: 'third@gmail.com' })
      await confirmBy(post, guarded, chaos)
      await switchTwoFactorOn(guarded)
      const past = await signInByGoogle(new Browser(program.url), google)
      return {
        figure: `not confirmed: merged ${merged === 200 ? 1 : 0}; confirmed: linked ${linked}, sessions from before alive ${alive}, old password works ${passwordWorks ? 1 : 0}, API keys from before work ${keyWorks ? 1 : 0}; past a second factor ${past === 200 ? 1 : 0}`,
        holds: merged === 409 && linked === 200 && alive === 0 && !passwordWorks && keyWorked && !keyWorks && past === 409,
      }
    },
  },
  {
    row: '51',
    name: 'an email that Google does not vouch for, and one that changed at Google',
    criterion: 'no account by the first; the same account by the second',
    short: true,
    async run(chaos) {
      const { google, program } = await withGoogle(chaos)
      google.person = { sub: '11', email: 'claimed@example.com', email_verified: false, name: 'Claim' }
      const unverified = await signInByGoogle(new Browser(program.url), google)
      google.person = { sub: '12', email: 'before@gmail.com', email_verified: true, name: 'Asha Rao' }
      const before = new Browser(program.url)
      await signInByGoogle(before, google)
      google.person = { ...google.person, email: 'after@gmail.com' }
      const after = new Browser(program.url)
      await signInByGoogle(after, google)
      // The address is given to somebody else, as happens in companies.
      google.person = { ...google.person, sub: '13', email: 'before@gmail.com' }
      const successor = await signInByGoogle(new Browser(program.url), google)
      const same = (await idOf(before)) === (await idOf(after))
      return {
        figure: `unverified: ${unverified}; same sub, new email: ${same ? 'the same account' : 'another account'}; same email, new sub: ${successor}`,
        holds: unverified !== 200 && same && successor !== 200,
      }
    },
  },
  {
    row: '52',
    name: 'Google takes a permission to send back, or has trouble of its own',
    criterion: 'taken back: paused after one try, gone once connected again; trouble: tried again; lost 0, twice 0',
    async run(chaos) {
      if (!chaos.cluster) return { skipped: 'there is no PostgreSQL on this machine' }
      const google = chaos.stack.use(await openFakeGoogle())
      const place = await onServer(chaos, chaos.cluster)
      const program = await startAt(place, googleEnv(google))
      const connect = async (browser: Browser) => {
        const { url } = (await browser.ask('POST /mail-config/gmail/start')).body as { url: string }
        const back = await google.visit(url)
        const [code, state] = ['code', 'state'].map((name) => back.searchParams.get(name))
        return (await browser.ask('POST /mail-config/gmail', { body: { code, state } })).status
      }
      const owing = async (email: string) => {
        const browser = await somebody(program.url, { email })
        google.person = { sub: email, email: `${email.split('@')[0]}@gmail.com`, email_verified: true, name: 'Asha Rao' }
        await connect(browser)
        for (let nth = 0; nth < 3; nth += 1) await browser.ask('POST /invoice', { body: lateInvoice({ clientEmail: `${nth}.${email}` }) })
        return browser
      }
      const pauseOf = async (browser: Browser) =>
        ((await browser.ask('GET /mail-config')).body as { pause: { reason: string } | null }).pause?.reason ?? 'none'

      const revoked = await owing('revoked@client.example')
      google.takeBack()
      google.refreshes = 0
      await revoked.ask('POST /reminder/send-immediate')
      await until('a pause', { seconds: 30, over: chaos.over }, async () => (await pauseOf(revoked)) !== 'none')
      const [tries, pause, sentMeanwhile] = [google.refreshes, await pauseOf(revoked), google.mails.length]
      await connect(revoked)
      await until('what was held', { seconds: 60, over: chaos.over }, () => google.mails.length >= sentMeanwhile + 3)

      const troubled = await owing('troubled@client.example')
      google.answer({ token: (grant) => (grant === 'refresh_token' ? { status: 503 } : undefined) })
      await troubled.ask('POST /reminder/send-immediate')
      const paused = await pauseOf(troubled)
      google.answer({})
      await place.rows(`UPDATE deliveries SET next_try_at = now() WHERE state = 'retrying'`)
      await until('what was tried again', { seconds: 60, over: chaos.over }, () => google.mails.length >= sentMeanwhile + 6)
      const count = google.mails.length - sentMeanwhile
      return {
        figure: `taken back: ${tries} try, pause ${pause}, sent ${sentMeanwhile}; trouble: pause ${paused}; of 6 mails ${count} left`,
        holds: tries <= 2 && pause === 'login_refused' && sentMeanwhile === 0 && paused === 'none' && count === 6,
      }
    },
  },
]
