import { fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import http from 'node:http'
import { cpus, tmpdir } from 'node:os'
import path from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { verify } from '@node-rs/argon2'
import { sql } from 'drizzle-orm'
import fastify from 'fastify'
import pg from 'pg'
import { z } from 'zod'
import { hashPassword } from '#server/accounts/passwords.ts'
import { signAccessToken } from '#server/accounts/sessions.ts'
import { newId } from '#server/platform/columns.ts'
import { type Database, openServer, rows } from '#server/platform/database.ts'
import { hashToken } from '#server/platform/secrets.ts'
import { createDatabase, openCluster } from '#test/postgres.ts'
import { type Program, residentMb, startProgram } from '#test/program.ts'
import { addOwner, counting, cpuMs, cpuOfServer, type Owner, quantile, secretKey, statementsAt } from './measure.ts'

/**
 * Calls of the real program beside a bare Fastify with `pg` and hand-written SQL: one prepared statement each, no authentication, on the same rows,
 * in the order bare, program, bare; then the list once every second invoice has a payment, and the pay page of one with every way to pay. On a
 * shared machine only the ratio is meaningful, and what one call costs: statements, and CPU of the program and of PostgreSQL.
 *
 *   npm run bench:calls
 *   npm run bench:calls -- --invoices 50,1000 --seconds 10
 *   npm run bench:calls -- --start no --writes no
 */
const { values: given, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    invoices: { type: 'string', default: '50,10000' },
    seconds: { type: 'string', default: '4' },
    start: { type: 'string', default: 'yes' },
    writes: { type: 'string', default: 'yes' },
  },
})
const connections = 8
const password = 'correct horse battery staple'
const draft = { clientName: 'Kaveri Foods', clientEmail: 'billing@kaveri.example', amount: 5000, dueDate: '2999-01-01' }

/** Started with the URL of the database as its argument. */
async function serveBare(url: string): Promise<void> {
  const pool = new pg.Pool({ connectionString: url, max: 10 })
  const ask = (name: string, text: string, values: unknown[]) => pool.query({ name, text, values }).then(({ rows }) => rows)
  const app = fastify()
  const text = { type: 'string' } as const
  const fields = [
    'id',
    'owner_id',
    'reference',
    'client_name',
    'client_email',
    'amount_minor',
    'due_date',
    'status',
    'created_at',
    'updated_at',
  ]
  const item = { type: 'object', properties: Object.fromEntries(fields.map((name) => [name, text])) }
  const answers = (reply: object) => ({ schema: { response: { 200: reply } } })
  const token = { type: 'object', properties: { token: text } }
  app.get<{ Params: { owner: string } }>('/invoice/:owner', answers({ type: 'array', items: item }), ({ params }) =>
    ask(
      'list',
      `SELECT ${fields.join(', ')} FROM invoices WHERE owner_id = $1 AND deleted_at IS NULL ORDER BY created_at DESC NULLS LAST, id DESC NULLS LAST`,
      [params.owner],
    ),
  )
  let added = 0
  app.post<{ Params: { owner: string }; Body: Record<string, unknown> }>('/invoice/:owner', answers(item), async ({ params, body }) => {
    added += 1
    const [row] = await ask(
      'add',
      `INSERT INTO invoices (id, owner_id, reference, client_name, client_email, amount_minor, due_date, status, created_at, updated_at)
       VALUES ($1, $2, $3, $4, $5, $6, $7, 'unpaid', now(), now()) RETURNING ${fields.join(', ')}`,
      [newId(), params.owner, `BARE-${added}`, body.clientName, body.clientEmail, Number(body.amount) * 100, body.dueDate],
    )
    return row
  })
  app.patch<{ Params: { owner: string; id: string }; Body: Record<string, unknown> }>(
    '/invoice/:owner/:id',
    answers(item),
    async ({ params, body }) =>
      (
        await ask(
          'change',
          `UPDATE invoices SET client_name = $3, updated_at = now() WHERE owner_id = $1 AND id = $2 AND deleted_at IS NULL RETURNING ${fields.join(', ')}`,
          [params.owner, params.id, body.clientName],
        )
      )[0],
  )
  app.post<{ Body: { email: string; password: string } }>('/auth', answers(token), async ({ body }) => {
    const [person] = await ask('by-email', 'SELECT id, password_hash FROM people WHERE lower(email) = lower($1)', [body.email])
    if (!(await verify(person.password_hash, body.password))) throw new Error('This is another password.')
    const id = newId()
    await ask(
      'begin',
      'INSERT INTO sessions (id, person_id, refresh_hash, rotated_at, created_at, last_seen_at) VALUES ($1, $2, $3, now(), now(), now())',
      [id, person.id, hashToken(id)],
    )
    return { token: signAccessToken(secretKey, id, Temporal.Now.instant()) }
  })
  app.post<{ Params: { session: string } }>('/auth/refresh/:session', answers(token), async ({ params }) => {
    await ask('refresh', 'UPDATE sessions SET last_seen_at = now(), rotated_at = now() WHERE id = $1 RETURNING person_id', [params.session])
    return { token: signAccessToken(secretKey, params.session, Temporal.Now.instant()) }
  })
  await app.listen({ port: 0, host: '127.0.0.1' })
  const address = app.server.address()
  process.send?.({ port: typeof address === 'object' ? address?.port : 0 })
}

