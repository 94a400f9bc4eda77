import { readFileSync } from 'node:fs'
import PostalMime from 'postal-mime'
import { businessHeader } from '#contract/call.ts'
import { stepOf, totpAt } from '#server/accounts/totp.ts'
import type { FakeGoogle } from '#test/fakes/google.ts'
import type { FakeSmtp } from '#test/fakes/smtp-server.ts'
import { type Environment, onAnyDatabase, parsed } from '#test/faults/environment.ts'
import type { Trial } from '#test/faults/row.ts'
import { freePort, type Program } from '#test/program.ts'

export const password = 'correct horse battery'

export interface Answered {
  status: number
  /** The body as JSON, or as the text that it is. */
  body: unknown
  text: string
  headers: Headers
  ms: number
}

/** Every answer that a browser received, so that a row can search all of them for secrets. */
export const everyAnswer: { call: string; text: string }[] = []

/** A browser, or a program that behaves as one: it keeps cookies and sends those whose path matches. */
export class Browser {
  readonly url: string
  readonly jar = new Map<string, { value: string; path: string }>()
  email = ''
  /** Of its person. */
  secret = password
  token: string | null
  /** The business that its calls name; null: none. */
  business: string | null = null

  constructor(url: string, token: string | null = null) {
    this.url = url
    this.token = token
  }

  async ask(call: string, about: { body?: unknown; raw?: string; headers?: Record<string, string> } = {}): Promise<Answered> {
    const [method = 'GET', path = '/'] = call.split(' ')
    const body = about.raw ?? (about.body === undefined ? undefined : JSON.stringify(about.body))
    const began = performance.now()
    const answered = await fetch(this.url + path, {
      method,
      redirect: 'manual',
      headers: {
        ...(about.body === undefined ? {} : { 'content-type': 'application/json' }),
        ...(this.token === null ? {} : { authorization: `Bearer ${this.token}` }),
        ...(this.business === null ? {} : { [businessHeader]: this.business }),
        ...this.cookie(path),
        ...about.headers,
      },
      ...(body === undefined ? {} : { body }),
      signal: AbortSignal.timeout(60_000),
    })
    const text = await answered.text()
    everyAnswer.push({ call: `${method} ${path.split('?')[0]}`, text })
    for (const line of answered.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? []
      this.jar.set(name, { value, path: /Path=([^;]+)/i.exec(line)?.[1] ?? '/' })
    }
    return { status: answered.status, body: parsed(text), text, headers: answered.headers, ms: performance.now() - began }
  }

  /** Where an address redirects to. */
  async visit(address: URL): Promise<URL> {
    const answered = await this.ask(`GET ${address.pathname}${address.search}`)
    return new URL(answered.headers.get('location') ?? '', this.url)
  }

  /** A copy with the present cookies, as a thief or a second tab has it. */
  copy(): Browser {
    const other = new Browser(this.url, this.token)
    for (const [name, kept] of this.jar) other.jar.set(name, kept)
    return other
  }

  cookie(path: string): Record<string, string> {
    const matching = [...this.jar].filter(([, kept]) => path.startsWith(kept.path) && kept.value !== '')
    return matching.length === 0 ? {} : { cookie: matching.map(([name, { value }]) => `${name}=${value}`).join('; ') }
  }

  /** What shows that its person themselves ask, where a session is not enough. */
  get proof(): { currentPassword: string } {
    return { currentPassword: this.secret }
  }

  /** The id of its person. */
  async personId(): Promise<string> {
    return ((await this.ask('GET /user/profile')).body as { _id: string })._id
  }

  /** The id of its account. */
  async accountId(): Promise<string> {
    return ((await this.ask('GET /api/me')).body as { businessId: string }).businessId
  }

  /** Stores a mailbox at this server, and answers how that went. */
  saveMailbox({ host, port, login }: Pick<FakeSmtp, 'host' | 'port' | 'login'>): Promise<Answered> {
    return this.ask('POST /mail-config/smtp', { body: { host, port, secure: false, ...login, ...this.proof } })
  }
}

/** Signs in to an existing account; null where that was refused. */
export async function signIn(url: string, email: string, secret: string = password): Promise<Browser | null> {
  const browser = new Browser(url)
  const answered = await browser.ask('POST /auth', { body: { email, password: secret } })
  if (answered.status !== 200) return null
  browser.email = email
  browser.secret = secret
  browser.token = (answered.body as { accessToken: string }).accessToken
  return browser
}

/** The link in the newest email to an address. */
export async function newestLink(trial: Trial, systemMail: FakeSmtp, email: string, page: string): Promise<string> {
  return trial.until(`a link for ${page} arrives`, async () => {
    for (const { envelope, raw } of systemMail.mails.toReversed()) {
      const [, token] = new RegExp(`/${page}#token=([\\w-]{43})`).exec((await PostalMime.parse(raw)).text ?? '') ?? []
      if (token && envelope.to.includes(email)) return token
    }
    return null
  })
}

