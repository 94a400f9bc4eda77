import { Skeleton } from '@mantine/core'
import { type ComponentType, lazy, type ReactNode, Suspense } from 'react'
import { invoiceCalls } from '#contract/invoices.ts'
import { reminderCalls } from '#contract/reminders.ts'
import styles from '#web/invoices/dashboard/dashboard.module.css'
import { useApiQuery } from '#web/platform/query.ts'
import { useSession } from '#web/platform/session.ts'

/** Until it loads, and where it cannot be loaded, the dashboard shows the rest. */
const OpenChecklist = lazy<ComponentType<{ waiting: ReactNode }>>(async () => ({
  default: await import('./open-checklist.tsx').then(
    (loaded) => loaded.OpenChecklist,
    () => () => null,
  ),
}))

/** The account that was without a first reminder when this page was loaded: its checklist stays until the next visit. */
let openFor: string | null = null

/** What leads to the first reminder: stays on the dashboard until a mail server has accepted one. */
export function Checklist(): ReactNode {
  const account = useSession()?.user._id ?? null
  const status = useApiQuery(reminderCalls.status).data
  const isFirst = useApiQuery(invoiceCalls.list).data?.length === 0
  if (!status || account === null) return null
  if (status.lastReminderSent === null) openFor = account
  if (openFor !== account) return null
  // As tall as the checklist will be, so that what is below does not move: an invoice that moves while it is pressed does not open.
  const waiting = <Skeleton className={styles.checklistWaiting} data-first={isFirst || undefined} radius={14} mb={24} />
  return (
    <Suspense fallback={waiting}>
      <OpenChecklist waiting={waiting} />
    </Suspense>
  )
}
