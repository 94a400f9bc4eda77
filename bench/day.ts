import { setTimeout as pause } from 'node:timers/promises'
import { sql } from 'drizzle-orm'
import { z } from 'zod'
import { type Clock, type Instant, systemClock } from '#server/platform/clock.ts'
import { arrayText, type Database, rows } from '#server/platform/database.ts'
import { openQueue, work } from '#server/platform/job.ts'
import { deliver } from '#server/reminders/deliver.ts'
import { deliverJob } from '#server/reminders/jobs.ts'
import { beat } from '#server/reminders/processes.ts'
import { dayAfter, firstDateAfterStart, localDate, nextRun, startOfDay } from '#server/reminders/schedule.ts'
import { mailboxesAtOnce } from '#server/reminders/sending.ts'
import { sweep, tick, type Worker } from '#server/worker.ts'
import { addOwners } from '#test/factories.ts'
import { query } from '#test/postgres.ts'
import { zones } from '#test/zones.ts'
import { type Books, fillInvoices, fillRuns, id, loadInto, say, showSizes } from './books.ts'

/** 24 hours without a change of the clocks anywhere. */
const begins = Temporal.Instant.from('2026-03-04T00:00:00Z')
const invoicesEach = 10
/** Of ten accounts so many are in this zone; the others are spread over all. One of ten has another hour than nine, and one of twenty is planned by `plan`. */
const [mostIn, ofTen] = ['Asia/Kolkata', 7]

/** In blocks of 20, in which every kind of account by its invoices occurs equally often. */
function accountOf(nth: number): { timezone: string; reminderHour: number; plansSteps: boolean; grouped: boolean } {
  const block = Math.floor(nth / 20)
  return {
    timezone: block % 10 < ofTen ? mostIn : (zones[Math.floor(block / 3) % zones.length] ?? mostIn),
    reminderHour: nth % 10 === 3 ? 6 + (Math.floor(nth / 10) % 12) : 9,
    plansSteps: block % 19 === 4,
    grouped: nth % 10 === 5,
  }
}

async function fillAccounts(db: Database, accounts: number): Promise<void> {
  const before = begins.subtract({ milliseconds: 1 })
  const made = Array.from({ length: accounts }, (_none, at) => {
    const about = accountOf(at)
    const next = nextRun(about, { now: before, notBefore: firstDateAfterStart(about, before), lastRunAt: null })
    return { ...about, next, midnight: startOfDay(dayAfter(localDate(before, about.timezone)), about.timezone) }
  })
  const column = (of: (one: (typeof made)[number]) => unknown) => arrayText(made.map((one) => String(of(one))))
  await db.execute(sql`
    INSERT INTO accounts (id, timezone, reminder_hour, plans_steps, group_by_client, created_at, updated_at, next_midnight_at, reminders_active, next_run_at, next_run_from)
    SELECT ${id(1, 'n')}, zone, hour, plans, grouped, ${before.toString()}::timestamptz, ${before.toString()}::timestamptz, midnight, true, at, date
    FROM unnest(${column((one) => one.timezone)}::text[], ${column((one) => one.reminderHour)}::int[], ${column((one) => one.plansSteps)}::boolean[], ${column((one) => one.grouped)}::boolean[],
      ${column((one) => one.midnight)}::timestamptz[], ${column((one) => one.next.at)}::timestamptz[], ${column((one) => one.next.date)}::date[]) WITH ORDINALITY AS a (zone, hour, plans, grouped, midnight, at, date, n)`)
  await addOwners(db)
  await db.execute(sql`
    INSERT INTO mail_configs (owner_id, sender_id, place, provider, address, host, port, secure, sealed_password, created_at)
    SELECT id, id, id, 'smtp', 'asha@' || id || '.example', 'smtp.' || right(id::text, 2) || '.example', 465, true, 'not used', created_at FROM accounts`)
}

/** Milliseconds of CPU so far. */
interface Cpu {
  node: number
  postgres: number
}

interface Day {
  url: string
  accounts: number
  openWorker(clock: Clock): Promise<Worker & { accepted(): number; close(): Promise<void> }>
  /** Of the PostgreSQL server. */
  cpu(): number
}

