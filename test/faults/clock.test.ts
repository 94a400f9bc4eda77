import { setTimeout as pause } from 'node:timers/promises'
import type { FakeSmtp } from '#test/fakes/smtp-server.ts'
import type { Program } from '#test/program.ts'
import { type Account, type Environment, onPostgres, openMailServer, send } from './environment.ts'
import { type FakeClock, openFakeClock } from './fake-clock.ts'
import { row, type Trial } from './row.ts'
import { isDelivered, summarize, tally } from './tally.ts'

const timezone = 'Asia/Kolkata'
const day = '2026-03-02'
const at = (time: string) => Temporal.PlainDateTime.from(`${day}T${time}`).toZonedDateTime(timezone).toInstant()

interface AtNine {
  environment: Environment
  clock: FakeClock
  smtp: FakeSmtp
  accounts: [Account, ...Account[]]
  program: Program
  /** The most daily runs that an account has on one date. */
  mostRuns(): Promise<number>
}

/** Accounts with active reminders, and a program whose clock shows a moment before nine. */
async function atNine(trial: Trial, { count = 5, from = '08:59:57' }: { count?: number; from?: string } = {}): Promise<AtNine> {
  const environment = await onPostgres(trial)
  const clock = openFakeClock(trial, at(from))
  const smtp = await openMailServer(trial)
  const about = { count, invoices: 4, smtp, timezone, now: at('06:00:00'), nextRunAt: at('09:00:00') }
  const accounts = await environment.createAccounts(about)
  const program = await environment.start(clock.env)
  const mostRuns = async () => {
    const [found] = await environment.rows<{ most: number }>(
      `SELECT coalesce(max(count), 0)::int AS most FROM (SELECT count(*) FROM runs WHERE kind = 'daily' GROUP BY owner_id, local_date) AS dates`,
    )
    return found?.most ?? 0
  }
  return { environment, clock, smtp, accounts, program, mostRuns }
}

row('28', 'the clock jumps 25 hours ahead', { concurrent: 6 }, async (trial) => {
  trial.mustHold('one run per account and local date, one email per invoice and date')
  const { environment, clock, smtp, accounts, mostRuns } = await atNine(trial)
  await environment.untilClosed(20)
  const first = smtp.mails.length
  clock.advance({ hours: 25 })
  await environment.untilClosed(40)
  await pause(5_000)
  const most = await mostRuns()
  return {
    figure: `at most ${most} run a date; emails ${first} and ${smtp.mails.length - first}`,
    holds: most === 1 && first === 20 && isDelivered(tally(smtp.mails.slice(first), accounts)),
  }
})

row('29', 'the clock jumps 2 hours back, and nine o’clock comes again', { concurrent: 6 }, async (trial) => {
  trial.mustHold('no further run, no further email')
  const { environment, clock, smtp, mostRuns } = await atNine(trial)
  await environment.untilClosed(20)
  clock.set(at('10:30:00'))
  await pause(3_000)
  clock.advance({ hours: -2 })
  await pause(3_000)
  clock.set(at('08:59:57'))
  await pause(14_000)
  const most = await mostRuns()
  const runs = await environment.rows('SELECT 1 FROM runs')
  return {
    figure: `${runs.length} runs of 5 accounts; emails ${smtp.mails.length}`,
    holds: most === 1 && runs.length === 5 && smtp.mails.length === 20,
  }
})

/** The instants of nine o'clock where they are least obvious, computed independently of the program. */
const vectors: [timezone: string, date: string, nine: string][] = [
  ['Pacific/Apia', '2011-12-29', '2011-12-29T19:00:00Z'],
  ['Pacific/Kiritimati', '2026-01-01', '2025-12-31T19:00:00Z'],
  ['Asia/Kathmandu', '2026-03-02', '2026-03-02T03:15:00Z'],
  ['Asia/Kolkata', '2026-03-02', '2026-03-02T03:30:00Z'],
  ['America/New_York', '2026-03-07', '2026-03-07T14:00:00Z'],
  ['America/St_Johns', '2026-03-08', '2026-03-08T11:30:00Z'],
  ['America/New_York', '2026-03-08', '2026-03-08T13:00:00Z'],
  ['Africa/Casablanca', '2026-03-22', '2026-03-22T08:00:00Z'],
  ['Asia/Beirut', '2026-03-29', '2026-03-29T06:00:00Z'],
  ['Europe/London', '2026-03-29', '2026-03-29T08:00:00Z'],
  ['Australia/Lord_Howe', '2026-04-04', '2026-04-03T22:00:00Z'],
  ['Australia/Lord_Howe', '2026-04-05', '2026-04-04T22:30:00Z'],
  ['Africa/Cairo', '2026-04-24', '2026-04-24T06:00:00Z'],
  ['Australia/Lord_Howe', '2026-10-04', '2026-10-03T22:00:00Z'],
  ['Europe/London', '2026-10-25', '2026-10-25T09:00:00Z'],
  ['America/New_York', '2026-11-01', '2026-11-01T14:00:00Z'],
]

