import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { makeCertificate } from '#test/fakes/certificate.ts'
import { drip, type FakeSmtp, later, type Move, openFakeSmtp, reset, type Script, silence } from '#test/fakes/smtp-server.ts'
import type { Program } from '#test/program.ts'
import { type MovedClock, openMovedClock } from './moved-clock.ts'
import { allClosed, aMailServer, anywhere, clientsOf, onServer, type Person, type Place, people, send, states } from './place.ts'
import { type Chaos, type Finding, keptItsWord, percentile, type Scenario, seconds, tally, until, wordsOf } from './scenario.ts'
import { openWire } from './wire.ts'

const needsServer: Finding = { skipped: 'there is no PostgreSQL on this machine' }

/** Rows 13 to 27: mail servers that are silent, slow, rude, full, or not who they say they are. */
export const mailServers: Scenario[] = [
  {
    row: '13',
    name: 'a mail server that takes the connection and says nothing',
    criterion: 'given up after 20 s ±2; the other account’s mails delayed by at most 5 s (95 %)',
    atOnce: 6,
    run: (chaos) => deafServer(chaos, { deaf: 1, greeting: silence }),
  },
  {
    row: '13 crowd',
    name: 'the same with ten such accounts in one process',
    criterion: 'the other account’s mails delayed by at most 5 s (95 %)',
    atOnce: 6,
    run: (chaos) => deafServer(chaos, { deaf: 10, greeting: silence }),
  },
  {
    row: '14',
    name: 'a greeting of one byte every 400 ms',
    criterion: 'given up after 20 s ±2',
    atOnce: 6,
    run: (chaos) => deafServer(chaos, { deaf: 1, greeting: drip(400, '220-'.padEnd(2_000, 'welcome ')) }),
  },
  {
    row: '15',
    name: 'an answer to the dot of one byte every 500 ms, for ever',
    criterion: 'given up after 120 s ±2; then sent at most once more, the same bytes',
    atOnce: 6,
    seconds: 240,
    async run(chaos) {
      const one = await oneMail(chaos, { dot: (_mail, nth) => (nth === 1 ? drip(500) : undefined) })
      if ('skipped' in one) return one
      const { smtp, place, clock } = one
      await until('the mail is in', { seconds: 30, over: chaos.over }, () => smtp.mails.length === 1)
      const began = performance.now()
      await until('it is given up', { seconds: 130, over: chaos.over }, async () => (await states(place)).retrying === 1)
      const took = performance.now() - began
      clock.advance({ minutes: 8 })
      await until('every mail is closed', { seconds: 40, over: chaos.over }, () => allClosed(place, 1))
      const counted = tally(smtp.mails, clientsOf(one.those))
      return {
        figure: `given up after ${seconds(took)}; ${wordsOf(counted)}`,
        holds: Math.abs(took - 120_000) < 2_000 && keptItsWord(counted, 1),
      }
    },
  },
  {
    row: '16',
    name: 'the connection torn down (RST) before MAIL',
    criterion: 'sent by the next try, repeated 0',
    atOnce: 6,
    run: (chaos) => triedAgain(chaos, { mail: (_from, nth) => (nth === 1 ? reset : undefined) }, 0),
  },
  {
    row: '17',
    name: 'the connection torn down after the dot, the mail kept',
    criterion: 'sent once more, the same bytes',
    atOnce: 6,
    run: (chaos) => triedAgain(chaos, { dot: (_mail, nth) => (nth === 1 ? reset : undefined) }, 1),
  },
  {
    row: '18',
    name: '421 instead of a greeting',
    criterion: 'tried again after 5 minutes (±20 %), repeated 0',
    atOnce: 6,
    run: (chaos) => triedAgain(chaos, { greeting: (connection) => (connection === 1 ? '421 4.3.2 Too busy' : undefined) }, 0),
  },
  {
    row: '18 midway',
    name: '421 in the middle of 40 mails',
    criterion: 'lost 0, repeated 0, what it met tried again after 5 minutes (±20 %)',
    atOnce: 6,
    run: (chaos) => triedAgain(chaos, { mail: (_from, nth) => (nth > 10 && nth < 15 ? '421 4.7.0 Closing' : undefined) }, 0, 40),
  },
  {
    row: '19',
    name: 'greylisting: 450 until five minutes have passed',
    criterion: 'all sent, repeated 0, at most 3 tries each',
    short: true,
    atOnce: 6,
    async run(chaos) {
      const firstSeen = new Map<string, number>()
      const tries = new Map<string, number>()
      let now = () => Date.now()
      const one = await oneMail(
        chaos,
        {
          rcpt: (to) => {
            tries.set(to, (tries.get(to) ?? 0) + 1)
            const first = firstSeen.get(to) ?? now()
            firstSeen.set(to, first)
            return now() - first >= 5 * 60_000 ? undefined : '450 4.7.1 Greylisted, please try again later'
          },
        },
        20,
        (clock) => {
          now = () => clock.now().epochMilliseconds
        },
      )
      if ('skipped' in one) return one
      const { smtp, place, clock } = one
      await until('all are put off', { seconds: 30, over: chaos.over }, async () => (await states(place)).retrying === 20)
      for (let round = 0; round < 4 && !(await allClosed(place, 20)); round += 1) {
        clock.advance({ minutes: round === 0 ? 7 : 20 })
        await pause(13_000)
      }
      const counted = tally(smtp.mails, clientsOf(one.those))
      const most = Math.max(...tries.values())
      return { figure: `${wordsOf(counted)}; at most ${most} tries`, holds: keptItsWord(counted, 0) && most <= 3 }
    },
  },
  {
    row: '20',
    name: '550 user unknown',
    criterion: 'one try, failed, shown with the server’s words; that invoice is flagged, and no other',
    atOnce: 6,
    async run(chaos) {
      const one = await oneMail(chaos, { rcpt: (to) => (to.includes('client3@') ? '550 5.1.1 No such user here' : undefined) }, 6)
      if ('skipped' in one) return one
      const { smtp, place, program, those, clock } = one
      await until('every mail is closed', { seconds: 30, over: chaos.over }, () => allClosed(place, 6))
      clock.advance({ hours: 1 })
      await pause(13_000)
      const asked = smtp.commands.filter((line) => line.startsWith('RCPT') && line.includes('client3@')).length
      const [person] = those
      if (!person) throw new Error('Nobody was made.')
      const { body } = await send(program, person, 'GET /reminder/runs', { now: clock.now() })
      const [run] = body as { sent: number; failed: number; failures: { invoiceId: string; message: string }[] }[]
      const shown = run?.failures[0]
      const listed = (await send(program, person, 'GET /invoice', { now: clock.now() })).body as { _id: string; refusal: string | null }[]
      const flagged = listed.filter(({ refusal }) => refusal !== null).map(({ _id }) => _id)
      return {
        figure: `${asked} try; sent ${run?.sent}, failed ${run?.failed}: “${shown?.message}”; flagged ${flagged.length}`,
        holds:
          asked === 1 &&
          run?.sent === 5 &&
          run.failed === 1 &&
          shown?.invoiceId === person.invoices[3]?.id &&
          flagged.join() === shown?.invoiceId &&
          /550 5\.1\.1/.test(shown?.message ?? ''),
      }
    },
  },
  {
    row: '21',
    name: '535 wrong password with 500 mails queued',
    criterion: 'at most 2 logins tried, sending paused, one notice',
    short: true,
    atOnce: 6,
    async run(chaos) {
      const one = await oneMail(chaos, { auth: () => '535 5.7.8 Username and Password not accepted' }, 500)
      if ('skipped' in one) return one
      const { smtp, place, program, those, clock } = one
      await until('all are held', { seconds: 30, over: chaos.over }, async () => (await states(place)).held === 500)
      clock.advance({ hours: 1 })
      await pause(13_000)
      const [person] = those
      if (!person) throw new Error('Nobody was made.')
      const { body } = await send(program, person, 'GET /reminder/status', { now: clock.now() })
      const { pause: told } = body as { pause: { reason: string; message: string } | null }
      const notices = program.output().match(/Sending is paused for an account/g)?.length ?? 0
      return {
        figure: `${smtp.authTries} logins tried; paused: ${told?.reason} “${told?.message}”; held ${(await states(place)).held}; notices ${notices}`,
        holds:
          smtp.authTries <= 2 &&
          smtp.authTries > 0 &&
          told?.reason === 'login_refused' &&
          (await states(place)).held === 500 &&
          notices === 1,
      }
    },
  },
  {
    row: '22',
    name: 'a mailbox of 500 mails a day (550 5.4.5 from then on), 600 due',
    criterion: 'at most 2 more tried; the rest the next day; lost 0',
    atOnce: 6,
    async run(chaos) {
      let day = ''
      let today = () => ''
      let taken = 0
      let beyond = 0
      const one = await oneMail(
        chaos,
        {
          mail: () => {
            if (today() !== day) {
              day = today()
              taken = 0
            }
            taken += 1
            if (taken <= 500) return undefined
            beyond += 1
            return '550 5.4.5 Daily user sending limit exceeded.'
          },
        },
        600,
        (clock) => {
          today = () => clock.now().toZonedDateTimeISO('Asia/Kolkata').toPlainDate().toString()
        },
      )
      if ('skipped' in one) return one
      const { smtp, place, clock, those } = one
      await until('the quota is used up', { seconds: 60, over: chaos.over }, () => smtp.mails.length >= 500 && beyond > 0)
      await pause(13_000)
      const tried = beyond
      const next = clock.now().toZonedDateTimeISO('Asia/Kolkata').add({ days: 1 }).with({ hour: 8, minute: 59, second: 57 })
      clock.set(next.toInstant())
      await until('the rest leaves', { seconds: 45, over: chaos.over }, () => tally(smtp.mails, clientsOf(those)).lost === 0).catch(
        () => false,
      )
      const counted = tally(smtp.mails, clientsOf(those))
      return {
        figure: `${tried} tried beyond the limit; the next day: ${counted.lost} of 600 still without a mail; ${JSON.stringify(await states(place))}`,
        holds: tried <= 2 && counted.lost === 0,
      }
    },
  },
  {
    row: '23',
    name: 'a mailbox of 30 mails a minute (451 beyond), 200 due',
    criterion: 'once told, at most 30 asked for in any 60 s; lost 0',
    atOnce: 6,
    seconds: 240,
    async run(chaos) {
      const asked: { at: number; refused: boolean }[] = []
      const one = await oneMail(
        chaos,
        {
          mail: () => {
            const at = Date.now()
            const refused = asked.filter((other) => !other.refused && at - other.at < 60_000).length >= 30
            asked.push({ at, refused })
            return refused ? '451 4.7.1 Too many messages, slow down' : undefined
          },
        },
        200,
      )
      if ('skipped' in one) return one
      const told = await until('it is told', { seconds: 30, over: chaos.over }, () => asked.find(({ refused }) => refused))
      await pause(150_000)
      const later = asked.filter(({ at }) => at > told.at + 2_000)
      const most = Math.max(0, ...later.map(({ at }) => later.filter((other) => other.at >= at && other.at < at + 60_000).length))
      const before = asked.filter(({ at }) => at <= told.at + 2_000).length
      const closed = await states(one.place)
      return {
        figure: `${before} asked for before it took notice, then at most ${most} in 60 s; ${JSON.stringify(closed)}`,
        holds: most <= 30 && before <= 34 && (closed.failed ?? 0) === 0,
      }
    },
  },
  {
    row: '24',
    name: 'STARTTLS taken out of the conversation',
    criterion: 'a password on the wire 0 times, and words that say why',
    async run(chaos) {
      if (!chaos.publicAddress) return { skipped: 'no network of its own to be had here, which takes root on Linux' }
      const smtp = await aMailServer(chaos, { tls: 'starttls' })
      smtp.answer({ offers: { starttls: false } })
      return strictly(chaos, smtp, { saying: /TLS/, env: {} })
    },
  },
  ...(['self-signed', 'for another name'] as const).map(
    (kind): Scenario => ({
      row: kind === 'self-signed' ? '25' : '25 name',
      name: `a certificate that is ${kind}`,
      criterion: 'mails 0, a password on the wire 0 times, and words that say why',
      async run(chaos) {
        if (!chaos.publicAddress) return { skipped: 'no network of its own to be had here, which takes root on Linux' }
        const certificate = makeCertificate([kind === 'self-signed' ? chaos.publicAddress : 'mail.example.net'])
        const smtp = await aMailServer(chaos, { tls: 'ssl', certificate })
        if (kind === 'self-signed') return strictly(chaos, smtp, { saying: /not signed by an authority/, env: {} })
        const folder = await mkdtemp(path.join(tmpdir(), 'duely-trust-'))
        chaos.stack.defer(() => rm(folder, { recursive: true, force: true }))
        const trusted = path.join(folder, 'trusted.pem')
        await writeFile(trusted, certificate.cert)
        return strictly(chaos, smtp, { saying: /belongs to another name/, env: { NODE_EXTRA_CA_CERTS: trusted } })
      },
    }),
  ),
  {
    row: '26',
    name: 'a client’s address beyond ASCII, a server without SMTPUTF8',
    criterion: 'failed before DATA, bytes beyond ASCII in commands 0',
    atOnce: 6,
    async run(chaos) {
      const smtp = await aMailServer(chaos)
      smtp.answer({ offers: { smtputf8: false } })
      const wire = await openWire(chaos, smtp)
      if (!chaos.cluster) return needsServer
      const place = await onServer(chaos, chaos.cluster)
      const those = await place.prepare((db) =>
        people(db, { count: 1, invoices: 3, smtp: { ...wire, login: smtp.login, tls: 'none' }, nextRunAt: Temporal.Now.instant() }),
      )
      await place.rows(`UPDATE invoices SET client_email = 'żółć@example.com' WHERE id = $1`, [those[0]?.invoices[1]?.id])
      await place.start()
      await until('every mail is closed', { seconds: 30, over: chaos.over }, () => allClosed(place, 3))
      const [failed] = await place.rows<{ words: string }>(`SELECT server_reply AS words FROM deliveries WHERE state = 'failed'`)
      const raw = smtp.commands.filter((line) => /[^\x20-\x7e]/.test(line)).length
      return {
        figure: `sent ${smtp.mails.length}, failed: “${failed?.words}”; commands beyond ASCII ${raw}`,
        holds: smtp.mails.length === 2 && /SMTPUTF8/.test(failed?.words ?? '') && raw === 0,
      }
    },
  },
  {
    row: '27',
    name: 'one account with 10,000 mails to a server that takes 2 s each, another with ten',
    criterion: 'the ten are sent within 10 s',
    run: (chaos) => noisy(chaos, 1, 10_000),
  },
  {
    row: '27 crowd',
    name: 'twelve such accounts in one process, another with ten mails',
    criterion: 'the ten are sent within 10 s',
    run: (chaos) => noisy(chaos, 12, 200),
  },
]

