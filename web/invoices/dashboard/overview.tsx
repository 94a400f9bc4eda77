import { memo, type ReactNode } from 'react'
import { Link } from 'react-router'
import type { CallReply } from '#contract/call.ts'
import type { Invoice } from '#contract/invoices.ts'
import { formatRupees, fromMinor } from '#contract/money.ts'
import { reminderCalls } from '#contract/reminders.ts'
import { useApiQuery } from '#web/platform/query.ts'
import { showComing } from '#web/ui/dates.ts'
import { DueLine } from '#web/ui/due-line.tsx'
import type { DueItem } from '#web/ui/due-line-layout.ts'
import styles from './dashboard.module.css'
import { totals } from './list-data.ts'
import { texts } from './texts.ts'

interface OverviewProps {
  invoices: Invoice[]
  items: DueItem[]
  today: string
  zone: string | undefined
  onOpen: (id: string) => void
}

export const Overview = memo(function Overview({ invoices, items, today, zone, onOpen }: OverviewProps): ReactNode {
  const { overdue, soon, paid } = totals(invoices, items, today, zone)
  const { dashboard } = texts
  return (
    <section className={styles.overview}>
      <dl className={styles.totals}>
        <Total label={dashboard.totals.overdue} amount={overdue} tone="overdue" />
        <Total label={dashboard.totals.soon} amount={soon} tone="plain" />
        <Total label={dashboard.totals.paid} amount={paid} tone="paid" />
      </dl>
      <DueLine items={items} onOpen={onOpen} />
      {items.length === 0 && <p className={styles.nothingOwed}>{dashboard.nothingOwed}</p>}
      <ScheduleLine />
    </section>
  )
})

function Total({ label, amount, tone }: { label: string; amount: number; tone: 'overdue' | 'plain' | 'paid' }): ReactNode {
  return (
    <div className={styles.total}>
      <dt>{label}</dt>
      <dd data-tone={amount === 0 ? 'plain' : tone}>{formatRupees(fromMinor(amount))}</dd>
    </div>
  )
}

/** Whether daily reminders are on, and the next run. Its height is reserved until that is known. */
function ScheduleLine(): ReactNode {
  const { data } = useApiQuery(reminderCalls.status)
  return <p className={styles.schedule}>{data && <ScheduleStatus status={data} />}</p>
}

function ScheduleStatus({ status }: { status: CallReply<typeof reminderCalls.status> }): ReactNode {
  const { reason, nextRunAt, timezone } = status
  const next = nextRunAt === null ? null : showComing(timezone, new Date(nextRunAt), new Date())
  const { text, to, link } =
    reason === null ? { ...texts.schedule.active, text: texts.schedule.active.text(next) } : texts.schedule.reasons[reason]
  return (
    <>
      <span className={styles.lamp} data-on={reason === null || undefined} aria-hidden />
      {text} <Link to={to}>{link}</Link>
    </>
  )
}
