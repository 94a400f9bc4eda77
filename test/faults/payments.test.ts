import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { PGlite } from '@electric-sql/pglite'
import { sql } from 'drizzle-orm'
import { drizzle } from 'drizzle-orm/node-postgres'
import { migrate } from 'drizzle-orm/node-postgres/migrator'
import { drizzle as drizzleEmbedded } from 'drizzle-orm/pglite'
import { migrate as migrateEmbedded } from 'drizzle-orm/pglite/migrator'
import pg from 'pg'
import PostalMime from 'postal-mime'
import { z } from 'zod'
import { signAccessToken } from '#server/accounts/sessions.ts'
import { rows } from '#server/platform/database.ts'
import { playPaymentActs } from '#test/payment-model.ts'
import type { Program } from '#test/program.ts'
import { type Account, type Environment, embedded, onPostgres, openMailServer, secretKey, send } from './environment.ts'
import { row, seconds, type Trial } from './row.ts'

for (const { number, open } of [
  { number: '111', open: onPostgres },
  { number: '111 embedded', open: embedded },
])
  row(number, `10,000 random acts on payments against a model${number === '111' ? '' : ', on the embedded database'}`, async (trial) => {
    trial.mustHold('sums, status and dates equal after each act; refused exactly where the model refuses')
    const environment = await open(trial)
    const { differences, refused, acts } = await environment.prepare(async (db) => {
      const { createAccount } = await import('#server/accounts/accounts.ts')
      const owner = { displayName: 'Asha Rao', email: 'asha@example.com', timezone: 'UTC', passwordHash: null }
      const { id } = await createAccount(db, owner, Temporal.Instant.from('2026-03-02T09:00:00Z'))
      const about = { ownerId: id, acts: 10_000, invoices: 40, random: () => trial.random(), config: { razorpay: null } }
      return playPaymentActs(db, about)
    })
    const played = Object.entries(acts).map(([name, count]) => `${name} ${count}`)
    return {
      figure: `${played.join(', ')}; ${refused} refused; ${differences.length} differ${differences[0] ? `: ${differences[0]}` : ''}`,
      holds: differences.length === 0 && refused > 100,
    }
  })

/** One POST of a payment under a key. */
async function pay(program: Program, account: Account, about: { invoice: string; amount: number; key: string }): Promise<number> {
  const token = await signAccessToken(secretKey, account.sessionId, Temporal.Now.instant())
  const answered = await fetch(`${program.url}/invoice/${about.invoice}/payments`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json', 'idempotency-key': about.key },
    body: JSON.stringify({ amount: about.amount }),
  }).catch(() => null)
  return answered?.status ?? 0
}

row('112', '100 payments posted at the same time under one key, then 100 under two', async (trial) => {
  trial.mustHold('1 row; 2 rows, overpaid, one invoice.paid')
  const environment = await onPostgres(trial)
  const smtp = await openMailServer(trial)
  const [account] = await environment.createAccounts({ invoices: 1, smtp })
  const invoice = account.invoices[0]?.id ?? ''
  await environment.rows(
    `INSERT INTO hooks (id, owner_id, kind, url, sealed_secret, events, created_at)
     VALUES (gen_random_uuid(), $1, 'webhook', 'https://receiver.invalid', '', ARRAY['invoice.paid'], now())`,
    [account.id],
  )
  // Two processes, so that no queue of one of them puts the requests in order.
  const programs = [await environment.start({ ROLE: 'web' }), await environment.start({ ROLE: 'web' })]
  const post = (nth: number, key: string) => pay(programs[nth % 2] as Program, account, { invoice, amount: 100, key })
  const one = await Promise.all(Array.from({ length: 100 }, (_none, nth) => post(nth, 'first')))
  const count = async () =>
    (await environment.rows<{ count: number }>('SELECT count(*)::int AS count FROM invoice_payments'))[0]?.count ?? 0
  const rowsOfOne = await count()
  const two = await Promise.all(Array.from({ length: 100 }, (_none, nth) => post(nth >> 1, nth % 2 ? 'first' : 'second')))
  const [after] = await environment.rows<{ status: string; over: number }>(
    'SELECT status, (paid_minor - amount_minor)::int AS over FROM invoices',
  )
  const told = (await environment.rows(`SELECT 1 FROM hook_events WHERE type = 'invoice.paid'`)).length
  const rowsOfTwo = await count()
  const created = [...one, ...two].filter((status) => status === 201).length
  return {
    figure: `${created} of 200 answered 201; one key: ${rowsOfOne} row; two keys: ${rowsOfTwo} rows, ${after?.status}, ${after?.over} paise too much; ${told} invoice.paid`,
    holds: created === 200 && rowsOfOne === 1 && rowsOfTwo === 2 && after?.status === 'paid' && after.over === 10_000 && told === 1,
  }
})

