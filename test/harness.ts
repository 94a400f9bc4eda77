import { randomUUID } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import { sql } from 'drizzle-orm'
import { inject } from 'vitest'
import type { Call, CallInput, CallReply } from '#contract/call.ts'
import type { Problem } from '#contract/problem.ts'
import { signAccessToken } from '#server/accounts/sessions.ts'
import { openCalls } from '#server/app.ts'
import { type Config, readConfig } from '#server/config.ts'
import { wakeWebhooks } from '#server/integrations/integrations.ts'
import { limitsOf } from '#server/mail/mail.ts'
import { openMailer } from '#server/mail/transports.ts'
import type { App } from '#server/platform/answer.ts'
import { type Clock, type Instant, systemTimers } from '#server/platform/clock.ts'
import { newId } from '#server/platform/columns.ts'
import { type Database, type OpenDatabase, openServer, wrapEmbedded } from '#server/platform/database.ts'
import type { Deps } from '#server/platform/deps.ts'
import { openQueue, type Queue } from '#server/platform/job.ts'
import { openLog } from '#server/platform/log.ts'
import { type Delivering, releaseEnded } from '#server/reminders/deliver.ts'
import { beat } from '#server/reminders/processes.ts'
import { openSending } from '#server/reminders/sending.ts'
import { reconcileDue, sweep, tick, works } from '#server/worker.ts'
import { createDatabase, templateDatabase } from './postgres.ts'
import { toldByAnswer, toldByLog, untoldByDatabase } from './secrets-told.ts'
import { engineFromTemplate } from './template.ts'

export { engineFromTemplate }

/** A clock that only moves when a test moves it. */
export interface TestClock extends Clock {
  set(instant: string): void
  advance(duration: Temporal.DurationLike): void
}

export interface TestApp extends AsyncDisposable {
  app: App
  db: Database
  clock: TestClock
  deps: Delivering
  /** Runs everything due or queued, like a worker, until nothing is left. */
  runJobs(): Promise<void>
  /** Runs jobs while a call waits for them: Start and Send Now respond after their emails were attempted. */
  whileJobsRun<T>(call: Promise<T>): Promise<T>
  /** Lines logged as errors. A test that expects one removes it; any that remains fails the test. */
  errorsLogged: string[]
  /** Secrets found in the log, in a response or, after the app is disposed of, in the database. Same rule. */
  secretsTold: string[]
}

/** A caller: with a session, with a token, or unauthenticated (`null`). */
export type Asker = { sessionId: string } | { token: string } | null

export interface Answered<C extends Call> {
  status: number
  /** The response of a success. */
  reply: CallReply<C>
  /** The problem of a refusal; undefined on a success. */
  problem: Problem | undefined
  headers: Record<string, string | string[] | number | undefined>
}

interface Shared {
  database: OpenDatabase
  queue: Queue
}
/** Opened once per worker: test files of a worker share it, and every test begins with empty tables. */
let shared: Promise<Shared> | null = null
/** Checked after every test by database-setup.ts. */
export const errorsLogged: string[] = []
export const secretsTold: string[] = []

const usualConfig: Config = readConfig({
  PORT: '0',
  SECRET_KEY: 'a secret key for tests, 32 characters',
  RATE_LIMIT: 'off',
  SMTP_ALLOW_PRIVATE_HOSTS: 'true',
})

interface Calls {
  app: App
  clock: TestClock
  /** What the handlers of the calls have; a test may change its `config`. */
  deps: Deps
}

/** With the usual configuration, until a test takes it: registering every call takes as long as most tests. */
let usualCalls: Calls | null = null

async function openTestCalls({ database, queue }: Shared, config: Config): Promise<Calls> {
  const clock = testClock()
  const deps: Deps = { db: database.db, clock, queue, log: testLog(), config }
  const app = await openCalls(deps)
  app.addHook('onSend', async ({ method, url }, _reply, payload) => {
    if (typeof payload === 'string')
      secretsTold.push(...toldByAnswer(payload).map((secret) => `${secret} in the answer of ${method} ${url}`))
    return payload
  })
  return { app, clock, deps }
}

/** The program on a real, empty database, with an injected clock. With a `config`, even an empty one, its calls are its own: a test may add some. */
export async function openTestApp(options: { now?: string; config?: Partial<Config> } = {}): Promise<TestApp> {
  shared ??= openShared()
  const { database, queue } = await shared
  await emptyTables(database.db)
  const kept = options.config ? null : usualCalls
  if (kept) usualCalls = null
  const calls = kept ?? (await openTestCalls(await shared, { ...usualConfig, ...options.config }))
  const { app, clock, deps: own } = calls
  const { config, log } = own
  clock.set(options.now ?? '2026-03-02T09:00:00Z')
  const mailer = openMailer({ db: database.db, config, log, clock })
  const processId = newId()
  const deps: Delivering = {
    ...own,
    ...openSending(own, { processId, embedded: database.embedded !== null }),
    mailer,
    processId,
    random: () => 0.5,
    limitsOf,
  }
  await beat(deps.db, deps.processId)
  const jobs = works(deps)
  const runJobs = async () => {
    for (let more = true; more; ) {
      await tick(deps)
      await reconcileDue(deps)
      await releaseEnded(deps)
      await sweep(deps)
      await wakeWebhooks(deps)
      more = false
      while ((await queue.runWaiting(jobs)) > 0) more = true
    }
  }
  return {
    app,
    db: database.db,
    clock,
    deps,
    errorsLogged,
    secretsTold,
    runJobs,
    async whileJobsRun(call) {
      let waiting = true
      const done = call.finally(() => {
        waiting = false
      })
      while (waiting) {
        await runJobs()
        // The call looks again and again whether its jobs are done; looking for more of them meanwhile costs as much as most tests.
        await Promise.race([done, pause(20)]).catch(() => undefined)
      }
      return done
    },
    async [Symbol.asyncDispose]() {
      if (options.config || usualCalls || app.server.listening) await app.close()
      else {
        Object.assign(config, usualConfig)
        usualCalls = calls
      }
      await mailer.close()
      // One database is enough for this: what is stored does not depend on which PostgreSQL stores it.
      if (database.embedded || process.env.TEST_POSTGRES === 'mostly') secretsTold.push(...(await secretsIn(database.db)))
    },
  }
}

