// Also on PostgreSQL: statements are traced where the driver says them.
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { expect, inject, test } from 'vitest'
import { openFakeCollector } from '#test/fakes/collector.ts'
import { openFakeSmtp } from '#test/fakes/smtp-server.ts'
import { createDatabase } from './postgres.ts'
import { someoneAt, startProgram } from './program.ts'
import { toldByLog } from './secrets-told.ts'

/** One database is enough for `npm test`: the other differs in where its statements are traced. */
const elsewhere = process.env.TEST_POSTGRES === 'mostly' && !inject('postgresUrl')

// Starts the program once: two seconds.
test.skipIf(elsewhere)(
  'calls, statements, emails and jobs are traced, and no trace has a secret, an address, a name or an amount',
  async () => {
    const dataDir = await mkdtemp(path.join(tmpdir(), 'duely-traces-'))
    await using _gone = { [Symbol.asyncDispose]: () => rm(dataDir, { recursive: true, force: true }) }
    const server = inject('postgresUrl')
    const secretKey = 'a secret key for tests, 32 characters'
    const database: Record<string, string> = server
      ? { DATABASE_URL: await createDatabase(server), SECRET_KEY: secretKey }
      : { DATA_DIR: dataDir, SECRET_KEY: secretKey }
    await using collector = await openFakeCollector()
    await using smtp = await openFakeSmtp()
    smtp.answer({ rcpt: (to) => (to.startsWith('gone') ? `550 5.1.1 <${to}> does not exist` : undefined) })
    await using program = await startProgram({
      ...database,
      OTEL_EXPORTER_OTLP_ENDPOINT: `${collector.url}/`,
      OTEL_EXPORTER_OTLP_HEADERS: 'authorization=Bearer%20for-the-collector',
    })
    const asha = await someoneAt(program.url, 'asha@example.com')
    await asha.send('POST', '/mail-config/smtp', { host: smtp.host, port: smtp.port, secure: false, ...smtp.login })
    for (const clientEmail of ['kaveri@client.example', 'gone@client.example'])
      await asha.send('POST', '/invoice', { clientName: 'Kaveri Foods', clientEmail, amount: 7654.32, dueDate: '2026-01-01' })
    await asha.send('POST', '/reminder/start')
    await asha.send('GET', '/invoice?search=kaveri').catch(() => undefined)
    const { key } = (await asha.send('POST', '/api-keys', { name: 'Ledger Robot', scopes: ['read'], ...asha.proof })) as { key: string }
    for (const where of [`/pay/${'s'.repeat(43)}`, '/nowhere/asha@example.com', '/health'])
      await fetch(program.url + where, { headers: { authorization: `Bearer ${key}` } })
    await fetch(`${program.url}/invoice`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: '{"amount',
    })
    expect(await program.end('SIGTERM')).toBe(0)

    const spans = collector.spans()
    const named = (name: string) => spans.filter((one) => one.name === name)
    const partsOf = (name: string) => {
      const ids = new Set(named(name).map(({ spanId }) => spanId))
      return [...new Set(spans.filter(({ parentSpanId }) => ids.has(parentSpanId ?? '')).map((one) => one.name))]
    }
    expect(partsOf('POST /invoice')).toEqual(expect.arrayContaining(['INSERT invoices']))
    expect(named('POST /invoice').map(({ attributes }) => attributes['http.response.status_code'])).toEqual(expect.arrayContaining([201]))
    expect(partsOf('job deliver')).toEqual(expect.arrayContaining(['send email']))
    expect(partsOf('send email').some((name) => name.includes('deliveries'))).toBe(true)
    expect(named('send email').map(({ attributes }) => attributes)).toEqual(
      expect.arrayContaining([
        { 'duely.mail.provider': 'smtp', 'server.address': smtp.host, 'duely.mail.outcome': 'accepted', 'duely.mail.reply_code': 250 },
        { 'duely.mail.provider': 'smtp', 'server.address': smtp.host, 'duely.mail.outcome': 'permanent', 'duely.mail.reply_code': 550 },
      ]),
    )
    expect(spans.every(({ name }) => !name.includes('/health'))).toBe(true)
    // What polls belongs to nothing, and is not told.
    expect(spans.filter(({ parentSpanId, name }) => !parentSpanId && !/^(?:job |[A-Z]+ (?:\/|\(nothing there\)))/.test(name))).toEqual([])
    expect(collector.metrics().map(({ name }) => name)).toEqual(
      expect.arrayContaining(['duely_calls_total', 'duely_emails_total', 'duely_runs_due']),
    )

    for (const { path: where, headers, body } of collector.receiver.calls) {
      expect([where, headers.authorization]).toEqual([expect.stringMatching(/^\/v1\/(?:traces|metrics)$/), 'Bearer for-the-collector'])
      expect(toldByLog(body)).toEqual([])
      const words = ['asha', 'Asha', 'averi', 'client.example', 'Ledger', key, 'correct', smtp.login.pass, secretKey, 'sssss', 'nowhere']
      expect(words.filter((word) => body.includes(word))).toEqual([])
      expect(body).not.toMatch(/\b(?:7654\.32|765432)\b/)
    }
  },
)
