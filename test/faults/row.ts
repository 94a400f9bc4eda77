import { setTimeout as pause } from 'node:timers/promises'
import pLimit from 'p-limit'
import { expect, type TestContext, test } from 'vitest'

declare module 'vitest' {
  interface TaskMeta {
    /** What docs/reliability.md shows of a row. */
    row?: { number: string; name: string; criterion: string; figure?: string }
  }
}

export interface RowOptions {
  /** What must hold, in figures. */
  criterion: string
  /** Part of the short selection, which `npm test` runs. */
  short?: boolean
  /** How many rows of its kind may run at the same time: 6 where a row mostly waits. Without it a row runs alone. */
  concurrent?: 6 | 2
  /** The row fails after this many seconds; 300 by default. */
  seconds?: number
}

/** What a row works with. */
export interface Trial {
  /** A number in [0, 1); the same seed gives the same sequence. */
  random(): number
  /** Fewer emails, for the short selection. */
  short: boolean
  /** Disposed of when the row ends, however it ends. */
  stack: AsyncDisposableStack
  /** Aborted when the row's time is up. */
  signal: AbortSignal
  /** Waits until `look` finds something; fails after `seconds`, by default when the row's time is up. */
  until<T>(what: string, look: () => T | Promise<T>, about?: { seconds?: number; everyMs?: number }): Promise<NonNullable<T>>
  /** Ends the row as one that this machine cannot run. */
  skip(reason: string): never
}

/** All rows at full size, as `npm run chaos` and `npm run attack` ask for; else the short selection. */
const full = process.env.RELIABILITY === 'full'
const seed = Number(process.env.RELIABILITY_SEED ?? 1)
const twoAtOnce = pLimit(2)

/** One row of docs/reliability.md: a fault or an attack, with its figure and whether its criterion holds. */
export function row(
  number: string,
  name: string,
  { criterion, short = false, concurrent, seconds: limit = 300 }: RowOptions,
  run: (trial: Trial) => Promise<{ figure: string; holds: boolean }>,
): void {
  const lane = concurrent === 2 ? twoAtOnce : (work: () => Promise<void>) => work()
  test.runIf(full || short)(`row ${number}: ${name}`, { concurrent: concurrent !== undefined }, ({ task, signal, skip }) =>
    lane(async () => {
      const about = { number, name, criterion }
      task.meta.row = about
      await using stack = new AsyncDisposableStack()
      const over = AbortSignal.any([signal, AbortSignal.timeout(limit * 1000)])
      const trial = trialOf(number, { stack, signal: over, skip })
      const { figure, holds } = await Promise.race([run(trial), untilOver(over, limit)])
      task.meta.row = { ...about, figure }
      expect(holds, `${figure}. Must hold: ${criterion}`).toBe(true)
    }),
  )
}

function trialOf(number: string, { stack, signal, skip }: Pick<Trial, 'stack' | 'signal'> & Pick<TestContext, 'skip'>): Trial {
  return {
    random: seeded(seed + Number.parseInt(number, 10) * 1_000),
    short: !full,
    stack,
    signal,
    skip: (reason) => skip(reason),
    async until(what, look, { seconds: most = Number.POSITIVE_INFINITY, everyMs = 50 } = {}) {
      const began = performance.now()
      for (;;) {
        const found = await look()
        if (found) return found
        if (signal.aborted) throw new Error(`Gave up waiting until ${what}.`)
        if (performance.now() - began > most * 1000) throw new Error(`Not within ${most} s: ${what}.`)
        await pause(everyMs)
      }
    },
  }
}

function untilOver(signal: AbortSignal, limit: number): Promise<never> {
  return new Promise((_resolve, reject) => {
    // One second later, so that a wait that gives up can name what it waited for.
    signal.addEventListener('abort', () => setTimeout(() => reject(new Error(`Not finished after ${limit} s.`)), 1_000).unref())
  })
}

/** Mulberry32: small, and the same everywhere. */
function seeded(start: number): () => number {
  let state = start >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
}

/** The value below which this share of all values lies. */
export function percentile(values: number[], share: number): number {
  const sorted = [...values].sort((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0
}

export const seconds = (ms: number) => `${(ms / 1000).toFixed(1)} s`