/** What a connection asks; `answered` is handed each answer's headers. */
interface Asked {
  method?: string
  url: string
  headers?: Record<string, string>
  body?: object
  answered?(headers: http.IncomingHttpHeaders): void
}

interface Rate {
  perSecond: number
  /** Of the last answer. */
  status: number
  etag: string
  count: number
}

/** Calls over eight connections. */
async function rate(asked: (connection: number) => Asked, seconds = Number(given.seconds)): Promise<Rate> {
  const agent = new http.Agent({ keepAlive: true, maxSockets: connections })
  let count = 0
  let last = { status: 0, etag: '' }
  const call = ({ method = 'GET', url, headers = {}, body, answered }: Asked) =>
    new Promise<void>((resolve, reject) => {
      const text = body && JSON.stringify(body)
      const request = http
        .request(url, { method, agent, headers: { ...headers, ...(text ? { 'content-type': 'application/json' } : {}) } }, (response) => {
          response.resume()
          response.on('end', () => {
            last = { status: response.statusCode ?? 0, etag: response.headers.etag ?? '' }
            answered?.(response.headers)
            resolve()
          })
        })
        .on('error', reject)
      request.end(text)
    })
  const began = performance.now()
  const end = began + seconds * 1_000
  await Promise.all(
    Array.from({ length: connections }, async (_none, nth) => {
      for (; performance.now() < end; count += 1) await call(asked(nth))
    }),
  )
  const perSecond = (count * 1_000) / (performance.now() - began)
  agent.destroy()
  return { perSecond, count, ...last }
}

/** The real program on a database. */
interface Measured {
  program: Program
  url: string
}

/** Calls of the program, and what one of them costs: statements, and milliseconds of CPU of the program and of PostgreSQL. */
async function costs({ program, url }: Measured, asked: (connection: number) => Asked): Promise<Rate & { cells: string[] }> {
  const now = async () => [await statementsAt(url), cpuMs(program.pid), cpuOfServer(url)] as const
  for (let warm = 0; warm < 5; warm += 1) await rate(asked, 0.2)
  const before = await now()
  const rated = await rate(asked)
  const after = await now()
  return { ...rated, cells: after.map((value, at) => ((value - (before[at] ?? 0)) / rated.count).toFixed(at === 0 ? 1 : 2)) }
}

function report(name: string, about: { bare: number; program: Rate & { cells: string[] }; expected: number; goal: number }): void {
  const { bare, program, expected, goal } = about
  if (program.status !== expected) throw new Error(`${name} answered ${program.status}.`)
  const { perSecond, cells } = program
  print(name, bare.toFixed(0), perSecond.toFixed(perSecond < 100 ? 1 : 0), (perSecond / bare).toFixed(2), String(goal), ...cells)
}

/** A row of docs/speed.md. */
function print(name: string, ...cells: string[]): void {
  process.stdout.write(`| ${name.padEnd(30)} | ${cells.map((cell) => cell.padStart(8)).join(' | ')} |\n`)
}