/** Makes and sends all reminders of a day, one quarter of an hour after the other, and compares what is in the database with what has to be. */
export async function liveOneDay({ url, accounts, openWorker, cpu }: Day): Promise<void> {
  let now: Instant = begins.subtract({ milliseconds: 1 })
  const deps = await openWorker({ ...systemClock, now: () => now })
  const { db, log, pulse } = deps
  const books: Books = { accounts, most: accounts * invoicesEach, until: begins }
  await loadInto(url, async (all) => {
    await fillAccounts(all[0], accounts)
    await fillRuns(all[0], books)
    await fillInvoices(all, books, { from: 0, to: books.most })
  })
  say(`\n${accounts} accounts before the day`)
  await showSizes(pulse)
  await query(url, 'CREATE EXTENSION IF NOT EXISTS pg_stat_statements')
  await query(url, 'SELECT pg_stat_statements_reset()')
  const heart = setInterval(() => void beat(pulse, deps.processId).catch(() => undefined), 5_000)
  const isTrue = async (condition: ReturnType<typeof sql>) =>
    (await rows(pulse, z.object({ is: z.boolean() }), sql`SELECT ${condition} AS is`))[0]?.is
  const used = (): Cpu => ({ node: process.cpuUsage().user / 1_000 + process.cpuUsage().system / 1_000, postgres: cpu() })
  const total = { making: { node: 0, postgres: 0 }, sending: { node: 0, postgres: 0 } }
  const hours: { hour: number; runs: number; emails: number; cpu: number }[] = []
  const spend = async (on: Cpu, what: () => Promise<void>) => {
    const before = used()
    await what()
    const after = used()
    on.node += after.node - before.node
    on.postgres += after.postgres - before.postgres
  }
  for (let quarter = 0; quarter < 96; quarter += 1) {
    now = begins.add({ minutes: 15 * quarter })
    const sentBefore = deps.accepted()
    const before = used()
    await spend(total.making, () => repeated(() => tick(deps)))
    await spend(total.sending, async () => {
      // Only now, so that the CPU of runs and of emails is measured apart.
      const queue = await openQueue({ db, log, soleProcess: false, timers: systemClock })
      queue.start([work(deliverJob, mailboxesAtOnce, ({ ownerId }, stopping, orphaned) => deliver(deps, ownerId, stopping, orphaned))])
      while (await isTrue(sql`EXISTS (SELECT 1 FROM jobs WHERE name = ${deliverJob.name} AND turn > 0)`)) await pause(200)
      await queue.stop()
      do await repeated(() => sweep(deps))
      while (await isTrue(sql`EXISTS (SELECT 1 FROM runs WHERE settled_at IS NULL)`))
    })
    const after = used()
    const [made] = await rows(
      pulse,
      z.object({ runs: z.number() }),
      sql`SELECT count(*)::int AS runs FROM runs WHERE created_at = ${now.toString()}::timestamptz`,
    )
    const hour = Math.floor(quarter / 4)
    const one = hours[hour] ?? { hour, runs: 0, emails: 0, cpu: 0 }
    hours[hour] = one
    one.runs += made?.runs ?? 0
    one.emails += deps.accepted() - sentBefore
    one.cpu += after.node + after.postgres - before.node - before.postgres
    if (quarter % 4 === 3)
      say(`  ${String(hour).padStart(2, '0')}:00 UTC  ${one.runs} runs, ${one.emails} emails, ${(one.cpu / 1_000).toFixed(1)} s of CPU`)
  }
  clearInterval(heart)
  const runs = hours.reduce((sum, one) => sum + one.runs, 0)
  const emails = deps.accepted()
  const busiest = hours.toSorted((a, b) => b.cpu - a.cpu)[0]
  const statements = await rows(
    pulse,
    z.object({ calls: z.number(), total: z.number(), longest: z.number(), text: z.string() }),
    sql`SELECT calls::float8 AS calls, total_exec_time AS total, max_exec_time AS longest, left(regexp_replace(query, '\\s+', ' ', 'g'), 100) AS text FROM pg_stat_statements
        WHERE dbid = (SELECT oid FROM pg_database WHERE datname = current_database()) ORDER BY total_exec_time DESC`,
  )
  const calls = statements.reduce((sum, one) => sum + one.calls, 0)
  say(`\n${runs} runs, ${emails} emails, ${calls} statements (${(calls / (runs + emails)).toFixed(2)} a run or email)`)
  say(
    `  a run: ${(total.making.postgres / runs).toFixed(2)} ms of PostgreSQL, ${(total.making.node / runs).toFixed(2)} ms of Node, with turning invoices overdue`,
  )
  say(
    `  an email: ${(total.sending.postgres / emails).toFixed(2)} ms of PostgreSQL, ${(total.sending.node / emails).toFixed(2)} ms of Node, without a connection`,
  )
  if (busiest)
    say(
      `  the busiest hour: ${busiest.hour}:00 UTC, ${busiest.runs} runs, ${busiest.emails} emails, ${(busiest.cpu / 1_000).toFixed(0)} s of CPU`,
    )
  for (const [title, list] of [
    ['longest', statements.toSorted((a, b) => b.longest - a.longest)],
    ['most time', statements],
  ] as const)
    for (const { longest, total: took, calls: count, text } of list.slice(0, 8))
      say(`  ${title}: ${longest.toFixed(0)} ms, ${count} times, ${(took / 1_000).toFixed(1)} s in all: ${text}`)
  await query(url, 'VACUUM ANALYZE')
  say('\nAfter the day')
  await showSizes(pulse)
  await compare(url, accounts, emails)
  await deps.close()
}

