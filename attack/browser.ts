import { anywhere, type Place } from '#chaos/place.ts'
import type { Chaos } from '#chaos/scenario.ts'
import type { FakeGoogle } from '#test/fakes/google.ts'
import type { Program } from '#test/program.ts'
import { freePort } from '#test/program.ts'

export const password = 'correct horse battery'

export interface Answered {
  status: number
  /** The body as JSON, or as the text that it is. */
  body: unknown
  text: string
  headers: Headers
  ms: number
}

/** Every answer that a browser of this run was given: what must not be in any of them is looked for at the end. */
export const everyAnswer: { call: string; text: string }[] = []

/** Somebody's browser, or a program that behaves as one: it keeps cookies and shows those whose path fits. */
export class Browser {
  readonly url: string
  readonly jar = new Map<string, { value: string; path: string }>()
  email = ''
  token: string | null = null

  constructor(url: string) {
    this.url = url
  }

  async ask(
    call: string,
    about: { body?: unknown; raw?: string; headers?: Record<string, string>; seconds?: number } = {},
  ): Promise<Answered> {
    const [method = 'GET', path = '/'] = call.split(' ')
    const body = about.raw ?? (about.body === undefined ? undefined : JSON.stringify(about.body))
    const began = performance.now()
    const answered = await fetch(this.url + path, {
      method,
      redirect: 'manual',
      headers: {
        ...(about.body === undefined ? {} : { 'content-type': 'application/json' }),
        ...(this.token === null ? {} : { authorization: `Bearer ${this.token}` }),
        ...this.cookie(path),
        ...about.headers,
      },
      ...(body === undefined ? {} : { body }),
      signal: AbortSignal.timeout((about.seconds ?? 60) * 1000),
    })
    const text = await answered.text()
    everyAnswer.push({ call: `${method} ${path.split('?')[0]}`, text })
    this.keep(answered.headers)
    return { status: answered.status, body: parsed(text), text, headers: answered.headers, ms: performance.now() - began }
  }

  /** Where an address sends it. */
  async visit(address: URL): Promise<URL> {
    const answered = await this.ask(`GET ${address.pathname}${address.search}`)
    return new URL(answered.headers.get('location') ?? '', this.url)
  }

  /** A copy with the cookies of now, as a thief or a second tab has it. */
  copy(): Browser {
    const other = new Browser(this.url)
    for (const [name, kept] of this.jar) other.jar.set(name, kept)
    other.token = this.token
    return other
  }

  cookie(path: string): Record<string, string> {
    const fitting = [...this.jar].filter(([, kept]) => path.startsWith(kept.path) && kept.value !== '')
    return fitting.length === 0 ? {} : { cookie: fitting.map(([name, { value }]) => `${name}=${value}`).join('; ') }
  }

  private keep(headers: Headers): void {
    for (const line of headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? []
      this.jar.set(name, { value, path: /Path=([^;]+)/i.exec(line)?.[1] ?? '/' })
    }
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}

/** Signs an existing account in. Answers the browser, or null where it was refused. */
export async function signIn(url: string, email: string, secret: string = password): Promise<Browser | null> {
  const browser = new Browser(url)
  const answered = await browser.ask('POST /auth', { body: { email, password: secret } })
  if (answered.status !== 200) return null
  browser.email = email
  browser.token = (answered.body as { accessToken: string }).accessToken
  return browser
}

let made = 0

/** Somebody new, signed in. */
export async function somebody(url: string, about: { email?: string; displayName?: string; secret?: string } = {}): Promise<Browser> {
  made += 1
  const { email = `somebody${made}@example.com`, displayName = 'Meera Nair', secret = password } = about
  const answered = await new Browser(url).ask('POST /user', { body: { email, displayName, password: secret, timezone: 'Asia/Kolkata' } })
  if (answered.status !== 201) throw new Error(`Signing up ${email}: ${answered.status} ${answered.text}`)
  const browser = await signIn(url, email, secret)
  if (!browser) throw new Error(`Signing in ${email} was refused.`)
  return browser
}

export interface Target {
  place: Place
  program: Program
}

/** The program to be attacked, at an address that it knows of itself. */
export async function aTarget(chaos: Chaos, env: Record<string, string> = {}): Promise<Target> {
  const place = await anywhere(chaos)
  return { place, program: await startAt(place, env) }
}

/** A program at a place, at an address that it knows of itself. */
export async function startAt(place: Place, env: Record<string, string> = {}): Promise<Program> {
  const port = String(await freePort())
  return place.start({ PORT: port, PUBLIC_URL: `http://127.0.0.1:${port}`, ...env })
}

export function googleEnv(google: FakeGoogle): Record<string, string> {
  return {
    GOOGLE_CLIENT_ID: google.client.clientId,
    GOOGLE_CLIENT_SECRET: google.client.clientSecret,
    GOOGLE_ISSUER: google.url,
    GMAIL_API_URL: google.url,
  }
}

/** An invoice that is ten days late. */
export function lateInvoice(about: { clientName?: string; clientEmail?: string } = {}): object {
  const dueDate = Temporal.Now.plainDateISO('Asia/Kolkata').subtract({ days: 10 }).toString()
  return { clientName: 'Kaveri Foods', clientEmail: 'billing@kaveri.example', amount: 1200.5, dueDate, ...about }
}
