import { spawnSync } from 'node:child_process'
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { drizzle } from 'drizzle-orm/node-postgres'
import { migrate } from 'drizzle-orm/node-postgres/migrator'
import pg from 'pg'
import { openFakeRazorpay } from '#test/fakes/razorpay/server.ts'
import { ask } from './cluster.ts'
import { allClosed, aMailServer, anywhere, clientsOf, onServer, people, send } from './place.ts'
import { type Chaos, type Scenario, tally, until, wordsOf } from './scenario.ts'

/** Rows 76 and 79 to 81: limits, money, upgrades and backups. */
export const data: Scenario[] = [
  {
    row: '76',
    name: '60 invoices written down at once with one left of the month',
    criterion: 'exactly 50',
    async run(chaos) {
      const place = await anywhere(chaos)
      const smtp = await aMailServer(chaos)
      const { settings } = chaos.stack.use(await openFakeRazorpay())
      // Whose trial is over.
      const now = Temporal.Now.instant().subtract({ hours: 20 * 24 })
      const [person] = await place.prepare((db) => people(db, { count: 1, invoices: 0, smtp, now }))
      if (!person) throw new Error('Nobody was made.')
      const program = await place.start({
        RAZORPAY_KEY_ID: settings.keyId,
        RAZORPAY_KEY_SECRET: settings.keySecret,
        RAZORPAY_WEBHOOK_SECRET: settings.webhookSecret,
        RAZORPAY_API_URL: settings.apiUrl,
        RAZORPAY_CHECKOUT_URL: settings.checkoutUrl,
      })
      const create = async (nth: number) => {
        const body = { clientName: `C ${nth}`, clientEmail: `c${nth}@example.com`, amount: 1, dueDate: '2999-01-01' }
        return (await send(program, person, 'POST /invoice', { body })).status
      }
      for (let nth = 0; nth < 49; nth += 1) await create(nth)
      const answers = await Promise.all(Array.from({ length: 60 }, (_none, nth) => create(100 + nth)))
      const { body } = await send(program, person, 'GET /invoice')
      const there = (body as unknown[]).length
      const counted = (status: number) => answers.filter((one) => one === status).length
      return {
        figure: `49 there, 60 asked for at once: ${counted(201)} made, ${counted(402)} refused with 402, ${there} there`,
        holds: there === 50 && counted(201) === 1 && counted(402) === 59,
      }
    },
  },
  {
    row: '79',
    name: 'amounts there and back, and in the mail',
    criterion: 'none of 10,000 differs; more than two decimals are refused',
    async run(chaos) {
      const place = await anywhere(chaos)
      const smtp = await aMailServer(chaos)
      const [person] = await place.prepare((db) => people(db, { count: 1, invoices: 0, smtp }))
      if (!person) throw new Error('Nobody was made.')
      const program = await place.start()
      const dueDate = Temporal.Now.plainDateISO('UTC').subtract({ days: 10 }).toString()
      const paise = [
        1,
        10,
        30,
        1_999,
        100_000,
        999_999_999_999,
        ...Array.from({ length: 9_994 }, () => 1 + Math.floor(chaos.random() * 10 ** (2 + 9 * chaos.random()))),
      ]
      let refused = 0
      for (const amount of [0.1 + 0.2, 19.999, 1e-7, 0, -5, 1e12]) {
        const answer = await send(program, person, 'POST /invoice', {
          body: { clientName: 'C', clientEmail: 'c@example.com', amount, dueDate },
        })
        if (answer.status === 400) refused += 1
      }
      const wanted = new Map<string, number>()
      let next = 0
      const writers = Array.from({ length: 8 }, async () => {
        while (next < paise.length && !chaos.over.aborted) {
          const nth = next++
          const minor = paise[nth] ?? 1
          // As a person writes it, not as a division leaves it.
          const amount = Number(`${Math.floor(minor / 100)}.${String(minor % 100).padStart(2, '0')}`)
          // Only the first hundred are past due: those are in mails.
          const body = { clientName: `C ${nth}`, clientEmail: `c${nth}@example.com`, amount, dueDate: nth < 100 ? dueDate : '2999-01-01' }
          const answer = await send(program, person, 'POST /invoice', { body })
          if (answer.status === 201) wanted.set((answer.body as { _id: string })._id, amount)
        }
      })
      await Promise.all(writers)
      const { body } = await send(program, person, 'GET /invoice')
      const listed = body as { _id: string; amount: number }[]
      const differ = listed.filter((one) => wanted.get(one._id) !== one.amount).length + Math.abs(listed.length - paise.length)
      await send(program, person, 'POST /reminder/send-immediate')
      await until('a hundred mails', { seconds: 90, over: chaos.over }, () => smtp.mails.length >= 100)
      const wrong = smtp.mails.filter(({ raw, envelope }) => {
        const minor = paise[Number(/^c(\d+)@/.exec(envelope.to[0] ?? '')?.[1])] ?? 0
        return !plainText(raw).includes(inRupees(minor))
      }).length
      return {
        figure: `${listed.length} amounts, ${differ} differ; ${refused} of 6 that are none were refused; ${wrong} of ${smtp.mails.length} mails name another amount`,
        holds: differ === 0 && refused === 6 && wrong === 0 && smtp.mails.length === 100,
      }
    },
  },
  {
    row: '80',
    name: '1,000 mails queued by the version before, sent by this one',
    criterion: 'lost 0, repeated 0',
    async run(chaos) {
      const { cluster } = chaos
      if (!cluster) return { skipped: 'there is no PostgreSQL on this machine' }
      const place = await onServer(chaos, cluster)
      const smtp = await aMailServer(chaos)
      const those = await place.prepare((db) => people(db, { count: 4, invoices: 250, smtp, nextRunAt: Temporal.Now.instant() }))
      smtp.answer({ mail: () => '451 4.3.0 Later' })
      const first = await place.start()
      await until('mails wait for their next try', { seconds: 90, over: chaos.over }, async () => {
        const waiting = await place.rows<{ count: number }>(`SELECT count(*)::int AS count FROM deliveries WHERE state = 'retrying'`)
        return waiting[0]?.count === 1_000
      })
      await first.end('SIGTERM')
      smtp.answer({})
      const before = await onServer(chaos, cluster)
      const steps = await asTheVersionBefore(chaos, { from: place.url ?? '', to: before.url ?? '' })
      await before.rows(`UPDATE deliveries SET next_try_at = now()`)
      await before.start()
      await until('every mail is closed', { seconds: 90, over: chaos.over, everyMs: 250 }, () => allClosed(before, 1_000))
      const counted = tally(smtp.mails, clientsOf(those))
      return {
        figure: `tables as ${steps} of ${steps + 1} steps had left them: ${wordsOf(counted)}`,
        holds: counted.lost === 0 && counted.repeated === 0 && counted.strange === 0,
      }
    },
  },
  {
    row: '81',
    name: 'a backup restored after 100 more mails had been sent',
    criterion: 'sent again without anybody’s word 0',
    async run(chaos) {
      const { cluster } = chaos
      if (!cluster) return { skipped: 'there is no PostgreSQL on this machine' }
      const place = await onServer(chaos, cluster)
      const smtp = await aMailServer(chaos)
      const those = await place.prepare((db) => people(db, { count: 1, invoices: 100, smtp, nextRunAt: Temporal.Now.instant() }))
      // Makes the run, and has nobody to send its mails to yet.
      smtp.answer({ mail: () => '451 4.3.0 Later' })
      const first = await place.start()
      await until('mails wait for their next try', { seconds: 90, over: chaos.over }, async () => {
        const waiting = await place.rows<{ count: number }>(`SELECT count(*)::int AS count FROM deliveries WHERE state = 'retrying'`)
        return waiting[0]?.count === 100
      })
      await first.end('SIGTERM')
      const dump = spawnSync(path.join(cluster.bin, 'pg_dump'), ['--format=custom', place.url ?? ''], { maxBuffer: 1e9 })
      if (dump.status !== 0) return { skipped: `no backup could be made: ${String(dump.error ?? dump.stderr).slice(0, 200)}` }
      smtp.answer({})
      await place.rows(`UPDATE deliveries SET next_try_at = now()`)
      const second = await place.start()
      await until('the mails leave', { seconds: 60, over: chaos.over }, () => allClosed(place, 100))
      await second.end('SIGTERM')
      const sent = smtp.mails.length
      const restored = await onServer(chaos, cluster)
      const put = spawnSync(path.join(cluster.bin, 'pg_restore'), ['--no-owner', '-d', restored.url ?? ''], {
        input: dump.stdout,
        maxBuffer: 1e9,
      })
      if (put.status !== 0)
        return { figure: `the backup could not be put back: ${String(put.error ?? put.stderr).slice(0, 200)}`, holds: false }
      await restored.rows(`UPDATE deliveries SET next_try_at = now()`)
      await restored.start()
      await pause(14_000)
      const counted = tally(smtp.mails, clientsOf(those))
      return {
        figure: `${sent} sent, backup from before put back: ${smtp.mails.length - sent} sent again (${counted.different} not the same bytes)`,
        holds: smtp.mails.length === sent,
      }
    },
  },
]