/** As a worker does: what fails, for example because the machine is busy and a transaction took longer than it may, comes again. */
async function repeated(turn: () => Promise<void>): Promise<void> {
  for (let tries = 1; ; tries += 1) {
    const failure = await turn().then(
      () => null,
      (error: unknown) => ({ error }),
    )
    if (!failure) return
    say(`  again: ${String(failure.error)}`)
    if (tries === 20) throw failure.error
    await pause(2_000)
  }
}

/** Compares the database with what a day has to leave; a difference is the exit code. */
async function compare(url: string, accounts: number, accepted: number): Promise<void> {
  const from = `'${begins.toString()}'::timestamptz`
  const day = `(SELECT r.*, a.timezone, a.reminder_hour, r.created_at AT TIME ZONE a.timezone AS wall FROM runs r JOIN accounts a ON a.id = r.owner_id WHERE r.kind = 'daily' AND r.created_at >= ${from})`
  const wrong = {
    'accounts without exactly one run': `SELECT count(*) FROM accounts a WHERE (SELECT count(*) FROM runs r WHERE r.owner_id = a.id AND r.created_at >= ${from}) <> 1`,
    'runs of another date, or not at the hour': `SELECT count(*) FROM ${day} r WHERE r.local_date <> r.wall::date OR r.wall <> r.local_date + make_interval(hours => r.reminder_hour)`,
    'runs that are not planned, or skipped': `SELECT count(*) FROM ${day} r WHERE r.planned_at IS NULL OR r.skipped_reason IS NOT NULL`,
    'invoices past due without exactly one decision': `SELECT count(*) FROM ${day} r JOIN invoices i ON i.owner_id = r.owner_id WHERE (SELECT count(*) FROM decisions d WHERE d.invoice_id = i.id AND d.local_date = r.local_date)
      <> CASE WHEN i.status <> 'paid' AND i.due_date < r.local_date THEN 1 ELSE 0 END`,
    'invoices past their midnight that are not overdue': `SELECT count(*) FROM invoices i JOIN accounts a ON a.id = i.owner_id WHERE i.status = 'unpaid' AND i.due_date < ((${from} + interval '23 hours 45 minutes') AT TIME ZONE a.timezone)::date`,
    'invoices with more than one email': `SELECT count(*) FROM (SELECT 1 FROM ${day} r JOIN deliveries d ON d.run_id = r.id JOIN delivery_invoices o ON o.delivery_id = d.id GROUP BY o.invoice_id, r.local_date HAVING count(*) > 1) twice`,
    'decisions to write without an email that was sent': `SELECT count(*) FROM ${day} r JOIN invoices i ON i.owner_id = r.owner_id JOIN decisions x ON x.invoice_id = i.id AND x.local_date = r.local_date
      WHERE x.rule = 'mail' AND NOT EXISTS (SELECT 1 FROM deliveries d JOIN delivery_invoices o ON o.delivery_id = d.id WHERE d.id = x.delivery_id AND d.run_id = r.id AND o.invoice_id = i.id AND d.state = 'sent')`,
    'emails unlike those that the mail server accepted': `SELECT abs(${accepted} - (SELECT count(*) FROM ${day} r JOIN deliveries d ON d.run_id = r.id WHERE d.state = 'sent')) AS count`,
    'emails that are not finished': `SELECT count(*) FROM deliveries WHERE state <> 'sent'`,
  }
  say('')
  for (const [what, statement] of Object.entries(wrong)) {
    const [found] = await query<{ count: string }>(url, statement)
    say(`  ${what}: ${found?.count}`)
    if (found?.count !== '0') process.exitCode = 1
  }
  say(`  of ${accounts} accounts`)
}
