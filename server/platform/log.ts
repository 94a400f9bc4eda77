import { writeSync } from 'node:fs'
import { createRequire } from 'node:module'
import { DrizzleQueryError } from 'drizzle-orm'
import { type DestinationStream, type Logger, pino } from 'pino'
import type pretty from 'pino-pretty'

export type Log = Logger

/** Names of fields that hold secrets, in small letters without - and _. */
const secretFields = new Set([
  'accesstoken',
  'apikey',
  'authorization',
  'clientsecret',
  'code',
  'codeverifier',
  'cookie',
  'currentpassword',
  'databaseurl',
  'idtoken',
  'keysecret',
  'newpassword',
  'pass',
  'password',
  'passwordhash',
  'refreshhash',
  'refreshtoken',
  'secret',
  'secretkey',
  'setcookie',
  'systemsmtpurl',
  'token',
  'webhooksecret',
])
const deepest = 8

/** JSON lines, or readable lines in a terminal. Secrets are redacted at any depth. */
export function openLog(options: { level: string; terminal: boolean; destination?: DestinationStream }): Log {
  const settings = {
    level: options.level,
    formatters: { log: (fields: object) => withoutSecrets(fields, 0) as Record<string, unknown> },
    // Errors at any depth are reduced above.
    serializers: { err: (said: unknown) => said },
    base: null,
  }
  if (options.destination) return pino(settings, options.destination)
  // Synchronous, because the last lines of a process matter most.
  return options.terminal
    ? pino(
        settings,
        loadPretty()({ colorize: true, ignore: 'hostname,pid,reqId', translateTime: 'SYS:HH:MM:ss', singleLine: true, sync: true }),
      )
    : pino(settings, openOutput(1))
}

/** Thirty modules, which only a terminal needs. */
const loadPretty = () => createRequire(import.meta.url)('pino-pretty') as typeof pretty

/** A slow reader is waited for, at most this many times 10 ms. */
const mostNaps = 100

/**
 * Writes each line synchronously. A line that cannot be written (disk full, closed pipe) is dropped: pino's own destination would block for ever,
 * and email with it.
 */
export function openOutput(fd: number): DestinationStream {
  const nap = new Int32Array(new SharedArrayBuffer(4))
  return {
    write(line) {
      let rest = Buffer.from(line)
      for (let naps = 0; rest.length > 0 && naps < mostNaps; ) {
        try {
          rest = rest.subarray(writeSync(fd, rest))
        } catch (error) {
          if ((error as NodeJS.ErrnoException).code !== 'EAGAIN') return
          naps += 1
          Atomics.wait(nap, 0, 0, 10)
        }
      }
    },
  }
}

function withoutSecrets(value: unknown, depth: number): unknown {
  if (value instanceof Error) return sayError(value, depth)
  if (typeof value !== 'object' || value === null) return value
  if (Buffer.isBuffer(value)) return `[${value.length} bytes]`
  if ('toJSON' in value) return value
  if (depth >= deepest) return '[too deep]'
  if (Array.isArray(value)) return value.map((one) => withoutSecrets(one, depth + 1))
  return Object.fromEntries(
    Object.entries(value).map(([name, field]) => [
      name,
      secretFields.has(name.toLowerCase().replace(/[-_]/g, '')) && field != null ? '[redacted]' : withoutSecrets(field, depth + 1),
    ]),
  )
}

/** Only known fields: drivers attach whole statements, addresses and logins. */
function sayError(error: Error, depth: number): object {
  const { name, code, constraint } = error as Error & { code?: unknown; constraint?: unknown }
  // The query builder repeats every parameter in its message, passwords' hashes and people's addresses among them.
  const message = error instanceof DrizzleQueryError ? `Failed query: ${error.query.slice(0, 1_000)}` : error.message
  const cause = error.cause instanceof Error && depth < deepest ? sayError(error.cause, depth + 1) : undefined
  const errors =
    error instanceof AggregateError && depth < deepest ? error.errors.slice(0, 5).map((one) => withoutSecrets(one, depth + 1)) : undefined
  return {
    // The embedded engine comes with shortened names.
    type: error.constructor.name.length > 2 ? error.constructor.name : name,
    message,
    ...(code === undefined ? {} : { code }),
    ...(constraint === undefined ? {} : { constraint }),
    stack: framesOf(error),
    ...(cause ? { cause } : {}),
    ...(errors ? { errors } : {}),
  }
}

/** The stack without its head, which repeats the message. */
function framesOf(error: Error): string {
  return (error.stack ?? '')
    .split('\n')
    .filter((line) => /^\s+at /.test(line))
    .join('\n')
}
