import { closeSync, fsyncSync, mkdirSync, openSync, readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { PGlite } from '@electric-sql/pglite'
import { NodeFS } from '@electric-sql/pglite/nodefs'
import { type SQL, sql } from 'drizzle-orm'
import { drizzle as drizzleServer } from 'drizzle-orm/node-postgres'
import { migrate as migrateServer } from 'drizzle-orm/node-postgres/migrator'
import type { PgDatabase, PgQueryResultHKT } from 'drizzle-orm/pg-core'
import { drizzle as drizzleEmbedded } from 'drizzle-orm/pglite'
import { migrate as migrateEmbedded } from 'drizzle-orm/pglite/migrator'
import pg from 'pg'
import type { z } from 'zod'

/** A handle for statements: the database itself, or the transaction one is in. */
export type Database = PgDatabase<PgQueryResultHKT>

/** The one major version whose folders this program's embedded Postgres opens. */
const embeddedMajor = '18'
const migrationsFolder = path.join(import.meta.dirname, '../../migrations')
const transactionDeadline = 5_000

/** A sentence for whoever starts the program: it cannot run here. */
export class StartError extends Error {}

export interface OpenDatabase {
  db: Database
  /** The embedded engine, where it is one: the queue shares its single connection. */
  embedded: PGlite | null
  /** The pool, where it is a server. */
  pool: pg.Pool | null
  close(): Promise<void>
}

/** Postgres inside this process, in `dataDir`, one process at a time, every commit on disk before it is answered. */
export async function openEmbedded(dataDir: string): Promise<OpenDatabase> {
  const folder = path.join(dataDir, 'postgres')
  const unlock = lockFolder(dataDir, folder)
  try {
    refuseOtherVersion(folder)
    const engine = await PGlite.create({
      fs: new DurableFS(folder),
      startParams: [...PGlite.defaultStartParams.filter((param) => param !== '-F'), '-c', 'fsync=on', '-c', 'wal_sync_method=fsync'],
    })
    const opened = await wrapEmbedded(engine)
    return {
      ...opened,
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

/** The same around an engine that somebody else made: tests start theirs from a migrated copy. */
export async function wrapEmbedded(engine: PGlite): Promise<OpenDatabase> {
  const db = drizzleEmbedded(engine, { casing: 'snake_case' })
  await migrateEmbedded(db, { migrationsFolder })
  return { db: withDeadline(db), embedded: engine, pool: null, close: () => engine.close() }
}

/** PostgreSQL 15 or later at `url`; whoever comes first migrates, under a lock. */
export async function openServer(url: string): Promise<OpenDatabase> {
  const pool = new pg.Pool({ connectionString: url, max: 10, connectionTimeoutMillis: 5_000, keepAlive: true, application_name: 'duely' })
  // A connection that dies while idle is replaced by the pool; without a listener it would end the process.
  pool.on('error', () => undefined)
  const client = await pool.connect()
  try {
    await client.query('SELECT pg_advisory_lock(8421771)')
    await migrateServer(drizzleServer(client, { casing: 'snake_case' }), { migrationsFolder })
  } finally {
    await client.query('SELECT pg_advisory_unlock(8421771)').catch(() => undefined)
    client.release()
  }
  const db = drizzleServer(pool, { casing: 'snake_case' })
  return { db: withDeadline(db), embedded: null, pool, close: () => pool.end() }
}

/**
 * Rows of a statement that the query builder cannot say, each checked against its shape.
 * Instants arrive as Postgres' text, int8 as number or text by driver: say `::int` or `::float8`.
 */
export async function rows<S extends z.ZodType>(db: Database, shape: S, statement: SQL): Promise<z.output<S>[]> {
  const result = (await db.execute(statement)) as { rows: unknown[] }
  return result.rows.map((row) => shape.parse(row))
}

/** How many rows a statement changed. */
export async function changed(db: Database, statement: SQL): Promise<number> {
  const result = (await db.execute(statement)) as { rowCount?: number | null; affectedRows?: number }
  return result.rowCount ?? result.affectedRows ?? 0
}

/** Whether the database answers. */
export async function answers(db: Database): Promise<boolean> {
  try {
    await db.execute(sql`SELECT 1`)
    return true
  } catch {
    return false
  }
}

/** A transaction that takes longer than 5 s is rolled back and names who began it: on the embedded database everybody else waits for it. */
function withDeadline<D extends Database>(db: D): D {
  const begin = db.transaction.bind(db)
  db.transaction = (work, settings) => {
    const caller = new Error('A transaction was still open after 5 s and was rolled back.')
    let timer: NodeJS.Timeout | undefined
    const deadline = new Promise<never>((_resolve, reject) => {
      timer = setTimeout(() => reject(caller), transactionDeadline)
    })
    return begin((tx) => Promise.race([work(tx), deadline]), settings).finally(() => clearTimeout(timer))
  }
  return db
}

/** The stock file system of the embedded engine never calls fsync: a commit would be gone with the machine's power. */
class DurableFS extends NodeFS {
  override async init(...args: Parameters<NodeFS['init']>): ReturnType<NodeFS['init']> {
    const ready = await super.init(...args)
    ready.emscriptenOpts.preRun?.push((module: unknown) => {
      const { NODEFS } = module as { NODEFS: { stream_ops: { fsync?: (stream: { nfd: number }) => number } } }
      NODEFS.stream_ops.fsync ??= (stream) => {
        fsyncSync(stream.nfd)
        return 0
      }
    })
    return ready
  }
}

/** Two processes on one folder lose rows: the kernel holds this lock for as long as the process lives, also through kill -9. */
function lockFolder(dataDir: string, folder: string): () => void {
  try {
    mkdirSync(folder, { recursive: true })
    const probe = path.join(dataDir, '.writable')
    writeFileSync(probe, '')
    closeSync(openSync(probe, 'r'))
  } catch (error) {
    throw new StartError(
      `The folder ${dataDir} cannot be written to (${(error as NodeJS.ErrnoException).code}). Set DATA_DIR to one that can.`,
    )
  }
  const lock = new DatabaseSync(`${folder}.lock`, { timeout: 0 })
  try {
    lock.exec('PRAGMA journal_mode=DELETE')
    lock.exec('BEGIN EXCLUSIVE')
  } catch {
    lock.close()
    throw new StartError(`Another Duely is already running on the folder ${dataDir}. Stop it, or set DATA_DIR to another folder.`)
  }
  return () => lock.close()
}

function refuseOtherVersion(folder: string): void {
  let version: string
  try {
    version = readFileSync(path.join(folder, 'PG_VERSION'), 'utf8').trim()
  } catch {
    return
  }
  if (version !== embeddedMajor)
    throw new StartError(
      `The data in ${folder} was written by Postgres ${version}, this Duely reads ${embeddedMajor}. Start the Duely that wrote it, or set DATA_DIR to another folder.`,
    )
}
