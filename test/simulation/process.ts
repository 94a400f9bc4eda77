import type { PGlite } from '@electric-sql/pglite'
import { DrizzleQueryError } from 'drizzle-orm'
import { drizzle } from 'drizzle-orm/pglite'
import type { Config } from '#server/config.ts'
import type { WebhookNetwork } from '#server/integrations/http-client.ts'
import { limitsOf } from '#server/mail/mail.ts'
import type { Mailer } from '#server/mail/mailer.ts'
import type { Clock } from '#server/platform/clock.ts'
import { newId } from '#server/platform/columns.ts'
import type { Database } from '#server/platform/database.ts'
import { openQueue, type Queue } from '#server/platform/job.ts'
import type { Log } from '#server/platform/log.ts'
import { openSending } from '#server/reminders/sending.ts'
import { startWorker } from '#server/worker.ts'
import type { Chance } from './chance.ts'
import { type Machine, pauseBy } from './machine.ts'

/** What a planted fault does to a statement: null leaves it as it is. `lost`: it is answered, and has no effect. */
export type Tamper = (statement: string) => { text: string } | 'lost' | null

/** Of a whole transaction. */
export type TamperCommit = (statements: string[]) => 'lost' | null

export interface Surroundings {
  machine: Machine
  /** The database, which outlives every process. */
  engine: PGlite
  chance: Chance
  config: Config
  log: Log
  /** Each process has connections of its own to the mail servers. */
  mailer(of: SimulatedProcess): Mailer
  webhookNetwork(of: SimulatedProcess): WebhookNetwork
  trace(line: string): void
  tamper: Tamper | null
  tamperCommit: TamperCommit | null
  /** Whether the database belongs to one process, as the embedded one does. */
  soleProcess: boolean
}

/** The database cannot be reached: neither a server nor the embedded engine would say so. */
class Unreachable extends Error {}

/** The process was ended, so its transaction is rolled back. */
class Ended extends Error {}

/** What changes no answer but that of the health check, and would be a third of all work: time passes by hours between two statements. */
const withoutEffect = /^\s*(?:VACUUM ANALYZE|INSERT INTO steps )/

const never = new Promise<never>(() => undefined)

/**
 * The program in the background, on ports that can end at any point that is awaited: from then on nothing of it is answered, no timer of it
 * comes, and what it has in hand stays as it is.
 */
export class SimulatedProcess {
  readonly nth: number
  readonly world: Surroundings
  readonly id: string
  readonly clock: Clock
  readonly db: Database
  queue: Queue | null = null
  /** From outside: whether it lives, and whether it is frozen, as by SIGSTOP. */
  alive = true
  #thaw: PromiseWithResolvers<void> | null = null
  /** After so many further points it is killed. */
  #killIn = Number.POSITIVE_INFINITY
  /** Until when its database cannot be reached. */
  #awayUntil = 0
  readonly #ended = Promise.withResolvers<never>()
  #worker: { stop(): Promise<void> } | null = null

  /** `ahead`: by how many ms its clock is ahead of the machine's. */
  constructor(nth: number, world: Surroundings, ahead: number) {
    this.nth = nth
    this.world = world
    const { machine, engine } = world
    this.#ended.promise.catch(() => undefined)
    const after: Clock['after'] = (ms, then) => {
      let cancelled = false
      const fire = () => {
        if (!this.alive || cancelled) return
        if (this.#thaw) void this.#thaw.promise.then(fire)
        else then()
      }
      const cancel = machine.after(ms, fire)
      return () => {
        cancelled = true
        cancel()
      }
    }
    this.clock = {
      now: () => Temporal.Instant.fromEpochMilliseconds(machine.now() + ahead),
      elapsed: () => machine.elapsed,
      after,
      pause: (ms, until) => pauseBy(after, ms, until),
    }
    this.id = newId()
    this.db = drizzle(this.#portOf(engine), { casing: 'snake_case' })
  }

  async start(): Promise<void> {
    const { config, log, chance, mailer, webhookNetwork, soleProcess } = this.world
    const { clock, db } = this
    const queue = await openQueue({ db, log, soleProcess, timers: clock })
    this.queue = queue
    const deps = { db, clock, queue, config, log }
    this.#worker = await startWorker({
      ...deps,
      ...openSending(deps, { processId: this.id, embedded: soleProcess }),
      mailer: mailer(this),
      processId: this.id,
      random: () => chance.next(),
      limitsOf,
      soleProcess,
      pulse: db,
      webhookNetwork: webhookNetwork(this),
    })
  }

