import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { inArray } from 'drizzle-orm'
import { inject } from 'vitest'
import { signAccessToken } from '#server/accounts/sessions.ts'
import { accounts, memberships, people, sessions } from '#server/accounts/tables.ts'
import { invoices } from '#server/invoices/tables.ts'
import { storeSmtp } from '#server/mail/mail.ts'
import { sealPassword } from '#server/mail/sender.ts'
import { mailConfigs } from '#server/mail/tables.ts'
import type { Instant } from '#server/platform/clock.ts'
import { newId } from '#server/platform/columns.ts'
import { type Database, openEmbedded, openServer } from '#server/platform/database.ts'
import { dayAfter, startOfDay } from '#server/reminders/schedule.ts'
import { type FakeSmtp, openFakeSmtp, type SmtpOptions } from '#test/fakes/smtp-server.ts'
import { type Cluster, createDatabase, query, templateDatabase } from '#test/postgres.ts'
import { copyTemplate, type Program, startProgram } from '#test/program.ts'
import type { Trial } from './row.ts'

export const secretKey = 'a secret key for faults, 32 characters'
/**
 * At most this many emails are in flight or not yet recorded in one process, and from one mailbox; and so many are claimed from one mailbox.
 */
export const inFlight = { process: 256, mailbox: 8, claimed: 2 }

/** A database, and the programs that run on it. */
export interface Environment {
  env: Record<string, string>
  /** The database's address; empty for the embedded one. */
  url: string
  /** Starts the real program. It is killed when the row ends. */
  start(env?: Record<string, string>, to?: { outputFile?: number }): Promise<Program>
  /** Writes into the database before any program runs: the embedded one belongs to the program afterwards. */
  prepare<T>(work: (db: Database) => Promise<T>): Promise<T>
  createAccounts(about: AccountsAbout): Promise<[Account, ...Account[]]>
  /** Rows of a statement, on PostgreSQL. */
  rows<R extends Record<string, unknown>>(statement: string, values?: unknown[]): Promise<R[]>
  /** How many deliveries are in which state. */
  states(): Promise<Record<string, number>>
  /** Waits until that many deliveries exist and all are closed. */
  untilClosed(count: number, about?: { seconds?: number; everyMs?: number }): Promise<void>
}

/** A database of its own on PostgreSQL: the server that all rows share, where it is migrated unless it has to be `empty`, or `cluster`. */
export async function onPostgres(
  trial: Trial,
  { cluster = null, empty = false }: { cluster?: Pick<Cluster, 'url'> | null; empty?: boolean } = {},
): Promise<Environment> {
  const shared = inject('postgres')
  const server = cluster ?? shared
  if (!server) return trial.skip('there is no PostgreSQL on this machine')
  const url = await createDatabase(server.url, cluster || empty ? {} : { copyOf: templateDatabase })
  return environment(trial, { DATABASE_URL: url, SECRET_KEY: secretKey }, url, () => openServer(url))
}

/** The embedded database in a folder of its own, migrated or empty. */
export async function embedded(trial: Trial, { within = tmpdir(), empty = false } = {}): Promise<Environment> {
  const folder = await mkdtemp(path.join(within, 'duely-faults-'))
  if (!empty) await copyTemplate(folder)
  trial.stack.defer(() => rm(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 }))
  return environment(trial, { DATA_DIR: folder, SECRET_KEY: secretKey }, '', () => openEmbedded(folder))
}

/** PostgreSQL where the machine has it, else embedded. */
export async function onAnyDatabase(trial: Trial): Promise<Environment> {
  return inject('postgres') ? onPostgres(trial) : embedded(trial)
}