/** Sends a call through the whole server, as `someone`. Extra headers override the default ones. */
export async function ask<C extends Call>(
  app: TestApp,
  someone: Asker,
  call: C,
  ...[input, headers]: Record<never, never> extends CallInput<C>
    ? [input?: CallInput<C>, headers?: Record<string, string>]
    : [input: CallInput<C>, headers?: Record<string, string>]
): Promise<Answered<C>> {
  const parts = (input ?? {}) as { params?: Record<string, string>; query?: Record<string, string>; body?: object }
  const url = call.path.replace(/:(\w+)/g, (_all, name: string) => encodeURIComponent(parts.params?.[name] ?? randomUUID()))
  const token =
    someone &&
    ('sessionId' in someone ? await signAccessToken(app.deps.config.secretKey, someone.sessionId, app.clock.now()) : someone.token)
  const answered = await app.app.inject({
    method: call.method,
    url,
    query: parts.query ?? {},
    headers: { ...(token ? { authorization: `Bearer ${token}` } : {}), ...headers },
    ...(parts.body === undefined ? {} : { payload: parts.body }),
  })
  const body = answered.body === '' ? undefined : (JSON.parse(answered.body) as unknown)
  const success = answered.statusCode < 400
  return {
    status: answered.statusCode,
    reply: (success ? body : undefined) as CallReply<C>,
    problem: success ? undefined : (body as Problem),
    headers: answered.headers,
  }
}

function testClock(): TestClock {
  let current: Instant = Temporal.Instant.fromEpochMilliseconds(0)
  return {
    ...systemTimers,
    now: () => current,
    set(instant) {
      current = Temporal.Instant.from(instant)
    },
    advance(duration) {
      current = current.toZonedDateTimeISO('UTC').add(duration).toInstant()
    },
  }
}

function testLog(): Deps['log'] {
  const destination = {
    write(line: string) {
      if (process.env.SHOW_LOG) process.stdout.write(line)
      const { level } = JSON.parse(line) as { level: number }
      if (level >= 50) errorsLogged.push(line)
      secretsTold.push(...toldByLog(line).map((secret) => `${secret} in the log: ${line}`))
    },
  }
  return openLog({ level: 'trace', terminal: false, destination })
}

/** A busy machine may take longer for everything than the program allows it. No connection is closed, because a new one has to read the catalogue. */
const patient = { transaction: 300_000, connect: 300_000, turn: 300_000, idle: 0 }

async function openShared(): Promise<Shared> {
  const server = inject('postgresUrl')
  const database = server
    ? await openServer(await createDatabase(server, { copyOf: templateDatabase }), undefined, patient)
    : await wrapEmbedded(await engineFromTemplate(), undefined, patient)
  const queue = await openQueue({ db: database.db, log: testLog(), soleProcess: !server, timers: systemTimers })
  return { database, queue }
}

/** The tables that ever had a row: the others take no space. */
const used = sql`pg_class WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace AND pg_relation_size(oid) > 0`

/** Most tables are empty, and deleting the few rows of the others is several times faster than TRUNCATE. As a replica no trigger fires. */
async function emptyTables(db: Database): Promise<void> {
  await db.execute(sql`DO $$
    DECLARE name text; filled boolean;
    BEGIN
      SET LOCAL session_replication_role = replica;
      FOR name IN SELECT relname FROM ${used} LOOP
        EXECUTE format('SELECT EXISTS (SELECT FROM %I)', name) INTO filled;
        IF filled THEN EXECUTE format('DELETE FROM %I', name); END IF;
      END LOOP;
    END $$`)
}

/** All but bytes, which are written in hexadecimal: no secret matches in that, and searching those of emails takes longer than many tests. */
const readable = sql`(SELECT string_agg(quote_ident(attname), ', ') FROM pg_attribute
  WHERE attrelid = pg_class.oid AND attnum > 0 AND NOT attisdropped AND atttypid <> 'bytea'::regtype)`

/** The tables that contain a secret in plain text. */
async function secretsIn(db: Database): Promise<string[]> {
  const { rows: tables } = (await db.execute(sql`SELECT relname AS name, ${readable} AS columns FROM ${used}`)) as {
    rows: { name: string; columns: string }[]
  }
  if (tables.length === 0) return []
  const looked = tables.map(
    ({ name, columns }) =>
      sql`SELECT ${name}::text AS name FROM ${sql.identifier(name)} WHERE ROW(${sql.raw(columns)})::text ~ ${untoldByDatabase}`,
  )
  const found = (await db.execute(sql.join(looked, sql` UNION ALL `))) as { rows: { name: string }[] }
  return found.rows.map(({ name }) => `a secret in the table ${name}`)
}
