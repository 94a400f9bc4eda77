import { sql } from 'drizzle-orm'
import { z } from 'zod'
import { type Database, migrationLevels, rows } from '#server/platform/database.ts'
import { StartError } from '#server/platform/start-error.ts'

/*
 * All rows of a database as lines of text, the same for the embedded one and a server, so that either can be filled with it. First comes the
 * head; then each table with its columns, followed by its rows as arrays of PostgreSQL's own text for each value; last the sums.
 */

const head = z.object({
  duely: z.literal(1),
  version: z.string(),
  /** When it was made. */
  at: z.string(),
  /** The last migration that the rows were made for. */
  level: z.number(),
  /** Only where it was asked for. */
  secretKey: z.string().optional(),
})
export type Head = z.output<typeof head>

/** Rows by table, and the sum of a hash of each row: equal where every value of every row is. */
const sums = z.record(z.string(), z.tuple([z.number(), z.string()]))
const tableLine = z.object({ table: z.string(), columns: z.array(z.string()) })
const lastLine = z.object({ sequences: z.record(z.string(), z.tuple([z.string(), z.boolean()])), sums })

/** What a copy contains. */
export interface Copied {
  head: Head
  rows: number
  tables: number
  /** Emails that were sent or are to be, and invoices. */
  emails: number
  invoices: number
}

/** Rows read at a time: few at first, then as many as are about this large together, in characters. */
const [firstBatch, mostBatch, batchSize] = [10, 2_000, 1_000_000]

/** Values have one text, whatever the database's own settings are. */
const settings = [
  "datestyle = 'ISO'",
  "intervalstyle = 'postgres'",
  "timezone = 'UTC'",
  "bytea_output = 'hex'",
  'extra_float_digits = 1',
  'statement_timeout = 0',
  'idle_in_transaction_session_timeout = 0',
]

/** Reads everything as it was at one moment. `db` is a connection of its own; other processes may work meanwhile. */
export async function* readCopy(db: Database, about: { version: string; at: string; secretKey: string | null }): AsyncGenerator<string> {
  await db.execute(sql`BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY`)
  try {
    await setPlainText(db)
    const level = await levelOf(db)
    const { version, at, secretKey } = about
    yield JSON.stringify({ duely: 1, version, at, level, ...(secretKey === null ? {} : { secretKey }) } satisfies Head)
    const tables = await tablesOf(db)
    for (const [table, columns] of tables) {
      yield JSON.stringify({ table, columns: columns.map(({ column }) => column) })
      yield* rowsOf(db, table, columns)
    }
    yield JSON.stringify({ sequences: await sequencesOf(db), sums: await sumsOf(db, [...tables.keys()]) })
  } finally {
    await db.execute(sql`ROLLBACK`)
  }
}

async function* rowsOf(db: Database, table: string, columns: Column[]): AsyncGenerator<string> {
  const values = columns.map(({ column }) => sql`${sql.identifier(column)}::text`)
  await db.execute(
    sql`DECLARE copied NO SCROLL CURSOR FOR SELECT json_build_array(${sql.join(values, sql`, `)})::text AS line FROM ${sql.identifier(table)}`,
  )
  for (let size = firstBatch; ; ) {
    const found = await rows(db, z.object({ line: z.string() }), sql.raw(`FETCH ${size} FROM copied`))
    for (const { line } of found) yield line
    if (found.length < size) break
    const length = found.reduce((sum, { line }) => sum + line.length, 0)
    size = Math.max(1, Math.min(mostBatch, Math.floor((batchSize * found.length) / length)))
  }
  await db.execute(sql`CLOSE copied`)
}

/** A copy whose head was read. */
export interface OpenCopy {
  head: Head
  lines: AsyncIterator<string>
}

/** Refuses with a StartError what is no copy, or was made by a later version. */
export async function openCopy(from: AsyncIterable<string>): Promise<OpenCopy> {
  const lines = from[Symbol.asyncIterator]()
  const first = await lines.next()
  const read = head.safeParse(parsed(first.done ? '' : first.value))
  if (!read.success) throw new StartError('This file is not a backup of Duely.')
  if (!migrationLevels().includes(read.data.level))
    throw new StartError(`This backup was made by Duely ${read.data.version}, which is newer. Install that version to restore it.`)
  return { head: read.data, lines }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}

/**
 * Fills a database that was migrated up to the copy's level and holds nothing else, in one transaction: foreign keys and triggers are set aside
 * meanwhile, checked and put back. `check` may refuse before the commit. Refuses with a StartError where the sums are not those of the copy.
 */
export async function writeCopy(db: Database, copy: OpenCopy, check: (db: Database) => Promise<void>): Promise<Copied> {
  await db.execute(sql`BEGIN`)
  try {
    await setPlainText(db)
    const tables = await tablesOf(db)
    const foreignKeys = await takeForeignKeys(db)
    for (const table of tables.keys()) await db.execute(sql`ALTER TABLE ${sql.identifier(table)} DISABLE TRIGGER USER`)
    const last = await writeRows(db, copy.lines, tables)
    const written = await sumsOf(db, [...tables.keys()])
    for (const table of new Set([...Object.keys(last.sums), ...tables.keys()]))
      if (String(written[table]) !== String(last.sums[table]))
        throw new StartError(`The rows of ${table} are not those of the copy, so nothing was written.`)
    for (const table of tables.keys()) await db.execute(sql`ALTER TABLE ${sql.identifier(table)} ENABLE TRIGGER USER`)
    for (const { table, name, definition } of foreignKeys)
      await db.execute(sql`ALTER TABLE ${sql.identifier(table)} ADD CONSTRAINT ${sql.identifier(name)} ${sql.raw(definition)}`)
    for (const [name, [value, isCalled]] of Object.entries(last.sequences))
      await db.execute(sql`SELECT setval(${name}::regclass, ${value}::bigint, ${isCalled}::boolean)`)
    await check(db)
    await db.execute(sql`COMMIT`)
    return {
      head: copy.head,
      rows: Object.values(written).reduce((sum, [count]) => sum + count, 0),
      tables: tables.size,
      emails: written.deliveries?.[0] ?? 0,
      invoices: written.invoices?.[0] ?? 0,
    }
  } catch (error) {
    await db.execute(sql`ROLLBACK`).catch(() => undefined)
    throw error
  } finally {
    // What is being read ends its transaction.
    await copy.lines.return?.()
  }
}

