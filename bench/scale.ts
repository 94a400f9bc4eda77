import { cpus } from 'node:os'
import { parseArgs } from 'node:util'
import { type SQL, sql } from 'drizzle-orm'
import { z } from 'zod'
import { readConfig } from '#server/config.ts'
import { turnOverdue } from '#server/invoices/overdue.ts'
import { limitsOf } from '#server/mail/mail.ts'
import type { Mailer } from '#server/mail/mailer.ts'
import { type Clock, systemClock } from '#server/platform/clock.ts'
import { newId } from '#server/platform/columns.ts'
import { type Database, openServer, rows } from '#server/platform/database.ts'
import type { Deps } from '#server/platform/deps.ts'
import { openQueue, work } from '#server/platform/job.ts'
import { openLog } from '#server/platform/log.ts'
import { makeDueRuns } from '#server/reminders/daily-runs.ts'
import { deliverJob } from '#server/reminders/jobs.ts'
import { beat } from '#server/reminders/processes.ts'
import { openSending } from '#server/reminders/sending.ts'
import { stepsBesideRuns, type Worker } from '#server/worker.ts'
import { addOwners } from '#test/factories.ts'
import { createDatabase, openCluster } from '#test/postgres.ts'
import { type Books, fillInvoices, fillRuns, id, loadInto, say, showSizes } from './books.ts'
import { liveOneDay } from './day.ts'
import { counting, cpuMs, cpuOfServer, quantile, secretKey } from './measure.ts'

/**
 * How large the tables become and what each step of an idle worker costs, while the finished invoices grow and the open emails stay the same; and what
 * a day of many accounts costs. CPU, not time, because the machine may be busy with other things.
 *
 *   npm run bench:scale                                  50,000 and 500,000 invoices
 *   npm run bench:scale -- --invoices 10000,1000000,10000000 --held 100000 --accounts 100000    25 GB in the folder of temporary files, an hour
 *   npm run bench:scale -- --invoices 10000,1000000 --held 0    the scan of what is due, among 10,000 and 1,000,000 invoices
 *   npm run bench:scale -- --day 100000                  24 hours of 100,000 accounts in 38 time zones, ten invoices each, on a clock that is handed in
 */
const { values: given } = parseArgs({
  options: {
    invoices: { type: 'string', default: '50000,500000' },
    held: { type: 'string', default: '10000' },
    accounts: { type: 'string', default: '10000' },
    day: { type: 'string' },
  },
})
const [accounts, held] = [Number(given.accounts), Number(given.held)]
const repeats = 40
/** CPU of all that a statement needs is that of its connection. */
const measured = ['max_parallel_workers_per_gather=0', 'autovacuum=off']
const bulk = ['wal_level=minimal', 'max_wal_senders=0', 'shared_buffers=1GB', 'max_wal_size=2GB', 'maintenance_work_mem=512MB']

async function fillAccounts(db: Database): Promise<void> {
  await db.execute(sql`
    INSERT INTO accounts (id, timezone, created_at, updated_at, next_midnight_at, reminders_active, next_run_at)
    SELECT ${id(1, 'a')}, 'Asia/Kolkata', now(), now(), now() + interval '1 year', true, now() + interval '1 year' FROM generate_series(1, ${accounts}::int) a`)
  await addOwners(db)
}

/** What an idle worker does, with how often a minute. */
function polls(deps: Worker): { name: string; aMinute: number; run: () => Promise<unknown> }[] {
  return [
    { name: 'daily runs', aMinute: 30, run: () => makeDueRuns(deps.db, deps.queue, deps.clock.now()) },
    { name: 'take jobs', aMinute: 120, run: () => deps.queue.runWaiting([work(deliverJob, 1, async () => undefined)]) },
    ...stepsBesideRuns(deps).map(({ name, everySeconds, run }) => ({ name, aMinute: 60 / everySeconds, run: () => run(async () => {}) })),
  ]
}

/** CPU of the server for one turn, in ms. */
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
const isScanned = (column: SQL) => sql`${column} BETWEEN ${id(3, '0')} AND ${id(3, `${scanned}`)}`

/** Accounts beside the others that are due in each scan, with overdue invoices about which no email exists. */
async function fillScanned(db: Database): Promise<void> {
  await db.execute(sql`
    INSERT INTO accounts (id, timezone, created_at, updated_at, next_midnight_at, reminders_active)
    SELECT ${id(3, 'a')}, 'UTC', now(), now(), now() + interval '1 year', true FROM generate_series(1, ${scanned}::int) a`)
  await addOwners(db)
  await db.execute(sql`
    INSERT INTO invoices (id, owner_id, reference, client_name, client_email, amount_minor, issued_on, due_date, status, created_at, updated_at)
    SELECT ${id(4, 'n')}, ${id(3, `n % ${scanned} + 1`)}, 'INV-' || n, 'Kaveri Foods', 'billing' || n || '@kaveri.example', 500000, current_date - 20, current_date - 10, 'overdue', now(), now() FROM generate_series(0, ${scanned * owed - 1}::int) n`)
}

