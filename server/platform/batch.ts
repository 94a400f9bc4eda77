import type { Timers } from './clock.ts'
import { isUnavailable } from './database.ts'
import { forMany } from './turns.ts'

interface Waiting<In, Out> {
  input: In
  resolve(output: Out): void
  reject(error: unknown): void
}

/**
 * Collects calls that are made at the same time into one (the DataLoader pattern), for work whose cost is per statement and not per row. While
 * fewer than `concurrency` are running, it starts with all calls of the same turn of the event loop, or after a time of collecting; later ones wait
 * and run together, at most `size` at a time. `work` must answer in the order of its input; if it throws, every call of the batch rejects. With
 * `alone` each of several is then done on its own, so that one which cannot be done fails none of the others; not where the database is away.
 */
export function batch<In, Out>(
  limits: { concurrency: number; size: number; collect?: { ms: number; timers: Timers }; alone?: boolean },
  work: (inputs: In[]) => Promise<Out[]>,
): (input: In) => Promise<Out> {
  const waiting: Waiting<In, Out>[] = []
  let running = 0
  let collecting = false
  const collect = (): void => {
    if (waiting.length >= limits.size) next()
    if (collecting || waiting.length === 0) return
    collecting = true
    const start = () => {
      collecting = false
      next()
    }
    if (limits.collect?.ms) limits.collect.timers.after(limits.collect.ms, start)
    else queueMicrotask(start)
  }
  const perform = async (together: Waiting<In, Out>[]): Promise<void> => {
    try {
      const outputs = await work(together.map(({ input }) => input))
      for (const [at, output] of outputs.entries()) together[at]?.resolve(output)
    } catch (error) {
      if (limits.alone && together.length > 1 && !isUnavailable(error)) for (const one of together) await perform([one])
      else for (const { reject } of together) reject(error)
    }
  }
  const next = (): void => {
    if (running >= limits.concurrency || waiting.length === 0) return
    const together = waiting.splice(0, limits.size)
    running += 1
    void forMany(() => perform(together)).finally(() => {
      running -= 1
      collect()
    })
  }
  return (input) =>
    new Promise((resolve, reject) => {
      waiting.push({ input, resolve, reject })
      collect()
    })
}
