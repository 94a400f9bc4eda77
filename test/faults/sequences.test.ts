import { once } from 'node:events'
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { sql } from 'drizzle-orm'
import { drizzle } from 'drizzle-orm/node-postgres'
import { migrate } from 'drizzle-orm/node-postgres/migrator'
import pg from 'pg'
import { newStep } from '#contract/ready-sequences.ts'
import { openServer } from '#server/platform/database.ts'
import { type Environment, inFlight, onPostgres, openMailServer } from './environment.ts'
import { row, seconds } from './row.ts'
import { isDelivered, summarize, tally } from './tally.ts'

/** All accounts follow a sequence with a step that invoices 10 days late have missed. */
async function followSequences(environment: Environment): Promise<void> {
  const { subject, content, groupSubject, groupContent } = newStep(7, 'friendly')
  await environment.prepare(async (db) => {
    await db.execute(
      sql`INSERT INTO sequences (owner_id, id, name, at_least, created_at, updated_at) SELECT id, gen_random_uuid(), 'Ours', 3, now(), now() FROM accounts`,
    )
    await db.execute(sql`INSERT INTO sequence_steps (owner_id, sequence_id, "offset", tone, copy_to_me, copy_to_second_contact)
      SELECT s.owner_id, s.id, o, 'friendly', false, false FROM sequences s, unnest(ARRAY[1, 7]) o`)
    await db.execute(sql`INSERT INTO step_texts (owner_id, sequence_id, "offset", language, subject, content, group_subject, group_content)
      SELECT owner_id, sequence_id, "offset", 'en', ${subject}, ${content}, ${groupSubject}, ${groupContent} FROM sequence_steps`)
    await db.execute(
      sql`UPDATE accounts a SET follows = 'own', sequence_id = s.id, plans_steps = true FROM sequences s WHERE s.owner_id = a.id`,
    )
  })
}

row('129', 'daily runs of sequences in four processes, of which one is killed again and again', { short: true }, async (trial) => {
  const [accountsMade, invoices, processes, kills] = trial.short ? [10, 20, 2, 1] : [100, 100, 4, 20]
  // Eight is the promise for many kills. What a single one repeats depends on how far the database was behind: at most what was in flight.
  const [most, words] = trial.short ? [accountsMade * inFlight.mailbox, 'those in flight'] : [kills * 8, '8 emails per kill']
  trial.mustHold(`each step of each invoice sent once, besides at most ${words}, the same bytes; each invoice shows one step`)
  const environment = await onPostgres(trial)
  const smtp = await openMailServer(trial, { delayMs: trial.short ? 5 : 30 })
  const accounts = await environment.createAccounts({ count: accountsMade, invoices, smtp, due: true })
  await followSequences(environment)
  const running = Array.from({ length: processes }, () => environment.start())
  const all = accountsMade * invoices
  for (let kill = 1; kill <= kills; kill += 1) {
    await smtp.received(Math.floor((all * kill) / (kills + 1)))
    const slot = Math.floor(trial.random() * processes)
    const program = await running[slot]
    await program?.end('SIGKILL')
    running[slot] = environment.start()
  }
  await Promise.all(running)
  await environment.untilClosed(all)
  const counted = tally(smtp.mails, accounts)
  const [steps] = await environment.rows<{ sent: number; twice: number; right: number }>(`
    SELECT (SELECT count(*)::int FROM deliveries d JOIN delivery_invoices x ON x.delivery_id = d.id WHERE d.state = 'sent' AND x.step_date IS NOT NULL) AS sent,
      (SELECT count(*)::int FROM (SELECT 1 FROM deliveries d JOIN delivery_invoices x ON x.delivery_id = d.id WHERE d.state = 'sent' GROUP BY x.invoice_id, x.step_date HAVING count(*) > 1) n) AS twice,
      (SELECT count(*)::int FROM invoices i JOIN runs r ON r.owner_id = i.owner_id WHERE i.steps_sent = 1 AND i.reminded_through = r.local_date) AS right`)
  return {
    figure: `${kills} kills; ${summarize(counted)}; steps recorded ${steps?.sent}, twice ${steps?.twice}; ${steps?.right} invoices show one step`,
    holds: isDelivered(counted, most) && steps?.sent === all && steps.twice === 0 && steps.right === all,
  }
})