/** Pays a part of every second invoice of an account. */
async function payParts(db: Database, ownerId: string): Promise<void> {
  await db.execute(sql`
    WITH part AS (
      UPDATE invoices i SET paid_minor = 100000
      FROM (SELECT id, row_number() OVER () AS nth FROM invoices WHERE owner_id = ${ownerId}::uuid) n WHERE n.id = i.id AND n.nth % 2 = 0
      RETURNING i.id, i.owner_id)
    INSERT INTO invoice_payments (id, owner_id, invoice_id, kind, origin, amount_minor, paid_on, recorded_at)
    SELECT gen_random_uuid(), owner_id, id, 'payment', 'by_hand', 100000, current_date, now() FROM part`)
  await db.execute(sql`VACUUM ANALYZE invoices, invoice_payments`)
}

/** The pay page of an invoice that is paid in part, one request after the other: ms and bytes. */
async function payPage(db: Database, programUrl: string, authorization: string): Promise<{ median: number; slow: number; bytes: number }> {
  await db.execute(sql`INSERT INTO payment_settings (owner_id, version, upi, bank, own_link, in_emails, pdf, business_name, details, updated_at)
    SELECT id, 1, '{"id": "asha@okaxis", "name": "Asha Traders", "merchantCode": null}',
      '{"kind": "india", "accountName": "Asha Traders", "accountNumber": "50100234567891", "ifsc": "HDFC0001234"}',
      '{"label": "Pay by card", "url": "https://pay.example/{reference}?sum={amount}"}', true, 'link', 'Asha Traders', '12 MG Road, Bengaluru', now()
    FROM accounts ON CONFLICT DO NOTHING`)
  const list = await fetch(`${programUrl}/invoice?limit=20`, { headers: { authorization } })
  const [{ _id = '' } = {}] = ((await list.json()) as { _id: string; amountPaid: number }[]).filter(({ amountPaid }) => amountPaid > 0)
  const made = await fetch(`${programUrl}/invoice/${_id}/pay-link`, { method: 'POST', headers: { authorization } })
  const page = programUrl + new URL(((await made.json()) as { url: string }).url).pathname
  const times: number[] = []
  let bytes = 0
  for (let nth = 0; nth < 220; nth += 1) {
    const began = performance.now()
    const answered = await fetch(page)
    bytes = (await answered.arrayBuffer()).byteLength
    if (answered.status !== 200) throw new Error(`The pay page answered ${answered.status}.`)
    if (nth >= 20) times.push(performance.now() - began)
  }
  return { median: quantile(times, 0.5), slow: quantile(times, 0.95), bytes }
}

/** Calls that read a list, by one account; and the pay page of one of its invoices. */
async function measureLists(db: Database, measured: Measured, bareUrl: string): Promise<void> {
  const { program } = measured
  for (const invoices of given.invoices.split(',').map(Number)) {
    const { id, authorization } = await addOwner(db, `list${invoices}@example.com`, invoices, null)
    await db.execute(sql`VACUUM ANALYZE invoices`)
    const asksBare = () => ({ url: `${bareUrl}/invoice/${id}` })
    const before = await rate(asksBare)
    const full = await costs(measured, () => ({ url: `${program.url}/invoice`, headers: { authorization } }))
    const unchanged = await costs(measured, () => ({
      url: `${program.url}/invoice`,
      headers: { authorization, 'if-none-match': full.etag },
    }))
    const bare = (before.perSecond + (await rate(asksBare)).perSecond) / 2
    report(`GET /invoice, ${invoices}`, { bare, program: full, expected: 200, goal: 0.75 })
    if (unchanged.status !== 304) throw new Error(`An unchanged list answered ${unchanged.status}.`)
    const times = (unchanged.perSecond / full.perSecond).toFixed(1)
    print('  unchanged (304)', '', unchanged.perSecond.toFixed(0), `× ${times}`, '× 10', ...unchanged.cells)
    await payParts(db, id)
    const paid = await costs(measured, () => ({ url: `${program.url}/invoice`, headers: { authorization } }))
    const { median, slow, bytes } = await payPage(db, program.url, authorization)
    print('  with payments', '', paid.perSecond.toFixed(1), `× ${(paid.perSecond / full.perSecond).toFixed(2)}`, '', ...paid.cells)
    process.stdout.write(`  pay page ${median.toFixed(1)} ms, 95 % ${slow.toFixed(1)} ms, ${bytes} bytes\n`)
  }
}