interface OneMail {
  smtp: FakeSmtp
  place: Place
  program: Program
  clock: MovedClock
  those: Person[]
}

/** Somebody at nine o'clock with some mails due to a server with a script, in a program whose clock can be moved. */
async function oneMail(
  chaos: Chaos,
  script: Script,
  invoices = 1,
  beforehand: (clock: MovedClock) => void = () => undefined,
): Promise<OneMail | { skipped: string }> {
  if (!chaos.cluster) return { skipped: 'there is no PostgreSQL on this machine' }
  const zone = 'Asia/Kolkata'
  const nine = Temporal.Now.zonedDateTimeISO(zone).with({ hour: 9, minute: 0, second: 0, millisecond: 0 }).toInstant()
  const clock = openMovedClock(chaos, nine)
  if (!clock) return { skipped: 'there is no libfaketime on this machine' }
  beforehand(clock)
  const smtp = await aMailServer(chaos)
  smtp.answer(script)
  const place = await onServer(chaos, chaos.cluster)
  const those = await place.prepare((db) =>
    people(db, { count: 1, invoices, smtp, timezone: zone, now: nine.subtract({ hours: 24 }), nextRunAt: nine }),
  )
  const program = await place.start(clock.env)
  return { smtp, place, program, clock, those }
}

/** The first try meets the script, the second is due 5 minutes later and goes well. */
async function triedAgain(chaos: Chaos, script: Script, mostRepeated: number, invoices = 1): Promise<Finding> {
  const one = await oneMail(chaos, script, invoices)
  if ('skipped' in one) return one
  const { smtp, place, clock, those } = one
  await until('it is put off', { seconds: 40, over: chaos.over }, async () => {
    const now = await states(place)
    return (now.retrying ?? 0) > 0 && (now.queued ?? 0) + (now.sending ?? 0) === 0
  })
  const put = await place.rows<{ seconds: number }>(
    `SELECT extract(epoch FROM next_try_at - $1::timestamptz)::float8 AS seconds FROM deliveries WHERE state = 'retrying'`,
    [clock.now().toString()],
  )
  const least = Math.min(...put.map((row) => row.seconds))
  const most = Math.max(...put.map((row) => row.seconds))
  const before = smtp.mails.length
  clock.advance({ minutes: 3, seconds: 30 })
  await pause(11_000)
  const early = smtp.mails.length - before
  clock.advance({ minutes: 4 })
  await until('every mail is closed', { seconds: 40, over: chaos.over }, () => allClosed(place, invoices))
  const counted = tally(smtp.mails, clientsOf(those))
  return {
    figure: `${put.length} put off, the next try in ${Math.round(least)} to ${Math.round(most)} s; ${wordsOf(counted)}`,
    // Some seconds have gone by since it was put off.
    holds: keptItsWord(counted, mostRepeated) && counted.repeated === mostRepeated && early === 0 && least >= 225 && most <= 361,
  }
}

