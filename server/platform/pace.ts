import { setImmediate } from 'node:timers/promises'

/** Divides long work of the main thread into stretches, between which other calls are answered. */
export interface Pace {
  /** Waits for the others once so many units were done since the last time. A unit takes well under a microsecond: a character that is read. */
  did(units: number): Promise<void> | undefined
}

/** Some 5 ms of work. */
const stretch = 20_000

export function openPace(rest: () => Promise<unknown> = setImmediate): Pace {
  let done = 0
  return {
    did(units) {
      done += units
      if (done < stretch) return undefined
      done = 0
      return rest().then(() => undefined)
    },
  }
}
