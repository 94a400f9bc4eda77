import { type ChildProcess, fork } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { cpus, tmpdir } from 'node:os'
import path from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { sql } from 'drizzle-orm'
import nodemailer from 'nodemailer'
import { defaultContent, defaultGroupContent, defaultGroupSubject, defaultSubject } from '#contract/templates.ts'
import { storeSmtp } from '#server/mail/mail.ts'
import { type Database, openEmbedded, openServer } from '#server/platform/database.ts'
import { composeReminder } from '#server/reminders/compose.ts'
import { createDatabase, openCluster } from '#test/postgres.ts'
import { type Program, someoneAt, startProgram } from '#test/program.ts'

/**
 * Reminders per second from Start (or from the hour of the daily run) to the mail server, compared with a bare nodemailer pool with the same
 * number of connections to the same sink in the same run: on a shared machine a ratio is meaningful, a time is not.
 *
 *   npm run bench                 1,000 and 10,000 invoices
 *   npm run bench -- --full       50,000 too
 */
const { values: given } = parseArgs({ options: { full: { type: 'boolean', default: false }, sizes: { type: 'string' } } })
const sizes = given.sizes ? given.sizes.split(',').map(Number) : given.full ? [1_000, 10_000, 50_000] : [1_000, 10_000]
const secretKey = 'a secret key for measuring, 32 characters'
const login = { user: 'asha@example.com', pass: 'app-password' }

interface Sink {
  port: number
  reset(): Promise<void>
  seen(): Promise<{ received: number; firstAt: number; lastAt: number }>
  end(): void
}

async function openSink(): Promise<Sink> {
  const child: ChildProcess = fork(path.join(import.meta.dirname, 'sink.ts'))
  const [{ port }] = (await once(child, 'message')) as [{ port: number }]
  const ask = async (asked: object) => {
    const answered = once(child, 'message')
    child.send(asked)
    return (await answered)[0] as { received: number; firstAt: number; lastAt: number }
  }
  return { port, seen: () => ask({}), reset: async () => void (await ask({ reset: true })), end: () => child.kill() }
}

interface Figures {
  perSecond: number
  firstMs: number
  memoryMb: number
}

/** The same number of emails with the same content through nodemailer's own pool. */
async function bare(sink: Sink, connections: number, count: number): Promise<number> {
  await sink.reset()
  const pool = nodemailer.createTransport({
    pool: true,
    maxConnections: connections,
    maxMessages: Number.POSITIVE_INFINITY,
    host: '127.0.0.1',
    port: sink.port,
    auth: login,
    ignoreTLS: true,
  })
  const { raw } = await composeReminder({
    id: randomUUID(),
    about: [
      {
        reference: 'INV-0001',
        clientName: 'Client',
        clientEmail: 'client@example.com',
        amountMinor: 100,
        dueDate: '2026-02-20',
        firstMessageId: null,
      },
    ],
    owed: { count: 1, totalMinor: 100 },
    wordings: {
      one: { subject: defaultSubject, content: defaultContent },
      group: { subject: defaultGroupSubject, content: defaultGroupContent },
    },
    from: { name: 'Asha Rao', address: login.user },
    today: '2026-03-02',
    now: Temporal.Now.instant(),
  })
  const began = performance.now()
  let next = 0
  await Promise.all(
    Array.from({ length: connections * 2 }, async () => {
      while (next++ < count) await pool.sendMail({ raw, envelope: { from: login.user, to: `client${next}@example.com` } })
    }),
  )
  const seconds = (performance.now() - began) / 1000
  pool.close()
  return count / seconds
}

/** A database that is also reachable from here. */
interface Place {
  name: string
  env: Record<string, string>
  /** Uses the database directly; the embedded one only while no program runs. */
  use<T>(work: (db: Database) => Promise<T>): Promise<T>
}

/** A time zone in which it is between nine and ten now: in the evening a daily run would wait for the next day. */
function zoneOfMorning(): string {
  const east = 9 - Temporal.Now.zonedDateTimeISO('UTC').hour
  const hours = east < -11 ? east + 24 : east
  return hours > 0 ? `Etc/GMT-${hours}` : `Etc/GMT+${-hours}`
}