/** Accounts whose server greets nobody, and one whose server is well. */
async function deafServer(chaos: Chaos, about: { deaf: number; greeting: Move }): Promise<Finding> {
  if (!chaos.cluster) return needsServer
  const place = await onServer(chaos, chaos.cluster)
  const deaf = await aMailServer(chaos)
  deaf.answer({ greeting: () => about.greeting })
  const well = await aMailServer(chaos)
  const now = Temporal.Now.instant()
  const those = await place.prepare(async (db) => {
    await people(db, { count: about.deaf, invoices: 20, smtp: deaf, name: 'deaf', nextRunAt: now })
    return people(db, { count: 1, invoices: 20, smtp: well })
  })
  const program = await place.start()
  await until('the deaf server is called', { seconds: 30, over: chaos.over }, () => deaf.connections.total > 0)
  const called = performance.now()
  await pause(2_000)
  const began = Date.now()
  const [person] = those
  if (!person) throw new Error('Nobody was made.')
  const pressed = send(program, person, 'POST /reminder/send-immediate')
  await until('the other account’s mails', { seconds: 60, over: chaos.over }, () => well.mails.length === 20)
  const delay = percentile(
    well.mails.map((mail) => mail.at - began),
    0.95,
  )
  await pressed
  if (about.deaf > 1) return { figure: `the other’s mails after ${seconds(delay)} (95 %)`, holds: delay <= 5_000 }
  await until('it is given up', { seconds: 40, over: chaos.over }, async () => (await states(place)).retrying === 20)
  const took = performance.now() - called
  return {
    figure: `given up after ${seconds(took)}; the other’s mails after ${seconds(delay)} (95 %)`,
    holds: Math.abs(took - 20_000) <= 2_000 && delay <= 5_000,
  }
}

