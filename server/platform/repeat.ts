import type { Timers } from './clock.ts'
import { isUnavailable } from './database.ts'
import type { Log } from './log.ts'

export interface Repeating {
  /** Lets a turn that has begun finish, then ends. */
  stop(): Promise<void>
}

/**
 * Does something again and again, one turn after the other with a pause in between, or a shorter one in ms where the turn returns it; a turn
 * that fails is logged and the next one comes.
 */
export function repeat(
  name: string,
  about: { everySeconds: number; log: Log; timers: Timers },
  turn: () => Promise<number | void>,
): Repeating {
  const stopping = new AbortController()
  const loop = async () => {
    while (!stopping.signal.aborted) {
      let wait = about.everySeconds * 1000
      try {
        wait = Math.min(wait, (await turn()) ?? wait)
      } catch (error) {
        // A database outage ends without help, and every call reports it too.
        const level = isUnavailable(error) ? 'warn' : 'error'
        about.log[level]({ err: error, turn: name }, 'A background task failed and will run again.')
      }
      await about.timers.pause(wait, stopping.signal)
    }
  }
  const running = loop()
  return {
    async stop() {
      stopping.abort()
      await running
    },
  }
}
