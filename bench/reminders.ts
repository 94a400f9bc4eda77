import { randomUUID } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
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
import { sealPassword } from '#server/mail/sender.ts'
import { mailConfigs } from '#server/mail/tables.ts'
import { newId } from '#server/platform/columns.ts'
import { arrayText, type Database, openEmbedded, openServer } from '#server/platform/database.ts'
import { composeReminder } from '#server/reminders/compose.ts'
import { addOwners } from '#test/factories.ts'
import { openSink, type Sink } from '#test/fakes/sink.ts'
import { createDatabase, openCluster } from '#test/postgres.ts'
import { type Program, residentMb, startProgram } from '#test/program.ts'
import { addOwner, counting, cpuMs, cpuOfServer, quantile, secretKey, statementsAt } from './measure.ts'

/**
 * Reminders of many accounts from the hour of their daily run to the mail server, compared in the same run with L, the limit: nodemailer for 64
 * accounts at a time, each with a transport of its own (two connections where it has more than 40 emails), TLS, a login, and an email with text
 * and HTML for every recipient. Meanwhile an account without reminders asks for its 50 invoices every 100 ms. On a shared machine a ratio is meaningful, a time is not.
 *
 *   npm run bench                          small cases, in a minute or two
 *   npm run bench -- --full                the large ones, in a quarter of an hour
 *   npm run bench -- --cases 1x500,50x4x2  accounts × emails, by so many processes
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
  processes: number
  /** Every email has the ways to pay, with a code and a pay link of its own. */
  block?: boolean
}
const large = '1x10000,1000x1,1000x10,10000x1,10000x1x2,10000x1x4,50000x1,100000x1'
const cases = (given.cases ?? (given.full ? large : '1x400,100x1,100x10')).split(',').map((text): Case => {
  const [accounts = 1, each = 1, processes = 1] = text.split('x').map(Number)
  return { accounts, each, processes }
})
/** The embedded database is for one process, and for a few thousand accounts. */
const mostEmbedded = 1_000
/** L grows with their number no more. */
const mostOfLimit = 1_000
const login = { user: 'asha@example.com', pass: 'app-password' }
const compiled = mkdtempSync(path.join(tmpdir(), 'duely-bench-compiled-'))
const accountsOfLimit = 64
const manyForOneConnection = 40

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
async function limitOf(sink: Sink, { each, ...about }: Case): Promise<number> {
  const accounts = Math.min(about.accounts, mostOfLimit)
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
  const ids = Array.from({ length: accounts }, () => newId())
  await place.use(async (db) => {
    for (let from = 0; from < accounts; from += 1_000) {
      const part = ids.slice(from, from + 1_000)
      await db.execute(sql`INSERT INTO accounts (id, timezone, created_at, updated_at, next_midnight_at, reminders_active)
        SELECT id, ${zoneOfMorning()}, now(), now(), now() + interval '1 day', true FROM unnest(${arrayText(part)}::uuid[]) id`)
      await addOwners(db)
      const [first = '', ...others] = part
      const sender = await storeSmtp(
        db,
        secretKey,
        first,
        { host: '127.0.0.1', port: sink.port, secure: true, ...login },
        Temporal.Now.instant(),
      )
      const mailboxOf = (ownerId: string) => ({
        ...sender,
        ownerId,
        place: ownerId,
        senderId: newId(),
        sealedPassword: sealPassword(secretKey, ownerId, login.pass),
      })
      if (others.length > 0) await db.insert(mailConfigs).values(others.map(mailboxOf))
      const some = Math.ceil(10_000 / part.length)
      for (let nth = 1; nth <= each; nth += some)
        await db.execute(sql`INSERT INTO invoices (id, owner_id, reference, client_name, client_email, amount_minor, due_date, status, created_at, updated_at)
          SELECT gen_random_uuid(), id, 'B-' || n, 'Client ' || n, 'client' || n || '@example.com', 100 + n, current_date - 10 - (n % 50)::int, 'overdue', now(), now()
          FROM unnest(${arrayText(part)}::uuid[]) id, generate_series(${nth}::int, ${Math.min(nth + some - 1, each)}::int) n`)
    }
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
  /** Of GET /invoice meanwhile, in ms: 95 % of the calls took less. */
  callMs: number
  /** On PostgreSQL, an email. */
  statements: number
  /** CPU of the programs, and of the server, in ms an email. */
  nodeMs: number
  postgresMs: number
  /** Of the largest program, before and at most. */
  idleMb: number
  mostMb: number
}

/** Asks for the invoices of an account every 100 ms, whether or not the call before was answered, until it ends; in ms. */
function askMeanwhile(url: string, authorization: string): { end(): Promise<number[]> } {
  const calls: Promise<number>[] = []
  const ask = async () => {
    const began = performance.now()
    const answered = await fetch(`${url}/invoice`, { headers: { authorization } })
    await answered.arrayBuffer()
    return answered.ok ? performance.now() - began : Number.POSITIVE_INFINITY
  }
  const timer = setInterval(() => calls.push(ask()), 100)
  return {
    end() {
      clearInterval(timer)
      return Promise.all(calls)
    },
  }
}

async function measure(place: Place, sink: Sink, about: Case): Promise<Figures> {
  await fill(place, sink, about)
  const asking = await place.use((db) => addOwner(db, 'asking@example.com', 50, null))
  await sink.reset()
  const emails = about.accounts * about.each
  const dueIn = async (seconds: number) => {
    const at = Temporal.Now.instant().add({ seconds })
    await place.use(async (db) => {
      await db.execute(sql`UPDATE accounts SET next_run_at = ${at.toString()}::timestamptz WHERE id <> ${asking.id}::uuid`)
    })
    return at.epochMilliseconds
  }
  // The embedded database belongs to the program once it runs; on a busy machine the start may take longer than these seconds.
  const planned = place.env.DATA_DIR ? await dueIn(10) : 0
  await using stack = new AsyncDisposableStack()
  const start = async (): Promise<Program> =>
    stack.use(await startProgram({ ...place.env, LOG_LEVEL: 'warn', PAY_LINKS: 'on', NODE_COMPILE_CACHE: compiled }))
  const program = await start()
  const programs = [program, ...(await Promise.all(Array.from({ length: about.processes - 1 }, start)))]
  const hour = planned === 0 ? await dueIn(3 + Math.ceil(about.accounts / 10_000)) : Math.max(planned, Date.now())
  await pause(Math.max(0, hour - Date.now() - 500))
  const cpu = () => programs.reduce((sum, { pid }) => sum + cpuMs(pid), 0)
  const memory = () => Math.max(...programs.map(({ pid }) => residentMb(pid)))
  const url = place.env.DATABASE_URL
  const statements = async () => (url ? await statementsAt(url) : 0)
  const postgres = () => (url ? cpuOfServer(url) : 0)
  const before = { node: cpu(), postgres: postgres(), memory: memory(), statements: await statements() }
  const calls = askMeanwhile(program.url, asking.authorization)
  let mostMb = before.memory
  for (;;) {
    await pause(100)
    mostMb = Math.max(mostMb, memory())
    const { received, firstAt, lastAt } = await sink.seen()
    if (received < emails) continue
    const answered = await calls.end()
    return {
      // From the hour, as an owner sees it; L begins with its first connection too.
      perSecond: (emails * 1_000) / (lastAt - hour),
      firstMs: firstAt - hour,
      callMs: quantile(answered, 0.95),
      // GET /invoice is two statements: who asks, and the list.
      statements: ((await statements()) - before.statements - 2 * answered.length) / emails,
      nodeMs: (cpu() - before.node) / emails,
      postgresMs: (postgres() - before.postgres) / emails,
      idleMb: before.memory,
      mostMb,
    }
  }
}

async function main(): Promise<void> {
  const [dotMs, replyMs] = given.sink.split(',').map(Number)
  using sink = await openSink({ dotMs, replyMs })
  const cluster = given.on.includes('postgres') ? await openCluster({ durable: true, settings: [counting] }) : null
  const folders = [compiled]
  const table: string[][] = [
    [
      'database',
      'accounts × emails',
      'processes',
      'a second',
      'L',
      'ratio',
      'of the pool',
      'first ms',
      'call ms',
      'statements',
      'node ms',
      'PG ms',
      'MB',
    ],
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
      if (given.on.includes('embedded') && one.processes === 1 && one.accounts <= mostEmbedded) {
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
        const { perSecond, firstMs, callMs, statements, nodeMs, postgresMs, idleMb, mostMb } = figures
        const onServer = (figure: number) => (place.env.DATA_DIR ? '' : figure.toFixed(2))
        table.push([
          place.name,
          `${one.accounts} × ${one.each}${one.block ? ', block' : ''}`,
          String(one.processes),
          perSecond.toFixed(0),
          limit.toFixed(0),
          (perSecond / limit).toFixed(2),
          pool,
          firstMs.toFixed(0),
          callMs.toFixed(0),
          onServer(statements),
          nodeMs.toFixed(2),
          onServer(postgresMs),
          `${idleMb.toFixed(0)} → ${mostMb.toFixed(0)}`,
        ])
        process.stdout.write(`${table.at(-1)?.join('\t')}\n`)
      }
    }
  } finally {
    await cluster?.stop()
    for (const folder of folders) rmSync(folder, { recursive: true, force: true })
  }
  const widths = (table[0] ?? []).map((_cell, at) => Math.max(...table.map((row) => row[at]?.length ?? 0)))
  process.stdout.write(`\n${cpus().length} cores, Node ${process.versions.node}, sink ${given.sink} ms\n`)
  for (const row of table) process.stdout.write(`| ${row.map((cell, at) => cell.padStart(widths[at] ?? 0)).join(' | ')} |\n`)
}

await main()
