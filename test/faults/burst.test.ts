import { setTimeout as pause } from 'node:timers/promises'
import { openSink } from '#test/fakes/sink.ts'
import { later, silence } from '#test/fakes/smtp-server.ts'
import type { Program } from '#test/program.ts'
import { type Account, type Environment, onAnyDatabase, onPostgres, openMailServer, send } from './environment.ts'
import { percentile, row, seconds, type Trial } from './row.ts'
import { isDelivered, summarize, tally } from './tally.ts'
import { openTcpProxy } from './tcp-proxy.ts'

/*
 * Nine o'clock: very many accounts with a few emails each, and mail servers that are slow, silent or limited. No mailbox may wait for
 * another one's server.
 */

row('101', '1,000 mailboxes silent at the greeting and 100 that never answer the dot, then a healthy one', async (trial) => {
  const [greetings, dots] = [1_000, 100]
  trial.mustHold('the first email of the healthy one within 1 s, all ten within 3 s')
  const environment = await onAnyDatabase(trial)
  const mute = await openMailServer(trial)
  mute.answer({ greeting: () => silence })
  const undecided = await openMailServer(trial)
  undecided.answer({ dot: () => silence })
  const healthy = await openMailServer(trial)
  await environment.createAccounts({ count: greetings, invoices: 1, smtp: mute, name: 'mute', due: true })
  await environment.createAccounts({ count: dots, invoices: 4, smtp: undecided, name: 'undecided', due: true })
  const [account] = await environment.createAccounts({ invoices: 10, smtp: healthy, name: 'healthy' })
  const program = await environment.start()
  await trial.until('emails are in flight to all silent servers', () => mute.connections.total > 0 && undecided.mails.length >= dots)
  await pause(2_500)
  const began = Date.now()
  const pressed = send(program, account, 'POST /reminder/send-immediate')
  await healthy.received(10)
  await pressed
  const delays = healthy.mails.map(({ at }) => at - began).sort((a, b) => a - b)
  const [shortest = 0, longest = 0] = [delays[0], delays.at(-1)]
  return {
    figure: `first after ${seconds(shortest)}, all ten after ${seconds(longest)}; connections to the silent greeting ${mute.connections.total}`,
    holds: shortest <= 1_000 && longest <= 3_000,
  }
})

row('103', '100 mailboxes of 30 emails a minute, four emails each', async (trial) => {
  const count = 100
  trial.mustHold('all sent within 9 s of the first; no connection open while a mailbox waits for its turn')
  const environment = await onAnyDatabase(trial)
  const smtp = await openMailServer(trial)
  const accounts = await environment.createAccounts({ count, invoices: 4, smtp, due: true })
  await environment.prepare(async (db) => {
    await db.execute('UPDATE mail_configs SET learned_per_minute = 30, learned_per_minute_at = now()')
  })
  await environment.start()
  await smtp.received(count)
  const firstRound = performance.now()
  await pause(1_000)
  const open = smtp.connections.open
  await smtp.received(4 * count)
  const took = performance.now() - firstRound
  const counted = tally(smtp.mails, accounts)
  return {
    figure: `${summarize(counted)}; three more each in ${seconds(took)}; ${open} connections open between two turns`,
    holds: isDelivered(counted) && took <= 9_000 && open === 0,
  }
})

/** Starts the program with 10,000 mailboxes on one host and 200 on another, all due. `took`: how long the emails of the 200 take, in ms. */
async function twoHosts(trial: Trial, { isDown }: { isDown: boolean }) {
  const environment = await onPostgres(trial)
  const [first, other] = [await openMailServer(trial), await openMailServer(trial)]
  if (isDown) first.answer({ greeting: () => ({ kind: 'reset' }) })
  await environment.createAccounts({ count: 10_000, invoices: 1, smtp: first, name: 'first', due: true })
  const others = await environment.createAccounts({ count: 200, invoices: 1, smtp: other, name: 'other', due: true })
  const program = await environment.start()
  await trial.until('the first host is called', () => first.connections.total > 0)
  const began = performance.now()
  /** How often the first host is called within a minute. */
  const tries = isDown ? pause(60_000).then(() => first.connections.total) : 0
  await other.received(others.length)
  return { program, first, took: performance.now() - began, tries: await tries }
}

