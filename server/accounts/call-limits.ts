import type { FastifyReply } from 'fastify'
import type { CallLimits } from '#server/platform/answer.ts'
import type { Deps } from '#server/platform/deps.ts'
import { ProblemError } from '#server/platform/problem-error.ts'
import { onBehalfOf, openTurns } from '#server/platform/turns.ts'
import { refusals } from './texts.ts'
import { countOne, secondsUntil } from './throttle.ts'

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
/** Heavy calls of one account in a minute over all processes. */
const heavyRate = { limit: 60, seconds: 60 }
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
export function openCallLimits({ db, clock, config }: Pick<Deps, 'db' | 'clock' | 'config'>): CallLimits {
  const enter = inLine(calls)
  const enterHeavy = inLine(heavyCalls)
  const turns = openTurns(together)
  const count = countCalls()
  return {
    async enter(ownerId, reply) {
      if (config.rateLimit) count(ownerId, clock.now().epochMilliseconds)
      await enter(ownerId, reply)
    },
    async enterHeavy(ownerId, reply, { counted: counts = true } = {}) {
      const now = clock.now()
      const counted = config.rateLimit && counts ? await countOne(db, `heavy:${ownerId}`, heavyRate.seconds, now) : null
      if (counted && counted.count > heavyRate.limit) {
        const seconds = secondsUntil(counted.until, now)
        throw new ProblemError('too_many', refusals.tooManyHeavy(heavyRate.limit, seconds), { retryAfter: seconds })
      }
      await enterHeavy(ownerId, reply)
      const leave = await onBehalfOf(ownerId, () => turns.take()).catch(() => {
        throw new ProblemError('too_many', refusals.busyServer, { retryAfter: busyRetry })
      })
      untilAnswered(reply, leave, together.longest)
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

function inLine(limit: Limit): (ownerId: string, reply: FastifyReply) => Promise<void> {
  const lines = new Map<string, Line>()
  const leave = (ownerId: string, line: Line) => {
    const next = line.waiting.shift()
    if (next) return next()
    line.running -= 1
    if (line.running === 0) lines.delete(ownerId)
  }
  return async (ownerId, reply) => {
    const line = lines.get(ownerId) ?? { running: 0, waiting: [] }
    lines.set(ownerId, line)
    if (line.running < limit.atOnce) line.running += 1
    else await queueUp(line, limit)
    untilAnswered(
      reply,
      once(() => leave(ownerId, line)),
    )
  }
}

/** Calls `release`, which may be called more than once, when the answer was sent, or after so many ms. */
function untilAnswered(reply: FastifyReply, release: () => void, longest?: number): void {
  const timer = longest === undefined ? undefined : setTimeout(release, longest).unref()
  const ended = () => {
    clearTimeout(timer)
    release()
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