/** A server on what counts as a public address: nothing is forgiven there. Tried by saving the mailbox, then by sending. */
async function strictly(chaos: Chaos, smtp: FakeSmtp, about: { saying: RegExp; env: Record<string, string> }): Promise<Finding> {
  const wire = await openWire(chaos, smtp, chaos.publicAddress ?? '')
  const place = await anywhere(chaos)
  const those = await place.prepare((db) => people(db, { count: 1, invoices: 3, smtp: { ...wire, login: smtp.login, tls: smtp.tls } }))
  const [person] = those
  if (!person) throw new Error('Nobody was made.')
  const program = await place.start(about.env)
  const { host, port } = wire
  const saved = await send(program, person, 'POST /mail-config/smtp', { body: { host, port, secure: smtp.tls === 'ssl', ...smtp.login } })
  const { message = '' } = saved.body as { message?: string }
  const started = await send(program, person, 'POST /reminder/start')
  const { count, retrying } = started.body as { count?: number; retrying?: number }
  await pause(1_000)
  const { user, pass } = smtp.login
  const secrets = [pass, Buffer.from(pass).toString('base64'), Buffer.from(`\0${user}\0${pass}`).toString('base64')]
  const heard = wire.sent().toString('latin1')
  const leaked = secrets.filter((secret) => heard.includes(secret)).length + (/^AUTH /im.test(heard) ? 1 : 0) + smtp.authTries
  return {
    figure: `saving: ${saved.status} “${message}”; starting: ${started.status}, sent ${count}, waiting ${retrying}; a password on the wire ${leaked} times; mails ${smtp.mails.length}`,
    holds: leaked === 0 && smtp.mails.length === 0 && saved.status === 400 && about.saying.test(message) && heard.length > 0,
  }
}

