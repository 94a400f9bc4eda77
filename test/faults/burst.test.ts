import { setTimeout as pause } from 'node:timers/promises'
import { later, silence } from '#test/fakes/smtp-server.ts'
import { type Environment, onAnyDatabase, onPostgres, openMailServer, send } from './environment.ts'
import { row, seconds } from './row.ts'
import { isDelivered, summarize, tally } from './tally.ts'

/*
 * Nine o'clock: very many accounts with a few emails each, and mail servers that are slow, silent or limited. No mailbox may wait for
 * another one's server.
 */

row(
  '101',
  '1,000 mailboxes silent at the greeting and 100 that never answer the dot, then a healthy one',
  { short: true },
  async (trial) => {
    const [greetings, dots, first, all] = trial.short ? [100, 20, 2_000, 5_000] : [1_000, 100, 1_000, 3_000]
    trial.mustHold('the first email of the healthy one within 1 s, all ten within 3 s (in the short selection 2 s and 5 s)')
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
      holds: shortest <= first && longest <= all,
    }
  },
)

row('103', '100 mailboxes of 30 emails a minute, four emails each', { short: true }, async (trial) => {
  const count = trial.short ? 20 : 100
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

row('104', 'one mail host down for 10,000 mailboxes, another one in order', async (trial) => {
  trial.mustHold('at most 10 connections in the first minute; the other host’s emails within 20 s; back within a minute of its return')
  const environment = await onPostgres(trial)
  const down = await openMailServer(trial)
  down.answer({ greeting: () => ({ kind: 'reset' }) })
  const up = await openMailServer(trial)
  await environment.createAccounts({ count: 10_000, invoices: 1, smtp: down, name: 'down', due: true })
  const others = await environment.createAccounts({ count: 200, invoices: 1, smtp: up, name: 'up', due: true })
  await environment.start()
  await trial.until('the host is called', () => down.connections.total > 0)
  const began = performance.now()
  await up.received(others.length)
  const unaffected = performance.now() - began
  await pause(Math.max(0, 60_000 - unaffected))
  const tries = down.connections.total
  down.answer({})
  const returned = performance.now()
  await down.received(1)
  const back = performance.now() - returned
  return {
    figure: `${tries} connections in the first minute; the other host’s emails after ${seconds(unaffected)}; back after ${seconds(back)}`,
    holds: tries <= 10 && unaffected <= 20_000 && back <= 60_000,
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
