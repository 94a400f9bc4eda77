import { setTimeout as pause } from 'node:timers/promises'
import { openFakeRazorpay } from '#test/fakes/razorpay/server.ts'
import type { FakeSmtp } from '#test/fakes/smtp-server.ts'
import { type Account, type Environment, errorsLogged, inFlight, onAnyDatabase, onPostgres, openMailServer, send } from './environment.ts'
import { row, type Trial } from './row.ts'
import { isDelivered, summarize, tally } from './tally.ts'

row('33', 'invoices marked paid while their emails are queued', { short: true }, async (trial) => {
  trial.mustHold('no email claimed after the answer "paid"')
  const count = trial.short ? 150 : 1_000
  const environment = await onPostgres(trial)
  // Slow enough that some emails are still queued when the last invoice is paid.
  const smtp = await openMailServer(trial, { delayMs: trial.short ? 50 : 10 })
  const [account] = await environment.createAccounts({ invoices: count, smtp, due: true })
  await environment.rows(`CREATE TABLE claims (invoice uuid, at timestamptz); CREATE FUNCTION note() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
      INSERT INTO claims SELECT invoice_id, statement_timestamp() FROM delivery_invoices WHERE delivery_id = NEW.id; RETURN NEW; END $$;
    CREATE TRIGGER note AFTER UPDATE ON deliveries FOR EACH ROW WHEN (OLD.state <> 'sending' AND NEW.state = 'sending') EXECUTE FUNCTION note()`)
  const program = await environment.start()
  await smtp.received(6)
  const paidAt = new Map<string, number>()
  const order = account.invoices.map((one) => ({ one, by: trial.random() })).sort((a, b) => a.by - b.by)
  const payers = Array.from({ length: 4 }, async () => {
    for (let next = order.shift(); next; next = order.shift()) {
      const answer = await send(program, account, `PATCH /invoice/${next.one.id}`, { body: { status: 'paid' } })
      if (answer.status === 200) paidAt.set(next.one.id, answer.at)
    }
  })
  await Promise.all(payers)
  await environment.untilClosed(count)
  const claims = await environment.rows<{ invoice: string; ms: number }>(
    'SELECT invoice, extract(epoch FROM at)::float8 * 1000 AS ms FROM claims',
  )
  // The time of an answer is in whole milliseconds, read after it arrived.
  const late = claims.filter(({ invoice, ms }) => ms > (paidAt.get(invoice) ?? Number.POSITIVE_INFINITY) + 1)
  const counted = tally(smtp.mails, [account])
  return {
    figure: `${paidAt.size} paid, ${smtp.mails.length} emails had left, ${counted.lost} were cancelled; claimed after the answer: ${late.length}`,
    holds: late.length === 0 && paidAt.size === count && counted.lost > 0 && counted.repeated === 0 && smtp.mails.length === claims.length,
  }
})

interface Interrupted {
  environment: Environment
  account: Account
  smtp: FakeSmtp
  status: number
  /** Emails that arrived after the answer. */
  after: number
  /** What GET /reminder/runs answers of the run afterwards. */
  run: { sent: number; open: number; skipped: number; held: number; holdReason: string } | undefined
  errors: number
}

/** Sends `invoices` emails, makes a call in the middle of the run and waits for the consequences. */
async function interrupt(
  trial: Trial,
  environment: Environment,
  { invoices, call, from, spread = 0 }: { invoices: number; call: string; from: number; spread?: number },
): Promise<Interrupted> {
  const smtp = await openMailServer(trial, { delayMs: 20 })
  const [account] = await environment.createAccounts({ invoices, smtp, due: true })
  const program = await environment.start()
  await smtp.received(from + Math.ceil(spread * trial.random()) + 1)
  const { at, status } = await send(program, account, call)
  await pause(4_000)
  const after = smtp.mails.filter((email) => email.at > at).length
  const { body } = await send(program, account, 'GET /reminder/runs')
  const run = Array.isArray(body) ? (body[0] as Interrupted['run']) : undefined
  return { environment, account, smtp, status, after, run, errors: errorsLogged(program).length }
}

row('34', 'Stop pressed with 1,000 emails queued', async (trial) => {
  trial.mustHold('at most 2 more emails, the rest cancelled')
  const call = 'POST /reminder/stop'
  const { status, after, run, smtp } = await interrupt(trial, await onAnyDatabase(trial), { invoices: 1_000, call, from: 20, spread: 100 })
  return {
    figure: `after the answer ${after} more; sent ${run?.sent}, cancelled ${run?.skipped}, open ${run?.open}`,
    holds:
      status === 200 && after <= inFlight.claimed && run?.open === 0 && run.sent === smtp.mails.length && run.sent + run.skipped === 1_000,
  }
})

