import { setTimeout as pause } from 'node:timers/promises'
import { failPointNames } from '#server/platform/fail-point.ts'
import { later } from '#test/fakes/smtp-server.ts'
import type { Program } from '#test/program.ts'
import {
  allClosed,
  aMailServer,
  anywhere,
  clientsOf,
  inFlight,
  onFolder,
  onServer,
  type Person,
  type Place,
  people,
  send,
} from './place.ts'
import { type Chaos, type Finding, keptItsWord, type Scenario, seconds, tally, until, wordsOf } from './scenario.ts'

const needsServer: Finding = { skipped: 'there is no PostgreSQL on this machine' }

/** Rows 1 to 6: processes that are killed, stopped, frozen and doubled. */
export const crashes: Scenario[] = [
  {
    row: '1',
    name: 'two processes, one or the other killed every 0.5 to 1.4 s',
    criterion: 'lost 0; repeated at most 8 a kill, the same bytes',
    seconds: 240,
    async run(chaos) {
      if (!chaos.cluster) return needsServer
      const place = await onServer(chaos, chaos.cluster)
      const smtp = await aMailServer(chaos, { delayMs: 30 })
      const those = await place.prepare((db) => people(db, { count: 100, invoices: 100, smtp, nextRunAt: Temporal.Now.instant() }))
      const running = [await place.start(), await place.start()]
      let kills = 0
      while (kills < 25 && smtp.mails.length < 9_800) {
        await pause(500 + 900 * chaos.random())
        const slot = chaos.random() < 0.5 ? 0 : 1
        await running[slot]?.end('SIGKILL')
        kills += 1
        running[slot] = await place.start()
      }
      const lastKill = performance.now()
      await until('every mail is closed', { seconds: 150, over: chaos.over, everyMs: 250 }, () => allClosed(place, 10_000))
      const counted = tally(smtp.mails, clientsOf(those))
      return {
        figure: `${kills} kills; ${wordsOf(counted)}; everything done ${seconds(performance.now() - lastKill)} after the last kill`,
        holds: keptItsWord(counted, kills * inFlight.process) && kills >= 20,
      }
    },
  },
  {
    row: '1 embedded',
    name: 'the only process, on the embedded database, killed again and again',
    criterion: 'lost 0; repeated at most 2 a kill, the same bytes',
    short: true,
    async run(chaos) {
      const [mails, kills] = chaos.short ? [200, 3] : [1_200, 20]
      const place = await onFolder(chaos)
      const smtp = await aMailServer(chaos, { delayMs: 2 })
      const those = await place.prepare((db) => people(db, { count: 1, invoices: mails, smtp, nextRunAt: Temporal.Now.instant() }))
      let program = await place.start()
      for (let kill = 1; kill <= kills; kill += 1) {
        const target = Math.floor((mails * kill) / (kills + 1)) + Math.floor(chaos.random() * 20)
        await until('the next mails', { seconds: 120, over: chaos.over, everyMs: 5 }, () => smtp.mails.length >= target)
        await program.end('SIGKILL')
        program = await place.start()
      }
      await finished(chaos, program, those)
      const counted = tally(smtp.mails, clientsOf(those))
      return { figure: `${kills} kills; ${wordsOf(counted)}`, holds: keptItsWord(counted, kills * inFlight.mailbox) }
    },
  },
  ...failPointNames.map((point): Scenario => {
    const most = point === 'claim' || point === 'before-mail' ? 0 : 20
    return {
      row: `2 ${point}`,
      name: `killed at the very moment "${point}", 20 times`,
      criterion: most === 0 ? 'lost 0, repeated 0' : 'lost 0; repeated at most once a kill, the same bytes',
      atOnce: 2,
      async run(chaos) {
        if (!chaos.cluster) return needsServer
        const place = await onServer(chaos, chaos.cluster)
        const smtp = await aMailServer(chaos)
        // Where it is to die after the dot, the answer must not have come before.
        smtp.answer({ dot: () => (point === 'after-dot' ? later(150) : undefined) })
        const those = await place.prepare((db) => people(db, { count: 20, invoices: 1, smtp }))
        let lived = 0
        for (const [nth, person] of those.entries()) {
          // One mail in flight at a time, so that what happens is what the moment makes of it.
          await place.rows(`UPDATE accounts SET reminders_active = true, next_run_at = now() WHERE id = $1`, [person.id])
          const began = performance.now()
          const code = await untilItDies(place, point)
          // On a busy machine a process may live long enough to take over from one before, and then has two mails to die with.
          if (performance.now() - began > 15_000) lived += 1
          if (code !== null) return { figure: `run ${nth + 1}: the process did not die at ${point}`, holds: false }
        }
        const died = smtp.mails.length
        await place.start()
        await until('every mail is closed', { seconds: 120, over: chaos.over, everyMs: 250 }, () => allClosed(place, 20))
        const counted = tally(smtp.mails, clientsOf(those))
        return {
          figure: `20 kills, ${died} mails had left before; ${wordsOf(counted)}`,
          holds: keptItsWord(counted, most === 0 ? 0 : most + lived),
        }
      },
    }
  }),
  {
    row: '2 embedded',
    name: 'killed at each of the five moments, twice, on the embedded database',
    criterion: 'lost 0; repeated at most once a kill after the dot, the same bytes',
    atOnce: 2,
    async run(chaos) {
      const place = await onFolder(chaos)
      const smtp = await aMailServer(chaos, { delayMs: 30 })
      const those = await place.prepare((db) => people(db, { count: 1, invoices: 60, smtp, nextRunAt: Temporal.Now.instant() }))
      let kills = 0
      for (const point of [...failPointNames, ...failPointNames]) {
        if ((await untilItDies(place, `${point}:0.3`)) !== null) return { figure: `it did not die at ${point}`, holds: false }
        kills += 1
      }
      const program = await place.start()
      await finished(chaos, program, those)
      const counted = tally(smtp.mails, clientsOf(those))
      return { figure: `${kills} kills; ${wordsOf(counted)}`, holds: keptItsWord(counted, kills * inFlight.mailbox) }
    },
  },
  ...(['server', 'embedded'] as const).map(
    (kind): Scenario => ({
      row: kind === 'server' ? '3' : '3 embedded',
      name: 'stopped by SIGTERM in the middle of 1,000 mails, three times',
      criterion: 'lost 0, repeated 0, each exit with 0 in less than 10 s',
      async run(chaos) {
        if (kind === 'server' && !chaos.cluster) return needsServer
        const place = kind === 'server' ? await anywhere(chaos) : await onFolder(chaos)
        const smtp = await aMailServer(chaos, { delayMs: 20 })
        const those = await place.prepare((db) => people(db, { count: 4, invoices: 250, smtp, nextRunAt: Temporal.Now.instant() }))
        const exits: number[] = []
        const codes: (number | null)[] = []
        for (const share of [0.2, 0.45, 0.7]) {
          const program = await place.start()
          await until(
            'mails leave',
            { seconds: 120, over: chaos.over, everyMs: 5 },
            () => smtp.mails.length >= 1_000 * share + 30 * chaos.random(),
          )
          const began = performance.now()
          codes.push(await program.end('SIGTERM'))
          exits.push(performance.now() - began)
        }
        await finished(chaos, await place.start(), those)
        const counted = tally(smtp.mails, clientsOf(those))
        return {
          figure: `${wordsOf(counted)}; exits ${codes.join(', ')} after ${exits.map(seconds).join(', ')}`,
          holds: keptItsWord(counted, 0) && codes.every((code) => code === 0) && exits.every((ms) => ms < 10_000),
        }
      },
    }),
  ),
  {
    row: '4',
    name: 'two processes share 10,000 mails of 20 accounts',
    criterion: 'lost 0, repeated 0, each sends at least 20 %',
    async run(chaos) {
      if (!chaos.cluster) return needsServer
      const place = await onServer(chaos, chaos.cluster)
      const smtp = await aMailServer(chaos)
      const those = await place.prepare((db) =>
        people(db, { count: 20, invoices: 500, smtp, nextRunAt: Temporal.Now.instant().add({ seconds: 6 }) }),
      )
      await place.rows(`CREATE TABLE seen (process uuid); CREATE FUNCTION see() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN INSERT INTO seen VALUES (OLD.claimed_by); RETURN NEW; END $$;
        CREATE TRIGGER see AFTER UPDATE ON deliveries FOR EACH ROW WHEN (OLD.state = 'sending' AND NEW.state = 'sent') EXECUTE FUNCTION see()`)
      await Promise.all([place.start(), place.start()])
      await until('mails leave', { seconds: 90, over: chaos.over }, () => smtp.mails.length > 0)
      const began = performance.now()
      await until('every mail is closed', { seconds: 150, over: chaos.over, everyMs: 250 }, () => allClosed(place, 10_000))
      const ms = performance.now() - began
      const shares = (await place.rows<{ count: number }>('SELECT count(*)::int AS count FROM seen GROUP BY process')).map(
        ({ count }) => count / 10_000,
      )
      const counted = tally(smtp.mails, clientsOf(those))
      return {
        figure: `${wordsOf(counted)}; shares ${shares.map((share) => `${Math.round(share * 100)} %`).join(' and ')}; ${Math.round(10_000_000 / ms)} mails a second`,
        holds: keptItsWord(counted, 0) && shares.length === 2 && shares.every((share) => share >= 0.2),
      }
    },
  },
  {
    row: '5',
    name: 'two processes tick at nine o’clock of 100 accounts',
    criterion: 'exactly 100 runs and 100 mails',
    short: true,
    async run(chaos) {
      if (!chaos.cluster) return needsServer
      const place = await onServer(chaos, chaos.cluster)
      const smtp = await aMailServer(chaos)
      const at = Temporal.Now.instant().add({ seconds: 7 })
      const those = await place.prepare((db) => people(db, { count: 100, invoices: 1, smtp, nextRunAt: at }))
      await Promise.all([place.start(), place.start()])
      await until('every mail is closed', { seconds: 120, over: chaos.over, everyMs: 100 }, () => allClosed(place, 100))
      await pause(2_500)
      const [runs] = await place.rows<{ all: number; accounts: number }>(
        `SELECT count(*)::int AS all, count(DISTINCT owner_id)::int AS accounts FROM runs WHERE kind = 'daily'`,
      )
      const counted = tally(smtp.mails, clientsOf(those))
      return {
        figure: `${runs?.all} runs of ${runs?.accounts} accounts; ${wordsOf(counted)}`,
        holds: runs?.all === 100 && runs.accounts === 100 && keptItsWord(counted, 0),
      }
    },
  },
  {
    row: '6',
    name: 'a process frozen (SIGSTOP) until others have taken over, then woken',
    criterion: 'lost 0; repeated at most 8; nothing that it writes late counts',
    async run(chaos) {
      if (!chaos.cluster) return needsServer
      const place = await onServer(chaos, chaos.cluster)
      const smtp = await aMailServer(chaos, { delayMs: 60 })
      const those = await place.prepare((db) => people(db, { count: 8, invoices: 100, smtp, nextRunAt: Temporal.Now.instant() }))
      const frozen = await place.start()
      await until('mails leave', { seconds: 90, over: chaos.over }, () => smtp.mails.length > 80 + 60 * chaos.random())
      process.kill(frozen.pid, 'SIGSTOP')
      await place.start()
      await until('others have sent everything', { seconds: 100, over: chaos.over, everyMs: 250 }, () => allClosed(place, 800))
      process.kill(frozen.pid, 'SIGCONT')
      await pause(8_000)
      const [late] = await place.rows<{ twice: number; open: number }>(
        `SELECT (SELECT count(*)::int FROM invoices WHERE reminders_sent <> 1) AS twice, (SELECT count(*)::int FROM deliveries WHERE state <> 'sent') AS open`,
      )
      const counted = tally(smtp.mails, clientsOf(those))
      return {
        figure: `${wordsOf(counted)}; invoices counted twice ${late?.twice}, mails not recorded as sent ${late?.open}`,
        holds: keptItsWord(counted, inFlight.process) && late?.twice === 0 && late.open === 0,
      }
    },
  },
]

/** Until the newest run of each of these people has nothing open. */
export async function finished(chaos: Chaos, program: Program, those: Person[], withinSeconds = 120): Promise<void> {
  for (const person of those)
    await until(`the run of ${person.email} is through`, { seconds: withinSeconds, over: chaos.over, everyMs: 200 }, async () => {
      const { body } = await send(program, person, 'GET /reminder/runs')
      const [run] = body as { finishedAt: string | null; total: number }[]
      return run && run.total >= person.invoices.length && run.finishedAt !== null
    })
}

/** Starts a process that is to die; answers null once a signal has ended it, else how it ended or that it lives. It may be gone before it was ready. */
async function untilItDies(place: Place, failPoint: string): Promise<number | null | 'alive'> {
  const doomed = await place.start({ FAILPOINT: failPoint }).catch((error: Error) => {
    if (error.message.startsWith('The program ended at once')) return null
    throw error
  })
  return doomed && Promise.race([doomed.ended, pause(60_000, 'alive' as const)])
}
