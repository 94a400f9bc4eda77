import crypto from 'node:crypto'
import { syncBuiltinESMExports } from 'node:module'
import timersPromises from 'node:timers/promises'
import type { Timers } from '#server/platform/clock.ts'
import { type Chance, openChance } from './chance.ts'

const turnOfNode = setImmediate
const dateNow = Date.now
/** Turns of Node's loop without anything new after which all that can happen at one moment has happened. */
const quietTurns = 3

interface Timer {
  at: number
  /** In the order in which they were set. */
  nth: number
  then(): void
}

/**
 * The machine on which all processes of a simulation run: its time passes when nothing is left to do, and its chance is the seed's. All that
 * Node's own modules say of time and chance comes from it, because the embedded database and packages ask these.
 */
export class Machine {
  /** Milliseconds that have passed. */
  elapsed = 0
  #wall: number
  #chance: Chance = openChance('')
  #nth = 0
  #timers: Timer[] = []
  #activity = 0

  constructor() {
    this.#wall = 0
    this.#install()
  }

  /** Begins a simulation: no timer of the one before is left. */
  reset(start: number, chance: Chance): void {
    this.#wall = start - this.elapsed
    this.#chance = chance
    this.#timers = []
    this.#nth = 0
  }

  /** The wall clock, in ms since the epoch. */
  now(): number {
    return this.#wall + Math.floor(this.elapsed)
  }

  /** Sets the wall clock, as an administrator or a time server does. */
  setClock(by: number): void {
    this.#wall += by
  }

  /** Something was done; what follows from it must be waited for. */
  note(): void {
    this.#activity += 1
  }

  get pending(): number {
    return this.#timers.length
  }

  after(ms: number, then: () => void): () => void {
    const timer = { at: this.elapsed + Math.max(0, ms), nth: this.#nth++, then }
    this.#timers.push(timer)
    this.note()
    return () => {
      const at = this.#timers.indexOf(timer)
      if (at >= 0) this.#timers.splice(at, 1)
    }
  }

  /** For the far ends and the people, which no crash of a process stops. */
  readonly timers: Timers = {
    elapsed: () => this.elapsed,
    after: (ms, then) => this.after(ms, then),
    pause: (ms, until) => pauseBy((at, then) => this.after(at, then), ms, until),
  }

  /** Waits until nothing more happens at this moment. */
  async settle(): Promise<void> {
    let seen = -1
    for (let quiet = 0; quiet < quietTurns; quiet += 1) {
      if (seen !== this.#activity) quiet = 0
      seen = this.#activity
      await new Promise((resolve) => turnOfNode(resolve))
    }
  }

  /** Lets time pass to the next timer, at most to `until`. Answers false once that is reached. */
  async step(until: number): Promise<boolean> {
    await this.settle()
    const next = this.#timers.reduce<Timer | null>(
      (first, one) => (first === null || one.at < first.at || (one.at === first.at && one.nth < first.nth) ? one : first),
      null,
    )
    if (!next || next.at > until) {
      this.elapsed = Math.max(this.elapsed, until)
      return false
    }
    this.elapsed = Math.max(this.elapsed, next.at)
    this.#timers.splice(this.#timers.indexOf(next), 1)
    next.then()
    return true
  }

  /** The machine sleeps: its timers are late afterwards. */
  sleep(ms: number): void {
    this.elapsed += ms
  }

  #install(): void {
    const fill = (into: Uint8Array) => {
      into.set(this.#chance.bytes(into.length))
      return into
    }
    const uuid = (bytes: Buffer, version: number) => {
      bytes.writeUInt8((bytes.readUInt8(6) & 0x0f) | (version << 4), 6)
      bytes.writeUInt8((bytes.readUInt8(8) & 0x3f) | 0x80, 8)
      const hex = bytes.toString('hex')
      return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`
    }
    Object.assign(Date, { now: () => (this.#wall === 0 ? dateNow() : this.now()) })
    Object.defineProperty(performance, 'now', { value: () => this.elapsed })
    Object.assign(Math, { random: () => this.#chance.next() })
    Object.assign(crypto, {
      randomBytes: (size: number) => this.#chance.bytes(size),
      randomFillSync: fill,
      randomInt: (least: number, most?: number) =>
        most === undefined ? this.#chance.int(0, least - 1) : this.#chance.int(least, most - 1),
      randomUUID: () => uuid(this.#chance.bytes(16), 4),
      randomUUIDv7: () => {
        const bytes = this.#chance.bytes(16)
        bytes.writeUIntBE(this.now(), 0, 6)
        return uuid(bytes, 7)
      },
    })
    // What is not handed timers, such as the deadline of one call, never outlives the process that waits for it by much.
    const set = (then: (...args: unknown[]) => void, ms = 0, ...args: unknown[]) => {
      const cancel = this.after(ms, () => then(...args))
      const timer = { cancel, unref: () => timer, ref: () => timer, hasRef: () => true, refresh: () => timer, [Symbol.dispose]: cancel }
      return timer
    }
    Object.assign(globalThis, {
      setTimeout: set,
      clearTimeout: (timer?: { cancel?(): void }) => timer?.cancel?.(),
    })
    Object.assign(timersPromises, {
      setTimeout: (ms: number, value: unknown, { signal }: { signal?: AbortSignal } = {}) =>
        this.timers.pause(ms, signal).then(() => {
          signal?.throwIfAborted()
          return value
        }),
    })
    Object.assign(AbortSignal, {
      timeout: (ms: number) => {
        const over = new AbortController()
        this.after(ms, () => over.abort(new DOMException('The operation was aborted due to timeout', 'TimeoutError')))
        return over.signal
      },
    })
    syncBuiltinESMExports()
  }
}

/** `pause` of `Timers`, by their `after`. */
export function pauseBy(after: Timers['after'], ms: number, until?: AbortSignal): Promise<void> {
  if (until?.aborted) return Promise.resolve()
  return new Promise((resolve) => {
    const end = () => {
      cancel()
      until?.removeEventListener('abort', end)
      resolve()
    }
    const cancel = after(ms, end)
    until?.addEventListener('abort', end)
  })
}
