import { useEffect, useState } from 'react'
import type { Run } from '#contract/reminders.ts'
import { paceOf, type Sample, withSample } from './pace.ts'

const second = 1_000

/** Mails per second of the run that is followed, out of how it stood at each look; null while that cannot be told. */
export function usePace({ sent, failed }: Run): number | null {
  const [samples, setSamples] = useState<Sample[]>([])
  const [now, setNow] = useState(Date.now)
  const done = sent + failed
  useEffect(() => setSamples((before) => withSample(before, { at: Date.now(), done })), [done])
  // Also where nothing changes the time goes on, and the pace with it.
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), second)
    return () => clearInterval(timer)
  }, [])
  return paceOf(samples, Math.max(now, samples.at(-1)?.at ?? 0))
}
