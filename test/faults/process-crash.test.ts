import { setTimeout as pause } from 'node:timers/promises'
import { sealRefreshToken } from '#server/mail/sender.ts'
import { openFakeMicrosoft } from '#test/fakes/microsoft.ts'
import type { ReceivedMail } from '#test/fakes/smtp-server.ts'
import { embedded, inFlight, onPostgres, openMailServer, secretKey, untilRunsFinish } from './environment.ts'
import { row, seconds } from './row.ts'
import { isDelivered, summarize, tally } from './tally.ts'

row('1', 'two processes, one of them killed every 0.5 to 1.4 s', async (trial) => {
  trial.mustHold('lost 0; repeated at most 8 per kill on average, the same bytes')
  const environment = await onPostgres(trial)
  const smtp = await openMailServer(trial, { delayMs: 30 })
  const accounts = await environment.createAccounts({ count: 100, invoices: 100, smtp, due: true })
  const running = [await environment.start(), await environment.start()]
  let kills = 0
  while (kills < 25 && smtp.mails.length < 9_800) {
    await pause(500 + 900 * trial.random())
    const slot = trial.random() < 0.5 ? 0 : 1
    await running[slot]?.end('SIGKILL')
    kills += 1
    running[slot] = await environment.start()
  }
  const lastKill = performance.now()
  await environment.untilClosed(10_000)
  const counted = tally(smtp.mails, accounts)
  return {
    figure: `${kills} kills; ${summarize(counted)}; everything sent ${seconds(performance.now() - lastKill)} after the last kill`,
    holds: isDelivered(counted, kills * 8) && kills >= 20,
  }
})

row('1 embedded', 'the only process, on the embedded database, killed repeatedly', async (trial) => {
  trial.mustHold('lost 0; repeated at most 8 per kill, the same bytes')
  const [emails, kills] = [1_200, 20]
  const environment = await embedded(trial)
  const smtp = await openMailServer(trial, { delayMs: 2 })
  const accounts = await environment.createAccounts({ invoices: emails, smtp, due: true })
  let program = await environment.start()
  for (let kill = 1; kill <= kills; kill += 1) {
    await smtp.received(Math.floor((emails * kill) / (kills + 1)) + Math.floor(trial.random() * 20))
    await program.end('SIGKILL')
    program = await environment.start()
  }
  await untilRunsFinish(trial, program, accounts)
  const counted = tally(smtp.mails, accounts)
  return { figure: `${kills} kills; ${summarize(counted)}`, holds: isDelivered(counted, kills * inFlight.mailbox) }
})

row('1 Graph', 'the only process, sending by Microsoft Graph, killed repeatedly', async (trial) => {
  trial.mustHold('lost 0; repeated at most 2 per kill and mailbox, the same bytes; no mailbox paused')
  const environment = await onPostgres(trial)
  const smtp = await openMailServer(trial)
  const microsoft = trial.stack.use(await openFakeMicrosoft())
  const { clientId, clientSecret, loginUrl, graphApiUrl } = microsoft.config
  // Graph allows a mailbox 30 emails a minute, so there are many mailboxes.
  const accounts = await environment.createAccounts({ count: 60, invoices: 4, smtp, due: true })
  for (const { id, email } of accounts)
    await environment.rows(
      `UPDATE mail_configs SET provider = 'microsoft', address = $2, host = NULL, port = NULL, secure = NULL, sealed_password = NULL, sealed_refresh_token = $3 WHERE owner_id = $1`,
      [id, email, sealRefreshToken(secretKey, id, microsoft.grant(email))],
    )
  const env = {
    MICROSOFT_CLIENT_ID: clientId,
    MICROSOFT_CLIENT_SECRET: clientSecret,
    MICROSOFT_LOGIN_URL: loginUrl,
    GRAPH_API_URL: graphApiUrl,
  }
  let program = await environment.start(env)
  let kills = 0
  for (const share of [0.1, 0.3, 0.5, 0.7]) {
    await trial.until('emails leave', () => microsoft.mails.length >= 240 * share, { everyMs: 5 })
    await program.end('SIGKILL')
    kills += 1
    program = await environment.start(env)
  }
  await environment.untilClosed(240)
  const headerOf = (raw: Buffer, name: string) => new RegExp(`^${name}: (.*)$`, 'mi').exec(raw.toString('latin1'))?.[1]?.trim() ?? null
  const mails: ReceivedMail[] = microsoft.mails.map(({ from, posted }) => ({
    envelope: { from, to: [/[\w.]+@[\w.]+/.exec(headerOf(posted, 'To') ?? '')?.[0] ?? ''] },
    raw: posted,
    at: 0,
    messageId: headerOf(posted, 'Message-ID'),
    subject: headerOf(posted, 'Subject'),
  }))
  const counted = tally(mails, accounts)
  const [paused] = await environment.rows<{ count: number }>(
    `SELECT count(*)::int AS count FROM mail_configs WHERE pause_reason IS NOT NULL`,
  )
  return {
    figure: `${kills} kills; ${summarize(counted)}; ${microsoft.refreshes} tokens; mailboxes paused ${paused?.count}`,
    holds: isDelivered(counted, kills * accounts.length * inFlight.claimed) && paused?.count === 0,
  }
})

