import net from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import PostalMime from 'postal-mime'
import { stepOf, totpAt } from '#server/accounts/totp.ts'
import { onPostgres, openMailServer } from '#test/faults/environment.ts'
import { row } from '#test/faults/row.ts'
import {
  Browser,
  confirmEmail,
  enableTwoFactor,
  newestLink,
  openTarget,
  overdueInvoice,
  password,
  signIn,
  signUp,
  startTarget,
  systemMailEnv,
} from './browser.ts'

const newPassword = 'a password that the owner chose'
const foreign = 'our bank has changed'

/** Sends a request whose body is only finished later, and answers the status line of the response. */
async function openSlowly(browser: Browser, call: string, body: unknown): Promise<() => Promise<number>> {
  const [method, path] = call.split(' ')
  const { hostname, port, host } = new URL(browser.url)
  const socket = net.connect(Number(port), hostname)
  const text = JSON.stringify(body)
  const head = [`${method} ${path} HTTP/1.1`, `host: ${host}`, `authorization: Bearer ${browser.token}`, 'content-type: application/json']
  socket.write([...head, `content-length: ${text.length}`, 'connection: close', '', text.slice(0, 1)].join('\r\n'))
  let answer = ''
  const ended = new Promise<void>((resolve) => {
    socket.on('data', (chunk) => {
      answer += String(chunk)
    })
    socket.on('close', () => resolve())
    socket.on('error', () => resolve())
  })
  return async () => {
    socket.write(text.slice(1))
    await ended
    return Number(/^HTTP\/1\.1 (\d+)/.exec(answer)?.[1] ?? 0)
  }
}

row(
  '88',
  'an account created with another person’s email, which the owner takes over by a password link',
  { short: true },
  async (trial) => {
    trial.mustHold(
      'nothing leaves before the email is confirmed; the owner can sign in and is notified; emails by the stranger’s mailbox or with the stranger’s words 0',
    )
    const systemMail = await openMailServer(trial)
    const [theirs, own] = [await openMailServer(trial), await openMailServer(trial)]
    const { url } = await openTarget(trial, systemMailEnv(systemMail))
    const template = { useCustomTemplate: true, customSubject: foreign, customContent: foreign }
    const takeOver = async (email: string, guarded: boolean) => {
      const stranger = await signUp(url, { email, displayName: foreign })
      await stranger.saveMailbox(theirs)
      await stranger.ask('PUT /mail-config/template', { body: template })
      await stranger.ask('POST /invoice', { body: overdueInvoice() })
      if (guarded) await enableTwoFactor(stranger)
      const early = [(await stranger.ask('POST /reminder/send-immediate')).status, (await stranger.ask('POST /reminder/start')).status]
      const slow = await openSlowly(stranger, 'PUT /mail-config/template', template)
      // Longer than the time within which a body counts as sent with its headers.
      await pause(1_100)
      await new Browser(url).ask('POST /auth/forgot-password', { body: { email } })
      const token = await newestLink(trial, systemMail, email, 'reset-password')
      await new Browser(url).ask('POST /auth/reset-password', { body: { token, newPassword } })
      const late = await slow()
      const owner = await signIn(url, email, newPassword)
      if (!owner) return { early, late, signedIn: 0, told: 0 }
      const notices = (await owner.ask('GET /user/notices')).body as { kind: string }[]
      await owner.ask('POST /reminder/send-immediate')
      await owner.saveMailbox(own)
      await owner.ask('POST /reminder/send-immediate')
      return { early, late, signedIn: 1, told: notices.filter(({ kind }) => kind === 'taken_over').length }
    }
    const tries = [await takeOver('guarded@example.com', true)]
    // The short selection has the harder one, where the stranger set up a second factor.
    if (!trial.short) tries.push(await takeOver('owner@example.com', false))
    const sent = await Promise.all([...own.mails, ...theirs.mails].map(({ raw }) => PostalMime.parse(raw)))
    const words = sent.filter(({ subject, text, from }) => [subject, text, from?.name].join().includes(foreign)).length
    const sum = (of: (one: (typeof tries)[number]) => number) => tries.reduce((total, one) => total + of(one), 0)
    const figure = [
      `Send Now and Start before: ${tries.flatMap(({ early }) => early).join(', ')}`,
      `slow requests of the stranger: ${tries.map(({ late }) => late).join(', ')}`,
      `the owner signed in ${sum(({ signedIn }) => signedIn)} of ${tries.length} and was notified ${sum(({ told }) => told)} of ${tries.length}`,
      `emails by the owner’s mailbox ${own.mails.length}, by the stranger’s ${theirs.mails.length}, with the stranger’s words ${words}`,
    ].join('; ')
    const right = tries.every(({ early, late }) => early.every((status) => status === 403) && late === 401)
    return {
      figure,
      holds:
        right &&
        sum((one) => one.signedIn + one.told) === 2 * tries.length &&
        own.mails.length === tries.length &&
        theirs.mails.length + words === 0,
    }
  },
)

