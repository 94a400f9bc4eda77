/** A point in time; what timestamptz columns hold. */
export type Instant = Temporal.Instant

/** Business time is handed in: what decides about people's mail never asks the machine itself. */
export interface Clock {
  now(): Instant
}

export const systemClock: Clock = { now: () => Temporal.Now.instant() }
