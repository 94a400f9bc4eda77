import { setTimeout as pause } from 'node:timers/promises'
import { sql } from 'drizzle-orm'
import { openFakeReceiver } from '#test/fakes/receiver.ts'
import { type Answer, onAnyDatabase, openMailServer, send } from '#test/faults/environment.ts'
import { percentile, row, seconds } from '#test/faults/row.ts'
import { residentMb } from '#test/program.ts'
import { Browser, openTarget, overdueInvoice, signUp, startTarget } from './browser.ts'
import { connect, zapier, zapierEnv } from './oauth-client.ts'

/** Receivers on this machine may be called. */
const env = { HOOK_ALLOW_PRIVATE_HOSTS: 'true' }

async function addWebhook(browser: Browser, url: string): Promise<void> {
  const added = await browser.ask('POST /webhooks', { body: { url, events: ['invoice.created'], ...browser.proof } })
  if (added.status !== 201) throw new Error(`Adding ${url}: ${added.status} ${added.text}`)
}

const createInvoice = (browser: Browser) => browser.ask('POST /invoice', { body: { ...overdueInvoice(), dueDate: '2999-01-01' } })

row('85', 'webhook receivers of 16 accounts take 9 s, while another account has events', { concurrent: 2 }, async (trial) => {
  trial.mustHold('no event of the other account takes 3 times as long as the slowest one before the attack')
  const [attackers, hooks, events] = [16, 20, 10]
  const slow = trial.stack.use(await openFakeReceiver())
  const healthy = trial.stack.use(await openFakeReceiver())
  slow.answer({ status: 200, afterMs: 9_000 })
  const program = await openTarget(trial, env)
  const other = await signUp(program.url)
  await addWebhook(other, `${healthy.url}/duely`)
  const arrivals = async (count: number) => {
    const waits: number[] = []
    for (let nth = 0; nth < count; nth += 1) {
      const [began, before] = [performance.now(), healthy.calls.length]
      await createInvoice(other)
      await trial.until('the event arrives', () => healthy.calls.length > before, { everyMs: 5 })
      waits.push(performance.now() - began)
    }
    return Math.max(...waits)
  }
  const undisturbed = await arrivals(events)
  const accounts = await Promise.all(Array.from({ length: attackers }, () => signUp(program.url)))
  for (const one of accounts) for (let nth = 0; nth < hooks; nth += 1) await addWebhook(one, `${slow.url}/${one.email}/${nth}`)
  // Two events each, so that every receiver is called again once its first call has ended.
  for (let nth = 0; nth < 2; nth += 1) await Promise.all(accounts.map(createInvoice))
  await trial.until('32 slow calls are in flight', () => slow.calls.length >= 32)
  const attacked = await arrivals(events)
  return {
    figure: `${events} events during ${slow.calls.length} slow calls: the slowest after ${seconds(attacked)}, before the attack ${seconds(undisturbed)}`,
    holds: attacked < undisturbed * 3,
  }
})