for (const [number, open] of [
  ['3', onPostgres],
  ['3 embedded', embedded],
] as const)
  row(number, 'stopped by SIGTERM in the middle of 1,000 emails, three times', async (trial) => {
    trial.mustHold('lost 0, repeated 0, each exit with 0 in less than 10 s')
    const environment = await open(trial)
    const smtp = await openMailServer(trial, { delayMs: 20 })
    const accounts = await environment.createAccounts({ count: 4, invoices: 250, smtp, due: true })
    const exits: { code: number | null; ms: number }[] = []
    for (const share of [0.2, 0.45, 0.7]) {
      const program = await environment.start()
      await smtp.received(Math.ceil(1_000 * share + 30 * trial.random()))
      const began = performance.now()
      exits.push({ code: await program.end('SIGTERM'), ms: performance.now() - began })
    }
    await untilRunsFinish(trial, await environment.start(), accounts)
    const counted = tally(smtp.mails, accounts)
    return {
      figure: `${summarize(counted)}; exits ${exits.map(({ code }) => code).join(', ')} after ${exits.map(({ ms }) => seconds(ms)).join(', ')}`,
      holds: isDelivered(counted) && exits.every(({ code, ms }) => code === 0 && ms < 10_000),
    }
  })

row('4', 'two processes share 10,000 emails of 20 accounts', async (trial) => {
  trial.mustHold('lost 0, repeated 0, each sends at least 20 %')
  const environment = await onPostgres(trial)
  const smtp = await openMailServer(trial)
  const nextRunAt = Temporal.Now.instant().add({ seconds: 6 })
  const accounts = await environment.createAccounts({ count: 20, invoices: 500, smtp, nextRunAt })
  await environment.rows(`CREATE TABLE seen (process uuid); CREATE FUNCTION see() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN INSERT INTO seen VALUES (OLD.claimed_by); RETURN NEW; END $$;
    CREATE TRIGGER see AFTER UPDATE ON deliveries FOR EACH ROW WHEN (OLD.state = 'sending' AND NEW.state = 'sent') EXECUTE FUNCTION see()`)
  await Promise.all([environment.start(), environment.start()])
  await smtp.received(1)
  const began = performance.now()
  await environment.untilClosed(10_000)
  const ms = performance.now() - began
  const sent = await environment.rows<{ count: number }>('SELECT count(*)::int AS count FROM seen GROUP BY process')
  const shares = sent.map(({ count }) => count / 10_000)
  const counted = tally(smtp.mails, accounts)
  return {
    figure: `${summarize(counted)}; shares ${shares.map((share) => `${Math.round(share * 100)} %`).join(' and ')}; ${Math.round(10_000_000 / ms)} emails a second`,
    holds: isDelivered(counted) && shares.length === 2 && shares.every((share) => share >= 0.2),
  }
})

row('5', 'two processes tick at nine o’clock of 100 accounts', async (trial) => {
  trial.mustHold('exactly 100 runs and 100 emails')
  const environment = await onPostgres(trial)
  const smtp = await openMailServer(trial)
  const nextRunAt = Temporal.Now.instant().add({ seconds: 7 })
  const accounts = await environment.createAccounts({ count: 100, invoices: 1, smtp, nextRunAt })
  await Promise.all([environment.start(), environment.start()])
  await environment.untilClosed(100)
  await pause(2_500)
  const [runs] = await environment.rows<{ all: number; accounts: number }>(
    `SELECT count(*)::int AS all, count(DISTINCT owner_id)::int AS accounts FROM runs WHERE kind = 'daily'`,
  )
  const counted = tally(smtp.mails, accounts)
  return {
    figure: `${runs?.all} runs of ${runs?.accounts} accounts; ${summarize(counted)}`,
    holds: runs?.all === 100 && runs.accounts === 100 && isDelivered(counted),
  }
})

row('6', 'a process frozen (SIGSTOP) until another has taken over, then resumed (SIGCONT)', async (trial) => {
  trial.mustHold('lost 0; repeated at most what was in flight; its late writes change nothing')
  const environment = await onPostgres(trial)
  const smtp = await openMailServer(trial, { delayMs: 60 })
  const accounts = await environment.createAccounts({ count: 8, invoices: 100, smtp, due: true })
  const frozen = await environment.start()
  await smtp.received(Math.ceil(80 + 60 * trial.random()) + 1)
  process.kill(frozen.pid, 'SIGSTOP')
  await environment.start()
  await environment.untilClosed(800)
  process.kill(frozen.pid, 'SIGCONT')
  await pause(8_000)
  const [late] = await environment.rows<{ twice: number; open: number }>(
    `SELECT (SELECT count(*)::int FROM invoices WHERE reminders_sent <> 1) AS twice, (SELECT count(*)::int FROM deliveries WHERE state <> 'sent') AS open`,
  )
  const counted = tally(smtp.mails, accounts)
  return {
    figure: `${summarize(counted)}; invoices counted twice ${late?.twice}, emails not recorded as sent ${late?.open}`,
    holds: isDelivered(counted, inFlight.process) && late?.twice === 0 && late.open === 0,
  }
})
