import { createHash } from 'node:crypto'
import { closeSync, constants, existsSync, fsyncSync, mkdirSync, openSync, readdirSync, readFileSync, renameSync, rmSync } from 'node:fs'
import { cp } from 'node:fs/promises'
import net from 'node:net'
import path from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { PGlite, type Transaction } from '@electric-sql/pglite'
import { NodeFS } from '@electric-sql/pglite/nodefs'
import { DrizzleQueryError, type SQL, sql } from 'drizzle-orm'
import { readMigrationFiles } from 'drizzle-orm/migrator'
import { drizzle as drizzleServer } from 'drizzle-orm/node-postgres'
import { type PgDatabase, PgDialect, type PgQueryResultHKT } from 'drizzle-orm/pg-core'
import { drizzle as drizzleEmbedded } from 'drizzle-orm/pglite'
import pg from 'pg'
import { z } from 'zod'
import { lockFolder } from './data-folder.ts'
import { openStatements, type Statements } from './embedded-statements.ts'
import { StartError } from './start-error.ts'
import { type Ask, inStatement, traceStatements } from './traces.ts'
import { openTurns, type Turns } from './turns.ts'

/** A handle for statements: the database itself, or the transaction one is in. */
export type Database = PgDatabase<PgQueryResultHKT>

/** The one major version whose folders this program's embedded Postgres opens. */
const embeddedMajor = '18'
const migrationsFolder = path.join(import.meta.dirname, '../../migrations')
/** `SHOW server_version_num` of PostgreSQL 15.0. */
const oldestServer = 150_000
/** How long, in ms, is waited: */
const usualDeadlines = {
  /** for a transaction to end, because on the embedded database all others wait for it; */
  transaction: 5_000,
  /** for a connection: a person waits, and a quick error is better than a page that hangs; */
  connect: 1_800,
  /** for one of the pool: if only the pool is busy, waiting is better than an error; */
  turn: 8_000,
  /** for an idle one to be used again, until it is closed. */
  idle: 10_000,
}
type Deadlines = typeof usualDeadlines
/** A connection without traffic for this long is considered dead. Longer than the longest statement. */
const silenceDeadline = 12_000
const healthDeadline = 1_900

export interface OpenDatabase {
  db: Database
  /** For background work: on a server connections of its own; on the embedded database one statement or transaction of it at a time. */
  background: Database
  /** For health checks and heartbeats: on a server a connection of its own, which no other query can block. */
  pulse: Database
  /** The embedded engine, where it is one: the queue shares its single connection. */
  embedded: PGlite | null
  /** Copies the files of the embedded database into a folder while it runs, as they would be after a crash. */
  snapshot: ((folder: string) => Promise<void>) | null
  /** The pool, where it is a server. */
  pool: pg.Pool | null
  close(): Promise<void>
}

/**
 * Postgres inside this process, in `dataDir`, one process at a time. `sync` (fsync) makes every commit durable before it is answered. `level`: the
 * last migration that is applied. Refuses with a StartError.
 */
export async function openEmbedded(
  dataDir: string,
  sync: (fd: number) => void = fsyncSync,
  level: number = newestLevel,
): Promise<OpenDatabase> {
  const folder = path.join(dataDir, 'postgres')
  const unlock = lockFolder(dataDir, folder)
  try {
    if (!refuseOtherVersion(folder)) await makeFolder(folder, sync)
    const engine = await openEngine(folder, sync)
    const opened = await wrapEmbedded(engine, level)
    return {
      ...opened,
      // No statement runs meanwhile, so the log in the copy has everything that was committed.
      snapshot: (to) =>
        engine.runExclusive(() => cp(folder, path.join(to, 'postgres'), { recursive: true, mode: constants.COPYFILE_FICLONE })),
      close: async () => {
        await opened.close()
        unlock()
      },
    }
  } catch (error) {
    unlock()
    throw error
  }
}

