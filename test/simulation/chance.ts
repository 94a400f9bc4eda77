import { createHash } from 'node:crypto'
import { seeded } from '#test/seeded.ts'

/** Chance that a seed decides. Each name has a sequence of its own, so that one draw more of one kind leaves the others as they were. */
export interface Chance {
  /** From 0 to below 1. */
  next(): number
  /** A whole number from `least` to `most`, both included. */
  int(least: number, most: number): number
  /** True with this probability. */
  is(probability: number): boolean
  pick<T>(of: readonly T[]): T
  /** So many random bytes. */
  bytes(size: number): Buffer
  of(name: string): Chance
}

export function openChance(seed: string): Chance {
  const next = seeded(createHash('sha256').update(seed).digest().readUInt32LE())
  const int = (least: number, most: number) => least + Math.floor(next() * (most - least + 1))
  return {
    next,
    int,
    is: (probability) => next() < probability,
    pick: (of) => {
      const chosen = of[int(0, of.length - 1)]
      if (chosen === undefined) throw new Error('There is nothing to choose from.')
      return chosen
    },
    bytes: (size) => Buffer.from(Array.from({ length: size }, () => int(0, 255))),
    of: (name) => openChance(`${seed}/${name}`),
  }
}