/** Accounts whose mail server is slow, and one in a hurry. */
async function noisy(chaos: Chaos, count: number, invoices: number): Promise<Finding> {
  if (!chaos.cluster) return needsServer
  const place = await onServer(chaos, chaos.cluster)
  const slow = chaos.stack.use(await openFakeSmtp())
  slow.answer({ dot: () => later(2_000) })
  const quick = await aMailServer(chaos)
  const those = await place.prepare(async (db) => {
    await people(db, { count, invoices, smtp: slow, name: 'noisy', nextRunAt: Temporal.Now.instant() })
    return people(db, { count: 1, invoices: 10, smtp: quick })
  })
  const program = await place.start()
  await until('the noisy account is at it', { seconds: 60, over: chaos.over }, () => slow.mails.length >= 2 * Math.min(4, count))
  const delays: number[] = []
  const [person] = those
  if (!person) throw new Error('Nobody was made.')
  const began = Date.now()
  const pressed = send(program, person, 'POST /reminder/send-immediate')
  await until('ten mails', { seconds: 60, over: chaos.over }, () => quick.mails.length === 10)
  delays.push(...quick.mails.map((mail) => mail.at - began))
  await pressed
  return {
    figure: `the ten were sent after ${seconds(Math.max(...delays))}, the first after ${seconds(Math.min(...delays))}`,
    holds: Math.max(...delays) <= 10_000,
  }
}
