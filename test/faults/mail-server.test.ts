import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { inject } from 'vitest'
import { makeCertificate } from '#test/fakes/certificate.ts'
import { drip, type FakeSmtp, later, type Move, reset, type Script, silence } from '#test/fakes/smtp-server.ts'
import type { Program } from '#test/program.ts'
import { type Account, type Environment, onAnyDatabase, onPostgres, openMailServer, send } from './environment.ts'
import { type FakeClock, openFakeClock } from './fake-clock.ts'
import { percentile, row, seconds, type Trial } from './row.ts'
import { isDelivered, summarize, tally } from './tally.ts'
import { openTcpProxy } from './tcp-proxy.ts'

/** Accounts whose mail server does not answer, and others whose server is healthy: one sends before, one meanwhile. */
async function silentServer(trial: Trial, { silent, greeting }: { silent: number; greeting: Move }) {
  const environment = await onPostgres(trial)
  const broken = await openMailServer(trial)
  broken.answer({ greeting: () => greeting })
  const healthy = await openMailServer(trial)
  const [first] = await environment.createAccounts({ invoices: 20, smtp: healthy, name: 'first' })
  const [second] = await environment.createAccounts({ invoices: 20, smtp: healthy, name: 'second' })
  const program = await environment.start()
  /** In ms, until 95 % of an account's emails have left. */
  const sendNow = async (account: Account) => {
    const began = Date.now()
    const before = healthy.mails.length
    const pressed = send(program, account, 'POST /reminder/send-immediate')
    await healthy.received(before + 20)
    await pressed
    const delays = healthy.mails.slice(before).map((email) => email.at - began)
    return percentile(delays, 0.95)
  }
  const alone = await sendNow(first)
  await environment.createAccounts({ count: silent, invoices: 20, smtp: broken, name: 'silent', due: true })
  await trial.until('the silent server is called', () => broken.connections.total > 0)
  const called = performance.now()
  await pause(2_000)
  const delay = await sendNow(second)
  const figure = `the other’s emails after ${seconds(delay)}, without it after ${seconds(alone)} (95 %)`
  const isPrompt = delay - alone <= 5_000
  if (silent > 1) return { figure, holds: isPrompt }
  await trial.until('the connection is given up', async () => (await environment.states()).retrying === 20)
  const took = performance.now() - called
  return { figure: `given up after ${seconds(took)}; ${figure}`, holds: Math.abs(took - 20_000) <= 2_000 && isPrompt }
}

row('13', 'a mail server that accepts the connection and sends nothing', { concurrent: 6 }, (trial) => {
  trial.mustHold('given up after 20 s ±2; the other account’s emails delayed by at most 5 s (95 %)')
  return silentServer(trial, { silent: 1, greeting: silence })
})

row('13 crowd', 'the same with ten such accounts in one process', { concurrent: 6 }, (trial) => {
  trial.mustHold('the other account’s emails delayed by at most 5 s (95 %)')
  return silentServer(trial, { silent: 10, greeting: silence })
})

row('14', 'a greeting of one byte every 400 ms', { concurrent: 6 }, (trial) => {
  trial.mustHold('given up after 20 s ±2; the other account’s emails delayed by at most 5 s (95 %)')
  return silentServer(trial, { silent: 1, greeting: drip(400, '220-'.padEnd(2_000, 'welcome ')) })
})

interface AtNine {
  smtp: FakeSmtp
  environment: Environment
  program: Program
  clock: FakeClock
  account: Account
}

/** An account at nine o'clock with emails due to a server with a script, in a program whose clock can be moved. */
async function atNine(trial: Trial, script: Script | ((clock: FakeClock) => Script), invoices = 1): Promise<AtNine> {
  const timezone = 'Asia/Kolkata'
  const environment = await onPostgres(trial)
  const nine = Temporal.Now.zonedDateTimeISO(timezone).with({ hour: 9, minute: 0, second: 0, millisecond: 0 }).toInstant()
  const clock = openFakeClock(trial, nine)
  const smtp = await openMailServer(trial)
  smtp.answer(typeof script === 'function' ? script(clock) : script)
  const now = nine.subtract({ hours: 24 })
  const [account] = await environment.createAccounts({ invoices, smtp, timezone, now, nextRunAt: nine })
  return { smtp, environment, clock, account, program: await environment.start(clock.env) }
}

