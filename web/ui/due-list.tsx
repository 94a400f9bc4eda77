import type { ReactNode } from 'react'
import { formatRupees } from '#contract/money.ts'
import type { PreviewLine } from '#contract/reminders.ts'
import look from './due-list.module.css'
import { lateness } from './lateness.ts'
import { ScrollList } from './scroll-list.tsx'

/** Who would be written to, and about how much. */
export function DueList({ label, lines }: { label: string; lines: PreviewLine[] }): ReactNode {
  return (
    <ScrollList label={label}>
      {lines.map((line) => (
        <li key={line.invoiceId} className={look.due}>
          <span className={look.name}>{line.clientName}</span>
          <span className={look.amount}>{formatRupees(line.amount)}</span>
          <span className={look.detail} title={line.clientEmail}>{`${line.reference} · ${line.clientEmail}`}</span>
          <span className={look.late}>{lateness(line.daysOverdue)}</span>
        </li>
      ))}
    </ScrollList>
  )
}