/** An interrupted first start leaves a folder that never opens again, so the folder gets its name only when complete. */
async function makeFolder(folder: string, sync: (fd: number) => void): Promise<void> {
  const making = `${folder}.making`
  rmSync(making, { recursive: true, force: true })
  if (existsSync(folder) && readdirSync(folder).length > 0)
    throw new StartError(`${folder} contains files that are not a Duely database. Move them, or set DATA_DIR to another folder.`)
  mkdirSync(making, { mode: 0o700 })
  const engine = await openEngine(making, sync)
  await engine.close()
  renameSync(making, folder)
  const parent = openSync(path.dirname(folder), 'r')
  sync(parent)
  closeSync(parent)
}

async function openEngine(folder: string, sync: (fd: number) => void): Promise<PGlite> {
  try {
    return await PGlite.create({
      fs: new DurableFS(folder, sync),
      startParams: [...PGlite.defaultStartParams.filter((param) => param !== '-F'), '-c', 'fsync=on', '-c', 'wal_sync_method=fsync'],
    })
  } catch (error) {
    throw new StartError(`The database in ${folder} does not open. Restore its last backup, or set DATA_DIR to another folder.`, {
      cause: error,
    })
  }
}

/** For an engine that exists already: tests start theirs from a migrated copy. */
export async function wrapEmbedded(
  engine: PGlite,
  level: number = newestLevel,
  { transaction }: Pick<Deadlines, 'transaction'> = usualDeadlines,
): Promise<OpenDatabase> {
  const pulse = drizzleEmbedded(engine, { casing: 'snake_case' })
  await migrate(pulse, level)
  const statements = openStatements(engine)
  const db = drizzleEmbedded(oneAtATime(engine, statements), { casing: 'snake_case' })
  const background = drizzleEmbedded(oneAtATime(engine, statements), { casing: 'snake_case' })
  return {
    db: withDeadline(db, transaction),
    background: withDeadline(background, transaction),
    pulse,
    embedded: engine,
    snapshot: null,
    pool: null,
    close: () => engine.close(),
  }
}

/** Only one statement of calls, and one of background work, is in the engine's own line: the others wait for their turns. */
function oneAtATime(engine: PGlite, statements: Statements): PGlite {
  const turns = openTurns({ places: 1 })
  const query: PGlite['query'] = (text, ...about) => (often.has(text) ? statements(text, ...about) : engine.query(text, ...about))
  return new Proxy(engine, {
    get(target, name) {
      const found: unknown = name === 'query' ? query : Reflect.get(target, name, target)
      if (typeof found !== 'function') return found
      const method = found.bind(target) as (...args: unknown[]) => unknown
      return name === 'query' || name === 'exec' || name === 'transaction'
        ? async (...args: unknown[]) => {
            const giveBack = await turns.take()
            try {
              return await traceEngine(args, method)
            } finally {
              giveBack()
            }
          }
        : method
    },
  })
}

/** A statement, or those of a transaction, in spans of their own where something is traced that they belong to. */
function traceEngine(args: unknown[], method: (...args: unknown[]) => unknown): unknown {
  const [first] = args
  if (typeof first !== 'function') return inStatement(String(first), async () => method(...args))
  return method((tx: Transaction) => {
    const query: Transaction['query'] = (text, ...rest) => inStatement(text, () => tx.query(text, ...rest))
    return (first as (tx: Transaction) => unknown)(
      new Proxy(tx, { get: (target, field) => (field === 'query' ? query : (Reflect.get(target, field, target) as unknown)) }),
    )
  })
}

/** PostgreSQL 15 or later at `url`; the first process migrates, under a lock. Refuses with a StartError. */
export async function openServer(
  url: string,
  say: (what: string) => void = () => undefined,
  deadlines: Deadlines = usualDeadlines,
): Promise<OpenDatabase> {
  await migrateServer(url, say)
  const pool = openPool(url, { max: 10, name: 'duely', deadlines })
  const background = openPool(url, { max: 8, name: 'duely-background', deadlines })
  const own = openPool(url, { max: 1, name: 'duely-health', deadlines })
  return {
    db: withDeadline(onPool(pool), deadlines.transaction),
    background: withDeadline(onPool(background), deadlines.transaction),
    pulse: drizzleServer(own, { casing: 'snake_case' }),
    embedded: null,
    snapshot: null,
    pool,
    async close() {
      await Promise.all([pool.end(), background.end(), own.end()])
    },
  }
}