row('91', 'a stranger’s server called by many webhooks of one account', { concurrent: 2 }, async (trial) => {
  trial.mustHold(
    'a plain session adds 0 REST hooks; a server that answers no challenge gets 0 events; one that does gets each event once per URL, at most 10 a second; at most 1,000 wait for a webhook',
  )
  const [hooks, lines] = [100, 1_000]
  const victim = trial.stack.use(await openFakeReceiver())
  const echoing = trial.stack.use(await openFakeReceiver())
  victim.ignoresChallenges = true
  victim.answer(({ body }) => ({ status: 200, body }))
  const program = await openTarget(trial, { ...env, ...zapierEnv, RATE_LIMIT: 'on' })
  const attacker = await signUp(program.url)
  const token = new Browser(program.url, (await connect(attacker, zapier)).access_token)
  const subscribe = (as: Browser, hookUrl: string) => as.ask('POST /zapier/hooks', { body: { hookUrl, event: 'invoice.created' } })
  const statuses: number[] = []
  for (let nth = 0; nth < hooks; nth += 1) statuses.push((await subscribe(attacker, `${victim.url}/session/${nth}`)).status)
  const added = statuses.filter((status) => status < 400).length
  for (let nth = 0; nth < hooks - 5; nth += 1) await subscribe(token, `${victim.url}/token/${nth}`)
  for (let nth = 0; nth < 5; nth += 1) await subscribe(token, `${echoing.url}/token/${nth}`)
  for (const event of ['invoice.created', 'invoice.paid'])
    await attacker.ask('POST /webhooks', { body: { url: `${echoing.url}/token/0`, events: [event], ...attacker.proof } })
  await trial.until('the other server has answered its challenges', () => echoing.challenges.length >= 5)
  const began = performance.now()
  for (let batch = 0; batch < 2; batch += 1) {
    const some = Array.from({ length: lines }, (_none, nth) => ({
      ...overdueInvoice(),
      dueDate: '2999-01-01',
      amount: batch * lines + nth + 1,
    }))
    const imported = await attacker.ask('POST /invoices/import', { body: { lines: some } })
    if (imported.status !== 200) throw new Error(`Importing: ${imported.status} ${imported.text}`)
  }
  await trial.until('the other server has been called for a while', () => echoing.calls.length >= 100)
  const seconds = (performance.now() - began) / 1000
  const calls = echoing.calls.length
  const events = victim.calls.filter(({ body }) => !body.includes('"challenge"')).length
  const repeated = calls - new Set(echoing.calls.map(({ path, headers }) => `${path} ${headers['webhook-id']}`)).size
  const countSkipping = async () =>
    ((await attacker.ask('GET /webhooks')).body as { skipped: number }[]).filter(({ skipped }) => skipped > 0).length
  const skipped = await trial.until('1,000 events wait for each webhook', countSkipping, { everyMs: 1_000 })
  return {
    figure: `by session ${added} of ${hooks} added; ${victim.calls.length} challenges without an answer, then ${events} events; the other server ${calls} calls in ${seconds.toFixed(1)} s, ${repeated} repeated; ${skipped} webhooks with skipped events`,
    // Ten a second, and those of the second that has begun.
    holds: added === 0 && events === 0 && repeated === 0 && calls <= 10 * seconds + 10 && skipped > 0,
  }
})

row('90', 'lists, previews and exports of 30,000 invoices, eight of each at once', { concurrent: 2 }, async (trial) => {
  trial.mustHold(
    'health answers within 500 ms (95 %), or within twice what it takes where only two of them run; at most 100 MB more memory; each call answered, or refused with 429 and Retry-After',
  )
  const smtp = await openMailServer(trial)
  const environment = await onAnyDatabase(trial)
  const [attacker] = await environment.createAccounts({ invoices: 30_000, smtp })
  // Stored emails of 1 MB: an export reads them all.
  await environment.prepare(async (db) => {
    await db.execute(sql`
      INSERT INTO runs (id, owner_id, kind, local_date, created_at, deadline_at, planned_at, settled_at)
      VALUES (gen_random_uuid(), ${attacker.id}, 'send_now', current_date, now(), now(), now(), now())`)
    await db.execute(sql`
      INSERT INTO deliveries (id, owner_id, run_id, client_email, state, created_at, next_try_at, deadline_at, attempt, raw)
      SELECT gen_random_uuid(), r.owner_id, r.id, 'a@b.example', 'sent', now(), now(), now(), 1, convert_to(repeat('0123456789abcdef', 65536), 'UTF8')
      FROM runs r, generate_series(1, 30)`)
  })
  const program = await startTarget(environment)
  const kinds = ['GET /invoice', 'GET /reminder/preview', 'GET /invoices/export', 'GET /user/export']
  const burst = async (count: number) => {
    const healths: number[] = []
    const calling = { now: true }
    let most = 0
    const watch = async () => {
      while (calling.now) {
        const began = performance.now()
        await fetch(`${program.url}/health`)
        healths.push(performance.now() - began)
        most = Math.max(most, residentMb(program.pid))
        await pause(50)
      }
    }
    const watching = watch()
    const answers: Answer[] = []
    for (const kind of kinds)
      answers.push(...(await Promise.all(Array.from({ length: count }, () => send(program, attacker, kind, { withinMs: 300_000 })))))
    calling.now = false
    await watching
    return { health: percentile(healths, 0.95), most, answers }
  }
  for (const kind of kinds) await send(program, attacker, kind, { withinMs: 300_000 })
  const before = residentMb(program.pid)
  const two = await burst(2)
  const eight = await burst(8)
  const count = (status: number) => eight.answers.filter((one) => one.status === status).length
  const grown = Math.max(two.most, eight.most) - before
  return {
    figure: `health ${eight.health.toFixed(0)} ms (95 %), with two at a time ${two.health.toFixed(0)} ms; ${grown.toFixed(0)} MB more than ${before.toFixed(0)} MB; ${count(200)} answered, ${count(429)} refused with 429`,
    holds:
      (eight.health <= 500 || eight.health <= two.health * 2) &&
      grown <= 100 &&
      count(200) + count(429) === eight.answers.length &&
      count(200) > 0,
  }
})

