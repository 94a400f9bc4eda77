import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import http from 'node:http'
import net from 'node:net'
import { cpus, tmpdir } from 'node:os'
import path from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { sql } from 'drizzle-orm'
import { z } from 'zod'
import { hashPassword } from '#server/accounts/passwords.ts'
import { signAccessToken } from '#server/accounts/sessions.ts'
import { storeSmtp } from '#server/mail/mail.ts'
import { type Database, openEmbedded, openServer, rows } from '#server/platform/database.ts'
import { openFakeReceiver } from '#test/fakes/receiver.ts'
import { openFakeSmtp, reset, silence } from '#test/fakes/smtp-server.ts'
import { createDatabase, openCluster, query } from '#test/postgres.ts'
import { type Program, residentMb, startProgram } from '#test/program.ts'
import { seeded } from '#test/seeded.ts'
import { addOwner, cpuMs, type Owner, quantile, secretKey } from './measure.ts'

/**
 * Four hours of a server with so many accounts in twenty minutes: calls, daily runs, webhooks and traces at twelve times their ordinary rate, while mail servers,
 * receivers, the collector, the database and clients fail in turn. At a third of the time and at the end the load rests, garbage is collected, and memory
 * and handles of the program are compared: neither may have grown by more than 5 %.
 *
 *   npm run soak
 *   npm run soak -- --on embedded --minutes 5 --accounts 100
 */
const { values: given } = parseArgs({
  options: {
    on: { type: 'string', default: 'embedded,postgres' },
    minutes: { type: 'string', default: '20' },
    accounts: { type: 'string', default: '100' },
  },
})
const [minutes, accounts] = [Number(given.minutes), Number(given.accounts)]
/** What people of one account ask for in a minute: half a call, twelve times. */
const callsAMinute = 0.5 * 12
const [mostGrowth, slowest] = [0.05, 30_000]
/** For so long, in ms, nothing is asked before memory is measured: connections of pools and mailboxes close meanwhile. */
const rest = 45_000
const [faultEvery, faultFor] = [15_000, 10_000]
const password = 'a password for soaking'
const random = seeded(1)
const pick = <T>(of: readonly T[]): T => of[Math.floor(random() * of.length)] as T

interface Account extends Owner {
  invoices: string[]
}

/** Accounts with a mailbox, five overdue invoices, a webhook for every third, and a daily run at some moment of the run. */
async function addAccounts(db: Database, smtpPort: number): Promise<Account[]> {
  const passwordHash = await hashPassword(password)
  const now = Temporal.Now.instant()
  const all: Account[] = []
  for (let nth = 0; nth < accounts; nth += 1) {
    const owner = await addOwner(db, `owner${nth}@example.com`, 5, passwordHash)
    await storeSmtp(
      db,
      secretKey,
      owner.id,
      { host: '127.0.0.1', port: smtpPort, secure: false, user: 'asha@example.com', pass: 'app-password' },
      now,
    )
    all.push({ ...owner, invoices: [] })
  }
  // A daily run takes place until 18:00, so it is about noon where they are.
  const ahead = 12 - Temporal.Now.zonedDateTimeISO('UTC').hour
  const zone = ahead === 0 ? 'Etc/GMT' : `Etc/GMT${ahead > 0 ? '-' : '+'}${Math.abs(ahead)}`
  await db.execute(
    sql`UPDATE accounts SET timezone = ${zone}, reminders_active = true, next_midnight_at = now() + interval '10 hours', next_run_at = now() + random() * ${minutes}::int * interval '1 minute'`,
  )
  const found = await rows(db, z.object({ owner: z.string(), id: z.string() }), sql`SELECT owner_id AS owner, id FROM invoices`)
  const byOwner = Map.groupBy(found, ({ owner }) => owner)
  for (const one of all) one.invoices.push(...(byOwner.get(one.id) ?? []).map(({ id }) => id))
  return all
}

interface Answered {
  status: number
  body: string
}

