import { fork } from 'node:child_process'
import { once } from 'node:events'
import http from 'node:http'
import { cpus } from 'node:os'
import { parseArgs } from 'node:util'
import { sql } from 'drizzle-orm'
import fastify from 'fastify'
import pg from 'pg'
import { createAccount } from '#server/accounts/accounts.ts'
import { signAccessToken } from '#server/accounts/sessions.ts'
import { sessions } from '#server/accounts/tables.ts'
import { newId } from '#server/platform/columns.ts'
import { type Database, openServer } from '#server/platform/database.ts'
import { createDatabase, openCluster } from '#test/postgres.ts'
import { startProgram } from '#test/program.ts'

/**
 * GET /invoice of the real program beside a bare Fastify with `pg`: one prepared statement, no authentication, on the same rows, in the order bare,
 * program, bare; then the same list once every second invoice has a payment, and the pay page of one with every way to pay. Only the ratio is
 * meaningful on a shared machine.
 *
 *   npm run bench:calls
 *   npm run bench:calls -- --invoices 50,1000 --seconds 10
 */
const { values: given, positionals } = parseArgs({
  allowPositionals: true,
  options: { invoices: { type: 'string', default: '50,10000' }, seconds: { type: 'string', default: '4' } },
})
const connections = 8
const secretKey = 'a secret key for measuring, 32 characters'

/** Started with the URL of the database as its argument. */
async function serveBare(url: string): Promise<void> {
  const pool = new pg.Pool({ connectionString: url, max: 10 })
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
  const properties = Object.fromEntries(fields.map((name) => [name, text]))
  app.get<{ Params: { owner: string } }>(
    '/invoice/:owner',
    { schema: { response: { 200: { type: 'array', items: { type: 'object', properties } } } } },
    async ({ params }) => {
      const statement = `SELECT ${fields.join(', ')} FROM invoices WHERE owner_id = $1 AND deleted_at IS NULL ORDER BY created_at DESC NULLS LAST, id DESC NULLS LAST`
      return (await pool.query({ name: 'list', text: statement, values: [params.owner] })).rows
    },
  )
  await app.listen({ port: 0, host: '127.0.0.1' })
  const address = app.server.address()
  process.send?.({ port: typeof address === 'object' ? address?.port : 0 })
}

/** Calls a second over eight connections, and the last answer's headers. */
async function rate(url: string, headers: Record<string, string>): Promise<{ perSecond: number; status: number; etag: string }> {
  const agent = new http.Agent({ keepAlive: true, maxSockets: connections })
  let count = 0
  let last = { status: 0, etag: '' }
  const call = () =>
    new Promise<void>((resolve, reject) => {
      http
        .get(url, { agent, headers }, (response) => {
          response.resume()
          response.on('end', () => {
            last = { status: response.statusCode ?? 0, etag: response.headers.etag ?? '' }
            resolve()
          })
        })
        .on('error', reject)
    })
  for (let warm = 0; warm < 5; warm += 1) await call()
  const began = performance.now()
  const end = began + Number(given.seconds) * 1_000
  await Promise.all(
    Array.from({ length: connections }, async () => {
      for (; performance.now() < end; count += 1) await call()
    }),
  )
  const perSecond = (count * 1_000) / (performance.now() - began)
  agent.destroy()
  return { perSecond, ...last }
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
  const list = await fetch(`${programUrl}/invoice?limit=2`, { headers: { authorization } })
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
  times.sort((one, other) => one - other)
  return { median: times[100] ?? 0, slow: times[190] ?? 0, bytes }
}

async function main(): Promise<void> {
  const cluster = await openCluster()
  if (!cluster) throw new Error('There is no PostgreSQL on this machine.')
  const url = await createDatabase(cluster.url)
  const { db, close } = await openServer(url)
  const child = fork(import.meta.filename, [url])
  try {
    const [{ port }] = (await once(child, 'message')) as [{ port: number }]
    await using program = await startProgram({ DATABASE_URL: url, SECRET_KEY: secretKey, ROLE: 'web', LOG_LEVEL: 'warn', PAY_LINKS: 'on' })
    process.stdout.write(`${cpus().length} cores, Node ${process.versions.node}, PostgreSQL ${cluster.version}\n`)
    for (const invoices of given.invoices.split(',').map(Number)) {
      const now = Temporal.Now.instant()
      const email = `owner${invoices}@example.com`
      const { id } = await createAccount(
        db,
        { displayName: 'Asha Rao', email, timezone: 'Asia/Kolkata', passwordHash: null, emailVerifiedAt: now },
        now,
      )
      const sessionId = newId()
      await db
        .insert(sessions)
        .values({ id: sessionId, ownerId: id, refreshHash: sessionId, rotatedAt: now, createdAt: now, lastSeenAt: now })
      await db.execute(sql`
        INSERT INTO invoices (id, owner_id, reference, client_name, client_email, amount_minor, due_date, status, created_at, updated_at)
        SELECT gen_random_uuid(), ${id}::uuid, 'INV-' || n, 'Kaveri Foods ' || n, 'billing' || n || '@kaveri.example', 500000 + n, current_date - 10, 'overdue', now() - n * interval '1 second', now() FROM generate_series(1, ${invoices}::int) n`)
      await db.execute(sql`VACUUM ANALYZE invoices`)
      const authorization = `Bearer ${await signAccessToken(secretKey, sessionId, now)}`
      const bareUrl = `http://127.0.0.1:${port}/invoice/${id}`
      const before = await rate(bareUrl, {})
      const full = await rate(`${program.url}/invoice`, { authorization })
      const unchanged = await rate(`${program.url}/invoice`, { authorization, 'if-none-match': full.etag })
      const bare = (before.perSecond + (await rate(bareUrl, {})).perSecond) / 2
      if (full.status !== 200 || unchanged.status !== 304) throw new Error(`Answered ${full.status} and ${unchanged.status}.`)
      process.stdout.write(
        `${invoices} invoices: bare ${bare.toFixed(0)}/s, program ${full.perSecond.toFixed(1)}/s, ratio ${(full.perSecond / bare).toFixed(2)}; unchanged ${unchanged.perSecond.toFixed(0)}/s, ${(unchanged.perSecond / full.perSecond).toFixed(1)} times the full answer\n`,
      )
      await payParts(db, id)
      const paid = await rate(`${program.url}/invoice`, { authorization })
      const { median, slow, bytes } = await payPage(db, program.url, authorization)
      process.stdout.write(
        `  with payments ${paid.perSecond.toFixed(1)}/s, ${(paid.perSecond / full.perSecond).toFixed(2)} of without; pay page ${median.toFixed(1)} ms, 95 % ${slow.toFixed(1)} ms, ${bytes} bytes\n`,
      )
    }
  } finally {
    child.kill()
    await close()
    await cluster.stop()
  }
}

await (positionals[0] ? serveBare(positionals[0]) : main())