function onPool(pool: pg.Pool): Database {
  const db = drizzleServer(pool, { casing: 'snake_case' })
  // drizzle's own leaks a connection if BEGIN fails, and releases a broken connection to the pool.
  const once: typeof db.transaction = async (work, settings) => {
    const connection = await pool.connect()
    let broken = false
    try {
      return await drizzleServer(beginningWithNext(connection), { casing: 'snake_case' }).transaction(work, settings)
    } catch (error) {
      broken = isUnavailable(error)
      throw error
    } finally {
      connection.release(broken)
    }
  }
  // Behind a pooler the first one that meets a connection without what was prepared is rolled back, and prepares nothing the second time.
  db.transaction = (work, settings) =>
    once(work, settings).catch((error: unknown) => (isNotPrepared(error) ? once(work, settings) : Promise.reject(error)))
  return db
}

/**
 * A connection that sends BEGIN together with the first statement, if that only reads or locks: one that writes must not run where BEGIN was
 * refused.
 */
function beginningWithNext(connection: pg.PoolClient): pg.PoolClient {
  let begun: Promise<unknown> | null = null
  const query = async (asked: pg.QueryConfig, values?: unknown[]) => {
    if (asked.text === 'begin') {
      begun = connection.query(asked, values)
      begun.catch(() => undefined)
      return { rows: [] }
    }
    const before = begun
    begun = null
    if (before !== null && !/^select\b/i.test(asked.text)) await before
    const answered = connection.query(asked, values)
    if (before !== null) await Promise.all([before, answered])
    return answered
  }
  return new Proxy(connection, { get: (target, name) => (name === 'query' ? query : Reflect.get(target, name, target)) })
}

function openPool(url: string, about: { max: number; name: string; deadlines: Deadlines }): FairPool {
  const pool = new FairPool({
    connectionString: url,
    max: about.max,
    connectionTimeoutMillis: about.deadlines.turn,
    connectWithin: about.deadlines.connect,
    idleTimeoutMillis: about.deadlines.idle,
    Client: ImpatientClient,
    keepAlive: true,
    // Statements that do not wait for each other's answers share a round trip.
    pipeline: true,
    application_name: about.name,
    // Compiling a plan that was expected to read much takes 0.1 s of a core, and these read little. A pooler refuses it as a startup parameter.
    onConnect: (client) => client.query('SET jit = off'),
    stream: socketWithTimeout,
  })
  // A connection that dies while idle is replaced by the pool; without a listener it would end the process.
  pool.on('error', () => undefined)
  return pool
}

/** A socket for a connection to the server: it is destroyed after 12 s without traffic, because a lost peer may never send a reset. */
function socketWithTimeout(): net.Socket {
  const socket = new net.Socket()
  return socket.setTimeout(silenceDeadline, () =>
    socket.destroy(Object.assign(new Error('The database is silent.'), { code: 'ETIMEDOUT' })),
  )
}

/** All of this version's. */
const newestLevel = Number.POSITIVE_INFINITY

/** Applies the migrations up to `level`, the time by which the journal orders them. */
export async function migrate(db: Database, level: number = newestLevel): Promise<void> {
  const wanted = readMigrationFiles({ migrationsFolder }).filter(({ folderMillis }) => folderMillis <= level)
  await dialect.migrate(wanted, db._.session as Parameters<PgDialect['migrate']>[1], { migrationsFolder })
}

/** The levels that this version knows, in their order. */
export function migrationLevels(): number[] {
  return readMigrationFiles({ migrationsFolder }).map(({ folderMillis }) => folderMillis)
}

