import { setTimeout as pause } from 'node:timers/promises'
import type { Instant } from '#server/platform/clock.ts'
import { type MovedClock, openMovedClock } from './moved-clock.ts'
import { allClosed, aMailServer, clientsOf, onServer, type Place, people, send } from './place.ts'
import { type Chaos, keptItsWord, type Scenario, tally, until, wordsOf } from './scenario.ts'

const zone = 'Asia/Kolkata'
const day = '2026-03-02'
const at = (time: string, date = day, timezone = zone): Instant =>
  Temporal.PlainDateTime.from(`${date}T${time}`).toZonedDateTime(timezone).toInstant()

/** The instants of nine o'clock where it is least obvious, computed independently of the program. */
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

/** Rows 28 to 32: clocks that jump, and days on which nine o'clock is not where one thinks. */
export const clocks: Scenario[] = [
  {
    row: '28',
    name: 'the clock jumps 25 hours ahead',
    criterion: 'one run per account and local date, one mail per invoice and date',
    atOnce: 6,
    async run(chaos) {
      const set = await atNine(chaos, { count: 5, invoices: 4 })
      if ('skipped' in set) return set
      const { place, clock, smtp, those } = set
      await until('the first day', { seconds: 90, over: chaos.over }, () => allClosed(place, 20))
      const first = smtp.mails.length
      clock.advance({ hours: 25 })
      await until('the second day', { seconds: 40, over: chaos.over }, () => allClosed(place, 40))
      await pause(5_000)
      const most = await mostRuns(place)
      const counted = tally(smtp.mails.slice(first), clientsOf(those))
      return {
        figure: `at most ${most} run a date; mails ${first} and ${smtp.mails.length - first}`,
        holds: most === 1 && first === 20 && keptItsWord(counted, 0),
      }
    },
  },
  {
    row: '29',
    name: 'the clock jumps 2 hours back, and nine o’clock comes again',
    criterion: 'no further run, no further mail',
    atOnce: 6,
    async run(chaos) {
      const set = await atNine(chaos, { count: 5, invoices: 4 })
      if ('skipped' in set) return set
      const { place, clock, smtp } = set
      await until('the day’s mails', { seconds: 90, over: chaos.over }, () => allClosed(place, 20))
      clock.set(at('10:30:00'))
      await pause(3_000)
      clock.advance({ hours: -2 })
      await pause(3_000)
      clock.set(at('08:59:57'))
      await pause(14_000)
      const most = await mostRuns(place)
      const [all] = await place.rows<{ count: number }>('SELECT count(*)::int AS count FROM runs')
      return {
        figure: `${all?.count} runs of 5 accounts; mails ${smtp.mails.length}`,
        holds: most === 1 && all?.count === 5 && smtp.mails.length === 20,
      }
    },
  },
  {
    row: '30',
    name: `nine o’clock in ${vectors.length} odd places and on odd days`,
    criterion: 'announced to the second, then exactly one run, at that instant, with its date',
    atOnce: 6,
    seconds: 400,
    async run(chaos) {
      if (!chaos.cluster) return { skipped: 'there is no PostgreSQL on this machine' }
      const [first] = vectors
      const clock = openMovedClock(chaos, Temporal.Instant.from(first?.[2] ?? '').subtract({ hours: 20 }))
      if (!clock) return { skipped: 'there is no libfaketime on this machine' }
      const place = await onServer(chaos, chaos.cluster)
      const smtp = await aMailServer(chaos)
      await place.prepare(async () => undefined)
      const program = await place.start(clock.env)
      const wrong: string[] = []
      for (const [nth, [timezone, date, nine]] of vectors.entries()) {
        const instant = Temporal.Instant.from(nine)
        clock.set(instant.subtract({ hours: 20 }))
        const [person] = await place.prepare((db) =>
          people(db, { count: 1, invoices: 0, smtp, timezone, now: clock.now(), name: `place${nth}.` }),
        )
        if (!person) throw new Error('Nobody was made.')
        const started = await send(program, person, 'POST /reminder/start', { now: clock.now() })
        const { body } = await send(program, person, 'GET /reminder/status', { now: clock.now() })
        const { nextRunAt } = body as { nextRunAt: string | null }
        if (started.status !== 200 || nextRunAt === null || !Temporal.Instant.from(nextRunAt).equals(instant))
          wrong.push(`${timezone} ${date}: announced ${nextRunAt}`)
        clock.set(instant.subtract({ seconds: 1 }))
        const runs = () =>
          place.rows<{ date: string; early: boolean; late: boolean }>(
            `SELECT local_date::text AS date, created_at < $2::timestamptz AS early, created_at > $2::timestamptz + interval '10 s' AS late FROM runs WHERE owner_id = $1 AND kind = 'daily'`,
            [person.id, nine],
          )
        await until(`the run of ${timezone}`, { seconds: 15, over: chaos.over }, async () => (await runs()).length > 0).catch(() => false)
        await pause(300)
        const made = await runs()
        const [only] = made
        if (made.length !== 1 || only?.date !== date || only.early || only.late) wrong.push(`${timezone} ${date}: ${JSON.stringify(made)}`)
        // Samoa left out the 30th: the next date is the 31st.
        if (timezone === 'Pacific/Apia') {
          const { body: then } = await send(program, person, 'GET /reminder/status', { now: clock.now() })
          if (!String((then as { nextRunAt: string }).nextRunAt).startsWith('2011-12-30T19:00'))
            wrong.push(`Apia: after it ${JSON.stringify(then)}`)
        }
        await send(program, person, 'POST /reminder/stop', { now: clock.now() })
      }
      return {
        figure:
          wrong.length === 0 ? `${vectors.length} of ${vectors.length} exact` : `${wrong.length} wrong: ${wrong.slice(0, 3).join('; ')}`,
        holds: wrong.length === 0,
      }
    },
  },
  ...(
    [
      ['08:59:50', 'Asia/Dhaka', 'eastwards, where nine has been, a moment before nine'],
      ['09:01:00', 'Asia/Karachi', 'westwards, where nine is yet to come, a moment after nine'],
    ] as const
  ).map(
    ([time, there, name]): Scenario => ({
      row: time.startsWith('08') ? '31' : '31 after',
      name: `the time zone changed ${name}, and back`,
      criterion: 'one run on that date, one mail per invoice',
      atOnce: 6,
      async run(chaos) {
        const set = await atNine(chaos, { count: 1, invoices: 4, from: time.startsWith('08') ? '08:59:20' : '08:59:57' })
        if ('skipped' in set) return set
        const { place, clock, smtp, those, program } = set
        const [person] = those
        if (!person) throw new Error('Nobody was made.')
        if (!time.startsWith('08')) await until('the day’s mails', { seconds: 90, over: chaos.over }, () => allClosed(place, 4))
        clock.set(at(time))
        const change = (timezone: string) => send(program, person, 'PATCH /user/profile', { body: { timezone }, now: clock.now() })
        const { status } = await change(there)
        await pause(5_000)
        clock.set(at('09:31:00'))
        await pause(5_000)
        await change(zone)
        await pause(3_000)
        clock.set(at('11:00:00'))
        await pause(14_000)
        const most = await mostRuns(place)
        const [all] = await place.rows<{ count: number }>(
          `SELECT count(*)::int AS count FROM runs WHERE kind = 'daily' AND local_date = $1::date`,
          [day],
        )
        const counted = tally(smtp.mails, clientsOf(those))
        return {
          figure: `${all?.count} run on ${day}; ${wordsOf(counted)}`,
          holds: status === 200 && most === 1 && all?.count === 1 && keptItsWord(counted, 0),
        }
      },
    }),
  ),
  {
    row: '32',
    name: 'nothing runs from 08:50 to 11:00',
    criterion: 'one run catches up, with everything that was due',
    atOnce: 6,
    async run(chaos) {
      const set = await atNine(chaos, { count: 5, invoices: 4, from: '08:49:55' })
      if ('skipped' in set) return set
      const { place, clock, smtp, those, program } = set
      await program.end('SIGTERM')
      clock.set(at('11:00:00'))
      await place.start(clock.env)
      await until('the day’s mails', { seconds: 40, over: chaos.over }, () => allClosed(place, 20))
      await pause(4_000)
      const most = await mostRuns(place)
      const counted = tally(smtp.mails, clientsOf(those))
      return { figure: `at most ${most} run a date; ${wordsOf(counted)}`, holds: most === 1 && keptItsWord(counted, 0) }
    },
  },
]

