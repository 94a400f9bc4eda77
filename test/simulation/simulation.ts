import { createHash } from 'node:crypto'
import type { PGlite } from '@electric-sql/pglite'
import { drizzle } from 'drizzle-orm/pglite'
import { type Config, readConfig } from '#server/config.ts'
import { isUnavailable } from '#server/platform/database.ts'
import type { Deps } from '#server/platform/deps.ts'
import { openQueue } from '#server/platform/job.ts'
import { type Log, openLog } from '#server/platform/log.ts'
import { type Chance, openChance } from './chance.ts'
import type { Machine } from './machine.ts'
import { type MailServers, type Mood, openMailServers } from './mail-servers.ts'
import { Broken, checkCalls, checkDatabase, checkEmails, checkRecorded } from './oracle.ts'
import { openPayments, type Payments } from './payments.ts'
import { anOwner, beginnings, type Deed, isRefusal, type Owner, someDeed, suddenDeed, zones } from './people.ts'
import type { Plant } from './plants.ts'
import { SimulatedProcess, type Surroundings } from './process.ts'
import { openReceivers, type Receivers } from './receivers.ts'

export interface SimulationOptions {
  seed: number
  days: number
  accounts: number
  /** What a planted fault does to statements. */
  plant?: Plant
  /** Called after each day that passed, with the number of emails sent so far. */
  onDay?: (day: number, emails: number) => void
}

export interface SimulationResult {
  /** Null where every promise was kept. */
  broken: string | null
  /** The last lines of the trace. */
  trace: string[]
  /** A hash of the whole trace. */
  fingerprint: string
  emails: number
  statements: number
}

const day = 24 * 3_600_000
/** In days. Replaces autovacuum, at a fixed time so that a seed can be repeated. Statements are then planned again for the current table sizes. */
const cleanEvery = 5
/** How many of the last lines of a trace are kept. */
const keptLines = 200
/** For so long, in ms, a process is given to do what has come. */
const patience = 100_000
const hosts = ['smtp1.example.com', 'smtp2.example.com', 'smtp3.example.com']

/** Runs one simulation on an empty, migrated database. */
export async function simulate(machine: Machine, engine: PGlite, options: SimulationOptions): Promise<SimulationResult> {
  return new Simulation(machine, engine, options).run()
}

/** Before the simulation begins, a refusal is no fault. */
function refused(error: unknown): void {
  if (!isRefusal(error)) throw error
}

class Simulation {
  readonly machine: Machine
  readonly engine: PGlite
  readonly options: SimulationOptions
  readonly #chance: Chance
  readonly #interrupting: Chance
  readonly #world: Surroundings
  readonly #servers: MailServers
  readonly #receivers: Receivers
  readonly #payments: Payments
  readonly #owners: Owner[] = []
  readonly #hash = createHash('sha256')
  readonly #lines: string[] = []
  readonly #errors: string[] = []
  /** When something happened that may keep an answer from being recorded, in elapsed ms. */
  readonly #disturbed: number[] = []
  readonly #everAccepted = new Set<string>()
  #processes: SimulatedProcess[] = []
  #made = 0
  #count = 0
  #statements = 0
  #emails = 0
  /** How much goes wrong, from 0 to 1. */
  readonly #trouble: number