row('130', '200,000 invoices of the version before sequences, migrated', async (trial) => {
  trial.mustHold('each has the local date of its last reminder, none where there was none; less than 60 s')
  const environment = await onPostgres(trial, { empty: true })
  const folder = mkdtempSync(path.join(tmpdir(), 'duely-before-'))
  trial.stack.defer(() => rmSync(folder, { recursive: true, force: true }))
  cpSync(path.join(import.meta.dirname, '../../migrations'), folder, { recursive: true })
  const file = path.join(folder, 'meta/_journal.json')
  const journal = JSON.parse(readFileSync(file, 'utf8')) as { entries: { tag: string }[] }
  const first = journal.entries.findIndex(({ tag }) => tag.endsWith('_sequences'))
  writeFileSync(file, JSON.stringify({ ...journal, entries: journal.entries.slice(0, first) }))
  const client = new pg.Client({ connectionString: environment.url })
  await client.connect()
  try {
    await migrate(drizzle(client), { migrationsFolder: folder })
    await client.query(`INSERT INTO accounts (id, email, display_name, timezone, created_at, updated_at, next_midnight_at)
      SELECT gen_random_uuid(), 'a' || n || '@example.com', 'A', CASE n % 3 WHEN 0 THEN 'Asia/Kolkata' WHEN 1 THEN 'America/Los_Angeles' ELSE 'Nowhere/Nothing' END, now(), now(), now()
      FROM generate_series(1, 200) n`)
    await client.query(`INSERT INTO invoices (id, owner_id, reference, client_name, client_email, amount_minor, due_date, issued_on, status, created_at, updated_at, last_reminder_at)
      SELECT gen_random_uuid(), a.id, 'INV-' || n, 'C', 'c@example.com', n, '2026-01-01', '2025-12-01', 'overdue', now(), now(), CASE n % 2 WHEN 0 THEN timestamptz '2026-02-01 20:00:00Z' END
      FROM accounts a, generate_series(1, 1000) n`)
  } finally {
    await client.end()
  }
  const began = performance.now()
  await openServer(environment.url).then((database) => database.close())
  const took = performance.now() - began
  const [after] = await environment.rows<Record<'reminded' | 'right', number>>(`
    SELECT count(i.reminded_through)::int AS reminded, count(*) FILTER (WHERE i.last_reminder_at IS NOT NULL
      AND i.reminded_through = CASE a.timezone WHEN 'Asia/Kolkata' THEN date '2026-02-02' ELSE date '2026-02-01' END)::int AS right
    FROM invoices i JOIN accounts a ON a.id = i.owner_id`)
  return {
    figure: `of 200,000 invoices ${after?.reminded} with a last reminder, ${after?.right} as they should be; ${seconds(took)}`,
    holds: after?.reminded === 100_000 && after.right === 100_000 && took < 60_000,
  }
})

row('131', 'the worker is killed before a run is due, later every process', { concurrent: 6 }, async (trial) => {
  trial.mustHold(
    'the owner hears of it once from two processes that serve calls; the heartbeat is silent; back before 18:00 every email leaves',
  )
  const environment = await onPostgres(trial)
  const [smtp, post] = [await openMailServer(trial), await openMailServer(trial)]
  let beats = 0
  const outside = createServer((_request, response) => {
    beats += 1
    response.end()
  }).listen(0, '127.0.0.1')
  trial.stack.defer(() => void outside.close())
  await once(outside, 'listening')
  const own = {
    SYSTEM_SMTP_URL: `smtp://${encodeURIComponent(post.login.user)}:${post.login.pass}@${post.host}:${post.port}`,
    SYSTEM_MAIL_FROM: 'Duely <post@duely.example>',
    PUBLIC_URL: 'https://duely.example',
    HEARTBEAT_URL: `http://127.0.0.1:${(outside.address() as AddressInfo).port}/beat`,
  }
  const [account] = await environment.createAccounts({ invoices: 20, smtp, nextRunAt: Temporal.Now.instant().add({ hours: 1 }) })
  await followSequences(environment)
  await environment.rows('UPDATE people SET email_verified_at = now()')
  const [worker, ...web] = await Promise.all(['worker', 'web', 'web'].map((ROLE) => environment.start({ ...own, ROLE })))
  await trial.until('the heartbeat is asked', () => beats > 0, { seconds: 60 })
  await worker?.end('SIGKILL')
  const silentFrom = beats
  // What six minutes and nine o'clock would bring.
  await environment.rows(
    `WITH gone AS (UPDATE processes SET started_at = now() - interval '6 minutes', ticked_at = now() - interval '6 minutes') UPDATE accounts SET next_run_at = now() - interval '6 minutes'`,
  )
  await trial.until('the owner is written to', () => post.mails.length > 0, { seconds: 240 })
  await pause(70_000)
  const told = post.mails.map(({ envelope, subject }) => `${envelope.to[0]} ${subject}`)
  const left = smtp.mails.length
  for (const process of web) await process.end('SIGKILL')
  const silent = beats - silentFrom
  await environment.start({ ...own, ROLE: 'all' })
  await environment.untilClosed(20)
  await trial.until('the heartbeat is asked again', () => beats > silentFrom, { seconds: 60 })
  const counted = tally(smtp.mails, [account])
  return {
    figure: `${told.length} email to the owner; ${left} reminders and ${silent} heartbeats meanwhile; then ${summarize(counted)}`,
    holds:
      told.join() === `${account.email} Duely has not sent your reminders today` && left === 0 && silent === 0 && isDelivered(counted, 0),
  }
})
