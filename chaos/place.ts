import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { eq } from 'drizzle-orm'
import { createAccount } from '#server/accounts/accounts.ts'
import { signAccessToken } from '#server/accounts/sessions.ts'
import { accounts, sessions } from '#server/accounts/tables.ts'
import { invoices } from '#server/invoices/tables.ts'
import { storeSmtp } from '#server/mail/mail.ts'
import type { Instant } from '#server/platform/clock.ts'
import { newId } from '#server/platform/columns.ts'
import { type Database, openEmbedded, openServer } from '#server/platform/database.ts'
import { type FakeSmtp, openFakeSmtp, type SmtpOptions } from '#test/fakes/smtp-server.ts'
import { type Program, startProgram } from '#test/program.ts'
import { ask, type Cluster } from './cluster.ts'
import type { Chaos } from './scenario.ts'

export const secretKey = 'a secret key for chaos, 32 characters'
/** Where the program's files are kept ready to run: it is started some two hundred times. */
const compiled = path.join(tmpdir(), 'duely-chaos-compiled')
/** In flight in one process at most, and of one mailbox. */
export const inFlight = { process: 8, mailbox: 2 }

/** Somewhere to keep data, and the programs that run on it. */
export interface Place {
  env: Record<string, string>
  /** The database's address; null where it is the embedded one. */
  url: string | null
  /** Starts the real program here. It is killed when the scenario ends. */
  start(env?: Record<string, string>, to?: { outputFile?: number }): Promise<Program>
  /** Writes into the database before anything runs: the embedded one belongs to the program afterwards. */
  prepare<T>(work: (db: Database) => Promise<T>): Promise<T>
  /** Rows of a statement, on a server. */
  rows<R extends Record<string, unknown>>(statement: string, values?: unknown[]): Promise<R[]>
}

/** A database of its own on the server. */
export async function onServer({ stack }: Chaos, cluster: Cluster): Promise<Place> {
  const url = await cluster.makeDatabase()
  return {
    ...programsOn(stack, { DATABASE_URL: url, SECRET_KEY: secretKey }),
    url,
    async prepare(work) {
      const open = await openServer(url)
      try {
        return await work(open.db)
      } finally {
        await open.close()
      }
    },
    rows: (statement, values) => ask(url, statement, values),
  }
}

/** The embedded database in a folder of its own. */
export async function onFolder({ stack }: Chaos, within: string = tmpdir()): Promise<Place> {
  const folder = await mkdtemp(path.join(within, 'duely-chaos-'))
  stack.defer(() => rm(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 }))
  return {
    ...programsOn(stack, { DATA_DIR: folder, SECRET_KEY: secretKey }),
    url: null,
    async prepare(work) {
      const open = await openEmbedded(folder)
      try {
        return await work(open.db)
      } finally {
        await open.close()
      }
    },
    rows() {
      throw new Error('The embedded database belongs to its program.')
    },
  }
}

/** On the server where there is one, else embedded. */
export async function anywhere(chaos: Chaos): Promise<Place> {
  return chaos.cluster ? onServer(chaos, chaos.cluster) : onFolder(chaos)
}

function programsOn(stack: AsyncDisposableStack, env: Record<string, string>): Pick<Place, 'env' | 'start'> {
  return {
    env,
    async start(more = {}, to = {}) {
      const program = await startProgram({ ...env, LOG_LEVEL: 'warn', NODE_COMPILE_CACHE: compiled, ...more }, to)
      if (stack.disposed) {
        // The scenario was given up while this one was starting.
        await program.end('SIGKILL')
        throw new Error('Too late to start.')
      }
      stack.use(program)
      return program
    },
  }
}

/** A mail server that is gone when the scenario ends. */
export async function aMailServer({ stack }: Chaos, options: SmtpOptions = {}): Promise<FakeSmtp> {
  return stack.use(await openFakeSmtp(options))
}

export interface Person {
  id: string
  email: string
  sessionId: string
  invoices: { id: string; clientEmail: string }[]
}

export interface PeopleAbout {
  count: number
  /** How many invoices past due each of them has. */
  invoices: number
  smtp: Pick<FakeSmtp, 'host' | 'port' | 'login' | 'tls'> | { host: string; port: number; login: FakeSmtp['login']; tls: FakeSmtp['tls'] }
  timezone?: string
  now?: Instant
  /** Their reminders are active, and the next daily run is then. */
  nextRunAt?: Instant
  /** Begins their addresses and those of their clients. */
  name?: string
  daysLate?: number
}

