import { type SQL, sql } from 'drizzle-orm'
import { z } from 'zod'
import type { PersonId } from '#server/platform/columns.ts'
import { csvCell } from '#server/platform/csv.ts'
import { type Database, rows } from '#server/platform/database.ts'
import { type Streamed, streamed } from '#server/platform/stream-json.ts'
import { type ZipFile, zipped } from '#server/platform/zip.ts'
import { exportReadMe } from './texts.ts'

/** What files of a table's bytes end with; those of a logo are PNG or JPEG, as its record says. */
const endings: Record<string, string> = { deliveries: 'eml', invoice_files: 'pdf' }
/** Records read at a time: few at first, then as many as are about this large together, in bytes. */
const [firstBatch, mostBatch, batchBytes] = [20, 500, 512 * 1024]
/** Links and codes grant access and hold no personal data. */
const leftOut = new Set(['account_links', 'google_returns', 'owner_links', 'recovery_codes'])
/** Secrets, sealed or hashed, and the program's own marks. */
const isSecret = (column: string) =>
  column.startsWith('sealed_') || column.endsWith('_hash') || column === 'claim' || column === 'claimed_by'

const column = z.object({
  table: z.string(),
  column: z.string(),
  type: z.string(),
  isKey: z.boolean(),
  belongs: z.enum(['accounts', 'people']),
  by: z.string(),
})
type Column = z.output<typeof column>

/** Whose records are exported: those of an account, and those of the person who asks. */
interface Whose {
  /** null: only what is the person's. */
  ownerId: string | null
  person: PersonId
}

/**
 * Streams every record of an account and of a person as a ZIP file. Tables are found by their foreign keys, so that a new table is never forgotten.
 * Bytes, as those of sent emails, are files of their own.
 */
export async function exportAccount(db: Database, whose: Whose): Promise<Streamed<unknown>> {
  const columns = await rows(
    db,
    column,
    sql`SELECT c.table_name AS "table", c.column_name AS "column", c.data_type AS type,
          EXISTS (SELECT 1 FROM pg_index i JOIN pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = ANY (i.indkey)
            WHERE i.indisprimary AND i.indrelid = quote_ident(c.table_name)::regclass AND a.attname = c.column_name) AS "isKey",
          b.target AS belongs, b.by
        FROM information_schema.columns c JOIN (${belonging}) b ON b.of = c.table_name
        WHERE c.table_schema = 'public'
        ORDER BY c.table_name, c.ordinal_position`,
  )
  const tables = Map.groupBy(
    columns.filter(({ table, belongs }) => !leftOut.has(table) && (belongs === 'people' || whose.ownerId !== null)),
    ({ table }) => table,
  )
  return streamed(zipped(filesOf(db, whose, tables)))
}

/**
 * The tables that belong to accounts or people, and by which column: the first one of a foreign key there, or to a table that belongs there. What
 * belongs to both is the account's.
 */
const belonging = sql`
  WITH RECURSIVE of_target AS (
    SELECT 'accounts'::name AS of, 'accounts'::name AS target, 'id'::name AS by UNION ALL SELECT 'people', 'people', 'id'
    UNION
    SELECT t.relname, b.target, a.attname
    FROM of_target b JOIN pg_constraint k ON k.contype = 'f' AND k.confrelid = quote_ident(b.of)::regclass
      JOIN pg_class t ON t.oid = k.conrelid JOIN pg_attribute a ON a.attrelid = k.conrelid AND a.attnum = k.conkey[1]
    WHERE k.confkey[1] = (SELECT attnum FROM pg_attribute WHERE attrelid = k.confrelid AND attname = b.by))
  SELECT DISTINCT ON (of) of, target, by FROM of_target ORDER BY of, target, by`

