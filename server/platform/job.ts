import { sql } from 'drizzle-orm'
import { z } from 'zod'
import { actAs } from './actor.ts'
import { batch } from './batch.ts'
import type { Timers } from './clock.ts'
import { arrayText, byKeys, type Database, isUnavailable, preparedRows } from './database.ts'
import type { Log } from './log.ts'
import { inTrace } from './traces.ts'
import { onBehalfOf } from './turns.ts'

/** A kind of work in the background. Its name is stored in rows: never rename it. */
export interface Job<S extends z.ZodType = z.ZodType> {
  name: string
  /** Ids, never copies of data. */
  payload: S
  /** Jobs of one key run one at a time, and at most one more waits. */
  key(payload: z.output<S>): string
}

export function job<S extends z.ZodType>(definition: Job<S>): Job<S> {
  return definition
}

/** A job and what is done when it comes. `orphaned`: the process that had it did not finish it, so it may have died of it. */
export interface Work {
  job: Job
  run(payload: unknown, signal: AbortSignal, orphaned: boolean): Promise<void>
  /** How many at a time in this process; as many again with a place below 0 may run besides, at most 100. */
  concurrency: number
}

export function work<S extends z.ZodType>(
  of: Job<S>,
  concurrency: number,
  run: (payload: z.output<S>, signal: AbortSignal, orphaned: boolean) => Promise<void>,
): Work {
  return {
    job: of as Job,
    concurrency,
    async run(payload, signal, orphaned) {
      const read = of.payload.safeParse(payload)
      if (!read.success) throw new UnreadablePayload(`The payload of a job does not parse: ${read.error.message}`)
      return run(read.data, signal, orphaned)
    },
  }
}

class UnreadablePayload extends Error {}

export interface Queue {
  /** Enqueues within the transaction that gives the job its reason to exist. Of one kind, jobs with a lower `place` are first. */
  send<S extends z.ZodType>(tx: Database, of: Job<S>, payload: z.input<S>, place?: number): Promise<void>
  /** The same for many jobs of one kind, in one statement. */
  sendMany<S extends z.ZodType>(tx: Database, of: Job<S>, payloads: z.input<S>[], place?: number): Promise<void>
  /** Starts to work jobs off, until `stop`. */
  start(works: Work[]): void
  /** Works off what is waiting, once, and answers how many jobs that were. */
  runWaiting(works: Work[]): Promise<number>
  /** Deletes finished jobs. */
  tidy(): Promise<void>
  /** Starts no more jobs, aborts running ones and waits for them. */
  stop(): Promise<void>
}

/** Another process may take a job after this long without renewal, by the database's clock. */
const leaseSeconds = 10
const renewSeconds = 3
/** How often a process looks for jobs of others, and at first of its own whose transaction has yet to end, in ms. */
const [idlePoll, hurriedPoll, hurry] = [500, 20, 300]
/** Jobs taken by one statement. */
const takenAtOnce = 100
/** How long finished jobs are collected, in ms, so that one statement and one commit serve many. */
const collectMs = 10
/** Pause while the database is unavailable, in ms. */
const awayPause = 250
/** How long what runs may take to end when the process stops, in ms. */
const stopPatience = 8_000

const takenJob = z.object({ key: z.string(), payload: z.unknown(), ticket: z.string(), turn: z.number(), orphaned: z.boolean() })
type TakenJob = z.output<typeof takenJob>

/**
 * Jobs as rows: one row a key, `turn` counts how often it is asked for. Who takes it holds a lease, and takes off what it had found when it is
 * done: what was asked for meanwhile stays for another go. A process never runs a job twice at the same time: if the lease of a running job
 * expired while the database was away, and the process takes it again, the running one keeps the new lease and the job runs again afterwards.
 * A lease from a clock that was set back since is ignored. A busy key does not delay other keys. `soleProcess`: no other process can be on this database.
 */