  /** As SIGTERM does. */
  async stop(): Promise<void> {
    await this.#worker?.stop()
    this.kill('stopped')
  }

  kill(how = 'killed'): void {
    if (!this.alive) return
    this.world.trace(`process ${this.nth} ${how}`)
    this.alive = false
    this.#ended.reject(new Ended())
  }

  killAfter(points: number): void {
    this.#killIn = points
  }

  loseDatabase(ms: number): void {
    this.world.trace(`process ${this.nth} loses the database for ${ms} ms`)
    this.#awayUntil = this.world.machine.elapsed + ms
  }

  freeze(ms: number): void {
    if (this.#thaw) return
    this.world.trace(`process ${this.nth} frozen for ${ms} ms`)
    const thaw = Promise.withResolvers<void>()
    this.#thaw = thaw
    this.world.machine.after(ms, () => {
      this.#thaw = null
      this.world.trace(`process ${this.nth} resumes`)
      thaw.resolve()
    })
  }

  /** A point at which it may be killed, or is frozen: what called it gets no answer, or a late one. */
  async point(): Promise<void> {
    this.world.machine.note()
    this.#killIn -= 1
    if (this.#killIn <= 0) this.kill()
    if (!this.alive) await never
    while (this.#thaw) await this.#thaw.promise
  }

  /** Outside a transaction; on one connection, what is frozen within would stop all others. */
  async #reach(): Promise<void> {
    await this.point()
    if (this.world.machine.elapsed < this.#awayUntil) throw new Unreachable('The database cannot be reached.')
  }

  #portOf(engine: PGlite): PGlite {
    const { machine } = this.world
    const statement = async (on: Pick<PGlite, 'query'>, args: Parameters<PGlite['query']>) => {
      const [text, values, options] = args
      if (withoutEffect.test(text)) return { rows: [], fields: [], affectedRows: 0 }
      const tampered = this.world.tamper?.(text) ?? null
      if (tampered === 'lost') return { rows: [], fields: [], affectedRows: 0 }
      try {
        return await on.query(tampered?.text ?? text, values, options)
      } finally {
        machine.note()
      }
    }
    const query = async (...args: Parameters<PGlite['query']>) => {
      await this.#reach()
      const answer = await statement(engine, args)
      await this.#reach()
      return answer
    }
    // As drizzle reports that BEGIN or COMMIT did not reach the server.
    const begun = () =>
      this.#reach().catch((error: Error) => {
        throw new DrizzleQueryError('begin or commit', [], error)
      })
    const transaction = async (work: (tx: unknown) => Promise<unknown>) => {
      await begun()
      const said: string[] = []
      const lost = new Error('A commit was lost.')
      let answer: unknown
      const running = engine.transaction(async (tx) => {
        const inside = async (...args: Parameters<PGlite['query']>) => {
          machine.note()
          this.#killIn -= 1
          if (this.#killIn <= 0) this.kill()
          // What it was to do is rolled back by the end of the race below.
          if (!this.alive) return never
          if (machine.elapsed < this.#awayUntil) throw new Unreachable('The database cannot be reached.')
          said.push(args[0])
          return statement(tx, args)
        }
        const guarded = new Proxy(tx, {
          get: (target, name) => (name === 'query' ? inside : (Reflect.get(target, name, target) as unknown)),
        })
        answer = await Promise.race([work(guarded), this.#ended.promise])
        if (this.world.tamperCommit?.(said) === 'lost') throw lost
        return answer
      })
      await running.catch((error: unknown) => {
        machine.note()
        if (error !== lost && !(error instanceof Ended)) throw error
      })
      machine.note()
      // Also where it was committed: whether it was is not known then.
      await begun()
      return answer
    }
    return new Proxy(engine, {
      get: (target, name) => {
        if (name === 'query') return query
        if (name === 'transaction') return transaction
        const value: unknown = Reflect.get(target, name, target)
        return typeof value === 'function' ? (value.bind(target) as unknown) : value
      },
    })
  }
}
