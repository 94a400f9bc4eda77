import { type ChildProcess, fork } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { cpus, tmpdir } from 'node:os'
import path from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { sql } from 'drizzle-orm'
import nodemailer from 'nodemailer'
import pLimit from 'p-limit'
import {
  defaultContent,
  defaultGroupContent,
  defaultGroupSubject,
  defaultSubject,
  reminderDocument,
  reminderValues,
  renderReminder,
} from '#contract/templates.ts'
import { storeSmtp } from '#server/mail/mail.ts'
import { type Database, openEmbedded, openServer } from '#server/platform/database.ts'
import { composeReminder } from '#server/reminders/compose.ts'
import { createDatabase, openCluster } from '#test/postgres.ts'
import { type Program, startProgram } from '#test/program.ts'

/**
 * Reminders of many accounts from the hour of their daily run to the mail server, compared in the same run with L, the limit: nodemailer for 64
 * accounts at a time, each with a transport of its own (two connections where it has more than 40 emails), TLS, a login, and an email with text
 * and HTML for every recipient. On a shared machine a ratio is meaningful, a time is not.
 *
 *   npm run bench                          small cases, in a minute or two
 *   npm run bench -- --full                1 × 10,000, 1,000 × 1 and 1,000 × 10
 *   npm run bench -- --cases 1x500,50x4    accounts × emails
 *   npm run bench -- --sink 300,0          ms before the reply to the dot, and before every other reply
 *   npm run bench -- --on embedded         one database only: postgres or embedded
 *   npm run bench -- --block               also with the ways to pay in every email: without, with, with, without
 */
const { values: given } = parseArgs({
  options: {
    full: { type: 'boolean', default: false },
    cases: { type: 'string' },
    sink: { type: 'string', default: '0,0' },
    on: { type: 'string', default: 'postgres,embedded' },
    block: { type: 'boolean', default: false },
  },
})
interface Case {
  accounts: number
  each: number
  /** Every email has the ways to pay, with a code and a pay link of its own. */
  block?: boolean
}
const cases = (given.cases ?? (given.full ? '1x10000,1000x1,1000x10' : '1x400,100x1,100x10')).split(',').map((text): Case => {
  const [accounts = 1, each = 1] = text.split('x').map(Number)
  return { accounts, each }
})
const secretKey = 'a secret key for measuring, 32 characters'
const login = { user: 'asha@example.com', pass: 'app-password' }
const accountsOfLimit = 64
const manyForOneConnection = 40

interface Sink {
  port: number
  reset(): Promise<void>
  seen(): Promise<{ received: number; firstAt: number; lastAt: number }>
  end(): void
}

async function openSink(): Promise<Sink> {
  const child: ChildProcess = fork(path.join(import.meta.dirname, 'sink.ts'), given.sink.split(','))
  const [{ port }] = (await once(child, 'message')) as [{ port: number }]
  const ask = async (asked: object) => {
    const answered = once(child, 'message')
    child.send(asked)
    return (await answered)[0] as { received: number; firstAt: number; lastAt: number }
  }
  return { port, seen: () => ask({}), reset: async () => void (await ask({ reset: true })), end: () => child.kill() }
}

const transport = (sink: Sink, connections: number) =>
  nodemailer.createTransport({
    pool: true,
    maxConnections: connections,
    maxMessages: Number.POSITIVE_INFINITY,
    host: '127.0.0.1',
    port: sink.port,
    secure: true,
    auth: login,
    tls: { rejectUnauthorized: false },
  })

