import type { Deps } from '#server/platform/deps.ts'
import type { Job, Work } from '#server/platform/job.ts'

/** Every kind of job there is: the queue makes room for each at start. */
export const everyJob: Job[] = []

/** What is done when a job comes, one line each. */
export function works(_deps: Deps): Work[] {
  return []
}

/** Begins to work in the background, until `stop`. */
export async function startWorker(deps: Deps): Promise<{ stop(): Promise<void> }> {
  await deps.queue.start(works(deps))
  return { stop: () => deps.queue.stop() }
}
