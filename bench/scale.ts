import { randomBytes } from 'node:crypto'
import { cpus } from 'node:os'
import { parseArgs } from 'node:util'
import { type SQL, sql } from 'drizzle-orm'
import { z } from 'zod'
import { readConfig } from '#server/config.ts'
import { turnOverdue } from '#server/invoices/overdue.ts'
import { limitsOf } from '#server/mail/mail.ts'
import { openMailer } from '#server/mail/transports.ts'
import { systemClock } from '#server/platform/clock.ts'
import { newId } from '#server/platform/columns.ts'
import { type Database, openServer, rows } from '#server/platform/database.ts'
import type { Deps } from '#server/platform/deps.ts'
import { openQueue, work } from '#server/platform/job.ts'
import { openLog } from '#server/platform/log.ts'
import { makeDueRuns } from '#server/reminders/daily-runs.ts'
import { closeTooLate, type Delivering, endQuotaPauses, releaseEnded, wakeDue } from '#server/reminders/deliver.ts'
import { notifyFailures } from '#server/reminders/failures.ts'
import { deliverJob } from '#server/reminders/jobs.ts'
import { beat, reclaimDead } from '#server/reminders/processes.ts'
import { dropOldBytes } from '#server/reminders/retention.ts'
import { openSending } from '#server/reminders/sending.ts'
import { addOwners } from '#test/factories.ts'
import { createDatabase, openCluster } from '#test/postgres.ts'
import { cpuMs, quantile } from './measure.ts'

/**
 * How large the tables become and what each poll of an idle worker costs, while the finished emails grow and the open ones stay the same.
 *
 *   npm run bench:scale                                  50,000 and 500,000 finished emails
 *   npm run bench:scale -- --finished 100000,1000000 --held 100000 --accounts 20000
 *   npm run bench:scale -- --finished 10000,1000000 --held 0    the scan of what is due, among 10,000 and 1,000,000 invoices
 */
const { values: given } = parseArgs({
  options: {
    finished: { type: 'string', default: '50000,500000' },
    held: { type: 'string', default: '10000' },
    accounts: { type: 'string', default: '10000' },
  },
})
const [accounts, held] = [Number(given.accounts), Number(given.held)]
/** As in docs/scaling.md: what an email of the default template has. */
const bytesEach = 4_300
const repeats = 40

const ids = (kind: number, nth: string) => sql.raw(`('00000000-0000-${kind}000-8000-' || lpad((${nth})::text, 12, '0'))::uuid`)

async function fillAccounts(db: Database): Promise<void> {
  await db.execute(sql`
    INSERT INTO accounts (id, timezone, created_at, updated_at, next_midnight_at, reminders_active, next_run_at)
    SELECT ${ids(1, 'a')}, 'Asia/Kolkata', now(), now(), now() + interval '1 year', true, now() + interval '1 year' FROM generate_series(1, ${accounts}::int) a`)
  await addOwners(db)
  await db.execute(sql`
    INSERT INTO runs (id, owner_id, kind, local_date, created_at, deadline_at, planned_at, settled_at)
    SELECT ${ids(2, 'a')}, ${ids(1, 'a')}, 'daily', current_date, now(), now() + interval '8 hours', now(), now() FROM generate_series(1, ${accounts}::int) a`)
}

/** Emails `from` to `to`, each about an invoice of its own, spread over the accounts. */
async function fillEmails(db: Database, state: 'sent' | 'held', from: number, to: number): Promise<void> {
  const raw = randomBytes(bytesEach)
  for (let first = from; first < to; first += 50_000) {
    const nth = sql`generate_series(${first}::int, ${Math.min(first + 50_000, to) - 1}::int) n`
    const owner = ids(1, `n % ${accounts} + 1`)
    await db.execute(sql`
      INSERT INTO invoices (id, owner_id, reference, client_name, client_email, amount_minor, due_date, status, created_at, updated_at)
      SELECT ${ids(9, 'n')}, ${owner}, 'INV-' || n, 'Kaveri Foods', 'billing' || n || '@kaveri.example', 500000, current_date - 10, 'overdue', now(), now() FROM ${nth}`)
    await db.execute(sql`
      INSERT INTO deliveries (id, owner_id, run_id, client_email, state, reason, created_at, next_try_at, deadline_at, raw, subject, message_id, sent_at, server_reply)
      SELECT ${ids(8, 'n')}, ${owner}, ${ids(2, `n % ${accounts} + 1`)}, 'billing' || n || '@kaveri.example', ${state}, ${state === 'held' ? 'plan' : null}, now(), now(), now() + interval '8 hours',
        ${state === 'sent' ? raw : null}::bytea, 'Payment reminder: invoice INV-' || n || ' was due', '<' || n || '@duely.example>', ${state === 'sent' ? sql`now()` : sql`NULL`}, '250 2.0.0 OK' FROM ${nth}`)
    await db.execute(
      sql`INSERT INTO delivery_invoices (owner_id, delivery_id, invoice_id, open, amount_minor) SELECT ${owner}, ${ids(8, 'n')}, ${ids(9, 'n')}, ${state === 'held'}::boolean, 500000 FROM ${nth}`,
    )
    await db.execute(
      sql`INSERT INTO decisions (owner_id, invoice_id, local_date, rule, delivery_id, decided_at) SELECT ${owner}, ${ids(9, 'n')}, current_date, 'mail', ${ids(8, 'n')}, now() FROM ${nth}`,
    )
  }
}

