import { setTimeout as pause } from 'node:timers/promises'
import { sql } from 'drizzle-orm'
import { signAccessToken } from '#server/accounts/sessions.ts'
import { openFakeReceiver } from '#test/fakes/receiver.ts'
import { onAnyDatabase, onPostgres, openMailServer, secretKey, send } from '#test/faults/environment.ts'
import { percentile, row } from '#test/faults/row.ts'
import { Browser, overdueInvoice, password, signUp, startTarget } from './browser.ts'
import { byRefresh, connect, requestTokens, zapier, zapierEnv } from './oauth-client.ts'

const dueLater = { ...overdueInvoice(), dueDate: '2999-01-01' }

row('97', '200 calls of one account at the same time, beside another account', { concurrent: 2 }, async (trial) => {
  trial.mustHold(
    'half of the calls of the other account within 300 ms, or within 3 times what they take beside six such calls; each call of the attacker answered, or refused with 429',
  )
  const smtp = await openMailServer(trial)
  const environment = await onAnyDatabase(trial)
  const [invoices, callers, times] = [2_000, 200, 20]
  const [attacker] = await environment.createAccounts({ invoices, smtp, name: 'attacker' })
  const [other] = await environment.createAccounts({ invoices: 5, smtp, name: 'other' })
  const program = await startTarget(environment)
  const token = await signAccessToken(secretKey, attacker.sessionId, Temporal.Now.instant())
  // The answers are not parsed, because that would delay the calls that are measured.
  const list = async () => {
    const answered = await fetch(`${program.url}/invoice`, { headers: { authorization: `Bearer ${token}` }, signal: trial.signal })
    await answered.arrayBuffer()
    if (answered.status === 429) await pause(500)
    return answered.status
  }
  const beside = async (count: number) => {
    const statuses: number[] = []
    const calling = { now: true }
    const callers = Array.from({ length: count }, async () => {
      while (calling.now) statuses.push(await list())
    })
    const took: number[] = []
    for (let nth = 0; nth < times; nth += 1) {
      took.push((await send(program, other, 'GET /invoice')).ms)
      took.push((await send(program, other, 'POST /invoice', { body: dueLater })).ms)
    }
    calling.now = false
    await Promise.all(callers)
    return { median: percentile(took, 0.5), statuses }
  }
  const alone = await beside(0)
  const six = await beside(6)
  const crowd = await beside(callers)
  const count = (status: number) => crowd.statuses.filter((one) => one === status).length
  return {
    figure: `median ${crowd.median.toFixed(0)} ms, beside six calls ${six.median.toFixed(0)} ms, alone ${alone.median.toFixed(0)} ms; the attacker: ${count(200)} answered, ${count(429)} refused with 429, ${crowd.statuses.length - count(200) - count(429)} otherwise`,
    holds: crowd.median <= Math.max(300, six.median * 3) && count(200) > 0 && count(200) + count(429) === crowd.statuses.length,
  }
})