row('15', 'an answer to the dot of one byte every 500 ms, without end', { concurrent: 6 }, async (trial) => {
  trial.mustHold('given up after 120 s ±2; then sent at most once more, the same bytes')
  const { smtp, environment, clock, account } = await atNine(trial, { dot: (_mail, nth) => (nth === 1 ? drip(500) : undefined) })
  await smtp.received(1)
  const began = performance.now()
  await trial.until('the connection is given up', async () => (await environment.states()).retrying === 1)
  const took = performance.now() - began
  clock.advance({ minutes: 8 })
  await environment.untilClosed(1)
  const counted = tally(smtp.mails, [account])
  return {
    figure: `given up after ${seconds(took)}; ${summarize(counted)}`,
    holds: Math.abs(took - 120_000) < 2_000 && isDelivered(counted, 1),
  }
})

/** The first try meets the script; the second is due 5 minutes later and succeeds. */
async function triedAgain(trial: Trial, script: Script, repeated: number, invoices = 1) {
  const failedAt: number[] = []
  const recorded = (clock: FakeClock): Script => {
    const steps = Object.entries(script).map(([step, answer]: [string, (...args: unknown[]) => Move | undefined]) => [
      step,
      (...args: unknown[]) => {
        const move = answer(...args)
        if (move) failedAt.push(clock.now().epochMilliseconds)
        return move
      },
    ])
    return Object.fromEntries(steps) as Script
  }
  const { smtp, environment, clock, account } = await atNine(trial, recorded, invoices)
  await trial.until('the first tries are over', async () => {
    const { retrying = 0, queued = 0, sending = 0 } = await environment.states()
    return retrying > 0 && queued + sending === 0
  })
  const delayed = await environment.rows<{ ms: number }>(
    `SELECT extract(epoch FROM next_try_at)::float8 * 1000 AS ms FROM deliveries WHERE state = 'retrying'`,
  )
  const times = delayed.map(({ ms }) => ms)
  // From the answers of the mail server, so that a busy machine changes nothing.
  const shortest = (Math.min(...times) - Math.min(...failedAt)) / 1000
  const longest = (Math.max(...times) - Math.max(...failedAt)) / 1000
  const before = smtp.mails.length
  clock.set(Temporal.Instant.fromEpochMilliseconds(Math.round(Math.min(...times))).subtract({ seconds: 30 }))
  await pause(11_000)
  const early = smtp.mails.length - before
  clock.advance({ minutes: 4 })
  await environment.untilClosed(invoices)
  const counted = tally(smtp.mails, [account])
  return {
    figure: `${times.length} delayed, the next try in ${Math.round(shortest)} to ${Math.round(longest)} s; ${summarize(counted)}`,
    // The two clocks differ by up to a second.
    holds: isDelivered(counted, repeated) && counted.repeated === repeated && early === 0 && shortest >= 239 && longest <= 361,
  }
}

row('16', 'the connection reset (RST) before MAIL', { concurrent: 6 }, (trial) => {
  trial.mustHold('sent by the next try, repeated 0')
  return triedAgain(trial, { mail: (_from, nth) => (nth === 1 ? reset : undefined) }, 0)
})

row('17', 'the connection reset after the dot, the email kept', { concurrent: 6 }, (trial) => {
  trial.mustHold('sent once more, the same bytes')
  return triedAgain(trial, { dot: (_mail, nth) => (nth === 1 ? reset : undefined) }, 1)
})

row('18', '421 instead of a greeting', { concurrent: 6 }, (trial) => {
  trial.mustHold('tried again after 5 minutes (±20 %), repeated 0')
  return triedAgain(trial, { greeting: (connection) => (connection === 1 ? '421 4.3.2 Too busy' : undefined) }, 0)
})

row('18 midway', '421 in the middle of 40 emails', { concurrent: 6 }, (trial) => {
  trial.mustHold('lost 0, repeated 0, refused ones tried again after 5 minutes (±20 %)')
  return triedAgain(trial, { mail: (_from, nth) => (nth > 10 && nth < 15 ? '421 4.7.0 Closing' : undefined) }, 0, 40)
})