row('104', 'one mail host down for 10,000 mailboxes, another one in order', async (trial) => {
  trial.mustHold(
    'at most 10 connections in the first minute; the other host’s emails within 1.5 times, and 2 s more, of what they take while both hosts work; back within a minute of its return',
  )
  const healthy = await twoHosts(trial, { isDown: false })
  await healthy.program.end('SIGTERM')
  const { first: down, took, tries } = await twoHosts(trial, { isDown: true })
  down.answer({})
  const returned = performance.now()
  await down.received(1)
  const back = performance.now() - returned
  return {
    figure: `${tries} connections in the first minute; the other host’s emails after ${seconds(took)}, while both work after ${seconds(healthy.took)}; back after ${seconds(back)}`,
    holds: tries <= 10 && took <= 1.5 * healthy.took + 2_000 && back <= 60_000,
  }
})

row('102', 'every mail server takes 300 ms an email, 1,000 accounts with four each', async (trial) => {
  trial.mustHold('the last email within 1.3 times what 64 accounts at a time take: 1,000 × 4 × 0.3 s ÷ 64 = 18.8 s')
  const environment = await onPostgres(trial)
  const smtp = await openMailServer(trial)
  smtp.answer({ dot: () => later(300) })
  const accounts = await environment.createAccounts({ count: 1_000, invoices: 4, smtp, due: true })
  await environment.start()
  await smtp.received(1)
  const began = performance.now()
  await smtp.received(4_000)
  const took = performance.now() - began
  const counted = tally(smtp.mails, accounts)
  return { figure: `${summarize(counted)}; ${seconds(took)}`, holds: isDelivered(counted) && took <= 1.3 * 18_750 }
})

/** No statement of a program that starts later may take longer. */
const limitStatements = (environment: Environment, ms: number) =>
  environment.rows(`DO $$ BEGIN EXECUTE format('ALTER DATABASE %I SET statement_timeout = ''${ms}ms''', current_database()); END $$`)
const tooLong = (program: { output(): string }) => program.output().split('statement timeout').length - 1

row('105', 'an account with 5,000 emails deleted, among 500,000 decisions', async (trial) => {
  trial.mustHold('deleted within 5 s, no statement over 1 s')
  const environment = await onPostgres(trial)
  const smtp = await openMailServer(trial)
  const [account] = await environment.createAccounts({ count: 2, invoices: 1_000, smtp })
  await environment.rows(`
    INSERT INTO runs (id, owner_id, kind, local_date, created_at, deadline_at, planned_at, settled_at)
    SELECT gen_random_uuid(), id, 'start', current_date, now(), now(), now(), now() FROM accounts`)
  await environment.rows(`
    INSERT INTO deliveries (id, owner_id, run_id, client_email, state, created_at, next_try_at, deadline_at)
    SELECT gen_random_uuid(), r.owner_id, r.id, 'client@example.com', 'sent', now(), now(), now() FROM runs r, generate_series(1, 5000)`)
  await environment.rows(`
    INSERT INTO decisions (owner_id, invoice_id, local_date, rule, delivery_id, decided_at)
    SELECT i.owner_id, i.id, current_date - day, 'mail', (SELECT d.id FROM deliveries d WHERE d.owner_id = i.owner_id ORDER BY d.id OFFSET i.place + day LIMIT 1), now()
    FROM (SELECT id, owner_id, (row_number() OVER (PARTITION BY owner_id))::int AS place FROM invoices) i, generate_series(1, 4) day`)
  await environment.rows(`
    INSERT INTO decisions (owner_id, invoice_id, local_date, rule, decided_at)
    SELECT i.owner_id, i.id, current_date - day, 'already_reminded', now() FROM invoices i, generate_series(5, 250) day`)
  await limitStatements(environment, 1_000)
  const program = await environment.start()
  const began = performance.now()
  const { status } = await send(program, account, 'DELETE /user/account')
  const took = performance.now() - began
  const [left] = await environment.rows<{ count: number }>('SELECT count(*)::int AS count FROM deliveries WHERE owner_id = $1', [
    account.id,
  ])
  return {
    figure: `answer ${status} after ${seconds(took)}; ${left?.count} emails left; ${tooLong(program)} statements over 1 s`,
    holds: status === 204 && took <= 5_000 && left?.count === 0 && tooLong(program) === 0,
  }
})