/** Fills an empty database as the version before this one would have left it: without the last step of the migrations. Answers how many there were. */
async function asTheVersionBefore({ stack }: Chaos, { from, to }: { from: string; to: string }): Promise<number> {
  const folder = mkdtempSync(path.join(tmpdir(), 'duely-before-'))
  stack.defer(() => rmSync(folder, { recursive: true, force: true }))
  cpSync(path.join(import.meta.dirname, '../migrations'), folder, { recursive: true })
  const file = path.join(folder, 'meta/_journal.json')
  const journal = JSON.parse(readFileSync(file, 'utf8')) as { entries: unknown[] }
  journal.entries.pop()
  writeFileSync(file, JSON.stringify(journal))
  const pool = new pg.Pool({ connectionString: to, max: 1 })
  try {
    await migrate(drizzle(pool), { migrationsFolder: folder })
    // Whatever order the tables come in.
    await pool.query(`SET session_replication_role = replica`)
    const tables = await pool.query<{ name: string; columns: string }>(
      `SELECT table_name AS name, string_agg(quote_ident(column_name), ', ') AS columns FROM information_schema.columns
       WHERE table_schema = 'public' AND table_name <> 'server_checks' AND is_generated = 'NEVER' GROUP BY table_name`,
    )
    for (const { name, columns } of tables.rows) {
      const [there] = await ask<{ rows: string | null }>(from, `SELECT json_agg(t)::text AS rows FROM "${name}" t`)
      await pool.query(`INSERT INTO "${name}" (${columns}) SELECT ${columns} FROM json_populate_recordset(NULL::"${name}", $1)`, [
        there?.rows ?? '[]',
      ])
    }
  } finally {
    await pool.end()
  }
  return journal.entries.length
}

/** As a reminder says it: ₹1,00,000.00. */
function inRupees(minor: number): string {
  const [whole = '0', part = '00'] = [String(Math.floor(minor / 100)), String(minor % 100).padStart(2, '0')]
  const grouped = whole.length > 3 ? `${whole.slice(0, -3).replace(/\B(?=(\d\d)+$)/g, ',')},${whole.slice(-3)}` : whole
  return `₹${grouped}.${part}`
}

/** Quoted-printable and base64 parts of a mail as text. */
function plainText(raw: Buffer): string {
  const text = raw.toString('latin1')
  const parts = text.split(/\r\n--[^\r\n]+\r\n/)
  return parts
    .map((part) => {
      const [head = '', ...rest] = part.split('\r\n\r\n')
      const body = rest.join('\r\n\r\n')
      if (/base64/i.test(head)) return Buffer.from(body, 'base64').toString('utf8')
      const bytes = body
        .replace(/=\r\n/g, '')
        .replace(/=([0-9A-F]{2})/g, (_all, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)))
      return Buffer.from(bytes, 'latin1').toString('utf8')
    })
    .join('\n')
}
