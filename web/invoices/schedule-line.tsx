import type { ReactNode } from 'react'
import { Link } from 'react-router'
import type { CallReply } from '#contract/call.ts'
import { reminderCalls } from '#contract/reminders.ts'
import { useApiQuery } from '#web/platform/query.ts'
import { showComing } from '#web/ui/dates.ts'
import styles from './overview.module.css'
import { texts } from './texts.ts'

const words = texts.schedule

/** Whether clients are written to by themselves, and when next. Its place is kept until that is known. */
export function ScheduleLine(): ReactNode {
  const { data } = useApiQuery(reminderCalls.status)
  return <p className={styles.schedule}>{data && <Known status={data} />}</p>
}

function Known({ status }: { status: CallReply<typeof reminderCalls.status> }): ReactNode {
  const { reason, nextRunAt, timezone } = status
  const next = nextRunAt === null ? null : showComing(timezone, new Date(nextRunAt), new Date())
  const { says, to, link } = reason === null ? { ...words.active, says: words.active.says(next) } : words.reasons[reason]
  return (
    <>
      <span className={styles.lamp} data-on={reason === null || undefined} aria-hidden />
      {says} <Link to={to}>{link}</Link>
    </>
  )
}