function environment(
  { stack, until }: Trial,
  env: Record<string, string>,
  url: string,
  open: () => Promise<{ db: Database; close(): Promise<void> }>,
): Environment {
  const prepare: Environment['prepare'] = async (work) => {
    const { db, close } = await open()
    return work(db).finally(close)
  }
  const rows: Environment['rows'] = (statement, values) => {
    if (!url) throw new Error('The embedded database belongs to its program.')
    return query(url, statement, values)
  }
  const states = async () => {
    const found = await rows<{ state: string; count: number }>('SELECT state, count(*)::int AS count FROM deliveries GROUP BY state')
    return Object.fromEntries(found.map(({ state, count }) => [state, count]))
  }
  return {
    env,
    url,
    prepare,
    rows,
    states,
    createAccounts: (about) => prepare((db) => createAccounts(db, about)),
    async start(more = {}, to = {}) {
      const program = await startProgram({ ...env, LOG_LEVEL: 'warn', ...more }, to)
      if (stack.disposed) {
        await program.end('SIGKILL')
        throw new Error('The row ended while a program was starting.')
      }
      return stack.use(program)
    },
    async untilClosed(count, about = {}) {
      const allClosed = async () => {
        const { queued = 0, sending = 0, retrying = 0, held = 0, ...closed } = await states()
        return queued + sending + retrying + held === 0 && Object.values(closed).reduce((sum, one) => sum + one, 0) >= count
      }
      // A database without room for temporary files refuses to answer.
      await until('every delivery is closed', () => allClosed().catch(() => false), { everyMs: 200, ...about }).catch(
        async (error: unknown) => {
          const which = await states().catch(String)
          throw new Error(`${(error as Error).message} Their states: ${JSON.stringify(which)}`, { cause: error })
        },
      )
    },
  }
}

/** A mail server that is closed when the row ends. */
export async function openMailServer({ stack }: Trial, options: SmtpOptions = {}): Promise<FakeSmtp> {
  return stack.use(await openFakeSmtp(options))
}

export interface Account {
  id: string
  email: string
  sessionId: string
  invoices: { id: string; clientEmail: string }[]
}

interface AccountsAbout {
  count?: number
  /** How many overdue invoices each of them has. */
  invoices: number
  smtp: Pick<FakeSmtp, 'port' | 'login' | 'tls'> & { host: string }
  timezone?: string
  now?: Instant
  /** Their reminders are active, and the next daily run is then. */
  nextRunAt?: Instant
  /** Their reminders are active, and a daily run is due. */
  due?: boolean
  /** Begins their addresses and those of their clients. */
  name?: string
}

/** Rows written by one statement: a row may have twenty values, and a statement at most 65,535. */
const rowsAtOnce = 1_000

/** Accounts with a mailbox and overdue invoices to clients of their own, written straight into the database. */
async function createAccounts(db: Database, about: AccountsAbout): Promise<[Account, ...Account[]]> {
  const { smtp, timezone = zoneAtNoon(), now = Temporal.Now.instant(), name = 'asha', count = 1 } = about
  const nextRunAt = about.nextRunAt ?? (about.due ? now : null)
  const today = now.toZonedDateTimeISO(timezone).toPlainDate()
  const dueDate = today.subtract({ days: 10 }).toString()
  const create = (nth: number): Account => ({
    id: newId(),
    email: `${name}${nth}@example.com`,
    sessionId: newId(),
    invoices: Array.from({ length: about.invoices }, (_none, which) => ({
      id: newId(),
      clientEmail: `${name}${nth}.client${which}@example.com`,
    })),
  })
  const first = create(0)
  const all: [Account, ...Account[]] = [first, ...Array.from({ length: count - 1 }, (_none, nth) => create(nth + 1))]
  const inParts = async <T>(rows: T[], insert: (part: T[]) => Promise<unknown>) => {
    for (let from = 0; from < rows.length; from += rowsAtOnce) await insert(rows.slice(from, from + rowsAtOnce))
  }
  await inParts(all, async (part) => {
    const owners = await db
      .insert(people)
      .values(part.map(({ email }) => ({ email, displayName: 'Asha Rao', createdAt: now, updatedAt: now })))
      .returning({ personId: people.id })
    await db.insert(accounts).values(
      part.map(({ id }) => ({
        id,
        timezone,
        createdAt: now,
        updatedAt: now,
        nextMidnightAt: startOfDay(dayAfter(today.toString()), timezone),
      })),
    )
    const owned = part.flatMap(({ id, sessionId }, nth) => (owners[nth] ? [{ id, sessionId, ...owners[nth] }] : []))
    await db.insert(memberships).values(owned.map(({ id, personId }) => ({ ownerId: id, personId, role: 'owner' as const, joinedAt: now })))
    await db.insert(sessions).values(
      owned.map(({ personId, sessionId }) => ({
        id: sessionId,
        personId,
        refreshHash: sessionId,
        rotatedAt: now,
        createdAt: now,
        lastSeenAt: now,
      })),
    )
  })
  const { host, port, login } = smtp
  const sender = await storeSmtp(db, secretKey, first.id, { host, port, secure: smtp.tls === 'ssl', ...login }, now)
  await inParts(all.slice(1), (part) =>
    db.insert(mailConfigs).values(
      part.map(({ id }) => ({
        ...sender,
        ownerId: id,
        place: id,
        senderId: newId(),
        sealedPassword: sealPassword(secretKey, id, login.pass),
      })),
    ),
  )
  const owed = all.flatMap(({ id, invoices: its }) => its.map((one, which) => ({ ...one, ownerId: id, which })))
  await inParts(owed, (part) =>
    db.insert(invoices).values(
      part.map(({ which, ...one }) => ({
        ...one,
        reference: `INV-${String(which + 1).padStart(4, '0')}`,
        clientName: `Client ${which}`,
        amountMinor: 10_000 + which,
        issuedOn: dueDate,
        dueDate,
        status: 'overdue' as const,
        createdAt: now,
        updatedAt: now,
      })),
    ),
  )
  // Last: a program that works must not make a run of accounts without mailboxes and invoices.
  if (nextRunAt)
    await inParts(all, (part) =>
      db
        .update(accounts)
        .set({ nextRunAt, remindersActive: true })
        .where(
          inArray(
            accounts.id,
            part.map(({ id }) => id),
          ),
        ),
    )
  return all
}