const table = z.object({ name: z.string(), rows: z.number(), bytes: z.number(), indexes: z.number() })

function sizes(db: Database): Promise<z.output<typeof table>[]> {
  return rows(
    db,
    table,
    sql`SELECT relname AS name, n_live_tup::float8 AS rows, (pg_total_relation_size(relid) - pg_indexes_size(relid))::float8 AS bytes, pg_indexes_size(relid)::float8 AS indexes
        FROM pg_stat_user_tables WHERE relname IN ('invoices', 'deliveries', 'delivery_invoices', 'decisions', 'runs') ORDER BY 3 DESC`,
  )
}

/** What an idle worker does, with how often a minute. */
function polls(deps: Delivering): { name: string; aMinute: number; run: () => Promise<unknown> }[] {
  const now = () => deps.clock.now()
  return [
    { name: 'close late emails', aMinute: 30, run: () => closeTooLate(deps.db, now()) },
    { name: 'turn overdue', aMinute: 30, run: () => turnOverdue(deps.db, now()) },
    { name: 'end pauses of mailboxes', aMinute: 30, run: () => endQuotaPauses(deps.db, deps.queue, now()) },
    { name: 'make due runs', aMinute: 30, run: () => makeDueRuns(deps.db, deps.queue, now()) },
    { name: 'reclaim of dead processes', aMinute: 12, run: () => reclaimDead(deps) },
    { name: 'reclaim of lost claims', aMinute: 12, run: () => deps.claims.reclaimLost() },
    { name: 'wake due accounts', aMinute: 12, run: () => wakeDue(deps) },
    { name: 'settle runs', aMinute: 12, run: () => notifyFailures(deps) },
    { name: 'take jobs of one of 7 kinds', aMinute: 840, run: () => deps.queue.runWaiting([work(deliverJob, 1, async () => undefined)]) },
    { name: 'release held', aMinute: 1 / 5, run: () => releaseEnded(deps) },
    { name: 'drop old bytes', aMinute: 1 / 60, run: () => dropOldBytes(deps.db, now(), 90) },
  ]
}

/** CPU of the server for one turn, in ms: the machine may be busy with other things. */
async function msOf(db: Database, run: () => Promise<unknown>): Promise<number> {
  await run()
  const before = await cpuOfBackends(db)
  for (let nth = 0; nth < repeats; nth += 1) await run()
  return ((await cpuOfBackends(db)) - before) / repeats
}

/** Of the connections that are open, so far; `/proc` counts in hundredths of a second. */
async function cpuOfBackends(db: Database): Promise<number> {
  const backends = await rows(
    db,
    z.object({ pid: z.number() }),
    sql`SELECT pid FROM pg_stat_activity WHERE backend_type = 'client backend'`,
  )
  return backends.reduce((sum, { pid }) => sum + cpuMs(pid), 0)
}

const [scanned, owed] = [100, 20]
const isScanned = (id: SQL) => sql`${id} BETWEEN ${ids(3, '0')} AND ${ids(3, `${scanned}`)}`

/** Accounts beside the others that are due in each scan, with overdue invoices about which no email exists. */
async function fillScanned(db: Database): Promise<void> {
  await db.execute(sql`
    INSERT INTO accounts (id, timezone, created_at, updated_at, next_midnight_at, reminders_active)
    SELECT ${ids(3, 'a')}, 'UTC', now(), now(), now() + interval '1 year', true FROM generate_series(1, ${scanned}::int) a`)
  await addOwners(db)
  await db.execute(sql`
    INSERT INTO invoices (id, owner_id, reference, client_name, client_email, amount_minor, due_date, status, created_at, updated_at)
    SELECT ${ids(4, 'n')}, ${ids(3, `n % ${scanned} + 1`)}, 'INV-' || n, 'Kaveri Foods', 'billing' || n || '@kaveri.example', 500000, current_date - 10, 'overdue', now(), now() FROM generate_series(0, ${scanned * owed - 1}::int) n`)
}

