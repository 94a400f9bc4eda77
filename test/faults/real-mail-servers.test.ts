import { inject } from 'vitest'
import type { FakeSmtp } from '#test/fakes/smtp-server.ts'
import type { Program } from '#test/program.ts'
import { openExim } from '#test/real-mail/exim.ts'
import { type Machine, openMachine } from '#test/real-mail/machine.ts'
import { openPostfix, type RealServer, type RealServerOptions } from '#test/real-mail/postfix.ts'
import { openPostgrey } from '#test/real-mail/postgrey.ts'
import { type Account, type Environment, inFlight, onPostgres, openMailServer, send } from './environment.ts'
import { type FakeClock, openFakeClock } from './fake-clock.ts'
import { row, type Trial } from './row.ts'
import { isDelivered, summarize, type Tally, tally } from './tally.ts'

/*
 * Duely sends through Postfix, Exim and Dovecot of Debian, which relay to the fake server: the world, which counts.
 */
const user = 'asha0@example.com'

async function aMachine(trial: Trial): Promise<Machine> {
  if (!inject('postgres')) return trial.skip('there is no PostgreSQL on this machine')
  const machine = await openMachine()
  return machine ? trial.stack.use(machine) : trial.skip('Postfix, Exim and Dovecot take Debian, its packages and root')
}

interface Setting<Server> {
  environment: Environment
  program: Program
  clock: FakeClock
  account: Account
  server: Server
  world: FakeSmtp
  machine: Machine
  /** How the clients' emails that reached the world compare with those that should have. */
  counted(): Tally
  /** Lets so many minutes pass until every email is closed. */
  untilClosed(minutes: number[]): Promise<void>
}

/** An account at nine o'clock, its emails due. `prepare`: before the program starts. */
async function atNine<Server extends { host: string; port: number; tls: 'starttls'; login: { user: string; pass: string } }>(
  trial: Trial,
  invoices: number,
  open: (machine: Machine, about: { user: string; world: FakeSmtp }) => Promise<Server>,
  prepare: (about: { environment: Environment; account: Account }) => Promise<unknown> = async () => undefined,
): Promise<Setting<Server>> {
  const machine = await aMachine(trial)
  const timezone = 'Asia/Kolkata'
  const nine = Temporal.Now.zonedDateTimeISO(timezone).with({ hour: 9, minute: 0, second: 0, millisecond: 0 }).toInstant()
  const clock = openFakeClock(trial, nine)
  const world = await openMailServer(trial)
  const server = await open(machine, { user, world })
  const environment = await onPostgres(trial)
  const now = nine.subtract({ hours: 24 })
  const [account] = await environment.createAccounts({ invoices, smtp: server, timezone, now, nextRunAt: nine })
  await prepare({ environment, account })
  const program = await environment.start(clock.env)
  return {
    environment,
    program,
    clock,
    account,
    server,
    world,
    machine,
    counted: () => tally(asSent(world, user), [account]),
    async untilClosed(minutes) {
      for (const some of minutes) {
        const closed = await environment.untilClosed(invoices, { seconds: 13 }).then(
          () => true,
          () => false,
        )
        if (closed) return
        clock.advance({ minutes: some })
      }
      await environment.untilClosed(invoices)
    },
  }
}

/** Without the lines that servers on the way have added, and without what the mailbox wrote to itself. */
function asSent({ mails }: FakeSmtp, mailbox: string): FakeSmtp['mails'] {
  return mails
    .filter(({ envelope }) => envelope.to[0] !== mailbox)
    .map((mail) => {
      const text = mail.raw.toString('latin1')
      const [head = ''] = text.split('\r\n\r\n', 1)
      const own = head.replace(/^(?:Received|Return-Path|Delivered-To|Envelope-to|Delivery-date):.*(?:\r\n[ \t].*)*\r\n/gim, '')
      return { ...mail, raw: Buffer.from(own + text.slice(head.length), 'latin1') }
    })
}

const postfix =
  (about: Omit<RealServerOptions, 'user' | 'world'> = {}) =>
  (machine: Machine, basis: { user: string; world: FakeSmtp }): Promise<RealServer> =>
    openPostfix(machine, { ...basis, ...about })

/** What an account's screens show: how many invoices say that their client's address is the problem, and what its mailbox is paused for. */
async function shownTo(account: Account, { program, clock }: { program: Program; clock: FakeClock }) {
  const now = clock.now()
  const listed = (await send(program, account, 'GET /invoice', { now })).body as { addressHold: unknown; notDelivered: unknown }[]
  const { pause } = (await send(program, account, 'GET /reminder/status', { now })).body as {
    pause: { reason: string; message: string } | null
  }
  return { marked: listed.filter(({ addressHold, notDelivered }) => addressHold ?? notDelivered).length, pause }
}