row('35', 'Send Now pressed 20 times at the same time', async (trial) => {
  trial.mustHold('one email per invoice, one run')
  const environment = await onAnyDatabase(trial)
  const smtp = await openMailServer(trial, { delayMs: 5 })
  const [account] = await environment.createAccounts({ invoices: 10, smtp })
  const program = await environment.start()
  const answers = await Promise.all(Array.from({ length: 20 }, () => send(program, account, 'POST /reminder/send-immediate')))
  const ok = answers.filter(({ status }) => status === 200).length
  const runs = new Set(answers.map(({ body }) => (body as { runId: string }).runId))
  await smtp.received(10)
  await pause(1_500)
  const counted = tally(smtp.mails, [account])
  return {
    figure: `${ok} of 20 answered 200, ${runs.size} run; ${summarize(counted)}`,
    holds: ok === 20 && runs.size === 1 && isDelivered(counted),
  }
})

row('36', 'the mailbox removed in the middle of a run', async (trial) => {
  trial.mustHold('at most 2 more emails, the rest held')
  const call = 'DELETE /mail-config'
  const { status, after, run, smtp } = await interrupt(trial, await onAnyDatabase(trial), { invoices: 400, call, from: 20, spread: 50 })
  return {
    figure: `after the answer ${after} more; sent ${run?.sent}, held ${run?.held} (${run?.holdReason})`,
    holds:
      status === 204 &&
      after <= inFlight.claimed &&
      run?.sent === smtp.mails.length &&
      run.held === 400 - run.sent &&
      run.holdReason === 'not_configured',
  }
})

row('76', '60 invoices created at the same time with one left in the month', async (trial) => {
  trial.mustHold('exactly 50')
  const environment = await onAnyDatabase(trial)
  const smtp = await openMailServer(trial)
  const { settings } = trial.stack.use(await openFakeRazorpay())
  const trialIsOver = Temporal.Now.instant().subtract({ hours: 20 * 24 })
  const [account] = await environment.createAccounts({ invoices: 0, smtp, now: trialIsOver })
  const program = await environment.start({
    RAZORPAY_KEY_ID: settings.keyId,
    RAZORPAY_KEY_SECRET: settings.keySecret,
    RAZORPAY_WEBHOOK_SECRET: settings.webhookSecret,
    RAZORPAY_API_URL: settings.apiUrl,
    RAZORPAY_CHECKOUT_URL: settings.checkoutUrl,
  })
  const create = async (nth: number) => {
    const body = { clientName: `C ${nth}`, clientEmail: `c${nth}@example.com`, amount: 1, dueDate: '2999-01-01' }
    return (await send(program, account, 'POST /invoice', { body })).status
  }
  for (let nth = 0; nth < 49; nth += 1) await create(nth)
  const answers = await Promise.all(Array.from({ length: 60 }, (_none, nth) => create(100 + nth)))
  const stored = ((await send(program, account, 'GET /invoice')).body as unknown[]).length
  const [created, refused] = [201, 402].map((status) => answers.filter((one) => one === status).length)
  return {
    figure: `49 stored, 60 requested at the same time: ${created} created, ${refused} refused with 402, ${stored} stored`,
    holds: stored === 50 && created === 1 && refused === 59,
  }
})

row('77', 'the account deleted in the middle of a run', async (trial) => {
  trial.mustHold('at most 2 more emails, rows left 0')
  const options = { invoices: 400, call: 'DELETE /user/account', from: 20 }
  const { environment, account, status, after, errors } = await interrupt(trial, await onPostgres(trial), options)
  const owned = await environment.rows<{ table: string }>(
    `SELECT DISTINCT table_name AS table FROM information_schema.columns WHERE table_schema = 'public' AND column_name = 'owner_id'`,
  )
  let left = (await environment.rows('SELECT 1 FROM accounts WHERE id = $1', [account.id])).length
  left += (await environment.rows('SELECT 1 FROM people UNION ALL SELECT 1 FROM sessions')).length
  for (const { table } of owned) left += (await environment.rows(`SELECT 1 FROM "${table}" WHERE owner_id = $1`, [account.id])).length
  const deliveries = Object.keys(await environment.states()).length
  return {
    figure: `answer ${status}; after it ${after} more emails; rows left 0 in ${owned.length + 1} tables: ${left === 0 ? 'yes' : `no, ${left}`}; errors logged ${errors}`,
    holds: status === 204 && after <= inFlight.claimed && left === 0 && errors === 0 && deliveries === 0,
  }
})