/** Calls that write, each connection for an account of its own: calls of one account wait for its row. */
async function measureWrites(db: Database, measured: Measured, bareUrl: string): Promise<void> {
  const { program } = measured
  const hash = await hashPassword(password)
  const owners: Owner[] = []
  for (let nth = 0; nth < connections; nth += 1) owners.push(await addOwner(db, `owner${nth}@example.com`, 50, hash))
  await db.execute(sql`VACUUM ANALYZE`)
  const ownerOf = (connection: number) => owners[connection] as Owner
  const compare = async (
    name: string,
    about: { bare: (connection: number) => Asked; program: (connection: number) => Asked; expected: number; goal: number },
  ) => {
    const before = await rate(about.bare)
    const rated = await costs(measured, about.program)
    const bare = (before.perSecond + (await rate(about.bare)).perSecond) / 2
    report(name, { bare, program: rated, expected: about.expected, goal: about.goal })
  }
  await compare('POST /invoice', {
    bare: (nth) => ({ method: 'POST', url: `${bareUrl}/invoice/${ownerOf(nth).id}`, body: draft }),
    program: (nth) => ({
      method: 'POST',
      url: `${program.url}/invoice`,
      headers: { authorization: ownerOf(nth).authorization },
      body: draft,
    }),
    expected: 201,
    goal: 0.75,
  })
  const firsts = new Map<string, string>()
  for (const { id } of owners) {
    const [first] = await rows(
      db,
      z.object({ id: z.string() }),
      sql`SELECT id FROM invoices WHERE owner_id = ${id}::uuid AND reference = 'INV-1'`,
    )
    firsts.set(id, first?.id ?? '')
  }
  let changes = 0
  const change = () => {
    changes += 1
    return { clientName: `Kaveri Foods ${changes}` }
  }
  await compare('PATCH /invoice/:id', {
    bare: (nth) => ({ method: 'PATCH', url: `${bareUrl}/invoice/${ownerOf(nth).id}/${firsts.get(ownerOf(nth).id)}`, body: change() }),
    program: (nth) => ({
      method: 'PATCH',
      url: `${program.url}/invoice/${firsts.get(ownerOf(nth).id)}`,
      headers: { authorization: ownerOf(nth).authorization },
      body: change(),
    }),
    expected: 200,
    goal: 0.75,
  })
  const cookies = new Map<number, string>()
  await compare('POST /auth', {
    bare: (nth) => ({ method: 'POST', url: `${bareUrl}/auth`, body: { email: ownerOf(nth).email, password } }),
    program: (nth) => ({
      method: 'POST',
      url: `${program.url}/auth`,
      body: { email: ownerOf(nth).email, password },
      answered: (headers) => cookies.set(nth, cookieOf(headers)),
    }),
    expected: 200,
    goal: 0.5,
  })
  await compare('POST /auth/refresh', {
    bare: (nth) => ({ method: 'POST', url: `${bareUrl}/auth/refresh/${ownerOf(nth).sessionId}` }),
    program: (nth) => ({
      method: 'POST',
      url: `${program.url}/auth/refresh`,
      headers: { cookie: cookies.get(nth) ?? '' },
      answered: (headers) => cookies.set(nth, cookieOf(headers)),
    }),
    expected: 200,
    goal: 0.5,
  })
}

function cookieOf(headers: http.IncomingHttpHeaders): string {
  return headers['set-cookie']?.find((one) => one.startsWith('refreshToken='))?.split(';')[0] ?? ''
}

/** What the dashboard asks for when it is opened, after POST /auth/refresh. */
const opening = ['/user/profile', '/invoice', '/reminder/status', '/reminder/preview', '/user/notices', '/mail-config', '/subscription']