async function forgetScan(db: Database): Promise<void> {
  for (const name of ['decisions', 'deliveries', 'runs'])
    await db.execute(sql`DELETE FROM ${sql.identifier(name)} WHERE ${isScanned(sql`owner_id`)}`)
  await db.execute(sql`DELETE FROM jobs`)
}

/** How long one tick takes to make the runs of these accounts and turn their invoices overdue, in ms: the median of nine. */
async function dueScan(db: Database, deps: Delivering): Promise<number> {
  const took: number[] = []
  // Noon: a run is due until 18:00.
  const at = Temporal.Now.zonedDateTimeISO('UTC').with({ hour: 12 }).toInstant()
  for (let nth = 0; nth < 9; nth += 1) {
    await forgetScan(db)
    await db.execute(sql`UPDATE invoices SET status = 'unpaid' WHERE ${isScanned(sql`owner_id`)}`)
    await db.execute(
      sql`UPDATE accounts SET next_run_at = ${at.toString()}::timestamptz, next_run_from = NULL, last_daily_run_at = NULL, next_midnight_at = ${at.toString()}::timestamptz WHERE ${isScanned(sql`id`)}`,
    )
    const began = performance.now()
    await turnOverdue(db, at)
    await makeDueRuns(db, deps.queue, at)
    took.push(performance.now() - began)
  }
  const [made] = await rows(
    db,
    z.object({ count: z.number() }),
    sql`SELECT count(*)::int AS count FROM deliveries WHERE ${isScanned(sql`owner_id`)}`,
  )
  await forgetScan(db)
  if (made?.count !== scanned * owed) throw new Error(`A due scan made ${made?.count} emails.`)
  return quantile(took, 0.5)
}

async function main(): Promise<void> {
  const cluster = await openCluster()
  if (!cluster) throw new Error('There is no PostgreSQL on this machine.')
  try {
    const url = await createDatabase(cluster.url)
    const { db, close } = await openServer(url)
    const config = readConfig({ DATABASE_URL: url, SECRET_KEY: 'a secret key for measuring, 32 characters' })
    const log = openLog({ level: 'error', terminal: false })
    const own: Deps = { db, clock: systemClock, queue: await openQueue({ db, log, soleProcess: false, timers: systemClock }), log, config }
    const processId = newId()
    const sending = openSending(own, { processId, embedded: false })
    const deps: Delivering = { ...own, ...sending, mailer: openMailer({ db, config, log }), processId, random: Math.random, limitsOf }
    await beat(db, processId)
    await fillAccounts(db)
    await fillEmails(db, 'held', 0, held)
    process.stdout.write(`${cpus().length} cores, Node ${process.versions.node}, PostgreSQL ${cluster.version}\n`)
    await fillScanned(db)
    const scans: { invoices: number; ms: number }[] = []
    let filled = held
    for (const finished of given.finished.split(',').map(Number)) {
      await fillEmails(db, 'sent', filled, held + finished)
      filled = held + finished
      await db.execute(sql`VACUUM ANALYZE`)
      process.stdout.write(`\n${accounts} accounts, ${held} held, ${finished} finished\n`)
      for (const { name, rows: count, bytes, indexes } of await sizes(db))
        process.stdout.write(
          `  ${name.padEnd(20)} ${count} rows, ${(bytes / count).toFixed(0)} + ${(indexes / count).toFixed(0)} bytes a row (indexes)\n`,
        )
      let busy = 0
      for (const poll of polls(deps)) {
        const ms = await msOf(db, poll.run)
        busy += (ms * poll.aMinute) / 60_000
        process.stdout.write(`  ${poll.name.padEnd(28)} ${ms.toFixed(2)} ms\n`)
      }
      scans.push({ invoices: filled, ms: await dueScan(db, deps) })
      process.stdout.write(`  all of them: ${(100 * busy).toFixed(2)} % of a core\n`)
    }
    const [few] = scans
    for (const { invoices, ms } of scans)
      process.stdout.write(
        `due scan of ${scanned} accounts with ${owed} invoices each, among ${invoices}: ${ms.toFixed(0)} ms, ${(ms / (few?.ms ?? ms)).toFixed(2)} times the first, at most 3\n`,
      )
    await deps.mailer.close()
    await close()
  } finally {
    await cluster.stop()
  }
}

await main()
