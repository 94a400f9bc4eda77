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

let lastId = ''

/**
 * A UUIDv7 that is greater than the one before it in this process (RFC 9562, 6.2): what is written down within one millisecond keeps its order.
 */
export function newId(): string {
  const fresh = randomUUIDv7()
  lastId =
    fresh > lastId ? fresh : lastId.slice(0, 24) + (Number.parseInt(lastId.slice(24), 16) + 1).toString(16).padStart(12, '0').slice(-12)
  return lastId
}

/** A timestamptz in a hand-written statement, as JSON says it: `2026-03-02T09:00:00Z`. */
export const instantText = z.string().transform((text) => Temporal.Instant.from(text).toString())
