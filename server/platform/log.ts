import { type DestinationStream, type Logger, pino } from 'pino'
import pretty from 'pino-pretty'

export type Log = Logger

const secretFields = [
  'password',
  'pass',
  'currentPassword',
  'newPassword',
  'accessToken',
  'refreshToken',
  'token',
  'code',
  'authorization',
  'cookie',
  '["set-cookie"]',
  'secretKey',
  'SECRET_KEY',
]

/** JSON lines, or lines for people where a terminal is watching. Secrets are redacted wherever they stand. */
export function openLog(options: { level: string; terminal: boolean; destination?: DestinationStream }): Log {
  const settings = {
    level: options.level,
    redact: {
      paths: secretFields.flatMap((field) =>
        field.startsWith('[') ? [field, `*${field}`, `*.*${field}`] : [field, `*.${field}`, `*.*.${field}`],
      ),
      censor: '[redacted]',
    },
    base: null,
  }
  if (options.destination) return pino(settings, options.destination)
  return options.terminal
    ? pino(settings, pretty({ colorize: true, ignore: 'hostname,pid,reqId', translateTime: 'SYS:HH:MM:ss', singleLine: true }))
    : pino(settings)
}