row('98', 'invoices, sessions, tokens and long texts that one account stores without end', { concurrent: 2 }, async (trial) => {
  trial.mustHold(
    'at most 100,000 invoices a month, 100 sessions, 120 access tokens a minute; 300 characters of a user agent; 2,000 characters of a log line',
  )
  const environment = await onPostgres(trial)
  const program = await startTarget(environment, { ...zapierEnv, RATE_LIMIT: 'on', LOG_LEVEL: 'info' })
  const owner = await signUp(program.url)
  const { refresh_token: token } = await connect(owner, zapier)
  // All but the last few, so that the row takes a second.
  await environment.rows(`
    INSERT INTO sessions (id, person_id, refresh_hash, rotated_at, created_at, last_seen_at)
    SELECT gen_random_uuid(), person_id, gen_random_uuid()::text, now(), now() - interval '1 hour', now() - interval '1 hour'
    FROM sessions, generate_series(1, 120)`)
  const userAgent = 'x'.repeat(8_000)
  for (let nth = 0; nth < 3; nth += 1)
    await new Browser(program.url).ask('POST /auth', { body: { email: owner.email, password }, headers: { 'user-agent': userAgent } })
  const created = [(await owner.ask('POST /invoice', { body: dueLater })).status]
  await environment.rows('UPDATE invoice_counts SET created = 99999')
  for (const status of ['paid', 'unpaid', 'paid'])
    created.push((await owner.ask('POST /invoice', { body: { ...dueLater, status } })).status)
  const refreshed: number[] = []
  for (let nth = 0; nth < 130; nth += 1) refreshed.push((await requestTokens(program.url, zapier, byRefresh(token))).status)
  await owner.ask(`GET /invoice?search=${'y'.repeat(6_000)}`, { headers: { 'user-agent': userAgent, 'x-request-id': 'z'.repeat(4_000) } })
  await owner.ask(`GET /${'y'.repeat(6_000)}`)
  const [stored] = await environment.rows<{ sessions: number; longest: number }>(`
    SELECT count(*)::int AS sessions, greatest(max(length(user_agent)), (SELECT max(length(user_agent)) FROM audit_entries)) AS longest FROM sessions`)
  const granted = refreshed.filter((status) => status === 200).length
  const line = Math.max(
    ...program
      .output()
      .split('\n')
      .map(({ length }) => length),
  )
  return {
    figure: `invoices: ${created.join(', ')}; ${stored?.sessions} sessions kept, user agents up to ${stored?.longest} characters; ${granted} of 130 refreshes, then ${refreshed.at(-1)}; longest log line ${line} characters`,
    holds:
      created.join() === '201,201,409,409' &&
      stored?.sessions === 100 &&
      stored.longest <= 300 &&
      granted === 120 &&
      refreshed.at(-1) === 429 &&
      line <= 2_000,
  }
})

row('99', 'events of an email about 5,000 invoices of one client', { concurrent: 2 }, async (trial) => {
  trial.mustHold('an event lists at most 200 invoices and has the number of all; the same in the samples')
  const invoices = 5_000
  const smtp = await openMailServer(trial)
  const receiver = trial.stack.use(await openFakeReceiver())
  const environment = await onAnyDatabase(trial)
  const [attacker] = await environment.createAccounts({ invoices, smtp })
  await environment.prepare(async (db) => {
    await db.execute(sql`UPDATE invoices SET client_email = 'one@client.example'`)
    await db.execute(sql`UPDATE accounts SET group_by_client = true`)
  })
  const program = await startTarget(environment, { HOOK_ALLOW_PRIVATE_HOSTS: 'true' })
  const added = await send(program, attacker, 'POST /webhooks', { body: { url: receiver.url, events: ['reminder.sent'] } })
  if (added.status !== 201) throw new Error(`Adding the webhook: ${added.status}`)
  await send(program, attacker, 'POST /reminder/send-immediate')
  const body = await trial.until('the event arrives', () =>
    receiver.calls.map((call) => call.body).find((text) => text.includes('reminder.sent')),
  )
  const { data } = JSON.parse(body) as { data: { invoices: unknown[]; invoiceCount: number } }
  return {
    figure: `${data.invoices.length} of ${data.invoiceCount} invoices listed, ${Math.round(body.length / 1000)} KB`,
    holds: data.invoices.length === 200 && data.invoiceCount === invoices,
  }
})

row('100', 'an account with 50,000 invoices deletes itself, beside another account', { concurrent: 2 }, async (trial) => {
  trial.mustHold('deleted; half of the calls of the other account meanwhile within 500 ms')
  const smtp = await openMailServer(trial)
  const environment = await onAnyDatabase(trial)
  const [attacker] = await environment.createAccounts({ invoices: 50_000, smtp, name: 'attacker' })
  const [other] = await environment.createAccounts({ invoices: 5, smtp, name: 'other' })
  const program = await startTarget(environment)
  const times: number[] = []
  const began = performance.now()
  let deleted = 0
  const deleting = send(program, attacker, 'DELETE /user/account', { withinMs: 300_000 }).then(({ status }) => {
    deleted = status
  })
  while (deleted === 0) times.push((await send(program, other, 'GET /invoice')).ms)
  await deleting
  const took = performance.now() - began
  const median = percentile(times, 0.5)
  return {
    figure: `${deleted} after ${(took / 1000).toFixed(1)} s; ${times.length} calls of the other account, median ${median.toFixed(0)} ms, the slowest ${Math.max(...times).toFixed(0)} ms`,
    holds: deleted === 204 && median <= 500,
  }
})