/** What is asked of the program, and how long it took. */
class Traffic {
  readonly times = new Map<string, number[]>()
  readonly statuses = new Map<string, number>()
  readonly #program: Program
  #agent = new http.Agent({ keepAlive: true, maxSockets: 64 })
  underWay = 0

  constructor(program: Program) {
    this.#program = program
  }

  async ask(who: Account | null, method: string, where: string, body?: object, route = where): Promise<Answered> {
    const text = body && JSON.stringify(body)
    const headers = {
      ...(who ? { authorization: `Bearer ${signAccessToken(secretKey, who.sessionId, Temporal.Now.instant())}` } : { accept: 'text/html' }),
      ...(text ? { 'content-type': 'application/json' } : {}),
    }
    const began = performance.now()
    this.underWay += 1
    const answered = await new Promise<Answered>((resolve) => {
      const asked = http.request(this.#program.url + where, { method, agent: this.#agent, headers, timeout: slowest }, (response) => {
        const parts: Buffer[] = []
        response.on('data', (part: Buffer) => parts.push(part))
        response.on('end', () => resolve({ status: response.statusCode ?? 0, body: Buffer.concat(parts).toString() }))
        response.on('error', () => resolve({ status: 0, body: '' }))
      })
      asked.on('timeout', () => asked.destroy(new Error('too late')))
      asked.on('error', () => resolve({ status: 0, body: '' }))
      asked.end(text)
    })
    this.underWay -= 1
    const name = `${method} ${route}`
    this.times.set(name, [...(this.times.get(name) ?? []), performance.now() - began])
    const status = `${answered.status}`
    this.statuses.set(status, (this.statuses.get(status) ?? 0) + 1)
    return answered
  }

  /** Closes connections that nothing is asked on. */
  hangUp(): void {
    this.#agent.destroy()
    this.#agent = new http.Agent({ keepAlive: true, maxSockets: 64 })
  }

  /** A client that goes away in the middle of its request, or before the answer. */
  leave(who: Account): void {
    const { hostname, port } = new URL(this.#program.url)
    const socket = net.connect(Number(port), hostname, () =>
      socket.write(
        `GET /invoices/export HTTP/1.1\r\nhost: x\r\nauthorization: ${who.authorization}\r\n${random() < 0.5 ? '\r\n' : 'x-half: '}`,
      ),
    )
    socket.on('error', () => undefined)
    setTimeout(() => socket.destroy(), random() * 200).unref()
  }
}

const dueDate = (days: number) => Temporal.Now.plainDateISO('UTC').add({ days }).toString()
const draft = () => ({
  clientName: pick(['Kaveri Foods', 'Zoë & Söhne', 'Banyan Hotels']),
  clientEmail: `client${Math.floor(random() * 1e6)}@example.com`,
  amount: Math.ceil(random() * 90_000),
  dueDate: dueDate(Math.floor(random() * 40) - 20),
})