row('160', 'a whole run through Postfix: names, addresses and currencies of many kinds', { concurrent: 6 }, async (trial) => {
  trial.mustHold('every email arrives once, in seven bits')
  const count = 220
  const setting = await atNine(trial, count, postfix(), async ({ environment, account }) => {
    const names = ['Zoë Müller', 'अनिल शर्मा', '山田 太郎', 'O’Neill, Sons & Co. "Ltd"', `${'Very long '.repeat(9)}name`, 'שרה כהן']
    const currencies = ['USD', 'EUR', 'JPY', 'INR', 'GBP', 'BHD']
    await environment.rows(
      `UPDATE invoices i SET client_name = ($1::text[])[1 + n % 6], currency = ($2::text[])[1 + n % 6],
         client_email = CASE n % 5 WHEN 0 THEN 'r&d+' || n || '@bücher.example' WHEN 1 THEN 'o''neil/' || n || '=x@client.example' ELSE client_email END
       FROM (SELECT id, row_number() OVER (ORDER BY reference)::int AS n FROM invoices) o WHERE o.id = i.id`,
      [names, currencies],
    )
    const now = await environment.rows<{ id: string; clientEmail: string }>(`SELECT id, client_email AS "clientEmail" FROM invoices`)
    account.invoices = now.map((one) => ({ ...one, clientEmail: one.clientEmail.replace('bücher', 'xn--bcher-kva') }))
  })
  await setting.untilClosed([7, 20])
  await trial.until('they have arrived', () => setting.counted().lost === 0, { seconds: 30 }).catch(() => undefined)
  const counted = setting.counted()
  const eightBits = setting.world.mails.filter(({ raw }) => raw.some((byte) => byte > 127)).length
  return { figure: `${summarize(counted)}; ${eightBits} with bytes beyond seven bits`, holds: isDelivered(counted) && eightBits === 0 }
})

/** A mailbox that may not send as itself, until its provider allows it. */
async function refusedSender(trial: Trial, about: Record<string, string>) {
  trial.mustHold(
    'no client’s address is marked, all 12 are held after at most 2 tries, and leave once it is allowed, without anyone touching them',
  )
  const logins = (owner: string) => ({ ...about, smtpd_sender_login_maps: `inline:{${user}=${owner}}` })
  const restricted = { smtpd_sender_restrictions: 'reject_sender_login_mismatch' }
  const setting = await atNine(trial, 12, postfix({ settings: { ...restricted, ...logins('someone-else@example.com') } }))
  const { environment, server, world, clock, account } = setting
  await trial.until('all are held', async () => (await environment.states()).held === 12, { seconds: 60 }).catch(() => undefined)
  const { marked, pause } = await shownTo(account, setting)
  const tries = server.log().match(/reject: (?:MAIL|RCPT)/g)?.length ?? 0
  const before = await environment.states()
  await server.configure({ ...restricted, ...logins(user) })
  clock.advance({ minutes: 16 })
  await setting.untilClosed([16, 61])
  await trial.until('they have arrived', () => setting.counted().lost === 0, { seconds: 30 }).catch(() => undefined)
  const counted = setting.counted()
  const after = await shownTo(account, setting)
  return {
    figure: `${tries} tried: ${pause?.reason} “${pause?.message}”; ${JSON.stringify(before)}, marked ${marked}; then ${summarize(counted)}, ${world.mails.length - 12} to itself`,
    holds:
      tries <= 2 &&
      pause?.reason === 'sender_refused' &&
      before.held === 12 &&
      marked + after.marked === 0 &&
      isDelivered(counted) &&
      !after.pause,
  }
}

row('161', 'Postfix refuses the sender at RCPT, as it does by default', { short: true, concurrent: 6 }, (trial) => refusedSender(trial, {}))

row('161 MAIL', 'Postfix refuses the sender at MAIL (smtpd_delay_reject = no)', { concurrent: 6 }, (trial) =>
  refusedSender(trial, { smtpd_delay_reject: 'no' }),
)