row('19', 'greylisting: 450 until five minutes have passed', { concurrent: 6 }, async (trial) => {
  trial.mustHold('all sent, repeated 0, at most 3 tries each')
  const firstSeen = new Map<string, number>()
  const tries = new Map<string, number>()
  const greylist = (clock: FakeClock): Script => ({
    rcpt: (to) => {
      tries.set(to, (tries.get(to) ?? 0) + 1)
      const now = clock.now().epochMilliseconds
      const first = firstSeen.get(to) ?? now
      firstSeen.set(to, first)
      return now - first >= 5 * 60_000 ? undefined : '450 4.7.1 Greylisted, please try again later'
    },
  })
  const { smtp, environment, clock, account } = await atNine(trial, greylist, 20)
  await trial.until('all are delayed', async () => (await environment.states()).retrying === 20)
  for (const minutes of [7, 20, 20]) {
    clock.advance({ minutes })
    await environment.untilClosed(20, { seconds: 13 }).catch(() => undefined)
  }
  await environment.untilClosed(20)
  const counted = tally(smtp.mails, [account])
  const most = Math.max(...tries.values())
  return { figure: `${summarize(counted)}; at most ${most} tries`, holds: isDelivered(counted) && most <= 3 }
})

row('20', '550 user unknown', { concurrent: 6 }, async (trial) => {
  trial.mustHold('one try, failed, shown with the server’s words; that invoice is flagged, and no other')
  const unknown = (to: string) => (to.includes('client3@') ? '550 5.1.1 No such user here' : undefined)
  const { smtp, environment, program, account, clock } = await atNine(trial, { rcpt: unknown }, 6)
  await environment.untilClosed(6)
  clock.advance({ hours: 1 })
  await pause(13_000)
  const tries = smtp.commands.filter((line) => line.startsWith('RCPT') && line.includes('client3@')).length
  const { body } = await send(program, account, 'GET /reminder/runs', { now: clock.now() })
  const [run] = body as { sent: number; failed: number; failures: { invoiceId: string; message: string }[] }[]
  const shown = run?.failures[0]
  const listed = await send(program, account, 'GET /invoice', { now: clock.now() })
  const flagged = (listed.body as { _id: string; refusal: string | null }[]).filter(({ refusal }) => refusal !== null)
  return {
    figure: `${tries} try; sent ${run?.sent}, failed ${run?.failed}: “${shown?.message}”; flagged ${flagged.length}`,
    holds:
      tries === 1 &&
      run?.sent === 5 &&
      run.failed === 1 &&
      shown?.invoiceId === account.invoices[3]?.id &&
      flagged.map(({ _id }) => _id).join() === shown?.invoiceId &&
      /550 5\.1\.1/.test(shown?.message ?? ''),
  }
})

row('21', '535 wrong password with 500 emails queued', { concurrent: 6 }, async (trial) => {
  trial.mustHold('at most 2 logins tried, sending paused, one notice')
  const refuse = () => '535 5.7.8 Username and Password not accepted'
  const { smtp, environment, program, account, clock } = await atNine(trial, { auth: refuse }, 500)
  await trial.until('all are held', async () => (await environment.states()).held === 500)
  clock.advance({ hours: 1 })
  await pause(13_000)
  const { body } = await send(program, account, 'GET /reminder/status', { now: clock.now() })
  const { pause: shown } = body as { pause: { reason: string; message: string } | null }
  const notices = program.output().match(/Sending is paused for an account/g)?.length ?? 0
  const { held } = await environment.states()
  return {
    figure: `${smtp.authTries} logins tried; paused: ${shown?.reason} “${shown?.message}”; held ${held}; notices ${notices}`,
    holds: smtp.authTries <= 2 && smtp.authTries > 0 && shown?.reason === 'login_refused' && held === 500 && notices === 1,
  }
})