export async function openQueue(about: { db: Database; log: Log; soleProcess: boolean; timers: Timers }): Promise<Queue> {
  const { db, log, soleProcess, timers } = about
  if (soleProcess) await db.execute(sql`UPDATE jobs SET lease_until = NULL`)
  const lease = sql`now() + make_interval(secs => ${leaseSeconds}::int)`
  const free = sql`turn > 0 AND (tries = 0 OR not_before <= now()) AND (lease_until IS NULL OR lease_until < now() OR lease_until > ${lease} + interval '1 minute')`
  const stopping = new AbortController()
  /** What runs here, by kind and key. */
  const here = new Map<string, TakenJob>()
  const running = new Set<Promise<void>>()
  const loops: Promise<void>[] = []
  const wakers = new Map<string, Waker>()
  // `runWaiting` works off one job after the other.
  const collect = { ms: 0, timers }
  const report = oncePerMinute(timers, (error) => log.warn({ err: error }, 'The queue is waiting for the database.'))

  const idOf = (name: string, { key }: TakenJob) => `${name} ${key}`

  /**
   * Hands the new lease of a job to the run of it that is not over yet, and answers whether there is one. It runs again afterwards, because
   * requests since then are unknown.
   */
  const handOver = (name: string, job: TakenJob): boolean => {
    const same = here.get(idOf(name, job))
    if (same) Object.assign(same, { ticket: job.ticket, turn: 0 })
    return same !== undefined
  }

  const take = (name: string, most: number, urgentOnly = false): Promise<TakenJob[]> =>
    preparedRows(
      db,
      takenJob,
      sql`WITH free AS MATERIALIZED (
            SELECT name, key, place, not_before, ticket IS NOT NULL AS orphaned FROM jobs
            WHERE name = ${name} AND (place < 0 OR NOT ${urgentOnly}::boolean) AND ${free}
            ORDER BY place, not_before LIMIT ${most}::int FOR UPDATE SKIP LOCKED),
          taken AS (
            UPDATE jobs j SET ticket = gen_random_uuid(), lease_until = ${lease} FROM free
            WHERE j.name = free.name AND j.key = free.key
            RETURNING j.key, j.payload, j.ticket, j.turn, free.orphaned, free.place, free.not_before)
          SELECT key, payload, ticket, turn, orphaned FROM taken ORDER BY place, not_before`,
    )
  // Answers of each whether it was asked for meanwhile. Rows are locked by name and key, as the renewal of leases does, or the two could wait for each other.
  const done = batch({ concurrency: 1, size: 100, collect }, async (all: TakenJob[]) => {
    const left = await preparedRows(
      db,
      takenJob.pick({ ticket: true, turn: true }),
      sql`UPDATE jobs j SET turn = j.turn - mine.turn, ticket = NULL, lease_until = NULL, tries = 0, not_before = now()
          FROM (
            SELECT l.ticket, m.turn FROM ${byKeys(sql`unnest(${arrayText(all.map(({ ticket }) => ticket))}::uuid[], ${arrayText(all.map(({ turn }) => String(turn)))}::int[]) AS m (ticket, turn)`)} m
            JOIN jobs l ON l.ticket = m.ticket ORDER BY l.name, l.key FOR UPDATE OF l) mine
          WHERE j.ticket = mine.ticket RETURNING mine.ticket, j.turn`,
    )
    const again = new Set(left.flatMap(({ ticket, turn }) => (turn > 0 ? ticket : [])))
    return all.map(({ ticket }) => again.has(ticket))
  })
  /** A database outage does not count as a failed attempt. What no try can read is set aside for a day: a newer version may have sent it. */
  const failed = ({ ticket }: TakenJob, error: unknown) =>
    db.execute(sql`
      UPDATE jobs SET ticket = NULL, lease_until = NULL, tries = tries + ${isUnavailable(error) ? 0 : 1}::int,
        not_before = now() + CASE WHEN ${error instanceof UnreadablePayload}::boolean THEN interval '1 day'
          ELSE make_interval(secs => ${isUnavailable(error) ? 0 : 1}::int * least(60, 2 ^ least(tries, 6))::int) END
      WHERE ticket = ${ticket}::uuid`)

  /** Answers what it failed of, and whether it was asked for meanwhile. */
  const perform = async (one: Work, job: TakenJob): Promise<{ failure: { error: unknown } | null; again: boolean }> => {
    here.set(idOf(one.job.name, job), job)
    const run = () => actAs(null, () => one.run(job.payload, stopping.signal, job.orphaned))
    const traced = () => inTrace({ name: `job ${one.job.name}`, attributes: { 'duely.job.key': job.key } }, run)
    const failure = await onBehalfOf(job.key, traced).then(
      () => null,
      (error: unknown) => ({ error }),
    )
    if (failure)
      log[isUnavailable(failure.error) ? 'warn' : 'error']({ err: failure.error, job: one.job.name }, 'A job failed and will be retried.')
    let again = false
    for (;;) {
      const held = { ...job }
      try {
        if (failure) await failed(held, failure.error)
        else again = await done(held)
        // Taken again meanwhile: the new lease must be given up too.
        if (job.ticket === held.ticket) break
      } catch (error) {
        report(error)
        // Its lease expires.
        if (stopping.signal.aborted || !isUnavailable(error)) break
        await timers.pause(awayPause)
      }
    }
    here.delete(idOf(one.job.name, job))
    return { failure, again }
  }

  const serve = async (one: Work, waker: Waker): Promise<void> => {
    let busy = 0
    while (!stopping.signal.aborted) {
      const room = Math.min(takenAtOnce, one.concurrency - busy)
      const urgentRoom = Math.min(one.concurrency, 100) + one.concurrency - busy
      let taken: TakenJob[] = []
      try {
        if (room > 0) taken = await take(one.job.name, room)
        else if (urgentRoom > 0) taken = await take(one.job.name, urgentRoom, true)
      } catch (error) {
        report(error)
        await timers.pause(awayPause)
      }
      for (const job of taken) {
        if (handOver(one.job.name, job)) continue
        busy += 1
        const performing = perform(one, job).then(({ failure, again }) => {
          // Only then is there more to take that nothing else reports.
          if (failure || again || busy >= one.concurrency) waker.wake()
          busy -= 1
          running.delete(performing)
        })
        running.add(performing)
      }
      if (room > 0 && taken.length === room) continue
      await waker.wait()
    }
  }

  /** The kinds that have a free job: one statement for all. */
  const waiting = async (works: Work[]): Promise<Work[]> => {
    const found = await preparedRows(
      db,
      z.object({ name: z.string() }),
      sql`SELECT kind.name FROM unnest(${arrayText(works.map(({ job }) => job.name))}::text[]) AS kind (name)
          CROSS JOIN LATERAL (SELECT 1 FROM jobs WHERE jobs.name = kind.name AND ${free} LIMIT 1) waiting`,
    )
    const names = new Set(found.map(({ name }) => name))
    return works.filter(({ job }) => names.has(job.name))
  }

  /** Looks for jobs of others, and for those whose pause or lease is over. */
  const look = async (works: Work[]): Promise<void> => {
    while (!stopping.signal.aborted) {
      await timers.pause(idlePoll, stopping.signal)
      if (stopping.signal.aborted) break
      for (const { job } of (await waiting(works).catch(report)) ?? []) wakers.get(job.name)?.wake()
    }
  }

  const renew = async (): Promise<void> => {
    while (!stopping.signal.aborted || running.size > 0) {
      await timers.pause(renewSeconds * 1000, stopping.signal)
      if (here.size === 0) continue
      await db
        .execute(
          sql`UPDATE jobs j SET lease_until = ${lease} FROM (
                SELECT ticket FROM jobs WHERE ticket = ANY(${arrayText([...here.values()].map(({ ticket }) => ticket))}::uuid[]) ORDER BY name, key FOR UPDATE) mine
              WHERE j.ticket = mine.ticket`,
        )
        .catch(report)
      if (stopping.signal.aborted) await Promise.race([Promise.all(running), timers.pause(renewSeconds * 1000)])
    }
  }

  const sendMany: Queue['sendMany'] = async (tx, of, payloads, place = 0) => {
    const byKey = new Map(payloads.map((payload) => of.payload.parse(payload)).map((parsed) => [of.key(parsed), JSON.stringify(parsed)]))
    if (byKey.size === 0) return
    const sorted = [...byKey].toSorted(([a], [b]) => (a < b ? -1 : 1))
    await tx.execute(sql`
      INSERT INTO jobs (name, key, payload, place)
      SELECT ${of.name}, one.key, one.payload, ${place}::int
      FROM unnest(${arrayText(sorted.map(([key]) => key))}::text[], ${arrayText(sorted.map(([, payload]) => payload))}::jsonb[]) AS one (key, payload)
      ON CONFLICT (name, key) DO UPDATE SET turn = jobs.turn + 1, payload = excluded.payload, tries = CASE WHEN jobs.payload = excluded.payload THEN jobs.tries ELSE 0 END, place = CASE WHEN jobs.turn = 0 THEN excluded.place ELSE least(jobs.place, excluded.place) END`)
    wakers.get(of.name)?.hurry()
  }

  return {
    send: (tx, of, payload, place) => sendMany(tx, of, [payload], place),
    sendMany,
    start(works) {
      collect.ms = collectMs
      for (const one of works) {
        const waker = openWaker(timers)
        wakers.set(one.job.name, waker)
        loops.push(serve(one, waker))
      }
      loops.push(look(works), renew())
    },
    async runWaiting(works) {
      let count = 0
      for (const one of await waiting(works))
        for (const job of await take(one.job.name, 10)) {
          if (handOver(one.job.name, job)) continue
          const { failure } = await perform(one, job)
          if (failure) throw failure.error
          count += 1
        }
      return count
    },
    async tidy() {
      await db.execute(sql`DELETE FROM jobs WHERE turn = 0`)
    },
    async stop() {
      stopping.abort()
      for (const waker of wakers.values()) waker.wake()
      const stopped = new AbortController()
      await Promise.race([Promise.all([...loops, ...running]), timers.pause(stopPatience, stopped.signal)])
      stopped.abort()
    },
  }
}