row('162', 'Postfix knows some clients not: User unknown', { concurrent: 6 }, async (trial) => {
  trial.mustHold('those addresses are held, all others get their email')
  const count = 12
  const unknown = [3, 7].map((nth) => `asha0.client${nth}@example.com`)
  const setting = await atNine(trial, count, (machine, basis) => {
    const known = Array.from({ length: count }, (_none, nth) => `asha0.client${nth}@example.com`).filter((one) => !unknown.includes(one))
    const list = machine.write('recipients', known.map((one) => `${one} yes\n`).join(''))
    return openPostfix(machine, { ...basis, settings: { relay_domains: 'example.com', relay_recipient_maps: `texthash:${list}` } })
  })
  await setting.untilClosed([7])
  await trial.until('they have arrived', () => setting.world.mails.length >= count - 2, { seconds: 30 })
  const { marked, pause } = await shownTo(setting.account, setting)
  const held = await setting.environment.rows<{ words: string }>(`SELECT server_reply AS words FROM deliveries WHERE state = 'failed'`)
  const counted = setting.counted()
  return {
    figure: `“${held[0]?.words}”; marked ${marked}, paused ${pause !== null}; ${summarize(counted)}`,
    holds: marked === 2 && held.length === 2 && pause === null && counted.lost === 2 && counted.repeated === 0,
  }
})

/** A limit of Postfix's anvil, per time unit of its own. */
async function limited(trial: Trial, setting: string) {
  trial.mustHold('every email arrives once; at most 12 tries are refused')
  const count = 40
  const settings = { smtpd_client_event_limit_exceptions: '', anvil_rate_time_unit: '10s', [setting]: '12' }
  const run = await atNine(trial, count, postfix({ settings }))
  await run.untilClosed([7, 10, 15, 20, 30, 40, 60])
  await trial.until('they have arrived', () => run.counted().lost === 0, { seconds: 30 }).catch(() => undefined)
  const counted = run.counted()
  const refused = run.server.log().match(/(?:request|address) rate limit exceeded.*$/gm) ?? []
  const { marked, pause } = await shownTo(run.account, run)
  return {
    figure: `${refused.length} refused: “${refused[0]}”; ${summarize(counted)}`,
    holds: isDelivered(counted) && marked === 0 && pause === null && refused.length > 0 && refused.length <= 12,
  }
}

row('163', 'Postfix limits the emails of a client (anvil), 40 due', { concurrent: 6 }, (trial) =>
  limited(trial, 'smtpd_client_message_rate_limit'),
)

row('163 recipients', 'Postfix limits the recipients of a client (anvil), 40 due', { concurrent: 6 }, (trial) =>
  limited(trial, 'smtpd_client_recipient_rate_limit'),
)

row('164', 'Exim allows one connection of a host at a time, 55 due', { short: true, concurrent: 6 }, async (trial) => {
  trial.mustHold('all arrive once, at the first try')
  const count = trial.short ? 20 : 55
  const setting = await atNine(trial, count, (machine, basis) =>
    openExim(machine, { ...basis, settings: { smtp_accept_max_per_host: '1' } }),
  )
  await setting.environment.untilClosed(count, { seconds: 120 })
  await trial.until('they have arrived', () => setting.counted().lost === 0, { seconds: 60 }).catch(() => undefined)
  const [tried] = await setting.environment.rows<{ most: number }>('SELECT max(attempt) AS most FROM deliveries')
  const counted = setting.counted()
  const turnedAway = setting.server.log().match(/Connection from .* refused: too many connections/g)?.length ?? 0
  return {
    figure: `${summarize(counted)}; ${turnedAway} connections turned away, at most ${tried?.most} tries`,
    holds: isDelivered(counted) && tried?.most === 1,
  }
})

row('165', 'postgrey turns each client away for 2 seconds', { concurrent: 6 }, async (trial) => {
  trial.mustHold('all arrive once, at most 3 tries each; no address is marked')
  const setting = await atNine(trial, 20, async (machine, basis) =>
    openPostfix(machine, { ...basis, settings: { smtpd_recipient_restrictions: await openPostgrey(machine, 2) } }),
  )
  await setting.untilClosed([7, 20, 20])
  await trial.until('they have arrived', () => setting.counted().lost === 0, { seconds: 30 }).catch(() => undefined)
  const [tried] = await setting.environment.rows<{ most: number }>('SELECT max(attempt) AS most FROM deliveries')
  const counted = setting.counted()
  const { marked, pause } = await shownTo(setting.account, setting)
  const greylisted = setting.server.log().match(/Greylisted/g)?.length ?? 0
  return {
    figure: `${greylisted} times greylisted; ${summarize(counted)}; at most ${tried?.most} tries`,
    holds: isDelivered(counted) && greylisted >= 20 && (tried?.most ?? 9) <= 3 && marked === 0 && pause === null,
  }
})