/** Notes when each email is claimed. */
const noteClaims = `CREATE TABLE claims (invoice uuid, at timestamptz); CREATE FUNCTION note() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
    INSERT INTO claims SELECT invoice_id, statement_timestamp() FROM delivery_invoices WHERE delivery_id = NEW.id; RETURN NEW; END $$;
  CREATE TRIGGER note AFTER UPDATE ON deliveries FOR EACH ROW WHEN (OLD.state <> 'sending' AND NEW.state = 'sending') EXECUTE FUNCTION note()`

/** Pays half a rupee of each invoice, in random order; answers when each payment was answered. */
async function payParts(trial: Trial, program: Program, account: Account): Promise<Map<string, number>> {
  const paidAt = new Map<string, number>()
  const order = account.invoices.map((one) => ({ one, by: trial.random() })).sort((a, b) => a.by - b.by)
  const payers = Array.from({ length: 4 }, async () => {
    for (let next = order.shift(); next; next = order.shift()) {
      const { status, at } = await send(program, account, `POST /invoice/${next.one.id}/payments`, { body: { amount: 0.5 } })
      if (status === 201) paidAt.set(next.one.id, at)
    }
  })
  await Promise.all(payers)
  return paidAt
}

/** How many of the emails ask for what was left when they were claimed. */
async function askedAmounts(
  environment: Environment,
  smtp: { mails: { raw: Buffer; envelope: { to: string[] } }[] },
  account: Account,
  paidAt: Map<string, number>,
) {
  const claims = await environment.rows<{ invoice: string; ms: number }>(
    'SELECT DISTINCT ON (invoice) invoice, extract(epoch FROM at)::float8 * 1000 AS ms FROM claims ORDER BY invoice, at DESC',
  )
  const claimedAt = new Map(claims.map(({ invoice, ms }) => [invoice, ms]))
  const rupees = new Intl.NumberFormat('en-IN', { style: 'currency', currency: 'INR', minimumFractionDigits: 2 })
  const counts = { old: 0, rest: 0, whole: 0, other: 0 }
  for (const { raw, envelope } of smtp.mails) {
    const which = account.invoices.findIndex(({ clientEmail }) => clientEmail === envelope.to[0])
    const id = account.invoices[which]?.id ?? ''
    const { text = '' } = await PostalMime.parse(raw)
    const asks = (minor: number) => text.includes(rupees.format(minor / 100))
    const paidBefore = (claimedAt.get(id) ?? 0) > (paidAt.get(id) ?? Number.POSITIVE_INFINITY) + 1
    if (asks(10_000 + which - 50)) counts.rest += 1
    else if (!asks(10_000 + which)) counts.other += 1
    else if (paidBefore) counts.old += 1
    else counts.whole += 1
  }
  return counts
}

row('113', '1,000 invoices paid in part while their emails are composed and claimed', async (trial) => {
  trial.mustHold('no email claimed after the payment names the old balance')
  const count = 1_000
  const environment = await onPostgres(trial)
  const smtp = await openMailServer(trial, { delayMs: 10 })
  const [account] = await environment.createAccounts({ invoices: count, smtp, due: true })
  await environment.rows(noteClaims)
  const program = await environment.start()
  await smtp.received(6)
  const paidAt = await payParts(trial, program, account)
  await environment.untilClosed(count)
  const { old, rest, whole, other } = await askedAmounts(environment, smtp, account, paidAt)
  return {
    figure: `${paidAt.size} paid in part; ${rest} emails ask for the rest, ${whole} were claimed before; with the old balance ${old}`,
    holds: old === 0 && other === 0 && rest > 0 && paidAt.size === count && smtp.mails.length === count,
  }
})