row('89', 'more sign-ups from one address, by claiming others in X-Forwarded-For', async (trial) => {
  trial.mustHold('TRUST_PROXY=true is refused at start; behind one proxy 20 sign-ups an hour')
  const refused = await openTarget(trial, { TRUST_PROXY: 'true' }).then(
    () => false,
    (error: Error) => error.message.includes('TRUST_PROXY must not be true'),
  )
  const { url } = await openTarget(trial, { RATE_LIMIT: 'on', TRUST_PROXY: refused ? '1' : 'true' })
  const created = await Promise.all(
    Array.from({ length: 28 }, async (_none, nth) => {
      const body = { email: `many${nth}@example.com`, displayName: 'Many', password }
      // The proxy adds the address that it sees behind the claimed ones.
      const headers = { 'x-forwarded-for': `203.0.113.${nth}, 198.51.100.7` }
      return (await new Browser(url).ask('POST /user', { body, headers })).status === 201
    }),
  )
  const count = created.filter(Boolean).length
  return { figure: `TRUST_PROXY=true ${refused ? 'refused' : 'accepted'}; ${count} of 28 sign-ups`, holds: refused && count === 20 }
})

row('92', 'an account deleted with a stolen session', { short: true }, async (trial) => {
  trial.mustHold('401 with an old session alone, and with a wrong password or code; the owner can delete it, and gets an email')
  const systemMail = await openMailServer(trial)
  const environment = await onPostgres(trial)
  const { url } = await startTarget(environment, systemMailEnv(systemMail))
  const owner = await signUp(url, { email: 'owner@example.com' })
  await confirmEmail(trial, systemMail, owner)
  const { secret } = await enableTwoFactor(owner)
  await environment.rows(`UPDATE sessions SET created_at = now() - interval '16 minutes'`)
  const thief = owner.copy()
  const alone = (await thief.ask('DELETE /user/account')).status
  const byId = (await thief.ask(`DELETE /user/${await thief.personId()}`)).status
  for (const body of [{ currentPassword: 'not it' }, { currentPassword: password }, { currentPassword: password, code: '000000' }])
    await thief.ask('POST /auth/reauthenticate', { body })
  const after = (await thief.ask('DELETE /user/account')).status
  const code = totpAt(secret, stepOf(Temporal.Now.instant()) + 1)
  await owner.ask('POST /auth/reauthenticate', { body: { currentPassword: password, code } })
  const own = (await owner.ask('DELETE /user/account')).status
  const told = await trial.until('the email about it arrives', () =>
    systemMail.mails.some(({ subject }) => subject === 'Your Duely account was deleted') ? 1 : alone === 204 ? 2 : null,
  )
  return {
    figure: `old session alone: ${alone}, by id ${byId}, after wrong passwords and codes ${after}; the owner ${own}, emails about it ${told}`,
    holds: alone === 401 && byId === 401 && after === 401 && own === 204 && told === 1,
  }
})

