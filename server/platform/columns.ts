import { randomUUIDv7 } from 'node:crypto'
import { getTableColumns, type InferSelectModel, type SQL, sql } from 'drizzle-orm'
import { customType, type PgTable, uuid } from 'drizzle-orm/pg-core'
import { z } from 'zod'
import type { Instant } from './clock.ts'

/** timestamptz as Temporal.Instant; both drivers hand over Postgres' own text, such as `2026-03-02 09:00:00+00`. */
export const instant = customType<{ data: Instant; driverData: string }>({
  dataType: () => 'timestamp with time zone',
  toDriver: (value) => value.toString(),
  fromDriver: (text) => Temporal.Instant.from(text),
})

/** bytea as a Buffer. */
export const bytes = customType<{ data: Buffer; driverData: Uint8Array }>({
  dataType: () => 'bytea',
  fromDriver: (value) => Buffer.from(value),
})

/** The `_id` of every record: a UUIDv7 made in code. */
export const id = () =>
  uuid()
    .primaryKey()
    .$defaultFn(() => newId())

/** The id of a person. No string, so that neither it nor the id of a business compiles in place of the other. */
export interface PersonId {
  readonly [idOfPerson]: true
}
declare const idOfPerson: unique symbol

/** A text that is known to be the id of a person, such as one that was sealed as that. */
export function personId(text: string): PersonId {
  return text as unknown as PersonId
}

let lastId = ''

/**
 * A UUIDv7 that is greater than the one before it in this process (RFC 9562, 6.2): what is written down within one millisecond, or after the
 * clock was set back, keeps its order. No two have the same first 24 characters, so that many ids can be made of one by other last digits.
 */
export function newId(): string {
  const fresh = randomUUIDv7()
  lastId = fresh.slice(0, 24) > lastId.slice(0, 24) ? fresh : following(lastId) + fresh.slice(24)
  return lastId
}

/** The first 24 characters of an id, one greater: of its time and its random bits, between which are version and variant. */
function following(id: string): string {
  const digits = id.replaceAll('-', '')
  const next = ((BigInt(`0x${digits.slice(0, 12)}${digits.slice(13, 16)}`) << 14n) | (BigInt(`0x${digits.slice(16, 20)}`) & 0x3fffn)) + 1n
  const high = (next >> 14n).toString(16).padStart(15, '0')
  const low = ((next & 0x3fffn) | 0x8000n).toString(16)
  return `${high.slice(0, 8)}-${high.slice(8, 12)}-7${high.slice(12)}-${low}-`
}

/** A timestamptz in a hand-written statement, as JSON writes it: `2026-03-02T09:00:00Z`. */
export const instantText = z.string().transform((text) => Temporal.Instant.from(text).toString())

/**
 * A whole row of a table as one JSON value, and how it is read: the embedded database returns cell by cell, which for ten thousand rows of
 * twenty cells would be most of a list's time, and a list of rows fits into one value of another row.
 */
export function packed<T extends PgTable>(table: T): { row: SQL; read(values: unknown[]): InferSelectModel<T> } {
  const columns = Object.entries(getTableColumns(table))
  const row = sql`json_build_array(${sql.join(
    columns.map(([, column]) => column),
    sql`, `,
  )})`
  const read = (values: unknown[]) =>
    Object.fromEntries(
      columns.map(([name, column], at) => [name, values[at] === null ? null : column.mapFromDriverValue(values[at])]),
    ) as InferSelectModel<T>
  return { row, read }
}

/**
 * Rows of a table that come with a statement as one JSON value: the statement has the same text, and is planned once, however many there are.
 * `text` writes them by the names of their columns; a lone half of a surrogate pair, which JSON cannot hold, becomes U+FFFD as it does elsewhere.
 */
export function given<T extends PgTable, K extends keyof InferSelectModel<T> & string>(table: T, keys: readonly K[]) {
  const named = keys.map((key) => [key, key.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)] as const)
  const list = (from?: string) =>
    sql.join(
      named.map(([, name]) => (from === undefined ? sql.identifier(name) : sql`${sql.identifier(from)}.${sql.identifier(name)}`)),
      sql`, `,
    )
  return {
    columns: list(),
    /** The same of the rows that `rows` is named. */
    of: list,
    rows: (placeholder: string) => sql`json_populate_recordset(NULL::${table}, ${sql.placeholder(placeholder)}::json)`,
    text: (rows: Pick<InferSelectModel<T>, K>[]) =>
      JSON.stringify(
        rows.map((row) => Object.fromEntries(named.map(([key, name]) => [name, row[key]]))),
        (_key, value: unknown) => (typeof value === 'string' ? value.toWellFormed() : value),
      ),
  }
}