row('22', 'a mailbox of 500 emails a day (550 5.4.5 from then on), 600 due', { concurrent: 6 }, async (trial) => {
  trial.mustHold('at most 2 more tried; the rest the next day; lost 0')
  let [day, accepted, beyond] = ['', 0, 0]
  const quota = (clock: FakeClock): Script => ({
    mail: () => {
      const today = clock.now().toZonedDateTimeISO('Asia/Kolkata').toPlainDate().toString()
      if (today !== day) [day, accepted] = [today, 0]
      accepted += 1
      if (accepted <= 500) return undefined
      beyond += 1
      return '550 5.4.5 Daily user sending limit exceeded.'
    },
  })
  const { smtp, environment, clock, account } = await atNine(trial, quota, 600)
  await trial.until('the quota is used up', () => smtp.mails.length >= 500 && beyond > 0)
  await pause(13_000)
  const tried = beyond
  const next = clock.now().toZonedDateTimeISO('Asia/Kolkata').add({ days: 1 }).with({ hour: 8, minute: 59, second: 57 })
  clock.set(next.toInstant())
  const lost = () => tally(smtp.mails, [account]).lost
  await trial.until('the rest leaves', () => lost() === 0, { seconds: 120 }).catch(() => false)
  return {
    figure: `${tried} tried beyond the limit; the next day: ${lost()} of 600 still without an email; ${JSON.stringify(await environment.states())}`,
    holds: tried <= 2 && lost() === 0,
  }
})

row('23', 'a mailbox of 30 emails a minute (451 beyond), 200 due', { concurrent: 6 }, async (trial) => {
  trial.mustHold('after the first refusal at most 30 tried in any 60 s; lost 0')
  const tries: { at: number; refused: boolean }[] = []
  const limit = () => {
    const at = Date.now()
    const refused = tries.filter((other) => !other.refused && at - other.at < 60_000).length >= 30
    tries.push({ at, refused })
    return refused ? '451 4.7.1 Too many messages, slow down' : undefined
  }
  const { environment } = await atNine(trial, { mail: limit }, 200)
  const refusal = await trial.until('a try is refused', () => tries.find(({ refused }) => refused))
  await pause(150_000)
  const later = tries.filter(({ at }) => at > refusal.at + 2_000)
  const most = Math.max(0, ...later.map(({ at }) => later.filter((other) => other.at >= at && other.at < at + 60_000).length))
  const before = tries.length - later.length
  const states = await environment.states()
  return {
    figure: `${before} tried before it took effect, then at most ${most} in 60 s; ${JSON.stringify(states)}`,
    holds: most <= 30 && before <= 34 && (states.failed ?? 0) === 0,
  }
})

/** A server at a public address, where TLS is required. The mailbox is saved there first, then emails are sent. */
async function requiresTls(trial: Trial, smtp: FakeSmtp, { message, env = {} }: { message: RegExp; env?: Record<string, string> }) {
  const proxy = await openTcpProxy(trial, smtp, { host: publicAddress(trial) })
  const { host, port } = proxy
  const environment = await onAnyDatabase(trial)
  const [account] = await environment.createAccounts({ invoices: 3, smtp: { host, port, login: smtp.login, tls: smtp.tls } })
  const program = await environment.start(env)
  const saved = await send(program, account, 'POST /mail-config/smtp', { body: { host, port, secure: smtp.tls === 'ssl', ...smtp.login } })
  const { message: shown = '' } = saved.body as { message?: string }
  const started = await send(program, account, 'POST /reminder/start')
  const { count, retrying } = started.body as { count?: number; retrying?: number }
  await pause(1_000)
  const { user, pass } = smtp.login
  const secrets = [pass, Buffer.from(pass).toString('base64'), Buffer.from(`\0${user}\0${pass}`).toString('base64')]
  const sent = proxy.sent().toString('latin1')
  const leaked = secrets.filter((secret) => sent.includes(secret)).length + (/^AUTH /im.test(sent) ? 1 : 0) + smtp.authTries
  return {
    figure: `saving: ${saved.status} “${shown.split(/[.,] /)[0]}”; starting: ${started.status}, sent ${count}, waiting ${retrying}; a password on the wire ${leaked} times; emails ${smtp.mails.length}`,
    holds: leaked === 0 && smtp.mails.length === 0 && saved.status === 400 && message.test(shown) && sent.length > 0,
  }
}

