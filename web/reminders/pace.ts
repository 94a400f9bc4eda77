/** How many mails were done with at a moment, in milliseconds. */
export interface Sample {
  at: number
  done: number
}

/** Only the last so many milliseconds count: a run begins slowly and may be slowed down half way. */
const span = 20_000
/** Less than this says nothing yet. */
const least = 2_000

/** Mails per second over the last 20 s, as seen at `now`; null while that cannot be told, or nothing moves. */
export function paceOf(samples: Sample[], now: number): number | null {
  const last = samples.at(-1)
  const first = samples.findLast(({ at }) => at <= now - span) ?? samples[0]
  if (!last || !first) return null
  const passed = now - first.at
  const done = last.done - first.done
  return passed < least || done <= 0 ? null : done / (passed / 1000)
}

/** The samples with one more; those that no longer count are left out. */
export function withSample(samples: Sample[], sample: Sample): Sample[] {
  const stillCount = samples.findLastIndex(({ at }) => at <= sample.at - span)
  return [...samples.slice(Math.max(0, stillCount)), sample]
}