async function* filesOf(db: Database, whose: Whose, tables: Map<string, Column[]>): AsyncGenerator<ZipFile> {
  yield { name: 'README.txt', parts: one(exportReadMe) }
  const owned = ([table, [first]]: [string, Column[]]): Owned => {
    if (!first) throw new Error(`${table} has no column.`)
    return { table, owner: sql`${sql.identifier(first.by)} = ${first.belongs === 'people' ? whose.person : whose.ownerId}::uuid` }
  }
  for (const [table, all] of tables) {
    const columns = all.filter((each) => !isSecret(each.column))
    const keys = all.filter(({ isKey }) => isKey)
    const records = () => read(db, { ...owned([table, all]), columns, keys })
    yield { name: `${table}.json`, parts: asJson(records()) }
    const names = columns.map((each) => each.column)
    yield { name: `${table}.csv`, parts: asCsv(names, records()) }
  }
  for (const [table, all] of tables)
    for (const { column } of all.filter(({ type }) => type === 'bytea'))
      for await (const id of filled(db, { ...owned([table, all]), column }))
        yield { name: `${table}/${id}.${endings[table] ?? 'bin'}`, parts: bytesOf(db, { ...owned([table, all]), column, id }) }
}

/** A table, and which of its records are exported. */
interface Owned {
  table: string
  owner: SQL
}

/** The ids of the records that have bytes in a column. */
async function* filled(db: Database, { owner, table, column }: Owned & { column: string }): AsyncGenerator<string> {
  for (let last: string | null = null; ; ) {
    const ids: { id: string }[] = await rows(
      db,
      z.object({ id: z.string() }),
      sql`SELECT id FROM ${sql.identifier(table)} WHERE ${owner} AND ${sql.identifier(column)} IS NOT NULL
            ${last === null ? sql`` : sql`AND id > ${last}::uuid`} ORDER BY id LIMIT ${mostBatch}`,
    )
    for (const { id } of ids) yield id
    last = ids.at(-1)?.id ?? null
    if (last === null) return
  }
}

async function* bytesOf(db: Database, { owner, table, column, id }: Owned & { column: string; id: string }): AsyncGenerator<Buffer> {
  const [found] = await rows(
    db,
    z.object({ bytes: z.instanceof(Uint8Array).nullable() }),
    sql`SELECT ${sql.identifier(column)} AS bytes FROM ${sql.identifier(table)} WHERE ${owner} AND id = ${id}::uuid`,
  )
  if (found?.bytes) yield Buffer.from(found.bytes)
}

async function* one(text: string): AsyncGenerator<string> {
  yield text
}

type Cell = string | number | boolean | null | object
const record = z.record(z.string(), z.custom<Cell>())

/** In batches by the key of the table, so that other queries run in between and no batch is large. */
async function* read(db: Database, about: Owned & { columns: Column[]; keys: Column[] }): AsyncGenerator<Record<string, Cell>[]> {
  const listed = sql.join(about.columns.map(selected), sql`, `)
  const order = sql.join(
    about.keys.map(({ column }) => sql.identifier(column)),
    sql`, `,
  )
  const key = sql`json_build_array(${sql.join(
    about.keys.map(({ column }) => sql`${sql.identifier(column)}::text`),
    sql`, `,
  )})`
  const after = (values: string[]) =>
    sql`AND (${order}) > (${sql.join(
      about.keys.map(({ type }, at) => sql`CAST(${values[at]} AS ${sql.raw(type)})`),
      sql`, `,
    )})`
  let size = firstBatch
  for (let last: string[] | undefined; ; ) {
    const found = await rows(
      db,
      z.object({ line: z.string(), key: z.array(z.string()) }),
      sql`SELECT to_json(t)::text AS line, key_of_row AS key FROM (
            SELECT ${listed}, ${key} AS key_of_row FROM ${sql.identifier(about.table)}
            WHERE ${about.owner} ${last ? after(last) : sql``} ORDER BY ${order} LIMIT ${size}::int) t`,
    )
    if (found.length > 0) yield found.map(({ line }) => withoutKey(record.parse(JSON.parse(line))))
    if (found.length < size) return
    last = found.at(-1)?.key
    const bytes = found.reduce((sum, { line }) => sum + line.length, 0)
    size = Math.max(1, Math.min(mostBatch, Math.floor((batchBytes * found.length) / bytes)))
  }
}

function withoutKey({ key_of_row: _key, ...cells }: Record<string, Cell>): Record<string, Cell> {
  return cells
}

/** Bytes are files of their own: the record has their number. */
function selected({ column, type }: Column): SQL {
  const name = sql.identifier(column)
  return type === 'bytea' ? sql`octet_length(${name}) AS ${name}` : sql`${name}`
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