/** What people do, and how often among a hundred things. */
const deeds: [often: number, does: (traffic: Traffic, who: Account) => Promise<unknown>][] = [
  [18, (traffic, who) => traffic.ask(who, 'GET', '/invoice')],
  [12, (traffic, who) => traffic.ask(who, 'GET', '/reminder/status')],
  [12, (traffic, who) => traffic.ask(who, 'GET', '/user/notices')],
  [8, (traffic, who) => traffic.ask(who, 'GET', `/invoice/${pick(who.invoices)}`, undefined, '/invoice/:id')],
  [6, (traffic) => traffic.ask(null, 'GET', pick(['/', '/dashboard', '/pricing', '/signin']))],
  [5, (traffic, who) => traffic.ask(who, 'GET', '/reminder/runs')],
  [4, (traffic, who) => traffic.ask(who, 'GET', '/clients')],
  [3, (traffic, who) => traffic.ask(who, 'GET', '/insights')],
  [2, (traffic, who) => traffic.ask(who, 'GET', '/reminder/pending')],
  [1, (traffic, who) => traffic.ask(who, 'GET', '/invoices/export')],
  [0.3, (traffic, who) => traffic.ask(who, 'GET', '/user/export')],
  [2, (traffic, who) => traffic.ask(null, 'POST', '/auth', { email: who.email, password })],
  [
    8,
    async (traffic, who) => {
      const { status, body } = await traffic.ask(who, 'POST', '/invoice', draft())
      if (status === 201) who.invoices.push((JSON.parse(body) as { _id: string })._id)
    },
  ],
  [5, (traffic, who) => traffic.ask(who, 'PATCH', `/invoice/${pick(who.invoices)}`, { clientName: 'Kaveri Foods' }, '/invoice/:id')],
  [
    4,
    (traffic, who) =>
      traffic.ask(who, 'POST', `/invoice/${pick(who.invoices)}/payments`, { amount: 1, method: 'bank' }, '/invoice/:id/payments'),
  ],
  [
    // So that lists do not become longer and longer.
    8,
    async (traffic, who) => {
      if (who.invoices.length <= 5) return
      const [id] = who.invoices.splice(0, 1)
      await traffic.ask(who, 'DELETE', `/invoice/${id}`, undefined, '/invoice/:id')
    },
  ],
  [1, (traffic, who) => traffic.ask(who, 'POST', '/reminder/send-immediate')],
  [
    0.5,
    async (traffic, who) => {
      const { body } = await traffic.ask(who, 'POST', '/invoices/import', { lines: Array.from({ length: 20 }, draft) })
      const ids = [...body.matchAll(/"_id":"([^"]+)"/g)].map(([, id]) => id)
      if (ids.length > 0) await traffic.ask(who, 'POST', '/invoices/change', { change: { do: 'delete' }, ids })
    },
  ],
]
const allOften = deeds.reduce((sum, [often]) => sum + often, 0)

function someDeed(): (typeof deeds)[number][1] {
  const at = random() * allOften
  let sum = 0
  for (const [often, does] of deeds) {
    sum += often
    if (at < sum) return does
  }
  return async () => undefined
}

const measured = z.object({
  heapUsed: z.number(),
  external: z.number(),
  resources: z.array(z.string()),
})

interface Measured {
  heapMb: number
  outsideMb: number
  rssMb: number
  handles: number
}

/** What a process holds once its garbage was collected, by Node's inspector. */
async function measure(program: Program): Promise<Measured> {
  const [, address = ''] = /Debugger listening on (ws:\S+)/.exec(program.output()) ?? []
  const socket = new WebSocket(address)
  await new Promise((resolve, reject) => {
    socket.onopen = resolve
    socket.onerror = reject
  })
  let nth = 0
  const ask = (method: string, params: object = {}) => {
    nth += 1
    const id = nth
    socket.send(JSON.stringify({ id, method, params }))
    return new Promise<unknown>((resolve) =>
      socket.addEventListener('message', ({ data }) => {
        const said = JSON.parse(String(data)) as { id?: number; result?: unknown }
        if (said.id === id) resolve(said.result)
      }),
    )
  }
  await ask('HeapProfiler.enable')
  for (let go = 0; go < 3; go += 1) {
    await ask('HeapProfiler.collectGarbage')
    await pause(200)
  }
  const expression = 'JSON.stringify({ ...process.memoryUsage(), resources: process.getActiveResourcesInfo() })'
  const answered = z
    .object({ result: z.object({ value: z.string() }) })
    .parse(await ask('Runtime.evaluate', { expression, returnByValue: true }))
  const rssMb = residentMb(program.pid)
  const handles = readdirSync(`/proc/${program.pid}/fd`).length
  socket.close()
  const { heapUsed, external } = measured.parse(JSON.parse(answered.result.value))
  return { heapMb: heapUsed / 2 ** 20, outsideMb: external / 2 ** 20, rssMb, handles }
}

const shown = ({ heapMb, outsideMb, rssMb, handles }: Measured) =>
  `heap ${heapMb.toFixed(1)} MB, buffers ${outsideMb.toFixed(1)} MB, resident ${rssMb.toFixed(0)} MB, ${handles} handles`