/** One connection to a server, not migrated and without deadlines, for what concerns the whole database. Refuses with a StartError. */
export async function openConnection(url: string, name: string): Promise<{ db: Database; close(): Promise<void> }> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 5_000, application_name: name })
  client.on('error', () => undefined)
  await client.connect().catch((error: unknown) => {
    throw new StartError(whyNoServer(url, error), { cause: error })
  })
  const close = () => client.end().catch(() => undefined)
  try {
    const { rows: shown } = await client
      .query<{ version: number; encoding: string }>(
        "SELECT current_setting('server_version_num')::int AS version, current_setting('server_encoding') AS encoding",
      )
      .catch((error: unknown) => {
        // A pooler accepts a login before it has reached its server.
        throw new StartError(whyNoServer(url, error), { cause: error })
      })
    const { version = 0, encoding = '' } = shown[0] ?? {}
    if (version < oldestServer)
      throw new StartError(`The database at ${placeOf(url)} is PostgreSQL ${Math.floor(version / 10_000)}. Duely needs 15 or later.`)
    if (encoding !== 'UTF8')
      throw new StartError(
        `The database at ${placeOf(url)} has the encoding ${encoding}, which can’t store every name. Create one with "createdb --encoding=UTF8 --template=template0", and correct DATABASE_URL.`,
      )
    return { db: drizzleServer(client, { casing: 'snake_case' }), close }
  } catch (error) {
    await close()
    throw error
  }
}

/** On its own connection, because a migration may be slow and other processes must wait for it. */
async function migrateServer(url: string, say: (what: string) => void): Promise<void> {
  const client = await openConnection(url, 'duely-migrate')
  try {
    // The lock of a session would stay with the pooler's connection; that of a transaction, which does nothing else, goes with it.
    await client.db.execute(sql`BEGIN`)
    await client.db.execute(sql`SELECT pg_advisory_xact_lock(8421771)`)
    const worker = await openConnection(url, 'duely-migrate')
    try {
      await untilOthersStopped(worker.db, say)
      await migrate(worker.db).catch((error: unknown) => {
        if (!lacksRights(error)) throw error
        throw new StartError(withoutRights(url), { cause: error })
      })
    } finally {
      await worker.close()
    }
    await client.db.execute(sql`COMMIT`)
  } finally {
    await client.close()
  }
}

/**
 * A process of a version before people and businesses would fail at every statement once they are apart: it is waited for. Its heartbeat is that of
 * `server/reminders/processes.ts`; web processes have none.
 */
async function untilOthersStopped(db: Database, say: (what: string) => void): Promise<void> {
  const older = sql`SELECT to_regclass('public.processes') IS NOT NULL AND to_regclass('public.people') IS NULL AS yes`
  const alive = sql`SELECT EXISTS (SELECT 1 FROM processes WHERE heartbeat_at > now() - interval '20 seconds') AS yes`
  const says = async (statement: SQL) => (await rows(db, z.object({ yes: z.boolean() }), statement))[0]?.yes === true
  if (!(await says(older))) return
  for (let said = false; await says(alive); said = true) {
    if (!said) say('An older version of Duely is running on this database. Stop all of its processes: this one waits, then migrates.')
    await pause(500)
  }
}

function lacksRights(error: unknown): boolean {
  for (let one = error; one instanceof Error; one = one.cause) if (one instanceof pg.DatabaseError && one.code === '42501') return true
  return false
}

/** PostgreSQL 15 and later let a database's owner alone create tables in it. */
function withoutRights(url: string): string {
  const { username, pathname } = new URL(url)
  return `The user of DATABASE_URL may not use the database at ${placeOf(url)} as Duely needs to (42501). Make it the owner: ALTER DATABASE "${decodeURIComponent(pathname.slice(1))}" OWNER TO "${decodeURIComponent(username)}".`
}

/** What PgBouncer says with one code (08P01) for nearly everything, and what to do about it. */
const ofPgBouncer: [words: RegExp, sentence: string][] = [
  [
    /no such user|authentication failed/i,
    'refused the login in PgBouncer’s words. Correct user and password in DATABASE_URL, or its auth_file.',
  ],
  [/no such database/i, 'is not in the [databases] of pgbouncer.ini. Add it, or correct DATABASE_URL.'],
  [
    /unsupported startup parameter/i,
    'is behind a PgBouncer that refuses a parameter. Add it to ignore_startup_parameters in pgbouncer.ini.',
  ],
  [/no more connections allowed/i, 'is behind a PgBouncer without a free connection. Raise max_client_conn in pgbouncer.ini.'],
  [
    /cannot connect to server|server login|query_wait_timeout|server conn crashed/i,
    'is behind a PgBouncer that can’t reach it. Start PostgreSQL, or correct pgbouncer.ini.',
  ],
]