row('93', 'wrong second-factor codes from ten addresses by a person who knows the password', { short: true }, async (trial) => {
  trial.mustHold('the owner waits 0 s in a known browser, and elsewhere once the password is changed')
  const { url } = await openTarget(trial, { RATE_LIMIT: 'on', TRUST_PROXY: '127.0.0.1' })
  const owner = await signUp(url, { email: 'owner@example.com' })
  const { recoveryCodes } = await enableTwoFactor(owner)
  const guess = async () => {
    for (let nth = 0; nth < 10; nth += 1)
      await new Browser(url).ask('POST /auth', {
        body: { email: 'owner@example.com', password, code: '000000' },
        headers: { 'x-forwarded-for': `198.51.100.${nth}` },
      })
  }
  const signInBy = async (browser: Browser) => {
    const body = { email: 'owner@example.com', password, code: recoveryCodes.shift() }
    const answered = await browser.ask('POST /auth', { body })
    return answered.status === 200 ? 0 : Number(answered.headers.get('retry-after') ?? Number.POSITIVE_INFINITY)
  }
  await guess()
  const known = new Browser(url)
  known.jar.set('knownBrowser', owner.jar.get('knownBrowser') ?? { value: '', path: '/auth' })
  const here = await signInBy(known)
  await guess()
  await owner.ask('PATCH /user/change-password', { body: { currentPassword: password, newPassword: password } })
  const elsewhere = await signInBy(new Browser(url))
  return { figure: `in a known browser ${here} s; elsewhere after a new password ${elsewhere} s`, holds: here === 0 && elsewhere === 0 }
})

row(
  '150',
  'codes of two browsers at the same time, codes that were used elsewhere, and what a stolen session tries',
  { short: true },
  async (trial) => {
    trial.mustHold('each code opens one session at most; the session alone turns nothing on or off, and a new password needs a code too')
    const post = await openMailServer(trial)
    const { url } = await openTarget(trial, systemMailEnv(post))
    const owner = await signUp(url, { email: 'owner@example.com' })
    await confirmEmail(trial, post, owner)
    const { secret } = (await owner.ask('POST /user/two-factor/start', { body: { currentPassword: password } })).body as { secret: string }
    // The one before leaves one that is valid now.
    const step = stepOf(Temporal.Now.instant())
    const codeOf = (later: number) => totpAt(secret, step + later)
    const confirmed = await owner.ask('POST /user/two-factor', { body: { code: codeOf(-1) } })
    const [recovery = '', unused = ''] = (confirmed.body as { recoveryCodes: string[] }).recoveryCodes
    const signInBy = (code?: string, secretWord = password) =>
      new Browser(url).ask('POST /auth', { body: { email: owner.email, password: secretWord, ...(code ? { code } : {}) } })
    const opened = async (code: string) =>
      (await Promise.all(Array.from({ length: 10 }, () => signInBy(code)))).filter(({ status }) => status === 200).length
    const replayed = (await signInBy(codeOf(-1))).status
    const [once, recovered] = [await opened(codeOf(0)), await opened(recovery)]
    const thief = owner.copy()
    const right = { currentPassword: password, code: codeOf(0) }
    const tried = await Promise.all([
      thief.ask('POST /user/two-factor/start', { body: { currentPassword: 'not it' } }),
      thief.ask('POST /user/two-factor/start', { body: { currentPassword: password } }),
      thief.ask('POST /user/two-factor', { body: { code: codeOf(1) } }),
      thief.ask('POST /user/two-factor/remove', { body: right }),
      thief.ask('POST /user/two-factor/recovery-codes', { body: right }),
      thief.ask('POST /auth/reauthenticate', { body: right }),
      thief.ask('POST /auth/reauthenticate', { body: { currentPassword: password } }),
    ])
    await new Browser(url).ask('POST /auth/forgot-password', { body: { email: owner.email } })
    const token = await newestLink(trial, post, owner.email, 'reset-password')
    const newPassword = 'another correct horse'
    await new Browser(url).ask('POST /auth/reset-password', { body: { token, newPassword } })
    const without = (await signInBy(undefined, newPassword)).status
    const withCode = (await signInBy(unused, newPassword)).status
    const statuses = tried.map(({ status }) => status)
    return {
      figure: `a code that was used ${replayed}; ten browsers with one code opened ${once} session, with one recovery code ${recovered}; the stolen session ${statuses.join(', ')}; a new password without a code ${without}, with one ${withCode}`,
      holds:
        replayed >= 400 && once <= 1 && recovered === 1 && statuses.every((status) => status >= 400) && without >= 400 && withCode === 200,
    }
  },
)

