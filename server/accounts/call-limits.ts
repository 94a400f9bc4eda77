import type { FastifyReply } from 'fastify'
import type { CallLimits } from '#server/platform/answer.ts'
import type { Deps } from '#server/platform/deps.ts'
import { ProblemError } from '#server/platform/problem-error.ts'
import { onBehalfOf, openTurns } from '#server/platform/turns.ts'
import { measureWork, ownWork } from '#server/platform/work.ts'
import { refusals } from './texts.ts'
import { countOf, countSome, secondsUntil } from './throttle.ts'

interface Limit {
  /** Calls of one account in one process at a time, how many more may wait for one of them to end, and for how long in ms. */
  atOnce: number
  mostWaiting: number
  patience: number
  refused: (atOnce: number) => string
}

/** As many as a browser has connections, so that only programs wait, and fewer than the pool has, because calls of one account wait for its row. */
const calls: Limit = { atOnce: 6, mostWaiting: 200, patience: 20_000, refused: refusals.busy }
/** Calls of one account in a minute in one process: ten times what a browser makes while it loads 50,000 invoices page by page. */
const rate = { limit: 1_200, ms: 60_000 }
const heavyCalls: Limit = { atOnce: 2, mostWaiting: 8, patience: 5_000, refused: refusals.busyHeavy }
/**
 * What the heavy calls of one account may work in a minute over all processes, in ms of CPU: a quarter of a core. Importing 2,000 invoices takes
 * one second, matching and recording a bank file of 10,000 lines ten.
 */
const heavyWork = { ms: 15_000, seconds: 60 }
/**
 * Heavy calls of all accounts in one process at a time, by turns, because each takes up to a second of a core. A place is returned after
 * `longest` ms, however slowly the answer is read.
 */
const together = { places: 3, patienceMs: 20_000, longest: 5_000 }
/** When a call that was refused because others run should be sent again, in seconds. */
const busyRetry = 2

interface Line {
  running: number
  waiting: (() => void)[]
}

/**
 * Limits the calls of one account, because they take connections, memory and time that others need; further ones those that read or write many records. Refuses
 * with `too_many`, and says when to try again. A call ends when its answer was sent, however slowly it is read.
 */
export function openCallLimits(
  { db, clock, config }: Pick<Deps, 'db' | 'clock' | 'config'>,
  { workMs = heavyWork.ms }: { workMs?: number } = {},
): CallLimits {
  const enter = inLine(calls)
  const enterHeavy = inLine(heavyCalls)
  const turns = openTurns(together)
  const count = countCalls()
  const entered = new WeakSet<FastifyReply>()
  const refuseBeyond = async (key: string) => {
    const now = clock.now()
    const { count: used, until } = await countOf(db, key, now)
    if (used < workMs) return
    const seconds = secondsUntil(until, now)
    throw new ProblemError('too_many', refusals.tooMuchWork(workMs / 1_000, seconds), { retryAfter: seconds })
  }
  return {
    async enter(ownerId, reply) {
      if (config.rateLimit) count(ownerId, clock.now().epochMilliseconds)
      untilAnswered(reply, await enter(ownerId))
    },
    async enterHeavy(ownerId, reply) {
      if (entered.has(reply)) return
      entered.add(reply)
      const leave = await enterHeavy(ownerId)
      const work = ownWork()
      const key = `work:${ownerId}`
      let measured = () => undefined as void
      // The next one enters once the work of this one is stored. Where that fails, the database answers no calls either.
      const record = async () => {
        measured()
        if (config.rateLimit && work.ms > 0) await countSome(db, key, { some: Math.ceil(work.ms), seconds: heavyWork.seconds }, clock.now())
      }
      untilAnswered(
        reply,
        once(
          () =>
            void record()
              .catch(() => undefined)
              .finally(leave),
        ),
      )
      if (config.rateLimit) await refuseBeyond(key)
      const giveBack = await onBehalfOf(ownerId, () => turns.take()).catch(() => {
        throw new ProblemError('too_many', refusals.busyServer, { retryAfter: busyRetry })
      })
      untilAnswered(reply, giveBack, together.longest)
      // Nothing is done yet, and the answer has no reader.
      if (reply.raw.destroyed) throw new ProblemError('too_many', refusals.busyServer, { retryAfter: busyRetry })
      if (config.rateLimit) measured = measureWork()
    },
  }
}

/** Counts in memory, because storing each call costs more than most calls. All counts start again together. */
function countCalls(): (ownerId: string, nowMs: number) => void {
  let minute = { until: 0, counts: new Map<string, number>() }
  return (ownerId, nowMs) => {
    if (nowMs >= minute.until || nowMs < minute.until - rate.ms) minute = { until: nowMs + rate.ms, counts: new Map() }
    const count = (minute.counts.get(ownerId) ?? 0) + 1
    minute.counts.set(ownerId, count)
    if (count <= rate.limit) return
    const seconds = Math.ceil((minute.until - nowMs) / 1000)
    throw new ProblemError('too_many', refusals.tooManyCalls(rate.limit, seconds), { retryAfter: seconds })
  }
}

/** Waits for a place of an account, and answers how to return it. */
function inLine(limit: Limit): (ownerId: string) => Promise<() => void> {
  const lines = new Map<string, Line>()
  const leave = (ownerId: string, line: Line) => {
    const next = line.waiting.shift()
    if (next) return next()
    line.running -= 1
    if (line.running === 0) lines.delete(ownerId)
  }
  return async (ownerId) => {
    const line = lines.get(ownerId) ?? { running: 0, waiting: [] }
    lines.set(ownerId, line)
    if (line.running < limit.atOnce) line.running += 1
    else await queueUp(line, limit)
    return once(() => leave(ownerId, line))
  }
}

/** Calls `release`, which may be called more than once, when the call was handled and its answer sent, or after so many ms. */
function untilAnswered(reply: FastifyReply, release: () => void, longest?: number): void {
  const timer = longest === undefined ? undefined : setTimeout(release, longest).unref()
  const ended = () => {
    clearTimeout(timer)
    // A client that is gone does not end the work for it.
    if (reply.handling) void reply.handling.then(release, release)
    else release()
  }
  reply.raw.once('finish', ended).once('close', ended)
  if (reply.raw.destroyed) ended()
}

function queueUp(line: Line, { atOnce, mostWaiting, patience, refused }: Limit): Promise<void> {
  const busy = () => new ProblemError('too_many', refused(atOnce), { retryAfter: busyRetry })
  if (line.waiting.length >= mostWaiting) throw busy()
  return new Promise((resolve, reject) => {
    const go = () => {
      clearTimeout(timer)
      resolve()
    }
    const timer = setTimeout(() => {
      line.waiting.splice(line.waiting.indexOf(go), 1)
      reject(busy())
    }, patience)
    line.waiting.push(go)
  })
}

function once(work: () => void): () => void {
  let done = false
  return () => {
    if (done) return
    done = true
    work()
  }
}