function whyNoServer(url: string, error: unknown): string {
  const { code, message = '' } = error as { code?: string; message?: string }
  const pooled = code === '08P01' ? ofPgBouncer.find(([words]) => words.test(message)) : undefined
  if (pooled) return `The database at ${placeOf(url)} ${pooled[1]}`
  switch (code) {
    case '28P01':
    case '28000':
      return `The database at ${placeOf(url)} refused the login (${code}). Correct user and password in DATABASE_URL.`
    case '42501':
      return withoutRights(url)
    case '53300':
      return `The database at ${placeOf(url)} has no connection left (53300). Raise max_connections of PostgreSQL, or put a pooler in front.`
    case '3D000':
      return `There is no such database at ${placeOf(url)} (${code}). Create it, or correct DATABASE_URL.`
    default:
      return `The database at ${placeOf(url)} does not answer (${code ?? 'no answer in time'}). Start it, or correct DATABASE_URL.`
  }
}

/** Host, port and name, never the password. */
export function placeOf(url: string): string {
  const { hostname, port, pathname } = new URL(url)
  return `${hostname}:${port || 5432}${pathname}`
}

/** Its connect timeout is much shorter than the pool's wait for a free connection. */
class ImpatientClient extends pg.Client {
  constructor(config?: string | (pg.ClientConfig & { connectWithin?: number })) {
    super(typeof config === 'string' ? config : { ...config, connectionTimeoutMillis: config?.connectWithin })
    // The pool listens to idle connections only. Without this, one that dies between two statements of a transaction would end the process.
    this.on('error', () => undefined)
    this.query = traceStatements(this.query.bind(this) as Ask) as typeof this.query
  }
}

/** The database cannot be reached at this moment. */
class DatabaseUnavailable extends Error {}

/**
 * Hands out connections by turns, so that the calls of many accounts that ask much do not delay one that asks little. Marks connection errors
 * by class, because the driver throws plain errors.
 */
class FairPool extends pg.Pool {
  readonly #turns: Turns

  constructor(config: pg.PoolConfig & { max: number; connectionTimeoutMillis: number; connectWithin: number }) {
    super(config)
    this.#turns = openTurns({ places: config.max, patienceMs: config.connectionTimeoutMillis })
  }

  override connect(): Promise<pg.PoolClient>
  override connect(
    done: (error: Error | undefined, client: pg.PoolClient | undefined, release: (error?: Error | boolean) => void) => void,
  ): void
  override connect(
    done?: (error: Error | undefined, client: pg.PoolClient | undefined, release: (error?: Error | boolean) => void) => void,
  ): Promise<pg.PoolClient> | undefined {
    const taken = this.#take()
    if (!done) return taken
    taken.then(
      (client) => done(undefined, client, client.release),
      (error: Error) => done(error, undefined, () => undefined),
    )
    return undefined
  }

  async #take(): Promise<pg.PoolClient> {
    let giveBack = () => undefined as void
    try {
      giveBack = await this.#turns.take()
      const client = await super.connect()
      const release = client.release
      client.release = (error) => {
        release(error)
        giveBack()
      }
      return client
    } catch (error) {
      giveBack()
      throw away(error)
    }
  }
}

function away(error: unknown): DatabaseUnavailable {
  return new DatabaseUnavailable('The database cannot be reached.', { cause: error })
}

/** Server codes of a database that is starting, stopping, full or no longer the primary: 57P01 to 57P03, 53300, 25006, and class 08. */
const unreadyCodes = /^(?:57P0[123]|53300|25006|08...)$/

/** Whether the database could not be reached, rather than refused a statement. */
export function isUnavailable(error: unknown): boolean {
  for (let one = error; one instanceof Error; one = one.cause) {
    if (one instanceof DatabaseUnavailable) return true
    if (one instanceof pg.DatabaseError) return unreadyCodes.test(one.code ?? '')
    // An error of a server or the embedded engine has a severity; any other is a connection error.
    if (one instanceof DrizzleQueryError && one.cause && !('severity' in one.cause)) return !(one.cause instanceof TypeError)
  }
  return false
}