type Set = {
  place: Place
  clock: MovedClock
  smtp: Awaited<ReturnType<typeof aMailServer>>
  those: Awaited<ReturnType<typeof people>>
  program: Awaited<ReturnType<Place['start']>>
}

/** Accounts with active reminders and a program whose clock shows a moment before nine. */
async function atNine(chaos: Chaos, about: { count: number; invoices: number; from?: string }): Promise<Set | { skipped: string }> {
  if (!chaos.cluster) return { skipped: 'there is no PostgreSQL on this machine' }
  const clock = openMovedClock(chaos, at(about.from ?? '08:59:57'))
  if (!clock) return { skipped: 'there is no libfaketime on this machine' }
  const place = await onServer(chaos, chaos.cluster)
  const smtp = await aMailServer(chaos)
  const those = await place.prepare((db) => people(db, { ...about, smtp, timezone: zone, now: at('06:00:00'), nextRunAt: at('09:00:00') }))
  return { place, clock, smtp, those, program: await place.start(clock.env) }
}

/** The most daily runs that an account has on one date. */
async function mostRuns(place: Place): Promise<number> {
  const [found] = await place.rows<{ most: number }>(
    `SELECT coalesce(max(count), 0)::int AS most FROM (SELECT count(*) FROM runs WHERE kind = 'daily' GROUP BY owner_id, local_date) AS dates`,
  )
  return found?.most ?? 0
}
