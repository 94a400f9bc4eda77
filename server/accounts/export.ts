import { Readable } from 'node:stream'
import { type SQL, sql } from 'drizzle-orm'
import { Zip, ZipDeflate } from 'fflate'
import { z } from 'zod'
import { csvCell } from '#server/platform/csv.ts'
import { type Database, rows } from '#server/platform/database.ts'
import { exportReadMe } from './texts.ts'

const batch = 500
/** Links and codes grant access and hold no personal data. */
const leftOut = new Set(['account_links', 'google_returns', 'recovery_codes'])
/** Secrets, sealed or hashed, and the program's own marks. */
const isSecret = (column: string) =>
  column.startsWith('sealed_') || column.endsWith('_hash') || column === 'claim' || column === 'claimed_by'

const column = z.object({ table: z.string(), column: z.string(), type: z.string(), isKey: z.boolean() })

/**
 * Streams every record of an account as a ZIP file. Tables are found by their `owner_id` column, so that a new table is never forgotten.
 */
export async function exportAccount(db: Database, ownerId: string): Promise<Readable> {
  const columns = await rows(
    db,
    column,
    sql`SELECT c.table_name AS "table", c.column_name AS "column", c.data_type AS type,
          EXISTS (SELECT 1 FROM pg_index i JOIN pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = ANY (i.indkey)
            WHERE i.indisprimary AND i.indrelid = quote_ident(c.table_name)::regclass AND a.attname = c.column_name) AS "isKey"
        FROM information_schema.columns c
        WHERE c.table_schema = 'public' AND (c.table_name = 'accounts' OR EXISTS (
          SELECT 1 FROM information_schema.columns o
          WHERE o.table_schema = 'public' AND o.table_name = c.table_name AND o.column_name = 'owner_id'))
        ORDER BY c.table_name, c.ordinal_position`,
  )
  const tables = Map.groupBy(
    columns.filter(({ table }) => !leftOut.has(table)),
    ({ table }) => table,
  )
  return Readable.from(zipped(db, ownerId, tables))
}

async function* zipped(db: Database, ownerId: string, tables: Map<string, z.output<typeof column>[]>): AsyncGenerator<Buffer> {
  let written: Buffer[] = []
  const zip = new Zip((error, chunk) => {
    if (error) throw error
    written.push(Buffer.from(chunk))
  })
  const flush = function* () {
    const ready = written
    written = []
    yield* ready
  }
  const file = async function* (name: string, parts: AsyncIterable<string>) {
    const entry = new ZipDeflate(name)
    zip.add(entry)
    for await (const part of parts) {
      entry.push(Buffer.from(part))
      yield* flush()
    }
    entry.push(new Uint8Array(0), true)
    yield* flush()
  }
  yield* file('README.txt', one(exportReadMe))
  for (const [table, all] of tables) {
    const columns = all.filter((each) => !isSecret(each.column))
    const records = () => read(db, { ownerId, table, columns, keys: all.filter(({ isKey }) => isKey).map((key) => key.column) })
    yield* file(`${table}.json`, asJson(records()))
    yield* file(
      `${table}.csv`,
      asCsv(
        columns.map((each) => each.column),
        records(),
      ),
    )
  }
  zip.end()
  yield* flush()
}

async function* one(text: string): AsyncGenerator<string> {
  yield text
}

type Cell = string | number | boolean | null | object
const record = z.record(z.string(), z.custom<Cell>())

/** In batches, so that other queries run in between. */
async function* read(
  db: Database,
  about: { ownerId: string; table: string; columns: { column: string; type: string }[]; keys: string[] },
): AsyncGenerator<Record<string, Cell>[]> {
  const listed = sql.join(about.columns.map(selected), sql`, `)
  const order = sql.join(
    about.keys.map((key) => sql.identifier(key)),
    sql`, `,
  )
  const owner = sql.identifier(about.table === 'accounts' ? 'id' : 'owner_id')
  for (let offset = 0; ; offset += batch) {
    const found = await rows(
      db,
      z.object({ line: z.string() }),
      sql`SELECT to_json(t)::text AS line FROM (
            SELECT ${listed} FROM ${sql.identifier(about.table)} WHERE ${owner} = ${about.ownerId}::uuid ORDER BY ${order} LIMIT ${batch} OFFSET ${offset}) t`,
    )
    if (found.length > 0) yield found.map(({ line }) => record.parse(JSON.parse(line)))
    if (found.length < batch) return
  }
}

function selected({ column, type }: { column: string; type: string }): SQL {
  const name = sql.identifier(column)
  return type === 'bytea' ? sql`encode(${name}, 'base64') AS ${name}` : sql`${name}`
}

async function* asJson(batches: AsyncIterable<Record<string, Cell>[]>): AsyncGenerator<string> {
  let first = true
  for await (const records of batches) {
    yield records.map((one, at) => `${first && at === 0 ? '[\n' : ',\n'}${JSON.stringify(one)}`).join('')
    first = false
  }
  yield first ? '[]\n' : '\n]\n'
}

/** RFC 4180 in UTF-8 with a byte order mark, without which Excel takes it for Latin-1. */
async function* asCsv(columns: string[], batches: AsyncIterable<Record<string, Cell>[]>): AsyncGenerator<string> {
  const line = (cells: string[]) => `${cells.join(',')}\r\n`
  yield `\uFEFF${line(columns.map((name) => `"${name}"`))}`
  for await (const records of batches) yield records.map((one) => line(columns.map((name) => written(one[name] ?? null)))).join('')
}

function written(cell: Cell): string {
  if (cell === null) return ''
  if (typeof cell === 'number' || typeof cell === 'boolean') return String(cell)
  return csvCell(typeof cell === 'string' ? cell : JSON.stringify(cell))
}