row('106', '100,000 held emails reach their deadline', async (trial) => {
  trial.mustHold('all closed, no statement over 500 ms')
  const environment = await onPostgres(trial)
  const smtp = await openMailServer(trial)
  await environment.createAccounts({ count: 100, invoices: 1_000, smtp })
  await environment.rows(`
    INSERT INTO runs (id, owner_id, kind, local_date, created_at, deadline_at, planned_at)
    SELECT gen_random_uuid(), id, 'daily', current_date, now(), now(), now() FROM accounts`)
  await environment.rows(`
    INSERT INTO deliveries (id, owner_id, run_id, client_email, state, reason, created_at, next_try_at, deadline_at)
    SELECT i.id, i.owner_id, r.id, i.client_email, 'held', 'plan', now(), now(), now() FROM invoices i JOIN runs r ON r.owner_id = i.owner_id`)
  await environment.rows(
    'INSERT INTO delivery_invoices (owner_id, delivery_id, invoice_id, open) SELECT owner_id, id, id, true FROM invoices',
  )
  await environment.rows('ANALYZE')
  await limitStatements(environment, 500)
  const program = await environment.start()
  const began = performance.now()
  await environment.untilClosed(100_000, { seconds: 120 })
  return {
    figure: `closed after ${seconds(performance.now() - began)}; ${tooLong(program)} statements over 500 ms; ${smtp.mails.length} emails sent`,
    holds: tooLong(program) === 0 && smtp.mails.length === 0,
  }
})

/** Calls of one account, one begun every 100 ms whether or not the one before was answered, until it ends; in ms. */
function callEveryTenth(program: Program, account: Account, call: string): { end(): Promise<number[]> } {
  const calls: Promise<number>[] = []
  const timer = setInterval(() => {
    calls.push(send(program, account, call).then(({ status, ms }) => (status === 200 ? ms : Number.POSITIVE_INFINITY)))
  }, 100)
  return {
    end() {
      clearInterval(timer)
      return Promise.all(calls)
    },
  }
}

row(
  '107',
  '100,000 accounts at nine o’clock in one zone, with a web process and a worker: Send Now of another one in the middle, and a call every 100 ms',
  async (trial) => {
    const [count, middle] = [100_000, 20_000]
    trial.mustHold('the first email of Send Now within 1 s, GET /invoice within 100 ms (95 %)')
    const environment = await onPostgres(trial)
    using sink = await openSink()
    const login = { user: 'asha@example.com', pass: 'app-password' }
    const sinkServer = { host: '127.0.0.1', port: sink.port, tls: 'ssl', login } as const
    const own = await openMailServer(trial)
    const [pressing] = await environment.createAccounts({ invoices: 10, smtp: own, name: 'pressing' })
    const [calling] = await environment.createAccounts({ invoices: 50, smtp: own, name: 'calling' })
    const nextRunAt = Temporal.Now.instant().add({ hours: 1 })
    await environment.createAccounts({ count, invoices: 1, smtp: sinkServer, name: 'many', nextRunAt })
    // As so many accounts are to be served (docs/deploying.md): in one process, calls wait behind what an email takes of its thread.
    await environment.start({ ROLE: 'worker' })
    const program = await environment.start({ ROLE: 'web' })
    await environment.rows('ANALYZE')
    await environment.rows(`UPDATE accounts SET next_run_at = now() + interval '2 seconds' WHERE next_run_at IS NOT NULL`)
    await trial.until('the burst has begun', async () => (await sink.seen()).received > 0)
    const calls = callEveryTenth(program, calling, 'GET /invoice')
    await pause(middle)
    const began = Date.now()
    const pressed = send(program, pressing, 'POST /reminder/send-immediate')
    await own.received(10)
    await pressed
    const first = Math.min(...own.mails.map(({ at }) => at)) - began
    const meanwhile = (await sink.seen()).received
    await pause(2 * middle)
    const { received, firstAt, lastAt } = await sink.seen()
    const answered = await calls.end()
    const slow = percentile(answered, 0.95)
    return {
      figure: `first email of Send Now after ${seconds(first)}, ${meanwhile} of the others had left; ${answered.length} calls, 95 % within ${slow.toFixed(0)} ms; ${((received * 1_000) / (lastAt - firstAt)).toFixed(0)} emails a second`,
      holds: first <= 1_000 && slow <= 100 && meanwhile < count,
    }
  },
)