/** A server that ends amid a run of 80 and is back a minute later. */
async function endsAmid(trial: Trial, end: 'abort' | 'stop', mostRepeated: number) {
  const count = 80
  const setting = await atNine(trial, count, postfix({ settings: { default_destination_concurrency_limit: '2' } }))
  await setting.world.received(10)
  await setting.server[end]()
  const before = setting.counted()
  await trial.until('the rest waits', async () => {
    const { queued = 0, sending = 0 } = await setting.environment.states()
    return queued + sending === 0
  })
  await setting.server.start()
  await setting.untilClosed([7, 20, 20])
  await trial.until('they have arrived', () => setting.counted().lost === 0, { seconds: 60 }).catch(() => undefined)
  const counted = setting.counted()
  const { marked, pause } = await shownTo(setting.account, setting)
  return {
    figure: `${count - before.lost} had arrived; ${summarize(counted)}`,
    holds: isDelivered(counted, mostRepeated) && marked === 0 && pause === null,
  }
}

row('166', 'Postfix is stopped amid a run of 80, and starts again', { concurrent: 6 }, (trial) => {
  trial.mustHold(`lost 0, repeated at most ${inFlight.claimed}`)
  return endsAmid(trial, 'stop', inFlight.claimed)
})

row('166 abort', 'Postfix is killed amid a run of 80, and starts again', { concurrent: 6 }, (trial) => {
  // Postfix itself repeats the two that it was relaying.
  trial.mustHold(`lost 0, repeated at most ${inFlight.claimed + 2}, the same bytes`)
  return endsAmid(trial, 'abort', inFlight.claimed + 2)
})

row('167', 'Postfix takes no email above a size, and one is larger', { concurrent: 6 }, async (trial) => {
  trial.mustHold('that one alone fails, with a reason; no address is marked as wrong, the mailbox is not paused')
  const setting = await atNine(
    trial,
    6,
    postfix({ settings: { message_size_limit: '40000' } }),
    async ({ environment: { rows }, account: { id, invoices } }) => {
      await rows(
        `INSERT INTO payment_settings (owner_id, version, in_emails, pdf, business_name, details, updated_at) VALUES ($1, 1, true, 'attach', '', '', now())`,
        [id],
      )
      await rows(
        `WITH made AS (INSERT INTO invoice_files (id, owner_id, invoice_id, name, size, created_at, file)
           SELECT gen_random_uuid(), owner_id, id, 'invoice.pdf', 60000, now(), decode(repeat('25504446', 15000), 'hex') FROM invoices WHERE id = $1
           RETURNING id, invoice_id)
         UPDATE invoices SET file_id = made.id FROM made WHERE invoices.id = made.invoice_id`,
        [invoices[2]?.id],
      )
    },
  )
  await setting.untilClosed([7])
  await trial.until('they have arrived', () => setting.world.mails.length >= 5, { seconds: 30 })
  const failed = await setting.environment.rows<{ words: string }>(`SELECT server_reply AS words FROM deliveries WHERE state = 'failed'`)
  const { pause } = await shownTo(setting.account, setting)
  const counted = setting.counted()
  return {
    figure: `“${failed[0]?.words}”; ${summarize(counted)}`,
    holds: failed.length === 1 && counted.lost === 1 && counted.repeated === 0 && pause === null,
  }
})

/** One client with an address beyond ASCII. */
async function beyondAscii(trial: Trial, enabled: 'yes' | 'no') {
  const setting = await atNine(trial, 4, postfix({ settings: { smtputf8_enable: enabled } }), async ({ environment, account }) => {
    await environment.rows(`UPDATE invoices SET client_email = 'żółć@example.com' WHERE id = $1`, [account.invoices[1]?.id])
    if (account.invoices[1]) account.invoices[1].clientEmail = 'żółć@example.com'
  })
  await setting.untilClosed([7])
  const expected = enabled === 'yes' ? 4 : 3
  await trial.until('they have arrived', () => setting.world.mails.length >= expected, { seconds: 30 }).catch(() => undefined)
  const failed = await setting.environment.rows<{ words: string }>(`SELECT server_reply AS words FROM deliveries WHERE state = 'failed'`)
  const counted = setting.counted()
  return { counted, failed, figure: `${summarize(counted)}${failed[0] ? `; “${failed[0].words}”` : ''}` }
}

row('168', 'a client’s address beyond ASCII, Postfix with SMTPUTF8', { concurrent: 6 }, async (trial) => {
  trial.mustHold('all arrive')
  const { counted, figure } = await beyondAscii(trial, 'yes')
  return { figure, holds: isDelivered(counted) }
})