row('113 retry', '1,000 invoices paid in part between two tries of their emails', async (trial) => {
  trial.mustHold('0 emails with the old balance')
  const environment = await onPostgres(trial)
  const smtp = await openMailServer(trial)
  const [account] = await environment.createAccounts({ invoices: 1_000, smtp, due: true })
  smtp.answer({ rcpt: () => '450 4.2.0 Later' })
  await environment.rows(noteClaims)
  const program = await environment.start()
  await trial.until('all emails wait for their next try', async () => (await environment.states()).retrying === 1_000)
  smtp.answer({})
  const paidAt = await payParts(trial, program, account)
  await environment.rows(`UPDATE deliveries SET next_try_at = now()`)
  await environment.untilClosed(1_000)
  const { old, rest, whole, other } = await askedAmounts(environment, smtp, account, paidAt)
  return {
    figure: `${smtp.mails.length} emails, ${rest} ask for the rest; with the old balance ${old + whole}`,
    holds: old + whole + other === 0 && rest === 1_000,
  }
})

const olderRows = [
  `INSERT INTO accounts (id, email, display_name, timezone, created_at, updated_at, next_midnight_at)
    SELECT gen_random_uuid(), 'a' || n || '@example.com', 'A', CASE n % 2 WHEN 0 THEN 'Asia/Kolkata' ELSE 'America/Los_Angeles' END, now(), now(), now()
    FROM generate_series(1, 100) n`,
  `INSERT INTO invoices (id, owner_id, reference, client_name, client_email, amount_minor, due_date, status, created_at, updated_at, paid_at, deleted_at)
    SELECT gen_random_uuid(), a.id, 'INV-' || n, 'C', 'c@example.com', n, '2026-01-01', CASE n % 3 WHEN 0 THEN 'paid' WHEN 1 THEN 'unpaid' ELSE 'overdue' END,
      now(), now(), CASE n % 3 WHEN 0 THEN timestamptz '2026-02-01 20:00:00Z' END, CASE n % 30 WHEN 0 THEN now() END
    FROM accounts a, generate_series(1, 1000) n`,
]

/** Fills a database as the version before left it. */
async function fillOlder(trial: Trial, { env, url }: Environment): Promise<void> {
  const migrationsFolder = mkdtempSync(path.join(tmpdir(), 'duely-before-'))
  trial.stack.defer(() => rmSync(migrationsFolder, { recursive: true, force: true }))
  cpSync(path.join(import.meta.dirname, '../../migrations'), migrationsFolder, { recursive: true })
  const file = path.join(migrationsFolder, 'meta/_journal.json')
  const journal = JSON.parse(readFileSync(file, 'utf8')) as { entries: { tag: string }[] }
  journal.entries = journal.entries.slice(
    0,
    journal.entries.findIndex(({ tag }) => tag.endsWith('payments_of_invoices')),
  )
  writeFileSync(file, JSON.stringify(journal))
  if (url === '') {
    const engine = await PGlite.create(path.join(env.DATA_DIR ?? '', 'postgres'))
    await migrateEmbedded(drizzleEmbedded(engine), { migrationsFolder })
    for (const statement of olderRows) await engine.exec(statement)
    return engine.close()
  }
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    await migrate(drizzle(client), { migrationsFolder })
    for (const statement of olderRows) await client.query(statement)
  } finally {
    await client.end()
  }
}

const migrated = z.object({ paid: z.number(), rows: z.number(), right: z.number(), deleted: z.number(), valid: z.boolean() })

for (const { number, open } of [
  { number: '114', open: onPostgres },
  { number: '114 embedded', open: embedded },
])
  row(number, `100,000 invoices of the version before, migrated${number === '114' ? '' : ', on the embedded database'}`, async (trial) => {
    trial.mustHold('one row per paid invoice, deleted ones too; the CHECK valid; less than 60 s')
    const environment = await open(trial, { empty: true })
    await fillOlder(trial, environment)
    const began = performance.now()
    let took = 0
    const [after] = await environment.prepare((db) => {
      took = performance.now() - began
      return rows(
        db,
        migrated,
        sql`SELECT count(*) FILTER (WHERE i.status = 'paid')::int AS paid, count(p.id)::int AS rows, count(p.id) FILTER (WHERE i.deleted_at IS NOT NULL)::int AS deleted,
            (SELECT convalidated FROM pg_constraint WHERE conname = 'invoices_paid') AS valid,
            count(*) FILTER (WHERE i.status = 'paid' AND p.origin = 'marked' AND p.amount_minor = i.amount_minor AND i.paid_minor = i.amount_minor
              AND p.paid_on = i.paid_on AND i.issued_on = (i.created_at AT TIME ZONE a.timezone)::date AND p.paid_on = CASE a.timezone WHEN 'Asia/Kolkata' THEN date '2026-02-02' ELSE date '2026-02-01' END)::int AS right
          FROM invoices i JOIN accounts a ON a.id = i.owner_id LEFT JOIN invoice_payments p ON p.invoice_id = i.id`,
      )
    })
    return {
      figure: `${after?.paid} paid of 100,000, ${after?.rows} rows (${after?.deleted} of deleted ones), ${after?.right} as they should be; CHECK valid: ${after?.valid}; ${seconds(took)}`,
      holds: after?.paid === 33_300 && after.rows === 33_300 && after.right === 33_300 && after.deleted > 0 && after.valid && took < 60_000,
    }
  })