/** People with a mailbox and invoices to clients of their own that are past due, written straight into the database. */
export async function people(db: Database, about: PeopleAbout): Promise<Person[]> {
  const { count, smtp, timezone = zoneAtNoon(), now = Temporal.Now.instant(), name = 'asha' } = about
  const dueDate = now
    .toZonedDateTimeISO(timezone)
    .toPlainDate()
    .subtract({ days: about.daysLate ?? 10 })
    .toString()
  const made: Person[] = []
  for (let nth = 0; nth < count; nth += 1) {
    const account = await createAccount(
      db,
      { displayName: 'Asha Rao', email: `${name}${nth}@example.com`, timezone, passwordHash: null },
      now,
    )
    const sessionId = newId()
    await db
      .insert(sessions)
      .values({ id: sessionId, ownerId: account.id, refreshHash: sessionId, rotatedAt: now, createdAt: now, lastSeenAt: now })
    const { host, port, login } = smtp
    await storeSmtp(db, secretKey, account.id, { host, port, secure: smtp.tls === 'ssl', ...login }, now)
    const owed = Array.from({ length: about.invoices }, (_none, which) => ({
      id: newId(),
      ownerId: account.id,
      reference: `INV-${String(which + 1).padStart(4, '0')}`,
      clientName: `Client ${which}`,
      clientEmail: `${name}${nth}.client${which}@example.com`,
      amountMinor: 10_000 + which,
      dueDate,
      status: 'overdue' as const,
      createdAt: now,
      updatedAt: now,
    }))
    for (let from = 0; from < owed.length; from += 1_000) await db.insert(invoices).values(owed.slice(from, from + 1_000))
    if (about.nextRunAt)
      await db.update(accounts).set({ remindersActive: true, nextRunAt: about.nextRunAt }).where(eq(accounts.id, account.id))
    made.push({ id: account.id, email: account.email, sessionId, invoices: owed.map(({ id, clientEmail }) => ({ id, clientEmail })) })
  }
  return made
}

/** Everybody these people should have written to. */
export function clientsOf(those: Person[]): string[] {
  return those.flatMap((one) => one.invoices.map(({ clientEmail }) => clientEmail))
}

/** A zone where it is about noon: the daily run may take place there for hours yet. */
export function zoneAtNoon(now: Instant = Temporal.Now.instant()): string {
  const ahead = 12 - now.toZonedDateTimeISO('UTC').hour
  return ahead === 0 ? 'Etc/GMT' : `Etc/GMT${ahead > 0 ? '-' : '+'}${Math.abs(ahead)}`
}

export interface Answer {
  status: number
  body: unknown
  /** When the answer was there, in milliseconds of the machine's clock, and how long it took. */
  at: number
  ms: number
}

/** One call by a person, over HTTP. `now` is the program's. */
export async function send(
  program: Pick<Program, 'url'>,
  person: Pick<Person, 'sessionId'> | null,
  call: string,
  about: { body?: object; now?: Instant; withinMs?: number } = {},
): Promise<Answer> {
  const [method = 'GET', where = '/'] = call.split(' ')
  const token = person && (await signAccessToken(secretKey, person.sessionId, about.now ?? Temporal.Now.instant()))
  const began = performance.now()
  const answered = await fetch(program.url + where, {
    method,
    headers: { ...(token ? { authorization: `Bearer ${token}` } : {}), ...(about.body ? { 'content-type': 'application/json' } : {}) },
    ...(about.body ? { body: JSON.stringify(about.body) } : {}),
    signal: AbortSignal.timeout(about.withinMs ?? 60_000),
  })
  const text = await answered.text()
  return { status: answered.status, body: text === '' ? undefined : parsed(text), at: Date.now(), ms: performance.now() - began }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}

/** How many mails are in which state. */
export async function states(place: Place): Promise<Record<string, number>> {
  const found = await place.rows<{ state: string; count: number }>('SELECT state, count(*)::int AS count FROM deliveries GROUP BY state')
  return Object.fromEntries(found.map(({ state, count }) => [state, count]))
}

/** Whether that many mails exist and none of them is open any more. */
export async function allClosed(place: Place, count: number): Promise<boolean> {
  const now = await states(place)
  const open = (now.queued ?? 0) + (now.sending ?? 0) + (now.retrying ?? 0) + (now.held ?? 0)
  return open === 0 && Object.values(now).reduce((sum, one) => sum + one, 0) >= count
}