  constructor(machine: Machine, engine: PGlite, options: SimulationOptions) {
    this.machine = machine
    this.engine = engine
    this.options = options
    this.#chance = openChance(`${options.seed}`)
    this.#interrupting = this.#chance.of('interrupting')
    const soleProcess = this.#chance.is(0.5)
    this.#trouble = this.#chance.pick([0, 0.3, 1])
    const start = Date.UTC(2026, 0, 1) + this.#chance.int(0, 730) * day
    machine.reset(start, this.#chance.of('process'))
    const trace = (line: string) => this.#trace(line)
    this.#payments = openPayments({ machine, chance: this.#chance.of('provider'), trace })
    Object.assign(globalThis, { fetch: this.#payments.fetch })
    const read: Config = readConfig({
      PORT: '0',
      SECRET_KEY: 'a secret key for simulations, 32 letters',
      RATE_LIMIT: 'off',
      HOOK_ALLOW_PRIVATE_HOSTS: 'true',
    })
    // Without a provider there are no plans, and everything is allowed.
    const config = { ...read, razorpay: this.#chance.is(0.5) ? this.#payments.settings : null }
    this.#servers = openMailServers({
      machine,
      engine,
      chance: this.#chance.of('mail'),
      trace,
      count: this.#next,
      onConnect: (ownerId) => this.#interrupt(ownerId),
    })
    this.#receivers = openReceivers({ machine, chance: this.#chance.of('receivers'), trace })
    const { tamper = null, tamperCommit = null } = options.plant ?? {}
    this.#world = {
      machine,
      engine,
      chance: this.#chance.of('retries'),
      config,
      log: this.#openLog(),
      mailer: this.#servers.mailer,
      webhookNetwork: this.#receivers.network,
      trace,
      tamper: (statement) => {
        this.#statements += 1
        return tamper?.(statement) ?? null
      },
      tamperCommit,
      soleProcess,
    }
    trace(`seed ${options.seed}: ${soleProcess ? 'one process' : 'two processes'}, trouble ${this.#trouble}`)
  }

  async run(): Promise<SimulationResult> {
    let broken: string | null = null
    try {
      await this.#makeOwners()
      for (let nth = 1; nth <= this.options.days; nth += 1) {
        await this.#day()
        if (nth % cleanEvery === 0) await this.engine.exec('VACUUM ANALYZE')
        this.options.onDay?.(nth, this.#emails)
      }
    } catch (error) {
      if (!(error instanceof Broken)) throw error
      broken = error.message
      this.#trace(`broken: ${broken}`)
    } finally {
      for (const one of this.#processes) one.kill('ended with the simulation')
      await this.machine.settle()
    }
    const fingerprint = this.#hash.digest('hex').slice(0, 16)
    return { broken, trace: this.#lines, fingerprint, emails: this.#emails, statements: this.#statements }
  }

  /** The place of something among all that happens. */
  readonly #next = () => this.#count++

  #trace(line: string): void {
    // Killed, frozen, resumed or cut off: that may come long after it was decided.
    if (line.startsWith('process ')) this.#disturbed.push(this.machine.elapsed)
    const whole = `${new Date(this.machine.now()).toISOString()} ${line}`
    this.#hash.update(`${whole} ${this.#statements}\n`)
    this.#lines.push(whole)
    if (this.#lines.length > keptLines) this.#lines.shift()
  }

  #openLog(): Log {
    return openLog({
      level: 'info',
      terminal: false,
      destination: {
        write: (line) => {
          const { level, msg, err } = JSON.parse(line) as { level: number; msg: string; err?: { message?: string } }
          this.#trace(`log ${level} ${msg}`)
          if (level >= 50) this.#errors.push(`${msg} ${JSON.stringify(err)?.slice(0, 600) ?? ''}`)
        },
      },
    })
  }

  async #makeOwners(): Promise<void> {
    const db = drizzle(this.engine, { casing: 'snake_case' })
    const clock = { ...this.machine.timers, now: () => Temporal.Instant.fromEpochMilliseconds(this.machine.now()) }
    const queue = await openQueue({ db, log: this.#world.log, soleProcess: true, timers: clock })
    const chance = this.#chance.of('owners')
    const some = Array.from({ length: Math.min(zones.length, 1 + Math.floor(this.options.accounts / 4)) }, () => chance.pick(zones))
    for (let nth = 1; nth <= this.options.accounts; nth += 1) {
      const now = Temporal.Instant.fromEpochMilliseconds(this.machine.now())
      const owner = await anOwner(db, chance, { nth, now, secretKey: this.#world.config.secretKey, zones: some })
      this.#owners.push(owner)
      for (const deed of beginnings(owner, chance)) await deed.do({ ...this.#world, db, clock, queue }).catch(refused)
    }
    await this.#startProcesses()
  }

  async #startProcesses(): Promise<void> {
    const wanted = this.#world.soleProcess ? 1 : 2
    this.#processes = this.#processes.filter(({ alive }) => alive)
    while (this.#processes.length < wanted) {
      this.#made += 1
      const process = new SimulatedProcess(this.#made, this.#world, this.#world.soleProcess ? 0 : this.#chance.int(-400, 400))
      this.#processes.push(process)
      this.#trace(`process ${process.nth} starts`)
      void process.start().catch((error: unknown) => {
        this.#trace(`process ${process.nth} could not start: ${String(error)}`)
        process.kill('gave up')
      })
    }
  }

  async #day(): Promise<void> {
    const { machine } = this
    const chance = this.#chance.of(`day ${machine.now()}`)
    const end = machine.now() + day
    // Few moments of many deeds: each moment costs as much as all that is done at it.
    const moments = Array.from(
      { length: 1 + Math.ceil(this.options.accounts / 10) - Number(this.options.accounts < 3) },
      () => machine.now() + chance.int(0, day - 3_600_000),
    )
    const deeds = this.#owners
      .flatMap((owner) => Array.from({ length: chance.int(owner.invoices.length < 3 ? 2 : 0, 3) }, () => owner))
      .map((owner) => ({ owner, at: chance.pick(moments) }))
      .sort((a, b) => a.at - b.at || a.owner.nth - b.owner.nth)
    while (machine.now() < end) {
      if (chance.is(0.04 * this.#trouble)) this.#setClock(chance.pick([-3_600_000, -120_000, -1_000, 1_000, 90_000, 1_800_000]))
      const due = Math.min((await this.#nextDue()) ?? end, deeds[0]?.at ?? end, end)
      const wait = due - machine.now()
      // Mostly its timers are late; sometimes it wakes before.
      if (wait > 2_000) machine.sleep(this.#chance.is(0.2) ? wait - this.#chance.int(0, 1_500) : wait + this.#chance.int(0, 30))
      this.#disturb(chance)
      while (deeds[0] && deeds[0].at <= machine.now() + 2_000) {
        const { owner } = deeds.shift() as (typeof deeds)[number]
        const buys = this.#world.config.razorpay !== null && chance.is(0.1)
        this.#begin(owner, buys ? this.#payments.buying(owner) : someDeed(owner, chance, this.#next))
      }
      this.#sendEvents()
      await this.#work(due)
    }
    await this.#check()
  }

  /** The provider's events come to one of the processes. */
  #sendEvents(): void {
    const process = this.#chance.pick(this.#processes)
    if (process.queue)
      void this.#payments.sendEvents({ ...this.#world, db: process.db, clock: process.clock, queue: process.queue }).catch(() => undefined)
  }

  /** An owner does something at the moment when an email of theirs is about to leave. */
  #interrupt(ownerId: string): void {
    const chance = this.#interrupting
    const owner = this.#owners.find(({ id }) => id === ownerId)
    if (!owner || !chance.is(0.1)) return
    this.machine.after(chance.int(0, 40), () => {
      const deed = suddenDeed(owner, chance, this.#next)
      if (deed) this.#begin(owner, deed)
    })
  }

  /** Something goes wrong while the next piece of work is done. */
  #disturb(chance: Chance): void {
    if (!chance.is(0.25 * this.#trouble)) return
    const process = chance.pick(this.#processes)
    const { machine } = this
    this.#disturbed.push(machine.elapsed)
    switch (chance.int(0, 7)) {
      case 0:
      case 1:
        process.killAfter(chance.int(1, chance.pick([30, 120, 400])))
        break
      case 2:
        machine.after(chance.int(0, 3_000), () => {
          this.#disturbed.push(machine.elapsed)
          if (this.#world.soleProcess) process.loseDatabase(chance.int(100, 9_000))
          else process.freeze(chance.int(500, 45_000))
        })
        break
      case 3:
        machine.after(chance.int(0, 3_000), () => process.loseDatabase(chance.int(50, 20_000)))
        break
      case 4:
        void process.stop()
        break
      case 6:
        this.#payments.mood = chance.pick(['well', 'down', 'silent'])
        this.#trace(`the provider is ${this.#payments.mood}`)
        machine.after(chance.int(1_000, 3_600_000), () => {
          this.#payments.mood = 'well'
        })
        break
      case 5:
        this.#receivers.mood = chance.pick(['well', 'down', 'failing', 'silent'])
        this.#trace(`the receivers are ${this.#receivers.mood}`)
        machine.after(chance.int(1_000, 3_600_000), () => {
          this.#receivers.mood = 'well'
        })
        break
      default: {
        const host = chance.pick(hosts)
        const mood = chance.pick<Mood>(['well', 'slow', 'down', 'busy', 'answers get lost', 'full', 'refuses login'])
        this.#trace(`${host} is ${mood}`)
        this.#servers.moods.set(host, mood)
        this.machine.after(chance.int(60_000, 5 * 3_600_000), () => {
          this.#trace(`${host} is well`)
          this.#servers.moods.set(host, 'well')
        })
      }
    }
  }

  #setClock(by: number): void {
    this.#trace(`the clock is set by ${by} ms`)
    this.#disturbed.push(this.machine.elapsed)
    this.machine.setClock(by)
  }

  /** An owner does something at one of the processes, and does it again until it is answered. */
  #begin(owner: Owner, deed: Deed): void {
    this.#trace(`owner ${owner.nth} ${deed.name}`)
    const again = async (): Promise<void> => {
      for (let tries = 0; tries < 5; tries += 1) {
        const process = this.#chance.pick(this.#processes)
        if (process.queue) {
          const deps: Deps = { ...this.#world, db: process.db, clock: process.clock, queue: process.queue }
          const answered = deed.do(deps).then(
            () => 'done' as const,
            (error: unknown) => {
              if (isRefusal(error)) return 'refused' as const
              if (!isUnavailable(error)) this.#errors.push(`owner ${owner.nth} ${deed.name}: ${String(error)}`)
              return 'failed' as const
            },
          )
          const said = await Promise.race([answered, this.machine.timers.pause(20_000).then(() => 'nothing' as const)])
          this.#trace(`owner ${owner.nth} ${deed.name}: ${said}`)
          if (said === 'done' || said === 'refused') return
        }
        await this.machine.timers.pause(2_000)
      }
    }
    void again()
  }

  /** Lets the processes work until all is done that is due. */
  async #work(due: number): Promise<void> {
    const { machine } = this
    const most = machine.elapsed + patience
    const least = Math.min(most, machine.elapsed + Math.max(0, due - machine.now()) + 120)
    for (let until = least; machine.elapsed < most; until = Math.min(most, machine.elapsed + 300)) {
      let more = true
      while (more) {
        more = await machine.step(until)
        if (this.#processes.some(({ alive }) => !alive)) await this.#startProcesses()
      }
      if (this.#processes.every(({ alive }) => alive) && (await this.#isQuiet())) return
    }
  }

  async #isQuiet(): Promise<boolean> {
    const now = Temporal.Instant.fromEpochMilliseconds(this.machine.now()).toString()
    const { rows } = await this.engine.query<{ quiet: boolean }>(
      `SELECT NOT EXISTS (SELECT 1 FROM jobs WHERE turn > 0 AND (tries = 0 OR not_before <= now()))
         AND NOT EXISTS (SELECT 1 FROM deliveries WHERE state = 'sending' AND claimed_by IS NOT NULL)
         AND NOT EXISTS (SELECT 1 FROM deliveries WHERE state IN ('queued', 'retrying') AND attempt >= 0 AND next_try_at <= $1::timestamptz)
         AND NOT EXISTS (SELECT 1 FROM deliveries WHERE state IN ('queued', 'retrying', 'held') AND attempt >= 0 AND deadline_at <= $1::timestamptz)
         AND NOT EXISTS (SELECT 1 FROM accounts WHERE next_run_at <= $1::timestamptz OR next_midnight_at <= $1::timestamptz)
         AND NOT EXISTS (SELECT 1 FROM payment_events WHERE handled_at IS NULL) AND NOT EXISTS (SELECT 1 FROM purchases WHERE next_check_at <= $1::timestamptz)
         AND NOT EXISTS (SELECT 1 FROM hook_events WHERE payload IS NULL) AND NOT EXISTS (SELECT 1 FROM hook_deliveries WHERE state = 'waiting' AND attempt >= 0 AND next_try_at <= $1::timestamptz)
         AND NOT EXISTS (SELECT 1 FROM runs WHERE planned_at IS NULL) AS quiet`,
      [now],
    )
    return rows[0]?.quiet ?? false
  }

  /** The next instant, in ms, for which something is planned. */
  async #nextDue(): Promise<number | null> {
    const now = Temporal.Instant.fromEpochMilliseconds(this.machine.now()).toString()
    const { rows } = await this.engine.query<{ at: number | null }>(
      `SELECT extract(epoch FROM min(at)) * 1000 AS at FROM (
         SELECT next_run_at AS at FROM accounts UNION ALL SELECT next_midnight_at FROM accounts
         UNION ALL SELECT next_try_at FROM deliveries WHERE state IN ('queued', 'retrying') AND attempt >= 0
         UNION ALL SELECT deadline_at FROM deliveries WHERE state IN ('queued', 'retrying', 'held') AND attempt >= 0
         UNION ALL SELECT next_try_at FROM hook_deliveries WHERE state = 'waiting' AND attempt >= 0 UNION ALL SELECT next_check_at FROM purchases UNION ALL SELECT paused_until FROM mail_configs UNION ALL SELECT not_before FROM jobs WHERE turn > 0) due WHERE at > $1::timestamptz`,
      [now],
    )
    const at = rows[0]?.at
    return at == null ? null : Number(at)
  }

  async #check(): Promise<void> {
    const { machine, engine } = this
    const owners = this.#owners
    const now = Temporal.Instant.fromEpochMilliseconds(machine.now())
    const { accepted } = this.#servers
    this.#trace(`the day ends: ${accepted.length} emails were accepted in three days`)
    if (this.#errors.length > 0) throw new Broken(`an error was logged or answered: ${this.#errors[0]}`)
    for (const { about } of accepted) if (about) this.#everAccepted.add(about.deliveryId)
    const between = (from: number, to: number) => this.#disturbed.some((at) => at > from - 300_000 && at < to)
    checkEmails(accepted, owners, (from, to) => !from.answered || between(from.elapsed, to.elapsed))
    await checkRecorded({ engine, owners, now }, accepted, this.#everAccepted, ({ elapsed }) => between(elapsed, elapsed + 300_000))
    await checkDatabase({ engine, owners, now })
    await this.#payments.check(engine)
    const { accepted: calls } = this.#receivers
    await checkCalls({ engine, owners, now }, calls, (from, to) => !from.answered || between(from.elapsed, to.elapsed))
    calls.splice(0, Number.POSITIVE_INFINITY, ...calls.filter(({ elapsed }) => elapsed > machine.elapsed - 3 * day))
    this.#emails += accepted.filter(({ at }) => at > machine.now() - day).length
    const kept = accepted.filter(({ at }) => at > machine.now() - 3 * day)
    this.#servers.accepted.splice(0, Number.POSITIVE_INFINITY, ...kept)
    if (machine.pending > 200 + 50 * owners.length) throw new Broken(`${machine.pending} timers are pending`)
  }
}
