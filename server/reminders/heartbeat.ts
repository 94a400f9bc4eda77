import type { Deps } from '#server/platform/deps.ts'

/** The address is asked this often at most, in seconds. */
const everySeconds = 60
const patience = 10_000

/**
 * Asks the address that watches over this server from outside, after a check for due runs: when it is not asked any more, its operator hears
 * of it from there. A failure is logged and changes nothing.
 */
export function openHeartbeat({ config, clock, log }: Pick<Deps, 'config' | 'clock' | 'log'>): () => Promise<void> {
  let last: Temporal.Instant | null = null
  return async () => {
    const now = clock.now()
    const { heartbeatUrl } = config
    if (heartbeatUrl === null || (last && Math.abs(now.since(last).total('seconds')) < everySeconds)) return
    last = now
    try {
      const { ok, status, body } = await fetch(heartbeatUrl, { signal: AbortSignal.timeout(patience), redirect: 'manual' })
      // Unread, it would keep its connection.
      await body?.cancel()
      if (!ok) log.warn({ status }, 'HEARTBEAT_URL did not accept the heartbeat.')
    } catch (error) {
      // Its message may name the address, whose path is a secret.
      log.warn({ code: (error as { cause?: { code?: string } }).cause?.code }, 'HEARTBEAT_URL could not be reached.')
    }
  }
}