/** A zone where it is about noon: the daily run may take place there for hours yet. */
function zoneAtNoon(): string {
  const ahead = 12 - Temporal.Now.zonedDateTimeISO('UTC').hour
  return ahead === 0 ? 'Etc/GMT' : `Etc/GMT${ahead > 0 ? '-' : '+'}${Math.abs(ahead)}`
}

export interface Answer {
  status: number
  body: unknown
  /** When the answer arrived, in milliseconds of the machine's clock, and how long it took. */
  at: number
  ms: number
}

/** One call by an account, over HTTP. `now` is the program's; `from` is the address that a proxy reports. */
export async function send(
  program: Pick<Program, 'url'>,
  account: Pick<Account, 'sessionId'> | null,
  call: string,
  about: { body?: object; now?: Instant; withinMs?: number; from?: string } = {},
): Promise<Answer> {
  const [method = 'GET', where = '/'] = call.split(' ')
  const token = account && (await signAccessToken(secretKey, account.sessionId, about.now ?? Temporal.Now.instant()))
  const began = performance.now()
  const answered = await fetch(program.url + where, {
    method,
    headers: {
      ...(token ? { authorization: `Bearer ${token}` } : {}),
      ...(about.body ? { 'content-type': 'application/json' } : {}),
      ...(about.from ? { 'x-forwarded-for': about.from } : {}),
    },
    ...(about.body ? { body: JSON.stringify(about.body) } : {}),
    signal: AbortSignal.timeout(about.withinMs ?? 60_000),
  })
  const text = await answered.text()
  return { status: answered.status, body: parsed(text), at: Date.now(), ms: performance.now() - began }
}

/** The body of an answer: JSON where it is JSON. */
export function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}

/** Waits until the newest run of each account is finished. */
export async function untilRunsFinish(trial: Trial, program: Program, those: Account[]): Promise<void> {
  for (const account of those) {
    const finished = async () => {
      const [run] = (await send(program, account, 'GET /reminder/runs')).body as { finishedAt: string | null; total: number }[]
      return run && run.total >= account.invoices.length && run.finishedAt !== null
    }
    await trial.until(`the run of ${account.email} is finished`, finished, { everyMs: 200 })
  }
}

export function isAlive({ ended }: Program): Promise<boolean> {
  return Promise.race([ended.then(() => false), pause(10, true)])
}

/** The errors that a program has logged. */
export function errorsLogged(...programs: Program[]): string[] {
  return programs.flatMap((program) =>
    program
      .output()
      .split('\n')
      .filter((line) => line.includes('"level":50')),
  )
}