async function writeRows(db: Database, lines: AsyncIterator<string>, tables: Map<string, Column[]>): Promise<z.output<typeof lastLine>> {
  let insert: ((batch: string[]) => Promise<void>) | null = null
  let batch: string[] = []
  let size = 0
  const flush = async () => {
    if (batch.length > 0) await insert?.(batch)
    batch = []
    size = 0
  }
  for (;;) {
    const next = await lines.next()
    if (next.done) throw new StartError('The backup is incomplete: its end is missing. Nothing was written.')
    const line = next.value
    if (line.startsWith('[')) {
      batch.push(line)
      size += line.length
      if (size >= batchSize || batch.length >= mostBatch) await flush()
      continue
    }
    await flush()
    const read = parsed(line)
    const last = lastLine.safeParse(read)
    if (last.success) return last.data
    const { table, columns } = tableLine.parse(read)
    insert = insertInto(db, table, columns, tables.get(table) ?? [])
  }
}

/** One statement for many rows: each value goes through the input function of its type, as in COPY. */
function insertInto(db: Database, table: string, names: string[], columns: Column[]): (batch: string[]) => Promise<void> {
  const typed = names.map((name, at) => {
    const type = columns.find(({ column }) => column === name)?.type
    if (type === undefined) throw new StartError(`The backup has a column ${table}.${name} that is unknown here.`)
    return sql.raw(`(l ->> ${at})::${type}`)
  })
  const into = sql.join(
    names.map((name) => sql.identifier(name)),
    sql`, `,
  )
  const selected = sql.join(typed, sql`, `)
  return async (batch) => {
    await db.execute(
      sql`INSERT INTO ${sql.identifier(table)} (${into}) SELECT ${selected} FROM jsonb_array_elements(${`[${batch.join(',')}]`}::jsonb) l`,
    )
  }
}

const column = z.object({ table: z.string(), column: z.string(), type: z.string() })
type Column = z.output<typeof column>

/** Every table from the catalogue, so that a new one is never forgotten. */
async function tablesOf(db: Database): Promise<Map<string, Column[]>> {
  const found = await rows(
    db,
    column,
    sql`SELECT c.relname AS "table", a.attname AS "column", format_type(a.atttypid, a.atttypmod) AS type
        FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid
        WHERE c.relnamespace = 'public'::regnamespace AND c.relkind = 'r' AND a.attnum > 0 AND NOT a.attisdropped AND a.attgenerated = ''
        ORDER BY c.relname, a.attnum`,
  )
  return Map.groupBy(found, ({ table }) => table)
}

/** Whether a database has any table. */
export async function isEmpty(db: Database): Promise<boolean> {
  return (await tablesOf(db)).size === 0
}

async function levelOf(db: Database): Promise<number> {
  const [found] = await rows(
    db,
    z.object({ level: z.coerce.number() }),
    sql`SELECT max(created_at)::text AS level FROM drizzle.__drizzle_migrations`,
  )
  return found?.level ?? 0
}

async function takeForeignKeys(db: Database): Promise<{ table: string; name: string; definition: string }[]> {
  const found = await rows(
    db,
    z.object({ table: z.string(), name: z.string(), definition: z.string() }),
    sql`SELECT c.relname AS "table", f.conname AS name, pg_get_constraintdef(f.oid) AS definition FROM pg_constraint f JOIN pg_class c ON c.oid = f.conrelid
        WHERE f.contype = 'f' AND c.relnamespace = 'public'::regnamespace ORDER BY c.relname, f.conname`,
  )
  for (const { table, name } of found) await db.execute(sql`ALTER TABLE ${sql.identifier(table)} DROP CONSTRAINT ${sql.identifier(name)}`)
  return found
}

async function sequencesOf(db: Database): Promise<Record<string, [string, boolean]>> {
  const names = await rows(
    db,
    z.object({ name: z.string() }),
    sql`SELECT relname AS name FROM pg_class WHERE relkind = 'S' AND relnamespace = 'public'::regnamespace ORDER BY relname`,
  )
  const found: Record<string, [string, boolean]> = {}
  for (const { name } of names) {
    const shape = z.object({ value: z.string(), called: z.boolean() })
    const [at] = await rows(db, shape, sql`SELECT last_value::text AS value, is_called AS called FROM ${sql.identifier(name)}`)
    if (at) found[name] = [at.value, at.called]
  }
  return found
}

async function sumsOf(db: Database, tables: string[]): Promise<z.output<typeof sums>> {
  const found: z.output<typeof sums> = {}
  for (const table of tables) {
    const [one] = await rows(
      db,
      z.object({ count: z.number(), sum: z.string() }),
      sql`SELECT count(*)::float8 AS count, coalesce(sum(('x' || left(md5(t::text), 15))::bit(60)::bigint), 0)::text AS sum FROM ${sql.identifier(table)} t`,
    )
    if (one) found[table] = [one.count, one.sum]
  }
  return found
}

async function setPlainText(db: Database): Promise<void> {
  // One statement each: the embedded engine takes no more at a time.
  for (const one of settings) await db.execute(sql.raw(`SET LOCAL ${one}`))
}