function publicAddress(trial: Trial): string {
  return inject('publicAddress') ?? trial.skip('there is no network namespace of our own, which takes root on Linux')
}

row('24', 'STARTTLS removed from the server’s capabilities', async (trial) => {
  trial.mustHold('a password on the wire 0 times, and a message that names the cause')
  const smtp = await openMailServer(trial, { tls: 'starttls' })
  smtp.answer({ offers: { starttls: false } })
  return requiresTls(trial, smtp, { message: /TLS/ })
})

row('25', 'a certificate that is self-signed', async (trial) => {
  trial.mustHold('emails 0, a password on the wire 0 times, and a message that names the cause')
  const smtp = await openMailServer(trial, { tls: 'ssl', certificate: makeCertificate([publicAddress(trial)]) })
  return requiresTls(trial, smtp, { message: /isn’t signed by a trusted authority/ })
})

row('25 name', 'a certificate that is for another name', async (trial) => {
  trial.mustHold('emails 0, a password on the wire 0 times, and a message that names the cause')
  const certificate = makeCertificate(['mail.example.net'])
  const smtp = await openMailServer(trial, { tls: 'ssl', certificate })
  const folder = await mkdtemp(path.join(tmpdir(), 'duely-trust-'))
  trial.stack.defer(() => rm(folder, { recursive: true, force: true }))
  const trusted = path.join(folder, 'trusted.pem')
  await writeFile(trusted, certificate.cert)
  return requiresTls(trial, smtp, { message: /is for another name/, env: { NODE_EXTRA_CA_CERTS: trusted } })
})

row('26', 'a client’s address beyond ASCII, a server without SMTPUTF8', { concurrent: 6 }, async (trial) => {
  trial.mustHold('failed before DATA, bytes beyond ASCII in commands 0')
  const smtp = await openMailServer(trial)
  smtp.answer({ offers: { smtputf8: false } })
  const environment = await onPostgres(trial)
  const [account] = await environment.createAccounts({ invoices: 3, smtp, due: true })
  await environment.rows(`UPDATE invoices SET client_email = 'żółć@example.com' WHERE id = $1`, [account.invoices[1]?.id])
  await environment.start()
  await environment.untilClosed(3)
  const [failed] = await environment.rows<{ words: string }>(`SELECT server_reply AS words FROM deliveries WHERE state = 'failed'`)
  const raw = smtp.commands.filter((line) => /[^\x20-\x7e]/.test(line)).length
  return {
    figure: `sent ${smtp.mails.length}, failed: “${failed?.words}”; commands beyond ASCII ${raw}`,
    holds: smtp.mails.length === 2 && /SMTPUTF8/.test(failed?.words ?? '') && raw === 0,
  }
})

/** Accounts whose mail server is slow, and another one with ten emails. */
async function noisyNeighbours(trial: Trial, count: number, invoices: number) {
  const environment = await onPostgres(trial)
  const slow = await openMailServer(trial)
  slow.answer({ dot: () => later(2_000) })
  const quick = await openMailServer(trial)
  await environment.createAccounts({ count, invoices, smtp: slow, name: 'noisy', due: true })
  const [account] = await environment.createAccounts({ invoices: 10, smtp: quick })
  const program = await environment.start()
  await slow.received(2 * Math.min(4, count))
  const began = Date.now()
  const pressed = send(program, account, 'POST /reminder/send-immediate')
  await quick.received(10)
  const delays = quick.mails.map((email) => email.at - began)
  await pressed
  return {
    figure: `the ten were sent after ${seconds(Math.max(...delays))}, the first after ${seconds(Math.min(...delays))}`,
    holds: Math.max(...delays) <= 10_000,
  }
}

row('27', 'one account with 10,000 emails to a server that takes 2 s each, another with ten', (trial) => {
  trial.mustHold('the ten are sent within 10 s')
  return noisyNeighbours(trial, 1, 10_000)
})

row('27 crowd', 'twelve such accounts in one process, another with ten emails', (trial) => {
  trial.mustHold('the ten are sent within 10 s')
  return noisyNeighbours(trial, 12, 200)
})