/** The transaction was rolled back and can be retried. */
export function isDeadlock(error: unknown): boolean {
  for (let one = error; one instanceof Error; one = one.cause) if (one instanceof pg.DatabaseError && one.code === '40P01') return true
  return false
}

/**
 * Rows of a statement that the query builder cannot express, each checked against its shape.
 * Instants arrive as Postgres' text, int8 as number or text by driver: write `::int` or `::float8`.
 */
export async function rows<S extends z.ZodType>(db: Database, shape: S, statement: SQL): Promise<z.output<S>[]> {
  const result = (await db.execute(statement)) as { rows: unknown[] }
  return result.rows.map((row) => shape.parse(row))
}

const dialect = new PgDialect({ casing: 'snake_case' })
/** `invalid_sql_statement_name` and `duplicate_prepared_statement`. */
const notPrepared = new Set(['26000', '42P05'])
let prepares = true
/** The texts of what is sent all the time: the embedded engine plans them once. */
const often = new Set<string>()

/**
 * The same for a statement that is sent all the time: a server plans it once for each connection. Behind a pooler
 * that hands out connections without what was prepared on them, it is planned each time, as any other is.
 */
export async function preparedRows<S extends z.ZodType>(db: Database, shape: S, statement: SQL): Promise<z.output<S>[]> {
  if (!prepares) return rows(db, shape, statement)
  const query = dialect.sqlToQuery(statement)
  often.add(query.sql)
  // Named by a hash of its text, so that another version's statement on a shared connection is never used for it.
  const name = createHash('sha256').update(query.sql).digest('base64url')
  try {
    const result = (await db._.session.prepareQuery(query, undefined, name, false).execute()) as { rows: unknown[] }
    return result.rows.map((row) => shape.parse(row))
  } catch (error) {
    if (!isNotPrepared(error)) throw error
    prepares = false
    return rows(db, shape, statement).catch(() => Promise.reject(error))
  }
}

/** The same for a statement of fixed text with `sql.placeholder`s, whose text is built once. */
export function statement<S extends z.ZodType>(
  shape: S,
  text: SQL,
): (db: Database, values: Record<string, string | number | Buffer | null>) => Promise<z.output<S>[]> {
  const query = dialect.sqlToQuery(text)
  often.add(query.sql)
  const name = createHash('sha256').update(query.sql).digest('base64url')
  const run = async (db: Database, values: Record<string, string | number | Buffer | null>, named: boolean) => {
    const prepared = db._.session.prepareQuery(query, undefined, named ? name : undefined, false)
    const result = (await prepared.execute(values)) as { rows: unknown[] }
    return result.rows.map((row) => shape.parse(row))
  }
  return async (db, values) => {
    try {
      return await run(db, values, prepares)
    } catch (error) {
      if (!isNotPrepared(error)) throw error
      prepares = false
      // In a transaction nothing runs any more: it begins again.
      return run(db, values, false).catch(() => Promise.reject(error))
    }
  }
}

/** A value of a `statement`. */
export const value = (name: string) => sql`${sql.placeholder(name)}`

function isNotPrepared(error: unknown): boolean {
  return error instanceof DrizzleQueryError && error.cause instanceof pg.DatabaseError && notPrepared.has(error.cause.code ?? '')
}

/**
 * A list that comes with a statement, to be joined by keys. Without statistics Postgres may read a whole table to find the few rows of a list; of
 * one cut at an unknown length it expects a tenth, and follows the keys. It then also expects as much of every list, so that it keeps its first plan.
 */
export const byKeys = (list: SQL) => sql`(SELECT * FROM ${list} LIMIT (SELECT 1000000))`

/** An array as one parameter: a statement has the same text, and is planned once, however many elements there are. */
export function arrayText(elements: (string | null)[]): string {
  return `{${elements.map((one) => (one === null ? 'NULL' : `"${one.replace(/["\\]/g, '\\$&')}"`)).join(',')}}`
}