row('30', `nine o’clock in ${vectors.length} unusual places and on unusual days`, { concurrent: 6 }, async (trial) => {
  trial.mustHold('announced to the second, then exactly one run, at that instant, with its date')
  const [first] = vectors
  const environment = await onPostgres(trial)
  const clock = openFakeClock(trial, Temporal.Instant.from(first?.[2] ?? '').subtract({ hours: 20 }))
  const smtp = await openMailServer(trial)
  await environment.prepare(async () => undefined)
  const program = await environment.start(clock.env)
  const wrong: string[] = []
  for (const [nth, [zone, date, nine]] of vectors.entries()) {
    const instant = Temporal.Instant.from(nine)
    clock.set(instant.subtract({ hours: 20 }))
    const about = { invoices: 0, smtp, timezone: zone, now: clock.now(), name: `place${nth}.` }
    const [account] = await environment.createAccounts(about)
    const ask = (call: string) => send(program, account, call, { now: clock.now() })
    const { status } = await ask('POST /reminder/start')
    const { nextRunAt } = (await ask('GET /reminder/status')).body as { nextRunAt: string | null }
    if (status !== 200 || nextRunAt === null || !Temporal.Instant.from(nextRunAt).equals(instant))
      wrong.push(`${zone} ${date}: announced ${nextRunAt}`)
    clock.set(instant.subtract({ seconds: 1 }))
    const runs = () =>
      environment.rows<{ date: string; early: boolean; late: boolean }>(
        `SELECT local_date::text AS date, created_at < $2::timestamptz AS early, created_at > $2::timestamptz + interval '10 s' AS late FROM runs WHERE owner_id = $1 AND kind = 'daily'`,
        [account.id, nine],
      )
    await trial.until(`the run of ${zone} is made`, async () => (await runs()).length > 0, { seconds: 15 }).catch(() => false)
    await pause(300)
    const made = await runs()
    const [only] = made
    if (made.length !== 1 || only?.date !== date || only.early || only.late) wrong.push(`${zone} ${date}: ${JSON.stringify(made)}`)
    // Samoa skipped the 30th: the next date is the 31st.
    if (zone === 'Pacific/Apia') {
      const { body } = await ask('GET /reminder/status')
      if (!String((body as { nextRunAt: string }).nextRunAt).startsWith('2011-12-30T19:00'))
        wrong.push(`Apia: after it ${JSON.stringify(body)}`)
    }
    await ask('POST /reminder/stop')
  }
  return {
    figure: wrong.length === 0 ? `${vectors.length} of ${vectors.length} exact` : `${wrong.length} wrong: ${wrong.slice(0, 3).join('; ')}`,
    holds: wrong.length === 0,
  }
})

for (const [number, time, there, name] of [
  ['31', '08:59:50', 'Asia/Dhaka', 'eastwards, where nine has passed, a moment before nine'],
  ['31 after', '09:01:00', 'Asia/Karachi', 'westwards, where nine is yet to come, a moment after nine'],
] as const)
  row(number, `the time zone changed ${name}, and back`, { concurrent: 6 }, async (trial) => {
    trial.mustHold('one run on that date, one email per invoice')
    const before = number === '31'
    const { environment, clock, smtp, accounts, program, mostRuns } = await atNine(trial, {
      count: 1,
      from: before ? '08:59:20' : '08:59:57',
    })
    if (!before) await environment.untilClosed(4)
    clock.set(at(time))
    const change = (zone: string) => send(program, accounts[0], 'PATCH /user/profile', { body: { timezone: zone }, now: clock.now() })
    const { status } = await change(there)
    await pause(5_000)
    clock.set(at('09:31:00'))
    await pause(5_000)
    await change(timezone)
    await pause(3_000)
    clock.set(at('11:00:00'))
    await pause(14_000)
    const most = await mostRuns()
    const runs = await environment.rows(`SELECT 1 FROM runs WHERE kind = 'daily' AND local_date = $1::date`, [day])
    const counted = tally(smtp.mails, accounts)
    return {
      figure: `${runs.length} run on ${day}; ${summarize(counted)}`,
      holds: status === 200 && most === 1 && runs.length === 1 && isDelivered(counted),
    }
  })

row('32', 'no process runs from 08:50 to 11:00', { concurrent: 6 }, async (trial) => {
  trial.mustHold('one run catches up, with everything that was due')
  const { environment, clock, smtp, accounts, program, mostRuns } = await atNine(trial, { from: '08:49:55' })
  await program.end('SIGTERM')
  clock.set(at('11:00:00'))
  await environment.start(clock.env)
  await environment.untilClosed(20)
  await pause(4_000)
  const most = await mostRuns()
  const counted = tally(smtp.mails, accounts)
  return { figure: `at most ${most} run a date; ${summarize(counted)}`, holds: most === 1 && isDelivered(counted) }
})
