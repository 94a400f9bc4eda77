import { randomUUIDv7 } from 'node:crypto'
import { customType, uuid } from 'drizzle-orm/pg-core'
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

export function newId(): string {
  return randomUUIDv7()
}

/** A timestamptz in a hand-written statement, as JSON says it: `2026-03-02T09:00:00Z`. */
export const instantText = z.string().transform((text) => Temporal.Instant.from(text).toString())