/** Opens the link that was sent to a new account, in its session. */
export async function confirmEmail(trial: Trial, systemMail: FakeSmtp, browser: Browser): Promise<void> {
  const token = await newestLink(trial, systemMail, browser.email, 'confirm-email')
  const { status, text } = await browser.ask('POST /auth/confirm-email', { body: { token } })
  if (status !== 200) throw new Error(`Confirming ${browser.email}: ${status} ${text}`)
}

/** Answers the secret of the authenticator, and the recovery codes. */
export async function enableTwoFactor(browser: Browser): Promise<{ secret: string; recoveryCodes: string[] }> {
  const { secret } = (await browser.ask('POST /user/two-factor/start', { body: { currentPassword: password } })).body as { secret: string }
  const code = totpAt(secret, stepOf(Temporal.Now.instant()))
  const { recoveryCodes } = (await browser.ask('POST /user/two-factor', { body: { code } })).body as { recoveryCodes: string[] }
  return { secret, recoveryCodes }
}

let signedUp = 0

/** A new account, signed in. */
export async function signUp(url: string, about: { email?: string; displayName?: string; secret?: string } = {}): Promise<Browser> {
  signedUp += 1
  const { email = `user${signedUp}@example.com`, displayName = 'Meera Nair', secret = password } = about
  const answered = await new Browser(url).ask('POST /user', { body: { email, displayName, password: secret, timezone: 'Asia/Kolkata' } })
  if (answered.status !== 201) throw new Error(`Signing up ${email}: ${answered.status} ${answered.text}`)
  const browser = await signIn(url, email, secret)
  if (!browser) throw new Error(`Signing in ${email} was refused.`)
  return browser
}

/** Starts the program with a public URL that is its real address. */
export async function startTarget(environment: Environment, env: Record<string, string> = {}): Promise<Program> {
  const port = String(await freePort())
  return environment.start({ PORT: port, PUBLIC_URL: `http://127.0.0.1:${port}`, ...env })
}

/** A program on a database of its own. */
export async function openTarget(trial: Trial, env: Record<string, string> = {}): Promise<Program> {
  return startTarget(await onAnyDatabase(trial), env)
}

export function googleEnv(google: FakeGoogle): Record<string, string> {
  return {
    GOOGLE_CLIENT_ID: google.client.clientId,
    GOOGLE_CLIENT_SECRET: google.client.clientSecret,
    GOOGLE_ISSUER: google.url,
    GMAIL_API_URL: google.url,
  }
}

/** The program's own email leaves through this server. */
export function systemMailEnv({ host, port, login }: FakeSmtp): Record<string, string> {
  return {
    SYSTEM_SMTP_URL: `smtp://${encodeURIComponent(login.user)}:${login.pass}@${host}:${port}`,
    SYSTEM_MAIL_FROM: 'Duely <post@duely.example>',
  }
}

/** An invoice that is ten days overdue. */
export function overdueInvoice(about: { clientName?: string; clientEmail?: string; amount?: number } = {}): object {
  const dueDate = Temporal.Now.plainDateISO('Asia/Kolkata').subtract({ days: 10 }).toString()
  return { clientName: 'Kaveri Foods', clientEmail: 'billing@kaveri.example', amount: 1200.5, dueDate, ...about }
}

/** Every row of every table but the counts of tries, and of the program's own heartbeat. */
export async function everyRow(environment: Environment): Promise<string> {
  const tables = await environment.rows(
    "SELECT table_name AS name FROM information_schema.tables WHERE table_schema = 'public' AND table_type = 'BASE TABLE' ORDER BY 1",
  )
  const left = new Set(['throttles', 'processes', 'jobs', 'leases', 'steps'])
  const all: string[] = []
  for (const { name } of tables as { name: string }[])
    if (!left.has(name)) all.push(`${name} ${JSON.stringify(await environment.rows(`SELECT t::text AS row FROM "${name}" t ORDER BY 1`))}`)
  return all.join('\n')
}

/** Addresses in an email or a page that lead to this program. */
export function addressesIn(text: string, url: string): string[] {
  const found = [...text.matchAll(/(?:href|src|action)="([^"]+)"|(https?:\/\/[^\s"<>]+)/g)].map(
    ([, quoted, plain]) => quoted ?? plain ?? '',
  )
  return found
    .map((one) => one.replaceAll('&amp;', '&'))
    .filter((one) => URL.canParse(one, url) && new URL(one, url).origin === new URL(url).origin)
    .map((one) => new URL(one, url).pathname + new URL(one, url).search)
}

/** Milliseconds of CPU that a process has used: other processes of a busy machine do not count, as they do in time. */
export function cpuOf(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? []
  return (Number(fields[11]) + Number(fields[12])) * 10
}
