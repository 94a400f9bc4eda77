import { closeSync, existsSync, mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { DrizzleQueryError } from 'drizzle-orm'
import { pino } from 'pino'
import { expect, test } from 'vitest'
import { openLog, openOutput } from './log.ts'

function logged(fields: object): string {
  let line = ''
  const log = openLog({ level: 'info', terminal: false, destination: { write: (text: string) => (line += text) } })
  log.info(fields, 'Something happened.')
  return line
}

test('secrets are redacted at any depth and in any spelling of their name', () => {
  const line = logged({
    password: 'hunter2-a',
    body: { user: { currentPassword: 'hunter2-b', list: [{ access_token: 'hunter2-c' }] } },
    headers: { Authorization: 'Bearer hunter2-d', 'set-cookie': ['refreshToken=hunter2-e'] },
    SECRET_KEY: 'hunter2-f',
    config: { secretKey: 'hunter2-g', databaseUrl: 'postgres://duely:hunter2-h@db/duely' },
    raw: Buffer.from('hunter2-i'),
  })
  expect(line).not.toContain('hunter2')
  expect(line).toContain('[redacted]')
})

test('an error is logged with type, message, code and stack, without driver fields', () => {
  const error = Object.assign(new TypeError('The login was refused.'), {
    code: 'EAUTH',
    command: 'AUTH PLAIN hunter2',
    options: { auth: { pass: 'hunter2' } },
  })
  const line = logged({ err: error })
  expect(JSON.parse(line).err).toMatchObject({ type: 'TypeError', message: 'The login was refused.', code: 'EAUTH' })
  expect(JSON.parse(line).err.stack).toContain('log.test.ts')
  expect(line).not.toContain('hunter2')
})

test('a failed statement is logged without its values', () => {
  const cause = Object.assign(new Error('duplicate key value violates unique constraint'), {
    code: '23505',
    constraint: 'accounts_email',
    detail: 'Key (email)=(asha@hunter2.example) already exists.',
  })
  const line = logged({ err: new DrizzleQueryError('insert into accounts values ($1, $2)', ['asha@hunter2.example', 'hunter2'], cause) })
  expect(line).not.toContain('hunter2')
  expect(JSON.parse(line).err).toMatchObject({
    type: 'DrizzleQueryError',
    message: 'Failed query: insert into accounts values ($1, $2)',
    cause: { code: '23505', constraint: 'accounts_email' },
  })
})

test('an error is serialised under any field name', () => {
  const line = logged({ reason: new Error('Refused.', { cause: new Error('The port is closed.') }) })
  expect(JSON.parse(line).reason).toMatchObject({ type: 'Error', message: 'Refused.', cause: { message: 'The port is closed.' } })
})

test('every error of an AggregateError is logged', () => {
  const line = logged({ err: new AggregateError([new Error('one'), new Error('two')], 'Some failed.') })
  expect(JSON.parse(line).err.errors.map(({ message }: { message: string }) => message)).toEqual(['one', 'two'])
})

test.runIf(existsSync('/dev/full'))('a full disk drops lines without blocking or crashing', () => {
  const full = openSync('/dev/full', 'w')
  const log = pino({}, openOutput(full))
  log.info('This is lost.')
  log.fatal('So is this.')
  closeSync(full)
})

test('a line is written completely and synchronously', () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'duely-log-'))
  const file = openSync(path.join(folder, 'log'), 'w')
  pino({}, openOutput(file)).info('Müller paid ₹5,000.00')
  closeSync(file)
  expect(JSON.parse(readFileSync(path.join(folder, 'log'), 'utf8'))).toMatchObject({ msg: 'Müller paid ₹5,000.00' })
  rmSync(folder, { recursive: true })
})
