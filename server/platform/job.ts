import { type SQL, sql } from 'drizzle-orm'
import { fromDrizzle, fromPglite, PgBoss, type Job as QueuedJob } from 'pg-boss'
import type { z } from 'zod'
import { type Database, impatientSocket, type OpenDatabase } from './database.ts'
import type { Log } from './log.ts'

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

/** A job and what is done when it comes. */
export interface Work {
  job: Job
  run(payload: unknown, signal: AbortSignal): Promise<void>
  /** How many at a time in this process. */
  concurrency: number
}

export function work<S extends z.ZodType>(
  of: Job<S>,
  concurrency: number,
  run: (payload: z.output<S>, signal: AbortSignal) => Promise<void>,
): Work {
  return { job: of as Job, concurrency, run: (payload, signal) => run(of.payload.parse(payload), signal) }
}

export interface Queue {
  /** Enqueues within the transaction that gives the job its reason to exist. */
  send<S extends z.ZodType>(tx: Database, of: Job<S>, payload: z.input<S>): Promise<void>
  /** Starts to work jobs off, until `stop`. */
  start(works: Work[]): Promise<void>
  /** Takes jobs from processes that have been silent for too long, at once. */
  recover(): Promise<void>
  /** Works off what is waiting, once, and answers how many jobs that were. */
  runWaiting(works: Work[]): Promise<number>
  stop(): Promise<void>
}

/** A job whose process has been silent for so long is somebody else's: the shortest that pg-boss knows. */
const heartbeatSeconds = 10

/** While its database is away the queue reports the same several times a second. */
function oncePerMinute(say: (error: Error) => void): (error: Error) => void {
  const said = new Map<string, number>()
  return (error) => {
    const now = performance.now()
    const { code = error.message } = error as Error & { code?: string }
    if (now - (said.get(code) ?? -60_000) < 60_000) return
    if (said.size > 100) said.clear()
    said.set(code, now)
    say(error)
  }
}

/** Goes on to the driver: without it a query on a connection that the network has swallowed is waited for as long as the process lives. */
const sound = { stream: impatientSocket, keepAlive: true }

/** pg-boss on the same database. One job active and one waiting per key; a job of a dead process is taken over after its heartbeat. */
export async function openQueue(database: OpenDatabase, options: { url: string | null; jobs: Job[]; log: Log }): Promise<Queue> {
  const boss = new PgBoss({
    ...(database.embedded
      ? { db: fromPglite(database.embedded), backend: 'pglite' as const }
      : { connectionString: options.url ?? '', max: 3, application_name: 'duely-queue', ...sound }),
    // `recover` supervises, and nobody else: see there.
    supervise: false,
    superviseIntervalSeconds: 10,
    monitorIntervalSeconds: 10,
    queueCacheIntervalSeconds: 2,
    schedule: false,
    useListenNotify: true,
  })
  boss.on(
    'error',
    oncePerMinute((error) => options.log.error({ err: error }, 'The queue reported an error.')),
  )
  await boss.start()
  for (const { name } of options.jobs) {
    await boss.createQueue(name, {
      policy: 'stately',
      notify: true,
      retryLimit: 1_000_000,
      retryDelay: 1,
      retryBackoff: true,
      retryDelayMax: 60,
      heartbeatSeconds,
      expireInSeconds: 3600,
      deleteAfterSeconds: 60,
    })
    // At the first send to a queue pg-boss reads it through the outer handle: inside a transaction of the embedded database that would wait for ever.
    await boss.findJobs(name, { key: '' })
    // The embedded database has no other process: a job that is active there belongs to nobody. What is due is woken anew by the sweep.
    if (database.embedded) await boss.deleteAllJobs(name)
  }

  const stopping = new AbortController()
  const run = async (one: Work, waiting: QueuedJob<unknown>) => {
    try {
      await one.run(waiting.data, stopping.signal)
    } catch (error) {
      options.log.error({ err: error, job: one.job.name }, 'A job failed and will be tried again.')
      throw error
    }
  }
  return {
    async send(tx, of, payload) {
      const parsed = of.payload.parse(payload)
      const inside = { execute: async (statement: SQL) => (await tx.execute(statement)) as { rows: object[] } }
      await boss.send(of.name, parsed as object, { db: fromDrizzle(inside, sql), singletonKey: of.key(parsed) })
    },
    async start(works) {
      for (const one of works) {
        await boss.work(
          one.job.name,
          { localConcurrency: one.concurrency, pollingIntervalSeconds: 1, notifyPollingIntervalSeconds: 5, heartbeatRefreshSeconds: 3 },
          async ([waiting]: QueuedJob<unknown>[]) => {
            if (waiting) await run(one, waiting)
          },
        )
      }
    },
    async recover() {
      for (const { name } of options.jobs) await boss.supervise(name)
      // pg-boss remembers which keys were active when it last looked, and fetches nothing of theirs until it looks again: a mailbox that was
      // busy at that moment would stand still for a minute. Its index alone keeps two jobs of one key from being active.
      await database.db.execute(sql`UPDATE pgboss.queue SET singletons_active = NULL WHERE singletons_active IS NOT NULL`)
    },
    async runWaiting(works) {
      let done = 0
      for (const one of works) {
        for (const waiting of await boss.fetch<unknown>(one.job.name, { batchSize: 10 })) {
          await run(one, waiting)
          await boss.complete(one.job.name, waiting.id)
          done += 1
        }
      }
      return done
    },
    async stop() {
      stopping.abort()
      await boss.stop({ graceful: true, timeout: 8_000, close: true })
    },
  }
}