/** How long so many processes take to make the runs of all accounts, in ms, with nothing to send. */
async function makeRuns(environment: Environment, programs: number, url: string, count: number): Promise<number> {
  await environment.rows('DELETE FROM decisions')
  await environment.rows('DELETE FROM runs')
  await environment.rows('VACUUM ANALYZE')
  const running = await Promise.all(Array.from({ length: programs }, () => environment.start({ DATABASE_URL: url, ROLE: 'worker' })))
  await environment.rows(`UPDATE accounts SET next_run_at = now() + interval '2 seconds', next_run_from = NULL, last_daily_run_at = NULL`)
  await pause(2_000)
  const began = performance.now()
  for (;;) {
    const [made] = await environment.rows<{ count: number }>('SELECT count(*)::int AS count FROM runs')
    if (made && made.count >= count) break
    await pause(20)
  }
  const took = performance.now() - began
  await Promise.all(running.map((program) => program.end('SIGTERM')))
  return took
}

row('108', 'two and four processes make the daily runs of 10,000 accounts', async (trial) => {
  const [distance, count] = [60, 10_000]
  trial.mustHold(`with a database ${distance} ms away, two are at least 1.6 times as fast as one, four 2.5 times`)
  const environment = await onPostgres(trial)
  const smtp = await openMailServer(trial)
  await environment.createAccounts({ count, invoices: 1, smtp, due: true })
  // Decided about, and not reminded: sending would take the time that is measured.
  await environment.rows(`UPDATE invoices SET paused_at = now()`)
  const proxy = await openTcpProxy(trial, { host: '127.0.0.1', port: Number(new URL(environment.url).port) }, { delayMs: distance / 2 })
  const away = new URL(environment.url)
  away.port = String(proxy.port)
  const measure = async (url: string) => {
    const took: number[] = []
    for (const programs of [1, 2, 4]) took.push(await makeRuns(environment, programs, url, count))
    return took as [number, number, number]
  }
  const [one, two, four] = await measure(away.toString())
  const near = await measure(environment.url)
  return {
    figure: `one ${seconds(one)}, two ${seconds(two)} (${(one / two).toFixed(1)} times), four ${seconds(four)} (${(one / four).toFixed(1)} times); beside the database, on the same cores: ${near.map(seconds).join(', ')}`,
    holds: one / two >= 1.6 && one / four >= 2.5,
  }
})

