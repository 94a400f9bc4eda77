import { spawnSync } from 'node:child_process'
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { drizzle } from 'drizzle-orm/node-postgres'
import { migrate } from 'drizzle-orm/node-postgres/migrator'
import pg from 'pg'
import PostalMime from 'postal-mime'
import { inject } from 'vitest'
import type { FakeSmtp } from '#test/fakes/smtp-server.ts'
import { query } from '#test/postgres.ts'
import { type Environment, onAnyDatabase, onPostgres, openMailServer, send } from './environment.ts'
import { row, type Trial } from './row.ts'
import { summarize, tally } from './tally.ts'

row('79', 'amounts stored and read back, and in the email', async (trial) => {
  trial.mustHold('none of 10,000 differs; more than two decimals are refused')
  const environment = await onAnyDatabase(trial)
  const smtp = await openMailServer(trial)
  const [account] = await environment.createAccounts({ invoices: 0, smtp })
  const program = await environment.start()
  const dueDate = Temporal.Now.plainDateISO('UTC').subtract({ days: 10 }).toString()
  const random = Array.from({ length: 9_994 }, () => 1 + Math.floor(trial.random() * 10 ** (2 + 9 * trial.random())))
  const paise = [1, 10, 30, 1_999, 100_000, 999_999_999_999, ...random]
  let refused = 0
  for (const amount of [0.1 + 0.2, 19.999, 1e-7, 0, -5, 1e12]) {
    const body = { clientName: 'C', clientEmail: 'c@example.com', amount, dueDate }
    if ((await send(program, account, 'POST /invoice', { body })).status === 400) refused += 1
  }
  const stored = new Map<string, number>()
  let next = 0
  const writers = Array.from({ length: 8 }, async () => {
    while (next < paise.length && !trial.signal.aborted) {
      const nth = next++
      const minor = paise[nth] ?? 1
      // As a person writes it, not as a division leaves it.
      const amount = Number(`${Math.floor(minor / 100)}.${String(minor % 100).padStart(2, '0')}`)
      // Only the first hundred are overdue, and so in an email.
      const body = { clientName: `C ${nth}`, clientEmail: `c${nth}@example.com`, amount, dueDate: nth < 100 ? dueDate : '2999-01-01' }
      const answer = await send(program, account, 'POST /invoice', { body })
      if (answer.status === 201) stored.set((answer.body as { _id: string })._id, amount)
    }
  })
  await Promise.all(writers)
  const { body } = await send(program, account, 'GET /invoice')
  const listed = body as { _id: string; amount: number }[]
  const differ = listed.filter((one) => stored.get(one._id) !== one.amount).length + Math.abs(listed.length - paise.length)
  await send(program, account, 'POST /reminder/send-immediate')
  await smtp.received(100)
  const wrong = await Promise.all(
    smtp.mails.map(async ({ raw, envelope }) => {
      const amount = inRupees(paise[Number(/^c(\d+)@/.exec(envelope.to[0] ?? '')?.[1])] ?? 0)
      const { text = '', html = '' } = await PostalMime.parse(raw)
      return !`${text}\n${html}`.includes(amount)
    }),
  )
  const wrongEmails = wrong.filter(Boolean).length
  return {
    figure: `${listed.length} amounts, ${differ} differ; ${refused} of 6 invalid ones were refused; ${wrongEmails} of ${smtp.mails.length} emails name another amount`,
    holds: differ === 0 && refused === 6 && wrongEmails === 0 && smtp.mails.length === 100,
  }
})

/** Starts a program whose emails are all delayed by the mail server, and stops it when that many wait. */
async function queueEmails(trial: Trial, environment: Environment, smtp: FakeSmtp, count: number): Promise<void> {
  smtp.answer({ mail: () => '451 4.3.0 Later' })
  const program = await environment.start()
  await trial.until('all emails wait for their next try', async () => (await environment.states()).retrying === count)
  await program.end('SIGTERM')
  smtp.answer({})
}

