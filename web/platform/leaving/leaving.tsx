import { lazy, type ReactNode, Suspense } from 'react'
import { reminderCalls } from '#contract/reminders.ts'
import { useApiQuery } from '#web/platform/query.ts'

/** Few accounts hold their emails, and for minutes a day. */
const Banner = lazy(() =>
  import('./leaving-banner.tsx').then(
    ({ LeavingBanner }) => ({ default: LeavingBanner }),
    () => ({ default: () => null }),
  ),
)

/** The emails of a daily run that wait to leave, while there are some. */
export function Leaving(): ReactNode {
  const status = useApiQuery(reminderCalls.status).data
  if (!status?.leavingRunId) return null
  return (
    <Suspense>
      <Banner key={status.leavingRunId} id={status.leavingRunId} zone={status.timezone} />
    </Suspense>
  )
}