async function fill(place: Place, sink: Sink, about: { accounts: number; invoices: number }): Promise<void> {
  await place.use(async (db) => {
    const perAccount = about.invoices / about.accounts
    for (let from = 0; from < about.accounts; from += 100)
      await db.transaction(async (tx) => {
        for (let nth = from; nth < Math.min(from + 100, about.accounts); nth += 1) {
          const id = randomUUID()
          await tx.execute(sql`INSERT INTO accounts (id, display_name, email, timezone, created_at, updated_at, next_midnight_at, overdue_through, reminders_active)
            VALUES (${id}::uuid, 'Asha Rao', ${`owner${nth}@example.com`}, ${zoneOfMorning()}, now(), now(), now() + interval '1 day', current_date, true)`)
          await storeSmtp(tx, secretKey, id, { host: '127.0.0.1', port: sink.port, secure: false, ...login }, Temporal.Now.instant())
        }
      })
    for (let from = 1; from <= perAccount; from += 1_000)
      await db.execute(sql`INSERT INTO invoices (id, owner_id, reference, client_name, client_email, amount_minor, due_date, status, created_at, updated_at)
        SELECT gen_random_uuid(), a.id, 'B-' || n, 'Client ' || n, 'client' || n || '@example.com', 100 + n, current_date - 10 - (n % 50)::int, 'overdue', now(), now()
        FROM accounts a, generate_series(${from}::int, ${Math.min(from + 999, perAccount)}::int) n WHERE a.email LIKE 'owner%'`)
    await db.execute(sql`ANALYZE`)
  })
}

async function measure(place: Place, sink: Sink, about: { accounts: number; invoices: number }): Promise<Figures> {
  await fill(place, sink, about)
  await sink.reset()
  const due = (db: Database, at: string) => db.execute(sql`UPDATE accounts SET next_run_at = ${at}::timestamptz WHERE email LIKE 'owner%'`)
  const soon = Temporal.Now.instant().add({ seconds: place.env.DATA_DIR ? 8 : 3 })
  await place.use((db) => due(db, soon.toString()))
  await using program: Program = await startProgram({ ...place.env, LOG_LEVEL: 'warn' })
  await someoneAt(program.url, 'watcher@example.com')
  const memoryBefore = residentMb(program.pid)
  let most = memoryBefore
  for (;;) {
    await pause(100)
    most = Math.max(most, residentMb(program.pid))
    const { received, firstAt, lastAt } = await sink.seen()
    if (received < about.invoices) continue
    return {
      perSecond: (received - 1) / ((lastAt - firstAt) / 1000),
      firstMs: firstAt - soon.epochMilliseconds,
      memoryMb: most - memoryBefore,
    }
  }
}

function residentMb(pid: number): number {
  const kilobytes = /VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]
  return Number(kilobytes ?? 0) / 1024
}

async function main(): Promise<void> {
  const sink = await openSink()
  const cluster = await openCluster({ durable: true })
  const folders: string[] = []
  const rowsOut: string[][] = [['database', 'accounts', 'invoices', 'reminders/s', 'bare/s', 'ratio', 'first mail ms', 'memory MB']]
  try {
    for (const accounts of [1, 1_000])
      for (const invoices of sizes) {
        const places: Place[] = []
        if (cluster) {
          const url = await createDatabase(cluster.url)
          places.push({
            name: 'PostgreSQL',
            env: { DATABASE_URL: url, SECRET_KEY: secretKey },
            async use(work) {
              const opened = await openServer(url)
              return work(opened.db).finally(() => opened.close())
            },
          })
        }
        const folder = mkdtempSync(path.join(tmpdir(), 'duely-bench-'))
        folders.push(folder)
        places.push({
          name: 'embedded',
          env: { DATA_DIR: folder, SECRET_KEY: secretKey },
          async use(work) {
            const opened = await openEmbedded(folder)
            return work(opened.db).finally(() => opened.close())
          },
        })
        for (const place of places) {
          const connections = accounts === 1 ? 2 : 8
          const before = await bare(sink, connections, Math.min(invoices, 5_000))
          const figures = await measure(place, sink, { accounts, invoices })
          const after = await bare(sink, connections, Math.min(invoices, 5_000))
          const limit = (before + after) / 2
          rowsOut.push([
            place.name,
            String(accounts),
            String(invoices),
            figures.perSecond.toFixed(0),
            limit.toFixed(0),
            (figures.perSecond / limit).toFixed(2),
            figures.firstMs.toFixed(0),
            figures.memoryMb.toFixed(0),
          ])
          process.stdout.write(`${rowsOut.at(-1)?.join('\t')}\n`)
        }
      }
  } finally {
    sink.end()
    await cluster?.stop()
    for (const folder of folders) rmSync(folder, { recursive: true, force: true })
  }
  const widths = (rowsOut[0] ?? []).map((_cell, at) => Math.max(...rowsOut.map((row) => row[at]?.length ?? 0)))
  process.stdout.write(`\n${cpus().length} cores, Node ${process.versions.node}\n`)
  for (const row of rowsOut) process.stdout.write(`${row.map((cell, at) => cell.padStart(widths[at] ?? 0)).join('  ')}\n`)
}

await main()
