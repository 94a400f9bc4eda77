import { setTimeout as pause } from 'node:timers/promises'
import type { ReceivedMail } from '#test/fakes/smtp-server.ts'
import type { Cluster } from './cluster.ts'

/** One fault or attack that sending must survive. */
export interface Scenario {
  /** The row of the plan that it proves, with a word where a row is proved more than once: `1`, `1 embedded`. */
  row: string
  name: string
  /** What must hold, in figures. */
  criterion: string
  /** So many of its kind may run at the same time: 6 of those that mostly wait; one unless said otherwise. */
  atOnce?: 6 | 2
  /** Part of the short selection. */
  short?: boolean
  /** It is given up after so many seconds; 300 unless said otherwise. */
  seconds?: number
  run(chaos: Chaos): Promise<Finding>
}

/** What came out: the figures and whether the criterion holds; or why it could not be tried here. */
export type Finding = { figure: string; holds: boolean } | { skipped: string }

/** What a scenario works with. */
export interface Chaos {
  /** A number in [0, 1); the same seed gives the same ones. */
  random(): number
  /** Fewer mails, for the short selection. */
  short: boolean
  /** The PostgreSQL server that scenarios share; null where this machine has none. */
  cluster: Cluster | null
  /** An address of this machine that counts as one of the public internet; null where none could be had. */
  publicAddress: string | null
  /** Whatever is opened is closed when the scenario ends, however it ends. */
  stack: AsyncDisposableStack
  /** Set once the scenario's time is over. */
  over: AbortSignal
}

/** Waits until `look` finds something; gives up after so many seconds, naming what it waited for. */
export async function until<T>(
  what: string,
  about: { seconds: number; over?: AbortSignal; everyMs?: number },
  look: () => T | Promise<T>,
): Promise<NonNullable<T>> {
  const began = performance.now()
  for (;;) {
    const found = await look()
    if (found) return found
    if (about.over?.aborted) throw new Error(`Gave up waiting: ${what}.`)
    if (performance.now() - began > about.seconds * 1000) throw new Error(`Not within ${about.seconds} s: ${what}.`)
    await pause(about.everyMs ?? 50)
  }
}

/** How what arrived compares with what should have. */
export interface Tally {
  expected: number
  /** Recipients who got nothing. */
  lost: number
  /** Mails beyond the first one to a recipient. */
  repeated: number
  /** Repeated mails that differ from the first in a byte or in their Message-ID. */
  different: number
  /** Mails to somebody who should have got none. */
  strange: number
}

/** Counts mails by recipient. */
export function tally(mails: ReceivedMail[], expected: Iterable<string>): Tally {
  const byRecipient = Map.groupBy(mails, ({ envelope }) => envelope.to[0] ?? '')
  const wanted = new Set(expected)
  let [repeated, different, strange] = [0, 0, 0]
  for (const [to, same] of byRecipient) {
    if (!wanted.has(to)) strange += same.length
    repeated += same.length - 1
    const [first] = same
    if (first) different += same.filter((mail) => mail.messageId !== first.messageId || !mail.raw.equals(first.raw)).length
  }
  return { expected: wanted.size, lost: [...wanted].filter((to) => !byRecipient.has(to)).length, repeated, different, strange }
}

export function wordsOf({ expected, lost, repeated, different, strange }: Tally): string {
  return `${expected} mails: lost ${lost}, repeated ${repeated}${different > 0 ? ` (${different} of them not the same bytes)` : ''}${strange > 0 ? `, to nobody's order ${strange}` : ''}`
}

/** Nothing lost, nothing for nobody, and at most so many repeated, each byte for byte. */
export function keptItsWord(counted: Tally, mostRepeated: number): boolean {
  return counted.lost === 0 && counted.strange === 0 && counted.different === 0 && counted.repeated <= mostRepeated
}

/** Mulberry32: small, and the same everywhere. */
export function seeded(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
}

/** The value below which nine of ten, 95 of a hundred … lie. */
export function percentile(values: number[], share: number): number {
  const sorted = [...values].sort((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0
}

export const seconds = (ms: number) => `${(ms / 1000).toFixed(1)} s`