row('168 off', 'a client’s address beyond ASCII, Postfix without SMTPUTF8', { concurrent: 6 }, async (trial) => {
  trial.mustHold('it fails with the reason, the others arrive')
  const { counted, failed, figure } = await beyondAscii(trial, 'no')
  return { figure, holds: counted.lost === 1 && counted.unexpected === 0 && failed.length === 1 && /SMTPUTF8/.test(failed[0]?.words ?? '') }
})

row('169', 'Postfix without 8BITMIME and PIPELINING', { concurrent: 6 }, async (trial) => {
  trial.mustHold('all arrive once, in seven bits, and no command ahead of its turn')
  const settings = { smtpd_discard_ehlo_keywords: '8bitmime, pipelining, chunking, smtputf8', smtpd_forbid_unauth_pipelining: 'yes' }
  const setting = await atNine(trial, 20, postfix({ settings }), ({ environment }) =>
    environment.rows(`UPDATE invoices SET client_name = 'Zoë Müller अनिल'`),
  )
  await setting.untilClosed([7])
  await trial.until('they have arrived', () => setting.counted().lost === 0, { seconds: 30 }).catch(() => undefined)
  const counted = setting.counted()
  const eightBits = setting.world.mails.filter(({ raw }) => raw.some((byte) => byte > 127)).length
  const ahead = setting.server.log().match(/improper command pipelining/g)?.length ?? 0
  return {
    figure: `${summarize(counted)}; eight bits ${eightBits}, ahead ${ahead}`,
    holds: isDelivered(counted) && eightBits + ahead === 0,
  }
})

row(
  '171',
  'a private Postfix whose certificate is of an own authority, with SMTP_ALLOW_PRIVATE_HOSTS=strict',
  { concurrent: 6 },
  async (trial) => {
    trial.mustHold('with the authority in NODE_EXTRA_CA_CERTS the emails arrive; without it no login is tried, and the reason is shown')
    const machine = await aMachine(trial)
    const world = await openMailServer(trial)
    const server = await openPostfix(machine, { user, world })
    const environment = await onPostgres(trial)
    const [account] = await environment.createAccounts({ invoices: 3, smtp: server })
    const body = { host: server.host, port: server.port, secure: false, user, pass: server.login.pass }
    const strict = { SMTP_ALLOW_PRIVATE_HOSTS: 'strict' }
    const without = await environment.start(strict)
    const refused = await send(without, account, 'POST /mail-config/smtp', { body })
    const { message = '' } = refused.body as { message?: string }
    await without.end('SIGTERM')
    const logins = server.log().match(/ auth=/g)?.length ?? 0
    const program = await environment.start({ ...strict, NODE_EXTRA_CA_CERTS: machine.authority })
    const saved = await send(program, account, 'POST /mail-config/smtp', { body })
    await send(program, account, 'POST /reminder/send-immediate')
    await environment.untilClosed(3)
    await trial.until('they have arrived', () => tally(asSent(world, user), [account]).lost === 0, { seconds: 30 }).catch(() => undefined)
    const counted = tally(asSent(world, user), [account])
    return {
      figure: `without: ${refused.status} “${message.split('. ')[0]}”, ${logins} logins; with: ${saved.status}, ${summarize(counted)}`,
      holds:
        refused.status === 400 &&
        /isn’t signed by a trusted authority/.test(message) &&
        logins === 0 &&
        saved.status < 300 &&
        isDelivered(counted),
    }
  },
)

row('170', 'a server that offers SCRAM alone', { concurrent: 6 }, async (trial) => {
  trial.mustHold('no password is sent; saving the mailbox and its pause name the mechanisms; all are held')
  const setting = await atNine(trial, 4, postfix({ mechanisms: 'scram-sha-256 scram-sha-1' }))
  const { environment, program, account, server, clock } = setting
  await trial.until('all are held', async () => (await environment.states()).held === 4, { seconds: 60 }).catch(() => undefined)
  const { marked, pause } = await shownTo(account, setting)
  await environment.rows('UPDATE sessions SET authenticated_at = $1', [clock.now().toString()])
  const body = { host: server.host, port: server.port, secure: false, user, pass: server.login.pass }
  const saved = await send(program, account, 'POST /mail-config/smtp', { body, now: clock.now() })
  const { message = '' } = saved.body as { message?: string }
  const asked = server.log().match(/ auth=/g)?.length ?? 0
  return {
    figure: `saving: ${saved.status} “${message}”; paused: ${pause?.reason} “${pause?.message}”; AUTH asked for ${asked} times`,
    holds:
      saved.status === 400 &&
      /SCRAM-SHA-256/.test(message) &&
      pause?.reason === 'login_refused' &&
      /SCRAM/.test(pause.message) &&
      asked === 0 &&
      marked === 0,
  }
})