interface Waker {
  /** There is something to look for. */
  wake(): void
  /** There will be, as soon as a transaction has ended. */
  hurry(): void
  /** Returns when there is. */
  wait(): Promise<void>
}

function openWaker(timers: Timers): Waker {
  let hurriedAt = Number.NEGATIVE_INFINITY
  let woken = false
  let go: (() => void) | null = null
  const wake = () => {
    woken = true
    go?.()
  }
  return {
    wake,
    hurry() {
      hurriedAt = timers.elapsed()
      wake()
    },
    async wait() {
      if (!woken) {
        const { promise, resolve } = Promise.withResolvers<void>()
        go = resolve
        // Most transactions end soon: after 20, 40, 80, 160 and 320 ms.
        const since = timers.elapsed() - hurriedAt
        const cancel = since < hurry ? timers.after(Math.max(hurriedPoll, since), resolve) : null
        await promise
        cancel?.()
        go = null
      }
      woken = false
    },
  }
}

/** During an outage the queue would log the same error several times a second. */
function oncePerMinute(timers: Timers, say: (error: unknown) => void): (error: unknown) => void {
  let last = Number.NEGATIVE_INFINITY
  return (error) => {
    if (timers.elapsed() - last < 60_000) return
    last = timers.elapsed()
    say(error)
  }
}