row('90 invoices', 'more open invoices than an account may have', { concurrent: 2 }, async (trial) => {
  trial.mustHold('at most 50,000 open; the others are refused with a sentence')
  const smtp = await openMailServer(trial)
  const environment = await onAnyDatabase(trial)
  const [attacker] = await environment.createAccounts({ invoices: 49_900, smtp })
  const program = await startTarget(environment, { RATE_LIMIT: 'on' })
  const lines = Array.from({ length: 200 }, (_none, nth) => ({ ...overdueInvoice(), amount: nth + 1 }))
  const imported = await send(program, attacker, 'POST /invoices/import', { body: { lines } })
  const { body } = imported as { body: { imported: number; lines: { message?: string }[] } }
  const one = await send(program, attacker, 'POST /invoice', { body: overdueInvoice() })
  return {
    figure: `${body.imported} of 200 imported, then ${one.status} ("${(one.body as { message: string }).message}")`,
    holds: body.imported === 100 && one.status === 409,
  }
})

row('90 ordinary', 'an ordinary account at its busiest: no limit is met', { concurrent: 2 }, async (trial) => {
  trial.mustHold(
    '2,000 invoices imported at once, 500 past due of one client, a template of 18,000 characters, Send Now of all: 0 refused, all sent',
  )
  const [clients, ofOne] = [1_500, 500]
  const smtp = await openMailServer(trial)
  const program = await openTarget(trial, { RATE_LIMIT: 'on' })
  const owner = await signUp(program.url)
  await owner.saveMailbox(smtp)
  const customContent = `Dear {{clientName}},\n\n{{invoiceId}} {{amount}} {{dueDate}}\n\n${'Please pay what is overdue. '.repeat(643)}\n{{userName}}`
  const answers = [
    await owner.ask('PUT /mail-config/template', {
      body: { useCustomTemplate: true, customSubject: 'Invoice {{invoiceId}}', customContent: customContent.slice(0, 18_000) },
    }),
  ]
  const lines = Array.from({ length: clients + ofOne }, (_none, nth) =>
    overdueInvoice({ clientEmail: nth < ofOne ? 'one@client.example' : `client${nth}@client.example`, amount: nth + 1 }),
  )
  const batches = Array.from({ length: Math.ceil(lines.length / 200) }, (_none, nth) => lines.slice(nth * 200, nth * 200 + 200))
  for (const batch of batches) answers.push(await owner.ask('POST /invoices/import', { body: { lines: batch } }))
  for (let nth = 0; nth < 10; nth += 1)
    answers.push(...(await Promise.all(['GET /invoice', 'GET /reminder/preview', 'GET /reminder/status'].map((call) => owner.ask(call)))))
  answers.push(
    await owner.ask('POST /reminder/send-immediate'),
    await owner.ask('GET /invoices/export'),
    await owner.ask('GET /user/export'),
  )
  await trial.until('all are sent', () => smtp.mails.length >= lines.length)
  const refused = answers.filter(({ status }) => status >= 400)
  return {
    figure: `${lines.length} invoices, ${answers.length} calls: ${refused.length} refused${refused.length > 0 ? ` (${refused[0]?.status} ${refused[0]?.text})` : ''}; ${smtp.mails.length} emails sent`,
    holds: refused.length === 0 && smtp.mails.length === lines.length,
  }
})