row('110', 'a year of an account with 50 emails a day, four of five paid after 20 days, and 90 days more', async (trial) => {
  const [days, aDay] = [365, 50]
  const all = days * aDay
  trial.mustHold('every email in the history; the bytes of open invoices there, those of invoices paid for 90 days gone')
  const environment = await onPostgres(trial)
  const [account] = await environment.createAccounts({ invoices: 0, smtp: await openMailServer(trial) })
  const id = (kind: number, nth: string) => `('00000000-0000-7000-8000-${kind}' || lpad((${nth})::text, 11, '0'))::uuid`
  // The first email of the last day was sent 90 days ago, and one of five is never paid.
  const sentAt = `now() - make_interval(days => ${days + 90} - nth / ${aDay})`
  const [paid, each] = ['nth % 5 > 0', `generate_series(0, ${all - 1}) nth`]
  await environment.rows(`
    INSERT INTO runs (id, owner_id, kind, local_date, created_at, deadline_at, planned_at, settled_at)
    SELECT ${id(1, 'day')}, '${account.id}', 'daily', current_date - 455 + day, now(), now(), now(), now() FROM generate_series(0, ${days - 1}) day`)
  await environment.rows(`
    INSERT INTO invoices (id, owner_id, reference, client_name, client_email, amount_minor, due_date, status, created_at, updated_at)
    SELECT ${id(2, 'nth')}, '${account.id}', 'OLD-' || nth, 'Client', 'client' || nth || '@example.com', 100, (${sentAt})::date - 1, 'overdue', ${sentAt}, ${sentAt} FROM ${each}`)
  await environment.rows(`
    WITH paid AS (
      UPDATE invoices i SET status = 'paid', paid_minor = 100, paid_at = i.created_at + interval '20 days', paid_on = i.due_date + 21 FROM ${each} WHERE i.id = ${id(2, 'nth')} AND ${paid} RETURNING i.*)
    INSERT INTO invoice_payments (id, owner_id, invoice_id, kind, origin, amount_minor, paid_on, recorded_at)
    SELECT id, owner_id, id, 'payment', 'marked', 100, paid_on, paid_at FROM paid`)
  await environment.rows(`
    INSERT INTO deliveries (id, owner_id, run_id, client_email, state, created_at, next_try_at, deadline_at, sent_at, raw, subject, message_id, server_reply)
    SELECT ${id(3, 'nth')}, '${account.id}', ${id(1, `nth / ${aDay}`)}, 'client' || nth || '@example.com', 'sent', ${sentAt}, ${sentAt}, ${sentAt}, ${sentAt},
      (SELECT decode(string_agg(md5(nth || '.' || part), ''), 'hex') FROM generate_series(1, 268) part), 'Reminder ' || nth, '<' || nth || '@example.com>', '250 2.0.0 Accepted' FROM ${each}`)
  await environment.rows(
    `INSERT INTO delivery_invoices (owner_id, delivery_id, invoice_id, open) SELECT '${account.id}', ${id(3, 'nth')}, ${id(2, 'nth')}, false FROM ${each}`,
  )
  await environment.rows(`
    INSERT INTO decisions (owner_id, invoice_id, local_date, rule, delivery_id, decided_at)
    SELECT '${account.id}', ${id(2, 'nth')}, (${sentAt})::date, 'mail', ${id(3, 'nth')}, ${sentAt} FROM ${each}`)
  const stored = async () => {
    const [found] = await environment.rows<{ open: number; paid: number; bytes: number; emails: number }>(`
      SELECT count(*)::int AS emails, (count(raw) FILTER (WHERE i.status <> 'paid'))::int AS open, (count(raw) FILTER (WHERE i.status = 'paid'))::int AS paid, coalesce(sum(pg_column_size(raw)), 0)::float8 AS bytes
      FROM deliveries d JOIN delivery_invoices x ON x.delivery_id = d.id JOIN invoices i ON i.id = x.invoice_id`)
    return found ?? { open: 0, paid: 0, bytes: 0, emails: 0 }
  }
  const before = await stored()
  const program = await environment.start()
  // Of the last 19 days: their invoices were paid less than 90 days ago.
  const recent = 19 * aDay * 0.8
  await trial.until('the bytes of settled invoices are gone', async () => (await stored()).paid <= recent, { seconds: 60, everyMs: 200 })
  const after = await stored()
  const histories = await Promise.all(
    [1, 5, all - 1].map(async (nth) => {
      const answered = await send(program, account, `GET /invoice/00000000-0000-7000-8000-2${String(nth).padStart(11, '0')}/history`)
      const { mails, days } = answered.body as {
        mails: { subject: string; sentAt: string | null; serverReply: string; stored: boolean }[]
        days: unknown[]
      }
      const [mail] = mails
      const complete =
        mails.length === 1 && days.length === 1 && mail?.subject === `Reminder ${nth}` && mail.sentAt && mail.serverReply.startsWith('250')
      return complete ? mail?.stored : null
    }),
  )
  const megabytes = (bytes: number) => `${(bytes / 1e6).toFixed(0)} MB`
  return {
    figure: `${after.emails} of ${all} emails in the history; bytes of ${before.open + before.paid} emails before (${megabytes(before.bytes)}), then of ${after.open} about open invoices and ${after.paid} paid recently (${megabytes(after.bytes)})`,
    holds:
      after.emails === all &&
      after.open === all / 5 &&
      after.paid === recent &&
      JSON.stringify(histories) === JSON.stringify([false, true, true]),
  }
})
