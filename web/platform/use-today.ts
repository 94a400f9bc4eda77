import { useEffect, useState } from 'react'
import { accountCalls } from '#contract/accounts.ts'
import { dateIn } from '#web/ui/dates.ts'
import { useApiQuery } from './query.ts'

const minute = 60_000

/** The account's time zone, the instant now (kept right to the minute) and the calendar date there; the browser's zone until it is known. */
export function useToday(): { zone: string | undefined; now: Date; today: string } {
  const profile = useApiQuery(accountCalls.profile, {}, { staleTime: 10 * minute })
  const [now, setNow] = useState(() => new Date())
  useEffect(() => {
    const timer = setInterval(() => setNow(new Date()), minute)
    return () => clearInterval(timer)
  }, [])
  const zone = profile.data?.timezone
  return { zone, now, today: dateIn(zone, now) }
}