/** Statements of each call of an opening, the second one of a session, and of a new and a changed invoice, BEGIN and COMMIT included. */
async function countStatements(program: Program, url: string, { authorization }: Owner): Promise<void> {
  const counts: string[] = []
  const count = async (method: string, call: string, body?: object): Promise<unknown> => {
    const before = await statementsAt(url)
    const headers = { authorization, ...(body ? { 'content-type': 'application/json' } : {}) }
    const answered = await fetch(program.url + call, { method, headers, ...(body ? { body: JSON.stringify(body) } : {}) })
    const reply: unknown = await answered.json()
    if (!answered.ok) throw new Error(`${call} answered ${answered.status}.`)
    counts.push(`${method} ${call} ${(await statementsAt(url)) - before}`)
    return reply
  }
  for (const call of [...opening, ...opening]) await count('GET', call)
  const { _id } = (await count('POST', '/invoice', draft)) as { _id: string }
  await count('PATCH', `/invoice/${_id}`, { clientName: 'Kaveri Foods and Sons' })
  process.stdout.write(`statements: ${counts.slice(opening.length).join(', ').replace(_id, ':id')}\n`)
}

/** From the start of the process to its first answer, and its memory ten seconds later. */
async function measureStart(name: string, env: Record<string, string>): Promise<void> {
  const compiled = mkdtempSync(path.join(tmpdir(), 'duely-bench-compiled-'))
  const start = async () => {
    const began = performance.now()
    const program = await startProgram(
      { ...env, SECRET_KEY: secretKey, LOG_LEVEL: 'warn', NODE_COMPILE_CACHE: compiled },
      { firstStart: true },
    )
    return { program, ms: performance.now() - began }
  }
  try {
    const took: number[] = []
    for (let nth = 0; nth < 6; nth += 1) {
      const { program, ms } = await start()
      took.push(ms)
      await program.end('SIGTERM')
    }
    const { program } = await start()
    await pause(10_000)
    const idle = residentMb(program.pid)
    await program.end('SIGTERM')
    const [cold = 0, ...warm] = took
    process.stdout.write(
      `start on ${name}: the first, with an empty database, ${cold.toFixed(0)} ms, then ${quantile(warm, 0.5).toFixed(0)} ms; ${idle.toFixed(0)} MB idle\n`,
    )
  } finally {
    rmSync(compiled, { recursive: true, force: true })
  }
}

async function main(): Promise<void> {
  const cluster = await openCluster({ settings: [counting] })
  if (!cluster) throw new Error('There is no PostgreSQL on this machine.')
  const url = await createDatabase(cluster.url)
  const { db, close } = await openServer(url)
  const child = fork(import.meta.filename, [url])
  try {
    const [{ port }] = (await once(child, 'message')) as [{ port: number }]
    const bareUrl = `http://127.0.0.1:${port}`
    await using program = await startProgram({ DATABASE_URL: url, SECRET_KEY: secretKey, ROLE: 'web', LOG_LEVEL: 'warn', PAY_LINKS: 'on' })
    process.stdout.write(`${cpus().length} cores, Node ${process.versions.node}, PostgreSQL ${cluster.version}\n`)
    if (given.start === 'yes') {
      const folder = mkdtempSync(path.join(tmpdir(), 'duely-bench-'))
      await measureStart('PostgreSQL', { DATABASE_URL: await createDatabase(cluster.url) })
      await measureStart('the embedded database', { DATA_DIR: folder }).finally(() => rmSync(folder, { recursive: true, force: true }))
    }
    const idle = residentMb(program.pid)
    await countStatements(program, url, await addOwner(db, 'opening@example.com', 50, null))
    const measured = { program, url }
    print('call', 'bare', 'program', 'ratio', 'goal', 'statements', 'node ms', 'PG ms')
    if (given.writes === 'yes') await measureWrites(db, measured, bareUrl)
    if (given.invoices !== '') await measureLists(db, measured, bareUrl)
    process.stdout.write(
      `memory of the web process: ${idle.toFixed(0)} MB idle, ${residentMb(program.pid).toFixed(0)} MB after these calls\n`,
    )
  } finally {
    child.kill()
    await close()
    await cluster.stop()
  }
}

await (positionals[0] ? serveBare(positionals[0]) : main())
