import { setTimeout as pause } from 'node:timers/promises'

/** A point in time; what timestamptz columns hold. */
export type Instant = Temporal.Instant

/** How a process waits. What runs in the background is handed it, so that it also runs on a time other than the machine's. */
export interface Timers {
  /** Milliseconds since some moment. They never run backwards, also where the clock is set back. */
  elapsed(): number
  /** Calls `then` once, after so many ms, unless it is cancelled by what it returns. */
  after(ms: number, then: () => void): () => void
  /** Resolves after so many ms, or as soon as `until` is aborted. */
  pause(ms: number, until?: AbortSignal): Promise<void>
}

/** Business time is handed in: what decides about people's email never asks the machine itself. */
export interface Clock extends Timers {
  now(): Instant
}

export const systemTimers: Timers = {
  elapsed: () => performance.now(),
  after(ms, then) {
    const timer = setTimeout(then, ms)
    return () => clearTimeout(timer)
  },
  pause: (ms, until) => pause(ms, undefined, until && { signal: until }).catch(() => undefined),
}

export const systemClock: Clock = { ...systemTimers, now: () => Temporal.Now.instant() }
