import { execFile } from 'node:child_process'
import { chmod, mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { promisify } from 'node:util'
import { sql } from 'drizzle-orm'
import { expect, test } from 'vitest'
import { businessCalls } from '#contract/business.ts'
import { accounts } from '#server/accounts/tables.ts'
import { type Config, readConfig } from '#server/config.ts'
import { oauthClients } from '#server/integrations/tables.ts'
import { type Clock, systemClock } from '#server/platform/clock.ts'
import { openLog } from '#server/platform/log.ts'
import { type CommandResult, openOperatorSocket, runInServer } from '#server/platform/operator-socket.ts'
import { loadSecretKey } from '#server/platform/secret-key.ts'
import { compileCache, programFile } from '#test/bundle.ts'
import { anInvoice, aPerson } from '#test/factories.ts'
import { openFakeSmtp } from '#test/fakes/smtp-server.ts'
import { ask, openTestApp } from '#test/harness.ts'
import { programFlags, someoneAt, startProgram } from '#test/program.ts'
import { authorize } from '#test/programs.ts'
import { thorough } from '#test/thorough.ts'
import { operate, runAlone } from './commands.ts'

/** Runs a command as an operator would, in a process of its own. */
async function duely(dataDir: string, ...args: string[]): Promise<{ code: number; output: string }> {
  const env = {
    PATH: process.env.PATH ?? '',
    DATA_DIR: dataDir,
    PUBLIC_URL: 'https://duely.example.com',
    NODE_COMPILE_CACHE: compileCache,
  }
  return promisify(execFile)(process.execPath, [...programFlags, await programFile('duely'), ...args], { env }).then(
    ({ stdout, stderr }) => ({ code: 0, output: stdout + stderr }),
    (failed: { code: number; stdout: string; stderr: string }) => ({ code: failed.code, output: failed.stdout + failed.stderr }),
  )
}

test('the operator creates a password reset link, whether Duely runs or not', async () => {
  const dataDir = await mkdtemp(path.join(tmpdir(), 'duely-'))
  await using _gone = { [Symbol.asyncDispose]: () => rm(dataDir, { recursive: true, force: true }) }
  if (thorough)
    expect(await duely(dataDir, 'reset-password', 'asha@example.com')).toEqual({
      code: 1,
      output: `There is no Duely data in ${dataDir}. Set DATA_DIR to Duely’s data folder.\n`,
    })
  await using program = await startProgram({ DATA_DIR: dataDir, PUBLIC_URL: 'https://duely.example.com' })
  await someoneAt(program.url, 'asha@example.com')
  expect((await stat(path.join(dataDir, 'duely.sock'))).mode & 0o777).toBe(0o600)
  const running = await duely(dataDir, 'reset-password', 'asha@example.com')
  expect(running).toEqual({ code: 0, output: expect.stringMatching(/^https:\/\/duely\.example\.com\/reset-password#token=[\w-]{43}\n$/) })
  const answered = await fetch(`${program.url}/auth/reset-password`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ token: running.output.trim().split('=')[1], newPassword: 'battery staple' }),
  })
  expect(answered.status).toBe(200)
  // Each command is a process that takes seconds.
  if (thorough)
    expect(await duely(dataDir, 'reset-password', 'nobody@example.com')).toEqual({
      code: 1,
      output: 'There is no account with the email nobody@example.com.\n',
    })
  const { code, output } = await duely(dataDir, 'doctor')
  expect(output).toMatch(
    /^Duely \d+\.\d+\.\d+\nWARN {3}configuration: PUBLIC_URL is https.*\nok {5}disk: .*\nok {5}database: embedded, .*\nok {5}work: /s,
  )
  expect(code).toBe(0)
  // Killed, so that its socket stays behind.
  await program.end('SIGKILL')
  expect((await duely(dataDir, 'reset-password', 'asha@example.com')).output).toMatch(/#token=[\w-]{43}\n$/)
})

test.runIf(thorough)('keys are rotated during sending, and every email is sent', async () => {
  const dataDir = await mkdtemp(path.join(tmpdir(), 'duely-'))
  await using _gone = { [Symbol.asyncDispose]: () => rm(dataDir, { recursive: true, force: true }) }
  await using smtp = await openFakeSmtp({ delayMs: 5 })
  const key = () => readFile(path.join(dataDir, 'secret-key'), 'utf8')
  let program = await startProgram({ DATA_DIR: dataDir })
  try {
    const asha = await someoneAt(program.url, 'asha@example.com')
    await asha.send('POST', '/mail-config/smtp', { host: smtp.host, port: smtp.port, secure: false, ...smtp.login })
    for (let n = 0; n < 60; n += 1)
      await asha.send('POST', '/invoice', { clientName: 'Kaveri', clientEmail: `k${n}@example.com`, amount: 10, dueDate: '2026-01-01' })
    const first = await key()
    expect((await duely(dataDir, 'rotate-keys')).output).toContain('Restart Duely')
    expect(await key()).toMatch(/^[\w-]{43}\n/)
    expect(await key()).toContain(first)
    await program.end('SIGTERM')
    program = await startProgram({ DATA_DIR: dataDir })
    const started = (await someoneAt(program.url, 'asha@example.com')).send('POST', '/reminder/start')
    await smtp.received(5)
    expect((await duely(dataDir, 'rotate-keys')).output).toContain('1 secret was re-encrypted with the new key.')
    await started
    await smtp.received(60)
    expect((await key()).trim().split('\n')).toHaveLength(1)
    expect(await key()).not.toContain(first.trim())
    await program.end('SIGTERM')
    program = await startProgram({ DATA_DIR: dataDir })
    expect((await duely(dataDir, 'rotate-keys')).output).toContain('Restart Duely')
  } finally {
    await program.end('SIGKILL')
  }
  expect(smtp.mails).toHaveLength(60)
})

test('doctor says what is wrong and what to do', async () => {
  const said = (found: CommandResult | null) => `${found?.code} ${found?.lines.join('\n')}`
  expect(said(await runAlone(() => readConfig({ ROLE: 'web', PORT: 'x' }), ['doctor']))).toMatch(
    /^1 .*\nWRONG {2}configuration: PORT must be a whole number.* Correct it in the environment\.\n.*ROLE web or worker requires DATABASE_URL.*\n2 wrong, 0 to look at\.$/s,
  )
  const nowhere = { DATABASE_URL: 'postgres://duely:secret@127.0.0.1:1/duely', SECRET_KEY: 'x'.repeat(32) }
  const away = said(await runAlone(() => readConfig(nowhere), ['doctor']))
  expect(away).toContain('WRONG  database: The database at 127.0.0.1:1/duely does not answer (ECONNREFUSED). Start it')
  expect(away).not.toContain('secret@')

  const dataDir = await mkdtemp(path.join(tmpdir(), 'duely-'))
  await using _gone = { [Symbol.asyncDispose]: () => rm(dataDir, { recursive: true, force: true }) }
  expect(said(await runAlone(() => readConfig({ DATA_DIR: dataDir }), ['doctor']))).toMatch(/^0 .*WARN {3}database: there is none in /s)
  await using app = await openTestApp({ now: Temporal.Now.instant().toString(), config: { dataDir } })
  await using smtp = await openFakeSmtp()
  // Only the database's clock runs on while a slow machine gets here: that must not look like a wrong clock.
  const examine = async (config: Partial<Config> = {}, clock: Clock = systemClock) =>
    said(await operate({ ...app.deps, clock, config: { ...app.deps.config, allowPrivateSmtpHosts: 'strict', ...config } }, ['doctor']))
  const mail = { systemSmtpUrl: `smtp://me:wrong@${smtp.host}:${smtp.port}`, systemMailFrom: 'Duely <hello@example.com>' }
  const lost = await examine({ ...mail, publicUrl: `https://${'a'.repeat(64)}.example` })
  expect(lost).toMatch(
    /^1 .*WARN {3}configuration: .*TRUST_PROXY is not set.*WARN {3}DNS: a{64}\.example \(PUBLIC_URL\) has no address\..*WRONG {2}mail: .*535/s,
  )
  expect(lost).toContain('WARN   keys: there is no secret key yet.')
  await loadSecretKey(app.db, { given: app.deps.config.secretKey, dataDir })
  const login = { ...mail, systemSmtpUrl: `smtp://${encodeURIComponent(smtp.login.user)}:${smtp.login.pass}@${smtp.host}:${smtp.port}` }
  expect(await examine({ ...login, secretKeyGiven: true })).toMatch(
    /^0 .*ok {5}mail: .* accepts the login\nok {5}database: .*\nok {5}clock: .*\nok {5}keys: .*\nok {5}work: .*\nEverything is in order\.$/s,
  )
  expect(await examine({ allowPrivateSmtpHosts: true })).toContain('SMTP_ALLOW_PRIVATE_HOSTS is true')
  await app.db.execute(
    sql`INSERT INTO steps (name, succeeded_at, late_at) VALUES ('due emails', now() - interval '20 minutes', now() - interval '9 minutes')`,
  )
  await writeFile(path.join(dataDir, 'secret-key'), 'x', { mode: 0o644 })
  await chmod(dataDir, 0o777)
  expect(await examine({ secretKeyGiven: false })).toMatch(
    /WARN {3}disk: other users of this machine can replace the files in .*chmod o-w .*WARN {3}mail: .*WARN {3}keys: others can read .*chmod 600.*WRONG {2}work: Background work is late: due emails/s,
  )
  await chmod(dataDir, 0o755)
  const ahead = { ...systemClock, now: () => systemClock.now().add({ minutes: 3 }) }
  expect(await examine({ secretKey: 'another key of at least 32 characters' }, ahead)).toMatch(
    /WRONG {2}clock: the database is \d+ s behind this machine\. Set both by NTP.*WRONG {2}keys: .* is not the key this database was created with/s,
  )
})

test('each command explains itself, and accounts are listed without their clients', async () => {
  await using app = await openTestApp()
  const names = (await operate(app.deps, ['--help'])).lines.flatMap((line) => /^ {2}([a-z-]+(?: [a-z]+)?)[: ]/.exec(line)?.[1] ?? [])
  expect(names).toContain('move-to-embedded')
  for (const name of names) {
    const { lines, code } = await operate(app.deps, [...name.split(' '), '--help'])
    expect([code, lines[0]]).toEqual([0, expect.stringMatching(`^${name}[ :]`)])
  }
  expect(await operate(app.deps, ['move-to-server'])).toEqual({
    code: 1,
    lines: [expect.stringMatching(/^Usage: move-to-server DATABASE_URL: /)],
  })
  expect(await operate(app.deps, ['drop-everything'])).toEqual({
    code: 1,
    lines: expect.arrayContaining([expect.stringContaining('reset-password EMAIL')]),
  })
  expect((await operate(app.deps, ['migrate'])).lines).toEqual(['migrate runs in a process of its own, not in this one.'])
  expect((await operate(app.deps, ['accounts'])).lines).toEqual(['There is no account.'])
  const { email } = await aPerson(app)
  await anInvoice(app, { owner: await aPerson(app), clientName: 'Kaveri Traders' })
  await operate(app.deps, ['hold-account', email])
  const { lines } = await operate(app.deps, ['accounts'])
  expect(lines[0]).toMatch(/^ +since +invoices +sent +waiting +state +business +account$/)
  expect(lines.slice(1).toSorted((a, b) => a.length - b.length)).toEqual([
    expect.stringMatching(/^2026-03-02 +0 +0 +0 +on hold +[\da-f-]{36} +\S+@\S+$/),
    expect.stringMatching(/^2026-03-02 +1 +0 +0 +(?:ok|unconfirmed) +[\da-f-]{36} +\S+@\S+$/),
  ])
  expect((await operate(app.deps, ['accounts', email.slice(0, 8).toUpperCase()])).lines).toHaveLength(2)
})

test('the operator holds and releases the businesses of a person, and lists the busiest ones', async () => {
  await using app = await openTestApp()
  const asha = await aPerson(app)
  const { email } = asha
  await ask(app, asha, businessCalls.create, { body: { name: 'Second' } })
  const held = async () => (await app.db.select().from(accounts)).map(({ heldAt }) => heldAt !== null)
  const commands = async (...args: string[]) => Object.values(await operate(app.deps, args))
  expect(await commands('hold-account', email)).toEqual([
    [`Sending is on hold for ${email}: 0 emails are waiting. Emails in flight are still sent.`],
    0,
  ])
  expect(await held()).toEqual([true, true])
  expect(await commands('release-account', email)).toEqual([[`Sending has resumed for ${email}: 0 emails are sent within seconds.`], 0])
  expect(await held()).toEqual([false, false])
  expect(await commands('hold-account', 'nobody@example.com')).toEqual([['There is no account with the email nobody@example.com.'], 1])
  expect(await commands('busiest')).toEqual([['No email was tried in the last hour.'], 0])

  expect((await commands('--help'))[1]).toBe(0)
})

test('the operator registers OAuth clients', async () => {
  await using app = await openTestApp()
  const clients = async (...args: string[]) => {
    const { lines, code } = await operate(app.deps, ['oauth-client', ...args])
    return [code, ...lines]
  }
  const redirectUri = 'https://robot.example/back'
  expect(await clients('list')).toEqual([0, 'No OAuth client is registered.'])
  const [, idLine = '', secretLine = ''] = await clients('add', 'Ledger Robot', `${redirectUri}, http://127.0.0.1:4000/back`)
  const [, id = ''] = /^client_id: ([\w-]+)$/.exec(String(idLine)) ?? []
  const [, secret = ''] = /^client_secret: (duely_secret_[\w-]{43})$/.exec(String(secretLine)) ?? []
  expect((await authorize(app, { id, secret, redirectUri })).statusCode).toBe(303)
  expect(await clients('add', 'Phone', 'com.example.phone:/back', 'public')).toEqual([
    0,
    expect.stringMatching(/^client_id: [\w-]+$/),
    'It has no secret and must use PKCE.',
  ])
  const listed = await clients('list')
  expect(listed).toEqual([
    0,
    `${id}  Ledger Robot  confidential  ${redirectUri},http://127.0.0.1:4000/back`,
    expect.stringMatching(/^[\w-]+ {2}Phone {2}public {2}com\.example\.phone:\/back$/),
  ])
  expect(secret).not.toBe('')
  expect(JSON.stringify(await app.db.select().from(oauthClients))).not.toContain(secret)
  expect(await clients('remove', id)).toEqual([0, 'Ledger Robot was removed and its grants were revoked.'])
  expect((await authorize(app, { id, secret, redirectUri })).statusCode).toBe(400)
  expect(await clients('remove', id)).toEqual([1, `There is no application with the id ${id}.`])
})

test.each([
  [['add', 'Robot'], /^Usage: oauth-client add NAME/],
  [['remove'], /^Usage: oauth-client remove ID/],
  [['rename', 'Robot'], /^npm run duely/],
  [[], /^npm run duely/],
  [['add', 'Robot', 'https://robot.example/', 'secret'], /^Write public or nothing instead of secret\.$/],
  [['add', ' ', 'https://robot.example/'], /^Enter a name of 1 to 80 characters/],
  [['add', 'Robot', 'http://robot.example/'], /^The redirect address http:\/\/robot\.example\/ must begin with https:\. An example:/],
  [['add', 'Robot', ''], /^The redirect address {2}is not an address\./],
])('oauth-client %j registers nothing', async (args, line) => {
  await using app = await openTestApp()
  const { lines, code } = await operate(app.deps, ['oauth-client', ...args])
  expect(code).toBe(1)
  expect(lines[0]).toMatch(line)
  expect(await app.db.select().from(oauthClients)).toEqual([])
})

test.runIf(thorough)('after a copy of the folder is restored, waiting emails are not sent automatically', async () => {
  const dataDir = await mkdtemp(path.join(tmpdir(), 'duely-'))
  await using _gone = { [Symbol.asyncDispose]: () => rm(dataDir, { recursive: true, force: true }) }
  await using smtp = await openFakeSmtp()
  smtp.answer({ mail: () => '451 4.3.0 Later' })
  {
    await using program = await startProgram({ DATA_DIR: dataDir })
    const asha = await someoneAt(program.url, 'asha@example.com')
    await asha.send('POST', '/invoice', { clientName: 'Kaveri Foods', clientEmail: 'k@example.com', amount: 5000, dueDate: '2026-01-01' })
    await asha.send('POST', '/mail-config/smtp', { host: smtp.host, port: smtp.port, secure: smtp.tls === 'ssl', ...smtp.login })
    await asha.send('POST', '/reminder/start')
    expect(await program.end('SIGTERM')).toBe(0)
  }
  smtp.answer({})
  expect(await duely(dataDir, 'hold-restored')).toEqual({ code: 0, output: '1 reminder needs its owner’s approval.\n' })
  await using program = await startProgram({ DATA_DIR: dataDir })
  const asha = await someoneAt(program.url, 'asha@example.com')
  expect(await asha.send('GET', '/reminder/runs')).toMatchObject([{ held: 1, holdReason: 'restored' }])
  expect(smtp.mails).toEqual([])
})

test('a command that fails in the process that runs says so', async () => {
  const within = await mkdtemp(path.join(tmpdir(), 'duely-'))
  await using _gone = { [Symbol.asyncDispose]: () => rm(within, { recursive: true, force: true }) }
  const logged: object[] = []
  const log = openLog({ level: 'info', terminal: false, destination: { write: (line) => void logged.push(JSON.parse(line)) } })
  const socket = await openOperatorSocket(within, log, async () => {
    throw new Error('ENOSPC: no space left on device, copyfile')
  })
  const said = await runInServer(within, ['backup', '/backup.gz'])
  await socket.close()
  expect(said).toEqual({ code: 1, lines: ['The command failed. The log of Duely has the error.'] })
  expect(logged).toMatchObject([{ err: { message: 'ENOSPC: no space left on device, copyfile' } }])
})