/** The same amount of an invoice recorded by another way than its call, from a bank file. Answers the status, 201 where all is well. */
async function importPayment(program: Program, account: Account, about: { invoice: string; amount: number }): Promise<number> {
  const { invoice: invoiceId, amount } = about
  const line = { date: '2026-03-02', amount, description: `NEFT ${invoiceId}`, reference: '', name: '', invoices: [{ invoiceId, amount }] }
  const { status } = await send(program, account, 'POST /payments/import', { body: { lines: [line], currency: 'INR' } })
  return status === 200 ? 201 : status
}

/** Where the process is killed: while the transaction waits to commit, or once it is committed and before anyone reads the answer. */
const points = ['before the commit', 'after the commit'] as const

for (const point of points)
  row(
    `115 ${point === points[0] ? 'before' : 'after'}`,
    `killed ${point} of a payment, recorded by its call and by a bank file in turn, 20 times`,
    { concurrent: 2 },
    async (trial) => {
      trial.mustHold('each payment recorded once after the client repeats its request')
      const environment = await onPostgres(trial)
      const smtp = await openMailServer(trial)
      const [account] = await environment.createAccounts({ invoices: 20, smtp })
      if (point === points[0])
        // The transaction waits in its last statement until the process is dead.
        await environment.rows(`CREATE TABLE killed (so boolean); CREATE FUNCTION wait() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
          IF NOT EXISTS (SELECT 1 FROM killed) THEN PERFORM pg_sleep(30); END IF; RETURN NULL; END $$;
        CREATE TRIGGER wait AFTER INSERT ON invoice_payments FOR EACH ROW EXECUTE FUNCTION wait()`)
      let there = 0
      const record = (program: Program, nth: number, id: string) =>
        nth % 2 === 0
          ? pay(program, account, { invoice: id, amount: 20, key: `key ${id}` })
          : importPayment(program, account, { invoice: id, amount: 20 }).catch(() => 0)
      for (const [nth, { id }] of account.invoices.entries()) {
        await environment.rows(point === points[0] ? 'DELETE FROM killed' : 'SELECT 1')
        const program = await environment.start({ ROLE: 'web' })
        const asked = record(program, nth, id)
        if (point === points[0]) {
          await trial.until(
            'the transaction waits',
            async () =>
              (await environment.rows(`SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event = 'PgSleep'`))[0],
          )
          await program.end('SIGKILL')
          await environment.rows(`INSERT INTO killed VALUES (true)`)
          await environment.rows(
            `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND wait_event = 'PgSleep'`,
          )
        } else {
          await trial.until(
            'the payment is committed',
            async () => (await environment.rows(`SELECT 1 FROM invoice_payments WHERE invoice_id = $1`, [id]))[0],
            { everyMs: 1 },
          )
          await program.end('SIGKILL')
        }
        await asked
        there += (await environment.rows(`SELECT 1 FROM invoice_payments WHERE invoice_id = $1`, [id])).length
      }
      const program = await environment.start({ ROLE: 'web' })
      const again = []
      for (const [nth, { id }] of account.invoices.entries()) again.push(await record(program, nth, id))
      const [after] = await environment.rows<{ rows: number; sum: number }>(
        `SELECT (SELECT count(*)::int FROM invoice_payments) AS rows, sum(paid_minor)::int AS sum FROM invoices`,
      )
      const repeated = again.filter((status) => status === 201).length
      return {
        figure: `20 kills, ${there} payments were recorded then; repeated: ${repeated} answered 201, ${after?.rows} rows, ₹${(after?.sum ?? 0) / 100} paid`,
        holds: there === (point === points[0] ? 0 : 20) && repeated === 20 && after?.rows === 20 && after.sum === 40_000,
      }
    },
  )

