import type { Run } from '#contract/reminders.ts'

/** Whether emails are being sent or prepared right now. A run that only waits for a retry, or is on hold, is not in progress. */
export function isInProgress(run: Run): boolean {
  if (run.open > run.retrying + run.held) return true
  return run.open === 0 && run.finishedAt === null && run.cancelledAt === null
}

/** Skipped invoices get no email. */
export function emailCount(run: Run): number {
  return run.sent + run.failed + run.open
}

/** How many emails were done at a time in milliseconds. */
export interface Sample {
  at: number
  done: number
}

/** Milliseconds. Older samples are ignored, because a run starts slowly and may be throttled later. */
const rateWindow = 20_000
/** Milliseconds before a rate is shown. */
const minimumSpan = 2_000

/** Emails per second over the last 20 seconds; null while it is unknown or nothing is sent. */
export function sendRate(samples: Sample[], now: number): number | null {
  const last = samples.at(-1)
  const first = samples.findLast(({ at }) => at <= now - rateWindow) ?? samples[0]
  if (!last || !first) return null
  const span = now - first.at
  const done = last.done - first.done
  return span < minimumSpan || done <= 0 ? null : done / (span / 1000)
}

/** Adds a sample and drops those that `sendRate` would ignore. */
export function withSample(samples: Sample[], sample: Sample): Sample[] {
  const oldest = samples.findLastIndex(({ at }) => at <= sample.at - rateWindow)
  return [...samples.slice(Math.max(0, oldest)), sample]
}
