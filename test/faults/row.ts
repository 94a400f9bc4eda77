import { setTimeout as pause } from 'node:timers/promises'
import pLimit from 'p-limit'
import { expect, test } from 'vitest'
import { seeded } from '#test/seeded.ts'

declare module 'vitest' {
  interface TaskMeta {
    /** What docs/reliability.md shows of a row. */
    row?: { number: string; name: string; criterion: string; figure?: string }
  }
}

interface RowOptions {
  /** Part of the short selection, which `npm test` runs. */
  short?: boolean
  /** How many rows of its file may run at the same time: 6 where a row mostly waits, also beside those of other files. Without it a row runs alone. */
  concurrent?: 6 | 2
}

/** What a row works with. */
export interface Trial {
  /** Names the criterion, for docs/reliability.md: what must hold, in figures. */
  mustHold(criterion: string): void
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
/** Which rows: those that mostly wait, the others, or all. */
const lane = process.env.RELIABILITY_LANE ?? 'all'
const seed = Number(process.env.RELIABILITY_SEED ?? 1)
/** Only what hangs takes that long, however busy the machine is. */
const limit = 900
const twoAtOnce = pLimit(2)

type Run = (trial: Trial) => Promise<{ figure: string; holds: boolean }>

/** One row of docs/reliability.md: a fault or an attack, with its figure and whether its criterion holds. */
export function row(number: string, name: string, ...rest: [Run] | [RowOptions, Run]): void {
  const [{ short = false, concurrent }, run] = rest.length === 1 ? [{}, rest[0]] : rest
  const atOnce = concurrent === 2 ? twoAtOnce : (work: () => Promise<void>) => work()
  const wanted = lane === 'all' || (concurrent === 6) === (lane === 'waiting')
  test.runIf(wanted && (full || short))(`row ${number}: ${name}`, { concurrent: concurrent !== undefined }, ({ task, signal, skip }) =>
    atOnce(async () => {
      const about: NonNullable<typeof task.meta.row> = { number, name, criterion: '' }
      task.meta.row = about
      await using stack = new AsyncDisposableStack()
      const over = AbortSignal.any([signal, AbortSignal.timeout(limit * 1000)])
      const trial: Trial = {
        mustHold: (criterion) => Object.assign(about, { criterion }),
        random: seeded(seed + Number.parseInt(number, 10) * 1_000),
        short: !full,
        stack,
        signal: over,
        skip: (reason) => skip(reason),
        until: (what, look, options) => until(over, what, look, options),
      }
      const { figure, holds } = await Promise.race([run(trial), untilOver(over)])
      about.figure = figure
      expect(holds, `${figure}. Must hold: ${about.criterion}`).toBe(true)
    }),
  )
}

async function until<T>(
  signal: AbortSignal,
  what: string,
  look: () => T | Promise<T>,
  { seconds: most = Number.POSITIVE_INFINITY, everyMs = 50 }: { seconds?: number; everyMs?: number } = {},
): Promise<NonNullable<T>> {
  const began = performance.now()
  for (;;) {
    const found = await look()
    if (found) return found
    if (signal.aborted) throw new Error(`Gave up waiting until ${what}.`)
    if (performance.now() - began > most * 1000) throw new Error(`Not within ${most} s: ${what}.`)
    await pause(everyMs)
  }
}

function untilOver(signal: AbortSignal): Promise<never> {
  return new Promise((_resolve, reject) => {
    // One second later, so that a wait that gives up can name what it waited for.
    signal.addEventListener('abort', () => setTimeout(() => reject(new Error(`Not finished after ${limit} s.`)), 1_000).unref())
  })
}

/** The value below which this share of all values lies. */
export function percentile(values: number[], share: number): number {
  const sorted = [...values].sort((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0
}

export const seconds = (ms: number) => `${(ms / 1000).toFixed(1)} s`