/** L, in emails a second. */
async function limitOf(sink: Sink, { accounts, each }: Case): Promise<number> {
  await sink.reset()
  const atOnce = pLimit(accountsOfLimit)
  const began = performance.now()
  const account = async () => {
    const pool = transport(sink, each > manyForOneConnection ? 2 : 1)
    const send = async (nth: number) => {
      const values = reminderValues({
        clientName: `Client ${nth}`,
        userName: 'Asha Rao',
        reference: `B-${nth}`,
        currency: 'INR',
        amount: 100 + nth,
        invoiceAmount: 100 + nth,
        paidAmount: 0,
        dueDate: '2026-02-20',
        daysOverdue: 1 + (nth % 50),
      })
      const { subject, text, html } = renderReminder({ subject: defaultSubject, content: defaultContent }, values)
      await pool.sendMail({ from: login.user, to: `client${nth}@example.com`, subject, text, html: reminderDocument(html) })
    }
    const ahead = pLimit(100)
    await ahead.map(
      Array.from({ length: each }, (_none, nth) => nth),
      send,
    )
    pool.close()
  }
  await Promise.all(Array.from({ length: accounts }, () => atOnce(account)))
  return (accounts * each * 1_000) / (performance.now() - began)
}

/** The second column for one account: one prepared message through a pool of two connections. */
async function preparedPool(sink: Sink, { each }: Case): Promise<number> {
  const { raw } = await composeReminder({
    id: randomUUID(),
    about: [
      {
        id: randomUUID(),
        reference: 'B-1',
        clientName: 'Client',
        clientEmail: 'client@example.com',
        balanceMinor: 100,
        amountMinor: 100,
        currency: 'INR',
        fileId: null,
        fileSize: null,
        dueDate: '2026-02-20',
        firstMessageId: null,
        lastMessageId: null,
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
    pay: null,
  })
  const pool = transport(sink, 2)
  const began = performance.now()
  const ahead = pLimit(100)
  await ahead.map(
    Array.from({ length: each }, (_none, nth) => nth),
    (nth) => pool.sendMail({ raw, envelope: { from: login.user, to: `client${nth}@example.com` } }),
  )
  pool.close()
  return (each * 1_000) / (performance.now() - began)
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

async function fill(place: Place, sink: Sink, { accounts, each, block = false }: Case): Promise<void> {
  await place.use(async (db) => {
    for (let from = 0; from < accounts; from += 100)
      await db.transaction(async (tx) => {
        for (let nth = from; nth < Math.min(from + 100, accounts); nth += 1) {
          const id = randomUUID()
          await tx.execute(sql`INSERT INTO accounts (id, display_name, email, timezone, created_at, updated_at, next_midnight_at, reminders_active)
            VALUES (${id}::uuid, 'Asha Rao', ${`owner${nth}@example.com`}, ${zoneOfMorning()}, now(), now(), now() + interval '1 day', true)`)
          await storeSmtp(tx, secretKey, id, { host: '127.0.0.1', port: sink.port, secure: true, ...login }, Temporal.Now.instant())
        }
      })
    for (let from = 1; from <= each; from += 1_000)
      await db.execute(sql`INSERT INTO invoices (id, owner_id, reference, client_name, client_email, amount_minor, due_date, status, created_at, updated_at)
        SELECT gen_random_uuid(), a.id, 'B-' || n, 'Client ' || n, 'client' || n || '@example.com', 100 + n, current_date - 10 - (n % 50)::int, 'overdue', now(), now()
        FROM accounts a, generate_series(${from}::int, ${Math.min(from + 999, each)}::int) n WHERE a.email LIKE 'owner%'`)
    if (block)
      await db.execute(sql`INSERT INTO payment_settings (owner_id, version, upi, bank, in_emails, pdf, business_name, details, updated_at)
        SELECT id, 1, '{"id": "asha@okaxis", "name": "Asha Traders", "merchantCode": null}',
          '{"kind": "india", "accountName": "Asha Traders", "accountNumber": "50100234567891", "ifsc": "HDFC0001234"}', true, 'link', '', '', now() FROM accounts`)
    await db.execute(sql`ANALYZE`)
  })
}

interface Figures {
  perSecond: number
  firstMs: number
  /** CPU of the program, and of everything that is PostgreSQL, in ms an email. */
  nodeMs: number
  postgresMs: number
  memoryMb: number
}

async function measure(place: Place, sink: Sink, about: Case): Promise<Figures> {
  await fill(place, sink, about)
  await sink.reset()
  const emails = about.accounts * about.each
  const dueIn = async (seconds: number) => {
    const at = Temporal.Now.instant().add({ seconds })
    await place.use(async (db) => {
      await db.execute(sql`UPDATE accounts SET next_run_at = ${at.toString()}::timestamptz WHERE email LIKE 'owner%'`)
    })
    return at.epochMilliseconds
  }
  // The embedded database belongs to the program once it runs; on a busy machine the start may take longer than these seconds.
  const planned = place.env.DATA_DIR ? await dueIn(10) : 0
  await using program: Program = await startProgram({ ...place.env, LOG_LEVEL: 'warn', PAY_LINKS: 'on' })
  const hour = planned === 0 ? await dueIn(3) : Math.max(planned, Date.now())
  await pause(Math.max(0, hour - Date.now() - 500))
  const before = { node: cpuMs(program.pid), postgres: cpuOfPostgres(), memory: residentMb(program.pid) }
  let memory = before.memory
  for (;;) {
    await pause(100)
    memory = Math.max(memory, residentMb(program.pid))
    const { received, firstAt, lastAt } = await sink.seen()
    if (received < emails) continue
    return {
      // From the hour, as an owner sees it; L begins with its first connection too.
      perSecond: (emails * 1_000) / (lastAt - hour),
      firstMs: firstAt - hour,
      nodeMs: (cpuMs(program.pid) - before.node) / emails,
      postgresMs: (cpuOfPostgres() - before.postgres) / emails,
      memoryMb: memory - before.memory,
    }
  }
}

/** CPU of a process so far; `/proc` counts in hundredths of a second. */
function cpuMs(pid: number | string): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? []
  return (Number(fields[11]) + Number(fields[12])) * 10
}

function cpuOfPostgres(): number {
  let sum = 0
  for (const pid of readdirSync('/proc').filter((name) => /^\d+$/.test(name)))
    try {
      if (readFileSync(`/proc/${pid}/comm`, 'utf8').startsWith('postgres')) sum += cpuMs(pid)
    } catch {
      // It has ended meanwhile.
    }
  return sum
}

function residentMb(pid: number): number {
  const kilobytes = /VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]
  return Number(kilobytes ?? 0) / 1024
}

async function main(): Promise<void> {
  const sink = await openSink()
  const cluster = given.on.includes('postgres') ? await openCluster({ durable: true }) : null
  const folders: string[] = []
  const table: string[][] = [
    ['database', 'accounts × emails', 'a second', 'L', 'ratio', 'of the pool', 'first ms', 'node ms', 'PG ms', 'MB'],
  ]
  try {
    for (const one of cases.flatMap((about) =>
      (given.block ? [false, true, true, false] : [false]).map((block) => ({ ...about, block })),
    )) {
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
      if (given.on.includes('embedded')) {
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
      }
      for (const place of places) {
        const before = await limitOf(sink, one)
        const figures = await measure(place, sink, one)
        const limit = (before + (await limitOf(sink, one))) / 2
        const pool = one.accounts === 1 ? (figures.perSecond / (await preparedPool(sink, one))).toFixed(2) : ''
        const { perSecond, firstMs, nodeMs, postgresMs, memoryMb } = figures
        table.push([
          place.name,
          `${one.accounts} × ${one.each}${one.block ? ', block' : ''}`,
          perSecond.toFixed(0),
          limit.toFixed(0),
          (perSecond / limit).toFixed(2),
          pool,
          firstMs.toFixed(0),
          nodeMs.toFixed(2),
          place.env.DATA_DIR ? '' : postgresMs.toFixed(2),
          memoryMb.toFixed(0),
        ])
        process.stdout.write(`${table.at(-1)?.join('\t')}\n`)
      }
    }
  } finally {
    sink.end()
    await cluster?.stop()
    for (const folder of folders) rmSync(folder, { recursive: true, force: true })
  }
  const widths = (table[0] ?? []).map((_cell, at) => Math.max(...table.map((row) => row[at]?.length ?? 0)))
  process.stdout.write(`\n${cpus().length} cores, Node ${process.versions.node}, sink ${given.sink} ms\n`)
  for (const row of table) process.stdout.write(`${row.map((cell, at) => cell.padStart(widths[at] ?? 0)).join('  ')}\n`)
}

await main()