row('80', '1,000 emails queued by the previous version, sent by this one', async (trial) => {
  trial.mustHold('lost 0, repeated 0')
  const environment = await onPostgres(trial)
  const smtp = await openMailServer(trial)
  const accounts = await environment.createAccounts({ count: 4, invoices: 250, smtp, due: true })
  await queueEmails(trial, environment, smtp, 1_000)
  const previous = await onPostgres(trial, { empty: true })
  const migrations = await copyToPreviousVersion(trial, { from: environment.url, to: previous.url })
  await previous.rows(`UPDATE deliveries SET next_try_at = now()`)
  await previous.start()
  await previous.untilClosed(1_000)
  const counted = tally(smtp.mails, accounts)
  return {
    figure: `tables after ${migrations} of ${migrations + 1} migrations: ${summarize(counted)}`,
    holds: counted.lost === 0 && counted.repeated === 0 && counted.unexpected === 0,
  }
})

row('81', 'a backup restored after 100 more emails had been sent', async (trial) => {
  trial.mustHold('sent again without the owner’s approval 0')
  const environment = await onPostgres(trial)
  const smtp = await openMailServer(trial)
  const accounts = await environment.createAccounts({ invoices: 100, smtp, due: true })
  await queueEmails(trial, environment, smtp, 100)
  const bin = inject('postgres')?.bin ?? ''
  const dump = spawnSync(path.join(bin, 'pg_dump'), ['--format=custom', environment.url], { maxBuffer: 1e9 })
  if (dump.status !== 0) return trial.skip(`no backup could be made: ${String(dump.error ?? dump.stderr).slice(0, 200)}`)
  await environment.rows(`UPDATE deliveries SET next_try_at = now()`)
  const program = await environment.start()
  await environment.untilClosed(100)
  await program.end('SIGTERM')
  const sent = smtp.mails.length
  const restored = await onPostgres(trial, { empty: true })
  const restore = spawnSync(path.join(bin, 'pg_restore'), ['--no-owner', '-d', restored.url], { input: dump.stdout, maxBuffer: 1e9 })
  if (restore.status !== 0)
    return { figure: `the backup could not be restored: ${String(restore.error ?? restore.stderr).slice(0, 200)}`, holds: false }
  await restored.rows(`UPDATE deliveries SET next_try_at = now()`)
  await restored.start()
  await pause(14_000)
  const { different } = tally(smtp.mails, accounts)
  return {
    figure: `${sent} sent, earlier backup restored: ${smtp.mails.length - sent} sent again (${different} with other bytes)`,
    holds: smtp.mails.length === sent,
  }
})

/** Copies a database into an empty one as the previous version left it: without the last migration. Answers how many migrations that has. */
async function copyToPreviousVersion({ stack }: Trial, { from, to }: { from: string; to: string }): Promise<number> {
  const folder = mkdtempSync(path.join(tmpdir(), 'duely-before-'))
  stack.defer(() => rmSync(folder, { recursive: true, force: true }))
  cpSync(path.join(import.meta.dirname, '../../migrations'), folder, { recursive: true })
  const file = path.join(folder, 'meta/_journal.json')
  const journal = JSON.parse(readFileSync(file, 'utf8')) as { entries: unknown[] }
  journal.entries.pop()
  writeFileSync(file, JSON.stringify(journal))
  const pool = new pg.Pool({ connectionString: to, max: 1 })
  try {
    await migrate(drizzle(pool), { migrationsFolder: folder })
    // The tables are filled in any order, so foreign keys must not be checked yet.
    await pool.query(`SET session_replication_role = replica`)
    const tables = await pool.query<{ name: string; columns: string }>(
      `SELECT table_name AS name, string_agg(quote_ident(column_name), ', ') AS columns FROM information_schema.columns
       WHERE table_schema = 'public' AND table_name <> 'server_checks' AND is_generated = 'NEVER' GROUP BY table_name`,
    )
    for (const { name, columns } of tables.rows) {
      const [stored] = await query<{ rows: string | null }>(from, `SELECT json_agg(t)::text AS rows FROM "${name}" t`)
      await pool.query(`INSERT INTO "${name}" (${columns}) SELECT ${columns} FROM json_populate_recordset(NULL::"${name}", $1)`, [
        stored?.rows ?? '[]',
      ])
    }
  } finally {
    await pool.end()
  }
  return journal.entries.length
}

/** As a reminder shows it: ₹1,00,000.00. */
function inRupees(minor: number): string {
  const [whole = '0', part = '00'] = [String(Math.floor(minor / 100)), String(minor % 100).padStart(2, '0')]
  const grouped = whole.length > 3 ? `${whole.slice(0, -3).replace(/\B(?=(\d\d)+$)/g, ',')},${whole.slice(-3)}` : whole
  return `₹${grouped}.${part}`
}