async function forgetScan(db: Database): Promise<void> {
  await db.execute(sql`DELETE FROM decisions WHERE invoice_id BETWEEN ${id(4, '0')} AND ${id(4, `${scanned * owed}`)}`)
  for (const name of ['deliveries', 'runs']) await db.execute(sql`DELETE FROM ${sql.identifier(name)} WHERE ${isScanned(sql`owner_id`)}`)
  await db.execute(sql`DELETE FROM jobs`)
}

/** CPU of one tick that makes the runs of these accounts and turns their invoices overdue, in ms: the median of nine. */
async function dueScan(db: Database, deps: Deps): Promise<number> {
  const took: number[] = []
  // Noon: a run is due until 18:00.
  const at = Temporal.Now.zonedDateTimeISO('UTC').with({ hour: 12 }).toInstant()
  for (let nth = 0; nth < 9; nth += 1) {
    await forgetScan(db)
    await db.execute(sql`UPDATE invoices SET status = 'unpaid' WHERE ${isScanned(sql`owner_id`)}`)
    await db.execute(
      sql`UPDATE accounts SET next_run_at = ${at.toString()}::timestamptz, next_run_from = NULL, last_daily_run_at = NULL, next_midnight_at = ${at.toString()}::timestamptz WHERE ${isScanned(sql`id`)}`,
    )
    const cpu = async () => (await cpuOfBackends(db)) + cpuMs(process.pid)
    const before = await cpu()
    await turnOverdue(db, at)
    await makeDueRuns(db, deps.queue, at)
    took.push((await cpu()) - before)
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

/** A worker on the database that does nothing unless asked; its mailer accepts every email without a connection. */
async function openWorker(url: string, clock: Clock): Promise<Worker & { accepted(): number; close(): Promise<void> }> {
  const { background: db, pulse, close } = await openServer(url)
  const config = readConfig({ DATABASE_URL: url, SECRET_KEY: secretKey })
  const log = openLog({ level: 'error', terminal: false })
  const own: Deps = { db, clock, queue: await openQueue({ db, log, soleProcess: false, timers: clock }), log, config }
  const processId = newId()
  let accepted = 0
  const mailer: Mailer = {
    async send(_sender, take) {
      if (!(await take())) return null
      accepted += 1
      return { kind: 'accepted', reply: '250 2.0.0 OK' }
    },
    closeIdle: () => undefined,
    close: async () => undefined,
  }
  await beat(db, processId)
  const sending = openSending(own, { processId, embedded: false })
  const worker = { ...own, ...sending, mailer, processId, random: Math.random, limitsOf, soleProcess: false, pulse }
  return { ...worker, accepted: () => accepted, close }
}

async function grow(url: string): Promise<void> {
  const deps = await openWorker(url, systemClock)
  const { db } = deps
  const levels = given.invoices.split(',').map(Number)
  const books: Books = { accounts, most: held + Math.max(...levels), until: Temporal.Now.instant() }
  await loadInto(url, async (all) => {
    await fillAccounts(all[0])
    await fillScanned(all[0])
    await fillRuns(all[0], books)
    await fillInvoices(all, books, { from: 0, to: held }, true)
  })
  let first: number | undefined
  let filled = held
  for (const invoices of levels) {
    await loadInto(url, (all) => fillInvoices(all, books, { from: filled, to: held + invoices }))
    say(`\nwritten with ${(cpuOfServer(url) / 1_000).toFixed(0)} s of CPU so far`)
    filled = held + invoices
    say(`\n${accounts} accounts, ${held} held emails, ${invoices} other invoices`)
    await showSizes(db)
    let busy = 0
    for (const poll of polls(deps)) {
      const ms = await msOf(db, poll.run)
      busy += (ms * poll.aMinute) / 60_000
      say(`  ${poll.name.padEnd(28)} ${ms.toFixed(2)} ms, ${poll.aMinute.toFixed(2)} times a minute`)
    }
    say(`  all of them: ${(100 * busy).toFixed(2)} % of a core`)
    const ms = await dueScan(db, deps)
    first ??= ms
    say(
      `  due scan of ${scanned} accounts with ${owed} invoices each: ${ms.toFixed(0)} ms of CPU, ${(ms / first).toFixed(2)} times the first, at most 3`,
    )
  }
  await deps.close()
}

async function main(): Promise<void> {
  const cluster = await openCluster(
    given.day ? { durable: true, settings: [counting, 'shared_buffers=1GB'] } : { settings: [...measured, ...bulk] },
  )
  if (!cluster) throw new Error('There is no PostgreSQL on this machine.')
  // Its folder is large, and is removed when this process exits.
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, () => process.exit(1))
  try {
    say(`${cpus().length} cores, Node ${process.versions.node}, PostgreSQL ${cluster.version}`)
    const url = await createDatabase(cluster.url)
    let seen = 0
    // A process that ends at this moment is counted a moment later.
    const cpu = () => {
      seen = Math.max(seen, cpuOfServer(url))
      return seen
    }
    if (given.day) await liveOneDay({ url, accounts: Number(given.day), openWorker: (clock) => openWorker(url, clock), cpu })
    else await grow(url)
  } finally {
    await cluster.stop()
  }
}

await main()