row(
  '115 embedded',
  'killed around a payment, recorded by its call, 20 times, on the embedded database',
  { concurrent: 2 },
  async (trial) => {
    trial.mustHold('each payment recorded once after the client repeats its request')
    const environment = await embedded(trial)
    const [account] = await environment.createAccounts({ invoices: 20, smtp: await openMailServer(trial) })
    let answered = 0
    for (const [nth, { id }] of account.invoices.entries()) {
      const program = await environment.start()
      const asked = pay(program, account, { invoice: id, amount: 20, key: `key ${id}` })
      // Every second one as soon as it is answered, the others from before their request is read.
      await (nth % 2 === 0 ? asked : Promise.race([asked, pause(trial.random() * 100)]))
      await program.end('SIGKILL')
      if ((await asked) === 201) answered += 1
    }
    const program = await environment.start()
    let repeated = 0
    for (const { id } of account.invoices)
      if ((await pay(program, account, { invoice: id, amount: 20, key: `key ${id}` })) === 201) repeated += 1
    await program.end('SIGTERM')
    const [after] = await environment.prepare((db) =>
      rows(
        db,
        z.object({ rows: z.number(), sum: z.number() }),
        sql`SELECT (SELECT count(*)::int FROM invoice_payments) AS rows, sum(paid_minor)::int AS sum FROM invoices`,
      ),
    )
    return {
      figure: `20 kills, ${answered} payments were answered before; repeated: ${repeated} answered 201, ${after?.rows} rows, ₹${(after?.sum ?? 0) / 100} paid`,
      holds: answered >= 10 && repeated === 20 && after?.rows === 20 && after.sum === 40_000,
    }
  },
)

/** As if they had been added through the call: 60 files of 3 MiB, each of them for several invoices. */
const attachFiles = `
  WITH files AS (
    INSERT INTO invoice_files (id, owner_id, invoice_id, name, size, created_at, file)
    SELECT gen_random_uuid(), owner_id, id, 'invoice.pdf', 3145728, now(), convert_to(rpad('%PDF-1.7 ' || reference, 3145722, md5(reference)) || '%%EOF' || chr(10), 'LATIN1')
    FROM (SELECT * FROM invoices ORDER BY id LIMIT 60) i RETURNING id, owner_id),
  settings AS (
    INSERT INTO payment_settings (owner_id, version, in_emails, pdf, business_name, details, updated_at)
    SELECT DISTINCT owner_id, 1, true, 'attach', '', '', now() FROM files)
  UPDATE invoices SET file_id = f.id FROM (SELECT id, row_number() OVER () - 1 AS nth FROM files) f,
    (SELECT id, (row_number() OVER (ORDER BY id) - 1) % 60 AS nth FROM invoices) i WHERE invoices.id = i.id AND i.nth = f.nth`

// The embedded database takes half a second to read a file.
for (const { number, open, count, where } of [
  { number: '119', open: onPostgres, count: 1_000, where: '' },
  { number: '119 embedded', open: embedded, count: 100, where: ', on the embedded database' },
])
  row(number, `${count.toLocaleString('en')} emails with a PDF of 3 MiB attached${where}`, async (trial) => {
    trial.mustHold('each arrives whole; the database grows by less than 20 MB')
    const environment = await open(trial)
    const smtp = await openMailServer(trial)
    await environment.createAccounts({ invoices: count, smtp, due: true })
    const size = async (first?: string) => {
      const [found] = await environment.prepare(async (db) => {
        if (first) await db.execute(sql.raw(first))
        return rows(db, z.object({ bytes: z.coerce.number() }), sql`SELECT pg_database_size(current_database())::text AS bytes`)
      })
      return found?.bytes ?? 0
    }
    const before = await size(attachFiles)
    let whole = 0
    smtp.answer({
      // 4 GB would not fit into this process.
      dot: (mail) => {
        const text = mail.raw.subarray(0, 10_000).toString('latin1')
        if (text.includes('multipart/mixed') && mail.raw.length > 4_200_000 && mail.raw.subarray(-80).includes('mixed')) whole += 1
        mail.raw = Buffer.alloc(0)
        return undefined
      },
    })
    const program = await environment.start()
    await smtp.received(count)
    // Only once all are recorded it ends.
    await program.end('SIGTERM')
    const grown = (await size()) - before
    return {
      figure: `${whole} of ${count} whole; the database grew by ${(grown / 1e6).toFixed(1)} MB`,
      holds: whole === count && grown < 20e6,
    }
  })
