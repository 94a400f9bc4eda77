import { memo, type ReactNode } from 'react'
import type { Invoice } from '#contract/invoices.ts'
import { formatRupees, fromMinor } from '#contract/money.ts'
import { DueLine } from '#web/ui/due-line.tsx'
import type { DueItem } from '#web/ui/due-line-layout.ts'
import { totals } from './ledger.ts'
import styles from './overview.module.css'
import { ScheduleLine } from './schedule-line.tsx'
import { texts } from './texts.ts'

interface OverviewProps {
  invoices: Invoice[]
  items: DueItem[]
  today: string
  zone: string | undefined
  onOpen: (id: string) => void
}

/** Three sums and the due line. */
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
      {items.length === 0 && <p className={styles.nothing}>{dashboard.nothingOwed}</p>}
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