row('94', 'a second trial and month by deleting the account and signing up again', async (trial) => {
  trial.mustHold('no second trial, and the invoices of the month stay counted')
  const environment = await onPostgres(trial)
  const { url } = await startTarget(environment, {
    RAZORPAY_KEY_ID: 'rzp_test_1',
    RAZORPAY_KEY_SECRET: 'secret',
    RAZORPAY_API_URL: 'http://127.0.0.1:1',
  })
  type Plan = { newUntil: string | null; usage: { invoicesCreated: number } }
  const planOf = async (browser: Browser) => (await browser.ask('GET /subscription')).body as Plan
  const first = await signUp(url, { email: 'asha@example.com' })
  await environment.rows(`UPDATE accounts SET created_at = now() - interval '20 days'`)
  for (let nth = 0; nth < 3; nth += 1) await first.ask('POST /invoice', { body: overdueInvoice() })
  const before = await planOf(first)
  await first.ask('DELETE /user/account')
  const after = await planOf(await signUp(url, { email: 'ASHA+2@example.com' }))
  const shown = ({ newUntil, usage }: Plan) => `trial ${newUntil === null ? 'over' : 'running'}, ${usage.invoicesCreated} invoices counted`
  return {
    figure: `before: ${shown(before)}; after: ${shown(after)}`,
    holds: before.newUntil === null && after.newUntil === null && after.usage.invoicesCreated === 3,
  }
})

row('95', 'a session ended by its id, a deletion without a trace, and a page that asks for the camera', { short: true }, async (trial) => {
  trial.mustHold('ended 0; address and browser of the deletion in the audit log; the header is set')
  const { url } = await openTarget(trial)
  const owner = await signUp(url)
  const [sessionId = ''] = (owner.jar.get('refreshToken')?.value ?? '').split('.')
  const cookie = `refreshToken=${sessionId}.${'a'.repeat(43)}`
  let ended = 0
  for (const call of ['POST /auth/refresh', 'POST /auth/logout']) {
    await new Browser(url).ask(call, { headers: { cookie } })
    if ((await owner.ask('GET /user/profile')).status !== 200 || (await owner.ask('POST /auth/refresh')).status !== 200) ended += 1
  }
  const other = await signUp(url)
  const created = await other.ask('POST /invoice', { body: overdueInvoice() })
  const ids = [(created.body as { _id: string })._id]
  await other.ask('POST /invoices/change', {
    body: { ids, change: { do: 'delete' } },
    headers: { 'user-agent': 'Mozilla/5.0 (X11; Linux) Firefox/140.0' },
  })
  const entries = (await other.ask('GET /user/audit')).body as { kind: string; address: string; device: string }[]
  const entry = entries.find(({ kind }) => kind === 'invoice_deleted')
  const policy = created.headers.get('permissions-policy') ?? 'none'
  return {
    figure: `ended ${ended} of 2; logged with “${entry?.address}” and “${entry?.device}”; Permissions-Policy ${policy.includes('camera=()') ? 'set' : policy}`,
    holds: ended === 0 && entry?.address === '127.0.0.1' && entry.device === 'Firefox on Linux' && policy.includes('camera=()'),
  }
})