/** One column of many rows as such a parameter. */
export function columnText<T>(all: T[], of: (one: T) => string | null): string {
  return arrayText(all.map(of))
}

/** How many rows a statement changed. */
export async function changed(db: Database, statement: SQL): Promise<number> {
  const result = (await db.execute(statement)) as { rowCount?: number | null; affectedRows?: number }
  return result.rowCount ?? result.affectedRows ?? 0
}

/** Tables of fewer pages are read as a whole as fast as by an index. */
const fewPages = 4

/**
 * Gives the planner new statistics of the tables that have grown to more than double. A session keeps the plans that it made while a table was
 * small, also those of foreign keys and triggers: they read the whole table for every row. The embedded database has no autovacuum that
 * would notice, and on a server it takes a minute.
 */
export async function analyzeGrown(db: Database, tables: string[]): Promise<void> {
  const grown = await rows(
    db,
    z.object({ name: z.string() }),
    sql`SELECT relname AS name FROM pg_class WHERE relname = ANY(${arrayText(tables)}::text[]) AND relkind = 'r'
          AND relnamespace = current_schema()::regnamespace
          AND pg_relation_size(oid) > 2 * greatest(relpages, ${fewPages}::int) * current_setting('block_size')::int`,
  )
  if (grown.length > 0)
    await db.execute(
      sql`ANALYZE ${sql.join(
        grown.map(({ name }) => sql.identifier(name)),
        sql`, `,
      )}`,
    )
}

/** Resolves within 2 s. */
export async function answers(db: Database): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<boolean>((resolve) => {
    timer = setTimeout(() => resolve(false), healthDeadline)
  })
  const asked = db.execute(sql`SELECT 1`).then(
    () => true,
    () => false,
  )
  return Promise.race([asked, late]).finally(() => clearTimeout(timer))
}

/**
 * Rolls back a transaction `ms` after it began, with the caller’s stack in the error: on the embedded database all others wait for it. Time
 * spent waiting for a connection does not count.
 */
function withDeadline<D extends Database>(db: D, ms: number): D {
  const begin = db.transaction.bind(db)
  db.transaction = (work, settings) => {
    const caller = new Error(`A transaction was still open after ${ms / 1000} s and was rolled back.`)
    return begin((tx) => {
      let over = false
      // After the rollback the connection may belong to another transaction, so further statements must fail.
      const guarded = <T extends object>(of: T): T =>
        new Proxy(of, {
          get(target, name) {
            if (over) throw caller
            const value: unknown = Reflect.get(target, name, target)
            return typeof value === 'function' ? value.bind(target) : value
          },
        })
      const { promise: deadline, reject } = Promise.withResolvers<never>()
      const timer = setTimeout(() => {
        over = true
        reject(caller)
      }, ms)
      return Promise.race([work(guarded(tx)), deadline]).finally(() => clearTimeout(timer))
    }, settings)
  }
  return db
}

/** The stock file system of the embedded engine never calls fsync: a commit would be gone with the machine's power. */
class DurableFS extends NodeFS {
  readonly #sync: (fd: number) => void

  constructor(folder: string, sync: (fd: number) => void) {
    super(folder)
    this.#sync = sync
  }

  override async init(...args: Parameters<NodeFS['init']>): ReturnType<NodeFS['init']> {
    const ready = await super.init(...args)
    ready.emscriptenOpts.preRun?.push((module: unknown) => {
      const { NODEFS } = module as { NODEFS: { stream_ops: { fsync?: (stream: { nfd: number }) => number } } }
      NODEFS.stream_ops.fsync ??= (stream) => {
        this.#sync(stream.nfd)
        return 0
      }
    })
    return ready
  }
}

/** Whether there is a database in the folder; one of another version is refused. */
function refuseOtherVersion(folder: string): boolean {
  let version: string
  try {
    version = readFileSync(path.join(folder, 'PG_VERSION'), 'utf8').trim()
  } catch {
    return false
  }
  if (version !== embeddedMajor)
    throw new StartError(
      `The data in ${folder} was written by Postgres ${version}, this Duely reads ${embeddedMajor}. Start the Duely that wrote it, or set DATA_DIR to another folder.`,
    )
  return true
}
