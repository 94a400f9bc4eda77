import { AsyncLocalStorage } from 'node:async_hooks'

/** For whom the running code works; null: for many, or for the program. */
const working = new AsyncLocalStorage<string | null>()

/** Does this work for an account, or for an address before its session is known: it waits for its turns behind those who used less. */
export function onBehalfOf<T>(who: string, work: () => T): T {
  return working.run(who, work)
}

/** Does this work for many: no one of them decides how long the others wait. */
export function forMany<T>(work: () => T): T {
  return working.run(null, work)
}

/** A place that many share, such as one of the connections of a pool. */
export interface Turns {
  /** Waits for a place and answers how to return it. Rejects after `patienceMs` of waiting. */
  take(): Promise<() => void>
}

interface Hold {
  who: string | null
  since: number
}

interface Waiting {
  who: string | null
  since: number
  go(): void
}

/** Use is halved this often, in ms: long enough that a person's minute of work is little beside that of a program that never rests. */
const halvedEvery = 30_000
/** Work waits as if it had come so many ms later for each ms of places that the same account used. */
const laterPerUse = 5

/**
 * Hands out `places`. Work that waits is served in the order in which it came, but as if an account that used places had come later: one that
 * asks little does not wait for those that ask much, and none waits without end. Work for many goes first. An account holds at most half of
 * the places: its calls wait for each other's locks, and a place that waits serves no one.
 */
export function openTurns({ places, patienceMs }: { places: number; patienceMs?: number }): Turns {
  /** Milliseconds of places that were returned. */
  const used = new Map<string, number>()
  const holds = new Set<Hold>()
  const waiting: Waiting[] = []
  const mostOfOne = Math.ceil(places / 2)
  let halvedAt = performance.now()

  const mayHold = (who: string | null) => who === null || [...holds].reduce((sum, hold) => sum + Number(hold.who === who), 0) < mostOfOne

  const usageOf = (who: string, now: number): number => {
    let sum = used.get(who) ?? 0
    for (const hold of holds) if (hold.who === who) sum += now - hold.since
    return sum
  }
  const forget = (now: number) => {
    if (now - halvedAt < halvedEvery) return
    halvedAt = now
    for (const [who, ms] of used)
      if (ms > 1) used.set(who, ms / 2)
      else used.delete(who)
  }
  const hold = (who: string | null) => {
    const mine: Hold = { who, since: performance.now() }
    holds.add(mine)
    return () => {
      if (!holds.delete(mine)) return
      const now = performance.now()
      forget(now)
      if (who !== null) used.set(who, (used.get(who) ?? 0) + now - mine.since)
      next(now)
    }
  }
  const earliest = (now: number): Waiting | undefined => {
    const [first, ...others] = waiting.flatMap((one) =>
      one.who !== null && mayHold(one.who) ? { one, from: one.since + laterPerUse * usageOf(one.who, now) } : [],
    )
    return first && others.reduce((best, other) => (other.from < best.from ? other : best), first).one
  }
  const next = (now: number) => {
    while (holds.size < places) {
      const one = waiting.find(({ who }) => who === null) ?? earliest(now)
      if (!one) return
      waiting.splice(waiting.indexOf(one), 1)
      one.go()
    }
  }

  return {
    async take() {
      const who = working.getStore() ?? null
      if (holds.size < places && mayHold(who)) return hold(who)
      return new Promise((resolve, reject) => {
        const one: Waiting = {
          who,
          since: performance.now(),
          go() {
            clearTimeout(timer)
            resolve(hold(who))
          },
        }
        const giveUp = () => {
          waiting.splice(waiting.indexOf(one), 1)
          reject(new Error(`No turn within ${patienceMs} ms.`))
        }
        const timer = patienceMs === undefined ? undefined : setTimeout(giveUp, patienceMs)
        waiting.push(one)
      })
    },
  }
}
