import type { EnterHeavyCall } from '#server/platform/answer.ts'
import type { Deps } from '#server/platform/deps.ts'
import { ProblemError } from '#server/platform/problem-error.ts'
import { refusals } from './texts.ts'
import { countOne, secondsUntil } from './throttle.ts'

/** Heavy calls of one account: in a minute over all processes; at a time in a process, and how many more may wait for one of those to end. */
const rate = { limit: 60, seconds: 60 }
const atOnce = 2
const mostWaiting = 8
/** How long a call waits, in ms, and when one that is refused for it should be sent again, in seconds. */
const patience = 5_000
const busyRetry = 2

interface Line {
  running: number
  waiting: (() => void)[]
}

/**
 * Limits the calls that read or write many records: they take memory and time that other accounts need. Refuses with `too_many`, and says when to try
 * again. A call ends when its answer was sent, however slowly it is read.
 */
export function openHeavyCalls({ db, clock, config }: Pick<Deps, 'db' | 'clock' | 'config'>): EnterHeavyCall {
  const lines = new Map<string, Line>()
  const leave = (ownerId: string, line: Line) => {
    const next = line.waiting.shift()
    if (next) return next()
    line.running -= 1
    if (line.running === 0) lines.delete(ownerId)
  }
  return async (ownerId, reply) => {
    const now = clock.now()
    const counted = config.rateLimit ? await countOne(db, `heavy:${ownerId}`, rate.seconds, now) : null
    if (counted && counted.count > rate.limit) {
      const seconds = secondsUntil(counted.until, now)
      throw new ProblemError('too_many', refusals.tooManyHeavy(rate.limit, seconds), { retryAfter: seconds })
    }
    const line = lines.get(ownerId) ?? { running: 0, waiting: [] }
    lines.set(ownerId, line)
    if (line.running < atOnce) line.running += 1
    else await queueUp(line)
    const release = once(() => leave(ownerId, line))
    reply.raw.once('finish', release).once('close', release)
    if (reply.raw.destroyed) release()
  }
}

function queueUp(line: Line): Promise<void> {
  const busy = () => new ProblemError('too_many', refusals.busyHeavy, { retryAfter: busyRetry })
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