const growth = (before: number, after: number) => after / before - 1

/** Every state of an email in the database, and how many are recorded as sent that no server got. */
async function emailsOf(db: Database, received: Set<string>): Promise<string> {
  const shape = z.object({ id: z.string().nullable(), state: z.string() })
  const states = Map.groupBy(await rows(db, shape, sql`SELECT message_id AS id, state FROM deliveries`), ({ state }) => state)
  const lost = (states.get('sent') ?? []).filter(({ id }) => !received.has(id ?? '')).length
  if (lost > 0) process.exitCode = 1
  return `${[...states].map(([state, all]) => `${state} ${all.length}`).join(', ')}; recorded as sent and not received ${lost}`
}

async function soak(on: string): Promise<void> {
  await using stack = new AsyncDisposableStack()
  const smtp = stack.use(await openFakeSmtp({ delayMs: 20 }))
  const receiver = stack.use(await openFakeReceiver())
  const collector = stack.use(await openFakeReceiver())
  const folder = mkdtempSync(path.join(tmpdir(), 'duely-soak-'))
  stack.defer(() => rmSync(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 }))
  const cluster = on === 'postgres' ? await openCluster({ durable: true }) : null
  if (on === 'postgres' && !cluster) throw new Error('There is no PostgreSQL on this machine.')
  if (cluster) stack.defer(() => cluster.stop())
  const url = cluster ? await createDatabase(cluster.url) : ''
  const open = () => (url ? openServer(url) : openEmbedded(folder))
  const prepared = await open()
  const all = await addAccounts(prepared.db, smtp.port)
  await prepared.close()

  const program = stack.use(
    await startProgram(
      {
        ...(url ? { DATABASE_URL: url } : { DATA_DIR: folder }),
        SECRET_KEY: secretKey,
        LOG_LEVEL: 'warn',
        HOOK_ALLOW_PRIVATE_HOSTS: 'true',
        OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
        OTEL_TRACES_SAMPLER_ARG: '0.2',
      },
      { flags: ['--inspect=127.0.0.1:0'] },
    ),
  )
  // However this process ends, the program goes with it.
  const killed = () => process.kill(program.pid, 'SIGKILL')
  process.once('exit', killed)
  const traffic = new Traffic(program)
  for (const [nth, one] of all.entries())
    if (nth % 3 === 0)
      await traffic.ask(one, 'POST', '/webhooks', {
        url: `${receiver.url}/${nth}`,
        events: ['invoice.created', 'reminder.sent', 'payment.recorded'],
      })

  const well = () => {
    smtp.answer({})
    receiver.answer({ status: 200 })
    collector.answer({ status: 200, body: '{}' })
  }
  const faults: Record<string, () => unknown> = {
    'mail server is silent': () => smtp.answer({ greeting: () => silence }),
    'receivers fail': () => receiver.answer({ status: 500 }),
    'mail server defers': () => smtp.answer({ rcpt: () => '451 4.7.1 Try later' }),
    'collector is down': () => collector.answer('reset'),
    'mail server loses answers': () => smtp.answer({ dot: (_mail, nth) => (nth % 10 === 0 ? reset : undefined) }),
    'receivers are silent': () => receiver.answer('silence'),
    'collector is busy': () => collector.answer({ status: 429, headers: { 'retry-after': '5' } }),
    'mail server refuses': () => smtp.answer({ rcpt: (to) => (to.endsWith('7@example.com') ? '550 5.1.1 No such user' : undefined) }),
    'database connections are cut': () =>
      url
        ? query(
            url,
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid() AND application_name LIKE 'duely%'",
          )
        : undefined,
    'collector is slow': () => collector.answer({ status: 200, afterMs: 20_000 }),
    'program is stopped for 2 s': () => {
      process.kill(program.pid, 'SIGSTOP')
      setTimeout(() => process.kill(program.pid, 'SIGCONT'), 2_000)
    },
  }
  let nextFault = 0
  /** Calls and faults for so many ms. */
  const work = async (ms: number) => {
    const until = performance.now() + ms
    const failing = (async () => {
      while (performance.now() < until - faultEvery) {
        await Object.values(faults)[nextFault++ % Object.keys(faults).length]?.()
        await pause(faultFor)
        well()
        await pause(faultEvery - faultFor)
      }
    })()
    const between = 60_000 / (callsAMinute * accounts)
    for (let at = performance.now(); at < until; at += between) {
      await pause(Math.max(0, at - performance.now()))
      const who = pick(all)
      // What is not answered in time is counted, and people do not ask more and more meanwhile.
      if (traffic.underWay < 200) void someDeed()(traffic, who).catch(() => undefined)
      if (random() < 0.01) traffic.leave(who)
    }
    await failing
    well()
  }
  const quietly = async () => {
    while (traffic.underWay > 0) await pause(100)
    traffic.hangUp()
    await pause(rest)
    return measure(program)
  }

  process.stdout.write(`\n${on}: ${accounts} accounts, ${Math.round(callsAMinute * accounts)} calls a minute, ${minutes} minutes\n`)
  const third = (minutes * 60_000) / 3
  await work(third)
  const before = await quietly()
  process.stdout.write(`  after a third: ${shown(before)}\n`)
  await work(third)
  process.stdout.write(`  after two:     ${shown(await quietly())}\n`)
  await work(third)
  const after = await quietly()
  process.stdout.write(`  at the end:    ${shown(after)}\n`)
  const cpu = cpuMs(program.pid)
  const errors = program
    .output()
    .split('\n')
    .filter((line) => /"level":[56]0/.test(line))
  process.off('exit', killed)
  const code = await program.end('SIGTERM')
  const times = [...traffic.times.values()].flat()
  process.stdout.write(
    `  ${times.length} calls, ${(cpu / 60_000).toFixed(1)} minutes of CPU; p50 ${quantile(times, 0.5).toFixed(0)} ms, p95 ${quantile(times, 0.95).toFixed(0)} ms, p99 ${quantile(times, 0.99).toFixed(0)} ms; statuses ${[
      ...traffic.statuses,
    ]
      .toSorted()
      .map(([status, count]) => `${status}: ${count}`)
      .join(', ')}\n`,
  )
  for (const [name, its] of [...traffic.times].toSorted(([a], [b]) => (a < b ? -1 : 1)))
    process.stdout.write(`    ${name.padEnd(30)} ${String(its.length).padStart(6)}  p95 ${quantile(its, 0.95).toFixed(0).padStart(6)} ms\n`)
  const received = new Set(smtp.mails.flatMap(({ messageId }) => messageId ?? []))
  const { db, close } = await open()
  process.stdout.write(
    `  emails: ${await emailsOf(db, received)}; ${receiver.calls.length} webhooks called, ${collector.calls.length} exports; errors logged ${errors.length}, exit ${code}\n`,
  )
  await close()
  for (const line of errors.slice(0, 5)) process.stdout.write(`    ${line.slice(0, 400)}\n`)
  const grown = {
    heap: growth(before.heapMb + before.outsideMb, after.heapMb + after.outsideMb),
    resident: growth(before.rssMb, after.rssMb),
    handles: growth(before.handles, after.handles),
  }
  const holds = Object.values(grown).every((one) => one <= mostGrowth) && errors.length === 0 && code === 0
  process.stdout.write(
    `  ${holds ? 'holds' : 'FAILS'}: ${Object.entries(grown)
      .map(([what, by]) => `${what} ${by >= 0 ? '+' : ''}${(by * 100).toFixed(1)} %`)
      .join(', ')}\n`,
  )
  if (!holds) process.exitCode = 1
}

for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1))
process.stdout.write(`${cpus().length} cores, Node ${process.versions.node}\n`)
for (const on of given.on.split(',')) await soak(on)
